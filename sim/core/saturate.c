/* SPDX-License-Identifier: Apache-2.0 */
#include "saturate.h"

#include "../simd/simd.h"
#include "../simd/simd_vector.h"
#include <string.h>

#define INFINITY_F32  UINT32_C(0x7f800000)
#define INFINITY_F16  UINT32_C(0x7c00)
#define INFINITY_BF16 UINT32_C(0x7f80)

uint32_t sim_infinity_of(enum leo_dtype type)
{
    return type == LEO_DTYPE_F32    ? INFINITY_F32
           : type == LEO_DTYPE_F16  ? INFINITY_F16
           : type == LEO_DTYPE_BF16 ? INFINITY_BF16
                                    : 0;
}

void sim_core_saturate(struct sim_core *core, uint32_t infinity, void *results, size_t count,
                       const uint64_t *active)
{
    const struct sim_simd_vector *simd = core->simd->vector;
    const bool wide = infinity == INFINITY_F32;
    if (wide ? simd->finite32(results, infinity, count)
             : simd->finite16(results, infinity, count)) {
        return;
    }
    const uint32_t bytes = wide ? 4 : 2, sign = wide ? 0x80000000u : 0x8000u;
    for (size_t i = 0; i < count; i++) {
        uint8_t *at = (uint8_t *)results + i * bytes;
        uint32_t bits = 0;
        memcpy(&bits, at, bytes);
        if ((bits & infinity) != infinity) {
            continue;
        }
        bits = (bits & ~sign) > infinity ? 0 : (bits & sign) | (infinity - 1);
        memcpy(at, &bits, bytes);
        if (active == NULL || (active[i / 64] >> i % 64 & 1)) {
            core->csr.overflow = 1;
        }
    }
}
