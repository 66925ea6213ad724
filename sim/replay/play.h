/* SPDX-License-Identifier: Apache-2.0 */
/* Items of a recorded block, and what they put into the log of their core. */
#pragma once

#include "replay.h"

/** Prices the next item into the log, in which there is room; `over`: it was the block's last.
 * False: the tape is damaged, or it is not possible on this chip. */
bool sim_replay_play(struct sim_replay *replay, struct sim_core *core,
                     struct sim_replay_cursor *cursor, bool *over);
/** Whether the next item may be played now: what a poll waits for is there. */
bool sim_play_may_go(const struct sim_replay *replay, const struct sim_replay_cursor *cursor);
/** Takes an item off; false: it is not whole. */
bool sim_play_take(struct sim_replay_cursor *cursor, void *item, size_t bytes);
/** Puts a wait, a flag or an end into the log. */
void sim_play_plain(struct sim_core *core, const struct sim_tape_plain *item);
