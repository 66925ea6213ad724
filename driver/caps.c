/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <leo/regs.h>
#include <stddef.h>
#include <string.h>

static const struct {
    uint32_t offset;
    size_t field; // offset of a uint32_t in the caps
} cap_regs[] = {
    {LEO_REG_ARCH, offsetof(struct leo_caps, arch)},
    {LEO_REG_CAP_CUBE_CORES, offsetof(struct leo_caps, cube_cores)},
    {LEO_REG_CAP_VEC_CORES, offsetof(struct leo_caps, vector_cores)},
    {LEO_REG_CAP_QUEUES, offsetof(struct leo_caps, queues)},
    {LEO_REG_CAP_QUEUE_DEPTH, offsetof(struct leo_caps, queue_depth)},
    {LEO_REG_CLOCK_KHZ, offsetof(struct leo_caps, clock_khz)},
    {LEO_REG_VEC_UB_BYTES, offsetof(struct leo_caps, ub_bytes)},
    {LEO_REG_L1_BYTES, offsetof(struct leo_caps, l1_bytes)},
    {LEO_REG_L0A_BYTES, offsetof(struct leo_caps, l0a_bytes)},
    {LEO_REG_L0B_BYTES, offsetof(struct leo_caps, l0b_bytes)},
    {LEO_REG_L0C_BYTES, offsetof(struct leo_caps, l0c_bytes)},
    {LEO_REG_L2_BYTES, offsetof(struct leo_caps, l2_bytes)},
};

leo_status drv_caps_read(const struct drv_mmio *mmio, struct leo_caps *caps)
{
    *caps = (struct leo_caps){0};
    uint32_t id;
    leo_status status = drv_mmio_read32(mmio, LEO_REG_ID, &id);
    if (status) {
        return status;
    }
    if (id != LEO_REG_ID_RESET) {
        return LEO_ERR_UNSUPPORTED;
    }
    for (size_t i = 0; i < sizeof(cap_regs) / sizeof(cap_regs[0]); i++) {
        uint32_t value;
        status = drv_mmio_read32(mmio, cap_regs[i].offset, &value);
        if (status) {
            return status;
        }
        memcpy((char *)caps + cap_regs[i].field, &value, sizeof(value));
    }
    for (uint32_t i = 0; i < sizeof(caps->soc_name); i += 8) {
        uint64_t text;
        status = drv_mmio_read64(mmio, LEO_REG_SOC_NAME + i, &text);
        if (status) {
            return status;
        }
        memcpy(caps->soc_name + i, &text, sizeof(text));
    }
    caps->soc_name[sizeof(caps->soc_name) - 1] = '\0';
    status = drv_mmio_read64(mmio, LEO_REG_HBM_BASE, &caps->hbm_base);
    if (!status) {
        status = drv_mmio_read64(mmio, LEO_REG_HBM_BYTES, &caps->hbm_bytes);
    }
    if (!status) {
        status = drv_mmio_read64(mmio, LEO_REG_GM_BYTES, &caps->gm_bytes);
    }
    if (status) {
        return status;
    }
    bool sane = caps->queues >= 2 && caps->queues <= DRV_QUEUE_MAX &&
                caps->queue_depth >= DRV_ADMIN_DEPTH && caps->hbm_bytes >= DRV_HEAP_ALIGN &&
                caps->hbm_base % DRV_HEAP_ALIGN == 0 && caps->gm_bytes >= caps->hbm_bytes;
    return sane ? LEO_OK : LEO_ERR_UNSUPPORTED;
}
