/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: counted opening, default context, capabilities. */
#include "acl_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

aclError aclrtSetDevice(int32_t deviceId)
{
    return acl_result(__func__, api_device_set(deviceId));
}

aclError aclrtResetDevice(int32_t deviceId)
{
    return acl_result(__func__, api_device_reset(deviceId, false));
}

aclError aclrtResetDeviceForce(int32_t deviceId)
{
    return acl_result(__func__, api_device_reset(deviceId, true));
}

aclError aclrtGetDevice(int32_t *deviceId)
{
    return deviceId ? acl_result(__func__, api_device_current(deviceId))
                    : acl_null(__func__, "deviceId");
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
    return count ? acl_result(__func__, api_device_count(count)) : acl_null(__func__, "count");
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value)
{
    struct leo_caps caps;
    if (!value) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo", "value is NULL");
    }
    aclError error = acl_result("aclrtGetDeviceInfo", api_device_caps(deviceId, &caps));
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

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus)
{
    bool dead;
    if (!deviceStatus) {
        return acl_null(__func__, "deviceStatus");
    }
    aclError error = acl_result(__func__, api_device_is_dead(deviceId, &dead));
    if (!error) {
        *deviceStatus = dead ? ACL_RT_DEVICE_STATUS_ABNORMAL : ACL_RT_DEVICE_STATUS_NORMAL;
    }
    return error;
}

const char *aclrtGetSocName(void)
{
    static _Thread_local char name[LEO_RT_NAME_BYTES];
    if (acl_result("aclrtGetSocName", api_device_told_as(0, name)) != ACL_SUCCESS) {
        return NULL;
    }
    // SoC files are named ascend910a; programs compare with Ascend910A.
    for (char *c = name; *c; c++) {
        *c = (char)(c == name || c > name + 6 ? toupper((unsigned char)*c) : *c);
    }
    return name;
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType,
                                  int32_t *value)
{
    int index;
    if (!value) {
        return acl_null(__func__, "value");
    }
    if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
        devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__, "feature %d is unknown",
                        (int)devFeatureType);
    }
    aclError error = acl_result(__func__, api_device_index(deviceId, &index));
    if (!error) {
        *value = 0;
    }
    return error;
}

aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible)
{
    enum { FAMILY_LETTERS = sizeof("Ascend910B") - 1 }; // what follows tells sizes apart
    if (!socVersion || !canCompatible) {
        return acl_null(__func__, socVersion ? "canCompatible" : "socVersion");
    }
    const char *own = aclrtGetSocName();
    if (!own) {
        return ACL_ERROR_INTERNAL_ERROR; // the text is there
    }
    *canCompatible = strncmp(own, socVersion, FAMILY_LETTERS) == 0;
    return ACL_SUCCESS;
}
