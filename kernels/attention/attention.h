/* SPDX-License-Identifier: Apache-2.0 */
/* A call of attention, as both ways see it: step by step (attention.c) and fused
 * (attention_fused.c). */
#pragma once

#include "../frame/chain.h"

enum { ATTENTION_RANK = 5 };

struct attention {
    struct op_tensor q, k, v; /* [B, M, G, S, D]; G = 1 for k and v */
    struct op_tensor mask, shift,
        drop; /* rank 0: not given; mask and shift have rank 4: broadcast to [B, N, Sq, Sk] */
    int64_t batch, heads, groups, queries, keys; /* heads of keys; queries' heads of each */
    int64_t low, high;                           /* band of keys a query sees */
    bool banded;
    double scale, keep;
};

static inline int64_t op_attention_heads(const struct attention *a)
{
    return a->heads * a->groups;
}

/** Whether one program can do the softmax and the products around it. */
bool op_attention_can_fuse(const struct attention *a, const struct op_tensor *max,
                           const struct op_tensor *sum, const struct op_tensor *out);
/** `max`, `sum`: [B, N, Sq, 8]; `out`: [B, M, G, Sq, D]. */
void op_attention_fused(struct op_chain *chain, const struct attention *a,
                        const struct op_tensor *max, const struct op_tensor *sum,
                        const struct op_tensor *out);
/** The weights once more, and the gradient of the products under the softmax: [B, M, G, Sq, Sk] of
 * the type of q. `dy` as `out`, `mean` dense f32 [B, M, G, Sq, 1]. */
void op_attention_fused_slopes(struct op_chain *chain, const struct attention *a,
                               const struct op_tensor *max, const struct op_tensor *sum,
                               const struct op_tensor *dy, const struct op_tensor *mean,
                               const struct op_tensor *weights, const struct op_tensor *slopes);
