/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of attention, each over some of the keys, joined. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <string.h>

/* ---- any number of parts by the logarithms of their sums ---- */

static leo_status check_parts(const struct op_call *call, const struct op_tensor_list *lse,
                              const struct op_tensor_list *parts)
{
    const int64_t kind = op_call_int(call, "update_type");
    if (lse->count == 0 || lse->count != parts->count || kind < 0 || kind > 1) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "%" PRIu64 " lse and %" PRIu64 " local_out: as many of both; "
                            "update_type %" PRId64 ": 0 or 1",
                            lse->count, parts->count, kind);
    }
    const struct op_tensor *first = parts->items[0];
    for (uint64_t i = 0; i < lse->count; i++) {
        const struct op_tensor *part = parts->items[i], *sum = lse->items[i];
        if (part->rank != 2 || sum->rank != 1 || sum->dim[0] != part->dim[0] ||
            !op_tensor_same_shape(part, first) || part->type != first->type) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "part %" PRIu64 " has shape %s, its lse %s: all are [rows, width] "
                                "and [rows]",
                                i, op_tensor_shape_text(part).text, op_tensor_shape_text(sum).text);
        }
    }
    leo_status status = op_call_check_shape(call, "out", 2, first->dim);
    if (status == LEO_OK && kind == 1) {
        status = op_call_tensor(call, "lse_out")
                     ? op_call_check_shape(call, "lse_out", 1, first->dim)
                     : op_call_fail(call, LEO_ERR_BAD_POINTER, "lse_out is NULL");
    }
    return status;
}

// The logarithm of the sum of all parts, [rows].
static struct op_tensor join_lse(struct op_chain *chain, const struct op_tensor_list *lse)
{
    const int64_t dim[] = {(int64_t)lse->count, lse->items[0]->dim[0]}, over = 0;
    const struct op_ints first = {&over, 1};
    const struct op_tensor all = op_chain_temp(chain, OP_TYPE_F32, 2, dim),
                           most = op_chain_temp(chain, OP_TYPE_F32, 1, &dim[1]),
                           sum = op_chain_temp(chain, OP_TYPE_F32, 1, &dim[1]),
                           out = op_chain_temp(chain, OP_TYPE_F32, 1, &dim[1]);
    for (uint64_t i = 0; i < lse->count; i++) {
        const struct op_tensor row = op_view_select(&all, 0, (int64_t)i);
        op_chain_copy(chain, &row, lse->items[i]);
    }
    OP_CHAIN_CALL(chain, "Amax", op_value_tensor(&all), op_value_ints(&first), op_value_int(0),
                  op_value_tensor(&most));
    OP_CHAIN_CALL(chain, "PartShare", op_value_tensor(&all), op_value_tensor(&most),
                  op_value_tensor(&all));
    op_chain_sum(chain, &all, 0, &sum);
    OP_CHAIN_CALL(chain, "PartLse", op_value_tensor(&most), op_value_tensor(&sum),
                  op_value_tensor(&out));
    return out;
}

leo_status op_plan_attention_update(const struct op_call *call)
{
    const struct op_tensor_list *lse = op_call_value(call, "lse")->tensors,
                                *parts = op_call_value(call, "local_out")->tensors;
    const struct op_tensor *out = op_call_tensor(call, "out");
    leo_status status = check_parts(call, lse, parts);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor all = join_lse(&chain, lse), column = op_view_insert(&all, 1),
                           sum = op_chain_temp_like(&chain, OP_TYPE_F32, out);
    op_chain_fill(&chain, &sum, 0);
    for (uint64_t i = 0; i < parts->count; i++) {
        const struct op_tensor own = op_view_insert(lse->items[i], 1);
        OP_CHAIN_CALL(&chain, "PartWeighted", op_value_tensor(&sum),
                      op_value_tensor(parts->items[i]), op_value_tensor(&own),
                      op_value_tensor(&column), op_value_tensor(&sum));
    }
    op_chain_copy(&chain, out, &sum);
    if (op_call_int(call, "update_type") == 1) {
        op_chain_copy(&chain, op_call_tensor(call, "lse_out"), &all);
    }
    return chain.status;
}

/* ---- two parts by their largest numbers and sums ---- */

enum { SUMS = 4, COPIES = 8 }; // each number of a softmax is there eight times

static const char *const sum_names[SUMS] = {"prev_softmax_max", "prev_softmax_sum",
                                            "cur_softmax_max", "cur_softmax_sum"};

static leo_status check_layout(const struct op_call *call, bool *packed)
{
    const char *layout = op_call_value(call, "input_layout_ptr")->text,
               *sums = op_call_value(call, "input_softmax_layout_ptr")->text;
    *packed = layout && strcmp(layout, "TND") == 0;
    const bool known = layout && (*packed || strcmp(layout, "SBH") == 0),
               same = !sums || !*sums || (known && strcmp(sums, layout) == 0);
    return known && same ? LEO_OK
                         : op_call_fail(call, LEO_ERR_UNSUPPORTED,
                                        "layout %s with a softmax in %s: SBH and TND, both alike",
                                        layout ? layout : "NULL", sums ? sums : "NULL");
}

static leo_status check_ring(const struct op_call *call, bool packed)
{
    static const char *const attention[] = {"cur_attn_out", "attn_out"}, *const sums[] = {
                                                                             "prev_softmax_sum",
                                                                             "cur_softmax_max",
                                                                             "cur_softmax_sum",
                                                                             "softmax_max",
                                                                             "softmax_sum"};
    const struct op_tensor *x = op_call_tensor(call, "prev_attn_out"),
                           *most = op_call_tensor(call, "prev_softmax_max");
    const bool fits = packed ? x->rank == 3 && most->rank == 3 && most->dim[0] == x->dim[0] &&
                                   most->dim[1] == x->dim[1] && most->dim[2] == COPIES
                             : x->rank == 3 && most->rank == 4 && most->dim[0] == x->dim[1] &&
                                   most->dim[2] == x->dim[0] && most->dim[3] == COPIES &&
                                   most->dim[1] > 0 && x->dim[2] % most->dim[1] == 0;
    leo_status status =
        fits ? LEO_OK
             : op_call_fail(call, LEO_ERR_SHAPE,
                            "prev_attn_out %s and prev_softmax_max %s do not fit: [s, b, heads * "
                            "width] and [b, heads, s, 8], or [t, heads, width] and [t, heads, 8]",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(most).text);
    for (unsigned i = 0; status == LEO_OK && i < 2; i++) {
        status = op_call_check_shape(call, attention[i], x->rank, x->dim);
    }
    for (unsigned i = 0; status == LEO_OK && i < 5; i++) {
        status = op_call_check_shape(call, sums[i], most->rank, most->dim);
    }
    return status;
}

// [s, b, heads * width] as [s, b, heads, width].
static struct op_tensor part_heads(const struct op_tensor *x, int64_t heads)
{
    struct op_tensor seen = op_view_insert(x, 2);
    seen.dim[2] = heads;
    seen.dim[3] = x->dim[2] / heads;
    seen.stride[2] = x->stride[2] * seen.dim[3];
    return seen;
}

// Numbers of a softmax as [s, b, heads, 1] or [t, heads, 1].
static struct op_tensor as_columns(const struct op_tensor *sums, bool packed)
{
    static const unsigned order[] = {2, 0, 1, 3};
    const struct op_tensor one = op_view_slice(sums, sums->rank - 1, 0, 1);
    return packed ? one : op_tensor_permute(&one, order);
}

leo_status op_plan_ring_update(const struct op_call *call)
{
    const struct op_tensor *out = op_call_tensor(call, "attn_out");
    bool packed;
    leo_status status = check_layout(call, &packed);
    if (status == LEO_OK) {
        status = check_ring(call, packed);
    }
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor x[] = {*op_call_tensor(call, "prev_attn_out"),
                            *op_call_tensor(call, "cur_attn_out"), *out},
                     sums[SUMS];
    const int64_t heads = op_call_tensor(call, sum_names[0])->dim[1];
    for (unsigned i = 0; !packed && i < 3; i++) {
        x[i] = part_heads(&x[i], heads);
    }
    for (unsigned i = 0; i < SUMS; i++) {
        sums[i] = as_columns(op_call_tensor(call, sum_names[i]), packed);
    }
    OP_CHAIN_CALL(&chain, "RingOut", op_value_tensor(&x[0]), op_value_tensor(&x[1]),
                  op_value_tensor(&sums[0]), op_value_tensor(&sums[1]), op_value_tensor(&sums[2]),
                  op_value_tensor(&sums[3]), op_value_tensor(&x[2]));
    OP_CHAIN_CALL(&chain, "RingSum", *op_call_value(call, sum_names[0]),
                  *op_call_value(call, sum_names[1]), *op_call_value(call, sum_names[2]),
                  *op_call_value(call, sum_names[3]), *op_call_value(call, "softmax_sum"));
    OP_CHAIN_CALL(&chain, "Maximum", *op_call_value(call, sum_names[0]),
                  *op_call_value(call, sum_names[2]), *op_call_value(call, "softmax_max"));
    return chain.status;
}
