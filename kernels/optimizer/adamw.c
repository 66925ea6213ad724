/* SPDX-License-Identifier: Apache-2.0 */
/* AdamW whose rates stand in tensors of one element. */
#include "../frame/chain.h"

static const char *const numbers[] = {"beta1Power", "beta2Power", "lr", "weightDecay",
                                      "beta1",      "beta2",      "eps"};
static const char *const wholes[] = {"mRef", "vRef", "grad"};

static leo_status check(const struct op_call *call, bool amsgrad)
{
    const struct op_tensor *var = op_call_tensor(call, "varRef"),
                           *most = op_call_tensor(call, "maxGradNormOptional");
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < sizeof(wholes) / sizeof(wholes[0]); i++) {
        status = op_call_check_shape(call, wholes[i], var->rank, var->dim);
    }
    for (unsigned i = 0; status == LEO_OK && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        status = op_call_check_number(call, numbers[i]);
    }
    if (status == LEO_OK && amsgrad && (!most || !op_tensor_same_shape(most, var))) {
        status = op_call_fail(call, LEO_ERR_SHAPE,
                              "with amsgrad maxGradNorm must have the shape of var");
    }
    return status;
}

static struct op_tensor correction(struct op_chain *chain, const char *power_name,
                                   const struct op_tensor *beta)
{
    const struct op_tensor power = op_call_number(chain->call, power_name),
                           made = op_chain_temp(chain, OP_TYPE_F32, 0, NULL);
    OP_CHAIN_CALL(chain, "AdamwCorrection", op_value_tensor(&power), op_value_tensor(beta),
                  op_value_tensor(&made));
    return made;
}

leo_status op_plan_adamw_tensors(const struct op_call *call)
{
    const struct op_tensor *var = op_call_tensor(call, "varRef"), *m = op_call_tensor(call, "mRef"),
                           *v = op_call_tensor(call, "vRef"), *grad = op_call_tensor(call, "grad");
    const bool amsgrad = op_call_int(call, "amsgrad") != 0;
    leo_status status = check(call, amsgrad);
    if (status != LEO_OK || op_tensor_count(var) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor beta1 = op_call_number(call, "beta1"),
                           beta2 = op_call_number(call, "beta2"), lr = op_call_number(call, "lr"),
                           decay = op_call_number(call, "weightDecay"),
                           eps = op_call_number(call, "eps"),
                           c1 = correction(&chain, "beta1Power", &beta1),
                           c2 = correction(&chain, "beta2Power", &beta2),
                           update = op_chain_temp_like(&chain, OP_TYPE_F32, var),
                           most = amsgrad ? op_chain_temp_like(&chain, OP_TYPE_F32, var) : *v;
    OP_CHAIN_CALL(&chain, "AdamwMean", op_value_tensor(m), op_value_tensor(grad),
                  op_value_tensor(&beta1), op_value_real(op_call_int(call, "maximize") ? -1 : 1),
                  op_value_tensor(m));
    OP_CHAIN_CALL(&chain, "AdamwSquare", op_value_tensor(v), op_value_tensor(grad),
                  op_value_tensor(&beta2), op_value_tensor(v));
    if (amsgrad) {
        OP_CHAIN_CALL(&chain, "Maximum",
                      op_value_tensor(op_call_tensor(call, "maxGradNormOptional")),
                      op_value_tensor(v), op_value_tensor(&most));
    }
    OP_CHAIN_CALL(&chain, "AdamwUpdate", op_value_tensor(m), op_value_tensor(&most),
                  op_value_tensor(&c1), op_value_tensor(&c2), op_value_tensor(&eps),
                  op_value_tensor(&update));
    OP_CHAIN_CALL(&chain, "AdamwStep", op_value_tensor(var), op_value_tensor(&update),
                  op_value_tensor(&lr), op_value_tensor(&decay), op_value_tensor(var));
    return chain.status;
}
