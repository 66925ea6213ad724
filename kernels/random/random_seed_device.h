/* SPDX-License-Identifier: Apache-2.0 */
/* Seed and offset that stand in device memory. */
#pragma once

#include "../device/element.h"
#include "random_args.h"

/** The arguments with the seed and offset of now. */
OP_INLINE void op_random_take_seed(struct op_random_args *t)
{
    if (t->seed_at) {
        t->seed = (uint64_t)op_get_i(t->seed_at, OP_TYPE_I64);
    }
    if (t->offset_at) {
        t->offset += (uint64_t)op_get_i(t->offset_at, OP_TYPE_I64);
    }
}
