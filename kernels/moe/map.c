/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens in the order of their experts, and back, where a map says which experts a token has. The
 * map's places that are set, expert by expert, are what a stable sort by "not set" gives first. */
#include "moe.h"

#include <inttypes.h>

struct map {
    struct op_tensor order; /* the places of the map, those that are set first, i64 */
    struct op_tensor token; /* of the first `count` of them, i64 */
    int64_t count, tokens, experts;
};

static leo_status check_mode(const struct op_call *call, const char *name)
{
    return op_call_int(call, name)
               ? op_call_fail(call, LEO_ERR_UNSUPPORTED, "%s is true: it must be false", name)
               : LEO_OK;
}

static bool fits_map(const struct op_tensor *map, int64_t tokens, int64_t count)
{
    return map && map->rank == 2 && map->dim[0] == tokens && tokens > 0 && count > 0 &&
           count % tokens == 0 && count <= op_tensor_count(map);
}

static struct map sort_map(struct op_chain *chain, const struct op_tensor *given, int64_t count)
{
    struct map map = {.count = count, .tokens = given->dim[0], .experts = given->dim[1]};
    const struct op_tensor turned = op_view_swap(given, 0, 1), list = op_moe_flat(chain, &turned),
                           key = op_chain_temp_like(chain, OP_TYPE_BOOL, &list);
    OP_CHAIN_CALL(chain, "MoeUnset", op_value_tensor(&list), op_value_tensor(&key));
    map.order = op_moe_order(chain, &key, NULL);
    const struct op_tensor first = op_view_slice(&map.order, 0, 0, count);
    map.token = op_chain_temp_like(chain, OP_TYPE_I64, &first);
    OP_CHAIN_CALL(chain, "MoeRest", op_value_tensor(&first), op_value_int(map.tokens),
                  op_value_tensor(&map.token));
    return map;
}

// What [tokens, experts] holds at the places that are set: a list.
static struct op_tensor pick(struct op_chain *chain, const struct map *map,
                             const struct op_tensor *values)
{
    const struct op_tensor turned = op_view_swap(values, 0, 1), list = op_moe_flat(chain, &turned),
                           first = op_view_slice(&map->order, 0, 0, map->count),
                           out = op_chain_temp_like(chain, values->type, &first);
    op_moe_take_rows(chain, &list, &first, &out);
    return out;
}

// The other way: a list at the places that are set, 0 elsewhere.
static void spread(struct op_chain *chain, const struct map *map, const struct op_tensor *list,
                   const struct op_tensor *out)
{
    const int64_t shape[] = {map->experts, map->tokens};
    const struct op_tensor rank = op_moe_rank(chain, &map->order), table = op_view_insert(list, 1),
                           rows = op_moe_rows(chain, &table, &rank, true),
                           seen = op_view_shape(&rows, 2, shape),
                           turned = op_view_swap(&seen, 0, 1);
    op_chain_copy(chain, out, &turned);
}

leo_status op_plan_moe_map_permute(const struct op_call *call)
{
    const struct op_tensor *tokens = op_call_tensor(call, "tokens"),
                           *given = op_call_tensor(call, "routingMap"),
                           *probs = op_call_tensor(call, "probsOptional"),
                           *out = op_call_tensor(call, "permuteTokensOut"),
                           *probs_out = op_call_tensor(call, "permuteProbsOutOptional");
    leo_status status = check_mode(call, "dropAndPad");
    const int64_t count = out->rank == 2 ? out->dim[0] : 0;
    if (status == LEO_OK &&
        (tokens->rank != 2 || !fits_map(given, tokens->dim[0], count) ||
         out->dim[1] != tokens->dim[1] || out->type != tokens->type ||
         (probs && (!op_tensor_same_shape(probs, given) || !probs_out ||
                    op_tensor_count(probs_out) != count || probs_out->rank != 1)))) {
        status = op_moe_fail_shapes(call, tokens, given, out);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "sortedIndicesOut", 1, &count);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct map map = sort_map(&chain, given, count);
    op_moe_take_rows(&chain, tokens, &map.token, out);
    const struct op_tensor places = op_moe_rank(&chain, &map.token);
    op_chain_copy(&chain, op_call_tensor(call, "sortedIndicesOut"), &places);
    if (probs) {
        const struct op_tensor picked = pick(&chain, &map, probs);
        op_chain_copy(&chain, probs_out, &picked);
    }
    return chain.status;
}

leo_status op_plan_moe_map_permute_gradient(const struct op_call *call)
{
    const struct op_tensor *rows = op_call_tensor(call, "permutedTokenOutputGrad"),
                           *places = op_call_tensor(call, "sortedIndices"),
                           *given = op_call_tensor(call, "routingMapOptional"),
                           *probs = op_call_tensor(call, "permutedProbsOutputGradOptional"),
                           *out = op_call_tensor(call, "tokensGradOut"),
                           *probs_out = op_call_tensor(call, "probsGradOutOptional");
    const int64_t count = op_tensor_count(places), tokens = op_call_int(call, "tokensNum");
    leo_status status = check_mode(call, "dropAndPad");
    if (status == LEO_OK &&
        (rows->rank != 2 || rows->dim[0] != count || out->rank != 2 || out->dim[0] != tokens ||
         out->dim[1] != rows->dim[1] || tokens <= 0 || count % tokens ||
         (probs && (!fits_map(given, tokens, count) || !probs_out ||
                    !op_tensor_same_shape(probs_out, given) || op_tensor_count(probs) != count)))) {
        status = op_moe_fail_shapes(call, rows, places, out);
    }
    if (status != LEO_OK || op_tensor_count(out) == 0 || count == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_moe_flat(&chain, places),
                           taken = op_moe_rows(&chain, rows, &list, false);
    op_moe_sum(&chain, &taken, NULL, out);
    if (probs) {
        const struct map map = sort_map(&chain, given, count);
        const struct op_tensor flat = op_moe_flat(&chain, probs);
        spread(&chain, &map, &flat, probs_out);
    }
    return chain.status;
}

leo_status op_plan_moe_map_unpermute(const struct op_call *call)
{
    const struct op_tensor *rows = op_call_tensor(call, "permutedTokens"),
                           *places = op_call_tensor(call, "sortedIndices"),
                           *given = op_call_tensor(call, "routingMapOptional"),
                           *probs = op_call_tensor(call, "probsOptional"),
                           *out = op_call_tensor(call, "unpermutedTokens"),
                           *probs_out = op_call_tensor(call, "permuteProbs"),
                           *index = op_call_tensor(call, "outIndex"),
                           *token = op_call_tensor(call, "permuteTokenId");
    const int64_t count = op_tensor_count(places), tokens = out->rank == 2 ? out->dim[0] : 0;
    leo_status status = check_mode(call, "paddedMode");
    if (status == LEO_OK &&
        (rows->rank != 2 || rows->dim[0] != count || tokens <= 0 || count % tokens || count == 0 ||
         out->dim[1] != rows->dim[1] || op_tensor_count(index) != count ||
         op_tensor_count(token) != count || index->rank != 1 || token->rank != 1 ||
         (probs && (!fits_map(given, tokens, count) || !op_tensor_same_shape(probs, given) ||
                    !probs_out || op_tensor_count(probs_out) != count || probs_out->rank != 1)))) {
        status = op_moe_fail_shapes(call, rows, places, out);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_moe_flat(&chain, places),
                           taken = op_moe_rows(&chain, rows, &list, false),
                           number = op_chain_temp_like(&chain, OP_TYPE_I32, &list),
                           of_token = op_chain_temp_like(&chain, OP_TYPE_I32, &list);
    struct op_tensor factor;
    if (probs) {
        const struct map map = sort_map(&chain, given, count);
        const struct op_tensor picked = pick(&chain, &map, probs),
                               table = op_view_insert(&picked, 1);
        op_chain_copy(&chain, probs_out, &picked);
        factor = op_moe_rows(&chain, &table, &list, false);
    }
    op_moe_sum(&chain, &taken, probs ? &factor : NULL, out);
    // What the gradient asks for: which row went to which token.
    op_chain_range(&chain, &number, 0, 1);
    OP_CHAIN_CALL(&chain, "MoeQuotient", op_value_tensor(&number), op_value_int(count / tokens),
                  op_value_tensor(&of_token));
    op_chain_copy(&chain, index, &list);
    op_chain_copy(&chain, token, &of_token);
    return chain.status;
}

leo_status op_plan_moe_map_unpermute_gradient(const struct op_call *call)
{
    const struct op_tensor *gradient = op_call_tensor(call, "unpermuted_tokens_grad"),
                           *index = op_call_tensor(call, "out_index"),
                           *token = op_call_tensor(call, "permuted_token_id"),
                           *given = op_call_tensor(call, "routing_map"),
                           *rows = op_call_tensor(call, "permuted_tokens"),
                           *probs = op_call_tensor(call, "probs"),
                           *out = op_call_tensor(call, "permuted_tokens_grad_out"),
                           *probs_out = op_call_tensor(call, "probs_grad_out");
    const int64_t count = op_tensor_count(index);
    leo_status status = check_mode(call, "drop_and_pad");
    if (status == LEO_OK &&
        (gradient->rank != 2 || out->rank != 2 || out->dim[0] != count || count == 0 ||
         out->dim[1] != gradient->dim[1] || op_tensor_count(token) != count ||
         (probs && (!fits_map(given, gradient->dim[0], count) || !rows || !probs_out ||
                    !op_tensor_same_shape(rows, out) || !op_tensor_same_shape(probs, given) ||
                    !op_tensor_same_shape(probs, probs_out))))) {
        status = op_moe_fail_shapes(call, gradient, index, out);
    }
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_moe_flat(&chain, index), tokens = op_moe_flat(&chain, token),
                           order = op_moe_order(&chain, &list, NULL),
                           from = op_chain_temp_like(&chain, tokens.type, &tokens);
    op_moe_take_rows(&chain, &tokens, &order, &from);
    if (!probs) {
        op_moe_take_rows(&chain, gradient, &from, out);
        return chain.status;
    }
    const struct map map = sort_map(&chain, given, count);
    const struct op_tensor taken = op_moe_rows(&chain, gradient, &from, false),
                           picked = pick(&chain, &map, probs), factor = op_view_insert(&picked, 1),
                           product = op_chain_temp_like(&chain, OP_TYPE_F32, &taken),
                           sums = op_chain_temp(&chain, OP_TYPE_F32, 1, &count);
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&taken), op_value_tensor(&factor),
                  op_value_tensor(out));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&taken), op_value_tensor(rows),
                  op_value_tensor(&product));
    op_chain_sum(&chain, &product, 1, &sums);
    spread(&chain, &map, &sums, probs_out);
    return chain.status;
}
