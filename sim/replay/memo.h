/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of a tape that were priced already. Alone on the chip, a launch's time follows from what
 * its blocks do and from what the L2 and the lines it shares answer to its transfers. So the
 * transfers of a launch are kept in the order in which they began, with the answers. The next
 * launch that does the same asks for its own transfers in that order: as long as each answer is the
 * one that was kept, the next transfer begins when it did then. If all are, so is every time; at
 * the first other answer the L2 is put back and the launch is priced by the engine.
 *
 * Where another replay came by the same history (known.h), the answers are known and the L2 is not
 * asked: what is to be done to it is noted, and done when it is asked next.
 */
#pragma once

#include "../memory/l2.h"
#include "../time/engine.h"
#include "known.h"
#include <leo/layout.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_memo;

/** All but the memo are the caller's. */
leo_status sim_memo_create(const struct sim_tape_file *file, struct sim_known *known,
                           uint64_t gm_base, struct sim_time_engine *engine, struct sim_l2 *l2,
                           struct sim_memo **memo_out);
void sim_memo_destroy(struct sim_memo *memo);

/** How this launch goes, if it is known and takes less than `most_ps`: the L2 is as if it had run.
 * False: nothing has changed. */
bool sim_memo_take(struct sim_memo *memo, uint64_t task, uint64_t most_ps,
                   struct sim_memo_launch *launch_out);
/** There was no memory to put the L2 back: the replay is of no use. */
bool sim_memo_is_lost(const struct sim_memo *memo);
/** The engine begins a launch, which is to be kept. */
void sim_memo_begin(struct sim_memo *memo, uint64_t task);
/** A core begins with a part of a block of this or another launch. */
void sim_memo_begin_part(struct sim_memo *memo, unsigned core, uint64_t part);
/** It is over, or (NULL) is of no more interest, since it was not alone. */
void sim_memo_end(struct sim_memo *memo, const struct sim_memo_launch *launch);
/** A task copies or fills: the L2 is told. */
void sim_memo_copy(struct sim_memo *memo, uint64_t task, const struct leo_sqe_copy *body,
                   bool is_fill);
