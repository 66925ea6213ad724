/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: counted opening, default context, capabilities. */
#include "acl_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define COUNT_HELP                                                                                 \
    "ids go from 0 to %d (ASCEND_RT_VISIBLE_DEVICES and LEO_DEVICES say how many there are)"

// Checks a user's device id and gives its slot; the runtime exists afterwards.
static aclError find_slot(const char *func, int64_t id, struct acl_device **slot, int *physical)
{
    struct leo_rt *rt;
    struct acl_process *process = acl_process();
    aclError error = acl_runtime(func, &rt);
    if (error) {
        return error;
    }
    if (process->visible_count == 0) {
        return acl_fail(ACL_ERROR_RT_INVALID_DEVICEID, func,
                        "no device %lld: ASCEND_RT_VISIBLE_DEVICES names no device that exists, so "
                        "there is none",
                        (long long)id);
    }
    if (id < 0 || id >= process->visible_count) {
        return acl_fail(ACL_ERROR_RT_INVALID_DEVICEID, func, "no device %lld: " COUNT_HELP,
                        (long long)id, process->visible_count - 1);
    }
    *slot = &process->device[id];
    *physical = process->visible[id];
    return ACL_SUCCESS;
}

static aclError set_device(struct acl_process *process, int32_t deviceId)
{
    struct acl_device *slot;
    int physical;
    aclError error = find_slot("aclrtSetDevice", deviceId, &slot, &physical);
    if (error) {
        return error;
    }
    if (!slot->primary) {
        struct leo_rt_device *rt;
        error = acl_status("aclrtSetDevice", leo_rt_device_open(process->rt, physical, &rt));
        if (error) {
            return error;
        }
        slot->rt = rt;
        struct acl_context *primary;
        error = acl_context_make("aclrtSetDevice", deviceId, true, &primary);
        if (error) {
            slot->rt = NULL;
            leo_rt_device_close(rt);
            return error;
        }
        slot->primary = primary;
    }
    slot->references++;
    acl_set_current_context(slot->primary);
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t deviceId)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->device_lock);
    aclError error = set_device(process, deviceId);
    bool first = !error && process->device[deviceId].references == 1;
    pthread_mutex_unlock(&process->device_lock);
    if (first) {
        acl_prof_device_opened(deviceId);
    }
    return error;
}

static void close_slot(struct acl_device *slot)
{
    struct acl_event *event;
    struct acl_context *context;
    // Contexts first: without one nothing new is made. Their streams wait for the callbacks in
    // them.
    while ((context = acl_handle_take(&slot->contexts)) != NULL) {
        acl_context_free(context);
    }
    while ((event = acl_handle_take(&slot->events)) != NULL) {
        acl_event_free(event);
    }
    struct acl_graph *graph;
    while ((graph = acl_handle_take(&slot->graphs)) != NULL) {
        acl_graph_free(graph);
    }
    acl_callbacks_end(slot);
    acl_physical_end(slot);
    acl_host_memory_end(slot);
    leo_rt_device_close(slot->rt);
    slot->rt = NULL;
    slot->primary = NULL;
    slot->references = 0;
}

static aclError drop_device(const char *func, int32_t id, bool force)
{
    struct acl_device *slot;
    int physical;
    aclError error = find_slot(func, id, &slot, &physical);
    if (error) {
        return error;
    }
    if (slot->references == 0) {
        return acl_fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, func,
                        "device %d was not set, or was already reset", id);
    }
    slot->references = force ? 0 : slot->references - 1;
    if (slot->references == 0) {
        close_slot(slot);
        acl_runtime_end();
    }
    return ACL_SUCCESS;
}

static aclError reset_device(const char *func, int32_t id, bool force)
{
    pthread_mutex_t *lock = &acl_process()->device_lock;
    pthread_mutex_lock(lock);
    aclError error = drop_device(func, id, force);
    pthread_mutex_unlock(lock);
    return error;
}

aclError aclrtResetDevice(int32_t deviceId)
{
    return reset_device("aclrtResetDevice", deviceId, false);
}

aclError aclrtResetDeviceForce(int32_t deviceId)
{
    return reset_device("aclrtResetDeviceForce", deviceId, true);
}

aclError aclrtGetDevice(int32_t *deviceId)
{
    ACL_PINNED struct acl_context *context = NULL;
    if (!deviceId) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice", "deviceId is NULL");
    }
    aclError error = acl_current_context("aclrtGetDevice", &context);
    if (!error) {
        *deviceId = context->device;
    }
    return error;
}

aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
    if (!runMode) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode", "runMode is NULL");
    }
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtSetTsDevice(aclrtTsId tsId)
{
    if (tsId != ACL_TS_ID_AICORE && tsId != ACL_TS_ID_AIVECTOR) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtSetTsDevice", "tsId %d is neither 0 nor 1",
                        (int)tsId);
    }
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count)
{
    struct leo_rt *rt;
    if (!count) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount", "count is NULL");
    }
    aclError error = acl_runtime("aclrtGetDeviceCount", &rt);
    if (error) {
        return error;
    }
    if (acl_process()->visible_count == 0) {
        return acl_fail(ACL_ERROR_RT_NO_DEVICE, "aclrtGetDeviceCount",
                        "no device is visible: see ASCEND_RT_VISIBLE_DEVICES");
    }
    *count = (uint32_t)acl_process()->visible_count;
    return ACL_SUCCESS;
}

static aclError ask_caps(const char *func, int64_t id, struct leo_drv_caps *caps)
{
    struct acl_device *slot;
    int physical;
    aclError error = find_slot(func, id, &slot, &physical);
    if (error) {
        return error;
    }
    struct leo_rt_device *device;
    error = acl_status(func, leo_rt_device_open(acl_process()->rt, physical, &device));
    if (!error) {
        leo_rt_device_get_caps(device, caps);
        leo_rt_device_close(device);
    }
    return error;
}

// Capabilities can be asked for without the device being set: opens it for the moment of the
// question.
static aclError get_caps(const char *func, int64_t id, struct leo_drv_caps *caps)
{
    pthread_mutex_t *lock = &acl_process()->device_lock;
    pthread_mutex_lock(lock);
    aclError error = ask_caps(func, id, caps);
    pthread_mutex_unlock(lock);
    return error;
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value)
{
    struct leo_drv_caps caps;
    if (!value) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo", "value is NULL");
    }
    aclError error = get_caps("aclrtGetDeviceInfo", deviceId, &caps);
    if (error) {
        return error;
    }
    // A coupled core counts as a cube core and as a vector core.
    uint32_t vector_cores = caps.vector_cores ? caps.vector_cores : caps.cube_cores;
    switch (attr) {
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *value = caps.cube_cores;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *value = vector_cores;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
        *value = caps.ub_bytes;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        *value = (int64_t)caps.hbm_bytes;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
        *value = caps.l2_bytes;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_IS_VIRTUAL:
        *value = 0;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_NPU_ARCH:
        *value = caps.arch;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
        *value = 0; // none is modelled
        return ACL_SUCCESS;
    }
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtGetDeviceInfo",
                    "attribute %d is not known here", (int)attr);
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value)
{
    static const aclrtDevAttr attrs[] = {
        [ACL_DEVICE_INFO_AI_CORE_NUM] = ACL_DEV_ATTR_AICORE_CORE_NUM,
        [ACL_DEVICE_INFO_VECTOR_CORE_NUM] = ACL_DEV_ATTR_VECTOR_CORE_NUM,
        [ACL_DEVICE_INFO_L2_SIZE] = ACL_DEV_ATTR_L2_CACHE_SIZE,
    };
    if (!value || deviceInfo < ACL_DEVICE_INFO_AI_CORE_NUM ||
        deviceInfo > ACL_DEVICE_INFO_L2_SIZE) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability",
                        "value is NULL or deviceInfo is unknown");
    }
    return aclrtGetDeviceInfo(deviceId, attrs[deviceInfo], value);
}

// A coupled chip saturates, a split one makes infinities; neither does the other here.
static aclError ask_sat_mode(const char *func, aclrtFloatOverflowMode *mode)
{
    ACL_PINNED struct acl_context *context = NULL;
    struct leo_drv_caps caps;
    aclError error = acl_current_context(func, &context);
    if (!error) {
        leo_rt_device_get_caps(context->rt, &caps);
        *mode = caps.arch == ACL_ARCH_COUPLED ? ACL_RT_OVERFLOW_MODE_SATURATION
                                              : ACL_RT_OVERFLOW_MODE_INFNAN;
    }
    return error;
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)
{
    aclrtFloatOverflowMode own;
    const char *func = "aclrtSetDeviceSatMode";
    if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "mode %d is neither 0 nor 1", (int)mode);
    }
    aclError error = ask_sat_mode(func, &own);
    if (!error && mode != own) {
        error = acl_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func, "this chip %s, mode %d is not modelled",
            own == ACL_RT_OVERFLOW_MODE_INFNAN ? "makes infinities" : "saturates", (int)mode);
    }
    return error;
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode)
{
    return mode ? ask_sat_mode("aclrtGetDeviceSatMode", mode)
                : acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceSatMode", "mode is NULL");
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus)
{
    struct leo_drv_caps caps;
    if (!deviceStatus) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryDeviceStatus", "deviceStatus is NULL");
    }
    aclError error = get_caps("aclrtQueryDeviceStatus", deviceId, &caps);
    if (!error) {
        struct acl_process *process = acl_process();
        pthread_mutex_lock(&process->device_lock);
        struct leo_rt_device *rt = process->device[deviceId].rt;
        bool dead = rt && leo_drv_device_is_dead(leo_rt_device_driver(rt));
        pthread_mutex_unlock(&process->device_lock);
        *deviceStatus = dead ? ACL_RT_DEVICE_STATUS_ABNORMAL : ACL_RT_DEVICE_STATUS_NORMAL;
    }
    return error;
}

const char *aclrtGetSocName(void)
{
    static _Thread_local char name[32];
    struct leo_drv_caps caps;
    if (get_caps("aclrtGetSocName", 0, &caps) != ACL_SUCCESS) {
        return NULL;
    }
    snprintf(name, sizeof(name), "%s", caps.soc_name);
    // SoC files are named ascend910a; programs compare with Ascend910A.
    for (char *c = name; *c; c++) {
        *c = (char)(c == name || c > name + 6 ? toupper((unsigned char)*c) : *c);
    }
    return name;
}
