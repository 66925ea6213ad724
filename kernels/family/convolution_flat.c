/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of op_conv_flat: the plan of the lowest price. */
#include "../frame/whole.h"
#include "convolution_tiling.h"

enum {
    BLOCK_BYTES = 32,
    POSITIONS_MOST = 32767, /* of an image: gaps between its groups of channels in f32 */
    FRACTAL_BYTES = 512,
    SUM_BYTES = 1024,    /* a fractal of sums */
    M_MOST = 512,        /* [A] positions of a tile */
    M_LEAST = 32,        /* [A] */
    N1_MOST = 16,        /* [A] blocks of output channels whose sums are made at a time, */
    PART_LEAST = 4,      /* [A] and the least of a part of a tile */
    CHUNK_MOST = 64,     /* [A] groups of channels loaded at a time */
    START_CYCLES = 1000, /* until the first load, by a trace */
    LOAD_CYCLES = 400,   /* of the first answer of memory, and of cores that begin later */
    TILE_CYCLES = 350,   /* of the scalar unit, by a trace: a tile, */
    CHUNK_CYCLES = 450,  /* a chunk, */
    BURST_CYCLES = 75,   /* bursts from memory, */
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
    const struct op_conv_room *room;
    int64_t rows, positions, c1, n1;
    bool coupled, turned, map_stays;
    int64_t least; /* cycles that memory needs */
};

bool op_window_is_flat(const struct op_window *w)
{
    return w->filter_w * w->filter_h == 1 && w->stride_w * w->stride_h == 1 && w->pad_l == 0 &&
           w->pad_t == 0 && w->width == w->out_width && w->height == w->out_height &&
           w->width * w->height <= POSITIONS_MOST;
}

// Images that a tile touches, as they are loaded and stored.
static int64_t pieces_of(const struct flat *f, int64_t m)
{
    return op_least(op_parts(m, f->positions) + 1, op_parts(f->rows, f->positions));
}

bool op_conv_map_stays(const struct op_conv_room *room, int64_t images, int64_t positions,
                       int64_t c1)
{
    return 2 * images * positions * c1 * BLOCK_BYTES <= room->chip->l2_bytes;
}

// Bytes a cycle of maps: pieces that begin anywhere ask for fewer bytes at a time, and cores that
// read the same share them.
static int64_t map_rate(const struct flat *f, const struct op_conv_tiling *tile)
{
    const struct op_chip *chip = f->room->chip;
    const int64_t columns = op_parts(f->n1, tile->n1), rows = op_parts(f->rows, tile->m),
                  cores = f->room->cores;
    const bool whole =
        tile->m % f->positions == 0 || f->positions * BLOCK_BYTES % chip->request_bytes == 0;
    const int64_t sharers = f->map_stays ? op_least(columns, op_parts(cores, rows)) : columns,
                  rate = whole ? chip->l2_read_rate : chip->line_rate;
    return op_most(op_least(rate, chip->line_total / sharers), 1);
}

// Of the sums that L0C holds.
static int64_t store_cycles(const struct flat *f, const struct op_conv_tiling *tile)
{
    const int64_t bytes = op_parts(tile->m, OP_FRACTAL) * tile->part * FRACTAL_BYTES;
    return f->coupled ? bytes / STORE_RATE : pieces_of(f, tile->m) * FIX_HEAD + bytes / FIX_RATE;
}

// Cycles in which memory gives and takes what all cores move, each as much as the others. Weights
// that come with chunks meet other cores' time and again.
static int64_t memory_cycles(const struct flat *f, const struct op_conv_tiling *tile)
{
    const int64_t rate = f->room->chip->l2_read_rate, rows = op_parts(f->rows, tile->m),
                  columns = op_parts(f->n1, tile->n1), tiles = rows * columns,
                  loads = tile->resident ? op_least(tiles, f->room->cores) : tiles;
    const int64_t cycles = columns * f->rows * f->c1 * BLOCK_BYTES / map_rate(f, tile) +
                           f->rows * f->n1 * BLOCK_BYTES / rate +
                           loads * tile->n1 * FRACTAL_BYTES * f->c1 /
                               (tile->resident ? rate : op_least(rate, f->room->chip->line_rate));
    return op_most(cycles / f->room->cores, f->least);
}

// Cycles of the busiest core.
static int64_t price(const struct flat *f, const struct op_conv_tiling *tile)
{
    const struct op_chip *chip = f->room->chip;
    const int64_t m1 = op_parts(tile->m, OP_FRACTAL), part = tile->part, c1 = f->c1,
                  tiles = op_parts(f->rows, tile->m) * op_parts(f->n1, tile->n1),
                  rounds = op_parts(tiles, f->room->cores), chunks = op_parts(c1, tile->chunk),
                  parts = op_parts(tile->n1, part);
    const int64_t k_step = OP_L0_FRACTALS / op_most(m1, part),
                  steps = chunks * op_parts(tile->chunk, k_step); // of a part
    const int64_t map = m1 * FRACTAL_BYTES, weights = part * FRACTAL_BYTES,
                  weight_loads = f->turned && !tile->lies ? op_least(part, tile->chunk) : 1,
                  right = tile->lies ? op_least(k_step, tile->chunk) : 1;
    const int64_t multiply = m1 * part * c1 + steps * STEP_GAP,
                  fill = c1 * (f->coupled ? m1 + 2 * part : 2 * m1 + 4 * part),
                  issue = PART_CYCLES +
                          steps * (STEP_CYCLES + (op_least(k_step, m1) + right - 1) * ISSUE_CYCLES),
                  feed =
                      TILE_CYCLES + chunks * (CHUNK_CYCLES + pieces_of(f, tile->m) * BURST_CYCLES),
                  feed_weights = chunks * weight_loads * BURST_CYCLES;
    const int64_t store = store_cycles(f, tile),
                  drain = f->coupled ? m1 * part * DRAIN_CYCLES : store;
    const int64_t work = op_most(multiply, fill),
                  with_weights = op_most(work, issue + (feed + feed_weights) / parts),
                  busy = tile->resident ? op_most(work, issue + feed / parts) : with_weights,
                  once = parts * (with_weights - busy), // a core's first tile
        round = parts * op_most(busy + (tile->two_sums ? 0 : drain), store),
                  first = tile->chunk * (map + weights) / chip->l2_read_rate,
                  last = work / chunks + store;
    return START_CYCLES + LOAD_CYCLES + first +
           op_most(once + rounds * round, memory_cycles(f, tile)) + last;
}

static void look_at(const struct flat *f, const struct op_conv_tiling *tile, int64_t *best,
                    struct op_conv_tiling *out)
{
    const int64_t cycles = price(f, tile);
    if (cycles < *best) {
        *best = cycles;
        *out = *tile;
    }
}

// Chunks of equal size rather than a small last one.
static void look_at_chunks(const struct flat *f, struct op_conv_tiling tile, int64_t *best,
                           struct op_conv_tiling *out)
{
    const int64_t column = op_parts(tile.m, OP_FRACTAL) * FRACTAL_BYTES,
                  weights = tile.resident ? 0 : tile.n1 * FRACTAL_BYTES,
                  fit = (f->room->l1 - tile.resident) / 2 / (column + weights);
    const bool parts = tile.part < tile.n1; // need all of the depth
    int64_t last = 0;
    for (int64_t most = op_least(parts ? f->c1 : CHUNK_MOST, fit); most > 0; most /= 2) {
        tile.chunk = op_parts(f->c1, op_parts(f->c1, most));
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
static void look_at_parts(const struct flat *f, struct op_conv_tiling tile, int64_t *best,
                          struct op_conv_tiling *out)
{
    const int64_t sums = f->room->l0c / SUM_BYTES, m1 = op_parts(tile.m, OP_FRACTAL);
    if (tile.n1 <= N1_MOST && m1 * tile.n1 <= sums) {
        tile.part = tile.n1;
        tile.two_sums = 2 * m1 * tile.n1 <= sums;
        look_at_chunks(f, tile, best, out);
    }
    for (tile.part = N1_MOST; tile.resident && tile.part >= PART_LEAST; tile.part /= 2) {
        tile.two_sums = true;
        if (tile.part < tile.n1 && 2 * m1 * tile.part <= sums) {
            look_at_chunks(f, tile, best, out);
        }
    }
}

bool op_conv_choose_flat_tiling(const struct op_conv_room *room, const struct op_window *w,
                                int64_t images, int64_t c1, int64_t n1, bool turned,
                                struct op_conv_tiling *out)
{
    const struct op_chip *chip = room->chip;
    const int64_t positions = w->width * w->height,
                  bytes = images * positions * (c1 + n1) * BLOCK_BYTES + c1 * n1 * FRACTAL_BYTES;
    const struct flat f = {
        .room = room,
        .rows = images * positions,
        .positions = positions,
        .c1 = c1,
        .n1 = n1,
        .coupled = chip->arch == 1001,
        .turned = turned,
        .map_stays = op_conv_map_stays(room, images, positions, c1),
        .least = bytes / room->cores /
                 (bytes > chip->l2_bytes ? chip->matmul_read_rate : chip->l2_read_rate)};
    const int64_t most = op_least(M_MOST, op_round_up(f.rows, OP_FRACTAL));
    int64_t best = INT64_MAX, last = 0;
    for (int64_t columns = 1; columns <= n1; columns++) {
        struct op_conv_tiling tile = {.group = 1, .n1 = op_parts(n1, columns)};
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
