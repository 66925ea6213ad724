/* SPDX-License-Identifier: Apache-2.0 */
/* Device addresses reserved apart from memory: which parts of them have memory behind them. */
#pragma once

#include "heap.h"

struct leo_drv_device;

/** Memory is mapped and counted in pieces of this. */
#define DRV_GRANULE (UINT64_C(2) << 20)

struct drv_reservation {
    struct drv_reservation *next;
    struct drv_span *span;
    uint64_t base, granules;
    uint64_t attached; /**< bytes of memory from elsewhere that lie at its begin, 0 = none */
    uint64_t mapped[]; /**< bit by granule */
};

struct drv_virtual {
    struct drv_heap addresses;
    struct drv_reservation *first;
    uint64_t physical_bytes; /**< taken for mappings, mapped or not */
};

LEO_MUST_CHECK leo_status drv_virtual_init(struct leo_drv_device *device);
void drv_virtual_finish(struct leo_drv_device *device);
/** The run of mapped granules that holds `addr`; caller holds the device's lock. */
bool drv_virtual_find(const struct leo_drv_device *device, uint64_t addr, uint64_t *base,
                      uint64_t *bytes);
