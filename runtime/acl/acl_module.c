/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries and functions. */
#include "acl_internal.h"

#include <stdio.h>

aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options,
                                 aclrtBinHandle *binHandle)
{
    (void)options; // the kernel file says itself what it is; lazy loading would change no result
    return binPath && binHandle ? acl_result(__func__, api_module_load_file(binPath, binHandle))
                                : acl_null(__func__, binPath ? "binHandle" : "binPath");
}

aclError aclrtBinaryLoadFromData(const void *data, size_t length,
                                 const aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle)
{
    (void)options;
    return data && binHandle && length
               ? acl_result(__func__, api_module_load(data, length, binHandle))
               : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "an argument is NULL or length is 0");
}

aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen)
{
    void *binary = NULL;
    if (!data || dataLen == 0) {
        acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "data is NULL or dataLen is 0");
    } else {
        acl_result(__func__, api_binary_create(data, dataLen, &binary));
    }
    return binary;
}

aclError aclrtDestroyBinary(aclrtBinary binary)
{
    return acl_result(__func__, api_binary_destroy(binary));
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle)
{
    return binHandle ? acl_result(__func__, api_binary_load(binary, binHandle))
                     : acl_null(__func__, "binHandle");
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle)
{
    return acl_result(__func__, api_module_unload(binHandle));
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char *kernelName,
                                aclrtFuncHandle *funcHandle)
{
    return kernelName && funcHandle
               ? acl_result(__func__, api_module_find(binHandle, kernelName, funcHandle))
               : acl_null(__func__, kernelName ? "funcHandle" : "kernelName");
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name)
{
    API_PINNED const struct api_func *func = api_func_find(funcHandle);
    if (!func || !name || maxLen == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                        func ? "name is NULL or maxLen is 0" : "the handle is no live function");
    }
    snprintf(name, maxLen, "%s", api_func_name(func));
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr, void **aivAddr)
{
    API_PINNED const struct api_func *func = api_func_find(funcHandle);
    if (!func || !aicAddr || !aivAddr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                        func ? "an address is NULL" : "the handle is no live function");
    }
    enum leo_core_kind kind;
    void *addr = api_func_addr(func, &kind);
    *aicAddr = kind == LEO_CORE_KIND_VECTOR ? NULL : addr;
    *aivAddr = kind != LEO_CORE_KIND_CUBE && kind != LEO_CORE_KIND_AICORE ? addr : NULL;
    return ACL_SUCCESS;
}

aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount)
{
    API_PINNED const struct api_func *found = api_func_find(func);
    if (!found || !paramCount) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                        found ? "paramCount is NULL" : "the handle is no live function");
    }
    *paramCount = api_func_arg_count(found);
    return ACL_SUCCESS;
}
