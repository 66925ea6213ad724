/* SPDX-License-Identifier: Apache-2.0 */
/* Operations as work of the host in a stream: the caller never blocks. */
#include "communicator_internal.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

struct comm_job *comm_job_make(const char *func, struct comm *comm)
{
    struct comm_job *job = leo_calloc(1, sizeof(*job));
    if (!job) {
        (void)!leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
        return NULL;
    }
    job->comm = comm;
    job->func = func;
    return job;
}

void comm_job_free(struct comm_job *job)
{
    leo_free(job->counts);
    leo_free(job->messages);
    leo_free(job);
}

leo_status comm_buffer(const struct comm *comm, const char *what, const void *addr, uint64_t bytes,
                       void **ptr)
{
    *ptr = NULL;
    if (bytes == 0) {
        return LEO_OK;
    }
    if (!addr) {
        return leo_rt_fail(COMM_BAD_POINTER, "%s is NULL", what);
    }
    if (leo_rt_memory_window(comm->device, (uint64_t)(uintptr_t)addr, bytes, ptr) != LEO_OK) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%s: %s", what, leo_rt_last_error());
    }
    return LEO_OK;
}

leo_status comm_stream(const void *handle, struct leo_rt_stream **stream)
{
    return comm_face.stream_get(handle, stream) == LEO_OK
               ? LEO_OK
               : leo_rt_fail(LEO_ERR_INVALID_ARG, "%p is not a stream", handle);
}

leo_status comm_copy(void *dst, const void *src, uint64_t bytes, struct leo_rt_stream *stream)
{
    if (bytes == 0 || src == dst) {
        return LEO_OK;
    }
    if (!src || !dst) {
        return leo_rt_fail(COMM_BAD_POINTER, "a buffer is NULL");
    }
    return leo_rt_memcpy_async(stream, dst, src, bytes) == LEO_OK ? LEO_OK : COMM_RUNTIME;
}

// What went wrong, for everybody who may ask later.
static void keep_error(struct comm_job *job, leo_status status, const char *text,
                       struct leo_rt_host_result *result)
{
    struct comm *comm = job->comm;
    int none = LEO_OK;
    atomic_compare_exchange_strong(&comm->first_error, &none, (int)status);
    if (result->status == LEO_OK) {
        result->status = status;
        snprintf(result->text, sizeof(result->text), "%s of group %.60s, rank %u of %u: %s",
                 job->func, comm->name, comm->rank, comm->ranks, text);
    }
    if (comm_face.failed) {
        comm_face.failed(status, job->func, result->text);
    }
}

_Static_assert((int)COLL_ALL_REDUCE == LEO_LINK_ALL_REDUCE &&
                   (int)COLL_POINT_TO_POINT == LEO_LINK_POINT_TO_POINT,
               "one order of kinds");

// For a record of the device's, which can then be priced with other ranks.
static void note_link(const struct comm_job *job, const struct leo_rt_profile_link *link,
                      struct leo_rt_host_result *result)
{
    struct leo_link_note *note = &result->link;
    *note = (struct leo_link_note){.kind = (uint32_t)job->op.kind,
                                   .rank = link->rank,
                                   .ranks = link->ranks,
                                   .bytes = link->bytes,
                                   .begin_ns = link->begin_ns,
                                   .ready_ns = link->ready_ns,
                                   .end_ns = link->end_ns};
    snprintf(note->name, sizeof(note->name), "%s", link->name);
    snprintf(note->group, sizeof(note->group), "%s", link->group);
    note->peers = job->op.kind == COLL_POINT_TO_POINT ? job->op.message_count : 0;
    for (unsigned i = 0; i < note->peers && i < LEO_LINK_PEERS_MAX; i++) {
        const struct coll_message *message = &job->op.messages[i];
        note->peer[i] = (struct leo_link_peer){message->peer, message->is_send};
    }
    result->has_link = true;
}

void comm_job_run(struct comm_job *job, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct comm *comm = job->comm;
    struct coll_times times = {.arrival_ns = start_ns};
    char text[384];
    if (result->status != LEO_OK) {
        // This rank's device failed: the others must not wait for it.
        coll_wire_interrupt(comm->wire);
    }
    pthread_mutex_lock(&comm->wire_lock);
    leo_status status =
        coll_run(comm->wire, &job->op, comm->execute_ms, &times, text, sizeof(text));
    pthread_mutex_unlock(&comm->wire_lock);
    leo_rt_device_count_link(comm->device, times.sent_bytes);
    if (status != LEO_OK) {
        keep_error(job, status, text, result);
        return;
    }
    result->end_ns =
        times.last_arrival_ns + coll_cost_ns(&comm->links, job->op.kind, comm->ranks, job->bytes);
    const struct leo_rt_profile_link link = {.name = job->func,
                                             .group = comm->name,
                                             .rank = comm->rank,
                                             .ranks = comm->ranks,
                                             .bytes = job->bytes,
                                             .begin_ns = start_ns,
                                             .ready_ns = times.last_arrival_ns,
                                             .end_ns = result->end_ns};
    leo_rt_profile_link(comm->device, &link);
    note_link(job, &link, result);
}

// On the worker's thread, when the stream has reached the operation.
static void run(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct comm_job *job = user;
    comm_job_run(job, start_ns, result);
    if (job->is_counted) {
        atomic_fetch_sub(&job->comm->open, 1);
    }
}

// Of an operation in a graph it may come after the communicator's end.
static void release(void *user)
{
    comm_job_free(user);
}

leo_status comm_job_submit(struct comm_job *job, struct leo_rt_stream *stream)
{
    struct comm *comm = job->comm;
    const bool counted = leo_rt_stream_graph(stream) == NULL;
    job->is_counted = counted;
    atomic_fetch_add(&comm->open, counted); // before it can end
    if (leo_rt_host_task(comm->worker, stream, run, release, job) != LEO_OK) {
        atomic_fetch_sub(&comm->open, counted);
        comm_job_free(job);
        return COMM_RUNTIME;
    }
    return LEO_OK;
}
