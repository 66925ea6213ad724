/* SPDX-License-Identifier: Apache-2.0 */
/* Streams. */
#include "acl_internal.h"

#include <leo/alloc.h>
#include <time.h>

aclError acl_stream_make(const char *func, struct acl_context *context, uint32_t priority,
                         uint32_t flags, struct acl_stream **out)
{
    struct acl_process *process = acl_process();
    struct acl_stream *stream = leo_calloc(1, sizeof(*stream));
    if (!stream) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    leo_status status = leo_rt_stream_create(context->rt, &stream->rt);
    if (status != LEO_OK) {
        leo_free(stream);
        if (status == LEO_ERR_FULL) {
            return acl_fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, func, "%s", leo_rt_last_error());
        }
        return acl_status(func, status);
    }
    if (atomic_load(&context->stop_on_failure)) {
        leo_rt_stream_set_stop_on_failure(stream->rt);
    }
    stream->context = context;
    stream->priority = priority;
    stream->flags = flags;
    pthread_mutex_lock(&process->lock);
    stream->id = process->next_stream_id++;
    pthread_mutex_unlock(&process->lock);
    acl_handle_add(&stream->handle, ACL_KIND_STREAM, &context->streams);
    *out = stream;
    return ACL_SUCCESS;
}

void acl_stream_free(struct acl_stream *stream)
{
    leo_rt_stream_destroy(stream->rt);
    acl_stream_drop_report(stream);
    acl_handle_remove(&stream->handle);
    leo_free(stream);
}

aclError acl_stream_get(const char *func, aclrtStream handle, struct acl_stream **out)
{
    ACL_PINNED struct acl_context *context = NULL;
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    // A pinned stream keeps its context, which is freed after its streams.
    ACL_PINNED struct acl_stream *stream =
        acl_handle_find(handle ? handle : context->default_stream, ACL_KIND_STREAM);
    if (!stream || stream->context->rt != context->rt) {
        return acl_fail(ACL_ERROR_RT_STREAM_CONTEXT, func,
                        "%p is no live stream of this thread's context", handle);
    }
    if (stream->context != context) {
        return acl_fail(ACL_ERROR_RT_STREAM_CONTEXT, func,
                        "the stream belongs to another context: make that one current first");
    }
    *out = stream;
    stream = NULL;
    return ACL_SUCCESS;
}

static aclError check_flags(uint32_t flag)
{
    // Streams that something else than a submit sets going.
    uint32_t other = ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;
    uint32_t hints = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_HUGE;
    if (flag & ~(other | hints)) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtCreateStream", "flags 0x%x are unknown",
                        flag);
    }
    return flag & other ? acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtCreateStream",
                                   "flags 0x%x: streams that do not run what is submitted to them "
                                   "are not supported",
                                   flag)
                        : ACL_SUCCESS;
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    ACL_PINNED struct acl_context *context = NULL;
    struct acl_stream *made;
    if (!stream) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream", "stream is NULL");
    }
    aclError error = check_flags(flag);
    if (!error) {
        error = acl_current_context("aclrtCreateStream", &context);
    }
    if (!error) {
        error = acl_stream_make("aclrtCreateStream", context, priority, flag, &made);
    }
    if (!error) {
        *stream = made;
    }
    return error;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    return aclrtCreateStreamWithConfig(stream, 0, 0);
}

static aclError destroy_stream(const char *func, aclrtStream handle, bool force)
{
    if (!handle) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "stream is NULL");
    }
    struct acl_stream *stream = acl_handle_find(handle, ACL_KIND_STREAM);
    bool made_for_context = stream && stream == stream->context->default_stream;
    if (made_for_context) {
        acl_handle_unpin(&stream->handle);
    }
    if (!stream || made_for_context || !acl_handle_claim(&stream->handle)) {
        return acl_fail(ACL_ERROR_RT_STREAM_CONTEXT, func,
                        "%p is no live stream made by aclrtCreateStream", handle);
    }
    if (force) {
        leo_rt_stream_abandon(stream->rt);
        stream->rt = NULL;
    }
    acl_stream_free(stream);
    return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    return destroy_stream("aclrtDestroyStream", stream, false);
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    return destroy_stream("aclrtDestroyStreamForce", stream, true);
}

static aclError synchronize(const char *func, aclrtStream handle, int timeout)
{
    ACL_PINNED struct acl_stream *stream = NULL;
    aclError error = acl_stream_get(func, handle, &stream);
    if (error) {
        return error;
    }
    error = acl_capture_check_wait(func, stream);
    return error ? error
                 : acl_sync_status(func, stream, leo_rt_stream_synchronize(stream->rt, timeout));
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
    return synchronize("aclrtSynchronizeStream", stream, -1);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    aclError error = acl_timeout_check("aclrtSynchronizeStreamWithTimeout", timeout);
    return error ? error : synchronize("aclrtSynchronizeStreamWithTimeout", stream, timeout);
}

/* All streams of a device, pinned, since their own threads may destroy them meanwhile. NULL: no
 * memory. To be freed. */
static void **pin_streams(struct acl_device *slot, size_t *out_count)
{
    struct front_table *table = &acl_process()->handles;
    size_t count = 0, capacity = front_family_count(table, &slot->contexts);
    void **contexts = leo_calloc(capacity + 1, sizeof(*contexts));
    size_t context_count =
        contexts ? front_family_pin(table, &slot->contexts, contexts, capacity) : 0;
    capacity = 0;
    for (size_t i = 0; i < context_count; i++) {
        struct acl_context *context = contexts[i];
        capacity += front_family_count(table, &context->streams);
    }
    void **streams = contexts ? leo_calloc(capacity + 1, sizeof(*streams)) : NULL;
    for (size_t i = 0; i < context_count; i++) {
        struct acl_context *context = contexts[i];
        if (streams) {
            count += front_family_pin(table, &context->streams, streams + count, capacity - count);
        }
        acl_handle_unpin(&context->handle);
    }
    leo_free(contexts);
    *out_count = count;
    return streams;
}

static uint64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    ACL_PINNED struct acl_context *context = NULL;
    const char *func = "aclrtSynchronizeDevice";
    aclError error = acl_timeout_check(func, timeout);
    if (!error) {
        error = acl_current_context(func, &context);
    }
    if (error) {
        return error;
    }
    size_t count;
    void **streams = pin_streams(context->slot, &count);
    if (!streams) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    // Stream by stream, so that a fault is told with the code of its core kind; the first one is
    // the answer. The time is for all of them together.
    uint64_t start = timeout > 0 ? wall_ms() : 0;
    for (size_t i = 0; i < count; i++) {
        struct acl_stream *stream = streams[i];
        uint64_t spent = timeout > 0 ? wall_ms() - start : 0;
        int left = timeout < 0 ? -1 : spent < (uint64_t)timeout ? timeout - (int)spent : 0;
        aclError next = acl_sync_status(func, stream, leo_rt_stream_synchronize(stream->rt, left));
        error = error ? error : next;
        acl_handle_unpin(&stream->handle);
    }
    leo_free(streams);
    return error;
}

aclError aclrtSynchronizeDevice(void)
{
    return aclrtSynchronizeDeviceWithTimeout(-1);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    ACL_PINNED struct acl_stream *found = NULL;
    if (!status) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery", "status is NULL");
    }
    aclError error = acl_stream_get("aclrtStreamQuery", stream, &found);
    if (error) {
        return error;
    }
    error = acl_capture_check_wait("aclrtStreamQuery", found);
    if (error) {
        return error;
    }
    leo_status answer = leo_rt_stream_query(found->rt);
    if (answer != LEO_OK && answer != LEO_ERR_NOT_READY) {
        return acl_sync_status("aclrtStreamQuery", found, answer);
    }
    *status = answer == LEO_OK ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
    ACL_PINNED struct acl_stream *found = NULL;
    if (!streamId) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId", "streamId is NULL");
    }
    aclError error = acl_stream_get("aclrtStreamGetId", stream, &found);
    if (!error) {
        *streamId = found->id;
    }
    return error;
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority)
{
    ACL_PINNED struct acl_stream *found = NULL;
    if (!priority) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetPriority", "priority is NULL");
    }
    aclError error = acl_stream_get("aclrtStreamGetPriority", stream, &found);
    if (!error) {
        *priority = found->priority;
    }
    return error;
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags)
{
    ACL_PINNED struct acl_stream *found = NULL;
    if (!flags) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetFlags", "flags is NULL");
    }
    aclError error = acl_stream_get("aclrtStreamGetFlags", stream, &found);
    if (!error) {
        *flags = found->flags;
    }
    return error;
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority)
{
    if (!leastPriority || !greatestPriority) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceGetStreamPriorityRange",
                        "an argument is NULL");
    }
    *leastPriority = 7;
    *greatestPriority = 0;
    return ACL_SUCCESS;
}

// The mode spreads to all streams of the context, those made later too.
static aclError stop_streams(const char *func, struct acl_context *context)
{
    struct front_table *table = &acl_process()->handles;
    atomic_store(&context->stop_on_failure, true);
    size_t capacity = front_family_count(table, &context->streams);
    void **streams = leo_calloc(capacity + 1, sizeof(*streams));
    if (!streams) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    size_t count = front_family_pin(table, &context->streams, streams, capacity);
    for (size_t i = 0; i < count; i++) {
        struct acl_stream *stream = streams[i];
        leo_rt_stream_set_stop_on_failure(stream->rt);
        acl_handle_unpin(&stream->handle);
    }
    leo_free(streams);
    return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclrtSetStreamFailureMode";
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "mode %llu is neither 0 nor 1",
                        (unsigned long long)mode);
    }
    aclError error = acl_stream_get(func, stream, &found);
    if (error) {
        return error;
    }
    if (found->failure_mode_set) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "the mode of a stream may be set once");
    }
    found->failure_mode_set = true;
    if (mode == ACL_STOP_ON_FAILURE) {
        error = stop_streams(func, found->context);
    }
    return ACL_SUCCESS;
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclrtSetStreamOverflowSwitch";
    if (flag > 1) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "flag %u is neither 0 nor 1", flag);
    }
    aclError error = acl_stream_get(func, stream, &found);
    if (!error) {
        atomic_store(&found->overflow_switch, flag);
    }
    return error;
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclrtGetStreamOverflowSwitch";
    if (!flag) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "flag is NULL");
    }
    aclError error = acl_stream_get(func, stream, &found);
    if (!error) {
        *flag = atomic_load(&found->overflow_switch);
    }
    return error;
}

aclError aclrtGetStreamAvailableNum(uint32_t *streamCount)
{
    ACL_PINNED struct acl_context *context = NULL;
    struct leo_drv_caps caps;
    if (!streamCount) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAvailableNum",
                        "streamCount is NULL");
    }
    aclError error = acl_current_context("aclrtGetStreamAvailableNum", &context);
    if (error) {
        return error;
    }
    leo_rt_device_get_caps(context->rt, &caps);
    *streamCount = caps.queues - leo_drv_device_queues(leo_rt_device_driver(context->rt));
    return ACL_SUCCESS;
}
