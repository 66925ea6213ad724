/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: checks and translation. A group of one rank copies its own part, or nothing. */
#include "hccl_internal.h"

#include <leo/alloc.h>
#include <string.h>

/* What every collective gives. */
struct call {
    const char *func;
    enum coll_kind kind;
    const void *send;
    void *recv;
    uint64_t send_count, recv_count; /* elements of the whole buffers */
    uint64_t count;                  /* coll_op.count */
    HcclDataType type;
    int reduction; /* HcclReduceOp, -1 = none */
    uint32_t root;
};

enum { NO_REDUCTION = -1 };

static HcclResult copy(const struct call *call, aclrtStream stream)
{
    const size_t bytes = call->send_count * hccl_type_bytes(call->type);
    if (bytes == 0 || call->send == call->recv) {
        return HCCL_SUCCESS;
    }
    if (!call->send || !call->recv) {
        return hccl_fail(HCCL_E_PTR, call->func, "a buffer is NULL");
    }
    if (aclrtMemcpyAsync(call->recv, bytes, call->send, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                         stream)) {
        const char *text = aclGetRecentErrMsg();
        return hccl_fail(HCCL_E_RUNTIME, call->func, "%s", text ? text : "the copy failed");
    }
    return HCCL_SUCCESS;
}

static HcclResult check(const struct call *call, const struct hccl_comm *comm, enum coll_type *type)
{
    const size_t unit = hccl_type_bytes(call->type);
    if (!hccl_type_get(call->type, type) &&
        (unit == 0 || unit > 8 || call->reduction != NO_REDUCTION)) {
        return hccl_fail(HCCL_E_NOT_SUPPORT, call->func, "data type %d", (int)call->type);
    }
    if (call->reduction != NO_REDUCTION && (unsigned)call->reduction > HCCL_REDUCE_MIN) {
        return hccl_fail(HCCL_E_NOT_SUPPORT, call->func, "reduction %d", call->reduction);
    }
    if (call->root >= comm->ranks) {
        return hccl_fail(HCCL_E_PARA, call->func, "root %u of %u ranks", call->root, comm->ranks);
    }
    if (call->send_count > SIZE_MAX / unit || call->recv_count > SIZE_MAX / unit) {
        return hccl_fail(HCCL_E_PARA, call->func, "count %llu", (unsigned long long)call->count);
    }
    return HCCL_SUCCESS;
}

/* Checks, fills a job and puts it into the stream. `counts`: taken, see hccl_job. */
static HcclResult start(struct call call, uint64_t *counts, HcclComm handle, aclrtStream stream)
{
    struct hccl_comm *comm = hccl_comm_check(call.func, handle);
    enum coll_type type = COLL_U8;
    HcclResult result = comm ? check(&call, comm, &type) : HCCL_E_PTR;
    if (result != HCCL_SUCCESS || comm->ranks == 1) {
        leo_free(counts);
        return result != HCCL_SUCCESS ? result : copy(&call, stream);
    }
    struct hccl_job *job = hccl_job_make(call.func, comm);
    if (!job) {
        leo_free(counts);
        return HCCL_E_OOM;
    }
    const size_t unit = hccl_type_bytes(call.type);
    void *send, *recv;
    job->counts = counts;
    result = hccl_buffer(job, "sendBuf", call.send, call.send_count * unit, &send);
    if (result == HCCL_SUCCESS) {
        result = hccl_buffer(job, "recvBuf", call.recv, call.recv_count * unit, &recv);
    }
    if (result != HCCL_SUCCESS) {
        hccl_job_free(job);
        return result;
    }
    job->op = (struct coll_op){
        .kind = call.kind,
        .type = type,
        .reduction =
            call.reduction == NO_REDUCTION ? COLL_SUM : (enum coll_reduction)call.reduction,
        .root = call.root,
        .count = call.count,
        .send = send,
        .recv = recv,
    };
    job->bytes = call.count * unit;
    if (counts) {
        const uint32_t n = comm->ranks;
        job->op.send_parts = (struct coll_parts){counts, counts + n};
        job->op.recv_parts = (struct coll_parts){counts + 2 * n, counts + 3 * n};
    }
    return hccl_job_submit(job, stream);
}

HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    return start((struct call){"HcclAllReduce", COLL_ALL_REDUCE, sendBuf, recvBuf, count, count,
                               count, dataType, (int)op, 0},
                 NULL, comm, stream);
}

HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream)
{
    const struct hccl_comm *found = hccl_comm_find(comm);
    const uint64_t received = found && found->rank == root ? count : 0;
    return start((struct call){"HcclReduce", COLL_REDUCE, sendBuf, recvBuf, count, received, count,
                               dataType, (int)op, root},
                 NULL, comm, stream);
}

HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream)
{
    return start((struct call){"HcclBroadcast", COLL_BROADCAST, buf, buf, count, count, count,
                               dataType, NO_REDUCTION, root},
                 NULL, comm, stream);
}

static uint64_t ranks_of(HcclComm comm)
{
    const struct hccl_comm *found = hccl_comm_find(comm);
    return found ? found->ranks : 1;
}

HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream)
{
    return start((struct call){"HcclReduceScatter", COLL_REDUCE_SCATTER, sendBuf, recvBuf,
                               recvCount * ranks_of(comm), recvCount, recvCount, dataType, (int)op,
                               0},
                 NULL, comm, stream);
}

HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream)
{
    const struct hccl_comm *found = hccl_comm_find(comm);
    const uint64_t given = found && found->rank == root ? recvCount * found->ranks : 0;
    return start((struct call){"HcclScatter", COLL_SCATTER, sendBuf, recvBuf, given, recvCount,
                               recvCount, dataType, NO_REDUCTION, root},
                 NULL, comm, stream);
}

HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream)
{
    return start((struct call){"HcclAllGather", COLL_ALL_GATHER, sendBuf, recvBuf, sendCount,
                               sendCount * ranks_of(comm), sendCount, dataType, NO_REDUCTION, 0},
                 NULL, comm, stream);
}

HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void *recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream)
{
    if (sendCount != recvCount || sendType != recvType) {
        return hccl_fail(HCCL_E_PARA, "HcclAlltoAll", "send and receive differ in count or type");
    }
    const uint64_t all = sendCount * ranks_of(comm);
    return start((struct call){"HcclAlltoAll", COLL_ALL_TO_ALL, sendBuf, (void *)(uintptr_t)recvBuf,
                               all, all, sendCount, sendType, NO_REDUCTION, 0},
                 NULL, comm, stream);
}

/* ---- parts of several sizes ---- */

/* Room for the four lists of a job; NULL with the error set. */
static uint64_t *make_counts(const char *func, HcclComm handle, uint32_t *ranks)
{
    const struct hccl_comm *comm = hccl_comm_check(func, handle);
    if (!comm) {
        return NULL;
    }
    *ranks = comm->ranks;
    uint64_t *counts = leo_calloc(comm->ranks, 4 * sizeof(*counts));
    if (!counts) {
        hccl_fail(HCCL_E_OOM, func, "out of host memory");
    }
    return counts;
}

/* Elements a buffer must have: to the end of its last part. */
static uint64_t reach(const uint64_t *count, const uint64_t *offset, uint32_t ranks)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        end = count[i] && offset[i] + count[i] > end ? offset[i] + count[i] : end;
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

/* One rank: its part goes from its place in one buffer to its place in the other. */
static HcclResult start_parts(struct call call, uint64_t *counts, uint32_t ranks, HcclComm comm,
                              aclrtStream stream)
{
    const size_t unit = hccl_type_bytes(call.type);
    if (ranks == 1 && call.send && call.recv) {
        if (call.kind != COLL_ALL_GATHER && counts[0] != counts[2]) {
            leo_free(counts);
            return hccl_fail(HCCL_E_PARA, call.func, "send and receive counts differ");
        }
        call.send = (const char *)call.send + counts[1] * unit;
        call.recv = (char *)call.recv + counts[3] * unit;
        call.send_count = call.recv_count = counts[2];
    }
    return start(call, counts, comm, stream);
}

HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls,
                         HcclDataType sendType, const void *recvBuf, const void *recvCounts,
                         const void *rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream)
{
    static const char func[] = "HcclAlltoAllV";
    uint32_t n = 0;
    if (!sendCounts || !sdispls || !recvCounts || !rdispls) {
        return hccl_fail(HCCL_E_PTR, func, "counts or displacements are NULL");
    }
    if (sendType != recvType) {
        return hccl_fail(HCCL_E_PARA, func, "send and receive differ in type");
    }
    uint64_t *counts = make_counts(func, comm, &n);
    if (!counts) {
        return HCCL_E_PTR;
    }
    memcpy(counts, sendCounts, n * sizeof(*counts));
    memcpy(counts + n, sdispls, n * sizeof(*counts));
    memcpy(counts + 2 * n, recvCounts, n * sizeof(*counts));
    memcpy(counts + 3 * n, rdispls, n * sizeof(*counts));
    return start_parts((struct call){func, COLL_ALL_TO_ALL, sendBuf, (void *)(uintptr_t)recvBuf,
                                     reach(counts, counts + n, n),
                                     reach(counts + 2 * n, counts + 3 * n, n), largest(counts, n),
                                     sendType, NO_REDUCTION, 0},
                       counts, n, comm, stream);
}

HcclResult HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix, HcclDataType sendType,
                          const void *recvBuf, HcclDataType recvType, HcclComm comm,
                          aclrtStream stream)
{
    static const char func[] = "HcclAlltoAllVC";
    const uint64_t *matrix = sendCountMatrix;
    uint32_t n = 0;
    if (!matrix) {
        return hccl_fail(HCCL_E_PTR, func, "sendCountMatrix is NULL");
    }
    if (sendType != recvType) {
        return hccl_fail(HCCL_E_PARA, func, "send and receive differ in type");
    }
    uint64_t *counts = make_counts(func, comm, &n);
    if (!counts) {
        return HCCL_E_PTR;
    }
    const uint32_t rank = hccl_comm_find(comm)->rank;
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = matrix[rank * (size_t)n + i];
        counts[2 * n + i] = matrix[i * (size_t)n + rank];
        counts[n + i] = i ? counts[n + i - 1] + counts[i - 1] : 0;
        counts[3 * n + i] = i ? counts[3 * n + i - 1] + counts[2 * n + i - 1] : 0;
    }
    return start_parts((struct call){func, COLL_ALL_TO_ALL, sendBuf, (void *)(uintptr_t)recvBuf,
                                     reach(counts, counts + n, n),
                                     reach(counts + 2 * n, counts + 3 * n, n), largest(counts, n),
                                     sendType, NO_REDUCTION, 0},
                       counts, n, comm, stream);
}

HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf, const void *recvCounts,
                          const void *recvDispls, HcclDataType dataType, HcclComm comm,
                          aclrtStream stream)
{
    static const char func[] = "HcclAllGatherV";
    uint32_t n = 0;
    if (!recvCounts || !recvDispls) {
        return hccl_fail(HCCL_E_PTR, func, "counts or displacements are NULL");
    }
    uint64_t *counts = make_counts(func, comm, &n);
    if (!counts) {
        return HCCL_E_PTR;
    }
    memcpy(counts + 2 * n, recvCounts, n * sizeof(*counts));
    memcpy(counts + 3 * n, recvDispls, n * sizeof(*counts));
    const uint64_t own = counts[2 * n + hccl_comm_find(comm)->rank];
    if (own != sendCount) {
        leo_free(counts);
        return hccl_fail(HCCL_E_PARA, func, "sendCount is %llu, recvCounts says %llu",
                         (unsigned long long)sendCount, (unsigned long long)own);
    }
    return start_parts((struct call){func, COLL_ALL_GATHER, sendBuf, recvBuf, sendCount,
                                     reach(counts + 2 * n, counts + 3 * n, n),
                                     largest(counts + 2 * n, n), dataType, NO_REDUCTION, 0},
                       counts, n, comm, stream);
}

HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts, const void *sendDispls,
                              void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                              HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    static const char func[] = "HcclReduceScatterV";
    uint32_t n = 0;
    if (!sendCounts || !sendDispls) {
        return hccl_fail(HCCL_E_PTR, func, "counts or displacements are NULL");
    }
    uint64_t *counts = make_counts(func, comm, &n);
    if (!counts) {
        return HCCL_E_PTR;
    }
    memcpy(counts, sendCounts, n * sizeof(*counts));
    memcpy(counts + n, sendDispls, n * sizeof(*counts));
    const uint64_t own = counts[hccl_comm_find(comm)->rank];
    counts[2 * n] = n == 1 ? own : 0;
    if (own != recvCount) {
        leo_free(counts);
        return hccl_fail(HCCL_E_PARA, func, "recvCount is %llu, sendCounts says %llu",
                         (unsigned long long)recvCount, (unsigned long long)own);
    }
    return start_parts((struct call){func, COLL_REDUCE_SCATTER, sendBuf, recvBuf,
                                     reach(counts, counts + n, n), recvCount, largest(counts, n),
                                     dataType, (int)op, 0},
                       counts, n, comm, stream);
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream)
{
    return start((struct call){"HcclBarrier", COLL_BARRIER, NULL, NULL, 0, 0, 0,
                               HCCL_DATA_TYPE_INT8, NO_REDUCTION, 0},
                 NULL, comm, stream);
}
