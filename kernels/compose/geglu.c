/* SPDX-License-Identifier: Apache-2.0 */
/* GeGlu: one half of a dimension, through the Gaussian error linear unit, times the other half. */
#include "../frame/chain.h"

#include <inttypes.h>

enum { NONE, TANH }; // approximate: by erf, by tanh

struct geglu {
    unsigned dim;
    int64_t approximate, half;
    unsigned active; /**< which half goes through the unit */
};

static leo_status take(const struct op_call *call, const struct op_tensor *self, struct geglu *out)
{
    const int64_t given = op_call_int(call, "dim"), at = given < 0 ? given + self->rank : given;
    out->approximate = op_call_int(call, "approximate");
    out->active = op_call_has(call, "activateLeft") && op_call_int(call, "activateLeft") ? 0 : 1;
    if (at < 0 || at >= self->rank || self->dim[at] % 2) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "dim is %" PRId64
                            ": it must name a dimension of even size of self of shape %s",
                            given, op_tensor_shape_text(self).text);
    }
    if (out->approximate != NONE && out->approximate != TANH) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "approximate is %" PRId64 ": it must be 0 (none) or 1 (tanh)",
                            out->approximate);
    }
    out->dim = (unsigned)at;
    out->half = self->dim[at] / 2;
    return LEO_OK;
}

static struct op_tensor half_of(const struct op_tensor *whole, const struct geglu *g,
                                unsigned which)
{
    return op_view_slice(whole, g->dim, which * g->half, g->half);
}

leo_status op_plan_geglu(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out"),
                           *gelu = op_call_tensor(call, "outGelu");
    struct geglu g;
    leo_status status = take(call, self, &g);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor active = half_of(self, &g, g.active),
                           other = half_of(self, &g, 1 - g.active);
    status = op_call_check_shape(call, "out", active.rank, active.dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "outGelu", active.rank, active.dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor wide = op_chain_wide(&chain, gelu);
    OP_CHAIN_CALL(&chain, "GeluV2", op_value_tensor(&active), op_value_int(g.approximate),
                  op_value_tensor(&wide));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&wide), op_value_tensor(&other),
                  op_value_tensor(out));
    op_chain_give(&chain, gelu, &wide);
    return chain.status;
}

leo_status op_plan_geglu_backward(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *gradient = op_call_tensor(call, "gradOutput"),
                           *gelu = op_call_tensor(call, "gelu"),
                           *out = op_call_tensor(call, "gradInput");
    struct geglu g;
    leo_status status = take(call, self, &g);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "gradInput", self->rank, self->dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor active = half_of(self, &g, g.active),
                           other = half_of(self, &g, 1 - g.active),
                           to_active = half_of(out, &g, g.active),
                           to_other = half_of(out, &g, 1 - g.active);
    status = op_call_check_shape(call, "gradOutput", active.rank, active.dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "gelu", active.rank, active.dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor product = op_chain_temp_like(&chain, OP_TYPE_F32, &active);
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(gradient), op_value_tensor(&other),
                  op_value_tensor(&product));
    OP_CHAIN_CALL(&chain, g.approximate == TANH ? "GeluBackward" : "GeluErfGrad",
                  op_value_tensor(&product), op_value_tensor(&active), op_value_tensor(&to_active));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(gradient), op_value_tensor(gelu),
                  op_value_tensor(&to_other));
    return chain.status;
}
