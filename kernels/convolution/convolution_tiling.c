/* SPDX-License-Identifier: Apache-2.0 */
#include "convolution_tiling.h"

#include "../frame/whole.h"
#include "convolution_cube_args.h"

enum {
    BLOCK_BYTES = 32,
    CHUNK_UNITS = 36,       /* [A] taps of groups loaded at a time: four groups of a 3 x 3 kernel */
    CHUNK_POSITIONS = 1024, /* [A] of the weight's gradient */
    CHUNKS_MORE = 2,        /* [A] as many of the same as fill L1, at most */
    CHUNK_MARGIN = 20,      /* [A] share of the cycles that smaller ones must save: measured, those
                               that promised less lost */
    SPLITS_MAX = 64,        /* [A] sums of the weight's gradient */
    SPLIT_CYCLES_1001 = 2100, /* by a trace: a second kernel that adds them, beside what it moves */
    SPLIT_CYCLES_2201 = 4000,
    PART_BYTES = 65536,    /* of sums that leave at a time: a slab of UB, 910A */
    WEIGHT_UNITS = 16,     /* [A] units of a tile of the weight's gradient, 910A, */
    WEIGHT_UNITS_MAX = 64, /* and 910B1: a half of L0B */
    GROUP_MAX = 16,        /* [A] images of a chunk of the weight's gradient */
    START_CYCLES = 2000,   /* of a kernel until its first load, by a trace */
    CHUNK_CYCLES = 700,    /* of a chunk of the weight's gradient, the scalar unit's, by a trace */
    LOAD_CYCLES = 18,      /* of the same: a load to L1, */
    TURN_CYCLES = 13,      /* 910B1: to L0, */
    WINDOW_CYCLES = 25,    /* of windows to L0, */
    WEIGHT_CYCLES = 90,    /* and what else a step takes */
    WEIGHT_GAP = 45,       /* [A] of the Cube before a step, 910B1: seldom as little as mmad_gap,
                              at most mmad_head */
    FRACTAL_BYTES = 512,
    SLOW_MAX = 16, /* [P] img2col over a load of the same bytes, twice: the vendor's table */
    SUM_BYTES = 4,
    TILE_M_LEAST = 64,
    TILE_N1_MAX = 16,   /* [A] blocks of output channels of a tile */
    LOAD_HEAD = 47,     /* [M] cycles of a load to L0 before its first fractal */
    STEP_CYCLES = 150,  /* [A] of the scalar unit: flags and addresses of a step, */
    UNIT_CYCLES = 20,   /* [A] of one img2col */
    PIECE_CYCLES = 40,  /* [A] and of the load of a unit of weights */
    STORE_RATE = 64,    /* [P] bytes a cycle to memory, 910A; [A] for 910B1 */
    TILE_CYCLES = 1000, /* [A] what a tile costs beside its work */
    FIX_RATE = 113,     /* [P] bytes a cycle from L0C to memory, 910B1 */
    FIX_HEAD = 160,     /* [F] cycles, the same */
    DRAIN_CYCLES = 4,   /* [P] a fractal of L0C to UB, 910A */
    PAD_MAX = 255,      /* what fields of instructions hold */
    STRIDE_MAX = 63,
    MAP_SIZE_MAX = 32767,
    POSITIONS_MAX = 1 << 20, /* of the output */
    FLAT_MAX = 32767,        /* of an image whose windows are positions: gaps between its groups of
                                 channels in f32 */
    LINES_MAX = 65535,       /* positions of x in L1 */
    PLANE_MAX = 1 << 26,     /* positions of x: bytes between groups fit in 32 bits */
    GAP_MAX = 65535,         /* blocks between the groups of channels of x */
};

static int64_t up16(int64_t n)
{
    return op_parts(n, OP_FRACTAL) * OP_FRACTAL;
}

static int64_t span_of(int64_t filter, int64_t dilation)
{
    return (filter - 1) * dilation + 1;
}

bool op_window_close(struct op_window *w)
{
    const int64_t span_w = span_of(w->filter_w, w->dilation_w),
                  span_h = span_of(w->filter_h, w->dilation_h);
    const int64_t need_w = (w->out_width - 1) * w->stride_w + span_w - w->width - w->pad_l;
    w->pad_r = op_most(need_w, 0);
    const int64_t sees = (w->width + w->pad_l + w->pad_r - span_w) / w->stride_w + 1;
    const int64_t last_h = (w->out_height - 1) * w->stride_h - w->pad_t,
                  last_w = (w->out_width - 1) * w->stride_w - w->pad_l;
    return w->width + w->pad_l + w->pad_r >= span_w && sees == w->out_width && w->pad_l >= 0 &&
           w->pad_t >= 0 && w->pad_l < span_w && w->pad_t < span_h && last_h < w->height &&
           last_w < w->width && w->pad_l <= PAD_MAX && w->pad_r <= PAD_MAX && w->pad_t <= PAD_MAX &&
           last_h + span_h - w->height <= PAD_MAX && w->stride_w <= STRIDE_MAX &&
           w->stride_h <= STRIDE_MAX && w->filter_w <= PAD_MAX && w->filter_h <= PAD_MAX &&
           w->dilation_w <= PAD_MAX && w->dilation_h <= PAD_MAX && w->width * span_h <= LINES_MAX &&
           w->width * w->height <= PLANE_MAX && w->out_width <= MAP_SIZE_MAX &&
           w->out_height <= MAP_SIZE_MAX && w->out_width * w->out_height <= POSITIONS_MAX;
}

bool op_window_is_flat(const struct op_window *w)
{
    return op_window_is_sparse(w) && w->stride_w * w->stride_h == 1;
}

bool op_window_is_sparse(const struct op_window *w)
{
    return w->filter_w * w->filter_h == 1 && w->pad_l == 0 && w->pad_t == 0 &&
           op_parts(w->width, w->stride_w) == w->out_width &&
           op_parts(w->height, w->stride_h) == w->out_height && w->width * w->height <= FLAT_MAX;
}

// Most lines of x that `positions` consecutive windows reach.
static int64_t lines_of(const struct op_window *w, int64_t positions)
{
    const int64_t rows = op_least(w->out_height, (positions - 1) / w->out_width + 2);
    return op_least(w->height, (rows - 1) * w->stride_h + span_of(w->filter_h, w->dilation_h));
}

int64_t op_convolution_gap_bytes(int64_t line, int64_t pitch)
{
    const int64_t unit = line < 512 ? 128 : 512, begin = pitch % unit ? unit / 2 : 0;
    return line % unit ? op_round_up(line, unit) + begin : line;
}

int64_t op_convolution_left_cycles(const struct op_chip *chip, const struct op_window *w)
{
    const int64_t stride = w->stride_w, lines = (OP_FRACTAL - 1) / w->out_width + 1,
                  cycles = chip->caps.arch == 1001 ? 1 : 2,
                  slow = stride & (stride - 1) ? SLOW_MAX : 2 * stride + lines; // in halves
    return stride == 1 ? cycles : op_parts(slow * cycles, 2);
}

int64_t op_convolution_late(const struct op_convolution_room *room, int64_t tiles, int64_t cycles)
{
    const int64_t extra = tiles % room->cores, blocks = op_least(tiles, room->cores),
                  last = (blocks - 1) * room->spread;
    // The first `extra` blocks have a tile more than those that begin later.
    return blocks == tiles || extra == 0 ? last
                                         : op_most((extra - 1) * room->spread, last - cycles);
}

/* A convolution whose tiles are chosen. */
struct problem {
    const struct op_convolution_room *room;
    const struct op_window *w;
    int64_t images, c1, n1, positions, taps;
    bool coupled; /* of the first generation */
    int64_t rate; /* bytes a cycle and core */
};

static struct problem problem_of(const struct op_convolution_room *room, const struct op_window *w,
                                 int64_t images, int64_t c1, int64_t n1)
{
    struct problem p = {room,
                        w,
                        images,
                        c1,
                        n1,
                        w->out_width * w->out_height,
                        w->filter_w * w->filter_h,
                        room->chip->caps.arch == 1001,
                        room->chip->limits.matmul_read_rate};
    const int64_t bytes = images * (w->width * w->height * c1 + p.positions * n1) * BLOCK_BYTES +
                          p.taps * c1 * n1 * FRACTAL_BYTES;
    if (bytes <= room->chip->caps.l2_bytes) {
        p.rate = room->chip->l2_read_rate;
    }
    return p;
}

static int64_t tiles_of(const struct problem *p, const struct op_convolution_tiling *tile)
{
    return op_parts(p->images, tile->group) * op_parts(p->positions, tile->m) *
           op_parts(p->n1, tile->n1);
}

// How many groups of channels a half of L1 holds; 0: not one.
static void fit_chunk(const struct problem *p, struct op_convolution_tiling *tile)
{
    const struct op_window *w = p->w;
    const int64_t map = tile->group * lines_of(w, tile->m) * w->width * BLOCK_BYTES,
                  weights = tile->resident ? 0 : p->taps * tile->n1 * FRACTAL_BYTES;
    const int64_t most_groups = w->width * w->height > GAP_MAX ? 1 : p->c1,
                  half = (p->room->l1 - tile->resident) / 2;
    tile->chunk = op_least(op_least(half / (map + weights), most_groups),
                           op_most((tile->resident ? 2 : 1) * CHUNK_UNITS / p->taps, 1));
    // Chunks of equal size rather than a small last one.
    tile->chunk = tile->chunk ? op_parts(p->c1, op_parts(p->c1, tile->chunk)) : 0;
    tile->map_bytes = tile->chunk * map;
}

// Cycles of the busiest core.
static int64_t estimate(const struct problem *p, const struct op_convolution_tiling *tile)
{
    const int64_t units = p->c1 * p->taps, rounds = op_parts(tiles_of(p, tile), p->room->cores);
    const int64_t m1 = tile->group * tile->m / OP_FRACTAL, fresh = tile->resident ? 1 : rounds;
    const int64_t steps =
        op_parts(units, op_most(op_convolution_l0(p->room) / op_most(m1, tile->n1), 1));
    const int64_t multiply = m1 * tile->n1 * units * (p->room->halved ? 2 : 1);
    const int64_t maps = tile->map_bytes / tile->chunk * p->c1 * rounds,
                  weights = tile->n1 * units * FRACTAL_BYTES * fresh;
    // Of the first generation: an instruction for each unit.
    const int64_t loads = p->coupled ? units : steps,
                  fill = loads * LOAD_HEAD * tile->group +
                         units * m1 * op_convolution_left_cycles(p->room->chip, p->w) +
                         steps * LOAD_HEAD + (p->coupled ? 2 : 4) * units * tile->n1;
    const int64_t issue = (units * UNIT_CYCLES * tile->group + steps * STEP_CYCLES) * rounds +
                          units * PIECE_CYCLES * fresh;
    const int64_t cube = op_most(multiply, fill) * rounds,
                  memory = (maps + weights) / p->room->chip->limits.matmul_read_rate;
    const int64_t store = m1 * tile->n1 * FRACTAL_BYTES / STORE_RATE * rounds,
                  work = op_most(op_most(cube, memory), issue);
    const int64_t all = (tile->two_sums ? op_most(work, store) : work + store) +
                        rounds * TILE_CYCLES / (tile->two_sums ? 2 : 1);
    return all + op_convolution_late(p->room, tiles_of(p, tile), all / rounds);
}

// The better of the tile as it is and with smaller groups, with weights that stay and that come
// with chunks.
static void look_at(const struct problem *p, struct op_convolution_tiling tile, int64_t room_for,
                    int64_t *best, struct op_convolution_tiling *out)
{
    const int64_t all = p->c1 * p->taps * tile.n1 * FRACTAL_BYTES;
    const bool may_stay = all <= p->room->stay && all <= p->room->l1 / 2 &&
                          p->room->cores % op_parts(p->n1, tile.n1) == 0;
    for (; tile.group > 0; tile.group /= 2) {
        tile.two_sums = tile.group * 2 <= room_for;
        for (int stay = 0; stay <= may_stay; stay++) {
            tile.resident = stay ? all : 0;
            fit_chunk(p, &tile);
            const int64_t cycles = tile.chunk ? estimate(p, &tile) : INT64_MAX;
            if (cycles < *best) {
                *best = cycles;
                *out = tile;
            }
        }
    }
}

bool op_convolution_choose_tiling(const struct op_convolution_room *room, const struct op_window *w,
                                  int64_t images, int64_t c1, int64_t n1,
                                  struct op_convolution_tiling *out)
{
    const struct problem p = problem_of(room, w, images, c1, n1);
    const int64_t sums = room->l0c / SUM_BYTES, l0 = op_convolution_l0(room),
                  m_most = op_least(room->m_most, l0 * OP_FRACTAL);
    int64_t best = INT64_MAX;
    for (int64_t columns = op_parts(n1, op_least(TILE_N1_MAX, l0)); columns <= n1; columns++) {
        const int64_t n1_tile = op_parts(n1, columns);
        for (int64_t pieces = op_parts(p.positions, m_most);
             pieces <= op_most(op_parts(p.positions, TILE_M_LEAST), 1); pieces++) {
            struct op_convolution_tiling tile = {.m = up16(op_parts(p.positions, pieces)),
                                                 .n1 = n1_tile};
            const int64_t room_for = sums / (n1_tile * OP_FRACTAL * tile.m);
            // Small maps go together.
            tile.group = pieces > 1 ? 1 : op_least(op_most(m_most / tile.m, 1), images);
            tile.group = op_least(tile.group, room_for);
            look_at(&p, tile, room_for, &best, out);
        }
    }
    return best < INT64_MAX;
}

bool op_convolution_fit_tiling(const struct op_convolution_room *room, const struct op_window *w,
                               int64_t images, int64_t c1, int64_t n1,
                               struct op_convolution_tiling *tile)
{
    const struct problem p = problem_of(room, w, images, c1, n1);
    fit_chunk(&p, tile);
    return tile->chunk > 0;
}

/* The weight's gradient. */

// Cycles in which `fractals` sums of 16 x 16 leave, and in which the Cube waits for a place.
static int64_t store_cycles(const struct problem *p, int64_t fractals)
{
    return p->coupled ? fractals * FRACTAL_BYTES / STORE_RATE
                      : FIX_HEAD + fractals * FRACTAL_BYTES / FIX_RATE;
}

static int64_t drain_cycles(const struct problem *p, int64_t fractals)
{
    return p->coupled ? fractals * DRAIN_CYCLES : store_cycles(p, fractals);
}

// Groups of x that the units of a tile reach.
static int64_t groups_of(const struct problem *p, const struct op_convolution_weight_tiling *tile)
{
    return op_least(p->c1, op_parts(tile->units - 1, p->taps) + 1);
}

static bool is_one_map(const struct op_convolution_weight_tiling *tile)
{
    return tile->flat || tile->lines;
}

// Whether a half of L1 holds `rows` rows of positions of tile->group images.
static bool chunk_fits(const struct problem *p, struct op_convolution_weight_tiling *tile,
                       int64_t rows)
{
    const struct op_window *w = p->w;
    const int64_t reached =
        op_least(w->height, (rows - 1) * w->stride_h + span_of(w->filter_h, w->dilation_h));
    const int64_t lines = tile->lines ? rows : reached;
    const int64_t gradient = is_one_map(tile) ? up16(tile->group * rows * w->out_width)
                                              : tile->group * up16(rows * w->out_width);
    const int64_t map = tile->flat ? gradient : tile->group * lines * w->width;
    tile->map_bytes = groups_of(p, tile) * map * BLOCK_BYTES;
    return tile->map_bytes + tile->m / OP_FRACTAL * gradient * BLOCK_BYTES <= p->room->l1 / 2 &&
           tile->group * lines <= MAP_SIZE_MAX && tile->group * lines * w->width <= LINES_MAX;
}

// As many rows of positions as a half of L1 holds, in chunks of equal size; 0: not one.
static int64_t fit_weight_chunk(const struct problem *p, struct op_convolution_weight_tiling *tile)
{
    const struct op_window *w = p->w;
    int64_t rows = op_least(w->out_height, op_most(CHUNK_POSITIONS / w->out_width, 1));
    if (tile->group > 1) { // whole images
        return p->positions * tile->group <= CHUNK_POSITIONS && chunk_fits(p, tile, w->out_height)
                   ? w->out_height
                   : 0;
    }
    while (rows > 0 && !chunk_fits(p, tile, rows)) {
        rows--;
    }
    return rows ? op_parts(w->out_height, op_parts(w->out_height, rows)) : 0;
}

// Bytes a cycle of an operand of which a tile's chunk takes some groups of channels of `positions`
// each: loads that begin anywhere ask for fewer bytes at a time.
static int64_t rate_of(const struct problem *p, int64_t groups, int64_t all_groups,
                       int64_t positions, bool whole, int64_t step)
{
    const int64_t request = p->room->chip->request_bytes / BLOCK_BYTES;
    const bool from_start = groups >= all_groups || groups * positions % request == 0,
               aligned = whole ? from_start : positions % request == 0 && step % request == 0;
    return aligned ? p->rate : op_least(p->rate, p->room->chip->line_rate);
}

// Cycles of the scalar unit for a step of `deep` blocks of 16 positions.
static int64_t step_cycles(const struct problem *p, const struct op_convolution_weight_tiling *tile,
                           int64_t deep)
{
    const int64_t left = op_least(deep, tile->m / OP_FRACTAL), right = op_least(deep, tile->units);
    if (p->coupled) {
        return (left + right) * UNIT_CYCLES + STEP_CYCLES;
    }
    return (left + (tile->flat ? right : 0)) * TURN_CYCLES + (tile->flat ? 0 : WINDOW_CYCLES) +
           WEIGHT_CYCLES;
}

// Cycles of the busiest core with so many chunks a split.
static int64_t estimate_weight(const struct problem *p,
                               const struct op_convolution_weight_tiling *tile, int64_t chunks)
{
    const int64_t tiles =
        op_parts(p->n1 * OP_FRACTAL, tile->m) * op_parts(p->c1 * p->taps, tile->units);
    const int64_t splits = op_parts(chunks, tile->per_split), m1 = tile->m / OP_FRACTAL,
                  k_step = op_most(op_convolution_l0(p->room) / op_most(m1, tile->units), 1);
    const int64_t one = tile->chunk * p->w->out_width, maps = is_one_map(tile) ? 1 : tile->group,
                  blocks = up16(is_one_map(tile) ? one * tile->group : one) / OP_FRACTAL,
                  steps = op_parts(blocks, k_step), deep = op_least(blocks, k_step);
    const int64_t multiply = blocks * m1 * tile->units + (p->coupled ? 0 : steps * WEIGHT_GAP),
                  fill = blocks * (p->coupled ? m1 + 2 * tile->units : 2 * m1 + 4 * tile->units),
                  issue = steps * step_cycles(p, tile, deep);
    const bool whole = tile->chunk == p->w->out_height;
    const int64_t map_rate = rate_of(p, groups_of(p, tile), p->c1, p->w->width * p->w->height,
                                     whole, tile->chunk * p->w->stride_h * p->w->width),
                  gradient_rate = rate_of(p, m1, p->n1, p->positions, whole, one);
    const int64_t line = p->w->width * BLOCK_BYTES,
                  map_bytes = tile->lines && p->w->stride_h > 1
                                  ? tile->map_bytes / line *
                                        op_convolution_gap_bytes(line, line * p->w->stride_h)
                                  : tile->map_bytes,
                  map_loads = tile->lines ? groups_of(p, tile) : 1;
    const int64_t memory =
                      map_bytes / map_rate + maps * blocks * m1 * FRACTAL_BYTES / gradient_rate,
                  scalar = maps * issue + CHUNK_CYCLES +
                           tile->group * (m1 + 1 + map_loads) * LOAD_CYCLES,
                  chunk = op_most(op_most(maps * op_most(multiply, fill), memory), scalar);
    const int64_t store = 2 * store_cycles(p, m1 * tile->units); // f32
    // Sums of splits are read and added afterwards, by all cores.
    const int64_t result = p->c1 * p->taps * p->n1 * OP_FRACTAL * OP_FRACTAL * SUM_BYTES,
                  add = splits > 1 ? (p->coupled ? SPLIT_CYCLES_1001 : SPLIT_CYCLES_2201) +
                                         (splits + 1) * result / p->room->cores / p->rate
                                   : 0;
    const int64_t rounds = op_parts(tiles * splits, p->room->cores), one_part = m1 * tile->part,
                  wait = tile->two_sums || rounds == 1 ? 0 : drain_cycles(p, 2 * one_part),
                  work = tile->per_split * chunk + wait;
    // Each part but one goes through the last chunk again.
    const int64_t again = (op_parts(tile->units, tile->part) - 1) * maps *
                          op_most(issue, op_most(fill, multiply) - multiply),
                  round = op_most(work + again, store) + TILE_CYCLES;
    return START_CYCLES + memory + rounds * round +
           op_convolution_late(p->room, tiles * splits, round) + 2 * store_cycles(p, one_part) +
           add;
}

// Most parts in which a tile's sums leave.
static int64_t part_count(const struct op_convolution_weight_tiling *tile)
{
    const int64_t bytes = tile->m * tile->units * OP_FRACTAL * SUM_BYTES;
    return op_least(op_parts(bytes, PART_BYTES),
                    OP_CONVOLUTION_WEIGHT_PARTS / (tile->two_sums ? 2 : 1));
}

static void look_at_splits(const struct problem *p, struct op_convolution_weight_tiling tile,
                           int64_t *best, struct op_convolution_weight_tiling *out)
{
    (void)chunk_fits(p, &tile, tile.chunk); // for its bytes
    tile.two_sums = 2 * tile.m * tile.units * OP_FRACTAL * SUM_BYTES <= p->room->l0c;
    const int64_t most_parts = part_count(&tile);
    const int64_t chunks = op_parts(p->images, tile.group) * op_parts(p->w->out_height, tile.chunk);
    for (int64_t splits = 1; splits <= op_least(chunks, SPLITS_MAX); splits++) {
        tile.per_split = op_parts(chunks, splits);
        tile.splits = op_parts(chunks, tile.per_split);
        for (int64_t parts = 1; parts <= most_parts; parts++) {
            tile.part = op_parts(tile.units, parts);
            const int64_t cycles = estimate_weight(p, &tile, chunks);
            if (cycles < *best) {
                *best = cycles;
                *out = tile;
            }
        }
    }
}

// Chunks of what a half of L1 holds, and smaller ones: the first is loaded before the Cube begins,
// and the last is multiplied when all is loaded. More loads cost what the count does not know.
static void look_at_chunks(const struct problem *p, struct op_convolution_weight_tiling tile,
                           int64_t *best, struct op_convolution_weight_tiling *out)
{
    const int64_t height = p->w->out_height, most = fit_weight_chunk(p, &tile);
    if (most == 0) {
        return;
    }
    const int64_t chunks = op_parts(height, most),
                  end = tile.group > 1 ? chunks : CHUNKS_MORE * chunks;
    for (int64_t count = chunks; count <= op_least(end, height); count++) {
        tile.chunk = op_parts(height, count);
        int64_t cycles = INT64_MAX;
        struct op_convolution_weight_tiling found = {0};
        if (op_parts(height, tile.chunk) == count) {
            look_at_splits(p, tile, &cycles, &found);
        }
        cycles -= count == chunks ? cycles / CHUNK_MARGIN : 0;
        if (cycles < *best) {
            *best = cycles;
            *out = found;
        }
    }
}

bool op_convolution_choose_weight_tiling(const struct op_convolution_room *room,
                                         const struct op_window *w, int64_t images, int64_t c1,
                                         int64_t n1, struct op_convolution_weight_tiling *out)
{
    const struct problem p = problem_of(room, w, images, c1, n1);
    const int64_t units = c1 * p.taps, sums = room->l0c / SUM_BYTES / OP_FRACTAL / OP_FRACTAL,
                  l0 = op_convolution_l0(room),
                  units_most = p.coupled ? WEIGHT_UNITS : WEIGHT_UNITS_MAX;
    int64_t best = INT64_MAX;
    for (int64_t rows = op_parts(n1, op_least(TILE_N1_MAX, l0)); rows <= n1; rows *= 2) {
        for (int64_t columns = op_parts(units, op_least(units_most, l0));
             columns <= op_least(units, 4 * op_parts(units, WEIGHT_UNITS)); columns++) {
            if (columns > 1 && op_parts(units, columns) == op_parts(units, columns - 1)) {
                continue;
            }
            struct op_convolution_weight_tiling tile = {.m = op_parts(n1, rows) * OP_FRACTAL,
                                                        .units = op_parts(units, columns),
                                                        .flat = op_window_is_flat(w)};
            tile.lines =
                !tile.flat && op_window_is_sparse(w) && (w->stride_h - 1) * w->width <= GAP_MAX;
            if (op_parts(n1, rows) * tile.units > sums) {
                continue;
            }
            for (tile.group = 1; tile.group <= op_least(images, GROUP_MAX); tile.group *= 2) {
                look_at_chunks(&p, tile, &best, out);
            }
        }
    }
    return best < INT64_MAX;
}
