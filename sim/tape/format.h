/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a tape: what was launched on a chip and what each block did, without values and
 * without prices, so that another chip can price it. A head, the text of the chip, then chunks;
 * everything is little-endian and a multiple of 8 bytes long. Read and written by the same host: no
 * exchange format.
 */
#pragma once

#include "../core/core.h"
#include <leo/layout.h>
#include <leo/link_note.h>
#include <stdint.h>
#include <string.h>

#define SIM_TAPE_MAGIC "LEOTAPE6"

struct sim_tape_head {
    char magic[8];
    char soc[32];
    uint32_t arch;
    uint32_t soc_bytes; /**< of the text of the chip's file, behind this head, ended by zeros */
    uint64_t gm_base, gm_bytes; /**< of its device memory */
};

enum sim_tape_kind {
    SIM_TAPE_TASK = 1, /**< an entry was fetched: struct sim_tape_task */
    SIM_TAPE_BLOCK,    /**< a core's part of a block has ended: struct sim_tape_block, its items */
    SIM_TAPE_DONE,     /**< a task is complete: struct sim_tape_done */
    SIM_TAPE_NAME,     /**< of a tag: the tag, then text ended by zeros */
    SIM_TAPE_END,      /**< the chip was closed: nothing is missing */
    SIM_TAPE_LINK      /**< what the host did with other cards: struct leo_link_note */
};

struct sim_tape_chunk {
    uint32_t kind, reserved0;
    uint64_t bytes; /**< behind this head */
};

/** Tasks are numbered from 0 in the order of the file. */
struct sim_tape_task {
    uint32_t queue;
    uint32_t is_first;   /**< of its queue: it waits for no gap between tasks */
    uint64_t seen;       /**< tasks that were complete when the host submitted it */
    uint64_t fetched_ps; /**< when the chip took it */
    struct leo_sqe entry;
};

struct sim_tape_block {
    uint32_t task, block, member; /**< member: of its group, 0 the cube core */
    uint32_t core;                /**< that ran it */
    uint64_t first_store;         /**< number of its first store among those of the core */
};

struct sim_tape_done {
    uint32_t task;
    uint32_t fault; /**< enum leo_fault */
    uint64_t start_ps, end_ps;
    uint64_t looked; /**< 1: read what was not computed (leo_sim_opts.no_values) */
};

/** Items of a block; the first byte tells which. What a time log holds has its sim_time_kind. */
enum { SIM_TAPE_STATE = 0x80 };

/** SIM_TIME_OP: an instruction of a unit, as issued. */
struct sim_tape_op {
    uint8_t kind, sub;
    uint16_t insn, imm, reserved0;
    uint32_t pc, reserved1;
    double scalar; /**< cycles of the scalar unit since the item before, issue included */
    uint64_t a, b, c, d;
};

/** Any other record of a time log. */
struct sim_tape_plain {
    uint8_t kind, pipe, dst, id;
    uint32_t pc;
    double scalar;
};

/** SIM_TIME_STORE: the pipe's writes so far are store `number` of the core. SIM_TIME_POLL: what was
 * read is what store `number` of core `id` wrote, or (dst 1) the copy that is task `number`. */
struct sim_tape_store {
    uint8_t kind, pipe, dst, id;
    uint32_t pc;
    double scalar;
    uint64_t number;
};

/** Word `index` of what instructions take their values from besides registers. */
struct sim_tape_change {
    uint8_t kind, reserved0;
    uint16_t index;
    uint32_t reserved1;
    uint64_t value;
};

/** Those words: masks, control, plain registers, VA registers. */
enum {
    SIM_TAPE_CSR_WORDS = sizeof(struct sim_csrs) / sizeof(uint64_t),
    SIM_TAPE_VA_WORDS = 8 * 8 * sizeof(uint16_t) / sizeof(uint64_t),
    SIM_TAPE_WORDS = 4 + SIM_TAPE_CSR_WORDS + SIM_TAPE_VA_WORDS
};
_Static_assert(sizeof(struct sim_csrs) % sizeof(uint64_t) == 0, "words and nothing else");

_Static_assert(sizeof(struct leo_link_note) % 8 == 0, "a chunk's");

struct sim_tape_state {
    uint64_t word[SIM_TAPE_WORDS];
};

static inline void sim_tape_state_take(struct sim_tape_state *state, const struct sim_core *core)
{
    state->word[0] = core->vmask[0];
    state->word[1] = core->vmask[1];
    state->word[2] = core->ctrl;
    state->word[3] = core->selmask_addr;
    memcpy(state->word + 4, &core->csr, sizeof(core->csr));
    memcpy(state->word + 4 + SIM_TAPE_CSR_WORDS, core->va, sizeof(core->va));
}

static inline void sim_tape_state_give(const struct sim_tape_state *state, struct sim_core *core)
{
    core->vmask[0] = state->word[0];
    core->vmask[1] = state->word[1];
    core->ctrl = state->word[2];
    core->selmask_addr = state->word[3];
    memcpy(&core->csr, state->word + 4, sizeof(core->csr));
    memcpy(core->va, state->word + 4 + SIM_TAPE_CSR_WORDS, sizeof(core->va));
}
