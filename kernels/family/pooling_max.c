/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max pooling in two dimensions on the vector unit, in f32: planes become groups of eight channels,
 * whose pixels are blocks of 32 bytes, by one transposition, and results go back by another.
 */
#include "pooling.h"

#include "../device/pooling_max_args.h"

#include <string.h>

enum {
    LANES = OP_POOLING_LANES,
    BLOCK_BYTES = 32,
    REPEATS_MOST = 255, /* of an instruction, 8 windows each */
    MASK_BYTES = 4096,  /* of UB, for bits of windows */
    REPEAT_BYTES = 256, /* what fills of UB take */
    STEP_MOST = 31,     /* repeats step by 8 windows, in a field of 8 bits */
};

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t reach_of(const struct op_pooling_dim *d)
{
    return (d->kernel - 1) * d->dilation + 1;
}

static uint32_t slot_bytes(const struct op_pooling_max_args *args, bool backward)
{
    const uint32_t small = backward ? args->lines : args->rows;
    return args->large_bytes + 2 * small * args->out_pitch * BLOCK_BYTES;
}

/* As many rows a piece as half of UB holds; false if not one. */
static bool fit_rows(const struct op_pool *pool, struct op_pooling_max_args *args)
{
    const struct op_pooling_dim *h = &pool->dim[1], *w = &pool->dim[2];
    const uint32_t ub = op_plan_caps(pool->call->plan)->ub_bytes;
    // What the windows of whole repeats reach beyond the last row.
    const int64_t reads = (args->out_pitch - 1) * w->stride + reach_of(w);
    const int64_t slack = largest(reads - args->pitch, 0);
    const uint32_t rest = MASK_BYTES + 2 * args->out_pitch * BLOCK_BYTES;
    const uint32_t most = pool->backward ? args->height : args->out_height;
    for (args->rows = most; args->rows > 0; args->rows--) {
        const int64_t rows = args->rows;
        const int64_t large = pool->backward ? rows : (rows - 1) * h->stride + reach_of(h);
        args->lines = (uint32_t)((rows - 1 + reach_of(h) - 1) / h->stride + 2);
        args->large_bytes =
            (uint32_t)round_up((large * args->pitch + slack) * BLOCK_BYTES, REPEAT_BYTES);
        args->slot_bytes = slot_bytes(args, pool->backward);
        if ((uint64_t)args->slot_bytes * 2 + rest <= ub) {
            return true;
        }
    }
    return false;
}

static bool make_args(const struct op_pool *pool, struct op_pooling_max_args *args)
{
    const struct op_pooling_dim *d = pool->dim, *h = &d[1], *w = &d[2];
    const int64_t *large = pool->large.dim, *small = pool->small.dim;
    const int64_t groups = (small[1] + LANES - 1) / LANES, positions = small[3] * small[4];
    const int64_t mask_bytes =
        small[0] * small[1] * h->kernel * w->kernel * ((positions + 15) / 16 + 1) * 32;
    const enum op_type type = pool->large.type;
    memset(args, 0, sizeof(*args));
    if (!pool->mask || pool->dims != 2 || h->kernel * w->kernel == 1 ||
        (type != OP_TYPE_F32 && type != OP_TYPE_F16 && type != OP_TYPE_BF16) ||
        pool->small.type != type || positions == 0 || groups == 0 || small[0] == 0 ||
        groups * small[0] * positions * BLOCK_BYTES > mask_bytes || w->stride > STEP_MOST ||
        small[4] > REPEATS_MOST * LANES || large[3] > INT16_MAX || h->kernel > INT16_MAX) {
        return false;
    }
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
    args->pitch = (uint32_t)largest(large[4] + w->pad, (small[4] - 1) * w->stride + reach_of(w));
    args->out_pitch = (uint32_t)round_up(small[4], LANES);
    if (!fit_rows(pool, args)) {
        return false;
    }
    // Smaller pieces rather than idle cores.
    const uint32_t all = pool->backward ? args->height : args->out_height,
                   cores = op_plan_vector_cores(pool->call->plan);
    const int64_t planes = small[0] * groups, wanted = (planes * all + cores - 1) / cores;
    args->rows = wanted < args->rows ? (uint32_t)largest(wanted, 1) : args->rows;
    args->pieces = (uint64_t)(planes * ((all + args->rows - 1) / args->rows));
    return true;
}

bool op_pooling_has_lanes(const struct op_pool *pool)
{
    struct op_pooling_max_args args;
    struct op_pool other = *pool;
    other.backward = !pool->backward;
    return make_args(pool, &args) && make_args(&other, &args);
}

/* Tensor [n, c, 1, h, w] as [n, c / 8, h, w, 8] from channel `first` on, `lanes` of a group. */
static struct op_tensor view_lanes(const struct op_tensor *t, int64_t first, int64_t groups,
                                   int64_t lanes)
{
    struct op_tensor view = {.type = t->type, .rank = 5};
    const int64_t dim[] = {t->dim[0], groups, t->dim[3], t->dim[4], lanes};
    const int64_t stride[] = {t->stride[0], LANES * t->stride[1], t->stride[3], t->stride[4],
                              t->stride[1]};
    view.addr = t->addr + (uint64_t)(first * t->stride[1] * op_type_bytes(t->type));
    memcpy(view.dim, dim, sizeof(dim));
    memcpy(view.stride, stride, sizeof(stride));
    return view;
}

/* Copies between planes and groups of lanes; `back`: to planes. */
static leo_status copy_lanes(const struct op_pool *pool, const struct op_tensor *planes,
                             const struct op_tensor *lanes, bool back)
{
    const int64_t channels = planes->dim[1], whole = channels / LANES, rest = channels % LANES;
    leo_status status = LEO_OK;
    for (int part = 0; part < 2 && status == LEO_OK; part++) {
        const int64_t groups = part ? rest != 0 : whole, width = part ? rest : LANES;
        const struct op_tensor a = view_lanes(planes, part ? whole * LANES : 0, groups, width);
        struct op_tensor b = *lanes;
        b.addr += part ? (uint64_t)(whole * lanes->stride[1] * 4) : 0;
        b.dim[1] = groups;
        b.dim[4] = width;
        if (groups) {
            status = op_plan_copy(pool->call->plan, back ? &a : &b, back ? &b : &a);
        }
    }
    return status;
}

static struct op_tensor temp_lanes(const struct op_tensor *planes, uint64_t addr)
{
    const int64_t dim[] = {planes->dim[0], (planes->dim[1] + LANES - 1) / LANES, planes->dim[3],
                           planes->dim[4], LANES};
    return op_tensor_dense(addr, OP_TYPE_F32, 5, dim);
}

static leo_status make_lanes(const struct op_pool *pool, const struct op_tensor *planes, bool load,
                             struct op_tensor *out)
{
    struct op_tensor wide = *planes;
    uint64_t addr;
    *out = temp_lanes(planes, 0);
    const uint64_t bytes = (uint64_t)op_tensor_count(out) * 4;
    leo_status status = op_plan_temp_bytes(pool->call->plan, bytes, &addr);
    *out = temp_lanes(planes, addr);
    if (status == LEO_OK && planes->dim[1] % LANES != 0) {
        status = op_plan_fill(pool->call->plan, addr, 0, bytes);
    }
    if (status == LEO_OK && load && planes->type != OP_TYPE_F32) {
        status = op_plan_dense(pool->call->plan, planes, OP_TYPE_F32, &wide);
    }
    return status == LEO_OK && load ? copy_lanes(pool, &wide, out, false) : status;
}

// The result, which is f32 in lanes.
static leo_status finish(const struct op_pool *pool, const struct op_tensor *lanes,
                         const struct op_tensor *planes)
{
    struct op_tensor wide = *planes;
    if (planes->type == OP_TYPE_F32) {
        return copy_lanes(pool, planes, lanes, true);
    }
    leo_status status =
        op_plan_temp(pool->call->plan, OP_TYPE_F32, planes->rank, planes->dim, &wide);
    if (status == LEO_OK) {
        status = copy_lanes(pool, &wide, lanes, true);
    }
    return status == LEO_OK ? op_plan_copy(pool->call->plan, planes, &wide) : status;
}

leo_status op_pooling_plan_max(const struct op_pool *pool, bool *taken)
{
    struct op_plan *plan = pool->call->plan;
    struct op_pooling_max_args args;
    struct op_tensor small, large;
    *taken = make_args(pool, &args);
    if (!*taken) {
        return LEO_OK;
    }
    leo_status status = make_lanes(pool, &pool->small, pool->backward, &small);
    if (status == LEO_OK) {
        status = make_lanes(pool, &pool->large, !pool->backward, &large);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.small = small.addr;
    args.large = large.addr;
    args.index = pool->index->addr;
    const struct op_share share = op_share_make(args.pieces, 1, 1, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    status = op_plan_launch(plan, "pooling_max", pool->backward ? "pool_max_gradient" : "pool_max",
                            share.blocks, &args, sizeof(args), 3);
    if (status != LEO_OK) {
        return status;
    }
    return pool->backward ? finish(pool, &large, &pool->large) : finish(pool, &small, &pool->small);
}
