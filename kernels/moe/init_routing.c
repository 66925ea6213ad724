/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in the order of their experts, of those that are active here, or in so many slots for each
 * of them; as they are or quantised. */
#include "../quant/rows.h"

#include <inttypes.h>

enum { PLAIN = -1, STATIC, DYNAMIC }; /* quantMode */
enum { ENDS, COUNTS, PAIRS };         /* expertTokensNumType */
enum { WHERE_TO, WHERE_FROM };        /* rowIdxType */

struct routing {
    const struct op_tensor *x, *experts, *scale, *offset, *out, *rows, *numbers, *scales;
    const char *out_name, *rows_name, *numbers_name;
    int64_t first, end; /* experts that are active */
    int64_t active;     /* how many of them have numbers and slots */
    int64_t room;       /* slots of an expert; 0: rows one after the other */
    int64_t drop, mode, kind, row_kind;
    int64_t count, each, made; /* rows with an expert; of a token; rows of the result */
    bool wants_numbers;
};

/* What sorting gives: lists of i32 but for `order`. */
struct sorted {
    struct op_tensor keys, values, order;
    struct op_tensor starts, ends; /* of the rows of each active expert, if they are asked for */
};

/* ---- arguments ---- */

static leo_status check_modes(const struct op_call *call, const struct routing *r)
{
    if ((r->drop != 0 && r->drop != 1) || r->mode < PLAIN || r->mode > DYNAMIC || r->kind < ENDS ||
        r->kind > PAIRS || (r->row_kind != WHERE_TO && r->row_kind != WHERE_FROM) ||
        (r->drop && (r->row_kind != WHERE_TO || r->kind == PAIRS || r->room < 1))) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "drop_pad_mode %" PRId64 " with a capacity of %" PRId64
                            ", quant_mode %" PRId64 ", numbers of experts as %" PRId64
                            ", rows as %" PRId64
                            ": they must be 0 or 1 (with a capacity of at least 1), -1 to 1, 0 to "
                            "2, and 0 or 1; with drop_pad_mode 1 counts or ends, and rows as 0",
                            r->drop, r->room, r->mode, r->kind, r->row_kind);
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
               (scale->dim[0] == 1 || scale->dim[0] == r->active);
    }
}

static bool out_fits(const struct routing *r)
{
    const struct op_tensor *x = r->x, *out = r->out;
    return r->room ? out->rank == 3 && out->dim[0] == r->active && out->dim[1] == r->room &&
                         out->dim[2] == x->dim[1]
                   : out->rank == 2 && out->dim[0] <= r->count && out->dim[1] == x->dim[1];
}

static leo_status check_numbers(const struct op_call *call, const struct routing *r)
{
    if (!r->wants_numbers) {
        return LEO_OK;
    }
    if (!r->numbers || r->active < 1) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "%s must be given, and there be at least one expert", r->numbers_name);
    }
    if (r->kind != PAIRS) {
        return op_call_check_shape(call, r->numbers_name, 1, &r->active);
    }
    return r->numbers->rank == 2 && r->numbers->dim[0] >= r->active && r->numbers->dim[1] == 2
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "%s has shape %s: it must have a row of two for each expert",
                              r->numbers_name, op_tensor_shape_text(r->numbers).text);
}

static leo_status check_shapes(const struct op_call *call, const struct routing *r)
{
    const struct op_tensor *x = r->x;
    if (x->rank != 2 || r->experts->rank != 2 || r->experts->dim[0] != x->dim[0] || r->first < 0 ||
        r->end <= r->first || r->active < 0 || !out_fits(r) || !scale_fits(r)) {
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

// The rest of what is known of a call.
static struct routing complete(const struct op_call *call, struct routing r)
{
    r.x = op_call_tensor(call, "x");
    r.count = op_tensor_count(r.experts);
    r.each = r.experts->rank == 2 ? r.experts->dim[1] : 1;
    r.room = r.drop ? r.room : 0;
    r.made = r.room ? r.active * r.room : r.out->rank ? r.out->dim[0] : 0;
    r.numbers = r.wants_numbers ? op_call_tensor(call, r.numbers_name) : NULL;
    r.scales = r.mode == DYNAMIC || (r.mode == PLAIN && r.scale) ? r.scales : NULL;
    return r;
}

// Where flags say 0 no numbers, 1 ends, 2 counts; anything else is none of them.
static int64_t kind_of_flag(int64_t flag)
{
    return flag == 1 ? ENDS : flag == 0 || flag == 2 ? COUNTS : -1;
}

// Every expert is active; only numbers and slots ask how many there are.
static struct routing routing_of_second(const struct op_call *call)
{
    static const char *const number_names[] = {"expertTokensCountOrCumsumOutOptional",
                                               "expertTokensBeforeCapacityOutOptional"};
    const int64_t drop = op_call_int(call, "dropPadModeOptional"),
                  flag = drop ? 2 * op_call_int(call, "expertTokensBeforeCapacityFlagOptional")
                              : op_call_int(call, "expertTokensCountOrCumsumFlagOptional");
    const struct routing r = {
        .experts = op_call_tensor(call, "expertIdx"),
        .out = op_call_tensor(call, "expandedXOut"),
        .rows = op_call_tensor(call, "expandedRowIdxOut"),
        .out_name = "expandedXOut",
        .rows_name = "expandedRowIdxOut",
        .numbers_name = number_names[drop != 0],
        .end = INT32_MAX,
        .active = op_call_int(call, "expertNumOptional"),
        .room = op_call_int(call, "expertCapacityOptional"),
        .drop = drop,
        .mode = PLAIN,
        .kind = kind_of_flag(flag),
        .wants_numbers = flag != 0,
    };
    return complete(call, r);
}

static struct routing routing_of_third(const struct op_call *call)
{
    const struct op_ints *range = op_call_ints(call, "activeExpertRangeOptional");
    const bool ranged = range && range->count == 2;
    struct routing r = {
        .experts = op_call_tensor(call, "expertIdx"),
        .scale = op_call_tensor(call, "scaleOptional"),
        .offset = op_call_tensor(call, "offsetOptional"),
        .out = op_call_tensor(call, "expandedXOut"),
        .rows = op_call_tensor(call, "expandedRowIdxOut"),
        .scales = op_call_tensor(call, "expandedScaleOut"),
        .out_name = "expandedXOut",
        .rows_name = "expandedRowIdxOut",
        .numbers_name = "expertTokensCountOrCumsumOut",
        .first = ranged ? range->items[0] : 0,
        .end = ranged ? range->items[1] : op_call_int(call, "expertNum"),
        .room = op_call_int(call, "expertCapacity"),
        .drop = op_call_int(call, "dropPadMode"),
        .mode = op_call_int(call, "quantMode"),
        .kind = op_call_int(call, "expertTokensNumType"),
        .row_kind = op_call_int(call, "rowIdxType"),
        .wants_numbers = op_call_int(call, "expertTokensNumFlag"),
    };
    r.active = r.end - r.first;
    return complete(call, r);
}

// The second version with numbers of 8 bits.
static struct routing routing_of_quant(const struct op_call *call)
{
    static const char *const number_names[] = {"expert_token_cumsum_or_count",
                                               "expert_tokens_before_capacity"};
    const int64_t drop = op_call_int(call, "drop_pad_mode"),
                  flag = drop ? 2 * op_call_int(call, "expert_tokens_before_capacity_flag")
                              : op_call_int(call, "expert_tokens_num_mode");
    const struct routing r = {
        .experts = op_call_tensor(call, "expert_idx"),
        .scale = op_call_tensor(call, "p_scale"),
        .offset = op_call_tensor(call, "p_offset"),
        .out = op_call_tensor(call, "expanded_x"),
        .rows = op_call_tensor(call, "expanded_row_idx"),
        .scales = op_call_tensor(call, "expanded_scale"),
        .out_name = "expanded_x",
        .rows_name = "expanded_row_idx",
        .numbers_name = number_names[drop != 0],
        .end = op_call_int(call, "expert_num"),
        .active = op_call_int(call, "expert_num"),
        .room = op_call_int(call, "expert_capacity"),
        .drop = drop,
        .mode = op_call_int(call, "quant_mode"),
        .kind = kind_of_flag(flag),
        .wants_numbers = flag != 0,
    };
    return complete(call, r);
}

/* ---- lists ---- */

// Whether rows are multiplied by factors of their own expert.
static bool scales_each_expert(const struct routing *r)
{
    return r->mode == DYNAMIC && r->scale && r->scale->dim[0] > 1;
}

static struct sorted sort_experts(struct op_chain *chain, const struct routing *r)
{
    const struct op_tensor list = op_moe_flat(chain, r->experts);
    struct sorted s = {.keys = op_chain_temp_like(chain, OP_TYPE_I32, &list),
                       .values = op_chain_temp_like(chain, OP_TYPE_I32, &list)};
    OP_CHAIN_CALL(chain, "MoeActive", op_value_tensor(&list), op_value_int(r->first),
                  op_value_tensor(&s.keys));
    s.order = op_moe_order(chain, &s.keys, &s.values);
    if (r->numbers || r->room || scales_each_expert(r)) {
        const int64_t end = r->first + r->active;
        s.starts = op_moe_bound(chain, &s.values, r->first, end, OP_TYPE_I32, false);
        s.ends = op_moe_bound(chain, &s.values, r->first, end, OP_TYPE_I32, true);
    }
    return s;
}

static struct op_tensor counts_of(struct op_chain *chain, const struct sorted *s)
{
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor counts = op_chain_temp_like(chain, s->ends.type, &s->ends);
    OP_CHAIN_CALL(chain, "Sub", op_value_tensor(&s->ends), op_value_tensor(&s->starts),
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
    if (r->kind == ENDS) {
        op_chain_copy(chain, r->numbers, &s->ends);
        return;
    }
    const struct op_tensor counts = counts_of(chain, s);
    if (r->kind == PAIRS) {
        const struct op_tensor wide = op_chain_dense(chain, OP_TYPE_I64, &counts);
        put_pairs(chain, r, &wide);
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
    const struct op_tensor rank = op_moe_rank(chain, &s->order),
                           narrow = op_chain_dense(chain, OP_TYPE_I32, &rank);
    if (!r->room) {
        OP_CHAIN_CALL(chain, "MoeActiveRank", op_value_tensor(&s->keys), op_value_tensor(&narrow),
                      op_value_int(r->end), op_value_tensor(r->rows));
        return;
    }
    const struct op_tensor own = op_chain_temp_like(chain, OP_TYPE_I32, &s->keys);
    OP_CHAIN_CALL(chain, "MoeOwn", op_value_tensor(&s->keys), op_value_int(r->first),
                  op_value_int(r->first + r->active), op_value_tensor(&own));
    const struct op_tensor start = op_moe_pick(chain, &s->starts, &own);
    OP_CHAIN_CALL(chain, "MoeSlot", op_value_tensor(&narrow), op_value_tensor(&start),
                  op_value_tensor(&own), op_value_int(r->room), op_value_tensor(r->rows));
}

// For each row of the result its place among the sorted rows, -1 for a slot that is empty.
static struct op_tensor sources_of(struct op_chain *chain, const struct routing *r,
                                   const struct sorted *s)
{
    const struct op_tensor counts = counts_of(chain, s), start = op_view_insert(&s->starts, 1),
                           number = op_view_insert(&counts, 1),
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
    struct op_tensor places, from;
    if (r->room) {
        places = sources_of(chain, r, s);
        from = op_moe_pick(chain, &s->order, &places);
    } else {
        places = from = op_view_slice(&s->order, 0, 0, r->made);
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
    if (r->room) {
        const struct op_tensor rows = rows_of(chain, r, token),
                               shaped = op_view_shape(&rows, r->out->rank, r->out->dim);
        op_chain_copy(chain, r->out, &shaped);
    } else {
        op_moe_take_rows(chain, r->x, token, r->out);
    }
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
    if (!scales_each_expert(r)) {
        return op_quant_times(chain, wide, r->scale);
    }
    if (r->room) {
        const struct op_tensor slots = op_view_shape(wide, 3, r->out->dim),
                               factor = op_view_insert(r->scale, 1),
                               product = op_quant_times(chain, &slots, &factor);
        return op_view_shape(&product, 2, wide->dim);
    }
    const struct op_tensor factor = op_quant_of_group(chain, r->scale, &s->ends, false, r->made);
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

leo_status op_plan_moe_init_routing_v2(const struct op_call *call)
{
    const struct routing r = routing_of_second(call);
    if (r.count == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE, "expertIdx of shape %s has no rows",
                            op_tensor_shape_text(r.experts).text);
    }
    return plan(call, &r);
}

leo_status op_plan_moe_init_routing_v3(const struct op_call *call)
{
    const struct routing r = routing_of_third(call);
    return plan(call, &r);
}

leo_status op_plan_moe_init_routing_quant(const struct op_call *call)
{
    const struct routing r = routing_of_quant(call);
    return plan(call, &r);
}
