/* SPDX-License-Identifier: Apache-2.0 */
/* Streams (one a queue), their present task, and what it waits for. Times are picoseconds of the
 * chip's clock. */
#pragma once

#include "../core/cores.h"
#include "../function/function.h"
#include "../memory/memory.h"
#include "../replay/memo.h"
#include "../scalar/scalar.h"
#include "../section.h"
#include "image.h"
#include <leo/faults.h>
#include <leo/layout.h>
#include <stdbool.h>
#include <stdint.h>

struct leo_debugger;
struct sim_debug;
struct sim_replay;
struct sim_check_global;
struct sim_findings;
struct sim_run_ahead;
struct sim_run_ahead_task;
struct sim_stores;

enum {
    SIM_GROUP_MAX = 255,
    SIM_NO_TEAM = 0xffff,
    SIM_STRETCH_PLACES = 2048 /**< log of one stretch: under 100 KB */
};

enum sim_task_state {
    SIM_TASK_NONE,   /**< the stream has nothing fetched */
    SIM_TASK_EARLY,  /**< starts at ready_ps */
    SIM_TASK_EVENT,  /**< waits for an event slot */
    SIM_TASK_VALUE,  /**< waits for a value in device memory */
    SIM_TASK_KERNEL, /**< has blocks to hand out or running */
    SIM_TASK_DONE    /**< completes at end_ps, when the ring has room */
};

/** Of the cores of one side of a launch that have ended: a flag in mode ALL. */
struct sim_cross_ended {
    uint32_t set, taken; /**< fewest sets, and fewest waits, by one of them */
    uint32_t block, pc;  /**< of the one with the fewest waits, and its set */
    uint16_t core;
};

/** A kernel on its way through the cores. */
struct sim_kernel {
    struct leo_sqe_kernel body;
    struct sim_image *image;
    enum leo_core_kind kind;
    uint32_t next_block, running;
    uint32_t started_cores;
    double limit_cycles;
    uint32_t group_vectors; /**< vector cores that run a block together with a cube core */
    unsigned team;          /**< for the event engine; SIM_NO_TEAM before the first block */
    uint32_t ended[2];      /**< blocks' cores that have ended, by side (vector) */
    struct sim_cross_ended all[2][SIM_CROSS_FLAGS];
    uint64_t last_end_ps;
    struct sim_kernel_sums sums;
};

struct sim_stream {
    enum sim_task_state state;
    struct leo_sqe entry;
    uint64_t ready_ps, start_ps, end_ps;
    uint64_t free_ps; /**< end of the last task, 0 = none yet */
    bool had_task;
    bool failed;            /**< a task of the queue ended in a fault */
    struct sim_fault fault; /**< of the present task; code NONE = none so far */
    uint32_t fault_block;   /**< lowest block that faulted */
    uint16_t fault_core;
    uint64_t fault_cycle;
    struct sim_kernel kernel;
    struct sim_check_global *check; /**< of the present kernel; NULL = not checked */
    bool checked;                   /**< the fault is the checker's first finding */
    struct sim_findings *stuck;     /**< who waits for whom in a deadlock; NULL = none so far */
    bool looked;                    /**< the present task read values that were not computed */
    uint8_t *args;                  /**< copy of the argument block */
    uint32_t args_capacity;
    struct sim_run_ahead_task *early; /**< what was computed of the present task before its time */
};

enum sim_core_state {
    SIM_CORE_FREE,
    SIM_CORE_RUNNING,
    SIM_CORE_HELD /**< ended, but others of its group run the same block */
};

/** Where a stretch of a block's values begins. */
struct sim_stretch_begin {
    double cycle;
    uint64_t written; /**< places of the log */
};

/** What was computed of a core's block before its time (run_ahead.h). */
struct sim_run_ahead_done {
    const uint64_t *end; /**< places of the log at the end of each stretch */
    uint32_t stretches, shown;
    bool is_over; /**< with the last of them: `stop` */
    enum sim_scalar_stop stop;
    bool is_within; /**< another one was begun */
    struct sim_stretch_begin begin;
};

/** What the scheduler knows of a core. */
struct sim_slot {
    enum sim_core_state state;
    unsigned queue; /**< of the task that has it */
    uint32_t block;
    bool is_over; /**< all of its values are computed, or it faulted: `stop` */
    enum sim_scalar_stop stop;
    struct sim_run_ahead_done early;
};

struct sim_events {
    uint64_t *value;
    uint32_t count;
};

struct sim_scheduler {
    /* What it works with; the chip gives it before anything else is done. */
    const struct sim_config *config;
    struct sim_cores *cores;
    struct sim_memory *memory;
    struct sim_function *host;
    struct sim_tape *tape;              /**< what it does is recorded; NULL = it is not */
    const struct leo_debugger *counter; /**< instructions are counted there; NULL = they are not */
    struct sim_debug *debug;            /**< a debugger is attached; NULL = none is */
    struct sim_replay *replay; /**< what it does comes from a tape; NULL = from its rings */

    uint64_t now_ps;
    uint64_t epoch_ps;         /**< cycle 0 of the event engine */
    struct sim_stream *stream; /**< by queue number */
    uint64_t *active;          /**< bit set: the queue may have something to do */
    struct sim_slot *slot;     /**< by core */
    unsigned running;          /**< slots in SIM_CORE_RUNNING */
    struct sim_events *events; /**< by address space */
    struct sim_image_cache images;
    uint64_t teams[4];               /**< bit set: the number belongs to a kernel */
    uint64_t engine_free_ps[3];      /**< host to device, device to host, within the device */
    _Atomic unsigned wanted;         /**< threads that wait for the chip */
    struct sim_run_ahead *run_ahead; /**< NULL = no values were computed before their time */
    struct sim_stores *stores; /**< of cores that are polled; not in use while no core polls */
    bool watched;              /**< in use always */
    bool rests;                /**< cores are running, but nothing happens */
    bool for_ever;             /**< the host waits without a limit, and submits nothing */
    /* The present round (cores.c). */
    uint16_t run_core[256];
    double until; /**< cycle the engine goes to */
    enum sim_time_stop engine_stop;
    unsigned engine_core;
};

leo_status sim_scheduler_init(struct sim_scheduler *scheduler);
void sim_scheduler_finish(struct sim_scheduler *scheduler);
/** Stops everything, before its state is zeroed. */
void sim_scheduler_reset(struct sim_scheduler *scheduler);
/** Its state (section.h). */
bool sim_scheduler_walk(struct sim_scheduler *scheduler, sim_stretch_fn fn, void *user);
/** No task is under way or waits. */
bool sim_scheduler_is_idle(const struct sim_scheduler *scheduler);
/** Whether a space can have so many event slots. */
bool sim_events_are_legal(uint32_t count);
void sim_scheduler_wake(struct sim_scheduler *scheduler, unsigned queue);
/** queues.c: whether a queue may have something to do. */
void sim_scheduler_set_active(struct sim_scheduler *scheduler, unsigned queue, bool active);
/** The first that may, at or after `queue`; config.queues if there is none. */
unsigned sim_scheduler_next_active(const struct sim_scheduler *scheduler, unsigned queue);
bool sim_scheduler_is_active(const struct sim_scheduler *scheduler, unsigned queue);
void sim_scheduler_take_doorbells(struct sim_scheduler *scheduler);
/** The slot of an event, made if need be; NULL: there is none of that number, or no memory. */
uint64_t *sim_event_slot(struct sim_events *events, uint32_t number);
/** Forgets the task of a queue that is deleted. */
void sim_scheduler_drop(struct sim_scheduler *scheduler, unsigned queue);
/** Takes entries, starts and ends what is due now. */
void sim_scheduler_advance(struct sim_scheduler *scheduler);
/** When the next thing happens that was not done now; UINT64_MAX = never. */
uint64_t sim_scheduler_next_time(const struct sim_scheduler *scheduler);
/** Runs cores and moves time to the next thing that happens. False: nothing ever will, unless the
 * host submits something. `for_ever`: it will not. */
bool sim_scheduler_step(struct sim_scheduler *scheduler, bool for_ever);
/** Whether a kernel under way began at least so long before the present time. */
bool sim_scheduler_has_run(const struct sim_scheduler *scheduler, uint64_t ns);

/** kernel.c: checks the launch and makes it a candidate for cores. False: the fault of the stream
 * is set. */
bool sim_kernel_start(struct sim_scheduler *scheduler, unsigned queue);
/** The part of it that needs the entry alone: arguments, image and what it asks for. */
bool sim_kernel_load(struct sim_scheduler *scheduler, struct sim_stream *stream, uint16_t space);
/** Puts a core at the start of a block. */
void sim_kernel_begin(struct sim_scheduler *scheduler, const struct sim_stream *stream,
                      uint16_t space, uint32_t number, struct sim_core *core);
/** Hands blocks of waiting kernels to free cores:
 * by the queues' priority, then oldest task first. */
void sim_kernel_dispatch(struct sim_scheduler *scheduler);
/** Gives core `id`, whose block has ended well, the next one of its task at once; false if there is
 * none. */
bool sim_kernel_refill(struct sim_scheduler *scheduler, unsigned id);
/** The block of core `id` has ended and no other follows: ends the task if it was the last. */
void sim_kernel_block_end(struct sim_scheduler *scheduler, unsigned id);

/** Cores that run a block of a kernel together: fills `id`, cube core first; their number. */
unsigned sim_kernel_group(const struct sim_scheduler *scheduler, const struct sim_kernel *kernel,
                          unsigned group, unsigned id[SIM_GROUP_MAX]);
/** Of a core: its cube core's number. */
unsigned sim_core_group(const struct sim_scheduler *scheduler, unsigned id);

/** polls.c: what cores that poll global memory need. */
leo_status sim_polls_create(struct sim_scheduler *scheduler);
void sim_polls_destroy(struct sim_scheduler *scheduler);
/** A block with this text begins: from now on what is written is noted if it may be polled. */
void sim_polls_begin(struct sim_scheduler *scheduler, const struct sim_decoded *text);
/** No core runs. */
void sim_polls_rest(struct sim_scheduler *scheduler);
/** From now on all that is written is noted: somebody may look for it at any time. */
void sim_polls_watch(struct sim_scheduler *scheduler);
/** If the bytes hold what a kernel or a copy stores at a time that has not come, for values run
 * ahead of time: that time, or UINT64_MAX if it is not known yet; else 0. */
uint64_t sim_polls_there_ps(const struct sim_scheduler *scheduler, uint64_t addr, uint64_t bytes);
/** A copy or fill has written device memory and ends then. */
void sim_polls_copied(struct sim_scheduler *scheduler, unsigned queue, uint64_t addr,
                      uint64_t bytes, uint64_t end_ps);
/** Carries out loads that poll; whether any core got on. */
bool sim_polls_settle(struct sim_scheduler *scheduler);
/** Whether a core that polls has been in its block for at least so long. The chip's time stands
 * still while all that happens is that a loop counts its turns. */
bool sim_polls_have_run(const struct sim_scheduler *scheduler, uint64_t ns);

/** cross.c: cores that wait for flags of others go on if they were raised; those that wait for ever
 * end. `idle`: nothing else on the chip will ever happen. */
void sim_cross_settle(struct sim_scheduler *scheduler, bool idle);
/** cross_left.c: the block of core `id` has ended: its sets stay. */
void sim_cross_keep(const struct sim_scheduler *scheduler, struct sim_kernel *kernel, unsigned id);
/** For the checker: all cores of a group have ended, or of a launch. Flags that were raised for
 * them and not waited for are findings. */
void sim_cross_end_group(struct sim_scheduler *scheduler, unsigned queue, const unsigned *member,
                         unsigned count);
void sim_cross_end(struct sim_scheduler *scheduler, unsigned queue);

/** Drops the kernel of a queue with the cores that run it. */
void sim_kernel_abandon(struct sim_scheduler *scheduler, unsigned queue);
/** cores.c: one stretch of the blocks that run, and time as far as it is known then, but not past
 * `until_ps`. At most one block ends. */
void sim_cores_round(struct sim_scheduler *scheduler, uint64_t until_ps);
/** Mappings of a space changed: cores must look again. */
void sim_cores_forget(struct sim_scheduler *scheduler);
bool sim_cores_busy(const struct sim_scheduler *scheduler);
/** One stretch of the values of a core's block. */
enum sim_scalar_stop sim_cores_stretch(const struct sim_scheduler *scheduler, struct sim_core *core,
                                       const struct sim_stretch_begin *begin);
/** If the core wrote where an image lies. */
void sim_cores_settle_text(struct sim_scheduler *scheduler, struct sim_core *core);
/** The engine's cycles and the chip's time. */
double sim_cores_cycle(const struct sim_scheduler *scheduler, uint64_t ps);
uint64_t sim_cores_ps(const struct sim_scheduler *scheduler, double cycle);
/** Of the event engine: an instruction into the trace of its core. */
void sim_cores_trace(void *scheduler, unsigned core, const struct sim_time_record *record,
                     const struct sim_time_span *span);

/* checks.c: nothing happens on a chip without checks. */
leo_status sim_checks_create(struct sim_scheduler *scheduler, unsigned which);
void sim_checks_destroy(struct sim_scheduler *scheduler);
void sim_checks_forget(struct sim_stream *stream);
/** A kernel starts. */
void sim_checks_start(struct sim_scheduler *scheduler, unsigned queue);
/** Core `id` starts the kernel's next block. */
void sim_checks_block(struct sim_scheduler *scheduler, unsigned id, const struct sim_kernel *kernel,
                      struct sim_check_global *check);
/** Core `id` has run on; `returned`: its block ended without a fault. */
void sim_checks_after(struct sim_scheduler *scheduler, unsigned id, bool returned);
/** All blocks have ended: findings are the fault of a task that has none. */
void sim_checks_finish(struct sim_stream *stream);
/** Writes findings as fault records; the first one's number + 1. */
uint32_t sim_checks_write(struct sim_scheduler *scheduler, unsigned queue,
                          const struct sim_findings *findings);
/** Device memory that a copy wrote, or (`written` false) that belongs to somebody new. */
void sim_checks_written(struct sim_scheduler *scheduler, uint64_t addr, uint64_t bytes,
                        bool written);
/** Which bytes of a range were not written; `found` stays as it is if that is not recorded. */
void sim_checks_unwritten(struct sim_scheduler *scheduler, uint64_t addr, uint64_t bytes,
                          struct leo_unwritten *found);

/** What the entry of a kernel asks for. */
static inline enum leo_float_mode sim_entry_float_mode(const struct leo_sqe *entry)
{
    return (enum leo_float_mode)leo_sqe_get_float_mode(entry->flags);
}

/** admin.c: runs an entry of the admin queue; its status. */
enum leo_fault sim_admin_run(struct sim_scheduler *scheduler, const struct leo_sqe *entry);
/** overflow.c: reads and clears the sticky status of the stream's space. False: the fault of the
 * stream is set. */
bool sim_overflow_start(struct sim_scheduler *scheduler, unsigned queue);
/** copy.c: does a copy or fill and says when it ends. False: the fault of the stream is set. */
bool sim_copy_start(struct sim_scheduler *scheduler, unsigned queue, uint64_t *end_ps);
/** Whether the stream's entry can be done: what it asks for. False: its fault is set. */
bool sim_copy_check(struct sim_scheduler *scheduler, struct sim_stream *stream, uint16_t space,
                    struct leo_sqe_copy *body);
/** copy_move.c: what the entry asks for, in as few rows as possible. False: its fault is set. */
bool sim_copy_read(struct sim_scheduler *scheduler, struct sim_stream *stream,
                   struct leo_sqe_copy *body);
/** Bytes from the first to past the last of a 2D block; 0 = does not fit a number. */
uint64_t sim_copy_span(uint64_t width, uint32_t height, uint64_t pitch);
/** Moves the bytes. */
bool sim_copy_bytes(struct sim_scheduler *scheduler, struct sim_stream *stream,
                    const struct leo_sqe_copy *body);

/** Sets the fault of a stream's present task, unless it has one: an entry that cannot be carried
 * out. */
bool sim_stream_fault(struct sim_stream *stream, enum leo_fault code, uint64_t addr,
                      uint64_t bytes);
/** The present task ends at `end_ps`. */
void sim_stream_end(struct sim_stream *stream, uint64_t end_ps);
uint64_t sim_ps_from_ns(double ns);
