/* SPDX-License-Identifier: Apache-2.0 */
/* Samples at places that are given for each of them, on the scalar unit, in float. */
#include "../device/element.h"
#include "deform_args.h"

#include <math.h>

/* A sample: the pixel above and left of its place (which may lie outside), and how far beyond. */
struct sample {
    int64_t image, group, y, x, offset; /* offset: index of its first offset */
    float down, across, factor;
};

static float offset_at(const struct op_deform_args *t, int64_t index)
{
    return op_get_f(t->offsets + (uint64_t)index * op_bytes_of(t->offset_type), t->offset_type);
}

/* Samples are numbered by image, row, row of the kernel, column, column of the kernel, group. */
static struct sample find(const struct op_deform_args *t, int64_t number)
{
    const int64_t group = number % t->groups, kx = number / t->groups % t->kernel_width,
                  at_x = number / t->groups / t->kernel_width, ox = at_x % t->out_width,
                  ky = at_x / t->out_width % t->kernel_height,
                  at_y = at_x / t->out_width / t->kernel_height, oy = at_y % t->out_height,
                  kernel = t->kernel_height * t->kernel_width, plane = t->groups * kernel,
                  first = (at_y * t->out_width + ox) * 3 * plane + group * kernel +
                          ky * t->kernel_width + kx;
    const float x = (float)(ox * t->stride_x - t->left + kx * t->dilation_x) + offset_at(t, first),
                y = (float)(oy * t->stride_y - t->top + ky * t->dilation_y) +
                    offset_at(t, first + plane);
    struct sample s = {.image = at_y / t->out_height,
                       .group = group,
                       .y = -2, // far outside
                       .x = -2,
                       .offset = first,
                       .factor = offset_at(t, first + 2 * plane)};
    if (x > -1 && x < (float)t->width && y > -1 && y < (float)t->height) {
        s.x = (int64_t)floorf(x);
        s.y = (int64_t)floorf(y);
        s.across = x - floorf(x);
        s.down = y - floorf(y);
    }
    return s;
}

/* 0 outside. */
static float pixel(const struct op_deform_args *t, const struct sample *s, int64_t down,
                   int64_t across, int64_t channel)
{
    const int64_t y = s->y + down, x = s->x + across;
    if (y < 0 || y >= t->height || x < 0 || x >= t->width) {
        return 0;
    }
    const int64_t at =
        (((s->image * t->height + y) * t->width + x) * t->groups + s->group) * t->each + channel;
    return op_get_f(t->x + (uint64_t)at * op_bytes_of(t->x_type), t->x_type);
}

__global__ __vector__ void deform_sample(struct op_deform_args args)
{
    const struct op_deform_args t = args;
    const uint64_t count = (uint64_t)(t.images * t.out_height * t.kernel_height * t.out_width *
                                      t.kernel_width * t.groups * t.each);
    const struct op_span span = op_block_span(t.value, t.value_type, count, t.per_block);
    struct sample s = {0};
    for (uint64_t i = span.begin; i < span.end; i++) {
        const int64_t channel = (int64_t)i % t.each;
        if (channel == 0 || i == span.begin) {
            s = find(&t, (int64_t)i / t.each);
        }
        const float above = (1 - s.across) * pixel(&t, &s, 0, 0, channel) +
                            s.across * pixel(&t, &s, 0, 1, channel),
                    below = (1 - s.across) * pixel(&t, &s, 1, 0, channel) +
                            s.across * pixel(&t, &s, 1, 1, channel);
        op_put_f(t.value + i * op_bytes_of(t.value_type), t.value_type,
                 ((1 - s.down) * above + s.down * below) * s.factor);
    }
    op_flush();
}

static void add(uint64_t table, uint64_t index, float value)
{
    op_put_f(table + index * 4, OP_TYPE_F32, op_get_f(table + index * 4, OP_TYPE_F32) + value);
}

static void add_pixel(const struct op_deform_args *t, const struct sample *s, int64_t down,
                      int64_t across, int64_t channel, float value)
{
    const int64_t y = s->y + down, x = s->x + across;
    if (y >= 0 && y < t->height && x >= 0 && x < t->width) {
        const int64_t row = ((s->image * t->groups + s->group) * t->height + y) * t->width + x;
        add(t->dx, (uint64_t)row * t->each_pad + (uint64_t)channel, value);
    }
}

/* Gradients by one sample's place and factor. */
struct slopes {
    float across, down, factor;
};

static struct slopes add_sample(const struct op_deform_args *t, const struct sample *s,
                                int64_t number)
{
    struct slopes d = {0, 0, 0};
    for (int64_t c = 0; c < t->each; c++) {
        const float g = op_get_f(t->value + (uint64_t)(number * t->each + c) * 4, OP_TYPE_F32),
                    p00 = pixel(t, s, 0, 0, c), p01 = pixel(t, s, 0, 1, c),
                    p10 = pixel(t, s, 1, 0, c), p11 = pixel(t, s, 1, 1, c),
                    above = (1 - s->across) * p00 + s->across * p01,
                    below = (1 - s->across) * p10 + s->across * p11, by = g * s->factor;
        d.factor += g * ((1 - s->down) * above + s->down * below);
        d.down += by * (below - above);
        d.across += by * ((1 - s->down) * (p01 - p00) + s->down * (p11 - p10));
        add_pixel(t, s, 0, 0, c, by * (1 - s->down) * (1 - s->across));
        add_pixel(t, s, 0, 1, c, by * (1 - s->down) * s->across);
        add_pixel(t, s, 1, 0, c, by * s->down * (1 - s->across));
        add_pixel(t, s, 1, 1, c, by * s->down * s->across);
    }
    return d;
}

/* Images and groups are shared out, so that a pixel is one core's and its sums have one order. */
__global__ __vector__ void deform_gradient(struct op_deform_args args)
{
    const struct op_deform_args t = args;
    const int64_t kernel = t.kernel_height * t.kernel_width,
                  samples = t.out_height * t.out_width * kernel;
    const uint64_t pairs = (uint64_t)(t.images * t.groups);
    for (uint64_t pair = get_block_idx(); pair < pairs; pair += get_block_num()) {
        const int64_t image = (int64_t)pair / t.groups, group = (int64_t)pair % t.groups;
        for (int64_t i = 0; i < samples; i++) {
            const int64_t number = (image * samples + i) * t.groups + group;
            const struct sample s = find(&t, number);
            const struct slopes d = add_sample(&t, &s, number);
            // Of [row, column, three, kernel]: this sample's first.
            const int64_t kx = i % t.kernel_width, ox = i / t.kernel_width % t.out_width,
                          at = i / t.kernel_width / t.out_width, ky = at % t.kernel_height,
                          oy = at / t.kernel_height,
                          first = (oy * t.out_width + ox) * 3 * kernel + ky * t.kernel_width + kx;
            const uint64_t to = pair * t.offset_pad + (uint64_t)first;
            op_put_f(t.doffsets + to * 4, OP_TYPE_F32, d.across);
            op_put_f(t.doffsets + (to + (uint64_t)kernel) * 4, OP_TYPE_F32, d.down);
            op_put_f(t.doffsets + (to + 2 * (uint64_t)kernel) * 4, OP_TYPE_F32, d.factor);
        }
    }
    op_flush();
}

/* The pixels [top, bottom) x [left, right) of a bin. */
struct bin {
    int64_t image, top, bottom, left, right;
};

static int64_t within(float at, int64_t most)
{
    return at<0 ? 0 : at>(float) most ? most : (int64_t)at;
}

/* Corners are pixels that belong to the region; a region is a tenth of a pixel at least. */
static struct bin find_bin(const struct op_bins_args *t, int64_t region, int64_t row,
                           int64_t column)
{
    const uint32_t unit = op_bytes_of(t->table_type);
    const int64_t entry = region / t->regions, number = region % t->regions;
    float word[5];
    for (int64_t i = 0; i < 5; i++) {
        word[i] = op_get_f(t->table + (uint64_t)((entry * 5 + i) * t->regions + number) * unit,
                           t->table_type);
    }
    const float left = roundf(word[1]) * t->scale, top = roundf(word[2]) * t->scale,
                width = fmaxf((roundf(word[3]) + 1) * t->scale - left, 0.1f) / (float)t->size,
                height = fmaxf((roundf(word[4]) + 1) * t->scale - top, 0.1f) / (float)t->size;
    const struct bin bin = {.image = (int64_t)word[0],
                            .top = within(floorf((float)row * height + top), t->height),
                            .bottom = within(ceilf((float)(row + 1) * height + top), t->height),
                            .left = within(floorf((float)column * width + left), t->width),
                            .right = within(ceilf((float)(column + 1) * width + left), t->width)};
    if (bin.top < bin.bottom && bin.left < bin.right && (bin.image < 0 || bin.image >= t->images)) {
        trap(); // the region names an image that is not there
    }
    return bin;
}

static int64_t pixels_of(const struct bin *bin)
{
    return bin->top < bin->bottom && bin->left < bin->right
               ? (bin->bottom - bin->top) * (bin->right - bin->left)
               : 0;
}

/* Value (region, channel, row, column) reads plane (channel, row, column). */
__global__ __vector__ void bins_mean(struct op_bins_args args)
{
    const struct op_bins_args t = args;
    const int64_t planes = t.channels * t.size * t.size;
    const struct op_span span = op_block_span(
        t.value, t.value_type, (uint64_t)(t.images * t.regions * planes), t.per_block);
    const uint32_t unit = op_bytes_of(t.plane_type);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const int64_t plane = (int64_t)i % planes;
        const struct bin bin =
            find_bin(&t, (int64_t)i / planes, plane / t.size % t.size, plane % t.size);
        const uint64_t first = (uint64_t)(bin.image * planes + plane) * t.plane_pad;
        const int64_t count = pixels_of(&bin);
        float sum = 0;
        for (int64_t y = bin.top; count && y < bin.bottom; y++) {
            for (int64_t x = bin.left; x < bin.right; x++) {
                sum +=
                    op_get_f(t.planes + (first + (uint64_t)(y * t.width + x)) * unit, t.plane_type);
            }
        }
        op_put_f(t.value + i * op_bytes_of(t.value_type), t.value_type,
                 count ? sum / (float)count : 0);
    }
    op_flush();
}

/* Planes are shared out, so that a pixel is one core's and its sums have one order. */
__global__ __vector__ void bins_gradient(struct op_bins_args args)
{
    const struct op_bins_args t = args;
    const int64_t planes = t.channels * t.size * t.size, all = t.images * planes;
    for (int64_t number = get_block_idx(); number < all; number += get_block_num()) {
        const int64_t plane = number % planes;
        for (int64_t region = 0; region < t.images * t.regions; region++) {
            const struct bin bin = find_bin(&t, region, plane / t.size % t.size, plane % t.size);
            const int64_t count = pixels_of(&bin);
            if (count == 0 || bin.image != number / planes) {
                continue;
            }
            const float share =
                op_get_f(t.value + (uint64_t)(region * planes + plane) * 4, OP_TYPE_F32) /
                (float)count;
            for (int64_t y = bin.top; y < bin.bottom; y++) {
                for (int64_t x = bin.left; x < bin.right; x++) {
                    add(t.planes, (uint64_t)number * t.plane_pad + (uint64_t)(y * t.width + x),
                        share);
                }
            }
        }
    }
    op_flush();
}
