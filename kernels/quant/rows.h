/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with a scale each, and factors of the group that a row belongs to. */
#pragma once

#include "../moe/moe.h"

/** Products of i8 of so many pairs are at most 2^24 = 128 * 128 * 1024: f32 holds them all. */
enum { OP_QUANT_EXACT = 1024 };
/** Numbers of 4 bits in a word of i32, the first in the lowest bits. */
enum { OP_QUANT_IN_WORD = 8 };

/** The part of a product that k from `begin` on gives, f32, in the shape of the product. */
typedef struct op_tensor op_quant_part(struct op_chain *chain, const void *user, int64_t begin,
                                       int64_t count);
/** The sum of a product's parts over all of k: f32 as it comes if one part is exact, else i32.
 * `like` has the shape of the product. */
struct op_tensor op_quant_whole_sum(struct op_chain *chain, const struct op_tensor *like, int64_t k,
                                    op_quant_part *part, const void *user);
/** A tensor as rows of its last dimension, dense, of a type. */
struct op_tensor op_quant_rows(struct op_chain *chain, enum op_type type,
                               const struct op_tensor *tensor);
/** factors[group of row] for each of `rows` rows: [rows, width]. `factors` is [groups, width] or
 * [groups]; `ends` says where groups end, or with `counts` how long they are. Rows behind the last
 * group have factor 0. */
struct op_tensor op_quant_of_group(struct op_chain *chain, const struct op_tensor *factors,
                                   const struct op_tensor *ends, bool counts, int64_t rows);
/** x times factors ([width], [1] or [rows, width]); NULL: x itself. */
struct op_tensor op_quant_times(struct op_chain *chain, const struct op_tensor *x,
                                const struct op_tensor *factors);
/** Rows of floats as i8, or in words of i32 as numbers of 4 bits, with a scale each; `offset` NULL:
 * the range is symmetric. `out`, `scale`, `offset` have any shape of as many elements. */
void op_quant_dynamic(struct op_chain *chain, const struct op_tensor *rows,
                      const struct op_tensor *out, const struct op_tensor *scale,
                      const struct op_tensor *offset);
/** Whole numbers from -8 to 7, dense i64, as words of 4 bits: `out` is i32 of an eighth as many
 * elements. The numbers are used up. */
void op_quant_words(struct op_chain *chain, const struct op_tensor *numbers,
                    const struct op_tensor *out);
/** Words of numbers of 4 bits as i8: dimension `along` is eight times as long. */
struct op_tensor op_quant_unpack(struct op_chain *chain, const struct op_tensor *words,
                                 unsigned along);
/** Rows as i8, but `scale` is 127 over the largest of a row. */
void op_quant_dynamic_factor(struct op_chain *chain, const struct op_tensor *rows,
                             const struct op_tensor *out, const struct op_tensor *scale);
/** Fails unless `out` is i8 of the shape of `like`, but for its last dimension. */
LEO_MUST_CHECK leo_status op_quant_check_out(const struct op_call *call, const char *name,
                                             const struct op_tensor *like, int64_t last);
/** Fails unless `out` is i8 of the shape of `like`, or words of i32 for an eighth of its last
 * dimension. */
LEO_MUST_CHECK leo_status op_quant_check_out_words(const struct op_call *call, const char *name,
                                                   const struct op_tensor *like);
/** Fails unless `name` has the shape of `like` without its last dimension. */
LEO_MUST_CHECK leo_status op_quant_check_scale(const struct op_call *call, const char *name,
                                               const struct op_tensor *like);
/** A scale as a list of floats; words of 64 bits hold one in their lower half. */
struct op_tensor op_quant_scale_of(struct op_chain *chain, const struct op_tensor *given_scale);
