/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling, forward and backward. */
#include "pooling.h"
#include "../frame/layout.h"
#include "../frame/variant.h"
#include "../norm/batch_norm_blocks.h"
#include "windows.h"

#include <inttypes.h>
#include <string.h>

// The first of these parameters that the row has.
static const char *param_of(const struct op_call *call, const char *const *names)
{
    while (*names && !op_call_has(call, *names)) {
        names++;
    }
    return *names;
}

static struct op_tensor widen(const struct op_tensor *tensor, unsigned dims)
{
    struct op_tensor wide = *tensor;
    wide.rank = 2 + OP_POOLING_DIMS;
    for (unsigned i = 0; i < wide.rank; i++) {
        wide.dim[i] = 1;
        wide.stride[i] = 0;
    }
    for (unsigned i = 0; i < tensor->rank; i++) {
        const unsigned from_end = tensor->rank - 1 - i; // positions last, then the channel
        const unsigned to = from_end < dims ? wide.rank - 1 - from_end : 1 + dims - from_end;
        wide.dim[to] = tensor->dim[i];
        wide.stride[to] = tensor->stride[i];
    }
    return wide;
}

static leo_status take_tensors(struct op_pool *pool)
{
    static const char *const outs[] = {"out", "outputOut", "gradInput", "output", NULL};
    static const char *const indices[] = {"indices", "indicesOut", NULL};
    const struct op_call *call = pool->call;
    const char *out = param_of(call, outs), *index = param_of(call, indices);
    const struct op_tensor *self = op_call_tensor(call, "self");
    pool->small_name = pool->backward ? "gradOutput" : out;
    pool->large_name = pool->backward ? out : "self";
    const struct op_tensor *small = op_call_tensor(call, pool->small_name),
                           *large = op_call_tensor(call, pool->large_name);
    pool->index = index ? op_call_tensor(call, index) : NULL;
    if (large->rank < pool->dims + 1 || large->rank > pool->dims + 2 ||
        small->rank != large->rank) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s has shape %s and %s %s: both must have %u or %u dimensions",
                            pool->large_name, op_tensor_shape_text(large).text, pool->small_name,
                            op_tensor_shape_text(small).text, pool->dims + 1, pool->dims + 2);
    }
    if (pool->backward && !op_tensor_same_shape(self, large)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s, it must be that of self, %s",
                            pool->large_name, op_tensor_shape_text(large).text,
                            op_tensor_shape_text(self).text);
    }
    pool->small = widen(small, pool->dims);
    pool->large = widen(large, pool->dims);
    return LEO_OK;
}

static leo_status take_ints(const struct op_pool *pool, const char *name, const int64_t *empty,
                            int64_t least, int64_t *out)
{
    const struct op_ints *ints = op_call_ints(pool->call, name);
    for (unsigned d = 0; d < pool->dims; d++) {
        const unsigned to = OP_POOLING_DIMS - pool->dims + d;
        if (ints && ints->count == 0 && empty) {
            out[to] = empty[to];
        } else if (!ints || (ints->count != 1 && ints->count != pool->dims)) {
            return op_call_fail(pool->call, LEO_ERR_INVALID_ARG,
                                "%s has %" PRIu64 " numbers, it must have %u", name,
                                ints ? ints->count : 0, pool->dims);
        } else {
            out[to] = ints->items[ints->count == 1 ? 0 : d];
        }
        if (out[to] < least) {
            return op_call_fail(pool->call, LEO_ERR_INVALID_ARG,
                                "%s[%u] is %" PRId64 ", it must be at least %" PRId64, name, d,
                                out[to], least);
        }
    }
    return LEO_OK;
}

static leo_status take_windows(struct op_pool *pool)
{
    static const char *const strides[] = {"stride", "strides", NULL};
    static const char *const paddings[] = {"padding", "paddings", NULL};
    int64_t kernel[] = {1, 1, 1}, stride[] = {1, 1, 1}, pad[] = {0, 0, 0}, dilation[] = {1, 1, 1};
    leo_status status = take_ints(pool, "kernelSize", NULL, 1, kernel);
    if (status != LEO_OK) {
        return status;
    }
    status = take_ints(pool, param_of(pool->call, strides), kernel, 1, stride);
    if (status != LEO_OK) {
        return status;
    }
    status = take_ints(pool, param_of(pool->call, paddings), NULL, 0, pad);
    if (status == LEO_OK && op_call_has(pool->call, "dilation")) {
        status = take_ints(pool, "dilation", NULL, 1, dilation);
    }
    if (status != LEO_OK) {
        return status;
    }
    for (unsigned d = 0; d < OP_POOLING_DIMS; d++) {
        if (pad[d] > kernel[d] / 2) {
            return op_call_fail(pool->call, LEO_ERR_INVALID_ARG,
                                "padding %" PRId64 " is more than half of the kernel's %" PRId64,
                                pad[d], kernel[d]);
        }
        pool->dim[d] = (struct op_pooling_dim){
            .kernel = kernel[d], .stride = stride[d], .pad = pad[d], .dilation = dilation[d]};
    }
    return LEO_OK;
}

// Windows of a given size: how many there are along each dimension.
static leo_status check_windows(const struct op_pool *pool)
{
    const bool ceil = op_call_int(pool->call, "ceilMode") != 0;
    struct op_tensor want = pool->small;
    for (unsigned d = 0; d < OP_POOLING_DIMS; d++) {
        const struct op_pooling_dim *dim = &pool->dim[d];
        const int64_t in = pool->large.dim[2 + d];
        const int64_t room = in + 2 * dim->pad - dim->dilation * (dim->kernel - 1) - 1;
        int64_t out = room < 0 ? 0 : (room + (ceil ? dim->stride - 1 : 0)) / dim->stride + 1;
        if (ceil && (out - 1) * dim->stride >= in + dim->pad) {
            out--; // a last window must begin inside
        }
        want.dim[2 + d] = out;
    }
    if (!op_tensor_same_shape(&want, &pool->small)) {
        return op_call_fail(pool->call, LEO_ERR_SHAPE,
                            "%s has positions %s, the windows over %s make it %s", pool->small_name,
                            op_shape_text(pool->dims, pool->small.dim + 5 - pool->dims).text,
                            op_tensor_shape_text(&pool->large).text,
                            op_shape_text(pool->dims, want.dim + 5 - pool->dims).text);
    }
    return LEO_OK;
}

static leo_status check_adaptive(const struct op_pool *pool)
{
    if (!op_call_has(pool->call, "outputSize")) {
        return LEO_OK;
    }
    int64_t size[] = {1, 1, 1};
    leo_status status = take_ints(pool, "outputSize", NULL, 0, size);
    for (unsigned d = 0; status == LEO_OK && d < OP_POOLING_DIMS; d++) {
        if (size[d] != pool->small.dim[2 + d]) {
            status = op_call_fail(pool->call, LEO_ERR_SHAPE,
                                  "%s has positions %s, outputSize says %s", pool->small_name,
                                  op_shape_text(pool->dims, pool->small.dim + 5 - pool->dims).text,
                                  op_shape_text(pool->dims, size + 3 - pool->dims).text);
        }
    }
    return status;
}

static leo_status check_planes(const struct op_pool *pool)
{
    if (pool->small.dim[0] != pool->large.dim[0] || pool->small.dim[1] != pool->large.dim[1]) {
        return op_call_fail(pool->call, LEO_ERR_SHAPE, "%s and %s differ in images or channels",
                            pool->small_name, pool->large_name);
    }
    for (unsigned d = 2; d < 2 + OP_POOLING_DIMS; d++) {
        if (pool->large.dim[d] == 0 && op_tensor_count(&pool->small) > 0) {
            return op_call_fail(pool->call, LEO_ERR_SHAPE, "%s has no elements in its planes",
                                pool->large_name);
        }
    }
    return LEO_OK;
}

/*
 * How indices lie in memory. A mask is [n, c, kernel, (ceil(positions / 16) + 1) * 32] bytes; what
 * is in it is up to the pair of operators: on the vector unit what window_args.h says, else
 * the position of each window's largest element as i32, from the start of each channel's part,
 * which is large enough but for windows of one element, and those need none.
 */
struct index_layout {
    struct op_tensor tensor; /* dense */
    int64_t pitch;           /* elements from plane to plane */
    bool none;
};

static leo_status take_index(const struct op_pool *pool, struct index_layout *layout)
{
    const struct op_tensor *index = pool->index;
    const int64_t positions = pool->small.dim[2] * pool->small.dim[3] * pool->small.dim[4];
    const int64_t planes = pool->small.dim[0] * pool->small.dim[1];
    const int64_t kernel = pool->dim[1].kernel * pool->dim[2].kernel;
    layout->tensor = *index;
    layout->pitch = positions;
    layout->none = false;
    const int64_t channel_bytes = kernel * ((positions + 15) / 16 + 1) * 32;
    const int64_t want = pool->mask ? planes * channel_bytes : planes * positions;
    if (op_tensor_count(index) != want || !op_tensor_is_dense(index)) {
        return op_call_fail(pool->call, LEO_ERR_SHAPE,
                            "the indices have shape %s, they must be dense and have %" PRId64
                            " elements",
                            op_tensor_shape_text(index).text, want);
    }
    if (pool->mask) {
        layout->tensor.type = OP_TYPE_I32;
        layout->pitch = channel_bytes / 4;
        layout->none = kernel == 1;
    }
    return LEO_OK;
}

static leo_status launch(const struct op_pool *pool, enum op_pooling_goal goal,
                         const struct op_tensor *result, int64_t pitch, const struct op_tensor *a,
                         const struct index_layout *index)
{
    struct op_pooling_args args;
    memset(&args, 0, sizeof(args));
    args.goal = (uint8_t)goal;
    args.result = result->addr;
    args.result_type = (uint8_t)result->type;
    args.result_pitch = pitch;
    args.a = a->addr;
    args.a_type = (uint8_t)a->type;
    args.planes = a->dim[0] * a->dim[1];
    args.channels = a->dim[1];
    args.a_image = a->stride[0] * op_type_bytes(a->type);
    args.a_channel = a->stride[1] * op_type_bytes(a->type);
    if (index && !index->none) {
        args.index = index->tensor.addr;
        args.index_type = (uint8_t)index->tensor.type;
        args.index_pitch = index->pitch;
    }
    if (op_call_has(pool->call, "countIncludePad")) {
        args.count_pad = op_call_int(pool->call, "countIncludePad") != 0;
        args.divisor = op_call_int(pool->call, "divisorOverride");
    }
    for (unsigned d = 0; d < OP_POOLING_DIMS; d++) {
        args.dim[d] = pool->dim[d];
        args.dim[d].in = pool->large.dim[2 + d];
        args.dim[d].out = pool->small.dim[2 + d];
        args.dim[d].a = a->stride[2 + d] * op_type_bytes(a->type);
    }
    const struct op_share share = op_share_make((uint64_t)(args.planes * pitch), 1, 64,
                                                op_plan_vector_cores(pool->call->plan));
    args.per_block = share.per_block;
    return op_plan_launch(pool->call->plan, "pooling", "pooling", share.blocks, &args, sizeof(args),
                          3);
}

static int64_t positions_of(const struct op_tensor *wide)
{
    return wide->dim[2] * wide->dim[3] * wide->dim[4];
}

// The result goes to memory as planes; another layout is copied to.
static leo_status plan_values(const struct op_pool *pool, enum op_pooling_goal goal,
                              const struct op_tensor *result, const struct op_tensor *a,
                              const struct index_layout *index)
{
    struct op_plan *plan = pool->call->plan;
    struct op_tensor dense = *result;
    if (op_tensor_count(result) == 0) {
        return LEO_OK;
    }
    if (!op_tensor_is_dense(result)) {
        leo_status status = op_plan_temp(plan, result->type, result->rank, result->dim, &dense);
        if (status != LEO_OK) {
            return status;
        }
    }
    leo_status status = launch(pool, goal, &dense, positions_of(result), a, index);
    if (status != LEO_OK || dense.addr == result->addr) {
        return status;
    }
    return op_plan_copy(plan, result, &dense);
}

// Maps of a call that go to lanes from blocks of channels.
static bool in_blocks(const struct op_pool *pool)
{
    return (pool->mask || !pool->max) && pool->dims == 2 && op_windows_is_blocks(&pool->small) &&
           op_windows_is_blocks(&pool->large) &&
           op_call_tensor(pool->call, pool->small_name)->rank == 4;
}

// One window over each plane of maps in blocks.
static bool is_global(const struct op_pool *pool)
{
    return pool->adaptive && in_blocks(pool) && positions_of(&pool->small) == 1 &&
           op_tensor_count(&pool->large) > 0;
}

static leo_status divide(const struct op_pool *pool, const struct op_tensor *sums,
                         const struct op_tensor *out)
{
    const struct op_scalar count = op_scalar_real((double)positions_of(&pool->large));
    const struct op_value args[] = {op_value_tensor(sums), op_value_scalar(&count),
                                    op_value_tensor(out)};
    return op_plan_call(pool->call->plan, "Divs", args, 3);
}

static leo_status plan_global(const struct op_pool *pool)
{
    struct op_plan *plan = pool->call->plan;
    const struct op_tensor *map = op_call_tensor(pool->call, pool->large_name);
    const int64_t c0 = op_layout_c0(map->type), positions = positions_of(&pool->large),
                  planes = map->dim[0] * ((map->dim[1] + c0 - 1) / c0), count = planes * c0;
    const struct op_tensor small = op_tensor_dense(pool->small.addr, pool->small.type, 1, &count);
    if (!pool->backward) {
        uint64_t sums;
        leo_status status = op_blocks_plan_plane_sums(pool->call, map, &sums);
        const struct op_tensor total = op_tensor_dense(sums, OP_TYPE_F32, 1, &count);
        return status == LEO_OK ? divide(pool, &total, &small) : status;
    }
    struct op_tensor part;
    leo_status status = op_plan_temp(plan, small.type, 1, &count, &part);
    if (status == LEO_OK) {
        status = divide(pool, &small, &part);
    }
    const int64_t dim[] = {planes, positions, c0};
    const struct op_tensor whole = op_tensor_dense(pool->large.addr, small.type, 3, dim);
    struct op_tensor repeated = whole;
    repeated.addr = part.addr;
    repeated.stride[0] = c0;
    repeated.stride[1] = 0;
    return status == LEO_OK ? op_plan_copy(plan, &whole, &repeated) : status;
}

/* ---- the ways over the chip ---- */

struct goal {
    const struct op_pool *pool;
    struct index_layout index; /**< of maxima */
    bool native;               /**< a tensor is in a native format */
};

static leo_status by_planes(const void *object)
{
    const struct goal *goal = object;
    return !goal->pool->max && is_global(goal->pool) ? plan_global(goal->pool) : OP_DECLINED;
}

static bool is_f16_map(const struct op_tensor *tensor)
{
    return tensor->format == OP_FORMAT_NC1HWC0 && tensor->rank == 4 && tensor->type == OP_TYPE_F16;
}

static leo_status by_blocks(const void *object)
{
    const struct goal *goal = object;
    const struct op_pool *pool = goal->pool;
    const struct op_tensor *large = op_call_tensor(pool->call, pool->large_name),
                           *small = op_call_tensor(pool->call, pool->small_name);
    if (!pool->mask || !goal->native || !is_f16_map(large) || !is_f16_map(small)) {
        return OP_DECLINED;
    }
    return pool->backward ? op_pooling_plan_spread(pool) : op_pooling_plan_native(pool);
}

static leo_status by_lanes(const void *object)
{
    const struct goal *goal = object;
    if (goal->native && !in_blocks(goal->pool)) {
        return OP_DECLINED;
    }
    return goal->pool->max ? op_pooling_plan_max(goal->pool) : op_pooling_plan_average(goal->pool);
}

static leo_status by_rows(const void *object)
{
    const struct goal *goal = object;
    return goal->native ? op_call_run_as_rows(goal->pool->call) : OP_DECLINED;
}

static leo_status by_means(const void *object)
{
    const struct goal *goal = object;
    return goal->pool->max ? OP_DECLINED : op_pooling_plan_means(goal->pool);
}

static leo_status by_scalar_unit(const void *object)
{
    const struct goal *goal = object;
    const struct op_pool *pool = goal->pool;
    const struct index_layout *index = &goal->index;
    if (pool->backward) {
        return plan_values(pool, pool->max ? OP_POOLING_MAX_GRADIENT : OP_POOLING_AVERAGE_GRADIENT,
                           &pool->large, &pool->small, pool->max ? index : NULL);
    }
    leo_status status = plan_values(pool, pool->max ? OP_POOLING_MAX : OP_POOLING_AVERAGE,
                                    &pool->small, &pool->large, NULL);
    return status == LEO_OK && pool->max && !index->none && op_tensor_count(&pool->small) > 0
               ? launch(pool, OP_POOLING_MAX_INDEX, &index->tensor, index->pitch, &pool->large,
                        NULL)
               : status;
}

static const struct op_variant ways[] = {
    {"sums of planes", "a mean over each plane of maps in NC1HWC0", by_planes},
    {"maps as they are stored", "the largest of f16 maps in NC1HWC0, and its gradient", by_blocks},
    {"lanes", "f16 or f32, windows that UB holds, two dimensions where in NC1HWC0", by_lanes},
    {"rows", "a tensor in a native format", by_rows},
    {"means by dimensions", "means of windows or shares that linear maps give", by_means},
    {"the scalar unit", NULL, by_scalar_unit},
};

leo_status op_plan_pooling(const struct op_call *call)
{
    struct op_pool pool = {.call = call};
    pool.dims = op_row_attr(call->row, "dims")[0] == '2' ? 2 : 3;
    pool.max = strcmp(op_row_attr(call->row, "pool"), "max") == 0;
    pool.backward = op_call_has(call, "gradOutput");
    pool.adaptive = !op_call_has(call, "kernelSize");
    pool.mask = pool.max && strcmp(op_row_attr(call->row, "index"), "mask") == 0;
    leo_status status = op_call_check_channels(call);
    if (status == LEO_OK) {
        status = take_tensors(&pool);
    }
    if (status == LEO_OK) {
        status = check_planes(&pool);
    }
    if (status == LEO_OK && !pool.adaptive) {
        status = take_windows(&pool);
    }
    if (status != LEO_OK) {
        return status;
    }
    status = pool.adaptive ? check_adaptive(&pool) : check_windows(&pool);
    if (status != LEO_OK) {
        return status;
    }
    struct goal goal = {.pool = &pool, .native = op_layout_any_native(call->row, call->args)};
    if (pool.max) {
        status = take_index(&pool, &goal.index);
    }
    return status == LEO_OK ? op_choose(call->plan, ways, sizeof(ways) / sizeof(*ways), &goal)
                            : status;
}
