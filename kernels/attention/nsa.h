/* SPDX-License-Identifier: Apache-2.0 */
/* What the operators of native sparse attention share: sequences one by one, whose lengths the host
 * knows. */
#pragma once

#include "../frame/chain.h"

enum {
    OP_NSA_COPIES = 8 /**< how often the largest and the sum of a row stand in their tensors */
};

/** Names of a row's parameters; NULL: it has none of that kind. */
struct op_nsa_names {
    const char *query_lengths, *key_lengths, *table, *layout, *heads, *mask;
};

/** A call: all tokens of all sequences, [tokens, heads, width]. */
struct op_nsa {
    struct op_tensor query, key, value;
    const struct op_tensor *mask; /**< [queries, keys] of a sequence, 0 for keys that are seen */
    const struct op_ints *query_ends, *key_lengths; /**< key_lengths are ends unless in pages */
    int64_t sequences, heads, key_heads;
    int64_t room; /**< keys that a sequence's pages hold; 0: keys lie one behind the other */
    double scale;
    bool causal; /**< sparseMode 2, which counts with a mask alone: no keys behind the token's place
                  */
};

/** One sequence: its first token and how many, of queries [0] and of keys [1]. */
struct op_nsa_part {
    int64_t first[2], count[2];
};

/** Reads a call, keys out of their pages; fails for what does not fit. */
LEO_MUST_CHECK leo_status op_nsa_take(struct op_chain *chain, const struct op_nsa_names *names,
                                      struct op_nsa *nsa);
/** Appends the work of sequence `index`, which has queries and keys; `user` is op_nsa_each's. */
typedef leo_status op_nsa_work(struct op_chain *chain, const struct op_nsa_part *part,
                               int64_t index, const void *user);
/** Does it for each sequence; fails if the tokens of one do not lie in the tensors. */
LEO_MUST_CHECK leo_status op_nsa_each(struct op_chain *chain, const struct op_nsa *nsa,
                                      op_nsa_work *work, const void *user);
/** Tokens `first` and on of [tokens, heads, width], as [key heads, heads of each, count, width]. */
struct op_tensor op_nsa_heads(const struct op_nsa *nsa, const struct op_tensor *tensor,
                              int64_t first, int64_t count);
/** Tensor `name`, if it is given, as [tokens, heads, width]; rank 0 if not. It must be dense. */
LEO_MUST_CHECK leo_status op_nsa_rows(const struct op_call *call, const char *name, int64_t tokens,
                                      int64_t heads, int64_t width, struct op_tensor *rows);
/** The mask of a part, [1, 1, queries, keys]; rank 0 without one. */
struct op_tensor op_nsa_mask(const struct op_nsa *nsa, const struct op_nsa_part *part);
/** Attention of a part's queries over its keys but for `hidden` (rank 0: over all), into `out`, all
 * as op_nsa_heads gives them; max and sum of rows are f32 [.., OP_NSA_COPIES]. */
void op_nsa_attend(struct op_chain *chain, const struct op_nsa *nsa, const struct op_nsa_part *part,
                   const struct op_tensor *hidden, const struct op_tensor *max,
                   const struct op_tensor *sum, const struct op_tensor *out);
/** An f32 tensor for max or sum of a part. */
struct op_tensor op_nsa_column(struct op_chain *chain, const struct op_nsa *nsa,
                               const struct op_nsa_part *part);
/** Copies such a tensor to the part's tokens of a result [tokens, heads, OP_NSA_COPIES]; rank 0:
 * the call has none. */
void op_nsa_give_column(struct op_chain *chain, const struct op_nsa *nsa,
                        const struct op_nsa_part *part, const struct op_tensor *result,
                        const struct op_tensor *column);
