/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of reductions on the vector unit. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

enum op_reduce_vector_mode {
    OP_REDUCE_VECTOR_SUM,
    OP_REDUCE_VECTOR_PROD,
    OP_REDUCE_VECTOR_MAX,
    OP_REDUCE_VECTOR_MIN,
};

/** What becomes of an element before it is joined. `beside` has a number for each of outer, where
 * inner is 1. */
enum op_reduce_step {
    OP_REDUCE_AS_IT_IS,
    OP_REDUCE_SQUARE,
    OP_REDUCE_SIZE,   /**< |x| */
    OP_REDUCE_IS_SET, /**< 1 unless it is 0 */
    OP_REDUCE_NUMBER, /**< 0 if it is NaN */
    /* Of rows. */
    OP_REDUCE_AWAY,        /**< x - beside */
    OP_REDUCE_AWAY_SQUARE, /**< its square */
    OP_REDUCE_PLACE,       /**< its place if it is beside's or NaN, else at least OP_REDUCE_FAR */
};

/**
 * in is [outer, length, inner], f32 or f16 or bf16, without gaps but between rows of `inner`
 * (in_pitch elements from one to the next). A piece of `piece` along `length` becomes one f32 of
 * out [outer, pieces, inner] (out_pitch elements from row to row), times scale.
 *
 * reduce_columns (inner > 1): work is cut into chunks of `chunk` columns; block b takes units [b *
 * per_block, ..) of [outer, pieces, chunks]. reduce_rows (inner 1): block b takes outputs [b *
 * per_block, ..), per_block a multiple of 16.
 */
struct op_reduce_vector_args {
    uint64_t out, in, beside;
    uint64_t outer, length, inner, in_pitch, out_pitch;
    uint64_t piece, pieces, per_block;
    uint32_t chunk; /**< multiple of 16, at most OP_REDUCE_CHUNK */
    float scale;
    uint8_t in_type, mode, step;
};

enum { OP_REDUCE_CHUNK = 2048, OP_REDUCE_FAR = 1 << 24 /**< f32 holds every place before */ };
