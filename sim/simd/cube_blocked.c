/* SPDX-License-Identifier: Apache-2.0 */
#include "cube_blocked.h"

#include "cube_pack.h"
#include <string.h>

/* Scratch: one panel of B (depth <= 4096 rows of 32 words), the bias padded to whole fractals, then
 * rows of A. */
#define PANEL_WORDS 131072u
#define BIAS_WORDS  4096u
#define A_WORDS     (SIM_CUBE_SCRATCH_BYTES / 4 - PANEL_WORDS - BIAS_WORDS)
#define MAX_WIDTH   2u

static const uint32_t zeros[32];

struct walk {
    const struct sim_cube_kernel *kernel;
    const struct sim_mmad *mmad; /**< the first of its chain */
    bool (*block)(unsigned rows, unsigned width, const struct sim_cube_block *block);
    uint32_t m1, n1;
    uint32_t tiles, depth; /**< of k, of the whole chain: tiles of 16 words; words */
    bool half;             /**< results are f16 */
    uint32_t *panel, *bias, *a;
};

static uint32_t tiles_of(const struct sim_mmad *mmad)
{
    const uint32_t tile_k = sim_cube_tile_k(sim_cube_types_of(mmad->type).is_integer);
    return (mmad->k + tile_k - 1) / tile_k;
}

/* Of the products of a chain, one behind the other along k. */
static void pack_panel(const struct walk *walk, uint32_t column, unsigned width)
{
    uint32_t *to = walk->panel;
    for (const struct sim_mmad *mmad = walk->mmad; mmad; mmad = mmad->next) {
        const uint32_t tiles = tiles_of(mmad);
        for (uint32_t p = 0; p < tiles; p++, to += (size_t)256 * width) {
            for (unsigned w = 0; w < width; w++) {
                sim_cube_pack_b(walk->kernel, mmad, p, column + w, to + w * 16, width * 16);
            }
        }
    }
}

static void pack_rows(const struct walk *walk, uint32_t top, uint32_t rows)
{
    uint32_t *to = walk->a;
    for (const struct sim_mmad *mmad = walk->mmad; mmad; mmad = mmad->next) {
        sim_cube_pack_a(walk->kernel, mmad, top, rows, to, (size_t)walk->tiles * 1024);
        to += (size_t)tiles_of(mmad) * 256;
    }
}

/* Columns >= n keep their value: the block goes to a tile beside and the real elements are copied
 * over. */
static bool store_partial(const struct walk *walk, const struct sim_cube_block *block,
                          unsigned rows, unsigned width)
{
    _Alignas(64) uint32_t tile[MAX_WIDTH * 256];
    const size_t last = walk->mmad->n % 16;
    struct sim_cube_block beside = *block;
    beside.c = tile;
    beside.c_column = 256;
    const bool finite = walk->block(rows, width, &beside);
    if (!finite && block->hold) {
        return false;
    }
    for (unsigned w = 0; w < width; w++) {
        for (unsigned row = 0; row < rows; row++) {
            memcpy((uint32_t *)block->c + w * block->c_column + row * 16, tile + w * 256 + row * 16,
                   (w + 1 == width ? last : 16) * 4);
        }
    }
    return finite;
}

/* f16 results: widened before, rounded after. `c` counts f16. */
static void run_half(const struct walk *walk, struct sim_cube_block *block, uint32_t column,
                     unsigned rows, unsigned width, uint8_t *c)
{
    _Alignas(64) float in[MAX_WIDTH * 256], out[MAX_WIDTH * 256];
    const size_t c_column = (size_t)walk->m1 * 256;
    if (!walk->mmad->zero) {
        _Alignas(64) uint16_t old[256] = {0};
        for (unsigned w = 0; w < width; w++) {
            memcpy(old, c + w * c_column * 2, rows * 32);
            walk->kernel->widen[SIM_CUBE_IN_F16].run(in + w * 256, old, 256);
        }
        block->init = in;
        block->init_row = 16;
        block->init_column = 256;
    }
    block->c = out;
    block->c_column = 256;
    (void)walk->block(rows, width, block);
    for (unsigned w = 0; w < width; w++) {
        const uint32_t left = walk->mmad->n - (column + w) * 16;
        sim_cube_convert_generic(c + w * c_column * 2, 32, out + w * 256, rows,
                                 left < 16 ? left : 16, SIM_CUBE_OUT_F16, false);
    }
}

static bool store_block(const struct walk *walk, const struct sim_cube_block *block,
                        uint32_t column, unsigned rows, unsigned width)
{
    return walk->mmad->n % 16 != 0 && column + width == walk->n1
               ? store_partial(walk, block, rows, width)
               : walk->block(rows, width, block);
}

/* A block of a chain that is not finite at its end: what the products add is clamped one by one. */
static void run_apart(const struct walk *walk, const struct sim_cube_block *chain, uint32_t column,
                      unsigned rows, unsigned width)
{
    struct sim_cube_block block = *chain;
    block.hold = false;
    for (const struct sim_mmad *mmad = walk->mmad; mmad; mmad = mmad->next) {
        block.depth = mmad->k;
        (void)store_block(walk, &block, column, rows, width);
        for (unsigned w = 0; w < width; w++) {
            const uint32_t left = mmad->n - (column + w) * 16, columns = left < 16 ? left : 16;
            for (unsigned row = 0; row < rows; row++) {
                mmad->clamp(mmad->user, (uint32_t *)block.c + w * block.c_column + row * 16,
                            columns);
            }
        }
        block.init = block.c;
        block.init_row = 16;
        block.init_column = block.c_column;
        block.a = (const uint32_t *)block.a + (size_t)tiles_of(mmad) * 256;
        block.b = (const uint32_t *)block.b + (size_t)tiles_of(mmad) * 256 * width;
    }
}

static bool run_block(const struct walk *walk, uint32_t column, unsigned width, size_t at,
                      const uint32_t *a, unsigned rows)
{
    const struct sim_mmad *mmad = walk->mmad;
    struct sim_cube_block block = {
        .a = a,
        .b = walk->panel,
        .depth = walk->depth,
        .init = zeros,
        .c = (uint32_t *)mmad->c + at,
        .c_column = (size_t)walk->m1 * 256,
        .hold = mmad->next && mmad->clamp,
    };
    if (walk->half) {
        run_half(walk, &block, column, rows, width, (uint8_t *)mmad->c + at * 2);
        return false; // a finite sum may be too large for f16
    }
    if (!mmad->zero && mmad->bias) {
        block.init = walk->bias + column * 16;
        block.init_column = 16;
    } else if (!mmad->zero) {
        block.init = block.c;
        block.init_row = 16;
        block.init_column = block.c_column;
    }
    const bool finite = store_block(walk, &block, column, rows, width);
    if (!finite && block.hold) {
        run_apart(walk, &block, column, rows, width);
        return true;
    }
    return finite;
}

/* All blocks of one panel for the fractal rows [top, end), whose A is converted. */
static bool run_panel(const struct walk *walk, uint32_t column, unsigned width, uint32_t top,
                      uint32_t end)
{
    const struct sim_mmad *mmad = walk->mmad;
    bool finite = true;
    for (uint32_t i = top; i < end; i++) {
        uint32_t height = mmad->m - i * 16 < 16 ? mmad->m - i * 16 : 16;
        // Blocks of equal height: a low one would not fill the pipes.
        uint32_t blocks = (height + walk->kernel->max_rows - 1) / walk->kernel->max_rows;
        for (uint32_t row = 0, rows; row < height; row += rows, blocks--) {
            rows = (height - row + blocks - 1) / blocks;
            finite &=
                run_block(walk, column, width, ((size_t)column * walk->m1 + i) * 256 + row * 16,
                          walk->a + (size_t)(i - top) * walk->tiles * 256 + row * 16, rows);
        }
    }
    return finite;
}

bool sim_cube_blocked_mmad(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad)
{
    const bool is_integer = sim_cube_types_of(mmad->type).is_integer;
    struct walk walk = {
        .kernel = kernel,
        .mmad = mmad,
        .block = is_integer ? kernel->block_s16 : kernel->block_f32,
        .m1 = (mmad->m + 15) / 16,
        .n1 = (mmad->n + 15) / 16,
        .half = mmad->type == LEO_MAD_F16F16,
    };
    for (const struct sim_mmad *part = mmad; part; part = part->next) {
        walk.tiles += tiles_of(part);
        walk.depth += is_integer ? (part->k + 1) / 2 : part->k;
    }
    walk.panel = mmad->scratch;
    walk.bias = walk.panel + PANEL_WORDS;
    walk.a = walk.bias + BIAS_WORDS;
    if (mmad->bias && !mmad->zero) {
        memcpy(walk.bias, mmad->bias, mmad->n * sizeof(uint32_t));
        memset(walk.bias + mmad->n, 0, (walk.n1 * 16 - mmad->n) * sizeof(uint32_t));
    }
    bool finite = true;
    uint32_t most = A_WORDS / (walk.tiles * 256); // rows of tiles that fit; at least 1
    for (uint32_t top = 0; top < walk.m1; top += most) {
        uint32_t end = walk.m1 - top < most ? walk.m1 : top + most;
        pack_rows(&walk, top, end - top);
        for (uint32_t column = 0; column < walk.n1;) {
            unsigned width =
                walk.n1 - column < kernel->max_width ? walk.n1 - column : kernel->max_width;
            pack_panel(&walk, column, width);
            finite &= run_panel(&walk, column, width, top, end);
            column += width;
        }
    }
    return finite;
}
