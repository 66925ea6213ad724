/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event engine: from the logs of blocks to the times of everything in them. Each core has a
 * scalar unit that hands records to in-order pipes, flags and barriers between them, and transfers
 * that share global memory with those of the other cores. Only the beginnings and ends of transfers
 * are events; what lies between is worked out as soon as its inputs are known. The L2 sees
 * transfers in the order of simulated time. Times are core cycles since a moment the caller chose.
 */
#pragma once

#include "log.h"
#include <leo/insn.h>
#include <leo/layout.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_config;
struct sim_l2;

/** What times depend on; rates in bytes per cycle, times in cycles. */
struct sim_time_config {
    unsigned cores;
    double l2_rate, hbm_read_rate, hbm_write_rate;
    double hbm_turn; /**< bytes HBM does not read when it turns to writing and back */
    double hbm_run;  /**< and when it goes on somewhere else */
    double read_hit_latency, read_miss_latency, write_latency;
    double read_port, write_port;   /**< of one core */
    double read_requests;           /**< most a core has in flight */
    double fetch[SIM_TIME_FETCHES]; /**< the scalar unit waits for a line */
    double same_line_cycles;        /**< a line needs for one request, of each core that reads it */
    double gm_interval;             /**< least time between two transfers of one pipe */
    double flag_set, flag_wait, barrier;
    double cross_core; /**< from a set to the flag at another core */
    uint32_t queue_depth[LEO_PIPE_COUNT];
};

/** Of a chip: what the memory system sets is given in ns there. */
struct sim_time_config sim_time_config_of(const struct sim_config *config);

/** When a unit instruction ran, and what it waited for. */
struct sim_time_span {
    double start, end;
    double wait;        /**< the pipe stood so long before it */
    enum leo_stall why; /**< for what, in the end */
    enum leo_pipe from; /**< FLAG: of the pipe that set it */
    uint64_t missed;    /**< a load: bytes the L2 did not have */
};

/** Told of every unit instruction when its times are known. */
typedef void (*sim_time_trace_fn)(void *user, unsigned core, const struct sim_time_record *record,
                                  const struct sim_time_span *span);

/** What the memory answered to a transfer: bytes from HBM and to it, runs of lines read there, and
 * the cores that read the same lines at the time. */
struct sim_time_answer {
    uint64_t read, written, runs;
    unsigned sharers;
};

/** Told of transfers of all cores in the order of time. */
struct sim_time_watch {
    void (*begin)(void *user, unsigned core, unsigned pipe, const struct sim_time_answer *answer);
    void (*end)(void *user, unsigned core,
                unsigned pipe); /**< of a read: it counts no longer at its line */
    void *user;
};

enum { SIM_TIME_STALLS = LEO_STALL_MEMORY + 1 };
_Static_assert(sizeof(((struct leo_task_record *)0)->stall) ==
                   sizeof(uint64_t) * LEO_PIPE_COUNT * SIM_TIME_STALLS,
               "a task record has a place for each");

/** What a block needed. */
struct sim_time_stats {
    double begin, end;
    double returned; /**< when the scalar unit came to the end of the log, or was stopped */
    double scalar;   /**< cycles of the scalar unit; what it waited for is in `stalled` */
    double busy[LEO_PIPE_COUNT];
    double stalled[LEO_PIPE_COUNT][SIM_TIME_STALLS]; /**< BANK and MEMORY are part of `busy` */
    uint64_t gm_read, gm_write;                      /**< bytes */
    uint64_t l2_hits, hbm_read, hbm_write;
    bool timed_out; /**< stopped for its limit */
    bool overflow;  /**< stopped: a flag of it was raised too often */
    uint8_t overflow_flag;
    uint32_t overflow_pc; /**< of the set */
};

enum sim_time_stop {
    SIM_TIME_REACHED, /**< `until` */
    SIM_TIME_STARVED, /**< a block's log ends too early to go on */
    SIM_TIME_ENDED    /**< a block has ended now: its core is free */
};

/** With whom a block meets at flags between cores (docs/hw/chip.md). */
struct sim_time_team {
    unsigned team;    /**< its launch: one number below `cores` for each that runs at the time */
    unsigned group;   /**< its cube core and vector cores, below `cores` */
    bool is_vector;   /**< side of the group */
    uint32_t kin;     /**< cores of its kind that the launch has in all */
    uint32_t vectors; /**< of its group; 0 = the launch has no groups */
};

struct sim_time_engine;

/** `l2` is the caller's; the engine updates it. */
leo_status sim_time_engine_create(const struct sim_time_config *config, struct sim_l2 *l2,
                                  struct sim_time_engine **engine);
void sim_time_engine_destroy(struct sim_time_engine *engine);
void sim_time_engine_set_trace(struct sim_time_engine *engine, sim_time_trace_fn trace, void *user);
/** `watch` stays the caller's; NULL: not reported. */
void sim_time_engine_watch(struct sim_time_engine *engine, const struct sim_time_watch *watch);
/** Forgets all blocks and begins to count from 0 again. */
void sim_time_engine_reset(struct sim_time_engine *engine);
double sim_time_engine_now(const struct sim_time_engine *engine);
/**
 * A block begins on a free core at `start`, not before now. Its scalar unit begins with the log
 * `lead` cycles later; until then the log is not needed. It ends by force after `limit` cycles.
 */
void sim_time_engine_begin(struct sim_time_engine *engine, unsigned core, struct sim_time_log *log,
                           double start, double lead, double limit);
/** Whom the next block of a core meets; blocks that meet none need no team. */
void sim_time_engine_join(struct sim_time_engine *engine, unsigned core,
                          const struct sim_time_team *team);
/** A new launch takes a number: no flag is set in it. */
void sim_time_engine_new_team(struct sim_time_engine *engine, unsigned team);
/** As well for the block that a group is given. */
void sim_time_engine_new_group(struct sim_time_engine *engine, unsigned group);
/** No flag that the core waits for at the end of its log (`anywhere`: or before) will be raised: it
 * ends there. */
void sim_time_engine_give_up(struct sim_time_engine *engine, unsigned core, bool anywhere);
/** The block of a core is of no more interest. */
void sim_time_engine_abandon(struct sim_time_engine *engine, unsigned core);
/** Lets time pass to `until`, or to what happens before. `core`: ENDED: which one. */
enum sim_time_stop sim_time_engine_run(struct sim_time_engine *engine, double until,
                                       unsigned *core);
/** STARVED: whether it is for want of this core's log. */
bool sim_time_engine_wants(const struct sim_time_engine *engine, unsigned core);
/** Whether a store of a core is over by now: no one will wait for it. `at`: when it is, in cycles;
 * NAN: that is not known yet. */
bool sim_time_engine_stored(const struct sim_time_engine *engine, unsigned core, uint64_t number,
                            double *at);
/** Whether all that was published of the core's log has been read and ended in a MARK; its time. */
bool sim_time_engine_mark(const struct sim_time_engine *engine, unsigned core, double *cycle);
/** Of the block that runs or has just ended. */
const struct sim_time_stats *sim_time_engine_stats(const struct sim_time_engine *engine,
                                                   unsigned core);
