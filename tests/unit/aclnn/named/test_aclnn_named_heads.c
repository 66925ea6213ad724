/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of attention with several heads by type name, against double on the host: gradients
 * against differences of the weighted sum of the result. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

enum { N = 2, HEADS = 2, T = 3, S = 5, D = 4, E = HEADS * D, SCORES = N * HEADS * T * S };
enum { QUERY, KEY, VALUE, WQ, WK, WV, MASK, WO, BQ, BK, BV, BO, INPUTS };
enum { Y, DROP, Q, K, V, SOFTMAX, PROBS, CONTEXT, OUTPUTS };

static const double keep = 0.75;
static const int64_t rows_t[] = {N * T, E}, rows_s[] = {N * S, E}, square[] = {E, E}, list[] = {E},
                     row[] = {1, E}, scores[] = {N, HEADS, T, S}, heads_t[] = {N, HEADS, T, D},
                     heads_s[] = {N, HEADS, S, D}, bytes[] = {(SCORES + 7) / 8};

static const struct shape {
    unsigned rank;
    const int64_t *dim;
} ins[INPUTS] = {{2, rows_t}, {2, rows_s}, {2, rows_s}, {2, square}, {2, square}, {2, square},
                 {4, scores}, {2, square}, {1, list},   {1, list},   {1, list},   {1, list}},
  outs[OUTPUTS] = {{2, rows_t},  {1, bytes},  {4, heads_t}, {4, heads_s},
                   {4, heads_s}, {4, scores}, {4, scores},  {2, rows_t}};

/* A layer in double: its inputs, and the bits that are kept. */
struct layer {
    double *in[INPUTS];
    bool kept[SCORES], dropped;
};

// Element (head, at) of the projected row of a side.
static double projected(const struct layer *l, int side, int64_t line, int head, int at)
{
    const int feature = head * D + at;
    double sum = l->in[BQ + side][feature];
    for (int k = 0; k < E; k++) {
        sum += l->in[QUERY + side][line * E + k] * l->in[WQ + side][feature * E + k];
    }
    return side == 0 ? sum / sqrt(D) : sum;
}

// The context of one image, head and step.
static void attend(const struct layer *l, int n, int head, int t, double *context)
{
    double weight[S], sum = 0;
    for (int s = 0; s < S; s++) {
        double score = l->in[MASK][((n * HEADS + head) * T + t) * S + s];
        for (int d = 0; d < D; d++) {
            score += projected(l, 0, n * T + t, head, d) * projected(l, 1, n * S + s, head, d);
        }
        weight[s] = exp(score);
        sum += weight[s];
    }
    for (int d = 0; d < D; d++) {
        context[d] = 0;
        for (int s = 0; s < S; s++) {
            const bool kept = !l->dropped || l->kept[((n * HEADS + head) * T + t) * S + s];
            context[d] += kept ? weight[s] / sum / (l->dropped ? keep : 1) *
                                     projected(l, 2, n * S + s, head, d)
                               : 0;
        }
    }
}

static void compute(const struct layer *l, double *y)
{
    for (int line = 0; line < N * T; line++) {
        double context[E];
        for (int head = 0; head < HEADS; head++) {
            attend(l, line / T, head, line % T, context + head * D);
        }
        for (int i = 0; i < E; i++) {
            y[line * E + i] = l->in[BO][i];
            for (int k = 0; k < E; k++) {
                y[line * E + i] += context[k] * l->in[WO][i * E + k];
            }
        }
    }
}

// The 910A multiplies f32 in halves.
static struct rig_bound bound(void)
{
    return (struct rig_bound){
        .at_all = rig_chip() == 0 ? 2e-2 : 3e-5, .of_each = 1e-5, .roundings = 1};
}

static struct rig_tensor make(const struct shape *shape, uint64_t seed, double factor)
{
    struct rig_tensor tensor =
        rig_values_make(OP_TYPE_F32, shape->rank, shape->dim, RIG_DENSE, seed);
    for (int64_t i = 0; i < rig_tensor_count(&tensor); i++) {
        rig_put_d(rig_tensor_at(&tensor, i), OP_TYPE_F32, rig_values_at(&tensor, i) * factor);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

static void begin(struct layer *l, struct rig_tensor *in, struct rig_tensor *drop,
                  struct rig_tensor *out)
{
    *drop = rig_tensor_make(OP_TYPE_U8, 1, bytes, RIG_DENSE, 50);
    rig_tensor_put(drop);
    for (int i = 0; i < SCORES; i++) {
        l->kept[i] = rig_get_i(rig_tensor_at(drop, i / 8), OP_TYPE_U8) >> (i % 8) & 1;
    }
    for (int k = 0; k < INPUTS; k++) {
        in[k] = make(&ins[k], (uint64_t)k + 1, 0.5);
        l->in[k] = rig_values_zeros(rig_tensor_count(&in[k]));
        for (int64_t i = 0; i < rig_tensor_count(&in[k]); i++) {
            l->in[k][i] = rig_values_at(&in[k], i);
        }
    }
    for (int k = 0; k < OUTPUTS; k++) {
        out[k] =
            k == DROP ? rig_tensor_make(OP_TYPE_U8, 1, bytes, RIG_DENSE, 1) : make(&outs[k], 60, 1);
    }
}

static aclopAttr *attributes(bool dropped)
{
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrFloat(attr, "keep_prob", dropped ? (float)keep : 1);
    return attr;
}

static void run(bool dropped, struct rig_tensor *in, struct rig_tensor *drop,
                struct rig_tensor *out)
{
    struct rig_tensor *from[INPUTS + 1], *to[OUTPUTS];
    for (int k = 0; k < INPUTS; k++) {
        from[k] = &in[k];
    }
    from[INPUTS] = drop;
    for (int k = 0; k < OUTPUTS; k++) {
        to[k] = &out[k];
    }
    rig_named_run("MultiHeadAttention", attributes(dropped), from, dropped ? INPUTS + 1 : INPUTS,
                  to, OUTPUTS);
}

static double loss(const struct layer *l, const struct rig_tensor *dy)
{
    double y[N * T * E], sum = 0;
    compute(l, y);
    for (int i = 0; i < N * T * E; i++) {
        sum += y[i] * rig_values_at(dy, i);
    }
    return sum;
}

static void check_gradient(struct layer *l, int of, struct rig_tensor *got,
                           const struct rig_tensor *dy)
{
    double *want[] = {rig_values_zeros(rig_tensor_count(got))};
    for (int64_t i = 0; i < rig_tensor_count(got); i++) {
        const double is = l->in[of][i];
        l->in[of][i] = is + 1e-5;
        const double high = loss(l, dy);
        l->in[of][i] = is - 1e-5;
        want[0][i] = (high - loss(l, dy)) / 2e-5;
        l->in[of][i] = is;
    }
    rig_values_expect(got, want[0], bound(), "gradient");
    rig_values_free(NULL, 0, want, 1);
}

static void run_gradients(bool dropped, struct layer *l, struct rig_tensor *in,
                          struct rig_tensor *drop, struct rig_tensor *out)
{
    static const int of[] = {WQ, WK, WV, WO, QUERY, KEY, VALUE, BQ, BK, BV, BO};
    enum { GRADIENTS = sizeof(of) / sizeof(of[0]) };
    struct rig_tensor grad[GRADIENTS], *to[GRADIENTS], dy = make(&outs[Y], 70, 0.5);
    for (int k = 0; k < GRADIENTS; k++) {
        const struct shape one_row = {2, row}, *shape = of[k] >= BQ ? &one_row : &ins[of[k]];
        grad[k] = make(shape, 80, 1);
        to[k] = &grad[k];
    }
    struct rig_tensor *from[] = {&in[QUERY],    &in[KEY],    &in[VALUE],    &in[WQ], &in[WK],
                                 &in[WV],       &in[WO],     &out[Q],       &out[K], &out[V],
                                 &out[SOFTMAX], &out[PROBS], &out[CONTEXT], &dy,     drop};
    rig_named_run("MultiHeadAttentionGrad", attributes(dropped), from, dropped ? 15 : 14, to,
                  GRADIENTS);
    for (int k = 0; k < GRADIENTS; k++) {
        check_gradient(l, of[k], &grad[k], &dy);
    }
    rig_values_free(grad, GRADIENTS, NULL, 0);
    rig_values_free(&dy, 1, NULL, 0);
}

static void layers_equal_double(void)
{
    for (int dropped = 0; dropped < 2; dropped++) {
        struct layer l = {.dropped = dropped};
        struct rig_tensor in[INPUTS], out[OUTPUTS], drop;
        double y[N * T * E];
        begin(&l, in, &drop, out);
        compute(&l, y);
        run(dropped, in, &drop, out);
        rig_values_expect(&out[Y], y, bound(), "y");
        rig_tensor_take(&out[DROP]);
        for (int i = 0; i < SCORES; i++) {
            const int bit = rig_get_i(rig_tensor_at(&out[DROP], i / 8), OP_TYPE_U8) >> (i % 8) & 1;
            CU_ASSERT_EQUAL(bit, !dropped || l.kept[i]);
        }
        run_gradients(dropped, &l, in, &drop, out);
        rig_values_free(in, INPUTS, l.in, INPUTS);
        rig_values_free(out, OUTPUTS, NULL, 0);
        rig_values_free(&drop, 1, NULL, 0);
    }
}

static void wrong_calls_are_refused(void)
{
    struct layer l = {0};
    struct rig_tensor in[INPUTS], out[OUTPUTS], drop, *from[INPUTS], *to[OUTPUTS];
    begin(&l, in, &drop, out);
    for (int k = 0; k < INPUTS; k++) {
        from[k] = &in[k];
    }
    for (int k = 0; k < OUTPUTS; k++) {
        to[k] = &out[k];
    }
    const struct rig_named no_mask = {from, INPUTS, to, OUTPUTS, attributes(true), 0},
                           three = {from, INPUTS - 1, to, OUTPUTS, attributes(false), 0};
    CU_ASSERT_NOT_EQUAL(rig_named_try("MultiHeadAttention", no_mask), 0);
    CU_ASSERT_NOT_EQUAL(rig_named_try("MultiHeadAttention", three), 0);
    rig_values_free(in, INPUTS, l.in, INPUTS);
    rig_values_free(out, OUTPUTS, NULL, 0);
    rig_values_free(&drop, 1, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"layers_equal_double", layers_equal_double},
        {"wrong_calls_are_refused", wrong_calls_are_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_heads", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
