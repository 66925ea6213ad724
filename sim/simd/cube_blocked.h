/* SPDX-License-Identifier: Apache-2.0 */
/* The loop around a register-blocked micro-kernel, shared by the vector paths of the cube. */
#pragma once

#include "simd_cube.h"

/** One block of C: up to max_rows rows of 1..max_width fractals, for the whole k of the
 * instruction. */
struct sim_cube_block {
    const float *a; /**< f32 fractals of one row of fractals: element (row, p) at p / 16 * 256 + row
                     * 16 + p % 16 */
    const float *b; /**< panel: [k][width * 16] */
    uint32_t k;
    const float *init;            /**< initial values */
    size_t init_row, init_column; /**< floats between rows and between fractal columns of init, 0 =
                                     the same for all */
    float *c;                     /**< rows 16 floats apart */
    size_t c_column;              /**< floats between fractal columns of c */
};

struct sim_cube_kernel {
    unsigned max_rows, max_width;
    void (*block)(unsigned rows, unsigned width, const struct sim_cube_block *block);
    /** count f16 -> f32; count is a multiple of 256. */
    void (*widen)(float *dst, const uint16_t *src, size_t count);
    /** One transposed fractal to f32: dst row p (row_floats apart) = column p of src. */
    void (*widen_transposed)(float *dst, size_t row_floats, const uint16_t *src);
};

void sim_cube_blocked_mmad(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad);
