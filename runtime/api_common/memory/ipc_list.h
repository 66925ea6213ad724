/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices that this process has exported or imported. The caller holds `ipc_lock` but
 * for the calls that say otherwise. */
#pragma once

#include "../process/process.h"
#include "shared.h"

/** Memory that this process has exported, or imported. */
struct api_ipc {
    struct api_ipc *next;
    struct api_shared *shared;
    struct leo_rt_device *device;
    uintptr_t base;
    size_t bytes;
    unsigned imports; /**< 0: exported */
};

/** The link that holds what is found; it holds NULL if there is none. */
struct api_ipc **api_ipc_find(api_shared_id id);
/** LEO_ERR_NO_MEMORY as the last error, and NULL, if there is no memory. */
struct api_ipc *api_ipc_add(struct api_shared *shared, struct leo_rt_device *device, uintptr_t base,
                            size_t bytes);
bool api_ipc_overlaps(const struct api_ipc *ipc, uintptr_t base, uint64_t bytes);
/** Takes one out of the list and ends it. */
void api_ipc_drop(struct api_ipc **at);

/* These take the lock. */
/** The block at `ptr` is freed: its keys end. */
void api_ipc_freed(const void *ptr, uint64_t bytes);
/** What a device has exported and imported ends. */
void api_ipc_end(const struct api_device *slot);
