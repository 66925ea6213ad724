/* SPDX-License-Identifier: Apache-2.0 */
/* What products on the cube and on the vector unit share: operands as rows, batches, and what
 * follows the product. */
#pragma once

#include "matmul.h"

/* An operand as the kernel takes it. */
struct op_matmul_operand {
    uint64_t addr;
    uint32_t pitch;
    bool transposed;
    int64_t batch[OP_RANK_MAX]; /* elements */
};

struct op_matmul_product {
    struct op_plan *plan;
    enum op_type type; /* of both operands */
    uint32_t unit;
    unsigned batch_rank;
    int64_t batch_dim[OP_RANK_MAX];
    int64_t m, n, k;
    struct op_matmul_operand a, b, out;
};

bool op_matmul_fits(int64_t value); /**< 31 bits */
/** Whether elements of dimension `in` are neighbours and those of `over` a pitch apart that holds
 * them. */
bool op_matmul_is_rows(const struct op_tensor *tensor, unsigned over, unsigned in, uint32_t *pitch);
/** A dense copy in the type of the product, with the last two dimensions exchanged if `turn`; what
 * is broadcast over the batch stays so. */
LEO_MUST_CHECK leo_status op_matmul_copy(const struct op_matmul_product *product,
                                         const struct op_tensor *tensor, bool turn,
                                         struct op_tensor *out);
/** Whether the cube can load a matrix of the product where it lies: k along the rows of both for
 * f32, as only 16-bit fractals can be turned on their way; either way else. */
bool op_matmul_loads(const struct op_matmul_product *product, const struct op_tensor *tensor,
                     bool left, uint32_t *pitch, bool *along_k);
/** The operand as the cube loads it, through a dense copy if `copy`. LEO_ERR_SHAPE: it does not
 * load so. */
LEO_MUST_CHECK leo_status op_matmul_take(const struct op_matmul_product *product,
                                         const struct op_tensor *tensor, bool left, bool copy,
                                         struct op_matmul_operand *out);
/** Matrices of a batch that share the right operand become one matrix with more rows. */
void op_matmul_fold_rows(struct op_matmul_product *p);
/** Joins neighbouring dimensions of the batch that every operand passes through in one stride. */
void op_matmul_merge_batch(struct op_matmul_product *p);
/** out = beta * self + alpha * product, by the pointwise operators. */
LEO_MUST_CHECK leo_status op_matmul_finish(struct op_plan *plan, const struct op_matmul *matmul,
                                           const struct op_tensor *product);
