/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model's calls with the library of operators. */
#pragma once

#include <leo/model.h>
#include <leo/op_watch.h>

/** A run: addresses are of device memory, one a region's index for inputs and outputs. */
struct model_run {
    const struct leo_model *model;
    const uint64_t *inputs, *outputs;
    uint64_t weights, work;
    struct leo_op_watch *watch; /**< of the context, told of which node a call is; NULL: none */
    const char *dumped;         /**< the model's name, if nodes of it are dumped; else NULL */
};

/**
 * Runs all calls on the context's stream; does not wait. The error is that of the first call that
 * fails, which *failed tells (NULL: none).
 */
LEO_MUST_CHECK leo_status model_run(const struct model_run *run, struct leo_op_context *context,
                                    const struct leo_model_call **failed);

/** Bytes of workspace that the largest of the calls needs on the context's chip; makes all plans.
 */
LEO_MUST_CHECK leo_status model_workspace(const struct leo_model *model,
                                          struct leo_op_context *context, uint64_t *bytes,
                                          const struct leo_model_call **failed);
