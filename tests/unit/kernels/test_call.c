/* SPDX-License-Identifier: Apache-2.0 */
/* leo_op_run: what it passes on, and misuse: a status, a text that says what to mend, nothing
 * launched. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 64 };

static struct rig rig;
static struct rig_buffer a, b, out;

static void begin(void)
{
    float data[COUNT];
    for (int i = 0; i < COUNT; i++) {
        data[i] = (float)i;
    }
    rig_init(&rig, rig_socs[0], 1, NULL);
    a = rig_put(&rig, LEO_DTYPE_F32, 8, 8, data);
    b = rig_put(&rig, LEO_DTYPE_F32, 8, 8, data);
    out = rig_put(&rig, LEO_DTYPE_F32, 8, 8, NULL);
}

static void end(float *result)
{
    rig_synchronize(&rig);
    rig_take(&rig, &out, result);
    rig_take(&rig, &a, NULL);
    rig_take(&rig, &b, NULL);
    rig_finish(&rig);
}

static void expect(leo_status got, leo_status want, const char *text)
{
    if (got != want || !strstr(leo_rt_last_error(), text)) {
        fprintf(stderr, "expected %s with '%s', got %s: %s\n", leo_status_name(want), text,
                leo_status_name(got), leo_rt_last_error());
    }
    CU_ASSERT_EQUAL(got, want);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), text));
}

static struct leo_op_arg t(const struct leo_op_tensor *tensor)
{
    return leo_op_arg_tensor(tensor);
}

static void call_passes_every_kind_of_argument(void)
{
    static const int64_t dims[] = {0, 1}, none[] = {0};
    const bool keep = false;
    float got[COUNT], sum;
    begin();
    const struct leo_op_tensor turned = leo_op_transposed(&b.tensor);
    CU_ASSERT_EQUAL(
        LEO_OP(rig.context, "Add", t(&a.tensor), t(&turned), leo_op_arg_number(2), t(&out.tensor)),
        LEO_OK);
    const struct leo_op_tensor both[] = {a.tensor, b.tensor};
    CU_ASSERT_EQUAL(LEO_OP(rig.context, "ForeachMulScalarV2", leo_op_arg_tensors(both, 2),
                           leo_op_arg_number(2), leo_op_arg_tensors(both, 2)),
                    LEO_OK);
    struct rig_buffer total = rig_put(&rig, LEO_DTYPE_F32, 1, 0, NULL);
    total.tensor = leo_op_tensor(total.tensor.addr, LEO_DTYPE_F32, 0, none);
    CU_ASSERT_EQUAL(LEO_OP(rig.context, "ReduceSum", t(&a.tensor), leo_op_arg_ints(dims, 2),
                           leo_op_arg_number(keep), leo_op_arg_dtype(LEO_DTYPE_F32),
                           t(&total.tensor)),
                    LEO_OK);
    rig_synchronize(&rig);
    rig_take(&rig, &total, &sum);
    CU_ASSERT_EQUAL(sum, 2 * 63 * 64 / 2);
    end(got);
    for (int i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(got[i], (float)(i + 2 * (i % 8 * 8 + i / 8)));
    }
}

static void call_grows_its_workspace(void)
{
    float got[COUNT];
    begin();
    for (int i = 0; i < 3; i++) { // each needs more than the one before
        const int64_t dim[] = {256 << i, 8};
        struct rig_buffer x = rig_put(&rig, LEO_DTYPE_F32, 256u << i, 8, NULL),
                          y = rig_put(&rig, LEO_DTYPE_F32, 8, 256u << i, NULL);
        const struct leo_op_tensor sum = leo_op_tensor(y.tensor.addr, LEO_DTYPE_F32, 2, dim);
        const struct leo_op_tensor turned = leo_op_transposed(&x.tensor);
        CU_ASSERT_EQUAL(
            LEO_OP(rig.context, "Add", t(&x.tensor), t(&x.tensor), leo_op_arg_number(1), t(&sum)),
            LEO_OK);
        CU_ASSERT_EQUAL(
            LEO_OP(rig.context, "Add", t(&turned), t(&turned), leo_op_arg_number(1), t(&y.tensor)),
            LEO_OK);
        rig_synchronize(&rig);
        rig_take(&rig, &x, NULL);
        rig_take(&rig, &y, NULL);
    }
    end(got);
}

static void call_refuses_wrong_arguments(void)
{
    float got[COUNT], untouched[COUNT];
    begin();
    struct leo_op_context *context = rig.context;
    const struct leo_op_tensor s4 = {.addr = a.tensor.addr, .dtype = LEO_DTYPE_S4, .rank = 1};
    struct leo_op_tensor deep = a.tensor;
    deep.rank = 9;
    expect(LEO_OP(context, "Nothing", t(&a.tensor)), LEO_ERR_NOT_FOUND,
           "there is no operator Nothing");
    expect(LEO_OP(context, "Add", t(&a.tensor)), LEO_ERR_INVALID_ARG,
           "Add takes 4 arguments, 1 are given");
    expect(LEO_OP(context, "Add", t(&a.tensor), leo_op_arg_number(1), leo_op_arg_number(1),
                  t(&out.tensor)),
           LEO_ERR_INVALID_ARG, "Add: other (argument 2) is a number, it must be a tensor");
    expect(LEO_OP(context, "Add", t(&a.tensor), leo_op_arg_none(), leo_op_arg_number(1),
                  t(&out.tensor)),
           LEO_ERR_BAD_POINTER, "Add: other is NULL");
    expect(LEO_OP(context, "Add", t(&a.tensor), t(&s4), leo_op_arg_number(1), t(&out.tensor)),
           LEO_ERR_DTYPE, "Add: other has type s4, which no operator takes");
    expect(LEO_OP(context, "Add", t(&a.tensor), t(&deep), leo_op_arg_number(1), t(&out.tensor)),
           LEO_ERR_SHAPE, "other has 9 dimensions, at most 8");
    expect(LEO_OP(context, "LogSoftmax", t(&a.tensor), leo_op_arg_number(0.5), t(&out.tensor)),
           LEO_ERR_INVALID_ARG, "dim is 0.5, it must be an integer");
    expect(LEO_OP(context, "LogSoftmax", t(&a.tensor), leo_op_arg_number(NAN), t(&out.tensor)),
           LEO_ERR_INVALID_ARG, "it must be an integer");
    expect(LEO_OP(context, "FusedMatmul", t(&a.tensor), t(&b.tensor), leo_op_arg_none(),
                  leo_op_arg_none(), leo_op_arg_text("gelu"), leo_op_arg_number(0), t(&out.tensor)),
           LEO_ERR_INVALID_ARG, "fusedOpType is \"gelu\"");
    expect(LEO_OP(context, "FusedMatmul", t(&a.tensor), t(&b.tensor), leo_op_arg_none(),
                  leo_op_arg_none(), leo_op_arg_text("add"), leo_op_arg_number(0), t(&out.tensor)),
           LEO_ERR_INVALID_ARG, "x3 must be given");
    end(got);
    memset(untouched, 0xa5, sizeof(untouched)); // as rig_put left it
    CU_ASSERT_EQUAL(memcmp(got, untouched, sizeof(got)), 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"call_passes_every_kind_of_argument", call_passes_every_kind_of_argument},
        {"call_grows_its_workspace", call_grows_its_workspace},
        {"call_refuses_wrong_arguments", call_refuses_wrong_arguments},
    };
    return leo_test_main("call", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
