/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives. With one rank each is the copy of its own part, or nothing. */
#include "hccl_internal.h"

#include <acl/acl.h>
#include <stdint.h>

static HcclResult check(const char *func, HcclComm handle, HcclDataType type)
{
    if (!hccl_comm_find(handle)) {
        return hccl_fail(HCCL_E_PTR, func, "%p is not a communicator", handle);
    }
    if (hccl_type_bytes(type) == 0) {
        return hccl_fail(HCCL_E_NOT_SUPPORT, func, "data type %d", (int)type);
    }
    return HCCL_SUCCESS;
}

static HcclResult check_op(const char *func, HcclReduceOp op)
{
    if ((unsigned)op > HCCL_REDUCE_MIN) {
        return hccl_fail(HCCL_E_NOT_SUPPORT, func, "reduction %d", (int)op);
    }
    return HCCL_SUCCESS;
}

static HcclResult check_root(const char *func, HcclComm handle, uint32_t root)
{
    const struct hccl_comm *comm = hccl_comm_find(handle);
    if (comm && root >= comm->ranks) {
        return hccl_fail(HCCL_E_PARA, func, "rank %u of %u", root, comm->ranks);
    }
    return HCCL_SUCCESS;
}

static HcclResult copy(const char *func, const void *from, const void *to, uint64_t count,
                       HcclDataType type, HcclComm comm, aclrtStream stream)
{
    HcclResult result = check(func, comm, type);
    if (result != HCCL_SUCCESS) {
        return result;
    }
    if (count && (!from || !to)) {
        return hccl_fail(HCCL_E_PTR, func, "a buffer is NULL");
    }
    size_t bytes = hccl_type_bytes(type);
    if (count > SIZE_MAX / bytes) {
        return hccl_fail(HCCL_E_PARA, func, "count %llu", (unsigned long long)count);
    }
    bytes *= count;
    if (bytes == 0 || from == to) {
        return HCCL_SUCCESS;
    }
    // AlltoAll's prototypes have both buffers const.
    void *target = (void *)(uintptr_t)to;
    if (aclrtMemcpyAsync(target, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)) {
        const char *text = aclGetRecentErrMsg();
        return hccl_fail(HCCL_E_RUNTIME, func, "%s", text ? text : "the copy failed");
    }
    return HCCL_SUCCESS;
}

HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    HcclResult result = check_op("HcclAllReduce", op);
    return result ? result : copy("HcclAllReduce", sendBuf, recvBuf, count, dataType, comm, stream);
}

HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream)
{
    HcclResult result = check_op("HcclReduce", op);
    if (result == HCCL_SUCCESS) {
        result = check_root("HcclReduce", comm, root);
    }
    return result ? result : copy("HcclReduce", sendBuf, recvBuf, count, dataType, comm, stream);
}

HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream)
{
    HcclResult result = check_root("HcclBroadcast", comm, root);
    return result ? result : copy("HcclBroadcast", buf, buf, count, dataType, comm, stream);
}

HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream)
{
    HcclResult result = check_op("HcclReduceScatter", op);
    return result ? result
                  : copy("HcclReduceScatter", sendBuf, recvBuf, recvCount, dataType, comm, stream);
}

HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream)
{
    HcclResult result = check_root("HcclScatter", comm, root);
    return result ? result
                  : copy("HcclScatter", sendBuf, recvBuf, recvCount, dataType, comm, stream);
}

HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream)
{
    return copy("HcclAllGather", sendBuf, recvBuf, sendCount, dataType, comm, stream);
}

HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void *recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream)
{
    if (sendCount != recvCount || sendType != recvType) {
        return hccl_fail(HCCL_E_PARA, "HcclAlltoAll", "send and receive differ in count or type");
    }
    return copy("HcclAlltoAll", sendBuf, recvBuf, sendCount, sendType, comm, stream);
}

HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls,
                         HcclDataType sendType, const void *recvBuf, const void *recvCounts,
                         const void *rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream)
{
    static const char func[] = "HcclAlltoAllV";
    const uint64_t *send_count = sendCounts, *send_at = sdispls;
    const uint64_t *recv_count = recvCounts, *recv_at = rdispls;
    if (!send_count || !send_at || !recv_count || !recv_at) {
        return hccl_fail(HCCL_E_PTR, func, "counts or displacements are NULL");
    }
    if (*send_count != *recv_count || sendType != recvType) {
        return hccl_fail(HCCL_E_PARA, func, "rank 0 sends itself %llu and receives %llu elements",
                         (unsigned long long)*send_count, (unsigned long long)*recv_count);
    }
    size_t bytes = hccl_type_bytes(sendType);
    const char *from = sendBuf ? (const char *)sendBuf + *send_at * bytes : NULL;
    const char *to = recvBuf ? (const char *)recvBuf + *recv_at * bytes : NULL;
    return copy(func, from, to, *send_count, sendType, comm, stream);
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream)
{
    (void)stream;
    return check("HcclBarrier", comm, HCCL_DATA_TYPE_INT8);
}

// Nobody to send to: the only rank is the caller itself, which real devices refuse too.
static HcclResult refuse_peer(const char *func, HcclComm handle, uint32_t peer)
{
    const struct hccl_comm *comm = hccl_comm_find(handle);
    if (!comm) {
        return hccl_fail(HCCL_E_PTR, func, "%p is not a communicator", handle);
    }
    return hccl_fail(HCCL_E_PARA, func, "peer %u, and this is rank %u of %u", peer, comm->rank,
                     comm->ranks);
}

HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream)
{
    (void)sendBuf, (void)count, (void)dataType, (void)stream;
    return refuse_peer("HcclSend", comm, destRank);
}

HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream)
{
    (void)recvBuf, (void)count, (void)dataType, (void)stream;
    return refuse_peer("HcclRecv", comm, srcRank);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream)
{
    (void)stream;
    if (!sendRecvInfo || itemNum == 0) {
        return hccl_fail(HCCL_E_PTR, "HcclBatchSendRecv", "no items");
    }
    return refuse_peer("HcclBatchSendRecv", comm, sendRecvInfo[0].remoteRank);
}
