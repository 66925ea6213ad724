/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul_tiling.h"

/* What the choice of tiles reckons with; marked as the numbers of the SoC files. Only time
 * depends on it. */
enum {
    TILE_CYCLES = 1000,       /* what a tile costs beside its work, first loads and last stores:
                                 [A] a few latencies of global memory */
    STORE_BYTES_A_CYCLE = 64, /* [P] 910A, UB to L2; [A] for 910B1, whose path stores 70 to 112 */
    K_STEP_MAX = 512,         /* [A] deeper steps only add to what the first one waits for */
    PIECES_MAX = 4, /* [A] of a chunk: more only wait for each other's begin. 22 products of 0.3 to
                       137 GFLOP on the 910B1 and 910B4 take 3 % less than with eight up to 64
                       chunks and one beyond: from 12 % less to 4 % more */
    FRACTAL = 16,
    BIAS_BYTES = 1024, /* of a row of a tile of the result, behind a half of L1 */
    LINE = 128,        /* [P] bytes of a line of the L2 */
    PART_OF_LINE = 32, /* [A] of equals, tiles of whole lines: what is moved is more, 96 on average,
                          but with that tiles get so large that cores idle (896^3 on the 910A
                          takes 41 % longer) */
    MEAN_PART = 96,    // the same on average
    BLOCK = 32,
    SLAB = 64,           /* columns that leave at a time, 910A */
    ODD_ROW_CYCLES = 25, /* gm_small_interval, and the scalar unit's */
    ROUNDS_MAX = 4, /* [A] tiles a core: with more, a last round that is not full costs little */
};

static uint32_t up16(uint32_t n)
{
    return (n + 15) / 16 * 16;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint64_t parts(uint64_t count, uint64_t size)
{
    return (count + size - 1) / size;
}

/* Steps of the Cube along one side; it works on fractals of 16. */
static uint64_t steps(uint32_t count, uint32_t size)
{
    return parts(up16(count), size);
}

/* What a row of a tile costs in bytes: memory moves whole lines, and where a request may have
 * several of them, but rows do not begin and end with it, each is a request. */
static uint64_t row_bytes(const struct op_chip *chip, uint64_t bytes, uint64_t pitch)
{
    const uint64_t lines = chip->request_bytes / LINE;
    if ((bytes | pitch) % chip->request_bytes == 0) {
        return bytes;
    }
    if (lines > 1) {
        return ((bytes | pitch) % LINE ? bytes + MEAN_PART : bytes) * lines;
    }
    return bytes + PART_OF_LINE;
}

/* What is looked at, and the best of it so far. */
struct choice {
    const struct op_chip *chip;
    uint32_t cores, spread, unit;
    struct op_matmul_args *args;
    uint32_t n_most; /**< columns of a tile */
    uint64_t cycles;
};

/* The coupled core moves rows one by one that do not begin with a block of 32 bytes. */
static uint64_t odd_rows(const struct op_chip *chip, uint64_t rows, uint64_t pitch)
{
    return chip->caps.arch == 1001 && pitch % BLOCK ? rows * ODD_ROW_CYCLES : 0;
}

/* Cycles until the last core is done: the larger of multiplying and loading, tile after tile. Cores
 * begin one after the other; those with a tile more than others are the first. */
static uint64_t estimate(const struct choice *choice, uint32_t tile_m, uint32_t tile_n)
{
    const struct op_chip *chip = choice->chip;
    const struct op_matmul_args *args = choice->args;
    const uint32_t unit = choice->unit, cores = choice->cores;
    const uint64_t tiles = (uint64_t)args->batch_dim[0] * args->batch_dim[1] * args->batch_dim[2] *
                           parts(args->m, tile_m) * parts(args->n, tile_n);
    const uint64_t rounds = parts(tiles, cores), busiest = tiles - (rounds - 1) * cores,
                   k = up16(args->k);
    const uint64_t multiply = steps(tile_m, chip->cube_m) * steps(tile_n, chip->cube_n) *
                              steps(args->k, chip->cube_k * 2 / unit);
    const bool by_k_a = !(args->flags & OP_MATMUL_TRANSPOSE_A),
               by_k_b = args->flags & OP_MATMUL_TRANSPOSE_B; // else its rows are the tile's
    const uint64_t a = by_k_a ? tile_m * unit
                              : row_bytes(chip, tile_m * unit, args->a_pitch * unit),
                   b = by_k_b ? tile_n * unit
                              : row_bytes(chip, tile_n * unit, args->b_pitch * unit);
    const uint64_t load = (a + b) * k / chip->limits.matmul_read_rate;
    const uint64_t out_unit = args->flags & (OP_MATMUL_OUT_F16 | OP_MATMUL_OUT_BF16) ? 2 : 4,
                   odd =
                       odd_rows(chip, by_k_a ? tile_m : k, args->a_pitch * unit) +
                       odd_rows(chip, by_k_b ? tile_n : k, args->b_pitch * unit) +
                       odd_rows(chip, 2 * tile_m * parts(tile_n, SLAB), args->out_pitch * out_unit);
    const uint64_t tile = (multiply > load ? multiply : load) + odd +
                          tile_m * (uint64_t)tile_n * 4 / STORE_BYTES_A_CYCLE + TILE_CYCLES;
    const uint64_t late = (busiest - 1) * choice->spread,
                   last = rounds > 1 ? (cores - 1) * (uint64_t)choice->spread : 0;
    return rounds * tile + (late + tile > last ? late : last - tile);
}

/* The next smaller tile to look at. */
static uint32_t smaller(uint32_t tile)
{
    return tile > 64 ? up16(tile / 2) : tile - 16;
}

static void look_at(struct choice *choice, uint32_t m, uint32_t n)
{
    const uint64_t cycles = estimate(choice, m, n);
    if (cycles < choice->cycles) { // of equals the larger tile: fewer instructions
        choice->cycles = cycles;
        choice->args->tile_m = m;
        choice->args->tile_n = n;
    }
}

/* Tiles that are as many as the cores, or twice, ...: none idles at the end. */
static void look_at_shares(struct choice *choice, uint32_t m)
{
    const uint64_t rows = parts(choice->args->m, m);
    for (uint32_t rounds = 1; rounds <= ROUNDS_MAX; rounds++) {
        const uint64_t columns = (uint64_t)choice->cores * rounds / rows;
        const uint64_t share = columns ? parts(choice->args->n, columns) : 0;
        const uint32_t n = (uint32_t)parts(share, choice->chip->limits.matmul_share) *
                           choice->chip->limits.matmul_share;
        if (n > 0 && n <= choice->n_most) {
            look_at(choice, m, n);
        }
    }
}

/* Cores that work on tiles of one row share a matrix, and so do those of one column: each begins
 * with another piece of it. */
static void set_pieces(uint32_t cores, struct op_matmul_args *args)
{
    const uint64_t rows = parts(args->m, args->tile_m), columns = parts(args->n, args->tile_n);
    const uint64_t wide = columns < cores ? columns : cores, high = parts(cores, wide);
    args->pieces_a = (uint16_t)least((uint32_t)wide, PIECES_MAX);
    args->pieces_b = (uint16_t)least((uint32_t)(high < rows ? high : rows), PIECES_MAX);
}

uint32_t op_matmul_tiling(const struct op_plan *plan, uint32_t unit, struct op_matmul_args *args)
{
    const struct op_chip *chip = op_plan_numbers(plan);
    const uint32_t cores = op_plan_cube_cores(plan);
    const uint32_t side = chip->l0_half / unit / FRACTAL / FRACTAL * FRACTAL;
    struct choice choice = {
        chip, cores, op_plan_block_spread(plan), unit, args, least(chip->tile_n, side), UINT64_MAX};
    for (uint32_t m = least(least(up16(args->m), chip->tile_m), side); m > 0; m = smaller(m)) {
        for (uint32_t n = least(up16(args->n), choice.n_most); n > 0; n = smaller(n)) {
            look_at(&choice, m, n);
        }
        look_at_shares(&choice, m);
    }
    const uint32_t widest = args->tile_m > args->tile_n ? args->tile_m : args->tile_n;
    const uint32_t k = up16(args->k);
    const uint32_t fits = (chip->l1_bytes / 2 - BIAS_BYTES) / unit / (args->tile_m + args->tile_n) /
                          FRACTAL * FRACTAL;
    args->l0_half = chip->l0_half;
    args->l0c_blocks = (uint16_t)chip->l0c_blocks;
    args->k_step =
        least(least(least(chip->l0_half / unit / widest / FRACTAL * FRACTAL, K_STEP_MAX), fits), k);
    // Small tiles are deeper: as many bytes on their way as of the largest one.
    const uint32_t deep = chip->limits.matmul_k_chunk * (chip->tile_m + chip->tile_n) /
                          (args->tile_m + args->tile_n) * 2 / unit;
    args->k_chunk =
        least(least(least(deep, chip->limits.matmul_k_max), fits), k) / args->k_step * args->k_step;
    args->k_chunk = args->k_chunk < args->k_step ? args->k_step : args->k_chunk;
    args->band = (uint16_t)chip->limits.matmul_band;
    set_pieces(cores, args);
    args->l1_half = (args->tile_m + args->tile_n) * args->k_chunk * unit;
    return (uint32_t)(parts(args->m, args->tile_m) * parts(args->n, args->tile_n)) *
           args->batch_dim[0] * args->batch_dim[1] * args->batch_dim[2];
}
