/* SPDX-License-Identifier: Apache-2.0 */
#include "net.h"

#include <math.h>
#include <stdlib.h>

/* All parameters stand in one array, so that one cast and one update serve them all. */
enum {
    AT_W1 = 0,
    AT_B1 = AT_W1 + NET_INPUTS * NET_HIDDEN,
    AT_W2 = AT_B1 + NET_HIDDEN,
    AT_B2 = AT_W2 + NET_HIDDEN * NET_CLASSES,
    PARAMETERS = AT_B2 + NET_CLASSES,
};

enum buffer {
    WEIGHT,      /* f32 master copy */
    VELOCITY,    /* f32 */
    GRAD,        /* f32, times loss_scale */
    WEIGHT_HALF, /* what matmuls read */
    GRAD_HALF,   /* only made to see whether it overflows */
    PIXELS,      /* f32, as uploaded */
    INPUT,       /* f16 */
    LABELS,
    HIDDEN,          /* f16, after relu */
    LOGITS,          /* f32 */
    PROB,            /* f32 */
    LOSS,            /* f32, a row */
    DLOGITS,         /* f16, times loss_scale */
    DHIDDEN,         /* f16, same */
    OVERFLOW_REPORT, /* s32 */
    BUFFERS,
};

struct net {
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_op_context *context;
    struct net_opts opts;
    uint64_t buffer[BUFFERS];
};

static uint32_t unit_of(enum leo_dtype dtype)
{
    return dtype == LEO_DTYPE_F16 ? 2 : 4;
}

/* A vector (columns 0) or matrix that starts `first` elements into a buffer. */
static struct leo_op_tensor view(const struct net *net, enum buffer buffer, enum leo_dtype dtype,
                                 size_t first, uint32_t rows, uint32_t columns)
{
    return (struct leo_op_tensor){
        net->buffer[buffer] + first * unit_of(dtype), dtype, columns ? 2 : 1, {rows, columns}};
}

static leo_status alloc_buffers(struct net *net)
{
    const uint64_t rows = net->opts.rows;
    const uint64_t bytes[BUFFERS] = {
        [WEIGHT] = PARAMETERS * 4,
        [VELOCITY] = PARAMETERS * 4,
        [GRAD] = PARAMETERS * 4,
        [WEIGHT_HALF] = PARAMETERS * 2,
        [GRAD_HALF] = PARAMETERS * 2,
        [PIXELS] = rows * NET_INPUTS * 4,
        [INPUT] = rows * NET_INPUTS * 2,
        [LABELS] = rows * 4,
        [HIDDEN] = rows * NET_HIDDEN * 2,
        [LOGITS] = rows * NET_CLASSES * 4,
        [PROB] = rows * NET_CLASSES * 4,
        [LOSS] = rows * 4,
        [DLOGITS] = rows * NET_CLASSES * 2,
        [DHIDDEN] = rows * NET_HIDDEN * 2,
        [OVERFLOW_REPORT] = 4,
    };
    for (int i = 0; i < BUFFERS; i++) {
        leo_status status =
            leo_rt_memory_alloc(net->device, bytes[i] + LEO_OP_READ_MARGIN, &net->buffer[i]);
        if (status != LEO_OK) {
            return status;
        }
    }
    return LEO_OK;
}

static leo_status upload(struct net *net, enum buffer buffer, const void *data, size_t bytes)
{
    return leo_rt_memcpy(net->device, (void *)(uintptr_t)net->buffer[buffer], data, bytes);
}

static leo_status download(struct net *net, enum buffer buffer, void *data, size_t bytes)
{
    leo_status status = leo_rt_stream_synchronize(net->stream, -1);
    return status != LEO_OK
               ? status
               : leo_rt_memcpy(net->device, data, (void *)(uintptr_t)net->buffer[buffer], bytes);
}

/* f16 copies of the master weights. */
static leo_status refresh_weights(struct net *net)
{
    const struct leo_op_tensor master = view(net, WEIGHT, LEO_DTYPE_F32, 0, PARAMETERS, 0);
    const struct leo_op_tensor half = view(net, WEIGHT_HALF, LEO_DTYPE_F16, 0, PARAMETERS, 0);
    return leo_op_cast(net->context, net->stream, &master, &half, NULL);
}

static leo_status init_weights(struct net *net, struct train_random *random)
{
    float *weight = calloc(PARAMETERS, sizeof(float));
    if (!weight) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "net: out of host memory");
    }
    leo_status status = upload(net, VELOCITY, weight, PARAMETERS * sizeof(float));
    // Uniform with the variance 2 / inputs that keeps relu layers alive; biases start at 0.
    for (int i = 0; i < NET_INPUTS * NET_HIDDEN; i++) {
        weight[AT_W1 + i] = sqrtf(6.0f / NET_INPUTS) * train_random_uniform(random);
    }
    for (int i = 0; i < NET_HIDDEN * NET_CLASSES; i++) {
        weight[AT_W2 + i] = sqrtf(6.0f / NET_HIDDEN) * train_random_uniform(random);
    }
    status = status != LEO_OK ? status : upload(net, WEIGHT, weight, PARAMETERS * sizeof(float));
    free(weight);
    return status != LEO_OK ? status : refresh_weights(net);
}

leo_status net_create(struct leo_rt_device *device, const struct net_opts *opts,
                      struct train_random *random, struct net **out)
{
    struct net *net = calloc(1, sizeof(*net));
    if (!net) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "net: out of host memory");
    }
    net->device = device;
    net->opts = *opts;
    leo_status status = leo_rt_stream_create(device, &net->stream);
    status = status != LEO_OK ? status : leo_op_context_create(device, &net->context);
    status = status != LEO_OK ? status : alloc_buffers(net);
    status = status != LEO_OK ? status : init_weights(net, random);
    if (status != LEO_OK) {
        net_destroy(net);
        return status;
    }
    *out = net;
    return LEO_OK;
}

void net_destroy(struct net *net)
{
    if (!net) {
        return;
    }
    leo_rt_stream_destroy(net->stream);
    leo_op_context_destroy(net->context);
    for (int i = 0; i < BUFFERS; i++) {
        // Nothing is left to do about a failure here.
        (void)(net->buffer[i] && leo_rt_memory_free(net->device, net->buffer[i]) == LEO_OK);
    }
    free(net);
}

leo_status net_upload(struct net *net, const float *pixels, const int32_t *labels, uint32_t rows)
{
    const struct leo_op_tensor from = view(net, PIXELS, LEO_DTYPE_F32, 0, rows, NET_INPUTS);
    const struct leo_op_tensor to = view(net, INPUT, LEO_DTYPE_F16, 0, rows, NET_INPUTS);
    leo_status status = leo_rt_stream_synchronize(net->stream, -1);
    status = status != LEO_OK
                 ? status
                 : upload(net, PIXELS, pixels, (size_t)rows * NET_INPUTS * sizeof(float));
    status = status != LEO_OK ? status : upload(net, LABELS, labels, rows * sizeof(int32_t));
    return status != LEO_OK ? status : leo_op_cast(net->context, net->stream, &from, &to, NULL);
}

static leo_status forward(struct net *net, uint32_t row, uint32_t rows)
{
    const struct leo_op_tensor x =
        view(net, INPUT, LEO_DTYPE_F16, (size_t)row * NET_INPUTS, rows, NET_INPUTS);
    const struct leo_op_tensor w1 =
        view(net, WEIGHT_HALF, LEO_DTYPE_F16, AT_W1, NET_INPUTS, NET_HIDDEN);
    const struct leo_op_tensor b1 = view(net, WEIGHT, LEO_DTYPE_F32, AT_B1, NET_HIDDEN, 0);
    const struct leo_op_tensor hidden = view(net, HIDDEN, LEO_DTYPE_F16, 0, rows, NET_HIDDEN);
    const struct leo_op_tensor w2 =
        view(net, WEIGHT_HALF, LEO_DTYPE_F16, AT_W2, NET_HIDDEN, NET_CLASSES);
    const struct leo_op_tensor b2 = view(net, WEIGHT, LEO_DTYPE_F32, AT_B2, NET_CLASSES, 0);
    const struct leo_op_tensor logits = view(net, LOGITS, LEO_DTYPE_F32, 0, rows, NET_CLASSES);
    const struct leo_op_tensor labels = view(net, LABELS, LEO_DTYPE_S32, row, rows, 0);
    const struct leo_op_tensor loss = view(net, LOSS, LEO_DTYPE_F32, row, rows, 0);
    const struct leo_op_tensor prob = view(net, PROB, LEO_DTYPE_F32, 0, rows, NET_CLASSES);
    const struct leo_op_matmul_opts first = {.relu = true, .bias = &b1}, second = {.bias = &b2};

    leo_status status = leo_op_matmul(net->context, net->stream, &x, &w1, &first, &hidden);
    status = status != LEO_OK
                 ? status
                 : leo_op_matmul(net->context, net->stream, &hidden, &w2, &second, &logits);
    return status != LEO_OK
               ? status
               : leo_op_softmax_xent(net->context, net->stream, &logits, &labels, &loss, &prob);
}

static leo_status backward(struct net *net, uint32_t row, uint32_t rows)
{
    const struct leo_op_tensor x =
        view(net, INPUT, LEO_DTYPE_F16, (size_t)row * NET_INPUTS, rows, NET_INPUTS);
    const struct leo_op_tensor hidden = view(net, HIDDEN, LEO_DTYPE_F16, 0, rows, NET_HIDDEN);
    const struct leo_op_tensor w2 =
        view(net, WEIGHT_HALF, LEO_DTYPE_F16, AT_W2, NET_HIDDEN, NET_CLASSES);
    const struct leo_op_tensor labels = view(net, LABELS, LEO_DTYPE_S32, row, rows, 0);
    const struct leo_op_tensor prob = view(net, PROB, LEO_DTYPE_F32, 0, rows, NET_CLASSES);
    const struct leo_op_tensor dlogits = view(net, DLOGITS, LEO_DTYPE_F16, 0, rows, NET_CLASSES);
    const struct leo_op_tensor dhidden = view(net, DHIDDEN, LEO_DTYPE_F16, 0, rows, NET_HIDDEN);
    const struct leo_op_tensor dw1 = view(net, GRAD, LEO_DTYPE_F32, AT_W1, NET_INPUTS, NET_HIDDEN);
    const struct leo_op_tensor db1 = view(net, GRAD, LEO_DTYPE_F32, AT_B1, NET_HIDDEN, 0);
    const struct leo_op_tensor dw2 = view(net, GRAD, LEO_DTYPE_F32, AT_W2, NET_HIDDEN, NET_CLASSES);
    const struct leo_op_tensor db2 = view(net, GRAD, LEO_DTYPE_F32, AT_B2, NET_CLASSES, 0);
    const struct leo_op_matmul_opts left = {.transpose_a = true}, right = {.transpose_b = true};
    struct leo_op_context *context = net->context;
    struct leo_rt_stream *stream = net->stream;
    const float scale = net->opts.loss_scale / (float)rows; // the loss is the mean over the rows

    leo_status status = leo_op_softmax_xent_grad(context, stream, &prob, &labels, scale, &dlogits);
    status =
        status != LEO_OK ? status : leo_op_matmul(context, stream, &hidden, &dlogits, &left, &dw2);
    status = status != LEO_OK ? status : leo_op_column_sum(context, stream, &dlogits, &db2);
    status =
        status != LEO_OK ? status : leo_op_matmul(context, stream, &dlogits, &w2, &right, &dhidden);
    status =
        status != LEO_OK ? status : leo_op_relu_grad(context, stream, &dhidden, &hidden, &dhidden);
    status = status != LEO_OK ? status : leo_op_matmul(context, stream, &x, &dhidden, &left, &dw1);
    return status != LEO_OK ? status : leo_op_column_sum(context, stream, &dhidden, &db1);
}

static leo_status find_overflow(struct net *net, bool *overflow)
{
    const struct leo_op_tensor grad = view(net, GRAD, LEO_DTYPE_F32, 0, PARAMETERS, 0);
    const struct leo_op_tensor half = view(net, GRAD_HALF, LEO_DTYPE_F16, 0, PARAMETERS, 0);
    const struct leo_op_tensor report = view(net, OVERFLOW_REPORT, LEO_DTYPE_S32, 0, 1, 0);
    int32_t found = 0;
    leo_status status =
        leo_rt_memset_async(net->stream, net->buffer[OVERFLOW_REPORT], 0, sizeof(found));
    status =
        status != LEO_OK ? status : leo_op_cast(net->context, net->stream, &grad, &half, &report);
    status = status != LEO_OK ? status : download(net, OVERFLOW_REPORT, &found, sizeof(found));
    *overflow = found != 0;
    return status;
}

leo_status net_step(struct net *net, uint32_t row, float rate, bool *skipped)
{
    leo_status status = forward(net, row, net->opts.batch);
    status = status != LEO_OK ? status : backward(net, row, net->opts.batch);
    status = status != LEO_OK ? status : find_overflow(net, skipped);
    if (status != LEO_OK || *skipped) {
        return status;
    }
    const struct leo_op_tensor weight = view(net, WEIGHT, LEO_DTYPE_F32, 0, PARAMETERS, 0);
    const struct leo_op_tensor velocity = view(net, VELOCITY, LEO_DTYPE_F32, 0, PARAMETERS, 0);
    const struct leo_op_tensor grad = view(net, GRAD, LEO_DTYPE_F32, 0, PARAMETERS, 0);
    status = leo_op_momentum_sgd(net->context, net->stream, &weight, &velocity, &grad,
                                 1.0f / net->opts.loss_scale, rate, net->opts.momentum);
    return status != LEO_OK ? status : refresh_weights(net);
}

leo_status net_losses(struct net *net, uint32_t rows, float *losses)
{
    return download(net, LOSS, losses, rows * sizeof(float));
}

leo_status net_infer(struct net *net, uint32_t rows, float *prob)
{
    leo_status status = forward(net, 0, rows);
    return status != LEO_OK ? status
                            : download(net, PROB, prob, (size_t)rows * NET_CLASSES * sizeof(float));
}
