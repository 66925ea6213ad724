/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for loops that wait for memory (spin.c): what an instruction uses and gives
 * (spin_effect.c), the instructions of one turn with those of the functions it calls (spin_path.c),
 * which functions a pointer may lead to (spin_target.c), and what depends on what (spin_flow.c).
 */
#pragma once

#include "decode.h"

enum {
    SPIN_NODES = 1024,
    SPIN_SLOTS = 64,
    SPIN_CALLS = 64,
    SPIN_CHOICES = 8,
    SPIN_RA = 1,
    SPIN_SP = 2,
    SPIN_FP = 8
};

/* What holds a value, as bits: x0 to x31, f0 to f31, then places in memory. x0 is never among
 * them. */
__extension__ typedef unsigned __int128 places;
#define SPIN_X(number)    (UINT64_C(1) << ((number) & 31) & ~UINT64_C(1))
#define SPIN_F(number)    (UINT64_C(1) << (32 + ((number) & 31)))
#define SPIN_SLOT(number) ((places)1 << (64 + (number)))

/** What the search has to know of an instruction. */
struct spin_effect {
    places uses, defs;
    bool looks;     /**< loads, and may be what the loop waits with */
    bool copies;    /**< ... into a buffer of the core */
    bool forbidden; /**< in such a loop */
    bool steady;    /**< what it gives is the same each turn (spin_flow.c) */
    /** Of a plain load or store: */
    bool loads, stores;
    uint8_t base, bytes;
    int32_t offset;
};

/** Of an instruction by itself; jumps may go anywhere, memory may be any. */
struct spin_effect sim_spin_effect(const struct sim_decoded *decoded, size_t at);

static inline bool spin_is_atomic(enum sim_scalar_code code)
{
    return code >= SIM_CODE_LR_W && code <= SIM_CODE_AMOMAXU_D;
}

static inline bool spin_is_sc(enum sim_scalar_code code)
{
    return code == SIM_CODE_SC_W || code == SIM_CODE_SC_D;
}

/** An instruction of a turn. One that is called from two places is there twice. */
struct spin_node {
    uint32_t at;     /**< place in the text */
    uint8_t call;    /**< it belongs to; 0 is the loop itself */
    int16_t next[2]; /**< nodes; 0 is where a turn begins */
};
enum { SPIN_NOWHERE = -1, SPIN_OUT = -2 /* of the loop */ };

struct spin_call {
    size_t entry;  /**< first instruction of the function */
    int16_t node;  /**< that calls */
    int16_t back;  /**< where it returns to */
    uint8_t depth; /**< calls between the loop and it */
};

/** Places in the text whose addresses the program takes: what a jump through a pointer may lead to.
 */
struct spin_targets {
    uint32_t *at; /**< rising */
    size_t count;
};

/** `image`: the bytes of the program with its tables of addresses; may be NULL. */
leo_status sim_spin_find_targets(const struct sim_decoded *decoded, const void *image, size_t bytes,
                                 struct spin_targets *targets);

struct spin_path {
    size_t first, last; /**< of the loop itself, in the text */
    /** Calls through pointers that were met, and which of the targets each is taken to lead to. */
    unsigned choices;
    uint32_t pick[SPIN_CHOICES];
    unsigned nodes, calls;
    struct spin_call call[SPIN_CALLS];
    struct spin_node node[SPIN_NODES];
    struct spin_effect effect[SPIN_NODES];
};

/** Calls through pointers lead where path->pick says. False: that is no loop, or something in it
 * is forbidden. */
bool sim_spin_walk(const struct sim_decoded *decoded, const struct spin_targets *targets,
                   size_t first, size_t last, struct spin_path *path);

/** `base` plus `offset`, what is known of a register or a place in memory. */
struct spin_value {
    int16_t base; /**< enum spin_base */
    int32_t offset;
};
enum spin_base {
    SPIN_UNKNOWN,
    SPIN_ENTRY = 0,                    /**< + n: what register n held when the loop began, n > 0 */
    SPIN_HELD = 32,                    /**< + n: what slot n held then */
    SPIN_TEXT = SPIN_HELD + SPIN_SLOTS /**< an address in the image */
};

/** A variable in memory that the loop uses. */
struct spin_slot {
    struct spin_value addr;
    unsigned bytes;
};

struct spin_state {
    bool reached;
    bool is_new; /**< what follows does not know it yet */
    struct spin_value x[32], slot[SPIN_SLOTS];
};

struct spin_flow {
    unsigned slots;
    bool grown;
    struct spin_slot slot[SPIN_SLOTS];
    struct spin_state before[SPIN_NODES];
    places varying[SPIN_NODES]; /**< before the node: depend on what earlier turns left */
    places seen[SPIN_NODES];    /**< depend on what loads of steady addresses gave */
    bool follows[SPIN_NODES];   /**< is carried out or not by what was seen */
};

/** Fills flow, and the effects with the variables in memory; frame: s0 - sp at the beginning, 0:
 * unknown. False: stores may go anywhere. */
bool sim_spin_flow(const struct sim_decoded *decoded, struct spin_path *path, int64_t frame,
                   struct spin_flow *flow);

/** A load whose address is the same each turn. */
static inline bool spin_is_steady(const struct spin_path *path, const struct spin_flow *flow,
                                  unsigned node)
{
    return path->effect[node].looks && !(path->effect[node].uses & flow->varying[node]);
}

/** A branch that what was seen, and nothing that earlier turns left, decides. */
static inline bool spin_is_decided(const struct spin_path *path, const struct spin_flow *flow,
                                   unsigned node)
{
    const places uses = path->effect[node].uses;
    return path->node[node].next[1] != SPIN_NOWHERE && uses & flow->seen[node] &&
           !(uses & flow->varying[node]);
}
