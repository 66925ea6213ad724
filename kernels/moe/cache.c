/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values of a step of generation: normalised, turned, and put into their cache. */
#include "moe.h"

#include <inttypes.h>
#include <string.h>

struct cache_call {
    const struct op_tensor *kv, *gamma, *cos, *sin, *index, *k_cache, *v_cache;
    int64_t rows, turned, normed; /* rows; features of either part */
    bool paged;
};

static leo_status check_mode(const struct op_call *call, struct cache_call *c)
{
    const char *text = op_call_value(call, "cache_mode_ptr")->text;
    text = text ? text : "Norm";
    c->paged = strcmp(text, "PA") == 0 || strcmp(text, "PA_BNSD") == 0;
    if (c->paged || strcmp(text, "Norm") == 0) {
        return LEO_OK;
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                        "cache_mode %s: Norm, PA and PA_BNSD are possible", text);
}

static bool fits_cache(const struct op_tensor *cache, int64_t width)
{
    return cache->rank == 4 && cache->dim[3] == width && op_tensor_is_dense(cache);
}

static leo_status take(const struct op_call *call, struct cache_call *c)
{
    *c = (struct cache_call){
        .kv = op_call_tensor(call, "kv"),
        .gamma = op_call_tensor(call, "gamma"),
        .cos = op_call_tensor(call, "cos"),
        .sin = op_call_tensor(call, "sin"),
        .index = op_call_tensor(call, "index"),
        .k_cache = op_call_tensor(call, "k_cache"),
        .v_cache = op_call_tensor(call, "ckv_cache"),
    };
    leo_status status = check_mode(call, c);
    if (status == LEO_OK && op_call_has(call, "v_tsr_opt") && op_call_tensor(call, "v_tsr_opt")) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "v_tsr_opt must be NULL: values of their own are not computed");
    }
    const struct op_tensor *kv = c->kv, *cos = c->cos;
    c->normed = op_tensor_count(c->gamma);
    c->turned = kv->rank == 4 ? kv->dim[3] - c->normed : 0;
    c->rows = kv->rank == 4 ? kv->dim[0] * kv->dim[2] : 0;
    const bool fits = kv->rank == 4 && kv->dim[1] == 1 && c->turned > 0 && c->turned % 2 == 0 &&
                      cos->rank == 4 && op_tensor_same_shape(cos, c->sin) &&
                      cos->dim[0] == kv->dim[0] && cos->dim[3] == c->turned &&
                      (cos->dim[2] == 1 || cos->dim[2] == kv->dim[2]) && cos->dim[1] == 1 &&
                      op_tensor_count(c->index) == c->rows && fits_cache(c->k_cache, c->turned) &&
                      fits_cache(c->v_cache, c->normed) && c->k_cache->dim[c->paged ? 2 : 1] == 1 &&
                      (c->paged || c->k_cache->dim[0] == kv->dim[0]);
    if (status == LEO_OK && !fits) {
        status = op_call_fail(
            call, LEO_ERR_SHAPE,
            "kv %s (of one head), gamma %s, cos %s, index %s and dense caches %s, "
            "%s do not fit",
            op_tensor_shape_text(kv).text, op_tensor_shape_text(c->gamma).text,
            op_tensor_shape_text(cos).text, op_tensor_shape_text(c->index).text,
            op_tensor_shape_text(c->k_cache).text, op_tensor_shape_text(c->v_cache).text);
    }
    return status;
}

/* ---- what goes into the caches ---- */

static struct op_tensor normed(struct op_chain *chain, const struct cache_call *c)
{
    const struct op_tensor part = op_view_slice(c->kv, 3, 0, c->normed),
                           out = op_chain_temp_like(chain, OP_TYPE_F32, &part);
    int64_t rows[] = {part.dim[0], part.dim[1], part.dim[2], 1};
    const struct op_tensor unused = op_chain_temp(chain, OP_TYPE_F32, 4, rows);
    OP_CHAIN_CALL(chain, "RmsNorm", op_value_tensor(&part), op_value_tensor(c->gamma),
                  op_value_real(op_call_real(chain->call, "epsilon")), op_value_tensor(&out),
                  op_value_tensor(&unused));
    return out;
}

static struct op_tensor turned(struct op_chain *chain, const struct cache_call *c)
{
    const struct op_tensor part = op_view_slice(c->kv, 3, c->normed, c->turned),
                           a = op_view_every_second(&part, 3, 0),
                           b = op_view_every_second(&part, 3, 1),
                           out = op_chain_temp_like(chain, OP_TYPE_F32, &part),
                           cos[] = {op_view_half(c->cos, 0), op_view_half(c->cos, 1)},
                           sin[] = {op_view_half(c->sin, 0), op_view_half(c->sin, 1)},
                           to[] = {op_view_half(&out, 0), op_view_half(&out, 1)};
    op_moe_turn(chain, &a, &b, cos, sin, to);
    return out;
}

// In the type of the cache, quantised for i8.
static leo_status as_cached(struct op_chain *chain, const struct op_tensor *values,
                            const struct op_tensor *cache, const char *scale_name,
                            const char *offset_name, struct op_tensor *out)
{
    const struct op_tensor *scale = op_call_tensor(chain->call, scale_name),
                           *offset = op_call_tensor(chain->call, offset_name);
    const int64_t width = values->dim[3];
    if ((cache->type == OP_TYPE_I8) != (scale != NULL) || (offset && !scale) ||
        (scale && op_tensor_count(scale) != 1 && op_tensor_count(scale) != width) ||
        (offset && op_tensor_count(offset) != 1 && op_tensor_count(offset) != width)) {
        return op_call_fail(chain->call, LEO_ERR_INVALID_ARG,
                            "a cache of %s with %s%s of shape %s: i8 needs a scale for all or "
                            "each of %" PRId64 " features, others none",
                            op_type_name(cache->type), scale ? "" : "no ", scale_name,
                            op_tensor_shape_text(scale ? scale : cache).text, width);
    }
    *out = op_chain_temp_like(chain, cache->type, values);
    if (!scale) {
        op_chain_copy(chain, out, values);
        return chain->status;
    }
    const struct op_tensor factor = op_moe_flat(chain, scale),
                           sum = offset ? op_moe_flat(chain, offset) : op_chain_number(chain, 0);
    OP_CHAIN_CALL(chain, "QuantMultiplySum", op_value_tensor(values), op_value_tensor(&factor),
                  op_value_tensor(&sum), op_value_tensor(out));
    return chain->status;
}

/* ---- places ---- */

/* Rows with a place less than 0 are left out: each writes once more what another row writes, or, if
 * none has a place, what the first slot holds. */
struct places {
    struct op_tensor source, slot, has; /* row to take, i64; where it goes; f32 [rows, 1] */
};

static struct places places_of(struct op_chain *chain, const struct op_tensor *list)
{
    const int64_t one_place = 1;
    const struct op_tensor has = op_chain_temp_like(chain, OP_TYPE_F32, list),
                           best = op_chain_temp(chain, OP_TYPE_I64, 1, &one_place),
                           number = op_chain_temp_like(chain, OP_TYPE_I64, list),
                           flag = op_chain_temp_like(chain, OP_TYPE_I64, list),
                           source = op_chain_temp_like(chain, OP_TYPE_I64, list),
                           slot = op_chain_temp_like(chain, OP_TYPE_I64, list),
                           safe = op_chain_temp_like(chain, OP_TYPE_I64, list);
    OP_CHAIN_CALL(chain, "MoeHas", op_value_tensor(list), op_value_int(INT64_MAX),
                  op_value_tensor(&has));
    op_chain_copy(chain, &flag, &has);
    OP_CHAIN_CALL(chain, "ArgMax", op_value_tensor(&has), op_value_int(0), op_value_int(1),
                  op_value_tensor(&best));
    op_chain_range(chain, &number, 0, 1);
    OP_CHAIN_CALL(chain, "MoeInstead", op_value_tensor(&flag), op_value_tensor(&number),
                  op_value_tensor(&best), op_value_tensor(&source));
    op_moe_take_rows(chain, list, &source, &slot);
    OP_CHAIN_CALL(chain, "MoeHas", op_value_tensor(&slot), op_value_int(INT64_MAX),
                  op_value_tensor(&has));
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(&slot), op_value_int(INT64_MAX),
                  op_value_tensor(&safe));
    return (struct places){source, safe, op_view_insert(&has, 1)};
}

// The places of a call; a member of the batch has slots of its own if caches have no pages.
static struct op_tensor slots_of(struct op_chain *chain, const struct cache_call *c)
{
    struct op_tensor list = op_chain_dense(chain, OP_TYPE_I64, c->index);
    if (!c->paged) {
        const int64_t shape[] = {c->kv->dim[0], c->kv->dim[2]};
        const struct op_tensor wide = op_view_shape(&list, 2, shape),
                               moved = op_chain_temp_like(chain, OP_TYPE_I64, &wide);
        OP_CHAIN_CALL(chain, "MoeOwnSlot", op_value_tensor(&wide), op_value_int(c->k_cache->dim[2]),
                      op_value_tensor(&moved));
        list = moved;
    }
    return op_view_shape(&list, 1, &c->rows);
}

// Rows of `width` numbers into a dense cache.
static void put(struct op_chain *chain, const struct places *p, const struct op_tensor *values,
                const struct op_tensor *cache, int64_t width)
{
    const int64_t slots[] = {op_tensor_count(cache) / width, width},
                  shape[] = {p->slot.dim[0], width};
    const struct op_tensor rows = op_view_shape(values, 2, shape),
                           table = op_view_shape(cache, 2, slots),
                           taken = op_chain_temp_like(chain, cache->type, &rows),
                           old = op_chain_temp_like(chain, cache->type, &rows),
                           kept = op_chain_temp_like(chain, cache->type, &rows);
    op_moe_take_rows(chain, &rows, &p->source, &taken);
    op_moe_take_rows(chain, &table, &p->slot, &old);
    OP_CHAIN_CALL(chain, "MoeRowKept", op_value_tensor(&p->has), op_value_tensor(&taken),
                  op_value_tensor(&old), op_value_tensor(&kept));
    OP_CHAIN_CALL(chain, "InplaceIndexCopy", op_value_tensor(&table), op_value_int(0),
                  op_value_tensor(&p->slot), op_value_tensor(&kept));
}

static leo_status give(struct op_chain *chain, const char *name, const struct op_tensor *values)
{
    const struct op_tensor *out = op_call_tensor(chain->call, name);
    if (!out) {
        return op_call_fail(chain->call, LEO_ERR_BAD_POINTER, "%s is NULL", name);
    }
    leo_status status = op_call_check_shape(chain->call, name, 4, values->dim);
    if (status == LEO_OK) {
        op_chain_copy(chain, out, values);
    }
    return status;
}

leo_status op_plan_moe_cache(const struct op_call *call)
{
    struct cache_call c;
    struct op_tensor keys, values;
    leo_status status = take(call, &c);
    if (status != LEO_OK || c.rows == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor norm = normed(&chain, &c), rope = turned(&chain, &c);
    status = as_cached(&chain, &rope, c.k_cache, "k_rope_scale", "k_rope_offset", &keys);
    if (status == LEO_OK) {
        status = as_cached(&chain, &norm, c.v_cache, "c_kv_scale", "c_kv_offset", &values);
    }
    if (status == LEO_OK && op_call_int(call, "is_output_kv")) {
        status = give(&chain, "k_rope", &rope);
        if (status == LEO_OK) {
            status = give(&chain, "c_kv", &norm);
        }
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor list = slots_of(&chain, &c);
    const struct places places = places_of(&chain, &list);
    put(&chain, &places, &keys, c.k_cache, c.turned);
    put(&chain, &places, &values, c.v_cache, c.normed);
    return chain.status;
}

/* ---- keys and values as they are ---- */

static bool is_text(const struct op_call *call, const char *name, const char *const *texts)
{
    const char *given = op_call_value(call, name)->text;
    for (; *texts; texts++) {
        if (!given || strcmp(given, *texts) == 0) {
            return true;
        }
    }
    return false;
}

static leo_status check_pages(const struct op_call *call, const char *name, const char *cache_name)
{
    const struct op_tensor *rows = op_call_tensor(call, name),
                           *cache = op_call_tensor(call, cache_name),
                           *slots = op_call_tensor(call, "slot_mapping");
    if (rows->rank == 3 && cache->rank == 4 && rows->type == cache->type &&
        rows->dim[1] == cache->dim[2] && rows->dim[2] == cache->dim[3] &&
        op_tensor_count(slots) == rows->dim[0] && op_tensor_is_dense(cache)) {
        return LEO_OK;
    }
    return op_call_fail(call, LEO_ERR_SHAPE,
                        "%s %s %s and slot_mapping %s into the dense %s %s %s: they do not fit",
                        name, op_type_name(rows->type), op_tensor_shape_text(rows).text,
                        op_tensor_shape_text(slots).text, cache_name, op_type_name(cache->type),
                        op_tensor_shape_text(cache).text);
}

leo_status op_plan_page_cache(const struct op_call *call)
{
    static const char *const modes[] = {"Norm", "", NULL}, *const scatters[] = {"None", "", NULL};
    const struct op_tensor *key = op_call_tensor(call, "key"),
                           *value = op_call_tensor(call, "value"),
                           *keys = op_call_tensor(call, "keyCacheClone"),
                           *values = op_call_tensor(call, "valueCacheClone");
    if (!is_text(call, "cache_mode_ptr", modes) || !is_text(call, "scatter_mode", scatters) ||
        op_call_tensor(call, "compress_lens") || op_call_tensor(call, "compress_seq_offsets") ||
        op_call_tensor(call, "seq_lens")) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "only cache_mode Norm and scatter_mode None are possible, without "
                            "compressed sequences");
    }
    leo_status status = check_pages(call, "key", "keyCacheClone");
    if (status == LEO_OK) {
        status = check_pages(call, "value", "valueCacheClone");
    }
    if (status != LEO_OK || op_tensor_count(key) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor slots = op_chain_dense(&chain, OP_TYPE_I64,
                                                  op_call_tensor(call, "slot_mapping")),
                           list = op_moe_flat(&chain, &slots),
                           k = op_chain_dense(&chain, key->type, key),
                           v = op_chain_dense(&chain, value->type, value);
    const struct places places = places_of(&chain, &list);
    put(&chain, &places, &k, keys, key->dim[1] * key->dim[2]);
    put(&chain, &places, &v, values, value->dim[1] * value->dim[2]);
    return chain.status;
}

/* ---- quantised updates ---- */

static leo_status check_quant(const struct op_call *call, const struct op_tensor *self,
                              const struct op_tensor *updates)
{
    const struct op_tensor *indices = op_call_tensor(call, "indices"),
                           *scales = op_call_tensor(call, "quantScales"),
                           *zeros = op_call_tensor(call, "quantZeroPoints");
    const unsigned rank = self->rank;
    bool fits = rank >= 3 && updates->rank == rank && indices->rank == 1 &&
                op_tensor_is_dense(self) && updates->dim[0] == indices->dim[0] &&
                updates->dim[0] <= self->dim[0] && updates->dim[rank - 2] <= self->dim[rank - 2] &&
                op_tensor_count(scales) == self->dim[rank - 1] &&
                (!zeros || op_tensor_count(zeros) == self->dim[rank - 1]);
    for (unsigned i = 1; fits && i < rank; i++) {
        fits = i == rank - 2 || updates->dim[i] == self->dim[i];
    }
    if (!fits) {
        return op_moe_fail_shapes(call, self, indices, updates);
    }
    const int64_t axis = op_call_int(call, "axis"), quant = op_call_int(call, "quantAxis"),
                  all = (int64_t)rank, reduction = op_call_int(call, "reduction");
    if ((axis != -2 && axis != all - 2) || (quant != -1 && quant != all - 1) || reduction != 1) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "axis %" PRId64 ", quantAxis %" PRId64 ", reduction %" PRId64
                            ": the last but one dimension, the last one and 1 are possible",
                            axis, quant, reduction);
    }
    return LEO_OK;
}

// Slots of all rows of updates: where each line begins, of those of one dimension before the last.
static struct op_tensor spans_of(struct op_chain *chain, const struct op_tensor *self,
                                 const struct op_tensor *updates)
{
    const unsigned last = self->rank - 1;
    const int64_t lines = op_tensor_count(updates) / (updates->dim[last] * updates->dim[last - 1]),
                  batch = updates->dim[0], shape[] = {batch, lines / batch},
                  wide[] = {lines, updates->dim[last - 1]}, count = lines * wide[1],
                  column[] = {lines, 1};
    const struct op_tensor list = op_chain_dense(chain, OP_TYPE_I64,
                                                 op_call_tensor(chain->call, "indices")),
                           each = op_chain_temp(chain, OP_TYPE_I64, 2, shape),
                           out = op_chain_temp(chain, OP_TYPE_I64, 2, wide);
    struct op_tensor seen = op_view_insert(&list, 1);
    seen.dim[1] = shape[1];
    seen.stride[1] = 0;
    op_chain_copy(chain, &each, &seen);
    const struct op_tensor start = op_view_shape(&each, 2, column);
    OP_CHAIN_CALL(chain, "MoeSpan", op_value_tensor(&start), op_value_int(self->dim[last - 1]),
                  op_value_tensor(&out));
    return op_view_shape(&out, 1, &count);
}

leo_status op_plan_quant_cache(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "selfRef"),
                           *updates = op_call_tensor(call, "updates"),
                           *zeros = op_call_tensor(call, "quantZeroPoints");
    leo_status status = check_quant(call, self, updates);
    if (status != LEO_OK || op_tensor_count(updates) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t one = 1, width = self->dim[self->rank - 1],
                  slots[] = {op_tensor_count(self) / width, width},
                  rows[] = {op_tensor_count(updates) / width, width};
    const struct op_tensor scale = op_moe_flat(&chain, op_call_tensor(call, "quantScales")),
                           zero = zeros ? op_moe_flat(&chain, zeros)
                                        : op_chain_temp(&chain, OP_TYPE_F32, 1, &one),
                           made = op_chain_temp_like(&chain, OP_TYPE_I8, updates),
                           lines = op_view_shape(&made, 2, rows),
                           table = op_view_shape(self, 2, slots),
                           list = spans_of(&chain, self, updates);
    if (!zeros) {
        op_chain_fill(&chain, &zero, 0);
    }
    OP_CHAIN_CALL(&chain, "QuantDivideSum", op_value_tensor(updates), op_value_tensor(&scale),
                  op_value_tensor(&zero), op_value_tensor(&made));
    OP_CHAIN_CALL(&chain, "InplaceIndexCopy", op_value_tensor(&table), op_value_int(0),
                  op_value_tensor(&list), op_value_tensor(&lines));
    return chain.status;
}
