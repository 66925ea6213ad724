/* SPDX-License-Identifier: Apache-2.0 */
/* Element by element. */
#include "rig.h"

#include <math.h>
#include <string.h>

enum { COUNT = 1000 };

static const cnnlDataType_t floats[] = {CNNL_DTYPE_FLOAT, CNNL_DTYPE_HALF, CNNL_DTYPE_BFLOAT16};
/** Half a unit in the last place of each, and a little. */
static const double bounds[] = {4e-7, 6e-4, 5e-3};

typedef cnnlStatus_t (*unary_fn)(cnnlHandle_t, const cnnlTensorDescriptor_t, const void *,
                                 const cnnlTensorDescriptor_t, void *);

static double reciprocal(double x)
{
    return 1 / x;
}

static double rsqrt_of(double x)
{
    return 1 / sqrt(x);
}

static double negative(double x)
{
    return -x;
}

static double sign_of(double x)
{
    return (x > 0) - (x < 0);
}

static const struct {
    unary_fn fn;
    double (*expected)(double);
    double shift; /**< added to numbers in (-1, 1) */
} unaries[] = {
    {cnnlAbs, fabs, 0},
    {cnnlCeil, ceil, 0},
    {cnnlFloor, floor, 0},
    {cnnlTrunc, trunc, 0},
    {cnnlRound, nearbyint, 0},
    {cnnlNegTensor, negative, 0},
    {cnnlSign, sign_of, 0},
    {cnnlSqrt, sqrt, 1.5},
    {cnnlRsqrt, rsqrt_of, 1.5},
    {cnnlExp, exp, 0},
    {cnnlReciprocal, reciprocal, 2},
    {cnnlSin, sin, 0},
    {cnnlCos, cos, 0},
    {cnnlExpm1_v2, expm1, 0},
    {cnnlLog1p_v2, log1p, 1},
    {cnnlConj, NULL, 0},
};

static void one_operand_of_each_float(void)
{
    struct rig rig = rig_begin();
    double x[COUNT], expected[COUNT];
    for (size_t t = 0; t < sizeof(floats) / sizeof(floats[0]); t++) {
        struct rig_tensor y = RIG(&rig, floats[t], NULL, 10, 100);
        for (size_t u = 0; u < sizeof(unaries) / sizeof(unaries[0]); u++) {
            rig_fill(x, COUNT, 1, (unsigned)u);
            for (int i = 0; i < COUNT; i++) {
                x[i] = rig_round(floats[t], x[i] + unaries[u].shift);
                expected[i] = unaries[u].expected ? unaries[u].expected(x[i]) : x[i];
            }
            struct rig_tensor from = RIG(&rig, floats[t], x, 10, 100);
            OK(unaries[u].fn(rig.handle, T(from), T(y)));
            NEAR(&rig, y, expected, bounds[t]);
        }
    }
    rig_end(&rig);
}

static void op_tensor_has_three_factors(void)
{
    static const cnnlOpTensorDesc_t ops[] = {CNNL_OP_TENSOR_ADD, CNNL_OP_TENSOR_SUB,
                                             CNNL_OP_TENSOR_MUL};
    const float alpha1 = 2, alpha2 = -0.5F, beta = 0.25F;
    struct rig rig = rig_begin();
    double a[COUNT], b[100], c[COUNT], expected[COUNT];
    cnnlOpTensorDescriptor_t op;
    size_t bytes = 0;
    rig_fill(a, COUNT, 1, 1);
    rig_fill(b, 100, 1, 2);
    rig_fill(c, COUNT, 1, 3);
    OK(cnnlCreateOpTensorDescriptor(&op));
    for (int k = 0; k < 3; k++) {
        struct rig_tensor ta = RIG(&rig, CNNL_DTYPE_FLOAT, a, 10, 100),
                          tb = RIG(&rig, CNNL_DTYPE_FLOAT, b, 1, 100),
                          tc = RIG(&rig, CNNL_DTYPE_FLOAT, c, 10, 100);
        for (int i = 0; i < COUNT; i++) {
            const double left = 2 * a[i], right = -0.5 * b[i % 100];
            expected[i] = 0.25 * c[i] + (k == 0   ? left + right
                                         : k == 1 ? left - right
                                                  : left * right);
        }
        OK(cnnlSetOpTensorDescriptor(op, ops[k], CNNL_DTYPE_FLOAT, CNNL_NOT_PROPAGATE_NAN));
        OK(cnnlGetOpTensorWorkspaceSize(rig.handle, ta.desc, tb.desc, tc.desc, &bytes));
        CU_ASSERT(bytes > 0);
        OK(cnnlOpTensor(rig.handle, op, &alpha1, T(ta), &alpha2, T(tb), NULL, 0, &beta, T(tc)));
        NEAR(&rig, tc, expected, 1e-6);
    }
    const int32_t three = 3;
    struct rig_tensor whole = RIG(&rig, CNNL_DTYPE_INT32, ((double[]){16777217, -5, 7}), 3);
    OK(cnnlSetOpTensorDescriptor(op, CNNL_OP_TENSOR_ADD, CNNL_DTYPE_INT32, CNNL_NOT_PROPAGATE_NAN));
    OK(cnnlOpTensor(rig.handle, op, &three, T(whole), NULL, T(whole), NULL, 0, NULL, T(whole)));
    NEAR(&rig, whole, ((double[]){67108868, -20, 28}), 0);
    OK(cnnlDestroyOpTensorDescriptor(op));
    rig_end(&rig);
}

static void numbers_in_host_memory_are_operands(void)
{
    struct rig rig = rig_begin();
    double a[6] = {1, 2, 3, 4, 5, 6};
    const float two = 2;
    const int64_t one[] = {1};
    cnnlTensorDescriptor_t host;
    struct rig_tensor ta = RIG(&rig, CNNL_DTYPE_FLOAT, a, 2, 3),
                      tc = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 3);
    OK(cnnlCreateTensorDescriptor(&host));
    OK(cnnlSetTensorDescriptor_v2(host, CNNL_LAYOUT_ARRAY, CNNL_DTYPE_FLOAT, 1, one));
    OK(cnnlSetTensorDescriptorPointerMode(host, CNNL_POINTER_MODE_HOST));
    OK(cnnlPow_v2(rig.handle, T(ta), host, &two, NULL, 0, T(tc)));
    NEAR(&rig, tc, ((double[]){1, 4, 9, 16, 25, 36}), 1e-6);
    OK(cnnlClip_v3(rig.handle, T(ta), host, &two, NULL, NULL, NULL, 0, T(tc)));
    NEAR(&rig, tc, ((double[]){2, 2, 3, 4, 5, 6}), 0);
    EXPECT(cnnlAbs(rig.handle, T(ta), host, (void *)(uintptr_t)&two), CNNL_STATUS_BAD_PARAM);
    TEXT("host memory");
    OK(cnnlDestroyTensorDescriptor(host));
    rig_end(&rig);
}

static void logic_gives_truth(void)
{
    struct rig rig = rig_begin();
    double a[4] = {1, 2, 3, NAN}, b[4] = {2, 2, 2, 2};
    struct rig_tensor ta = RIG(&rig, CNNL_DTYPE_FLOAT, a, 4),
                      tb = RIG(&rig, CNNL_DTYPE_FLOAT, b, 4),
                      tc = RIG(&rig, CNNL_DTYPE_BOOL, NULL, 4);
    static const struct {
        cnnlLogicOp_t op;
        double expected[4];
    } cases[] = {
        {CNNL_LOGIC_OP_EQ, {0, 1, 0, 0}}, {CNNL_LOGIC_OP_NE, {1, 0, 1, 1}},
        {CNNL_LOGIC_OP_GT, {0, 0, 1, 0}}, {CNNL_LOGIC_OP_GE, {0, 1, 1, 0}},
        {CNNL_LOGIC_OP_LT, {1, 0, 0, 0}}, {CNNL_LOGIC_OP_LE, {1, 1, 0, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OK(cnnlLogicOp(rig.handle, cases[i].op, T(ta), T(tb), NULL, 0, T(tc)));
        NEAR(&rig, tc, cases[i].expected, 0);
    }
    EXPECT(cnnlLogicOp(rig.handle, (cnnlLogicOp_t)99, T(ta), T(tb), NULL, 0, T(tc)),
           CNNL_STATUS_NOT_SUPPORTED);
    TEXT("op is 99");
    rig_end(&rig);
}

static void division_rounds_as_its_mode_says(void)
{
    struct rig rig = rig_begin();
    double a[4] = {7, -7, 7, -7}, b[4] = {2, 2, -2, -2};
    static const double expected[][4] = {{3.5, -3.5, -3.5, 3.5}, {3, -4, -4, 3}, {3, -3, -3, 3}};
    cnnlDivDescriptor_t div;
    struct rig_tensor ta = RIG(&rig, CNNL_DTYPE_FLOAT, a, 4),
                      tb = RIG(&rig, CNNL_DTYPE_FLOAT, b, 4),
                      tc = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 4);
    OK(cnnlCreateDivDescriptor(&div));
    for (int mode = CNNL_DIV_TRUE; mode <= CNNL_DIV_TRUNC; mode++) {
        const cnnlDivMode_t value = (cnnlDivMode_t)mode;
        OK(cnnlSetDivDescAttr(div, CNNL_DIV_MODE, &value, sizeof(value)));
        OK(cnnlDiv_v3(rig.handle, div, T(ta), T(tb), NULL, 0, T(tc)));
        NEAR(&rig, tc, expected[mode], 0);
    }
    EXPECT(cnnlSetDivDescAttr(div, CNNL_DIV_MODE, &div, 1), CNNL_STATUS_BAD_PARAM);
    TEXT("takes 4 bytes");
    OK(cnnlDestroyDivDescriptor(div));
    rig_end(&rig);
}

static void transform_scales_and_shifts(void)
{
    const float alpha = 3, beta = -1;
    struct rig rig = rig_begin();
    double x[COUNT], expected[COUNT];
    rig_fill(x, COUNT, 1, 9);
    for (size_t t = 0; t < sizeof(floats) / sizeof(floats[0]); t++) {
        for (int i = 0; i < COUNT; i++) {
            expected[i] = rig_round(floats[t], 3 * rig_round(floats[t], x[i]) - 1);
        }
        struct rig_tensor tx = RIG(&rig, floats[t], x, COUNT);
        OK(cnnlTransform_v2(rig.handle, CNNL_POINTER_MODE_HOST, &alpha, T(tx), &beta, T(tx)));
        NEAR(&rig, tx, expected, t ? 0 : 1e-7);
        EXPECT(cnnlTransform_v2(rig.handle, CNNL_POINTER_MODE_DEVICE, &alpha, T(tx), &beta, T(tx)),
               CNNL_STATUS_NOT_SUPPORTED);
    }
    rig_end(&rig);
}

// What does not fit a type is infinite, and 0 / 0 is NaN: scaling of losses looks for them.
static void overflow_is_infinite(void)
{
    double large[4] = {60000, -60000, 1, 0};
    const double twice[] = {INFINITY, -INFINITY, 2, 0}, quotient[] = {1, 1, 1, NAN};
    struct rig rig = rig_begin();
    cnnlOpTensorDescriptor_t op;
    OK(cnnlCreateOpTensorDescriptor(&op));
    OK(cnnlSetOpTensorDescriptor(op, CNNL_OP_TENSOR_ADD, CNNL_DTYPE_FLOAT, CNNL_PROPAGATE_NAN));
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_HALF, large, 4),
                      ty = RIG(&rig, CNNL_DTYPE_HALF, NULL, 4),
                      wide = RIG(&rig, CNNL_DTYPE_FLOAT, twice, 4);
    OK(cnnlOpTensor(rig.handle, op, NULL, T(tx), NULL, T(tx), NULL, 0, NULL, T(ty)));
    NEAR(&rig, ty, twice, 0);
    OK(cnnlDiv_v2(rig.handle, CNNL_COMPUTATION_HIGH_PRECISION, T(tx), T(tx), NULL, 0, T(ty)));
    NEAR(&rig, ty, quotient, 1e-3);
    OK(cnnlCastDataType(rig.handle, T(wide), CNNL_CAST_FLOAT_TO_HALF, T(ty)));
    NEAR(&rig, ty, twice, 0);
    OK(cnnlDestroyOpTensorDescriptor(op));
    rig_end(&rig);
}

static const struct leo_test tests[] = {
    {"one_operand_of_each_float", one_operand_of_each_float},
    {"op_tensor_has_three_factors", op_tensor_has_three_factors},
    {"numbers_in_host_memory_are_operands", numbers_in_host_memory_are_operands},
    {"logic_gives_truth", logic_gives_truth},
    {"division_rounds_as_its_mode_says", division_rounds_as_its_mode_says},
    {"overflow_is_infinite", overflow_is_infinite},
    {"transform_scales_and_shifts", transform_scales_and_shifts},
};

int main(int argc, char **argv)
{
    return leo_test_main("cnnl_elements", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
