/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary position embedding, in place and with its gradient, against double on the host. */
#include "rig.h"

#include <math.h>

enum { BATCH = 2, LENGTH = 3, HEADS = 4, FEATURES = 8, MODES = 3 };
enum { COUNT = BATCH * LENGTH * HEADS * FEATURES };

static const int64_t whole[] = {BATCH, LENGTH, HEADS, FEATURES},
                     angles[] = {1, LENGTH, 1, FEATURES};
static const char *const mode_names[MODES] = {"half", "interleave", "quarter"};

static double at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_d(rig_tensor_at(tensor, index), tensor->type);
}

/* Where feature i has its partner, and the sign with which the partner comes in. */
static int64_t partner(int mode, int64_t i, double *sign)
{
    const int64_t distance = mode == 1 ? 1 : mode == 2 ? FEATURES / 4 : FEATURES / 2;
    const bool second = i / distance % 2;
    *sign = second ? 1 : -1;
    return second ? i - distance : i + distance;
}

static int64_t angle_of(int64_t i)
{
    return i / (HEADS * FEATURES) % LENGTH * FEATURES + i % FEATURES;
}

static double turned(const struct rig_tensor *x, const struct rig_tensor *cos,
                     const struct rig_tensor *sin, int mode, int64_t i)
{
    double sign;
    const int64_t other = i - i % FEATURES + partner(mode, i % FEATURES, &sign);
    return at(x, i) * at(cos, angle_of(i)) + sign * at(x, other) * at(sin, angle_of(i));
}

static double turned_back(const struct rig_tensor *dy, const struct rig_tensor *cos,
                          const struct rig_tensor *sin, int mode, int64_t i)
{
    double sign;
    const int64_t other = i - i % FEATURES + partner(mode, i % FEATURES, &sign);
    return at(dy, i) * at(cos, angle_of(i)) - sign * at(dy, other) * at(sin, angle_of(other));
}

static void expect_near(double got, double want, enum op_type type)
{
    const double most = type == OP_TYPE_F32 ? 1e-5 : type == OP_TYPE_F16 ? 2e-3 : 1.6e-2;
    CU_ASSERT_DOUBLE_EQUAL(got, want, most * (1 + fabs(want)));
}

static void pairs_turn_by_an_angle(void)
{
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 4, whole, RIG_PERMUTED, 1),
                      cos = rig_tensor_eighths(OP_TYPE_F32, 4, angles, RIG_DENSE, 2),
                      sin = rig_tensor_eighths(OP_TYPE_F32, 4, angles, RIG_SLICED, 3),
                      y = rig_tensor_make(OP_TYPE_F32, 4, whole, RIG_DENSE, 4);
    for (int mode = 0; mode < MODES; mode++) {
        const union op_test_arg args[] = {{.tensor = x.acl},
                                          {.tensor = cos.acl},
                                          {.tensor = sin.acl},
                                          {.integer = mode},
                                          {.tensor = y.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("RotaryPositionEmbedding"), args, true), 0);
        rig_tensor_take(&y);
        for (int64_t i = 0; i < COUNT; i++) {
            expect_near(at(&y, i), turned(&x, &cos, &sin, mode, i), OP_TYPE_F32);
        }
    }
    const union op_test_arg wrong[] = {{.tensor = x.acl},
                                       {.tensor = cos.acl},
                                       {.tensor = sin.acl},
                                       {.integer = MODES},
                                       {.tensor = y.acl}};
    CU_ASSERT_NOT_EQUAL(rig_run(rig_row("RotaryPositionEmbedding"), wrong, false), 0);
    rig_tensor_free(&x);
    rig_tensor_free(&cos);
    rig_tensor_free(&sin);
    rig_tensor_free(&y);
}

/* Sums over batch and heads of dy * x, and of dy * turned x. */
static void expect_angle_gradients(const struct rig_tensor *dy, const struct rig_tensor *x,
                                   const struct rig_tensor *dcos, const struct rig_tensor *dsin,
                                   int mode, enum op_type type)
{
    double by_cos[LENGTH * FEATURES] = {0}, by_sin[LENGTH * FEATURES] = {0};
    for (int64_t i = 0; i < COUNT; i++) {
        double sign;
        const int64_t other = i - i % FEATURES + partner(mode, i % FEATURES, &sign);
        by_cos[angle_of(i)] += at(dy, i) * at(x, i);
        by_sin[angle_of(i)] += at(dy, i) * sign * at(x, other);
    }
    for (int64_t i = 0; i < LENGTH * FEATURES; i++) {
        expect_near(at(dcos, i), by_cos[i], type);
        expect_near(at(dsin, i), by_sin[i], type);
    }
}

static void gradient_of(enum op_type type, int mode)
{
    struct rig_tensor dy = rig_tensor_eighths(type, 4, whole, RIG_PERMUTED, 1),
                      x = rig_tensor_eighths(type, 4, whole, RIG_SLICED, 5),
                      cos = rig_tensor_eighths(type, 4, angles, RIG_DENSE, 2),
                      sin = rig_tensor_eighths(type, 4, angles, RIG_DENSE, 3),
                      dx = rig_tensor_make(type, 4, whole, RIG_DENSE, 4),
                      dcos = rig_tensor_make(type, 4, angles, RIG_DENSE, 6),
                      dsin = rig_tensor_make(type, 4, angles, RIG_PERMUTED, 7);
    struct rig_tensor *all[] = {&dy, &x, &cos, &sin, &dx, &dcos, &dsin};
    union op_test_arg args[] = {{.tensor = dy.acl},   {.tensor = cos.acl}, {.tensor = sin.acl},
                                {.tensor = x.acl},    {.integer = mode},   {.tensor = dx.acl},
                                {.tensor = dcos.acl}, {.tensor = dsin.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("RotaryPositionEmbeddingGrad"), args, true), 0);
    rig_tensor_take(&dx);
    rig_tensor_take(&dcos);
    rig_tensor_take(&dsin);
    for (int64_t i = 0; i < COUNT; i++) {
        expect_near(at(&dx, i), turned_back(&dy, &cos, &sin, mode, i), type);
    }
    expect_angle_gradients(&dy, &x, &dcos, &dsin, mode, type);
    args[3].tensor = NULL; // by the input alone
    CU_ASSERT_EQUAL(rig_run(rig_row("RotaryPositionEmbeddingGrad"), args, true), 0);
    rig_tensor_take(&dx);
    expect_near(at(&dx, 5), turned_back(&dy, &cos, &sin, mode, 5), type);
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rig_tensor_free(all[i]);
    }
}

static void gradients_turn_back(void)
{
    const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned i = 0; i < 3 * MODES && rig_chip() == 1; i++) {
        gradient_of(types[i / MODES], (int)(i % MODES));
    }
}

static void query_and_key_turn_in_place(void)
{
    const int64_t keys[] = {BATCH, LENGTH, 1, FEATURES};
    struct rig_tensor q = rig_tensor_eighths(OP_TYPE_F32, 4, whole, RIG_PERMUTED, 1),
                      was = rig_tensor_eighths(OP_TYPE_F32, 4, whole, RIG_PERMUTED, 1),
                      k = rig_tensor_eighths(OP_TYPE_F32, 4, keys, RIG_DENSE, 2),
                      k_was = rig_tensor_eighths(OP_TYPE_F32, 4, keys, RIG_DENSE, 2),
                      cos = rig_tensor_eighths(OP_TYPE_F32, 4, angles, RIG_DENSE, 3),
                      sin = rig_tensor_eighths(OP_TYPE_F32, 4, angles, RIG_DENSE, 4);
    struct rig_tensor *all[] = {&q, &was, &k, &k_was, &cos, &sin};
    for (int mode = 0; mode < MODES; mode++) {
        const union op_test_arg args[] = {
            {.tensor = q.acl},   {.tensor = k.acl}, {.tensor = cos.acl},
            {.tensor = sin.acl}, {.integer = 1},    {.text = (char *)(uintptr_t)mode_names[mode]}};
        const char *name = mode == 0 ? "ApplyRotaryPosEmb" : "ApplyRotaryPosEmbV2";
        rig_tensor_put(&q);
        rig_tensor_put(&k);
        if (rig_chip() == 0) {
            CU_ASSERT_EQUAL(rig_run(rig_row(name), args, false), 161002);
            continue;
        }
        CU_ASSERT_EQUAL(rig_run(rig_row(name), args, true), 0);
        rig_tensor_take(&q);
        rig_tensor_take(&k);
        for (int64_t i = 0; i < COUNT; i++) {
            expect_near(at(&q, i), turned(&was, &cos, &sin, mode, i), OP_TYPE_F32);
        }
        for (int64_t i = 0; i < BATCH * LENGTH * FEATURES; i++) {
            double sign;
            const int64_t other = i - i % FEATURES + partner(mode, i % FEATURES, &sign),
                          angle = i % (LENGTH * FEATURES);
            expect_near(at(&k, i),
                        at(&k_was, i) * at(&cos, angle) +
                            sign * at(&k_was, other) * at(&sin, angle),
                        OP_TYPE_F32);
        }
        for (size_t i = 0; i < q.storage_bytes; i++) {
            q.host[i] = was.host[i];
        }
        for (size_t i = 0; i < k.storage_bytes; i++) {
            k.host[i] = k_was.host[i];
        }
    }
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rig_tensor_free(all[i]);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"pairs_turn_by_an_angle", pairs_turn_by_an_angle},
        {"gradients_turn_back", gradients_turn_back},
        {"query_and_key_turn_in_place", query_and_key_turn_in_place},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_rotary", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
