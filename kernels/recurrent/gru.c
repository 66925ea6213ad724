/* SPDX-License-Identifier: Apache-2.0 */
/* Gated recurrent units, forward and backward. Gates lie in the order r, z, n, as in PyTorch; hn is
 * what r gates: h wh' + bh of the third gate. */
#include "recurrent.h"

enum { GATES = 3 };

struct gru_saved {
    struct op_tensor r, z, n, hn, h; /* [steps, batch, hidden] */
};

/* One layer and direction. */
struct gru {
    const struct rnn *rnn;
    bool reverse;
    struct rnn_weights w;
    struct op_tensor x, h0;
    struct gru_saved saved;
};

static void forward_step(struct op_chain *chain, const struct gru *l, int64_t t,
                         const struct op_tensor *gx, const struct op_tensor *gh,
                         const struct op_tensor *before)
{
    const struct gru_saved *s = &l->saved;
    const struct op_tensor r = op_view_select(&s->r, 0, t), z = op_view_select(&s->z, 0, t),
                           n = op_view_select(&s->n, 0, t), hn = op_view_select(&s->hn, 0, t),
                           h = op_view_select(&s->h, 0, t);
    const struct op_tensor *const sums[] = {&r, &z};
    for (unsigned k = 0; k < 2; k++) {
        const struct op_tensor a = rnn_gate(l->rnn, gx, k), b = rnn_gate(l->rnn, gh, k);
        OP_CHAIN_CALL(chain, "RnnSumSigmoid", op_value_tensor(&a), op_value_tensor(&b),
                      op_value_tensor(sums[k]));
    }
    const struct op_tensor a = rnn_gate(l->rnn, gx, 2), b = rnn_gate(l->rnn, gh, 2);
    op_chain_copy(chain, &hn, &b);
    OP_CHAIN_CALL(chain, "RnnNew", op_value_tensor(&a), op_value_tensor(&r), op_value_tensor(&b),
                  op_value_tensor(&n));
    OP_CHAIN_CALL(chain, "RnnBlend", op_value_tensor(&z), op_value_tensor(&n),
                  op_value_tensor(before), op_value_tensor(&h));
    rnn_keep_old(chain, l->rnn, t, &h, before);
}

static void forward(struct op_chain *chain, const struct gru *l)
{
    const struct op_tensor input = rnn_gates_of_input(chain, &l->x, &l->w),
                           wh = op_view_swap(&l->w.wh, 0, 1);
    const int64_t shape[] = {l->rnn->batch, GATES * l->rnn->hidden};
    const struct op_tensor gh = op_chain_temp(chain, OP_TYPE_F32, 2, shape);
    const struct op_scalar one = op_scalar_int(1);
    struct op_tensor h = l->h0;
    for (int64_t k = 0; k < l->rnn->steps; k++) {
        const int64_t t = rnn_step(l->rnn, l->reverse, k);
        const struct op_tensor gx = op_view_select(&input, 0, t);
        op_chain_matmul(chain, &h, &wh, &gh);
        if (l->w.bh.addr) {
            OP_CHAIN_CALL(chain, "Add", op_value_tensor(&gh), op_value_tensor(&l->w.bh),
                          op_value_scalar(&one), op_value_tensor(&gh));
        }
        forward_step(chain, l, t, &gx, &gh, &h);
        h = op_view_select(&l->saved.h, 0, t);
    }
}

// The gates' gradients of step t from d, the gradient of its state.
static void backward_step(struct op_chain *chain, const struct gru *l, int64_t t,
                          const struct op_tensor *d, const struct op_tensor *before,
                          const struct op_tensor *dgx, const struct op_tensor *dgh)
{
    const struct gru_saved *s = &l->saved;
    const struct op_tensor r = op_view_select(&s->r, 0, t), z = op_view_select(&s->z, 0, t),
                           n = op_view_select(&s->n, 0, t), hn = op_view_select(&s->hn, 0, t);
    const struct op_tensor dr = rnn_gate(l->rnn, dgx, 0), dz = rnn_gate(l->rnn, dgx, 1),
                           dn = rnn_gate(l->rnn, dgx, 2), dhn = rnn_gate(l->rnn, dgh, 2),
                           both = op_view_slice(dgx, 1, 0, 2 * l->rnn->hidden),
                           both_h = op_view_slice(dgh, 1, 0, 2 * l->rnn->hidden);
    OP_CHAIN_CALL(chain, "RnnUpdateGrad", op_value_tensor(d), op_value_tensor(before),
                  op_value_tensor(&n), op_value_tensor(&z), op_value_tensor(&dz));
    OP_CHAIN_CALL(chain, "RnnNewGrad", op_value_tensor(d), op_value_tensor(&z), op_value_tensor(&n),
                  op_value_tensor(&dn));
    OP_CHAIN_CALL(chain, "RnnSigmoidGrad", op_value_tensor(&dn), op_value_tensor(&hn),
                  op_value_tensor(&r), op_value_tensor(&dr));
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&dn), op_value_tensor(&r), op_value_tensor(&dhn));
    if (l->rnn->valid.rank) {
        const struct op_tensor valid = op_view_select(&l->rnn->valid, 0, t);
        OP_CHAIN_CALL(chain, "Mul", op_value_tensor(dgx), op_value_tensor(&valid),
                      op_value_tensor(dgx));
        OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&dhn), op_value_tensor(&valid),
                      op_value_tensor(&dhn));
    }
    op_chain_copy(chain, &both_h, &both);
}

/* dh: the gradient of the last state, at the end that of h0. */
static void backward(struct op_chain *chain, const struct gru *l, const struct op_tensor *dy,
                     const struct op_tensor *dh, const struct rnn_weights *dw,
                     const struct op_tensor *dx, bool add)
{
    const struct rnn *rnn = l->rnn;
    const int64_t shape[] = {rnn->steps, rnn->batch, GATES * rnn->hidden};
    const struct op_tensor dgx = op_chain_temp(chain, OP_TYPE_F32, 3, shape),
                           dgh = op_chain_temp(chain, OP_TYPE_F32, 3, shape),
                           before = rnn_states_before(chain, &l->saved.h, &l->h0, l->reverse),
                           through = op_chain_temp_like(chain, OP_TYPE_F32, dh),
                           more = op_chain_temp_like(chain, OP_TYPE_F32, dh);
    const struct op_scalar one = op_scalar_int(1);
    for (int64_t k = rnn->steps; k-- > 0;) {
        const int64_t t = rnn_step(l->rnn, l->reverse, k);
        const struct op_tensor gx = op_view_select(&dgx, 0, t), gh = op_view_select(&dgh, 0, t),
                               here = op_view_select(dy, 0, t), old = op_view_select(&before, 0, t),
                               z = op_view_select(&l->saved.z, 0, t);
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(dh), op_value_tensor(&here),
                      op_value_scalar(&one), op_value_tensor(dh));
        backward_step(chain, l, t, dh, &old, &gx, &gh);
        // dh = dh z + dgh wh; where there is no row, dh as it is.
        OP_CHAIN_CALL(chain, "Mul", op_value_tensor(dh), op_value_tensor(&z),
                      op_value_tensor(&through));
        op_chain_matmul(chain, &gh, &l->w.wh, &more);
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(&through), op_value_tensor(&more),
                      op_value_scalar(&one), op_value_tensor(&through));
        rnn_keep_old(chain, rnn, t, &through, dh);
        op_chain_copy(chain, dh, &through);
    }
    rnn_weight_gradients(chain, &l->w, dw, &dgx, &dgh, &l->x, &before, dx, add);
}

static struct gru direction(struct op_chain *chain, const struct rnn *rnn,
                            const struct op_tensor *hx, unsigned index, const struct op_tensor *x,
                            const char *const names[5])
{
    struct gru l = {.rnn = rnn, .reverse = index % rnn->directions == 1, .x = *x};
    struct op_tensor *const all[] = {&l.saved.r, &l.saved.z, &l.saved.n, &l.saved.hn, &l.saved.h};
    l.w = rnn_weights_of(rnn, rnn->params, index);
    l.h0 = rnn_first_state(chain, rnn, hx, index);
    for (unsigned k = 0; k < 5; k++) {
        *all[k] = rnn_saved(chain, rnn, rnn_list(chain->call, names[k]), index);
    }
    return l;
}

static const char *const forward_names[] = {"rOut", "zOut", "nOut", "hnOut", "hOut"},
                         *const backward_names[] = {"r", "z", "n", "hn", "h"};

static leo_status plan_forward(const struct op_call *call)
{
    const struct op_tensor *hx = op_call_tensor(call, "hx"), *hy = op_call_tensor(call, "hy");
    struct rnn rnn;
    if (hx && !op_tensor_same_shape(hx, hy)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "hx has shape %s, hy %s",
                            op_tensor_shape_text(hx).text, op_tensor_shape_text(hy).text);
    }
    leo_status status =
        rnn_take(call, hy, GATES, "bidirection", op_call_tensor(call, "batchSizes"), &rnn);
    for (unsigned k = 0; status == LEO_OK && k < 5; k++) {
        status = rnn_check_list(call, &rnn, forward_names[k]);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t wide[] = {rnn.steps, rnn.batch, rnn.directions * rnn.hidden};
    struct op_tensor x = rnn_begin(&chain, &rnn);
    for (unsigned layer = 0; layer < rnn.layers; layer++) {
        const struct op_tensor out = layer + 1 == rnn.layers
                                         ? rnn_in_steps(&rnn, op_call_tensor(call, "output"))
                                         : op_chain_temp(&chain, rnn.type, 3, wide);
        for (unsigned d = 0; d < rnn.directions; d++) {
            const unsigned index = layer * rnn.directions + d;
            const struct gru l = direction(&chain, &rnn, hx, index, &x, forward_names);
            forward(&chain, &l);
            rnn_join(&chain, &rnn, &l.saved.h, d, &out);
            const struct op_tensor from = op_view_select(&l.saved.h, 0,
                                                         rnn_step(&rnn, l.reverse, rnn.steps - 1)),
                                   to = op_view_select(hy, 0, index);
            op_chain_copy(&chain, &to, &from);
        }
        x = out;
    }
    return chain.status;
}

static leo_status plan_backward(const struct op_call *call)
{
    const struct op_tensor *hx = op_call_tensor(call, "hx"), *dh_given = op_call_tensor(call, "dh");
    struct rnn rnn;
    leo_status status =
        rnn_take(call, hx, GATES, "bidirection", op_call_tensor(call, "batchSizes"), &rnn);
    for (unsigned k = 0; status == LEO_OK && k < 5; k++) {
        status = rnn_check_list(call, &rnn, backward_names[k]);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor first = rnn_begin(&chain, &rnn);
    struct op_tensor dy = rnn_output_gradient(&chain, &rnn, op_call_tensor(call, "dy"));
    for (unsigned layer = rnn.layers; layer-- > 0;) {
        const struct op_tensor x =
            rnn_layer_input(&chain, &rnn, layer, &first, rnn_list(call, "h"));
        const struct op_tensor dx = op_chain_temp_like(&chain, OP_TYPE_F32, &x);
        for (unsigned d = 0; d < rnn.directions; d++) {
            const unsigned index = layer * rnn.directions + d;
            const struct gru l = direction(&chain, &rnn, hx, index, &x, backward_names);
            const struct rnn_weights dw =
                rnn_weights_of(&rnn, op_call_value(call, "dparamsOut")->tensors, index);
            const struct op_tensor part = op_view_slice(&dy, 2, d * rnn.hidden, rnn.hidden),
                                   dh = rnn_state_gradient(&chain, &rnn, dh_given, index),
                                   dh0 =
                                       op_view_select(op_call_tensor(call, "dhPrevOut"), 0, index);
            backward(&chain, &l, &part, &dh, &dw, &dx, d > 0);
            op_chain_copy(&chain, &dh0, &dh);
        }
        dy = dx;
    }
    rnn_put_input_gradient(&chain, &rnn, &dy, op_call_tensor(call, "dxOut"));
    return chain.status;
}

leo_status op_plan_gru(const struct op_call *call)
{
    return op_call_has(call, "dy") ? plan_backward(call) : plan_forward(call);
}
