/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise operators on the vector unit: a list of instructions on tiles of f32 in UB, made by
 * family/tile_list.h. Reading the list costs the scalar unit some cycles a tile, while the units
 * work on the tile before.
 *
 * Flags, event = slot. V -> MTE2: inputs free; MTE2 -> V: inputs loaded; MTE3 -> V: output free; V
 * -> MTE3: ready. Numbers of rows are read from global memory by the scalar unit itself.
 */
#include "copy.h"
#include "element.h"
#include "tile_args.h"

enum {
    EVENT_ROW = 2,     /* MTE2 -> V: a row that repeats is there */
    ROW_STAGGER = 512, /* bytes from where one block begins to load a row to where the next does */
};

OP_INLINE uint32_t slot_of(const struct op_tile_args *t, uint32_t slot, uint32_t parity)
{
    return t->slot[slot].base + (parity ? t->slot[slot].step : 0);
}

OP_INLINE __ubuf__ float *f32_at(const struct op_tile_args *t, uint32_t slot, uint32_t parity)
{
    return op_ub_f32(slot_of(t, slot, parity));
}

OP_INLINE __ubuf__ half *f16_at(const struct op_tile_args *t, uint32_t slot, uint32_t parity)
{
    return op_ub_f16(slot_of(t, slot, parity));
}

/* Masks and bytes. */
OP_INLINE __ubuf__ uint8_t *u8_at(const struct op_tile_args *t, uint32_t slot, uint32_t parity)
{
    return (__ubuf__ uint8_t *)(uintptr_t)slot_of(t, slot, parity);
}

OP_INLINE __ubuf__ int32_t *s32_at(const struct op_tile_args *t, uint32_t slot, uint32_t parity)
{
    return op_ub_s32(slot_of(t, slot, parity));
}

OP_INLINE __ubuf__ uint16_t *u16_at(const struct op_tile_args *t, uint32_t slot, uint32_t parity)
{
    return (__ubuf__ uint16_t *)(uintptr_t)slot_of(t, slot, parity);
}

/* Stored types become f32. 8-bit types go through f16. */
static void widen(const struct op_tile_args *t, const struct op_tile_insn *i, uint32_t parity,
                  uint8_t repeats)
{
    switch (i->b) {
    case OP_TYPE_F16:
        vconv_f162f32(f32_at(t, i->d, parity), f16_at(t, i->a, parity), repeats, 1, 1, 8, 4);
        return;
#if __NPU_ARCH__ == 2201
    case OP_TYPE_BF16:
        vconv_bf162f32(f32_at(t, i->d, parity), (__ubuf__ bfloat16_t *)u8_at(t, i->a, parity),
                       repeats, 1, 1, 8, 4);
        return;
#endif
#if __NPU_ARCH__ == 2201
    case OP_TYPE_I16:
        vconv_s162f32(f32_at(t, i->d, parity),
                      (__ubuf__ int16_t *)(uintptr_t)slot_of(t, i->a, parity), repeats, 1, 1, 8, 4);
        return;
#endif
    case OP_TYPE_I32:
        vconv_s322f32(f32_at(t, i->d, parity), op_ub_s32(slot_of(t, i->a, parity)), repeats, 1, 1,
                      8, 8);
        return;
    case OP_TYPE_I8:
        vconv_s82f16(f16_at(t, i->c, parity), (__ubuf__ int8_t *)u8_at(t, i->a, parity),
                     (uint8_t)(repeats / 2 + 1), 1, 1, 8, 4);
        break;
    default: // u8 and bool
        vconv_u82f16(f16_at(t, i->c, parity), u8_at(t, i->a, parity), (uint8_t)(repeats / 2 + 1), 1,
                     1, 8, 4);
        break;
    }
    pipe_barrier(PIPE_V);
    vconv_f162f32(f32_at(t, i->d, parity), f16_at(t, i->c, parity), repeats, 1, 1, 8, 4);
}

static void convert(const struct op_tile_args *t, const struct op_tile_insn *i, uint32_t parity,
                    uint8_t repeats)
{
    switch (i->b) {
    case OP_TYPE_F16:
        vconv_f322f16(f16_at(t, i->d, parity), f32_at(t, i->a, parity), repeats, 1, 1, 4, 8);
        return;
#if __NPU_ARCH__ == 2201
    case OP_TYPE_BF16:
        vconv_f322bf16r((__ubuf__ bfloat16_t *)u8_at(t, i->d, parity), f32_at(t, i->a, parity),
                        repeats, 1, 1, 4, 8);
        return;
#endif
    case OP_TYPE_I32:
        vconv_f322s32z(op_ub_s32(slot_of(t, i->d, parity)), f32_at(t, i->a, parity), repeats, 1, 1,
                       8, 8);
        return;
#if __NPU_ARCH__ == 2201
    case OP_TYPE_I16:
        vconv_f322s16z((__ubuf__ int16_t *)(uintptr_t)slot_of(t, i->d, parity),
                       f32_at(t, i->a, parity), repeats, 1, 1, 4, 8);
        return;
#endif
    case OP_TYPE_I8:
        vconv_f322f16(f16_at(t, i->c, parity), f32_at(t, i->a, parity), repeats, 1, 1, 4, 8);
        pipe_barrier(PIPE_V);
        vconv_f162s8((__ubuf__ int8_t *)u8_at(t, i->d, parity), f16_at(t, i->c, parity),
                     (uint8_t)(repeats / 2 + 1), 1, 1, 4, 8);
        return;
    default: // u8, and bool from 0 and 1
        vconv_f322f16(f16_at(t, i->c, parity), f32_at(t, i->a, parity), repeats, 1, 1, 4, 8);
        pipe_barrier(PIPE_V);
        vconv_f162u8(u8_at(t, i->d, parity), f16_at(t, i->c, parity), (uint8_t)(repeats / 2 + 1), 1,
                     1, 4, 8);
        return;
    }
}

static void narrow(const struct op_tile_args *t, const struct op_tile_insn *i, uint32_t parity,
                   uint8_t repeats, bool saturate)
{
    if (!saturate) {
        convert(t, i, parity, repeats);
        return;
    }
    leo_set_saturate(true);
    convert(t, i, parity, repeats);
    leo_set_saturate(false);
}

/* Bits are those of halves of words: twice as many. */
static void run_bits(const struct op_tile_args *t, const struct op_tile_insn *i, uint32_t parity,
                     uint8_t repeats, uint32_t count)
{
    __ubuf__ uint16_t *d = u16_at(t, i->d, parity), *a = u16_at(t, i->a, parity);
    set_vector_mask(0, 2 * count);
    if (i->code == OP_TILE_WORD_AND) {
        vand(d, a, u16_at(t, i->b, parity), repeats, 1, 1, 1, 8, 8, 8);
    } else if (i->code == OP_TILE_WORD_OR) {
        vor(d, a, u16_at(t, i->b, parity), repeats, 1, 1, 1, 8, 8, 8);
    } else {
        vnot(d, a, repeats, 1, 1, 8, 8);
    }
    set_vector_mask(0, count);
}

static void run_insn(const struct op_tile_args *t, const struct op_tile_insn *i, uint32_t parity,
                     uint8_t repeats, uint32_t count, bool saturate)
{
    const float n = t->number[i->b < OP_TILE_NUMBERS ? i->b : 0];
    switch (i->code) {
    case OP_TILE_ADD:
        vadd(f32_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_SUB:
        vsub(f32_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_MUL:
        vmul(f32_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_DIV:
        vdiv(f32_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_MAX:
        vmax(f32_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_MIN:
        vmin(f32_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_ADDS:
        vadds(f32_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_MULS:
        vmuls(f32_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_MAXS:
        vmaxs(f32_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_MINS:
        vmins(f32_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_ABS:
        vabs(f32_at(t, i->d, parity), f32_at(t, i->a, parity), repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_EXP:
        vexp(f32_at(t, i->d, parity), f32_at(t, i->a, parity), repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_LN:
        vln(f32_at(t, i->d, parity), f32_at(t, i->a, parity), repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_SQRT:
        vsqrt(f32_at(t, i->d, parity), f32_at(t, i->a, parity), repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_RECIPROCAL:
        vrec(f32_at(t, i->d, parity), f32_at(t, i->a, parity), repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_EQ:
        vcmpv_eq(u8_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats,
                 1, 1, 1, 8, 8, 8);
        return;
    case OP_TILE_NE:
        vcmpv_ne(u8_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats,
                 1, 1, 1, 8, 8, 8);
        return;
    case OP_TILE_LT:
        vcmpv_lt(u8_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats,
                 1, 1, 1, 8, 8, 8);
        return;
    case OP_TILE_LE:
        vcmpv_le(u8_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats,
                 1, 1, 1, 8, 8, 8);
        return;
    case OP_TILE_GT:
        vcmpv_gt(u8_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats,
                 1, 1, 1, 8, 8, 8);
        return;
    case OP_TILE_GE:
        vcmpv_ge(u8_at(t, i->d, parity), f32_at(t, i->a, parity), f32_at(t, i->b, parity), repeats,
                 1, 1, 1, 8, 8, 8);
        return;
    case OP_TILE_EQS:
        vcmpvs_eq(u8_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_NES:
        vcmpvs_ne(u8_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_LTS:
        vcmpvs_lt(u8_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_LES:
        vcmpvs_le(u8_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_GTS:
        vcmpvs_gt(u8_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_GES:
        vcmpvs_ge(u8_at(t, i->d, parity), f32_at(t, i->a, parity), n, repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_SELECT:
        set_selmask_addr(u8_at(t, i->a, parity));
        vsel(f32_at(t, i->d, parity), f32_at(t, i->b, parity), f32_at(t, i->c, parity), repeats, 1,
             1, 1, 8, 8, 8, 2);
        return;
    case OP_TILE_MOVE:
        copy_ubuf_to_ubuf(u8_at(t, i->d, parity), u8_at(t, i->a, parity), 0, 1,
                          (uint16_t)op_units(count * i->b), 0, 0);
        return;
    case OP_TILE_WORD_ADD:
        vadd(s32_at(t, i->d, parity), s32_at(t, i->a, parity), s32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_WORD_SUB:
        vsub(s32_at(t, i->d, parity), s32_at(t, i->a, parity), s32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_WORD_MUL:
        vmul(s32_at(t, i->d, parity), s32_at(t, i->a, parity), s32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_WORD_MAX:
        vmax(s32_at(t, i->d, parity), s32_at(t, i->a, parity), s32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_WORD_MIN:
        vmin(s32_at(t, i->d, parity), s32_at(t, i->a, parity), s32_at(t, i->b, parity), repeats, 1,
             1, 1, 8, 8, 8);
        return;
    case OP_TILE_WORD_AND:
    case OP_TILE_WORD_OR:
    case OP_TILE_WORD_NOT:
        run_bits(t, i, parity, repeats, count);
        return;
    case OP_TILE_TO_WORD:
        vconv_f322s32z(s32_at(t, i->d, parity), f32_at(t, i->a, parity), repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_TO_FLOAT:
        vconv_s322f32(f32_at(t, i->d, parity), s32_at(t, i->a, parity), repeats, 1, 1, 8, 8);
        return;
    case OP_TILE_WIDEN:
        widen(t, i, parity, repeats);
        return;
    default:
        narrow(t, i, parity, repeats, saturate);
        return;
    }
}

OP_INLINE uint64_t row_offset(const struct op_tile_args *t, const int64_t *stride, uint64_t row)
{
    uint64_t offset = 0;
    for (uint32_t d = t->outer; d-- > 0;) {
        const uint64_t dim = (uint64_t)t->dim[d], above = d ? row / dim : 0;
        offset += (row - above * dim) * (uint64_t)stride[d];
        row = above;
    }
    return offset;
}

OP_INLINE void load_piece(const struct op_tile_args *t, uint64_t row, uint64_t at, uint32_t count,
                          uint32_t parity)
{
    for (uint32_t k = 0; k < t->ins; k++) {
        const uint64_t from = t->in[k] + row_offset(t, t->in_stride[k], row);
        if (t->in_kind[k] == OP_TILE_DENSE) {
            op_load(slot_of(t, t->in_slot[k], parity), from + at * t->in_bytes[k],
                    count * t->in_bytes[k]);
        }
    }
}

/* An element as the 32 bits that fill a slot. */
OP_INLINE float number_at(const struct op_tile_args *t, uint64_t addr, uint32_t type)
{
    union {
        int32_t word;
        float number;
    } bits;
    if (t->words && type == OP_TYPE_I32) {
        bits.word = (int32_t)op_get_i(addr, type);
    } else {
        bits.number = op_get_f(addr, type);
    }
    return bits.number;
}

/* Inputs that are one number a row fill their slot with it, on pipe V. */
OP_INLINE void fill_rows(const struct op_tile_args *t, uint64_t row)
{
    const uint32_t parity = 0;
    for (uint32_t k = 0; k < t->ins; k++) {
        if (t->in_kind[k] == OP_TILE_ROW_NUMBER) {
            const float value =
                number_at(t, t->in[k] + row_offset(t, t->in_stride[k], row), t->in_type[k]);
            vector_dup(f32_at(t, t->in_slot[k], parity), value, (uint8_t)((t->tile + 63) / 64), 1,
                       1, 8, 8);
        }
    }
}

/* The first `bytes` of a slot over and over until `all` are filled, on pipe V. */
OP_INLINE void repeat_row(uint32_t slot, uint32_t bytes, uint32_t all)
{
    while (bytes < all) {
        const uint32_t more = op_min(bytes, all - bytes);
        pipe_barrier(PIPE_V);
        copy_ubuf_to_ubuf((__ubuf__ void *)(uintptr_t)(slot + bytes),
                          (__ubuf__ void *)(uintptr_t)slot, 0, 1, (uint16_t)op_units(more), 0, 0);
        bytes += more;
    }
}

/* Rows that repeat lie in their slot side by side. Blocks begin at different places of the row:
 * cores that load the same line at a time wait for each other. */
OP_INLINE void load_rows_once(const struct op_tile_args *t)
{
    for (uint32_t k = 0; k < t->ins; k++) {
        if (t->in_kind[k] != OP_TILE_ROW) {
            continue;
        }
        const uint32_t slot = slot_of(t, t->in_slot[k], 0),
                       bytes = (uint32_t)t->row * t->in_bytes[k];
        const uint32_t begin = (uint32_t)get_block_idx() * ROW_STAGGER % bytes;
        op_load(slot + begin, t->in[k] + begin, bytes - begin);
        if (begin > 0) {
            op_load(slot, t->in[k], begin);
        }
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ROW);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ROW);
        repeat_row(slot, bytes, (uint32_t)t->tile * t->in_bytes[k]);
    }
}

/* The numbers of the rows in this piece, each over its row. */
OP_INLINE void fill_columns(const struct op_tile_args *t, uint64_t first, uint32_t count)
{
    for (uint32_t k = 0; k < t->ins; k++) {
        if (t->in_kind[k] != OP_TILE_COLUMN) {
            continue;
        }
        set_vector_mask(0, t->row);
        for (uint32_t at = 0; at < count; at += t->row) {
            const float value = number_at(
                t, t->in[k] + (first + at) / t->row * (uint64_t)t->in_stride[k][0], t->in_type[k]);
            vector_dup(op_ub_f32(slot_of(t, t->in_slot[k], 0) + at * 4), value,
                       (uint8_t)((t->row + 63) / 64), 1, 1, 8, 8);
        }
    }
}

/* The used part of the arguments. */
static void take_args(struct op_tile_args *to, const struct op_tile_args *from)
{
    enum { FIXED = __builtin_offsetof(struct op_tile_args, columns) };
    __builtin_memcpy(&to->columns, &from->columns,
                     __builtin_offsetof(struct op_tile_args, slot) - FIXED);
    to->out = from->out;
    for (uint32_t i = 0; i < to->ins; i++) {
        to->in[i] = from->in[i];
    }
    for (uint32_t i = 0; i < to->slots; i++) {
        to->slot[i] = from->slot[i];
    }
    for (uint32_t i = 0; i < to->insns; i++) {
        to->insn[i] = from->insn[i];
    }
    for (uint32_t i = 0; i < to->numbers; i++) {
        to->number[i] = from->number[i];
    }
    for (uint32_t i = 0; i < to->fills; i++) {
        to->fill_slot[i] = from->fill_slot[i];
        to->fill_number[i] = from->fill_number[i];
    }
    const uint32_t strides = to->row ? 1 : to->outer; // of rows in a tile: from row to row
    for (uint32_t d = 0; d < strides; d++) {
        to->dim[d] = from->dim[d];
        to->out_stride[d] = from->out_stride[d];
        for (uint32_t i = 0; i < to->ins; i++) {
            to->in_stride[i][d] = from->in_stride[i][d];
        }
    }
}

__global__ __vector__ void tile_run(struct op_tile_args args)
{
    struct op_tile_args copy;
    const struct op_tile_args *t = &copy;
    take_args(&copy, &args);
    const uint64_t first = (uint64_t)get_block_idx() * t->per_block;
    const uint64_t end = op_min64(first + t->per_block, t->pieces);
    uint64_t filled = UINT64_MAX;
    const bool saturate = op_infinite_begin() && !t->infinite;
    uint32_t parity = 0;
    set_mask_count();
    set_vector_mask(0, t->tile);
    for (uint32_t k = 0; k < t->fills; k++) {
        vector_dup(f32_at(t, t->fill_slot[k], parity), t->number[t->fill_number[k]],
                   (uint8_t)((t->tile + 63) / 64), 1, 1, 8, 8);
    }
    for (uint32_t event = 0; event < 2; event++) {
        set_flag(PIPE_V, PIPE_MTE2, event);
        set_flag(PIPE_MTE3, PIPE_V, event);
    }
    load_rows_once(t);
    // Divisions are slow: the place is carried on from piece to piece.
    uint64_t row = first ? first / t->pieces_a_row : 0, in_row = first - row * t->pieces_a_row;
    for (uint64_t piece = first; piece < end; piece++, parity ^= 1) {
        const uint64_t at = in_row * t->tile;
        const uint32_t count = (uint32_t)op_min64(t->tile, t->columns - at);
        const uint8_t repeats = (uint8_t)((count + 63) / 64);
        wait_flag(PIPE_V, PIPE_MTE2, parity);
        load_piece(t, row, at, count, parity);
        set_flag(PIPE_MTE2, PIPE_V, parity);

        wait_flag(PIPE_MTE2, PIPE_V, parity);
        wait_flag(PIPE_MTE3, PIPE_V, parity);
        if (row != filled) {
            set_vector_mask(0, t->tile);
            pipe_barrier(PIPE_V); // the row before was read there
            fill_rows(t, row);
            filled = row;
        }
        if (t->row) {
            fill_columns(t, at, count);
        }
        set_vector_mask(0, count);
        for (uint32_t i = 0; i < t->insns; i++) {
            pipe_barrier(PIPE_V); // the first one also waits for what was filled in
            run_insn(t, &t->insn[i], parity, repeats, count, saturate);
        }
        set_flag(PIPE_V, PIPE_MTE2, parity);
        set_flag(PIPE_V, PIPE_MTE3, parity);

        wait_flag(PIPE_V, PIPE_MTE3, parity);
        op_store(t->out + row_offset(t, t->out_stride, row) + at * t->out_bytes,
                 slot_of(t, t->out_slot, parity), count * t->out_bytes);
        set_flag(PIPE_MTE3, PIPE_V, parity);
        if (++in_row == t->pieces_a_row) {
            in_row = 0;
            row++;
        }
    }
    for (uint32_t event = 0; event < 2; event++) {
        wait_flag(PIPE_V, PIPE_MTE2, event);
        wait_flag(PIPE_MTE3, PIPE_V, event);
    }
    op_flush();
}
