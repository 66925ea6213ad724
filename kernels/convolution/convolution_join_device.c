/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of a strided convolution's input gradient become one map: positions of a phase are
 * loaded into every stride_w-th place of a line in UB, and whole lines are stored. An instruction
 * loads one line of a phase; if sizes are multiples of the strides all lines of a piece, which then
 * stand in UB with those of the other phases of their row, and are stored with gaps.
 *
 * Flags, event = slot. MTE3 -> MTE2: stored; MTE2 -> MTE3: loaded; V -> MTE2 0: places of absent
 * phases are zero.
 */
#include "../device/inline.h"

#include "convolution_join_args.h"

/** Lines of a plane. */
struct piece {
    uint64_t plane;
    uint32_t first, lines;
};

OP_INLINE struct piece piece_at(const struct op_convolution_join_args *t, uint64_t index)
{
    const uint32_t pieces = (t->height + t->lines - 1) / t->lines;
    struct piece piece = {.plane = index / pieces};
    piece.first = (uint32_t)(index - piece.plane * pieces) * t->lines;
    piece.lines = op_min(t->lines, t->height - piece.first);
    return piece;
}

/* Positions of phase r along a dimension. */
OP_INLINE uint32_t positions(uint32_t size, uint32_t stride, uint32_t r)
{
    return (size - r + stride - 1) / stride;
}

OP_INLINE void load_phase(const struct op_convolution_join_args *t, const struct piece *piece,
                          uint32_t ub, uint32_t rh, uint32_t rw)
{
    const uint32_t rows = positions(t->height, t->stride_h, rh),
                   columns = positions(t->width, t->stride_w, rw), units = t->bytes / 32;
    uint64_t from =
        t->phase[rh][rw] + (piece->plane * rows + piece->first / t->stride_h) * columns * t->bytes;
    for (uint32_t line = rh; line < piece->lines; line += t->stride_h) {
        copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)(ub + (line * t->width + rw) * t->bytes),
                        (__gm__ void *)from, 0, (uint16_t)columns, (uint16_t)units, 0,
                        (uint16_t)((t->stride_w - 1) * units));
        from += columns * t->bytes;
    }
}

OP_INLINE void load_piece(const struct op_convolution_join_args *t, const struct piece *piece,
                          uint32_t slot)
{
    wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
    for (uint32_t rh = 0; rh < t->stride_h; rh++) {
        for (uint32_t rw = 0; rw < t->stride_w; rw++) {
            if (t->phase[rh][rw]) {
                load_phase(t, piece, slot * OP_CONVOLUTION_JOIN_SLOT, rh, rw);
            }
        }
    }
    set_flag(PIPE_MTE2, PIPE_MTE3, slot);
}

OP_INLINE void store_piece(const struct op_convolution_join_args *t, const struct piece *piece,
                           uint32_t slot)
{
    const uint64_t to =
        t->out + (piece->plane * t->height + piece->first) * t->width * (uint64_t)t->bytes;
    wait_flag(PIPE_MTE2, PIPE_MTE3, slot);
    copy_ubuf_to_gm((__gm__ void *)to,
                    (__ubuf__ void *)(uintptr_t)(slot * OP_CONVOLUTION_JOIN_SLOT), 0, 1,
                    (uint16_t)(piece->lines * t->width * t->bytes / 32), 0, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, slot);
}

/* Lines [first, first + lines) of the phases, one plane behind the other. */
OP_INLINE void load_even(const struct op_convolution_join_args *t, uint64_t first, uint32_t lines,
                         uint32_t ub)
{
    const uint32_t columns = t->width / t->stride_w, units = t->bytes / 32;
    for (uint32_t rh = 0; rh < t->stride_h; rh++, ub += OP_CONVOLUTION_JOIN_SLOT / t->stride_h) {
        for (uint32_t rw = 0; rw < t->stride_w; rw++) {
            const uint64_t from = t->phase[rh][rw];
            if (from) {
                copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)(ub + rw * t->bytes),
                                (__gm__ void *)(from + first * columns * t->bytes), 0,
                                (uint16_t)(lines * columns), (uint16_t)units, 0,
                                (uint16_t)((t->stride_w - 1) * units));
            }
        }
    }
}

OP_INLINE void store_even(const struct op_convolution_join_args *t, uint64_t first, uint32_t lines,
                          uint32_t ub)
{
    const uint32_t units = t->width * t->bytes / 32;
    for (uint32_t rh = 0; rh < t->stride_h; rh++, ub += OP_CONVOLUTION_JOIN_SLOT / t->stride_h) {
        copy_ubuf_to_gm(
            (__gm__ void *)(t->out + (first * t->stride_h + rh) * t->width * (uint64_t)t->bytes),
            (__ubuf__ void *)(uintptr_t)ub, 0, (uint16_t)lines, (uint16_t)units, 0,
            (uint16_t)((t->stride_h - 1) * units));
    }
}

OP_INLINE void join_even(const struct op_convolution_join_args *t)
{
    const uint64_t all = t->planes * (t->height / t->stride_h), block = (uint64_t)get_block_idx(),
                   begin = block * t->per_block - block * (block - 1) / 2 * t->less,
                   end = op_min64(begin + t->per_block - block * t->less, all);
    uint32_t slot = 0;
    for (uint64_t first = begin; first < end; first += t->lines, slot ^= 1) {
        const uint32_t lines = (uint32_t)op_min64(t->lines, end - first);
        wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
        load_even(t, first, lines, slot * OP_CONVOLUTION_JOIN_SLOT);
        set_flag(PIPE_MTE2, PIPE_MTE3, slot);
        wait_flag(PIPE_MTE2, PIPE_MTE3, slot);
        store_even(t, first, lines, slot * OP_CONVOLUTION_JOIN_SLOT);
        set_flag(PIPE_MTE3, PIPE_MTE2, slot);
    }
}

OP_INLINE void clear(void)
{
    enum { REPEATS = 128, BYTES = REPEATS * 256 };
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    for (uint32_t at = 0; at < 2 * OP_CONVOLUTION_JOIN_SLOT; at += BYTES) {
        vector_dup(op_ub_f32(at), 0.0f, REPEATS, 1, 1, 8, 8);
    }
    set_flag(PIPE_V, PIPE_MTE2, 0);
    wait_flag(PIPE_V, PIPE_MTE2, 0);
}

OP_INLINE void join_planes(const struct op_convolution_join_args *t)
{
    const uint64_t pieces = t->planes * ((t->height + t->lines - 1) / t->lines);
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block,
                   last = op_min64(first + t->per_block, pieces);
    uint32_t slot = 0;
    for (uint64_t i = first; i < last; i++, slot ^= 1) {
        const struct piece piece = piece_at(t, i);
        load_piece(t, &piece, slot);
        store_piece(t, &piece, slot);
    }
}

__global__ __vector__ void op_convolution_join(struct op_convolution_join_args args)
{
    const struct op_convolution_join_args t = args;
    clear();
    for (uint32_t slot = 0; slot < 2; slot++) {
        set_flag(PIPE_MTE3, PIPE_MTE2, slot);
    }
    if (t.even) {
        join_even(&t);
    } else {
        join_planes(&t);
    }
    for (uint32_t slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
    }
}
