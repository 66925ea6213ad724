/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm on maps in NC1HWC0 (device/batch_norm_blocks.c). */
#pragma once

#include "family.h"

enum op_blocks_what {
    OP_BLOCKS_REDUCE,          /**< AclBnReduce, BatchNormReduce */
    OP_BLOCKS_UPDATE,          /**< AclBnUpdate */
    OP_BLOCKS_INFER,           /**< AclBnInfer */
    OP_BLOCKS_UPDATE_GRADIENT, /**< AclBnUpdateGrad */
    OP_BLOCKS_REDUCE_GRADIENT, /**< AclBnReduceGrad */
    OP_BLOCKS_BIAS_GRADIENT,   /**< AclBiasGrad */
};

/** Plans a call whose shapes are checked, if its maps are stored so; else `taken` is false and
 * nothing is planned. */
LEO_MUST_CHECK leo_status op_blocks_plan(const struct op_call *call, enum op_blocks_what what,
                                         bool *taken);
