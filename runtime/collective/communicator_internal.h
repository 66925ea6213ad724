/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of communicators. */
#pragma once

#include "communicator.h"
#include "cost.h"

#include <pthread.h>
#include <stdatomic.h>

/** One rank of a group. Of one rank: neither wire nor worker, operations are copies. */
struct comm {
    struct comm *next;
    uint32_t ranks, rank;
    char name[COMM_NAME_BYTES];
    struct leo_rt_device *device;
    struct leo_rt_host_worker *worker; /**< runs the operations, in order */
    struct coll_wire *wire;
    pthread_mutex_t wire_lock; /**< the wire is one thread's at a time */
    struct coll_links links;
    int32_t user_device;         /**< comm_info */
    unsigned execute_ms;         /**< 0 = no limit */
    _Atomic int first_error;     /**< leo_status of the first operation that failed */
    _Atomic unsigned open;       /**< operations in streams, but those of graphs */
    pthread_mutex_t server_lock; /**< protects `server` */
    struct comm_server *server;  /**< of kernels that ask themselves; NULL: none did */
    /** Of one that is there; a pointer, so that serve.c is linked only where kernels are served. */
    void (*server_destroy)(struct comm_server *server);
};

/** One operation on its way: what the worker runs. */
struct comm_job {
    struct comm *comm;
    const char *func;
    struct coll_op op;
    uint64_t bytes;   /**< for its simulated time (coll_cost_ns) */
    uint64_t *counts; /**< 4 x ranks for operations with parts of several sizes: send counts and
                         offsets, receive counts and offsets; owned */
    struct coll_message *messages; /**< owned */
    bool is_counted;               /**< in comm->open */
};

/** The communicator behind a handle; NULL with the error set. */
struct comm *comm_find(const void *handle);
/** A device's communicator of this name (of one rank: any device's); NULL with the error set. */
struct comm *comm_find_named(const struct leo_rt_device *device, const char *name);
/** Seconds of a face's setting. */
unsigned comm_seconds(const struct comm_seconds *setting);

/** A group about to meet, as one rank sees it. */
struct comm_group {
    struct coll_root root;
    struct coll_bootstrap *bootstrap; /**< rank 0 only; taken by comm_make */
    bool is_known;                    /**< coll_wire_opts */
    uint32_t ranks, rank;
    const char *name;
    int32_t execute_s;   /**< comm_opts */
    int32_t user_device; /**< comm_info */
};
/** Makes the communicator of this rank; blocks until all came. */
leo_status comm_make(const struct comm_group *group, void **out);

/** Opens a bootstrap place. */
leo_status comm_place_open(struct coll_root *root);
/** Takes the bootstrap of a place this process opened; NULL if it did not. */
struct coll_bootstrap *comm_place_take(const struct coll_root *root);

/** An empty job of an operation; NULL with the error set. */
struct comm_job *comm_job_make(const char *func, struct comm *comm);
/** Host address of device memory [addr, addr + bytes) as `*ptr`; NULL for no bytes. */
leo_status comm_buffer(const struct comm *comm, const char *what, const void *addr, uint64_t bytes,
                       void **ptr);
/** The stream behind a face's handle. */
leo_status comm_stream(const void *handle, struct leo_rt_stream **stream);
/** Puts a collective into the stream. A group of one rank copies. */
leo_status comm_put(const struct comm_call *call, struct comm *comm, struct leo_rt_stream *stream);
/** Puts it into the stream. Always takes the job. */
leo_status comm_job_submit(struct comm_job *job, struct leo_rt_stream *stream);
void comm_job_free(struct comm_job *job);
/** Does it at once, with the other ranks: `start_ns` is when this one is there. */
void comm_job_run(struct comm_job *job, uint64_t start_ns, struct leo_rt_host_result *result);
/** The job of a call; NULL: the group has one rank, which copies. */
leo_status comm_job_of(const struct comm_call *call, struct comm *comm, struct comm_job **job);

/* serve.c */
leo_status comm_serve(struct leo_rt_device *device, const char *group, struct leo_rt_stream *stream,
                      uint64_t *context, void **launch);
leo_status comm_served(void *launch, struct leo_rt_stream *stream);
/** Copies on the device, in the stream. */
leo_status comm_copy(void *dst, const void *src, uint64_t bytes, struct leo_rt_stream *stream);
