/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: from a checked entry to blocks on cores to one completion. */
#include "../core/debug.h"
#include "../replay/memo.h"
#include "../replay/replay.h"
#include "../tape/record.h"
#include "run_ahead.h"
#include "scheduler.h"

#include <leo/alloc.h>
#include <string.h>

/* The place of a core in the group that sim_kernel_group tells. */
static unsigned member_of(const struct sim_scheduler *scheduler, const struct sim_kernel *kernel,
                          unsigned id)
{
    unsigned cubes = scheduler->config->cube_cores;
    return !kernel->group_vectors || id < cubes
               ? 0
               : 1 + (id - cubes) % (scheduler->config->vector_cores / cubes);
}

bool sim_kernel_start(struct sim_scheduler *scheduler, unsigned queue)
{
    if (!sim_kernel_load(scheduler, &scheduler->stream[queue],
                         scheduler->host->ring[queue].space)) {
        return false;
    }
    if (!scheduler->replay) {
        sim_checks_start(scheduler, queue);
    }
    return true;
}

/* The first block makes the launch a team; false: too many have begun and not ended. */
static bool take_team(struct sim_scheduler *scheduler, struct sim_kernel *kernel)
{
    for (unsigned team = 0; kernel->team == SIM_NO_TEAM && team < scheduler->cores->count; team++) {
        uint64_t bit = UINT64_C(1) << team % 64;
        if (!(scheduler->teams[team / 64] & bit)) {
            scheduler->teams[team / 64] |= bit;
            kernel->team = team;
            sim_time_engine_new_team(scheduler->cores->engine, team);
        }
    }
    return kernel->team != SIM_NO_TEAM;
}

static void give_team(struct sim_scheduler *scheduler, struct sim_kernel *kernel)
{
    if (kernel->team != SIM_NO_TEAM) {
        scheduler->teams[kernel->team / 64] &= ~(UINT64_C(1) << kernel->team % 64);
        kernel->team = SIM_NO_TEAM;
    }
}

static void join_team(struct sim_scheduler *scheduler, const struct sim_kernel *kernel, unsigned id)
{
    bool is_vector = scheduler->cores->core[id].kind == LEO_CORE_KIND_VECTOR;
    bool many = is_vector && kernel->group_vectors;
    const struct sim_time_team team = {
        .team = kernel->team,
        .group = scheduler->config->vector_cores ? sim_core_group(scheduler, id) : id,
        .is_vector = is_vector,
        .kin = kernel->body.block_num * (many ? kernel->group_vectors : 1),
        .vectors = kernel->group_vectors,
    };
    sim_time_engine_join(scheduler->cores->engine, id, &team);
}

/* Begins the kernel's next block on a core. */
static void assign(struct sim_scheduler *scheduler, unsigned queue, unsigned id, double start_cycle)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    struct sim_kernel *kernel = &stream->kernel;
    struct sim_slot *slot = &scheduler->slot[id];
    struct sim_core *core = &scheduler->cores->core[id];
    struct sim_run_ahead_done early = {0};
    if (!scheduler->replay && !core->stores) {
        sim_polls_begin(scheduler, kernel->image->decoded);
    }
    if (!sim_run_ahead_adopt(scheduler, stream->early, kernel->next_block, core, &early)) {
        sim_kernel_begin(scheduler, stream, scheduler->host->ring[queue].space, kernel->next_block,
                         core);
    }
    if (scheduler->replay) {
        core->gm_base = scheduler->memory->hbm.base;
        sim_replay_begin(scheduler->replay, core, queue, kernel->next_block,
                         member_of(scheduler, kernel, id));
    }
    sim_checks_block(scheduler, id, kernel, stream->check);
    scheduler->running += slot->state != SIM_CORE_RUNNING; // else it ran the block before
    *slot = (struct sim_slot){
        .state = SIM_CORE_RUNNING, .queue = queue, .block = kernel->next_block, .early = early};
    join_team(scheduler, kernel, id);
    sim_time_engine_begin(scheduler->cores->engine, id, &core->log, start_cycle,
                          scheduler->config->start_cycles, kernel->limit_cycles);
    kernel->running++;
    kernel->sums.core_mask[id / 64] |= UINT64_C(1) << id % 64;
}

static bool wants_core(const struct sim_stream *stream)
{
    return stream->state == SIM_TASK_KERNEL && stream->fault.code == LEO_FAULT_NONE &&
           stream->kernel.next_block < stream->kernel.body.block_num;
}

/* Whether a waiting kernel comes before another: by the queues' priority, then by age. */
static bool comes_before(const struct sim_scheduler *scheduler, unsigned one, unsigned other)
{
    const struct sim_ring *ring = scheduler->host->ring;
    const struct sim_stream *stream = scheduler->stream;
    return ring[one].priority != ring[other].priority
               ? ring[one].priority < ring[other].priority
               : stream[one].ready_ps < stream[other].ready_ps;
}

/* The waiting kernel that comes first among those this core can run; 0 = none. */
static unsigned first_for(const struct sim_scheduler *scheduler, enum leo_core_kind kind)
{
    unsigned best = 0;
    for (unsigned word = 0; word < (scheduler->config->queues + 63) / 64; word++) {
        for (uint64_t bits = scheduler->active[word]; bits; bits &= bits - 1) {
            unsigned queue = word * 64 + (unsigned)__builtin_ctzll(bits);
            const struct sim_stream *stream = &scheduler->stream[queue];
            if (wants_core(stream) &&
                (stream->kernel.kind == kind || stream->kernel.group_vectors) &&
                (best == 0 || comes_before(scheduler, queue, best))) {
                best = queue;
            }
        }
    }
    return best;
}

static void wake_engine(struct sim_scheduler *scheduler)
{
    // Cycles are counted from when the first core starts after the chip had nothing to do: the same
    // work takes the same time at any hour, and however long it takes to dispatch it.
    if (scheduler->running == 0) {
        sim_time_engine_reset(scheduler->cores->engine);
        scheduler->epoch_ps = scheduler->now_ps + sim_ps_from_ns(scheduler->config->dispatch_ns);
        if (scheduler->replay) {
            scheduler->replay->epoch_ps = scheduler->epoch_ps;
        }
        sim_polls_rest(scheduler);
    }
}

/* When the next core of a kernel starts. */
static double next_start(struct sim_scheduler *scheduler, struct sim_stream *stream)
{
    struct sim_kernel *kernel = &stream->kernel;
    if (kernel->started_cores == 0) {
        stream->start_ps = scheduler->now_ps;
    }
    uint64_t start_ps = stream->start_ps + sim_ps_from_ns(scheduler->config->dispatch_ns) +
                        sim_ps_from_ns(kernel->started_cores * scheduler->config->block_spread_ns);
    kernel->started_cores++;
    wake_engine(scheduler);
    return sim_cores_cycle(scheduler, start_ps);
}

static void assign_group(struct sim_scheduler *scheduler, unsigned queue, const unsigned *id,
                         unsigned count)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    double start = 0;
    for (unsigned i = 0; i < count; i++) {
        start = next_start(scheduler, stream); // all begin when the last one can
    }
    sim_time_engine_new_group(scheduler->cores->engine, id[0]);
    for (unsigned i = 0; i < count; i++) {
        assign(scheduler, queue, id[i], start);
    }
    stream->kernel.next_block++;
}

/* Blocks that need a whole group: when its cores are free and no kernel before it wants them. */
static void dispatch_groups(struct sim_scheduler *scheduler)
{
    for (unsigned group = 0; group < scheduler->config->cube_cores; group++) {
        unsigned queue = first_for(scheduler, LEO_CORE_KIND_CUBE);
        struct sim_kernel *kernel = &scheduler->stream[queue].kernel;
        if (!queue || !kernel->group_vectors || !take_team(scheduler, kernel) ||
            first_for(scheduler, LEO_CORE_KIND_VECTOR) != queue) {
            return;
        }
        unsigned id[SIM_GROUP_MAX];
        unsigned count = sim_kernel_group(scheduler, kernel, group, id), free = 0;
        while (free < count && scheduler->slot[id[free]].state == SIM_CORE_FREE) {
            free++;
        }
        if (free == count) {
            assign_group(scheduler, queue, id, count);
        }
    }
}

static void dispatch_cores(struct sim_scheduler *scheduler)
{
    unsigned queue = 0;
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        enum leo_core_kind kind = scheduler->cores->core[id].kind;
        if (id == 0 || kind != scheduler->cores->core[id - 1].kind ||
            (queue && !wants_core(&scheduler->stream[queue]))) {
            queue = first_for(scheduler, kind);
        }
        struct sim_stream *stream = &scheduler->stream[queue];
        if (!queue || scheduler->slot[id].state != SIM_CORE_FREE || stream->kernel.group_vectors ||
            !take_team(scheduler, &stream->kernel)) {
            continue;
        }
        assign(scheduler, queue, id, next_start(scheduler, stream));
        stream->kernel.next_block++;
    }
}

/* The queue whose kernel has the chip for itself if it begins now; 0 = there is none. */
static unsigned alone(const struct sim_scheduler *scheduler)
{
    unsigned found = 0;
    for (unsigned queue = sim_scheduler_next_active(scheduler, 1);
         queue < scheduler->config->queues && scheduler->running == 0;
         queue = sim_scheduler_next_active(scheduler, queue + 1)) {
        if (wants_core(&scheduler->stream[queue])) {
            if (found || scheduler->stream[queue].kernel.next_block) {
                return 0;
            }
            found = queue;
        }
    }
    return found;
}

/* A replayed launch that begins alone is over at once if what it takes is known. */
static bool recall(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_replay *replay = scheduler->replay;
    struct sim_stream *stream = &scheduler->stream[queue];
    const uint64_t next_ps = sim_scheduler_next_time(scheduler);
    const uint64_t first_ps = scheduler->now_ps + sim_ps_from_ns(scheduler->config->dispatch_ns);
    struct sim_memo_launch launch;
    if (!sim_memo_take(replay->memo, replay->present[queue],
                       next_ps > first_ps ? next_ps - first_ps : 0, &launch)) {
        if (sim_memo_is_lost(replay->memo)) {
            sim_replay_fail(replay, "out of host memory");
        }
        sim_memo_begin(replay->memo, replay->present[queue]);
        return false;
    }
    sim_replay_recall(replay, queue);
    stream->start_ps = scheduler->now_ps;
    stream->kernel.sums = launch.sums;
    stream->kernel.next_block = stream->kernel.body.block_num;
    sim_stream_end(stream, first_ps + launch.ps + sim_ps_from_ns(scheduler->config->complete_ns));
    return true;
}

/* It has ended: others like it take as long if it was alone. */
static void remember(struct sim_scheduler *scheduler, const struct sim_stream *stream)
{
    const uint64_t first_ps = stream->start_ps + sim_ps_from_ns(scheduler->config->dispatch_ns);
    const struct sim_memo_launch launch = {stream->kernel.last_end_ps - first_ps,
                                           stream->kernel.sums};
    sim_memo_end(scheduler->replay->memo, stream->fault.code == LEO_FAULT_NONE ? &launch : NULL);
}

void sim_kernel_dispatch(struct sim_scheduler *scheduler)
{
    const unsigned queue = scheduler->replay ? alone(scheduler) : 0;
    if (queue && recall(scheduler, queue)) {
        return;
    }
    dispatch_cores(scheduler);
    if (scheduler->config->vector_cores) {
        dispatch_groups(scheduler);
    }
}

/* Keeps the fault of the lowest block: the same one whatever core was looked at first. */
static void keep_fault(struct sim_scheduler *scheduler, unsigned id)
{
    const struct sim_slot *slot = &scheduler->slot[id];
    const struct sim_time_stats *stats = sim_time_engine_stats(scheduler->cores->engine, id);
    struct sim_stream *stream = &scheduler->stream[slot->queue];
    const struct sim_core *core = &scheduler->cores->core[id];
    if (stream->fault.code != LEO_FAULT_NONE && stream->fault_block < slot->block) {
        return;
    }
    stream->fault = core->scalar.fault;
    stream->fault_cycle = (uint64_t)(stats->returned - stats->begin);
    if (stats->timed_out) {
        stream->fault =
            (struct sim_fault){.code = LEO_FAULT_WATCHDOG, .pc = core->scalar.pc - LEO_MAP_IMAGE};
        stream->fault_cycle = (uint64_t)stream->kernel.limit_cycles;
    } else if (stats->overflow) {
        stream->fault = (struct sim_fault){.code = LEO_FAULT_CROSS_OVERFLOW,
                                           .pc = stats->overflow_pc,
                                           .addr = stats->overflow_flag};
    }
    stream->fault_block = slot->block;
    stream->fault_core = (uint16_t)id;
}

/* The block on core `id` has ended: what it needed, and its fault if it had one. */
static void close_block(struct sim_scheduler *scheduler, unsigned id)
{
    const struct sim_slot *slot = &scheduler->slot[id];
    const struct sim_time_stats *stats = sim_time_engine_stats(scheduler->cores->engine, id);
    struct sim_kernel *kernel = &scheduler->stream[slot->queue].kernel;
    if (slot->stop == SIM_SCALAR_FAULT || stats->timed_out || stats->overflow) {
        keep_fault(scheduler, id);
    }
    if (scheduler->cores->core[id].csr.overflow) {
        scheduler->memory->overflow[scheduler->host->ring[slot->queue].space] = true;
    }
    kernel->sums.core_cycles += stats->end - stats->begin;
    kernel->sums.busy[LEO_PIPE_S] += stats->scalar;
    for (int pipe = LEO_PIPE_V; pipe < LEO_PIPE_COUNT; pipe++) {
        kernel->sums.busy[pipe] += stats->busy[pipe];
    }
    for (int i = 0; i < LEO_PIPE_COUNT * SIM_TIME_STALLS; i++) {
        kernel->sums.stalled[i / SIM_TIME_STALLS][i % SIM_TIME_STALLS] +=
            stats->stalled[i / SIM_TIME_STALLS][i % SIM_TIME_STALLS];
    }
    kernel->sums.gm_read += stats->gm_read;
    kernel->sums.gm_write += stats->gm_write;
    kernel->sums.l2_hits += stats->l2_hits;
    kernel->sums.hbm_read += stats->hbm_read;
    kernel->sums.hbm_write += stats->hbm_write;
    kernel->running--;
    scheduler->stream[slot->queue].looked |= scheduler->cores->core[id].looked;
    if (scheduler->tape) {
        sim_tape_end(scheduler->tape, id, slot->queue, slot->block,
                     member_of(scheduler, kernel, id));
    }
    sim_cross_keep(scheduler, kernel, id);
    uint64_t end_ps = sim_cores_ps(scheduler, stats->end);
    kernel->last_end_ps = end_ps > kernel->last_end_ps ? end_ps : kernel->last_end_ps;
    sim_time_log_finish(&scheduler->cores->core[id].log);
}

/* A kernel of a queue that comes before this one's waits for such a core. */
static bool must_yield(const struct sim_scheduler *scheduler, unsigned queue, unsigned id)
{
    const struct sim_ring *ring = scheduler->host->ring;
    if (ring[queue].priority == 0) {
        return false;
    }
    const unsigned first = first_for(scheduler, scheduler->cores->core[id].kind);
    return first && ring[first].priority < ring[queue].priority;
}

bool sim_kernel_refill(struct sim_scheduler *scheduler, unsigned id)
{
    const struct sim_slot *slot = &scheduler->slot[id];
    const struct sim_time_stats *stats = sim_time_engine_stats(scheduler->cores->engine, id);
    const struct sim_kernel *kernel = &scheduler->stream[slot->queue].kernel;
    // First what the engine found out: a core that it cut off may still be computing values.
    if (stats->timed_out || stats->overflow || !slot->is_over || slot->stop == SIM_SCALAR_FAULT ||
        kernel->group_vectors || !wants_core(&scheduler->stream[slot->queue]) ||
        must_yield(scheduler, slot->queue, id)) {
        return false;
    }
    double now = sim_time_engine_now(scheduler->cores->engine);
    close_block(scheduler, id);
    assign(scheduler, slot->queue, id, now);
    scheduler->stream[slot->queue].kernel.next_block++;
    return true;
}

/* The core is free, or waits for the others of its group. */
static void free_core(struct sim_scheduler *scheduler, unsigned id)
{
    const struct sim_kernel *kernel = &scheduler->stream[scheduler->slot[id].queue].kernel;
    unsigned member[SIM_GROUP_MAX] = {id}, count = 1;
    scheduler->slot[id].state = SIM_CORE_HELD;
    scheduler->running--;
    if (kernel->group_vectors) {
        count = sim_kernel_group(scheduler, kernel, sim_core_group(scheduler, id), member);
    }
    for (unsigned i = 0; i < count; i++) {
        if (scheduler->slot[member[i]].state != SIM_CORE_HELD) {
            return;
        }
    }
    if (kernel->group_vectors) {
        sim_cross_end_group(scheduler, scheduler->slot[id].queue, member, count);
    }
    for (unsigned i = 0; i < count; i++) {
        scheduler->slot[member[i]].state = SIM_CORE_FREE;
    }
}

void sim_kernel_block_end(struct sim_scheduler *scheduler, unsigned id)
{
    struct sim_slot *slot = &scheduler->slot[id];
    struct sim_stream *stream = &scheduler->stream[slot->queue];
    struct sim_kernel *kernel = &stream->kernel;
    close_block(scheduler, id);
    free_core(scheduler, id);
    if (kernel->running || wants_core(stream)) {
        return;
    }
    sim_image_release(kernel->image);
    kernel->image = NULL;
    if (scheduler->replay) {
        remember(scheduler, stream);
    }
    give_team(scheduler, kernel);
    sim_cross_end(scheduler, (unsigned)(stream - scheduler->stream));
    sim_checks_finish(stream);
    sim_stream_end(stream, kernel->last_end_ps + sim_ps_from_ns(scheduler->config->complete_ns));
}

void sim_kernel_abandon(struct sim_scheduler *scheduler, unsigned queue)
{
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        struct sim_slot *slot = &scheduler->slot[id];
        if (slot->state != SIM_CORE_FREE && slot->queue == queue) {
            scheduler->running -= slot->state == SIM_CORE_RUNNING;
            slot->state = SIM_CORE_FREE;
            sim_time_engine_abandon(scheduler->cores->engine, id);
            if (scheduler->debug) {
                sim_debug_end(&scheduler->cores->core[id]);
            }
            sim_time_log_finish(&scheduler->cores->core[id].log);
        }
    }
    give_team(scheduler, &scheduler->stream[queue].kernel);
    sim_image_release(scheduler->stream[queue].kernel.image);
    scheduler->stream[queue].kernel.image = NULL;
}
