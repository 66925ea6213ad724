/* SPDX-License-Identifier: Apache-2.0 */
/* Which device may reach which other's memory. */
#include "acl_internal.h"

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    bool can;
    if (!canAccessPeer) {
        return acl_null(__func__, "canAccessPeer");
    }
    aclError error = acl_result(__func__, api_peer_can(deviceId, peerDeviceId, &can));
    if (!error) {
        *canAccessPeer = can;
    }
    return error;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    return flags ? acl_fail(ACL_ERROR_FEATURE_UNSUPPORTED, __func__, "flags are %u: they must be 0",
                            flags)
                 : acl_result(__func__, api_peer_enable(peerDeviceId));
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    return acl_result(__func__, api_peer_disable(peerDeviceId));
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
    bool enabled;
    if (!status) {
        return acl_null(__func__, "status");
    }
    aclError error = acl_result(__func__, api_peer_is_enabled(deviceId, peerDeviceId, &enabled));
    if (!error) {
        *status = enabled;
    }
    return error;
}

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value)
{
    int index;
    if (!value) {
        return acl_null(__func__, "value");
    }
    if (deviceId == otherDeviceId) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__, "both are device %u", deviceId);
    }
    aclError error = acl_result(__func__, api_device_index((int32_t)deviceId, &index));
    if (!error) {
        error = acl_result(__func__, api_device_index((int32_t)otherDeviceId, &index));
    }
    if (!error) {
        *value = ACL_RT_DEVS_TOPOLOGY_HCCS;
    }
    return error;
}

aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count)
{
    if (!virPtr || !desc || size == 0 || count == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "an argument is NULL or 0");
    }
    aclError error = acl_result(__func__, api_memory_check(virPtr, size));
    for (size_t i = 0; i < count && !error; i++) {
        if (desc[i].location.type != ACL_MEM_LOCATION_TYPE_DEVICE ||
            desc[i].flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE) {
            error = acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                             "description %zu: location type %d, flags %d: only READWRITE for "
                             "devices can be set",
                             i, (int)desc[i].location.type, (int)desc[i].flags);
        } else {
            error = acl_result(__func__, api_peer_admit((int32_t)desc[i].location.id, virPtr));
        }
    }
    return error;
}

aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location, uint64_t *flag)
{
    bool reaches = false;
    if (!virPtr || !location || !flag) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "an argument is NULL");
    }
    if (location->type != ACL_MEM_LOCATION_TYPE_DEVICE) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                        "location type %d: only devices have access of their own",
                        (int)location->type);
    }
    aclError error =
        acl_result(__func__, api_peer_reaches((int32_t)location->id, virPtr, &reaches));
    if (!error) {
        *flag = reaches ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
    }
    return error;
}
