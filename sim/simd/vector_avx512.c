/* SPDX-License-Identifier: Apache-2.0 */
#include "simd_vector.h"

#include <immintrin.h>

#define LANES 16
#define TABLE sim_simd_vector_avx512
#include "vector_lanes.h"

static inline vf load_f16(const void *src)
{
    return (vf)_mm512_cvtph_ps(_mm256_loadu_si256(src));
}

static inline void store_f16(void *dst, vf value)
{
    _mm256_storeu_si256(
        dst, _mm512_cvtps_ph((__m512)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

static inline vf root(vf value)
{
    return (vf)_mm512_sqrt_ps((__m512)value);
}

static inline vf fused(vf a, vf b, vf c)
{
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

static inline vi to_int(vf value)
{
    return (vi)_mm512_cvttps_epi32((__m512)value);
}

static inline vf to_float(vi value)
{
    return (vf)_mm512_cvtepi32_ps((__m512i)value);
}

static inline uint32_t bits_of(vi mask)
{
    return _mm512_movepi32_mask((__m512i)mask);
}

static inline vf round_down(vf value)
{
    return (vf)_mm512_roundscale_ps((__m512)value, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

static inline vf round_nearest(vf value)
{
    return (vf)_mm512_roundscale_ps((__m512)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#include "vector_body.inc"
