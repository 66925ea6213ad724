/* SPDX-License-Identifier: Apache-2.0 */
/* Attention with a sink: each head has one more score, whose value is 0. */
#pragma once

#include "../frame/chain.h"

/** The sink of a call, [heads] f32; NULL: none. Fails if it has another shape. */
LEO_MUST_CHECK leo_status op_attention_take_sink(const struct op_call *call,
                                                 const struct op_tensor **sink);
/** What is softmaxMax, softmaxSum [b, heads, s, 8] and attentionOut [b, heads, s, d] of attention
 * without the sink becomes that with it. */
void op_attention_add_sink(struct op_chain *chain, const struct op_tensor *sink,
                           const struct op_tensor *max, const struct op_tensor *sum,
                           const struct op_tensor *out);
/** Fails unless the call has a dsinkOut of [heads] for its sink; sets it to 0. */
LEO_MUST_CHECK leo_status op_attention_begin_sink_gradient(struct op_chain *chain,
                                                           const struct op_tensor *sink);
/** Adds the gradient by the sink to dsinkOut. `max`, `sum`: with the sink; `out`: the attention. */
void op_attention_add_sink_gradient(struct op_chain *chain, const struct op_tensor *sink,
                                    const struct op_tensor *max, const struct op_tensor *sum,
                                    const struct op_tensor *dy, const struct op_tensor *out);
