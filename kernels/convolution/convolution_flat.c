/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of op_convolution_flat: the plan of the lowest price. */
#include "../frame/whole.h"
#include "convolution_tiling.h"

enum {
    BLOCK_BYTES = 32,
    FRACTAL_BYTES = 512,
    SUM_BYTES = 1024,    /* a fractal of sums */
    M_MAX = 512,         /* [A] positions of a tile */
    M_LEAST = 32,        /* [A] */
    N1_MAX = 16,         /* [A] blocks of output channels whose sums are made at a time, */
    PART_LEAST = 4,      /* [A] and the least of a part of a tile */
    CHUNK_MAX = 64,      /* [A] groups of channels loaded at a time */
    START_CYCLES = 1000, /* until the first load, by a trace */
    LOAD_CYCLES = 400,   /* of the first answer of memory, and of cores that begin later */
    TILE_CYCLES = 350,   /* of the scalar unit, by a trace: a tile, */
    CHUNK_CYCLES = 450,  /* a chunk, */
    BURST_CYCLES = 75,   /* bursts from memory, */
    LINES_CYCLES = 21,   /* [M] lines of a group of channels: gm_small_interval, */
    PART_CYCLES = 200,   /* a part of the columns, */
    STEP_CYCLES = 75,    /* a step, */
    ISSUE_CYCLES = 12,   /* and an instruction */
    STEP_GAP = 9,        /* [M] mmad_gap */
    STORE_RATE = 64,     /* [P] bytes a cycle to memory, 910A */
    DRAIN_CYCLES = 4,    /* [P] a fractal of L0C to UB, 910A */
    FIX_RATE = 113,      /* [P] bytes a cycle from L0C to memory, 910B1 */
    FIX_HEAD = 160,      /* [F] cycles, the same */
};

/** What is to be priced. */
struct flat {
    const struct op_convolution_room *room;
    int64_t rows, positions, c1, n1; /* positions: of an image of the result */
    int64_t plane;                   /* positions of one of x */
    bool coupled, turned, map_stays;
    int64_t least;     /* cycles that memory needs */
    int64_t core_rate; /* bytes a cycle of one core alone */
    const struct op_window *w;
    bool strides; /* windows are every so manieth position */
};

/* Maps in L1: columns of fractals, or of a stride the lines of a tile. */

// Lines of output positions that `m` of them lie in at most.
static int64_t lines_of(const struct flat *f, int64_t m)
{
    const int64_t width = f->w->out_width, most = m % width ? (m - 2) / width + 2 : m / width;
    return op_least(most, op_parts(f->rows, width));
}

static int64_t line_bytes(const struct flat *f)
{
    return f->w->width * BLOCK_BYTES;
}

// Bytes of a group of channels of a tile in L1.
static int64_t column_bytes(const struct flat *f, const struct op_convolution_tiling *tile)
{
    const int64_t step = tile->lines ? 1 : f->w->stride_h;
    return f->strides ? lines_of(f, tile->m) * step * line_bytes(f)
                      : op_parts(tile->m, OP_FRACTAL) * FRACTAL_BYTES;
}

// Bytes that memory moves for it, on average.
static int64_t moved_bytes(const struct flat *f, const struct op_convolution_tiling *tile)
{
    if (!f->strides) {
        return tile->m * BLOCK_BYTES;
    }
    const int64_t lines = lines_of(f, tile->m);
    // As if lines began anywhere: priced by their pitch, on the 910B1 56 x 56 with 256 channels
    // gains 7 % and 14 x 14 with 1024 loses 6.
    return tile->lines ? lines * op_convolution_gap_bytes(line_bytes(f), line_bytes(f))
                       : lines * f->w->stride_h * line_bytes(f);
}

int64_t op_convolution_aligned_groups(const struct op_chip *chip, int64_t positions)
{
    int64_t groups = 1;
    while (groups * positions * BLOCK_BYTES % chip->request_bytes) {
        groups *= 2;
    }
    return groups;
}

// Images that a tile touches, as they are loaded and stored.
static int64_t pieces_of(const struct flat *f, int64_t m)
{
    return op_least(op_parts(m, f->positions) + 1, op_parts(f->rows, f->positions));
}

bool op_convolution_map_stays(const struct op_convolution_room *room, int64_t images,
                              int64_t positions, int64_t c1)
{
    return 2 * images * positions * c1 * BLOCK_BYTES <= room->chip->caps.l2_bytes;
}

// Whether loads of maps are whole requests, or go line by line.
static bool loads_are_whole(const struct flat *f, const struct op_convolution_tiling *tile)
{
    const int64_t aligned = op_convolution_aligned_groups(f->room->chip, f->plane),
                  lines = line_bytes(f) * f->w->stride_h;
    if (f->strides && (tile->lines || tile->m % f->positions)) {
        return aligned == 1 && lines % f->room->chip->request_bytes == 0;
    }
    return aligned == 1 ||
           (tile->m % f->positions == 0 && (tile->chunk == f->c1 || tile->chunk % aligned == 0));
}

// Bytes a cycle of maps, of a core that may load at `rate`: pieces that begin anywhere ask for
// fewer bytes at a time, and cores that read the same chunk share it.
static int64_t map_rate(const struct flat *f, const struct op_convolution_tiling *tile,
                        int64_t rate)
{
    const struct op_chip *chip = f->room->chip;
    const int64_t columns = op_parts(f->n1, tile->n1), rows = op_parts(f->rows, tile->m),
                  cores = f->room->cores;
    const int64_t together = f->map_stays ? op_least(columns, op_parts(cores, rows)) : columns,
                  sharers = op_parts(together, op_parts(f->c1, tile->chunk)),
                  most = loads_are_whole(f, tile) ? rate : op_least(rate, chip->line_rate);
    return op_most(op_least(most, chip->line_total / sharers), 1);
}

// Of the sums that L0C holds.
static int64_t store_cycles(const struct flat *f, const struct op_convolution_tiling *tile)
{
    const int64_t bytes = op_parts(tile->m, OP_FRACTAL) * tile->part * FRACTAL_BYTES;
    return f->coupled ? bytes / STORE_RATE : pieces_of(f, tile->m) * FIX_HEAD + bytes / FIX_RATE;
}

// Cycles of the loads of a tile's operands by a core that may load at `rate`. Weights that come
// with chunks meet other cores' time and again.
static int64_t map_cycles(const struct flat *f, const struct op_convolution_tiling *tile,
                          int64_t rate)
{
    return moved_bytes(f, tile) * f->c1 / map_rate(f, tile, rate);
}

static int64_t weight_cycles(const struct flat *f, const struct op_convolution_tiling *tile,
                             int64_t rate)
{
    const int64_t columns = op_parts(f->n1, tile->n1),
                  together =
                      op_least(op_parts(f->room->cores, columns), op_parts(f->rows, tile->m)),
                  chunks = op_parts(f->c1, tile->chunk), sharers = op_parts(together, chunks),
                  most = op_least(rate, f->room->chip->line_total / sharers);
    return tile->n1 * FRACTAL_BYTES * f->c1 / (tile->resident ? rate : most);
}

// Cycles that memory takes: for all that the cores move, each as much as the others, and for the
// loads of the busiest one.
static int64_t memory_cycles(const struct flat *f, const struct op_convolution_tiling *tile)
{
    const int64_t all = f->room->chip->l2_read_rate, one = f->core_rate,
                  rows = op_parts(f->rows, tile->m), columns = op_parts(f->n1, tile->n1),
                  tiles = rows * columns, rounds = op_parts(tiles, f->room->cores),
                  loads = tile->resident ? op_least(tiles, f->room->cores) : tiles;
    const int64_t cycles = columns * map_cycles(f, tile, all) * f->rows / tile->m +
                           f->rows * f->n1 * BLOCK_BYTES / all +
                           loads * weight_cycles(f, tile, all),
                  busiest = rounds * map_cycles(f, tile, one) +
                            (tile->resident ? 1 : rounds) *
                                weight_cycles(f, tile, rounds == 1 ? one : one * 3 / 4);
    return op_most(op_most(cycles / f->room->cores, busiest), f->least);
}

// Instructions that load the left matrix of a step.
static int64_t left_loads(const struct flat *f, const struct op_convolution_tiling *tile)
{
    const int64_t m1 = op_parts(tile->m, OP_FRACTAL),
                  k_step = op_convolution_l0(f->room) / op_most(m1, tile->part);
    return !f->strides ? op_least(k_step, m1) : f->coupled ? k_step : 1;
}

// Cycles of the scalar unit for the loads of a tile's map.
static int64_t map_issue(const struct flat *f, const struct op_convolution_tiling *tile)
{
    return pieces_of(f, tile->m) *
           (tile->lines ? f->c1 * LINES_CYCLES : op_parts(f->c1, tile->chunk) * BURST_CYCLES);
}

// Cycles of the busiest core.
static int64_t price(const struct flat *f, const struct op_convolution_tiling *tile)
{
    const struct op_chip *chip = f->room->chip;
    const int64_t m1 = op_parts(tile->m, OP_FRACTAL), part = tile->part, c1 = f->c1,
                  tiles = op_parts(f->rows, tile->m) * op_parts(f->n1, tile->n1),
                  rounds = op_parts(tiles, f->room->cores), chunks = op_parts(c1, tile->chunk),
                  parts = op_parts(tile->n1, part);
    const int64_t k_step = op_convolution_l0(f->room) / op_most(m1, part),
                  steps = chunks * op_parts(tile->chunk, k_step); // of a part
    const int64_t map = column_bytes(f, tile), weights = part * FRACTAL_BYTES,
                  weight_loads = f->turned && !tile->lies ? op_least(part, tile->chunk) : 1,
                  right = tile->lies ? op_least(k_step, tile->chunk) : 1;
    const int64_t multiply = m1 * part * c1 * (f->room->halved ? 2 : 1) + steps * STEP_GAP,
                  fill = c1 * (m1 * op_convolution_left_cycles(f->room->chip, f->w) +
                               part * (f->coupled ? 2 : 4)),
                  issue = PART_CYCLES +
                          steps * (STEP_CYCLES + (left_loads(f, tile) + right - 1) * ISSUE_CYCLES),
                  feed = TILE_CYCLES + chunks * CHUNK_CYCLES + map_issue(f, tile),
                  feed_weights = chunks * weight_loads * BURST_CYCLES;
    const int64_t store = store_cycles(f, tile),
                  drain = f->coupled ? m1 * part * DRAIN_CYCLES : store;
    // While lines are asked for, the Cube has what is in both halves of L0.
    const int64_t lines = tile->lines ? map_issue(f, tile) : 0,
                  starve = op_most(lines - 2 * chunks * multiply / steps, 0) / parts;
    const int64_t work = op_most(multiply, fill) + starve,
                  with_weights = op_most(work, issue + (feed + feed_weights) / parts),
                  busy = tile->resident ? op_most(work, issue + feed / parts) : with_weights,
                  once = parts * (with_weights - busy), // a core's first tile
        round = parts * op_most(busy + (tile->two_sums ? 0 : drain), store),
                  first = tile->chunk * (map + weights) / chip->l2_read_rate,
                  last = work / chunks + store;
    return START_CYCLES + LOAD_CYCLES + first +
           op_most(once + rounds * round, memory_cycles(f, tile)) + last;
}

static void look_at(const struct flat *f, const struct op_convolution_tiling *tile, int64_t *best,
                    struct op_convolution_tiling *out)
{
    const int64_t cycles = price(f, tile);
    if (cycles < *best) {
        *best = cycles;
        *out = *tile;
    }
}

// Chunks of equal size rather than a small last one.
static void look_at_chunks(const struct flat *f, struct op_convolution_tiling tile, int64_t *best,
                           struct op_convolution_tiling *out)
{
    const int64_t column = column_bytes(f, &tile),
                  weights = tile.resident ? 0 : tile.n1 * FRACTAL_BYTES,
                  fit = (f->room->l1 - tile.resident) / 2 / (column + weights);
    const bool parts = tile.part < tile.n1; // need all of the depth
    const int64_t aligned = op_convolution_aligned_groups(f->room->chip, f->plane);
    int64_t last = 0;
    for (int64_t most = op_least(parts ? f->c1 : CHUNK_MAX, fit); most > 0; most /= 2) {
        tile.chunk = op_parts(f->c1, op_parts(f->c1, most));
        if (tile.chunk < f->c1 && most >= aligned) {
            tile.chunk = op_least(op_round_up(tile.chunk, aligned), most / aligned * aligned);
        }
        tile.map_bytes = tile.chunk * column;
        for (int lies = f->turned && !parts; lies >= 0; lies--) {
            tile.lies = lies;
            if (tile.chunk != last && (!parts || tile.chunk == f->c1)) {
                look_at(f, &tile, best, out);
            }
        }
        last = tile.chunk;
    }
}

// Columns of a tile at a time as L0C can hold them beside those before.
static void look_at_columns(const struct flat *f, struct op_convolution_tiling tile, int64_t *best,
                            struct op_convolution_tiling *out)
{
    const int64_t sums = f->room->l0c / SUM_BYTES, m1 = op_parts(tile.m, OP_FRACTAL);
    if (tile.n1 <= N1_MAX && m1 * tile.n1 <= sums) {
        tile.part = tile.n1;
        tile.two_sums = 2 * m1 * tile.n1 <= sums;
        look_at_chunks(f, tile, best, out);
    }
    for (tile.part = N1_MAX; tile.resident && tile.part >= PART_LEAST; tile.part /= 2) {
        tile.two_sums = true;
        if (tile.part < tile.n1 && 2 * m1 * tile.part <= sums) {
            look_at_chunks(f, tile, best, out);
        }
    }
}

// Maps as they are, and without the lines that no window begins in.
static void look_at_parts(const struct flat *f, struct op_convolution_tiling tile, int64_t *best,
                          struct op_convolution_tiling *out)
{
    if (f->w->height % f->w->stride_h == 0) { // images follow each other
        look_at_columns(f, tile, best, out);
    }
    tile.lines = true;
    if (f->strides) {
        look_at_columns(f, tile, best, out);
    }
}

bool op_convolution_choose_flat_tiling(const struct op_convolution_room *room,
                                       const struct op_window *w, int64_t images, int64_t c1,
                                       int64_t n1, bool turned, struct op_convolution_tiling *out)
{
    const struct op_chip *chip = room->chip;
    const int64_t positions = w->out_width * w->out_height, plane = w->width * w->height,
                  bytes = images * (plane / w->stride_h * c1 + positions * n1) * BLOCK_BYTES +
                          c1 * n1 * FRACTAL_BYTES,
                  lacks = op_most(bytes - (int64_t)chip->caps.l2_bytes, 0); // the L2, at best
    const struct flat f = {.room = room,
                           .rows = images * positions,
                           .positions = positions,
                           .plane = plane,
                           .c1 = c1,
                           .n1 = n1,
                           .coupled = chip->caps.arch == 1001,
                           .turned = turned,
                           .map_stays = op_convolution_map_stays(room, images, plane, c1),
                           .w = w,
                           .strides = w->stride_w * w->stride_h > 1,
                           .least = op_most(lacks / room->cores / chip->limits.matmul_read_rate,
                                            bytes / room->cores / chip->l2_read_rate),
                           .core_rate = bytes / op_most((bytes - lacks) / chip->core_read_rate +
                                                            lacks / chip->core_miss_rate,
                                                        1)};
    const int64_t most = op_least(op_least(M_MAX, op_convolution_l0(room) * OP_FRACTAL),
                                  op_round_up(f.rows, OP_FRACTAL));
    int64_t best = INT64_MAX, last = 0;
    for (int64_t columns = 1; columns <= n1; columns++) {
        struct op_convolution_tiling tile = {.group = 1, .n1 = op_parts(n1, columns)};
        const int64_t all = c1 * tile.n1 * FRACTAL_BYTES;
        const bool may_stay = all <= room->stay && room->cores % op_parts(n1, tile.n1) == 0;
        if (tile.n1 == last) {
            continue;
        }
        last = tile.n1;
        for (int stay = 0; stay <= may_stay; stay++) {
            tile.resident = stay ? all : 0;
            for (tile.m = op_least(M_LEAST, most); tile.m <= most; tile.m += OP_FRACTAL) {
                look_at_parts(&f, tile, &best, out);
            }
            // Whole images; the coupled core's conversions would see rows that are not multiplied.
            for (tile.m = positions; !f.coupled && tile.m <= most; tile.m += positions) {
                look_at_parts(&f, tile, &best, out);
            }
        }
    }
    return best < INT64_MAX;
}
