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
