/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that do in one call what others do in two: a sum and its normalisation, an activation
 * and a product. The sum is made once, in the type of the inputs. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>
#include <string.h>

/* The parameters of a call, under one name each; NULL: it has none. */
struct names {
    const char *a, *b, *sum, *out, *mean, *inverse;
};

static const struct names normal = {"x1", "x2", "xOut", "yOut", NULL, "rstdOut"};
static const struct names in_place = {"x1Ref", "x2Ref", "x2Ref", "x1Ref", NULL, "rstdOut"};
static const struct names layer = {"x1", "x2", "xOut", "yOut", "meanOut", "rstdOut"};
static const struct names deep = {"x", "gx", NULL, "yOut", "meanOut", "rstdOut"};

static const struct op_tensor *tensor_of(const struct op_call *call, const char *name)
{
    return name ? op_call_optional(call, name) : NULL;
}

static const struct names *names_of(const struct op_call *call)
{
    const char *kind = op_row_attr(call->row, "norm");
    return strcmp(kind, "layer") == 0   ? &layer
           : strcmp(kind, "deep") == 0  ? &deep
           : op_call_has(call, "x1Ref") ? &in_place
                                        : &normal;
}

// factor * a + b, plus a bias of the row if there is one.
static void add(struct op_chain *chain, const struct op_tensor *a, double factor,
                const struct op_tensor *b, const struct op_tensor *bias,
                const struct op_tensor *sum)
{
    const struct op_scalar one = op_scalar_int(1), alpha = op_scalar_real(factor);
    if (bias) {
        OP_CHAIN_CALL(chain, "AddRmsSum", op_value_tensor(a), op_value_tensor(b),
                      op_value_tensor(bias), op_value_real(factor), op_value_tensor(sum));
    } else if (factor == 1) {
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(a), op_value_tensor(b), op_value_scalar(&one),
                      op_value_tensor(sum));
    } else {
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(b), op_value_tensor(a), op_value_scalar(&alpha),
                      op_value_tensor(sum));
    }
}

static void layer_norm(struct op_chain *chain, const struct op_tensor *x,
                       const struct op_tensor *gamma, const struct op_tensor *beta, double eps,
                       const struct op_tensor *out, const struct op_tensor *mean,
                       const struct op_tensor *inverse)
{
    const struct op_ints shape = {gamma->dim, gamma->rank};
    OP_CHAIN_CALL(chain, "LayerNorm", op_value_tensor(x), op_value_ints(&shape),
                  op_value_tensor(gamma), op_value_tensor(beta), op_value_real(eps),
                  op_value_tensor(out), op_value_tensor(mean), op_value_tensor(inverse));
}

static void rms_norm(struct op_chain *chain, const struct op_tensor *x,
                     const struct op_tensor *gamma, double eps, const struct op_tensor *out,
                     const struct op_tensor *inverse)
{
    struct op_tensor unused;
    if (!inverse) { // RmsNorm always gives it
        int64_t dim[OP_RANK_MAX];
        memcpy(dim, x->dim, sizeof(dim));
        for (unsigned i = 0; i < gamma->rank && i < x->rank; i++) {
            dim[x->rank - 1 - i] = 1;
        }
        unused = op_chain_temp(chain, OP_TYPE_F32, x->rank, dim);
        inverse = &unused;
    }
    OP_CHAIN_CALL(chain, "RmsNorm", op_value_tensor(x), op_value_tensor(gamma), op_value_real(eps),
                  op_value_tensor(out), op_value_tensor(inverse));
}

leo_status op_plan_add_norm(const struct op_call *call)
{
    const struct names *names = names_of(call);
    const struct op_tensor *a = op_call_tensor(call, names->a), *b = op_call_tensor(call, names->b);
    const struct op_tensor *sum = tensor_of(call, names->sum);
    const double eps = op_call_real(call, "epsilon");
    if (!op_tensor_same_shape(a, b)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s, %s %s: they must be the same",
                            names->a, op_tensor_shape_text(a).text, names->b,
                            op_tensor_shape_text(b).text);
    }
    leo_status status = op_call_check_shape(call, names->out, a->rank, a->dim);
    // Without additionalOutput the sum is not wanted, whatever xOut is.
    const bool wanted =
        sum && (!op_call_has(call, "additionalOutput") || op_call_int(call, "additionalOutput"));
    if (status == LEO_OK && wanted) {
        status = op_call_check_shape(call, names->sum, a->rank, a->dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = wanted ? *sum : op_chain_temp_like(&chain, a->type, a);
    add(&chain, a, op_call_has(call, "alpha") ? op_call_real(call, "alpha") : 1, b,
        tensor_of(call, "biasOptional"), &made);
    const struct op_tensor *out = op_call_tensor(call, names->out);
    if (names->mean) {
        layer_norm(&chain, &made, op_call_tensor(call, "gamma"), op_call_tensor(call, "beta"), eps,
                   out, tensor_of(call, names->mean), tensor_of(call, names->inverse));
    } else {
        rms_norm(&chain, &made, op_call_tensor(call, "gamma"), eps, out,
                 tensor_of(call, names->inverse));
    }
    return chain.status;
}

leo_status op_plan_add_norm_gradient(const struct op_call *call)
{
    const bool is_deep = strcmp(op_row_attr(call->row, "norm"), "deep") == 0;
    const struct op_tensor *a = op_call_tensor(call, is_deep ? "x" : "x1"),
                           *b = op_call_tensor(call, is_deep ? "gx" : "x2"),
                           *gamma = op_call_tensor(call, "gamma"),
                           *dx = op_call_tensor(call, is_deep ? "dgxOut" : "dxOut"),
                           *more = tensor_of(call, "dsumOptional");
    static const bool all[] = {true, true, true};
    const struct op_bools mask = {all, 3};
    const struct op_ints shape = {gamma->dim, gamma->rank};
    const struct op_scalar one = op_scalar_int(1);
    if (!op_tensor_same_shape(a, b) || !op_tensor_same_shape(a, dx)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "inputs of shapes %s and %s, gradient of %s",
                            op_tensor_shape_text(a).text, op_tensor_shape_text(b).text,
                            op_tensor_shape_text(dx).text);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sum = op_chain_temp_like(&chain, a->type, a);
    const double alpha = is_deep ? op_call_real(call, "alpha") : 1;
    // What is worked on further is not rounded before: a gradient may cancel against dsum.
    const struct op_tensor made = more || is_deep ? op_chain_wide(&chain, dx) : *dx;
    add(&chain, a, alpha, b, NULL, &sum);
    OP_CHAIN_CALL(&chain, "LayerNormBackward", op_value_tensor(op_call_tensor(call, "dy")),
                  op_value_tensor(&sum), op_value_ints(&shape),
                  op_value_tensor(op_call_tensor(call, "mean")),
                  op_value_tensor(op_call_tensor(call, "rstd")), op_value_tensor(gamma),
                  op_value_tensor(NULL), op_value_bools(&mask), op_value_tensor(&made),
                  op_value_tensor(op_call_tensor(call, "dgammaOut")),
                  op_value_tensor(op_call_tensor(call, "dbetaOut")));
    if (more) {
        OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&made), op_value_tensor(more),
                      op_value_scalar(&one), op_value_tensor(dx));
    }
    if (is_deep) {
        const struct op_scalar factor = op_scalar_real(alpha);
        OP_CHAIN_CALL(&chain, "Muls", op_value_tensor(&made), op_value_scalar(&factor),
                      op_value_tensor(op_call_tensor(call, "dxOut")));
        op_chain_give(&chain, dx, &made);
    }
    return chain.status;
}

leo_status op_plan_gemma_norm(const struct op_call *call)
{
    const struct op_tensor *gamma = op_call_tensor(call, "gamma");
    const struct op_scalar one = op_scalar_int(1);
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor factor = op_chain_temp_like(&chain, OP_TYPE_F32, gamma);
    OP_CHAIN_CALL(&chain, "Adds", op_value_tensor(gamma), op_value_scalar(&one),
                  op_value_scalar(&one), op_value_tensor(&factor));
    rms_norm(&chain, op_call_tensor(call, "x"), &factor, op_call_real(call, "epsilon"),
             op_call_tensor(call, "yOut"), op_call_tensor(call, "rstdOut"));
    return chain.status;
}

leo_status op_plan_fast_layer_norm(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    op_chain_call(&chain, "LayerNorm", call->args, 8);
    return chain.status;
}

leo_status op_plan_group_norm_swish(const struct op_call *call)
{
    const bool swish = op_call_has(call, "swishScale");
    const struct op_tensor *x = op_call_tensor(call, swish ? "x" : "self"),
                           *out = op_call_tensor(call, swish ? "yOut" : "out");
    if (x->rank < 2) {
        return op_call_fail(call, LEO_ERR_SHAPE, "the input has shape %s: it must be [N, C, ...]",
                            op_tensor_shape_text(x).text);
    }
    const char *flag = swish ? "activateSwish" : "activateSilu";
    const bool active = !op_call_has(call, flag) || op_call_int(call, flag);
    const struct op_scalar scale = op_scalar_real(swish ? op_call_real(call, "swishScale") : 1);
    int64_t plane = 1;
    for (unsigned i = 2; i < x->rank; i++) {
        plane *= x->dim[i];
    }
    leo_status status = op_call_check_shape(call, swish ? "yOut" : "out", x->rank, x->dim);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = active ? op_chain_temp_like(&chain, OP_TYPE_F32, x) : *out;
    OP_CHAIN_CALL(&chain, "GroupNorm", op_value_tensor(x),
                  op_value_tensor(op_call_tensor(call, "gamma")),
                  op_value_tensor(op_call_tensor(call, "beta")), op_value_int(x->dim[0]),
                  op_value_int(x->dim[1]), op_value_int(plane),
                  op_value_int(op_call_int(call, swish ? "numGroups" : "group")),
                  op_value_real(op_call_real(call, "eps")), op_value_tensor(&made),
                  op_value_tensor(op_call_tensor(call, "meanOut")),
                  op_value_tensor(op_call_tensor(call, "rstdOut")));
    if (active) {
        OP_CHAIN_CALL(&chain, "Swish", op_value_tensor(&made), op_value_scalar(&scale),
                      op_value_tensor(out));
    }
    return chain.status;
}

// approximate: absent or "none" by erf, "tanh"; -1 otherwise.
static int approximation(const char *text)
{
    return !text || strcmp(text, "none") == 0 ? 0 : strcmp(text, "tanh") == 0 ? 1 : -1;
}

leo_status op_plan_gelu_mul(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "input"), *out = op_call_tensor(call, "out");
    const int how = approximation(op_call_value(call, "approximateOptional")->text);
    const unsigned last = x->rank - 1;
    if (x->rank == 0 || x->dim[last] % 2 || how < 0) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "input has shape %s: its last dimension must be even (approximate none "
                            "or tanh)",
                            op_tensor_shape_text(x).text);
    }
    const int64_t half = x->dim[last] / 2;
    const struct op_tensor a = op_view_slice(x, last, 0, half),
                           b = op_view_slice(x, last, half, half);
    leo_status status = op_call_check_shape(call, "out", a.rank, a.dim);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, OP_TYPE_F32, &a);
    OP_CHAIN_CALL(&chain, "GeluV2", op_value_tensor(&a), op_value_int(how), op_value_tensor(&made));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&made), op_value_tensor(&b), op_value_tensor(out));
    return chain.status;
}

leo_status op_plan_gelu_backward_v2(const struct op_call *call)
{
    const char *text = op_call_value(call, "approximate")->text;
    const int how = approximation(text);
    if (how < 0) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "approximate is %s: it must be none or tanh",
                            text);
    }
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *gradient = op_call_tensor(call, "gradOutput");
    unsigned rank = 0;
    int64_t dim[OP_RANK_MAX];
    if (!op_shape_join(gradient, &rank, dim) || !op_shape_join(self, &rank, dim)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "self of shape %s does not broadcast with gradOutput of shape %s",
                            op_tensor_shape_text(self).text, op_tensor_shape_text(gradient).text);
    }
    leo_status status = op_call_check_shape(call, "gradInput", rank, dim);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(&chain, how ? "GeluBackward" : "GeluErfGrad", op_value_tensor(gradient),
                  op_value_tensor(self), op_value_tensor(op_call_tensor(call, "gradInput")));
    return chain.status;
}
