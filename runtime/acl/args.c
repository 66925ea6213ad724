/* SPDX-License-Identifier: Apache-2.0 */
/* Argument handles: values appended one by one in the order of the kernel's declaration. */
#include "acl_internal.h"

#include <leo/alloc.h>
#include <string.h>

#define ACL_MAX_PARAMS 128

/** One appended argument; its handle for the user is its address. */
struct acl_param {
    void *value; /**< owned copy of the value, or of a placeholder's data */
    size_t bytes;
    bool placeholder;
};

struct acl_args {
    struct front_handle handle;
    struct acl_func *func;
    unsigned count;
    bool finalized;
    struct acl_param param[]; /**< as many as the function takes */
};

static void free_params(struct acl_args *args)
{
    for (unsigned i = 0; i < args->count; i++) {
        leo_free(args->param[i].value);
    }
}

// Argument handles have no destroy call: they end with their function.
void acl_args_end(struct acl_func *func)
{
    struct acl_args *args;
    while ((args = acl_handle_take(&func->args)) != NULL) {
        acl_handle_remove(&args->handle);
        free_params(args);
        leo_free(args);
    }
}

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle)
{
    const char *name = "aclrtKernelArgsInit";
    ACL_PINNED struct acl_func *func = acl_handle_find(funcHandle, ACL_KIND_FUNC);
    if (!func || !argsHandle) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "%s",
                        func ? "argsHandle is NULL" : "funcHandle is no live function");
    }
    struct acl_args *args =
        leo_calloc(1, sizeof(*args) + leo_rt_kernel_arg_count(func->rt) * sizeof(args->param[0]));
    if (!args) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, name, "out of host memory");
    }
    args->func = func;
    acl_handle_add(&args->handle, ACL_KIND_ARGS, &func->args);
    *argsHandle = args;
    return ACL_SUCCESS;
}

// Gives it pinned.
static aclError get_args(const char *name, aclrtArgsHandle handle, struct acl_args **args)
{
    *args = acl_handle_find(handle, ACL_KIND_ARGS);
    if (!*args) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "%p is no live argument handle", handle);
    }
    return ACL_SUCCESS;
}

// The declared argument at `index`, or an error that says how many there are.
static aclError declared(const char *name, const struct acl_args *args, unsigned index,
                         struct leo_rt_arg_info *info)
{
    unsigned count = leo_rt_kernel_arg_count(args->func->rt);
    if (index >= count) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, name,
                        "kernel '%s' takes %u arguments: this would be number %u",
                        leo_rt_kernel_name(args->func->rt), count, index + 1);
    }
    *info = leo_rt_kernel_arg(args->func->rt, index);
    return ACL_SUCCESS;
}

static aclError check_size(const char *name, const struct acl_args *args, unsigned index,
                           size_t bytes)
{
    struct leo_rt_arg_info info;
    aclError error = declared(name, args, index, &info);
    if (!error && info.bytes != bytes) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, name,
                         "argument %u%s%s of kernel '%s' has %u bytes, %zu were given", index + 1,
                         *info.name ? " " : "", info.name, leo_rt_kernel_name(args->func->rt),
                         info.bytes, bytes);
    }
    return error;
}

static aclError append(const char *name, struct acl_args *args, const void *value, size_t bytes,
                       bool placeholder, aclrtParamHandle *handle)
{
    struct acl_param *param = &args->param[args->count];
    void *copy = NULL;
    if (value) {
        copy = leo_alloc(bytes);
        if (!copy) {
            return acl_fail(ACL_ERROR_BAD_ALLOC, name, "out of host memory");
        }
        memcpy(copy, value, bytes);
    }
    *param = (struct acl_param){.value = copy, .bytes = bytes, .placeholder = placeholder};
    args->count++;
    args->finalized = false;
    *handle = param;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param, size_t paramSize,
                               aclrtParamHandle *paramHandle)
{
    const char *name = "aclrtKernelArgsAppend";
    ACL_PINNED struct acl_args *args = NULL;
    aclrtParamHandle ignored;
    aclError error = get_args(name, argsHandle, &args);
    if (!error && (!param || paramSize == 0)) {
        error = acl_fail(ACL_ERROR_INVALID_PARAM, name, "param is NULL or paramSize is 0");
    }
    if (!error) {
        error = check_size(name, args, args->count, paramSize);
    }
    return error
               ? error
               : append(name, args, param, paramSize, false, paramHandle ? paramHandle : &ignored);
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle)
{
    const char *name = "aclrtKernelArgsAppendPlaceHolder";
    ACL_PINNED struct acl_args *args = NULL;
    struct leo_rt_arg_info info;
    aclError error = get_args(name, argsHandle, &args);
    if (!error && !paramHandle) {
        error = acl_fail(ACL_ERROR_INVALID_PARAM, name, "paramHandle is NULL");
    }
    if (!error) {
        error = declared(name, args, args->count, &info);
    }
    if (!error && info.kind != 'p') {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, name,
                         "argument %u of kernel '%s' is not a pointer", args->count + 1,
                         leo_rt_kernel_name(args->func->rt));
    }
    return error ? error : append(name, args, NULL, 0, true, paramHandle);
}

static struct acl_param *find_param(struct acl_args *args, aclrtParamHandle handle)
{
    for (unsigned i = 0; i < args->count; i++) {
        if (handle == &args->param[i]) {
            return &args->param[i];
        }
    }
    return NULL;
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                             aclrtParamHandle paramHandle, size_t dataSize,
                                             void **bufferAddr)
{
    const char *name = "aclrtKernelArgsGetPlaceHolderBuffer";
    ACL_PINNED struct acl_args *args = NULL;
    aclError error = get_args(name, argsHandle, &args);
    if (error) {
        return error;
    }
    struct acl_param *param = find_param(args, paramHandle);
    if (!param || !param->placeholder || !bufferAddr || dataSize == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "%s",
                        !param || !param->placeholder
                            ? "paramHandle is no placeholder of these arguments"
                            : "bufferAddr is NULL or dataSize is 0");
    }
    void *buffer = leo_calloc(1, dataSize);
    if (!buffer) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, name, "out of host memory");
    }
    leo_free(param->value);
    param->value = buffer;
    param->bytes = dataSize;
    *bufferAddr = buffer;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
                                   void *value, size_t paramSize)
{
    const char *name = "aclrtKernelArgsParaUpdate";
    ACL_PINNED struct acl_args *args = NULL;
    aclError error = get_args(name, argsHandle, &args);
    if (error) {
        return error;
    }
    struct acl_param *param = find_param(args, paramHandle);
    if (!param || param->placeholder || !value) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "%s",
                        value ? "paramHandle is no appended value of these arguments"
                              : "param is NULL");
    }
    error = check_size(name, args, (unsigned)(param - args->param), paramSize);
    if (!error) {
        memcpy(param->value, value, paramSize);
        args->finalized = false;
    }
    return error;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle)
{
    const char *name = "aclrtKernelArgsFinalize";
    ACL_PINNED struct acl_args *args = NULL;
    aclError error = get_args(name, argsHandle, &args);
    if (error) {
        return error;
    }
    unsigned count = leo_rt_kernel_arg_count(args->func->rt);
    if (args->count != count) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, name,
                        "kernel '%s' takes %u arguments, %u were appended",
                        leo_rt_kernel_name(args->func->rt), count, args->count);
    }
    args->finalized = true;
    return ACL_SUCCESS;
}

aclError acl_args_launch(const char *func, aclrtArgsHandle handle, struct acl_func *kernel,
                         uint32_t blocks, struct acl_stream *stream,
                         const struct leo_rt_launch_opts *opts)
{
    ACL_PINNED struct acl_args *args = NULL;
    const void *values[ACL_MAX_PARAMS];
    struct leo_rt_arg_data data[ACL_MAX_PARAMS];
    unsigned data_count = 0;
    static const uint64_t null_pointer = 0;
    if (handle) {
        aclError error = get_args(func, handle, &args);
        if (error) {
            return error;
        }
    }
    unsigned count = args ? args->count : 0;
    if (args && (args->func != kernel || !args->finalized)) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "%s",
                        args->func == kernel
                            ? "call aclrtKernelArgsFinalize after the last change of the arguments"
                            : "the arguments were made for another function");
    }
    for (unsigned i = 0; i < count; i++) {
        const struct acl_param *param = &args->param[i];
        values[i] = param->value;
        if (param->placeholder) {
            values[i] = &null_pointer;
            if (param->value) {
                data[data_count++] = (struct leo_rt_arg_data){i, param->value, param->bytes};
            }
        }
    }
    return acl_status(func, leo_rt_launch_with_options(kernel->rt, blocks, stream->rt, values,
                                                       count, data, data_count, opts));
}
