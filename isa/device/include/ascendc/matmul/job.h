/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <lib/matmul_intf.h>. Ascend C: one product as the cube core computes it. */
#pragma once

namespace AscendC
{

enum leo_job_flags : uint32_t {
    LEO_JOB_OBJECT = 7,  /**< mask: which of the registered objects */
    LEO_JOB_TURN_A = 8,  /**< A is stored [k, m] */
    LEO_JOB_TURN_B = 16, /**< B is stored [n, k] */
    LEO_JOB_BIAS = 32,
    LEO_JOB_HF32 = 64,
    LEO_JOB_QUIT = 128,     /**< nothing to compute: the vector core needs no more */
    LEO_JOB_ATOMIC = 0x300, /**< mask: 0, or add, maximum, minimum */
};

constexpr uint32_t LEO_JOB_ATOMIC_SHIFT = 8;

/** C [m, n] = A [m, k] B [k, n] + bias [n]; pitches in elements, rows of the stored matrices. */
struct leo_matmul_job {
    uint64_t a, b, bias, c;
    uint32_t m, n, k, a_pitch, b_pitch, c_pitch;
    uint32_t base_m, base_n, base_k; /**< blocks in L0 */
    uint32_t chunk_k;                /**< along k in L1 at once */
    uint32_t flags;
};

} // namespace AscendC
