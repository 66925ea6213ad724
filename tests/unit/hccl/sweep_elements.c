/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep_elements.h"

#include <math.h>
#include <string.h>

const struct sweep_kind sweep_kinds[SWEEP_KINDS] = {
    {"s8", HCCL_DATA_TYPE_INT8, 1, SWEEP_SIGNED},
    {"u8", HCCL_DATA_TYPE_UINT8, 1, SWEEP_UNSIGNED},
    {"s16", HCCL_DATA_TYPE_INT16, 2, SWEEP_SIGNED},
    {"u16", HCCL_DATA_TYPE_UINT16, 2, SWEEP_UNSIGNED},
    {"s32", HCCL_DATA_TYPE_INT32, 4, SWEEP_SIGNED},
    {"u32", HCCL_DATA_TYPE_UINT32, 4, SWEEP_UNSIGNED},
    {"s64", HCCL_DATA_TYPE_INT64, 8, SWEEP_SIGNED},
    {"u64", HCCL_DATA_TYPE_UINT64, 8, SWEEP_UNSIGNED},
    {"f16", HCCL_DATA_TYPE_FP16, 2, SWEEP_F16},
    {"bf16", HCCL_DATA_TYPE_BFP16, 2, SWEEP_BF16},
    {"f32", HCCL_DATA_TYPE_FP32, 4, SWEEP_F32},
    {"f64", HCCL_DATA_TYPE_FP64, 8, SWEEP_F64},
};

/* ---- floats of 16 bits, by arithmetic ---- */

struct format {
    int fraction, exponent_bits;
};

static const struct format f16 = {10, 5}, bf16 = {7, 8};

static int bias(const struct format *format)
{
    return (1 << (format->exponent_bits - 1)) - 1;
}

static double from_half(const struct format *format, uint16_t half)
{
    const int fraction = half & ((1 << format->fraction) - 1),
              exponent = half >> format->fraction & ((1 << format->exponent_bits) - 1);
    double value;
    if (exponent == (1 << format->exponent_bits) - 1) {
        value = fraction ? (double)NAN : (double)INFINITY;
    } else if (exponent == 0) {
        value = ldexp(fraction, 1 - bias(format) - format->fraction);
    } else {
        value =
            ldexp(fraction + (1 << format->fraction), exponent - bias(format) - format->fraction);
    }
    return half & 0x8000 ? -value : value;
}

/* The half next to a value, of two equally near the even one: nearbyint of its multiple of the
 * last place. */
static uint16_t to_half(const struct format *format, double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0,
                   infinite = (uint16_t)(((1 << format->exponent_bits) - 1) << format->fraction);
    int exponent;
    if (isnan(value)) {
        return infinite | 1;
    }
    if (isinf(value)) {
        return sign | infinite;
    }
    if (value == 0) {
        return sign;
    }
    frexp(value, &exponent); // value = 0.5 to 1 times 2^exponent
    exponent -= 1;
    exponent = exponent < 1 - bias(format) ? 1 - bias(format) : exponent;
    const long places = (long)nearbyint(fabs(ldexp(value, format->fraction - exponent)));
    // A carry out of the fraction goes into the exponent as it should.
    const long bits = ((long)(exponent + bias(format) - 1) << format->fraction) + places;
    return sign | (uint16_t)(bits < infinite ? bits : infinite);
}

/* ---- numbers of any kind ---- */

union number {
    uint64_t whole; /**< of signed ones the sign goes up to bit 63 */
    double real;    /**< what a float of 32 bits holds, but of SWEEP_F64 */
};

static bool is_whole(const struct sweep_kind *kind)
{
    return kind->is == SWEEP_SIGNED || kind->is == SWEEP_UNSIGNED;
}

static union number load(const struct sweep_kind *kind, const void *bits)
{
    union number number = {0};
    uint16_t half;
    float single;
    memcpy(&half, bits, kind->bytes < sizeof(half) ? kind->bytes : sizeof(half));
    switch (kind->is) {
    case SWEEP_F16:
    case SWEEP_BF16:
        number.real = from_half(kind->is == SWEEP_F16 ? &f16 : &bf16, half);
        break;
    case SWEEP_F32:
        memcpy(&single, bits, sizeof(single));
        number.real = (double)single;
        break;
    default:
        memcpy(&number, bits, kind->bytes);
        if (kind->is == SWEEP_SIGNED && number.whole >> (8 * kind->bytes - 1)) {
            number.whole |= ~(uint64_t)0 << (8 * kind->bytes - 1);
        }
        break;
    }
    return number;
}

static void store(const struct sweep_kind *kind, union number number, void *bits)
{
    const float single = kind->is == SWEEP_F32 ? (float)number.real : 0;
    uint16_t half;
    switch (kind->is) {
    case SWEEP_F16:
    case SWEEP_BF16:
        half = to_half(kind->is == SWEEP_F16 ? &f16 : &bf16, number.real);
        memcpy(bits, &half, sizeof(half));
        break;
    case SWEEP_F32:
        memcpy(bits, &single, sizeof(single));
        break;
    default:
        memcpy(bits, &number, kind->bytes);
        break;
    }
}

static uint64_t combine_whole(const struct sweep_kind *kind, HcclReduceOp op, uint64_t a,
                              uint64_t b)
{
    const uint64_t flip = kind->is == SWEEP_SIGNED ? (uint64_t)1 << 63 : 0;
    const bool is_less = (b ^ flip) < (a ^ flip);
    switch (op) {
    case HCCL_REDUCE_SUM:
        return a + b;
    case HCCL_REDUCE_PROD:
        return a * b;
    case HCCL_REDUCE_MAX:
        return is_less ? a : b;
    default:
        return is_less ? b : a;
    }
}

static double combine_real(const struct sweep_kind *kind, HcclReduceOp op, double a, double b)
{
    double value; // of two that are equal (zeros) the lower rank's
    switch (op) {
    case HCCL_REDUCE_SUM:
        value = a + b;
        break;
    case HCCL_REDUCE_PROD:
        value = a * b;
        break;
    case HCCL_REDUCE_MAX:
        value = isnan(a) || a >= b ? a : b;
        break;
    default:
        value = isnan(a) || a <= b ? a : b;
        break;
    }
    // One sum or product of two floats of 32 bits rounds the same through 64 bits.
    return kind->is == SWEEP_F64 ? value : (double)(float)value;
}

/* ---- the elements ---- */

static uint64_t mix(uint64_t x) // splitmix64
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* Mostly of like size, that sums round; one of 64 is special. */
static double any_real(uint64_t random)
{
    static const double special[] = {INFINITY, -INFINITY, (double)NAN, 0.0,
                                     -0.0,     65504,     0x1p-24,     0x1.fp-127};
    if (random % 64 == 0) {
        return special[random >> 8 & 7];
    }
    return ((double)(random >> 40) - 0x1p23) * ldexp(1, (int)(random >> 8 & 15) - 28);
}

void sweep_element(const struct sweep_kind *kind, uint32_t round, uint32_t rank, size_t i,
                   void *bits)
{
    union number number = {.whole = mix(mix(mix(round) + rank) + i)};
    if (!is_whole(kind)) {
        number.real = any_real(number.whole);
    }
    store(kind, number, bits);
}

void sweep_reduced(const struct sweep_kind *kind, HcclReduceOp op, uint32_t round, uint32_t ranks,
                   size_t i, void *bits)
{
    union number sum = {0};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        char held[8];
        sweep_element(kind, round, rank, i, held);
        const union number next = load(kind, held);
        if (rank == 0) {
            sum = next;
        } else if (is_whole(kind)) {
            // Bits above the type's own come back on each loading.
            char wrapped[8];
            const union number whole = {.whole = combine_whole(kind, op, sum.whole, next.whole)};
            store(kind, whole, wrapped);
            sum = load(kind, wrapped);
        } else {
            sum.real = combine_real(kind, op, sum.real, next.real);
        }
    }
    store(kind, sum, bits);
}

bool sweep_same(const struct sweep_kind *kind, const void *a, const void *b)
{
    if (!is_whole(kind) && isnan(load(kind, a).real)) {
        return isnan(load(kind, b).real);
    }
    return memcmp(a, b, kind->bytes) == 0;
}
