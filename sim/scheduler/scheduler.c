/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler.h"
#include "../check/check.h"
#include "../replay/replay.h"
#include "../tape/record.h"
#include "run_ahead.h"

#include <leo/alloc.h>
#include <string.h>

/* Later than any time an entry may name; keeps sums of picoseconds far from overflow. */
#define MAX_HOST_NS UINT64_C(1000000000000000)

static uint64_t later(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

leo_status sim_scheduler_init(struct sim_scheduler *scheduler)
{
    uint32_t queues = scheduler->config->queues;
    scheduler->stream = leo_calloc(queues, sizeof(*scheduler->stream));
    scheduler->active = leo_calloc((queues + 63) / 64, sizeof(*scheduler->active));
    scheduler->slot = leo_calloc(scheduler->cores->count, sizeof(*scheduler->slot));
    scheduler->events = leo_calloc(LEO_SPACES, sizeof(*scheduler->events));
    if (!scheduler->stream || !scheduler->active || !scheduler->slot || !scheduler->events) {
        return LEO_ERR_NO_MEMORY;
    }
    return sim_polls_create(scheduler);
}

void sim_scheduler_finish(struct sim_scheduler *scheduler)
{
    for (uint32_t queue = 0; scheduler->stream && queue < scheduler->config->queues; queue++) {
        if (scheduler->stream[queue].state == SIM_TASK_KERNEL) {
            sim_kernel_abandon(scheduler, queue);
        }
        leo_free(scheduler->stream[queue].args);
        sim_checks_forget(&scheduler->stream[queue]);
        leo_free(scheduler->stream[queue].stuck);
    }
    sim_run_ahead_destroy(scheduler);
    sim_image_finish(scheduler);
    for (unsigned i = 0; scheduler->events && i < LEO_SPACES; i++) {
        leo_free(scheduler->events[i].value);
    }
    leo_free(scheduler->stream);
    leo_free(scheduler->active);
    leo_free(scheduler->slot);
    sim_polls_destroy(scheduler);
    leo_free(scheduler->events);
}

void sim_scheduler_reset(struct sim_scheduler *scheduler)
{
    for (uint32_t queue = 0; queue < scheduler->config->queues; queue++) {
        sim_scheduler_drop(scheduler, queue);
    }
    sim_run_ahead_reset(scheduler);
    sim_image_finish(scheduler);
    sim_time_engine_set_trace(scheduler->cores->engine, NULL, NULL);
}

static bool takes_time(const struct leo_sqe *entry)
{
    return entry->opcode == LEO_SQE_OP_KERNEL || entry->opcode == LEO_SQE_OP_COPY ||
           entry->opcode == LEO_SQE_OP_FILL;
}

/* When a replayed entry may start is given to the picosecond. */
static bool fetch_replayed(struct sim_scheduler *scheduler, unsigned queue, uint64_t *ready_ps)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    struct sim_replayed task;
    if (!sim_replay_fetch(scheduler->replay, queue, &task)) {
        return false;
    }
    stream->entry = task.entry;
    *ready_ps = task.arrival_ps;
    if (task.is_first) {
        stream->had_task = false;
        stream->free_ps = 0;
    }
    return true;
}

/* Fetches the next entry and decides when it may start. False: there is none. */
static bool fetch(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    uint64_t ready = 0;
    if (scheduler->replay ? !fetch_replayed(scheduler, queue, &ready)
                          : !sim_ring_fetch(scheduler->host, queue, &stream->entry)) {
        return false;
    }
    if (scheduler->tape && queue) {
        sim_tape_task(scheduler->tape, queue, !stream->had_task && !stream->free_ps,
                      scheduler->now_ps, &stream->entry);
    }
    memset(&stream->fault, 0, sizeof(stream->fault));
    stream->checked = stream->looked = false;
    stream->early = sim_run_ahead_take(scheduler, queue);
    ready = later(ready, later(scheduler->now_ps, stream->free_ps));
    if (stream->entry.host_ns > MAX_HOST_NS) {
        sim_stream_fault(stream, LEO_FAULT_BAD_ENTRY, 0, 0);
    } else {
        ready = later(ready, stream->entry.host_ns * 1000);
    }
    if (takes_time(&stream->entry) && stream->had_task) {
        ready = later(ready, stream->free_ps + sim_ps_from_ns(scheduler->config->stream_gap_ns));
    }
    stream->ready_ps = ready;
    stream->state = SIM_TASK_EARLY;
    return true;
}

static uint64_t *event_slot(struct sim_scheduler *scheduler, unsigned queue,
                            const struct leo_sqe_event *body)
{
    return sim_event_slot(&scheduler->events[scheduler->host->ring[queue].space], body->event);
}

static void start_event(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    struct leo_sqe_event body;
    memcpy(&body, stream->entry.body, sizeof(body));
    uint64_t *value = event_slot(scheduler, queue, &body);
    if (!value) {
        const bool exists = body.event < LEO_MAX_EVENTS;
        sim_stream_fault(stream, exists ? LEO_FAULT_NO_MEMORY : LEO_FAULT_BAD_ENTRY, 0, 0);
        sim_stream_end(stream, stream->start_ps);
    } else if (stream->entry.opcode == LEO_SQE_OP_EVENT_RECORD) {
        // An older record may be reached later than a newer one in another stream.
        *value = later(*value, body.sequence);
        sim_stream_end(stream, stream->start_ps);
    } else if (*value >= body.sequence) {
        sim_stream_end(stream, scheduler->now_ps);
    } else {
        stream->state = SIM_TASK_EVENT;
    }
}

/* Whether the value is there; true with the fault set if it never can be. */
static bool has_value(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    struct leo_sqe_value body;
    memcpy(&body, stream->entry.body, sizeof(body));
    if (body.compare >= LEO_VALUE_COMPARE_COUNT || body.addr % sizeof(uint64_t)) {
        sim_stream_fault(stream, LEO_FAULT_BAD_ENTRY, 0, 0);
        return true;
    }
    const struct sim_space *space = &scheduler->memory->space[scheduler->host->ring[queue].space];
    if (!sim_space_find(space, body.addr, sizeof(uint64_t))) {
        sim_stream_fault(stream, LEO_FAULT_GM_OUT_OF_RANGE, body.addr, sizeof(uint64_t));
        return true;
    }
    uint64_t value;
    memcpy(&value, scheduler->memory->hbm.data + (body.addr - scheduler->memory->hbm.base),
           sizeof(value));
    switch ((enum leo_value_compare)body.compare) {
    case LEO_VALUE_COMPARE_GREATER_EQUAL:
        return (int64_t)(value - body.value) >= 0;
    case LEO_VALUE_COMPARE_EQUAL:
        return value == body.value;
    case LEO_VALUE_COMPARE_AND:
        return (value & body.value) != 0;
    case LEO_VALUE_COMPARE_NOR:
        return ~(value | body.value) != 0;
    }
    return false;
}

/* Whether it is there because values run ahead of time; the stream is ready when it comes. */
static bool is_value_early(const struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    struct leo_sqe_value body;
    memcpy(&body, stream->entry.body, sizeof(body));
    stream->ready_ps = sim_polls_there_ps(scheduler, body.addr, sizeof(uint64_t));
    return stream->ready_ps != 0;
}

static void start_copy(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    uint64_t end_ps = stream->start_ps;
    (void)sim_copy_start(scheduler, queue, &end_ps);
    sim_stream_end(stream, end_ps);
}

static bool has_legal_flags(const struct leo_sqe *entry)
{
    const bool kernel = entry->opcode == LEO_SQE_OP_KERNEL;
    return entry->reserved0 == 0 &&
           !(entry->flags & ~(LEO_SQE_SKIP_AFTER_FAULT | LEO_SQE_FLOAT_MODE | LEO_SQE_IN_TIME)) &&
           sim_entry_float_mode(entry) < (kernel ? LEO_FLOAT_MODE_COUNT : 1);
}

/* Starts what has been fetched. Ends it at once if it takes no time or cannot be done. */
static void start(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    const struct leo_sqe *entry = &stream->entry;
    stream->start_ps = scheduler->now_ps;
    if (!has_legal_flags(entry)) {
        sim_stream_fault(stream, LEO_FAULT_BAD_ENTRY, 0, 0);
    } else if (entry->flags & LEO_SQE_SKIP_AFTER_FAULT && stream->failed) {
        sim_stream_fault(stream, LEO_FAULT_SKIPPED, 0, 0);
    }
    if (stream->fault.code != LEO_FAULT_NONE) {
        sim_stream_end(stream, stream->start_ps);
        return;
    }
    if (queue == 0) {
        enum leo_fault fault = sim_admin_run(scheduler, entry);
        if (fault != LEO_FAULT_NONE) {
            sim_stream_fault(stream, fault, 0, 0);
        }
        sim_stream_end(stream, stream->start_ps);
        return;
    }
    switch (entry->opcode) {
    case LEO_SQE_OP_NOP:
        sim_stream_end(stream, stream->start_ps);
        break;
    case LEO_SQE_OP_KERNEL:
        stream->state = SIM_TASK_KERNEL;
        if (!sim_kernel_start(scheduler, queue)) {
            sim_stream_end(stream, stream->start_ps);
        }
        break;
    case LEO_SQE_OP_COPY:
    case LEO_SQE_OP_FILL:
        start_copy(scheduler, queue);
        break;
    case LEO_SQE_OP_EVENT_RECORD:
    case LEO_SQE_OP_EVENT_WAIT:
        start_event(scheduler, queue);
        break;
    case LEO_SQE_OP_OVERFLOW:
        (void)sim_overflow_start(scheduler, queue);
        sim_stream_end(stream, stream->start_ps);
        break;
    case LEO_SQE_OP_VALUE_WAIT:
        stream->state = SIM_TASK_VALUE;
        break;
    default:
        sim_stream_fault(stream, LEO_FAULT_BAD_ENTRY, 0, 0);
        sim_stream_end(stream, stream->start_ps);
        break;
    }
}

static uint32_t write_fault(struct sim_scheduler *scheduler, unsigned queue)
{
    const struct sim_stream *stream = &scheduler->stream[queue];
    if (stream->fault.code == LEO_FAULT_NONE) {
        return 0;
    }
    if (stream->fault.code == LEO_FAULT_CORE_DEADLOCK && stream->stuck) {
        return sim_checks_write(scheduler, queue, stream->stuck);
    }
    if (stream->checked) {
        return sim_checks_write(scheduler, queue, &stream->check->findings);
    }
    bool kernel = stream->entry.opcode == LEO_SQE_OP_KERNEL;
    struct leo_fault_record record = {
        .code = (uint16_t)stream->fault.code,
        .unit = (uint16_t)stream->fault.unit,
        .core = stream->fault_core,
        .queue = (uint16_t)queue,
        .block = stream->fault_block,
        .cmd_id = stream->entry.cmd_id,
        .pc = (uint32_t)stream->fault.pc,
        .caller = stream->fault.caller,
        .addr = stream->fault.addr,
        .bytes = stream->fault.bytes,
        .insn = stream->fault.word,
        .space = (uint8_t)stream->fault.space,
        .operand = stream->fault.operand,
        .align = (uint16_t)stream->fault.align,
        .image_addr = kernel ? stream->kernel.body.image_addr : 0,
        .cycle = stream->fault_cycle,
    };
    return sim_fault_write(scheduler->host, &record);
}

static void make_record(const struct sim_scheduler *scheduler, unsigned queue,
                        struct leo_task_record *record_out)
{
    const struct sim_stream *stream = &scheduler->stream[queue];
    struct leo_task_record record = {
        .cmd_id = stream->entry.cmd_id,
        .queue = (uint16_t)queue,
        .opcode = stream->entry.opcode,
        .start_ns = stream->start_ps / 1000,
        .end_ns = stream->end_ps / 1000,
    };
    if (stream->entry.opcode == LEO_SQE_OP_KERNEL) {
        const struct sim_kernel *kernel = &stream->kernel;
        const struct sim_kernel_sums *sums = &kernel->sums;
        record.tag = kernel->body.tag;
        record.core_kind = (uint8_t)kernel->kind;
        record.block_num = kernel->body.block_num;
        record.core_cycles = (uint64_t)(sums->core_cycles + 0.5);
        for (int pipe = 0; pipe < LEO_PIPE_COUNT; pipe++) {
            record.busy[pipe] = (uint64_t)(sums->busy[pipe] + 0.5);
        }
        for (int i = 0; i < LEO_PIPE_COUNT * SIM_TIME_STALLS; i++) {
            record.stall[i] =
                (uint64_t)(sums->stalled[i / SIM_TIME_STALLS][i % SIM_TIME_STALLS] + 0.5);
        }
        record.gm_read = sums->gm_read;
        record.gm_write = sums->gm_write;
        record.l2_hits = sums->l2_hits;
        record.hbm_read = sums->hbm_read;
        record.hbm_write = sums->hbm_write;
        for (unsigned i = 0; i < sizeof(sums->core_mask) / sizeof(sums->core_mask[0]); i++) {
            record.cores += (uint32_t)__builtin_popcountll(sums->core_mask[i]);
        }
    }
    *record_out = record;
}

/* Entries of a tape may wait for a task of another queue. */
static void replay_done(struct sim_scheduler *scheduler, unsigned queue,
                        const struct leo_task_record *record)
{
    const struct sim_stream *stream = &scheduler->stream[queue];
    const struct sim_replay_time time = {stream->start_ps, stream->end_ps};
    sim_replay_done(scheduler->replay, queue, record, &time);
    for (unsigned i = 1; i < scheduler->replay->file->queues; i++) {
        if (sim_replay_has(scheduler->replay, i)) {
            sim_scheduler_wake(scheduler, i);
        }
    }
}

static void complete(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    const bool takes = takes_time(&stream->entry);
    struct leo_task_record record;
    if (takes) {
        make_record(scheduler, queue, &record);
        sim_profile_task(scheduler->host, &record);
        stream->had_task = true;
    }
    if (scheduler->tape && queue) {
        const struct sim_tape_done done = {.fault = (uint32_t)stream->fault.code,
                                           .start_ps = stream->start_ps,
                                           .end_ps = stream->end_ps,
                                           .looked = stream->looked};
        sim_tape_done(scheduler->tape, queue, &done);
    }
    if (scheduler->replay) {
        replay_done(scheduler, queue, takes ? &record : NULL);
    }
    sim_profile_flush(scheduler->host);
    struct leo_cqe entry = {
        .cmd_id = stream->entry.cmd_id,
        .status = (uint16_t)stream->fault.code,
        .fault_index = write_fault(scheduler, queue),
        .start_ns = stream->start_ps / 1000,
        .end_ns = stream->end_ps / 1000,
    };
    stream->failed = stream->failed || stream->fault.code != LEO_FAULT_NONE;
    stream->free_ps = stream->end_ps;
    stream->state = SIM_TASK_NONE;
    sim_run_ahead_end(scheduler, stream->early);
    stream->early = NULL;
    sim_ring_complete(scheduler->host, queue, &entry);
}

/* Advances a stream until it is blocked; true if it progressed. */
static bool advance_stream(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    struct leo_sqe_event event;
    for (bool moved = false;; moved = true) {
        switch (stream->state) {
        case SIM_TASK_NONE:
            if (!fetch(scheduler, queue)) {
                sim_scheduler_set_active(scheduler, queue, false);
                return moved;
            }
            break;
        case SIM_TASK_EARLY:
            if (stream->ready_ps > scheduler->now_ps) {
                return moved;
            }
            start(scheduler, queue);
            break;
        case SIM_TASK_EVENT:
            memcpy(&event, stream->entry.body, sizeof(event));
            if (*event_slot(scheduler, queue, &event) < event.sequence) {
                return moved;
            }
            sim_stream_end(stream, scheduler->now_ps);
            break;
        case SIM_TASK_VALUE:
            stream->ready_ps = UINT64_MAX;
            if (!has_value(scheduler, queue) || is_value_early(scheduler, queue)) {
                return moved;
            }
            sim_stream_end(stream, scheduler->now_ps);
            break;
        case SIM_TASK_KERNEL:
            return moved;
        case SIM_TASK_DONE:
            if (stream->end_ps > scheduler->now_ps || !sim_ring_has_room(scheduler->host, queue)) {
                return moved;
            }
            complete(scheduler, queue);
            break;
        }
    }
}

void sim_scheduler_advance(struct sim_scheduler *scheduler)
{
    sim_scheduler_take_doorbells(scheduler);
    bool moved;
    do {
        moved = false;
        for (unsigned queue = sim_scheduler_next_active(scheduler, 0);
             queue < scheduler->config->queues;
             queue = sim_scheduler_next_active(scheduler, queue + 1)) {
            moved |= advance_stream(scheduler, queue);
        }
    } while (moved);
    sim_kernel_dispatch(scheduler);
}

bool sim_scheduler_has_run(const struct sim_scheduler *scheduler, uint64_t ns)
{
    for (unsigned queue = sim_scheduler_next_active(scheduler, 0);
         queue < scheduler->config->queues;
         queue = sim_scheduler_next_active(scheduler, queue + 1)) {
        const struct sim_stream *stream = &scheduler->stream[queue];
        if (stream->state == SIM_TASK_KERNEL &&
            scheduler->now_ps - stream->start_ps >= ns * UINT64_C(1000)) {
            return true;
        }
    }
    return sim_polls_have_run(scheduler, ns);
}

bool sim_scheduler_step(struct sim_scheduler *scheduler, bool for_ever)
{
    scheduler->for_ever = for_ever;
    uint64_t next = sim_scheduler_next_time(scheduler);
    if (sim_cores_busy(scheduler)) {
        sim_cores_round(scheduler, next);
    } else if (next == UINT64_MAX) {
        return false;
    } else {
        scheduler->now_ps = later(scheduler->now_ps, next);
    }
    atomic_store(&scheduler->host->sim_time_ns, scheduler->now_ps / 1000);
    return true;
}
