/* SPDX-License-Identifier: Apache-2.0 */
/* Products with two thin weights, which each row chooses for itself, added to some columns. */
#include "../moe/moe.h"

#include <inttypes.h>

struct lora {
    const struct op_tensor *y, *x, *a, *b, *list, *out;
    int64_t layer, begin, count;
};

static bool fits(const struct lora *l)
{
    const struct op_tensor *x = l->x, *y = l->y, *a = l->a, *b = l->b;
    const int64_t rank = b->rank == 4 ? b->dim[3] : 0;
    return x->rank == 2 && y->rank == 2 && b->rank == 4 && l->list->rank == 1 &&
           y->dim[0] == x->dim[0] && l->list->dim[0] == x->dim[0] &&
           op_tensor_same_shape(y, l->out) && l->layer >= 0 && l->layer < b->dim[1] &&
           l->begin >= 0 && l->count == b->dim[2] && l->begin <= y->dim[1] - l->count &&
           (a ? a->rank == 4 && a->dim[0] == b->dim[0] && a->dim[1] == b->dim[1] &&
                    a->dim[2] == rank && a->dim[3] == x->dim[1]
              : rank == x->dim[1]);
}

static leo_status take(const struct op_call *call, struct lora *l)
{
    *l = (struct lora){op_call_tensor(call, "y"),
                       op_call_tensor(call, "x"),
                       op_call_tensor(call, "weightAOptional"),
                       op_call_tensor(call, "weightB"),
                       op_call_tensor(call, "indices"),
                       op_call_tensor(call, "out"),
                       op_call_int(call, "layerIdx"),
                       op_call_int(call, "yOffset"),
                       op_call_int(call, "ySliceSize")};
    return fits(l) ? LEO_OK
                   : op_call_fail(call, LEO_ERR_SHAPE,
                                  "y %s, x %s, weightA %s, weightB %s, layer %" PRId64
                                  ", columns %" PRId64 " and %" PRId64
                                  " more do not fit: [rows, h3], [rows, h1], [w, layers, r, h1], "
                                  "[w, layers, h2, r], h2 columns of y",
                                  op_tensor_shape_text(l->y).text, op_tensor_shape_text(l->x).text,
                                  l->a ? op_tensor_shape_text(l->a).text : "NULL",
                                  op_tensor_shape_text(l->b).text, l->layer, l->begin, l->count);
}

// x times the weight of each row, transposed: [rows, 1, n]. A weight that is not there is 0.
static struct op_tensor times(struct op_chain *chain, const struct lora *l,
                              const struct op_tensor *x, const struct op_tensor *weight,
                              enum op_type type)
{
    const int64_t n = weight->dim[2], k = weight->dim[3], rows = x->dim[0],
                  flat[] = {weight->dim[0], n * k}, each[] = {rows, n, k}, made[] = {rows, 1, n};
    const struct op_tensor layer = op_view_select(weight, 1, l->layer),
                           dense = op_chain_dense(chain, weight->type, &layer),
                           table = op_view_shape(&dense, 2, flat),
                           taken = op_moe_rows(chain, &table, l->list, true),
                           chosen = op_view_shape(&taken, 3, each),
                           turned = op_view_swap(&chosen, 1, 2),
                           out = op_chain_temp(chain, type, 3, made);
    op_chain_matmul(chain, x, &turned, &out);
    return out;
}

leo_status op_plan_add_lora(const struct op_call *call)
{
    struct lora l;
    leo_status status = take(call, &l);
    if (status != LEO_OK || op_tensor_count(l.out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_scalar scale = op_scalar_real(op_call_real(call, "scale"));
    const struct op_tensor rows = op_view_insert(l.x, 1),
                           thin = l.a ? times(&chain, &l, &rows, l.a, l.x->type) : rows,
                           wide = times(&chain, &l, &thin, l.b, OP_TYPE_F32),
                           more = op_view_select(&wide, 1, 0),
                           from = op_view_slice(l.y, 1, l.begin, l.count),
                           to = op_view_slice(l.out, 1, l.begin, l.count);
    if (op_tensor_alias(l.y, l.out) != OP_ALIAS_SAME) {
        op_chain_copy(&chain, l.out, l.y);
    }
    OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&from), op_value_tensor(&more),
                  op_value_scalar(&scale), op_value_tensor(&to));
    return chain.status;
}
