/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions as products of matrices. The columns are the windows of x: for each output position
 * the elements under the kernel; a copy of x with overlapping strides makes them. A kernel of one
 * element that moves by one needs none. For each group (yc, xc: channels in it; ck: xc times
 * kernel; p: output positions) the products are
 *
 * - y [yc, p] = w [yc, ck] @ columns [ck, p], image by image
 * - x's gradient: the same over y's gradient, spread, with the kernel turned around
 * - w's gradient [yc, ck] = y's gradient [yc, (images, p)] @ columns^T [(images, p), ck]
 */
#include "../frame/chain.h"
#include "../matmul/matmul.h"
#include "convolution.h"

#include <string.h>

enum {
    LEAST_CHANNELS = 4, // [A] of the result in each of several groups: below, columns cost more
                        // than they save
    COLUMNS_BYTES_MAX = 1 << 28, // [A] of the columns made at a time
};

struct lowering {
    const struct op_call *call;
    struct op_plan *plan;
    const struct op_convolution *shape;
    enum op_type type; /* the cube's */
    int cube_math;
    int64_t x_group, y_group, kernel, positions, depth; /* depth: ck */
};

static bool is_plain(const struct op_convolution *shape)
{
    for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
        if (shape->kernel[d] != 1 || shape->stride[d] != 1 || shape->pad[d] != 0) {
            return false;
        }
    }
    return true;
}

/* A tensor under construction, one dimension after the other; those of 1 are
 * left out. */
static void add_dim(struct op_tensor *tensor, int64_t dim, int64_t stride)
{
    if (dim != 1) {
        tensor->dim[tensor->rank] = dim;
        tensor->stride[tensor->rank++] = stride;
    }
}

// x with its border of zeros, as far as windows reach; x itself if there is
// none.
static leo_status pad_input(const struct lowering *low, const struct op_tensor *x,
                            struct op_tensor *out)
{
    const struct op_convolution *shape = low->shape;
    int64_t dim[2 + OP_CONVOLUTION_DIMS] = {x->dim[0], x->dim[1]};
    struct op_tensor inside;
    bool padded = false;
    for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
        padded = padded || shape->pad[d] != 0;
        dim[2 + d] = shape->x_size[d] + 2 * shape->pad[d];
    }
    *out = *x;
    if (!padded) {
        return LEO_OK;
    }
    leo_status status = op_plan_temp(low->plan, low->type, x->rank, dim, out);
    if (status == LEO_OK) {
        status = op_plan_fill(low->plan, out->addr, 0,
                              (uint64_t)op_tensor_count(out) * op_type_bytes(low->type));
    }
    inside = *out;
    for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
        inside.dim[2 + d] = shape->x_size[d];
        inside.addr += (uint64_t)(shape->pad[d] * out->stride[2 + d] * op_type_bytes(low->type));
    }
    return status == LEO_OK ? op_plan_copy(low->plan, &inside, x) : status;
}

/* The parts of the columns' shape, in the order in which they are to lie in
 * memory: n images, g group, c channel and kernel, p position. */
static bool view_columns(const struct lowering *low, const struct op_tensor *x, const char *order,
                         struct op_tensor *view)
{
    const struct op_convolution *shape = low->shape;
    struct op_tensor long_view = *x;
    int64_t dim[3 + 2 * OP_CONVOLUTION_DIMS], stride[3 + 2 * OP_CONVOLUTION_DIMS];
    unsigned rank = 0;
    for (; *order; order++) {
        switch (*order) {
        case 'n':
            dim[rank] = x->dim[0];
            stride[rank++] = x->stride[0];
            break;
        case 'g':
            dim[rank] = shape->groups;
            stride[rank++] = low->x_group * x->stride[1];
            break;
        case 'c':
            dim[rank] = low->x_group;
            stride[rank++] = x->stride[1];
            for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
                dim[rank] = shape->kernel[d];
                stride[rank++] = shape->dilation[d] * x->stride[2 + d];
            }
            break;
        default:
            for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
                dim[rank] = shape->y_size[d];
                stride[rank++] = shape->stride[d] * x->stride[2 + d];
            }
            break;
        }
    }
    unsigned needed = 0;
    for (unsigned i = 0; i < rank; i++) {
        needed += dim[i] != 1;
    }
    if (needed > OP_RANK_MAX) {
        return false;
    }
    long_view.rank = 0;
    for (unsigned i = 0; i < rank; i++) {
        add_dim(&long_view, dim[i], stride[i]);
    }
    *view = long_view;
    return true;
}

// The columns of x in this order, dense at `addr`.
static leo_status fill_columns(const struct lowering *low, const struct op_tensor *x,
                               const char *order, uint64_t addr)
{
    struct op_tensor padded, view;
    leo_status status = pad_input(low, x, &padded);
    if (status != LEO_OK) {
        return status;
    }
    if (!view_columns(low, &padded, order, &view)) {
        return LEO_ERR_UNSUPPORTED; // ruled out by op_convolution_plan_matmul
    }
    const struct op_tensor to = op_tensor_dense(addr, low->type, view.rank, view.dim);
    return op_plan_copy(low->plan, &to, &view);
}

/* Whether a window's elements lie side by side for longer than those of an element of all windows
 * do: then the columns are made transposed. */
static bool is_by_windows(const struct op_convolution *shape)
{
    const unsigned last = OP_CONVOLUTION_DIMS - 1;
    return shape->stride[last] > 1 && shape->dilation[last] == 1 && shape->kernel[last] > 1;
}

static struct op_tensor matrices(uint64_t addr, enum op_type type, unsigned rank,
                                 const int64_t *dim, const int64_t *stride)
{
    struct op_tensor tensor = op_tensor_dense(addr, type, rank, dim);
    memcpy(tensor.stride, stride, rank * sizeof(*stride));
    return tensor;
}

// w as [images, group, yc, ck], dense.
static leo_status take_weight(const struct lowering *low, const struct op_tensor *w, int64_t images,
                              struct op_tensor *out)
{
    struct op_tensor dense;
    leo_status status = op_plan_dense(low->plan, w, w->type, &dense);
    const int64_t dim[] = {images, low->shape->groups, low->y_group, low->depth};
    const int64_t stride[] = {0, low->y_group * low->depth, low->depth, 1};
    *out = matrices(dense.addr, w->type, 4, dim, stride);
    return status;
}

// A dense tensor [images, channels, ...] as [images, group, channel, position].
static struct op_tensor as_matrices(const struct op_tensor *tensor, int64_t groups)
{
    const int64_t positions = tensor->dim[2] * tensor->dim[3] * tensor->dim[4];
    const int64_t dim[] = {tensor->dim[0], groups, tensor->dim[1] / groups, positions};
    return op_tensor_dense(tensor->addr, tensor->type, 4, dim);
}

static struct op_tensor transpose(const struct op_tensor *tensor)
{
    return op_view_swap(tensor, tensor->rank - 2, tensor->rank - 1);
}

static leo_status multiply(const struct lowering *low, const struct op_tensor *a,
                           const struct op_tensor *b, const struct op_tensor *out)
{
    const struct op_matmul matmul = {
        .a = *a, .b = *b, .out = *out, .alpha = 1, .cube_math = low->cube_math};
    return op_matmul_plan(low->plan, &matmul);
}

// Images [at, at + count) of a tensor.
static struct op_tensor slice(const struct op_tensor *tensor, int64_t at, int64_t count)
{
    struct op_tensor part = *tensor;
    part.addr += (uint64_t)(at * tensor->stride[0] * op_type_bytes(tensor->type));
    part.dim[0] = count;
    return part;
}

// How many images' columns of elements of `unit` bytes are made at a time.
static int64_t images_at_a_time(const struct lowering *low, int64_t unit)
{
    const int64_t each = low->shape->groups * low->depth * low->positions * unit;
    const int64_t fit = each > 0 ? COLUMNS_BYTES_MAX / each : low->shape->images;
    const int64_t least = fit < 1 ? 1 : fit;
    return least < low->shape->images ? least : low->shape->images;
}

static leo_status place_columns(const struct lowering *low, int64_t images, enum op_type type,
                                uint64_t *addr)
{
    return op_plan_temp_bytes(
        low->plan,
        (uint64_t)(images * low->shape->groups * low->depth * low->positions * op_type_bytes(type)),
        addr);
}

// The columns of some images as [images, group, ck, p].
static struct op_tensor columns_of(const struct lowering *low, int64_t images, uint64_t addr)
{
    const bool turned = is_by_windows(low->shape);
    const int64_t dim[] = {images, low->shape->groups, turned ? low->positions : low->depth,
                           turned ? low->depth : low->positions};
    const struct op_tensor stored = op_tensor_dense(addr, low->type, 4, dim);
    return turned ? transpose(&stored) : stored;
}

static leo_status plan_out(const struct lowering *low, const struct op_tensor *x,
                           const struct op_tensor *w, const struct op_tensor *y)
{
    const bool plain = is_plain(low->shape);
    const int64_t step =
        plain ? low->shape->images : images_at_a_time(low, op_type_bytes(low->type));
    struct op_tensor dense, weight;
    uint64_t columns = 0;
    leo_status status = LEO_OK;
    if (plain) {
        status = op_plan_dense(low->plan, x, x->type, &dense);
    } else {
        status = place_columns(low, step, low->type, &columns);
    }
    for (int64_t at = 0; status == LEO_OK && at < low->shape->images; at += step) {
        const int64_t count = at + step > low->shape->images ? low->shape->images - at : step;
        const struct op_tensor x_part = slice(x, at, count), y_part = slice(y, at, count),
                               out = as_matrices(&y_part, low->shape->groups);
        struct op_tensor b;
        status = take_weight(low, w, count, &weight);
        if (plain) {
            b = as_matrices(&dense, low->shape->groups);
        } else {
            b = columns_of(low, count, columns);
            if (status == LEO_OK) {
                status = fill_columns(low, &x_part, is_by_windows(low->shape) ? "ngpc" : "ngcp",
                                      columns);
            }
        }
        if (status == LEO_OK) {
            status = multiply(low, &weight, &b, &out);
        }
    }
    return status;
}

// Without windows: w^T times y's gradient.
static leo_status plan_input_plain(const struct lowering *low, const struct op_tensor *y,
                                   const struct op_tensor *w, const struct op_tensor *x)
{
    struct op_tensor dense, weight;
    leo_status status = op_plan_dense(low->plan, y, y->type, &dense);
    if (status == LEO_OK) {
        status = take_weight(low, w, low->shape->images, &weight);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor a = transpose(&weight), b = as_matrices(&dense, low->shape->groups),
                           out = as_matrices(x, low->shape->groups);
    return multiply(low, &a, &b, &out);
}

/*
 * The convolution that gives x's gradient: over y's gradient with zeros between
 * its elements and around them, with the kernel turned around, channels
 * exchanged. False: padding is wider than the kernel reaches.
 */
static bool mirror(const struct op_convolution *shape, struct op_convolution *out)
{
    *out = *shape;
    out->x_channels = shape->y_channels;
    out->y_channels = shape->x_channels;
    for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
        const int64_t reach = shape->dilation[d] * (shape->kernel[d] - 1);
        out->x_size[d] = shape->x_size[d] + reach;
        out->y_size[d] = shape->x_size[d];
        out->stride[d] = 1;
        out->pad[d] = 0;
        if (reach < shape->pad[d]) {
            return false;
        }
    }
    return true;
}

static leo_status spread_gradient(const struct lowering *low, const struct op_convolution *mirrored,
                                  const struct op_tensor *y, struct op_tensor *out)
{
    const struct op_convolution *shape = low->shape;
    const int64_t dim[] = {shape->images, shape->y_channels, mirrored->x_size[0],
                           mirrored->x_size[1], mirrored->x_size[2]};
    leo_status status = op_plan_temp(low->plan, low->type, 5, dim, out);
    if (status == LEO_OK) {
        status = op_plan_fill(low->plan, out->addr, 0,
                              (uint64_t)op_tensor_count(out) * op_type_bytes(low->type));
    }
    struct op_tensor inside = *out;
    for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
        const int64_t before = shape->dilation[d] * (shape->kernel[d] - 1) - shape->pad[d];
        inside.addr += (uint64_t)(before * out->stride[2 + d] * op_type_bytes(low->type));
        inside.dim[2 + d] = shape->y_size[d];
        inside.stride[2 + d] *= shape->stride[d];
    }
    return status == LEO_OK ? op_plan_copy(low->plan, &inside, y) : status;
}

// w [group, yc, xc, kernel] as [group, xc, yc, kernel turned around], one
// kernel position at a time.
static leo_status turn_weight(const struct lowering *low, const struct op_tensor *w,
                              struct op_tensor *out)
{
    const struct op_convolution *shape = low->shape;
    const int64_t *size = shape->kernel;
    const int64_t dim[] = {shape->x_channels, low->y_group, size[0], size[1], size[2]};
    leo_status status = op_plan_temp(low->plan, low->type, 5, dim, out);
    for (int64_t k = 0; status == LEO_OK && k < low->kernel; k++) {
        const int64_t at[] = {k / size[2] / size[1], k / size[2] % size[1], k % size[2]};
        const int64_t part[] = {shape->groups, low->x_group, low->y_group};
        const int64_t to_stride[] = {low->x_group * out->stride[0], out->stride[0], out->stride[1]};
        const int64_t from_stride[] = {low->y_group * w->stride[0], w->stride[1], w->stride[0]};
        struct op_tensor to = matrices(out->addr, low->type, 3, part, to_stride);
        struct op_tensor from = matrices(w->addr, w->type, 3, part, from_stride);
        for (unsigned d = 0; d < OP_CONVOLUTION_DIMS; d++) {
            to.addr += (uint64_t)(at[d] * out->stride[2 + d] * op_type_bytes(low->type));
            from.addr +=
                (uint64_t)((size[d] - 1 - at[d]) * w->stride[2 + d] * op_type_bytes(w->type));
        }
        status = op_plan_copy(low->plan, &to, &from);
    }
    return status;
}

static struct lowering lower(const struct op_call *call, const struct op_convolution *shape)
{
    struct lowering low = {.call = call, .plan = call->plan, .shape = shape};
    low.cube_math = (int)op_call_int(call, "cubeMathType");
    low.x_group = shape->x_channels / shape->groups;
    low.y_group = shape->y_channels / shape->groups;
    low.kernel = shape->kernel[0] * shape->kernel[1] * shape->kernel[2];
    low.positions = shape->y_size[0] * shape->y_size[1] * shape->y_size[2];
    low.depth = low.x_group * low.kernel;
    return low;
}

static leo_status plan_input(const struct lowering *low, const struct op_tensor *y,
                             const struct op_tensor *w, const struct op_tensor *x)
{
    struct op_convolution mirrored;
    struct op_tensor spread, turned;
    if (is_plain(low->shape)) {
        return plan_input_plain(low, y, w, x);
    }
    if (!mirror(low->shape, &mirrored)) {
        return LEO_ERR_UNSUPPORTED; // ruled out by is_worth_it
    }
    leo_status status = spread_gradient(low, &mirrored, y, &spread);
    if (status == LEO_OK) {
        status = turn_weight(low, w, &turned);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct lowering back = lower(low->call, &mirrored);
    back.type = low->type;
    return plan_out(&back, &spread, &turned, x);
}

// y's gradient as [group, yc, (images, p)] and the columns as [group, (images,
// p), ck].
static leo_status plan_weight(const struct lowering *low, const struct op_tensor *y,
                              const struct op_tensor *x, const struct op_tensor *w)
{
    const struct op_convolution *shape = low->shape;
    const bool by_windows = is_by_windows(shape);
    const int64_t images = shape->images, all = images * low->positions;
    const int64_t a_dim[] = {shape->groups, low->y_group, all},
                  b_dim[] = {shape->groups, by_windows ? all : low->depth,
                             by_windows ? low->depth : all},
                  out_dim[] = {shape->groups, low->y_group, low->depth};
    const int64_t y_dim[] = {shape->groups, low->y_group, images, y->dim[2], y->dim[3], y->dim[4]};
    struct op_tensor a;
    uint64_t columns;
    leo_status status = op_plan_temp(low->plan, low->type, 3, a_dim, &a);
    if (status == LEO_OK) {
        const struct op_tensor to = op_tensor_dense(a.addr, low->type, 6, y_dim);
        const int64_t stride[] = {low->y_group * y->stride[1],
                                  y->stride[1],
                                  y->stride[0],
                                  y->stride[2],
                                  y->stride[3],
                                  y->stride[4]};
        const struct op_tensor from = matrices(y->addr, y->type, 6, y_dim, stride);
        status = op_plan_copy(low->plan, &to, &from);
    }
    if (status == LEO_OK) {
        status = place_columns(low, images, low->type, &columns);
    }
    if (status == LEO_OK) {
        status = fill_columns(low, x, by_windows ? "gnpc" : "gcnp", columns);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor stored = op_tensor_dense(columns, low->type, 3, b_dim),
                           b = by_windows ? stored : transpose(&stored);
    const struct op_tensor out = op_tensor_dense(w->addr, w->type, 3, out_dim);
    return multiply(low, &a, &b, &out);
}

// The type of the columns: the cube's, or f32 where the vector unit multiplies.
static bool choose_type(struct lowering *low, const struct op_tensor *a, const struct op_tensor *b,
                        const struct op_tensor *out)
{
    const struct op_matmul matmul = {.a = *a, .b = *b, .out = *out, .cube_math = low->cube_math};
    low->type = OP_TYPE_F32;
    return op_matmul_type(low->plan, &matmul, &low->type) ||
           (op_plan_caps(low->plan)->vector_cores == 0 && a->type == OP_TYPE_F32 &&
            b->type == OP_TYPE_F32 && out->type == OP_TYPE_F32);
}

static bool is_worth_it(const struct lowering *low, enum op_convolution_goal goal,
                        const struct op_tensor *a, const struct op_tensor *b,
                        const struct op_tensor *out)
{
    struct op_tensor view;
    struct op_convolution mirrored;
    const struct op_tensor any = {.rank = 5, .dim = {low->shape->images}};
    return op_tensor_is_dense(out) && op_tensor_count(a) > 0 && op_tensor_count(b) > 0 &&
           (low->shape->groups == 1 ||
            (goal == OP_CONVOLUTION_INPUT ? low->x_group : low->y_group) >= LEAST_CHANNELS) &&
           (goal != OP_CONVOLUTION_INPUT || mirror(low->shape, &mirrored)) &&
           view_columns(low, &any, "ngcp", &view);
}

leo_status op_convolution_plan_matmul(const struct op_call *call,
                                      const struct op_convolution *shape,
                                      enum op_convolution_goal goal, const struct op_tensor *a,
                                      const struct op_tensor *b, const struct op_tensor *out)
{
    struct lowering low = lower(call, shape);
    if (!choose_type(&low, a, b, out) || !is_worth_it(&low, goal, a, b, out)) {
        return OP_DECLINED;
    }
    switch (goal) {
    case OP_CONVOLUTION_OUT:
        return plan_out(&low, a, b, out);
    case OP_CONVOLUTION_INPUT:
        return plan_input(&low, a, b, out);
    case OP_CONVOLUTION_WEIGHT:
        return plan_weight(&low, a, b, out);
    }
    return LEO_OK;
}
