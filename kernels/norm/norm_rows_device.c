/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of normalisations on the scalar unit, any float type; sums in double, in order. */
#include "../device/element.h"
#include "norm_args.h"

/* The weight of an element, and of those after it in turn. */
struct weight_cursor {
    uint64_t left; /* elements that still have it */
    uint64_t index;
};

OP_INLINE struct weight_cursor weight_at(const struct op_norm_rows_args *t, uint64_t element)
{
    if (!t->weights) {
        return (struct weight_cursor){~UINT64_C(0), 0};
    }
    const uint64_t span = element / t->weight_span;
    return (struct weight_cursor){t->weight_span - (element - span * t->weight_span),
                                  span % t->weights};
}

OP_INLINE void weight_next(const struct op_norm_rows_args *t, struct weight_cursor *at)
{
    if (--at->left == 0) {
        at->left = t->weight_span;
        at->index = at->index + 1 == t->weights ? 0 : at->index + 1;
    }
}

OP_INLINE float weight_of(uint64_t addr, const struct weight_cursor *at, float none)
{
    return addr ? *(const __gm__ volatile float *)(addr + at->index * 4) : none;
}

/* Without means they are 0. */
OP_INLINE float mean_of(const struct op_norm_rows_args *t, uint64_t index)
{
    return t->entry ? *(const __gm__ volatile float *)(t->entry + index * 4) : 0;
}

OP_INLINE struct op_span row_span(const struct op_norm_rows_args *t)
{
    return op_block_span(t->out, OP_TYPE_F64, t->rows, t->per_block); // 8 bytes a row
}

__global__ __vector__ void norm_moments(struct op_norm_rows_args args)
{
    const struct op_norm_rows_args t = args;
    const struct op_span span = row_span(&t);
    const uint32_t unit = op_bytes_of(t.in_type);
    for (uint64_t row = span.begin; row < span.end; row++) {
        const uint64_t from = t.in + row * t.length * unit, to = t.out + row * 8;
        double sum = 0, squares = 0;
        for (uint64_t i = 0; i < t.length && !t.no_mean; i++) {
            sum += (double)op_get_f(from + i * unit, t.in_type);
        }
        const double mean = sum / (double)t.length;
        for (uint64_t i = 0; i < t.length; i++) {
            const double distance = (double)op_get_f(from + i * unit, t.in_type) - mean;
            squares += distance * distance;
        }
        *(__gm__ volatile float *)to = (float)mean;
        *(__gm__ volatile float *)(to + 4) = (float)squares;
    }
    op_flush();
}

__global__ __vector__ void norm_sums(struct op_norm_rows_args args)
{
    const struct op_norm_rows_args t = args;
    const struct op_span span = row_span(&t);
    const uint32_t unit = op_bytes_of(t.in_type), gradient_unit = op_bytes_of(t.gradient_type);
    for (uint64_t row = span.begin; row < span.end; row++) {
        const uint64_t in = t.in + row * t.length * unit,
                       gradient = t.gradient + row * t.length * gradient_unit;
        const float mean = mean_of(&t, row / t.entry_rows % t.entries);
        struct weight_cursor at = weight_at(&t, row * t.length);
        double sum = 0, product = 0;
        for (uint64_t i = 0; i < t.length; i++, weight_next(&t, &at)) {
            const double g = (double)op_get_f(gradient + i * gradient_unit, t.gradient_type) *
                             (double)weight_of(t.weight, &at, 1);
            sum += g;
            product += g * ((double)op_get_f(in + i * unit, t.in_type) - (double)mean);
        }
        *(__gm__ volatile float *)(t.out + row * 8) = (float)sum;
        *(__gm__ volatile float *)(t.out + row * 8 + 4) = (float)product;
    }
    op_flush();
}

OP_INLINE struct op_norm_entry entry_of(const struct op_norm_rows_args *t, uint64_t row)
{
    const uint64_t at = t->entry + row / t->entry_rows % t->entries * sizeof(struct op_norm_entry);
    return (struct op_norm_entry){
        *(const __gm__ volatile float *)at, *(const __gm__ volatile float *)(at + 4),
        *(const __gm__ volatile float *)(at + 8), *(const __gm__ volatile float *)(at + 12)};
}

/* Both element kernels walk their share row by row. */
OP_INLINE void apply(const struct op_norm_rows_args *t, bool gradient)
{
    const struct op_span span =
        op_block_span(t->out, t->out_type, t->rows * t->length, t->per_block);
    const uint32_t unit = op_bytes_of(t->in_type), out_unit = op_bytes_of(t->out_type),
                   gradient_unit = op_bytes_of(t->gradient_type);
    uint64_t i = span.begin;
    while (i < span.end) {
        const uint64_t row = i / t->length, end = op_min64((row + 1) * t->length, span.end);
        const struct op_norm_entry entry = entry_of(t, row);
        struct weight_cursor at = weight_at(t, i);
        for (; i < end; i++, weight_next(t, &at)) {
            const float distance = op_get_f(t->in + i * unit, t->in_type) - entry.mean;
            float value;
            if (gradient) {
                value = op_get_f(t->gradient + i * gradient_unit, t->gradient_type) *
                            weight_of(t->weight, &at, 1) * entry.scale +
                        distance * entry.slope + entry.shift;
            } else {
                value = (distance * entry.scale + entry.shift) * weight_of(t->weight, &at, 1) +
                        weight_of(t->bias, &at, 0);
            }
            op_put_f(t->out + i * out_unit, t->out_type, value);
        }
    }
    op_flush();
}

__global__ __vector__ void norm_apply(struct op_norm_rows_args args)
{
    const struct op_norm_rows_args t = args;
    apply(&t, false);
}

__global__ __vector__ void norm_gradient(struct op_norm_rows_args args)
{
    const struct op_norm_rows_args t = args;
    apply(&t, true);
}
