/* SPDX-License-Identifier: Apache-2.0 */
/* Pointwise operators whose vector form always holds. */
#include "inline.h"

OP_INLINE void rescue(uint32_t function, uint32_t to, uint32_t good, uint32_t x, uint32_t y,
                      uint32_t count)
{
    (void)function, (void)to, (void)good, (void)x, (void)y, (void)count;
}

#include "tile.inc"
