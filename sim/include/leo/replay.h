/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tape says, priced for a chip: the times a recorded run would have there, without computing
 * any value. A tape is written by a chip with leo_sim_opts.tape. Instructions, addresses and the
 * cycles of the scalar unit are those of the recorded run, so the chip must have the same
 * architecture, and numbers that programs look at (sizes of buffers, cores, times they read) do not
 * change what they do.
 */
#pragma once

#include <leo/layout.h>
#include <leo/link_note.h>
#include <leo/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A task in the order in which tasks are complete. */
struct leo_sim_replayed {
    const struct leo_task_record *record; /**< as a profile would have it */
    const char *name;                     /**< what the runtime called it, or empty */
    uint64_t recorded_ps;                 /**< its time when it was recorded */
    uint64_t recorded_start_ps;
    uint64_t start_ps, end_ps;
    uint64_t number; /**< of the tape: from 0, in the order of the recorded run */
};

typedef void (*leo_sim_replayed_fn)(void *user, const struct leo_sim_replayed *task);

/** What the host did with other cards begins at `arrival_ns` here: when does it end? May wait for
 * other replays, in threads of their own; UINT64_MAX: it cannot end, and the replay fails. */
typedef uint64_t (*leo_sim_meet_fn)(void *user, const struct leo_link_note *note,
                                    uint64_t arrival_ns);

/** A tape that was read, for any number of replays, which may run at one time. */
struct leo_sim_tape;

/**
 * Reads a tape's file, of which nothing is needed afterwards. LEO_ERR_PARSE: no tape, or one of
 * another version of the simulator; LEO_ERR_INVALID_ARG: damaged; LEO_ERR_NO_MEMORY.
 */
leo_status leo_sim_tape_open(const void *file, size_t bytes, struct leo_sim_tape **tape_out);
/** Launches, and copies to the host, that read what was not computed (leo_sim_opts.no_values). */
uint64_t leo_sim_tape_looks(const struct leo_sim_tape *tape);
/** NULL is accepted. */
void leo_sim_tape_close(struct leo_sim_tape *tape);
/** The chip of the recorded run, and the text of its file. */
const char *leo_sim_tape_soc(const struct leo_sim_tape *tape);
const char *leo_sim_tape_soc_text(const struct leo_sim_tape *tape);

/** What replays of one tape have found out, for later ones on other chips: the same answers,
 * sooner. */
struct leo_sim_known;

/** `tape` must stay open. Takes about `bytes` of memory at most (a training step of a ResNet-50 has
 * use for 400 MB). */
leo_status leo_sim_known_create(const struct leo_sim_tape *tape, uint64_t bytes,
                                struct leo_sim_known **known_out);
/** NULL is accepted. */
void leo_sim_known_destroy(struct leo_sim_known *known);

struct leo_sim_replay_opts {
    size_t size;
    const struct leo_sim_tape *tape;
    struct leo_sim_known *known; /**< of the tape, one replay at a time; NULL: none is kept */
    const char *soc_text;        /**< of the chip it is priced for */
    const char *soc_text_name;   /**< for messages; may be NULL */
    leo_sim_replayed_fn each;    /**< may be NULL */
    leo_sim_meet_fn meet;        /**< NULL: operations with other cards take as long as they did */
    void *user;
};

struct leo_sim_replay_result {
    uint64_t tasks;        /**< that take time */
    uint64_t ps;           /**< from the first task's start to the last one's end */
    uint64_t recorded_ps;  /**< the same when it was recorded */
    uint64_t instructions; /**< of units */
    uint64_t recalled;     /**< launches that went exactly as one before */
};

/** Calls `each` for every operation with other cards on a tape, in the order in which they ended.
 */
void leo_sim_tape_links(const struct leo_sim_tape *tape,
                        void (*each)(void *user, const struct leo_link_note *note), void *user);

/** On failure `error` says what is wrong. */
leo_status leo_sim_replay(const struct leo_sim_replay_opts *opts,
                          struct leo_sim_replay_result *result, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif
