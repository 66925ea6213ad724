/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of max pooling on f16 maps in NC1HWC0, as they are stored. */
#include "../frame/layout.h"
#include "../frame/whole.h"
#include "pooling.h"

#include "pooling_spread_args.h"

#include <string.h>

enum {
    BLOCK_BYTES = 32,
    WIDE_BYTES = 64, /* 16 channels in f32 */
    REPEAT_BYTES = 256,
    BANK_ROW_BYTES = 512, /* what is chosen moves within a row of the buffer's banks */
    REPEATS_MAX = 255,    /* of an instruction over all windows of a piece */
    PIXELS = 4,           /* of a repeat in f32 */
    STEP_MAX = 63,        /* repeats of results step by 4 windows, in a field of 8 bits */
};

static int64_t reach_of(const struct op_pooling_dim *d)
{
    return (d->kernel - 1) * d->dilation;
}

/* Where everything of a piece of so many lines a place is; false: UB is too small. */
static bool lay_out(const struct op_pool *pool, uint32_t lines, struct op_pooling_spread_args *args)
{
    struct op_window_args *map = &args->map;
    const uint64_t windows = (uint64_t)(lines + args->reach) * args->columns,
                   eights = (windows + 7) / 8 * 8, line = (uint64_t)lines * args->columns,
                   places = (uint64_t)map->stride_h * map->stride_w;
    if (windows / PIXELS > REPEATS_MAX) {
        return false;
    }
    map->rows = lines;
    args->place_bytes = (uint32_t)line * WIDE_BYTES;
    args->side_bytes = (uint32_t)eights * BLOCK_BYTES;
    map->large_bytes = (uint32_t)op_round_up((int64_t)(places * line * BLOCK_BYTES), REPEAT_BYTES);
    map->slot_bytes = 3 * args->side_bytes; // the gradient in f16 is as large as half the numbers
    // Windows reach a few columns past the last row.
    const uint64_t sums = places * args->place_bytes + (uint64_t)args->columns * WIDE_BYTES,
                   gradient = (uint64_t)op_round_up((int64_t)sums, REPEAT_BYTES),
                   in = gradient + eights * WIDE_BYTES, out = in + 2 * (uint64_t)map->slot_bytes,
                   bits = out + 2 * (uint64_t)map->large_bytes,
                   chosen = bits + 2 * (uint64_t)op_round_up((int64_t)eights, REPEAT_BYTES),
                   end = chosen + eights * WIDE_BYTES + BANK_ROW_BYTES;
    if (end > op_plan_caps(pool->call->plan)->ub_bytes) {
        return false;
    }
    args->gradient = (uint32_t)gradient;
    args->in = (uint32_t)in;
    args->out = (uint32_t)out;
    args->bits[0] = (uint32_t)bits;
    args->bits[1] = (uint32_t)((bits + chosen) / 2);
    args->chosen = (uint32_t)chosen;
    args->end = (uint32_t)end;
    return true;
}

static int64_t pieces_of(const struct op_pooling_spread_args *args, int64_t lines)
{
    return op_parts(args->map.height + args->map.pad_h, lines * args->map.stride_h);
}

static bool make_args(const struct op_pool *pool, struct op_pooling_spread_args *args)
{
    const struct op_pooling_dim *h = &pool->dim[1], *w = &pool->dim[2];
    const int64_t *large = pool->large.dim, *small = pool->small.dim;
    struct op_window_args *map = &args->map;
    memset(args, 0, sizeof(*args));
    if (w->stride > STEP_MAX || large[3] > INT16_MAX || h->stride * large[4] > UINT16_MAX ||
        h->kernel > INT16_MAX || w->kernel > INT16_MAX || h->stride > INT16_MAX ||
        reach_of(h) > INT16_MAX || reach_of(w) > INT16_MAX) {
        return false;
    }
    map->groups = (uint32_t)((small[1] + 15) / 16);
    args->index_groups = (uint32_t)((small[1] + OP_WINDOW_LANES - 1) / OP_WINDOW_LANES);
    map->width = (uint32_t)large[4];
    map->height = (uint32_t)large[3];
    map->out_width = (uint32_t)small[4];
    map->out_height = (uint32_t)small[3];
    map->kernel_w = (uint32_t)w->kernel;
    map->kernel_h = (uint32_t)h->kernel;
    map->stride_w = (uint32_t)w->stride;
    map->stride_h = (uint32_t)h->stride;
    map->dilation_w = (uint32_t)w->dilation;
    map->dilation_h = (uint32_t)h->dilation;
    map->pad_w = (uint32_t)w->pad;
    map->pad_h = (uint32_t)h->pad;
    args->reach = (uint32_t)(reach_of(h) / h->stride);
    args->columns = (uint32_t)op_round_up(
        op_most(reach_of(w) / w->stride + small[4], op_parts(w->pad + large[4], w->stride)),
        PIXELS);
    map->pitch = args->columns * map->stride_w;
    int64_t lines = op_least(pieces_of(args, 1), REPEATS_MAX);
    // Smaller pieces rather than idle cores.
    const int64_t planes = small[0] * map->groups, cores = op_plan_vector_cores(pool->call->plan);
    lines = op_least(lines, op_parts(planes * pieces_of(args, 1), cores));
    while (lines > 0 && !lay_out(pool, (uint32_t)lines, args)) {
        lines--;
    }
    map->pieces = lines > 0 ? (uint64_t)(planes * pieces_of(args, lines)) : 0;
    return lines > 0;
}

leo_status op_pooling_plan_spread(const struct op_pool *pool)
{
    struct op_pooling_spread_args args;
    if (!op_pooling_has_lanes(pool) || !make_args(pool, &args)) {
        return OP_DECLINED;
    }
    args.map.small = pool->small.addr;
    args.map.large = pool->large.addr;
    args.map.index = pool->index->addr;
    const struct op_share share =
        op_share_make(args.map.pieces, 1, 1, op_plan_vector_cores(pool->call->plan));
    args.map.per_block = share.per_block;
    return op_plan_launch(pool->call->plan, "pooling_spread", "pool_max_spread", share.blocks,
                          &args, sizeof(args), 3);
}
