/* SPDX-License-Identifier: Apache-2.0 */
/* Which device may reach which other's memory. */
#include "../memory/memory_owner.h"
#include "../process/code.h"
#include "context.h"

static bool may_reach(int from, int to)
{
    return atomic_load(&api_process()->peers[from]) >> to & 1;
}

bool api_peer_allows(const struct leo_rt_device *one, const struct leo_rt_device *other)
{
    int left = leo_rt_device_index(one), right = leo_rt_device_index(other);
    return may_reach(left, right) || may_reach(right, left);
}

static leo_status find_both(int32_t device, int32_t peer, int *one, int *other)
{
    leo_status status = api_device_index(device, one);
    return status != LEO_OK ? status : api_device_index(peer, other);
}

leo_status api_peer_can(int32_t device, int32_t peer, bool *can)
{
    int one, other;
    leo_status status = find_both(device, peer, &one, &other);
    if (status == LEO_OK) {
        // Every chip's memory has a window in the same bus; its own needs none.
        *can = one != other;
    }
    return status;
}

leo_status api_peer_is_enabled(int32_t device, int32_t peer, bool *enabled)
{
    int one, other;
    leo_status status = find_both(device, peer, &one, &other);
    if (status == LEO_OK) {
        *enabled = may_reach(one, other);
    }
    return status;
}

// The current device and another one, by the runtime's numbers.
static leo_status find_pair(int32_t peer, int *own, int *other)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        status = api_device_index(peer, other);
    }
    if (status != LEO_OK) {
        return status;
    }
    *own = leo_rt_device_index(context->rt);
    return *own != *other
               ? LEO_OK
               : leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "device %d is the current one, which is no peer of itself", peer);
}

leo_status api_peer_enable(int32_t peer)
{
    int own, other;
    leo_status status = find_pair(peer, &own, &other);
    if (status == LEO_OK) {
        atomic_fetch_or(&api_process()->peers[own], 1u << other);
    }
    return status;
}

leo_status api_peer_join(int32_t device, int32_t peer)
{
    int one, other;
    leo_status status = find_both(device, peer, &one, &other);
    if (status == LEO_OK && one != other) {
        atomic_fetch_or(&api_process()->peers[one], 1u << other);
    }
    return status;
}

leo_status api_peer_disable(int32_t peer)
{
    int own, other;
    leo_status status = find_pair(peer, &own, &other);
    if (status == LEO_OK && !may_reach(own, other)) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "access to device %d is not enabled from the current one", peer);
    }
    if (status == LEO_OK) {
        atomic_fetch_and(&api_process()->peers[own], ~(1u << other));
    }
    return status;
}

// The user's numbers of a device and of the owner of `ptr`.
static leo_status find_owner(const void *ptr, int32_t *owner)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    struct leo_rt_device *device = status == LEO_OK ? api_memory_owner(ptr) : NULL;
    if (status == LEO_OK && !device) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%p is no memory of a device", ptr);
    }
    *owner = status == LEO_OK ? api_device_id(device) : 0;
    return status;
}

leo_status api_peer_reaches(int32_t device, const void *ptr, bool *reaches)
{
    int32_t owner;
    leo_status status = find_owner(ptr, &owner);
    if (status == LEO_OK && owner != device) {
        return api_peer_is_enabled(device, owner, reaches);
    }
    *reaches = status == LEO_OK;
    return status;
}

leo_status api_peer_admit(int32_t device, const void *ptr)
{
    int32_t owner;
    leo_status status = find_owner(ptr, &owner);
    return status == LEO_OK ? api_peer_join(device, owner) : status;
}
