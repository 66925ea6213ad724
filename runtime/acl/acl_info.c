/* SPDX-License-Identifier: Apache-2.0 */
/* What a device says of itself besides its capabilities: identity, use, errors. */
#include "acl_internal.h"

#include <stdio.h>
#include <string.h>

static aclError find_device(const char *func, int32_t id, int *index)
{
    return acl_result(func, api_device_index(id, index));
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid)
{
    const char *func = "aclrtDeviceGetUuid";
    int index;
    if (!uuid) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "uuid is NULL");
    }
    aclError error = find_device(func, deviceId, &index);
    if (!error) {
        // A simulated card has no serial number: its name and number, the same on every run.
        memset(uuid, 0, sizeof(*uuid));
        snprintf(uuid->bytes, sizeof(uuid->bytes), "leonardo-npu-%d", index);
    }
    return error;
}

/* Numbers of a device: the user's after ASCEND_RT_VISIBLE_DEVICES; the logical and the physical one
 * are the runtime's. */
static aclError to_physical(const char *func, int32_t id, int32_t *out)
{
    int index;
    if (!out) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "the output is NULL");
    }
    aclError error = find_device(func, id, &index);
    if (!error) {
        *out = index;
    }
    return error;
}

static aclError to_user(const char *func, int32_t index, int32_t *out)
{
    return out ? acl_result(func, api_device_user_id(index, out)) : acl_null(func, "the output");
}

static aclError same(const char *func, int32_t index, int32_t *out)
{
    aclError error =
        out ? acl_result(func, api_device_exists(index)) : acl_null(func, "the output");
    if (!error) {
        *out = index;
    }
    return error;
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId)
{
    return to_physical("aclrtGetLogicDevIdByUserDevId", userDevid, logicDevId);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid)
{
    return to_user("aclrtGetUserDevIdByLogicDevId", logicDevId, userDevid);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId)
{
    return to_physical("aclrtGetPhyDevIdByUserDevId", userDevId, phyDevId);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId)
{
    return to_user("aclrtGetUserDevIdByPhyDevId", phyDevId, userDevId);
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId)
{
    return same("aclrtGetLogicDevIdByPhyDevId", phyDevId, logicDevId);
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId)
{
    return same("aclrtGetPhyDevIdByLogicDevId", logicDevId, phyDevId);
}

static int percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : part >= whole ? 100 : (int)(part * 100 / whole);
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo)
{
    struct leo_rt_use use;
    uint64_t free_bytes, total_bytes;
    if (!utilizationInfo) {
        return acl_null(__func__, "utilizationInfo");
    }
    aclError error =
        acl_result(__func__, api_device_use(deviceId, &use, &free_bytes, &total_bytes));
    if (!error) {
        // A device that is not set does nothing and holds nothing.
        aclrtUtilizationExtendInfo *extend = utilizationInfo->utilizationExtend;
        *utilizationInfo = (aclrtUtilizationInfo){
            .cubeUtilization = percent(use.cube_ns, use.span_ns),
            .vectorUtilization = percent(use.vector_ns, use.span_ns),
            .memoryUtilization = percent(total_bytes - free_bytes, total_bytes),
            .utilizationExtend = extend,
        };
    }
    return error;
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo)
{
    const char *func = "aclrtGetErrorVerbose";
    int index;
    if (!errorInfo) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "errorInfo is NULL");
    }
    aclError error = find_device(func, deviceId, &index);
    if (!error) {
        // The chips have no memory or link errors to tell of.
        memset(errorInfo, 0, sizeof(*errorInfo));
    }
    return error;
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo)
{
    (void)deviceId;
    return acl_fail(errorInfo ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_INVALID_PARAM,
                    "aclrtRepairError",
                    errorInfo ? "there is no error to repair" : "errorInfo is NULL");
}

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize,
                            size_t *retSize)
{
    const char *func = "aclrtGetMemUceInfo";
    int index;
    if (!memUceInfoArray || arraySize == 0 || !retSize) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL or arraySize is 0");
    }
    aclError error = find_device(func, deviceId, &index);
    if (!error) {
        *retSize = 0; // the memory has no uncorrectable errors
    }
    return error;
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize)
{
    (void)deviceId;
    (void)memUceInfoArray;
    (void)arraySize;
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemUceRepair",
                    "the memory has no uncorrectable errors");
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout)
{
    (void)deviceId;
    (void)timeout;
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtDeviceTaskAbort",
                    "tasks are aborted with their stream (aclrtDestroyStreamForce)");
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum,
                              size_t *outputNum)
{
    (void)deviceId;
    (void)memUsageInfo;
    (void)inputNum;
    (void)outputNum;
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtGetMemUsageInfo",
                    "memory is not counted by module: see aclrtGetMemInfo");
}
