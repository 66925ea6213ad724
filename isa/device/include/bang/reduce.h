/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <bang.h>: numbers out of many elements. The scalar unit works them out, in order. */
#pragma once

/** The sum of `count` elements, worked out in float for floats. */
template <typename T> LEO_BANG_SMALL T __bang_sum(const T *src, int64_t count)
{
    using wide = std::conditional_t<std::is_integral_v<T>, T, float>;
    wide sum = 0;
    __sync();
    for (int64_t i = 0; i < count; i++) {
        sum += (wide)src[i];
    }
    return (T)sum;
}

/** The sum of 128 bytes of elements, at dst[0]. More of them leave more results on a card, in an
 * order that no public text tells. */
template <typename T> LEO_BANG void __bang_reduce_sum(T *dst, const T *src, int64_t count)
{
    if (count * sizeof(T) != 128) {
        leo_bang_refuse("__bang_reduce_sum takes 128 bytes of elements");
        return;
    }
    dst[0] = __bang_sum(src, count);
}

/* The first element that no other precedes, and its index in the word behind four bytes. */
template <bool largest, typename T>
LEO_BANG_SMALL void leo_extreme(T *dst, const T *src, int64_t count)
{
    uint32_t at = 0;
    __sync();
    if (count <= 0) {
        leo_bang_refuse("the largest or smallest of no elements");
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        if (largest ? src[i] > src[at] : src[i] < src[at]) {
            at = (uint32_t)i;
        }
    }
    const T value = src[at];
    dst[0] = value;
    __builtin_memcpy((uint8_t *)dst + 4, &at, sizeof(at));
}

/** The largest element at dst[0], its index as uint32_t in the next word of 4 bytes. */
template <typename T> LEO_BANG void __bang_argmax(T *dst, const T *src, int64_t count)
{
    leo_extreme<true>(dst, src, count);
}

template <typename T> LEO_BANG void __bang_argmin(T *dst, const T *src, int64_t count)
{
    leo_extreme<false>(dst, src, count);
}

template <typename T> LEO_BANG void __bang_max(T *dst, const T *src, int64_t count)
{
    leo_extreme<true>(dst, src, count);
}

template <typename T> LEO_BANG void __bang_min(T *dst, const T *src, int64_t count)
{
    leo_extreme<false>(dst, src, count);
}

/** How many of the elements are not 0. */
template <typename T> LEO_BANG_SMALL uint32_t __bang_count(const T *src, int64_t count)
{
    uint32_t found = 0;
    __sync();
    for (int64_t i = 0; i < count; i++) {
        found += src[i] != (T)0;
    }
    return found;
}

/** Elements of src whose element of the mask is not 0, one after the other; how many. */
template <typename T>
LEO_BANG_SMALL uint32_t __bang_filter(T *dst, const T *src, const T *mask, int64_t count)
{
    uint32_t kept = 0;
    __sync();
    for (int64_t i = 0; i < count; i++) {
        if (mask[i] != (T)0) {
            dst[kept++] = src[i];
        }
    }
    return kept;
}

template <typename T>
LEO_BANG void __bang_collect(T *dst, const T *src, const T *mask, int64_t count)
{
    __bang_filter(dst, src, mask, count);
}

/** dst[i] = table[index[i]]. */
template <typename T, typename I>
LEO_BANG_SMALL void __bang_lut(T *dst, const I *index, const T *table, int64_t count,
                               int64_t table_length)
{
    static_assert(std::is_integral_v<I>, "indices are integers");
    __sync();
    for (int64_t i = 0; i < count; i++) {
        if ((uint64_t)index[i] >= (uint64_t)table_length) {
            leo_bang_refuse("__bang_lut: an index is not in the table");
            return;
        }
        dst[i] = table[index[i]];
    }
}

/* Windows over src[height][width][channels]. */
template <typename Op, typename T>
LEO_BANG_SMALL void leo_pool(T *dst, const T *src, int64_t channels, int64_t height, int64_t width,
                             int64_t rows, int64_t columns, int64_t row_step, int64_t column_step)
{
    if (rows <= 0 || columns <= 0 || row_step <= 0 || column_step <= 0 || channels <= 0) {
        leo_bang_refuse("a window of a pooling call has no size or no step");
        return;
    }
    for (int64_t y = 0; y + rows <= height; y += row_step) {
        for (int64_t x = 0; x + columns <= width; x += column_step) {
            const T *from = src + (y * width + x) * channels;
            __memcpy(dst, from, (uint64_t)channels * sizeof(T), NRAM2NRAM);
            for (int64_t i = 1; i < rows * columns; i++) {
                const T *next = from + (i / columns * width + i % columns) * channels;
                leo_each<Op>(dst, dst, next, 0, channels);
            }
            dst += channels;
        }
    }
}

template <typename T>
LEO_BANG void __bang_sumpool(T *dst, const T *src, int channels, int height, int width, int rows,
                             int columns, int row_step, int column_step)
{
    leo_pool<leo_op_add>(dst, src, channels, height, width, rows, columns, row_step, column_step);
}

template <typename T>
LEO_BANG void __bang_maxpool(T *dst, const T *src, int channels, int height, int width, int rows,
                             int columns, int row_step, int column_step)
{
    leo_pool<leo_op_maxequal>(dst, src, channels, height, width, rows, columns, row_step,
                              column_step);
}

template <typename T>
LEO_BANG void __bang_minpool(T *dst, const T *src, int channels, int height, int width, int rows,
                             int columns, int row_step, int column_step)
{
    leo_pool<leo_op_minequal>(dst, src, channels, height, width, rows, columns, row_step,
                              column_step);
}
