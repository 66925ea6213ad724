/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max pooling on the vector unit. A pixel is a block of 32 bytes, so that a window's step is the
 * distance of blocks within an instruction: one instruction takes an element of all windows of a
 * row.
 *
 * Flags, event = slot. V -> MTE2: slot free; MTE2 -> V: loaded; V -> MTE3: results ready; MTE3 ->
 * V: results stored.
 */
#include "inline.h"

#include "pooling_max_args.h"

enum { BLOCK = 32 };

OP_INLINE void copy_in(uint32_t ub, uint32_t ub_pitch, uint64_t gm, uint32_t rows, uint32_t blocks)
{
    copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)ub, (__gm__ void *)gm, 0, (uint16_t)rows,
                    (uint16_t)blocks, 0, (uint16_t)(ub_pitch - blocks));
}

OP_INLINE void copy_out(uint64_t gm, uint32_t ub, uint32_t ub_pitch, uint32_t rows, uint32_t blocks)
{
    copy_ubuf_to_gm((__gm__ void *)gm, (__ubuf__ void *)(uintptr_t)ub, 0, (uint16_t)rows,
                    (uint16_t)blocks, (uint16_t)(ub_pitch - blocks), 0);
}

/* Rows are longer than what is loaded into them. Places are multiples of 256. */
OP_INLINE void fill(uint32_t begin, uint32_t end, float value)
{
    for (uint32_t at = begin; at < end; at += 255 * 256) {
        vector_dup(op_ub_f32(at), value, (uint8_t)(op_min(end - at, 255 * 256) / 256), 1, 1, 8, 8);
    }
}

OP_INLINE void begin_flags(void)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
}

OP_INLINE void end_flags(void)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
    }
}

/* One element of each window of a row: where it is larger than `best`, or NaN, it and its number
 * take the place. */
OP_INLINE void take_larger(uint32_t best, uint32_t index, uint32_t from, uint32_t step,
                           uint32_t masks, uint32_t number, float tap, uint8_t repeats)
{
    __ubuf__ uint8_t *larger = (__ubuf__ uint8_t *)(uintptr_t)masks,
                     *is_nan = (__ubuf__ uint8_t *)(uintptr_t)(masks + 2048);
    const uint8_t block = (uint8_t)step, repeat = (uint8_t)(8 * step);
    pipe_barrier(PIPE_V);
    vcmpv_gt(larger, op_ub_f32(from), op_ub_f32(best), repeats, 1, block, 1, 8, repeat, 8);
    vcmpv_ne(is_nan, op_ub_f32(from), op_ub_f32(from), repeats, 1, block, block, 8, repeat, repeat);
    vector_dup(op_ub_f32(number), tap, repeats, 1, 1, 8, 8);
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

/* The number of each window's first element that is not padding. */
OP_INLINE void begin_row(const struct op_pooling_max_args *t, uint32_t best, uint32_t index,
                         uint32_t first_y, uint8_t repeats)
{
    const float first = (float)(first_y * t->kernel_w);
    vector_dup(op_ub_f32(best), -__builtin_inff(), repeats, 1, 1, 8, 8);
    vector_dup(op_ub_f32(index), first, repeats, 1, 1, 8, 8);
    set_vector_mask(0, 0xff);
    for (uint32_t column = 0; column < t->out_width && column * t->stride_w < t->pad_w; column++) {
        const uint32_t missing =
            (t->pad_w - column * t->stride_w + t->dilation_w - 1) / t->dilation_w;
        pipe_barrier(PIPE_V);
        vector_dup(op_ub_f32(index + column * BLOCK), first + (float)missing, 1, 1, 1, 8, 8);
    }
    set_vector_mask(~0ull, ~0ull);
}

__global__ __vector__ void pool_max(struct op_pooling_max_args args)
{
    const struct op_pooling_max_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t row_pieces = (t->out_height + t->rows - 1) / t->rows;
    const uint8_t repeats = (uint8_t)(t->out_pitch / 8);
    const uint32_t out_row = t->out_pitch * BLOCK, in_row = t->pitch * BLOCK;
    const uint32_t masks = 2 * t->slot_bytes, number = masks + 4096;
    uint32_t slot = 0;
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    fill(0, 2 * t->slot_bytes, -__builtin_inff());
    fill(masks, number, 0);
    begin_flags();
    for (uint64_t piece = first; piece < end; piece++, slot ^= 1) {
        const uint64_t plane = piece / row_pieces;
        const uint32_t row0 = (uint32_t)(piece - plane * row_pieces) * t->rows,
                       rows = op_min(t->rows, t->out_height - row0);
        const int32_t top = (int32_t)(row0 * t->stride_h) - (int32_t)t->pad_h;
        const int32_t bottom =
            top + (int32_t)((rows - 1) * t->stride_h + (t->kernel_h - 1) * t->dilation_h);
        const uint32_t line0 = top < 0 ? 0 : (uint32_t)top,
                       line1 = op_min(bottom < 0 ? 0 : (uint32_t)bottom + 1, t->height);
        const uint32_t in = slot * t->slot_bytes, best = in + t->large_bytes,
                       index = best + t->rows * out_row;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        copy_in(in + t->pad_w * BLOCK, t->pitch,
                t->large + (plane * t->height + line0) * t->width * BLOCK, line1 - line0, t->width);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        for (uint32_t r = 0; r < rows; r++) {
            const uint32_t to = best + r * out_row, at = index + r * out_row;
            const int32_t begin = top + (int32_t)(r * t->stride_h);
            const uint32_t first_y =
                begin < 0 ? ((uint32_t)-begin + t->dilation_h - 1) / t->dilation_h : 0;
            begin_row(t, to, at, first_y, repeats);
            for (uint32_t y = first_y; y < t->kernel_h; y++) {
                const uint32_t line = (uint32_t)(begin + (int32_t)(y * t->dilation_h));
                for (uint32_t x = 0; x < t->kernel_w && line < line1; x++) {
                    take_larger(to, at, in + (line - line0) * in_row + x * t->dilation_w * BLOCK,
                                t->stride_w, masks, number, (float)(y * t->kernel_w + x), repeats);
                }
            }
        }
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        const uint64_t out = (plane * t->out_height + row0) * t->out_width * BLOCK;
        copy_out(t->small + out, best, t->out_pitch, rows, t->out_width);
        copy_out(t->index + out, index, t->out_pitch, rows, t->out_width);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    end_flags();
}

/* Adds a row of gradients to the elements of `to`, `step` blocks apart, that their windows chose.
 */
OP_INLINE void add_chosen(uint32_t to, uint32_t gradient, uint32_t index, uint32_t step,
                          uint32_t masks, uint32_t zeros, uint32_t part, float tap, uint8_t repeats)
{
    __ubuf__ uint8_t *chosen = (__ubuf__ uint8_t *)(uintptr_t)masks;
    const uint8_t block = (uint8_t)step, repeat = (uint8_t)(8 * step);
    pipe_barrier(PIPE_V);
    vcmpvs_eq(chosen, op_ub_f32(index), tap, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    set_selmask_addr(chosen);
    vsel(op_ub_f32(part), op_ub_f32(gradient), op_ub_f32(zeros), repeats, 1, 1, 1, 8, 8, 8, 2);
    pipe_barrier(PIPE_V);
    vadd(op_ub_f32(to), op_ub_f32(to), op_ub_f32(part), repeats, block, block, 1, repeat, repeat,
         8);
}

/* Rows of windows that reach line `line`: [begin, end). */
OP_INLINE void windows_of(const struct op_pooling_max_args *t, uint32_t line, uint32_t *begin,
                          uint32_t *end)
{
    const uint32_t at = line + t->pad_h, reach = (t->kernel_h - 1) * t->dilation_h;
    *begin = at <= reach ? 0 : (at - reach + t->stride_h - 1) / t->stride_h;
    *end = op_min(at / t->stride_h + 1, t->out_height);
}

__global__ __vector__ void pool_max_gradient(struct op_pooling_max_args args)
{
    const struct op_pooling_max_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t row_pieces = (t->height + t->rows - 1) / t->rows;
    const uint8_t repeats = (uint8_t)(t->out_pitch / 8);
    const uint32_t out_row = t->out_pitch * BLOCK, in_row = t->pitch * BLOCK;
    const uint32_t masks = 2 * t->slot_bytes, zeros = masks + 2048, part = zeros + out_row;
    uint32_t slot = 0;
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    fill(0, 2 * t->slot_bytes, -1.0f); // no element has number -1
    fill(zeros, part, 0);
    begin_flags();
    for (uint64_t piece = first; piece < end; piece++, slot ^= 1) {
        const uint64_t plane = piece / row_pieces;
        const uint32_t line0 = (uint32_t)(piece - plane * row_pieces) * t->rows,
                       lines = op_min(t->rows, t->height - line0);
        const uint32_t sums = slot * t->slot_bytes, gradient = sums + t->large_bytes,
                       index = gradient + t->lines * out_row;
        uint32_t row0, row1, unused;
        windows_of(t, line0, &row0, &unused);
        windows_of(t, line0 + lines - 1, &unused, &row1);
        const uint64_t from = (plane * t->out_height + row0) * t->out_width * BLOCK;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        if (row1 > row0) {
            copy_in(gradient, t->out_pitch, t->small + from, row1 - row0, t->out_width);
            copy_in(index, t->out_pitch, t->index + from, row1 - row0, t->out_width);
        }
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        fill(sums, gradient, 0);
        for (uint32_t row = row0; row < row1; row++) {
            const int32_t begin = (int32_t)(row * t->stride_h) - (int32_t)(t->pad_h + line0);
            for (uint32_t y = 0; y < t->kernel_h; y++) {
                const int32_t line = begin + (int32_t)(y * t->dilation_h);
                if (line < 0 || line >= (int32_t)lines) {
                    continue;
                }
                // From the right, so that an element's windows come in order.
                for (uint32_t x = t->kernel_w; x-- > 0;) {
                    add_chosen(sums + (uint32_t)line * in_row + x * t->dilation_w * BLOCK,
                               gradient + (row - row0) * out_row, index + (row - row0) * out_row,
                               t->stride_w, masks, zeros, part, (float)(y * t->kernel_w + x),
                               repeats);
                }
            }
        }
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        copy_out(t->large + (plane * t->height + line0) * t->width * BLOCK, sums + t->pad_w * BLOCK,
                 t->pitch, lines, t->width);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    end_flags();
}
