/* SPDX-License-Identifier: Apache-2.0 */
#include "simd_cube.h"
#include "simd_vector.h"
#include "table.h"

static bool has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") &&
           __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

static bool has_generic(void)
{
    return true;
}

const struct sim_simd_path sim_simd_paths[] = {
    {
        .simd = {.name = "avx512",
                 .vector = &sim_simd_vector_avx512,
                 .cube = &sim_simd_cube_avx512},
        .is_supported = has_avx512,
    },
    {
        .simd = {.name = "avx2", .vector = &sim_simd_vector_avx2, .cube = &sim_simd_cube_avx2},
        .is_supported = has_avx2,
    },
    {
        .simd = {.name = "generic",
                 .vector = &sim_simd_vector_generic,
                 .cube = &sim_simd_cube_generic},
        .is_supported = has_generic,
    },
};
const size_t sim_simd_path_count = sizeof(sim_simd_paths) / sizeof(sim_simd_paths[0]);
