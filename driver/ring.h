/* SPDX-License-Identifier: Apache-2.0 */
/* A submission ring and its completion ring: entries and indices, no registers, no locks. */
#pragma once

#include <leo/layout.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Both rings of a queue. They have the same depth, a power of two, and hold at most depth - 1
 * entries. */
struct drv_ring {
    struct leo_sqe *sq;
    struct leo_cqe *cq;
    uint32_t depth;
    uint32_t tail;  /**< next free submission entry */
    uint32_t head;  /**< next completion entry to look at */
    uint32_t phase; /**< the phase word a new completion at `head` carries */
    uint32_t used;  /**< entries submitted and not yet completed */
};

/** Bytes of DMA memory for both rings: submission first, then completion. */
static inline size_t drv_ring_bytes(uint32_t depth)
{
    return (size_t)depth * (sizeof(struct leo_sqe) + sizeof(struct leo_cqe));
}

static inline bool drv_ring_is_full(const struct drv_ring *ring)
{
    return ring->used == ring->depth - 1;
}

/** Starts empty rings in `memory` (drv_ring_bytes long, zeroed). */
void drv_ring_init(struct drv_ring *ring, void *memory, uint32_t depth);
/** Writes an entry at the tail without making it visible; drv_ring_push then moves the tail. */
void drv_ring_write(struct drv_ring *ring, const struct leo_sqe *entry);
void drv_ring_push(struct drv_ring *ring);
/** Takes the next completion if there is one. */
bool drv_ring_pop(struct drv_ring *ring, struct leo_cqe *entry);
