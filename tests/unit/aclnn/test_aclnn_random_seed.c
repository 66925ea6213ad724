/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers whose seed stands on the device: the bits of those whose seed the host gives
 * (which test_aclnn_random.c compares with Philox), again after the seed changed. Dropout in one
 * call.
 */
#include "rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 8 };
static const int64_t one[] = {1};
static const int64_t sizes[] = {5, 1023, 4099};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

struct seed {
    struct rig_tensor value, offset;
};

static struct seed make_seed(int64_t value, int64_t offset)
{
    struct seed s = {rig_tensor_make(OP_TYPE_I64, 1, one, RIG_DENSE, 1),
                     rig_tensor_make(OP_TYPE_I64, 1, one, RIG_DENSE, 1)};
    rig_put_i(rig_tensor_at(&s.value, 0), OP_TYPE_I64, value);
    rig_put_i(rig_tensor_at(&s.offset, 0), OP_TYPE_I64, offset);
    rig_tensor_put(&s.value);
    rig_tensor_put(&s.offset);
    return s;
}

static void free_seed(struct seed *s)
{
    rig_tensor_free(&s->value);
    rig_tensor_free(&s->offset);
}

/* The arguments `head`, then seed and offset from the host or from the device, then `tail`. */
struct call {
    const char *name, *with_tensors;
    unsigned head, tail;
    union op_test_arg args[MAX_ARGS];
};

static void run_from_host(const struct call *c, int64_t value, int64_t offset)
{
    union op_test_arg args[MAX_ARGS] = {{.integer = 0}};
    memcpy(args, c->args, c->head * sizeof(args[0]));
    args[c->head].integer = value;
    args[c->head + 1].integer = offset;
    memcpy(args + c->head + 2, c->args + c->head, c->tail * sizeof(args[0]));
    CU_ASSERT_EQUAL(rig_run(rig_row(c->name), args, true), 0);
}

static void run_from_device(const struct call *c, const struct seed *s, int64_t more)
{
    union op_test_arg args[MAX_ARGS + 1] = {{.integer = 0}};
    memcpy(args, c->args, c->head * sizeof(args[0]));
    args[c->head].tensor = s->value.acl;
    args[c->head + 1].tensor = s->offset.acl;
    args[c->head + 2].integer = more;
    memcpy(args + c->head + 3, c->args + c->head, c->tail * sizeof(args[0]));
    CU_ASSERT_EQUAL(rig_run(rig_row(c->with_tensors), args, true), 0);
}

/* Both ways into the same tensor, for two seeds. */
static void expect_same(const struct call *c, struct rig_tensor *out)
{
    unsigned char *first = malloc(out->storage_bytes);
    for (int64_t round = 0; round < 2; round++) {
        struct seed s = make_seed(INT64_C(12345678901) + round, 4 + 8 * round);
        run_from_host(c, INT64_C(12345678901) + round, 16 + 8 * round);
        rig_tensor_take(out);
        memcpy(first, out->host, out->storage_bytes);
        memset(out->host, 0, out->storage_bytes);
        rig_tensor_put(out);
        run_from_device(c, &s, 12);
        rig_tensor_take(out);
        CU_ASSERT_EQUAL(memcmp(first, out->host, out->storage_bytes), 0);
        free_seed(&s);
    }
    free(first);
}

static void numbers_of(enum op_type type, int64_t count)
{
    struct rig_tensor out = rig_tensor_make(type, 1, &count, RIG_DENSE, 1);
    const union op_test_arg t = {.tensor = out.acl};
    struct call calls[] = {
        {"InplaceUniform", "InplaceUniformTensor", 3, 0, {t, {.real = -0.5}, {.real = 2}}},
        {"InplaceNormal", "InplaceNormalTensor", 3, 0, {t, {.real = 1.5}, {.real = 2}}},
        {"InplaceRandom", "InplaceRandomTensor", 3, 0, {t, {.integer = -3}, {.integer = 40}}},
        {"InplaceRandomWithoutFromTo", "InplaceRandomWithoutFromToTensor", 1, 0, {t}},
    };
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (i != 1 || type == OP_TYPE_F32 || type == OP_TYPE_F16) {
            expect_same(&calls[i], &out);
        }
    }
    rig_tensor_free(&out);
}

static void numbers_follow_a_seed_on_the_device(void)
{
    const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_I32, OP_TYPE_I64};
    for (unsigned i = 0; i < 4 * SIZES; i++) {
        numbers_of(types[i / SIZES], sizes[i % SIZES]);
    }
}

static void whole_numbers_fill_the_range_of_their_type(void)
{
    const int64_t count = 4099;
    const enum op_type types[] = {OP_TYPE_U8, OP_TYPE_I8, OP_TYPE_F16, OP_TYPE_BOOL};
    const double most[] = {255, 127, 2048, 1};
    for (unsigned k = 0; k < 4; k++) {
        struct rig_tensor out = rig_tensor_make(types[k], 1, &count, RIG_DENSE, 1);
        const union op_test_arg args[] = {{.tensor = out.acl}, {.integer = 7}, {.integer = 0}};
        double low = 1e9, high = -1e9;
        CU_ASSERT_EQUAL(rig_run(rig_row("InplaceRandomWithoutFromTo"), args, true), 0);
        rig_tensor_take(&out);
        for (int64_t i = 0; i < count; i++) {
            low = fmin(low, rig_get_d(rig_tensor_at(&out, i), types[k]));
            high = fmax(high, rig_get_d(rig_tensor_at(&out, i), types[k]));
        }
        CU_ASSERT(low >= 0 && low <= most[k] / 100);
        CU_ASSERT(high <= most[k] && high >= most[k] * 0.99);
        rig_tensor_free(&out);
    }
}

static void samples_follow_a_seed_on_the_device(void)
{
    const int64_t rows[] = {3, 17}, samples[] = {3, 9};
    struct rig_tensor p = rig_tensor_make(OP_TYPE_F32, 2, rows, RIG_DENSE, 1),
                      out = rig_tensor_make(OP_TYPE_I64, 2, samples, RIG_DENSE, 2);
    for (int64_t i = 0; i < 51; i++) {
        rig_put_f(rig_tensor_at(&p, i), OP_TYPE_F32, (float)(i % 7));
    }
    rig_tensor_put(&p);
    for (int64_t again = 0; again < 2; again++) {
        const struct call c = {
            "Multinomial",
            "MultinomialTensor",
            3,
            1,
            {{.tensor = p.acl}, {.integer = 9}, {.integer = again}, {.tensor = out.acl}}};
        expect_same(&c, &out);
    }
    rig_tensor_free(&p);
    rig_tensor_free(&out);
}

static void exponential_numbers_have_their_mean(void)
{
    const int64_t count = 20000;
    struct rig_tensor out = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 1),
                      u = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 1);
    struct seed s = make_seed(99, 4);
    const union op_test_arg args[] = {{.tensor = out.acl},
                                      {.tensor = s.value.acl},
                                      {.tensor = s.offset.acl},
                                      {.integer = 8},
                                      {.real = 2.5}};
    const union op_test_arg plain[] = {
        {.tensor = u.acl}, {.real = 0}, {.real = 1}, {.integer = 99}, {.integer = 12}};
    double sum = 0;
    CU_ASSERT_EQUAL(rig_run(rig_row("StatelessExponentialTensor"), args, true), 0);
    CU_ASSERT_EQUAL(rig_run(rig_row("InplaceUniform"), plain, true), 0);
    rig_tensor_take(&out);
    rig_tensor_take(&u);
    for (int64_t i = 0; i < count; i++) {
        const double is = rig_get_d(rig_tensor_at(&out, i), OP_TYPE_F32),
                     want = -log1p(-rig_get_d(rig_tensor_at(&u, i), OP_TYPE_F32)) / 2.5;
        CU_ASSERT_DOUBLE_EQUAL(is, want, 1e-6 * (1 + want));
        sum += is;
    }
    CU_ASSERT_DOUBLE_EQUAL(sum / (double)count, 0.4, 0.02);
    const union op_test_arg counted[] = {
        {.tensor = u.acl}, {.integer = count}, {.real = 2.5}, {.integer = 99}, {.integer = 12}};
    CU_ASSERT_EQUAL(rig_run(rig_row("SimThreadExponential"), counted, true), 0);
    rig_tensor_take(&u);
    CU_ASSERT_EQUAL(memcmp(u.host, out.host, out.storage_bytes), 0);
    free_seed(&s);
    rig_tensor_free(&out);
    rig_tensor_free(&u);
}

/* One call against a mask made and applied, and its gradient. */
static void dropout_of(int64_t count)
{
    const int64_t bytes = (count + 127) / 128 * 16;
    struct rig_tensor in = rig_tensor_eighths(OP_TYPE_F32, 1, &count, RIG_DENSE, 1),
                      out = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 2),
                      back = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 2),
                      mask = rig_tensor_make(OP_TYPE_U8, 1, &bytes, RIG_DENSE, 3);
    const struct call c = {"DropoutV3",
                           "DropoutV3Tensor",
                           3,
                           2,
                           {{.tensor = in.acl},
                            {.tensor = NULL},
                            {.real = 0.3},
                            {.tensor = out.acl},
                            {.tensor = mask.acl}}};
    const union op_test_arg grad[] = {
        {.tensor = in.acl}, {.tensor = mask.acl}, {.real = 3}, {.tensor = back.acl}};
    int64_t kept = 0;
    expect_same(&c, &out);
    expect_same(&c, &mask);
    CU_ASSERT_EQUAL(rig_run(rig_row("DropoutV3Grad"), grad, true), 0);
    rig_tensor_take(&out);
    rig_tensor_take(&mask);
    rig_tensor_take(&back);
    for (int64_t i = 0; i < count; i++) {
        const uint8_t byte = *(const uint8_t *)rig_tensor_at(&mask, i / 8);
        const bool keeps = byte >> (i & 7) & 1;
        const float x = rig_get_f(rig_tensor_at(&in, i), OP_TYPE_F32);
        kept += keeps;
        CU_ASSERT_EQUAL(rig_get_f(rig_tensor_at(&out, i), OP_TYPE_F32),
                        keeps ? x * (float)(1 / 0.7) : 0);
        CU_ASSERT_EQUAL(rig_get_f(rig_tensor_at(&back, i), OP_TYPE_F32), keeps ? x * 3 : 0);
    }
    CU_ASSERT(count < 1000 || fabs((double)kept / (double)count - 0.7) < 0.05);
    rig_tensor_free(&in);
    rig_tensor_free(&out);
    rig_tensor_free(&back);
    rig_tensor_free(&mask);
}

static void dropout_keeps_what_its_mask_says(void)
{
    for (unsigned i = 0; i < SIZES; i++) {
        dropout_of(sizes[i]);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"numbers_follow_a_seed_on_the_device", numbers_follow_a_seed_on_the_device},
        {"whole_numbers_fill_the_range_of_their_type", whole_numbers_fill_the_range_of_their_type},
        {"samples_follow_a_seed_on_the_device", samples_follow_a_seed_on_the_device},
        {"exponential_numbers_have_their_mean", exponential_numbers_have_their_mean},
        {"dropout_keeps_what_its_mask_says", dropout_keeps_what_its_mask_says},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_random_seed", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
