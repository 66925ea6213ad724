/* SPDX-License-Identifier: Apache-2.0 */
/* Launch of elementwise operators. */
#pragma once

#include "../core/context.h"
#include "../device/args.h"

/** Splits `count` elements over the vector cores and launches; args: everything but the split is
 * filled in. unit: bytes of the widest element in play. */
LEO_MUST_CHECK leo_status op_flat_launch(struct leo_op_context *context,
                                         struct leo_rt_stream *stream, enum op_kernel kernel,
                                         struct op_flat_args *args, uint32_t unit, const char *tag);
