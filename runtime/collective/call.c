/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: checks, and from a face's call to a job. A group of one rank copies its part. */
#include "communicator_internal.h"

#include <leo/alloc.h>
#include <string.h>

/* A call, and what its buffers must hold, in elements. */
struct sizes {
    uint64_t send, recv;
    uint64_t count;  /**< coll_op.count */
    uint64_t *lists; /**< comm_job.counts, or NULL */
};

static leo_status check(const struct comm_call *call, const struct comm *comm)
{
    const struct comm_type *type = &call->type;
    const bool reduces = call->reduction != COMM_NO_REDUCTION;
    if (type->bytes == 0 || type->bytes > 8 || (reduces && !type->computes)) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED, "data type %d", type->number);
    }
    if (reduces && (call->reduction < COLL_SUM || call->reduction > COLL_MIN)) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED, "reduction %d", call->reduction);
    }
    if (call->root >= comm->ranks) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "root %u of %u ranks", call->root, comm->ranks);
    }
    if (call->count > SIZE_MAX / type->bytes / comm->ranks) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "count %llu", (unsigned long long)call->count);
    }
    return LEO_OK;
}

// Buffers of a call whose parts are all of one size.
static void size_alike(const struct comm_call *call, const struct comm *comm, struct sizes *sizes)
{
    const bool is_root = call->root == comm->rank;
    const uint64_t one = call->count, all = call->count * comm->ranks;
    sizes->count = one;
    sizes->send = sizes->recv = one;
    switch (call->kind) {
    case COLL_REDUCE:
        sizes->recv = is_root ? one : 0;
        break;
    case COLL_BROADCAST:
        sizes->send = is_root ? one : 0;
        break;
    case COLL_REDUCE_SCATTER:
        sizes->send = all;
        break;
    case COLL_SCATTER:
        sizes->send = is_root ? all : 0;
        break;
    case COLL_ALL_GATHER:
        sizes->recv = all;
        break;
    case COLL_ALL_TO_ALL:
        sizes->send = sizes->recv = all;
        break;
    case COLL_ALL_REDUCE:
    case COLL_BARRIER:
    case COLL_POINT_TO_POINT:
        break;
    }
}

/* ---- parts of several sizes ---- */

// Elements a buffer must have: to the end of its last part; more than there can be if that is past
// all numbers.
static uint64_t reach(const uint64_t *count, const uint64_t *offset, uint32_t ranks)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        const uint64_t last =
            offset[i] <= UINT64_MAX - count[i] ? offset[i] + count[i] : UINT64_MAX;
        end = count[i] && last > end ? last : end;
    }
    return end;
}

static uint64_t largest(const uint64_t *count, uint32_t ranks)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        most = count[i] > most ? count[i] : most;
    }
    return most;
}

static void copy_list(uint64_t *list, const uint64_t *given, uint32_t ranks)
{
    if (given) {
        memcpy(list, given, ranks * sizeof(*list));
    }
}

// This rank's row and column of what every rank sends to every; parts one after the other.
static void fill_from_matrix(uint64_t *lists, const uint64_t *matrix, const struct comm *comm)
{
    const size_t n = comm->ranks;
    for (size_t i = 0; i < n; i++) {
        lists[i] = matrix[comm->rank * n + i];
        lists[2 * n + i] = matrix[i * n + comm->rank];
        lists[n + i] = i ? lists[n + i - 1] + lists[i - 1] : 0;
        lists[3 * n + i] = i ? lists[3 * n + i - 1] + lists[2 * n + i - 1] : 0;
    }
}

static leo_status size_parts(const struct comm_call *call, const struct comm *comm,
                             struct sizes *sizes)
{
    const size_t n = comm->ranks;
    uint64_t *lists = leo_calloc(n, 4 * sizeof(*lists));
    if (!lists) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    sizes->lists = lists;
    if (call->matrix) {
        fill_from_matrix(lists, call->matrix, comm);
    } else {
        copy_list(lists, call->send_count, comm->ranks);
        copy_list(lists + n, call->send_offset, comm->ranks);
        copy_list(lists + 2 * n, call->recv_count, comm->ranks);
        copy_list(lists + 3 * n, call->recv_offset, comm->ranks);
    }
    const bool gathers = call->kind == COLL_ALL_GATHER,
               scatters = call->kind == COLL_REDUCE_SCATTER;
    const uint64_t own = lists[(gathers ? 2 * n : 0) + comm->rank];
    if ((gathers || scatters) && own != call->count) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "this rank's part is %llu, the list says %llu",
                           (unsigned long long)call->count, (unsigned long long)own);
    }
    if (n == 1 && call->kind == COLL_ALL_TO_ALL && lists[0] != lists[2]) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "send and receive counts differ");
    }
    sizes->send = gathers ? own : reach(lists, lists + n, comm->ranks);
    sizes->recv = scatters ? own : reach(lists + 2 * n, lists + 3 * n, comm->ranks);
    sizes->count = largest(gathers ? lists + 2 * n : lists, comm->ranks);
    return LEO_OK;
}

/* ---- */

// One rank: its part goes from its place in one buffer to its place in the other.
static leo_status copy_own(const struct comm_call *call, const struct sizes *sizes,
                           struct leo_rt_stream *stream)
{
    const uint64_t *lists = sizes->lists;
    const uint64_t elements = !lists                          ? sizes->send
                              : call->kind == COLL_ALL_GATHER ? lists[2]
                                                              : lists[0];
    const char *send = call->send;
    char *recv = call->recv;
    if (lists && send && recv) {
        send += lists[1] * call->type.bytes;
        recv += lists[3] * call->type.bytes;
    }
    return comm_copy(recv, send, elements * call->type.bytes, stream);
}

// Takes the lists.
static leo_status make_job(const struct comm_call *call, const struct sizes *sizes,
                           struct comm *comm, struct comm_job **out)
{
    const uint64_t unit = call->type.bytes;
    const uint32_t n = comm->ranks;
    void *send, *recv;
    struct comm_job *job = comm_job_make(call->func, comm);
    if (!job) {
        leo_free(sizes->lists);
        return LEO_ERR_NO_MEMORY;
    }
    job->counts = sizes->lists;
    leo_status status = comm_buffer(comm, "the send buffer", call->send, sizes->send * unit, &send);
    if (status == LEO_OK) {
        status = comm_buffer(comm, "the receive buffer", call->recv, sizes->recv * unit, &recv);
    }
    if (status != LEO_OK) {
        comm_job_free(job);
        return status;
    }
    job->op = (struct coll_op){
        .kind = call->kind,
        .type = call->type.computes ? call->type.type : COLL_U8,
        .reduction =
            call->reduction == COMM_NO_REDUCTION ? COLL_SUM : (enum coll_reduction)call->reduction,
        .root = call->root,
        .count = sizes->count,
        .send = send,
        .recv = recv,
    };
    job->bytes = sizes->count * unit;
    if (sizes->lists) {
        job->op.send_parts = (struct coll_parts){sizes->lists, sizes->lists + n};
        job->op.recv_parts = (struct coll_parts){sizes->lists + 2 * n, sizes->lists + 3 * n};
    }
    *out = job;
    return LEO_OK;
}

// Owns the lists if it succeeds.
static leo_status size_call(const struct comm_call *call, const struct comm *comm,
                            struct sizes *sizes)
{
    leo_status status = check(call, comm);
    if (status == LEO_OK && call->has_parts) {
        status = size_parts(call, comm, sizes);
    } else if (status == LEO_OK) {
        size_alike(call, comm, sizes);
    }
    if (status == LEO_OK && (sizes->send >= SIZE_MAX / call->type.bytes ||
                             sizes->recv >= SIZE_MAX / call->type.bytes)) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "counts and offsets of the parts are too large");
    }
    if (status != LEO_OK) {
        leo_free(sizes->lists);
    }
    return status;
}

leo_status comm_job_of(const struct comm_call *call, struct comm *comm, struct comm_job **job)
{
    struct sizes sizes = {0};
    leo_status status = size_call(call, comm, &sizes);
    *job = NULL;
    if (status == LEO_OK && comm->ranks == 1) {
        leo_free(sizes.lists);
        return LEO_OK;
    }
    return status == LEO_OK ? make_job(call, &sizes, comm, job) : status;
}

leo_status comm_put(const struct comm_call *call, struct comm *comm, struct leo_rt_stream *stream)
{
    struct sizes sizes = {0};
    struct comm_job *job;
    leo_status status = size_call(call, comm, &sizes);
    if (status != LEO_OK) {
        return status;
    }
    if (call->kind == COLL_BROADCAST && call->root == comm->rank) {
        status = comm_copy(call->recv, call->send, sizes.send * call->type.bytes, stream);
    }
    if (status != LEO_OK || comm->ranks == 1) {
        if (status == LEO_OK) {
            status = copy_own(call, &sizes, stream);
        }
        leo_free(sizes.lists);
        return status;
    }
    status = make_job(call, &sizes, comm, &job);
    return status == LEO_OK ? comm_job_submit(job, stream) : status;
}

leo_status comm_call(const struct comm_call *call, const void *handle, const void *stream)
{
    struct comm *comm = comm_find(handle);
    struct leo_rt_stream *rt;
    leo_status status = comm ? comm_stream(stream, &rt) : COMM_BAD_POINTER;
    return status == LEO_OK ? comm_put(call, comm, rt) : status;
}
