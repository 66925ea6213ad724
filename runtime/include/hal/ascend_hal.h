/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own library, as far as programs open it: how many devices, which interface version.
 * Usable before and without aclInit, and after a fork. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAL_FUNC_VISIBILITY __attribute__((visibility("default")))

enum { DRV_ERROR_NONE = 0, DRV_ERROR_INVALID_VALUE = 3, DRV_ERROR_NOT_SUPPORT = 0xfffe };

/** Devices of the machine, before ASCEND_RT_VISIBLE_DEVICES. */
HAL_FUNC_VISIBILITY int32_t drvGetDevNum(uint32_t *num);
HAL_FUNC_VISIBILITY int32_t halGetAPIVersion(int32_t *version);
/** DRV_ERROR_NOT_SUPPORT: host memory is registered with aclrtHostRegister. */
HAL_FUNC_VISIBILITY int32_t halHostRegister(void *src, uint64_t bytes, uint32_t flags,
                                            uint32_t device, void **dst);
HAL_FUNC_VISIBILITY int32_t halHostUnregister(void *src, uint32_t device);

#ifdef __cplusplus
}
#endif
