/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of regions and boxes. */
#pragma once

#include <stdint.h>

/**
 * Regions of planes [images, channels, height, width], dense. table [regions, 5]: image and
 * corners. Forward: value [regions, channels, pooled_height, pooled_width] from plane; backward:
 * plane from value, f32 both.
 */
struct op_regions_args {
    uint64_t plane, table, value;
    uint64_t regions, channels, per_block;
    int64_t images, height, width, pooled_height, pooled_width;
    int64_t samples; /**< in each direction of a cell; 0: as many as it has pixels, rounded up */
    float scale;
    float begin_shift,
        end_shift; /**< added to the corners, in pixels of the plane and of the image */
    float least;   /**< size of a region at least */
    uint8_t plane_type, table_type, value_type;
};

/** Boxes [count, 4] by falling score; see image/detect.op. taken: a byte for each box, 0. */
struct op_suppress_args {
    uint64_t boxes, scores, most, overlap, least, indices, total, taken;
    uint64_t count, room; /**< boxes; places in indices */
    uint8_t box_type, score_type, overlap_type, least_type, most_type;
};

enum op_overlap { OP_OVERLAP_BOTH, OP_OVERLAP_ROW };

/** out [a_count, b_count] of a [a_count, 4], b [b_count, 4]. */
struct op_overlap_args {
    uint64_t out, a, b;
    uint64_t a_count, b_count, per_block;
    float eps;
    uint8_t type, over; /**< enum op_overlap */
};
