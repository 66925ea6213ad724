/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention and its gradient. Tensors are seen as [batch, key heads, queries' heads of each,
 * length, features], whatever the layout. The scores of a part of the batch are in memory at a
 * time.
 */
#include "attention_fused.h"

#include <inttypes.h>
#include <string.h>

enum {
    COPIES = 8, /**< how often softmaxMax and softmaxSum hold each number */
};
static const int64_t part_bytes = INT64_C(256) << 20; /* scores of a part, f32 */

/* ---- what the call says ---- */

// Any layout as [batch, heads, length, features]; `heads` is known for layouts that join them with
// features, else 0.
static leo_status take_layout(const struct op_call *call, const char *name, int64_t heads,
                              int64_t features, struct op_tensor *out)
{
    const struct op_tensor *t = op_call_tensor(call, name);
    const char *layout = op_call_value(call, "inputLayout")->text;
    const bool joined = strcmp(layout, "BSH") == 0 || strcmp(layout, "SBH") == 0;
    if (!joined && strcmp(layout, "BNSD") != 0 && strcmp(layout, "BSND") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "inputLayout %s: BNSD, BSND, BSH and SBH are possible", layout);
    }
    if (t->rank != (joined ? 3 : 4)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s of shape %s is not in layout %s", name,
                            op_tensor_shape_text(t).text, layout);
    }
    *out = *t;
    if (joined) {
        struct op_tensor seen = layout[0] == 'S' ? op_view_swap(t, 0, 1) : *t;
        const int64_t count = heads ? heads : features ? seen.dim[2] / features : 0;
        if (count <= 0 || seen.dim[2] % count || (features && seen.dim[2] != count * features)) {
            return op_call_fail(call, LEO_ERR_SHAPE, "%s of shape %s does not hold whole heads",
                                name, op_tensor_shape_text(t).text);
        }
        seen.rank = 4;
        seen.dim[3] = seen.dim[2] / count;
        seen.stride[3] = seen.stride[2];
        seen.dim[2] = count;
        seen.stride[2] *= seen.dim[3];
        *out = seen;
    }
    if (joined || strcmp(layout, "BSND") == 0) {
        *out = op_view_swap(out, 1, 2);
    }
    return LEO_OK;
}

leo_status op_attention_by_heads(const struct op_call *call, const char *name,
                                 struct op_tensor *out)
{
    return take_layout(call, name, op_call_int(call, "headNum"), 0, out);
}

// [B, heads * groups, S, D] as [B, heads, groups, S, D].
static struct op_tensor group_heads(const struct op_tensor *t, int64_t heads)
{
    struct op_tensor seen = op_view_insert(t, 2);
    seen.dim[2] = t->dim[1] / heads;
    seen.stride[2] = t->stride[1];
    seen.dim[1] = heads;
    seen.stride[1] *= seen.dim[2];
    return seen;
}

static leo_status check_shapes(const struct op_call *call, const struct attention *a,
                               const struct op_tensor *q, const struct op_tensor *k,
                               const struct op_tensor *v)
{
    if (k->dim[0] != q->dim[0] || v->dim[0] != q->dim[0] || k->dim[1] != v->dim[1] ||
        k->dim[2] != v->dim[2] || k->dim[3] != q->dim[3] || k->dim[1] <= 0 ||
        q->dim[1] % k->dim[1] || q->dim[1] != op_call_int(call, "headNum") ||
        op_tensor_count(q) == 0 || op_tensor_count(k) == 0 || op_tensor_count(v) == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "query, key and value are %s, %s and %s [batch, heads, length, "
                            "features] with headNum %" PRId64 ": they do not fit",
                            op_tensor_shape_text(q).text, op_tensor_shape_text(k).text,
                            op_tensor_shape_text(v).text, op_call_int(call, "headNum"));
    }
    if (!(a->keep > 0 && a->keep <= 1)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "keepProb is %g: it must be in (0, 1]",
                            a->keep);
    }
    return LEO_OK;
}

// Which keys a query sees: a mask tensor, or a band (column - row in [low, high]).
static leo_status take_mask(const struct op_call *call, struct attention *a)
{
    const struct op_tensor *mask = op_call_tensor(call, "attenMaskOptional");
    const int64_t mode = op_call_int(call, "sparseMode"), right = a->keys - a->queries;
    const struct op_ints *prefix = op_call_ints(call, "prefixOptional");
    if (mode < 0 || mode > 4 || (prefix && prefix->count)) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "sparseMode %" PRId64
                            " with%s a prefix: modes 0 to 4 without are possible",
                            mode, prefix && prefix->count ? "" : "out");
    }
    a->low = INT32_MIN;
    a->banded = mode >= 2;
    a->high = mode == 2 ? 0 : right;
    if (mode == 4) {
        a->low = right - op_call_int(call, "preTokens");
        a->high = right + op_call_int(call, "nextTokens");
    }
    if (a->banded || !mask) {
        return LEO_OK;
    }
    const int64_t shape[] = {a->batch, op_attention_heads(a), a->queries, a->keys};
    if (!op_tensor_broadcast(mask, 4, shape, &a->mask)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "attenMask of shape %s does not broadcast to %s",
                            op_tensor_shape_text(mask).text, op_shape_text(4, shape).text);
    }
    return LEO_OK;
}

static leo_status take_others(const struct op_call *call, const char *shift_name,
                              struct attention *a)
{
    const struct op_tensor *shift = op_call_tensor(call, shift_name),
                           *drop = op_call_tensor(call, "dropMaskOptional"),
                           *padding = op_call_tensor(call, "paddingMaskOptional");
    const int64_t shape[] = {a->batch, op_attention_heads(a), a->queries, a->keys};
    if (padding && op_tensor_count(padding)) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "paddingMask must be NULL");
    }
    if (shift && op_tensor_count(shift) && !op_tensor_broadcast(shift, 4, shape, &a->shift)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s of shape %s does not broadcast to %s",
                            shift_name, op_tensor_shape_text(shift).text,
                            op_shape_text(4, shape).text);
    }
    if (a->keep == 1) {
        return LEO_OK;
    }
    const int64_t bits = a->batch * op_attention_heads(a) * a->queries * a->keys;
    if (!drop || op_tensor_count(drop) * 8 < bits || !op_tensor_is_dense(drop)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "keepProb is %g, but dropMask has no %" PRId64 " bits", a->keep, bits);
    }
    a->drop = *drop;
    return LEO_OK;
}

static leo_status take(const struct op_call *call, const char *key, const char *shift,
                       struct attention *a)
{
    struct op_tensor q, k, v;
    *a = (struct attention){.scale = op_call_real(call, "scaleValue"),
                            .keep = op_call_real(call, "keepProb")};
    leo_status status = take_layout(call, "query", op_call_int(call, "headNum"), 0, &q);
    if (status == LEO_OK) {
        status = take_layout(call, key, 0, q.dim[3], &k);
    }
    if (status == LEO_OK) {
        status = take_layout(call, "value", k.dim[1], 0, &v);
    }
    if (status == LEO_OK) {
        status = check_shapes(call, a, &q, &k, &v);
    }
    if (status != LEO_OK) {
        return status;
    }
    a->batch = q.dim[0];
    a->heads = k.dim[1];
    a->groups = q.dim[1] / a->heads;
    a->queries = q.dim[2];
    a->keys = k.dim[2];
    a->q = group_heads(&q, a->heads);
    a->k = group_heads(&k, a->heads);
    a->v = group_heads(&v, a->heads);
    status = take_mask(call, a);
    return status == LEO_OK ? take_others(call, shift, a) : status;
}

/* ---- parts of the batch ---- */

// How many members of the batch at a time; bits of the dropout mask begin at whole bytes.
static int64_t part_of(const struct attention *a)
{
    const int64_t one = op_attention_heads(a) * a->queries * a->keys;
    int64_t members = part_bytes / (one * 4);
    members = members < 1 ? 1 : members;
    return members >= a->batch || (a->drop.rank && one % 8) ? a->batch : members;
}

// Something as large as the scores stands in memory, or may.
static bool has_plane(const struct attention *a)
{
    return a->mask.rank || a->shift.rank || a->drop.rank;
}

static struct op_tensor part(const struct op_tensor *t, int64_t begin, int64_t count)
{
    return t->rank ? op_view_slice(t, 0, begin, count) : *t;
}

// The tensors of a call from a member of the batch on, or from a head of keys on.
static struct attention part_of_heads(const struct attention *a, int64_t begin, int64_t count)
{
    struct attention some = *a;
    some.heads = count;
    some.q = op_view_slice(&a->q, 1, begin, count);
    some.k = op_view_slice(&a->k, 1, begin, count);
    some.v = op_view_slice(&a->v, 1, begin, count);
    if (a->mask.rank) {
        some.mask = op_view_slice(&a->mask, 1, begin * a->groups, count * a->groups);
    }
    if (a->shift.rank) {
        some.shift = op_view_slice(&a->shift, 1, begin * a->groups, count * a->groups);
    }
    return some;
}

static struct attention part_call(const struct attention *a, int64_t begin, int64_t count)
{
    struct attention some = *a;
    some.batch = count;
    some.q = part(&a->q, begin, count);
    some.k = part(&a->k, begin, count);
    some.v = part(&a->v, begin, count);
    some.mask = part(&a->mask, begin, count);
    some.shift = part(&a->shift, begin, count);
    if (a->drop.rank) {
        const int64_t one = op_attention_heads(a) * a->queries * a->keys,
                      bytes[] = {(count * one + 7) / 8};
        some.drop =
            op_tensor_dense(a->drop.addr + (uint64_t)(begin * one / 8), OP_TYPE_U8, 1, bytes);
    }
    return some;
}

static struct op_tensor scores_temp(struct op_chain *chain, const struct attention *a,
                                    enum op_type type)
{
    const int64_t shape[] = {a->batch, a->heads, a->groups, a->queries, a->keys};
    return op_chain_temp(chain, type, ATTENTION_RANK, shape);
}

/* ---- steps ---- */

// 0 where a query sees a key, else a very small number: broadcasts to the scores.
static struct op_tensor bias_of(struct op_chain *chain, const struct attention *a)
{
    const int64_t plane[] = {a->queries, a->keys}, one[] = {1};
    struct op_tensor bias;
    if (a->banded) {
        bias = op_chain_temp(chain, OP_TYPE_F32, 2, plane);
        OP_CHAIN_CALL(chain, "AttentionBand", op_value_int(a->low), op_value_int(a->high),
                      op_value_tensor(&bias));
        return bias;
    }
    if (!a->mask.rank) {
        bias = op_chain_temp(chain, OP_TYPE_F32, 1, one);
        op_chain_fill(chain, &bias, 0);
        return bias;
    }
    // Of the mask's own shape: what repeats is computed once.
    struct op_tensor own = a->mask;
    for (unsigned i = 0; i < own.rank; i++) {
        own.dim[i] = own.stride[i] ? own.dim[i] : 1;
    }
    bias = op_chain_temp_like(chain, OP_TYPE_F32, &own);
    OP_CHAIN_CALL(chain, "AttentionMask", op_value_tensor(&own), op_value_tensor(&bias));
    if (bias.dim[1] == op_attention_heads(a)) {
        return group_heads(&bias, a->heads);
    }
    return op_view_insert(&bias, 1);
}

static void scores(struct op_chain *chain, const struct attention *a, const struct op_tensor *bias,
                   const struct op_tensor *out)
{
    const struct op_tensor turned = op_view_swap(&a->k, 3, 4);
    op_chain_matmul(chain, &a->q, &turned, out);
    if (a->shift.rank) {
        const struct op_tensor shift = group_heads(&a->shift, a->heads);
        OP_CHAIN_CALL(chain, "AttentionShiftedScores", op_value_tensor(out),
                      op_value_tensor(&shift), op_value_tensor(bias), op_value_real(a->scale),
                      op_value_tensor(out));
    } else {
        OP_CHAIN_CALL(chain, "AttentionScores", op_value_tensor(out), op_value_tensor(bias),
                      op_value_real(a->scale), op_value_tensor(out));
    }
}

// Elements that dropout took are 0, the others 1 / keep times as large.
static void drop(struct op_chain *chain, const struct attention *a, const struct op_tensor *weights)
{
    if (a->drop.rank) {
        OP_CHAIN_CALL(chain, "DropoutDoMask", op_value_tensor(weights), op_value_tensor(&a->drop),
                      op_value_real(1 - a->keep), op_value_tensor(weights));
    }
}

// [B, heads * groups, S, 8] seen as [B, heads, groups, S, 1] and as [.., 8] with its numbers
// repeated.
static struct op_tensor column_of(const struct op_tensor *t, const struct attention *a)
{
    const struct op_tensor seen = group_heads(t, a->heads);
    return op_view_slice(&seen, 4, 0, 1);
}

static void put_copies(struct op_chain *chain, const struct attention *a,
                       const struct op_tensor *out, const struct op_tensor *column)
{
    const struct op_tensor to = group_heads(out, a->heads);
    struct op_tensor from = *column;
    from.dim[4] = COPIES;
    from.stride[4] = 0;
    op_chain_copy(chain, &to, &from);
}

static void forward(struct op_chain *chain, const struct attention *a,
                    const struct op_tensor *max_out, const struct op_tensor *sum_out,
                    const struct op_tensor *out)
{
    const int64_t shape[] = {a->batch, a->heads, a->groups, a->queries, 1}, last[] = {4};
    const struct op_ints over = {last, 1};
    const struct op_tensor bias = bias_of(chain, a), score = scores_temp(chain, a, OP_TYPE_F32),
                           max = op_chain_temp(chain, OP_TYPE_F32, ATTENTION_RANK, shape),
                           sum = op_chain_temp(chain, OP_TYPE_F32, ATTENTION_RANK, shape);
    scores(chain, a, &bias, &score);
    OP_CHAIN_CALL(chain, "Amax", op_value_tensor(&score), op_value_ints(&over), op_value_int(1),
                  op_value_tensor(&max));
    OP_CHAIN_CALL(chain, "AttentionPowers", op_value_tensor(&score), op_value_tensor(&max),
                  op_value_tensor(&score));
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&score), op_value_ints(&over),
                  op_value_int(1), op_value_type(OP_TYPE_F32), op_value_tensor(&sum));
    put_copies(chain, a, max_out, &max);
    put_copies(chain, a, sum_out, &sum);
    const struct op_tensor weight =
        a->v.type == OP_TYPE_F32 ? score : scores_temp(chain, a, a->v.type);
    OP_CHAIN_CALL(chain, "Div", op_value_tensor(&score), op_value_tensor(&sum),
                  op_value_tensor(&weight));
    drop(chain, a, &weight);
    op_chain_matmul(chain, &weight, &a->v, out);
}

// out = a' b, summed over the queries' heads of a key head.
static void transposed_product(struct op_chain *chain, const struct op_tensor *a,
                               const struct op_tensor *b, const struct op_tensor *out)
{
    const struct op_tensor turned = op_view_swap(a, 3, 4);
    if (a->dim[2] == 1) {
        op_chain_matmul(chain, &turned, b, out);
        return;
    }
    const int64_t shape[] = {out->dim[0], out->dim[1], a->dim[2], out->dim[3], out->dim[4]};
    const struct op_tensor each = op_chain_temp(chain, OP_TYPE_F32, ATTENTION_RANK, shape),
                           to = op_view_select(out, 2, 0);
    op_chain_matmul(chain, &turned, b, &each);
    op_chain_sum(chain, &each, 2, &to);
}

struct gradients {
    struct op_tensor dy, out, max, sum, dq, dk, dv;
};

// mean of the weights' gradient under the softmax: that of dy * out.
static struct op_tensor mean_of(struct op_chain *chain, const struct attention *a,
                                const struct gradients *g)
{
    const int64_t shape[] = {a->batch, a->heads, a->groups, a->queries, 1}, last[] = {4};
    const struct op_ints over = {last, 1};
    const struct op_tensor mean = op_chain_temp(chain, OP_TYPE_F32, ATTENTION_RANK, shape),
                           both = op_chain_temp_like(chain, OP_TYPE_F32, &g->dy);
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&g->dy), op_value_tensor(&g->out),
                  op_value_tensor(&both));
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&both), op_value_ints(&over), op_value_int(1),
                  op_value_type(OP_TYPE_F32), op_value_tensor(&mean));
    return mean;
}

// slopes: gradient of the products q k'.
static void end_backward(struct op_chain *chain, const struct attention *a,
                         const struct gradients *g, const struct op_tensor *slopes)
{
    op_chain_matmul(chain, slopes, &a->k, &g->dq);
    transposed_product(chain, slopes, &a->q, &g->dk);
}

static void backward(struct op_chain *chain, const struct attention *a, const struct gradients *g)
{
    const struct op_tensor bias = bias_of(chain, a), weight = scores_temp(chain, a, OP_TYPE_F32),
                           dweight = scores_temp(chain, a, OP_TYPE_F32),
                           turned_v = op_view_swap(&a->v, 3, 4), max = column_of(&g->max, a),
                           sum = column_of(&g->sum, a), mean = mean_of(chain, a, g),
                           narrow = a->v.type == OP_TYPE_F32 ? dweight
                                                             : scores_temp(chain, a, a->v.type);
    scores(chain, a, &bias, &weight);
    OP_CHAIN_CALL(chain, "AttentionWeights", op_value_tensor(&weight), op_value_tensor(&max),
                  op_value_tensor(&sum), op_value_tensor(&weight));
    // dv = dropped weights' dy
    op_chain_copy(chain, &narrow, &weight);
    drop(chain, a, &narrow);
    transposed_product(chain, &narrow, &g->dy, &g->dv);
    op_chain_matmul(chain, &g->dy, &turned_v, &dweight);
    drop(chain, a, &dweight);
    OP_CHAIN_CALL(chain, "AttentionScoreGrad", op_value_tensor(&weight), op_value_tensor(&dweight),
                  op_value_tensor(&mean), op_value_real(a->scale), op_value_tensor(&narrow));
    end_backward(chain, a, g, &narrow);
}

static void backward_fused(struct op_chain *chain, const struct attention *a,
                           const struct gradients *g)
{
    const struct op_tensor mean = mean_of(chain, a, g), weights = scores_temp(chain, a, a->q.type),
                           slopes = scores_temp(chain, a, a->q.type);
    op_attention_fused_slopes(chain, a, &g->max, &g->sum, &g->dy, &mean, &weights, &slopes);
    transposed_product(chain, &weights, &g->dy, &g->dv);
    end_backward(chain, a, g, &slopes);
}

/* ---- the operators ---- */

static leo_status check_column(const struct op_call *call, const struct attention *a,
                               const char *name)
{
    const int64_t shape[] = {a->batch, op_attention_heads(a), a->queries, COPIES};
    if (!op_call_tensor(call, name)) {
        return op_call_fail(call, LEO_ERR_BAD_POINTER, "%s is NULL", name);
    }
    return op_call_check_shape(call, name, 4, shape);
}

// A tensor of the call in the call's layout, which must have the shape of `like`.
static leo_status take_alike(const struct op_call *call, const char *name,
                             const struct op_tensor *like, struct op_tensor *out)
{
    struct op_tensor seen;
    if (!op_call_tensor(call, name)) {
        return op_call_fail(call, LEO_ERR_BAD_POINTER, "%s is NULL", name);
    }
    leo_status status = take_layout(call, name, like->dim[1] * like->dim[2], 0, &seen);
    if (status != LEO_OK) {
        return status;
    }
    if (seen.dim[1] != like->dim[1] * like->dim[2]) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s has %" PRId64 " heads, it must have %" PRId64,
                            name, seen.dim[1], like->dim[1] * like->dim[2]);
    }
    *out = group_heads(&seen, like->dim[1]);
    return op_tensor_same_shape(out, like)
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s", name,
                              op_tensor_shape_text(op_call_tensor(call, name)).text);
}

static leo_status plan_forward(const struct op_call *call)
{
    struct attention all;
    struct op_tensor out;
    leo_status status = take(call, "key", "realShiftOptional", &all);
    if (status != LEO_OK) {
        return status;
    }
    struct op_tensor like = all.q;
    like.dim[4] = all.v.dim[4];
    status = take_alike(call, "attentionOutOut", &like, &out);
    if (status == LEO_OK) {
        status = check_column(call, &all, "softmaxMaxOut");
    }
    if (status == LEO_OK) {
        status = check_column(call, &all, "softmaxSumOut");
    }
    struct op_chain chain = op_chain_begin(call);
    chain.status = status;
    const bool fused =
        status == LEO_OK && op_attention_can_fuse(&all, op_call_tensor(call, "softmaxMaxOut"),
                                                  op_call_tensor(call, "softmaxSumOut"), &out);
    const int64_t members = status != LEO_OK            ? 1
                            : fused && !has_plane(&all) ? all.batch
                                                        : part_of(&all);
    for (int64_t begin = 0; chain.status == LEO_OK && begin < all.batch; begin += members) {
        const int64_t count = begin + members < all.batch ? members : all.batch - begin;
        const struct attention some = part_call(&all, begin, count);
        const struct op_tensor max = part(op_call_tensor(call, "softmaxMaxOut"), begin, count),
                               sum = part(op_call_tensor(call, "softmaxSumOut"), begin, count),
                               to = part(&out, begin, count);
        const uint64_t mark = op_plan_temp_mark(call->plan);
        if (fused) {
            op_attention_fused(&chain, &some, &max, &sum, &to);
        } else {
            forward(&chain, &some, &max, &sum, &to);
        }
        op_plan_temp_release(call->plan, mark);
    }
    return chain.status;
}

static struct gradients part_of_gradients(const struct gradients *g, int64_t begin, int64_t count)
{
    return (struct gradients){
        part(&g->dy, begin, count),  part(&g->out, begin, count), part(&g->max, begin, count),
        part(&g->sum, begin, count), part(&g->dq, begin, count),  part(&g->dk, begin, count),
        part(&g->dv, begin, count),
    };
}

// Some heads of one member of the batch at a time: weights and slopes of 16 bits stay in the L2.
static void run_heads(struct op_chain *chain, const struct attention *a, const struct gradients *g)
{
    const int64_t one = a->groups * a->queries * a->keys * 2 * 2,
                  most = (int64_t)op_plan_caps(chain->plan)->l2_bytes / 4 * 3 / one,
                  heads = most < 1 ? 1 : most;
    for (int64_t begin = 0; chain->status == LEO_OK && begin < a->heads; begin += heads) {
        const int64_t count = begin + heads < a->heads ? heads : a->heads - begin,
                      n = a->groups * count, first = a->groups * begin;
        const struct attention some = part_of_heads(a, begin, count);
        const struct gradients here = {
            op_view_slice(&g->dy, 1, begin, count), op_view_slice(&g->out, 1, begin, count),
            op_view_slice(&g->max, 1, first, n),    op_view_slice(&g->sum, 1, first, n),
            op_view_slice(&g->dq, 1, begin, count), op_view_slice(&g->dk, 1, begin, count),
            op_view_slice(&g->dv, 1, begin, count),
        };
        const uint64_t mark = op_plan_temp_mark(chain->plan);
        backward_fused(chain, &some, &here);
        op_plan_temp_release(chain->plan, mark);
    }
}

static void run_parts(struct op_chain *chain, const struct attention *all,
                      const struct gradients *g)
{
    const bool fused = op_attention_can_fuse(all, &g->max, &g->sum, &g->dy);
    const int64_t bytes = op_attention_heads(all) * all->queries * all->keys * 2 * 2,
                  most = (int64_t)op_plan_caps(chain->plan)->l2_bytes / 4 * 3 / bytes;
    const int64_t members = !fused              ? part_of(all)
                            : most < 1          ? 1
                            : most < all->batch ? most
                                                : all->batch;
    for (int64_t begin = 0; chain->status == LEO_OK && begin < all->batch; begin += members) {
        const int64_t count = begin + members < all->batch ? members : all->batch - begin;
        const struct attention some = part_call(all, begin, count);
        const struct gradients here = part_of_gradients(g, begin, count);
        const uint64_t mark = op_plan_temp_mark(chain->plan);
        if (fused && members == 1) {
            run_heads(chain, &some, &here);
        } else if (fused) {
            backward_fused(chain, &some, &here);
        } else {
            backward(chain, &some, &here);
        }
        op_plan_temp_release(chain->plan, mark);
    }
}

static leo_status plan_backward(const struct op_call *call)
{
    struct attention all;
    struct gradients g;
    leo_status status = take(call, "keyIn", "pseShiftOptional", &all);
    if (status != LEO_OK) {
        return status;
    }
    struct op_tensor like = all.q;
    like.dim[4] = all.v.dim[4];
    const struct {
        const char *name;
        const struct op_tensor *like;
        struct op_tensor *out;
    } tensors[] = {{"dy", &like, &g.dy},
                   {"attentionInOptional", &like, &g.out},
                   {"dqOut", &all.q, &g.dq},
                   {"dkOut", &all.k, &g.dk},
                   {"dvOut", &all.v, &g.dv}};
    for (unsigned i = 0; status == LEO_OK && i < sizeof(tensors) / sizeof(tensors[0]); i++) {
        status = take_alike(call, tensors[i].name, tensors[i].like, tensors[i].out);
    }
    if (status == LEO_OK) {
        status = check_column(call, &all, "softmaxMaxOptional");
    }
    if (status == LEO_OK) {
        status = check_column(call, &all, "softmaxSumOptional");
    }
    const struct op_tensor *dpse = op_call_tensor(call, "dpseOut");
    if (status == LEO_OK && dpse && op_tensor_count(dpse)) {
        status = op_call_fail(call, LEO_ERR_UNSUPPORTED,
                              "dpse of shape %s: the gradient of pseShift is not computed",
                              op_tensor_shape_text(dpse).text);
    }
    struct op_chain chain = op_chain_begin(call);
    chain.status = status;
    if (status == LEO_OK) {
        g.max = *op_call_tensor(call, "softmaxMaxOptional");
        g.sum = *op_call_tensor(call, "softmaxSumOptional");
        run_parts(&chain, &all, &g);
    }
    return chain.status;
}

leo_status op_plan_attention(const struct op_call *call)
{
    return op_call_has(call, "dy") ? plan_backward(call) : plan_forward(call);
}
