/* SPDX-License-Identifier: Apache-2.0 */
/* What plans know of a chip: its capabilities, rates that follow from its SoC file, and limits of
 * the device programs of its architecture. */
#pragma once

#include <leo/runtime.h>
#include <stdbool.h>
#include <stdint.h>

/** Limits of the device programs, one row an architecture (chip.c). */
struct op_chip_limits {
    uint32_t arch;
    uint32_t matmul_k_chunk;   /**< k elements of one half of L1, of the largest tile */
    uint32_t matmul_k_max;     /**< the same of small tiles, which may be deeper */
    uint32_t matmul_band;      /**< rows of tiles that are worked on together */
    uint32_t matmul_share;     /**< columns that a tile of a core's share is a multiple of */
    uint32_t matmul_read_rate; /**< bytes a cycle and core from global memory, for choosing tiles */
    uint32_t ub_bytes; /**< that programs are laid out for, but those that follow the chip */
};

/** Rates are bytes a cycle. Made once for a device and constant from then on. */
struct op_chip {
    struct leo_caps caps;
    struct op_chip_limits limits;
    uint32_t block_spread;   /**< cycles from the start of a block of a launch to the next one's */
    uint32_t tile_m, tile_n; /**< largest tile of a product's result: fills L0C */
    uint32_t l1_bytes;       /**< of the chip, or the least that tiles need */
    uint32_t l0_half;        /**< bytes of the smaller of L0A and L0B, halved: whole fractals */
    uint32_t l0c_blocks;     /**< of 256 rows and 16 columns of f32 that L0C holds, at most 64 */
    uint32_t cube_m, cube_n, cube_k; /**< of a step of the Cube, a cycle: of 16-bit operands */
    uint32_t request_bytes;          /**< that pieces are multiples of, or loads go line by line */
    uint32_t core_read_rate;         /**< of one core alone: what its requests under way allow */
    uint32_t core_miss_rate;         /**< the same of what the L2 lacks */
    uint32_t l2_read_rate;           /**< of each core while all of them read what the L2 holds */
    uint32_t line_rate;              /**< the same of loads that go line by line */
    bool widens_bf16;    /**< the card has bf16, its programs here have no lanes for it */
    uint32_t line_total; /**< of one line of the L2, for all cores that read it */
};

/**
 * Fills `chip` with the numbers of `device`: those of its SoC file, whatever they are.
 * LEO_ERR_UNSUPPORTED if no device programs are built for its architecture.
 */
LEO_MUST_CHECK leo_status op_chip_of_device(struct leo_rt_device *device, struct op_chip *chip);

/** LEO_ERR_UNSUPPORTED, with a text, if the program needs larger buffers than the chip has. */
LEO_MUST_CHECK leo_status op_chip_check_program(const struct op_chip *chip, const char *program);

/** Cores that may read the same lines at a time. */
uint32_t op_chip_line_sharers(const struct op_chip *chip);

/**
 * The address for a launch that reads an operand once and moves `bytes` in all. If the L2 cannot
 * hold them, the address says that the operand bypasses L2 allocation; hits are still served.
 */
uint64_t op_chip_read_once(const struct op_chip *chip, uint64_t addr, uint64_t bytes);
