/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over the keys that an index names: FlashAttentionScore under a mask of all others. */
#include "inference.h"
#include "sparse.h"

#include <inttypes.h>

enum { COPIES = 8 /**< how often FlashAttentionScore gives each number of a row */ };

struct scores {
    struct op_sparse sparse;
    struct op_tensor query, key, value, mask;      /* [parts, heads, tokens or keys, width] */
    const struct op_tensor *query_rope, *key_rope; /* NULL: none */
    int64_t heads, width, rope;
};

// [parts, length, heads, width] as [parts, heads, length, width].
static struct op_tensor by_head(const struct op_tensor *tensor)
{
    return op_view_swap(tensor, 1, 2);
}

static leo_status check(const struct op_call *call, const struct scores *s)
{
    const struct op_tensor *query = op_call_tensor(call, "query"),
                           *key = op_call_tensor(call, "key"),
                           *value = op_call_tensor(call, "value"),
                           *rope[] = {s->query_rope, s->key_rope}, *of[] = {query, key};
    bool fits = key->dim[key->rank - 1] == s->width && s->width > 0 &&
                key->dim[key->rank - 2] == 1 && op_tensor_same_shape(key, value) &&
                !s->query_rope == !s->key_rope;
    for (unsigned i = 0; fits && s->query_rope && i < 2; i++) {
        const struct op_tensor *r = rope[i];
        fits = r->rank == of[i]->rank && r->dim[r->rank - 1] == s->rope &&
               op_tensor_count(r) * of[i]->dim[r->rank - 1] == op_tensor_count(of[i]) * s->rope;
    }
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "query %s, key %s and value %s do not fit: one head of keys and "
                               "values of one shape, and ropes of both queries and keys or of none",
                               op_tensor_shape_text(query).text, op_tensor_shape_text(key).text,
                               op_tensor_shape_text(value).text);
}

static leo_status take_mask(struct op_chain *chain, struct scores *s)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *indices = op_call_tensor(call, "sparse_indices");
    const int64_t rows = s->sparse.parts * s->sparse.tokens,
                  count = rows ? op_tensor_count(indices) / rows : 0, shape[] = {rows, count},
                  size = op_call_int(call, "sparse_block_size");
    if (count == 0 || op_tensor_count(indices) != rows * count || size < 1) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "sparse_indices of shape %s for %" PRId64
                            " tokens, in blocks of %" PRId64 " keys",
                            op_tensor_shape_text(indices).text, rows, size);
    }
    const struct op_tensor dense = op_chain_dense(chain, indices->type, indices),
                           list = op_view_shape(&dense, 2, shape);
    s->mask = op_sparse_mask(chain, &s->sparse, &list, size);
    return chain->status;
}

static leo_status take(struct op_chain *chain, const struct op_sparse_names *names,
                       const char *query_rope, const char *key_rope, struct scores *s)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *query = op_call_tensor(call, "query"),
                           *key = op_call_tensor(call, "key");
    leo_status status = op_sparse_take(chain, names, query, key, &s->sparse);
    if (status != LEO_OK) {
        return status;
    }
    s->heads = query->dim[query->rank - 2];
    s->width = query->dim[query->rank - 1];
    s->query_rope = op_call_given(call, query_rope);
    s->key_rope = op_call_given(call, key_rope);
    s->rope = s->query_rope ? s->query_rope->dim[s->query_rope->rank - 1] : 0;
    status = check(call, s);
    if (status == LEO_OK) {
        status = take_mask(chain, s);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_tensor rows = op_sparse_queries(chain, &s->sparse, query);
    s->query = by_head(&rows);
    rows = op_sparse_keys(chain, &s->sparse, key);
    s->key = by_head(&rows);
    rows = op_sparse_keys(chain, &s->sparse, op_call_tensor(call, "value"));
    s->value = by_head(&rows);
    if (s->query_rope) {
        struct op_tensor rope = op_sparse_queries(chain, &s->sparse, s->query_rope);
        rope = by_head(&rope);
        s->query = op_infer_join_rope(chain, &s->query, &rope);
        rope = op_sparse_keys(chain, &s->sparse, s->key_rope);
        rope = by_head(&rope);
        s->key = op_infer_join_rope(chain, &s->key, &rope);
    }
    return chain->status;
}

static const struct op_value layout = {.kind = OP_KIND_TEXT, .text = "BNSD"};

// Maxima or sums of rows as the call has them, [parts, 1, tokens, heads]: of TND with one part.
static void give_column(struct op_chain *chain, const struct scores *s, const char *name,
                        const struct op_tensor *column)
{
    const struct op_tensor *out = op_call_given(chain->call, name);
    const int64_t shape[] = {s->sparse.parts, s->sparse.tokens, s->heads, 1};
    if (!out || chain->status != LEO_OK) {
        return;
    }
    if (op_tensor_count(out) != s->sparse.parts * s->sparse.tokens * s->heads ||
        out->type != OP_TYPE_F32) {
        chain->status = op_call_fail(chain->call, LEO_ERR_SHAPE,
                                     "%s of shape %s (%s): one f32 for each token and head", name,
                                     op_tensor_shape_text(out).text, op_type_name(out->type));
        return;
    }
    const struct op_tensor dense = op_chain_place(chain, out), to = op_view_shape(&dense, 4, shape),
                           first = op_view_slice(column, 3, 0, 1),
                           turned = op_view_swap(&first, 1, 2);
    op_chain_copy(chain, &to, &turned);
    op_chain_deliver(chain, out, &dense);
}

leo_status op_plan_sparse_scores(const struct op_call *call)
{
    static const struct op_sparse_names names = {
        "actual_seq_lengths_query", "actual_seq_lengths_kv", "block_table",
        "layout_query_ptr",         "layout_kv_ptr",         "sparse_mode"};
    struct op_chain chain = op_chain_begin(call);
    struct scores s;
    const struct op_tensor *out = op_call_tensor(call, "sparse_flash_attention_output");
    const bool lse = op_call_int(call, "return_softmax_lse") != 0;
    if (op_call_optional(call, "sinks")) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "sinks are not on this chip: NULL");
    }
    leo_status status = take(&chain, &names, "query_rope", "key_rope", &s);
    if (status == LEO_OK &&
        op_tensor_count(out) != op_tensor_count(op_call_tensor(call, "query"))) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "output of shape %s for query of %s",
                              op_tensor_shape_text(out).text,
                              op_tensor_shape_text(op_call_tensor(call, "query")).text);
    }
    if (status != LEO_OK) {
        return status;
    }
    const int64_t shape[] = {s.sparse.parts, s.sparse.tokens, s.heads, s.width},
                  column[] = {s.sparse.parts, s.heads, s.sparse.tokens, COPIES};
    const struct op_value none = op_value_tensor(NULL);
    const struct op_tensor dense = op_chain_place(&chain, out),
                           rows = op_view_shape(&dense, 4, shape), to = by_head(&rows),
                           max = op_chain_temp(&chain, OP_TYPE_F32, 4, column),
                           sum = op_chain_temp(&chain, OP_TYPE_F32, 4, column),
                           first = op_view_slice(&max, 3, 0, 1);
    OP_CHAIN_CALL(&chain, "FlashAttentionScore", op_value_tensor(&s.query), op_value_tensor(&s.key),
                  op_value_tensor(&s.value), none, none, none, op_value_tensor(&s.mask),
                  op_value_ints(NULL), op_value_real(op_call_real(call, "scale_value")),
                  op_value_real(1), op_value_int(INT32_MAX), op_value_int(INT32_MAX),
                  op_value_int(s.heads), layout, op_value_int(0), op_value_int(0),
                  op_value_tensor(&max), op_value_tensor(&sum), none, op_value_tensor(&to));
    // Tokens that see nothing give 0.
    OP_CHAIN_CALL(&chain, "AttentionAlive", op_value_tensor(&first), op_value_tensor(&to),
                  op_value_tensor(&to));
    if (lse) {
        give_column(&chain, &s, "softmax_max", &max);
        give_column(&chain, &s, "softmax_sum", &sum);
    }
    op_chain_deliver(&chain, out, &dense);
    return chain.status;
}

/* ---- gradients ---- */

// [parts, tokens, heads] as FlashAttentionScoreGrad reads it.
static struct op_tensor take_column(struct op_chain *chain, const struct scores *s,
                                    const char *name)
{
    const int64_t shape[] = {s->sparse.parts, s->sparse.tokens, s->heads, 1},
                  column[] = {s->sparse.parts, s->heads, s->sparse.tokens, COPIES};
    const struct op_tensor *given = op_call_tensor(chain->call, name),
                           out = op_chain_temp(chain, OP_TYPE_F32, 4, column);
    if (chain->status == LEO_OK &&
        op_tensor_count(given) != s->sparse.parts * s->sparse.tokens * s->heads) {
        chain->status =
            op_call_fail(chain->call, LEO_ERR_SHAPE, "%s of shape %s: one for each token and head",
                         name, op_tensor_shape_text(given).text);
        return out;
    }
    const struct op_tensor dense = op_chain_dense(chain, OP_TYPE_F32, given),
                           rows = op_view_shape(&dense, 4, shape),
                           turned = op_view_swap(&rows, 1, 2);
    struct op_tensor wide;
    if (op_tensor_broadcast(&turned, 4, column, &wide)) {
        op_chain_copy(chain, &out, &wide);
    }
    return out;
}

// Features [begin, begin + width) of a gradient [parts, heads, length, features] into a result.
static void give(struct op_chain *chain, const char *name, const struct op_tensor *made,
                 int64_t begin, int64_t width)
{
    const struct op_tensor *out = op_call_given(chain->call, name);
    if (!out || chain->status != LEO_OK) {
        return;
    }
    const int64_t shape[] = {made->dim[0], made->dim[2], made->dim[1], width};
    const struct op_tensor cut = op_view_slice(made, 3, begin, width),
                           turned = op_view_swap(&cut, 1, 2);
    if (op_tensor_count(out) != op_tensor_count(&turned)) {
        chain->status = op_call_fail(chain->call, LEO_ERR_SHAPE, "%s of shape %s: %s", name,
                                     op_tensor_shape_text(out).text, op_shape_text(4, shape).text);
        return;
    }
    const struct op_tensor dense = op_chain_place(chain, out), to = op_view_shape(&dense, 4, shape);
    op_chain_copy(chain, &to, &turned);
    op_chain_deliver(chain, out, &dense);
}

leo_status op_plan_sparse_scores_gradient(const struct op_call *call)
{
    static const struct op_sparse_names names = {
        "ac_seq_qlen", "ac_seq_kvlen", NULL, "layout_ptr", "layout_ptr", "sparse_mode_const"};
    struct op_chain chain = op_chain_begin(call);
    struct scores s;
    const struct op_tensor *query = op_call_tensor(call, "query"),
                           *dy = op_call_tensor(call, "d_out"), *out = op_call_tensor(call, "out");
    leo_status status = take(&chain, &names, "query_rope_const", "key_rope_const", &s);
    if (status == LEO_OK && (op_tensor_count(dy) != op_tensor_count(query) ||
                             op_tensor_count(out) != op_tensor_count(query))) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "d_out %s and out %s for query of %s",
                              op_tensor_shape_text(dy).text, op_tensor_shape_text(out).text,
                              op_tensor_shape_text(query).text);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_value none = op_value_tensor(NULL);
    const struct op_tensor max = take_column(&chain, &s, "softmax_max"),
                           sum = take_column(&chain, &s, "softmax_sum"),
                           dy_rows = op_sparse_queries(&chain, &s.sparse, dy),
                           out_rows = op_sparse_queries(&chain, &s.sparse, out),
                           dy_by_head = by_head(&dy_rows), out_by_head = by_head(&out_rows),
                           dq = op_chain_temp_like(&chain, s.query.type, &s.query),
                           dk = op_chain_temp_like(&chain, s.key.type, &s.key),
                           dv = op_chain_temp_like(&chain, s.value.type, &s.value);
    // Tokens that see nothing gave 0 whatever they hold.
    const struct op_tensor first = op_view_slice(&max, 3, 0, 1),
                           alive = op_chain_temp_like(&chain, dy_by_head.type, &dy_by_head);
    OP_CHAIN_CALL(&chain, "AttentionAlive", op_value_tensor(&first), op_value_tensor(&dy_by_head),
                  op_value_tensor(&alive));
    OP_CHAIN_CALL(&chain, "FlashAttentionScoreGrad", op_value_tensor(&s.query),
                  op_value_tensor(&s.key), op_value_tensor(&s.value), op_value_tensor(&alive), none,
                  none, none, op_value_tensor(&s.mask), op_value_tensor(&max),
                  op_value_tensor(&sum), none, op_value_tensor(&out_by_head), op_value_ints(NULL),
                  op_value_real(op_call_real(call, "scale_value")), op_value_real(1),
                  op_value_int(INT32_MAX), op_value_int(INT32_MAX), op_value_int(s.heads), layout,
                  op_value_int(0), op_value_int(0), op_value_tensor(&dq), op_value_tensor(&dk),
                  op_value_tensor(&dv), none);
    give(&chain, "d_query", &dq, 0, s.width);
    give(&chain, "d_key", &dk, 0, s.width);
    give(&chain, "d_value", &dv, 0, s.width);
    give(&chain, "d_query_rope", &dq, s.width, s.rope);
    give(&chain, "d_key_rope", &dk, s.width, s.rope);
    return chain.status;
}
