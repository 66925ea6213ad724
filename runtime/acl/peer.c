/* SPDX-License-Identifier: Apache-2.0 */
/* Which device may reach which other's memory. */
#include "acl_internal.h"

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    bool can;
    if (!canAccessPeer) {
        return acl_null(__func__, "canAccessPeer");
    }
    aclError error = acl_result(__func__, front_peer_can(deviceId, peerDeviceId, &can));
    if (!error) {
        *canAccessPeer = can;
    }
    return error;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    return flags ? acl_fail(ACL_ERROR_FEATURE_UNSUPPORTED, __func__, "flags are %u: they must be 0",
                            flags)
                 : acl_result(__func__, front_peer_enable(peerDeviceId));
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    return acl_result(__func__, front_peer_disable(peerDeviceId));
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
    bool enabled;
    if (!status) {
        return acl_null(__func__, "status");
    }
    aclError error = acl_result(__func__, front_peer_is_enabled(deviceId, peerDeviceId, &enabled));
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
    aclError error = acl_result(__func__, front_device_index((int32_t)deviceId, &index));
    if (!error) {
        error = acl_result(__func__, front_device_index((int32_t)otherDeviceId, &index));
    }
    if (!error) {
        *value = ACL_RT_DEVS_TOPOLOGY_HCCS;
    }
    return error;
}
