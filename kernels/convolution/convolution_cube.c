/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions on the cube by img2col, in the chip's own formats: maps in NC1HWC0, weights in
 * FRACTAL_Z. Tensors in other formats go through TransData.
 *
 * - out: windows of x times weights
 * - x's gradient: the same over y's gradient with the kernel turned around and channels exchanged:
 *   fractals of the weights are turned on their way to the cube. A stride makes one such
 *   convolution for each of its phases: positions of x that meet the same kernel elements
 * - w's gradient: y's gradient, transposed, times windows of x, summed over images and positions
 */
#include "../frame/whole.h"
#include "../matmul/matmul.h"
#include "../reduce/reduce_vector.h"
#include "convolution.h"
#include "convolution_native.h"

#include "convolution_cube_args.h"
#include "convolution_join_args.h"

#include <string.h>

enum {
    COPIED_CHANNELS = 4,      /* [A] fewer than these, */
    COPIED_POSITIONS = 32767, /* [A] of more than so many positions, are copied */
    GRADIENT_M = 512,         /* [A] positions of a tile of x's gradient */
    JOIN_PIECES = 4,          /* [A] of a core: loads go on while others leave */
    JOIN_LOAD_CYCLES = 27,    /* by a trace: the load of a line, */
    JOIN_PIECE_CYCLES = 200,  /* and a piece */
};

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
    struct phase phase = {.count = r < s->x_size[d] ? op_parts(s->x_size[d] - r, stride) : 0};
    if (stride == 1) {
        phase.first = 0;
        phase.taps = s->kernel[d];
        phase.pad = s->dilation[d] * (s->kernel[d] - 1) - s->pad[d];
        return phase;
    }
    phase.first = at % stride; // dilation is 1
    phase.taps = phase.first < s->kernel[d] ? op_parts(s->kernel[d] - phase.first, stride) : 0;
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

/* The three goals. */

// Weights as they lie in FRACTAL_Z, all taps of a kernel of height x width.
static struct op_convolution_weights weights_of(const struct op_tensor *units, int64_t height,
                                                int64_t width)
{
    const int64_t bytes = op_type_bytes(units->type), tap = units->stride[0] * bytes;
    return (struct op_convolution_weights){.addr = units->addr,
                                           .group = tap * height * width,
                                           .row = tap * width,
                                           .column = tap,
                                           .block = units->stride[1] * bytes};
}

static leo_status plan_out(const struct op_convolution_lowering *low, const struct op_tensor *x,
                           const struct op_tensor *w, const struct op_tensor *y)
{
    const struct op_convolution *s = low->shape;
    struct op_window window = forward_window(s);
    struct op_tensor map, units, native, out;
    (void)op_window_close(&window);
    leo_status status = op_convolution_take(low, x, OP_FORMAT_NC1HWC0, &map);
    if (status == LEO_OK) {
        status = op_convolution_take(low, w, OP_FORMAT_FRACTAL_Z, &units);
    }
    if (status == LEO_OK) {
        status = op_convolution_begin(low, y, OP_FORMAT_NC1HWC0, &native, &out);
    }
    if (status == LEO_OK) {
        const struct op_convolution_weights weight = weights_of(&units, s->kernel[1], s->kernel[2]);
        status = op_convolution_launch(low->plan, &low->room, low->type, &window, &map, &weight,
                                       low->flags, &out);
    }
    return status == LEO_OK ? op_convolution_finish(low, &native, y) : status;
}

/** A phase of x's gradient on its way: whether windows reach it at all, and its positions. */
struct part {
    bool reached;
    struct phase h, w;
    struct op_tensor dense; /* [image][C1][h][w][16] */
};

// Element of the reversed kernel that the phase's last one is.
static int64_t last_of(const struct phase *phase, int64_t kernel, int64_t stride)
{
    return kernel - 1 - phase->first - (phase->taps - 1) * stride;
}

// The phase's weights: fractals of all weights are turned on their way to the Cube, from the last
// tap backward. Those of f32 were before.
static leo_status phase_weights(const struct op_convolution_lowering *low,
                                const struct op_tensor *units, const struct phase *h,
                                const struct phase *v, struct op_convolution_weights *weight)
{
    const struct op_convolution *s = low->shape;
    if (low->type == OP_TYPE_F32) {
        const struct op_convolution_taps taps = {last_of(h, s->kernel[1], s->stride[1]), h->taps,
                                                 last_of(v, s->kernel[2], s->stride[2]), v->taps};
        struct op_tensor own;
        leo_status status = op_convolution_take_some(low, units, &taps, &own);
        *weight = weights_of(&own, h->taps, v->taps);
        return status;
    }
    const int64_t tap = units->stride[0] * 2, row = s->stride[1] * s->kernel[2] * tap,
                  column = s->stride[2] * tap;
    const int64_t first = (h->first * s->kernel[2] + v->first) * tap;
    *weight = (struct op_convolution_weights){
        .addr = units->addr + (uint64_t)(first + (h->taps - 1) * row + (v->taps - 1) * column),
        .group = units->stride[1] * 2,
        .row = -row,
        .column = -column,
        .block = tap * s->kernel[1] * s->kernel[2],
        .turned = true};
    return LEO_OK;
}

// Makes a phase ready: of a stride of 1 for `out` itself, else for a temporary.
static leo_status begin_phase(const struct op_convolution_lowering *low,
                              const struct op_tensor *units, int64_t rh, int64_t rw,
                              const struct op_tensor *out, struct part *part,
                              struct op_convolution_phase *phase)
{
    const struct op_convolution *s = low->shape;
    const struct phase high = phase_of(s, 1, rh), wide = phase_of(s, 2, rw);
    *part = (struct part){.h = high, .w = wide, .dense = *out};
    part->reached = high.count > 0 && wide.count > 0 && high.taps > 0 && wide.taps > 0;
    if (!part->reached) {
        return LEO_OK;
    }
    phase->window = phase_window(s, &high, &wide);
    (void)op_window_close(&phase->window);
    leo_status status = phase_weights(low, units, &high, &wide, &phase->weight);
    if (status == LEO_OK && (s->stride[1] != 1 || s->stride[2] != 1)) {
        const int64_t dim[] = {out->dim[0], out->dim[1], high.count, wide.count, OP_FRACTAL};
        status = op_plan_temp(low->plan, out->type, 5, dim, &part->dense);
    }
    phase->out = part->dense;
    return status;
}

// A phase into the positions of `out` that it has; those no window reaches are 0 already.
static leo_status spread(const struct op_convolution_lowering *low, const struct part *part,
                         int64_t rh, int64_t rw, const struct op_tensor *out)
{
    const struct op_convolution *s = low->shape;
    struct op_tensor to = *out;
    to.addr += (uint64_t)((rh * out->stride[2] + rw * out->stride[3]) * op_type_bytes(out->type));
    to.dim[2] = part->h.count;
    to.dim[3] = part->w.count;
    to.stride[2] *= s->stride[1];
    to.stride[3] *= s->stride[2];
    return part->reached ? op_plan_copy(low->plan, &to, &part->dense) : LEO_OK;
}

// Lines of x's gradient that are made at a time of its phases; 0: it is not for
// op_convolution_join.
static int64_t joined_lines(const struct op_convolution *s, const struct op_tensor *out)
{
    const int64_t line = out->dim[3] * OP_FRACTAL * op_type_bytes(out->type);
    const int64_t lines = OP_CONVOLUTION_JOIN_SLOT / line / s->stride[1] * s->stride[1];
    return s->stride[1] <= OP_CONVOLUTION_JOIN_STRIDE && s->stride[2] <= OP_CONVOLUTION_JOIN_STRIDE
               ? lines
               : 0;
}

// Cycles in which a core joins a line of the phases with those beside it, all lines of a piece at a
// time, which are stored with gaps.
static int64_t even_cycles(const struct op_convolution_join_args *args, int64_t loads, int64_t rate)
{
    const int64_t line = (int64_t)args->width * args->bytes;
    return (loads * line / args->stride_w +
            args->stride_h * op_convolution_gap_bytes(line, line * args->stride_h)) /
           rate;
}

// The same line by line.
static int64_t plane_cycles(const struct op_convolution_join_args *args, int64_t loads,
                            int64_t rate)
{
    const int64_t line = (int64_t)args->width * args->bytes, lines = args->height / args->stride_h,
                  move = loads * line / args->stride_w + args->stride_h * line;
    return op_most(loads * JOIN_LOAD_CYCLES + JOIN_PIECE_CYCLES / lines, move / rate);
}

// Shares of pieces of planes.
static uint32_t share_planes(struct op_convolution_join_args *args, int64_t fit, uint32_t cores)
{
    const int64_t height = args->height;
    args->lines = (uint32_t)op_least(fit, op_round_up(height, args->stride_h));
    const struct op_share share =
        op_share_make(args->planes * (uint64_t)op_parts(height, args->lines), 1, 1, cores);
    args->per_block = share.per_block;
    return share.blocks;
}

// Shares of lines, smaller ones of later blocks.
static uint32_t share_lines(struct op_convolution_join_args *args, int64_t fit, uint32_t cores,
                            int64_t less)
{
    const int64_t lines = (int64_t)args->planes * (args->height / args->stride_h),
                  blocks = op_least(cores, lines), fewer = op_least(less, lines / blocks / blocks),
                  share = op_parts(lines + fewer * (blocks * (blocks - 1) / 2), blocks);
    args->even = 1;
    args->less = (uint32_t)fewer;
    args->per_block = (uint64_t)share;
    args->lines = (uint32_t)op_parts(
        share, op_most(op_parts(share, fit / args->stride_h), op_least(JOIN_PIECES, share)));
    return (uint32_t)blocks;
}

// Shares out the work: how many blocks there are.
static uint32_t share_join(const struct op_convolution_lowering *low, int64_t fit,
                           struct op_convolution_join_args *args)
{
    const uint32_t cores = op_plan_vector_cores(low->plan);
    const int64_t rate = (int64_t)low->room.chip->l2_read_rate * low->room.cores / cores;
    int64_t loads = 0;
    for (uint32_t rh = 0; rh < args->stride_h; rh++) {
        for (uint32_t rw = 0; rw < args->stride_w; rw++) {
            loads += args->phase[rh][rw] != 0;
        }
    }
    const int64_t cycles = even_cycles(args, loads, rate);
    const bool even = args->height % args->stride_h == 0 && args->width % args->stride_w == 0;
    return even && cycles < plane_cycles(args, loads, rate)
               ? share_lines(args, fit, cores, low->room.spread / op_most(cycles, 1))
               : share_planes(args, fit, cores);
}

static leo_status join(const struct op_convolution_lowering *low,
                       struct part part[OP_CONVOLUTION_JOIN_STRIDE][OP_CONVOLUTION_JOIN_STRIDE],
                       int64_t lines, const struct op_tensor *out)
{
    const struct op_convolution *s = low->shape;
    struct op_convolution_join_args args;
    memset(&args, 0, sizeof(args));
    args.out = out->addr;
    for (int64_t rh = 0; rh < s->stride[1]; rh++) {
        for (int64_t rw = 0; rw < s->stride[2]; rw++) {
            args.phase[rh][rw] = part[rh][rw].reached ? part[rh][rw].dense.addr : 0;
        }
    }
    args.planes = (uint64_t)(out->dim[0] * out->dim[1]);
    args.height = (uint32_t)out->dim[2];
    args.width = (uint32_t)out->dim[3];
    args.stride_h = (uint32_t)s->stride[1];
    args.stride_w = (uint32_t)s->stride[2];
    args.bytes = OP_FRACTAL * op_type_bytes(out->type);
    const uint32_t blocks = share_join(low, lines, &args);
    return op_plan_launch(low->plan, "convolution_join", "op_convolution_join", blocks, &args,
                          sizeof(args), 5);
}

// All phases, which then become one map: by op_convolution_join, or a copy each.
static leo_status plan_phases(const struct op_convolution_lowering *low,
                              const struct op_tensor *map, const struct op_tensor *units,
                              const struct op_tensor *out)
{
    const struct op_convolution *s = low->shape;
    struct part part[OP_CONVOLUTION_JOIN_STRIDE][OP_CONVOLUTION_JOIN_STRIDE];
    const bool whole = s->stride[1] == 1 && s->stride[2] == 1;
    const int64_t lines = joined_lines(s, out);
    leo_status status = LEO_OK;
    if (!lines && !whole && (s->stride[1] > s->kernel[1] || s->stride[2] > s->kernel[2])) {
        status = op_plan_fill(low->plan, out->addr, 0, op_tensor_extent(out));
    }
    struct op_convolution_phase phase[OP_CONVOLUTION_PHASES];
    unsigned count = 0;
    for (int64_t rh = 0; status == LEO_OK && rh < s->stride[1]; rh++) {
        for (int64_t rw = 0; status == LEO_OK && rw < s->stride[2]; rw++) {
            struct part *here = lines ? &part[rh][rw] : &part[0][0];
            status = begin_phase(low, units, rh, rw, out, here, &phase[count]);
            count += here->reached;
            if (status == LEO_OK && !lines) {
                status = op_convolution_launch_phases(low->plan, &low->room, low->type, low->flags,
                                                      phase, count, map);
                count = 0;
            }
            if (status == LEO_OK && !lines && !whole) {
                status = spread(low, here, rh, rw, out);
            }
        }
    }
    if (status == LEO_OK) {
        status = op_convolution_launch_phases(low->plan, &low->room, low->type, low->flags, phase,
                                              count, map);
    }
    return status == LEO_OK && lines && !whole ? join(low, part, lines, out) : status;
}

static leo_status plan_input(const struct op_convolution_lowering *low, const struct op_tensor *y,
                             const struct op_tensor *w, const struct op_tensor *x)
{
    struct op_tensor map, units, native, out;
    leo_status status = op_convolution_take(low, y, OP_FORMAT_NC1HWC0, &map);
    if (status == LEO_OK) {
        status = low->type == OP_TYPE_F32
                     ? op_convolution_take_turned(low, w, &units)
                     : op_convolution_take(low, w, OP_FORMAT_FRACTAL_Z, &units);
    }
    if (status == LEO_OK) {
        status = op_convolution_begin(low, x, OP_FORMAT_NC1HWC0, &native, &out);
    }
    if (status == LEO_OK) {
        status = plan_phases(low, &map, &units, &out);
    }
    return status == LEO_OK ? op_convolution_finish(low, &native, x) : status;
}

// The sum of all splits, which stand one after the other; the result in the type of `out`.
static leo_status add_splits(const struct op_convolution_lowering *low,
                             const struct op_tensor *sums, const struct op_tensor *out)
{
    const int64_t dim[] = {sums->dim[0], op_tensor_count(out)};
    const struct op_tensor rows = op_tensor_dense(sums->addr, OP_TYPE_F32, 2, dim);
    struct op_tensor row = op_tensor_dense(out->addr, OP_TYPE_F32, 1, dim + 1), to = row;
    leo_status status = LEO_OK;
    if (sums->dim[0] == 1) {
        row.addr = sums->addr;
        to.type = out->type;
        return op_plan_copy(low->plan, &to, &row);
    }
    if (out->type != OP_TYPE_F32) {
        status = op_plan_temp(low->plan, OP_TYPE_F32, 1, dim + 1, &row);
    }
    if (status == LEO_OK) {
        status = op_reduce_plan_rows(low->plan, &rows, &row);
    }
    to.type = out->type;
    return status == LEO_OK && out->type != OP_TYPE_F32 ? op_plan_copy(low->plan, &to, &row)
                                                        : status;
}

static leo_status launch_weight(const struct op_convolution_lowering *low,
                                const struct op_window *window, const struct op_tensor *gradient,
                                const struct op_tensor *map,
                                const struct op_convolution_weight_tiling *tile,
                                const struct op_tensor *sums)
{
    struct op_convolution_cube_args args = op_convolution_begin_args(window);
    const int64_t c1 = map->dim[1], n1 = gradient->dim[1],
                  taps = window->filter_w * window->filter_h;
    args.x = map->addr;
    args.w = gradient->addr;
    args.out = sums->addr;
    args.x_image = map->stride[0] * 2;
    args.x_c1 = (uint32_t)map->stride[1] * 2;
    args.w_image = gradient->stride[0] * 2;
    args.w_c1 = (uint32_t)gradient->stride[1] * 2;
    args.out_image = sums->stride[0] * 4;
    args.out_n1 = (uint32_t)n1 * OP_FRACTAL * OP_FRACTAL * 4;
    args.images = (uint32_t)map->dim[0];
    args.c1 = (uint16_t)c1;
    args.n1 = (uint16_t)n1;
    args.tile_m = (uint16_t)tile->m;
    args.tile_n1 = (uint16_t)tile->units;
    args.tiles_m = (uint32_t)op_parts(n1 * OP_FRACTAL, tile->m);
    args.tiles_n = (uint32_t)op_parts(c1 * taps, tile->units);
    args.tiles = args.tiles_m * args.tiles_n * (uint32_t)tile->splits;
    args.chunk = (uint16_t)tile->chunk;
    args.group = (uint16_t)tile->group;
    args.row_chunks = (uint32_t)op_parts(window->out_height, tile->chunk);
    args.chunks = (uint32_t)op_parts(map->dim[0], tile->group) * args.row_chunks;
    args.k_step =
        (uint16_t)(op_convolution_l0(&low->room) / op_most(tile->m / OP_FRACTAL, tile->units));
    args.l0_half = (uint8_t)op_convolution_l0(&low->room);
    args.l0c_blocks = (uint8_t)low->room.chip->l0c_blocks;
    args.l1_half = (uint32_t)low->room.l1 / 2;
    args.l1_second = (uint32_t)tile->map_bytes;
    args.per_split = (uint32_t)tile->per_split;
    args.part = (uint16_t)tile->part;
    args.l0c_slot = tile->two_sums ? (uint32_t)low->room.l0c / 2 : 0;
    args.flags = (uint8_t)(op_convolution_type_flags(low->type, sums->type) |
                           (tile->flat ? OP_CONVOLUTION_CUBE_FLAT : 0u) |
                           (tile->lines ? OP_CONVOLUTION_CUBE_LINES : 0u));
    return op_plan_launch(low->plan, "convolution_cube", "op_convolution_weight",
                          (uint32_t)op_least(args.tiles, low->room.cores), &args, sizeof(args), 3);
}

static leo_status plan_weight(const struct op_convolution_lowering *low, const struct op_tensor *y,
                              const struct op_tensor *x, const struct op_tensor *w)
{
    const struct op_convolution *s = low->shape;
    struct op_window window = forward_window(s);
    struct op_convolution_weight_tiling tile;
    struct op_tensor gradient, map, native, out, sums;
    (void)op_window_close(&window);
    leo_status status = op_convolution_take(low, y, OP_FORMAT_NC1HWC0, &gradient);
    if (status == LEO_OK) {
        status = op_convolution_take(low, x, OP_FORMAT_NC1HWC0, &map);
    }
    if (status == LEO_OK) {
        status = op_convolution_begin(low, w, OP_FORMAT_FRACTAL_Z, &native, &out);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (!op_convolution_choose_weight_tiling(&low->room, &window, s->images, map.dim[1],
                                             gradient.dim[1], &tile)) {
        return LEO_ERR_UNSUPPORTED; // ruled out before
    }
    const int64_t dim[] = {tile.splits, out.dim[0], out.dim[1], out.dim[2], out.dim[3]};
    const bool direct = tile.splits == 1 && out.type == OP_TYPE_F32;
    sums = op_tensor_dense(out.addr, OP_TYPE_F32, 5, dim);
    if (!direct) {
        status = op_plan_temp(low->plan, OP_TYPE_F32, 5, dim, &sums);
    }
    if (status == LEO_OK) {
        status = launch_weight(low, &window, &gradient, &map, &tile, &sums);
    }
    if (status == LEO_OK && !direct) {
        status = add_splits(low, &sums, &out);
    }
    return status == LEO_OK ? op_convolution_finish(low, &native, w) : status;
}

/* Whether it fits. */

// Loads of weights step from group to group in a field of 16 bits, in blocks of 32 bytes.
static bool weights_fit(const struct op_convolution *s)
{
    const int64_t channels = op_most(s->x_channels, s->y_channels) + OP_FRACTAL;
    return s->kernel[1] * s->kernel[2] * channels <= UINT16_MAX;
}

static bool tiles_fit(const struct op_convolution_lowering *low, enum op_convolution_goal goal)
{
    const struct op_convolution *s = low->shape;
    const int64_t x1 = op_parts(s->x_channels, OP_FRACTAL),
                  y1 = op_parts(s->y_channels, OP_FRACTAL),
                  x_units = op_parts(s->x_channels, op_convolution_c0(low->type)),
                  y_units = op_parts(s->y_channels, op_convolution_c0(low->type));
    struct op_window window = forward_window(s);
    struct op_convolution_tiling tile;
    struct op_convolution_weight_tiling weight;
    switch (goal) {
    case OP_CONVOLUTION_OUT:
        return op_window_close(&window) &&
               op_convolution_choose_tiling(&low->room, &window, s->images, x_units, y1, &tile);
    case OP_CONVOLUTION_WEIGHT:
        return low->type != OP_TYPE_F32 && op_window_close(&window) &&
               op_convolution_choose_weight_tiling(&low->room, &window, s->images, x1, y1, &weight);
    case OP_CONVOLUTION_INPUT:
        for (int64_t r = 0; r < s->stride[1] * s->stride[2]; r++) {
            const struct phase h = phase_of(s, 1, r / s->stride[2]),
                               w = phase_of(s, 2, r % s->stride[2]);
            window = phase_window(s, &h, &w);
            if (h.count && w.count && h.taps && w.taps &&
                (!op_window_close(&window) ||
                 !op_convolution_choose_tiling(&low->room, &window, s->images, y_units, x1,
                                               &tile))) {
                return false;
            }
        }
        return s->stride[1] * s->dilation[1] == op_most(s->stride[1], s->dilation[1]) &&
               s->stride[2] * s->dilation[2] == op_most(s->stride[2], s->dilation[2]);
    }
    return false;
}

// Few channels of large maps, which are padded to 16: where neighbours follow each other, copies of
// windows take less time than conversions of maps (3 channels of 224 x 224, 910A: 50 us for 88).
bool op_convolution_copies_pay(const struct op_convolution *s, enum op_convolution_goal goal,
                               const struct op_tensor *x)
{
    return goal == OP_CONVOLUTION_OUT && !op_format_is_native(x->format) &&
           s->x_channels < COPIED_CHANNELS && s->stride[1] * s->stride[2] == 1 &&
           s->y_size[1] * s->y_size[2] > COPIED_POSITIONS;
}

// A kernel of one element over rows is a product of matrices as they lie, weights times maps; what
// maps in blocks of channels would save of it, their conversions take twice (910B1, batch 32, 256
// -> 64 channels of 56 x 56: 99 us for 38). Maps must begin where the coupled core's copies do.
static bool is_product(const struct op_convolution_lowering *low, enum op_convolution_goal goal,
                       const struct op_tensor *a, const struct op_tensor *out)
{
    const struct op_convolution *s = low->shape;
    const uint64_t map_bytes = (uint64_t)(s->y_size[1] * s->y_size[2]) * op_type_bytes(low->type);
    return goal != OP_CONVOLUTION_WEIGHT && !op_format_is_native(a->format) &&
           !op_format_is_native(out->format) && s->kernel[1] * s->kernel[2] == 1 &&
           s->stride[1] * s->stride[2] == 1 && s->pad[1] == 0 && s->pad[2] == 0 &&
           !op_plan_has_tail(low->plan, map_bytes);
}

leo_status op_convolution_plan_cube(const struct op_call *call, const struct op_convolution *shape,
                                    enum op_convolution_goal goal, const struct op_tensor *a,
                                    const struct op_tensor *b, const struct op_tensor *out)
{
    const struct op_matmul types = {
        .a = *a, .b = *b, .out = *out, .cube_math = (int)op_call_int(call, "cubeMathType")};
    const struct leo_caps *caps = op_plan_caps(call->plan);
    struct op_convolution_lowering low = {.call = call,
                                          .plan = call->plan,
                                          .shape = shape,
                                          .room = {.chip = op_plan_numbers(call->plan),
                                                   .l1 = caps->l1_bytes,
                                                   .l0c = caps->l0c_bytes,
                                                   .m_most = GRADIENT_M,
                                                   .stay = caps->l1_bytes / 2,
                                                   .cores = op_plan_cube_cores(call->plan),
                                                   .spread = op_plan_block_spread(call->plan)}};
    const bool multiplies = op_matmul_type(call->plan, &types, &low.type);
    if (low.type == OP_TYPE_F32) {
        low.flags = types.cube_math & 1 ? OP_CONVOLUTION_CUBE_HF32 : 0;
        low.room.halved = low.flags == 0;
    }
    if (!multiplies || op_convolution_copies_pay(shape, goal, a) ||
        is_product(&low, goal, a, out) || shape->groups != 1 || shape->kernel[0] != 1 ||
        shape->x_size[0] != 1 || shape->y_size[0] != 1 || shape->pad[0] != 0 ||
        op_tensor_count(a) == 0 || op_tensor_count(b) == 0 || !weights_fit(shape) ||
        !tiles_fit(&low, goal)) {
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
