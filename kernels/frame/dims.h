/* SPDX-License-Identifier: Apache-2.0 */
/* What families that go along one dimension share. */
#pragma once

#include "family.h"

#include <inttypes.h>

/** Dimension `given` of `rank` (0 counts as 1), negative from the end; fails if there is none. */
static inline leo_status op_take_dim(const struct op_call *call, int64_t given, unsigned rank,
                                     unsigned *dim)
{
    const int64_t all = rank ? rank : 1, at = given < 0 ? given + all : given;
    if (at < 0 || at >= all) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "dimension %" PRId64 " is out of range, there are %u", given, rank);
    }
    *dim = (unsigned)at;
    return LEO_OK;
}

/** How many rows of `length` elements of `unit` bytes are whole 64-byte lines together: blocks that
 * take so many share no line. 64 at most. */
static inline uint64_t op_row_granule(uint64_t length, unsigned unit)
{
    uint64_t granule = 1;
    while (granule < 64 && granule * length * unit % 64 != 0) {
        granule *= 2;
    }
    return granule;
}
