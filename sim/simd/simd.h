/* SPDX-License-Identifier: Apache-2.0 */
/* Host arithmetic behind one const table a path. Every path gives the same bits; generic C is the
 * truth. */
#pragma once

#include <leo/status.h>

struct sim_simd_vector; /* simd_vector.h */
struct sim_simd_cube;   /* simd_cube.h */

struct sim_simd {
    const char *name; /**< "generic", "avx2", "avx512" */
    const struct sim_simd_vector *vector;
    const struct sim_simd_cube *cube;
};

/** The named path, or the best this host has (name NULL). LEO_ERR_UNSUPPORTED: the host cannot run
 * it. */
leo_status sim_simd_select(const char *name, const struct sim_simd **simd);
