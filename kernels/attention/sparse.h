/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys the queries of sparse attention may see. Lengths of sequences lie on the device. */
#pragma once

#include "../frame/chain.h"

/** Names of a row's parameters; NULL: it has none of that kind. */
struct op_sparse_names {
    const char *query_lengths, *key_lengths, *table, *query_layout, *key_layout, *mode;
};

/**
 * Queries are [parts, tokens, heads, width], keys [parts, keys, heads, width]. Sequences that lie
 * one behind the other (TND) are one part. A token sees the keys [begin, end) of its part.
 */
struct op_sparse {
    const struct op_tensor *table; /**< pages of each sequence's keys; NULL: keys lie as they are */
    int64_t parts, tokens, keys;
    struct op_tensor begin, end; /**< f32 [parts * tokens, 1] */
    bool packed;                 /**< begin is not 0 everywhere */
};

/** Reads layouts, lengths and pages of a call with these `query` and `key`; fails for what is not
 * computed. */
LEO_MUST_CHECK leo_status op_sparse_take(struct op_chain *chain,
                                         const struct op_sparse_names *names,
                                         const struct op_tensor *query, const struct op_tensor *key,
                                         struct op_sparse *sparse);
/** A tensor of queries or of what belongs to them, dense: [parts, tokens, rest]. */
struct op_tensor op_sparse_queries(struct op_chain *chain, const struct op_sparse *sparse,
                                   const struct op_tensor *tensor);
/** A tensor of keys or of what belongs to them, dense and out of its pages: [parts, keys, rest]. */
struct op_tensor op_sparse_keys(struct op_chain *chain, const struct op_sparse *sparse,
                                const struct op_tensor *tensor);
/**
 * u8 [parts, 1, tokens, keys]: 0 for keys of the blocks of `size` keys that `indices`, dense [parts
 * * tokens, count], names, counted from the token's first key; 1 for all others.
 */
struct op_tensor op_sparse_mask(struct op_chain *chain, const struct op_sparse *sparse,
                                const struct op_tensor *indices, int64_t size);
