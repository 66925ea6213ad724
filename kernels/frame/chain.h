/* SPDX-License-Identifier: Apache-2.0 */
/* Operators one after the other: the first failure ends the chain, and later steps do nothing. */
#pragma once

#include "family.h"

struct op_chain {
    const struct op_call *call;
    struct op_plan *plan;
    leo_status status;
};

struct op_chain op_chain_begin(const struct op_call *call);
/** Operator `op` (name without aclnn) with `count` arguments in the order of its row. */
void op_chain_call(struct op_chain *chain, const char *op, const struct op_value *args,
                   unsigned count);
#define OP_CHAIN_CALL(chain, op, ...)                                                              \
    op_chain_call(chain, op, (const struct op_value[]){__VA_ARGS__},                               \
                  sizeof((const struct op_value[]){__VA_ARGS__}) / sizeof(struct op_value))

/** A dense temporary; after a failure a tensor without memory. */
struct op_tensor op_chain_temp(struct op_chain *chain, enum op_type type, unsigned rank,
                               const int64_t *dim);
struct op_tensor op_chain_temp_like(struct op_chain *chain, enum op_type type,
                                    const struct op_tensor *shape);
/** The tensor itself if it is dense and of this type, else a dense temporary copy. */
struct op_tensor op_chain_dense(struct op_chain *chain, enum op_type type,
                                const struct op_tensor *tensor);
/** `out` itself if it is f32, else an f32 temporary of its shape, for what is worked on further
 * before it is rounded; op_chain_give rounds it then. */
struct op_tensor op_chain_wide(struct op_chain *chain, const struct op_tensor *out);
void op_chain_give(struct op_chain *chain, const struct op_tensor *out,
                   const struct op_tensor *wide);
void op_chain_copy(struct op_chain *chain, const struct op_tensor *dst,
                   const struct op_tensor *src);
/** `out` itself if it is dense, else a dense temporary that op_chain_deliver, given it or another
 * shape of it, copies there. */
struct op_tensor op_chain_place(struct op_chain *chain, const struct op_tensor *out);
void op_chain_deliver(struct op_chain *chain, const struct op_tensor *out,
                      const struct op_tensor *made);
/** dst = value everywhere. */
void op_chain_fill(struct op_chain *chain, const struct op_tensor *dst, double value);
/** out[i] = start + i * step. */
void op_chain_range(struct op_chain *chain, const struct op_tensor *out, int64_t start,
                    int64_t step);
/** One f32 number on the device. */
struct op_tensor op_chain_number(struct op_chain *chain, double value);
/** out = a @ b (Matmul), f32 as the chip's own training does: in f16 on the 910A. */
void op_chain_matmul(struct op_chain *chain, const struct op_tensor *a, const struct op_tensor *b,
                     const struct op_tensor *out);
/** out = sum of self over dimension `dim`, which out does not have, in f32. */
void op_chain_sum(struct op_chain *chain, const struct op_tensor *self, int64_t dim,
                  const struct op_tensor *out);

/** The sum over `count` dimensions, which stay; in f32. */
void op_chain_sum_kept(struct op_chain *chain, const struct op_tensor *self, const int64_t *dims,
                       uint64_t count, const struct op_tensor *out);

/* Views. Dimensions exist; what is taken lies inside. */
struct op_tensor op_view_slice(const struct op_tensor *tensor, unsigned dim, int64_t begin,
                               int64_t count);
/** Every second index of a dimension of even size, from `first` (0 or 1) on. */
struct op_tensor op_view_every_second(const struct op_tensor *tensor, unsigned dim, int64_t first);
/** The first (0) or second (1) half of the last dimension, whose size is even. */
struct op_tensor op_view_half(const struct op_tensor *tensor, int64_t which);
/** One index of a dimension, which goes away. */
struct op_tensor op_view_select(const struct op_tensor *tensor, unsigned dim, int64_t index);
struct op_tensor op_view_swap(const struct op_tensor *tensor, unsigned a, unsigned b);
/** A dimension of 1 more, at `at`. */
struct op_tensor op_view_insert(const struct op_tensor *tensor, unsigned at);
/** A dense tensor with another shape of as many elements. */
struct op_tensor op_view_shape(const struct op_tensor *dense, unsigned rank, const int64_t *dim);
/** A dense tensor as a matrix: all other dimensions by the last. */
struct op_tensor op_view_rows(const struct op_tensor *dense);
