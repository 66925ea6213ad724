/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 4 bits, eight in a word of i32: rows quantised to them, and products of them. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

enum { M = 5, K = 64, N = 24, IN_WORD = 8 };

static int nibble(const struct rig_tensor *words, int64_t index)
{
    const uint32_t word = (uint32_t)rig_get_i(rig_tensor_at(words, index / IN_WORD), OP_TYPE_I32);
    const int value = (int)(word >> index % IN_WORD * 4 & 15);
    return value < 8 ? value : value - 16;
}

static void rows_have_a_scale_each(void)
{
    const int64_t dim[] = {M, K}, packed[] = {M, K / IN_WORD}, rows[] = {M};
    for (int shifted = 0; shifted < 2; shifted++) {
        struct rig_tensor x = rig_values_make(OP_TYPE_F16, 2, dim, RIG_SLICED, 1),
                          y = rig_tensor_make(OP_TYPE_I32, 2, packed, RIG_PERMUTED, 2),
                          scale = rig_tensor_make(OP_TYPE_F32, 1, rows, RIG_DENSE, 3),
                          offset = rig_tensor_make(OP_TYPE_F32, 1, rows, RIG_DENSE, 4);
        int wrong = 0;
        CU_ASSERT_EQUAL(RIG_RUN_NAMED("DynamicQuantV2", true, {"x", {.tensor = x.acl}},
                                      {"yOut", {.tensor = y.acl}},
                                      {"scaleOut", {.tensor = scale.acl}},
                                      {"offsetOut", {.tensor = shifted ? offset.acl : NULL}}),
                        0);
        rig_tensor_take(&y);
        rig_tensor_take(&scale);
        rig_tensor_take(&offset);
        for (int64_t r = 0; r < M; r++) {
            double high = -INFINITY, low = INFINITY;
            for (int64_t c = 0; c < K; c++) {
                high = fmax(high, rig_values_at(&x, r * K + c));
                low = fmin(low, rig_values_at(&x, r * K + c));
            }
            const double s = shifted ? (high - low) / 15 : fmax(high, -low) / 7,
                         o = shifted ? 7 - high / s : 0;
            CU_ASSERT_DOUBLE_EQUAL(rig_values_at(&scale, r), s, 1e-6 * s);
            CU_ASSERT(!shifted || fabs(rig_values_at(&offset, r) - o) <= 1e-5);
            for (int64_t c = 0; c < K; c++) {
                wrong += !(fabs(nibble(&y, r * K + c) - (rig_values_at(&x, r * K + c) / s + o)) <=
                           0.5 + 1e-5);
            }
        }
        CU_ASSERT_EQUAL(wrong, 0);
        rig_values_free((struct rig_tensor[]){x, y, scale, offset}, 4, NULL, 0);
    }
}

static void one_scale_for_all(void)
{
    const int64_t dim[] = {M, K}, packed[] = {M, K / IN_WORD}, one[] = {1};
    struct rig_tensor x = rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1),
                      scale = rig_values_make(OP_TYPE_F32, 1, one, RIG_DENSE, 2),
                      y = rig_tensor_make(OP_TYPE_I32, 2, packed, RIG_DENSE, 3);
    int wrong = 0;
    rig_put_f(rig_tensor_at(&scale, 0), OP_TYPE_F32, 5);
    rig_tensor_put(&scale);
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("AscendQuantV3", true, {"x", {.tensor = x.acl}},
                                  {"scale", {.tensor = scale.acl}},
                                  {"roundMode", {.text = (char *)(uintptr_t)"round"}},
                                  {"axis", {.integer = -1}}, {"y", {.tensor = y.acl}}),
                    0);
    rig_tensor_take(&y);
    for (int64_t i = 0; i < M * K; i++) {
        wrong += nibble(&y, i) != (int)fmin(fmax(rint(rig_values_at(&x, i) * 5), -8), 7);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    rig_values_free((struct rig_tensor[]){x, scale, y}, 3, NULL, 0);
}

static void one_number_fills_no_word(void)
{
    const int64_t none[] = {1};
    static const enum op_type types[] = {OP_TYPE_I32, OP_TYPE_F32, OP_TYPE_I8};
    for (int i = 0; i < 3; i++) {
        struct rig_tensor x = rig_values_make(OP_TYPE_F32, 0, none, RIG_DENSE, 1),
                          scale = rig_values_make(OP_TYPE_F32, 0, none, RIG_DENSE, 2),
                          y = rig_tensor_make(types[i], 0, none, RIG_DENSE, 3);
        const aclnnStatus code = RIG_RUN_NAMED("AscendQuantV3", i == 2, {"x", {.tensor = x.acl}},
                                               {"scale", {.tensor = scale.acl}},
                                               {"roundMode", {.text = (char *)(uintptr_t)"round"}},
                                               {"axis", {.integer = -1}}, {"y", {.tensor = y.acl}});
        CU_ASSERT_EQUAL(code == 0, i == 2);
        rig_values_free((struct rig_tensor[]){x, scale, y}, 3, NULL, 0);
    }
}

static struct rig_tensor words_make(int64_t rows, int64_t columns, uint64_t seed)
{
    const int64_t dim[] = {rows, columns / IN_WORD};
    return rig_tensor_make(OP_TYPE_I32, 2, dim, RIG_DENSE, seed);
}

// Of words along k in x1, and in x2 along n as it lies or along k where it is stored turned.
static void products_are_exact(void)
{
    const int64_t dim[] = {M, N}, one[] = {1};
    for (int turned = 0; rig_chip() == 1 && turned < 2; turned++) {
        struct rig_tensor x1 = words_make(M, K, 1),
                          x2 = turned ? words_make(N, K, 2) : words_make(K, N, 2),
                          scale = rig_values_make(OP_TYPE_F32, 1, one, RIG_DENSE, 3),
                          out = rig_tensor_make(OP_TYPE_BF16, 2, dim, RIG_DENSE, 4);
        int wrong = 0;
        rig_put_f(rig_tensor_at(&scale, 0), OP_TYPE_F32, 0.5f);
        rig_tensor_put(&scale);
        CU_ASSERT_EQUAL(RIG_RUN_NAMED("QuantMatmulV4", true, {"x1", {.tensor = x1.acl}},
                                      {"x2", {.tensor = x2.acl}}, {"scale", {.tensor = scale.acl}},
                                      {"transposeX2", {.integer = turned}},
                                      {"out", {.tensor = out.acl}}),
                        0);
        rig_tensor_take(&out);
        for (int64_t i = 0; i < M * N; i++) {
            double sum = 0;
            for (int64_t k = 0; k < K; k++) {
                sum += nibble(&x1, i / N * K + k) *
                       nibble(&x2, turned ? i % N * K + k : k * N + i % N);
            }
            wrong += rig_values_at(&out, i) != rig_values_round(sum / 2, OP_TYPE_BF16);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        rig_values_free((struct rig_tensor[]){x1, x2, scale, out}, 4, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"rows_have_a_scale_each", rows_have_a_scale_each},
        {"one_scale_for_all", one_scale_for_all},
        {"one_number_fills_no_word", one_number_fills_no_word},
        {"products_are_exact", products_are_exact},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_four_bits", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
