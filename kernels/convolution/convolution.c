/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution and ConvolutionBackward. */
#include "convolution.h"

#include "../frame/chain.h"
#include "../frame/layout.h"
#include "../frame/variant.h"
#include "../pooling/windows.h"

#include <inttypes.h>
#include <string.h>

// The tensor with five dimensions: one of size 1 for each spatial one it lacks, in front of those
// it has.
static struct op_tensor widen(const struct op_tensor *tensor)
{
    struct op_tensor wide = *tensor;
    const unsigned missing = 2 + OP_CONVOLUTION_DIMS - tensor->rank;
    for (unsigned i = 0; i < missing; i++) {
        wide.dim[2 + i] = 1;
        wide.stride[2 + i] = 0;
    }
    for (unsigned i = 2; i < tensor->rank; i++) {
        wide.dim[missing + i] = tensor->dim[i];
        wide.stride[missing + i] = tensor->stride[i];
    }
    wide.rank = 2 + OP_CONVOLUTION_DIMS;
    return wide;
}

// One number for each spatial dimension, or one for all; `rest` where the call has no dimension.
static leo_status take_ints(const struct op_call *call, const char *name, unsigned dims,
                            int64_t least, int64_t rest, int64_t *out)
{
    const struct op_ints *ints = op_call_ints(call, name);
    if (!ints || (ints->count != dims && ints->count != 1)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "%s has %" PRIu64 " numbers, it must have %u", name,
                            ints ? ints->count : 0, dims);
    }
    for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
        out[d] = rest;
    }
    for (unsigned d = 0; d < dims; d++) {
        const int64_t value = ints->items[ints->count == 1 ? 0 : d];
        if (value < least) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "%s[%u] is %" PRId64 ", it must be at least %" PRId64, name, d,
                                value, least);
        }
        out[OP_CONVOLUTION_DIMS - dims + d] = value;
    }
    return LEO_OK;
}

static leo_status take_windows(const struct op_call *call, struct op_convolution *shape)
{
    leo_status status = take_ints(call, "stride", shape->dims, 1, 1, shape->stride);
    if (status != LEO_OK) {
        return status;
    }
    status = take_ints(call, "padding", shape->dims, 0, 0, shape->pad);
    if (status != LEO_OK) {
        return status;
    }
    return take_ints(call, "dilation", shape->dims, 1, 1, shape->dilation);
}

static leo_status check_channels(const struct op_call *call, const struct op_tensor *input,
                                 const struct op_tensor *weight, bool transposed, int64_t groups)
{
    const int64_t per_group = transposed ? weight->dim[0] : weight->dim[1] * groups;
    if (groups < 1 || weight->dim[0] % groups != 0 || input->dim[1] != per_group) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "weight of shape %s does not fit input of shape %s with groups = "
                            "%" PRId64 "%s",
                            op_tensor_shape_text(weight).text, op_tensor_shape_text(input).text,
                            groups, transposed ? ", transposed" : "");
    }
    return LEO_OK;
}

// Sizes of the output; `extra` is outputPadding.
static leo_status infer(const struct op_call *call, const struct op_tensor *input, bool transposed,
                        const int64_t *extra, struct op_convolution *shape)
{
    for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
        const int64_t reach = shape->dilation[d] * (shape->kernel[d] - 1) + 1,
                      size = input->dim[2 + d];
        const int64_t room = size + 2 * shape->pad[d] - reach;
        const int64_t out =
            transposed ? (size - 1) * shape->stride[d] - 2 * shape->pad[d] + reach + extra[d]
            : room < 0 ? 0
                       : room / shape->stride[d] + 1;
        shape->x_size[d] = transposed ? out : size;
        shape->y_size[d] = transposed ? size : out;
        if (out < 1 && op_tensor_count(input) > 0) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "the kernel of weight (shape %s) is larger than the padded input "
                                "of shape %s",
                                op_tensor_shape_text(op_call_tensor(call, "weight")).text,
                                op_tensor_shape_text(op_call_tensor(call, "input")).text);
        }
    }
    return LEO_OK;
}

static leo_status take_shape(const struct op_call *call, struct op_convolution *shape)
{
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *weight = op_call_tensor(call, "weight");
    const bool transposed = op_call_int(call, "transposed") != 0;
    if (input->rank < 3 || input->rank > 5 || weight->rank != input->rank) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "input has shape %s and weight %s: both must have 3, 4 or 5 dimensions",
                            op_tensor_shape_text(input).text, op_tensor_shape_text(weight).text);
    }
    shape->dims = input->rank - 2;
    shape->groups = op_call_int(call, "groups");
    leo_status status = check_channels(call, input, weight, transposed, shape->groups);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor x = widen(input);
    int64_t extra[OP_CONVOLUTION_DIMS] = {0};
    shape->w = widen(weight);
    memcpy(shape->kernel, shape->w.dim + 2, sizeof(shape->kernel));
    shape->images = input->dim[0];
    shape->y_channels = weight->dim[0];
    shape->x_channels = weight->dim[1] * shape->groups;
    status = take_windows(call, shape);
    if (status == LEO_OK && transposed) {
        status = take_ints(call, "outputPadding", shape->dims, 0, 0, extra);
    }
    if (status != LEO_OK) {
        return status;
    }
    return infer(call, &x, transposed, extra, shape);
}

// Checks that parameter `name` has the shape of the convolution's output.
static leo_status check_output(const struct op_call *call, const struct op_convolution *shape,
                               const char *name)
{
    const bool transposed = op_call_int(call, "transposed") != 0;
    const int64_t *size = transposed ? shape->x_size : shape->y_size;
    int64_t dim[2 + OP_CONVOLUTION_DIMS] = {shape->images,
                                            transposed ? shape->x_channels : shape->y_channels};
    for (unsigned d = 0; d < shape->dims; d++) {
        dim[2 + d] = size[OP_CONVOLUTION_DIMS - shape->dims + d];
    }
    return op_call_check_shape(call, name, 2 + shape->dims, dim);
}

// out = sums + bias by channel.
static leo_status plan_bias(const struct op_call *call, const struct op_tensor *sums,
                            const struct op_tensor *bias, const struct op_tensor *out)
{
    const struct op_scalar one = op_scalar_int(1);
    struct op_tensor column = *bias;
    for (; column.rank + 1 < out->rank; column.rank++) {
        column.dim[column.rank] = 1;
        column.stride[column.rank] = 0;
    }
    const struct op_value args[] = {op_value_tensor(sums), op_value_tensor(&column),
                                    op_value_scalar(&one), op_value_tensor(out)};
    return op_plan_call(call->plan, "Add", args, 4);
}

// out = sums + bias, both in NC1HWC0: a vector for each group of channels.
static leo_status plan_native_bias(const struct op_call *call, const struct op_tensor *sums,
                                   const struct op_tensor *bias, const struct op_tensor *out)
{
    const struct op_scalar one = op_scalar_int(1);
    struct op_tensor vector = *bias, maps, padded, result;
    if (!op_format_is_native(bias->format)) {
        vector = op_tensor_dense(0, bias->type, 1, bias->dim);
        vector.format = OP_FORMAT_NC1HWC0;
        leo_status status = op_plan_temp_bytes(call->plan, op_tensor_extent(&vector), &vector.addr);
        if (status == LEO_OK) {
            status = op_plan_change_format(call->plan, bias, &vector);
        }
        if (status != LEO_OK) {
            return status;
        }
    }
    (void)op_layout_storage(&vector, &padded); // checked with the call
    (void)op_layout_storage(sums, &maps);
    (void)op_layout_storage(out, &result);
    const struct op_value args[] = {op_value_tensor(&maps), op_value_tensor(&padded),
                                    op_value_scalar(&one), op_value_tensor(&result)};
    return op_plan_call(call->plan, "Add", args, 4);
}

/* ---- the ways over the chip ---- */

// One product to compute: out (of the type and format asked for) from a and b.
struct product {
    const struct op_call *call;
    const struct op_convolution *shape;
    enum op_convolution_goal goal;
    const struct op_tensor *a, *b, *bias, *out;
    struct op_tensor sums; // what a way without bias writes: out, or memory for it
};

// Its tensors are rows. Ways that have no bias write sums, which become the result.
static leo_status finish_sums(const struct product *rows)
{
    if (rows->bias) {
        return plan_bias(rows->call, &rows->sums, rows->bias, rows->out);
    }
    return rows->sums.addr != rows->out->addr
               ? op_plan_copy(rows->call->plan, rows->out, &rows->sums)
               : LEO_OK;
}

static leo_status by_sums(const struct product *rows,
                          leo_status (*plan)(const struct op_call *, const struct op_convolution *,
                                             enum op_convolution_goal, const struct op_tensor *,
                                             const struct op_tensor *, const struct op_tensor *))
{
    const struct op_tensor a = widen(rows->a), b = widen(rows->b), sums = widen(&rows->sums);
    if (!op_type_is_float(rows->a->type)) {
        return OP_DECLINED;
    }
    leo_status status = plan(rows->call, rows->shape, rows->goal, &a, &b, &sums);
    return status == LEO_OK ? finish_sums(rows) : status;
}

static leo_status by_strips(const void *object)
{
    return by_sums(object, op_convolution_plan_strips);
}

static leo_status by_columns(const void *object)
{
    return by_sums(object, op_convolution_plan_matmul);
}

static leo_status by_channels(const void *object)
{
    return by_sums(object, op_convolution_plan_depthwise);
}

static leo_status by_scalar_unit(const void *object)
{
    const struct product *rows = object;
    const struct op_tensor a = widen(rows->a), b = widen(rows->b), out = widen(rows->out);
    return op_convolution_plan_scalar(rows->call, rows->shape, rows->goal, &a, &b, rows->bias,
                                      &out);
}

static const struct op_variant row_ways[] = {
    {"strips of columns on the cube", "maps too wide for it as a whole", by_strips},
    {"a product of columns", "floats, a group whose columns make a product", by_columns},
    {"channels on the vector unit", "floats, a filter of its own for each channel", by_channels},
    {"the scalar unit", NULL, by_scalar_unit},
};

// Without the cube's formats.
static leo_status by_rows(const void *object)
{
    const struct product *product = object;
    const struct op_call *call = product->call;
    struct op_tensor a, b, bias, out;
    struct product rows = {call, product->shape, product->goal, &a, &b, NULL, &out, {0}};
    leo_status status = op_plan_rows(call->plan, product->a, true, &a);
    if (status == LEO_OK && product->bias) {
        status = op_plan_rows(call->plan, product->bias, true, &bias);
        rows.bias = &bias;
    }
    if (status == LEO_OK) {
        status = op_plan_rows(call->plan, product->b, true, &b);
    }
    if (status == LEO_OK) {
        status = op_plan_rows(call->plan, product->out, false, &out);
        rows.sums = out;
    }
    if (status == LEO_OK && (rows.bias || !op_tensor_is_dense(&out))) {
        status = op_plan_temp(call->plan, rows.bias ? OP_TYPE_F32 : out.type, out.rank, out.dim,
                              &rows.sums);
    }
    if (status == LEO_OK) {
        status = op_choose(call->plan, row_ways, sizeof(row_ways) / sizeof(*row_ways), &rows);
    }
    return status == LEO_OK && out.addr != product->out->addr
               ? op_plan_change_format(call->plan, &out, product->out)
               : status;
}

// Maps stay in NC1HWC0, which the vector unit's way takes as they are.
static leo_status by_blocks(const void *object)
{
    const struct product *product = object;
    const struct op_call *call = product->call;
    const struct op_convolution *s = product->shape;
    const bool to_weight = product->goal == OP_CONVOLUTION_WEIGHT;
    const struct op_tensor *given = to_weight ? product->out : product->b,
                           *map = to_weight ? product->b : product->out;
    struct op_tensor weight;
    if (product->bias || s->groups != s->x_channels || s->groups != s->y_channels ||
        !op_windows_is_blocks(product->a) || !op_windows_is_blocks(map)) {
        return OP_DECLINED;
    }
    leo_status status = op_plan_rows(call->plan, given, !to_weight, &weight);
    const struct op_tensor a = widen(product->a), wide_map = widen(map), wide = widen(&weight);
    if (status == LEO_OK) {
        status =
            op_convolution_plan_depthwise(call, s, product->goal, &a, to_weight ? &wide_map : &wide,
                                          to_weight ? &wide : &wide_map);
    }
    return status == LEO_OK && to_weight && weight.addr != given->addr
               ? op_plan_change_format(call->plan, &weight, given)
               : status;
}

static leo_status by_cube(const void *object)
{
    const struct product *product = object;
    const struct op_call *call = product->call;
    const struct op_tensor a = widen(product->a), b = widen(product->b), *out = product->out;
    const bool native = op_format_is_native(out->format);
    struct op_tensor sums = *out, bias;
    leo_status status = LEO_OK;
    if (!op_type_is_float(product->a->type)) {
        return OP_DECLINED;
    }
    if (product->bias && native) {
        bias = *product->bias;
    } else if (product->bias) {
        status = op_plan_rows(call->plan, product->bias, true, &bias);
    }
    if (status == LEO_OK && product->bias) {
        sums = op_tensor_dense(0, OP_TYPE_F32, out->rank, out->dim);
        sums.format = native ? OP_FORMAT_NC1HWC0 : OP_FORMAT_ND;
        status = op_plan_temp_bytes(call->plan, op_tensor_extent(&sums), &sums.addr);
    }
    const struct op_tensor wide_sums = widen(&sums);
    if (status == LEO_OK) {
        status = op_convolution_plan_cube(call, product->shape, product->goal, &a, &b, &wide_sums);
    }
    if (status != LEO_OK || !product->bias) {
        return status;
    }
    return native ? plan_native_bias(call, &sums, &bias, out) : plan_bias(call, &sums, &bias, out);
}

static leo_status plan_goal(const struct op_call *call, const struct op_convolution *shape,
                            enum op_convolution_goal goal, const struct op_tensor *a,
                            const struct op_tensor *b, const struct op_tensor *bias,
                            const struct op_tensor *out)
{
    static const struct op_variant ways[] = {
        {"the cube", "floats of the cube, sizes and groups that it takes", by_cube},
        {"channels of blocks", "a filter for each channel, maps in NC1HWC0, no bias", by_blocks},
        {"rows", NULL, by_rows},
    };
    const struct product product = {call, shape, goal, a, b, bias, out, {0}};
    return op_tensor_count(out) == 0
               ? LEO_OK
               : op_choose(call->plan, ways, sizeof(ways) / sizeof(*ways), &product);
}

static leo_status plan_forward(const struct op_call *call, const struct op_convolution *shape)
{
    const struct op_tensor *bias = op_call_tensor(call, "bias");
    const bool transposed = op_call_int(call, "transposed") != 0;
    const int64_t channels = transposed ? shape->x_channels : shape->y_channels;
    leo_status status = check_output(call, shape, "output");
    if (status == LEO_OK && bias) {
        status = op_call_check_shape(call, "bias", 1, &channels);
    }
    if (status != LEO_OK) {
        return status;
    }
    return plan_goal(call, shape, transposed ? OP_CONVOLUTION_INPUT : OP_CONVOLUTION_OUT,
                     op_call_tensor(call, "input"), op_call_tensor(call, "weight"), bias,
                     op_call_tensor(call, "output"));
}

// Output `index` of a backward call: whether the mask asks for it; then it must be there and have
// the shape of `like` (NULL: one number per output channel).
static leo_status take_gradient(const struct op_call *call, unsigned index, const char *name,
                                const struct op_tensor *like, int64_t channels, bool *wanted)
{
    const struct op_bools *mask = op_call_value(call, "outputMask")->bools;
    if (mask->count != 3) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "outputMask has %" PRIu64 " entries, it must have 3", mask->count);
    }
    *wanted = mask->items[index];
    if (!*wanted) {
        return LEO_OK;
    }
    if (!op_call_tensor(call, name)) {
        return op_call_fail(call, LEO_ERR_BAD_POINTER, "%s is NULL, but outputMask[%u] is true",
                            name, index);
    }
    return like ? op_call_check_shape(call, name, like->rank, like->dim)
                : op_call_check_shape(call, name, 1, &channels);
}

static leo_status plan_bias_gradient(const struct op_call *call, const struct op_tensor *gradient)
{
    const struct op_tensor *out = op_call_tensor(call, "gradBias");
    const int64_t items[2 + OP_CONVOLUTION_DIMS] = {0, 2, 3, 4};
    const struct op_ints dims = {items, gradient->rank - 1};
    const struct op_value args[] = {op_value_tensor(gradient), op_value_ints(&dims),
                                    op_value_int(false), op_value_type(out->type),
                                    op_value_tensor(out)};
    return op_plan_call(call->plan, "ReduceSum", args, 5);
}

static leo_status plan_backward(const struct op_call *call, const struct op_convolution *shape)
{
    const struct op_tensor *gradient = op_call_tensor(call, "gradOutput"),
                           *input = op_call_tensor(call, "input"),
                           *weight = op_call_tensor(call, "weight");
    const bool transposed = op_call_int(call, "transposed") != 0;
    const int64_t channels = transposed ? shape->x_channels : shape->y_channels;
    bool to_input, to_weight, to_bias;
    leo_status status = check_output(call, shape, "gradOutput");
    if (status == LEO_OK) {
        status = take_gradient(call, 0, "gradInput", input, 0, &to_input);
    }
    if (status == LEO_OK) {
        status = take_gradient(call, 1, "gradWeight", weight, 0, &to_weight);
    }
    if (status == LEO_OK) {
        status = take_gradient(call, 2, "gradBias", NULL, channels, &to_bias);
    }
    if (status == LEO_OK && to_input) {
        status = plan_goal(call, shape, transposed ? OP_CONVOLUTION_OUT : OP_CONVOLUTION_INPUT,
                           gradient, weight, NULL, op_call_tensor(call, "gradInput"));
    }
    if (status == LEO_OK && to_weight) {
        status = plan_goal(call, shape, OP_CONVOLUTION_WEIGHT, transposed ? input : gradient,
                           transposed ? gradient : input, NULL, op_call_tensor(call, "gradWeight"));
    }
    return status == LEO_OK && to_bias ? plan_bias_gradient(call, gradient) : status;
}

// Padding with a number for each side, [top, bottom, left, right]: the same on both sides is the
// plain call, else the input is padded first.
static leo_status plan_sides(const struct op_call *call)
{
    const int64_t *side = op_call_ints(call, "padding")->items,
                  around[] = {side[2], side[3], side[0], side[1]}, none[] = {0, 0},
                  both[] = {side[0], side[2]};
    const bool even = side[0] == side[1] && side[2] == side[3];
    const struct op_ints sides = {around, 4}, padding = {even ? both : none, 2};
    const struct op_scalar zero = op_scalar_int(0);
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor input = *op_call_tensor(call, "input");
    for (unsigned i = 0; i < 4; i++) {
        if (side[i] < 0) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "padding[%u] is %" PRId64 ", it must be at least 0", i, side[i]);
        }
    }
    if (!even) {
        struct op_tensor rows;
        leo_status status = op_plan_rows(call->plan, &input, true, &rows);
        if (status != LEO_OK) {
            return status;
        }
        const int64_t shape[] = {rows.dim[0], rows.dim[1], rows.dim[2] + side[0] + side[1],
                                 rows.dim[3] + side[2] + side[3]};
        input = op_chain_temp(&chain, rows.type, 4, shape);
        OP_CHAIN_CALL(&chain, "ConstantPadNd", op_value_tensor(&rows), op_value_ints(&sides),
                      op_value_scalar(&zero), op_value_tensor(&input));
    }
    OP_CHAIN_CALL(&chain, call->row->name, op_value_tensor(&input), *op_call_value(call, "weight"),
                  *op_call_value(call, "bias"), *op_call_value(call, "stride"),
                  op_value_ints(&padding), *op_call_value(call, "dilation"), op_value_int(0),
                  *op_call_value(call, "outputPadding"), *op_call_value(call, "groups"),
                  *op_call_value(call, "output"), *op_call_value(call, "cubeMathType"));
    return chain.status;
}

// 2-D convolutions that are not transposed may have four numbers of padding.
static bool has_sides(const struct op_call *call)
{
    const struct op_ints *padding = op_call_ints(call, "padding");
    return !op_call_has(call, "gradOutput") && op_call_int(call, "transposed") == 0 && padding &&
           padding->count == 4 && op_call_tensor(call, "input")->rank == 4;
}

leo_status op_plan_convolution(const struct op_call *call)
{
    struct op_convolution shape;
    if (has_sides(call)) {
        return plan_sides(call);
    }
    leo_status status = op_call_check_channels(call);
    if (status == LEO_OK) {
        status = take_shape(call, &shape);
    }
    if (status != LEO_OK) {
        return status;
    }
    return op_call_has(call, "gradOutput") ? plan_backward(call, &shape)
                                           : plan_forward(call, &shape);
}
