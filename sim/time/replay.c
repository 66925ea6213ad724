/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include "../memory/l2.h"
#include <math.h>
#include <string.h>

void sim_time_leave_line(struct sim_time_pipe *pipe)
{
    if (pipe->line) {
        pipe->met[pipe->met_now].sharers = pipe->line->most;
        pipe->line->active--;
        pipe->line = NULL;
    }
}

void sim_time_forget_sharers(struct sim_time_pipe *pipe)
{
    memset(pipe->met, 0, sizeof(pipe->met));
    pipe->met_now = pipe->met_next = 0;
}

/* Where what the last transfer of this shape met is kept. */
static struct sim_time_met *met_of(struct sim_time_pipe *pipe, const struct sim_time_gm *gm)
{
    for (unsigned i = 0; i < SIM_TIME_SHAPES; i++) {
        const struct sim_time_met *met = &pipe->met[i];
        if (met->bytes == gm->bytes && met->piece == gm->piece && met->count == gm->count &&
            met->step == gm->step && met->more_step == gm->more_step) {
            pipe->met_now = i;
            return &pipe->met[i];
        }
    }
    pipe->met_now = pipe->met_next;
    pipe->met_next = (pipe->met_next + 1) % SIM_TIME_SHAPES;
    pipe->met[pipe->met_now] = (struct sim_time_met){.bytes = gm->bytes,
                                                     .step = gm->step,
                                                     .more_step = gm->more_step,
                                                     .piece = gm->piece,
                                                     .count = gm->count,
                                                     .sharers = 1};
    return &pipe->met[pipe->met_now];
}

void sim_time_core_begin(struct sim_time_engine *engine, unsigned id, struct sim_time_log *log,
                         double start, double lead, double limit)
{
    struct sim_time_core *core = &engine->core[id];
    for (uint64_t used = core->flags_used; used; used &= used - 1) {
        unsigned pair = (unsigned)__builtin_ctzll(used);
        memset(core->flag[pair / LEO_PIPE_COUNT][pair % LEO_PIPE_COUNT], 0,
               sizeof(core->flag[0][0]));
    }
    for (unsigned i = 0; i < LEO_PIPE_COUNT; i++) {
        struct sim_time_pipe *pipe = &core->pipe[i];
        pipe->free_at = pipe->send_free = pipe->done = pipe->not_before = start;
        pipe->issued = pipe->started = pipe->first = pipe->count = 0;
        pipe->moving = false;
        pipe->why = LEO_STALL_SCALAR;
        sim_time_leave_line(pipe);
        sim_time_forget_sharers(pipe);
    }
    core->front = SIM_TIME_RUNNING;
    core->log = log;
    core->cycle = start + lead;
    core->limit = limit;
    core->is_counted = core->is_marked = false;
    core->ready = 0;
    core->flags_used = 0;
    core->made = core->released = 0;
    sim_time_cross_begin(core);
    sim_time_stores_begin(core);
    core->stats = (struct sim_time_stats){.begin = start, .scalar = lead};
    core->row = (struct sim_time_row){.open = true, .from = start};
}

/* ---- pipes ---- */

static void note_start(struct sim_time_pipe *pipe, double start)
{
    pipe->start[pipe->started++ % SIM_TIME_DEPTH] = start;
}

/* The pipe is busy from `start` to `end`; what earlier work covers counts once. */
static void note_busy(struct sim_time_core *core, unsigned index, double start, double end)
{
    struct sim_time_pipe *pipe = &core->pipe[index];
    double from = sim_time_max(start, pipe->done);
    core->stats.busy[index] += end > from ? end - from : 0;
    pipe->done = sim_time_max(pipe->done, end);
}

/* The pipe stood from the end of everything before until `start`: until the scalar unit issued the
 * instruction, then for the flag or barrier. Gives all of it and what it was in the end. */
static double note_wait(struct sim_time_core *core, unsigned index, double issued, double start,
                        enum leo_stall *why)
{
    const struct sim_time_pipe *pipe = &core->pipe[index];
    double *stalled = core->stats.stalled[index];
    double idle = start - pipe->done;
    *why = LEO_STALL_SCALAR;
    if (idle <= 0) {
        return 0;
    }
    double late = sim_time_min(sim_time_max(issued - pipe->done, 0), idle);
    stalled[LEO_STALL_SCALAR] += late;
    if (pipe->not_before > issued) {
        *why = pipe->why;
        stalled[pipe->why] += idle - late;
    }
    return idle;
}

static void hold(struct sim_time_pipe *pipe, double until, enum leo_stall why, enum leo_pipe from)
{
    if (until > pipe->not_before) {
        pipe->not_before = until;
        pipe->why = why;
        pipe->from = from;
    }
}

/* Result or release `number`, its low bits, of `count` so far: false if it is not known yet. Those
 * long ago keep no block waiting. */
static bool piecewise(const struct sim_time_piecewise *ring, uint32_t count, uint8_t number,
                      struct sim_time_piecewise *at)
{
    uint8_t behind = (uint8_t)(count - number);
    if (behind == 0 || behind > UINT8_MAX / 2) {
        return false;
    }
    *at = behind <= SIM_TIME_HANDS ? ring[(count - behind) % SIM_TIME_HANDS]
                                   : (struct sim_time_piecewise){0, 0};
    return true;
}

/* What an instruction of M or FIX follows piece by piece; false: not known yet. */
static bool follows(struct sim_time_core *core, unsigned index,
                    const struct sim_time_record *record, struct sim_time_piecewise *at)
{
    *at = (struct sim_time_piecewise){0, 0};
    const bool takes = record->hand & SIM_TIME_HAND_TAKE;
    if (takes ? !piecewise(core->make, core->made, record->id, at)
              : record->hand & SIM_TIME_HAND_AFTER &&
                    !piecewise(core->release, core->released, record->dst, at)) {
        return false;
    }
    hold(&core->pipe[index], at->start, LEO_STALL_FLAG, takes ? LEO_PIPE_M : LEO_PIPE_FIX);
    return true;
}

/* It hands on what others follow. */
static void leads(struct sim_time_core *core, const struct sim_time_record *record, double start,
                  double end)
{
    if (record->hand & SIM_TIME_HAND_MAKE) {
        core->make[core->made++ % SIM_TIME_HANDS] = (struct sim_time_piecewise){start, end};
        core->ready |= UINT32_C(1) << LEO_PIPE_FIX;
    }
    if (record->hand & SIM_TIME_HAND_RELEASE) {
        core->release[core->released++ % SIM_TIME_HANDS] = (struct sim_time_piecewise){start, end};
        core->ready |= UINT32_C(1) << LEO_PIPE_M;
    }
}

static void start_local(struct sim_time_engine *engine, unsigned id, unsigned index,
                        const struct sim_time_record *record, double issued, double least)
{
    struct sim_time_core *core = &engine->core[id];
    struct sim_time_pipe *pipe = &core->pipe[index];
    double start = sim_time_max(issued, sim_time_max(pipe->free_at, pipe->not_before));
    double end = sim_time_max(start + record->busy, least);
    struct sim_time_span span = {.start = start, .end = end, .from = pipe->from};
    note_start(pipe, start);
    span.wait = note_wait(core, index, issued, start, &span.why);
    note_busy(core, index, start, span.end);
    core->stats.stalled[index][LEO_STALL_BANK] += record->bank;
    pipe->free_at = pipe->send_free = end - record->overlap;
    leads(core, record, start + record->overlap, end);
    if (engine->trace) {
        engine->trace(engine->trace_user, id, record, &span);
    }
}

/* A transfer asks for its first byte when the one before has sent its last request, and moves bytes
 * behind it. */
static void start_move(struct sim_time_engine *engine, unsigned id, unsigned index,
                       const struct sim_time_record *record, const struct sim_time_gm *gm,
                       double issued, double least)
{
    struct sim_time_pipe *pipe = &engine->core[id].pipe[index];
    pipe->move.record = *record;
    pipe->move.gm = *gm;
    pipe->move_send = sim_time_max(issued, sim_time_max(pipe->send_free, pipe->not_before));
    pipe->move_begin = sim_time_max(pipe->move_send + record->head, pipe->free_at);
    pipe->moving = true;
    if (record->hand) {
        double rate = sim_time_min(engine->config.write_port, gm->path);
        pipe->move_least = sim_time_max(
            least, pipe->move_begin + sim_time_max(record->busy, (double)gm->bytes / rate));
        leads(&engine->core[id], record, pipe->move_begin, pipe->move_least);
    } else {
        pipe->move_least = 0;
    }
    pipe->move_wait = note_wait(&engine->core[id], index, issued, pipe->move_send, &pipe->move_why);
    note_start(pipe, pipe->move_begin);
    sim_time_event_push(engine, pipe->move_begin, id, index);
}

static struct sim_time_flag *flag_of(struct sim_time_core *core,
                                     const struct sim_time_record *record)
{
    return &core->flag[record->pipe][record->dst][record->id % SIM_TIME_FLAGS];
}

static bool flag_set(struct sim_time_core *core, const struct sim_time_record *record, double at)
{
    struct sim_time_flag *flag = flag_of(core, record);
    if (flag->sets - flag->waits == SIM_TIME_FLAG_SETS) {
        return false;
    }
    flag->at[flag->sets++ % SIM_TIME_FLAG_SETS] = at;
    core->flags_used |= UINT64_C(1) << (record->pipe * LEO_PIPE_COUNT + record->dst);
    core->ready |= UINT32_C(1) << record->dst;
    return true;
}

static bool flag_wait(struct sim_time_core *core, const struct sim_time_record *record, double *at)
{
    struct sim_time_flag *flag = flag_of(core, record);
    if (flag->sets == flag->waits) {
        return false;
    }
    *at = flag->at[flag->waits++ % SIM_TIME_FLAG_SETS];
    core->ready |= UINT32_C(1) << record->pipe;
    return true;
}

/* The pipe takes a record; false: it cannot yet. */
static bool take(struct sim_time_engine *engine, unsigned id, unsigned index,
                 const struct sim_time_record *record, const struct sim_time_gm *gm, double issued)
{
    struct sim_time_core *core = &engine->core[id];
    struct sim_time_pipe *pipe = &core->pipe[index];
    double drained = sim_time_max(issued, sim_time_max(pipe->done, pipe->not_before));
    struct sim_time_piecewise before;
    double at;
    if (pipe->moving || !follows(core, index, record, &before)) {
        return false;
    }
    switch ((enum sim_time_kind)record->kind) {
    case SIM_TIME_OP:
        start_local(engine, id, index, record, issued, before.end);
        return true;
    case SIM_TIME_OP_GM:
        start_move(engine, id, index, record, gm, issued, before.end);
        return true;
    case SIM_TIME_SET:
        return flag_set(core, record, drained + engine->config.flag_set);
    case SIM_TIME_WAIT:
        if (!flag_wait(core, record, &at)) {
            return false;
        }
        hold(pipe, at + engine->config.flag_wait, LEO_STALL_FLAG, (enum leo_pipe)record->pipe);
        return true;
    case SIM_TIME_BARRIER:
        hold(pipe, drained + record->busy, LEO_STALL_BARRIER, (enum leo_pipe)index);
        return true;
    case SIM_TIME_POST:
        sim_time_cross_post(engine, id, record, drained + engine->config.flag_set);
        return true;
    case SIM_TIME_STORE:
        sim_time_store_done(engine, id, record->work, drained);
        return true;
    case SIM_TIME_PEND:
    case SIM_TIME_POLL:
    case SIM_TIME_PARK:
    case SIM_TIME_DRAIN:
    case SIM_TIME_FETCH:
    case SIM_TIME_SCALAR:
    case SIM_TIME_MARK:
    case SIM_TIME_END:
    case SIM_TIME_LINK:
        break;
    }
    return true;
}

static void run_pipe(struct sim_time_engine *engine, unsigned id, unsigned index)
{
    struct sim_time_pipe *pipe = &engine->core[id].pipe[index];
    while (pipe->count) {
        const struct sim_time_entry *entry = &pipe->entry[pipe->first];
        if (!take(engine, id, index, &entry->record, &entry->gm, entry->issued)) {
            return;
        }
        pipe->first = (pipe->first + 1) % SIM_TIME_WAITING;
        pipe->count--;
    }
}

/* Hands a record to a pipe, which may take it at once; false: the pipe holds too many. */
static bool hand_over(struct sim_time_engine *engine, unsigned id, unsigned index,
                      const struct sim_time_record *record, const struct sim_time_gm *gm)
{
    struct sim_time_core *core = &engine->core[id];
    struct sim_time_pipe *pipe = &core->pipe[index];
    if (pipe->count == 0 && take(engine, id, index, record, gm, core->cycle)) {
        return true;
    }
    if (pipe->count == SIM_TIME_WAITING) {
        return false;
    }
    struct sim_time_entry *entry = &pipe->entry[(pipe->first + pipe->count++) % SIM_TIME_WAITING];
    entry->record = *record;
    entry->issued = core->cycle;
    if (gm) {
        entry->gm = *gm;
    }
    return true;
}

/* ---- the scalar unit ---- */

static void stall(struct sim_time_engine *engine, unsigned id, double until, enum leo_stall why,
                  enum leo_pipe source)
{
    struct sim_time_core *core = &engine->core[id];
    if (until > core->cycle) {
        if (engine->trace) {
            sim_time_row_wait(engine, id, until - core->cycle, why, source);
        }
        core->stats.stalled[LEO_PIPE_S][why] += until - core->cycle;
        core->cycle = until;
    }
}

/* A place in the pipe's queue is free again when the instruction in it starts; false: that is not
 * known yet. */
static bool wait_for_place(struct sim_time_engine *engine, unsigned id, unsigned index)
{
    struct sim_time_pipe *pipe = &engine->core[id].pipe[index];
    uint32_t depth = engine->config.queue_depth[index];
    if (pipe->count == SIM_TIME_WAITING) {
        return false;
    }
    if (pipe->issued >= depth) {
        unsigned before = pipe->issued - depth;
        if (before >= pipe->started) {
            return false;
        }
        stall(engine, id, pipe->start[before % SIM_TIME_DEPTH], LEO_STALL_QUEUE,
              (enum leo_pipe)index);
    }
    return true;
}

/* Everything issued to the pipes is done and when; false: not known yet. */
static bool all_done(const struct sim_time_core *core, double *when)
{
    double end = core->cycle;
    for (unsigned i = 0; i < LEO_PIPE_COUNT; i++) {
        const struct sim_time_pipe *pipe = &core->pipe[i];
        if (pipe->count || pipe->moving) {
            return false;
        }
        end = sim_time_max(end, pipe->done);
    }
    *when = end;
    return true;
}

static bool barrier_all(struct sim_time_engine *engine, unsigned id)
{
    struct sim_time_core *core = &engine->core[id];
    double end;
    if (!all_done(core, &end)) {
        return false;
    }
    for (unsigned i = 0; i < LEO_PIPE_COUNT; i++) {
        end = sim_time_max(end, core->pipe[i].not_before);
    }
    stall(engine, id, end + engine->config.barrier, LEO_STALL_BARRIER, LEO_PIPE_S);
    for (unsigned i = 0; i < LEO_PIPE_COUNT; i++) {
        hold(&core->pipe[i], core->cycle, LEO_STALL_BARRIER, LEO_PIPE_S);
    }
    return true;
}

static void end_block(struct sim_time_engine *engine, unsigned id, double end)
{
    struct sim_time_core *core = &engine->core[id];
    sim_time_row_end(engine, id);
    core->front = SIM_TIME_OVER;
    core->stats.end = end;
    sim_time_event_push(engine, sim_time_max(end, engine->now), id, LEO_PIPE_COUNT);
}

/* Nothing will end what the core waits for in the `last` records of its log; false: work is still
 * under way. */
static bool end_waiting(struct sim_time_engine *engine, unsigned id, uint64_t last)
{
    struct sim_time_core *core = &engine->core[id];
    double at;
    const bool is_last = core->log->published - core->log->read == last;
    if (!core->gave_up || !(is_last || core->gave_up_anywhere) || !all_done(core, &at)) {
        return false;
    }
    core->stats.returned = core->cycle;
    end_block(engine, id, at);
    return true;
}

static void time_out(struct sim_time_engine *engine, unsigned id)
{
    struct sim_time_core *core = &engine->core[id];
    core->stats.timed_out = true;
    core->stats.returned = core->stats.begin + core->limit;
    end_block(engine, id, core->stats.begin + core->limit);
}

/* Takes the next record of the program; false: it must wait. */
static bool read_record(struct sim_time_engine *engine, unsigned id)
{
    struct sim_time_core *core = &engine->core[id];
    const struct sim_time_gm *gm = NULL;
    const struct sim_time_record *record = sim_time_log_peek(core->log, &gm);
    double at;
    if (!record) {
        core->front = SIM_TIME_HUNGRY;
        if (!core->is_parked) {
            engine->horizon = sim_time_min(engine->horizon, core->cycle);
        } else {
            (void)end_waiting(engine, id, 0);
        }
        return false;
    }
    core->is_parked = false;
    if (!core->is_counted) {
        if (engine->trace && record->scalar > 0) {
            sim_time_row_work(core, core->cycle, record->pc);
        }
        core->cycle += record->scalar;
        core->stats.scalar += record->scalar;
        core->is_counted = true;
    }
    if (core->cycle - core->stats.begin >= core->limit) {
        time_out(engine, id);
        return false;
    }
    if (core->stats.overflow) {
        core->stats.returned = core->cycle;
        end_block(engine, id, core->cycle);
        return false;
    }
    switch ((enum sim_time_kind)record->kind) {
    case SIM_TIME_OP:
    case SIM_TIME_OP_GM:
        if (!wait_for_place(engine, id, record->pipe)) {
            return false;
        }
        core->pipe[record->pipe].issued++;
        (void)hand_over(engine, id, record->pipe, record, gm);
        break;
    case SIM_TIME_SET:
        if (record->pipe == LEO_PIPE_S && engine->trace) {
            sim_time_row_end(engine, id); // who waits for the flag waits for this bar
        }
        if (record->pipe == LEO_PIPE_S
                ? !flag_set(core, record, core->cycle + engine->config.flag_set)
                : !hand_over(engine, id, record->pipe, record, NULL)) {
            return false;
        }
        break;
    case SIM_TIME_WAIT:
        if (record->dst == LEO_PIPE_S) {
            if (!flag_wait(core, record, &at)) {
                return false;
            }
            stall(engine, id, at + engine->config.flag_wait, LEO_STALL_FLAG,
                  (enum leo_pipe)record->pipe);
        } else if (!hand_over(engine, id, record->dst, record, NULL)) {
            return false;
        }
        break;
    case SIM_TIME_BARRIER:
        if (record->pipe == LEO_PIPE_ALL ? !barrier_all(engine, id)
                                         : !hand_over(engine, id, record->pipe, record, NULL)) {
            return false;
        }
        break;
    case SIM_TIME_DRAIN:
        if (core->pipe[record->pipe].count || core->pipe[record->pipe].moving) {
            return false;
        }
        stall(engine, id, core->pipe[record->pipe].done, LEO_STALL_BARRIER,
              (enum leo_pipe)record->pipe);
        break;
    case SIM_TIME_FETCH:
        at = record->pc * engine->config.fetch[record->dst];
        core->stats.scalar += at;
        stall(engine, id, core->cycle + at, LEO_STALL_MEMORY, LEO_PIPE_S);
        break;
    case SIM_TIME_POST:
        if (!hand_over(engine, id, record->pipe, record, NULL)) {
            return false;
        }
        break;
    case SIM_TIME_PEND:
        if (!sim_time_cross_pend(core, record->id, &at)) {
            (void)end_waiting(engine, id, 1);
            return false;
        }
        stall(engine, id, at + engine->config.flag_wait, LEO_STALL_FLAG, LEO_PIPE_S);
        break;
    case SIM_TIME_STORE:
        sim_time_store_issue(engine, id, record->work);
        if (record->pipe == LEO_PIPE_S) {
            sim_time_store_done(engine, id, record->work,
                                core->cycle + engine->config.write_latency);
        } else if (!hand_over(engine, id, record->pipe, record, NULL)) {
            return false;
        }
        break;
    case SIM_TIME_POLL:
        core->polls = true;
        if (!sim_time_poll(engine, record, &at)) {
            (void)end_waiting(engine, id, 1);
            return false;
        }
        stall(engine, id, at, LEO_STALL_FLAG, LEO_PIPE_S);
        break;
    case SIM_TIME_PARK:
        core->is_parked = true;
        break;
    case SIM_TIME_SCALAR:
    case SIM_TIME_LINK:
        break;
    case SIM_TIME_MARK:
        core->is_marked = true;
        break;
    case SIM_TIME_END:
        if (!all_done(core, &at)) {
            return false;
        }
        core->stats.returned = core->cycle;
        sim_time_cross_end(core);
        if (at - core->stats.begin >= core->limit) {
            time_out(engine, id);
        } else {
            end_block(engine, id, at);
        }
        break;
    }
    core->is_counted = false;
    sim_time_log_pop(core->log);
    return core->front == SIM_TIME_RUNNING;
}

void sim_time_core_advance(struct sim_time_engine *engine, unsigned id)
{
    struct sim_time_core *core = &engine->core[id];
    if (core->front == SIM_TIME_HUNGRY) {
        core->front = SIM_TIME_RUNNING;
    }
    do {
        while (core->ready) {
            unsigned index = (unsigned)__builtin_ctz(core->ready);
            core->ready &= core->ready - 1;
            run_pipe(engine, id, index);
        }
        while (core->front == SIM_TIME_RUNNING && read_record(engine, id)) {
        }
    } while (core->ready);
}

/* ---- transfers ---- */

void sim_time_tell(struct sim_time_engine *engine, const struct sim_time_gm *gm, unsigned access)
{
    struct sim_l2 *l2 = engine->l2;
    const bool write = access & SIM_TIME_ACCESS_WRITE, past = access & SIM_TIME_ACCESS_NO_L2;
    uint64_t piece = gm->piece, count = gm->count;
    if (gm->step == piece) {
        piece *= count;
        count = 1;
    }
    for (uint64_t again = 0; again <= gm->more; again++) {
        uint64_t addr = gm->addr + again * gm->more_step;
        for (uint64_t i = 0; i < count; i++) {
            (past ? sim_l2_pass : sim_l2_use)(l2, addr + i * gm->step, piece, write);
        }
    }
}

/* A line serves one request at a time: cores that walk over the same lines together wait for each
 * other. How many they are is known when all have begun, so what the last transfer of the operand
 * saw counts too.
 */
static unsigned join_line(struct sim_time_engine *engine, struct sim_time_pipe *pipe,
                          const struct sim_time_gm *gm)
{
    uint64_t number = gm->addr / SIM_L2_LINE_BYTES;
    const struct sim_time_met *met = met_of(pipe, gm);
    struct sim_time_line *line =
        &engine->line[(number * UINT64_C(0x9e3779b97f4a7c15)) >> 52 & (SIM_TIME_LINES - 1)];
    pipe->line = NULL;
    if (line->active && line->line != number) {
        return 1; // the place of another one that is in use
    }
    if (!line->active) {
        *line = (struct sim_time_line){.line = number};
    }
    line->active++;
    line->most = line->active > line->most ? line->active : line->most;
    pipe->line = line;
    unsigned sharers = line->most > met->sharers ? line->most : met->sharers;
    // In steps of a quarter: transfers with the same limit progress alike (share.h).
    unsigned step = sharers < 8 ? 1 : (1u << (31 - (unsigned)__builtin_clz(sharers))) / 4;
    return (sharers + step - 1) / step * step;
}

struct sim_time_answer sim_time_ask(struct sim_time_engine *engine, struct sim_time_pipe *pipe,
                                    const struct sim_time_gm *gm, unsigned access)
{
    struct sim_l2 *l2 = engine->l2;
    const bool write = access & SIM_TIME_ACCESS_WRITE;
    l2->used_bytes = l2->read_bytes = l2->written_bytes = l2->read_runs = 0;
    l2->last_read = 0; // other transfers come between
    sim_time_tell(engine, gm, access);
    return (struct sim_time_answer){
        .read = l2->read_bytes,
        .written = l2->written_bytes,
        .runs = l2->read_runs,
        .sharers = write ? 1 : join_line(engine, pipe, gm),
    };
}

/* Lines come whole: what was not asked for follows behind the transfer. */
static void fill_lines(struct sim_time_engine *engine, unsigned id, double bytes)
{
    engine->fill[id] += bytes;
    unsigned slot = engine->config.cores * LEO_PIPE_COUNT + id;
    if (engine->fill[id] > 0 && sim_share_is_free(engine->share, slot)) {
        struct sim_flow flow = {.bytes = {0, 0, engine->fill[id]},
                                .cap = {INFINITY, INFINITY, INFINITY}};
        engine->fill[id] = 0;
        sim_share_begin(engine->share, slot, engine->now, &flow);
    }
}

void sim_time_fill_end(struct sim_time_engine *engine, unsigned id)
{
    fill_lines(engine, id, 0);
}

void sim_time_move_begin(struct sim_time_engine *engine, unsigned id, unsigned index)
{
    const struct sim_time_config *config = &engine->config;
    struct sim_time_pipe *pipe = &engine->core[id].pipe[index];
    struct sim_time_stats *stats = &engine->core[id].stats;
    const struct sim_time_gm *gm = &pipe->move.gm;
    const bool write = pipe->move.record.access & SIM_TIME_ACCESS_WRITE;
    const struct sim_time_answer answer = sim_time_ask(engine, pipe, gm, pipe->move.record.access);
    double bytes = (double)gm->bytes, fetched = (double)answer.read;
    double missed = sim_time_min(bytes, fetched);
    double port = sim_time_min(write ? config->write_port : config->read_port,
                               gm->path ? gm->path : INFINITY);
    // No more requests are in flight than a core may have: the answer's latency limits the rate.
    double window = write ? INFINITY : config->read_requests * gm->request;
    // What HBM could have read meanwhile: bytes it takes back, turning its bus for them, and pages
    // it opens.
    double back = (double)answer.written * config->hbm_read_rate / config->hbm_write_rate +
                  (answer.written ? config->hbm_turn : 0) + (double)answer.runs * config->hbm_run;
    struct sim_flow flow = {
        .bytes = {bytes - missed, missed, back},
        .cap = {sim_time_min(port, window / config->read_hit_latency),
                sim_time_min(port, window / config->read_miss_latency), INFINITY},
    };
    if (!write) {
        double most =
            answer.sharers > 1 ? window / (config->same_line_cycles * answer.sharers) : INFINITY;
        flow.cap[SIM_FLOW_HIT] = sim_time_min(flow.cap[SIM_FLOW_HIT], most);
        flow.cap[SIM_FLOW_MISS] = sim_time_min(flow.cap[SIM_FLOW_MISS], most);
        fill_lines(engine, id, fetched - missed);
    }
    pipe->move_latency = write        ? config->write_latency
                         : missed > 0 ? config->read_miss_latency
                                      : config->read_hit_latency;
    *(write ? &stats->gm_write : &stats->gm_read) += gm->bytes;
    pipe->move_missed = write ? 0 : (uint64_t)missed;
    stats->l2_hits += write ? 0 : gm->bytes - (uint64_t)missed;
    stats->hbm_read += answer.read;
    stats->hbm_write += answer.written;
    if (engine->watch) {
        engine->watch->begin(engine->watch->user, id, index, &answer);
    }
    sim_share_begin(engine->share, id * LEO_PIPE_COUNT + index, engine->now, &flow);
}

/* Of what a transfer adds to the busy time of its pipe, all that its port would not need. */
static void note_memory(const struct sim_time_engine *engine, struct sim_time_core *core,
                        unsigned index, double done)
{
    const struct sim_time_config *config = &engine->config;
    const struct sim_time_pipe *pipe = &core->pipe[index];
    const bool write = pipe->move.record.access & SIM_TIME_ACCESS_WRITE;
    double port = write ? config->write_port : config->read_port;
    double path = sim_time_min(port, pipe->move.gm.path ? pipe->move.gm.path : INFINITY);
    double added = done - sim_time_max(pipe->move_send, pipe->done);
    double lost = added - (double)pipe->move.gm.bytes / path;
    core->stats.stalled[index][LEO_STALL_MEMORY] += lost > 0 ? lost : 0;
}

/* When the transfer's result is there and when the next one may begin. */
void sim_time_move_end(struct sim_time_engine *engine, unsigned id, unsigned index)
{
    const struct sim_time_config *config = &engine->config;
    struct sim_time_core *core = &engine->core[id];
    struct sim_time_pipe *pipe = &core->pipe[index];
    const struct sim_time_record *record = &pipe->move.record;
    const struct sim_time_gm *gm = &pipe->move.gm;
    double end = engine->now, asked = pipe->move_send + record->head;
    double least =
        sim_time_max(sim_time_max(end, pipe->move_least), pipe->move_begin + record->busy);
    double done = least + pipe->move_latency;
    pipe->free_at = pipe->send_free = sim_time_max(least, pipe->move_begin + config->gm_interval);
    if (!(record->access & SIM_TIME_ACCESS_WRITE)) {
        double port = sim_time_min(config->read_port, gm->path ? gm->path : INFINITY);
        double fair =
            sim_time_min(port, sim_share_fair_rate(engine->share, id * LEO_PIPE_COUNT + index));
        double in_flight = sim_time_min((double)gm->bytes, config->read_requests * gm->request);
        // The first answer takes the latency; the others follow as fast as the memory gives them,
        // and no faster than requests are free.
        done = sim_time_max(least + in_flight / port,
                            asked + pipe->move_latency + (double)gm->bytes / fair);
        pipe->send_free =
            sim_time_max(asked + sim_time_max((double)gm->bytes / port, config->gm_interval),
                         least - pipe->move_latency);
        pipe->send_free = sim_time_min(pipe->send_free, pipe->free_at);
    }
    note_memory(engine, core, index, done);
    note_busy(core, index, pipe->move_send, done);
    if (engine->trace) {
        const struct sim_time_span span = {.start = pipe->move_send,
                                           .end = done,
                                           .wait = pipe->move_wait,
                                           .why = pipe->move_why,
                                           .from = pipe->from,
                                           .missed = pipe->move_missed};
        engine->trace(engine->trace_user, id, record, &span);
    }
    pipe->moving = false;
    if (engine->watch && !(record->access & SIM_TIME_ACCESS_WRITE)) {
        engine->watch->end(engine->watch->user, id, index);
    }
    sim_time_leave_line(pipe);
    core->ready |= UINT32_C(1) << index;
    sim_time_core_advance(engine, id);
}
