/* SPDX-License-Identifier: Apache-2.0 */
/* Control registers (isa/csr.csv). Instructions take their values when they are issued. */
#include "core.h"
#include "deferred_mmad.h"

#include <leo/csr.h>
#include <stddef.h>
#include <string.h>

#define READ_ONLY 0xc00u /* and up, by the rule of RISC-V */

/* System counter: the first generation counts nanoseconds, the second 20 ns ticks. Values run ahead
 * of time: the program waits until it has come so far. */
static bool system_count(struct sim_core *core, uint64_t *value)
{
    if (core->clock != SIM_CLOCK_KNOWN) {
        core->clock = sim_core_must_wait(core) ? SIM_CLOCK_UNKNOWN : SIM_CLOCK_ASKED;
        return false;
    }
    core->clock = SIM_CLOCK_UNKNOWN;
    *value = core->clock_ps / (core->config->arch == 2201 ? 20000 : 1000);
    return true;
}

/* Registers that are a number and nothing else: where each lies in struct sim_csrs. */
#define AT(name) (uint16_t)offsetof(struct sim_csrs, name)
static const struct {
    uint16_t number, at;
} plain[] = {
    {LEO_CSR_FMATRIX, AT(fmatrix)},
    {LEO_CSR_FMATRIX_B, AT(fmatrix_b)},
    {LEO_CSR_PADDING, AT(padding)},
    {LEO_CSR_L1_3D_SIZE, AT(l1_3d_size)},
    {LEO_CSR_L3D_RPT, AT(l3d_rpt)},
    {LEO_CSR_ND_PARA, AT(nd_para)},
    {LEO_CSR_QUANT_PRE, AT(quant_pre)},
    {LEO_CSR_FPC, AT(fpc)},
    {LEO_CSR_DEQSCALE, AT(deqscale)},
    {LEO_CSR_LRELU_ALPHA, AT(lrelu_alpha)},
    {LEO_CSR_FFTS_BASE_ADDR, AT(ffts_base_addr)},
    {LEO_CSR_ST_ATOMIC_CFG, AT(st_atomic_cfg)},
    {LEO_CSR_MOV_PAD_VAL, AT(mov_pad_val)},
    {LEO_CSR_OVERFLOW, AT(overflow)},
    {LEO_CSR_OVERFLOW_STATUS, AT(overflow)},
    {LEO_CSR_STATUS, AT(overflow)},
    {LEO_CSR_DATA_EXP_0, AT(data_exp[0])},
    {LEO_CSR_DATA_EXP_1, AT(data_exp[1])},
    {LEO_CSR_DATA_EXP_2, AT(data_exp[2])},
    {LEO_CSR_DATA_EXP_3, AT(data_exp[3])},
    {LEO_CSR_AIPP_SPR_0, AT(aipp_spr[0])},
    {LEO_CSR_AIPP_SPR_1, AT(aipp_spr[1])},
    {LEO_CSR_AIPP_SPR_2, AT(aipp_spr[2])},
    {LEO_CSR_AIPP_SPR_3, AT(aipp_spr[3])},
    {LEO_CSR_AIPP_SPR_4, AT(aipp_spr[4])},
    {LEO_CSR_AIPP_SPR_5, AT(aipp_spr[5])},
    {LEO_CSR_AIPP_SPR_6, AT(aipp_spr[6])},
    {LEO_CSR_AIPP_SPR_7, AT(aipp_spr[7])},
    {LEO_CSR_AIPP_SPR_8, AT(aipp_spr[8])},
    {LEO_CSR_AIPP_SPR_9, AT(aipp_spr[9])},
    {LEO_CSR_AIPP_SPR_18, AT(aipp_spr[18])},
    {LEO_CSR_AIPP_SPR_19, AT(aipp_spr[19])},
    {LEO_CSR_AIPP_SPR_20, AT(aipp_spr[20])},
    {LEO_CSR_AIPP_SPR_21, AT(aipp_spr[21])},
    {LEO_CSR_ACC_VAL, AT(acc_val)},
    {LEO_CSR_MAX_MIN_CNT, AT(max_min_cnt)},
    {LEO_CSR_RSVD_CNT, AT(rsvd_cnt)},
    {LEO_CSR_VMS4_SR, AT(vms4_sr)},
};

/* Offset of a plain register in struct sim_csrs; -1: not one of them. */
static int find_plain(unsigned csr)
{
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (plain[i].number == csr) {
            return plain[i].at;
        }
    }
    return -1;
}

/* Products put off may set the register. */
static void meet_products(struct sim_core *core, int at)
{
    if (at == AT(overflow)) {
        sim_deferred_products(core);
    }
}

/* What a unit found out from values. */
static bool is_result(unsigned csr)
{
    return csr == LEO_CSR_ACC_VAL || csr == LEO_CSR_MAX_MIN_CNT || csr == LEO_CSR_RSVD_CNT ||
           csr == LEO_CSR_VMS4_SR;
}

bool sim_core_csr_read(struct sim_scalar *scalar, unsigned csr, uint64_t *value)
{
    struct sim_core *core = scalar->owner;
    int at = find_plain(csr);
    if (at >= 0) {
        meet_products(core, at);
        memcpy(value, (const uint8_t *)&core->csr + at, sizeof(*value));
        core->looked |= core->unknown && is_result(csr);
        return true;
    }
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
        return !sim_core_must_wait(scalar->owner);
    case LEO_CSR_SUB_BLOCK_NUM:
        *value = core->sub_block_num;
        return true;
    case LEO_CSR_CORE_ID:
        *value = core->id;
        return !sim_core_must_wait(scalar->owner);
    case LEO_CSR_CORE_UNITS:
        *value = (core->kind != LEO_CORE_KIND_VECTOR ? 1u : 0u) |
                 (core->kind != LEO_CORE_KIND_CUBE ? 2u : 0u);
        return true;
    case LEO_CSR_GROUP_VECTORS:
        *value = core->group_vectors;
        return true;
    case LEO_CSR_SYS_CNT:
        return system_count(scalar->owner, value);
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
    int at = find_plain(csr);
    if (at >= 0 && csr < READ_ONLY) {
        meet_products(core, at);
        memcpy((uint8_t *)&core->csr + at, &value, sizeof(value));
        return true;
    }
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
