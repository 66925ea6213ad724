/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the tape of a chip while it runs (format.h). A write that fails ends the tape, not the
 * run. */
#pragma once

#include "../op.h"
#include "../time/log.h"
#include <leo/layout.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

struct leo_link_note;
struct sim_config;
struct sim_core;
struct sim_hbm;
struct sim_tape;
struct sim_tape_done;
struct sim_tape_track;

/** `soc_text`: what the chip was made of; it is in the file. */
leo_status sim_tape_create(const char *path, const struct sim_config *config, const char *soc_text,
                           const struct sim_hbm *hbm, struct sim_tape **tape);
/** Says in the file that nothing is missing. False: something is; the file is of no use. */
bool sim_tape_destroy(struct sim_tape *tape);
/** Track of a core: what its present block does. */
struct sim_tape_track *sim_tape_track(struct sim_tape *tape, unsigned core);

/** The host rang for a queue: what it submitted saw the tasks that are complete now. Any thread. */
void sim_tape_rung(struct sim_tape *tape, unsigned queue);
/** An entry was fetched. */
void sim_tape_task(struct sim_tape *tape, unsigned queue, bool is_first, uint64_t now_ps,
                   const struct leo_sqe *entry);
/** Number of the present task of a queue. */
uint32_t sim_tape_present(const struct sim_tape *tape, unsigned queue);
/** The present task of a queue is complete; `how` but for its number. */
void sim_tape_done(struct sim_tape *tape, unsigned queue, const struct sim_tape_done *how);
/** A name for tasks with a tag that come later. Any thread. */
void sim_tape_name(struct sim_tape *tape, uint32_t tag, const char *name);
/** What the host did with other cards, before the entry that ends it. Any thread. */
void sim_tape_link(struct sim_tape *tape, const struct leo_link_note *note);

/** The core begins a block. */
void sim_tape_begin(struct sim_tape_track *track, const struct sim_core *core);
/** The core's host thread: an instruction of a unit, any other record. `scalar`: cycles since the
 * item before. */
void sim_tape_op(struct sim_tape_track *track, const struct sim_core *core, const struct sim_op *op,
                 double scalar);
void sim_tape_plain(struct sim_tape_track *track, const struct sim_time_record *record);
/** What the core does from here on may turn out not to count: then it is taken back. */
void sim_tape_mark(struct sim_tape_track *track);
void sim_tape_rewind(struct sim_tape_track *track);
/** The block has ended: into the file. */
void sim_tape_end(struct sim_tape *tape, unsigned core, unsigned queue, uint32_t block,
                  unsigned member);
