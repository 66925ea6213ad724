/* SPDX-License-Identifier: Apache-2.0 */
/* Records that are sorted and merged, largest key first. HW-VEC-60 .. HW-VEC-63. */
#pragma once

#include "foot_vector.h"

#define VEC_LISTS 4u

/**
 * Shape of a record. The second generation has 8 bytes: the score (f32, or f16 and two bytes of 0)
 * and a 32-bit index. The first has region proposals: 8 f16, the score is the fifth.
 */
struct vec_record {
    uint32_t bytes, key_at;
    bool wide;      /**< the key is an f32, else an f16 */
    uint32_t group; /**< records that vbitsort sorts at a time */
};

struct vec_record vec_record_of(const struct sim_core *core, enum leo_dtype type);
/** A key as a number whose order is that of the keys: NaN above infinity, -0 equal to +0. */
int64_t vec_key(const struct vec_record *record, const uint8_t *at);

/** One merge of up to four lists. */
struct vec_merge {
    struct vec_record record;
    const uint8_t *list[VEC_LISTS];
    uint32_t length[VEC_LISTS]; /**< 0: the list is not there */
    bool exhaust;               /**< ends with the first list that is used up */
    uint32_t taken[VEC_LISTS];  /**< result: records taken from each */
};

/** Merges to `dst` (NULL: counts only); the number of records written. */
uint32_t vec_merge_run(struct vec_merge *merge, uint8_t *dst);
/** Configuration of vmrgsort4; false: not legal. The lists are not set. */
bool vec_merge_unpack(const struct sim_core *core, const struct sim_op *op, struct vec_merge *merge,
                      uint32_t *repeats);
/** UB address of list `i`: the register holds four block numbers. */
static inline uint64_t vec_merge_list(const struct sim_op *op, unsigned i)
{
    return (op->b >> (16 * i) & 0xffff) * SIM_VEC_BLOCK_BYTES;
}
