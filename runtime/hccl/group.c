/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives, alone, as a batch, or gathered between HcclGroupStart and HcclGroupEnd. */
#include "hccl_internal.h"

#include <leo/alloc.h>

/* One message of a group and where it goes. */
struct member {
    struct hccl_comm *comm;
    aclrtStream stream;
    struct coll_message message;
    bool taken;
};

// The API has no handle for a group: it is the calling thread's (decision 8).
static _Thread_local struct {
    unsigned depth;
    struct member *members;
    size_t count, capacity;
} group;

static HcclResult make_message(const char *func, struct hccl_comm *comm, bool is_send, void *buf,
                               uint64_t count, HcclDataType type, uint32_t peer,
                               struct coll_message *message)
{
    const size_t unit = hccl_type_bytes(type);
    enum coll_type known = COLL_U8;
    if (peer >= comm->ranks || peer == comm->rank) {
        return hccl_fail(HCCL_E_PARA, func, "peer %u, and this is rank %u of %u", peer, comm->rank,
                         comm->ranks);
    }
    // Types that are only carried go as bytes.
    if (!hccl_type_get(type, &known)) {
        if (unit == 0 || count > UINT64_MAX / unit) {
            return hccl_fail(HCCL_E_NOT_SUPPORT, func, "data type %d", (int)type);
        }
        count *= unit;
    }
    if (count > SIZE_MAX / coll_type_bytes(known)) {
        return hccl_fail(HCCL_E_PARA, func, "count %llu", (unsigned long long)count);
    }
    const struct hccl_job job = {.comm = comm, .func = func};
    *message = (struct coll_message){is_send, peer, known, count, NULL};
    return hccl_buffer(&job, "buf", buf, count * coll_type_bytes(known), &message->data);
}

/* One job of messages; takes them. */
static HcclResult submit(const char *func, struct hccl_comm *comm, struct coll_message *messages,
                         unsigned count, aclrtStream stream)
{
    struct hccl_job *job = hccl_job_make(func, comm);
    if (!job) {
        leo_free(messages);
        return HCCL_E_OOM;
    }
    job->messages = messages;
    job->op =
        (struct coll_op){.kind = COLL_POINT_TO_POINT, .messages = messages, .message_count = count};
    for (unsigned i = 0; i < count; i++) {
        const uint64_t bytes = messages[i].count * coll_type_bytes(messages[i].type);
        job->bytes = bytes > job->bytes ? bytes : job->bytes;
    }
    return hccl_job_submit(job, stream);
}

HcclResult hccl_group_add(const char *func, struct hccl_comm *comm, bool is_send, void *buf,
                          uint64_t count, HcclDataType type, uint32_t peer, aclrtStream stream)
{
    struct coll_message message;
    HcclResult result = make_message(func, comm, is_send, buf, count, type, peer, &message);
    if (result != HCCL_SUCCESS) {
        return result;
    }
    if (group.depth == 0) {
        struct coll_message *alone = leo_alloc(sizeof(*alone));
        if (!alone) {
            return hccl_fail(HCCL_E_OOM, func, "out of host memory");
        }
        *alone = message;
        return submit(func, comm, alone, 1, stream);
    }
    if (group.count == group.capacity) {
        size_t capacity = group.capacity ? 2 * group.capacity : 16;
        struct member *members = leo_realloc(group.members, capacity * sizeof(*members));
        if (!members) {
            return hccl_fail(HCCL_E_OOM, func, "out of host memory");
        }
        group.members = members;
        group.capacity = capacity;
    }
    group.members[group.count++] = (struct member){comm, stream, message, false};
    return HCCL_SUCCESS;
}

/* All members of one communicator and stream, from `first` on, as one job. */
static HcclResult submit_alike(size_t first)
{
    const struct member *like = &group.members[first];
    struct coll_message *messages = leo_alloc((group.count - first) * sizeof(*messages));
    unsigned count = 0;
    if (!messages) {
        return hccl_fail(HCCL_E_OOM, "HcclGroupEnd", "out of host memory");
    }
    for (size_t i = first; i < group.count; i++) {
        struct member *member = &group.members[i];
        if (!member->taken && member->comm == like->comm && member->stream == like->stream) {
            member->taken = true;
            messages[count++] = member->message;
        }
    }
    return submit("HcclGroupEnd", like->comm, messages, count, like->stream);
}

HcclResult HcclGroupStart(void)
{
    group.depth++;
    return HCCL_SUCCESS;
}

HcclResult HcclGroupEnd(void)
{
    HcclResult result = HCCL_SUCCESS;
    if (group.depth == 0) {
        return hccl_fail(HCCL_E_PARA, "HcclGroupEnd", "without HcclGroupStart");
    }
    if (--group.depth > 0) {
        return HCCL_SUCCESS;
    }
    for (size_t i = 0; i < group.count && result == HCCL_SUCCESS; i++) {
        if (!group.members[i].taken) {
            result = submit_alike(i);
        }
    }
    leo_free(group.members);
    group.members = NULL;
    group.count = group.capacity = 0;
    return result;
}

HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream)
{
    struct hccl_comm *found = hccl_comm_check("HcclSend", comm);
    return found
               ? hccl_group_add("HcclSend", found, true, sendBuf, count, dataType, destRank, stream)
               : HCCL_E_PTR;
}

HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream)
{
    struct hccl_comm *found = hccl_comm_check("HcclRecv", comm);
    return found
               ? hccl_group_add("HcclRecv", found, false, recvBuf, count, dataType, srcRank, stream)
               : HCCL_E_PTR;
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream)
{
    static const char func[] = "HcclBatchSendRecv";
    struct hccl_comm *found = hccl_comm_check(func, comm);
    if (!found) {
        return HCCL_E_PTR;
    }
    if (!sendRecvInfo || itemNum == 0) {
        return hccl_fail(HCCL_E_PTR, func, "no items");
    }
    struct coll_message *messages = leo_calloc(itemNum, sizeof(*messages));
    if (!messages) {
        return hccl_fail(HCCL_E_OOM, func, "out of host memory");
    }
    for (uint32_t i = 0; i < itemNum; i++) {
        const HcclSendRecvItem *item = &sendRecvInfo[i];
        HcclResult result =
            make_message(func, found, item->sendRecvType == HCCL_SEND, item->buf, item->count,
                         item->dataType, item->remoteRank, &messages[i]);
        if (result != HCCL_SUCCESS) {
            leo_free(messages);
            return result;
        }
    }
    return submit(func, found, messages, itemNum, stream);
}
