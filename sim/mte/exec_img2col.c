/* SPDX-License-Identifier: Apache-2.0 */
/* img2col: windows of a feature map in L1 to fractals. HW-DMA-40 .. HW-DMA-46. */
#include "img2col.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

struct source {
    const struct mte_window *window;
    struct sim_core *core;
    uint64_t base; /**< address of the feature map in L1 */
};

/** HW-DMA-47: a row of a block that holds several filter elements of four channels. */
static void fetch_places(const struct source *source, uint32_t row, uint32_t block, uint8_t *to)
{
    const struct mte_window *window = source->window;
    for (uint32_t i = 0; i < window->places; i++, to += window->pixel) {
        const uint32_t place = block * window->places + i;
        const int64_t h = (int64_t)(row / window->out_w) * window->stride_h - window->map.pad_t +
                          (int64_t)(place / window->filter_w) * window->dilation_h;
        const int64_t w = (int64_t)(row % window->out_w) * window->stride_w - window->map.pad_l +
                          (int64_t)(place % window->filter_w) * window->dilation_w;
        uint64_t offset = ((uint64_t)h * window->map.width + (uint64_t)w) * window->pixel;
        offset = window->wrap ? offset % window->wrap : offset;
        if (place >= window->filter_w * window->filter_h) {
            memset(to, 0, window->pixel);
        } else if (h < 0 || h >= window->map.height || w < 0 || w >= window->map.width) {
            memcpy(to, window->pad, window->pixel);
        } else {
            memcpy(to,
                   sim_core_local(source->core, LEO_MEM_SPACE_L1, source->base + offset,
                                  window->pixel, 1),
                   window->pixel);
        }
    }
}

/** `count` rows of one column of blocks, from the map, of padding, or, outside the matrix, of 0;
 * rows from `rows` on are 0. */
static void fetch(const struct source *source, uint32_t row, uint32_t count, uint32_t rows,
                  uint32_t block, uint8_t *to)
{
    const struct mte_window *window = source->window;
    const uint32_t kernel = mte_window_blocks(window), all = window->out_w * window->out_h;
    const uint32_t left = row < all ? all - row : 0;
    uint32_t present = rows < count ? rows : count;
    present = block / kernel >= window->groups ? 0 : left < present ? left : present;
    memset(to + (size_t)present * MTE_BLOCK_BYTES, 0, (size_t)(count - present) * MTE_BLOCK_BYTES);
    if (present == 0) {
        return;
    }
    if (window->places > 1) {
        for (uint32_t i = 0; i < present; i++) {
            fetch_places(source, row + i, block, to + (size_t)i * MTE_BLOCK_BYTES);
        }
        return;
    }
    // The pixel of the first row, and how it moves from row to row.
    const uint32_t at = block % kernel;
    const int64_t down = (int64_t)(at / window->filter_w) * window->dilation_h - window->map.pad_t,
                  right = (int64_t)(at % window->filter_w) * window->dilation_w - window->map.pad_l;
    uint32_t out_w = row % window->out_w;
    int64_t h = (int64_t)(row / window->out_w) * window->stride_h + down;
    const uint64_t group = (uint64_t)(block / kernel) * window->map.height;
    for (uint32_t i = 0; i < present;) {
        // As many rows as lie side by side in one line of the map.
        const int64_t w = (int64_t)out_w * window->stride_w + right;
        uint32_t run = 1;
        if (h < 0 || h >= window->map.height || w < 0 || w >= window->map.width) {
            memcpy(to, window->pad, MTE_BLOCK_BYTES);
        } else {
            uint64_t offset =
                ((group + (uint64_t)h) * window->map.width + (uint64_t)w) * MTE_BLOCK_BYTES;
            if (window->wrap) {
                offset %= window->wrap;
            } else if (window->stride_w == 1) {
                const uint32_t columns = window->out_w - out_w,
                               pixels = window->map.width - (uint32_t)w;
                run = columns < pixels ? columns : pixels;
                run = run < present - i ? run : present - i;
            }
            const uint32_t bytes = run * MTE_BLOCK_BYTES;
            const uint8_t *from =
                sim_core_local(source->core, LEO_MEM_SPACE_L1, source->base + offset, bytes, 1);
            if (run == 1) { // a length the compiler knows
                memcpy(to, from, MTE_BLOCK_BYTES);
            } else {
                memcpy(to, from, bytes);
            }
        }
        to += (size_t)run * MTE_BLOCK_BYTES;
        i += run;
        out_w += run;
        if (out_w == window->out_w) {
            out_w = 0;
            h += window->stride_h;
        }
    }
}

/** 16 rows of one column of blocks; rows from `rows` on are 0. */
static void fetch_fractal(const struct source *source, uint32_t row, uint32_t rows, uint32_t block,
                          uint8_t *to)
{
    fetch(source, row, 16, rows, block, to);
}

/** The left matrix: fractals of 16 pixels and one block, in rows; or transposed as a whole. */
static void to_left(const struct source *source, const struct mte_img2col *move, uint32_t row,
                    uint32_t block, uint8_t *dst)
{
    const uint32_t row_fractals = (move->rows + 15) / 16;
    for (uint32_t i = 0; i < row_fractals; i++) {
        const uint32_t left = move->rows - i * 16;
        for (uint32_t j = 0; j < move->blocks; j++) {
            _Alignas(64) uint8_t fractal[MTE_FRACTAL_BYTES];
            uint8_t *to = dst + ((uint64_t)i * move->blocks + j) * MTE_FRACTAL_BYTES;
            if (!move->transpose) {
                fetch_fractal(source, row + i * 16, left, block + j, to);
                continue;
            }
            to = dst + ((uint64_t)j * row_fractals + i) * MTE_FRACTAL_BYTES;
            fetch_fractal(source, row + i * 16, left, block + j, fractal);
            source->core->simd->cube->transpose_b16(to, 0, fractal, 0, 1);
        }
    }
}

/** The right matrix, whose rows are the pixels: column j of the windows becomes row j % 16 of a
 * fractal. */
static void to_right(const struct source *source, const struct mte_img2col *move, uint32_t row,
                     uint32_t block, uint8_t *dst)
{
    const unsigned element = source->window->element;
    const uint32_t c0 = MTE_BLOCK_BYTES / element, n1 = (move->blocks * c0 + 15) / 16;
    _Alignas(64) uint8_t pixels[MTE_FRACTAL_BYTES];
    if (element == 2) { // fractals of 16 x 16, turned
        for (uint32_t p = 0; p < move->rows; p += 16) {
            for (uint32_t j = 0; j < move->blocks; j++) {
                uint8_t *to = dst + ((uint64_t)(p / 16) * n1 + j) * MTE_FRACTAL_BYTES;
                fetch_fractal(source, row + p, move->rows - p, block + j, pixels);
                source->core->simd->cube->transpose_b16(to, 0, pixels, 0, 1);
            }
        }
        return;
    }
    memset(dst, 0, mte_img2col_fractals(move) * MTE_FRACTAL_BYTES);
    for (uint32_t p = 0; p < move->rows; p++) {
        for (uint32_t j = 0; j < move->blocks; j++) {
            fetch(source, row + p, 1, 1, block + j, pixels);
            for (uint32_t c = 0; c < c0; c++) {
                const uint32_t n = j * c0 + c;
                uint8_t *to = dst + ((uint64_t)(p / c0) * n1 + n / 16) * MTE_FRACTAL_BYTES +
                              n % 16 * MTE_BLOCK_BYTES + p % c0 * element;
                memcpy(to, pixels + c * element, element);
            }
        }
    }
}

/** One fractal a repeat; for the right matrix of 16-bit elements it is transposed. */
static void run_single(const struct source *source, const struct mte_img2col *move,
                       const struct sim_span *dst)
{
    for (uint32_t i = 0; i < move->repeats; i++) {
        const uint32_t row = move->first_row + (move->along_map ? i * 16 : 0);
        const uint32_t block = move->first_block + (move->along_map ? 0 : i);
        uint8_t *to = dst->host + i * dst->level[0].step;
        if (!move->to_right || source->window->element != 2) {
            fetch_fractal(source, row, 16, block, to);
            continue;
        }
        _Alignas(64) uint8_t fractal[MTE_FRACTAL_BYTES];
        fetch_fractal(source, row, 16, block, fractal);
        source->core->simd->cube->transpose_b16(to, 0, fractal, 0, 1);
    }
}

bool sim_mte_img2col(struct sim_core *core, const struct sim_op *op)
{
    struct mte_img2col move;
    if (!mte_img2col_unpack(core, op, &move)) {
        return false;
    }
    const struct source source = {&move.window, core, op->b};
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A];
    if (move.single) {
        run_single(&source, &move, dst);
        return true;
    }
    const uint64_t bytes = mte_img2col_fractals(&move) * MTE_FRACTAL_BYTES;
    for (uint32_t i = 0; i < move.times; i++) {
        const uint32_t step = i * move.time_step;
        const uint32_t row = move.first_row + (move.time_along_k ? 0 : step * 16);
        const uint32_t block = move.first_block + (move.time_along_k ? step : 0);
        (move.to_right ? to_right : to_left)(&source, &move, row, block, dst->host + i * bytes);
    }
    return true;
}
