/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <leo/device.h>: what the scalar unit does by itself. */
#pragma once

/* Bits of a scalar operand: floats in the low bits, integers extended by their sign. */
LEO_INTRIN uint64_t leo_bits(half value)
{
    union {
        half value;
        uint16_t bits;
    } u = {value};
    return u.bits;
}

LEO_INTRIN uint64_t leo_bits(bfloat16_t value)
{
    union {
        bfloat16_t value;
        uint16_t bits;
    } u = {value};
    return u.bits;
}

LEO_INTRIN uint64_t leo_bits(float value)
{
    union {
        float value;
        uint32_t bits;
    } u = {value};
    return u.bits;
}

LEO_INTRIN uint64_t leo_bits(int16_t value)
{
    return (uint64_t)(int64_t)value;
}

LEO_INTRIN uint64_t leo_bits(uint16_t value)
{
    return value;
}

LEO_INTRIN uint64_t leo_bits(int32_t value)
{
    return (uint64_t)(int64_t)value;
}

LEO_INTRIN uint64_t leo_bits(uint32_t value)
{
    return value;
}

/* Which block on which core this is. */
LEO_INTRIN int64_t get_block_idx(void)
{
    uint64_t value;
    LEO_CSR_CONST(LEO_CSR_BLOCK_IDX, value);
    return (int64_t)value;
}

LEO_INTRIN int64_t get_block_num(void)
{
    uint64_t value;
    LEO_CSR_CONST(LEO_CSR_BLOCK_NUM, value);
    return (int64_t)value;
}

LEO_INTRIN int64_t get_subblockid(void)
{
    uint64_t value;
    LEO_CSR_CONST(LEO_CSR_SUB_BLOCK_IDX, value);
    return (int64_t)value;
}

LEO_INTRIN int64_t get_subblockdim(void)
{
    uint64_t value;
    LEO_CSR_CONST(LEO_CSR_SUB_BLOCK_NUM, value);
    return (int64_t)value;
}

LEO_INTRIN int64_t get_coreid(void)
{
    uint64_t value;
    LEO_CSR_CONST(LEO_CSR_CORE_ID, value);
    return (int64_t)value;
}

LEO_INTRIN int64_t get_arch_ver(void)
{
    uint64_t value;
    LEO_CSR_CONST(LEO_CSR_ARCH, value);
    return (int64_t)value;
}

/* Which units this core has: both on a coupled chip. */
LEO_INTRIN bool leo_is_cube(void)
{
    uint64_t units;
    LEO_CSR_CONST(LEO_CSR_CORE_UNITS, units);
    return (units & 1) != 0;
}

LEO_INTRIN bool leo_is_vector(void)
{
    uint64_t units;
    LEO_CSR_CONST(LEO_CSR_CORE_UNITS, units);
    return (units & 2) != 0;
}

/* Vector cores that run a block together with a cube core; 0 in a launch of one kind of core. */
LEO_INTRIN int64_t leo_group_vectors(void)
{
    uint64_t value;
    LEO_CSR_CONST(LEO_CSR_GROUP_VECTORS, value);
    return (int64_t)value;
}

/* if ASCEND_IS_AIC { ... }: the parts of a kernel that is written for both kinds of core. */
#define ASCEND_IS_AIC (leo_is_cube())
#define ASCEND_IS_AIV (leo_is_vector())

/* Time: read anew each time. */
LEO_INTRIN int64_t get_sys_cnt(void)
{
    uint64_t value;
    LEO_CSR_READ(LEO_CSR_SYS_CNT, value);
    return (int64_t)value;
}

LEO_INTRIN uint64_t get_ctrl(void)
{
    uint64_t value;
    LEO_CSR_READ(LEO_CSR_CTRL, value);
    return value;
}

LEO_INTRIN void set_ctrl(uint64_t value)
{
    LEO_CSR_WRITE(LEO_CSR_CTRL, value);
}

/* Bits. */
LEO_INTRIN int64_t bcnt1(uint64_t value)
{
    int64_t count = 0;
    for (; value; value &= value - 1) {
        count++;
    }
    return count;
}

LEO_INTRIN int64_t bcnt0(uint64_t value)
{
    return 64 - bcnt1(value);
}

/* Position of the first 1 from bit 0; -1 if there is none. */
LEO_INTRIN int64_t sff1(uint64_t value)
{
    return value ? bcnt1((value & -value) - 1) : -1;
}

LEO_INTRIN int64_t sff0(uint64_t value)
{
    return sff1(~value);
}

/* Zeros above the highest 1; 64 for 0. */
LEO_INTRIN int64_t clz(uint64_t value)
{
    int64_t count = 64;
    for (; value; value >>= 1) {
        count--;
    }
    return count;
}

LEO_INTRIN uint64_t sbitset0(uint64_t value, int64_t position)
{
    return value & ~(UINT64_C(1) << (position & 63));
}

LEO_INTRIN uint64_t sbitset1(uint64_t value, int64_t position)
{
    return value | UINT64_C(1) << (position & 63);
}
