/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over compressed keys, each of which stands for a window of tokens, and the blocks of
 * tokens that most of its weights fall on. */
#include "nsa.h"

#include <inttypes.h>

enum { PART_BYTES = 1 << 26 /**< [A] of weights, f32, at a time */ };

static const struct op_nsa_names packed_names = {"actualSeqQLenOptional",
                                                 "actualCmpSeqKvLenOptional",
                                                 NULL,
                                                 "inputLayout",
                                                 "headNum",
                                                 "attenMaskOptional"},
                                 paged_names = {"actualQSeqLenOptional",
                                                "actualCmpKvSeqLenOptional",
                                                "blockTableOptional",
                                                "layoutOptional",
                                                "numHeads",
                                                "attentionMaskOptional"};

struct compressed {
    struct op_nsa nsa;
    const struct op_ints *blocks; /* ends of the blocks of each sequence; NULL: from its keys */
    const struct op_tensor *must; /* [tokens, blocks] of a sequence: blocks always chosen */
    struct op_tensor out, max, sum,
        chosen; /* [tokens, heads, width], chosen: [.., key heads, ..] */
    int64_t window, stride, block, count;
};

static leo_status take_numbers(const struct op_call *call, bool paged, struct compressed *c)
{
    c->window = op_call_int(call, "compressBlockSize");
    c->stride = op_call_int(call, paged ? "compressBlockStride" : "compressStride");
    c->block = op_call_int(call, "selectBlockSize");
    c->count = op_call_int(call, "selectBlockCount");
    if (c->stride < 1 || c->window < c->stride || c->window % c->stride || c->block < c->window ||
        c->block % c->stride || c->count < 1) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "windows of %" PRId64 " tokens each %" PRId64 ", blocks of %" PRId64
                            ", %" PRId64
                            " of them: windows and blocks are whole numbers of strides, a block is "
                            "not shorter than a window",
                            c->window, c->stride, c->block, c->count);
    }
    return LEO_OK;
}

static leo_status take(struct op_chain *chain, struct compressed *c)
{
    const struct op_call *call = chain->call;
    const bool paged = op_call_has(call, "blockTableOptional");
    *c = (struct compressed){
        .must = op_call_given(call, paged ? "topKMaskOptional" : "topkMaskOptional")};
    leo_status status = op_nsa_take(chain, paged ? &paged_names : &packed_names, &c->nsa);
    if (status == LEO_OK) {
        status = take_numbers(call, paged, c);
    }
    const int64_t tokens = c->nsa.query.dim[0], heads = c->nsa.heads;
    if (status == LEO_OK) {
        status = op_nsa_rows(call, paged ? "output" : "attentionOutOut", tokens, heads,
                             c->nsa.value.dim[2], &c->out);
    }
    if (status == LEO_OK) {
        status = op_nsa_rows(call, paged ? "topKOutput" : "topkIndicesOut", tokens,
                             c->nsa.key_heads, c->count, &c->chosen);
    }
    if (status == LEO_OK && !paged) {
        status = op_nsa_rows(call, "softmaxMaxOut", tokens, heads, OP_NSA_COPIES, &c->max);
    }
    if (status == LEO_OK && !paged) {
        status = op_nsa_rows(call, "softmaxSumOut", tokens, heads, OP_NSA_COPIES, &c->sum);
    }
    if (status != LEO_OK || paged) {
        return status;
    }
    c->blocks = op_call_ints(call, "actualSelSeqKvLenOptional");
    if (!c->blocks || (int64_t)c->blocks->count != c->nsa.sequences || !c->max.rank ||
        !c->sum.rank || (c->must && c->must->rank != 2)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "actualSelSeqKvLen has a number for each of %" PRId64
                            " sequences, topkMask is [tokens, blocks]",
                            c->nsa.sequences);
    }
    return LEO_OK;
}

static leo_status blocks_of(const struct op_call *call, const struct compressed *c, int64_t index,
                            const struct op_nsa_part *part, int64_t *blocks)
{
    const int64_t tokens = (part->count[1] - 1) * c->stride + c->window;
    *blocks = c->blocks ? c->blocks->items[index] - (index ? c->blocks->items[index - 1] : 0)
                        : (tokens + c->block - 1) / c->block;
    if (*blocks < 1 ||
        (c->must && (c->must->dim[0] < part->count[0] || c->must->dim[1] < *blocks))) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "sequence %" PRId64 " has %" PRId64
                            " blocks, from 1 on, or its mask is too small",
                            index, *blocks);
    }
    return LEO_OK;
}

// Weights of some tokens, summed over the heads of each head of keys: f32 [key heads, count, keys].
static struct op_tensor weights(struct op_chain *chain, const struct compressed *c,
                                const struct op_nsa_part *part, int64_t first, int64_t count,
                                const struct op_tensor *max, const struct op_tensor *sum)
{
    const struct op_nsa *nsa = &c->nsa;
    const int64_t shape[] = {nsa->key_heads, nsa->heads / nsa->key_heads, count, part->count[1]},
                  one[] = {1};
    const struct op_tensor query = op_nsa_heads(nsa, &nsa->query, part->first[0] + first, count),
                           key = op_nsa_heads(nsa, &nsa->key, part->first[1], part->count[1]),
                           turned = op_view_swap(&key, 2, 3),
                           score = op_chain_temp(chain, OP_TYPE_F32, 4, shape),
                           all = op_chain_temp(chain, OP_TYPE_F32, 3,
                                               (const int64_t[]){shape[0], count, shape[3]}),
                           most = op_view_slice(max, 3, 0, 1), sums = op_view_slice(sum, 3, 0, 1),
                           largest = op_view_slice(&most, 2, first, count),
                           total = op_view_slice(&sums, 2, first, count),
                           mask = op_nsa_mask(nsa, part);
    struct op_tensor bias = op_chain_temp(chain, OP_TYPE_F32, 1, one);
    op_chain_matmul(chain, &query, &turned, &score);
    if (mask.rank) {
        const struct op_tensor some = op_view_slice(&mask, 2, first, count);
        bias = op_chain_temp_like(chain, OP_TYPE_F32, &some);
        OP_CHAIN_CALL(chain, "AttentionMask", op_value_tensor(&some), op_value_tensor(&bias));
    } else if (nsa->causal) {
        const int64_t plane[] = {count, part->count[1]};
        bias = op_chain_temp(chain, OP_TYPE_F32, 2, plane);
        OP_CHAIN_CALL(chain, "AttentionBand", op_value_int(INT32_MIN), op_value_int(first),
                      op_value_tensor(&bias));
    } else {
        op_chain_fill(chain, &bias, 0);
    }
    OP_CHAIN_CALL(chain, "AttentionScores", op_value_tensor(&score), op_value_tensor(&bias),
                  op_value_real(nsa->scale), op_value_tensor(&score));
    OP_CHAIN_CALL(chain, "AttentionWeights", op_value_tensor(&score), op_value_tensor(&largest),
                  op_value_tensor(&total), op_value_tensor(&score));
    op_chain_sum(chain, &score, 1, &all);
    return all;
}

// How often each window counts in each block: f32 [keys, blocks].
static struct op_tensor shares(struct op_chain *chain, const struct compressed *c, int64_t keys,
                               int64_t blocks)
{
    const struct op_tensor window =
                               op_chain_temp(chain, OP_TYPE_F32, 2, (const int64_t[]){keys, 1}),
                           out = op_chain_temp(chain, OP_TYPE_F32, 2,
                                               (const int64_t[]){keys, blocks}),
                           list = op_view_shape(&window, 1, &keys);
    const int64_t parts = c->window / c->stride;
    op_chain_range(chain, &list, 0, 1);
    OP_CHAIN_CALL(chain, "NsaSharesWindow", op_value_tensor(&window),
                  op_value_int(c->block / c->stride), op_value_int(parts), op_value_int(parts),
                  op_value_tensor(&out));
    return out;
}

// The blocks of some tokens, the best first, -1 where there are fewer.
static void choose(struct op_chain *chain, const struct compressed *c,
                   const struct op_nsa_part *part, int64_t first, const struct op_tensor *all,
                   const struct op_tensor *share)
{
    const int64_t count = all->dim[1], blocks = share->dim[1],
                  some = c->count < blocks ? c->count : blocks,
                  shape[] = {c->nsa.key_heads, count, blocks},
                  best[] = {c->nsa.key_heads, count, some};
    const struct op_tensor score = op_chain_temp(chain, OP_TYPE_F32, 3, shape),
                           value = op_chain_temp(chain, OP_TYPE_F32, 3, best),
                           place = op_chain_temp(chain, OP_TYPE_I64, 3, best),
                           rows = op_view_slice(&c->chosen, 0, part->first[0] + first, count),
                           out = op_view_slice(&rows, 2, 0, some), to = op_view_swap(&out, 0, 1);
    op_chain_matmul(chain, all, share, &score);
    if (c->must) {
        const struct op_tensor part_rows = op_view_slice(c->must, 0, first, count),
                               must = op_view_slice(&part_rows, 1, 0, blocks);
        OP_CHAIN_CALL(chain, "NsaMust", op_value_tensor(&score), op_value_tensor(&must),
                      op_value_tensor(&score));
    }
    if (!c->blocks) {
        OP_CHAIN_CALL(chain, "NsaEnds", op_value_tensor(&score), op_value_int(blocks - 2),
                      op_value_tensor(&score));
    }
    OP_CHAIN_CALL(chain, "Topk", op_value_tensor(&score), op_value_int(some), op_value_int(2),
                  op_value_int(1), op_value_int(1), op_value_tensor(&value),
                  op_value_tensor(&place));
    op_chain_copy(chain, &to, &place);
}

static leo_status run(struct op_chain *chain, const struct op_nsa_part *part, int64_t index,
                      const void *user)
{
    const struct compressed *c = user;
    const struct op_nsa *nsa = &c->nsa;
    int64_t blocks;
    leo_status status = blocks_of(chain->call, c, index, part, &blocks);
    if (status != LEO_OK) {
        return status;
    }
    const int64_t bytes = nsa->heads * part->count[1] * 4,
                  most = bytes < PART_BYTES ? PART_BYTES / bytes : 1;
    const struct op_tensor max = op_nsa_column(chain, nsa, part),
                           sum = op_nsa_column(chain, nsa, part), hidden = op_nsa_mask(nsa, part),
                           out = op_nsa_heads(nsa, &c->out, part->first[0], part->count[0]);
    op_nsa_attend(chain, nsa, part, &hidden, &max, &sum, &out);
    op_nsa_give_column(chain, nsa, part, &c->max, &max);
    op_nsa_give_column(chain, nsa, part, &c->sum, &sum);
    const struct op_tensor share = shares(chain, c, part->count[1], blocks);
    for (int64_t first = 0; first < part->count[0]; first += most) {
        const uint64_t mark = op_plan_temp_mark(chain->plan);
        const int64_t left = part->count[0] - first, count = left < most ? left : most;
        const struct op_tensor all = weights(chain, c, part, first, count, &max, &sum);
        choose(chain, c, part, first, &all, &share);
        op_plan_temp_release(chain->plan, mark);
    }
    return chain->status;
}

leo_status op_plan_nsa_compressed(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    struct compressed c;
    leo_status status = take(&chain, &c);
    if (status != LEO_OK) {
        return status;
    }
    op_chain_fill(&chain, &c.out, 0);
    op_chain_fill(&chain, &c.chosen, -1);
    return op_nsa_each(&chain, &c.nsa, run, &c);
}
