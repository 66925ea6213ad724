/* SPDX-License-Identifier: Apache-2.0 */
/* Cross entropy of a vocabulary that is shared out over chips: before, between and after the
 * exchanges of the largest logits and their sums. */
#include "../frame/chain.h"

enum { BITS = 8 };

static const int64_t last_dim[] = {1};
static const struct op_ints of_rows = {last_dim, 1};

static leo_status check_lists(const struct op_call *call, const char *const *names, unsigned count,
                              int64_t rows)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < count; i++) {
        status = op_call_check_shape(call, names[i], 1, &rows);
    }
    return status;
}

static leo_status check_factors(const struct op_call *call, const struct op_tensor *input,
                                const struct op_tensor *weight)
{
    const bool fits = input->rank == 2 && weight->rank == 2 && weight->dim[0] > 0 &&
                      input->dim[1] == weight->dim[1] && input->type == weight->type;
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "input %s %s and weight %s %s: [rows, features] and [tokens, "
                               "features] of one type",
                               op_tensor_shape_text(input).text, op_type_name(input->type),
                               op_tensor_shape_text(weight).text, op_type_name(weight->type));
}

// input weight' in f32.
static struct op_tensor logits_of(struct op_chain *chain, const struct op_tensor *input,
                                  const struct op_tensor *weight)
{
    const int64_t dim[] = {input->dim[0], weight->dim[0]};
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, 2, dim),
                           turned = op_view_swap(weight, 0, 1);
    op_chain_matmul(chain, input, &turned, &out);
    return out;
}

// A bit for each row, the first one lowest; bits behind the last row are set.
static void put_bits(struct op_chain *chain, const struct op_tensor *set,
                     const struct op_tensor *out)
{
    const int64_t dim[] = {out->dim[0], BITS}, all = out->dim[0] * BITS;
    const struct op_tensor wide = op_chain_temp(chain, OP_TYPE_I32, 1, &all),
                           head = op_view_slice(&wide, 0, 0, set->dim[0]),
                           columns = op_view_shape(&wide, 2, dim),
                           bytes = op_chain_temp(chain, OP_TYPE_I32, 1, dim);
    op_chain_fill(chain, &wide, 1);
    op_chain_copy(chain, &head, set);
    OP_CHAIN_CALL(chain, "VocabBit", op_value_tensor(&columns), op_value_tensor(&columns));
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&columns), op_value_ints(&of_rows),
                  op_value_int(0), op_value_type(OP_TYPE_I32), op_value_tensor(&bytes));
    op_chain_copy(chain, out, &bytes);
}

// The target's logit of each row, 0 for those of other parts.
static void predict(struct op_chain *chain, const struct op_tensor *less)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *target = op_call_tensor(call, "target");
    const struct op_tensor outside = op_chain_temp_like(chain, OP_TYPE_F32, target),
                           place = op_chain_temp_like(chain, OP_TYPE_I64, target),
                           column = op_view_insert(&place, 1),
                           taken = op_chain_temp_like(chain, OP_TYPE_F32, target),
                           taken_column = op_view_insert(&taken, 1);
    const struct op_value first = *op_call_value(call, "vocabStartIndex"),
                          end = *op_call_value(call, "vocabEndIndex");
    OP_CHAIN_CALL(chain, "VocabOutside", op_value_tensor(target), first, end,
                  op_value_tensor(&outside));
    OP_CHAIN_CALL(chain, "VocabPlace", op_value_tensor(target), first, end,
                  op_value_tensor(&place));
    OP_CHAIN_CALL(chain, "Gather", op_value_tensor(less), op_value_int(1), op_value_tensor(&column),
                  op_value_tensor(&taken_column));
    OP_CHAIN_CALL(chain, "VocabPredicted", op_value_tensor(&taken), op_value_tensor(&outside),
                  *op_call_value(call, "predictedLogitsLocalOut"));
    op_chain_copy(chain, op_call_tensor(call, "maskedTargetOut"), &place);
    put_bits(chain, &outside, op_call_tensor(call, "targetMaskOut"));
}

static leo_status check_max_sum(const struct op_call *call)
{
    static const char *const lists[] = {"target", "logitsMaxLocalOut", "sumExpLogitsLocalOut",
                                        "predictedLogitsLocalOut", "maskedTargetOut"};
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *weight = op_call_tensor(call, "weight");
    const int64_t first = op_call_int(call, "vocabStartIndex"),
                  end = op_call_int(call, "vocabEndIndex");
    leo_status status = check_factors(call, input, weight);
    if (status == LEO_OK && (first < 0 || end < first || end - first > weight->dim[0])) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                              "tokens %lld to %lld of a vocabulary whose part has %lld",
                              (long long)first, (long long)end, (long long)weight->dim[0]);
    }
    if (status == LEO_OK) {
        const int64_t bytes = (input->dim[0] + BITS - 1) / BITS;
        status = check_lists(call, lists, 5, input->dim[0]);
        if (status == LEO_OK) {
            status = op_call_check_shape(call, "targetMaskOut", 1, &bytes);
        }
    }
    if (status == LEO_OK && op_call_tensor(call, "vocabParallelLogitsOutOptional")) {
        const int64_t dim[] = {input->dim[0], weight->dim[0]};
        status = op_call_check_shape(call, "vocabParallelLogitsOutOptional", 2, dim);
    }
    return status;
}

leo_status op_plan_vocab_max_sum(const struct op_call *call)
{
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *most = op_call_tensor(call, "logitsMaxLocalOut"),
                           *given = op_call_tensor(call, "vocabParallelLogitsOutOptional");
    leo_status status = check_max_sum(call);
    if (status != LEO_OK || input->dim[0] == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor logits = logits_of(&chain, input, op_call_tensor(call, "weight")),
                           largest = op_chain_temp_like(&chain, OP_TYPE_F32, most),
                           column = op_view_insert(&largest, 1),
                           powers = op_chain_temp_like(&chain, OP_TYPE_F32, &logits);
    if (given) {
        op_chain_copy(&chain, given, &logits);
    }
    OP_CHAIN_CALL(&chain, "Amax", op_value_tensor(&logits), op_value_ints(&of_rows),
                  op_value_int(0), op_value_tensor(&largest));
    op_chain_copy(&chain, most, &largest);
    OP_CHAIN_CALL(&chain, "AttentionPowers", op_value_tensor(&logits), op_value_tensor(&column),
                  op_value_tensor(&powers));
    op_chain_sum(&chain, &powers, 1, op_call_tensor(call, "sumExpLogitsLocalOut"));
    OP_CHAIN_CALL(&chain, "Sub", op_value_tensor(&logits), op_value_tensor(&column),
                  op_value_scalar(&one), op_value_tensor(&logits));
    predict(&chain, &logits);
    return chain.status;
}

/* ---- after the exchange ---- */

static leo_status check_smoothing(const struct op_call *call)
{
    const double part = op_call_real(call, "labelSmoothing");
    return part == 0 ? LEO_OK
                     : op_call_fail(call, LEO_ERR_UNSUPPORTED, "labelSmoothing is %g, it must be 0",
                                    part);
}

leo_status op_plan_vocab_loss(const struct op_call *call)
{
    static const char *const lists[] = {"sumExpLogits", "predictedLogits", "lossOut"};
    const struct op_tensor *most = op_call_tensor(call, "logitsMax"),
                           *sum = op_call_tensor(call, "sumExpLogits"),
                           *logits = op_call_tensor(call, "vocabParallelLogitsOptional"),
                           *softmax = op_call_tensor(call, "softMaxOutOptional");
    leo_status status = check_smoothing(call);
    if (status == LEO_OK &&
        (most->rank != 1 || (logits && (logits->rank != 2 || logits->dim[0] != most->dim[0])))) {
        status = op_call_fail(
            call, LEO_ERR_SHAPE, "logitsMax %s and logits %s: [rows], [rows, tokens]",
            op_tensor_shape_text(most).text, logits ? op_tensor_shape_text(logits).text : "NULL");
    }
    if (status == LEO_OK) {
        status = check_lists(call, lists, 3, most->dim[0]);
    }
    if (status == LEO_OK && logits) {
        status = softmax ? op_call_check_shape(call, "softMaxOutOptional", 2, logits->dim)
                         : op_call_fail(call, LEO_ERR_BAD_POINTER, "softMaxOutOptional is NULL");
    }
    if (status != LEO_OK || most->dim[0] == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(&chain, "VocabLoss", op_value_tensor(sum),
                  *op_call_value(call, "predictedLogits"), *op_call_value(call, "lossOut"));
    if (logits) {
        const struct op_tensor largest = op_view_insert(most, 1), sums = op_view_insert(sum, 1);
        OP_CHAIN_CALL(&chain, "AttentionWeights", op_value_tensor(logits),
                      op_value_tensor(&largest), op_value_tensor(&sums), op_value_tensor(softmax));
    }
    return chain.status;
}

/* ---- gradients ---- */

static leo_status check_gradient(const struct op_call *call)
{
    static const char *const lists[] = {"grad", "maskedTarget", "logitsMaxOptional",
                                        "sumExpLogitsOptional"};
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *weight = op_call_tensor(call, "weight"),
                           *mask = op_call_tensor(call, "targetMask"),
                           *softmax = op_call_tensor(call, "softmaxOptional");
    leo_status status = check_smoothing(call);
    if (status == LEO_OK) {
        status = check_factors(call, input, weight);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (mask->rank != 1 || mask->dim[0] * BITS < input->dim[0]) {
        return op_call_fail(call, LEO_ERR_SHAPE, "targetMask has shape %s for %lld rows",
                            op_tensor_shape_text(mask).text, (long long)input->dim[0]);
    }
    if (!softmax && (!op_call_tensor(call, lists[2]) || !op_call_tensor(call, lists[3]))) {
        return op_call_fail(call, LEO_ERR_BAD_POINTER,
                            "softmaxOptional is NULL, and so is logitsMax or sumExpLogits");
    }
    status = check_lists(call, lists, softmax ? 2 : 4, input->dim[0]);
    if (status == LEO_OK && softmax) {
        status = op_call_check_shape(call, "softmaxOptional", 2,
                                     (const int64_t[]){input->dim[0], weight->dim[0]});
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "inputGradOut", 2, input->dim);
    }
    return status == LEO_OK ? op_call_check_shape(call, "weightGradOut", 2, weight->dim) : status;
}

// The softmax of all parts, f32 and of its own memory.
static struct op_tensor shares_of(struct op_chain *chain)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *weight = op_call_tensor(call, "weight"),
                           *given = op_call_tensor(call, "softmaxOptional");
    if (given) {
        const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_F32, given);
        op_chain_copy(chain, &out, given);
        return out;
    }
    const struct op_tensor logits = logits_of(chain, input, weight),
                           most = op_view_insert(op_call_tensor(call, "logitsMaxOptional"), 1),
                           sum = op_view_insert(op_call_tensor(call, "sumExpLogitsOptional"), 1);
    OP_CHAIN_CALL(chain, "AttentionWeights", op_value_tensor(&logits), op_value_tensor(&most),
                  op_value_tensor(&sum), op_value_tensor(&logits));
    return logits;
}

// Takes 1 from the target's share of each row whose target is of this part.
static void take_targets(struct op_chain *chain, const struct op_tensor *shares)
{
    const struct op_tensor *mask = op_call_tensor(chain->call, "targetMask");
    const int64_t dim[] = {mask->dim[0], BITS}, all = mask->dim[0] * BITS;
    const struct op_tensor bytes = op_chain_dense(chain, OP_TYPE_I32, mask),
                           minus = op_chain_temp(chain, OP_TYPE_F32, 2, dim),
                           list = op_view_shape(&minus, 1, &all),
                           some = op_view_slice(&list, 0, 0, shares->dim[0]),
                           column = op_view_insert(&some, 1),
                           place = op_view_insert(op_call_tensor(chain->call, "maskedTarget"), 1);
    struct op_tensor each = op_view_insert(&bytes, 1);
    each.dim[1] = BITS;
    each.stride[1] = 0;
    OP_CHAIN_CALL(chain, "VocabClear", op_value_tensor(&each), op_value_tensor(&minus));
    OP_CHAIN_CALL(chain, "InplaceScatter", op_value_tensor(shares), op_value_int(1),
                  op_value_tensor(&place), op_value_tensor(&column), op_value_int(1));
}

leo_status op_plan_vocab_loss_gradient(const struct op_call *call)
{
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *weight = op_call_tensor(call, "weight");
    leo_status status = check_gradient(call);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (input->dim[0] == 0 || input->dim[1] == 0) {
        op_chain_fill(&chain, op_call_tensor(call, "weightGradOut"), 0);
        return chain.status;
    }
    const struct op_tensor shares = shares_of(&chain),
                           grad = op_view_insert(op_call_tensor(call, "grad"), 1),
                           narrow = op_chain_temp_like(&chain, input->type, &shares),
                           turned = op_view_swap(&narrow, 0, 1);
    take_targets(&chain, &shares);
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&shares), op_value_tensor(&grad),
                  op_value_tensor(&narrow));
    op_chain_matmul(&chain, &narrow, weight, op_call_tensor(call, "inputGradOut"));
    op_chain_matmul(&chain, &turned, input, op_call_tensor(call, "weightGradOut"));
    return chain.status;
}
