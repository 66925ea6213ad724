/* SPDX-License-Identifier: Apache-2.0 */
/* 8 rows x 2 fractals of C in sixteen registers: two FMA pipes of latency four stay full, and the
 * ten loads a step fit. */
#include "cube_blocked.h"

#include <immintrin.h>
#include <string.h>

#define MAX_ROWS  8
#define MAX_WIDTH 2

/* Index tables of a 16 x 16 transpose by three levels of two-source word permutes. */
// clang-format off
static const uint16_t rows4_0[32] = {
    0, 16, 32, 48, 1, 17, 33, 49, 2, 18, 34, 50, 3, 19, 35, 51,
    4, 20, 36, 52, 5, 21, 37, 53, 6, 22, 38, 54, 7, 23, 39, 55,
};
static const uint16_t rows4_1[32] = {
    8, 24, 40, 56, 9, 25, 41, 57, 10, 26, 42, 58, 11, 27, 43, 59,
    12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63,
};
static const uint16_t rows8_0[32] = {
    0, 1, 2, 3, 32, 33, 34, 35, 4, 5, 6, 7, 36, 37, 38, 39,
    8, 9, 10, 11, 40, 41, 42, 43, 12, 13, 14, 15, 44, 45, 46, 47,
};
static const uint16_t rows8_1[32] = {
    16, 17, 18, 19, 48, 49, 50, 51, 20, 21, 22, 23, 52, 53, 54, 55,
    24, 25, 26, 27, 56, 57, 58, 59, 28, 29, 30, 31, 60, 61, 62, 63,
};
static const uint16_t rows16_0[32] = {
    0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39,
    8, 9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47,
};
static const uint16_t rows16_1[32] = {
    16, 17, 18, 19, 20, 21, 22, 23, 48, 49, 50, 51, 52, 53, 54, 55,
    24, 25, 26, 27, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63,
};
// clang-format on

static inline __attribute__((always_inline)) void transpose_fractal(__m512i out[8],
                                                                    const uint8_t *src)
{
    const __m512i i4[2] = {_mm512_loadu_si512(rows4_0), _mm512_loadu_si512(rows4_1)};
    const __m512i i8[2] = {_mm512_loadu_si512(rows8_0), _mm512_loadu_si512(rows8_1)};
    const __m512i i16[2] = {_mm512_loadu_si512(rows16_0), _mm512_loadu_si512(rows16_1)};
    __m512i four[2][4], eight[4][2];
#pragma GCC unroll 4
    for (int p = 0; p < 4; p++) {
        __m512i low = _mm512_loadu_si512(src + p * 128),
                high = _mm512_loadu_si512(src + p * 128 + 64);
        four[0][p] = _mm512_permutex2var_epi16(low, i4[0], high);
        four[1][p] = _mm512_permutex2var_epi16(low, i4[1], high);
    }
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++) { // q: quarter of the columns
        for (int p = 0; p < 2; p++) {
            eight[q][p] =
                _mm512_permutex2var_epi16(four[q / 2][2 * p], i8[q % 2], four[q / 2][2 * p + 1]);
        }
    }
#pragma GCC unroll 8
    for (int e = 0; e < 8; e++) {
        out[e] = _mm512_permutex2var_epi16(eight[e / 2][0], i16[e % 2], eight[e / 2][1]);
    }
}

static void transpose_b16(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                          uint32_t count)
{
    for (uint32_t f = 0; f < count; f++) {
        __m512i out[8];
        transpose_fractal(out, src);
#pragma GCC unroll 8
        for (int e = 0; e < 8; e++) {
            _mm512_storeu_si512(dst + e * 64, out[e]);
        }
        dst += dst_step;
        src += src_step;
    }
}

static void copy_fractals(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                          uint32_t count)
{
    for (uint32_t f = 0; f < count; f++) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            _mm512_storeu_si512(dst + i * 64, _mm512_loadu_si512(src + i * 64));
        }
        dst += dst_step;
        src += src_step;
    }
}

/* `ahead` is a constant where this is inlined; 0 = nothing is asked for. */
static inline __attribute__((always_inline)) void move_pieces(uint8_t *dst, ptrdiff_t dst_step,
                                                              const uint8_t *src,
                                                              ptrdiff_t src_step, uint64_t bytes,
                                                              uint64_t count, const int ahead)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = 0;
        for (; at + 64 <= bytes; at += 64) {
            if (ahead) {
                _mm_prefetch((const char *)src + ahead * src_step + at, _MM_HINT_T1);
            }
            _mm512_storeu_si512(dst + at, _mm512_loadu_si512(src + at));
        }
        if (at < bytes) {
            if (ahead) {
                _mm_prefetch((const char *)src + ahead * src_step + at, _MM_HINT_T1);
            }
            __m256i half;
            memcpy(&half, src + at, sizeof(half));
            memcpy(dst + at, &half, sizeof(half));
        }
        dst += dst_step;
        src += src_step;
    }
}

static void copy_pieces(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                        uint64_t bytes, uint64_t count)
{
    if (src_step >= SIM_CUBE_FAR_STEP) {
        move_pieces(dst, dst_step, src, src_step, bytes, count, SIM_CUBE_PIECES_AHEAD);
    } else if (bytes == 32) {
        move_pieces(dst, dst_step, src, src_step, 32, count, 0);
    } else {
        move_pieces(dst, dst_step, src, src_step, bytes, count, 0);
    }
}

static void transpose_one(uint8_t *dst, const uint8_t *src)
{
    transpose_b16(dst, 0, src, 0, 1);
}

static inline __m256i load_row(const uint16_t *src)
{
    __m256i row;
    memcpy(&row, src, sizeof(row));
    return row;
}

/* brain: bf16, else f16. A constant where these are inlined. */
static inline __attribute__((always_inline)) __m512 to_f32(__m256i half, const bool brain)
{
    return brain ? _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16))
                 : _mm512_cvtph_ps(half);
}

static inline __attribute__((always_inline)) void
widen_rows(float *dst, size_t row_floats, const uint16_t *src, size_t rows, const bool brain)
{
    for (size_t row = 0; row < rows; row++) {
        _mm512_store_ps(dst + row * row_floats, to_f32(load_row(src + row * 16), brain));
    }
}

static inline __attribute__((always_inline)) void
widen_turned(float *dst, size_t row_floats, const uint16_t *src, const bool brain)
{
    __m512i out[8];
    transpose_fractal(out, (const uint8_t *)src);
#pragma GCC unroll 8
    for (size_t e = 0; e < 8; e++) {
        _mm512_store_ps(dst + 2 * e * row_floats, to_f32(_mm512_castsi512_si256(out[e]), brain));
        _mm512_store_ps(dst + (2 * e + 1) * row_floats,
                        to_f32(_mm512_extracti64x4_epi64(out[e], 1), brain));
    }
}

#include "cube_widen.inc"

static inline __attribute__((always_inline)) __m512 canonical(__m512 value)
{
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
    return _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), nan);
}

/* rows and width are constants where this is inlined, so acc lives in registers. */
static inline __attribute__((always_inline)) bool
block_body(const unsigned rows, const unsigned width, const struct sim_cube_block *block)
{
    __m512 acc[MAX_ROWS][MAX_WIDTH], odd[4]; // odd: NaN where a result is not finite
    const float *a = block->a, *b = block->b, *init = block->init;
    float *c = block->c;
    const size_t c_column = block->c_column;
#pragma GCC unroll 8
    for (unsigned r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (unsigned w = 0; w < width; w++) {
            acc[r][w] = _mm512_loadu_ps(init + r * block->init_row + w * block->init_column);
            // The block below comes next and follows in memory: it is here by the time this one is
            // done.
            _mm_prefetch((const char *)(c + (rows + r) * 16 + w * c_column), _MM_HINT_T0);
        }
    }
    for (uint32_t left = block->depth; left >= 16; left -= 16) {
#pragma GCC unroll 16
        for (unsigned p = 0; p < 16; p++) {
            __m512 panel[MAX_WIDTH];
#pragma GCC unroll 2
            for (unsigned w = 0; w < width; w++) {
                panel[w] = _mm512_load_ps(b + (p * width + w) * 16);
            }
#pragma GCC unroll 8
            for (unsigned r = 0; r < rows; r++) {
                __m512 value = _mm512_set1_ps(a[r * 16 + p]);
#pragma GCC unroll 2
                for (unsigned w = 0; w < width; w++) {
                    acc[r][w] = _mm512_fmadd_ps(value, panel[w], acc[r][w]);
                }
            }
        }
        a += 256;
        b += 256 * width;
    }
    for (uint32_t p = 0; p < block->depth % 16; p++) {
#pragma GCC unroll 8
        for (unsigned r = 0; r < rows; r++) {
            __m512 value = _mm512_set1_ps(a[r * 16 + p]);
#pragma GCC unroll 2
            for (unsigned w = 0; w < width; w++) {
                acc[r][w] =
                    _mm512_fmadd_ps(value, _mm512_load_ps(b + (p * width + w) * 16), acc[r][w]);
            }
        }
    }
    odd[0] = odd[1] = odd[2] = odd[3] = _mm512_setzero_ps();
#pragma GCC unroll 8
    for (unsigned r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (unsigned w = 0; w < width; w++) {
            odd[r % 4] = _mm512_fmadd_ps(acc[r][w], _mm512_setzero_ps(), odd[r % 4]);
        }
    }
    odd[0] = _mm512_add_ps(_mm512_add_ps(odd[0], odd[1]), _mm512_add_ps(odd[2], odd[3]));
    const bool finite = _mm512_cmp_ps_mask(odd[0], odd[0], _CMP_UNORD_Q) == 0;
    if (!finite && block->hold) {
        return false;
    }
#pragma GCC unroll 8
    for (unsigned r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (unsigned w = 0; w < width; w++) {
            _mm512_storeu_ps(c + r * 16 + w * c_column, acc[r][w]);
        }
    }
    for (unsigned r = 0; r < rows && !finite; r++) {
        for (unsigned w = 0; w < width; w++) {
            float *at = c + r * 16 + w * c_column;
            _mm512_storeu_ps(at, canonical(_mm512_loadu_ps(at)));
        }
    }
    return finite;
}

/* As block_body; a word is a pair of s16, whose products are added at once. */
static inline __attribute__((always_inline)) void
block_pairs(const unsigned rows, const unsigned width, const struct sim_cube_block *block)
{
    __m512i acc[MAX_ROWS][MAX_WIDTH];
    const int32_t *a = block->a, *b = block->b, *init = block->init;
    int32_t *c = block->c;
#pragma GCC unroll 8
    for (unsigned r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (unsigned w = 0; w < width; w++) {
            acc[r][w] = _mm512_loadu_si512(init + r * block->init_row + w * block->init_column);
        }
    }
    for (uint32_t p = 0; p < block->depth; p++) {
        __m512i panel[MAX_WIDTH];
#pragma GCC unroll 2
        for (unsigned w = 0; w < width; w++) {
            panel[w] = _mm512_loadu_si512(b + (p * width + w) * 16);
        }
        const int32_t *row = a + (p / 16) * 256 + p % 16;
#pragma GCC unroll 8
        for (unsigned r = 0; r < rows; r++) {
            __m512i value = _mm512_set1_epi32(row[r * 16]);
#pragma GCC unroll 2
            for (unsigned w = 0; w < width; w++) {
                acc[r][w] = _mm512_add_epi32(acc[r][w], _mm512_madd_epi16(value, panel[w]));
            }
        }
    }
#pragma GCC unroll 8
    for (unsigned r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (unsigned w = 0; w < width; w++) {
            _mm512_storeu_si512(c + r * 16 + w * block->c_column, acc[r][w]);
        }
    }
}

static inline __attribute__((always_inline)) bool rows_f32(unsigned rows, const unsigned width,
                                                           const struct sim_cube_block *block)
{
    switch (rows) {
    case 1:
        return block_body(1, width, block);
    case 2:
        return block_body(2, width, block);
    case 3:
        return block_body(3, width, block);
    case 4:
        return block_body(4, width, block);
    case 5:
        return block_body(5, width, block);
    case 6:
        return block_body(6, width, block);
    case 7:
        return block_body(7, width, block);
    default:
        return block_body(8, width, block);
    }
}

static inline __attribute__((always_inline)) void rows_pairs(unsigned rows, const unsigned width,
                                                             const struct sim_cube_block *block)
{
    switch (rows) {
    case 1:
        block_pairs(1, width, block);
        break;
    case 2:
        block_pairs(2, width, block);
        break;
    case 3:
        block_pairs(3, width, block);
        break;
    case 4:
        block_pairs(4, width, block);
        break;
    case 5:
        block_pairs(5, width, block);
        break;
    case 6:
        block_pairs(6, width, block);
        break;
    case 7:
        block_pairs(7, width, block);
        break;
    default:
        block_pairs(8, width, block);
        break;
    }
}

static bool run_f32(unsigned rows, unsigned width, const struct sim_cube_block *block)
{
    if (width == 2) {
        return rows_f32(rows, 2, block);
    }
    return rows_f32(rows, 1, block);
}

static bool run_pairs(unsigned rows, unsigned width, const struct sim_cube_block *block)
{
    if (width == 2) {
        rows_pairs(rows, 2, block);
    } else {
        rows_pairs(rows, 1, block);
    }
    return true;
}

static const struct sim_cube_kernel kernel = {
    .max_rows = MAX_ROWS,
    .max_width = MAX_WIDTH,
    .block_f32 = run_f32,
    .block_s16 = run_pairs,
    .widen = {{run_f16, rows_f16, turned_f16}, {run_bf16, rows_bf16, turned_bf16}},
    .transpose = transpose_one,
};

static bool mmad(const struct sim_mmad *mmad)
{
    return sim_cube_blocked_mmad(&kernel, mmad);
}

/* Moves and the output path are as wide as a 32-byte block:
 * the AVX2 path's loops serve here too. */
static void nd2nz(uint8_t *dst, size_t dst_column_pitch, size_t dst_row_pitch, const uint8_t *src,
                  size_t src_pitch, uint32_t rows, uint32_t row_bytes)
{
    sim_simd_cube_avx2.nd2nz(dst, dst_column_pitch, dst_row_pitch, src, src_pitch, rows, row_bytes);
}

static void convert(uint8_t *dst, size_t dst_pitch, const float *src, uint32_t rows, uint32_t cols,
                    enum sim_cube_out out, bool relu)
{
    sim_simd_cube_avx2.convert(dst, dst_pitch, src, rows, cols, out, relu);
}

const struct sim_simd_cube sim_simd_cube_avx512 = {
    .mmad = mmad,
    .has_views = true,
    .transpose_b16 = transpose_b16,
    .copy_fractals = copy_fractals,
    .copy_pieces = copy_pieces,
    .nd2nz = nd2nz,
    .convert = convert,
};
