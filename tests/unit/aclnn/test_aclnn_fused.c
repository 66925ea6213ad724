/* SPDX-License-Identifier: Apache-2.0 */
/* Sums with normalisations, activations with products, norms that are cut: against double on the
 * host. */
#include "rig.h"

#include <math.h>

enum { ROWS = 5, COLUMNS = 33, COUNT = ROWS * COLUMNS };

static const int64_t shape[] = {ROWS, COLUMNS}, row_shape[] = {COLUMNS}, mean_shape[] = {ROWS, 1};

static void small_numbers(struct rig_tensor *tensor, unsigned step)
{
    for (int64_t i = 0; i < rig_tensor_count(tensor); i++) {
        rig_put_f(rig_tensor_at(tensor, i), tensor->type, (float)((int)(i * step % 23) - 11) / 8);
    }
    rig_tensor_put(tensor);
}

static struct rig_tensor make(unsigned rank, const int64_t *dim, enum rig_layout layout,
                              unsigned step)
{
    struct rig_tensor tensor = rig_tensor_make(OP_TYPE_F32, rank, dim, layout, step);
    small_numbers(&tensor, step);
    return tensor;
}

static double at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_d(rig_tensor_at(tensor, index), tensor->type);
}

static void expect_near(double got, double want)
{
    CU_ASSERT_DOUBLE_EQUAL(got, want, 2e-5 + fabs(want) * 2e-5);
}

static double sum_at(const struct rig_tensor *a, const struct rig_tensor *b, int64_t i)
{
    return at(a, i) + at(b, i);
}

/* Mean and inverse deviation of a row of a + b; about 0 for a root of squares. */
static void moments(const struct rig_tensor *a, const struct rig_tensor *b, int64_t row,
                    bool about_zero, double eps, double *mean, double *inverse)
{
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < COLUMNS && !about_zero; c++) {
        sum += sum_at(a, b, row * COLUMNS + c);
    }
    *mean = sum / COLUMNS;
    for (int64_t c = 0; c < COLUMNS; c++) {
        const double d = sum_at(a, b, row * COLUMNS + c) - *mean;
        squares += d * d;
    }
    *inverse = 1 / sqrt(squares / COLUMNS + eps);
}

static void sums_are_normalised(void)
{
    struct rig_tensor a = make(2, shape, RIG_PERMUTED, 7), b = make(2, shape, RIG_SLICED, 5),
                      gamma = make(1, row_shape, RIG_DENSE, 3),
                      beta = make(1, row_shape, RIG_DENSE, 11), y = make(2, shape, RIG_DENSE, 1),
                      sum = make(2, shape, RIG_PERMUTED, 1), m = make(2, mean_shape, RIG_DENSE, 1),
                      r = make(2, mean_shape, RIG_DENSE, 1);
    const union op_test_arg rms[] = {{.tensor = a.acl},  {.tensor = b.acl}, {.tensor = gamma.acl},
                                     {.real = 1e-3},     {.tensor = y.acl}, {.tensor = r.acl},
                                     {.tensor = sum.acl}};
    const union op_test_arg layer[] = {
        {.tensor = a.acl}, {.tensor = b.acl}, {.tensor = gamma.acl}, {.tensor = beta.acl},
        {.tensor = NULL},  {.real = 1e-3},    {.integer = 1},        {.tensor = y.acl},
        {.tensor = m.acl}, {.tensor = r.acl}, {.tensor = sum.acl}};
    for (int kind = 0; kind < 2; kind++) {
        CU_ASSERT_EQUAL(
            rig_run(rig_row(kind ? "AddLayerNorm" : "AddRmsNorm"), kind ? layer : rms, true), 0);
        rig_tensor_take(&y);
        rig_tensor_take(&sum);
        rig_tensor_take(&r);
        for (int64_t i = 0; i < COUNT; i++) {
            double mean, inverse;
            const int64_t c = i % COLUMNS;
            moments(&a, &b, i / COLUMNS, kind == 0, 1e-3, &mean, &inverse);
            CU_ASSERT_EQUAL(at(&sum, i), (double)(float)sum_at(&a, &b, i));
            expect_near(at(&r, i / COLUMNS), inverse);
            expect_near(at(&y, i), (sum_at(&a, &b, i) - mean) * inverse * at(&gamma, c) +
                                       (kind ? at(&beta, c) : 0));
        }
    }
    struct rig_tensor *all[] = {&a, &b, &gamma, &beta, &y, &sum, &m, &r};
    for (unsigned i = 0; i < 8; i++) {
        rig_tensor_free(all[i]);
    }
}

static void gelu_times_the_other_half(void)
{
    const int64_t whole[] = {3, 14}, half[] = {3, 7};
    struct rig_tensor x = make(2, whole, RIG_PERMUTED, 7), y = make(2, half, RIG_DENSE, 1),
                      g = make(2, whole, RIG_DENSE, 5), dx = make(2, whole, RIG_DENSE, 1);
    const union op_test_arg args[] = {
        {.tensor = x.acl}, {.text = (char *)(uintptr_t)"none"}, {.tensor = y.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("GeluMul"), args, true), 0);
    rig_tensor_take(&y);
    for (int64_t i = 0; i < 21; i++) {
        const double a = at(&x, i / 7 * 14 + i % 7), b = at(&x, i / 7 * 14 + 7 + i % 7);
        expect_near(at(&y, i), 0.5 * a * (1 + erf(a / sqrt(2))) * b);
    }
    const union op_test_arg back[] = {{.tensor = g.acl},
                                      {.tensor = x.acl},
                                      {.text = (char *)(uintptr_t)"none"},
                                      {.tensor = dx.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("GeluBackwardV2"), back, true), 0);
    rig_tensor_take(&dx);
    for (int64_t i = 0; i < 42; i++) {
        const double v = at(&x, i), h = 1e-5; // finite differences
        const double up = 0.5 * (v + h) * (1 + erf((v + h) / sqrt(2))),
                     down = 0.5 * (v - h) * (1 + erf((v - h) / sqrt(2)));
        expect_near(at(&dx, i), at(&g, i) * (up - down) / (2 * h));
    }
    struct rig_tensor *all[] = {&x, &y, &g, &dx};
    for (unsigned i = 0; i < 4; i++) {
        rig_tensor_free(all[i]);
    }
}

static double gelu_of(double a, bool tanh_form)
{
    return 0.5 * a *
           (1 + (tanh_form ? tanh(sqrt(2 / M_PI) * (a + 0.044715 * a * a * a)) : erf(a / sqrt(2))));
}

/* Both forms of the unit over either half, with the gradient by finite differences. */
static void geglu_gates_with_either_half(void)
{
    const int64_t whole[] = {3, 14, 2}, half[] = {3, 7, 2};
    struct rig_tensor x = make(3, whole, RIG_PERMUTED, 7), g = make(3, half, RIG_DENSE, 5),
                      y = make(3, half, RIG_DENSE, 1), gelu = make(3, half, RIG_DENSE, 1),
                      dx = make(3, whole, RIG_SLICED, 1);
    for (int kind = 0; kind < 4; kind++) {
        const bool left = kind & 1, form = kind & 2;
        const union op_test_arg args[] = {{.tensor = x.acl}, {.integer = -2},
                                          {.integer = form}, {.integer = left},
                                          {.tensor = y.acl}, {.tensor = gelu.acl}};
        const union op_test_arg back[] = {
            {.tensor = g.acl}, {.tensor = x.acl}, {.tensor = gelu.acl}, {.integer = 1},
            {.integer = form}, {.integer = left}, {.tensor = dx.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("GeGluV3"), args, true), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row("GeGluV3Backward"), back, true), 0);
        rig_tensor_take(&y);
        rig_tensor_take(&gelu);
        rig_tensor_take(&dx);
        for (int64_t i = 0; i < 42; i++) {
            const int64_t first = i / 14 * 28 + i % 14, active = left ? first : first + 14,
                          other = left ? first + 14 : first;
            const double a = at(&x, active), b = at(&x, other), h = 1e-5;
            expect_near(at(&gelu, i), gelu_of(a, form));
            expect_near(at(&y, i), gelu_of(a, form) * b);
            expect_near(at(&dx, other), at(&g, i) * gelu_of(a, form));
            expect_near(at(&dx, active),
                        at(&g, i) * b * (gelu_of(a + h, form) - gelu_of(a - h, form)) / (2 * h));
        }
    }
    const union op_test_arg wrong[] = {{.tensor = x.acl}, {.integer = 1},    {.integer = 2},
                                       {.integer = 0},    {.tensor = y.acl}, {.tensor = gelu.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("GeGluV3"), wrong, false), 161002);
    struct rig_tensor *all[] = {&x, &g, &y, &gelu, &dx};
    for (unsigned i = 0; i < 5; i++) {
        rig_tensor_free(all[i]);
    }
}

static void slices_are_cut_to_a_norm(void)
{
    struct rig_tensor x = make(2, shape, RIG_PERMUTED, 7), y = make(2, shape, RIG_DENSE, 1);
    float two = 2, most = 3;
    aclScalar *p = aclCreateScalar(&two, ACL_FLOAT), *limit = aclCreateScalar(&most, ACL_FLOAT);
    const union op_test_arg args[] = {
        {.tensor = x.acl}, {.scalar = p}, {.integer = 0}, {.scalar = limit}, {.tensor = y.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Renorm"), args, true), 0);
    rig_tensor_take(&y);
    for (int64_t i = 0; i < COUNT; i++) {
        double squares = 0;
        for (int64_t c = 0; c < COLUMNS; c++) {
            squares += pow(at(&x, i / COLUMNS * COLUMNS + c), 2);
        }
        const double norm = sqrt(squares);
        expect_near(at(&y, i), at(&x, i) * (norm > 3 ? 3 / (norm + 1e-7) : 1));
    }
    CU_ASSERT_EQUAL(aclDestroyScalar(p), 0);
    CU_ASSERT_EQUAL(aclDestroyScalar(limit), 0);
    rig_tensor_free(&x);
    rig_tensor_free(&y);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"sums_are_normalised", sums_are_normalised},
        {"gelu_times_the_other_half", gelu_times_the_other_half},
        {"geglu_gates_with_either_half", geglu_gates_with_either_half},
        {"slices_are_cut_to_a_norm", slices_are_cut_to_a_norm},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_fused", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
