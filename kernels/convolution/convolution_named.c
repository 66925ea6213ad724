/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions under other names. */
#include "../frame/chain.h"

#include <inttypes.h>

leo_status op_plan_convolution_channels(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *weight = op_call_tensor(call, "weight");
    const struct op_ints *kernel = op_call_ints(call, "kernelSize");
    static const int64_t zeros[] = {0, 0};
    const struct op_ints none = {zeros, 2};
    if (self->rank != 4 || weight->rank != 4 || weight->dim[1] != 1) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "self and weight have shapes %s and %s: they must be [N, C, H, W] and "
                            "[channels, 1, height, width]",
                            op_tensor_shape_text(self).text, op_tensor_shape_text(weight).text);
    }
    if (kernel->count != 2 || kernel->items[0] != weight->dim[2] ||
        kernel->items[1] != weight->dim[3]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "kernelSize of %" PRIu64 " numbers is not that of weight of shape %s",
                            kernel->count, op_tensor_shape_text(weight).text);
    }
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(&chain, "Convolution", op_value_tensor(self), op_value_tensor(weight),
                  *op_call_value(call, "bias"), *op_call_value(call, "stride"),
                  *op_call_value(call, "padding"), *op_call_value(call, "dilation"),
                  op_value_int(0), op_value_ints(&none), op_value_int(self->dim[1]),
                  *op_call_value(call, "out"), *op_call_value(call, "cubeMathType"));
    return chain.status;
}

/* ---- [length, batch, channels] ---- */

// [length, batch, channels] as [batch, channels, length], [kernel, inputs, outputs] as [outputs,
// inputs, kernel].
static struct op_tensor by_channel(const struct op_tensor *t)
{
    return op_tensor_permute(t, (const unsigned[]){1, 2, 0});
}

static struct op_tensor by_output(const struct op_tensor *weight)
{
    return op_tensor_permute(weight, (const unsigned[]){2, 1, 0});
}

static leo_status check_ranks(const struct op_call *call, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct op_tensor *t = op_call_tensor(call, names[i]);
        if (t->rank != 3) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "%s has shape %s: it must have three dimensions, as [length, "
                                "batch, channels] and [kernel, channels, outputs]",
                                names[i], op_tensor_shape_text(t).text);
        }
    }
    return LEO_OK;
}

leo_status op_plan_convolution_time(const struct op_call *call)
{
    static const char *const names[] = {"self", "weight", "output"};
    static const int64_t one = 1, zero = 0;
    const int64_t pad = op_call_int(call, "pad");
    const struct op_ints ones = {&one, 1}, zeros = {&zero, 1}, pads = {&pad, 1};
    leo_status status = check_ranks(call, names, 3);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor x = by_channel(op_call_tensor(call, "self")),
                           w = by_output(op_call_tensor(call, "weight")),
                           y = by_channel(op_call_tensor(call, "output"));
    OP_CHAIN_CALL(&chain, "Convolution", op_value_tensor(&x), op_value_tensor(&w),
                  *op_call_value(call, "bias"), op_value_ints(&ones), op_value_ints(&pads),
                  op_value_ints(&ones), op_value_int(0), op_value_ints(&zeros), op_value_int(1),
                  op_value_tensor(&y), *op_call_value(call, "cubeMathType"));
    return chain.status;
}

leo_status op_plan_convolution_time_grad(const struct op_call *call)
{
    static const char *const names[] = {"self", "input", "weight", "gradInput", "gradWeight"};
    static const int64_t one = 1, zero = 0;
    static const bool every[] = {true, true, true};
    const int64_t pad = op_call_int(call, "pad");
    const struct op_ints ones = {&one, 1}, zeros = {&zero, 1}, pads = {&pad, 1};
    const struct op_bools mask = {every, 3};
    leo_status status = check_ranks(call, names, 5);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor dy = by_channel(op_call_tensor(call, "self")),
                           x = by_channel(op_call_tensor(call, "input")),
                           w = by_output(op_call_tensor(call, "weight")),
                           dx = by_channel(op_call_tensor(call, "gradInput")),
                           dw = by_output(op_call_tensor(call, "gradWeight"));
    const struct op_ints sizes = {&w.dim[0], 1};
    OP_CHAIN_CALL(&chain, "ConvolutionBackward", op_value_tensor(&dy), op_value_tensor(&x),
                  op_value_tensor(&w), op_value_ints(&sizes), op_value_ints(&ones),
                  op_value_ints(&pads), op_value_ints(&ones), op_value_int(0),
                  op_value_ints(&zeros), op_value_int(1), op_value_bools(&mask),
                  *op_call_value(call, "cubeMathType"), op_value_tensor(&dx), op_value_tensor(&dw),
                  *op_call_value(call, "gradBias"));
    return chain.status;
}
