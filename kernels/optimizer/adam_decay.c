/* SPDX-License-Identifier: Apache-2.0 */
/* AdamApplyOneWithDecay: a step of Adam whose factors are tensors of one element. */
#include "../frame/chain.h"

enum { FACTORS = 7 };

leo_status op_plan_adam_decay(const struct op_call *call)
{
    static const char *const names[FACTORS] = {"lr",        "keepMean", "addMean", "keepSquare",
                                               "addSquare", "decay",    "epsilon"};
    enum { LR, KEEP_MEAN, ADD_MEAN, KEEP_SQUARE, ADD_SQUARE, DECAY, EPSILON };
    struct op_tensor factor[FACTORS];
    struct op_value value[FACTORS];
    const struct op_tensor *var = op_call_tensor(call, "var"),
                           *m_out = op_call_tensor(call, "mOut"),
                           *v_out = op_call_tensor(call, "vOut");
    for (unsigned i = 0; i < FACTORS; i++) {
        factor[i] = *op_call_tensor(call, names[i]);
        if (op_tensor_count(&factor[i]) != 1) {
            return op_call_fail(call, LEO_ERR_SHAPE, "%s must have one element", names[i]);
        }
        factor[i].rank = 0; // tensors without dimensions keep their shape
        value[i] = op_value_tensor(&factor[i]);
    }
    struct op_chain chain = op_chain_begin(call);
    // The step is made of m and v before they are rounded: a half does not hold small squares.
    const struct op_tensor mean = op_chain_wide(&chain, m_out),
                           square = op_chain_wide(&chain, v_out);
    OP_CHAIN_CALL(&chain, "AdamDecaySquare", *op_call_value(call, "v"),
                  *op_call_value(call, "grad"), value[KEEP_SQUARE], value[ADD_SQUARE],
                  op_value_tensor(&square));
    OP_CHAIN_CALL(&chain, "AdamDecayMean", *op_call_value(call, "m"), *op_call_value(call, "grad"),
                  value[KEEP_MEAN], value[ADD_MEAN], op_value_tensor(&mean));
    OP_CHAIN_CALL(&chain, "AdamDecayStep", op_value_tensor(var), op_value_tensor(&mean),
                  op_value_tensor(&square), value[LR], value[DECAY], value[EPSILON],
                  *op_call_value(call, "varOut"));
    op_chain_give(&chain, m_out, &mean);
    op_chain_give(&chain, v_out, &square);
    return chain.status;
}
