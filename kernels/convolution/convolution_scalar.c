/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of convolution/convolution_scalar_device.c. */
#include "convolution.h"

#include <string.h>

static void set_dims(struct op_convolution_args *args, const struct op_convolution *shape,
                     const struct op_tensor *a, const struct op_tensor *b)
{
    for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
        args->dim[d] = (struct op_convolution_dim){
            .in = shape->x_size[d],
            .out = shape->y_size[d],
            .kernel = shape->kernel[d],
            .stride = shape->stride[d],
            .pad = shape->pad[d],
            .dilation = shape->dilation[d],
            .a = a->stride[2 + d] * op_type_bytes(a->type),
            .b = b->stride[2 + d] * op_type_bytes(b->type),
        };
    }
}

// How a and b move with the two first indices of the result, its group, and the channels or images
// summed over.
static void set_strides(struct op_convolution_args *args, const struct op_convolution *shape,
                        const struct op_tensor *a, const struct op_tensor *b)
{
    const int64_t x_group = shape->x_channels / shape->groups,
                  y_group = shape->y_channels / shape->groups;
    const int64_t a0 = a->stride[0] * op_type_bytes(a->type),
                  a1 = a->stride[1] * op_type_bytes(a->type);
    const int64_t b0 = b->stride[0] * op_type_bytes(b->type),
                  b1 = b->stride[1] * op_type_bytes(b->type);
    switch ((enum op_convolution_goal)args->goal) {
    case OP_CONVOLUTION_OUT: // [n, y channel]
        args->group_size = y_group;
        args->a_first = a0;
        args->a_group = x_group * a1;
        args->b_second = b0;
        args->depth = x_group;
        args->a_depth = a1;
        args->b_depth = b1;
        return;
    case OP_CONVOLUTION_INPUT: // [n, x channel]; a weight's second index starts anew in each group
        args->group_size = x_group;
        args->a_first = a0;
        args->a_group = y_group * a1;
        args->b_second = b1;
        args->b_group = y_group * b0 - x_group * b1;
        args->depth = y_group;
        args->a_depth = a1;
        args->b_depth = b0;
        return;
    case OP_CONVOLUTION_WEIGHT: // [y channel, x channel of the group]
        args->group_size = y_group;
        args->a_first = a1;
        args->b_second = b1;
        args->b_group = x_group * b1;
        args->depth = shape->images;
        args->a_depth = a0;
        args->b_depth = b0;
        return;
    }
}

leo_status op_convolution_plan_scalar(const struct op_call *call,
                                      const struct op_convolution *shape,
                                      enum op_convolution_goal goal, const struct op_tensor *a,
                                      const struct op_tensor *b, const struct op_tensor *bias,
                                      const struct op_tensor *out)
{
    struct op_convolution_args args;
    memset(&args, 0, sizeof(args));
    struct op_tensor dense = *out;
    if (!op_tensor_is_dense(out)) {
        leo_status status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &dense);
        if (status != LEO_OK) {
            return status;
        }
    }
    args.goal = (uint8_t)goal;
    args.result = dense.addr;
    args.result_type = (uint8_t)dense.type;
    args.a = a->addr;
    args.a_type = (uint8_t)a->type;
    args.b = b->addr;
    args.b_type = (uint8_t)b->type;
    if (bias) {
        args.bias = bias->addr;
        args.bias_type = (uint8_t)bias->type;
        args.bias_stride = bias->stride[0] * op_type_bytes(bias->type);
    }
    args.count[0] = out->dim[0];
    args.count[1] = out->dim[1];
    memcpy(args.size, out->dim + 2, sizeof(args.size));
    set_dims(&args, shape, a, b);
    set_strides(&args, shape, a, b);
    const struct op_share share =
        op_share_make((uint64_t)op_tensor_count(out), 1, 16, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    leo_status status = op_plan_launch(call->plan, "convolution", "convolution", share.blocks,
                                       &args, sizeof(args), 4);
    if (status != LEO_OK || dense.addr == out->addr) {
        return status;
    }
    return op_plan_copy(call->plan, out, &dense);
}
