/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: translation of types and arguments. */
#include "hccl_internal.h"

static HcclResult call(const struct comm_call *call, HcclComm comm, aclrtStream stream)
{
    return hccl_result(call->func, comm_call(call, comm, stream));
}

_Static_assert((int)HCCL_REDUCE_SUM == COLL_SUM && (int)HCCL_REDUCE_PROD == COLL_PROD &&
                   (int)HCCL_REDUCE_MAX == COLL_MAX && (int)HCCL_REDUCE_MIN == COLL_MIN,
               "equal numbers");

HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_ALL_REDUCE,
                                    .send = sendBuf,
                                    .recv = recvBuf,
                                    .count = count,
                                    .type = hccl_type(dataType),
                                    .reduction = (int)op},
                comm, stream);
}

HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_REDUCE,
                                    .send = sendBuf,
                                    .recv = recvBuf,
                                    .count = count,
                                    .type = hccl_type(dataType),
                                    .reduction = (int)op,
                                    .root = root},
                comm, stream);
}

HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_BROADCAST,
                                    .send = buf,
                                    .recv = buf,
                                    .count = count,
                                    .type = hccl_type(dataType),
                                    .reduction = COMM_NO_REDUCTION,
                                    .root = root},
                comm, stream);
}

HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_REDUCE_SCATTER,
                                    .send = sendBuf,
                                    .recv = recvBuf,
                                    .count = recvCount,
                                    .type = hccl_type(dataType),
                                    .reduction = (int)op},
                comm, stream);
}

HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_SCATTER,
                                    .send = sendBuf,
                                    .recv = recvBuf,
                                    .count = recvCount,
                                    .type = hccl_type(dataType),
                                    .reduction = COMM_NO_REDUCTION,
                                    .root = root},
                comm, stream);
}

HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_ALL_GATHER,
                                    .send = sendBuf,
                                    .recv = recvBuf,
                                    .count = sendCount,
                                    .type = hccl_type(dataType),
                                    .reduction = COMM_NO_REDUCTION},
                comm, stream);
}

HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void *recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream)
{
    if (sendCount != recvCount || sendType != recvType) {
        return hccl_fail(HCCL_E_PARA, __func__, "send and receive differ in count or type");
    }
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_ALL_TO_ALL,
                                    .send = sendBuf,
                                    .recv = (void *)(uintptr_t)recvBuf,
                                    .count = sendCount,
                                    .type = hccl_type(sendType),
                                    .reduction = COMM_NO_REDUCTION},
                comm, stream);
}

HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls,
                         HcclDataType sendType, const void *recvBuf, const void *recvCounts,
                         const void *rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream)
{
    if (!sendCounts || !sdispls || !recvCounts || !rdispls) {
        return hccl_fail(HCCL_E_PTR, __func__, "counts or displacements are NULL");
    }
    if (sendType != recvType) {
        return hccl_fail(HCCL_E_PARA, __func__, "send and receive differ in type");
    }
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_ALL_TO_ALL,
                                    .send = sendBuf,
                                    .recv = (void *)(uintptr_t)recvBuf,
                                    .type = hccl_type(sendType),
                                    .reduction = COMM_NO_REDUCTION,
                                    .has_parts = true,
                                    .send_count = sendCounts,
                                    .send_offset = sdispls,
                                    .recv_count = recvCounts,
                                    .recv_offset = rdispls},
                comm, stream);
}

HcclResult HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix, HcclDataType sendType,
                          const void *recvBuf, HcclDataType recvType, HcclComm comm,
                          aclrtStream stream)
{
    if (!sendCountMatrix) {
        return hccl_fail(HCCL_E_PTR, __func__, "sendCountMatrix is NULL");
    }
    if (sendType != recvType) {
        return hccl_fail(HCCL_E_PARA, __func__, "send and receive differ in type");
    }
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_ALL_TO_ALL,
                                    .send = sendBuf,
                                    .recv = (void *)(uintptr_t)recvBuf,
                                    .type = hccl_type(sendType),
                                    .reduction = COMM_NO_REDUCTION,
                                    .has_parts = true,
                                    .matrix = sendCountMatrix},
                comm, stream);
}

HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf, const void *recvCounts,
                          const void *recvDispls, HcclDataType dataType, HcclComm comm,
                          aclrtStream stream)
{
    if (!recvCounts || !recvDispls) {
        return hccl_fail(HCCL_E_PTR, __func__, "counts or displacements are NULL");
    }
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_ALL_GATHER,
                                    .send = sendBuf,
                                    .recv = recvBuf,
                                    .count = sendCount,
                                    .type = hccl_type(dataType),
                                    .reduction = COMM_NO_REDUCTION,
                                    .has_parts = true,
                                    .recv_count = recvCounts,
                                    .recv_offset = recvDispls},
                comm, stream);
}

HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts, const void *sendDispls,
                              void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                              HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    if (!sendCounts || !sendDispls) {
        return hccl_fail(HCCL_E_PTR, __func__, "counts or displacements are NULL");
    }
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_REDUCE_SCATTER,
                                    .send = sendBuf,
                                    .recv = recvBuf,
                                    .count = recvCount,
                                    .type = hccl_type(dataType),
                                    .reduction = (int)op,
                                    .has_parts = true,
                                    .send_count = sendCounts,
                                    .send_offset = sendDispls},
                comm, stream);
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_BARRIER,
                                    .type = hccl_type(HCCL_DATA_TYPE_INT8),
                                    .reduction = COMM_NO_REDUCTION},
                comm, stream);
}
