/* SPDX-License-Identifier: Apache-2.0 */
/* Host arithmetic of the cube, its data movers and the output path. docs/hw/cube.md,
 * docs/hw/dma.md. */
#pragma once

#include <leo/isa_enums.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fractal of an operand of f16 or bf16 that was not brought to L0 but is read where it lies in L1
 * (decision 37): its first byte there, a multiple of 32, and these bits. 0 = it is in L0. */
enum { SIM_VIEW = 1, SIM_VIEW_TURNED = 2, SIM_VIEW_BITS = SIM_VIEW | SIM_VIEW_TURNED };

/** One mmad on validated host memory (HW-CUBE-01..). */
struct sim_mmad {
    void *c;          /**< L0C, NZ fractals of 16 x 16 results */
    const void *a;    /**< L0A, ZZ fractals; a plain vector of k elements if `vector` */
    const void *b;    /**< L0B, ZN fractals */
    const void *bias; /**< initial value of each column, n 32-bit values; NULL = none */
    bool zero;        /**< initial value 0 (wins over bias and C) */
    bool vector;      /**< m is 1 and A lies as a vector */
    bool to_zero;     /**< hf32: ties of the operands' rounding go to zero instead of to even */
    enum leo_mad type;
    uint32_t m, k, n;                /**< 1..4095 each */
    uint32_t k1;                     /**< fractals of A from one row of fractals to the next */
    void *scratch;                   /**< SIM_CUBE_SCRATCH_BYTES, 64-byte aligned */
    const uint8_t *l1;               /**< what views count from */
    const uint32_t *a_view, *b_view; /**< of the fractals of a and b, in their order; NULL = all of
                                        them are in L0 */
    /** What is added to the same C behind it: f16 or bf16 as it is, of equal m and n, in f32; each
     * k but the last one's is a multiple of 16. NULL = nothing. */
    const struct sim_mmad *next;
    /** With `next`: clamps results that are not finite behind each product, not only the last one;
     * NULL = they stay. */
    void (*clamp)(void *user, void *results, size_t count);
    void *user;
};

#define SIM_CUBE_SCRATCH_BYTES (1u << 20)

/* Pieces of a copy so far apart miss the host's caches, and its prefetchers, which stay in a page,
 * do not follow: the vector paths ask for them ahead. */
enum { SIM_CUBE_FAR_STEP = 1024, SIM_CUBE_PIECES_AHEAD = 12 };

/** What the output path writes for each f32 of L0C. */
enum sim_cube_out { SIM_CUBE_OUT_F32, SIM_CUBE_OUT_F16, SIM_CUBE_OUT_BF16 };

struct sim_simd_cube {
    /** Whether all float results it wrote are known to be finite. False says nothing. */
    bool (*mmad)(const struct sim_mmad *mmad);
    bool has_views; /**< it takes views, next and clamp */
    /** Transposes `count` fractals of 16 x 16 b16; sources and destinations lie a byte step apart,
     * never overlap. */
    void (*transpose_b16)(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                          uint32_t count);
    /** As transpose_b16, bit for bit. */
    void (*copy_fractals)(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                          uint32_t count);
    /** Copies `count` pieces of `bytes`, a multiple of 32, that lie a byte step apart; no source
     * overlaps a destination. */
    void (*copy_pieces)(uint8_t *dst, ptrdiff_t dst_step, const uint8_t *src, ptrdiff_t src_step,
                        uint64_t bytes, uint64_t count);
    /** Row-major rows of row_bytes to 32-byte columns; the last column is filled up with zeros. */
    void (*nd2nz)(uint8_t *dst, size_t dst_column_pitch, size_t dst_row_pitch, const uint8_t *src,
                  size_t src_pitch, uint32_t rows, uint32_t row_bytes);
    /** rows x cols (cols <= 16) of one fractal column (16 f32 a row) to rows `dst_pitch` bytes
     * apart. */
    void (*convert)(uint8_t *dst, size_t dst_pitch, const float *src, uint32_t rows, uint32_t cols,
                    enum sim_cube_out out, bool relu);
};

extern const struct sim_simd_cube sim_simd_cube_generic;
extern const struct sim_simd_cube sim_simd_cube_avx2;
extern const struct sim_simd_cube sim_simd_cube_avx512;

/* Pieces of the generic path that the other paths use for their odd ends. */
void sim_cube_convert_generic(uint8_t *dst, size_t dst_pitch, const float *src, uint32_t rows,
                              uint32_t cols, enum sim_cube_out out, bool relu);
