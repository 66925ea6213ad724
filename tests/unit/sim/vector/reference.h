/* SPDX-License-Identifier: Apache-2.0 */
/* The vector unit once more, written down lane by lane in long double, as slow and as plain as it
 * can be. */
#pragma once

#include "op.h"
#include <leo/isa_enums.h>

struct reference {
    uint8_t *ub;
    uint64_t vmask[2], ctrl, cmpmask[2], selmask_addr;
};

/** Executes one legal instruction. */
void reference_exec(struct reference *ref, const struct sim_op *op);

/** A lane's value and back (one rounding); for tests of conversions. */
long double reference_load(const void *from, enum leo_dtype type);
void reference_store(void *to, enum leo_dtype type, long double value, enum leo_round round);
unsigned reference_bytes(enum leo_dtype type);
