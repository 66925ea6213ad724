/* SPDX-License-Identifier: Apache-2.0 */
/* A gated recurrent unit and its gradients by type name, against double on the host: gradients
 * against differences of the loss that sums y and the last state with weights. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <string.h>

enum { T = 3, B = 2, I = 5, H = 4, G = 3 * H };
enum { X, WX, WH, BX, BH, H0, INPUTS };
enum { Y, ALL, UPDATE, RESET, NEW, HIDDEN, STATES };

static const int64_t x_dim[] = {T, B, I}, wx_dim[] = {I, G}, wh_dim[] = {H, G}, b_dim[] = {G},
                     h0_dim[] = {1, B, H}, y_dim[] = {T, B, H}, dh_dim[] = {B, H};

static const struct shape {
    const int64_t *dim;
    unsigned rank;
    int64_t count;
} shapes[INPUTS] = {
    [X] = {x_dim, 3, T *B *I}, [WX] = {wx_dim, 2, I *G}, [WH] = {wh_dim, 2, H *G},
    [BX] = {b_dim, 1, G},      [BH] = {b_dim, 1, G},     [H0] = {h0_dim, 3, B *H},
};

/* Inputs and states of a run in double. */
struct unit {
    double in[INPUTS][T * B * I > I *G ? T *B *I : I *G];
    double out[STATES][T * B * H];
};

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

// Row by row: part k (r, z, n) of x wx + bx and of h wh + bh.
static void step(struct unit *u, int t, int b, const double *before)
{
    const double *x = u->in[X] + (t * B + b) * I;
    for (int i = 0; i < H; i++) {
        double gx[3], gh[3];
        for (int k = 0; k < 3; k++) {
            gx[k] = u->in[BX][k * H + i];
            gh[k] = u->in[BH][k * H + i];
            for (int n = 0; n < I; n++) {
                gx[k] += x[n] * u->in[WX][n * G + k * H + i];
            }
            for (int n = 0; n < H; n++) {
                gh[k] += before[n] * u->in[WH][n * G + k * H + i];
            }
        }
        const int at = (t * B + b) * H + i;
        const double r = logistic(gx[0] + gh[0]), z = logistic(gx[1] + gh[1]),
                     n = tanh(gx[2] + r * gh[2]), h = (1 - z) * n + z * before[i];
        const double states[] = {
            [Y] = h, [ALL] = h, [UPDATE] = z, [RESET] = r, [NEW] = n, [HIDDEN] = gh[2]};
        for (int k = 0; k < STATES; k++) {
            u->out[k][at] = states[k];
        }
    }
}

static void compute(struct unit *u)
{
    for (int t = 0; t < T; t++) {
        for (int b = 0; b < B; b++) {
            step(u, t, b, t ? u->out[Y] + ((t - 1) * B + b) * H : u->in[H0] + b * H);
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

static aclopAttr *attributes(void)
{
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrString(attr, "direction", "UNIDIRECTIONAL");
    aclopSetAttrInt(attr, "cell_depth", 1);
    aclopSetAttrFloat(attr, "keep_prob", 1);
    aclopSetAttrFloat(attr, "cell_clip", -1);
    aclopSetAttrInt(attr, "num_proj", 0);
    aclopSetAttrBool(attr, "time_major", 1);
    aclopSetAttrString(attr, "gate_order", "rzh");
    aclopSetAttrBool(attr, "reset_after", 1);
    return attr;
}

static void run_forward(struct rig_tensor *in, struct rig_tensor *out)
{
    struct rig_tensor *from[] = {&in[X], &in[WX], &in[WH], &in[BX], &in[BH], NULL, &in[H0]},
                      *to[STATES];
    for (int k = 0; k < STATES; k++) {
        out[k] = rig_values_make(OP_TYPE_F32, 3, y_dim, RIG_DENSE, 9);
        to[k] = &out[k];
    }
    rig_named_run("DynamicGRUV2", attributes(), from, 7, to, STATES);
}

static void states_equal_double(void)
{
    static const char *const names[] = {"y", "h", "update", "reset", "new", "hidden new"};
    static struct unit u;
    struct rig_tensor in[INPUTS], out[STATES];
    make_inputs(&u, in);
    compute(&u);
    run_forward(in, out);
    for (int k = 0; k < STATES; k++) {
        rig_values_expect(&out[k], u.out[k], bound(), names[k]);
    }
    rig_values_free(in, INPUTS, NULL, 0);
    rig_values_free(out, STATES, NULL, 0);
}

static double loss(struct unit *u, const struct rig_tensor *dy, const struct rig_tensor *dh)
{
    double sum = 0;
    compute(u);
    for (int i = 0; i < T * B * H; i++) {
        sum += u->out[Y][i] * rig_values_at(dy, i);
    }
    for (int i = 0; i < B * H; i++) {
        sum += u->out[Y][(T - 1) * B * H + i] * rig_values_at(dh, i);
    }
    return sum;
}

static void gradients_equal_differences(void)
{
    static const int outputs[] = {WX, WH, BX, BH, X, H0};
    static const char *const names[] = {"dx", "dwx", "dwh", "dbx", "dbh", "dh0"};
    static struct unit u;
    const int64_t one[] = {1};
    struct rig_tensor in[INPUTS], out[STATES], grad[INPUTS], *to[INPUTS],
        more[] = {rig_values_make(OP_TYPE_F32, 3, y_dim, RIG_DENSE, 20),
                  rig_values_make(OP_TYPE_F32, 2, dh_dim, RIG_DENSE, 21),
                  rig_values_make(OP_TYPE_F32, 0, one, RIG_DENSE, 22),
                  rig_tensor_make(OP_TYPE_U8, 0, one, RIG_DENSE, 23)};
    make_inputs(&u, in);
    run_forward(in, out);
    for (int k = 0; k < INPUTS; k++) {
        const struct shape *shape = &shapes[outputs[k]];
        grad[k] = rig_values_make(OP_TYPE_F32, shape->rank, shape->dim, RIG_DENSE, 30);
        to[k] = &grad[k];
    }
    struct rig_tensor *from[] = {&in[X],    &in[WX],      &in[WH],  &out[Y],      &in[H0],
                                 &out[ALL], &more[0],     &more[1], &out[UPDATE], &out[RESET],
                                 &out[NEW], &out[HIDDEN], &more[2], &more[3]};
    rig_named_run("DynamicGRUV2Grad", attributes(), from, 14, to, INPUTS);
    for (int k = 0; k < INPUTS; k++) {
        const int of = outputs[k];
        double *want[] = {rig_values_zeros(shapes[of].count)};
        for (int64_t i = 0; i < shapes[of].count; i++) {
            const double is = u.in[of][i];
            u.in[of][i] = is + 1e-5;
            const double high = loss(&u, &more[0], &more[1]);
            u.in[of][i] = is - 1e-5;
            want[0][i] = (high - loss(&u, &more[0], &more[1])) / 2e-5;
            u.in[of][i] = is;
        }
        rig_values_expect(&grad[k], want[0], bound(), names[of]);
        rig_values_free(&grad[k], 1, want, 1);
    }
    rig_values_free(in, INPUTS, NULL, 0);
    rig_values_free(out, STATES, NULL, 0);
    rig_values_free(more, 4, NULL, 0);
}

static void other_orders_are_refused(void)
{
    static struct unit u;
    struct rig_tensor in[INPUTS], out[STATES], *to[STATES];
    make_inputs(&u, in);
    struct rig_tensor *from[] = {&in[X], &in[WX], &in[WH], &in[BX], &in[BH], NULL, &in[H0]};
    for (int k = 0; k < STATES; k++) {
        out[k] = rig_values_make(OP_TYPE_F32, 3, y_dim, RIG_DENSE, 9);
        to[k] = &out[k];
    }
    aclopAttr *attr = attributes(), *none = aclopCreateAttr(); // the default is another order
    aclopSetAttrString(attr, "gate_order", "zrh");
    CU_ASSERT_NOT_EQUAL(
        rig_named_try("DynamicGRUV2", (struct rig_named){from, 7, to, STATES, attr, 0}), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), "only rzh is possible"));
    CU_ASSERT_NOT_EQUAL(
        rig_named_try("DynamicGRUV2", (struct rig_named){from, 7, to, STATES, none, 0}), 0);
    rig_values_free(in, INPUTS, NULL, 0);
    rig_values_free(out, STATES, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"states_equal_double", states_equal_double},
        {"gradients_equal_differences", gradients_equal_differences},
        {"other_orders_are_refused", other_orders_are_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_gru", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
