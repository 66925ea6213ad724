/* SPDX-License-Identifier: Apache-2.0 */
/* Cross entropy of scores [samples, classes] and its gradient. With smoothing s every class has a
 * share s / classes of the label. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <string.h>

enum { NONE, MEAN, SUM, REDUCTIONS }; // as NLLLoss counts them
static const char *const reduction_names[REDUCTIONS] = {"none", "mean", "sum"};

struct cross_entropy {
    const struct op_tensor *target;
    struct op_tensor weight; /**< ones where none is given */
    int64_t reduction, ignore, samples, classes;
    double smoothing;
};

static leo_status take_words(const struct op_call *call, struct cross_entropy *c)
{
    const char *word = op_call_value(call, "reductionOptional")->text;
    word = word ? word : "mean";
    c->reduction = 0;
    while (c->reduction < REDUCTIONS && strcmp(word, reduction_names[c->reduction]) != 0) {
        c->reduction++;
    }
    c->ignore = op_call_int(call, "ignoreIndex");
    c->smoothing = op_call_real(call, "labelSmoothing");
    if (c->reduction == REDUCTIONS || !(c->smoothing >= 0 && c->smoothing <= 1)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "reduction %s, labelSmoothing %g: it must be mean, sum or none, and "
                            "between 0 and 1",
                            word, c->smoothing);
    }
    const bool squares = op_call_has(call, "returnZloss")
                             ? op_call_int(call, "returnZloss") != 0
                             : op_call_tensor(call, "gradZlossOptional") != NULL;
    if (squares || op_call_real(call, "lseSquareScaleForZloss") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "there is no zloss on this chip");
    }
    return LEO_OK;
}

static leo_status take(struct op_chain *chain, const char *scores, struct cross_entropy *c)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *x = op_call_tensor(call, scores),
                           *weight = op_call_tensor(call, "weightOptional");
    leo_status status = take_words(call, c);
    if (status == LEO_OK && (x->rank != 2 || op_tensor_count(x) == 0)) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s: it must be [samples, classes]",
                              scores, op_tensor_shape_text(x).text);
    }
    if (status != LEO_OK) {
        return status;
    }
    c->target = op_call_tensor(call, "target");
    c->samples = x->dim[0];
    c->classes = x->dim[1];
    status = op_call_check_shape(call, "target", 1, &c->samples);
    if (status == LEO_OK && weight) {
        status = op_call_check_shape(call, "weightOptional", 1, &c->classes);
        c->weight = *weight;
    } else if (status == LEO_OK) {
        c->weight = op_chain_temp(chain, OP_TYPE_F32, 1, &c->classes);
        op_chain_fill(chain, &c->weight, 1);
    }
    return status == LEO_OK ? chain->status : status;
}

static void likelihood(struct op_chain *chain, const struct cross_entropy *c,
                       const struct op_tensor *log_prob, int64_t reduction,
                       const struct op_tensor *out, const struct op_tensor *total)
{
    OP_CHAIN_CALL(chain, "NLLLoss", op_value_tensor(log_prob), op_value_tensor(c->target),
                  op_value_tensor(&c->weight), op_value_int(reduction), op_value_int(c->ignore),
                  op_value_tensor(out), op_value_tensor(total));
}

static struct op_tensor one_number(struct op_chain *chain)
{
    const int64_t one = 1;
    return op_chain_temp(chain, OP_TYPE_F32, 1, &one);
}

// Losses of samples with smoothing, and their sum or mean.
static void smoothed(struct op_chain *chain, const struct cross_entropy *c,
                     const struct op_tensor *log_prob, const struct op_tensor *out)
{
    const int64_t samples[] = {c->samples}, over_all[] = {0};
    const struct op_ints all = {over_all, 1};
    const struct op_tensor nll = op_chain_temp(chain, OP_TYPE_F32, 1, samples),
                           smooth = op_chain_temp(chain, OP_TYPE_F32, 1, samples),
                           each = op_chain_temp(chain, OP_TYPE_F32, 1, samples),
                           weighed = op_chain_temp_like(chain, OP_TYPE_F32, log_prob),
                           total = one_number(chain), sum = one_number(chain);
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(log_prob), op_value_tensor(&c->weight),
                  op_value_tensor(&weighed));
    op_chain_sum(chain, &weighed, 1, &smooth);
    likelihood(chain, c, log_prob, SUM, &sum, &total);
    const struct op_tensor none = one_number(chain);
    likelihood(chain, c, log_prob, NONE, &nll, &none);
    OP_CHAIN_CALL(chain, "CrossEntropyMix", op_value_tensor(&nll), op_value_tensor(&smooth),
                  op_value_tensor(c->target), op_value_int(c->ignore),
                  op_value_real(1 - c->smoothing), op_value_real(c->smoothing / (double)c->classes),
                  op_value_tensor(c->reduction == NONE ? out : &each));
    if (c->reduction == NONE) {
        return;
    }
    struct op_tensor to = *out;
    to.rank = 0;
    if (c->reduction == SUM) {
        OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&each), op_value_ints(&all),
                      op_value_int(0), op_value_type(OP_TYPE_F32), op_value_tensor(&to));
        return;
    }
    struct op_tensor number = sum;
    number.rank = 0;
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&each), op_value_ints(&all), op_value_int(0),
                  op_value_type(OP_TYPE_F32), op_value_tensor(&number));
    struct op_tensor divisor = total;
    divisor.rank = 0;
    OP_CHAIN_CALL(chain, "Div", op_value_tensor(&number), op_value_tensor(&divisor),
                  op_value_tensor(&to));
}

static leo_status check_loss(const struct op_call *call, const struct cross_entropy *c,
                             const char *name)
{
    return c->reduction == NONE ? op_call_check_shape(call, name, 1, &c->samples)
                                : op_call_check_number(call, name);
}

leo_status op_plan_cross_entropy(const struct op_call *call)
{
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *out = op_call_tensor(call, "lossOut"),
                           *log_prob = op_call_tensor(call, "logProbOut");
    struct op_chain chain = op_chain_begin(call);
    struct cross_entropy c;
    leo_status status = take(&chain, "input", &c);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "logProbOut", 2, input->dim);
    }
    if (status == LEO_OK) {
        status = check_loss(call, &c, "lossOut");
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor wide = op_chain_wide(&chain, log_prob), total = one_number(&chain);
    OP_CHAIN_CALL(&chain, "LogSoftmax", op_value_tensor(input), op_value_int(1),
                  op_value_tensor(&wide));
    op_chain_give(&chain, log_prob, &wide);
    if (c.smoothing == 0) {
        likelihood(&chain, &c, &wide, c.reduction, out, &total);
    } else {
        smoothed(&chain, &c, &wide, out);
    }
    return chain.status;
}

// Takes the share of smoothing from the gradient by the logarithms of probabilities.
static void smooth_gradient(struct op_chain *chain, const struct cross_entropy *c,
                            const struct op_tensor *gradient, const struct op_tensor *total,
                            const struct op_tensor *by_log)
{
    const int64_t column[] = {c->samples, 1};
    const struct op_scalar rest = op_scalar_real(1 - c->smoothing), one = op_scalar_int(1);
    const struct op_tensor share = op_chain_temp(chain, OP_TYPE_F32, 2, column),
                           weighed = op_chain_temp_like(chain, OP_TYPE_F32, by_log);
    struct op_tensor given = *gradient;
    const struct op_tensor targets = op_view_insert(c->target, 1);
    if (c->reduction == NONE) {
        given = op_view_insert(gradient, 1);
    } else {
        given.rank = 0;
    }
    OP_CHAIN_CALL(chain, "CrossEntropyShare", op_value_tensor(&given), op_value_tensor(total),
                  op_value_tensor(&targets), op_value_int(c->ignore),
                  op_value_real(c->smoothing / (double)c->classes), op_value_tensor(&share));
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&share), op_value_tensor(&c->weight),
                  op_value_tensor(&weighed));
    OP_CHAIN_CALL(chain, "Muls", op_value_tensor(by_log), op_value_scalar(&rest),
                  op_value_tensor(by_log));
    OP_CHAIN_CALL(chain, "Sub", op_value_tensor(by_log), op_value_tensor(&weighed),
                  op_value_scalar(&one), op_value_tensor(by_log));
}

leo_status op_plan_cross_entropy_grad(const struct op_call *call)
{
    const struct op_tensor *log_prob = op_call_tensor(call, "logProb"),
                           *out = op_call_tensor(call, "out");
    struct op_chain chain = op_chain_begin(call);
    struct cross_entropy c;
    leo_status status = take(&chain, "logProb", &c);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "out", 2, log_prob->dim);
    }
    if (status == LEO_OK) {
        status = check_loss(call, &c, "gradLoss");
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_tensor gradient = *op_call_tensor(call, "gradLoss");
    gradient.rank = c.reduction == NONE ? 1 : 0;
    const struct op_tensor by_log = op_chain_temp_like(&chain, OP_TYPE_F32, log_prob),
                           total = one_number(&chain), sum = one_number(&chain);
    likelihood(&chain, &c, log_prob, SUM, &sum, &total);
    OP_CHAIN_CALL(&chain, "NLLLossBackward", op_value_tensor(&gradient), op_value_tensor(log_prob),
                  op_value_tensor(c.target), op_value_tensor(&c.weight), op_value_int(c.reduction),
                  op_value_int(c.ignore), op_value_tensor(&total), op_value_tensor(&by_log));
    if (c.smoothing != 0) {
        if (c.reduction != MEAN) {
            op_chain_fill(&chain, &total, 1);
        }
        smooth_gradient(&chain, &c, &gradient, &total, &by_log);
    }
    OP_CHAIN_CALL(&chain, "LogSoftmaxBackward", op_value_tensor(&by_log), op_value_tensor(log_prob),
                  op_value_int(1), op_value_tensor(out));
    return chain.status;
}
