/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of FlashAttentionScore and its gradient for other forms of attention's call. */
#pragma once

#include "../frame/chain.h"

enum { ATTENTION_ARGS_MAX = 32 };

/** A call of a plain row: its arguments are those of the same name of the call that is planned. */
struct op_attention_plain {
    const struct op_row *row;
    struct op_value args[ATTENTION_ARGS_MAX];
};

/** `name`: of the plain row. What the call has no parameter for is NULL or 0. */
struct op_attention_plain op_attention_plain_begin(const struct op_call *call, const char *name);
unsigned op_attention_plain_index(const struct op_attention_plain *plain, const char *name);
/** The tensor must last until op_attention_plain_call. */
void op_attention_plain_set(struct op_attention_plain *plain, const char *name,
                            const struct op_tensor *tensor);
void op_attention_plain_call(struct op_chain *chain, const struct op_attention_plain *plain);

/** What the call names its shift. */
const char *op_attention_shift_name(const struct op_call *call);
/** The shift as the plain rows take it, which multiply it by scaleValue; rank 0 if there is none.
 */
leo_status op_attention_take_shift(struct op_chain *chain, struct op_tensor *out);
