/* SPDX-License-Identifier: Apache-2.0 */
#include "nsa.h"

#include <inttypes.h>
#include <string.h>

static const char *text_of(const struct op_call *call, const char *name)
{
    const char *text = op_call_value(call, name)->text;
    return text ? text : "";
}

static const struct op_ints *list_of(const struct op_call *call, const char *name)
{
    const struct op_ints *list = op_call_ints(call, name);
    return list && list->count ? list : NULL;
}

// A dense tensor whose last dimensions are `heads` and what is left, as [tokens, heads, width].
static leo_status as_rows(const struct op_call *call, const char *name, const struct op_tensor *t,
                          int64_t tokens, int64_t heads, struct op_tensor *rows)
{
    const int64_t all = op_tensor_count(t), unit = tokens * heads;
    if (unit <= 0 || all % unit) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s of shape %s: %" PRId64 " tokens of %" PRId64 " heads", name,
                            op_tensor_shape_text(t).text, tokens, heads);
    }
    *rows = op_view_shape(t, 3, (const int64_t[]){tokens, heads, all / unit});
    return LEO_OK;
}

leo_status op_nsa_rows(const struct op_call *call, const char *name, int64_t tokens, int64_t heads,
                       int64_t width, struct op_tensor *rows)
{
    const struct op_tensor *tensor = op_call_given(call, name);
    *rows = (struct op_tensor){0};
    if (!tensor) {
        return LEO_OK;
    }
    leo_status status = op_tensor_is_dense(tensor)
                            ? as_rows(call, name, tensor, tokens, heads, rows)
                            : op_call_fail(call, LEO_ERR_SHAPE, "%s must be dense", name);
    if (status == LEO_OK && rows->dim[2] != width) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "%s of shape %s: %" PRId64 " numbers a head",
                              name, op_tensor_shape_text(tensor).text, width);
    }
    return status;
}

static leo_status take_packed(const struct op_call *call, struct op_nsa *nsa)
{
    const struct op_tensor *of[] = {op_call_tensor(call, "query"), op_call_tensor(call, "key"),
                                    op_call_tensor(call, "value")};
    const bool fits = of[0]->rank == 3 && of[1]->rank == 3 && of[2]->rank == 3 &&
                      of[1]->dim[0] == of[2]->dim[0] && of[1]->dim[1] == of[2]->dim[1] &&
                      of[0]->dim[1] == nsa->heads;
    if (!fits || !nsa->query_ends || !nsa->key_lengths ||
        nsa->query_ends->count != nsa->key_lengths->count) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "query %s, key %s and value %s do not fit, or lengths of both are not "
                            "given: TND with %" PRId64 " heads",
                            op_tensor_shape_text(of[0]).text, op_tensor_shape_text(of[1]).text,
                            op_tensor_shape_text(of[2]).text, nsa->heads);
    }
    nsa->sequences = (int64_t)nsa->query_ends->count;
    nsa->key_heads = of[1]->dim[1];
    nsa->query = *of[0];
    nsa->key = *of[1];
    nsa->value = *of[2];
    return LEO_OK;
}

// What the pages of all sequences hold, one behind the other. Entries of the table behind a
// sequence's last page may be anything: its keys there are not seen.
static leo_status out_of_pages(struct op_chain *chain, const char *name,
                               const struct op_tensor *table, int64_t heads, struct op_tensor *rows)
{
    const struct op_tensor dense = op_chain_dense(chain, op_call_tensor(chain->call, name)->type,
                                                  op_call_tensor(chain->call, name));
    const int64_t pages = op_tensor_count(table);
    const struct op_tensor whole = op_chain_dense(chain, OP_TYPE_I64, table),
                           list = op_view_shape(&whole, 1, &pages),
                           safe = op_chain_temp_like(chain, list.type, &list);
    struct op_tensor like = dense;
    like.dim[0] = pages;
    const struct op_tensor taken = op_chain_temp_like(chain, dense.type, &like);
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(&list), op_value_int(dense.dim[0]),
                  op_value_tensor(&safe));
    OP_CHAIN_CALL(chain, "IndexSelect", op_value_tensor(&dense), op_value_int(0),
                  op_value_tensor(&safe), op_value_tensor(&taken));
    return as_rows(chain->call, name, &taken, pages * dense.dim[1], heads, rows);
}

static leo_status take_pages(struct op_chain *chain, const struct op_nsa_names *names,
                             struct op_nsa *nsa)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *query = op_call_tensor(call, "query"),
                           *key = op_call_tensor(call, "key"),
                           *value = op_call_tensor(call, "value"),
                           *table = op_call_given(call, names->table);
    const char *layout = text_of(call, names->layout);
    const bool packed = strcmp(layout, "TND") == 0;
    nsa->key_heads = op_call_int(call, "numKeyValueHeads");
    if ((!packed && strcmp(layout, "BSH") != 0 && strcmp(layout, "BSND") != 0) || !table ||
        table->rank != 2 || !nsa->key_lengths || nsa->key_heads < 1 || query->rank < 2 ||
        key->rank < 3 || value->rank < 3 || key->dim[1] != op_call_int(call, "pageBlockSize") ||
        key->dim[0] != value->dim[0] || key->dim[1] != value->dim[1] || key->dim[0] < 1 ||
        table->dim[0] != (int64_t)nsa->key_lengths->count) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "layout %s, key %s, value %s and %s do not fit: BSH, BSND or TND, keys "
                            "and values in pages of pageBlockSize, a table with a line and a "
                            "length of keys for each sequence",
                            layout, op_tensor_shape_text(key).text,
                            op_tensor_shape_text(value).text, names->table);
    }
    nsa->sequences = table->dim[0];
    nsa->room = table->dim[1] * key->dim[1];
    const int64_t tokens = packed ? query->dim[0] : query->dim[0] * query->dim[1];
    if ((packed && !nsa->query_ends && tokens != nsa->sequences) ||
        (!packed && query->dim[0] != nsa->sequences)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "query %s for %" PRId64 " sequences",
                            op_tensor_shape_text(query).text, nsa->sequences);
    }
    nsa->query_ends = packed ? nsa->query_ends : NULL;
    const struct op_tensor dense = op_chain_dense(chain, query->type, query);
    leo_status status = as_rows(call, "query", &dense, tokens, nsa->heads, &nsa->query);
    if (status == LEO_OK) {
        status = out_of_pages(chain, "key", table, nsa->key_heads, &nsa->key);
    }
    if (status == LEO_OK) {
        status = out_of_pages(chain, "value", table, nsa->key_heads, &nsa->value);
    }
    return status == LEO_OK ? chain->status : status;
}

leo_status op_nsa_take(struct op_chain *chain, const struct op_nsa_names *names, struct op_nsa *nsa)
{
    const struct op_call *call = chain->call;
    const int64_t mode = op_call_int(call, "sparseMode");
    const char *layout = text_of(call, names->layout);
    *nsa = (struct op_nsa){.mask = op_call_given(call, names->mask),
                           .query_ends = list_of(call, names->query_lengths),
                           .key_lengths = list_of(call, names->key_lengths),
                           .heads = op_call_int(call, names->heads),
                           .scale = op_call_real(call, "scaleValue"),
                           .causal = mode == 2 && op_call_given(call, names->mask)};
    if ((mode < 0 || mode > 2) || nsa->heads < 1 || (!names->table && strcmp(layout, "TND") != 0)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "sparseMode %" PRId64 ", %" PRId64
                            " heads, layout %s: modes 0 to 2, heads from 1 on%s",
                            mode, nsa->heads, layout, names->table ? "" : ", TND");
    }
    leo_status status = names->table ? take_pages(chain, names, nsa) : take_packed(call, nsa);
    if (status != LEO_OK) {
        return status;
    }
    if (nsa->heads % nsa->key_heads || nsa->query.dim[2] != nsa->key.dim[2] ||
        nsa->query.dim[2] == 0 || nsa->value.dim[2] == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%" PRId64 " heads of %" PRId64 " features, %" PRId64 " of %" PRId64
                            " for keys: they do not fit",
                            nsa->heads, nsa->query.dim[2], nsa->key_heads, nsa->key.dim[2]);
    }
    nsa->mask = nsa->causal ? NULL : nsa->mask;
    if (nsa->mask && nsa->mask->rank != 2) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s of shape %s: [queries, keys]", names->mask,
                            op_tensor_shape_text(nsa->mask).text);
    }
    return LEO_OK;
}

static int64_t before(const struct op_ints *ends, int64_t index)
{
    return index ? ends->items[index - 1] : 0;
}

static leo_status find_part(const struct op_call *call, const struct op_nsa *nsa, int64_t index,
                            struct op_nsa_part *part)
{
    const struct op_tensor *of[] = {&nsa->query, &nsa->key};
    const struct op_ints *ends[] = {nsa->query_ends, nsa->room ? NULL : nsa->key_lengths};
    for (unsigned i = 0; i < 2; i++) {
        const int64_t room = of[i]->dim[0] / nsa->sequences;
        part->first[i] = ends[i] ? before(ends[i], index) : index * room;
        part->count[i] = ends[i] ? ends[i]->items[index] - part->first[i] : room;
        if (i == 1 && nsa->room) {
            part->count[1] = nsa->key_lengths->items[index];
        }
        const int64_t most = ends[i] ? of[i]->dim[0] - part->first[i] : room;
        if (part->first[i] < 0 || part->count[i] < 0 || part->count[i] > most) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "sequence %" PRId64 " has %" PRId64 " %s: they do not lie in %s",
                                index, part->count[i], i ? "keys" : "queries",
                                op_tensor_shape_text(of[i]).text);
        }
    }
    if (nsa->mask && (nsa->mask->dim[0] < part->count[0] || nsa->mask->dim[1] < part->count[1])) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "the mask of shape %s is too small for sequence %" PRId64,
                            op_tensor_shape_text(nsa->mask).text, index);
    }
    return LEO_OK;
}

leo_status op_nsa_each(struct op_chain *chain, const struct op_nsa *nsa, op_nsa_work *work,
                       const void *user)
{
    leo_status status = chain->status;
    for (int64_t i = 0; status == LEO_OK && i < nsa->sequences; i++) {
        struct op_nsa_part part;
        const uint64_t mark = op_plan_temp_mark(chain->plan);
        status = find_part(chain->call, nsa, i, &part);
        if (status == LEO_OK && part.count[0] > 0 && part.count[1] > 0) {
            status = work(chain, &part, i, user);
        }
        op_plan_temp_release(chain->plan, mark);
    }
    return status;
}

struct op_tensor op_nsa_heads(const struct op_nsa *nsa, const struct op_tensor *tensor,
                              int64_t first, int64_t count)
{
    const struct op_tensor some = op_view_slice(tensor, 0, first, count);
    struct op_tensor seen = op_view_insert(&some, 2);
    seen.dim[1] = nsa->key_heads;
    seen.dim[2] = some.dim[1] / nsa->key_heads;
    seen.stride[2] = some.stride[1];
    seen.stride[1] = some.stride[1] * seen.dim[2];
    const struct op_tensor turned = op_view_swap(&seen, 0, 1);
    return op_view_swap(&turned, 1, 2);
}

struct op_tensor op_nsa_mask(const struct op_nsa *nsa, const struct op_nsa_part *part)
{
    if (!nsa->mask) {
        return (struct op_tensor){0};
    }
    const struct op_tensor rows = op_view_slice(nsa->mask, 0, 0, part->count[0]),
                           some = op_view_slice(&rows, 1, 0, part->count[1]),
                           one = op_view_insert(&some, 0);
    return op_view_insert(&one, 0);
}

struct op_tensor op_nsa_column(struct op_chain *chain, const struct op_nsa *nsa,
                               const struct op_nsa_part *part)
{
    const int64_t shape[] = {nsa->key_heads, nsa->heads / nsa->key_heads, part->count[0],
                             OP_NSA_COPIES};
    return op_chain_temp(chain, OP_TYPE_F32, 4, shape);
}

void op_nsa_give_column(struct op_chain *chain, const struct op_nsa *nsa,
                        const struct op_nsa_part *part, const struct op_tensor *result,
                        const struct op_tensor *column)
{
    if (result->rank) {
        const struct op_tensor to = op_nsa_heads(nsa, result, part->first[0], part->count[0]);
        op_chain_copy(chain, &to, column);
    }
}

void op_nsa_attend(struct op_chain *chain, const struct op_nsa *nsa, const struct op_nsa_part *part,
                   const struct op_tensor *hidden, const struct op_tensor *max,
                   const struct op_tensor *sum, const struct op_tensor *out)
{
    static const struct op_value layout = {.kind = OP_KIND_TEXT, .text = "BNSD"};
    const struct op_value none = op_value_tensor(NULL);
    const struct op_tensor query = op_nsa_heads(nsa, &nsa->query, part->first[0], part->count[0]),
                           key = op_nsa_heads(nsa, &nsa->key, part->first[1], part->count[1]),
                           value = op_nsa_heads(nsa, &nsa->value, part->first[1], part->count[1]),
                           first = op_view_slice(max, 3, 0, 1);
    OP_CHAIN_CALL(chain, "FlashAttentionScore", op_value_tensor(&query), op_value_tensor(&key),
                  op_value_tensor(&value), none, none, none,
                  op_value_tensor(hidden->rank ? hidden : NULL), op_value_ints(NULL),
                  op_value_real(nsa->scale), op_value_real(1), op_value_int(INT32_MAX),
                  op_value_int(INT32_MAX), op_value_int(nsa->heads / nsa->key_heads), layout,
                  op_value_int(0), op_value_int(nsa->causal && !hidden->rank ? 2 : 0),
                  op_value_tensor(max), op_value_tensor(sum), none, op_value_tensor(out));
    // Tokens that see nothing give 0.
    OP_CHAIN_CALL(chain, "AttentionAlive", op_value_tensor(&first), op_value_tensor(out),
                  op_value_tensor(out));
}
