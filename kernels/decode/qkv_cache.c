/* SPDX-License-Identifier: Apache-2.0 */
/* Queries, keys and values of a step: the first two normalised and turned, the last two put into
 * pages [pages, blocks of features, slots, features of a block]. */
#include "../moe/moe.h"

#include <inttypes.h>
#include <string.h>

enum { PARTS = 3, Q = 0, K = 1, V = 2 };

struct qkv {
    const struct op_tensor *all, *cos, *sin, *index;
    int64_t tokens, width, heads[PARTS];
};

static const char *const before_names[PARTS] = {"q_out_before_quant", "k_out_before_quant",
                                                "v_out_before_quant"},
                         *const gamma_names[] = {"q_gamma", "k_gamma"},
                         *const cache_names[] = {NULL, "k_cache", "v_cache"},
                         *const scale_names[] = {NULL, "k_scale", "v_scale"},
                         *const offset_names[] = {NULL, "k_offset", "v_offset"};

static leo_status check_cache(const struct op_call *call, const struct qkv *c, unsigned part)
{
    const struct op_tensor *cache = op_call_tensor(call, cache_names[part]),
                           *scale = op_call_tensor(call, scale_names[part]),
                           *offset = op_call_tensor(call, offset_names[part]);
    const int64_t features[] = {c->heads[part], c->width};
    const bool fits = cache->rank == 4 && op_tensor_is_dense(cache) &&
                      cache->dim[1] * cache->dim[3] == features[0] * features[1] &&
                      cache->dim[2] > 0 && (cache->type == OP_TYPE_I8) == (scale != NULL) &&
                      (!offset || scale);
    leo_status status =
        fits
            ? LEO_OK
            : op_call_fail(call, LEO_ERR_SHAPE,
                           "%s has shape %s and type %s%s: it must be dense [pages, blocks, slots, "
                           "features of a block], blocks times features %" PRId64
                           "; i8 needs a scale, others none",
                           cache_names[part], op_tensor_shape_text(cache).text,
                           op_type_name(cache->type), scale ? " with a scale" : "",
                           features[0] * features[1]);
    if (status == LEO_OK && scale) {
        status = op_call_check_shape(call, scale_names[part], 2, features);
    }
    if (status == LEO_OK && offset) {
        status = op_call_check_shape(call, offset_names[part], 2, features);
    }
    return status;
}

static leo_status check(const struct op_call *call, const struct qkv *c)
{
    const int64_t all[] = {c->tokens, (c->heads[Q] + c->heads[K] + c->heads[V]) * c->width},
                  angles[] = {c->tokens, c->width}, q[] = {c->tokens, c->heads[Q] * c->width};
    leo_status status = op_call_check_shape(call, "qkv", 2, all);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "cos", 2, angles);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "sin", 2, angles);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "index", 1, &c->tokens);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "q_out", 2, q);
    }
    for (unsigned part = 0; status == LEO_OK && part < PARTS; part++) {
        const int64_t own[] = {c->tokens, c->heads[part] * c->width};
        if (op_call_tensor(call, before_names[part])) {
            status = op_call_check_shape(call, before_names[part], 2, own);
        }
        if (status == LEO_OK && part < V) {
            status = op_call_check_shape(call, gamma_names[part], 1, &c->width);
        }
        if (status == LEO_OK && part > Q) {
            status = check_cache(call, c, part);
        }
    }
    return status;
}

static leo_status take(const struct op_call *call, struct qkv *c)
{
    const struct op_ints *size = op_call_ints(call, "qkv_size"),
                         *heads = op_call_ints(call, "head_nums");
    const char *mode = op_call_value(call, "cache_mode_ptr")->text;
    if (size->count != 4 || heads->count != PARTS || size->items[0] < 0 || size->items[1] < 0 ||
        size->items[3] < 2 || size->items[3] % 2 || heads->items[Q] < 1 || heads->items[K] < 1 ||
        heads->items[V] < 1 ||
        heads->items[Q] + heads->items[K] + heads->items[V] != size->items[2]) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "qkv_size must be batch, length, heads and an even width, head_nums "
                            "the heads of queries, keys and values");
    }
    if (!mode || strcmp(mode, "PA_NZ") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "cache_mode is %s, PA_NZ is possible",
                            mode ? mode : "NULL");
    }
    *c = (struct qkv){op_call_tensor(call, "qkv"),
                      op_call_tensor(call, "cos"),
                      op_call_tensor(call, "sin"),
                      op_call_tensor(call, "index"),
                      size->items[0] * size->items[1],
                      size->items[3],
                      {heads->items[Q], heads->items[K], heads->items[V]}};
    return check(call, c);
}

// Heads of a part as [tokens, heads, width].
static struct op_tensor heads_of(const struct qkv *c, const struct op_tensor *rows, int64_t first,
                                 int64_t heads)
{
    const struct op_tensor part = op_view_slice(rows, 1, first * c->width, heads * c->width);
    struct op_tensor seen = op_view_insert(&part, 1);
    seen.dim[1] = heads;
    seen.stride[1] = rows->stride[1] * c->width;
    seen.dim[2] = c->width;
    return seen;
}

static struct op_tensor normalise(struct op_chain *chain, const struct qkv *c, unsigned part,
                                  const struct op_tensor *heads)
{
    const int64_t rows[] = {c->tokens, c->heads[part], 1};
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, 3, heads->dim),
                           unused = op_chain_temp(chain, OP_TYPE_F32, 3, rows),
                           wide = op_chain_dense(chain, OP_TYPE_F32, heads),
                           gamma = op_chain_dense(chain, OP_TYPE_F32,
                                                  op_call_tensor(chain->call, gamma_names[part]));
    OP_CHAIN_CALL(chain, "RmsNorm", op_value_tensor(&wide), op_value_tensor(&gamma),
                  *op_call_value(chain->call, "epsilon"), op_value_tensor(&out),
                  op_value_tensor(&unused));
    return out;
}

// Halves of each head turned by the angles of its token.
static struct op_tensor turn(struct op_chain *chain, const struct qkv *c,
                             const struct op_tensor *heads)
{
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, 3, heads->dim),
                           cos = op_view_insert(c->cos, 1), sin = op_view_insert(c->sin, 1),
                           a = op_view_half(heads, 0), b = op_view_half(heads, 1),
                           coses[] = {op_view_half(&cos, 0), op_view_half(&cos, 1)},
                           sins[] = {op_view_half(&sin, 0), op_view_half(&sin, 1)},
                           to[] = {op_view_half(&out, 0), op_view_half(&out, 1)};
    op_moe_turn(chain, &a, &b, coses, sins, to);
    return out;
}

// In the type of the cache: [tokens, heads, width], dense.
static struct op_tensor as_cached(struct op_chain *chain, const struct qkv *c, unsigned part,
                                  const struct op_tensor *heads)
{
    const struct op_tensor *cache = op_call_tensor(chain->call, cache_names[part]),
                           *scale = op_call_tensor(chain->call, scale_names[part]),
                           *offset = op_call_tensor(chain->call, offset_names[part]);
    const struct op_tensor out = op_chain_temp(chain, cache->type, 3, heads->dim);
    const int64_t features[] = {c->heads[part], c->width};
    if (!scale) {
        op_chain_copy(chain, &out, heads);
        return out;
    }
    const struct op_tensor zero = offset ? *offset : op_chain_temp(chain, OP_TYPE_F32, 2, features);
    if (!offset) {
        op_chain_fill(chain, &zero, 0);
    }
    OP_CHAIN_CALL(chain, "CacheByte", op_value_tensor(heads), op_value_tensor(scale),
                  op_value_tensor(&zero), op_value_tensor(&out));
    return out;
}

static void put(struct op_chain *chain, const struct qkv *c, unsigned part,
                const struct op_tensor *heads)
{
    const struct op_tensor *cache = op_call_tensor(chain->call, cache_names[part]);
    const int64_t blocks = cache->dim[1], size = cache->dim[2], width = cache->dim[3],
                  rows[] = {c->tokens * blocks, width},
                  slots[] = {cache->dim[0] * blocks * size, width}, places[] = {c->tokens, blocks};
    const struct op_tensor made = as_cached(chain, c, part, heads),
                           from = op_view_shape(&made, 2, rows),
                           table = op_view_shape(cache, 2, slots),
                           list = op_chain_dense(chain, OP_TYPE_I64, c->index),
                           column = op_view_insert(&list, 1),
                           place = op_chain_temp(chain, OP_TYPE_I64, 2, places),
                           flat = op_view_shape(&place, 1, rows);
    struct op_tensor index = op_view_insert(&flat, 1); // the same place for a block's features
    index.dim[1] = width;
    index.stride[1] = 0;
    OP_CHAIN_CALL(chain, "CacheBlock", op_value_tensor(&column), op_value_int(blocks),
                  op_value_int(size), op_value_tensor(&place));
    OP_CHAIN_CALL(chain, "ScatterGeneral", op_value_tensor(&table), op_value_int(0),
                  op_value_tensor(&index), op_value_tensor(&from), op_value_int(0));
}

static void give(struct op_chain *chain, const struct qkv *c, const char *name,
                 const struct op_tensor *heads)
{
    const struct op_tensor *out = op_call_tensor(chain->call, name);
    if (out) {
        const struct op_tensor to = heads_of(c, out, 0, heads->dim[1]);
        op_chain_copy(chain, &to, heads);
    }
}

leo_status op_plan_qkv_cache(const struct op_call *call)
{
    struct qkv c;
    int64_t first = 0;
    leo_status status = take(call, &c);
    if (status != LEO_OK || c.tokens == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    for (unsigned part = 0; part < PARTS; first += c.heads[part++]) {
        struct op_tensor heads = heads_of(&c, c.all, first, c.heads[part]);
        if (part < V) {
            const struct op_tensor norm = normalise(&chain, &c, part, &heads);
            heads = turn(&chain, &c, &norm);
        }
        give(&chain, &c, before_names[part], &heads);
        if (part == Q) {
            give(&chain, &c, "q_out", &heads);
        } else {
            put(&chain, &c, part, &heads);
        }
    }
    return chain.status;
}
