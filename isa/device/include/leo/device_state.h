/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <leo/device.h>: fields of the control register that several instructions look at. */
#pragma once

LEO_INTRIN void leo_set_ctrl_field(uint64_t mask, uint64_t value)
{
    set_ctrl((get_ctrl() & ~mask) | value);
}

/*
 * What writes to global memory do with the value there: set_atomic_none, or an operation and a type
 * set apart (set_atomic_add(); set_atomic_f16();). The 910A adds f32 only.
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

LEO_INTRIN void set_atomic_f32(void)
{
    leo_set_atomic_type(LEO_ATOMIC_TYPE_F32);
}

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
