/* SPDX-License-Identifier: Apache-2.0 */
/* From an address of the core to host memory, with every bound checked. */
#include "../memory/hbm.h"
#include "../memory/space.h"
#include "core.h"

#include <string.h>

bool sim_core_fault(struct sim_core *core, enum leo_fault code, enum leo_mem_space space,
                    uint64_t addr, uint64_t bytes)
{
    struct sim_fault *fault = &core->scalar.fault;
    fault->code = code;
    fault->unit = LEO_PIPE_S;
    fault->space = space;
    fault->addr = addr;
    fault->bytes = bytes;
    fault->align = 0;
    fault->operand = 0;
    return false;
}

static uint64_t window_base(enum leo_mem_space space)
{
    return LEO_MAP_WINDOWS + ((uint64_t)space - LEO_MEM_SPACE_UB) * LEO_MAP_WINDOW_BYTES;
}

uint8_t *sim_core_local(struct sim_core *core, enum leo_mem_space space, uint64_t addr,
                        uint64_t bytes, unsigned align)
{
    const struct sim_local *local = &core->local[space];
    uint64_t base = window_base(space);
    uint64_t offset = addr >= base && addr - base < LEO_MAP_WINDOW_BYTES ? addr - base : addr;
    if (offset > local->bytes || bytes > local->bytes - offset) {
        sim_core_fault(core, LEO_FAULT_LOCAL_OUT_OF_RANGE, space, addr, bytes);
        return NULL;
    }
    if (align > 1 && offset % align) {
        sim_core_fault(core, LEO_FAULT_MISALIGNED_LOCAL, space, addr, bytes);
        core->scalar.fault.align = align;
        return NULL;
    }
    return local->data + offset;
}

static bool fits(uint64_t addr, uint64_t bytes, uint64_t base, uint64_t end)
{
    return addr >= base && addr <= end && bytes <= end - addr;
}

/* A stack is cleared as the block goes down it: most use a small part. */
static void clear_stack(struct sim_core *core, uint64_t addr)
{
    enum { STEP = 1024 }; // the frames of most kernels
    const uint64_t down = addr & ~(uint64_t)(STEP - 1),
                   from = down > core->stack_end ? down : core->stack_end;
    memset(core->private_window + (from - LEO_MAP_PRIVATE), 0, core->stack_clear - from);
    core->stack_clear = from;
}

/* The part of the image window or the private window that holds the range; false = neither. */
static bool find_private(struct sim_core *core, uint64_t addr, uint64_t bytes,
                         struct sim_region *region)
{
    uint64_t shared_end = LEO_MAP_IMAGE + core->image_read_only;
    const struct sim_config *config = core->config;
    if (fits(addr, bytes, LEO_MAP_IMAGE, shared_end)) {
        *region = (struct sim_region){.base = LEO_MAP_IMAGE,
                                      .bytes = core->image_read_only,
                                      .host = core->image,
                                      .access = SIM_ACCESS_READ | SIM_ACCESS_EXEC,
                                      .load_cycles = (float)config->scalar_load_private,
                                      .store_cycles = (float)config->scalar_load_private};
        return true;
    }
    if (fits(addr, bytes, shared_end, LEO_MAP_IMAGE + core->image_bytes)) {
        *region = (struct sim_region){.base = shared_end,
                                      .bytes = core->image_bytes - core->image_read_only,
                                      .host = core->image_private,
                                      .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE,
                                      .load_cycles = (float)config->scalar_load_private,
                                      .store_cycles = (float)config->scalar_load_private};
        return true;
    }
    if (fits(addr, bytes, core->stack_end, core->private_end)) {
        if (addr < core->stack_clear) {
            clear_stack(core, addr);
        }
        *region = (struct sim_region){.base = core->stack_clear,
                                      .bytes = core->private_end - core->stack_clear,
                                      .host = core->private_window +
                                              (core->stack_clear - LEO_MAP_PRIVATE),
                                      .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE,
                                      .load_cycles = (float)config->scalar_load_private,
                                      .store_cycles = (float)config->scalar_load_private};
        return true;
    }
    return false;
}

/* Below the stack, but near enough to have been meant as stack. */
static bool fault_outside(struct sim_core *core, uint64_t addr, uint64_t bytes)
{
    if (addr >= LEO_MAP_PRIVATE && addr < core->stack_end) {
        return sim_core_fault(core, LEO_FAULT_STACK_OVERFLOW, LEO_MEM_SPACE_PRIVATE, addr, bytes);
    }
    return sim_core_fault(core, LEO_FAULT_GM_OUT_OF_RANGE, LEO_MEM_SPACE_GM, addr, bytes);
}

static struct sim_extent *find_extent(struct sim_core *core, uint64_t addr, uint64_t bytes)
{
    const struct sim_extent *last = core->last_extent;
    if (last && addr >= last->base && addr - last->base <= last->bytes &&
        bytes <= last->bytes - (addr - last->base)) {
        return &core->space->extent[last - core->space->extent];
    }
    struct sim_extent *extent = core->space ? sim_space_find(core->space, addr, bytes) : NULL;
    if (extent) {
        core->last_extent = extent;
    }
    return extent;
}

uint8_t *sim_core_gm(struct sim_core *core, uint64_t addr, uint64_t bytes, bool write)
{
    if (addr < LEO_MAP_GM) {
        struct sim_region region;
        if (!find_private(core, addr, bytes, &region)) {
            fault_outside(core, addr, bytes);
            return NULL;
        }
        if (write && !(region.access & SIM_ACCESS_WRITE)) {
            sim_core_fault(core, LEO_FAULT_GM_READ_ONLY, LEO_MEM_SPACE_GM, addr, bytes);
            return NULL;
        }
        return region.host + (addr - region.base);
    }
    const struct sim_extent *extent = find_extent(core, addr, bytes);
    if (!extent) {
        sim_core_fault(core, LEO_FAULT_GM_OUT_OF_RANGE, LEO_MEM_SPACE_GM, addr, bytes);
        return NULL;
    }
    if (write && extent->read_only) {
        sim_core_fault(core, LEO_FAULT_GM_READ_ONLY, LEO_MEM_SPACE_GM, addr, bytes);
        return NULL;
    }
    if (write && extent->has_text) {
        core->wrote_text = true;
    }
    return core->gm + (addr - core->gm_base);
}

/* The checker wants to see accesses to what other units reach too, cores that poll global memory
 * what is written there. */
static unsigned watched(const struct sim_core *core, bool global)
{
    return core->check || core->unknown || (global && core->stores) ? SIM_ACCESS_WATCHED : 0u;
}

static bool find_ub(struct sim_core *core, uint64_t addr, unsigned bytes, struct sim_region *region)
{
    const struct sim_local *ub = &core->local[LEO_MEM_SPACE_UB];
    uint64_t base = addr >= LEO_MAP_WINDOWS ? LEO_MAP_WINDOWS : 0;
    if (!fits(addr, bytes, base, base + ub->bytes)) {
        return sim_core_fault(core, LEO_FAULT_LOCAL_OUT_OF_RANGE, LEO_MEM_SPACE_UB, addr, bytes);
    }
    *region =
        (struct sim_region){.base = base,
                            .bytes = ub->bytes,
                            .host = ub->data,
                            .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE | watched(core, false),
                            .load_cycles = (float)core->config->scalar_load_ub,
                            .store_cycles = (float)core->config->scalar_store_ub};
    return true;
}

static bool find_gm(struct sim_core *core, uint64_t addr, unsigned bytes, enum sim_access access,
                    struct sim_region *region)
{
    const uint64_t memory = addr & ~SIM_GM_NO_L2;
    const struct sim_extent *extent = find_extent(core, memory, bytes);
    if (!extent) {
        return sim_core_fault(core, LEO_FAULT_GM_OUT_OF_RANGE, LEO_MEM_SPACE_GM, addr, bytes);
    }
    // A writable region may be kept by the scalar unit: writes near an image are noted when it is
    // handed out.
    bool writable = !extent->read_only && (!extent->has_text || access == SIM_ACCESS_WRITE);
    if (extent->has_text && access == SIM_ACCESS_WRITE) {
        core->wrote_text = true;
    }
    *region =
        (struct sim_region){.base = extent->base + (addr - memory),
                            .bytes = extent->bytes,
                            .host = core->gm + (extent->base - core->gm_base),
                            .access = SIM_ACCESS_READ | SIM_ACCESS_CACHED |
                                      (writable ? SIM_ACCESS_WRITE : 0u) | watched(core, true),
                            .load_cycles = (float)core->config->scalar_load_gm,
                            .store_cycles = (float)core->config->scalar_store_gm};
    return true;
}

/* Rounds of a loop that polls are carried out when others have written: how often it looked is
 * nothing to go by. */
void sim_core_load_line(struct sim_scalar *scalar, uint64_t addr)
{
    struct sim_core *core = scalar->owner;
    uint64_t evicted;
    if (!core->poll.passing && !sim_caches_load(&core->caches, addr, &evicted) &&
        evicted != UINT64_MAX) {
        sim_scalar_forget_line(scalar, evicted);
    }
}

bool sim_core_find(struct sim_scalar *scalar, uint64_t addr, unsigned bytes, enum sim_access access,
                   struct sim_region *region)
{
    struct sim_core *core = scalar->owner;
    bool found = false;
    if (addr >= LEO_MAP_GM) {
        found = find_gm(core, addr, bytes, access, region);
    } else if (addr < LEO_MAP_IMAGE ||
               (addr >= LEO_MAP_WINDOWS && addr < LEO_MAP_WINDOWS + LEO_MAP_WINDOW_BYTES)) {
        found = find_ub(core, addr, bytes, region);
    } else if (addr >= LEO_MAP_WINDOWS && addr < LEO_MAP_PRIVATE) {
        // The other buffers have no scalar port.
        uint64_t space = LEO_MEM_SPACE_UB + (addr - LEO_MAP_WINDOWS) / LEO_MAP_WINDOW_BYTES;
        enum leo_mem_space named =
            space <= LEO_MEM_SPACE_FB ? (enum leo_mem_space)space : LEO_MEM_SPACE_GM;
        return sim_core_fault(core, LEO_FAULT_LOCAL_OUT_OF_RANGE, named, addr, bytes);
    } else {
        found = find_private(core, addr, bytes, region) || fault_outside(core, addr, bytes);
    }
    if (access == SIM_ACCESS_EXEC && (!found || !(region->access & SIM_ACCESS_EXEC))) {
        return sim_core_fault(core, LEO_FAULT_BAD_FETCH, LEO_MEM_SPACE_GM, addr, bytes);
    }
    if (found && !(region->access & (unsigned)access)) {
        return sim_core_fault(core, LEO_FAULT_GM_READ_ONLY, LEO_MEM_SPACE_GM, addr, bytes);
    }
    return found;
}
