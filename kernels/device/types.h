/* SPDX-License-Identifier: Apache-2.0 */
/* Element types of tensors as host and device programs number them. */
#pragma once

enum op_type {
    OP_TYPE_F32,
    OP_TYPE_F16,
    OP_TYPE_BF16,
    OP_TYPE_F64,
    OP_TYPE_I8,
    OP_TYPE_U8,
    OP_TYPE_I16,
    OP_TYPE_U16,
    OP_TYPE_I32,
    OP_TYPE_U32,
    OP_TYPE_I64,
    OP_TYPE_U64,
    OP_TYPE_BOOL,
    OP_TYPE_C64,
    OP_TYPE_C128,
};

enum { OP_TYPES = OP_TYPE_C128 + 1 };
enum { OP_RANK_MAX = 8 };
