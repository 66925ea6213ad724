/* SPDX-License-Identifier: Apache-2.0 */
/* Long short-term memory, forward and backward. Gates lie in the order i, f, g, o, as in PyTorch,
 * or in the order i, g, f, o, the default of those by type name. */
#include "recurrent.h"

enum { GATES = 4 };

/* What is kept of one layer and direction: all [steps, batch, hidden]. */
struct lstm_saved {
    struct op_tensor i, g, f, o, h, c, tanhc;
};

/* One layer and direction. */
struct lstm {
    const struct rnn *rnn;
    bool reverse, candidate_second; /* gates i, g, f, o */
    struct rnn_weights w;
    struct op_tensor x;      /* [steps, batch, features] */
    struct op_tensor h0, c0; /* [batch, hidden] */
    struct lstm_saved saved;
};

enum { GATE_I, GATE_F, GATE_G, GATE_O };

static struct op_tensor gate_of(const struct lstm *l, const struct op_tensor *gates, unsigned gate)
{
    static const unsigned places[2][GATES] = {
        {[GATE_I] = 0, [GATE_F] = 1, [GATE_G] = 2, [GATE_O] = 3},
        {[GATE_I] = 0, [GATE_F] = 2, [GATE_G] = 1, [GATE_O] = 3},
    };
    return rnn_gate(l->rnn, gates, places[l->candidate_second][gate]);
}

static void forward_step(struct op_chain *chain, const struct lstm *l, int64_t t,
                         const struct op_tensor *gates, const struct op_tensor *h_before,
                         const struct op_tensor *c_before)
{
    static const char *const functions[GATES] = {
        [GATE_I] = "Sigmoid", [GATE_F] = "Sigmoid", [GATE_G] = "Tanh", [GATE_O] = "Sigmoid"};
    const struct lstm_saved *s = &l->saved;
    const struct op_tensor i = op_view_select(&s->i, 0, t), f = op_view_select(&s->f, 0, t),
                           g = op_view_select(&s->g, 0, t), o = op_view_select(&s->o, 0, t),
                           c = op_view_select(&s->c, 0, t), h = op_view_select(&s->h, 0, t),
                           tanhc = op_view_select(&s->tanhc, 0, t);
    const struct op_tensor *const outs[GATES] = {
        [GATE_I] = &i, [GATE_F] = &f, [GATE_G] = &g, [GATE_O] = &o};
    for (unsigned k = 0; k < GATES; k++) {
        const struct op_tensor part = gate_of(l, gates, k);
        OP_CHAIN_CALL(chain, functions[k], op_value_tensor(&part), op_value_tensor(outs[k]));
    }
    OP_CHAIN_CALL(chain, "RnnMulAdd", op_value_tensor(&f), op_value_tensor(c_before),
                  op_value_tensor(&i), op_value_tensor(&g), op_value_tensor(&c));
    OP_CHAIN_CALL(chain, "Tanh", op_value_tensor(&c), op_value_tensor(&tanhc));
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&o), op_value_tensor(&tanhc), op_value_tensor(&h));
    rnn_keep_old(chain, l->rnn, t, &c, c_before);
    rnn_keep_old(chain, l->rnn, t, &h, h_before);
}

static void forward(struct op_chain *chain, const struct lstm *l)
{
    const struct op_tensor input = rnn_gates_of_input(chain, &l->x, &l->w),
                           wh = op_view_swap(&l->w.wh, 0, 1);
    const int64_t shape[] = {l->rnn->batch, GATES * l->rnn->hidden};
    const struct op_tensor gates = op_chain_temp(chain, OP_TYPE_F32, 2, shape);
    const struct op_scalar one = op_scalar_int(1);
    struct op_tensor h = l->h0, c = l->c0;
    for (int64_t k = 0; k < l->rnn->steps; k++) {
        const int64_t t = rnn_step(l->rnn, l->reverse, k);
        const struct op_tensor given = op_view_select(&input, 0, t);
        op_chain_matmul(chain, &h, &wh, &gates);
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(&gates), op_value_tensor(&given),
                      op_value_scalar(&one), op_value_tensor(&gates));
        if (l->w.bh.addr) {
            OP_CHAIN_CALL(chain, "Add", op_value_tensor(&gates), op_value_tensor(&l->w.bh),
                          op_value_scalar(&one), op_value_tensor(&gates));
        }
        forward_step(chain, l, t, &gates, &h, &c);
        h = op_view_select(&l->saved.h, 0, t);
        c = op_view_select(&l->saved.c, 0, t);
    }
}

/* Gradients that run back through the steps: f32 [batch, hidden]. */
struct lstm_back {
    struct op_tensor dh, dc;           /* carried; at the end those of h0, c0 */
    struct op_tensor dh_here, dc_here; /* of this step's gates */
};

static void backward_step(struct op_chain *chain, const struct lstm *l, int64_t t,
                          const struct op_tensor *c_before, const struct op_tensor *dgates,
                          struct lstm_back *b)
{
    const struct lstm_saved *s = &l->saved;
    const struct op_tensor i = op_view_select(&s->i, 0, t), f = op_view_select(&s->f, 0, t),
                           g = op_view_select(&s->g, 0, t), o = op_view_select(&s->o, 0, t),
                           tanhc = op_view_select(&s->tanhc, 0, t);
    const struct op_tensor di = gate_of(l, dgates, GATE_I), df = gate_of(l, dgates, GATE_F),
                           dg = gate_of(l, dgates, GATE_G), d_o = gate_of(l, dgates, GATE_O);
    OP_CHAIN_CALL(chain, "RnnTanhGradAdd", op_value_tensor(&b->dc_here),
                  op_value_tensor(&b->dh_here), op_value_tensor(&o), op_value_tensor(&tanhc),
                  op_value_tensor(&b->dc_here));
    OP_CHAIN_CALL(chain, "RnnSigmoidGrad", op_value_tensor(&b->dh_here), op_value_tensor(&tanhc),
                  op_value_tensor(&o), op_value_tensor(&d_o));
    OP_CHAIN_CALL(chain, "RnnSigmoidGrad", op_value_tensor(&b->dc_here), op_value_tensor(&g),
                  op_value_tensor(&i), op_value_tensor(&di));
    OP_CHAIN_CALL(chain, "RnnSigmoidGrad", op_value_tensor(&b->dc_here), op_value_tensor(c_before),
                  op_value_tensor(&f), op_value_tensor(&df));
    OP_CHAIN_CALL(chain, "RnnTanhGrad", op_value_tensor(&b->dc_here), op_value_tensor(&i),
                  op_value_tensor(&g), op_value_tensor(&dg));
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&b->dc_here), op_value_tensor(&f),
                  op_value_tensor(&b->dc_here));
}

// dc = what came through the step, or as it was where the step has no row.
static void carry(struct op_chain *chain, const struct lstm *l, int64_t t,
                  const struct op_tensor *through, const struct op_tensor *kept)
{
    rnn_keep_old(chain, l->rnn, t, through, kept);
    op_chain_copy(chain, kept, through);
}

/* dy [steps, batch, hidden] may have no memory. dx gets the gradient of x, added if `add`. */
static void backward(struct op_chain *chain, const struct lstm *l, const struct op_tensor *dy,
                     struct lstm_back *b, const struct rnn_weights *dw, const struct op_tensor *dx,
                     bool add)
{
    const struct rnn *rnn = l->rnn;
    const int64_t shape[] = {rnn->steps, rnn->batch, GATES * rnn->hidden};
    const struct op_tensor dgates = op_chain_temp(chain, OP_TYPE_F32, 3, shape),
                           h_before = rnn_states_before(chain, &l->saved.h, &l->h0, l->reverse),
                           c_before = rnn_states_before(chain, &l->saved.c, &l->c0, l->reverse);
    const struct op_scalar one = op_scalar_int(1);
    b->dh_here = op_chain_temp_like(chain, OP_TYPE_F32, &b->dh);
    b->dc_here = op_chain_temp_like(chain, OP_TYPE_F32, &b->dc);
    for (int64_t k = rnn->steps; k-- > 0;) {
        const int64_t t = rnn_step(l->rnn, l->reverse, k);
        const struct op_tensor gates = op_view_select(&dgates, 0, t),
                               c = op_view_select(&c_before, 0, t);
        op_chain_copy(chain, &b->dh_here, &b->dh);
        op_chain_copy(chain, &b->dc_here, &b->dc);
        if (dy->addr) {
            const struct op_tensor here = op_view_select(dy, 0, t);
            OP_CHAIN_CALL(chain, "Add", op_value_tensor(&b->dh_here), op_value_tensor(&here),
                          op_value_scalar(&one), op_value_tensor(&b->dh_here));
        }
        backward_step(chain, l, t, &c, &gates, b);
        if (rnn->valid.rank) {
            const struct op_tensor valid = op_view_select(&rnn->valid, 0, t);
            OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&gates), op_value_tensor(&valid),
                          op_value_tensor(&gates));
        }
        carry(chain, l, t, &b->dc_here, &b->dc);
        op_chain_matmul(chain, &gates, &l->w.wh, &b->dh_here);
        carry(chain, l, t, &b->dh_here, &b->dh);
    }
    rnn_weight_gradients(chain, &l->w, dw, &dgates, &dgates, &l->x, &h_before, dx, add);
}

/* ---- LSTM, LstmBackward: layers and directions ---- */

static struct lstm_saved saved_of(struct op_chain *chain, const struct rnn *rnn,
                                  const char *const names[7], unsigned index)
{
    struct lstm_saved saved;
    struct op_tensor *const all[] = {&saved.i, &saved.g, &saved.f,    &saved.o,
                                     &saved.h, &saved.c, &saved.tanhc};
    for (unsigned k = 0; k < 7; k++) {
        *all[k] = rnn_saved(chain, rnn, rnn_list(chain->call, names[k]), index);
    }
    return saved;
}

static const char *const forward_names[] = {"iOut", "jOut", "fOut",    "oOut",
                                            "hOut", "cOut", "tanhCOut"},
                         *const backward_names[] = {"i", "g", "f", "o", "h", "c", "tanhc"};

static leo_status take(const struct op_call *call, const char *sizes, const char *const *names,
                       struct op_tensor state[2], struct rnn *rnn)
{
    const struct op_tensor_list *hx = op_call_value(call, "hx")->tensors;
    const struct op_tensor *like =
        op_call_has(call, "hy") ? op_call_tensor(call, "hy") : op_call_tensor(call, "dhPrevOut");
    state[0] = state[1] = (struct op_tensor){0};
    if (hx && hx->count == 2) {
        state[0] = *hx->items[0];
        state[1] = *hx->items[1];
    } else if (hx && hx->count != 0) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "hx must have 2 tensors");
    }
    for (unsigned k = 0; k < 2; k++) {
        if (state[k].addr && !op_tensor_same_shape(&state[k], like)) {
            return op_call_fail(call, LEO_ERR_SHAPE, "hx[%u] has shape %s, it must be %s", k,
                                op_tensor_shape_text(&state[k]).text,
                                op_tensor_shape_text(like).text);
        }
    }
    leo_status status =
        rnn_take(call, like, GATES, "bidirectional", op_call_tensor(call, sizes), rnn);
    for (unsigned k = 0; status == LEO_OK && k < 7; k++) {
        status = rnn_check_list(call, rnn, names[k]);
    }
    return status;
}

static struct lstm direction(struct op_chain *chain, const struct rnn *rnn,
                             const struct op_tensor state[2], unsigned index,
                             const struct op_tensor *x, const char *const *names)
{
    struct lstm l = {.rnn = rnn, .reverse = index % rnn->directions == 1, .x = *x};
    l.w = rnn_weights_of(rnn, rnn->params, index);
    l.h0 = rnn_first_state(chain, rnn, state[0].addr ? &state[0] : NULL, index);
    l.c0 = rnn_first_state(chain, rnn, state[1].addr ? &state[1] : NULL, index);
    l.saved = saved_of(chain, rnn, names, index);
    return l;
}

static leo_status plan_forward(const struct op_call *call)
{
    struct rnn rnn;
    struct op_tensor state[2];
    leo_status status = take(call, "batchSizes", forward_names, state, &rnn);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *output = op_call_tensor(call, "output"),
                           *ends[] = {op_call_tensor(call, "hy"), op_call_tensor(call, "cy")};
    const int64_t wide[] = {rnn.steps, rnn.batch, rnn.directions * rnn.hidden};
    struct op_tensor x = rnn_begin(&chain, &rnn);
    for (unsigned layer = 0; layer < rnn.layers; layer++) {
        const struct op_tensor out = layer + 1 == rnn.layers && output
                                         ? rnn_in_steps(&rnn, output)
                                         : op_chain_temp(&chain, rnn.type, 3, wide);
        for (unsigned d = 0; d < rnn.directions; d++) {
            const unsigned index = layer * rnn.directions + d;
            const struct lstm l = direction(&chain, &rnn, state, index, &x, forward_names);
            forward(&chain, &l);
            rnn_join(&chain, &rnn, &l.saved.h, d, &out);
            const int64_t last = rnn_step(&rnn, l.reverse, rnn.steps - 1);
            for (unsigned k = 0; k < 2; k++) {
                const struct op_tensor from = op_view_select(k ? &l.saved.c : &l.saved.h, 0, last),
                                       to = op_view_select(ends[k], 0, index);
                op_chain_copy(&chain, &to, &from);
            }
        }
        x = out;
    }
    return chain.status;
}

static leo_status plan_backward(const struct op_call *call)
{
    struct rnn rnn;
    struct op_tensor state[2];
    leo_status status = take(call, "batchSizesOptional", backward_names, state, &rnn);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor first = rnn_begin(&chain, &rnn);
    const struct op_tensor *const dstate[] = {op_call_tensor(call, "dh"),
                                              op_call_tensor(call, "dc")};
    const struct op_tensor *const dprev[] = {op_call_tensor(call, "dhPrevOut"),
                                             op_call_tensor(call, "dcPrevOut")};
    struct op_tensor dy = rnn_output_gradient(&chain, &rnn, op_call_tensor(call, "dy"));
    for (unsigned layer = rnn.layers; layer-- > 0;) {
        const struct op_tensor x =
            rnn_layer_input(&chain, &rnn, layer, &first, rnn_list(call, "h"));
        const struct op_tensor dx = op_chain_temp_like(&chain, OP_TYPE_F32, &x);
        for (unsigned d = 0; d < rnn.directions; d++) {
            const unsigned index = layer * rnn.directions + d;
            const struct lstm l = direction(&chain, &rnn, state, index, &x, backward_names);
            const struct rnn_weights dw =
                rnn_weights_of(&rnn, op_call_value(call, "dparamsOut")->tensors, index);
            const struct op_tensor part =
                dy.addr ? op_view_slice(&dy, 2, d * rnn.hidden, rnn.hidden) : dy;
            struct lstm_back back = {.dh = rnn_state_gradient(&chain, &rnn, dstate[0], index),
                                     .dc = rnn_state_gradient(&chain, &rnn, dstate[1], index)};
            backward(&chain, &l, &part, &back, &dw, &dx, d > 0);
            const struct op_tensor dh0 = op_view_select(dprev[0], 0, index),
                                   dc0 = op_view_select(dprev[1], 0, index);
            op_chain_copy(&chain, &dh0, &back.dh);
            op_chain_copy(&chain, &dc0, &back.dc);
        }
        dy = dx;
    }
    rnn_put_input_gradient(&chain, &rnn, &dy, op_call_tensor(call, "dxOut"));
    return chain.status;
}

/* ---- DynamicRNN, DynamicRNNV2: one layer and direction, weights transposed ---- */

static struct op_tensor two_dims(const struct op_tensor *tensor)
{
    return tensor->rank == 3 ? op_view_select(tensor, 0, 0) : *tensor;
}

static struct op_tensor three_dims(const struct op_tensor *tensor)
{
    return tensor->rank == 2 ? op_view_insert(tensor, 0) : *tensor;
}

// Weights or their gradients, seen as [4 hidden, ..].
static struct rnn_weights dynamic_weights(const struct op_call *call, const char *one,
                                          const char *x, const char *h, const char *bias,
                                          int64_t features)
{
    struct rnn_weights w = {{0}, {0}, {0}, {0}};
    if (op_call_has(call, one)) {
        const struct op_tensor *both = op_call_tensor(call, one);
        w.wx = op_view_slice(both, 0, 0, features);
        w.wh = op_view_slice(both, 0, features, both->dim[0] - features);
    } else {
        w.wx = *op_call_tensor(call, x);
        w.wh = *op_call_tensor(call, h);
    }
    w.wx = op_view_swap(&w.wx, 0, 1);
    w.wh = op_view_swap(&w.wh, 0, 1);
    const struct op_tensor *b = op_call_optional(call, bias);
    if (b) {
        w.bx = *b;
    }
    return w;
}

// torch_npu gives gradients without a mask a single element.
static bool has_mask(const struct op_call *call)
{
    const struct op_tensor *mask = op_call_tensor(call, "mask");
    return mask && mask->rank > 0 && op_tensor_count(mask) > 0;
}

static leo_status check_mask(const struct op_call *call, const struct op_tensor *like)
{
    if (has_mask(call) && !op_tensor_same_shape(op_call_tensor(call, "mask"), like)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "mask has shape %s, it must be %s",
                            op_tensor_shape_text(op_call_tensor(call, "mask")).text,
                            op_tensor_shape_text(like).text);
    }
    return LEO_OK;
}

static leo_status take_dynamic(const struct op_call *call, struct rnn *rnn, struct lstm *l)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    const struct op_tensor *w = op_call_tensor(call, op_call_has(call, "w") ? "w" : "wh");
    if (x->rank < 2 || x->rank > 3 || w->rank != 2 || w->dim[1] % GATES) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x has shape %s and the weights %s",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(w).text);
    }
    *l = (struct lstm){.rnn = rnn, .x = x->rank == 3 ? *x : op_view_insert(x, 0)};
    *rnn = (struct rnn){.steps = l->x.dim[0],
                        .batch = l->x.dim[1],
                        .hidden = w->dim[1] / GATES,
                        .layers = 1,
                        .directions = 1,
                        .type = x->type};
    const int64_t features = l->x.dim[2],
                  rows = op_call_has(call, "w") ? features + rnn->hidden : rnn->hidden;
    if (w->dim[0] != rows) {
        return op_call_fail(
            call, LEO_ERR_SHAPE, "the weights have shape %s for %lld features and %lld hidden",
            op_tensor_shape_text(w).text, (long long)features, (long long)rnn->hidden);
    }
    l->w = dynamic_weights(call, "w", "wx", "wh", "b", features);
    l->reverse = op_call_int(call, "reverse") != 0;
    l->candidate_second = op_call_int(call, "order") == 0;
    struct op_tensor *const saved[] = {&l->saved.i, &l->saved.g, &l->saved.f,    &l->saved.o,
                                       &l->saved.h, &l->saved.c, &l->saved.tanhc};
    static const char *const names[] = {"i", "j", "f", "o", "h", "c", "tanhc"};
    const int64_t shape[] = {rnn->steps, rnn->batch, rnn->hidden};
    for (unsigned k = 0; k < 7; k++) {
        const struct op_tensor *tensor = op_call_tensor(call, names[k]);
        *saved[k] = three_dims(tensor);
        const struct op_tensor want = op_tensor_dense(0, rnn->type, 3, shape);
        if (!op_tensor_same_shape(saved[k], &want)) {
            return op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s, it must be %s", names[k],
                                op_tensor_shape_text(tensor).text,
                                op_tensor_shape_text(&want).text);
        }
    }
    return check_mask(call, &l->saved.h);
}

// The mask of a packed sequence holds the same number for all hidden elements of a row.
static void dynamic_mask(struct op_chain *chain, struct rnn *rnn)
{
    if (has_mask(chain->call)) {
        const struct op_tensor column = op_view_slice(op_call_tensor(chain->call, "mask"), 2, 0, 1),
                               valid = op_chain_temp_like(chain, rnn->type, &column);
        op_chain_copy(chain, &valid, &column);
        rnn->valid = valid;
    }
}

static void dynamic_states(struct op_chain *chain, struct rnn *rnn, struct lstm *l)
{
    static const char *const names[] = {"h0", "c0"};
    struct op_tensor *const first[] = {&l->h0, &l->c0};
    for (unsigned k = 0; k < 2; k++) {
        const struct op_tensor *given = op_call_tensor(chain->call, names[k]);
        *first[k] = given ? two_dims(given) : rnn_first_state(chain, l->rnn, NULL, 0);
    }
    dynamic_mask(chain, rnn);
    l->x = op_chain_dense(chain, l->rnn->type, &l->x);
}

static leo_status plan_dynamic(const struct op_call *call)
{
    struct rnn rnn;
    struct lstm l;
    leo_status status = take_dynamic(call, &rnn, &l);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    dynamic_states(&chain, &rnn, &l);
    forward(&chain, &l);
    const struct op_tensor y = three_dims(op_call_tensor(call, "y"));
    rnn_join(&chain, &rnn, &l.saved.h, 0, &y);
    return chain.status;
}

static leo_status plan_dynamic_grad(const struct op_call *call)
{
    struct rnn rnn;
    struct lstm l;
    leo_status status = take_dynamic(call, &rnn, &l);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    dynamic_states(&chain, &rnn, &l);
    const struct rnn_weights dw = dynamic_weights(call, "dw", "dwx", "dwh", "db", l.x.dim[2]);
    const struct op_tensor *dh = op_call_tensor(call, "dh"), *dc = op_call_tensor(call, "dc"),
                           *dy = op_call_tensor(call, "dy"), *dx = op_call_tensor(call, "dx");
    const struct op_tensor seen[] = {dh ? two_dims(dh) : (struct op_tensor){0},
                                     dc ? two_dims(dc) : (struct op_tensor){0}, three_dims(dy),
                                     three_dims(dx)};
    const struct op_tensor wide[] = {op_view_insert(&seen[0], 0), op_view_insert(&seen[1], 0)};
    struct lstm_back back = {.dh = rnn_state_gradient(&chain, &rnn, dh ? &wide[0] : NULL, 0),
                             .dc = rnn_state_gradient(&chain, &rnn, dc ? &wide[1] : NULL, 0)};
    const struct op_tensor made = op_chain_temp_like(&chain, OP_TYPE_F32, &l.x);
    const struct op_tensor through = rnn_output_gradient(&chain, &rnn, &seen[2]);
    backward(&chain, &l, &through, &back, &dw, &made, false);
    const struct op_tensor dh0 = two_dims(op_call_tensor(call, "dh0")),
                           dc0 = two_dims(op_call_tensor(call, "dc0"));
    op_chain_copy(&chain, &dh0, &back.dh);
    op_chain_copy(&chain, &dc0, &back.dc);
    op_chain_copy(&chain, &seen[3], &made);
    return chain.status;
}

leo_status op_plan_lstm(const struct op_call *call)
{
    const bool dynamic = op_call_has(call, "x"), gradient = op_call_has(call, "dy");
    if (dynamic) {
        return gradient ? plan_dynamic_grad(call) : plan_dynamic(call);
    }
    return gradient ? plan_backward(call) : plan_forward(call);
}
