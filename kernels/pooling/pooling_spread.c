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
    REPEATS_MAX = 255,    /* of an instruction over all windows of a piece, 8 windows each */
    PIXELS = 4,           /* of a repeat in f32 */
    STEP_MAX = 63,        /* repeats of results step by 4 windows, in a field of 8 bits */
};

static int64_t reach_of(const struct op_pooling_dim *d)
{
    return (d->kernel - 1) * d->dilation;
}

/* Where everything of a piece of so many lines is; false: UB is too small. */
static bool lay_out(const struct op_pool *pool, uint32_t lines, struct op_pooling_spread_args *args)
{
    struct op_window_args *map = &args->map;
    map->rows = lines;
    map->lines = (uint32_t)op_least((lines - 1 + reach_of(&pool->dim[1])) / map->stride_h + 1,
                                    map->out_height);
    const uint32_t windows = map->lines * map->out_pitch, eights = (windows + 7) / 8 * 8;
    if (eights / 8 > REPEATS_MAX) {
        return false;
    }
    const uint64_t sums = (uint64_t)map->stride_w * lines * args->columns * WIDE_BYTES;
    args->side_bytes = eights * BLOCK_BYTES;
    map->large_bytes = (uint32_t)op_round_up(lines * map->pitch * BLOCK_BYTES, REPEAT_BYTES);
    map->slot_bytes = eights * BLOCK_BYTES + 2 * args->side_bytes;
    const uint64_t gradient = (uint64_t)op_round_up((int64_t)sums, REPEAT_BYTES),
                   in = gradient + (uint64_t)eights * WIDE_BYTES, out = in + 2 * map->slot_bytes,
                   bits = out + 2 * map->large_bytes,
                   chosen = bits + 2 * (uint64_t)op_round_up(eights, REPEAT_BYTES),
                   end = chosen + (uint64_t)eights * WIDE_BYTES + BANK_ROW_BYTES;
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

static bool make_args(const struct op_pool *pool, struct op_pooling_spread_args *args)
{
    const struct op_pooling_dim *h = &pool->dim[1], *w = &pool->dim[2];
    const int64_t *large = pool->large.dim, *small = pool->small.dim;
    struct op_window_args *map = &args->map;
    memset(args, 0, sizeof(*args));
    if (w->stride > STEP_MAX || small[4] > REPEATS_MAX * 8 || large[3] > INT16_MAX ||
        large[4] > INT16_MAX || h->kernel > INT16_MAX || w->kernel > INT16_MAX ||
        h->stride > INT16_MAX || reach_of(h) > INT16_MAX || reach_of(w) > INT16_MAX) {
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
    map->out_pitch = (uint32_t)op_round_up(small[4], PIXELS);
    const int64_t reached = reach_of(w) / w->stride + map->out_pitch,
                  held = (w->pad + large[4] + w->stride - 1) / w->stride;
    args->columns = (uint32_t)op_round_up(op_most(reached, held), PIXELS);
    map->pitch = args->columns * map->stride_w;
    uint32_t lines = (uint32_t)op_least(map->height, REPEATS_MAX);
    while (lines > 0 && !lay_out(pool, lines, args)) {
        lines--;
    }
    if (lines == 0) {
        return false;
    }
    // Smaller pieces rather than idle cores.
    const int64_t planes = small[0] * map->groups, cores = op_plan_vector_cores(pool->call->plan),
                  wanted = op_most((planes * map->height + cores - 1) / cores, 1);
    if (wanted < lines && !lay_out(pool, (uint32_t)wanted, args)) {
        return false;
    }
    map->pieces = (uint64_t)(planes * ((map->height + map->rows - 1) / map->rows));
    return true;
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
