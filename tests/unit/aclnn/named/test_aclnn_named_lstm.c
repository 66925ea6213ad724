/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory and its gradients by type name in both orders of gates, against double
 * on the host: gradients against differences of the loss that sums y and the last states with
 * weights. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <string.h>

enum { T = 3, B = 2, I = 5, H = 4, G = 4 * H };
enum { X, W, BIAS, H0, C0, INPUTS };
enum { Y, HIDDEN, CELL, GATE_I, GATE_J, GATE_F, GATE_O, TANHC, STATES };
enum { NOT_GIVEN, IJFO, IFJO, ORDERS };

static const char *const order_names[ORDERS] = {NULL, "ijfo", "ifjo"};

static const int64_t x_dim[] = {T, B, I}, w_dim[] = {I + H, G}, b_dim[] = {G}, h0_dim[] = {1, B, H},
                     y_dim[] = {T, B, H}, dh_dim[] = {B, H};

static const struct shape {
    const int64_t *dim;
    unsigned rank;
    int64_t count;
} shapes[INPUTS] = {
    [X] = {x_dim, 3, T *B *I}, [W] = {w_dim, 2, (I + H) * G}, [BIAS] = {b_dim, 1, G},
    [H0] = {h0_dim, 3, B *H},  [C0] = {h0_dim, 3, B *H},
};

/* Inputs and states of a run in double. */
struct unit {
    int order;
    double in[INPUTS][(I + H) * G];
    double out[STATES][T * B * H];
};

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

// Column block `block` of [x, h] w + b.
static double product(const struct unit *u, const double *x, const double *h, int block, int i)
{
    const int column = block * H + i;
    double sum = u->in[BIAS][column];
    for (int n = 0; n < I; n++) {
        sum += x[n] * u->in[W][n * G + column];
    }
    for (int n = 0; n < H; n++) {
        sum += h[n] * u->in[W][(I + n) * G + column];
    }
    return sum;
}

static void step(struct unit *u, int t, int b)
{
    const int row = (t * B + b) * H, last = row - B * H;
    const double *x = u->in[X] + (t * B + b) * I,
                 *h = t ? u->out[HIDDEN] + last : u->in[H0] + b * H,
                 *c = t ? u->out[CELL] + last : u->in[C0] + b * H;
    const int forget = u->order == IFJO ? 1 : 2;
    for (int k = 0; k < H; k++) {
        const double i = logistic(product(u, x, h, 0, k)),
                     j = tanh(product(u, x, h, 3 - forget, k)),
                     f = logistic(product(u, x, h, forget, k)),
                     o = logistic(product(u, x, h, 3, k)), now = f * c[k] + i * j;
        const double states[] = {[Y] = o * tanh(now), [HIDDEN] = o * tanh(now),
                                 [CELL] = now,        [GATE_I] = i,
                                 [GATE_J] = j,        [GATE_F] = f,
                                 [GATE_O] = o,        [TANHC] = tanh(now)};
        for (int s = 0; s < STATES; s++) {
            u->out[s][row + k] = states[s];
        }
    }
}

static void compute(struct unit *u)
{
    for (int t = 0; t < T; t++) {
        for (int b = 0; b < B; b++) {
            step(u, t, b);
        }
    }
}

// The 910A multiplies f32 in halves.
static struct rig_bound bound(void)
{
    return (struct rig_bound){.at_all = rig_chip() == 0 ? 8e-3 : 2e-5, .roundings = 1};
}

static void make_inputs(struct unit *u, struct rig_tensor *in)
{
    for (int k = 0; k < INPUTS; k++) {
        in[k] =
            rig_values_make(OP_TYPE_F32, shapes[k].rank, shapes[k].dim, RIG_DENSE, (uint64_t)k + 1);
        for (int64_t i = 0; i < shapes[k].count; i++) {
            u->in[k][i] = rig_values_at(&in[k], i) / 2;
            rig_put_d(rig_tensor_at(&in[k], i), OP_TYPE_F32, u->in[k][i]);
        }
        rig_tensor_put(&in[k]);
    }
}

static aclopAttr *attributes(int order)
{
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrString(attr, "cell_type", "LSTM");
    aclopSetAttrString(attr, "direction", "UNIDIRECTIONAL");
    aclopSetAttrFloat(attr, "keep_prob", 1);
    aclopSetAttrFloat(attr, "cell_clip", -1);
    aclopSetAttrBool(attr, "time_major", 1);
    aclopSetAttrFloat(attr, "forget_bias", 0);
    if (order_names[order]) {
        aclopSetAttrString(attr, "gate_order", order_names[order]);
    }
    return attr;
}

static void make_states(struct rig_tensor *out, struct rig_tensor **to)
{
    for (int k = 0; k < STATES; k++) {
        out[k] = rig_values_make(OP_TYPE_F32, 3, y_dim, RIG_DENSE, 9);
        to[k] = &out[k];
    }
}

static void run_forward(int order, struct rig_tensor *in, struct rig_tensor *out)
{
    struct rig_tensor *from[] = {&in[X], &in[W], &in[BIAS], NULL, &in[H0], &in[C0]}, *to[STATES];
    make_states(out, to);
    rig_named_run("DynamicRNN", attributes(order), from, 6, to, STATES);
}

static void expect_states(const struct unit *u, struct rig_tensor *out)
{
    static const char *const names[] = {"y", "h", "c", "i", "j", "f", "o", "tanh c"};
    for (int k = 0; k < STATES; k++) {
        rig_values_expect(&out[k], u->out[k], bound(), names[k]);
    }
}

static void states_equal_double(void)
{
    for (int order = 0; order < ORDERS; order++) {
        static struct unit u;
        struct rig_tensor in[INPUTS], out[STATES];
        make_inputs(&u, in);
        u.order = order;
        compute(&u);
        run_forward(order, in, out);
        expect_states(&u, out);
        rig_values_free(in, INPUTS, NULL, 0);
        rig_values_free(out, STATES, NULL, 0);
    }
}

// DynamicRNNV2 has the weights in two tensors.
static void states_of_two_weights(void)
{
    const int64_t dims[2][2] = {{I, G}, {H, G}};
    for (int order = 0; order < ORDERS; order++) {
        static struct unit u;
        struct rig_tensor in[INPUTS], out[STATES], w[2], *to[STATES];
        make_inputs(&u, in);
        u.order = order;
        compute(&u);
        for (int k = 0; k < 2; k++) {
            w[k] = rig_values_make(OP_TYPE_F32, 2, dims[k], RIG_DENSE, 9);
            for (int64_t i = 0; i < dims[k][0] * G; i++) {
                rig_put_d(rig_tensor_at(&w[k], i), OP_TYPE_F32, u.in[W][k * I * G + i]);
            }
            rig_tensor_put(&w[k]);
        }
        struct rig_tensor *from[] = {&in[X], &w[0], &w[1], &in[BIAS], NULL, &in[H0], &in[C0]};
        make_states(out, to);
        rig_named_run("DynamicRNNV2", attributes(order), from, 7, to, STATES);
        expect_states(&u, out);
        rig_values_free(in, INPUTS, NULL, 0);
        rig_values_free(out, STATES, NULL, 0);
        rig_values_free(w, 2, NULL, 0);
    }
}

/* Weights of the loss: of y, the last h and the last c. */
static double loss(struct unit *u, const struct rig_tensor *weights)
{
    double sum = 0;
    compute(u);
    for (int i = 0; i < T * B * H; i++) {
        sum += u->out[Y][i] * rig_values_at(&weights[0], i);
    }
    for (int i = 0; i < B * H; i++) {
        const int at = (T - 1) * B * H + i;
        sum += u->out[HIDDEN][at] * rig_values_at(&weights[1], i) +
               u->out[CELL][at] * rig_values_at(&weights[2], i);
    }
    return sum;
}

static void expect_gradient(struct unit *u, int of, const struct rig_tensor *weights,
                            struct rig_tensor *got, const char *name)
{
    double *want[] = {rig_values_zeros(shapes[of].count)};
    for (int64_t i = 0; i < shapes[of].count; i++) {
        const double is = u->in[of][i];
        u->in[of][i] = is + 1e-5;
        const double high = loss(u, weights);
        u->in[of][i] = is - 1e-5;
        want[0][i] = (high - loss(u, weights)) / 2e-5;
        u->in[of][i] = is;
    }
    rig_values_expect(got, want[0], bound(), name);
    rig_values_free(NULL, 0, want, 1);
}

static void gradients_equal_differences(void)
{
    static const int outputs[] = {W, BIAS, X, H0, C0};
    static const char *const names[] = {"dw", "db", "dx", "dh0", "dc0"};
    for (int order = 0; order < ORDERS; order++) {
        static struct unit u;
        struct rig_tensor in[INPUTS], out[STATES], grad[INPUTS], *to[INPUTS],
            weights[] = {rig_values_make(OP_TYPE_F32, 3, y_dim, RIG_DENSE, 20),
                         rig_values_make(OP_TYPE_F32, 2, dh_dim, RIG_DENSE, 21),
                         rig_values_make(OP_TYPE_F32, 2, dh_dim, RIG_DENSE, 22)};
        make_inputs(&u, in);
        u.order = order;
        run_forward(order, in, out);
        for (int k = 0; k < INPUTS; k++) {
            const struct shape *shape = &shapes[outputs[k]];
            grad[k] = rig_values_make(OP_TYPE_F32, shape->rank, shape->dim, RIG_DENSE, 30);
            to[k] = &grad[k];
        }
        struct rig_tensor *from[] = {&in[X],       &in[W],       &in[BIAS],    &out[Y],
                                     &in[H0],      &in[C0],      &out[HIDDEN], &out[CELL],
                                     &weights[0],  &weights[1],  &weights[2],  &out[GATE_I],
                                     &out[GATE_J], &out[GATE_F], &out[GATE_O], &out[TANHC]};
        rig_named_run("DynamicRNNGrad", attributes(order), from, 16, to, INPUTS);
        for (int k = 0; k < INPUTS; k++) {
            expect_gradient(&u, outputs[k], weights, &grad[k], names[k]);
        }
        rig_values_free(in, INPUTS, NULL, 0);
        rig_values_free(out, STATES, NULL, 0);
        rig_values_free(grad, INPUTS, NULL, 0);
        rig_values_free(weights, 3, NULL, 0);
    }
}

static void others_are_refused(void)
{
    static struct unit u;
    struct rig_tensor in[INPUTS], out[STATES], *to[STATES];
    make_inputs(&u, in);
    make_states(out, to);
    struct rig_tensor *from[] = {&in[X], &in[W], &in[BIAS], NULL, &in[H0], &in[C0]};
    const char *const texts[] = {"attribute gate_order must be one of",
                                 "attribute forget_bias is 1: only 0 is possible",
                                 "attribute cell_clip is 3: only -1 is possible"};
    for (int k = 0; k < 3; k++) {
        aclopAttr *attr = aclopCreateAttr();
        if (k == 0) {
            aclopSetAttrString(attr, "gate_order", "fijo");
        } else {
            aclopSetAttrFloat(attr, k == 1 ? "forget_bias" : "cell_clip", k == 1 ? 1 : 3);
        }
        CU_ASSERT_NOT_EQUAL_FATAL(
            rig_named_try("DynamicRNN", (struct rig_named){from, 6, to, STATES, attr, 0}), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), texts[k]));
    }
    rig_values_free(in, INPUTS, NULL, 0);
    rig_values_free(out, STATES, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"states_equal_double", states_equal_double},
        {"states_of_two_weights", states_of_two_weights},
        {"gradients_equal_differences", gradients_equal_differences},
        {"others_are_refused", others_are_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_lstm", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
