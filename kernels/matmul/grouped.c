/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of groups. Groups whose sizes the host knows (tensors of their own, or a list of
 * integers) are products of views; groups in a list on the device are one launch that reads it.
 */
#include "grouped.h"

#include "../frame/dims.h"

enum { PAIRS = -1, ROWS = 0, BETWEEN = 2 }; /* groupType */

struct groups {
    const struct op_tensor_list *x, *weight, *y, *bias; /* bias: NULL if there is none */
    const struct op_ints *ends;                         /* where the host knows them, else NULL */
    const struct op_tensor *list;                       /* where the device does, else NULL */
    int64_t count, type;
    bool counts;
};

/* What only products of i8 have, and what no product here has. */
static const char *const of_bytes[] = {"scaleOptional", "perTokenScaleOptional"};
static const char *const refused[] = {
    "offsetOptional",
    "antiquantScaleOptional",
    "antiquantOffsetOptional",
    "activationInputOptional",
    "activationQuantScaleOptional",
    "activationQuantOffsetOptional",
    "activationFeatureOutOptional",
    "dynQuantScaleOutOptional",
};

// A list with anything in it; callers give lists of nothing for what they leave out.
static const struct op_tensor_list *list_of(const struct op_call *call, const char *name)
{
    const struct op_tensor_list *list = op_call_value(call, name)->tensors;
    for (uint64_t i = 0; list && i < list->count; i++) {
        if (list->items[i] && op_tensor_count(list->items[i]) > 0) {
            return list;
        }
    }
    return NULL;
}

static leo_status check_empty(const struct op_call *call, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (op_call_has(call, names[i]) && list_of(call, names[i])) {
            return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                                "%s must be empty: it is not computed for this type of x",
                                names[i]);
        }
    }
    return LEO_OK;
}

static leo_status check_kind(const struct op_call *call, int64_t type, bool bytes)
{
    leo_status status = check_empty(call, refused, sizeof(refused) / sizeof(refused[0]));
    if (status == LEO_OK && !bytes) {
        status = check_empty(call, of_bytes, sizeof(of_bytes) / sizeof(of_bytes[0]));
    }
    if (status != LEO_OK) {
        return status;
    }
    if (op_call_has(call, "actType") && op_call_int(call, "actType") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "actType is %" PRId64 ": it must be 0",
                            op_call_int(call, "actType"));
    }
    if (op_call_has(call, "groupListType") && (uint64_t)op_call_int(call, "groupListType") > 1) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "groupListType is %" PRId64 ": it must be 0 (ends) or 1 (lengths)",
                            op_call_int(call, "groupListType"));
    }
    if (type != PAIRS && type != ROWS && type != BETWEEN) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "groupType is %" PRId64 ": it must be -1, 0 or 2", type);
    }
    return LEO_OK;
}

static int64_t count_of(const struct groups *g)
{
    const struct op_tensor *weight = g->weight->items[0];
    if (g->type == PAIRS) {
        return (int64_t)g->x->count;
    }
    if (g->type == BETWEEN) {
        return g->list ? op_tensor_count(g->list) : g->ends ? (int64_t)g->ends->count : 0;
    }
    return g->weight->count == 1 && weight->rank == 3 ? weight->dim[0] : (int64_t)g->weight->count;
}

static bool is_one_or(uint64_t count, int64_t groups)
{
    return count == 1 || (int64_t)count == groups;
}

static leo_status check_counts(const struct op_call *call, const struct groups *g)
{
    const int64_t listed = g->ends   ? (int64_t)g->ends->count
                           : g->list ? op_tensor_count(g->list)
                                     : g->count;
    const bool bias_fits = !g->bias || (g->type != BETWEEN && is_one_or(g->bias->count, g->count));
    const bool x_fits = g->type == BETWEEN ? g->x->count == 1 && g->weight->count == 1
                                           : is_one_or(g->x->count, g->count);
    const bool y_fits =
        g->type == PAIRS ? (int64_t)g->y->count == g->count : is_one_or(g->y->count, g->count);
    if (g->count <= 0 || listed != g->count || !bias_fits || !x_fits || !y_fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "groupType %" PRId64 " with %" PRIu64 " x, %" PRIu64
                            " weights, %" PRIu64 " y, %" PRIu64 " biases and a list of %" PRId64
                            " groups: they do not fit",
                            g->type, g->x->count, g->weight->count, g->y->count,
                            g->bias ? g->bias->count : 0, listed);
    }
    return LEO_OK;
}

static leo_status take(const struct op_call *call, struct groups *g)
{
    const struct op_value *given = op_call_value(call, "groupListOptional");
    const bool host = given->kind == OP_KIND_INTS;
    *g = (struct groups){
        .x = op_call_value(call, "x")->tensors,
        .weight = op_call_value(call, "weight")->tensors,
        .y = op_call_value(call, op_call_has(call, "out") ? "out" : "y")->tensors,
        .bias = list_of(call, "biasOptional"),
        .counts = op_call_has(call, "groupListType") && op_call_int(call, "groupListType") == 1,
    };
    if (host && given->ints && given->ints->count) {
        g->ends = given->ints;
    } else if (!host && given->tensor && op_tensor_count(given->tensor)) {
        g->list = given->tensor;
    }
    if (g->x->count == 0 || g->weight->count == 0 || g->y->count == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x, weight or the result is a list of no tensors");
    }
    const bool listed = g->ends || g->list;
    g->type = op_call_has(call, "groupType") ? op_call_int(call, "groupType")
              : listed && g->x->count == 1   ? ROWS
                                             : PAIRS;
    leo_status status = check_kind(call, g->type, g->x->items[0]->type == OP_TYPE_I8);
    g->count = status == LEO_OK ? count_of(g) : 0;
    return status == LEO_OK ? check_counts(call, g) : status;
}

/* ---- parts of the tensors ---- */

// Tensor `index` of a list, or of the first dimension of its only one if that has `rank` + 1.
static bool member(const struct op_tensor_list *list, int64_t index, unsigned rank,
                   struct op_tensor *out)
{
    const struct op_tensor *one = list->items[list->count == 1 ? 0 : index];
    if (list->count == 1 && one->rank == rank + 1) {
        if (index >= one->dim[0]) {
            return false;
        }
        *out = op_view_select(one, 0, index);
        return true;
    }
    *out = *one;
    return (list->count > 1 || index == 0) && one->rank == rank;
}

static leo_status fail_group(const struct op_call *call, int64_t index, const struct op_tensor *a,
                             const struct op_tensor *b, const struct op_tensor *out)
{
    return op_call_fail(
        call, LEO_ERR_SHAPE, "group %" PRId64 ": x %s %s and weight %s %s into %s do not multiply",
        index, op_type_name(a->type), op_tensor_shape_text(a).text, op_type_name(b->type),
        op_tensor_shape_text(b).text, op_tensor_shape_text(out).text);
}

// out = a @ b + bias of one group; a and out may have more dimensions than two.
static leo_status product(const struct op_call *call, const struct groups *g, int64_t index,
                          const struct op_tensor *a, const struct op_tensor *b,
                          const struct op_tensor *out)
{
    struct op_matmul matmul = {.a = *a, .out = *out, .alpha = 1, .beta = 1};
    struct op_tensor row;
    int64_t shape[OP_RANK_MAX];
    bool fits = a->rank >= 2 && b->rank == 2 && out->rank == a->rank && a->type == b->type &&
                a->dim[a->rank - 1] == b->dim[0] && out->dim[a->rank - 1] == b->dim[1];
    for (unsigned i = 0; fits && i + 1 < a->rank; i++) {
        shape[i] = a->dim[i];
        fits = out->dim[i] == a->dim[i];
    }
    if (fits) {
        shape[a->rank - 2] = b->dim[0];
        shape[a->rank - 1] = b->dim[1];
        fits = op_tensor_broadcast(b, a->rank, shape, &matmul.b);
    }
    if (fits && g->bias) {
        matmul.has_self = true;
        fits = member(g->bias, index, 1, &row) &&
               op_tensor_broadcast(&row, out->rank, out->dim, &matmul.self);
    }
    return fits ? op_matmul_plan(call->plan, &matmul) : fail_group(call, index, a, b, out);
}

/* ---- sizes that the host knows ---- */

// Elements of group `index` along what is split; they begin at `begin`.
static int64_t length_of(const struct groups *g, int64_t index, int64_t begin)
{
    return g->x->count > 1 ? g->x->items[index]->dim[0]
           : g->ends       ? g->ends->items[index] - begin
           : g->count == 1 ? g->x->items[0]->dim[g->type == BETWEEN]
                           : g->y->items[index]->dim[0];
}

static leo_status check_span(const struct op_call *call, const struct op_tensor *tensor,
                             unsigned dim, int64_t begin, int64_t length)
{
    if (tensor->rank != 2 || length < 0 || begin + length > tensor->dim[dim]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "a group of %" PRId64 " from %" PRId64 " does not lie in dimension %u "
                            "of %s",
                            length, begin, dim, op_tensor_shape_text(tensor).text);
    }
    return LEO_OK;
}

// The rows of a group in the tensor of all, or its own tensor.
static leo_status rows_of(const struct op_call *call, const struct groups *g,
                          const struct op_tensor_list *list, int64_t index, int64_t begin,
                          int64_t length, struct op_tensor *out)
{
    if (g->type == PAIRS || list->count > 1) {
        *out = *list->items[index];
        return LEO_OK;
    }
    leo_status status = check_span(call, list->items[0], 0, begin, length);
    if (status == LEO_OK) {
        *out = op_view_slice(list->items[0], 0, begin, length);
    }
    return status;
}

static leo_status plan_rows(const struct op_call *call, const struct groups *g)
{
    leo_status status = LEO_OK;
    int64_t begin = 0;
    for (int64_t i = 0; status == LEO_OK && i < g->count; i++) {
        const int64_t length = g->type == PAIRS ? 0 : length_of(g, i, begin);
        struct op_tensor a, b = *g->weight->items[0], out;
        status = rows_of(call, g, g->x, i, begin, length, &a);
        if (status == LEO_OK) {
            status = rows_of(call, g, g->y, i, begin, length, &out);
        }
        if (status == LEO_OK && !member(g->weight, i, 2, &b)) {
            status = fail_group(call, i, &a, &b, &out);
        }
        if (status == LEO_OK) {
            status = product(call, g, i, &a, &b, &out);
        }
        begin += length;
    }
    return status;
}

static leo_status plan_between(const struct op_call *call, const struct groups *g)
{
    const struct op_tensor *x = g->x->items[0], *weight = g->weight->items[0];
    leo_status status = LEO_OK;
    int64_t begin = 0;
    for (int64_t i = 0; status == LEO_OK && i < g->count; i++) {
        const int64_t length = length_of(g, i, begin);
        struct op_tensor out = *g->y->items[0];
        status = check_span(call, x, 1, begin, length);
        if (status == LEO_OK) {
            status = check_span(call, weight, 0, begin, length);
        }
        if (status == LEO_OK && !member(g->y, i, 2, &out)) {
            status = fail_group(call, i, x, weight, &out);
        }
        if (status == LEO_OK) {
            const struct op_tensor a = op_view_slice(x, 1, begin, length),
                                   b = op_view_slice(weight, 0, begin, length);
            status = product(call, g, i, &a, &b, &out);
        }
        begin += length;
    }
    return status;
}

/* ---- sizes that the device knows ---- */

static leo_status check_device_shapes(const struct op_call *call, const struct groups *g,
                                      const struct op_tensor *b, const struct op_tensor *out,
                                      const struct op_tensor *bias)
{
    const struct op_tensor *x = g->x->items[0];
    const bool split_k = g->type == BETWEEN;
    const unsigned n = b->rank - 1;
    bool fits = x->rank == 2 && b->rank == (split_k ? 2 : 3) && out->rank == (split_k ? 3 : 2) &&
                x->type == b->type && x->dim[1] == b->dim[n - 1] &&
                out->dim[out->rank - 2] == x->dim[0] && out->dim[out->rank - 1] == b->dim[n] &&
                (split_k || x->dim[1] > 0);
    fits = fits &&
           (!bias || (bias->rank == 2 && bias->dim[0] == b->dim[0] && bias->dim[1] == b->dim[n]));
    return fits ? LEO_OK : fail_group(call, 0, x, b, out);
}

// Groups from `first` on, as many as b (or, of k, out) holds.
static leo_status launch(const struct op_call *call, const struct groups *g, int64_t first,
                         const struct op_tensor *b, const struct op_tensor *out,
                         const struct op_tensor *bias)
{
    const bool split_k = g->type == BETWEEN;
    leo_status status = check_device_shapes(call, g, b, out, bias);
    const struct op_matmul_grouped grouped = {
        .a = *g->x->items[0],
        .b = *b,
        .out = *out,
        .bias = bias,
        .list = *g->list,
        .first = first,
        .groups = split_k ? out->dim[0] : b->dim[0],
        .counts = g->counts,
        .split_k = split_k,
    };
    if (status == LEO_OK && split_k) { // a group of nothing has the product 0
        struct op_chain chain = op_chain_begin(call);
        op_chain_fill(&chain, out, 0);
        status = chain.status;
    }
    return status == LEO_OK ? op_matmul_grouped_plan(call, &grouped) : status;
}

static leo_status plan_on_device(const struct op_call *call, const struct groups *g)
{
    const bool split_k = g->type == BETWEEN;
    const struct op_tensor_list *several = split_k ? g->y : g->weight;
    const struct op_tensor *b = g->weight->items[0], *out = g->y->items[0];
    const bool whole = several->count == 1 && several->items[0]->rank == 3;
    if (whole && (!g->bias || g->bias->count == 1)) {
        struct op_tensor bias;
        if (g->bias) {
            bias = *g->bias->items[0];
            bias = bias.rank == 1 ? op_view_insert(&bias, 0) : bias;
        }
        return launch(call, g, 0, b, out, g->bias ? &bias : NULL);
    }
    leo_status status = LEO_OK;
    for (int64_t i = 0; status == LEO_OK && i < g->count; i++) {
        struct op_tensor one, bias;
        if (!member(several, i, 2, &one) || (g->bias && !member(g->bias, i, 1, &bias))) {
            return fail_group(call, i, g->x->items[0], b, out);
        }
        one = op_view_insert(&one, 0);
        bias = g->bias ? op_view_insert(&bias, 0) : one;
        status =
            launch(call, g, i, split_k ? b : &one, split_k ? &one : out, g->bias ? &bias : NULL);
    }
    return status;
}

/* ---- i8 ---- */

static const struct op_tensor *only(const struct op_call *call, const char *name)
{
    const struct op_tensor_list *list = op_call_has(call, name) ? list_of(call, name) : NULL;
    return list ? list->items[0] : NULL;
}

static bool has_one(const struct op_call *call, const char *name)
{
    const struct op_tensor_list *list = op_call_has(call, name) ? list_of(call, name) : NULL;
    return !list || list->count == 1;
}

static leo_status plan_bytes(const struct op_call *call, const struct groups *g)
{
    if (g->type != ROWS || !g->list || g->x->count != 1 || g->weight->count != 1 ||
        g->y->count != 1 || !has_one(call, "scaleOptional") ||
        !has_one(call, "perTokenScaleOptional") || (g->bias && g->bias->count != 1)) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "groups of i8 need one x, one weight, one result, groupType 0 and a "
                            "groupList on the device");
    }
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(&chain, "GroupedBytes", op_value_tensor(g->x->items[0]),
                  op_value_tensor(g->weight->items[0]),
                  op_value_tensor(g->bias ? g->bias->items[0] : NULL),
                  op_value_tensor(only(call, "scaleOptional")),
                  op_value_tensor(only(call, "perTokenScaleOptional")), op_value_tensor(g->list),
                  op_value_int(g->counts), op_value_tensor(g->y->items[0]));
    return chain.status;
}

leo_status op_plan_grouped(const struct op_call *call)
{
    struct groups g;
    leo_status status = take(call, &g);
    if (status != LEO_OK) {
        return status;
    }
    if (g.x->items[0]->type == OP_TYPE_I8) {
        return plan_bytes(call, &g);
    }
    const bool own = g.type == PAIRS || g.x->count > 1 || (g.type == ROWS && g.y->count > 1);
    if (g.list && !own) {
        return plan_on_device(call, &g);
    }
    if (g.type == ROWS && !own && !g.ends && g.count > 1) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "one x and one y for %" PRId64 " groups need a groupList", g.count);
    }
    return g.type == BETWEEN ? plan_between(call, &g) : plan_rows(call, &g);
}
