/* SPDX-License-Identifier: Apache-2.0 */
/* Operators along one dimension whose rows say what they compute: softmax and its relatives. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include "../device/row_program_args.h"
#include "row_program.h"

#include <inttypes.h>
#include <string.h>

struct rows {
    const struct op_call *call;
    const struct op_row_program *program;
    const struct op_tensor *in[2], *out;
    unsigned dim; /* along which they lie */
};

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
static enum op_type type_of(const struct rows *rows)
{
    const enum op_type type = rows->out->type;
    bool same = type == OP_TYPE_F16 ||
                (type == OP_TYPE_BF16 && op_plan_chip(rows->call->plan) == OP_ON_910B);
    for (unsigned i = 0; i < rows->program->input_count; i++) {
        same = same && rows->in[i]->type == type;
    }
    return same ? type : OP_TYPE_F32;
}

enum {
    LANES = 64,
    STEPS = 8,       /* [A] instructions on each element */
    ROW_CYCLES = 100 /* [A] of a row beside them */
};

// On the vector unit, over dense rows: what is not one is copied.
static leo_status plan_vector(const struct rows *rows)
{
    struct op_plan *plan = rows->call->plan;
    const enum op_type type = type_of(rows);
    const uint32_t unit = op_type_bytes(type);
    const struct op_tensor last = put_last(rows->out, rows->dim);
    struct op_tensor made = last;
    struct op_row_program_args args;
    memset(&args, 0, sizeof(args));
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < rows->program->input_count; i++) {
        struct op_tensor dense;
        const struct op_tensor from = put_last(rows->in[i], rows->dim);
        status = op_plan_dense(plan, &from, type, &dense);
        args.in[i] = dense.addr;
    }
    // Ends of rows that are no whole blocks are written by the scalar unit: blocks of rows must
    // begin at lines, which they do in memory of our own.
    args.length = last.rank ? (uint64_t)last.dim[last.rank - 1] : 1;
    const bool direct = last.type == type && op_tensor_is_dense(&last) &&
                        !op_plan_has_tail(plan, args.length * unit);
    if (status == LEO_OK && !direct) {
        status = op_plan_temp(plan, type, last.rank, last.dim, &made);
    }
    if (status != LEO_OK) {
        return status;
    }
    const uint64_t elements = (uint64_t)op_tensor_count(&last);
    args.out = made.addr;
    args.rows = elements / args.length;
    args.type = (uint8_t)type;
    const struct op_share share =
        op_share_make(args.rows, op_plan_row_granule(plan, args.length, unit), 1,
                      op_plan_cores_for(plan, (1u + rows->program->input_count) * elements * unit,
                                        args.rows * ROW_CYCLES + elements * STEPS / LANES));
    args.per_block = share.per_block;
    status = op_plan_launch(plan, rows->program->name, rows->program->name, share.blocks, &args,
                            sizeof(args), 3);
    return status == LEO_OK && made.addr != last.addr ? op_plan_copy(plan, &last, &made) : status;
}

// f64 has no vector instructions: the steps are operators of the scalar unit.
static leo_status plan_double(const struct rows *rows)
{
    static const char *const names[] = {"Add", "Sub", "Mul",  "Div",
                                        "Exp", "Log", "Amax", "ReduceSum"};
    const struct op_row_program *program = rows->program;
    const unsigned rank = rows->out->rank;
    const int64_t dim = rows->dim;
    const struct op_scalar one = op_scalar_int(1);
    const struct op_ints over = {&dim, rank ? 1 : 0};
    struct op_chain chain = op_chain_begin(rows->call);
    struct op_tensor values[OP_ROW_VALUES_MAX];
    unsigned count = program->input_count;
    for (unsigned i = 0; i < count; i++) {
        values[i] = *rows->in[i];
    }
    for (unsigned i = 0; i < program->step_count; i++, count++) {
        const struct op_row_step *step = &program->steps[i];
        const bool folds = step->operation >= OP_ROW_MAX;
        struct op_value args[5];
        unsigned given = 0;
        values[count] = values[step->a];
        if (folds && rank) {
            values[count].dim[dim] = 1;
        }
        values[count] = i + 1 == program->step_count
                            ? *rows->out
                            : op_chain_temp_like(&chain, OP_TYPE_F64, &values[count]);
        args[given++] = op_value_tensor(&values[step->a]);
        if (step->operation <= OP_ROW_DIV) {
            args[given++] = op_value_tensor(&values[step->b]);
        }
        if (step->operation <= OP_ROW_SUB) {
            args[given++] = op_value_scalar(&one);
        }
        if (folds) {
            args[given++] = op_value_ints(&over);
            args[given++] = op_value_int(1);
        }
        if (step->operation == OP_ROW_SUM) {
            args[given++] = op_value_type(OP_TYPE_F64);
        }
        args[given++] = op_value_tensor(&values[count]);
        op_chain_call(&chain, names[step->operation], args, given);
    }
    return chain.status;
}

leo_status op_plan_softmax(const struct op_call *call)
{
    struct rows rows = {.call = call, .program = call->row->data};
    const struct op_row_program *program = rows.program;
    const char *name = call->row->params[program->inputs[0]].name;
    leo_status status = LEO_OK;
    rows.out = call->args[program->out].tensor;
    for (unsigned i = 0; i < program->input_count; i++) {
        rows.in[i] = call->args[program->inputs[i]].tensor;
    }
    const struct op_tensor *a = rows.in[0];
    const int64_t rank = a->rank ? a->rank : 1, given = op_call_int(call, "dim");
    const int64_t dim = given < 0 ? given + rank : given;
    if (dim < 0 || dim >= rank) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "dim is %" PRId64 ", %s has %u dimensions",
                            given, name, a->rank);
    }
    rows.dim = a->rank ? (unsigned)dim : 0;
    status = op_call_check_shape(call, call->row->params[program->out].name, a->rank, a->dim);
    for (unsigned i = 1; status == LEO_OK && i < program->input_count; i++) {
        status =
            op_call_check_shape(call, call->row->params[program->inputs[i]].name, a->rank, a->dim);
    }
    if (status != LEO_OK || op_tensor_count(a) == 0) {
        return status;
    }
    return rows.out->type == OP_TYPE_F64 || a->type == OP_TYPE_F64 ? plan_double(&rows)
                                                                   : plan_vector(&rows);
}
