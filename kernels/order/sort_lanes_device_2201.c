/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting in the vector unit: groups of 32 records are sorted by one instruction, four lists a time
 * merged by another, the largest score first, what is equal in its order. Ascending rows have their
 * signs turned; their NaN, which come first, move to the end by the scalar unit, which only rows
 * with NaN need. bf16 scores are f32 of the same upper half.
 *
 * Flags, event 0. V -> MTE2: IN may be loaded; MTE2 -> V: it is; MTE3 -> V: FIRST and SECOND are
 * stored; V -> MTE3: results are there. V -> S -> V: around the scalar unit's look at NaN.
 */
#include "../device/copy.h"
#include "sort_lanes_args.h"

enum {
    RECORD = 8,
    HALF_ROOM = OP_LANES_PART * RECORD,
    FIRST = 0,
    SECOND = FIRST + HALF_ROOM,
    IN = SECOND + HALF_ROOM,
    RAMP = IN + OP_LANES_PART * 4, /* positions */
    EVERY_SECOND = 1,              /* patterns of vreducev2: from the first, the second, .. */
    EVERY_SECOND_1 = 2,
    EVERY_FOURTH = 3,
    EVERY_FOURTH_1 = 4,
};

OP_INLINE __ubuf__ int16_t *ub_s16(uint32_t at)
{
    return (__ubuf__ int16_t *)(uintptr_t)at;
}

OP_INLINE __ubuf__ uint16_t *ub_u16(uint32_t at)
{
    return (__ubuf__ uint16_t *)(uintptr_t)at;
}

OP_INLINE __ubuf__ uint32_t *ub_u32(uint32_t at)
{
    return (__ubuf__ uint32_t *)(uintptr_t)at;
}

OP_INLINE uint32_t unit_of(uint32_t type)
{
    return type == OP_TYPE_F32 ? 4 : 2;
}

OP_INLINE bool is_wide(uint32_t type)
{
    return type != OP_TYPE_F16;
}

OP_INLINE uint32_t other(uint32_t half)
{
    return half == FIRST ? SECOND : FIRST;
}

/* 0, 1, .. for each of `rows` rows of `room` elements. */
static void make_ramp(uint32_t rows, uint32_t room)
{
    const uint32_t all = rows * room;
    for (uint32_t i = 0; i < OP_LANES_GROUP; i++) {
        ((__ubuf__ volatile int32_t *)(uintptr_t)RAMP)[i] = (int32_t)i;
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
    for (uint32_t have = OP_LANES_GROUP; have < all; have *= 2) {
        set_vector_mask(0, op_min(have, all - have));
        vadds(op_ub_s32(RAMP + have * 4), op_ub_s32(RAMP), have < room ? (int32_t)have : 0, 1, 1, 1,
              8, 8);
        pipe_barrier(PIPE_V);
    }
}

/* What a row lacks of its room becomes what is last. */
static void fill_rest(const struct op_lanes_args *t, uint32_t rows, uint32_t count, uint32_t room)
{
    const uint32_t unit = unit_of(t->type), step = rows > 1 ? room * unit / 32 : 0;
    const uint16_t infinity =
        (uint16_t)((is_wide(t->type) ? 0x7f80u : 0x7c00u) | (t->descending ? 0x8000u : 0));
    uint64_t lanes = UINT64_C(0xffffffff) << count % OP_LANES_GROUP & 0xffffffffu;
    if (count == room) {
        return;
    }
    set_mask_norm();
    for (uint32_t at = count / OP_LANES_GROUP * OP_LANES_GROUP; at < room; at += OP_LANES_GROUP) {
        set_vector_mask(0, lanes);
        if (unit == 4) {
            vector_dup(op_ub_s32(IN + at * 4), (int32_t)((uint32_t)infinity << 16), rows, 1, 0,
                       step, 0);
        } else {
            vector_dup(ub_s16(IN + at * 2), (int16_t)infinity, rows, 1, 0, step, 0);
        }
        lanes = 0xffffffffu;
    }
    set_mask_count();
    pipe_barrier(PIPE_V);
}

/* Where the scores of `all` elements are that were loaded to IN. */
static uint32_t make_scores(const struct op_lanes_args *t, uint32_t all)
{
    uint32_t from = IN;
    set_vector_mask(0, all);
    if (t->type == OP_TYPE_BF16) { // to the upper half of 32 bits, whatever they mean
        vconv_s162f32(op_ub_f32(SECOND), ub_s16(IN), 1, 1, 1, 8, 4);
        pipe_barrier(PIPE_V);
        vmuls(op_ub_f32(SECOND), op_ub_f32(SECOND), 65536.0f, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vconv_f322s32z(op_ub_s32(SECOND), op_ub_f32(SECOND), 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        from = SECOND;
    }
    if (t->descending) {
        return from;
    }
    if (is_wide(t->type)) {
        vadds(op_ub_s32(SECOND), op_ub_s32(from), INT32_MIN, 1, 1, 1, 8, 8);
    } else {
        vadds(ub_s16(SECOND), ub_s16(from), INT16_MIN, 1, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    return SECOND;
}

/* Records of `all` scores at `scores`, sorted by groups, in FIRST. */
static void sort_groups(bool wide, uint32_t scores, uint32_t all)
{
    enum { MOST = 128 };
    const uint32_t unit = wide ? 4 : 2;
    for (uint32_t at = 0; at < all; at += MOST * OP_LANES_GROUP) {
        const int32_t groups = (int32_t)(op_min(all - at, MOST * OP_LANES_GROUP) / OP_LANES_GROUP);
        const uint32_t to = FIRST + at * RECORD, from = scores + at * unit, index = RAMP + at * 4;
        if (wide) {
            vbitsort(op_ub_f32(to), op_ub_f32(from), ub_u32(index), groups);
        } else {
            vbitsort(op_ub_f16(to), op_ub_f16(from), ub_u32(index), groups);
        }
    }
    pipe_barrier(PIPE_V);
}

/* Lists of `width` records, one behind the other at `from`, merged `ways` at a time. The last one
 * has `last` records; repeats have full lists. */
OP_INLINE void merge(bool wide, uint32_t to, uint32_t from, uint32_t repeat, uint32_t ways,
                     uint32_t width, uint32_t last)
{
    const uint32_t step = width * RECORD;
    const uint64_t valid = (UINT64_C(1) << ways) - 1, third = ways > 3 ? width : last;
    if (wide) {
        __ubuf__ float *const lists[] = {op_ub_f32(from), op_ub_f32(from + step),
                                         op_ub_f32(ways > 2 ? from + 2 * step : 0),
                                         op_ub_f32(ways > 3 ? from + 3 * step : 0)};
        vmrgsort4(op_ub_f32(to), lists, repeat, width, ways > 2 ? width : last,
                  ways > 2 ? third : 0, ways > 3 ? last : 0, false, valid);
    } else {
        __ubuf__ half *const lists[] = {op_ub_f16(from), op_ub_f16(from + step),
                                        op_ub_f16(ways > 2 ? from + 2 * step : 0),
                                        op_ub_f16(ways > 3 ? from + 3 * step : 0)};
        vmrgsort4(op_ub_f16(to), lists, repeat, width, ways > 2 ? width : last,
                  ways > 2 ? third : 0, ways > 3 ? last : 0, false, valid);
    }
}

/* `all` records in lists of `width`, of which the last may be shorter, become lists of `stop`;
 * where they are. A stop that is not `all` is a width times a power of two. */
static uint32_t merge_lists(bool wide, uint32_t all, uint32_t width, uint32_t stop)
{
    uint32_t from = FIRST;
    while (width < stop) {
        const uint32_t ways = stop == all || 4 * width <= stop ? 4 : 2, full = all / (ways * width),
                       done = full * ways * width, rest = all - done,
                       left = (rest + width - 1) / width, to = other(from);
        if (full > 0) {
            merge(wide, to, from, full, ways, width, width);
        }
        if (left > 1) {
            merge(wide, to + done * RECORD, from + done * RECORD, 1, left, width,
                  rest - (left - 1) * width);
        } else if (left == 1) {
            copy_ubuf_to_ubuf((__ubuf__ void *)(uintptr_t)(to + done * RECORD),
                              (__ubuf__ void *)(uintptr_t)(from + done * RECORD), 0, 1,
                              rest * RECORD / 32, 0, 0);
        }
        pipe_barrier(PIPE_V);
        width *= ways;
        from = to;
    }
    return from;
}

OP_INLINE bool is_nan(uint32_t type, uint32_t score)
{
    return is_wide(type) ? (score & 0x7fffffffu) > 0x7f800000u : (score & 0x7fffu) > 0x7c00u;
}

/* The NaN of one row, which are first, behind its other elements. */
static void move_nan(uint32_t type, uint32_t row, uint32_t spare, uint32_t count)
{
    __ubuf__ volatile uint64_t *records = (__ubuf__ volatile uint64_t *)(uintptr_t)row,
                               *copy = (__ubuf__ volatile uint64_t *)(uintptr_t)spare;
    uint32_t nan = 0;
    while (nan < count && is_nan(type, (uint32_t)records[nan])) {
        nan++;
    }
    for (uint32_t i = 0; i < nan && nan < count; i++) {
        copy[i] = records[i];
    }
    for (uint32_t i = nan; i < count; i++) {
        records[i - nan] = records[i];
    }
    for (uint32_t i = 0; i < nan && nan < count; i++) {
        records[count - nan + i] = copy[i];
    }
}

static void order_nan(const struct op_lanes_args *t, uint32_t from, uint32_t rows, uint32_t room,
                      uint32_t count)
{
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t row = from + i * room * RECORD;
        if (is_nan(t->type, *(const __ubuf__ volatile uint32_t *)(uintptr_t)row)) {
            move_nan(t->type, row, other(from), count);
        }
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
}

/* Scores become values again. */
static void take_values(const struct op_lanes_args *t, uint32_t to, uint32_t from, uint32_t rows,
                        uint32_t room, uint32_t keep)
{
    const uint32_t pitch = room * RECORD / 32;
    if (unit_of(t->type) == 4) {
        set_vector_mask(0, keep * 2);
        vreducev2(ub_u32(to), ub_u32(from), ub_u32(0), (uint16_t)rows, 1, EVERY_SECOND, pitch, 0);
    } else {
        set_vector_mask(0, keep * 4);
        vreducev2(ub_u16(to), ub_u16(from), ub_u16(0), (uint16_t)rows, 1,
                  t->type == OP_TYPE_F16 ? EVERY_FOURTH : EVERY_FOURTH_1, pitch, 0);
    }
    if (t->descending) {
        return;
    }
    pipe_barrier(PIPE_V);
    set_vector_mask(0, rows * keep);
    if (unit_of(t->type) == 4) {
        vadds(op_ub_s32(to), op_ub_s32(to), INT32_MIN, 1, 1, 1, 8, 8);
    } else {
        vadds(ub_s16(to), ub_s16(to), INT16_MIN, 1, 1, 1, 8, 8);
    }
}

/* The first `keep` records of `rows` rows, `room` apart at `from`: results from element `at` on. */
static void give(const struct op_lanes_args *t, uint64_t at, uint32_t from, uint32_t rows,
                 uint32_t room, uint32_t keep)
{
    const uint32_t values = other(from), places = values + OP_LANES_PART * 4, count = rows * keep;
    take_values(t, values, from, rows, room, keep);
    set_vector_mask(0, keep * 2);
    vreducev2(ub_u32(places), ub_u32(from), ub_u32(0), (uint16_t)rows, 1, EVERY_SECOND_1,
              room * RECORD / 32, 0);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    vconv_s322s64((__ubuf__ int64_t *)(uintptr_t)from, op_ub_s32(places), 1, 1, 1, 8, 4);
    pipe_barrier(PIPE_V);
    set_flag(PIPE_V, PIPE_MTE3, 0);
    wait_flag(PIPE_V, PIPE_MTE3, 0);
    op_store(t->values + at * unit_of(t->type), values, count * unit_of(t->type));
    op_store(t->index + at * 8, from, count * 8);
    set_flag(PIPE_MTE3, PIPE_V, 0);
}

static void begin_tiles(void)
{
    set_mask_count();
    set_flag(PIPE_V, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_V, 0);
}

static void end_tiles(void)
{
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_V, 0);
    pipe_barrier(PIPE_ALL);
}

static void load_rows_of(const struct op_lanes_args *t, uint64_t first, uint32_t rows,
                         uint32_t count, uint32_t room)
{
    const uint32_t unit = unit_of(t->type);
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_load_rows(IN, t->in + first * unit, rows, count * unit, count * unit, room * unit);
    set_flag(PIPE_MTE2, PIPE_V, 0);
}

/* What was loaded as records, sorted by groups; IN is free from then on. */
static void make_records(const struct op_lanes_args *t, uint32_t rows, uint32_t count,
                         uint32_t room)
{
    wait_flag(PIPE_MTE2, PIPE_V, 0);
    wait_flag(PIPE_MTE3, PIPE_V, 0);
    fill_rest(t, rows, count, room);
    sort_groups(is_wide(t->type), make_scores(t, rows * room), rows * room);
    set_flag(PIPE_V, PIPE_MTE2, 0);
}

__global__ __vector__ void lanes_rows(struct op_lanes_args args)
{
    const struct op_lanes_args t = args;
    const uint32_t count = (uint32_t)t.length;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block,
                   end = op_min64(begin + t.per_block, t.rows);
    begin_tiles();
    make_ramp(t.batch, t.room);
    uint32_t rows = (uint32_t)op_min64(t.batch, end - begin);
    load_rows_of(&t, begin * count, rows, count, t.room);
    for (uint64_t row = begin; row < end;) {
        const uint64_t next = row + rows;
        const uint32_t more = (uint32_t)op_min64(t.batch, end - next);
        make_records(&t, rows, count, t.room);
        if (more > 0) {
            load_rows_of(&t, next * count, more, count, t.room);
        }
        const uint32_t from = merge_lists(is_wide(t.type), rows * t.room, OP_LANES_GROUP, t.room);
        if (!t.descending) {
            order_nan(&t, from, rows, t.room, count);
        }
        give(&t, row * t.keep, from, rows, t.room, (uint32_t)t.keep);
        row = next;
        rows = more;
    }
    end_tiles();
}

OP_INLINE uint32_t up_to_group(uint64_t count)
{
    return (uint32_t)((count + OP_LANES_GROUP - 1) / OP_LANES_GROUP * OP_LANES_GROUP);
}

__global__ __vector__ void lanes_parts(struct op_lanes_args args)
{
    const struct op_lanes_args t = args;
    const uint64_t a_row = (t.length + OP_LANES_PART - 1) / OP_LANES_PART;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block,
                   end = op_min64(begin + t.per_block, t.rows * a_row);
    uint64_t ramp = 0;
    begin_tiles();
    make_ramp(1, OP_LANES_PART);
    for (uint64_t at = begin; at < end; at++) {
        const uint64_t row = at / a_row, part = at - row * a_row, first = part * OP_LANES_PART;
        const uint32_t count = (uint32_t)op_min64(OP_LANES_PART, t.length - first),
                       room = up_to_group(count);
        load_rows_of(&t, row * t.length + first, 1, count, room);
        set_vector_mask(0, OP_LANES_PART);
        vadds(op_ub_s32(RAMP), op_ub_s32(RAMP), (int32_t)(first - ramp), 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        ramp = first;
        make_records(&t, 1, count, room);
        const uint32_t from = merge_lists(is_wide(t.type), room, OP_LANES_GROUP, room);
        set_flag(PIPE_V, PIPE_MTE3, 0);
        wait_flag(PIPE_V, PIPE_MTE3, 0);
        op_store(t.items + (row * t.pitch + part * t.run) * RECORD, from,
                 op_min(t.run, room) * RECORD);
        set_flag(PIPE_MTE3, PIPE_V, 0);
    }
    end_tiles();
}

__global__ __vector__ void lanes_join(struct op_lanes_args args)
{
    const struct op_lanes_args t = args;
    const uint32_t a_row = (t.runs + t.batch - 1) / t.batch;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block,
                   end = op_min64(begin + t.per_block, t.rows * a_row);
    set_mask_count();
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    for (uint64_t at = begin; at < end; at++) {
        const uint64_t row = at / a_row;
        const uint32_t first = (uint32_t)(at - row * a_row) * t.batch,
                       runs = op_min(t.batch, t.runs - first),
                       all = first + runs == t.runs ? (runs - 1) * t.run + t.last : runs * t.run;
        wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
        op_load(FIRST, t.items + (row * t.pitch + (uint64_t)first * t.run) * RECORD, all * RECORD);
        set_flag(PIPE_MTE2, PIPE_V, 0);
        wait_flag(PIPE_MTE2, PIPE_V, 0);
        const uint32_t from = merge_lists(is_wide(t.type), all, t.run, all);
        if (a_row == 1) {
            give(&t, row * t.keep, from, 1, all, (uint32_t)t.keep);
            wait_flag(PIPE_MTE3, PIPE_V, 0);
        } else {
            set_flag(PIPE_V, PIPE_MTE3, 0);
            wait_flag(PIPE_V, PIPE_MTE3, 0);
            op_store(t.merged + (row * t.pitch + (uint64_t)(first / t.batch) * t.run) * RECORD,
                     from, op_min(t.run, all) * RECORD);
        }
        set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    pipe_barrier(PIPE_ALL);
}

#include "sort_lanes_merge_2201.h"
