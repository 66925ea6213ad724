/* SPDX-License-Identifier: Apache-2.0 */
/* Norms known by type name: made of the rows of today, which have 1 / deviation, not the variance,
 * as their second result. A row says which ("norm"). */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* torch_npu's backward call does not carry epsilon: the default of PyTorch's layer normalisation
 * stands in for it. */
static const double default_epsilon = 1e-5;

/* ---- norms in two parts ---- */

// Infinite orders come as the largest and smallest int.
static double order_of(const struct op_call *call)
{
    const double p = op_call_scalar(call, "p")->real;
    return p >= (double)INT_MAX ? HUGE_VAL : p <= (double)INT_MIN ? -HUGE_VAL : p;
}

// Orders whose power and root are the number itself.
static bool is_plain_order(double p)
{
    return p == 0 || p == 1 || p == HUGE_VAL || p == -HUGE_VAL;
}

static leo_status plan_power(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    const double p = order_of(call);
    const struct op_scalar order = op_scalar_real(p);
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor norm =
        is_plain_order(p) ? *y : op_chain_temp_like(&chain, OP_TYPE_F32, y);
    OP_CHAIN_CALL(&chain, "Norm", op_value_tensor(op_call_tensor(call, "x")),
                  op_value_scalar(&order), op_value_ints(op_call_ints(call, "axes")),
                  op_value_int(op_call_int(call, "keepdim")), op_value_tensor(&norm));
    if (p == 2) {
        OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&norm), op_value_tensor(&norm),
                      op_value_tensor(y));
    } else if (!is_plain_order(p)) {
        OP_CHAIN_CALL(&chain, "PowTensorScalar", op_value_tensor(&norm), op_value_scalar(&order),
                      op_value_tensor(y));
    }
    return chain.status;
}

static leo_status plan_distance(const struct op_call *call)
{
    const struct op_tensor *x1 = op_call_tensor(call, "x1");
    const struct op_scalar order = op_scalar_real(order_of(call)), one = op_scalar_int(1);
    int64_t last = -1;
    const struct op_ints over = {&last, 1};
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor apart = op_chain_temp_like(&chain, OP_TYPE_F32, x1);
    OP_CHAIN_CALL(&chain, "Sub", op_value_tensor(x1), op_value_tensor(op_call_tensor(call, "x2")),
                  op_value_scalar(&one), op_value_tensor(&apart));
    OP_CHAIN_CALL(&chain, "Norm", op_value_tensor(&apart), op_value_scalar(&order),
                  op_value_ints(&over), op_value_int(0),
                  op_value_tensor(op_call_tensor(call, "y")));
    return chain.status;
}

static leo_status plan_root(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const double p = order_of(call);
    struct op_chain chain = op_chain_begin(call);
    if (is_plain_order(p)) {
        op_chain_copy(&chain, y, x);
    } else if (p == 2) {
        OP_CHAIN_CALL(&chain, "Sqrt", op_value_tensor(x), op_value_tensor(y));
    } else {
        const struct op_scalar inverse = op_scalar_real(1 / p);
        OP_CHAIN_CALL(&chain, "PowTensorScalar", op_value_tensor(x), op_value_scalar(&inverse),
                      op_value_tensor(y));
    }
    return chain.status;
}

/* ---- normalisations ---- */

// 1 / sqrt(variance + epsilon).
static struct op_tensor invert(struct op_chain *chain, const struct op_tensor *variance,
                               double epsilon)
{
    const struct op_tensor inverse = op_chain_temp_like(chain, OP_TYPE_F32, variance);
    OP_CHAIN_CALL(chain, "GatheredInverse", op_value_tensor(variance), op_value_real(epsilon),
                  op_value_tensor(&inverse));
    return inverse;
}

static void tell_variance(struct op_chain *chain, const struct op_tensor *inverse, double epsilon)
{
    OP_CHAIN_CALL(chain, "VarianceOf", op_value_tensor(inverse), op_value_real(epsilon),
                  op_value_tensor(op_call_tensor(chain->call, "variance")));
}

static leo_status plan_bn_infer_gradient(const struct op_call *call)
{
    const struct op_tensor *grads = op_call_tensor(call, "grads"),
                           *variance = op_call_tensor(call, "variance");
    if (grads->rank < 2) {
        return op_call_fail(call, LEO_ERR_SHAPE, "grads has shape %s: it must be [N, C, ...]",
                            op_tensor_shape_text(grads).text);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor inverse = invert(&chain, variance, op_call_real(call, "epsilon")),
                           zero = op_chain_temp_like(&chain, OP_TYPE_F32, variance);
    op_chain_fill(&chain, &zero, 0);
    OP_CHAIN_CALL(&chain, "BatchNormElemt", op_value_tensor(grads),
                  op_value_tensor(op_call_tensor(call, "scale")), op_value_tensor(NULL),
                  op_value_tensor(&zero), op_value_tensor(&inverse), op_value_real(0),
                  op_value_tensor(op_call_tensor(call, "y")));
    return chain.status;
}

// x as [N, C, elements of a channel].
static leo_status measure_groups(const struct op_call *call, int64_t size[3])
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    const int64_t groups = op_call_int(call, "groups");
    if (x->rank < 2 || op_tensor_count(x) == 0 || groups < 1 || x->dim[1] % groups) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x of shape %s cannot be cut into %" PRId64 " groups of channels",
                            op_tensor_shape_text(x).text, groups);
    }
    size[0] = x->dim[0];
    size[1] = x->dim[1];
    size[2] = op_tensor_count(x) / (size[0] * size[1]);
    return LEO_OK;
}

static leo_status plan_group(const struct op_call *call)
{
    const double epsilon = op_call_real(call, "epsilon");
    int64_t size[3];
    leo_status status = measure_groups(call, size);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor inverse =
        op_chain_temp_like(&chain, OP_TYPE_F32, op_call_tensor(call, "variance"));
    OP_CHAIN_CALL(&chain, "GroupNorm", op_value_tensor(op_call_tensor(call, "x")),
                  op_value_tensor(op_call_tensor(call, "gamma")),
                  op_value_tensor(op_call_tensor(call, "beta")), op_value_int(size[0]),
                  op_value_int(size[1]), op_value_int(size[2]),
                  op_value_int(op_call_int(call, "groups")), op_value_real(epsilon),
                  op_value_tensor(op_call_tensor(call, "y")),
                  op_value_tensor(op_call_tensor(call, "mean")), op_value_tensor(&inverse));
    tell_variance(&chain, &inverse, epsilon);
    return chain.status;
}

static leo_status plan_group_gradient(const struct op_call *call)
{
    static const bool all[] = {true, true, true};
    const struct op_bools mask = {all, 3};
    int64_t size[3];
    leo_status status = measure_groups(call, size);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(
        &chain, "GroupNormBackward", op_value_tensor(op_call_tensor(call, "grads")),
        op_value_tensor(op_call_tensor(call, "x")), op_value_tensor(op_call_tensor(call, "mean")),
        op_value_tensor(op_call_tensor(call, "rstd")),
        op_value_tensor(op_call_tensor(call, "gamma")), op_value_int(size[0]),
        op_value_int(size[1]), op_value_int(size[2]), op_value_int(op_call_int(call, "groups")),
        op_value_bools(&mask), op_value_tensor(op_call_tensor(call, "dx")),
        op_value_tensor(op_call_tensor(call, "dgamma")),
        op_value_tensor(op_call_tensor(call, "dbeta")));
    return chain.status;
}

// A tensor without dimensions has one row of one element.
static struct op_tensor as_row(const struct op_tensor *tensor)
{
    return tensor->rank ? *tensor : op_view_insert(tensor, 0);
}

static leo_status plan_layer(const struct op_call *call)
{
    const struct op_tensor row = as_row(op_call_tensor(call, "x")), *x = &row,
                           y = as_row(op_call_tensor(call, "y"));
    const double epsilon = op_call_real(call, "epsilon");
    unsigned axis;
    leo_status status = op_take_dim(call, op_call_int(call, "axis"), x->rank, &axis);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_ints over = {x->dim + axis, x->rank - axis};
    struct op_chain chain = op_chain_begin(call);
    const bool told = op_call_has(call, "inverse");
    const struct op_tensor inverse =
        told ? *op_call_tensor(call, "inverse")
             : op_chain_temp_like(&chain, OP_TYPE_F32, op_call_tensor(call, "variance"));
    OP_CHAIN_CALL(&chain, "LayerNorm", op_value_tensor(x), op_value_ints(&over),
                  op_value_tensor(op_call_tensor(call, "gamma")),
                  op_value_tensor(op_call_tensor(call, "beta")), op_value_real(epsilon),
                  op_value_tensor(&y), op_value_tensor(op_call_tensor(call, "mean")),
                  op_value_tensor(&inverse));
    if (!told) {
        tell_variance(&chain, &inverse, epsilon);
    }
    return chain.status;
}

static leo_status plan_layer_gradient(const struct op_call *call)
{
    static const bool all[] = {true, true, true};
    const struct op_tensor gamma = as_row(op_call_tensor(call, "gamma")),
                           x = as_row(op_call_tensor(call, "x")),
                           grads = as_row(op_call_tensor(call, "grads")),
                           dx = as_row(op_call_tensor(call, "dx"));
    const struct op_ints over = {gamma.dim, gamma.rank};
    const struct op_bools mask = {all, 3};
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor inverse =
        invert(&chain, op_call_tensor(call, "variance"), default_epsilon);
    OP_CHAIN_CALL(&chain, "LayerNormBackward", op_value_tensor(&grads), op_value_tensor(&x),
                  op_value_ints(&over), op_value_tensor(op_call_tensor(call, "mean")),
                  op_value_tensor(&inverse), op_value_tensor(&gamma), op_value_tensor(NULL),
                  op_value_bools(&mask), op_value_tensor(&dx),
                  op_value_tensor(op_call_tensor(call, "dgamma")),
                  op_value_tensor(op_call_tensor(call, "dbeta")));
    return chain.status;
}

/* ---- batch norm over several devices, in parts ---- */

static leo_status plan_sync_reduce(const struct op_call *call)
{
    const struct op_tensor *mul = op_call_tensor(call, "sumDyXmu");
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(&chain, "AclSyncBnCentred", op_value_tensor(op_call_tensor(call, "sumDy")),
                  op_value_tensor(op_call_tensor(call, "sumDyX")),
                  op_value_tensor(op_call_tensor(call, "mean")), op_value_tensor(mul));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(mul),
                  op_value_tensor(op_call_tensor(call, "inverse")),
                  op_value_tensor(op_call_tensor(call, "gradWeight")));
    return chain.status;
}

static leo_status plan_sync_elements(const struct op_call *call)
{
    const struct op_tensor *out = op_call_tensor(call, "out");
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor apart = op_chain_temp_like(&chain, OP_TYPE_F32, out);
    OP_CHAIN_CALL(&chain, "AclSyncBnApart", *op_call_value(call, "dy"), *op_call_value(call, "x"),
                  *op_call_value(call, "mean"), *op_call_value(call, "inverse"),
                  *op_call_value(call, "meanDy"), *op_call_value(call, "meanDyXmu"),
                  op_value_tensor(&apart));
    OP_CHAIN_CALL(&chain, "AclSyncBnScaled", op_value_tensor(&apart),
                  *op_call_value(call, "inverse"), *op_call_value(call, "weight"),
                  op_value_tensor(out));
    return chain.status;
}

static leo_status plan_mean_with_count(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor parts = op_chain_temp_like(&chain, OP_TYPE_F32, x);
    OP_CHAIN_CALL(&chain, "AclSyncBnShare", op_value_tensor(x),
                  op_value_tensor(op_call_tensor(call, "count")),
                  op_value_tensor(op_call_tensor(call, "all")), op_value_tensor(&parts));
    OP_CHAIN_CALL(&chain, "ReduceSum", op_value_tensor(&parts),
                  op_value_ints(op_call_ints(call, "axes")),
                  op_value_int(op_call_int(call, "keepDims")), op_value_type(OP_TYPE_F32),
                  op_value_tensor(op_call_tensor(call, "y")));
    return chain.status;
}

static leo_status plan_sync_gather(const struct op_call *call)
{
    const struct op_tensor *mean = op_call_tensor(call, "mean"),
                           *all = op_call_tensor(call, "countAll");
    const struct op_value epsilon = op_value_real(op_call_real(call, "epsilon"));
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor parts = op_chain_temp_like(&chain, OP_TYPE_F32, mean),
                           sum = op_chain_temp_like(&chain, OP_TYPE_F32, all);
    OP_CHAIN_CALL(&chain, "AclSyncBnSquares", op_value_tensor(mean),
                  op_value_tensor(op_call_tensor(call, "inverse")),
                  op_value_tensor(op_call_tensor(call, "count")),
                  op_value_tensor(op_call_tensor(call, "meanAll")), epsilon,
                  op_value_tensor(&parts));
    op_chain_sum_kept(&chain, &parts, (const int64_t[]){0}, 1, &sum);
    OP_CHAIN_CALL(&chain, "AclSyncBnInverse", op_value_tensor(&sum), op_value_tensor(all), epsilon,
                  op_value_tensor(op_call_tensor(call, "inverseAll")));
    OP_CHAIN_CALL(&chain, "AclSyncBnRunning", op_value_tensor(&sum), op_value_tensor(all),
                  op_value_tensor(op_call_tensor(call, "running")),
                  op_value_real(op_call_real(call, "momentum")),
                  op_value_tensor(op_call_tensor(call, "runningOut")));
    return chain.status;
}

leo_status op_plan_aclop_norm(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"power", plan_power},
        {"root", plan_root},
        {"distance", plan_distance},
        {"bn_infer_gradient", plan_bn_infer_gradient},
        {"group", plan_group},
        {"group_gradient", plan_group_gradient},
        {"layer", plan_layer},
        {"layer_gradient", plan_layer_gradient},
        {"sync_reduce", plan_sync_reduce},
        {"sync_elements", plan_sync_elements},
        {"sync_gather", plan_sync_gather},
        {"mean_with_count", plan_mean_with_count},
    };
    const char *word = op_row_attr(call->row, "norm");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no operator");
}
