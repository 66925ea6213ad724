/* SPDX-License-Identifier: Apache-2.0 */
/* Products of groups of i8 with what follows them in a mixture of experts: a gate whose rows are
 * quantised again, or the sum of what the experts made for each token. */
#include "rows.h"

#include <inttypes.h>

struct call_names {
    const char *x, *weight, *scale, *row, *list, *kind;
};

static const char *first_of(const struct op_call *call, const char *const *names)
{
    while (names[1] && !op_call_has(call, *names)) {
        names++;
    }
    return *names;
}

static struct call_names names_of(const struct op_call *call)
{
    static const char *const x[] = {"x1", "x", "x_wrapper", NULL},
                             *const weight[] = {"x2", "w", "weight", "weight_wrapper", NULL},
                             *const scale[] = {"scaleOptional", "scale", "weightScale",
                                               "weight_scale_wrapper", NULL},
                             *const row[] = {"pertokenScaleOptional", "xScale", "x_scale_wrapper",
                                             NULL},
                             *const list[] = {"groupListOptional", "groupList", "group_list", NULL},
                             *const kind[] = {"groupListType", "group_list_type_real", "", NULL};
    return (struct call_names){first_of(call, x),   first_of(call, weight), first_of(call, scale),
                               first_of(call, row), first_of(call, list),   first_of(call, kind)};
}

// The tensor of that name, or the only one of a list; NULL: none, or several.
static const struct op_tensor *only(const struct op_call *call, const char *name)
{
    const struct op_value *value = op_call_value(call, name);
    if (value->kind == OP_KIND_TENSOR_LIST) {
        return value->tensors && value->tensors->count == 1 ? value->tensors->items[0] : NULL;
    }
    return value->tensor;
}

static leo_status check_refused(const struct op_call *call)
{
    static const char *const refused[] = {
        "bias",
        "biasOptional",
        "bias_real",
        "offset",
        "offsetOptional",
        "antiquantScaleOptional",
        "antiquantOffsetOptional",
        "smooth_scale_real",
    };
    static const char *const zero[] = {"transposeX",  "transposeX1",       "transposeW",
                                       "transposeX2", "dequant_mode_real", "quant_mode_real",
                                       "dtype"};
    for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (op_call_given(call, refused[i])) {
            return op_call_fail(call, LEO_ERR_UNSUPPORTED, "%s must be NULL: it is not computed",
                                refused[i]);
        }
    }
    for (unsigned i = 0; i < sizeof(zero) / sizeof(zero[0]); i++) {
        if (op_call_has(call, zero[i]) && op_call_int(call, zero[i]) != 0) {
            return op_call_fail(call, LEO_ERR_UNSUPPORTED, "%s is %" PRId64 ": it must be 0",
                                zero[i], op_call_int(call, zero[i]));
        }
    }
    return LEO_OK;
}

// What the experts made of x, scaled, f32 [rows, columns].
static leo_status product(struct op_chain *chain, struct op_tensor *out)
{
    const struct op_call *call = chain->call;
    const struct call_names n = names_of(call);
    const struct op_tensor *x = op_call_tensor(call, n.x), *weight = only(call, n.weight),
                           *scale = only(call, n.scale), *row = op_call_tensor(call, n.row),
                           *list = op_call_tensor(call, n.list);
    if (!weight || !scale || !row || !list || x->rank != 2 || weight->rank != 3) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s of shape %s needs one %s of three dimensions, one %s, %s and %s",
                            n.x, op_tensor_shape_text(x).text, n.weight, n.scale, n.row, n.list);
    }
    const int64_t shape[] = {x->dim[0], weight->dim[2]},
                  counts = *n.kind ? op_call_int(call, n.kind) : 0;
    if ((uint64_t)counts > 1) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "%s is %" PRId64 ": it must be 0 or 1",
                            n.kind, counts);
    }
    *out = op_chain_temp(chain, OP_TYPE_F32, 2, shape);
    OP_CHAIN_CALL(chain, "GroupedBytes", op_value_tensor(x), op_value_tensor(weight),
                  op_value_tensor(NULL), op_value_tensor(scale), op_value_tensor(row),
                  op_value_tensor(list), op_value_int(counts), op_value_tensor(out));
    return chain->status;
}

leo_status op_plan_grouped_gate(const struct op_call *call)
{
    const char *out_name = op_call_has(call, "output") ? "output" : "output_wrapper",
               *scale_name =
                   op_call_has(call, "outputScale") ? "outputScale" : "output_scale_wrapper";
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor made;
    leo_status status = check_refused(call);
    if (status == LEO_OK) {
        status = product(&chain, &made);
    }
    if (status == LEO_OK && made.dim[1] % 2) {
        status = op_call_fail(call, LEO_ERR_SHAPE,
                              "weights have %" PRId64 " columns: an odd number", made.dim[1]);
    }
    if (status == LEO_OK) {
        status = op_quant_check_out(call, out_name, &made, made.dim[1] / 2);
    }
    if (status == LEO_OK) {
        status = op_quant_check_scale(call, scale_name, &made);
    }
    if (status != LEO_OK || op_tensor_count(&made) == 0) {
        return status;
    }
    const int64_t half = made.dim[1] / 2;
    const struct op_tensor a = op_view_slice(&made, 1, 0, half),
                           b = op_view_slice(&made, 1, half, half),
                           gated = op_chain_temp_like(&chain, OP_TYPE_F32, &a);
    OP_CHAIN_CALL(&chain, "GateSwish", op_value_tensor(&a), op_value_tensor(&b),
                  op_value_tensor(&gated));
    op_quant_dynamic(&chain, &gated, op_call_tensor(call, out_name),
                     op_call_tensor(call, scale_name), NULL);
    return chain.status;
}

/* ---- the sum for each token ---- */

struct combine {
    const struct op_tensor *shared, *logit, *row, *out;
    int64_t offset;
    double weight;
};

static leo_status take_combine(const struct op_call *call, struct combine *c)
{
    const bool plain = op_call_has(call, "logit");
    *c = (struct combine){
        .shared = op_call_given(call, plain ? "sharedInput" : "sharedInputOptional"),
        .logit = op_call_tensor(call, plain ? "logit" : "logitOptional"),
        .row = op_call_tensor(call, plain ? "rowIndex" : "rowIndexOptional"),
        .out = op_call_tensor(call, op_call_has(call, "out") ? "out" : "y"),
        .offset = op_call_int(call, "sharedInputOffset"),
        .weight = op_call_real(call, "sharedInputWeight"),
    };
    if (!c->logit || !c->row) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "logit and rowIndex must be given");
    }
    const struct op_tensor *out = c->out, *shared = c->shared;
    const bool fits = out->rank == 2 && c->logit->rank == 1 && c->row->rank == 1 &&
                      op_tensor_same_shape(c->logit, c->row) &&
                      (!shared || (shared->rank == 2 && shared->dim[1] == out->dim[1] &&
                                   c->offset >= 0 && c->offset + shared->dim[0] <= out->dim[0]));
    if (!fits) {
        return op_moe_fail_shapes(call, c->logit, shared ? shared : c->row, out);
    }
    return out->type == OP_TYPE_F32 ? LEO_OK
                                    : op_call_fail(call, LEO_ERR_DTYPE, "the result is %s: f32",
                                                   op_type_name(out->type));
}

static void put_shared(struct op_chain *chain, const struct combine *c)
{
    const struct op_scalar factor = op_scalar_real(c->weight);
    op_chain_fill(chain, c->out, 0);
    if (c->shared) {
        const struct op_tensor to = op_view_slice(c->out, 0, c->offset, c->shared->dim[0]);
        OP_CHAIN_CALL(chain, "Muls", op_value_tensor(c->shared), op_value_scalar(&factor),
                      op_value_tensor(&to));
    }
}

leo_status op_plan_grouped_combine(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    struct combine c;
    struct op_tensor made;
    leo_status status = check_refused(call);
    if (status == LEO_OK) {
        status = take_combine(call, &c);
    }
    if (status == LEO_OK) {
        status = product(&chain, &made);
    }
    if (status == LEO_OK && (made.dim[0] != c.row->dim[0] || made.dim[1] != c.out->dim[1])) {
        status = op_moe_fail_shapes(call, &made, c.row, c.out);
    }
    if (status != LEO_OK) {
        return status;
    }
    put_shared(&chain, &c);
    if (op_tensor_count(&made) > 0) {
        const struct op_scalar one = op_scalar_int(1);
        const struct op_tensor logit = op_view_insert(c.logit, 1);
        OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&made), op_value_tensor(&logit),
                      op_value_tensor(&made));
        OP_CHAIN_CALL(&chain, "IndexAdd", op_value_tensor(c.out), op_value_int(0),
                      op_value_tensor(c.row), op_value_tensor(&made), op_value_scalar(&one),
                      op_value_tensor(c.out));
    }
    return chain.status;
}
