/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies: a mark of 0 or 1 between streams, also of several devices and processes. */
#pragma once

#include "../memory/shared.h"
#include "../process/process.h"

/** What tasks under way use, too: it ends with the last of them. */
struct api_notify_state {
    _Atomic uint32_t uses;
    pthread_mutex_t lock; /**< protects `head` and `shared`, which an export changes */
    struct api_shared_head *head, *own;
    struct api_shared *shared; /**< with other processes; NULL: `head` is `own` */
};

struct api_notify {
    struct api_handle handle;
    struct api_notify_state *state;
    uint32_t id;
};

leo_status api_notify_create(void **handle);
leo_status api_notify_destroy(const void *handle);
/** Pinned. */
leo_status api_notify_get(const void *handle, struct api_notify **notify);
/** In the stream's order: sets the mark. */
leo_status api_notify_record(const struct api_notify *notify, const void *stream);
/** The stream's later tasks wait for the mark; it is taken away. API_WAIT_TIMEOUT at the stream's
 * synchronize: it did not come in `timeout_s`; 0: the process's limit (api_wait_limit_set). */
leo_status api_notify_wait(const struct api_notify *notify, const void *stream, uint32_t timeout_s);
/** Takes the mark away at once. */
leo_status api_notify_reset(const struct api_notify *notify);
/** Other processes can import it by the key. */
leo_status api_notify_export(const struct api_notify *notify, bool any_process,
                             char key[API_KEY_BYTES]);
/** Lets processes at an exported one. */
leo_status api_notify_allow(const struct api_notify *notify, const int32_t *pids, size_t count);
leo_status api_notify_import(const char *key, void **handle);
