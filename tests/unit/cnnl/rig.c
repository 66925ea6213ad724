/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <leo/runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rig_status(int got, int expected, const char *call, int line)
{
    if (got != expected) {
        fprintf(stderr, "line %d: %s is %d, not %d (%s)\n", line, call, got, expected,
                leo_rt_last_error());
    }
    CU_ASSERT_EQUAL(got, expected);
}

void rig_text(const char *part, int line)
{
    const char *text = leo_rt_last_error();
    if (!strstr(text, part)) {
        fprintf(stderr, "line %d: \"%s\" is not in \"%s\"\n", line, part, text);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
}

struct rig rig_begin(void)
{
    struct rig rig = {.tensor_count = 0};
    OK(cnrtSetDevice(0));
    OK(cnrtQueueCreate(&rig.queue));
    OK(cnnlCreate(&rig.handle));
    OK(cnnlSetQueue(rig.handle, rig.queue));
    return rig;
}

void rig_end(struct rig *rig)
{
    for (unsigned i = 0; i < rig->tensor_count; i++) {
        OK(cnnlDestroyTensorDescriptor(rig->tensors[i].desc));
    }
    OK(cnrtQueueSync(rig->queue));
    for (unsigned i = 0; i < rig->tensor_count; i++) {
        OK(cnrtFree(rig->tensors[i].ptr));
    }
    OK(cnnlDestroy(rig->handle));
    OK(cnrtQueueDestroy(rig->queue));
}

// To the nearest number with so many digits, even ones for ties; overflow to infinity.
static double round_to(double number, int digits, int least, double most)
{
    int exponent;
    if (number == 0 || !isfinite(number)) {
        return number;
    }
    (void)frexp(number, &exponent);
    const int unit = exponent - digits < least ? least : exponent - digits;
    const double rounded = ldexp(nearbyint(ldexp(number, -unit)), unit);
    return fabs(rounded) > most ? copysign(INFINITY, number) : rounded;
}

double rig_round(cnnlDataType_t type, double number)
{
    switch ((int)type) {
    case CNNL_DTYPE_FLOAT:
        return (double)(float)number;
    case CNNL_DTYPE_HALF:
        return round_to(number, 11, -24, 65504);
    case CNNL_DTYPE_BFLOAT16:
        return round_to((double)(float)number, 8, -133, 3.3895313892515355e38);
    case CNNL_DTYPE_BOOL:
        return number != 0;
    default:
        return type == CNNL_DTYPE_DOUBLE ? number : trunc(number);
    }
}

static uint16_t half_bits(double number)
{
    const uint16_t sign = signbit(number) ? 0x8000 : 0;
    int exponent;
    number = fabs(rig_round(CNNL_DTYPE_HALF, number));
    if (!isfinite(number)) {
        return (uint16_t)(sign | (isnan(number) ? 0x7e00 : 0x7c00));
    }
    (void)frexp(number, &exponent);
    if (number < 0x1p-14) {
        return (uint16_t)(sign | (unsigned)ldexp(number, 24));
    }
    return (uint16_t)(sign | (unsigned)(exponent + 14) << 10 |
                      ((unsigned)ldexp(number, 11 - exponent) & 1023));
}

static double half_of(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                         : exponent == 0 ? ldexp(fraction, -24)
                                         : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -value : value;
}

static void put(cnnlDataType_t type, void *to, size_t at, double number)
{
    const float single = (float)rig_round(type, number);
    uint32_t bits;
    memcpy(&bits, &single, sizeof(bits));
    switch ((int)type) {
    case CNNL_DTYPE_HALF:
        ((uint16_t *)to)[at] = half_bits(number);
        return;
    case CNNL_DTYPE_BFLOAT16:
        ((uint16_t *)to)[at] = (uint16_t)(bits >> 16);
        return;
    case CNNL_DTYPE_FLOAT:
        ((float *)to)[at] = single;
        return;
    case CNNL_DTYPE_DOUBLE:
        ((double *)to)[at] = number;
        return;
    case CNNL_DTYPE_INT64:
        ((int64_t *)to)[at] = (int64_t)number;
        return;
    case CNNL_DTYPE_INT32:
        ((int32_t *)to)[at] = (int32_t)number;
        return;
    case CNNL_DTYPE_INT16:
        ((int16_t *)to)[at] = (int16_t)number;
        return;
    case CNNL_DTYPE_INT8:
        ((int8_t *)to)[at] = (int8_t)number;
        return;
    case CNNL_DTYPE_UINT8:
    case CNNL_DTYPE_BOOL:
        ((uint8_t *)to)[at] = (uint8_t)rig_round(type, number);
        return;
    default:
        abort();
    }
}

static double get(cnnlDataType_t type, const void *from, size_t at)
{
    uint32_t bits;
    float single;
    switch ((int)type) {
    case CNNL_DTYPE_HALF:
        return half_of(((const uint16_t *)from)[at]);
    case CNNL_DTYPE_BFLOAT16:
        bits = (uint32_t)((const uint16_t *)from)[at] << 16;
        memcpy(&single, &bits, sizeof(single));
        return (double)single;
    case CNNL_DTYPE_FLOAT:
        return (double)((const float *)from)[at];
    case CNNL_DTYPE_DOUBLE:
        return ((const double *)from)[at];
    case CNNL_DTYPE_INT64:
        return (double)((const int64_t *)from)[at];
    case CNNL_DTYPE_INT32:
        return ((const int32_t *)from)[at];
    case CNNL_DTYPE_INT16:
        return ((const int16_t *)from)[at];
    case CNNL_DTYPE_INT8:
        return ((const int8_t *)from)[at];
    case CNNL_DTYPE_UINT8:
    case CNNL_DTYPE_BOOL:
        return ((const uint8_t *)from)[at];
    default:
        abort();
    }
}

struct rig_tensor rig_make(struct rig *rig, cnnlTensorLayout_t layout, cnnlDataType_t type,
                           int rank, const int64_t *dim, const double *data)
{
    size_t size = 0;
    struct rig_tensor made = {.count = 1, .type = type};
    for (int i = 0; i < rank; i++) {
        made.count *= (size_t)dim[i];
    }
    OK(cnnlGetSizeOfDataType(type, &size));
    void *host = malloc(made.count * size + 1);
    if (!host || rig->tensor_count == RIG_TENSORS) {
        abort();
    }
    memset(host, 0xff, made.count * size);
    for (size_t i = 0; data && i < made.count; i++) {
        put(type, host, i, data[i]);
    }
    OK(cnnlCreateTensorDescriptor(&made.desc));
    OK(cnnlSetTensorDescriptor_v2(made.desc, layout, type, rank, dim));
    OK(cnrtMalloc(&made.ptr, made.count * size));
    OK(cnrtMemcpy(made.ptr, host, made.count * size, cnrtMemcpyHostToDev));
    free(host);
    rig->tensors[rig->tensor_count++] = made;
    return made;
}

void rig_read(struct rig *rig, const struct rig_tensor *tensor, double *out)
{
    size_t size = 0;
    OK(cnnlGetSizeOfDataType(tensor->type, &size));
    void *host = malloc(tensor->count * size + 1);
    if (!host) {
        abort();
    }
    OK(cnrtQueueSync(rig->queue));
    OK(cnrtMemcpy(host, tensor->ptr, tensor->count * size, cnrtMemcpyDevToHost));
    for (size_t i = 0; i < tensor->count; i++) {
        out[i] = get(tensor->type, host, i);
    }
    free(host);
}

void rig_expect(struct rig *rig, const struct rig_tensor *tensor, const double *expected,
                double bound, int line)
{
    double *got = malloc((tensor->count + 1) * sizeof(*got));
    size_t wrong = 0;
    if (!got) {
        abort();
    }
    rig_read(rig, tensor, got);
    for (size_t i = 0; i < tensor->count; i++) {
        const bool good = isnan(expected[i]) ? isnan(got[i])
                          : isinf(expected[i])
                              ? got[i] == expected[i]
                              : fabs(got[i] - expected[i]) <= bound * (1 + fabs(expected[i]));
        if (!good && wrong++ < 3) {
            fprintf(stderr, "line %d: element %zu is %.9g, not %.9g\n", line, i, got[i],
                    expected[i]);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    free(got);
}

void rig_fill(double *out, size_t count, double scale, unsigned seed)
{
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        out[i] = ((int)(state >> 25) - 64) * scale / 64;
    }
}
