/* SPDX-License-Identifier: Apache-2.0 */
#include "run_ahead.h"

#include "../core/state.h"
#include "../host/host_pool.h"
#include "../host/pages.h"
#include "run_ahead_parts.h"
#include <leo/alloc.h>
#include <string.h>

/* ---- what there is ---- */

static leo_status create_cores(struct sim_scheduler *scheduler, struct sim_run_ahead *run_ahead)
{
    const struct sim_config *config = scheduler->config;
    const unsigned kinds = config->vector_cores ? 2 : 1;
    const unsigned threads = sim_host_pool_threads(scheduler->cores->pool);
    const uint64_t bytes = sim_core_arena_bytes(config);
    run_ahead->per_kind =
        threads + SPARE_CORES < MAX_CORES / 2 ? threads + SPARE_CORES : MAX_CORES / 2;
    run_ahead->cores = run_ahead->per_kind * kinds;
    run_ahead->arena_bytes = bytes * run_ahead->cores + threads * SIM_SCRATCH_BYTES;
    run_ahead->arena = sim_pages_reserve(run_ahead->arena_bytes);
    run_ahead->core = leo_aligned_alloc(64, run_ahead->cores * sizeof(*run_ahead->core));
    if (!run_ahead->arena || !run_ahead->core) {
        return LEO_ERR_NO_MEMORY;
    }
    memset(run_ahead->core, 0, run_ahead->cores * sizeof(*run_ahead->core));
    run_ahead->scratch = run_ahead->arena + bytes * run_ahead->cores;
    for (unsigned i = 0; i < run_ahead->cores; i++) {
        struct sim_core *core = &run_ahead->core[i].core;
        sim_core_init(core, config, scheduler->cores->simd, scheduler->cores->core[0].insns,
                      i < run_ahead->per_kind ? 0 : config->cube_cores,
                      run_ahead->arena + i * bytes);
        sim_time_log_init(&core->log, scheduler->cores->core[0].log.pool);
        core->runs_ahead = true;
    }
    return LEO_OK;
}

static leo_status create(struct sim_scheduler *scheduler)
{
    struct sim_run_ahead *run_ahead = leo_calloc(1, sizeof(*run_ahead));
    if (!run_ahead) {
        return LEO_ERR_NO_MEMORY;
    }
    scheduler->run_ahead = run_ahead;
    run_ahead->queue = leo_calloc(scheduler->config->queues, sizeof(*run_ahead->queue));
    leo_status status = run_ahead->queue ? create_cores(scheduler, run_ahead) : LEO_ERR_NO_MEMORY;
    if (status != LEO_OK) {
        sim_run_ahead_destroy(scheduler);
    }
    return status;
}

void sim_run_ahead_destroy(struct sim_scheduler *scheduler)
{
    struct sim_run_ahead *run_ahead = scheduler->run_ahead;
    if (!run_ahead) {
        return;
    }
    for (unsigned queue = 0; run_ahead->queue && queue < scheduler->config->queues; queue++) {
        sim_run_ahead_drop(scheduler, queue);
    }
    for (unsigned i = 0; i < LEO_SPACES; i++) {
        leo_free(run_ahead->events[i].value);
    }
    if (run_ahead->arena) {
        sim_pages_release(run_ahead->arena, run_ahead->arena_bytes);
    }
    leo_free(run_ahead->core);
    leo_free(run_ahead->queue);
    leo_free(run_ahead);
    scheduler->run_ahead = NULL;
}

void sim_run_ahead_reset(struct sim_scheduler *scheduler)
{
    struct sim_run_ahead *run_ahead = scheduler->run_ahead;
    for (unsigned i = 0; run_ahead && i < LEO_SPACES; i++) {
        leo_free(run_ahead->events[i].value);
        run_ahead->events[i] = (struct sim_events){0};
    }
}

/* ---- blocks ---- */

static void free_core(struct run_ahead_core *core)
{
    sim_time_log_finish(&core->core.log);
    core->task = NULL;
    core->over = core->stuck = core->is_within = false;
}

/* Of a core that was at work. */
static void settle_core(struct sim_scheduler *scheduler, struct sim_run_ahead *run_ahead,
                        struct run_ahead_core *core)
{
    struct sim_run_ahead_task *task = core->task;
    struct run_ahead_block *block = &task->block[core->block];
    sim_cores_settle_text(scheduler, &core->core);
    if (!core->over) {
        return;
    }
    task->over++;
    run_ahead->places += core->core.log.written;
    block->state = BLOCK_OVER;
    block->log = core->core.log;
    block->stop = core->stop;
    block->fault = core->core.scalar.fault;
    block->pc = core->core.scalar.pc;
    block->overflow = core->core.csr.overflow;
    sim_time_log_init(&core->core.log, scheduler->cores->core[0].log.pool);
    free_core(core);
}

static bool is_wanted(struct sim_scheduler *scheduler)
{
    // Whoever resets the device or turns it off waits for that too.
    return atomic_load(&scheduler->wanted) != 0 ||
           atomic_load(&scheduler->host->control) != LEO_BIT_CONTROL_ENABLE ||
           sim_host_now_ns() >= scheduler->run_ahead->until_ns;
}

/* There is room for its end. */
static bool make_room(struct run_ahead_block *block)
{
    if (block->stretches < block->capacity) {
        return true;
    }
    const uint32_t capacity = block->capacity ? 2 * block->capacity : 2;
    uint64_t *end = leo_realloc(block->end, capacity * sizeof(*end));
    if (end) {
        block->end = end;
        block->capacity = capacity;
    }
    return end != NULL;
}

/* One stretch; false: the core cannot go on before its time. */
static bool run_ahead_stretch(struct sim_scheduler *scheduler, struct run_ahead_core *run_ahead)
{
    struct sim_core *core = &run_ahead->core;
    struct run_ahead_block *block = &run_ahead->task->block[run_ahead->block];
    const struct sim_stretch_begin begin = {core->scalar.cycle, core->log.written};
    if (!make_room(block)) {
        return false;
    }
    run_ahead->stop = sim_cores_stretch(scheduler, core, &begin);
    if (core->run_ahead_stop) {
        run_ahead->begin = begin;
        run_ahead->is_within = true;
        return false;
    }
    if (core->log.written == begin.written) {
        return false; // no memory
    }
    block->end[block->stretches++] = core->log.written;
    run_ahead->over = run_ahead->stop != SIM_SCALAR_TIME;
    return !run_ahead->over && core->scalar.cycle + scheduler->config->start_cycles < core->limit;
}

/* Work item of the pool. */
static void run_item(void *user, unsigned index, unsigned thread)
{
    struct sim_scheduler *scheduler = user;
    struct run_ahead_core *run_ahead = scheduler->run_ahead->run[index];
    struct sim_core *core = &run_ahead->core;
    core->scratch = scheduler->run_ahead->scratch + thread * SIM_SCRATCH_BYTES;
    core->pool = scheduler->cores->pool;
    do {
        run_ahead->stuck = !run_ahead_stretch(scheduler, run_ahead);
    } while (!run_ahead->stuck && core->log.written < MAX_PLACES && !is_wanted(scheduler));
}

static struct run_ahead_core *find_core(struct sim_run_ahead *run_ahead, enum leo_core_kind kind)
{
    for (unsigned i = 0; i < run_ahead->cores; i++) {
        if (!run_ahead->core[i].task && run_ahead->core[i].core.kind == kind) {
            return &run_ahead->core[i];
        }
    }
    return NULL;
}

/* Cores that can go on. */
static unsigned count_ready(const struct sim_run_ahead *run_ahead)
{
    unsigned count = 0;
    for (unsigned i = 0; i < run_ahead->cores; i++) {
        count += run_ahead->core[i].task && !run_ahead->core[i].stuck;
    }
    return count;
}

/* ---- entries ---- */

static bool begin_kernel(struct sim_scheduler *scheduler, unsigned queue,
                         struct sim_run_ahead_task *task)
{
    struct sim_stream *work = leo_calloc(1, sizeof(*work));
    task->work = work;
    if (!work) {
        return false;
    }
    work->entry = task->entry;
    if (!sim_kernel_load(scheduler, work, scheduler->host->ring[queue].space) ||
        work->kernel.group_vectors || sim_decoded_poll_loops(work->kernel.image->decoded)) {
        return false;
    }
    task->blocks = work->kernel.body.block_num;
    task->block = leo_calloc(task->blocks, sizeof(*task->block));
    return task->block != NULL;
}

static void end_work(struct sim_run_ahead_task *task)
{
    if (task->work) {
        sim_image_release(task->work->kernel.image);
        leo_free(task->work->args);
        leo_free(task->work);
        task->work = NULL;
    }
}

static bool have_returned(const struct sim_run_ahead_task *task)
{
    for (uint32_t i = 0; i < task->blocks; i++) {
        if (task->block[i].stop != SIM_SCALAR_RETURNED) {
            return false;
        }
    }
    return true;
}

/* Gives free cores blocks of the kernel. */
static void run_ahead_kernel(struct sim_scheduler *scheduler, unsigned queue,
                             struct sim_run_ahead_task *task)
{
    struct sim_run_ahead *run_ahead = scheduler->run_ahead;
    if (!task->work && !begin_kernel(scheduler, queue, task)) {
        end_work(task);
        task->is_refused = true;
        return;
    }
    const struct sim_kernel *kernel = &task->work->kernel;
    const unsigned threads = sim_host_pool_threads(scheduler->cores->pool);
    struct run_ahead_core *core;
    while (task->begun < task->blocks && count_ready(run_ahead) < threads &&
           run_ahead->places < MAX_PLACES && (core = find_core(run_ahead, kernel->kind)) != NULL) {
        core->task = task;
        core->block = task->begun;
        task->block[task->begun] = (struct run_ahead_block){.state = BLOCK_BEGUN, .core = core};
        sim_kernel_begin(scheduler, task->work, scheduler->host->ring[queue].space, task->begun,
                         &core->core);
        task->begun++;
    }
    if (task->over == task->blocks) {
        task->is_done = have_returned(task);
        task->is_refused = !task->is_done; // what follows a fault is the scheduler's
        end_work(task);
    }
}

static bool run_ahead_event(struct sim_scheduler *scheduler, unsigned queue,
                            const struct sim_run_ahead_task *task)
{
    const uint16_t space = scheduler->host->ring[queue].space;
    struct leo_sqe_event body;
    memcpy(&body, task->entry.body, sizeof(body));
    const uint64_t *in_time = sim_event_slot(&scheduler->events[space], body.event);
    uint64_t *early = sim_event_slot(&scheduler->run_ahead->events[space], body.event);
    if (!in_time || !early) {
        return false;
    }
    if (task->entry.opcode == LEO_SQE_OP_EVENT_WAIT) {
        return *in_time >= body.sequence || *early >= body.sequence;
    }
    *early = *early > body.sequence ? *early : body.sequence;
    return true;
}

/* Does what can be done of a task. */
static void run_ahead_task(struct sim_scheduler *scheduler, unsigned queue,
                           struct sim_run_ahead_task *task)
{
    switch (task->entry.opcode) {
    case LEO_SQE_OP_NOP:
        task->is_done = true;
        break;
    case LEO_SQE_OP_EVENT_RECORD:
    case LEO_SQE_OP_EVENT_WAIT:
        task->is_done = run_ahead_event(scheduler, queue, task);
        break;
    case LEO_SQE_OP_COPY:
    case LEO_SQE_OP_FILL:
        task->is_done = sim_run_ahead_copy(scheduler, queue, task);
        task->is_refused = !task->is_done;
        break;
    case LEO_SQE_OP_KERNEL:
        run_ahead_kernel(scheduler, queue, task);
        break;
    default: // depends on what is in memory, or in a status, at its time
        task->is_refused = true;
        break;
    }
}

/* Nothing of an entry may happen before its time that a fault, or a wait for the value that it
 * writes, could tell. */
static bool may_run_ahead(const struct leo_sqe *entry)
{
    return entry->reserved0 == 0 && !(entry->flags & ~LEO_SQE_FLOAT_MODE) &&
           sim_entry_float_mode(entry) <
               (entry->opcode == LEO_SQE_OP_KERNEL ? LEO_FLOAT_MODE_COUNT : 1);
}

static struct sim_run_ahead_task *make_task(const struct leo_sqe *entry)
{
    struct sim_run_ahead_task *task = leo_calloc(1, sizeof(*task));
    if (task) {
        task->entry = *entry;
        task->is_refused = !may_run_ahead(entry);
    }
    return task;
}

/* The entry of a queue behind all whose values are there; NULL: there is none, or one before it is
 * on its way in time. */
static struct sim_run_ahead_task *next_task(struct sim_scheduler *scheduler, unsigned queue)
{
    struct run_ahead_queue *list = &scheduler->run_ahead->queue[queue];
    struct sim_stream *stream = &scheduler->stream[queue];
    struct sim_run_ahead_task *task = list->last;
    struct leo_sqe entry;
    if (!task && stream->state != SIM_TASK_NONE && stream->state != SIM_TASK_DONE) {
        const bool is_early = stream->state == SIM_TASK_EARLY || stream->state == SIM_TASK_EVENT;
        if (!stream->early && is_early) {
            stream->early = make_task(&stream->entry);
        }
        task = stream->early;
        if (!task || (!is_early && !task->is_done)) {
            return NULL;
        }
    }
    if (task && !task->is_done) {
        return task;
    }
    if (!sim_ring_peek(scheduler->host, queue, list->count, &entry) ||
        !(task = make_task(&entry))) {
        return NULL;
    }
    *(list->first ? &list->last->next : &list->first) = task;
    list->last = task;
    list->count++;
    return task;
}

/* Whether anything was done. */
static bool run_ahead_queue(struct sim_scheduler *scheduler, unsigned queue)
{
    bool moved = false;
    struct sim_run_ahead_task *task;
    while ((task = next_task(scheduler, queue)) != NULL && !task->is_refused) {
        const uint32_t begun = task->begun;
        run_ahead_task(scheduler, queue, task);
        moved |= task->is_done || task->begun != begun;
        if (!task->is_done) {
            break;
        }
    }
    return moved;
}

/* Entries are left whose values have to wait for their time. */
static bool is_anything_left(struct sim_scheduler *scheduler)
{
    for (unsigned queue = 1; queue < scheduler->config->queues; queue++) {
        if (sim_scheduler_is_active(scheduler, queue) && next_task(scheduler, queue)) {
            return true;
        }
        const struct sim_stream *stream = &scheduler->stream[queue];
        if (stream->state == SIM_TASK_VALUE ||
            (stream->state == SIM_TASK_KERNEL && !(stream->early && stream->early->is_done))) {
            return true;
        }
    }
    return false;
}

static void run_cores(struct sim_scheduler *scheduler, struct sim_run_ahead *run_ahead)
{
    unsigned count = 0;
    for (unsigned i = 0; i < run_ahead->cores; i++) {
        if (run_ahead->core[i].task && !run_ahead->core[i].stuck) {
            run_ahead->run[count++] = &run_ahead->core[i];
        }
    }
    sim_host_pool_run(scheduler->cores->pool, run_item, scheduler, count);
    for (unsigned i = 0; i < count; i++) {
        settle_core(scheduler, run_ahead, run_ahead->run[i]);
    }
}

leo_status sim_run_ahead_run(struct sim_scheduler *scheduler, uint64_t until_ns)
{
    // What others poll must be written in time; a tape and the checker look at the run itself.
    if (scheduler->cores->check_which || scheduler->tape || scheduler->replay ||
        scheduler->cores->core[0].stores ||
        (!scheduler->run_ahead && create(scheduler) != LEO_OK)) {
        return LEO_ERR_NOT_READY;
    }
    scheduler->run_ahead->until_ns = until_ns;
    while (!is_wanted(scheduler)) {
        bool moved = false;
        sim_scheduler_take_doorbells(scheduler);
        for (unsigned queue = 1; queue < scheduler->config->queues; queue++) {
            moved |= sim_scheduler_is_active(scheduler, queue) && run_ahead_queue(scheduler, queue);
        }
        if (count_ready(scheduler->run_ahead) > 0) {
            run_cores(scheduler, scheduler->run_ahead);
        } else if (!moved) {
            return is_anything_left(scheduler) ? LEO_ERR_NOT_READY : LEO_OK;
        }
    }
    return LEO_ERR_TIMEOUT;
}

/* ---- the scheduler's side ---- */

struct sim_run_ahead_task *sim_run_ahead_take(struct sim_scheduler *scheduler, unsigned queue)
{
    struct run_ahead_queue *list =
        scheduler->run_ahead ? &scheduler->run_ahead->queue[queue] : NULL;
    struct sim_run_ahead_task *task = list ? list->first : NULL;
    if (task) {
        list->first = task->next;
        list->last = list->first ? list->last : NULL;
        list->count--;
    }
    return task;
}

bool sim_run_ahead_adopt(struct sim_scheduler *scheduler, struct sim_run_ahead_task *task,
                         uint32_t number, struct sim_core *core, struct sim_run_ahead_done *early)
{
    struct run_ahead_block *block = task && number < task->begun ? &task->block[number] : NULL;
    if (!block || (block->state != BLOCK_OVER && block->state != BLOCK_BEGUN)) {
        return false;
    }
    early->end = block->end;
    early->stretches = block->stretches;
    if (block->state == BLOCK_BEGUN) {
        early->is_within = block->core->is_within;
        early->begin = block->core->begin;
        sim_core_exchange(core, &block->core->core);
        free_core(block->core);
    } else {
        early->is_over = true;
        early->stop = block->stop;
        sim_sections_zero(&sim_core_sections, core, SIM_SECTION_BLOCK);
        core->log = block->log;
        core->scalar.fault = block->fault;
        core->scalar.pc = block->pc;
        core->csr.overflow = block->overflow;
        scheduler->run_ahead->places -= core->log.written;
    }
    block->state = BLOCK_GIVEN;
    return true;
}

void sim_run_ahead_end(struct sim_scheduler *scheduler, struct sim_run_ahead_task *task)
{
    struct sim_run_ahead *run_ahead = scheduler->run_ahead;
    if (!task) {
        return;
    }
    for (uint32_t i = 0; i < task->begun; i++) {
        struct run_ahead_block *block = &task->block[i];
        if (block->state == BLOCK_OVER) {
            run_ahead->places -= block->log.written;
            sim_time_log_finish(&block->log);
        } else if (block->state == BLOCK_BEGUN) {
            free_core(block->core);
        }
        leo_free(block->end);
    }
    sim_run_ahead_let_go(run_ahead, task);
    end_work(task);
    leo_free(task->held);
    leo_free(task->block);
    leo_free(task);
}

void sim_run_ahead_drop(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_run_ahead_task *task;
    sim_run_ahead_end(scheduler, scheduler->stream[queue].early);
    scheduler->stream[queue].early = NULL;
    while ((task = sim_run_ahead_take(scheduler, queue)) != NULL) {
        sim_run_ahead_end(scheduler, task);
    }
}
