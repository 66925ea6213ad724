/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gradient of max pooling in NC1HWC0 on the vector unit. For each element of the windows, from
 * the last to the first: which windows chose it (their numbers are in halves of the channels), what
 * of the gradient is theirs, and its sum with what is there. Lines and columns of the sums lie by
 * their place in a step of the windows, so that what is added to lies side by side; columns come in
 * their order as they become f16, lines as they are stored.
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

/* A piece and its parts in UB: rows of windows [row0, row1) reach its lines from `first` on. */
struct spread {
    uint64_t plane;
    uint32_t first, row0, row1, sides;
    uint32_t small, numbers[2], out;
};

OP_INLINE struct spread spread_of(const struct op_pooling_spread_args *t, uint64_t piece,
                                  uint32_t parts, uint32_t slot)
{
    const struct op_window_args *map = &t->map;
    struct spread s = {.plane = piece / parts};
    s.first = (uint32_t)(piece - s.plane * parts) * map->rows;
    s.row1 = op_min(s.first + map->rows, map->out_height);
    s.row0 = s.first < t->reach ? 0 : op_min(s.first - t->reach, s.row1);
    s.numbers[0] = t->in + slot * map->slot_bytes;
    s.numbers[1] = s.numbers[0] + t->side_bytes;
    s.small = s.numbers[1] + t->side_bytes;
    s.out = t->out + slot * map->large_bytes;
    return s;
}

/* The last group of an image may have no numbers of its other half. */
OP_INLINE void load(const struct op_pooling_spread_args *t, struct spread *s)
{
    const struct op_window_args *map = &t->map;
    const uint64_t image = s->plane / map->groups;
    const uint32_t group = (uint32_t)(s->plane - image * map->groups), rows = s->row1 - s->row0;
    const uint64_t row_bytes = (uint64_t)map->out_width * WINDOW_BLOCK;
    s->sides = op_min(t->index_groups - 2 * group, 2);
    if (rows == 0) {
        return;
    }
    window_copy_in(s->small, t->columns,
                   map->small + (s->plane * map->out_height + s->row0) * row_bytes, rows,
                   map->out_width);
    for (uint32_t side = 0; side < s->sides; side++) {
        const uint64_t part = image * t->index_groups + 2 * group + side;
        window_copy_in(s->numbers[side], t->columns,
                       map->index + (part * map->out_height + s->row0) * row_bytes, rows,
                       map->out_width);
    }
}

/* The gradient of `repeats` times 8 windows from `window` on in f32 where their number is `tap`,
 * else 0. */
OP_INLINE void choose(const struct op_pooling_spread_args *t, const struct spread *s,
                      uint32_t window, uint8_t repeats, float tap, uint32_t chosen)
{
    pipe_barrier(PIPE_V);
    for (uint32_t side = 0; side < s->sides; side++) {
        vcmpvs_eq((__ubuf__ uint8_t *)(uintptr_t)t->bits[side],
                  op_ub_f32(s->numbers[side] + window * WINDOW_BLOCK), tap, repeats, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t side = 0; side < s->sides; side++) {
        const uint32_t at = window * WIDE + side * WINDOW_BLOCK;
        set_selmask_addr((__ubuf__ uint8_t *)(uintptr_t)t->bits[side]);
        vsel(op_ub_f32(chosen + at), op_ub_f32(t->gradient + at), 0.0f, repeats, 2, 2, 1, 16, 16, 8,
             1);
    }
    pipe_barrier(PIPE_V);
}

/* Adds the gradient of rows [begin, end), counted from the piece's first, to sums from `to` on. */
OP_INLINE void add_rows(const struct op_pooling_spread_args *t, const struct spread *s,
                        uint32_t begin, uint32_t end, float tap, uint32_t to)
{
    const uint32_t window = begin * t->columns, windows = end * t->columns, from = window & ~7u;
    // Banks of the buffer: what is added is half a row of them from its sums.
    const uint32_t chosen = t->chosen + (to + BANK_ROW / 2 - t->chosen - window * WIDE) % BANK_ROW;
    choose(t, s, from, (uint8_t)((windows - from + 7) / 8), tap, chosen);
    vadd(op_ub_f32(to), op_ub_f32(to), op_ub_f32(chosen + window * WIDE),
         (uint8_t)((windows - window) / PIXELS), 1, 1, 1, 8, 8, 8);
}

/* From the last element to the first, so that an element's windows come in order. */
OP_INLINE void add_all(const struct op_pooling_spread_args *t, const struct spread *s)
{
    const struct op_window_args *map = &t->map;
    for (uint32_t y = map->kernel_h; y-- > 0;) {
        const uint32_t down = y * map->dilation_h, step = down / map->stride_h,
                       place = down - step * map->stride_h;
        // The row of windows that has this element in the first line, and the one past the last.
        const uint32_t begin = s->first < step ? 0 : s->first - step,
                       end = s->first + map->rows < step
                                 ? 0
                                 : op_min(s->first + map->rows - step, map->out_height);
        const uint32_t line = begin + step - s->first;
        for (uint32_t x = map->kernel_w; x-- > 0 && begin < end;) {
            const uint32_t right = x * map->dilation_w, along = right / map->stride_w,
                           column = right - along * map->stride_w;
            add_rows(t, s, begin - s->row0, end - s->row0, (float)(y * map->kernel_w + x),
                     (place * map->stride_w + column) * t->place_bytes +
                         (line * t->columns + along) * WIDE);
        }
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
    const uint32_t step = t->map.stride_w, repeats = t->map.rows * t->columns / PIXELS;
    uint32_t from = 0;
    for (uint32_t line = 0; line < t->map.stride_h; line++) {
        for (uint32_t column = 0; column < step; column++, from += t->place_bytes) {
            const uint32_t to =
                s->out + (line * t->map.rows * t->map.pitch + column) * WINDOW_BLOCK;
            vconv_f322f16(op_ub_f16(to), op_ub_f32(from), (uint8_t)repeats, (uint8_t)step, 1,
                          (uint8_t)(PIXELS * step), 8);
        }
    }
}

/* Lines leave UB by their places. */
OP_INLINE void store(const struct op_pooling_spread_args *t, const struct spread *s)
{
    const struct op_window_args *map = &t->map;
    for (uint32_t place = 0; place < map->stride_h; place++) {
        int32_t line = (int32_t)(s->first * map->stride_h + place) - (int32_t)map->pad_h;
        uint32_t missing = 0;
        for (; line < 0 && missing < map->rows; line += (int32_t)map->stride_h) {
            missing++;
        }
        if (line < 0 || line >= (int32_t)map->height) {
            continue;
        }
        const uint32_t left = (map->height - (uint32_t)line + map->stride_h - 1) / map->stride_h,
                       lines = op_min(left, map->rows - missing);
        const uint32_t from =
            s->out + ((place * map->rows + missing) * map->pitch + map->pad_w) * WINDOW_BLOCK;
        if (lines > 0) {
            copy_ubuf_to_gm((__gm__ void *)(map->large + (s->plane * map->height + (uint32_t)line) *
                                                             map->width * WINDOW_BLOCK),
                            (__ubuf__ void *)(uintptr_t)from, 0, (uint16_t)lines,
                            (uint16_t)map->width, (uint16_t)(map->pitch - map->width),
                            (uint16_t)((map->stride_h - 1) * map->width));
        }
    }
}

OP_INLINE void spread(const struct op_pooling_spread_args *t, const struct spread *s)
{
    pipe_barrier(PIPE_V); // the piece before has left its sums
    window_fill(0, t->gradient, 0);
    widen(t->gradient, s->small, ((s->row1 - s->row0) * t->columns + 7) / 8 * 2);
    if (s->sides == 1) {
        pipe_barrier(PIPE_V);
        window_fill(t->chosen, t->end, 0); // another plane's other half
    }
    add_all(t, s);
    pipe_barrier(PIPE_V);
    narrow(t, s);
}

__global__ __vector__ void pool_max_spread(struct op_pooling_spread_args args)
{
    const struct op_pooling_spread_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->map.per_block,
                   end = op_min64(first + t->map.per_block, t->map.pieces);
    const uint32_t step = t->map.rows * t->map.stride_h,
                   parts = (t->map.height + t->map.pad_h + step - 1) / step;
    uint32_t slot = 0;
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    window_fill(t->in, t->out, -1.0f); // no element has number -1
    op_begin_slots();
    for (uint64_t piece = first; piece < end; piece++, slot ^= 1) {
        struct spread s = spread_of(t, piece, parts, slot);
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        load(t, &s);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        spread(t, &s);
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        store(t, &s);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    op_end_slots();
}
