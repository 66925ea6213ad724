/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies: a mark of 0 or 1 between streams of a device. */
#pragma once

#include "process.h"

struct front_notify {
    struct front_handle handle;
    void *word; /**< 8 bytes of device memory */
    uint32_t id;
};

leo_status front_notify_create(void **handle);
leo_status front_notify_destroy(const void *handle);
/** Pinned. */
leo_status front_notify_get(const void *handle, struct front_notify **notify);
/** In the stream's order: sets the mark. */
leo_status front_notify_record(const struct front_notify *notify, const void *stream);
/** The stream's later tasks wait for the mark; it is taken away. */
leo_status front_notify_wait(const struct front_notify *notify, const void *stream);
/** Takes the mark away at once. */
leo_status front_notify_reset(const struct front_notify *notify);
/** Ends one that is the caller's; its memory goes with the device. */
void front_notify_end(struct front_notify *notify);
