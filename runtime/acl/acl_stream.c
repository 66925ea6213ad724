/* SPDX-License-Identifier: Apache-2.0 */
/* Streams. */
#include "acl_internal.h"

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    const char *func = "aclrtCreateStream";
    // Streams that something else than a submit sets going.
    uint32_t other = ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;
    uint32_t hints = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_HUGE;
    if (!stream) {
        return acl_null(func, "stream");
    }
    if (flag & ~(other | hints)) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "flags 0x%x are unknown", flag);
    }
    return flag & other ? acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                                   "flags 0x%x: streams that do not run what is submitted to them "
                                   "are not supported",
                                   flag)
                        : acl_result(func, api_stream_create(priority, flag, stream));
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    return aclrtCreateStreamWithConfig(stream, API_PRIORITY_GREATEST, 0);
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    return stream ? acl_result(__func__, api_stream_destroy(stream, false))
                  : acl_null(__func__, "stream");
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    return stream ? acl_result(__func__, api_stream_destroy(stream, true))
                  : acl_null(__func__, "stream");
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
    return acl_result(__func__, api_stream_synchronize(stream, API_FOREVER));
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    aclError error = acl_timeout_check(__func__, timeout);
    return error ? error : acl_result(__func__, api_stream_synchronize(stream, timeout));
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    aclError error = acl_timeout_check("aclrtSynchronizeDevice", timeout);
    return error ? error : acl_result("aclrtSynchronizeDevice", api_device_synchronize(timeout));
}

aclError aclrtSynchronizeDevice(void)
{
    return aclrtSynchronizeDeviceWithTimeout(API_FOREVER);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    if (!status) {
        return acl_null(__func__, "status");
    }
    leo_status answer = api_stream_query(stream);
    if (answer != LEO_OK && answer != LEO_ERR_NOT_READY) {
        return acl_result(__func__, answer);
    }
    *status = answer == LEO_OK ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
    API_PINNED struct api_stream *found = NULL;
    if (!streamId) {
        return acl_null(__func__, "streamId");
    }
    aclError error = acl_result(__func__, api_stream_get(stream, &found));
    if (!error) {
        *streamId = found->id;
    }
    return error;
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority)
{
    API_PINNED struct api_stream *found = NULL;
    if (!priority) {
        return acl_null(__func__, "priority");
    }
    aclError error = acl_result(__func__, api_stream_get(stream, &found));
    if (!error) {
        *priority = found->priority;
    }
    return error;
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags)
{
    API_PINNED struct api_stream *found = NULL;
    if (!flags) {
        return acl_null(__func__, "flags");
    }
    aclError error = acl_result(__func__, api_stream_get(stream, &found));
    if (!error) {
        *flags = found->flags;
    }
    return error;
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority)
{
    if (!leastPriority || !greatestPriority) {
        return acl_null(__func__, "an argument");
    }
    *leastPriority = API_PRIORITY_LEAST;
    *greatestPriority = API_PRIORITY_GREATEST;
    return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
{
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "mode %llu is neither 0 nor 1",
                        (unsigned long long)mode);
    }
    return acl_result(__func__, api_stream_set_failure_mode(stream, mode == ACL_STOP_ON_FAILURE));
}

aclError aclrtGetStreamAvailableNum(uint32_t *streamCount)
{
    return streamCount ? acl_result(__func__, api_stream_available(streamCount))
                       : acl_null(__func__, "streamCount");
}
