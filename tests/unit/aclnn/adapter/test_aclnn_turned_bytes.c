/* SPDX-License-Identifier: Apache-2.0 */
/* Rows turned by matrices and quantised, 8 bits or 4: against double on the host. */
#include "rig_bytes.h"
#include "rig_named.h"

#include <math.h>

static bool is_here(void)
{
    return rig_chip() == 1;
}

/* Number i of words of 8 numbers of 4 bits. */
static int64_t nibble(const struct rig_tensor *words, int64_t i)
{
    const int64_t word = rig_get_i(rig_tensor_at(words, i / 8), OP_TYPE_I32),
                  bits = word >> (i % 8 * 4) & 15;
    return bits >= 8 ? bits - 16 : bits;
}

static void expect_nibbles(struct rig_tensor *out, struct rig_tensor *scale, const double *x,
                           int64_t rows, int64_t width, double clip)
{
    rig_tensor_take(out);
    rig_tensor_take(scale);
    for (int64_t r = 0; r < rows; r++) {
        double most = 0;
        for (int64_t i = 0; i < width; i++) {
            most = fmax(most, fabs(x[r * width + i]));
        }
        CU_ASSERT_DOUBLE_EQUAL(rig_values_at(scale, r), most * clip / 7, 1e-6 * (1 + most));
        for (int64_t i = 0; i < width; i++) {
            const double want =
                fmin(fmax(most == 0 ? 0 : x[r * width + i] * 7 / clip / most, -8), 7);
            CU_ASSERT_TRUE(fabs((double)nibble(out, r * width + i) - want) <= 0.5 + 1e-4);
        }
    }
}

enum { M = 4, N1 = 6, N2 = 16 };

static void flat(enum op_type type, double clip, bool second)
{
    const int64_t dim[] = {M, N1, N2}, p1[] = {N1, N1}, p2[] = {N2, N2}, out[] = {M, N1, N2 / 8},
                  scales[] = {M};
    struct rig_tensor x = rig_tensor_eighths(type, 3, dim, RIG_PERMUTED, 1),
                      a = rig_tensor_eighths(type, 2, p1, RIG_DENSE, 2),
                      b = rig_tensor_eighths(type, 2, p2, RIG_DENSE, 3),
                      y = rig_tensor_make(OP_TYPE_I32, 3, out, RIG_DENSE, 4),
                      scale = rig_values_make(OP_TYPE_F32, 1, scales, RIG_DENSE, 5);
    static double right[M * N1 * N2], want[M * N1 * N2];
    for (int64_t i = 0; i < N1 * N2; i++) {
        rig_put_d(rig_tensor_at(&x, i), type, 0); // a matrix of nothing
    }
    rig_tensor_put(&x);
    for (int64_t i = 0; i < M * N1 * N2; i++) {
        right[i] = 0;
        for (int64_t k = 0; k < N2; k++) {
            right[i] += rig_values_at(&x, i / N2 * N2 + k) * rig_values_at(&b, k * N2 + i % N2);
        }
        right[i] = rig_values_round(right[i], type);
    }
    for (int64_t i = 0; i < M * N1 * N2; i++) {
        const int64_t m = i / N1 / N2, row = i / N2 % N1;
        want[i] = 0;
        for (int64_t k = 0; k < N1; k++) {
            want[i] += rig_values_at(&a, row * N1 + k) * right[(m * N1 + k) * N2 + i % N2];
        }
        want[i] = rig_values_round(want[i], type);
    }
    for (int wrong = 1; wrong >= 0; wrong--) {
        const aclnnStatus code = RIG_RUN_NAMED(
            second ? "FlatQuantV2" : "FlatQuant", is_here() && !wrong, {"x", {.tensor = x.acl}},
            {"kroneckerP1", {.tensor = a.acl}}, {"kroneckerP2", {.tensor = b.acl}},
            {"clipRatio", {.real = wrong ? 1.5 : clip}}, {"out", {.tensor = y.acl}},
            {"quantScale", {.tensor = scale.acl}});
        CU_ASSERT_EQUAL(code == 0, is_here() && !wrong);
    }
    if (is_here()) {
        expect_nibbles(&y, &scale, want, M, N1 * N2, clip);
    }
    struct rig_tensor all[] = {x, a, b, y, scale};
    rig_values_free(all, 5, NULL, 0);
}

static void matrices_stand_on_either_side(void)
{
    flat(OP_TYPE_F16, 1, false);
    flat(OP_TYPE_F16, 0.75, true);
}

static void rotate(enum op_type type, bool bytes)
{
    enum { ROWS = 6, WIDTH = 96, PART = 32 };
    const int64_t dim[] = {2, ROWS / 2, WIDTH}, r_dim[] = {PART, PART},
                  words[] = {2, ROWS / 2, WIDTH / 8};
    struct rig_tensor x = rig_tensor_eighths(type, 3, dim, RIG_PERMUTED, 1),
                      r = rig_tensor_eighths(type, 2, r_dim, RIG_DENSE, 2),
                      y = bytes ? rig_bytes_make(3, dim)
                                : rig_tensor_make(OP_TYPE_I32, 3, words, RIG_DENSE, 3),
                      scale = rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 4);
    static double want[ROWS * WIDTH];
    double scales[ROWS];
    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        want[i] = 0;
        for (int64_t k = 0; k < PART; k++) {
            want[i] +=
                rig_values_at(&x, i / PART * PART + k) * rig_values_at(&r, k * PART + i % PART);
        }
        want[i] = rig_values_round(want[i], type);
    }
    for (int64_t turned = 1; turned >= 0; turned--) {
        const aclnnStatus code =
            RIG_RUN_NAMED("RotateQuant", is_here() && !turned, {"x", {.tensor = x.acl}},
                          {"rotation", {.tensor = r.acl}}, {"axis", {.integer = -1}},
                          {"trans", {.integer = turned}}, {"yOut", {.tensor = y.acl}},
                          {"scaleOut", {.tensor = scale.acl}});
        CU_ASSERT_EQUAL(code == 0, is_here() && !turned);
    }
    if (is_here() && bytes) {
        const struct rig_bound near = {.of_each = 1e-6, .at_all = 1e-7, .roundings = 1};
        rig_bytes_rows(ROWS, WIDTH, want, scales, NULL);
        rig_bytes_expect(&y, want, 1e-4, "rows");
        rig_values_expect(&scale, scales, near, "scales");
    } else if (is_here()) {
        expect_nibbles(&y, &scale, want, ROWS, WIDTH, 1);
    }
    struct rig_tensor all[] = {x, r, y, scale};
    rig_values_free(all, 4, NULL, 0);
}

static void parts_of_rows_are_turned(void)
{
    rotate(OP_TYPE_F16, true);
    rotate(OP_TYPE_BF16, false);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"matrices_stand_on_either_side", matrices_stand_on_either_side},
        {"parts_of_rows_are_turned", parts_of_rows_are_turned},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_turned_bytes", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
