/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling in two dimensions on the vector unit: launches of pooling/pooling_max_device.c and, for
 * averages, of pooling/window_sums_device.c. */
#include "pooling.h"
#include "windows.h"

#include <string.h>

enum {
    MASK_BYTES = 4096,       /* of UB, for bits of windows */
    POSITIONS_MAX = 1 << 24, /* of a plane: f32 holds every one */
    LEAST_WORK = 1024,       /* elements of the maps; fewer are not worth the copies */
};

static bool is_float32_or_half(enum op_type type)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_BF16;
}

// Windows that share out the input evenly are of one size if the numbers divide.
static bool take_dim(const struct op_pool *pool, unsigned d, struct op_windows *w)
{
    const struct op_pooling_dim *dim = &pool->dim[1 + d];
    w->large[d] = pool->large.dim[3 + d];
    w->small[d] = pool->small.dim[3 + d];
    if (!pool->adaptive) {
        w->kernel[d] = dim->kernel;
        w->stride[d] = dim->stride;
        w->pad[d] = dim->pad;
        w->dilation[d] = dim->dilation;
        return true;
    }
    if (w->small[d] == 0 || w->large[d] % w->small[d] != 0) {
        return false;
    }
    w->kernel[d] = w->stride[d] = w->large[d] / w->small[d];
    w->pad[d] = 0;
    w->dilation[d] = 1;
    return true;
}

static bool make_args(const struct op_pool *pool, struct op_window_args *args)
{
    struct op_windows w = {.plan = pool->call->plan,
                           .images = pool->small.dim[0],
                           .channels = pool->small.dim[1],
                           .of_large = pool->backward,
                           .small_tensors = pool->max ? 2 : 1,
                           .rest_rows = 2,
                           .rest_bytes = pool->max ? MASK_BYTES : 0};
    if (pool->dims != 2 || !is_float32_or_half(pool->large.type) ||
        pool->small.type != pool->large.type || !take_dim(pool, 0, &w) || !take_dim(pool, 1, &w)) {
        return false;
    }
    const bool positions = pool->max && !pool->mask;
    if (positions) {
        w.rest_rows = 4;
    }
    const int64_t positions_of = w.small[0] * w.small[1];
    if (pool->mask) {
        const int64_t groups = (w.channels + OP_WINDOW_LANES - 1) / OP_WINDOW_LANES;
        const int64_t mask_bytes =
            w.images * w.channels * w.kernel[0] * w.kernel[1] * ((positions_of + 15) / 16 + 1) * 32;
        if (w.kernel[0] * w.kernel[1] == 1 || groups * w.images * positions_of * 32 > mask_bytes) {
            return false;
        }
    } else if (positions && (w.large[0] + 1) * (w.large[1] + w.pad[1] + 1) > POSITIONS_MAX) {
        return false;
    } else if (!pool->max &&
               w.images * w.channels * positions_of * w.kernel[0] * w.kernel[1] < LEAST_WORK) {
        return false;
    }
    if (!op_windows_fit(&w, args)) {
        return false;
    }
    args->positions = positions;
    return true;
}

bool op_pooling_has_lanes(const struct op_pool *pool)
{
    struct op_window_args args;
    struct op_pool other = *pool;
    other.backward = !pool->backward;
    return make_args(pool, &args) && make_args(&other, &args);
}

static leo_status launch(const struct op_pool *pool, struct op_window_args *args,
                         const char *program, const char *kernel)
{
    struct op_plan *plan = pool->call->plan;
    const struct op_share share = op_share_make(args->pieces, 1, 1, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    return op_plan_launch(plan, program, kernel, share.blocks, args, sizeof(*args), 4);
}

// Both maps in lanes; the one that is read is loaded.
static leo_status load_maps(const struct op_pool *pool, struct op_tensor *small,
                            struct op_tensor *large)
{
    struct op_plan *plan = pool->call->plan;
    leo_status status = op_windows_load(plan, &pool->small, pool->backward, small);
    return status == LEO_OK ? op_windows_load(plan, &pool->large, !pool->backward, large) : status;
}

static leo_status store_map(const struct op_pool *pool, const struct op_tensor *small,
                            const struct op_tensor *large)
{
    return pool->backward ? op_windows_store(pool->call->plan, large, &pool->large)
                          : op_windows_store(pool->call->plan, small, &pool->small);
}

leo_status op_pooling_plan_max(const struct op_pool *pool)
{
    struct op_plan *plan = pool->call->plan;
    struct op_window_args args;
    struct op_tensor small, large, index = pool->small, index_lanes = {0};
    if (!make_args(pool, &args)) {
        return OP_DECLINED;
    }
    index.type = pool->index->type;
    index.addr = pool->index->addr;
    leo_status status = load_maps(pool, &small, &large);
    if (status == LEO_OK && args.positions) {
        // Indices lie as small would without gaps.
        index = op_tensor_dense(index.addr, index.type, index.rank, index.dim);
        status = op_windows_load(plan, &index, pool->backward, &index_lanes);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.small = small.addr;
    args.large = large.addr;
    args.index = args.positions ? index_lanes.addr : index.addr;
    status = launch(pool, &args, "pooling_max", pool->backward ? "pool_max_gradient" : "pool_max");
    if (status == LEO_OK) {
        status = store_map(pool, &small, &large);
    }
    return status == LEO_OK && args.positions && !pool->backward
               ? op_windows_store(plan, &index_lanes, &index)
               : status;
}

leo_status op_pooling_plan_average(const struct op_pool *pool)
{
    struct op_window_args args;
    struct op_tensor small, large;
    if (!make_args(pool, &args)) {
        return OP_DECLINED;
    }
    leo_status status = load_maps(pool, &small, &large);
    if (status != LEO_OK) {
        return status;
    }
    args.small = small.addr;
    args.large = large.addr;
    if (op_call_has(pool->call, "countIncludePad")) {
        args.count_pad = op_call_int(pool->call, "countIncludePad") != 0;
        args.divisor = (float)op_call_int(pool->call, "divisorOverride");
    }
    status = launch(pool, &args, "window_sums", pool->backward ? "window_spread" : "window_sum");
    return status == LEO_OK ? store_map(pool, &small, &large) : status;
}
