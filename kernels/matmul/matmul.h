/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices, for every operator that has one. */
#pragma once

#include "../frame/family.h"

/**
 * out = beta * self + alpha * (a @ b) over a batch: a [..., m, k], b [..., k, n], self and out
 * [..., m, n], of one rank of at least 2; broadcast dimensions have stride 0. Any types and
 * strides.
 */
struct op_matmul {
    struct op_tensor a, b, out, self;
    bool has_self;
    double alpha, beta;
    bool relu; /**< negative results become 0; with alpha 1, and self, if there is one, of one row
                  and beta 1 */
    int cube_math; /**< the cubeMathType of the call */
};

LEO_MUST_CHECK leo_status op_matmul_plan(struct op_plan *plan, const struct op_matmul *matmul);
/** The product of a call with a matrix in a native format. */
LEO_MUST_CHECK leo_status op_matmul_plan_formats(const struct op_call *call,
                                                 const struct op_matmul *matmul);
/** The general way, on the scalar unit. */
LEO_MUST_CHECK leo_status op_matmul_plan_scalar(struct op_plan *plan,
                                                const struct op_matmul *matmul);
/* Ways of a product; OP_DECLINED: it is not for this one. */
/** On the cube. */
LEO_MUST_CHECK leo_status op_matmul_plan_cube(struct op_plan *plan, const struct op_matmul *matmul);
/** On the cube in parts of k, where few tiles have a long one. */
LEO_MUST_CHECK leo_status op_matmul_plan_split(struct op_plan *plan,
                                               const struct op_matmul *matmul);
/** On the vector unit, where the cube multiplies no f32. */
LEO_MUST_CHECK leo_status op_matmul_plan_vector(struct op_plan *plan,
                                                const struct op_matmul *matmul);
/** On the cube, of matrices of which the right one is in FRACTAL_NZ. */
LEO_MUST_CHECK leo_status op_matmul_plan_native(struct op_plan *plan,
                                                const struct op_matmul *matmul);
/** In which type the cube multiplies operands of these types; false: it does not. */
bool op_matmul_type(const struct op_plan *plan, const struct op_matmul *matmul, enum op_type *type);
