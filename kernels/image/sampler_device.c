/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling at the points of a grid, and its gradients, on the scalar unit. */
#include "../device/element.h"
#include "sampler_args.h"

#include <math.h>
#include <stdbool.h>

enum { TAPS = 4 };

/* Where a point lies along one dimension: `count` elements of the input, their weights, and how the
 * weights change with the grid's coordinate. An index of -1 is outside, where all is 0. */
struct axis {
    int64_t index[TAPS];
    double weight[TAPS], slope[TAPS];
    uint32_t count;
};

OP_INLINE double narrow(const struct op_sampler_args *t, double x)
{
    return t->type == OP_TYPE_F64 ? x : (double)(float)x;
}

OP_INLINE int64_t inside(int64_t index, int64_t size)
{
    return index >= 0 && index < size ? index : -1;
}

/* Mirrored into [low / 2, high / 2]; *slope is multiplied by the sign. */
static double reflect(double x, double low, double high, double *slope)
{
    if (low == high) {
        *slope = 0;
        return 0;
    }
    const double least = low / 2, span = (high - low) / 2;
    double from = x - least;
    if (from < 0) {
        from = -from;
        *slope = -*slope;
    }
    const double flips = floor(from / span), extra = from - flips * span;
    if (fmod(flips, 2) == 0) {
        return extra + least;
    }
    *slope = -*slope;
    return span - extra + least;
}

/* The coordinate as padding has it; *slope is how it changes. */
static double place(const struct op_sampler_args *t, double x, int64_t size, double *slope)
{
    if (t->padding == OP_SAMPLER_ZEROS) {
        return x;
    }
    if (t->padding == OP_SAMPLER_REFLECT) {
        x = narrow(t, t->align ? reflect(x, 0, (double)(2 * (size - 1)), slope)
                               : reflect(x, -1, (double)(2 * size - 1), slope));
    }
    if (!(x > 0)) {
        *slope = 0;
        return 0;
    }
    if (x >= (double)(size - 1)) {
        *slope = 0;
        return (double)(size - 1);
    }
    return x;
}

/* Cubic convolution with a = -3/4 and its derivative: near (|x| <= 1) and far part. */
static double cubic(double x, bool far, double *slope)
{
    const double a = -0.75;
    *slope = far ? (3 * a * x - 10 * a) * x + 8 * a : (3 * (a + 2) * x - 2 * (a + 3)) * x;
    return far ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : ((a + 2) * x - (a + 3)) * x * x + 1;
}

static void cubic_axis(const struct op_sampler_args *t, double x, double scale, int64_t size,
                       struct axis *axis)
{
    const double whole = floor(x), f = narrow(t, x - whole);
    axis->count = TAPS;
    for (int32_t k = 0; k < TAPS; k++) {
        double slope, unused = 1;
        const double distance = k < 2 ? f + 1 - k : k - 1 - f;
        axis->weight[k] = narrow(t, cubic(distance, k == 0 || k == 3, &slope));
        axis->slope[k] = (k < 2 ? slope : -slope) * scale;
        const double at = place(t, whole - 1 + k, size, &unused);
        axis->index[k] = at >= 0 && at < (double)size ? (int64_t)at : -1;
    }
}

static struct axis axis_of(const struct op_sampler_args *t, double coordinate, int64_t size)
{
    struct axis axis = {.count = 1};
    const double scale = t->align ? (double)(size - 1) / 2 : (double)size / 2;
    double x =
        t->align
            ? narrow(t, narrow(t, narrow(t, coordinate + 1) / 2) * (double)(size - 1))
            : narrow(t, narrow(t, narrow(t, narrow(t, coordinate + 1) * (double)size) - 1) / 2);
    if (t->mode == OP_SAMPLER_CUBIC) {
        cubic_axis(t, x, scale, size, &axis);
        return axis;
    }
    double slope = scale;
    x = place(t, x, size, &slope);
    if (!(x > -1e9 && x < 1e9)) { // NaN and what no element is near
        axis.index[0] = -1;
        axis.weight[0] = t->mode == OP_SAMPLER_NEAREST ? 0 : x - x; // NaN of what is not finite
        return axis;
    }
    if (t->mode == OP_SAMPLER_NEAREST) {
        axis.index[0] = inside((int64_t)rint(x), size);
        axis.weight[0] = 1;
        return axis;
    }
    const int64_t first = (int64_t)floor(x);
    axis.count = 2;
    axis.index[0] = inside(first, size);
    axis.index[1] = inside(first + 1, size);
    axis.weight[1] = narrow(t, x - (double)first);
    axis.weight[0] = narrow(t, (double)(first + 1) - x);
    axis.slope[0] = -slope;
    axis.slope[1] = slope;
    return axis;
}

/* The axes of point `number` of the grid. */
static void axes_of(const struct op_sampler_args *t, int64_t number, struct axis *axes)
{
    const uint32_t unit = op_bytes_of(t->type);
    for (uint32_t d = 0; d < OP_SAMPLER_DIMS; d++) {
        if (d + t->dims < OP_SAMPLER_DIMS) {
            axes[d] = (struct axis){.index = {0}, .weight = {1}, .count = 1};
            continue;
        }
        const uint64_t at = (uint64_t)(number * t->dims + OP_SAMPLER_DIMS - 1 - d);
        axes[d] = axis_of(t, op_get_d(t->grid + at * unit, t->type), t->size[d]);
    }
}

OP_INLINE int64_t count_of(const int64_t *size)
{
    return size[0] * size[1] * size[2];
}

OP_INLINE int64_t offset_of(const struct op_sampler_args *t, const struct axis *axes, uint32_t z,
                            uint32_t y, uint32_t x)
{
    const int64_t i = axes[0].index[z], j = axes[1].index[y], k = axes[2].index[x];
    return i < 0 || j < 0 || k < 0 ? -1 : (i * t->size[1] + j) * t->size[2] + k;
}

__global__ __vector__ void sampler(struct op_sampler_args args)
{
    const struct op_sampler_args t = args;
    const uint32_t unit = op_bytes_of(t.type);
    const int64_t points = count_of(t.points), plane_size = count_of(t.size);
    const struct op_span span =
        op_block_span(t.out, t.type, (uint64_t)(t.images * t.channels * points), t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const int64_t plane = (int64_t)i / points, point = (int64_t)i % points;
        struct axis axes[OP_SAMPLER_DIMS];
        double sum = 0;
        axes_of(&t, plane / t.channels * points + point, axes);
        for (uint32_t z = 0; z < axes[0].count; z++) {
            for (uint32_t y = 0; y < axes[1].count; y++) {
                for (uint32_t x = 0; x < axes[2].count; x++) {
                    const int64_t at = offset_of(&t, axes, z, y, x);
                    const double weight = axes[0].weight[z] * axes[1].weight[y] * axes[2].weight[x];
                    const uint64_t from = t.input + (uint64_t)(plane * plane_size + at) * unit;
                    sum += weight * (at >= 0 ? op_get_d(from, t.type) : 0);
                }
            }
        }
        op_put_d(t.out + i * unit, t.type, sum);
    }
    op_flush();
}

/* The gradient of the input, plane by plane: a plane's points in their order. The sums are f64,
 * [images, channels, size..], and 0 at the beginning. */
__global__ __vector__ void sampler_input_gradient(struct op_sampler_args args)
{
    const struct op_sampler_args t = args;
    const uint32_t unit = op_bytes_of(t.type);
    const int64_t points = count_of(t.points), plane_size = count_of(t.size);
    const int64_t begin = (int64_t)(get_block_idx() * t.per_block), all = t.images * t.channels;
    for (int64_t plane = begin; plane < begin + (int64_t)t.per_block && plane < all; plane++) {
        __gm__ double *sums = (__gm__ double *)t.input_gradient + plane * plane_size;
        for (int64_t point = 0; point < points; point++) {
            struct axis axes[OP_SAMPLER_DIMS];
            axes_of(&t, plane / t.channels * points + point, axes);
            const double g = op_get_d(t.out + (uint64_t)(plane * points + point) * unit, t.type);
            for (uint32_t z = 0; z < axes[0].count; z++) {
                for (uint32_t y = 0; y < axes[1].count; y++) {
                    for (uint32_t x = 0; x < axes[2].count; x++) {
                        const int64_t at = offset_of(&t, axes, z, y, x);
                        if (at >= 0) {
                            sums[at] +=
                                g * axes[0].weight[z] * axes[1].weight[y] * axes[2].weight[x];
                        }
                    }
                }
            }
        }
    }
    op_flush();
}

/* How the sample of one plane changes with the coordinate of dimension d. */
static double slope_along(const struct op_sampler_args *t, const struct axis *axes, uint32_t d,
                          uint64_t plane)
{
    double sum = 0;
    for (uint32_t z = 0; z < axes[0].count; z++) {
        for (uint32_t y = 0; y < axes[1].count; y++) {
            for (uint32_t x = 0; x < axes[2].count; x++) {
                const int64_t at = offset_of(t, axes, z, y, x);
                if (at >= 0) {
                    const double weight = (d == 0 ? axes[0].slope[z] : axes[0].weight[z]) *
                                          (d == 1 ? axes[1].slope[y] : axes[1].weight[y]) *
                                          (d == 2 ? axes[2].slope[x] : axes[2].weight[x]);
                    sum += weight * op_get_d(plane + (uint64_t)at * op_bytes_of(t->type), t->type);
                }
            }
        }
    }
    return sum;
}

__global__ __vector__ void sampler_grid_gradient(struct op_sampler_args args)
{
    const struct op_sampler_args t = args;
    const uint32_t unit = op_bytes_of(t.type);
    const int64_t points = count_of(t.points), plane_size = count_of(t.size);
    const struct op_span span =
        op_block_span(t.grid_gradient, t.type, (uint64_t)(t.images * points * t.dims), t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const int64_t number = (int64_t)i / t.dims, image = number / points;
        const uint32_t d = OP_SAMPLER_DIMS - 1 - (uint32_t)(i % t.dims);
        struct axis axes[OP_SAMPLER_DIMS];
        double sum = 0;
        axes_of(&t, number, axes);
        for (int64_t c = 0; c < t.channels; c++) {
            const int64_t plane = image * t.channels + c;
            const uint64_t g = t.out + (uint64_t)(plane * points + number % points) * unit;
            sum += op_get_d(g, t.type) *
                   slope_along(&t, axes, d, t.input + (uint64_t)(plane * plane_size) * unit);
        }
        op_put_d(t.grid_gradient + i * unit, t.type, sum);
    }
    op_flush();
}
