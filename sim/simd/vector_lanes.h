/* SPDX-License-Identifier: Apache-2.0 */
/* LANES f32 numbers, 32-bit integers or masks side by side, as GCC vector types. Included by one
 * path file each. */
#pragma once

#include <stdint.h>
#include <string.h>

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));
typedef uint32_t vu __attribute__((vector_size(4 * LANES)));
typedef uint16_t vh __attribute__((vector_size(2 * LANES)));

static inline vf splat(float value)
{
    return value - (vf){0};
}

static inline vf load_f32(const void *src)
{
    vf value;
    memcpy(&value, src, sizeof(value));
    return value;
}

static inline void store_f32(void *dst, vf value)
{
    memcpy(dst, &value, sizeof(value));
}

/** Mask lanes are all ones or all zeros, as comparisons give them. */
static inline vf blend(vi mask, vf yes, vf no)
{
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}

static inline vf canonical(vf value)
{
    return blend(value == value, value, (vf)((vu){0} + UINT32_C(0x7fc00000)));
}
