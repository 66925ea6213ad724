/* SPDX-License-Identifier: Apache-2.0 */
/* Live handles of the process in a hash of their addresses, so that a stale pointer is an error and
 * not a crash. */
#include "acl_internal.h"

#include <string.h>

static struct acl_handle **bucket_of(const void *ptr)
{
    uintptr_t bits = (uintptr_t)ptr >> 4;
    return &acl_process()->bucket[(bits ^ bits >> 8 ^ bits >> 16) % ACL_HANDLE_BUCKETS];
}

void acl_handle_add(struct acl_handle *handle, enum acl_kind kind)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    struct acl_handle **bucket = bucket_of(handle);
    *handle = (struct acl_handle){
        .kind = kind,
        .serial = process->next_serial++,
        .next = *bucket,
    };
    *bucket = handle;
    pthread_mutex_unlock(&process->lock);
}

// Caller holds the lock.
static struct acl_handle **link_of(const void *ptr)
{
    struct acl_handle **link = bucket_of(ptr);
    while (*link && (const void *)*link != ptr) {
        link = &(*link)->next;
    }
    return link;
}

void *acl_handle_find(const void *ptr, enum acl_kind kind)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    struct acl_handle *handle = *link_of(ptr);
    bool good = handle && handle->kind == kind && !handle->ending;
    if (good) {
        handle->pins++;
    }
    pthread_mutex_unlock(&process->lock);
    return good ? handle : NULL;
}

// Caller holds the lock.
static void unpin(struct acl_handle *handle)
{
    if (--handle->pins == 0 && handle->ending) {
        pthread_cond_broadcast(&acl_process()->unpinned);
    }
}

void acl_handle_unpin(struct acl_handle *handle)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    unpin(handle);
    pthread_mutex_unlock(&process->lock);
}

void acl_handle_unpin_variable(void *variable)
{
    struct acl_handle *handle;
    memcpy(&handle, variable, sizeof(handle));
    if (handle) {
        acl_handle_unpin(handle);
    }
}

// Caller holds the lock; nobody else ends the handle.
static void own(struct acl_handle *handle)
{
    struct acl_process *process = acl_process();
    handle->ending = true;
    while (handle->pins) {
        pthread_cond_wait(&process->unpinned, &process->lock);
    }
}

bool acl_handle_claim(struct acl_handle *handle)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    bool good = !handle->ending;
    unpin(handle);
    if (good) {
        own(handle);
    }
    pthread_mutex_unlock(&process->lock);
    return good;
}

void acl_handle_remove(struct acl_handle *handle)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    *link_of(handle) = handle->next;
    pthread_cond_broadcast(&process->unpinned);
    pthread_mutex_unlock(&process->lock);
}

/* Counts those that match; the first `capacity` of them go to `found`. Caller holds the lock. */
static size_t collect(enum acl_kind kind, bool ending,
                      bool (*match)(const void *handle, const void *user), const void *user,
                      void **found, size_t capacity)
{
    size_t count = 0;
    for (int i = 0; i < ACL_HANDLE_BUCKETS; i++) {
        for (struct acl_handle *handle = acl_process()->bucket[i]; handle; handle = handle->next) {
            if (handle->kind == kind && handle->ending == ending && match(handle, user)) {
                if (count < capacity) {
                    found[count] = handle;
                }
                count++;
            }
        }
    }
    return count;
}

size_t acl_handle_count(enum acl_kind kind, bool (*match)(const void *handle, const void *user),
                        const void *user)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    size_t count = collect(kind, false, match, user, NULL, 0);
    pthread_mutex_unlock(&process->lock);
    return count;
}

void *acl_handle_first(enum acl_kind kind, bool (*match)(const void *handle, const void *user),
                       const void *user)
{
    struct acl_process *process = acl_process();
    void *found = NULL;
    pthread_mutex_lock(&process->lock);
    (void)collect(kind, false, match, user, &found, 1);
    pthread_mutex_unlock(&process->lock);
    return found;
}

void *acl_handle_take(enum acl_kind kind, bool (*match)(const void *handle, const void *user),
                      const void *user)
{
    struct acl_process *process = acl_process();
    void *found = NULL;
    pthread_mutex_lock(&process->lock);
    while (collect(kind, false, match, user, &found, 1) == 0 &&
           collect(kind, true, match, user, NULL, 0) > 0) {
        pthread_cond_wait(&process->unpinned, &process->lock);
    }
    if (found) {
        own(found);
    }
    pthread_mutex_unlock(&process->lock);
    return found;
}

size_t acl_handle_pin(enum acl_kind kind, bool (*match)(const void *handle, const void *user),
                      const void *user, void **found, size_t capacity)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    size_t count = collect(kind, false, match, user, found, capacity);
    count = count < capacity ? count : capacity;
    for (size_t i = 0; i < count; i++) {
        struct acl_handle *handle = found[i];
        handle->pins++;
    }
    pthread_mutex_unlock(&process->lock);
    return count;
}
