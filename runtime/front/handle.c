/* SPDX-License-Identifier: Apache-2.0 */
#include "handle.h"

#include <leo/alloc.h>

#define ENDING UINT32_C(0x80000000)

// Caller holds the lock.
static struct front_handle **bucket_of(struct front_table *table, const void *ptr)
{
    struct front_handle **bucket = table->bucket ? table->bucket : table->first_bucket;
    size_t count = table->bucket ? table->bucket_count : FRONT_FIRST_BUCKETS;
    uint64_t bits = (uintptr_t)ptr;
    // The low bits are the allocator's alignment; a multiplication spreads the rest.
    return &bucket[(bits >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (count - 1)];
}

// Caller holds the lock. Without memory the chains just get longer.
static void grow(struct front_table *table)
{
    size_t old_count = table->bucket ? table->bucket_count : FRONT_FIRST_BUCKETS;
    struct front_handle **old = table->bucket ? table->bucket : table->first_bucket;
    struct front_handle **made = leo_calloc(old_count * 4, sizeof(struct front_handle *));
    if (!made) {
        return;
    }
    struct front_handle **allocated = table->bucket;
    table->bucket = made;
    table->bucket_count = old_count * 4;
    for (size_t i = 0; i < old_count; i++) {
        for (struct front_handle *handle = old[i], *next; handle; handle = next) {
            struct front_handle **bucket = bucket_of(table, handle);
            next = handle->chain;
            handle->chain = *bucket;
            *bucket = handle;
        }
        old[i] = NULL;
    }
    leo_free(allocated);
}

void front_handle_add(struct front_table *table, struct front_handle *handle, int kind,
                      struct front_family *family)
{
    pthread_mutex_lock(&table->lock);
    if (table->count >= (table->bucket ? table->bucket_count : FRONT_FIRST_BUCKETS)) {
        grow(table);
    }
    struct front_handle **bucket = bucket_of(table, handle);
    *handle = (struct front_handle){
        .kind = kind,
        .serial = table->next_serial++,
        .chain = *bucket,
        .family = family,
        .next = family ? family->first : NULL,
    };
    *bucket = handle;
    table->count++;
    if (family) {
        if (family->first) {
            family->first->previous = handle;
        }
        family->first = handle;
        family->count++;
    }
    pthread_mutex_unlock(&table->lock);
}

// Caller holds the lock.
static struct front_handle **link_of(struct front_table *table, const void *ptr)
{
    struct front_handle **link = bucket_of(table, ptr);
    while (*link && (const void *)*link != ptr) {
        link = &(*link)->chain;
    }
    return link;
}

static bool is_ending(const struct front_handle *handle)
{
    return atomic_load(&handle->state) & ENDING;
}

void *front_handle_find(struct front_table *table, const void *ptr, int kind)
{
    pthread_mutex_lock(&table->lock);
    struct front_handle *handle = *link_of(table, ptr);
    bool good = handle && handle->kind == kind && !is_ending(handle);
    if (good) {
        atomic_fetch_add(&handle->state, 1);
    }
    pthread_mutex_unlock(&table->lock);
    return good ? handle : NULL;
}

void front_handle_pin(struct front_handle *handle)
{
    atomic_fetch_add(&handle->state, 1);
}

void front_handle_unpin(struct front_table *table, struct front_handle *handle)
{
    // The last pin of one that is being ended: from here on it may be gone.
    if (atomic_fetch_sub(&handle->state, 1) == (ENDING | 1)) {
        pthread_mutex_lock(&table->lock);
        pthread_cond_broadcast(&table->unpinned);
        pthread_mutex_unlock(&table->lock);
    }
}

// Caller holds the lock; nobody else ends the handle.
static void own(struct front_table *table, struct front_handle *handle)
{
    atomic_fetch_or(&handle->state, ENDING);
    while (atomic_load(&handle->state) != ENDING) {
        pthread_cond_wait(&table->unpinned, &table->lock);
    }
}

bool front_handle_claim(struct front_table *table, struct front_handle *handle)
{
    pthread_mutex_lock(&table->lock);
    bool good = !is_ending(handle);
    if (good) {
        atomic_fetch_sub(&handle->state, 1);
        own(table, handle);
    }
    pthread_mutex_unlock(&table->lock);
    if (!good) {
        front_handle_unpin(table, handle);
    }
    return good;
}

void front_handle_remove(struct front_table *table, struct front_handle *handle)
{
    pthread_mutex_lock(&table->lock);
    *link_of(table, handle) = handle->chain;
    table->count--;
    struct front_family *family = handle->family;
    if (family) {
        *(handle->previous ? &handle->previous->next : &family->first) = handle->next;
        if (handle->next) {
            handle->next->previous = handle->previous;
        }
        family->count--;
    }
    pthread_cond_broadcast(&table->unpinned);
    pthread_mutex_unlock(&table->lock);
}

void *front_family_take(struct front_table *table, struct front_family *family)
{
    struct front_handle *handle;
    pthread_mutex_lock(&table->lock);
    for (;;) {
        for (handle = family->first; handle && is_ending(handle);) {
            handle = handle->next;
        }
        if (handle || !family->first) {
            break;
        }
        // Other threads are ending the rest.
        pthread_cond_wait(&table->unpinned, &table->lock);
    }
    if (handle) {
        own(table, handle);
    }
    pthread_mutex_unlock(&table->lock);
    return handle;
}

void *front_family_find(struct front_table *table, struct front_family *family,
                        bool (*match)(const void *handle, const void *user), const void *user)
{
    pthread_mutex_lock(&table->lock);
    struct front_handle *handle = family->first;
    while (handle && (is_ending(handle) || !match(handle, user))) {
        handle = handle->next;
    }
    if (handle) {
        atomic_fetch_add(&handle->state, 1);
    }
    pthread_mutex_unlock(&table->lock);
    return handle;
}

size_t front_family_count(struct front_table *table, const struct front_family *family)
{
    pthread_mutex_lock(&table->lock);
    size_t count = family->count;
    pthread_mutex_unlock(&table->lock);
    return count;
}

size_t front_family_pin(struct front_table *table, const struct front_family *family, void **found,
                        size_t capacity)
{
    size_t count = 0;
    pthread_mutex_lock(&table->lock);
    for (struct front_handle *handle = family->first; handle && count < capacity;
         handle = handle->next) {
        if (!is_ending(handle)) {
            atomic_fetch_add(&handle->state, 1);
            found[count++] = handle;
        }
    }
    pthread_mutex_unlock(&table->lock);
    return count;
}
