/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory the device can reach, and device memory the host can: calls of the transport. */
#include "device.h"

#include <leo/transport.h>

leo_status leo_drv_dma_alloc(struct leo_drv_device *device, size_t bytes, void **host_ptr,
                             uint64_t *dma_addr)
{
    struct leo_transport *transport = device->mmio.transport;
    return transport->ops->dma_alloc(transport, bytes, host_ptr, dma_addr);
}

void leo_drv_dma_free(struct leo_drv_device *device, void *host_ptr, uint64_t dma_addr)
{
    struct leo_transport *transport = device->mmio.transport;
    transport->ops->dma_free(transport, host_ptr, dma_addr);
}

void *leo_drv_memory_window(struct leo_drv_device *device, uint64_t addr, uint64_t bytes)
{
    struct leo_transport *transport = device->mmio.transport;
    return transport->ops->window ? transport->ops->window(transport, addr, bytes) : NULL;
}

leo_status leo_drv_memory_adopt(struct leo_drv_device *device, uint64_t addr, uint64_t bytes,
                                void *host, bool keep)
{
    struct leo_transport *transport = device->mmio.transport;
    return transport->ops->adopt ? transport->ops->adopt(transport, addr, bytes, host, keep)
                                 : LEO_ERR_UNSUPPORTED;
}

void leo_drv_name_tag(struct leo_drv_device *device, uint32_t tag, const char *name)
{
    struct leo_transport *transport = device->mmio.transport;
    if (transport->ops->name_tag) {
        transport->ops->name_tag(transport, tag, name);
    }
}

void leo_drv_note_link(struct leo_drv_device *device, const struct leo_link_note *note)
{
    struct leo_transport *transport = device->mmio.transport;
    if (transport->ops->note_link) {
        transport->ops->note_link(transport, note);
    }
}

leo_status leo_drv_dma_map(struct leo_drv_device *device, void *host_ptr, size_t bytes,
                           uint64_t *dma_addr)
{
    struct leo_transport *transport = device->mmio.transport;
    return transport->ops->dma_map(transport, host_ptr, bytes, dma_addr);
}

void leo_drv_dma_unmap(struct leo_drv_device *device, uint64_t dma_addr)
{
    struct leo_transport *transport = device->mmio.transport;
    transport->ops->dma_unmap(transport, dma_addr);
}
