/* SPDX-License-Identifier: Apache-2.0 */
#include "flat.h"

leo_status op_flat_launch(struct leo_op_context *context, struct leo_rt_stream *stream,
                          enum op_kernel kernel, struct op_flat_args *args, uint32_t unit,
                          const char *tag)
{
    // 16 elements are whole 32-byte blocks of either type: no two cores write one block.
    const struct op_split split = op_split_make(
        args->count, 16, context->chip->flat_block_bytes / unit, op_context_vector_cores(context));
    args->per_block = split.per_block;
    args->tile = unit == 2 ? OP_FLAT_TILE : OP_FLAT_TILE_F32;
    return op_context_launch(context, stream, kernel, split.blocks, args, tag);
}
