/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and tiles of convolutions by img2col. */
#pragma once

#include "../chip/chip.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    OP_FRACTAL = 16,        /**< channels of a group, positions of a fractal */
    OP_FRACTAL_BYTES = 512, /**< of 16 bits */
};

/** A convolution in two dimensions as the program sees it. */
struct op_window {
    int64_t width, height, out_width, out_height;
    int64_t filter_w, filter_h, stride_w, stride_h, dilation_w, dilation_h;
    int64_t pad_l, pad_r, pad_t;
};

/** What tiles have to fit into. */
struct op_convolution_room {
    const struct op_chip *chip;
    int64_t l1, l0c; /**< bytes */
    uint32_t cores;
    uint32_t spread; /**< cycles from the start of a block to that of the next one */
    int64_t m_most;  /**< positions of a tile of op_convolution */
    int64_t stay;    /**< most bytes of weights of op_convolution that stay in L1 */
    bool halved;     /**< a product of fractals takes two cycles: of f32 that is not rounded */
};

/** Fractals that a half of L0A and of L0B holds. */
static inline int64_t op_convolution_l0(const struct op_convolution_room *room)
{
    return room->chip->l0_half / OP_FRACTAL_BYTES;
}

/** A choice of tiles of op_convolution. */
struct op_convolution_tiling {
    int64_t m, group, n1, chunk;
    int64_t part;      /**< op_convolution_flat: blocks of n1 that L0C holds the sums of */
    int64_t map_bytes; /**< of a chunk's maps */
    bool two_sums;     /**< L0C holds the sums of two tiles */
    bool lines;        /**< op_convolution_flat: of a stride, only lines that windows begin in */
    bool lies;         /**< op_convolution_flat: turned weights stand in L1 as they lie */
    int64_t
        resident; /**< bytes of L1 for all weights of a core's tiles; 0: they come with chunks */
};

/** A choice of tiles of op_convolution_weight. */
struct op_convolution_weight_tiling {
    int64_t m, units;
    int64_t chunk, group; /**< rows of positions of an image, or whole images, of a chunk */
    bool flat;            /**< windows are positions: a chunk's images are one map */
    bool lines;           /**< every so manieth position: only lines with windows, as one map */
    int64_t map_bytes;
    int64_t splits, per_split;
    int64_t part; /**< units of the last chunk whose sums leave at a time */
    bool two_sums;
};

/** Cycles of MTE1 for a fractal of windows: img2col takes longer where 16 positions have gaps or
 * lie in several lines. */
int64_t op_convolution_left_cycles(const struct op_chip *chip, const struct op_window *w);
/** Cycles by which the start of later blocks delays the end, if tiles of `cycles` each are dealt to
 * blocks in turn. */
int64_t op_convolution_late(const struct op_convolution_room *room, int64_t tiles, int64_t cycles);
/** Padding behind, as far as the last window needs it; false if the program would see another
 * number of windows or one of padding alone, or if a field of an instruction would not hold it. */
bool op_window_close(struct op_window *w);
/** Tiles for c1 groups of channels of x and n1 of the output; false if nothing fits. */
bool op_convolution_choose_tiling(const struct op_convolution_room *room, const struct op_window *w,
                                  int64_t images, int64_t c1, int64_t n1,
                                  struct op_convolution_tiling *out);
/** The same tile for other windows over the same map: chunks beside `tile->resident` bytes of L1;
 * false if not one group of channels fits. */
bool op_convolution_fit_tiling(const struct op_convolution_room *room, const struct op_window *w,
                               int64_t images, int64_t c1, int64_t n1,
                               struct op_convolution_tiling *tile);
/** Whether windows are positions. */
bool op_window_is_flat(const struct op_window *w);
/** Whether windows are positions, or every so manieth of them: what op_convolution_flat takes. */
bool op_window_is_sparse(const struct op_window *w);
/** Bytes that a transfer of lines with gaps moves for one, `pitch` bytes from the next: pieces cost
 * whole lines of 128 bytes, longer ones whole windows of 512 (HW-DMA-31), and half a one more
 * where they begin anywhere. */
int64_t op_convolution_gap_bytes(int64_t line, int64_t pitch);
/** Tiles of op_convolution_flat: `m` positions of all images; `group` is 1. `turned`: the weights.
 */
bool op_convolution_choose_flat_tiling(const struct op_convolution_room *room,
                                       const struct op_window *w, int64_t images, int64_t c1,
                                       int64_t n1, bool turned, struct op_convolution_tiling *out);
/** Of so many groups of channels of `positions` each, each begins where a request to memory does.
 */
int64_t op_convolution_aligned_groups(const struct op_chip *chip, int64_t positions);
/** Whether the L2 keeps a map while columns of tiles read it at different times. */
bool op_convolution_map_stays(const struct op_convolution_room *room, int64_t images,
                              int64_t positions, int64_t c1);
/** Tiles of the weight's gradient, and into how many sums it is split: the shape alone says that.
 */
bool op_convolution_choose_weight_tiling(const struct op_convolution_room *room,
                                         const struct op_window *w, int64_t images, int64_t c1,
                                         int64_t n1, struct op_convolution_weight_tiling *out);
