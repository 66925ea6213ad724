/* SPDX-License-Identifier: Apache-2.0 */
/* Which device may reach whose memory. */
#include "acl_internal.h"

int32_t acl_device_id(const struct leo_rt_device *device)
{
    const struct acl_process *process = acl_process();
    int32_t id = process->visible_count - 1;
    while (id >= 0 && process->visible[id] != leo_rt_device_index(device)) {
        id--;
    }
    return id;
}

static bool may_reach(int from, int to)
{
    return atomic_load(&acl_process()->peers[from]) >> to & 1;
}

bool acl_peer_is_enabled(const struct leo_rt_device *one, const struct leo_rt_device *other)
{
    int left = leo_rt_device_index(one), right = leo_rt_device_index(other);
    return may_reach(left, right) || may_reach(right, left);
}

// Checks a user's device id and gives the runtime's.
static aclError find_device(const char *func, int32_t id, int *index)
{
    struct leo_rt *rt;
    aclError error = acl_runtime(func, &rt);
    if (error) {
        return error;
    }
    const struct acl_process *process = acl_process();
    if (id < 0 || id >= process->visible_count) {
        return acl_fail(ACL_ERROR_RT_INVALID_DEVICEID, func, "no device %d: there are %d", id,
                        process->visible_count);
    }
    *index = process->visible[id];
    return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    const char *func = "aclrtDeviceCanAccessPeer";
    int one, other;
    if (!canAccessPeer) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "canAccessPeer is NULL");
    }
    aclError error = find_device(func, deviceId, &one);
    if (!error) {
        error = find_device(func, peerDeviceId, &other);
    }
    if (!error) {
        // Every chip's memory has a window in the same bus; its own needs none.
        *canAccessPeer = one != other;
    }
    return error;
}

// The current device and another one, by the runtime's numbers.
static aclError find_pair(const char *func, int32_t peer, int *own, int *other)
{
    ACL_PINNED struct acl_context *context = NULL;
    aclError error = acl_current_context(func, &context);
    if (!error) {
        error = find_device(func, peer, other);
    }
    if (error) {
        return error;
    }
    *own = leo_rt_device_index(context->rt);
    return *own != *other
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                          "device %d is the current one, which is no peer of itself", peer);
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    const char *func = "aclrtDeviceEnablePeerAccess";
    int own, other;
    if (flags) {
        return acl_fail(ACL_ERROR_FEATURE_UNSUPPORTED, func, "flags are %u: they must be 0", flags);
    }
    aclError error = find_pair(func, peerDeviceId, &own, &other);
    if (!error) {
        atomic_fetch_or(&acl_process()->peers[own], 1u << other);
    }
    return error;
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    const char *func = "aclrtDeviceDisablePeerAccess";
    int own, other;
    aclError error = find_pair(func, peerDeviceId, &own, &other);
    if (!error && !may_reach(own, other)) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                         "access to device %d is not enabled from the current one", peerDeviceId);
    }
    if (!error) {
        atomic_fetch_and(&acl_process()->peers[own], ~(1u << other));
    }
    return error;
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
    const char *func = "aclrtDevicePeerAccessStatus";
    int one, other;
    if (!status) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "status is NULL");
    }
    aclError error = find_device(func, deviceId, &one);
    if (!error) {
        error = find_device(func, peerDeviceId, &other);
    }
    if (!error) {
        *status = may_reach(one, other);
    }
    return error;
}
