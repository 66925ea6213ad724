/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of device/batch_norm_planes.c and batch_norm_join.c. */
#pragma once

#include "norm.h"

/** Whether these programs take planes of so many elements, all tensors (NULL: none) of a type. */
bool op_planes_fit(int64_t length, const struct op_tensor *in, const struct op_tensor *gradient,
                   const struct op_tensor *out);

/** moments (workspace, struct op_norm_moments) of each channel of `images` images. */
LEO_MUST_CHECK leo_status op_planes_plan_moments(struct op_plan *plan,
                                                 const struct op_norm_rows *rows,
                                                 const struct op_tensor *in, uint64_t *moments);
/** sums (workspace, struct op_norm_sums) of each channel; means: f32 of channels, 0 = none. */
LEO_MUST_CHECK leo_status op_planes_plan_sums(struct op_plan *plan, const struct op_norm_rows *rows,
                                              const struct op_tensor *gradient,
                                              const struct op_tensor *in, uint64_t means,
                                              uint64_t *sums);
/** out, dense, from in (and gradient, if not NULL) by a table of struct op_plane_entry. */
LEO_MUST_CHECK leo_status op_planes_plan_apply(struct op_plan *plan,
                                               const struct op_norm_rows *rows,
                                               const struct op_tensor *gradient,
                                               const struct op_tensor *in, uint64_t table,
                                               const struct op_tensor *out);
