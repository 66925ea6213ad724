/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, sends and receives: translation of types and arguments. */
#include "cncl_internal.h"

// The same numbers on both sides.
_Static_assert((int)cnclSum == COLL_SUM && (int)cnclProd == COLL_PROD && (int)cnclMax == COLL_MAX &&
                   (int)cnclMin == COLL_MIN,
               "equal numbers");

static struct comm_type type_of(cnclDataType_t type)
{
    static const struct {
        cnclDataType_t value;
        struct comm_type type;
    } types[] = {
        {cnclFloat16, {cnclFloat16, 2, true, COLL_F16}},
        {cnclBfloat16, {cnclBfloat16, 2, true, COLL_BF16}},
        {cnclFloat32, {cnclFloat32, 4, true, COLL_F32}},
        {cnclInt8, {cnclInt8, 1, true, COLL_S8}},
        {cnclInt16, {cnclInt16, 2, true, COLL_S16}},
        {cnclInt32, {cnclInt32, 4, true, COLL_S32}},
        {cnclInt64, {cnclInt64, 8, true, COLL_S64}},
        {cnclUint8, {cnclUint8, 1, true, COLL_U8}},
        {cnclUint16, {cnclUint16, 2, true, COLL_U16}},
        {cnclUint32, {cnclUint32, 4, true, COLL_U32}},
        {cnclUint64, {cnclUint64, 8, true, COLL_U64}},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (types[i].value == type) {
            return types[i].type;
        }
    }
    return (struct comm_type){.number = (int)type};
}

static cnclResult_t call(const struct comm_call *call, cnclComm_t comm, cnrtQueue_t queue)
{
    return cncl_result(call->func, comm_call(call, comm, queue));
}

cnclResult_t cnclBcast(void *buffer, size_t count, cnclDataType_t data_type, int root,
                       cnclComm_t comm, cnrtQueue_t queue)
{
    return cnclBroadcast(buffer, buffer, count, data_type, root, comm, queue);
}

cnclResult_t cnclBroadcast(const void *send_buffer, void *recv_buffer, size_t count,
                           cnclDataType_t data_type, int root, cnclComm_t comm, cnrtQueue_t queue)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_BROADCAST,
                                    .send = send_buffer,
                                    .recv = recv_buffer,
                                    .count = count,
                                    .type = type_of(data_type),
                                    .reduction = COMM_NO_REDUCTION,
                                    .root = (uint32_t)root},
                comm, queue);
}

cnclResult_t cnclAllReduce(const void *send_buffer, void *recv_buffer, size_t count,
                           cnclDataType_t data_type, cnclReduceOp_t reduce_op, cnclComm_t comm,
                           cnrtQueue_t queue)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_ALL_REDUCE,
                                    .send = send_buffer,
                                    .recv = recv_buffer,
                                    .count = count,
                                    .type = type_of(data_type),
                                    .reduction = (int)reduce_op},
                comm, queue);
}

cnclResult_t cnclReduce(const void *send_buffer, void *recv_buffer, size_t count,
                        cnclDataType_t data_type, cnclReduceOp_t reduce_op, int root,
                        cnclComm_t comm, cnrtQueue_t queue)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_REDUCE,
                                    .send = send_buffer,
                                    .recv = recv_buffer,
                                    .count = count,
                                    .type = type_of(data_type),
                                    .reduction = (int)reduce_op,
                                    .root = (uint32_t)root},
                comm, queue);
}

cnclResult_t cnclAllGather(const void *send_buffer, void *recv_buffer, size_t count,
                           cnclDataType_t data_type, cnclComm_t comm, cnrtQueue_t queue)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_ALL_GATHER,
                                    .send = send_buffer,
                                    .recv = recv_buffer,
                                    .count = count,
                                    .type = type_of(data_type),
                                    .reduction = COMM_NO_REDUCTION},
                comm, queue);
}

cnclResult_t cnclReduceScatter(const void *send_buffer, void *recv_buffer, size_t count,
                               cnclDataType_t data_type, cnclReduceOp_t reduce_op, cnclComm_t comm,
                               cnrtQueue_t queue)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_REDUCE_SCATTER,
                                    .send = send_buffer,
                                    .recv = recv_buffer,
                                    .count = count,
                                    .type = type_of(data_type),
                                    .reduction = (int)reduce_op},
                comm, queue);
}

cnclResult_t cnclAlltoAll(const void *send_buffer, void *recv_buffer, size_t count,
                          cnclDataType_t data_type, cnclComm_t comm, cnrtQueue_t queue)
{
    return call(&(struct comm_call){.func = __func__,
                                    .kind = COLL_ALL_TO_ALL,
                                    .send = send_buffer,
                                    .recv = recv_buffer,
                                    .count = count,
                                    .type = type_of(data_type),
                                    .reduction = COMM_NO_REDUCTION},
                comm, queue);
}

static leo_status message(const char *func, bool is_send, void *buffer, size_t count,
                          cnclDataType_t type, uint32_t peer, const void *comm, cnrtQueue_t queue)
{
    const struct comm_message one = {is_send, peer, buffer, count, type_of(type), true};
    return comm_message(func, &one, comm, queue);
}

cnclResult_t cnclAlltoAllv(const void **send_buffers, uint32_t *send_counts,
                           cnclDataType_t *send_types, void **recv_buffers, uint32_t *recv_counts,
                           cnclDataType_t *recv_types, cnclComm_t comm, cnrtQueue_t queue)
{
    struct comm_info info;
    if (!send_buffers || !send_counts || !send_types || !recv_buffers || !recv_counts ||
        !recv_types) {
        return cncl_fail(CNCL_RET_ERR_ARGUMENTS, __func__, "a list is NULL");
    }
    leo_status status = comm_info(comm, &info);
    if (status != LEO_OK) {
        return cncl_result(__func__, status);
    }
    comm_gather_begin();
    for (uint32_t i = 0; i < info.ranks && status == LEO_OK; i++) {
        status = message(__func__, true, (void *)(uintptr_t)send_buffers[i], send_counts[i],
                         send_types[i], i, comm, queue);
        if (status == LEO_OK) {
            status = message(__func__, false, recv_buffers[i], recv_counts[i], recv_types[i], i,
                             comm, queue);
        }
    }
    leo_status ended = comm_gather_end(__func__);
    return cncl_result(__func__, status != LEO_OK ? status : ended);
}

cnclResult_t cnclSend(void *buffer, const size_t count, cnclDataType_t data_type, const int dest,
                      const cnclComm_t comm, cnrtQueue_t queue)
{
    return cncl_result(
        __func__, message(__func__, true, buffer, count, data_type, (uint32_t)dest, comm, queue));
}

cnclResult_t cnclRecv(void *buffer, const size_t count, cnclDataType_t data_type, const int source,
                      const cnclComm_t comm, cnrtQueue_t queue)
{
    return cncl_result(__func__, message(__func__, false, buffer, count, data_type,
                                         (uint32_t)source, comm, queue));
}

cnclResult_t cnclGroupStart(void)
{
    comm_gather_begin();
    return CNCL_RET_SUCCESS;
}

cnclResult_t cnclGroupEnd(void)
{
    return cncl_result(__func__, comm_gather_end(__func__));
}
