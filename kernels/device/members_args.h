/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that a launch works on one after the other, as one sequence of pieces. */
#pragma once

#include <stdint.h>

enum { OP_MEMBERS = 256, OP_MEMBER_BLOCKS = 64 };

struct op_member {
    uint32_t first; /**< piece of the launch */
    uint32_t count; /**< elements */
};

struct op_members {
    uint16_t start[OP_MEMBER_BLOCKS];        /**< member of a block's first piece */
    struct op_member member[OP_MEMBERS + 1]; /**< one more, where the last one ends */
};
