/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index arithmetic of a ring whose depth is a power of two. Head and tail are slots 0..depth-1; one
 * slot stays empty, so that a full ring differs from an empty one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a ring may have this depth: a power of two, at least 2. */
bool leo_ring_is_depth(uint32_t depth);
/** The slot after `index`. */
uint32_t leo_ring_next(uint32_t index, uint32_t depth);
/** Steps from `from` forward to `to`: with head and tail, the entries in the ring. */
uint32_t leo_ring_distance(uint32_t from, uint32_t to, uint32_t depth);
bool leo_ring_is_empty(uint32_t head, uint32_t tail);
/** Whether depth - 1 entries are in the ring. */
bool leo_ring_is_full(uint32_t head, uint32_t tail, uint32_t depth);
/** Phase (1, 2, ...) of the next pass: `phase` unless moving on from `index` wraps, then the one
 * after it. */
uint32_t leo_ring_next_phase(uint32_t index, uint32_t depth, uint32_t phase);

#ifdef __cplusplus
}
#endif
