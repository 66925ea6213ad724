/* SPDX-License-Identifier: Apache-2.0 */
/* What the admin queue can be told. */
#include "scheduler.h"

#include <leo/ring_math.h>
#include <string.h>

static bool is_zero(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

static enum leo_fault create_queue(struct sim_scheduler *scheduler,
                                   const struct leo_sqe_queue *body)
{
    struct sim_function *function = scheduler->host;
    if (body->queue == 0 || body->queue >= scheduler->config->queues ||
        function->ring[body->queue].depth || body->space >= LEO_SPACES ||
        !leo_ring_is_depth(body->depth) || body->depth > scheduler->config->queue_depth ||
        body->cq_base % sizeof(uint64_t) || body->priority > LEO_PRIORITY_LEAST ||
        !is_zero(body->reserved0, sizeof(body->reserved0))) {
        return LEO_FAULT_BAD_ENTRY;
    }
    if (!sim_dma_is_mapped(&function->dma, body->sq_base,
                           (uint64_t)body->depth * sizeof(struct leo_sqe)) ||
        !sim_dma_is_mapped(&function->dma, body->cq_base,
                           (uint64_t)body->depth * sizeof(struct leo_cqe))) {
        return LEO_FAULT_DMA_OUT_OF_RANGE;
    }
    function->ring[body->queue] = (struct sim_ring){.sq_base = body->sq_base,
                                                    .cq_base = body->cq_base,
                                                    .depth = body->depth,
                                                    .phase = 1,
                                                    .space = body->space,
                                                    .priority = body->priority};
    atomic_store(&function->sq_tail[body->queue], 0);
    atomic_store(&function->cq_head[body->queue], 0);
    return LEO_FAULT_NONE;
}

static enum leo_fault delete_queue(struct sim_scheduler *scheduler,
                                   const struct leo_sqe_queue *body)
{
    if (body->queue == 0 || body->queue >= scheduler->config->queues ||
        !scheduler->host->ring[body->queue].depth) {
        return LEO_FAULT_BAD_ENTRY;
    }
    sim_scheduler_drop(scheduler, body->queue);
    memset(&scheduler->host->ring[body->queue], 0, sizeof(scheduler->host->ring[body->queue]));
    return LEO_FAULT_NONE;
}

static enum leo_fault map(struct sim_scheduler *scheduler, const struct leo_sqe_map *body)
{
    uint64_t offset = body->addr - scheduler->memory->hbm.base;
    if (body->space >= LEO_SPACES || body->read_only > 1 || body->joined > 1 || body->bytes == 0 ||
        body->addr < scheduler->memory->hbm.base || offset >= scheduler->memory->hbm.bytes ||
        body->bytes > scheduler->memory->hbm.bytes - offset ||
        !is_zero(body->reserved0, sizeof(body->reserved0))) {
        return LEO_FAULT_BAD_ENTRY;
    }
    for (unsigned i = 0; i < LEO_SPACES; i++) {
        // A byte of device memory has one owner.
        if (scheduler->memory->space[i].count &&
            sim_space_overlaps(&scheduler->memory->space[i], body->addr, body->bytes)) {
            return LEO_FAULT_BAD_ENTRY;
        }
    }
    struct sim_space *space = &scheduler->memory->space[body->space];
    leo_status status = body->joined
                            ? sim_space_map_joined(space, body->addr, body->bytes, body->read_only)
                            : sim_space_map(space, body->addr, body->bytes, body->read_only);
    if (status != LEO_OK) {
        return LEO_FAULT_BAD_ENTRY;
    }
    sim_checks_written(scheduler, body->addr, body->bytes, false);
    sim_cores_forget(scheduler);
    return LEO_FAULT_NONE;
}

static enum leo_fault unmap(struct sim_scheduler *scheduler, const struct leo_sqe_map *body)
{
    struct sim_extent extent = {.base = body->addr, .bytes = body->bytes};
    if (body->space >= LEO_SPACES || body->joined > 1) {
        return LEO_FAULT_BAD_ENTRY;
    }
    struct sim_space *space = &scheduler->memory->space[body->space];
    if ((body->joined ? sim_space_unmap_part(space, body->addr, body->bytes)
                      : sim_space_unmap(space, body->addr, &extent)) != LEO_OK) {
        return LEO_FAULT_BAD_ENTRY;
    }
    sim_image_drop(scheduler, extent.base, extent.bytes);
    // The next owner must not see what was there.
    sim_hbm_zero(&scheduler->memory->hbm, extent.base, extent.bytes);
    sim_cores_forget(scheduler);
    return LEO_FAULT_NONE;
}

static enum leo_fault reset_space(struct sim_scheduler *scheduler, const struct leo_sqe_map *body)
{
    if (body->space >= LEO_SPACES) {
        return LEO_FAULT_BAD_ENTRY;
    }
    struct sim_space *space = &scheduler->memory->space[body->space];
    for (size_t i = 0; i < space->count; i++) {
        sim_image_drop(scheduler, space->extent[i].base, space->extent[i].bytes);
        sim_hbm_zero(&scheduler->memory->hbm, space->extent[i].base, space->extent[i].bytes);
    }
    sim_space_finish(space);
    scheduler->memory->overflow[body->space] = false;
    struct sim_events *events = &scheduler->events[body->space];
    for (uint32_t i = 0; i < events->count; i++) {
        events->value[i] = 0;
    }
    sim_cores_forget(scheduler);
    return LEO_FAULT_NONE;
}

static enum leo_fault set_profile(struct sim_scheduler *scheduler,
                                  const struct leo_sqe_profile *body)
{
    struct sim_dma *dma = &scheduler->host->dma;
    struct sim_profile *profile = &scheduler->host->profile;
    if (!is_zero(body->reserved0, sizeof(body->reserved0))) {
        return LEO_FAULT_BAD_ENTRY;
    }
    if ((body->task_base && body->task_depth &&
         !sim_dma_is_mapped(dma, body->task_base,
                            (uint64_t)body->task_depth * sizeof(struct leo_task_record))) ||
        (body->trace_base && body->trace_depth &&
         !sim_dma_is_mapped(dma, body->trace_base,
                            (uint64_t)body->trace_depth * sizeof(struct leo_trace_record))) ||
        (body->counts && !sim_dma_is_mapped(dma, body->counts, sizeof(profile->counts)))) {
        return LEO_FAULT_DMA_OUT_OF_RANGE;
    }
    sim_profile_flush(scheduler->host);
    *profile = (struct sim_profile){.rings = *body, .changed = true};
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        scheduler->cores->trace[id].count = 0;
    }
    sim_time_engine_set_trace(scheduler->cores->engine, body->trace_base ? sim_cores_trace : NULL,
                              scheduler);
    return LEO_FAULT_NONE;
}

static enum leo_fault read_local(struct sim_scheduler *scheduler, const struct leo_sqe_local *body)
{
    if (body->core >= scheduler->cores->count || body->space < LEO_MEM_SPACE_UB ||
        body->space > LEO_MEM_SPACE_FB || !is_zero(body->reserved0, sizeof(body->reserved0))) {
        return LEO_FAULT_BAD_ENTRY;
    }
    const struct sim_local *local = &scheduler->cores->core[body->core].local[body->space];
    if (body->offset > local->bytes || body->bytes > local->bytes - body->offset) {
        return LEO_FAULT_LOCAL_OUT_OF_RANGE;
    }
    return sim_dma_write(&scheduler->host->dma, body->dst, local->data + body->offset, body->bytes)
               ? LEO_FAULT_NONE
               : LEO_FAULT_DMA_OUT_OF_RANGE;
}

static enum leo_fault read_unwritten(struct sim_scheduler *scheduler,
                                     const struct leo_sqe_unwritten *body)
{
    struct leo_unwritten found = {0};
    const struct sim_hbm *hbm = &scheduler->memory->hbm;
    const uint64_t offset = body->addr - hbm->base;
    if (!is_zero(body->reserved0, sizeof(body->reserved0)) || body->addr < hbm->base ||
        offset > hbm->bytes || body->bytes > hbm->bytes - offset) {
        return LEO_FAULT_BAD_ENTRY;
    }
    sim_checks_unwritten(scheduler, body->addr, body->bytes, &found);
    return sim_dma_write(&scheduler->host->dma, body->dst, &found, sizeof(found))
               ? LEO_FAULT_NONE
               : LEO_FAULT_DMA_OUT_OF_RANGE;
}

enum leo_fault sim_admin_run(struct sim_scheduler *scheduler, const struct leo_sqe *entry)
{
    union {
        struct leo_sqe_queue queue;
        struct leo_sqe_map map;
        struct leo_sqe_profile profile;
        struct leo_sqe_local local;
        struct leo_sqe_unwritten unwritten;
    } body;
    memcpy(&body, entry->body, sizeof(entry->body));
    switch (entry->opcode) {
    case LEO_SQE_OP_NOP:
        return LEO_FAULT_NONE;
    case LEO_SQE_OP_CREATE_QUEUE:
        return create_queue(scheduler, &body.queue);
    case LEO_SQE_OP_DELETE_QUEUE:
        return delete_queue(scheduler, &body.queue);
    case LEO_SQE_OP_MAP:
        return map(scheduler, &body.map);
    case LEO_SQE_OP_UNMAP:
        return unmap(scheduler, &body.map);
    case LEO_SQE_OP_SET_PROFILE:
        return set_profile(scheduler, &body.profile);
    case LEO_SQE_OP_RESET_SPACE:
        return reset_space(scheduler, &body.map);
    case LEO_SQE_OP_READ_LOCAL:
        return read_local(scheduler, &body.local);
    case LEO_SQE_OP_READ_UNWRITTEN:
        return read_unwritten(scheduler, &body.unwritten);
    default:
        return LEO_FAULT_BAD_ENTRY;
    }
}
