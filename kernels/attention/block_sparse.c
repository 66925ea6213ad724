/* SPDX-License-Identifier: Apache-2.0 */
/* Attention in which a mask of blocks says which keys the queries of a block see:
 * FlashAttentionScore under the mask of elements. Sequences with lengths of their own are a call
 * each. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COPIES = 8 /**< how often FlashAttentionScore gives each number of a row */ };

struct blocks {
    const struct op_tensor *mask;
    const struct op_ints *queries, *keys; /* lengths of sequences; NULL: all */
    int64_t batch, heads, key_heads, block[2];
    double scale;
    bool packed; /* [tokens, heads, width], else [batch, heads, tokens, width] */
};

/* One sequence, or all: [batch, heads, tokens, width]. */
struct part {
    int64_t index, first[2], count[2]; /* first and number of queries and of keys */
};

static leo_status take(const struct op_call *call, struct blocks *b)
{
    const struct op_tensor *query = op_call_tensor(call, "query"),
                           *key = op_call_tensor(call, "key");
    const char *layout = op_call_value(call, "q_input_layout_ptr")->text,
               *key_layout = op_call_value(call, "kv_input_layout_ptr")->text;
    const struct op_ints *shape = op_call_ints(call, "block_shape_value");
    *b = (struct blocks){.mask = op_call_tensor(call, "block_sparse_mask"),
                         .queries = op_call_ints(call, "actual_seq_lengths"),
                         .keys = op_call_ints(call, "actual_seq_lengths_kv"),
                         .key_heads = op_call_int(call, "num_key_value_heads"),
                         .scale = op_call_real(call, "scale_value"),
                         .packed = layout && strcmp(layout, "TND") == 0};
    b->queries = b->queries && b->queries->count ? b->queries : NULL;
    b->keys = b->keys && b->keys->count ? b->keys : NULL;
    if (!layout || !key_layout || strcmp(layout, key_layout) != 0 ||
        (!b->packed && strcmp(layout, "BNSD") != 0) || (b->packed && !b->queries) ||
        !b->queries != !b->keys || (b->queries && b->queries->count != b->keys->count)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "layouts %s and %s: TND with lengths of both, or BNSD with lengths of "
                            "both or of none",
                            layout ? layout : "NULL", key_layout ? key_layout : "NULL");
    }
    if (op_call_given(call, "atten_mask") || op_call_int(call, "mask_type") != 0 ||
        (op_call_has(call, "block_table") && op_call_given(call, "block_table"))) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "atten_mask and block_table must be NULL, mask_type 0");
    }
    if (!shape || shape->count < 2 || shape->items[0] < 1 || shape->items[1] < 1 ||
        query->rank != (b->packed ? 3 : 4) || key->rank != query->rank || b->mask->rank != 4) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "query %s, key %s and block_sparse_mask %s do not fit, or block_shape "
                            "is not two numbers above 0",
                            op_tensor_shape_text(query).text, op_tensor_shape_text(key).text,
                            op_tensor_shape_text(b->mask).text);
    }
    memcpy(b->block, shape->items, sizeof(b->block));
    b->batch = b->packed ? (int64_t)b->queries->count : query->dim[0];
    b->heads = query->dim[1];
    return LEO_OK;
}

static leo_status check(const struct op_call *call, const struct blocks *b)
{
    const struct op_tensor *query = op_call_tensor(call, "query"),
                           *key = op_call_tensor(call, "key"),
                           *value = op_call_tensor(call, "value");
    const unsigned last = query->rank - 1;
    const bool fits =
        b->key_heads > 0 && b->heads % b->key_heads == 0 && key->dim[1] == b->key_heads &&
        query->dim[last] == key->dim[last] && op_tensor_same_shape(key, value) &&
        b->mask->dim[0] == b->batch && b->mask->dim[1] == b->heads &&
        (b->packed ||
         (key->dim[0] == b->batch && (!b->queries || (int64_t)b->queries->count == b->batch)));
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "query %s, key %s, value %s and block_sparse_mask %s do not fit "
                               "%" PRId64 " sequences and %" PRId64 " heads of keys",
                               op_tensor_shape_text(query).text, op_tensor_shape_text(key).text,
                               op_tensor_shape_text(value).text, op_tensor_shape_text(b->mask).text,
                               b->batch, b->key_heads);
}

static leo_status find_part(const struct op_call *call, const struct blocks *b, int64_t index,
                            struct part *part)
{
    const struct op_tensor *of[] = {op_call_tensor(call, "query"), op_call_tensor(call, "key")};
    const struct op_ints *lengths[] = {b->queries, b->keys};
    *part = (struct part){.index = index};
    for (unsigned i = 0; i < 2; i++) {
        const int64_t all = of[i]->dim[b->packed ? 0 : 2];
        for (int64_t before = 0; b->packed && before < index; before++) {
            part->first[i] += lengths[i]->items[before];
        }
        part->count[i] = lengths[i] ? lengths[i]->items[index] : all;
        if (part->count[i] < 0 || part->first[i] < 0 || part->count[i] > all - part->first[i] ||
            (part->count[i] + b->block[i] - 1) / b->block[i] > b->mask->dim[2 + i]) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "sequence %" PRId64 " has %" PRId64 " %s: they do not lie in %s, "
                                "or block_sparse_mask %s has too few blocks",
                                index, part->count[i], i ? "keys" : "queries",
                                op_tensor_shape_text(of[i]).text,
                                op_tensor_shape_text(b->mask).text);
        }
    }
    return LEO_OK;
}

// What a part has of a tensor of queries (0) or keys (1), as [batch, heads, tokens, width].
static struct op_tensor cut(const struct blocks *b, const struct part *part,
                            const struct op_tensor *tensor, unsigned which)
{
    if (b->packed) {
        const struct op_tensor some =
                                   op_view_slice(tensor, 0, part->first[which], part->count[which]),
                               turned = op_view_swap(&some, 0, 1);
        return op_view_insert(&turned, 0);
    }
    const struct op_tensor one = b->queries ? op_view_slice(tensor, 0, part->index, 1) : *tensor;
    return op_view_slice(&one, 2, 0, part->count[which]);
}

// u8: 1 for keys that a query does not see.
static struct op_tensor spread_mask(struct op_chain *chain, const struct blocks *b,
                                    const struct part *part)
{
    const struct op_scalar zero = op_scalar_int(0);
    const bool one = b->packed || b->queries;
    const struct op_tensor mask = one ? op_view_slice(b->mask, 0, part->index, 1) : *b->mask,
                           hidden = op_chain_temp_like(chain, OP_TYPE_BOOL, &mask);
    OP_CHAIN_CALL(chain, "EqScalar", op_value_tensor(&mask), op_value_scalar(&zero),
                  op_value_tensor(&hidden));
    const int64_t *dim = mask.dim,
                  apart[] = {dim[0], dim[1], dim[2], b->block[0], dim[3], b->block[1]},
                  joined[] = {dim[0], dim[1], dim[2] * b->block[0], dim[3] * b->block[1]};
    const struct op_tensor rows = op_view_insert(&hidden, 3), both = op_view_insert(&rows, 5),
                           wide = op_chain_temp(chain, OP_TYPE_BOOL, 4, joined),
                           to = op_view_shape(&wide, 6, apart);
    struct op_tensor from;
    if (op_tensor_broadcast(&both, 6, apart, &from)) {
        op_chain_copy(chain, &to, &from);
    }
    const struct op_tensor some = op_view_slice(&wide, 2, 0, part->count[0]);
    return op_view_slice(&some, 3, 0, part->count[1]);
}

static struct op_tensor column(struct op_chain *chain, const struct op_tensor *query)
{
    const int64_t shape[] = {query->dim[0], query->dim[1], query->dim[2], COPIES};
    return op_chain_temp(chain, OP_TYPE_F32, 4, shape);
}

static const struct op_value layout = {.kind = OP_KIND_TEXT, .text = "BNSD"};

static void run(struct op_chain *chain, const struct blocks *b, const struct part *part)
{
    const struct op_call *call = chain->call;
    const struct op_value none = op_value_tensor(NULL);
    const struct op_tensor *lse = op_call_int(call, "softmax_lse_flag_value") != 0
                                      ? op_call_given(call, "softmax_lse_out")
                                      : NULL,
                           query = cut(b, part, op_call_tensor(call, "query"), 0),
                           key = cut(b, part, op_call_tensor(call, "key"), 1),
                           value = cut(b, part, op_call_tensor(call, "value"), 1),
                           out = cut(b, part, op_call_tensor(call, "attention_out"), 0),
                           mask = spread_mask(chain, b, part), max = column(chain, &query),
                           sum = column(chain, &query), first = op_view_slice(&max, 3, 0, 1),
                           first_sum = op_view_slice(&sum, 3, 0, 1);
    OP_CHAIN_CALL(chain, "FlashAttentionScore", op_value_tensor(&query), op_value_tensor(&key),
                  op_value_tensor(&value), none, none, none, op_value_tensor(&mask),
                  op_value_ints(NULL), op_value_real(b->scale), op_value_real(1),
                  op_value_int(INT32_MAX), op_value_int(INT32_MAX), op_value_int(b->heads), layout,
                  op_value_int(0), op_value_int(0), op_value_tensor(&max), op_value_tensor(&sum),
                  none, op_value_tensor(&out));
    OP_CHAIN_CALL(chain, "AttentionAlive", op_value_tensor(&first), op_value_tensor(&out),
                  op_value_tensor(&out));
    if (lse) {
        const struct op_tensor to = cut(b, part, lse, 0);
        OP_CHAIN_CALL(chain, "AttentionLse", op_value_tensor(&first), op_value_tensor(&first_sum),
                      op_value_tensor(&to));
    }
}

static void run_gradient(struct op_chain *chain, const struct blocks *b, const struct part *part)
{
    const struct op_call *call = chain->call;
    const struct op_value none = op_value_tensor(NULL);
    const struct op_tensor query = cut(b, part, op_call_tensor(call, "query"), 0),
                           key = cut(b, part, op_call_tensor(call, "key"), 1),
                           value = cut(b, part, op_call_tensor(call, "value"), 1),
                           dy = cut(b, part, op_call_tensor(call, "d_out"), 0),
                           out = cut(b, part, op_call_tensor(call, "attention_out"), 0),
                           lse = cut(b, part, op_call_tensor(call, "softmax_lse"), 0),
                           dq = cut(b, part, op_call_tensor(call, "d_query"), 0),
                           dk = cut(b, part, op_call_tensor(call, "d_key"), 1),
                           dv = cut(b, part, op_call_tensor(call, "d_value"), 1),
                           mask = spread_mask(chain, b, part), max = column(chain, &query),
                           sum = column(chain, &query);
    // exp(x - lse) is what exp(x - max) / sum was.
    struct op_tensor wide;
    if (op_tensor_broadcast(&lse, 4, max.dim, &wide)) {
        op_chain_copy(chain, &max, &wide);
    }
    op_chain_fill(chain, &sum, 1);
    // Rows that see nothing gave 0 whatever they hold.
    const struct op_tensor alive = op_chain_temp_like(chain, dy.type, &dy);
    OP_CHAIN_CALL(chain, "AttentionAlive", op_value_tensor(&lse), op_value_tensor(&dy),
                  op_value_tensor(&alive));
    OP_CHAIN_CALL(chain, "FlashAttentionScoreGrad", op_value_tensor(&query), op_value_tensor(&key),
                  op_value_tensor(&value), op_value_tensor(&alive), none, none, none,
                  op_value_tensor(&mask), op_value_tensor(&max), op_value_tensor(&sum), none,
                  op_value_tensor(&out), op_value_ints(NULL), op_value_real(b->scale),
                  op_value_real(1), op_value_int(INT32_MAX), op_value_int(INT32_MAX),
                  op_value_int(b->heads), layout, op_value_int(0), op_value_int(0),
                  op_value_tensor(&dq), op_value_tensor(&dk), op_value_tensor(&dv), none);
}

// Results have the shapes of what they belong to; a column has one number a row.
static leo_status check_result(const struct op_call *call, const char *name, const char *like,
                               bool column_of)
{
    const struct op_tensor *tensor = op_call_tensor(call, name), *of = op_call_tensor(call, like);
    int64_t dim[OP_RANK_MAX];
    if (of->rank == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s has no dimensions", like);
    }
    memcpy(dim, of->dim, sizeof(dim));
    dim[of->rank - 1] = column_of ? 1 : dim[of->rank - 1];
    return tensor ? op_call_check_shape(call, name, of->rank, dim) : LEO_OK;
}

static leo_status run_all(const struct op_call *call,
                          void (*one)(struct op_chain *, const struct blocks *,
                                      const struct part *))
{
    struct blocks b;
    struct op_chain chain = op_chain_begin(call);
    leo_status status = take(call, &b);
    if (status == LEO_OK) {
        status = check(call, &b);
    }
    for (int64_t i = 0; status == LEO_OK && i < (b.queries ? b.batch : 1); i++) {
        struct part part;
        const uint64_t mark = op_plan_temp_mark(call->plan);
        status = find_part(call, &b, i, &part);
        if (status == LEO_OK && part.count[0] > 0 && part.count[1] > 0) {
            one(&chain, &b, &part);
            status = chain.status;
        }
        op_plan_temp_release(call->plan, mark);
    }
    return status;
}

// Rows that no sequence has are 0.
static leo_status clear(const struct op_call *call, const char *name)
{
    struct op_chain chain = op_chain_begin(call);
    if (op_call_given(call, name)) {
        op_chain_fill(&chain, op_call_tensor(call, name), 0);
    }
    return chain.status;
}

leo_status op_plan_block_sparse(const struct op_call *call)
{
    leo_status status = check_result(call, "attention_out", "query", false);
    if (status == LEO_OK && op_call_int(call, "softmax_lse_flag_value") != 0 &&
        op_call_given(call, "softmax_lse_out")) {
        status = check_result(call, "softmax_lse_out", "query", true);
    }
    if (status == LEO_OK) {
        status = clear(call, "attention_out");
    }
    return status == LEO_OK ? run_all(call, run) : status;
}

leo_status op_plan_block_sparse_gradient(const struct op_call *call)
{
    static const char *const pairs[][2] = {{"d_query", "query"},
                                           {"d_key", "key"},
                                           {"d_value", "value"},
                                           {"d_out", "query"},
                                           {"attention_out", "query"}};
    leo_status status = check_result(call, "softmax_lse", "query", true);
    for (unsigned i = 0; status == LEO_OK && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        status = check_result(call, pairs[i][0], pairs[i][1], false);
    }
    for (unsigned i = 0; status == LEO_OK && i < 3; i++) {
        status = clear(call, pairs[i][0]);
    }
    return status == LEO_OK ? run_all(call, run_gradient) : status;
}
