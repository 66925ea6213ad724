/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of boxes in pairs and their gradients, on the scalar unit, in float. */
#include "../device/element.h"
#include "pairs_args.h"

#include <math.h>

/* What the published tests of these operators add to sizes and areas: 1e-16 and 1e-9. */
static const float giou_epsilon = 1e-16f, epsilon = 1e-9f;
static const float pi_squared = 9.8696044f;

enum { X1, Y1, X2, Y2, SIDES };

struct sides {
    float at[SIDES];
};

/* Two boxes and what their unions are made of. */
struct pair {
    struct sides a, b;
    float width, height;             /* of the common part, 0 at least */
    float outer_width, outer_height; /* of what holds both */
    float a_width, a_height, b_width, b_height;
    float common, all, outer;
    float distance, diagonal; /* squared */
    float apart, weight;      /* CIoU: difference of the angles, and its weight */
};

static float get(uint64_t table, uint64_t index)
{
    return op_get_f(table + index * 4, OP_TYPE_F32);
}

static struct sides take(uint64_t table, uint64_t count, uint64_t index, bool centred)
{
    const float n[SIDES] = {get(table, index), get(table, count + index),
                            get(table, 2 * count + index), get(table, 3 * count + index)};
    if (!centred) {
        return (struct sides){{n[0], n[1], n[2], n[3]}};
    }
    return (struct sides){{n[0] - n[2] / 2, n[1] - n[3] / 2, n[0] + n[2] / 2, n[1] + n[3] / 2}};
}

static float square(float x)
{
    return x * x;
}

static struct pair measure(struct sides a, struct sides b, uint32_t form)
{
    const float more = form == OP_PAIRS_GIOU ? 0 : epsilon;
    struct pair p = {.a = a, .b = b};
    p.width = fmaxf(fminf(a.at[X2], b.at[X2]) - fmaxf(a.at[X1], b.at[X1]), 0);
    p.height = fmaxf(fminf(a.at[Y2], b.at[Y2]) - fmaxf(a.at[Y1], b.at[Y1]), 0);
    p.outer_width = fmaxf(a.at[X2], b.at[X2]) - fminf(a.at[X1], b.at[X1]);
    p.outer_height = fmaxf(a.at[Y2], b.at[Y2]) - fminf(a.at[Y1], b.at[Y1]);
    p.a_width = a.at[X2] - a.at[X1];
    p.a_height = a.at[Y2] - a.at[Y1] + more;
    p.b_width = b.at[X2] - b.at[X1];
    p.b_height = b.at[Y2] - b.at[Y1] + more;
    p.common = p.width * p.height;
    p.all = p.a_width * p.a_height + p.b_width * p.b_height - p.common +
            (form == OP_PAIRS_GIOU ? giou_epsilon : epsilon);
    p.outer = fabsf(p.outer_width) * fabsf(p.outer_height);
    p.distance = (square(b.at[X1] + b.at[X2] - a.at[X1] - a.at[X2]) +
                  square(b.at[Y1] + b.at[Y2] - a.at[Y1] - a.at[Y2])) /
                 4;
    p.diagonal = square(p.outer_width) + square(p.outer_height) + epsilon;
    if (form == OP_PAIRS_CIOU) {
        p.apart = atanf(p.b_width / p.b_height) - atanf(p.a_width / p.a_height);
        const float v = 4 / pi_squared * square(p.apart);
        p.weight = v / (1 + epsilon - p.common / p.all + v);
    }
    return p;
}

static float value_of(const struct pair *p, uint32_t form)
{
    const float share = p->common / p->all;
    if (form == OP_PAIRS_GIOU) {
        return share - (p->outer - p->all) / p->outer;
    }
    return share - p->distance / p->diagonal -
           (form == OP_PAIRS_CIOU ? 4 / pi_squared * square(p->apart) * p->weight : 0);
}

__global__ __vector__ void pairs_union(struct op_pairs_args args)
{
    const struct op_pairs_args t = args;
    const struct op_span span = op_block_span(t.out, OP_TYPE_F32, t.count, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const uint64_t ia = i % t.a_count, ib = t.crossed ? i / t.a_count : ia;
        const struct pair p = measure(take(t.a, t.a_count, ia, t.centred),
                                      take(t.b, t.b_count, ib, t.centred), t.form);
        op_put_f(t.out + i * 4, OP_TYPE_F32, value_of(&p, t.form));
        if (t.form == OP_PAIRS_CIOU) {
            op_put_f(t.apart + i * 4, OP_TYPE_F32, p.apart);
        }
    }
    op_flush();
}

/* Gradients by the sides of both boxes. */
struct slopes {
    float a[SIDES], b[SIDES];
};

/* d by the larger (or smaller) of a side of each box: half each if they are equal, as PyTorch. */
static void share(struct slopes *s, const struct pair *p, uint32_t side, bool larger, float d)
{
    const float a = p->a.at[side], b = p->b.at[side];
    const float of_a = a == b ? 0.5f : (a > b) == larger ? 1 : 0;
    s->a[side] += d * of_a;
    s->b[side] += d * (1 - of_a);
}

/* d by the common and the outer width (or height): between sides `low` and `low` + 2. */
static void add_lengths(struct slopes *s, const struct pair *p, uint32_t low, float d_common,
                        float d_outer)
{
    const float length =
        fminf(p->a.at[low + 2], p->b.at[low + 2]) - fmaxf(p->a.at[low], p->b.at[low]);
    const float d = length >= 0 ? d_common : 0;
    share(s, p, low + 2, false, d);
    share(s, p, low, true, -d);
    share(s, p, low + 2, true, d_outer);
    share(s, p, low, false, -d_outer);
}

static void add_size(float *side, uint32_t low, float d)
{
    side[low + 2] += d;
    side[low] -= d;
}

static void add_distance(struct slopes *s, const struct pair *p, uint32_t low, float d)
{
    const float by = d * (p->b.at[low] + p->b.at[low + 2] - p->a.at[low] - p->a.at[low + 2]) / 2;
    s->a[low] -= by;
    s->a[low + 2] -= by;
    s->b[low] += by;
    s->b[low + 2] += by;
}

/* The weight of the angles is taken as a constant. */
static void add_angles(struct slopes *s, const struct pair *p, float d)
{
    const float by = -d * p->weight * 8 / pi_squared * p->apart;
    const float a = square(p->a_width) + square(p->a_height),
                b = square(p->b_width) + square(p->b_height);
    add_size(s->b, X1, by * p->b_height / b);
    add_size(s->b, Y1, -by * p->b_width / b);
    add_size(s->a, X1, -by * p->a_height / a);
    add_size(s->a, Y1, by * p->a_width / a);
}

static struct slopes slopes_of(const struct pair *p, uint32_t form, float d)
{
    struct slopes s = {{0}, {0}};
    const bool giou = form == OP_PAIRS_GIOU;
    const float d_all = -d * p->common / square(p->all) + (giou ? d / p->outer : 0),
                d_common = d / p->all - d_all, d_outer = giou ? -d * p->all / square(p->outer) : 0,
                d_diagonal = giou ? 0 : d * p->distance / square(p->diagonal);
    add_lengths(&s, p, X1, d_common * p->height,
                d_outer * p->outer_height + d_diagonal * 2 * p->outer_width);
    add_lengths(&s, p, Y1, d_common * p->width,
                d_outer * p->outer_width + d_diagonal * 2 * p->outer_height);
    add_size(s.a, X1, d_all * p->a_height);
    add_size(s.a, Y1, d_all * p->a_width);
    add_size(s.b, X1, d_all * p->b_height);
    add_size(s.b, Y1, d_all * p->b_width);
    if (!giou) {
        add_distance(&s, p, X1, -d / p->diagonal);
        add_distance(&s, p, Y1, -d / p->diagonal);
    }
    if (form == OP_PAIRS_CIOU) {
        add_angles(&s, p, d);
    }
    return s;
}

static void put(const struct op_pairs_args *t, uint64_t row, uint64_t index, const float *side)
{
    for (uint32_t low = X1; low <= Y1; low++) {
        const float first = t->centred ? side[low] + side[low + 2] : side[low],
                    second = t->centred ? (side[low + 2] - side[low]) / 2 : side[low + 2];
        op_put_f(t->out + ((row + low) * t->pad + index) * 4, OP_TYPE_F32, first);
        op_put_f(t->out + ((row + low + 2) * t->pad + index) * 4, OP_TYPE_F32, second);
    }
}

__global__ __vector__ void pairs_gradient(struct op_pairs_args args)
{
    const struct op_pairs_args t = args;
    const struct op_span span = op_block_span(t.out, OP_TYPE_F32, t.count, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const struct pair p =
            measure(take(t.a, t.a_count, i, t.centred), take(t.b, t.b_count, i, t.centred), t.form);
        const struct slopes s = slopes_of(&p, t.form, get(t.grad, i));
        put(&t, 0, i, s.a);
        put(&t, 4, i, s.b);
    }
    op_flush();
}
