/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the caches of a core's scalar unit hold: instructions and global data. They keep no data
 * (decision 23) and are empty at the start of a block. What is not there is counted and reported to
 * the time log; how long it takes is the engine's matter (time/replay.c).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sim_config;

enum {
    SIM_CACHE_WAYS = 4,
    SIM_DATA_LINES = 2048, /* most a chip may have */
    SIM_TEXT_LINES = 64
};

struct sim_caches {
    uint32_t data_line, data_sets; /**< bytes; lines by SIM_CACHE_WAYS */
    uint32_t text_line, text_lines;
    uint64_t data[SIM_DATA_LINES];                      /**< line + 1, 0 = free */
    uint8_t data_next[SIM_DATA_LINES / SIM_CACHE_WAYS]; /**< way that goes next */
    uint64_t text[SIM_TEXT_LINES];
    uint32_t text_next, text_used;
    uint64_t text_last;                /**< line + 1 of the last instruction */
    uint32_t data_missed, text_missed; /**< since reported */
    bool has_data;
};

void sim_caches_init(struct sim_caches *caches, const struct sim_config *config);
/** Nothing is held but the line of the first instruction,
 * whose fetch is part of a block's start. */
void sim_caches_begin(struct sim_caches *caches, uint64_t pc);
/** A load of global memory. False: the line was not there, and `*evicted` is the address of one
 * that no longer is, or UINT64_MAX. */
bool sim_caches_load(struct sim_caches *caches, uint64_t addr, uint64_t *evicted);
/** Forgets the line of an address; UINT64_MAX: all. */
void sim_caches_drop(struct sim_caches *caches, uint64_t addr);
void sim_caches_fetch_other(struct sim_caches *caches, uint64_t line);

/** An instruction at `pc` is carried out. */
static inline void sim_caches_fetch(struct sim_caches *caches, uint64_t pc)
{
    const uint64_t line = pc / caches->text_line + 1;
    if (line != caches->text_last) {
        sim_caches_fetch_other(caches, line);
    }
}
