/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of one or two dimensions whose input channels stand alone, on the vector unit:
 * launches of pooling/window_sums_device.c. Of several output channels an input channel has, the
 * first, the second ... of every input channel go together. */
#include "../pooling/windows.h"
#include "convolution.h"

#include <string.h>

enum {
    TAPS_MAX = 256,    /* weights of a channel in a slot of UB: 8 KiB */
    LEAST_WORK = 4096, /* products; fewer are not worth the copies */
};

static bool is_float32_or_half(enum op_type type)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_BF16;
}

// x's gradient of a stride of one is a forward convolution of y's gradient, with the kernel turned
// around.
static bool turns_around(const struct op_convolution *s, enum op_convolution_goal goal)
{
    return goal == OP_CONVOLUTION_INPUT && s->stride[1] * s->stride[2] == 1 &&
           s->pad[1] <= s->dilation[1] * (s->kernel[1] - 1) &&
           s->pad[2] <= s->dilation[2] * (s->kernel[2] - 1);
}

static bool make_args(struct op_plan *plan, const struct op_convolution *s,
                      enum op_convolution_goal goal, struct op_window_args *args)
{
    const bool turned = turns_around(s, goal);
    struct op_windows w = {.plan = plan,
                           .images = s->images,
                           .channels = s->x_channels,
                           .of_large = goal == OP_CONVOLUTION_INPUT && !turned,
                           .whole = goal == OP_CONVOLUTION_WEIGHT,
                           .level = goal == OP_CONVOLUTION_OUT || turned,
                           .weighted = goal != OP_CONVOLUTION_WEIGHT,
                           .small_tensors = 1};
    const int64_t taps = s->kernel[1] * s->kernel[2];
    for (unsigned d = 0; d < 2; d++) {
        w.large[d] = turned ? s->y_size[1 + d] : s->x_size[1 + d];
        w.small[d] = turned ? s->x_size[1 + d] : s->y_size[1 + d];
        w.kernel[d] = s->kernel[1 + d];
        w.stride[d] = s->stride[1 + d];
        w.pad[d] =
            turned ? s->dilation[1 + d] * (s->kernel[1 + d] - 1) - s->pad[1 + d] : s->pad[1 + d];
        w.dilation[d] = s->dilation[1 + d];
    }
    if (goal == OP_CONVOLUTION_WEIGHT) {
        w.rest_rows = (uint32_t)taps; // a row of sums each
    }
    return s->x_channels == s->groups && s->kernel[0] == 1 && s->x_size[0] == 1 &&
           s->y_size[0] == 1 && s->pad[0] == 0 && taps <= TAPS_MAX &&
           s->images * s->y_channels * w.small[0] * w.small[1] * taps >= LEAST_WORK &&
           op_windows_fit(&w, args);
}

// Every `of`-th channel of a tensor from `first` on.
static struct op_tensor channels_of(const struct op_tensor *tensor, unsigned d, int64_t of,
                                    int64_t first)
{
    struct op_tensor part = *tensor;
    part.addr += (uint64_t)(first * tensor->stride[d] * op_type_bytes(tensor->type));
    part.dim[d] /= of;
    part.stride[d] *= of;
    return part;
}

static leo_status launch(struct op_plan *plan, struct op_window_args *args, uint64_t pieces,
                         const char *kernel)
{
    const struct op_share share = op_share_make(pieces, 1, 1, op_plan_vector_cores(plan));
    args->pieces = pieces;
    args->per_block = share.per_block;
    return op_plan_launch(plan, "window_sums", kernel, share.blocks, args, sizeof(*args), 4);
}

// The gradient of weights: a part for each image, summed in the order of images.
static leo_status plan_weight(struct op_plan *plan, struct op_window_args *args, int64_t images,
                              const struct op_tensor *planes)
{
    struct op_tensor lanes, parts;
    leo_status status = op_windows_load(plan, planes, false, &lanes);
    const int64_t dim[] = {images, op_tensor_count(&lanes)}, first[] = {0};
    if (status == LEO_OK) {
        status = op_plan_temp(plan, OP_TYPE_F32, 2, dim, &parts);
    }
    args->weight = images == 1 ? lanes.addr : parts.addr;
    if (status == LEO_OK) {
        status = launch(plan, args, (uint64_t)images * args->groups, "window_products");
    }
    if (status == LEO_OK && images > 1) {
        const struct op_tensor flat = op_tensor_dense(lanes.addr, OP_TYPE_F32, 1, dim + 1);
        const struct op_ints dims = {first, 1};
        const struct op_value values[] = {op_value_tensor(&parts), op_value_ints(&dims),
                                          op_value_int(false), op_value_type(OP_TYPE_F32),
                                          op_value_tensor(&flat)};
        status = op_plan_call(plan, "ReduceSum", values, 5);
    }
    return status == LEO_OK ? op_windows_store(plan, &lanes, planes) : status;
}

// Weights in lanes; `turned`: from the last element of the kernel to the first.
static leo_status load_weights(struct op_plan *plan, const struct op_tensor *weight, bool turned,
                               struct op_tensor *lanes)
{
    static const int64_t along[] = {2, 3};
    const struct op_ints dims = {along, 2};
    struct op_tensor plain;
    leo_status status = op_windows_load(plan, weight, true, &plain);
    *lanes = plain;
    if (status != LEO_OK || !turned) {
        return status;
    }
    status = op_plan_temp(plan, plain.type, plain.rank, plain.dim, lanes);
    const struct op_value args[] = {op_value_tensor(&plain), op_value_ints(&dims),
                                    op_value_tensor(lanes)};
    return status == LEO_OK ? op_plan_call(plan, "Flip", args, 3) : status;
}

// One output channel of every input channel.
static leo_status plan_part(struct op_plan *plan, struct op_window_args *args,
                            enum op_convolution_goal goal, bool turned, const struct op_tensor *x,
                            const struct op_tensor *w, const struct op_tensor *y)
{
    const struct op_tensor weight = op_convolution_weight_planes(w);
    struct op_tensor x_lanes, y_lanes, w_lanes;
    leo_status status = op_windows_load(plan, x, goal != OP_CONVOLUTION_INPUT, &x_lanes);
    if (status == LEO_OK) {
        status = op_windows_load(plan, y, goal != OP_CONVOLUTION_OUT, &y_lanes);
    }
    if (status != LEO_OK) {
        return status;
    }
    args->large = turned ? y_lanes.addr : x_lanes.addr;
    args->small = turned ? x_lanes.addr : y_lanes.addr;
    if (goal == OP_CONVOLUTION_WEIGHT) {
        return plan_weight(plan, args, x->dim[0], &weight);
    }
    status = load_weights(plan, &weight, turned, &w_lanes);
    args->weight = w_lanes.addr;
    const bool forward = goal == OP_CONVOLUTION_OUT || turned;
    if (status == LEO_OK) {
        status = launch(plan, args, args->pieces, forward ? "window_sum" : "window_spread");
    }
    if (status != LEO_OK) {
        return status;
    }
    const bool makes_y = goal == OP_CONVOLUTION_OUT;
    return op_windows_store(plan, makes_y ? &y_lanes : &x_lanes, makes_y ? y : x);
}

leo_status op_convolution_plan_depthwise(const struct op_call *call,
                                         const struct op_convolution *shape,
                                         enum op_convolution_goal goal, const struct op_tensor *a,
                                         const struct op_tensor *b, const struct op_tensor *out)
{
    struct op_window_args args;
    const struct op_tensor *x = goal == OP_CONVOLUTION_OUT     ? a
                                : goal == OP_CONVOLUTION_INPUT ? out
                                                               : b,
                           *w = goal == OP_CONVOLUTION_WEIGHT ? out : b,
                           *y = goal == OP_CONVOLUTION_OUT ? out : a;
    const int64_t of = shape->y_channels / shape->groups;
    leo_status status = op_convolution_plan_planes(call, shape, goal, a, b, out);
    if (status != OP_DECLINED) {
        return status;
    }
    // Gradients of an input over several output channels would have to be added up.
    const bool fits = is_float32_or_half(a->type) && is_float32_or_half(b->type) &&
                      is_float32_or_half(out->type) && (of == 1 || goal != OP_CONVOLUTION_INPUT) &&
                      make_args(call->plan, shape, goal, &args);
    status = fits ? LEO_OK : OP_DECLINED;
    for (int64_t i = 0; i < of && status == LEO_OK; i++) {
        const struct op_tensor w_part = channels_of(w, 0, of, i), y_part = channels_of(y, 1, of, i);
        status = plan_part(call->plan, &args, goal, turns_around(shape, goal), x, &w_part, &y_part);
    }
    return status;
}
