/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps in NC1HWC0 to f32 lanes of eight channels and back: of the two blocks of f32 that a position
 * has, one belongs to either plane of lanes.
 *
 * Flags, event = slot. MTE3 -> MTE2: both places of a slot free; MTE2 -> V: loaded; V -> MTE3:
 * ready.
 */
#include "../device/copy.h"
#include "../device/overflow.h"
#include "window_lanes_args.h"

enum {
    WIDE_BYTES = OP_LANES_TILE * 64, /* f32 of a tile */
    SIDE = WIDE_BYTES / 2,           /* of one plane of lanes */
    HALVES = 2 * WIDE_BYTES,         /* after two slots of lanes: two of stored blocks */
    WIDE = 4 * WIDE_BYTES,           /* between them */
};

struct piece {
    uint64_t blocks; /* elements */
    uint64_t lanes[2];
    uint32_t positions, sides;
};

OP_INLINE struct piece piece_of(const struct op_lanes_args *t, uint64_t index)
{
    const uint64_t pieces = (t->positions + OP_LANES_TILE - 1) / OP_LANES_TILE,
                   plane = index / pieces, first = (index - plane * pieces) * OP_LANES_TILE,
                   image = plane / t->groups, group = plane - image * t->groups;
    struct piece p;
    p.positions = (uint32_t)op_min64(OP_LANES_TILE, t->positions - first);
    p.blocks = (plane * t->positions + first) * 16;
    p.sides = 2 * group + 1 < t->lane_groups ? 2 : 1;
    for (uint32_t i = 0; i < 2; i++) {
        p.lanes[i] = ((image * t->lane_groups + 2 * group + i) * t->positions + first) * 8;
    }
    return p;
}

/* Instructions that follow take `count` elements. */
OP_INLINE uint8_t take(uint32_t count)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    return (uint8_t)((count + 63) / 64);
}

OP_INLINE void split_piece(const struct op_lanes_args *t, const struct piece *p, uint32_t slot,
                           bool half_type)
{
    const uint32_t unit = half_type ? 2 : 4, in = HALVES + slot * WIDE_BYTES,
                   out = slot * WIDE_BYTES, from = half_type ? WIDE : in;
    op_load(in, t->blocks + p->blocks * unit, p->positions * 16 * unit);
    set_flag(PIPE_MTE2, PIPE_V, slot);
    wait_flag(PIPE_MTE2, PIPE_V, slot);
    if (half_type) {
        const uint8_t repeats = take(p->positions * 16);
        vconv_f162f32(op_ub_f32(WIDE), op_ub_f16(in), repeats, 1, 1, 8, 4);
    }
    const uint8_t repeats = take(p->positions * 8);
    for (uint32_t i = 0; i < p->sides; i++) {
        vmuls(op_ub_f32(out + i * SIDE), op_ub_f32(from + i * 32), 1.0f, repeats, 1, 2, 8, 16);
    }
    set_flag(PIPE_V, PIPE_MTE3, slot);
    wait_flag(PIPE_V, PIPE_MTE3, slot);
    for (uint32_t i = 0; i < p->sides; i++) {
        op_store(t->lanes + p->lanes[i] * 4, out + i * SIDE, p->positions * 32);
    }
}

OP_INLINE void join_piece(const struct op_lanes_args *t, const struct piece *p, uint32_t slot,
                          bool half_type, bool saturate)
{
    const uint32_t unit = half_type ? 2 : 4, in = slot * WIDE_BYTES,
                   out = HALVES + slot * WIDE_BYTES, to = half_type ? WIDE : out;
    for (uint32_t i = 0; i < p->sides; i++) {
        op_load(in + i * SIDE, t->lanes + p->lanes[i] * 4, p->positions * 32);
    }
    set_flag(PIPE_MTE2, PIPE_V, slot);
    wait_flag(PIPE_MTE2, PIPE_V, slot);
    const uint8_t repeats = take(p->positions * 8);
    if (p->sides == 1) { // padding
        vector_dup(op_ub_f32(in + SIDE), 0.0f, repeats, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    }
    for (uint32_t i = 0; i < 2; i++) {
        vmuls(op_ub_f32(to + i * 32), op_ub_f32(in + i * SIDE), 1.0f, repeats, 2, 1, 16, 8);
    }
    if (half_type) {
        const uint8_t all = take(p->positions * 16);
        if (saturate) {
            leo_set_saturate(true);
        }
        vconv_f322f16(op_ub_f16(out), op_ub_f32(WIDE), all, 1, 1, 4, 8);
        if (saturate) {
            leo_set_saturate(false);
        }
    }
    set_flag(PIPE_V, PIPE_MTE3, slot);
    wait_flag(PIPE_V, PIPE_MTE3, slot);
    op_store(t->blocks + p->blocks * unit, out, p->positions * 16 * unit);
}

OP_INLINE void run(const struct op_lanes_args *t, bool split, bool half_type)
{
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, t->pieces);
    const bool saturate = op_infinite_begin();
    set_mask_count();
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
    uint32_t slot = 0;
    for (uint64_t i = begin; i < end; i++, slot ^= 1) {
        const struct piece p = piece_of(t, i);
        wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
        if (split) {
            split_piece(t, &p, slot, half_type);
        } else {
            join_piece(t, &p, slot, half_type, saturate);
        }
        set_flag(PIPE_MTE3, PIPE_MTE2, slot);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
}

__global__ __vector__ void lanes_split_f16(struct op_lanes_args args)
{
    const struct op_lanes_args t = args;
    run(&t, true, true);
}

__global__ __vector__ void lanes_split_f32(struct op_lanes_args args)
{
    const struct op_lanes_args t = args;
    run(&t, true, false);
}

__global__ __vector__ void lanes_join_f16(struct op_lanes_args args)
{
    const struct op_lanes_args t = args;
    run(&t, false, true);
}

__global__ __vector__ void lanes_join_f32(struct op_lanes_args args)
{
    const struct op_lanes_args t = args;
    run(&t, false, false);
}
