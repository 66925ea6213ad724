/* SPDX-License-Identifier: Apache-2.0 */
/* Live handles of the process in a hash of their addresses, so that a stale pointer is an error and
 * not a crash. */
#include "acl_internal.h"

static struct acl_handle **bucket_of(const void *ptr)
{
    uintptr_t bits = (uintptr_t)ptr >> 4;
    return &acl_process()->bucket[(bits ^ bits >> 8 ^ bits >> 16) % ACL_HANDLE_BUCKETS];
}

void acl_handle_add(struct acl_handle *handle, enum acl_kind kind)
{
    struct acl_process *process = acl_process();
    handle->kind = kind;
    pthread_mutex_lock(&process->lock);
    struct acl_handle **bucket = bucket_of(handle);
    handle->next = *bucket;
    *bucket = handle;
    pthread_mutex_unlock(&process->lock);
}

void *acl_handle_find(const void *ptr, enum acl_kind kind)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    struct acl_handle *handle = *bucket_of(ptr);
    while (handle && (const void *)handle != ptr) {
        handle = handle->next;
    }
    bool good = handle && handle->kind == kind;
    pthread_mutex_unlock(&process->lock);
    return good ? handle : NULL;
}

void acl_handle_remove(struct acl_handle *handle)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    struct acl_handle **link = bucket_of(handle);
    while (*link && *link != handle) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = handle->next;
    }
    while (handle->pins) {
        pthread_cond_wait(&process->unpinned, &process->lock);
    }
    pthread_mutex_unlock(&process->lock);
}

/* Counts those that match; the first `capacity` of them go to `found`. Caller holds the lock. */
static size_t collect(enum acl_kind kind, bool (*match)(const void *handle, const void *user),
                      const void *user, void **found, size_t capacity)
{
    size_t count = 0;
    for (int i = 0; i < ACL_HANDLE_BUCKETS; i++) {
        for (struct acl_handle *handle = acl_process()->bucket[i]; handle; handle = handle->next) {
            if (handle->kind == kind && match(handle, user)) {
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
    size_t count = collect(kind, match, user, NULL, 0);
    pthread_mutex_unlock(&process->lock);
    return count;
}

void *acl_handle_first(enum acl_kind kind, bool (*match)(const void *handle, const void *user),
                       const void *user)
{
    struct acl_process *process = acl_process();
    void *found = NULL;
    pthread_mutex_lock(&process->lock);
    (void)collect(kind, match, user, &found, 1);
    pthread_mutex_unlock(&process->lock);
    return found;
}

size_t acl_handle_pin(enum acl_kind kind, bool (*match)(const void *handle, const void *user),
                      const void *user, void **found, size_t capacity)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    size_t count = collect(kind, match, user, found, capacity);
    count = count < capacity ? count : capacity;
    for (size_t i = 0; i < count; i++) {
        struct acl_handle *handle = found[i];
        handle->pins++;
    }
    pthread_mutex_unlock(&process->lock);
    return count;
}

void acl_handle_unpin(struct acl_handle *handle)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    if (--handle->pins == 0) {
        pthread_cond_broadcast(&process->unpinned);
    }
    pthread_mutex_unlock(&process->lock);
}
