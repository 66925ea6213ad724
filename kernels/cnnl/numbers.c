/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and lists of numbers of a call. */
#include "cnnl_call.h"

#include <cnrt.h>
#include <string.h>

static const struct op_scalar *keep(struct cnnl_call *call, struct op_scalar number)
{
    if (call->scalar_count == CNNL_CALL_NUMBERS) {
        cnnl_refuse(call, "more than %d numbers", CNNL_CALL_NUMBERS);
        return NULL;
    }
    call->scalars[call->scalar_count] = number;
    return &call->scalars[call->scalar_count++];
}

const struct op_scalar *cnnl_real(struct cnnl_call *call, double number)
{
    return keep(call, op_scalar_real(number));
}

const struct op_scalar *cnnl_integer(struct cnnl_call *call, int64_t number)
{
    return keep(call, op_scalar_int(number));
}

static double half_of(uint16_t bits)
{
    float value = 0;
    (void)cnrtConvertHalfToFloat(&value, bits); // fails for NULL only
    return value;
}

static double bfloat_of(uint16_t bits)
{
    const uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof(value));
    return value;
}

const struct op_scalar *cnnl_host(struct cnnl_call *call, const char *name, enum op_type type,
                                  const void *data)
{
    union {
        float f32;
        double f64;
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
    } number = {.i64 = 0};
    if (!data || op_type_bytes(type) > sizeof(number)) {
        cnnl_bad(call, "%s: %s", name, data ? "no number of this type" : "NULL");
        return NULL;
    }
    memcpy(&number, data, op_type_bytes(type));
    switch ((int)type) {
    case OP_TYPE_F32:
        return cnnl_real(call, (double)number.f32);
    case OP_TYPE_F64:
        return cnnl_real(call, number.f64);
    case OP_TYPE_F16:
        return cnnl_real(call, half_of(number.u16));
    case OP_TYPE_BF16:
        return cnnl_real(call, bfloat_of(number.u16));
    case OP_TYPE_I8:
        return cnnl_integer(call, number.i8);
    case OP_TYPE_U8:
        return cnnl_integer(call, number.u8);
    case OP_TYPE_BOOL:
        return cnnl_integer(call, number.u8 != 0);
    case OP_TYPE_I16:
        return cnnl_integer(call, number.i16);
    case OP_TYPE_U16:
        return cnnl_integer(call, number.u16);
    case OP_TYPE_I32:
        return cnnl_integer(call, number.i32);
    case OP_TYPE_U32:
        return cnnl_integer(call, number.u32);
    case OP_TYPE_I64:
        return cnnl_integer(call, number.i64);
    default:
        cnnl_refuse(call, "%s: a number of type %s in host memory", name, op_type_name(type));
        return NULL;
    }
}

double cnnl_factor(enum op_type type, const void *data, double none)
{
    float real;
    int32_t integer;
    int64_t wide;
    if (!data) {
        return none;
    }
    if (type == OP_TYPE_I64) {
        memcpy(&wide, data, sizeof(wide));
        return (double)wide;
    }
    if (op_type_is_integer(type)) {
        memcpy(&integer, data, sizeof(integer));
        return integer;
    }
    memcpy(&real, data, sizeof(real));
    return (double)real;
}

void cnnl_no_blend(struct cnnl_call *call, const void *alpha, const void *beta)
{
    if (cnnl_factor(OP_TYPE_F32, alpha, 1) != 1 || cnnl_factor(OP_TYPE_F32, beta, 0) != 0) {
        cnnl_refuse(call, "alpha must be 1 and beta 0 (or NULL)");
    }
}

const struct op_ints *cnnl_longs(struct cnnl_call *call, const int64_t *items, int64_t count)
{
    if (count < 0 || (count && !items) || call->int_count + count > CNNL_CALL_INTS ||
        call->ints_count == CNNL_CALL_NUMBERS) {
        cnnl_bad(call, "a list of %lld numbers%s", (long long)count, items ? "" : " is NULL");
        return NULL;
    }
    int64_t *to = call->numbers + call->int_count;
    if (count) {
        memcpy(to, items, (size_t)count * sizeof(*to));
    }
    call->int_count += (unsigned)count;
    call->ints[call->ints_count] = (struct op_ints){to, (uint64_t)count};
    return &call->ints[call->ints_count++];
}

const struct op_ints *cnnl_ints(struct cnnl_call *call, const int *items, int64_t count)
{
    int64_t wide[CNNL_CALL_INTS];
    for (int64_t i = 0; items && i < count && i < CNNL_CALL_INTS; i++) {
        wide[i] = items[i];
    }
    return cnnl_longs(call, items ? wide : NULL, count);
}

const struct op_ints *cnnl_int1(struct cnnl_call *call, int64_t item)
{
    return cnnl_longs(call, &item, 1);
}

const struct op_ints *cnnl_int2(struct cnnl_call *call, int64_t a, int64_t b)
{
    const int64_t items[] = {a, b};
    return cnnl_longs(call, items, 2);
}

const struct op_ints *cnnl_sizes(struct cnnl_call *call, const struct op_tensor *tensor,
                                 unsigned first)
{
    if (!tensor || first > tensor->rank) {
        return NULL;
    }
    return cnnl_longs(call, tensor->dim + first, tensor->rank - first);
}
