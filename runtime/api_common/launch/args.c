/* SPDX-License-Identifier: Apache-2.0 */
/* Argument handles: values appended one by one in the order of the kernel's declaration. */
#include "../context/context.h"
#include "../process/code.h"
#include "module_handle.h"

#include <leo/alloc.h>
#include <string.h>

/** One appended argument; its handle for the user is its address. */
struct api_param {
    void *value; /**< owned copy of the value, or of a placeholder's data */
    size_t bytes;
    bool placeholder;
};

struct api_args {
    struct api_handle handle;
    struct api_func *func; /**< NULL: any that the values fit */
    unsigned count, capacity;
    bool finalized;
    struct api_param *param; /**< as many as the function takes */
};

// Ends one that is the caller's.
static void end_args(void *object)
{
    struct api_args *args = object;
    for (unsigned i = 0; i < args->count; i++) {
        leo_free(args->param[i].value);
    }
    leo_free(args->param);
    api_free(args);
}

static leo_status make_args(struct api_func *func, struct api_args **out)
{
    struct api_args *args = api_make(sizeof(*args));
    if (!args) {
        return LEO_ERR_NO_MEMORY;
    }
    args->func = func;
    args->capacity = func ? leo_rt_kernel_arg_count(func->rt) : API_ARGS_MAX;
    args->param = leo_calloc(args->capacity + 1, sizeof(args->param[0]));
    if (!args->param) {
        api_handle_drop(&api_process()->handles, &args->handle);
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    *out = args;
    return LEO_OK;
}

leo_status api_args_create(const void *handle, void **out)
{
    API_PINNED struct api_func *func = handle ? api_func_find(handle) : NULL;
    struct api_args *args;
    if (handle && !func) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%p is no live function", handle);
    }
    leo_status status = make_args(func, &args);
    if (status == LEO_OK) {
        api_publish(args, API_KIND_ARGS, func ? &func->args : NULL, end_args);
        *out = args;
    }
    return status;
}

leo_status api_args_destroy(const void *handle)
{
    struct api_args *args = api_find(handle, API_KIND_ARGS);
    if (!args || !api_claim(args)) {
        return leo_rt_fail(API_BAD_HANDLE, "%p are no live arguments", handle);
    }
    end_args(args);
    return LEO_OK;
}

// Gives it pinned.
static leo_status get_args(const void *handle, struct api_args **args)
{
    *args = api_find(handle, API_KIND_ARGS);
    if (!*args) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%p is no live argument handle", handle);
    }
    return LEO_OK;
}

// The declared argument at `index`, or an error that says how many there are.
static leo_status declared(const struct api_args *args, unsigned index,
                           struct leo_rt_arg_info *info)
{
    unsigned count = args->capacity;
    if (index >= count) {
        return leo_rt_fail(
            LEO_ERR_INVALID_ARG, "kernel '%s' takes %u arguments: this would be number %u",
            args->func ? leo_rt_kernel_name(args->func->rt) : "(any)", count, index + 1);
    }
    if (args->func) {
        *info = leo_rt_kernel_arg(args->func->rt, index);
    }
    return LEO_OK;
}

static leo_status check_size(const struct api_args *args, unsigned index, size_t bytes)
{
    struct leo_rt_arg_info info = {.name = "", .bytes = (uint32_t)bytes};
    leo_status status = declared(args, index, &info);
    if (status == LEO_OK && info.bytes != bytes) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "argument %u%s%s of kernel '%s' has %u bytes, %zu were given",
                             index + 1, *info.name ? " " : "", info.name,
                             leo_rt_kernel_name(args->func->rt), info.bytes, bytes);
    }
    return status;
}

static leo_status append(struct api_args *args, const void *value, size_t bytes, bool placeholder,
                         void **handle)
{
    struct api_param *param = &args->param[args->count];
    void *copy = NULL;
    if (value) {
        copy = leo_alloc(bytes);
        if (!copy) {
            return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
        }
        memcpy(copy, value, bytes);
    }
    *param = (struct api_param){.value = copy, .bytes = bytes, .placeholder = placeholder};
    args->count++;
    args->finalized = false;
    *handle = param;
    return LEO_OK;
}

leo_status api_args_append(const void *handle, const void *value, size_t bytes, void **param)
{
    API_PINNED struct api_args *args = NULL;
    leo_status status = get_args(handle, &args);
    if (status == LEO_OK && (!value || bytes == 0)) {
        status = leo_rt_fail(API_BAD_ARGUMENT, "the value is NULL or has 0 bytes");
    }
    if (status == LEO_OK) {
        status = check_size(args, args->count, bytes);
    }
    return status != LEO_OK ? status : append(args, value, bytes, false, param);
}

leo_status api_args_copy(const void *handle, void **copy)
{
    API_PINNED struct api_args *args = NULL;
    leo_status status = get_args(handle, &args);
    if (status == LEO_OK) {
        status = api_args_create(NULL, copy);
    }
    for (unsigned i = 0; status == LEO_OK && i < args->count; i++) {
        void *param;
        status = api_args_append(*copy, args->param[i].value, args->param[i].bytes, &param);
    }
    return status;
}

leo_status api_args_append_placeholder(const void *handle, void **param)
{
    API_PINNED struct api_args *args = NULL;
    struct leo_rt_arg_info info = {.kind = 'p'};
    leo_status status = get_args(handle, &args);
    if (status == LEO_OK) {
        status = declared(args, args->count, &info);
    }
    if (status == LEO_OK && info.kind != 'p') {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "argument %u of kernel '%s' is not a pointer",
                             args->count + 1, leo_rt_kernel_name(args->func->rt));
    }
    return status != LEO_OK ? status : append(args, NULL, 0, true, param);
}

static struct api_param *find_param(struct api_args *args, const void *handle)
{
    for (unsigned i = 0; i < args->count; i++) {
        if (handle == &args->param[i]) {
            return &args->param[i];
        }
    }
    return NULL;
}

leo_status api_args_placeholder_buffer(const void *handle, const void *which, size_t bytes,
                                       void **out)
{
    API_PINNED struct api_args *args = NULL;
    leo_status status = get_args(handle, &args);
    if (status != LEO_OK) {
        return status;
    }
    struct api_param *param = find_param(args, which);
    if (!param || !param->placeholder || bytes == 0) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%s",
                           bytes == 0 ? "a placeholder of 0 bytes"
                                      : "no placeholder of these arguments");
    }
    void *buffer = leo_calloc(1, bytes);
    if (!buffer) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    leo_free(param->value);
    param->value = buffer;
    param->bytes = bytes;
    *out = buffer;
    return LEO_OK;
}

leo_status api_args_update(const void *handle, const void *which, const void *value, size_t bytes)
{
    API_PINNED struct api_args *args = NULL;
    leo_status status = get_args(handle, &args);
    if (status != LEO_OK) {
        return status;
    }
    struct api_param *param = find_param(args, which);
    if (!param || param->placeholder || !value) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%s",
                           value ? "no appended value of these arguments" : "the value is NULL");
    }
    status = check_size(args, (unsigned)(param - args->param), bytes);
    if (status == LEO_OK && bytes != param->bytes) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "the value has %zu bytes, %zu were given",
                             param->bytes, bytes);
    }
    if (status == LEO_OK) {
        memcpy(param->value, value, bytes);
        args->finalized = false;
    }
    return status;
}

leo_status api_args_finalize(const void *handle)
{
    API_PINNED struct api_args *args = NULL;
    leo_status status = get_args(handle, &args);
    if (status != LEO_OK) {
        return status;
    }
    unsigned count = args->func ? leo_rt_kernel_arg_count(args->func->rt) : args->count;
    if (args->count != count) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "kernel '%s' takes %u arguments, %u were appended",
                           leo_rt_kernel_name(args->func->rt), count, args->count);
    }
    args->finalized = true;
    return LEO_OK;
}

// A value whose bytes the kernel did not say when it was appended.
static leo_status check_sizes(const struct api_args *args, const struct api_func *func)
{
    unsigned count = leo_rt_kernel_arg_count(func->rt);
    if (args->count != count) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "kernel '%s' takes %u arguments, %u were given",
                           leo_rt_kernel_name(func->rt), count, args->count);
    }
    for (unsigned i = 0; i < count; i++) {
        struct leo_rt_arg_info info = leo_rt_kernel_arg(func->rt, i);
        if (info.bytes != args->param[i].bytes) {
            return leo_rt_fail(LEO_ERR_INVALID_ARG,
                               "argument %u%s%s of kernel '%s' has %u bytes, %zu were given", i + 1,
                               *info.name ? " " : "", info.name, leo_rt_kernel_name(func->rt),
                               info.bytes, args->param[i].bytes);
        }
    }
    return LEO_OK;
}

leo_status api_args_submit(const void *handle, struct api_func *kernel, uint32_t blocks,
                           struct api_stream *stream, const struct leo_rt_launch_opts *opts)
{
    API_PINNED struct api_args *args = NULL;
    const void *values[API_ARGS_MAX];
    struct leo_rt_arg_data data[API_ARGS_MAX];
    unsigned data_count = 0;
    static const uint64_t null_pointer = 0;
    if (handle) {
        leo_status status = get_args(handle, &args);
        if (status != LEO_OK) {
            return status;
        }
    }
    unsigned count = args ? args->count : 0;
    if (args && !args->func) {
        leo_status status = check_sizes(args, kernel);
        if (status != LEO_OK) {
            return status;
        }
    } else if (args && (args->func != kernel || !args->finalized)) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%s",
                           args->func == kernel
                               ? "the arguments must be finalized after their last change"
                               : "the arguments were made for another function");
    }
    for (unsigned i = 0; i < count; i++) {
        const struct api_param *param = &args->param[i];
        values[i] = param->value;
        if (param->placeholder) {
            values[i] = &null_pointer;
            if (param->value) {
                data[data_count++] = (struct leo_rt_arg_data){i, param->value, param->bytes};
            }
        }
    }
    return leo_rt_launch_with_options(kernel->rt, blocks, stream->rt, values, count, data,
                                      data_count, opts);
}
