/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators: how the ranks of a group meet, live and part. */
#include "hccl_internal.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ROOT_INFO_MAGIC[8] = "LEOROOT";

enum { ROOT_AT = sizeof(ROOT_INFO_MAGIC) };

/* A meeting place this process opened and whose rank 0 has not come yet. */
struct place {
    struct place *next;
    struct coll_root root;
    struct coll_meeting *meeting;
};

// Live communicators, so that a foreign or stale handle can be refused, and open meeting places:
// the API has no handle to keep them in (decision 8).
static struct {
    pthread_mutex_t lock;
    struct hccl_comm *first;
    struct place *places;
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

struct hccl_comm *hccl_comm_check(const char *func, HcclComm handle)
{
    struct hccl_comm *comm = hccl_comm_find(handle);
    if (!comm) {
        hccl_fail(HCCL_E_PTR, func, "%p is not a communicator", handle);
    }
    return comm;
}

/* ---- meeting places ---- */

static HcclResult open_place(const char *func, struct coll_root *root)
{
    struct place *place = leo_calloc(1, sizeof(*place));
    if (!place) {
        return hccl_fail(HCCL_E_OOM, func, "out of host memory");
    }
    const char *address = getenv("HCCL_IF_IP"), *interface = getenv("HCCL_SOCKET_IFNAME");
    leo_status status = coll_meeting_create(interface, address, &place->root, &place->meeting);
    if (status != LEO_OK) {
        leo_free(place);
        return hccl_fail(HCCL_E_NETWORK, func, "cannot listen on %s %s: %s",
                         address ? "address" : "interface",
                         address     ? address
                         : interface ? interface
                                     : "of this host",
                         leo_status_text(status));
    }
    *root = place->root;
    pthread_mutex_lock(&the_comms.lock);
    place->next = the_comms.places;
    the_comms.places = place;
    pthread_mutex_unlock(&the_comms.lock);
    return HCCL_SUCCESS;
}

/* Takes the meeting of a root from the list; NULL if this process did not open it. */
static struct coll_meeting *take_place(const struct coll_root *root)
{
    struct coll_meeting *meeting = NULL;
    pthread_mutex_lock(&the_comms.lock);
    for (struct place **at = &the_comms.places; *at; at = &(*at)->next) {
        struct place *place = *at;
        if (memcmp(&place->root, root, sizeof(*root)) == 0) {
            *at = place->next;
            meeting = place->meeting;
            leo_free(place);
            break;
        }
    }
    pthread_mutex_unlock(&the_comms.lock);
    return meeting;
}

HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo)
{
    struct coll_root root;
    if (!rootInfo) {
        return hccl_fail(HCCL_E_PTR, "HcclGetRootInfo", "rootInfo is NULL");
    }
    memset(rootInfo, 0, sizeof(*rootInfo));
    HcclResult result = open_place("HcclGetRootInfo", &root);
    if (result == HCCL_SUCCESS) {
        memcpy(rootInfo->internal, ROOT_INFO_MAGIC, sizeof(ROOT_INFO_MAGIC));
        memcpy(rootInfo->internal + ROOT_AT, &root, sizeof(root));
    }
    return result;
}

/* ---- communicators ---- */

/* Whether a field is there: a config counts as far as its size says. */
static bool has(const HcclCommConfig *config, size_t end)
{
    size_t size = 0;
    if (config) {
        memcpy(&size, config->reserved, sizeof(size));
    }
    return size >= end;
}

#define HAS(config, field) has(config, offsetof(HcclCommConfig, field) + sizeof((config)->field))

static void take_name(struct hccl_comm *comm, const char *name, const HcclCommConfig *config)
{
    const bool named = HAS(config, hcclCommName) && config->hcclCommName[0];
    snprintf(comm->name, sizeof(comm->name), "%.*s", (int)sizeof(comm->name) - 1,
             named ? config->hcclCommName : name);
}

/* Seconds from the environment. */
static unsigned seconds(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    char *end;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    return text && end != text && *end == '\0' && value <= 1000000 ? (unsigned)value : otherwise;
}

static unsigned exec_timeout_ms(const HcclCommConfig *config)
{
    // The documented default; 0 = wait for ever.
    unsigned value = seconds("HCCL_EXEC_TIMEOUT", 1836);
    if (HAS(config, hcclExecTimeOut) && config->hcclExecTimeOut >= 0) {
        value = (unsigned)config->hcclExecTimeOut;
    }
    return value * 1000;
}

static leo_status read_links(const struct leo_rt_device *device, struct coll_links *links)
{
    double cards = 1;
    const struct {
        const char *key;
        double *value;
    } keys[] = {
        {"board_cards", &cards},
        {"board_gb_per_s", &links->board_gb_per_s},
        {"board_latency_ns", &links->board_latency_ns},
        {"net_gb_per_s", &links->net_gb_per_s},
        {"net_latency_ns", &links->net_latency_ns},
        {"start_ns", &links->start_ns},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        leo_status status = leo_rt_soc_number(device, "link", keys[i].key, keys[i].value);
        if (status != LEO_OK) {
            return status;
        }
    }
    links->board_cards = (uint32_t)cards;
    return LEO_OK;
}

static void free_comm(struct hccl_comm *comm)
{
    leo_rt_host_worker_destroy(comm->worker);
    coll_wire_destroy(comm->wire);
    pthread_mutex_destroy(&comm->wire_lock);
    leo_free(comm);
}

/* What a group of several ranks needs. */
static HcclResult connect_comm(const char *func, struct hccl_comm *comm,
                               const struct hccl_group *group)
{
    char text[384];
    if (leo_acl_device_get(&comm->device)) {
        coll_meeting_destroy(group->meeting);
        return hccl_fail(HCCL_E_RUNTIME, func, "no device: call aclrtSetDevice first");
    }
    const struct coll_wire_opts opts = {
        .root = group->root,
        .meeting = group->meeting,
        .rank = comm->rank,
        .ranks = comm->ranks,
        .is_known = group->is_known,
        .timeout_ms = seconds("HCCL_CONNECT_TIMEOUT", 120) * 1000, // the documented default
    };
    leo_status status = coll_wire_create(&opts, &comm->wire, text, sizeof(text));
    if (status != LEO_OK) {
        return hccl_fail(status == LEO_ERR_TIMEOUT ? HCCL_E_TIMEOUT : HCCL_E_NETWORK, func,
                         "group %.60s, rank %u of %u: %s", comm->name, comm->rank, comm->ranks,
                         text);
    }
    status = leo_rt_host_worker_create(comm->device, &comm->worker);
    if (status == LEO_OK) {
        status = read_links(comm->device, &comm->links);
    }
    return status == LEO_OK ? HCCL_SUCCESS
                            : hccl_fail(HCCL_E_RUNTIME, func, "%s", leo_rt_last_error());
}

HcclResult hccl_comm_make(const char *func, const struct hccl_group *group,
                          const HcclCommConfig *config, HcclComm *out)
{
    if (leo_acl_check_build(LEO_BUILD, ROOT_INFO_MAGIC)) {
        coll_meeting_destroy(group->meeting);
        return HCCL_E_RUNTIME;
    }
    struct hccl_comm *comm = leo_calloc(1, sizeof(*comm));
    if (!comm) {
        coll_meeting_destroy(group->meeting);
        return hccl_fail(HCCL_E_OOM, func, "out of host memory");
    }
    comm->ranks = group->ranks;
    comm->rank = group->rank;
    comm->exec_timeout_ms = exec_timeout_ms(config);
    take_name(comm, group->name, config);
    pthread_mutex_init(&comm->wire_lock, NULL);
    HcclResult result = HCCL_SUCCESS;
    if (group->ranks > 1) {
        result = connect_comm(func, comm, group);
    } else {
        coll_meeting_destroy(group->meeting);
    }
    if (result != HCCL_SUCCESS) {
        free_comm(comm);
        return result;
    }
    pthread_mutex_lock(&the_comms.lock);
    comm->next = the_comms.first;
    the_comms.first = comm;
    pthread_mutex_unlock(&the_comms.lock);
    *out = comm;
    return HCCL_SUCCESS;
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                      const HcclCommConfig *config, HcclComm *comm)
{
    static const char func[] = "HcclCommInitRootInfo";
    struct coll_root root;
    char name[64];
    if (!rootInfo || !comm) {
        return hccl_fail(HCCL_E_PTR, func, "rootInfo or comm is NULL");
    }
    if (memcmp(rootInfo->internal, ROOT_INFO_MAGIC, sizeof(ROOT_INFO_MAGIC)) != 0) {
        return hccl_fail(HCCL_E_PARA, func, "rootInfo is not from HcclGetRootInfo");
    }
    if (nRanks == 0 || rank >= nRanks) {
        return hccl_fail(HCCL_E_PARA, func, "rank %u of %u", rank, nRanks);
    }
    memcpy(&root, rootInfo->internal + ROOT_AT, sizeof(root));
    const struct hccl_group group = {.root = root,
                                     .meeting = rank == 0 ? take_place(&root) : NULL,
                                     .ranks = nRanks,
                                     .rank = rank,
                                     .name = name};
    if (rank == 0 && !group.meeting && nRanks > 1) {
        return hccl_fail(HCCL_E_PARA, func,
                         "rank 0 must be the process that called HcclGetRootInfo, once a group");
    }
    coll_root_text(&root, name, sizeof(name));
    return hccl_comm_make(func, &group, config, comm);
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                HcclComm *comm)
{
    return HcclCommInitRootInfoConfig(nRanks, rootInfo, rank, NULL, comm);
}

/* ---- all devices of one process ---- */

struct member {
    struct hccl_group group;
    int32_t device;
    HcclComm comm;
    HcclResult result;
};

static void *join_group(void *arg)
{
    struct member *member = arg;
    member->result = HCCL_E_RUNTIME;
    if (aclrtSetDevice(member->device)) {
        coll_meeting_destroy(member->group.meeting);
        hccl_fail(HCCL_E_RUNTIME, "HcclCommInitAll", "device %d: %s", (int)member->device,
                  aclGetRecentErrMsg());
        return NULL;
    }
    member->result = hccl_comm_make("HcclCommInitAll", &member->group, NULL, &member->comm);
    return NULL;
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms)
{
    static const char func[] = "HcclCommInitAll";
    struct coll_root root;
    if (!devices || !comms || ndev == 0) {
        return hccl_fail(HCCL_E_PTR, func, "no devices, or a list is NULL");
    }
    struct member *members = leo_calloc(ndev, sizeof(*members));
    pthread_t *threads = leo_calloc(ndev, sizeof(*threads));
    HcclResult result = members && threads ? open_place(func, &root) : HCCL_E_OOM;
    uint32_t started = 0;
    // Each waits for all others: one thread a rank.
    for (; result == HCCL_SUCCESS && started < ndev; started++) {
        members[started] =
            (struct member){.group = {.root = root,
                                      .meeting = started == 0 ? take_place(&root) : NULL,
                                      .ranks = ndev,
                                      .rank = started,
                                      .name = "all devices"},
                            .device = devices[started]};
        if (pthread_create(&threads[started], NULL, join_group, &members[started])) {
            result = hccl_fail(HCCL_E_SYSCALL, func, "the system gives no thread");
            break;
        }
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        comms[i] = members[i].comm;
        result = result == HCCL_SUCCESS ? members[i].result : result;
    }
    for (uint32_t i = 0; result != HCCL_SUCCESS && i < started; i++) {
        if (comms[i]) {
            HcclCommDestroy(comms[i]);
            comms[i] = NULL;
        }
    }
    leo_free(members);
    leo_free(threads);
    return result;
}

/* ---- part of a group ---- */

/* The leader of the new group tells the others where it meets, through the old group. */
static leo_status share_root(struct hccl_comm *parent, const uint32_t *ranks, uint32_t count,
                             struct coll_root *root, char *text, size_t text_bytes)
{
    struct coll_message *messages = leo_calloc(count, sizeof(*messages));
    if (!messages) {
        return LEO_ERR_NO_MEMORY;
    }
    const bool leads = ranks[0] == parent->rank;
    unsigned used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (leads ? ranks[i] != parent->rank : i == 0) {
            messages[used++] = (struct coll_message){leads, ranks[i], COLL_U8, sizeof(*root), root};
        }
    }
    const struct coll_op op = {
        .kind = COLL_POINT_TO_POINT, .messages = messages, .message_count = used};
    struct coll_times times = {0};
    leo_rt_host_worker_drain(parent->worker);
    pthread_mutex_lock(&parent->wire_lock);
    leo_status status = coll_run(parent->wire, &op, seconds("HCCL_CONNECT_TIMEOUT", 120) * 1000,
                                 &times, text, text_bytes);
    pthread_mutex_unlock(&parent->wire_lock);
    leo_free(messages);
    return status;
}

HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t rankNum, uint32_t *rankIds,
                                   uint64_t subCommId, uint32_t subCommRankId,
                                   HcclCommConfig *config, HcclComm *subComm)
{
    static const char func[] = "HcclCreateSubCommConfig";
    if (!comm || !subComm) {
        return hccl_fail(HCCL_E_PTR, func, "comm or subComm is NULL");
    }
    *subComm = NULL;
    struct hccl_comm *parent = hccl_comm_check(func, *comm);
    if (!parent || !rankIds) {
        return parent ? HCCL_SUCCESS : HCCL_E_PTR; // not a member of the new group
    }
    if (subCommRankId >= rankNum || rankIds[subCommRankId] != parent->rank) {
        return hccl_fail(HCCL_E_PARA, func, "rank %u of the new group is not this one",
                         subCommRankId);
    }
    for (uint32_t i = 0; i < rankNum; i++) {
        if (rankIds[i] >= parent->ranks) {
            return hccl_fail(HCCL_E_PARA, func, "rank %u of %u", rankIds[i], parent->ranks);
        }
    }
    struct coll_root root = {0};
    char name[64], text[256];
    HcclResult result = subCommRankId == 0 ? open_place(func, &root) : HCCL_SUCCESS;
    if (result == HCCL_SUCCESS && rankNum > 1) {
        leo_status status = share_root(parent, rankIds, rankNum, &root, text, sizeof(text));
        if (status != LEO_OK) {
            result = hccl_fail(hccl_result(status), func, "%s", text);
        }
    }
    struct coll_meeting *meeting = subCommRankId == 0 ? take_place(&root) : NULL;
    if (result != HCCL_SUCCESS) {
        coll_meeting_destroy(meeting);
        return result;
    }
    snprintf(name, sizeof(name), "%.40s/%llu", parent->name, (unsigned long long)subCommId);
    const struct hccl_group group = {
        .root = root, .meeting = meeting, .ranks = rankNum, .rank = subCommRankId, .name = name};
    return hccl_comm_make(func, &group, config, subComm);
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
    free_comm(found);
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
    struct hccl_comm *found = hccl_comm_find(comm);
    if (!found || !asyncError) {
        return hccl_fail(HCCL_E_PTR, "HcclGetCommAsyncError",
                         "no communicator, or asyncError is NULL");
    }
    *asyncError = (HcclResult)atomic_load(&found->async_error);
    return HCCL_SUCCESS;
}
