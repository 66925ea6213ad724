/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of fused attention and of its gradient. */
#pragma once

#include <stdint.h>

/** Sizes of the programs, and of the memory they work in. */
enum op_attention_size {
    OP_ATTENTION_ROWS = 128,           /**< queries of a task */
    OP_ATTENTION_CHUNK = 128,          /**< keys of a product */
    OP_ATTENTION_BLOCK = 512,          /**< most keys of a step, a multiple of the chunk */
    OP_ATTENTION_FEATURES = 128,       /**< most features of a head */
    OP_ATTENTION_SLOTS = 3,            /**< steps under way */
    OP_ATTENTION_GRADIENT_BLOCK = 256, /**< most keys of a step of the gradient */
    OP_ATTENTION_PIECE = 40960,        /**< most bytes of scores in the unified buffer at a time */
    OP_ATTENTION_GAP = 256,            /**< bytes between rows of them */
    OP_ATTENTION_PIECE_ROWS = 64,
};

/** Addresses, and bytes from one member of the batch, and from one head, to the next. */
struct op_attention_tensor {
    uint64_t batch, head;
    uint32_t pitch; /**< elements from row to row */
};

/**
 * A tensor of 16-bit types is [batch, heads, rows, features]; `heads` are those of keys and values,
 * each for `groups` heads of queries. A task is up to OP_ATTENTION_ROWS queries of a head, a step
 * `block` keys of it; tasks are dealt to groups of cores in turn. A query sees the keys from its
 * own number + low to its own number + high.
 */
struct op_attention_args {
    uint64_t q, k, v;
    uint64_t bias;     /**< 0, or f32 that are added to the scores */
    uint64_t out;      /**< 16-bit type */
    uint64_t max, sum; /**< f32 [batch, heads * groups, queries, 8]: a number eight times */
    uint64_t work;     /**< op_attention_group_bytes for each group */
    /* The gradient: `dy` is placed as out is, mean is f32 [batch, heads * groups, queries], weights
     * and slopes are [batch, heads * groups, queries, keys], dense. */
    uint64_t dy, mean, weights, slopes;
    struct op_attention_tensor q_at, k_at, v_at, out_at, bias_at;
    uint32_t batch, heads, groups;
    uint32_t queries, keys, features, values; /**< values: features of v */
    uint32_t block, piece_rows; /**< piece_rows: of scores in the unified buffer, a multiple of 8 */
    int32_t low, high;
    float scale;
    uint32_t bf16;
};

/** Scores, weights and products of a step. */
static inline uint64_t op_attention_slot_bytes(uint32_t block)
{
    return OP_ATTENTION_ROWS * ((uint64_t)block * 6 + OP_ATTENTION_FEATURES * 4);
}

static inline uint64_t op_attention_group_bytes(uint32_t block)
{
    return OP_ATTENTION_SLOTS * op_attention_slot_bytes(block);
}
