/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of optimisers in one call: pointwise operators one after the other. A row says which
 * ("optimizer"). */
#include "../frame/chain.h"

#include <inttypes.h>
#include <string.h>

static leo_status plan_adamw(const struct op_call *call)
{
    const struct op_tensor *var = op_call_tensor(call, "varRef"), *m = op_call_tensor(call, "mRef"),
                           *v = op_call_tensor(call, "vRef"), *grad = op_call_tensor(call, "grad"),
                           *step = op_call_tensor(call, "step"),
                           *most = op_call_tensor(call, "maxGradNormOptionalRef");
    const double lr = op_call_real(call, "lr"), beta1 = op_call_real(call, "beta1"),
                 beta2 = op_call_real(call, "beta2");
    const bool amsgrad = op_call_int(call, "amsgrad") != 0;
    static const char *const names[] = {"mRef", "vRef", "grad"};
    for (unsigned i = 0; i < 3; i++) {
        leo_status status = op_call_check_shape(call, names[i], var->rank, var->dim);
        if (status != LEO_OK) {
            return status;
        }
    }
    if (op_tensor_count(step) != 1 || (amsgrad && (!most || !op_tensor_same_shape(most, var)))) {
        return op_call_fail(
            call, LEO_ERR_SHAPE,
            "step must have one element, and maxGradNorm the shape of var with amsgrad");
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t one = 1;
    struct op_tensor count = *step;
    count.rank = 0;
    const struct op_tensor c1 = op_chain_temp(&chain, OP_TYPE_F32, 0, &one),
                           c2 = op_chain_temp(&chain, OP_TYPE_F32, 0, &one);
    OP_CHAIN_CALL(&chain, "AdamCorrection", op_value_tensor(&count), op_value_real(beta1),
                  op_value_tensor(&c1));
    OP_CHAIN_CALL(&chain, "AdamCorrection", op_value_tensor(&count), op_value_real(beta2),
                  op_value_tensor(&c2));
    OP_CHAIN_CALL(&chain, "AdamMean", op_value_tensor(m), op_value_tensor(grad),
                  op_value_real(beta1), op_value_real(op_call_int(call, "maximize") ? -1 : 1),
                  op_value_tensor(m));
    OP_CHAIN_CALL(&chain, "AdamSquare", op_value_tensor(v), op_value_tensor(grad),
                  op_value_real(beta2), op_value_tensor(v));
    if (amsgrad) {
        OP_CHAIN_CALL(&chain, "Maximum", op_value_tensor(most), op_value_tensor(v),
                      op_value_tensor(most));
    }
    const struct op_tensor update = op_chain_temp_like(&chain, OP_TYPE_F32, var);
    OP_CHAIN_CALL(&chain, "AdamUpdate", op_value_tensor(m), op_value_tensor(amsgrad ? most : v),
                  op_value_tensor(&c1), op_value_tensor(&c2),
                  op_value_real(op_call_real(call, "eps")), op_value_tensor(&update));
    OP_CHAIN_CALL(&chain, "AdamStep", op_value_tensor(var), op_value_tensor(&update),
                  op_value_real(lr), op_value_real(op_call_real(call, "weightDecay")),
                  op_value_tensor(var));
    return chain.status;
}

static void sgd_step(struct op_chain *chain, const struct op_tensor *p,
                     const struct op_tensor *grad, const struct op_tensor *buffer,
                     const struct op_tensor *scale)
{
    const struct op_call *call = chain->call;
    const double momentum = op_call_real(call, "momentum"), lr = op_call_real(call, "lr");
    const uint64_t mark = op_plan_temp_mark(chain->plan);
    const struct op_tensor g = op_chain_temp_like(chain, OP_TYPE_F32, p);
    const struct op_scalar more = op_scalar_real(momentum), minus = op_scalar_real(-lr);
    OP_CHAIN_CALL(chain, "SgdGradient", op_value_tensor(grad), op_value_tensor(p),
                  op_value_tensor(scale), op_value_real(op_call_int(call, "maximize") ? -1 : 1),
                  op_value_real(op_call_real(call, "weightDecay")), op_value_tensor(&g));
    const struct op_tensor *update = &g;
    if (momentum != 0 && buffer && op_call_int(call, "isFirstStep")) {
        op_chain_copy(chain, buffer, &g);
    } else if (momentum != 0 && buffer) {
        OP_CHAIN_CALL(chain, "SgdBuffer", op_value_tensor(buffer), op_value_tensor(&g),
                      op_value_real(momentum), op_value_real(1 - op_call_real(call, "dampening")),
                      op_value_tensor(buffer));
    }
    if (momentum != 0 && buffer && op_call_int(call, "nesterov")) {
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(&g), op_value_tensor(buffer),
                      op_value_scalar(&more), op_value_tensor(&g));
    } else if (momentum != 0 && buffer) {
        update = buffer;
    }
    OP_CHAIN_CALL(chain, "Add", op_value_tensor(p), op_value_tensor(update),
                  op_value_scalar(&minus), op_value_tensor(p));
    op_plan_temp_release(chain->plan, mark);
}

static leo_status plan_sgd(const struct op_call *call)
{
    const struct op_tensor_list *params = op_call_value(call, "paramsRef")->tensors,
                                *grads = op_call_value(call, "gradsRef")->tensors,
                                *buffers =
                                    op_call_value(call, "momentumBufferListOptionalRef")->tensors;
    const bool buffered = buffers && buffers->count;
    struct op_tensor scale;
    const int64_t one = 1;
    if (grads->count != params->count || (buffered && buffers->count != params->count)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%" PRIu64 " parameters, %" PRIu64 " gradients, %" PRIu64 " buffers",
                            params->count, grads->count, buffers ? buffers->count : 0);
    }
    if (op_call_real(call, "momentum") != 0 && !buffered) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "momentum is %g, but there are no buffers",
                            op_call_real(call, "momentum"));
    }
    for (uint64_t i = 0; i < params->count; i++) {
        if (!op_tensor_same_shape(params->items[i], grads->items[i]) ||
            (buffered && !op_tensor_same_shape(params->items[i], buffers->items[i]))) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "parameter %" PRIu64 " has shape %s, its gradient %s", i,
                                op_tensor_shape_text(params->items[i]).text,
                                op_tensor_shape_text(grads->items[i]).text);
        }
    }
    struct op_chain chain = op_chain_begin(call);
    if (op_call_tensor(call, "gradScaleOptional")) {
        scale = *op_call_tensor(call, "gradScaleOptional");
    } else {
        scale = op_chain_temp(&chain, OP_TYPE_F32, 1, &one);
        op_chain_fill(&chain, &scale, 1);
    }
    for (uint64_t i = 0; i < params->count; i++) {
        sgd_step(&chain, params->items[i], grads->items[i], buffered ? buffers->items[i] : NULL,
                 &scale);
    }
    return chain.status;
}

leo_status op_plan_optimizer(const struct op_call *call)
{
    return strcmp(op_row_attr(call->row, "optimizer"), "sgd") == 0 ? plan_sgd(call)
                                                                   : plan_adamw(call);
}
