/* SPDX-License-Identifier: Apache-2.0 */
#include "chain.h"

#include <string.h>

struct op_chain op_chain_begin(const struct op_call *call)
{
    return (struct op_chain){call, call->plan, LEO_OK};
}

void op_chain_call(struct op_chain *chain, const char *op, const struct op_value *args,
                   unsigned count)
{
    if (chain->status == LEO_OK) {
        chain->status = op_plan_call(chain->plan, op, args, count);
    }
}

struct op_tensor op_chain_temp(struct op_chain *chain, enum op_type type, unsigned rank,
                               const int64_t *dim)
{
    struct op_tensor made = op_tensor_dense(0, type, rank, dim);
    if (chain->status == LEO_OK) {
        chain->status = op_plan_temp(chain->plan, type, rank, dim, &made);
    }
    return made;
}

struct op_tensor op_chain_temp_like(struct op_chain *chain, enum op_type type,
                                    const struct op_tensor *shape)
{
    return op_chain_temp(chain, type, shape->rank, shape->dim);
}

struct op_tensor op_chain_dense(struct op_chain *chain, enum op_type type,
                                const struct op_tensor *tensor)
{
    struct op_tensor dense = op_tensor_dense(0, type, tensor->rank, tensor->dim);
    if (chain->status == LEO_OK) {
        chain->status = op_plan_dense(chain->plan, tensor, type, &dense);
    }
    return dense;
}

void op_chain_copy(struct op_chain *chain, const struct op_tensor *dst, const struct op_tensor *src)
{
    if (chain->status == LEO_OK) {
        chain->status = op_plan_copy(chain->plan, dst, src);
    }
}

struct op_tensor op_chain_place(struct op_chain *chain, const struct op_tensor *out)
{
    return op_tensor_is_dense(out) ? *out : op_chain_temp_like(chain, out->type, out);
}

void op_chain_deliver(struct op_chain *chain, const struct op_tensor *out,
                      const struct op_tensor *made)
{
    if (made->addr != out->addr) {
        const struct op_tensor shaped = op_view_shape(made, out->rank, out->dim);
        op_chain_copy(chain, out, &shaped);
    }
}

struct op_tensor op_chain_wide(struct op_chain *chain, const struct op_tensor *out)
{
    return out->type == OP_TYPE_F32 ? *out : op_chain_temp_like(chain, OP_TYPE_F32, out);
}

void op_chain_give(struct op_chain *chain, const struct op_tensor *out,
                   const struct op_tensor *wide)
{
    if (out->type != OP_TYPE_F32) {
        op_chain_copy(chain, out, wide);
    }
}

void op_chain_fill(struct op_chain *chain, const struct op_tensor *dst, double value)
{
    const struct op_scalar number = op_scalar_real(value);
    OP_CHAIN_CALL(chain, "InplaceFillScalar", op_value_tensor(dst), op_value_scalar(&number));
}

void op_chain_range(struct op_chain *chain, const struct op_tensor *out, int64_t start,
                    int64_t step)
{
    const struct op_scalar first = op_scalar_int(start),
                           end = op_scalar_int(start + step * op_tensor_count(out)),
                           by = op_scalar_int(step);
    OP_CHAIN_CALL(chain, "Arange", op_value_scalar(&first), op_value_scalar(&end),
                  op_value_scalar(&by), op_value_tensor(out));
}

struct op_tensor op_chain_number(struct op_chain *chain, double value)
{
    const int64_t one = 1;
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, 1, &one);
    op_chain_fill(chain, &out, value);
    return out;
}

void op_chain_matmul(struct op_chain *chain, const struct op_tensor *a, const struct op_tensor *b,
                     const struct op_tensor *out)
{
    // cubeMathType: 0 keeps f32, 1 lets it be narrower; the cube of the 910A has no f32.
    OP_CHAIN_CALL(chain, "Matmul", op_value_tensor(a), op_value_tensor(b), op_value_tensor(out),
                  op_value_int(op_plan_chip(chain->plan) == OP_ON_910A));
}

void op_chain_sum(struct op_chain *chain, const struct op_tensor *self, int64_t dim,
                  const struct op_tensor *out)
{
    const struct op_ints over = {&dim, 1};
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(self), op_value_ints(&over), op_value_int(0),
                  op_value_type(out->type == OP_TYPE_F64 ? OP_TYPE_F64 : OP_TYPE_F32),
                  op_value_tensor(out));
}

void op_chain_sum_kept(struct op_chain *chain, const struct op_tensor *self, const int64_t *dims,
                       uint64_t count, const struct op_tensor *out)
{
    const struct op_ints over = {dims, count};
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(self), op_value_ints(&over), op_value_int(1),
                  op_value_type(OP_TYPE_F32), op_value_tensor(out));
}

struct op_tensor op_view_slice(const struct op_tensor *tensor, unsigned dim, int64_t begin,
                               int64_t count)
{
    struct op_tensor view = *tensor;
    view.addr += (uint64_t)(begin * view.stride[dim] * (int64_t)op_type_bytes(view.type));
    view.dim[dim] = count;
    return view;
}

struct op_tensor op_view_every_second(const struct op_tensor *tensor, unsigned dim, int64_t first)
{
    struct op_tensor view = op_view_slice(tensor, dim, first, tensor->dim[dim] / 2);
    view.stride[dim] *= 2;
    return view;
}

struct op_tensor op_view_half(const struct op_tensor *tensor, int64_t which)
{
    const unsigned last = tensor->rank - 1;
    const int64_t half = tensor->dim[last] / 2;
    return op_view_slice(tensor, last, which * half, half);
}

struct op_tensor op_view_select(const struct op_tensor *tensor, unsigned dim, int64_t index)
{
    struct op_tensor view = op_view_slice(tensor, dim, index, 1);
    view.rank--;
    memmove(view.dim + dim, view.dim + dim + 1, (view.rank - dim) * sizeof(*view.dim));
    memmove(view.stride + dim, view.stride + dim + 1, (view.rank - dim) * sizeof(*view.stride));
    return view;
}

struct op_tensor op_view_swap(const struct op_tensor *tensor, unsigned a, unsigned b)
{
    struct op_tensor view = *tensor;
    view.dim[a] = tensor->dim[b];
    view.dim[b] = tensor->dim[a];
    view.stride[a] = tensor->stride[b];
    view.stride[b] = tensor->stride[a];
    return view;
}

struct op_tensor op_view_insert(const struct op_tensor *tensor, unsigned at)
{
    struct op_tensor view = *tensor;
    memmove(view.dim + at + 1, view.dim + at, (view.rank - at) * sizeof(*view.dim));
    memmove(view.stride + at + 1, view.stride + at, (view.rank - at) * sizeof(*view.stride));
    view.dim[at] = 1;
    view.stride[at] = 0;
    view.rank++;
    return view;
}

struct op_tensor op_view_shape(const struct op_tensor *dense, unsigned rank, const int64_t *dim)
{
    return op_tensor_dense(dense->addr, dense->type, rank, dim);
}

struct op_tensor op_view_rows(const struct op_tensor *dense)
{
    const int64_t last = dense->rank ? dense->dim[dense->rank - 1] : 1,
                  dim[] = {last ? op_tensor_count(dense) / last : 0, last};
    return op_view_shape(dense, 2, dim);
}
