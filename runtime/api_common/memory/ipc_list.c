/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc_list.h"

#include <leo/alloc.h>

struct api_ipc **api_ipc_find(api_shared_id id)
{
    struct api_ipc **at = &api_process()->ipc;
    while (*at && (*at)->shared->id != id) {
        at = &(*at)->next;
    }
    return at;
}

void api_ipc_drop(struct api_ipc **at)
{
    struct api_ipc *ended = *at;
    *at = ended->next;
    if (ended->imports) {
        (void)leo_rt_memory_detach(ended->device, ended->base);
    }
    api_shared_drop(ended->shared);
    leo_free(ended);
}

struct api_ipc *api_ipc_add(struct api_shared *shared, struct leo_rt_device *device, uintptr_t base,
                            size_t bytes)
{
    struct api_process *process = api_process();
    struct api_ipc *made = leo_alloc(sizeof(*made));
    if (made) {
        *made = (struct api_ipc){process->ipc, shared, device, base, bytes, 0};
        process->ipc = made;
    } else {
        leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    return made;
}

bool api_ipc_overlaps(const struct api_ipc *ipc, uintptr_t base, uint64_t bytes)
{
    return ipc->base < base + bytes && base < ipc->base + ipc->bytes;
}

void api_ipc_freed(const void *ptr, uint64_t bytes)
{
    struct api_process *process = api_process();
    pthread_mutex_lock(&process->ipc_lock);
    for (struct api_ipc **at = &process->ipc; *at;) {
        if (!(*at)->imports && api_ipc_overlaps(*at, (uintptr_t)ptr, bytes)) {
            api_ipc_drop(at);
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&process->ipc_lock);
}

void api_ipc_end(const struct api_device *slot)
{
    struct api_process *process = api_process();
    pthread_mutex_lock(&process->ipc_lock);
    for (struct api_ipc **at = &process->ipc; *at;) {
        if ((*at)->device == slot->rt) {
            api_ipc_drop(at);
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&process->ipc_lock);
}
