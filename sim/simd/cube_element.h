/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of the cube one element at a time: formats and places in their fractals. */
#pragma once

#include "simd_cube.h"

/** Format of an operand. */
enum sim_cube_in {
    SIM_CUBE_IN_F16,
    SIM_CUBE_IN_BF16,
    SIM_CUBE_IN_F32,
    SIM_CUBE_IN_S8,
    SIM_CUBE_IN_U8,
    SIM_CUBE_IN_S4
};

struct sim_cube_types {
    enum sim_cube_in a, b;
    bool is_integer;
};

static inline struct sim_cube_types sim_cube_types_of(enum leo_mad type)
{
    switch (type) {
    case LEO_MAD_BF16F32:
        return (struct sim_cube_types){SIM_CUBE_IN_BF16, SIM_CUBE_IN_BF16, false};
    case LEO_MAD_F32F32:
    case LEO_MAD_HF32F32:
        return (struct sim_cube_types){SIM_CUBE_IN_F32, SIM_CUBE_IN_F32, false};
    case LEO_MAD_S8S32:
        return (struct sim_cube_types){SIM_CUBE_IN_S8, SIM_CUBE_IN_S8, true};
    case LEO_MAD_U8U32:
        return (struct sim_cube_types){SIM_CUBE_IN_U8, SIM_CUBE_IN_U8, true};
    case LEO_MAD_U8S32:
        return (struct sim_cube_types){SIM_CUBE_IN_U8, SIM_CUBE_IN_S8, true};
    case LEO_MAD_S4S32:
        return (struct sim_cube_types){SIM_CUBE_IN_S4, SIM_CUBE_IN_S4, true};
    case LEO_MAD_F16F32:
    case LEO_MAD_F16F16:
    case LEO_MAD_F16U2: // becomes F16F16 (cube/exec_cube.c)
        break;
    }
    return (struct sim_cube_types){SIM_CUBE_IN_F16, SIM_CUBE_IN_F16, false};
}

/** Elements of a fractal's row: 32 bytes. */
static inline uint32_t sim_cube_k0(enum sim_cube_in in)
{
    switch (in) {
    case SIM_CUBE_IN_F32:
        return 8;
    case SIM_CUBE_IN_S8:
    case SIM_CUBE_IN_U8:
        return 32;
    case SIM_CUBE_IN_S4:
        return 64;
    case SIM_CUBE_IN_F16:
    case SIM_CUBE_IN_BF16:
        break;
    }
    return 16;
}

/** f32 bits rounded to the 11 fraction bits of hf32; NaN and infinity stay. */
static inline uint32_t sim_cube_hf32(uint32_t bits, bool to_zero)
{
    if ((bits & 0x7f800000u) == 0x7f800000u) {
        return bits;
    }
    const uint32_t half = to_zero ? 0x7ffu : 0x7ffu + (bits >> 12 & 1u);
    return (bits + half) & ~0xfffu;
}
