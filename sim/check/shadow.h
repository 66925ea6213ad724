/* SPDX-License-Identifier: Apache-2.0 */
/* Who touched which bytes of a memory last: pages of sorted,
 * disjoint entries, exact to the byte. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_SHADOW_PAGE  4096u
#define SIM_SHADOW_READS 3

/** Bytes [begin, end) of a page that have one history. What the numbers mean is the caller's; all 0
 * = never touched. */
struct sim_shadow_entry {
    uint16_t begin, end;
    uint32_t write;
    uint32_t read[SIM_SHADOW_READS];
};

struct sim_shadow_page {
    uint64_t number; /**< address / SIM_SHADOW_PAGE */
    uint32_t count, capacity;
    struct sim_shadow_entry *entry;
};

/** A memory. Zero-initialise. */
struct sim_shadow {
    struct sim_shadow_page *page; /**< open addressing by number; entry NULL = place is free */
    uint32_t used, places;
    bool full; /**< out of memory: nothing is noted any more */
};

/** Looks at one stretch and may change its numbers. */
typedef void (*sim_shadow_fn)(void *context, uint64_t addr, struct sim_shadow_entry *entry);

/** Calls `fn` for each stretch of [addr, addr + bytes), those never touched included; its changes
 * are kept. */
void sim_shadow_visit(struct sim_shadow *shadow, uint64_t addr, uint64_t bytes, sim_shadow_fn fn,
                      void *context);
/** Calls `fn` for each stretch that was touched; changes are not kept. */
void sim_shadow_peek(const struct sim_shadow *shadow, uint64_t addr, uint64_t bytes,
                     sim_shadow_fn fn, void *context);
/** Forgets everything, keeps the memory for it. */
void sim_shadow_clear(struct sim_shadow *shadow);
void sim_shadow_finish(struct sim_shadow *shadow);
