/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over blocks of keys that each token and head of keys has chosen: FlashAttentionScore
 * under a mask of all others, heads of keys as members of the batch. */
#include "nsa.h"
#include "sparse.h"

#include <inttypes.h>

static const struct op_nsa_names packed_names = {"actualSeqQLenOptional",
                                                 "actualSeqKvLenOptional",
                                                 NULL,
                                                 "inputLayout",
                                                 "headNum",
                                                 "attenMaskOptional"},
                                 paged_names = {"actualQSeqLenOptional",
                                                "actualKvSeqLenOptional",
                                                "blockTableOptional",
                                                "layoutOptional",
                                                "numHeads",
                                                "attenMaskOptional"};

struct selected {
    struct op_nsa nsa;
    struct op_tensor indices; /* [tokens, key heads, count] */
    int64_t block;
};

static leo_status take(struct op_chain *chain, struct selected *s)
{
    const struct op_call *call = chain->call;
    const bool paged = op_call_has(call, "blockTableOptional");
    leo_status status = op_nsa_take(chain, paged ? &paged_names : &packed_names, &s->nsa);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor *indices = op_call_tensor(call, "topkIndices");
    const int64_t count = op_call_int(call, paged ? "selectBlockCount" : "selectedBlockCount"),
                  shape[] = {s->nsa.query.dim[0], s->nsa.key_heads, count};
    s->block = op_call_int(call, paged ? "selectBlockSize" : "selectedBlockSize");
    if (count < 1 || s->block < 1 || op_tensor_count(indices) != shape[0] * shape[1] * count) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "topkIndices of shape %s, %" PRId64 " blocks of %" PRId64
                            " keys: %" PRId64 " tokens and %" PRId64 " heads of keys choose them",
                            op_tensor_shape_text(indices).text, count, s->block, shape[0],
                            shape[1]);
    }
    const struct op_tensor dense = op_chain_dense(chain, indices->type, indices);
    s->indices = op_view_shape(&dense, 3, shape);
    return chain->status;
}

// u8 or bool [key heads, 1, queries, keys]: not 0 for keys that were not chosen or lie behind.
static struct op_tensor hidden_keys(struct op_chain *chain, const struct selected *s,
                                    const struct op_nsa_part *part)
{
    const int64_t rows = s->nsa.key_heads * part->count[0], column[] = {rows, 1},
                  plane[] = {s->nsa.key_heads, part->count[0]}, token[] = {1, part->count[0]},
                  list_shape[] = {rows, s->indices.dim[2]};
    const struct op_tensor some = op_view_slice(&s->indices, 0, part->first[0], part->count[0]),
                           turned = op_view_swap(&some, 0, 1),
                           dense = op_chain_dense(chain, turned.type, &turned),
                           list = op_view_shape(&dense, 2, list_shape);
    const struct op_sparse sparse = {.parts = s->nsa.key_heads,
                                     .tokens = part->count[0],
                                     .keys = part->count[1],
                                     .begin = op_chain_temp(chain, OP_TYPE_F32, 2, column),
                                     .end = op_chain_temp(chain, OP_TYPE_F32, 2, column)};
    op_chain_fill(chain, &sparse.begin, 0);
    op_chain_fill(chain, &sparse.end, (double)part->count[1]);
    if (s->nsa.causal) {
        const struct op_tensor place = op_chain_temp(chain, OP_TYPE_F32, 2, token),
                               end = op_view_shape(&sparse.end, 2, plane);
        struct op_tensor all;
        op_chain_range(chain, &place, 1, 1);
        if (op_tensor_broadcast(&place, 2, plane, &all)) {
            op_chain_copy(chain, &end, &all);
        }
    }
    const struct op_tensor chosen = op_sparse_mask(chain, &sparse, &list, s->block),
                           mask = op_nsa_mask(&s->nsa, part);
    if (!mask.rank) {
        return chosen;
    }
    const struct op_tensor both = op_chain_temp_like(chain, OP_TYPE_BOOL, &chosen);
    OP_CHAIN_CALL(chain, "LogicalOr", op_value_tensor(&chosen), op_value_tensor(&mask),
                  op_value_tensor(&both));
    return both;
}

/* The forward call; its results are [tokens, heads, width], max and sum may be missing. */
struct forward {
    struct selected selected;
    struct op_tensor out, max, sum;
};

static leo_status run(struct op_chain *chain, const struct op_nsa_part *part, int64_t index,
                      const void *user)
{
    const struct forward *f = user;
    const struct op_nsa *nsa = &f->selected.nsa;
    const struct op_tensor hidden = hidden_keys(chain, &f->selected, part),
                           max = op_nsa_column(chain, nsa, part),
                           sum = op_nsa_column(chain, nsa, part),
                           out = op_nsa_heads(nsa, &f->out, part->first[0], part->count[0]);
    (void)index;
    op_nsa_attend(chain, nsa, part, &hidden, &max, &sum, &out);
    op_nsa_give_column(chain, nsa, part, &f->max, &max);
    op_nsa_give_column(chain, nsa, part, &f->sum, &sum);
    return chain->status;
}

leo_status op_plan_nsa_selected(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    const bool paged = op_call_has(call, "blockTableOptional");
    const char *name = paged ? "output" : "attentionOut";
    struct forward f = {0};
    const struct op_nsa *nsa = &f.selected.nsa;
    leo_status status = take(&chain, &f.selected);
    if (status != LEO_OK) {
        return status;
    }
    const int64_t tokens = nsa->query.dim[0];
    const struct op_tensor *out = op_call_tensor(call, name);
    status = op_nsa_rows(call, name, tokens, nsa->heads, nsa->value.dim[2], &f.out);
    if (status == LEO_OK && !paged) {
        status = op_nsa_rows(call, "softmaxMaxOut", tokens, nsa->heads, OP_NSA_COPIES, &f.max);
    }
    if (status == LEO_OK && !paged) {
        status = op_nsa_rows(call, "softmaxSumOut", tokens, nsa->heads, OP_NSA_COPIES, &f.sum);
    }
    if (status == LEO_OK) {
        op_chain_fill(&chain, out, 0);
    }
    return status == LEO_OK ? op_nsa_each(&chain, nsa, run, &f) : status;
}

/* ---- gradients ---- */

struct gradients {
    struct selected selected;
    struct op_tensor out, dy, max, sum, query, key, value; /* [tokens, heads, width] */
};

static leo_status take_gradients(const struct op_call *call, struct gradients *g)
{
    const struct op_nsa *nsa = &g->selected.nsa;
    const int64_t queries = nsa->query.dim[0], keys = nsa->key.dim[0], width = nsa->key.dim[2],
                  wide = nsa->value.dim[2];
    const struct {
        const char *name;
        struct op_tensor *to;
        int64_t tokens, heads, width;
    } parts[] = {{"attentionOut", &g->out, queries, nsa->heads, wide},
                 {"attentionOutGrad", &g->dy, queries, nsa->heads, wide},
                 {"softmaxMax", &g->max, queries, nsa->heads, OP_NSA_COPIES},
                 {"softmaxSum", &g->sum, queries, nsa->heads, OP_NSA_COPIES},
                 {"dqOut", &g->query, queries, nsa->heads, width},
                 {"dkOut", &g->key, keys, nsa->key_heads, width},
                 {"dvOut", &g->value, keys, nsa->key_heads, wide}};
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < sizeof(parts) / sizeof(parts[0]); i++) {
        status = op_nsa_rows(call, parts[i].name, parts[i].tokens, parts[i].heads, parts[i].width,
                             parts[i].to);
        if (status == LEO_OK && !parts[i].to->rank) {
            status = op_call_fail(call, LEO_ERR_SHAPE, "%s has no elements", parts[i].name);
        }
    }
    return status;
}

static leo_status run_gradient(struct op_chain *chain, const struct op_nsa_part *part,
                               int64_t index, const void *user)
{
    static const struct op_value layout = {.kind = OP_KIND_TEXT, .text = "BNSD"};
    const struct gradients *g = user;
    const struct op_nsa *nsa = &g->selected.nsa;
    const struct op_value none = op_value_tensor(NULL);
    const struct op_tensor *of_queries[] = {&nsa->query, &g->dy,  &g->out,
                                            &g->max,     &g->sum, &g->query},
                           *of_keys[] = {&nsa->key, &nsa->value, &g->key, &g->value};
    struct op_tensor q[6], k[4];
    (void)index;
    for (unsigned i = 0; i < 6; i++) {
        q[i] = op_nsa_heads(nsa, of_queries[i], part->first[0], part->count[0]);
    }
    for (unsigned i = 0; i < 4; i++) {
        k[i] = op_nsa_heads(nsa, of_keys[i], part->first[1], part->count[1]);
    }
    const struct op_tensor hidden = hidden_keys(chain, &g->selected, part),
                           max = op_chain_dense(chain, OP_TYPE_F32, &q[3]),
                           sum = op_chain_dense(chain, OP_TYPE_F32, &q[4]),
                           first = op_view_slice(&max, 3, 0, 1),
                           alive = op_chain_temp_like(chain, q[1].type, &q[1]);
    // Tokens that saw nothing gave 0 whatever they hold.
    OP_CHAIN_CALL(chain, "AttentionAlive", op_value_tensor(&first), op_value_tensor(&q[1]),
                  op_value_tensor(&alive));
    OP_CHAIN_CALL(chain, "FlashAttentionScoreGrad", op_value_tensor(&q[0]), op_value_tensor(&k[0]),
                  op_value_tensor(&k[1]), op_value_tensor(&alive), none, none, none,
                  op_value_tensor(&hidden), op_value_tensor(&max), op_value_tensor(&sum), none,
                  op_value_tensor(&q[2]), op_value_ints(NULL), op_value_real(nsa->scale),
                  op_value_real(1), op_value_int(INT32_MAX), op_value_int(INT32_MAX),
                  op_value_int(nsa->heads / nsa->key_heads), layout, op_value_int(0),
                  op_value_int(0), op_value_tensor(&q[5]), op_value_tensor(&k[2]),
                  op_value_tensor(&k[3]), none);
    return chain->status;
}

leo_status op_plan_nsa_selected_gradient(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    struct gradients g = {0};
    leo_status status = take(&chain, &g.selected);
    if (status == LEO_OK) {
        status = take_gradients(call, &g);
    }
    if (status != LEO_OK) {
        return status;
    }
    op_chain_fill(&chain, &g.query, 0);
    op_chain_fill(&chain, &g.key, 0);
    op_chain_fill(&chain, &g.value, 0);
    return op_nsa_each(&chain, &g.selected.nsa, run_gradient, &g);
}
