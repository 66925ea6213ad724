/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces: which bytes of device memory an owner may touch. */
#pragma once

#include "../section.h"
#include <leo/layout.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A mapped range, exact to the byte. */
struct sim_extent {
    uint64_t base, bytes;
    bool read_only; /**< for kernels; copies may write it */
    bool joined;    /**< may be one with its neighbours, and be taken away in parts */
    bool has_text;  /**< a decoded kernel image lies in it */
};

/** Sorted, disjoint extents. */
struct sim_space {
    struct sim_extent *extent;
    size_t count, capacity;
};

void sim_space_finish(struct sim_space *space);
/** LEO_ERR_EXISTS: overlaps a mapping of this space. */
leo_status sim_space_map(struct sim_space *space, uint64_t base, uint64_t bytes, bool read_only);
/** The same; the extent becomes one with joined extents that it touches. */
leo_status sim_space_map_joined(struct sim_space *space, uint64_t base, uint64_t bytes,
                                bool read_only);
/** Takes a range out of a joined extent. LEO_ERR_NOT_FOUND: none holds all of it. */
leo_status sim_space_unmap_part(struct sim_space *space, uint64_t base, uint64_t bytes);
/** Takes away the extent that begins at `base` and returns it in `extent`. LEO_ERR_NOT_FOUND: none
 * does. */
leo_status sim_space_unmap(struct sim_space *space, uint64_t base, struct sim_extent *extent);
/** The extent that holds all of [addr, addr + bytes), or NULL.
 * Valid until the next map or unmap. */
struct sim_extent *sim_space_find(const struct sim_space *space, uint64_t addr, uint64_t bytes);
/** Whether any byte of [addr, addr + bytes) is mapped. */
bool sim_space_overlaps(const struct sim_space *space, uint64_t addr, uint64_t bytes);
/** Its state (section.h); makes room if `fn` changes the number of extents. */
bool sim_space_walk(struct sim_space *space, unsigned index, sim_stretch_fn fn, void *user);
/** Sorted, disjoint, and within [base, base + bytes). */
bool sim_space_is_legal(const struct sim_space *space, uint64_t base, uint64_t bytes);
