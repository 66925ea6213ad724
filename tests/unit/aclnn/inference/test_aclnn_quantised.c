/* SPDX-License-Identifier: Apache-2.0 */
/* Rows quantised to 8 bits, gates between products of 8 bits, and back to floats: against double on
 * the host. */
#include "rig_bytes.h"
#include "rig_named.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 9, WIDTH = 20, COUNT = ROWS * WIDTH, GROUPS = 3 };

static const int64_t dim[] = {ROWS, WIDTH}, row_dim[] = {ROWS}, width_dim[] = {WIDTH},
                     group_dim[] = {GROUPS, WIDTH}, groups_dim[] = {GROUPS};
static const struct rig_bound near = {.of_each = 2e-6, .at_all = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

static struct rig_tensor list_of(enum op_type type, const int64_t *numbers)
{
    struct rig_tensor t = rig_tensor_make(type, 1, groups_dim, RIG_DENSE, 1);
    for (int64_t i = 0; i < GROUPS; i++) {
        rig_put_i(rig_tensor_at(&t, i), type, numbers[i]);
    }
    rig_tensor_put(&t);
    return t;
}

static const int64_t ends[] = {4, 4, ROWS}, counts[] = {4, 0, ROWS - 4};

static int64_t group_of(int64_t row)
{
    return row < 4 ? 0 : 2;
}

static void rows_have_scales(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (int way = 0; way < 6; way++) {
        const enum op_type type = types[way % (rig_chip() ? 3 : 2)];
        const bool grouped = way >= 3, ranged = way & 1;
        struct rig_tensor x = rig_values_make(type, 2, dim, RIG_PERMUTED, 3),
                          smooth = grouped ? rig_values_make(type, 2, group_dim, RIG_DENSE, 4)
                                           : rig_values_make(type, 1, width_dim, RIG_DENSE, 4),
                          y = rig_bytes_make(2, dim),
                          scale = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 5),
                          offset = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 6),
                          list = list_of(OP_TYPE_I32, ends);
        double want[COUNT], scales[ROWS], offsets[ROWS];
        for (int64_t i = 0; i < COUNT; i++) {
            const int64_t at = (grouped ? group_of(i / WIDTH) * WIDTH : 0) + i % WIDTH;
            want[i] = rig_values_at(&x, i) * (way == 0 ? 1 : rig_values_at(&smooth, at));
        }
        rig_bytes_rows(ROWS, WIDTH, want, scales, ranged ? offsets : NULL);
        CU_ASSERT_EQUAL(RIG_RUN_NAMED("DynamicQuantV2", true, {"x", {.tensor = x.acl}},
                                      {"smoothScalesOptional", {.tensor = way ? smooth.acl : NULL}},
                                      {"groupIndexOptional", {.tensor = grouped ? list.acl : NULL}},
                                      {"dstType", {.integer = ACL_INT8}},
                                      {"yOut", {.tensor = y.acl}},
                                      {"scaleOut", {.tensor = scale.acl}},
                                      {"offsetOut", {.tensor = ranged ? offset.acl : NULL}}),
                        0);
        rig_bytes_expect(&y, want, 1e-3, "dynamic");
        rig_values_expect(&scale, scales, near, "scales of rows");
        if (ranged) {
            rig_values_expect(&offset, offsets, (struct rig_bound){.at_all = 1e-3}, "offsets");
        }
        rig_values_free((struct rig_tensor[]){x, smooth, y, scale, offset, list}, 6, NULL, 0);
    }
}

static void a_row_of_nothing_has_scale_0(void)
{
    struct rig_tensor x = rig_values_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 3),
                      y = rig_bytes_make(2, dim),
                      scale = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 5);
    double want[COUNT], scales[ROWS];
    for (int64_t i = 0; i < COUNT; i++) {
        rig_put_f(rig_tensor_at(&x, i), OP_TYPE_F16, i / WIDTH == 2 ? 0 : (float)(i % 7) - 3);
        want[i] = i / WIDTH == 2 ? 0 : (double)(i % 7 - 3) / 3 * 127;
        scales[i / WIDTH] = i / WIDTH == 2 ? 0 : 3.0 / 127;
    }
    rig_tensor_put(&x);
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("DynamicQuant", true, {"x", {.tensor = x.acl}},
                                  {"yOut", {.tensor = y.acl}}, {"scaleOut", {.tensor = scale.acl}}),
                    0);
    rig_bytes_expect(&y, want, 1e-3, "a row of nothing");
    rig_values_expect(&scale, scales, near, "its scale");
    rig_values_free((struct rig_tensor[]){x, y, scale}, 3, NULL, 0);
}

static void groups_have_scales(void)
{
    if (!is_here()) {
        return;
    }
    static const int64_t one[] = {1};
    struct rig_tensor x = rig_values_make(OP_TYPE_F16, 2, dim, RIG_SLICED, 3),
                      scale = rig_values_make(OP_TYPE_F32, 2, group_dim, RIG_DENSE, 4),
                      offset = rig_values_make(OP_TYPE_F32, 1, one, RIG_DENSE, 5),
                      y = rig_bytes_make(2, dim), list = list_of(OP_TYPE_I64, ends);
    double want[COUNT];
    for (int64_t i = 0; i < GROUPS * WIDTH; i++) {
        rig_put_f(rig_tensor_at(&scale, i), OP_TYPE_F32, (float)(i % 19) * 4.1f);
    }
    rig_tensor_put(&scale);
    for (int64_t i = 0; i < COUNT; i++) {
        want[i] =
            rig_values_at(&x, i) * rig_values_at(&scale, group_of(i / WIDTH) * WIDTH + i % WIDTH) +
            rig_values_at(&offset, 0);
    }
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("GroupQuant", true, {"x", {.tensor = x.acl}},
                                  {"scale", {.tensor = scale.acl}},
                                  {"groupIndex", {.tensor = list.acl}},
                                  {"offsetOptional", {.tensor = offset.acl}},
                                  {"dstType", {.integer = ACL_INT8}}, {"y", {.tensor = y.acl}}),
                    0);
    rig_bytes_expect(&y, want, 1e-3, "groups");
    rig_values_free((struct rig_tensor[]){x, scale, offset, y, list}, 5, NULL, 0);
}

static void bytes_become_floats(void)
{
    if (!is_here()) {
        return;
    }
    struct rig_tensor x = rig_bytes_make(2, dim),
                      scale = rig_values_make(OP_TYPE_F16, 1, width_dim, RIG_DENSE, 4),
                      offset = rig_values_make(OP_TYPE_F16, 1, width_dim, RIG_DENSE, 5),
                      y = rig_values_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 6),
                      sums = rig_tensor_make(OP_TYPE_I32, 2, dim, RIG_DENSE, 7),
                      row = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 8),
                      bias = rig_tensor_make(OP_TYPE_I32, 1, width_dim, RIG_DENSE, 9),
                      wide = rig_values_make(OP_TYPE_F32, 1, width_dim, RIG_DENSE, 10);
    double want[COUNT], dequant[COUNT];
    for (int64_t i = 0; i < COUNT; i++) {
        rig_put_i(rig_tensor_at(&x, i), OP_TYPE_I8, i * 37 % 256 - 128);
        rig_put_i(rig_tensor_at(&sums, i), OP_TYPE_I32, i * 977 % 5000 - 2500);
        rig_put_i(rig_tensor_at(&bias, i % WIDTH), OP_TYPE_I32, i % WIDTH * 7 - 50);
    }
    rig_tensor_put(&x);
    rig_tensor_put(&sums);
    rig_tensor_put(&bias);
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t c = i % WIDTH;
        want[i] =
            (rig_values_at(&x, i) + rig_values_at(&offset, c)) * pow(rig_values_at(&scale, c), 2);
        dequant[i] = (rig_values_at(&sums, i) + rig_values_at(&bias, c)) * rig_values_at(&wide, c) *
                     rig_values_at(&row, i / WIDTH);
    }
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("AscendAntiQuant", true, {"x", {.tensor = x.acl}},
                                  {"scale", {.tensor = scale.acl}},
                                  {"offset", {.tensor = offset.acl}},
                                  {"dstType", {.integer = ACL_FLOAT16}},
                                  {"sqrtMode", {.integer = 1}}, {"y", {.tensor = y.acl}}),
                    0);
    rig_values_expect(&y, want, near, "AscendAntiQuant");
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "DequantBias", true, {"x", {.tensor = sums.acl}}, {"weightScale", {.tensor = wide.acl}},
            {"activateScaleOptional", {.tensor = row.acl}}, {"biasOptional", {.tensor = bias.acl}},
            {"outputDtype", {.integer = ACL_FLOAT16}}, {"out", {.tensor = y.acl}}),
        0);
    rig_values_expect(&y, dequant, near, "DequantBias");
    rig_values_free((struct rig_tensor[]){x, scale, offset, y, sums, row, bias, wide}, 8, NULL, 0);
}

static void scales_are_packed(void)
{
    if (!is_here()) {
        return;
    }
    const int64_t one_dim[] = {1};
    struct rig_tensor scale = rig_values_make(OP_TYPE_F32, 1, width_dim, RIG_DENSE, 4),
                      one = rig_values_make(OP_TYPE_F32, 1, one_dim, RIG_DENSE, 4),
                      offset = rig_values_make(OP_TYPE_F32, 1, width_dim, RIG_DENSE, 5),
                      out = rig_tensor_make(OP_TYPE_I64, 1, width_dim, RIG_DENSE, 6);
    for (int64_t i = 0; i < WIDTH; i++) {
        rig_put_f(rig_tensor_at(&offset, i), OP_TYPE_F32, (float)(i * 43 % 700) - 350.25f);
    }
    rig_tensor_put(&offset);
    for (int with = 0; with < 3; with++) { // at last one scale for all offsets
        const struct rig_tensor *given = with == 2 ? &one : &scale;
        CU_ASSERT_EQUAL(RIG_RUN_NAMED(with ? "TransQuantParamV2" : "TransQuantParamV3", true,
                                      {"scale", {.tensor = given->acl}},
                                      {"offset", {.tensor = with ? offset.acl : NULL}},
                                      {"out", {.tensor = out.acl}}),
                        0);
        rig_tensor_take(&out);
        for (int64_t i = 0; i < WIDTH; i++) {
            const float value = rig_get_f(rig_tensor_at(given, with == 2 ? 0 : i), OP_TYPE_F32),
                        add = rig_get_f(rig_tensor_at(&offset, i), OP_TYPE_F32);
            uint32_t bits;
            memcpy(&bits, &value, sizeof(bits));
            uint64_t want = (bits & 0xFFFFE000u) | UINT64_C(1) << 46;
            const int64_t whole = (int64_t)fmax(fmin(rint(add), 255), -256);
            if (with) {
                want = (want & UINT64_C(0x4000FFFFFFFF)) | ((uint64_t)whole & 0x1FF) << 37;
            }
            CU_ASSERT_EQUAL((uint64_t)rig_get_i(rig_tensor_at(&out, i), OP_TYPE_I64), want);
        }
    }
    rig_values_free((struct rig_tensor[]){scale, one, offset, out}, 4, NULL, 0);
}

/* ---- gates ---- */

static double swish(double x)
{
    return x / (1 + exp(-x));
}

static void gates_are_quantised(void)
{
    const int64_t whole[] = {ROWS, 2 * WIDTH};
    for (int way = 0; is_here() && way < 4; way++) {
        const bool grouped = way & 1, dynamic = way & 2;
        struct rig_tensor x = rig_values_make(OP_TYPE_F16, 2, whole, RIG_PERMUTED, 3),
                          smooth = grouped
                                       ? rig_values_make(OP_TYPE_F32, 2, group_dim, RIG_DENSE, 4)
                                       : rig_values_make(OP_TYPE_F32, 1, width_dim, RIG_DENSE, 4),
                          offset = grouped
                                       ? rig_values_make(OP_TYPE_F32, 2, group_dim, RIG_DENSE, 5)
                                       : rig_values_make(OP_TYPE_F32, 1, width_dim, RIG_DENSE, 5),
                          y = rig_bytes_make(2, dim),
                          scale = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 5),
                          list = list_of(OP_TYPE_I32, dynamic ? counts : ends);
        double want[COUNT], scales[ROWS];
        for (int64_t i = 0; i < COUNT; i++) {
            const int64_t r = i / WIDTH, c = i % WIDTH,
                          at = (grouped ? group_of(r) * WIDTH : 0) + c;
            const double left = rig_values_at(&x, r * 2 * WIDTH + c),
                         right = rig_values_at(&x, r * 2 * WIDTH + WIDTH + c);
            want[i] = (way == 1 ? swish(left) * right : left * swish(right)) *
                          rig_values_at(&smooth, at) +
                      (dynamic ? 0 : rig_values_at(&offset, at));
        }
        if (dynamic) {
            rig_bytes_rows(ROWS, WIDTH, want, scales, NULL);
            for (int64_t r = 0; r < ROWS; r++) {
                scales[r] = 1 / scales[r];
            }
        }
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED("SwiGluQuantV2", true, {"x", {.tensor = x.acl}},
                          {"smoothScalesOptional", {.tensor = smooth.acl}},
                          {"offsetsOptional", {.tensor = dynamic ? NULL : offset.acl}},
                          {"groupIndexOptional", {.tensor = grouped ? list.acl : NULL}},
                          {"activateLeft", {.integer = way == 1}},
                          {"quantModeOptional",
                           {.text = (char *)(uintptr_t)(dynamic ? "dynamic" : "static")}},
                          {"groupListType", {.integer = dynamic}}, {"yOut", {.tensor = y.acl}},
                          {"scaleOut", {.tensor = scale.acl}}),
            0);
        rig_bytes_expect(&y, want, 1e-3, "a gate");
        if (dynamic) {
            rig_values_expect(&scale, scales, near, "factors of rows");
        }
        rig_values_free((struct rig_tensor[]){x, smooth, offset, y, scale, list}, 6, NULL, 0);
    }
}

/* i32 of a product, with the scale of its group and of its row, through the gate to i8. */
static void products_go_through_gates(void)
{
    const int64_t whole[] = {ROWS, 2 * WIDTH}, weights[] = {GROUPS, 2 * WIDTH};
    for (int dynamic = 0; is_here() && dynamic < 2; dynamic++) {
        struct rig_tensor x = rig_tensor_make(OP_TYPE_I32, 2, whole, RIG_DENSE, 3),
                          weight = rig_values_make(OP_TYPE_F32, 2, weights, RIG_DENSE, 4),
                          row = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 5),
                          factor = rig_values_make(OP_TYPE_F32, 2, group_dim, RIG_DENSE, 6),
                          y = rig_bytes_make(2, dim),
                          scale = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 5),
                          list = list_of(OP_TYPE_I64, counts);
        double want[COUNT], scales[ROWS];
        for (int64_t i = 0; i < ROWS * 2 * WIDTH; i++) {
            rig_put_i(rig_tensor_at(&x, i), OP_TYPE_I32, i * 977 % 9 - 4);
        }
        rig_tensor_put(&x);
        for (int64_t i = 0; i < COUNT; i++) {
            const int64_t r = i / WIDTH, c = i % WIDTH, g = group_of(r);
            double half[2];
            for (int64_t k = 0; k < 2; k++) {
                half[k] = rig_values_at(&x, (r * 2 + k) * WIDTH + c) *
                          rig_values_at(&weight, (g * 2 + k) * WIDTH + c) * rig_values_at(&row, r);
            }
            const double gated = swish(half[0]) * half[1],
                         f = rig_values_at(&factor, g * WIDTH + c);
            want[i] = dynamic ? gated * f : gated / f;
        }
        if (dynamic) {
            rig_bytes_rows(ROWS, WIDTH, want, scales, NULL);
        }
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED("DequantSwigluQuant", true, {"x", {.tensor = x.acl}},
                          {"weightScaleOptional", {.tensor = weight.acl}},
                          {"activationScaleOptional", {.tensor = row.acl}},
                          {"quantScaleOptional", {.tensor = factor.acl}},
                          {"groupIndexOptional", {.tensor = list.acl}},
                          {"activateLeft", {.integer = 1}},
                          {"quantModeOptional",
                           {.text = (char *)(uintptr_t)(dynamic ? "dynamic" : "static")}},
                          {"yOut", {.tensor = y.acl}}, {"scaleOut", {.tensor = scale.acl}}),
            0);
        rig_bytes_expect(&y, want, 1e-2, "a gate of a product");
        if (dynamic) {
            rig_values_expect(&scale, scales, near, "scales of a product");
        }
        rig_values_free((struct rig_tensor[]){x, weight, row, factor, y, scale, list}, 7, NULL, 0);
    }
}

/* g sigmoid(alpha g) (b + bias), both cut at limit. */
static double clipped(double a, double b)
{
    const double limit = 0.75, alpha = 1.5, bias = 0.25, g = fmin(a, limit);
    return g / (1 + exp(-alpha * g)) * (fmax(fmin(b, limit), -limit) + bias);
}

static void gates_are_clipped(void)
{
    const int64_t whole[] = {ROWS, 2 * WIDTH};
    for (int even_odd = 0; is_here() && even_odd < 2; even_odd++) {
        struct rig_tensor x = rig_values_make(OP_TYPE_F16, 2, whole, RIG_PERMUTED, 3),
                          out = rig_values_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 4),
                          y = rig_bytes_make(2, dim),
                          scale = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 5);
        double want[COUNT], scales[ROWS];
        for (int64_t i = 0; i < COUNT; i++) {
            const int64_t r = i / WIDTH * 2 * WIDTH, c = i % WIDTH;
            want[i] = even_odd
                          ? clipped(rig_values_at(&x, r + 2 * c), rig_values_at(&x, r + 2 * c + 1))
                          : clipped(rig_values_at(&x, r + c), rig_values_at(&x, r + WIDTH + c));
        }
        CU_ASSERT_EQUAL(RIG_RUN_NAMED("ClippedSwiglu", true, {"x", {.tensor = x.acl}},
                                      {"dim", {.integer = -1}}, {"alpha", {.real = 1.5}},
                                      {"limit", {.real = 0.75}}, {"bias", {.real = 0.25}},
                                      {"interleaved", {.integer = even_odd}},
                                      {"out", {.tensor = out.acl}}),
                        0);
        rig_values_expect(&out, want, near, "a clipped gate");
        if (even_odd) {
            rig_bytes_rows(ROWS, WIDTH, want, scales, NULL);
            CU_ASSERT_EQUAL(
                RIG_RUN_NAMED("DequantSwigluQuantV2", true, {"x", {.tensor = x.acl}},
                              {"quantModeOptional", {.text = (char *)(uintptr_t)"dynamic"}},
                              {"dstType", {.integer = ACL_INT8}}, {"activateDim", {.integer = -1}},
                              {"swigluMode", {.integer = 1}}, {"clampLimit", {.real = 0.75}},
                              {"gluAlpha", {.real = 1.5}}, {"gluBias", {.real = 0.25}},
                              {"yOut", {.tensor = y.acl}}, {"scaleOut", {.tensor = scale.acl}}),
                0);
            rig_bytes_expect(&y, want, 1e-2, "a clipped gate of bytes");
            rig_values_expect(&scale, scales, near, "its scales");
        }
        rig_values_free((struct rig_tensor[]){x, out, y, scale}, 4, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"rows_have_scales", rows_have_scales},
        {"a_row_of_nothing_has_scale_0", a_row_of_nothing_has_scale_0},
        {"groups_have_scales", groups_have_scales},
        {"bytes_become_floats", bytes_become_floats},
        {"scales_are_packed", scales_are_packed},
        {"gates_are_quantised", gates_are_quantised},
        {"gates_are_clipped", gates_are_clipped},
        {"products_go_through_gates", products_go_through_gates},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_quantised", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
