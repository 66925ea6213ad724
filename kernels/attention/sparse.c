/* SPDX-License-Identifier: Apache-2.0 */
#include "sparse.h"

#include "../moe/moe.h"

#include <inttypes.h>
#include <string.h>

/* What the call says before anything is computed. */
struct given {
    const struct op_tensor *query_lengths, *key_lengths;
    const char *query_layout, *key_layout;
    int64_t batch, page;
    bool causal;
};

static const char *text_of(const struct op_call *call, const char *name)
{
    const char *text = name ? op_call_value(call, name)->text : NULL;
    return text ? text : "";
}

static const struct op_tensor *list_of(const struct op_call *call, const char *name)
{
    const struct op_tensor *list = name ? op_call_given(call, name) : NULL;
    return list && op_tensor_count(list) > 0 ? list : NULL;
}

static leo_status check_layouts(const struct op_call *call, const struct op_sparse *s,
                                const struct given *g)
{
    const bool packed = strcmp(g->query_layout, "TND") == 0,
               pages = strcmp(g->key_layout, "PA_BSND") == 0;
    if ((!packed && strcmp(g->query_layout, "BSND") != 0) ||
        (!pages && strcmp(g->key_layout, g->query_layout) != 0)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "layouts %s of queries and %s of keys: BSND or TND, for keys the same "
                            "or PA_BSND",
                            g->query_layout, g->key_layout);
    }
    if ((packed && !g->query_lengths) || ((packed || pages) && !g->key_lengths) ||
        (pages && (!s->table || s->table->rank != 2))) {
        return op_call_fail(
            call, LEO_ERR_INVALID_ARG, "layouts %s of queries and %s of keys need %s",
            g->query_layout, g->key_layout,
            pages ? "lengths and a block_table of two dimensions" : "lengths of both");
    }
    return LEO_OK;
}

static leo_status check_shapes(const struct op_call *call, const struct op_sparse *s,
                               const struct given *g, const struct op_tensor *query,
                               const struct op_tensor *key)
{
    const unsigned query_rank = s->packed ? 3 : 4, key_rank = s->table || !s->packed ? 4 : 3;
    const bool fits =
        query->rank == query_rank && key->rank == key_rank &&
        (!g->query_lengths || g->query_lengths->rank == 1) &&
        (!g->key_lengths ||
         (g->key_lengths->rank == 1 &&
          (!g->query_lengths || op_tensor_same_shape(g->key_lengths, g->query_lengths)))) &&
        (s->packed || (!g->query_lengths || g->query_lengths->dim[0] == query->dim[0])) &&
        (s->packed || (!g->key_lengths || g->key_lengths->dim[0] == query->dim[0])) &&
        (s->table ? s->table->dim[0] == g->batch : s->packed || key->dim[0] == query->dim[0]);
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "queries %s, keys %s and lengths or pages of %" PRId64
                               " sequences do not fit",
                               op_tensor_shape_text(query).text, op_tensor_shape_text(key).text,
                               g->batch);
}

static struct op_tensor subtract(struct op_chain *chain, const struct op_tensor *a,
                                 const struct op_tensor *b)
{
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor out = op_chain_temp_like(chain, a->type, a);
    OP_CHAIN_CALL(chain, "Sub", op_value_tensor(a), op_value_tensor(b), op_value_scalar(&one),
                  op_value_tensor(&out));
    return out;
}

// Where sequences begin whose ends are given: [0, all ends but the last].
static struct op_tensor begins_of(struct op_chain *chain, const struct op_tensor *ends)
{
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_I64, ends),
                           first = op_view_slice(&out, 0, 0, 1);
    op_chain_fill(chain, &first, 0);
    if (ends->dim[0] > 1) {
        const struct op_tensor from = op_view_slice(ends, 0, 0, ends->dim[0] - 1),
                               to = op_view_slice(&out, 0, 1, ends->dim[0] - 1);
        op_chain_copy(chain, &to, &from);
    }
    return out;
}

// Entries of a list of sequences for each token, as floats.
static struct op_tensor spread(struct op_chain *chain, const struct op_tensor *list,
                               const struct op_tensor *sequence)
{
    const struct op_tensor whole = op_chain_temp_like(chain, OP_TYPE_I64, sequence);
    op_moe_take_rows(chain, list, sequence, &whole);
    return op_chain_dense(chain, OP_TYPE_F32, &whole);
}

static void find_ends(struct op_chain *chain, const struct op_sparse *s,
                      const struct op_tensor *begin, const struct op_tensor *length,
                      const struct op_tensor *queries, const struct op_tensor *place, bool causal,
                      unsigned rank, const int64_t *shape)
{
    const struct op_tensor end = op_view_shape(&s->end, rank, shape);
    OP_CHAIN_CALL(chain, "SparseEnd", op_value_tensor(begin), op_value_tensor(length),
                  op_value_tensor(queries), op_value_tensor(place), op_value_int(causal),
                  op_value_tensor(&end));
}

// Sequences one behind the other: the last one whose queries do not end before a token has it.
// Tokens behind all of them count as some of the first that it does not have.
static void find_packed(struct op_chain *chain, const struct given *g, struct op_sparse *s)
{
    const struct op_tensor query_end = op_chain_dense(chain, OP_TYPE_I64, g->query_lengths),
                           query_begin = begins_of(chain, &query_end),
                           key_last = op_chain_dense(chain, OP_TYPE_I64, g->key_lengths),
                           token = op_chain_temp(chain, OP_TYPE_I64, 1, &s->tokens),
                           found = op_chain_temp_like(chain, OP_TYPE_I64, &token),
                           sequence = op_chain_temp_like(chain, OP_TYPE_I64, &token);
    struct op_tensor key_begin, key_length = key_last;
    if (s->table) {
        key_begin = op_chain_temp_like(chain, OP_TYPE_I64, &key_last);
        op_chain_range(chain, &key_begin, 0, s->keys / g->batch);
    } else {
        key_begin = begins_of(chain, &key_last);
        key_length = subtract(chain, &key_last, &key_begin);
    }
    op_chain_range(chain, &token, 0, 1);
    OP_CHAIN_CALL(chain, "SearchSorted", op_value_tensor(&query_end), op_value_tensor(&token),
                  op_value_int(0), op_value_int(1), op_value_tensor(NULL), op_value_tensor(&found));
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(&found), op_value_int(g->batch),
                  op_value_tensor(&sequence));
    const struct op_tensor query_length = subtract(chain, &query_end, &query_begin),
                           begin = spread(chain, &key_begin, &sequence),
                           length = spread(chain, &key_length, &sequence),
                           queries = spread(chain, &query_length, &sequence),
                           first = spread(chain, &query_begin, &sequence),
                           at = op_chain_dense(chain, OP_TYPE_F32, &token),
                           place = subtract(chain, &at, &first),
                           to = op_view_shape(&s->begin, 1, &s->tokens);
    op_chain_copy(chain, &to, &begin);
    find_ends(chain, s, &begin, &length, &queries, &place, g->causal, 1, &s->tokens);
}

// A length of each sequence, [parts, 1]; the same for all if none is given.
static struct op_tensor lengths(struct op_chain *chain, const struct op_sparse *s,
                                const struct op_tensor *list, int64_t all)
{
    const int64_t shape[] = {s->parts, 1};
    if (!list) {
        const struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, 2, shape);
        op_chain_fill(chain, &out, (double)all);
        return out;
    }
    const struct op_tensor dense = op_chain_dense(chain, OP_TYPE_F32, list);
    return op_view_shape(&dense, 2, shape);
}

static void find_apart(struct op_chain *chain, const struct given *g, struct op_sparse *s)
{
    const int64_t shape[] = {s->parts, s->tokens}, row[] = {1, s->tokens};
    const struct op_tensor begin = op_view_shape(&s->begin, 2, shape),
                           length = lengths(chain, s, g->key_lengths, s->keys),
                           queries = lengths(chain, s, g->query_lengths, s->tokens),
                           place = op_chain_temp(chain, OP_TYPE_F32, 2, row);
    op_chain_fill(chain, &s->begin, 0);
    op_chain_range(chain, &place, 0, 1);
    find_ends(chain, s, &begin, &length, &queries, &place, g->causal, 2, shape);
}

leo_status op_sparse_take(struct op_chain *chain, const struct op_sparse_names *names,
                          const struct op_tensor *query, const struct op_tensor *key,
                          struct op_sparse *s)
{
    const struct op_call *call = chain->call;
    const int64_t mode = op_call_int(call, names->mode);
    struct given g = {.query_lengths = list_of(call, names->query_lengths),
                      .key_lengths = list_of(call, names->key_lengths),
                      .query_layout = text_of(call, names->query_layout),
                      .key_layout = text_of(call, names->key_layout),
                      .causal = mode == 3};
    const bool pages = strcmp(g.key_layout, "PA_BSND") == 0;
    *s = (struct op_sparse){.packed = strcmp(g.query_layout, "TND") == 0,
                            .table = pages ? list_of(call, names->table) : NULL};
    if (mode != 0 && mode != 3) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "%s is %" PRId64 ": 0 or 3", names->mode,
                            mode);
    }
    leo_status status = check_layouts(call, s, &g);
    if (status != LEO_OK) {
        return status;
    }
    g.batch = s->packed ? op_tensor_count(g.query_lengths) : query->dim[0];
    status = check_shapes(call, s, &g, query, key);
    if (status != LEO_OK) {
        return status;
    }
    s->parts = s->packed ? 1 : g.batch;
    s->tokens = query->dim[s->packed ? 0 : 1];
    s->keys = s->table    ? s->table->dim[1] * key->dim[1] * (s->packed ? g.batch : 1)
              : s->packed ? key->dim[0]
                          : key->dim[1];
    const int64_t rows[] = {s->parts * s->tokens, 1};
    s->begin = op_chain_temp(chain, OP_TYPE_F32, 2, rows);
    s->end = op_chain_temp(chain, OP_TYPE_F32, 2, rows);
    if (s->packed) {
        find_packed(chain, &g, s);
    } else {
        find_apart(chain, &g, s);
    }
    return chain->status;
}

// [parts, count, all that lies behind the first `skip` dimensions].
static struct op_tensor as_parts(const struct op_tensor *dense, int64_t parts, int64_t count,
                                 unsigned skip)
{
    int64_t shape[OP_RANK_MAX] = {parts, count};
    unsigned rank = 2;
    for (unsigned i = skip; i < dense->rank; i++) {
        shape[rank++] = dense->dim[i];
    }
    return op_view_shape(dense, rank, shape);
}

struct op_tensor op_sparse_queries(struct op_chain *chain, const struct op_sparse *s,
                                   const struct op_tensor *tensor)
{
    const struct op_tensor dense = op_chain_dense(chain, tensor->type, tensor);
    return as_parts(&dense, s->parts, s->tokens, s->packed ? 1 : 2);
}

struct op_tensor op_sparse_keys(struct op_chain *chain, const struct op_sparse *s,
                                const struct op_tensor *tensor)
{
    const struct op_tensor dense = op_chain_dense(chain, tensor->type, tensor);
    if (!s->table) {
        return as_parts(&dense, s->parts, s->keys, s->packed ? 1 : 2);
    }
    // Entries behind a sequence's last page may be anything: its keys there are not seen.
    const int64_t pages = op_tensor_count(s->table);
    const struct op_tensor table = op_chain_dense(chain, s->table->type, s->table),
                           list = op_view_shape(&table, 1, &pages),
                           safe = op_chain_temp_like(chain, list.type, &list);
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(&list), op_value_int(dense.dim[0]),
                  op_value_tensor(&safe));
    struct op_tensor like = dense;
    like.dim[0] = pages;
    const struct op_tensor taken = op_chain_temp_like(chain, dense.type, &like);
    OP_CHAIN_CALL(chain, "IndexSelect", op_value_tensor(&dense), op_value_int(0),
                  op_value_tensor(&safe), op_value_tensor(&taken));
    return as_parts(&taken, s->parts, s->keys, 2);
}

struct op_tensor op_sparse_mask(struct op_chain *chain, const struct op_sparse *s,
                                const struct op_tensor *indices, int64_t size)
{
    const struct op_scalar zero = op_scalar_int(0);
    const int64_t rows = s->parts * s->tokens, blocks = (s->keys + size - 1) / size,
                  grid_shape[] = {rows, blocks + 1}, shape[] = {rows, s->keys},
                  mask_shape[] = {s->parts, 1, s->tokens, s->keys};
    const struct op_tensor grid = op_chain_temp(chain, OP_TYPE_U8, 2, grid_shape),
                           slot = op_chain_temp_like(chain, OP_TYPE_I32, indices),
                           mask = op_chain_temp(chain, OP_TYPE_U8, 2, shape);
    struct op_tensor hidden = op_view_slice(&grid, 1, 0, s->keys);
    op_chain_fill(chain, &grid, 1);
    OP_CHAIN_CALL(chain, "SparseSlot", op_value_tensor(indices), op_value_int(blocks),
                  op_value_tensor(&slot));
    OP_CHAIN_CALL(chain, "InplaceScatterValue", op_value_tensor(&grid), op_value_int(1),
                  op_value_tensor(&slot), op_value_scalar(&zero), op_value_int(0));
    if (s->packed || size > 1) {
        const struct op_tensor block = op_chain_temp(chain, OP_TYPE_I32, 2, shape),
                               width = op_chain_number(chain, (double)size),
                               last = op_chain_number(chain, (double)blocks),
                               behind = op_view_slice(&grid, 1, blocks, 1);
        hidden = op_chain_temp(chain, OP_TYPE_U8, 2, shape);
        op_chain_fill(chain, &behind, 1); // where indices that name nothing went
        OP_CHAIN_CALL(chain, "SparseBlock", op_value_tensor(&s->begin), op_value_tensor(&width),
                      op_value_tensor(&last), op_value_tensor(&block));
        OP_CHAIN_CALL(chain, "Gather", op_value_tensor(&grid), op_value_int(1),
                      op_value_tensor(&block), op_value_tensor(&hidden));
    }
    OP_CHAIN_CALL(chain, "SparseMask", op_value_tensor(&hidden), op_value_tensor(&s->begin),
                  op_value_tensor(&s->end), op_value_tensor(&mask));
    return op_view_shape(&mask, 4, mask_shape);
}
