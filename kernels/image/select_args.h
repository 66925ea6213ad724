/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of choosing boxes by score. */
#pragma once

#include <stdint.h>

/** Rows of table [count, 5] (corners and score, dense); mask: a byte of 1 for each that overlaps no
 * better one by more than `limit`. taken: a byte each, 0. */
struct op_mask_args {
    uint64_t boxes, scores, mask, taken;
    uint64_t count;
    float limit;
    uint8_t type;
};

/**
 * Boxes [batch, box_classes, count, 4] (box_classes 1 or `classes`) and scores [batch, classes,
 * count], dense, one type. Of each batch the best `most` of the at most `each` of every class that
 * overlap no better one of it: out_boxes [batch, most, 4], out_scores and out_classes [batch,
 * most] and found [batch], each batch `pad` elements apart from the one before. picked_score f32
 * and picked i32 [batch, classes, each]: room; taken [batch, count]: bytes of 0.
 */
struct op_classes_args {
    uint64_t boxes, scores, out_boxes, out_scores, out_classes, found, picked_score, picked, taken;
    uint64_t batch, count, classes, box_classes, each, most;
    uint64_t box_pad, pad, found_pad, picked_pad, taken_pad; /**< elements of a batch in each */
    float limit, least;
    uint8_t type;
};
