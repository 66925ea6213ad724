/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks that framework adapters call around an operator to give it a pool of host memory. Operators
 * here need none. */
#pragma once

#include <acl/acl_base.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY int32_t InitHugeMemThreadLocal(void *arg, bool shared);
ACL_FUNC_VISIBILITY void UnInitHugeMemThreadLocal(void *arg, bool shared);
ACL_FUNC_VISIBILITY void ReleaseHugeMem(void *arg, bool shared);

#ifdef __cplusplus
}
#endif
