/* SPDX-License-Identifier: Apache-2.0 */
/* Long short-term memories over sequences, against plain C in double and its differences. */
#include "rig.h"

#include <math.h>
#include <string.h>

enum { STEPS = 3, BATCH = 2, FEATURES = 2, HIDDEN = 2, GATES = 4, MOST = 128 };

/* An LSTM and all it works on. */
struct lstm {
    int layers, directions;
    double x[STEPS * BATCH * FEATURES], weight[2 * MOST];
    double h[MOST / 4], c[MOST / 4]; // states before
    double y[STEPS * BATCH * HIDDEN * 2], hy[MOST / 4], cy[MOST / 4];
};

// Products of each step have operands of half: 2^-12 of numbers below 1, some of them added up.
#define BOUND 1e-3

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static int width(const struct lstm *l, int layer)
{
    return layer ? HIDDEN * l->directions : FEATURES;
}

// One layer and direction of one member of the batch; returns what is behind its weights.
static const double *run_part(struct lstm *l, const double *weight, int part, int member,
                              const double *in, double *out)
{
    const int features = width(l, part / l->directions), wide = GATES * HIDDEN;
    const double *by_input = weight, *by_state = by_input + wide * features,
                 *bias = by_state + wide * HIDDEN;
    double *h = l->hy + (part * BATCH + member) * HIDDEN,
           *c = l->cy + (part * BATCH + member) * HIDDEN;
    memcpy(h, l->h + (part * BATCH + member) * HIDDEN, sizeof(double) * HIDDEN);
    memcpy(c, l->c + (part * BATCH + member) * HIDDEN, sizeof(double) * HIDDEN);
    for (int k = 0; k < STEPS; k++) {
        const int t = part % l->directions ? STEPS - 1 - k : k;
        double gate[GATES * HIDDEN];
        for (int g = 0; g < wide; g++) {
            gate[g] = bias[g] + bias[wide + g];
            for (int i = 0; i < features; i++) {
                gate[g] += by_input[g * features + i] * in[t * features + i];
            }
            for (int i = 0; i < HIDDEN; i++) {
                gate[g] += by_state[g * HIDDEN + i] * h[i];
            }
        }
        for (int i = 0; i < HIDDEN; i++) {
            c[i] =
                logistic(gate[HIDDEN + i]) * c[i] + logistic(gate[i]) * tanh(gate[2 * HIDDEN + i]);
            h[i] = logistic(gate[3 * HIDDEN + i]) * tanh(c[i]);
            out[t * HIDDEN * l->directions + part % l->directions * HIDDEN + i] = h[i];
        }
    }
    return bias + 2 * wide;
}

static void run_lstm(struct lstm *l)
{
    for (int member = 0; member < BATCH; member++) {
        const double *weight = l->weight;
        double in[STEPS * HIDDEN * 2], out[STEPS * HIDDEN * 2] = {0};
        for (int t = 0; t < STEPS; t++) {
            memcpy(in + t * FEATURES, l->x + (t * BATCH + member) * FEATURES,
                   sizeof(double) * FEATURES);
        }
        for (int part = 0; part < l->layers * l->directions; part++) {
            weight = run_part(l, weight, part, member, in, out);
            if (part % l->directions == l->directions - 1) {
                memcpy(in, out, sizeof(in));
            }
        }
        for (int t = 0; t < STEPS; t++) {
            memcpy(l->y + (t * BATCH + member) * HIDDEN * l->directions,
                   in + t * HIDDEN * l->directions,
                   sizeof(double) * (size_t)(HIDDEN * l->directions));
        }
    }
}

static int count_weights(const struct lstm *l)
{
    int count = 0;
    for (int part = 0; part < l->layers * l->directions; part++) {
        count += GATES * HIDDEN * (width(l, part / l->directions) + HIDDEN + 2);
    }
    return count;
}

// What gradients are of: sums of results, weighed.
static double total(struct lstm *l)
{
    double sum = 0;
    run_lstm(l);
    for (int i = 0; i < STEPS * BATCH * HIDDEN * l->directions; i++) {
        sum += l->y[i] * (i % 5 - 2) / 4;
    }
    for (int i = 0; i < l->layers * l->directions * BATCH * HIDDEN; i++) {
        sum += l->hy[i] * (i % 3) / 2 + l->cy[i] / 4;
    }
    return sum;
}

static void differences(struct lstm *l, double *at, int count, double *out)
{
    for (int i = 0; i < count; i++) {
        const double kept = at[i], step = 1e-5;
        at[i] = kept + step;
        const double above = total(l);
        at[i] = kept - step;
        out[i] = (above - total(l)) / (2 * step);
        at[i] = kept;
    }
    (void)total(l);
}

static void compare(int layers, int directions)
{
    struct lstm l = {.layers = layers, .directions = directions};
    const int states = layers * directions * BATCH * HIDDEN, weights = count_weights(&l),
              out = HIDDEN * directions;
    const int64_t sizes[] = {STEPS, BATCH, FEATURES}, out_sizes[] = {STEPS, BATCH, out};
    double diff_y[STEPS * BATCH * HIDDEN * 2], diff_h[MOST / 4], diff_c[MOST / 4], want[2 * MOST];
    rig_fill(l.x, sizeof(l.x) / sizeof(double), 2, 1);
    rig_fill(l.weight, (size_t)weights, 1, 2);
    rig_fill(l.h, (size_t)states, 1, 3);
    rig_fill(l.c, (size_t)states, 1, 4);
    (void)total(&l);
    for (int i = 0; i < STEPS * BATCH * out; i++) {
        diff_y[i] = (i % 5 - 2) / 4.0;
    }
    for (int i = 0; i < states; i++) {
        diff_h[i] = i % 3 / 2.0;
        diff_c[i] = 0.25;
    }
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, l.x, STEPS * BATCH * FEATURES),
                      diff_x = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, STEPS * BATCH * FEATURES),
                      y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, STEPS * BATCH * out),
                      dy = RIG(&rig, CNNL_DTYPE_FLOAT, diff_y, STEPS * BATCH * out),
                      w = RIG(&rig, CNNL_DTYPE_FLOAT, l.weight, weights),
                      dw = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, weights);
#define STATE(data) RIG(&rig, CNNL_DTYPE_FLOAT, data, layers *directions, BATCH, HIDDEN)
    struct rig_tensor hx = STATE(l.h), cx = STATE(l.c), hy = STATE(NULL), cy = STATE(NULL),
                      dhy = STATE(diff_h), dcy = STATE(diff_c), dhx = STATE(NULL),
                      dcx = STATE(NULL);
    cnnlRNNDescriptor_t d;
    cnnlSeqDataDescriptor_t xs, ys;
    size_t work = 0, bytes = 0;
    OK(cnnlCreateRNNDescriptor(&d));
    OK(cnnlCreateSeqDataDescriptor(&xs));
    OK(cnnlCreateSeqDataDescriptor(&ys));
    OK(cnnlSetRNNDescriptor_v2(d, CNNL_LSTM, CNNL_RNN_DOUBLE_BIAS,
                               directions == 2 ? CNNL_RNN_BIDIRECTIONAL : CNNL_RNN_UNIDIRECTIONAL,
                               CNNL_RNN_LINEAR_INPUT, CNNL_DTYPE_FLOAT, CNNL_DTYPE_FLOAT, FEATURES,
                               HIDDEN, 0, layers, NULL, CNNL_RNN_PADDED_IO_DISABLED));
    OK(cnnlSetSeqDataDescriptor_v2(xs, CNNL_SEQDATA_TNC, CNNL_DTYPE_FLOAT, 3, sizes, 0, NULL,
                                   NULL));
    OK(cnnlSetSeqDataDescriptor_v2(ys, CNNL_SEQDATA_TNC, CNNL_DTYPE_FLOAT, 3, out_sizes, 0, NULL,
                                   NULL));
    OK(cnnlGetRNNTempSizes(rig.handle, d, xs, &work, &bytes));
    struct rig_tensor reserve = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, (int64_t)(bytes / 4));
    OK(cnnlRNNForwardTraining(rig.handle, d, NULL, xs, x.ptr, ys, y.ptr, T(hx), hy.ptr, T(cx),
                              cy.ptr, w.ptr, (size_t)weights * 4, NULL, 0, reserve.ptr, bytes));
    NEAR(&rig, y, l.y, BOUND);
    NEAR(&rig, hy, l.hy, BOUND);
    NEAR(&rig, cy, l.cy, BOUND);
    OK(cnnlRNNBackward(rig.handle, d, NULL, ys, y.ptr, dy.ptr, xs, x.ptr, diff_x.ptr, T(hx),
                       dhy.ptr, dhx.ptr, T(cx), dcy.ptr, dcx.ptr, w.ptr, dw.ptr,
                       (size_t)weights * 4, NULL, 0, reserve.ptr, reserve.ptr, bytes));
    differences(&l, l.x, STEPS * BATCH * FEATURES, want);
    NEAR(&rig, diff_x, want, BOUND);
    differences(&l, l.h, states, want);
    NEAR(&rig, dhx, want, BOUND);
    differences(&l, l.c, states, want);
    NEAR(&rig, dcx, want, BOUND);
    differences(&l, l.weight, weights, want);
    NEAR(&rig, dw, want, BOUND);
    EXPECT(cnnlRNNForwardTraining(rig.handle, d, NULL, xs, x.ptr, ys, y.ptr, T(hx), hy.ptr, T(cx),
                                  cy.ptr, w.ptr, (size_t)weights * 4 - 4, NULL, 0, reserve.ptr,
                                  bytes),
           CNNL_STATUS_BAD_PARAM);
    OK(cnnlSetSeqDataDescriptor_v2(ys, CNNL_SEQDATA_TNC, CNNL_DTYPE_HALF, 3, out_sizes, 0, NULL,
                                   NULL));
    EXPECT(cnnlRNNForwardTraining(rig.handle, d, NULL, xs, x.ptr, ys, y.ptr, T(hx), hy.ptr, T(cx),
                                  cy.ptr, w.ptr, (size_t)weights * 4, NULL, 0, reserve.ptr, bytes),
           CNNL_STATUS_BAD_PARAM);
    OK(cnnlDestroySeqDataDescriptor(ys));
    OK(cnnlDestroySeqDataDescriptor(xs));
    OK(cnnlDestroyRNNDescriptor(d));
    rig_end(&rig);
}

static void one_layer(void)
{
    compare(1, 1);
}

static void layers_in_both_directions(void)
{
    compare(2, 2);
}

static void what_is_refused(void)
{
    const int64_t sizes[] = {2, 2, 2};
    const int lengths[] = {2, 1};
    cnnlRNNDescriptor_t d;
    cnnlSeqDataDescriptor_t x;
    OK(cnnlCreateSeqDataDescriptor(&x));
    EXPECT(cnnlSetSeqDataDescriptor_v2(x, CNNL_SEQDATA_TNC_PACKED, CNNL_DTYPE_FLOAT, 3, sizes, 2,
                                       lengths, NULL),
           CNNL_STATUS_NOT_SUPPORTED);
    OK(cnnlDestroySeqDataDescriptor(x));
    OK(cnnlCreateRNNDescriptor(&d));
    EXPECT(cnnlSetRNNDescriptor_v2(d, CNNL_GRU, CNNL_RNN_DOUBLE_BIAS, CNNL_RNN_UNIDIRECTIONAL,
                                   CNNL_RNN_LINEAR_INPUT, CNNL_DTYPE_FLOAT, CNNL_DTYPE_FLOAT, 2, 2,
                                   0, 1, NULL, CNNL_RNN_PADDED_IO_DISABLED),
           CNNL_STATUS_NOT_SUPPORTED);
    OK(cnnlDestroyRNNDescriptor(d));
}

static const struct leo_test tests[] = {
    {"one_layer", one_layer},
    {"layers_in_both_directions", layers_in_both_directions},
    {"what_is_refused", what_is_refused},
};

int main(int argc, char **argv)
{
    return leo_test_main("cnnl_rnn", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
