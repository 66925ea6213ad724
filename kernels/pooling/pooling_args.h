/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of pooling on the scalar unit. */
#pragma once

#include <stdint.h>

enum op_pooling_goal {
    OP_POOLING_MAX,              /**< largest element of each window */
    OP_POOLING_MAX_INDEX,        /**< its position in the plane */
    OP_POOLING_MAX_GRADIENT,     /**< a = gradient of out, index = positions of MAX_INDEX */
    OP_POOLING_AVERAGE,          /**< mean of each window */
    OP_POOLING_AVERAGE_GRADIENT, /**< a = gradient of out */
};

enum { OP_POOLING_DIMS = 3 };

/** One spatial dimension; kernel 0: the windows share out the input evenly (adaptive pooling). */
struct op_pooling_dim {
    int64_t in, out, kernel, stride, pad, dilation;
    int64_t a; /**< stride of a along it, bytes */
};

/**
 * Planes of windows. The result is dense but for a gap between its planes: they begin result_pitch
 * elements apart. Block b works on elements [b * per_block, (b + 1) * per_block) counted with gaps.
 */
struct op_pooling_args {
    uint64_t result, a, index; /**< index 0: windows of one element need none */
    uint64_t per_block;
    int64_t planes, channels;          /**< plane = image * channels + channel */
    int64_t a_image, a_channel;        /**< strides of a, bytes */
    int64_t result_pitch, index_pitch; /**< elements */
    int64_t divisor;                   /**< of averages; 0 = elements of the window */
    struct op_pooling_dim dim[OP_POOLING_DIMS];
    uint8_t goal, count_pad; /**< count_pad: padding counts as elements of a window */
    uint8_t result_type, a_type, index_type;
};
