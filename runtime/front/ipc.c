/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc.h"

#include "code.h"
#include "context.h"
#include "memory.h"

#include <leo/alloc.h>

/** Memory that this process has exported, or imported. */
struct front_ipc {
    struct front_ipc *next;
    struct front_shared *shared;
    struct leo_rt_device *device;
    uintptr_t base;
    size_t bytes;
    unsigned imports; /**< 0: exported */
};

// Caller holds ipc_lock; the link that holds what is found.
static struct front_ipc **find(front_shared_id id)
{
    struct front_ipc **at = &front_process()->ipc;
    while (*at && (*at)->shared->id != id) {
        at = &(*at)->next;
    }
    return at;
}

static void end(struct front_ipc **at)
{
    struct front_ipc *ended = *at;
    *at = ended->next;
    if (ended->imports) {
        (void)leo_rt_memory_detach(ended->device, ended->base);
    }
    front_shared_drop(ended->shared);
    leo_free(ended);
}

static struct front_ipc *add(struct front_shared *shared, struct leo_rt_device *device,
                             uintptr_t base, size_t bytes)
{
    struct front_process *process = front_process();
    struct front_ipc *made = leo_alloc(sizeof(*made));
    if (made) {
        *made = (struct front_ipc){process->ipc, shared, device, base, bytes, 0};
        process->ipc = made;
    } else {
        leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    return made;
}

static bool overlaps(const struct front_ipc *ipc, uintptr_t base, uint64_t bytes)
{
    return ipc->base < base + bytes && base < ipc->base + ipc->bytes;
}

static leo_status check_export(const void *ptr, size_t bytes)
{
    if ((uintptr_t)ptr % FRONT_SHARED_PAGE || bytes % FRONT_SHARED_PAGE || bytes == 0) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "%p and %zu bytes: both must be multiples of %d, a page", ptr, bytes,
                           FRONT_SHARED_PAGE);
    }
    leo_status status = front_memory_check(ptr, bytes);
    for (const struct front_ipc *ipc = front_process()->ipc; status == LEO_OK && ipc;
         ipc = ipc->next) {
        if (overlaps(ipc, (uintptr_t)ptr, bytes)) {
            status = leo_rt_fail(LEO_ERR_INVALID_ARG, "%zu bytes at %p: part of them is %s already",
                                 bytes, ptr, ipc->imports ? "imported" : "exported");
        }
    }
    return status;
}

// Caller holds ipc_lock.
static leo_status export_memory(void *ptr, size_t bytes, bool any_process, struct front_ipc **out)
{
    struct front_shared *shared;
    leo_status status = front_shared_create(FRONT_SHARED_MEMORY, bytes, any_process, &shared);
    if (status != LEO_OK) {
        return status;
    }
    struct leo_rt_device *device = front_memory_owner(ptr);
    *out = add(shared, device, (uintptr_t)ptr, bytes);
    status = *out ? leo_rt_memory_share(device, (uintptr_t)ptr, bytes, shared->fd,
                                        FRONT_SHARED_PAGE, true)
                  : LEO_ERR_NO_MEMORY;
    if (status != LEO_OK && *out) {
        end(find(shared->id));
    } else if (status != LEO_OK) {
        front_shared_drop(shared);
    }
    return status;
}

// The same memory again: the same key.
static struct front_ipc *export_again(const void *ptr, size_t bytes, bool any_process)
{
    struct front_ipc *ipc = front_process()->ipc;
    while (ipc && (ipc->imports || ipc->base != (uintptr_t)ptr || ipc->bytes != bytes)) {
        ipc = ipc->next;
    }
    if (ipc) {
        atomic_store(&ipc->shared->head->any_process, any_process);
        atomic_store(&ipc->shared->head->closed, 0);
    }
    return ipc;
}

leo_status front_ipc_export(void *ptr, size_t bytes, bool any_process, char key[FRONT_KEY_BYTES])
{
    FRONT_PINNED struct front_context *context = NULL;
    struct front_process *process = front_process();
    leo_status status = front_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&process->ipc_lock);
    struct front_ipc *ipc = export_again(ptr, bytes, any_process);
    if (!ipc) {
        status = check_export(ptr, bytes);
        if (status == LEO_OK) {
            status = export_memory(ptr, bytes, any_process, &ipc);
        }
    }
    if (status == LEO_OK) {
        front_shared_key(ipc->shared->id, key);
    }
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}

leo_status front_ipc_allow(const char *key, const int32_t *pids, size_t count)
{
    struct front_process *process = front_process();
    front_shared_id id;
    leo_status status = front_shared_id_of(key, &id);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&process->ipc_lock);
    struct front_ipc *ipc = *find(id);
    status = ipc && !ipc->imports ? front_shared_allow(ipc->shared, pids, count)
                                  : leo_rt_fail(LEO_ERR_INVALID_ARG,
                                                "this process has not exported the key %s", key);
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}

// Caller holds ipc_lock.
static leo_status import_memory(const struct front_context *context, front_shared_id id,
                                struct front_ipc **out)
{
    struct front_shared *shared;
    uint64_t addr;
    leo_status status = front_shared_open(id, FRONT_SHARED_MEMORY, &shared);
    if (status != LEO_OK) {
        return status;
    }
    const uint64_t bytes = shared->head->bytes;
    status = leo_rt_memory_attach(context->rt, shared->fd, FRONT_SHARED_PAGE, bytes, &addr);
    if (status != LEO_OK) {
        front_shared_drop(shared);
        return status;
    }
    *out = add(shared, context->rt, addr, bytes);
    if (!*out) {
        (void)leo_rt_memory_detach(context->rt, addr);
        front_shared_drop(shared);
        return LEO_ERR_NO_MEMORY;
    }
    return LEO_OK;
}

leo_status front_ipc_import(const char *key, void **ptr)
{
    FRONT_PINNED struct front_context *context = NULL;
    struct front_process *process = front_process();
    front_shared_id id;
    leo_status status = front_context_current(&context);
    if (status == LEO_OK) {
        status = front_shared_id_of(key, &id);
    }
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&process->ipc_lock);
    struct front_ipc *ipc = *find(id);
    if (!ipc || !ipc->imports) {
        status = import_memory(context, id, &ipc); // an own key is refused there
    } else if (ipc->device != context->rt) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "the key is imported on device %d already",
                             front_device_id(ipc->device));
    }
    if (status == LEO_OK) {
        ipc->imports++;
        *ptr = (void *)ipc->base;
    }
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}

leo_status front_ipc_close(const char *key)
{
    struct front_process *process = front_process();
    front_shared_id id;
    leo_status status = front_shared_id_of(key, &id);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&process->ipc_lock);
    struct front_ipc **at = find(id);
    if (!*at) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "this process has neither exported nor imported the key %s", key);
    } else if ((*at)->imports > 1) {
        (*at)->imports--;
    } else if ((*at)->imports) {
        end(at);
    } else if (atomic_load(&(*at)->shared->head->closed)) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "the key %s is closed already", key);
    } else {
        // The memory stays where importers have it; exported again, it has the same key.
        front_shared_close((*at)->shared);
    }
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}

leo_status front_ipc_unmap(const void *ptr)
{
    struct front_process *process = front_process();
    pthread_mutex_lock(&process->ipc_lock);
    struct front_ipc **at = &process->ipc;
    while (*at && ((*at)->base != (uintptr_t)ptr || !(*at)->imports)) {
        at = &(*at)->next;
    }
    leo_status status =
        *at ? LEO_OK
            : leo_rt_fail(LEO_ERR_INVALID_ARG, "no memory of another process is mapped at %p", ptr);
    if (*at && (*at)->imports > 1) {
        (*at)->imports--;
    } else if (*at) {
        end(at);
    }
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}

void front_ipc_freed(const void *ptr, uint64_t bytes)
{
    struct front_process *process = front_process();
    pthread_mutex_lock(&process->ipc_lock);
    for (struct front_ipc **at = &process->ipc; *at;) {
        if (!(*at)->imports && overlaps(*at, (uintptr_t)ptr, bytes)) {
            end(at);
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&process->ipc_lock);
}

void front_ipc_end(const struct front_device *slot)
{
    struct front_process *process = front_process();
    pthread_mutex_lock(&process->ipc_lock);
    for (struct front_ipc **at = &process->ipc; *at;) {
        if ((*at)->device == slot->rt) {
            end(at);
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&process->ipc_lock);
}
