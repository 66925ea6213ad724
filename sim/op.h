/* SPDX-License-Identifier: Apache-2.0 */
/* What the scalar unit hands to the other units, and what they hand back. */
#pragma once

#include <leo/faults.h>
#include <leo/insn.h>
#include <leo/layout.h>
#include <stdbool.h>
#include <stdint.h>

/** One unit instruction with its register values, as issued. */
struct sim_op {
    enum leo_insn insn;
    uint8_t sub;         /**< u4 form: the rs2 field */
    uint16_t imm;        /**< i form: 12 bits */
    uint64_t a, b, c, d; /**< x[rd], x[rs1], x[rs2] (0 in u4 form), x[rs3] */
    uint64_t pc;         /**< link address */
    uint32_t word;
};

/** Why a core stopped. `code` LEO_FAULT_NONE = it did not. */
struct sim_fault {
    enum leo_fault code;
    enum leo_pipe unit;
    enum leo_mem_space space;
    uint64_t pc, addr, bytes;
    uint32_t word, align; /**< align: what LEO_FAULT_MISALIGNED_LOCAL asks for, else 0 */
};

/** What one instruction costs its unit. */
struct sim_cost {
    double head_cycles;    /**< from start to the first result */
    double busy_cycles;    /**< whole occupancy of the pipe, head included */
    double overlap_cycles; /**< part of busy that hides behind the pipe's previous instruction;
                              shrinks by any idle gap between the two: busy - max(0, overlap -
                              (start - free_at)); 0 = none */
    bool flag_drains; /**< nothing hides if the pipe set a flag since its previous instruction (DMA
                         pipes) */
    uint64_t gm_read_bytes, gm_write_bytes;
    /** Where in global memory: `gm_count` pieces of `gm_piece` bytes, `gm_step` apart from
     * `gm_addr`; 0 = not said. */
    uint64_t gm_addr, gm_count, gm_piece, gm_step;
    uint64_t gm_more, gm_more_step; /**< so many times the same again, each gm_more_step further */
    uint64_t work;                  /**< bytes moved or elements computed, for traces */
};
