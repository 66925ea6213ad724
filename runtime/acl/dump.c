/* SPDX-License-Identifier: Apache-2.0 */
/* The switch of model dumps: its order of calls is checked, and a dump itself is refused, since
 * there are no models whose tensors could be written. */
#include "acl_internal.h"

#include <unistd.h>

static aclError check_initialized(const char *func)
{
    return front_is_initialized()
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_UNINITIALIZE, func, "call aclInit before a dump is set up");
}

aclError aclmdlInitDump(void)
{
    aclError error = check_initialized("aclmdlInitDump");
    if (!error && atomic_exchange(&acl_process()->dump_is_on, true)) {
        error = acl_fail(ACL_ERROR_REPEAT_INITIALIZE, "aclmdlInitDump",
                         "called already: call aclmdlFinalizeDump first");
    }
    return error;
}

static aclError check_on(const char *func)
{
    aclError error = check_initialized(func);
    if (!error && !atomic_load(&acl_process()->dump_is_on)) {
        error = acl_fail(ACL_ERROR_DUMP_NOT_RUN, func, "call aclmdlInitDump first");
    }
    return error;
}

aclError aclmdlSetDump(const char *dumpCfgPath)
{
    const char *func = "aclmdlSetDump";
    if (!dumpCfgPath) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "dumpCfgPath is NULL");
    }
    aclError error = check_on(func);
    if (error) {
        return error;
    }
    if (access(dumpCfgPath, R_OK) != 0) {
        return acl_fail(ACL_ERROR_INVALID_DUMP_CONFIG, func, "cannot read '%s'", dumpCfgPath);
    }
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                    "dumps of operators' tensors are not written by this library: print them in "
                    "the program");
}

aclError aclmdlFinalizeDump(void)
{
    aclError error = check_on("aclmdlFinalizeDump");
    if (!error) {
        atomic_store(&acl_process()->dump_is_on, false);
    }
    return error;
}
