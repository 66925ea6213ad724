/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives, alone, as a batch, or gathered between HcclGroupStart and HcclGroupEnd. */
#include "hccl_internal.h"

HcclResult HcclGroupStart(void)
{
    comm_gather_begin();
    return HCCL_SUCCESS;
}

HcclResult HcclGroupEnd(void)
{
    return hccl_result(__func__, comm_gather_end(__func__));
}

HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream)
{
    const struct comm_message message = {true, destRank, sendBuf, count, hccl_type(dataType),
                                         false};
    return hccl_result(__func__, comm_message(__func__, &message, comm, stream));
}

HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream)
{
    const struct comm_message message = {false, srcRank, recvBuf, count, hccl_type(dataType),
                                         false};
    return hccl_result(__func__, comm_message(__func__, &message, comm, stream));
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream)
{
    leo_status status = comm_check(comm);
    if (status == LEO_OK && (!sendRecvInfo || itemNum == 0)) {
        return hccl_fail(HCCL_E_PTR, __func__, "no items");
    }
    comm_gather_begin();
    for (uint32_t i = 0; i < itemNum && status == LEO_OK; i++) {
        const HcclSendRecvItem *item = &sendRecvInfo[i];
        const struct comm_message message = {.is_send = item->sendRecvType == HCCL_SEND,
                                             .peer = item->remoteRank,
                                             .buf = item->buf,
                                             .count = item->count,
                                             .type = hccl_type(item->dataType)};
        status = comm_message(__func__, &message, comm, stream);
    }
    leo_status ended = comm_gather_end(__func__);
    return hccl_result(__func__, status != LEO_OK ? status : ended);
}
