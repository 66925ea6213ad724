/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max pooling in NC1HWC0 on the vector unit. A pixel's group of channels is a block of 32 bytes, so
 * that a window's step is the distance of blocks within an instruction: one instruction takes an
 * element of all windows of a piece. First the largest of each window, then, from the last element
 * to the first, which one equals it.
 *
 * Flags, event = slot. V -> MTE2: slot free; MTE2 -> V: loaded; V -> MTE3: results ready; MTE3 ->
 * V: results stored.
 */
#include "../device/inline.h"
#include "../device/slots.h"

#include "pooling_native_args.h"

enum {
    BLOCK = 32,
    MAX_REPEATS = 255,
};

/* A piece in UB: its rows of windows, and where its parts lie. */
struct piece {
    uint32_t rows;
    int32_t top; /* line of the first window's first element */
    uint32_t in, best, index, wide, bits;
};

OP_INLINE void dup_half(uint32_t at, uint32_t bytes, half value)
{
    for (uint32_t done = 0; done < bytes; done += MAX_REPEATS * 256) {
        vector_dup(op_ub_f16(at + done), value,
                   (uint8_t)((op_min(bytes - done, MAX_REPEATS * 256) + 255) / 256), 1, 1, 8, 8);
    }
}

/* Lines of the plane with a place in a vertical step: the first of them in UB, and how many. */
struct lines {
    uint32_t first, count;
};

OP_INLINE struct lines lines_of(const struct op_pooling_native_args *t, const struct piece *p,
                                uint32_t place)
{
    struct lines lines = {0, 0};
    int32_t line = p->top + (int32_t)place;
    for (; line < 0 && lines.first < t->lines; line += (int32_t)t->stride_h) {
        lines.first++;
    }
    if (line >= 0 && line < (int32_t)t->height) {
        const uint32_t left = (t->height - (uint32_t)line + t->stride_h - 1) / t->stride_h;
        lines.count = op_min(left, t->lines - lines.first);
    }
    return lines;
}

OP_INLINE uint32_t place_bytes(const struct op_pooling_native_args *t)
{
    return t->lines * t->pitch * BLOCK;
}

OP_INLINE void load(const struct op_pooling_native_args *t, const struct piece *p, uint64_t plane)
{
    for (uint32_t place = 0; place < t->places; place++) {
        const struct lines lines = lines_of(t, p, place);
        const uint32_t line = (uint32_t)(p->top + (int32_t)(place + lines.first * t->stride_h));
        if (lines.count > 0) {
            copy_gm_to_ubuf(
                (__ubuf__ void *)(uintptr_t)(p->in + place * place_bytes(t) +
                                             (lines.first * t->pitch + t->pad_w) * BLOCK),
                (__gm__ void *)(t->in + (plane * t->height + line) * t->width * BLOCK), 0,
                (uint16_t)lines.count, (uint16_t)t->width, (uint16_t)((t->stride_h - 1) * t->width),
                (uint16_t)(t->pitch - t->width));
        }
    }
}

/* Lines outside the plane. */
OP_INLINE void pad_lines(const struct op_pooling_native_args *t, const struct piece *p)
{
    const uint32_t line_bytes = t->pitch * BLOCK;
    for (uint32_t place = 0; place < t->places; place++) {
        const struct lines lines = lines_of(t, p, place);
        const uint32_t at = p->in + place * place_bytes(t), end = lines.first + lines.count;
        dup_half(at, lines.first * line_bytes, (half)-__builtin_inff());
        dup_half(at + end * line_bytes, (t->lines - end) * line_bytes, (half)-__builtin_inff());
    }
}

/* An element of the first row's windows. */
OP_INLINE uint32_t element_of(const struct op_pooling_native_args *t, const struct piece *p,
                              uint32_t y, uint32_t x)
{
    const uint32_t down = y * t->dilation_h, line = down / t->stride_h,
                   place = down - line * t->stride_h;
    return p->in + place * place_bytes(t) + (line * t->pitch + x * t->dilation_w) * BLOCK;
}

OP_INLINE void take_largest(const struct op_pooling_native_args *t, const struct piece *p)
{
    const uint8_t repeats = (uint8_t)(p->rows * t->out_pitch / 8), step = (uint8_t)t->stride_w,
                  jump = (uint8_t)(8 * t->stride_w);
    dup_half(p->best, p->rows * t->out_pitch * BLOCK, (half)-__builtin_inff());
    for (uint32_t y = 0; y < t->kernel_h; y++) {
        for (uint32_t x = 0; x < t->kernel_w; x++) {
            pipe_barrier(PIPE_V);
            vmax(op_ub_f16(p->best), op_ub_f16(p->best), op_ub_f16(element_of(t, p, y, x)), repeats,
                 1, 1, step, 8, 8, jump);
        }
    }
    pipe_barrier(PIPE_V);
}

/* The number of each window's first element that is not padding, for windows that hold nothing but
 * the smallest number, which padding equals. */
OP_INLINE void begin_index(const struct op_pooling_native_args *t, const struct piece *p)
{
    for (uint32_t r = 0; r < p->rows; r++) {
        const int32_t begin = p->top + (int32_t)(r * t->stride_h);
        const uint32_t y = begin < 0 ? ((uint32_t)-begin + t->dilation_h - 1) / t->dilation_h : 0;
        const uint32_t row = p->index + r * t->out_pitch * BLOCK;
        dup_half(row, t->out_pitch * BLOCK, (half)(float)(y * t->kernel_w));
        set_vector_mask(0, 0xffff);
        for (uint32_t c = 0; c < t->out_width && c * t->stride_w < t->pad_w; c++) {
            const uint32_t missing =
                (t->pad_w - c * t->stride_w + t->dilation_w - 1) / t->dilation_w;
            pipe_barrier(PIPE_V);
            vector_dup(op_ub_f16(row + c * BLOCK), (half)(float)(y * t->kernel_w + missing), 1, 1,
                       1, 8, 8);
        }
        set_vector_mask(~0ull, ~0ull);
    }
}

/* Bits of all windows, set where an element is another than the largest, as padding always is. */
OP_INLINE void find_other(const struct op_pooling_native_args *t, const struct piece *p, uint32_t y,
                          uint32_t x)
{
    const uint8_t repeats = (uint8_t)(p->rows * t->out_pitch / 8), step = (uint8_t)t->stride_w,
                  jump = (uint8_t)(8 * t->stride_w);
    vcmpv_ne((__ubuf__ uint8_t *)(uintptr_t)p->bits, op_ub_f16(element_of(t, p, y, x)),
             op_ub_f16(p->best), repeats, 1, step, 1, 8, jump, 8);
}

/* Elements from the last to the first: the first that is the largest stays. */
OP_INLINE void take_index(const struct op_pooling_native_args *t, const struct piece *p)
{
    const uint32_t repeats = p->rows * t->out_pitch / 8;
    __ubuf__ half *index = op_ub_f16(p->index);
    begin_index(t, p);
    for (uint32_t y = t->kernel_h; y-- > 0;) {
        for (uint32_t x = t->kernel_w; x-- > 0;) {
            pipe_barrier(PIPE_V);
            find_other(t, p, y, x);
            pipe_barrier(PIPE_V);
            set_selmask_addr((__ubuf__ uint8_t *)(uintptr_t)p->bits);
            vsel(index, index, (half)(float)(y * t->kernel_w + x), (uint8_t)repeats, 1, 1, 1, 8, 8,
                 8, 1);
        }
    }
    pipe_barrier(PIPE_V);
}

/* Windows of nothing but the smallest number: padding equals it, too. */
OP_INLINE void mend_index(const struct op_pooling_native_args *t, const struct piece *p)
{
    const uint32_t all = p->rows * t->out_pitch, repeats = all / 8;
    const uint32_t first = p->wide; // free until the numbers become f32
    struct piece begin = *p;
    begin.index = first;
    begin_index(t, &begin);
    pipe_barrier(PIPE_V);
    // A scalar as a second operand: one block of it.
    const uint32_t smallest = first + all * BLOCK;
    dup_half(smallest, 256, (half)-__builtin_inff());
    pipe_barrier(PIPE_V);
    vcmpv_ne((__ubuf__ uint8_t *)(uintptr_t)p->bits, op_ub_f16(p->best), op_ub_f16(smallest),
             (uint8_t)repeats, 1, 1, 1, 8, 8, 0);
    pipe_barrier(PIPE_V);
    set_selmask_addr((__ubuf__ uint8_t *)(uintptr_t)p->bits);
    vsel(op_ub_f16(p->index), op_ub_f16(p->index), op_ub_f16(first), (uint8_t)repeats, 1, 1, 1, 8,
         8, 8, 2);
    pipe_barrier(PIPE_V);
}

OP_INLINE void widen_index(const struct op_pooling_native_args *t, const struct piece *p)
{
    const uint32_t repeats = p->rows * t->out_pitch / 4; // 64 numbers each
    for (uint32_t done = 0; done < repeats; done += MAX_REPEATS) {
        vconv_f162f32(op_ub_f32(p->wide + done * 256), op_ub_f16(p->index + done * 128),
                      (uint8_t)op_min(repeats - done, MAX_REPEATS), 1, 1, 8, 4);
    }
}

/* Results of a piece: rows of blocks, and of the numbers each half of the channels by itself. */
OP_INLINE void store(const struct op_pooling_native_args *t, const struct piece *p, uint64_t plane,
                     uint32_t row0)
{
    const uint64_t image = plane / t->groups;
    const uint32_t group = (uint32_t)(plane - image * t->groups), width = t->out_width;
    const uint64_t out = t->out + (plane * t->out_height + row0) * width * BLOCK;
    copy_ubuf_to_gm((__gm__ void *)out, (__ubuf__ void *)(uintptr_t)p->best, 0, (uint16_t)p->rows,
                    (uint16_t)width, (uint16_t)(t->out_pitch - width), 0);
    for (uint32_t side = 0; side < 2 && 2 * group + side < t->index_groups; side++) {
        const uint64_t part = image * t->index_groups + 2 * group + side;
        const uint64_t to = t->index + (part * t->out_height + row0) * width * BLOCK;
        for (uint32_t r = 0; r < p->rows; r++) {
            copy_ubuf_to_gm(
                (__gm__ void *)(to + r * width * BLOCK),
                (__ubuf__ void *)(uintptr_t)(p->wide + (r * t->out_pitch * 2 + side) * BLOCK), 0,
                (uint16_t)width, 1, 1, 0);
        }
    }
}

OP_INLINE struct piece place_piece(const struct op_pooling_native_args *t, uint32_t row0,
                                   uint32_t slot)
{
    struct piece p;
    const uint32_t windows = t->rows * t->out_pitch;
    p.rows = op_min(t->rows, t->out_height - row0);
    p.top = (int32_t)(row0 * t->stride_h) - (int32_t)t->pad_h;
    p.in = slot * t->slot_bytes;
    p.best = p.in + t->in_bytes;
    p.index = p.best + windows * BLOCK;
    p.wide = p.index + windows * BLOCK;
    p.bits = p.wide + windows * 2 * BLOCK + 256;
    return p;
}

__global__ __vector__ void pool_max_native(struct op_pooling_native_args args)
{
    const struct op_pooling_native_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t row_pieces = (t->out_height + t->rows - 1) / t->rows;
    const bool padded = t->pad_w > 0 || t->pad_h > 0;
    uint32_t slot = 0;
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    dup_half(0, 2 * t->slot_bytes, (half)-__builtin_inff());
    op_begin_slots();
    for (uint64_t number = first; number < end; number++, slot ^= 1) {
        const uint64_t plane = number / row_pieces;
        const uint32_t row0 = (uint32_t)(number - plane * row_pieces) * t->rows;
        const struct piece p = place_piece(t, row0, slot);
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        load(t, &p, plane);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        pad_lines(t, &p);
        take_largest(t, &p);
        take_index(t, &p);
        if (padded) {
            mend_index(t, &p);
        }
        widen_index(t, &p);
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        store(t, &p, plane, row0);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    op_end_slots();
}
