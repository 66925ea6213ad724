/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of the process, contexts of threads, streams. */
#pragma once

#include "../process/process.h"

/* device.c */
/** Opens it, or counts one use more; its default context becomes the thread's. */
leo_status api_device_set(int32_t id);
/** Counts one use less, or ends all with `force`; the last ends everything on the device. */
leo_status api_device_reset(int32_t id, bool force);
/** Devices the process sees. API_NONE_VISIBLE: none. */
leo_status api_device_count(uint32_t *count);
/** Capabilities, whether it is set or not. */
leo_status api_device_caps(int64_t id, struct leo_caps *caps);
/** What programs are told that it is called (leo_rt_device_told_as), whether it is set or not. */
leo_status api_device_told_as(int64_t id, char name[LEO_RT_NAME_BYTES]);
/** A number of its SoC file (leo_rt_soc_number), whether it is set or not. */
leo_status api_device_number(int64_t id, const char *section, const char *key, double *value);
/** Whether it is open and its driver has given it up. */
leo_status api_device_is_dead(int32_t id, bool *is_dead);
/** Whether its default context is in use. */
leo_status api_device_is_set(int32_t id, bool *is_set);
/** What it was used for since that was last asked, and its memory; zeros if it is not open. */
leo_status api_device_use(int32_t id, struct leo_rt_use *use, uint64_t *free_bytes,
                          uint64_t *total_bytes);
/** Opens one that is set once more; to be closed by leo_rt_device_close. API_NOT_SET. */
leo_status api_device_hold(uint32_t id, struct leo_rt_device **device);
/** The number the user knows it by; -1: it is not visible. */
int32_t api_device_id(const struct leo_rt_device *device);
/** The runtime's number of a device, the user's number of one, and whether the runtime has it. */
leo_status api_device_index(int32_t id, int *index);
leo_status api_device_user_id(int32_t index, int32_t *id);
leo_status api_device_exists(int32_t index);
/** That of the thread's context. */
leo_status api_device_current(int32_t *id);
/** Watchdog of later launches on all devices, microseconds. */
leo_status api_limit_set(uint64_t us);
leo_status api_limit_get(uint32_t *us);

/* overflow.c: float results beyond their type. */
/** Whether kernels saturate by themselves on the current device, and those of streams made from now
 * on. */
leo_status api_saturate_get(bool *by_itself, bool *later);
leo_status api_saturate_set(bool later);
/** leo_rt_overflow_async: reads and clears the sticky status. */
leo_status api_overflow(const void *stream, uint64_t addr, uint32_t bytes, uint32_t value,
                        bool clear);

/* peer.c */
/** Lets the current device at the memory of another, or no longer. */
leo_status api_peer_enable(int32_t peer);
leo_status api_peer_disable(int32_t peer);
/** Lets one device at another's memory, whichever is current; nothing if they are the same. */
leo_status api_peer_join(int32_t device, int32_t peer);
leo_status api_peer_can(int32_t device, int32_t peer, bool *can);
leo_status api_peer_is_enabled(int32_t device, int32_t peer, bool *enabled);
/** Whether a device may reach the memory `ptr` lies in: its own, or that of a peer it is let at. */
leo_status api_peer_reaches(int32_t device, const void *ptr, bool *reaches);
/** Lets a device at the memory `ptr` lies in. */
leo_status api_peer_admit(int32_t device, const void *ptr);
/** Whether one of them may reach the other's memory. */
bool api_peer_allows(const struct leo_rt_device *one, const struct leo_rt_device *other);

/* context.c */
/** The thread's, pinned. */
leo_status api_context_current(struct api_context **context);
/** A new one becomes the thread's; the device is set if it is not. */
leo_status api_context_create(int32_t device, struct api_context **context);
/** The default context of a device ends with the device only. */
leo_status api_context_destroy(const void *handle);
leo_status api_context_set(const void *handle);
/** The number of a context's device. */
leo_status api_context_device(const void *handle, int32_t *device);
/** The thread's as a handle, not pinned. */
leo_status api_context_get(void **handle);
leo_status api_context_default_stream(void **handle);
/** The thread's, pinned; NULL: it has none, or it has ended. */
struct api_context *api_context_of_thread(void);
/** Caller holds the device lock. */
leo_status api_context_make(int32_t device, bool primary, struct api_context **context);
void api_context_enter(struct api_context *context);
/** Ends everything that lives in the context, then the context. */
void api_context_end(struct api_context *context);

/* stream.c */
/** The stream behind a user's handle (NULL = default stream of the current context), pinned. */
leo_status api_stream_get(const void *handle, struct api_stream **stream);
/** The same, to give it work. API_STOPPED: a task of its context failed, and its streams stop on
 * failure. */
leo_status api_stream_to_fill(const void *handle, struct api_stream **stream);
/** API_STOPPED as above. */
leo_status api_context_check(const struct api_context *context);
leo_status api_stream_create(uint32_t priority, uint32_t flags, void **handle);
/** The calling thread's own stream, made when it is first asked for; it ends with its context. */
leo_status api_stream_of_thread(void **handle);
/** `force`: tasks under way are given up. */
leo_status api_stream_destroy(const void *handle, bool force);
leo_status api_stream_synchronize(const void *handle, int timeout_ms);
/** All streams of the current device; the time is for all of them together. */
leo_status api_device_synchronize(int timeout_ms);
/** LEO_ERR_NOT_READY: it has work under way. */
leo_status api_stream_query(const void *handle);
/** Once a stream; spreads to all streams of its context, those made later too. */
leo_status api_stream_set_failure_mode(const void *handle, bool stop);
leo_status api_stream_available(uint32_t *count);
leo_status api_stream_make(struct api_context *context, uint32_t priority, uint32_t flags,
                           struct api_stream **stream);
/** Ends one that is the caller's. */
void api_stream_end(struct api_stream *stream);
/** The code of what a synchronize reported: faults by core and kind. */
leo_status api_stream_status(struct api_stream *stream, leo_status status);
