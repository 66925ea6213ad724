/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in the order of those experts that are active here, or in so many slots for each of them; as
 * they are or quantised. */
#include "../quant/rows.h"

#include <inttypes.h>

enum { PLAIN = -1, STATIC, DYNAMIC };          /* quantMode */
enum { ENDS, COUNTS, PAIRS };                  /* expertTokensNumType */
enum { WHERE_TO, WHERE_FROM };                 /* rowIdxType */
enum { OLD_NONE, OLD_ENDS, OLD_COUNTS, OLDS }; /* expert_tokens_num_mode of the older form */

struct routing {
    const struct op_tensor *x, *experts, *scale, *offset, *out, *rows, *numbers, *scales;
    const char *out_name, *rows_name, *numbers_name;
    int64_t first, end; /* experts that are active */
    int64_t room;       /* slots of an expert; 0: rows one after the other */
    int64_t mode, kind, row_kind;
    int64_t count, each, made; /* rows with an expert; of a token; rows of the result */
};

/* What sorting gives: lists of i32 but for `order`. */
struct sorted {
    struct op_tensor keys, values, order;
};

/* ---- arguments ---- */

static leo_status check_modes(const struct op_call *call, const struct routing *r)
{
    const int64_t drop = op_call_has(call, "dropPadMode") ? op_call_int(call, "dropPadMode")
                                                          : op_call_int(call, "drop_pad_mode");
    if ((drop != 0 && drop != 1) || r->mode < PLAIN || r->mode > DYNAMIC || r->kind < ENDS ||
        r->kind > PAIRS || (r->row_kind != WHERE_TO && r->row_kind != WHERE_FROM) ||
        (drop && (r->row_kind != WHERE_TO || r->kind == PAIRS || r->room < 1))) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "drop_pad_mode %" PRId64 " with a capacity of %" PRId64
                            ", quant_mode %" PRId64 ", numbers of experts as %" PRId64
                            ", rows as %" PRId64
                            ": they must be 0 or 1 (with a capacity of at least 1), -1 to 1, 0 to "
                            "2, and 0 or 1; with drop_pad_mode 1 counts or ends, and rows as 0",
                            drop, r->room, r->mode, r->kind, r->row_kind);
    }
    if (r->mode == STATIC && (!r->scale || !r->offset)) {
        return op_call_fail(call, LEO_ERR_BAD_POINTER,
                            "quant_mode 0 needs scale and offset, one number each");
    }
    if (r->mode != STATIC && r->offset) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "offset goes with quant_mode 0 alone");
    }
    return LEO_OK;
}

static bool scale_fits(const struct routing *r)
{
    const struct op_tensor *scale = r->scale;
    if (!scale) {
        return true;
    }
    switch (r->mode) {
    case PLAIN:
        return scale->rank == 1 && scale->dim[0] == r->x->dim[0];
    case STATIC:
        return op_tensor_count(scale) == 1 && op_tensor_count(r->offset) == 1;
    default:
        return scale->rank == 2 && scale->dim[1] == r->x->dim[1] &&
               (scale->dim[0] == 1 || scale->dim[0] == r->end - r->first);
    }
}

static bool out_fits(const struct routing *r)
{
    const struct op_tensor *x = r->x, *out = r->out;
    return r->room ? out->rank == 3 && out->dim[0] == r->end - r->first && out->dim[1] == r->room &&
                         out->dim[2] == x->dim[1]
                   : out->rank == 2 && out->dim[0] <= r->count && out->dim[1] == x->dim[1];
}

static leo_status check_numbers(const struct op_call *call, const struct routing *r)
{
    const int64_t active = r->end - r->first;
    if (!r->numbers) {
        return LEO_OK;
    }
    if (r->kind != PAIRS) {
        return op_call_check_shape(call, r->numbers_name, 1, &active);
    }
    return r->numbers->rank == 2 && r->numbers->dim[0] >= active && r->numbers->dim[1] == 2
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "%s has shape %s: it must have a row of two for each expert",
                              r->numbers_name, op_tensor_shape_text(r->numbers).text);
}

static leo_status check_shapes(const struct op_call *call, const struct routing *r)
{
    const struct op_tensor *x = r->x;
    if (x->rank != 2 || r->experts->rank != 2 || r->experts->dim[0] != x->dim[0] || r->first < 0 ||
        r->end <= r->first || !out_fits(r) || !scale_fits(r)) {
        return op_moe_fail_shapes(call, x, r->experts, r->scale ? r->scale : r->out);
    }
    if (r->mode != PLAIN && x->type == OP_TYPE_I8) {
        return op_call_fail(call, LEO_ERR_DTYPE, "x is i8 already: quant_mode must be -1");
    }
    if (r->out->type != (r->mode == PLAIN ? x->type : OP_TYPE_I8)) {
        return op_call_fail(call, LEO_ERR_DTYPE, "%s is %s with quant_mode %" PRId64, r->out_name,
                            op_type_name(r->out->type), r->mode);
    }
    leo_status status = op_call_check_shape(call, r->rows_name, 1, &r->count);
    if (status == LEO_OK) {
        status = check_numbers(call, r);
    }
    if (status == LEO_OK && r->scales && op_tensor_count(r->scales) < r->made) {
        status = op_moe_fail_shapes(call, x, r->out, r->scales);
    }
    return status;
}

static void take_common(const struct op_call *call, struct routing *r)
{
    r->x = op_call_tensor(call, "x");
    r->count = op_tensor_count(r->experts);
    r->each = r->experts->rank == 2 ? r->experts->dim[1] : 1;
    r->made = r->room ? (r->end - r->first) * r->room : r->out->rank ? r->out->dim[0] : 0;
    r->scales = r->mode == DYNAMIC || (r->mode == PLAIN && r->scale) ? r->scales : NULL;
}

static struct routing routing_of(const struct op_call *call)
{
    const struct op_ints *range = op_call_ints(call, "activeExpertRangeOptional");
    const bool ranged = range && range->count == 2,
               wants = op_call_int(call, "expertTokensNumFlag"),
               drop = op_call_int(call, "dropPadMode");
    struct routing r = {
        .experts = op_call_tensor(call, "expertIdx"),
        .scale = op_call_tensor(call, "scaleOptional"),
        .offset = op_call_tensor(call, "offsetOptional"),
        .out = op_call_tensor(call, "expandedXOut"),
        .rows = op_call_tensor(call, "expandedRowIdxOut"),
        .numbers = wants ? op_call_tensor(call, "expertTokensCountOrCumsumOut") : NULL,
        .scales = op_call_tensor(call, "expandedScaleOut"),
        .out_name = "expandedXOut",
        .rows_name = "expandedRowIdxOut",
        .numbers_name = "expertTokensCountOrCumsumOut",
        .first = ranged ? range->items[0] : 0,
        .end = ranged ? range->items[1] : op_call_int(call, "expertNum"),
        .room = drop ? op_call_int(call, "expertCapacity") : 0,
        .mode = op_call_int(call, "quantMode"),
        .kind = op_call_int(call, "expertTokensNumType"),
        .row_kind = op_call_int(call, "rowIdxType"),
    };
    take_common(call, &r);
    return r;
}

// The older form: numbers of experts before the capacity cuts them are a result of their own.
static struct routing routing_of_quant(const struct op_call *call)
{
    static const char *const number_names[] = {"expert_token_cumsum_or_count",
                                               "expert_tokens_before_capacity"};
    const bool drop = op_call_int(call, "drop_pad_mode"),
               before = op_call_int(call, "expert_tokens_before_capacity_flag");
    const int64_t kind = op_call_int(call, "expert_tokens_num_mode");
    const bool wants = drop ? before : kind != OLD_NONE;
    struct routing r = {
        .experts = op_call_tensor(call, "expert_idx"),
        .scale = op_call_tensor(call, "p_scale"),
        .offset = op_call_tensor(call, "p_offset"),
        .out = op_call_tensor(call, "expanded_x"),
        .rows = op_call_tensor(call, "expanded_row_idx"),
        .numbers = wants ? op_call_tensor(call, number_names[drop]) : NULL,
        .scales = op_call_tensor(call, "expanded_scale"),
        .out_name = "expanded_x",
        .rows_name = "expanded_row_idx",
        .numbers_name = number_names[drop],
        .end = op_call_int(call, "expert_num"),
        .room = drop ? op_call_int(call, "expert_capacity") : 0,
        .mode = op_call_int(call, "quant_mode"),
        .kind = drop || kind == OLD_COUNTS || kind == OLD_NONE ? COUNTS
                : kind == OLD_ENDS                             ? ENDS
                                                               : OLDS,
    };
    take_common(call, &r);
    return r;
}

/* ---- lists ---- */

static struct sorted sort_experts(struct op_chain *chain, const struct routing *r)
{
    const struct op_tensor list = op_moe_flat(chain, r->experts);
    struct sorted s = {.keys = op_chain_temp_like(chain, OP_TYPE_I32, &list),
                       .values = op_chain_temp_like(chain, OP_TYPE_I32, &list)};
    OP_CHAIN_CALL(chain, "MoeActive", op_value_tensor(&list), op_value_int(r->first),
                  op_value_tensor(&s.keys));
    s.order = op_moe_order(chain, &s.keys, &s.values);
    return s;
}

static struct op_tensor counts_of(struct op_chain *chain, const struct routing *r,
                                  const struct sorted *s, const struct op_tensor *ends)
{
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor starts =
                               op_moe_bound(chain, &s->values, r->first, r->end, ends->type, false),
                           counts = op_chain_temp_like(chain, ends->type, ends);
    OP_CHAIN_CALL(chain, "Sub", op_value_tensor(ends), op_value_tensor(&starts),
                  op_value_scalar(&one), op_value_tensor(&counts));
    return counts;
}

// Rows (expert, how many) of experts that have some, then zeros.
static void put_pairs(struct op_chain *chain, const struct routing *r,
                      const struct op_tensor *counts)
{
    const struct op_tensor expert = op_chain_temp_like(chain, OP_TYPE_I64, counts),
                           keys = op_chain_temp_like(chain, OP_TYPE_I64, counts),
                           sorted = op_chain_temp_like(chain, OP_TYPE_I64, counts),
                           pairs = op_view_slice(r->numbers, 0, 0, counts->dim[0]);
    struct op_tensor id = op_view_slice(&pairs, 1, 0, 1), number = op_view_slice(&pairs, 1, 1, 1);
    op_chain_fill(chain, r->numbers, 0);
    op_chain_range(chain, &expert, r->first, 1);
    OP_CHAIN_CALL(chain, "MoeSome", op_value_tensor(&expert), op_value_tensor(counts),
                  op_value_tensor(&keys));
    const struct op_tensor order = op_moe_order(chain, &keys, &sorted),
                           table = op_view_insert(counts, 1),
                           numbers = op_chain_temp_like(chain, counts->type, &table);
    op_moe_take_rows(chain, &table, &order, &numbers);
    const struct op_tensor ids = op_view_insert(&sorted, 1);
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(&ids), op_value_int(r->end),
                  op_value_tensor(&id));
    op_chain_copy(chain, &number, &numbers);
}

static void put_numbers(struct op_chain *chain, const struct routing *r, const struct sorted *s)
{
    const struct op_tensor ends =
        op_moe_bound(chain, &s->values, r->first, r->end, OP_TYPE_I64, true);
    if (r->kind == ENDS) {
        op_chain_copy(chain, r->numbers, &ends);
        return;
    }
    const struct op_tensor counts = counts_of(chain, r, s, &ends);
    if (r->kind == PAIRS) {
        put_pairs(chain, r, &counts);
    } else {
        op_chain_copy(chain, r->numbers, &counts);
    }
}

// Where each row went, or came from.
static void put_rows(struct op_chain *chain, const struct routing *r, const struct sorted *s)
{
    if (r->row_kind == WHERE_FROM) {
        op_chain_copy(chain, r->rows, &s->order);
        return;
    }
    const struct op_tensor rank = op_moe_order(chain, &s->order, NULL),
                           narrow = op_chain_dense(chain, OP_TYPE_I32, &rank);
    if (!r->room) {
        OP_CHAIN_CALL(chain, "MoeActiveRank", op_value_tensor(&s->keys), op_value_tensor(&narrow),
                      op_value_int(r->end), op_value_tensor(r->rows));
        return;
    }
    const struct op_tensor starts = op_moe_bound(chain, &s->values, r->first, r->end, OP_TYPE_I32,
                                                 false),
                           own = op_chain_temp_like(chain, OP_TYPE_I32, &s->keys),
                           table = op_view_insert(&starts, 1),
                           safe = op_chain_temp_like(chain, OP_TYPE_I32, &s->keys),
                           start =
                               op_chain_temp(chain, OP_TYPE_I32, 2, (const int64_t[]){r->count, 1});
    OP_CHAIN_CALL(chain, "MoeOwn", op_value_tensor(&s->keys), op_value_int(r->first),
                  op_value_int(r->end), op_value_tensor(&own));
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(&own), op_value_int(r->end - r->first),
                  op_value_tensor(&safe));
    op_moe_take_rows(chain, &table, &safe, &start);
    const struct op_tensor list = op_view_shape(&start, 1, &r->count);
    OP_CHAIN_CALL(chain, "MoeSlot", op_value_tensor(&narrow), op_value_tensor(&list),
                  op_value_tensor(&own), op_value_int(r->room), op_value_tensor(r->rows));
}

// For each row of the result its place among the sorted rows, -1 for a slot that is empty.
static struct op_tensor sources_of(struct op_chain *chain, const struct routing *r,
                                   const struct sorted *s)
{
    const struct op_tensor starts = op_moe_bound(chain, &s->values, r->first, r->end, OP_TYPE_I32,
                                                 false),
                           ends =
                               op_moe_bound(chain, &s->values, r->first, r->end, OP_TYPE_I32, true),
                           counts = counts_of(chain, r, s, &ends),
                           start = op_view_insert(&starts, 1), number = op_view_insert(&counts, 1),
                           slots = op_chain_temp(chain, OP_TYPE_I32, 2, r->out->dim);
    OP_CHAIN_CALL(chain, "MoeSource", op_value_tensor(&start), op_value_tensor(&number),
                  op_value_tensor(&slots));
    return op_view_shape(&slots, 1, &r->made);
}

// For each row of the result its row of x, -1 for a slot that is empty.
static struct op_tensor tokens_of(struct op_chain *chain, const struct routing *r,
                                  const struct sorted *s)
{
    const struct op_tensor token = op_chain_temp(chain, OP_TYPE_I64, 1, &r->made);
    struct op_tensor from = op_view_slice(&s->order, 0, 0, r->room ? r->count : r->made);
    struct op_tensor places = from;
    if (r->room) {
        const struct op_tensor table = op_view_insert(&s->order, 1);
        places = sources_of(chain, r, s);
        const struct op_tensor safe = op_chain_temp_like(chain, places.type, &places),
                               taken = op_chain_temp(chain, OP_TYPE_I64, 2,
                                                     (const int64_t[]){r->made, 1});
        OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(&places), op_value_int(r->count),
                      op_value_tensor(&safe));
        op_moe_take_rows(chain, &table, &safe, &taken);
        from = op_view_shape(&taken, 1, &r->made);
    }
    OP_CHAIN_CALL(chain, "MoeToken", op_value_tensor(&places), op_value_tensor(&from),
                  op_value_int(r->each), op_value_tensor(&token));
    return token;
}

/* ---- rows ---- */

static struct op_tensor rows_of(struct op_chain *chain, const struct routing *r,
                                const struct op_tensor *token)
{
    return op_moe_rows(chain, r->x, token, r->room != 0);
}

static void put_plain(struct op_chain *chain, const struct routing *r,
                      const struct op_tensor *token)
{
    const struct op_tensor rows = rows_of(chain, r, token),
                           shaped = op_view_shape(&rows, r->out->rank, r->out->dim);
    op_chain_copy(chain, r->out, &shaped);
    if (r->scale && r->scales) {
        const struct op_tensor table = op_view_insert(r->scale, 1),
                               taken = op_moe_rows(chain, &table, token, r->room != 0),
                               list = op_view_shape(r->scales, 1,
                                                    (const int64_t[]){op_tensor_count(r->scales)}),
                               to = op_view_slice(&list, 0, 0, r->made),
                               flat = op_view_shape(&taken, 1, &r->made);
        op_chain_copy(chain, &to, &flat);
    }
}

// Slots that are empty hold 0, not what the offset makes of it.
static void put_static(struct op_chain *chain, const struct routing *r,
                       const struct op_tensor *token)
{
    const struct op_tensor rows = rows_of(chain, r, token),
                           wide = op_chain_dense(chain, OP_TYPE_F32, &rows),
                           scale = op_chain_dense(chain, OP_TYPE_F32, r->scale),
                           offset = op_chain_dense(chain, OP_TYPE_F32, r->offset),
                           has = op_chain_temp_like(chain, OP_TYPE_F32, token),
                           each = op_view_insert(&has, 1), place = op_chain_place(chain, r->out),
                           made = op_view_shape(&place, 2, wide.dim);
    OP_CHAIN_CALL(chain, "MoeHas", op_value_tensor(token), op_value_int(r->x->dim[0]),
                  op_value_tensor(&has));
    OP_CHAIN_CALL(chain, "MoeBytes", op_value_tensor(&wide), op_value_tensor(&scale),
                  op_value_tensor(&offset), op_value_tensor(&each), op_value_tensor(&made));
    op_chain_deliver(chain, r->out, &made);
}

// x times the factors of the expert that a row went to.
static struct op_tensor times_expert(struct op_chain *chain, const struct routing *r,
                                     const struct sorted *s, const struct op_tensor *wide)
{
    if (!r->scale || r->scale->dim[0] == 1) {
        return op_quant_times(chain, wide, r->scale);
    }
    if (r->room) {
        const struct op_tensor slots = op_view_shape(wide, 3, r->out->dim),
                               factor = op_view_insert(r->scale, 1),
                               product = op_quant_times(chain, &slots, &factor);
        return op_view_shape(&product, 2, wide->dim);
    }
    const struct op_tensor ends =
                               op_moe_bound(chain, &s->values, r->first, r->end, OP_TYPE_I64, true),
                           factor = op_quant_of_group(chain, r->scale, &ends, false, r->made);
    return op_quant_times(chain, wide, &factor);
}

// Rows times the factors of their expert, as i8 with a scale each.
static void put_dynamic(struct op_chain *chain, const struct routing *r, const struct sorted *s,
                        const struct op_tensor *token)
{
    const struct op_tensor rows = rows_of(chain, r, token),
                           all = op_chain_dense(chain, OP_TYPE_F32, &rows),
                           wide = times_expert(chain, r, s, &all);
    struct op_tensor to = op_chain_temp(chain, OP_TYPE_F32, 1, &r->made);
    if (r->scales) {
        const struct op_tensor list = op_moe_flat(chain, r->scales);
        to = op_view_slice(&list, 0, 0, r->made);
    }
    op_quant_dynamic(chain, &wide, r->out, &to, NULL);
}

static leo_status plan(const struct op_call *call, const struct routing *r)
{
    leo_status status = check_modes(call, r);
    if (status == LEO_OK) {
        status = check_shapes(call, r);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (r->count == 0) {
        op_chain_fill(&chain, r->out, 0);
        if (r->numbers) {
            op_chain_fill(&chain, r->numbers, 0);
        }
        return chain.status;
    }
    const struct sorted s = sort_experts(&chain, r);
    const struct op_tensor token = tokens_of(&chain, r, &s);
    if (r->mode == PLAIN) {
        put_plain(&chain, r, &token);
    } else if (r->mode == STATIC) {
        put_static(&chain, r, &token);
    } else {
        put_dynamic(&chain, r, &s, &token);
    }
    put_rows(&chain, r, &s);
    if (r->numbers) {
        put_numbers(&chain, r, &s);
    }
    return chain.status;
}

leo_status op_plan_moe_init_routing_v3(const struct op_call *call)
{
    const struct routing r = routing_of(call);
    return plan(call, &r);
}

leo_status op_plan_moe_init_routing_quant(const struct op_call *call)
{
    const struct routing r = routing_of_quant(call);
    return plan(call, &r);
}
