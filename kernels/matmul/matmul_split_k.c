/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of few rows and columns with a long k: parts of k are the matrices of a batch, so that
 * every core has work, and their products are added up. How k is cut depends on the shape alone,
 * and so do results.
 */
#include "matmul_operands.h"

#include "../frame/whole.h"

enum {
    PARTS = 32,     // cores of a chip, about
    TILE = 64,      // rows and columns of a tile that keeps a core busy
    LEAST = 256,    // k of a part: with less the cores would mostly begin and end
    LONGEST = 2048, // k that one core is quicker with than with launches more
    SAVED = 1700, // k that a core does not go through, for the launches that add up: the sum's, and
                  // that of the result's type
    FRACTAL = 16,
};

// In how many parts k is cut; 1: it is not.
static int64_t parts_of(int64_t m, int64_t n, int64_t k)
{
    int64_t parts = PARTS / (op_parts(m, TILE) * op_parts(n, TILE));
    if (k < LONGEST) {
        return 1;
    }
    parts = parts < k / LEAST ? parts : k / LEAST;
    while (parts > 1 && (k % parts != 0 || k / parts % FRACTAL != 0)) {
        parts--;
    }
    return parts > 1 && k - k / parts >= SAVED ? parts : 1;
}

static struct op_tensor cut(const struct op_tensor *tensor, unsigned dim, int64_t parts)
{
    struct op_tensor out = *tensor;
    out.rank = 3;
    out.dim[0] = parts;
    out.stride[0] = tensor->stride[dim] * (tensor->dim[dim] / parts);
    for (unsigned i = 0; i < 2; i++) {
        out.dim[i + 1] = i == dim ? tensor->dim[dim] / parts : tensor->dim[i];
        out.stride[i + 1] = tensor->stride[i];
    }
    return out;
}

leo_status op_matmul_plan_split(struct op_plan *plan, const struct op_matmul *matmul)
{
    enum op_type type;
    const struct op_tensor *out = &matmul->out;
    if (out->rank != 2 || !op_matmul_type(plan, matmul, &type)) {
        return OP_DECLINED;
    }
    const int64_t m = out->dim[0], n = out->dim[1], parts = parts_of(m, n, matmul->a.dim[1]),
                  products[] = {parts, m, n}, first = 0;
    if (parts < 2) {
        return OP_DECLINED;
    }
    struct op_matmul each = {.a = cut(&matmul->a, 1, parts),
                             .b = cut(&matmul->b, 0, parts),
                             .alpha = 1,
                             .cube_math = matmul->cube_math};
    struct op_tensor sum = *out;
    const bool direct = out->type == OP_TYPE_F32 && op_tensor_is_dense(out) && !matmul->has_self &&
                        matmul->alpha == 1;
    leo_status status = op_plan_temp(plan, OP_TYPE_F32, 3, products, &each.out);
    if (status == LEO_OK && !direct) {
        status = op_plan_temp(plan, OP_TYPE_F32, 2, out->dim, &sum);
    }
    if (status == LEO_OK) {
        status = op_matmul_plan_cube(plan, &each);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_ints over = {&first, 1};
    const struct op_value args[] = {op_value_tensor(&each.out), op_value_ints(&over),
                                    op_value_int(0), op_value_type(OP_TYPE_F32),
                                    op_value_tensor(&sum)};
    status = op_plan_call(plan, "ReduceSum", args, 5);
    if (status == LEO_OK && !direct) {
        status = op_matmul_finish(plan, matmul, &sum);
    }
    const struct op_value relu[] = {op_value_tensor(out)};
    return status == LEO_OK && matmul->relu ? op_plan_call(plan, "InplaceRelu", relu, 1) : status;
}
