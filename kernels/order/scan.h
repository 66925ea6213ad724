/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums and products in lanes. */
#pragma once

#include "../frame/family.h"

/**
 * out = running sums (products) of self along `dim`, in f32 in the order of the elements, or in
 * parts of the line whose totals are then added: floats of up to 32 bits, and integers whose sums
 * f32 holds. OP_DECLINED: other types, or few elements.
 */
LEO_MUST_CHECK leo_status op_scan_plan(const struct op_call *call, bool product,
                                       const struct op_tensor *self, unsigned dim,
                                       const struct op_tensor *out);
