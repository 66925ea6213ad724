/* SPDX-License-Identifier: Apache-2.0 */
/* The loop around a register-blocked micro-kernel, shared by the vector paths of the cube. */
#pragma once

#include "cube_element.h"

/**
 * One block of C: up to max_rows rows of 1..max_width fractals, for the whole k of the instruction.
 * Operands are words of 32 bits: an f32, or a pair of s16 that are neighbours along k. `depth`
 * counts words.
 */
struct sim_cube_block {
    const void *a; /**< tiles of one row of fractals: word (row, p) at p / 16 * 256 + row * 16 + p %
                    * 16 */
    const void *b; /**< panel: [depth][width * 16] words */
    uint32_t depth;
    const void *init;             /**< initial values */
    size_t init_row, init_column; /**< words between rows and between fractal columns of init, 0 =
                                     the same for all */
    void *c;                      /**< rows 16 words apart */
    size_t c_column;              /**< words between fractal columns of c */
    bool hold;                    /**< c stays as it is unless all results are finite */
};

/** From a format of 16 bits to f32. */
struct sim_cube_widen {
    /** `count` elements, a multiple of 256. */
    void (*run)(float *dst, const uint16_t *src, size_t count);
    /** One fractal, its rows row_words apart. */
    void (*rows)(float *dst, size_t row_words, const uint16_t *src);
    /** One fractal, transposed: dst row p (row_words apart) = column p of src. */
    void (*turned)(float *dst, size_t row_words, const uint16_t *src);
};

struct sim_cube_kernel {
    unsigned max_rows, max_width;
    /** Returns whether all results are finite. */
    bool (*block_f32)(unsigned rows, unsigned width, const struct sim_cube_block *block);
    /** Sums of products of s16 pairs, which wrap around; true. */
    bool (*block_s16)(unsigned rows, unsigned width, const struct sim_cube_block *block);
    /** One transposed fractal of 16 x 16 b16: dst row p (32 bytes each) = column p of src. */
    void (*transpose)(uint8_t *dst, const uint8_t *src);
    struct sim_cube_widen widen[2]; /**< by SIM_CUBE_IN_F16, SIM_CUBE_IN_BF16 */
};

bool sim_cube_blocked_mmad(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad);
