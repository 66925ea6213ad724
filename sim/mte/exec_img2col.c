/* SPDX-License-Identifier: Apache-2.0 */
/* img2col: windows of a feature map in L1 to fractals. HW-DMA-40 .. HW-DMA-46. */
#include "img2col.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

struct source {
    const struct mte_window *window;
    const struct sim_simd_cube *cube;
    const uint8_t *map; /**< in L1; what lies outside the operand's footprint is not looked at */
};

/** Where the window of an output pixel lies, before padding and the filter's element. */
struct corner {
    uint32_t row, out_w; /**< the pixel, and its column */
    int64_t h;           /**< line of the map */
};

static struct corner corner_of(const struct mte_window *window, uint32_t row)
{
    const uint32_t line = row / window->out_w;
    return (struct corner){row, row - line * window->out_w, (int64_t)line * window->stride_h};
}

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
            memcpy(to, source->map + offset, window->pixel);
        }
    }
}

/** How many output pixels from column `out_w` on, whose pixel of the map is `w`, are alike: of
 * padding, or of one line of the map. */
static uint32_t run_of(const struct mte_window *window, uint32_t out_w, int64_t w, bool *inside)
{
    const uint32_t columns = window->out_w - out_w, width = window->map.width,
                   step = window->stride_w;
    *inside = w >= 0 && w < width;
    uint32_t run = columns;
    if (w < 0) {
        run = ((uint32_t)-w + step - 1) / step;
    } else if (*inside) {
        run = step == 1 ? width - (uint32_t)w : (width - (uint32_t)w + step - 1) / step;
    }
    return run < columns ? run : columns;
}

/** Blocks `step` bytes apart to neighbours. */
static void gather(uint8_t *to, const uint8_t *from, uint32_t step, uint32_t count)
{
    if (step == MTE_BLOCK_BYTES && count > 1) {
        memcpy(to, from, (size_t)count * MTE_BLOCK_BYTES);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to + (size_t)i * MTE_BLOCK_BYTES, from + (size_t)i * step, MTE_BLOCK_BYTES);
    }
}

/** `count` pixels of line h of a group of channels from w on, around the end of the buffer. */
static void gather_wrapped(const struct source *source, uint8_t *to, uint64_t pixel, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, pixel += source->window->stride_w) {
        memcpy(to + (size_t)i * MTE_BLOCK_BYTES,
               source->map + pixel * MTE_BLOCK_BYTES % source->window->wrap, MTE_BLOCK_BYTES);
    }
}

/** `count` rows of one column of blocks, from the map, of padding, or, outside the matrix, of 0;
 * rows from `rows` on are 0. */
static void fetch(const struct source *source, const struct corner *corner, uint32_t count,
                  uint32_t rows, uint32_t block, uint8_t *to)
{
    const struct mte_window *window = source->window;
    const uint32_t kernel = mte_window_blocks(window), all = window->out_w * window->out_h;
    const uint32_t left = corner->row < all ? all - corner->row : 0, group = block / kernel;
    uint32_t present = rows < count ? rows : count;
    present = group >= window->groups ? 0 : left < present ? left : present;
    memset(to + (size_t)present * MTE_BLOCK_BYTES, 0, (size_t)(count - present) * MTE_BLOCK_BYTES);
    if (present == 0) {
        return;
    }
    if (window->places > 1) {
        for (uint32_t i = 0; i < present; i++) {
            fetch_places(source, corner->row + i, block, to + (size_t)i * MTE_BLOCK_BYTES);
        }
        return;
    }
    const uint32_t at = block - group * kernel, down = at / window->filter_w;
    const int64_t right =
        (int64_t)(at - down * window->filter_w) * window->dilation_w - window->map.pad_l;
    int64_t h = corner->h + (int64_t)down * window->dilation_h - window->map.pad_t;
    uint32_t out_w = corner->out_w;
    while (present > 0) {
        const int64_t w = (int64_t)out_w * window->stride_w + right;
        bool inside;
        uint32_t run = run_of(window, out_w, w, &inside);
        run = run < present ? run : present;
        const uint64_t pixel =
            ((uint64_t)group * window->map.height + (uint64_t)h) * window->map.width + (uint64_t)w;
        if (!inside || h < 0 || h >= window->map.height) {
            for (uint32_t i = 0; i < run; i++) {
                memcpy(to + (size_t)i * MTE_BLOCK_BYTES, window->pad, MTE_BLOCK_BYTES);
            }
        } else if (window->wrap) {
            gather_wrapped(source, to, pixel, run);
        } else {
            gather(to, source->map + pixel * MTE_BLOCK_BYTES, window->stride_w * MTE_BLOCK_BYTES,
                   run);
        }
        to += (size_t)run * MTE_BLOCK_BYTES;
        present -= run;
        out_w += run;
        if (out_w == window->out_w) {
            out_w = 0;
            h += window->stride_h;
        }
    }
}

/** 16 rows of one column of blocks; rows from `rows` on are 0. */
static void fetch_fractal(const struct source *source, const struct corner *corner, uint32_t rows,
                          uint32_t block, uint8_t *to)
{
    fetch(source, corner, 16, rows, block, to);
}

/** The left matrix: fractals of 16 pixels and one block, in rows; or transposed as a whole. */
static void to_left(const struct source *source, const struct mte_img2col *move, uint32_t row,
                    uint32_t block, uint8_t *dst)
{
    const uint32_t row_fractals = (move->rows + 15) / 16;
    for (uint32_t i = 0; i < row_fractals; i++) {
        const uint32_t left = move->rows - i * 16;
        const struct corner corner = corner_of(source->window, row + i * 16);
        for (uint32_t j = 0; j < move->blocks; j++) {
            _Alignas(64) uint8_t fractal[MTE_FRACTAL_BYTES];
            uint8_t *to = dst + ((uint64_t)i * move->blocks + j) * MTE_FRACTAL_BYTES;
            if (!move->transpose) {
                fetch_fractal(source, &corner, left, block + j, to);
                continue;
            }
            to = dst + ((uint64_t)j * row_fractals + i) * MTE_FRACTAL_BYTES;
            fetch_fractal(source, &corner, left, block + j, fractal);
            source->cube->transpose_b16(to, 0, fractal, 0, 1);
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
            const struct corner corner = corner_of(source->window, row + p);
            for (uint32_t j = 0; j < move->blocks; j++) {
                uint8_t *to = dst + ((uint64_t)(p / 16) * n1 + j) * MTE_FRACTAL_BYTES;
                fetch_fractal(source, &corner, move->rows - p, block + j, pixels);
                source->cube->transpose_b16(to, 0, pixels, 0, 1);
            }
        }
        return;
    }
    memset(dst, 0, mte_img2col_fractals(move) * MTE_FRACTAL_BYTES);
    for (uint32_t p = 0; p < move->rows; p++) {
        const struct corner corner = corner_of(source->window, row + p);
        for (uint32_t j = 0; j < move->blocks; j++) {
            fetch(source, &corner, 1, 1, block + j, pixels);
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
    struct corner corner = corner_of(source->window, move->first_row);
    for (uint32_t i = 0; i < move->repeats; i++) {
        if (move->along_map && i > 0) {
            corner = corner_of(source->window, move->first_row + i * 16);
        }
        const uint32_t block = move->first_block + (move->along_map ? 0 : i);
        uint8_t *to = dst->host + i * dst->level[0].step;
        if (!move->to_right || source->window->element != 2) {
            fetch_fractal(source, &corner, 16, block, to);
            continue;
        }
        _Alignas(64) uint8_t fractal[MTE_FRACTAL_BYTES];
        fetch_fractal(source, &corner, 16, block, fractal);
        source->cube->transpose_b16(to, 0, fractal, 0, 1);
    }
}

bool sim_mte_img2col(struct sim_core *core, const struct sim_op *op)
{
    struct mte_img2col move;
    if (!mte_img2col_unpack(core, op, &move)) {
        return false;
    }
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A],
                          *src = &op->foot->span[SIM_OPERAND_B];
    // The footprint has the lines of the map that are read, none if all is padding.
    const struct source source = {&move.window, core->simd->cube,
                                  src->touch ? src->host - (src->addr - op->b) : NULL};
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
