/* SPDX-License-Identifier: Apache-2.0 */
/* Groups made otherwise than rank by rank: several ranks of a process, part of another group. */
#include "communicator_internal.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

/* ---- several ranks of this process ---- */

struct join {
    struct comm_group group;
    pthread_t thread;
    void *comm;
    leo_status status;
    char text[384];
};

static void *run_join(void *arg)
{
    struct join *join = arg;
    join->status = comm_face.device_set(join->group.user_device);
    if (join->status != LEO_OK) {
        coll_bootstrap_destroy(join->group.bootstrap);
        snprintf(join->text, sizeof(join->text), "device %d: %s", (int)join->group.user_device,
                 leo_rt_last_error());
        join->status = COMM_RUNTIME;
        return NULL;
    }
    join->status = comm_make(&join->group, &join->comm);
    snprintf(join->text, sizeof(join->text), "%s", leo_rt_last_error());
    return NULL;
}

// Each waits for all others: one thread a rank.
static leo_status run_joins(struct join *joins, uint32_t count, void **out)
{
    leo_status status = LEO_OK;
    uint32_t started = 0;
    while (started < count &&
           !pthread_create(&joins[started].thread, NULL, run_join, &joins[started])) {
        started++;
    }
    if (started < count) {
        coll_bootstrap_destroy(joins[started].group.bootstrap);
        status = leo_rt_fail(COMM_NO_THREAD, "the system gives no thread for rank %u",
                             joins[started].group.rank);
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(joins[i].thread, NULL);
        if (status == LEO_OK && joins[i].status != LEO_OK) {
            status = leo_rt_fail(joins[i].status, "%s", joins[i].text);
        }
    }
    for (uint32_t i = 0; i < started; i++) {
        out[i] = joins[i].comm;
        if (status != LEO_OK && out[i]) {
            (void)!comm_destroy(out[i]);
            out[i] = NULL;
        }
    }
    return status;
}

static leo_status check_members(const struct comm_member *members, uint32_t count, uint32_t ranks)
{
    for (uint32_t i = 0; i < count; i++) {
        if (members[i].rank >= ranks) {
            return leo_rt_fail(LEO_ERR_INVALID_ARG, "rank %u of %u", members[i].rank, ranks);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (members[i].rank == members[j].rank) {
                return leo_rt_fail(LEO_ERR_INVALID_ARG, "rank %u is named twice", members[i].rank);
            }
        }
    }
    return LEO_OK;
}

leo_status comm_create_all(const uint8_t *bytes, uint32_t ranks, const struct comm_member *members,
                           uint32_t count, void **out)
{
    struct coll_root root;
    char place[64];
    leo_status status = check_members(members, count, ranks);
    if (status == LEO_OK && !bytes) {
        status = comm_place_open(&root);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (bytes) {
        memcpy(&root, bytes, sizeof(root));
    }
    coll_root_text(&root, place, sizeof(place));
    struct join *joins = leo_calloc(count, sizeof(*joins));
    if (!joins) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool leads = members[i].rank == 0;
        joins[i].group = (struct comm_group){.root = root,
                                             .bootstrap = leads ? comm_place_take(&root) : NULL,
                                             .ranks = ranks,
                                             .rank = members[i].rank,
                                             .name = place,
                                             .execute_s = -1,
                                             .user_device = members[i].device};
        if (leads && !joins[i].group.bootstrap) {
            status = leo_rt_fail(LEO_ERR_INVALID_ARG, "rank 0 must be in the process that made the "
                                                      "group's root, once a group");
        }
    }
    if (status == LEO_OK) {
        status = run_joins(joins, count, out);
    }
    leo_free(joins);
    return status;
}

/* ---- part of a group ---- */

// The leader of the new group tells the others where it meets, through the old group.
static leo_status share_root(struct comm *parent, const uint32_t *ranks, uint32_t count,
                             struct coll_root *root)
{
    char text[256];
    struct coll_message *messages = leo_calloc(count, sizeof(*messages));
    if (!messages) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
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
    leo_status status = coll_run(parent->wire, &op, comm_seconds(&comm_face.connect) * 1000, &times,
                                 text, sizeof(text));
    pthread_mutex_unlock(&parent->wire_lock);
    leo_free(messages);
    return status == LEO_OK ? LEO_OK : leo_rt_fail(status, "%s", text);
}

leo_status comm_split(const void *handle, const uint32_t *ranks, uint32_t count, uint32_t index,
                      uint64_t id, const struct comm_opts *opts, void **out)
{
    struct comm *parent = comm_find(handle);
    struct coll_root root = {0};
    char name[64];
    if (!parent) {
        return COMM_BAD_POINTER;
    }
    if (index >= count || ranks[index] != parent->rank) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "rank %u of the new group is not this one", index);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ranks[i] >= parent->ranks) {
            return leo_rt_fail(LEO_ERR_INVALID_ARG, "rank %u of %u", ranks[i], parent->ranks);
        }
    }
    leo_status status = index == 0 ? comm_place_open(&root) : LEO_OK;
    if (status == LEO_OK && count > 1) {
        status = share_root(parent, ranks, count, &root);
    }
    struct coll_bootstrap *bootstrap = index == 0 ? comm_place_take(&root) : NULL;
    if (status != LEO_OK) {
        coll_bootstrap_destroy(bootstrap);
        return status;
    }
    snprintf(name, sizeof(name), "%.40s/%llu", parent->name, (unsigned long long)id);
    const struct comm_group group = {.root = root,
                                     .bootstrap = bootstrap,
                                     .ranks = count,
                                     .rank = index,
                                     .name = opts->name ? opts->name : name,
                                     .execute_s = opts->execute_s,
                                     .user_device = parent->user_device};
    return comm_make(&group, out);
}
