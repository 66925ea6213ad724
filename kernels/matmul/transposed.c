/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a batch of matrices that are stored, and left, in another order of dimensions. */
#include "matmul.h"

#include <inttypes.h>

enum { RANK = 3 };

// The tensor with dimension i taken from place order[i] of it, or the other way.
static leo_status turned(const struct op_call *call, const char *name,
                         const struct op_tensor *tensor, bool back, struct op_tensor *out)
{
    const struct op_ints *order = op_call_ints(call, name);
    unsigned seen = 0;
    if (tensor->rank != RANK || (order && order->count && order->count != RANK)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "a tensor of shape %s: %s needs three dimensions",
                            op_tensor_shape_text(tensor).text, name);
    }
    *out = *tensor;
    for (unsigned i = 0; order && order->count && i < RANK; i++) {
        const int64_t at = order->items[i];
        if (at < 0 || at >= RANK) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG, "%s holds %" PRId64 ": 0 to 2", name,
                                at);
        }
        const unsigned to = back ? (unsigned)at : i, from = back ? i : (unsigned)at;
        out->dim[to] = tensor->dim[from];
        out->stride[to] = tensor->stride[from];
        seen |= 1u << at;
    }
    return !order || !order->count || seen == (1u << RANK) - 1
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_INVALID_ARG, "%s names a dimension twice", name);
}

// [parts, rows, batch / parts * columns] as [batch, rows, columns], of four dimensions.
static struct op_tensor split_out(const struct op_tensor *out, int64_t parts, int64_t columns)
{
    struct op_tensor y = *out;
    y.rank = RANK + 1;
    y.dim[0] = parts;
    y.dim[1] = out->dim[2] / columns;
    y.stride[1] = columns * out->stride[2];
    y.dim[2] = out->dim[1];
    y.stride[2] = out->stride[1];
    y.dim[3] = columns;
    y.stride[3] = out->stride[2];
    return y;
}

static struct op_tensor split_batch(const struct op_tensor *tensor, int64_t parts)
{
    struct op_tensor out = *tensor;
    out.rank = RANK + 1;
    out.dim[0] = parts;
    out.dim[1] = tensor->dim[0] / parts;
    out.stride[0] = tensor->stride[0] * out.dim[1];
    out.stride[1] = tensor->stride[0];
    for (unsigned i = 1; i < RANK; i++) {
        out.dim[i + 1] = tensor->dim[i];
        out.stride[i + 1] = tensor->stride[i];
    }
    return out;
}

static leo_status check(const struct op_call *call, const struct op_tensor *a,
                        const struct op_tensor *b, int64_t parts)
{
    const struct op_tensor *bias = op_call_tensor(call, "bias"),
                           *scale = op_call_tensor(call, "scale"),
                           *out = op_call_tensor(call, "out");
    if ((bias && op_tensor_count(bias)) || (scale && op_tensor_count(scale))) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "bias and scale must be NULL");
    }
    const bool fits = a->dim[0] == b->dim[0] && a->dim[2] == b->dim[1] && parts >= 1 &&
                      a->dim[0] % parts == 0 && out->rank == RANK &&
                      (parts == 1 || (out->dim[0] == parts && out->dim[1] == a->dim[1] &&
                                      out->dim[2] == a->dim[0] / parts * b->dim[2]));
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "x1 %s and x2 %s in %" PRId64 " parts into %s: they do not fit",
                               op_tensor_shape_text(a).text, op_tensor_shape_text(b).text, parts,
                               op_tensor_shape_text(out).text);
}

leo_status op_plan_transposed(const struct op_call *call)
{
    const struct op_tensor *out = op_call_tensor(call, "out");
    const int64_t parts = op_call_int(call, "batchSplitFactor");
    struct op_matmul matmul = {.alpha = 1, .cube_math = (int)op_call_int(call, "cubeMathType")};
    leo_status status = turned(call, "permX1", op_call_tensor(call, "x1"), false, &matmul.a);
    if (status == LEO_OK) {
        status = turned(call, "permX2", op_call_tensor(call, "x2"), false, &matmul.b);
    }
    if (status == LEO_OK) {
        status = check(call, &matmul.a, &matmul.b, parts);
    }
    if (status == LEO_OK && parts > 1) {
        matmul.out = split_out(out, parts, matmul.b.dim[2]);
        matmul.a = split_batch(&matmul.a, parts);
        matmul.b = split_batch(&matmul.b, parts);
    } else if (status == LEO_OK) {
        status = turned(call, "permY", out, true, &matmul.out);
        const struct op_tensor *y = &matmul.out;
        if (status == LEO_OK && (y->dim[0] != matmul.a.dim[0] || y->dim[1] != matmul.a.dim[1] ||
                                 y->dim[2] != matmul.b.dim[2])) {
            status = op_call_fail(call, LEO_ERR_SHAPE, "out has shape %s, seen through permY %s",
                                  op_tensor_shape_text(out).text, op_tensor_shape_text(y).text);
        }
    }
    return status == LEO_OK ? op_matmul_plan(call->plan, &matmul) : status;
}
