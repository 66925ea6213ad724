/* SPDX-License-Identifier: Apache-2.0 */
/* What operators want to know of a chip beyond its capabilities: tile sizes, one file a chip. */
#pragma once

#include <leo/runtime.h>
#include <stdint.h>

struct op_chip {
    const char *soc; /**< name in its SoC file */
    uint32_t arch;
    uint32_t matmul_tile_m, matmul_tile_n; /**< largest tile of the result, multiples of 16 */
    uint32_t matmul_k_chunk;               /**< k elements of one half of L1, of the largest tile */
    uint32_t matmul_k_most;                /**< the same of small tiles, which may be deeper */
    uint32_t matmul_band;                  /**< rows of tiles that are worked on together */
    uint32_t matmul_share;     /**< columns that a tile of a core's share is a multiple of */
    uint32_t matmul_read_rate; /**< bytes a cycle and core from global memory, for choosing tiles */
    uint32_t l2_bytes;         /**< and bytes a cycle and core of what lies there */
    uint32_t l2_read_rate;
    uint32_t core_read_rate;    /**< bytes a cycle of one core alone: what its requests allow */
    uint32_t core_miss_rate;    /**< the same of what the L2 lacks */
    uint32_t request_bytes;     /**< that pieces are multiples of, or loads go line by line, */
    uint32_t line_rate;         /**< so many bytes a cycle */
    uint32_t line_total;        /**< bytes a cycle of a line of the L2 for all cores that read it:
                                     requests in flight in gm_same_line_ns */
    uint32_t conv_forward_m;    /**< most positions of a tile of a forward convolution */
    uint32_t conv_forward_stay; /**< most bytes of its weights that stay in L1 */
};

extern const struct op_chip op_chip_ascend910a;
extern const struct op_chip op_chip_ascend910b1;

/** Cores that may read the same lines at a time. */
static inline uint32_t op_chip_line_sharers(const struct op_chip *chip)
{
    return chip->line_total / chip->l2_read_rate;
}

/** The chip of that name, else the one of that architecture; NULL if there is none. */
const struct op_chip *op_chip_find(const struct leo_caps *caps);
/**
 * The address for a launch that reads an operand once and moves `bytes` in all: past the L2 if the
 * L2 could not hold them. What they would drive out stays, and they find what the L2 has of them.
 */
uint64_t op_chip_read_once(const struct leo_caps *caps, uint64_t addr, uint64_t bytes);
