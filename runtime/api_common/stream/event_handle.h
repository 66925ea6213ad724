/* SPDX-License-Identifier: Apache-2.0 */
/* Events: marks in streams with simulated time stamps. */
#pragma once

#include "../memory/shared.h"
#include "../process/process.h"

struct api_event {
    struct api_handle handle;
    struct leo_rt_event *rt;
    struct api_shared *shared; /**< with other processes; NULL: with none (event_shared.c) */
    struct leo_rt_device *device;
    uint32_t id, flags; /**< flags are the face's */
};

/** API_NO_EVENTS: the device has no more. */
leo_status api_event_create(uint32_t flags, void **handle);
/** One that other processes can import, and the import. */
leo_status api_event_create_shared(uint32_t flags, void **handle);
leo_status api_event_export(struct api_event *event, char key[API_KEY_BYTES]);
leo_status api_event_import(const char *key, void **handle);
/** Pinned. */
leo_status api_event_get(const void *handle, struct api_event **event);
leo_status api_event_destroy(const void *handle);
/** What follows works on a pinned event, and a stream's handle. */
leo_status api_event_record(struct api_event *event, const void *stream);
/** The stream's later tasks wait. An event never recorded is not waited for. */
leo_status api_event_wait(struct api_event *event, const void *stream);
leo_status api_event_reset(struct api_event *event, const void *stream);
/** LEO_ERR_NOT_READY: not reached yet, or, unless `if_unrecorded`, never recorded. */
leo_status api_event_query(struct api_event *event, bool if_unrecorded);
/** Whether a stream waits for it. */
bool api_event_is_awaited(struct api_event *event);
/** Returns at once if it was never recorded. API_EVENT_TIMEOUT. */
leo_status api_event_synchronize(struct api_event *event, int timeout_ms);
/** When it was reached. API_NO_TIME: it was not. */
leo_status api_event_time(struct api_event *event, uint64_t *ns);
/** API_TIME_REVERSED: the end was first. */
leo_status api_event_elapsed(struct api_event *start, struct api_event *end, uint64_t *ns);
leo_status api_event_available(uint32_t *count);

/* event_shared.c, for event.c: what follows is of events that are shared. */
leo_status api_event_shared_record(struct api_event *event, const void *stream);
leo_status api_event_shared_wait(struct api_event *event, const void *stream);
leo_status api_event_shared_query(struct api_event *event, bool if_unrecorded);
leo_status api_event_shared_synchronize(struct api_event *event, int timeout_ms);
leo_status api_event_shared_time(struct api_event *event, uint64_t *ns);
