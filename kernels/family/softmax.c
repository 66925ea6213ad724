/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, log softmax and their gradients along one dimension. */
#include "dims.h"
#include "family.h"

#include "../device/softmax_rows_args.h"

#include <inttypes.h>
#include <string.h>

static uint8_t mode_of(const struct op_call *call)
{
    const bool log = strcmp(op_row_attr(call->row, "softmax"), "log") == 0;
    const bool backward = op_call_has(call, "gradOutput");
    return (uint8_t)(backward ? (log ? OP_SOFTMAX_LOG_BACKWARD : OP_SOFTMAX_BACKWARD)
                              : (log ? OP_SOFTMAX_LOG : OP_SOFTMAX));
}

// The shape without dimension `dim`, and each tensor's strides over it.
static void split(const struct op_tensor *const tensors[3], unsigned dim,
                  struct op_softmax_args *args)
{
    const struct op_tensor *shape = tensors[1];
    args->rows = 1;
    for (unsigned i = 0; i < shape->rank; i++) {
        if (i != dim) {
            args->dim[args->rank] = shape->dim[i];
            args->rows *= (uint64_t)shape->dim[i];
        }
        for (unsigned k = 0; k < 3; k++) {
            const int64_t stride = tensors[k]->stride[i] * op_type_bytes(tensors[k]->type);
            if (i == dim) {
                args->step[k] = stride;
            } else {
                args->stride[k][args->rank] = stride;
            }
        }
        args->rank = (uint8_t)(args->rank + (i != dim));
    }
    args->length = shape->rank ? (uint64_t)shape->dim[dim] : 1;
}

leo_status op_plan_softmax(const struct op_call *call)
{
    const bool backward = op_call_has(call, "gradOutput");
    const char *a_name = backward ? "gradOutput" : "self";
    const struct op_tensor *a = op_call_tensor(call, a_name);
    const struct op_tensor *b = backward ? op_call_tensor(call, "output") : a;
    const struct op_tensor *out = op_call_tensor(call, "out");
    const int64_t rank = a->rank ? a->rank : 1, given = op_call_int(call, "dim");
    const int64_t dim = given < 0 ? given + rank : given;
    struct op_softmax_args args;
    struct op_tensor made = *out;
    if (dim < 0 || dim >= rank) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "dim is %" PRId64 ", %s has %u dimensions",
                            given, a_name, a->rank);
    }
    leo_status status = op_call_check_shape(call, "out", a->rank, a->dim);
    if (status == LEO_OK && backward) {
        status = op_call_check_shape(call, "output", a->rank, a->dim);
    }
    if (status != LEO_OK || op_tensor_count(a) == 0) {
        return status;
    }
    // A dense output in memory of its own begins at a line and has the row's elements together
    // unless the dimension is an inner one.
    status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &made);
    if (status != LEO_OK) {
        return status;
    }
    memset(&args, 0, sizeof(args));
    const struct op_tensor *const tensors[3] = {&made, a, b};
    split(tensors, (unsigned)dim, &args);
    args.out = made.addr;
    args.a = a->addr;
    args.b = b->addr;
    args.out_type = (uint8_t)out->type;
    args.a_type = (uint8_t)a->type;
    args.b_type = (uint8_t)b->type;
    args.mode = mode_of(call);
    // Rows that are not together in memory are interleaved: all of them in one block.
    const bool together = args.step[0] == (int64_t)op_type_bytes(out->type);
    const struct op_share share = op_share_make(
        args.rows, together ? op_row_granule(args.length, op_type_bytes(out->type)) : args.rows, 1,
        op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    status = op_plan_launch(call->plan, "softmax_rows", "softmax_rows", share.blocks, &args,
                            sizeof(args), 3);
    return status == LEO_OK ? op_plan_copy(call->plan, out, &made) : status;
}
