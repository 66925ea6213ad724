/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that processes share: a head page and, behind it, memory, in a file without a name. The
 * key of one says whose descriptor it is, so nothing has to be cleaned up: the object ends with the
 * last process that has it, however that ends.
 */
#pragma once

#include <leo/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum front_shared_kind {
    FRONT_SHARED_MEMORY = 1,
    FRONT_SHARED_PHYSICAL,
    FRONT_SHARED_NOTIFY,
    FRONT_SHARED_EVENT,
};

enum {
    FRONT_KEY_BYTES = 65, /**< of a key as text, with its end */
    FRONT_SHARED_PAGE = 4096,
    FRONT_SHARED_PIDS = 256,
    FRONT_SHARED_USERS = 64,
    FRONT_SHARED_MARKS = 32,
};

/** What identifies an object, in 64 bits: process, its descriptor, a random number. */
typedef uint64_t front_shared_id;

/** When a record of an event was reached. */
struct front_mark {
    _Atomic uint64_t sequence, time_ns;
};

/** The first page. */
struct front_shared_head {
    uint32_t kind, nonce, flags;                /**< flags are the face's */
    uint64_t bytes;                             /**< of the memory behind the page */
    _Atomic uint32_t closed, any_process, turn; /**< `turn` counts changes; futex */
    _Atomic uint32_t pid_count, user_count;
    _Atomic int32_t pid[FRONT_SHARED_PIDS];   /**< that may open it */
    _Atomic int32_t user[FRONT_SHARED_USERS]; /**< that have had it, the maker first */
    /** Notify: 0 or 1, and when it was set. Event: records asked for, and the newest reached. */
    _Atomic uint64_t value, time_ns, recorded, reached;
    struct front_mark mark[FRONT_SHARED_MARKS]; /**< by sequence */
};
_Static_assert(sizeof(struct front_shared_head) <= FRONT_SHARED_PAGE, "one page");

/** A process's use of an object; counted. */
struct front_shared {
    _Atomic uint32_t uses;
    int fd;
    front_shared_id id;
    struct front_shared_head *head;
    bool mine; /**< made by this process */
};

/** `any_process`: no list of who may open it. */
leo_status front_shared_create(enum front_shared_kind kind, uint64_t bytes, bool any_process,
                               struct front_shared **shared);
/** That of another process, which lives and has allowed this one. LEO_ERR_INVALID_ARG. */
leo_status front_shared_open(front_shared_id id, enum front_shared_kind kind,
                             struct front_shared **shared);
void front_shared_use(struct front_shared *shared);
/** Accepts NULL. */
void front_shared_drop(struct front_shared *shared);
/** Nobody else may open it from now on; who has it keeps it. */
void front_shared_close(struct front_shared *shared);
/** Adds processes that may open it. */
leo_status front_shared_allow(struct front_shared *shared, const int32_t *pids, size_t count);
/** Whether a process other than this one that has had the object still lives. */
bool front_shared_has_others(const struct front_shared *shared);

void front_shared_key(front_shared_id id, char key[FRONT_KEY_BYTES]);
/** LEO_ERR_INVALID_ARG: no key of ours. */
leo_status front_shared_id_of(const char *key, front_shared_id *id);

/** Wakes all that wait for a change of the head, in all processes. */
void front_shared_changed(struct front_shared_head *head);
/** Returns after a change since `turn` was read, or after some time. */
void front_shared_wait(struct front_shared_head *head, uint32_t turn);
