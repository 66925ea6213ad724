/* SPDX-License-Identifier: Apache-2.0 */
#include "space.h"

#include <leo/alloc.h>
#include <string.h>

/* Index of the first extent that ends after `addr`. */
static size_t first_after(const struct sim_space *space, uint64_t addr)
{
    size_t low = 0;
    size_t high = space->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct sim_extent *extent = &space->extent[middle];
        if (extent->base + extent->bytes > addr) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void sim_space_finish(struct sim_space *space)
{
    leo_free(space->extent);
    memset(space, 0, sizeof(*space));
}

bool sim_space_overlaps(const struct sim_space *space, uint64_t addr, uint64_t bytes)
{
    size_t index = first_after(space, addr);
    return index < space->count && space->extent[index].base < addr + bytes;
}

leo_status sim_space_map(struct sim_space *space, uint64_t base, uint64_t bytes, bool read_only)
{
    if (bytes == 0 || base + bytes < base) {
        return LEO_ERR_INVALID_ARG;
    }
    if (sim_space_overlaps(space, base, bytes)) {
        return LEO_ERR_EXISTS;
    }
    if (space->count == space->capacity) {
        size_t capacity = space->capacity ? space->capacity * 2 : 16;
        struct sim_extent *extent = leo_realloc(space->extent, capacity * sizeof(*extent));
        if (!extent) {
            return LEO_ERR_NO_MEMORY;
        }
        space->extent = extent;
        space->capacity = capacity;
    }
    size_t index = first_after(space, base);
    memmove(&space->extent[index + 1], &space->extent[index],
            (space->count - index) * sizeof(space->extent[0]));
    space->extent[index] =
        (struct sim_extent){.base = base, .bytes = bytes, .read_only = read_only};
    space->count++;
    return LEO_OK;
}

leo_status sim_space_unmap(struct sim_space *space, uint64_t base, struct sim_extent *extent)
{
    size_t index = first_after(space, base);
    if (index == space->count || space->extent[index].base != base) {
        return LEO_ERR_NOT_FOUND;
    }
    *extent = space->extent[index];
    space->count--;
    memmove(&space->extent[index], &space->extent[index + 1],
            (space->count - index) * sizeof(space->extent[0]));
    return LEO_OK;
}

struct sim_extent *sim_space_find(const struct sim_space *space, uint64_t addr, uint64_t bytes)
{
    size_t index = first_after(space, addr);
    if (index == space->count) {
        return NULL;
    }
    struct sim_extent *extent = &space->extent[index];
    uint64_t offset = addr - extent->base;
    if (addr < extent->base || offset > extent->bytes || bytes > extent->bytes - offset) {
        return NULL;
    }
    return extent;
}

static void remove_at(struct sim_space *space, size_t index)
{
    space->count--;
    memmove(&space->extent[index], &space->extent[index + 1],
            (space->count - index) * sizeof(space->extent[0]));
}

leo_status sim_space_map_joined(struct sim_space *space, uint64_t base, uint64_t bytes,
                                bool read_only)
{
    leo_status status = sim_space_map(space, base, bytes, read_only);
    if (status != LEO_OK) {
        return status;
    }
    size_t index = first_after(space, base);
    struct sim_extent *extent = &space->extent[index];
    extent->joined = true;
    if (index + 1 < space->count && extent[1].joined && extent[1].read_only == read_only &&
        extent[1].base == base + bytes) {
        extent->bytes += extent[1].bytes;
        remove_at(space, index + 1);
    }
    if (index > 0 && extent[-1].joined && extent[-1].read_only == read_only &&
        extent[-1].base + extent[-1].bytes == base) {
        extent[-1].bytes += extent->bytes;
        remove_at(space, index);
    }
    return LEO_OK;
}

leo_status sim_space_unmap_part(struct sim_space *space, uint64_t base, uint64_t bytes)
{
    struct sim_extent *extent = sim_space_find(space, base, bytes);
    if (bytes == 0 || !extent || !extent->joined) {
        return LEO_ERR_NOT_FOUND;
    }
    const struct sim_extent whole = *extent;
    uint64_t left = base - whole.base, right = whole.bytes - left - bytes;
    size_t index = (size_t)(extent - space->extent);
    if (left && right) {
        // The part on the right is mapped anew; room for it is found while the range is whole.
        extent->bytes = left;
        leo_status status = sim_space_map(space, base + bytes, right, whole.read_only);
        if (status != LEO_OK) {
            space->extent[index].bytes = whole.bytes;
            return status;
        }
        space->extent[first_after(space, base + bytes)].joined = true;
    } else if (left) {
        extent->bytes = left;
    } else if (right) {
        extent->base += bytes;
        extent->bytes = right;
    } else {
        remove_at(space, index);
    }
    return LEO_OK;
}

#define SECTION(what, member) SIM_SECTION(struct sim_space, what, member)
static const struct sim_section list[] = {
    SECTION(WIRED, extent),
    SECTION(STATE, count),
    SECTION(WIRED, capacity),
};
#undef SECTION

static const struct sim_sections sections = SIM_SECTIONS(struct sim_space, list);

bool sim_space_walk(struct sim_space *space, unsigned index, sim_stretch_fn fn, void *user)
{
    const size_t count = space->count;
    if (!sim_sections_walk(&sections, index, space, fn, user)) {
        return false;
    }
    if (space->count > space->capacity) {
        struct sim_extent *extent = space->count <= SIZE_MAX / sizeof(*extent)
                                        ? leo_realloc(space->extent, space->count * sizeof(*extent))
                                        : NULL;
        if (!extent) {
            space->count = count;
            return false;
        }
        space->extent = extent;
        space->capacity = space->count;
    }
    if (space->count > count) {
        memset(space->extent + count, 0, (space->count - count) * sizeof(*space->extent));
    }
    const struct sim_stretch stretch = {
        .owner = "mappings",
        .name = "extent",
        .index = index,
        .data = space->extent,
        .bytes = space->count * sizeof(*space->extent),
        .unit = sizeof(uint64_t),
        .kind = SIM_SECTION_STATE,
    };
    return space->count == 0 || fn(user, &stretch);
}

bool sim_space_is_legal(const struct sim_space *space, uint64_t base, uint64_t bytes)
{
    uint64_t free = base;
    for (size_t i = 0; i < space->count; i++) {
        const struct sim_extent *extent = &space->extent[i];
        uint64_t offset = extent->base - base;
        if (extent->base < free || extent->bytes == 0 || offset > bytes ||
            extent->bytes > bytes - offset) {
            return false;
        }
        free = extent->base + extent->bytes;
    }
    return true;
}
