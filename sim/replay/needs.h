/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers of a chip the work of a block depends on: where those are the same, so is the rest.
 */
#pragma once

#include "../config.h"
#include "../tape/tape.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Numbers that only some blocks depend on. */
enum sim_need {
    SIM_NEED_BARRIER = 1, /**< of pipes and of a core */
    SIM_NEED_FETCH = 2,   /**< lines of the scalar unit's caches */
    SIM_NEED_CROSS = 4,   /**< flags between cores */
    SIM_NEED_CUBE = 8,
    SIM_NEED_VECTOR = 16,
    SIM_NEED_LAYOUT = 32, /**< rows of layout changes */
    SIM_NEED_HBM = 64,    /**< something came from HBM, or went there */
    SIM_NEED_TIME = 128   /**< when it happens: not what an instruction costs by itself */
};

enum { SIM_NEED_WORDS = (LEO_INSN_COUNT + 63) / 64 };

struct sim_needs {
    uint64_t insn[SIM_NEED_WORDS]; /**< bits: instructions of units */
    uint32_t groups;               /**< bits of enum sim_need */
};

enum { SIM_NEEDS_BYTES = sizeof(struct sim_config) };

/** Adds what a part of a block needs. */
void sim_needs_add_part(struct sim_needs *needs, const struct sim_tape_part *part);
void sim_needs_add(struct sim_needs *needs, const struct sim_needs *more);
/** The numbers of a chip that these groups need; their bytes. Who is given the same bytes depends
 * on the same. */
size_t sim_needs_take_groups(uint32_t groups, const struct sim_config *config,
                             uint8_t bytes[SIM_NEEDS_BYTES]);
/** The same of the instructions. */
size_t sim_needs_take_insns(const struct sim_needs *needs, const struct sim_config *config,
                            uint8_t bytes[SIM_NEEDS_BYTES]);
