/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gradient of max pooling in NC1HWC0 on the vector unit. For each element of the windows, from
 * the last to the first: which windows chose it (their numbers are in halves of the channels), what
 * of the gradient is theirs, and then, row by row, its sum with what is there. Sums of columns that
 * are a step apart lie side by side, so that no instruction strides over them; they are put apart
 * as they become f16.
 *
 * Flags, event = slot. V -> MTE2: slot free; MTE2 -> V: loaded; V -> MTE3: results ready; MTE3 ->
 * V: results stored.
 */
#include "window_device.h"

#include "pooling_spread_args.h"

enum {
    WIDE = 64, /* bytes of 16 channels in f32 */
    MAX_REPEATS = 255,
    PIXELS = 4,
    BANK_ROW = 512,
};

/* A piece in UB. */
struct spread {
    struct window_band band;
    uint32_t rows, windows; /* of small, with what fills rows up */
    uint32_t small, numbers[2], out;
};

OP_INLINE struct spread spread_of(const struct op_pooling_spread_args *t, uint64_t piece,
                                  uint32_t slot)
{
    const struct op_window_args *map = &t->map;
    const uint32_t parts = (map->height + map->rows - 1) / map->rows;
    const uint64_t plane = piece / parts;
    struct spread s = {.band = window_band_of(map, plane, (uint32_t)(piece - plane * parts))};
    s.rows = s.band.row1 > s.band.row0 ? s.band.row1 - s.band.row0 : 0;
    s.windows = s.rows * map->out_pitch;
    s.numbers[0] = t->in + slot * map->slot_bytes;
    s.numbers[1] = s.numbers[0] + t->side_bytes;
    s.small = s.numbers[1] + t->side_bytes;
    s.out = t->out + slot * map->large_bytes;
    return s;
}

/* The last group of an image may have no numbers of its other half. */
OP_INLINE void load(const struct op_pooling_spread_args *t, const struct spread *s)
{
    const struct op_window_args *map = &t->map;
    const uint64_t image = s->band.plane / map->groups;
    const uint32_t group = (uint32_t)(s->band.plane - image * map->groups);
    const uint64_t row_bytes = (uint64_t)map->out_width * WINDOW_BLOCK;
    if (s->rows == 0) {
        return;
    }
    window_copy_in(s->small, map->out_pitch,
                   map->small + (s->band.plane * map->out_height + s->band.row0) * row_bytes,
                   s->rows, map->out_width);
    for (uint32_t side = 0; side < 2 && 2 * group + side < t->index_groups; side++) {
        const uint64_t part = image * t->index_groups + 2 * group + side;
        window_copy_in(s->numbers[side], map->out_pitch,
                       map->index + (part * map->out_height + s->band.row0) * row_bytes, s->rows,
                       map->out_width);
    }
}

/* The gradient in f32 where a window's number is `tap`, else 0. */
OP_INLINE void choose(const struct op_pooling_spread_args *t, const struct spread *s,
                      uint32_t sides, float tap, uint32_t chosen)
{
    const uint8_t repeats = (uint8_t)((s->windows + 7) / 8);
    pipe_barrier(PIPE_V);
    for (uint32_t side = 0; side < sides; side++) {
        vcmpvs_eq((__ubuf__ uint8_t *)(uintptr_t)(t->bits[side]), op_ub_f32(s->numbers[side]), tap,
                  repeats, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t side = 0; side < sides; side++) {
        set_selmask_addr((__ubuf__ uint8_t *)(uintptr_t)(t->bits[side]));
        vsel(op_ub_f32(chosen + side * WINDOW_BLOCK), op_ub_f32(t->gradient + side * WINDOW_BLOCK),
             0.0f, repeats, 2, 2, 1, 16, 16, 8, 1);
    }
    pipe_barrier(PIPE_V);
}

/* Sums of an element of the windows' first row. */
OP_INLINE uint32_t sums_of(const struct op_pooling_spread_args *t, uint32_t x)
{
    const uint32_t right = x * t->map.dilation_w, step = right / t->map.stride_w,
                   place = right - step * t->map.stride_w;
    return (place * t->map.rows * t->columns + step) * WIDE;
}

OP_INLINE void add_row(uint32_t to, uint32_t from, uint32_t repeats)
{
    for (uint32_t done = 0; done < repeats; done += MAX_REPEATS) {
        vadd(op_ub_f32(to + done * 256), op_ub_f32(to + done * 256), op_ub_f32(from + done * 256),
             (uint8_t)op_min(repeats - done, MAX_REPEATS), 1, 1, 1, 8, 8, 8);
    }
}

/* An element of all windows, whose rows [first, end) have it in the band. From the last element to
 * the first, so that an element's windows come in order. */
OP_INLINE void add_element(const struct op_pooling_spread_args *t, const struct spread *s,
                           uint32_t sides, uint32_t y, uint32_t x)
{
    const struct op_window_args *map = &t->map;
    const uint32_t row_bytes = map->out_pitch * WIDE, line_bytes = t->columns * WIDE;
    int32_t line = (int32_t)(s->band.row0 * map->stride_h + y * map->dilation_h) -
                   (int32_t)(map->pad_h + s->band.line0);
    uint32_t first = 0;
    for (; first < s->rows && line < 0; line += (int32_t)map->stride_h) {
        first++;
    }
    if (first == s->rows || line >= (int32_t)s->band.lines) {
        return;
    }
    uint32_t to = sums_of(t, x) + (uint32_t)line * line_bytes;
    // Banks of the buffer: what is added is half a row of them from its sums.
    const uint32_t from = first * row_bytes;
    const uint32_t shift = (to + BANK_ROW / 2 - t->chosen - from) % BANK_ROW;
    choose(t, s, sides, (float)(y * map->kernel_w + x), t->chosen + shift);
    uint32_t part = t->chosen + shift + from;
    for (uint32_t row = first; row < s->rows && line < (int32_t)s->band.lines; row++) {
        add_row(to, part, map->out_pitch / PIXELS);
        part += row_bytes;
        to += map->stride_h * line_bytes;
        line += (int32_t)map->stride_h;
    }
}

OP_INLINE void widen(uint32_t to, uint32_t from, uint32_t repeats)
{
    for (uint32_t done = 0; done < repeats; done += MAX_REPEATS) {
        vconv_f162f32(op_ub_f32(to + done * 256), op_ub_f16(from + done * 128),
                      (uint8_t)op_min(repeats - done, MAX_REPEATS), 1, 1, 8, 4);
    }
}

/* Sums to f16, columns in their order. */
OP_INLINE void narrow(const struct op_pooling_spread_args *t, const struct spread *s)
{
    const uint32_t step = t->map.stride_w, repeats = s->band.lines * t->columns / PIXELS;
    for (uint32_t place = 0; place < step; place++) {
        const uint32_t from = place * t->map.rows * t->columns * WIDE,
                       to = s->out + place * WINDOW_BLOCK;
        for (uint32_t done = 0; done < repeats; done += MAX_REPEATS) {
            vconv_f322f16(op_ub_f16(to + done * PIXELS * step * WINDOW_BLOCK),
                          op_ub_f32(from + done * 256),
                          (uint8_t)op_min(repeats - done, MAX_REPEATS), (uint8_t)step, 1,
                          (uint8_t)(PIXELS * step), 8);
        }
    }
}

OP_INLINE void spread(const struct op_pooling_spread_args *t, const struct spread *s)
{
    const struct op_window_args *map = &t->map;
    const uint32_t group = (uint32_t)(s->band.plane % map->groups),
                   sides = op_min(t->index_groups - 2 * group, 2);
    window_fill(0, t->gradient, 0);
    widen(t->gradient, s->small, (s->windows + 7) / 8 * 2);
    if (sides == 1) {
        pipe_barrier(PIPE_V);
        window_fill(t->chosen, t->end, 0); // another plane's other half
    }
    for (uint32_t y = map->kernel_h; y-- > 0 && s->rows > 0;) {
        for (uint32_t x = map->kernel_w; x-- > 0;) {
            add_element(t, s, sides, y, x);
        }
    }
    pipe_barrier(PIPE_V);
    narrow(t, s);
}

__global__ __vector__ void pool_max_spread(struct op_pooling_spread_args args)
{
    const struct op_pooling_spread_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->map.per_block,
                   end = op_min64(first + t->map.per_block, t->map.pieces);
    uint32_t slot = 0;
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    window_fill(t->in, t->out, -1.0f); // no element has number -1
    op_begin_slots();
    for (uint64_t piece = first; piece < end; piece++, slot ^= 1) {
        const struct spread s = spread_of(t, piece, slot);
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        load(t, &s);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        spread(t, &s);
        window_store_band(&t->map, &s.band, s.out, slot);
    }
    op_end_slots();
}
