/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who wrote what in global memory lately, kept while a kernel runs that polls it: a core that reads
 * a polled word finds out which store it saw. Each core notes its own; others look between rounds.
 */
#pragma once

#include "../footprint.h"
#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

/** A write to global memory. */
struct sim_store {
    struct sim_span span;
    uint64_t number; /**< of the core's stores; of copies: picoseconds of their end */
    double at;       /**< of copies: the same as a cycle */
    uint64_t task;   /**< of copies: on the tape */
};

struct sim_store_list {
    struct sim_store *item;
    size_t count, capacity;
};

/** One list a core, and one for copies. */
struct sim_stores {
    unsigned cores;
    struct sim_store_list list[];
};

/** NULL: no memory. */
struct sim_stores *sim_stores_create(unsigned cores);
void sim_stores_destroy(struct sim_stores *stores);
/** Those of the cores. */
void sim_stores_clear(struct sim_stores *stores);
/** Appends; when there is no memory or no room, the older half is forgotten. */
void sim_stores_add(struct sim_store_list *list, const struct sim_store *store);
/** Of one list, the latest that touches the bytes; NULL: none does. */
const struct sim_store *sim_stores_find(const struct sim_store_list *list, uint64_t addr,
                                        uint64_t bytes);
/** Forgets the stores before the first for which `is_needed` holds. */
void sim_stores_trim(struct sim_store_list *list,
                     bool (*is_needed)(const struct sim_store *store, void *context),
                     void *context);
/** One run of bytes. */
struct sim_span sim_store_span(uint64_t addr, uint64_t bytes);
