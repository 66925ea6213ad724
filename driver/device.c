/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <leo/alloc.h>
#include <leo/regs.h>
#include <leo/transport.h>
#include <string.h>

void drv_device_nudge(struct leo_drv_device *device)
{
    struct leo_transport *transport = device->mmio.transport;
    leo_status status = transport->ops->irq_wait(transport, 1000);
    (void)status;
}

static leo_status wait_ready(struct leo_drv_device *device)
{
    for (int i = 0; i < DRV_PATIENCE; i++) {
        uint32_t value;
        leo_status status = drv_mmio_read32(&device->mmio, LEO_REG_STATUS, &value);
        if (status) {
            return status;
        }
        if (value & LEO_BIT_STATUS_DEAD) {
            return LEO_ERR_DEAD;
        }
        if (value & LEO_BIT_STATUS_READY) {
            return LEO_OK;
        }
        drv_device_nudge(device);
    }
    return LEO_ERR_TIMEOUT;
}

leo_status drv_device_enable(struct leo_drv_device *device)
{
    memset(device->admin.memory, 0, drv_ring_bytes(DRV_ADMIN_DEPTH));
    memset(device->faults, 0, DRV_FAULT_DEPTH * sizeof(*device->faults));
    drv_ring_init(&device->admin.ring, device->admin.memory, DRV_ADMIN_DEPTH);
    device->admin.head_told = 0;
    const struct {
        uint32_t offset;
        unsigned bytes;
        uint64_t value;
    } writes[] = {
        {LEO_REG_ADMIN_SQ_BASE, 8, device->admin.memory_addr},
        {LEO_REG_ADMIN_CQ_BASE, 8,
         device->admin.memory_addr + DRV_ADMIN_DEPTH * sizeof(struct leo_sqe)},
        {LEO_REG_ADMIN_DEPTH, 4, DRV_ADMIN_DEPTH},
        {LEO_REG_FAULT_BASE, 8, device->faults_addr},
        {LEO_REG_FAULT_DEPTH, 4, DRV_FAULT_DEPTH},
        {LEO_REG_IRQ_MASK, 4, 0},
        {LEO_REG_CONTROL, 4, 1},
    };
    for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
        leo_status status =
            writes[i].bytes == 8
                ? drv_mmio_write64(&device->mmio, writes[i].offset, writes[i].value)
                : drv_mmio_write32(&device->mmio, writes[i].offset, (uint32_t)writes[i].value);
        if (status) {
            return status;
        }
    }
    return wait_ready(device);
}

static leo_status init_memory(struct leo_drv_device *device)
{
    leo_status status = leo_drv_dma_alloc(device, drv_ring_bytes(DRV_ADMIN_DEPTH),
                                          &device->admin.memory, &device->admin.memory_addr);
    if (status) {
        return status;
    }
    void *faults;
    status = leo_drv_dma_alloc(device, DRV_FAULT_DEPTH * sizeof(*device->faults), &faults,
                               &device->faults_addr);
    if (status) {
        return status;
    }
    device->faults = faults;
    device->queue_used = leo_calloc(device->caps.queues, 1);
    if (!device->queue_used) {
        return LEO_ERR_NO_MEMORY;
    }
    device->queue_used[0] = 1;
    status = drv_virtual_init(device);
    return status ? status
                  : drv_heap_init(&device->heap, device->caps.hbm_base, device->caps.hbm_bytes);
}

// Undoes init_memory however far it came, and closes the transport.
static void free_device(struct leo_drv_device *device)
{
    struct leo_transport *transport = device->mmio.transport;
    drv_profile_drop(device);
    drv_virtual_finish(device);
    drv_heap_finish(&device->heap);
    leo_free(device->queue_used);
    if (device->faults) {
        leo_drv_dma_free(device, device->faults, device->faults_addr);
    }
    if (device->admin.memory) {
        leo_drv_dma_free(device, device->admin.memory, device->admin.memory_addr);
    }
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->wait_lock);
    pthread_mutex_destroy(&device->admin_lock);
    leo_free(device);
    transport->ops->close(transport);
}

leo_status leo_drv_device_create(struct leo_transport *transport, struct leo_drv_device **out)
{
    *out = NULL;
    struct leo_drv_device *device = leo_calloc(1, sizeof(*device));
    if (!device) {
        transport->ops->close(transport);
        return LEO_ERR_NO_MEMORY;
    }
    device->mmio.transport = transport;
    device->next_cmd = 1;
    device->admin.device = device;
    device->admin.complete = drv_admin_complete;
    device->admin.user = device;
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->wait_lock, NULL);
    pthread_mutex_init(&device->admin_lock, NULL);
    leo_status status = drv_caps_read(&device->mmio, &device->caps);
    if (!status) {
        status = init_memory(device);
    }
    if (!status) {
        status = drv_device_enable(device);
    }
    if (status) {
        free_device(device);
        return status;
    }
    *out = device;
    return LEO_OK;
}

void leo_drv_device_destroy(struct leo_drv_device *device)
{
    if (!device) {
        return;
    }
    // Nothing may write into our memory once it is freed. If even this fails, closing the transport
    // ends it.
    leo_status status = drv_mmio_write32(&device->mmio, LEO_REG_CONTROL, 2);
    (void)status;
    free_device(device);
}

void leo_drv_device_get_caps(const struct leo_drv_device *device, struct leo_caps *caps)
{
    *caps = device->caps;
}

bool leo_drv_device_is_dead(struct leo_drv_device *device)
{
    uint32_t value = 0;
    leo_status status = drv_mmio_read32(&device->mmio, LEO_REG_STATUS, &value);
    pthread_mutex_lock(&device->lock);
    bool dead = device->dead;
    pthread_mutex_unlock(&device->lock);
    return dead || status || value & LEO_BIT_STATUS_DEAD;
}

leo_status leo_drv_device_sim_time(struct leo_drv_device *device, uint64_t *ns)
{
    return drv_mmio_read64(&device->mmio, LEO_REG_SIM_TIME_NS, ns);
}
