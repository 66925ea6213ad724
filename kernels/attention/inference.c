/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention of inference. Sequences of one length are one call of FlashAttentionScore; else each is
 * one, on views of its tensors. Keys and values in pages are joined before.
 */
#include "inference.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COPIES = 8 /**< how often FlashAttentionScore gives each number of a row */ };

/* One sequence, or all: [batch, heads, length, features]. */
struct part {
    struct op_tensor query, key, value, out, lse; /* lse: [batch, heads, length, 1] */
    int64_t index;                                /* of the sequence */
};

static leo_status fail_part(const struct op_call *call, const char *what,
                            const struct op_tensor *tensor, int64_t index, int64_t length)
{
    return op_call_fail(call, LEO_ERR_SHAPE,
                        "sequence %" PRId64 " of length %" PRId64 " does not lie in %s of shape %s",
                        index, length, what, op_tensor_shape_text(tensor).text);
}

// Sequence `index` of [batch, heads, length, features], or all of them for index -1.
static leo_status cut(const struct op_call *call, const struct op_infer *infer, const char *what,
                      const struct op_tensor *tensor, const struct op_ints *ends, int64_t index,
                      struct op_tensor *out)
{
    int64_t begin;
    *out = *tensor;
    if (index < 0) {
        return LEO_OK;
    }
    const int64_t length = op_infer_length(infer, ends, index, tensor->dim[2], &begin);
    if (length < 0 || begin < 0 || begin > tensor->dim[2] - length) {
        return fail_part(call, what, tensor, index, length);
    }
    if (infer->layout != OP_INFER_TND && tensor->dim[0] > 1) {
        *out = op_view_slice(tensor, 0, index, 1);
    }
    *out = op_view_slice(out, 2, begin, length);
    return LEO_OK;
}

/* ---- keys and values ---- */

// Pages as [pages, heads, page, features], as they lie: [pages, page, all features] or as named.
static bool view_pages(const struct op_infer *infer, const struct op_tensor *pages,
                       struct op_tensor *out)
{
    if (pages->rank == 3) {
        return pages->dim[1] == infer->page &&
               op_infer_view(pages, OP_INFER_BSH, infer->key_heads, out);
    }
    *out = *pages;
    if (pages->rank == 4 && pages->dim[1] != infer->key_heads) {
        *out = op_view_swap(pages, 1, 2);
    }
    return pages->rank == 4 && out->dim[1] == infer->key_heads && out->dim[2] == infer->page;
}

// The pages of a sequence one after the other: [1, heads, length, features].
static leo_status join_pages(struct op_chain *chain, const struct op_infer *infer, const char *what,
                             const struct op_tensor *pages, int64_t index, struct op_tensor *out)
{
    int64_t begin;
    const struct op_tensor row = op_view_select(infer->table, 0, index);
    const int64_t length = op_infer_length(infer, infer->key_ends, index, 0, &begin),
                  count = (length + infer->page - 1) / infer->page;
    struct op_tensor seen;
    if (!view_pages(infer, pages, &seen) || length < 0 || count > row.dim[0]) {
        return fail_part(chain->call, what, pages, index, length);
    }
    const struct op_tensor numbers = op_view_slice(&row, 0, 0, count),
                           list = op_chain_dense(chain, row.type, &numbers);
    struct op_tensor like = *pages;
    like.dim[0] = count;
    const struct op_tensor taken = op_chain_temp_like(chain, pages->type, &like);
    if (count > 0) {
        OP_CHAIN_CALL(chain, "IndexSelect", op_value_tensor(pages), op_value_int(0),
                      op_value_tensor(&list), op_value_tensor(&taken));
    }
    view_pages(infer, &taken, &seen); // [count, heads, page, features]
    const int64_t shape[] = {1, seen.dim[1], count * infer->page, seen.dim[3]},
                  wide[] = {seen.dim[1], count, infer->page, seen.dim[3]};
    const struct op_tensor joined = op_chain_temp(chain, pages->type, 4, shape),
                           to = op_view_shape(&joined, 4, wide), from = op_view_swap(&seen, 0, 1);
    op_chain_copy(chain, &to, &from);
    *out = op_view_slice(&joined, 2, 0, length);
    return chain->status;
}

static leo_status take_keys(struct op_chain *chain, const struct op_infer *infer, const char *what,
                            const struct op_tensor *given, int64_t index, struct op_tensor *out)
{
    struct op_tensor seen;
    if (infer->table) {
        return join_pages(chain, infer, what, given, index, out);
    }
    if (!op_infer_view(given, infer->layout, infer->key_heads, &seen)) {
        return op_call_fail(chain->call, LEO_ERR_SHAPE,
                            "%s of shape %s does not hold %" PRId64 " heads", what,
                            op_tensor_shape_text(given).text, infer->key_heads);
    }
    if (infer->layout != OP_INFER_TND && seen.dim[0] != infer->batch && seen.dim[0] != 1) {
        return fail_part(chain->call, what, given, infer->batch, seen.dim[2]);
    }
    return cut(chain->call, infer, what, &seen, infer->key_ends, index, out);
}

static const struct op_tensor *key_of(const struct op_infer *infer, int64_t index, bool value)
{
    const struct op_tensor_list *list = value ? &infer->value : &infer->key;
    if (infer->one_key) {
        return value ? infer->one_value : infer->one_key;
    }
    return list->items[list->count == 1 || index < 0 ? 0 : index];
}

struct op_tensor op_infer_join_rope(struct op_chain *chain, const struct op_tensor *a,
                                    const struct op_tensor *rope)
{
    struct op_tensor like = *a;
    like.dim[3] = a->dim[3] + rope->dim[3];
    const struct op_tensor out = op_chain_temp_like(chain, a->type, &like),
                           first = op_view_slice(&out, 3, 0, a->dim[3]),
                           second = op_view_slice(&out, 3, a->dim[3], rope->dim[3]);
    op_chain_copy(chain, &first, a);
    op_chain_copy(chain, &second, rope);
    return out;
}

static leo_status add_ropes(struct op_chain *chain, const struct op_infer *infer, int64_t index,
                            struct part *part)
{
    struct op_tensor seen, query, key;
    if (!op_infer_view(infer->query_rope, infer->layout, infer->heads, &seen)) {
        return op_call_fail(chain->call, LEO_ERR_SHAPE, "queryRope of shape %s",
                            op_tensor_shape_text(infer->query_rope).text);
    }
    leo_status status =
        cut(chain->call, infer, "queryRope", &seen, infer->query_ends, index, &query);
    if (status == LEO_OK) {
        status = take_keys(chain, infer, "keyRope", infer->key_rope, index, &key);
    }
    if (status == LEO_OK && (query.dim[2] != part->query.dim[2] || key.dim[2] != part->key.dim[2] ||
                             query.dim[0] != part->query.dim[0] || key.dim[0] != part->key.dim[0] ||
                             query.dim[3] != key.dim[3])) {
        status = op_call_fail(chain->call, LEO_ERR_SHAPE, "queryRope %s and keyRope %s do not fit",
                              op_tensor_shape_text(infer->query_rope).text,
                              op_tensor_shape_text(infer->key_rope).text);
    }
    if (status == LEO_OK) {
        part->query = op_infer_join_rope(chain, &part->query, &query);
        part->key = op_infer_join_rope(chain, &part->key, &key);
        status = chain->status;
    }
    return status;
}

/* ---- one call ---- */

// A mask or shift as [batch or 1, heads or 1, queries, keys], cut to a part. Of two dimensions the
// first is the batch if there is one query a sequence.
static leo_status take_plane(const struct op_call *call, const struct op_infer *infer,
                             const char *what, const struct op_tensor *given,
                             const struct part *part, struct op_tensor *out)
{
    struct op_tensor plane = *given;
    if (plane.rank == 2) {
        plane = op_view_insert(&plane, infer->queries == 1 ? 1 : 0);
    }
    if (plane.rank == 3) {
        plane = op_view_insert(&plane, 1);
    }
    const int64_t queries = part->query.dim[2], keys = part->key.dim[2],
                  index = part->index > 0 && plane.dim[0] > 1 ? part->index : 0;
    if (plane.rank != 4 || plane.dim[2] < queries || plane.dim[3] < keys ||
        (plane.dim[0] != 1 && plane.dim[0] != infer->batch) ||
        (plane.dim[1] != 1 && plane.dim[1] != infer->heads)) {
        return fail_part(call, what, given, part->index, keys);
    }
    if (part->index >= 0) {
        plane = op_view_slice(&plane, 0, index, 1);
    }
    plane = op_view_slice(&plane, 2, 0, queries);
    *out = op_view_slice(&plane, 3, 0, keys);
    return LEO_OK;
}

static void call_attention(struct op_chain *chain, const struct op_infer *infer,
                           const struct part *part, const struct op_tensor *mask,
                           const struct op_tensor *shift, const struct op_tensor *max,
                           const struct op_tensor *sum)
{
    const struct op_value none = op_value_tensor(NULL),
                          layout = {.kind = OP_KIND_TEXT, .text = "BNSD"};
    OP_CHAIN_CALL(chain, "FlashAttentionScore", op_value_tensor(&part->query),
                  op_value_tensor(&part->key), op_value_tensor(&part->value),
                  op_value_tensor(shift), none, none, op_value_tensor(mask), op_value_ints(NULL),
                  op_value_real(infer->scale), op_value_real(1), op_value_int(infer->before),
                  op_value_int(infer->after), op_value_int(infer->heads), layout, op_value_int(0),
                  op_value_int(infer->sparse), op_value_tensor(max), op_value_tensor(sum), none,
                  op_value_tensor(&part->out));
}

static void give_lse(struct op_chain *chain, const struct part *part, const struct op_tensor *max,
                     const struct op_tensor *sum)
{
    const struct op_tensor a = op_view_slice(max, 3, 0, 1), b = op_view_slice(sum, 3, 0, 1);
    OP_CHAIN_CALL(chain, "AttentionLse", op_value_tensor(&a), op_value_tensor(&b),
                  op_value_tensor(&part->lse));
}

static void run(struct op_chain *chain, const struct op_infer *infer, const struct part *part,
                const struct op_tensor *mask, const struct op_tensor *shift)
{
    const int64_t shape[] = {part->query.dim[0], infer->heads, part->query.dim[2], COPIES};
    const struct op_tensor max = op_chain_temp(chain, OP_TYPE_F32, 4, shape),
                           sum = op_chain_temp(chain, OP_TYPE_F32, 4, shape);
    call_attention(chain, infer, part, mask, shift, &max, &sum);
    if (infer->rows_may_die && (mask || infer->sparse >= 2)) {
        const struct op_tensor row = op_view_slice(&max, 3, 0, 1);
        OP_CHAIN_CALL(chain, "AttentionAlive", op_value_tensor(&row), op_value_tensor(&part->out),
                      op_value_tensor(&part->out));
    }
    if (infer->lse) {
        give_lse(chain, part, &max, &sum);
    }
}

// Nothing to look at: 0, and the logarithm of a sum that is not there.
static void run_empty(struct op_chain *chain, const struct op_infer *infer, const struct part *part)
{
    op_chain_fill(chain, &part->out, 0);
    if (infer->lse) {
        op_chain_fill(chain, &part->lse, INFINITY);
    }
}

static leo_status run_part(struct op_chain *chain, const struct op_infer *infer,
                           const struct part *part)
{
    struct op_tensor mask, shift;
    const bool masked = infer->mask && infer->sparse < 2;
    leo_status status = LEO_OK;
    if (op_tensor_count(&part->query) == 0) {
        return LEO_OK;
    }
    if (part->key.dim[2] == 0) {
        run_empty(chain, infer, part);
        return chain->status;
    }
    if (masked) {
        status = take_plane(chain->call, infer, "attenMask", infer->mask, part, &mask);
        mask.type = mask.type == OP_TYPE_I8 ? OP_TYPE_U8 : mask.type; // not 0 is not 0
    }
    if (status == LEO_OK && infer->shift) { // FlashAttentionScore scales the shift too
        struct op_tensor plane;
        const struct op_scalar inverse = op_scalar_real(1 / infer->scale);
        status = take_plane(chain->call, infer, "pseShift", infer->shift, part, &plane);
        if (status == LEO_OK) {
            shift = op_chain_temp_like(chain, OP_TYPE_F32, &plane);
            OP_CHAIN_CALL(chain, "Muls", op_value_tensor(&plane), op_value_scalar(&inverse),
                          op_value_tensor(&shift));
        }
    }
    if (status == LEO_OK) {
        run(chain, infer, part, masked ? &mask : NULL, infer->shift ? &shift : NULL);
        status = chain->status;
    }
    return status;
}

static leo_status take_part(struct op_chain *chain, const struct op_infer *infer, int64_t index,
                            struct part *part)
{
    struct op_tensor query, out, lse;
    const struct op_call *call = chain->call;
    part->index = index;
    if (!op_infer_view(infer->query, infer->layout, infer->heads, &query) ||
        !op_infer_view(infer->out, infer->out_layout, infer->heads, &out) ||
        out.dim[0] != query.dim[0] || out.dim[2] != query.dim[2]) {
        return op_call_fail(call, LEO_ERR_SHAPE, "attentionOut of shape %s for query of %s",
                            op_tensor_shape_text(infer->out).text,
                            op_tensor_shape_text(infer->query).text);
    }
    leo_status status = cut(call, infer, "query", &query, infer->query_ends, index, &part->query);
    if (status == LEO_OK) {
        status = cut(call, infer, "attentionOut", &out, infer->query_ends, index, &part->out);
    }
    if (status == LEO_OK && infer->lse) {
        const bool packed = infer->layout == OP_INFER_TND;
        if (!op_infer_view(infer->lse, packed ? OP_INFER_TND : OP_INFER_BNSD, infer->heads, &lse) ||
            lse.dim[0] != query.dim[0] || lse.dim[2] != query.dim[2] || lse.dim[3] != 1) {
            return op_call_fail(call, LEO_ERR_SHAPE, "softmaxLse of shape %s for query of %s",
                                op_tensor_shape_text(infer->lse).text,
                                op_tensor_shape_text(infer->query).text);
        }
        status = cut(call, infer, "softmaxLse", &lse, infer->query_ends, index, &part->lse);
    }
    if (status == LEO_OK) {
        status = take_keys(chain, infer, "key", key_of(infer, index, false), index, &part->key);
    }
    if (status == LEO_OK) {
        status = take_keys(chain, infer, "value", key_of(infer, index, true), index, &part->value);
    }
    return status == LEO_OK && infer->query_rope ? add_ropes(chain, infer, index, part) : status;
}

leo_status op_plan_inference(const struct op_call *call)
{
    struct op_infer infer;
    leo_status status = op_infer_take(call, &infer);
    if (status != LEO_OK) {
        return status;
    }
    const bool together = !infer.query_ends && !infer.key_ends && !infer.table &&
                          infer.layout != OP_INFER_TND && infer.key.count <= 1;
    struct op_chain chain = op_chain_begin(call);
    for (int64_t i = together ? -1 : 0; status == LEO_OK && i < (together ? 0 : infer.batch); i++) {
        struct part part;
        const uint64_t mark = op_plan_temp_mark(call->plan);
        status = take_part(&chain, &infer, i, &part);
        if (status == LEO_OK) {
            status = run_part(&chain, &infer, &part);
        }
        op_plan_temp_release(call->plan, mark);
    }
    return status == LEO_OK ? chain.status : status;
}
