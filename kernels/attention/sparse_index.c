/* SPDX-License-Identifier: Apache-2.0 */
/* The keys that sparse attention looks at: those with the largest sum over heads of weight *
 * relu(query key'). Some tokens at a time, so that their products stay small. */
#include "sparse.h"

#include <inttypes.h>

enum { PART_BYTES = 1 << 26 /**< [A] of products, f32, at a time */ };

struct index {
    struct op_sparse sparse;
    struct op_tensor query, key,
        weights; /* [parts, tokens, heads, width], [parts, keys, width], [parts, tokens, heads] */
    struct op_tensor query_scale, key_scale; /* f32 [parts, tokens, heads], [parts, keys] */
    int64_t heads, width;
    bool scaled;
};

/* Some tokens of a part. */
struct piece {
    int64_t part, first, count;
    struct op_tensor product, weights; /* f32 [count, heads, keys], [count, heads, 1] */
};

static int64_t tokens_at_a_time(const struct index *x)
{
    const int64_t fit = PART_BYTES / 4 / (x->heads * (x->sparse.keys ? x->sparse.keys : 1));
    return fit < 1 ? 1 : fit > x->sparse.tokens ? x->sparse.tokens : fit;
}

typedef void piece_fn(struct op_chain *chain, const struct index *x, struct piece *piece,
                      const void *user);

static void in_pieces(struct op_chain *chain, const struct index *x, piece_fn *run,
                      const void *user)
{
    const int64_t some = tokens_at_a_time(x), tokens = x->sparse.tokens;
    for (int64_t part = 0; part < x->sparse.parts; part++) {
        for (int64_t first = 0; first < tokens; first += some) {
            const uint64_t mark = op_plan_temp_mark(chain->plan);
            struct piece piece = {.part = part,
                                  .first = first,
                                  .count = tokens - first < some ? tokens - first : some};
            run(chain, x, &piece, user);
            op_plan_temp_release(chain->plan, mark);
        }
    }
}

static leo_status take(struct op_chain *chain, const struct op_sparse_names *names,
                       const char *query_name, const char *key_name, struct index *x)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *query = op_call_tensor(call, query_name),
                           *key = op_call_tensor(call, key_name),
                           *weights = op_call_tensor(call, "weights");
    leo_status status = op_sparse_take(chain, names, query, key, &x->sparse);
    if (status != LEO_OK) {
        return status;
    }
    x->heads = query->dim[query->rank - 2];
    x->width = query->dim[query->rank - 1];
    if (key->dim[key->rank - 2] != 1 || key->dim[key->rank - 1] != x->width || x->width == 0 ||
        op_tensor_count(weights) * x->width != op_tensor_count(query)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s %s, %s %s and weights %s do not fit: one head of keys, weights "
                            "for each token and head",
                            query_name, op_tensor_shape_text(query).text, key_name,
                            op_tensor_shape_text(key).text, op_tensor_shape_text(weights).text);
    }
    const int64_t keys[] = {x->sparse.parts, x->sparse.keys, x->width};
    const struct op_tensor rows = op_sparse_keys(chain, &x->sparse, key);
    x->query = op_sparse_queries(chain, &x->sparse, query);
    x->key = op_view_shape(&rows, 3, keys);
    x->weights = op_sparse_queries(chain, &x->sparse, weights);
    return chain->status;
}

static leo_status take_scales(struct op_chain *chain, struct index *x)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *query = op_call_tensor(call, "query_dequant_scale"),
                           *key = op_call_tensor(call, "key_dequant_scale");
    const int64_t keys[] = {x->sparse.parts, x->sparse.keys};
    if (op_call_int(call, "query_quant_mode") != 0 || op_call_int(call, "key_quant_mode") != 0 ||
        op_tensor_count(query) != op_tensor_count(op_call_tensor(call, "weights")) ||
        op_tensor_count(key) * x->width != op_tensor_count(op_call_tensor(call, "key_wrapper"))) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "query_dequant_scale %s and key_dequant_scale %s do not fit: one for "
                            "each token and head (quant modes 0)",
                            op_tensor_shape_text(query).text, op_tensor_shape_text(key).text);
    }
    const struct op_tensor by_token = op_sparse_queries(chain, &x->sparse, query),
                           by_key = op_sparse_keys(chain, &x->sparse, key),
                           wide = op_chain_dense(chain, OP_TYPE_F32, &by_key);
    x->query_scale = op_chain_dense(chain, OP_TYPE_F32, &by_token);
    x->key_scale = op_view_shape(&wide, 2, keys);
    x->scaled = true;
    return chain->status;
}

// Rows of some tokens, [count, rest].
static struct op_tensor tokens_of(const struct op_tensor *all, const struct piece *piece)
{
    const struct op_tensor part = op_view_select(all, 0, piece->part);
    return op_view_slice(&part, 0, piece->first, piece->count);
}

static struct op_tensor as_f32(struct op_chain *chain, const struct op_tensor *tensor)
{
    return op_chain_dense(chain, OP_TYPE_F32, tensor);
}

static void multiply_by(struct op_chain *chain, const struct op_tensor *self,
                        const struct op_tensor *factor)
{
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(self), op_value_tensor(factor),
                  op_value_tensor(self));
}

// The products of some tokens with all keys of their part, in f32.
static void find_products(struct op_chain *chain, const struct index *x, struct piece *piece)
{
    const int64_t shape[] = {piece->count, x->heads, x->sparse.keys},
                  by_head[] = {piece->count, x->heads, 1},
                  rows[] = {piece->count * x->heads, x->width};
    const struct op_tensor query = tokens_of(&x->query, piece),
                           key = op_view_select(&x->key, 0, piece->part),
                           weights = tokens_of(&x->weights, piece), wide = as_f32(chain, &query),
                           wide_key = as_f32(chain, &key), turned = op_view_swap(&wide_key, 0, 1),
                           by_row = op_view_shape(&wide, 2, rows),
                           wide_weights = as_f32(chain, &weights);
    piece->product = op_chain_temp(chain, OP_TYPE_F32, 3, shape);
    const struct op_tensor flat = op_view_rows(&piece->product);
    op_chain_matmul(chain, &by_row, &turned, &flat);
    if (x->scaled) {
        const struct op_tensor scale = tokens_of(&x->query_scale, piece),
                               token_scale = op_view_insert(&scale, 2),
                               key_scale = op_view_select(&x->key_scale, 0, piece->part);
        multiply_by(chain, &piece->product, &token_scale);
        multiply_by(chain, &piece->product, &key_scale);
    }
    piece->weights = op_view_shape(&wide_weights, 3, by_head);
}

/* Results of a call: [tokens of all parts, count]. */
struct result {
    struct op_tensor indices, values;
    int64_t count;
    bool with_values;
};

static void choose(struct op_chain *chain, const struct index *x, struct piece *piece,
                   const void *user)
{
    const struct result *result = user;
    const int64_t row = piece->part * x->sparse.tokens + piece->first, keys = x->sparse.keys,
                  count = result->count < keys ? result->count : keys,
                  shape[] = {piece->count, keys}, some[] = {piece->count, count};
    const struct op_tensor begin = op_view_slice(&x->sparse.begin, 0, row, piece->count),
                           end = op_view_slice(&x->sparse.end, 0, row, piece->count),
                           sum = op_chain_temp(chain, OP_TYPE_F32, 2, shape),
                           value = op_chain_temp(chain, OP_TYPE_F32, 2, some),
                           place = op_chain_temp(chain, OP_TYPE_I64, 2, some),
                           rows = op_view_slice(&result->indices, 0, row, piece->count),
                           out = op_view_slice(&rows, 1, 0, count);
    find_products(chain, x, piece);
    OP_CHAIN_CALL(chain, "SparseWeigh", op_value_tensor(&piece->product),
                  op_value_tensor(&piece->weights), op_value_tensor(&piece->product));
    op_chain_sum(chain, &piece->product, 1, &sum);
    OP_CHAIN_CALL(chain, "SparseHide", op_value_tensor(&sum), op_value_tensor(&begin),
                  op_value_tensor(&end), op_value_tensor(&sum));
    OP_CHAIN_CALL(chain, "Topk", op_value_tensor(&sum), op_value_int(count), op_value_int(1),
                  op_value_int(1), op_value_int(1), op_value_tensor(&value),
                  op_value_tensor(&place));
    OP_CHAIN_CALL(chain, "SparseChosen", op_value_tensor(&value), op_value_tensor(&place),
                  op_value_tensor(&begin), op_value_tensor(&out));
    if (result->with_values) {
        const struct op_tensor all = op_view_slice(&result->values, 0, row, piece->count),
                               to = op_view_slice(&all, 1, 0, count);
        OP_CHAIN_CALL(chain, "SparseValue", op_value_tensor(&value), op_value_tensor(&to));
    }
}

static leo_status take_result(struct op_chain *chain, const struct index *x,
                              const struct op_tensor *indices, const struct op_tensor *values,
                              struct result *result)
{
    const struct op_call *call = chain->call;
    const int64_t tokens = x->sparse.parts * x->sparse.tokens;
    result->count = op_call_int(call, "sparse_count");
    result->with_values = values && op_call_int(call, "return_value") != 0;
    if (result->count < 1 || op_tensor_count(indices) != tokens * result->count ||
        indices->type != OP_TYPE_I32 ||
        (result->with_values && op_tensor_count(values) != tokens * result->count)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "the indices of shape %s (%s): %" PRId64 " tokens by %" PRId64
                            " (sparse_count), i32; values alike",
                            op_tensor_shape_text(indices).text, op_type_name(indices->type), tokens,
                            result->count);
    }
    const int64_t shape[] = {tokens, result->count};
    const struct op_tensor dense = op_chain_place(chain, indices);
    result->indices = op_view_shape(&dense, 2, shape);
    op_chain_fill(chain, &result->indices, -1); // behind the last key
    if (result->with_values) {
        const struct op_tensor place = op_chain_place(chain, values);
        result->values = op_view_shape(&place, 2, shape);
        op_chain_fill(chain, &result->values, 0);
    }
    return chain->status;
}

leo_status op_plan_sparse_index(const struct op_call *call)
{
    static const struct op_sparse_names names = {
        "actual_seq_lengths_query", "actual_seq_lengths_key", "block_table",
        "query_layout_ptr",         "key_layout_ptr",         "sparse_mode"};
    struct op_chain chain = op_chain_begin(call);
    const bool scaled = op_call_has(call, "query_dequant_scale");
    const struct op_tensor *indices = op_call_tensor(call, scaled ? "quant_lightning_indexer_output"
                                                                  : "sparse_indices_out"),
                           *values = scaled ? NULL : op_call_given(call, "sparse_values_out");
    struct index x = {0};
    struct result result;
    leo_status status = take(&chain, &names, scaled ? "query_wrapper" : "query",
                             scaled ? "key_wrapper" : "key", &x);
    if (status == LEO_OK && scaled) {
        status = take_scales(&chain, &x);
    }
    if (status == LEO_OK) {
        status = take_result(&chain, &x, indices, values, &result);
    }
    if (status == LEO_OK && x.sparse.keys) {
        in_pieces(&chain, &x, choose, &result);
    }
    if (status == LEO_OK) {
        op_chain_deliver(&chain, indices, &result.indices);
        if (result.with_values) {
            op_chain_deliver(&chain, values, &result.values);
        }
    }
    return status == LEO_OK ? chain.status : status;
}

/* ---- gradients ---- */

struct gradients {
    struct op_tensor query, weights; /* results as [parts, tokens, ...] */
    struct op_tensor key;            /* f32 [parts, keys, width]: sums over all tokens */
    struct op_tensor dy, slots;      /* dense [tokens of all parts, count] */
};

// Gradients of the values at the keys they came from, 0 elsewhere: f32 [count, 1, keys].
static struct op_tensor spread_values(struct op_chain *chain, const struct index *x,
                                      const struct gradients *g, const struct piece *piece)
{
    const int64_t row = piece->part * x->sparse.tokens + piece->first,
                  shape[] = {piece->count, x->sparse.keys + 1};
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, 2, shape),
                           slots = op_view_slice(&g->slots, 0, row, piece->count),
                           dy = op_view_slice(&g->dy, 0, row, piece->count);
    op_chain_fill(chain, &out, 0);
    OP_CHAIN_CALL(chain, "ScatterAdd", op_value_tensor(&out), op_value_int(1),
                  op_value_tensor(&slots), op_value_tensor(&dy), op_value_tensor(&out));
    const struct op_tensor seen = op_view_slice(&out, 1, 0, x->sparse.keys);
    return op_view_insert(&seen, 1);
}

static void add_gradients(struct op_chain *chain, const struct index *x, struct piece *piece,
                          const void *user)
{
    const struct gradients *g = user;
    const struct op_scalar one = op_scalar_int(1);
    const int64_t rows[] = {piece->count * x->heads, x->width};
    find_products(chain, x, piece);
    const struct op_tensor dy = spread_values(chain, x, g, piece),
                           by_weight = op_chain_temp_like(chain, OP_TYPE_F32, &piece->product),
                           flat = op_view_rows(&piece->product),
                           key = op_view_select(&x->key, 0, piece->part),
                           wide_key = as_f32(chain, &key), query = tokens_of(&x->query, piece),
                           wide = as_f32(chain, &query), by_row = op_view_shape(&wide, 2, rows),
                           to_weights = tokens_of(&g->weights, piece),
                           to_query = tokens_of(&g->query, piece),
                           sum = op_chain_temp_like(chain, OP_TYPE_F32, &to_weights),
                           made = op_chain_temp(chain, OP_TYPE_F32, 2, rows),
                           part = op_view_select(&g->key, 0, piece->part),
                           more = op_chain_temp_like(chain, OP_TYPE_F32, &part),
                           turned = op_view_swap(&flat, 0, 1),
                           shaped = op_view_shape(&made, 3, to_query.dim);
    OP_CHAIN_CALL(chain, "SparseWeigh", op_value_tensor(&piece->product), op_value_tensor(&dy),
                  op_value_tensor(&by_weight));
    op_chain_sum(chain, &by_weight, 2, &sum);
    op_chain_copy(chain, &to_weights, &sum);
    OP_CHAIN_CALL(chain, "SparseWeighGrad", op_value_tensor(&piece->product),
                  op_value_tensor(&piece->weights), op_value_tensor(&dy),
                  op_value_tensor(&piece->product));
    op_chain_matmul(chain, &flat, &wide_key, &made);
    op_chain_copy(chain, &to_query, &shaped);
    op_chain_matmul(chain, &turned, &by_row, &more);
    OP_CHAIN_CALL(chain, "Add", op_value_tensor(&part), op_value_tensor(&more),
                  op_value_scalar(&one), op_value_tensor(&part));
}

static leo_status take_gradients(struct op_chain *chain, const struct index *x, struct gradients *g)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *dy = op_call_tensor(call, "dy"),
                           *indices = op_call_tensor(call, "sparse_indices"),
                           *key = op_call_tensor(call, "key");
    const int64_t tokens = x->sparse.parts * x->sparse.tokens,
                  count = tokens ? op_tensor_count(indices) / tokens : 0, shape[] = {tokens, count};
    if (op_tensor_count(dy) != tokens * count || op_tensor_count(indices) != tokens * count ||
        !op_tensor_same_shape(op_call_tensor(call, "d_key"), key) ||
        !op_tensor_same_shape(op_call_tensor(call, "d_query"), op_call_tensor(call, "query")) ||
        !op_tensor_same_shape(op_call_tensor(call, "d_weights"), op_call_tensor(call, "weights"))) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "dy %s and sparse_indices %s of %" PRId64
                            " tokens do not fit, or a gradient has another shape than its tensor",
                            op_tensor_shape_text(dy).text, op_tensor_shape_text(indices).text,
                            tokens);
    }
    const struct op_tensor flat = op_chain_dense(chain, OP_TYPE_F32, dy),
                           list = op_chain_dense(chain, OP_TYPE_F32, indices),
                           by_token = op_view_shape(&list, 2, shape),
                           place = op_chain_temp(chain, OP_TYPE_F32, 2, shape),
                           whole = op_chain_temp(chain, OP_TYPE_I32, 2, shape);
    g->dy = op_view_shape(&flat, 2, shape);
    g->slots = op_chain_temp(chain, OP_TYPE_I32, 2, shape);
    // Indices count from the token's first key.
    OP_CHAIN_CALL(chain, "SparsePlace", op_value_tensor(&by_token),
                  op_value_tensor(&x->sparse.begin), op_value_tensor(&place));
    op_chain_copy(chain, &whole, &place);
    OP_CHAIN_CALL(chain, "SparseSlot", op_value_tensor(&whole), op_value_int(x->sparse.keys),
                  op_value_tensor(&g->slots));
    g->key = op_chain_temp_like(chain, OP_TYPE_F32, &x->key);
    op_chain_fill(chain, &g->key, 0);
    return chain->status;
}

leo_status op_plan_sparse_index_gradient(const struct op_call *call)
{
    static const struct op_sparse_names names = {"actual_seq_lengths_query_const",
                                                 "actual_seq_lengths_key_const",
                                                 NULL,
                                                 "layout_ptr",
                                                 "layout_ptr",
                                                 "sparse_mode_const"};
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *to_query = op_call_tensor(call, "d_query"),
                           *to_key = op_call_tensor(call, "d_key"),
                           *to_weights = op_call_tensor(call, "d_weights");
    struct index x = {0};
    struct gradients g;
    leo_status status = take(&chain, &names, "query", "key", &x);
    if (status == LEO_OK) {
        status = take_gradients(&chain, &x, &g);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor query = op_chain_place(&chain, to_query),
                           weights = op_chain_place(&chain, to_weights);
    g.query = op_view_shape(&query, 4, x.query.dim);
    g.weights = op_view_shape(&weights, 3, x.weights.dim);
    in_pieces(&chain, &x, add_gradients, &g);
    const struct op_tensor key = op_view_shape(&g.key, to_key->rank, to_key->dim);
    op_chain_copy(&chain, to_key, &key);
    op_chain_deliver(&chain, to_query, &g.query);
    op_chain_deliver(&chain, to_weights, &g.weights);
    return chain.status;
}
