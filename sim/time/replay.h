/* SPDX-License-Identifier: Apache-2.0 */
/* The timelines of one core inside the event engine. */
#pragma once

#include "engine.h"
#include "share.h"

enum {
    SIM_TIME_WAITING = 64, /* entries a pipe may hold that have not started */
    SIM_TIME_DEPTH = 64,   /* most a queue depth may be */
    SIM_TIME_FLAGS = 8,    /* ids of one pair of pipes */
    SIM_TIME_FLAG_SETS = 4 /* sets of one flag the waiting pipe has not come to */
};

/** A record on its way through a pipe. */
struct sim_time_entry {
    struct sim_time_record record;
    struct sim_time_gm gm;
    double issued;
};

enum { SIM_TIME_SHAPES = 4 }; // operands that a kernel loads in turn

/** Cores that read the same as the last transfer of a shape, which stands for an operand: its
 * bytes, pieces and steps. */
struct sim_time_met {
    uint64_t bytes, step, more_step;
    uint32_t piece, count;
    unsigned sharers;
};

struct sim_time_pipe {
    double free_at;     /**< the next instruction may start */
    double send_free;   /**< the next transfer may ask for its first byte */
    double done;        /**< end of everything so far */
    double not_before;  /**< waits and barriers so far */
    enum leo_stall why; /**< which of the two, and whose flag */
    enum leo_pipe from;
    double start[SIM_TIME_DEPTH]; /**< of the last instructions, a ring */
    unsigned issued, started;
    struct sim_time_entry entry[SIM_TIME_WAITING]; /**< a ring */
    unsigned first, count;
    bool moving; /**< a transfer waits for its time or is under way: `move` */
    struct sim_time_entry move;
    double move_send, move_begin, move_latency;
    double move_least; /**< it ends no earlier */
    double move_wait;  /**< the pipe stood so long before it */
    enum leo_stall move_why;
    uint64_t move_missed;
    struct sim_time_line *line; /**< where the transfer began to read; NULL = not counted */
    struct sim_time_met met[SIM_TIME_SHAPES];
    unsigned met_now, met_next; /**< of the transfer; the one that a new shape takes */
};

/** Transfers that began to read at the same line and are under way at one time. */
struct sim_time_line {
    uint64_t line;
    unsigned active, most; /**< now; at one time since the first of them began */
};

enum { SIM_TIME_LINES = 4096 };

/** Set times of one flag that were not waited for yet, a ring. */
struct sim_time_flag {
    double at[SIM_TIME_FLAG_SETS];
    uint32_t sets, waits;
};

enum {
    SIM_TIME_CROSS_FLAGS = 16, /* flags between cores */
    SIM_TIME_CROSS_WAITS = 16, /* times of waits that are remembered */
    SIM_TIME_WOKEN_WORDS = 4   /* bits for all cores of a chip */
};

/** A raise of a flag between cores. */
struct sim_time_meet {
    double at;
    uint32_t come; /**< sets so far */
    uint32_t pc;   /**< of the last one */
};

/** A queue, the capacity 0 or a power of two. */
struct sim_time_meets {
    struct sim_time_meet *item;
    uint32_t first, count, capacity;
};

/** Sets of one flag in one mode by those that take part; `meets` are the raises they begin. */
struct sim_time_channel {
    struct sim_time_meets meets;
    uint32_t raised;
};

/** Raises of one flag of a core that were not waited for. */
struct sim_time_raises {
    struct sim_time_meets meets;
    uint32_t total, waits;
    double waited[SIM_TIME_CROSS_WAITS];
};

enum sim_time_front {
    SIM_TIME_FREE,    /**< no block */
    SIM_TIME_RUNNING, /**< waits for a pipe or a flag */
    SIM_TIME_HUNGRY,  /**< has read all of its log */
    SIM_TIME_OVER     /**< its end is known */
};

/** When stores of one core were done, by their numbers: a queue,
 * the capacity 0 or a power of two. */
struct sim_time_stores {
    double *at;    /**< NAN: not known yet */
    uint64_t base; /**< number of the oldest; those before are over */
    uint32_t first, count, capacity;
};

enum { SIM_TIME_HANDS = 16 }; /* a power of two */

/** From its first piece to its last. */
struct sim_time_piecewise {
    double start, end;
};

/** The bar of the scalar unit that is under way (row.c), and the wait before it. */
struct sim_time_row {
    bool open;
    double from, wait;
    uint32_t pc;
    enum leo_stall why;
    enum leo_pipe source;
};

struct sim_time_core {
    enum sim_time_front front;
    struct sim_time_log *log;
    double cycle, limit; /**< of the scalar unit */
    bool is_counted;     /**< the scalar cycles of the next record are in `cycle` */
    bool is_marked;
    uint32_t ready;      /**< bit set: the pipe may get on */
    uint64_t flags_used; /**< bit source * LEO_PIPE_COUNT + destination: has been set */
    struct sim_time_stats stats;
    struct sim_time_pipe pipe[LEO_PIPE_COUNT];
    struct sim_time_flag flag[LEO_PIPE_COUNT][LEO_PIPE_COUNT][SIM_TIME_FLAGS];
    uint32_t made, released; /**< results handed over so far */
    struct sim_time_piecewise make[SIM_TIME_HANDS], release[SIM_TIME_HANDS];
    struct sim_time_team team;
    uint32_t posts[LEO_CROSS_COUNT][SIM_TIME_CROSS_FLAGS];
    struct sim_time_raises raise[SIM_TIME_CROSS_FLAGS];
    struct sim_time_stores stores;
    struct sim_time_row row;
    bool polls;            /**< has waited for a store of another core */
    bool is_parked;        /**< the last record was PARK */
    bool cross_used;       /**< a flag was raised for it */
    bool gave_up;          /**< the wait at the end of its log is for ever */
    bool gave_up_anywhere; /**< so is any other */
};

/** Something that happens at a known time. */
struct sim_time_event {
    double at;
    uint32_t core, pipe; /**< pipe LEO_PIPE_COUNT: the block ends */
};

struct sim_time_engine {
    struct sim_time_config config;
    struct sim_l2 *l2;
    struct sim_share *share; /**< slot: core * LEO_PIPE_COUNT + pipe; then one a core for fills */
    struct sim_time_core *core;
    struct sim_time_event *event;         /**< a heap, the earliest first */
    struct sim_time_line *line;           /**< SIM_TIME_LINES of them, by a hash */
    struct sim_time_channel *channel;     /**< of all teams, then of all groups (cross.c) */
    uint64_t woken[SIM_TIME_WOKEN_WORDS]; /**< cores for which a flag was raised */
    uint64_t begun[SIM_TIME_WOKEN_WORDS]; /**< cores that had a block since the reset */
    double *fill; /**< by core: bytes of lines HBM must still bring behind requests */
    unsigned events;
    double now;
    double horizon; /**< what is not published yet may matter from here on */
    sim_time_trace_fn trace;
    void *trace_user;
    const struct sim_time_watch *watch; /**< may be NULL */
};

/** Resets a core for a block. */
void sim_time_core_begin(struct sim_time_engine *engine, unsigned core, struct sim_time_log *log,
                         double start, double lead, double limit);
/** Works out all that can be known of a core now; makes events. */
void sim_time_core_advance(struct sim_time_engine *engine, unsigned core);
/** The transfer of a pipe begins now: tells the L2 and shares the memory. */
void sim_time_move_begin(struct sim_time_engine *engine, unsigned core, unsigned pipe);
/** Asks the memory for a transfer that begins now: it is in the L2 then, and its pipe counts among
 * those that read its line until sim_time_leave_line. */
struct sim_time_answer sim_time_ask(struct sim_time_engine *engine, struct sim_time_pipe *pipe,
                                    const struct sim_time_gm *gm, unsigned access);
/** The L2 is as if it had been asked for it. */
void sim_time_tell(struct sim_time_engine *engine, const struct sim_time_gm *gm, unsigned access);
/** The last byte of the transfer of a pipe has been sent now. */
void sim_time_move_end(struct sim_time_engine *engine, unsigned core, unsigned pipe);
/** The transfer of a pipe no longer counts among those that read its line. */
void sim_time_leave_line(struct sim_time_pipe *pipe);
/** A block begins: its core has read nothing beside others yet. */
void sim_time_forget_sharers(struct sim_time_pipe *pipe);
/** The present fill of a core's lines is done. */
void sim_time_fill_end(struct sim_time_engine *engine, unsigned core);

/* events.c */
void sim_time_event_push(struct sim_time_engine *engine, double at, unsigned core, unsigned pipe);
/** The first one; there is one. */
struct sim_time_event sim_time_event_pop(struct sim_time_engine *engine);
/** Takes the events of a core out. */
void sim_time_events_drop(struct sim_time_engine *engine, unsigned core);

/* store.c */
void sim_time_stores_destroy(struct sim_time_engine *engine);
/** What a block before left undone will not be. */
void sim_time_stores_begin(struct sim_time_core *core);
/** The core has come to a store. */
void sim_time_store_issue(struct sim_time_engine *engine, unsigned core, uint64_t number);
/** It is there at `at`. */
void sim_time_store_done(struct sim_time_engine *engine, unsigned core, uint64_t number, double at);
/** When what a POLL record reads is there; false: not known yet. */
bool sim_time_poll(struct sim_time_engine *engine, const struct sim_time_record *record,
                   double *at);

/* cross.c */
leo_status sim_time_cross_create(struct sim_time_engine *engine);
void sim_time_cross_destroy(struct sim_time_engine *engine);
/** A block begins, has ended. */
void sim_time_cross_begin(struct sim_time_core *core);
void sim_time_cross_end(struct sim_time_core *core);
/** A core's set (POST) counts from `at` on. */
void sim_time_cross_post(struct sim_time_engine *engine, unsigned core,
                         const struct sim_time_record *record, double at);
/** The scalar unit waits (PEND) until `at`; false: that is not known yet. */
bool sim_time_cross_pend(struct sim_time_core *core, unsigned flag, double *at);

/* row.c */
/** The scalar unit works on from cycle `from`, up to the instruction at `pc`. */
void sim_time_row_work(struct sim_time_core *core, double from, uint32_t pc);
/** Its bar ends at the core's cycle. */
void sim_time_row_end(struct sim_time_engine *engine, unsigned id);
/** So it does, and the next one comes after a wait. */
void sim_time_row_wait(struct sim_time_engine *engine, unsigned id, double wait, enum leo_stall why,
                       enum leo_pipe source);
