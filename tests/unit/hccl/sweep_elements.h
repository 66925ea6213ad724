/* SPDX-License-Identifier: Apache-2.0 */
/* What each rank holds in a sweep of the collectives, and what it is reduced to, element by
 * element. */
#pragma once

#include <hccl/hccl_types.h>
#include <stdbool.h>
#include <stddef.h>

enum { SWEEP_KINDS = 12, SWEEP_OPS = 4 };

struct sweep_kind {
    const char *name;
    HcclDataType type;
    size_t bytes;
    enum { SWEEP_SIGNED, SWEEP_UNSIGNED, SWEEP_F16, SWEEP_BF16, SWEEP_F32, SWEEP_F64 } is;
};

extern const struct sweep_kind sweep_kinds[SWEEP_KINDS];

/** Element `i` of rank `rank` in a round: any bits of integers; floats of all sizes and kinds. */
void sweep_element(const struct sweep_kind *kind, uint32_t round, uint32_t rank, size_t i,
                   void *bits);
/** Element `i` of all ranks, rank 0 first; integers wrap, 16-bit floats are rounded once. */
void sweep_reduced(const struct sweep_kind *kind, HcclReduceOp op, uint32_t round, uint32_t ranks,
                   size_t i, void *bits);
/** The same bits, or both not a number. */
bool sweep_same(const struct sweep_kind *kind, const void *a, const void *b);
