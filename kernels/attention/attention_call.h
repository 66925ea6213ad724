/* SPDX-License-Identifier: Apache-2.0 */
/* A call of attention: its tensors and what they say of shapes and masks. */
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

/** A tensor of the call (attention or its gradient) as [batch, heads, length, features], whatever
 * its layout; it has the heads of the queries. */
LEO_MUST_CHECK leo_status op_attention_by_heads(const struct op_call *call, const char *name,
                                                struct op_tensor *out);

static inline int64_t op_attention_heads(const struct attention *a)
{
    return a->heads * a->groups;
}
