/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of sampling at the points of a grid. */
#pragma once

#include <stdint.h>

enum op_sampler_mode { OP_SAMPLER_LINEAR, OP_SAMPLER_NEAREST, OP_SAMPLER_CUBIC };
enum op_sampler_padding { OP_SAMPLER_ZEROS, OP_SAMPLER_BORDER, OP_SAMPLER_REFLECT };

enum { OP_SAMPLER_DIMS = 3 };

/**
 * All tensors dense: input [images, channels, size..], grid [images, out.., dims], output [images,
 * channels, out..]; sizes of dimensions that are not there are 1. The grid's first coordinate is
 * that of the last dimension. Gradients: `out` is the gradient of the output, which is read.
 * Block b works on [b * per_block, ..) of output elements, planes of the input, or grid points.
 */
struct op_sampler_args {
    uint64_t input, grid, out, input_gradient, grid_gradient;
    uint64_t per_block;
    int64_t images, channels;
    int64_t size[OP_SAMPLER_DIMS], points[OP_SAMPLER_DIMS];
    uint8_t dims, mode, padding, align;
    uint8_t type; /**< of all tensors */
};
