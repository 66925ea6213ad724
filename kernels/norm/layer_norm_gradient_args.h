/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of layer_norm_gradient.c. */
#pragma once

#include <stdint.h>

enum {
    OP_NORM_GRADIENT_MAX = 4096, /**< elements of a row */
};

/**
 * Dense rows of f32, f16 or bf16. With c = in - mean and g = gradient * weight, sums and means over
 * a row: out = inverse (g - mean(g) - c inverse^2 mean(g c)). Block b works on rows [b * per_block,
 * (b
 * + 1) * per_block) and leaves its sums of gradient * c * inverse and of gradient over the rows at
 * parts + b * 2 * pitch f32, pitch apart.
 */
struct op_layer_norm_gradient_args {
    uint64_t out; /**< 0: not wanted */
    uint64_t in, gradient;
    uint64_t weight;        /**< f32, one for each element of a row; 0: none */
    uint64_t mean, inverse; /**< f32 of each row; mean 0: it is 0 */
    uint64_t parts;
    uint64_t rows, length, per_block;
    uint32_t pitch;
    uint8_t type;
};
