/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of kernel launch. */
#include "../context/context.h"
#include "../process/code.h"
#include "module_handle.h"

enum { SLOT = 8, DATA_MAX = 16 };

// Checks that all forms share; gives function and stream, pinned.
static leo_status check(const struct api_launch *launch, struct api_func **func,
                        struct api_stream **stream)
{
    leo_status status = api_stream_to_fill(launch->stream, stream);
    if (status != LEO_OK) {
        return status;
    }
    *func = api_func_find(launch->func);
    if (!*func) {
        return leo_rt_fail(launch->func ? API_BAD_HANDLE : API_BAD_ARGUMENT,
                           "%p is no live function", launch->func);
    }
    if (launch->blocks == 0) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "kernel '%s': 0 blocks",
                           leo_rt_kernel_name((*func)->rt));
    }
    return (*func)->module->context->rt == (*stream)->context->rt
               ? LEO_OK
               : leo_rt_fail(API_BAD_STREAM, "the function was loaded on another device");
}

leo_status api_launch_args(const struct api_launch *launch, const void *args)
{
    API_PINNED struct api_func *func = NULL;
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = check(launch, &func, &stream);
    return status != LEO_OK ? status
                            : api_args_submit(args, func, launch->blocks, stream, &launch->opts);
}

leo_status api_launch_array(const struct api_launch *launch, const void *const *args)
{
    API_PINNED struct api_func *func = NULL;
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = check(launch, &func, &stream);
    if (status != LEO_OK) {
        return status;
    }
    unsigned count = leo_rt_kernel_arg_count(func->rt);
    if (count && !args) {
        return leo_rt_fail(API_BAD_ARGUMENT, "kernel '%s' takes %u arguments, args is NULL",
                           leo_rt_kernel_name(func->rt), count);
    }
    return leo_rt_launch_with_options(func->rt, launch->blocks, stream->rt, args, count, NULL, 0,
                                      &launch->opts);
}

leo_status api_launch_block(const struct api_launch *launch, const void *block, size_t bytes)
{
    API_PINNED struct api_func *func = NULL;
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = check(launch, &func, &stream);
    if (status == LEO_OK && bytes > 0 && !block) {
        status = leo_rt_fail(API_BAD_ARGUMENT, "the argument block is NULL");
    }
    return status != LEO_OK
               ? status
               : leo_rt_launch_packed_with_options(func->rt, launch->blocks, stream->rt, block,
                                                   bytes, true, &launch->opts);
}

// Where each argument of a block lies.
static leo_status find_values(const struct api_func *func, const void *block,
                              const void *values[API_ARGS_MAX])
{
    unsigned count = leo_rt_kernel_arg_count(func->rt);
    for (unsigned i = 0; i < count; i++) {
        struct leo_rt_arg_info info = leo_rt_kernel_arg(func->rt, i);
        if (info.bytes > SLOT) {
            return leo_rt_fail(LEO_ERR_INVALID_ARG,
                               "argument %u%s%s of kernel '%s' is a struct of %u bytes, which has "
                               "no slot in a block: pass the arguments as an array of pointers",
                               i + 1, *info.name ? " " : "", info.name,
                               leo_rt_kernel_name(func->rt), info.bytes);
        }
        values[i] = (const char *)block + (size_t)i * SLOT;
    }
    return LEO_OK;
}

static leo_status find_data(const void *block, size_t bytes, unsigned count,
                            const struct api_place *places, size_t place_count,
                            struct leo_rt_arg_data data[DATA_MAX])
{
    for (size_t i = 0; i < place_count; i++) {
        const struct api_place *place = &places[i];
        if (place->addr_offset % SLOT || place->addr_offset / SLOT >= count ||
            place->data_offset >= bytes) {
            return leo_rt_fail(LEO_ERR_INVALID_ARG,
                               "placeholder %zu (%u, %u) lies outside the block", i,
                               place->addr_offset, place->data_offset);
        }
        data[i] = (struct leo_rt_arg_data){place->addr_offset / SLOT,
                                           (const char *)block + place->data_offset,
                                           bytes - place->data_offset};
    }
    return LEO_OK;
}

leo_status api_launch_host_block(const struct api_launch *launch, const void *block, size_t bytes,
                                 const struct api_place *places, size_t place_count)
{
    API_PINNED struct api_func *func = NULL;
    API_PINNED struct api_stream *stream = NULL;
    struct leo_rt_arg_data data[DATA_MAX];
    const void *values[API_ARGS_MAX];
    leo_status status = check(launch, &func, &stream);
    if (status != LEO_OK) {
        return status;
    }
    unsigned count = leo_rt_kernel_arg_count(func->rt);
    if ((count && !block) || (place_count && !places)) {
        return leo_rt_fail(API_BAD_ARGUMENT, "the block or its placeholders are NULL");
    }
    if (count > API_ARGS_MAX || bytes < (size_t)count * SLOT || place_count > DATA_MAX) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "kernel '%s' takes %u arguments of %d bytes each, the block has %zu "
                           "bytes (at most %d arguments and %d placeholders here)",
                           leo_rt_kernel_name(func->rt), count, SLOT, bytes, API_ARGS_MAX,
                           DATA_MAX);
    }
    status = find_values(func, block, values);
    if (status == LEO_OK) {
        status = find_data(block, bytes, count, places, place_count, data);
    }
    return status != LEO_OK
               ? status
               : leo_rt_launch_with_options(func->rt, launch->blocks, stream->rt, values, count,
                                            data, (unsigned)place_count, &launch->opts);
}
