/* SPDX-License-Identifier: Apache-2.0 */
/* What HCCL is to the room of communicators; their life and what they tell. */
#include "hccl_internal.h"

#include <leo/acl_hook.h>
#include <stdio.h>
#include <string.h>

static const char ROOT_INFO_MAGIC[8] = "LEOROOT";

enum { ROOT_AT = sizeof(ROOT_INFO_MAGIC), DEVICES_MAX = 64 };

static leo_status get_device(struct leo_rt_device **device)
{
    return leo_acl_device_get(device) ? LEO_ERR_STATE : LEO_OK;
}

static leo_status set_device(int32_t id)
{
    return aclrtSetDevice(id) ? LEO_ERR_NO_DEVICE : LEO_OK;
}

static leo_status get_stream(const void *handle, struct leo_rt_stream **stream)
{
    struct leo_rt_device *device;
    return leo_acl_stream_get((aclrtStream)(uintptr_t)handle, stream, &device) ? LEO_ERR_INVALID_ARG
                                                                               : LEO_OK;
}

static void tell_failed(leo_status status, const char *func, const char *text)
{
    hccl_fail(hccl_code(status), func, "%s", text);
}

static struct comm_type get_type(uint32_t number)
{
    return hccl_type((HcclDataType)number);
}

const struct comm_face comm_face = {
    .set_device = "aclrtSetDevice",
    .interface_variable = "HCCL_SOCKET_IFNAME",
    .address_variable = "HCCL_IF_IP",
    .connect = {"HCCL_CONNECT_TIMEOUT", 120}, // the documented default
    .execute = {"HCCL_EXEC_TIMEOUT", 1836},   // the documented default
    .device_get = get_device,
    .device_set = set_device,
    .stream_get = get_stream,
    .type_get = get_type,
    .failed = tell_failed,
};

// Operators that compute and exchange find their groups here, if this library is loaded.
__attribute__((constructor)) static void offer_exchanges(void)
{
    comm_offer_exchanges();
}

static HcclResult check_build(void)
{
    return leo_acl_check_build(LEO_BUILD, ROOT_INFO_MAGIC) ? HCCL_E_RUNTIME : HCCL_SUCCESS;
}

HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo)
{
    uint8_t root[COMM_ROOT_BYTES];
    if (!rootInfo) {
        return hccl_fail(HCCL_E_PTR, __func__, "rootInfo is NULL");
    }
    memset(rootInfo, 0, sizeof(*rootInfo));
    HcclResult result = hccl_result(__func__, comm_root_create(root));
    if (result == HCCL_SUCCESS) {
        memcpy(rootInfo->internal, ROOT_INFO_MAGIC, sizeof(ROOT_INFO_MAGIC));
        memcpy(rootInfo->internal + ROOT_AT, root, sizeof(root));
    }
    return result;
}

/* ---- communicators ---- */

// Whether a field is there: a config counts as far as its size says.
static bool has(const HcclCommConfig *config, size_t end)
{
    size_t size = 0;
    if (config) {
        memcpy(&size, config->reserved, sizeof(size));
    }
    return size >= end;
}

#define HAS(config, field) has(config, offsetof(HcclCommConfig, field) + sizeof((config)->field))

struct options {
    struct comm_opts comm;
    char name[COMM_NAME_BYTES];
};

static void read_config(const HcclCommConfig *config, struct options *options)
{
    *options = (struct options){.comm = {.execute_s = -1}};
    if (HAS(config, hcclCommName) && config->hcclCommName[0]) {
        snprintf(options->name, sizeof(options->name), "%.*s", COMM_NAME_BYTES - 1,
                 config->hcclCommName);
        options->comm.name = options->name;
    }
    if (HAS(config, hcclExecTimeOut) && config->hcclExecTimeOut >= 0) {
        options->comm.execute_s = config->hcclExecTimeOut;
    }
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                      const HcclCommConfig *config, HcclComm *comm)
{
    static const char func[] = "HcclCommInitRootInfo";
    uint8_t root[COMM_ROOT_BYTES];
    struct options options;
    if (!rootInfo || !comm) {
        return hccl_fail(HCCL_E_PTR, func, "rootInfo or comm is NULL");
    }
    if (memcmp(rootInfo->internal, ROOT_INFO_MAGIC, sizeof(ROOT_INFO_MAGIC)) != 0) {
        return hccl_fail(HCCL_E_PARA, func, "rootInfo is not from HcclGetRootInfo");
    }
    HcclResult result = check_build();
    if (result != HCCL_SUCCESS) {
        return result;
    }
    memcpy(root, rootInfo->internal + ROOT_AT, sizeof(root));
    read_config(config, &options);
    options.comm.ranks = nRanks;
    options.comm.rank = rank;
    options.comm.root = root;
    return hccl_result(func, comm_create(&options.comm, comm));
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                HcclComm *comm)
{
    return HcclCommInitRootInfoConfig(nRanks, rootInfo, rank, NULL, comm);
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms)
{
    struct comm_member members[DEVICES_MAX];
    if (!devices || !comms || ndev == 0) {
        return hccl_fail(HCCL_E_PTR, __func__, "no devices, or a list is NULL");
    }
    if (ndev > DEVICES_MAX) {
        return hccl_fail(HCCL_E_PARA, __func__, "%u devices; at most %d can be", ndev, DEVICES_MAX);
    }
    for (uint32_t i = 0; i < ndev; i++) {
        members[i] = (struct comm_member){devices[i], i};
    }
    HcclResult result = check_build();
    return result != HCCL_SUCCESS
               ? result
               : hccl_result(__func__, comm_create_all(NULL, ndev, members, ndev, comms));
}

HcclResult HcclCommInitClusterInfoConfig(const char *clusterInfo, uint32_t rank,
                                         HcclCommConfig *config, HcclComm *comm)
{
    static const char func[] = "HcclCommInitClusterInfo";
    struct options options;
    if (!clusterInfo || !comm) {
        return hccl_fail(HCCL_E_PTR, func, "clusterInfo or comm is NULL");
    }
    HcclResult result = check_build();
    if (result != HCCL_SUCCESS) {
        return result;
    }
    read_config(config, &options);
    return hccl_result(
        func, comm_create_listed(clusterInfo, "HCCL_IF_BASE_PORT", rank, &options.comm, comm));
}

HcclResult HcclCommInitClusterInfo(const char *clusterInfo, uint32_t rank, HcclComm *comm)
{
    return HcclCommInitClusterInfoConfig(clusterInfo, rank, NULL, comm);
}

HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t rankNum, uint32_t *rankIds,
                                   uint64_t subCommId, uint32_t subCommRankId,
                                   HcclCommConfig *config, HcclComm *subComm)
{
    struct options options;
    if (!comm || !subComm) {
        return hccl_fail(HCCL_E_PTR, __func__, "comm or subComm is NULL");
    }
    *subComm = NULL;
    leo_status status = comm_check(*comm);
    if (status != LEO_OK || !rankIds) { // NULL: not a member of the new group
        return hccl_result(__func__, status);
    }
    read_config(config, &options);
    return hccl_result(__func__, comm_split(*comm, rankIds, rankNum, subCommRankId, subCommId,
                                            &options.comm, subComm));
}

HcclResult HcclCommDestroy(HcclComm comm)
{
    return hccl_result(__func__, comm_destroy(comm));
}

// What a communicator tells, if there is somewhere to put it.
static HcclResult ask(const char *func, HcclComm comm, const void *out, struct comm_info *info)
{
    return out ? hccl_result(func, comm_info(comm, info))
               : hccl_fail(HCCL_E_PTR, func, "the place for the answer is NULL");
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize)
{
    struct comm_info info;
    HcclResult result = ask(__func__, comm, rankSize, &info);
    if (result == HCCL_SUCCESS) {
        *rankSize = info.ranks;
    }
    return result;
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank)
{
    struct comm_info info;
    HcclResult result = ask(__func__, comm, rank, &info);
    if (result == HCCL_SUCCESS) {
        *rank = info.rank;
    }
    return result;
}

HcclResult HcclGetCommName(HcclComm comm, char *commName)
{
    struct comm_info info;
    HcclResult result = ask(__func__, comm, commName, &info);
    if (result == HCCL_SUCCESS) {
        snprintf(commName, HCCL_COMM_NAME_MAX_LENGTH, "%s", info.name);
    }
    return result;
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError)
{
    struct comm_info info;
    HcclResult result = ask(__func__, comm, asyncError, &info);
    if (result == HCCL_SUCCESS) {
        *asyncError = hccl_code(info.first_error);
    }
    return result;
}
