/* SPDX-License-Identifier: Apache-2.0 */
/* Forms of attention's call that differ from FlashAttentionScore in a few arguments (V2: a type of
 * shift), and what all forms share. */
#include "attention_forms.h"
#include "attention_call.h"
#include "attention_sink.h"

#include <inttypes.h>
#include <string.h>

enum { SHIFT_SCALED = 1 }; // pseType: scale (product + shift); 0: scale product + shift

unsigned op_attention_plain_index(const struct op_attention_plain *plain, const char *name)
{
    const struct op_row *row = plain->row;
    unsigned i = 0;
    while (i < row->param_count && strcmp(row->params[i].name, name) != 0) {
        i++;
    }
    return i;
}

struct op_attention_plain op_attention_plain_begin(const struct op_call *call, const char *name)
{
    struct op_attention_plain p = {.row = op_row_find(name)};
    for (unsigned i = 0; i < p.row->param_count; i++) {
        const struct op_param *param = &p.row->params[i];
        p.args[i] = op_call_has(call, param->name)
                        ? *op_call_value(call, param->name)
                        : (struct op_value){.kind = param->kind, .pointer = NULL};
    }
    return p;
}

void op_attention_plain_set(struct op_attention_plain *p, const char *name,
                            const struct op_tensor *tensor)
{
    p->args[op_attention_plain_index(p, name)] = op_value_tensor(tensor);
}

void op_attention_plain_call(struct op_chain *chain, const struct op_attention_plain *p)
{
    op_chain_call(chain, p->row->name, p->args, p->row->param_count);
}

const char *op_attention_shift_name(const struct op_call *call)
{
    return op_call_has(call, "pseShiftOptional") ? "pseShiftOptional" : "realShiftOptional";
}

// The shift as the plain rows take it: they multiply it by scaleValue.
leo_status op_attention_take_shift(struct op_chain *chain, struct op_tensor *out)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *shift = op_call_tensor(call, op_attention_shift_name(call));
    const double scale = op_call_real(call, "scaleValue");
    const int64_t type = op_call_has(call, "pseType") ? op_call_int(call, "pseType") : SHIFT_SCALED;
    out->rank = 0;
    if (!shift || op_tensor_count(shift) == 0) {
        return LEO_OK;
    }
    if (type < 0 || type > SHIFT_SCALED || (type == 0 && scale == 0)) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "pseType %" PRId64
                            " with scaleValue %g: 1, and 0 with a scale that is not 0, are "
                            "possible (2 and 3 make their shift from slopes)",
                            type, scale);
    }
    *out = *shift;
    if (type == 0) {
        const struct op_scalar inverse = op_scalar_real(1 / scale);
        *out = op_chain_temp_like(chain, OP_TYPE_F32, shift);
        OP_CHAIN_CALL(chain, "Muls", op_value_tensor(shift), op_value_scalar(&inverse),
                      op_value_tensor(out));
    }
    return chain->status;
}

static leo_status add_sink(struct op_chain *chain, const struct op_tensor *sink)
{
    const struct op_call *call = chain->call;
    struct op_tensor out;
    leo_status status = op_attention_by_heads(call, "attentionOutOut", &out);
    if (status == LEO_OK) {
        op_attention_add_sink(chain, sink, op_call_tensor(call, "softmaxMaxOut"),
                              op_call_tensor(call, "softmaxSumOut"), &out);
    }
    return status == LEO_OK ? chain->status : status;
}

static leo_status add_sink_gradient(struct op_chain *chain, const struct op_tensor *sink)
{
    const struct op_call *call = chain->call;
    struct op_tensor dy, out;
    leo_status status = op_attention_begin_sink_gradient(chain, sink);
    if (status == LEO_OK) {
        status = op_attention_by_heads(call, "dy", &dy);
    }
    if (status == LEO_OK) {
        status = op_attention_by_heads(call, "attentionInOptional", &out);
    }
    if (status == LEO_OK) {
        op_attention_add_sink_gradient(chain, sink, op_call_tensor(call, "softmaxMaxOptional"),
                                       op_call_tensor(call, "softmaxSumOptional"), &dy, &out);
    }
    return status == LEO_OK ? chain->status : status;
}

leo_status op_plan_attention_shifted(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    const bool backward = op_call_has(call, "dy");
    struct op_attention_plain plain = op_attention_plain_begin(
        call, backward ? "FlashAttentionScoreGrad" : "FlashAttentionScore");
    const struct op_tensor *sink;
    struct op_tensor shift;
    leo_status status = op_attention_take_shift(&chain, &shift);
    if (status == LEO_OK) {
        status = op_attention_take_sink(call, &sink);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (shift.rank) {
        op_attention_plain_set(&plain, op_attention_shift_name(call), &shift);
    }
    op_attention_plain_call(&chain, &plain);
    if (chain.status == LEO_OK && sink) {
        return backward ? add_sink_gradient(&chain, sink) : add_sink(&chain, sink);
    }
    return chain.status;
}
