/* SPDX-License-Identifier: Apache-2.0 */
#include "reach.h"

#include <math.h>
#include <string.h>

enum { WIDEST = 8 };

void sim_scalar_forget(struct sim_scalar *scalar)
{
    memset(scalar->region_cache, 0, sizeof(scalar->region_cache));
    memset(scalar->load_reach, 0, sizeof(scalar->load_reach));
    memset(scalar->store_reach, 0, sizeof(scalar->store_reach));
    scalar->slowest = 0;
}

void sim_scalar_forget_line(struct sim_scalar *scalar, uint64_t addr)
{
    const size_t count = sizeof(scalar->load_reach) / sizeof(scalar->load_reach[0]);
    for (size_t i = 0; i < count; i++) {
        struct sim_reach *reach = &scalar->load_reach[i];
        const bool is_line = addr - reach->base < reach->span || reach->base - addr < reach->span;
        if (reach->is_line && (addr == UINT64_MAX || is_line)) {
            *reach = (struct sim_reach){0};
        }
    }
}

int64_t sim_scalar_ticks(const struct sim_scalar *scalar, double cycles)
{
    return llround(cycles / scalar->time.alu * SIM_TICKS);
}

static bool has_range(const struct sim_region *region, uint64_t addr, unsigned bytes,
                      unsigned access)
{
    uint64_t offset = addr - region->base;
    return offset < region->bytes && region->bytes - offset >= bytes &&
           (region->access & access) == access;
}

static const struct sim_region *find_region(struct sim_scalar *scalar, uint64_t addr,
                                            unsigned bytes, enum sim_access access)
{
    struct sim_region *cache = scalar->region_cache;
    const size_t count = sizeof(scalar->region_cache) / sizeof(cache[0]);
    for (size_t i = 0; i < count; i++) {
        if (has_range(&cache[i], addr, bytes, access)) {
            return &cache[i];
        }
    }
    struct sim_region region;
    if (!scalar->env->find(scalar, addr, bytes, access, &region)) {
        return NULL;
    }
    memmove(&cache[1], &cache[0], (count - 1) * sizeof(cache[0]));
    cache[0] = region;
    // An atomic is both.
    int64_t ticks =
        sim_scalar_ticks(scalar, (double)region.load_cycles + (double)region.store_cycles);
    scalar->slowest = ticks > scalar->slowest ? ticks : scalar->slowest;
    return &cache[0];
}

const struct sim_region *sim_scalar_reach(struct sim_scalar *scalar, uint64_t addr, unsigned bytes,
                                          enum sim_access access)
{
    const struct sim_region *region = find_region(scalar, addr, bytes, access);
    if (addr % bytes != 0 && region && !(region->access & SIM_ACCESS_MISALIGNED)) {
        scalar->fault =
            (struct sim_fault){.code = LEO_FAULT_MISALIGNED_SCALAR, .addr = addr, .bytes = bytes};
        return NULL;
    }
    return region;
}

/* A watched region is never known to a base register, so that each access comes here. */
static void fill(struct sim_reach *reach, const struct sim_region *region, int64_t ticks)
{
    if (region->access & SIM_ACCESS_WATCHED) {
        *reach = (struct sim_reach){0};
        return;
    }
    *reach = (struct sim_reach){
        .base = region->base,
        .span = region->bytes < WIDEST ? 0 : region->bytes - (WIDEST - 1),
        .host = region->host,
        .ticks = (int32_t)ticks,
        .align = region->access & SIM_ACCESS_MISALIGNED ? 0 : WIDEST - 1,
    };
}

/* Of a cached region only the line: the next one may not be there. Its accesses are aligned, so one
 * that begins in it ends in it. */
static void fill_line(struct sim_reach *reach, const struct sim_region *region, uint64_t addr,
                      uint32_t line_bytes, int64_t ticks)
{
    struct sim_region line = *region;
    line.base = addr & ~(uint64_t)(line_bytes - 1);
    if (line.base < region->base || region->access & SIM_ACCESS_MISALIGNED ||
        region->bytes - (line.base - region->base) < line_bytes) {
        *reach = (struct sim_reach){0};
        return;
    }
    line.bytes = line_bytes;
    line.host += line.base - region->base;
    fill(reach, &line, ticks);
    if (reach->span) {
        reach->span = line_bytes;
        reach->is_line = true;
    }
}

static void watch(struct sim_scalar *scalar, const struct sim_region *region, uint64_t addr,
                  unsigned bytes, unsigned access)
{
    if (region->access & SIM_ACCESS_WATCHED && scalar->env->watch) {
        scalar->env->watch(scalar, addr, bytes, access);
    }
}

/* An access of the program's: a function, so that tests/tsan.supp can name it alone. */
static void device_copy(void *to, const void *from, unsigned bytes)
{
    memcpy(to, from, bytes);
}

bool sim_scalar_load(struct sim_scalar *scalar, unsigned rs1, uint64_t addr, unsigned bytes,
                     uint64_t *value, int64_t *ticks)
{
    const struct sim_region *region = sim_scalar_reach(scalar, addr, bytes, SIM_ACCESS_READ);
    if (!region) {
        return false;
    }
    watch(scalar, region, addr, bytes, SIM_ACCESS_READ);
    *value = 0;
    device_copy(value, region->host + (addr - region->base), bytes);
    *ticks = sim_scalar_ticks(scalar, (double)region->load_cycles) - SIM_TICKS;
    if (region->access & SIM_ACCESS_CACHED) {
        scalar->env->line(scalar, addr);
        fill_line(&scalar->load_reach[rs1], region, addr, scalar->line_bytes, *ticks);
    } else {
        fill(&scalar->load_reach[rs1], region, *ticks);
    }
    return true;
}

bool sim_scalar_store(struct sim_scalar *scalar, unsigned rs1, uint64_t addr, unsigned bytes,
                      uint64_t value, int64_t *ticks)
{
    const struct sim_region *region = sim_scalar_reach(scalar, addr, bytes, SIM_ACCESS_WRITE);
    if (!region) {
        return false;
    }
    watch(scalar, region, addr, bytes, SIM_ACCESS_WRITE);
    device_copy(region->host + (addr - region->base), &value, bytes);
    *ticks = sim_scalar_ticks(scalar, (double)region->store_cycles) - SIM_TICKS;
    fill(&scalar->store_reach[rs1], region, *ticks);
    return true;
}
