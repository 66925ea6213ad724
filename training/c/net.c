/* SPDX-License-Identifier: Apache-2.0 */
#include "net.h"

#include "layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS_MAX = 12 };

/** A network of this file. */
struct model {
    const char *name, *text;
    struct layer layer[LAYERS_MAX]; /**< ends with LAYER_END */
};

static const struct model models[] = {
    {"mlp",
     "a perceptron, 64 - 128 - 10",
     {{LAYER_LINEAR, 64, 128, 1},
      {LAYER_RELU, 128, 128, 1},
      {LAYER_LINEAR, 128, 10, 1},
      {LAYER_END, 0, 0, 0}}},
    {"lenet",
     "two convolutions of 3 x 3 with 32 and 64 channels, max pooling, 1024 - 128 - 10",
     {{LAYER_CONV, 1, 32, 8},
      {LAYER_RELU, 32, 32, 8},
      {LAYER_CONV, 32, 64, 8},
      {LAYER_RELU, 64, 64, 8},
      {LAYER_POOL, 64, 64, 8},
      {LAYER_LINEAR, 1024, 128, 1},
      {LAYER_RELU, 128, 128, 1},
      {LAYER_LINEAR, 128, 10, 1},
      {LAYER_END, 0, 0, 0}}},
};
enum { MODELS = sizeof(models) / sizeof(models[0]) };

const char net_names[] = "mlp, lenet";

/** Device memory that is not of one layer. All parameters stand in one array, so that one cast and
 * one update serve them all. */
enum buffer {
    WEIGHT,       /* f32 master copy */
    VELOCITY,     /* f32 */
    GRAD,         /* f32, times loss_scale */
    WEIGHT_HALF,  /* what products read */
    GRAD_HALF,    /* only made to see whether it overflows */
    PIXELS,       /* f32, as uploaded */
    INPUT,        /* f16 */
    LABELS,       /* s32 */
    LOG_PROB,     /* f32 */
    LOSS,         /* f32, a row */
    D_LOG_PROB,   /* f32, times loss_scale */
    CLASS_WEIGHT, /* f32: ones */
    NUMBERS,      /* f32: those below, a block each */
    BUFFERS,
};
enum number { LOSS_SCALE, UNUSED_TOTAL, ONE, OVERFLOW_FOUND, NUMBER_COUNT, NUMBER_STEP = 32 };

struct net {
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_op_context *context;
    struct net_opts opts;
    const struct model *model;
    unsigned layers;
    uint32_t parameters;
    uint64_t buffer[BUFFERS];
    uint64_t out[LAYERS_MAX], d_out[LAYERS_MAX]; /**< of each layer; the last out is f32 */
    uint64_t mask[LAYERS_MAX];                   /**< of pools */
};

static const struct model *find_model(const char *name)
{
    for (unsigned i = 0; i < MODELS; i++) {
        if (strcmp(models[i].name, name) == 0) {
            return &models[i];
        }
    }
    return NULL;
}

const char *net_describe(const char *name)
{
    const struct model *model = find_model(name);
    return model ? model->text : NULL;
}

static struct leo_op_tensor view(const struct net *net, enum buffer buffer, enum leo_dtype dtype,
                                 uint32_t first, uint32_t count)
{
    const int64_t dim[] = {count};
    return leo_op_tensor(net->buffer[buffer] + (uint64_t)first * (dtype == LEO_DTYPE_F16 ? 2 : 4),
                         dtype, 1, dim);
}

static struct leo_op_tensor number(const struct net *net, enum number which)
{
    return view(net, NUMBERS, LEO_DTYPE_F32, (uint32_t)which * (NUMBER_STEP / 4), 1);
}

static struct leo_op_tensor rows_of_classes(uint64_t addr, enum leo_dtype dtype, uint32_t rows)
{
    const int64_t dim[] = {rows, NET_CLASSES};
    return leo_op_tensor(addr, dtype, 2, dim);
}

static leo_status alloc(struct net *net, uint64_t bytes, uint64_t *addr)
{
    return leo_rt_memory_alloc(net->device, bytes + LEO_OP_READ_MARGIN, addr);
}

static leo_status alloc_buffers(struct net *net)
{
    const uint64_t rows = net->opts.rows, parameters = net->parameters;
    const uint64_t bytes[BUFFERS] = {
        [WEIGHT] = parameters * 4,
        [VELOCITY] = parameters * 4,
        [GRAD] = parameters * 4,
        [WEIGHT_HALF] = parameters * 2,
        [GRAD_HALF] = parameters * 2,
        [PIXELS] = rows * DIGITS_PIXELS * 4,
        [INPUT] = rows * DIGITS_PIXELS * 2,
        [LABELS] = rows * 4,
        [LOG_PROB] = rows * NET_CLASSES * 4,
        [LOSS] = rows * 4,
        [D_LOG_PROB] = rows * NET_CLASSES * 4,
        [CLASS_WEIGHT] = NET_CLASSES * 4,
        [NUMBERS] = NUMBER_COUNT * NUMBER_STEP,
    };
    leo_status status = LEO_OK;
    for (int i = 0; i < BUFFERS && status == LEO_OK; i++) {
        status = alloc(net, bytes[i], &net->buffer[i]);
    }
    for (unsigned i = 0; i < net->layers && status == LEO_OK; i++) {
        const struct layer *layer = &net->model->layer[i];
        const uint64_t count = rows * layer_outputs(layer);
        status = alloc(net, count * 4, &net->out[i]);
        if (status == LEO_OK) {
            status = alloc(net, count * 2, &net->d_out[i]);
        }
        const uint64_t mask = layer_mask_bytes(layer, net->opts.rows);
        if (status == LEO_OK && mask) {
            status = alloc(net, mask, &net->mask[i]);
        }
    }
    return status;
}

static leo_status upload(struct net *net, uint64_t addr, const void *data, size_t bytes)
{
    return leo_rt_memcpy(net->device, (void *)(uintptr_t)addr, data, bytes);
}

static leo_status download(struct net *net, enum buffer buffer, void *data, size_t bytes)
{
    leo_status status = leo_rt_stream_synchronize(net->stream, -1);
    if (status != LEO_OK) {
        return status;
    }
    return leo_rt_memcpy(net->device, data, (void *)(uintptr_t)net->buffer[buffer], bytes);
}

static leo_status cast(struct net *net, const struct leo_op_tensor *to,
                       const struct leo_op_tensor *from)
{
    return LEO_OP(net->context, "Cast", leo_op_arg_tensor(from), leo_op_arg_dtype(to->dtype),
                  leo_op_arg_tensor(to));
}

/* f16 copies of the master weights. */
static leo_status refresh_weights(struct net *net)
{
    const struct leo_op_tensor master = view(net, WEIGHT, LEO_DTYPE_F32, 0, net->parameters);
    const struct leo_op_tensor half = view(net, WEIGHT_HALF, LEO_DTYPE_F16, 0, net->parameters);
    return cast(net, &half, &master);
}

/* Parameters before those of a layer. */
static uint32_t parameters_before(const struct net *net, unsigned layer)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < layer; i++) {
        count += layer_weights(&net->model->layer[i]) + layer_biases(&net->model->layer[i]);
    }
    return count;
}

static leo_status init_weights(struct net *net, struct train_random *random)
{
    const size_t bytes = net->parameters * sizeof(float);
    float *weight = calloc(net->parameters, sizeof(float));
    if (!weight) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "net: out of host memory");
    }
    leo_status status = upload(net, net->buffer[VELOCITY], weight, bytes);
    // Uniform with the variance 2 / inputs that keeps relu layers alive; biases start at 0.
    for (unsigned i = 0; i < net->layers; i++) {
        const struct layer *layer = &net->model->layer[i];
        float *first = weight + parameters_before(net, i);
        for (uint32_t k = 0; k < layer_weights(layer); k++) {
            first[k] = sqrtf(6.0f / (float)layer_fan_in(layer)) * train_random_uniform(random);
        }
    }
    if (status == LEO_OK) {
        status = upload(net, net->buffer[WEIGHT], weight, bytes);
    }
    free(weight);
    return status == LEO_OK ? refresh_weights(net) : status;
}

static leo_status init_numbers(struct net *net)
{
    float numbers[NUMBER_COUNT * NUMBER_STEP / sizeof(float)] = {0}, ones[NET_CLASSES];
    // The loss is the mean over the rows of a batch.
    numbers[LOSS_SCALE * NUMBER_STEP / 4] = net->opts.loss_scale / (float)net->opts.batch;
    numbers[ONE * NUMBER_STEP / 4] = 1;
    for (int i = 0; i < NET_CLASSES; i++) {
        ones[i] = 1;
    }
    leo_status status = upload(net, net->buffer[NUMBERS], numbers, sizeof(numbers));
    return status == LEO_OK ? upload(net, net->buffer[CLASS_WEIGHT], ones, sizeof(ones)) : status;
}

static leo_status build(struct net *net, struct train_random *random)
{
    leo_status status = leo_rt_stream_create(net->device, &net->stream);
    if (status == LEO_OK) {
        // find_overflow looks for infinities, on the first generation too.
        leo_rt_stream_set_float_mode(net->stream, LEO_FLOAT_MODE_INFINITE);
    }
    if (status == LEO_OK) {
        status = leo_op_context_create(net->device, net->stream, &net->context);
    }
    if (status == LEO_OK) {
        status = alloc_buffers(net);
    }
    if (status == LEO_OK) {
        status = init_numbers(net);
    }
    return status == LEO_OK ? init_weights(net, random) : status;
}

leo_status net_create(struct leo_rt_device *device, const struct net_opts *opts,
                      struct train_random *random, struct net **out)
{
    const struct model *model = find_model(opts->name);
    if (!model) {
        return leo_rt_fail(LEO_ERR_NOT_FOUND, "there is no network '%s': %s", opts->name,
                           net_names);
    }
    struct net *net = calloc(1, sizeof(*net));
    if (!net) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "net: out of host memory");
    }
    net->device = device;
    net->opts = *opts;
    net->model = model;
    while (model->layer[net->layers].kind != LAYER_END) {
        net->layers++;
    }
    net->parameters = parameters_before(net, net->layers);
    leo_status status = build(net, random);
    if (status != LEO_OK) {
        net_destroy(net);
        return status;
    }
    *out = net;
    return LEO_OK;
}

static void free_all(struct net *net, const uint64_t *addr, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        // Nothing is left to do about a failure here.
        (void)(addr[i] && leo_rt_memory_free(net->device, addr[i]) == LEO_OK);
    }
}

void net_destroy(struct net *net)
{
    if (!net) {
        return;
    }
    leo_op_context_destroy(net->context);
    leo_rt_stream_destroy(net->stream);
    free_all(net, net->buffer, BUFFERS);
    free_all(net, net->out, LAYERS_MAX);
    free_all(net, net->d_out, LAYERS_MAX);
    free_all(net, net->mask, LAYERS_MAX);
    free(net);
}

leo_status net_upload(struct net *net, const float *pixels, const int32_t *labels, uint32_t rows)
{
    const struct leo_op_tensor from = view(net, PIXELS, LEO_DTYPE_F32, 0, rows * DIGITS_PIXELS);
    const struct leo_op_tensor to = view(net, INPUT, LEO_DTYPE_F16, 0, rows * DIGITS_PIXELS);
    leo_status status = leo_rt_stream_synchronize(net->stream, -1);
    if (status == LEO_OK) {
        status =
            upload(net, net->buffer[PIXELS], pixels, (size_t)rows * DIGITS_PIXELS * sizeof(float));
    }
    if (status == LEO_OK) {
        status = upload(net, net->buffer[LABELS], labels, rows * sizeof(int32_t));
    }
    return status == LEO_OK ? cast(net, &to, &from) : status;
}

/* What layer i works on, for `rows` rows from `row` on. */
static struct layer_pass pass_of(const struct net *net, unsigned i, uint32_t row, uint32_t rows)
{
    const struct layer *layer = &net->model->layer[i];
    const uint32_t weight = parameters_before(net, i), bias = weight + layer_weights(layer);
    return (struct layer_pass){
        .context = net->context,
        .rows = rows,
        .in = i ? net->out[i - 1] : net->buffer[INPUT] + (uint64_t)row * DIGITS_PIXELS * 2,
        .out = net->out[i],
        .out_dtype = i + 1 == net->layers ? LEO_DTYPE_F32 : LEO_DTYPE_F16,
        .mask = net->mask[i],
        .weight = net->buffer[WEIGHT_HALF] + (uint64_t)weight * 2,
        .bias = net->buffer[WEIGHT] + (uint64_t)bias * 4,
        .d_out = net->d_out[i],
        .d_in = i ? net->d_out[i - 1] : 0,
        .d_weight = net->buffer[GRAD] + (uint64_t)weight * 4,
        .d_bias = net->buffer[GRAD] + (uint64_t)bias * 4,
    };
}

/* How losses are reduced, as NLLLoss numbers it. */
enum { NONE, MEAN, SUM };

/* The loss of every row. */
static leo_status find_losses(struct net *net, uint32_t row, uint32_t rows)
{
    const struct leo_op_tensor logits =
        rows_of_classes(net->out[net->layers - 1], LEO_DTYPE_F32, rows);
    const struct leo_op_tensor prob = rows_of_classes(net->buffer[LOG_PROB], LEO_DTYPE_F32, rows);
    const struct leo_op_tensor labels = view(net, LABELS, LEO_DTYPE_S32, row, rows);
    const struct leo_op_tensor loss = view(net, LOSS, LEO_DTYPE_F32, row, rows);
    const struct leo_op_tensor weight = view(net, CLASS_WEIGHT, LEO_DTYPE_F32, 0, NET_CLASSES);
    const struct leo_op_tensor total = number(net, UNUSED_TOTAL);
    leo_status status = LEO_OP(net->context, "LogSoftmax", leo_op_arg_tensor(&logits),
                               leo_op_arg_number(1), leo_op_arg_tensor(&prob));
    if (status != LEO_OK) {
        return status;
    }
    return LEO_OP(net->context, "NLLLoss", leo_op_arg_tensor(&prob), leo_op_arg_tensor(&labels),
                  leo_op_arg_tensor(&weight), leo_op_arg_number(NONE), leo_op_arg_number(-100),
                  leo_op_arg_tensor(&loss), leo_op_arg_tensor(&total));
}

static leo_status forward(struct net *net, uint32_t row, uint32_t rows)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < net->layers && status == LEO_OK; i++) {
        const struct layer_pass pass = pass_of(net, i, row, rows);
        status = layer_forward(&net->model->layer[i], &pass);
    }
    return status == LEO_OK ? find_losses(net, row, rows) : status;
}

/* The gradient of the mean loss, times the loss scale, at the last layer's output. */
static leo_status start_backward(struct net *net, uint32_t row, uint32_t rows)
{
    const struct leo_op_tensor prob = rows_of_classes(net->buffer[LOG_PROB], LEO_DTYPE_F32, rows);
    const struct leo_op_tensor d_prob =
        rows_of_classes(net->buffer[D_LOG_PROB], LEO_DTYPE_F32, rows);
    const struct leo_op_tensor d_logits =
        rows_of_classes(net->d_out[net->layers - 1], LEO_DTYPE_F16, rows);
    const struct leo_op_tensor labels = view(net, LABELS, LEO_DTYPE_S32, row, rows);
    const struct leo_op_tensor weight = view(net, CLASS_WEIGHT, LEO_DTYPE_F32, 0, NET_CLASSES);
    const struct leo_op_tensor scale = number(net, LOSS_SCALE), total = number(net, UNUSED_TOTAL);
    leo_status status =
        LEO_OP(net->context, "NLLLossBackward", leo_op_arg_tensor(&scale), leo_op_arg_tensor(&prob),
               leo_op_arg_tensor(&labels), leo_op_arg_tensor(&weight), leo_op_arg_number(SUM),
               leo_op_arg_number(-100), leo_op_arg_tensor(&total), leo_op_arg_tensor(&d_prob));
    if (status != LEO_OK) {
        return status;
    }
    return LEO_OP(net->context, "LogSoftmaxBackward", leo_op_arg_tensor(&d_prob),
                  leo_op_arg_tensor(&prob), leo_op_arg_number(1), leo_op_arg_tensor(&d_logits));
}

static leo_status backward(struct net *net, uint32_t row, uint32_t rows)
{
    leo_status status = start_backward(net, row, rows);
    for (unsigned i = net->layers; i-- > 0 && status == LEO_OK;) {
        const struct layer_pass pass = pass_of(net, i, row, rows);
        status = layer_backward(&net->model->layer[i], &pass);
    }
    return status;
}

/* A gradient that f16 cannot hold would be lost in a network of f16 gradients: the step is
 * skipped. */
static leo_status find_overflow(struct net *net, bool *overflow)
{
    const struct leo_op_tensor grad = view(net, GRAD, LEO_DTYPE_F32, 0, net->parameters);
    const struct leo_op_tensor half = view(net, GRAD_HALF, LEO_DTYPE_F16, 0, net->parameters);
    const struct leo_op_tensor found = number(net, OVERFLOW_FOUND), one = number(net, ONE);
    float seen = 0;
    leo_status status = leo_rt_memset_async(net->stream, found.addr, 0, sizeof(seen));
    if (status == LEO_OK) {
        status = cast(net, &half, &grad);
    }
    if (status == LEO_OK) {
        status =
            LEO_OP(net->context, "ForeachNonFiniteCheckAndUnscale", leo_op_arg_tensors(&half, 1),
                   leo_op_arg_tensor(&found), leo_op_arg_tensor(&one));
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_synchronize(net->stream, -1);
    }
    if (status == LEO_OK) {
        status = leo_rt_memcpy(net->device, &seen, (void *)(uintptr_t)found.addr, sizeof(seen));
    }
    *overflow = seen != 0;
    return status;
}

leo_status net_step(struct net *net, uint32_t row, float rate, bool *skipped)
{
    leo_status status = forward(net, row, net->opts.batch);
    if (status == LEO_OK) {
        status = backward(net, row, net->opts.batch);
    }
    if (status == LEO_OK) {
        status = find_overflow(net, skipped);
    }
    if (status != LEO_OK || *skipped) {
        return status;
    }
    const struct leo_op_tensor weight = view(net, WEIGHT, LEO_DTYPE_F32, 0, net->parameters);
    const struct leo_op_tensor velocity = view(net, VELOCITY, LEO_DTYPE_F32, 0, net->parameters);
    const struct leo_op_tensor grad = view(net, GRAD, LEO_DTYPE_F32, 0, net->parameters);
    if (net->opts.weight_decay != 0) {
        // Gradients are still scaled as the loss is.
        const double alpha = (double)net->opts.weight_decay * (double)net->opts.loss_scale;
        status = LEO_OP(net->context, "InplaceAdd", leo_op_arg_tensor(&grad),
                        leo_op_arg_tensor(&weight), leo_op_arg_number(alpha));
        if (status != LEO_OK) {
            return status;
        }
    }
    status =
        LEO_OP(net->context, "Momentum", leo_op_arg_tensor(&weight), leo_op_arg_tensor(&velocity),
               leo_op_arg_tensor(&grad), leo_op_arg_number(1.0 / (double)net->opts.loss_scale),
               leo_op_arg_number((double)rate), leo_op_arg_number((double)net->opts.momentum));
    return status == LEO_OK ? refresh_weights(net) : status;
}

leo_status net_losses(struct net *net, uint32_t rows, float *losses)
{
    return download(net, LOSS, losses, rows * sizeof(float));
}

leo_status net_infer(struct net *net, uint32_t rows, float *scores)
{
    leo_status status = forward(net, 0, rows);
    return status == LEO_OK
               ? download(net, LOG_PROB, scores, (size_t)rows * NET_CLASSES * sizeof(float))
               : status;
}
