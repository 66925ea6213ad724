/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices. */
#include "values.h"

#include <string.h>

// A matrix, its rows and columns exchanged if `exchange`; dim gets its shape.
static uint32_t matrix(struct onnx_import *import, struct onnx_tensor *in, bool exchange,
                       int64_t *dim)
{
    const uint32_t value = onnx_value(import, in);
    if (import->build.failed || in->rank != 2) {
        onnx_fail(import, "its inputs must be matrices");
        return 0;
    }
    const int64_t *stride = import->build.model.values[value].stride;
    dim[0] = in->dim[exchange ? 1 : 0];
    dim[1] = in->dim[exchange ? 0 : 1];
    const int64_t moved[] = {stride[exchange ? 1 : 0], stride[exchange ? 0 : 1]};
    return model_build_view(&import->build, value, 2, dim, moved, 0);
}

void onnx_gemm(struct onnx_import *import)
{
    struct onnx_tensor *a = onnx_input(import, 0), *b = onnx_input(import, 1),
                       *c = onnx_input(import, 2);
    int64_t left[2], right[2];
    if (!a || !b) {
        return;
    }
    const double alpha = (double)onnx_attribute_float(import, "alpha", 1),
                 beta = (double)onnx_attribute_float(import, "beta", 1);
    const uint32_t x = matrix(import, a, onnx_attribute_int(import, "transA", 0) != 0, left),
                   y = matrix(import, b, onnx_attribute_int(import, "transB", 0) != 0, right),
                   z = c ? onnx_value(import, c) : 0;
    const int64_t dim[] = {left[0], right[1]};
    struct onnx_tensor *out = onnx_output(import, 0, LEO_DTYPE_F32, 2, dim);
    if (!out) {
        return;
    }
    const uint32_t result = model_build_value(&import->build, import->floats, 2, dim);
    if (c) {
        MODEL_BUILD_CALL(&import->build, "Addmm", model_build_tensor(z), model_build_tensor(x),
                         model_build_tensor(y), model_build_number(beta), model_build_number(alpha),
                         model_build_tensor(result), model_build_number(0));
    } else if (alpha == 1) {
        MODEL_BUILD_CALL(&import->build, "Matmul", model_build_tensor(x), model_build_tensor(y),
                         model_build_tensor(result), model_build_number(0));
    } else {
        onnx_fail(import, "alpha without a third input is not served");
    }
    onnx_set_value(out, result);
}

/* A vector is a row on the left and a column on the right; the result has not that dimension. */
void onnx_matmul(struct onnx_import *import)
{
    struct onnx_tensor *a = onnx_input(import, 0), *b = onnx_input(import, 1);
    int64_t dim[LEO_OP_RANK_MAX];
    if (!a || !b || a->rank < 1 || b->rank < 1) {
        onnx_fail(import, "it needs two inputs of one dimension or more");
        return;
    }
    const bool row = a->rank == 1, column = b->rank == 1;
    uint32_t x = onnx_value(import, a), y = onnx_value(import, b);
    const int64_t row_dim[] = {1, a->dim[0]}, column_dim[] = {b->dim[0], 1};
    x = row ? onnx_made_flat(import, x, 2, row_dim) : x;
    y = column ? onnx_made_flat(import, y, 2, column_dim) : y;
    const struct leo_model_value left = onnx_seen(import, x), right = onnx_seen(import, y);
    if (import->build.failed || left.dim[left.rank - 1] != right.dim[right.rank - 2]) {
        onnx_fail(import, "its inputs do not fit");
        return;
    }
    uint32_t rank = onnx_broadcast(import, left.rank - 2, left.dim, right.rank - 2, right.dim, dim),
             kept = 0;
    dim[rank++] = left.dim[left.rank - 2];
    dim[rank++] = right.dim[right.rank - 1];
    uint32_t out = model_build_value(&import->build, import->floats, rank, dim);
    MODEL_BUILD_CALL(&import->build, "Matmul", model_build_tensor(x), model_build_tensor(y),
                     model_build_tensor(out), model_build_number(0));
    for (uint32_t d = 0; d < rank; d++) {
        if (!(row && d == rank - 2) && !(column && d == rank - 1)) {
            dim[kept++] = dim[d];
        }
    }
    onnx_give(import, 0, LEO_DTYPE_F32,
              kept == rank ? out : onnx_made_flat(import, out, kept, dim));
}

/* A product with a matrix, and a row that is added to each row of it. */
void onnx_matmul_bias(struct onnx_import *import)
{
    struct onnx_tensor *a = onnx_input(import, 0), *b = onnx_input(import, 1),
                       *row = onnx_input(import, 2);
    int64_t dim[LEO_OP_RANK_MAX];
    if (!a || !b || !row || a->rank < 2 || b->rank != 2 || row->rank != 1 ||
        a->dim[a->rank - 1] != b->dim[0] || row->dim[0] != b->dim[1]) {
        onnx_fail(import, "its inputs do not fit");
        return;
    }
    const uint32_t rank = a->rank;
    memcpy(dim, a->dim, sizeof(dim));
    dim[rank - 1] = b->dim[1];
    const int64_t k = b->dim[0], rows = k ? onnx_count(a) / k : 0, left[] = {rows, k},
                  product[] = {rows, b->dim[1]};
    const uint32_t x = onnx_made_flat(import, onnx_value(import, a), 2, left),
                   y = onnx_value(import, b), z = onnx_value(import, row),
                   out = model_build_value(&import->build, import->floats, 2, product);
    MODEL_BUILD_CALL(&import->build, "Addmm", model_build_tensor(z), model_build_tensor(x),
                     model_build_tensor(y), model_build_number(1), model_build_number(1),
                     model_build_tensor(out), model_build_number(0));
    onnx_give(import, 0, LEO_DTYPE_F32, onnx_made_flat(import, out, rank, dim));
}
