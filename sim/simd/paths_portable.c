/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts without paths of their own. */
#include "simd_cube.h"
#include "simd_vector.h"
#include "table.h"

static bool has_generic(void)
{
    return true;
}

const struct sim_simd_path sim_simd_paths[] = {
    {
        .simd = {.name = "generic",
                 .vector = &sim_simd_vector_generic,
                 .cube = &sim_simd_cube_generic},
        .is_supported = has_generic,
    },
};
const size_t sim_simd_path_count = 1;
