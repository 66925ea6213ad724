/* SPDX-License-Identifier: Apache-2.0 */
/* Submission and completion rings, fault records. Nothing in them is trusted. */
#include "function.h"

#include <leo/faults.h>
#include <leo/ring_math.h>

static bool is_usable(const struct sim_ring *ring)
{
    return ring->depth != 0 && !ring->broken;
}

bool sim_ring_has_entry(struct sim_function *function, unsigned queue)
{
    const struct sim_ring *ring = &function->ring[queue];
    if (!is_usable(ring)) {
        return false;
    }
    uint32_t tail = atomic_load(&function->sq_tail[queue]);
    return leo_ring_distance(ring->sq_head, tail, ring->depth) != 0;
}

/* Its memory is no longer mapped: the error goes to the fault ring. */
static void break_ring(struct sim_function *function, unsigned queue, uint64_t addr, uint64_t bytes)
{
    function->ring[queue].broken = true;
    struct leo_fault_record record = {
        .code = LEO_FAULT_DMA_OUT_OF_RANGE,
        .core = LEO_NO_CORE,
        .queue = (uint16_t)queue,
        .block = LEO_NO_BLOCK,
        .addr = addr,
        .bytes = bytes,
    };
    (void)sim_fault_write(function, &record);
    if (queue == 0) {
        sim_function_die(function);
    }
}

bool sim_ring_fetch(struct sim_function *function, unsigned queue, struct leo_sqe *entry)
{
    struct sim_ring *ring = &function->ring[queue];
    if (!sim_ring_has_entry(function, queue)) {
        return false;
    }
    uint64_t addr = ring->sq_base + (uint64_t)ring->sq_head * sizeof(*entry);
    if (!sim_dma_read(&function->dma, addr, entry, sizeof(*entry))) {
        break_ring(function, queue, addr, sizeof(*entry));
        return false;
    }
    ring->sq_head = leo_ring_next(ring->sq_head, ring->depth);
    return true;
}

bool sim_ring_peek(struct sim_function *function, unsigned queue, uint32_t place,
                   struct leo_sqe *entry)
{
    const struct sim_ring *ring = &function->ring[queue];
    if (!is_usable(ring)) {
        return false;
    }
    const uint32_t tail = atomic_load(&function->sq_tail[queue]);
    if (place >= leo_ring_distance(ring->sq_head, tail, ring->depth)) {
        return false;
    }
    const uint32_t at = (ring->sq_head + place) & (ring->depth - 1);
    return sim_dma_read(&function->dma, ring->sq_base + (uint64_t)at * sizeof(*entry), entry,
                        sizeof(*entry));
}

bool sim_ring_has_room(const struct sim_function *function, unsigned queue)
{
    const struct sim_ring *ring = &function->ring[queue];
    // Of a broken ring nothing is kept waiting: its completions are dropped.
    return !is_usable(ring) ||
           !leo_ring_is_full(atomic_load(&function->cq_head[queue]) & (ring->depth - 1),
                             ring->cq_tail, ring->depth);
}

void sim_ring_complete(struct sim_function *function, unsigned queue, struct leo_cqe *entry)
{
    struct sim_ring *ring = &function->ring[queue];
    if (!is_usable(ring)) {
        return;
    }
    entry->queue = (uint16_t)queue;
    entry->phase = ring->phase;
    uint64_t addr = ring->cq_base + (uint64_t)ring->cq_tail * sizeof(*entry);
    if (!sim_dma_publish(&function->dma, addr, entry, sizeof(*entry),
                         offsetof(struct leo_cqe, phase))) {
        break_ring(function, queue, addr, sizeof(*entry));
        return;
    }
    ring->phase = leo_ring_next_phase(ring->cq_tail, ring->depth, ring->phase);
    ring->cq_tail = leo_ring_next(ring->cq_tail, ring->depth);
    sim_function_raise(function, LEO_BIT_IRQ_STATUS_COMPLETION);
}

uint32_t sim_fault_write(struct sim_function *function, const struct leo_fault_record *record)
{
    uint32_t depth = atomic_load(&function->fault_depth);
    if (!leo_ring_is_depth(depth)) {
        return 0;
    }
    uint32_t index = function->fault_count & (depth - 1);
    uint64_t addr = atomic_load(&function->fault_base) + (uint64_t)index * sizeof(*record);
    if (!sim_dma_write(&function->dma, addr, record, sizeof(*record))) {
        return 0;
    }
    function->fault_count++;
    sim_function_raise(function, LEO_BIT_IRQ_STATUS_FAULT);
    return function->fault_count;
}
