/* SPDX-License-Identifier: Apache-2.0 */
/* The first version of rows in the order of their experts, where experts' rows end, and the sum of
 * what the experts made of them. */
#include "moe.h"

#include <inttypes.h>

// out[i] = list[places[i]]
static struct op_tensor take(struct op_chain *chain, const struct op_tensor *list,
                             const struct op_tensor *places)
{
    const struct op_tensor out = op_chain_temp_like(chain, list->type, places);
    op_moe_take_rows(chain, list, places, &out);
    return out;
}

static struct op_tensor whole(struct op_chain *chain, const char *op, const struct op_tensor *list,
                              int64_t by)
{
    const struct op_tensor out = op_chain_temp_like(chain, list->type, list);
    OP_CHAIN_CALL(chain, op, op_value_tensor(list), op_value_int(by), op_value_tensor(&out));
    return out;
}

leo_status op_plan_moe_init_routing(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *rows = op_call_tensor(call, "row_idx"),
                           *experts = op_call_tensor(call, "expert_idx"),
                           *out = op_call_tensor(call, "expanded_x");
    const int64_t count = op_tensor_count(experts);
    if (x->rank != 2 || rows->rank != 2 || !op_tensor_same_shape(rows, experts) ||
        rows->dim[0] != x->dim[0] || out->rank != 2 || out->dim[0] > count ||
        out->dim[1] != x->dim[1] || out->type != x->type) {
        return op_moe_fail_shapes(call, x, rows, out);
    }
    leo_status status = op_call_check_shape(call, "expanded_row_idx", 1, &count);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "expanded_expert_idx", 1, &count);
    }
    if (status != LEO_OK || count == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_moe_flat(&chain, experts), of_rows = op_moe_flat(&chain, rows),
                           order = op_moe_order(&chain, &list,
                                                op_call_tensor(call, "expanded_expert_idx")),
                           sorted = take(&chain, &of_rows, &order),
                           places = op_moe_order(&chain, &sorted, NULL),
                           first = op_view_slice(&sorted, 0, 0, out->dim[0]),
                           source = whole(&chain, "MoeRest", &first, x->dim[0]);
    op_chain_copy(&chain, op_call_tensor(call, "expanded_row_idx"), &places);
    op_moe_take_rows(&chain, x, &source, out);
    return chain.status;
}

leo_status op_plan_moe_expert_tokens(const struct op_call *call)
{
    const struct op_tensor *sorted = op_call_tensor(call, "sorted_expert_for_source_row"),
                           *out = op_call_tensor(call, "out");
    const int64_t experts = op_call_int(call, "num_expert");
    leo_status status = op_call_check_shape(call, "out", 1, &experts);
    if (status == LEO_OK && (sorted->rank != 1 || experts < 1)) {
        status = op_moe_fail_shapes(call, sorted, out, out);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (sorted->dim[0] == 0) {
        op_chain_fill(&chain, out, 0);
        return chain.status;
    }
    const struct op_tensor dense = op_chain_dense(&chain, sorted->type, sorted),
                           ends = op_moe_bound(&chain, &dense, 0, experts, OP_TYPE_I32, true);
    op_chain_copy(&chain, out, &ends);
    return chain.status;
}

/* ---- what the experts made ---- */

struct finalize {
    const struct op_tensor *made, *places, *first, *second, *bias, *scales, *experts, *out;
    int64_t mode, each; /* rows of a token */
};

static struct finalize finalize_of(const struct op_call *call)
{
    const bool v1 = op_call_has(call, "expanded_permuted_rows");
    struct finalize f = {
        .made = op_call_tensor(call, v1 ? "expanded_permuted_rows" : "expandedX"),
        .places = op_call_tensor(call, v1 ? "expanded_src_to_dst_row" : "expandedRowIdx"),
        .first = op_call_tensor(call, v1 ? "skip1" : "x1Optional"),
        .second = op_call_tensor(call, v1 ? "skip2" : "x2Optional"),
        .bias = op_call_tensor(call, v1 ? "bias" : "biasOptional"),
        .scales = op_call_tensor(call, v1 ? "scales" : "scalesOptional"),
        .experts = op_call_tensor(call, v1 ? "expert_for_source_row" : "expertIdxOptional"),
        .out = op_call_tensor(call, v1 ? "result" : "out"),
        .mode = v1 ? 0 : op_call_int(call, "dropPadMode"),
        .each = 1,
    };
    const int64_t rows = op_call_has(call, "k") ? op_call_int(call, "k") : 1;
    f.each = f.scales && f.scales->rank == 2 ? f.scales->dim[1] : rows;
    return f;
}

// Experts that compute nothing.
static leo_status check_no_idle_experts(const struct op_call *call)
{
    static const char *const names[] = {"constExpertX",    "constExpertAlpha1", "constExpertAlpha2",
                                        "constExpertV",    "zeroExpertRange",   "copyExpertRange",
                                        "constExpertRange"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (op_call_has(call, names[i]) && op_call_value(call, names[i])->pointer) {
            return op_call_fail(call, LEO_ERR_UNSUPPORTED, "%s must be NULL", names[i]);
        }
    }
    return LEO_OK;
}

static leo_status check_finalize(const struct op_call *call, const struct finalize *f)
{
    const struct op_tensor *out = f->out, *made = f->made;
    const unsigned last = made->rank ? made->rank - 1 : 0;
    const int64_t shape[] = {out->dim[0], f->each};
    const struct op_tensor like = op_tensor_dense(0, OP_TYPE_I32, 2, shape);
    if (f->mode < 0 || f->mode > 3) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "dropPadMode is %" PRId64 ": it must be 0 to 3", f->mode);
    }
    const bool fits = out->rank == 2 && made->rank == (f->mode & 1 ? 3 : 2) &&
                      made->dim[last] == out->dim[1] &&
                      op_tensor_count(f->places) == out->dim[0] * f->each &&
                      (!f->first || op_tensor_same_shape(f->first, out)) &&
                      (!f->second || op_tensor_same_shape(f->second, out)) &&
                      (!f->scales || op_tensor_same_shape(f->scales, &like)) &&
                      (!f->bias || (f->bias->rank == 2 && f->bias->dim[1] == out->dim[1] &&
                                    f->experts && op_tensor_same_shape(f->experts, &like)));
    return fits ? LEO_OK : op_moe_fail_shapes(call, made, f->places, out);
}

// Places in the order of rows: the list may have them column by column.
static struct op_tensor places_of(struct op_chain *chain, const struct finalize *f)
{
    const struct op_tensor list = op_moe_flat(chain, f->places);
    if (f->mode >= 2) {
        return list;
    }
    const struct op_tensor columns =
        op_view_shape(&list, 2, (const int64_t[]){f->each, f->out->dim[0]});
    const struct op_tensor turned = op_view_swap(&columns, 0, 1);
    return op_moe_flat(chain, &turned);
}

static void add(struct op_chain *chain, const struct op_tensor *sum, const struct op_tensor *more)
{
    const struct op_scalar one = op_scalar_int(1);
    if (more) {
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(sum), op_value_tensor(more),
                      op_value_scalar(&one), op_value_tensor(sum));
    }
}

leo_status op_plan_moe_finalize_routing(const struct op_call *call)
{
    const struct finalize f = finalize_of(call);
    leo_status status = check_no_idle_experts(call);
    if (status == LEO_OK) {
        status = check_finalize(call, &f);
    }
    if (status != LEO_OK || op_tensor_count(f.out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t width = f.out->dim[1], shape[] = {op_tensor_count(f.made) / width, width};
    const struct op_tensor dense = op_chain_dense(&chain, f.made->type, f.made),
                           table = op_view_shape(&dense, 2, shape), list = places_of(&chain, &f);
    struct op_tensor rows = op_moe_rows(&chain, &table, &list, true);
    if (f.bias) {
        const struct op_tensor experts = op_moe_flat(&chain, f.experts),
                               of_expert = op_moe_rows(&chain, f.bias, &experts, false);
        rows = op_chain_dense(&chain, OP_TYPE_F32, &rows);
        add(&chain, &rows, &of_expert);
    }
    const struct op_tensor sum = op_chain_wide(&chain, f.out);
    op_moe_sum(&chain, &rows, f.scales, &sum);
    add(&chain, &sum, f.first);
    add(&chain, &sum, f.second);
    op_chain_give(&chain, f.out, &sum);
    return chain.status;
}
