/* SPDX-License-Identifier: Apache-2.0 */
/* Linear maps along the last one to three dimensions, whoever asks for them. */
#pragma once

#include "../frame/family.h"

#include "resample_args.h"

/** Fills in where the table of `dim` is, and adds its bytes to *bytes; false: it is too large. dim
 * has its sizes and taps; `gradient`: the table is the transposed one. */
bool op_resample_place_table(struct op_resample_dim *dim, uint32_t kind, bool gradient,
                             uint64_t *bytes);
/** Makes the tables of all dimensions: launches resample_table; args->table is where they are. */
LEO_MUST_CHECK leo_status op_resample_plan_table(struct op_plan *plan,
                                                 struct op_resample_args *args,
                                                 uint64_t table_bytes);
/**
 * result = the map of args (its kind, its flags and its dimensions with their tables) of a, on
 * whole rows of the vector unit. The positions are the last `dims` dimensions of both tensors, and
 * of args. OP_DECLINED: the map is too small or too large for it, or the type is none of f32's.
 */
LEO_MUST_CHECK leo_status op_resample_plan_rows(const struct op_call *call,
                                                const struct op_resample_args *args, unsigned dims,
                                                uint64_t table_bytes, const struct op_tensor *a,
                                                const struct op_tensor *result);
