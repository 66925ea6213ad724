/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of plans, shared by the files that build, keep and run them. */
#pragma once

#include "plan.h"
#include <stdatomic.h>

/* A symbolic address: source + 1 in the upper 16 bits, below it the byte offset plus a bias, so
 * that offsets may be negative. 0 is no address. */
enum { OP_SOURCE_SHIFT = 48, OP_SOURCE_WORKSPACE = 0xfffe, OP_SOURCES_MAX = 0xff00 };
static const uint64_t op_symbol_bias = UINT64_C(1) << 46,
                      op_symbol_mask = (UINT64_C(1) << OP_SOURCE_SHIFT) - 1;

static inline uint64_t op_symbol(unsigned source)
{
    return (((uint64_t)source + 1) << OP_SOURCE_SHIFT) + op_symbol_bias;
}

static inline unsigned op_symbol_source(uint64_t symbol)
{
    return (unsigned)(symbol >> OP_SOURCE_SHIFT) - 1;
}

/** The real address behind a symbol. */
static inline uint64_t op_symbol_resolve(uint64_t symbol, const struct op_run *run)
{
    if (symbol == 0) {
        return 0;
    }
    const unsigned source = op_symbol_source(symbol);
    const uint64_t base = source == OP_SOURCE_WORKSPACE ? run->workspace : run->addr[source];
    return base + (symbol & op_symbol_mask) - op_symbol_bias;
}

enum op_step_kind { OP_STEP_LAUNCH, OP_STEP_FILL, OP_STEP_HOST };

struct op_step {
    enum op_step_kind kind;
    uint32_t blocks;
    uint32_t args_at, args_bytes; /**< in the plan's argument memory */
    uint32_t addresses;           /**< leading words of the arguments that are symbolic */
    uint8_t value;                /**< fill */
    struct leo_rt_kernel *kernel;
    op_host_fn host;
    uint64_t fill_addr, fill_bytes;
};

struct op_plan {
    struct op_engine *engine;
    const struct op_row *row;
    _Atomic uint32_t references;
    struct op_step *steps;
    uint32_t step_count, step_capacity;
    unsigned char *args;
    uint32_t args_bytes, args_capacity;
    uint64_t workspace_bytes;   /**< most in use at a time */
    uint64_t workspace_top;     /**< in use now, while the plan is made */
    unsigned depth;             /**< operators that call operators */
    struct op_explain *explain; /**< while the plan is made; NULL: nothing is to be said */
    // The key it is found by.
    uint64_t *key;
    uint32_t key_words;
    uint64_t hash;
};

/** Checks arguments against the row; engine knows the chip. */
LEO_MUST_CHECK leo_status op_check_args(const struct op_engine *engine, const struct op_row *row,
                                        const struct op_value *args);
/** Appends the steps of a row, its arguments checked; what it takes of the workspace is free
 * again. */
LEO_MUST_CHECK leo_status op_plan_add_row(struct op_plan *plan, const struct op_row *row,
                                          const struct op_value *args);
