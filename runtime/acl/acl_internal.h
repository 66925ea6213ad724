/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the AscendCL facade: process state, handles, errors. The facade only
 * translates. */
#pragma once

#include "../front/handle.h"
#include "../front/ranges.h"
#include "../front/report.h"

#include <acl/acl.h>
#include <acl/acl_op_compiler.h>
#include <leo/runtime.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

#define ACL_MAX_DEVICES  8
#define ACL_ARCH_COUPLED 1001 /* generation whose cores compute matrices and vectors alike */

/** What a handle given to the user is. */
enum acl_kind {
    ACL_KIND_CONTEXT,
    ACL_KIND_STREAM,
    ACL_KIND_EVENT,
    ACL_KIND_BINARY,
    ACL_KIND_MODULE,
    ACL_KIND_FUNC,
    ACL_KIND_ARGS,
    ACL_KIND_HOST_MEMORY,
    ACL_KIND_GRAPH,
    ACL_KIND_GROUP,
    ACL_KIND_PHYSICAL,
};

enum {
    ACL_COMPILE_OPTIONS = ACL_OP_DEBUG_OPTION + 1,
    ACL_SYS_PARAMS = ACL_OPT_ENABLE_KERNEL_EARLY_START + 1,
    ACL_OPTION_BYTES = 256,
    ACL_CORE_KINDS = 2, /**< values of aclrtDevResLimitType */
};

/** Options of the process; the texts are protected by the process's lock. */
struct acl_options {
    char compile[ACL_COMPILE_OPTIONS][ACL_OPTION_BYTES];
    bool compile_set[ACL_COMPILE_OPTIONS];
    _Atomic int64_t sys_param[ACL_SYS_PARAMS];
};

struct acl_stream {
    struct front_handle handle;
    struct acl_context *context;
    struct leo_rt_stream *rt;
    int32_t id;
    uint32_t priority, flags;
    bool failure_mode_set;
    _Atomic uint32_t overflow_switch;
    _Atomic uint32_t core_limit[ACL_CORE_KINDS]; /**< 0 = that of the device */
    bool group_is_open; /**< of captured tasks, by the thread that captures */
    size_t group_first;
    _Atomic uint32_t attribute[ACL_STREAM_ATTR_PRIORITY + 1]; /**< for tools; by aclrtStreamAttr */
    struct front_report *_Atomic report; /**< of the thread that runs its callbacks, if any */
};

struct acl_context {
    struct front_handle handle;
    int32_t device; /**< as the user counts */
    struct acl_device *slot;
    struct leo_rt_device *rt;
    struct acl_stream *default_stream;
    struct front_family streams, modules;
    bool primary;
    atomic_bool stop_on_failure, failed;
    _Atomic int64_t sys_param[ACL_SYS_PARAMS];
    _Atomic uint32_t sys_param_set; /**< bit i: option i was set */
};

struct acl_event {
    struct front_handle handle;
    struct leo_rt_event *rt;
    struct leo_rt_device *device;
    uint32_t id, flags;
    bool extended; /**< made by CreateEventExWithFlag */
};

struct acl_module {
    struct front_handle handle;
    struct leo_rt_module *rt;
    struct acl_context *context;
    struct front_family funcs;
};

struct acl_func {
    struct front_handle handle;
    struct leo_rt_kernel *rt;
    struct acl_module *module;
    struct front_family args;
};

/** One slot for a device: counted by SetDevice. */
struct acl_device {
    struct leo_rt_device *rt;
    struct acl_context *primary;
    uint32_t references;
    struct front_family contexts, events, host_memory, graphs, physical;
    struct leo_rt_host_worker
        *worker; /**< under worker_lock; runs work of the host in streams; made when needed */
};

/** The log's file of this process. */
struct acl_log_file {
    pthread_mutex_t lock;
    int fd; /**< 0 = not open */
    char path[1024];
};

/**
 * The state of the process behind a C API without a handle of its own: the API's shape leaves no
 * other place than a global (decision 8). `lock` protects every field but
 * those of the devices, which belong to `device_lock` (taken first) while they are set and reset.
 * The runtime ends under both, so that either keeps it.
 */
struct acl_process {
    pthread_mutex_t lock, device_lock;
    struct leo_rt *rt;
    uint64_t references; /**< aclInit minus aclFinalizeReference */
    bool finalized;
    int default_device; /**< from the JSON file, -1 = none */
    int visible[ACL_MAX_DEVICES], visible_count;
    struct acl_device device[ACL_MAX_DEVICES];
    /** By number of the runtime; bit i: it may reach the memory of device i. */
    _Atomic uint32_t peers[ACL_MAX_DEVICES];
    _Atomic uint32_t core_limit[ACL_MAX_DEVICES][ACL_CORE_KINDS]; /**< 0 = all it has */
    struct front_table handles;
    pthread_mutex_t map_lock;    /**< held over changes of what is mapped where */
    struct front_ranges mapped;  /**< struct acl_physical at their addresses */
    pthread_mutex_t worker_lock; /**< protects the devices' `worker` */
    struct front_reports reports;
    struct front_ranges host_memory; /**< of aclrtMallocHost and aclrtHostRegister */
    struct acl_options options;
    _Atomic uintptr_t run_op; /**< leo_acl_op_fn, 0 = none */
    atomic_bool dump_is_on;
    atomic_int captures; /**< global ones that have begun and not ended */
    _Atomic uint32_t next_graph_id;
    struct acl_log_file log_file;
    int32_t next_stream_id;
    uint32_t next_event_id;
};

struct acl_process *acl_process(void);
/** The runtime, made on first use. */
aclError acl_runtime(const char *func, struct leo_rt **rt);
/** Frees the runtime if the process is finalized and no device is open; after a reset. */
void acl_runtime_end(void);

/* Handles (front/handle.h) of the process's table. A thread with a pin must not take the device
 * lock. */
void acl_handle_add(struct front_handle *handle, enum acl_kind kind, struct front_family *family);
void *acl_handle_find(const void *ptr, enum acl_kind kind);
void acl_handle_unpin(struct front_handle *handle);
/** Unpins what a variable points at, if anything, at the end of its scope. */
void acl_handle_unpin_variable(void *variable);
#define ACL_PINNED __attribute__((cleanup(acl_handle_unpin_variable)))
bool acl_handle_claim(struct front_handle *handle);
void *acl_handle_take(struct front_family *family);
void acl_handle_remove(struct front_handle *handle);

/* Errors: each sets the thread's last error and text, logs, and returns `code`. */
aclError acl_fail(aclError code, const char *func, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** Translates a status of the runtime core (0 stays 0); the text is the core's. */
aclError acl_status(const char *func, leo_status status);
/** The same after a synchronize: a fault becomes the code of its unit and kind. */
aclError acl_sync_status(const char *func, struct acl_stream *stream, leo_status status);
aclError acl_timeout_check(const char *func, int32_t timeout);

void acl_log(int level, const char *func, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void acl_log_line(int level, const char *func, const char *file, uint32_t line, const char *fmt,
                  va_list args);

/* Devices and memory (device.c, memory.c). */
/** The open device whose memory `ptr` is; NULL: host memory. */
struct leo_rt_device *acl_memory_owner(const struct acl_context *context, const void *ptr);
/** The number the user knows it by; -1: it is not open. */
int32_t acl_device_id(const struct leo_rt_device *device);
/** Whether one of them may reach the other's memory. */
bool acl_peer_is_enabled(const struct leo_rt_device *one, const struct leo_rt_device *other);
/** Pinned host memory allocated by us that holds `ptr`. */
bool acl_host_memory_holds(const void *ptr);

/* Context and stream in force; what they give is pinned. */
aclError acl_current_context(const char *func, struct acl_context **context);
/** The calling thread has none. */
void acl_forget_context(void);
void acl_set_current_context(struct acl_context *context);
/** The stream behind a user's handle (NULL = default stream of the current context). */
aclError acl_stream_get(const char *func, aclrtStream handle, struct acl_stream **stream);
aclError acl_stream_make(const char *func, struct acl_context *context, uint32_t priority,
                         uint32_t flags, struct acl_stream **stream);
/* Each free ends a handle that is the caller's. */
void acl_stream_free(struct acl_stream *stream);
/** No thread runs its callbacks from here on; those that stand in it are given up. */
void acl_stream_drop_report(struct acl_stream *stream);
aclError acl_context_make(const char *func, int32_t device, bool primary,
                          struct acl_context **context);
/** Ends everything that lives in the context, then the context. */
void acl_context_free(struct acl_context *context);
void acl_event_free(struct acl_event *event);
void acl_module_free(struct acl_module *module);
/** Frees the argument handles made for a function, and the pinned memory of a device, when those
 * end. */
struct acl_graph;
void acl_graph_free(struct acl_graph *graph);
/** An error for calls that are not possible while somebody captures. */
aclError acl_capture_check(const char *func);
/** The same for a wait for a stream: if it is being captured the capture is invalid now. */
aclError acl_capture_check_wait(const char *func, struct acl_stream *stream);
/** Frees the memory of a device that was allocated apart from addresses. */
void acl_physical_end(struct acl_device *slot);
/** Ends the thread that runs a device's callbacks. */
void acl_callbacks_end(struct acl_device *slot);
void acl_args_end(struct acl_func *func);
void acl_host_memory_end(struct acl_device *slot);
/** Launch checks shared by all forms; gives function and stream, pinned. */
aclError acl_launch_check(const char *func, aclrtFuncHandle handle, uint32_t blocks,
                          aclrtStream stream, struct acl_func **out_func,
                          struct acl_stream **out_stream);
/** An argument handle's launch (args.c). */
aclError acl_args_launch(const char *func, aclrtArgsHandle handle, struct acl_func *kernel,
                         uint32_t blocks, struct acl_stream *stream,
                         const struct leo_rt_launch_opts *opts);
/** What a launch's configuration asks for. */
aclError acl_launch_options(const char *name, const aclrtLaunchKernelCfg *cfg,
                            struct leo_rt_launch_opts *opts);

/* ../prof: LEO_PROFILE, a profile of the whole process. Both without the process's locks. */
void acl_prof_device_opened(int32_t device);
void acl_prof_finalize(void);
