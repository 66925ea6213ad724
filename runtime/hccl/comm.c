/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators. So far of one rank: a larger one is refused. */
#include "hccl_internal.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char ROOT_INFO_MAGIC[8] = "LEOROOT";

// Live communicators, so that a foreign or stale handle can be refused (decision 8).
static struct {
    pthread_mutex_t lock;
    struct hccl_comm *first;
} the_comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct hccl_comm *hccl_comm_find(HcclComm handle)
{
    pthread_mutex_lock(&the_comms.lock);
    struct hccl_comm *comm = the_comms.first;
    while (comm && comm != handle) {
        comm = comm->next;
    }
    pthread_mutex_unlock(&the_comms.lock);
    return comm;
}

HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo)
{
    struct timespec now;
    if (!rootInfo) {
        return hccl_fail(HCCL_E_PTR, "HcclGetRootInfo", "rootInfo is NULL");
    }
    memset(rootInfo, 0, sizeof(*rootInfo));
    memcpy(rootInfo->internal, ROOT_INFO_MAGIC, sizeof(ROOT_INFO_MAGIC));
    // Names the group: process and time make it one of a kind on this host.
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(rootInfo->internal + sizeof(ROOT_INFO_MAGIC), 64, "%ld-%lld-%ld", (long)getpid(),
             (long long)now.tv_sec, now.tv_nsec);
    return HCCL_SUCCESS;
}

// A config counts as far as its size says; only set fields of it are valid.
static void take_name(struct hccl_comm *comm, const HcclRootInfo *root,
                      const HcclCommConfig *config)
{
    size_t size = 0;
    if (config) {
        memcpy(&size, config->reserved, sizeof(size));
    }
    bool named = size >= offsetof(HcclCommConfig, hcclCommName) + sizeof(config->hcclCommName);
    snprintf(comm->name, sizeof(comm->name), "%.*s", (int)sizeof(comm->name) - 1,
             named && config->hcclCommName[0] ? config->hcclCommName
                                              : root->internal + sizeof(ROOT_INFO_MAGIC));
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                      const HcclCommConfig *config, HcclComm *comm)
{
    static const char func[] = "HcclCommInitRootInfo";
    if (!rootInfo || !comm) {
        return hccl_fail(HCCL_E_PTR, func, "rootInfo or comm is NULL");
    }
    if (memcmp(rootInfo->internal, ROOT_INFO_MAGIC, sizeof(ROOT_INFO_MAGIC)) != 0) {
        return hccl_fail(HCCL_E_PARA, func, "rootInfo is not from HcclGetRootInfo");
    }
    if (nRanks == 0 || rank >= nRanks) {
        return hccl_fail(HCCL_E_PARA, func, "rank %u of %u", rank, nRanks);
    }
    if (nRanks > 1) {
        return hccl_fail(HCCL_E_NOT_SUPPORT, func,
                         "%u ranks: communicators have one rank in this version", nRanks);
    }
    struct hccl_comm *made = calloc(1, sizeof(*made));
    if (!made) {
        return hccl_fail(HCCL_E_OOM, func, "out of host memory");
    }
    made->ranks = nRanks;
    made->rank = rank;
    take_name(made, rootInfo, config);
    pthread_mutex_lock(&the_comms.lock);
    made->next = the_comms.first;
    the_comms.first = made;
    pthread_mutex_unlock(&the_comms.lock);
    *comm = made;
    return HCCL_SUCCESS;
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                HcclComm *comm)
{
    return HcclCommInitRootInfoConfig(nRanks, rootInfo, rank, NULL, comm);
}

HcclResult HcclCommDestroy(HcclComm comm)
{
    pthread_mutex_lock(&the_comms.lock);
    struct hccl_comm **at = &the_comms.first;
    while (*at && *at != comm) {
        at = &(*at)->next;
    }
    struct hccl_comm *found = *at;
    if (found) {
        *at = found->next;
    }
    pthread_mutex_unlock(&the_comms.lock);
    if (!found) {
        return hccl_fail(HCCL_E_PTR, "HcclCommDestroy", "%p is not a communicator", comm);
    }
    free(found);
    return HCCL_SUCCESS;
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize)
{
    const struct hccl_comm *found = hccl_comm_find(comm);
    if (!found || !rankSize) {
        return hccl_fail(HCCL_E_PTR, "HcclGetRankSize", "no communicator, or rankSize is NULL");
    }
    *rankSize = found->ranks;
    return HCCL_SUCCESS;
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank)
{
    const struct hccl_comm *found = hccl_comm_find(comm);
    if (!found || !rank) {
        return hccl_fail(HCCL_E_PTR, "HcclGetRankId", "no communicator, or rank is NULL");
    }
    *rank = found->rank;
    return HCCL_SUCCESS;
}

HcclResult HcclGetCommName(HcclComm comm, char *commName)
{
    const struct hccl_comm *found = hccl_comm_find(comm);
    if (!found || !commName) {
        return hccl_fail(HCCL_E_PTR, "HcclGetCommName", "no communicator, or commName is NULL");
    }
    memcpy(commName, found->name, sizeof(found->name));
    return HCCL_SUCCESS;
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError)
{
    if (!hccl_comm_find(comm) || !asyncError) {
        return hccl_fail(HCCL_E_PTR, "HcclGetCommAsyncError",
                         "no communicator, or asyncError is NULL");
    }
    // Errors of the copies behind the operations surface when their stream is synchronized.
    *asyncError = HCCL_SUCCESS;
    return HCCL_SUCCESS;
}
