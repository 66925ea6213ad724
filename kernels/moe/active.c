/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in the order of those experts that are active here, as they are or quantised. */
#include "../quant/rows.h"

#include <inttypes.h>

enum { PLAIN = -1, DYNAMIC = 1 }; /* quantMode */
enum { ENDS, COUNTS };            /* expertTokensNumType */
enum { WHERE_TO, WHERE_FROM };    /* rowIdxType */

struct routing {
    const struct op_tensor *x, *experts, *scale, *out, *rows, *numbers, *scales;
    int64_t count, each, first, end, mode, kind, row_kind;
};

static leo_status check_modes(const struct op_call *call, const struct routing *r)
{
    if (op_call_int(call, "dropPadMode") != 0 || (r->mode != PLAIN && r->mode != DYNAMIC) ||
        (r->kind != ENDS && r->kind != COUNTS) ||
        (r->row_kind != WHERE_TO && r->row_kind != WHERE_FROM) ||
        op_call_tensor(call, "offsetOptional")) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "dropPadMode %" PRId64 ", quantMode %" PRId64
                            ", expertTokensNumType %" PRId64 ", rowIdxType %" PRId64
                            ": they must be 0, -1 or 1, 0 or 1, 0 or 1, and offset be NULL",
                            op_call_int(call, "dropPadMode"), r->mode, r->kind, r->row_kind);
    }
    return LEO_OK;
}

static leo_status check_shapes(const struct op_call *call, const struct routing *r)
{
    const struct op_tensor *x = r->x, *out = r->out, *scale = r->scale;
    const int64_t active = r->end - r->first;
    bool fits = x->rank == 2 && r->experts->rank == 2 && r->experts->dim[0] == x->dim[0] &&
                out->rank == 2 && out->dim[0] <= r->count && out->dim[1] == x->dim[1] &&
                r->first >= 0 && active > 0 && r->count > 0;
    if (fits && scale) {
        fits = r->mode == PLAIN
                   ? scale->rank == 1 && scale->dim[0] == x->dim[0]
                   : scale->rank == 2 && scale->dim[0] == active && scale->dim[1] == x->dim[1];
    }
    if (!fits) {
        return op_moe_fail_shapes(call, x, r->experts, out);
    }
    if (out->type != (r->mode == DYNAMIC ? OP_TYPE_I8 : x->type)) {
        return op_call_fail(call, LEO_ERR_DTYPE, "expandedXOut is %s with quantMode %" PRId64,
                            op_type_name(out->type), r->mode);
    }
    leo_status status = op_call_check_shape(call, "expandedRowIdxOut", 1, &r->count);
    if (status == LEO_OK && r->numbers) {
        status = op_call_check_shape(call, "expertTokensCountOrCumsumOut", 1, &active);
    }
    if (status == LEO_OK && r->scales && op_tensor_count(r->scales) < out->dim[0]) {
        status = op_moe_fail_shapes(call, x, out, r->scales);
    }
    return status;
}

static leo_status take(const struct op_call *call, struct routing *r)
{
    const struct op_ints *range = op_call_ints(call, "activeExpertRangeOptional");
    const bool ranged = range && range->count == 2,
               wants = op_call_int(call, "expertTokensNumFlag");
    *r = (struct routing){
        .x = op_call_tensor(call, "x"),
        .experts = op_call_tensor(call, "expertIdx"),
        .scale = op_call_tensor(call, "scaleOptional"),
        .out = op_call_tensor(call, "expandedXOut"),
        .rows = op_call_tensor(call, "expandedRowIdxOut"),
        .numbers = wants ? op_call_tensor(call, "expertTokensCountOrCumsumOut") : NULL,
        .count = op_tensor_count(op_call_tensor(call, "expertIdx")),
        .first = ranged ? range->items[0] : 0,
        .end = ranged ? range->items[1] : op_call_int(call, "expertNum"),
        .mode = op_call_int(call, "quantMode"),
        .kind = op_call_int(call, "expertTokensNumType"),
        .row_kind = op_call_int(call, "rowIdxType"),
    };
    r->each = r->experts->rank == 2 ? r->experts->dim[1] : 1;
    r->scales = r->mode == DYNAMIC || r->scale ? op_call_tensor(call, "expandedScaleOut") : NULL;
    leo_status status = check_modes(call, r);
    return status == LEO_OK ? check_shapes(call, r) : status;
}

static void put_numbers(struct op_chain *chain, const struct routing *r,
                        const struct op_tensor *sorted)
{
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor ends = op_moe_bound(chain, sorted, r->first, r->end, OP_TYPE_I64, true);
    if (r->kind == ENDS) {
        op_chain_copy(chain, r->numbers, &ends);
        return;
    }
    const struct op_tensor starts =
        op_moe_bound(chain, sorted, r->first, r->end, OP_TYPE_I64, false);
    OP_CHAIN_CALL(chain, "Sub", op_value_tensor(&ends), op_value_tensor(&starts),
                  op_value_scalar(&one), op_value_tensor(r->numbers));
}

static void put_rows(struct op_chain *chain, const struct routing *r, const struct op_tensor *keys,
                     const struct op_tensor *order)
{
    if (r->row_kind == WHERE_FROM) {
        op_chain_copy(chain, r->rows, order);
        return;
    }
    const struct op_tensor rank = op_moe_order(chain, order, NULL),
                           narrow = op_chain_dense(chain, OP_TYPE_I32, &rank);
    OP_CHAIN_CALL(chain, "MoeActiveRank", op_value_tensor(keys), op_value_tensor(&narrow),
                  op_value_tensor(r->rows));
}

// Rows times the scale of their expert, as i8 with a scale each.
static void put_bytes(struct op_chain *chain, const struct routing *r,
                      const struct op_tensor *token, const struct op_tensor *sorted)
{
    const int64_t rows = r->out->dim[0];
    const struct op_tensor taken = op_moe_rows(chain, r->x, token, false);
    struct op_tensor wide = op_chain_dense(chain, OP_TYPE_F32, &taken);
    if (r->scale) {
        const struct op_tensor ends =
                                   op_moe_bound(chain, sorted, r->first, r->end, OP_TYPE_I64, true),
                               factor = op_quant_of_group(chain, r->scale, &ends, false, rows);
        wide = op_quant_times(chain, &wide, &factor);
    }
    if (r->scales) {
        const struct op_tensor list = op_moe_flat(chain, r->scales),
                               to = op_view_slice(&list, 0, 0, rows);
        op_quant_dynamic(chain, &wide, r->out, &to, NULL);
        return;
    }
    const struct op_tensor unused = op_chain_temp(chain, OP_TYPE_F32, 1, &rows);
    op_quant_dynamic(chain, &wide, r->out, &unused, NULL);
}

static void put_plain(struct op_chain *chain, const struct routing *r,
                      const struct op_tensor *token)
{
    op_moe_take_rows(chain, r->x, token, r->out);
    if (r->scale && r->scales) {
        const struct op_tensor scales = op_chain_temp(chain, r->scale->type, 1, token->dim),
                               to = op_view_slice(r->scales, 0, 0, token->dim[0]);
        op_moe_take_rows(chain, r->scale, token, &scales);
        op_chain_copy(chain, &to, &scales);
    }
}

leo_status op_plan_moe_init_routing_v3(const struct op_call *call)
{
    struct routing r;
    leo_status status = take(call, &r);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_moe_flat(&chain, r.experts),
                           keys = op_chain_temp_like(&chain, OP_TYPE_I32, &list),
                           sorted = op_chain_temp_like(&chain, OP_TYPE_I32, &list);
    OP_CHAIN_CALL(&chain, "MoeActive", op_value_tensor(&list), op_value_int(r.first),
                  op_value_int(r.end), op_value_tensor(&keys));
    const struct op_tensor order = op_moe_order(&chain, &keys, &sorted),
                           some = op_view_slice(&order, 0, 0, r.out->dim[0]),
                           token = op_chain_temp_like(&chain, OP_TYPE_I64, &some);
    OP_CHAIN_CALL(&chain, "MoeQuotient", op_value_tensor(&some), op_value_int(r.each),
                  op_value_tensor(&token));
    if (r.mode == DYNAMIC) {
        put_bytes(&chain, &r, &token, &sorted);
    } else {
        put_plain(&chain, &r, &token);
    }
    put_rows(&chain, &r, &keys, &order);
    if (r.numbers) {
        put_numbers(&chain, &r, &sorted);
    }
    return chain.status;
}
