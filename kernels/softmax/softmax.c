/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, log softmax and their gradients along one dimension. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include "softmax_args.h"

#include <inttypes.h>
#include <string.h>

static uint8_t mode_of(const struct op_call *call)
{
    const bool log = strcmp(op_row_attr(call->row, "softmax"), "log") == 0;
    const bool backward = op_call_has(call, "gradOutput");
    return (uint8_t)(backward ? (log ? OP_SOFTMAX_LOG_BACKWARD : OP_SOFTMAX_BACKWARD)
                              : (log ? OP_SOFTMAX_LOG : OP_SOFTMAX));
}

// The tensor with dimension `dim` last.
static struct op_tensor put_last(const struct op_tensor *tensor, unsigned dim)
{
    unsigned order[OP_RANK_MAX];
    for (unsigned i = 0; i < tensor->rank; i++) {
        order[i] = i + 1 == tensor->rank ? dim : i < dim ? i : i + 1;
    }
    return op_tensor_permute(tensor, order);
}

// The type the vector unit works with in memory: what all have, else f32.
static enum op_type type_of(const struct op_call *call, const struct op_tensor *a,
                            const struct op_tensor *b, const struct op_tensor *out)
{
    const bool half = out->type == OP_TYPE_F16 ||
                      (out->type == OP_TYPE_BF16 && op_plan_chip(call->plan) == OP_ON_910B);
    return half && a->type == out->type && b->type == out->type ? out->type : OP_TYPE_F32;
}

enum {
    LANES = 64,
    STEPS = 8,       /* [A] instructions on each element */
    ROW_CYCLES = 100 /* [A] of a row beside them */
};

// On the vector unit, over dense rows: what is not one is copied.
static leo_status plan_vector(const struct op_call *call, const struct op_tensor *a,
                              const struct op_tensor *b, const struct op_tensor *out, unsigned dim)
{
    struct op_plan *plan = call->plan;
    const bool backward = a != b;
    const enum op_type type = type_of(call, a, b, out);
    const uint32_t unit = op_type_bytes(type);
    struct op_tensor last = put_last(out, dim), from = put_last(a, dim), dense_a, dense_b,
                     made = last;
    leo_status status = op_plan_dense(plan, &from, type, &dense_a);
    dense_b = dense_a;
    if (status == LEO_OK && backward) {
        from = put_last(b, dim);
        status = op_plan_dense(plan, &from, type, &dense_b);
    }
    // Ends of rows that are no whole blocks are written by the scalar unit: blocks of rows must
    // begin at lines, which they do in memory of our own.
    const uint64_t length = last.rank ? (uint64_t)last.dim[last.rank - 1] : 1;
    const bool direct =
        last.type == type && op_tensor_is_dense(&last) && !op_plan_has_tail(plan, length * unit);
    if (status == LEO_OK && !direct) {
        status = op_plan_temp(plan, type, last.rank, last.dim, &made);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_softmax_vector_args args;
    memset(&args, 0, sizeof(args));
    args.out = made.addr;
    args.a = dense_a.addr;
    args.b = dense_b.addr;
    args.length = length;
    const uint64_t elements = (uint64_t)op_tensor_count(&last);
    args.rows = elements / length;
    args.mode = mode_of(call);
    args.type = (uint8_t)type;
    const struct op_share share =
        op_share_make(args.rows, op_plan_row_granule(plan, length, unit), 1,
                      op_plan_cores_for(plan, (2 + backward) * elements * unit,
                                        args.rows * ROW_CYCLES + elements * STEPS / LANES));
    args.per_block = share.per_block;
    status = op_plan_launch(plan, "softmax_vector", "softmax_vector", share.blocks, &args,
                            sizeof(args), 3);
    return status == LEO_OK && made.addr != last.addr ? op_plan_copy(plan, &last, &made) : status;
}

// f64 has no vector instructions: from operators of the scalar unit. The whole of it in f64.
static leo_status plan_double(const struct op_call *call, const struct op_tensor *a,
                              const struct op_tensor *b, const struct op_tensor *out, int64_t dim)
{
    const struct op_scalar one = op_scalar_int(1);
    const struct op_ints over = {&dim, a->rank ? 1 : 0};
    const uint8_t mode = mode_of(call);
    const bool log = mode == OP_SOFTMAX_LOG || mode == OP_SOFTMAX_LOG_BACKWARD;
    struct op_chain chain = op_chain_begin(call);
    int64_t kept[OP_RANK_MAX];
    memcpy(kept, a->dim, sizeof(kept));
    if (a->rank) {
        kept[dim] = 1;
    }
    const struct op_tensor sums = op_chain_temp(&chain, OP_TYPE_F64, a->rank, kept),
                           made = op_chain_temp_like(&chain, OP_TYPE_F64, a),
                           terms = op_chain_temp_like(&chain, OP_TYPE_F64, a);
    const struct op_value sum[] = {op_value_tensor(&terms), op_value_ints(&over), op_value_int(1),
                                   op_value_type(OP_TYPE_F64), op_value_tensor(&sums)};
    if (a == b) { // forward
        OP_CHAIN_CALL(&chain, "Amax", op_value_tensor(a), op_value_ints(&over), op_value_int(1),
                      op_value_tensor(&sums));
        OP_CHAIN_CALL(&chain, "Sub", op_value_tensor(a), op_value_tensor(&sums),
                      op_value_scalar(&one), op_value_tensor(&made));
        OP_CHAIN_CALL(&chain, "Exp", op_value_tensor(&made), op_value_tensor(&terms));
        op_chain_call(&chain, "ReduceSum", sum, 5);
        if (log) {
            OP_CHAIN_CALL(&chain, "InplaceLog", op_value_tensor(&sums));
            OP_CHAIN_CALL(&chain, "Sub", op_value_tensor(&made), op_value_tensor(&sums),
                          op_value_scalar(&one), op_value_tensor(out));
        } else {
            OP_CHAIN_CALL(&chain, "Div", op_value_tensor(&terms), op_value_tensor(&sums),
                          op_value_tensor(out));
        }
        return chain.status;
    }
    // a: the gradient, b: the output.
    if (log) {
        op_chain_copy(&chain, &terms, a);
        op_chain_call(&chain, "ReduceSum", sum, 5);
        OP_CHAIN_CALL(&chain, "Exp", op_value_tensor(b), op_value_tensor(&made));
        OP_CHAIN_CALL(&chain, "InplaceMul", op_value_tensor(&made), op_value_tensor(&sums));
        OP_CHAIN_CALL(&chain, "Sub", op_value_tensor(a), op_value_tensor(&made),
                      op_value_scalar(&one), op_value_tensor(out));
    } else {
        OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(a), op_value_tensor(b),
                      op_value_tensor(&terms));
        op_chain_call(&chain, "ReduceSum", sum, 5);
        OP_CHAIN_CALL(&chain, "Sub", op_value_tensor(a), op_value_tensor(&sums),
                      op_value_scalar(&one), op_value_tensor(&made));
        OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&made), op_value_tensor(b),
                      op_value_tensor(out));
    }
    return chain.status;
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
    return a->type == OP_TYPE_F64 ? plan_double(call, a, b, out, dim)
                                  : plan_vector(call, a, b, out, a->rank ? (unsigned)dim : 0);
}
