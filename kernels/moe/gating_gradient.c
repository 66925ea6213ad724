/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient of the choice of experts: scores are logistic functions, over the sum of the chosen. */
#include "../frame/chain.h"

#include <inttypes.h>

static leo_status check(const struct op_call *call)
{
    const struct op_tensor *scores = op_call_tensor(call, "x_norm"),
                           *list = op_call_tensor(call, "expertIdx");
    if (op_call_int(call, "renorm") != 0 || op_call_int(call, "norm_type") != 1) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "renorm %" PRId64 ", norm_type %" PRId64 ": 0 and 1 are possible",
                            op_call_int(call, "renorm"), op_call_int(call, "norm_type"));
    }
    if (scores->rank != 2 || list->rank != 2 || list->dim[0] != scores->dim[0] ||
        list->dim[1] < 2 || list->dim[1] > scores->dim[1]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x_norm %s and expertIdx %s do not fit: [rows, experts] and [rows, 2 "
                            "or more]",
                            op_tensor_shape_text(scores).text, op_tensor_shape_text(list).text);
    }
    leo_status status = op_call_check_shape(call, "grad_y", 2, list->dim);
    return status == LEO_OK ? op_call_check_shape(call, "out0", 2, scores->dim) : status;
}

leo_status op_plan_moe_gating_gradient(const struct op_call *call)
{
    static const int64_t last[] = {1};
    static const struct op_ints of_rows = {last, 1};
    const struct op_tensor *scores = op_call_tensor(call, "x_norm"),
                           *dy = op_call_tensor(call, "grad_y"),
                           *list = op_call_tensor(call, "expertIdx"),
                           *out = op_call_tensor(call, "out0");
    leo_status status = check(call);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t rows[] = {list->dim[0], 1};
    const struct op_value f32 = op_value_type(OP_TYPE_F32);
    const struct op_tensor wide = op_chain_dense(&chain, OP_TYPE_I64, list),
                           chosen = op_chain_temp_like(&chain, OP_TYPE_F32, list),
                           product = op_chain_temp_like(&chain, OP_TYPE_F32, list),
                           sum = op_chain_temp(&chain, OP_TYPE_F32, 2, rows),
                           mean = op_chain_temp(&chain, OP_TYPE_F32, 2, rows),
                           slope = op_chain_temp_like(&chain, out->type, list);
    OP_CHAIN_CALL(&chain, "Gather", op_value_tensor(scores), op_value_int(1),
                  op_value_tensor(&wide), op_value_tensor(&chosen));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&chosen), op_value_tensor(dy),
                  op_value_tensor(&product));
    OP_CHAIN_CALL(&chain, "ReduceSum", op_value_tensor(&chosen), op_value_ints(&of_rows),
                  op_value_int(1), f32, op_value_tensor(&sum));
    OP_CHAIN_CALL(&chain, "ReduceSum", op_value_tensor(&product), op_value_ints(&of_rows),
                  op_value_int(1), f32, op_value_tensor(&mean));
    OP_CHAIN_CALL(&chain, "GatingSlope", op_value_tensor(&chosen), op_value_tensor(dy),
                  op_value_tensor(&sum), op_value_tensor(&mean),
                  *op_call_value(call, "routed_scaling_factor"), *op_call_value(call, "eps"),
                  op_value_tensor(&slope));
    OP_CHAIN_CALL(&chain, "InplaceZero", op_value_tensor(out));
    OP_CHAIN_CALL(&chain, "InplaceScatter", op_value_tensor(out), op_value_int(1),
                  op_value_tensor(&wide), op_value_tensor(&slope), op_value_int(0));
    return chain.status;
}
