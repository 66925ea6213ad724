/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries and functions. */
#include "acl_internal.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

/** Bytes kept by aclrtCreateBinary until they are loaded. */
struct acl_binary {
    struct front_handle handle;
    size_t bytes;
    unsigned char data[];
};

static aclError load(const char *func, const void *data, size_t length, const char *path,
                     aclrtBinHandle *out)
{
    ACL_PINNED struct acl_context *context = NULL;
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    struct acl_module *module = leo_calloc(1, sizeof(*module));
    if (!module) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    leo_status status = path ? leo_rt_module_load_file(context->rt, path, &module->rt)
                             : leo_rt_module_load(context->rt, data, length, "memory", &module->rt);
    if (status != LEO_OK) {
        leo_free(module);
        return acl_status(func, status);
    }
    module->context = context;
    acl_handle_add(&module->handle, ACL_KIND_MODULE, &context->modules);
    *out = module;
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options,
                                 aclrtBinHandle *binHandle)
{
    (void)options; // the kernel file says itself what it is; lazy loading would change no result
    if (!binPath || !binHandle) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtBinaryLoadFromFile", "%s is NULL",
                        binPath ? "binHandle" : "binPath");
    }
    return load("aclrtBinaryLoadFromFile", NULL, 0, binPath, binHandle);
}

aclError aclrtBinaryLoadFromData(const void *data, size_t length,
                                 const aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle)
{
    (void)options;
    if (!data || !binHandle || length == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtBinaryLoadFromData",
                        "an argument is NULL or length is 0");
    }
    return load("aclrtBinaryLoadFromData", data, length, NULL, binHandle);
}

aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen)
{
    if (!data || dataLen == 0) {
        acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateBinary", "data is NULL or dataLen is 0");
        return NULL;
    }
    struct acl_binary *binary = leo_alloc(sizeof(*binary) + dataLen);
    if (!binary) {
        acl_fail(ACL_ERROR_BAD_ALLOC, "aclrtCreateBinary", "out of host memory");
        return NULL;
    }
    binary->bytes = dataLen;
    memcpy(binary->data, data, dataLen);
    acl_handle_add(&binary->handle, ACL_KIND_BINARY, NULL);
    return binary;
}

aclError aclrtDestroyBinary(aclrtBinary binary)
{
    struct acl_binary *found = acl_handle_find(binary, ACL_KIND_BINARY);
    if (!found || !acl_handle_claim(&found->handle)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyBinary", "%p is no live binary",
                        binary);
    }
    acl_handle_remove(&found->handle);
    leo_free(found);
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle)
{
    ACL_PINNED const struct acl_binary *found = acl_handle_find(binary, ACL_KIND_BINARY);
    if (!found || !binHandle) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtBinaryLoad", "%s",
                        found ? "binHandle is NULL" : "binary is no live binary");
    }
    return load("aclrtBinaryLoad", found->data, found->bytes, NULL, binHandle);
}

void acl_module_free(struct acl_module *module)
{
    struct acl_func *func;
    while ((func = acl_handle_take(&module->funcs)) != NULL) {
        acl_args_end(func);
        acl_handle_remove(&func->handle);
        leo_free(func);
    }
    leo_rt_module_unload(module->rt);
    acl_handle_remove(&module->handle);
    leo_free(module);
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle)
{
    struct acl_module *module = acl_handle_find(binHandle, ACL_KIND_MODULE);
    if (!module || !acl_handle_claim(&module->handle)) {
        return acl_fail(binHandle ? ACL_ERROR_RT_INVALID_HANDLE : ACL_ERROR_INVALID_PARAM,
                        "aclrtBinaryUnLoad", "%p is no loaded binary", binHandle);
    }
    acl_module_free(module);
    return ACL_SUCCESS;
}

static bool func_is(const void *handle, const void *user)
{
    const struct acl_func *func = handle;
    return func->rt == user;
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char *kernelName,
                                aclrtFuncHandle *funcHandle)
{
    const char *func = "aclrtBinaryGetFunction";
    struct leo_rt_kernel *kernel;
    if (!kernelName || !funcHandle) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s is NULL",
                        kernelName ? "funcHandle" : "kernelName");
    }
    ACL_PINNED struct acl_module *module = acl_handle_find(binHandle, ACL_KIND_MODULE);
    if (!module) {
        return acl_fail(ACL_ERROR_RT_INVALID_HANDLE, func, "%p is no loaded binary", binHandle);
    }
    aclError error = acl_status(func, leo_rt_module_find(module->rt, kernelName, &kernel));
    if (error) {
        return error;
    }
    struct acl_func *found =
        front_family_find(&acl_process()->handles, &module->funcs, func_is, kernel);
    if (found) {
        acl_handle_unpin(&found->handle);
    } else {
        found = leo_calloc(1, sizeof(*found));
        if (!found) {
            return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
        }
        found->rt = kernel;
        found->module = module;
        acl_handle_add(&found->handle, ACL_KIND_FUNC, &module->funcs);
    }
    *funcHandle = found;
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name)
{
    ACL_PINNED const struct acl_func *func = acl_handle_find(funcHandle, ACL_KIND_FUNC);
    if (!func || !name || maxLen == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetFunctionName", "%s",
                        func ? "name is NULL or maxLen is 0" : "the handle is no live function");
    }
    snprintf(name, maxLen, "%s", leo_rt_kernel_name(func->rt));
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr, void **aivAddr)
{
    const char *name = "aclrtGetFunctionAddr";
    ACL_PINNED const struct acl_func *func = acl_handle_find(funcHandle, ACL_KIND_FUNC);
    if (!func || !aicAddr || !aivAddr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "%s",
                        func ? "an address is NULL" : "the handle is no live function");
    }
    enum leo_core_kind kind = leo_rt_kernel_kind(func->rt);
    void *addr = (void *)(uintptr_t)leo_rt_kernel_addr(func->rt);
    *aicAddr = kind == LEO_CORE_KIND_VECTOR ? NULL : addr;
    *aivAddr = kind == LEO_CORE_KIND_VECTOR || kind == LEO_CORE_KIND_ANY ? addr : NULL;
    return ACL_SUCCESS;
}

aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount)
{
    ACL_PINNED const struct acl_func *found = acl_handle_find(func, ACL_KIND_FUNC);
    if (!found || !paramCount) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtFunctionGetParamCount", "%s",
                        found ? "paramCount is NULL" : "the handle is no live function");
    }
    *paramCount = leo_rt_kernel_arg_count(found->rt);
    return ACL_SUCCESS;
}
