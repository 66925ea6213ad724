/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose results reach into the workspace: ggml's backend frees the memory of a result before
 * it takes that of the workspace, or makes it too small (src/ggml-cann/aclnn_ops.cpp, group_norm
 * and rope). And its headers, by the names it includes. */
#include "rig_named.h"

#include <aclnnop/aclnn_geglu.h>
#include <aclnnop/aclnn_ger.h>
#include <aclnnop/aclnn_group_norm.h>
#include <aclnnop/aclnn_logsoftmax.h>
#include <aclnnop/aclnn_recurrent_gated_delta_rule.h>
#include <aclnnop/aclnn_rotary_position_embedding.h>
#include <math.h>
#include <stdlib.h>

enum { GROUPS = 32, CHANNELS = 64, PLANE = 1024 };
enum {
    TOKENS = 2,
    HEADS = 32,
    ROWS = TOKENS * HEADS,
    WIDTH = 32,
    GIVEN = 80
}; // 32 of 80 numbers of a row turn
static const double NEAR = 1e-4; // sums of 2048 numbers below 1 in f32

static double at(const struct rig_tensor *t, int64_t i)
{
    return rig_get_d(rig_tensor_at(t, i), t->type);
}

static struct rig_tensor numbers(unsigned rank, const int64_t *dim, uint64_t seed)
{
    return rig_tensor_eighths(OP_TYPE_F32, rank, dim, RIG_DENSE, seed);
}

static void *memory_take(uint64_t bytes)
{
    void *memory = NULL;
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    return memory;
}

static aclTensor *tensor_at(void *memory, uint64_t rank, const int64_t *dim)
{
    return aclCreateTensor(dim, rank, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dim, rank, memory);
}

static double error_of_group(const struct rig_tensor *x, const struct rig_tensor *out, int64_t g)
{
    enum { COUNT = CHANNELS / GROUPS * PLANE };
    double sum = 0, squares = 0, worst = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        const double v = at(x, g * COUNT + i);
        sum += v;
        squares += v * v;
    }
    const double mean = sum / COUNT, scale = 1 / sqrt(squares / COUNT - mean * mean + 1e-6);
    for (int64_t i = 0; i < COUNT; i++) {
        const double want = (at(x, g * COUNT + i) - mean) * scale;
        worst = fmax(worst, fabs(at(out, g * COUNT + i) - want));
    }
    return worst;
}

// Statistics have a byte each instead of four: rstd begins in mean and ends in the workspace.
static void group_norm_whose_statistics_lie_in_the_workspace(void)
{
    const int64_t dim[] = {1, CHANNELS, PLANE}, groups[] = {1, GROUPS};
    struct rig_tensor x = numbers(3, dim, 1), out = numbers(3, dim, 2);
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    char *memory = memory_take(1 << 20);
    aclTensor *mean = tensor_at(memory, 2, groups), *rstd = tensor_at(memory + GROUPS, 2, groups);
    CU_ASSERT_EQUAL_FATAL(aclnnGroupNormGetWorkspaceSize(x.acl, NULL, NULL, 1, CHANNELS, PLANE,
                                                         GROUPS, 1e-6, out.acl, mean, rstd, &bytes,
                                                         &executor),
                          0);
    CU_ASSERT_FATAL(bytes <= (1 << 20) - 128);
    CU_ASSERT_EQUAL(aclnnGroupNorm(memory + 128, bytes, executor, rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    rig_tensor_take(&out);
    for (int64_t g = 0; g < GROUPS; g++) {
        CU_ASSERT(error_of_group(&x, &out, g) < NEAR);
    }
    aclDestroyTensor(mean);
    aclDestroyTensor(rstd);
    aclrtFree(memory);
    rig_tensor_free(&x);
    rig_tensor_free(&out);
}

static double turned(const struct rig_tensor *x, const struct rig_tensor *cosine,
                     const struct rig_tensor *sine, int64_t row, int64_t i)
{
    const int64_t angle = row / HEADS * WIDTH + i;
    const double own = at(x, row * GIVEN + i), other = at(x, row * GIVEN + (i ^ 1));
    return own * at(cosine, angle) + (i % 2 ? other : -other) * at(sine, angle);
}

// The result lies where the workspace does; what turns is a part of each row.
static void rope_whose_result_is_the_workspace(void)
{
    const int64_t given[] = {1, TOKENS, HEADS, GIVEN}, dim[] = {1, TOKENS, HEADS, WIDTH};
    const int64_t angles[] = {1, TOKENS, 1, WIDTH},
                  stride[] = {ROWS * GIVEN, HEADS * GIVEN, GIVEN, 1};
    struct rig_tensor x = numbers(4, given, 3), c = numbers(4, angles, 4),
                      s = numbers(4, angles, 5);
    static float got[ROWS * WIDTH];
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    void *x_memory = NULL;
    CU_ASSERT_EQUAL_FATAL(aclGetRawTensorAddr(x.acl, &x_memory), 0);
    char *memory = memory_take(1 << 20);
    aclTensor *out = tensor_at(memory, 4, dim),
              *part = aclCreateTensor(dim, 4, ACL_FLOAT, stride, x.offset, ACL_FORMAT_ND, given, 4,
                                      x_memory);
    CU_ASSERT_EQUAL_FATAL(
        aclnnRotaryPositionEmbeddingGetWorkspaceSize(part, c.acl, s.acl, 1, out, &bytes, &executor),
        0);
    CU_ASSERT_FATAL(bytes <= 1 << 20);
    CU_ASSERT_EQUAL(aclnnRotaryPositionEmbedding(memory, bytes, executor, rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtMemcpy(got, sizeof(got), memory, sizeof(got), ACL_MEMCPY_DEVICE_TO_HOST),
                    0);
    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        CU_ASSERT(fabs(got[i] - turned(&x, &c, &s, i / WIDTH, i % WIDTH)) < NEAR);
    }
    aclDestroyTensor(out);
    aclDestroyTensor(part);
    aclrtFree(memory);
    rig_tensor_free(&x);
    rig_tensor_free(&c);
    rig_tensor_free(&s);
}

// Each element of one vector times each of the other, into any layout; no vectors are refused.
static void ger_is_every_product_of_two_vectors(void)
{
    const int64_t dim[] = {3, 5}, rows[] = {3}, columns[] = {5}, other[] = {5, 3};
    struct rig_tensor v = rig_tensor_eighths(OP_TYPE_F32, 1, rows, RIG_SLICED, 2),
                      w = numbers(1, columns, 3), turned_out = numbers(2, other, 5),
                      out = rig_tensor_eighths(OP_TYPE_F32, 2, dim, RIG_PERMUTED, 4);
    const union op_test_arg args[] = {{.tensor = v.acl}, {.tensor = w.acl}, {.tensor = out.acl}};
    const union op_test_arg wrong_out[] = {
        {.tensor = v.acl}, {.tensor = w.acl}, {.tensor = turned_out.acl}};
    const union op_test_arg no_vector[] = {
        {.tensor = turned_out.acl}, {.tensor = w.acl}, {.tensor = out.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Ger"), args, true), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < 15; i++) {
        CU_ASSERT_EQUAL(at(&out, i), at(&v, i / 5) * at(&w, i % 5)); // of eighths: exact
    }
    CU_ASSERT_EQUAL(rig_run(rig_row("Ger"), wrong_out, false), 161002);
    CU_ASSERT_EQUAL(rig_run(rig_row("Ger"), no_vector, false), 161002);
    rig_tensor_free(&v);
    rig_tensor_free(&w);
    rig_tensor_free(&out);
    rig_tensor_free(&turned_out);
}

static aclnnStatus ask_muls(aclTensor *view, const struct rig_tensor *out)
{
    float two = 2;
    aclScalar *factor = aclCreateScalar(&two, ACL_FLOAT);
    const union op_test_arg args[] = {{.tensor = view}, {.scalar = factor}, {.tensor = out->acl}};
    const aclnnStatus status = rig_run(rig_row("Muls"), args, false);
    aclDestroyScalar(factor);
    return status;
}

// Scales of quantised rows lie behind the weights: the storage that is described begins with them.
static void a_storage_told_as_one_number_leaves_the_offset_out(void)
{
    const int64_t all[] = {24}, dim[] = {2, 4}, step[] = {4, 1}, reach[] = {8};
    struct rig_tensor x = numbers(1, all, 1), out = numbers(2, dim, 2);
    void *memory = NULL;
    CU_ASSERT_EQUAL_FATAL(aclGetRawTensorAddr(x.acl, &memory), 0);
    aclTensor *view = aclCreateTensor(dim, 2, ACL_FLOAT, step, 16, ACL_FORMAT_ND, reach, 1, memory),
              *over = aclCreateTensor(dim, 2, ACL_FLOAT, step, 16, ACL_FORMAT_ND, dim, 2, memory),
              *far = aclCreateTensor(dim, 2, ACL_FLOAT, step, INT64_MAX - 2, ACL_FORMAT_ND, reach,
                                     1, memory);
    CU_ASSERT_EQUAL(ask_muls(view, &out), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < reach[0]; i++) {
        CU_ASSERT_EQUAL(at(&out, i), 2 * at(&x, 16 + i));
    }
    CU_ASSERT_EQUAL(ask_muls(over, &out), 161002);
    CU_ASSERT_EQUAL(ask_muls(far, &out), 161002);
    aclDestroyTensor(view);
    aclDestroyTensor(over);
    aclDestroyTensor(far);
    rig_tensor_free(&x);
    rig_tensor_free(&out);
}

// What has a header but no code says so.
static void a_gated_delta_rule_is_refused(void)
{
    const int64_t dim[] = {4};
    struct rig_tensor t = numbers(1, dim, 1);
    aclTensor *a = t.acl;
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    CU_ASSERT_NOT_EQUAL(aclnnRecurrentGatedDeltaRuleGetWorkspaceSize(a, a, a, a, a, a, a, a, a, a,
                                                                     1, a, &bytes, &executor),
                        0);
    rig_tensor_free(&t);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"group_norm_whose_statistics_lie_in_the_workspace",
         group_norm_whose_statistics_lie_in_the_workspace},
        {"rope_whose_result_is_the_workspace", rope_whose_result_is_the_workspace},
        {"ger_is_every_product_of_two_vectors", ger_is_every_product_of_two_vectors},
        {"a_storage_told_as_one_number_leaves_the_offset_out",
         a_storage_told_as_one_number_leaves_the_offset_out},
        {"a_gated_delta_rule_is_refused", a_gated_delta_rule_is_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_ggml", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
