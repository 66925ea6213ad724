/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by select.c. Values and positions where a mask of bytes is not 0, packed by the vector
 * unit: a block takes the parts that it counted, and the counts of the parts before tell where its
 * results begin.
 *
 * Flags, event = slot. MTE3 -> MTE2: slot free; MTE2 -> V: loaded; V -> MTE3: packed.
 */
#pragma once

#include "../device/copy.h"

enum {
    PACK_MASK = 0,
    PACK_HALVES = PACK_MASK + 2 * OP_SELECT_PART, /* the mask as f16 */
    PACK_BITS = PACK_HALVES + 2 * OP_SELECT_PART,
    PACK_IN = PACK_BITS + OP_SELECT_PART / 8, /* values, or places in the part */
    PACK_OUT = PACK_IN + 2 * 4 * OP_SELECT_PART,
    PACK_WIDE = PACK_OUT + 2 * 4 * OP_SELECT_PART,
    PACK_LANES = 64,
};

OP_INLINE __ubuf__ uint16_t *pack_u16(uint32_t at)
{
    return (__ubuf__ uint16_t *)(uintptr_t)at;
}

OP_INLINE __ubuf__ uint32_t *pack_u32(uint32_t at)
{
    return (__ubuf__ uint32_t *)(uintptr_t)at;
}

/* 0, 1, 2, .. for each element of a part. */
OP_INLINE void make_places(void)
{
    for (uint32_t i = 0; i < PACK_LANES; i++) {
        ((__ubuf__ volatile int32_t *)(uintptr_t)PACK_IN)[i] = (int32_t)i;
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
    set_vector_mask(0, PACK_LANES);
    for (uint32_t i = PACK_LANES; i < OP_SELECT_PART; i += PACK_LANES) {
        vadds(op_ub_s32(PACK_IN + i * 4), op_ub_s32(PACK_IN), (int32_t)i, 1, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
}

/* Results before the block's first part; the first block tells how many there are. */
static uint64_t count_before(const struct op_select_args *a, uint64_t part)
{
    uint64_t before = 0;
    if (get_block_idx() == 0) {
        (void)sum_counts(a);
        return 0;
    }
    for (uint64_t i = 0; i < part; i++) {
        before += ((const __gm__ volatile uint64_t *)a->counts)[i];
    }
    return before;
}

OP_INLINE void make_bits(uint32_t mask, uint32_t count)
{
    set_vector_mask(0, count);
    vconv_u82f16(op_ub_f16(PACK_HALVES), (__ubuf__ uint8_t *)(uintptr_t)mask, 1, 1, 1, 8, 4);
    pipe_barrier(PIPE_V);
    vcmpvs_ne((__ubuf__ uint8_t *)(uintptr_t)PACK_BITS, op_ub_f16(PACK_HALVES), (half)0, 1, 1, 1, 8,
              8);
    pipe_barrier(PIPE_V);
}

/* The packed places as positions of 64 bits. */
OP_INLINE void widen_places(uint32_t packed, uint32_t wide, uint32_t count, uint64_t first)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    vadds(op_ub_s32(packed), op_ub_s32(packed), (int32_t)first, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vconv_s322s64((__ubuf__ int64_t *)(uintptr_t)wide, op_ub_s32(packed), 1, 1, 1, 8, 4);
}

OP_INLINE void pack(const struct op_select_args *a, bool places)
{
    const uint32_t unit = places ? 8 : op_bytes_of(a->out_type);
    const uint64_t begin = (uint64_t)get_block_idx() * a->per_block,
                   end = op_min64(begin + a->per_block, parts_of(a));
    uint64_t n = count_before(a, begin);
    uint32_t slot = 0;
    set_mask_count();
    if (places) {
        make_places();
    }
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
    for (uint64_t part = begin; part < end; part++) {
        const uint32_t kept = (uint32_t)((const __gm__ volatile uint64_t *)a->counts)[part];
        if (kept == 0) {
            continue;
        }
        const uint64_t first = part * OP_SELECT_PART;
        const uint32_t count = (uint32_t)op_min64(OP_SELECT_PART, a->elements - first),
                       mask = PACK_MASK + slot * OP_SELECT_PART,
                       in = PACK_IN + (places ? 0 : slot * 4 * OP_SELECT_PART),
                       packed = PACK_OUT + slot * 4 * OP_SELECT_PART,
                       wide = PACK_WIDE + slot * 8 * OP_SELECT_PART;
        wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
        op_load(mask, a->mask + first, count);
        if (!places) {
            op_load(in, a->in + first * unit, count * unit);
        }
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        make_bits(mask, count);
        if (unit == 2) {
            vreducev2(pack_u16(packed), pack_u16(in), pack_u16(PACK_BITS), 1, 1, 0, 8, 0);
        } else {
            vreducev2(pack_u32(packed), pack_u32(in), pack_u32(PACK_BITS), 1, 1, 0, 8, 0);
        }
        if (places) {
            widen_places(packed, wide, kept, first);
        }
        pipe_barrier(PIPE_V); // the next part's bits
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        op_store(a->out + n * unit, places ? wide : packed, kept * unit);
        set_flag(PIPE_MTE3, PIPE_MTE2, slot);
        n += kept;
        slot ^= 1;
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
    op_flush();
}

__global__ __vector__ void select_pack_positions(struct op_select_args args)
{
    const struct op_select_args a = args;
    pack(&a, true);
}

__global__ __vector__ void select_pack_values(struct op_select_args args)
{
    const struct op_select_args a = args;
    pack(&a, false);
}
