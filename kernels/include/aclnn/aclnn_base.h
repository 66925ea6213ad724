/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the two-phase operator interface. */
#pragma once

#include <aclnn/acl_meta.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An optional stand-in for aclInit; it may come after it. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char *configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif
