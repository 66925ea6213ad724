/* SPDX-License-Identifier: Apache-2.0 */
/* column_sum, softmax_xent and its gradient: operators over the rows of a matrix. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const uint32_t sizes[] = {1, 2, 7, 8, 10, 15, 16, 17, 31, 33, 64, 97, 130};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void run_column_sum(struct rig *rig, uint32_t rows, uint32_t columns)
{
    struct rig_random random = {rows * 7u + columns};
    const size_t count = (size_t)rows * columns;
    float *x = rig_random_floats(&random, count), *wide = rig_alloc(count, 4);
    uint16_t *h = rig_random_halves(&random, count);
    float *want = rig_alloc(columns, 4), *want_h = rig_alloc(columns, 4),
          *got = rig_alloc(columns, 4);
    for (size_t i = 0; i < count; i++) {
        wide[i] = op_ref_from_half(h[i]);
    }
    op_ref_column_sum(x, rows, columns, want);
    op_ref_column_sum(wide, rows, columns, want_h);
    struct rig_buffer bx = rig_put(rig, LEO_DTYPE_F32, rows, columns, x),
                      bh = rig_put(rig, LEO_DTYPE_F16, rows, columns, h);
    struct rig_buffer sum = rig_put(rig, LEO_DTYPE_F32, columns, 0, NULL),
                      sum_h = rig_put(rig, LEO_DTYPE_F32, columns, 0, NULL);
    CU_ASSERT_EQUAL(leo_op_column_sum(rig->context, rig->stream, &bx.tensor, &sum.tensor), LEO_OK);
    CU_ASSERT_EQUAL(leo_op_column_sum(rig->context, rig->stream, &bh.tensor, &sum_h.tensor),
                    LEO_OK);
    rig_synchronize(rig);
    rig_take(rig, &sum, got);
    const long bad = rig_compare(want, got, columns, 4);
    rig_take(rig, &sum_h, got);
    const long bad_h = rig_compare(want_h, got, columns, 4);
    if (bad >= 0 || bad_h >= 0) {
        fprintf(stderr, "column_sum arch %u, %u x %u: f32 differs at %ld, f16 at %ld\n", rig->arch,
                rows, columns, bad, bad_h);
    }
    CU_ASSERT_EQUAL(bad, -1);
    CU_ASSERT_EQUAL(bad_h, -1);
    rig_take(rig, &bx, NULL);
    rig_take(rig, &bh, NULL);
    void *all[] = {x, wide, h, want, want_h, got};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        free(all[i]);
    }
}

static void column_sum_equals_reference(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (int i = 0; i < SIZES * SIZES; i += 2) {
            run_column_sum(&rig, sizes[i % SIZES], sizes[i / SIZES]);
        }
        run_column_sum(&rig, 700, 3);
        run_column_sum(&rig, 5, 4099);
        run_column_sum(&rig, 9, 5024);
        run_column_sum(&rig, 1, 1);
        rig_finish(&rig);
    }
}

static int32_t *random_labels(struct rig_random *random, uint32_t rows, uint32_t classes)
{
    int32_t *labels = rig_alloc(rows, 4);
    for (uint32_t i = 0; i < rows; i++) {
        labels[i] = (int32_t)(rig_random_next(random) % classes);
    }
    return labels;
}

static bool near(float got, float want, float relative, float absolute)
{
    return fabsf(got - want) <= relative * fabsf(want) + absolute;
}

static void run_softmax(struct rig *rig, uint32_t rows, uint32_t classes)
{
    struct rig_random random = {rows * 7u + classes};
    const size_t count = (size_t)rows * classes;
    float *x = rig_random_floats(&random, count);
    int32_t *labels = random_labels(&random, rows, classes);
    float *want = rig_alloc(count, 4), *want_loss = rig_alloc(rows, 4), *got = rig_alloc(count, 4),
          *loss = rig_alloc(rows, 4);
    for (size_t i = 0; i < count; i++) {
        x[i] = x[i] * 8 + 1000; // only a softmax that subtracts the maximum survives this
    }
    op_ref_softmax_xent(x, labels, rows, classes, want_loss, want);
    struct rig_buffer bx = rig_put(rig, LEO_DTYPE_F32, rows, classes, x),
                      bl = rig_put(rig, LEO_DTYPE_S32, rows, 0, labels);
    struct rig_buffer bp = rig_put(rig, LEO_DTYPE_F32, rows, classes, NULL),
                      bloss = rig_put(rig, LEO_DTYPE_F32, rows, 0, NULL);
    CU_ASSERT_EQUAL(leo_op_softmax_xent(rig->context, rig->stream, &bx.tensor, &bl.tensor,
                                        &bloss.tensor, &bp.tensor),
                    LEO_OK);
    rig_synchronize(rig);
    rig_take(rig, &bp, got);
    rig_take(rig, &bloss, loss);
    long bad = -1;
    for (size_t i = 0; i < count && bad < 0; i++) {
        bad = near(got[i], want[i], 2e-6f, 1e-30f) ? -1 : (long)i;
    }
    long bad_loss = -1;
    for (size_t i = 0; i < rows && bad_loss < 0; i++) {
        bad_loss = near(loss[i], want_loss[i], 2e-6f, 2e-6f) ? -1 : (long)i;
    }
    if (bad >= 0 || bad_loss >= 0) {
        fprintf(stderr, "softmax arch %u, %u x %u: prob %ld (%g for %g), loss %ld (%g for %g)\n",
                rig->arch, rows, classes, bad, bad >= 0 ? got[bad] : 0, bad >= 0 ? want[bad] : 0,
                bad_loss, bad_loss >= 0 ? loss[bad_loss] : 0,
                bad_loss >= 0 ? want_loss[bad_loss] : 0);
    }
    CU_ASSERT_EQUAL(bad, -1);
    CU_ASSERT_EQUAL(bad_loss, -1);
    rig_take(rig, &bx, NULL);
    rig_take(rig, &bl, NULL);
    void *all[] = {x, labels, want, want_loss, got, loss};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        free(all[i]);
    }
}

static void softmax_xent_is_near_its_reference(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (int i = 0; i < SIZES * SIZES; i += 2) {
            run_softmax(&rig, sizes[i % SIZES], sizes[i / SIZES] + 1);
        }
        run_softmax(&rig, 3, 4096);
        run_softmax(&rig, 5, 4095);
        run_softmax(&rig, 700, 10);
        run_softmax(&rig, 17, 1000);
        rig_finish(&rig);
    }
}

/* Row r has its one large logit at class r: a maximum that overlooks a class overflows there. */
static void run_softmax_peak(struct rig *rig, uint32_t classes)
{
    float *x = rig_alloc((size_t)classes * classes, 4),
          *prob = rig_alloc((size_t)classes * classes, 4);
    int32_t *labels = rig_alloc(classes, 4);
    for (uint32_t r = 0; r < classes; r++) {
        x[(size_t)r * classes + r] = 500;
        labels[r] = (int32_t)r;
    }
    struct rig_buffer bx = rig_put(rig, LEO_DTYPE_F32, classes, classes, x);
    struct rig_buffer bl = rig_put(rig, LEO_DTYPE_S32, classes, 0, labels);
    struct rig_buffer loss = rig_put(rig, LEO_DTYPE_F32, classes, 0, NULL);
    CU_ASSERT_EQUAL(leo_op_softmax_xent(rig->context, rig->stream, &bx.tensor, &bl.tensor,
                                        &loss.tensor, &bx.tensor),
                    LEO_OK);
    rig_synchronize(rig);
    rig_take(rig, &bx, prob);
    rig_take(rig, &bl, NULL);
    rig_take(rig, &loss, NULL);
    for (uint32_t r = 0; r < classes; r++) {
        CU_ASSERT_EQUAL(prob[(size_t)r * classes + r], 1.0f);
    }
    free(x);
    free(prob);
    free(labels);
}

static void softmax_xent_finds_the_maximum_anywhere(void)
{
    static const uint32_t classes[] = {2, 10, 17, 24, 31, 40, 56, 61, 88, 250};
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
            run_softmax_peak(&rig, classes[i]);
        }
        rig_finish(&rig);
    }
}

static void run_softmax_grad(struct rig *rig, uint32_t rows, uint32_t classes)
{
    struct rig_random random = {rows * 7u + classes};
    const size_t count = (size_t)rows * classes;
    float *p = rig_random_floats(&random, count), *want = rig_alloc(count, 4),
          *got = rig_alloc(count, 4);
    uint16_t *want_h = rig_alloc(count, 2), *got_h = rig_alloc(count, 2);
    int32_t *labels = random_labels(&random, rows, classes);
    op_ref_softmax_xent_grad(p, labels, rows, classes, 0.3f, want);
    for (size_t i = 0; i < count; i++) {
        want_h[i] = op_ref_to_half(want[i]);
    }
    struct rig_buffer bp = rig_put(rig, LEO_DTYPE_F32, rows, classes, p),
                      bl = rig_put(rig, LEO_DTYPE_S32, rows, 0, labels);
    struct rig_buffer out = rig_put(rig, LEO_DTYPE_F32, rows, classes, NULL),
                      out_h = rig_put(rig, LEO_DTYPE_F16, rows, classes, NULL);
    CU_ASSERT_EQUAL(leo_op_softmax_xent_grad(rig->context, rig->stream, &bp.tensor, &bl.tensor,
                                             0.3f, &out.tensor),
                    LEO_OK);
    CU_ASSERT_EQUAL(leo_op_softmax_xent_grad(rig->context, rig->stream, &bp.tensor, &bl.tensor,
                                             0.3f, &out_h.tensor),
                    LEO_OK);
    rig_synchronize(rig);
    rig_take(rig, &out, got);
    rig_take(rig, &out_h, got_h);
    const long bad = rig_compare(want, got, count, 4), bad_h = rig_compare(want_h, got_h, count, 2);
    if (bad >= 0 || bad_h >= 0) {
        fprintf(stderr, "softmax_grad arch %u, %u x %u: f32 %ld, f16 %ld\n", rig->arch, rows,
                classes, bad, bad_h);
    }
    CU_ASSERT_EQUAL(bad, -1);
    CU_ASSERT_EQUAL(bad_h, -1);
    rig_take(rig, &bp, NULL);
    rig_take(rig, &bl, NULL);
    void *all[] = {p, want, got, want_h, got_h, labels};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        free(all[i]);
    }
}

static void softmax_xent_grad_equals_reference(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (int i = 0; i < SIZES * SIZES; i += 2) {
            run_softmax_grad(&rig, sizes[i % SIZES], sizes[i / SIZES] + 1);
        }
        run_softmax_grad(&rig, 5, 4095);
        run_softmax_grad(&rig, 3, 4096);
        run_softmax_grad(&rig, 6000, 2);
        rig_finish(&rig);
    }
}

static void softmax_xent_traps_on_a_bad_label(void)
{
    static const int32_t bad_labels[] = {-1, 10, 1 << 30};
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (int i = 0; i < 3; i++) {
            const int32_t labels[2] = {3, bad_labels[i]};
            const float x[20] = {0};
            struct rig_buffer bx = rig_put(&rig, LEO_DTYPE_F32, 2, 10, x),
                              bl = rig_put(&rig, LEO_DTYPE_S32, 2, 0, labels);
            struct rig_buffer bp = rig_put(&rig, LEO_DTYPE_F32, 2, 10, x),
                              loss = rig_put(&rig, LEO_DTYPE_F32, 2, 0, x);
            CU_ASSERT_EQUAL(leo_op_softmax_xent(rig.context, rig.stream, &bx.tensor, &bl.tensor,
                                                &loss.tensor, &bp.tensor),
                            LEO_OK);
            CU_ASSERT_EQUAL(leo_rt_stream_synchronize(rig.stream, -1), LEO_ERR_FAULT);
            CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_KERNEL_TRAP);
            CU_ASSERT_EQUAL(leo_op_softmax_xent_grad(rig.context, rig.stream, &bx.tensor,
                                                     &bl.tensor, 1, &bp.tensor),
                            LEO_OK);
            CU_ASSERT_EQUAL(leo_rt_stream_synchronize(rig.stream, -1), LEO_ERR_FAULT);
            CU_ASSERT_EQUAL(leo_rt_stream_last_fault(rig.stream), LEO_FAULT_KERNEL_TRAP);
            rig_take(&rig, &bx, NULL);
            rig_take(&rig, &bl, NULL);
            rig_take(&rig, &bp, NULL);
            rig_take(&rig, &loss, NULL);
        }
        rig_finish(&rig);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"column_sum_equals_reference", column_sum_equals_reference},
        {"softmax_xent_is_near_its_reference", softmax_xent_is_near_its_reference},
        {"softmax_xent_finds_the_maximum_anywhere", softmax_xent_finds_the_maximum_anywhere},
        {"softmax_xent_grad_equals_reference", softmax_xent_grad_equals_reference},
        {"softmax_xent_traps_on_a_bad_label", softmax_xent_traps_on_a_bad_label},
    };
    return leo_test_main("rows", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
