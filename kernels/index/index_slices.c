/* SPDX-License-Identifier: Apache-2.0 */
/* Whole slices along the first dimension, seen as the rows of a table. */
#include "../frame/variant.h"
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

leo_status op_index_by_taking_rows(const struct op_index_goal *goal)
{
    struct op_plan *plan = goal->call->plan;
    struct op_tensor rows;
    if (goal->dim > 0) {
        return op_index_plan_select(plan, goal->table, goal->dim, goal->index, goal->taken_into);
    }
    return view_rows(goal->table, &rows)
               ? op_index_plan_get_rows(plan, &rows, goal->index, goal->taken_into)
               : OP_DECLINED;
}

// What is added is summed up in f32 in a table of its own, so the list has to be worth a pass over
// that.
leo_status op_index_by_changing_rows(const struct op_index_goal *goal)
{
    struct op_plan *plan = goal->call->plan;
    const struct op_scalar factor = op_scalar_real(goal->alpha);
    struct op_tensor rows, sums;
    if (!view_rows(goal->table, &rows)) {
        return OP_DECLINED;
    }
    if (!goal->add) {
        return op_index_plan_put_rows(plan, goal->values, goal->index, goal->elements->skip, &rows);
    }
    if (!op_index_is_worth_table(goal->index, &rows) || rows.type > OP_TYPE_BF16 ||
        goal->values->type != rows.type) {
        return OP_DECLINED;
    }
    leo_status status =
        op_index_plan_add_rows(plan, goal->values, goal->index, -1, rows.dim, NULL, &sums);
    const struct op_value args[] = {op_value_tensor(&rows), op_value_tensor(&sums),
                                    op_value_scalar(&factor)};
    return status == LEO_OK ? op_plan_call(plan, "InplaceAdd", args, 3) : status;
}

/* ---- the ways of a call ---- */

static leo_status by_lines(const void *object)
{
    const struct op_index_goal *goal = object;
    return goal->lines ? op_index_plan_lines(goal->call->plan, goal->lines) : OP_DECLINED;
}

static leo_status by_rows(const void *object)
{
    const struct op_index_goal *goal = object;
    return goal->rows ? goal->rows(goal) : OP_DECLINED;
}

static leo_status by_elements(const void *object)
{
    const struct op_index_goal *goal = object;
    if (goal->taken_into) {
        return op_index_get_into(goal->call, goal->elements, goal->taken_into);
    }
    leo_status status = LEO_OK;
    if (goal->from && op_tensor_alias(goal->from, goal->table) != OP_ALIAS_SAME) {
        status = op_plan_copy(goal->call->plan, goal->table, goal->from);
    }
    return status == LEO_OK ? op_index_launch(goal->call, goal->elements) : status;
}

leo_status op_index_choose(const struct op_index_goal *goal)
{
    static const struct op_variant ways[] = {
        {"rows", "a list of whole rows of at least 32 bytes, of one type", by_rows},
        {"lines", "an index along one dimension, of lines that UB holds", by_lines},
        {"elements", NULL, by_elements},
    };
    return op_choose(goal->call->plan, ways, sizeof(ways) / sizeof(*ways), goal);
}
