/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions on the cube by img2col. Channels come in groups of 16: maps become [image][C1]
 * [position][16] by one transposition, and results go back by another. Weights become [C1][tap]
 * [output channel][16].
 *
 * - out: windows of x times weights
 * - x's gradient: the same over y's gradient with the kernel turned around and channels exchanged.
 *   A stride makes one such convolution for each of its phases: positions of x that meet the same
 *   kernel elements
 * - w's gradient: y's gradient, transposed, times windows of x, summed over images and positions
 */
#include "convolution.h"
#include "convolution_tiling.h"
#include "gemm.h"

#include "../device/conv_cube_args.h"

#include <string.h>

struct lowering {
    const struct op_call *call;
    struct op_plan *plan;
    const struct op_convolution *shape;
    enum op_type type; /* the cube's */
    struct op_conv_room room;
};

enum { L0_FRACTALS = 64 }; /* [P] of a half of L0A or L0B */

static int64_t parts(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct op_window forward_window(const struct op_convolution *s)
{
    return (struct op_window){.width = s->x_size[2],
                              .height = s->x_size[1],
                              .out_width = s->y_size[2],
                              .out_height = s->y_size[1],
                              .filter_w = s->kernel[2],
                              .filter_h = s->kernel[1],
                              .stride_w = s->stride[2],
                              .stride_h = s->stride[1],
                              .dilation_w = s->dilation[2],
                              .dilation_h = s->dilation[1],
                              .pad_l = s->pad[2],
                              .pad_t = s->pad[1]};
}

/** Positions r, r + stride, ... of x along one dimension: which kernel elements meet them. */
struct phase {
    int64_t count;       /**< positions */
    int64_t first, taps; /**< kernel elements first, first + stride, ... */
    int64_t pad;         /**< in front of y's gradient */
};

static struct phase phase_of(const struct op_convolution *s, unsigned d, int64_t r)
{
    const int64_t stride = s->stride[d], at = r + s->pad[d];
    struct phase phase = {.count = r < s->x_size[d] ? parts(s->x_size[d] - r, stride) : 0};
    if (stride == 1) {
        phase.first = 0;
        phase.taps = s->kernel[d];
        phase.pad = s->dilation[d] * (s->kernel[d] - 1) - s->pad[d];
        return phase;
    }
    phase.first = at % stride; // dilation is 1
    phase.taps = phase.first < s->kernel[d] ? parts(s->kernel[d] - phase.first, stride) : 0;
    phase.pad = phase.taps - 1 - at / stride;
    return phase;
}

static struct op_window phase_window(const struct op_convolution *s, const struct phase *h,
                                     const struct phase *w)
{
    return (struct op_window){.width = s->y_size[2],
                              .height = s->y_size[1],
                              .out_width = w->count,
                              .out_height = h->count,
                              .filter_w = w->taps,
                              .filter_h = h->taps,
                              .stride_w = 1,
                              .stride_h = 1,
                              .dilation_w = s->dilation[2],
                              .dilation_h = s->dilation[1],
                              .pad_l = w->pad,
                              .pad_t = h->pad};
}

/* Tensors. */

// A dense tensor [images, channels, 1, height, width] as [image][C1][height][width][16].
static struct op_tensor view_groups(const struct op_tensor *t)
{
    struct op_tensor view = {.addr = t->addr, .type = t->type, .rank = 5};
    const int64_t dim[] = {t->dim[0], t->dim[1] / OP_FRACTAL, t->dim[3], t->dim[4], OP_FRACTAL};
    const int64_t stride[] = {t->stride[0], OP_FRACTAL * t->stride[1], t->stride[3], t->stride[4],
                              t->stride[1]};
    memcpy(view.dim, dim, sizeof(dim));
    memcpy(view.stride, stride, sizeof(stride));
    return view;
}

static leo_status pack_map(const struct lowering *low, const struct op_tensor *from,
                           struct op_tensor *out)
{
    struct op_tensor ready = *from;
    leo_status status = LEO_OK;
    if (from->type != low->type) {
        status = op_plan_dense(low->plan, from, low->type, &ready);
    }
    const struct op_tensor view = view_groups(&ready);
    if (status == LEO_OK) {
        status = op_plan_temp(low->plan, low->type, 5, view.dim, out);
    }
    return status == LEO_OK ? op_plan_copy(low->plan, out, &view) : status;
}

static struct op_tensor strided(const struct op_tensor *base, unsigned rank, const int64_t *dim,
                                const int64_t *stride)
{
    struct op_tensor tensor = {.addr = base->addr, .type = base->type, .rank = rank};
    memcpy(tensor.dim, dim, rank * sizeof(*dim));
    memcpy(tensor.stride, stride, rank * sizeof(*stride));
    return tensor;
}

// w [yc][xc][taps] as [xc][taps][yc]: one transposition of a matrix, with long rows on both sides.
static leo_status turn_weight(const struct lowering *low, const struct op_tensor *w,
                              struct op_tensor *out)
{
    const int64_t rows = low->shape->x_channels * low->shape->kernel[1] * low->shape->kernel[2],
                  columns = low->shape->y_channels;
    const int64_t dim[] = {rows, columns}, stride[] = {1, rows};
    struct op_tensor ready;
    leo_status status = op_plan_dense(low->plan, w, low->type, &ready);
    if (status == LEO_OK) {
        status = op_plan_temp(low->plan, low->type, 2, dim, out);
    }
    const struct op_tensor from = strided(&ready, 2, dim, stride);
    return status == LEO_OK ? op_plan_copy(low->plan, out, &from) : status;
}

/* Weights as units [group of `reduced`][tap][other channel][16]. `input`: x's gradient, where y's
 * channels are reduced. */
static leo_status pack_weight(const struct lowering *low, const struct op_tensor *w, bool input,
                              struct op_tensor *out)
{
    const int64_t taps = low->shape->kernel[1] * low->shape->kernel[2], xc = low->shape->x_channels,
                  yc = low->shape->y_channels;
    int64_t x_stride = taps * yc, y_stride = 1, tap_stride = yc;
    struct op_tensor from;
    leo_status status;
    if (taps == 1) { // a matrix, which needs no turning first
        status = op_plan_dense(low->plan, w, low->type, &from);
        x_stride = 1;
        y_stride = xc;
    } else {
        status = turn_weight(low, w, &from);
    }
    const int64_t reduced = input ? y_stride : x_stride, other = input ? x_stride : y_stride;
    const int64_t dim[] = {(input ? yc : xc) / OP_FRACTAL, taps, input ? xc : yc, OP_FRACTAL};
    const int64_t stride[] = {OP_FRACTAL * reduced, tap_stride, other, reduced};
    const struct op_tensor view = strided(&from, 4, dim, stride);
    if (status == LEO_OK) {
        status = op_plan_temp(low->plan, low->type, 4, dim, out);
    }
    return status == LEO_OK ? op_plan_copy(low->plan, out, &view) : status;
}

/* Launches. */

static uint32_t type_flags(const struct lowering *low, const struct op_tensor *out)
{
    return (low->type == OP_TYPE_BF16 ? OP_CONV_CUBE_BF16 : 0u) |
           (out->type == OP_TYPE_F32 ? OP_CONV_CUBE_OUT_F32 : 0u) |
           (out->type == OP_TYPE_BF16 ? OP_CONV_CUBE_OUT_BF16 : 0u);
}

static struct op_conv_cube_args begin_args(const struct op_window *w)
{
    struct op_conv_cube_args args;
    memset(&args, 0, sizeof(args));
    args.width = (uint32_t)w->width;
    args.height = (uint32_t)w->height;
    args.out_width = (uint32_t)w->out_width;
    args.out_height = (uint32_t)w->out_height;
    args.filter_w = (uint32_t)w->filter_w;
    args.filter_h = (uint32_t)w->filter_h;
    args.stride_w = (uint32_t)w->stride_w;
    args.stride_h = (uint32_t)w->stride_h;
    args.dilation_w = (uint32_t)w->dilation_w;
    args.dilation_h = (uint32_t)w->dilation_h;
    args.pad_l = (uint32_t)w->pad_l;
    args.pad_r = (uint32_t)w->pad_r;
    args.pad_t = (uint32_t)w->pad_t;
    return args;
}

/** Weights of op_conv: address of its first tap, bytes from group to group and from tap to tap. */
struct units {
    uint64_t addr;
    int64_t group, row, column;
};

// out [image][N1][position][16] = windows of x times units of weights.
static leo_status launch_forward(const struct lowering *low, const struct op_window *w,
                                 const struct op_tensor *x, const struct units *weight,
                                 const struct op_tensor *out)
{
    struct op_conv_cube_args args = begin_args(w);
    const int64_t images = x->dim[0], c1 = x->dim[1], n1 = out->dim[1];
    const unsigned unit = op_type_bytes(out->type);
    struct op_conv_tiling tile;
    if (!op_conv_choose_tiling(&low->room, w, images, c1, n1, &tile)) {
        return LEO_ERR_UNSUPPORTED; // ruled out before
    }
    args.x = x->addr;
    args.w = weight->addr;
    args.out = out->addr;
    args.x_image = x->stride[0] * 2;
    args.x_c1 = x->stride[1] * 2;
    args.w_c1 = weight->group;
    args.w_row = weight->row;
    args.w_column = weight->column;
    args.out_image = out->stride[0] * unit;
    args.out_n1 = out->stride[1] * unit;
    args.images = (uint32_t)images;
    args.c1 = (uint32_t)c1;
    args.n1 = (uint32_t)n1;
    args.tile_m = (uint32_t)tile.m;
    args.group = (uint32_t)tile.group;
    args.tile_n1 = (uint32_t)tile.n1;
    args.chunk = (uint32_t)tile.chunk;
    args.k_step = (uint32_t)(L0_FRACTALS / most(tile.group * tile.m / OP_FRACTAL, tile.n1));
    args.l1_half = (uint32_t)low->room.l1_half;
    args.l1_second = (uint32_t)tile.map_bytes;
    args.flags = type_flags(low, out);
    const int64_t tiles = parts(images, tile.group) * parts(w->out_width * w->out_height, tile.m) *
                          parts(n1, tile.n1);
    return op_plan_launch(low->plan, "conv_cube", "op_conv",
                          (uint32_t)least(tiles, low->room.cores), &args, sizeof(args), 3);
}

/* The three goals. */

static leo_status unpack_map(const struct lowering *low, const struct op_tensor *from,
                             const struct op_tensor *out)
{
    const struct op_tensor view = view_groups(out);
    return op_plan_copy(low->plan, &view, from);
}

static leo_status temp_map(const struct lowering *low, enum op_type type, int64_t channels,
                           int64_t height, int64_t width, struct op_tensor *out)
{
    const int64_t dim[] = {low->shape->images, channels / OP_FRACTAL, height, width, OP_FRACTAL};
    return op_plan_temp(low->plan, type, 5, dim, out);
}

static leo_status plan_out(const struct lowering *low, const struct op_tensor *x,
                           const struct op_tensor *w, const struct op_tensor *y)
{
    const struct op_convolution *s = low->shape;
    struct op_window window = forward_window(s);
    struct op_tensor map, units, out;
    (void)op_window_close(&window);
    leo_status status = pack_map(low, x, &map);
    if (status == LEO_OK) {
        status = pack_weight(low, w, false, &units);
    }
    if (status == LEO_OK) {
        status = temp_map(low, y->type, s->y_channels, s->y_size[1], s->y_size[2], &out);
    }
    if (status == LEO_OK) {
        const struct units weight = {units.addr, units.stride[0] * 2,
                                     units.stride[1] * 2 * s->kernel[2], units.stride[1] * 2};
        status = launch_forward(low, &window, &map, &weight, &out);
    }
    return status == LEO_OK ? unpack_map(low, &out, y) : status;
}

// One phase into the positions of `out` (x's gradient in groups) that it has.
static leo_status plan_phase(const struct lowering *low, const struct op_tensor *map,
                             const struct op_tensor *units, int64_t rh, int64_t rw, bool whole,
                             const struct op_tensor *out)
{
    const struct op_convolution *s = low->shape;
    const struct phase h = phase_of(s, 1, rh), w = phase_of(s, 2, rw);
    struct op_window window = phase_window(s, &h, &w);
    const int64_t strides[] = {s->stride[1], s->stride[2]};
    struct op_tensor part = *out, dense;
    if (h.count == 0 || w.count == 0) {
        return LEO_OK;
    }
    part.addr += (uint64_t)((rh * out->stride[2] + rw * out->stride[3]) * op_type_bytes(out->type));
    part.dim[2] = h.count;
    part.dim[3] = w.count;
    part.stride[2] *= strides[0];
    part.stride[3] *= strides[1];
    if (h.taps == 0 || w.taps == 0) { // no window reaches these positions
        const struct op_value args[] = {op_value_tensor(&part)};
        return op_plan_call(low->plan, "InplaceZero", args, 1);
    }
    (void)op_window_close(&window);
    dense = *out;
    if (!whole) {
        leo_status status = temp_map(low, out->type, s->x_channels, h.count, w.count, &dense);
        if (status != LEO_OK) {
            return status;
        }
    }
    // From the phase's last tap backward.
    const int64_t unit = units->stride[1] * 2, row = s->stride[1] * s->kernel[2] * unit,
                  column = s->stride[2] * unit;
    const int64_t first = (h.first * s->kernel[2] + w.first) * unit;
    const struct units weight = {units->addr +
                                     (uint64_t)(first + (h.taps - 1) * row + (w.taps - 1) * column),
                                 units->stride[0] * 2, -row, -column};
    const leo_status status = launch_forward(low, &window, map, &weight, &dense);
    return status == LEO_OK && !whole ? op_plan_copy(low->plan, &part, &dense) : status;
}

static leo_status plan_input(const struct lowering *low, const struct op_tensor *y,
                             const struct op_tensor *w, const struct op_tensor *x)
{
    const struct op_convolution *s = low->shape;
    const bool whole = s->stride[1] == 1 && s->stride[2] == 1;
    struct op_tensor map, units, out;
    leo_status status = pack_map(low, y, &map);
    if (status == LEO_OK) {
        status = pack_weight(low, w, true, &units);
    }
    if (status == LEO_OK) {
        status = temp_map(low, x->type, s->x_channels, s->x_size[1], s->x_size[2], &out);
    }
    for (int64_t rh = 0; status == LEO_OK && rh < s->stride[1]; rh++) {
        for (int64_t rw = 0; status == LEO_OK && rw < s->stride[2]; rw++) {
            status = plan_phase(low, &map, &units, rh, rw, whole, &out);
        }
    }
    return status == LEO_OK ? unpack_map(low, &out, x) : status;
}

// The sum of all splits, in order, in the first one.
static leo_status add_splits(const struct lowering *low, const struct op_tensor *sums)
{
    const struct op_scalar one = op_scalar_int(1);
    struct op_tensor first = *sums;
    first.rank = 3;
    memmove(first.dim, sums->dim + 1, 3 * sizeof(*first.dim));
    memmove(first.stride, sums->stride + 1, 3 * sizeof(*first.stride));
    for (int64_t i = 1; i < sums->dim[0]; i++) {
        struct op_tensor next = first;
        next.addr += (uint64_t)(i * sums->stride[0] * 4);
        const struct op_value args[] = {op_value_tensor(&first), op_value_tensor(&next),
                                        op_value_scalar(&one), op_value_tensor(&first)};
        const leo_status status = op_plan_call(low->plan, "Add", args, 4);
        if (status != LEO_OK) {
            return status;
        }
    }
    return LEO_OK;
}

// Sums [C1 and tap][yc][16] become w [yc][xc][taps].
static leo_status unpack_weight(const struct lowering *low, const struct op_tensor *sums,
                                const struct op_tensor *w)
{
    const int64_t taps = low->shape->kernel[1] * low->shape->kernel[2], xc = low->shape->x_channels,
                  yc = low->shape->y_channels;
    const int64_t dim[] = {xc / OP_FRACTAL, taps, yc, OP_FRACTAL};
    const struct op_tensor from = op_tensor_dense(sums->addr, sums->type, 4, dim);
    if (taps == 1) {
        const int64_t stride[] = {OP_FRACTAL, 1, xc, 1};
        const struct op_tensor to = strided(w, 4, dim, stride);
        return op_plan_copy(low->plan, &to, &from);
    }
    const int64_t turned_dim[] = {xc * taps, yc};
    struct op_tensor half = from, turned;
    leo_status status = op_plan_dense(low->plan, &from, w->type, &half);
    if (status == LEO_OK) {
        status = op_plan_temp(low->plan, w->type, 2, turned_dim, &turned);
    }
    if (status != LEO_OK) {
        return status;
    }
    const int64_t stride[] = {OP_FRACTAL * taps * yc, yc, 1, taps * yc};
    const struct op_tensor rows = strided(&turned, 4, dim, stride);
    status = op_plan_copy(low->plan, &rows, &half);
    const int64_t back[] = {1, xc * taps};
    const struct op_tensor to = strided(w, 2, turned_dim, back);
    return status == LEO_OK ? op_plan_copy(low->plan, &to, &turned) : status;
}

static leo_status plan_weight(const struct lowering *low, const struct op_tensor *y,
                              const struct op_tensor *x, const struct op_tensor *w)
{
    const struct op_convolution *s = low->shape;
    struct op_window window = forward_window(s);
    struct op_conv_weight_tiling tile;
    struct op_tensor gradient, map, sums;
    (void)op_window_close(&window);
    leo_status status = pack_map(low, y, &gradient);
    if (status == LEO_OK) {
        status = pack_map(low, x, &map);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_conv_cube_args args = begin_args(&window);
    const int64_t c1 = map.dim[1], n1 = gradient.dim[1], taps = s->kernel[1] * s->kernel[2];
    if (!op_conv_choose_weight_tiling(&low->room, &window, s->images, c1, n1, &tile)) {
        return LEO_ERR_UNSUPPORTED; // ruled out before
    }
    const int64_t dim[] = {tile.splits, c1 * taps, s->y_channels, OP_FRACTAL};
    status = op_plan_temp(low->plan, OP_TYPE_F32, 4, dim, &sums);
    if (status != LEO_OK) {
        return status;
    }
    args.x = map.addr;
    args.w = gradient.addr;
    args.out = sums.addr;
    args.x_image = map.stride[0] * 2;
    args.x_c1 = map.stride[1] * 2;
    args.w_image = gradient.stride[0] * 2;
    args.w_c1 = gradient.stride[1] * 2;
    args.out_image = sums.stride[0] * 4;
    args.out_n1 = sums.stride[1] * 4;
    args.images = (uint32_t)s->images;
    args.c1 = (uint32_t)c1;
    args.n1 = (uint32_t)n1;
    args.tile_m = (uint32_t)tile.m;
    args.tile_n1 = (uint32_t)tile.units;
    args.chunk = (uint32_t)tile.chunk;
    args.k_step = (uint32_t)(L0_FRACTALS / most(tile.m / OP_FRACTAL, tile.units));
    args.l1_half = (uint32_t)low->room.l1_half;
    args.l1_second = (uint32_t)tile.map_bytes;
    args.splits = (uint32_t)tile.splits;
    args.per_split = (uint32_t)tile.per_split;
    args.flags = type_flags(low, &sums);
    const int64_t tiles = parts(s->y_channels, tile.m) * parts(c1 * taps, tile.units) * tile.splits;
    status = op_plan_launch(low->plan, "conv_cube", "op_conv_weight",
                            (uint32_t)least(tiles, low->room.cores), &args, sizeof(args), 3);
    if (status == LEO_OK) {
        status = add_splits(low, &sums);
    }
    return status == LEO_OK ? unpack_weight(low, &sums, w) : status;
}

/* Whether it fits. */

static bool tiles_fit(const struct lowering *low, enum op_convolution_goal goal)
{
    const struct op_convolution *s = low->shape;
    const int64_t x1 = s->x_channels / OP_FRACTAL, y1 = s->y_channels / OP_FRACTAL;
    struct op_window window = forward_window(s);
    struct op_conv_tiling tile;
    struct op_conv_weight_tiling weight;
    switch (goal) {
    case OP_CONVOLUTION_OUT:
        return op_window_close(&window) &&
               op_conv_choose_tiling(&low->room, &window, s->images, x1, y1, &tile);
    case OP_CONVOLUTION_WEIGHT:
        return op_window_close(&window) &&
               op_conv_choose_weight_tiling(&low->room, &window, s->images, x1, y1, &weight);
    case OP_CONVOLUTION_INPUT:
        for (int64_t r = 0; r < s->stride[1] * s->stride[2]; r++) {
            const struct phase h = phase_of(s, 1, r / s->stride[2]),
                               w = phase_of(s, 2, r % s->stride[2]);
            window = phase_window(s, &h, &w);
            if (h.count && w.count && h.taps && w.taps &&
                (!op_window_close(&window) ||
                 !op_conv_choose_tiling(&low->room, &window, s->images, y1, x1, &tile))) {
                return false;
            }
        }
        return s->stride[1] * s->dilation[1] == most(s->stride[1], s->dilation[1]) &&
               s->stride[2] * s->dilation[2] == most(s->stride[2], s->dilation[2]);
    }
    return false;
}

leo_status op_convolution_plan_cube(const struct op_call *call, const struct op_convolution *shape,
                                    enum op_convolution_goal goal, const struct op_tensor *a,
                                    const struct op_tensor *b, const struct op_tensor *out,
                                    bool *taken)
{
    const struct op_gemm types = {
        .a = *a, .b = *b, .out = *out, .cube_math = (int)op_call_int(call, "cubeMathType")};
    const struct leo_drv_caps *caps = op_plan_caps(call->plan);
    struct lowering low = {.call = call,
                           .plan = call->plan,
                           .shape = shape,
                           .room = {.chip = op_chip_find(caps),
                                    .l1_half = caps->l1_bytes / 2,
                                    .cores = op_plan_cube_cores(call->plan)}};
    *taken = op_gemm_type(call->plan, &types, &low.type) && op_type_bytes(low.type) == 2 &&
             shape->groups == 1 && shape->kernel[0] == 1 && shape->x_size[0] == 1 &&
             shape->y_size[0] == 1 && shape->pad[0] == 0 && shape->x_channels % OP_FRACTAL == 0 &&
             shape->y_channels % OP_FRACTAL == 0 && op_tensor_count(a) > 0 &&
             op_tensor_count(b) > 0 && op_tensor_is_dense(out) && tiles_fit(&low, goal);
    if (!*taken) {
        return LEO_OK;
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
