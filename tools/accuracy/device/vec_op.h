/* SPDX-License-Identifier: Apache-2.0 */
/* What vec_op is asked to do: shared by host and device. */
#pragma once

#include <stdint.h>

/** The vector instructions of isa/insn/vector.isa, in its order. */
enum vec_op {
#define VEC_WORD(name, opcode, f3, f2, is_u4, sub, config) VEC_OP_##name,
#include "vec_words.def"
#undef VEC_WORD
    VEC_OP_COUNT
};

/** One instruction with its operands, `count` times. */
struct vec_shape {
    uint64_t a, b, c, d; /**< its registers; d: the configuration word */
    uint64_t va[4][8];   /**< UB addresses of the VA registers */
    uint32_t op, count;
    uint32_t barrier; /**< a barrier behind each instruction */
    uint32_t elems;   /**< counter mode; 0 = by repeats, all lanes */
};
