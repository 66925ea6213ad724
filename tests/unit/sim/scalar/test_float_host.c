/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever the host does of floating point has the bits and flags of softfloat.c. */
#include "harness.h"
#include "scalar/float_host_all.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { ROUNDS = 60000 };

struct row {
    const char *name;
    bool (*host)(struct sim_scalar *scalar, const struct sim_scalar_op *op);
    struct sim_float_fields fields;
    bool toward_zero;
    unsigned least; /**< of 100 operands near each other, how many the host must be able to do */
};

/* The functions are inlined into the run loop; here they need addresses. */
#define HOST_FLOAT(kind, format, source, rounding)                                                 \
    static bool call_##kind##_##format##source(struct sim_scalar *scalar,                          \
                                               const struct sim_scalar_op *op)                     \
    {                                                                                              \
        return host_##kind##_##format##source(scalar, op);                                         \
    }
#include "scalar/host_floats.def"
#undef HOST_FLOAT

enum { IS_ANY, IS_NEAREST, IS_ZERO };

static const struct row rows[] = {
#define HOST_FLOAT(kind, format, source, rounding)                                                 \
    {#kind "_" #format #source,                                                                    \
     call_##kind##_##format##source,                                                               \
     {SIM_FLOAT_##kind, SIM_FLOAT_##format, SIM_FLOAT_##source, 0, 3},                             \
     IS_##rounding == IS_ZERO,                                                                     \
     SIM_FLOAT_##kind == SIM_FLOAT_SQRT    ? 30                                                    \
     : SIM_FLOAT_##kind <= SIM_FLOAT_NMADD ? 40                                                    \
                                           : 60},
#include "scalar/host_floats.def"
#undef HOST_FLOAT
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Mostly numbers near 1 with few or many bits, so that results are exact, cancel, round and tie;
 * also any bits at all, the ends of the range, zeros, infinities, and what is not boxed. */
static uint64_t make_operand(enum sim_float_format format, uint64_t *seed)
{
    static const int exp_bits[] = {[SIM_FLOAT_H] = 5, [SIM_FLOAT_S] = 8, [SIM_FLOAT_D] = 11};
    unsigned width = sim_float_width(format);
    unsigned mantissa_bits = width - 1 - (unsigned)exp_bits[format];
    uint64_t random = next_random(seed), kind = next_random(seed) % 16;
    uint64_t bias = (UINT64_C(1) << (exp_bits[format] - 1)) - 1;
    uint64_t mantissa = random & ((UINT64_C(1) << mantissa_bits) - 1);
    uint64_t sign = random >> 63 << (width - 1), exp = bias - 4 + (random >> 48) % 9, bits;
    if (kind < 5) {
        mantissa &= ~UINT64_C(0) << (mantissa_bits - 3);
    } else if (kind == 5) {
        exp = random >> 40 & ((UINT64_C(1) << exp_bits[format]) - 1);
    } else if (kind == 6) {
        exp = (random >> 40) % 4;
    } else if (kind == 7) {
        exp = 2 * bias - (random >> 40) % 3;
    } else if (kind == 8) {
        exp = (random >> 40) % 2 ? 0 : 2 * bias + 1;
        mantissa = 0;
    } else if (kind == 9) {
        exp = bias / 2 + (random >> 40) % (bias + 1);
    }
    bits = sign | exp << mantissa_bits | mantissa;
    bool boxed = kind != 10 || random >> 44 & 1;
    return width == 64 || !boxed ? bits : bits | UINT64_MAX << width;
}

static uint64_t make_integer(uint64_t *seed)
{
    uint64_t random = next_random(seed);
    return (uint64_t)((int64_t)random >> (next_random(seed) % 64));
}

static void compare_row(const struct row *row)
{
    uint64_t seed = 0x9e3779b97f4a7c15 ^ (uintptr_t)row->fields.kind;
    unsigned done = 0, wrong = 0;
    const uint32_t fcsrs[] = {0, 0, SIM_FLAG_NX, SIM_FLAG_NX, SIM_FLAG_NX, SIM_FLAG_DZ, 0x1f, 0x41};
    for (int i = 0; i < ROUNDS; i++) {
        struct sim_scalar_op op = {.rd = 4, .rs1 = 1, .rs2 = 2, .flt = row->fields};
        op.flt.rm = row->toward_zero ? SIM_RM_RTZ : SIM_RM_DYN;
        struct sim_scalar soft = {.fcsr = fcsrs[next_random(&seed) % COUNT_OF(fcsrs)]};
        enum sim_float_format format = (enum sim_float_format)row->fields.format;
        soft.f[1] = make_operand((enum sim_float_format)row->fields.source, &seed);
        soft.f[2] = make_operand(format, &seed);
        soft.f[3] = make_operand(format, &seed);
        soft.x[1] = make_integer(&seed);
        struct sim_scalar host = soft, before = soft;
        if (!row->host(&host, &op)) {
            wrong += memcmp(&host, &before, sizeof(host)) != 0;
            continue;
        }
        done++;
        wrong += !sim_scalar_float(&soft, &op);
        wrong += memcmp(&host, &soft, sizeof(host)) != 0;
    }
    if (wrong || done < ROUNDS / 100 * row->least) {
        printf("%s: the host did %u of %d, %u wrong\n", row->name, done, ROUNDS, wrong);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(done >= ROUNDS / 100 * row->least);
}

static void host_gives_the_bits_and_flags_of_softfloat(void)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        compare_row(&rows[i]);
    }
}

static const struct leo_test tests[] = {
    {"host_gives_the_bits_and_flags_of_softfloat", host_gives_the_bits_and_flags_of_softfloat},
};

int main(int argc, char **argv)
{
    return leo_test_main("scalar float host", tests, COUNT_OF(tests), argc, argv);
}
