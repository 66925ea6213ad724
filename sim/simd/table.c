/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <string.h>

leo_status sim_simd_select(const char *name, const struct sim_simd **simd)
{
    for (size_t i = 0; i < sim_simd_path_count; i++) {
        const struct sim_simd_path *path = &sim_simd_paths[i];
        if (name != NULL && strcmp(name, path->simd.name) != 0) {
            continue;
        }
        if (path->is_supported()) {
            *simd = &path->simd;
            return LEO_OK;
        }
    }
    return LEO_ERR_UNSUPPORTED;
}
