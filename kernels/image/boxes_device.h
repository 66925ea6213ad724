/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes given by their corners, and choosing the best of them, on the scalar unit. */
#pragma once

#include "../device/element.h"

#include <math.h>

struct box {
    float x1, y1, x2, y2;
};

OP_INLINE struct box take_box(uint64_t addr, uint32_t type, uint64_t index)
{
    const uint32_t unit = op_bytes_of(type);
    const uint64_t at = addr + index * 4 * unit;
    return (struct box){op_get_f(at, type), op_get_f(at + unit, type),
                        op_get_f(at + 2 * unit, type), op_get_f(at + 3 * unit, type)};
}

OP_INLINE float area_of(const struct box *b)
{
    return (b->x2 - b->x1) * (b->y2 - b->y1);
}

OP_INLINE float common_area(const struct box *a, const struct box *b)
{
    const float width = fminf(a->x2, b->x2) - fmaxf(a->x1, b->x1),
                height = fminf(a->y2, b->y2) - fmaxf(a->y1, b->y1);
    return width > 0 && height > 0 ? width * height : 0;
}

/* Boxes and scores in rows of `type`; a byte of `taken` for each, which is not 0 where it is chosen
 * or overlaps what is chosen. */
struct candidates {
    uint64_t boxes, scores, taken, count;
    uint32_t box_type, score_type;
};

/* The first of the best that are not taken and above `least`; count if there is none. */
OP_INLINE uint64_t find_best(const struct candidates *c, float least)
{
    const uint32_t unit = op_bytes_of(c->score_type);
    uint64_t best = c->count;
    float score = 0;
    for (uint64_t i = 0; i < c->count; i++) {
        const float s = op_get_f(c->scores + i * unit, c->score_type);
        if (!op_get_i(c->taken + i, OP_TYPE_U8) && s > least && (best == c->count || s > score)) {
            best = i;
            score = s;
        }
    }
    return best;
}

/* Takes box `best` and all that overlap it by more than `limit` of what both cover. */
OP_INLINE void take_overlapping(const struct candidates *c, uint64_t best, float limit)
{
    const struct box chosen = take_box(c->boxes, c->box_type, best);
    for (uint64_t i = 0; i < c->count; i++) {
        const struct box other = take_box(c->boxes, c->box_type, i);
        const float both = common_area(&chosen, &other);
        if (i == best || both > limit * (area_of(&chosen) + area_of(&other) - both)) {
            op_put_i(c->taken + i, OP_TYPE_U8, 1);
        }
    }
}
