/* SPDX-License-Identifier: Apache-2.0 */
#include "handle.h"

#include <leo/alloc.h>
#include <string.h>
#include <sys/mman.h>

// Bits of api_handle.state.
#define KIND_SHIFT 56
#define ENDING     (UINT64_C(1) << 55)
#define PINS       (ENDING - 1)

/* Events, functions and pinned memory are small, streams and contexts large. Whatever is small is
 * many: a device alone has 65536 events. */
static const size_t slot_bytes[API_SLOT_SIZES] = {128, 512};
static const size_t slots_max[API_SLOT_SIZES] = {1 << 21, 1 << 17};
enum { SLOTS_MIN = 1 << 12 };

// LeakSanitizer, if it is there, does not look into mapped memory by itself.
extern void __lsan_register_root_region(const void *base, size_t bytes) __attribute__((weak));

// Caller holds the lock. Takes address space, and less of it where there is little (ulimit -v).
static bool reserve(struct api_slots *slots, size_t bytes, size_t most)
{
    for (size_t count = most; count >= SLOTS_MIN; count /= 4) {
        void *base = mmap(NULL, count * bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED) {
            if (__lsan_register_root_region) {
                __lsan_register_root_region(base, count * bytes);
            }
            slots->capacity = count;
            atomic_store(&slots->base, (uintptr_t)base);
            return true;
        }
    }
    return false;
}

// Tests make any allocation fail by count, those of handles too.
static bool allocation_may_succeed(void)
{
    void *probe = leo_alloc(1);
    leo_free(probe);
    return probe != NULL;
}

void *api_handle_alloc(struct api_table *table, size_t bytes)
{
    unsigned size = bytes > slot_bytes[0];
    if (bytes > slot_bytes[size] || !allocation_may_succeed()) {
        return NULL;
    }
    struct api_slots *slots = &table->slots[size];
    pthread_mutex_lock(&table->lock);
    // The slot free longest first: a stale pointer then stays one as long as possible.
    struct api_handle *handle = slots->free_first;
    if (handle) {
        slots->free_first = handle->next;
        slots->free_last = handle->next ? slots->free_last : NULL;
    } else if (atomic_load(&slots->base) || reserve(slots, slot_bytes[size], slots_max[size])) {
        size_t used = atomic_load(&slots->used);
        if (used < slots->capacity) {
            handle = (struct api_handle *)(atomic_load(&slots->base) + used * slot_bytes[size]);
            atomic_store(&slots->used, used + 1);
        }
    }
    pthread_mutex_unlock(&table->lock);
    if (handle) {
        // Its state is 0, and others may be looking at it.
        memset((char *)handle + sizeof(handle->state), 0, bytes - sizeof(handle->state));
    }
    return handle;
}

// Caller holds the lock.
static void put_free(struct api_table *table, struct api_handle *handle)
{
    uintptr_t at = (uintptr_t)handle;
    struct api_slots *slots = &table->slots[0];
    if (at - atomic_load(&slots->base) >= slots->capacity * slot_bytes[0]) {
        slots = &table->slots[1];
    }
    handle->next = NULL;
    *(slots->free_last ? &slots->free_last->next : &slots->free_first) = handle;
    slots->free_last = handle;
}

void api_handle_drop(struct api_table *table, struct api_handle *handle)
{
    if (handle) {
        pthread_mutex_lock(&table->lock);
        put_free(table, handle);
        pthread_mutex_unlock(&table->lock);
    }
}

void api_handle_add(struct api_table *table, struct api_handle *handle, unsigned kind,
                    struct api_family *family)
{
    pthread_mutex_lock(&table->lock);
    handle->serial = table->next_serial++;
    handle->family = family;
    handle->previous = NULL;
    handle->next = family ? family->first : NULL;
    if (family) {
        if (family->first) {
            family->first->previous = handle;
        }
        family->first = handle;
        family->count++;
    }
    atomic_store(&handle->state, (uint64_t)kind << KIND_SHIFT);
    pthread_mutex_unlock(&table->lock);
}

// A slot that was in use at some time, whatever is in it now; NULL: none begins there.
static struct api_handle *slot_at(struct api_table *table, const void *ptr)
{
    for (int i = 0; i < API_SLOT_SIZES; i++) {
        struct api_slots *slots = &table->slots[i];
        uintptr_t offset =
            (uintptr_t)ptr - atomic_load_explicit(&slots->base, memory_order_acquire);
        if (offset % slot_bytes[i] == 0 &&
            offset / slot_bytes[i] < atomic_load_explicit(&slots->used, memory_order_acquire)) {
            return (struct api_handle *)(uintptr_t)ptr;
        }
    }
    return NULL;
}

static bool is_ending(const struct api_handle *handle)
{
    return atomic_load(&handle->state) & ENDING;
}

void *api_handle_find(struct api_table *table, const void *ptr, unsigned kind)
{
    struct api_handle *handle = slot_at(table, ptr);
    if (!handle) {
        return NULL;
    }
    uint64_t state = atomic_load_explicit(&handle->state, memory_order_acquire);
    while (state >> KIND_SHIFT == kind && !(state & ENDING)) {
        if (atomic_compare_exchange_weak_explicit(&handle->state, &state, state + 1,
                                                  memory_order_acquire, memory_order_acquire)) {
            return handle;
        }
    }
    return NULL;
}

void api_handle_pin(struct api_handle *handle)
{
    atomic_fetch_add(&handle->state, 1);
}

void api_handle_unpin(struct api_table *table, struct api_handle *handle)
{
    uint64_t before = atomic_fetch_sub_explicit(&handle->state, 1, memory_order_acq_rel);
    // The last pin of one that is being ended: from here on it may be gone.
    if (before & ENDING && (before & PINS) == 1) {
        pthread_mutex_lock(&table->lock);
        pthread_cond_broadcast(&table->unpinned);
        pthread_mutex_unlock(&table->lock);
    }
}

// Caller holds the lock; no other thread ends the handle.
static void own(struct api_table *table, struct api_handle *handle)
{
    atomic_fetch_or(&handle->state, ENDING);
    while (atomic_load(&handle->state) & PINS) {
        pthread_cond_wait(&table->unpinned, &table->lock);
    }
}

bool api_handle_claim(struct api_table *table, struct api_handle *handle)
{
    pthread_mutex_lock(&table->lock);
    bool good = !is_ending(handle);
    if (good) {
        atomic_fetch_sub(&handle->state, 1);
        own(table, handle);
    }
    pthread_mutex_unlock(&table->lock);
    if (!good) {
        api_handle_unpin(table, handle);
    }
    return good;
}

void api_handle_free(struct api_table *table, struct api_handle *handle)
{
    pthread_mutex_lock(&table->lock);
    struct api_family *family = handle->family;
    if (family) {
        *(handle->previous ? &handle->previous->next : &family->first) = handle->next;
        if (handle->next) {
            handle->next->previous = handle->previous;
        }
        family->count--;
    }
    atomic_store(&handle->state, 0);
    put_free(table, handle);
    pthread_cond_broadcast(&table->unpinned);
    pthread_mutex_unlock(&table->lock);
}

void *api_family_take(struct api_table *table, struct api_family *family)
{
    struct api_handle *handle;
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

// Pins it unless it is being ended. Caller holds the lock.
static bool pin_live(struct api_handle *handle)
{
    if (is_ending(handle)) {
        return false;
    }
    atomic_fetch_add(&handle->state, 1);
    return true;
}

void *api_family_find(struct api_table *table, struct api_family *family,
                      bool (*match)(const void *handle, const void *user), const void *user)
{
    pthread_mutex_lock(&table->lock);
    struct api_handle *handle = family->first;
    while (handle && !(match(handle, user) && pin_live(handle))) {
        handle = handle->next;
    }
    pthread_mutex_unlock(&table->lock);
    return handle;
}

size_t api_family_count(struct api_table *table, const struct api_family *family)
{
    pthread_mutex_lock(&table->lock);
    size_t count = family->count;
    pthread_mutex_unlock(&table->lock);
    return count;
}

size_t api_family_pin(struct api_table *table, const struct api_family *family, void **found,
                      size_t capacity)
{
    size_t count = 0;
    pthread_mutex_lock(&table->lock);
    for (struct api_handle *handle = family->first; handle && count < capacity;
         handle = handle->next) {
        if (pin_live(handle)) {
            found[count++] = handle;
        }
    }
    pthread_mutex_unlock(&table->lock);
    return count;
}
