/* SPDX-License-Identifier: Apache-2.0 */
/* Long short-term memories: weights in one piece of memory, and what a gradient needs in another,
 * as the lists of tensors that operators take. */
#include "cnnl_subjects.h"

#include <inttypes.h>

enum { GATES = 4, SAVED = 7, WEIGHTS = 4, MAX_PARTS = 16 }; // parts: layers times directions

/* Tensors one after the other in memory. */
struct row {
    struct op_tensor tensors[MAX_PARTS * WEIGHTS];
    const struct op_tensor *items[MAX_PARTS * WEIGHTS];
    struct op_tensor_list list;
    uint64_t next; // address
};

static void put(struct row *row, enum op_type type, unsigned rank, const int64_t *dim)
{
    struct op_tensor *made = &row->tensors[row->list.count];
    *made = op_tensor_dense(row->next, type, rank, dim);
    row->items[row->list.count++] = made;
    row->list.items = row->items;
    row->next += (uint64_t)op_tensor_count(made) * op_type_bytes(type);
}

static unsigned parts_of(const struct cnnlRNNParam *d)
{
    return (unsigned)d->layers * (d->both ? 2 : 1);
}

// Weights, or their gradients, at `data`.
static void put_weights(struct row *row, const struct cnnlRNNParam *d, enum op_type type,
                        const void *data)
{
    const int64_t wide = (int64_t)GATES * d->hidden;
    *row = (struct row){.next = (uint64_t)(uintptr_t)data};
    for (unsigned part = 0; part < parts_of(d); part++) {
        const bool first = part < (d->both ? 2U : 1U);
        const int64_t by_input[] = {wide, first ? d->features : d->hidden * (d->both ? 2 : 1)},
                      by_state[] = {wide, d->hidden};
        put(row, type, 2, by_input);
        put(row, type, 2, by_state);
        if (d->biased) {
            put(row, type, 1, &wide);
            put(row, type, 1, &wide);
        }
    }
}

static void put_saved(struct row rows[SAVED], const struct cnnlRNNParam *d, enum op_type type,
                      const struct cnnl_lstm_data *data)
{
    const int64_t dim[] = {data->x->steps, data->x->batch, d->hidden};
    uint64_t next = (uint64_t)(uintptr_t)data->reserve;
    for (unsigned kind = 0; kind < SAVED; kind++) {
        rows[kind] = (struct row){.next = next};
        for (unsigned part = 0; part < parts_of(d); part++) {
            put(&rows[kind], type, 3, dim);
        }
        next = rows[kind].next;
    }
}

static struct op_tensor sequence(const struct cnnlSeqDataStruct *d, enum op_type type,
                                 const void *data)
{
    const int64_t dim[] = {d->steps, d->batch, d->features};
    return op_tensor_dense((uint64_t)(uintptr_t)data, type, 3, dim);
}

cnnlStatus_t cnnl_rnn_sizes(const char *func, const struct cnnlRNNParam *d,
                            const struct cnnlSeqDataStruct *x, size_t *work, size_t *reserve)
{
    if (!work || !reserve || d->layers < 1) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, func,
                         "a place for a size is NULL, or the descriptor was not set");
    }
    *work = CNNL_WORKSPACE_BYTES;
    *reserve = (size_t)SAVED * parts_of(d) * (size_t)(x->steps * x->batch * d->hidden) *
               cnnl_type_bytes(x->type);
    return CNNL_STATUS_SUCCESS;
}

// The type of all tensors, after checks of what both ways have.
static bool check(struct cnnl_call *call, const struct cnnlRNNParam *d,
                  const struct cnnl_lstm_data *data, enum op_type *type, struct row *weights)
{
    size_t work = 0, reserve = 0;
    if (call->status != CNNL_STATUS_SUCCESS) {
        return false;
    }
    if (parts_of(d) > MAX_PARTS || !cnnl_type_of(data->x->type, type)) {
        cnnl_refuse(call, "%u layers and directions, or this type", parts_of(d));
        return false;
    }
    if (d->layers < 1) {
        cnnl_bad(call, "the descriptor was not set");
        return false;
    }
    if (data->y->type != data->x->type) {
        cnnl_bad(call, "y has another type than x");
        return false;
    }
    (void)cnnl_rnn_sizes(call->func, d, data->x, &work, &reserve);
    put_weights(weights, d, *type, data->weight);
    const uint64_t bytes = weights->next - (uint64_t)(uintptr_t)data->weight;
    if (data->weight_bytes < bytes || data->reserve_bytes < reserve) {
        cnnl_bad(call, "weights have %zu bytes and need %" PRIu64 ", the reserve %zu and needs %zu",
                 data->weight_bytes, bytes, data->reserve_bytes, reserve);
    }
    cnnl_need(call, "x", data->input != NULL);
    cnnl_need(call, "weight", data->weight != NULL);
    cnnl_need(call, "reserve", data->reserve != NULL);
    return call->status == CNNL_STATUS_SUCCESS;
}

void cnnl_lstm(struct cnnl_call *call, const struct cnnlRNNParam *d,
               const struct cnnl_lstm_data *data, const struct op_tensor *hy,
               const struct op_tensor *cy)
{
    enum op_type type = OP_TYPE_F32;
    struct row weights, saved[SAVED];
    if (!check(call, d, data, &type, &weights)) {
        return;
    }
    put_saved(saved, d, type, data);
    const struct op_tensor *const begin[] = {data->h, data->c};
    const struct op_tensor_list states = {begin, 2};
    const struct op_tensor x = sequence(data->x, type, data->input),
                           y = sequence(data->y, type, data->output);
    struct op_value args[13 + SAVED] = {op_value_tensor(&x),       op_value_tensors(&weights.list),
                                        op_value_tensors(&states), op_value_tensor(NULL),
                                        op_value_int(d->biased),   op_value_int(d->layers),
                                        op_value_real(0),          op_value_int(true),
                                        op_value_int(d->both),     op_value_int(false),
                                        op_value_tensor(&y),       op_value_tensor(hy),
                                        op_value_tensor(cy)};
    for (unsigned kind = 0; kind < SAVED; kind++) { // in the order i, g, f, o, h, c, tanh c
        args[13 + kind] = op_value_tensors(&saved[kind].list);
    }
    cnnl_run(call, "LSTM", args);
}

void cnnl_lstm_backward(struct cnnl_call *call, const struct cnnlRNNParam *d,
                        const struct cnnl_lstm_data *data, const struct op_tensor *diff_hy,
                        const struct op_tensor *diff_cy, const struct op_tensor *diff_hx,
                        const struct op_tensor *diff_cx)
{
    enum { I, G, F, O, H, C, TANHC };
    enum op_type type = OP_TYPE_F32;
    struct row weights, diff_weights, saved[SAVED];
    cnnl_need(call, "diff_y", data->diff_output != NULL);
    cnnl_need(call, "diff_x", data->diff_input != NULL);
    cnnl_need(call, "diff_weight", data->diff_weight != NULL);
    if (!check(call, d, data, &type, &weights)) {
        return;
    }
    put_weights(&diff_weights, d, type, data->diff_weight);
    put_saved(saved, d, type, data);
    const struct op_tensor *const begin[] = {data->h, data->c};
    const struct op_tensor_list states = {begin, 2};
    const struct op_tensor x = sequence(data->x, type, data->input),
                           diff_x = sequence(data->x, type, data->diff_input),
                           diff_y = sequence(data->y, type, data->diff_output);
    const bool all[] = {true, true, true, true};
    const struct op_bools mask = {all, 4};
    const struct op_value args[] = {
        op_value_tensor(&x),
        op_value_tensors(&states),
        op_value_tensors(&weights.list),
        op_value_tensor(&diff_y),
        op_value_tensor(diff_hy),
        op_value_tensor(diff_cy),
        op_value_tensors(&saved[I].list),
        op_value_tensors(&saved[G].list),
        op_value_tensors(&saved[F].list),
        op_value_tensors(&saved[O].list),
        op_value_tensors(&saved[H].list),
        op_value_tensors(&saved[C].list),
        op_value_tensors(&saved[TANHC].list),
        op_value_tensor(NULL),
        op_value_int(d->biased),
        op_value_int(d->layers),
        op_value_real(0),
        op_value_int(true),
        op_value_int(d->both),
        op_value_int(false),
        op_value_bools(&mask),
        op_value_tensor(&diff_x),
        op_value_tensor(diff_hx),
        op_value_tensor(diff_cx),
        op_value_tensors(&diff_weights.list),
    };
    cnnl_run(call, "LstmBackward", args);
}
