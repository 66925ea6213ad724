/* SPDX-License-Identifier: Apache-2.0 */
/* Positions in strided tensors. */
#pragma once

#include "inline.h"

#include <stdint.h>

/* Byte offset of the element with row-major number `index` of a tensor of shape dim[0..rank). */
OP_INLINE uint64_t op_offset(uint32_t rank, const int64_t *dim, const int64_t *stride,
                             uint64_t index)
{
    uint64_t offset = 0;
    for (uint32_t d = rank; d-- > 0;) {
        const uint64_t above = index / (uint64_t)dim[d];
        offset += (index - above * (uint64_t)dim[d]) * (uint64_t)stride[d];
        index = above;
    }
    return offset;
}
