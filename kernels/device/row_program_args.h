/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of programs over rows (row_program.h). */
#pragma once

#include "../device/types.h"

#include <stdint.h>

/** Dense rows of f32, f16 or bf16; an input that is not there is 0. Block b works on rows
 * [b * per_block, (b + 1) * per_block). */
struct op_row_program_args {
    uint64_t out, in[2];
    uint64_t rows, length, per_block;
    uint8_t type;
};
