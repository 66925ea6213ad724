/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of convolutions on the scalar unit. */
#pragma once

#include <stdint.h>

/** Which of its three tensors a convolution computes from the other two. */
enum op_convolution_goal {
    OP_CONVOLUTION_OUT,    /**< out[n, co, o]: a = input, b = weight */
    OP_CONVOLUTION_INPUT,  /**< input gradient[n, ci, i]: a = gradient of out, b = weight */
    OP_CONVOLUTION_WEIGHT, /**< weight gradient[co, ci, k]: a = gradient of out, b = input */
};

enum { OP_CONVOLUTION_DIMS = 3 };

/** One spatial dimension; sizes and strides (bytes) of a and b along it. */
struct op_convolution_dim {
    int64_t in, out, kernel;
    int64_t stride, pad, dilation;
    int64_t a, b;
};

/**
 * result[i0, i1, position], dense. Along each dimension the products of a position are an
 * arithmetic sequence of a and b; besides they are summed over `depth` channels of a group (or
 * images, for the weight). Group of i1 (of i0, for the weight): i / group_size.
 * a starts at a_first * i0 + a_second * i1 + a_group * group, b likewise. All strides in bytes.
 * Block b works on results [b * per_block, (b + 1) * per_block).
 */
struct op_convolution_args {
    uint64_t result, a, b, bias; /**< bias[i1], 0 = none */
    uint64_t per_block;
    int64_t count[2], size[OP_CONVOLUTION_DIMS]; /**< shape of the result */
    int64_t group_size;
    int64_t a_first, a_second, a_group, b_first, b_second, b_group;
    int64_t depth, a_depth, b_depth;
    int64_t bias_stride;
    struct op_convolution_dim dim[OP_CONVOLUTION_DIMS];
    uint8_t goal, result_type, a_type, b_type, bias_type;
};
