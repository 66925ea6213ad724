/* SPDX-License-Identifier: Apache-2.0 */
/* Complex numbers as pairs of floats: their parts are strided views. */
#include "../frame/chain.h"
#include "pointwise.h"

#include <stdio.h>
#include <string.h>

static leo_status call_two(const struct op_call *call, const char *op, const struct op_tensor *a,
                           const struct op_tensor *b, const struct op_tensor *out)
{
    const struct op_value args[] = {op_value_tensor(a), op_value_tensor(b), op_value_tensor(out)};
    return op_plan_call(call->plan, op, args, 3);
}

leo_status op_complex_plan_copy(const struct op_call *call, const struct op_tensor *out,
                                const struct op_tensor *in)
{
    const bool to = op_type_is_complex(out->type), from = op_type_is_complex(in->type);
    const struct op_tensor real = to ? op_view_part(out, 0) : *out,
                           source = from ? op_view_part(in, 0) : *in;
    leo_status status = op_plan_copy(call->plan, &real, &source);
    if (status != LEO_OK || !to) {
        return status; // a real number is the real part
    }
    const struct op_tensor imaginary = op_view_part(out, 1);
    if (from) {
        const struct op_tensor second = op_view_part(in, 1);
        return op_plan_copy(call->plan, &imaginary, &second);
    }
    const struct op_value args[] = {op_value_tensor(&imaginary)};
    return op_plan_call(call->plan, "InplaceZero", args, 1);
}

/* ---- arithmetic ---- */

/* An operand: parts of one shape. */
struct parts {
    struct op_tensor real, imaginary;
};

static struct op_tensor number(struct op_chain *chain, enum op_type type, double value)
{
    struct op_tensor out = op_chain_temp(chain, type, 0, NULL);
    op_chain_fill(chain, &out, value);
    return out;
}

// A tensor or number; the imaginary part of a real one is 0. PyTorch computes with such zeros too.
static struct parts parts_of(struct op_chain *chain, const struct op_value *value,
                             enum op_type type)
{
    if (value->kind == OP_KIND_SCALAR) {
        return (struct parts){number(chain, type, value->scalar->real),
                              number(chain, type, value->scalar->imag)};
    }
    if (!op_type_is_complex(value->tensor->type)) {
        const struct op_tensor real = op_chain_dense(chain, type, value->tensor),
                               zero = number(chain, type, 0);
        struct op_tensor zeros = zero;
        if (!op_tensor_broadcast(&zero, real.rank, real.dim, &zeros)) {
            zeros = zero;
        }
        return (struct parts){real, zeros};
    }
    return (struct parts){op_view_part(value->tensor, 0), op_view_part(value->tensor, 1)};
}

static void make(struct op_chain *chain, const char *op, const struct parts *a,
                 const struct parts *b, const struct op_tensor *out)
{
    OP_CHAIN_CALL(chain, op, op_value_tensor(&a->real), op_value_tensor(&a->imaginary),
                  op_value_tensor(&b->real), op_value_tensor(&b->imaginary), op_value_tensor(out));
}

static struct parts temporary(struct op_chain *chain, enum op_type type,
                              const struct op_tensor *like)
{
    return (struct parts){op_chain_temp_like(chain, type, like),
                          op_chain_temp_like(chain, type, like)};
}

static struct parts multiply(struct op_chain *chain, const struct parts *a, const struct parts *b,
                             const struct op_tensor *like, enum op_type type)
{
    const struct parts out = temporary(chain, type, like);
    make(chain, "ComplexProductReal", a, b, &out.real);
    make(chain, "ComplexProductImaginary", a, b, &out.imaginary);
    return out;
}

static struct parts divide(struct op_chain *chain, const struct parts *a, const struct parts *b,
                           const struct op_tensor *like, enum op_type type)
{
    static const char *const rows[] = {"ComplexQuotientReal", "ComplexQuotientImaginary"};
    const struct parts out = temporary(chain, type, like);
    const struct op_tensor ratio = op_chain_temp_like(chain, type, &b->real),
                           by = op_chain_temp_like(chain, type, &b->real),
                           *to[] = {&out.real, &out.imaginary};
    OP_CHAIN_CALL(chain, "ComplexRatio", op_value_tensor(&b->real), op_value_tensor(&b->imaginary),
                  op_value_tensor(&ratio));
    OP_CHAIN_CALL(chain, "ComplexScale", op_value_tensor(&b->real), op_value_tensor(&b->imaginary),
                  op_value_tensor(&ratio), op_value_tensor(&by));
    for (unsigned i = 0; i < 2; i++) {
        OP_CHAIN_CALL(chain, rows[i], op_value_tensor(&a->real), op_value_tensor(&a->imaginary),
                      op_value_tensor(&b->real), op_value_tensor(&b->imaginary),
                      op_value_tensor(&ratio), op_value_tensor(&by), op_value_tensor(to[i]));
    }
    return out;
}

// alpha b, where alpha is not 1.
static struct parts scale(struct op_chain *chain, const struct parts *b, enum op_type type)
{
    const struct op_scalar *alpha = op_call_scalar(chain->call, "alpha");
    if (!alpha || (alpha->real == 1 && alpha->imag == 0)) {
        return *b;
    }
    const struct parts factor = {number(chain, type, alpha->real),
                                 number(chain, type, alpha->imag)};
    return multiply(chain, &factor, b, &b->real, type);
}

static void add_parts(struct op_chain *chain, const char *op, const struct parts *a,
                      const struct parts *b, const struct parts *out)
{
    const struct op_scalar one = op_scalar_int(1);
    OP_CHAIN_CALL(chain, op, op_value_tensor(&a->real), op_value_tensor(&b->real),
                  op_value_scalar(&one), op_value_tensor(&out->real));
    OP_CHAIN_CALL(chain, op, op_value_tensor(&a->imaginary), op_value_tensor(&b->imaginary),
                  op_value_scalar(&one), op_value_tensor(&out->imaginary));
}

// Made beside the output, which may be an operand too.
static leo_status plan_arithmetic(const struct op_call *call, const char *what,
                                  const struct op_tensor *out)
{
    struct op_chain chain = op_chain_begin(call);
    const enum op_type type = out->type == OP_TYPE_C64 ? OP_TYPE_F32 : OP_TYPE_F64;
    const struct parts to = {op_view_part(out, 0), op_view_part(out, 1)},
                       a = parts_of(&chain, &call->args[0], type);
    if (strcmp(what, "neg") == 0) {
        OP_CHAIN_CALL(&chain, "Neg", op_value_tensor(&a.real), op_value_tensor(&to.real));
        OP_CHAIN_CALL(&chain, "Neg", op_value_tensor(&a.imaginary), op_value_tensor(&to.imaginary));
        return chain.status;
    }
    const struct parts b = parts_of(&chain, &call->args[1], type);
    struct parts made;
    if (strcmp(what, "mul") == 0) {
        made = multiply(&chain, &a, &b, out, type);
    } else if (strcmp(what, "div") == 0) {
        made = divide(&chain, &a, &b, out, type);
    } else {
        const struct parts term = scale(&chain, &b, type);
        made = temporary(&chain, type, out);
        add_parts(&chain, strcmp(what, "add") == 0 ? "Add" : "Sub", &a, &term, &made);
    }
    op_chain_copy(&chain, &to.real, &made.real);
    op_chain_copy(&chain, &to.imaginary, &made.imaginary);
    return chain.status;
}

// A function of one number: rows named after it make its parts.
static leo_status plan_function(const struct op_call *call, const char *function,
                                const struct op_tensor *out)
{
    static const char *const endings[] = {"Real", "Imaginary"};
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor to[] = {op_view_part(out, 0), op_view_part(out, 1)};
    const struct parts in = parts_of(&chain, &call->args[0], to[0].type),
                       made = temporary(&chain, to[0].type, out);
    const struct op_tensor *const parts[] = {&made.real, &made.imaginary};
    for (unsigned i = 0; i < 2; i++) {
        char row[64];
        snprintf(row, sizeof(row), "Complex%s%s", function, endings[i]);
        OP_CHAIN_CALL(&chain, row, op_value_tensor(&in.real), op_value_tensor(&in.imaginary),
                      op_value_tensor(parts[i]));
    }
    op_chain_copy(&chain, &to[0], &made.real);
    op_chain_copy(&chain, &to[1], &made.imaginary);
    return chain.status;
}

// Both parts are equal, or one of them is not; numbers are compared in the wider type.
static leo_status plan_equal(const struct op_call *call, const char *row,
                             const struct op_tensor *out)
{
    struct op_chain chain = op_chain_begin(call);
    const struct parts a = parts_of(&chain, &call->args[0], OP_TYPE_F64),
                       b = parts_of(&chain, &call->args[1], OP_TYPE_F64);
    make(&chain, row, &a, &b, out);
    return chain.status;
}

// Numbers of 8 bytes are filled as words that hold both parts.
static leo_status plan_fill(const struct op_call *call, const struct op_tensor *out)
{
    static const struct op_scalar one = {.type = OP_TYPE_I64, .real = 1, .integer = 1};
    const struct op_scalar *value =
        op_call_has(call, "value") ? op_call_scalar(call, "value") : &one; /* InplaceOne */
    struct op_chain chain = op_chain_begin(call);
    if (out->type == OP_TYPE_C128) {
        const struct op_tensor real = op_view_part(out, 0), imaginary = op_view_part(out, 1);
        op_chain_fill(&chain, &real, value->real);
        op_chain_fill(&chain, &imaginary, value->imag);
        return chain.status;
    }
    const float parts[] = {(float)value->real, (float)value->imag};
    int64_t word = 0;
    memcpy(&word, parts, sizeof(word));
    struct op_tensor words = *out;
    words.type = OP_TYPE_I64;
    const struct op_scalar bits = op_scalar_int(word);
    OP_CHAIN_CALL(&chain, "InplaceFillScalar", op_value_tensor(&words), op_value_scalar(&bits));
    return chain.status;
}

static const struct op_tensor *output_of(const struct op_call *call)
{
    unsigned i = call->row->param_count - 1;
    while (i > 0 && call->row->params[i].role == OP_ROLE_IN) {
        i--;
    }
    return call->args[i].tensor;
}

leo_status op_plan_complex(const struct op_call *call)
{
    const char *what = op_row_attr(call->row, "complex");
    const struct op_tensor *first = call->args[0].tensor, *out = output_of(call);
    if (strcmp(what, "angle") == 0 || strcmp(what, "abs") == 0) {
        const bool angle = strcmp(what, "angle") == 0;
        if (op_type_is_complex(first->type)) {
            const struct op_tensor real = op_view_part(first, 0),
                                   imaginary = op_view_part(first, 1);
            return angle ? call_two(call, "Atan2", &imaginary, &real, out)
                         : call_two(call, "Modulus", &real, &imaginary, out);
        }
        const struct op_value args[] = {op_value_tensor(first), op_value_tensor(out)};
        return op_plan_call(call->plan, "RealAngle", args, 2);
    }
    if (strcmp(what, "equal") == 0 || strcmp(what, "differ") == 0) {
        return plan_equal(call, *what == 'e' ? "ComplexEqual" : "ComplexDiffer", out);
    }
    if (!op_type_is_complex(out->type)) {
        return op_call_fail(
            call, LEO_ERR_DTYPE,
            "the output has type %s: a complex result can't be cast to it, only to c64 or c128",
            op_type_name(out->type));
    }
    if (strcmp(what, "fill") == 0) {
        return plan_fill(call, out);
    }
    if (*what >= 'A' && *what <= 'Z') {
        return plan_function(call, what, out);
    }
    if (strcmp(what, "polar") != 0 && strcmp(what, "join") != 0) {
        return plan_arithmetic(call, what, out);
    }
    const struct op_tensor *second = call->args[1].tensor;
    const struct op_tensor real = op_view_part(out, 0), imaginary = op_view_part(out, 1);
    if (strcmp(what, "polar") == 0) {
        leo_status status = call_two(call, "PolarReal", first, second, &real);
        return status != LEO_OK ? status
                                : call_two(call, "PolarImaginary", first, second, &imaginary);
    }
    leo_status status = op_plan_copy(call->plan, &real, first);
    return status != LEO_OK ? status : op_plan_copy(call->plan, &imaginary, second);
}
