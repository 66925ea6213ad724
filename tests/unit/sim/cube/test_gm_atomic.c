/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to global memory that add, or keep the larger or the smaller. HW-DMA-06. */
#include "fake_core.h"

#include <math.h>

enum { ELEMENTS = 128 };

static const unsigned type_bytes[LEO_ATOMIC_TYPE_COUNT] = {
    [LEO_ATOMIC_TYPE_F32] = 4, [LEO_ATOMIC_TYPE_F16] = 2, [LEO_ATOMIC_TYPE_S16] = 2,
    [LEO_ATOMIC_TYPE_S32] = 4, [LEO_ATOMIC_TYPE_S8] = 1,  [LEO_ATOMIC_TYPE_BF16] = 2,
};

/* Value of a float format, from its definition. */
static double real_of(uint32_t bits, unsigned exponent_bits, unsigned fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
    int exponent = (int)(bits >> fraction_bits) & top;
    double fraction = (double)(bits & ((1u << fraction_bits) - 1));
    double one = ldexp(1, (int)fraction_bits);
    double size = exponent == top ? (fraction != 0 ? NAN : INFINITY)
                  : exponent == 0 ? ldexp(fraction / one, 1 - bias)
                                  : ldexp(1 + fraction / one, exponent - bias);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -size : size;
}

/* Nearest, ties to even; NaN is the canonical one. */
static uint32_t bits_of(double value, unsigned exponent_bits, unsigned fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1, exponent;
    uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    uint32_t sign = signbit(value) ? 1u << (exponent_bits + fraction_bits) : 0;
    if (value != value) {
        return infinity | 1u << (fraction_bits - 1);
    }
    if (isinf(value) || value == 0) {
        return sign | (value == 0 ? 0 : infinity);
    }
    frexp(value, &exponent);
    exponent = exponent < 2 - bias ? 2 - bias : exponent; // denormals
    double units = rint(ldexp(fabs(value), (int)fraction_bits + 1 - exponent));
    if (exponent + bias - 2 >= (1 << exponent_bits) - 1) {
        return sign | infinity;
    }
    uint32_t bits = (uint32_t)units + ((uint32_t)(exponent + bias - 2) << fraction_bits);
    return sign | (bits > infinity ? infinity : bits);
}

static double combine_real(double a, double b, unsigned op)
{
    if (op == LEO_ATOMIC_ADD) {
        return a + b;
    }
    if (a != a || b != b) {
        return NAN;
    }
    bool first = a == b ? signbit(a) == (op == LEO_ATOMIC_MIN) : (a > b) == (op == LEO_ATOMIC_MAX);
    return first ? a : b;
}

static uint32_t combine(uint32_t old, uint32_t with, unsigned op, unsigned type)
{
    unsigned exponent = type == LEO_ATOMIC_TYPE_F16 ? 5 : 8;
    unsigned fraction = type == LEO_ATOMIC_TYPE_F16 ? 10 : type == LEO_ATOMIC_TYPE_BF16 ? 7 : 23;
    if (type == LEO_ATOMIC_TYPE_F32 || type == LEO_ATOMIC_TYPE_F16 ||
        type == LEO_ATOMIC_TYPE_BF16) {
        double a = real_of(old, exponent, fraction), b = real_of(with, exponent, fraction);
        // Sums of f32 are rounded in double first: a fused step to f32 below is the same, since
        // 53 >= 2 x 24 + 2 bits.
        return bits_of(combine_real(a, b, op), exponent, fraction);
    }
    unsigned shift = 32 - type_bytes[type] * 8;
    int32_t a = (int32_t)(old << shift) >> shift, b = (int32_t)(with << shift) >> shift;
    if (op == LEO_ATOMIC_ADD) {
        return old + with;
    }
    return (uint32_t)((a > b) == (op == LEO_ATOMIC_MAX) ? a : b);
}

static void check(struct fake *fake, unsigned op, unsigned type, unsigned offset)
{
    const unsigned bytes = type_bytes[type];
    uint8_t *ub = fake->core.local[LEO_MEM_SPACE_UB].data;
    fake_fill(fake, ub, ELEMENTS * bytes);
    fake_fill(fake, fake->gm, 1024);
    for (unsigned i = 0; i < ELEMENTS; i += 7) { // some equal, some of one size
        memcpy(fake->gm + offset + i * bytes, ub + i * bytes, bytes);
        fake->gm[offset + (i + 1) * bytes - 1] ^= i % 2 ? 0x80 : 0;
    }
    uint8_t *want = fake_copy(fake->gm, FAKE_GM_SIZE);
    for (unsigned i = 0; i < ELEMENTS; i++) {
        uint32_t old = 0, with = 0;
        memcpy(&old, want + offset + i * bytes, bytes);
        memcpy(&with, ub + i * bytes, bytes);
        old = combine(old, with, op, type);
        memcpy(want + offset + i * bytes, &old, bytes);
    }
    const struct leo_cfg_ctrl ctrl = {.atomic = (uint8_t)op, .atomic_type = (uint8_t)type};
    const struct leo_cfg_burst cfg = {.n_burst = 1, .len_burst = (uint16_t)(ELEMENTS * bytes / 32)};
    fake->core.ctrl = leo_cfg_ctrl_pack(&ctrl);
    CU_ASSERT_EQUAL(
        fake_run(fake, LEO_INSN_COPY_UBUF_TO_GM, FAKE_GM + offset, 0, 0, leo_cfg_burst_pack(&cfg)),
        LEO_FAULT_NONE);
    CU_ASSERT(memcmp(fake->gm, want, FAKE_GM_SIZE) == 0);
    free(want);
}

static void every_operation_and_type(void)
{
    for (size_t path = 0; path < 3; path++) {
        struct fake *fake = fake_create(fake_paths[path]);
        for (unsigned op = LEO_ATOMIC_ADD; fake && op < LEO_ATOMIC_COUNT; op++) {
            for (unsigned type = 0; type < LEO_ATOMIC_TYPE_COUNT; type++) {
                for (unsigned round = 0; round < 20; round++) {
                    check(fake, op, type, round % 4 == 0 ? 0 : fake_random(fake) % 64);
                }
            }
        }
        if (fake) {
            fake_destroy(fake);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {{"every_operation_and_type", every_operation_and_type}};
    return leo_test_main("sim/gm_atomic", tests, 1, argc, argv);
}
