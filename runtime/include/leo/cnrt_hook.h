/* SPDX-License-Identifier: Apache-2.0 */
/* For libraries that stand on libcnrt (collectives): from its handles to the runtime's objects. Not
 * for programs. */
#pragma once

#include <leo/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEO_CNRT_VISIBLE __attribute__((visibility("default")))

/** The runtime's stream behind a queue (NULL: the calling thread's own). It lives as long as the
 * handle. Text of a failure: leo_rt_last_error(). */
LEO_CNRT_VISIBLE leo_status leo_cnrt_stream_get(const void *queue, struct leo_rt_stream **stream);
/** The calling thread's device. */
LEO_CNRT_VISIBLE leo_status leo_cnrt_device_get(struct leo_rt_device **device);
/** Makes it the calling thread's. */
LEO_CNRT_VISIBLE leo_status leo_cnrt_device_set(int32_t id);
/** As a failing call of the library tells it to a person. */
LEO_CNRT_VISIBLE void leo_cnrt_tell(const char *library, const char *func, const char *name,
                                    int code, const char *text);

#ifdef __cplusplus
}
#endif
