/* SPDX-License-Identifier: Apache-2.0 */
/* Steps with momentum whose rates stand in tensors of one element. */
#include "../frame/chain.h"

// Tensors like var, then numbers; both lists end with NULL.
static leo_status check(const struct op_call *call, const char *const *likes,
                        const char *const *numbers)
{
    const struct op_tensor *var = op_call_tensor(call, "var");
    leo_status status = LEO_OK;
    for (; status == LEO_OK && *likes; likes++) {
        status = op_call_check_shape(call, *likes, var->rank, var->dim);
    }
    for (; status == LEO_OK && *numbers; numbers++) {
        status = op_call_check_number(call, *numbers);
    }
    return status;
}

static leo_status plan_momentum(const struct op_call *call)
{
    static const char *const likes[] = {"accum", "grad", "out", NULL}, *const numbers[] = {
                                                                           "lr", "momentum", NULL};
    leo_status status = check(call, likes, numbers);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *accum = op_call_tensor(call, "accum"),
                           *grad = op_call_tensor(call, "grad");
    const struct op_tensor lr = op_call_number(call, "lr"),
                           momentum = op_call_number(call, "momentum");
    OP_CHAIN_CALL(&chain, "MomentumAccum", op_value_tensor(accum), op_value_tensor(grad),
                  op_value_tensor(&momentum), op_value_tensor(accum));
    OP_CHAIN_CALL(&chain, "MomentumStep", op_value_tensor(op_call_tensor(call, "var")),
                  op_value_tensor(accum), op_value_tensor(grad), op_value_tensor(&lr),
                  op_value_tensor(&momentum),
                  op_value_real((double)op_call_int(call, "useNesterov")),
                  op_value_tensor(op_call_tensor(call, "out")));
    return chain.status;
}

static leo_status plan_sgd(const struct op_call *call)
{
    static const char *const likes[] = {"accum", "grad", "stat", "out", NULL}, *const numbers[] = {
                                                                                   "lr", "momentum",
                                                                                   NULL};
    leo_status status = check(call, likes, numbers);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *var = op_call_tensor(call, "var"),
                           *accum = op_call_tensor(call, "accum"),
                           *stat = op_call_tensor(call, "stat");
    const struct op_tensor lr = op_call_number(call, "lr"),
                           momentum = op_call_number(call, "momentum");
    struct op_tensor grad = *op_call_tensor(call, "grad");
    if (op_call_real(call, "weightDecay") != 0) {
        const struct op_tensor decayed = op_chain_temp_like(&chain, OP_TYPE_F32, var);
        OP_CHAIN_CALL(&chain, "SgdDecayed", op_value_tensor(&grad), op_value_tensor(var),
                      *op_call_value(call, "weightDecay"), op_value_tensor(&decayed));
        grad = decayed;
    }
    OP_CHAIN_CALL(&chain, "SgdAccum", op_value_tensor(accum), op_value_tensor(&grad),
                  op_value_tensor(&momentum), op_value_tensor(stat),
                  op_value_real(1 - op_call_real(call, "dampening")), op_value_tensor(accum));
    OP_CHAIN_CALL(&chain, "SgdStat", op_value_tensor(stat), op_value_tensor(&momentum),
                  op_value_tensor(stat));
    OP_CHAIN_CALL(&chain, "SgdTensorStep", op_value_tensor(var), op_value_tensor(&grad),
                  op_value_tensor(accum), op_value_tensor(&lr), op_value_tensor(&momentum),
                  op_value_real((double)op_call_int(call, "useNesterov")),
                  op_value_tensor(op_call_tensor(call, "out")));
    return chain.status;
}

leo_status op_plan_momentum_tensors(const struct op_call *call)
{
    return op_call_has(call, "stat") ? plan_sgd(call) : plan_momentum(call);
}
