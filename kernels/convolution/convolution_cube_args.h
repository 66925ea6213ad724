/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of convolutions on the cube by img2col. */
#pragma once

#include <stdint.h>

enum op_convolution_cube_flag {
    OP_CONVOLUTION_CUBE_BF16 = 1,    /**< operands are bf16, not f16 */
    OP_CONVOLUTION_CUBE_HF32 = 1,    /**< of the program for f32: operands are rounded to HF32 */
    OP_CONVOLUTION_CUBE_OUT_F32 = 2, /**< results, else OUT_BF16, else f16 */
    OP_CONVOLUTION_CUBE_OUT_BF16 = 4,
    OP_CONVOLUTION_CUBE_RELU = 16, /**< negative results become 0 */
    /** 1 x 1 with a stride: only lines that windows begin in are loaded; op_convolution_weight:
     * those of several images are one map. */
    OP_CONVOLUTION_CUBE_LINES = 32,
    OP_CONVOLUTION_CUBE_TURN =
        8, /**< fractals of weights have the reduced channels along their rows */
    /** op_convolution_weight: windows are positions: those of several images are one map. */
    OP_CONVOLUTION_CUBE_FLAT = 64,
    /** op_convolution_flat: weights that are turned stand in L1 as they lie, [block][group]. */
    OP_CONVOLUTION_CUBE_LIES = 128,
};

enum { OP_CONVOLUTION_WEIGHT_PARTS = 4 }; // flags of the coupled core

/**
 * Maps lie as [image][C1][position][16 channels] of 16 bits, weights as [C1][tap][output
 * channel][16 channels]; a unit is one tap of one group of 16 channels. Strides in bytes. Groups of
 * the program for f32 have 8 channels, which are as many bytes.
 *
 * op_convolution: out [image][N1][position][16] = windows of x times w. A tile is `tile_m`
 * positions of an image (or all of those of `group` images) by `tile_n1` blocks of output channels;
 * a chunk is `chunk` groups of channels. op_convolution_flat: the same where windows are positions,
 * or every so manieth of them. A tile is `tile_m` positions of all images one behind the other.
 *
 * op_convolution_weight: out [split][unit][output channel][16] in f32 = w, here the
 * gradient of the output as a map, transposed, times the windows of x. A tile is `tile_m` output
 * channels by `tile_n1` units; a chunk is `chunk` rows of positions of an image, or `group` whole
 * images. Each split sums `per_split` chunks. The last chunk's sums leave in parts of `part` units,
 * at most OP_CONVOLUTION_WEIGHT_PARTS of all that L0C holds.
 *
 * Tiles are dealt to blocks in turn. Fields are as narrow as they may be: a block reads the
 * structure before its first load, a line of 64 bytes after the other, each as long as memory takes
 * to answer.
 */
struct op_convolution_cube_args {
    uint64_t x, w, out;
    int64_t x_image;   /**< map x */
    int64_t w_image;   /**< the gradient's map */
    int64_t out_image; /**< result; of op_convolution_weight from split to split */
    uint32_t x_c1;
    uint32_t w_c1;           /**< weights from group to group, or the gradient's map */
    int32_t w_row, w_column; /**< weights from tap to tap; may be negative */
    /** Weights from unit to unit; turned from tap to tap, the last one first, and on to the next
     * block, or 0 if that is not so. */
    uint32_t w_unit;
    uint32_t w_block; /**< weights from block to block of channels of the result */
    uint32_t out_n1;
    uint32_t images, height;
    uint32_t tiles, tiles_m,
        tiles_n;                    /**< all; of an image or a split; of output channels or units */
    uint32_t chunks;                /**< of op_convolution: of a tile, which begins with any; of
                                       op_convolution_weight: all */
    uint32_t row_chunks, per_split; /**< op_convolution_weight: of an image; of a split */
    uint32_t row_turn;   /**< op_convolution_flat: rows of tiles from column to column that begin */
    uint32_t l1_weights; /**< op_convolution: where weights that stay begin */
    uint32_t l1_map, l1_half; /**< where halves of L1 begin, bytes of one */
    uint32_t l1_second;       /**< where the second operand starts in a half */
    uint32_t l0c_slot; /**< bytes from one place of sums in L0C to the other; 0: there is one */
    uint16_t width, out_width, out_height;
    uint16_t c1, n1; /**< groups of 16 channels of x and of the output */
    uint16_t tile_m; /**< multiple of 16 */
    uint16_t group, tile_n1, chunk;
    uint16_t part;   /**< op_convolution_flat: blocks of tile_n1 that L0C holds the sums of */
    uint16_t k_step; /**< units, or 16 positions: what one half of L0 holds */
    /** Bursts of an instruction, and of op_convolution's map how many such pieces a chunk has. */
    uint16_t map_run, map_pieces, w_run;
    /** op_convolution_flat's weights have w_pieces. op_convolution's: pieces of a chunk; of a part
     * of a tap if they are turned, else of a part; parts of a burst; blocks of 32 bytes of a part.
     */
    uint16_t w_pieces, w_bursts, w_parts, w_part;
    uint8_t filter_w, filter_h, stride_w, stride_h, dilation_w, dilation_h;
    uint8_t pad_l, pad_r, pad_t;
    uint8_t resident; /**< op_convolution, op_convolution_flat: all weights of a block's tiles stay
                         in front of l1_map */
    uint8_t flags;    /**< enum op_convolution_cube_flag */
    uint8_t l0_half;  /**< fractals of one half of L0A and of L0B */
    uint8_t l0c_blocks; /**< of 256 rows and 16 columns: what L0C holds */
};

enum { OP_CONVOLUTION_PHASES = 4 };

/** op_convolution_phases: convolutions of one map whose tiles follow each other. They have their
 * tile's size, places of sums and halves of L1 in common. */
struct op_convolution_phases_args {
    uint64_t x, w[OP_CONVOLUTION_PHASES],
        out[OP_CONVOLUTION_PHASES]; /**< for those of each phase */
    struct op_convolution_cube_args phase[OP_CONVOLUTION_PHASES];
    uint32_t count;
};
