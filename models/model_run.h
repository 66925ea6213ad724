/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model's calls with the library of operators. */
#pragma once

#include <leo/model.h>

/**
 * Runs all calls on the context's stream; does not wait. Addresses are of device memory: one a
 * region's index for inputs and outputs. The error is that of the first call that fails, whose
 * number and operator *failed tells (its call; NULL: none).
 */
LEO_MUST_CHECK leo_status model_run(const struct leo_model *model, struct leo_op_context *context,
                                    const uint64_t *inputs, const uint64_t *outputs,
                                    uint64_t weights, uint64_t work,
                                    const struct leo_model_call **failed);

/** Bytes of workspace that the largest of the calls needs on the context's chip; makes all plans.
 */
LEO_MUST_CHECK leo_status model_workspace(const struct leo_model *model,
                                          struct leo_op_context *context, uint64_t *bytes,
                                          const struct leo_model_call **failed);
