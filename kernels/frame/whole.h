/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers, as plans need them: all are positive. */
#pragma once

#include <stdint.h>

/** How many parts of `size` hold `count`. */
static inline int64_t op_parts(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static inline int64_t op_round_up(int64_t value, int64_t to)
{
    return op_parts(value, to) * to;
}

static inline int64_t op_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t op_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
