/* SPDX-License-Identifier: Apache-2.0 */
/* Every operator of libopapi behind one type of call. The table is made from the rows of operators.
 */
#pragma once

#include <aclnn/acl_meta.h>

/** An argument; which member counts, the row says. */
union op_test_arg {
    aclTensor *tensor;
    aclTensorList *tensors;
    aclScalar *scalar;
    aclScalarList *scalars;
    aclIntArray *ints;
    aclFloatArray *floats;
    aclBoolArray *bools;
    char *text;
    aclDataType type;
    int64_t integer;
    double real;
};

struct op_test_param {
    const char *name, *code; /**< code as in signatures.txt: T, S, IA, f64 ... */
    char role;               /**< I in, O out, R read and written */
    bool optional;
    uint32_t types[2]; /**< by chip: 910A, 910B; bits of enum op_type */
};

enum { OP_TEST_VARS = 6 };

struct op_test_row {
    const char *name, *family;
    const struct op_test_param *params;
    unsigned param_count;
    aclnnStatus (*phase1)(const union op_test_arg *args, uint64_t *bytes, aclOpExecutor **executor);
    aclnnStatus (*phase2)(void *workspace, uint64_t bytes, aclOpExecutor *executor,
                          aclrtStream stream);
    /* Pointwise: name of the reference, class it computes in (any, float, int), variables as
     * parameter numbers. */
    const char *ref, *compute;
    unsigned var_count;
    unsigned char var[OP_TEST_VARS];
    bool moves;       /**< its expression has no arithmetic */
    const char *test; /**< the row's test attribute, "" if none */
    bool cast;        /**< refuses a result of a kind that the output cannot hold */
};

extern const struct op_test_row op_test_rows[]; /**< sorted by name */
extern const unsigned op_test_row_count;
