/* SPDX-License-Identifier: Apache-2.0 */
/* Cross entropy with weights, ignored targets and smoothed labels, and a step of AdamW whose rates
 * stand in tensors: against double on the host. */
#include "rig.h"

#include <math.h>

enum { SAMPLES = 6, CLASSES = 7, IGNORED = -100 };
static const int64_t targets[SAMPLES] = {3, 0, IGNORED, 6, 2, 3};
static const char *const reductions[] = {"none", "mean", "sum"};
enum { NONE, MEAN, SUM };

struct problem {
    enum op_type type;
    int reduction;
    bool weighed;
    double smoothing;
};

static double at(const struct rig_tensor *t, int64_t index)
{
    return rig_get_d(rig_tensor_at(t, index), t->type);
}

struct call {
    struct rig_tensor x, target, weight, loss, log_prob, other, gradient, dx;
};

static struct call make(const struct problem *p)
{
    const int64_t scores[] = {SAMPLES, CLASSES}, classes[] = {CLASSES}, samples[] = {SAMPLES},
                  one[] = {1}, *losses = p->reduction == NONE ? samples : one;
    struct call c = {
        .x = rig_tensor_eighths(p->type, 2, scores, RIG_PERMUTED, 1),
        .target = rig_tensor_make(OP_TYPE_I64, 1, samples, RIG_DENSE, 2),
        .weight = rig_tensor_make(OP_TYPE_F32, 1, classes, RIG_DENSE, 3),
        .loss = rig_tensor_make(p->type, 1, losses, RIG_DENSE, 4),
        .log_prob = rig_tensor_make(p->type, 2, scores, RIG_DENSE, 5),
        .other = rig_tensor_make(p->type, 1, samples, RIG_DENSE, 6),
        .gradient = rig_tensor_eighths(p->type, 1, losses, RIG_DENSE, 7),
        .dx = rig_tensor_make(p->type, 2, scores, RIG_DENSE, 8),
    };
    for (int64_t i = 0; i < SAMPLES; i++) {
        rig_put_i(rig_tensor_at(&c.target, i), OP_TYPE_I64, targets[i]);
    }
    for (int64_t i = 0; i < CLASSES; i++) {
        rig_put_f(rig_tensor_at(&c.weight, i), OP_TYPE_F32, 0.5f + 0.25f * (float)i);
    }
    rig_tensor_put(&c.target);
    rig_tensor_put(&c.weight);
    return c;
}

static void end(struct call *c)
{
    struct rig_tensor *all[] = {&c->x,        &c->target, &c->weight,   &c->loss,
                                &c->log_prob, &c->other,  &c->gradient, &c->dx};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rig_tensor_free(all[i]);
    }
}

static double log_sum(const struct call *c, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < CLASSES; k++) {
        sum += exp(at(&c->x, n * CLASSES + k));
    }
    return log(sum);
}

static double weight_of(const struct problem *p, const struct call *c, int64_t k)
{
    return p->weighed ? at(&c->weight, k) : 1;
}

/* What class k of sample n has of the label, weighed. */
static double share(const struct problem *p, const struct call *c, int64_t n, int64_t k)
{
    const double label = (targets[n] == k ? 1 - p->smoothing : 0) + p->smoothing / CLASSES;
    return targets[n] == IGNORED ? 0 : label * weight_of(p, c, k);
}

static double divisor(const struct problem *p, const struct call *c)
{
    double total = 0;
    for (int64_t n = 0; n < SAMPLES; n++) {
        total += targets[n] == IGNORED ? 0 : weight_of(p, c, targets[n]);
    }
    return p->reduction == MEAN ? total : 1;
}

static void expect_near(double got, double want, enum op_type type)
{
    const double most = type == OP_TYPE_F32 ? 1e-5 : type == OP_TYPE_F16 ? 4e-3 : 3e-2;
    CU_ASSERT_DOUBLE_EQUAL(got, want, most * (1 + fabs(want)));
}

static void expect_losses(const struct problem *p, const struct call *c)
{
    double sum = 0;
    for (int64_t n = 0; n < SAMPLES; n++) {
        double loss = 0;
        for (int64_t k = 0; k < CLASSES; k++) {
            const double log_prob = at(&c->x, n * CLASSES + k) - log_sum(c, n);
            loss -= share(p, c, n, k) * log_prob;
            expect_near(at(&c->log_prob, n * CLASSES + k), log_prob, p->type);
        }
        sum += loss;
        if (p->reduction == NONE) {
            expect_near(at(&c->loss, n), loss, p->type);
        }
    }
    if (p->reduction != NONE) {
        expect_near(at(&c->loss, 0), sum / divisor(p, c), p->type);
    }
}

static void expect_gradients(const struct problem *p, const struct call *c)
{
    for (int64_t n = 0; n < SAMPLES; n++) {
        const double g = at(&c->gradient, p->reduction == NONE ? n : 0) / divisor(p, c);
        double all = 0;
        for (int64_t k = 0; k < CLASSES; k++) {
            all += share(p, c, n, k);
        }
        for (int64_t k = 0; k < CLASSES; k++) {
            const double prob = exp(at(&c->x, n * CLASSES + k) - log_sum(c, n));
            expect_near(at(&c->dx, n * CLASSES + k), g * (prob * all - share(p, c, n, k)), p->type);
        }
    }
}

static void try_one(const struct problem *p)
{
    struct call c = make(p);
    const union op_test_arg word = {.text = (char *)(uintptr_t)reductions[p->reduction]},
                            weight = {.tensor = p->weighed ? c.weight.acl : NULL};
    const union op_test_arg forward[] = {{.tensor = c.x.acl},
                                         {.tensor = c.target.acl},
                                         weight,
                                         word,
                                         {.integer = IGNORED},
                                         {.real = p->smoothing},
                                         {.real = 0},
                                         {.integer = 0},
                                         {.tensor = c.loss.acl},
                                         {.tensor = c.log_prob.acl},
                                         {.tensor = c.other.acl},
                                         {.tensor = c.other.acl}};
    const union op_test_arg backward[] = {{.tensor = c.gradient.acl},
                                          {.tensor = c.log_prob.acl},
                                          {.tensor = c.target.acl},
                                          weight,
                                          {.tensor = NULL},
                                          {.tensor = NULL},
                                          word,
                                          {.integer = IGNORED},
                                          {.real = p->smoothing},
                                          {.real = 0},
                                          {.tensor = c.dx.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("CrossEntropyLoss"), forward, true), 0);
    rig_tensor_take(&c.loss);
    rig_tensor_take(&c.log_prob);
    expect_losses(p, &c);
    CU_ASSERT_EQUAL(rig_run(rig_row("CrossEntropyLossGrad"), backward, true), 0);
    rig_tensor_take(&c.dx);
    expect_gradients(p, &c);
    end(&c);
}

static void losses_and_gradients(void)
{
    const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (int i = 0; i < 3 * 3 * 4; i++) {
        const struct problem p = {types[i / 12], i % 3, i / 3 & 1, i / 6 & 1 ? 0.125 : 0};
        if (p.type != OP_TYPE_BF16 || rig_chip() == 1) {
            try_one(&p);
        }
    }
}

static void unknown_words_are_refused(void)
{
    const struct problem p = {OP_TYPE_F32, MEAN, false, 0};
    struct call c = make(&p);
    static char median[] = "median", mean[] = "mean";
    union op_test_arg args[] = {{.tensor = c.x.acl},
                                {.tensor = c.target.acl},
                                {.tensor = NULL},
                                {.text = median},
                                {.integer = IGNORED},
                                {.real = 0},
                                {.real = 0},
                                {.integer = 0},
                                {.tensor = c.loss.acl},
                                {.tensor = c.log_prob.acl},
                                {.tensor = c.other.acl},
                                {.tensor = c.other.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("CrossEntropyLoss"), args, false), 161002);
    args[3].text = mean;
    args[7].integer = 1; // zloss
    CU_ASSERT_NOT_EQUAL(rig_run(rig_row("CrossEntropyLoss"), args, false), 0);
    end(&c);
}

/* ---- AdamW ---- */

enum { SIZE = 37, NUMBERS = 7 };

static struct rig_tensor number(double value)
{
    const int64_t one = 1;
    struct rig_tensor t = rig_tensor_make(OP_TYPE_F32, 1, &one, RIG_DENSE, 1);
    rig_put_d(rig_tensor_at(&t, 0), OP_TYPE_F32, value);
    rig_tensor_put(&t);
    return t;
}

static void adamw_takes_rates_from_tensors(void)
{
    const int64_t size[] = {SIZE};
    /* beta1Power, beta2Power, lr, weightDecay, beta1, beta2, eps */
    const double v[NUMBERS] = {0.81, 0.98, 0.01, 0.1, 0.9, 0.99, 1e-6};
    struct rig_tensor rate[NUMBERS], t[5], was[5];
    for (unsigned i = 0; i < NUMBERS; i++) {
        rate[i] = number(v[i]);
    }
    for (int kind = 0; kind < 4; kind++) {
        const bool most = kind & 1, maximize = kind & 2;
        for (unsigned i = 0; i < 5; i++) { // var, m, v, grad, largest
            t[i] = rig_tensor_eighths(OP_TYPE_F32, 1, size, RIG_DENSE, i + 1);
            for (int64_t k = 0; k < SIZE && (i == 2 || i == 4); k++) {
                rig_put_f(rig_tensor_at(&t[i], k), OP_TYPE_F32,
                          0.25f + (float)(k * (i + 1) % 8) / 8);
            }
            rig_tensor_put(&t[i]);
            was[i] = rig_tensor_make(OP_TYPE_F32, 1, size, RIG_DENSE, i + 1);
            for (int64_t k = 0; k < SIZE; k++) {
                rig_put_d(rig_tensor_at(&was[i], k), OP_TYPE_F32, at(&t[i], k));
            }
        }
        const union op_test_arg args[] = {
            {.tensor = t[0].acl},    {.tensor = t[1].acl},    {.tensor = t[2].acl},
            {.tensor = rate[0].acl}, {.tensor = rate[1].acl}, {.tensor = rate[2].acl},
            {.tensor = rate[3].acl}, {.tensor = rate[4].acl}, {.tensor = rate[5].acl},
            {.tensor = rate[6].acl}, {.tensor = t[3].acl},    {.tensor = most ? t[4].acl : NULL},
            {.integer = most},       {.integer = maximize}};
        CU_ASSERT_EQUAL(rig_run(rig_row("ApplyAdamW"), args, true), 0);
        for (unsigned i = 0; i < 3; i++) {
            rig_tensor_take(&t[i]);
        }
        for (int64_t k = 0; k < SIZE; k++) {
            const double g = maximize ? -at(&was[3], k) : at(&was[3], k),
                         m = 0.9 * at(&was[1], k) + 0.1 * g,
                         s = 0.99 * at(&was[2], k) + 0.01 * g * g,
                         root = sqrt((most ? fmax(s, at(&was[4], k)) : s) / (1 - 0.98 * 0.99));
            CU_ASSERT_DOUBLE_EQUAL(at(&t[1], k), m, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(at(&t[2], k), s, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(at(&t[0], k),
                                   at(&was[0], k) * (1 - 0.01 * 0.1) -
                                       0.01 * m / (1 - 0.81 * 0.9) / (root + 1e-6),
                                   2e-6);
        }
        for (unsigned i = 0; i < 5; i++) {
            rig_tensor_free(&t[i]);
            rig_tensor_free(&was[i]);
        }
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        rig_tensor_free(&rate[i]);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"losses_and_gradients", losses_and_gradients},
        {"unknown_words_are_refused", unknown_words_are_refused},
        {"adamw_takes_rates_from_tensors", adamw_takes_rates_from_tensors},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_cross_entropy", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
