/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of samples at places of their own, and of bins of regions that read planes of
 * their own. */
#pragma once

#include <stdint.h>

/**
 * x [images, height, width, groups, each], offsets [images, out_height, out_width, 3, groups,
 * kernel_height, kernel_width] (across, down, factor), value [images, out_height, kernel_height,
 * out_width, kernel_width, groups, each]; dense. Backward, f32: dx [images, groups, height, width,
 * each_pad] and doffsets [images, groups, offset_pad] (of [out_height, out_width, 3, kernel_height,
 * kernel_width]) from value.
 */
struct op_deform_args {
    uint64_t x, offsets, value, dx, doffsets;
    uint64_t per_block, each_pad, offset_pad;
    int64_t images, height, width, groups, each, out_height, out_width, kernel_height, kernel_width;
    int64_t stride_y, stride_x, top, left, dilation_y, dilation_x;
    uint8_t x_type, offset_type, value_type;
};

/**
 * Regions table [images, 5, regions] (image and corners); value [images * regions, channels, size,
 * size]; planes [images, channels * size * size, plane_pad] of height x width. Forward: value from
 * planes; backward, f32: planes from value.
 */
struct op_bins_args {
    uint64_t planes, table, value;
    uint64_t per_block, plane_pad;
    int64_t images, regions, channels, size, height, width;
    float scale;
    uint8_t plane_type, table_type, value_type;
};
