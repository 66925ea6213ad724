/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens in the order of their experts, back, and the gradients. Every step takes rows from places;
 * none writes to places, so that the order of sums is fixed. */
#include "moe.h"

#include <inttypes.h>

leo_status op_moe_fail_shapes(const struct op_call *call, const struct op_tensor *a,
                              const struct op_tensor *b, const struct op_tensor *c)
{
    return op_call_fail(call, LEO_ERR_SHAPE, "shapes %s, %s and %s do not fit",
                        op_tensor_shape_text(a).text, op_tensor_shape_text(b).text,
                        op_tensor_shape_text(c).text);
}

struct op_tensor op_moe_flat(struct op_chain *chain, const struct op_tensor *tensor)
{
    const int64_t count = op_tensor_count(tensor);
    const struct op_tensor dense = op_chain_dense(chain, tensor->type, tensor);
    return op_view_shape(&dense, 1, &count);
}

struct op_tensor op_moe_order(struct op_chain *chain, const struct op_tensor *list,
                              const struct op_tensor *values)
{
    const struct op_tensor order = op_chain_temp_like(chain, OP_TYPE_I64, list),
                           sorted = values ? *values : op_chain_temp_like(chain, list->type, list);
    OP_CHAIN_CALL(chain, "Sort", op_value_tensor(list), op_value_int(1), op_value_int(0),
                  op_value_int(0), op_value_tensor(&sorted), op_value_tensor(&order));
    return order;
}

struct op_tensor op_moe_rank(struct op_chain *chain, const struct op_tensor *order)
{
    enum { EXACT = 1 << 24 }; // f32 holds every place, and is sorted in one go
    if (op_tensor_count(order) > EXACT) {
        return op_moe_order(chain, order, NULL);
    }
    const struct op_tensor key = op_chain_dense(chain, OP_TYPE_F32, order);
    return op_moe_order(chain, &key, NULL);
}

void op_moe_turn(struct op_chain *chain, const struct op_tensor *a, const struct op_tensor *b,
                 const struct op_tensor cos[2], const struct op_tensor sin[2],
                 const struct op_tensor out[2])
{
    OP_CHAIN_CALL(chain, "MoeTurnedFirst", op_value_tensor(a), op_value_tensor(b),
                  op_value_tensor(&cos[0]), op_value_tensor(&sin[0]), op_value_tensor(&out[0]));
    OP_CHAIN_CALL(chain, "MoeTurnedSecond", op_value_tensor(a), op_value_tensor(b),
                  op_value_tensor(&cos[1]), op_value_tensor(&sin[1]), op_value_tensor(&out[1]));
}

struct op_tensor op_moe_bound(struct op_chain *chain, const struct op_tensor *sorted, int64_t first,
                              int64_t end, enum op_type type, bool after)
{
    const int64_t experts = end - first;
    const struct op_tensor number = op_chain_temp(chain, OP_TYPE_I32, 1, &experts),
                           out = op_chain_temp(chain, type, 1, &experts);
    op_chain_range(chain, &number, first, 1);
    OP_CHAIN_CALL(chain, "SearchSorted", op_value_tensor(sorted), op_value_tensor(&number),
                  op_value_int(type == OP_TYPE_I32), op_value_int(after), op_value_tensor(NULL),
                  op_value_tensor(&out));
    return out;
}

void op_moe_take_rows(struct op_chain *chain, const struct op_tensor *table,
                      const struct op_tensor *places, const struct op_tensor *out)
{
    OP_CHAIN_CALL(chain, "IndexSelect", op_value_tensor(table), op_value_int(0),
                  op_value_tensor(places), op_value_tensor(out));
}

struct op_tensor op_moe_pick(struct op_chain *chain, const struct op_tensor *list,
                             const struct op_tensor *places)
{
    const struct op_tensor safe = op_chain_temp_like(chain, places->type, places),
                           out = op_chain_temp_like(chain, list->type, places);
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(places), op_value_int(list->dim[0]),
                  op_value_tensor(&safe));
    op_moe_take_rows(chain, list, &safe, &out);
    return out;
}

struct op_tensor op_moe_rows(struct op_chain *chain, const struct op_tensor *table,
                             const struct op_tensor *places, bool may_miss)
{
    const int64_t count = op_tensor_count(places), shape[] = {count, table->dim[1]};
    const struct op_tensor out = op_chain_temp(chain, table->type, 2, shape);
    if (table->dim[0] == 0) {
        op_chain_fill(chain, &out, 0);
        return out;
    }
    if (!may_miss) {
        op_moe_take_rows(chain, table, places, &out);
        return out;
    }
    const struct op_tensor safe = op_chain_temp_like(chain, places->type, places);
    struct op_tensor has = op_chain_temp(chain, OP_TYPE_F32, 1, &count);
    OP_CHAIN_CALL(chain, "MoePlace", op_value_tensor(places), op_value_int(table->dim[0]),
                  op_value_tensor(&safe));
    OP_CHAIN_CALL(chain, "MoeHas", op_value_tensor(places), op_value_int(table->dim[0]),
                  op_value_tensor(&has));
    op_moe_take_rows(chain, table, &safe, &out);
    has = op_view_insert(&has, 1);
    OP_CHAIN_CALL(chain, "MoeKept", op_value_tensor(&out), op_value_tensor(&has),
                  op_value_tensor(&out));
    return out;
}

void op_moe_sum(struct op_chain *chain, const struct op_tensor *rows,
                const struct op_tensor *factor, const struct op_tensor *out)
{
    const int64_t tokens = out->dim[0], width = out->dim[1],
                  shape[] = {tokens, tokens ? rows->dim[0] / tokens : 0, width};
    struct op_tensor all = op_view_shape(rows, 3, shape);
    if (factor) {
        const struct op_tensor dense = op_chain_dense(chain, factor->type, factor);
        const struct op_tensor each =
                                   op_view_shape(&dense, 3, (const int64_t[]){tokens, shape[1], 1}),
                               product = op_chain_temp(chain, OP_TYPE_F32, 3, shape);
        OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&all), op_value_tensor(&each),
                      op_value_tensor(&product));
        all = product;
    }
    op_chain_sum(chain, &all, 1, out);
}

/* ---- the operators ---- */

static leo_status check_mode(const struct op_call *call)
{
    return op_call_int(call, "paddedMode")
               ? op_call_fail(call, LEO_ERR_UNSUPPORTED, "paddedMode is true: it must be false")
               : LEO_OK;
}

leo_status op_plan_moe_permute(const struct op_call *call)
{
    const struct op_tensor *tokens = op_call_tensor(call, "tokens"),
                           *indices = op_call_tensor(call, "indices"),
                           *out = op_call_tensor(call, "permuteTokensOut");
    const int64_t count = op_tensor_count(indices), given = op_call_int(call, "numOutTokens"),
                  kept = given <= 0      ? count + given
                         : given < count ? given
                                         : count;
    leo_status status = check_mode(call);
    if (status == LEO_OK &&
        (tokens->rank != 2 || indices->rank < 1 || indices->rank > 2 ||
         indices->dim[0] != tokens->dim[0] || out->type != tokens->type || kept < 0)) {
        status = op_moe_fail_shapes(call, tokens, indices, out);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "permuteTokensOut", 2,
                                     (const int64_t[]){kept, tokens->dim[1]});
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "sortedIndicesOut", 1, &count);
    }
    if (status != LEO_OK || count == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_moe_flat(&chain, indices),
                           order = op_moe_order(&chain, &list, NULL),
                           places = op_moe_rank(&chain, &order),
                           first = op_view_slice(&order, 0, 0, kept),
                           source = op_chain_temp_like(&chain, OP_TYPE_I64, &first);
    OP_CHAIN_CALL(&chain, "MoeQuotient", op_value_tensor(&first),
                  op_value_int(count / tokens->dim[0]), op_value_tensor(&source));
    op_moe_take_rows(&chain, tokens, &source, out);
    op_chain_copy(&chain, op_call_tensor(call, "sortedIndicesOut"), &places);
    return chain.status;
}

leo_status op_plan_moe_unpermute(const struct op_call *call)
{
    const bool gradient = op_call_has(call, "permutedOutputGrad");
    const struct op_tensor *rows = op_call_tensor(call, gradient ? "permutedOutputGrad"
                                                                 : "permutedTokens"),
                           *places = op_call_tensor(call, "sortedIndices"),
                           *probs = gradient ? NULL : op_call_tensor(call, "probsOptional"),
                           *out = op_call_tensor(call, "out");
    const int64_t count = op_tensor_count(places), each = gradient ? op_call_int(call, "numTopk")
                                                          : probs  ? probs->dim[1]
                                                                   : 1;
    leo_status status = check_mode(call);
    if (status == LEO_OK &&
        (rows->rank != 2 || out->rank != 2 || (probs && probs->rank != 2) || each <= 0 ||
         out->dim[0] * each != count || out->dim[1] != rows->dim[1] ||
         (probs && probs->dim[0] != out->dim[0]))) {
        status = op_moe_fail_shapes(call, rows, places, out);
    }
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_moe_flat(&chain, places),
                           taken = op_moe_rows(&chain, rows, &list, rows->dim[0] < count);
    op_moe_sum(&chain, &taken, probs, out);
    return chain.status;
}

// probsGrad[t, k] = sum of permuted[place of t, k] * gradient[t].
static void gradient_of_probs(struct op_chain *chain, const struct op_tensor *rows,
                              const struct op_tensor *list, const struct op_tensor *gradient,
                              const struct op_tensor *out)
{
    const int64_t shape[] = {out->dim[0], out->dim[1], gradient->dim[1]};
    const struct op_tensor taken = op_moe_rows(chain, rows, list, rows->dim[0] < list->dim[0]),
                           seen = op_view_shape(&taken, 3, shape),
                           of_token = op_view_insert(gradient, 1),
                           product = op_chain_temp(chain, OP_TYPE_F32, 3, shape);
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&seen), op_value_tensor(&of_token),
                  op_value_tensor(&product));
    op_chain_sum(chain, &product, 2, out);
}

leo_status op_plan_moe_unpermute_gradient(const struct op_call *call)
{
    const struct op_tensor *rows = op_call_tensor(call, "permuteTokens"),
                           *gradient = op_call_tensor(call, "unpermutedTokensGrad"),
                           *places = op_call_tensor(call, "sortedIndices"),
                           *probs = op_call_tensor(call, "probsOptional"),
                           *out = op_call_tensor(call, "permutedTokensGradOut"),
                           *probs_out = op_call_tensor(call, "probsGradOut");
    const int64_t count = op_tensor_count(places), each = probs ? probs->dim[1] : 1;
    leo_status status = check_mode(call);
    if (status == LEO_OK &&
        (rows->rank != 2 || gradient->rank != 2 || (probs && probs->rank != 2) ||
         gradient->dim[0] * each != count || rows->dim[1] != gradient->dim[1] ||
         rows->dim[0] > count || !op_tensor_same_shape(rows, out) ||
         (probs && (!probs_out || !op_tensor_same_shape(probs, probs_out))))) {
        status = op_moe_fail_shapes(call, rows, gradient, places);
    }
    if (status != LEO_OK || op_tensor_count(gradient) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_moe_flat(&chain, places),
                           order = op_moe_order(&chain, &list, NULL), // what stands at each place
        first = op_view_slice(&order, 0, 0, rows->dim[0]),
                           token = op_chain_temp_like(&chain, OP_TYPE_I64, &first);
    OP_CHAIN_CALL(&chain, "MoeQuotient", op_value_tensor(&first), op_value_int(each),
                  op_value_tensor(&token));
    if (!probs) {
        op_moe_take_rows(&chain, gradient, &token, out);
        return chain.status;
    }
    struct op_tensor factors = op_moe_flat(&chain, probs);
    factors = op_view_insert(&factors, 1);
    const struct op_tensor taken = op_moe_rows(&chain, gradient, &token, false),
                           factor = op_moe_rows(&chain, &factors, &first, false);
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&taken), op_value_tensor(&factor),
                  op_value_tensor(out));
    gradient_of_probs(&chain, rows, &list, gradient, probs_out);
    return chain.status;
}
