/* SPDX-License-Identifier: Apache-2.0 */
/* Argument handles: values appended one by one in the order of the kernel's declaration. */
#include "acl_internal.h"

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle)
{
    return funcHandle && argsHandle ? acl_result(__func__, api_args_create(funcHandle, argsHandle))
                                    : acl_null(__func__, funcHandle ? "argsHandle" : "funcHandle");
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param, size_t paramSize,
                               aclrtParamHandle *paramHandle)
{
    aclrtParamHandle ignored;
    return acl_result(__func__, api_args_append(argsHandle, param, paramSize,
                                                paramHandle ? paramHandle : &ignored));
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle)
{
    return paramHandle ? acl_result(__func__, api_args_append_placeholder(argsHandle, paramHandle))
                       : acl_null(__func__, "paramHandle");
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                             aclrtParamHandle paramHandle, size_t dataSize,
                                             void **bufferAddr)
{
    return bufferAddr ? acl_result(__func__, api_args_placeholder_buffer(argsHandle, paramHandle,
                                                                         dataSize, bufferAddr))
                      : acl_null(__func__, "bufferAddr");
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
                                   void *value, size_t paramSize)
{
    return acl_result(__func__, api_args_update(argsHandle, paramHandle, value, paramSize));
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle)
{
    return acl_result(__func__, api_args_finalize(argsHandle));
}
