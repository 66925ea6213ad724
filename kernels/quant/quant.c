/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisation: pointwise steps with a scale and an offset for all, or for each channel. */
#include "../frame/dims.h"
#include "rows.h"

#include <inttypes.h>
#include <string.h>

// A list of numbers, one for each place of dimension `axis` of x, or one for all.
static leo_status by_axis(const struct op_call *call, const char *name,
                          const struct op_tensor *given, const struct op_tensor *x, int64_t axis,
                          struct op_tensor *out)
{
    const int64_t count = op_tensor_count(given);
    unsigned dim = 0;
    *out = *given;
    if (given->rank > 1 && op_tensor_broadcast(given, x->rank, x->dim, out)) {
        return LEO_OK;
    }
    if (count == 1) {
        out->rank = 0;
        return LEO_OK;
    }
    leo_status status = op_take_dim(call, axis, x->rank, &dim);
    if (status == LEO_OK && (given->rank != 1 || x->dim[dim] != count)) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s for dimension %u of %s", name,
                              op_tensor_shape_text(given).text, dim, op_tensor_shape_text(x).text);
    }
    for (unsigned i = dim + 1; status == LEO_OK && i < x->rank; i++) {
        *out = op_view_insert(out, out->rank);
    }
    return status;
}

// The range of an integer type.
static leo_status range_of(const struct op_call *call, enum op_type type, double *low, double *high)
{
    switch (type) {
    case OP_TYPE_I8:
        *low = INT8_MIN;
        *high = INT8_MAX;
        return LEO_OK;
    case OP_TYPE_U8:
        *low = 0;
        *high = UINT8_MAX;
        return LEO_OK;
    case OP_TYPE_I32: // what a float holds below 2^31
        *low = INT32_MIN;
        *high = 2147483520.0;
        return LEO_OK;
    default:
        return op_call_fail(call, LEO_ERR_DTYPE, "the result is %s: it must be i8, u8 or i32",
                            op_type_name(type));
    }
}

static struct op_tensor zero_of(struct op_chain *chain)
{
    const int64_t one = 1;
    struct op_tensor zero = op_chain_temp(chain, OP_TYPE_F32, 1, &one);
    op_chain_fill(chain, &zero, 0);
    zero.rank = 0;
    return zero;
}

static leo_status plan_quantize(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *out = op_call_tensor(call, "out"),
                           *zeros = op_call_tensor(call, "zeroPoints");
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor scale, zero;
    double low, high;
    leo_status status = op_call_check_shape(call, "out", x->rank, x->dim);
    if (status == LEO_OK) {
        status = range_of(call, out->type, &low, &high);
    }
    if (status == LEO_OK) {
        status = by_axis(call, "scales", op_call_tensor(call, "scales"), x,
                         op_call_int(call, "axis"), &scale);
    }
    if (status == LEO_OK && zeros) {
        status = by_axis(call, "zeroPoints", zeros, x, op_call_int(call, "axis"), &zero);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (!zeros) {
        zero = zero_of(&chain);
    }
    OP_CHAIN_CALL(&chain, "QuantDivide", op_value_tensor(x), op_value_tensor(&scale),
                  op_value_tensor(&zero), op_value_real(low), op_value_real(high),
                  op_value_tensor(out));
    return chain.status;
}

static leo_status take_mode(const struct op_call *call, int64_t *mode)
{
    static const char *const names[] = {"round", "floor", "ceil", "trunc"};
    const char *text = op_call_value(call, "roundMode")->text;
    for (*mode = 0; *mode < 4; ++*mode) {
        if (strcmp(text ? text : "round", names[*mode]) == 0) {
            return LEO_OK;
        }
    }
    return op_call_fail(call, LEO_ERR_INVALID_ARG,
                        "roundMode is %s: it must be round, floor, ceil or trunc", text);
}

static leo_status plan_ascend_quant(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *out = op_call_tensor(call, "y"),
                           *offset = op_call_tensor(call, "offset");
    const int64_t axis = op_call_has(call, "axis") ? op_call_int(call, "axis") : -1;
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor scale, zero;
    double low, high;
    int64_t mode;
    leo_status status = x->rank ? op_quant_check_out_words(call, "y", x)
                                : op_call_check_shape(call, "y", x->rank, x->dim);
    if (status == LEO_OK && x->rank == 0) { // one number fills no word
        status = op_call_check_type(call, "y", OP_TYPE_I8);
    }
    const bool words = out->type == OP_TYPE_I32;
    low = words ? -8 : INT8_MIN;
    high = words ? 7 : INT8_MAX;
    if (status == LEO_OK) {
        status = take_mode(call, &mode);
    }
    if (status == LEO_OK) {
        status = by_axis(call, "scale", op_call_tensor(call, "scale"), x, axis, &scale);
    }
    if (status == LEO_OK && offset) {
        status = by_axis(call, "offset", offset, x, axis, &zero);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (!offset) {
        zero = zero_of(&chain);
    }
    if (op_call_int(call, "sqrtMode")) {
        const struct op_tensor square = op_chain_temp_like(&chain, OP_TYPE_F32, &scale);
        OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&scale), op_value_tensor(&scale),
                      op_value_tensor(&square));
        scale = square;
    }
    const struct op_tensor number = words ? op_chain_temp_like(&chain, OP_TYPE_I64, x) : *out;
    OP_CHAIN_CALL(&chain, "QuantMultiply", op_value_tensor(x), op_value_tensor(&scale),
                  op_value_tensor(&zero), op_value_int(mode), op_value_real(low),
                  op_value_real(high), op_value_tensor(&number));
    if (words) {
        op_quant_words(&chain, &number, out);
    }
    return chain.status;
}

static leo_status plan_fake(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out"),
                           *mask = op_call_tensor(call, "mask");
    const double low = (double)op_call_int(call, "quantMin"),
                 high = (double)op_call_int(call, "quantMax");
    const int64_t axis = op_call_has(call, "axis") ? op_call_int(call, "axis") : 0;
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor scale, zero;
    leo_status status = op_call_check_shape(call, "out", self->rank, self->dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "mask", self->rank, self->dim);
    }
    if (status == LEO_OK) {
        status = by_axis(call, "scale", op_call_tensor(call, "scale"), self, axis, &scale);
    }
    if (status == LEO_OK) {
        status = by_axis(call, "zeroPoint", op_call_tensor(call, "zeroPoint"), self, axis, &zero);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (op_call_has(call, "fakeQuantEnabled") && op_call_real(call, "fakeQuantEnabled") == 0) {
        op_chain_copy(&chain, out, self);
        op_chain_fill(&chain, mask, 1);
        return chain.status;
    }
    OP_CHAIN_CALL(&chain, "FakeQuantMask", op_value_tensor(self), op_value_tensor(&scale),
                  op_value_tensor(&zero), op_value_real(low), op_value_real(high),
                  op_value_tensor(mask));
    OP_CHAIN_CALL(&chain, "FakeQuantValue", op_value_tensor(self), op_value_tensor(&scale),
                  op_value_tensor(&zero), op_value_real(low), op_value_real(high),
                  op_value_tensor(out));
    return chain.status;
}

leo_status op_plan_quant(const struct op_call *call)
{
    return op_call_has(call, "quantMin")    ? plan_fake(call)
           : op_call_has(call, "roundMode") ? plan_ascend_quant(call)
                                            : plan_quantize(call);
}
