/* SPDX-License-Identifier: Apache-2.0 */
#include "network.h"

#include "measure.h"
#include <leo/dtype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { C0 = 16 };

static const double epsilon = 1e-5, momentum = 0.1; // of batch norm: the frameworks' defaults

static int64_t up16(int64_t count)
{
    return (count + C0 - 1) / C0 * C0;
}

static uint64_t take_block(struct network *net, uint64_t bytes)
{
    for (unsigned i = 0; i < net->blocks; i++) {
        if (!net->block[i].used && net->block[i].bytes == bytes) {
            net->block[i].used = true;
            return net->block[i].addr;
        }
    }
    uint64_t addr = 0;
    if (net->status == LEO_OK && net->blocks == NETWORK_BLOCKS) {
        net->status = LEO_ERR_NO_MEMORY;
    }
    if (net->status == LEO_OK) {
        net->status = leo_rt_memory_alloc(net->chip->device, bytes, &addr);
    }
    if (net->status == LEO_OK) {
        net->block[net->blocks].addr = addr;
        net->block[net->blocks].bytes = bytes;
        net->block[net->blocks++].used = true;
    }
    return addr;
}

struct leo_op_tensor network_tensor(struct network *net, enum leo_dtype dtype, unsigned rank,
                                    const int64_t *dim, int format)
{
    const uint64_t bytes =
        (uint64_t)accuracy_stored(rank, dim, format) * (leo_dtype_bits(dtype) / 8);
    struct leo_op_tensor tensor =
        leo_op_tensor(take_block(net, bytes + LEO_OP_READ_MARGIN), dtype, rank, dim);
    tensor.format = format;
    return tensor;
}

struct leo_op_tensor network_map(struct network *net, enum leo_dtype dtype, int64_t channels,
                                 int64_t size)
{
    const int64_t dim[] = {net->batch, channels, size, size};
    return network_tensor(net, dtype, 4, dim, NC1HWC0);
}

void network_free(struct network *net, const struct leo_op_tensor *tensor)
{
    for (unsigned i = 0; i < net->blocks; i++) {
        if (net->block[i].addr == tensor->addr) {
            net->block[i].used = false;
        }
    }
}

void network_run(struct network *net, const char *op, const struct leo_op_arg *args, unsigned count)
{
    if (net->status == LEO_OK) {
        net->status = leo_op_run(net->chip->ops, op, args, count);
    }
}

static struct leo_op_arg tensor(const struct leo_op_tensor *value)
{
    return leo_op_arg_tensor(value);
}

static struct leo_op_arg number(double value)
{
    return leo_op_arg_number(value);
}

static struct leo_op_tensor vector(struct network *net, int64_t count)
{
    return network_tensor(net, LEO_DTYPE_F32, 1, &count, 0);
}

static void put(struct network *net, const struct leo_op_tensor *to, const float *from,
                int64_t count)
{
    if (net->status == LEO_OK) {
        net->status = leo_rt_memcpy(net->chip->device, (void *)(uintptr_t)to->addr, from,
                                    (size_t)count * sizeof(float));
    }
}

static struct leo_op_tensor filled(struct network *net, int64_t count, float value)
{
    const struct leo_op_tensor made = vector(net, count);
    float *host = malloc((size_t)count * sizeof(float));
    for (int64_t i = 0; host && i < count; i++) {
        host[i] = value;
    }
    if (!host) {
        net->status = leo_status_first(net->status, LEO_ERR_NO_MEMORY);
    } else {
        put(net, &made, host, count);
    }
    free(host);
    return made;
}

// In [-1, 1), the same in every run.
static float next_value(struct network *net)
{
    net->seed = net->seed * 1664525u + 1013904223u;
    return (float)(net->seed >> 8) / (1 << 23) - 1;
}

static unsigned add_param(struct network *net, int64_t count, const float *host)
{
    struct network_param *param = &net->param[net->params];
    *param = (struct network_param){.count = count,
                                    .value = vector(net, count),
                                    .gradient = filled(net, count, 0),
                                    .mean = filled(net, count, 0),
                                    .square = filled(net, count, 0)};
    put(net, &param->value, host, count);
    return net->params++;
}

unsigned network_param(struct network *net, int64_t count, float middle, float range)
{
    float *host = malloc((size_t)count * sizeof(float));
    if (!host || net->params == NETWORK_PARAMS) {
        free(host);
        net->status = leo_status_first(net->status, LEO_ERR_NO_MEMORY);
        return 0;
    }
    for (int64_t i = 0; i < count; i++) {
        host[i] = middle + range * next_value(net);
    }
    const unsigned at = add_param(net, count, host);
    free(host);
    return at;
}

// Weights as FRACTAL_Z stores them: [in / 16][kernel][out][16], zeros beyond.
static unsigned add_weights(struct network *net, const struct network_unit *u)
{
    const int64_t outs = up16(u->out), taps = u->kernel * u->kernel,
                  count = outs * up16(u->in) * taps;
    const float range = sqrtf(6.0f / (float)(u->in * taps));
    float *host = calloc((size_t)count, sizeof(float));
    if (!host || net->params == NETWORK_PARAMS) {
        free(host);
        net->status = leo_status_first(net->status, LEO_ERR_NO_MEMORY);
        return 0;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t in = i / (outs * C0 * taps) * C0 + i % C0, out = i / C0 % outs;
        if (in < u->in && out < u->out) {
            host[i] = range * next_value(net);
        }
    }
    const unsigned at = add_param(net, count, host);
    free(host);
    return at;
}

void network_begin(struct network *net, struct accuracy_chip *chip, int64_t batch, bool half)
{
    static const float adam[] = {0.9f, 0.999f, 1e-3f, 0.9f, 0.999f, 1e-8f};
    memset(net, 0, sizeof(*net));
    net->chip = chip;
    net->batch = batch;
    net->maps = half ? LEO_DTYPE_F16 : LEO_DTYPE_F32;
    net->seed = 1;
    for (unsigned i = 0; i < 6; i++) {
        net->adam[i] = filled(net, 1, adam[i]);
    }
}

void network_end(struct network *net)
{
    const leo_status waited = leo_rt_stream_synchronize(net->chip->stream, -1);
    net->status = leo_status_first(net->status, waited);
    for (unsigned i = 0; i < net->blocks; i++) {
        (void)leo_rt_memory_free(net->chip->device, net->block[i].addr);
    }
    net->blocks = 0;
}

struct leo_op_tensor network_cast(struct network *net, const struct leo_op_tensor *x,
                                  enum leo_dtype dtype)
{
    if (x->dtype == dtype) {
        return *x;
    }
    const struct leo_op_tensor made = network_tensor(net, dtype, x->rank, x->dim, x->format);
    NETWORK_RUN(net, "Cast", tensor(x), leo_op_arg_dtype(dtype), tensor(&made));
    return made;
}

void network_unit_init(struct network *net, struct network_unit *u, int64_t in, int64_t out,
                       int64_t kernel, int64_t stride, int64_t size)
{
    *u = (struct network_unit){
        .in = in, .out = out, .kernel = kernel, .stride = stride, .size = size};
    u->weight = add_weights(net, u);
    u->scale = network_param(net, out, 1, 0);
    u->offset = network_param(net, out, 0, 0);
    u->running[0] = filled(net, out, 0);
    u->running[1] = filled(net, out, 1);
}

static struct leo_op_tensor as_filter(const struct network_unit *u, uint64_t addr,
                                      enum leo_dtype dtype)
{
    const int64_t dim[] = {u->out, u->in, u->kernel, u->kernel};
    struct leo_op_tensor filter = leo_op_tensor(addr, dtype, 4, dim);
    filter.format = FRACTAL_Z;
    return filter;
}

// The weights in halves, for one use. As they are stored: elements one by one.
static struct leo_op_tensor half_weights(struct network *net, const struct network_unit *u)
{
    const struct network_param *weight = &net->param[u->weight];
    const struct leo_op_tensor flat = network_cast(net, &weight->value, LEO_DTYPE_F16);
    return as_filter(u, flat.addr, LEO_DTYPE_F16);
}

struct leo_op_tensor network_unit_forward(struct network *net, struct network_unit *u,
                                          const struct leo_op_tensor *x)
{
    static const int64_t ones[] = {1, 1}, zeros[] = {0, 0};
    const int64_t strides[] = {u->stride, u->stride}, pad = (u->kernel - 1) / 2,
                  pads[] = {pad, pad}, size = (u->size + 2 * pad - u->kernel) / u->stride + 1;
    const struct leo_op_tensor weight = half_weights(net, u),
                               half_z = network_map(net, LEO_DTYPE_F16, u->out, size);
    u->half_x = network_cast(net, x, LEO_DTYPE_F16);
    u->owns_x = u->half_x.addr != x->addr;
    NETWORK_RUN(net, "Convolution", tensor(&u->half_x), tensor(&weight), leo_op_arg_none(),
                leo_op_arg_ints(strides, 2), leo_op_arg_ints(pads, 2), leo_op_arg_ints(ones, 2),
                number(0), leo_op_arg_ints(zeros, 2), number(1), tensor(&half_z), number(0));
    network_free(net, &weight);
    u->z = network_cast(net, &half_z, net->maps);
    if (u->z.addr != half_z.addr) {
        network_free(net, &half_z);
    }
    const struct leo_op_tensor sums[] = {vector(net, u->out), vector(net, u->out)},
                               y = network_map(net, net->maps, u->out, size);
    u->batch[0] = vector(net, u->out);
    u->batch[1] = vector(net, u->out);
    NETWORK_RUN(net, "AclBnReduce", tensor(&u->z), tensor(&sums[0]), tensor(&sums[1]));
    NETWORK_RUN(net, "AclBnUpdate", tensor(&u->z), tensor(&sums[0]), tensor(&sums[1]),
                tensor(&net->param[u->scale].value), tensor(&net->param[u->offset].value),
                tensor(&u->running[0]), tensor(&u->running[1]), number(momentum), number(epsilon),
                tensor(&y), tensor(&u->running[0]), tensor(&u->running[1]), tensor(&u->batch[0]),
                tensor(&u->batch[1]));
    network_free(net, &sums[0]);
    network_free(net, &sums[1]);
    return y;
}

static void convolution_backward(struct network *net, const struct network_unit *u,
                                 const struct leo_op_tensor *dz, const bool *wanted,
                                 const struct leo_op_tensor *dx, const struct leo_op_tensor *dw)
{
    static const int64_t ones[] = {1, 1}, zeros[] = {0, 0};
    const int64_t strides[] = {u->stride, u->stride}, pad = (u->kernel - 1) / 2,
                  pads[] = {pad, pad};
    const struct leo_op_tensor weight = half_weights(net, u);
    NETWORK_RUN(net, "ConvolutionBackward", tensor(dz), tensor(&u->half_x), tensor(&weight),
                leo_op_arg_none(), leo_op_arg_ints(strides, 2), leo_op_arg_ints(pads, 2),
                leo_op_arg_ints(ones, 2), number(0), leo_op_arg_ints(zeros, 2), number(1),
                leo_op_arg_bools(wanted, 3), number(0), dx ? tensor(dx) : leo_op_arg_none(),
                tensor(dw), leo_op_arg_none());
    network_free(net, &weight);
}

struct leo_op_tensor network_unit_backward(struct network *net, struct network_unit *u,
                                           const struct leo_op_tensor *gradient, bool wanted)
{
    const bool mask[] = {wanted, true, false};
    struct network_param *scale = &net->param[u->scale], *offset = &net->param[u->offset];
    const struct leo_op_tensor dz = network_map(net, net->maps, u->out, u->z.dim[2]);
    NETWORK_RUN(net, "AclBnUpdateGrad", tensor(gradient), tensor(&u->z), tensor(&u->batch[0]),
                tensor(&u->batch[1]), number(epsilon), tensor(&scale->gradient),
                tensor(&offset->gradient));
    NETWORK_RUN(net, "AclBnReduceGrad", tensor(gradient), tensor(&u->z), tensor(&scale->gradient),
                tensor(&offset->gradient), tensor(&scale->value), tensor(&u->batch[0]),
                tensor(&u->batch[1]), number(epsilon), tensor(&dz));
    network_free(net, &u->z);
    network_free(net, &u->batch[0]);
    network_free(net, &u->batch[1]);
    const struct leo_op_tensor half_dz = network_cast(net, &dz, LEO_DTYPE_F16),
                               dw =
                                   as_filter(u, net->param[u->weight].gradient.addr, LEO_DTYPE_F32);
    struct leo_op_tensor half_dx = {.addr = 0}, dx;
    if (wanted) {
        half_dx = network_map(net, LEO_DTYPE_F16, u->in, u->size);
    }
    convolution_backward(net, u, &half_dz, mask, wanted ? &half_dx : NULL, &dw);
    network_free(net, &dz);
    network_free(net, &half_dz);
    if (u->owns_x) {
        network_free(net, &u->half_x);
    }
    if (!wanted) {
        return half_dx;
    }
    dx = network_cast(net, &half_dx, net->maps);
    if (dx.addr != half_dx.addr) {
        network_free(net, &half_dx);
    }
    return dx;
}

struct leo_op_tensor network_relu(struct network *net, struct leo_op_tensor x)
{
    const struct leo_op_tensor y = network_map(net, x.dtype, x.dim[1], x.dim[2]);
    NETWORK_RUN(net, "Relu", tensor(&x), tensor(&y));
    network_free(net, &x);
    return y;
}

struct leo_op_tensor network_relu_backward(struct network *net, struct leo_op_tensor gradient,
                                           struct leo_op_tensor y)
{
    const struct leo_op_tensor dx = network_map(net, y.dtype, y.dim[1], y.dim[2]);
    NETWORK_RUN(net, "ThresholdBackward", tensor(&gradient), tensor(&y), number(0), tensor(&dx));
    network_free(net, &gradient);
    network_free(net, &y);
    return dx;
}

void network_adam(struct network *net)
{
    for (unsigned i = 0; i < net->params; i++) {
        const struct network_param *p = &net->param[i];
        NETWORK_RUN(net, "ApplyAdam", tensor(&p->value), tensor(&p->mean), tensor(&p->square),
                    tensor(&net->adam[0]), tensor(&net->adam[1]), tensor(&net->adam[2]),
                    tensor(&net->adam[3]), tensor(&net->adam[4]), tensor(&net->adam[5]),
                    tensor(&p->gradient), number(0), number(0));
    }
    for (unsigned i = 0; i < 2; i++) { // the powers of the next step
        NETWORK_RUN(net, "InplaceMul", tensor(&net->adam[i]), tensor(&net->adam[3 + i]));
    }
}
