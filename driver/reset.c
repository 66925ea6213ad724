/* SPDX-License-Identifier: Apache-2.0 */
/* Brings a dead function back: everything on it is gone, our handles stay to be destroyed. */
#include "device.h"

#include <leo/regs.h>
#include <string.h>

static leo_status reset_function(struct leo_drv_device *device)
{
    leo_status status = drv_mmio_write32(&device->mmio, LEO_REG_CONTROL, LEO_BIT_CONTROL_RESET);
    for (int i = 0; !status && i < DRV_PATIENCE; i++) {
        uint32_t value;
        status = drv_mmio_read32(&device->mmio, LEO_REG_CONTROL, &value);
        if (!status && !(value & LEO_BIT_CONTROL_RESET)) {
            return LEO_OK;
        }
        drv_device_nudge(device);
    }
    return status ? status : LEO_ERR_TIMEOUT;
}

leo_status leo_drv_device_reset(struct leo_drv_device *device)
{
    pthread_mutex_lock(&device->admin_lock);
    pthread_mutex_lock(&device->lock);
    struct drv_heap heap;
    leo_status status = drv_heap_init(&heap, device->caps.hbm_base, device->caps.hbm_bytes);
    if (status) {
        goto unlock;
    }
    // From here the old state is lost even if the device does not come back.
    device->dead = true;
    drv_virtual_finish(device);
    drv_heap_finish(&device->heap);
    device->heap = heap;
    for (struct leo_drv_queue *queue = device->queues; queue; queue = queue->next) {
        queue->lost = true;
    }
    memset(device->queue_used + 1, 0, device->caps.queues - 1);
    status = reset_function(device);
    if (!status) {
        drv_profile_drop(device);
        status = drv_device_enable(device);
    }
    if (!status) {
        status = drv_virtual_init(device);
    }
    device->dead = status != LEO_OK;
unlock:
    pthread_mutex_unlock(&device->lock);
    pthread_mutex_unlock(&device->admin_lock);
    return status;
}
