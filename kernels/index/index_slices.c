/* SPDX-License-Identifier: Apache-2.0 */
/* Whole slices along the first dimension, seen as the rows of a table. */
#include "index_launch.h"

#include <string.h>

// A table of which whole rows are taken: its first dimension against all others, which lie without
// gaps. False: they do not.
static bool view_rows(const struct op_tensor *table, struct op_tensor *rows)
{
    struct op_tensor one = *table;
    if (table->rank < 2 || table->dim[0] == 0) {
        return false;
    }
    one.rank--;
    memmove(one.dim, table->dim + 1, one.rank * sizeof(*one.dim));
    memmove(one.stride, table->stride + 1, one.rank * sizeof(*one.stride));
    *rows = *table;
    rows->rank = 2;
    rows->dim[1] = op_tensor_count(&one);
    rows->stride[1] = 1;
    return op_tensor_is_dense(&one) && rows->dim[1] > 0;
}

leo_status op_index_take_rows(const struct op_call *call, const struct op_tensor *self,
                              const struct op_tensor *index, const struct op_tensor *out,
                              bool *taken)
{
    struct op_tensor rows;
    *taken = view_rows(self, &rows);
    return *taken ? op_index_plan_get_rows(call->plan, &rows, index, out, taken) : LEO_OK;
}

// What is added is summed up in f32 in a table of its own, so the list has to be worth a pass over
// that.
leo_status op_index_change_rows(const struct op_call *call, const struct op_tensor *table,
                                const struct op_tensor *index, const struct op_tensor *values,
                                bool add, double alpha, bool *taken)
{
    const struct op_scalar factor = op_scalar_real(alpha);
    struct op_tensor rows, sums;
    *taken = view_rows(table, &rows);
    if (*taken && !add) {
        return op_index_plan_put_rows(call->plan, values, index, &rows, taken);
    }
    *taken = *taken && op_index_is_worth_table(index, &rows) && table->type <= OP_TYPE_BF16 &&
             values->type == table->type;
    if (!*taken) {
        return LEO_OK;
    }
    leo_status status =
        op_index_plan_add_rows(call->plan, values, index, -1, rows.dim, &sums, taken);
    if (status != LEO_OK || !*taken) {
        return status;
    }
    const struct op_value args[] = {op_value_tensor(&rows), op_value_tensor(&sums),
                                    op_value_scalar(&factor)};
    return op_plan_call(call->plan, "InplaceAdd", args, 3);
}
