/* SPDX-License-Identifier: Apache-2.0 */
/* Gates with limits, a swish over a normalisation, parts of heads, convolutions over time: against
 * double on the host. */
#include "rig.h"

#include <math.h>

static double at(const struct rig_tensor *t, int64_t index)
{
    return rig_get_d(rig_tensor_at(t, index), t->type);
}

static void free_all(struct rig_tensor **all, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        rig_tensor_free(all[i]);
    }
}

static void expect_near(double got, double want)
{
    CU_ASSERT_DOUBLE_EQUAL(got, want, 2e-5 * (1 + fabs(want)));
}

static void gates_have_limits(void)
{
    const int64_t whole[] = {3, 10, 2}, half[] = {3, 5, 2}, one[] = {1};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, whole, RIG_PERMUTED, 1),
                      y = rig_tensor_make(OP_TYPE_F32, 3, half, RIG_DENSE, 2),
                      rows = rig_tensor_make(OP_TYPE_I64, 1, one, RIG_DENSE, 3);
    union op_test_arg args[] = {{.tensor = x.acl}, {.tensor = NULL}, {.integer = 1},
                                {.real = 1.702},   {.real = 0.5},    {.real = 1},
                                {.integer = 0},    {.tensor = y.acl}};
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        args[6].integer = interleaved;
        CU_ASSERT_EQUAL(rig_run(rig_row("ClippedSwiglu"), args, true), 0);
        rig_tensor_take(&y);
        for (int64_t i = 0; i < 30; i++) {
            const int64_t k = i / 2 % 5, first = i / 10 * 20 + i % 2,
                          of_a = interleaved ? 2 * k : k, of_b = interleaved ? 2 * k + 1 : k + 5;
            const double a = fmin(at(&x, first + 2 * of_a), 0.5),
                         b = fmax(fmin(at(&x, first + 2 * of_b), 0.5), -0.5);
            expect_near(at(&y, i), a / (1 + exp(-1.702 * a)) * (b + 1));
        }
    }
    args[1].tensor = rows.acl;
    CU_ASSERT_NOT_EQUAL(rig_run(rig_row("ClippedSwiglu"), args, false), 0);
    struct rig_tensor *all[] = {&x, &y, &rows};
    free_all(all, 3);
}

static void masks_scale(void)
{
    const int64_t dim[] = {4, 9};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 2, dim, RIG_PERMUTED, 1),
                      mask = rig_tensor_make(OP_TYPE_U8, 2, dim, RIG_DENSE, 2),
                      y = rig_tensor_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 3);
    for (int64_t i = 0; i < 36; i++) {
        rig_put_i(rig_tensor_at(&mask, i), OP_TYPE_U8, i % 3 == 0);
    }
    rig_tensor_put(&mask);
    const union op_test_arg args[] = {
        {.tensor = x.acl}, {.tensor = mask.acl}, {.real = 2.5}, {.tensor = y.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("MaskedScale"), args, true), 0);
    rig_tensor_take(&y);
    for (int64_t i = 0; i < 36; i++) {
        CU_ASSERT_EQUAL(at(&y, i), i % 3 ? 0 : at(&x, i) * 2.5);
    }
    struct rig_tensor *all[] = {&x, &mask, &y};
    free_all(all, 3);
}

/* ---- swish over a normalisation ---- */

enum { N = 2, GROUPS = 3, EACH = 2, C = GROUPS * EACH, INNER = 5, COUNT = N * C * INNER };

struct normal {
    double mean[N * GROUPS], rstd[N * GROUPS];
};

static struct normal moments(const struct rig_tensor *x)
{
    struct normal m = {{0}, {0}};
    for (int g = 0; g < N * GROUPS; g++) {
        double squares = 0;
        for (int k = 0; k < EACH * INNER; k++) {
            m.mean[g] += at(x, g * EACH * INNER + k) / (EACH * INNER);
        }
        for (int k = 0; k < EACH * INNER; k++) {
            squares += pow(at(x, g * EACH * INNER + k) - m.mean[g], 2);
        }
        m.rstd[g] = 1 / sqrt(squares / (EACH * INNER) + 1e-5);
    }
    return m;
}

/* Gradient of element i under the swish, and what is normalised there. */
static double slope(const struct rig_tensor *dy, double hat, double gamma, double beta, int64_t i)
{
    const double y = hat * gamma + beta, s = 1 / (1 + exp(-1.5 * y));
    return at(dy, i) * s * (1 + 1.5 * y * (1 - s));
}

static void swish_over_groups_has_gradients(void)
{
    const int64_t dim[] = {N, C, INNER}, sums[] = {N, GROUPS}, channels[] = {C};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, dim, RIG_PERMUTED, 1),
                      dy = rig_tensor_eighths(OP_TYPE_F32, 3, dim, RIG_SLICED, 2),
                      gamma = rig_tensor_eighths(OP_TYPE_F32, 1, channels, RIG_DENSE, 3),
                      beta = rig_tensor_eighths(OP_TYPE_F32, 1, channels, RIG_DENSE, 4),
                      mean = rig_tensor_make(OP_TYPE_F32, 2, sums, RIG_DENSE, 5),
                      rstd = rig_tensor_make(OP_TYPE_F32, 2, sums, RIG_DENSE, 6),
                      dx = rig_tensor_make(OP_TYPE_F32, 3, dim, RIG_DENSE, 7),
                      dgamma = rig_tensor_make(OP_TYPE_F32, 1, channels, RIG_DENSE, 8),
                      dbeta = rig_tensor_make(OP_TYPE_F32, 1, channels, RIG_DENSE, 9);
    const struct normal m = moments(&x);
    for (int g = 0; g < N * GROUPS; g++) {
        rig_put_d(rig_tensor_at(&mean, g), OP_TYPE_F32, m.mean[g]);
        rig_put_d(rig_tensor_at(&rstd, g), OP_TYPE_F32, m.rstd[g]);
    }
    rig_tensor_put(&mean);
    rig_tensor_put(&rstd);
    static char format[] = "NCHW";
    const union op_test_arg args[] = {
        {.tensor = dy.acl},     {.tensor = mean.acl}, {.tensor = rstd.acl}, {.tensor = x.acl},
        {.tensor = gamma.acl},  {.tensor = beta.acl}, {.integer = GROUPS},  {.text = format},
        {.real = 1.5},          {.integer = 1},       {.integer = 1},       {.tensor = dx.acl},
        {.tensor = dgamma.acl}, {.tensor = dbeta.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("GroupNormSwishGrad"), args, true), 0);
    rig_tensor_take(&dx);
    rig_tensor_take(&dgamma);
    rig_tensor_take(&dbeta);
    double by_gamma[C] = {0}, by_beta[C] = {0};
    for (int g = 0; g < N * GROUPS; g++) {
        double all = 0, along = 0, of[EACH * INNER], hat[EACH * INNER];
        for (int k = 0; k < EACH * INNER; k++) {
            const int64_t i = g * EACH * INNER + k, c = i / INNER % C;
            hat[k] = (at(&x, i) - m.mean[g]) * m.rstd[g];
            const double d = slope(&dy, hat[k], at(&gamma, c), at(&beta, c), i);
            by_gamma[c] += d * hat[k];
            by_beta[c] += d;
            of[k] = d * at(&gamma, c);
            all += of[k];
            along += of[k] * hat[k];
        }
        for (int k = 0; k < EACH * INNER; k++) {
            expect_near(at(&dx, g * EACH * INNER + k),
                        m.rstd[g] * (of[k] - (all + hat[k] * along) / (EACH * INNER)));
        }
    }
    for (int c = 0; c < C; c++) {
        expect_near(at(&dgamma, c), by_gamma[c]);
        expect_near(at(&dbeta, c), by_beta[c]);
    }
    struct rig_tensor *all[] = {&x, &dy, &gamma, &beta, &mean, &rstd, &dx, &dgamma, &dbeta};
    free_all(all, 9);
}

static void heads_stand_apart(void)
{
    enum { B = 2, T = 3, H = 2, D = 4 };
    const int64_t dim[] = {B, T, 3 * H * D}, bias_dim[] = {3 * H * D}, out_dim[] = {B, H, T, D};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, dim, RIG_PERMUTED, 1),
                      bias = rig_tensor_eighths(OP_TYPE_F32, 1, bias_dim, RIG_DENSE, 2), out[3];
    for (unsigned i = 0; i < 3; i++) {
        out[i] = rig_tensor_make(OP_TYPE_F32, 4, out_dim, RIG_DENSE, i);
    }
    union op_test_arg args[] = {{.tensor = x.acl},      {.tensor = bias.acl},
                                {.integer = H},         {.tensor = out[0].acl},
                                {.tensor = out[1].acl}, {.tensor = out[2].acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("TransformBiasRescaleQkv"), args, true), 0);
    for (unsigned i = 0; i < 3; i++) {
        rig_tensor_take(&out[i]);
        for (int64_t k = 0; k < B * H * T * D; k++) {
            const int64_t b = k / (H * T * D), h = k / (T * D) % H, t = k / D % T,
                          column = (i * H + h) * D + k % D;
            const double sum = at(&x, (b * T + t) * 3 * H * D + column) + at(&bias, column);
            expect_near(at(&out[i], k), i == 0 ? sum / 2 : sum);
        }
    }
    args[2].integer = 5;
    CU_ASSERT_EQUAL(rig_run(rig_row("TransformBiasRescaleQkv"), args, false), 161002);
    struct rig_tensor *all[] = {&x, &bias, &out[0], &out[1], &out[2]};
    free_all(all, 5);
}

/* ---- convolution over time ---- */

enum { LENGTH = 6, BATCH = 2, IN = 3, OUT = 4, KERNEL = 3, PAD = 1 };

/* x and dy where they meet: time and tap. */
static int64_t time_of(int64_t t, int64_t tap)
{
    return t + tap - PAD;
}

static void time_is_the_first_dimension(void)
{
    const int64_t x_dim[] = {LENGTH, BATCH, IN}, w_dim[] = {KERNEL, IN, OUT}, b_dim[] = {OUT},
                  y_dim[] = {LENGTH, BATCH, OUT};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, x_dim, RIG_PERMUTED, 1),
                      w = rig_tensor_eighths(OP_TYPE_F32, 3, w_dim, RIG_DENSE, 2),
                      b = rig_tensor_eighths(OP_TYPE_F32, 1, b_dim, RIG_DENSE, 3),
                      y = rig_tensor_make(OP_TYPE_F32, 3, y_dim, RIG_DENSE, 4),
                      dy = rig_tensor_eighths(OP_TYPE_F32, 3, y_dim, RIG_SLICED, 5),
                      dx = rig_tensor_make(OP_TYPE_F32, 3, x_dim, RIG_DENSE, 6),
                      dw = rig_tensor_make(OP_TYPE_F32, 3, w_dim, RIG_DENSE, 7),
                      db = rig_tensor_make(OP_TYPE_F32, 1, b_dim, RIG_DENSE, 8);
    const int64_t math = rig_chip() == 0;
    const union op_test_arg forward[] = {{.tensor = x.acl}, {.tensor = w.acl}, {.tensor = b.acl},
                                         {.integer = PAD},  {.tensor = y.acl}, {.integer = math}};
    const union op_test_arg backward[] = {
        {.tensor = dy.acl}, {.tensor = x.acl},  {.tensor = w.acl},
        {.tensor = b.acl},  {.integer = PAD},   {.integer = math},
        {.tensor = dx.acl}, {.tensor = dw.acl}, {.tensor = db.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("ConvTbc"), forward, true), 0);
    CU_ASSERT_EQUAL(rig_run(rig_row("ConvTbcBackward"), backward, true), 0);
    rig_tensor_take(&y);
    rig_tensor_take(&dx);
    rig_tensor_take(&dw);
    rig_tensor_take(&db);
    double want_y[LENGTH * BATCH * OUT],
        want_dx[LENGTH * BATCH * IN] = {0}, want_dw[KERNEL * IN * OUT] = {0}, want_db[OUT] = {0};
    for (int64_t i = 0; i < LENGTH * BATCH * OUT; i++) {
        const int64_t o = i % OUT, n = i / OUT % BATCH, t = i / OUT / BATCH;
        want_y[i] = at(&b, o);
        want_db[o] += at(&dy, i);
        for (int64_t k = 0; k < KERNEL * IN; k++) {
            const int64_t from = time_of(t, k / IN), place = (from * BATCH + n) * IN + k % IN;
            if (from >= 0 && from < LENGTH) {
                want_y[i] += at(&x, place) * at(&w, k * OUT + o);
                want_dx[place] += at(&dy, i) * at(&w, k * OUT + o);
                want_dw[k * OUT + o] += at(&dy, i) * at(&x, place);
            }
        }
    }
    for (int64_t i = 0; i < LENGTH * BATCH * OUT; i++) {
        expect_near(at(&y, i), want_y[i]);
    }
    for (int64_t i = 0; i < LENGTH * BATCH * IN; i++) {
        expect_near(at(&dx, i), want_dx[i]);
    }
    for (int64_t i = 0; i < KERNEL * IN * OUT; i++) {
        expect_near(at(&dw, i), want_dw[i]);
    }
    for (int64_t i = 0; i < OUT; i++) {
        expect_near(at(&db, i), want_db[i]);
    }
    struct rig_tensor *all[] = {&x, &w, &b, &y, &dy, &dx, &dw, &db};
    free_all(all, 8);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"gates_have_limits", gates_have_limits},
        {"masks_scale", masks_scale},
        {"swish_over_groups_has_gradients", swish_over_groups_has_gradients},
        {"heads_stand_apart", heads_stand_apart},
        {"time_is_the_first_dimension", time_is_the_first_dimension},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_gates", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
