/* SPDX-License-Identifier: Apache-2.0 */
#include "layer.h"

enum { KERNEL = 3, PADDING = 1, WINDOW = 2 };

static const int64_t ones[2] = {1, 1}, zeros[2] = {0, 0}, window[2] = {WINDOW, WINDOW};

uint32_t layer_inputs(const struct layer *layer)
{
    return layer->ins * layer->side * layer->side;
}

uint32_t layer_outputs(const struct layer *layer)
{
    const uint32_t side = layer->kind == LAYER_POOL ? layer->side / WINDOW : layer->side;
    return layer->outs * side * side;
}

uint32_t layer_fan_in(const struct layer *layer)
{
    return layer->kind == LAYER_CONV ? layer->ins * KERNEL * KERNEL : layer->ins;
}

static bool has_weights(const struct layer *layer)
{
    return layer->kind == LAYER_LINEAR || layer->kind == LAYER_CONV;
}

uint32_t layer_weights(const struct layer *layer)
{
    return has_weights(layer) ? layer->outs * layer_fan_in(layer) : 0;
}

uint32_t layer_biases(const struct layer *layer)
{
    return has_weights(layer) ? layer->outs : 0;
}

static struct leo_op_arg number(double value)
{
    return leo_op_arg_number(value);
}

static struct leo_op_arg tensor(const struct leo_op_tensor *value)
{
    return leo_op_arg_tensor(value);
}

static struct leo_op_arg pair(const int64_t *value)
{
    return leo_op_arg_ints(value, 2);
}

static struct leo_op_tensor matrix(uint64_t addr, enum leo_dtype dtype, uint32_t rows,
                                   uint32_t columns)
{
    const int64_t dim[] = {rows, columns};
    return leo_op_tensor(addr, dtype, 2, dim);
}

static struct leo_op_tensor vector(uint64_t addr, enum leo_dtype dtype, uint32_t count)
{
    const int64_t dim[] = {count};
    return leo_op_tensor(addr, dtype, 1, dim);
}

static struct leo_op_tensor images(uint64_t addr, enum leo_dtype dtype, uint32_t rows,
                                   uint32_t channels, uint32_t side)
{
    const int64_t dim[] = {rows, channels, side, side};
    return leo_op_tensor(addr, dtype, 4, dim);
}

static struct leo_op_tensor filters(uint64_t addr, enum leo_dtype dtype, const struct layer *layer)
{
    const int64_t dim[] = {layer->outs, layer->ins, KERNEL, KERNEL};
    return leo_op_tensor(addr, dtype, 4, dim);
}

static leo_status linear_forward(const struct layer *layer, const struct layer_pass *pass)
{
    const struct leo_op_tensor x = matrix(pass->in, LEO_DTYPE_F16, pass->rows, layer->ins);
    const struct leo_op_tensor w = matrix(pass->weight, LEO_DTYPE_F16, layer->ins, layer->outs);
    const struct leo_op_tensor b = vector(pass->bias, LEO_DTYPE_F32, layer->outs);
    const struct leo_op_tensor y = matrix(pass->out, pass->out_dtype, pass->rows, layer->outs);
    return LEO_OP(pass->context, "Addmm", tensor(&b), tensor(&x), tensor(&w), number(1), number(1),
                  tensor(&y), number(0));
}

static leo_status linear_backward(const struct layer *layer, const struct layer_pass *pass)
{
    static const int64_t rows_dim[] = {0};
    const struct leo_op_tensor x = matrix(pass->in, LEO_DTYPE_F16, pass->rows, layer->ins);
    const struct leo_op_tensor w = matrix(pass->weight, LEO_DTYPE_F16, layer->ins, layer->outs);
    const struct leo_op_tensor dy = matrix(pass->d_out, LEO_DTYPE_F16, pass->rows, layer->outs);
    const struct leo_op_tensor dw = matrix(pass->d_weight, LEO_DTYPE_F32, layer->ins, layer->outs);
    const struct leo_op_tensor db = vector(pass->d_bias, LEO_DTYPE_F32, layer->outs);
    const struct leo_op_tensor columns = leo_op_transposed(&x), back = leo_op_transposed(&w);
    leo_status status =
        LEO_OP(pass->context, "Mm", tensor(&columns), tensor(&dy), tensor(&dw), number(0));
    if (status == LEO_OK) {
        status = LEO_OP(pass->context, "ReduceSum", tensor(&dy), leo_op_arg_ints(rows_dim, 1),
                        number(0), leo_op_arg_dtype(LEO_DTYPE_F32), tensor(&db));
    }
    if (status == LEO_OK && pass->d_in) {
        const struct leo_op_tensor dx = matrix(pass->d_in, LEO_DTYPE_F16, pass->rows, layer->ins);
        status = LEO_OP(pass->context, "Mm", tensor(&dy), tensor(&back), tensor(&dx), number(0));
    }
    return status;
}

static leo_status conv_forward(const struct layer *layer, const struct layer_pass *pass)
{
    static const int64_t padding[] = {PADDING, PADDING};
    const struct leo_op_tensor x =
        images(pass->in, LEO_DTYPE_F16, pass->rows, layer->ins, layer->side);
    const struct leo_op_tensor w = filters(pass->weight, LEO_DTYPE_F16, layer);
    const struct leo_op_tensor b = vector(pass->bias, LEO_DTYPE_F32, layer->outs);
    const struct leo_op_tensor y =
        images(pass->out, pass->out_dtype, pass->rows, layer->outs, layer->side);
    return LEO_OP(pass->context, "Convolution", tensor(&x), tensor(&w), tensor(&b), pair(ones),
                  pair(padding), pair(ones), number(0), pair(zeros), number(1), tensor(&y),
                  number(0));
}

static leo_status conv_backward(const struct layer *layer, const struct layer_pass *pass)
{
    static const int64_t padding[] = {PADDING, PADDING};
    const bool wanted[] = {pass->d_in != 0, true, true};
    const int64_t biases[] = {layer->outs};
    const struct leo_op_tensor x =
        images(pass->in, LEO_DTYPE_F16, pass->rows, layer->ins, layer->side);
    const struct leo_op_tensor w = filters(pass->weight, LEO_DTYPE_F16, layer);
    const struct leo_op_tensor dy =
        images(pass->d_out, LEO_DTYPE_F16, pass->rows, layer->outs, layer->side);
    const struct leo_op_tensor dx =
        images(pass->d_in, LEO_DTYPE_F16, pass->rows, layer->ins, layer->side);
    const struct leo_op_tensor dw = filters(pass->d_weight, LEO_DTYPE_F32, layer);
    const struct leo_op_tensor db = vector(pass->d_bias, LEO_DTYPE_F32, layer->outs);
    return LEO_OP(pass->context, "ConvolutionBackward", tensor(&dy), tensor(&x), tensor(&w),
                  leo_op_arg_ints(biases, 1), pair(ones), pair(padding), pair(ones), number(0),
                  pair(zeros), number(1), leo_op_arg_bools(wanted, 3), number(0),
                  pass->d_in ? tensor(&dx) : leo_op_arg_none(), tensor(&dw), tensor(&db));
}

static leo_status relu_forward(const struct layer *layer, const struct layer_pass *pass)
{
    const uint32_t count = pass->rows * layer_inputs(layer);
    const struct leo_op_tensor x = vector(pass->in, LEO_DTYPE_F16, count);
    const struct leo_op_tensor y = vector(pass->out, LEO_DTYPE_F16, count);
    return LEO_OP(pass->context, "Relu", tensor(&x), tensor(&y));
}

static leo_status relu_backward(const struct layer *layer, const struct layer_pass *pass)
{
    const uint32_t count = pass->rows * layer_inputs(layer);
    const struct leo_op_tensor y = vector(pass->out, LEO_DTYPE_F16, count);
    const struct leo_op_tensor dy = vector(pass->d_out, LEO_DTYPE_F16, count);
    const struct leo_op_tensor dx = vector(pass->d_in, LEO_DTYPE_F16, count);
    return LEO_OP(pass->context, "ThresholdBackward", tensor(&dy), tensor(&y), number(0),
                  tensor(&dx));
}

/* What a pool remembers for its gradient: a mask whose shape the operator prescribes. */
static void mask_shape(const struct layer *layer, uint32_t rows, int64_t *dim)
{
    const uint32_t side = layer->side / WINDOW, positions = side * side;
    dim[0] = rows;
    dim[1] = layer->outs;
    dim[2] = WINDOW * WINDOW;
    dim[3] = ((positions + 15) / 16 + 1) * 32;
}

uint64_t layer_mask_bytes(const struct layer *layer, uint32_t rows)
{
    int64_t dim[4];
    mask_shape(layer, rows, dim);
    return layer->kind == LAYER_POOL ? (uint64_t)(dim[0] * dim[1] * dim[2] * dim[3]) : 0;
}

static leo_status pool_forward(const struct layer *layer, const struct layer_pass *pass)
{
    int64_t dim[4];
    mask_shape(layer, pass->rows, dim);
    const struct leo_op_tensor x =
        images(pass->in, LEO_DTYPE_F16, pass->rows, layer->ins, layer->side);
    const struct leo_op_tensor y =
        images(pass->out, LEO_DTYPE_F16, pass->rows, layer->outs, layer->side / WINDOW);
    const struct leo_op_tensor mask = leo_op_tensor(pass->mask, LEO_DTYPE_S8, 4, dim);
    return LEO_OP(pass->context, "MaxPool2dWithMask", tensor(&x), pair(window), pair(window),
                  pair(zeros), pair(ones), number(0), tensor(&y), tensor(&mask));
}

static leo_status pool_backward(const struct layer *layer, const struct layer_pass *pass)
{
    int64_t dim[4];
    mask_shape(layer, pass->rows, dim);
    const struct leo_op_tensor x =
        images(pass->in, LEO_DTYPE_F16, pass->rows, layer->ins, layer->side);
    const struct leo_op_tensor dx =
        images(pass->d_in, LEO_DTYPE_F16, pass->rows, layer->ins, layer->side);
    const struct leo_op_tensor dy =
        images(pass->d_out, LEO_DTYPE_F16, pass->rows, layer->outs, layer->side / WINDOW);
    const struct leo_op_tensor mask = leo_op_tensor(pass->mask, LEO_DTYPE_S8, 4, dim);
    return LEO_OP(pass->context, "MaxPool2dWithMaskBackward", tensor(&dy), tensor(&x),
                  tensor(&mask), pair(window), pair(window), pair(zeros), pair(ones), number(0),
                  tensor(&dx));
}

/** What a kind of layer does. */
static const struct {
    leo_status (*forward)(const struct layer *layer, const struct layer_pass *pass);
    leo_status (*backward)(const struct layer *layer, const struct layer_pass *pass);
} kinds[] = {
    [LAYER_LINEAR] = {linear_forward, linear_backward},
    [LAYER_CONV] = {conv_forward, conv_backward},
    [LAYER_RELU] = {relu_forward, relu_backward},
    [LAYER_POOL] = {pool_forward, pool_backward},
};

leo_status layer_forward(const struct layer *layer, const struct layer_pass *pass)
{
    return kinds[layer->kind].forward(layer, pass);
}

leo_status layer_backward(const struct layer *layer, const struct layer_pass *pass)
{
    return kinds[layer->kind].backward(layer, pass);
}
