/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of f16 whose channels stand alone, on the vector unit: launches of
 * convolution_planes_device.c. Maps are, or become, NC1HWC0. */
#include "../frame/chain.h"
#include "../frame/layout.h"
#include "../frame/whole.h"
#include "convolution.h"

#include "convolution_planes_args.h"

#include <string.h>

enum {
    CHANNELS = 16, /* of a block */
    BLOCK_BYTES = 32,
    WIDE_BYTES = 64,
    FILL_BYTES = 256,
    PIXELS = 4,          /* of a repeat */
    STEP_MAX = 63,       /* repeats step by 4 pixels, in a field of 8 bits */
    MAP_SIZE_MAX = 4095, /* of a map: rows a copy instruction takes */
    TAPS_MAX = 256,
    SUM_BYTES = 48 << 10, /* of UB, for products of all elements of the kernel */
    PIECE_PIXELS = 1024,  /* what a piece costs beside its pixels, about */
    LEAST_WORK = 4096,    /* products; fewer are not worth copies from rows */
};

// A convolution of planes. x's gradient takes its elements of the kernel from the phases of y.
struct planes {
    const struct op_call *call;
    const struct op_convolution *shape;
    enum op_convolution_goal goal;
    int64_t kernel[2], stride[2], dilation[2], pad[2], x_size[2], y_size[2];
};

static int64_t reach_of(const struct planes *p, unsigned d)
{
    return (p->kernel[d] - 1) * p->dilation[d];
}

static bool take_shape(const struct op_call *call, const struct op_convolution *s,
                       enum op_convolution_goal goal, struct planes *p)
{
    bool fits = s->kernel[0] == 1 && s->x_size[0] == 1 && s->y_size[0] == 1 && s->pad[0] == 0 &&
                s->images > 0;
    *p = (struct planes){.call = call, .shape = s, .goal = goal};
    for (unsigned d = 0; d < 2; d++) {
        p->kernel[d] = s->kernel[1 + d];
        p->stride[d] = s->stride[1 + d];
        p->dilation[d] = s->dilation[1 + d];
        p->pad[d] = s->pad[1 + d];
        p->x_size[d] = s->x_size[1 + d];
        p->y_size[d] = s->y_size[1 + d];
        fits = fits && p->stride[d] <= STEP_MAX && p->x_size[d] > 0 && p->y_size[d] > 0 &&
               p->x_size[d] <= MAP_SIZE_MAX && p->y_size[d] <= MAP_SIZE_MAX &&
               reach_of(p, d) <= MAP_SIZE_MAX && p->pad[d] <= MAP_SIZE_MAX &&
               p->stride[0] * p->x_size[d] <= UINT16_MAX;
    }
    return fits && p->kernel[0] * p->kernel[1] <= TAPS_MAX;
}

// The map of x, or of y, as a piece has it: x in phases of the stride.
static struct op_planes_map map_of(const struct planes *p, bool of_x,
                                   const struct op_planes_args *args)
{
    const int64_t *size = of_x ? p->x_size : p->y_size;
    const bool turned = args->turned != 0;
    struct op_planes_map m = {.height = (uint32_t)size[0], .width = (uint32_t)size[1]};
    m.step_h = of_x ? (uint32_t)p->stride[0] : 1;
    m.step_w = of_x ? (uint32_t)p->stride[1] : 1;
    m.pad_h = of_x ? (uint32_t)p->pad[0] : turned ? args->shift_h : 0;
    m.pad_w = of_x ? (uint32_t)p->pad[1] : turned ? args->shift_w : 0;
    m.phases = (uint32_t)op_least(m.step_h, of_x ? reach_of(p, 0) + 1 : 1);
    return m;
}

// How far apart lines of one dimension lie, if padding of one may be the padding before the next.
static int64_t pack(const struct op_planes_args *args, unsigned d, int64_t windows)
{
    const struct op_planes_map *m = &args->from;
    const int64_t step = d ? m->step_w : m->step_h, pad = d ? m->pad_w : m->pad_h,
                  there = op_parts((d ? m->width : m->height) + pad, step),
                  reads = windows + (d ? args->shift_w : args->shift_h);
    return op_most(op_most(windows, reads - pad / step), op_least(reads, there));
}

static bool fit_piece(const struct planes *p, uint32_t batch, uint32_t rows,
                      struct op_planes_args *args)
{
    const bool products = p->goal == OP_CONVOLUTION_WEIGHT;
    args->batch = batch;
    args->rows = rows;
    args->lines = batch > 1 ? (uint32_t)pack(args, 0, rows) : rows + args->shift_h;
    const struct op_planes_map *f = &args->from, *t = &args->to;
    const int64_t pixels = (int64_t)batch * args->lines * args->pitch,
                  beyond = (batch > 1 ? args->shift_h : 0) * f->step_w * args->pitch,
                  slack = op_round_up((beyond + reach_of(p, 1)) * BLOCK_BYTES, FILL_BYTES);
    const int64_t from =
                      op_round_up(pixels * f->phases * f->step_w * BLOCK_BYTES, FILL_BYTES) + slack,
                  to = op_round_up(pixels * t->step_h * t->step_w * BLOCK_BYTES, FILL_BYTES);
    args->from.bytes = (uint32_t)from;
    args->to.bytes = (uint32_t)to;
    const int64_t slots = 2 * (from + to) + 2 * (int64_t)args->weight_bytes,
                  sums = products ? (int64_t)args->sum_bytes * args->kernel_h * args->kernel_w
                                  : pixels * WIDE_BYTES * t->step_h * t->step_w;
    if (!products) {
        args->sum_bytes = (uint32_t)(pixels * WIDE_BYTES);
    }
    return args->lines <= MAP_SIZE_MAX && pixels < INT32_MAX / WIDE_BYTES / 64 &&
           slots + sums <= op_plan_caps(p->call->plan)->ub_bytes;
}

// Pieces of whole planes of several images, or of some rows of one, so that the busiest core has
// the fewest pixels; it waits for the first copy and the last one.
static bool choose_pieces(const struct planes *p, struct op_planes_args *args)
{
    const int64_t cores = op_plan_vector_cores(p->call->plan);
    struct op_planes_args best = *args;
    int64_t least = INT64_MAX;
    for (uint32_t batch = args->images, bands = 1; bands <= args->all_rows;) {
        const uint32_t rows = (uint32_t)op_parts(args->all_rows, bands);
        args->bands = (uint32_t)op_parts(args->all_rows, rows);
        args->pieces = (uint64_t)op_parts(args->images, batch) * args->groups * args->bands;
        const int64_t piece = (int64_t)batch * (rows + args->shift_h) * args->pitch + PIECE_PIXELS,
                      cost = (op_parts((int64_t)args->pieces, cores) + 1) * piece;
        if (cost < least && fit_piece(p, batch, rows, args)) {
            least = cost;
            best = *args;
        }
        if (batch > 1) {
            batch--;
        } else {
            bands++;
        }
    }
    *args = best;
    return least < INT64_MAX;
}

// Pieces as large as they can be, and parts of the images so that all cores have as many.
static bool choose_parts(const struct planes *p, struct op_planes_args *args)
{
    const int64_t cores = op_plan_vector_cores(p->call->plan), images = args->images,
                  plane = (int64_t)(args->all_rows + args->shift_h) * args->pitch;
    int64_t least = INT64_MAX, share = images;
    for (int64_t parts = 1; parts <= images; parts++) {
        const int64_t each = op_parts(images, parts),
                      cost = op_parts(args->groups * op_parts(images, each), cores) *
                             (each * plane + PIECE_PIXELS);
        share = cost < least ? each : share;
        least = op_least(cost, least);
    }
    args->parts = (uint32_t)op_parts(images, share);
    args->pieces = (uint64_t)args->parts * args->groups;
    for (int64_t times = 1; times <= share; times++) {
        if (fit_piece(p, (uint32_t)op_parts(share, times), args->all_rows, args)) {
            args->bands = 1;
            return true;
        }
    }
    for (uint32_t bands = 2; bands <= args->all_rows; bands++) {
        const uint32_t rows = (uint32_t)op_parts(args->all_rows, bands);
        if (fit_piece(p, 1, rows, args)) {
            args->bands = (uint32_t)op_parts(args->all_rows, rows);
            return true;
        }
    }
    return false;
}

static bool make_args(const struct planes *p, struct op_planes_args *args)
{
    const bool turned = p->goal == OP_CONVOLUTION_INPUT,
               products = p->goal == OP_CONVOLUTION_WEIGHT;
    int64_t rows[2];
    memset(args, 0, sizeof(*args));
    for (unsigned d = 0; d < 2; d++) {
        rows[d] = turned ? op_parts(p->x_size[d] + p->pad[d], p->stride[d]) : p->y_size[d];
    }
    args->turned = turned;
    args->images = (uint32_t)p->shape->images;
    args->groups = (uint32_t)op_parts(p->shape->x_channels, CHANNELS);
    args->kernel_h = (uint32_t)p->kernel[0];
    args->kernel_w = (uint32_t)p->kernel[1];
    args->dilation_h = (uint32_t)p->dilation[0];
    args->dilation_w = (uint32_t)p->dilation[1];
    args->step_h = (uint32_t)p->stride[0];
    args->step_w = (uint32_t)p->stride[1];
    args->shift_h = (uint32_t)(reach_of(p, 0) / p->stride[0]);
    args->shift_w = (uint32_t)(reach_of(p, 1) / p->stride[1]);
    args->all_rows = (uint32_t)rows[0];
    const int64_t taps = p->kernel[0] * p->kernel[1];
    args->weight_bytes = products ? 0 : (uint32_t)op_round_up(taps * BLOCK_BYTES, FILL_BYTES);
    for (args->sum_bytes = products ? 16 * FILL_BYTES : 0;
         args->sum_bytes > FILL_BYTES && args->sum_bytes * taps > SUM_BYTES;) {
        args->sum_bytes /= 2;
    }
    args->from = map_of(p, !turned, args);
    args->to = map_of(p, turned, args);
    args->pitch = (uint32_t)op_round_up(pack(args, 1, rows[1]), PIXELS);
    args->to.used = args->to.width;
    args->from.used = (uint32_t)op_least(
        args->from.width, op_most((int64_t)args->from.step_w * args->pitch - args->from.pad_w, 0));
    return products ? choose_parts(p, args) : choose_pieces(p, args);
}

static leo_status launch(const struct planes *p, struct op_planes_args *args, const char *kernel)
{
    const struct op_share share =
        op_share_make(args->pieces, 1, 1, op_plan_vector_cores(p->call->plan));
    args->per_block = share.per_block;
    return op_plan_launch(p->call->plan, "planes", kernel, share.blocks, args, sizeof(*args), 3);
}

/* ---- tensors in blocks ---- */

// [n, c, 1, h, w] without its dimension of 1: a map in NC1HWC0 as it lies, or memory for one, into
// which rows are converted if they are read.
static leo_status take_blocks(struct op_plan *plan, const struct op_tensor *planes, bool read,
                              struct op_tensor *blocks)
{
    const struct op_tensor rows = op_view_select(planes, 2, 0);
    *blocks = rows;
    if (planes->format == OP_FORMAT_NC1HWC0) {
        return LEO_OK;
    }
    *blocks = op_tensor_dense(0, OP_TYPE_F16, 4, rows.dim);
    blocks->format = OP_FORMAT_NC1HWC0;
    leo_status status = op_plan_temp_bytes(plan, op_tensor_extent(blocks), &blocks->addr);
    return status == LEO_OK && read ? op_plan_change_format(plan, &rows, blocks) : status;
}

static leo_status give_blocks(struct op_plan *plan, const struct op_tensor *blocks,
                              const struct op_tensor *planes)
{
    const struct op_tensor rows = op_view_select(planes, 2, 0);
    return blocks->addr == rows.addr ? LEO_OK : op_plan_change_format(plan, blocks, &rows);
}

static leo_status plan_sum(const struct planes *p, struct op_planes_args *args,
                           const struct op_tensor *in, const struct op_tensor *weight,
                           const struct op_tensor *out)
{
    struct op_plan *plan = p->call->plan;
    const struct op_tensor planes = op_convolution_weight_planes(weight);
    struct op_tensor from, to, by;
    leo_status status = take_blocks(plan, in, true, &from);
    if (status == LEO_OK) {
        status = take_blocks(plan, &planes, true, &by);
    }
    if (status == LEO_OK) {
        status = take_blocks(plan, out, false, &to);
    }
    if (status != LEO_OK) {
        return status;
    }
    args->from_addr = from.addr;
    args->to_addr = to.addr;
    args->weight = by.addr;
    status = launch(p, args, "planes_sum");
    return status == LEO_OK ? give_blocks(plan, &to, out) : status;
}

// Sums of products in blocks of f32 go back to rows of the weights' type.
static leo_status store_weights(struct op_plan *plan, uint64_t addr, const struct op_tensor *weight)
{
    const struct op_tensor planes = op_convolution_weight_planes(weight),
                           rows = op_view_select(&planes, 2, 0);
    struct op_tensor blocks = op_tensor_dense(addr, OP_TYPE_F32, 4, rows.dim), wide = rows;
    blocks.format = OP_FORMAT_NC1HWC0;
    leo_status status =
        weight->type == OP_TYPE_F32 ? LEO_OK : op_plan_temp(plan, OP_TYPE_F32, 4, rows.dim, &wide);
    if (status == LEO_OK) {
        status = op_plan_change_format(plan, &blocks, &wide);
    }
    return status == LEO_OK && wide.addr != rows.addr ? op_plan_copy(plan, &rows, &wide) : status;
}

static leo_status plan_products(const struct planes *p, struct op_planes_args *args,
                                const struct op_tensor *x, const struct op_tensor *y,
                                const struct op_tensor *weight)
{
    static const int64_t first[] = {0};
    struct op_plan *plan = p->call->plan;
    const int64_t dim[] = {args->parts,
                           (int64_t)args->groups * args->kernel_h * args->kernel_w * CHANNELS};
    struct op_tensor from, to, parts, sum;
    leo_status status = take_blocks(plan, x, true, &from);
    if (status == LEO_OK) {
        status = take_blocks(plan, y, true, &to);
    }
    if (status == LEO_OK) {
        status = op_plan_temp(plan, OP_TYPE_F32, 2, dim, &parts);
    }
    if (status == LEO_OK && args->parts > 1) {
        status = op_plan_temp(plan, OP_TYPE_F32, 1, dim + 1, &sum);
    }
    if (status != LEO_OK) {
        return status;
    }
    args->from_addr = from.addr;
    args->to_addr = to.addr;
    args->weight = parts.addr;
    status = launch(p, args, "planes_products");
    if (status == LEO_OK && args->parts > 1) {
        const struct op_ints dims = {first, 1};
        const struct op_value values[] = {op_value_tensor(&parts), op_value_ints(&dims),
                                          op_value_int(false), op_value_type(OP_TYPE_F32),
                                          op_value_tensor(&sum)};
        status = op_plan_call(plan, "ReduceSum", values, 5);
    }
    return status == LEO_OK ? store_weights(plan, args->parts > 1 ? sum.addr : parts.addr, weight)
                            : status;
}

leo_status op_convolution_plan_planes(const struct op_call *call,
                                      const struct op_convolution *shape,
                                      enum op_convolution_goal goal, const struct op_tensor *a,
                                      const struct op_tensor *b, const struct op_tensor *out)
{
    const bool products = goal == OP_CONVOLUTION_WEIGHT;
    const struct op_tensor *x = products ? b : goal == OP_CONVOLUTION_OUT ? a : out;
    const int64_t work = op_tensor_count(a) * shape->kernel[1] * shape->kernel[2];
    struct planes p;
    struct op_planes_args args;
    const bool fits = shape->groups == shape->x_channels && shape->groups == shape->y_channels &&
                      a->type == OP_TYPE_F16 && b->type == OP_TYPE_F16 &&
                      (out->type == OP_TYPE_F16 || (products && op_type_is_float(out->type))) &&
                      (work >= LEAST_WORK || a->format == OP_FORMAT_NC1HWC0) &&
                      take_shape(call, shape, goal, &p) && make_args(&p, &args);
    if (!fits) {
        return OP_DECLINED;
    }
    return products ? plan_products(&p, &args, x, a, out) : plan_sum(&p, &args, a, b, out);
}
