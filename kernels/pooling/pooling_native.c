/* SPDX-License-Identifier: Apache-2.0 */
/* Max pooling with its mask on f16 maps in NC1HWC0. The mask is that of maps in rows
 * (pooling_max.c), so that the gradient may have another format than the forward call had. */
#include "../frame/layout.h"
#include "../frame/whole.h"
#include "pooling.h"

#include "pooling_native_args.h"

#include <string.h>

enum {
    BLOCK_BYTES = 32,
    LANES = 16,
    REPEAT_BYTES = 256,
    REPEATS_MAX = 255, /* of an instruction over all windows of a piece */
    STEP_MAX = 31,     /* repeats step by 8 windows, in a field of 8 bits */
    EXACT_MAX = 2048,  /* numbers of elements in f16 */
};

/* Elements of a dimension from the first of a window to its last. */
static int64_t reach_of(const struct op_pooling_dim *d)
{
    return (d->kernel - 1) * d->dilation + 1;
}

/* As many rows a piece as half of UB holds; false if not one. */
static bool fit_rows(const struct op_pool *pool, struct op_pooling_native_args *args)
{
    const struct op_pooling_dim *h = &pool->dim[1], *w = &pool->dim[2];
    const uint32_t ub = op_plan_caps(pool->call->plan)->ub_bytes;
    const int64_t slack = reach_of(w) * BLOCK_BYTES; // behind the last line
    int64_t most = REPEATS_MAX * 8 / args->out_pitch;
    most = most < args->out_height ? most : args->out_height;
    args->places = (uint32_t)op_least(h->stride, reach_of(h));
    for (; most > 0; most--) {
        const int64_t windows = most * args->out_pitch;
        args->lines = (uint32_t)(most + (reach_of(h) - 1) / h->stride);
        args->in_bytes = (uint32_t)op_round_up(
            (int64_t)args->places * args->lines * args->pitch * BLOCK_BYTES + slack, REPEAT_BYTES);
        // Largest, numbers in f16 and f32, a repeat of a constant, bits.
        args->slot_bytes = (uint32_t)op_round_up(
            args->in_bytes + windows * 4 * BLOCK_BYTES + REPEAT_BYTES + windows * 2, REPEAT_BYTES);
        args->rows = (uint32_t)most;
        if ((uint64_t)args->slot_bytes * 2 <= ub) {
            return true;
        }
    }
    return false;
}

static bool make_args(const struct op_pool *pool, struct op_pooling_native_args *args)
{
    const struct op_pooling_dim *h = &pool->dim[1], *w = &pool->dim[2];
    const int64_t *large = pool->large.dim, *small = pool->small.dim;
    memset(args, 0, sizeof(*args));
    if (w->stride > STEP_MAX || h->kernel * w->kernel > EXACT_MAX ||
        small[4] > REPEATS_MAX * 8 - LANES || h->stride * large[4] > UINT16_MAX ||
        large[3] > INT16_MAX || large[4] > INT16_MAX) {
        return false;
    }
    args->groups = (uint32_t)((small[1] + LANES - 1) / LANES);
    args->index_groups = (uint32_t)((small[1] + LANES / 2 - 1) / (LANES / 2));
    args->width = (uint32_t)large[4];
    args->height = (uint32_t)large[3];
    args->out_width = (uint32_t)small[4];
    args->out_height = (uint32_t)small[3];
    args->kernel_w = (uint32_t)w->kernel;
    args->kernel_h = (uint32_t)h->kernel;
    args->stride_w = (uint32_t)w->stride;
    args->stride_h = (uint32_t)h->stride;
    args->dilation_w = (uint32_t)w->dilation;
    args->dilation_h = (uint32_t)h->dilation;
    args->pad_w = (uint32_t)w->pad;
    args->pad_h = (uint32_t)h->pad;
    const int64_t line = op_most(large[4] + w->pad, (small[4] - 1) * w->stride + reach_of(w));
    args->out_pitch = (uint32_t)op_round_up((line + w->stride - 1) / w->stride, 8);
    args->pitch = args->out_pitch * args->stride_w;
    if (!fit_rows(pool, args)) {
        return false;
    }
    // Smaller pieces rather than idle cores.
    const int64_t planes = small[0] * args->groups, cores = op_plan_vector_cores(pool->call->plan),
                  wanted = (planes * args->out_height + cores - 1) / cores;
    args->rows = wanted < args->rows ? (uint32_t)op_most(wanted, 1) : args->rows;
    args->pieces = (uint64_t)(planes * ((args->out_height + args->rows - 1) / args->rows));
    return true;
}

leo_status op_pooling_plan_native(const struct op_pool *pool)
{
    struct op_pooling_native_args args;
    if (!op_pooling_has_lanes(pool) || !make_args(pool, &args)) {
        return OP_DECLINED;
    }
    args.in = pool->large.addr;
    args.out = pool->small.addr;
    args.index = pool->index->addr;
    const struct op_share share =
        op_share_make(args.pieces, 1, 1, op_plan_vector_cores(pool->call->plan));
    args.per_block = share.per_block;
    return op_plan_launch(pool->call->plan, "pooling_native", "pool_max_native", share.blocks,
                          &args, sizeof(args), 3);
}
