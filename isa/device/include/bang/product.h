/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <bang.h>: products with a matrix in WRAM. Public text does not tell how a card lays a
 * matrix over the lanes of WRAM. Assumed here: row after row, [k][n] (a filter: [height][width]
 * [channels][n]), which __bang_reshape_filter makes of [n][height][width][channels]. The vector
 * unit multiplies, in float, adding along k in order.
 */
#pragma once

enum : uint32_t { LEO_ROWS_BYTES = 32768, LEO_SUMS_BYTES = 16384 };

__nram__ uint8_t leo_rows[LEO_ROWS_BYTES]; /**< rows of the matrix in WRAM */
__nram__ uint8_t leo_sums[LEO_SUMS_BYTES]; /**< results in float of products of halves */

/** Rows of a product and where the left operand's elements stand. */
struct leo_dense {
    int64_t k;
    LEO_BANG_METHOD int64_t at(int64_t row, int64_t column) const
    {
        return row * k + column;
    }
};

/** Of a convolution: a row is an output place, a column an element of the filter. */
struct leo_windows {
    int64_t channels, width, out_width, columns, row_step, column_step;
    LEO_BANG_METHOD int64_t at(int64_t row, int64_t column) const
    {
        const int64_t tap = column / channels;
        const int64_t y = row / out_width * row_step + tap / columns,
                      x = row % out_width * column_step + tap % columns;
        return (y * width + x) * channels + column % channels;
    }
};

/* sums[i] += left[of row `row` + i] * rows[column]: rows first to first + count of the product. */
template <typename T, typename Left>
LEO_BANG void leo_product_rows(float *sums, const T *left, const Left &where, int64_t row,
                               int64_t first, int64_t count, int64_t n)
{
    T *rows = (T *)leo_rows;
    for (int64_t i = 0; i < count; i++) {
        const T factor = left[where.at(row, first + i)];
        pipe_barrier(PIPE_V);
        vaxpy(sums, rows + i * n, factor, 1, 1, 1, 8, sizeof(T) == 2 ? 4 : 8);
    }
}

/* sums[m][n] of rows `row` to row + m. */
template <typename T, typename Left>
LEO_BANG_SMALL void leo_product_block(float *sums, const T *left, const Left &where, const T *wram,
                                      int64_t row, int64_t m, int64_t k, int64_t n)
{
    const int64_t most = (int64_t)(LEO_ROWS_BYTES / sizeof(T)) / n;
    __bang_write_value(sums, m * n, 0.0f);
    for (int64_t first = 0; first < k; first += most) {
        const int64_t count = k - first < most ? k - first : most;
        __memcpy(leo_rows, wram + first * n, (uint64_t)(count * n) * sizeof(T), WRAM2NRAM);
        leo_bang_mask((uint64_t)n);
        for (int64_t i = 0; i < m; i++) {
            leo_product_rows(sums + i * n, left, where, row + i, first, count, n);
        }
        leo_bang_unmask();
    }
}

template <typename T>
LEO_BANG bool leo_product_fits(const void *dst, int64_t m, int64_t k, int64_t n)
{
    const bool fits = m > 0 && k > 0 && n > 0 && leo_is_whole((uint64_t)n * sizeof(T)) &&
                      n * sizeof(float) <= LEO_SUMS_BYTES && leo_is_whole((uint64_t)dst);
    if (!fits) {
        leo_bang_refuse("a product takes results at a multiple of 32 bytes, rows of the matrix in "
                        "WRAM of a multiple of 32 bytes, and at most 4096 columns");
    }
    return fits;
}

template <typename T, typename Left>
LEO_BANG void leo_product(float *dst, const T *left, const Left &where, const T *wram, int64_t m,
                          int64_t k, int64_t n)
{
    if (leo_product_fits<T>(dst, m, k, n)) {
        leo_product_block(dst, left, where, wram, 0, m, k, n);
    }
}

template <typename Left>
LEO_BANG void leo_product(half *dst, const half *left, const Left &where, const half *wram,
                          int64_t m, int64_t k, int64_t n)
{
    const int64_t most = (int64_t)(LEO_SUMS_BYTES / sizeof(float)) / n;
    if (!leo_product_fits<half>(dst, m, k, n)) {
        return;
    }
    for (int64_t row = 0; row < m; row += most) {
        const int64_t part = m - row < most ? m - row : most;
        leo_product_block((float *)leo_sums, left, where, wram, row, part, k, n);
        __bang_float2half_rn(dst + row * n, (const float *)leo_sums, part * n);
    }
}

/** dst[m][n] = left[m][k] x right[k][n]: left and dst in NRAM, right in WRAM. Of float, of half,
 * and of half with results in float. */
template <typename D, typename T>
LEO_BANG void __bang_matmul(D *dst, const T *left, const T *right, int m, int k, int n)
{
    leo_product(dst, left, leo_dense{k}, right, m, k, n);
}

/** dst[out_height][out_width][outputs] of src[height][width][channels] and a filter in WRAM. */
template <typename D, typename T>
LEO_BANG void __bang_conv(D *dst, const T *src, const T *filter, int channels, int height,
                          int width, int rows, int columns, int row_step, int column_step,
                          int outputs)
{
    if (rows <= 0 || columns <= 0 || row_step <= 0 || column_step <= 0 || rows > height ||
        columns > width) {
        leo_bang_refuse("__bang_conv: the filter has no size or no step, or is larger than src");
        return;
    }
    const int64_t out_height = (height - rows) / row_step + 1,
                  out_width = (width - columns) / column_step + 1;
    const leo_windows where = {channels, width, out_width, columns, row_step, column_step};
    leo_product(dst, src, where, filter, out_height * out_width, (int64_t)rows * columns * channels,
                outputs);
}

/** src[n][height][width][channels] as products take it. */
template <typename T>
LEO_BANG void __bang_reshape_filter(T *dst, const T *src, int n, int height, int width,
                                    int channels)
{
    __bang_transpose(dst, src, n, height * width * channels);
}
