/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the CNRT, CNDrv and CNDev faces. They only translate: names, types,
 * defaults and error codes; what happens is in ../api_common. */
#pragma once

#include "../api_common/context/context.h"
#include "../api_common/launch/module_handle.h"
#include "../api_common/memory/memory_owner.h"
#include "../api_common/process/code.h"
#include "../api_common/stream/event_handle.h"

#include <cnrt/cn_api.h>
#include <cnrt/cndev.h>
#include <cnrt/cnrt.h>

/** The code of a status of the common API or the core, which becomes the thread's last error; its
 * text goes to the log. */
cnrtRet_t cnrt_result(const char *func, leo_status status);
/** The same for a call that asks whether something is done. */
cnrtRet_t cnrt_answer(const char *func, leo_status status);
/** Fails with a code of its own. */
cnrtRet_t cnrt_fail(cnrtRet_t code, const char *func, const char *text);
void cnrt_log(void *user, int level, const char *text);

/** The stream behind a queue: NULL is the thread's own. */
leo_status cnrt_stream(cnrtQueue_t queue, void **stream);
/** One number of a device, by cnrtDeviceAttr_t. */
leo_status cnrt_attribute(int attribute, int64_t device, int *value);
/** As programs compare it: MLU370. */
leo_status cnrt_device_name(int64_t device, char *name, size_t bytes);
/** Launches on a stream; `type` is how many cores a task takes. */
leo_status cnrt_launch(const void *func, cnrtDim3_t dim, int type, cnrtQueue_t queue,
                       struct api_launch *launch);
