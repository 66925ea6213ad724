/* SPDX-License-Identifier: Apache-2.0 */
/* What the scalar unit hands to the other units, and what they hand back. */
#pragma once

#include <leo/faults.h>
#include <leo/insn.h>
#include <leo/layout.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_core;
struct sim_footprint;
struct sim_insn;

/** One unit instruction with its register values, as issued. */
struct sim_op {
    enum leo_insn insn;
    uint8_t sub;         /**< u4 form: the rs2 field */
    uint16_t imm;        /**< i form: 12 bits */
    uint64_t a, b, c, d; /**< x[rd], x[rs1], x[rs2] (0 in u4 form), x[rs3] */
    uint64_t pc;         /**< link address */
    uint32_t word;
    /* Set by the core before an exec, foot or cost function sees it. */
    const struct sim_insn *row;       /**< its line of the table */
    const struct sim_footprint *foot; /**< what it touches; being filled in foot functions */
};

/** Why a core stopped. `code` LEO_FAULT_NONE = it did not. */
struct sim_fault {
    enum leo_fault code;
    enum leo_pipe unit;
    enum leo_mem_space space;
    uint64_t pc, addr, bytes;
    uint32_t word, align; /**< align: what LEO_FAULT_MISALIGNED_LOCAL asks for, else 0 */
    uint32_t caller;      /**< link address the function at pc returns to; 0 = none, or not known */
    uint8_t operand;      /**< number + 1 of the operand whose address it is; 0 = not known */
};

/** What one instruction costs its unit. */
struct sim_cost {
    double head_cycles;    /**< from start to the first result, or to the first byte asked for */
    double busy_cycles;    /**< from start to the last result, head included; of what moves global
                              memory: the core's part of it, without the head */
    double overlap_cycles; /**< so much before its end the pipe starts the next one; 0 = none */
    double bank_cycles;    /**< of busy_cycles: those lost to banks of the buffer */
    uint64_t gm_read_bytes, gm_write_bytes; /**< as global memory moves them: whole lines */
    uint32_t gm_request;                    /**< bytes of one request to global memory */
    uint32_t gm_path;                       /**< most bytes per cycle on the way */
    uint64_t work;                          /**< bytes moved or elements computed, for traces */
};

/** Executes one instruction whose footprint is mapped. False: fault set, nothing after it runs. */
typedef bool (*sim_exec_fn)(struct sim_core *core, const struct sim_op *op);
/** What it costs. */
typedef void (*sim_cost_fn)(const struct sim_core *core, const struct sim_op *op,
                            struct sim_cost *cost);
/** Reads the configuration words and fills in what the instruction touches (core/footprint.h).
 * False: fault set, the words are not legal. */
typedef bool (*sim_foot_fn)(struct sim_core *core, const struct sim_op *op,
                            struct sim_footprint *foot);

/** traits= of a line of isa/insn: what its footprint has besides its form. */
enum sim_trait {
    SIM_TRAIT_ACCUMULATE = 1, /**< reads the destination too */
    SIM_TRAIT_BITS = 2,       /**< the destination is packed bits, one a lane */
    SIM_TRAIT_MIXED = 4,      /**< mod 1: destination f32, sources f16 */
    SIM_TRAIT_NARROW = 8,     /**< the destination has half the width of the sources */
    SIM_TRAIT_HALF = 32,      /**< mod 1: results in the upper half of each destination block */
    SIM_TRAIT_SELECT = 16     /**< mod 1, 2: reads bits at CSR selmask_addr; mod 1: c is a scalar */
};

/** What the simulator knows of an instruction: generated from exec=, foot=, mode=, traits= and the
 * operands of its line. */
struct sim_insn {
    sim_exec_fn exec;   /**< NULL: planned */
    sim_cost_fn cost;   /**< NULL: done by the scalar unit */
    sim_foot_fn foot;   /**< NULL: touches no memory */
    uint8_t member;     /**< what of its family exec computes */
    uint8_t mode;       /**< highest legal value of the mod or order field */
    uint8_t traits;     /**< enum sim_trait bits */
    uint8_t operand[4]; /**< a b c d: enum leo_insn_operand */
    uint8_t pipe;       /**< enum leo_pipe */
    bool moves_gm, writes_gm;
    uint8_t cores[2]; /**< by leo_arch_index(): bit n = kind n of enum leo_core_kind has it */
};

/** check_field: whether its operand fits the field that its immediate names. */
static inline bool sim_field_fits(uint32_t imm, uint64_t value)
{
    return value >> ((imm - 1) & 31) >> 1 == 0; // a width of 32 bits stands there as 0
}

/** By enum leo_insn. */
extern const struct sim_insn sim_insns[LEO_INSN_COUNT];
