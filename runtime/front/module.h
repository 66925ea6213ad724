/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel files, their functions, arguments and launches. */
#pragma once

#include "process.h"

enum { FRONT_ARGS_MAX = 64 /**< slots of a launch: more arguments no kernel has */ };

struct front_module {
    struct front_handle handle;
    struct leo_rt_module *rt;
    struct front_context *context;
    struct front_family funcs;
};

struct front_func {
    struct front_handle handle;
    struct leo_rt_kernel *rt;
    struct front_module *module;
    struct front_family args;
};

/* module.c */
leo_status front_module_load(const void *data, size_t bytes, void **handle);
leo_status front_module_load_file(const char *path, void **handle);
leo_status front_module_unload(const void *handle);
/** The same handle for the same name. */
leo_status front_module_find(const void *handle, const char *name, void **func);
/** Pinned; NULL: no live function. */
struct front_func *front_func_find(const void *handle);
const char *front_func_name(const struct front_func *func);
/** Device address of its first instruction, and the kind of core it is for. */
void *front_func_addr(const struct front_func *func, enum leo_core_kind *kind);
unsigned front_func_arg_count(const struct front_func *func);
/** A kernel file's bytes, copied, to be loaded later. */
leo_status front_binary_create(const void *data, size_t bytes, void **handle);
leo_status front_binary_destroy(const void *handle);
leo_status front_binary_load(const void *handle, void **module);
/** Address and size of a variable of a kernel file. */
leo_status front_module_symbol(const void *handle, const char *name, uint64_t *addr,
                               uint64_t *bytes);
/** Ends one that is the caller's. */
void front_module_end(struct front_module *module);

/* args.c: values appended one by one in the order of the kernel's declaration */
/** They end with their function, or, without one (`func` NULL), when they are destroyed. */
leo_status front_args_create(const void *func, void **handle);
leo_status front_args_destroy(const void *handle);
/** Another with the same values; it has no function. */
leo_status front_args_copy(const void *handle, void **copy);
/** `param` names the value in later calls. */
leo_status front_args_append(const void *handle, const void *value, size_t bytes, void **param);
/** A pointer argument whose memory travels with the launch. */
leo_status front_args_append_placeholder(const void *handle, void **param);
/** Memory for a placeholder, to be filled by the caller. */
leo_status front_args_placeholder_buffer(const void *handle, const void *param, size_t bytes,
                                         void **buffer);
leo_status front_args_update(const void *handle, const void *param, const void *value,
                             size_t bytes);
/** Checks that all are there; after the last change, before a launch. */
leo_status front_args_finalize(const void *handle);
void front_args_end(struct front_func *func);
/** Launches a pinned function on a pinned stream. */
leo_status front_args_submit(const void *handle, struct front_func *kernel, uint32_t blocks,
                             struct front_stream *stream, const struct leo_rt_launch_opts *opts);

/* launch.c */
/** What a launch names besides its arguments. */
struct front_launch {
    const void *func, *stream; /**< handles */
    uint32_t blocks;
    struct leo_rt_launch_opts opts;
};
/** A launch with an argument handle; NULL: none. */
leo_status front_launch_args(const struct front_launch *launch, const void *args);
/** args[i] points at the value of the i-th argument. */
leo_status front_launch_array(const struct front_launch *launch, const void *const *args);
/** A ready argument block in device memory. */
leo_status front_launch_block(const struct front_launch *launch, const void *block, size_t bytes);
/** Part of a block of the host that a pointer argument is to point at. */
struct front_place {
    uint32_t addr_offset, data_offset;
};
/** A block of 8 bytes an argument in host memory, with data behind. */
leo_status front_launch_host_block(const struct front_launch *launch, const void *block,
                                   size_t bytes, const struct front_place *places,
                                   size_t place_count);
