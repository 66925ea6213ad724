/* SPDX-License-Identifier: Apache-2.0 */
/* The truth the other paths are tested against: one element at a time. */
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

static void mmad_f16(const struct sim_mmad *mmad)
{
    uint32_t m1 = (mmad->m + 15) / 16, k1 = (mmad->k + 15) / 16, n1 = (mmad->n + 15) / 16;
    for (uint32_t i = 0; i < mmad->m; i++) {
        for (uint32_t j = 0; j < mmad->n; j++) {
            float *c = mmad->c + ((size_t)(j / 16) * m1 + i / 16) * 256 + i % 16 * 16 + j % 16;
            float sum = mmad->zero ? 0.0f : mmad->bias ? mmad->bias[j] : *c;
            for (uint32_t p = 0; p < mmad->k; p++) {
                uint16_t a = mmad->a[((size_t)(i / 16) * k1 + p / 16) * 256 + i % 16 * 16 + p % 16];
                uint16_t b = mmad->b[((size_t)(p / 16) * n1 + j / 16) * 256 + j % 16 * 16 + p % 16];
                sum = fmaf(f16_to_f32(a), f16_to_f32(b), sum);
            }
            *c = canonical(sum);
        }
    }
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

static void add_f32(uint8_t *dst, const uint8_t *src, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float a, b;
        memcpy(&a, dst + i * 4, 4);
        memcpy(&b, src + i * 4, 4);
        a = canonical(a + b);
        memcpy(dst + i * 4, &a, 4);
    }
}

const struct sim_simd_cube sim_simd_cube_generic = {
    .mmad_f16 = mmad_f16,
    .transpose_b16 = transpose_b16,
    .copy_fractals = copy_fractals,
    .nd2nz = nd2nz,
    .convert = sim_cube_convert_generic,
    .add_f32 = add_f32,
};
