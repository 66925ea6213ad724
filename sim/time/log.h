/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a block did that takes time, in program order. The core that computes the values writes it;
 * the event engine reads it, at the same time but only as far as it has been published. Chunks go
 * round through one pool.
 */
#pragma once

#include <leo/insn.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_host_lock;

enum sim_time_kind {
    SIM_TIME_OP,      /**< an instruction of a unit */
    SIM_TIME_OP_GM,   /**< one that moves global memory: a struct sim_time_gm follows */
    SIM_TIME_SET,     /**< set_flag(pipe, dst, id) */
    SIM_TIME_WAIT,    /**< wait_flag(pipe, dst, id) */
    SIM_TIME_BARRIER, /**< of one pipe, `busy` cycles; LEO_PIPE_ALL = of all */
    SIM_TIME_DRAIN,   /**< the scalar unit waits until the pipe has done everything so far */
    SIM_TIME_POST,    /**< ffts_cross_core_sync: pipe, dst = mode, id = flag */
    SIM_TIME_PEND,    /**< wait_flag_dev: id = flag */
    SIM_TIME_FETCH,   /**< the scalar unit waits for `pc` lines of its cache `dst` */
    SIM_TIME_SCALAR,  /**< only scalar work since the last record */
    SIM_TIME_MARK,    /**< the program wants to know its time: nothing follows before it does */
    SIM_TIME_END,     /**< the block returned or faulted */
    SIM_TIME_LINK,    /**< the log goes on in the next chunk (log.c) */
    SIM_TIME_STORE,   /**< what the pipe was given before it has written global memory: store `work`
                       */
    SIM_TIME_POLL,    /**< the scalar unit reads what store `work` of core `id` wrote; dst 1: what a
                         copy of the host wrote at cycle `busy` */
    SIM_TIME_PARK     /**< polls memory: goes on when others have written it, whose records come
                         with those behind this one */
};

enum sim_time_access {
    SIM_TIME_ACCESS_WRITE = 1,
    SIM_TIME_ACCESS_NO_L2 = 2 /**< goes past the L2 */
};

/** Caches of the scalar unit. */
enum sim_time_fetch { SIM_TIME_FETCH_DATA, SIM_TIME_FETCH_TEXT, SIM_TIME_FETCHES };

/** Results in L0C that M and FIX hand over by themselves, piece by piece (unit flag). */
enum sim_time_hand {
    SIM_TIME_HAND_MAKE = 1,    /**< M: the next result */
    SIM_TIME_HAND_TAKE = 2,    /**< FIX: of result `id` */
    SIM_TIME_HAND_RELEASE = 4, /**< FIX: its place is free behind it */
    SIM_TIME_HAND_AFTER = 8    /**< M: into the place that release `dst` frees */
};

/** One timed operation. Cycles are the core's. */
struct sim_time_record {
    double scalar; /**< cycles of the scalar unit since the record before, issue included */
    double busy;   /**< OP: start to result; OP_GM: least time from start to last byte */
    float overlap; /**< OP: so much before its end the next one may start */
    float head;    /**< OP_GM: cycles the core needs before the transfer begins */
    uint64_t work; /**< for traces */
    uint32_t pc;   /**< link address */
    uint16_t insn;
    uint8_t kind, pipe, dst, id;
    uint8_t access; /**< OP_GM: enum sim_time_access bits */
    uint8_t hand;   /**< enum sim_time_hand bits; then `id` and `dst` are numbers, low bits */
    float bank;     /**< OP: of `busy`, lost to banks */
};

/** Where in global memory: `count` pieces of `piece` bytes, `step` apart, and `more` times the same
 * again `more_step` further. */
struct sim_time_gm {
    uint64_t addr, step, more_step; /**< addr: offset into device memory */
    uint64_t bytes;                 /**< the memory moves, whole lines */
    uint32_t piece, count, more;
    uint16_t request; /**< bytes of one request to the memory */
    uint16_t path;    /**< most bytes per cycle of the path */
};

_Static_assert(sizeof(struct sim_time_record) == 48 && sizeof(struct sim_time_gm) == 48,
               "both fill one place of a chunk");

enum { SIM_TIME_CHUNK_PLACES = 340 }; /* 16 KB */

union sim_time_place {
    struct sim_time_record record;
    struct sim_time_gm gm;
};

struct sim_time_chunk {
    struct sim_time_chunk *next;
    union sim_time_place place[SIM_TIME_CHUNK_PLACES];
};

/** Empty chunks, for all logs of a chip. Its calls may come from any thread. */
struct sim_time_pool {
    struct sim_host_lock *lock;
    struct sim_time_chunk *free;
};

leo_status sim_time_pool_create(struct sim_time_pool *pool);
void sim_time_pool_destroy(struct sim_time_pool *pool);

/** The log of one block. Zeroed = empty. */
struct sim_time_log {
    struct sim_time_pool *pool;
    struct sim_time_chunk *first, *last; /**< of the reader; of the writer */
    uint32_t read_at, write_at;          /**< places in those chunks */
    uint64_t written, read;              /**< places in all */
    uint64_t published;                  /**< the reader may go so far */
};

void sim_time_log_init(struct sim_time_log *log, struct sim_time_pool *pool);
/** Gives all chunks back. */
void sim_time_log_finish(struct sim_time_log *log);
/** Makes room for a record with what follows it and one more. False: no memory. */
bool sim_time_log_reserve(struct sim_time_log *log);
/** Appends a record, and `gm` behind it if it has one; there is room. */
void sim_time_log_push(struct sim_time_log *log, const struct sim_time_record *record,
                       const struct sim_time_gm *gm);
/** The same for a record that is written where it stays: its place, and behind it that of what may
 * follow; then sim_time_log_take says how many places were filled. */
static inline union sim_time_place *sim_time_log_place(struct sim_time_log *log)
{
    return &log->last->place[log->write_at];
}
static inline void sim_time_log_take(struct sim_time_log *log, uint32_t places)
{
    log->write_at += places;
    log->written += places;
}
/** Lets the reader see everything. Neither side may be at work. */
static inline void sim_time_log_publish(struct sim_time_log *log)
{
    log->published = log->written;
}
/** A place to come back to. */
struct sim_time_place_mark {
    struct sim_time_chunk *last;
    uint32_t write_at;
    uint64_t written;
};
static inline struct sim_time_place_mark sim_time_log_mark(const struct sim_time_log *log)
{
    return (struct sim_time_place_mark){log->last, log->write_at, log->written};
}
/** Takes back what was written since a mark, of which nothing is published. */
void sim_time_log_rewind(struct sim_time_log *log, const struct sim_time_place_mark *mark);
/** The next record, and what follows it; NULL = nothing more is published. Valid until
 * sim_time_log_pop. */
const struct sim_time_record *sim_time_log_peek(struct sim_time_log *log,
                                                const struct sim_time_gm **gm);
void sim_time_log_pop(struct sim_time_log *log);
