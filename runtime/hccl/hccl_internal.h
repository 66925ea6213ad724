/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of HCCL: communicators, work on streams, errors. */
#pragma once

#include <coll/cost.h>
#include <hccl/hccl.h>
#include <leo/acl_hook.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/** One rank of a group. Of one rank: neither wire nor worker, operations are copies. */
struct hccl_comm {
    struct hccl_comm *next;
    uint32_t ranks, rank;
    char name[HCCL_COMM_NAME_MAX_LENGTH];
    struct leo_rt_device *device;
    struct leo_rt_host_worker *worker; /**< runs the operations, in order */
    struct coll_wire *wire;
    pthread_mutex_t wire_lock; /**< the wire is one thread's at a time */
    struct coll_links links;
    unsigned exec_timeout_ms; /**< 0 = none */
    _Atomic int async_error;  /**< HcclResult of the first operation that failed */
};

/** One operation on its way: what the worker runs. */
struct hccl_job {
    struct hccl_comm *comm;
    const char *func;
    struct coll_op op;
    uint64_t bytes;   /**< for its simulated time (coll_cost_ns) */
    uint64_t *counts; /**< 4 x ranks for operations with parts of several sizes: send counts and
                         offsets, receive counts and offsets; owned */
    struct coll_message *messages; /**< owned */
};

/** Logs the error as the ACL log does, makes it the recent error text and returns `code`. */
HcclResult hccl_fail(HcclResult code, const char *func, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** The communicator behind a handle; NULL for anything that is not a live one. */
struct hccl_comm *hccl_comm_find(HcclComm handle);
/** The same; NULL with the error set. */
struct hccl_comm *hccl_comm_check(const char *func, HcclComm handle);
/** Bytes of one element; 0 for a type that is not known. */
size_t hccl_type_bytes(HcclDataType type);
/** False for types that are only carried, not computed with or not known. */
bool hccl_type_get(HcclDataType type, enum coll_type *out);
HcclResult hccl_result(leo_status status);

/** A group about to meet, as one rank sees it. */
struct hccl_group {
    struct coll_root root;
    struct coll_meeting *meeting; /**< rank 0 only; taken by hccl_comm_make */
    uint32_t ranks, rank;
    const char *name;
    bool is_known; /**< coll_wire_opts */
};
/** Makes the communicator of this rank; blocks until all came. */
HcclResult hccl_comm_make(const char *func, const struct hccl_group *group,
                          const HcclCommConfig *config, HcclComm *out);

/** An empty job of an operation; NULL with the error set. */
struct hccl_job *hccl_job_make(const char *func, struct hccl_comm *comm);
/** Host address of device memory [addr, addr + bytes) as `*ptr`; NULL for no bytes. */
HcclResult hccl_buffer(const struct hccl_job *job, const char *what, const void *addr,
                       uint64_t bytes, void **ptr);
/** Puts it into the stream. Always takes the job. */
HcclResult hccl_job_submit(struct hccl_job *job, aclrtStream stream);
void hccl_job_free(struct hccl_job *job);

/** Sends and receives of the calling thread are gathered between the two (HcclGroupStart). */
HcclResult hccl_group_add(const char *func, struct hccl_comm *comm, bool is_send, void *buf,
                          uint64_t count, HcclDataType type, uint32_t peer, aclrtStream stream);
