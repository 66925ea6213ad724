/* SPDX-License-Identifier: Apache-2.0 */
#include "cube_blocked.h"

#include <string.h>

/* Scratch: one panel of B (k <= 4096 rows of 32 floats), the bias padded to whole fractals, then
 * rows of A. */
#define PANEL_FLOATS 131072u
#define BIAS_FLOATS  4096u
#define A_FLOATS     (SIM_CUBE_SCRATCH_BYTES / 4 - PANEL_FLOATS - BIAS_FLOATS)

static const float zeros[32];

struct walk {
    const struct sim_cube_kernel *kernel;
    const struct sim_mmad *mmad;
    uint32_t m1, k1, n1;
    float *panel, *bias, *a;
};

static void pack_panel(const struct walk *walk, uint32_t column, unsigned width)
{
    for (uint32_t p = 0; p < walk->k1; p++) {
        for (unsigned w = 0; w < width; w++) {
            walk->kernel->widen_transposed(
                walk->panel + (size_t)p * 256 * width + w * 16, width * 16,
                walk->mmad->b + ((size_t)p * walk->n1 + column + w) * 256);
        }
    }
}

/* Columns >= n keep their value: the block goes to a tile beside and the real elements are copied
 * over. */
static void store_partial(const struct walk *walk, struct sim_cube_block *block, unsigned rows,
                          unsigned width)
{
    _Alignas(64) float tile[2 * 256];
    float *c = block->c;
    size_t c_column = block->c_column, last = walk->mmad->n % 16;
    block->c = tile;
    block->c_column = 256;
    walk->kernel->block(rows, width, block);
    for (unsigned w = 0; w < width; w++) {
        for (unsigned row = 0; row < rows; row++) {
            memcpy(c + w * c_column + row * 16, tile + w * 256 + row * 16,
                   (w + 1 == width ? last : 16) * 4);
        }
    }
}

/* All blocks of one panel for the fractal rows [top, end), whose A is converted. */
static void run_panel(const struct walk *walk, uint32_t column, unsigned width, uint32_t top,
                      uint32_t end)
{
    const struct sim_mmad *mmad = walk->mmad;
    bool partial = mmad->n % 16 != 0 && column + width == walk->n1;
    for (uint32_t i = top; i < end; i++) {
        uint32_t height = mmad->m - i * 16 < 16 ? mmad->m - i * 16 : 16;
        // Blocks of equal height: a low one would not fill the pipes.
        uint32_t blocks = (height + walk->kernel->max_rows - 1) / walk->kernel->max_rows;
        for (uint32_t row = 0, rows; row < height; row += rows, blocks--) {
            rows = (height - row + blocks - 1) / blocks;
            struct sim_cube_block block = {
                .a = walk->a + (size_t)(i - top) * walk->k1 * 256 + row * 16,
                .b = walk->panel,
                .k = mmad->k,
                .c = mmad->c + ((size_t)column * walk->m1 + i) * 256 + row * 16,
                .c_column = (size_t)walk->m1 * 256,
            };
            if (mmad->zero) {
                block.init = zeros;
            } else if (mmad->bias) {
                block.init = walk->bias + column * 16;
                block.init_column = 16;
            } else {
                block.init = block.c;
                block.init_row = 16;
                block.init_column = block.c_column;
            }
            if (partial) {
                store_partial(walk, &block, rows, width);
            } else {
                walk->kernel->block(rows, width, &block);
            }
        }
    }
}

void sim_cube_blocked_mmad(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad)
{
    struct walk walk = {.kernel = kernel, .mmad = mmad};
    walk.m1 = (mmad->m + 15) / 16;
    walk.k1 = (mmad->k + 15) / 16;
    walk.n1 = (mmad->n + 15) / 16;
    walk.panel = mmad->scratch;
    walk.bias = walk.panel + PANEL_FLOATS;
    walk.a = walk.bias + BIAS_FLOATS;
    if (mmad->bias && !mmad->zero) {
        memcpy(walk.bias, mmad->bias, mmad->n * sizeof(float));
        memset(walk.bias + mmad->n, 0, (walk.n1 * 16 - mmad->n) * sizeof(float));
    }
    uint32_t most =
        A_FLOATS / (walk.k1 * 256); // fractal rows of A that fit; at least 1 as k1 <= 256
    for (uint32_t top = 0; top < walk.m1; top += most) {
        uint32_t end = walk.m1 - top < most ? walk.m1 : top + most;
        kernel->widen(walk.a, mmad->a + (size_t)top * walk.k1 * 256,
                      (size_t)(end - top) * walk.k1 * 256);
        for (uint32_t column = 0; column < walk.n1;) {
            unsigned width =
                walk.n1 - column < kernel->max_width ? walk.n1 - column : kernel->max_width;
            pack_panel(&walk, column, width);
            run_panel(&walk, column, width, top, end);
            column += width;
        }
    }
}
