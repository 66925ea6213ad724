/* SPDX-License-Identifier: Apache-2.0 */
/* Capture of streams. */
#include "acl_internal.h"

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status,
                                aclmdlRI *modelRI)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclmdlRICaptureGetInfo";
    if (!status || !modelRI) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL");
    }
    aclError error = acl_stream_get(func, stream, &found);
    if (!error) {
        *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        *modelRI = NULL;
    }
    return error;
}
