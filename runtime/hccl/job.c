/* SPDX-License-Identifier: Apache-2.0 */
/* Operations as work of the host in a stream: the caller never blocks. */
#include "hccl_internal.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

struct hccl_job *hccl_job_make(const char *func, struct hccl_comm *comm)
{
    struct hccl_job *job = leo_calloc(1, sizeof(*job));
    if (!job) {
        hccl_fail(HCCL_E_OOM, func, "out of host memory");
        return NULL;
    }
    job->comm = comm;
    job->func = func;
    return job;
}

void hccl_job_free(struct hccl_job *job)
{
    leo_free(job->counts);
    leo_free(job->messages);
    leo_free(job);
}

HcclResult hccl_buffer(const struct hccl_job *job, const char *what, const void *addr,
                       uint64_t bytes, void **ptr)
{
    *ptr = NULL;
    if (bytes == 0) {
        return HCCL_SUCCESS;
    }
    if (!addr) {
        return hccl_fail(HCCL_E_PTR, job->func, "%s is NULL", what);
    }
    if (leo_rt_memory_window(job->comm->device, (uint64_t)(uintptr_t)addr, bytes, ptr) != LEO_OK) {
        return hccl_fail(HCCL_E_PARA, job->func, "%s: %s", what, leo_rt_last_error());
    }
    return HCCL_SUCCESS;
}

HcclResult hccl_result(leo_status status)
{
    switch (status) {
    case LEO_OK:
        return HCCL_SUCCESS;
    case LEO_ERR_TIMEOUT:
        return HCCL_E_TIMEOUT;
    case LEO_ERR_IO:
    case LEO_ERR_STATE:
        return HCCL_E_REMOTE;
    case LEO_ERR_MISMATCH:
    case LEO_ERR_INVALID_ARG:
        return HCCL_E_PARA;
    case LEO_ERR_NO_MEMORY:
        return HCCL_E_OOM;
    case LEO_ERR_CANCELLED:
        return HCCL_E_SUSPENDING;
    default:
        return HCCL_E_INTERNAL;
    }
}

/* On the worker's thread, when the stream has reached the operation. */
static void run(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct hccl_job *job = user;
    struct hccl_comm *comm = job->comm;
    struct coll_times times = {.arrival_ns = start_ns};
    char text[384];
    if (result->status != LEO_OK) {
        // This rank's device failed: the others must not wait for it.
        coll_wire_interrupt(comm->wire);
    }
    pthread_mutex_lock(&comm->wire_lock);
    leo_status status =
        coll_run(comm->wire, &job->op, comm->exec_timeout_ms, &times, text, sizeof(text));
    pthread_mutex_unlock(&comm->wire_lock);
    leo_rt_device_count_link(comm->device, times.sent_bytes);
    if (status != LEO_OK) {
        int none = HCCL_SUCCESS;
        const HcclResult code = hccl_result(status);
        atomic_compare_exchange_strong(&comm->async_error, &none, (int)code);
        if (result->status == LEO_OK) {
            result->status = status;
            snprintf(result->text, sizeof(result->text), "%s of group %.60s, rank %u of %u: %s",
                     job->func, comm->name, comm->rank, comm->ranks, text);
        }
        hccl_fail(code, job->func, "%s", result->text);
    } else {
        result->end_ns = times.last_arrival_ns +
                         coll_cost_ns(&comm->links, job->op.kind, comm->ranks, job->bytes);
        const struct leo_rt_profile_link link = {.name = job->func,
                                                 .group = comm->name,
                                                 .rank = comm->rank,
                                                 .ranks = comm->ranks,
                                                 .bytes = job->bytes,
                                                 .begin_ns = start_ns,
                                                 .ready_ns = times.last_arrival_ns,
                                                 .end_ns = result->end_ns};
        leo_rt_profile_link(comm->device, &link);
    }
}

static void release(void *user)
{
    hccl_job_free(user);
}

HcclResult hccl_job_submit(struct hccl_job *job, aclrtStream stream)
{
    struct leo_rt_stream *rt_stream;
    struct leo_rt_device *device;
    const struct hccl_comm *comm = job->comm;
    const char *func = job->func;
    if (leo_acl_stream_get(stream, &rt_stream, &device)) {
        hccl_job_free(job);
        return hccl_fail(HCCL_E_PARA, func, "%p is not a stream", stream);
    }
    if (leo_rt_host_task_kept(comm->worker, rt_stream, run, release, job) != LEO_OK) {
        hccl_job_free(job);
        return hccl_fail(HCCL_E_RUNTIME, func, "%s", leo_rt_last_error());
    }
    return HCCL_SUCCESS;
}
