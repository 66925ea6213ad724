/* SPDX-License-Identifier: Apache-2.0 */
#include "cube_pack.h"

#include <string.h>

#define FRACTAL_BYTES 512u

static const uint8_t *fractal_at(const void *base, size_t index)
{
    return (const uint8_t *)base + index * FRACTAL_BYTES;
}

/** A fractal of 16-bit elements where it lies; `turned`: it is to be transposed first. */
static const uint16_t *half_at(const void *base, size_t index, const struct sim_mmad *mmad,
                               const uint32_t *view, bool *turned)
{
    const uint32_t from = view ? view[index] : 0;
    *turned = from & SIM_VIEW_TURNED;
    return (const void *)(from & SIM_VIEW ? mmad->l1 + (from & ~(uint32_t)SIM_VIEW_BITS)
                                          : fractal_at(base, index));
}

static uint32_t columns_of(uint32_t k, uint32_t k0)
{
    return (k + k0 - 1) / k0;
}

/** Nibbles to bytes: a row of 64 s4 becomes a row of each of two s8 fractals. */
static void split_s4(uint8_t low[FRACTAL_BYTES], uint8_t high[FRACTAL_BYTES], const uint8_t *src)
{
    for (unsigned row = 0; row < 16; row++) {
        for (unsigned i = 0; i < 32; i++) {
            const uint8_t pair = src[row * 32 + i];
            uint8_t *to = (i < 16 ? low : high) + row * 32 + i % 16 * 2;
            to[0] = (uint8_t)((pair & 15u) ^ 8u) - 8u;
            to[1] = (uint8_t)((uint8_t)(pair >> 4) ^ 8u) - 8u;
        }
    }
}

static void round_hf32(uint32_t *words, size_t count, bool to_zero)
{
    for (size_t i = 0; i < count; i++) {
        words[i] = sim_cube_hf32(words[i], to_zero);
    }
}

static void widen_bytes(int16_t *dst, const uint8_t *src, size_t count, bool is_signed)
{
    if (is_signed) {
        for (size_t i = 0; i < count; i++) {
            dst[i] = (int8_t)src[i];
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            dst[i] = src[i];
        }
    }
}

/** An s8 or u8 fractal that covers the 32 elements of tile `tile`; s4 is unpacked to `buffer`. */
static const uint8_t *byte_fractal(const void *base, size_t row, uint32_t stride, uint32_t tile,
                                   enum sim_cube_in in, uint8_t buffer[2][FRACTAL_BYTES])
{
    if (in != SIM_CUBE_IN_S4) {
        return fractal_at(base, row + (size_t)tile * stride);
    }
    split_s4(buffer[0], buffer[1], fractal_at(base, row + (size_t)(tile / 2) * stride));
    return buffer[tile % 2];
}

static void pack_a_views(const struct sim_cube_widen *widen, const struct sim_mmad *mmad,
                         size_t first, uint32_t tiles, float *dst)
{
    for (uint32_t i = 0; i < tiles; i++) {
        bool turned;
        const uint16_t *from = half_at(mmad->a, first + i, mmad, mmad->a_view, &turned);
        if (turned) {
            widen->turned(dst + (size_t)i * 256, 16, from);
        } else {
            widen->run(dst + (size_t)i * 256, from, 256);
        }
    }
}

static void pack_a_real(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad,
                        enum sim_cube_in in, uint32_t row, float *dst)
{
    const uint32_t tiles = columns_of(mmad->k, 16);
    const size_t first = (size_t)row * mmad->k1;
    if (in == SIM_CUBE_IN_F16 || in == SIM_CUBE_IN_BF16) {
        const struct sim_cube_widen *widen = &kernel->widen[in];
        if (mmad->a_view) {
            pack_a_views(widen, mmad, first, tiles, dst);
        } else {
            widen->run(dst, (const void *)fractal_at(mmad->a, first), (size_t)tiles * 256);
        }
        return;
    }
    const uint32_t halves = columns_of(mmad->k, 8);
    for (uint32_t half = 0; half < halves; half++) {
        const uint8_t *from = fractal_at(mmad->a, first + half);
        float *to = dst + (size_t)(half / 2) * 256 + half % 2 * 8;
        for (unsigned i = 0; i < 16; i++) {
            memcpy(to + i * 16, from + i * 32, 32);
        }
    }
    if (mmad->type == LEO_MAD_HF32F32) {
        round_hf32((void *)dst, (size_t)tiles * 256, mmad->to_zero);
    }
}

static void pack_a_integer(const struct sim_mmad *mmad, enum sim_cube_in in, uint32_t row,
                           int16_t *dst)
{
    const uint32_t tiles = columns_of(mmad->k, 32);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        uint8_t buffer[2][FRACTAL_BYTES];
        const uint8_t *from = byte_fractal(mmad->a, (size_t)row * mmad->k1, 1, tile, in, buffer);
        widen_bytes(dst + (size_t)tile * 512, from, 512, in != SIM_CUBE_IN_U8);
    }
    if (mmad->k % 2) { // the last pair is half an element of A
        int16_t *last = dst + (size_t)(mmad->k / 32) * 512 + mmad->k % 32;
        for (unsigned i = 0; i < 16; i++) {
            last[i * 32] = 0;
        }
    }
}

/** m = 1: the elements of A one after the other become row 0 of the tiles. */
static void pack_vector(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad,
                        struct sim_cube_types types, void *dst)
{
    _Alignas(64) uint8_t fractal[4096] = {0}; // one tile's elements, first rows of its fractals
    const uint32_t k0 = sim_cube_k0(types.a), tile_k = sim_cube_tile_k(types.is_integer);
    const uint32_t row_bytes = types.a == SIM_CUBE_IN_S4 ? tile_k / 2 : tile_k * 32 / k0;
    const uint32_t all = (mmad->k * 32 + k0 - 1) / k0;
    for (uint32_t tile = 0; tile * tile_k < mmad->k; tile++) {
        const uint8_t *from = (const uint8_t *)mmad->a + (size_t)tile * row_bytes;
        const uint32_t left = all - tile * row_bytes;
        for (uint32_t at = 0; at < row_bytes && at < left; at += 32) {
            const uint32_t bytes = left - at < 32 ? left - at : 32;
            memcpy(fractal + at / 32 * FRACTAL_BYTES, from + at, bytes);
        }
        struct sim_mmad one = *mmad;
        one.a = fractal;
        one.k1 = 2;
        one.k = mmad->k - tile * tile_k < tile_k ? mmad->k - tile * tile_k : tile_k;
        uint8_t *to = (uint8_t *)dst + (size_t)tile * 1024;
        if (types.is_integer) {
            pack_a_integer(&one, types.a, 0, (void *)to);
        } else {
            pack_a_real(kernel, &one, types.a, 0, (void *)to);
        }
    }
}

void sim_cube_pack_a(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad,
                     uint32_t top, uint32_t rows, void *dst, size_t row_bytes)
{
    const struct sim_cube_types types = sim_cube_types_of(mmad->type);
    if (mmad->vector) {
        pack_vector(kernel, mmad, types, dst);
        return;
    }
    for (uint32_t row = 0; row < rows; row++) {
        void *to = (uint8_t *)dst + row * row_bytes;
        if (types.is_integer) {
            pack_a_integer(mmad, types.a, top + row, to);
        } else {
            pack_a_real(kernel, mmad, types.a, top + row, to);
        }
    }
}

/** 16 x 8 f32 to 8 rows of 16. */
static void transpose_f32(uint32_t *dst, size_t row_words, const uint32_t *src)
{
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned j = 0; j < 16; j++) {
            dst[i * row_words + j] = src[j * 8 + i];
        }
    }
}

static void pack_b_integer(const struct sim_cube_kernel *kernel, const uint8_t *from,
                           bool is_signed, uint32_t *dst, size_t row_words)
{
    _Alignas(64) uint8_t turned[FRACTAL_BYTES];
    kernel->transpose(turned, from); // pairs of bytes change places
    for (unsigned p = 0; p < 16; p++) {
        widen_bytes((void *)(dst + p * row_words), turned + p * 32, 32, is_signed);
    }
}

void sim_cube_pack_b(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad,
                     uint32_t tile, uint32_t column, uint32_t *dst, size_t row_words)
{
    const enum sim_cube_in in = sim_cube_types_of(mmad->type).b;
    const uint32_t n1 = (mmad->n + 15) / 16;
    _Alignas(64) uint8_t buffer[2][FRACTAL_BYTES];
    bool turned;
    const uint16_t *from;
    switch (in) {
    case SIM_CUBE_IN_F16:
    case SIM_CUBE_IN_BF16:
        from = half_at(mmad->b, (size_t)tile * n1 + column, mmad, mmad->b_view, &turned);
        (turned ? kernel->widen[in].rows : kernel->widen[in].turned)((void *)dst, row_words, from);
        break;
    case SIM_CUBE_IN_F32:
        for (uint32_t half = 0; half < 2 && tile * 16 + half * 8 < mmad->k; half++) {
            uint32_t *to = dst + half * 8 * row_words;
            transpose_f32(
                to, row_words,
                (const void *)fractal_at(mmad->b, (size_t)(tile * 2 + half) * n1 + column));
            for (unsigned p = 0; mmad->type == LEO_MAD_HF32F32 && p < 8; p++) {
                round_hf32(to + p * row_words, 16, mmad->to_zero);
            }
        }
        break;
    case SIM_CUBE_IN_S8:
    case SIM_CUBE_IN_U8:
    case SIM_CUBE_IN_S4:
        pack_b_integer(kernel, byte_fractal(mmad->b, column, n1, tile, in, buffer),
                       in != SIM_CUBE_IN_U8, dst, row_words);
        break;
    }
}
