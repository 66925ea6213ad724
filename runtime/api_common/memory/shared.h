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

enum api_shared_kind {
    API_SHARED_MEMORY = 1,
    API_SHARED_PHYSICAL,
    API_SHARED_NOTIFY,
    API_SHARED_EVENT,
};

enum {
    API_KEY_BYTES = 65, /**< of a key as text, with its end */
    API_SHARED_PAGE = 4096,
    API_SHARED_PIDS = 256,
    API_SHARED_USERS = 64,
    API_SHARED_MARKS = 32,
};

/** What identifies an object, in 64 bits: process, its descriptor, a random number. */
typedef uint64_t api_shared_id;

/** When a record of an event was reached. */
struct api_mark {
    _Atomic uint64_t sequence, time_ns;
};

/** The first page. */
struct api_shared_head {
    uint32_t kind, nonce, flags;                /**< flags are the face's */
    uint64_t bytes;                             /**< of the memory behind the page */
    _Atomic uint32_t closed, any_process, turn; /**< `turn` counts changes; futex */
    _Atomic uint32_t pid_count, user_count;
    _Atomic int32_t pid[API_SHARED_PIDS];   /**< that may open it */
    _Atomic int32_t user[API_SHARED_USERS]; /**< that have had it, the maker first */
    /** Notify: 0 or 1, and when it was set. Event: records asked for, and the newest reached. */
    _Atomic uint64_t value, time_ns, recorded, reached;
    struct api_mark mark[API_SHARED_MARKS]; /**< by sequence */
};
_Static_assert(sizeof(struct api_shared_head) <= API_SHARED_PAGE, "one page");

/** A process's use of an object; counted. */
struct api_shared {
    _Atomic uint32_t uses;
    int fd;
    api_shared_id id;
    struct api_shared_head *head;
    bool mine; /**< made by this process */
};

/** `any_process`: no list of who may open it. */
leo_status api_shared_create(enum api_shared_kind kind, uint64_t bytes, bool any_process,
                             struct api_shared **shared);
/** That of another process, which lives and has allowed this one. LEO_ERR_INVALID_ARG. */
leo_status api_shared_open(api_shared_id id, enum api_shared_kind kind, struct api_shared **shared);
void api_shared_use(struct api_shared *shared);
/** Accepts NULL. */
void api_shared_drop(struct api_shared *shared);
/** Nobody else may open it from now on; who has it keeps it. */
void api_shared_close(struct api_shared *shared);
/** Adds processes that may open it. */
leo_status api_shared_allow(struct api_shared *shared, const int32_t *pids, size_t count);
/** Whether a process other than this one that has had the object still lives. */
bool api_shared_has_others(const struct api_shared *shared);

void api_shared_key(api_shared_id id, char key[API_KEY_BYTES]);
/** LEO_ERR_INVALID_ARG: no key of ours. */
leo_status api_shared_id_of(const char *key, api_shared_id *id);

/** Wakes all that wait for a change of the head, in all processes. */
void api_shared_changed(struct api_shared_head *head);
/** Returns after a change since `turn` was read, or after some time. */
void api_shared_wait(struct api_shared_head *head, uint32_t turn);
