/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Means that are large beside what deviates from them. Where |mean| / deviation exceeds
 * OP_NORM_FAR, the rounding of the mean (some parts in 2^24) would count as deviation: the mean of
 * what is left after the subtraction is subtracted as well, and so on. A row of one value c is left
 * with 0, whatever c: each round takes some 7 digits of 38.
 */
#pragma once

#include "../device/inline.h"

#include <stdbool.h>

#define OP_NORM_FAR 16.0f
enum { OP_NORM_ROUNDS = 8 };

/* Whether the mean that went out of `count` elements is far; squares: the sum of those of what is
 * left. */
OP_INLINE bool op_norm_far(float mean, double squares, double count)
{
    const double m = (double)mean;
    return m * m * count > squares * (double)(OP_NORM_FAR * OP_NORM_FAR);
}
