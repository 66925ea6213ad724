/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers against Philox on the host, on the scalar unit and in lanes: numbers of a seed do
 * not depend on how many there are. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t SEED = 12345678901;
enum { OFFSET = 77 };

static const int64_t sizes[] = {1, 5, 100, 1023, 1024, 1537, 8192, 8195, 100003};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void philox(uint64_t counter, uint32_t *word)
{
    uint32_t key[2] = {(uint32_t)(uint64_t)SEED, (uint32_t)((uint64_t)SEED >> 32)};
    uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), OFFSET, 0};
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = UINT64_C(0xd2511f53) * c[0], p1 = UINT64_C(0xcd9e8d57) * c[2];
        const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ key[0], (uint32_t)p1,
                                  (uint32_t)(p0 >> 32) ^ c[3] ^ key[1], (uint32_t)p0};
        memcpy(c, next, sizeof(c));
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    memcpy(word, c, sizeof(c));
}

static float unit_at(int64_t i, int k)
{
    uint32_t word[4];
    philox((uint64_t)i / 4, word);
    return (float)(word[k] >> 8) * 0x1p-24f;
}

static double uniform_at(int64_t i)
{
    return (double)fmaf(unit_at(i, (int)(i & 3)), 2.75f, -0.5f);
}

static double normal_at(int64_t i)
{
    const int pair = (int)(i & 2);
    const double u = 1 - (double)unit_at(i, pair), angle = 2 * M_PI * (double)unit_at(i, pair + 1);
    return 1.5 + 2 * sqrt(-2 * log(u)) * (i & 1 ? sin(angle) : cos(angle));
}

static double bernoulli_at(int64_t i)
{
    return unit_at(i, (int)(i & 3)) < 0.3;
}

static double rounded(double value, enum op_type type)
{
    unsigned char room[8];
    rig_put_d(room, type, value);
    return rig_get_d(room, type);
}

/* `room`: how far from what the host computes, in steps of 2^-20; 0: the same bits. */
static void expect(struct rig_tensor *out, double (*at)(int64_t), double room, const char *what)
{
    rig_tensor_take(out);
    for (int64_t i = 0; i < rig_tensor_count(out); i++) {
        const double is = rig_get_d(rig_tensor_at(out, i), out->type), want = at(i);
        const double step = out->type == OP_TYPE_F32   ? 0x1p-20
                            : out->type == OP_TYPE_F16 ? 0x1p-10
                                                       : 0x1p-7;
        if (!(room == 0 ? is == rounded(want, out->type)
                        : fabs(is - want) <= room * step * (1 + fabs(want)))) {
            fprintf(stderr, "%s, %s: element %lld of %lld is %.9g, it must be %.9g\n", what,
                    rig_type_name(out->type), (long long)i, (long long)rig_tensor_count(out), is,
                    want);
            CU_FAIL("differs");
            return;
        }
    }
}

static void run(const char *name, enum op_type type, int64_t count, double (*at)(int64_t),
                double room)
{
    struct rig_tensor out = rig_tensor_make(type, 1, &count, RIG_DENSE, 1);
    double p = 0.3;
    union op_test_arg args[5] = {{.tensor = out.acl}};
    if (at == uniform_at) {
        args[1].real = -0.5;
        args[2].real = 2.25;
    } else if (at == normal_at) {
        args[1].real = 1.5;
        args[2].real = 2;
    } else {
        args[1].scalar = aclCreateScalar(&p, ACL_DOUBLE);
    }
    const unsigned seed = at == bernoulli_at ? 2 : 3;
    args[seed].integer = SEED;
    args[seed + 1].integer = OFFSET;
    CU_ASSERT_EQUAL(rig_run(rig_row(name), args, true), 0);
    expect(&out, at, room, name);
    if (at == bernoulli_at) {
        aclDestroyScalar(args[1].scalar);
    }
    rig_tensor_free(&out);
}

static void random_numbers_are_those_of_philox(void)
{
    const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned t = 0; t < 2 + rig_chip(); t++) {
        for (unsigned i = 0; i < SIZES; i++) {
            run("InplaceUniform", types[t], sizes[i], uniform_at, 0);
            run("InplaceNormal", types[t], sizes[i], normal_at, 1);
            run("InplaceBernoulli", types[t], sizes[i], bernoulli_at, 0);
        }
    }
    for (unsigned i = 0; i < SIZES; i++) {
        run("InplaceBernoulli", OP_TYPE_BOOL, sizes[i], bernoulli_at, 0);
        run("InplaceBernoulli", OP_TYPE_I32, sizes[i], bernoulli_at, 0);
    }
}

// What a type does not hold is rounded, but never to a number outside the bounds.
static void whole_numbers_stay_in_their_bounds(void)
{
    static const int64_t bounds[][2] = {{-42, 42},  {2049, 4097},    {-4099, -2047},
                                        {0, 65504}, {-65504, 65504}, {2049, 2050}};
    const int64_t count = 5000;
    for (unsigned n = 0; n < sizeof(bounds) / sizeof(bounds[0]); n++) {
        const int64_t from = bounds[n][0], to = bounds[n][1];
        struct rig_tensor out = rig_tensor_make(OP_TYPE_F16, 1, &count, RIG_DENSE, 1);
        const union op_test_arg args[] = {{.tensor = out.acl},
                                          {.integer = from},
                                          {.integer = to},
                                          {.integer = SEED},
                                          {.integer = OFFSET}};
        int64_t wrong = 0;
        CU_ASSERT_EQUAL(rig_run(rig_row("InplaceRandom"), args, true), 0);
        rig_tensor_take(&out);
        for (int64_t i = 0; i < count; i++) {
            const float x = rig_get_f(rig_tensor_at(&out, i), OP_TYPE_F16);
            // [2049, 2050) has no half: the nearest one is what is left.
            wrong += to - from == 1 ? x != 2048 : x < (float)from || x >= (float)to;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        rig_tensor_free(&out);
    }
}

/* 16 bits of a word each: of 256 counters the lower halves of the first words, then their upper
 * halves, and so on. */
static bool is_kept(int64_t i, double prob)
{
    const int64_t in_group = i % 2048, half = in_group / 256;
    uint32_t word[4];
    philox((uint64_t)(i / 2048 * 256 + in_group % 256), word);
    return (word[half / 2] >> (half % 2 ? 16 : 0) & 0xffff) >= ceil(prob * 0x1p16);
}

/* A mask has bits in whole groups of 128. */
static void random_masks_keep_and_scale(void)
{
    const double prob = 0.3;
    for (unsigned i = 0; i < SIZES; i++) {
        const int64_t count = sizes[i], bytes = (count + 127) / 128 * 16;
        struct rig_tensor mask = rig_tensor_make(OP_TYPE_U8, 1, &bytes, RIG_DENSE, 1);
        struct rig_tensor in = rig_tensor_eighths(OP_TYPE_F32, 1, &count, RIG_DENSE, 2);
        struct rig_tensor out = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 3);
        aclIntArray *shape = aclCreateIntArray(&count, 1);
        const union op_test_arg make[] = {{.ints = shape},     {.real = prob},
                                          {.integer = SEED},   {.integer = OFFSET},
                                          {.type = ACL_FLOAT}, {.tensor = mask.acl}};
        const union op_test_arg apply[] = {
            {.tensor = in.acl}, {.tensor = mask.acl}, {.real = prob}, {.tensor = out.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("DropoutGenMaskV2"), make, true), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row("DropoutDoMask"), apply, true), 0);
        rig_tensor_take(&mask);
        rig_tensor_take(&out);
        unsigned wrong = 0;
        for (int64_t k = 0; k < count; k++) {
            const bool keeps = is_kept(k, prob);
            const uint8_t byte = *(const uint8_t *)rig_tensor_at(&mask, k / 8);
            const float x = rig_get_f(rig_tensor_at(&in, k), OP_TYPE_F32);
            wrong += (byte >> (k & 7) & 1) != keeps;
            wrong += rig_get_f(rig_tensor_at(&out, k), OP_TYPE_F32) !=
                     (keeps ? x * (float)(1 / (1 - prob)) : 0);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        aclDestroyIntArray(shape);
        rig_tensor_free(&mask);
        rig_tensor_free(&in);
        rig_tensor_free(&out);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"random_numbers_are_those_of_philox", random_numbers_are_those_of_philox},
        {"whole_numbers_stay_in_their_bounds", whole_numbers_stay_in_their_bounds},
        {"random_masks_keep_and_scale", random_masks_keep_and_scale},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_random", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
