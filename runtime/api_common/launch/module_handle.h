/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel files, their functions, arguments and launches. */
#pragma once

#include "../process/process.h"

enum { API_ARGS_MAX = 64 /**< slots of a launch: more arguments no kernel has */ };

struct api_module {
    struct api_handle handle;
    struct leo_rt_module *rt;
    struct api_context *context;
    struct api_family funcs;
};

struct api_func {
    struct api_handle handle;
    struct leo_rt_kernel *rt;
    struct api_module *module;
    struct api_family args;
};

/* module.c */
leo_status api_module_load(const void *data, size_t bytes, void **handle);
leo_status api_module_load_file(const char *path, void **handle);
leo_status api_module_unload(const void *handle);
/** The same handle for the same name. */
leo_status api_module_find(const void *handle, const char *name, void **func);
/** Pinned; NULL: no live function. */
struct api_func *api_func_find(const void *handle);
const char *api_func_name(const struct api_func *func);
/** Device address of its first instruction, and the kind of core it is for. */
void *api_func_addr(const struct api_func *func, enum leo_core_kind *kind);
unsigned api_func_arg_count(const struct api_func *func);
/** A kernel file's bytes, copied, to be loaded later. */
leo_status api_binary_create(const void *data, size_t bytes, void **handle);
leo_status api_binary_destroy(const void *handle);
leo_status api_binary_load(const void *handle, void **module);
/** Address and size of a variable of a kernel file. */
leo_status api_module_symbol(const void *handle, const char *name, uint64_t *addr, uint64_t *bytes);

/* args.c: values appended one by one in the order of the kernel's declaration */
/** They end with their function, or, without one (`func` NULL), when they are destroyed. */
leo_status api_args_create(const void *func, void **handle);
leo_status api_args_destroy(const void *handle);
/** Another with the same values; it has no function. */
leo_status api_args_copy(const void *handle, void **copy);
/** `param` names the value in later calls. */
leo_status api_args_append(const void *handle, const void *value, size_t bytes, void **param);
/** A pointer argument whose memory travels with the launch. */
leo_status api_args_append_placeholder(const void *handle, void **param);
/** Memory for a placeholder, to be filled by the caller. */
leo_status api_args_placeholder_buffer(const void *handle, const void *param, size_t bytes,
                                       void **buffer);
leo_status api_args_update(const void *handle, const void *param, const void *value, size_t bytes);
/** Checks that all are there; after the last change, before a launch. */
leo_status api_args_finalize(const void *handle);
/** Launches a pinned function on a pinned stream. */
leo_status api_args_submit(const void *handle, struct api_func *kernel, uint32_t blocks,
                           struct api_stream *stream, const struct leo_rt_launch_opts *opts);

/* launch.c */
/** What a launch names besides its arguments. */
struct api_launch {
    const void *func, *stream; /**< handles */
    uint32_t blocks;
    struct leo_rt_launch_opts opts;
};
/** A launch with an argument handle; NULL: none. */
leo_status api_launch_args(const struct api_launch *launch, const void *args);
/** args[i] points at the value of the i-th argument. */
leo_status api_launch_array(const struct api_launch *launch, const void *const *args);
/** A ready argument block in device memory. */
leo_status api_launch_block(const struct api_launch *launch, const void *block, size_t bytes);
/** Part of a block of the host that a pointer argument is to point at. */
struct api_place {
    uint32_t addr_offset, data_offset;
};
/** A block of 8 bytes an argument in host memory, with data behind. */
leo_status api_launch_host_block(const struct api_launch *launch, const void *block, size_t bytes,
                                 const struct api_place *places, size_t place_count);
