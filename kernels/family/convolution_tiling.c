/* SPDX-License-Identifier: Apache-2.0 */
#include "convolution_tiling.h"

enum {
    BLOCK_BYTES = 32,
    CHUNK_UNITS = 36,       /* [A] taps of groups loaded at a time: four groups of a 3 x 3 kernel */
    CHUNK_POSITIONS = 1024, /* [A] of the weight's gradient */
    SPLIT_TILES =
        64, /* [A] sums of the weight's gradient are split until there are so many tiles */
    SPLIT_LEAST = 1024, /* [A] positions of a split */
    CUBE_RATE = 4096,   /* [P] multiply-adds a cycle */
    STORE_RATE = 64,    /* [A] bytes a cycle to memory */
    TILE_CYCLES = 1000, /* [A] what a tile costs beside its work */
    PAD_MOST = 255,     /* what fields of instructions hold */
    STRIDE_MOST = 63,
    SIZE_MOST = 32767,
    POSITIONS_MOST = 32767,
};

static int64_t parts(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static int64_t up16(int64_t n)
{
    return parts(n, OP_FRACTAL) * OP_FRACTAL;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
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
    w->pad_r = most(need_w, 0);
    const int64_t sees = (w->width + w->pad_l + w->pad_r - span_w) / w->stride_w + 1;
    const int64_t last_h = (w->out_height - 1) * w->stride_h - w->pad_t,
                  last_w = (w->out_width - 1) * w->stride_w - w->pad_l;
    return w->width + w->pad_l + w->pad_r >= span_w && sees == w->out_width && w->pad_l >= 0 &&
           w->pad_t >= 0 && w->pad_l < span_w && w->pad_t < span_h && last_h < w->height &&
           last_w < w->width && w->pad_l <= PAD_MOST && w->pad_r <= PAD_MOST &&
           w->pad_t <= PAD_MOST && last_h + span_h - w->height <= PAD_MOST &&
           w->stride_w <= STRIDE_MOST && w->stride_h <= STRIDE_MOST && w->filter_w <= PAD_MOST &&
           w->filter_h <= PAD_MOST && w->dilation_w <= PAD_MOST && w->dilation_h <= PAD_MOST &&
           w->width * w->height <= POSITIONS_MOST && w->out_width * w->out_height <= POSITIONS_MOST;
}

// Most lines of x that `positions` consecutive windows reach.
static int64_t lines_of(const struct op_window *w, int64_t positions)
{
    const int64_t rows = least(w->out_height, (positions - 1) / w->out_width + 2);
    return least(w->height, (rows - 1) * w->stride_h + span_of(w->filter_h, w->dilation_h));
}

// How many groups of channels a half of L1 holds; 0: not one.
static void fit_chunk(const struct op_conv_room *room, const struct op_window *w, int64_t c1,
                      struct op_conv_tiling *tile)
{
    const int64_t taps = w->filter_w * w->filter_h;
    const int64_t map = tile->group * lines_of(w, tile->m) * w->width * BLOCK_BYTES,
                  weights = taps * tile->n1 * OP_FRACTAL * BLOCK_BYTES;
    tile->chunk = least(least(room->l1_half / (map + weights), c1), most(CHUNK_UNITS / taps, 1));
    tile->map_bytes = tile->chunk * map;
}

// Cycles of the busiest core.
static int64_t estimate(const struct op_conv_room *room, const struct op_window *w,
                        const struct op_conv_tiling *tile, int64_t images, int64_t c1, int64_t n1)
{
    const int64_t positions = w->out_width * w->out_height, taps = w->filter_w * w->filter_h,
                  k = c1 * taps * OP_FRACTAL;
    const int64_t tiles =
        parts(images, tile->group) * parts(positions, tile->m) * parts(n1, tile->n1);
    const int64_t rows = tile->group * up16(tile->m), columns = tile->n1 * OP_FRACTAL;
    const int64_t multiply = rows * columns * k / CUBE_RATE;
    const int64_t load =
        (tile->map_bytes / tile->chunk * c1 + columns * k * 2) / room->chip->matmul_read_rate;
    return parts(tiles, room->cores) *
           (most(multiply, load) + rows * columns * 2 / STORE_RATE + TILE_CYCLES);
}

bool op_conv_choose_tiling(const struct op_conv_room *room, const struct op_window *w,
                           int64_t images, int64_t c1, int64_t n1, struct op_conv_tiling *out)
{
    const int64_t positions = w->out_width * w->out_height,
                  sums = (int64_t)room->chip->matmul_tile_m * room->chip->matmul_tile_n;
    int64_t best = INT64_MAX;
    for (int64_t rows = 256; rows >= OP_FRACTAL; rows /= 2) {
        for (int64_t blocks = least(OP_FRACTAL, n1); blocks > 0; blocks = blocks / 2) {
            struct op_conv_tiling tile = {.m = least(rows, up16(positions)), .n1 = blocks};
            tile.group = positions <= tile.m ? least(rows / tile.m, images) : 1;
            if (tile.group * tile.m * blocks * OP_FRACTAL > sums) {
                continue;
            }
            fit_chunk(room, w, c1, &tile);
            const int64_t cycles =
                tile.chunk ? estimate(room, w, &tile, images, c1, n1) : INT64_MAX;
            if (cycles < best) {
                best = cycles;
                *out = tile;
            }
        }
    }
    return best < INT64_MAX;
}

bool op_conv_choose_weight_tiling(const struct op_conv_room *room, const struct op_window *w,
                                  int64_t images, int64_t c1, int64_t n1,
                                  struct op_conv_weight_tiling *out)
{
    const int64_t taps = w->filter_w * w->filter_h, positions = w->out_width * w->out_height;
    out->m = least(room->chip->matmul_tile_m, n1 * OP_FRACTAL);
    out->units = taps > OP_FRACTAL ? OP_FRACTAL : OP_FRACTAL / taps * taps;
    out->units = least(out->units, c1 * taps);
    const int64_t groups = least(c1, taps > OP_FRACTAL ? 2 : out->units / taps);
    int64_t rows = least(w->out_height, most(CHUNK_POSITIONS / w->out_width, 1));
    for (; rows > 0; rows--) {
        const int64_t lines =
            least(w->height, (rows - 1) * w->stride_h + span_of(w->filter_h, w->dilation_h));
        out->map_bytes = groups * lines * w->width * BLOCK_BYTES;
        if (out->map_bytes + out->m / OP_FRACTAL * up16(rows * w->out_width) * BLOCK_BYTES <=
            room->l1_half) {
            break;
        }
    }
    if (rows == 0) {
        return false;
    }
    // Chunks of equal size rather than a small last one.
    out->chunk = parts(w->out_height, parts(w->out_height, rows));
    const int64_t tiles = parts(n1 * OP_FRACTAL, out->m) * parts(c1 * taps, out->units),
                  chunks = images * parts(w->out_height, out->chunk);
    const int64_t splits =
        least(least(parts(SPLIT_TILES, tiles), most(images * positions / SPLIT_LEAST, 1)), chunks);
    out->per_split = parts(chunks, splits);
    out->splits = parts(chunks, out->per_split);
    return true;
}
