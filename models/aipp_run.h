/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a model whose settings each run tells (aclmdlSetInputAIPP). */
#pragma once

#include "model_run.h"

#include <leo/aipp.h>

/** Device memory that any settings need, behind the model's own. */
struct aipp_room {
    uint64_t work, workspace;
};

/** The room for a model with such pictures; makes plans on the context's chip. */
LEO_MUST_CHECK leo_status aipp_find_room(const struct leo_model *model,
                                         struct leo_op_context *context, struct aipp_room *room);
/** Launches the conversion of `count` pictures, which must be as many as the model's, from its
 * input to its value in the work area. `place`: the room's memory. LEO_ERR_INVALID_ARG with a text:
 * settings do not fit. */
LEO_MUST_CHECK leo_status aipp_run(const struct leo_model *model, struct leo_op_context *context,
                                   const struct leo_aipp *pictures, uint32_t count, uint64_t input,
                                   uint64_t work, const struct aipp_room *room, uint64_t place,
                                   char error[LEO_MODEL_ERROR]);
