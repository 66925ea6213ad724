/* SPDX-License-Identifier: Apache-2.0 */
/* AscendCL: process life cycle. Pulls in the run-time calls. */
#pragma once

#include <acl/acl_base.h>
#include <acl/acl_rt.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0

/** Starts the library. `configPath`: NULL or a JSON file (`{}` will do). A repeat returns 100002
 * and counts. */
ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);
/** Ends the library whatever the count; a second one returns 100037. */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);
/** Lowers the count by one; `refCount` (may be NULL) receives what remains. */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t *refCount);
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion,
                                             int32_t *patchVersion);
/** Text of the calling thread's newest error; reading clears it; NULL when there is none. */
ACL_FUNC_VISIBILITY const char *aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif
