/* SPDX-License-Identifier: Apache-2.0 */
/* Products with weights of 8 or 4 bits, which become floats of the type of x before. */
#include "rows.h"

#include "../matmul/matmul.h"

#include <inttypes.h>

struct weights {
    const struct op_tensor *x, *weight, *scale, *offset, *quant_scale, *quant_offset, *bias, *out;
    int64_t k, n, group; /* group: rows of the weight that share a scale */
    unsigned along;      /* dimension of the weight along which numbers of 4 bits share words */
};

// A scale for all, for each column, or for each column of each group.
static bool fits_scale(const struct weights *w, const struct op_tensor *scale)
{
    const int64_t groups = (w->k + w->group - 1) / w->group,
                  count = scale ? op_tensor_count(scale) : 1;
    return count == 1 || count == groups * w->n;
}

static leo_status take(const struct op_call *call, struct weights *w)
{
    *w = (struct weights){
        .x = op_call_tensor(call, "x"),
        .weight = op_call_tensor(call, "weight"),
        .scale = op_call_tensor(call, "antiquantScale"),
        .offset = op_call_given(call, "antiquantOffsetOptional"),
        .quant_scale = op_call_given(call, "quantScaleOptional"),
        .quant_offset = op_call_given(call, "quantOffsetOptional"),
        .bias = op_call_given(call, "biasOptional"),
        .out = op_call_tensor(call, "y"),
    };
    const struct op_tensor *x = w->x, *weight = w->weight, *out = w->out;
    const bool packed = weight->type == OP_TYPE_I32, ranks = x->rank == 2 && weight->rank == 2;
    const int64_t asked = op_call_int(call, "antiquantGroupSize");
    // Words run along the rows, or along the columns of a weight that is stored turned.
    w->along = packed && ranks && weight->dim[0] * OP_QUANT_IN_WORD == x->dim[1] ? 0 : 1;
    w->k = ranks ? weight->dim[0] * (packed && w->along == 0 ? OP_QUANT_IN_WORD : 1) : 0;
    w->n = ranks ? weight->dim[1] * (packed && w->along == 1 ? OP_QUANT_IN_WORD : 1) : 0;
    w->group = asked > 0 ? asked : w->k ? w->k : 1;
    const bool fits = ranks && x->dim[1] == w->k && w->k > 0 && out->rank == 2 &&
                      out->dim[0] == x->dim[0] && out->dim[1] == w->n && w->k % w->group == 0 &&
                      fits_scale(w, w->scale) && fits_scale(w, w->offset) &&
                      (!w->bias || op_tensor_count(w->bias) == w->n) &&
                      (!w->quant_scale || op_tensor_count(w->quant_scale) == 1 ||
                       op_tensor_count(w->quant_scale) == w->n);
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x %s and weight %s of %s in groups of %" PRId64
                            " with scale %s into %s: they do not fit",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(weight).text,
                            op_type_name(weight->type), w->group,
                            op_tensor_shape_text(w->scale).text, op_tensor_shape_text(out).text);
    }
    if (!w->quant_scale != (out->type != OP_TYPE_I8)) {
        return op_call_fail(call, LEO_ERR_DTYPE,
                            "y is %s: it must be i8 with quantScale, and a float without",
                            op_type_name(out->type));
    }
    return LEO_OK;
}

// A scale as [groups, 1, columns], or one number.
static struct op_tensor scale_view(struct op_chain *chain, const struct weights *w,
                                   const struct op_tensor *scale)
{
    const int64_t groups = w->k / w->group, shape[] = {groups, 1, w->n};
    const struct op_tensor list = op_moe_flat(chain, scale);
    return list.dim[0] == 1 ? list : op_view_shape(&list, 3, shape);
}

static struct op_tensor floats_of(struct op_chain *chain, const struct weights *w)
{
    const int64_t groups = w->k / w->group, shape[] = {w->k, w->n}, one = 1;
    struct op_tensor from =
        w->weight->type == OP_TYPE_I32 ? op_quant_unpack(chain, w->weight, w->along) : *w->weight;
    const struct op_tensor out = op_chain_temp(chain, w->x->type, 2, shape),
                           to = op_view_shape(&out, 3, (const int64_t[]){groups, w->group, w->n}),
                           scale = scale_view(chain, w, w->scale);
    struct op_tensor offset;
    if (w->offset) {
        offset = scale_view(chain, w, w->offset);
    } else {
        offset = op_chain_temp(chain, OP_TYPE_F32, 1, &one);
        op_chain_fill(chain, &offset, 0);
    }
    from = op_view_insert(&from, 0);
    from.dim[0] = groups;
    from.dim[1] = w->group;
    from.stride[0] = w->group * from.stride[1];
    OP_CHAIN_CALL(chain, "DequantSum", op_value_tensor(&from), op_value_tensor(&offset),
                  op_value_tensor(&scale), op_value_tensor(&to));
    return out;
}

leo_status op_plan_quant_weight(const struct op_call *call)
{
    struct weights w;
    leo_status status = take(call, &w);
    if (status != LEO_OK || op_tensor_count(w.out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor weight = floats_of(&chain, &w),
                           value = w.quant_scale ? op_chain_temp_like(&chain, OP_TYPE_F32, w.out)
                                                 : *w.out;
    struct op_matmul matmul = {.a = *w.x, .b = weight, .out = value, .alpha = 1, .beta = 1};
    if (w.bias) {
        const struct op_tensor row = op_moe_flat(&chain, w.bias);
        matmul.has_self = op_tensor_broadcast(&row, 2, value.dim, &matmul.self);
    }
    if (chain.status == LEO_OK) {
        chain.status = op_matmul_plan(call->plan, &matmul);
    }
    if (w.quant_scale) {
        const int64_t one = 1;
        const struct op_tensor scale = op_quant_scale_of(&chain, w.quant_scale),
                               zero = op_chain_temp(&chain, OP_TYPE_F32, 1, &one);
        op_chain_fill(&chain, &zero, 0);
        OP_CHAIN_CALL(&chain, "QuantMultiplySum", op_value_tensor(&value), op_value_tensor(&scale),
                      op_value_tensor(w.quant_offset ? w.quant_offset : &zero),
                      op_value_tensor(w.out));
    }
    return chain.status;
}
