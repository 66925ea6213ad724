/* SPDX-License-Identifier: Apache-2.0 */
/* add, relu, relu_grad, cast, momentum_sgd against their references, bit for bit. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t counts[] = {1,  2,   7,   8,    9,    15,   16,    17,    31,
                                  33, 127, 129, 1009, 4096, 8193, 20011, 300007};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

/* Runs a case on both generations over all counts. */
static void for_all(void (*run)(struct rig *rig, uint32_t count))
{
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (int i = 0; i < COUNTS; i++) {
            run(&rig, counts[i]);
        }
        rig_finish(&rig);
    }
}

static void expect_same(const struct rig *rig, const char *what, const void *a, const void *b,
                        uint32_t count, size_t size)
{
    const long bad = rig_compare(a, b, count, size);
    if (bad >= 0) {
        fprintf(stderr, "%s, arch %u, %u elements: differs at %ld\n", what, rig->arch, count, bad);
    }
    CU_ASSERT_EQUAL(bad, -1);
}

/* Any bits, so also infinities, NaN and subnormals. */
static void spoil(struct rig_random *random, uint16_t *halves, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 3) {
        halves[i] = (uint16_t)rig_random_next(random);
    }
}

static void run_add_f16(struct rig *rig, uint32_t count)
{
    struct rig_random random = {count};
    uint16_t *a = rig_random_halves(&random, count), *b = rig_random_halves(&random, count);
    uint16_t *got = rig_alloc(count, 2), *want = rig_alloc(count, 2);
    spoil(&random, a, count);
    for (uint32_t i = 0; i < count; i++) {
        want[i] = op_ref_to_half(op_ref_from_half(a[i]) + op_ref_from_half(b[i]));
    }
    struct rig_buffer da = rig_put(rig, LEO_DTYPE_F16, count, 0, a),
                      db = rig_put(rig, LEO_DTYPE_F16, count, 0, b);
    struct rig_buffer out = rig_put(rig, LEO_DTYPE_F16, count, 0, NULL);
    CU_ASSERT_EQUAL(leo_op_add(rig->context, rig->stream, &da.tensor, &db.tensor, &out.tensor),
                    LEO_OK);
    CU_ASSERT_EQUAL(leo_op_add(rig->context, rig->stream, &da.tensor, &db.tensor, &da.tensor),
                    LEO_OK); // in place
    rig_synchronize(rig);
    rig_take(rig, &out, got);
    expect_same(rig, "add f16", want, got, count, 2);
    rig_take(rig, &da, got);
    expect_same(rig, "add f16 in place", want, got, count, 2);
    rig_take(rig, &db, NULL);
    free(a);
    free(b);
    free(got);
    free(want);
}

static void add_f16_equals_reference(void)
{
    for_all(run_add_f16);
}

static void run_add_f32(struct rig *rig, uint32_t count)
{
    struct rig_random random = {count};
    float *a = rig_random_floats(&random, count), *b = rig_random_floats(&random, count);
    float *got = rig_alloc(count, 4), *want = rig_alloc(count, 4);
    for (uint32_t i = 0; i < count; i++) {
        want[i] = a[i] + b[i];
    }
    struct rig_buffer da = rig_put(rig, LEO_DTYPE_F32, count, 0, a),
                      db = rig_put(rig, LEO_DTYPE_F32, count, 0, b);
    struct rig_buffer out = rig_put(rig, LEO_DTYPE_F32, count, 0, NULL);
    CU_ASSERT_EQUAL(leo_op_add(rig->context, rig->stream, &da.tensor, &db.tensor, &out.tensor),
                    LEO_OK);
    CU_ASSERT_EQUAL(leo_op_add(rig->context, rig->stream, &da.tensor, &db.tensor, &db.tensor),
                    LEO_OK); // in place
    rig_synchronize(rig);
    rig_take(rig, &out, got);
    expect_same(rig, "add f32", want, got, count, 4);
    rig_take(rig, &db, got);
    expect_same(rig, "add f32 in place", want, got, count, 4);
    rig_take(rig, &da, NULL);
    free(a);
    free(b);
    free(got);
    free(want);
}

static void add_f32_equals_reference(void)
{
    for_all(run_add_f32);
}

static void run_relu(struct rig *rig, uint32_t count)
{
    struct rig_random random = {count};
    uint16_t *x = rig_random_halves(&random, count), *g = rig_random_halves(&random, count);
    float *fx = rig_random_floats(&random, count), *fg = rig_random_floats(&random, count);
    uint16_t *y = rig_alloc(count, 2), *dx = rig_alloc(count, 2), *got = rig_alloc(count, 2);
    float *fy = rig_alloc(count, 4), *fdx = rig_alloc(count, 4), *fgot = rig_alloc(count, 4);
    g[0] = 0x7c00; // an infinite gradient behind a dead unit is 0, not NaN
    x[0] = 0xbc00;
    for (uint32_t i = 0; i < count; i++) {
        y[i] = op_ref_to_half(op_ref_relu(op_ref_from_half(x[i])));
        dx[i] = op_ref_from_half(y[i]) > 0 ? g[i] : 0;
        fy[i] = op_ref_relu(fx[i]);
        fdx[i] = fy[i] > 0 ? fg[i] : 0.0f;
    }
    struct rig_buffer bx = rig_put(rig, LEO_DTYPE_F16, count, 0, x),
                      bg = rig_put(rig, LEO_DTYPE_F16, count, 0, g);
    struct rig_buffer by = rig_put(rig, LEO_DTYPE_F16, count, 0, NULL),
                      bdx = rig_put(rig, LEO_DTYPE_F16, count, 0, NULL);
    struct rig_buffer bfx = rig_put(rig, LEO_DTYPE_F32, count, 0, fx),
                      bfg = rig_put(rig, LEO_DTYPE_F32, count, 0, fg);
    CU_ASSERT_EQUAL(leo_op_relu(rig->context, rig->stream, &bx.tensor, &by.tensor), LEO_OK);
    CU_ASSERT_EQUAL(
        leo_op_relu_grad(rig->context, rig->stream, &bg.tensor, &by.tensor, &bdx.tensor), LEO_OK);
    CU_ASSERT_EQUAL(leo_op_relu(rig->context, rig->stream, &bfx.tensor, &bfx.tensor), LEO_OK);
    CU_ASSERT_EQUAL(
        leo_op_relu_grad(rig->context, rig->stream, &bfg.tensor, &bfx.tensor, &bfg.tensor), LEO_OK);
    rig_synchronize(rig);
    rig_take(rig, &by, got);
    expect_same(rig, "relu f16", y, got, count, 2);
    rig_take(rig, &bdx, got);
    expect_same(rig, "relu_grad f16", dx, got, count, 2);
    rig_take(rig, &bfx, fgot);
    expect_same(rig, "relu f32 in place", fy, fgot, count, 4);
    rig_take(rig, &bfg, fgot);
    expect_same(rig, "relu_grad f32 in place", fdx, fgot, count, 4);
    rig_take(rig, &bx, NULL);
    rig_take(rig, &bg, NULL);
    void *all[] = {x, g, fx, fg, y, dx, got, fy, fdx, fgot};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        free(all[i]);
    }
}

static void relu_and_its_gradient_equal_reference(void)
{
    for_all(run_relu);
}

static void run_cast(struct rig *rig, uint32_t count)
{
    struct rig_random random = {count};
    float *x = rig_random_floats(&random, count), *wide = rig_alloc(count, 4),
          *fgot = rig_alloc(count, 4);
    uint16_t *want = rig_alloc(count, 2), *got = rig_alloc(count, 2);
    x[count / 2] = 65519.0f; // the largest that does not overflow
    for (uint32_t i = 0; i < count; i++) {
        want[i] = op_ref_to_half(x[i]);
        wide[i] = op_ref_from_half(want[i]);
    }
    const int32_t zero = 0;
    int32_t flag = -1;
    struct rig_buffer bx = rig_put(rig, LEO_DTYPE_F32, count, 0, x),
                      bh = rig_put(rig, LEO_DTYPE_F16, count, 0, NULL);
    struct rig_buffer bf = rig_put(rig, LEO_DTYPE_F32, count, 0, NULL),
                      report = rig_put(rig, LEO_DTYPE_S32, 1, 0, &zero);
    CU_ASSERT_EQUAL(leo_op_cast(rig->context, rig->stream, &bx.tensor, &bh.tensor, &report.tensor),
                    LEO_OK);
    CU_ASSERT_EQUAL(leo_op_cast(rig->context, rig->stream, &bh.tensor, &bf.tensor, &report.tensor),
                    LEO_OK);
    rig_synchronize(rig);
    rig_take(rig, &bh, got);
    rig_take(rig, &bf, fgot);
    rig_take(rig, &report, &flag);
    rig_take(rig, &bx, NULL);
    expect_same(rig, "cast to f16", want, got, count, 2);
    expect_same(rig, "cast to f32", wide, fgot, count, 4);
    CU_ASSERT_EQUAL(flag, 0);
    free(x);
    free(wide);
    free(fgot);
    free(want);
    free(got);
}

static void cast_equals_reference(void)
{
    for_all(run_cast);
}

/* One bad value anywhere is reported, by either direction, and the report is not taken back. */
static void run_overflow(struct rig *rig, uint32_t count)
{
    static const uint32_t bad_bits[] = {0x477ff000 /* 65520 */, 0x7f800000, 0xff800000, 0x7fc00000};
    const uint32_t places[] = {0, count / 2, count - 1};
    for (int i = 0; i < 4; i++) {
        for (int p = 0; p < 3; p++) {
            float *x = rig_alloc(count, 4);
            uint16_t *back = rig_alloc(count, 2);
            const int32_t zero = 0;
            int32_t flag[2] = {-1, -1};
            memcpy(&x[places[p]], &bad_bits[i], 4);
            struct rig_buffer bx = rig_put(rig, LEO_DTYPE_F32, count, 0, x),
                              bh = rig_put(rig, LEO_DTYPE_F16, count, 0, NULL);
            struct rig_buffer first = rig_put(rig, LEO_DTYPE_S32, 1, 0, &zero),
                              second = rig_put(rig, LEO_DTYPE_S32, 1, 0, &zero);
            CU_ASSERT_EQUAL(
                leo_op_cast(rig->context, rig->stream, &bx.tensor, &bh.tensor, &first.tensor),
                LEO_OK);
            CU_ASSERT_EQUAL(
                leo_op_cast(rig->context, rig->stream, &bh.tensor, &bx.tensor, &second.tensor),
                LEO_OK);
            rig_synchronize(rig);
            rig_take(rig, &first, &flag[0]);
            rig_take(rig, &second, &flag[1]);
            rig_take(rig, &bh, back);
            rig_take(rig, &bx, NULL);
            CU_ASSERT_EQUAL(flag[0], 1);
            CU_ASSERT_EQUAL(flag[1], 1);
            float bad;
            memcpy(&bad, &bad_bits[i], 4);
            CU_ASSERT_EQUAL(back[places[p]], op_ref_to_half(bad));
            free(x);
            free(back);
        }
    }
}

static void cast_reports_overflow(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        run_overflow(&rig, 1);
        run_overflow(&rig, 17);
        run_overflow(&rig, 20011);
        rig_finish(&rig);
    }
}

static void run_momentum(struct rig *rig, uint32_t count)
{
    struct rig_random random = {count};
    const float scale = 1.0f / 1024, rate = 0.05f, momentum = 0.9f;
    for (int half = 0; half < 2; half++) {
        float *w = rig_random_floats(&random, count), *v = rig_random_floats(&random, count);
        float *g = rig_random_floats(&random, count), *got = rig_alloc(count, 4);
        uint16_t *hg = rig_random_halves(&random, count);
        struct rig_buffer bw = rig_put(rig, LEO_DTYPE_F32, count, 0, w),
                          bv = rig_put(rig, LEO_DTYPE_F32, count, 0, v);
        struct rig_buffer bg = rig_put(rig, half ? LEO_DTYPE_F16 : LEO_DTYPE_F32, count, 0,
                                       half ? (void *)hg : (void *)g);
        for (int step = 0; step < 2; step++) {
            CU_ASSERT_EQUAL(leo_op_momentum_sgd(rig->context, rig->stream, &bw.tensor, &bv.tensor,
                                                &bg.tensor, scale, rate, momentum),
                            LEO_OK);
            for (uint32_t i = 0; i < count; i++) {
                op_ref_momentum_sgd(&w[i], &v[i], half ? op_ref_from_half(hg[i]) : g[i], scale,
                                    rate, momentum);
            }
        }
        rig_synchronize(rig);
        rig_take(rig, &bw, got);
        expect_same(rig, "momentum_sgd weight", w, got, count, 4);
        rig_take(rig, &bv, got);
        expect_same(rig, "momentum_sgd velocity", v, got, count, 4);
        rig_take(rig, &bg, NULL);
        free(w);
        free(v);
        free(g);
        free(got);
        free(hg);
    }
}

static void momentum_sgd_equals_reference(void)
{
    for_all(run_momentum);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"add_f16_equals_reference", add_f16_equals_reference},
        {"add_f32_equals_reference", add_f32_equals_reference},
        {"relu_and_its_gradient_equal_reference", relu_and_its_gradient_equal_reference},
        {"cast_equals_reference", cast_equals_reference},
        {"cast_reports_overflow", cast_reports_overflow},
        {"momentum_sgd_equals_reference", momentum_sgd_equals_reference},
    };
    return leo_test_main("elementwise", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
