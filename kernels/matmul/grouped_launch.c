/* SPDX-License-Identifier: Apache-2.0 */
/* One launch for the products of many groups, whose sizes are read when it runs. */
#include "grouped.h"

#include "grouped_args.h"
#include "matmul_operands.h"
#include "matmul_tiling.h"

#include <inttypes.h>
#include <string.h>

static leo_status take_operand(const struct op_matmul_product *p, const struct op_tensor *tensor,
                               bool left, struct op_matmul_operand *out)
{
    uint32_t pitch;
    bool along_k;
    return op_matmul_take(p, tensor, left, !op_matmul_loads(p, tensor, left, &pitch, &along_k),
                          out);
}

static uint32_t flags_of(const struct op_matmul_product *p, enum op_type out, bool bias)
{
    return (p->a.transposed ? OP_MATMUL_TRANSPOSE_A : 0u) |
           (p->b.transposed ? OP_MATMUL_TRANSPOSE_B : 0u) | (bias ? OP_MATMUL_BIAS : 0u) |
           (out == OP_TYPE_F16 ? OP_MATMUL_OUT_F16 : 0u) |
           (out == OP_TYPE_BF16 ? OP_MATMUL_OUT_BF16 : 0u) |
           (p->type == OP_TYPE_BF16 ? OP_MATMUL_BF16 : 0u);
}

static leo_status launch(const struct op_matmul_product *p, const struct op_matmul_grouped *grouped,
                         const struct op_tensor *bias, const struct op_tensor *out)
{
    struct op_matmul_grouped_args args;
    struct op_matmul_args *t = &args.matmul;
    memset(&args, 0, sizeof(args));
    t->a = p->a.addr;
    t->b = p->b.addr;
    t->bias = bias ? bias->addr : 0;
    t->out = out->addr;
    t->m = (uint32_t)p->m;
    t->n = (uint32_t)p->n;
    t->k = (uint32_t)p->k;
    t->a_pitch = p->a.pitch;
    t->b_pitch = p->b.pitch;
    t->out_pitch = p->out.pitch;
    t->flags = flags_of(p, out->type, bias != NULL);
    for (unsigned i = 0; i < OP_MATMUL_BATCH_DIMS; i++) {
        t->batch_dim[i] = 1;
    }
    (void)op_matmul_tiling(p->plan, p->unit, t);
    args.list = grouped->list.addr;
    args.b_group = (uint64_t)p->b.batch[0] * p->unit;
    args.bias_group = bias ? (uint64_t)p->n * sizeof(float) : 0;
    args.out_bytes = op_type_bytes(out->type);
    args.out_group = grouped->split_k ? (uint64_t)out->stride[0] * args.out_bytes : 0;
    args.first = (uint32_t)grouped->first;
    args.groups = (uint32_t)grouped->groups;
    args.total = grouped->split_k ? t->k : t->m;
    args.counts = grouped->counts;
    args.split_k = grouped->split_k;
    return op_plan_launch(p->plan, p->unit == 4 ? "matmul_grouped_f32" : "matmul_grouped",
                          "op_matmul_grouped", op_plan_cube_cores(p->plan), &args, sizeof(args), 5);
}

static leo_status check_product(const struct op_call *call, const struct op_matmul *like,
                                struct op_matmul_product *p)
{
    if (!op_matmul_type(p->plan, like, &p->type) || !op_matmul_fits(p->m) ||
        !op_matmul_fits(p->n) || !op_matmul_fits(p->k)) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "the cube has no product of %s and %s into %s of %" PRId64
                            " rows, %" PRId64 " columns and %" PRId64 " between",
                            op_type_name(like->a.type), op_type_name(like->b.type),
                            op_type_name(like->out.type), p->m, p->n, p->k);
    }
    p->unit = op_type_bytes(p->type);
    return LEO_OK;
}

leo_status op_matmul_grouped_plan(const struct op_call *call,
                                  const struct op_matmul_grouped *grouped)
{
    const struct op_tensor *out = &grouped->out;
    const struct op_matmul like = {.a = grouped->a, .b = grouped->b, .out = *out};
    struct op_matmul_product p = {.plan = call->plan,
                                  .m = grouped->a.dim[0],
                                  .n = grouped->b.dim[grouped->b.rank - 1],
                                  .k = grouped->a.dim[1]};
    struct op_tensor result = *out;
    if (p.m == 0 || p.n == 0 || p.k == 0) {
        return LEO_OK;
    }
    leo_status status = check_product(call, &like, &p);
    if (status == LEO_OK) {
        status = take_operand(&p, &grouped->a, true, &p.a);
    }
    if (status == LEO_OK) {
        status = take_operand(&p, &grouped->b, false, &p.b);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const bool direct = op_matmul_is_rows(out, out->rank - 2, out->rank - 1, &p.out.pitch);
    if (!direct) { // rows and matrices of no group must stay as they are
        result = op_chain_dense(&chain, out->type, out);
        p.out.pitch = (uint32_t)p.n;
    }
    struct op_tensor bias, list = op_chain_dense(&chain, OP_TYPE_I64, &grouped->list);
    if (grouped->bias) {
        bias = op_chain_dense(&chain, OP_TYPE_F32, grouped->bias);
    }
    struct op_matmul_grouped dense = *grouped;
    dense.list = list;
    if (chain.status == LEO_OK) {
        chain.status = launch(&p, &dense, grouped->bias ? &bias : NULL, &result);
    }
    if (!direct) {
        op_chain_copy(&chain, out, &result);
    }
    return chain.status;
}
