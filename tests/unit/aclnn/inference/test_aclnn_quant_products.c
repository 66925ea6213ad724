/* SPDX-License-Identifier: Apache-2.0 */
/* Products of 8 bits, exact whatever their length, and products with weights of 8 and 4 bits. */
#include "rig_bytes.h"
#include "rig_named.h"

#include <aclnnop/aclnn_abs.h>
#include <aclnnop/aclnn_npu_format_cast.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 7, N = 24, GROUP = 8 };

static const int64_t column_dim[] = {N}, row_dim[] = {M}, one_dim[] = {1};
static const struct rig_bound near = {.of_largest = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

static struct rig_tensor bytes(int64_t a, int64_t b, uint64_t seed, bool extreme)
{
    struct rig_tensor t = rig_tensor_make(OP_TYPE_I8, 2, (const int64_t[]){a, b}, RIG_DENSE, 1);
    for (int64_t i = 0; i < a * b; i++) {
        rig_put_i(rig_tensor_at(&t, i), OP_TYPE_I8,
                  extreme ? -128 : (int64_t)(rig_random(&seed) % 256) - 128);
    }
    rig_tensor_put(&t);
    return t;
}

static struct rig_tensor whole_bias(void)
{
    struct rig_tensor t = rig_tensor_make(OP_TYPE_I32, 1, column_dim, RIG_DENSE, 1);
    for (int64_t i = 0; i < N; i++) {
        rig_put_i(rig_tensor_at(&t, i), OP_TYPE_I32, i * 977 - 9000);
    }
    rig_tensor_put(&t);
    return t;
}

/* Sums of x [m, k] and w [k, n], or [n, k] if turned. */
static void sums_of(const struct rig_tensor *x, const struct rig_tensor *w, int64_t k, bool turned,
                    double *out)
{
    for (int64_t i = 0; i < M * N; i++) {
        out[i] = 0;
        for (int64_t j = 0; j < k; j++) {
            out[i] += rig_values_at(x, i / N * k + j) *
                      rig_values_at(w, turned ? i % N * k + j : j * N + i % N);
        }
    }
}

static struct rig_tensor words_of(const struct rig_tensor *scale, int64_t offset)
{
    struct rig_tensor t = rig_tensor_make(OP_TYPE_U64, 1, column_dim, RIG_DENSE, 1);
    for (int64_t i = 0; i < N; i++) {
        uint32_t bits;
        memcpy(&bits, rig_tensor_at(scale, i), sizeof(bits));
        const uint64_t word = bits | UINT64_C(1) << 46 | ((uint64_t)offset & 0x1FF) << 37;
        memcpy(rig_tensor_at(&t, i), &word, sizeof(word));
    }
    rig_tensor_put(&t);
    return t;
}

/* way 0: whole numbers out; 1: f16 by V3 with words and a whole bias; 2: bf16 by V5 with scales of
 * rows and a bias of floats; 3: i8 by V4 with an offset; 4: with an offset in the words. */
static void product(int way, int64_t k)
{
    static const char *const ops[] = {"QuantMatmulV5", "QuantMatmulV3", "QuantMatmulV5",
                                      "QuantMatmulV4", "QuantMatmulV4"};
    static const enum op_type types[] = {OP_TYPE_I32, OP_TYPE_F16, OP_TYPE_BF16, OP_TYPE_I8,
                                         OP_TYPE_I8};
    const bool v5 = way == 0 || way == 2, to_bytes = way >= 3, turned = way == 2,
               extreme = k > 2000;
    struct rig_tensor x = bytes(M, k, 3, extreme),
                      w = turned ? bytes(N, k, 4, extreme) : bytes(k, N, 4, extreme),
                      scale = rig_values_make(OP_TYPE_F32, 1, column_dim, RIG_DENSE, 5),
                      row = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 6),
                      bias = way < 2 ? whole_bias()
                                     : rig_values_make(OP_TYPE_BF16, 1, column_dim, RIG_DENSE, 7),
                      offset = rig_values_make(OP_TYPE_F32, 1, one_dim, RIG_DENSE, 8),
                      out = rig_tensor_make(types[way], 2, (const int64_t[]){M, N}, RIG_DENSE, 9);
    double want[M * N];
    for (int64_t i = 0; i < N; i++) { // keeps results in the range of their type
        rig_put_f(rig_tensor_at(&scale, i), OP_TYPE_F32,
                  (float)(i + 1) / (float)(to_bytes ? 65536 * 8 : 65536));
    }
    rig_tensor_put(&scale);
    struct rig_tensor words = words_of(&scale, way == 4 ? -21 : 0);
    sums_of(&x, &w, k, turned, want);
    for (int64_t i = 0; i < M * N; i++) {
        const double s = rig_values_at(&scale, i % N), b = rig_values_at(&bias, i % N);
        want[i] = way == 0   ? want[i] + b
                  : way == 1 ? (want[i] + b) * s
                  : way == 2 ? want[i] * s * rig_values_at(&row, i / N) + b
                             : want[i] * s + (way == 4 ? -21 : rig_values_at(&offset, 0));
    }
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            ops[way], true, {"x1", {.tensor = x.acl}}, {"x2", {.tensor = w.acl}},
            {v5 ? "x2Scale" : "scale", {.tensor = way == 1 || way == 4 ? words.acl : scale.acl}},
            {"bias", {.tensor = to_bytes ? NULL : bias.acl}},
            {v5 ? "x2Offset" : "offset", {.tensor = way == 3 ? offset.acl : NULL}},
            {v5         ? "x1Scale"
             : to_bytes ? "pertokenScaleOptional"
                        : "bias",
             {.tensor = way == 2   ? row.acl
                        : way == 1 ? bias.acl
                                   : NULL}},
            {"transposeX2", {.integer = turned}}, {"out", {.tensor = out.acl}}),
        0);
    if (to_bytes) {
        rig_bytes_expect(&out, want, 1e-3, "bytes of a product");
    } else {
        rig_values_expect(&out, want, way == 0 ? (struct rig_bound){0} : near, ops[way]);
    }
    rig_values_free((struct rig_tensor[]){x, w, scale, row, bias, offset, out, words}, 8, NULL, 0);
}

static void products_are_exact(void)
{
    static const int64_t lengths[] = {40, 1024, 1025, 2500};
    for (int way = 0; is_here() && way < 5; way++) {
        for (unsigned i = 0; i < (way == 0 ? 4 : 1); i++) {
            product(way, lengths[i]);
        }
    }
}

/* ---- weights ---- */

enum form { BYTES, WORDS, NIBBLES, TURNED_NIBBLES }; // of a weight

// Numbers of 4 bits, eight a word, along the rows or along the columns of w.
static struct rig_tensor pack(const struct rig_tensor *w, int64_t k, bool turned)
{
    struct rig_tensor t =
        rig_tensor_make(OP_TYPE_I32, 2, (const int64_t[]){k, N / 8}, RIG_DENSE, 1);
    for (int64_t i = 0; i < k * N / 8; i++) {
        uint32_t word = 0;
        for (int64_t j = 0; j < 8; j++) {
            const int64_t at = i * 8 + j, element = turned ? at % k * N + at / k : at;
            word |= ((uint32_t)rig_get_i(rig_tensor_at(w, element), OP_TYPE_I8) & 15) << 4 * j;
        }
        memcpy(rig_tensor_at(&t, i), &word, sizeof(word));
    }
    rig_tensor_put(&t);
    return t;
}

// The words as a tensor of ACL_INT4.
static aclTensor *as_nibbles(const struct rig_tensor *words, int64_t k, bool turned)
{
    const int64_t dim[] = {k, N}, stride[] = {turned ? 1 : N, turned ? k : 1}, storage = k * N;
    void *data = NULL;
    CU_ASSERT_EQUAL(aclGetRawTensorAddr(words->acl, &data), 0);
    return aclCreateTensor(dim, 2, ACL_INT4, stride, 0, ACL_FORMAT_ND, &storage, 1, data);
}

// As it was given, whatever it is to operators; and none takes it that does not know 4 bits.
static void check_nibbles(aclTensor *tensor, int64_t k, bool turned)
{
    int64_t *dims = NULL, *strides = NULL, *dims_there;
    uint64_t rank = 0, bytes;
    int format;
    aclOpExecutor *executor;
    CU_ASSERT_EQUAL(aclGetViewShape(tensor, &dims, &rank), 0);
    CU_ASSERT_EQUAL(aclGetViewStrides(tensor, &strides, &rank), 0);
    CU_ASSERT_TRUE(rank == 2 && dims[0] == k && dims[1] == N);
    CU_ASSERT_TRUE(strides[0] == (turned ? 1 : N) && strides[1] == (turned ? k : 1));
    CU_ASSERT_EQUAL(aclnnAbsGetWorkspaceSize(tensor, tensor, &bytes, &executor),
                    ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(aclnnNpuFormatCastCalculateSizeAndFormat(tensor, ACL_FORMAT_FRACTAL_NZ, -1,
                                                             &dims_there, &bytes, &format),
                    ACLNN_ERR_PARAM_INVALID);
    free(dims);
    free(strides);
}

static void weights(enum op_type type, enum form form, bool grouped, bool to_bytes)
{
    enum { K = 32 };
    const int64_t groups = grouped ? K / GROUP : 1, scale_dim[] = {groups, N};
    struct rig_tensor x = rig_values_make(type, 2, (const int64_t[]){M, K}, RIG_PERMUTED, 3),
                      w = bytes(K, N, 4, false),
                      scale = rig_values_make(type, 2, scale_dim, RIG_DENSE, 5),
                      offset = rig_values_make(type, 2, scale_dim, RIG_DENSE, 6),
                      bias = rig_values_make(type, 1, column_dim, RIG_DENSE, 7),
                      quant = rig_values_make(OP_TYPE_F32, 1, one_dim, RIG_DENSE, 8),
                      out = rig_tensor_make(to_bytes ? OP_TYPE_I8 : type, 2,
                                            (const int64_t[]){M, N}, RIG_DENSE, 9);
    for (int64_t i = 0; form != BYTES && i < K * N; i++) {
        rig_put_i(rig_tensor_at(&w, i), OP_TYPE_I8, i * 5 % 16 - 8);
    }
    const bool turned = form == TURNED_NIBBLES;
    struct rig_tensor words = pack(&w, K, turned);
    aclTensor *nibbles = as_nibbles(&words, K, turned), *const of_form[] = {w.acl, words.acl,
                                                                            nibbles, nibbles};
    check_nibbles(nibbles, K, turned);
    rig_put_f(rig_tensor_at(&quant, 0), OP_TYPE_F32, 0.0625f);
    rig_tensor_put(&quant);
    double want[M * N];
    for (int64_t i = 0; i < M * N; i++) {
        want[i] = rig_values_at(&bias, i % N);
        for (int64_t k = 0; k < K; k++) {
            const int64_t g = (grouped ? k / GROUP : 0) * N + i % N;
            want[i] +=
                rig_values_at(&x, i / N * K + k) *
                rig_values_round((rig_values_at(&w, k * N + i % N) + rig_values_at(&offset, g)) *
                                     rig_values_at(&scale, g),
                                 type);
        }
        want[i] *= to_bytes ? 0.0625 : 1;
    }
    CU_ASSERT_EQUAL(RIG_RUN_NAMED(grouped ? "WeightQuantBatchMatmulV2" : "WeightQuantBatchMatmulV3",
                                  true, {"x", {.tensor = x.acl}},
                                  {"weight", {.tensor = of_form[form]}},
                                  {"antiquantScale", {.tensor = scale.acl}},
                                  {"antiquantOffsetOptional", {.tensor = offset.acl}},
                                  {"quantScaleOptional", {.tensor = to_bytes ? quant.acl : NULL}},
                                  {"biasOptional", {.tensor = bias.acl}},
                                  {"antiquantGroupSize", {.integer = grouped ? GROUP : 0}},
                                  {"y", {.tensor = out.acl}}),
                    0);
    if (to_bytes) {
        rig_bytes_expect(&out, want, 2e-2, "bytes of a product with weights of bytes");
    } else {
        rig_values_expect(&out, want, near, "a product with weights of bytes");
    }
    CU_ASSERT_EQUAL(aclDestroyTensor(nibbles), 0);
    rig_values_free((struct rig_tensor[]){x, w, scale, offset, bias, quant, out, words}, 8, NULL,
                    0);
}

static void weights_become_floats(void)
{
    if (!is_here()) {
        return;
    }
    weights(OP_TYPE_F16, BYTES, false, false);
    weights(OP_TYPE_BF16, WORDS, true, false);
    weights(OP_TYPE_F16, NIBBLES, true, false);
    weights(OP_TYPE_F16, TURNED_NIBBLES, true, false);
    weights(OP_TYPE_F16, BYTES, true, false);
    weights(OP_TYPE_F16, BYTES, false, true);
}

/* x1 is stored [m, batch, k], x2 [batch, n, k]; out [m, batch, n], or [2, m, batch / 2 * n]. */
static void batches_in_another_order(void)
{
    enum { B = 4, K = 19 };
    static const int64_t x_dim[] = {M, B, K}, w_dim[] = {B, N, K}, y_dim[] = {M, B, N},
                         part_dim[] = {2, M, B / 2 * N}, x_order[] = {1, 0, 2},
                         w_order[] = {0, 2, 1};
    aclIntArray *x_perm = aclCreateIntArray(x_order, 3), *w_perm = aclCreateIntArray(w_order, 3);
    for (int parts = 1; is_here() && parts < 3; parts++) {
        struct rig_tensor x = rig_values_make(OP_TYPE_F16, 3, x_dim, RIG_DENSE, 3),
                          w = rig_values_make(OP_TYPE_F16, 3, w_dim, RIG_PERMUTED, 4),
                          out = rig_values_make(OP_TYPE_F16, 3, parts == 1 ? y_dim : part_dim,
                                                RIG_DENSE, 5);
        double *want = rig_values_zeros(M * B * N);
        for (int64_t i = 0; i < M * B * N; i++) {
            const int64_t m = i / (B * N), b = i / N % B, n = i % N;
            double sum = 0;
            for (int64_t k = 0; k < K; k++) {
                sum +=
                    rig_values_at(&x, (m * B + b) * K + k) * rig_values_at(&w, (b * N + n) * K + k);
            }
            want[parts == 1 ? i : (b / 2 * M + m) * (B / 2 * N) + b % 2 * N + n] = sum;
        }
        CU_ASSERT_EQUAL(RIG_RUN_NAMED("TransposeBatchMatMul", true, {"x1", {.tensor = x.acl}},
                                      {"x2", {.tensor = w.acl}}, {"permX1", {.ints = x_perm}},
                                      {"permX2", {.ints = w_perm}}, {"permY", {.ints = x_perm}},
                                      {"batchSplitFactor", {.integer = parts}},
                                      {"out", {.tensor = out.acl}}),
                        0);
        rig_values_expect(&out, want, near, "a batch in another order");
        rig_values_free((struct rig_tensor[]){x, w, out}, 3, &want, 1);
    }
    CU_ASSERT_EQUAL(aclDestroyIntArray(x_perm), 0);
    CU_ASSERT_EQUAL(aclDestroyIntArray(w_perm), 0);
}

static void what_is_not_computed_is_refused(void)
{
    struct rig_tensor x = bytes(M, 32, 3, false), w = bytes(32, N, 4, false),
                      scale = rig_values_make(OP_TYPE_F32, 1, column_dim, RIG_DENSE, 5),
                      out = rig_values_make(OP_TYPE_F16, 2, (const int64_t[]){M, N}, RIG_DENSE, 6);
    for (int wrong = 0; wrong < 3; wrong++) {
        CU_ASSERT_NOT_EQUAL(
            RIG_RUN_NAMED("QuantMatmulV5", false, {"x1", {.tensor = x.acl}},
                          {"x2", {.tensor = w.acl}}, {"x2Scale", {.tensor = scale.acl}},
                          {"groupSize", {.integer = wrong == 0 ? 16 : 0}},
                          {"x2Offset", {.tensor = wrong == 1 ? scale.acl : NULL}},
                          {"transposeX2", {.integer = wrong == 2}}, {"out", {.tensor = out.acl}}),
            0);
    }
    rig_values_free((struct rig_tensor[]){x, w, scale, out}, 4, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"products_are_exact", products_are_exact},
        {"weights_become_floats", weights_become_floats},
        {"batches_in_another_order", batches_in_another_order},
        {"what_is_not_computed_is_refused", what_is_not_computed_is_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_quant_products", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
