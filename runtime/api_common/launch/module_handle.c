/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel files and their functions. */
#include "module_handle.h"

#include "../context/context.h"
#include "../process/code.h"

#include <leo/alloc.h>
#include <string.h>

static void end_func(void *object)
{
    struct api_func *func = object;
    api_family_end(&func->args);
    api_free(func);
}

static void end_module(void *object)
{
    struct api_module *module = object;
    api_family_end(&module->funcs);
    leo_rt_module_unload(module->rt);
    api_free(module);
}

static leo_status load(const void *data, size_t bytes, const char *path, void **handle)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct api_module *module = api_make(sizeof(*module));
    if (!module) {
        return LEO_ERR_NO_MEMORY;
    }
    status = path ? leo_rt_module_load_file(context->rt, path, &module->rt)
                  : leo_rt_module_load(context->rt, data, bytes, "memory", &module->rt);
    if (status != LEO_OK) {
        api_handle_drop(&api_process()->handles, &module->handle);
        return status;
    }
    module->context = context;
    api_publish(module, API_KIND_MODULE, &context->modules, end_module);
    *handle = module;
    return LEO_OK;
}

leo_status api_module_load(const void *data, size_t bytes, void **handle)
{
    return load(data, bytes, NULL, handle);
}

leo_status api_module_load_file(const char *path, void **handle)
{
    return load(NULL, 0, path, handle);
}

leo_status api_module_unload(const void *handle)
{
    struct api_module *module = api_find(handle, API_KIND_MODULE);
    if (!module || !api_claim(module)) {
        return leo_rt_fail(handle ? API_BAD_HANDLE : API_BAD_ARGUMENT,
                           "%p is no loaded kernel file", handle);
    }
    end_module(module);
    return LEO_OK;
}

static bool func_is(const void *handle, const void *user)
{
    const struct api_func *func = handle;
    return func->rt == user;
}

leo_status api_module_find(const void *handle, const char *name, void **out)
{
    struct leo_rt_kernel *kernel;
    API_PINNED struct api_module *module = api_find(handle, API_KIND_MODULE);
    if (!module) {
        return leo_rt_fail(API_BAD_HANDLE, "%p is no loaded kernel file", handle);
    }
    leo_status status = leo_rt_module_find(module->rt, name, &kernel);
    if (status != LEO_OK) {
        return status;
    }
    struct api_func *found =
        api_family_find(&api_process()->handles, &module->funcs, func_is, kernel);
    if (found) {
        api_unpin(found);
    } else {
        found = api_make(sizeof(*found));
        if (!found) {
            return LEO_ERR_NO_MEMORY;
        }
        found->rt = kernel;
        found->module = module;
        api_publish(found, API_KIND_FUNC, &module->funcs, end_func);
    }
    *out = found;
    return LEO_OK;
}

struct api_func *api_func_find(const void *handle)
{
    return api_find(handle, API_KIND_FUNC);
}

leo_status api_module_symbol(const void *handle, const char *name, uint64_t *addr, uint64_t *bytes)
{
    API_PINNED struct api_module *module = api_find(handle, API_KIND_MODULE);
    if (!module) {
        return leo_rt_fail(API_BAD_HANDLE, "%p is no loaded kernel file", handle);
    }
    return leo_rt_module_symbol(module->rt, name, addr, bytes)
               ? LEO_OK
               : leo_rt_fail(LEO_ERR_NOT_FOUND, "%s has no symbol %s",
                             leo_rt_module_name(module->rt), name);
}

const char *api_func_name(const struct api_func *func)
{
    return leo_rt_kernel_name(func->rt);
}

void *api_func_addr(const struct api_func *func, enum leo_core_kind *kind)
{
    *kind = leo_rt_kernel_kind(func->rt);
    return (void *)(uintptr_t)leo_rt_kernel_addr(func->rt);
}

unsigned api_func_arg_count(const struct api_func *func)
{
    return leo_rt_kernel_arg_count(func->rt);
}

/** Bytes of a kernel file kept until they are loaded. */
struct api_binary {
    struct api_handle handle;
    size_t bytes;
    void *data;
};

leo_status api_binary_create(const void *data, size_t bytes, void **handle)
{
    struct api_binary *binary = api_make(sizeof(*binary));
    if (!binary) {
        return LEO_ERR_NO_MEMORY;
    }
    binary->bytes = bytes;
    binary->data = leo_alloc(bytes);
    if (!binary->data) {
        api_handle_drop(&api_process()->handles, &binary->handle);
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    memcpy(binary->data, data, bytes);
    api_publish(binary, API_KIND_BINARY, NULL, NULL);
    *handle = binary;
    return LEO_OK;
}

leo_status api_binary_destroy(const void *handle)
{
    struct api_binary *binary = api_find(handle, API_KIND_BINARY);
    if (!binary || !api_claim(binary)) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%p is no live binary", handle);
    }
    leo_free(binary->data);
    api_free(binary);
    return LEO_OK;
}

leo_status api_binary_load(const void *handle, void **module)
{
    API_PINNED const struct api_binary *binary = api_find(handle, API_KIND_BINARY);
    return binary ? api_module_load(binary->data, binary->bytes, module)
                  : leo_rt_fail(API_BAD_ARGUMENT, "%p is no live binary", handle);
}
