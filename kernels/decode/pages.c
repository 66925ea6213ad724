/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values of sequences taken out of the pages of a cache. */
#include "../moe/moe.h"

#include <inttypes.h>
#include <string.h>

struct pages {
    const struct op_tensor *tables, *lengths, *offset, *cache[2], *out[2];
    int64_t batch, tokens, pages, size; /* size: slots of a page */
    bool sums;                          /* lengths are where sequences begin, and the end */
};

static const char *const cache_names[] = {"key_cache", "value_cache"}, *const out_names[] = {
                                                                           "key", "value"};

static bool fits(const struct pages *p)
{
    bool all = p->tables->rank == 2 && p->lengths->rank == 1 &&
               p->lengths->dim[0] == p->batch + p->sums && p->batch > 0 && p->tables->dim[1] > 0 &&
               (!p->offset || (p->offset->rank == 1 && p->offset->dim[0] == p->batch));
    for (unsigned i = 0; all && i < 2; i++) {
        const struct op_tensor *cache = p->cache[i], *out = p->out[i];
        all = cache->rank == 4 && op_tensor_is_dense(cache) && cache->dim[0] == p->pages &&
              cache->dim[1] == p->size && p->size > 0 && out->rank == 3 &&
              out->dim[0] == p->tokens && out->dim[1] == cache->dim[2] &&
              out->dim[2] == cache->dim[3] && out->type == cache->type;
    }
    return all;
}

static leo_status take(const struct op_call *call, struct pages *p)
{
    const char *mode = op_call_value(call, "cacheMode")->text;
    *p = (struct pages){.tables = op_call_tensor(call, "block_tables"),
                        .lengths = op_call_tensor(call, "seq_lens"),
                        .offset = op_call_tensor(call, "seq_offset"),
                        .sums = op_call_int(call, "is_seq_lens_cumsum") != 0};
    for (unsigned i = 0; i < 2; i++) {
        p->cache[i] = op_call_tensor(call, cache_names[i]);
        p->out[i] = op_call_tensor(call, out_names[i]);
    }
    p->batch = p->tables->rank ? p->tables->dim[0] : 0;
    p->tokens = p->out[0]->rank ? p->out[0]->dim[0] : 0;
    p->pages = p->cache[0]->rank ? p->cache[0]->dim[0] : 0;
    p->size = p->cache[0]->rank > 1 ? p->cache[0]->dim[1] : 0;
    if (mode && strcmp(mode, "Norm") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "cacheMode is %s, Norm is possible", mode);
    }
    return fits(p)
               ? LEO_OK
               : op_call_fail(
                     call, LEO_ERR_SHAPE,
                     "a dense key_cache %s, key %s, block_tables %s and seq_lens %s do "
                     "not fit: [pages, slots, heads, width], [tokens, heads, width], "
                     "[batch, pages] and [batch], one more with is_seq_lens_cumsum",
                     op_tensor_shape_text(p->cache[0]).text, op_tensor_shape_text(p->out[0]).text,
                     op_tensor_shape_text(p->tables).text, op_tensor_shape_text(p->lengths).text);
}

static struct op_tensor take_at(struct op_chain *chain, const struct op_tensor *list,
                                const struct op_tensor *places)
{
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_I64, places);
    op_moe_take_rows(chain, list, places, &out);
    return out;
}

// Where sequences begin and end in the list of tokens.
static void find_bounds(struct op_chain *chain, const struct pages *p, struct op_tensor *begin,
                        struct op_tensor *end)
{
    const struct op_tensor lengths = op_chain_dense(chain, OP_TYPE_I64, p->lengths);
    if (p->sums) {
        *begin = op_view_slice(&lengths, 0, 0, p->batch);
        *end = op_view_slice(&lengths, 0, 1, p->batch);
        return;
    }
    const struct op_scalar one = op_scalar_int(1);
    *begin = op_chain_temp_like(chain, OP_TYPE_I64, &lengths);
    *end = op_chain_temp_like(chain, OP_TYPE_I64, &lengths);
    OP_CHAIN_CALL(chain, "Cumsum", op_value_tensor(&lengths), op_value_int(0),
                  op_value_type(OP_TYPE_I64), op_value_tensor(end));
    OP_CHAIN_CALL(chain, "Sub", op_value_tensor(end), op_value_tensor(&lengths),
                  op_value_scalar(&one), op_value_tensor(begin));
}

/* For each token of the list. */
struct tokens {
    struct op_tensor slot, has; /* its slot, or -1; whether a sequence has it */
};

static struct tokens find_tokens(struct op_chain *chain, const struct pages *p)
{
    const int64_t entries = p->tables->dim[0] * p->tables->dim[1];
    struct op_tensor begin, end;
    const struct op_tensor token = op_chain_temp(chain, OP_TYPE_I64, 1, &p->tokens),
                           found = op_chain_temp_like(chain, OP_TYPE_I64, &token),
                           row = op_chain_temp_like(chain, OP_TYPE_I64, &token),
                           has = op_chain_temp_like(chain, OP_TYPE_F32, &token),
                           column = op_chain_temp_like(chain, OP_TYPE_I64, &token),
                           entry = op_chain_temp_like(chain, OP_TYPE_I64, &token),
                           safe = op_chain_temp_like(chain, OP_TYPE_I64, &token),
                           slot = op_chain_temp_like(chain, OP_TYPE_I64, &token);
    find_bounds(chain, p, &begin, &end);
    op_chain_range(chain, &token, 0, 1);
    OP_CHAIN_CALL(chain, "SearchSorted", op_value_tensor(&end), op_value_tensor(&token),
                  op_value_int(0), op_value_int(1), op_value_tensor(NULL), op_value_tensor(&found));
    OP_CHAIN_CALL(chain, "MoeHas", op_value_tensor(&found), op_value_int(p->batch),
                  op_value_tensor(&has));
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(&found), op_value_int(p->batch),
                  op_value_tensor(&row));
    const struct op_tensor dense = op_chain_dense(chain, OP_TYPE_I64, p->tables),
                           list = op_view_shape(&dense, 1, &entries),
                           start = take_at(chain, &begin, &row);
    struct op_tensor offset = op_chain_temp_like(chain, OP_TYPE_I64, &token);
    op_chain_fill(chain, &offset, 0);
    if (p->offset) {
        const struct op_tensor offsets = op_chain_dense(chain, OP_TYPE_I64, p->offset);
        offset = take_at(chain, &offsets, &row);
    }
    OP_CHAIN_CALL(chain, "PageColumn", op_value_tensor(&token), op_value_tensor(&start),
                  op_value_tensor(&offset), op_value_int(p->size), op_value_tensor(&column));
    OP_CHAIN_CALL(chain, "PageEntry", op_value_tensor(&row), op_value_tensor(&column),
                  op_value_int(p->tables->dim[1]), op_value_tensor(&entry));
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(&entry), op_value_int(entries),
                  op_value_tensor(&safe));
    const struct op_tensor page = take_at(chain, &list, &safe);
    OP_CHAIN_CALL(chain, "PageSlot", op_value_tensor(&page), op_value_tensor(&entry),
                  op_value_tensor(&token), op_value_tensor(&start), op_value_int(p->size),
                  op_value_int(p->pages), op_value_tensor(&slot));
    return (struct tokens){slot, op_view_insert(&has, 1)};
}

leo_status op_plan_gather_pages(const struct op_call *call)
{
    struct pages p;
    leo_status status = take(call, &p);
    if (status != LEO_OK || p.tokens == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct tokens tokens = find_tokens(&chain, &p);
    for (unsigned i = 0; i < 2; i++) {
        const int64_t width = p.cache[i]->dim[2] * p.cache[i]->dim[3],
                      slots[] = {p.pages * p.size, width}, shape[] = {p.tokens, width};
        if (width == 0) {
            continue;
        }
        const struct op_tensor table = op_view_shape(p.cache[i], 2, slots),
                               rows = op_moe_rows(&chain, &table, &tokens.slot, true),
                               old = op_chain_temp(&chain, p.out[i]->type, 3, p.out[i]->dim),
                               flat = op_view_shape(&old, 2, shape);
        op_chain_copy(&chain, &old, p.out[i]);
        OP_CHAIN_CALL(&chain, "MoeRowKept", op_value_tensor(&tokens.has), op_value_tensor(&rows),
                      op_value_tensor(&flat), op_value_tensor(&flat));
        op_chain_copy(&chain, p.out[i], &old);
    }
    return chain.status;
}
