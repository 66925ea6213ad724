/* SPDX-License-Identifier: Apache-2.0 */
/* Dropout in one call: a mask of random bits, and what it leaves, scaled. */
#include "../frame/chain.h"

#include <inttypes.h>

static leo_status check(const struct op_call *call, double p)
{
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *mask = op_call_tensor(call, "maskOut");
    leo_status status = op_call_check_shape(call, "out", input->rank, input->dim);
    if (status == LEO_OK && !(p >= 0 && p <= 1)) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG, "p is %g: it must be between 0 and 1", p);
    }
    if (status == LEO_OK && op_tensor_count(mask) * 8 < op_tensor_count(input)) {
        status =
            op_call_fail(call, LEO_ERR_SHAPE,
                         "maskOut has %" PRId64 " bytes, a mask of %" PRId64 " bits needs more",
                         op_tensor_count(mask), op_tensor_count(input));
    }
    if (status == LEO_OK && op_call_has(call, "optionalNoiseShape") &&
        op_call_tensor(call, "optionalNoiseShape")) {
        status = op_call_fail(call, LEO_ERR_UNSUPPORTED, "optionalNoiseShape must be NULL");
    }
    return status;
}

static void make_mask(struct op_chain *chain, double p)
{
    const struct op_call *call = chain->call;
    const int64_t count = op_tensor_count(op_call_tensor(call, "input"));
    const struct op_ints shape = {&count, 1};
    const struct op_tensor *mask = op_call_tensor(call, "maskOut");
    const struct op_value type = op_value_type(op_call_tensor(call, "input")->type);
    if (op_call_has(call, "seedTensor")) {
        OP_CHAIN_CALL(chain, "DropoutGenMaskV2Tensor", op_value_ints(&shape), op_value_real(p),
                      *op_call_value(call, "seedTensor"), *op_call_value(call, "offsetTensor"),
                      *op_call_value(call, "offset"), type, op_value_tensor(mask));
        return;
    }
    OP_CHAIN_CALL(chain, "DropoutGenMaskV2", op_value_ints(&shape), op_value_real(p),
                  *op_call_value(call, "seed"), *op_call_value(call, "offset"), type,
                  op_value_tensor(mask));
}

leo_status op_plan_dropout(const struct op_call *call)
{
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *out = op_call_tensor(call, "out");
    const bool train = !op_call_has(call, "train") || op_call_int(call, "train");
    const double p = train ? op_call_real(call, "p") : 0;
    leo_status status = check(call, p);
    if (status != LEO_OK || op_tensor_count(input) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (p == 0) {
        op_chain_copy(&chain, out, input);
    } else if (p == 1) {
        op_chain_fill(&chain, out, 0);
    } else {
        make_mask(&chain, p);
        OP_CHAIN_CALL(&chain, "DropoutDoMask", op_value_tensor(input),
                      op_value_tensor(op_call_tensor(call, "maskOut")), op_value_real(p),
                      op_value_tensor(out));
    }
    return chain.status;
}

leo_status op_plan_dropout_grad(const struct op_call *call)
{
    return op_plan_call(call->plan, "DropoutScale", call->args, 4);
}
