/* SPDX-License-Identifier: Apache-2.0 */
#include "convolution_launch.h"
#include "../frame/whole.h"

#include <string.h>

enum {
    PIECES_A_CORE = 2,  // [A] of what several cores load: so that two seldom meet
    MAP_PIECES = 4,     // [A] of a chunk's map: a load is as slow as the one before it was
    STAY_EIGHTHS = 5,   // [A] of L1, for weights of all phases
    FRACTAL_UNITS = 16, // blocks of 32 bytes
    FRACTAL_BYTES = 512,
};

uint32_t op_convolution_type_flags(enum op_type type, enum op_type out)
{
    return (type == OP_TYPE_BF16 ? OP_CONVOLUTION_CUBE_BF16 : 0u) |
           (out == OP_TYPE_F32 ? OP_CONVOLUTION_CUBE_OUT_F32 : 0u) |
           (out == OP_TYPE_BF16 ? OP_CONVOLUTION_CUBE_OUT_BF16 : 0u);
}

struct op_convolution_cube_args op_convolution_begin_args(const struct op_window *w)
{
    struct op_convolution_cube_args args;
    memset(&args, 0, sizeof(args));
    args.width = (uint16_t)w->width;
    args.height = (uint32_t)w->height;
    args.out_width = (uint16_t)w->out_width;
    args.out_height = (uint16_t)w->out_height;
    args.filter_w = (uint8_t)w->filter_w;
    args.filter_h = (uint8_t)w->filter_h;
    args.stride_w = (uint8_t)w->stride_w;
    args.stride_h = (uint8_t)w->stride_h;
    args.dilation_w = (uint8_t)w->dilation_w;
    args.dilation_h = (uint8_t)w->dilation_h;
    args.pad_l = (uint8_t)w->pad_l;
    args.pad_r = (uint8_t)w->pad_r;
    args.pad_t = (uint8_t)w->pad_t;
    return args;
}

static const char *program_of(enum op_type type)
{
    return type == OP_TYPE_F32 ? "convolution_f32" : "convolution_cube";
}

static int64_t unit_step(const struct op_window *w, const struct op_convolution_weights *weight)
{
    const int64_t taps = w->filter_w * w->filter_h;
    if (!weight->turned) {
        return taps == 1 ? weight->group : weight->column;
    }
    if (taps == 1) {
        return weight->block;
    }
    const bool follow = (w->filter_h == 1 || weight->row == w->filter_w * weight->column) &&
                        weight->block == -taps * weight->column;
    return follow ? -weight->column : 0;
}

// What several cores load at a time comes in pieces, each core's first one another.
static void set_pieces(const struct op_convolution_room *room,
                       const struct op_convolution_tiling *tile,
                       struct op_convolution_cube_args *args)
{
    const int64_t taps = args->filter_w * args->filter_h,
                  cores = op_least(args->tiles, room->cores),
                  sharers = op_parts(cores, args->tiles_n);
    const bool turned = args->flags & OP_CONVOLUTION_CUBE_TURN;
    const int64_t blocks = op_least(args->n1, tile->n1),
                  rounds = turned && !args->w_unit ? taps : 1,
                  bursts = turned ? blocks * taps / rounds : tile->chunk * taps,
                  fractals = turned ? tile->chunk : blocks;
    int64_t parts = 1;
    while (rounds * bursts * parts < sharers && parts * 2 <= fractals) {
        parts *= 2;
    }
    const int64_t part = op_parts(fractals, parts);
    args->map_run =
        (uint16_t)(args->tiles_n > 1
                       ? op_parts(tile->chunk, op_least(PIECES_A_CORE * args->tiles_n, tile->chunk))
                       : tile->chunk);
    args->map_pieces = (uint16_t)op_parts(tile->chunk, args->map_run);
    args->w_part = (uint16_t)(part * FRACTAL_UNITS);
    args->w_parts = (uint16_t)op_parts(fractals, part);
    args->w_run = (uint16_t)op_most(rounds * bursts * args->w_parts / sharers, 1);
    args->w_bursts = (uint16_t)op_parts(bursts, args->w_run);
    args->w_pieces = (uint16_t)(rounds * args->w_parts * args->w_bursts);
}

// Groups of channels of a load, of a chunk in `pieces`: the next load begins where a request does.
static void set_map_run(const struct op_convolution_room *room, int64_t chunk, int64_t pieces,
                        struct op_convolution_cube_args *args)
{
    const int64_t run = op_parts(chunk, op_least(pieces, chunk)),
                  aligned = op_convolution_aligned_groups(room->chip, args->width * args->height);
    args->map_run = (uint16_t)(run < chunk ? op_least(op_round_up(run, aligned), chunk) : run);
}

// The same of op_convolution_flat, in as few pieces as keep the cores at one line few enough;
// weights that stay for several tiles are loaded once, in more pieces if they are as they lie.
// Turned weights are loaded by blocks or by groups, whichever are fewer: a piece is some of a
// block's groups, or of a group's blocks.
static void set_flat_pieces(const struct op_convolution_room *room,
                            const struct op_convolution_tiling *tile,
                            struct op_convolution_cube_args *args)
{
    const bool often = !tile->resident || args->tiles <= room->cores,
               turned = args->flags & OP_CONVOLUTION_CUBE_TURN && !tile->lies;
    const int64_t share = op_chip_line_sharers(room->chip), chunk = tile->chunk,
                  blocks = op_least(args->n1, tile->part),
                  cores = op_least(args->tiles, room->cores),
                  sharers = op_parts(cores, args->tiles_n),
                  pieces = often ? op_parts(sharers, args->chunks)
                                 : op_parts(turned ? sharers : PIECES_A_CORE * sharers, share);
    // Bursts of a chunk, and fractals of one.
    const int64_t all_bursts = tile->lies ? blocks : chunk, fractals = tile->lies ? chunk : blocks;
    const int64_t outer = op_least(chunk, blocks), inner = op_most(chunk, blocks),
                  part = turned
                             ? 1
                             : op_parts(fractals, op_least(op_parts(pieces, all_bursts), fractals)),
                  parts = turned ? outer : op_parts(fractals, part),
                  bursts = turned ? inner : all_bursts;
    set_map_run(room, chunk, op_most(op_parts(args->tiles_n, share), MAP_PIECES / share), args);
    args->map_pieces = (uint16_t)op_parts(chunk, args->map_run);
    args->w_part = (uint16_t)(part * FRACTAL_UNITS);
    args->w_parts = (uint16_t)parts;
    args->w_run = (uint16_t)op_parts(bursts, op_least(op_parts(pieces, parts), bursts));
    args->w_bursts = (uint16_t)op_parts(bursts, args->w_run);
    args->w_pieces = (uint16_t)(args->w_parts * args->w_bursts);
}

// More columns than cores may share a line go through the rows a part of them apart, if the L2
// keeps the map.
static void set_row_turn(const struct op_convolution_room *room,
                         const struct op_convolution_tiling *tile,
                         struct op_convolution_cube_args *args)
{
    const int64_t share = op_chip_line_sharers(room->chip);
    if (args->tiles_n > share &&
        op_convolution_map_stays(room, args->images, args->width * args->height, args->c1)) {
        args->row_turn = args->tiles_m / args->tiles_n;
        set_map_run(room, tile->chunk, op_parts(MAP_PIECES, share), args);
        args->map_pieces = 1;
    }
}

// What both programs have: chunks of the depth, and where they and their sums stand.
static void set_buffers(const struct op_convolution_room *room,
                        const struct op_convolution_tiling *tile,
                        struct op_convolution_cube_args *args)
{
    args->tile_m = (uint16_t)tile->m;
    args->tile_n1 = (uint16_t)tile->n1;
    args->tiles_n = (uint32_t)op_parts(args->n1, tile->n1);
    args->chunk = (uint16_t)tile->chunk;
    args->chunks = (uint32_t)op_parts(args->c1, tile->chunk);
    args->l1_map = (uint32_t)tile->resident;
    args->l1_half = (uint32_t)(room->l1 - tile->resident) / 2;
    args->l1_second = (uint32_t)tile->map_bytes;
    args->resident = tile->resident != 0;
    args->l0c_slot = tile->two_sums ? (uint32_t)room->l0c / 2 : 0;
    args->l0_half = (uint8_t)op_convolution_l0(room);
    args->l0c_blocks = (uint8_t)room->chip->l0c_blocks;
}

static void set_tiling(const struct op_convolution_room *room, const struct op_window *w,
                       const struct op_convolution_tiling *tile,
                       struct op_convolution_cube_args *args)
{
    set_buffers(room, tile, args);
    args->group = (uint16_t)tile->group;
    args->k_step =
        (uint16_t)(op_convolution_l0(room) / op_most(tile->group * tile->m / OP_FRACTAL, tile->n1));
    args->tiles_m = (uint32_t)op_parts(w->out_width * w->out_height, tile->m);
    args->tiles = (uint32_t)op_parts(args->images, tile->group) * args->tiles_m * args->tiles_n;
    set_pieces(room, tile, args);
}

static void set_flat_tiling(const struct op_convolution_room *room,
                            const struct op_convolution_tiling *tile,
                            struct op_convolution_cube_args *args)
{
    const int64_t rows = (int64_t)args->images * args->out_width * args->out_height;
    set_buffers(room, tile, args);
    args->part = (uint16_t)tile->part;
    args->k_step =
        (uint16_t)(op_convolution_l0(room) / op_most(op_parts(tile->m, OP_FRACTAL), tile->part));
    args->tiles_m = (uint32_t)op_parts(rows, tile->m);
    args->tiles = args->tiles_m * args->tiles_n;
    set_flat_pieces(room, tile, args);
    set_row_turn(room, tile, args);
}

// What the launch of a convolution has whatever its tiles are.
static struct op_convolution_cube_args args_of(enum op_type type, const struct op_window *w,
                                               const struct op_tensor *x,
                                               const struct op_convolution_weights *weight,
                                               uint32_t flags, const struct op_tensor *out)
{
    struct op_convolution_cube_args args = op_convolution_begin_args(w);
    const unsigned unit = op_type_bytes(out->type);
    args.x = x->addr;
    args.w = weight->addr;
    args.out = out->addr;
    args.x_image = x->stride[0] * op_type_bytes(x->type);
    args.x_c1 = (uint32_t)x->stride[1] * op_type_bytes(x->type);
    args.w_c1 = (uint32_t)weight->group;
    args.w_row = (int32_t)weight->row;
    args.w_column = (int32_t)weight->column;
    args.w_unit = (uint32_t)unit_step(w, weight);
    args.w_block = (uint32_t)weight->block;
    args.out_image = out->stride[0] * unit;
    args.out_n1 = (uint32_t)out->stride[1] * unit;
    args.images = (uint32_t)x->dim[0];
    args.c1 = (uint16_t)x->dim[1];
    args.n1 = (uint16_t)out->dim[1];
    args.flags = (uint8_t)(flags | op_convolution_type_flags(type, out->type) |
                           (weight->turned ? OP_CONVOLUTION_CUBE_TURN : 0u));
    return args;
}

leo_status op_convolution_launch(struct op_plan *plan, const struct op_convolution_room *room,
                                 enum op_type type, const struct op_window *w,
                                 const struct op_tensor *x,
                                 const struct op_convolution_weights *weight, uint32_t flags,
                                 const struct op_tensor *out)
{
    struct op_convolution_cube_args args = args_of(type, w, x, weight, flags, out);
    const int64_t images = x->dim[0], c1 = x->dim[1], n1 = out->dim[1];
    const bool flat = op_window_is_sparse(w);
    struct op_convolution_tiling tile;
    if (!(flat ? op_convolution_choose_flat_tiling(room, w, images, c1, n1, weight->turned, &tile)
               : op_convolution_choose_tiling(room, w, images, c1, n1, &tile))) {
        return LEO_ERR_UNSUPPORTED; // ruled out before
    }
    if (flat) {
        args.flags |= (tile.lies ? OP_CONVOLUTION_CUBE_LIES : 0) |
                      (tile.lines ? OP_CONVOLUTION_CUBE_LINES : 0);
        set_flat_tiling(room, &tile, &args);
    } else {
        set_tiling(room, w, &tile, &args);
    }
    if (args.tiles == args.tiles_n) { // one row of tiles
        args.w = op_chip_read_once(op_plan_numbers(plan), args.w,
                                   (uint64_t)(c1 * n1 * w->filter_w * w->filter_h) * FRACTAL_BYTES);
    }
    const char *kernel = !flat                  ? "op_convolution"
                         : op_window_is_flat(w) ? "op_convolution_flat"
                                                : "op_convolution_strided";
    return op_plan_launch(plan, program_of(type), kernel,
                          (uint32_t)op_least(args.tiles, room->cores), &args, sizeof(args), 3);
}

static int64_t taps_of(const struct op_convolution_phase *phase)
{
    return phase->window.filter_w * phase->window.filter_h;
}

// Most taps first: cores that have a tile more have a small one.
static void sort_phases(struct op_convolution_phase *phase, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        for (unsigned j = i; j > 0 && taps_of(&phase[j]) > taps_of(&phase[j - 1]); j--) {
            const struct op_convolution_phase other = phase[j];
            phase[j] = phase[j - 1];
            phase[j - 1] = other;
        }
    }
}

// Arguments of all phases with the first one's tile; false if it does not fit all.
static bool set_phases(const struct op_convolution_room *room, enum op_type type, uint32_t flags,
                       const struct op_convolution_phase *phase, const struct op_tensor *x,
                       struct op_convolution_phases_args *args)
{
    const int64_t images = x->dim[0], c1 = x->dim[1], n1 = phase[0].out.dim[1];
    struct op_convolution_room part = *room;
    struct op_convolution_tiling tile;
    int64_t taps = 0, weights = 0;
    for (unsigned i = 0; i < args->count; i++) {
        taps += taps_of(&phase[i]);
    }
    part.stay = room->l1 * STAY_EIGHTHS / 8 * taps_of(&phase[0]) / taps;
    if (!op_convolution_choose_tiling(&part, &phase[0].window, images, c1, n1, &tile)) {
        return false;
    }
    const int64_t first = tile.resident;
    tile.resident = first / taps_of(&phase[0]) * taps;
    for (unsigned i = 0; i < args->count; i++) {
        struct op_convolution_cube_args *one = &args->phase[i];
        if (!op_convolution_fit_tiling(room, &phase[i].window, images, c1, n1, &tile)) {
            return false;
        }
        *one = args_of(type, &phase[i].window, x, &phase[i].weight, flags, &phase[i].out);
        set_tiling(room, &phase[i].window, &tile, one);
        one->l1_weights = (uint32_t)weights;
        args->w[i] = one->w;
        args->out[i] = one->out;
        weights += first / taps_of(&phase[0]) * taps_of(&phase[i]);
    }
    return true;
}

leo_status op_convolution_launch_phases(struct op_plan *plan,
                                        const struct op_convolution_room *room, enum op_type type,
                                        uint32_t flags, struct op_convolution_phase *phase,
                                        unsigned count, const struct op_tensor *x)
{
    struct op_convolution_phases_args args = {.x = x->addr, .count = count};
    sort_phases(phase, count);
    if (count > 1 && set_phases(room, type, flags, phase, x, &args)) {
        int64_t tiles = 0;
        for (unsigned i = 0; i < count; i++) {
            tiles += args.phase[i].tiles;
        }
        return op_plan_launch(plan, program_of(type), "op_convolution_phases",
                              (uint32_t)op_least(tiles, room->cores), &args, sizeof(args),
                              1 + 2 * OP_CONVOLUTION_PHASES);
    }
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < count; i++) {
        status = op_convolution_launch(plan, room, type, &phase[i].window, x, &phase[i].weight,
                                       flags, &phase[i].out);
    }
    return status;
}
