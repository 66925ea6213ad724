/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a vendor's runtime keeps for a process: its devices, contexts, streams, events, kernel files
 * and memory, with one meaning under every face. A face defines `api_face`, translates names,
 * types, defaults and error codes (code.h), and adds nothing of its own.
 */
#pragma once

#include "../dump/dump.h"
#include "../stream/report.h"
#include "handle.h"
#include "lost.h"
#include "ranges.h"

#include <leo/runtime.h>

enum {
    API_DEVICES = 8,
    API_CORE_KINDS = 2,        /**< cores that have a Cube, vector cores */
    API_ARCH_SATURATES = 1001, /**< generation whose kernels saturate if not asked otherwise */
    API_NUMBERS = 8,           /**< a face's own numbers, kept with a context or stream */
    API_FOREVER = -1,          /**< as a timeout */
    API_DEFAULT_NONE = -1,     /**< no device stands in where none was set */
    API_PRIORITY_GREATEST = 0,
    API_PRIORITY_LEAST = LEO_PRIORITY_LEAST,
};

/** What a handle given to the user is. */
enum api_kind {
    API_KIND_CONTEXT = 1,
    API_KIND_STREAM,
    API_KIND_EVENT,
    API_KIND_BINARY,
    API_KIND_MODULE,
    API_KIND_FUNC,
    API_KIND_ARGS,
    API_KIND_HOST_MEMORY,
    API_KIND_GRAPH,
    API_KIND_GROUP,
    API_KIND_PHYSICAL,
    API_KIND_NOTIFY,
    API_KIND_POOL,
    API_KIND_ALLOCATOR,
    API_KIND_FACE, /**< the face's own from here on */
};

struct api_stream;
struct api_ipc;

/** What a face is; each library defines its own. */
struct api_face {
    const char *visible;     /**< environment variable that lists the devices to be seen */
    const char *set_device;  /**< its call that puts a thread on a device, for error texts */
    const char *default_soc; /**< chip if LEO_SOC is not set; NULL: the runtime's */
    int default_device;      /**< in use where a thread has set none; API_DEFAULT_NONE: none is */
    bool streams_of_any_context; /**< a thread may use streams of other contexts than its own */
    leo_rt_log_fn log;
    void (*forked)(void);              /**< in a child, which starts as if it had not called */
    void (*device_opened)(int32_t id); /**< the process's first use of it; may be NULL */
    void (*finalizing)(void);          /**< before the last devices end; may be NULL */
    /** A task of a stream failed, the how many-th of it; before the call that waits says so. May
     * be NULL. */
    void (*faulted)(const struct api_stream *stream, leo_status status, uint64_t task);
};
extern const struct api_face api_face;

/** A program's own allocator (allocator.h): its object and functions, NULL where it set none. */
struct api_allocator {
    void *object;
    void *(*alloc)(void *object, size_t bytes);
    void (*give_back)(void *object, void *block);
    void *(*alloc_near)(void *object, size_t bytes, void *addr);
    void *(*addr_of)(void *block);
};

struct api_stream {
    struct api_handle handle;
    struct api_context *context;
    struct leo_rt_stream *rt;
    int32_t id;
    uint32_t priority, flags;
    bool failure_mode_set;
    bool group_is_open; /**< of captured tasks, by the thread that captures */
    size_t group_first;
    _Atomic uint32_t core_limit[API_CORE_KINDS]; /**< 0 = that of the device */
    _Atomic uint32_t number[API_NUMBERS];        /**< the face's */
    struct api_report *_Atomic report; /**< of the thread that runs its callbacks, if any */
    struct leo_rt_host_worker *worker; /**< under worker_lock; of work.c; made when needed */
    atomic_bool ending;                /**< its waits give up */
    struct api_allocator allocator;    /**< under worker_lock; allocator_handle NULL: none */
    void *allocator_handle;
};

struct api_context {
    struct api_handle handle;
    int32_t device; /**< as the user counts */
    struct api_device *slot;
    struct leo_rt_device *rt;
    struct api_stream *default_stream;
    struct api_family streams, modules;
    bool primary;
    atomic_bool stop_on_failure, failed;
    _Atomic int64_t number[API_NUMBERS]; /**< the face's */
    _Atomic uint32_t number_set;         /**< bit i: number i was set */
};

/** Kernels by addresses of the program (stub.h). */
struct api_stubs {
    pthread_mutex_t lock; /**< protects the tree and what is in it */
    void *tree;           /**< of tsearch(3) */
};

/** One slot for a device: counted by api_device_set. */
struct api_device {
    struct leo_rt_device *rt;
    struct api_context *primary;
    uint32_t references;
    struct api_family contexts, events, notifies, host_memory, graphs, physical, pools;
    _Atomic(void *) default_pool; /**< one of `pools`; NULL: not asked for yet */
    struct leo_rt_host_worker
        *worker; /**< under worker_lock; runs work of the host in streams; made when needed */
};

/**
 * The state of the process behind APIs without a handle of their own: their shape leaves no other
 * place than a global (decision 8). `lock` protects every field but those of the devices, which
 * belong to `device_lock` (taken first) while they are set and reset. The runtime ends under both,
 * so that either keeps it.
 */
struct api_process {
    pthread_mutex_t lock, device_lock;
    struct leo_rt *rt;
    uint64_t references; /**< initialized, minus given up */
    bool finalized;
    int default_device;
    bool child; /**< forked by a process that had called us */
    int visible[API_DEVICES], visible_count;
    struct api_device device[API_DEVICES];
    /** By number of the runtime; bit i: it may reach the memory of device i. */
    _Atomic uint32_t peers[API_DEVICES];
    /** enum leo_float_mode of later streams, by number of the runtime. */
    _Atomic uint32_t float_mode[API_DEVICES];
    _Atomic uint32_t core_limit[API_DEVICES][API_CORE_KINDS]; /**< 0 = all it has */
    struct api_table handles;
    pthread_mutex_t map_lock;      /**< held over changes of what is mapped where */
    struct api_ranges mapped;      /**< physical memory at its addresses */
    struct api_ranges pool_blocks; /**< of memory pools, handed out */
    pthread_mutex_t ipc_lock;      /**< protects `ipc`, memory between processes */
    struct api_ipc *ipc;
    pthread_mutex_t worker_lock; /**< protects the devices' `worker` */
    struct api_reports reports;
    struct api_ranges host_memory; /**< that we allocated */
    struct api_family allocators;  /**< descriptions of programs' own */
    struct api_stubs stubs;
    struct api_dump_switch dump;
    struct api_lost lost;
    atomic_int captures; /**< global ones that have begun and not ended */
    _Atomic uint32_t next_graph_id;
    _Atomic int32_t next_stream_id;
    _Atomic uint32_t next_event_id, next_notify_id;
    _Atomic uint32_t wait_limit_s; /**< of waits in streams that have none of their own; 0: none */
};

struct api_process *api_process(void);
/** The runtime, made on first use. */
leo_status api_runtime(struct leo_rt **rt);
/** API_REPEATED counts as well. `default_device` is for the first: a face may read it from a
 * file. */
leo_status api_initialize(int default_device);
/** Gives up one reference, or `all`: with the last, the runtime ends once no device is open.
 * `left` may be NULL. API_FINALIZED: there was none. */
leo_status api_finalize(bool all, uint64_t *left);
bool api_is_initialized(void);
/** Frees the runtime if the process is finalized and no device is open; after a reset. Caller holds
 * the device lock. */
void api_runtime_end(void);

/* Handles of the process's table. A thread with a pin must not take the device lock. */
void *api_make(size_t bytes);
/** From here on it is found. `end` ends one that is the caller's, with all that belongs to it. */
void api_publish(void *object, unsigned kind, struct api_family *family, void (*end)(void *object));
void *api_find(const void *ptr, unsigned kind);
void api_unpin(void *object);
/** Unpins what a variable points at, if anything, at the end of its scope. */
void api_unpin_variable(void *variable);
#define API_PINNED __attribute__((cleanup(api_unpin_variable)))
bool api_claim(void *object);
void *api_take(struct api_family *family);
/** Ends all of a family, each by what it was published with. */
void api_family_end(struct api_family *family);
/** Frees one that is the caller's, or that was not published. */
void api_free(void *object);
