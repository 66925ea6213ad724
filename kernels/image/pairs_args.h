/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of boxes that are compared in pairs. */
#pragma once

#include <stdint.h>

enum op_pairs_form { OP_PAIRS_GIOU, OP_PAIRS_DIOU, OP_PAIRS_CIOU };

/**
 * Boxes a [4, a_count] and b [4, b_count], f32 and dense: corners x1 y1 x2 y2, or centre and size
 * if `centred`. Forward: out [pad] and, for CIoU, apart [pad]; pair i is that of a[i % a_count] and
 * b[i % b_count], or b[i / a_count] if `crossed`. Backward: out [8, pad], the gradients of the four
 * numbers of a, then of b, from grad [a_count].
 */
struct op_pairs_args {
    uint64_t a, b, grad, out, apart;
    uint64_t a_count, b_count, count, pad, per_block;
    uint8_t form, centred, crossed; /**< form: enum op_pairs_form */
};
