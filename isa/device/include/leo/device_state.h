/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <leo/device.h>: fields of the control register that several instructions look at. */
#pragma once

LEO_INTRIN void leo_set_ctrl_field(uint64_t mask, uint64_t value)
{
    set_ctrl((get_ctrl() & ~mask) | value);
}

/*
 * What writes to global memory do with the value there: set_atomic_none, or an operation and a type
 * set apart (set_atomic_add(); set_atomic_f16();). The 910A adds f32 only: there the type alone
 * turns the addition on, as kernels of that generation write it.
 */
#define LEO_CTRL_ATOMIC(operation) leo_pack_ctrl(0, operation, 0, 0, 0, 0)
#define LEO_CTRL_TYPE(type)        leo_pack_ctrl(0, 0, type, 0, 0, 0)

LEO_INTRIN void leo_set_atomic(uint8_t operation)
{
    leo_set_ctrl_field(LEO_CTRL_ATOMIC(7), LEO_CTRL_ATOMIC(operation));
}

LEO_INTRIN void leo_set_atomic_type(uint8_t type)
{
    leo_set_ctrl_field(LEO_CTRL_TYPE(15), LEO_CTRL_TYPE(type));
}

LEO_INTRIN void set_atomic_none(void)
{
    leo_set_atomic(LEO_ATOMIC_NONE);
}

LEO_INTRIN void set_atomic_add(void)
{
    leo_set_atomic(LEO_ATOMIC_ADD);
}

LEO_INTRIN void set_atomic_max(void)
{
    leo_set_atomic(LEO_ATOMIC_MAX);
}

LEO_INTRIN void set_atomic_min(void)
{
    leo_set_atomic(LEO_ATOMIC_MIN);
}

#if LEO_HAS_2201
LEO_INTRIN void set_atomic_f32(void)
{
    leo_set_atomic_type(LEO_ATOMIC_TYPE_F32);
}
#else
LEO_INTRIN void set_atomic_f32(void)
{
    leo_set_atomic_type(LEO_ATOMIC_TYPE_F32);
    set_atomic_add();
}
#endif

LEO_INTRIN void set_atomic_f16(void)
{
    leo_set_atomic_type(LEO_ATOMIC_TYPE_F16);
}

LEO_INTRIN void set_atomic_bf16(void)
{
    leo_set_atomic_type(LEO_ATOMIC_TYPE_BF16);
}

LEO_INTRIN void set_atomic_s8(void)
{
    leo_set_atomic_type(LEO_ATOMIC_TYPE_S8);
}

LEO_INTRIN void set_atomic_s16(void)
{
    leo_set_atomic_type(LEO_ATOMIC_TYPE_S16);
}

LEO_INTRIN void set_atomic_s32(void)
{
    leo_set_atomic_type(LEO_ATOMIC_TYPE_S32);
}

/* mad of f32 operands rounds them to hf32 first; ties to even, or to zero. */
LEO_INTRIN void leo_set_hf32(bool on)
{
    leo_set_ctrl_field(leo_pack_ctrl(0, 0, 0, 0, 1, 0), leo_pack_ctrl(0, 0, 0, 0, on, 0));
}

LEO_INTRIN void leo_set_hf32_to_zero(bool on)
{
    leo_set_ctrl_field(leo_pack_ctrl(0, 0, 0, 0, 0, 1), leo_pack_ctrl(0, 0, 0, 0, 0, on));
}

/* Registers that instructions take values from. */
LEO_INTRIN void set_deqscale(uint64_t word)
{
    LEO_CSR_WRITE(LEO_CSR_DEQSCALE, word);
}

LEO_INTRIN void set_deqscale(half scale)
{
    LEO_CSR_WRITE(LEO_CSR_DEQSCALE, leo_bits(scale));
}

LEO_INTRIN void set_fmatrix(uint64_t word)
{
    LEO_CSR_WRITE(LEO_CSR_FMATRIX, word);
}

LEO_INTRIN void set_fmatrix_b(uint64_t word)
{
    LEO_CSR_WRITE(LEO_CSR_FMATRIX_B, word);
}

LEO_INTRIN void set_padding(uint64_t value)
{
    LEO_CSR_WRITE(LEO_CSR_PADDING, value);
}

LEO_INTRIN void set_l1_3d_size(uint64_t bytes)
{
    LEO_CSR_WRITE(LEO_CSR_L1_3D_SIZE, bytes);
}

LEO_INTRIN void set_l3d_rpt(uint64_t word)
{
    LEO_CSR_WRITE(LEO_CSR_L3D_RPT, word);
}

LEO_INTRIN void set_nd_para(uint64_t word)
{
    LEO_CSR_WRITE(LEO_CSR_ND_PARA, word);
}

LEO_INTRIN void set_quant_pre(uint64_t word)
{
    LEO_CSR_WRITE(LEO_CSR_QUANT_PRE, word);
}

LEO_INTRIN void set_fpc(uint64_t word)
{
    LEO_CSR_WRITE(LEO_CSR_FPC, word);
}

LEO_INTRIN uint64_t get_fpc(void)
{
    uint64_t value;
    LEO_CSR_READ(LEO_CSR_FPC, value);
    return value;
}

LEO_INTRIN void set_lrelu_alpha(float slope)
{
    LEO_CSR_WRITE(LEO_CSR_LRELU_ALPHA, leo_bits(slope));
}

LEO_INTRIN void set_lrelu_alpha(half slope)
{
    LEO_CSR_WRITE(LEO_CSR_LRELU_ALPHA, leo_bits((float)slope));
}

LEO_INTRIN void set_mov_pad_val(uint64_t value)
{
    LEO_CSR_WRITE(LEO_CSR_MOV_PAD_VAL, value);
}

/* Float results stop at the largest number and NaN becomes 0; the first such result raises the
 * overflow status. The first generation starts so, later ones do not. */
LEO_INTRIN void leo_set_saturate(bool on)
{
    leo_set_ctrl_field(leo_pack_ctrl(0, 0, 0, 1, 0, 0), leo_pack_ctrl(0, 0, 0, on, 0, 0));
}

LEO_INTRIN bool leo_get_saturate(void)
{
    return (get_ctrl() & leo_pack_ctrl(0, 0, 0, 1, 0, 0)) != 0;
}

LEO_INTRIN uint64_t get_overflow_status(void)
{
    uint64_t value;
    LEO_CSR_READ(LEO_CSR_OVERFLOW_STATUS, value);
    return value;
}

LEO_INTRIN void leo_clear_overflow(void)
{
    LEO_CSR_WRITE(LEO_CSR_OVERFLOW, 0);
}

/* For results that a kernel replaces itself. */
LEO_INTRIN void leo_raise_overflow(void)
{
    LEO_CSR_WRITE(LEO_CSR_OVERFLOW, 1);
}

/* What instructions leave. */
LEO_INTRIN int64_t get_acc_val(void)
{
    uint64_t value;
    LEO_CSR_READ(LEO_CSR_ACC_VAL, value);
    return (int64_t)value;
}

LEO_INTRIN int64_t get_max_min_cnt(void)
{
    uint64_t value;
    LEO_CSR_READ(LEO_CSR_MAX_MIN_CNT, value);
    return (int64_t)value;
}

LEO_INTRIN int64_t get_rsvd_cnt(void)
{
    uint64_t value;
    LEO_CSR_READ(LEO_CSR_RSVD_CNT, value);
    return (int64_t)value;
}

LEO_INTRIN int64_t get_vms4_sr(void)
{
    uint64_t value;
    LEO_CSR_READ(LEO_CSR_VMS4_SR, value);
    return (int64_t)value;
}

/* Stores the compare mask as 16 bytes of UB. */
LEO_INTRIN void get_cmpmask(__ubuf__ void *mask)
{
    LEO_U4(0x7b, 6, 1, 4, mask, 0, 0);
}

/* VA registers: eight UB addresses each, for scatter_vnchwconv. */
LEO_INTRIN void set_va_reg_sb(ub_addr8_t reg, const uint64_t *addresses)
{
    LEO_R4(0x5b, 5, 0, reg, leo_ub_blocks(addresses[0], addresses[1], addresses[2], addresses[3]),
           leo_ub_blocks(addresses[4], addresses[5], addresses[6], addresses[7]), 0);
}

LEO_INTRIN void vld_va_reg(ub_addr8_t reg, __ubuf__ const uint64_t *blocks, va_half_t part)
{
    LEO_R4(0x5b, 5, 1, reg, blocks, part, 0);
}
