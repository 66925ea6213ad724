/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of batch norm over planes: rows of 64 or fewer lanes between memory and UB, with a block of
 * 32 bytes for each channel that instructions take again and again (block stride 0), and sums.
 *
 * Flags, by slot. MTE2 -> V 0..2: tile loaded; V (sums) or MTE3 -> MTE2 0..2: slot free.
 */
#pragma once

#include "../device/copy.h"
#include "../device/element.h"
#include "../device/gaps.h"
#include "../device/widen.h"
#include "batch_norm_planes_args.h"

enum {
    SLOTS = 3,
    RAW = OP_PLANE_TILE_BYTES,
    BLOCK = 32,   /* eight lanes of f32 */
    VECTOR = 256, /* 64 lanes */
    EVENT = 3,
    WIDE_X = SLOTS * 2 * RAW,  /* tiles of 16 bits as f32 */
    WIDE_G = WIDE_X + 2 * RAW, /* the same */
    LANES = WIDE_G + 2 * RAW,  /* 64 lanes of two sums of each channel */
    LANES_BYTES = 2 * OP_PLANE_WIDTH * VECTOR,
    PARTS = LANES,                 /* when joining: records */
    PRODUCTS = WIDE_X,             /* and what is made of them */
    NUMBERS = LANES + LANES_BYTES, /* f32 of each channel, see enum number */
    NUMBER_BYTES = OP_PLANE_WIDTH * 4,
    BLOCKS = NUMBERS + 16 * NUMBER_BYTES, /* blocks of each channel, see enum of_channel */
    BLOCKS_BYTES = OP_PLANE_WIDTH * BLOCK,
    COUNTS = BLOCKS + 5 * BLOCKS_BYTES, /* elements of each lane of a chunk's first plane */
    RECORD = COUNTS + BLOCK,            /* to be stored */
    RECORD_BYTES = (1 + 2 * OP_PLANE_WIDTH) * BLOCK,
};

enum number {
    MEAN,
    VARIANCE,
    INVERSE,
    WEIGHT,
    BIAS,
    RUNNING_MEAN,
    RUNNING_VARIANCE,
    SUM,
    PRODUCT,
    LOADED, /* those before come from memory */
    WORK = LOADED,
    OTHER,
    RESULT, /* four */
};

enum of_channel { CENTER, SCALE, SLOPE, SHIFT, TOTAL };

enum pass { PASS_SUMS, PASS_GRADIENT_SUMS, PASS_FORWARD, PASS_BACKWARD };

struct group {
    uint64_t index, first; /* first channel */
    uint32_t channels;
};

struct tile {
    struct group group;
    uint32_t index; /* of the group */
    uint64_t image, position;
    uint32_t images, positions, pitch, slot;
};

OP_INLINE uint32_t number_at(uint32_t which)
{
    return NUMBERS + which * NUMBER_BYTES;
}

OP_INLINE uint32_t blocks_at(enum of_channel which)
{
    return BLOCKS + (uint32_t)which * BLOCKS_BYTES;
}

OP_INLINE uint32_t unit_of(uint32_t type)
{
    return type == OP_TYPE_F32 ? 4 : 2;
}

OP_INLINE bool sums_only(enum pass pass)
{
    return pass == PASS_SUMS || pass == PASS_GRADIENT_SUMS;
}

OP_INLINE bool has_gradient(enum pass pass)
{
    return pass == PASS_GRADIENT_SUMS || pass == PASS_BACKWARD;
}

OP_INLINE struct group group_of(const struct op_planes_args *t, uint64_t index)
{
    const uint64_t first = index * t->width;
    return (struct group){index, first, (uint32_t)op_min64(t->width, t->channels - first)};
}

OP_INLINE struct tile tile_of(const struct op_planes_args *t, uint64_t item, uint32_t slot,
                              uint32_t type)
{
    struct tile tile;
    const uint64_t group = item / t->tiles;
    tile.group = group_of(t, group);
    tile.index = (uint32_t)(item - group * t->tiles);
    tile.image = (uint64_t)(tile.index / t->pieces) * t->tile_images;
    tile.images = (uint32_t)op_min64(t->tile_images, t->images - tile.image);
    tile.position = (uint64_t)(tile.index % t->pieces) * t->positions_each;
    tile.positions = (uint32_t)op_min64(t->positions_each, t->length - tile.position);
    tile.pitch = op_units(tile.positions * unit_of(type)) * (BLOCK / unit_of(type));
    tile.slot = slot;
    return tile;
}

/* Elements of a tile in UB before channel c of an image. */
OP_INLINE uint32_t row_of(const struct op_planes_args *t, const struct tile *tile, uint32_t image,
                          uint32_t c)
{
    return (image * t->width + c) * tile->pitch;
}

/* Instructions in counter mode: all that follow take `count` elements. Returns their repeats. */
OP_INLINE uint8_t take(uint32_t count)
{
    pipe_barrier(PIPE_V);
    set_mask_count();
    set_vector_mask(0, count);
    return (uint8_t)((count + 63) / 64);
}

/* The first `count` lanes of each repeat. */
OP_INLINE void take_lanes(uint32_t count)
{
    pipe_barrier(PIPE_V);
    set_mask_norm();
    set_vector_mask(0, count < 64 ? (UINT64_C(1) << count) - 1 : ~UINT64_C(0));
}

/* ---- tiles between memory and UB ---- */

OP_INLINE void load_tensor(const struct op_planes_args *t, const struct tile *tile, uint32_t to,
                           uint64_t from, uint32_t unit)
{
    const uint64_t plane = t->length * unit;
    const uint32_t bytes = tile->positions * unit, channels = tile->group.channels;
    from += (tile->image * t->channels + tile->group.first) * plane + tile->position * unit;
    if (tile->positions == t->length && bytes % BLOCK == 0 &&
        (tile->images == 1 || channels == t->width)) { // planes of an image lie side by side
        op_load_rows(to, from, tile->images, channels * bytes, t->channels * plane,
                     channels * bytes);
        return;
    }
    for (uint32_t i = 0; i < tile->images; i++) {
        op_load_rows(to + row_of(t, tile, i, 0) * unit, from + i * t->channels * plane, channels,
                     bytes, plane, tile->pitch * unit);
    }
}

OP_INLINE void store_tensor(const struct op_planes_args *t, const struct tile *tile, uint32_t from,
                            uint32_t unit)
{
    const uint64_t plane = t->length * unit;
    const uint32_t bytes = tile->positions * unit, channels = tile->group.channels;
    const uint64_t to =
        t->y + (tile->image * t->channels + tile->group.first) * plane + tile->position * unit;
    if (tile->positions == t->length && bytes % BLOCK == 0 &&
        (tile->images == 1 || channels == t->width)) {
        op_store_rows(to, from, tile->images, channels * bytes, t->channels * plane,
                      channels * bytes);
        return;
    }
    for (uint32_t i = 0; i < tile->images; i++) {
        op_store_rows(to + i * t->channels * plane, from + row_of(t, tile, i, 0) * unit, channels,
                      bytes, plane, tile->pitch * unit);
    }
}

OP_INLINE uint32_t raw_x(const struct tile *tile)
{
    return tile->slot * 2 * RAW;
}

OP_INLINE uint32_t raw_gradient(const struct tile *tile)
{
    return raw_x(tile) + RAW;
}

OP_INLINE void load_tile(const struct op_planes_args *t, const struct tile *tile, enum pass pass,
                         uint32_t type)
{
    const uint32_t unit = unit_of(type);
    if (sums_only(pass)) {
        wait_flag(PIPE_V, PIPE_MTE2, tile->slot);
    } else {
        wait_flag(PIPE_MTE3, PIPE_MTE2, tile->slot);
    }
    load_tensor(t, tile, raw_x(tile), t->x, unit);
    if (has_gradient(pass)) {
        load_tensor(t, tile, raw_gradient(tile), t->gradient, unit);
    }
    set_flag(PIPE_MTE2, PIPE_V, tile->slot);
}

/* All of a tile, gaps included. */
OP_INLINE uint8_t take_all(const struct op_planes_args *t, const struct tile *tile)
{
    return take(row_of(t, tile, tile->images, 0));
}

/* A loaded buffer as f32, and where that is. */
OP_INLINE uint32_t widen(uint32_t raw, uint32_t wide, uint8_t repeats, uint32_t type)
{
    if (type == OP_TYPE_F32) {
        return raw;
    }
    op_widen(wide, raw, type, repeats);
    return wide;
}

OP_INLINE void narrow(const struct op_planes_args *t, const struct tile *tile, uint32_t raw,
                      uint32_t wide, uint32_t type, bool saturate)
{
    op_clear_gaps(wide, tile->images * t->width, tile->positions, tile->pitch);
    const uint8_t repeats = take_all(t, tile);
    leo_set_saturate(saturate);
    op_narrow(raw, wide, type, repeats);
    leo_set_saturate(false);
}

/* ---- a tile's elements with what belongs to their channels ---- */

enum operation {
    SUBTRACT,   /* x -= CENTER */
    MOVE,       /* x = x * `factor` + SHIFT */
    ADD_SCALED, /* x = x * SCALE + other */
};

OP_INLINE void operate(enum operation what, enum of_channel factor, uint32_t at, uint32_t other,
                       uint32_t channel, uint8_t repeats, uint8_t pitch, uint8_t step)
{
    __ubuf__ float *x = op_ub_f32(at);
    const uint32_t offset = channel * BLOCK;
    if (what == SUBTRACT) {
        vsub(x, x, op_ub_f32(blocks_at(CENTER) + offset), repeats, 1, 1, 0, pitch, pitch, step);
    } else if (what == MOVE) {
        vmadd(x, op_ub_f32(blocks_at(factor) + offset), op_ub_f32(blocks_at(SHIFT) + offset),
              repeats, 1, 0, 0, pitch, step, step);
    } else {
        vmadd(x, op_ub_f32(blocks_at(SCALE) + offset), op_ub_f32(other), repeats, 1, 0, 1, pitch,
              step, pitch);
    }
}

/* On all rows: a row an instruction, or 64 columns of an image's rows, whichever is longer. */
OP_INLINE void combine(const struct op_planes_args *t, const struct tile *tile, enum operation what,
                       enum of_channel factor, uint32_t x, uint32_t other)
{
    const uint32_t channels = tile->group.channels, columns = (tile->positions + 63) / 64;
    if (columns >= channels) {
        const uint8_t repeats = take(tile->positions);
        for (uint32_t i = 0; i < tile->images; i++) {
            for (uint32_t c = 0; c < channels; c++) {
                const uint32_t at = row_of(t, tile, i, c) * 4;
                operate(what, factor, x + at, other + at, c, repeats, 8, 0);
            }
        }
        return;
    }
    for (uint32_t from = 0; from < tile->positions; from += 64) {
        take_lanes(tile->positions - from);
        for (uint32_t i = 0; i < tile->images; i++) {
            const uint32_t at = (row_of(t, tile, i, 0) + from) * 4;
            operate(what, factor, x + at, other + at, 0, (uint8_t)channels,
                    (uint8_t)(tile->pitch / 8), 1);
        }
    }
    set_mask_count();
}

/* Adds a row's elements, or products with another's, to 64 lanes: `repeats` with `pitch` blocks
 * between them. */
OP_INLINE void accumulate(uint32_t lanes, uint32_t a, uint32_t b, bool products, uint8_t repeats,
                          uint8_t pitch)
{
    __ubuf__ float *to = op_ub_f32(lanes);
    if (products) {
        vmla(to, op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 0, pitch, pitch);
    } else {
        vadd(to, to, op_ub_f32(a), repeats, 1, 1, 1, 0, 0, pitch);
    }
}

/* Adds a tile to its channels' lanes: along rows, or where images are more than the repeats of a
 * row, over the images. Instructions on other lanes lie between those on the same. */
OP_INLINE void add_lanes(const struct op_planes_args *t, const struct tile *tile, uint32_t lanes,
                         uint32_t a, uint32_t b, bool products)
{
    const uint32_t channels = tile->group.channels, columns = (tile->positions + 63) / 64,
                   image = t->width * tile->pitch / 8;
    if (tile->images > columns && image <= UINT8_MAX) {
        for (uint32_t from = 0; from < tile->positions; from += 64) {
            take_lanes(tile->positions - from);
            for (uint32_t c = 0; c < channels; c++) {
                const uint32_t at = (row_of(t, tile, 0, c) + from) * 4;
                accumulate(lanes + c * VECTOR, a + at, b + at, products, (uint8_t)tile->images,
                           (uint8_t)image);
            }
        }
        set_mask_count();
        return;
    }
    for (uint32_t i = 0; i < tile->images; i++) {
        const uint8_t repeats = take(tile->positions);
        for (uint32_t c = 0; c < channels; c++) {
            const uint32_t at = row_of(t, tile, i, c) * 4;
            accumulate(lanes + c * VECTOR, a + at, b + at, products, repeats, 8);
        }
    }
}
