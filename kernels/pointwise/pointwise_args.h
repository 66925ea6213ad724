/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of the pointwise family. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

enum { OP_POINTWISE_VARS = 6 };

/** Variables that are no parameters, in place of a type or of a parameter's number. */
enum op_pointwise_var {
    OP_VAR_INDEX = 0xf0, /**< of the element, row-major */
    OP_VAR_ROW,          /**< second last coordinate */
    OP_VAR_COLUMN,       /**< last coordinate */
    OP_VAR_IS_BOOL,      /**< 1 if the inputs are bool */
};

/**
 * out[i] = expression of up to six variables. A variable is a tensor (an address) or a number.
 * Block b works on elements [b * per_block, (b + 1) * per_block) of the index space, both moved on
 * to the next line of `out`.
 */
struct op_pointwise_args {
    uint64_t out, in[OP_POINTWISE_VARS]; /**< addresses; in 0 = a number */
    uint64_t count, per_block;
    int64_t dim[OP_RANK_MAX];
    int64_t out_stride[OP_RANK_MAX], in_stride[OP_POINTWISE_VARS][OP_RANK_MAX]; /**< bytes */
    double real[OP_POINTWISE_VARS];
    int64_t integer[OP_POINTWISE_VARS];
    uint8_t out_type, in_type[OP_POINTWISE_VARS];
    uint8_t rank;     /**< at least 1; of kernels that ask for places at least 2 */
    uint8_t infinite; /**< 1: infinities of the result are meant, in the saturating mode too */
    uint8_t reserved[7];
};
