/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over windows on the vector unit (window.h): averages, and convolutions whose channels stand
 * alone, forward and both gradients. A window's elements come in the order of the kernel. Within an
 * element of the kernel the rows of a piece do not touch each other, so that the pipe is waited for
 * once for all of them.
 */
#include "window_device.h"

OP_INLINE uint32_t taps_of(const struct op_window_args *t)
{
    return t->kernel_h * t->kernel_w;
}

OP_INLINE void load_weights(const struct op_window_args *t, uint32_t slot_at, uint64_t plane)
{
    if (t->weight) {
        const uint32_t taps = taps_of(t);
        window_copy_in(slot_at + t->weight_at, taps,
                       t->weight + plane % t->groups * taps * WINDOW_BLOCK, 1, taps);
    }
}

/* Elements of window `o` along a dimension that an average counts. */
OP_INLINE uint32_t counted(uint32_t o, uint32_t size, uint32_t kernel, uint32_t stride,
                           uint32_t pad, bool count_pad)
{
    const int32_t begin = (int32_t)(o * stride) - (int32_t)pad,
                  last = (int32_t)size + (count_pad ? (int32_t)pad : 0);
    const int32_t end = begin + (int32_t)kernel < last ? begin + (int32_t)kernel : last;
    return (uint32_t)(end - (begin < 0 && !count_pad ? 0 : begin));
}

/* What the windows of a row are divided by, but for their rows; a block each. */
OP_INLINE void fill_counts(const struct op_window_args *t, uint32_t counts)
{
    const uint32_t row = t->out_pitch * WINDOW_BLOCK;
    window_fill(counts, counts + row, t->divisor != 0 ? t->divisor : 1.0f);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, 0xff);
    for (uint32_t i = 0; t->divisor == 0 && i < t->out_width; i++) {
        vector_dup(op_ub_f32(counts + i * WINDOW_BLOCK),
                   (float)counted(i, t->width, t->kernel_w, t->stride_w, t->pad_w, t->count_pad), 1,
                   1, 1, 8, 8);
    }
    set_vector_mask(~0ull, ~0ull);
    pipe_barrier(PIPE_V);
}

/* Row `o` of small at `at`, divided; the row after `counts` is free. */
OP_INLINE void divide_row(const struct op_window_args *t, uint32_t at, uint32_t counts, uint32_t o,
                          uint8_t repeats)
{
    const uint32_t all = counts + t->out_pitch * WINDOW_BLOCK;
    const float rows = t->divisor != 0 ? 1.0f
                                       : (float)counted(o, t->height, t->kernel_h, t->stride_h,
                                                        t->pad_h, t->count_pad);
    pipe_barrier(PIPE_V);
    vmuls(op_ub_f32(all), op_ub_f32(counts), rows, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vdiv(op_ub_f32(at), op_ub_f32(at), op_ub_f32(all), repeats, 1, 1, 1, 8, 8, 8);
}

/* Element (y, x) of the windows of all rows of a piece by one instruction: windows step by one
 * element, and rows of both maps are equally long. What lies between two rows is computed and not
 * stored. */
OP_INLINE void add_element_at_once(const struct op_window_args *t, const struct window_piece *p,
                                   uint32_t in, uint32_t sums, uint32_t y, uint32_t x)
{
    const int32_t line = p->top + (int32_t)(y * t->dilation_h); // of the first row
    const uint32_t skip = line < (int32_t)p->line0 ? p->line0 - (uint32_t)line : 0,
                   row = t->pitch * WINDOW_BLOCK,
                   weight = in + t->weight_at + (y * t->kernel_w + x) * WINDOW_BLOCK;
    const int32_t end = (int32_t)p->line1 - line;
    const uint32_t rows = end < 0 ? 0 : op_min(p->rows, (uint32_t)end);
    uint32_t to = sums + skip * row, from = in +
                                            ((uint32_t)(line + (int32_t)skip) - p->line0) * row +
                                            x * t->dilation_w * WINDOW_BLOCK;
    pipe_barrier(PIPE_V);
    for (uint32_t left = rows > skip ? (rows - skip) * (t->pitch / 8) : 0; left > 0;) {
        const uint32_t repeats = op_min(left, 255);
        vmla(op_ub_f32(to), op_ub_f32(from), op_ub_f32(weight), (uint8_t)repeats, 1, 1, 0, 8, 8, 0);
        to += repeats * 8 * WINDOW_BLOCK;
        from += repeats * 8 * WINDOW_BLOCK;
        left -= repeats;
    }
}

/* The same row by row. */
OP_INLINE void add_element(const struct op_window_args *t, const struct window_piece *p,
                           uint32_t in, uint32_t sums, uint32_t y, uint32_t x, uint8_t repeats)
{
    const uint8_t block = (uint8_t)t->stride_w, repeat = (uint8_t)(8 * t->stride_w);
    const uint32_t weight = in + t->weight_at + (y * t->kernel_w + x) * WINDOW_BLOCK;
    const uint32_t out_row = t->out_pitch * WINDOW_BLOCK, in_row = t->pitch * WINDOW_BLOCK;
    pipe_barrier(PIPE_V);
    for (uint32_t r = 0; r < p->rows; r++) {
        const int32_t line = p->top + (int32_t)(r * t->stride_h + y * t->dilation_h);
        if (line < (int32_t)p->line0 || line >= (int32_t)p->line1) {
            continue;
        }
        const uint32_t to = sums + r * out_row, from = in + ((uint32_t)line - p->line0) * in_row +
                                                       x * t->dilation_w * WINDOW_BLOCK;
        if (t->weight) {
            vmla(op_ub_f32(to), op_ub_f32(from), op_ub_f32(weight), repeats, 1, block, 0, 8, repeat,
                 0);
        } else {
            vadd(op_ub_f32(to), op_ub_f32(to), op_ub_f32(from), repeats, 1, 1, block, 8, 8, repeat);
        }
    }
}

__global__ __vector__ void window_sum(struct op_window_args args)
{
    const struct op_window_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t row_pieces = (t->out_height + t->rows - 1) / t->rows;
    const uint8_t repeats = (uint8_t)(t->out_pitch / 8);
    const uint32_t out_row = t->out_pitch * WINDOW_BLOCK, counts = 2 * t->slot_bytes;
    const bool at_once = t->weight && t->pitch == t->out_pitch && t->stride_h * t->stride_w == 1;
    uint32_t slot = 0;
    window_begin(t, 0);
    if (!t->weight) {
        fill_counts(t, counts);
    }
    op_begin_slots();
    for (uint64_t piece = first; piece < end; piece++, slot ^= 1) {
        const uint64_t plane = piece / row_pieces;
        const struct window_piece p =
            window_piece_of(t, plane, (uint32_t)(piece - plane * row_pieces));
        const uint32_t in = slot * t->slot_bytes, sums = in + t->large_bytes;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        window_load_lines(t, &p, in);
        load_weights(t, in, plane);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        window_fill(sums, sums + p.rows * out_row, 0);
        for (uint32_t y = 0; y < t->kernel_h; y++) {
            for (uint32_t x = 0; x < t->kernel_w; x++) {
                if (at_once) {
                    add_element_at_once(t, &p, in, sums, y, x);
                } else {
                    add_element(t, &p, in, sums, y, x, repeats);
                }
            }
        }
        for (uint32_t r = 0; !t->weight && r < p.rows; r++) {
            divide_row(t, sums + r * out_row, counts, p.row0 + r, repeats);
        }
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        window_copy_out(t->small + (plane * t->out_height + p.row0) * t->out_width * WINDOW_BLOCK,
                        sums, t->out_pitch, p.rows, t->out_width);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    op_end_slots();
}

/* The rows of small that reach a band, times element (y, x) of the kernel, onto its lines. The
 * mask is that of a row's windows alone. */
OP_INLINE void spread_element(const struct op_window_args *t, const struct window_band *band,
                              uint32_t sums, uint32_t gradient, uint32_t weight, uint32_t y,
                              uint32_t x, uint8_t repeats)
{
    const uint8_t block = (uint8_t)t->stride_w, repeat = (uint8_t)(8 * t->stride_w);
    const uint32_t out_row = t->out_pitch * WINDOW_BLOCK, in_row = t->pitch * WINDOW_BLOCK;
    pipe_barrier(PIPE_V);
    for (uint32_t row = band->row0; row < band->row1; row++) {
        const int32_t line =
            (int32_t)(row * t->stride_h + y * t->dilation_h) - (int32_t)(t->pad_h + band->line0);
        if (line < 0 || line >= (int32_t)band->lines) {
            continue;
        }
        const uint32_t to = sums + (uint32_t)line * in_row + x * t->dilation_w * WINDOW_BLOCK,
                       from = gradient + (row - band->row0) * out_row;
        if (t->weight) {
            vmla(op_ub_f32(to), op_ub_f32(from), op_ub_f32(weight), repeats, block, 1, 0, repeat, 8,
                 0);
        } else {
            vadd(op_ub_f32(to), op_ub_f32(to), op_ub_f32(from), repeats, block, block, 1, repeat,
                 repeat, 8);
        }
    }
}

__global__ __vector__ void window_spread(struct op_window_args args)
{
    const struct op_window_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t row_pieces = (t->height + t->rows - 1) / t->rows;
    const uint8_t repeats = (uint8_t)(t->out_pitch / 8);
    const uint32_t out_row = t->out_pitch * WINDOW_BLOCK, counts = 2 * t->slot_bytes;
    uint32_t slot = 0;
    window_begin(t, 0);
    if (!t->weight) {
        fill_counts(t, counts);
    }
    op_begin_slots();
    for (uint64_t piece = first; piece < end; piece++, slot ^= 1) {
        const uint64_t plane = piece / row_pieces;
        const struct window_band band =
            window_band_of(t, plane, (uint32_t)(piece - plane * row_pieces));
        const uint32_t sums = slot * t->slot_bytes, gradient = sums + t->large_bytes;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        if (band.row1 > band.row0) {
            window_copy_in(gradient, t->out_pitch,
                           t->small +
                               (plane * t->out_height + band.row0) * t->out_width * WINDOW_BLOCK,
                           band.row1 - band.row0, t->out_width);
        }
        load_weights(t, sums, plane);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        window_fill(sums, gradient, 0);
        for (uint32_t row = band.row0; !t->weight && row < band.row1; row++) {
            divide_row(t, gradient + (row - band.row0) * out_row, counts, row, repeats);
        }
        set_mask_count();
        set_vector_mask(0, t->out_width * OP_WINDOW_LANES);
        for (uint32_t y = 0; y < t->kernel_h; y++) {
            // From the right, so that an element's windows come in order.
            for (uint32_t x = t->kernel_w; x-- > 0;) {
                spread_element(t, &band, sums, gradient,
                               sums + t->weight_at + (y * t->kernel_w + x) * WINDOW_BLOCK, y, x,
                               repeats);
            }
        }
        set_mask_norm();
        set_vector_mask(~0ull, ~0ull);
        window_store_band(t, &band, sums, slot);
    }
    op_end_slots();
}

/* A row of small times the elements of its windows; `sums` has a row for each element. */
OP_INLINE void multiply_row(const struct op_window_args *t, const struct window_piece *p,
                            uint32_t in, uint32_t row, uint32_t r, uint32_t sums, uint8_t repeats)
{
    const uint8_t block = (uint8_t)t->stride_w, repeat = (uint8_t)(8 * t->stride_w);
    const uint32_t out_row = t->out_pitch * WINDOW_BLOCK, in_row = t->pitch * WINDOW_BLOCK;
    pipe_barrier(PIPE_V);
    for (uint32_t y = 0; y < t->kernel_h; y++) {
        const int32_t line = p->top + (int32_t)(r * t->stride_h + y * t->dilation_h);
        if (line < (int32_t)p->line0 || line >= (int32_t)p->line1) {
            continue;
        }
        const uint32_t from = in + ((uint32_t)line - p->line0) * in_row;
        for (uint32_t x = 0; x < t->kernel_w; x++) {
            vmla(op_ub_f32(sums + (y * t->kernel_w + x) * out_row),
                 op_ub_f32(from + x * t->dilation_w * WINDOW_BLOCK), op_ub_f32(row), repeats, 1,
                 block, 1, 8, repeat, 8);
        }
    }
}

/* Folds `width` blocks of each row into its first one, halves onto halves. */
OP_INLINE void fold_rows(uint32_t sums, uint32_t rows, uint32_t row_bytes, uint32_t width)
{
    set_mask_count();
    while (width > 1) {
        const uint32_t half = (width + 1) / 2, count = (width - half) * OP_WINDOW_LANES;
        set_vector_mask(0, count);
        pipe_barrier(PIPE_V);
        for (uint32_t i = 0; i < rows; i++) {
            const uint32_t at = sums + i * row_bytes;
            vadd(op_ub_f32(at), op_ub_f32(at), op_ub_f32(at + half * WINDOW_BLOCK),
                 (uint8_t)((count + 63) / 64), 1, 1, 1, 8, 8, 8);
        }
        width = half;
    }
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
}

__global__ __vector__ void window_products(struct op_window_args args)
{
    const struct op_window_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t row_pieces = (t->out_height + t->rows - 1) / t->rows, taps = taps_of(t);
    const uint8_t repeats = (uint8_t)(t->out_pitch / 8);
    const uint32_t out_row = t->out_pitch * WINDOW_BLOCK, sums = 2 * t->slot_bytes;
    uint32_t slot = 0;
    window_begin(t, 0);
    op_begin_slots();
    for (uint64_t plane = first; plane < end; plane++) {
        pipe_barrier(PIPE_V);
        window_fill(sums, sums + taps * out_row, 0);
        for (uint32_t part = 0; part < row_pieces; part++, slot ^= 1) {
            const struct window_piece p = window_piece_of(t, plane, part);
            const uint32_t in = slot * t->slot_bytes, rows = in + t->large_bytes;
            wait_flag(PIPE_V, PIPE_MTE2, slot);
            window_load_lines(t, &p, in);
            window_copy_in(rows, t->out_pitch,
                           t->small +
                               (plane * t->out_height + p.row0) * t->out_width * WINDOW_BLOCK,
                           p.rows, t->out_width);
            set_flag(PIPE_MTE2, PIPE_V, slot);
            wait_flag(PIPE_MTE2, PIPE_V, slot);
            for (uint32_t r = 0; r < p.rows; r++) {
                multiply_row(t, &p, in, rows + r * out_row, r, sums, repeats);
            }
            set_flag(PIPE_V, PIPE_MTE2, slot);
        }
        fold_rows(sums, taps, out_row, t->out_width);
        set_flag(PIPE_V, PIPE_MTE3, 0);
        wait_flag(PIPE_V, PIPE_MTE3, 0);
        window_copy_out(t->weight + plane * taps * WINDOW_BLOCK, sums, t->out_pitch, taps, 1);
        set_flag(PIPE_MTE3, PIPE_V, 2);
        wait_flag(PIPE_MTE3, PIPE_V, 2);
    }
    op_end_slots();
}
