/* SPDX-License-Identifier: Apache-2.0 */
/* Cross entropy of a part of a vocabulary, softmax of windows: against double on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

enum { ROWS = 19, WIDTH = 32, TOKENS = 48, FIRST = 100, END = 140, BYTES = (ROWS + 7) / 8 };

static const struct rig_bound near = {.of_largest = 1e-5, .at_all = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

static double dot(const struct rig_tensor *x, int64_t row, const struct rig_tensor *w,
                  int64_t token)
{
    double sum = 0;
    for (int64_t i = 0; i < WIDTH; i++) {
        sum += rig_values_at(x, row * WIDTH + i) * rig_values_at(w, token * WIDTH + i);
    }
    return sum;
}

static int64_t target_of(int64_t row)
{
    return 90 + row * 7 % 60;
}

static bool is_outside(int64_t row)
{
    return target_of(row) < FIRST || target_of(row) >= END;
}

static int64_t whole(const struct rig_tensor *t, int64_t i)
{
    return rig_get_i(rig_tensor_at(t, i), t->type);
}

/* What a part of a vocabulary computes first. */
struct part {
    struct rig_tensor x, w, target, most, sum, predicted, mask, place, logits;
    double want[ROWS * TOKENS], want_most[ROWS], want_sum[ROWS], want_predicted[ROWS];
};

static void part_make(struct part *p, enum op_type type)
{
    const int64_t x[] = {ROWS, WIDTH}, w[] = {TOKENS, WIDTH}, rows[] = {ROWS}, bytes[] = {BYTES},
                  all[] = {ROWS, TOKENS};
    p->x = rig_tensor_eighths(type, 2, x, RIG_DENSE, 1);
    p->w = rig_tensor_eighths(type, 2, w, RIG_DENSE, 2);
    p->target = rig_tensor_make(OP_TYPE_I32, 1, rows, RIG_DENSE, 3);
    p->most = rig_values_make(OP_TYPE_F32, 1, rows, RIG_DENSE, 4);
    p->sum = rig_values_make(OP_TYPE_F32, 1, rows, RIG_DENSE, 5);
    p->predicted = rig_values_make(OP_TYPE_F32, 1, rows, RIG_DENSE, 6);
    p->mask = rig_tensor_make(OP_TYPE_U8, 1, bytes, RIG_DENSE, 7);
    p->place = rig_tensor_make(OP_TYPE_I32, 1, rows, RIG_DENSE, 8);
    p->logits = rig_values_make(type, 2, all, RIG_DENSE, 9);
    for (int64_t r = 0; r < ROWS; r++) {
        rig_put_i(rig_tensor_at(&p->target, r), OP_TYPE_I32, target_of(r));
        p->want_most[r] = -INFINITY;
        p->want_sum[r] = 0;
        for (int64_t t = 0; t < TOKENS; t++) {
            p->want[r * TOKENS + t] = dot(&p->x, r, &p->w, t);
            p->want_most[r] = fmax(p->want_most[r], p->want[r * TOKENS + t]);
        }
        for (int64_t t = 0; t < TOKENS; t++) {
            p->want_sum[r] += exp(p->want[r * TOKENS + t] - p->want_most[r]);
        }
        p->want_predicted[r] =
            is_outside(r) ? 0 : p->want[r * TOKENS + target_of(r) - FIRST] - p->want_most[r];
    }
    rig_tensor_put(&p->target);
}

static void part_end(struct part *p)
{
    struct rig_tensor all[] = {p->x,         p->w,    p->target, p->most,  p->sum,
                               p->predicted, p->mask, p->place,  p->logits};
    rig_values_free(all, 9, NULL, 0);
}

static aclnnStatus first_step(struct part *p)
{
    return RIG_RUN_NAMED(
        "FusedLinearOnlineMaxSum", is_here(), {"input", {.tensor = p->x.acl}},
        {"weight", {.tensor = p->w.acl}}, {"target", {.tensor = p->target.acl}},
        {"vocabStartIndex", {.integer = FIRST}}, {"vocabEndIndex", {.integer = END}},
        {"logitsMaxLocalOut", {.tensor = p->most.acl}},
        {"sumExpLogitsLocalOut", {.tensor = p->sum.acl}},
        {"predictedLogitsLocalOut", {.tensor = p->predicted.acl}},
        {"targetMaskOut", {.tensor = p->mask.acl}}, {"maskedTargetOut", {.tensor = p->place.acl}},
        {"vocabParallelLogitsOutOptional", {.tensor = p->logits.acl}});
}

static void sums_of_a_part(void)
{
    const enum op_type types[] = {OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned k = 0; k < 2; k++) {
        static struct part p;
        part_make(&p, types[k]);
        CU_ASSERT_EQUAL(first_step(&p) == 0, is_here());
        if (is_here()) {
            rig_values_expect(&p.most, p.want_most, near, "largest");
            rig_values_expect(&p.sum, p.want_sum, near, "sum");
            rig_values_expect(&p.predicted, p.want_predicted, near, "predicted");
            rig_values_expect(&p.logits, p.want, near, "logits");
            rig_tensor_take(&p.mask);
            rig_tensor_take(&p.place);
            for (int64_t r = 0; r < BYTES * 8; r++) {
                const bool set = r >= ROWS || is_outside(r);
                CU_ASSERT_EQUAL(whole(&p.mask, r / 8) >> (r % 8) & 1, set);
                CU_ASSERT_TRUE(r >= ROWS || whole(&p.place, r) == (set ? 0 : target_of(r) - FIRST));
            }
        }
        part_end(&p);
    }
}

static void losses_of_all_parts(void)
{
    static struct part p;
    const int64_t rows[] = {ROWS}, all[] = {ROWS, TOKENS};
    struct rig_tensor loss = rig_values_make(OP_TYPE_F32, 1, rows, RIG_DENSE, 10),
                      softmax = rig_values_make(OP_TYPE_F32, 2, all, RIG_DENSE, 11);
    double want_loss[ROWS], want[ROWS * TOKENS];
    part_make(&p, OP_TYPE_F16);
    CU_ASSERT_EQUAL(first_step(&p) == 0, is_here());
    rig_tensor_take(&p.logits);
    for (int64_t i = 0; i < ROWS * TOKENS; i++) {
        want_loss[i / TOKENS] = log(p.want_sum[i / TOKENS]) - p.want_predicted[i / TOKENS];
        want[i] =
            exp(rig_values_at(&p.logits, i) - p.want_most[i / TOKENS]) / p.want_sum[i / TOKENS];
    }
    for (int smoothed = 0; smoothed < 2; smoothed++) {
        const aclnnStatus code = RIG_RUN_NAMED(
            "FusedCrossEntropyLossWithMaxSum", is_here() && !smoothed,
            {"logitsMax", {.tensor = p.most.acl}}, {"sumExpLogits", {.tensor = p.sum.acl}},
            {"predictedLogits", {.tensor = p.predicted.acl}},
            {"labelSmoothing", {.real = smoothed ? 0.25 : 0}},
            {"vocabParallelLogitsOptional", {.tensor = p.logits.acl}},
            {"lossOut", {.tensor = loss.acl}}, {"softMaxOutOptional", {.tensor = softmax.acl}});
        CU_ASSERT_EQUAL(code == 0, is_here() && !smoothed);
    }
    if (is_here()) {
        rig_values_expect(&loss, want_loss, near, "loss");
        rig_values_expect(&softmax, want, near, "softmax");
    }
    rig_tensor_free(&loss);
    rig_tensor_free(&softmax);
    part_end(&p);
}

static void gradient(enum op_type type, bool has_softmax)
{
    static struct part p;
    static double share[ROWS * TOKENS], want_x[ROWS * WIDTH], want_w[TOKENS * WIDTH];
    const int64_t x[] = {ROWS, WIDTH}, w[] = {TOKENS, WIDTH}, rows[] = {ROWS},
                  all[] = {ROWS, TOKENS};
    part_make(&p, type);
    struct rig_tensor grad = rig_tensor_eighths(OP_TYPE_F32, 1, rows, RIG_DENSE, 20),
                      softmax = rig_values_make(OP_TYPE_F32, 2, all, RIG_DENSE, 21),
                      dx = rig_values_make(type, 2, x, RIG_DENSE, 22),
                      dw = rig_values_make(type, 2, w, RIG_DENSE, 23);
    CU_ASSERT_EQUAL(first_step(&p) == 0, is_here());
    for (int64_t i = 0; i < ROWS * TOKENS; i++) {
        const int64_t r = i / TOKENS, t = i % TOKENS;
        const double full = has_softmax ? rig_values_at(&softmax, i)
                                        : exp(p.want[i] - p.want_most[r]) / p.want_sum[r];
        share[i] = (full - (!is_outside(r) && target_of(r) - FIRST == t)) * rig_values_at(&grad, r);
    }
    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        want_x[i] = 0;
        for (int64_t t = 0; t < TOKENS; t++) {
            want_x[i] += share[i / WIDTH * TOKENS + t] * rig_values_at(&p.w, t * WIDTH + i % WIDTH);
        }
    }
    for (int64_t i = 0; i < TOKENS * WIDTH; i++) {
        want_w[i] = 0;
        for (int64_t r = 0; r < ROWS; r++) {
            want_w[i] += share[r * TOKENS + i / WIDTH] * rig_values_at(&p.x, r * WIDTH + i % WIDTH);
        }
    }
    const aclnnStatus code = RIG_RUN_NAMED(
        "FusedLinearCrossEntropyLossGrad", is_here(), {"grad", {.tensor = grad.acl}},
        {"input", {.tensor = p.x.acl}}, {"weight", {.tensor = p.w.acl}},
        {"targetMask", {.tensor = p.mask.acl}}, {"maskedTarget", {.tensor = p.place.acl}},
        {"logitsMaxOptional", {.tensor = has_softmax ? NULL : p.most.acl}},
        {"sumExpLogitsOptional", {.tensor = has_softmax ? NULL : p.sum.acl}},
        {"softmaxOptional", {.tensor = has_softmax ? softmax.acl : NULL}},
        {"inputGradOut", {.tensor = dx.acl}}, {"weightGradOut", {.tensor = dw.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) { /* shares are rounded to the products' type */
        const struct rig_bound products = {.of_largest = type == OP_TYPE_F16 ? 1e-3 : 8e-3,
                                           .roundings = 1};
        rig_values_expect(&dx, want_x, products, "gradient by the input");
        rig_values_expect(&dw, want_w, products, "gradient by the weight");
    }
    struct rig_tensor own[] = {grad, softmax, dx, dw};
    rig_values_free(own, 4, NULL, 0);
    part_end(&p);
}

static void parts_have_gradients(void)
{
    gradient(OP_TYPE_F16, true);
    gradient(OP_TYPE_F16, false);
    gradient(OP_TYPE_BF16, false);
}

/* ---- softmax of windows ---- */

static void soften(enum op_type type, bool has_mask, unsigned rank)
{
    enum { BATCH = 2, WINDOWS = 3, HEADS = 2, S1 = 4, S2 = 5, PLANE = S1 * S2 };
    enum { COUNT = BATCH * WINDOWS * HEADS * PLANE };
    const int64_t four[] = {BATCH * WINDOWS, HEADS, S1, S2},
                  five[] = {BATCH, WINDOWS, HEADS, S1, S2}, mask_dim[] = {WINDOWS, S1, S2},
                  bias_dim[] = {HEADS, S1, S2};
    struct rig_tensor x = rig_values_make(type, rank, rank == 4 ? four : five, RIG_PERMUTED, 1),
                      mask = rig_values_make(type, 3, mask_dim, RIG_DENSE, 2),
                      bias = rig_values_make(type, 3, bias_dim, RIG_DENSE, 3),
                      y = rig_values_make(type, rank, rank == 4 ? four : five, RIG_DENSE, 4);
    double want[COUNT];
    for (int64_t row = 0; row < COUNT / S2; row++) {
        const int64_t s1 = row % S1, head = row / S1 % HEADS, window = row / S1 / HEADS % WINDOWS;
        double sum = 0;
        for (int64_t k = 0; k < S2; k++) {
            const double m = has_mask ? rig_values_at(&mask, (window * S1 + s1) * S2 + k) : 0;
            want[row * S2 + k] = exp(0.5 * rig_values_at(&x, row * S2 + k) + m +
                                     rig_values_at(&bias, (head * S1 + s1) * S2 + k));
            sum += want[row * S2 + k];
        }
        for (int64_t k = 0; k < S2; k++) {
            want[row * S2 + k] /= sum;
        }
    }
    const aclnnStatus code =
        RIG_RUN_NAMED("MaskedSoftmaxWithRelPosBias", is_here(), {"x", {.tensor = x.acl}},
                      {"attenMaskOptional", {.tensor = has_mask ? mask.acl : NULL}},
                      {"relativePosBias", {.tensor = bias.acl}}, {"scaleValue", {.real = 0.5}},
                      {"out", {.tensor = y.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        rig_values_expect(&y, want, near, "softmax");
    }
    CU_ASSERT_NOT_EQUAL(RIG_RUN_NAMED("MaskedSoftmaxWithRelPosBias", false,
                                      {"x", {.tensor = x.acl}},
                                      {"relativePosBias", {.tensor = mask.acl}},
                                      {"scaleValue", {.real = 0.5}}, {"out", {.tensor = y.acl}}),
                        0);
    struct rig_tensor all[] = {x, mask, bias, y};
    rig_values_free(all, 4, NULL, 0);
}

static void windows_are_softened(void)
{
    soften(OP_TYPE_F32, true, 4);
    soften(OP_TYPE_F32, false, 4);
    soften(OP_TYPE_F16, true, 5);
    soften(OP_TYPE_BF16, true, 4);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"sums_of_a_part", sums_of_a_part},
        {"losses_of_all_parts", losses_of_all_parts},
        {"parts_have_gradients", parts_have_gradients},
        {"windows_are_softened", windows_are_softened},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_vocab", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
