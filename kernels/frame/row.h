/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows (.op files) say of an operator. Made by gen/gen.py. */
#pragma once

#include "value.h"
#include <leo/status.h>

struct op_call;

/** What a family does with a call: checks shapes and appends the steps to its plan. */
typedef leo_status (*op_plan_fn)(const struct op_call *call);

enum op_role { OP_ROLE_IN, OP_ROLE_OUT, OP_ROLE_REF }; /**< REF: read and written */

/** Which chips: index of type masks. */
enum { OP_ON_910A, OP_ON_910B, OP_CHIPS };

enum { OP_PARAMS_MAX = 48 };

struct op_param {
    const char *name;
    enum op_kind kind;
    enum op_role role;
    bool optional;            /**< may be NULL */
    uint32_t types[OP_CHIPS]; /**< tensors: bit (1 << enum op_type) for each type it takes */
};

/** A word of the row that means something to its family. */
struct op_attr {
    const char *key, *value;
};

struct op_row {
    const char *name; /**< without aclnn */
    const struct op_param *params;
    unsigned param_count;
    op_plan_fn plan;
    const struct op_attr *attrs; /**< ends with key NULL */
    const void *data;            /**< made for the family by the generator, or NULL */
    bool same_ok; /**< outputs may be the very same tensor as an input: no element is read after
                     another was written */
};

extern const struct op_row op_rows[];
extern const unsigned op_row_count;

/** The row of that name (without aclnn), or NULL. Rows are sorted by name. */
const struct op_row *op_row_find(const char *name);
/** Value of an attribute, or NULL. */
const char *op_row_attr(const struct op_row *row, const char *key);

/** Tensor arguments of a call, lists flattened; op_args_addresses writes their addresses. */
unsigned op_args_tensors(const struct op_row *row, const struct op_value *args);
void op_args_addresses(const struct op_row *row, const struct op_value *args, uint64_t *addr);
