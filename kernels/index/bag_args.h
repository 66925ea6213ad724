/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of bags of embeddings. */
#pragma once

#include <stdint.h>

enum op_bag_mode { OP_BAG_SUM, OP_BAG_MEAN, OP_BAG_MAX };

/**
 * weight [rows, columns], indices [count] and offsets [bags + 1 or bags] (i64) dense. out [bags,
 * columns]; offset2bag [count], bag_size [bags], max_indices (i64; of maxima [bags, columns], else
 * 0 = none): 0 = not wanted.
 */
struct op_bag_args {
    uint64_t out, offset2bag, bag_size, max_indices, weight, indices, offsets, weights;
    uint64_t count, bags, columns, rows, per_block;
    int64_t padding; /**< index that counts as nothing; -1: none */
    uint8_t type, weights_type, mode;
};
