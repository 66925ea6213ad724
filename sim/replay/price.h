/* SPDX-License-Identifier: Apache-2.0 */
/* What parts of blocks cost on a chip, once for all of a class. */
#pragma once

#include "../memory/hbm.h"
#include "../tape/tape.h"
#include "../time/log.h"
#include <leo/alloc.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_core;
struct sim_replay;

/** A transfer of a class: `gm` but for its address, which is relative to that of its operand. */
struct sim_price_move {
    struct sim_time_gm gm;
    uint32_t address; /**< which one of those of the part */
    uint8_t access;
};

/** The transfers of a class, the same on every chip. */
struct sim_moves {
    struct sim_price_move *move; /**< by pipe, then in the order of the log; NULL: not known */
    uint32_t first[LEO_PIPE_COUNT];
};

/** Of a class: its log, with gm.addr as above. */
struct sim_price {
    union sim_time_place *place; /**< NULL: not known */
    uint32_t places, moves;
    uint32_t *address; /**< by transfer, in the order of the log */
    bool is_refused;   /**< not possible on this chip, or there is no memory: item by item then */
};

/** The price of a class, on a core that has just begun with a part of it; NULL: it has none. */
const struct sim_price *sim_price_of(struct sim_replay *replay, struct sim_core *core,
                                     const struct sim_tape_part *part);
static inline void sim_price_finish(struct sim_price *price)
{
    leo_free(price->place);
    leo_free(price->address);
    *price = (struct sim_price){0};
}

/** Offset in device memory of a transfer of a part. */
static inline uint64_t sim_price_addr(const struct sim_time_gm *gm, uint64_t address,
                                      uint64_t gm_base)
{
    return gm->addr + (address & ~SIM_GM_NO_L2) - gm_base;
}
