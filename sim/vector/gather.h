/* SPDX-License-Identifier: Apache-2.0 */
/* What meaning and footprint of gathering instructions share. */
#pragma once

#include "foot_vector.h"

#include <string.h>

#define VEC_GROUP      8u      /**< blocks that vbrcb and vgatherb write a repeat */
#define VEC_PATTERNS   8u      /**< 0: bits in memory; 1..7: built in */
#define FOOT_MAX_LANES 262144u /**< more elements than any unified buffer has bytes */

struct vec_gmask {
    uint32_t bytes, repeats, lanes;
    unsigned pattern;
};

/** Configuration and mask mode of vreducev2; false: not legal. */
bool vec_gmask_unpack(const struct sim_core *core, const struct sim_op *op, struct vec_gmask *mask);

/** Whether lane `lane` of a repeat is kept. `bits` are the repeat's. */
static inline bool vec_gmask_keeps(const struct vec_gmask *mask, const uint8_t *bits, uint32_t lane)
{
    // by pattern: every second, every fourth, all
    static const uint8_t built_in[VEC_PATTERNS] = {0x00, 0x55, 0xaa, 0x11, 0x22, 0x44, 0x88, 0xff};
    return mask->pattern == 0 ? bits[lane / 8] >> (lane % 8) & 1
                              : built_in[mask->pattern] >> (lane % 8) & 1;
}

static inline uint32_t vec_offset(const uint8_t *offsets, uint64_t index)
{
    uint32_t offset;
    memcpy(&offset, offsets + index * sizeof(offset), sizeof(offset));
    return offset;
}
