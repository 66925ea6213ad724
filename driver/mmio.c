/* SPDX-License-Identifier: Apache-2.0 */
#include "mmio.h"

#include <leo/transport.h>

static leo_status read_register(const struct drv_mmio *mmio, uint32_t offset, unsigned bytes,
                                uint64_t *value)
{
    *value = 0;
    leo_status status = mmio->transport->ops->reg_read(mmio->transport, offset, bytes, value);
    if (mmio->trace) {
        mmio->trace(mmio->trace_user, false, offset, *value, status);
    }
    return status;
}

static leo_status write_register(const struct drv_mmio *mmio, uint32_t offset, unsigned bytes,
                                 uint64_t value)
{
    leo_status status = mmio->transport->ops->reg_write(mmio->transport, offset, bytes, value);
    if (mmio->trace) {
        mmio->trace(mmio->trace_user, true, offset, value, status);
    }
    return status;
}

leo_status drv_mmio_read32(const struct drv_mmio *mmio, uint32_t offset, uint32_t *value)
{
    uint64_t wide;
    leo_status status = read_register(mmio, offset, 4, &wide);
    *value = (uint32_t)wide;
    return status;
}

leo_status drv_mmio_read64(const struct drv_mmio *mmio, uint32_t offset, uint64_t *value)
{
    return read_register(mmio, offset, 8, value);
}

leo_status drv_mmio_write32(const struct drv_mmio *mmio, uint32_t offset, uint32_t value)
{
    return write_register(mmio, offset, 4, value);
}

leo_status drv_mmio_write64(const struct drv_mmio *mmio, uint32_t offset, uint64_t value)
{
    return write_register(mmio, offset, 8, value);
}
