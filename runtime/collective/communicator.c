/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators: how a rank comes to be one of a group, and how it parts. */
#include "communicator_internal.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Live communicators, so that a foreign or stale handle can be refused: the APIs have no handle to
// keep them in (decision 8).
static struct {
    pthread_mutex_t lock; // protects the list
    struct comm *first;
} the_comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct comm *comm_find(const void *handle)
{
    pthread_mutex_lock(&the_comms.lock);
    struct comm *comm = the_comms.first;
    while (comm && comm != handle) {
        comm = comm->next;
    }
    pthread_mutex_unlock(&the_comms.lock);
    if (!comm) {
        (void)!leo_rt_fail(COMM_BAD_POINTER, "%p is not a communicator", handle);
    }
    return comm;
}

struct comm *comm_find_named(const struct leo_rt_device *device, const char *name)
{
    pthread_mutex_lock(&the_comms.lock);
    struct comm *comm = the_comms.first;
    while (comm && (strcmp(comm->name, name) != 0 || (comm->device && comm->device != device))) {
        comm = comm->next;
    }
    pthread_mutex_unlock(&the_comms.lock);
    if (!comm) {
        (void)!leo_rt_fail(COMM_BAD_POINTER, "this device is in no group %.100s", name);
    }
    return comm;
}

leo_status comm_check(const void *handle)
{
    return comm_find(handle) ? LEO_OK : COMM_BAD_POINTER;
}

leo_status comm_info(const void *handle, struct comm_info *info)
{
    struct comm *comm = comm_find(handle);
    if (!comm) {
        return COMM_BAD_POINTER;
    }
    *info = (struct comm_info){
        .ranks = comm->ranks,
        .rank = comm->rank,
        .name = comm->name,
        .first_error = (leo_status)atomic_load(&comm->first_error),
        .is_busy = atomic_load(&comm->open) > 0,
        .device = comm->user_device,
    };
    return LEO_OK;
}

unsigned comm_seconds(const struct comm_seconds *setting)
{
    const char *text = setting->variable ? getenv(setting->variable) : NULL;
    char *end;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    return text && end != text && *end == '\0' && value <= 1000000 ? (unsigned)value
                                                                   : setting->otherwise;
}

static leo_status read_links(const struct leo_rt_device *device, struct coll_links *links)
{
    leo_status status = LEO_OK;
    for (size_t i = 0; i < COLL_LINK_KEYS && status == LEO_OK; i++) {
        status =
            leo_rt_soc_number(device, "link", coll_link_keys[i].key, coll_link_number(links, i));
    }
    return status;
}

static void free_comm(struct comm *comm)
{
    if (comm->server) {
        comm->server_destroy(comm->server);
    }
    leo_rt_host_worker_destroy(comm->worker);
    coll_wire_destroy(comm->wire);
    pthread_mutex_destroy(&comm->wire_lock);
    pthread_mutex_destroy(&comm->server_lock);
    leo_free(comm);
}

// What a group of several ranks needs. Takes the bootstrap.
static leo_status connect_comm(struct comm *comm, const struct comm_group *group)
{
    char text[384];
    const struct coll_wire_opts opts = {
        .root = group->root,
        .bootstrap = group->bootstrap,
        .rank = comm->rank,
        .ranks = comm->ranks,
        .is_known = group->is_known,
        .timeout_ms = comm_seconds(&comm_face.connect) * 1000,
    };
    leo_status status = coll_wire_create(&opts, &comm->wire, text, sizeof(text));
    if (status != LEO_OK) {
        return leo_rt_fail(status == LEO_ERR_TIMEOUT ? LEO_ERR_TIMEOUT : COMM_BAD_NETWORK,
                           "group %.60s, rank %u of %u: %s", comm->name, comm->rank, comm->ranks,
                           text);
    }
    status = leo_rt_host_worker_create(comm->device, &comm->worker);
    if (status == LEO_OK) {
        status = read_links(comm->device, &comm->links);
    }
    return status == LEO_OK ? LEO_OK : COMM_RUNTIME;
}

leo_status comm_make(const struct comm_group *group, void **out)
{
    struct comm *comm = leo_calloc(1, sizeof(*comm));
    if (!comm) {
        coll_bootstrap_destroy(group->bootstrap);
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    comm->ranks = group->ranks;
    comm->rank = group->rank;
    comm->execute_ms = 1000 * (group->execute_s >= 0 ? (unsigned)group->execute_s
                                                     : comm_seconds(&comm_face.execute));
    snprintf(comm->name, sizeof(comm->name), "%s", group->name);
    comm->user_device = group->user_device;
    pthread_mutex_init(&comm->wire_lock, NULL);
    pthread_mutex_init(&comm->server_lock, NULL);
    leo_status status = LEO_OK;
    if (group->ranks == 1) {
        coll_bootstrap_destroy(group->bootstrap); // it only copies, in streams that have a device
    } else if (comm_face.device_get(&comm->device) != LEO_OK) {
        coll_bootstrap_destroy(group->bootstrap);
        status = leo_rt_fail(COMM_RUNTIME, "no device: call %s first", comm_face.set_device);
    } else {
        status = connect_comm(comm, group);
    }
    if (status != LEO_OK) {
        free_comm(comm);
        return status;
    }
    pthread_mutex_lock(&the_comms.lock);
    comm->next = the_comms.first;
    the_comms.first = comm;
    pthread_mutex_unlock(&the_comms.lock);
    *out = comm;
    return LEO_OK;
}

leo_status comm_create(const struct comm_opts *opts, void **out)
{
    struct coll_root root;
    char place[64];
    if (opts->ranks == 0 || opts->rank >= opts->ranks) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "rank %u of %u", opts->rank, opts->ranks);
    }
    memcpy(&root, opts->root, sizeof(root));
    coll_root_text(&root, place, sizeof(place));
    const struct comm_group group = {.root = root,
                                     .bootstrap = opts->rank == 0 ? comm_place_take(&root) : NULL,
                                     .ranks = opts->ranks,
                                     .rank = opts->rank,
                                     .name = opts->name ? opts->name : place,
                                     .execute_s = opts->execute_s,
                                     .user_device = COMM_NO_DEVICE};
    if (opts->rank == 0 && !group.bootstrap && opts->ranks > 1) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "rank 0 must be the process that made the group's root, once a group");
    }
    return comm_make(&group, out);
}

static leo_status end_comm(void *handle, bool abort)
{
    pthread_mutex_lock(&the_comms.lock);
    struct comm **at = &the_comms.first;
    while (*at && *at != handle) {
        at = &(*at)->next;
    }
    struct comm *found = *at;
    if (found) {
        *at = found->next;
    }
    pthread_mutex_unlock(&the_comms.lock);
    if (!found) {
        return leo_rt_fail(COMM_BAD_POINTER, "%p is not a communicator", handle);
    }
    if (abort && found->wire) {
        coll_wire_interrupt(found->wire);
    }
    free_comm(found);
    return LEO_OK;
}

leo_status comm_destroy(void *handle)
{
    return end_comm(handle, false);
}

leo_status comm_abort(void *handle)
{
    return end_comm(handle, true);
}
