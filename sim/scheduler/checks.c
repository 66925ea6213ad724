/* SPDX-License-Identifier: Apache-2.0 */
/* The checker (check/check.h) along the life of a kernel: blocks start and end, findings become
 * fault records of the task. */
#include "../check/check.h"
#include "scheduler.h"

#include <leo/alloc.h>
#include <leo/sim.h>
#include <string.h>

leo_status sim_checks_create(struct sim_scheduler *scheduler, unsigned which)
{
    scheduler->cores->check_which = which;
    if (!(which & ~(unsigned)LEO_SIM_CHECK_POISON)) {
        return LEO_OK;
    }
    scheduler->cores->check = leo_calloc(scheduler->cores->count, sizeof(*scheduler->cores->check));
    scheduler->memory->written = leo_calloc(1, sizeof(*scheduler->memory->written));
    if (!scheduler->cores->check || !scheduler->memory->written) {
        return LEO_ERR_NO_MEMORY;
    }
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        sim_check_init(&scheduler->cores->check[id], which, scheduler->config->arch, id,
                       scheduler->cores->count);
        scheduler->cores->core[id].check = &scheduler->cores->check[id];
    }
    return LEO_OK;
}

void sim_checks_destroy(struct sim_scheduler *scheduler)
{
    for (unsigned id = 0; scheduler->cores->check && id < scheduler->cores->count; id++) {
        sim_check_finish(&scheduler->cores->check[id]);
    }
    if (scheduler->memory->written) {
        sim_shadow_finish(&scheduler->memory->written->shadow);
    }
    leo_free(scheduler->cores->check);
    leo_free(scheduler->memory->written);
}

void sim_checks_forget(struct sim_stream *stream)
{
    if (stream->check) {
        sim_check_global_finish(stream->check);
        leo_free(stream->check);
        stream->check = NULL;
    }
}

void sim_checks_start(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    if (!scheduler->cores->check) {
        return;
    }
    if (!stream->check) {
        stream->check = leo_calloc(1, sizeof(*stream->check));
    }
    if (stream->check) {
        unsigned unknown = atomic_load(&scheduler->memory->windowed) ? SIM_CHECK_INIT : 0;
        sim_check_global_begin(stream->check, scheduler->cores->check_which & ~unknown,
                               sim_decoded_poll_loops(stream->kernel.image->decoded));
    }
}

/* All bits set: NaN in every float format, and no number that a kernel would take for data. */
static void poison(const struct sim_scheduler *scheduler, void *bytes, uint64_t count)
{
    if (scheduler->cores->check_which & LEO_SIM_CHECK_POISON) {
        memset(bytes, 0xff, count);
    }
}

void sim_checks_block(struct sim_scheduler *scheduler, unsigned id, const struct sim_kernel *kernel,
                      struct sim_check_global *check)
{
    for (int space = LEO_MEM_SPACE_UB; space < LEO_MEM_SPACE_PRIVATE; space++) {
        const struct sim_local *local = &scheduler->cores->core[id].local[space];
        poison(scheduler, local->data, local->bytes);
    }
    if (scheduler->cores->check) {
        sim_check_begin(&scheduler->cores->check[id], kernel->next_block,
                        scheduler->memory->hbm.base);
        scheduler->cores->check[id].array = kernel->image->array;
        scheduler->cores->check[id].arrays = kernel->image->arrays;
        scheduler->cores->check[id].global = check;
    }
}

void sim_checks_after(struct sim_scheduler *scheduler, unsigned id, bool returned)
{
    struct sim_stream *stream = &scheduler->stream[scheduler->slot[id].queue];
    if (!scheduler->cores->check || !stream->check) {
        return;
    }
    if (returned) {
        sim_check_end(&scheduler->cores->check[id]);
    }
    sim_check_global_take(stream->check, &scheduler->cores->check[id], scheduler->memory->written);
}

void sim_checks_finish(struct sim_stream *stream)
{
    if (stream->check && stream->check->findings.count && stream->fault.code == LEO_FAULT_NONE) {
        stream->fault.code = stream->check->findings.list[0].code;
        stream->checked = true;
    }
}

uint32_t sim_checks_write(struct sim_scheduler *scheduler, unsigned queue,
                          const struct sim_findings *findings)
{
    const struct sim_stream *stream = &scheduler->stream[queue];
    uint32_t first = 0;
    for (unsigned i = 0; i < findings->count; i++) {
        const struct sim_finding *finding = &findings->list[i];
        const struct leo_check_record record = {
            .code = (uint16_t)finding->code,
            .unit = finding->unit,
            .core = finding->core,
            .queue = (uint16_t)queue,
            .block = finding->block,
            .cmd_id = stream->entry.cmd_id,
            .pc = finding->pc,
            .caller = finding->caller,
            .addr = finding->addr,
            .bytes = finding->bytes,
            .other_pc = finding->other_pc,
            .other_block = finding->other_block,
            .image_addr = stream->kernel.body.image_addr,
            .space = finding->space,
            .kind = (uint8_t)finding->kind,
            .other_unit = finding->other_unit,
            .event = finding->event,
            .rest = (uint32_t)(findings->count - 1 - i + findings->more),
        };
        struct leo_fault_record bytes;
        _Static_assert(sizeof(bytes) == sizeof(record), "one ring");
        memcpy(&bytes, &record, sizeof(bytes));
        uint32_t number = sim_fault_write(scheduler->host, &bytes);
        first = i == 0 ? number : first;
    }
    return first;
}

void sim_checks_written(struct sim_scheduler *scheduler, uint64_t addr, uint64_t bytes,
                        bool written)
{
    if (!written) {
        poison(scheduler, scheduler->memory->hbm.data + (addr - scheduler->memory->hbm.base),
               bytes);
    }
    if (scheduler->memory->written) {
        sim_check_written_set(scheduler->memory->written, addr, bytes, written);
    }
}

void sim_checks_unwritten(struct sim_scheduler *scheduler, uint64_t addr, uint64_t bytes,
                          struct leo_unwritten *found)
{
    struct sim_memory *memory = scheduler->memory;
    if (memory->written && scheduler->cores->check_which & SIM_CHECK_INIT &&
        !atomic_load(&memory->windowed)) {
        sim_check_written_look(memory->written, addr, bytes, found);
    }
}
