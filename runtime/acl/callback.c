/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of streams, run by the threads that subscribed to them. */
#include "acl_internal.h"

aclError aclrtProcessReport(int32_t timeout)
{
    aclError error = acl_timeout_check("aclrtProcessReport", timeout);
    return error ? error
                 : acl_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "aclrtProcessReport",
                            "this thread is subscribed to no stream");
}
