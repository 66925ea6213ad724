/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention over packed sequences, made of FlashAttentionScore and its gradient: tensors [tokens,
 * heads, features] hold one sequence behind the other, and two lists say where each ends.
 */
#include "attention_forms.h"
#include "attention_sink.h"

#include <inttypes.h>
#include <string.h>

enum { COPIES = 8 }; // how often softmaxMax and softmaxSum hold each number

/* ---- what the call says ---- */

struct packed {
    bool backward, rope;
    const struct op_tensor *q, *k, *v, *mask, *drop;
    struct op_tensor wide_q, wide_k; /**< with their rotary parts behind the features */
    struct op_tensor shift;          /**< rank 0: none */
    const struct op_tensor *sink;    /**< NULL: none */
    const struct op_ints *q_ends, *k_ends;
    int64_t heads, key_heads;
    double keep;
    bool by_token; /**< softmaxMax and softmaxSum are [tokens, heads, 8], not heads first */
    uint64_t bits; /**< of the dropout mask, before this sequence */
};

static const char *key_name(const struct op_call *call)
{
    return op_call_has(call, "keyIn") ? "keyIn" : "key";
}

static leo_status check_ends(const struct op_call *call, const char *name, int64_t tokens)
{
    const struct op_ints *ends = op_call_ints(call, name);
    int64_t before = 0;
    for (uint64_t i = 0; ends && i < ends->count; i++) {
        if (ends->items[i] < before || ends->items[i] > tokens) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "%s: sequence %" PRIu64 " ends at %" PRId64
                                ", it must be between %" PRId64 " and %" PRId64,
                                name, i, ends->items[i], before, tokens);
        }
        before = ends->items[i];
    }
    return ends && ends->count
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_INVALID_ARG, "%s must name the sequences' ends", name);
}

static leo_status check_shapes(const struct op_call *call, const struct packed *p)
{
    if (strcmp(op_call_value(call, "inputLayout")->text, "TND") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "inputLayout %s: it must be TND",
                            op_call_value(call, "inputLayout")->text);
    }
    if (p->q->rank != 3 || p->k->rank != 3 || p->v->rank != 3 || p->k->dim[0] != p->v->dim[0] ||
        p->k->dim[1] != p->v->dim[1] || p->k->dim[2] != p->q->dim[2] ||
        p->q->dim[1] != op_call_int(call, "headNum") || p->k->dim[1] <= 0 ||
        p->q->dim[1] % p->k->dim[1]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "query, key and value are %s, %s and %s [tokens, heads, features] with "
                            "headNum %" PRId64 ": they do not fit",
                            op_tensor_shape_text(p->q).text, op_tensor_shape_text(p->k).text,
                            op_tensor_shape_text(p->v).text, op_call_int(call, "headNum"));
    }
    leo_status status = check_ends(call, "actualSeqQLenOptional", p->q->dim[0]);
    if (status == LEO_OK) {
        status = check_ends(call, "actualSeqKvLenOptional", p->k->dim[0]);
    }
    if (status == LEO_OK && p->q_ends->count != p->k_ends->count) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                              "%" PRIu64 " sequences of queries, %" PRIu64 " of keys",
                              p->q_ends->count, p->k_ends->count);
    }
    return status;
}

static leo_status check_column(const struct op_call *call, const struct packed *p, const char *name)
{
    const int64_t shape[] = {p->q->dim[0], p->heads, COPIES};
    const struct op_tensor *column = op_call_tensor(call, name);
    if (!column) {
        return op_call_fail(call, LEO_ERR_BAD_POINTER, "%s is NULL", name);
    }
    if (!p->by_token && !op_tensor_is_dense(column)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s must be dense", name);
    }
    return op_call_check_shape(call, name, 3, shape);
}

static const char *softmax_layout(const struct op_call *call)
{
    const char *name = op_call_has(call, "softmaxOutLayout")  ? "softmaxOutLayout"
                       : op_call_has(call, "softmaxInLayout") ? "softmaxInLayout"
                                                              : NULL;
    const char *text = name ? op_call_value(call, name)->text : NULL;
    return text ? text : "";
}

static leo_status take(const struct op_call *call, struct packed *p)
{
    const char *layout = softmax_layout(call);
    *p = (struct packed){
        .backward = op_call_has(call, "dy"),
        .q = op_call_tensor(call, "query"),
        .k = op_call_tensor(call, key_name(call)),
        .v = op_call_tensor(call, "value"),
        .mask = op_call_tensor(call, "attenMaskOptional"),
        .drop = op_call_tensor(call, "dropMaskOptional"),
        .q_ends = op_call_ints(call, "actualSeqQLenOptional"),
        .k_ends = op_call_ints(call, "actualSeqKvLenOptional"),
        .keep = op_call_real(call, "keepProb"),
        .by_token = strcmp(layout, "same_as_input") == 0,
    };
    if (*layout && !p->by_token) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "the layout of softmaxMax is %s: it must be empty or same_as_input",
                            layout);
    }
    leo_status status = check_shapes(call, p);
    if (status != LEO_OK) {
        return status;
    }
    p->heads = p->q->dim[1];
    p->key_heads = p->k->dim[1];
    status = check_column(call, p, p->backward ? "softmaxMaxOptional" : "softmaxMaxOut");
    return status == LEO_OK
               ? check_column(call, p, p->backward ? "softmaxSumOptional" : "softmaxSumOut")
               : status;
}

// The rotary part of query or key behind its features.
static leo_status join_rope(struct op_chain *chain, const char *rope_name,
                            const struct op_tensor *t, struct op_tensor *out, bool *joined)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *rope = op_call_optional(call, rope_name);
    *out = *t;
    *joined = rope && op_tensor_count(rope);
    if (!*joined) {
        return LEO_OK;
    }
    if (rope->rank != 3 || rope->dim[0] != t->dim[0] || rope->dim[1] != t->dim[1]) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s beside %s", rope_name,
                            op_tensor_shape_text(rope).text, op_tensor_shape_text(t).text);
    }
    const int64_t shape[] = {t->dim[0], t->dim[1], t->dim[2] + rope->dim[2]};
    *out = op_chain_temp(chain, t->type, 3, shape);
    const struct op_tensor first = op_view_slice(out, 2, 0, t->dim[2]),
                           second = op_view_slice(out, 2, t->dim[2], rope->dim[2]);
    op_chain_copy(chain, &first, t);
    op_chain_copy(chain, &second, rope);
    return chain->status;
}

static leo_status join_ropes(struct op_chain *chain, struct packed *p)
{
    bool of_k = false;
    leo_status status = join_rope(chain, "queryRope", p->q, &p->wide_q, &p->rope);
    if (status == LEO_OK) {
        status = join_rope(chain, p->backward ? "keyInRope" : "keyRope", p->k, &p->wide_k, &of_k);
    }
    if (status == LEO_OK && (p->rope != of_k || p->wide_q.dim[2] != p->wide_k.dim[2])) {
        status = op_call_fail(chain->call, LEO_ERR_SHAPE,
                              "the rotary parts of query and key do not fit each other");
    }
    return status;
}

/* ---- a sequence ---- */

struct sequence {
    uint64_t number;
    int64_t q_begin, queries, k_begin, keys;
};

// [tokens, heads, features] as a batch of one.
static struct op_tensor rows(const struct op_tensor *t, int64_t begin, int64_t count)
{
    const struct op_tensor part = op_view_slice(t, 0, begin, count);
    return op_view_insert(&part, 0);
}

// softmaxMax or softmaxSum of a sequence as [1, heads, queries, 8], where it lies.
static struct op_tensor column(const struct packed *p, const struct op_tensor *t,
                               const struct sequence *s)
{
    if (p->by_token) {
        const struct op_tensor part = op_view_slice(t, 0, s->q_begin, s->queries),
                               turned = op_view_swap(&part, 0, 1);
        return op_view_insert(&turned, 0);
    }
    const int64_t shape[] = {1, p->heads, s->queries, COPIES};
    return op_tensor_dense(t->addr +
                               (uint64_t)(s->q_begin * p->heads * COPIES) * op_type_bytes(t->type),
                           t->type, 4, shape);
}

// Where the plain row puts or finds a column: dense, which its fast way asks for.
static struct op_tensor dense_column(struct op_chain *chain, const struct packed *p,
                                     const struct op_tensor *where)
{
    if (!p->by_token) {
        return *where;
    }
    return p->backward ? op_chain_dense(chain, where->type, where)
                       : op_chain_temp_like(chain, where->type, where);
}

// What a sequence has of something that broadcasts to [sequences, heads, longest, longest].
static leo_status plane(const struct op_call *call, const char *name, const struct op_tensor *t,
                        const struct sequence *s, struct op_tensor *out)
{
    *out = *t;
    while (out->rank < 4) {
        *out = op_view_insert(out, 0);
    }
    if (out->dim[0] > 1 && s->number < (uint64_t)out->dim[0]) {
        *out = op_view_slice(out, 0, (int64_t)s->number, 1);
    }
    const int64_t size[] = {s->queries, s->keys};
    bool fits = out->rank == 4 && out->dim[0] == 1;
    for (unsigned i = 0; fits && i < 2; i++) {
        fits = out->dim[2 + i] == 1 || out->dim[2 + i] >= size[i];
        *out = op_view_slice(out, 2 + i, 0, out->dim[2 + i] == 1 ? 1 : size[i]);
    }
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "%s of shape %s is too small for sequence %" PRIu64 " of %" PRId64
                               " queries and %" PRId64 " keys",
                               name, op_tensor_shape_text(t).text, s->number, s->queries, s->keys);
}

// Bits of the dropout mask from any bit on, from a whole byte on.
static leo_status drop_bits(struct op_chain *chain, const struct packed *p,
                            const struct sequence *s, struct op_tensor *out)
{
    const uint64_t bits = (uint64_t)(p->heads * s->queries * s->keys), at = p->bits % 8;
    const int64_t first = (int64_t)(p->bits / 8), bytes = (int64_t)((bits + 7) / 8),
                  last = (int64_t)((p->bits + bits + 7) / 8), power = INT64_C(1) << at;
    const struct op_tensor *drop = p->drop;
    if (!drop || !op_tensor_is_dense(drop) || op_tensor_count(drop) < last) {
        return op_call_fail(chain->call, LEO_ERR_SHAPE,
                            "keepProb is %g, but dropMask has no %" PRId64 " bytes", p->keep, last);
    }
    *out = op_tensor_dense(drop->addr + (uint64_t)first, OP_TYPE_U8, 1, &bytes);
    if (at == 0) {
        return LEO_OK;
    }
    const int64_t more = bytes + 1, have = last - first;
    const struct op_tensor given =
                               op_tensor_dense(drop->addr + (uint64_t)first, OP_TYPE_U8, 1, &have),
                           low = op_chain_temp(chain, OP_TYPE_U8, 1, &more),
                           filled = op_view_slice(&low, 0, 0, have),
                           here = op_view_slice(&low, 0, 0, bytes),
                           next = op_view_slice(&low, 0, 1, bytes);
    *out = op_chain_temp(chain, OP_TYPE_U8, 1, &bytes);
    op_chain_fill(chain, &low, 0);
    op_chain_copy(chain, &filled, &given);
    OP_CHAIN_CALL(chain, "AttentionDropBits", op_value_tensor(&here), op_value_tensor(&next),
                  op_value_int(power), op_value_tensor(out));
    return chain->status;
}

/* Views of a sequence; the plain call's arguments point to them. */
struct views {
    struct op_tensor q, k, v, mask, shift, drop, max, sum, out, dy, dq, dk, dv;
};

static leo_status set_common(struct op_chain *chain, const struct packed *p,
                             const struct sequence *s, struct op_attention_plain *plain,
                             struct views *w)
{
    static const struct op_value bsnd = {.kind = OP_KIND_TEXT, .text = "BSND"};
    const struct op_call *call = chain->call;
    const bool full = !p->mask; // without a mask there is no mode
    leo_status status = LEO_OK;
    w->q = rows(&p->wide_q, s->q_begin, s->queries);
    w->k = rows(&p->wide_k, s->k_begin, s->keys);
    w->v = rows(p->v, s->k_begin, s->keys);
    op_attention_plain_set(plain, "query", &w->q);
    op_attention_plain_set(plain, p->backward ? "keyIn" : "key", &w->k);
    op_attention_plain_set(plain, "value", &w->v);
    plain->args[op_attention_plain_index(plain, "inputLayout")] = bsnd;
    if (full) {
        plain->args[op_attention_plain_index(plain, "sparseMode")] = op_value_int(0);
    } else if (op_call_int(call, "sparseMode") < 2) {
        status = plane(call, "attenMaskOptional", p->mask, s, &w->mask);
        op_attention_plain_set(plain, "attenMaskOptional", &w->mask);
    }
    if (status == LEO_OK && p->shift.rank) {
        status = plane(call, op_attention_shift_name(call), &p->shift, s, &w->shift);
        op_attention_plain_set(plain, op_attention_shift_name(call), &w->shift);
    }
    if (status == LEO_OK && p->keep < 1) {
        status = drop_bits(chain, p, s, &w->drop);
        op_attention_plain_set(plain, "dropMaskOptional", &w->drop);
    }
    return status;
}

static leo_status forward_one(struct op_chain *chain, const struct packed *p,
                              const struct sequence *s)
{
    const struct op_call *call = chain->call;
    struct op_attention_plain plain = op_attention_plain_begin(call, "FlashAttentionScore");
    struct views w;
    const struct op_tensor *out = op_call_tensor(call, "attentionOutOut");
    w.out = rows(out, s->q_begin, s->queries);
    if (s->queries == 0 || s->keys == 0) {
        op_chain_fill(chain, &w.out, 0);
        return chain->status;
    }
    const struct op_tensor max = column(p, op_call_tensor(call, "softmaxMaxOut"), s),
                           sum = column(p, op_call_tensor(call, "softmaxSumOut"), s);
    w.max = dense_column(chain, p, &max);
    w.sum = dense_column(chain, p, &sum);
    op_attention_plain_set(&plain, "attentionOutOut", &w.out);
    op_attention_plain_set(&plain, "softmaxMaxOut", &w.max);
    op_attention_plain_set(&plain, "softmaxSumOut", &w.sum);
    op_attention_plain_set(&plain, "softmaxOutOut", NULL);
    leo_status status = set_common(chain, p, s, &plain, &w);
    if (status == LEO_OK) {
        op_attention_plain_call(chain, &plain);
    }
    if (status == LEO_OK && p->sink) {
        const struct op_tensor by_heads = op_view_swap(&w.out, 1, 2);
        op_attention_add_sink(chain, p->sink, &w.max, &w.sum, &by_heads);
    }
    if (status == LEO_OK && p->by_token) {
        op_chain_copy(chain, &max, &w.max);
        op_chain_copy(chain, &sum, &w.sum);
    }
    return status == LEO_OK ? chain->status : status;
}

/* Gradients of query and key as the plain row gives them: with the rotary parts. */
struct wide_gradients {
    struct op_tensor dq, dk;
};

static leo_status backward_one(struct op_chain *chain, const struct packed *p,
                               const struct sequence *s, const struct wide_gradients *g)
{
    const struct op_call *call = chain->call;
    struct op_attention_plain plain = op_attention_plain_begin(call, "FlashAttentionScoreGrad");
    struct views w;
    w.dq = rows(&g->dq, s->q_begin, s->queries);
    w.dk = rows(&g->dk, s->k_begin, s->keys);
    w.dv = rows(op_call_tensor(call, "dvOut"), s->k_begin, s->keys);
    if (s->queries == 0 || s->keys == 0) {
        op_chain_fill(chain, &w.dq, 0);
        op_chain_fill(chain, &w.dk, 0);
        op_chain_fill(chain, &w.dv, 0);
        return chain->status;
    }
    const struct op_tensor max = column(p, op_call_tensor(call, "softmaxMaxOptional"), s),
                           sum = column(p, op_call_tensor(call, "softmaxSumOptional"), s);
    w.max = dense_column(chain, p, &max);
    w.sum = dense_column(chain, p, &sum);
    w.dy = rows(op_call_tensor(call, "dy"), s->q_begin, s->queries);
    w.out = rows(op_call_tensor(call, "attentionInOptional"), s->q_begin, s->queries);
    op_attention_plain_set(&plain, "softmaxMaxOptional", &w.max);
    op_attention_plain_set(&plain, "softmaxSumOptional", &w.sum);
    op_attention_plain_set(&plain, "softmaxInOptional", NULL);
    op_attention_plain_set(&plain, "attentionInOptional", &w.out);
    op_attention_plain_set(&plain, "dy", &w.dy);
    op_attention_plain_set(&plain, "dqOut", &w.dq);
    op_attention_plain_set(&plain, "dkOut", &w.dk);
    op_attention_plain_set(&plain, "dvOut", &w.dv);
    leo_status status = set_common(chain, p, s, &plain, &w);
    if (status == LEO_OK) {
        op_attention_plain_call(chain, &plain);
    }
    if (status == LEO_OK && p->sink) {
        const struct op_tensor dy = op_view_swap(&w.dy, 1, 2), out = op_view_swap(&w.out, 1, 2);
        op_attention_add_sink_gradient(chain, p->sink, &w.max, &w.sum, &dy, &out);
    }
    return status == LEO_OK ? chain->status : status;
}

/* ---- all sequences ---- */

static void fill_rest(struct op_chain *chain, const struct op_tensor *t, int64_t end)
{
    const struct op_tensor rest = op_view_slice(t, 0, end, t->dim[0] - end);
    if (op_tensor_count(&rest)) {
        op_chain_fill(chain, &rest, 0);
    }
}

static leo_status each_sequence(struct op_chain *chain, struct packed *p,
                                const struct wide_gradients *g)
{
    struct sequence s = {0};
    leo_status status = LEO_OK;
    for (uint64_t i = 0; status == LEO_OK && i < p->q_ends->count; i++) {
        s.number = i;
        s.queries = p->q_ends->items[i] - s.q_begin;
        s.keys = p->k_ends->items[i] - s.k_begin;
        const uint64_t mark = op_plan_temp_mark(chain->plan);
        status = p->backward ? backward_one(chain, p, &s, g) : forward_one(chain, p, &s);
        op_plan_temp_release(chain->plan, mark);
        p->bits += (uint64_t)(p->heads * s.queries * s.keys);
        s.q_begin = p->q_ends->items[i];
        s.k_begin = p->k_ends->items[i];
    }
    return status;
}

static int64_t last_of(const struct op_ints *ends)
{
    return ends->items[ends->count - 1];
}

static leo_status plan_forward(struct op_chain *chain, struct packed *p)
{
    const struct op_call *call = chain->call;
    const int64_t shape[] = {p->q->dim[0], p->heads, p->v->dim[2]};
    leo_status status = op_call_check_shape(call, "attentionOutOut", 3, shape);
    if (status == LEO_OK) {
        status = each_sequence(chain, p, NULL);
    }
    if (status == LEO_OK) {
        fill_rest(chain, op_call_tensor(call, "attentionOutOut"), last_of(p->q_ends));
    }
    return status == LEO_OK ? chain->status : status;
}

static leo_status check_gradients(const struct op_call *call, const struct packed *p)
{
    const int64_t shape[] = {p->q->dim[0], p->heads, p->v->dim[2]};
    leo_status status = op_call_check_shape(call, "dy", 3, shape);
    if (status == LEO_OK && !op_call_tensor(call, "attentionInOptional")) {
        status = op_call_fail(call, LEO_ERR_BAD_POINTER, "attentionInOptional is NULL");
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "attentionInOptional", 3, shape);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "dqOut", 3, p->q->dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "dkOut", 3, p->k->dim);
    }
    if (status == LEO_OK && p->rope) {
        status = op_call_check_shape(call, "dqRopeOut", 3, op_call_tensor(call, "queryRope")->dim);
    }
    if (status == LEO_OK && p->rope) {
        status = op_call_check_shape(call, "dkRopeOut", 3, op_call_tensor(call, "keyInRope")->dim);
    }
    return status == LEO_OK ? op_call_check_shape(call, "dvOut", 3, p->v->dim) : status;
}

// The gradient of joined features and rotary part, apart.
static void part_rope(struct op_chain *chain, const struct op_tensor *wide,
                      const struct op_tensor *features, const struct op_tensor *rope)
{
    const struct op_tensor first = op_view_slice(wide, 2, 0, features->dim[2]),
                           second = op_view_slice(wide, 2, features->dim[2], rope->dim[2]);
    op_chain_copy(chain, features, &first);
    op_chain_copy(chain, rope, &second);
}

static leo_status plan_backward(struct op_chain *chain, struct packed *p)
{
    const struct op_call *call = chain->call;
    leo_status status = check_gradients(call, p);
    if (status == LEO_OK && p->sink) {
        status = op_attention_begin_sink_gradient(chain, p->sink);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor *dq = op_call_tensor(call, "dqOut"), *dk = op_call_tensor(call, "dkOut");
    const struct wide_gradients g = {
        p->rope ? op_chain_temp_like(chain, dq->type, &p->wide_q) : *dq,
        p->rope ? op_chain_temp_like(chain, dk->type, &p->wide_k) : *dk,
    };
    status = each_sequence(chain, p, &g);
    if (status != LEO_OK) {
        return status;
    }
    fill_rest(chain, &g.dq, last_of(p->q_ends));
    fill_rest(chain, &g.dk, last_of(p->k_ends));
    fill_rest(chain, op_call_tensor(call, "dvOut"), last_of(p->k_ends));
    if (p->rope) {
        part_rope(chain, &g.dq, dq, op_call_tensor(call, "dqRopeOut"));
        part_rope(chain, &g.dk, dk, op_call_tensor(call, "dkRopeOut"));
    }
    return chain->status;
}

leo_status op_plan_attention_packed(const struct op_call *call)
{
    struct packed p;
    struct op_chain chain = op_chain_begin(call);
    leo_status status = take(call, &p);
    if (status == LEO_OK) {
        status = op_attention_take_shift(&chain, &p.shift);
    }
    if (status == LEO_OK) {
        status = join_ropes(&chain, &p);
    }
    if (status == LEO_OK) {
        status = op_attention_take_sink(call, &p.sink);
    }
    if (status != LEO_OK) {
        return status;
    }
    return p.backward ? plan_backward(&chain, &p) : plan_forward(&chain, &p);
}
