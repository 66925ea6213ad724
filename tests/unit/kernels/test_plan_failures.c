/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation while a plan is made fails once: the call says so, nothing leaks, and the next
 * call makes the plan. */
#include "rig.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 48 };

static struct rig rig;
static struct rig_buffer a, b, out, index_out;

static struct leo_op_arg t(const struct rig_buffer *buffer)
{
    return leo_op_arg_tensor(&buffer->tensor);
}

static leo_status add(void)
{
    return LEO_OP(rig.context, "Add", t(&a), t(&b), leo_op_arg_number(2), t(&out));
}

static leo_status product(void)
{
    const struct leo_op_tensor turned = leo_op_transposed(&b.tensor);
    return LEO_OP(rig.context, "Mm", t(&a), leo_op_arg_tensor(&turned), t(&index_out),
                  leo_op_arg_number(1));
}

static leo_status reduce(void)
{
    static const int64_t dims[] = {1};
    const int64_t rows[] = {6};
    const struct leo_op_tensor column = leo_op_tensor(out.tensor.addr, LEO_DTYPE_F32, 1, rows);
    return LEO_OP(rig.context, "ReduceSum", t(&a), leo_op_arg_ints(dims, 1), leo_op_arg_number(0),
                  leo_op_arg_dtype(LEO_DTYPE_F32), leo_op_arg_tensor(&column));
}

static leo_status softmax(void)
{
    return LEO_OP(rig.context, "Softmax", t(&a), leo_op_arg_number(1), t(&out));
}

static leo_status median(void) // one of several operators, with temporaries
{
    const int64_t none[] = {0};
    const struct leo_op_tensor one = leo_op_tensor(out.tensor.addr, LEO_DTYPE_F32, 0, none);
    return LEO_OP(rig.context, "Median", t(&a), leo_op_arg_tensor(&one));
}

static leo_status list(void)
{
    const struct leo_op_tensor x[] = {a.tensor, b.tensor}, y[] = {out.tensor, out.tensor};
    return LEO_OP(rig.context, "ForeachMulScalarV2", leo_op_arg_tensors(x, 2), leo_op_arg_number(3),
                  leo_op_arg_tensors(y, 2));
}

static void survive(const char *name, leo_status (*call)(void))
{
    for (int n = 1;; n++) {
        CU_ASSERT_FATAL(n < 10000);
        leo_alloc_fail_after(n);
        const leo_status status = call();
        const bool failed = leo_alloc_fail_pending() == 0;
        leo_alloc_fail_after(0);
        rig_synchronize(&rig);
        if (!failed) {
            if (status != LEO_OK) {
                fprintf(stderr, "%s: %s: %s\n", name, leo_status_name(status), leo_rt_last_error());
            }
            CU_ASSERT_EQUAL(status, LEO_OK);
            CU_ASSERT(n > 1); // a plan needs memory
            return;
        }
        if (status != LEO_ERR_NO_MEMORY && status != LEO_OK) {
            fprintf(stderr, "%s, allocation %d: %s: %s\n", name, n, leo_status_name(status),
                    leo_rt_last_error());
        }
        CU_ASSERT(status == LEO_ERR_NO_MEMORY || status == LEO_OK);
        if (status == LEO_OK) {
            return; // what failed was not needed: a record of the launch, say
        }
    }
}

static void plans_survive_every_failing_allocation(void)
{
    float data[COUNT];
    const struct {
        const char *name;
        leo_status (*call)(void);
    } calls[] = {{"Add", add},         {"Mm", product},    {"ReduceSum", reduce},
                 {"Softmax", softmax}, {"Median", median}, {"ForeachMulScalarV2", list}};
    for (int i = 0; i < COUNT; i++) {
        data[i] = (float)(i * 7 % 48);
    }
    for (int soc = 0; soc < 2; soc++) {
        rig_init(&rig, rig_socs[soc], 1, NULL);
        a = rig_put(&rig, LEO_DTYPE_F32, 6, 8, data);
        b = rig_put(&rig, LEO_DTYPE_F32, 6, 8, data);
        out = rig_put(&rig, LEO_DTYPE_F32, 6, 8, NULL);
        index_out = rig_put(&rig, LEO_DTYPE_F32, 6, 6, NULL);
        for (unsigned k = 0; k < sizeof(calls) / sizeof(calls[0]); k++) {
            survive(calls[k].name, calls[k].call);
        }
        float got[COUNT];
        CU_ASSERT_EQUAL(median(), LEO_OK);
        rig_synchronize(&rig);
        rig_take(&rig, &out, got);
        CU_ASSERT_EQUAL(got[0], 23); // the lower of the two in the middle of 0 .. 47
        CU_ASSERT_EQUAL(got[1], 3 * data[1]);
        rig_take(&rig, &a, NULL);
        rig_take(&rig, &b, NULL);
        rig_take(&rig, &index_out, NULL);
        rig_finish(&rig);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"plan_failures_plans_survive_every_failing_allocation",
         plans_survive_every_failing_allocation},
    };
    return leo_test_main("op_plan_failures", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
