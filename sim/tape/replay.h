/* SPDX-License-Identifier: Apache-2.0 */
/* A chip that gets its tasks and what their blocks do from a tape: the scheduler's side of it. */
#pragma once

#include "../scalar/scalar.h"
#include <leo/layout.h>
#include <stdbool.h>
#include <stdint.h>

struct leo_sim_chip;
struct sim_replay;

/** The next entry of a queue, if the host had submitted it by now. */
bool sim_replay_fetch(struct leo_sim_chip *chip, unsigned queue, struct leo_sqe *entry);
/** A core begins its part of a block. */
void sim_replay_begin(struct leo_sim_chip *chip, unsigned core, unsigned queue, uint32_t block,
                      unsigned member);
/** Prices what the core did next: fills up to `places` of its log. What stopped it is as of
 * sim_core_run. */
enum sim_scalar_stop sim_replay_run(struct leo_sim_chip *chip, unsigned core, unsigned places);
/** The present task of a queue is complete; `record` NULL: it takes no time. */
void sim_replay_done(struct leo_sim_chip *chip, unsigned queue,
                     const struct leo_task_record *record);
