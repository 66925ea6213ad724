/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions whose channels stand alone, on the vector unit, maps in NC1HWC0
 * (convolution_planes_args.h). A pixel's 16 channels are a block of 32 bytes; products of f16 are
 * added up in f32, element of the kernel by element, by an instruction that reads f16.
 *
 * Flags, event = slot. V -> MTE2: slot free; MTE2 -> V: loaded; V -> MTE3: results ready; MTE3 ->
 * V: results stored.
 */
#include "../device/inline.h"
#include "../device/overflow.h"
#include "../device/slots.h"

#include "convolution_planes_args.h"

enum {
    BLOCK = 32,
    WIDE = 64, /* a pixel of f32 */
    MAX_REPEATS = 255,
    PIXELS = 4, /* of a repeat */
};

struct piece {
    uint32_t group, image, images, row0, rows;
};

/* Lines of a phase that a map has, of those that a piece takes from `row0` on. */
struct span {
    uint32_t begin, end;
    uint32_t first; /* row of the map that `begin` is */
};

OP_INLINE struct span span_of(const struct op_planes_map *m, uint32_t phase, uint32_t row0,
                              uint32_t lines)
{
    struct span s = {0, 0, 0};
    const uint32_t above = m->pad_h > phase ? m->pad_h - phase : 0,
                   begin = (above + m->step_h - 1) / m->step_h,
                   end = m->height + m->pad_h > phase
                             ? (m->height + m->pad_h - phase - 1) / m->step_h + 1
                             : 0;
    const uint32_t last = op_min(end, row0 + lines);
    s.begin = begin > row0 ? begin - row0 : 0;
    s.end = last > row0 ? last - row0 : 0;
    s.begin = op_min(s.begin, s.end);
    s.first = (row0 + s.begin) * m->step_h + phase - m->pad_h;
    return s;
}

OP_INLINE uint32_t line_bytes(const struct op_planes_args *t, const struct op_planes_map *m)
{
    return m->step_w * t->pitch * BLOCK;
}

OP_INLINE uint32_t phase_bytes(const struct op_planes_args *t, const struct op_planes_map *m)
{
    return t->batch * t->lines * line_bytes(t, m);
}

/* Row `row` of the plane of a piece's image. */
OP_INLINE uint64_t row_at(const struct op_planes_args *t, const struct op_planes_map *m,
                          const struct piece *p, uint32_t image, uint32_t row)
{
    const uint64_t addr = m == &t->from ? t->from_addr : t->to_addr,
                   plane = (uint64_t)(p->image + image) * t->groups + p->group;
    return addr + (plane * m->height + row) * m->width * BLOCK;
}

OP_INLINE void fill(uint32_t at, uint32_t bytes)
{
    for (uint32_t done = 0; done < bytes; done += MAX_REPEATS * 256) {
        const uint32_t part = op_min(bytes - done, MAX_REPEATS * 256);
        vector_dup(op_ub_f32(at + done), 0.0f, (uint8_t)(part / 256), 1, 1, 8, 8);
    }
}

/* Lines of the slot that no row comes to: bands do not lie as those before them did. */
OP_INLINE void clear_lines(uint32_t at, uint32_t bytes)
{
    if (bytes > 0) {
        set_mask_count();
        set_vector_mask(0, bytes / 4);
        vector_dup(op_ub_f32(at), 0.0f, 1, 1, 1, 8, 8);
        set_mask_norm();
        set_vector_mask(~0ull, ~0ull);
    }
}

OP_INLINE void load(const struct op_planes_args *t, const struct op_planes_map *m,
                    const struct piece *p, uint32_t slot, uint32_t lines)
{
    const uint32_t line = line_bytes(t, m);
    for (uint32_t phase = 0; phase < m->phases; phase++) {
        const struct span s = span_of(m, phase, p->row0, lines);
        const uint32_t at = slot + phase * phase_bytes(t, m) + s.begin * line + m->pad_w * BLOCK;
        for (uint32_t i = 0; s.end > s.begin && i < p->images; i++) {
            copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)(at + i * t->lines * line),
                            (__gm__ void *)row_at(t, m, p, i, s.first), 0,
                            (uint16_t)(s.end - s.begin), (uint16_t)m->used,
                            (uint16_t)(m->step_h * m->width - m->used),
                            (uint16_t)(m->step_w * t->pitch - m->used));
        }
    }
}

OP_INLINE void clear(const struct op_planes_args *t, const struct op_planes_map *m,
                     const struct piece *p, uint32_t slot, uint32_t lines)
{
    const uint32_t line = line_bytes(t, m);
    for (uint32_t phase = 0; t->bands > 1 && phase < m->phases; phase++) {
        const struct span s = span_of(m, phase, p->row0, lines);
        const uint32_t at = slot + phase * phase_bytes(t, m);
        clear_lines(at, s.begin * line);
        clear_lines(at + s.end * line, (t->lines - s.end) * line);
    }
}

OP_INLINE void store(const struct op_planes_args *t, const struct op_planes_map *m,
                     const struct piece *p, uint32_t slot)
{
    const uint32_t line = line_bytes(t, m);
    for (uint32_t phase = 0; phase < m->step_h; phase++) {
        const struct span s = span_of(m, phase, p->row0, p->rows);
        const uint32_t at = slot + phase * phase_bytes(t, m) + s.begin * line + m->pad_w * BLOCK;
        for (uint32_t i = 0; s.end > s.begin && i < p->images; i++) {
            copy_ubuf_to_gm((__gm__ void *)row_at(t, m, p, i, s.first),
                            (__ubuf__ void *)(uintptr_t)(at + i * t->lines * line), 0,
                            (uint16_t)(s.end - s.begin), (uint16_t)m->width,
                            (uint16_t)(m->step_w * t->pitch - m->width),
                            (uint16_t)((m->step_h - 1) * m->width));
        }
    }
}

/* Where element (y, x) of the kernel reads: bytes from the slot of `from` on. */
OP_INLINE uint32_t source_of(const struct op_planes_args *t, uint32_t y, uint32_t x)
{
    const struct op_planes_map *m = &t->from;
    const uint32_t down = y * t->dilation_h, right = x * t->dilation_w;
    const uint32_t line = down / t->step_h, column = right / t->step_w;
    if (t->turned) {
        return (t->shift_h - line) * line_bytes(t, m) + (t->shift_w - column) * BLOCK;
    }
    return down % t->step_h * phase_bytes(t, m) + line * line_bytes(t, m) + right * BLOCK;
}

OP_INLINE void add_element(const struct op_planes_args *t, uint32_t repeats, uint32_t sums,
                           uint32_t in, uint32_t weight, uint32_t y, uint32_t x)
{
    const uint32_t step = t->from.step_w;
    const uint32_t phase =
        t->turned ? y * t->dilation_h % t->step_h * t->step_w + x * t->dilation_w % t->step_w : 0;
    const uint32_t to = sums + phase * t->sum_bytes, from = in + source_of(t, y, x);
    pipe_barrier(PIPE_V);
    for (uint32_t done = 0; done < repeats; done += MAX_REPEATS) {
        vmla(op_ub_f32(to + done * 256), op_ub_f16(from + done * PIXELS * step * BLOCK),
             op_ub_f16(weight), (uint8_t)op_min(repeats - done, MAX_REPEATS), 1, (uint8_t)step, 0,
             8, (uint8_t)(PIXELS * step), 0);
    }
}

/* Sums of all phases to f16, columns back in their order. */
OP_INLINE void narrow(const struct op_planes_args *t, uint32_t repeats, uint32_t sums, uint32_t out,
                      bool saturate)
{
    const struct op_planes_map *m = &t->to;
    pipe_barrier(PIPE_V);
    if (saturate) {
        leo_set_saturate(true);
    }
    for (uint32_t phase = 0; phase < m->step_h * m->step_w; phase++) {
        const uint32_t from = sums + phase * t->sum_bytes,
                       to = out + phase / m->step_w * phase_bytes(t, m) + phase % m->step_w * BLOCK;
        for (uint32_t done = 0; done < repeats; done += MAX_REPEATS) {
            vconv_f322f16(op_ub_f16(to + done * PIXELS * m->step_w * BLOCK),
                          op_ub_f32(from + done * 256),
                          (uint8_t)op_min(repeats - done, MAX_REPEATS), (uint8_t)m->step_w, 1,
                          (uint8_t)(PIXELS * m->step_w), 8);
        }
    }
    if (saturate) {
        leo_set_saturate(false);
    }
}

OP_INLINE uint32_t repeats_of(const struct op_planes_args *t, const struct piece *p)
{
    return ((p->images - 1) * t->lines + p->rows) * t->pitch / PIXELS;
}

OP_INLINE void begin_slots(uint32_t bytes)
{
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    fill(0, bytes);
    op_begin_slots();
}

__global__ __vector__ void planes_sum(struct op_planes_args args)
{
    const struct op_planes_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t taps = t->kernel_h * t->kernel_w, in_bytes = t->from.bytes + t->weight_bytes,
                   outs = 2 * in_bytes, sums = outs + 2 * t->to.bytes,
                   sum_bytes = t->to.step_h * t->to.step_w * t->sum_bytes;
    const bool saturate = op_infinite_begin();
    uint32_t slot = 0;
    begin_slots(2 * in_bytes);
    for (uint64_t number = first; number < end; number++, slot ^= 1) {
        const uint32_t plane = (uint32_t)(number / t->bands),
                       band = (uint32_t)(number - (uint64_t)plane * t->bands),
                       batch = plane / t->groups;
        const struct piece p = {
            .group = plane - batch * t->groups,
            .image = batch * t->batch,
            .images = op_min(t->batch, t->images - batch * t->batch),
            .row0 = band * t->rows,
            .rows = op_min(t->rows, t->all_rows - band * t->rows),
        };
        const uint32_t in = slot * in_bytes, weight = in + t->from.bytes,
                       out = outs + slot * t->to.bytes, repeats = repeats_of(t, &p);
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        load(t, &t->from, &p, in, p.rows + t->shift_h);
        copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)weight,
                        (__gm__ void *)(t->weight + (uint64_t)p.group * taps * BLOCK), 0, 1,
                        (uint16_t)taps, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        pipe_barrier(PIPE_V);
        fill(sums, sum_bytes);
        clear(t, &t->from, &p, in, p.rows + t->shift_h);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        for (uint32_t y = 0; y < t->kernel_h; y++) {
            for (uint32_t x = 0; x < t->kernel_w; x++) {
                const uint32_t tap = y * t->kernel_w + x;
                add_element(t, repeats, sums, in, weight + tap * BLOCK, y, x);
            }
        }
        set_flag(PIPE_V, PIPE_MTE2, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        narrow(t, repeats, sums, out, saturate);
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        store(t, &t->to, &p, out);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    op_end_slots();
}

/* Products of a piece, onto the sums of each element of the kernel. */
OP_INLINE void add_products(const struct op_planes_args *t, uint32_t repeats, uint32_t sums,
                            uint32_t x_at, uint32_t y_at)
{
    const uint32_t step = t->from.step_w, most = t->sum_bytes / 256, line = line_bytes(t, &t->from),
                   phase_step = phase_bytes(t, &t->from), right = t->dilation_w * BLOCK;
    for (uint32_t done = 0; done < repeats; done += most) {
        const uint8_t count = (uint8_t)op_min(repeats - done, most);
        uint32_t from = x_at + done * PIXELS * step * BLOCK, to = sums, phase = 0;
        pipe_barrier(PIPE_V);
        for (uint32_t y = 0; y < t->kernel_h; y++) {
            uint32_t at = from;
            for (uint32_t x = 0; x < t->kernel_w; x++, to += t->sum_bytes, at += right) {
                vmla(op_ub_f32(to), op_ub_f16(at), op_ub_f16(y_at), count, 1, (uint8_t)step, 1, 8,
                     (uint8_t)(PIXELS * step), PIXELS);
            }
            phase += t->dilation_h;
            from += t->dilation_h * phase_step;
            for (; phase >= t->step_h; phase -= t->step_h) {
                from += line - t->step_h * phase_step;
            }
        }
        y_at += most * PIXELS * BLOCK;
    }
}

/* Sums of each element of the kernel to one pixel, halves onto halves. */
OP_INLINE void fold(const struct op_planes_args *t, uint32_t taps, uint32_t sums)
{
    set_mask_count();
    for (uint32_t left = t->sum_bytes / 2; left >= WIDE; left /= 2) {
        set_vector_mask(0, left / 4);
        pipe_barrier(PIPE_V);
        for (uint32_t tap = 0; tap < taps; tap++) {
            const uint32_t at = sums + tap * t->sum_bytes;
            vadd(op_ub_f32(at), op_ub_f32(at), op_ub_f32(at + left), 1, 1, 1, 1, 8, 8, 8);
        }
    }
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
}

__global__ __vector__ void planes_products(struct op_planes_args args)
{
    const struct op_planes_args copy = args, *t = &copy;
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(first + t->per_block, t->pieces);
    const uint32_t taps = t->kernel_h * t->kernel_w, in_bytes = t->from.bytes + t->to.bytes,
                   sums = 2 * in_bytes, share = (t->images + t->parts - 1) / t->parts;
    uint32_t slot = 0;
    begin_slots(2 * in_bytes);
    for (uint64_t number = first; number < end; number++) {
        const uint32_t part = (uint32_t)(number / t->groups),
                       last = op_min((part + 1) * share, t->images);
        struct piece p = {.group = (uint32_t)(number - (uint64_t)part * t->groups)};
        wait_flag(PIPE_MTE3, PIPE_V, 0);
        pipe_barrier(PIPE_V);
        fill(sums, taps * t->sum_bytes);
        for (p.image = part * share; p.image < last; p.image += t->batch) {
            p.images = op_min(t->batch, last - p.image);
            for (p.row0 = 0; p.row0 < t->all_rows; p.row0 += t->rows, slot ^= 1) {
                const uint32_t x_at = slot * in_bytes, y_at = x_at + t->from.bytes;
                p.rows = op_min(t->rows, t->all_rows - p.row0);
                wait_flag(PIPE_V, PIPE_MTE2, slot);
                load(t, &t->from, &p, x_at, p.rows + t->shift_h);
                load(t, &t->to, &p, y_at, p.rows);
                set_flag(PIPE_MTE2, PIPE_V, slot);
                clear(t, &t->from, &p, x_at, p.rows + t->shift_h);
                wait_flag(PIPE_MTE2, PIPE_V, slot);
                add_products(t, repeats_of(t, &p), sums, x_at, y_at);
                set_flag(PIPE_V, PIPE_MTE2, slot);
            }
        }
        fold(t, taps, sums);
        set_flag(PIPE_V, PIPE_MTE3, 0);
        wait_flag(PIPE_V, PIPE_MTE3, 0);
        copy_ubuf_to_gm((__gm__ void *)(t->weight + number * taps * WIDE),
                        (__ubuf__ void *)(uintptr_t)sums, 0, (uint16_t)taps, WIDE / BLOCK,
                        (uint16_t)((t->sum_bytes - WIDE) / BLOCK), 0);
        set_flag(PIPE_MTE3, PIPE_V, 0);
    }
    op_end_slots();
}
