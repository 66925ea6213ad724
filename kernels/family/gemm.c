/* SPDX-License-Identifier: Apache-2.0 */
/* How a product of matrices is computed. */
#include "gemm.h"

#include "../device/matmul_scalar_args.h"

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

leo_status op_gemm_plan_scalar(struct op_plan *plan, const struct op_gemm *gemm)
{
    const struct op_tensor *out = &gemm->out;
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
    args.a = gemm->a.addr;
    args.b = gemm->b.addr;
    args.a_type = (uint8_t)gemm->a.type;
    args.b_type = (uint8_t)gemm->b.type;
    args.m = (uint64_t)out->dim[before];
    args.n = (uint64_t)out->dim[before + 1];
    args.k = (uint64_t)gemm->a.dim[before + 1];
    args.alpha = gemm->alpha;
    args.beta = gemm->beta;
    args.batches = 1;
    args.batch_rank = (uint8_t)before;
    for (unsigned i = 0; i < before; i++) {
        args.batch_dim[i] = out->dim[i];
        args.batches *= (uint64_t)out->dim[i];
    }
    set_strides(&gemm->a, args.a_stride, args.a_batch);
    set_strides(&gemm->b, args.b_stride, args.b_batch);
    if (gemm->has_self) {
        args.self = gemm->self.addr;
        args.self_type = (uint8_t)gemm->self.type;
        set_strides(&gemm->self, args.self_stride, args.self_batch);
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

leo_status op_gemm_plan(struct op_plan *plan, const struct op_gemm *gemm)
{
    bool taken;
    if (op_tensor_count(&gemm->out) == 0) {
        return LEO_OK;
    }
    leo_status status = op_gemm_plan_split(plan, gemm, &taken);
    if (status == LEO_OK && !taken) {
        status = op_gemm_plan_cube(plan, gemm, &taken);
    }
    if (status != LEO_OK || taken) {
        return status;
    }
    status = op_gemm_plan_vector(plan, gemm, &taken);
    if (status == LEO_OK && !taken) {
        status = op_gemm_plan_scalar(plan, gemm);
    }
    const struct op_value relu[] = {op_value_tensor(&gemm->out)};
    return status == LEO_OK && gemm->relu ? op_plan_call(plan, "InplaceRelu", relu, 1) : status;
}
