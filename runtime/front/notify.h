/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies: a mark of 0 or 1 between streams, also of several devices and processes. */
#pragma once

#include "process.h"
#include "shared.h"

/** What tasks under way use, too: it ends with the last of them. */
struct front_notify_state {
    _Atomic uint32_t uses;
    pthread_mutex_t lock; /**< protects `head` and `shared`, which an export changes */
    struct front_shared_head *head, *own;
    struct front_shared *shared; /**< with other processes; NULL: `head` is `own` */
};

struct front_notify {
    struct front_handle handle;
    struct front_notify_state *state;
    uint32_t id;
};

leo_status front_notify_create(void **handle);
leo_status front_notify_destroy(const void *handle);
/** Pinned. */
leo_status front_notify_get(const void *handle, struct front_notify **notify);
/** In the stream's order: sets the mark. */
leo_status front_notify_record(const struct front_notify *notify, const void *stream);
/** The stream's later tasks wait for the mark; it is taken away. FRONT_WAIT_TIMEOUT at the stream's
 * synchronize: it did not come in `timeout_s`; 0: the process's limit (front_wait_limit_set). */
leo_status front_notify_wait(const struct front_notify *notify, const void *stream,
                             uint32_t timeout_s);
/** Takes the mark away at once. */
leo_status front_notify_reset(const struct front_notify *notify);
/** Other processes can import it by the key. */
leo_status front_notify_export(const struct front_notify *notify, bool any_process,
                               char key[FRONT_KEY_BYTES]);
/** Lets processes at an exported one. */
leo_status front_notify_allow(const struct front_notify *notify, const int32_t *pids, size_t count);
leo_status front_notify_import(const char *key, void **handle);
/** Ends one that is the caller's. */
void front_notify_end(struct front_notify *notify);
