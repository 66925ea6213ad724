/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul_operands.h"
#include "../frame/chain.h"
#include "../frame/whole.h"

#include <string.h>

enum { BLOCK_BYTES = 32 };

bool op_matmul_fits(int64_t value)
{
    return value >= 0 && value <= INT32_MAX;
}

bool op_matmul_is_rows(const struct op_tensor *tensor, unsigned over, unsigned in, uint32_t *pitch)
{
    const int64_t step = tensor->dim[over] == 1 ? tensor->dim[in] : tensor->stride[over];
    if ((tensor->dim[in] != 1 && tensor->stride[in] != 1) || step < tensor->dim[in] ||
        !op_matmul_fits(step)) {
        return false;
    }
    *pitch = (uint32_t)step;
    return true;
}

leo_status op_matmul_copy(const struct op_matmul_product *product, const struct op_tensor *tensor,
                          bool turn, struct op_tensor *out)
{
    const unsigned rank = tensor->rank;
    struct op_tensor from = turn ? op_view_swap(tensor, rank - 2, rank - 1) : *tensor;
    for (unsigned i = 0; i < rank - 2; i++) {
        from.dim[i] = from.stride[i] == 0 ? 1 : from.dim[i];
    }
    int64_t dim[OP_RANK_MAX];
    memcpy(dim, from.dim, sizeof(dim));
    if (op_plan_chip(product->plan) == OP_ON_910A) { // it loads rows of whole blocks together
        dim[rank - 1] = op_round_up(dim[rank - 1], BLOCK_BYTES / product->unit);
    }
    struct op_tensor dense;
    leo_status status = op_plan_temp(product->plan, product->type, rank, dim, &dense);
    memcpy(dense.dim, from.dim, sizeof(dim));
    if (status == LEO_OK) {
        status = op_plan_copy(product->plan, &dense, &from);
    }
    for (unsigned i = 0; i < rank - 2; i++) {
        dense.stride[i] = tensor->stride[i] == 0 ? 0 : dense.stride[i];
    }
    dense = turn ? op_view_swap(&dense, rank - 2, rank - 1) : dense;
    memcpy(dense.dim, tensor->dim, sizeof(dense.dim));
    *out = dense;
    return status;
}

bool op_matmul_loads(const struct op_matmul_product *product, const struct op_tensor *tensor,
                     bool left, uint32_t *pitch, bool *along_k)
{
    const unsigned rows = tensor->rank - 2, columns = tensor->rank - 1, k = left ? columns : rows,
                   other = left ? rows : columns;
    *along_k = op_matmul_is_rows(tensor, other, k, pitch);
    return tensor->type == product->type &&
           (*along_k || (product->unit == 2 && op_matmul_is_rows(tensor, k, other, pitch)));
}

leo_status op_matmul_take(const struct op_matmul_product *product, const struct op_tensor *tensor,
                          bool left, bool copy, struct op_matmul_operand *out)
{
    struct op_tensor ready = *tensor;
    if (copy) {
        leo_status status = op_matmul_copy(product, tensor, product->unit == 4 && !left, &ready);
        if (status != LEO_OK) {
            return status;
        }
    }
    bool along_k;
    if (!op_matmul_loads(product, &ready, left, &out->pitch, &along_k)) {
        return LEO_ERR_SHAPE; // a dense copy always loads
    }
    out->addr = ready.addr;
    out->transposed = along_k != left;
    memcpy(out->batch, ready.stride, (ready.rank - 2) * sizeof(*out->batch));
    return LEO_OK;
}

void op_matmul_fold_rows(struct op_matmul_product *p)
{
    while (p->batch_rank > 0) {
        const unsigned last = p->batch_rank - 1;
        const int64_t a = p->a.batch[last], out = p->out.batch[last];
        const bool same = p->b.batch[last] == 0 && !p->a.transposed &&
                          a == p->m * (int64_t)p->a.pitch && out == p->m * (int64_t)p->out.pitch &&
                          op_matmul_fits(p->m * p->batch_dim[last]);
        if (p->batch_dim[last] != 1 && !same) {
            return;
        }
        p->m *= p->batch_dim[last];
        p->batch_rank--;
    }
}

void op_matmul_merge_batch(struct op_matmul_product *p)
{
    struct op_matmul_operand *const all[] = {&p->a, &p->b, &p->out};
    unsigned rank = 0;
    for (unsigned i = 0; i < p->batch_rank; i++) {
        bool joins = rank > 0;
        for (unsigned t = 0; joins && t < 3; t++) {
            joins = all[t]->batch[rank - 1] == all[t]->batch[i] * p->batch_dim[i];
        }
        if (joins) {
            p->batch_dim[rank - 1] *= p->batch_dim[i];
        } else {
            p->batch_dim[rank++] = p->batch_dim[i];
        }
        for (unsigned t = 0; t < 3; t++) {
            all[t]->batch[rank - 1] = all[t]->batch[i];
        }
    }
    p->batch_rank = rank;
}

leo_status op_matmul_finish(struct op_plan *plan, const struct op_matmul *matmul,
                            const struct op_tensor *product)
{
    const struct op_scalar alpha = op_scalar_real(matmul->alpha),
                           beta = op_scalar_real(matmul->beta);
    if (!matmul->has_self || matmul->beta == 0) {
        if (matmul->alpha == 1) {
            return op_plan_copy(plan, &matmul->out, product);
        }
        const struct op_value args[] = {op_value_tensor(product), op_value_scalar(&alpha),
                                        op_value_tensor(&matmul->out)};
        return op_plan_call(plan, "Muls", args, 3);
    }
    struct op_tensor self = matmul->self;
    if (matmul->beta != 1) {
        leo_status status = op_plan_temp(plan, OP_TYPE_F32, self.rank, self.dim, &self);
        if (status != LEO_OK) {
            return status;
        }
        const struct op_value args[] = {op_value_tensor(&matmul->self), op_value_scalar(&beta),
                                        op_value_tensor(&self)};
        status = op_plan_call(plan, "Muls", args, 3);
        if (status != LEO_OK) {
            return status;
        }
    }
    const struct op_value args[] = {op_value_tensor(&self), op_value_tensor(product),
                                    op_value_scalar(&alpha), op_value_tensor(&matmul->out)};
    return op_plan_call(plan, "Add", args, 4);
}
