/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CNCL: collectives between MLU devices. Operations are put into a queue and return at once. Counts
 * are elements; those of AllGather, ReduceScatter and AlltoAll are per rank.
 */
#pragma once

#include <cnrt.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CNCL_FUNC_VISIBILITY __attribute__((visibility("default")))

#define CNCL_MAJOR_VERSION 1
#define CNCL_MINOR_VERSION 25
#define CNCL_PATCH_VERSION 0
#define CNCL_VERSION       (CNCL_MAJOR_VERSION * 10000 + CNCL_MINOR_VERSION * 100 + CNCL_PATCH_VERSION)

#define CNCL_CLIQUE_ID_BYTES_SIZE 128

/** The lower four bits name the family, the upper ones the member. */
typedef enum {
    CNCL_RET_SUCCESS = 0x00,
    CNCL_RET_ERR_INTERNAL = 0x01,
    CNCL_RET_ERR_UNSUPPORTED = 0x11,
    CNCL_RET_ERR_NULL_POINTER = 0x21,
    CNCL_RET_ERR_BUILD_RING = 0x31,
    CNCL_RET_ERR_BUILD_TREE = 0x41,
    CNCL_RET_ERR_INIT = 0x51,
    CNCL_RET_ERR_NOT_INIT = 0x61,
    CNCL_RET_ERR_REINIT = 0x71,
    CNCL_RET_ERR_NO_ALGO = 0x81,
    CNCL_RET_ERR_INVALID_VERSION = 0x91,
    CNCL_RET_ERR_SYSTEM = 0x02,
    CNCL_RET_ERR_SYS_MALLOC = 0x12,
    CNCL_RET_ERR_SYS_SOCKET = 0x22,
    CNCL_RET_ERR_SYS_IBV = 0x32,
    CNCL_RET_ERR_MLU_RUNTIME = 0x03,
    CNCL_RET_ERR_CNRT_DEVICE = 0x13,
    CNCL_RET_ERR_CNRT_MEMCOPY = 0x23,
    CNCL_RET_ERR_CNRT_MALLOC = 0x33,
    CNCL_RET_ERR_MLU_DEVICE = 0x04,
    CNCL_RET_ERR_CNDEV_NODE = 0x14,
    CNCL_RET_ERR_CNDEV_RELATIONSHIP = 0x24,
    CNCL_RET_ERR_MLU_INNETWORK_COMPUTE = 0x05,
    CNCL_RET_ERR_CNLINC_TASK = 0x15,
    CNCL_RET_ERR_CNLINC_WR = 0x25,
    CNCL_RET_ERR_CNLINC_KERNEL = 0x35,
    CNCL_RET_ASYNC_IN_PROGRESS = 0x06,
    CNCL_RET_ASYNC_ERROR = 0x16,
    CNCL_RET_ASYNC_UNKNOWN_ERROR = 0x26,
    CNCL_RET_ERR_ARGUMENTS = 0x07,
    CNCL_RET_ERR_MLU_ALLOCATE = 0x08,
    CNCL_RET_ERR_MLU_DEALLOCATE = 0x18,
    CNCL_RET_IB_RECV_NOTREADY = 0x09,
} cnclResult_t;

typedef enum {
    cnclInvalid = 0x00,
    cnclHalf = 0x10,
    cnclFloat16 = cnclHalf,
    cnclBfloat16 = 0x11,
    cnclFloat = 0x12,
    cnclFloat32 = cnclFloat,
    cnclInt8 = 0x20,
    cnclChar = cnclInt8,
    cnclInt16 = 0x21,
    cnclInt = 0x22,
    cnclInt32 = cnclInt,
    cnclInt64 = 0x23,
    cnclUint8 = 0x30,
    cnclUint16 = 0x31,
    cnclUint32 = 0x32,
    cnclUint64 = 0x33,
} cnclDataType_t;

typedef enum { cnclSum = 0, cnclProd = 1, cnclMax = 2, cnclMin = 3 } cnclReduceOp_t;

typedef enum {
    CNCL_PRIORITY_DEFAULT = 0x00,
    CNCL_PRIORITY_HIGH = 0x10,
    CNCL_PRIORITY_HIGH_FOR_ONCE = 0x11,
} cnclPriority_t;

typedef struct cnclComm *cnclComm_t;

struct cnclCliqueId {
    char data[CNCL_CLIQUE_ID_BYTES_SIZE];
    uint64_t hash;
};
typedef struct cnclCliqueId *cnclCliqueId_t;

struct cnclCommConfig {
    cnclPriority_t priority;
};
typedef struct cnclCommConfig *cnclCommConfig_t;

/* Communicators. */
/** Where a clique meets; its rank 0 must be in the process that calls this. */
CNCL_FUNC_VISIBILITY cnclResult_t cnclGetCliqueId(cnclCliqueId_t clique_id);
/** Some ranks of a clique, in this process, each on its device; blocks until all have come.
 * clique_id NULL: all ranks are in this process. */
CNCL_FUNC_VISIBILITY cnclResult_t cnclInitComms(cnclComm_t *comms, int num_comm,
                                                const int *dev_list, const int *rank_list,
                                                int nrank, const cnclCliqueId_t clique_id);
CNCL_FUNC_VISIBILITY cnclResult_t cnclDestroyComms(cnclComm_t *comms, int num_comm);
/** Finishes what was queued first. */
CNCL_FUNC_VISIBILITY cnclResult_t cnclFreeComm(cnclComm_t comm);
/** Gives up what was queued. */
CNCL_FUNC_VISIBILITY cnclResult_t cnclAbortComm(cnclComm_t comm);
/** Only CNCL_PRIORITY_DEFAULT: operations run in the order of their queues. */
CNCL_FUNC_VISIBILITY cnclResult_t cnclSetCommConfig(cnclComm_t comm, const cnclCommConfig_t config);
CNCL_FUNC_VISIBILITY cnclResult_t cnclGetCommCount(int *count, const cnclComm_t comm);
CNCL_FUNC_VISIBILITY cnclResult_t cnclGetCommRank(int *rank, const cnclComm_t comm);
CNCL_FUNC_VISIBILITY cnclResult_t cnclGetCommDevice(int *dev, const cnclComm_t comm);
/** CNCL_RET_ASYNC_IN_PROGRESS, CNCL_RET_ASYNC_ERROR if a queued operation failed, or success. */
CNCL_FUNC_VISIBILITY cnclResult_t cnclGetCommAsyncError(const cnclComm_t comm);

/* Collectives. */
CNCL_FUNC_VISIBILITY cnclResult_t cnclBcast(void *buffer, size_t count, cnclDataType_t data_type,
                                            int root, cnclComm_t comm, cnrtQueue_t queue);
CNCL_FUNC_VISIBILITY cnclResult_t cnclBroadcast(const void *send_buffer, void *recv_buffer,
                                                size_t count, cnclDataType_t data_type, int root,
                                                cnclComm_t comm, cnrtQueue_t queue);
CNCL_FUNC_VISIBILITY cnclResult_t cnclAllReduce(const void *send_buffer, void *recv_buffer,
                                                size_t count, cnclDataType_t data_type,
                                                cnclReduceOp_t reduce_op, cnclComm_t comm,
                                                cnrtQueue_t queue);
CNCL_FUNC_VISIBILITY cnclResult_t cnclReduce(const void *send_buffer, void *recv_buffer,
                                             size_t count, cnclDataType_t data_type,
                                             cnclReduceOp_t reduce_op, int root, cnclComm_t comm,
                                             cnrtQueue_t queue);
CNCL_FUNC_VISIBILITY cnclResult_t cnclAllGather(const void *send_buffer, void *recv_buffer,
                                                size_t count, cnclDataType_t data_type,
                                                cnclComm_t comm, cnrtQueue_t queue);
CNCL_FUNC_VISIBILITY cnclResult_t cnclReduceScatter(const void *send_buffer, void *recv_buffer,
                                                    size_t count, cnclDataType_t data_type,
                                                    cnclReduceOp_t reduce_op, cnclComm_t comm,
                                                    cnrtQueue_t queue);
CNCL_FUNC_VISIBILITY cnclResult_t cnclAlltoAll(const void *send_buffer, void *recv_buffer,
                                               size_t count, cnclDataType_t data_type,
                                               cnclComm_t comm, cnrtQueue_t queue);
/** Lists of one element a rank. */
CNCL_FUNC_VISIBILITY cnclResult_t cnclAlltoAllv(const void **send_buffers, uint32_t *send_counts,
                                                cnclDataType_t *send_types, void **recv_buffers,
                                                uint32_t *recv_counts, cnclDataType_t *recv_types,
                                                cnclComm_t comm, cnrtQueue_t queue);

/* Between two ranks; alone, or together between cnclGroupStart and cnclGroupEnd. */
CNCL_FUNC_VISIBILITY cnclResult_t cnclSend(void *buffer, const size_t count,
                                           cnclDataType_t data_type, const int dest,
                                           const cnclComm_t comm, cnrtQueue_t queue);
CNCL_FUNC_VISIBILITY cnclResult_t cnclRecv(void *buffer, const size_t count,
                                           cnclDataType_t data_type, const int source,
                                           const cnclComm_t comm, cnrtQueue_t queue);
CNCL_FUNC_VISIBILITY cnclResult_t cnclGroupStart(void);
CNCL_FUNC_VISIBILITY cnclResult_t cnclGroupEnd(void);

CNCL_FUNC_VISIBILITY const char *cnclGetErrorStr(cnclResult_t ret);
/** Ends the program with a message unless ret is CNCL_RET_SUCCESS. */
CNCL_FUNC_VISIBILITY void cnclCheck(cnclResult_t ret, const char *expression, const char *file,
                                    int line);
#define CNCL_CHECK(expression) cnclCheck((expression), #expression, __FILE__, __LINE__)
CNCL_FUNC_VISIBILITY cnclResult_t cnclGetLibVersion(int *major, int *minor, int *patch);

#ifdef __cplusplus
}
#endif
