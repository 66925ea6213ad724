/* SPDX-License-Identifier: Apache-2.0 */
/* The paths compiled in, best first. paths_x86.c or paths_portable.c holds them. */
#pragma once

#include "simd.h"
#include <stdbool.h>
#include <stddef.h>

struct sim_simd_path {
    struct sim_simd simd;
    bool (*is_supported)(void);
};

extern const struct sim_simd_path sim_simd_paths[];
extern const size_t sim_simd_path_count;
