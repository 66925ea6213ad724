/* SPDX-License-Identifier: Apache-2.0 */
/* Results of 8 bits against double on the host. */
#pragma once

#include "rig_values.h"

struct rig_tensor rig_bytes_make(unsigned rank, const int64_t *shape);
/** Each element must be the nearest i8 to the number that is wanted; within `slack` of a half it
 * may be either neighbour. Reads the tensor back. */
void rig_bytes_expect(struct rig_tensor *t, const double *want, double slack, const char *what);
/** Rows as dynamic quantisation has them before they are rounded, in place; with `offset` the
 * range of a row goes from -128 to 127. */
void rig_bytes_rows(int64_t rows, int64_t width, double *x, double *scale, double *offset);
