/* SPDX-License-Identifier: Apache-2.0 */
/* How many cores later operators may use: of the device, of a stream, of a thread that works for a
 * stream. Kernels are launched on as many blocks as their launcher says; libraries of operators ask
 * for the limit (leo/acl_hook.h). */
#include "acl_internal.h"

#include <leo/acl_hook.h>

static _Thread_local uint32_t thread_limit[ACL_CORE_KINDS]; // 0 = that of the device

static aclError check_type(const char *func, aclrtDevResLimitType type)
{
    return (int)type >= 0 && type < (aclrtDevResLimitType)ACL_CORE_KINDS
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_INVALID_PARAM, func, "type %d is unknown", (int)type);
}

// Cores of a kind that the device has.
static aclError count_cores(const char *func, int32_t device, aclrtDevResLimitType type,
                            uint32_t *count)
{
    int64_t value;
    aclError error = check_type(func, type);
    if (!error) {
        error = aclrtGetDeviceInfo((uint32_t)device,
                                   type == ACL_RT_DEV_RES_CUBE_CORE ? ACL_DEV_ATTR_CUBE_CORE_NUM
                                                                    : ACL_DEV_ATTR_VECTOR_CORE_NUM,
                                   &value);
    }
    if (!error) {
        *count = (uint32_t)value;
    }
    return error;
}

static aclError check_limit(const char *func, int32_t device, aclrtDevResLimitType type,
                            uint32_t value)
{
    uint32_t cores;
    aclError error = count_cores(func, device, type, &cores);
    if (!error && (value == 0 || value > cores)) {
        error =
            acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "%u cores: the device has %u", value, cores);
    }
    return error;
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value)
{
    const char *func = "aclrtGetDeviceResLimit";
    if (!value) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "value is NULL");
    }
    aclError error = count_cores(func, deviceId, type, value);
    if (!error) {
        uint32_t limit = atomic_load(&api_process()->core_limit[deviceId][type]);
        *value = limit ? limit : *value;
    }
    return error;
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value)
{
    aclError error = check_limit("aclrtSetDeviceResLimit", deviceId, type, value);
    if (!error) {
        atomic_store(&api_process()->core_limit[deviceId][type], value);
    }
    return error;
}

aclError aclrtResetDeviceResLimit(int32_t deviceId)
{
    uint32_t ignored;
    aclError error =
        count_cores("aclrtResetDeviceResLimit", deviceId, ACL_RT_DEV_RES_CUBE_CORE, &ignored);
    for (int type = 0; !error && type < ACL_CORE_KINDS; type++) {
        atomic_store(&api_process()->core_limit[deviceId][type], 0);
    }
    return error;
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value)
{
    API_PINNED struct api_stream *found = NULL;
    const char *func = "aclrtGetStreamResLimit";
    if (!value) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "value is NULL");
    }
    aclError error = check_type(func, type);
    if (!error) {
        error = acl_result(func, api_stream_get(stream, &found));
    }
    if (error) {
        return error;
    }
    *value = atomic_load(&found->core_limit[type]);
    return *value ? ACL_SUCCESS : aclrtGetDeviceResLimit(found->context->device, type, value);
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value)
{
    API_PINNED struct api_stream *found = NULL;
    const char *func = "aclrtSetStreamResLimit";
    aclError error = acl_result(func, api_stream_get(stream, &found));
    if (!error) {
        error = check_limit(func, found->context->device, type, value);
    }
    if (!error) {
        atomic_store(&found->core_limit[type], value);
    }
    return error;
}

aclError aclrtResetStreamResLimit(aclrtStream stream)
{
    API_PINNED struct api_stream *found = NULL;
    aclError error = acl_result("aclrtResetStreamResLimit", api_stream_get(stream, &found));
    for (int type = 0; !error && type < ACL_CORE_KINDS; type++) {
        atomic_store(&found->core_limit[type], 0);
    }
    return error;
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream)
{
    API_PINNED struct api_stream *found = NULL;
    aclError error = acl_result("aclrtUseStreamResInCurrentThread", api_stream_get(stream, &found));
    for (int type = 0; !error && type < ACL_CORE_KINDS; type++) {
        thread_limit[type] = atomic_load(&found->core_limit[type]);
    }
    return error;
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream)
{
    API_PINNED struct api_stream *found = NULL;
    aclError error =
        acl_result("aclrtUnuseStreamResInCurrentThread", api_stream_get(stream, &found));
    for (int type = 0; !error && type < ACL_CORE_KINDS; type++) {
        thread_limit[type] = 0;
    }
    return error;
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value)
{
    API_PINNED struct api_context *context = NULL;
    const char *func = "aclrtGetResInCurrentThread";
    if (!value) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "value is NULL");
    }
    aclError error = check_type(func, type);
    if (!error) {
        error = acl_result(func, api_context_current(&context));
    }
    if (error) {
        return error;
    }
    *value = thread_limit[type];
    return *value ? ACL_SUCCESS : aclrtGetDeviceResLimit(context->device, type, value);
}

aclError leo_acl_core_limit(bool vector, uint32_t *cores)
{
    return aclrtGetResInCurrentThread(
        vector ? ACL_RT_DEV_RES_VECTOR_CORE : ACL_RT_DEV_RES_CUBE_CORE, cores);
}
