/* SPDX-License-Identifier: Apache-2.0 */
/* Gates and activations with something more: limits, a normalisation before them, several parts. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

leo_status op_plan_clipped_swiglu(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *out = op_call_tensor(call, "out");
    const bool interleaved = op_call_int(call, "interleaved") != 0;
    unsigned dim;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), x->rank, &dim);
    if (status != LEO_OK) {
        return status;
    }
    if (x->rank == 0 || x->dim[dim] % 2) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x of shape %s has no even dimension %u",
                            op_tensor_shape_text(x).text, dim);
    }
    if (op_call_tensor(call, "groupIndexOptional")) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "groupIndex must be NULL");
    }
    const int64_t half = x->dim[dim] / 2;
    const struct op_tensor a = interleaved ? op_view_every_second(x, dim, 0)
                                           : op_view_slice(x, dim, 0, half),
                           b = interleaved ? op_view_every_second(x, dim, 1)
                                           : op_view_slice(x, dim, half, half);
    status = op_call_check_shape(call, "out", a.rank, a.dim);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(&chain, "ClippedGate", op_value_tensor(&a), op_value_tensor(&b),
                  *op_call_value(call, "alpha"), *op_call_value(call, "limit"),
                  *op_call_value(call, "bias"), op_value_tensor(out));
    return chain.status;
}

/* ---- the gradient of a swish over a normalisation ---- */

static leo_status check_groups(const struct op_call *call)
{
    static const char *const alike[] = {"dy", "dxOut"}, *const sums[] = {"mean", "rstd"},
                             *const channels[] = {"gamma", "beta", "dgammaOut", "dbetaOut"};
    const struct op_tensor *x = op_call_tensor(call, "x");
    const int64_t groups = op_call_int(call, "numGroups");
    const char *format = op_call_value(call, "dataFormatOptional")->text;
    if (x->rank < 2 || groups <= 0 || x->dim[1] % groups ||
        (format && strcmp(format, "NCHW") != 0)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x of shape %s in %" PRId64
                            " groups, dataFormat %s: channels are the second dimension, in whole "
                            "groups (NCHW)",
                            op_tensor_shape_text(x).text, groups, format ? format : "NCHW");
    }
    const int64_t sum_shape[] = {x->dim[0], groups};
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < 2; i++) {
        status = op_call_check_shape(call, alike[i], x->rank, x->dim);
        if (status == LEO_OK) {
            status = op_call_check_shape(call, sums[i], 2, sum_shape);
        }
    }
    for (unsigned i = 0; status == LEO_OK && i < 4; i++) {
        if (op_call_tensor(call, channels[i])) {
            status = op_call_check_shape(call, channels[i], 1, &x->dim[1]);
        }
    }
    return status;
}

// Sums of groups as [batch, groups, 1, 1], parameters of channels as [groups, channels, 1].
static struct op_tensor spread(struct op_chain *chain, const char *name, unsigned rank,
                               const int64_t *dim)
{
    const struct op_tensor *given = op_call_tensor(chain->call, name);
    const struct op_tensor dense = op_chain_dense(chain, given->type, given);
    return op_view_shape(&dense, rank, dim);
}

leo_status op_plan_group_norm_swish_grad(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *dy = op_call_tensor(call, "dy");
    leo_status status = check_groups(call);
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    const int64_t groups = op_call_int(call, "numGroups"), each = x->dim[1] / groups,
                  inner = op_tensor_count(x) / x->dim[0] / x->dim[1],
                  whole[] = {x->dim[0], groups, each, inner}, sums[] = {x->dim[0], groups, 1, 1},
                  channels[] = {groups, each, 1};
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor dense_x = op_chain_dense(&chain, x->type, x),
                           seen = op_view_shape(&dense_x, 4, whole),
                           mean = spread(&chain, "mean", 4, sums),
                           rstd = spread(&chain, "rstd", 4, sums),
                           gamma = spread(&chain, "gamma", 3, channels),
                           beta = spread(&chain, "beta", 3, channels),
                           y = op_chain_temp(&chain, OP_TYPE_F32, 4, whole),
                           flat = op_view_shape(&y, x->rank, x->dim);
    OP_CHAIN_CALL(&chain, "GroupAffine", op_value_tensor(&seen), op_value_tensor(&mean),
                  op_value_tensor(&rstd), op_value_tensor(&gamma), op_value_tensor(&beta),
                  op_value_tensor(&y));
    OP_CHAIN_CALL(&chain, "SwishSlope", op_value_tensor(dy), op_value_tensor(&flat),
                  *op_call_value(call, "swishScale"), op_value_tensor(&flat));
    const bool mask[] = {true, op_call_int(call, "dgammaIsRequire") != 0,
                         op_call_int(call, "dbetaIsRequire") != 0};
    const struct op_bools wanted = {mask, 3};
    OP_CHAIN_CALL(&chain, "GroupNormBackward", op_value_tensor(&flat), op_value_tensor(x),
                  *op_call_value(call, "mean"), *op_call_value(call, "rstd"),
                  *op_call_value(call, "gamma"), op_value_int(x->dim[0]), op_value_int(x->dim[1]),
                  op_value_int(inner), op_value_int(groups), op_value_bools(&wanted),
                  *op_call_value(call, "dxOut"), *op_call_value(call, "dgammaOut"),
                  *op_call_value(call, "dbetaOut"));
    return chain.status;
}

/* ---- queries, keys and values of heads ---- */

static leo_status check_heads(const struct op_call *call, int64_t heads)
{
    static const char *const outs[] = {"qOut", "kOut", "vOut"};
    const struct op_tensor *qkv = op_call_tensor(call, "qkv");
    if (qkv->rank != 3 || heads <= 0 || qkv->dim[2] % (3 * heads)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "qkv of shape %s does not hold three parts of %" PRId64 " heads",
                            op_tensor_shape_text(qkv).text, heads);
    }
    const int64_t shape[] = {qkv->dim[0], heads, qkv->dim[1], qkv->dim[2] / 3 / heads};
    leo_status status = op_call_check_shape(call, "qkvBias", 1, &qkv->dim[2]);
    for (unsigned i = 0; status == LEO_OK && i < 3; i++) {
        status = op_call_check_shape(call, outs[i], 4, shape);
    }
    return status;
}

// [.., heads * features] as [.., heads, features].
static struct op_tensor part_heads(const struct op_tensor *t, int64_t heads)
{
    const unsigned last = t->rank - 1;
    struct op_tensor seen = op_view_insert(t, last);
    seen.dim[last] = heads;
    seen.dim[last + 1] = t->dim[last] / heads;
    seen.stride[last] = t->stride[last] * seen.dim[last + 1];
    return seen;
}

leo_status op_plan_split_heads(const struct op_call *call)
{
    static const char *const outs[] = {"qOut", "kOut", "vOut"};
    const struct op_tensor *qkv = op_call_tensor(call, "qkv"),
                           *bias = op_call_tensor(call, "qkvBias");
    const int64_t heads = op_call_int(call, "numHeads");
    leo_status status = check_heads(call, heads);
    if (status != LEO_OK || op_tensor_count(qkv) == 0) {
        return status;
    }
    const int64_t third = qkv->dim[2] / 3;
    const struct op_scalar one = op_scalar_int(1),
                           factor = op_scalar_real(1 / sqrt((double)(third / heads)));
    struct op_chain chain = op_chain_begin(call);
    for (unsigned i = 0; i < 3; i++) {
        const struct op_tensor part = op_view_slice(qkv, 2, i * third, third),
                               part_bias = op_view_slice(bias, 0, i * third, third),
                               x = part_heads(&part, heads), b = part_heads(&part_bias, heads),
                               to = op_view_swap(op_call_tensor(call, outs[i]), 1, 2),
                               sum = i == 0 ? op_chain_temp_like(&chain, OP_TYPE_F32, &x) : to;
        OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&x), op_value_tensor(&b),
                      op_value_scalar(&one), op_value_tensor(&sum));
        if (i == 0) {
            OP_CHAIN_CALL(&chain, "Muls", op_value_tensor(&sum), op_value_scalar(&factor),
                          op_value_tensor(&to));
        }
    }
    return chain.status;
}
