/* SPDX-License-Identifier: Apache-2.0 */
/* SwiGlu whose result is quantised, of floats or of what a product of i8 gave. */
#include "rows.h"

#include "../frame/dims.h"

#include <inttypes.h>
#include <string.h>

struct gate {
    const struct op_tensor *x, *weight, *row, *bias, *factors, *offsets, *groups;
    bool counts, left, dynamic, dequant;
    int64_t width; /* of the result */
};

static leo_status take_mode(const struct op_call *call, bool *dynamic)
{
    const char *text = op_call_value(call, "quantModeOptional")->text;
    *dynamic = text && strcmp(text, "dynamic") == 0;
    if (*dynamic || !text || strcmp(text, "static") == 0) {
        return LEO_OK;
    }
    return op_call_fail(call, LEO_ERR_INVALID_ARG, "quantMode is %s: it must be static or dynamic",
                        text);
}

static bool fits_factor(const struct op_tensor *given, int64_t groups, int64_t width)
{
    return !given || (given->rank <= 2 && (op_tensor_count(given) == groups * width ||
                                           op_tensor_count(given) == groups));
}

static leo_status check(const struct op_call *call, const struct gate *g)
{
    const struct op_tensor *x = g->x;
    const int64_t rows = g->width ? op_tensor_count(x) / (2 * g->width) : 0,
                  groups = g->groups ? op_tensor_count(g->groups) : 1;
    const bool fits =
        x->rank >= 2 && x->dim[x->rank - 1] % 2 == 0 && fits_factor(g->factors, groups, g->width) &&
        fits_factor(g->offsets, groups, g->width) && fits_factor(g->weight, groups, 2 * g->width) &&
        (!g->row || op_tensor_count(g->row) == rows) &&
        (!g->bias || op_tensor_count(g->bias) == 2 * g->width) &&
        (!g->groups || g->groups->rank == 1);
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x of shape %s in %" PRId64
                            " groups: its last dimension must be even, and factors be there "
                            "for each group",
                            op_tensor_shape_text(x).text, groups);
    }
    if (x->type == OP_TYPE_I32 && !g->weight) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "x is i32: weightScale must be given");
    }
    leo_status status = op_quant_check_out(call, "yOut", x, g->width);
    return status == LEO_OK && g->dynamic ? op_quant_check_scale(call, "scaleOut", x) : status;
}

static leo_status take(const struct op_call *call, struct gate *g)
{
    *g = (struct gate){
        .x = op_call_tensor(call, "x"),
        .weight = op_call_optional(call, "weightScaleOptional"),
        .row = op_call_optional(call, "activationScaleOptional"),
        .bias = op_call_optional(call, "biasOptional"),
        .groups = op_call_tensor(call, "groupIndexOptional"),
        .dequant = op_call_has(call, "weightScaleOptional"),
        .left = op_call_int(call, "activateLeft") != 0,
    };
    g->factors = op_call_tensor(call, g->dequant ? "quantScaleOptional" : "smoothScalesOptional");
    g->offsets = op_call_tensor(call, g->dequant ? "quantOffsetOptional" : "offsetsOptional");
    g->counts = g->dequant ||
                (op_call_has(call, "groupListType") && op_call_int(call, "groupListType") == 1);
    g->width = g->x->rank ? g->x->dim[g->x->rank - 1] / 2 : 0;
    leo_status status = take_mode(call, &g->dynamic);
    return status == LEO_OK ? check(call, g) : status;
}

// Factors of each row if rows are in groups; else as they are, as one row.
static struct op_tensor of_rows(struct op_chain *chain, const struct gate *g,
                                const struct op_tensor *factors, int64_t rows)
{
    if (g->groups) {
        return op_quant_of_group(chain, factors, g->groups, g->counts, rows);
    }
    const int64_t shape[] = {1, op_tensor_count(factors)};
    const struct op_tensor dense = op_chain_dense(chain, factors->type, factors);
    return op_view_shape(&dense, 2, shape);
}

// x as rows of floats.
static struct op_tensor floats_of(struct op_chain *chain, const struct gate *g)
{
    const struct op_tensor rows = op_quant_rows(chain, g->x->type, g->x);
    if (!g->weight && !g->row && !g->bias) {
        return rows;
    }
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_F32, &rows),
                           zero = op_chain_number(chain, 0), one = op_chain_number(chain, 1),
                           weight = g->weight ? of_rows(chain, g, g->weight, rows.dim[0]) : one;
    struct op_tensor row = one;
    if (g->row) {
        const struct op_tensor list = op_moe_flat(chain, g->row);
        row = op_view_insert(&list, 1);
    }
    const bool whole = g->bias && g->bias->type == OP_TYPE_I32;
    OP_CHAIN_CALL(chain, "DequantAll", op_value_tensor(&rows),
                  op_value_tensor(whole ? g->bias : &zero), op_value_tensor(&weight),
                  op_value_tensor(&row), op_value_tensor(g->bias && !whole ? g->bias : &zero),
                  op_value_tensor(&out));
    return out;
}

static void put_static(struct op_chain *chain, const struct gate *g, const struct op_tensor *gated)
{
    const struct op_tensor *out = op_call_tensor(chain->call, "yOut");
    const int64_t rows = gated->dim[0];
    const struct op_tensor made = op_chain_temp_like(chain, OP_TYPE_I8, gated),
                           factor = g->factors ? of_rows(chain, g, g->factors, rows)
                                               : op_chain_number(chain, 1),
                           offset = g->offsets ? of_rows(chain, g, g->offsets, rows)
                                               : op_chain_number(chain, 0),
                           seen = op_view_shape(&made, out->rank, out->dim);
    OP_CHAIN_CALL(chain, g->dequant ? "QuantDivideSum" : "QuantMultiplySum", op_value_tensor(gated),
                  op_value_tensor(&factor), op_value_tensor(&offset), op_value_tensor(&made));
    op_chain_copy(chain, out, &seen);
}

static void put_dynamic(struct op_chain *chain, const struct gate *g, const struct op_tensor *gated)
{
    const struct op_tensor *out = op_call_tensor(chain->call, "yOut"),
                           *scale = op_call_tensor(chain->call, "scaleOut");
    struct op_tensor rows = *gated;
    if (g->factors) {
        const struct op_tensor factors = of_rows(chain, g, g->factors, gated->dim[0]);
        rows = op_quant_times(chain, gated, &factors);
    }
    if (g->dequant) {
        op_quant_dynamic(chain, &rows, out, scale, NULL);
    } else {
        op_quant_dynamic_factor(chain, &rows, out, scale);
    }
}

static void clipped(struct op_chain *chain, const struct op_tensor *a, const struct op_tensor *b,
                    const char *const names[3], const struct op_tensor *out)
{
    const struct op_call *call = chain->call;
    OP_CHAIN_CALL(chain, "ClippedGate", op_value_tensor(a), op_value_tensor(b),
                  op_value_real(op_call_real(call, names[0])),
                  op_value_real(op_call_real(call, names[1])),
                  op_value_real(op_call_real(call, names[2])), op_value_tensor(out));
}

// 1: the cut gate of even and odd places. Fails for what the second version has beside.
static leo_status take_variant(const struct op_call *call, const struct gate *g, int64_t *variant)
{
    *variant = op_call_has(call, "swigluMode") ? op_call_int(call, "swigluMode") : 0;
    if (!op_call_has(call, "swigluMode")) {
        return LEO_OK;
    }
    const char *rounding = op_call_value(call, "roundModeOptional")->text;
    const int64_t dim = op_call_int(call, "activateDim");
    if ((uint64_t)*variant > 1 || (dim != -1 && dim != (int64_t)g->x->rank - 1) ||
        (rounding && rounding[0] && strcmp(rounding, "rint") != 0)) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "swigluMode %" PRId64 ", activateDim %" PRId64
                            ", roundMode %s: 0 or 1, the last dimension and rint are possible",
                            *variant, dim, rounding ? rounding : "rint");
    }
    return LEO_OK;
}

leo_status op_plan_quant_gate(const struct op_call *call)
{
    static const char *const names[] = {"gluAlpha", "clampLimit", "gluBias"};
    struct gate g;
    int64_t variant = 0;
    leo_status status = take(call, &g);
    if (status == LEO_OK) {
        status = take_variant(call, &g, &variant);
    }
    if (status != LEO_OK || op_tensor_count(g.x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor x = floats_of(&chain, &g),
                           first = op_view_slice(&x, 1, g.left ? 0 : g.width, g.width),
                           second = op_view_slice(&x, 1, g.left ? g.width : 0, g.width),
                           gated = op_chain_temp_like(&chain, OP_TYPE_F32, &first);
    if (variant) {
        const struct op_tensor even = op_view_every_second(&x, 1, 0),
                               odd = op_view_every_second(&x, 1, 1);
        clipped(&chain, &even, &odd, names, &gated);
    } else {
        OP_CHAIN_CALL(&chain, "GateSwish", op_value_tensor(&first), op_value_tensor(&second),
                      op_value_tensor(&gated));
    }
    if (g.dynamic) {
        put_dynamic(&chain, &g, &gated);
    } else {
        put_static(&chain, &g, &gated);
    }
    return chain.status;
}
