/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of op_convolution_join.c. */
#pragma once

#include <stdint.h>

enum {
    OP_CONVOLUTION_JOIN_STRIDE = 2, /**< at most, each way */
    OP_CONVOLUTION_JOIN_SLOT = 65536,
};

/**
 * out [plane][height][width] of blocks of `bytes` from its phases: position (h, w) is position (h /
 * stride_h, w / stride_w) of phase [h % stride_h][w % stride_w], which is dense; phases that are 0
 * give zeros. A piece is `lines` lines of a plane, a multiple of stride_h; block b works on pieces
 * [b
 * * per_block, (b + 1) * per_block).
 *
 * `even`: height and width are multiples of the strides. Then lines of the phases count, those of
 * one plane behind the other's: block b works on per_block - b * less of them, as later blocks
 * begin later, in pieces of `lines`.
 */
struct op_convolution_join_args {
    uint64_t out, phase[OP_CONVOLUTION_JOIN_STRIDE][OP_CONVOLUTION_JOIN_STRIDE];
    uint64_t planes, per_block;
    uint32_t height, width, stride_h, stride_w;
    uint32_t lines, bytes; /**< bytes: a multiple of 32 */
    uint32_t even, less;
};
