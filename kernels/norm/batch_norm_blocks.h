/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm on maps in NC1HWC0 (norm/batch_norm_blocks_device.c). */
#pragma once

#include "../frame/family.h"

enum op_blocks_what {
    OP_BLOCKS_REDUCE,          /**< AclBnReduce, BatchNormReduce */
    OP_BLOCKS_UPDATE,          /**< AclBnUpdate */
    OP_BLOCKS_INFER,           /**< AclBnInfer */
    OP_BLOCKS_UPDATE_GRADIENT, /**< AclBnUpdateGrad */
    OP_BLOCKS_REDUCE_GRADIENT, /**< AclBnReduceGrad */
    OP_BLOCKS_BIAS_GRADIENT,   /**< AclBiasGrad */
};

/** Plans a call whose shapes are checked; OP_DECLINED: its maps are not stored so. */
LEO_MUST_CHECK leo_status op_blocks_plan(const struct op_call *call, enum op_blocks_what what);

/** Sums over the positions of each plane of 16 channels, in their order: f32, `sums` in the
 * workspace. `map` is stored in NC1HWC0, f16 or f32, and not empty. */
LEO_MUST_CHECK leo_status op_blocks_plan_plane_sums(const struct op_call *call,
                                                    const struct op_tensor *map, uint64_t *sums);
