/* SPDX-License-Identifier: Apache-2.0 */
#include "simd_vector.h"

#include <immintrin.h>

#define LANES 8
#define TABLE sim_simd_vector_avx2
#include "vector_lanes.h"

static inline vf load_f16(const void *src)
{
    return (vf)_mm256_cvtph_ps(_mm_loadu_si128(src));
}

static inline void store_f16(void *dst, vf value)
{
    _mm_storeu_si128(dst,
                     _mm256_cvtps_ph((__m256)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

static inline vf root(vf value)
{
    return (vf)_mm256_sqrt_ps((__m256)value);
}

static inline vf fused(vf a, vf b, vf c)
{
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

static inline vi to_int(vf value)
{
    return (vi)_mm256_cvttps_epi32((__m256)value);
}

static inline vf to_float(vi value)
{
    return (vf)_mm256_cvtepi32_ps((__m256i)value);
}

static inline uint32_t bits_of(vi mask)
{
    return (uint32_t)_mm256_movemask_ps((__m256)mask);
}

static inline vf round_down(vf value)
{
    return (vf)_mm256_floor_ps((__m256)value);
}

static inline vf round_nearest(vf value)
{
    return (vf)_mm256_round_ps((__m256)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#include "vector_body.inc"
