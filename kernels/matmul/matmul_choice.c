/* SPDX-License-Identifier: Apache-2.0 */
/* How a product of matrices is computed. */
#include "matmul.h"

#include "matmul_scalar_args.h"

#include <string.h>

// Strides in bytes of the last two dimensions and of those before.
static void set_strides(const struct op_tensor *tensor, int64_t *stride, int64_t *batch)
{
    const int64_t unit = op_type_bytes(tensor->type);
    const unsigned before = tensor->rank - 2;
    for (unsigned i = 0; i < before; i++) {
        batch[i] = tensor->stride[i] * unit;
    }
    stride[0] = tensor->stride[before] * unit;
    stride[1] = tensor->stride[before + 1] * unit;
}

leo_status op_matmul_plan_scalar(struct op_plan *plan, const struct op_matmul *matmul)
{
    const struct op_tensor *out = &matmul->out;
    const unsigned before = out->rank - 2;
    struct op_matmul_scalar_args args;
    struct op_tensor dense = *out;
    memset(&args, 0, sizeof(args));
    if (!op_tensor_is_dense(out)) {
        leo_status status = op_plan_temp(plan, out->type, out->rank, out->dim, &dense);
        if (status != LEO_OK) {
            return status;
        }
    }
    args.out = dense.addr;
    args.out_type = (uint8_t)dense.type;
    args.a = matmul->a.addr;
    args.b = matmul->b.addr;
    args.a_type = (uint8_t)matmul->a.type;
    args.b_type = (uint8_t)matmul->b.type;
    args.m = (uint64_t)out->dim[before];
    args.n = (uint64_t)out->dim[before + 1];
    args.k = (uint64_t)matmul->a.dim[before + 1];
    args.alpha = matmul->alpha;
    args.beta = matmul->beta;
    args.batches = 1;
    args.batch_rank = (uint8_t)before;
    for (unsigned i = 0; i < before; i++) {
        args.batch_dim[i] = out->dim[i];
        args.batches *= (uint64_t)out->dim[i];
    }
    set_strides(&matmul->a, args.a_stride, args.a_batch);
    set_strides(&matmul->b, args.b_stride, args.b_batch);
    if (matmul->has_self) {
        args.self = matmul->self.addr;
        args.self_type = (uint8_t)matmul->self.type;
        set_strides(&matmul->self, args.self_stride, args.self_batch);
    }
    const struct op_share share =
        op_share_make(args.batches * args.m * args.n, 1, 16, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    leo_status status = op_plan_launch(plan, "matmul_scalar", "matmul_scalar", share.blocks, &args,
                                       sizeof(args), 4);
    if (status != LEO_OK || dense.addr == out->addr) {
        return status;
    }
    return op_plan_copy(plan, out, &dense);
}

leo_status op_matmul_plan(struct op_plan *plan, const struct op_matmul *matmul)
{
    bool taken;
    if (op_tensor_count(&matmul->out) == 0) {
        return LEO_OK;
    }
    leo_status status = op_matmul_plan_split(plan, matmul, &taken);
    if (status == LEO_OK && !taken) {
        status = op_matmul_plan_cube(plan, matmul, &taken);
    }
    if (status != LEO_OK || taken) {
        return status;
    }
    status = op_matmul_plan_vector(plan, matmul, &taken);
    if (status == LEO_OK && !taken) {
        status = op_matmul_plan_scalar(plan, matmul);
    }
    const struct op_value relu[] = {op_value_tensor(&matmul->out)};
    return status == LEO_OK && matmul->relu ? op_plan_call(plan, "InplaceRelu", relu, 1) : status;
}
