/* SPDX-License-Identifier: Apache-2.0 */
/* One step of an LSTM behind its products. Results are rounded once: what is between is f32. */
#include "../frame/chain.h"

enum { INPUT, FORGET, CANDIDATE, OUTPUT, GATES };

static leo_status check(const struct op_call *call, const char *const *states, unsigned state_count,
                        const char *const *gates, unsigned gate_count)
{
    const struct op_tensor *cx = op_call_tensor(call, "cx");
    const int64_t wide[] = {cx->dim[0], GATES * cx->dim[1]};
    leo_status status =
        cx->rank == 2
            ? LEO_OK
            : op_call_fail(call, LEO_ERR_SHAPE, "cx has shape %s, it must be [batch, features]",
                           op_tensor_shape_text(cx).text);
    for (unsigned i = 0; status == LEO_OK && i < state_count; i++) {
        if (op_call_tensor(call, states[i])) {
            status = op_call_check_shape(call, states[i], 2, cx->dim);
        }
    }
    for (unsigned i = 0; status == LEO_OK && i < gate_count; i++) {
        status = op_call_check_shape(call, gates[i], 2, wide);
    }
    return status;
}

// A parameter, or zeros of a shape where it is left out.
static struct op_tensor given_or_zero(struct op_chain *chain, const char *name, unsigned rank,
                                      const int64_t *dim)
{
    const struct op_tensor *given = op_call_tensor(chain->call, name);
    if (given) {
        return *given;
    }
    const struct op_tensor zero = op_chain_temp(chain, OP_TYPE_F32, rank, dim);
    op_chain_fill(chain, &zero, 0);
    return zero;
}

// One gate of [batch, 4 * features], or of a bias.
static struct op_tensor gate_of(const struct op_tensor *all, unsigned gate)
{
    const unsigned last = all->rank - 1;
    const int64_t features = all->dim[last] / GATES;
    return op_view_slice(all, last, gate * features, features);
}

static void activate(struct op_chain *chain, const struct op_tensor *sums, unsigned gate,
                     const struct op_tensor *out)
{
    struct op_tensor part[4];
    for (unsigned i = 0; i < 4; i++) {
        part[i] = gate_of(&sums[i], gate);
    }
    OP_CHAIN_CALL(chain, gate == CANDIDATE ? "LstmCellCandidate" : "LstmCellGate",
                  op_value_tensor(&part[0]), op_value_tensor(&part[1]), op_value_tensor(&part[2]),
                  op_value_tensor(&part[3]), op_value_tensor(out));
}

leo_status op_plan_lstm_cell(const struct op_call *call)
{
    static const char *const states[] = {"hyOut", "cyOut"},
                             *const gates[] = {"inputGates", "hiddenGates", "storageOut"},
                             *const biases[] = {"inputBiasOptional", "hiddenBiasOptional"};
    const struct op_tensor *cx = op_call_tensor(call, "cx"), *hy = op_call_tensor(call, "hyOut"),
                           *cy = op_call_tensor(call, "cyOut"),
                           *storage = op_call_tensor(call, "storageOut");
    leo_status status = check(call, states, 2, gates, 3);
    const int64_t width = status == LEO_OK ? GATES * cx->dim[1] : 0;
    for (unsigned i = 0; status == LEO_OK && i < 2; i++) {
        if (op_call_tensor(call, biases[i])) {
            status = op_call_check_shape(call, biases[i], 1, &width);
        }
    }
    if (status != LEO_OK || op_tensor_count(cx) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sums[] = {
        *op_call_tensor(call, gates[0]), *op_call_tensor(call, gates[1]),
        given_or_zero(&chain, biases[0], 1, &width), given_or_zero(&chain, biases[1], 1, &width)};
    const struct op_tensor all = op_chain_wide(&chain, storage), cell = op_chain_wide(&chain, cy);
    struct op_tensor gate[GATES];
    for (unsigned i = 0; i < GATES; i++) {
        gate[i] = gate_of(&all, i);
        activate(&chain, sums, i, &gate[i]);
    }
    OP_CHAIN_CALL(&chain, "LstmCellState", op_value_tensor(&gate[INPUT]),
                  op_value_tensor(&gate[CANDIDATE]), op_value_tensor(&gate[FORGET]),
                  op_value_tensor(cx), op_value_tensor(&cell));
    OP_CHAIN_CALL(&chain, "LstmCellHidden", op_value_tensor(&gate[OUTPUT]), op_value_tensor(&cell),
                  op_value_tensor(hy));
    op_chain_give(&chain, storage, &all);
    op_chain_give(&chain, cy, &cell);
    return chain.status;
}

static void put_slopes(struct op_chain *chain, const struct op_tensor *total,
                       const struct op_tensor *dh, const struct op_tensor *out)
{
    const struct op_tensor *storage = op_call_tensor(chain->call, "storage"),
                           *cx = op_call_tensor(chain->call, "cx"),
                           *cy = op_call_tensor(chain->call, "cy");
    struct op_tensor gate[GATES], to[GATES];
    for (unsigned i = 0; i < GATES; i++) {
        gate[i] = gate_of(storage, i);
        to[i] = gate_of(out, i);
    }
    OP_CHAIN_CALL(chain, "LstmCellGateSlope", op_value_tensor(total),
                  op_value_tensor(&gate[CANDIDATE]), op_value_tensor(&gate[INPUT]),
                  op_value_tensor(&to[INPUT]));
    OP_CHAIN_CALL(chain, "LstmCellGateSlope", op_value_tensor(total), op_value_tensor(cx),
                  op_value_tensor(&gate[FORGET]), op_value_tensor(&to[FORGET]));
    OP_CHAIN_CALL(chain, "LstmCellCandidateSlope", op_value_tensor(total),
                  op_value_tensor(&gate[INPUT]), op_value_tensor(&gate[CANDIDATE]),
                  op_value_tensor(&to[CANDIDATE]));
    OP_CHAIN_CALL(chain, "LstmCellOutputSlope", op_value_tensor(dh), op_value_tensor(cy),
                  op_value_tensor(&gate[OUTPUT]), op_value_tensor(&to[OUTPUT]));
}

leo_status op_plan_lstm_cell_gradient(const struct op_call *call)
{
    static const char *const states[] = {"gradHyOptional", "gradCOptional", "cy", "gradCxOut"},
                             *const gates[] = {"storage", "gradGatesOut"};
    const struct op_tensor *cx = op_call_tensor(call, "cx"),
                           *dgates = op_call_tensor(call, "gradGatesOut"),
                           *dbias = op_call_tensor(call, "gradBiasOut");
    const bool has_bias = op_call_int(call, "hasBias") != 0;
    leo_status status = check(call, states, 4, gates, 2);
    const int64_t width = status == LEO_OK ? GATES * cx->dim[1] : 0;
    if (status == LEO_OK && has_bias) {
        status = dbias ? op_call_check_shape(call, "gradBiasOut", 1, &width)
                       : op_call_fail(call, LEO_ERR_BAD_POINTER, "gradBiasOut is NULL");
    }
    if (status != LEO_OK || op_tensor_count(cx) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor storage = *op_call_tensor(call, "storage"),
                           dh = given_or_zero(&chain, states[0], 2, cx->dim),
                           dc = given_or_zero(&chain, states[1], 2, cx->dim),
                           output = gate_of(&storage, OUTPUT), forget = gate_of(&storage, FORGET),
                           total = op_chain_temp_like(&chain, OP_TYPE_F32, cx),
                           all = op_chain_wide(&chain, dgates);
    OP_CHAIN_CALL(&chain, "LstmCellTotal", op_value_tensor(&dh), op_value_tensor(&output),
                  *op_call_value(call, "cy"), op_value_tensor(&dc), op_value_tensor(&total));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&total), op_value_tensor(&forget),
                  *op_call_value(call, "gradCxOut"));
    put_slopes(&chain, &total, &dh, &all);
    op_chain_give(&chain, dgates, &all);
    if (has_bias) {
        op_chain_sum(&chain, &all, 0, dbias);
    }
    return chain.status;
}
