/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that multiply and exchange in one, over 2 and 4 processes, in small whole numbers that
 * every step holds exactly. */
#include "harness.h"
#include "ranks.h"

#include <aclnnop/aclnn_all_gather_matmul.h>
#include <aclnnop/aclnn_matmul_all_reduce.h>
#include <aclnnop/aclnn_matmul_all_reduce_add_rms_norm.h>
#include <aclnnop/aclnn_matmul_reduce_scatter.h>
#include <aclnnop/aclnn_quant_matmul_all_reduce_v2.h>
#include <aclnnop/aclnn_weight_quant_matmul_all_reduce.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 24, K = 40, N = 56, MOST = 8 * M * N };

/** A dense device tensor of whole numbers. */
struct numbers {
    aclTensor *tensor;
    void *memory;
    int64_t rows, columns;
    aclDataType type;
};

/* What every rank can tell of every other's operand. */
static int held(unsigned operand, uint32_t rank, int64_t row, int64_t column)
{
    return (int)((row * 7 + column * 3 + rank * 5 + operand * 2) % 5) - 2;
}

static size_t put(aclDataType type, void *to, double value)
{
    const aclFloat16 half = aclFloatToFloat16((float)value);
    const int8_t byte = (int8_t)value;
    const int32_t word = (int32_t)value;
    const float single = (float)value;
    switch (type) {
    case ACL_FLOAT16:
        memcpy(to, &half, sizeof(half));
        return sizeof(half);
    case ACL_INT8:
        memcpy(to, &byte, sizeof(byte));
        return sizeof(byte);
    case ACL_INT32:
        memcpy(to, &word, sizeof(word));
        return sizeof(word);
    default:
        memcpy(to, &single, sizeof(single));
        return sizeof(single);
    }
}

/* rows 0: a vector. */
static int make(struct rank *self, struct numbers *n, aclDataType type, int64_t rows,
                int64_t columns, unsigned operand)
{
    static char host[MOST * 4];
    const int64_t dim[] = {rows, columns}, stride[] = {columns, 1};
    const bool vector = rows == 0;
    size_t bytes = 0;
    *n = (struct numbers){.rows = rows, .columns = columns, .type = type};
    for (int64_t i = 0; i < (vector ? 1 : rows); i++) {
        for (int64_t j = 0; j < columns; j++) {
            bytes += put(type, host + bytes, held(operand, self->rank, i, j));
        }
    }
    TRY(aclrtMalloc(&n->memory, bytes, 0));
    TRY(aclrtMemcpy(n->memory, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    n->tensor = aclCreateTensor(dim + vector, 2 - vector, type, stride + vector, 0, ACL_FORMAT_ND,
                                dim + vector, 2 - vector, n->memory);
    CHECK(n->tensor);
    return 0;
}

enum { TENSORS_MAX = 7 };

/** What a case works on: the group's name, and tensors in the order of their table. */
struct given {
    char group[HCCL_COMM_NAME_MAX_LENGTH];
    struct numbers n[TENSORS_MAX];
    unsigned count;
};

struct wish {
    aclDataType type;
    int64_t rows, columns; /**< rows 0: a vector */
    unsigned operand;
};

static int give(struct rank *self, struct given *given, const struct wish *wishes, unsigned count)
{
    TRY(HcclGetCommName(self->comm, given->group));
    given->count = count;
    for (unsigned i = 0; i < count; i++) {
        const struct wish *w = &wishes[i];
        if (make(self, &given->n[i], w->type, w->rows, w->columns, w->operand)) {
            return 1;
        }
    }
    return 0;
}

#define GIVE(given, ...)                                                                           \
    give(self, given, (const struct wish[]){__VA_ARGS__},                                          \
         sizeof((const struct wish[]){__VA_ARGS__}) / sizeof(struct wish))

static int drop(struct given *given, int code)
{
    for (unsigned i = 0; i < given->count; i++) {
        aclDestroyTensor(given->n[i].tensor);
        aclrtFree(given->n[i].memory);
    }
    return code;
}

/* x1 @ x2 + bias of one rank: operands 0, 1, 2. */
static double product(uint32_t rank, int64_t i, int64_t j, bool bias)
{
    double sum = bias ? held(2, rank, 0, j) : 0;
    for (int64_t k = 0; k < K; k++) {
        sum += held(0, rank, i, k) * held(1, rank, k, j);
    }
    return sum;
}

static double sum_of_ranks(uint32_t ranks, int64_t i, int64_t j, bool bias)
{
    double sum = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        sum += product(r, i, j, bias);
    }
    return sum;
}

typedef double wanted_fn(const struct rank *self, int64_t i, int64_t j);

static int compare(struct rank *self, const struct numbers *n, wanted_fn *wanted)
{
    static aclFloat16 host[MOST];
    const size_t bytes = (size_t)(n->rows * n->columns) * sizeof(*host);
    TRY(aclrtSynchronizeStream(self->stream));
    TRY(aclrtMemcpy(host, sizeof(host), n->memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int64_t i = 0; i < n->rows; i++) {
        for (int64_t j = 0; j < n->columns; j++) {
            const float got = aclFloat16ToFloat(host[i * n->columns + j]);
            const double want = wanted(self, i, j);
            CHECK(fabs(got - want) <= fabs(want) / 256);
        }
    }
    return 0;
}

/* Second phase. */
#define RUN(op, bytes, executor)                                                                   \
    do {                                                                                           \
        void *workspace = NULL;                                                                    \
        if (bytes) {                                                                               \
            TRY(aclrtMalloc(&workspace, bytes, 0));                                                \
        }                                                                                          \
        TRY(op(workspace, bytes, executor, self->stream));                                         \
        TRY(aclrtSynchronizeStream(self->stream));                                                 \
        if (workspace) {                                                                           \
            TRY(aclrtFree(workspace));                                                             \
        }                                                                                          \
    } while (0)

static double all_reduced(const struct rank *self, int64_t i, int64_t j)
{
    return sum_of_ranks(self->ranks, i, j, true);
}

static int all_reduce(struct rank *self)
{
    char sum[] = "sum", max[] = "max", none[] = "no such group";
    struct given given;
    const struct numbers *x1 = &given.n[0], *x2 = &given.n[1], *bias = &given.n[2],
                         *out = &given.n[3];
    uint64_t bytes;
    aclOpExecutor *executor;
    if (GIVE(&given, {ACL_FLOAT16, M, K, 0}, {ACL_FLOAT16, K, N, 1}, {ACL_FLOAT16, 0, N, 2},
             {ACL_FLOAT16, M, N, 3})) {
        return 1;
    }
    CHECK(aclnnMatmulAllReduceGetWorkspaceSize(x1->tensor, x2->tensor, bias->tensor, given.group,
                                               max, 0, 1, out->tensor, &bytes, &executor) != 0);
    CHECK(aclnnMatmulAllReduceGetWorkspaceSize(x1->tensor, x2->tensor, bias->tensor, none, sum, 0,
                                               1, out->tensor, &bytes, &executor) != 0);
    CHECK(strstr(aclGetRecentErrMsg(), "no such group"));
    CHECK(aclnnMatmulAllReduceGetWorkspaceSize(x2->tensor, x2->tensor, bias->tensor, given.group,
                                               sum, 0, 1, out->tensor, &bytes, &executor) != 0);
    TRY(aclnnMatmulAllReduceGetWorkspaceSize(x1->tensor, x2->tensor, bias->tensor, given.group, sum,
                                             0, 1, out->tensor, &bytes, &executor));
    RUN(aclnnMatmulAllReduce, bytes, executor);
    const int code = compare(self, out, all_reduced);
    return drop(&given, code);
}

static double residual_and_sum(const struct rank *self, int64_t i, int64_t j)
{
    return held(4, self->rank, i, j) + all_reduced(self, i, j);
}

/* gamma: operand 5. */
static double normed(const struct rank *self, int64_t i, int64_t j)
{
    double squares = 0;
    for (int64_t k = 0; k < N; k++) {
        squares += residual_and_sum(self, i, k) * residual_and_sum(self, i, k);
    }
    return residual_and_sum(self, i, j) / sqrt(squares / N + 1e-6) * held(5, self->rank, 0, j);
}

static int add_rms_norm(struct rank *self)
{
    char sum[] = "sum";
    struct given given;
    const struct numbers *x1 = &given.n[0], *x2 = &given.n[1], *bias = &given.n[2],
                         *residual = &given.n[3], *gamma = &given.n[4], *y = &given.n[5],
                         *norm = &given.n[6];
    uint64_t bytes;
    aclOpExecutor *executor;
    if (GIVE(&given, {ACL_FLOAT16, M, K, 0}, {ACL_FLOAT16, K, N, 1}, {ACL_FLOAT16, 0, N, 2},
             {ACL_FLOAT16, M, N, 4}, {ACL_FLOAT16, 0, N, 5}, {ACL_FLOAT16, M, N, 6},
             {ACL_FLOAT16, M, N, 6})) {
        return 1;
    }
    TRY(aclnnMatmulAllReduceAddRmsNormGetWorkspaceSize(
        x1->tensor, x2->tensor, bias->tensor, residual->tensor, gamma->tensor, 1e-6, given.group,
        sum, 0, 1, y->tensor, norm->tensor, &bytes, &executor));
    RUN(aclnnMatmulAllReduceAddRmsNorm, bytes, executor);
    const int code = compare(self, y, residual_and_sum) || compare(self, norm, normed);
    return drop(&given, code);
}

static double scattered(const struct rank *self, int64_t i, int64_t j)
{
    return sum_of_ranks(self->ranks, self->rank * (M / self->ranks) + i, j, false);
}

static int reduce_scatter(struct rank *self)
{
    char sum[] = "sum";
    struct given given;
    const struct numbers *x1 = &given.n[0], *x2 = &given.n[1], *out = &given.n[2];
    uint64_t bytes;
    aclOpExecutor *executor;
    if (GIVE(&given, {ACL_FLOAT16, M, K, 0}, {ACL_FLOAT16, K, N, 1},
             {ACL_FLOAT16, M / self->ranks, N, 3})) {
        return 1;
    }
    TRY(aclnnMatmulReduceScatterGetWorkspaceSize(x1->tensor, x2->tensor, NULL, given.group, sum, 0,
                                                 1, out->tensor, &bytes, &executor));
    RUN(aclnnMatmulReduceScatter, bytes, executor);
    const int code = compare(self, out, scattered);
    return drop(&given, code);
}

static double gathered(const struct rank *self, int64_t i, int64_t k)
{
    (void)self;
    return held(0, (uint32_t)(i / M), i % M, k);
}

static double gathered_product(const struct rank *self, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < K; k++) {
        sum += gathered(self, i, k) * held(1, self->rank, k, j);
    }
    return sum;
}

static int all_gather(struct rank *self)
{
    struct given given;
    const struct numbers *x1 = &given.n[0], *x2 = &given.n[1], *out = &given.n[2],
                         *all = &given.n[3];
    uint64_t bytes;
    aclOpExecutor *executor;
    if (GIVE(&given, {ACL_FLOAT16, M, K, 0}, {ACL_FLOAT16, K, N, 1},
             {ACL_FLOAT16, M * self->ranks, N, 3}, {ACL_FLOAT16, M * self->ranks, K, 3})) {
        return 1;
    }
    TRY(aclnnAllGatherMatmulGetWorkspaceSize(x1->tensor, x2->tensor, NULL, given.group, 0, 0, 1,
                                             out->tensor, all->tensor, &bytes, &executor));
    RUN(aclnnAllGatherMatmul, bytes, executor);
    const int code = compare(self, all, gathered) || compare(self, out, gathered_product);
    return drop(&given, code);
}

/* The scale of column j: operand 5. */
static double quantised(const struct rank *self, int64_t i, int64_t j)
{
    double sum = 0;
    for (uint32_t r = 0; r < self->ranks; r++) {
        sum += product(r, i, j, true) * held(5, r, 0, j) + held(4, r, i, j);
    }
    return sum;
}

static int quantised_all_reduce(struct rank *self)
{
    char sum[] = "sum";
    struct given given;
    const struct numbers *x1 = &given.n[0], *x2 = &given.n[1], *bias = &given.n[2],
                         *scale = &given.n[3], *x3 = &given.n[4], *out = &given.n[5],
                         *twice = &given.n[6];
    uint64_t bytes;
    aclOpExecutor *executor;
    if (GIVE(&given, {ACL_INT8, M, K, 0}, {ACL_INT8, K, N, 1}, {ACL_INT32, 0, N, 2},
             {ACL_FLOAT, 0, N, 5}, {ACL_FLOAT16, M, N, 4}, {ACL_FLOAT16, M, N, 3},
             {ACL_FLOAT16, 2 * M, N, 4})) {
        return 1;
    }
    CHECK(aclnnQuantMatmulAllReduceV2GetWorkspaceSize(
              x1->tensor, x2->tensor, bias->tensor, twice->tensor, scale->tensor, NULL, given.group,
              sum, 0, 1, out->tensor, &bytes, &executor) != 0);
    TRY(aclnnQuantMatmulAllReduceV2GetWorkspaceSize(x1->tensor, x2->tensor, bias->tensor,
                                                    x3->tensor, scale->tensor, NULL, given.group,
                                                    sum, 0, 1, out->tensor, &bytes, &executor));
    RUN(aclnnQuantMatmulAllReduceV2, bytes, executor);
    const int code = compare(self, out, quantised);
    return drop(&given, code);
}

static double weighed(const struct rank *self, int64_t i, int64_t j)
{
    double sum = 0;
    for (uint32_t r = 0; r < self->ranks; r++) {
        sum += product(r, i, j, false) * held(5, r, 0, j);
    }
    return sum;
}

static int quantised_weight(struct rank *self)
{
    char sum[] = "sum";
    struct given given;
    const struct numbers *x1 = &given.n[0], *x2 = &given.n[1], *scale = &given.n[2],
                         *out = &given.n[3];
    uint64_t bytes;
    aclOpExecutor *executor;
    if (GIVE(&given, {ACL_FLOAT16, M, K, 0}, {ACL_INT8, K, N, 1}, {ACL_FLOAT16, 0, N, 5},
             {ACL_FLOAT16, M, N, 3})) {
        return 1;
    }
    TRY(aclnnWeightQuantMatmulAllReduceGetWorkspaceSize(x1->tensor, x2->tensor, NULL, scale->tensor,
                                                        NULL, NULL, given.group, sum, 0, 1, 0,
                                                        out->tensor, &bytes, &executor));
    RUN(aclnnWeightQuantMatmulAllReduce, bytes, executor);
    const int code = compare(self, out, weighed);
    return drop(&given, code);
}

static void over_ranks(rank_fn fn)
{
    ranks_run(2, fn);
    ranks_run(4, fn);
}

#define PRODUCTS(x)                                                                                \
    x(all_reduce) x(add_rms_norm) x(reduce_scatter) x(all_gather) x(quantised_all_reduce)          \
        x(quantised_weight)
#define DEFINE(name)                                                                               \
    static void test_##name(void)                                                                  \
    {                                                                                              \
        over_ranks(name);                                                                          \
    }
#define LIST(name) {#name, test_##name},
PRODUCTS(DEFINE)

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {PRODUCTS(LIST)};
    return leo_test_main("hccl_products", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
