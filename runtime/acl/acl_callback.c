/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of streams. */
#include "acl_internal.h"

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    return acl_result(__func__, api_report_subscribe(threadId, stream));
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    return acl_result(__func__, api_report_unsubscribe(threadId, stream));
}

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream)
{
    if (!fn || (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "fn is NULL or blockType is not 0 or 1");
    }
    return acl_result(__func__,
                      api_callback_launch(stream, fn, userData, blockType == ACL_CALLBACK_BLOCK));
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    return fn ? acl_result(__func__, api_host_func_launch(stream, fn, args))
              : acl_null(__func__, "fn");
}

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    return acl_result(__func__, api_report_subscribe(hostFuncThreadId, exeStream));
}

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    return acl_result(__func__, api_report_unsubscribe(hostFuncThreadId, exeStream));
}

aclError aclrtProcessHostFunc(int32_t timeout)
{
    aclError error = acl_timeout_check(__func__, timeout);
    return error ? error : acl_result(__func__, api_report_process(timeout));
}

aclError aclrtProcessReport(int32_t timeout)
{
    aclError error = acl_timeout_check(__func__, timeout);
    return error ? error : acl_result(__func__, api_report_process(timeout));
}
