/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HCCL: collectives between devices. Operations are queued on a stream and return at once. Counts
 * are elements; those of AllGather, ReduceScatter and AlltoAll are per rank.
 */
#pragma once

#include <acl/acl_base.h>
#include <hccl/hccl_types.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HCCL_FUNC_VISIBILITY __attribute__((visibility("default")))

HCCL_FUNC_VISIBILITY HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo);
HCCL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo,
                                                     uint32_t rank, HcclComm *comm);
HCCL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks,
                                                           const HcclRootInfo *rootInfo,
                                                           uint32_t rank,
                                                           const HcclCommConfig *config,
                                                           HcclComm *comm);
/** The ranks of a rank table, a JSON file with "server_list". */
HCCL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfo(const char *clusterInfo, uint32_t rank,
                                                        HcclComm *comm);
HCCL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfoConfig(const char *clusterInfo,
                                                              uint32_t rank, HcclCommConfig *config,
                                                              HcclComm *comm);
/** One rank for each device of this process; the calling thread's device stays. */
HCCL_FUNC_VISIBILITY HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms);
/** A group of some ranks of another. Who is not a member calls with rankIds NULL. */
HCCL_FUNC_VISIBILITY HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t rankNum,
                                                        uint32_t *rankIds, uint64_t subCommId,
                                                        uint32_t subCommRankId,
                                                        HcclCommConfig *config, HcclComm *subComm);
HCCL_FUNC_VISIBILITY HcclResult HcclCommDestroy(HcclComm comm);
HCCL_FUNC_VISIBILITY HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize);
HCCL_FUNC_VISIBILITY HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank);
/** `commName` has room for HCCL_COMM_NAME_MAX_LENGTH characters. */
HCCL_FUNC_VISIBILITY HcclResult HcclGetCommName(HcclComm comm, char *commName);
HCCL_FUNC_VISIBILITY HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError);
HCCL_FUNC_VISIBILITY const char *HcclGetErrorString(HcclResult code);

HCCL_FUNC_VISIBILITY HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
HCCL_FUNC_VISIBILITY HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue);
HCCL_FUNC_VISIBILITY uint32_t HcclGetCommConfigCapability(void);
HCCL_FUNC_VISIBILITY void HcclCommConfigInit(HcclCommConfig *config);

HCCL_FUNC_VISIBILITY HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count,
                                              HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                              aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count,
                                           HcclDataType dataType, HcclReduceOp op, uint32_t root,
                                           HcclComm comm, aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType,
                                              uint32_t root, HcclComm comm, aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                                                  HcclDataType dataType, HcclReduceOp op,
                                                  HcclComm comm, aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                                            HcclDataType dataType, uint32_t root, HcclComm comm,
                                            aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount,
                                              HcclDataType dataType, HcclComm comm,
                                              aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount,
                                             HcclDataType sendType, const void *recvBuf,
                                             uint64_t recvCount, HcclDataType recvType,
                                             HcclComm comm, aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts,
                                              const void *sdispls, HcclDataType sendType,
                                              const void *recvBuf, const void *recvCounts,
                                              const void *rdispls, HcclDataType recvType,
                                              HcclComm comm, aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType,
                                         uint32_t destRank, HcclComm comm, aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType,
                                         uint32_t srcRank, HcclComm comm, aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum,
                                                  HcclComm comm, aclrtStream stream);
/** `sendCountMatrix`: ranks x ranks, row r = what rank r sends; parts stand one after the other. */
HCCL_FUNC_VISIBILITY HcclResult HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix,
                                               HcclDataType sendType, const void *recvBuf,
                                               HcclDataType recvType, HcclComm comm,
                                               aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf,
                                               const void *recvCounts, const void *recvDispls,
                                               HcclDataType dataType, HcclComm comm,
                                               aclrtStream stream);
HCCL_FUNC_VISIBILITY HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts,
                                                   const void *sendDispls, void *recvBuf,
                                                   uint64_t recvCount, HcclDataType dataType,
                                                   HcclReduceOp op, HcclComm comm,
                                                   aclrtStream stream);
/** Exchanges without copies, in memory of one range of addresses: refused, ours always copy. */
HCCL_FUNC_VISIBILITY HcclResult HcclCommSetMemoryRange(HcclComm comm, void *baseVirPtr, size_t size,
                                                       size_t alignment, uint64_t flags);
HCCL_FUNC_VISIBILITY HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void *baseVirPtr);
HCCL_FUNC_VISIBILITY HcclResult HcclCommActivateCommMemory(HcclComm comm, void *virPtr, size_t size,
                                                           size_t offset, void *handle,
                                                           uint64_t flags);
HCCL_FUNC_VISIBILITY HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void *virPtr);
/** Another network card of a rank, and going on after a suspension: refused. */
HCCL_FUNC_VISIBILITY HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t *ranks,
                                                         bool *useBackup, uint32_t nRanks);
HCCL_FUNC_VISIBILITY HcclResult HcclCommResume(HcclComm comm);
/** Sends and receives of the calling thread between the two run together; groups may nest. */
HCCL_FUNC_VISIBILITY HcclResult HcclGroupStart(void);
HCCL_FUNC_VISIBILITY HcclResult HcclGroupEnd(void);

#ifdef __cplusplus
}
#endif
