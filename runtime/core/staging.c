/* SPDX-License-Identifier: Apache-2.0 */
#include "rt.h"

#include <leo/alloc.h>

enum { STAGING_MIN = 4096, STAGING_CACHE = 64 << 20 };

// Class of a size: 4 KiB, 8 KiB ...; RT_STAGING_CLASSES if too large to be kept.
static unsigned class_of(size_t bytes)
{
    unsigned class = 0;
    while (class < RT_STAGING_CLASSES && (size_t)STAGING_MIN << class < bytes) {
        class ++;
    }
    return class;
}

leo_status rt_staging_get(struct leo_rt_device *device, size_t bytes, struct rt_staging **out)
{
    unsigned class = class_of(bytes);
    bool kept = class < RT_STAGING_CLASSES;
    if (kept && device->staging[class]) {
        *out = device->staging[class];
        device->staging[class] = (*out)->next;
        device->staging_bytes -= (*out)->bytes;
        return LEO_OK;
    }
    struct rt_staging *staging = leo_alloc(sizeof(*staging));
    if (!staging) {
        return rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a transfer of %zu bytes", bytes);
    }
    *staging = (struct rt_staging){.bytes = kept ? (size_t)STAGING_MIN << class : bytes};
    leo_status status = leo_drv_dma_alloc(device->drv, staging->bytes, &staging->ptr, &staging->dma_addr);
    if (status) {
        leo_free(staging);
        return rt_fail(status, "no memory the device can reach for a transfer of %zu bytes: %s", bytes,
                       leo_status_text(status));
    }
    *out = staging;
    return LEO_OK;
}

static void free_staging(struct leo_rt_device *device, struct rt_staging *staging)
{
    leo_drv_dma_free(device->drv, staging->ptr, staging->dma_addr);
    leo_free(staging);
}

void rt_staging_put(struct leo_rt_device *device, struct rt_staging *staging)
{
    unsigned class = class_of(staging->bytes);
    if (class == RT_STAGING_CLASSES || device->staging_bytes + staging->bytes > STAGING_CACHE) {
        free_staging(device, staging);
        return;
    }
    staging->next = device->staging[class];
    device->staging[class] = staging;
    device->staging_bytes += staging->bytes;
}

void rt_staging_finish(struct leo_rt_device *device)
{
    for (unsigned class = 0; class < RT_STAGING_CLASSES; class ++) {
        while (device->staging[class]) {
            struct rt_staging *staging = device->staging[class];
            device->staging[class] = staging->next;
            free_staging(device, staging);
        }
    }
}
