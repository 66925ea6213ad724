/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc.h"

#include "../context/context.h"
#include "../process/code.h"
#include "ipc_list.h"
#include "memory_owner.h"

#include <leo/alloc.h>

static leo_status check_export(const void *ptr, size_t bytes)
{
    if ((uintptr_t)ptr % API_SHARED_PAGE || bytes % API_SHARED_PAGE || bytes == 0) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "%p and %zu bytes: both must be multiples of %d, a page", ptr, bytes,
                           API_SHARED_PAGE);
    }
    leo_status status = api_memory_check(ptr, bytes);
    for (const struct api_ipc *ipc = api_process()->ipc; status == LEO_OK && ipc; ipc = ipc->next) {
        if (api_ipc_overlaps(ipc, (uintptr_t)ptr, bytes)) {
            status = leo_rt_fail(LEO_ERR_INVALID_ARG, "%zu bytes at %p: part of them is %s already",
                                 bytes, ptr, ipc->imports ? "imported" : "exported");
        }
    }
    return status;
}

// Caller holds ipc_lock.
static leo_status export_memory(void *ptr, size_t bytes, bool any_process, struct api_ipc **out)
{
    struct api_shared *shared;
    leo_status status = api_shared_create(API_SHARED_MEMORY, bytes, any_process, &shared);
    if (status != LEO_OK) {
        return status;
    }
    struct leo_rt_device *device = api_memory_owner(ptr);
    *out = api_ipc_add(shared, device, (uintptr_t)ptr, bytes);
    status =
        *out ? leo_rt_memory_share(device, (uintptr_t)ptr, bytes, shared->fd, API_SHARED_PAGE, true)
             : LEO_ERR_NO_MEMORY;
    if (status != LEO_OK && *out) {
        api_ipc_drop(api_ipc_find(shared->id));
    } else if (status != LEO_OK) {
        api_shared_drop(shared);
    }
    return status;
}

// The same memory again: the same key.
static struct api_ipc *export_again(const void *ptr, size_t bytes, bool any_process)
{
    struct api_ipc *ipc = api_process()->ipc;
    while (ipc && (ipc->imports || ipc->base != (uintptr_t)ptr || ipc->bytes != bytes)) {
        ipc = ipc->next;
    }
    if (ipc) {
        atomic_store(&ipc->shared->head->any_process, any_process);
        atomic_store(&ipc->shared->head->closed, 0);
    }
    return ipc;
}

leo_status api_ipc_export(void *ptr, size_t bytes, bool any_process, char key[API_KEY_BYTES])
{
    API_PINNED struct api_context *context = NULL;
    struct api_process *process = api_process();
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&process->ipc_lock);
    struct api_ipc *ipc = export_again(ptr, bytes, any_process);
    if (!ipc) {
        status = check_export(ptr, bytes);
        if (status == LEO_OK) {
            status = export_memory(ptr, bytes, any_process, &ipc);
        }
    }
    if (status == LEO_OK) {
        api_shared_key(ipc->shared->id, key);
    }
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}

leo_status api_ipc_allow(const char *key, const int32_t *pids, size_t count)
{
    struct api_process *process = api_process();
    api_shared_id id;
    leo_status status = api_shared_id_of(key, &id);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&process->ipc_lock);
    struct api_ipc *ipc = *api_ipc_find(id);
    status = ipc && !ipc->imports ? api_shared_allow(ipc->shared, pids, count)
                                  : leo_rt_fail(LEO_ERR_INVALID_ARG,
                                                "this process has not exported the key %s", key);
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}

// Caller holds ipc_lock.
static leo_status import_memory(const struct api_context *context, api_shared_id id,
                                struct api_ipc **out)
{
    struct api_shared *shared;
    uint64_t addr;
    leo_status status = api_shared_open(id, API_SHARED_MEMORY, &shared);
    if (status != LEO_OK) {
        return status;
    }
    const uint64_t bytes = shared->head->bytes;
    status = leo_rt_memory_attach(context->rt, shared->fd, API_SHARED_PAGE, bytes, &addr);
    if (status != LEO_OK) {
        api_shared_drop(shared);
        return status;
    }
    *out = api_ipc_add(shared, context->rt, addr, bytes);
    if (!*out) {
        (void)leo_rt_memory_detach(context->rt, addr);
        api_shared_drop(shared);
        return LEO_ERR_NO_MEMORY;
    }
    return LEO_OK;
}

leo_status api_ipc_import(const char *key, void **ptr)
{
    API_PINNED struct api_context *context = NULL;
    struct api_process *process = api_process();
    api_shared_id id;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        status = api_shared_id_of(key, &id);
    }
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&process->ipc_lock);
    struct api_ipc *ipc = *api_ipc_find(id);
    if (!ipc || !ipc->imports) {
        status = import_memory(context, id, &ipc); // an own key is refused there
    } else if (ipc->device != context->rt) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "the key is imported on device %d already",
                             api_device_id(ipc->device));
    }
    if (status == LEO_OK) {
        ipc->imports++;
        *ptr = (void *)ipc->base;
    }
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}

leo_status api_ipc_close(const char *key)
{
    struct api_process *process = api_process();
    api_shared_id id;
    leo_status status = api_shared_id_of(key, &id);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&process->ipc_lock);
    struct api_ipc **at = api_ipc_find(id);
    if (!*at) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "this process has neither exported nor imported the key %s", key);
    } else if ((*at)->imports > 1) {
        (*at)->imports--;
    } else if ((*at)->imports) {
        api_ipc_drop(at);
    } else if (atomic_load(&(*at)->shared->head->closed)) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "the key %s is closed already", key);
    } else {
        // The memory stays where importers have it; exported again, it has the same key.
        api_shared_close((*at)->shared);
    }
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}

leo_status api_ipc_unmap(const void *ptr)
{
    struct api_process *process = api_process();
    pthread_mutex_lock(&process->ipc_lock);
    struct api_ipc **at = &process->ipc;
    while (*at && ((*at)->base != (uintptr_t)ptr || !(*at)->imports)) {
        at = &(*at)->next;
    }
    leo_status status =
        *at ? LEO_OK
            : leo_rt_fail(LEO_ERR_INVALID_ARG, "no memory of another process is mapped at %p", ptr);
    if (*at && (*at)->imports > 1) {
        (*at)->imports--;
    } else if (*at) {
        api_ipc_drop(at);
    }
    pthread_mutex_unlock(&process->ipc_lock);
    return status;
}
