/* SPDX-License-Identifier: Apache-2.0 */
#include "aclop_adam.h"
#include "../frame/chain.h"

#include "adam_args.h"

#include <string.h>

enum { ADAM_TENSORS = 7, ADAM_NUMBERS = 6 };

// One pass over memory: dense tensors of one shape, all f32.
static bool is_one_pass(const struct op_call *call, const struct op_tensor *const *tensors,
                        const struct op_tensor *const *numbers)
{
    bool good = !op_call_int(call, "useNesterov");
    for (unsigned i = 0; i < ADAM_TENSORS; i++) {
        good = good && tensors[i]->type == OP_TYPE_F32 && op_tensor_is_dense(tensors[i]) &&
               op_tensor_same_shape(tensors[i], tensors[0]);
    }
    for (unsigned i = 0; i < ADAM_NUMBERS; i++) {
        good = good && numbers[i]->type == OP_TYPE_F32;
    }
    return good;
}

static leo_status plan_adam_pass(const struct op_call *call, const struct op_tensor *const *tensors,
                                 const struct op_tensor *const *numbers)
{
    struct op_adam_args args;
    memset(&args, 0, sizeof(args));
    for (unsigned i = 0; i < ADAM_TENSORS; i++) {
        *(i < 4 ? &args.in[i] : &args.out[i - 4]) = tensors[i]->addr;
    }
    args.beta1_power = numbers[0]->addr;
    args.beta2_power = numbers[1]->addr;
    args.rate = numbers[2]->addr;
    args.beta1 = numbers[3]->addr;
    args.beta2 = numbers[4]->addr;
    args.epsilon = numbers[5]->addr;
    args.count = (uint64_t)op_tensor_count(tensors[0]);
    if (args.count == 0) {
        return LEO_OK;
    }
    const struct op_share share =
        op_share_make(args.count, 16, OP_ADAM_TILE, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    return op_plan_launch(call->plan, "adam", "adam", share.blocks, &args, sizeof(args),
                          OP_ADAM_ADDRESSES);
}

leo_status op_adam_plan(const struct op_call *call)
{
    static const char *const names[] = {"beta1Power", "beta2Power", "lr",
                                        "beta1",      "beta2",      "epsilon"};
    struct op_tensor number[ADAM_NUMBERS];
    const struct op_tensor *numbers[ADAM_NUMBERS];
    const bool in_place = op_call_has(call, "varRef");
    const struct op_tensor *var = op_call_tensor(call, in_place ? "varRef" : "var"),
                           *m = op_call_tensor(call, "m"), *v = op_call_tensor(call, "v"),
                           *g = op_call_tensor(call, "grad"),
                           *var_out = in_place ? var : op_call_tensor(call, "varOut"),
                           *m_out = in_place ? m : op_call_tensor(call, "mOut"),
                           *v_out = in_place ? v : op_call_tensor(call, "vOut");
    for (unsigned i = 0; i < ADAM_NUMBERS; i++) {
        number[i] = *op_call_tensor(call, names[i]);
        if (op_tensor_count(&number[i]) != 1) {
            return op_call_fail(call, LEO_ERR_SHAPE, "%s must have one element", names[i]);
        }
        number[i].rank = 0; // tensors without dimensions keep their shape
        numbers[i] = &number[i];
    }
    const struct op_tensor *const tensors[ADAM_TENSORS] = {var, m, v, g, var_out, m_out, v_out};
    if (is_one_pass(call, tensors, numbers)) {
        return plan_adam_pass(call, tensors, numbers);
    }
    struct op_chain chain = op_chain_begin(call);
    // The step is made of m and v before they are rounded: a half does not hold small squares.
    const struct op_tensor rate = op_chain_temp(&chain, OP_TYPE_F32, 0, NULL),
                           first = op_chain_wide(&chain, m_out),
                           second = op_chain_wide(&chain, v_out);
    struct op_tensor mean = first;
    OP_CHAIN_CALL(&chain, "AdamRate", op_value_tensor(numbers[2]), op_value_tensor(numbers[0]),
                  op_value_tensor(numbers[1]), op_value_tensor(&rate));
    OP_CHAIN_CALL(&chain, "AdamFirst", op_value_tensor(m), op_value_tensor(g),
                  op_value_tensor(numbers[3]), op_value_tensor(&first));
    OP_CHAIN_CALL(&chain, "AdamSecond", op_value_tensor(v), op_value_tensor(g),
                  op_value_tensor(numbers[4]), op_value_tensor(&second));
    if (op_call_int(call, "useNesterov")) {
        mean = op_chain_temp_like(&chain, OP_TYPE_F32, m_out);
        OP_CHAIN_CALL(&chain, "AdamNesterov", op_value_tensor(&first), op_value_tensor(g),
                      op_value_tensor(numbers[3]), op_value_tensor(&mean));
    }
    OP_CHAIN_CALL(&chain, "AdamMove", op_value_tensor(var), op_value_tensor(&mean),
                  op_value_tensor(&second), op_value_tensor(&rate), op_value_tensor(numbers[5]),
                  op_value_tensor(var_out));
    op_chain_give(&chain, m_out, &first);
    op_chain_give(&chain, v_out, &second);
    return chain.status;
}
