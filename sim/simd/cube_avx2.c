/* SPDX-License-Identifier: Apache-2.0 */
/* 6 rows x 1 fractal of C in twelve registers; sixteen rows of a fractal go as 6 + 5 + 5. */
#include "cube_blocked.h"

#include <immintrin.h>
#include <string.h>

#define MAX_ROWS 6

static inline __m256i load256(const void *src)
{
    __m256i value;
    memcpy(&value, src, sizeof(value));
    return value;
}

static inline void store256(void *dst, __m256i value)
{
    memcpy(dst, &value, sizeof(value));
}

/* 8 x 16 words (rows top..top+7 of a fractal) to 16 columns of 8 words: out[j] holds columns j
 * (low) and j + 8 (high). */
static inline __attribute__((always_inline)) void transpose_half(__m256i out[8], const uint8_t *src)
{
    __m256i r[8], s[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        r[i] = load256(src + i * 32);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        s[2 * i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
        s[2 * i + 1] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) { // four rows, columns 0 1 | 2 3 | 4 5 | 6 7 of each lane
        r[4 * i] = _mm256_unpacklo_epi32(s[4 * i], s[4 * i + 2]);
        r[4 * i + 1] = _mm256_unpackhi_epi32(s[4 * i], s[4 * i + 2]);
        r[4 * i + 2] = _mm256_unpacklo_epi32(s[4 * i + 1], s[4 * i + 3]);
        r[4 * i + 3] = _mm256_unpackhi_epi32(s[4 * i + 1], s[4 * i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        out[2 * i] = _mm256_unpacklo_epi64(r[i], r[i + 4]);
        out[2 * i + 1] = _mm256_unpackhi_epi64(r[i], r[i + 4]);
    }
}

static void transpose_b16(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                          uint32_t count)
{
    for (uint32_t f = 0; f < count; f++) {
        __m256i top[8], bottom[8];
        transpose_half(top, src);
        transpose_half(bottom, src + 256);
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            store256(dst + j * 32, _mm256_permute2x128_si256(top[j], bottom[j], 0x20));
            store256(dst + (j + 8) * 32, _mm256_permute2x128_si256(top[j], bottom[j], 0x31));
        }
        dst += dst_step;
        src += src_step;
    }
}

static void copy_fractals(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                          uint32_t count)
{
    for (uint32_t f = 0; f < count; f++) {
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            store256(dst + i * 32, load256(src + i * 32));
        }
        dst += dst_step;
        src += src_step;
    }
}

static void transpose_one(uint8_t *dst, const uint8_t *src)
{
    transpose_b16(dst, 0, src, 0, 1);
}

/* brain: bf16, else f16. A constant where these are inlined. */
static inline __attribute__((always_inline)) __m256 to_f32(__m128i half, const bool brain)
{
    return brain ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16))
                 : _mm256_cvtph_ps(half);
}

static inline __attribute__((always_inline)) void
widen_rows(float *dst, size_t row_floats, const uint16_t *src, size_t rows, const bool brain)
{
    for (size_t row = 0; row < rows; row++) {
        for (size_t part = 0; part < 16; part += 8) {
            __m128i half;
            memcpy(&half, src + row * 16 + part, sizeof(half));
            _mm256_store_ps(dst + row * row_floats + part, to_f32(half, brain));
        }
    }
}

static inline __attribute__((always_inline)) void
widen_turned(float *dst, size_t row_floats, const uint16_t *src, const bool brain)
{
    for (unsigned part = 0; part < 2; part++) {
        __m256i out[8];
        transpose_half(out, (const uint8_t *)src + part * 256);
#pragma GCC unroll 8
        for (size_t j = 0; j < 8; j++) {
            _mm256_store_ps(dst + j * row_floats + part * 8,
                            to_f32(_mm256_castsi256_si128(out[j]), brain));
            _mm256_store_ps(dst + (j + 8) * row_floats + part * 8,
                            to_f32(_mm256_extracti128_si256(out[j], 1), brain));
        }
    }
}

#include "cube_widen.inc"

static inline __attribute__((always_inline)) __m256 canonical(__m256 value)
{
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    return _mm256_blendv_ps(value, nan, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
}

/* rows is a constant where this is inlined, so acc lives in registers. */
static inline __attribute__((always_inline)) bool block_body(const unsigned rows,
                                                             const struct sim_cube_block *block)
{
    __m256 acc[MAX_ROWS][2], odd[2]; // odd: NaN where a result is not finite
    const float *a = block->a, *b = block->b, *init = block->init;
    float *c = block->c;
#pragma GCC unroll 6
    for (unsigned r = 0; r < rows; r++) {
        acc[r][0] = _mm256_loadu_ps(init + r * block->init_row);
        acc[r][1] = _mm256_loadu_ps(init + r * block->init_row + 8);
        // The block below comes next and follows in memory: it is here by the time this one is
        // done.
        _mm_prefetch((const char *)(c + (rows + r) * 16), _MM_HINT_T0);
    }
    for (uint32_t left = block->depth; left >= 16; left -= 16) {
#pragma GCC unroll 16
        for (unsigned p = 0; p < 16; p++) {
            __m256 low = _mm256_load_ps(b + p * 16), high = _mm256_load_ps(b + p * 16 + 8);
#pragma GCC unroll 6
            for (unsigned r = 0; r < rows; r++) {
                __m256 value = _mm256_broadcast_ss(a + r * 16 + p);
                acc[r][0] = _mm256_fmadd_ps(value, low, acc[r][0]);
                acc[r][1] = _mm256_fmadd_ps(value, high, acc[r][1]);
            }
        }
        a += 256;
        b += 256;
    }
    for (uint32_t p = 0; p < block->depth % 16; p++) {
        __m256 low = _mm256_load_ps(b + p * 16), high = _mm256_load_ps(b + p * 16 + 8);
#pragma GCC unroll 6
        for (unsigned r = 0; r < rows; r++) {
            __m256 value = _mm256_broadcast_ss(a + r * 16 + p);
            acc[r][0] = _mm256_fmadd_ps(value, low, acc[r][0]);
            acc[r][1] = _mm256_fmadd_ps(value, high, acc[r][1]);
        }
    }
    odd[0] = odd[1] = _mm256_setzero_ps();
#pragma GCC unroll 6
    for (unsigned r = 0; r < rows; r++) {
        odd[0] = _mm256_fmadd_ps(acc[r][0], _mm256_setzero_ps(), odd[0]);
        odd[1] = _mm256_fmadd_ps(acc[r][1], _mm256_setzero_ps(), odd[1]);
    }
    odd[0] = _mm256_add_ps(odd[0], odd[1]);
    const bool finite = _mm256_movemask_ps(_mm256_cmp_ps(odd[0], odd[0], _CMP_UNORD_Q)) == 0;
    if (!finite && block->hold) {
        return false;
    }
#pragma GCC unroll 6
    for (unsigned r = 0; r < rows; r++) {
        _mm256_storeu_ps(c + r * 16, acc[r][0]);
        _mm256_storeu_ps(c + r * 16 + 8, acc[r][1]);
    }
    for (unsigned r = 0; r < rows && !finite; r++) {
        for (unsigned half = 0; half < 2; half++) {
            float *at = c + r * 16 + half * 8;
            _mm256_storeu_ps(at, canonical(_mm256_loadu_ps(at)));
        }
    }
    return finite;
}

static inline __attribute__((always_inline)) __m256i pair_sums(__m256i sum, __m256i a, __m256i b)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}

/* As block_body; a word is a pair of s16, whose products are added at once. */
static inline __attribute__((always_inline)) void block_pairs(const unsigned rows,
                                                              const struct sim_cube_block *block)
{
    __m256i acc[MAX_ROWS][2];
    const int32_t *a = block->a, *init = block->init;
    const int32_t *b = block->b;
    int32_t *c = block->c;
#pragma GCC unroll 6
    for (unsigned r = 0; r < rows; r++) {
        acc[r][0] = load256(init + r * block->init_row);
        acc[r][1] = load256(init + r * block->init_row + 8);
    }
    for (uint32_t p = 0; p < block->depth; p++) {
        __m256i low = load256(b + p * 16), high = load256(b + p * 16 + 8);
        const int32_t *row = a + (p / 16) * 256 + p % 16;
#pragma GCC unroll 6
        for (unsigned r = 0; r < rows; r++) {
            __m256i value = _mm256_set1_epi32(row[r * 16]);
            acc[r][0] = pair_sums(acc[r][0], value, low);
            acc[r][1] = pair_sums(acc[r][1], value, high);
        }
    }
#pragma GCC unroll 6
    for (unsigned r = 0; r < rows; r++) {
        store256(c + r * 16, acc[r][0]);
        store256(c + r * 16 + 8, acc[r][1]);
    }
}

static bool run_f32(unsigned rows, unsigned width, const struct sim_cube_block *block)
{
    (void)width;
    switch (rows) {
    case 1:
        return block_body(1, block);
    case 2:
        return block_body(2, block);
    case 3:
        return block_body(3, block);
    case 4:
        return block_body(4, block);
    case 5:
        return block_body(5, block);
    default:
        return block_body(6, block);
    }
}

static bool run_pairs(unsigned rows, unsigned width, const struct sim_cube_block *block)
{
    (void)width;
    switch (rows) {
    case 1:
        block_pairs(1, block);
        break;
    case 2:
        block_pairs(2, block);
        break;
    case 3:
        block_pairs(3, block);
        break;
    case 4:
        block_pairs(4, block);
        break;
    case 5:
        block_pairs(5, block);
        break;
    default:
        block_pairs(6, block);
        break;
    }
    return true;
}

static const struct sim_cube_kernel kernel = {
    .max_rows = MAX_ROWS,
    .max_width = 1,
    .block_f32 = run_f32,
    .block_s16 = run_pairs,
    .widen = {{run_f16, rows_f16, turned_f16}, {run_bf16, rows_bf16, turned_bf16}},
    .transpose = transpose_one,
};

static bool mmad(const struct sim_mmad *mmad)
{
    return sim_cube_blocked_mmad(&kernel, mmad);
}

/* As the AVX-512 path's. */
static inline __attribute__((always_inline)) void move_pieces(uint8_t *dst, ptrdiff_t dst_step,
                                                              const uint8_t *src,
                                                              ptrdiff_t src_step, uint64_t bytes,
                                                              uint64_t count, const int ahead)
{
    for (uint64_t i = 0; i < count; i++) {
        for (uint64_t at = 0; at < bytes; at += 32) {
            if (ahead && at % 64 == 0) {
                _mm_prefetch((const char *)src + ahead * src_step + at, _MM_HINT_T1);
            }
            store256(dst + at, load256(src + at));
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

/* Row by row: the source streams, and the half lines a row leaves open are closed by the next one.
 * Columns lie powers of two apart, so a row of all of them would meet in one set of the host's
 * first-level cache before the next row fills the other half of each line. */
enum { ND2NZ_COLUMNS = 8 };

static void nd2nz_columns(uint8_t *dst, size_t dst_column_pitch, size_t dst_row_pitch,
                          const uint8_t *src, size_t src_pitch, uint32_t rows, uint32_t columns)
{
    const bool far = src_pitch >= SIM_CUBE_FAR_STEP;
    for (uint32_t row = 0; row < rows; row++) {
        const uint8_t *from = src + row * src_pitch;
        uint8_t *to = dst + row * dst_row_pitch;
        for (uint32_t column = 0; column < columns; column++) {
            if (far && column % 2 == 0) {
                _mm_prefetch((const char *)from + SIM_CUBE_PIECES_AHEAD * src_pitch, _MM_HINT_T1);
            }
            store256(to, load256(from));
            from += 32;
            to += dst_column_pitch;
        }
    }
}

static void nd2nz(uint8_t *dst, size_t dst_column_pitch, size_t dst_row_pitch, const uint8_t *src,
                  size_t src_pitch, uint32_t rows, uint32_t row_bytes)
{
    const uint32_t columns = row_bytes / 32, tail = row_bytes % 32;
    // Where columns lie over each other, what the last row writes stays.
    if (rows > 1 && (dst_row_pitch < 32 || dst_column_pitch < rows * dst_row_pitch)) {
        for (uint32_t row = 0; row < rows; row++) {
            nd2nz(dst + row * dst_row_pitch, dst_column_pitch, dst_row_pitch, src + row * src_pitch,
                  src_pitch, 1, row_bytes);
        }
        return;
    }
    for (uint32_t first = 0; first < columns; first += ND2NZ_COLUMNS) {
        const uint32_t left = columns - first;
        nd2nz_columns(dst + first * dst_column_pitch, dst_column_pitch, dst_row_pitch,
                      src + first * 32, src_pitch, rows,
                      left < ND2NZ_COLUMNS ? left : ND2NZ_COLUMNS);
    }
    for (uint32_t row = 0; row < rows && tail; row++) {
        uint8_t *to = dst + columns * dst_column_pitch + row * dst_row_pitch;
        memcpy(to, src + row * src_pitch + (size_t)columns * 32, tail);
        memset(to + tail, 0, 32 - tail);
    }
}

static void convert(uint8_t *dst, size_t dst_pitch, const float *src, uint32_t rows, uint32_t cols,
                    enum sim_cube_out out, bool relu)
{
    if (cols != 16 || out == SIM_CUBE_OUT_BF16) {
        sim_cube_convert_generic(dst, dst_pitch, src, rows, cols, out, relu);
        return;
    }
    const __m128i nan = _mm_set1_epi16(0x7e00);
    for (uint32_t row = 0; row < rows; row++) {
        for (unsigned part = 0; part < 2; part++) {
            __m256 value = _mm256_loadu_ps(src + row * 16 + part * 8);
            if (relu) { // max returns its second operand, 0, for NaN and -0
                value = canonical(_mm256_blendv_ps(_mm256_max_ps(value, _mm256_setzero_ps()), value,
                                                   _mm256_cmp_ps(value, value, _CMP_UNORD_Q)));
            }
            if (out == SIM_CUBE_OUT_F32) {
                store256(dst + row * dst_pitch + part * 32, _mm256_castps_si256(value));
                continue;
            }
            __m256i bad = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
            __m128i bad16 =
                _mm_packs_epi32(_mm256_castsi256_si128(bad), _mm256_extracti128_si256(bad, 1));
            __m128i half = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
            half = _mm_blendv_epi8(half, nan, bad16);
            memcpy(dst + row * dst_pitch + part * 16, &half, sizeof(half));
        }
    }
}

const struct sim_simd_cube sim_simd_cube_avx2 = {
    .mmad = mmad,
    .has_views = true,
    .transpose_b16 = transpose_b16,
    .copy_fractals = copy_fractals,
    .copy_pieces = copy_pieces,
    .nd2nz = nd2nz,
    .convert = convert,
};
