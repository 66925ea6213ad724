/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_core.h"

const char *const fake_paths[3] = {"generic", "avx2", "avx512"};

static const uint32_t local_bytes[LEO_MEM_SPACE_COUNT] = {
    [LEO_MEM_SPACE_UB] = 0x8000,   [LEO_MEM_SPACE_L1] = 0x20000,  [LEO_MEM_SPACE_L0A] = 0x10000,
    [LEO_MEM_SPACE_L0B] = 0x10000, [LEO_MEM_SPACE_L0C] = 0x20000, [LEO_MEM_SPACE_BT] = 0x400,
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
    fake->random = 88172645463325252u;
    fake->config.arch = 2201;
    fake->core.config = &fake->config;
    for (unsigned space = 0; space < LEO_MEM_SPACE_COUNT; space++) {
        if (local_bytes[space]) {
            fake->core.local[space] =
                (struct sim_local){aligned_alloc(1024, local_bytes[space]), local_bytes[space]};
            fake_fill(fake, fake->core.local[space].data, local_bytes[space]);
        }
    }
    fake->core.scratch = aligned_alloc(64, 1 << 20);
    fake->gm = aligned_alloc(64, FAKE_GM_SIZE);
    fake->ro = aligned_alloc(64, FAKE_RO_SIZE);
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
    free(fake->gm);
    free(fake->ro);
    free(fake);
}

bool sim_core_fault(struct sim_core *core, enum leo_fault code, enum leo_mem_space space,
                    uint64_t addr, uint64_t bytes)
{
    core->scalar.fault =
        (struct sim_fault){.code = code, .space = space, .addr = addr, .bytes = bytes};
    return false;
}

uint8_t *sim_core_local(struct sim_core *core, enum leo_mem_space space, uint64_t addr,
                        uint64_t bytes, unsigned align)
{
    const struct sim_local *local = &core->local[space];
    if (addr > local->bytes || bytes > local->bytes - addr) {
        sim_core_fault(core, LEO_FAULT_LOCAL_OUT_OF_RANGE, space, addr, bytes);
        return NULL;
    }
    if (addr % align) {
        sim_core_fault(core, LEO_FAULT_MISALIGNED_LOCAL, space, addr, bytes);
        return NULL;
    }
    return local->data + addr;
}

uint8_t *sim_core_gm(struct sim_core *core, uint64_t addr, uint64_t bytes, bool write)
{
    struct fake *fake = (struct fake *)core;
    if (addr >= FAKE_GM && addr - FAKE_GM <= FAKE_GM_SIZE &&
        bytes <= FAKE_GM_SIZE - (addr - FAKE_GM)) {
        return fake->gm + (addr - FAKE_GM);
    }
    if (addr >= FAKE_RO && addr - FAKE_RO <= FAKE_RO_SIZE &&
        bytes <= FAKE_RO_SIZE - (addr - FAKE_RO)) {
        if (!write) {
            return fake->ro + (addr - FAKE_RO);
        }
        sim_core_fault(core, LEO_FAULT_GM_READ_ONLY, LEO_MEM_SPACE_GM, addr, bytes);
        return NULL;
    }
    sim_core_fault(core, LEO_FAULT_GM_OUT_OF_RANGE, LEO_MEM_SPACE_GM, addr, bytes);
    return NULL;
}

enum leo_fault fake_run(struct fake *fake, bool (*exec)(struct sim_core *, const struct sim_op *),
                        enum leo_insn insn, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const struct sim_op op = {.insn = insn, .a = a, .b = b, .c = c, .d = d};
    fake->core.scalar.fault = (struct sim_fault){.code = LEO_FAULT_NONE};
    bool good = exec(&fake->core, &op);
    enum leo_fault code = fake->core.scalar.fault.code;
    CU_ASSERT_EQUAL(good, code == LEO_FAULT_NONE);
    fake->core.scalar.fault.code = LEO_FAULT_NONE;
    return code;
}
