/* SPDX-License-Identifier: Apache-2.0 */
/* Start, end, and the memory hooks adapters call around operators. */
#include <acl/acl.h>
#include <aclnn/aclnn_base.h>
#include <aclnn/huge_mem.h>

aclnnStatus aclnnInit(const char *configPath)
{
    aclError error = aclInit(configPath);
    return error == ACL_ERROR_REPEAT_INITIALIZE ? ACLNN_SUCCESS : error;
}

aclnnStatus aclnnFinalize(void)
{
    return aclFinalize();
}

// Plans keep their host memory themselves: there is no pool to begin or end for a thread.
int32_t InitHugeMemThreadLocal(void *arg, bool shared)
{
    (void)arg;
    (void)shared;
    return ACLNN_SUCCESS;
}

void UnInitHugeMemThreadLocal(void *arg, bool shared)
{
    (void)arg;
    (void)shared;
}

void ReleaseHugeMem(void *arg, bool shared)
{
    (void)arg;
    (void)shared;
}
