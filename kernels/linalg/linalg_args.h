/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of decompositions of matrices. */
#pragma once

#include <stdint.h>

/**
 * `count` matrices of f64, dense: a [rows, columns] (read, and overwritten), q and r as the kernel
 * says; scratch has scratch_each f64 a matrix. Block b takes matrices [b * per_block, ..). Each
 * begins on a line of its own (pitches, in elements, are multiples of 8).
 */
struct op_linalg_args {
    uint64_t a, q, r, sigma, scratch;
    uint64_t count, per_block;
    int64_t rows, columns, q_columns;
    int64_t a_pitch, q_pitch, r_pitch, sigma_pitch, scratch_pitch;
    uint8_t upper;      /**< cholesky: the result is the upper factor; triangular: a is upper */
    uint8_t transposed; /**< triangular: a' x = q */
    uint8_t unit;       /**< triangular: the diagonal of a counts as 1 */
};
