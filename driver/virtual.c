/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <leo/alloc.h>
#include <string.h>

static bool is_mapped(const struct drv_reservation *reservation, uint64_t granule)
{
    return reservation->mapped[granule / 64] >> granule % 64 & 1;
}

static void set_mapped(struct drv_reservation *reservation, uint64_t first, uint64_t count,
                       bool mapped)
{
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;
        reservation->mapped[i / 64] =
            mapped ? reservation->mapped[i / 64] | bit : reservation->mapped[i / 64] & ~bit;
    }
}

leo_status drv_virtual_init(struct leo_drv_device *device)
{
    const struct leo_caps *caps = &device->caps;
    uint64_t begin =
        (caps->hbm_base + caps->hbm_bytes + DRV_GRANULE - 1) / DRV_GRANULE * DRV_GRANULE;
    uint64_t end = caps->hbm_base + caps->gm_bytes;
    device->virtual = (struct drv_virtual){0};
    return begin < end ? drv_heap_init(&device->virtual.addresses, begin, end - begin) : LEO_OK;
}

void drv_virtual_finish(struct leo_drv_device *device)
{
    while (device->virtual.first) {
        struct drv_reservation *reservation = device->virtual.first;
        device->virtual.first = reservation->next;
        leo_free(reservation);
    }
    drv_heap_finish(&device->virtual.addresses);
    device->virtual = (struct drv_virtual){0};
}

// Caller holds lock.
static struct drv_reservation *find(const struct leo_drv_device *device, uint64_t addr)
{
    struct drv_reservation *reservation = device->virtual.first;
    while (reservation && addr - reservation->base >= reservation->granules * DRV_GRANULE) {
        reservation = reservation->next;
    }
    return reservation;
}

bool drv_virtual_find(const struct leo_drv_device *device, uint64_t addr, uint64_t *base,
                      uint64_t *bytes)
{
    const struct drv_reservation *reservation = find(device, addr);
    uint64_t first = reservation ? (addr - reservation->base) / DRV_GRANULE : 0;
    if (!reservation || !is_mapped(reservation, first)) {
        return false;
    }
    if (reservation->attached) {
        *base = reservation->base;
        *bytes = reservation->attached;
        return addr - reservation->base < reservation->attached;
    }
    uint64_t last = first;
    while (first > 0 && is_mapped(reservation, first - 1)) {
        first--;
    }
    while (last + 1 < reservation->granules && is_mapped(reservation, last + 1)) {
        last++;
    }
    *base = reservation->base + first * DRV_GRANULE;
    *bytes = (last + 1 - first) * DRV_GRANULE;
    return true;
}

leo_status leo_drv_addresses_reserve(struct leo_drv_device *device, uint64_t bytes, uint64_t *addr)
{
    *addr = 0;
    if (bytes == 0 || bytes % DRV_GRANULE || bytes > device->caps.gm_bytes) {
        return LEO_ERR_INVALID_ARG;
    }
    uint64_t granules = bytes / DRV_GRANULE;
    struct drv_reservation *made =
        leo_calloc(1, sizeof(*made) + (granules + 63) / 64 * sizeof(made->mapped[0]));
    if (!made) {
        return LEO_ERR_NO_MEMORY;
    }
    pthread_mutex_lock(&device->lock);
    // Spans come in smaller steps: room to begin at a granule.
    leo_status status =
        drv_heap_alloc(&device->virtual.addresses, bytes + DRV_GRANULE, false, &made->span);
    if (!status) {
        made->base = (made->span->base + DRV_GRANULE - 1) / DRV_GRANULE * DRV_GRANULE;
        made->granules = granules;
        made->next = device->virtual.first;
        device->virtual.first = made;
        *addr = made->base;
    }
    pthread_mutex_unlock(&device->lock);
    if (status) {
        leo_free(made);
    }
    return status;
}

leo_status leo_drv_addresses_release(struct leo_drv_device *device, uint64_t addr)
{
    leo_status status = LEO_ERR_BAD_POINTER;
    pthread_mutex_lock(&device->lock);
    struct drv_reservation *reservation = find(device, addr);
    if (reservation && reservation->base == addr) {
        status = LEO_OK;
        for (uint64_t i = 0; i < reservation->granules && !status; i++) {
            status = is_mapped(reservation, i) ? LEO_ERR_STATE : LEO_OK;
        }
    }
    if (!status) {
        struct drv_reservation **at = &device->virtual.first;
        while (*at != reservation) {
            at = &(*at)->next;
        }
        *at = reservation->next;
        drv_heap_free(&device->virtual.addresses, reservation->span);
        leo_free(reservation);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status leo_drv_addresses_size(struct leo_drv_device *device, uint64_t addr, uint64_t *bytes)
{
    *bytes = 0;
    pthread_mutex_lock(&device->lock);
    const struct drv_reservation *reservation = find(device, addr);
    if (reservation && reservation->base == addr) {
        *bytes = reservation->granules * DRV_GRANULE;
    }
    pthread_mutex_unlock(&device->lock);
    return *bytes ? LEO_OK : LEO_ERR_BAD_POINTER;
}

leo_status leo_drv_physical_take(struct leo_drv_device *device, uint64_t bytes)
{
    if (bytes == 0 || bytes % DRV_GRANULE) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = LEO_ERR_NO_DEVICE_MEMORY;
    pthread_mutex_lock(&device->lock);
    uint64_t left = device->heap.bytes - device->heap.used_bytes;
    if (left >= device->virtual.physical_bytes && bytes <= left - device->virtual.physical_bytes) {
        device->virtual.physical_bytes += bytes;
        status = LEO_OK;
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

void leo_drv_physical_give(struct leo_drv_device *device, uint64_t bytes)
{
    pthread_mutex_lock(&device->lock);
    device->virtual.physical_bytes -= bytes;
    pthread_mutex_unlock(&device->lock);
}

// Whether all granules of a range are mapped, or none is. Caller holds lock.
static bool is_all(const struct drv_reservation *reservation, uint64_t first, uint64_t count,
                   bool mapped)
{
    if (first > reservation->granules || count > reservation->granules - first) {
        return false;
    }
    for (uint64_t i = first; i < first + count; i++) {
        if (is_mapped(reservation, i) != mapped) {
            return false;
        }
    }
    return true;
}

static leo_status change(struct leo_drv_device *device, uint64_t addr, uint64_t bytes, bool map)
{
    if (bytes == 0 || bytes % DRV_GRANULE || addr % DRV_GRANULE) {
        return LEO_ERR_INVALID_ARG;
    }
    pthread_mutex_lock(&device->admin_lock);
    pthread_mutex_lock(&device->lock);
    struct drv_reservation *reservation = find(device, addr);
    uint64_t first = reservation ? (addr - reservation->base) / DRV_GRANULE : 0;
    bool good = reservation && is_all(reservation, first, bytes / DRV_GRANULE, !map);
    pthread_mutex_unlock(&device->lock);
    leo_status status = LEO_ERR_BAD_POINTER;
    if (good) {
        struct leo_sqe entry = {.opcode = map ? LEO_SQE_OP_MAP : LEO_SQE_OP_UNMAP};
        const struct leo_sqe_map body = {
            .addr = addr, .bytes = bytes, .space = DRV_SPACE, .joined = 1};
        memcpy(entry.body, &body, sizeof(body));
        status = drv_admin_run(device, &entry);
    }
    if (!status) {
        pthread_mutex_lock(&device->lock);
        set_mapped(reservation, first, bytes / DRV_GRANULE, map);
        pthread_mutex_unlock(&device->lock);
    }
    pthread_mutex_unlock(&device->admin_lock);
    return status;
}

leo_status leo_drv_addresses_map(struct leo_drv_device *device, uint64_t addr, uint64_t bytes)
{
    return change(device, addr, bytes, true);
}

leo_status leo_drv_addresses_unmap(struct leo_drv_device *device, uint64_t addr, uint64_t bytes)
{
    return change(device, addr, bytes, false);
}

static leo_status map_attached(struct leo_drv_device *device, enum leo_sqe_op op, uint64_t addr,
                               uint64_t bytes)
{
    struct leo_sqe entry = {.opcode = (uint8_t)op};
    const struct leo_sqe_map body = {.addr = addr, .bytes = bytes, .space = DRV_SPACE};
    memcpy(entry.body, &body, sizeof(body));
    pthread_mutex_lock(&device->admin_lock);
    leo_status status = drv_admin_run(device, &entry);
    pthread_mutex_unlock(&device->admin_lock);
    return status;
}

leo_status leo_drv_memory_attach(struct leo_drv_device *device, uint64_t bytes, void *host,
                                 uint64_t *addr)
{
    const uint64_t granules = bytes / DRV_GRANULE + (bytes % DRV_GRANULE != 0);
    leo_status status = leo_drv_addresses_reserve(device, granules * DRV_GRANULE, addr);
    if (status != LEO_OK) {
        return status;
    }
    status = map_attached(device, LEO_SQE_OP_MAP, *addr, bytes);
    if (status == LEO_OK) {
        status = leo_drv_memory_adopt(device, *addr, bytes, host, false);
        if (status != LEO_OK) {
            (void)map_attached(device, LEO_SQE_OP_UNMAP, *addr, bytes);
        }
    }
    if (status != LEO_OK) {
        (void)leo_drv_addresses_release(device, *addr);
        *addr = 0;
        return status;
    }
    pthread_mutex_lock(&device->lock);
    struct drv_reservation *reservation = find(device, *addr);
    reservation->attached = bytes;
    set_mapped(reservation, 0, granules, true);
    pthread_mutex_unlock(&device->lock);
    return LEO_OK;
}

leo_status leo_drv_memory_detach(struct leo_drv_device *device, uint64_t addr)
{
    pthread_mutex_lock(&device->lock);
    struct drv_reservation *reservation = find(device, addr);
    const uint64_t bytes = reservation && reservation->base == addr ? reservation->attached : 0;
    pthread_mutex_unlock(&device->lock);
    if (bytes == 0) {
        return LEO_ERR_BAD_POINTER;
    }
    leo_status status = map_attached(device, LEO_SQE_OP_UNMAP, addr, bytes);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&device->lock);
    reservation->attached = 0;
    set_mapped(reservation, 0, reservation->granules, false);
    pthread_mutex_unlock(&device->lock);
    return leo_drv_addresses_release(device, addr);
}
