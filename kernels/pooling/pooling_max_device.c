/* SPDX-License-Identifier: Apache-2.0 */
/* Max pooling on the vector unit (window.h). */
#include "window_device.h"

/* Columns of windows as f32, each over its block: what the position of a window's element is
 * counted from. */
OP_INLINE void fill_columns(const struct op_window_args *t, uint32_t columns)
{
    set_vector_mask(0, 0xff);
    for (uint32_t i = 0; i < t->out_width; i++) {
        vector_dup(op_ub_f32(columns + i * WINDOW_BLOCK),
                   (float)((int32_t)(i * t->stride_w) - (int32_t)t->pad_w), 1, 1, 1, 8, 8);
    }
    set_vector_mask(~0ull, ~0ull);
}

/* The numbers of element (y, x) of all windows of a row; `line` is the element's. */
OP_INLINE void fill_numbers(const struct op_window_args *t, uint32_t to, uint32_t columns,
                            uint32_t line, uint32_t y, uint32_t x, uint8_t repeats)
{
    if (t->positions) {
        vadds(op_ub_f32(to), op_ub_f32(columns), (float)(line * t->width + x * t->dilation_w),
              repeats, 1, 1, 8, 8);
    } else {
        vector_dup(op_ub_f32(to), (float)(y * t->kernel_w + x), repeats, 1, 1, 8, 8);
    }
}

/* One element of each window of a row, whose numbers are there: where it is larger than `best`, or
 * NaN, it and its number take the place. */
OP_INLINE void take_larger(uint32_t best, uint32_t index, uint32_t from, uint32_t step,
                           uint32_t masks, uint32_t number, uint8_t repeats)
{
    __ubuf__ uint8_t *larger = (__ubuf__ uint8_t *)(uintptr_t)masks,
                     *is_nan = (__ubuf__ uint8_t *)(uintptr_t)(masks + 2048);
    const uint8_t block = (uint8_t)step, repeat = (uint8_t)(8 * step);
    vcmpv_gt(larger, op_ub_f32(from), op_ub_f32(best), repeats, 1, block, 1, 8, repeat, 8);
    vcmpv_ne(is_nan, op_ub_f32(from), op_ub_f32(from), repeats, 1, block, block, 8, repeat, repeat);
    pipe_barrier(PIPE_V);
    // 8 bytes of bits a repeat, 256 bytes an instruction's.
    vor((__ubuf__ uint16_t *)larger, (__ubuf__ const uint16_t *)larger,
        (__ubuf__ const uint16_t *)is_nan, (uint8_t)(((uint32_t)repeats * 8 + 255) / 256), 1, 1, 1,
        8, 8, 8);
    pipe_barrier(PIPE_V);
    set_selmask_addr(larger);
    vsel(op_ub_f32(best), op_ub_f32(from), op_ub_f32(best), repeats, 1, block, 1, 8, repeat, 8, 2);
    vsel(op_ub_f32(index), op_ub_f32(number), op_ub_f32(index), repeats, 1, 1, 1, 8, 8, 8, 2);
}

/* The number of each window's first element that is not padding; its row is `y`, its line `line`.
 */
OP_INLINE void begin_row(const struct op_window_args *t, uint32_t best, uint32_t index,
                         uint32_t columns, uint32_t line, uint32_t y, uint8_t repeats)
{
    const int32_t first = t->positions ? (int32_t)(line * t->width) : (int32_t)(y * t->kernel_w);
    vector_dup(op_ub_f32(best), -__builtin_inff(), repeats, 1, 1, 8, 8);
    fill_numbers(t, index, columns, line, y, 0, repeats);
    set_vector_mask(0, 0xff);
    for (uint32_t column = 0; column < t->out_width && column * t->stride_w < t->pad_w; column++) {
        const uint32_t pad = t->pad_w - column * t->stride_w,
                       missing = (pad + t->dilation_w - 1) / t->dilation_w;
        const uint32_t in_row = t->positions ? missing * t->dilation_w - pad : missing;
        pipe_barrier(PIPE_V);
        vector_dup(op_ub_f32(index + column * WINDOW_BLOCK), (float)(first + (int32_t)in_row), 1, 1,
                   1, 8, 8);
    }
    set_vector_mask(~0ull, ~0ull);
}

__global__ __vector__ void pool_max(struct op_window_args args)
{
    const struct op_window_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t row_pieces = (t->out_height + t->rows - 1) / t->rows;
    const uint8_t repeats = (uint8_t)(t->out_pitch / 8);
    const uint32_t out_row = t->out_pitch * WINDOW_BLOCK, in_row = t->pitch * WINDOW_BLOCK;
    const uint32_t masks = 2 * t->slot_bytes, number = masks + 4096, columns = number + out_row;
    uint32_t slot = 0;
    window_begin(t, -__builtin_inff());
    window_fill(masks, number, 0);
    if (t->positions) {
        window_fill(columns, columns + out_row, 0);
        pipe_barrier(PIPE_V);
        fill_columns(t, columns);
        pipe_barrier(PIPE_V);
    }
    op_begin_slots();
    for (uint64_t piece = first; piece < end; piece++, slot ^= 1) {
        const uint64_t plane = piece / row_pieces;
        const struct window_piece p =
            window_piece_of(t, plane, (uint32_t)(piece - plane * row_pieces));
        const uint32_t in = slot * t->slot_bytes, best = in + t->large_bytes,
                       index = best + t->rows * out_row;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        window_load_lines(t, &p, in);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        for (uint32_t r = 0; r < p.rows; r++) {
            const uint32_t to = best + r * out_row, at = index + r * out_row;
            const int32_t begin = p.top + (int32_t)(r * t->stride_h);
            const uint32_t first_y =
                begin < 0 ? ((uint32_t)-begin + t->dilation_h - 1) / t->dilation_h : 0;
            begin_row(t, to, at, columns, (uint32_t)(begin + (int32_t)(first_y * t->dilation_h)),
                      first_y, repeats);
            for (uint32_t y = first_y; y < t->kernel_h; y++) {
                const uint32_t line = (uint32_t)(begin + (int32_t)(y * t->dilation_h));
                for (uint32_t x = 0; x < t->kernel_w && line < p.line1; x++) {
                    pipe_barrier(PIPE_V);
                    fill_numbers(t, number, columns, line, y, x, repeats);
                    take_larger(to, at,
                                in + (line - p.line0) * in_row + x * t->dilation_w * WINDOW_BLOCK,
                                t->stride_w, masks, number, repeats);
                }
            }
        }
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        const uint64_t out = (plane * t->out_height + p.row0) * t->out_width * WINDOW_BLOCK;
        window_copy_out(t->small + out, best, t->out_pitch, p.rows, t->out_width);
        window_copy_out(t->index + out, index, t->out_pitch, p.rows, t->out_width);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    op_end_slots();
}

/* Adds a row of gradients to the elements of `to`, `step` blocks apart, that their windows chose.
 * `part` holds the elements' numbers if they are positions. */
OP_INLINE void add_chosen(uint32_t to, uint32_t gradient, uint32_t index, uint32_t step,
                          uint32_t masks, uint32_t zeros, uint32_t part, bool positions, float tap,
                          uint8_t repeats)
{
    __ubuf__ uint8_t *chosen = (__ubuf__ uint8_t *)(uintptr_t)masks;
    const uint8_t block = (uint8_t)step, repeat = (uint8_t)(8 * step);
    pipe_barrier(PIPE_V);
    if (positions) {
        vcmpv_eq(chosen, op_ub_f32(index), op_ub_f32(part), repeats, 1, 1, 1, 8, 8, 8);
    } else {
        vcmpvs_eq(chosen, op_ub_f32(index), tap, repeats, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    set_selmask_addr(chosen);
    vsel(op_ub_f32(part), op_ub_f32(gradient), op_ub_f32(zeros), repeats, 1, 1, 1, 8, 8, 8, 2);
    pipe_barrier(PIPE_V);
    vadd(op_ub_f32(to), op_ub_f32(to), op_ub_f32(part), repeats, block, block, 1, repeat, repeat,
         8);
}

__global__ __vector__ void pool_max_gradient(struct op_window_args args)
{
    const struct op_window_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t row_pieces = (t->height + t->rows - 1) / t->rows;
    const uint8_t repeats = (uint8_t)(t->out_pitch / 8);
    const uint32_t out_row = t->out_pitch * WINDOW_BLOCK, in_row = t->pitch * WINDOW_BLOCK;
    const uint32_t masks = 2 * t->slot_bytes, zeros = masks + 2048, part = zeros + out_row,
                   columns = part + out_row;
    uint32_t slot = 0;
    window_begin(t, -1.0f); // no element has number -1
    window_fill(zeros, part, 0);
    if (t->positions) {
        window_fill(columns, columns + out_row, 0);
        pipe_barrier(PIPE_V);
        fill_columns(t, columns);
    }
    op_begin_slots();
    for (uint64_t piece = first; piece < end; piece++, slot ^= 1) {
        const uint64_t plane = piece / row_pieces;
        const struct window_band band =
            window_band_of(t, plane, (uint32_t)(piece - plane * row_pieces));
        const uint32_t sums = slot * t->slot_bytes, gradient = sums + t->large_bytes,
                       index = gradient + t->lines * out_row;
        const uint64_t from = (plane * t->out_height + band.row0) * t->out_width * WINDOW_BLOCK;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        if (band.row1 > band.row0) {
            window_copy_in(gradient, t->out_pitch, t->small + from, band.row1 - band.row0,
                           t->out_width);
            window_copy_in(index, t->out_pitch, t->index + from, band.row1 - band.row0,
                           t->out_width);
        }
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        window_fill(sums, gradient, 0);
        for (uint32_t row = band.row0; row < band.row1; row++) {
            const int32_t begin = (int32_t)(row * t->stride_h) - (int32_t)(t->pad_h + band.line0);
            for (uint32_t y = 0; y < t->kernel_h; y++) {
                const int32_t line = begin + (int32_t)(y * t->dilation_h);
                if (line < 0 || line >= (int32_t)band.lines) {
                    continue;
                }
                // From the right, so that an element's windows come in order.
                for (uint32_t x = t->kernel_w; x-- > 0;) {
                    pipe_barrier(PIPE_V);
                    if (t->positions) {
                        fill_numbers(t, part, columns, band.line0 + (uint32_t)line, y, x, repeats);
                    }
                    add_chosen(sums + (uint32_t)line * in_row + x * t->dilation_w * WINDOW_BLOCK,
                               gradient + (row - band.row0) * out_row,
                               index + (row - band.row0) * out_row, t->stride_w, masks, zeros, part,
                               t->positions, (float)(y * t->kernel_w + x), repeats);
                }
            }
        }
        window_store_band(t, &band, sums, slot);
    }
    op_end_slots();
}
