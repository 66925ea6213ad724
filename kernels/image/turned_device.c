/* SPDX-License-Identifier: Apache-2.0 */
/* Areas that turned boxes have in common, on the scalar unit, in float. */
#include "../device/element.h"
#include "turned_args.h"

#include <math.h>
#include <stdbool.h>

enum { CORNERS = 4, MOST = 2 * CORNERS /* corners of what two boxes have in common */ };

struct point {
    float x, y;
};

/* Corners one after the other, counter-clockwise where y goes up. */
struct shape {
    struct point at[MOST];
    int32_t count;
    float area;
};

/* Two corners and an angle to the other side as centre, size and angle. */
static void make_centred(float *n)
{
    const float x = n[0], y = n[1];
    n[0] = (x + n[2]) / 2;
    n[1] = (y + n[3]) / 2;
    n[2] -= x;
    n[3] -= y;
    n[4] = -n[4];
}

/* Numbers of a box lie `stride` elements apart. A box without an area has no corners. */
static struct shape take(uint64_t table, uint64_t first, uint64_t stride, bool corners)
{
    static const float across[CORNERS] = {-0.5f, 0.5f, 0.5f, -0.5f},
                       down[CORNERS] = {-0.5f, -0.5f, 0.5f, 0.5f};
    float n[5];
    for (uint64_t i = 0; i < 5; i++) {
        n[i] = op_get_f(table + (first + i * stride) * 4, OP_TYPE_F32);
    }
    if (corners) {
        make_centred(n);
    }
    const float angle = n[4] * 0.017453293f, c = cosf(angle), s = sinf(angle);
    struct shape shape = {.count = n[2] * n[3] > 0 ? CORNERS : 0, .area = n[2] * n[3]};
    for (int32_t i = 0; i < shape.count; i++) {
        const float x = across[i] * n[2], y = down[i] * n[3];
        shape.at[i] = (struct point){n[0] + c * x - s * y, n[1] + s * x + c * y};
    }
    return shape;
}

/* Above 0 left of the line from a to b. */
static float side_of(struct point a, struct point b, struct point p)
{
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/* What of a shape lies left of the line from a to b. */
static struct shape cut(const struct shape *shape, struct point a, struct point b)
{
    struct shape left = {.count = 0};
    for (int32_t i = 0; i < shape->count; i++) {
        const struct point p = shape->at[i], q = shape->at[i + 1 < shape->count ? i + 1 : 0];
        const float here = side_of(a, b, p), there = side_of(a, b, q);
        if (here >= 0 && left.count < MOST) {
            left.at[left.count++] = p;
        }
        if ((here >= 0) != (there >= 0) && left.count < MOST) {
            const float part = here / (here - there);
            left.at[left.count++] =
                (struct point){p.x + part * (q.x - p.x), p.y + part * (q.y - p.y)};
        }
    }
    return left;
}

static float common_area(const struct shape *a, const struct shape *b)
{
    struct shape both = *a;
    for (int32_t i = 0; i < b->count; i++) {
        both = cut(&both, b->at[i], b->at[i + 1 < b->count ? i + 1 : 0]);
    }
    float twice = 0;
    for (int32_t i = 1; b->count && i + 1 < both.count; i++) {
        twice += side_of(both.at[0], both.at[i], both.at[i + 1]);
    }
    return fabsf(twice) / 2;
}

__global__ __vector__ void turned_overlap(struct op_turned_args args)
{
    const struct op_turned_args t = args;
    const struct op_span span =
        op_block_span(t.out, OP_TYPE_F32, t.batch * t.count * t.other_count, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const uint64_t row = i / t.other_count, batch = row / t.count;
        const struct shape a = take(t.boxes, batch * 5 * t.count + row % t.count, t.count, false),
                           b = take(t.others, batch * 5 * t.other_count + i % t.other_count,
                                    t.other_count, false);
        const float both = common_area(&a, &b), all = a.area + b.area - both;
        op_put_f(t.out + i * 4, OP_TYPE_F32, !t.ratio ? both : both > 0 ? both / all : 0);
    }
    op_flush();
}

static float score_of(const struct op_turned_select_args *t, uint64_t index)
{
    return op_get_f(t->scores + index * 4, OP_TYPE_F32);
}

/* The first of the best that are not taken; count if there is none. */
static uint64_t find_best(const struct op_turned_select_args *t)
{
    uint64_t best = t->count;
    for (uint64_t i = 0; i < t->count; i++) {
        if (!op_get_i(t->taken + i, OP_TYPE_U8) && score_of(t, i) > t->least &&
            (best == t->count || score_of(t, i) > score_of(t, best))) {
            best = i;
        }
    }
    return best;
}

/* One core: each choice depends on those before. */
__global__ __vector__ void turned_select(struct op_turned_select_args args)
{
    const struct op_turned_select_args t = args;
    uint64_t found = 0, best;
    while (found < t.most && (best = find_best(&t)) < t.count) {
        const struct shape chosen = take(t.boxes, best * 5, 1, t.corners);
        op_put_i(t.indices + found++ * 4, OP_TYPE_I32, (int64_t)best);
        for (uint64_t i = 0; i < t.count; i++) {
            const struct shape other = take(t.boxes, i * 5, 1, t.corners);
            const float both = common_area(&chosen, &other);
            // A box of a negative side has no area in common, but may make the sum negative.
            if (i == best || (both > 0 && both > t.limit * (chosen.area + other.area - both))) {
                op_put_i(t.taken + i, OP_TYPE_U8, 1);
            }
        }
    }
    op_put_i(t.found, OP_TYPE_I64, (int64_t)found);
    op_flush();
}
