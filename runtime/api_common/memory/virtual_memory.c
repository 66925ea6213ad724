/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory: addresses reserved apart from the memory behind them. */
#include "../context/context.h"
#include "../process/code.h"
#include "memory_owner.h"
#include "shared.h"

#include <errno.h>
#include <leo/alloc.h>
#include <string.h>
#include <unistd.h>

/** Memory of a device that may be mapped to an address, one at a time. */
struct api_physical {
    struct api_handle handle;
    struct api_range range; /**< where it is mapped; bytes 0 = nowhere */
    struct leo_rt_device *device;
    size_t bytes;
    bool parked; /**< the program has unmapped it; it stays there until it is freed or moved */
    void *saved; /**< its contents while it is nowhere; NULL: none, it reads as zeros */
    struct api_shared *shared; /**< holds its contents for several processes; NULL: none does */
};

static struct api_physical *mapped_at(const void *addr)
{
    struct api_range *range = api_ranges_at(&api_process()->mapped, (uintptr_t)addr);
    return range ? (struct api_physical *)(void *)((char *)range -
                                                   offsetof(struct api_physical, range))
                 : NULL;
}

leo_status api_addresses_reserve(size_t bytes, void **ptr)
{
    API_PINNED struct api_context *context = NULL;
    uint64_t addr;
    if (bytes > SIZE_MAX - API_GRANULE) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%zu bytes are more than any device has", bytes);
    }
    // Adapters ask for a few bytes to learn whether it works at all.
    bytes = (bytes + API_GRANULE - 1) / API_GRANULE * API_GRANULE;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        status = leo_rt_addresses_reserve(context->rt, bytes, &addr);
    }
    if (status == LEO_OK) {
        *ptr = (void *)(uintptr_t)addr;
    }
    return status;
}

// Takes it off its address for good; its contents are kept aside if they are still wanted.
static leo_status take_off(struct api_physical *physical, bool keep)
{
    void *where = (void *)physical->range.base;
    if (keep && !physical->shared) {
        physical->saved = leo_alloc(physical->bytes);
        if (!physical->saved) {
            return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
        }
        leo_status status =
            leo_rt_memcpy(physical->device, physical->saved, where, physical->bytes);
        if (status != LEO_OK) {
            leo_free(physical->saved);
            physical->saved = NULL;
            return status;
        }
    }
    (void)api_ranges_take(&api_process()->mapped, physical->range.base);
    leo_status status =
        leo_rt_addresses_unmap(physical->device, physical->range.base, physical->bytes);
    physical->range.bytes = 0;
    physical->parked = false;
    return status;
}

// Takes away what the program has unmapped in a range.
static leo_status clear_parked(uintptr_t base, size_t bytes)
{
    leo_status status = LEO_OK;
    for (size_t at = 0; status == LEO_OK && at < bytes; at += API_GRANULE) {
        struct api_physical *there = mapped_at((void *)(base + at));
        if (there && there->parked) {
            status = take_off(there, true);
        }
    }
    return status;
}

leo_status api_addresses_release(void *ptr)
{
    API_PINNED struct api_context *context = NULL;
    struct api_process *process = api_process();
    uint64_t bytes;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct leo_rt_device *owner = api_memory_owner(ptr);
    if (!owner || leo_rt_addresses_size(owner, (uintptr_t)ptr, &bytes) != LEO_OK) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "no reserved addresses begin at %p", ptr);
    }
    pthread_mutex_lock(&process->map_lock);
    status = clear_parked((uintptr_t)ptr, bytes);
    if (status == LEO_OK) {
        status = leo_rt_addresses_release(owner, (uintptr_t)ptr);
    }
    pthread_mutex_unlock(&process->map_lock);
    return status;
}

static bool is_foreign(const struct api_physical *physical)
{
    return physical->shared && !physical->shared->mine;
}

static leo_status free_physical(struct api_physical *physical);

static void end_physical(void *object)
{
    pthread_mutex_lock(&api_process()->map_lock);
    (void)free_physical(object);
    pthread_mutex_unlock(&api_process()->map_lock);
}

// Of the device, or what another process shares (whose use it takes over).
static leo_status make(int64_t device, size_t size, struct api_shared *shared, void **handle)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK && device != context->device) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "device %lld is not the current one (%d)",
                             (long long)device, context->device);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct api_physical *physical = api_make(sizeof(*physical));
    if (!physical) {
        return LEO_ERR_NO_MEMORY;
    }
    status = shared ? LEO_OK : leo_rt_physical_take(context->rt, size);
    if (status != LEO_OK) {
        api_handle_drop(&api_process()->handles, &physical->handle);
        return status;
    }
    physical->device = context->rt;
    physical->bytes = size;
    physical->shared = shared;
    api_publish(physical, API_KIND_PHYSICAL, &context->slot->physical, end_physical);
    *handle = physical;
    return LEO_OK;
}

leo_status api_physical_alloc(int64_t device, size_t size, void **handle)
{
    return size % API_GRANULE ? leo_rt_fail(LEO_ERR_INVALID_ARG, "size %zu is no multiple of %d",
                                            size, API_GRANULE)
                              : make(device, size, NULL, handle);
}

// What lies nowhere on the device goes into the file.
static leo_status write_saved(struct api_physical *physical, int fd)
{
    const char *saved = physical->saved;
    for (size_t done = 0; saved && done < physical->bytes;) {
        ssize_t wrote =
            pwrite(fd, saved + done, physical->bytes - done, (off_t)(API_SHARED_PAGE + done));
        if (wrote < 0 && errno != EINTR) {
            return leo_rt_fail(LEO_ERR_NO_MEMORY, "memory cannot be shared: %s", strerror(errno));
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    leo_free(physical->saved);
    physical->saved = NULL;
    return LEO_OK;
}

// Caller holds map_lock.
static leo_status share(struct api_physical *physical, bool any_process)
{
    struct api_shared *shared;
    if (physical->shared) {
        if (is_foreign(physical)) {
            return leo_rt_fail(LEO_ERR_INVALID_ARG,
                               "the memory is another process's, which alone exports it");
        }
        atomic_store(&physical->shared->head->any_process, any_process);
        return LEO_OK;
    }
    leo_status status =
        api_shared_create(API_SHARED_PHYSICAL, physical->bytes, any_process, &shared);
    if (status != LEO_OK) {
        return status;
    }
    status = physical->range.bytes
                 ? leo_rt_memory_share(physical->device, physical->range.base, physical->bytes,
                                       shared->fd, API_SHARED_PAGE, true)
                 : write_saved(physical, shared->fd);
    if (status != LEO_OK) {
        api_shared_drop(shared);
        return status;
    }
    physical->shared = shared;
    return LEO_OK;
}

leo_status api_physical_export(const void *handle, bool any_process, api_shared_id *id)
{
    struct api_process *process = api_process();
    API_PINNED struct api_physical *physical = api_find(handle, API_KIND_PHYSICAL);
    if (!physical) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%p is no live memory handle", handle);
    }
    pthread_mutex_lock(&process->map_lock);
    leo_status status = share(physical, any_process);
    if (status == LEO_OK) {
        *id = physical->shared->id;
    }
    pthread_mutex_unlock(&process->map_lock);
    return status;
}

leo_status api_physical_import(api_shared_id id, int64_t device, void **handle)
{
    struct api_shared *shared;
    leo_status status = api_shared_open(id, API_SHARED_PHYSICAL, &shared);
    if (status != LEO_OK) {
        return status;
    }
    status = make(device, shared->head->bytes, shared, handle);
    if (status != LEO_OK) {
        api_shared_drop(shared);
    }
    return status;
}

static bool is_shared_as(const void *handle, const void *user)
{
    const struct api_physical *physical = handle;
    return physical->shared && physical->shared->mine &&
           physical->shared->id == *(const api_shared_id *)user;
}

leo_status api_physical_allow(api_shared_id id, const int32_t *pids, size_t count)
{
    struct api_process *process = api_process();
    leo_status status =
        leo_rt_fail(LEO_ERR_INVALID_ARG, "this process has exported no memory under this handle");
    pthread_mutex_lock(&process->map_lock);
    for (int i = 0; i < API_DEVICES; i++) {
        API_PINNED struct api_physical *physical =
            api_family_find(&process->handles, &process->device[i].physical, is_shared_as, &id);
        if (physical) {
            status = api_shared_allow(physical->shared, pids, count);
        }
    }
    pthread_mutex_unlock(&process->map_lock);
    return status;
}

static leo_status free_physical(struct api_physical *physical)
{
    leo_status status = LEO_OK;
    if (physical->range.bytes) {
        status = take_off(physical, false);
    }
    if (!is_foreign(physical)) {
        leo_rt_physical_give(physical->device, physical->bytes);
    }
    api_shared_drop(physical->shared);
    leo_free(physical->saved);
    api_free(physical);
    return status;
}

leo_status api_physical_free(const void *handle)
{
    struct api_process *process = api_process();
    struct api_physical *physical = api_find(handle, API_KIND_PHYSICAL);
    if (!physical) {
        return leo_rt_fail(handle ? LEO_ERR_INVALID_ARG : API_BAD_ARGUMENT,
                           "%p is no live memory handle", handle);
    }
    pthread_mutex_lock(&process->map_lock);
    leo_status status = LEO_OK;
    if (physical->range.bytes && !physical->parked) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "the memory is mapped at 0x%llx: unmap it first",
                             (unsigned long long)physical->range.base);
        api_unpin(physical);
    } else if (api_claim(physical)) {
        status = free_physical(physical);
    }
    pthread_mutex_unlock(&process->map_lock);
    return status;
}

// Moves the contents from the old address, or from aside, to the new one.
static leo_status fill(struct api_physical *physical, void *where)
{
    leo_status status = LEO_OK;
    if (physical->shared) {
        status = physical->range.bytes ? take_off(physical, false) : LEO_OK;
        if (status == LEO_OK) {
            status = leo_rt_memory_share(physical->device, (uintptr_t)where, physical->bytes,
                                         physical->shared->fd, API_SHARED_PAGE, false);
        }
    } else if (physical->range.bytes) {
        status =
            leo_rt_memcpy(physical->device, where, (void *)physical->range.base, physical->bytes);
        if (status == LEO_OK) {
            status = take_off(physical, false);
        }
    } else if (physical->saved) {
        status = leo_rt_memcpy(physical->device, where, physical->saved, physical->bytes);
        leo_free(physical->saved);
        physical->saved = NULL;
    }
    return status;
}

static leo_status map(struct api_physical *physical, void *where)
{
    if (physical->range.bytes && !physical->parked) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED,
                           "the memory is mapped at 0x%llx already: a second address for it is not "
                           "supported",
                           (unsigned long long)physical->range.base);
    }
    if (physical->parked && physical->range.base == (uintptr_t)where) {
        physical->parked = false; // where it was
        return LEO_OK;
    }
    leo_status status = clear_parked((uintptr_t)where, physical->bytes);
    if (status == LEO_OK) {
        status = leo_rt_addresses_map(physical->device, (uintptr_t)where, physical->bytes);
    }
    if (status != LEO_OK) {
        return status;
    }
    status = fill(physical, where);
    physical->range = (struct api_range){(uintptr_t)where, physical->bytes};
    if (status == LEO_OK &&
        api_ranges_put(&api_process()->mapped, &physical->range) != API_RANGE_PUT) {
        status = leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    return status;
}

leo_status api_physical_map(void *ptr, size_t size, const void *handle)
{
    struct api_process *process = api_process();
    API_PINNED struct api_physical *physical = api_find(handle, API_KIND_PHYSICAL);
    if (!physical) {
        return leo_rt_fail(API_BAD_ARGUMENT, "%p is no live memory handle", handle);
    }
    if (size != physical->bytes) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "size %zu is not that of the memory, %zu: it is mapped whole", size,
                           physical->bytes);
    }
    pthread_mutex_lock(&process->map_lock);
    leo_status status = map(physical, ptr);
    pthread_mutex_unlock(&process->map_lock);
    return status;
}

leo_status api_physical_unmap(void *ptr)
{
    struct api_process *process = api_process();
    pthread_mutex_lock(&process->map_lock);
    struct api_physical *physical = mapped_at(ptr);
    bool good = physical && physical->range.base == (uintptr_t)ptr && !physical->parked;
    if (good) {
        // Mostly it is freed next: only then, or when the address or the memory is wanted again, is
        // it taken off.
        physical->parked = true;
    }
    pthread_mutex_unlock(&process->map_lock);
    return good ? LEO_OK : leo_rt_fail(LEO_ERR_INVALID_ARG, "nothing is mapped at %p", ptr);
}
