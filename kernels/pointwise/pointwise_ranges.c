/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of whole numbers: a short one, repeated from a start of its own in every row. The two
 * short ones are the scalar unit's. */
#include "../frame/chain.h"
#include "pointwise.h"

#include <string.h>

enum {
    LEAST_RANGE = 16384, // [A] elements; fewer are done sooner on the scalar unit
    COLUMNS = 1024,
};

static const int64_t MAX_I32 = INT32_MAX, MAX_F32 = 1 << 24, MAX_F16 = 65504;

// Up to where the type of the output has all of them, by way of i32.
static int64_t most_of(enum op_type type)
{
    switch (type) {
    case OP_TYPE_I32:
    case OP_TYPE_I64:
        return MAX_I32;
    case OP_TYPE_F32:
    case OP_TYPE_BF16: // rounded once, from f32
        return MAX_F32;
    case OP_TYPE_F16:
        return MAX_F16;
    default:
        return -1;
    }
}

static bool is_within(double number, int64_t most)
{
    return number >= (double)-most && number <= (double)most;
}

static bool is_whole(double number)
{
    return is_within(number, MAX_I32) && number == (double)(int64_t)number;
}

// By the expression, start + step * index.
static bool fits(const struct op_pointwise_work *work, double *start, double *step)
{
    const struct op_pointwise *op = op_row_find("Arange")->data;
    if (strcmp(work->op->name, op->name) != 0 || !op_tensor_is_dense(&work->out)) {
        return false;
    }
    *start = *step = 0;
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (op_pointwise_is_place(work, i)) {
            continue;
        }
        const char *name = work->call->row->params[work->op->var[i]].name;
        *(strcmp(name, "start") == 0 ? start : step) = work->real[i];
    }
    const int64_t count = op_tensor_count(&work->out), most = most_of(work->out.type);
    return count >= LEAST_RANGE && count <= MAX_I32 && is_whole(*start) && is_whole(*step) &&
           is_within(*start, most) && is_within(*start + *step * (double)(count - 1), most);
}

leo_status op_pointwise_plan_range(const struct op_pointwise_work *work)
{
    double real_start, real_step;
    if (!fits(work, &real_start, &real_step)) {
        return OP_DECLINED;
    }
    struct op_chain chain = op_chain_begin(work->call);
    const int64_t start = (int64_t)real_start, step = (int64_t)real_step,
                  count = op_tensor_count(&work->out), rows = count / COLUMNS,
                  rest = count - rows * COLUMNS, each[] = {1, COLUMNS}, one_each[] = {rows, 1},
                  all[] = {rows, COLUMNS};
    struct op_tensor out = op_view_shape(&work->out, 1, &count);
    if (out.type != OP_TYPE_I32) {
        out = op_chain_temp(&chain, OP_TYPE_I32, 1, &count);
    }
    const struct op_tensor row = op_chain_temp(&chain, OP_TYPE_I32, 2, each),
                           starts = op_chain_temp(&chain, OP_TYPE_I32, 2, one_each),
                           row_list = op_view_shape(&row, 1, &each[1]),
                           start_list = op_view_shape(&starts, 1, &rows),
                           head = op_view_slice(&out, 0, 0, rows * COLUMNS),
                           body = op_view_shape(&head, 2, all),
                           tail = op_view_slice(&out, 0, rows * COLUMNS, rest);
    const struct op_scalar one = op_scalar_int(1);
    op_chain_range(&chain, &row_list, 0, step);
    op_chain_range(&chain, &start_list, start, step * COLUMNS);
    OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&row), op_value_tensor(&starts),
                  op_value_scalar(&one), op_value_tensor(&body));
    if (rest) {
        op_chain_range(&chain, &tail, start + step * rows * COLUMNS, step);
    }
    if (work->out.type != OP_TYPE_I32) {
        const struct op_tensor whole = op_view_shape(&work->out, 1, &count);
        op_chain_copy(&chain, &whole, &out);
    }
    return chain.status;
}
