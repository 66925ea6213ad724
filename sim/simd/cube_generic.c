/* SPDX-License-Identifier: Apache-2.0 */
/* The truth the other paths are tested against: one element at a time. */
#include "cube_element.h"
#include "simd_cube.h"

#include <math.h>
#include <string.h>

#define F32_NAN 0x7fc00000u

static uint32_t f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float bits_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float canonical(float value)
{
    return value == value ? value : bits_f32(F32_NAN);
}

static float f16_to_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = half >> 10 & 0x1fu;
    uint32_t fraction = half & 0x3ffu;
    if (exponent == 0x1f) {
        return bits_f32(fraction ? F32_NAN : sign | 0x7f800000u);
    }
    if (exponent == 0) {
        float magnitude = (float)fraction * bits_f32(0x33800000u); // 2^-24, exact
        return sign ? -magnitude : magnitude;
    }
    return bits_f32(sign | (exponent + 112) << 23 | fraction << 13);
}

/** Nearest, ties to even; overflow gives infinity; NaN gives 0x7e00. */
static uint16_t f32_to_f16(float value)
{
    uint32_t bits = f32_bits(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return 0x7e00;
    }
    if (magnitude >= 0x477ff000u) { // 65520 and up round to infinity
        return sign | 0x7c00;
    }
    if (magnitude < 0x38800000u) { // below 2^-14: adding 0.5 leaves the rounded multiple of 2^-24
                                   // in the low bits
        return sign | (uint16_t)(f32_bits(bits_f32(magnitude) + 0.5f) - 0x3f000000u);
    }
    uint32_t odd = magnitude >> 13 & 1u;
    return sign | (uint16_t)((magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}

static uint16_t f32_to_bf16(float value)
{
    uint32_t bits = f32_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fc0;
    }
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static float load_real(const void *from, size_t at, enum sim_cube_in in,
                       const struct sim_mmad *mmad)
{
    if (in == SIM_CUBE_IN_F16) {
        return f16_to_f32(((const uint16_t *)from)[at]);
    }
    if (in == SIM_CUBE_IN_BF16) {
        return bits_f32((uint32_t)((const uint16_t *)from)[at] << 16);
    }
    uint32_t bits = ((const uint32_t *)from)[at];
    return bits_f32(mmad->type == LEO_MAD_HF32F32 ? sim_cube_hf32(bits, mmad->to_zero) : bits);
}

static int32_t load_integer(const void *from, size_t at, enum sim_cube_in in)
{
    if (in == SIM_CUBE_IN_U8) {
        return ((const uint8_t *)from)[at];
    }
    if (in == SIM_CUBE_IN_S8) {
        return ((const int8_t *)from)[at];
    }
    int32_t value = ((const uint8_t *)from)[at / 2] >> at % 2 * 4 & 15; // the first one lies low
    return value < 8 ? value : value - 16;
}

/* Index of element (i, p) of A. */
static size_t a_index(const struct sim_mmad *mmad, uint32_t k0, uint32_t i, uint32_t p)
{
    return mmad->vector ? p : (((size_t)(i / 16) * mmad->k1 + p / k0) * 16 + i % 16) * k0 + p % k0;
}

/* Index of element (p, j) of B. */
static size_t b_index(const struct sim_mmad *mmad, uint32_t k0, uint32_t p, uint32_t j)
{
    return (((size_t)(p / k0) * ((mmad->n + 15) / 16) + j / 16) * 16 + j % 16) * k0 + p % k0;
}

static void multiply_real(const struct sim_mmad *mmad, struct sim_cube_types types, uint32_t i,
                          uint32_t j, void *c)
{
    const uint32_t k0 = sim_cube_k0(types.a);
    const bool half = mmad->type == LEO_MAD_F16F16;
    float sum = 0;
    if (!mmad->zero && mmad->bias) {
        sum = ((const float *)mmad->bias)[j];
    } else if (!mmad->zero) {
        sum = half ? f16_to_f32(*(const uint16_t *)c) : *(const float *)c;
    }
    for (uint32_t p = 0; p < mmad->k; p++) {
        sum = fmaf(load_real(mmad->a, a_index(mmad, k0, i, p), types.a, mmad),
                   load_real(mmad->b, b_index(mmad, k0, p, j), types.b, mmad), sum);
    }
    if (half) {
        *(uint16_t *)c = f32_to_f16(sum);
    } else {
        *(float *)c = canonical(sum);
    }
}

static void multiply_integer(const struct sim_mmad *mmad, struct sim_cube_types types, uint32_t i,
                             uint32_t j, uint32_t *c)
{
    const uint32_t k0 = sim_cube_k0(types.a);
    uint32_t sum = mmad->zero ? 0 : mmad->bias ? ((const uint32_t *)mmad->bias)[j] : *c;
    for (uint32_t p = 0; p < mmad->k; p++) {
        sum += (uint32_t)(load_integer(mmad->a, a_index(mmad, k0, i, p), types.a) *
                          load_integer(mmad->b, b_index(mmad, k0, p, j), types.b));
    }
    *c = sum;
}

static bool mmad(const struct sim_mmad *mmad)
{
    const struct sim_cube_types types = sim_cube_types_of(mmad->type);
    const uint32_t m1 = (mmad->m + 15) / 16;
    const size_t bytes = mmad->type == LEO_MAD_F16F16 ? 2 : 4;
    for (uint32_t i = 0; i < mmad->m; i++) {
        for (uint32_t j = 0; j < mmad->n; j++) {
            size_t at = ((size_t)(j / 16) * m1 + i / 16) * 256 + i % 16 * 16 + j % 16;
            void *c = (uint8_t *)mmad->c + at * bytes;
            if (types.is_integer) {
                multiply_integer(mmad, types, i, j, c);
            } else {
                multiply_real(mmad, types, i, j, c);
            }
        }
    }
    return false;
}

static void transpose_b16(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                          uint32_t count)
{
    for (uint32_t f = 0; f < count; f++) {
        for (unsigned i = 0; i < 16; i++) {
            for (unsigned j = 0; j < 16; j++) {
                memcpy(dst + (j * 16 + i) * 2, src + (i * 16 + j) * 2, 2);
            }
        }
        dst += dst_step;
        src += src_step;
    }
}

static void copy_fractals(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                          uint32_t count)
{
    for (uint32_t f = 0; f < count; f++) {
        memcpy(dst, src, 512);
        dst += dst_step;
        src += src_step;
    }
}

static void nd2nz(uint8_t *dst, size_t dst_column_pitch, size_t dst_row_pitch, const uint8_t *src,
                  size_t src_pitch, uint32_t rows, uint32_t row_bytes)
{
    uint32_t columns = row_bytes / 32, tail = row_bytes % 32;
    for (uint32_t row = 0; row < rows; row++) {
        const uint8_t *from = src + row * src_pitch;
        uint8_t *to = dst + row * dst_row_pitch;
        for (uint32_t column = 0; column < columns; column++) {
            memcpy(to, from, 32);
            from += 32;
            to += dst_column_pitch;
        }
        if (tail) {
            memcpy(to, from, tail);
            memset(to + tail, 0, 32 - tail);
        }
    }
}

void sim_cube_convert_generic(uint8_t *dst, size_t dst_pitch, const float *src, uint32_t rows,
                              uint32_t cols, enum sim_cube_out out, bool relu)
{
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t col = 0; col < cols; col++) {
            float value = src[row * 16 + col];
            if (relu) {
                value = value > 0.0f ? value : value == value ? 0.0f : bits_f32(F32_NAN);
            }
            uint16_t half = out == SIM_CUBE_OUT_F16 ? f32_to_f16(value) : f32_to_bf16(value);
            if (out == SIM_CUBE_OUT_F32) {
                memcpy(dst + row * dst_pitch + col * 4, &value, 4);
            } else {
                memcpy(dst + row * dst_pitch + col * 2, &half, 2);
            }
        }
    }
}

static void copy_pieces(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                        uint64_t bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        memcpy(dst, src, bytes);
        dst += dst_step;
        src += src_step;
    }
}

const struct sim_simd_cube sim_simd_cube_generic = {
    .mmad = mmad,
    .transpose_b16 = transpose_b16,
    .copy_fractals = copy_fractals,
    .copy_pieces = copy_pieces,
    .nd2nz = nd2nz,
    .convert = sim_cube_convert_generic,
};
