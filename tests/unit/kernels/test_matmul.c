/* SPDX-License-Identifier: Apache-2.0 */
/* The matmul operator against its reference, bit for bit, and the reference against OpenBLAS. */
#include "rig.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct shape {
    uint32_t m, n, k;
};

enum { LONG = 2048 }; /* k is cut into parts from here on */

/* Multiples of 1/8: their products' sums are exact in any order. */
static void make_coarse(uint16_t *halves, size_t halves_count, float *floats, size_t count)
{
    for (size_t i = 0; i < halves_count; i++) {
        halves[i] = op_ref_to_half(rintf(op_ref_from_half(halves[i]) * 8) / 8);
    }
    for (size_t i = 0; i < count; i++) {
        floats[i] = rintf(floats[i] * 8) / 8;
    }
}

/* Runs one matmul on the device and compares it with the reference. */
static void check(struct rig *rig, struct shape s, bool ta, bool tb, bool relu, bool with_bias,
                  bool half_out)
{
    struct rig_random random = {s.m * 131u + s.n * 17u + s.k};
    uint16_t *a = rig_random_halves(&random, (size_t)s.m * s.k),
             *b = rig_random_halves(&random, (size_t)s.k * s.n);
    float *bias = rig_random_floats(&random, s.n);
    const size_t count = (size_t)s.m * s.n;
    if (s.k >= LONG) {
        make_coarse(a, (size_t)s.m * s.k, bias, s.n);
        make_coarse(b, (size_t)s.k * s.n, NULL, 0);
    }
    float *expected = rig_alloc(count, sizeof(float));
    void *got = rig_alloc(count, sizeof(float));

    struct rig_buffer da = rig_put(rig, LEO_DTYPE_F16, ta ? s.k : s.m, ta ? s.m : s.k, a);
    struct rig_buffer db = rig_put(rig, LEO_DTYPE_F16, tb ? s.n : s.k, tb ? s.k : s.n, b);
    struct rig_buffer dbias = rig_put(rig, LEO_DTYPE_F32, s.n, 0, bias);
    struct rig_buffer out = rig_put(rig, half_out ? LEO_DTYPE_F16 : LEO_DTYPE_F32, s.m, s.n, NULL);
    const struct leo_op_tensor left = ta ? leo_op_transposed(&da.tensor) : da.tensor;
    const struct leo_op_tensor right = tb ? leo_op_transposed(&db.tensor) : db.tensor;
    CU_ASSERT_EQUAL_FATAL(LEO_OP(rig->context, "FusedMatmul", leo_op_arg_tensor(&left),
                                 leo_op_arg_tensor(&right),
                                 with_bias ? leo_op_arg_tensor(&dbias.tensor) : leo_op_arg_none(),
                                 leo_op_arg_none(), leo_op_arg_text(relu ? "relu" : ""),
                                 leo_op_arg_number(0), leo_op_arg_tensor(&out.tensor)),
                          LEO_OK);
    rig_synchronize(rig);
    rig_take(rig, &out, got);
    rig_take(rig, &da, NULL);
    rig_take(rig, &db, NULL);
    rig_take(rig, &dbias, NULL);

    const struct op_ref_matmul ref = {s.m,
                                      s.n,
                                      s.k,
                                      a,
                                      b,
                                      ta,
                                      tb,
                                      relu,
                                      with_bias ? bias : NULL,
                                      rig->arch == 1001 ? OP_REF_BIAS_LAST : OP_REF_BIAS_FIRST};
    op_ref_matmul(&ref, expected);
    if (half_out) {
        uint16_t *halves =
            (uint16_t *)expected; // in place: a half never stands behind the float it comes from
        for (size_t i = 0; i < count; i++) {
            halves[i] = op_ref_to_half(expected[i]);
        }
    }
    const long bad = rig_compare(expected, got, count, half_out ? 2 : 4);
    if (bad >= 0) {
        fprintf(stderr,
                "arch %u m %u n %u k %u ta %d tb %d relu %d bias %d half %d: differs at %ld (row "
                "%ld column %ld)\n",
                rig->arch, s.m, s.n, s.k, ta, tb, relu, with_bias, half_out, bad, bad / (long)s.n,
                bad % (long)s.n);
    }
    CU_ASSERT_EQUAL(bad, -1);
    free(a);
    free(b);
    free(bias);
    free(expected);
    free(got);
}

static void matmul_equals_reference_over_awkward_shapes(void)
{
    static const uint32_t sizes[] = {1, 15, 16, 17, 31, 33, 61};
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        unsigned variant = 0;
        for (int i = 0; i < SIZES * SIZES * SIZES; i++, variant += 7) {
            const struct shape s = {sizes[i % SIZES], sizes[i / SIZES % SIZES],
                                    sizes[i / SIZES / SIZES]};
            check(&rig, s, variant & 1, variant & 2, variant & 4, variant & 8, variant & 16);
        }
        rig_finish(&rig);
    }
}

static void matmul_equals_reference_in_every_variant(void)
{
    static const struct shape shapes[] = {{40, 48, 72}, {37, 29, 53}};
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (unsigned v = 0; v < 64; v++) {
            check(&rig, shapes[v >> 5], v & 1, v & 2, v & 4, v & 8, v & 16);
        }
        rig_finish(&rig);
    }
}

/* Several tiles a core, several chunks of k, tails everywhere; n = 8 mod 16 has a way of its own
 * out of the core. */
static void matmul_equals_reference_over_large_shapes(void)
{
    static const struct shape shapes[] = {{300, 280, 700}, {257, 259, 101}, {1, 1000, 300},
                                          {700, 1, 600},   {64, 10, 2100},  {130, 264, 64},
                                          {20, 24, 1500},  {529, 523, 67},  {70, 1000, 333}};
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
            check(&rig, shapes[i], i & 1, i & 2, i & 4, i % 3 == 0, i % 2 == 0);
            check(&rig, shapes[i], !(i & 1), i & 1, false, i % 3 == 1, i % 2 == 1);
        }
        rig_finish(&rig);
    }
}

static void matmul_of_a_long_k_is_cut(void)
{
    static const struct shape shapes[] = {
        {1, 1, 4096}, {20, 24, 4096}, {16, 130, 2048}, {64, 10, 2352}, {100, 33, 6144}};
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
            check(&rig, shapes[i], i & 1, i & 2, i & 1, i % 3 == 0, i % 2 == 0);
            check(&rig, shapes[i], !(i & 1), i & 1, false, i % 3 == 1, i % 2 == 1);
        }
        rig_finish(&rig);
    }
}

static void matmul_reference_agrees_with_openblas(void)
{
    enum { M = 33, N = 29, K = 65 };
    struct rig_random random = {5};
    uint16_t *a = rig_random_halves(&random, M * K), *b = rig_random_halves(&random, K * N);
    static float fa[M * K], fb[K * N], blas[M * N], ours[M * N];
    for (int i = 0; i < M * K; i++) {
        fa[i] = op_ref_from_half(a[i]);
    }
    for (int i = 0; i < K * N; i++) {
        fb[i] = op_ref_from_half(b[i]);
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0f, fa, K, fb, N, 0.0f, blas,
                N);
    op_ref_matmul(&(struct op_ref_matmul){.m = M, .n = N, .k = K, .a = a, .b = b}, ours);
    for (int i = 0; i < M * N; i++) {
        CU_ASSERT_TRUE(fabsf(blas[i] - ours[i]) <= 1e-4f);
    }
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"matmul_reference_agrees_with_openblas", matmul_reference_agrees_with_openblas},
        {"matmul_equals_reference_in_every_variant", matmul_equals_reference_in_every_variant},
        {"matmul_equals_reference_over_awkward_shapes",
         matmul_equals_reference_over_awkward_shapes},
        {"matmul_equals_reference_over_large_shapes", matmul_equals_reference_over_large_shapes},
        {"matmul_of_a_long_k_is_cut", matmul_of_a_long_k_is_cut},
    };
    return leo_test_main("matmul", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
