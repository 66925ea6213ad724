/* SPDX-License-Identifier: Apache-2.0 */
/* A call of attention of inference: what its parameters say, whatever they are called. */
#pragma once

#include "../frame/chain.h"

enum op_infer_layout { OP_INFER_BNSD, OP_INFER_BSND, OP_INFER_BSH, OP_INFER_TND };

struct op_infer {
    const struct op_tensor *query, *out, *lse;     /**< lse: NULL if it is not wanted */
    const struct op_tensor *query_rope, *key_rope; /**< more features; NULL: none */
    struct op_tensor_list key, value;              /**< one for all, or one a sequence */
    const struct op_tensor *one_key,
        *one_value; /**< what the lists hold if the call has no lists */
    const struct op_tensor *mask, *shift, *table; /**< NULL: not given */
    const struct op_ints *query_ends, *key_ends;  /**< lengths; of TND where each ends */
    int64_t batch, heads, key_heads, queries;     /**< queries: of a sequence, at most */
    int64_t before, after, sparse, page;
    double scale;
    enum op_infer_layout layout, out_layout;
    bool rows_may_die; /**< a row that sees no key is 0 */
};

/** Reads and checks the call's parameters; fails for what is not computed. */
LEO_MUST_CHECK leo_status op_infer_take(const struct op_call *call, struct op_infer *infer);
/** Elements along the length of sequence `index`, and where it begins (TND). */
int64_t op_infer_length(const struct op_infer *infer, const struct op_ints *ends, int64_t index,
                        int64_t all, int64_t *begin);
/** A tensor in a layout as [batch, heads, length, features]; TND as one sequence. False if it does
 * not hold `heads` heads. */
bool op_infer_view(const struct op_tensor *tensor, enum op_infer_layout layout, int64_t heads,
                   struct op_tensor *out);
/** Features [batch, heads, length, width] and, behind them, those of the rope; dense. */
struct op_tensor op_infer_join_rope(struct op_chain *chain, const struct op_tensor *a,
                                    const struct op_tensor *rope);
