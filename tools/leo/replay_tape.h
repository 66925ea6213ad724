/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded runs for the commands that price them. What goes wrong is said on stderr, with the
 * command's name in front. */
#pragma once

#include <leo/replay.h>
#include <stdbool.h>

struct replay_tape {
    struct leo_sim_tape *data;
    struct leo_sim_known *known; /**< NULL: each pricing stands by itself */
    uint64_t hash;               /**< of the file */
    uint64_t looks;              /**< tasks that read values which were not computed */
    const char *soc;             /**< name of the recorded run's chip, in `data` */
    const char *soc_text;        /**< its file, there too */
};

/** Whether a file begins as a tape does, or is a folder (of tapes). */
bool replay_is_tape(const char *path);
bool replay_tape_open(const char *command, const char *path, struct replay_tape *tape);
/** From now on pricings use what those before them found out, one at a time; about `bytes` of
 * memory. */
bool replay_tape_keep(const char *command, struct replay_tape *tape, uint64_t bytes);
void replay_tape_close(struct replay_tape *tape);
/** The text of a chip by its name or file; leo_free() it. */
char *replay_soc_text(const char *command, const char *name);
/** A pricing: as of leo_sim_replay_opts. */
struct replay_pricing {
    const char *soc_text, *soc_name;
    leo_sim_replayed_fn each;
    leo_sim_meet_fn meet;
    void *user;
};
bool replay_tape_price(const char *command, const struct replay_tape *tape,
                       const struct replay_pricing *pricing, struct leo_sim_replay_result *result);
/** The same without other cards. */
bool replay_tape_run(const char *command, const struct replay_tape *tape, const char *soc_text,
                     const char *soc_name, leo_sim_replayed_fn each, void *user,
                     struct leo_sim_replay_result *result);
/** Calls `each` for what the tape says of operations with other cards, as leo_sim_tape_links. */
void replay_tape_links(const struct replay_tape *tape,
                       void (*each)(void *user, const struct leo_link_note *note), void *user);
/** What to call a kind of operations between cards. */
const char *replay_link_kind_name(enum leo_link_kind kind);
/** What to call a task. */
const char *replay_task_name(const struct leo_sim_replayed *task);
