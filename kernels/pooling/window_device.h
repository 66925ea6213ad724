/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows over planes whose pixels are blocks of 32 bytes, so that a window's step is the distance
 * of blocks within an instruction: one instruction takes an element of all windows of a row.
 *
 * Flags, event = slot. V -> MTE2: slot free; MTE2 -> V: loaded; V -> MTE3: results ready; MTE3 ->
 * V: results stored.
 */
#pragma once

#include "../device/inline.h"
#include "../device/slots.h"

#include "window_args.h"

enum { WINDOW_BLOCK = 32 };

OP_INLINE void window_copy_in(uint32_t ub, uint32_t ub_pitch, uint64_t gm, uint32_t rows,
                              uint32_t blocks)
{
    copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)ub, (__gm__ void *)gm, 0, (uint16_t)rows,
                    (uint16_t)blocks, 0, (uint16_t)(ub_pitch - blocks));
}

OP_INLINE void window_copy_out(uint64_t gm, uint32_t ub, uint32_t ub_pitch, uint32_t rows,
                               uint32_t blocks)
{
    copy_ubuf_to_gm((__gm__ void *)gm, (__ubuf__ void *)(uintptr_t)ub, 0, (uint16_t)rows,
                    (uint16_t)blocks, (uint16_t)(ub_pitch - blocks), 0);
}

/* Rows are longer than what is loaded into them. Places are multiples of 256. */
OP_INLINE void window_fill(uint32_t begin, uint32_t end, float value)
{
    for (uint32_t at = begin; at < end; at += 255 * 256) {
        vector_dup(op_ub_f32(at), value, (uint8_t)(op_min(end - at, 255 * 256) / 256), 1, 1, 8, 8);
    }
}

/* All lanes, and `value` in both slots. */
OP_INLINE void window_begin(const struct op_window_args *t, float value)
{
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    window_fill(0, 2 * t->slot_bytes, value);
}

/** A piece of a map of windows: its plane, its rows, and the lines of `large` they lie over. */
struct window_piece {
    uint64_t plane;
    uint32_t row0, rows, line0, line1;
    int32_t top; /**< line of the first row's first element, also above the plane */
};

OP_INLINE struct window_piece window_piece_of(const struct op_window_args *t, uint64_t plane,
                                              uint32_t part)
{
    struct window_piece p = {.plane = plane, .row0 = part * t->rows};
    p.rows = op_min(t->rows, t->out_height - p.row0);
    p.top = (int32_t)(p.row0 * t->stride_h) - (int32_t)t->pad_h;
    const int32_t bottom =
        p.top + (int32_t)((p.rows - 1) * t->stride_h + (t->kernel_h - 1) * t->dilation_h);
    p.line0 = p.top < 0 ? 0 : (uint32_t)p.top;
    p.line1 = op_min(bottom < 0 ? 0 : (uint32_t)bottom + 1, t->height);
    p.line0 = op_min(p.line0, p.line1);
    return p;
}

OP_INLINE void window_load_lines(const struct op_window_args *t, const struct window_piece *p,
                                 uint32_t ub)
{
    if (p->line1 > p->line0) {
        window_copy_in(ub + t->pad_w * WINDOW_BLOCK, t->pitch,
                       t->large + (p->plane * t->height + p->line0) * t->width * WINDOW_BLOCK,
                       p->line1 - p->line0, t->width);
    }
}

/* Rows of windows that reach line `line`: [begin, end). */
OP_INLINE void window_rows_of(const struct op_window_args *t, uint32_t line, uint32_t *begin,
                              uint32_t *end)
{
    const uint32_t at = line + t->pad_h, reach = (t->kernel_h - 1) * t->dilation_h;
    *begin = at <= reach ? 0 : (at - reach + t->stride_h - 1) / t->stride_h;
    *end = op_min(at / t->stride_h + 1, t->out_height);
}

/** A piece of a gradient: lines of `large`, and the rows of windows that reach them. */
struct window_band {
    uint64_t plane;
    uint32_t line0, lines, row0, row1;
};

OP_INLINE struct window_band window_band_of(const struct op_window_args *t, uint64_t plane,
                                            uint32_t part)
{
    struct window_band band = {.plane = plane, .line0 = part * t->rows};
    uint32_t unused;
    band.lines = op_min(t->rows, t->height - band.line0);
    window_rows_of(t, band.line0, &band.row0, &unused);
    window_rows_of(t, band.line0 + band.lines - 1, &unused, &band.row1);
    return band;
}

/* The lines leave UB; then their slot is free. */
OP_INLINE void window_store_band(const struct op_window_args *t, const struct window_band *band,
                                 uint32_t ub, uint32_t slot)
{
    set_flag(PIPE_V, PIPE_MTE2, slot);
    set_flag(PIPE_V, PIPE_MTE3, slot);
    wait_flag(PIPE_V, PIPE_MTE3, slot);
    window_copy_out(t->large + (band->plane * t->height + band->line0) * t->width * WINDOW_BLOCK,
                    ub + t->pad_w * WINDOW_BLOCK, t->pitch, band->lines, t->width);
    set_flag(PIPE_MTE3, PIPE_V, slot);
}
