/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear maps along one to three dimensions, on the scalar unit: resizing and padding, and their
 * gradients (the transposed maps). First a table for each dimension, then the elements.
 */
#include "../device/element.h"
#include "resample_args.h"

/* What one element of the output is made of: `count` elements of the input. Weights are asked for
 * one by one. */
struct taps {
    int64_t first, count;
    double at;    /* position: fraction for linear and cubic, centre for filters */
    double scale; /* filters: 1 / their width */
    double total; /* filters: sum of their weights; means: what a sum is divided by */
};

/* Positions are computed in f32, as wide as the element type is otherwise. */
OP_INLINE double narrow(const struct op_resample_args *t, double x)
{
    return t->result_type == OP_TYPE_F64 ? x : (double)(float)x;
}

OP_INLINE int64_t floor_of(double x)
{
    const int64_t whole = (int64_t)x;
    return x < (double)whole ? whole - 1 : whole;
}

OP_INLINE int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Cubic convolution: near (|x| <= 1) and far (1 < |x| < 2) part. */
OP_INLINE double cubic_near(double x, double a)
{
    return ((a + 2) * x - (a + 3)) * x * x + 1;
}

OP_INLINE double cubic_far(double x, double a)
{
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* The antialiasing filters; cubic with a = -1/2. */
static double filter(uint32_t kind, double x)
{
    x = x < 0 ? -x : x;
    if (kind == OP_RESAMPLE_LINEAR_AA) {
        return x < 1 ? 1 - x : 0;
    }
    return x < 1 ? cubic_near(x, -0.5) : x < 2 ? cubic_far(x, -0.5) : 0;
}

static double filter_weight(const struct op_resample_args *t, const struct taps *taps, int64_t k)
{
    const double x = narrow(t, (double)(taps->first + k) - taps->at + 0.5);
    return narrow(t, filter(t->kind, narrow(t, x * taps->scale)));
}

static struct taps filter_taps(const struct op_resample_args *t, const struct op_resample_dim *d,
                               int64_t i)
{
    const double reach = t->kind == OP_RESAMPLE_LINEAR_AA ? 1 : 2;
    const double support = narrow(t, d->ratio >= 1 ? reach * d->ratio : reach);
    const double centre = narrow(t, d->ratio * ((double)i + 0.5));
    const int64_t begin = clamp((int64_t)narrow(t, centre - support + 0.5), 0, d->in - 1),
                  end = clamp((int64_t)narrow(t, centre + support + 0.5), begin, d->in);
    struct taps taps = {begin, clamp(end - begin, 0, d->taps), centre,
                        narrow(t, d->ratio >= 1 ? 1 / d->ratio : 1), 0};
    for (int64_t k = 0; k < taps.count; k++) {
        taps.total = narrow(t, taps.total + filter_weight(t, &taps, k));
    }
    return taps;
}

static int64_t padded_index(uint32_t kind, const struct op_resample_dim *d, int64_t i)
{
    const int64_t at = i - d->pad;
    if (kind == OP_RESAMPLE_REPLICATE) {
        return clamp(at, 0, d->in - 1);
    }
    if (kind == OP_RESAMPLE_WRAP) {
        return at < 0 ? at + d->in : at >= d->in ? at - d->in : at;
    }
    const int64_t far = 2 * (d->in - 1);
    return at < 0 ? -at : at >= d->in ? far - at : at;
}

/* Elements that an average is made of, and how many it counts. */
static struct taps mean_taps(const struct op_resample_args *t, const struct op_resample_dim *d,
                             int64_t i)
{
    int64_t begin, end, counted;
    if (t->kind == OP_RESAMPLE_SHARES) {
        begin = i * d->in / d->out;
        end = ((i + 1) * d->in + d->out - 1) / d->out;
        counted = end - begin;
    } else {
        const int64_t first = i * d->stride - d->pad;
        const int64_t padded = clamp(first + d->taps, first, d->in + d->pad) - first;
        begin = clamp(first, 0, d->in);
        end = clamp(first + d->taps, begin, d->in);
        counted = t->count_pad ? padded : end - begin;
    }
    const bool given = t->kind == OP_RESAMPLE_WINDOWS && d->ratio != 0;
    return (struct taps){begin, end - begin, 0, 0, given ? d->ratio : (double)counted};
}

static struct taps taps_of(const struct op_resample_args *t, const struct op_resample_dim *d,
                           int64_t i)
{
    const double half = t->align ? 0 : 0.5;
    switch (t->kind) {
    case OP_RESAMPLE_SHARES:
    case OP_RESAMPLE_WINDOWS:
        return mean_taps(t, d, i);
    case OP_RESAMPLE_NEAREST:
    case OP_RESAMPLE_EXACT: {
        const float add = t->kind == OP_RESAMPLE_EXACT ? 0.5f : 0;
        const int64_t at = (int64_t)(((float)i + add) * (float)d->ratio);
        return (struct taps){clamp(at, 0, d->in - 1), 1, 0, 0, 1};
    }
    case OP_RESAMPLE_REFLECT:
    case OP_RESAMPLE_REPLICATE:
    case OP_RESAMPLE_WRAP:
        return (struct taps){padded_index(t->kind, d, i), 1, 0, 0, 1};
    case OP_RESAMPLE_LINEAR: {
        if (d->taps == 1) { // no position of the call
            return (struct taps){0, 1, 0, 0, 1};
        }
        double at = narrow(t, narrow(t, d->ratio * ((double)i + half)) - half);
        at = at < 0 ? 0 : at;
        const int64_t first = clamp((int64_t)at, 0, d->in - 1);
        return (struct taps){first, 2, narrow(t, at - (double)first), 0, 1};
    }
    case OP_RESAMPLE_CUBIC: {
        if (d->taps == 1) {
            return (struct taps){0, 1, 0, 0, 1};
        }
        const double at = narrow(t, narrow(t, d->ratio * ((double)i + half)) - half);
        const int64_t whole = floor_of(at);
        return (struct taps){whole - 1, 4, narrow(t, at - (double)whole), 0, 1};
    }
    default:
        return filter_taps(t, d, i);
    }
}

static double weight_of(const struct op_resample_args *t, const struct taps *taps, int64_t k)
{
    const double a = -0.75, at = taps->at;
    switch (t->kind) {
    case OP_RESAMPLE_SHARES:
    case OP_RESAMPLE_WINDOWS:
        return 1 / taps->total;
    case OP_RESAMPLE_LINEAR:
        return k ? at : narrow(t, 1 - at);
    case OP_RESAMPLE_CUBIC:
        if (taps->count == 1) {
            return 1;
        }
        return narrow(t, k == 0   ? cubic_far(at + 1, a)
                         : k == 1 ? cubic_near(at, a)
                         : k == 2 ? cubic_near(1 - at, a)
                                  : cubic_far(2 - at, a));
    case OP_RESAMPLE_LINEAR_AA:
    case OP_RESAMPLE_CUBIC_AA:
        return taps->total != 0 ? narrow(t, filter_weight(t, taps, k) / taps->total) : 0;
    default:
        return 1;
    }
}

/* Where a dimension's table is. */
struct table {
    __gm__ int32_t *first, *count, *index;
    uint64_t weights;
};

static struct table table_of(const struct op_resample_args *t, const struct op_resample_dim *d)
{
    const uint64_t rows = (uint64_t)op_resample_rows(d, t->gradient),
                   base = t->table + (uint64_t)d->table;
    return (struct table){(__gm__ int32_t *)base,
                          (__gm__ int32_t *)(base + op_resample_counts_at(rows)),
                          (__gm__ int32_t *)(base + op_resample_indices_at(rows)),
                          base + op_resample_weights_at(rows, op_resample_entries(d, t->gradient))};
}

static void put_entry(const struct op_resample_args *t, const struct table *to, int32_t at,
                      int64_t index, double weight)
{
    to->index[at] = (int32_t)index;
    if (t->lines) {
        ((__gm__ float *)to->weights)[at] = (float)weight;
    } else {
        ((__gm__ double *)to->weights)[at] = weight;
    }
}

/* Rows [begin, end) of the table, whose entries begin at `at`. */
static void make_part(const struct op_resample_args *t, const struct op_resample_dim *d,
                      int64_t begin, int64_t end, int32_t at)
{
    const struct table to = table_of(t, d);
    for (int64_t r = begin; r < end; r++) {
        const struct taps taps = taps_of(t, d, r);
        to.first[r] = at;
        to.count[r] = (int32_t)taps.count;
        for (int64_t k = 0; k < taps.count; k++) {
            put_entry(t, &to, at++, clamp(taps.first + k, 0, d->in - 1), weight_of(t, &taps, k));
        }
    }
}

/* The same of the transposed table, in which the entries of an element come in the order of the
 * elements they are from. */
static void make_transposed(const struct op_resample_args *t, const struct op_resample_dim *d,
                            int64_t begin, int64_t end, int32_t at)
{
    const struct table to = table_of(t, d);
    const struct op_resample_span span = op_resample_span(d, t->kind, begin, end);
    for (int64_t r = begin; r < end; r++) {
        to.count[r] = 0;
    }
    for (int64_t i = span.begin; i < span.end; i++) {
        const struct taps taps = taps_of(t, d, i);
        for (int64_t k = 0; k < taps.count; k++) {
            const int64_t row = clamp(taps.first + k, 0, d->in - 1);
            if (row >= begin && row < end) {
                to.count[row]++;
            }
        }
    }
    for (int64_t r = begin; r < end; r++) {
        to.first[r] = at;
        at += to.count[r];
        to.count[r] = 0;
    }
    for (int64_t i = span.begin; i < span.end; i++) {
        const struct taps taps = taps_of(t, d, i);
        for (int64_t k = 0; k < taps.count; k++) {
            const int64_t row = clamp(taps.first + k, 0, d->in - 1);
            if (row >= begin && row < end) {
                put_entry(t, &to, to.first[row] + to.count[row], i, weight_of(t, &taps, k));
                to.count[row]++;
            }
        }
    }
}

/* Block b makes parts [b * per_block, ..) of the tables, those of the first dimension first. */
__global__ __vector__ void resample_table(struct op_resample_args args)
{
    const struct op_resample_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block, end = begin + t.per_block;
    uint64_t before = 0;
    for (uint32_t i = 0; i < OP_RESAMPLE_DIMS; i++) {
        const struct op_resample_dim *d = &t.dim[i];
        const int64_t rows = op_resample_rows(d, t.gradient);
        const uint64_t parts = (uint64_t)((rows + d->part - 1) / d->part);
        for (uint64_t part = 0; part < parts; part++) {
            if (before + part < begin || before + part >= end) {
                continue;
            }
            const int64_t first = (int64_t)part * d->part;
            const int64_t last = (int64_t)op_min64((uint64_t)(first + d->part), (uint64_t)rows);
            const int32_t at = (int32_t)((int64_t)part * d->room);
            if (t.gradient) {
                make_transposed(&t, d, first, last, at);
            } else {
                make_part(&t, d, first, last, at);
            }
        }
        before += parts;
    }
    op_flush();
}

/* A row of a dimension's table. */
struct row {
    int32_t begin, end;
    const __gm__ int32_t *index;
    const __gm__ double *weight;
};

OP_INLINE struct row row_of(const struct op_resample_args *t, uint32_t dim, int64_t r)
{
    const struct table table = table_of(t, &t->dim[dim]);
    const int32_t first = table.first[r];
    return (struct row){first, first + table.count[r], table.index,
                        (const __gm__ double *)table.weights};
}

/* The first product is taken as it is, so that -0 stays. */
static double element(const struct op_resample_args *t, uint64_t a, const struct row *rows)
{
    double sum = 0;
    bool any = false;
    for (int32_t z = rows[0].begin; z < rows[0].end; z++) {
        const uint64_t plane = a + (uint64_t)(rows[0].index[z] * t->dim[0].a);
        for (int32_t y = rows[1].begin; y < rows[1].end; y++) {
            const uint64_t line = plane + (uint64_t)(rows[1].index[y] * t->dim[1].a);
            const double outer = rows[0].weight[z] * rows[1].weight[y];
            for (int32_t x = rows[2].begin; x < rows[2].end; x++) {
                const double product =
                    outer * rows[2].weight[x] *
                    op_get_d(line + (uint64_t)(rows[2].index[x] * t->dim[2].a), t->a_type);
                sum = any ? sum + product : product;
                any = true;
            }
        }
    }
    return sum;
}

/* 64-bit integers do not fit a double; they are only moved. */
static void put_element(const struct op_resample_args *t, uint64_t to, uint64_t a,
                        const struct row *rows)
{
    if (t->kind < OP_RESAMPLE_REFLECT || t->a_type <= OP_TYPE_F64) {
        op_put_d(to, t->result_type, element(t, a, rows));
        return;
    }
    for (uint32_t d = 0; d < OP_RESAMPLE_DIMS; d++) {
        a += (uint64_t)(rows[d].index[rows[d].begin] * t->dim[d].a);
    }
    op_put_i(to, t->result_type, op_get_i(a, t->a_type));
}

__global__ __vector__ void resample(struct op_resample_args args)
{
    const struct op_resample_args t = args;
    int64_t size[OP_RESAMPLE_DIMS];
    for (uint32_t d = 0; d < OP_RESAMPLE_DIMS; d++) {
        size[d] = t.gradient ? t.dim[d].in : t.dim[d].out;
    }
    const uint64_t count = (uint64_t)(t.planes * size[0] * size[1] * size[2]);
    const struct op_span span = op_block_span(t.result, t.result_type, count, t.per_block);
    if (span.begin >= span.end) {
        op_flush();
        return;
    }
    uint64_t rest = span.begin;
    int64_t x = (int64_t)(rest % (uint64_t)size[2]);
    rest /= (uint64_t)size[2];
    int64_t y = (int64_t)(rest % (uint64_t)size[1]);
    rest /= (uint64_t)size[1];
    int64_t z = (int64_t)(rest % (uint64_t)size[0]), plane = (int64_t)(rest / (uint64_t)size[0]);
    uint64_t to = t.result + span.begin * op_bytes_of(t.result_type);
    const uint64_t end = t.result + span.end * op_bytes_of(t.result_type);
    while (to < end) {
        const int64_t image = plane / t.channels, channel = plane - image * t.channels;
        const uint64_t a = t.a + (uint64_t)(image * t.a_image + channel * t.a_channel);
        struct row rows[OP_RESAMPLE_DIMS] = {row_of(&t, 0, z), row_of(&t, 1, y), {0}};
        for (; x < size[2] && to < end; x++, to += op_bytes_of(t.result_type)) {
            rows[2] = row_of(&t, 2, x);
            put_element(&t, to, a, rows);
        }
        x = 0;
        if (++y == size[1]) {
            y = 0;
            if (++z == size[0]) {
                z = 0;
                plane++;
            }
        }
    }
    op_flush();
}
