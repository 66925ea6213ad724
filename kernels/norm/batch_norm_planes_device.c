/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm over planes, in two launches a direction: sums of chunks, then all chunks of a group
 * joined by every block that makes tiles of it. What belongs to a channel is a block of 32 bytes in
 * UB that instructions take again and again (block stride 0).
 *
 * f32 results are (x - mean) * scale + shift; of 16 bits x * scale + (shift - mean * scale), a pass
 * less, whose error is a rounding of f32 at mean * scale.
 *
 * Flags beside those of its headers. V -> MTE3 0..2: the slot's result is ready.
 */
#include "batch_norm_planes_numbers_device.h"

/* ---- numbers of a group before its tiles ---- */

/* to = (1 - momentum) * running + momentum * batch */
OP_INLINE void move_toward(const struct op_planes_args *t, uint32_t to, enum number running,
                           enum number batch, float correction)
{
    scale_by(t, number_at(WORK), number_at(batch), t->momentum * correction);
    scale_by(t, to, number_at(running), 1 - t->momentum);
    add(t, to, to, number_at(WORK));
}

OP_INLINE void begin_results(void)
{
    wait_flag(PIPE_MTE3, PIPE_V, EVENT);
}

OP_INLINE void store_results(const struct op_planes_args *t, const struct group *g,
                             const uint64_t *to)
{
    set_flag(PIPE_V, PIPE_MTE3, EVENT);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT);
    for (uint32_t i = 0; i < 4; i++) {
        store_numbers(g, to[i], number_at(RESULT + i));
    }
    set_flag(PIPE_MTE3, PIPE_V, EVENT);
}

OP_INLINE void give_statistics(const struct op_planes_args *t, const struct group *g)
{
    const uint64_t to[] = {t->out[0], t->out[1], t->running_out[0], t->running_out[1]};
    begin_results();
    scale_by(t, number_at(RESULT), number_at(MEAN), 1);
    scale_by(t, number_at(RESULT + 1), number_at(t->inverse_out ? INVERSE : VARIANCE), 1);
    if (t->running[0]) {
        move_toward(t, number_at(RESULT + 2), RUNNING_MEAN, MEAN, 1);
    }
    if (t->running[1]) {
        move_toward(t, number_at(RESULT + 3), RUNNING_VARIANCE, VARIANCE, t->unbiased);
    }
    store_results(t, g, to);
}

/* Numbers that both directions need; those that are absent are filled in. */
OP_INLINE void begin_numbers(const struct op_planes_args *t, const struct group *g,
                             struct records *r, bool backward, bool writes)
{
    wait_flag(PIPE_V, PIPE_MTE2, EVENT);
    if (t->parts) {
        load_records(t, g, r, 0);
    }
    load_numbers(g, t->mean, MEAN);
    load_numbers(g, t->second, t->inverse ? INVERSE : VARIANCE);
    load_numbers(g, t->weight, WEIGHT);
    if (backward) {
        load_numbers(g, t->sums[0], SUM);
        load_numbers(g, t->sums[1], PRODUCT);
    } else {
        load_numbers(g, t->bias, BIAS);
    }
    if (writes && !backward) { // the running statistics are of the block alone that writes them
        load_numbers(g, t->running[0], RUNNING_MEAN);
        load_numbers(g, t->running[1], RUNNING_VARIANCE);
    }
    wait_loaded();
    clear_missing(g);
    if (!t->weight) {
        fill(t, number_at(WEIGHT), 1);
    }
    if (!t->bias) {
        fill(t, number_at(BIAS), 0);
    }
}

/* y = (x - CENTER) * SCALE + SHIFT, or without CENTER. */
OP_INLINE void make_forward(const struct op_planes_args *t, const struct group *g, bool writes,
                            uint32_t type)
{
    struct records r;
    begin_numbers(t, g, &r, false, writes);
    if (t->parts) {
        join_moments(t, g, &r);
    }
    if (!t->inverse) {
        invert(t);
    }
    if (writes) {
        give_statistics(t, g);
    }
    multiply(t, number_at(OTHER), number_at(INVERSE), number_at(WEIGHT));
    spread(t, SCALE, number_at(OTHER));
    if (type == OP_TYPE_F32) {
        if (!t->parts) {
            spread(t, CENTER, number_at(MEAN));
        }
    } else {
        multiply(t, number_at(WORK), number_at(MEAN), number_at(OTHER));
        subtract(t, number_at(BIAS), number_at(BIAS), number_at(WORK));
    }
    spread(t, SHIFT, number_at(BIAS));
    set_flag(PIPE_V, PIPE_MTE2, EVENT);
}

OP_INLINE float inverse_count(const struct op_planes_args *t)
{
    if (!t->counter) {
        return t->inverse_count;
    }
    int64_t count = 0;
    for (uint64_t i = 0; i < t->replicas; i++) {
        count += *(const __gm__ volatile int32_t *)(t->counter + i * 4);
    }
    return 1.0f / (float)count;
}

OP_INLINE void give_sums(const struct op_planes_args *t, const struct group *g)
{
    begin_results();
    scale_by(t, number_at(RESULT), number_at(SUM), 1);
    scale_by(t, number_at(RESULT + 1), number_at(PRODUCT), 1);
    scale_by(t, number_at(RESULT + 2), number_at(SUM), 1);
    multiply(t, number_at(RESULT + 3), number_at(PRODUCT), number_at(INVERSE));
    store_results(t, g, t->out);
}

/* y = gradient * SCALE + ((x - CENTER) * SLOPE + SHIFT), or without CENTER. */
OP_INLINE void make_backward(const struct op_planes_args *t, const struct group *g, bool writes,
                             uint32_t type)
{
    const uint32_t scale = number_at(OTHER), slope = number_at(RUNNING_MEAN),
                   shift = number_at(RUNNING_VARIANCE);
    const float each = t->training ? inverse_count(t) : 0;
    struct records r;
    begin_numbers(t, g, &r, true, writes);
    if (t->parts) {
        join_sums(t, g, &r);
    }
    if (!t->inverse) {
        invert(t);
    }
    if (writes) {
        give_sums(t, g);
    }
    multiply(t, scale, number_at(INVERSE), number_at(WEIGHT));
    if (t->training) {
        scale_by(t, number_at(WORK), t->weighed ? number_at(INVERSE) : scale, -each);
        multiply(t, shift, number_at(WORK), number_at(SUM));
        multiply(t, slope, number_at(WORK), number_at(PRODUCT));
        multiply(t, slope, slope, number_at(INVERSE));
        multiply(t, slope, slope, number_at(INVERSE));
    } else {
        fill(t, shift, 0);
        fill(t, slope, 0);
    }
    if (type == OP_TYPE_F32) {
        spread(t, CENTER, number_at(MEAN));
    } else {
        multiply(t, number_at(WORK), number_at(MEAN), slope);
        subtract(t, shift, shift, number_at(WORK));
    }
    spread(t, SCALE, scale);
    spread(t, SLOPE, slope);
    spread(t, SHIFT, shift);
    set_flag(PIPE_V, PIPE_MTE2, EVENT);
}

OP_INLINE void make_center(const struct op_planes_args *t, const struct group *g)
{
    wait_flag(PIPE_V, PIPE_MTE2, EVENT);
    load_numbers(g, t->mean, MEAN);
    wait_loaded();
    spread(t, CENTER, number_at(MEAN));
    set_flag(PIPE_V, PIPE_MTE2, EVENT);
}

/* ---- passes over tiles ---- */

/* What an element adds to the result of its channel's gradient; where statistics do not depend on
 * it, nothing, be it finite or not. */
OP_INLINE void move_tile(const struct op_planes_args *t, const struct tile *tile, bool backward,
                         uint32_t x, uint32_t type)
{
    if (backward && !t->training) {
        const uint8_t repeats = take_all(t, tile);
        vector_dup(op_ub_f32(x), 0.0f, repeats, 1, 1, 8, 8);
        return;
    }
    if (type == OP_TYPE_F32) {
        combine(t, tile, SUBTRACT, CENTER, x, 0);
    }
    combine(t, tile, MOVE, backward ? SLOPE : SCALE, x, 0);
}

OP_INLINE void apply_tile(const struct op_planes_args *t, const struct tile *tile, enum pass pass,
                          uint32_t type, bool saturate)
{
    const bool backward = pass == PASS_BACKWARD;
    wait_flag(PIPE_MTE2, PIPE_V, tile->slot);
    const uint8_t repeats = take_all(t, tile);
    uint32_t x = widen(raw_x(tile), WIDE_X, repeats, type), to = raw_x(tile);
    const uint32_t g = backward ? widen(raw_gradient(tile), WIDE_G, repeats, type) : 0;
    move_tile(t, tile, backward, x, type);
    if (backward) {
        combine(t, tile, ADD_SCALED, SCALE, g, x);
        x = g;
        to = raw_gradient(tile);
    }
    if (type != OP_TYPE_F32) {
        narrow(t, tile, to, x, type, saturate);
    }
    set_flag(PIPE_V, PIPE_MTE3, tile->slot);
    wait_flag(PIPE_V, PIPE_MTE3, tile->slot);
    store_tensor(t, tile, to, unit_of(type));
    set_flag(PIPE_MTE3, PIPE_MTE2, tile->slot);
}

/* Elements of each lane, those of `base`, one of `more` in the first `lanes`. */
OP_INLINE void put_counts(uint32_t at, uint32_t base, uint32_t more, uint32_t lanes)
{
    for (uint32_t i = 0; i < OP_PLANE_LANES; i++) {
        *(__ubuf__ volatile float *)(uintptr_t)(at + i * 4) =
            (float)(base + (i < lanes ? more : 0));
    }
}

/* Eight lanes of `rows` rows of 64. */
OP_INLINE void fold_lanes(uint32_t at, uint32_t rows)
{
    for (uint32_t width = 32; width >= OP_PLANE_LANES; width /= 2) {
        take_lanes(width);
        vadd(op_ub_f32(at), op_ub_f32(at), op_ub_f32(at + width * 4), (uint8_t)rows, 1, 1, 1, 8, 8,
             8);
    }
}

OP_INLINE uint32_t second_lanes(const struct op_planes_args *t)
{
    return LANES + t->width * VECTOR;
}

OP_INLINE void clear_lanes(const struct op_planes_args *t)
{
    const uint8_t repeats = take(2 * t->width * 64);
    vector_dup(op_ub_f32(LANES), 0.0f, repeats, 1, 1, 8, 8);
}

/* CENTER = lanes of the chunk's first planes, divided by their elements: near the means of all. */
OP_INLINE void find_center(const struct op_planes_args *t, const struct tile *tile, uint32_t x)
{
    struct tile first = *tile;
    first.images = 1;
    add_lanes(t, &first, LANES, x, 0, false);
    fold_lanes(LANES, t->width);
    take_lanes(OP_PLANE_LANES);
    vdiv(op_ub_f32(blocks_at(CENTER)), op_ub_f32(LANES), op_ub_f32(COUNTS), (uint8_t)t->width, 1, 1,
         0, 1, 8, 0);
    clear_lanes(t);
}

OP_INLINE void begin_chunk(const struct op_planes_args *t, const struct tile *tile)
{
    const uint32_t rest = tile->positions % OP_PLANE_LANES, each = tile->positions / OP_PLANE_LANES,
                   end = op_min((tile->index / t->tiles_each + 1) * t->tiles_each, t->tiles);
    uint32_t base = 0, more = 0;
    for (uint32_t i = tile->index; i < end; i++) {
        const uint32_t image = i / t->pieces * t->tile_images,
                       images = (uint32_t)op_min64(t->tile_images, t->images - image),
                       position = i % t->pieces * t->positions_each,
                       positions = (uint32_t)op_min64(t->positions_each, t->length - position);
        base += images * (positions / OP_PLANE_LANES);
        more += positions % OP_PLANE_LANES ? images : 0;
    }
    wait_flag(PIPE_MTE3, PIPE_V, EVENT);
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
    // A lane of a piece's end may have no elements.
    put_counts(COUNTS, each, 1, each ? rest : OP_PLANE_LANES);
    put_counts(RECORD, base, more, (uint32_t)(t->length % OP_PLANE_LANES));
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
    clear_lanes(t);
}

/* Lanes from every eighth block of LANES to the record. */
OP_INLINE void record_lanes(const struct op_planes_args *t, uint32_t lanes, uint32_t to)
{
    take_lanes(OP_PLANE_LANES);
    vadds(op_ub_f32(to), op_ub_f32(lanes), 0.0f, (uint8_t)t->width, 1, 1, 1, 8);
}

/* Sums of distances d from CENTER, n of them: the mean is CENTER + sum(d) / n, squares are
 * sum(d * d) - sum(d) * sum(d) / n. */
OP_INLINE void record_moments(const struct op_planes_args *t)
{
    const uint32_t mean = RECORD + BLOCK, squares = mean + t->width * BLOCK, n = COUNTS;
    const uint8_t rows = (uint8_t)t->width, all = (uint8_t)(t->width / 8);
    record_lanes(t, LANES, mean);
    record_lanes(t, second_lanes(t), squares);
    (void)take(OP_PLANE_LANES);
    vmaxs(op_ub_f32(n), op_ub_f32(RECORD), 1.0f, 1, 1, 1, 8, 8);
    take_lanes(OP_PLANE_LANES);
    vmul(op_ub_f32(LANES), op_ub_f32(mean), op_ub_f32(mean), rows, 1, 1, 1, 1, 1, 1);
    pipe_barrier(PIPE_V);
    vdiv(op_ub_f32(LANES), op_ub_f32(LANES), op_ub_f32(n), rows, 1, 1, 1, 1, 1, 0);
    vdiv(op_ub_f32(mean), op_ub_f32(mean), op_ub_f32(n), rows, 1, 1, 1, 1, 1, 0);
    take_lanes(64);
    vsub(op_ub_f32(squares), op_ub_f32(squares), op_ub_f32(LANES), all, 1, 1, 1, 8, 8, 8);
    vadd(op_ub_f32(mean), op_ub_f32(mean), op_ub_f32(blocks_at(CENTER)), all, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vmaxs(op_ub_f32(squares), op_ub_f32(squares), 0.0f, all, 1, 1, 8, 8);
}

OP_INLINE void end_chunk(const struct op_planes_args *t, const struct tile *tile, enum pass pass)
{
    const uint32_t bytes = record_blocks(t) * BLOCK, chunk = tile->index / t->tiles_each;
    fold_lanes(LANES, 2 * t->width);
    if (pass == PASS_SUMS) {
        record_moments(t);
    } else {
        record_lanes(t, LANES, RECORD + BLOCK);
        record_lanes(t, second_lanes(t), RECORD + BLOCK + t->width * BLOCK);
    }
    set_mask_count();
    set_flag(PIPE_V, PIPE_MTE3, EVENT);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT);
    op_store(t->parts + (tile->group.index * t->chunks + chunk) * bytes, RECORD, bytes);
    set_flag(PIPE_MTE3, PIPE_V, EVENT);
}

OP_INLINE void add_tile(const struct op_planes_args *t, const struct tile *tile, enum pass pass,
                        uint32_t type)
{
    const bool first = tile->index % t->tiles_each == 0,
               last = (tile->index + 1) % t->tiles_each == 0 || tile->index + 1 == t->tiles;
    if (first) {
        begin_chunk(t, tile);
    }
    wait_flag(PIPE_MTE2, PIPE_V, tile->slot);
    const uint8_t repeats = take_all(t, tile);
    const uint32_t x = widen(raw_x(tile), WIDE_X, repeats, type);
    if (pass == PASS_SUMS) {
        if (first) {
            find_center(t, tile, x);
        }
        combine(t, tile, SUBTRACT, CENTER, x, 0);
        add_lanes(t, tile, LANES, x, 0, false);
        add_lanes(t, tile, second_lanes(t), x, x, true);
    } else {
        const uint32_t g = widen(raw_gradient(tile), WIDE_G, repeats, type);
        combine(t, tile, SUBTRACT, CENTER, x, 0);
        add_lanes(t, tile, LANES, g, 0, false);
        add_lanes(t, tile, second_lanes(t), x, g, true);
    }
    set_flag(PIPE_V, PIPE_MTE2, tile->slot);
    if (last) {
        end_chunk(t, tile, pass);
    }
}

/* Gaps between rows and lanes of channels that are not there are computed with the rest: they must
 * hold something. */
OP_INLINE void begin(enum pass pass)
{
    set_mask_count();
    set_vector_mask(0, RAW / 4);
    for (uint32_t at = 0; at < RECORD + RECORD_BYTES; at += RAW) {
        const uint32_t count = op_min(RAW, RECORD + RECORD_BYTES - at) / 4;
        set_vector_mask(0, count);
        vector_dup(op_ub_f32(at), 0.0f, (uint8_t)((count + 63) / 64), 1, 1, 8, 8);
    }
    set_flag(PIPE_V, PIPE_MTE2, EVENT);
    set_flag(PIPE_MTE3, PIPE_V, EVENT);
    for (uint32_t i = 0; i < SLOTS; i++) {
        set_flag(PIPE_V, PIPE_MTE2, i);
    }
    for (uint32_t i = 0; i < SLOTS && !sums_only(pass); i++) {
        wait_flag(PIPE_V, PIPE_MTE2, i);
        set_flag(PIPE_MTE3, PIPE_MTE2, i);
    }
}

OP_INLINE void end(enum pass pass)
{
    wait_flag(PIPE_V, PIPE_MTE2, EVENT);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT);
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (sums_only(pass)) {
            wait_flag(PIPE_V, PIPE_MTE2, i);
        } else {
            wait_flag(PIPE_MTE3, PIPE_MTE2, i);
        }
    }
    op_flush();
}

/* Shares that differ by one at most. */
OP_INLINE uint64_t share(uint64_t count, uint64_t block)
{
    return count * block / (uint64_t)get_block_num();
}

/* A block's tiles begin here: those of whole chunks if sums are made. */
OP_INLINE uint64_t first_tile(const struct op_planes_args *t, enum pass pass, uint64_t block,
                              uint32_t type)
{
    if (!sums_only(pass)) {
        // Where rows end within lines that begin elsewhere (copy.h), one block has them all.
        const bool alone = t->length * unit_of(type) % BLOCK != 0 && t->y % OP_LINE != 0;
        return alone ? (block ? t->groups * t->tiles : 0) : share(t->groups * t->tiles, block);
    }
    const uint64_t chunk = share(t->groups * t->chunks, block), group = chunk / t->chunks;
    return group * t->tiles + (chunk - group * t->chunks) * t->tiles_each;
}

OP_INLINE void begin_group(const struct op_planes_args *t, const struct group *g, enum pass pass,
                           bool writes, uint32_t type)
{
    if (pass == PASS_FORWARD) {
        make_forward(t, g, writes, type);
    } else if (pass == PASS_BACKWARD) {
        make_backward(t, g, writes, type);
    } else if (pass == PASS_GRADIENT_SUMS) {
        make_center(t, g);
    }
}

/* The tile after the one at work is on its way. */
OP_INLINE void run(const struct op_planes_args *t, enum pass pass, uint32_t type)
{
    const uint64_t from = first_tile(t, pass, get_block_idx(), type),
                   to = first_tile(t, pass, get_block_idx() + 1, type);
    const bool saturate = op_infinite_begin();
    uint64_t group = UINT64_MAX;
    struct tile next;
    begin(pass);
    if (from < to) {
        next = tile_of(t, from, 0, type);
        load_tile(t, &next, pass, type);
    }
    for (uint64_t item = from; item < to; item++) {
        const struct tile tile = next;
        if (item + 1 < to) {
            next = tile_of(t, item + 1, tile.slot + 1 == SLOTS ? 0 : tile.slot + 1, type);
            load_tile(t, &next, pass, type);
        }
        if (tile.group.index != group) {
            group = tile.group.index;
            begin_group(t, &tile.group, pass, tile.index == 0, type);
        }
        if (sums_only(pass)) {
            add_tile(t, &tile, pass, type);
        } else {
            apply_tile(t, &tile, pass, type, saturate);
        }
    }
    end(pass);
}

/* Statistics or sums alone. */
OP_INLINE void run_numbers(const struct op_planes_args *t, enum pass pass)
{
    const uint64_t to = share(t->groups, get_block_idx() + 1);
    (void)op_infinite_begin();
    begin(pass);
    for (uint64_t i = share(t->groups, get_block_idx()); i < to; i++) {
        const struct group g = group_of(t, i);
        begin_group(t, &g, pass, true, OP_TYPE_F32);
    }
    end(pass);
}

__global__ __vector__ void planes_sums_f32(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_SUMS, OP_TYPE_F32);
}

__global__ __vector__ void planes_gradient_sums_f32(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_GRADIENT_SUMS, OP_TYPE_F32);
}

__global__ __vector__ void planes_forward_f32(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_FORWARD, OP_TYPE_F32);
}

__global__ __vector__ void planes_backward_f32(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_BACKWARD, OP_TYPE_F32);
}

__global__ __vector__ void planes_sums_f16(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_SUMS, OP_TYPE_F16);
}

__global__ __vector__ void planes_gradient_sums_f16(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_GRADIENT_SUMS, OP_TYPE_F16);
}

__global__ __vector__ void planes_forward_f16(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_FORWARD, OP_TYPE_F16);
}

__global__ __vector__ void planes_backward_f16(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_BACKWARD, OP_TYPE_F16);
}

#if __NPU_ARCH__ == 2201
__global__ __vector__ void planes_sums_bf16(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_SUMS, OP_TYPE_BF16);
}

__global__ __vector__ void planes_gradient_sums_bf16(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_GRADIENT_SUMS, OP_TYPE_BF16);
}

__global__ __vector__ void planes_forward_bf16(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_FORWARD, OP_TYPE_BF16);
}

__global__ __vector__ void planes_backward_bf16(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run(&t, PASS_BACKWARD, OP_TYPE_BF16);
}

#endif

__global__ __vector__ void planes_statistics(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run_numbers(&t, PASS_FORWARD);
}

__global__ __vector__ void planes_gradients(struct op_planes_args args)
{
    const struct op_planes_args t = args;
    run_numbers(&t, PASS_BACKWARD);
}
