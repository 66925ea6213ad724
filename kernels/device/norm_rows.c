/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of normalisations on the scalar unit, any float type; sums in double, in order. */
#include "element.h"
#include "norm_args.h"

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
        for (uint64_t i = 0; i < t.length; i++) {
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
        const float mean =
            *(const __gm__ volatile float *)(t.entry + row / t.entry_rows % t.entries * 4);
        double sum = 0, product = 0;
        for (uint64_t i = 0; i < t.length; i++) {
            const double g = (double)op_get_f(gradient + i * gradient_unit, t.gradient_type);
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
        for (; i < end; i++) {
            const float distance = op_get_f(t->in + i * unit, t->in_type) - entry.mean;
            float value;
            if (gradient) {
                value = op_get_f(t->gradient + i * gradient_unit, t->gradient_type) * entry.scale +
                        distance * entry.slope + entry.shift;
            } else {
                value = distance * entry.scale + entry.shift;
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
