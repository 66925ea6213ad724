/* SPDX-License-Identifier: Apache-2.0 */
/* Diagonals are views: their stride is the sum of the strides. */
#include "../frame/chain.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

leo_status op_plan_fill_diagonal(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "selfRef");
    const struct op_scalar *value = op_call_scalar(call, "fillValue");
    bool cube = true;
    for (unsigned i = 1; i < self->rank; i++) {
        cube = cube && self->dim[i] == self->dim[0];
    }
    if (self->rank < 2 || (self->rank > 2 && !cube)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "selfRef has shape %s, it must be a matrix or have equal dimensions",
                            op_tensor_shape_text(self).text);
    }
    // Diagonals of a matrix taller than wide begin in each row that is a multiple of columns + 1.
    const int64_t rows = self->dim[0], columns = self->dim[1], period = columns + 1,
                  diagonals =
                      self->rank == 2 && op_call_int(call, "wrap") ? (rows + columns) / period : 1;
    struct op_chain chain = op_chain_begin(call);
    for (int64_t i = 0; i < diagonals;) {
        // The whole ones at once; what the last row cuts off, or the only one, by itself.
        const int64_t length = least(columns, rows - i * period),
                      whole = length == columns ? (rows - columns) / period + 1 - i : 1;
        struct op_tensor view = *self;
        view.addr += (uint64_t)(i * period * self->stride[0]) * op_type_bytes(self->type);
        view.rank = 2;
        view.dim[0] = least(whole, diagonals - i);
        view.stride[0] = period * self->stride[0];
        view.dim[1] = length;
        view.stride[1] = 0;
        for (unsigned k = 0; k < self->rank; k++) {
            view.stride[1] += self->stride[k];
        }
        OP_CHAIN_CALL(&chain, "InplaceFillScalar", op_value_tensor(&view), op_value_scalar(value));
        i += view.dim[0];
    }
    return chain.status;
}
