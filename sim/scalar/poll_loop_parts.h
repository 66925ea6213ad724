/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for loops that wait for memory (poll_loop.c): what an instruction uses and gives
 * (poll_loop_effect.c), the instructions of one turn with those of the functions it calls
 * (poll_loop_path.c), which functions a pointer may lead to (poll_loop_target.c), and what depends
 * on what (poll_loop_flow.c).
 */
#pragma once

#include "decode.h"

enum {
    POLL_LOOP_NODES = 1024,
    POLL_LOOP_SLOTS = 64,
    POLL_LOOP_CALLS = 64,
    POLL_LOOP_CHOICES = 8,
    POLL_LOOP_RA = 1,
    POLL_LOOP_SP = 2,
    POLL_LOOP_FP = 8
};

/* What holds a value, as bits: x0 to x31, f0 to f31, then places in memory. x0 is never among
 * them. */
__extension__ typedef unsigned __int128 places;
#define POLL_LOOP_X(number)    (UINT64_C(1) << ((number) & 31) & ~UINT64_C(1))
#define POLL_LOOP_F(number)    (UINT64_C(1) << (32 + ((number) & 31)))
#define POLL_LOOP_SLOT(number) ((places)1 << (64 + (number)))

/** What the search has to know of an instruction. */
struct poll_loop_effect {
    places uses, defs;
    bool looks;     /**< loads, and may be what the loop waits with */
    bool copies;    /**< ... into a buffer of the core */
    bool forbidden; /**< in such a loop */
    bool steady;    /**< what it gives is the same each turn (poll_loop_flow.c) */
    /** Of a plain load or store: */
    bool loads, stores;
    uint8_t base, bytes;
    int32_t offset;
};

/** Of an instruction by itself; jumps may go anywhere, memory may be any. */
struct poll_loop_effect sim_poll_loop_effect(const struct sim_decoded *decoded, size_t at);

static inline bool poll_loop_is_atomic(enum sim_scalar_code code)
{
    return code >= SIM_CODE_LR_W && code <= SIM_CODE_AMOMAXU_D;
}

static inline bool poll_loop_is_sc(enum sim_scalar_code code)
{
    return code == SIM_CODE_SC_W || code == SIM_CODE_SC_D;
}

/** An instruction of a turn. One that is called from two places is there twice. */
struct poll_loop_node {
    uint32_t at;     /**< place in the text */
    uint8_t call;    /**< it belongs to; 0 is the loop itself */
    int16_t next[2]; /**< nodes; 0 is where a turn begins */
};
enum { POLL_LOOP_NOWHERE = -1, POLL_LOOP_OUT = -2 /* of the loop */ };

struct poll_loop_call {
    size_t entry;  /**< first instruction of the function */
    int16_t node;  /**< that calls */
    int16_t back;  /**< where it returns to */
    uint8_t depth; /**< calls between the loop and it */
};

/** Places in the text whose addresses the program takes: what a jump through a pointer may lead to.
 */
struct poll_loop_targets {
    uint32_t *at; /**< rising */
    size_t count;
};

/** `image`: the bytes of the program with its tables of addresses; may be NULL. */
leo_status sim_poll_loop_find_targets(const struct sim_decoded *decoded, const void *image,
                                      size_t bytes, struct poll_loop_targets *targets);

struct poll_loop_path {
    size_t first, last; /**< of the loop itself, in the text */
    /** Calls through pointers that were met, and which of the targets each is taken to lead to. */
    unsigned choices;
    uint32_t pick[POLL_LOOP_CHOICES];
    unsigned nodes, calls;
    struct poll_loop_call call[POLL_LOOP_CALLS];
    struct poll_loop_node node[POLL_LOOP_NODES];
    struct poll_loop_effect effect[POLL_LOOP_NODES];
};

/** Calls through pointers lead where path->pick says. False: that is no loop, or something in it
 * is forbidden. */
bool sim_poll_loop_walk(const struct sim_decoded *decoded, const struct poll_loop_targets *targets,
                        size_t first, size_t last, struct poll_loop_path *path);

/** `base` plus `offset`, what is known of a register or a place in memory. */
struct poll_loop_value {
    int16_t base; /**< enum poll_loop_base */
    int32_t offset;
};
enum poll_loop_base {
    POLL_LOOP_UNKNOWN,
    POLL_LOOP_ENTRY = 0, /**< + n: what register n held when the loop began, n > 0 */
    POLL_LOOP_HELD = 32, /**< + n: what slot n held then */
    POLL_LOOP_TEXT = POLL_LOOP_HELD + POLL_LOOP_SLOTS /**< an address in the image */
};

/** A variable in memory that the loop uses. */
struct poll_loop_slot {
    struct poll_loop_value addr;
    unsigned bytes;
};

struct poll_loop_state {
    bool reached;
    bool is_new; /**< what follows does not know it yet */
    struct poll_loop_value x[32], slot[POLL_LOOP_SLOTS];
};

struct poll_loop_flow {
    unsigned slots;
    bool grown;
    struct poll_loop_slot slot[POLL_LOOP_SLOTS];
    struct poll_loop_state before[POLL_LOOP_NODES];
    places varying[POLL_LOOP_NODES]; /**< before the node: depend on what earlier turns left */
    places seen[POLL_LOOP_NODES];    /**< depend on what loads of steady addresses gave */
    bool follows[POLL_LOOP_NODES];   /**< is carried out or not by what was seen */
};

/** Fills flow, and the effects with the variables in memory; frame: s0 - sp at the beginning, 0:
 * unknown. False: stores may go anywhere. */
bool sim_poll_loop_flow(const struct sim_decoded *decoded, struct poll_loop_path *path,
                        int64_t frame, struct poll_loop_flow *flow);

/** A load whose address is the same each turn. */
static inline bool poll_loop_is_steady(const struct poll_loop_path *path,
                                       const struct poll_loop_flow *flow, unsigned node)
{
    return path->effect[node].looks && !(path->effect[node].uses & flow->varying[node]);
}

/** A branch that what was seen, and nothing that earlier turns left, decides. */
static inline bool poll_loop_is_decided(const struct poll_loop_path *path,
                                        const struct poll_loop_flow *flow, unsigned node)
{
    const places uses = path->effect[node].uses;
    return path->node[node].next[1] != POLL_LOOP_NOWHERE && uses & flow->seen[node] &&
           !(uses & flow->varying[node]);
}
