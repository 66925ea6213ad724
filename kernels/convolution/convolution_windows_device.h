/* SPDX-License-Identifier: Apache-2.0 */
/* Where windows and elements of the kernel lie, for both generations. */
#pragma once

#include "../device/inline.h"

#include "convolution_cube_args.h"

/** Channels of a group, whose elements are a block of 32 bytes. */
#ifndef CONV_UNIT_CHANNELS
#define CONV_UNIT_CHANNELS 16
#endif

/** The compiler keeps a word that was put together, and does so but once. */
#define CONV_KEEP(word) __asm__("" : "+r"(word))

/** Lines of a feature map that lie in L1, and the padding around them. */
struct conv_view {
    uint32_t line, lines;
    uint32_t first; /* number of the first window there */
    uint32_t pad_t, pad_b;
};

/** An element of the kernel in a group of 16 channels. */
struct conv_unit {
    uint32_t column, row, group;
};

/** A window. */
struct conv_place {
    uint32_t row, column;
};

/** What every window of a launch has in common; a copy in registers. */
struct conv_filter {
    uint8_t stride_w, stride_h, width, height, dilation_w, dilation_h;
};

/** A tile of op_convolution_flat: rows from a position of an image on. */
struct conv_flat_tile {
    uint32_t image, position, positions; /* the last: of an image */
    uint32_t rows, first_block, blocks;
    uint32_t map_turn; /* group of channels of a chunk to load first */
    uint32_t start;    /* chunk to begin with */
    /* Of a stride: the first position's place in its image, lines of positions, and lines of L1. */
    uint32_t row, column, lines, l1_lines;
};

/** Windows and units of them that img2col makes a matrix of. */
struct conv_span {
    struct conv_filter filter;
    uint32_t first, rows; /* windows, the first counted from those of the lines in L1 */
    uint32_t unit, units;
    uint32_t groups;    /* of channels in L1 */
    int32_t left, top;  /* of conv_windows_left: where the first window begins in the lines of L1 */
    uint32_t column;    /* of conv_windows_left: bytes of a column of fractals in L0A */
    uint32_t out_width; /* of conv_windows_right */
    int32_t pad_l, pad_t;
};

OP_INLINE struct conv_filter conv_filter_of(const struct op_convolution_cube_args *t)
{
    return (struct conv_filter){(uint8_t)t->stride_w,   (uint8_t)t->stride_h,
                                (uint8_t)t->filter_w,   (uint8_t)t->filter_h,
                                (uint8_t)t->dilation_w, (uint8_t)t->dilation_h};
}

OP_INLINE void conv_next_unit(struct conv_filter filter, struct conv_unit *unit)
{
    if (++unit->column == filter.width) {
        unit->column = 0;
        if (++unit->row == filter.height) {
            unit->row = 0;
            unit->group++;
        }
    }
}

OP_INLINE struct conv_unit conv_unit_at(const struct op_convolution_cube_args *t, uint32_t number)
{
    const uint32_t line = number / t->filter_w;
    return (struct conv_unit){number % t->filter_w, line % t->filter_h, line / t->filter_h};
}
