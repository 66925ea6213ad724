/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_core.h"

#include <sys/mman.h>

#define GM_BYTES (FAKE_RO - FAKE_GM + FAKE_RO_SIZE)

const char *const fake_paths[3] = {"generic", "avx2", "avx512"};

static const uint32_t local_bytes[LEO_MEM_SPACE_COUNT] = {
    [LEO_MEM_SPACE_UB] = 0x8000,   [LEO_MEM_SPACE_L1] = 0x20000,  [LEO_MEM_SPACE_L0A] = 0x10000,
    [LEO_MEM_SPACE_L0B] = 0x10000, [LEO_MEM_SPACE_L0C] = 0x20000, [LEO_MEM_SPACE_BT] = 0x400,
    [LEO_MEM_SPACE_FB] = 0x1c00,
};

uint32_t fake_random(struct fake *fake)
{
    fake->random ^= fake->random << 13;
    fake->random ^= fake->random >> 7;
    fake->random ^= fake->random << 17;
    return (uint32_t)(fake->random >> 16);
}

void fake_fill(struct fake *fake, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)fake_random(fake);
    }
}

uint8_t *fake_copy(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = aligned_alloc(64, count);
    memcpy(copy, bytes, count);
    return copy;
}

struct fake *fake_create(const char *path)
{
    struct fake *fake = calloc(1, sizeof(*fake));
    if (sim_simd_select(path, &fake->core.simd) != LEO_OK) {
        free(fake);
        return NULL;
    }
    fake->core.insns = sim_insns;
    fake->random = 88172645463325252u;
    fake->config.arch = 2201;
    fake->config.cube_m = fake->config.cube_n = fake->config.cube_k = 16;
    fake->core.config = &fake->config;
    for (unsigned space = 0; space < LEO_MEM_SPACE_COUNT; space++) {
        if (local_bytes[space]) {
            fake->core.local[space] =
                (struct sim_local){aligned_alloc(1024, local_bytes[space]), local_bytes[space]};
            fake_fill(fake, fake->core.local[space].data, local_bytes[space]);
        }
    }
    fake->core.scratch = aligned_alloc(64, SIM_SCRATCH_BYTES);
    memset(fake->core.scratch, 0, SIM_SCRATCH_BYTES);
    const size_t l0b = local_bytes[LEO_MEM_SPACE_L0B];
    fake->core.sparse = aligned_alloc(64, l0b / 4 + 2 * l0b);
    fake->gm = mmap(NULL, GM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(fake->gm != MAP_FAILED);
    fake->ro = fake->gm + (FAKE_RO - FAKE_GM);
    // A step into the hole is seen.
    CU_ASSERT_EQUAL(mprotect(fake->gm + FAKE_GM_SIZE, FAKE_RO - FAKE_GM - FAKE_GM_SIZE, PROT_NONE),
                    0);
    CU_ASSERT_EQUAL(sim_space_map(&fake->space, FAKE_GM, FAKE_GM_SIZE, false), LEO_OK);
    CU_ASSERT_EQUAL(sim_space_map(&fake->space, FAKE_RO, FAKE_RO_SIZE, true), LEO_OK);
    fake->core.gm = fake->gm;
    fake->core.gm_base = FAKE_GM;
    fake->core.space = &fake->space;
    fake_fill(fake, fake->gm, FAKE_GM_SIZE);
    fake_fill(fake, fake->ro, FAKE_RO_SIZE);
    return fake;
}

void fake_destroy(struct fake *fake)
{
    for (unsigned space = 0; space < LEO_MEM_SPACE_COUNT; space++) {
        free(fake->core.local[space].data);
    }
    free(fake->core.scratch);
    free(fake->core.sparse);
    munmap(fake->gm, GM_BYTES);
    sim_space_finish(&fake->space);
    free(fake);
}

enum leo_fault fake_run(struct fake *fake, enum leo_insn insn, uint64_t a, uint64_t b, uint64_t c,
                        uint64_t d)
{
    struct sim_op op = {.insn = insn, .a = a, .b = b, .c = c, .d = d};
    fake->core.scalar.fault = (struct sim_fault){.code = LEO_FAULT_NONE};
    bool good = sim_core_execute(&fake->core, &op);
    enum leo_fault code = fake->core.scalar.fault.code;
    CU_ASSERT_EQUAL(good, code == LEO_FAULT_NONE);
    fake->core.scalar.fault.code = LEO_FAULT_NONE;
    return code;
}
