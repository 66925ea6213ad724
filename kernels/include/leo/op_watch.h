/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that a library on AscendCL calls by name (leo/op.h), reported to profiles and written
 * to dumps as the aclnn functions are. */
#pragma once

#include <leo/acl_hook.h>
#include <leo/op.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the calls of a context are reported as. */
struct leo_op_watch {
    struct leo_rt_device *device;
    aclrtStream stream;
    struct leo_acl_dump_name dump; /**< `type` is set by each call */
    bool dumps;                    /**< calls are written to a dump */
};
/** Calls of the context are reported from now on; `watch` lives until the context ends and may be
 * changed between calls. */
void leo_op_watch_begin(struct leo_op_context *context, struct leo_op_watch *watch);

#ifdef __cplusplus
}
#endif
