/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of random numbers. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

enum op_random_mode {
    OP_RANDOM_UNIFORM,    /**< in [a, b) */
    OP_RANDOM_NORMAL,     /**< mean a, deviation b */
    OP_RANDOM_INTEGER,    /**< whole numbers in [low, low + range) */
    OP_RANDOM_BERNOULLI,  /**< 1 with probability a, or that of the element of prob */
    OP_RANDOM_KEEP_BITS,  /**< dropout mask: bit i of the output is 0 with probability a, a multiple
                             of 2^-16 */
    OP_RANDOM_APPLY_BITS, /**< in * b where the bit of the mask (prob) is 1, else 0 */
};

enum { OP_RANDOM_ADDRESSES = 5 };

/** Counters whose bits of a dropout mask go together: of each 16 bits of a counter's words, so many
 * elements in the order of the counters, the lower half of the first word first. */
enum { OP_RANDOM_BITS_GROUP = 256 };

/** Dense out[count]; element i depends on (seed, offset, i) alone. */
struct op_random_args {
    uint64_t out, prob, in; /**< in: what a dropout mask (prob) applies to */
    /** Where an i64 seed stands on the device and an i64 that is added to offset, or 0: a captured
     * graph runs again with other seeds. */
    uint64_t seed_at, offset_at;
    uint64_t count, per_block, seed, offset, range;
    int64_t low;
    double a, b;
    uint8_t out_type, prob_type, in_type, mode;
};
