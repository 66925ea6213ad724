/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of connectionist temporal classification. */
#pragma once

#include <stdint.h>

enum { OP_CTC_MEMBERS = 32 }; /**< of the batch in one launch, a block each */

/**
 * log_probs [steps, batch, classes] and targets dense; alpha [batch, steps, width] f64
 * (logarithms), loss [batch, 8] f64, in the first column. Gradient: grad_loss [batch], beta like
 * alpha, grad f64.
 */
struct op_ctc_args {
    uint64_t log_probs, targets, alpha, loss, grad_loss, beta, grad;
    int64_t steps, batch, classes, width, blank;
    int64_t
        grad_pitch; /**< elements from a member's gradient to the next: [batch, steps, classes] */
    int64_t first;  /**< member of block 0 */
    int64_t inputs[OP_CTC_MEMBERS], lengths[OP_CTC_MEMBERS],
        offsets[OP_CTC_MEMBERS]; /**< of targets */
    uint8_t type, target_type, grad_loss_type, zero_infinity;
};
