/* SPDX-License-Identifier: Apache-2.0 */
/* Heads turned by cosines and sines of positions, which a cache holds. */
#include "../moe/moe.h"

#include <inttypes.h>

leo_status op_plan_interleave_rope(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *cos = op_call_tensor(call, "cos"),
                           *sin = op_call_tensor(call, "sin"), *out = op_call_tensor(call, "out");
    const bool fits = x->rank == 4 && x->dim[3] % 2 == 0 && cos->rank == 4 &&
                      op_tensor_same_shape(cos, sin) && cos->dim[0] == x->dim[0] &&
                      cos->dim[1] == 1 && (cos->dim[2] == 1 || cos->dim[2] == x->dim[2]) &&
                      cos->dim[3] == x->dim[3];
    leo_status status =
        fits ? op_call_check_shape(call, "out", 4, x->dim)
             : op_call_fail(call, LEO_ERR_SHAPE,
                            "x %s and cos %s, sin %s do not fit: [b, n, s, d] of an even d, and "
                            "[b, 1, s or 1, d]",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(cos).text,
                            op_tensor_shape_text(sin).text);
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor a = op_view_every_second(x, 3, 0), b = op_view_every_second(x, 3, 1),
                           c[] = {op_view_half(cos, 0), op_view_half(cos, 1)},
                           s[] = {op_view_half(sin, 0), op_view_half(sin, 1)},
                           to[] = {op_view_half(out, 0), op_view_half(out, 1)};
    op_moe_turn(&chain, &a, &b, c, s, to);
    return chain.status;
}

/* ---- angles out of a cache ---- */

struct angles {
    const struct op_tensor *positions, *cache, *x[2], *out[2];
    const struct op_ints *sections;
    int64_t rows, tokens, size; /* rows of positions; width of a head */
    bool halves, every_third;
};

static bool fits_heads(const struct angles *t, unsigned i)
{
    const struct op_tensor *x = t->x[i];
    return x->rank == 2 && x->dim[0] == t->tokens && x->dim[1] % t->size == 0 &&
           op_tensor_same_shape(x, t->out[i]) && x->type == t->cache->type &&
           x->type == t->out[i]->type;
}

// Sections of features: one for each row of positions, together half of what is turned.
static bool fits_sections(const struct angles *t)
{
    int64_t sum = 0;
    if (t->rows == 1) {
        return true;
    }
    if (!t->sections || t->sections->count != (uint64_t)t->rows) {
        return false;
    }
    for (uint64_t i = 0; i < t->sections->count; i++) {
        if (t->sections->items[i] < 0) {
            return false;
        }
        sum += t->sections->items[i];
    }
    return t->every_third ? t->rows == 3 : sum == t->cache->dim[1] / 2;
}

static leo_status take(const struct op_call *call, struct angles *t)
{
    const bool second = op_call_has(call, "cache_mode_value");
    *t = (struct angles){
        .positions = op_call_tensor(call, "positions"),
        .cache = op_call_tensor(call, second ? "cos_sin_cache" : "cosSinCache"),
        .x = {op_call_tensor(call, second ? "query" : "queryIn"),
              op_call_tensor(call, second ? "key" : "keyIn")},
        .out = {op_call_tensor(call, second ? "query_out" : "queryOut"),
                op_call_tensor(call, second ? "key_out" : "keyOut")},
        .sections = op_call_ints(call, second ? "mrope_section_value" : "mropeSection"),
        .size = op_call_int(call, second ? "head_size" : "headSize"),
        .halves = op_call_int(call, second ? "is_neox_style" : "isNeoxStyle") != 0,
        .every_third = second && op_call_int(call, "cache_mode_value") == 1,
    };
    const struct op_tensor *p = t->positions;
    t->rows = p->rank == 2 ? p->dim[0] : 1;
    t->tokens = p->rank ? p->dim[p->rank - 1] : 0;
    if (second &&
        (op_call_int(call, "cache_mode_value") < 0 || op_call_int(call, "cache_mode_value") > 1)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "cache_mode_value is %" PRId64 ": 0 or 1",
                            op_call_int(call, "cache_mode_value"));
    }
    const bool fits = p->rank >= 1 && p->rank <= 2 && t->cache->rank == 2 &&
                      t->cache->dim[1] % 2 == 0 && t->size > 0 && t->cache->dim[1] <= t->size &&
                      fits_heads(t, 0) && fits_heads(t, 1) && fits_sections(t);
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "positions %s, query %s, key %s, a cache of %s and heads of %" PRId64
                               " do not fit, or sections do not: one for each row of positions, "
                               "half of the cache's width together",
                               op_tensor_shape_text(p).text, op_tensor_shape_text(t->x[0]).text,
                               op_tensor_shape_text(t->x[1]).text,
                               op_tensor_shape_text(t->cache).text, t->size);
}

// Rows of the cache at the positions: [rows, tokens, width].
static struct op_tensor look_up(struct op_chain *chain, const struct angles *t)
{
    const int64_t count = t->rows * t->tokens, width = t->cache->dim[1], flat[] = {count, width},
                  shape[] = {t->rows, t->tokens, width};
    const struct op_tensor dense = op_chain_dense(chain, t->positions->type, t->positions),
                           list = op_view_shape(&dense, 1, &count),
                           taken = op_chain_temp(chain, t->cache->type, 2, flat);
    OP_CHAIN_CALL(chain, "IndexSelect", op_value_tensor(t->cache), op_value_int(0),
                  op_value_tensor(&list), op_value_tensor(&taken));
    return op_view_shape(&taken, 3, shape);
}

// Features of one row of positions put over those of the first row.
static void put_section(struct op_chain *chain, const struct angles *t, const struct op_tensor *all,
                        int64_t row, int64_t begin)
{
    const struct op_tensor from_row = op_view_select(all, 0, row),
                           to_row = op_view_select(all, 0, 0);
    // Every third feature before three times the second section, as far as there are any.
    const int64_t half = t->cache->dim[1] / 2, end = 3 * t->sections->items[1],
                  third = ((end < half ? end : half) - begin + 2) / 3,
                  count = !t->every_third ? t->sections->items[row]
                          : third > 0     ? third
                                          : 0;
    for (int64_t which = 0; which < 2; which++) {
        const struct op_tensor angle = op_view_half(&from_row, which),
                               first = op_view_half(&to_row, which);
        struct op_tensor from = op_view_slice(&angle, 1, begin, count),
                         to = op_view_slice(&first, 1, begin, count);
        if (t->every_third) {
            from.stride[1] *= 3;
            to.stride[1] *= 3;
        }
        if (count) {
            op_chain_copy(chain, &to, &from);
        }
    }
}

static void turn_heads(struct op_chain *chain, const struct angles *t, unsigned i,
                       const struct op_tensor *angles)
{
    const int64_t width = t->cache->dim[1];
    struct op_tensor x = op_view_insert(t->x[i], 1), out = op_view_insert(t->out[i], 1);
    struct op_tensor *both[] = {&x, &out};
    for (unsigned k = 0; k < 2; k++) {
        both[k]->dim[1] = both[k]->dim[2] / t->size;
        both[k]->stride[1] = t->size * both[k]->stride[2];
        both[k]->dim[2] = t->size;
    }
    const struct op_tensor part = op_view_slice(&x, 2, 0, width),
                           to = op_view_slice(&out, 2, 0, width), c = op_view_half(angles, 0),
                           s = op_view_half(angles, 1), cos = op_view_insert(&c, 1),
                           sin = op_view_insert(&s, 1), coses[] = {cos, cos}, sins[] = {sin, sin};
    const struct op_tensor a = t->halves ? op_view_half(&part, 0)
                                         : op_view_every_second(&part, 2, 0),
                           b = t->halves ? op_view_half(&part, 1)
                                         : op_view_every_second(&part, 2, 1),
                           outs[] = {
                               t->halves ? op_view_half(&to, 0) : op_view_every_second(&to, 2, 0),
                               t->halves ? op_view_half(&to, 1) : op_view_every_second(&to, 2, 1)};
    op_moe_turn(chain, &a, &b, coses, sins, outs);
    if (width < t->size) {
        const struct op_tensor rest = op_view_slice(&x, 2, width, t->size - width),
                               rest_to = op_view_slice(&out, 2, width, t->size - width);
        op_chain_copy(chain, &rest_to, &rest);
    }
}

leo_status op_plan_rope_cache(const struct op_call *call)
{
    struct angles t;
    leo_status status = take(call, &t);
    if (status != LEO_OK || t.tokens == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor all = look_up(&chain, &t), angles = op_view_select(&all, 0, 0);
    int64_t begin = t.rows > 1 ? t.sections->items[0] : 0;
    for (int64_t row = 1; row < t.rows; row++) {
        put_section(&chain, &t, &all, row, t.every_third ? row : begin);
        begin += t.sections->items[row];
    }
    for (unsigned i = 0; i < 2; i++) {
        if (op_tensor_count(t.x[i])) {
            turn_heads(&chain, &t, i, &angles);
        }
    }
    return chain.status;
}
