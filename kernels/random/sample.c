/* SPDX-License-Identifier: Apache-2.0 */
/* Samples made of uniform and normal numbers: normal numbers with tensors of parameters,
 * multinomial samples, random slopes. A row says which ("sample"). */
#include "../frame/chain.h"

#include <inttypes.h>
#include <string.h>

// Uniform numbers in [from, to), with the seed of the call.
static void uniform(struct op_chain *chain, const struct op_tensor *out, double from, double to)
{
    const struct op_call *call = chain->call;
    if (op_call_has(call, "seedTensor")) {
        OP_CHAIN_CALL(chain, "InplaceUniformTensor", op_value_tensor(out), op_value_real(from),
                      op_value_real(to), *op_call_value(call, "seedTensor"),
                      *op_call_value(call, "offsetTensor"), *op_call_value(call, "offset"));
        return;
    }
    OP_CHAIN_CALL(chain, "InplaceUniform", op_value_tensor(out), op_value_real(from),
                  op_value_real(to), *op_call_value(call, "seed"), *op_call_value(call, "offset"));
}

static leo_status plan_normal(const struct op_call *call)
{
    const struct op_tensor *out = op_call_tensor(call, "out");
    const enum op_type type = out->type == OP_TYPE_F64 ? OP_TYPE_F64 : OP_TYPE_F32;
    struct op_chain chain = op_chain_begin(call);
    static const char *const names[] = {"mean", "std"};
    struct op_tensor part[2];
    const int64_t one = 1;
    for (unsigned i = 0; i < 2; i++) {
        struct op_tensor given;
        if (op_call_value(call, names[i])->kind == OP_KIND_TENSOR) {
            given = *op_call_tensor(call, names[i]);
        } else {
            given = op_chain_temp(&chain, type, 1, &one);
            op_chain_fill(&chain, &given, op_call_real(call, names[i]));
        }
        if (!op_tensor_broadcast(&given, out->rank, out->dim, &part[i])) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "%s of shape %s does not broadcast to out of shape %s", names[i],
                                op_tensor_shape_text(&given).text, op_tensor_shape_text(out).text);
        }
    }
    const struct op_tensor numbers = op_chain_temp_like(&chain, type, out);
    const struct op_scalar unit = op_scalar_int(1);
    OP_CHAIN_CALL(&chain, "NormalFloatFloat", op_value_real(0), op_value_real(1),
                  *op_call_value(call, "seed"), *op_call_value(call, "offset"),
                  op_value_tensor(&numbers));
    OP_CHAIN_CALL(&chain, "Addcmul", op_value_tensor(&part[0]), op_value_tensor(&part[1]),
                  op_value_tensor(&numbers), op_value_scalar(&unit), op_value_tensor(out));
    return chain.status;
}

// Places of uniform numbers in the running sums.
static void with_replacement(struct op_chain *chain, const struct op_tensor *p,
                             const struct op_tensor *out)
{
    const unsigned last = p->rank - 1;
    const int64_t dim = (int64_t)last;
    const struct op_tensor sums = op_chain_temp_like(chain, OP_TYPE_F64, p),
                           u = op_chain_temp_like(chain, OP_TYPE_F32, out),
                           at = op_chain_temp_like(chain, OP_TYPE_F64, out),
                           place = op_chain_temp_like(chain, OP_TYPE_I64, out),
                           total = op_view_slice(&sums, last, p->dim[last] - 1, 1);
    uniform(chain, &u, 0, 1);
    OP_CHAIN_CALL(chain, "Cumsum", op_value_tensor(p), op_value_int(dim),
                  op_value_type(OP_TYPE_F64), op_value_tensor(&sums));
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&u), op_value_tensor(&total), op_value_tensor(&at));
    OP_CHAIN_CALL(chain, "SearchSorted", op_value_tensor(&sums), op_value_tensor(&at),
                  op_value_int(0), op_value_int(1), op_value_tensor(NULL), op_value_tensor(&place));
    OP_CHAIN_CALL(chain, "SampleLast", op_value_tensor(&place), op_value_int(p->dim[last] - 1),
                  op_value_tensor(out));
}

// The largest of p divided by exponential numbers.
static void without_replacement(struct op_chain *chain, const struct op_tensor *p,
                                const struct op_tensor *out)
{
    const int64_t last = (int64_t)p->rank - 1;
    const struct op_tensor u = op_chain_temp_like(chain, OP_TYPE_F32, p),
                           key = op_chain_temp_like(chain, OP_TYPE_F64, p),
                           best = op_chain_temp_like(chain, OP_TYPE_F64, out);
    uniform(chain, &u, 0, 1);
    OP_CHAIN_CALL(chain, "SampleKey", op_value_tensor(p), op_value_tensor(&u),
                  op_value_tensor(&key));
    OP_CHAIN_CALL(chain, "Topk", op_value_tensor(&key), op_value_int(out->dim[last]),
                  op_value_int(last), op_value_int(1), op_value_int(1), op_value_tensor(&best),
                  op_value_tensor(out));
}

static leo_status plan_multinomial(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const int64_t samples = op_call_int(call, "numsamples");
    const bool replacement = op_call_int(call, "replacement") != 0;
    int64_t shape[2];
    if (self->rank < 1 || self->rank > 2 || op_tensor_count(self) == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "self has shape %s: it must be a row or rows of probabilities",
                            op_tensor_shape_text(self).text);
    }
    const int64_t categories = self->dim[self->rank - 1];
    if (samples <= 0 || (!replacement && samples > categories)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "numsamples is %" PRId64 " of %" PRId64 " categories", samples,
                            categories);
    }
    shape[0] = self->dim[0];
    shape[self->rank - 1] = samples;
    leo_status status = op_call_check_shape(call, "out", self->rank, shape);
    if (status == LEO_OK) {
        status = op_call_check_type(call, "out", OP_TYPE_I64);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (replacement) {
        with_replacement(&chain, self, out);
    } else {
        without_replacement(&chain, self, out);
    }
    return chain.status;
}

static leo_status plan_exponential(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "selfRef");
    const double rate = op_call_real(call, op_call_has(call, "lambd") ? "lambd" : "lambda");
    const int64_t count = op_tensor_count(self);
    if (!(rate > 0)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "the rate is %g: it must be above 0", rate);
    }
    if (op_call_has(call, "count") && op_call_int(call, "count") != count) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "count is %" PRId64 ", selfRef has %" PRId64 " elements",
                            op_call_int(call, "count"), count);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor u = op_chain_temp_like(&chain, OP_TYPE_F32, self);
    uniform(&chain, &u, 0, 1);
    OP_CHAIN_CALL(&chain, "SampleExponential", op_value_tensor(&u), op_value_real(rate),
                  op_value_tensor(self));
    return chain.status;
}

static leo_status plan_rrelu(const struct op_call *call)
{
    const bool in_place = !op_call_has(call, "out");
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *out = in_place ? self : op_call_tensor(call, "out"),
                           *noise = op_call_tensor(call, "noise");
    const double lower = op_call_scalar(call, "lower")->real,
                 upper = op_call_scalar(call, "upper")->real;
    leo_status status = in_place ? LEO_OK : op_call_check_shape(call, "out", self->rank, self->dim);
    if (status != LEO_OK || op_tensor_count(self) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (!op_call_int(call, "training")) {
        const struct op_scalar slope = op_scalar_real((lower + upper) / 2);
        OP_CHAIN_CALL(&chain, "LeakyRelu", op_value_tensor(self), op_value_scalar(&slope),
                      op_value_tensor(out));
        return chain.status;
    }
    status = op_call_check_shape(call, "noise", self->rank, self->dim);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor u = op_chain_temp_like(&chain, OP_TYPE_F32, self);
    uniform(&chain, &u, lower, upper);
    OP_CHAIN_CALL(&chain, "RreluNoise", op_value_tensor(self), op_value_tensor(&u),
                  op_value_tensor(noise));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(self), op_value_tensor(noise),
                  op_value_tensor(out));
    return chain.status;
}

leo_status op_plan_sample(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {{"normal", plan_normal},
                 {"multinomial", plan_multinomial},
                 {"exponential", plan_exponential},
                 {"rrelu", plan_rrelu}};
    const char *word = op_row_attr(call->row, "sample");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no kind of samples");
}
