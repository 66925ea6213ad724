/* SPDX-License-Identifier: Apache-2.0 */
/* Streams (one a queue), their present task, and what it waits for. Times are picoseconds of the
 * chip's clock. */
#pragma once

#include "../scalar/scalar.h"
#include "image.h"
#include <leo/faults.h>
#include <leo/layout.h>
#include <stdbool.h>
#include <stdint.h>

struct leo_sim_chip;

enum sim_task_state {
    SIM_TASK_NONE,   /**< the stream has nothing fetched */
    SIM_TASK_EARLY,  /**< starts at ready_ps */
    SIM_TASK_EVENT,  /**< waits for an event slot */
    SIM_TASK_VALUE,  /**< waits for a value in device memory */
    SIM_TASK_KERNEL, /**< has blocks to hand out or running */
    SIM_TASK_DONE    /**< completes at end_ps, when the ring has room */
};

/** A kernel on its way through the cores. */
struct sim_kernel {
    struct leo_sqe_kernel body;
    struct sim_image *image;
    enum leo_core_kind kind;
    uint32_t next_block, running;
    uint32_t started_cores;
    double limit_cycles;
    uint64_t core_mask[4]; /**< cores used */
    uint64_t last_end_ps;
    double core_cycles, busy[LEO_PIPE_COUNT];
    uint64_t gm_read, gm_write;
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
    uint8_t *args; /**< copy of the argument block */
    uint32_t args_capacity;
};

enum sim_core_state { SIM_CORE_FREE, SIM_CORE_RUNNING, SIM_CORE_FINISHED };

/** What the scheduler knows of a core. */
struct sim_slot {
    enum sim_core_state state;
    unsigned queue;    /**< of the task that has it */
    uint64_t free_ps;  /**< FINISHED: when it is free; FREE: since when */
    uint64_t local_ps; /**< RUNNING: how far it has come */
    uint32_t block;
    enum sim_scalar_stop stop;
    bool asked;                         /**< FINISHED: has been offered the next block */
    bool fresh;                         /**< has not yet been through a whole quantum */
    uint64_t read_seen, write_seen;     /**< bytes already counted for bandwidth */
    double read_backlog, write_backlog; /**< cycles of transfers not yet attributed to a quantum */
};

struct sim_events {
    uint64_t *value;
    uint32_t count;
};

struct sim_scheduler {
    uint64_t now_ps, quantum_end_ps;
    struct sim_stream *stream; /**< by queue number */
    uint64_t *active;          /**< bit set: the queue may have something to do */
    struct sim_slot *slot;     /**< by core */
    unsigned cores;
    struct sim_events *events; /**< by address space */
    struct sim_image_cache images;
    double active_transfers; /**< as of the last quantum, smoothed */
    double gm_used_bytes,
        gm_hbm_ns;              /**< of late: bytes cores moved, and what HBM needed for them */
    uint64_t engine_free_ps[3]; /**< host to device, device to host, within the device */
    /* This step's work for the pool. */
    unsigned run_count;
    uint16_t run_core[256];
    uint64_t run_until_ps;
};

leo_status sim_scheduler_init(struct leo_sim_chip *chip);
void sim_scheduler_finish(struct leo_sim_chip *chip);
/** Stops everything; time goes on from where it is. */
void sim_scheduler_reset(struct leo_sim_chip *chip);
void sim_scheduler_wake(struct leo_sim_chip *chip, unsigned queue);
/** Forgets the task of a queue that is deleted. */
void sim_scheduler_drop(struct leo_sim_chip *chip, unsigned queue);
/** Takes entries, starts and ends what is due now. */
void sim_scheduler_advance(struct leo_sim_chip *chip);
/** Runs cores and moves time to the next thing that happens. False: nothing ever will. */
bool sim_scheduler_step(struct leo_sim_chip *chip);

/** kernel.c: checks the launch and makes it a candidate for cores. False: the fault of the stream
 * is set. */
bool sim_kernel_start(struct leo_sim_chip *chip, unsigned queue);
/** Hands blocks of waiting kernels to free cores, oldest task first. */
void sim_kernel_dispatch(struct leo_sim_chip *chip);
/** Work item of the pool: runs the index-th core of this step. */
void sim_kernel_run_core(void *chip, unsigned index, unsigned thread);
/** Looks at what stopped core `id`. */
void sim_kernel_after_run(struct leo_sim_chip *chip, unsigned id);
/** Gives core `id`, which has finished a block, the next one of its task at once; false if there is
 * none. */
bool sim_kernel_refill(struct leo_sim_chip *chip, unsigned id);
/** The core is free again; ends the task if it was its last. */
void sim_kernel_core_free(struct leo_sim_chip *chip, unsigned id);

/** Drops the kernel of a queue with the cores that run it. */
void sim_kernel_abandon(struct leo_sim_chip *chip, unsigned queue);
/** Divides the bandwidth of global memory among the cores for the next quantum. */
void sim_share_update(struct leo_sim_chip *chip);
/** No core has work: what was moved before counts no more, except for what the L2 holds. */
void sim_share_rest(struct leo_sim_chip *chip);
/** Counts what core `id` moved since the last count; before its counters are reset. */
void sim_share_count(struct leo_sim_chip *chip, unsigned id);

/** copy.c: does a copy or fill and says when it ends. False: the fault of the stream is set. */
bool sim_copy_start(struct leo_sim_chip *chip, unsigned queue, uint64_t *end_ps);

/** Sets the fault of a stream's present task, unless it has one: an entry that cannot be carried
 * out. */
bool sim_stream_fault(struct sim_stream *stream, enum leo_fault code, uint64_t addr,
                      uint64_t bytes);
/** The present task ends at `end_ps`. */
void sim_stream_end(struct sim_stream *stream, uint64_t end_ps);
uint64_t sim_ps_from_ns(double ns);
