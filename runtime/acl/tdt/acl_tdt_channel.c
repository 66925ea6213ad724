/* SPDX-License-Identifier: Apache-2.0 */
/* Channels of data: queues of sets by name, with a limit. */
#include "acl_tdt.h"

#include "../../api_common/stream/work.h"
#include "../acl_internal.h"

#include <errno.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

// Of acltdtCreateChannel, which has no number for it: our choice.
enum { CAPACITY = 16, CAPACITY_MIN = 2, CAPACITY_MAX = 8192 };

struct acltdtChannelHandle {
    struct acltdtChannelHandle *next;
    char name[ACL_TDT_NAME_BYTES];
    acltdtDataset **sets; /**< a ring of `capacity` places */
    size_t capacity, first, count;
    bool is_open; /**< false: only InitData has named it so far */
    bool is_stopped;
};

static struct acl_tdt_channels *channels(void)
{
    return &acl_process()->channels;
}

// The link to a channel, to the list's end if there is none. Caller holds the lock.
static acltdtChannelHandle **find(const acltdtChannelHandle *handle, const char *name)
{
    acltdtChannelHandle **at = &channels()->first;
    while (*at && *at != handle && !(name && strcmp((*at)->name, name) == 0)) {
        at = &(*at)->next;
    }
    return at;
}

// Finds a channel or adds one that is not open. NULL: out of memory. Caller holds the lock.
static acltdtChannelHandle *name_channel(const char *name)
{
    acltdtChannelHandle **at = find(NULL, name);
    if (!*at && (*at = leo_calloc(1, sizeof(**at))) != NULL) {
        memcpy((*at)->name, name, strlen(name) + 1);
    }
    return *at;
}

// Gives a channel its room; NULL: there was no memory for it. Caller holds the lock.
static aclError open_channel(const char *func, acltdtChannelHandle *channel, size_t capacity)
{
    if (channel && channel->is_open) {
        return acl_fail(ACL_ERROR_REPEAT_INITIALIZE, func,
                        "there is a channel %s: destroy it first, or take another name",
                        channel->name);
    }
    acltdtDataset **sets = channel ? leo_calloc(capacity, sizeof(acltdtDataset *)) : NULL;
    if (!sets) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    channel->sets = sets;
    channel->capacity = capacity;
    channel->is_open = true;
    pthread_cond_broadcast(&channels()->changed);
    return ACL_SUCCESS;
}

static void free_channel(acltdtChannelHandle *channel)
{
    if (channel) {
        leo_free(channel->sets);
    }
    leo_free(channel);
}

static acltdtChannelHandle *create(const char *func, uint32_t device, const char *name,
                                   size_t capacity)
{
    uint32_t devices = 0;
    if (!name || !name[0] || strlen(name) >= ACL_TDT_NAME_BYTES ||
        aclrtGetDeviceCount(&devices) != ACL_SUCCESS || device >= devices ||
        capacity < CAPACITY_MIN || capacity > CAPACITY_MAX) {
        acl_fail(ACL_ERROR_INVALID_PARAM, func,
                 "a channel needs a name of 1 to %d characters, one of %u devices and a capacity "
                 "of %d to %d",
                 ACL_TDT_NAME_BYTES - 1, devices, CAPACITY_MIN, CAPACITY_MAX);
        return NULL;
    }
    pthread_mutex_lock(&channels()->lock);
    acltdtChannelHandle *channel = name_channel(name);
    const bool opened = open_channel(func, channel, capacity) == ACL_SUCCESS;
    pthread_mutex_unlock(&channels()->lock);
    return opened ? channel : NULL;
}

acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name)
{
    return create(__func__, deviceId, name, CAPACITY);
}

acltdtChannelHandle *acltdtCreateChannelWithCapacity(uint32_t deviceId, const char *name,
                                                     size_t capacity)
{
    return create(__func__, deviceId, name, capacity);
}

static acltdtDataset *take_first(acltdtChannelHandle *channel)
{
    acltdtDataset *set = channel->sets[channel->first];
    channel->first = (channel->first + 1) % channel->capacity;
    channel->count--;
    pthread_cond_broadcast(&channels()->changed);
    return set;
}

static void clean(acltdtChannelHandle *channel)
{
    while (channel->count > 0) {
        acl_tdt_free(take_first(channel));
    }
}

static aclError gone(const char *func)
{
    return acl_fail(ACL_ERROR_INVALID_PARAM, func, "the handle is of no channel");
}

aclError acltdtStopChannel(acltdtChannelHandle *handle)
{
    pthread_mutex_lock(&channels()->lock);
    acltdtChannelHandle *channel = *find(handle, NULL);
    if (channel) {
        channel->is_stopped = true;
        pthread_cond_broadcast(&channels()->changed);
    }
    pthread_mutex_unlock(&channels()->lock);
    return channel ? ACL_SUCCESS : gone(__func__);
}

aclError acltdtDestroyChannel(acltdtChannelHandle *handle)
{
    pthread_mutex_lock(&channels()->lock);
    acltdtChannelHandle **at = find(handle, NULL), *channel = *at;
    if (channel) { // waits of streams that only name it end as well
        *at = channel->next;
        clean(channel);
        pthread_cond_broadcast(&channels()->changed);
    }
    pthread_mutex_unlock(&channels()->lock);
    free_channel(channel);
    return channel ? ACL_SUCCESS : gone(__func__);
}

aclError acltdtCleanChannel(acltdtChannelHandle *handle)
{
    pthread_mutex_lock(&channels()->lock);
    acltdtChannelHandle *channel = *find(handle, NULL);
    if (channel) {
        clean(channel);
    }
    pthread_mutex_unlock(&channels()->lock);
    return channel ? ACL_SUCCESS : gone(__func__);
}

aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle, size_t *size)
{
    if (!size) {
        return acl_null(__func__, "size");
    }
    pthread_mutex_lock(&channels()->lock);
    const acltdtChannelHandle *channel = *find(handle, NULL);
    *size = channel ? channel->count : 0;
    pthread_mutex_unlock(&channels()->lock);
    return channel ? ACL_SUCCESS : gone(__func__);
}

/* ---- waits: the channel is looked up again after each, as others may destroy it ---- */

// Until there is room, or something to take. Caller holds the lock.
static enum acl_tdt_end wait_for(const acltdtChannelHandle *handle, const char *name, bool room,
                                 int timeout_ms, acltdtChannelHandle **channel)
{
    const struct timespec until = api_after_ms(timeout_ms);
    int late = 0;
    while ((*channel = *find(handle, name)) != NULL) {
        const bool stopped = (*channel)->is_stopped;
        const bool ready =
            room ? (*channel)->count < (*channel)->capacity && !stopped : (*channel)->count > 0;
        if (ready) {
            return ACL_TDT_DONE;
        }
        if (stopped) {
            return ACL_TDT_STOPPED;
        }
        if (late == ETIMEDOUT || timeout_ms == 0) {
            return ACL_TDT_LATE;
        }
        late = timeout_ms < 0
                   ? pthread_cond_wait(&channels()->changed, &channels()->lock)
                   : pthread_cond_timedwait(&channels()->changed, &channels()->lock, &until);
    }
    return ACL_TDT_GONE;
}

static enum acl_tdt_end take(const acltdtChannelHandle *handle, const char *name, int timeout_ms,
                             acltdtDataset **dataset)
{
    acltdtChannelHandle *channel;
    pthread_mutex_lock(&channels()->lock);
    enum acl_tdt_end end = wait_for(handle, name, false, timeout_ms, &channel);
    *dataset = end == ACL_TDT_DONE ? take_first(channel) : NULL;
    if (*dataset && !(*dataset)->name[0]) {
        memcpy((*dataset)->name, channel->name, sizeof(channel->name));
    }
    pthread_mutex_unlock(&channels()->lock);
    return end;
}

enum acl_tdt_end acl_tdt_take(const char *name, int timeout_ms, acltdtDataset **dataset)
{
    return take(NULL, name, timeout_ms, dataset);
}

// Moves the set into the channel if there is room for it in time; else it stays the caller's.
static enum acl_tdt_end put(const acltdtChannelHandle *handle, const char *name, int timeout_ms,
                            acltdtDataset *dataset)
{
    acltdtChannelHandle *channel;
    pthread_mutex_lock(&channels()->lock);
    enum acl_tdt_end end = wait_for(handle, name, true, timeout_ms, &channel);
    if (end == ACL_TDT_DONE) {
        channel->sets[(channel->first + channel->count++) % channel->capacity] = dataset;
        pthread_cond_broadcast(&channels()->changed);
    }
    pthread_mutex_unlock(&channels()->lock);
    return end;
}

enum acl_tdt_end acl_tdt_put(const char *name, int timeout_ms, acltdtDataset *dataset)
{
    return put(NULL, name, timeout_ms, dataset);
}

bool acl_tdt_exists(const char *name)
{
    pthread_mutex_lock(&channels()->lock);
    const bool exists = *find(NULL, name) != NULL;
    pthread_mutex_unlock(&channels()->lock);
    return exists;
}

bool acl_tdt_expect(const char *name)
{
    pthread_mutex_lock(&channels()->lock);
    const bool done = name_channel(name) != NULL;
    pthread_mutex_unlock(&channels()->lock);
    return done;
}

static aclError not_done(const char *func, enum acl_tdt_end end, aclError late, const char *state)
{
    switch (end) {
    case ACL_TDT_DONE:
        return ACL_SUCCESS;
    case ACL_TDT_LATE:
        return acl_fail(late, func, "the channel is %s", state);
    case ACL_TDT_STOPPED:
        return acl_fail(ACL_ERROR_FAILURE, func, "the channel is stopped");
    case ACL_TDT_GONE:
        break;
    }
    return gone(func);
}

aclError acltdtSendTensor(const acltdtChannelHandle *handle, const acltdtDataset *dataset,
                          int32_t timeout)
{
    if (!handle || !dataset || timeout < -1) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "handle or dataset is NULL, or timeout is below -1");
    }
    acltdtDataset *copy = acl_tdt_copy(dataset);
    if (!copy) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
    }
    enum acl_tdt_end end = put(handle, NULL, timeout, copy);
    if (end != ACL_TDT_DONE) {
        acl_tdt_free(copy);
    }
    return not_done(__func__, end, ACL_ERROR_RT_QUEUE_FULL, "full");
}

aclError acltdtReceiveTensor(const acltdtChannelHandle *handle, acltdtDataset *dataset,
                             int32_t timeout)
{
    if (!handle || !dataset || timeout < -1 || dataset->count > 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "handle or dataset is NULL, dataset is not empty, or timeout is below -1");
    }
    acltdtDataset *taken;
    enum acl_tdt_end end = take(handle, NULL, timeout, &taken);
    if (end == ACL_TDT_DONE) {
        leo_free(dataset->items);
        *dataset = *taken;
        leo_free(taken);
    }
    return not_done(__func__, end, ACL_ERROR_RT_QUEUE_EMPTY, "empty");
}

void acl_tdt_tell(struct leo_rt_host_result *result, leo_status status, const char *type,
                  const char *channel, const char *what)
{
    result->status = status;
    snprintf(result->text, sizeof(result->text), "%s of channel %s: %s", type, channel, what);
}
