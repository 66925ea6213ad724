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

#ifdef __cplusplus
}
#endif
