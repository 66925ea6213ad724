/* SPDX-License-Identifier: Apache-2.0 */
#include "recurrent.h"

#include <inttypes.h>

static leo_status check_weights(const struct op_call *call, const struct rnn *rnn, unsigned gates)
{
    const unsigned each = rnn->biased ? 4 : 2, all = rnn->layers * rnn->directions * each;
    const int64_t rows = (int64_t)gates * rnn->hidden;
    if (rnn->params->count != all) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "params has %" PRIu64 " tensors, %u layers need %u", rnn->params->count,
                            rnn->layers, all);
    }
    for (unsigned i = 0; i < all; i++) {
        const struct op_tensor *tensor = rnn->params->items[i];
        const unsigned layer = i / each / rnn->directions, part = i % each;
        const int64_t features =
            layer ? rnn->hidden * rnn->directions : rnn->x.dim[rnn->x.rank - 1];
        const int64_t shape[] = {rows, part ? rnn->hidden : features};
        const struct op_tensor want = op_tensor_dense(0, rnn->type, part < 2 ? 2 : 1, shape);
        if (!op_tensor_same_shape(tensor, &want)) {
            return op_call_fail(call, LEO_ERR_SHAPE, "params[%u] has shape %s, it must be %s", i,
                                op_tensor_shape_text(tensor).text,
                                op_tensor_shape_text(&want).text);
        }
    }
    return LEO_OK;
}

leo_status rnn_take(const struct op_call *call, const struct op_tensor *hx, unsigned gates,
                    const char *bidirectional, const struct op_tensor *batch_sizes, struct rnn *rnn)
{
    const struct op_tensor *input = op_call_tensor(call, "input");
    const int64_t layers = op_call_int(call, "numLayers");
    *rnn = (struct rnn){
        .layers = (unsigned)layers,
        .directions = op_call_int(call, bidirectional) ? 2 : 1,
        .biased = op_call_int(call, "hasBias") != 0,
        .batch_first = !batch_sizes && op_call_int(call, "batchFirst"),
        .params = op_call_value(call, "params")->tensors,
        .sizes = batch_sizes,
    };
    if (!input) {
        return op_call_fail(call, LEO_ERR_BAD_POINTER, "input is NULL");
    }
    if (layers < 1 || layers > INT16_MAX) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "numLayers is %" PRId64, layers);
    }
    if (input->rank != (batch_sizes ? 2 : 3) || (batch_sizes && batch_sizes->rank != 1) ||
        hx->rank != 3 || hx->dim[0] != layers * rnn->directions) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "input has shape %s, the state %s: they do not fit %" PRId64 " layers",
                            op_tensor_shape_text(input).text, op_tensor_shape_text(hx).text,
                            layers);
    }
    if (op_call_has(call, "dropout") && op_call_real(call, "dropout") != 0 &&
        op_call_int(call, "train") && layers > 1) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "dropout between layers is not supported: it is %g",
                            op_call_real(call, "dropout"));
    }
    rnn->type = input->type;
    rnn->x = rnn->batch_first ? op_view_swap(input, 0, 1) : *input;
    rnn->steps = batch_sizes ? batch_sizes->dim[0] : rnn->x.dim[0];
    rnn->batch = hx->dim[1];
    rnn->hidden = hx->dim[2];
    if (!batch_sizes && rnn->x.dim[1] != rnn->batch) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "input of shape %s has another batch than the state of shape %s",
                            op_tensor_shape_text(input).text, op_tensor_shape_text(hx).text);
    }
    return check_weights(call, rnn, gates);
}

const struct op_tensor_list *rnn_list(const struct op_call *call, const char *name)
{
    const struct op_tensor_list *list = op_call_value(call, name)->tensors;
    const bool wanted = !op_call_has(call, "hy") || op_call_int(call, "train") != 0;
    return list && list->count && (wanted || list->items[0]->rank) ? list : NULL;
}

leo_status rnn_check_list(const struct op_call *call, const struct rnn *rnn, const char *name)
{
    const struct op_tensor_list *list = rnn_list(call, name);
    const unsigned all = rnn->layers * rnn->directions;
    const int64_t shape[] = {rnn->steps, rnn->batch, rnn->hidden};
    const struct op_tensor want = op_tensor_dense(0, rnn->type, 3, shape);
    if (!list) {
        return LEO_OK;
    }
    if (list->count != all) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "%s has %" PRIu64 " tensors, it must have %u", name, list->count, all);
    }
    for (unsigned i = 0; i < all; i++) {
        if (!op_tensor_same_shape(list->items[i], &want)) {
            return op_call_fail(call, LEO_ERR_SHAPE, "%s[%u] has shape %s, it must be %s", name, i,
                                op_tensor_shape_text(list->items[i]).text,
                                op_tensor_shape_text(&want).text);
        }
    }
    return LEO_OK;
}

// For each step and member of the batch the row of the packed input, or `none`.
static struct op_tensor packed_rows(struct op_chain *chain, const struct rnn *rnn, int64_t none)
{
    const int64_t column[] = {rnn->steps, 1}, wide[] = {rnn->steps, rnn->batch},
                  flat[] = {rnn->steps * rnn->batch};
    const struct op_tensor sizes = op_chain_dense(chain, OP_TYPE_I64, rnn->sizes),
                           begin = op_chain_temp(chain, OP_TYPE_I64, 1, column),
                           rows = op_chain_temp(chain, OP_TYPE_I64, 2, wide);
    const struct op_scalar one = op_scalar_int(1);
    OP_CHAIN_CALL(chain, "Cumsum", op_value_tensor(&sizes), op_value_int(0),
                  op_value_type(OP_TYPE_I64), op_value_tensor(&begin));
    OP_CHAIN_CALL(chain, "Sub", op_value_tensor(&begin), op_value_tensor(&sizes),
                  op_value_scalar(&one), op_value_tensor(&begin));
    const struct op_tensor first = op_view_shape(&begin, 2, column),
                           size = op_view_shape(&sizes, 2, column);
    OP_CHAIN_CALL(chain, "RnnPackedRow", op_value_tensor(&first), op_value_tensor(&size),
                  op_value_int(none), op_value_tensor(&rows));
    return op_view_shape(&rows, 1, flat);
}

// torch_npu packs sequences with all rows of every step; only the batch sizes say which count.
static bool has_all_rows(const struct rnn *rnn)
{
    return rnn->x.dim[0] == rnn->steps * rnn->batch;
}

struct op_tensor rnn_begin(struct op_chain *chain, struct rnn *rnn)
{
    const int64_t features = rnn->x.dim[rnn->x.rank - 1],
                  shape[] = {rnn->steps, rnn->batch, features};
    if (!rnn->sizes) {
        return op_chain_dense(chain, rnn->type, &rnn->x);
    }
    const int64_t column[] = {rnn->steps, 1}, wide[] = {rnn->steps, rnn->batch},
                  mask[] = {rnn->steps, rnn->batch, 1};
    const int64_t flat[] = {rnn->steps * rnn->batch, features};
    const struct op_tensor sizes = op_chain_dense(chain, OP_TYPE_I64, rnn->sizes),
                           size = op_view_shape(&sizes, 2, column),
                           valid = op_chain_temp(chain, rnn->type, 2, wide);
    OP_CHAIN_CALL(chain, "RnnPackedValid", op_value_tensor(&size), op_value_tensor(&valid));
    rnn->valid = op_view_shape(&valid, 3, mask);
    if (has_all_rows(rnn)) {
        const struct op_tensor x = op_chain_dense(chain, rnn->type, &rnn->x);
        return op_view_shape(&x, 3, shape);
    }
    const struct op_tensor rows = packed_rows(chain, rnn, 0),
                           x = op_chain_temp(chain, rnn->type, 2, flat);
    OP_CHAIN_CALL(chain, "IndexSelect", op_value_tensor(&rnn->x), op_value_int(0),
                  op_value_tensor(&rows), op_value_tensor(&x));
    return op_view_shape(&x, 3, shape);
}

struct rnn_weights rnn_weights_of(const struct rnn *rnn, const struct op_tensor_list *list,
                                  unsigned index)
{
    const struct op_tensor *const *item = list->items + index * (rnn->biased ? 4 : 2);
    struct rnn_weights w = {*item[0], *item[1], {0}, {0}};
    if (rnn->biased) {
        w.bx = *item[2];
        w.bh = *item[3];
    }
    return w;
}

struct op_tensor rnn_saved(struct op_chain *chain, const struct rnn *rnn,
                           const struct op_tensor_list *list, unsigned index)
{
    const int64_t shape[] = {rnn->steps, rnn->batch, rnn->hidden};
    return list ? *list->items[index] : op_chain_temp(chain, rnn->type, 3, shape);
}

struct op_tensor rnn_gates_of_input(struct op_chain *chain, const struct op_tensor *x,
                                    const struct rnn_weights *w)
{
    const int64_t rows = x->dim[0] * x->dim[1], gates = w->wx.dim[0];
    const int64_t flat[] = {rows, x->dim[2]}, wide[] = {rows, gates},
                  shape[] = {x->dim[0], x->dim[1], gates};
    const struct op_tensor all = op_chain_temp(chain, OP_TYPE_F32, 2, wide),
                           lines = op_view_shape(x, 2, flat), turned = op_view_swap(&w->wx, 0, 1);
    const struct op_scalar one = op_scalar_int(1);
    op_chain_matmul(chain, &lines, &turned, &all);
    if (w->bx.addr) {
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(&all), op_value_tensor(&w->bx),
                      op_value_scalar(&one), op_value_tensor(&all));
    }
    return op_view_shape(&all, 3, shape);
}

void rnn_keep_old(struct op_chain *chain, const struct rnn *rnn, int64_t t,
                  const struct op_tensor *now, const struct op_tensor *before)
{
    if (rnn->valid.rank) {
        const struct op_tensor valid = op_view_select(&rnn->valid, 0, t);
        const int64_t column[] = {rnn->batch, 1};
        const uint64_t mark = op_plan_temp_mark(chain->plan);
        const struct op_tensor flag = op_chain_temp(chain, OP_TYPE_BOOL, 2, column);
        op_chain_copy(chain, &flag, &valid);
        OP_CHAIN_CALL(chain, "SWhere", op_value_tensor(&flag), op_value_tensor(now),
                      op_value_tensor(before), op_value_tensor(now));
        op_plan_temp_release(chain->plan, mark);
    }
}

struct op_tensor rnn_states_before(struct op_chain *chain, const struct op_tensor *h,
                                   const struct op_tensor *first, bool reverse)
{
    const int64_t steps = h->dim[0];
    const struct op_tensor before = op_chain_temp_like(chain, h->type, h);
    const struct op_tensor to = op_view_slice(&before, 0, reverse ? 0 : 1, steps - 1),
                           from = op_view_slice(h, 0, reverse ? 1 : 0, steps - 1),
                           start = op_view_select(&before, 0, reverse ? steps - 1 : 0);
    if (steps > 1) {
        op_chain_copy(chain, &to, &from);
    }
    op_chain_copy(chain, &start, first);
    return before;
}

static struct op_tensor as_rows(const struct op_tensor *dense)
{
    const int64_t shape[] = {dense->dim[0] * dense->dim[1], dense->dim[2]};
    return op_view_shape(dense, 2, shape);
}

void rnn_weight_gradients(struct op_chain *chain, const struct rnn_weights *w,
                          const struct rnn_weights *dw, const struct op_tensor *dgx,
                          const struct op_tensor *dgh, const struct op_tensor *x,
                          const struct op_tensor *before, const struct op_tensor *dx, bool add)
{
    const struct op_tensor gx = as_rows(dgx), gh = as_rows(dgh), turned_x = op_view_swap(&gx, 0, 1),
                           turned_h = op_view_swap(&gh, 0, 1), lines = as_rows(x),
                           states = as_rows(before), to = as_rows(dx);
    const struct op_scalar one = op_scalar_int(1);
    op_chain_matmul(chain, &turned_x, &lines, &dw->wx);
    op_chain_matmul(chain, &turned_h, &states, &dw->wh);
    if (dw->bx.addr) {
        op_chain_sum(chain, &gx, 0, &dw->bx);
    }
    if (dw->bh.addr) {
        op_chain_sum(chain, &gh, 0, &dw->bh);
    }
    if (!add) {
        op_chain_matmul(chain, &gx, &w->wx, &to);
        return;
    }
    const struct op_tensor more = op_chain_temp_like(chain, OP_TYPE_F32, &to);
    op_chain_matmul(chain, &gx, &w->wx, &more);
    OP_CHAIN_CALL(chain, "Add", op_value_tensor(&to), op_value_tensor(&more), op_value_scalar(&one),
                  op_value_tensor(&to));
}

void rnn_put_input_gradient(struct op_chain *chain, const struct rnn *rnn,
                            const struct op_tensor *dx, const struct op_tensor *out)
{
    if (!rnn->sizes) {
        const struct op_tensor to = rnn->batch_first ? op_view_swap(out, 0, 1) : *out;
        op_chain_copy(chain, &to, dx);
        return;
    }
    if (has_all_rows(rnn)) {
        const struct op_tensor lines = as_rows(dx);
        op_chain_copy(chain, out, &lines);
        return;
    }
    // What belongs to no row goes to one more row at the end.
    const int64_t rows = out->dim[0], more[] = {rows + 1, out->dim[1]};
    const struct op_tensor all = op_chain_temp(chain, out->type, 2, more),
                           index = packed_rows(chain, rnn, rows), lines = as_rows(dx),
                           taken = op_view_slice(&all, 0, 0, rows);
    OP_CHAIN_CALL(chain, "InplaceIndexCopy", op_value_tensor(&all), op_value_int(0),
                  op_value_tensor(&index), op_value_tensor(&lines));
    op_chain_copy(chain, out, &taken);
}

struct op_tensor rnn_in_steps(const struct rnn *rnn, const struct op_tensor *tensor)
{
    return rnn->batch_first ? op_view_swap(tensor, 0, 1) : *tensor;
}

struct op_tensor rnn_state_gradient(struct op_chain *chain, const struct rnn *rnn,
                                    const struct op_tensor *given, unsigned index)
{
    const int64_t shape[] = {rnn->batch, rnn->hidden};
    const struct op_tensor made = op_chain_temp(chain, OP_TYPE_F32, 2, shape);
    if (given) {
        const struct op_tensor one = op_view_select(given, 0, index);
        op_chain_copy(chain, &made, &one);
    } else {
        op_chain_fill(chain, &made, 0);
    }
    return made;
}

void rnn_join(struct op_chain *chain, const struct rnn *rnn, const struct op_tensor *h, unsigned d,
              const struct op_tensor *out)
{
    const struct op_tensor part = op_view_slice(out, 2, d * rnn->hidden, rnn->hidden);
    if (rnn->valid.rank) {
        OP_CHAIN_CALL(chain, "Mul", op_value_tensor(h), op_value_tensor(&rnn->valid),
                      op_value_tensor(&part));
    } else {
        op_chain_copy(chain, &part, h);
    }
}

int64_t rnn_step(const struct rnn *rnn, bool reverse, int64_t k)
{
    return reverse ? rnn->steps - 1 - k : k;
}

struct op_tensor rnn_gate(const struct rnn *rnn, const struct op_tensor *gates, unsigned number)
{
    return op_view_slice(gates, gates->rank - 1, (int64_t)number * rnn->hidden, rnn->hidden);
}

struct op_tensor rnn_first_state(struct op_chain *chain, const struct rnn *rnn,
                                 const struct op_tensor *given, unsigned index)
{
    if (given) {
        return op_view_select(given, 0, index);
    }
    const int64_t shape[] = {rnn->batch, rnn->hidden};
    const struct op_tensor zeros = op_chain_temp(chain, rnn->type, 2, shape);
    op_chain_fill(chain, &zeros, 0);
    return zeros;
}

struct op_tensor rnn_layer_input(struct op_chain *chain, const struct rnn *rnn, unsigned layer,
                                 const struct op_tensor *first, const struct op_tensor_list *h)
{
    if (layer == 0) {
        return *first;
    }
    const int64_t wide[] = {rnn->steps, rnn->batch, rnn->directions * rnn->hidden};
    const struct op_tensor x = op_chain_temp(chain, rnn->type, 3, wide);
    for (unsigned d = 0; d < rnn->directions; d++) {
        const struct op_tensor states = rnn_saved(chain, rnn, h, (layer - 1) * rnn->directions + d);
        rnn_join(chain, rnn, &states, d, &x);
    }
    return x;
}

struct op_tensor rnn_output_gradient(struct op_chain *chain, const struct rnn *rnn,
                                     const struct op_tensor *dy)
{
    if (!dy) {
        return (struct op_tensor){0};
    }
    const struct op_tensor given = rnn_in_steps(rnn, dy);
    if (!rnn->valid.rank) {
        return given;
    }
    // Outputs of rows that are not there are constant.
    const int64_t wide[] = {rnn->steps, rnn->batch, rnn->directions * rnn->hidden};
    const struct op_tensor masked = op_chain_temp(chain, rnn->type, 3, wide);
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&given), op_value_tensor(&rnn->valid),
                  op_value_tensor(&masked));
    return masked;
}
