/* SPDX-License-Identifier: Apache-2.0 */
#include "../rt.h"

#include <leo/alloc.h>

enum { STAGING_MIN = 4096, STAGING_CACHE = 64 << 20 };

// Class of a size: 4 KiB, 8 KiB ...; RT_STAGING_CLASSES if too large to be kept.
static unsigned class_of(size_t bytes)
{
    unsigned size_class = 0;
    while (size_class < RT_STAGING_CLASSES && (size_t)STAGING_MIN << size_class < bytes) {
        size_class++;
    }
    return size_class;
}

leo_status rt_staging_get(struct leo_rt_device *device, size_t bytes, struct rt_staging **out)
{
    unsigned size_class = class_of(bytes);
    bool kept = size_class < RT_STAGING_CLASSES;
    if (kept && device->staging[size_class]) {
        *out = device->staging[size_class];
        device->staging[size_class] = (*out)->next;
        device->staging_bytes -= (*out)->bytes;
        return LEO_OK;
    }
    struct rt_staging *staging = leo_alloc(sizeof(*staging));
    if (!staging) {
        return rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a transfer of %zu bytes", bytes);
    }
    *staging = (struct rt_staging){.bytes = kept ? (size_t)STAGING_MIN << size_class : bytes};
    leo_status status =
        leo_drv_dma_alloc(device->drv, staging->bytes, &staging->ptr, &staging->dma_addr);
    if (status) {
        leo_free(staging);
        return rt_fail(status, "no memory the device can reach for a transfer of %zu bytes: %s",
                       bytes, leo_status_text(status));
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
    unsigned size_class = class_of(staging->bytes);
    if (size_class == RT_STAGING_CLASSES ||
        device->staging_bytes + staging->bytes > STAGING_CACHE) {
        free_staging(device, staging);
        return;
    }
    staging->next = device->staging[size_class];
    device->staging[size_class] = staging;
    device->staging_bytes += staging->bytes;
}

void rt_staging_finish(struct leo_rt_device *device)
{
    for (unsigned size_class = 0; size_class < RT_STAGING_CLASSES; size_class++) {
        while (device->staging[size_class]) {
            struct rt_staging *staging = device->staging[size_class];
            device->staging[size_class] = staging->next;
            free_staging(device, staging);
        }
    }
}
