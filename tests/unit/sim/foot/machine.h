/* SPDX-License-Identifier: Apache-2.0 */
/* A core whose memories are small enough to be compared as a whole, and random legal instructions
 * for it: operands, configuration words and control registers from the tables. */
#pragma once

#include "core/core.h"
#include "memory/space.h"

#include <stdbool.h>

#define MACHINE_GM UINT64_C(0x100000000)

/** All memories in one piece of bytes, so that states are copied and compared in one go. */
enum {
    MACHINE_UB = 0x4000,
    MACHINE_L1 = 0x3000,
    MACHINE_L0 = 0x1800, /**< L0A and L0B each */
    MACHINE_L0C = 0x4000,
    MACHINE_BT = 0x400,
    MACHINE_FB = 0x800,
    MACHINE_GM_BYTES = 0x3000,
    MACHINE_BYTES = MACHINE_UB + MACHINE_L1 + 2 * MACHINE_L0 + MACHINE_L0C + MACHINE_BT +
                    MACHINE_FB + MACHINE_GM_BYTES
};

/** What an instruction may change besides memory. */
struct machine_results {
    uint64_t cmpmask[2], acc_val, max_min_cnt, rsvd_cnt, vms4_sr, overflow;
    uint16_t va[8][8];
};

struct machine {
    struct sim_core core;
    struct sim_config config;
    struct sim_space space;
    uint8_t *memory;                    /**< MACHINE_BYTES */
    size_t offset[LEO_MEM_SPACE_COUNT]; /**< of each memory in it; GM included */
    size_t bytes[LEO_MEM_SPACE_COUNT];
    uint64_t seed;
};

/** simd NULL: the best of the host. NULL: this host has no such path. */
struct machine *machine_create(uint32_t arch, const char *simd);
void machine_destroy(struct machine *machine);
uint64_t machine_random(struct machine *machine);
/** A number below `limit`. */
uint32_t machine_below(struct machine *machine, uint32_t limit);

/** Contents of all memories: numbers of all kinds, and for some instructions what they have to be.
 */
void machine_fill(struct machine *machine, enum leo_insn insn, uint8_t *memory);
/** Control registers: masks, modes, addresses, scale words. */
void machine_fill_csrs(struct machine *machine);
/** Operands of one instruction; they may be illegal. */
struct sim_op machine_operands(struct machine *machine, enum leo_insn insn);
/** The same with other scalar bits, among them `word`, other scale words and compare bits. */
void machine_rescale(struct machine *machine, struct sim_op *op, uint32_t word);
/** What the last instruction left besides memory. */
struct machine_results machine_results(const struct machine *machine);
