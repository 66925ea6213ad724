/* SPDX-License-Identifier: Apache-2.0 */
/* Every register access of the driver goes through here, where it can be traced. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

struct leo_transport;

/** Sees every access after it was made; `status` says how it went. */
typedef void (*drv_mmio_trace_fn)(void *user, bool write, uint32_t offset, uint64_t value,
                                  leo_status status);

/** The registers of one device. */
struct drv_mmio {
    struct leo_transport *transport;
    drv_mmio_trace_fn trace; /**< May be NULL. */
    void *trace_user;
};

LEO_MUST_CHECK leo_status drv_mmio_read32(const struct drv_mmio *mmio, uint32_t offset,
                                          uint32_t *value);
LEO_MUST_CHECK leo_status drv_mmio_read64(const struct drv_mmio *mmio, uint32_t offset,
                                          uint64_t *value);
LEO_MUST_CHECK leo_status drv_mmio_write32(const struct drv_mmio *mmio, uint32_t offset,
                                           uint32_t value);
LEO_MUST_CHECK leo_status drv_mmio_write64(const struct drv_mmio *mmio, uint32_t offset,
                                           uint64_t value);
