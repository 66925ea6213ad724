/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a network for the workload "network": tensors in the chip's own formats out of a pool,
 * layers forward and backward through the operators, parameters and a step of Adam. The first
 * failure is kept in `status`, and later calls do nothing.
 */
#pragma once

#include "accuracy.h"

enum { NETWORK_PARAMS = 192, NETWORK_BLOCKS = 2048 };

/* A parameter: f32 as it is stored, its gradient, and Adam's two means. */
struct network_param {
    int64_t count;
    struct leo_op_tensor value, gradient, mean, square;
};

struct network {
    struct accuracy_chip *chip;
    leo_status status;
    int64_t batch;
    enum leo_dtype maps; /* type of maps between layers: f16, or f32 whose products are in f16 */
    struct network_param param[NETWORK_PARAMS];
    unsigned params;
    uint32_t seed;
    /* Memory that was used in this step and may be again: work is in the order of one stream. */
    struct {
        uint64_t addr, bytes;
        bool used;
    } block[NETWORK_BLOCKS];
    unsigned blocks;
    struct leo_op_tensor adam[6]; /* powers of both betas, rate, betas, epsilon */
};

/* Convolution without bias, then batch norm. */
struct network_unit {
    int64_t in, out, kernel, stride, size; /* channels; of x's height and width */
    unsigned weight, scale, offset;        /* parameters */
    struct leo_op_tensor running[2];
    struct leo_op_tensor half_x, z, batch[2]; /* kept for the gradient */
    bool owns_x;                              /* half_x is a copy */
};

void network_begin(struct network *net, struct accuracy_chip *chip, int64_t batch, bool half);
void network_end(struct network *net);

/** A tensor of the pool. `format` as in leo/op.h. */
struct leo_op_tensor network_tensor(struct network *net, enum leo_dtype dtype, unsigned rank,
                                    const int64_t *dim, int format);
struct leo_op_tensor network_map(struct network *net, enum leo_dtype dtype, int64_t channels,
                                 int64_t size);
void network_free(struct network *net, const struct leo_op_tensor *tensor);
/** A parameter of `count` numbers in [middle - range, middle + range]. */
unsigned network_param(struct network *net, int64_t count, float middle, float range);
void network_run(struct network *net, const char *op, const struct leo_op_arg *args,
                 unsigned count);
#define NETWORK_RUN(net, op, ...)                                                                  \
    network_run(net, op, (const struct leo_op_arg[]){__VA_ARGS__},                                 \
                sizeof((const struct leo_op_arg[]){__VA_ARGS__}) / sizeof(struct leo_op_arg))

void network_unit_init(struct network *net, struct network_unit *unit, int64_t in, int64_t out,
                       int64_t kernel, int64_t stride, int64_t size);
/** y = batch norm of x's convolution. */
struct leo_op_tensor network_unit_forward(struct network *net, struct network_unit *unit,
                                          const struct leo_op_tensor *x);
/** Gradients of the parameters and, if `wanted`, of x. */
struct leo_op_tensor network_unit_backward(struct network *net, struct network_unit *unit,
                                           const struct leo_op_tensor *gradient, bool wanted);
/** The result; its argument ends. */
struct leo_op_tensor network_relu(struct network *net, struct leo_op_tensor x);
/** Gradient of x where y = relu(x); both arguments end. */
struct leo_op_tensor network_relu_backward(struct network *net, struct leo_op_tensor gradient,
                                           struct leo_op_tensor y);
/** The same tensor in another type, or itself. */
struct leo_op_tensor network_cast(struct network *net, const struct leo_op_tensor *x,
                                  enum leo_dtype dtype);
/** A step of Adam on every parameter. */
void network_adam(struct network *net);
