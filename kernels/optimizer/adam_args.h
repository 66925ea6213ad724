/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of a step of Adam in one pass. Tensors are dense f32; block b works on elements
 * [b * per_block, (b + 1) * per_block) of `count`. */
#pragma once

#include <stdint.h>

enum { OP_ADAM_TILE = 4096 }; /**< elements in UB at a time */

struct op_adam_args {
    uint64_t in[4];  /**< var, m, v, gradient */
    uint64_t out[3]; /**< var, m, v: the inputs, or apart from them */
    uint64_t beta1_power, beta2_power, rate, beta1, beta2, epsilon; /**< a number each */
    uint64_t count, per_block; /**< per_block is a multiple of 16 elements */
};

enum { OP_ADAM_ADDRESSES = 13 };
