/* SPDX-License-Identifier: Apache-2.0 */
/* What CNCL is to the room of communicators; their life and what they tell. */
#include "cncl_internal.h"

#include <leo/cnrt_hook.h>
#include <string.h>

static const char CLIQUE_MAGIC[8] = "LEOCNCL";

enum { ROOT_AT = sizeof(CLIQUE_MAGIC), COMMS_MAX = 64 };

static void tell_failed(leo_status status, const char *func, const char *text)
{
    (void)status;
    cncl_fail(CNCL_RET_ASYNC_ERROR, func, text);
}

// The vendor's documents name no variables for where a clique meets or how long it may take: it
// meets on the first interface that is up, and an operation may take as long as the others do.
const struct comm_face comm_face = {
    .set_device = "cnrtSetDevice",
    .connect = {NULL, 120},  // as HCCL's; a rank that never comes must not hang the others
    .execute = {NULL, 3600}, // the default of torch_mlu's collectives
    .device_get = leo_cnrt_device_get,
    .device_set = leo_cnrt_device_set,
    .stream_get = leo_cnrt_stream_get,
    .failed = tell_failed,
};

static cnclResult_t null(const char *func)
{
    return cncl_fail(CNCL_RET_ERR_ARGUMENTS, func, "an argument is NULL");
}

// FNV-1a: ids are compared by it.
static uint64_t hash_of(const char *data, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ (uint8_t)data[i]) * 0x100000001b3u;
    }
    return hash;
}

cnclResult_t cnclGetCliqueId(cnclCliqueId_t clique_id)
{
    uint8_t root[COMM_ROOT_BYTES];
    if (!clique_id) {
        return null(__func__);
    }
    memset(clique_id, 0, sizeof(*clique_id));
    cnclResult_t result = cncl_result(__func__, comm_root_create(root));
    if (result == CNCL_RET_SUCCESS) {
        memcpy(clique_id->data, CLIQUE_MAGIC, sizeof(CLIQUE_MAGIC));
        memcpy(clique_id->data + ROOT_AT, root, sizeof(root));
        clique_id->hash = hash_of(clique_id->data, sizeof(clique_id->data));
    }
    return result;
}

cnclResult_t cnclInitComms(cnclComm_t *comms, int num_comm, const int *dev_list,
                           const int *rank_list, int nrank, const cnclCliqueId_t clique_id)
{
    struct comm_member members[COMMS_MAX];
    void *made[COMMS_MAX];
    uint8_t root[COMM_ROOT_BYTES];
    if (!comms || !dev_list || !rank_list) {
        return null(__func__);
    }
    if (num_comm < 1 || num_comm > COMMS_MAX || nrank < num_comm) {
        return cncl_fail(CNCL_RET_ERR_ARGUMENTS, __func__,
                         "num_comm must be 1 to 64 and not more than nrank");
    }
    if (clique_id && memcmp(clique_id->data, CLIQUE_MAGIC, sizeof(CLIQUE_MAGIC)) != 0) {
        return cncl_fail(CNCL_RET_ERR_ARGUMENTS, __func__, "clique_id is not of cnclGetCliqueId");
    }
    if (!clique_id && nrank != num_comm) {
        return cncl_fail(CNCL_RET_ERR_ARGUMENTS, __func__,
                         "without clique_id all ranks must be in this process");
    }
    for (int i = 0; i < num_comm; i++) {
        members[i] = (struct comm_member){dev_list[i], (uint32_t)rank_list[i]};
    }
    if (clique_id) {
        memcpy(root, clique_id->data + ROOT_AT, sizeof(root));
    }
    leo_status status = comm_create_all(clique_id ? root : NULL, (uint32_t)nrank, members,
                                        (uint32_t)num_comm, made);
    for (int i = 0; status == LEO_OK && i < num_comm; i++) {
        comms[i] = made[i];
    }
    return cncl_result(__func__, status);
}

cnclResult_t cnclDestroyComms(cnclComm_t *comms, int num_comm)
{
    cnclResult_t first = CNCL_RET_SUCCESS;
    if (!comms || num_comm < 1) {
        return comms ? cncl_fail(CNCL_RET_ERR_ARGUMENTS, __func__, "num_comm is less than 1")
                     : null(__func__);
    }
    for (int i = 0; i < num_comm; i++) {
        cnclResult_t result = cncl_result(__func__, comm_destroy(comms[i]));
        first = first == CNCL_RET_SUCCESS ? result : first;
    }
    return first;
}

cnclResult_t cnclFreeComm(cnclComm_t comm)
{
    return cncl_result(__func__, comm_destroy(comm));
}

cnclResult_t cnclAbortComm(cnclComm_t comm)
{
    return cncl_result(__func__, comm_abort(comm));
}

cnclResult_t cnclSetCommConfig(cnclComm_t comm, const cnclCommConfig_t config)
{
    if (!config) {
        return null(__func__);
    }
    cnclResult_t result = cncl_result(__func__, comm_check(comm));
    if (result != CNCL_RET_SUCCESS || config->priority == CNCL_PRIORITY_DEFAULT) {
        return result;
    }
    return config->priority == CNCL_PRIORITY_HIGH || config->priority == CNCL_PRIORITY_HIGH_FOR_ONCE
               ? cncl_fail(CNCL_RET_ERR_UNSUPPORTED, __func__,
                           "operations have no priority: they run in the order of their queues")
               : cncl_fail(CNCL_RET_ERR_ARGUMENTS, __func__, "no such priority");
}

// What a communicator tells, if there is somewhere to put it.
static cnclResult_t ask(const char *func, const void *comm, const void *out, struct comm_info *info)
{
    return out ? cncl_result(func, comm_info(comm, info)) : null(func);
}

cnclResult_t cnclGetCommCount(int *count, const cnclComm_t comm)
{
    struct comm_info info;
    cnclResult_t result = ask(__func__, comm, count, &info);
    if (result == CNCL_RET_SUCCESS) {
        *count = (int)info.ranks;
    }
    return result;
}

cnclResult_t cnclGetCommRank(int *rank, const cnclComm_t comm)
{
    struct comm_info info;
    cnclResult_t result = ask(__func__, comm, rank, &info);
    if (result == CNCL_RET_SUCCESS) {
        *rank = (int)info.rank;
    }
    return result;
}

cnclResult_t cnclGetCommDevice(int *dev, const cnclComm_t comm)
{
    struct comm_info info;
    cnclResult_t result = ask(__func__, comm, dev, &info);
    if (result == CNCL_RET_SUCCESS) {
        *dev = info.device;
    }
    return result;
}

cnclResult_t cnclGetCommAsyncError(const cnclComm_t comm)
{
    struct comm_info info;
    cnclResult_t result = ask(__func__, comm, &info, &info);
    if (result != CNCL_RET_SUCCESS) {
        return result;
    }
    return info.first_error != LEO_OK ? CNCL_RET_ASYNC_ERROR
           : info.is_busy             ? CNCL_RET_ASYNC_IN_PROGRESS
                                      : CNCL_RET_SUCCESS;
}

cnclResult_t cnclGetLibVersion(int *major, int *minor, int *patch)
{
    if (!major || !minor || !patch) {
        return null(__func__);
    }
    *major = CNCL_MAJOR_VERSION;
    *minor = CNCL_MINOR_VERSION;
    *patch = CNCL_PATCH_VERSION;
    return CNCL_RET_SUCCESS;
}
