/* SPDX-License-Identifier: Apache-2.0 */
/* Control registers (isa/csr.csv). Instructions take their values when they are issued. */
#include "core.h"

#include <leo/csr.h>

/* System counter: the first generation counts nanoseconds, the second 20 ns ticks. */
static uint64_t system_count(const struct sim_core *core)
{
    uint64_t ps = core->start_ps + (uint64_t)(core->scalar.cycle * 1e9 / core->config->clock_khz);
    return ps / (core->config->arch == 2201 ? 20000 : 1000);
}

bool sim_core_csr_read(struct sim_scalar *scalar, unsigned csr, uint64_t *value)
{
    const struct sim_core *core = scalar->owner;
    switch (csr) {
    case LEO_CSR_VMASK0:
        *value = core->vmask[0];
        return true;
    case LEO_CSR_VMASK1:
        *value = core->vmask[1];
        return true;
    case LEO_CSR_CTRL:
        *value = core->ctrl;
        return true;
    case LEO_CSR_CMPMASK0:
        *value = core->cmpmask[0];
        return true;
    case LEO_CSR_CMPMASK1:
        *value = core->cmpmask[1];
        return true;
    case LEO_CSR_SELMASK_ADDR:
        *value = core->selmask_addr;
        return true;
    case LEO_CSR_BLOCK_IDX:
        *value = core->block_idx;
        return true;
    case LEO_CSR_BLOCK_NUM:
        *value = core->block_num;
        return true;
    case LEO_CSR_SUB_BLOCK_IDX:
        *value = core->sub_block_idx;
        return true;
    case LEO_CSR_SUB_BLOCK_NUM:
        *value = core->sub_block_num;
        return true;
    case LEO_CSR_CORE_ID:
        *value = core->id;
        return true;
    case LEO_CSR_SYS_CNT:
        *value = system_count(core);
        return true;
    case LEO_CSR_ARCH:
        *value = core->config->arch;
        return true;
    default:
        return sim_core_fault(scalar->owner, LEO_FAULT_BAD_CSR, LEO_MEM_SPACE_PRIVATE, csr, 8);
    }
}

/* The first generation adds f32 and nothing else (HW-DMA-06). */
static bool is_legal_ctrl(const struct sim_core *core, uint64_t value)
{
    const struct leo_cfg_ctrl ctrl = leo_cfg_ctrl_unpack(value);
    if (value & LEO_CFG_CTRL_RESERVED || ctrl.atomic >= LEO_ATOMIC_COUNT ||
        ctrl.atomic_type >= LEO_ATOMIC_TYPE_COUNT) {
        return false;
    }
    return core->config->arch != 1001 ||
           (ctrl.atomic <= LEO_ATOMIC_ADD && ctrl.atomic_type == LEO_ATOMIC_TYPE_F32 && !ctrl.hf32);
}

bool sim_core_csr_write(struct sim_scalar *scalar, unsigned csr, uint64_t value)
{
    struct sim_core *core = scalar->owner;
    switch (csr) {
    case LEO_CSR_VMASK0:
        core->vmask[0] = value;
        return true;
    case LEO_CSR_VMASK1:
        core->vmask[1] = value;
        return true;
    case LEO_CSR_CTRL:
        if (!is_legal_ctrl(core, value)) {
            return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_PRIVATE, csr, 8);
        }
        core->ctrl = value;
        return true;
    case LEO_CSR_CMPMASK0:
        core->cmpmask[0] = value;
        return true;
    case LEO_CSR_CMPMASK1:
        core->cmpmask[1] = value;
        return true;
    case LEO_CSR_SELMASK_ADDR:
        core->selmask_addr = value;
        return true;
    default:
        return sim_core_fault(core, LEO_FAULT_BAD_CSR, LEO_MEM_SPACE_PRIVATE, csr, 8);
    }
}
