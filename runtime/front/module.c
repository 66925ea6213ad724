/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel files and their functions. */
#include "module.h"

#include "code.h"
#include "context.h"

#include <leo/alloc.h>
#include <string.h>

static leo_status load(const void *data, size_t bytes, const char *path, void **handle)
{
    FRONT_PINNED struct front_context *context = NULL;
    leo_status status = front_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct front_module *module = front_make(sizeof(*module));
    if (!module) {
        return LEO_ERR_NO_MEMORY;
    }
    status = path ? leo_rt_module_load_file(context->rt, path, &module->rt)
                  : leo_rt_module_load(context->rt, data, bytes, "memory", &module->rt);
    if (status != LEO_OK) {
        front_handle_drop(&front_process()->handles, &module->handle);
        return status;
    }
    module->context = context;
    front_publish(module, FRONT_KIND_MODULE, &context->modules);
    *handle = module;
    return LEO_OK;
}

leo_status front_module_load(const void *data, size_t bytes, void **handle)
{
    return load(data, bytes, NULL, handle);
}

leo_status front_module_load_file(const char *path, void **handle)
{
    return load(NULL, 0, path, handle);
}

void front_module_end(struct front_module *module)
{
    struct front_func *func;
    while ((func = front_take(&module->funcs)) != NULL) {
        front_args_end(func);
        front_free(func);
    }
    leo_rt_module_unload(module->rt);
    front_free(module);
}

leo_status front_module_unload(const void *handle)
{
    struct front_module *module = front_find(handle, FRONT_KIND_MODULE);
    if (!module || !front_claim(module)) {
        return leo_rt_fail(handle ? FRONT_BAD_HANDLE : FRONT_BAD_ARGUMENT,
                           "%p is no loaded kernel file", handle);
    }
    front_module_end(module);
    return LEO_OK;
}

static bool func_is(const void *handle, const void *user)
{
    const struct front_func *func = handle;
    return func->rt == user;
}

leo_status front_module_find(const void *handle, const char *name, void **out)
{
    struct leo_rt_kernel *kernel;
    FRONT_PINNED struct front_module *module = front_find(handle, FRONT_KIND_MODULE);
    if (!module) {
        return leo_rt_fail(FRONT_BAD_HANDLE, "%p is no loaded kernel file", handle);
    }
    leo_status status = leo_rt_module_find(module->rt, name, &kernel);
    if (status != LEO_OK) {
        return status;
    }
    struct front_func *found =
        front_family_find(&front_process()->handles, &module->funcs, func_is, kernel);
    if (found) {
        front_unpin(found);
    } else {
        found = front_make(sizeof(*found));
        if (!found) {
            return LEO_ERR_NO_MEMORY;
        }
        found->rt = kernel;
        found->module = module;
        front_publish(found, FRONT_KIND_FUNC, &module->funcs);
    }
    *out = found;
    return LEO_OK;
}

struct front_func *front_func_find(const void *handle)
{
    return front_find(handle, FRONT_KIND_FUNC);
}

leo_status front_module_symbol(const void *handle, const char *name, uint64_t *addr,
                               uint64_t *bytes)
{
    FRONT_PINNED struct front_module *module = front_find(handle, FRONT_KIND_MODULE);
    if (!module) {
        return leo_rt_fail(FRONT_BAD_HANDLE, "%p is no loaded kernel file", handle);
    }
    return leo_rt_module_symbol(module->rt, name, addr, bytes)
               ? LEO_OK
               : leo_rt_fail(LEO_ERR_NOT_FOUND, "%s has no symbol %s",
                             leo_rt_module_name(module->rt), name);
}

const char *front_func_name(const struct front_func *func)
{
    return leo_rt_kernel_name(func->rt);
}

void *front_func_addr(const struct front_func *func, enum leo_core_kind *kind)
{
    *kind = leo_rt_kernel_kind(func->rt);
    return (void *)(uintptr_t)leo_rt_kernel_addr(func->rt);
}

unsigned front_func_arg_count(const struct front_func *func)
{
    return leo_rt_kernel_arg_count(func->rt);
}

/** Bytes of a kernel file kept until they are loaded. */
struct front_binary {
    struct front_handle handle;
    size_t bytes;
    void *data;
};

leo_status front_binary_create(const void *data, size_t bytes, void **handle)
{
    struct front_binary *binary = front_make(sizeof(*binary));
    if (!binary) {
        return LEO_ERR_NO_MEMORY;
    }
    binary->bytes = bytes;
    binary->data = leo_alloc(bytes);
    if (!binary->data) {
        front_handle_drop(&front_process()->handles, &binary->handle);
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    memcpy(binary->data, data, bytes);
    front_publish(binary, FRONT_KIND_BINARY, NULL);
    *handle = binary;
    return LEO_OK;
}

leo_status front_binary_destroy(const void *handle)
{
    struct front_binary *binary = front_find(handle, FRONT_KIND_BINARY);
    if (!binary || !front_claim(binary)) {
        return leo_rt_fail(FRONT_BAD_ARGUMENT, "%p is no live binary", handle);
    }
    leo_free(binary->data);
    front_free(binary);
    return LEO_OK;
}

leo_status front_binary_load(const void *handle, void **module)
{
    FRONT_PINNED const struct front_binary *binary = front_find(handle, FRONT_KIND_BINARY);
    return binary ? front_module_load(binary->data, binary->bytes, module)
                  : leo_rt_fail(FRONT_BAD_ARGUMENT, "%p is no live binary", handle);
}
