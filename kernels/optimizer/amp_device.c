/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient scaling of mixed precision training. */
#include "../device/copy.h"
#include "../device/element.h"
#include "../device/widen.h"
#include "amp_args.h"

#include <math.h>

enum {
    TILE = OP_UNSCALE_TILE,
    WIDE_BYTES = TILE * 4,
    RAW = 0, /* two places: as they are in memory, there and back */
    WIDE = RAW + 2 * WIDE_BYTES,
    CHECKED = WIDE + WIDE_BYTES, /* times 0: 0, or NaN of what is not finite */
    PARTS = CHECKED + WIDE_BYTES,
    TOTAL = PARTS + 512, /* 0 or NaN */
};

OP_INLINE uint8_t repeats_of(uint32_t count)
{
    return (uint8_t)((count + 63) / 64);
}

/* TOTAL becomes NaN if one of the elements at `at` is not finite. */
OP_INLINE void check(uint32_t at, uint32_t count)
{
    vmuls(op_ub_f32(CHECKED), op_ub_f32(at), 0.0f, repeats_of(count), 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vcadd(op_ub_f32(PARTS), op_ub_f32(CHECKED), repeats_of(count), 1, 1, 8, 0);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, repeats_of(count));
    vadd(op_ub_f32(TOTAL), op_ub_f32(TOTAL), op_ub_f32(PARTS), repeats_of(repeats_of(count)), 1, 1,
         1, 8, 8, 8);
    set_vector_mask(0, count);
}

/* Elements on their way through UB. */
struct piece {
    uint64_t at; /* address */
    uint32_t count, raw, slot;
};

/* Flags, event = slot 0, 1: MTE3 -> MTE2 the tile stored, MTE2 -> V loaded, V -> MTE3 ready. */
OP_INLINE void unscale(const struct piece *p, float scale, uint32_t type, uint32_t unit)
{
    wait_flag(PIPE_MTE3, PIPE_MTE2, p->slot);
    op_load(p->raw, p->at, p->count * unit);
    set_flag(PIPE_MTE2, PIPE_V, p->slot);
    wait_flag(PIPE_MTE2, PIPE_V, p->slot);
    const uint32_t wide = unit == 4 ? p->raw : WIDE;
    pipe_barrier(PIPE_V);
    set_vector_mask(0, p->count);
    if (unit == 2) {
        op_widen(WIDE, p->raw, type, repeats_of(p->count));
    }
    pipe_barrier(PIPE_V);
    check(wide, p->count);
    if (scale != 1) {
        vmuls(op_ub_f32(wide), op_ub_f32(wide), scale, repeats_of(p->count), 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        if (unit == 2) {
            op_narrow(p->raw, WIDE, type, repeats_of(p->count));
        }
    }
    set_flag(PIPE_V, PIPE_MTE3, p->slot);
    wait_flag(PIPE_V, PIPE_MTE3, p->slot);
    if (scale != 1) {
        op_store(p->at, p->raw, p->count * unit);
    }
    set_flag(PIPE_MTE3, PIPE_MTE2, p->slot);
}

/* Event 2: V -> S, all are checked. */
__global__ __vector__ void amp_unscale(struct op_unscale_args args)
{
    (void)op_infinite_begin();
    const uint32_t type = args.grad_type, unit = op_bytes_of(type),
                   first = (uint32_t)get_block_idx() * args.per_block,
                   end = op_min(first + args.per_block, args.tiles);
    const float scale = op_get_f(args.scale, args.scale_type);
    uint32_t member = args.members.start[get_block_idx()], slot = 0;
    set_mask_count();
    set_vector_mask(0, TILE / 64);
    vector_dup(op_ub_f32(TOTAL), 0.0f, TILE / 64 / 64, 1, 1, 8, 8);
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
    for (uint32_t tile = first; tile < end; member++) {
        const uint32_t begin = args.members.member[member].first,
                       count = args.members.member[member].count,
                       stop = op_min(args.members.member[member + 1].first, end);
        for (; tile < stop; tile++, slot ^= 1) {
            const uint32_t from = (tile - begin) * TILE;
            const struct piece piece = {.at = args.grad[member] + (uint64_t)from * unit,
                                        .count = op_min(TILE, count - from),
                                        .raw = RAW + slot * WIDE_BYTES,
                                        .slot = slot};
            unscale(&piece, scale, type, unit);
        }
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, TILE / 64);
    vcadd(op_ub_f32(PARTS), op_ub_f32(TOTAL), TILE / 64 / 64, 1, 1, 8, 0);
    set_flag(PIPE_V, PIPE_S, 2);
    wait_flag(PIPE_V, PIPE_S, 2);
    const __ubuf__ volatile float *sums = (const __ubuf__ volatile float *)(uintptr_t)PARTS;
    const float sum = sums[0] + sums[1];
    // The whole line: amp_join loads lines as blocks.
    __gm__ volatile uint64_t *line =
        (__gm__ volatile uint64_t *)(args.flags + (uint64_t)get_block_idx() * OP_LINE);
    line[0] = sum != sum;
    for (uint32_t i = 1; i < OP_LINE / sizeof(*line); i++) {
        line[i] = 0;
    }
    op_flush();
}

/* found = 1 if a block found something; else it stays. */
__global__ __vector__ void amp_join(struct op_unscale_args args)
{
    enum { LINES = 1024 }; // a load; read one by one, each would miss the scalar unit's cache
    const __ubuf__ volatile uint64_t *found = (const __ubuf__ volatile uint64_t *)(uintptr_t)RAW;
    bool any = false;
    for (uint32_t first = 0; first < args.lines && !any; first += LINES) {
        const uint32_t count = (uint32_t)op_min64(LINES, args.lines - first);
        op_load(RAW, args.flags + first * (uint64_t)OP_LINE, count * OP_LINE);
        set_flag(PIPE_MTE2, PIPE_S, 1);
        wait_flag(PIPE_MTE2, PIPE_S, 1);
        for (uint32_t i = 0; i < count && !any; i++) {
            any = found[i * (OP_LINE / sizeof(*found))] != 0;
        }
        set_flag(PIPE_S, PIPE_MTE2, 1);
        wait_flag(PIPE_S, PIPE_MTE2, 1);
    }
    if (any) {
        op_put_f(args.found, args.found_type, 1);
    }
    op_flush();
}

__global__ __vector__ void amp_update(struct op_amp_update_args args)
{
    const struct op_amp_update_args t = args;
    float scale = op_get_f(t.scale, t.scale_type);
    int64_t tracker = op_get_i(t.tracker, t.tracker_type);
    if (op_get_f(t.found, t.found_type) != 0) {
        scale *= (float)t.backoff;
        tracker = 0;
    } else if (tracker + 1 == t.interval) {
        const float grown = scale * (float)t.growth;
        scale = grown < INFINITY ? grown : scale;
        tracker = 0;
    } else {
        tracker++;
    }
    op_put_f(t.new_scale, t.new_scale_type, scale);
    op_put_i(t.new_tracker, t.new_tracker_type, tracker);
    op_flush();
}
