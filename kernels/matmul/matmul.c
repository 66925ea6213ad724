/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are a product of matrices or vectors. */
#include "matmul.h"
#include "../frame/layout.h"

#include <string.h>

/* The parameters of a call that are the operands: [a, b] and what is added. */
struct names {
    const char *a, *b, *self, *out;
};

static const char *first_of(const struct op_call *call, const char *one, const char *other)
{
    return op_call_has(call, one) ? one : other;
}

static struct names names_of(const struct op_call *call)
{
    struct names names = {.out = first_of(call, "out", "selfRef")};
    const char *self = first_of(call, "self", "selfRef");
    if (op_call_has(call, "mat1")) {
        names.a = "mat1";
        names.b = "mat2";
        names.self = self;
    } else if (op_call_has(call, "batch1")) {
        names.a = "batch1";
        names.b = "batch2";
        names.self = self;
    } else if (op_call_has(call, "mat")) {
        names.a = "mat";
        names.b = "vec";
        names.self = self;
    } else {
        names.a = "self";
        names.b = op_call_has(call, "vec")      ? "vec"
                  : op_call_has(call, "tensor") ? "tensor"
                                                : "mat2";
    }
    return names;
}

// The tensor with a dimension of 1 put in at `at`.
static struct op_tensor insert(const struct op_tensor *tensor, unsigned at)
{
    struct op_tensor wide = *tensor;
    memmove(wide.dim + at + 1, tensor->dim + at, (tensor->rank - at) * sizeof(*wide.dim));
    memmove(wide.stride + at + 1, tensor->stride + at, (tensor->rank - at) * sizeof(*wide.stride));
    wide.dim[at] = 1;
    wide.stride[at] = 0;
    wide.rank++;
    return wide;
}

static leo_status fail_ranks(const struct op_call *call, const struct names *names)
{
    return op_call_fail(call, LEO_ERR_SHAPE,
                        "%s has shape %s and %s has shape %s: they do not multiply", names->a,
                        op_tensor_shape_text(op_call_tensor(call, names->a)).text, names->b,
                        op_tensor_shape_text(op_call_tensor(call, names->b)).text);
}

// How many dimensions the operator allows its operands: row words 'ranks A B', 0 = any.
static leo_status check_ranks(const struct op_call *call, const struct names *names)
{
    const char *ranks = op_row_attr(call->row, "ranks");
    const unsigned a = op_call_tensor(call, names->a)->rank,
                   b = op_call_tensor(call, names->b)->rank;
    const unsigned want_a = ranks ? (unsigned)(ranks[0] - '0') : 0,
                   want_b = ranks ? (unsigned)(ranks[2] - '0') : 0;
    if (a == 0 || b == 0 || (want_a && a != want_a) || (want_b && b != want_b)) {
        return fail_ranks(call, names);
    }
    return LEO_OK;
}

// Brings a and b to one rank with broadcast batch dimensions; `dim` is the shape of the product.
static leo_status join(const struct op_call *call, const struct names *names,
                       struct op_matmul *matmul, unsigned *rank, int64_t *dim)
{
    struct op_tensor batch_a = matmul->a, batch_b = matmul->b;
    batch_a.rank -= 2;
    batch_b.rank -= 2;
    *rank = 0;
    if (matmul->a.dim[matmul->a.rank - 1] != matmul->b.dim[matmul->b.rank - 2] ||
        !op_shape_join(&batch_a, rank, dim) || !op_shape_join(&batch_b, rank, dim)) {
        return fail_ranks(call, names);
    }
    dim[*rank] = matmul->a.dim[matmul->a.rank - 2];
    dim[*rank + 1] = matmul->b.dim[matmul->b.rank - 1];
    *rank += 2;
    int64_t shape[OP_RANK_MAX];
    const int64_t k = matmul->a.dim[matmul->a.rank - 1];
    memcpy(shape, dim, *rank * sizeof(*dim));
    shape[*rank - 1] = k;
    bool fits = op_tensor_broadcast(&matmul->a, *rank, shape, &matmul->a);
    shape[*rank - 2] = k;
    shape[*rank - 1] = dim[*rank - 1];
    fits = fits && op_tensor_broadcast(&matmul->b, *rank, shape, &matmul->b);
    return fits ? LEO_OK : fail_ranks(call, names);
}

// Factors of whole numbers are cut to whole ones.
static double factor_of(const struct op_call *call, const char *name, const struct op_tensor *self)
{
    const struct op_scalar *factor = op_call_scalar(call, name);
    return op_type_is_integer(self->type) ? (double)factor->integer : factor->real;
}

static leo_status take_self(const struct op_call *call, const struct names *names, unsigned rank,
                            const int64_t *dim, bool vector, struct op_matmul *matmul)
{
    const struct op_tensor *self = op_call_tensor(call, names->self);
    const struct op_tensor given = vector && self->rank > 0 ? insert(self, self->rank) : *self;
    if (!op_tensor_broadcast(&given, rank, dim, &matmul->self)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s of shape %s does not broadcast to %s",
                            names->self, op_tensor_shape_text(self).text,
                            op_shape_text(rank - vector, dim).text);
    }
    matmul->has_self = true;
    matmul->alpha = factor_of(call, "alpha", self);
    matmul->beta = factor_of(call, "beta", self);
    return LEO_OK;
}

// Two matrices, one of them in a native format.
static leo_status plan_native(const struct op_call *call, const struct op_tensor *a,
                              const struct op_tensor *b, const struct op_tensor *out)
{
    const bool asks = op_call_has(call, "cubeMathType");
    const struct op_matmul matmul = {.a = *a,
                                     .b = *b,
                                     .out = *out,
                                     .alpha = 1,
                                     .cube_math =
                                         asks ? (int)op_call_int(call, "cubeMathType") : 0};
    return op_matmul_plan_formats(call, &matmul);
}

leo_status op_plan_matmul(const struct op_call *call)
{
    const struct names names = names_of(call);
    const struct op_tensor *a = op_call_tensor(call, names.a), *b = op_call_tensor(call, names.b);
    const struct op_tensor *out = op_call_tensor(call, names.out);
    struct op_matmul matmul = {.alpha = 1};
    unsigned rank;
    int64_t dim[OP_RANK_MAX], shape[OP_RANK_MAX];
    leo_status status = check_ranks(call, &names);
    if (status != LEO_OK) {
        return status;
    }
    if (op_layout_any_native(call->row, call->args)) {
        return plan_native(call, a, b, out);
    }
    matmul.a = a->rank == 1 ? insert(a, 0) : *a;
    matmul.b = b->rank == 1 ? insert(b, 1) : *b;
    status = join(call, &names, &matmul, &rank, dim);
    if (status != LEO_OK) {
        return status;
    }
    // The output lacks the dimension that a vector lacks.
    unsigned out_rank = 0;
    for (unsigned i = 0; i < rank; i++) {
        if (!(a->rank == 1 && i == rank - 2) && !(b->rank == 1 && i == rank - 1)) {
            shape[out_rank++] = dim[i];
        }
    }
    status = op_call_check_shape(call, names.out, out_rank, shape);
    if (status == LEO_OK && names.self) {
        status = take_self(call, &names, rank, dim, b->rank == 1, &matmul);
    }
    if (status != LEO_OK) {
        return status;
    }
    matmul.out = *out;
    if (b->rank == 1) {
        matmul.out = insert(&matmul.out, matmul.out.rank);
    }
    if (a->rank == 1) {
        matmul.out = insert(&matmul.out, matmul.out.rank - 1);
    }
    matmul.cube_math =
        op_call_has(call, "cubeMathType") ? (int)op_call_int(call, "cubeMathType") : 0;
    return op_matmul_plan(call->plan, &matmul);
}
