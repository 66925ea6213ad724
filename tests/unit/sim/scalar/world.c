/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <CUnit/CUnit.h>
#include <string.h>

static bool fail(struct sim_scalar *scalar, enum leo_fault code, uint64_t addr)
{
    scalar->fault = (struct sim_fault){.code = code, .addr = addr};
    return false;
}

static bool find(struct sim_scalar *scalar, uint64_t addr, unsigned bytes, enum sim_access access,
                 struct sim_region *region)
{
    struct world *world = scalar->owner;
    const struct sim_region regions[] = {
        {WORLD_MEMORY, WORLD_BYTES, world->memory,
         SIM_ACCESS_READ | SIM_ACCESS_WRITE | SIM_ACCESS_MISALIGNED, 3, 2},
        {WORLD_ALIGNED, WORLD_BYTES, world->memory, SIM_ACCESS_READ | SIM_ACCESS_WRITE, 5, 7},
        {WORLD_CONST, WORLD_BYTES, world->memory, SIM_ACCESS_READ, 1, 1},
    };
    world->finds++;
    for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
        uint64_t offset = addr - regions[i].base;
        if (offset < WORLD_BYTES && WORLD_BYTES - offset >= bytes) {
            *region = regions[i];
            return (regions[i].access & access) == access ||
                   fail(scalar, LEO_FAULT_GM_READ_ONLY, addr);
        }
    }
    return fail(scalar, LEO_FAULT_GM_OUT_OF_RANGE, addr);
}

static bool custom(struct sim_scalar *scalar, struct sim_op *op)
{
    struct world *world = scalar->owner;
    if (world->block > 0) {
        world->block--;
        scalar->cycle += 1;
        return false;
    }
    if (world->op_count < sizeof(world->ops) / sizeof(world->ops[0])) {
        world->ops[world->op_count++] = *op;
    }
    scalar->cycle += 10;
    return true;
}

static bool csr_read(struct sim_scalar *scalar, unsigned csr, uint64_t *value)
{
    struct world *world = scalar->owner;
    *value = world->csr_value;
    return csr == 0x800 || fail(scalar, LEO_FAULT_BAD_CSR, csr);
}

static bool csr_write(struct sim_scalar *scalar, unsigned csr, uint64_t value)
{
    struct world *world = scalar->owner;
    if (csr != 0x800) {
        return fail(scalar, LEO_FAULT_BAD_CSR, csr);
    }
    world->csr_value = value;
    return true;
}

static const struct sim_scalar_env world_env = {
    .find = find,
    .custom = custom,
    .csr_read = csr_read,
    .csr_write = csr_write,
};

void world_init(struct world *world, const uint32_t *words, size_t count)
{
    memset(world, 0, sizeof(*world));
    CU_ASSERT_EQUAL_FATAL(sim_decoded_create(words, count * 4, WORLD_TEXT, &world->text), LEO_OK);
    sim_scalar_reset(&world->scalar);
    world->scalar.owner = world;
    world->scalar.env = &world_env;
    world->scalar.text = world->text;
    world->scalar.time = (struct sim_scalar_time){1, 2, 20, 1.5, 4, 15};
    world->scalar.pc = WORLD_TEXT;
    world->scalar.x[1] = LEO_MAP_RETURN;
}

void world_finish(struct world *world)
{
    sim_decoded_destroy(world->text);
}
