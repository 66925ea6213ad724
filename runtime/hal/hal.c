/* SPDX-License-Identifier: Apache-2.0 */
#include <hal/ascend_hal.h>

#include <leo/runtime.h>
#include <stddef.h>

// Below 0x071905 torch_npu's profiler takes host times from CLOCK_MONOTONIC_RAW. From there on it
// would read the host's cycle counter, whose frequency we do not know.
enum { API_VERSION = 0x071900 };

int32_t drvGetDevNum(uint32_t *num)
{
    struct leo_rt_opts opts = {.size = sizeof(opts)};
    struct leo_rt *rt = NULL;
    if (!num) {
        return DRV_ERROR_INVALID_VALUE;
    }
    // A runtime without an open device is its options: no thread, no chip.
    if (leo_rt_create(&opts, &rt) != LEO_OK) {
        return DRV_ERROR_INVALID_VALUE;
    }
    *num = (uint32_t)leo_rt_device_count(rt);
    leo_rt_destroy(rt);
    return DRV_ERROR_NONE;
}

int32_t halGetAPIVersion(int32_t *version)
{
    if (!version) {
        return DRV_ERROR_INVALID_VALUE;
    }
    *version = API_VERSION;
    return DRV_ERROR_NONE;
}

int32_t halHostRegister(void *src, uint64_t bytes, uint32_t flags, uint32_t device, void **dst)
{
    (void)src;
    (void)bytes;
    (void)flags;
    (void)device;
    if (!dst) {
        return DRV_ERROR_INVALID_VALUE;
    }
    *dst = NULL;
    return DRV_ERROR_NOT_SUPPORT;
}

int32_t halHostUnregister(void *src, uint32_t device)
{
    (void)src;
    (void)device;
    return DRV_ERROR_NOT_SUPPORT;
}
