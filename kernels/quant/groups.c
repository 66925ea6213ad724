/* SPDX-License-Identifier: Apache-2.0 */
/* Products of groups of i8, exact in i32: parts of k as in product.c, each for all groups,
 * then the scale of each row's group. */
#include "rows.h"

#include <inttypes.h>

struct bytes {
    const struct op_tensor *x, *weight, *bias, *scale, *row, *list, *out;
    bool counts;
};

static leo_status take(const struct op_call *call, struct bytes *b)
{
    *b = (struct bytes){
        .x = op_call_tensor(call, "x"),
        .weight = op_call_tensor(call, "weight"),
        .bias = op_call_tensor(call, "bias"),
        .scale = op_call_tensor(call, "scale"),
        .row = op_call_tensor(call, "row"),
        .list = op_call_tensor(call, "list"),
        .out = op_call_tensor(call, "out"),
        .counts = op_call_int(call, "counts") != 0,
    };
    const struct op_tensor *w = b->weight, *out = b->out;
    const int64_t all = w->rank == 3 ? w->dim[0] * w->dim[2] : 0;
    const bool fits =
        b->x->rank == 2 && w->rank == 3 && out->rank == 2 && b->x->dim[1] == w->dim[1] &&
        w->dim[1] > 0 && out->dim[0] == b->x->dim[0] && out->dim[1] == w->dim[2] &&
        op_tensor_count(b->list) == w->dim[0] && (!b->bias || op_tensor_count(b->bias) == all) &&
        (!b->scale || op_tensor_count(b->scale) == all || op_tensor_count(b->scale) == w->dim[0]) &&
        (!b->row || op_tensor_count(b->row) == out->dim[0]);
    if (!fits) {
        return op_moe_fail_shapes(call, b->x, w, out);
    }
    const bool whole = out->type == OP_TYPE_I32, floats = out->type == OP_TYPE_F16 ||
                                                          out->type == OP_TYPE_BF16 ||
                                                          out->type == OP_TYPE_F32;
    if (!(whole && !b->row) && !(floats && b->scale)) {
        return op_call_fail(
            call, LEO_ERR_DTYPE,
            "groups of i8 into %s: i32 goes without perTokenScale, floats with scale",
            op_type_name(out->type));
    }
    return LEO_OK;
}

// Whole numbers in f32 of one part of k.
static struct op_tensor part_of(struct op_chain *chain, const void *user, int64_t begin,
                                int64_t count)
{
    const struct bytes *b = user;
    const struct op_tensor some_x = op_view_slice(b->x, 1, begin, count),
                           some_w = op_view_slice(b->weight, 1, begin, count),
                           x = op_chain_dense(chain, OP_TYPE_F16, &some_x),
                           w = op_chain_dense(chain, OP_TYPE_F16, &some_w),
                           out = op_chain_temp_like(chain, OP_TYPE_F32, b->out);
    const struct op_tensor *const xs[] = {&x}, *const ws[] = {&w}, *const outs[] = {&out};
    const struct op_tensor_list x_list = {xs, 1}, w_list = {ws, 1}, out_list = {outs, 1};
    const struct op_value none = op_value_tensors(NULL);
    enum { ROWS_IN_GROUPS = 0, ONE_RESULT = 3 };
    // Rows of no group are not written: what they hold must be a number.
    op_chain_fill(chain, &out, 0);
    OP_CHAIN_CALL(chain, "GroupedMatmulV4", op_value_tensors(&x_list), op_value_tensors(&w_list),
                  none, none, none, none, none, none, op_value_tensor(b->list), none, none, none,
                  op_value_int(ONE_RESULT), op_value_int(ROWS_IN_GROUPS), op_value_int(b->counts),
                  op_value_int(0), op_value_tensors(&out_list), none, none);
    return out;
}

// [groups, columns], or one number for each group, for the group of each row.
static struct op_tensor of_rows(struct op_chain *chain, const struct bytes *b,
                                const struct op_tensor *list)
{
    const int64_t groups = b->weight->dim[0], shape[] = {groups, list->dim[0] / groups};
    const struct op_tensor table = op_view_shape(list, 2, shape);
    return op_quant_of_group(chain, &table, b->list, b->counts, b->out->dim[0]);
}

static struct op_tensor bias_of(struct op_chain *chain, const struct bytes *b)
{
    const struct op_tensor list = op_moe_flat(chain, b->bias),
                           wide = op_chain_dense(chain, OP_TYPE_F32, &list);
    return of_rows(chain, b, &wide);
}

leo_status op_plan_quant_groups(const struct op_call *call)
{
    struct bytes b;
    leo_status status = take(call, &b);
    if (status != LEO_OK || op_tensor_count(b.out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sums = op_quant_whole_sum(&chain, b.out, b.x->dim[1], part_of, &b);
    if (!b.bias && b.out->type == OP_TYPE_I32) {
        op_chain_copy(&chain, b.out, &sums);
        return chain.status;
    }
    const bool first = b.bias && b.bias->type == OP_TYPE_I32, whole = b.out->type == OP_TYPE_I32;
    const struct op_tensor zero = op_chain_number(&chain, 0), one = op_chain_number(&chain, 1),
                           bias = b.bias ? bias_of(&chain, &b) : zero;
    struct op_tensor scale = one, row = one;
    if (b.scale && !whole) {
        const struct op_tensor list = op_quant_scale_of(&chain, b.scale),
                               wide = op_chain_dense(&chain, OP_TYPE_F32, &list);
        scale = of_rows(&chain, &b, &wide);
    }
    if (b.row) {
        const struct op_tensor list = op_moe_flat(&chain, b.row);
        row = op_view_insert(&list, 1);
    }
    OP_CHAIN_CALL(&chain, "DequantAll", op_value_tensor(&sums),
                  op_value_tensor(first ? &bias : &zero), op_value_tensor(&scale),
                  op_value_tensor(&row), op_value_tensor(b.bias && !first ? &bias : &zero),
                  op_value_tensor(b.out));
    return chain.status;
}
