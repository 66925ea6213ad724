/* SPDX-License-Identifier: Apache-2.0 */
/* Events: marks in streams with simulated time stamps. */
#pragma once

#include "process.h"
#include "shared.h"

struct front_event {
    struct front_handle handle;
    struct leo_rt_event *rt;
    struct front_shared *shared; /**< with other processes; NULL: with none (event_shared.c) */
    struct leo_rt_device *device;
    uint32_t id, flags; /**< flags are the face's */
};

/** FRONT_NO_EVENTS: the device has no more. */
leo_status front_event_create(uint32_t flags, void **handle);
/** One that other processes can import, and the import. */
leo_status front_event_create_shared(uint32_t flags, void **handle);
leo_status front_event_export(struct front_event *event, char key[FRONT_KEY_BYTES]);
leo_status front_event_import(const char *key, void **handle);
/** Pinned. */
leo_status front_event_get(const void *handle, struct front_event **event);
leo_status front_event_destroy(const void *handle);
/** What follows works on a pinned event, and a stream's handle. */
leo_status front_event_record(struct front_event *event, const void *stream);
/** The stream's later tasks wait. An event never recorded is not waited for. */
leo_status front_event_wait(struct front_event *event, const void *stream);
leo_status front_event_reset(struct front_event *event, const void *stream);
/** LEO_ERR_NOT_READY: not reached yet, or, unless `if_unrecorded`, never recorded. */
leo_status front_event_query(struct front_event *event, bool if_unrecorded);
/** Whether a stream waits for it. */
bool front_event_is_awaited(struct front_event *event);
/** Returns at once if it was never recorded. FRONT_EVENT_TIMEOUT. */
leo_status front_event_synchronize(struct front_event *event, int timeout_ms);
/** When it was reached. FRONT_NO_TIME: it was not. */
leo_status front_event_time(struct front_event *event, uint64_t *ns);
/** FRONT_TIME_REVERSED: the end was first. */
leo_status front_event_elapsed(struct front_event *start, struct front_event *end, uint64_t *ns);
leo_status front_event_available(uint32_t *count);
/** Ends one that is the caller's. */
void front_event_end(struct front_event *event);

/* event_shared.c, for event.c: what follows is of events that are shared. */
leo_status front_event_make(uint32_t flags, struct front_shared *shared, void **handle);
leo_status front_event_shared_record(struct front_event *event, const void *stream);
leo_status front_event_shared_wait(struct front_event *event, const void *stream);
leo_status front_event_shared_query(struct front_event *event, bool if_unrecorded);
leo_status front_event_shared_synchronize(struct front_event *event, int timeout_ms);
leo_status front_event_shared_time(struct front_event *event, uint64_t *ns);
