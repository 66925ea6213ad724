/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm between its passes over the rows: one channel at a time, in double. Each output has
 * its own share of channels, as its lines lie; what several outputs need is computed again for
 * each.
 */
#include "../device/element.h"
#include "norm_args.h"

OP_INLINE double get(uint64_t addr, uint64_t index)
{
    return (double)*(const __gm__ volatile float *)(addr + index * 4);
}

OP_INLINE void put(uint64_t addr, uint64_t index, double value)
{
    *(__gm__ volatile float *)(addr + index * 4) = (float)value;
}

struct moments {
    double mean, variance, count;
};

/* Rows have the same length: the mean is that of their means. */
static struct moments join_rows(const struct op_batch_norm_args *t, uint64_t c)
{
    double mean = 0, squares = 0;
    for (uint64_t i = 0; i < t->images; i++) {
        mean += get(t->moments, (i * t->channels + c) * 2);
    }
    mean /= (double)t->images;
    for (uint64_t i = 0; i < t->images; i++) {
        const uint64_t row = (i * t->channels + c) * 2;
        const double distance = get(t->moments, row) - mean;
        squares += get(t->moments, row + 1) + (double)t->length * distance * distance;
    }
    const double count = (double)(t->images * t->length);
    return (struct moments){mean, squares / count, count};
}

static struct moments join_replicas(const struct op_batch_norm_args *t, uint64_t c)
{
    double count = 0, mean = 0, squares = 0;
    for (uint64_t i = 0; i < t->images; i++) {
        const double n = get(t->counts, i), inverse = get(t->second, i * t->channels + c);
        const double distance = get(t->mean, i * t->channels + c) - mean;
        if (n > 0) {
            squares += (1 / (inverse * inverse) - t->eps) * n +
                       distance * distance * n * count / (count + n);
            mean += distance * n / (count + n);
            count += n;
        }
    }
    return (struct moments){mean, squares / count, count};
}

static struct moments moments_of(const struct op_batch_norm_args *t, uint64_t c)
{
    double second;
    switch ((enum op_batch_norm_source)t->source) {
    case OP_BATCH_NORM_ROWS:
        return join_rows(t, c);
    case OP_BATCH_NORM_REPLICAS:
        return join_replicas(t, c);
    case OP_BATCH_NORM_VARIANCE:
        return (struct moments){get(t->mean, c), get(t->second, c), 0};
    case OP_BATCH_NORM_INVERSE:
        second = get(t->second, c);
        return (struct moments){get(t->mean, c), 1 / (second * second) - t->eps, 0};
    }
    return (struct moments){0, 0, 0};
}

/* Moments of neighbouring channels, kept: the outputs' shares of channels are nearly the same. */
enum { KEPT = 96 };
struct kept {
    uint64_t first, count;
    struct moments moments[KEPT];
};

static struct moments recall(const struct op_batch_norm_args *t, struct kept *kept, uint64_t c)
{
    if (c < kept->first || c >= kept->first + kept->count) {
        // The next channel in order, or a new beginning.
        if (kept->count == 0 || c != kept->first + kept->count || kept->count == KEPT) {
            kept->first = c;
            kept->count = 0;
        }
        kept->moments[kept->count++] = moments_of(t, c);
    }
    return kept->moments[c - kept->first];
}

OP_INLINE double inverse_of(double variance, double eps)
{
    return 1 / __builtin_sqrt(variance + eps);
}

/* One of the four numbers of a channel's entry. */
OP_INLINE void put_entry(uint64_t table, uint64_t c, uint32_t which, double value)
{
    put(table, c * 4 + which, value);
}

OP_INLINE struct op_span share_f32(const struct op_batch_norm_args *t, uint64_t out)
{
    return op_block_span(out, OP_TYPE_F32, out ? t->channels : 0, t->per_block);
}

/* An entry of 16 bytes. */
OP_INLINE struct op_span share_table(uint64_t table, uint64_t channels, uint64_t per_block)
{
    return op_block_span(table, OP_TYPE_C128, table ? channels : 0, per_block);
}

__global__ __vector__ void batch_norm(struct op_batch_norm_args args)
{
    const struct op_batch_norm_args t = args;
    struct kept kept;
    kept.count = 0;
    struct op_span span = share_f32(&t, t.mean_out);
    for (uint64_t c = span.begin; c < span.end; c++) {
        put(t.mean_out, c, recall(&t, &kept, c).mean);
    }
    span = share_f32(&t, t.second_out);
    for (uint64_t c = span.begin; c < span.end; c++) {
        const double variance = recall(&t, &kept, c).variance;
        put(t.second_out, c, t.inverse ? inverse_of(variance, t.eps) : variance);
    }
    span = share_f32(&t, t.running_mean);
    for (uint64_t c = span.begin; c < span.end; c++) {
        put(t.running_mean, c,
            (1 - t.momentum) * get(t.running_mean, c) + t.momentum * recall(&t, &kept, c).mean);
    }
    span = share_f32(&t, t.running_variance);
    for (uint64_t c = span.begin; c < span.end; c++) {
        const struct moments m = recall(&t, &kept, c);
        put(t.running_variance, c,
            (1 - t.momentum) * get(t.running_variance, c) +
                t.momentum * m.variance * m.count / (m.count - 1));
    }
    span = share_table(t.table, t.channels, t.per_block);
    for (uint64_t c = span.begin; c < span.end; c++) {
        const struct moments m = recall(&t, &kept, c);
        const double inverse =
            t.source == OP_BATCH_NORM_INVERSE ? get(t.second, c) : inverse_of(m.variance, t.eps);
        put_entry(t.table, c, 0, m.mean);
        put_entry(t.table, c, 1, t.weight ? inverse * get(t.weight, c) : inverse);
        put_entry(t.table, c, 2, 0);
        put_entry(t.table, c, 3, t.bias ? get(t.bias, c) : 0);
    }
    op_flush();
}

/* One of the two sums of a channel: which = 0 the gradient's, 1 the product's. */
static double add_rows(const struct op_batch_norm_gradient_args *t, uint64_t c, uint32_t which)
{
    if (!t->sums) {
        return get(which ? t->product_sum : t->gradient_sum, c);
    }
    double sum = 0;
    for (uint64_t i = 0; i < t->images; i++) {
        sum += get(t->sums, (i * t->channels + c) * 2 + which);
    }
    return sum;
}

/* Sums of neighbouring channels, kept as moments are. */
struct kept_sums {
    uint64_t first, count;
    double sums[KEPT][2];
};

static double sum_of(const struct op_batch_norm_gradient_args *t, struct kept_sums *kept,
                     uint64_t c, uint32_t which)
{
    if (c < kept->first || c >= kept->first + kept->count) {
        if (kept->count == 0 || c != kept->first + kept->count || kept->count == KEPT) {
            kept->first = c;
            kept->count = 0;
        }
        kept->sums[kept->count][0] = add_rows(t, c, 0);
        kept->sums[kept->count++][1] = add_rows(t, c, 1);
    }
    return kept->sums[c - kept->first][which];
}

OP_INLINE double inverse_given(const struct op_batch_norm_gradient_args *t, uint64_t c)
{
    const double second = get(t->second, c);
    return t->source == OP_BATCH_NORM_INVERSE ? second : inverse_of(second, t->eps);
}

static void make_entry(const struct op_batch_norm_gradient_args *t, struct kept_sums *kept,
                       uint64_t c, double count)
{
    const double inverse = inverse_given(t, c),
                 scale = t->weight ? inverse * get(t->weight, c) : inverse;
    put_entry(t->table, c, 0, t->mean ? get(t->mean, c) : 0);
    put_entry(t->table, c, 1, scale);
    put_entry(t->table, c, 2,
              t->training ? -scale * inverse * inverse * sum_of(t, kept, c, 1) / count : 0);
    put_entry(t->table, c, 3,
              t->training && !t->no_mean ? -scale * sum_of(t, kept, c, 0) / count : 0);
}

__global__ __vector__ void batch_norm_gradient(struct op_batch_norm_gradient_args args)
{
    const struct op_batch_norm_gradient_args t = args;
    struct kept_sums kept;
    kept.count = 0;
    const uint64_t outs[] = {t.gradient_sum_out, t.product_sum_out, t.bias_gradient,
                             t.weight_gradient};
    for (uint32_t i = 0; i < 4; i++) {
        const struct op_span span =
            op_block_span(outs[i], OP_TYPE_F32, outs[i] ? t.channels : 0, t.per_block);
        for (uint64_t c = span.begin; c < span.end; c++) {
            const double sum = sum_of(&t, &kept, c, i & 1);
            put(outs[i], c, i == 3 ? sum * inverse_given(&t, c) : sum);
        }
    }
    double count = (double)(t.images * t.length);
    if (t.counter) {
        count = 0;
        for (uint64_t i = 0; i < t.replicas; i++) {
            count += (double)*(const __gm__ volatile int32_t *)(t.counter + i * 4);
        }
    }
    const struct op_span span = share_table(t.table, t.channels, t.per_block);
    for (uint64_t c = span.begin; c < span.end; c++) {
        make_entry(&t, &kept, c, count);
    }
    op_flush();
}
