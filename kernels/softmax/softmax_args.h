/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of softmax and its relatives: rows along one dimension. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

/** Row word "softmax" (softmax/softmax.c). */
enum op_softmax_mode {
    OP_SOFTMAX,              /**< out = e^(a - max) / sum */
    OP_SOFTMAX_LOG,          /**< out = a - max - log sum */
    OP_SOFTMAX_BACKWARD,     /**< a = gradient, b = output: out = b (a - sum a b) */
    OP_SOFTMAX_LOG_BACKWARD, /**< out = a - e^b sum a */
};

/** Dense rows of f32, f16 or bf16. Block b works on rows [b * per_block, (b + 1) * per_block). */
struct op_softmax_vector_args {
    uint64_t out, a, b;
    uint64_t rows, length, per_block;
    uint8_t mode, type;
};
