/* SPDX-License-Identifier: Apache-2.0 */
/* Regions and boxes on the scalar unit, in float. */
#include "boxes_device.h"
#include "detect_args.h"

/* A region in its plane. */
struct region {
    int64_t image, rows, columns; /* samples of a cell */
    float top, left, cell_height, cell_width;
};

static int64_t sample_count(int64_t given, float size, int64_t cells)
{
    const float each = size / (float)cells;
    const int64_t whole = (int64_t)each;
    return given > 0 ? given : (float)whole < each ? whole + 1 : whole;
}

static struct region take_region(const struct op_regions_args *t, uint64_t index)
{
    const uint32_t unit = op_bytes_of(t->table_type);
    float word[5];
    for (uint32_t i = 0; i < 5; i++) {
        word[i] = op_get_f(t->table + (index * 5 + i) * unit, t->table_type);
    }
    struct region region = {.image = (int64_t)word[0],
                            .left = word[1] * t->scale + t->begin_shift,
                            .top = word[2] * t->scale + t->begin_shift};
    float width = (word[3] + t->end_shift) * t->scale + t->begin_shift - region.left,
          height = (word[4] + t->end_shift) * t->scale + t->begin_shift - region.top;
    width = width > t->least ? width : t->least;
    height = height > t->least ? height : t->least;
    region.cell_width = width / (float)t->pooled_width;
    region.cell_height = height / (float)t->pooled_height;
    region.columns = sample_count(t->samples, width, t->pooled_width);
    region.rows = sample_count(t->samples, height, t->pooled_height);
    if (region.image < 0 || region.image >= t->images) {
        trap(); // the region names an image that is not there
    }
    return region;
}

/* The two pixels a sample lies between, and the weight of the second; false: it lies outside. */
struct between {
    int64_t low, high;
    float weight;
};

static bool find_pixels(float at, int64_t size, struct between *out)
{
    if (!(at >= -1) || at > (float)size) {
        return false;
    }
    at = at > 0 ? at : 0;
    const int64_t low = (int64_t)at;
    *out = low >= size - 1 ? (struct between){size - 1, size - 1, 0}
                           : (struct between){low, low + 1, at - (float)low};
    return true;
}

static float sample_at(float begin, float cell, int64_t number, int64_t sample, int64_t samples)
{
    return begin + (float)number * cell + ((float)sample + 0.5f) * cell / (float)samples;
}

static float pixel(const struct op_regions_args *t, uint64_t plane, int64_t y, int64_t x)
{
    return op_get_f(t->plane + (plane + (uint64_t)(y * t->width + x)) * op_bytes_of(t->plane_type),
                    t->plane_type);
}

static void add_pixel(const struct op_regions_args *t, uint64_t plane, int64_t y, int64_t x,
                      float value)
{
    const uint64_t at = t->plane + (plane + (uint64_t)(y * t->width + x)) * 4;
    op_put_f(at, OP_TYPE_F32, op_get_f(at, OP_TYPE_F32) + value);
}

__global__ __vector__ void regions_mean(struct op_regions_args args)
{
    const struct op_regions_args t = args;
    const uint64_t cells = (uint64_t)(t.pooled_height * t.pooled_width);
    const struct op_span span =
        op_block_span(t.value, t.value_type, t.regions * t.channels * cells, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const uint64_t row = i / cells, index = row / t.channels;
        const int64_t cell = (int64_t)(i % cells), py = cell / t.pooled_width,
                      px = cell % t.pooled_width;
        const struct region r = take_region(&t, index);
        const uint64_t plane =
            ((uint64_t)r.image * t.channels + row % t.channels) * (uint64_t)(t.height * t.width);
        float sum = 0;
        for (int64_t iy = 0; iy < r.rows; iy++) {
            struct between y, x;
            if (!find_pixels(sample_at(r.top, r.cell_height, py, iy, r.rows), t.height, &y)) {
                continue;
            }
            for (int64_t ix = 0; ix < r.columns; ix++) {
                if (!find_pixels(sample_at(r.left, r.cell_width, px, ix, r.columns), t.width, &x)) {
                    continue;
                }
                sum += (1 - y.weight) * ((1 - x.weight) * pixel(&t, plane, y.low, x.low) +
                                         x.weight * pixel(&t, plane, y.low, x.high)) +
                       y.weight * ((1 - x.weight) * pixel(&t, plane, y.high, x.low) +
                                   x.weight * pixel(&t, plane, y.high, x.high));
            }
        }
        const int64_t samples = r.rows * r.columns;
        op_put_f(t.value + i * op_bytes_of(t.value_type), t.value_type,
                 sum / (float)(samples > 0 ? samples : 1));
    }
    op_flush();
}

/* Planes are shared out, so that a pixel is one core's and its sums have one order. */
__global__ __vector__ void regions_gradient(struct op_regions_args args)
{
    const struct op_regions_args t = args;
    const uint64_t cells = (uint64_t)(t.pooled_height * t.pooled_width),
                   planes = (uint64_t)t.images * t.channels, begin = get_block_idx() * t.per_block,
                   end = op_min64(begin + t.per_block, planes);
    for (uint64_t index = 0; index < t.regions; index++) {
        const struct region r = take_region(&t, index);
        const int64_t samples = r.rows * r.columns;
        for (uint64_t channel = 0; channel < t.channels; channel++) {
            const uint64_t number = (uint64_t)r.image * t.channels + channel;
            if (number < begin || number >= end) {
                continue;
            }
            const uint64_t plane = number * (uint64_t)(t.height * t.width),
                           first = (index * t.channels + channel) * cells;
            for (uint64_t cell = 0; cell < cells; cell++) {
                const float share = op_get_f(t.value + (first + cell) * 4, OP_TYPE_F32) /
                                    (float)(samples > 0 ? samples : 1);
                for (int64_t s = 0; s < samples; s++) {
                    struct between y, x;
                    const float at_y =
                        sample_at(r.top, r.cell_height, (int64_t)cell / t.pooled_width,
                                  s / r.columns, r.rows);
                    const float at_x =
                        sample_at(r.left, r.cell_width, (int64_t)cell % t.pooled_width,
                                  s % r.columns, r.columns);
                    if (find_pixels(at_y, t.height, &y) && find_pixels(at_x, t.width, &x)) {
                        add_pixel(&t, plane, y.low, x.low, share * (1 - y.weight) * (1 - x.weight));
                        add_pixel(&t, plane, y.low, x.high, share * (1 - y.weight) * x.weight);
                        add_pixel(&t, plane, y.high, x.low, share * y.weight * (1 - x.weight));
                        add_pixel(&t, plane, y.high, x.high, share * y.weight * x.weight);
                    }
                }
            }
        }
    }
    op_flush();
}

/* One core: each choice depends on those before. */
__global__ __vector__ void boxes_suppress(struct op_suppress_args args)
{
    const struct op_suppress_args t = args;
    const struct candidates c = {t.boxes, t.scores, t.taken, t.count, t.box_type, t.score_type};
    const float limit = op_get_f(t.overlap, t.overlap_type),
                least = op_get_f(t.least, t.least_type);
    const int64_t most = op_get_i(t.most, t.most_type);
    const uint64_t room = most < 0 ? 0 : op_min64((uint64_t)most, t.room);
    uint64_t found = 0;
    for (; found < room; found++) {
        const uint64_t best = find_best(&c, least);
        if (best == c.count) {
            break;
        }
        op_put_i(t.indices + found * 4, OP_TYPE_I32, (int64_t)best);
        take_overlapping(&c, best, limit);
    }
    for (uint64_t i = found; i < t.room; i++) {
        op_put_i(t.indices + i * 4, OP_TYPE_I32, 0);
    }
    op_put_i(t.total, OP_TYPE_I32, (int64_t)found);
    op_flush();
}

/* Sides are longer by `more`, which the common area has not: so the published numbers are. */
static float area_with(const struct box *b, float more)
{
    return (b->x2 - b->x1 + more) * (b->y2 - b->y1 + more);
}

__global__ __vector__ void boxes_overlap(struct op_overlap_args args)
{
    const struct op_overlap_args t = args;
    const struct op_span span = op_block_span(t.out, t.type, t.a_count * t.b_count, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const struct box a = take_box(t.a, t.type, i / t.b_count),
                         b = take_box(t.b, t.type, i % t.b_count);
        const float both = common_area(&a, &b), own = area_with(&a, t.eps),
                    all = t.over == OP_OVERLAP_ROW ? own : own + area_with(&b, t.eps) - both;
        op_put_f(t.out + i * op_bytes_of(t.type), t.type, both / all);
    }
    op_flush();
}
