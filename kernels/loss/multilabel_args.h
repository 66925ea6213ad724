/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of the margin loss of several labels. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

/**
 * self, target (i64) and is_target are dense [rows][classes]; losses f32, one a row. Block b has
 * rows [b * per_block, ..), which share no line of what is written with other blocks.
 */
struct op_multilabel_args {
    uint64_t is_target, losses, self, target;
    uint64_t rows, classes, per_block;
    uint8_t is_target_type, self_type;
};
