/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions made of others that the vector unit has, and of pointwise steps between them. */
#include "../frame/chain.h"
#include "reduce_vector.h"

#include <math.h>

enum {
    STEP_ELEMENTS = 64, // [A] elements the scalar unit of a core reduces while a step is launched
    CORES = 32,         // [A] that share the rows
};

/** What is reduced: `kept` is its shape with 1 for each dimension that goes. */
struct steps {
    struct op_chain chain;
    const struct op_tensor *self;
    const bool *reduced;
    int64_t kept[OP_RANK_MAX];
    uint64_t outputs, length;
};

static struct op_tensor kept_temp(struct steps *s)
{
    return op_chain_temp(&s->chain, OP_TYPE_F32, s->self->rank, s->kept);
}

static struct op_tensor wide_temp(struct steps *s)
{
    return op_chain_temp(&s->chain, OP_TYPE_F32, s->self->rank, s->self->dim);
}

static struct op_tensor as_kept(const struct steps *s, const struct op_tensor *out)
{
    return op_tensor_dense(out->addr, out->type, s->self->rank, s->kept);
}

static bool on_tiles(const struct op_plan *plan, enum op_type type, bool integers)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 ||
           (type == OP_TYPE_BF16 && op_plan_chip(plan) == OP_ON_910B) ||
           (integers && (op_type_bytes(type) == 1 || type == OP_TYPE_I32));
}

// out = the reduction of `from`, which has self's shape, with its elements changed first.
static void reduce_stepped(struct steps *s, const struct op_tensor *from, enum op_reduce_step step,
                           const struct op_tensor *beside, enum op_reduce_mode mode,
                           const struct op_tensor *out)
{
    const struct op_reduce_input input = {from, s->reduced, step, beside};
    if (s->chain.status == LEO_OK) {
        s->chain.status = op_reduce_plan_stepped(s->chain.plan, &input, mode, out);
    }
}

static void reduce(struct steps *s, const struct op_tensor *from, enum op_reduce_mode mode,
                   const struct op_tensor *out)
{
    reduce_stepped(s, from, OP_REDUCE_AS_IT_IS, NULL, mode, out);
}

// The largest is taken out, so that no exponential is beyond f32.
static void log_sum_exp(struct steps *s, const struct op_tensor *out)
{
    const struct op_tensor most = kept_temp(s), shifted = wide_temp(s), sum = kept_temp(s);
    reduce(s, s->self, OP_REDUCE_MAX, &most);
    OP_CHAIN_CALL(&s->chain, "ShiftedExp", op_value_tensor(s->self), op_value_tensor(&most),
                  op_value_tensor(&shifted));
    reduce(s, &shifted, OP_REDUCE_SUM, &sum);
    OP_CHAIN_CALL(&s->chain, "ShiftedLog", op_value_tensor(&sum), op_value_tensor(&most),
                  op_value_tensor(out));
}

// Squared distances from the mean; their own mean corrects what the first was rounded by.
static void variance(struct steps *s, bool root, int64_t correction, const struct op_tensor *out,
                     const struct op_tensor *mean_out)
{
    const struct op_tensor mean = kept_temp(s), rest = kept_temp(s), squares = kept_temp(s);
    const double divisor = (double)((int64_t)s->length - correction);
    reduce(s, s->self, OP_REDUCE_MEAN, &mean);
    if (op_reduce_has_rows(s->self, s->reduced)) {
        reduce_stepped(s, s->self, OP_REDUCE_AWAY, &mean, OP_REDUCE_SUM, &rest);
        reduce_stepped(s, s->self, OP_REDUCE_AWAY_SQUARE, &mean, OP_REDUCE_SUM, &squares);
    } else {
        const struct op_tensor away = wide_temp(s);
        OP_CHAIN_CALL(&s->chain, "DistanceFrom", op_value_tensor(s->self), op_value_tensor(&mean),
                      op_value_tensor(&away));
        reduce(s, &away, OP_REDUCE_SUM, &rest);
        reduce_stepped(s, &away, OP_REDUCE_SQUARE, NULL, OP_REDUCE_SUM, &squares);
    }
    OP_CHAIN_CALL(&s->chain, "VarianceOfSums", op_value_tensor(&squares), op_value_tensor(&rest),
                  op_value_real(1.0 / (double)s->length), op_value_real(divisor > 0 ? divisor : 0),
                  op_value_int(root), op_value_tensor(out));
    if (mean_out) {
        const struct op_tensor to = as_kept(s, mean_out);
        OP_CHAIN_CALL(&s->chain, "CopyExtreme", op_value_tensor(&mean), op_value_tensor(&to));
    }
}

// Whether all or any are other than 0: the least or the largest of truth values.
static void logic(struct steps *s, bool any, const struct op_tensor *out)
{
    const enum op_reduce_mode mode = any ? OP_REDUCE_MAX : OP_REDUCE_MIN;
    const struct op_tensor found = kept_temp(s);
    if (on_tiles(s->chain.plan, s->self->type, false)) {
        reduce_stepped(s, s->self, OP_REDUCE_IS_SET, NULL, mode, &found);
    } else {
        const struct op_scalar zero = op_scalar_int(0);
        const struct op_tensor set = wide_temp(s);
        OP_CHAIN_CALL(&s->chain, "NeScalar", op_value_tensor(s->self), op_value_scalar(&zero),
                      op_value_tensor(&set));
        reduce(s, &set, mode, &found);
    }
    op_chain_copy(&s->chain, out, &found);
}

// Norms of order 0, 1 and infinity.
static void norm(struct steps *s, double order, const struct op_tensor *out)
{
    const struct op_tensor found = kept_temp(s);
    reduce_stepped(s, s->self, order == 0 ? OP_REDUCE_IS_SET : OP_REDUCE_SIZE, NULL,
                   order == INFINITY    ? OP_REDUCE_MAX
                   : order == -INFINITY ? OP_REDUCE_MIN
                                        : OP_REDUCE_SUM,
                   &found);
    OP_CHAIN_CALL(&s->chain, "CopyExtreme", op_value_tensor(&found), op_value_tensor(out));
}

static void sum_numbers(struct steps *s, const struct op_tensor *out)
{
    const struct op_tensor sum = kept_temp(s);
    reduce_stepped(s, s->self, OP_REDUCE_NUMBER, NULL, OP_REDUCE_SUM, &sum);
    OP_CHAIN_CALL(&s->chain, "CopyExtreme", op_value_tensor(&sum), op_value_tensor(out));
}

static bool has_steps(const struct op_plan *plan, const struct op_reduction *r)
{
    switch (r->mode) {
    case OP_REDUCE_ALL:
    case OP_REDUCE_ANY:
        return on_tiles(plan, r->self->type, true) && op_type_bytes(r->out->type) == 1;
    case OP_REDUCE_NORM:
        return on_tiles(plan, r->self->type, false) && on_tiles(plan, r->out->type, false) &&
               (r->order == 0 || r->order == 1 || r->order == INFINITY || r->order == -INFINITY);
    case OP_REDUCE_LOG_SUM_EXP:
    case OP_REDUCE_NANSUM:
    case OP_REDUCE_VAR:
    case OP_REDUCE_STD:
        return on_tiles(plan, r->self->type, false) && on_tiles(plan, r->out->type, false) &&
               (!r->second || on_tiles(plan, r->second->type, false));
    default:
        return false;
    }
}

leo_status op_reduce_plan_steps(const struct op_call *call, const struct op_reduction *r)
{
    struct steps s = {.chain = op_chain_begin(call), .self = r->self, .reduced = r->reduced};
    s.outputs = s.length = 1;
    for (unsigned i = 0; i < r->self->rank; i++) {
        s.kept[i] = r->reduced[i] ? 1 : r->self->dim[i];
        s.outputs *= (uint64_t)s.kept[i];
        s.length *= r->reduced[i] ? (uint64_t)r->self->dim[i] : 1;
    }
    // Rows are shared by cores on the scalar unit, and a short one is soon done.
    if (s.length <= 1 || (s.outputs + CORES - 1) / CORES * s.length < 4 * STEP_ELEMENTS ||
        s.outputs * s.length < 1024 || !has_steps(call->plan, r)) {
        return OP_DECLINED;
    }
    const struct op_tensor out = as_kept(&s, r->out);
    switch (r->mode) {
    case OP_REDUCE_ALL:
    case OP_REDUCE_ANY:
        logic(&s, r->mode == OP_REDUCE_ANY, &out);
        break;
    case OP_REDUCE_NORM:
        norm(&s, r->order, &out);
        break;
    case OP_REDUCE_LOG_SUM_EXP:
        log_sum_exp(&s, &out);
        break;
    case OP_REDUCE_NANSUM:
        sum_numbers(&s, &out);
        break;
    default:
        variance(&s, r->mode == OP_REDUCE_STD, r->correction, &out, r->second);
        break;
    }
    return s.chain.status;
}
