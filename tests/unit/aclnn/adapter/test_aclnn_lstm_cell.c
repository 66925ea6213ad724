/* SPDX-License-Identifier: Apache-2.0 */
/* One step of an LSTM behind its products, and its gradients: against double on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

enum { BATCH = 5, WIDTH = 7, COUNT = BATCH * WIDTH, GATES = 4 };

static const int64_t narrow[] = {BATCH, WIDTH}, wide[] = {BATCH, GATES *WIDTH},
                     list[] = {GATES * WIDTH};
static const struct rig_bound near = {.of_each = 2e-6, .at_all = 1e-6, .roundings = 1};

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* Gate g of feature i in a tensor of all gates. */
static int64_t place(int64_t i, int64_t g)
{
    return (i / WIDTH * GATES + g) * WIDTH + i % WIDTH;
}

static void forward(enum op_type type, bool has_bias)
{
    struct rig_tensor x = rig_values_make(type, 2, wide, RIG_PERMUTED, 1),
                      h = rig_values_make(type, 2, wide, RIG_DENSE, 2),
                      c = rig_values_make(type, 2, narrow, RIG_SLICED, 3),
                      b1 = rig_values_make(type, 1, list, RIG_DENSE, 4),
                      b2 = rig_values_make(type, 1, list, RIG_DENSE, 5),
                      hy = rig_values_make(type, 2, narrow, RIG_DENSE, 6),
                      cy = rig_values_make(type, 2, narrow, RIG_PERMUTED, 7),
                      storage = rig_values_make(type, 2, wide, RIG_DENSE, 8);
    double want_h[COUNT], want_c[COUNT], want[GATES * COUNT];
    for (int64_t i = 0; i < COUNT; i++) {
        double gate[GATES];
        for (int64_t g = 0; g < GATES; g++) {
            const int64_t p = place(i, g), b = p % (GATES * WIDTH);
            const double bias = has_bias ? rig_values_at(&b1, b) + rig_values_at(&b2, b) : 0,
                         sum = rig_values_at(&x, p) + rig_values_at(&h, p) + bias;
            want[p] = gate[g] = g == 2 ? tanh(sum) : logistic(sum);
        }
        want_c[i] = gate[1] * rig_values_at(&c, i) + gate[0] * gate[2];
        want_h[i] = gate[3] * tanh(want_c[i]);
    }
    const aclnnStatus code = RIG_RUN_NAMED(
        "ThnnFusedLstmCell", rig_chip() == 1, {"inputGates", {.tensor = x.acl}},
        {"hiddenGates", {.tensor = h.acl}}, {"cx", {.tensor = c.acl}},
        {"inputBiasOptional", {.tensor = has_bias ? b1.acl : NULL}},
        {"hiddenBiasOptional", {.tensor = has_bias ? b2.acl : NULL}}, {"hyOut", {.tensor = hy.acl}},
        {"cyOut", {.tensor = cy.acl}}, {"storageOut", {.tensor = storage.acl}});
    CU_ASSERT_EQUAL(code == 0, rig_chip() == 1);
    if (code == 0) {
        rig_values_expect(&hy, want_h, near, "hidden state");
        rig_values_expect(&cy, want_c, near, "cell state");
        rig_values_expect(&storage, want, near, "gates");
    }
    struct rig_tensor all[] = {x, h, c, b1, b2, hy, cy, storage};
    rig_values_free(all, 8, NULL, 0);
}

static void steps_are_made(void)
{
    forward(OP_TYPE_F32, true);
    forward(OP_TYPE_F32, false);
    forward(OP_TYPE_F16, true);
}

static void backward(enum op_type type, bool has_bias, bool has_dh, bool has_dc)
{
    struct rig_tensor dh = rig_values_make(type, 2, narrow, RIG_DENSE, 1),
                      dc = rig_values_make(type, 2, narrow, RIG_PERMUTED, 2),
                      cx = rig_values_make(type, 2, narrow, RIG_DENSE, 3),
                      cy = rig_values_make(type, 2, narrow, RIG_SLICED, 4),
                      storage = rig_values_make(type, 2, wide, RIG_PERMUTED, 5),
                      dgates = rig_values_make(type, 2, wide, RIG_DENSE, 6),
                      dcx = rig_values_make(type, 2, narrow, RIG_DENSE, 7),
                      db = rig_values_make(type, 1, list, RIG_DENSE, 8);
    double want[GATES * COUNT], want_c[COUNT], want_b[GATES * WIDTH] = {0};
    for (int64_t i = 0; i < COUNT; i++) {
        double s[GATES], d[GATES];
        for (int64_t g = 0; g < GATES; g++) {
            s[g] = rig_values_at(&storage, place(i, g));
        }
        const double t = tanh(rig_values_at(&cy, i)), up = has_dh ? rig_values_at(&dh, i) : 0,
                     total = up * s[3] * (1 - t * t) + (has_dc ? rig_values_at(&dc, i) : 0);
        d[0] = total * s[2] * s[0] * (1 - s[0]);
        d[1] = total * rig_values_at(&cx, i) * s[1] * (1 - s[1]);
        d[2] = total * s[0] * (1 - s[2] * s[2]);
        d[3] = up * t * s[3] * (1 - s[3]);
        want_c[i] = total * s[1];
        for (int64_t g = 0; g < GATES; g++) {
            want[place(i, g)] = d[g];
            want_b[g * WIDTH + i % WIDTH] += d[g];
        }
    }
    const aclnnStatus code = RIG_RUN_NAMED(
        "ThnnFusedLstmCellBackward", rig_chip() == 1,
        {"gradHyOptional", {.tensor = has_dh ? dh.acl : NULL}},
        {"gradCOptional", {.tensor = has_dc ? dc.acl : NULL}}, {"cx", {.tensor = cx.acl}},
        {"cy", {.tensor = cy.acl}}, {"storage", {.tensor = storage.acl}},
        {"hasBias", {.integer = has_bias}}, {"gradGatesOut", {.tensor = dgates.acl}},
        {"gradCxOut", {.tensor = dcx.acl}}, {"gradBiasOut", {.tensor = db.acl}});
    CU_ASSERT_EQUAL(code == 0, rig_chip() == 1);
    if (code == 0) {
        const struct rig_bound sums = {.of_largest = 2e-6, .at_all = 1e-6, .roundings = 1};
        rig_values_expect(&dgates, want, sums, "gradient of gates");
        rig_values_expect(&dcx, want_c, sums, "gradient of the cell state");
        if (has_bias) {
            rig_values_expect(&db, want_b, sums, "gradient of the bias");
        }
    }
    struct rig_tensor all[] = {dh, dc, cx, cy, storage, dgates, dcx, db};
    rig_values_free(all, 8, NULL, 0);
}

static void steps_have_gradients(void)
{
    backward(OP_TYPE_F32, true, true, true);
    backward(OP_TYPE_F32, false, true, false);
    backward(OP_TYPE_F32, true, false, true);
    backward(OP_TYPE_F16, true, true, true);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"steps_are_made", steps_are_made},
        {"steps_have_gradients", steps_have_gradients},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_lstm_cell", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
