/* SPDX-License-Identifier: Apache-2.0 */
/* What vec_op is asked to do: shared by host and device. */
#pragma once

#include <stdint.h>

/** One instruction with its operands, `count` times. */
struct vec_shape {
    uint64_t a, b, c, d; /**< its registers; d: the configuration word */
    uint64_t va[4][8];   /**< UB addresses of the VA registers */
    uint32_t op;         /**< place of the instruction in vec_words.def */
    uint32_t count;
    uint32_t barrier; /**< a barrier behind each instruction */
    uint32_t elems;   /**< counter mode; 0 = by repeats, all lanes */
};
