/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions. Results are seen with the reduced dimensions as ones, however their descriptors tell
 * them. */
#include "cnnl_subjects.h"

/** The axes of a call. */
struct axes {
    const struct op_ints *dims;
    int64_t kept[OP_RANK_MAX]; /**< shape of the result */
    bool all;
};

static struct axes take_axes(struct cnnl_call *call, const struct op_tensor *x, int count,
                             const int *axis)
{
    struct axes axes = {.all = count == 0};
    int64_t dims[OP_RANK_MAX];
    int64_t used = 0;
    bool over[OP_RANK_MAX] = {false};
    for (int i = 0; i < count; i++) {
        const int at = axis[i] < 0 ? axis[i] + (int)x->rank : axis[i];
        if (axis[i] == -1 && count == 1 && x->rank == 0) {
            continue;
        }
        if (at < 0 || at >= (int)x->rank) {
            cnnl_bad(call, "axis %d of a tensor of %u dimensions", axis[i], x->rank);
            return axes;
        }
        over[at] = true;
    }
    for (unsigned i = 0; i < x->rank; i++) {
        over[i] = over[i] || axes.all;
        axes.kept[i] = over[i] ? 1 : x->dim[i];
        if (over[i]) {
            dims[used++] = i;
        }
    }
    axes.all = used == x->rank;
    axes.dims = cnnl_longs(call, dims, used);
    return axes;
}

static const struct op_tensor *result(struct cnnl_call *call, const char *name,
                                      const struct op_tensor *x, const struct axes *axes,
                                      const struct op_tensor *y)
{
    return y ? cnnl_shaped(call, name, y, x->rank, axes->kept) : NULL;
}

// The largest or smallest along one dimension and where; what is not asked for goes to a temporary.
static void reduce_extreme(struct cnnl_call *call, const struct cnnlReduceStruct *d,
                           const struct op_tensor *x, const struct axes *axes,
                           const struct op_tensor *y, const struct op_tensor *index)
{
    const bool max = d->op == CNNL_REDUCE_MAX;
    cnnl_need(call, "index", index != NULL);
    if (axes->dims && axes->dims->count != 1) {
        cnnl_refuse(call, "places over %d dimensions", (int)axes->dims->count);
    }
    if (call->status != CNNL_STATUS_SUCCESS) {
        return;
    }
    const struct op_tensor *value = y ? y : cnnl_temp_like(call, x->type, index);
    const struct op_tensor *places = cnnl_i64(call, index);
    const struct op_value args[] = {op_value_tensor(x), op_value_int(axes->dims->items[0]),
                                    op_value_int(true), op_value_tensor(value),
                                    op_value_tensor(places)};
    cnnl_run(call, max ? "MaxDim" : "MinDim", args);
    cnnl_give(call, index, places);
}

static void reduce_product(struct cnnl_call *call, const struct op_tensor *x,
                           const struct axes *axes, const struct op_tensor *y)
{
    if (axes->dims->count != 1) {
        cnnl_refuse(call, "products over %d dimensions", (int)axes->dims->count);
        return;
    }
    const struct op_value args[] = {op_value_tensor(x), op_value_int(axes->dims->items[0]),
                                    op_value_int(true), op_value_type(y->type), op_value_tensor(y)};
    cnnl_run(call, "ProdDim", args);
}

static void reduce_norm(struct cnnl_call *call, const struct op_tensor *x, double p,
                        const struct axes *axes, const struct op_tensor *y)
{
    const struct op_value args[] = {op_value_tensor(x), op_value_scalar(cnnl_real(call, p)),
                                    op_value_ints(axes->dims), op_value_int(true),
                                    op_value_tensor(y)};
    cnnl_run(call, "Norm", args);
}

/** The operators for sums (which take a type), and for truth and extremes (which do not). */
static const struct {
    const char *row;
    bool typed;
} plain[] = {
    [CNNL_REDUCE_ADD] = {"ReduceSum", true},
    [CNNL_REDUCE_AVG] = {"Mean", true},
    [CNNL_REDUCE_MAX] = {"Amax", false},
    [CNNL_REDUCE_MIN] = {"Amin", false},
    [CNNL_REDUCE_AND] = {"All", false},
    [CNNL_REDUCE_OR] = {"Any", false},
    [CNNL_REDUCE_NANSUM] = {"ReduceNansum", true},
};

static void reduce_plain(struct cnnl_call *call, cnnlReduceOp_t op, const struct op_tensor *x,
                         const struct axes *axes, const struct op_tensor *y)
{
    if ((unsigned)op >= sizeof(plain) / sizeof(plain[0]) || !plain[op].row) {
        cnnl_refuse(call, "the descriptor's operation %d", (int)op);
        return;
    }
    const struct op_value typed[] = {op_value_tensor(x), op_value_ints(axes->dims),
                                     op_value_int(true), op_value_type(y->type),
                                     op_value_tensor(y)};
    const struct op_value untyped[] = {typed[0], typed[1], typed[2], typed[4]};
    cnnl_run(call, plain[op].row, plain[op].typed ? typed : untyped);
}

void cnnl_reduce(struct cnnl_call *call, const struct cnnlReduceStruct *d,
                 const struct op_tensor *x, const struct op_tensor *given,
                 const struct op_tensor *given_index)
{
    const struct axes axes = take_axes(call, x, d->axes, d->axis);
    const struct op_tensor *y = result(call, "y", x, &axes, given);
    const struct op_tensor *index = result(call, "index", x, &axes, given_index);
    if (call->status != CNNL_STATUS_SUCCESS) {
        return;
    }
    if (d->indices != CNNL_REDUCE_NO_INDICES) {
        if (d->op != CNNL_REDUCE_MAX && d->op != CNNL_REDUCE_MIN) {
            cnnl_bad(call, "places of what is no extreme (operation %d)", (int)d->op);
        }
        reduce_extreme(call, d, x, &axes, d->indices == CNNL_REDUCE_ONLY_INDICES ? NULL : y, index);
        return;
    }
    cnnl_need(call, "y", y != NULL);
    if (!y) {
        return;
    }
    switch ((int)d->op) {
    case CNNL_REDUCE_MUL:
        reduce_product(call, x, &axes, y);
        return;
    case CNNL_REDUCE_NORM1:
        reduce_norm(call, x, 1, &axes, y);
        return;
    case CNNL_REDUCE_NORM2:
        reduce_norm(call, x, 2, &axes, y);
        return;
    case CNNL_REDUCE_NORMP:
        reduce_norm(call, x, (double)d->p, &axes, y);
        return;
    default:
        reduce_plain(call, d->op, x, &axes, y);
    }
}

void cnnl_sum_but(struct cnnl_call *call, const struct op_tensor *x, int64_t axis,
                  const struct op_tensor *y)
{
    int over[OP_RANK_MAX], count = 0;
    axis = axis < 0 ? axis + x->rank : axis;
    for (int i = 0; i < (int)x->rank; i++) {
        if (i != axis) {
            over[count++] = i;
        }
    }
    if (axis < 0 || axis >= x->rank || count == 0) {
        cnnl_bad(call, "axis %d of a tensor of %u dimensions", (int)axis, x->rank);
        return;
    }
    const struct axes axes = take_axes(call, x, count, over);
    reduce_plain(call, CNNL_REDUCE_ADD, x, &axes, result(call, "diff_bias", x, &axes, y));
}

void cnnl_std_var_mean(struct cnnl_call *call, const struct cnnlStdVarMeanStruct *d,
                       const struct op_tensor *x, const struct op_tensor *std,
                       const struct op_tensor *var, const struct op_tensor *mean)
{
    const struct axes axes = take_axes(call, x, d->axes, d->axis);
    const bool wants_std = d->op == CNNL_STD || d->op == CNNL_STD_MEAN;
    const bool wants_mean = d->op == CNNL_STD_MEAN || d->op == CNNL_VAR_MEAN;
    const struct op_tensor *spread = result(call, "std or var", x, &axes, wants_std ? std : var);
    const struct op_tensor *middle = result(call, "mean", x, &axes, mean);
    if (d->op == CNNL_MEAN) {
        cnnl_need(call, "mean", middle != NULL);
        if (middle) {
            reduce_plain(call, CNNL_REDUCE_AVG, x, &axes, middle);
        }
        return;
    }
    cnnl_need(call, "std, var or mean", spread && (!wants_mean || middle));
    const struct op_value args[] = {op_value_tensor(x),        op_value_ints(axes.dims),
                                    op_value_int(d->unbiased), op_value_int(true),
                                    op_value_tensor(spread),   op_value_tensor(middle)};
    static const char *const rows[2][2] = {{"VarCorrection", "VarMean"},
                                           {"Std", "StdMeanCorrection"}};
    cnnl_run(call, rows[wants_std][wants_mean], args);
}
