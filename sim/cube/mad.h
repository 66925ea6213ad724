/* SPDX-License-Identifier: Apache-2.0 */
/* Shape of the operands of mmad by its type. docs/hw/cube.md. */
#pragma once

#include "core/core.h"
#include <sim_units.h>

#define MAD_ROW_BYTES 32u /* of a fractal */

/** Bits of an element of A and B. */
static inline unsigned mad_operand_bits(enum leo_mad type)
{
    switch (type) {
    case LEO_MAD_F32F32:
    case LEO_MAD_HF32F32:
        return 32;
    case LEO_MAD_S8S32:
    case LEO_MAD_U8U32:
    case LEO_MAD_U8S32:
        return 8;
    case LEO_MAD_S4S32:
        return 4;
    case LEO_MAD_F16F32:
    case LEO_MAD_F16F16:
    case LEO_MAD_BF16F32:
    case LEO_MAD_F16U2:
        break;
    }
    return 16;
}

/** Bytes of a fractal of B: those of u2 are two bits an element. */
static inline uint32_t mad_right_bytes(enum leo_mad type)
{
    return type == LEO_MAD_F16U2 ? 64 : 512;
}

/** Results are f16. */
static inline bool mad_is_half(enum leo_mad type)
{
    return type == LEO_MAD_F16F16 || type == LEO_MAD_F16U2;
}

/** Fractals along k: 16 rows of 32 bytes each. With k_align 32-bit operands come in pairs. */
static inline uint32_t mad_fractals_of_k(const struct leo_cfg_mad *cfg)
{
    unsigned bits = mad_operand_bits(cfg->type);
    uint32_t k0 = MAD_ROW_BYTES * 8 / bits;
    uint32_t fractals = (cfg->k + k0 - 1) / k0;
    return cfg->k_align && bits == 32 ? (fractals + 1) & ~1u : fractals;
}

/** Fractals along k of a right matrix of which two of four elements are there (s8). */
static inline uint64_t mad_sparse_fractals(const struct leo_cfg_mad *cfg)
{
    return (cfg->k + 2 * MAD_ROW_BYTES - 1) / (2 * MAD_ROW_BYTES);
}

/** The product of a footprint's L0A with `b`, fractals as in L0B, into its L0C. */
void mad_multiply(struct sim_core *core, const struct sim_op *op, uint8_t *b);

/** A is a plain vector of k elements. */
static inline bool mad_is_vector(const struct leo_cfg_mad *cfg)
{
    return cfg->m == 1 && !cfg->gemv_off;
}
