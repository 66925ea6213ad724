/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over dimensions. */
#include "family.h"

#include "../device/reduce_args.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Which dimensions go away; none named: all.
static leo_status take_dims(const struct op_call *call, const struct op_tensor *self, bool *reduced)
{
    const struct op_ints *dims = op_call_ints(call, "dims");
    for (unsigned i = 0; i < self->rank; i++) {
        reduced[i] = !dims || dims->count == 0;
    }
    for (uint64_t i = 0; dims && i < dims->count; i++) {
        const int64_t rank = self->rank ? self->rank : 1;
        const int64_t dim = dims->items[i] < 0 ? dims->items[i] + rank : dims->items[i];
        if (dim < 0 || dim >= rank) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "dims[%" PRIu64 "] is %" PRId64 ", self has %u dimensions", i,
                                dims->items[i], self->rank);
        }
        if (self->rank > 0) {
            reduced[dim] = true;
        }
    }
    return LEO_OK;
}

leo_status op_plan_reduce(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const bool keep = op_call_int(call, "keepDims") != 0;
    const unsigned unit = op_type_bytes(self->type);
    bool reduced[OP_RANK_MAX];
    struct op_reduce_args args;
    int64_t shape[OP_RANK_MAX];
    unsigned rank = 0;
    leo_status status = take_dims(call, self, reduced);
    if (status != LEO_OK) {
        return status;
    }
    memset(&args, 0, sizeof(args));
    args.outer_count = args.inner_count = 1;
    for (unsigned i = 0; i < self->rank; i++) {
        if (reduced[i]) {
            args.inner_dim[args.inner_rank] = self->dim[i];
            args.inner_stride[args.inner_rank++] = self->stride[i] * unit;
            args.inner_count *= (uint64_t)self->dim[i];
        } else {
            args.outer_dim[args.outer_rank] = self->dim[i];
            args.outer_stride[args.outer_rank++] = self->stride[i] * unit;
            args.outer_count *= (uint64_t)self->dim[i];
        }
        if (!reduced[i] || keep) {
            shape[rank++] = reduced[i] ? 1 : self->dim[i];
        }
    }
    status = op_call_check_shape(call, "out", rank, shape);
    if (status != LEO_OK || args.outer_count == 0) {
        return status;
    }
    // Kernels write a dense output; another one is copied to.
    struct op_tensor dense = *out;
    if (!op_tensor_is_dense(out)) {
        status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &dense);
        if (status != LEO_OK) {
            return status;
        }
    }
    args.in = self->addr;
    args.out = dense.addr;
    args.in_type = (uint8_t)self->type;
    args.out_type = (uint8_t)out->type;
    const struct op_share share =
        op_share_make(args.outer_count, 1, 1, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    const bool integer =
        !op_type_is_float(self->type) && !op_type_is_float(op_call_value(call, "dtype")->type);
    status = op_plan_launch(call->plan, "reduce", integer ? "reduce_sum_i" : "reduce_sum_d",
                            share.blocks, &args, sizeof(args), 2);
    if (status == LEO_OK && dense.addr != out->addr) {
        status = op_plan_copy(call->plan, out, &dense);
    }
    return status;
}
