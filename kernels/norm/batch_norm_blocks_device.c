/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm on maps in NC1HWC0. A repeat of the vector unit is four positions of 16 channels, so
 * sums are repeats added onto the same 64 lanes, and what belongs to a channel is a vector of 64
 * lanes that every repeat takes again.
 *
 * Flags, by slot. MTE2 -> V 0..2: tile loaded; V (sums) or MTE3 -> MTE2 0..2: slot free; V -> MTE3
 * 0..2: result ready. MTE2 -> V, V -> MTE2 3: channel numbers loaded, their place free. V -> MTE3,
 * MTE3 -> V 3: statistics ready, their place free; of the sums' two places 0, 1.
 */
#include "../device/copy.h"
#include "../device/overflow.h"
#include "batch_norm_blocks_args.h"

enum {
    SLOTS = 3,
    TILE = OP_BLOCKS_TILE * OP_BLOCKS_LANES, /* elements */
    VECTOR = 256,                            /* bytes of 64 lanes */
    GROUP = OP_BLOCKS_LANES * 4,             /* bytes of a group's numbers */
    NUMBERS = SLOTS * 2 * TILE * 4,          /* after the slots, which f16 fills by half */
    WIDE_X = SLOTS * 2 * TILE * 2,           /* of f16: tiles as f32, behind the smaller slots */
    WIDE_G = WIDE_X + TILE * 4,
    MEAN = NUMBERS, /* 64 lanes each */
    SCALE = MEAN + VECTOR,
    SLOPE = SCALE + VECTOR,
    SHIFT = SLOPE + VECTOR,
    SUMS = SHIFT + VECTOR,   /* two places of two vectors */
    RAW = SUMS + 4 * VECTOR, /* 16 lanes each from here on */
    WORK = RAW + 8 * GROUP,
    ONES = WORK + 8 * GROUP,
    RESULT = ONES + GROUP, /* four */
    PARTS = 0,             /* of the join: as many as a load takes */
    PARTS_MAX = 255,
};

/* The numbers of a group as they are loaded: their order in RAW. */
enum raw { RAW_SUM, RAW_SECOND, RAW_SCALE, RAW_OFFSET, RAW_MEAN, RAW_VARIANCE, RAW_RUNNING };

/* Where a tile lies. */
struct tile {
    uint64_t at; /* elements into the tensors */
    uint32_t images, positions, slot;
};

/* A chunk of a group. */
struct chunk {
    uint64_t group;
    uint32_t index;
    uint64_t image, end_image, position, end_position;
};

OP_INLINE uint32_t elements_of(const struct tile *tile)
{
    return tile->images * tile->positions * OP_BLOCKS_LANES;
}

OP_INLINE struct chunk chunk_of(const struct op_batch_norm_blocks_args *t, uint64_t item)
{
    struct chunk c;
    c.group = item / t->chunks;
    c.index = (uint32_t)(item - c.group * t->chunks);
    c.image = (uint64_t)(c.index / t->pieces) * t->images_each;
    c.end_image = op_min64(c.image + t->images_each, t->images);
    c.position = (uint64_t)(c.index % t->pieces) * t->positions_each;
    c.end_position = op_min64(c.position + t->positions_each, t->positions);
    return c;
}

/* A block's chunks: shares that differ by one at most. */
OP_INLINE uint64_t share_begin(const struct op_batch_norm_blocks_args *t, uint64_t block)
{
    return t->groups * t->chunks * block / (uint64_t)get_block_num();
}

/* Instructions in counter mode: all that follow take `count` elements. Returns their repeats. */
OP_INLINE uint8_t take(uint32_t count)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    return (uint8_t)((count + 63) / 64);
}

OP_INLINE void load_tensor(const struct op_batch_norm_blocks_args *t, const struct tile *tile,
                           uint32_t to, uint64_t from, uint32_t unit)
{
    const uint32_t bytes = tile->positions * OP_BLOCKS_LANES * unit;
    op_load_rows(to, from + tile->at * unit, tile->images, bytes,
                 t->groups * t->positions * OP_BLOCKS_LANES * unit, bytes);
}

OP_INLINE void store_tensor(const struct op_batch_norm_blocks_args *t, const struct tile *tile,
                            uint32_t from, uint32_t unit)
{
    const uint32_t bytes = tile->positions * OP_BLOCKS_LANES * unit;
    op_store_rows(t->y + tile->at * unit, from, tile->images, bytes,
                  t->groups * t->positions * OP_BLOCKS_LANES * unit, bytes);
}

/* The tile's tensors in its slot as f32, and where they are then. */
struct values {
    uint32_t raw, x, gradient;
};

OP_INLINE struct values load_tile(const struct op_batch_norm_blocks_args *t,
                                  const struct tile *tile, bool summing, bool gradient,
                                  bool half_type)
{
    const uint32_t unit = half_type ? 2 : 4, x = tile->slot * 2 * TILE * unit, g = x + TILE * unit;
    if (summing) {
        wait_flag(PIPE_V, PIPE_MTE2, tile->slot);
    } else {
        wait_flag(PIPE_MTE3, PIPE_MTE2, tile->slot);
    }
    load_tensor(t, tile, x, t->x, unit);
    if (gradient) {
        load_tensor(t, tile, g, t->gradient, unit);
    }
    set_flag(PIPE_MTE2, PIPE_V, tile->slot);
    wait_flag(PIPE_MTE2, PIPE_V, tile->slot);
    return (struct values){x, x, g};
}

/* As f32, for what comes next; `repeats` are those of the tile. */
OP_INLINE void widen(struct values *v, bool gradient, uint8_t repeats)
{
    vconv_f162f32(op_ub_f32(WIDE_X), op_ub_f16(v->x), repeats, 1, 1, 8, 4);
    if (gradient) {
        vconv_f162f32(op_ub_f32(WIDE_G), op_ub_f16(v->gradient), repeats, 1, 1, 8, 4);
    }
    v->x = WIDE_X;
    v->gradient = WIDE_G;
    pipe_barrier(PIPE_V);
}

/* ---- numbers of a group ---- */

OP_INLINE uint32_t raw_at(enum raw which)
{
    return RAW + (uint32_t)which * GROUP;
}

OP_INLINE void load_raw(const struct op_batch_norm_blocks_args *t, const struct chunk *c,
                        uint64_t from, enum raw which)
{
    if (from) {
        const uint64_t first = c->group * OP_BLOCKS_LANES,
                       count = op_min64(OP_BLOCKS_LANES, t->channels - first);
        op_load(raw_at(which), from + first * 4, (uint32_t)count * 4);
    }
}

/* The running statistics are of the block alone that writes them. */
OP_INLINE void load_numbers(const struct op_batch_norm_blocks_args *t, const struct chunk *c)
{
    wait_flag(PIPE_V, PIPE_MTE2, 3);
    load_raw(t, c, t->sums[0], RAW_SUM);
    load_raw(t, c, t->sums[1], RAW_SECOND);
    load_raw(t, c, t->scale, RAW_SCALE);
    load_raw(t, c, t->offset, RAW_OFFSET);
    load_raw(t, c, t->mean, RAW_MEAN);
    load_raw(t, c, t->variance, RAW_VARIANCE);
    if (c->index == 0) {
        load_raw(t, c, t->running[0], RAW_RUNNING);
        load_raw(t, c, t->running[1], (enum raw)(RAW_RUNNING + 1));
    }
    set_flag(PIPE_MTE2, PIPE_V, 3);
    wait_flag(PIPE_MTE2, PIPE_V, 3);
    // Lanes beyond the last channel are 0, as padding is.
    const uint64_t left = t->channels - c->group * OP_BLOCKS_LANES;
    if (left < OP_BLOCKS_LANES) {
        set_mask_norm();
        set_vector_mask(0, 0xffff ^ ((UINT64_C(1) << left) - 1));
        vector_dup(op_ub_f32(raw_at(RAW_SUM)), 0.0f, 8, 1, 1, 2, 0);
        set_mask_count();
    }
    (void)take(OP_BLOCKS_LANES);
}

OP_INLINE void free_numbers(void)
{
    set_flag(PIPE_V, PIPE_MTE2, 3);
}

/* Sixteen lanes, in counter mode. */
OP_INLINE void multiply(uint32_t to, uint32_t a, uint32_t b)
{
    vmul(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), 1, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
}

OP_INLINE void scale_by(uint32_t to, uint32_t a, float b)
{
    vmuls(op_ub_f32(to), op_ub_f32(a), b, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
}

/* to = 1 / sqrt(variance + eps) */
OP_INLINE void invert(const struct op_batch_norm_blocks_args *t, uint32_t to, uint32_t variance)
{
    vadds(op_ub_f32(to), op_ub_f32(variance), t->eps, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vsqrt(op_ub_f32(to), op_ub_f32(to), 1, 1, 1, 8, 8);
    vector_dup(op_ub_f32(ONES), 1.0f, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vdiv(op_ub_f32(to), op_ub_f32(ONES), op_ub_f32(to), 1, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
}

/* Sixteen lanes four times. */
OP_INLINE void spread(uint32_t to, uint32_t from)
{
    set_mask_norm();
    set_vector_mask(0, 0xffff);
    vmuls(op_ub_f32(to), op_ub_f32(from), 1.0f, 4, 1, 1, 2, 0);
    set_mask_count();
    (void)take(OP_BLOCKS_LANES);
}

/* Mean and biased variance of the sums. */
OP_INLINE void find_moments(const struct op_batch_norm_blocks_args *t, const struct chunk *c)
{
    const uint32_t mean = raw_at(RAW_MEAN), variance = raw_at(RAW_VARIANCE);
    scale_by(mean, raw_at(RAW_SUM), t->inverse_count);
    scale_by(variance, raw_at(RAW_SECOND), t->inverse_count);
    multiply(WORK, mean, mean);
    vsub(op_ub_f32(variance), op_ub_f32(variance), op_ub_f32(WORK), 1, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vmaxs(op_ub_f32(variance), op_ub_f32(variance), 0.0f, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
}

/* to = running + factor * (batch * correction - running), as (1 - factor) * running + ... */
OP_INLINE void move_toward(const struct op_batch_norm_blocks_args *t, uint32_t to, uint32_t running,
                           uint32_t batch, float correction)
{
    scale_by(WORK, batch, t->factor * correction);
    scale_by(WORK + GROUP, running, 1 - t->factor);
    vadd(op_ub_f32(to), op_ub_f32(WORK + GROUP), op_ub_f32(WORK), 1, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
}

OP_INLINE void store_statistics(const struct op_batch_norm_blocks_args *t, const struct chunk *c)
{
    const uint32_t mean = raw_at(RAW_MEAN), variance = raw_at(RAW_VARIANCE);
    const uint64_t to = c->group * GROUP;
    wait_flag(PIPE_MTE3, PIPE_V, 3);
    scale_by(RESULT, mean, 1.0f);
    scale_by(RESULT + GROUP, variance, 1.0f);
    move_toward(t, RESULT + 2 * GROUP, raw_at(RAW_RUNNING), mean, 1);
    move_toward(t, RESULT + 3 * GROUP, raw_at((enum raw)(RAW_RUNNING + 1)), variance, t->unbiased);
    set_flag(PIPE_V, PIPE_MTE3, 3);
    wait_flag(PIPE_V, PIPE_MTE3, 3);
    op_store(t->batch_out[0] + to, RESULT, GROUP);
    op_store(t->batch_out[1] + to, RESULT + GROUP, GROUP);
    op_store(t->running_out[0] + to, RESULT + 2 * GROUP, GROUP);
    op_store(t->running_out[1] + to, RESULT + 3 * GROUP, GROUP);
    set_flag(PIPE_MTE3, PIPE_V, 3);
}

/* y = (x - MEAN) * SCALE + SHIFT */
OP_INLINE void make_forward(const struct op_batch_norm_blocks_args *t, const struct chunk *c)
{
    load_numbers(t, c);
    if (t->sums[0]) {
        find_moments(t, c);
        if (c->index == 0) {
            store_statistics(t, c);
        }
    }
    invert(t, WORK, raw_at(RAW_VARIANCE));
    multiply(WORK, WORK, raw_at(RAW_SCALE));
    spread(MEAN, raw_at(RAW_MEAN));
    spread(SCALE, WORK);
    spread(SHIFT, raw_at(RAW_OFFSET));
    free_numbers();
}

/* y = gradient * SCALE + ((x - MEAN) * SLOPE + SHIFT); the sums are the gradients of scale and
 * offset. */
OP_INLINE void make_backward(const struct op_batch_norm_blocks_args *t, const struct chunk *c)
{
    const uint32_t inverse = WORK, scale = WORK + GROUP, slope = WORK + 2 * GROUP,
                   shift = WORK + 3 * GROUP;
    load_numbers(t, c);
    invert(t, inverse, raw_at(RAW_VARIANCE));
    multiply(scale, inverse, raw_at(RAW_SCALE));
    scale_by(slope, scale, -t->inverse_count);
    multiply(shift, slope, raw_at(RAW_SECOND));
    multiply(slope, slope, inverse);
    multiply(slope, slope, raw_at(RAW_SUM));
    spread(MEAN, raw_at(RAW_MEAN));
    spread(SCALE, scale);
    spread(SLOPE, slope);
    spread(SHIFT, shift);
    free_numbers();
}

/* ---- tiles ---- */

/* x = x - MEAN */
OP_INLINE void center(uint32_t x, uint8_t repeats)
{
    vsub(op_ub_f32(x), op_ub_f32(x), op_ub_f32(MEAN), repeats, 1, 1, 1, 8, 8, 0);
    pipe_barrier(PIPE_V);
}

OP_INLINE void apply_tile(const struct op_batch_norm_blocks_args *t, const struct tile *tile,
                          bool backward, bool half_type)
{
    struct values v = load_tile(t, tile, false, backward, half_type);
    const uint8_t repeats = take(elements_of(tile));
    if (half_type) {
        widen(&v, backward, repeats);
    }
    __ubuf__ float *x = op_ub_f32(v.x), *g = op_ub_f32(v.gradient);
    center(v.x, repeats);
    vmadd(x, op_ub_f32(backward ? SLOPE : SCALE), op_ub_f32(SHIFT), repeats, 1, 1, 1, 8, 0, 0);
    if (backward) {
        pipe_barrier(PIPE_V);
        vmadd(g, op_ub_f32(SCALE), x, repeats, 1, 1, 1, 8, 0, 8);
        v.x = v.gradient;
        v.raw = half_type ? v.raw : v.gradient;
    }
    if (half_type) {
        pipe_barrier(PIPE_V);
        vconv_f322f16(op_ub_f16(v.raw), op_ub_f32(v.x), repeats, 1, 1, 4, 8);
    }
    set_flag(PIPE_V, PIPE_MTE3, tile->slot);
    wait_flag(PIPE_V, PIPE_MTE3, tile->slot);
    store_tensor(t, tile, v.raw, half_type ? 2 : 4);
    set_flag(PIPE_MTE3, PIPE_MTE2, tile->slot);
}

/* Adds x and x * x, or the gradient and gradient * (x - MEAN), to the lanes at `sums`. */
OP_INLINE void add_tile(const struct op_batch_norm_blocks_args *t, const struct tile *tile,
                        uint32_t sums, bool backward, bool half_type)
{
    struct values v = load_tile(t, tile, true, backward, half_type);
    const uint8_t repeats = take(elements_of(tile));
    __ubuf__ float *first = op_ub_f32(sums), *second = op_ub_f32(sums + VECTOR);
    if (!backward && half_type) { // products of halves are exact in f32
        vaxpy(first, op_ub_f16(v.x), (half)1.0f, repeats, 1, 1, 0, 4);
        vmla(second, op_ub_f16(v.x), op_ub_f16(v.x), repeats, 1, 1, 1, 0, 4, 4);
    } else {
        if (half_type) {
            widen(&v, backward, repeats);
        }
        const uint32_t a = backward ? v.gradient : v.x;
        vadd(first, first, op_ub_f32(a), repeats, 1, 1, 1, 0, 0, 8);
        if (backward) {
            center(v.x, repeats);
        }
        vmla(second, op_ub_f32(a), op_ub_f32(v.x), repeats, 1, 1, 1, 0, 8, 8);
    }
    set_flag(PIPE_V, PIPE_MTE2, tile->slot);
}

/* The four positions of a repeat become one; two rows of 16 lanes leave. */
OP_INLINE void store_sums(const struct op_batch_norm_blocks_args *t, const struct chunk *c,
                          uint32_t place, uint32_t sums)
{
    set_mask_norm();
    for (uint32_t width = 32; width >= OP_BLOCKS_LANES; width /= 2) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, (UINT64_C(1) << width) - 1);
        vadd(op_ub_f32(sums), op_ub_f32(sums), op_ub_f32(sums + width * 4), 2, 1, 1, 1, 8, 8, 8);
    }
    set_mask_count();
    set_flag(PIPE_V, PIPE_MTE3, place);
    wait_flag(PIPE_V, PIPE_MTE3, place);
    op_store_rows(t->parts + (c->group * t->chunks + c->index) * 2 * GROUP, sums, 2, GROUP, GROUP,
                  VECTOR);
    set_flag(PIPE_MTE3, PIPE_V, place);
}

enum pass { PASS_SUMS, PASS_GRADIENT_SUMS, PASS_FORWARD, PASS_BACKWARD };

/* What a group's tiles need, once for each group of a block. */
OP_INLINE void begin_group(const struct op_batch_norm_blocks_args *t, const struct chunk *c,
                           enum pass pass)
{
    if (pass == PASS_FORWARD) {
        make_forward(t, c);
    } else if (pass == PASS_BACKWARD) {
        make_backward(t, c);
    } else if (pass == PASS_GRADIENT_SUMS) {
        load_numbers(t, c);
        spread(MEAN, raw_at(RAW_MEAN));
        free_numbers();
    }
}

OP_INLINE void begin_flags(bool summing)
{
    set_mask_count();
    set_flag(PIPE_V, PIPE_MTE2, 3);
    set_flag(PIPE_MTE3, PIPE_V, 3);
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (summing) {
            set_flag(PIPE_V, PIPE_MTE2, i);
        } else {
            set_flag(PIPE_MTE3, PIPE_MTE2, i);
        }
    }
    for (uint32_t i = 0; summing && i < 2; i++) {
        set_flag(PIPE_MTE3, PIPE_V, i);
    }
}

OP_INLINE void end_flags(bool summing)
{
    wait_flag(PIPE_V, PIPE_MTE2, 3);
    wait_flag(PIPE_MTE3, PIPE_V, 3);
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (summing) {
            wait_flag(PIPE_V, PIPE_MTE2, i);
        } else {
            wait_flag(PIPE_MTE3, PIPE_MTE2, i);
        }
    }
    for (uint32_t i = 0; summing && i < 2; i++) {
        wait_flag(PIPE_MTE3, PIPE_V, i);
    }
}

/* Tiles of a chunk: whole images together where they are small. */
OP_INLINE void run_chunk(const struct op_batch_norm_blocks_args *t, const struct chunk *c,
                         uint32_t sums, uint32_t *slot, enum pass pass, bool half_type)
{
    for (uint64_t image = c->image; image < c->end_image; image += t->tile_images) {
        for (uint64_t at = c->position; at < c->end_position; at += t->tile_positions) {
            struct tile tile;
            tile.images = (uint32_t)op_min64(t->tile_images, c->end_image - image);
            tile.positions = (uint32_t)op_min64(t->tile_positions, c->end_position - at);
            tile.at = ((image * t->groups + c->group) * t->positions + at) * OP_BLOCKS_LANES;
            tile.slot = *slot;
            *slot = *slot + 1 == SLOTS ? 0 : *slot + 1;
            if (pass == PASS_SUMS || pass == PASS_GRADIENT_SUMS) {
                add_tile(t, &tile, sums, pass == PASS_GRADIENT_SUMS, half_type);
            } else {
                apply_tile(t, &tile, pass == PASS_BACKWARD, half_type);
            }
        }
    }
}

OP_INLINE void run(const struct op_batch_norm_blocks_args *t, enum pass pass, bool half_type)
{
    const bool summing = pass == PASS_SUMS || pass == PASS_GRADIENT_SUMS;
    const uint64_t begin = share_begin(t, (uint64_t)get_block_idx()),
                   end = share_begin(t, (uint64_t)get_block_idx() + 1);
    uint64_t group = UINT64_MAX;
    uint32_t slot = 0, place = 0;
    if (!half_type) {
        (void)op_infinite_begin(); // f32 keeps what is not finite
    }
    begin_flags(summing);
    for (uint64_t item = begin; item < end; item++, place ^= 1) {
        const struct chunk c = chunk_of(t, item);
        const uint32_t sums = SUMS + place * 2 * VECTOR;
        if (c.group != group) {
            group = c.group;
            begin_group(t, &c, pass);
        }
        if (summing) {
            wait_flag(PIPE_MTE3, PIPE_V, place);
            (void)take(2 * VECTOR / 4);
            vector_dup(op_ub_f32(sums), 0.0f, 2, 1, 1, 8, 8);
        }
        run_chunk(t, &c, sums, &slot, pass, half_type);
        if (summing) {
            store_sums(t, &c, place, sums);
        }
    }
    end_flags(summing);
}

/* ---- the parts of all chunks, in their order ---- */

OP_INLINE void add_parts(const struct op_batch_norm_blocks_args *t, uint64_t group)
{
    set_mask_norm();
    set_vector_mask(0, UINT32_MAX);
    wait_flag(PIPE_MTE3, PIPE_V, 3);
    vector_dup(op_ub_f32(SUMS), 0.0f, 1, 1, 1, 8, 8);
    for (uint32_t done = 0; done < t->chunks; done += PARTS_MAX) {
        const uint32_t some = op_min(PARTS_MAX, t->chunks - done);
        wait_flag(PIPE_V, PIPE_MTE2, 0);
        op_load(PARTS, t->parts + (group * t->chunks + done) * 2 * GROUP, some * 2 * GROUP);
        set_flag(PIPE_MTE2, PIPE_V, 0);
        wait_flag(PIPE_MTE2, PIPE_V, 0);
        pipe_barrier(PIPE_V);
        vadd(op_ub_f32(SUMS), op_ub_f32(SUMS), op_ub_f32(PARTS), (uint8_t)some, 1, 1, 1, 0, 0, 4);
        set_flag(PIPE_V, PIPE_MTE2, 0);
    }
    set_mask_count();
    (void)take(OP_BLOCKS_LANES);
}

/* sums[0] = the first ones, sums[1] = the second ones, times 1 / deviation if there is a variance.
 */
__global__ __vector__ void blocks_join(struct op_batch_norm_blocks_args args)
{
    const struct op_batch_norm_blocks_args t = args;
    (void)op_infinite_begin();
    set_mask_count();
    set_flag(PIPE_V, PIPE_MTE2, 0);
    set_flag(PIPE_V, PIPE_MTE2, 3);
    set_flag(PIPE_MTE3, PIPE_V, 3);
    struct op_batch_norm_blocks_args in = t; // what is loaded: the variance alone
    in.sums[0] = in.sums[1] = 0;
    for (uint64_t group = (uint64_t)get_block_idx(); group < t.groups;
         group += (uint64_t)get_block_num()) {
        const struct chunk c = {.group = group, .index = 1};
        add_parts(&t, group);
        if (t.variance) {
            load_numbers(&in, &c);
            invert(&t, WORK, raw_at(RAW_VARIANCE));
            multiply(SUMS + GROUP, SUMS + GROUP, WORK);
            free_numbers();
        }
        set_flag(PIPE_V, PIPE_MTE3, 3);
        wait_flag(PIPE_V, PIPE_MTE3, 3);
        op_store(t.sums[0] + group * GROUP, SUMS, GROUP);
        if (t.sums[1]) {
            op_store(t.sums[1] + group * GROUP, SUMS + GROUP, GROUP);
        }
        set_flag(PIPE_MTE3, PIPE_V, 3);
    }
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    wait_flag(PIPE_V, PIPE_MTE2, 3);
    wait_flag(PIPE_MTE3, PIPE_V, 3);
}

__global__ __vector__ void blocks_sums_f16(struct op_batch_norm_blocks_args args)
{
    const struct op_batch_norm_blocks_args t = args;
    run(&t, PASS_SUMS, true);
}

__global__ __vector__ void blocks_sums_f32(struct op_batch_norm_blocks_args args)
{
    const struct op_batch_norm_blocks_args t = args;
    run(&t, PASS_SUMS, false);
}

__global__ __vector__ void blocks_gradient_sums_f16(struct op_batch_norm_blocks_args args)
{
    const struct op_batch_norm_blocks_args t = args;
    run(&t, PASS_GRADIENT_SUMS, true);
}

__global__ __vector__ void blocks_gradient_sums_f32(struct op_batch_norm_blocks_args args)
{
    const struct op_batch_norm_blocks_args t = args;
    run(&t, PASS_GRADIENT_SUMS, false);
}

__global__ __vector__ void blocks_forward_f16(struct op_batch_norm_blocks_args args)
{
    const struct op_batch_norm_blocks_args t = args;
    run(&t, PASS_FORWARD, true);
}

__global__ __vector__ void blocks_forward_f32(struct op_batch_norm_blocks_args args)
{
    const struct op_batch_norm_blocks_args t = args;
    run(&t, PASS_FORWARD, false);
}

__global__ __vector__ void blocks_backward_f16(struct op_batch_norm_blocks_args args)
{
    const struct op_batch_norm_blocks_args t = args;
    run(&t, PASS_BACKWARD, true);
}

__global__ __vector__ void blocks_backward_f32(struct op_batch_norm_blocks_args args)
{
    const struct op_batch_norm_blocks_args t = args;
    run(&t, PASS_BACKWARD, false);
}
