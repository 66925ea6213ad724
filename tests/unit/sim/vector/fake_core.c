/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_core.h"

#include "simd/simd.h"
#include <stdlib.h>

#define SCRATCH_BYTES (1u << 20)

struct fake_core *fake_core_create(uint32_t arch, const char *simd)
{
    struct fake_core *fake = calloc(1, sizeof(*fake));
    if (fake == NULL || sim_simd_select(simd, &fake->core.simd) != LEO_OK) {
        free(fake);
        return NULL;
    }
    fake->core.insns = sim_insns;
    fake->config.arch = arch;
    fake->config.ub_repeats = 1;
    fake->core.config = &fake->config;
    fake->core.local[LEO_MEM_SPACE_UB].bytes = FAKE_UB_BYTES;
    // an allocation of its own size, so that a step too far is seen by the address sanitizer
    fake->core.local[LEO_MEM_SPACE_UB].data = malloc(FAKE_UB_BYTES);
    fake->core.scratch = aligned_alloc(64, SCRATCH_BYTES);
    fake_core_reset(fake);
    return fake;
}

void fake_core_destroy(struct fake_core *fake)
{
    if (fake != NULL) {
        free(fake->core.local[LEO_MEM_SPACE_UB].data);
        free(fake->core.scratch);
        free(fake);
    }
}

void fake_core_reset(struct fake_core *fake)
{
    fake->core.scalar.fault.code = LEO_FAULT_NONE;
    fake->core.ctrl = 0;
    fake->core.vmask[0] = fake->core.vmask[1] = UINT64_MAX;
}

uint64_t fake_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
