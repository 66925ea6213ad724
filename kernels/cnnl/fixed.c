/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in fixed point: q stands for (q - offset) 2^position / scale. */
#include "cnnl_subjects.h"
#include "tensor_desc.h"

#include <math.h>

// A float of exponent e is 2^e: (e + BIAS) shifted by MANTISSA_BITS.
enum { EXPONENT_BIAS = 127, MANTISSA_BITS = 23, LEAST_EXPONENT = -100 };

const struct op_tensor *cnnl_fixed(struct cnnl_call *call, const char *name,
                                   cnnlTensorDescriptor_t desc, const void *data)
{
    if (!cnnl_tensor_is_live(desc) ||
        (desc->type != CNNL_DTYPE_INT8 && desc->type != CNNL_DTYPE_INT16)) {
        cnnl_refuse(call, "%s: numbers in fixed point are i8 or i16", name);
        return NULL;
    }
    struct cnnlTensorStruct plain = *desc;
    plain.quantized = false;
    plain.onchip = CNNL_DTYPE_INVALID;
    return cnnl_in(call, name, &plain, data);
}

const struct op_tensor *cnnl_widened(struct cnnl_call *call, const struct op_tensor *fixed)
{
    // i8 is exact in half, i16 is not.
    return fixed ? cnnl_as(call, fixed->type == OP_TYPE_I8 ? OP_TYPE_F16 : OP_TYPE_F32, fixed)
                 : NULL;
}

static const struct op_tensor *one_number(struct cnnl_call *call, enum op_type type)
{
    const int64_t one = 1;
    return cnnl_temp(call, type, 1, &one);
}

// The same bits as another type of the same width.
static const struct op_tensor *bits_as(struct cnnl_call *call, const struct op_tensor *tensor,
                                       enum op_type type)
{
    struct op_tensor *view = cnnl_view(call, tensor);
    if (view) {
        view->type = type;
    }
    return view;
}

// y = x times a + b in whole numbers.
static void line(struct cnnl_call *call, const struct op_tensor *x, int64_t a, int64_t b,
                 const struct op_tensor *y)
{
    const struct op_value times[] = {op_value_tensor(x), op_value_scalar(cnnl_integer(call, a)),
                                     op_value_tensor(y)};
    const struct op_value plus[] = {op_value_tensor(y), op_value_scalar(cnnl_integer(call, b)),
                                    op_value_scalar(cnnl_integer(call, 1)), op_value_tensor(y)};
    cnnl_run(call, "Muls", times);
    cnnl_run(call, "Adds", plus);
}

static void two_to_one(struct cnnl_call *call, const char *row, const struct op_tensor *a,
                       const struct op_tensor *b, const struct op_tensor *y)
{
    const struct op_value args[] = {op_value_tensor(a), op_value_tensor(b), op_value_tensor(y)};
    cnnl_run(call, row, args);
}

// 2^position, in f32.
static const struct op_tensor *power(struct cnnl_call *call, const struct op_tensor *position)
{
    const struct op_tensor *made = one_number(call, OP_TYPE_I32);
    line(call, position, 1 << MANTISSA_BITS, (int64_t)EXPONENT_BIAS << MANTISSA_BITS, made);
    return bits_as(call, made, OP_TYPE_F32);
}

struct cnnl_fixed cnnl_fixed_of_memory(struct cnnl_call *call, const void *position,
                                       const void *scale, const void *offset)
{
    struct cnnl_fixed made = {NULL, NULL, NULL};
    cnnl_need(call, "position", position != NULL);
    if (call->status == CNNL_STATUS_SUCCESS) {
        made.step = power(call, cnnl_vector(call, position, OP_TYPE_I32, 1));
        made.scale = scale ? cnnl_vector(call, scale, OP_TYPE_F32, 1) : NULL;
        made.offset = offset ? cnnl_vector(call, offset, OP_TYPE_I32, 1) : NULL;
    }
    return made;
}

struct cnnl_fixed cnnl_fixed_of_desc(struct cnnl_call *call, cnnlQuantizeMode_t mode,
                                     cnnlTensorDescriptor_t desc)
{
    struct cnnl_fixed made = {NULL, NULL, NULL};
    if (call->status == CNNL_STATUS_SUCCESS) {
        made.step = power(call, cnnl_filled(call, OP_TYPE_I32, 1, desc->position));
        made.scale = mode == CNNL_QUANTIZE_POSITION
                         ? NULL
                         : cnnl_filled(call, OP_TYPE_F32, 1, (double)desc->scale);
        made.offset = mode == CNNL_QUANTIZE_POSITION_SCALE_OFFSET
                          ? cnnl_filled(call, OP_TYPE_I32, 1, desc->offset)
                          : NULL;
    }
    return made;
}

void cnnl_quantize(struct cnnl_call *call, const struct op_tensor *x, struct cnnl_fixed fixed,
                   const struct op_tensor *y)
{
    if (!x || !y || call->status != CNNL_STATUS_SUCCESS) {
        return;
    }
    const double most = y->type == OP_TYPE_I8 ? INT8_MAX : INT16_MAX;
    const struct op_tensor *wide = cnnl_temp_like(call, OP_TYPE_F32, x);
    two_to_one(call, "Div", cnnl_as(call, OP_TYPE_F32, x), fixed.step, wide);
    if (fixed.scale) {
        two_to_one(call, "Mul", wide, fixed.scale, wide);
    }
    const struct op_value round[] = {op_value_tensor(wide), op_value_tensor(wide)};
    cnnl_run(call, "Round", round);
    if (fixed.offset) {
        const struct op_value plus[] = {op_value_tensor(wide),
                                        op_value_tensor(cnnl_as(call, OP_TYPE_F32, fixed.offset)),
                                        op_value_scalar(cnnl_real(call, 1)), op_value_tensor(wide)};
        cnnl_run(call, "Add", plus);
    }
    const struct op_value cut[] = {op_value_tensor(wide),
                                   op_value_scalar(cnnl_real(call, -most - 1)),
                                   op_value_scalar(cnnl_real(call, most)), op_value_tensor(wide)};
    cnnl_run(call, "Clamp", cut);
    cnnl_copy(call, y, wide);
}

void cnnl_dequantize(struct cnnl_call *call, const struct op_tensor *sums, struct cnnl_fixed a,
                     struct cnnl_fixed b, const struct op_tensor *bias, const struct op_tensor *y)
{
    if (a.offset || b.offset) {
        cnnl_refuse(call, "products of numbers with an offset");
    }
    if (!sums || !y || call->status != CNNL_STATUS_SUCCESS) {
        return;
    }
    const struct op_tensor *const steps[] = {a.step, b.step}, *const scales[] = {a.scale, b.scale};
    for (int i = 0; i < 2; i++) {
        two_to_one(call, "Mul", sums, steps[i], sums);
        if (scales[i]) {
            two_to_one(call, "Div", sums, scales[i], sums);
        }
    }
    if (bias) {
        const struct op_value plus[] = {op_value_tensor(sums), op_value_tensor(bias),
                                        op_value_scalar(cnnl_real(call, 1)), op_value_tensor(sums)};
        cnnl_run(call, "Add", plus);
    }
    cnnl_copy(call, y, sums);
}

const struct op_tensor *cnnl_channel_bias(struct cnnl_call *call, const struct op_tensor *bias,
                                          const struct op_tensor *y)
{
    int64_t dim[OP_RANK_MAX] = {0};
    for (unsigned i = 0; i < y->rank; i++) {
        dim[i] = i == 1 ? y->dim[1] : 1;
    }
    return cnnl_shaped(call, "bias", cnnl_as(call, OP_TYPE_F32, bias), y->rank, dim);
}

void cnnl_choose_fixed(struct cnnl_call *call, cnnlQuantizeMode_t mode, const struct op_tensor *x,
                       int bits, void *position, void *scale)
{
    cnnl_need(call, "position", position != NULL);
    cnnl_need(call, "scale", scale || mode == CNNL_QUANTIZE_POSITION);
    if (mode == CNNL_QUANTIZE_POSITION_SCALE_OFFSET || (bits != 8 && bits != 16)) {
        cnnl_refuse(call, "%d bits, or an offset", bits);
    }
    if (call->status != CNNL_STATUS_SUCCESS) {
        return;
    }
    const struct op_tensor *size = cnnl_temp_like(call, OP_TYPE_F32, x),
                           *most = one_number(call, OP_TYPE_F32),
                           *place = cnnl_vector(call, position, OP_TYPE_I32, 1);
    const struct op_value magnitude[] = {op_value_tensor(cnnl_as(call, OP_TYPE_F32, x)),
                                         op_value_tensor(size)};
    const struct op_value largest[] = {op_value_tensor(size),
                                       op_value_tensor(cnnl_shaped(call, "most", most, 0, NULL))};
    const struct op_value not_below[] = {op_value_tensor(most),
                                         op_value_scalar(cnnl_real(call, ldexp(1, LEAST_EXPONENT))),
                                         op_value_tensor(most)};
    const struct op_value shift[] = {op_value_tensor(bits_as(call, most, OP_TYPE_I32)),
                                     op_value_scalar(cnnl_integer(call, 1 << MANTISSA_BITS)),
                                     op_value_tensor(place)};
    cnnl_run(call, "Abs", magnitude);
    cnnl_run(call, "Max", largest);
    cnnl_run(call, "ClampMin", not_below);
    cnnl_run(call, "FloorDivides", shift);
    line(call, place, 1, -EXPONENT_BIAS - (bits - 2), place);
    if (mode == CNNL_QUANTIZE_POSITION_SCALE) {
        const struct op_tensor *to = cnnl_vector(call, scale, OP_TYPE_F32, 1);
        const struct op_value times[] = {
            op_value_tensor(power(call, place)),
            op_value_scalar(cnnl_real(call, (double)((1 << (bits - 1)) - 1))), op_value_tensor(to)};
        cnnl_run(call, "Muls", times);
        two_to_one(call, "Div", to, most, to);
    }
}
