/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include <leo/ring_math.h>
#include <string.h>

void drv_ring_init(struct drv_ring *ring, void *memory, uint32_t depth)
{
    struct leo_sqe *sq = memory;
    *ring = (struct drv_ring){
        .sq = sq,
        .cq = (void *)(sq + depth),
        .depth = depth,
        .phase = 1,
    };
}

void drv_ring_write(struct drv_ring *ring, const struct leo_sqe *entry)
{
    memcpy(&ring->sq[ring->tail], entry, sizeof(*entry));
}

void drv_ring_push(struct drv_ring *ring)
{
    ring->tail = leo_ring_next(ring->tail, ring->depth);
    ring->used++;
}

bool drv_ring_pop(struct drv_ring *ring, struct leo_cqe *entry)
{
    const struct leo_cqe *next = &ring->cq[ring->head];
    // The device writes the phase word last; acquire keeps the other words from being read before
    // it.
    if (ring->used == 0 || __atomic_load_n(&next->phase, __ATOMIC_ACQUIRE) != ring->phase) {
        return false;
    }
    *entry = *next;
    ring->phase = leo_ring_next_phase(ring->head, ring->depth, ring->phase);
    ring->head = leo_ring_next(ring->head, ring->depth);
    ring->used--;
    return true;
}
