/* SPDX-License-Identifier: Apache-2.0 */
/* Elements joined at the places of an index, with or without what stood there; parts of lists of
 * tensors. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum reduce { REPLACE, ADD, MULTIPLY, MOST, LEAST, MEAN, REDUCES };

// What joins with a number to that number; of integers the ends of their type.
static struct op_scalar neutral(enum reduce reduce, enum op_type type)
{
    if (reduce < MOST || reduce == MEAN) {
        return op_scalar_int(reduce == MULTIPLY);
    }
    if (op_type_is_float(type)) {
        return op_scalar_real(reduce == MOST ? -INFINITY : INFINITY);
    }
    const unsigned bits = 8 * op_type_bytes(type);
    const bool is_signed = op_type_is_integer(type) && type != OP_TYPE_U8;
    const int64_t most = type == OP_TYPE_BOOL ? 1
                         : is_signed          ? (int64_t)(UINT64_MAX >> (65 - bits))
                                              : (INT64_C(1) << bits) - 1;
    return op_scalar_int(reduce == LEAST ? most : is_signed ? -most - 1 : 0);
}

static void put_number(struct op_chain *chain, const struct op_tensor *to, struct op_scalar number)
{
    const struct op_call *call = chain->call;
    OP_CHAIN_CALL(chain, "InplaceScatterValue", op_value_tensor(to), *op_call_value(call, "dim"),
                  *op_call_value(call, "index"), op_value_scalar(&number), op_value_int(0));
}

static void join(struct op_chain *chain, const struct op_tensor *to, const struct op_tensor *src,
                 int64_t reduce)
{
    const struct op_call *call = chain->call;
    OP_CHAIN_CALL(chain, reduce > MULTIPLY ? "ScatterGeneral" : "InplaceScatter",
                  op_value_tensor(to), *op_call_value(call, "dim"), *op_call_value(call, "index"),
                  op_value_tensor(src), op_value_int(reduce));
}

// Divides sums by how many came to each place; one where none came.
static void divide(struct op_chain *chain, const struct op_tensor *out, bool include)
{
    const struct op_tensor *index = op_call_tensor(chain->call, "index"),
                           count = op_chain_temp_like(chain, OP_TYPE_I64, out),
                           one = op_chain_temp_like(chain, OP_TYPE_I64, index);
    op_chain_fill(chain, &count, 1);
    op_chain_fill(chain, &one, 1);
    if (!include) {
        put_number(chain, &count, op_scalar_int(0));
    }
    join(chain, &count, &one, ADD);
    OP_CHAIN_CALL(chain, op_type_is_float(out->type) ? "InplaceDiv" : "InplaceFloorDivide",
                  op_value_tensor(out), op_value_tensor(&count));
}

leo_status op_plan_scatter_reduce(const struct op_call *call)
{
    const bool in_place = op_call_has(call, "selfRef");
    const struct op_tensor *self = op_call_tensor(call, in_place ? "selfRef" : "self"),
                           *out = in_place ? self : op_call_tensor(call, "out"),
                           *src = op_call_tensor(call, "src");
    const int64_t reduce = op_call_int(call, "reduce");
    const bool include = op_call_int(call, "includeSelf") != 0;
    leo_status status = in_place ? LEO_OK : op_call_check_shape(call, "out", self->rank, self->dim);
    if (status == LEO_OK && (reduce < REPLACE || reduce >= REDUCES)) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                              "reduce is %" PRId64 ": 0 replace, 1 add, 2 multiply, 3 largest, 4 "
                              "smallest and 5 mean are possible",
                              reduce);
    }
    if (status == LEO_OK && (self->type != out->type || self->type != src->type)) {
        status = op_call_fail(call, LEO_ERR_DTYPE, "self is %s, src %s, out %s: one type",
                              op_type_name(self->type), op_type_name(src->type),
                              op_type_name(out->type));
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (op_tensor_alias(self, out) != OP_ALIAS_SAME) {
        op_chain_copy(&chain, out, self);
    }
    if (!include && reduce != REPLACE) {
        put_number(&chain, out, neutral((enum reduce)reduce, out->type));
    }
    join(&chain, out, src, reduce == MEAN ? ADD : reduce);
    if (reduce == MEAN) {
        divide(&chain, out, include);
    }
    return chain.status;
}

/* ---- parts of lists of tensors ---- */

struct parts {
    const struct op_tensor_list *vars;
    const struct op_tensor *indice, *updates, *mask;
    unsigned axis; /* of a tensor of the list */
};

static bool fits_list(const struct parts *p)
{
    const struct op_tensor *indice = p->indice, *updates = p->updates;
    const int64_t count = (int64_t)p->vars->count;
    bool fits = updates->dim[0] == count && indice->rank >= 1 && indice->rank <= 2 &&
                indice->dim[0] == count && (indice->rank == 1 || indice->dim[1] == 2) &&
                (!p->mask || (p->mask->rank == 1 && p->mask->dim[0] == count));
    for (uint64_t k = 0; fits && k < p->vars->count; k++) {
        const struct op_tensor *var = p->vars->items[k];
        fits = var->rank + 1 == updates->rank && var->type == updates->type;
        for (unsigned i = 0; fits && i < var->rank; i++) {
            fits = i == p->axis ? updates->dim[i + 1] <= var->dim[i]
                                : updates->dim[i + 1] == var->dim[i];
        }
    }
    return fits;
}

static leo_status take(const struct op_call *call, struct parts *p)
{
    *p = (struct parts){op_call_value(call, "varRef")->tensors, op_call_tensor(call, "indice"),
                        op_call_tensor(call, "updates"), op_call_tensor(call, "maskOptional"), 0};
    const char *reduce = op_call_value(call, "reduceOptional")->text;
    if (reduce && strcmp(reduce, "update") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "reduce is %s, it must be update", reduce);
    }
    unsigned axis = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "axis"), p->updates->rank, &axis);
    if (status != LEO_OK) {
        return status;
    }
    p->axis = axis ? axis - 1 : 0;
    if (axis == 0 || p->updates->rank == 0 || !fits_list(p)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "updates %s at axis %u, indice %s: the first dimension of both is the "
                            "number of tensors in varRef (%" PRIu64 "), whose shapes are the rest",
                            op_tensor_shape_text(p->updates).text, axis,
                            op_tensor_shape_text(p->indice).text, p->vars->count);
    }
    return LEO_OK;
}

// Number k of a list of each tensor as one i64; `value` if there is no list.
static struct op_tensor number_of(struct op_chain *chain, const struct op_tensor *list, uint64_t k,
                                  int64_t column, int64_t value)
{
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_I64, 0, NULL);
    if (!list) {
        op_chain_fill(chain, &out, (double)value);
        return out;
    }
    struct op_tensor from = op_view_select(list, 0, (int64_t)k);
    from = from.rank ? op_view_select(&from, 0, column) : from;
    op_chain_copy(chain, &out, &from);
    return out;
}

static void put_part(struct op_chain *chain, const struct parts *p, uint64_t k,
                     const struct op_tensor *steps)
{
    const struct op_tensor from = op_view_select(p->updates, 0, (int64_t)k),
                           first = number_of(chain, p->indice, k, 0, 0),
                           length = number_of(chain, p->indice->rank == 2 ? p->indice : NULL, k, 1,
                                              steps->dim[0]),
                           wanted = number_of(chain, p->mask, k, 0, 1),
                           places = op_chain_temp_like(chain, OP_TYPE_I64, steps);
    struct op_tensor index = from;
    OP_CHAIN_CALL(chain, "ScatterListPlace", op_value_tensor(steps), op_value_tensor(&first),
                  op_value_tensor(&length), op_value_tensor(&wanted), op_value_tensor(&places));
    index.addr = places.addr;
    index.type = OP_TYPE_I64;
    for (unsigned i = 0; i < index.rank; i++) {
        index.stride[i] = i == p->axis;
    }
    OP_CHAIN_CALL(chain, "ScatterGeneral", op_value_tensor(p->vars->items[k]),
                  op_value_int(p->axis), op_value_tensor(&index), op_value_tensor(&from),
                  op_value_int(REPLACE));
}

leo_status op_plan_scatter_list(const struct op_call *call)
{
    struct parts p;
    leo_status status = take(call, &p);
    if (status != LEO_OK || op_tensor_count(p.updates) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t length = p.updates->dim[p.axis + 1];
    const struct op_tensor steps = op_chain_temp(&chain, OP_TYPE_I64, 1, &length);
    op_chain_range(&chain, &steps, 0, 1);
    for (uint64_t k = 0; k < p.vars->count; k++) {
        put_part(&chain, &p, k, &steps);
    }
    return chain.status;
}
