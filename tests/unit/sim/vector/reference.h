/* SPDX-License-Identifier: Apache-2.0 */
/* The vector unit once more, written down lane by lane in long double, as slow and as plain as it
 * can be. */
#pragma once

#include "op.h"
#include <leo/isa_enums.h>
#include <stdbool.h>

struct reference {
    uint8_t *ub;
    uint64_t vmask[2], ctrl, cmpmask[2], selmask_addr;
    uint64_t acc_val, max_min_cnt; /* 0: not touched */
};

/** How an instruction walks the buffer, as the function says that executes it (exec= of isa/insn);
 * NONE: not written down here. */
enum reference_walk {
    REFERENCE_NONE,
    REFERENCE_VEC3,
    REFERENCE_NARROW,
    REFERENCE_VEC2,
    REFERENCE_CONVERT,
    REFERENCE_SUM
};
enum reference_walk reference_walk_of(enum leo_insn insn);

/** Executes one legal instruction that walks one of these ways. */
void reference_exec(struct reference *ref, const struct sim_op *op);

/** reference_lanes.c: false if the instruction is not one of theirs. */
bool reference_lane3(const struct sim_op *op, enum leo_dtype type, enum leo_dtype src_type,
                     const void *a, const void *b, const void *old, void *result);
bool reference_lane2(const struct sim_op *op, enum leo_dtype type, unsigned mod, const void *src,
                     void *result);
/** Instructions whose results have half the width of their sources. */
void reference_narrow(struct reference *ref, const struct sim_op *op);

/** A lane's value and back (one rounding); for tests of conversions. */
long double reference_load(const void *from, enum leo_dtype type);
void reference_store(void *to, enum leo_dtype type, long double value, enum leo_round round);
unsigned reference_bytes(enum leo_dtype type);
