/* SPDX-License-Identifier: Apache-2.0 */
/* Attention with a sink. Gradients by query, key and value need nothing more: softmaxMax and
 * softmaxSum have the sink in them. */
#include "attention_sink.h"

static const char *sink_name(const struct op_call *call)
{
    return op_call_has(call, "sinkOptional")     ? "sinkOptional"
           : op_call_has(call, "sinkInOptional") ? "sinkInOptional"
                                                 : NULL;
}

leo_status op_attention_take_sink(const struct op_call *call, const struct op_tensor **sink)
{
    const char *name = sink_name(call);
    const int64_t heads = op_call_int(call, "headNum");
    *sink = name ? op_call_tensor(call, name) : NULL;
    if (*sink && op_tensor_count(*sink) == 0) {
        *sink = NULL;
    }
    return *sink ? op_call_check_shape(call, name, 1, &heads) : LEO_OK;
}

// [heads] beside [b, heads, s, 1].
static struct op_tensor of_heads(const struct op_tensor *sink)
{
    const struct op_tensor rows = op_view_insert(sink, 1);
    return op_view_insert(&rows, 2);
}

void op_attention_add_sink(struct op_chain *chain, const struct op_tensor *sink,
                           const struct op_tensor *max, const struct op_tensor *sum,
                           const struct op_tensor *out)
{
    const struct op_tensor seen = of_heads(sink), max1 = op_view_slice(max, 3, 0, 1),
                           sum1 = op_view_slice(sum, 3, 0, 1);
    OP_CHAIN_CALL(chain, "SinkOut", op_value_tensor(out), op_value_tensor(&max1),
                  op_value_tensor(&sum1), op_value_tensor(&seen), op_value_tensor(out));
    OP_CHAIN_CALL(chain, "SinkSum", op_value_tensor(max), op_value_tensor(sum),
                  op_value_tensor(&seen), op_value_tensor(sum));
    OP_CHAIN_CALL(chain, "Maximum", op_value_tensor(max), op_value_tensor(&seen),
                  op_value_tensor(max));
}

leo_status op_attention_begin_sink_gradient(struct op_chain *chain, const struct op_tensor *sink)
{
    const struct op_tensor *out = op_call_tensor(chain->call, "dsinkOut");
    if (!out) {
        return op_call_fail(chain->call, LEO_ERR_BAD_POINTER, "dsinkOut is NULL");
    }
    leo_status status = op_call_check_shape(chain->call, "dsinkOut", 1, sink->dim);
    if (status == LEO_OK) {
        op_chain_fill(chain, out, 0);
    }
    return status;
}

void op_attention_add_sink_gradient(struct op_chain *chain, const struct op_tensor *sink,
                                    const struct op_tensor *max, const struct op_tensor *sum,
                                    const struct op_tensor *dy, const struct op_tensor *out)
{
    static const int64_t last[] = {3}, others[] = {0, 2, 3};
    const struct op_ints features = {last, 1}, rows = {others, 3};
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor *dsink = op_call_tensor(chain->call, "dsinkOut");
    const struct op_tensor seen = of_heads(sink), max1 = op_view_slice(max, 3, 0, 1),
                           sum1 = op_view_slice(sum, 3, 0, 1),
                           product = op_chain_temp_like(chain, OP_TYPE_F32, out),
                           mean = op_chain_temp_like(chain, OP_TYPE_F32, &max1),
                           part = op_chain_temp_like(chain, OP_TYPE_F32, sink);
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(dy), op_value_tensor(out),
                  op_value_tensor(&product));
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&product), op_value_ints(&features),
                  op_value_int(1), op_value_type(OP_TYPE_F32), op_value_tensor(&mean));
    OP_CHAIN_CALL(chain, "SinkSlope", op_value_tensor(&mean), op_value_tensor(&max1),
                  op_value_tensor(&sum1), op_value_tensor(&seen), op_value_tensor(&mean));
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&mean), op_value_ints(&rows), op_value_int(0),
                  op_value_type(OP_TYPE_F32), op_value_tensor(&part));
    OP_CHAIN_CALL(chain, "InplaceAdd", op_value_tensor(dsink), op_value_tensor(&part),
                  op_value_scalar(&one));
}
