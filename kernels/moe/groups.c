/* SPDX-License-Identifier: Apache-2.0 */
/* Experts chosen within the best groups of them. */
#include "../frame/chain.h"

#include <inttypes.h>

struct gate {
    const struct op_tensor *x, *bias, *out, *experts, *all;
    int64_t rows, count, k, groups, best, select, norm, renorm;
    double factor, eps;
};

/* The names of the parameters, by version. */
struct names {
    const char *bias, *best, *groups, *select, *norm, *factor, *asked, *out, *experts, *all;
};

static const struct names first = {
    "biasOptional",        "kGroup",  "groupCount", "groupSelectMode", "normType",
    "routedScalingFactor", "outFlag", "yOut",       "expertIdxOut",    "outOut"};
static const struct names second = {"bias",        "k_group",
                                    "group_count", "group_select_mode",
                                    "norm_type",   "routed_scaling_factor",
                                    "out_flag",    "y",
                                    "expert_idx",  "out"};

static leo_status take(const struct op_call *call, const struct names *n, struct gate *g)
{
    *g = (struct gate){
        .x = op_call_tensor(call, "x"),
        .bias = op_call_tensor(call, n->bias),
        .out = op_call_tensor(call, n->out),
        .experts = op_call_tensor(call, n->experts),
        .all = op_call_int(call, n->asked) ? op_call_tensor(call, n->all) : NULL,
        .k = op_call_int(call, "k"),
        .groups = op_call_int(call, n->groups),
        .best = op_call_int(call, n->best),
        .select = op_call_int(call, n->select),
        .norm = op_call_int(call, n->norm),
        .renorm = op_call_int(call, "renorm"),
        .factor = op_call_real(call, n->factor),
        .eps = op_call_real(call, "eps"),
    };
    const bool matrix = g->x->rank == 2;
    g->rows = matrix ? g->x->dim[0] : 0;
    g->count = matrix ? g->x->dim[1] : 0;
    const int64_t each = g->groups > 0 ? g->count / g->groups : 0;
    if (!matrix || g->groups < 1 || g->count % g->groups || g->best < 1 || g->best > g->groups ||
        g->k < 1 || g->k > g->best * each || (g->groups > 1 && g->select == 1 && each < 2) ||
        (g->bias && op_tensor_count(g->bias) != g->count)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x of shape %s: k %" PRId64 " of %" PRId64 " in %" PRId64
                            " groups do not fit",
                            op_tensor_shape_text(g->x).text, g->k, g->best, g->groups);
    }
    if ((uint64_t)g->select > 1 || (uint64_t)g->norm > 1 || (uint64_t)g->renorm > 1) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "groupSelectMode %" PRId64 ", normType %" PRId64 ", renorm %" PRId64
                            ": each must be 0 or 1",
                            g->select, g->norm, g->renorm);
    }
    const int64_t shape[] = {g->rows, g->k};
    leo_status status = op_call_check_shape(call, n->out, 2, shape);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, n->experts, 2, shape);
    }
    return status == LEO_OK && g->all ? op_call_check_shape(call, n->all, 2, g->x->dim) : status;
}

static void top(struct op_chain *chain, const struct op_tensor *x, int64_t k,
                const struct op_tensor *values, const struct op_tensor *indices)
{
    OP_CHAIN_CALL(chain, "Topk", op_value_tensor(x), op_value_int(k), op_value_int(-1),
                  op_value_int(1), op_value_int(1), op_value_tensor(values),
                  op_value_tensor(indices));
}

// How good a group is: its largest, or the sum of its two largest. [rows, groups]
static struct op_tensor scores_of(struct op_chain *chain, const struct gate *g,
                                  const struct op_tensor *grouped)
{
    const int64_t taken = g->select ? 2 : 1, shape[] = {g->rows, g->groups, taken};
    const struct op_tensor largest = op_chain_temp(chain, OP_TYPE_F32, 3, shape),
                           places = op_chain_temp(chain, OP_TYPE_I64, 3, shape),
                           score = op_chain_temp(chain, OP_TYPE_F32, 2, shape);
    top(chain, grouped, taken, &largest, &places);
    op_chain_sum(chain, &largest, 2, &score);
    return score;
}

// What is not in one of the best groups becomes very small.
static void keep_groups(struct op_chain *chain, const struct gate *g, const struct op_tensor *x)
{
    const int64_t shape[] = {g->rows, g->groups, g->count / g->groups};
    const struct op_tensor grouped = op_view_shape(x, 3, shape),
                           score = scores_of(chain, g, &grouped),
                           sorted = op_chain_temp_like(chain, OP_TYPE_F32, &score),
                           order = op_chain_temp_like(chain, OP_TYPE_I64, &score),
                           again = op_chain_temp_like(chain, OP_TYPE_I64, &score),
                           rank = op_chain_temp_like(chain, OP_TYPE_I64, &score);
    OP_CHAIN_CALL(chain, "Sort", op_value_tensor(&score), op_value_int(1), op_value_int(-1),
                  op_value_int(1), op_value_tensor(&sorted), op_value_tensor(&order));
    OP_CHAIN_CALL(chain, "Sort", op_value_tensor(&order), op_value_int(1), op_value_int(-1),
                  op_value_int(0), op_value_tensor(&again), op_value_tensor(&rank));
    const struct op_tensor of_group = op_view_insert(&rank, 2);
    OP_CHAIN_CALL(chain, "MoeBest", op_value_tensor(&grouped), op_value_tensor(&of_group),
                  op_value_int(g->best), op_value_tensor(&grouped));
}

static struct op_tensor norm_of(struct op_chain *chain, const struct gate *g)
{
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_F32, g->x);
    if (g->norm) {
        OP_CHAIN_CALL(chain, "Sigmoid", op_value_tensor(g->x), op_value_tensor(&out));
    } else {
        OP_CHAIN_CALL(chain, "Softmax", op_value_tensor(g->x), op_value_int(-1),
                      op_value_tensor(&out));
    }
    return out;
}

static void give(struct op_chain *chain, const struct gate *g, const struct op_tensor *weights)
{
    const struct op_scalar factor = op_scalar_real(g->factor);
    if (!g->norm && !g->renorm) {
        OP_CHAIN_CALL(chain, "Muls", op_value_tensor(weights), op_value_scalar(&factor),
                      op_value_tensor(g->out));
        return;
    }
    struct op_tensor sum = op_chain_temp(chain, OP_TYPE_F32, 1, &g->rows);
    op_chain_sum(chain, weights, 1, &sum);
    sum = op_view_insert(&sum, 1);
    OP_CHAIN_CALL(chain, "MoeOverSum", op_value_tensor(weights), op_value_tensor(&sum),
                  op_value_real(g->eps), op_value_real(g->factor), op_value_tensor(g->out));
}

leo_status op_plan_moe_groups(const struct op_call *call)
{
    struct gate g;
    const bool v2 = op_call_has(call, "k_group");
    if (v2 && (op_call_tensor(call, "input_ids") || op_call_tensor(call, "tid2eid"))) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "input_ids and tid2eid must be NULL: experts by token are not chosen");
    }
    leo_status status = take(call, v2 ? &second : &first, &g);
    if (status != LEO_OK || op_tensor_count(g.x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor norm = norm_of(&chain, &g),
                           choice = op_chain_temp_like(&chain, OP_TYPE_F32, &norm),
                           values = op_chain_temp_like(&chain, OP_TYPE_F32, g.out),
                           indices = op_chain_temp_like(&chain, OP_TYPE_I64, g.out),
                           weights = op_chain_temp_like(&chain, OP_TYPE_F32, g.out);
    if (g.all) {
        op_chain_copy(&chain, g.all, &norm);
    }
    if (g.bias) {
        OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&norm), op_value_tensor(g.bias),
                      op_value_scalar(&one), op_value_tensor(&choice));
    } else {
        op_chain_copy(&chain, &choice, &norm);
    }
    if (g.best < g.groups) {
        keep_groups(&chain, &g, &choice);
    }
    top(&chain, &choice, g.k, &values, &indices);
    OP_CHAIN_CALL(&chain, "Gather", op_value_tensor(&norm), op_value_int(1),
                  op_value_tensor(&indices), op_value_tensor(&weights));
    op_chain_copy(&chain, g.experts, &indices);
    give(&chain, &g, &weights);
    return chain.status;
}
