/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations of sums, with activations and by other names (compose/fused.c), and their
 * gradients: against double on the host, over rows that are no whole blocks, strides, no rows. */
#include "rig_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A few hundred f32 operations; 1 / deviation is as large as 316 where all of a row is one value.
static const struct rig_bound norm_bound = {.of_largest = 1e-5, .at_all = 1e-6, .roundings = 1},
                              gradient_bound = {.of_largest = 2e-5, .at_all = 1e-5, .roundings = 1},
                              exact = {0};

static const double eps = 1e-3;

/* ---- rows ---- */

enum { ROW_RANK = 3 };

struct rows {
    int64_t dim[ROW_RANK]; // rows in the first, elements of a row in the others
    int64_t count, length;
    enum op_type type;
    enum rig_layout layout;
};

// Mean (0 for a root of squares) and 1 / deviation of each row.
static void measure(const struct rows *rows, const double *x, bool about_zero, double *mean,
                    double *inverse)
{
    const double n = (double)rows->length;
    for (int64_t r = 0; r < rows->count; r++) {
        const double *row = x + r * rows->length;
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < rows->length && !about_zero; i++) {
            sum += row[i];
        }
        for (int64_t i = 0; i < rows->length; i++) {
            squares += (row[i] - sum / n) * (row[i] - sum / n);
        }
        mean[r] = sum / n;
        inverse[r] = 1 / sqrt(squares / n + eps);
    }
}

// Of rows at x: out = (x - mean) * inverse * (gamma + more) + beta.
static void normalise(const struct rows *rows, const double *x, const double *mean,
                      const double *inverse, const struct rig_tensor *gamma, double more,
                      const struct rig_tensor *beta, double *out)
{
    for (int64_t i = 0; i < rows->count * rows->length; i++) {
        const int64_t r = i / rows->length, c = i % rows->length;
        out[i] = (x[i] - mean[r]) * inverse[r] * (gamma ? rig_values_at(gamma, c) + more : 1) +
                 (beta ? rig_values_at(beta, c) : 0);
    }
}

// factor * a + b as the type keeps it: the sum is made once.
static double *sum_of(const struct rig_tensor *a, double factor, const struct rig_tensor *b)
{
    double *sum = rig_values_zeros(rig_tensor_count(a));
    for (int64_t i = 0; i < rig_tensor_count(a); i++) {
        sum[i] = rig_values_round(factor * rig_values_at(a, i) + rig_values_at(b, i), a->type);
    }
    return sum;
}

static struct rig_tensor make(const struct rows *rows, enum rig_layout layout, uint64_t seed)
{
    return rig_values_make(rows->type, ROW_RANK, rows->dim, layout, seed);
}

static struct rig_tensor make_weight(const struct rows *rows, uint64_t seed)
{
    return rig_values_make(rows->type, ROW_RANK - 1, rows->dim + 1, RIG_DENSE, seed);
}

static struct rig_tensor make_statistic(const struct rows *rows, uint64_t seed)
{
    const int64_t dim[ROW_RANK] = {rows->dim[0], 1, 1};
    return rig_values_make(OP_TYPE_F32, ROW_RANK, dim, RIG_DENSE, seed);
}

static void add_rms_in_place(const struct rows *rows)
{
    struct rig_tensor t[] = {make(rows, rows->layout, 1), make(rows, RIG_SLICED, 2),
                             make_weight(rows, 3), make_statistic(rows, 4)};
    double *v[] = {sum_of(&t[0], 1, &t[1]), rig_values_zeros(rows->count),
                   rig_values_zeros(rows->count), rig_values_zeros(rows->count * rows->length)};
    measure(rows, v[0], true, v[1], v[2]);
    normalise(rows, v[0], v[1], v[2], &t[2], 0, NULL, v[3]);
    const union op_test_arg args[] = {{.tensor = t[0].acl},
                                      {.tensor = t[1].acl},
                                      {.tensor = t[2].acl},
                                      {.real = eps},
                                      {.tensor = t[3].acl}};
    rig_run_finite(rig_row("InplaceAddRmsNorm"), args);
    rig_values_expect(&t[1], v[0], exact, "InplaceAddRmsNorm's x2");
    rig_values_expect(&t[0], v[3], norm_bound, "InplaceAddRmsNorm's x1");
    rig_values_expect(&t[3], v[2], norm_bound, "InplaceAddRmsNorm's rstd");
    rig_values_free(t, 4, v, 4);
}

static void gemma(const struct rows *rows)
{
    struct rig_tensor t[] = {make(rows, rows->layout, 1), make_weight(rows, 2),
                             make(rows, RIG_SLICED, 3), make_statistic(rows, 4)};
    double *v[] = {rig_values_zeros(rows->count * rows->length), rig_values_zeros(rows->count),
                   rig_values_zeros(rows->count), rig_values_zeros(rows->count * rows->length)};
    for (int64_t i = 0; i < rig_tensor_count(&t[0]); i++) {
        v[0][i] = rig_values_at(&t[0], i);
    }
    measure(rows, v[0], true, v[1], v[2]);
    normalise(rows, v[0], v[1], v[2], &t[1], 1, NULL, v[3]);
    const union op_test_arg args[] = {{.tensor = t[0].acl},
                                      {.tensor = t[1].acl},
                                      {.real = eps},
                                      {.tensor = t[2].acl},
                                      {.tensor = t[3].acl}};
    rig_run_finite(rig_row("GemmaRmsNorm"), args);
    rig_values_expect(&t[2], v[3], norm_bound, "GemmaRmsNorm's y");
    rig_values_expect(&t[3], v[2], norm_bound, "GemmaRmsNorm's rstd");
    rig_values_free(t, 4, v, 4);
}

// Each of weight, bias, mean and 1 / deviation is given or NULL.
static void layer_by_other_names(const struct rows *rows, unsigned given)
{
    struct rig_tensor t[] = {make(rows, rows->layout, 1), make_weight(rows, 2),
                             make_weight(rows, 3),        make(rows, RIG_SLICED, 4),
                             make_statistic(rows, 5),     make_statistic(rows, 6)};
    double *v[] = {rig_values_zeros(rows->count * rows->length), rig_values_zeros(rows->count),
                   rig_values_zeros(rows->count), rig_values_zeros(rows->count * rows->length)};
    for (int64_t i = 0; i < rig_tensor_count(&t[0]); i++) {
        v[0][i] = rig_values_at(&t[0], i);
    }
    measure(rows, v[0], false, v[1], v[2]);
    normalise(rows, v[0], v[1], v[2], given & 1 ? &t[1] : NULL, 0, given & 2 ? &t[2] : NULL, v[3]);
    aclIntArray *shape = aclCreateIntArray(rows->dim + 1, ROW_RANK - 1);
    for (int mode = -1; mode < 3; mode++) {
        const union op_test_arg args[] = {{.tensor = t[0].acl},
                                          {.ints = shape},
                                          {.tensor = given & 1 ? t[1].acl : NULL},
                                          {.tensor = given & 2 ? t[2].acl : NULL},
                                          {.real = eps},
                                          {.tensor = t[3].acl},
                                          {.tensor = given & 4 ? t[4].acl : NULL},
                                          {.tensor = given & 8 ? t[5].acl : NULL},
                                          {.integer = mode}};
        rig_run_finite(rig_row(mode < 0 ? "FastLayerNorm" : "LayerNormWithImplMode"), args);
        rig_values_expect(&t[3], v[3], norm_bound, "layer norm by another name");
        if (given & 4) {
            rig_values_expect(&t[4], v[1], norm_bound, "its mean");
        }
        if (given & 8) {
            rig_values_expect(&t[5], v[2], norm_bound, "its 1 / deviation");
        }
    }
    aclDestroyIntArray(shape);
    rig_values_free(t, 6, v, 4);
}

static void deep(const struct rows *rows, double alpha)
{
    struct rig_tensor t[] = {make(rows, rows->layout, 1), make(rows, RIG_SLICED, 2),
                             make_weight(rows, 3),        make_weight(rows, 4),
                             make_statistic(rows, 5),     make_statistic(rows, 6),
                             make(rows, RIG_PERMUTED, 7)};
    double *v[] = {sum_of(&t[0], alpha, &t[1]), rig_values_zeros(rows->count),
                   rig_values_zeros(rows->count), rig_values_zeros(rows->count * rows->length)};
    measure(rows, v[0], false, v[1], v[2]);
    normalise(rows, v[0], v[1], v[2], &t[3], 0, &t[2], v[3]);
    const union op_test_arg args[] = {
        {.tensor = t[0].acl}, {.tensor = t[1].acl}, {.tensor = t[2].acl},
        {.tensor = t[3].acl}, {.real = alpha},      {.real = eps},
        {.tensor = t[4].acl}, {.tensor = t[5].acl}, {.tensor = t[6].acl}};
    rig_run_finite(rig_row("DeepNorm"), args);
    rig_values_expect(&t[6], v[3], norm_bound, "DeepNorm's y");
    rig_values_expect(&t[4], v[1], norm_bound, "DeepNorm's mean");
    rig_values_expect(&t[5], v[2], norm_bound, "DeepNorm's rstd");
    rig_values_free(t, 7, v, 4);
}

/* Gradients of rows of a sum, by the mean and 1 / deviation that are given. */
enum { DY, A, B, MEAN, INVERSE, GAMMA, DSUM, DX, DGX, DGAMMA, DBETA, GRADIENT_TENSORS };

static void gradients_of(const struct rows *rows, const struct rig_tensor *t, const double *sum,
                         double *dx, double *dgamma, double *dbeta)
{
    const double n = (double)rows->length;
    for (int64_t r = 0; r < rows->count; r++) {
        const double mean = rig_values_at(&t[MEAN], r), inverse = rig_values_at(&t[INVERSE], r);
        double first = 0, second = 0;
        for (int64_t c = 0; c < rows->length; c++) {
            const int64_t i = r * rows->length + c;
            const double g = rig_values_at(&t[DY], i), hat = (sum[i] - mean) * inverse;
            first += g * rig_values_at(&t[GAMMA], c) / n;
            second += g * rig_values_at(&t[GAMMA], c) * hat / n;
            dgamma[c] += g * hat;
            dbeta[c] += g;
        }
        for (int64_t c = 0; c < rows->length; c++) {
            const int64_t i = r * rows->length + c;
            const double g = rig_values_at(&t[DY], i), hat = (sum[i] - mean) * inverse;
            dx[i] = inverse * (g * rig_values_at(&t[GAMMA], c) - first - hat * second);
        }
    }
}

static void gradients(const struct rows *rows, bool is_deep, double alpha, bool more)
{
    const int64_t count = rows->count * rows->length;
    struct rig_tensor t[GRADIENT_TENSORS];
    for (unsigned i = 0; i < GRADIENT_TENSORS; i++) {
        t[i] = i == MEAN || i == INVERSE                 ? make_statistic(rows, i + 1)
               : i == GAMMA || i == DGAMMA || i == DBETA ? make_weight(rows, i + 1)
               : i == A || i == DY                       ? make(rows, rows->layout, i + 1)
                                                         : make(rows, RIG_SLICED, i + 1);
    }
    double *v[] = {sum_of(&t[A], alpha, &t[B]),    rig_values_zeros(rows->count),
                   rig_values_zeros(rows->count),  rig_values_zeros(count),
                   rig_values_zeros(rows->length), rig_values_zeros(rows->length)};
    measure(rows, v[0], false, v[1], v[2]);
    for (int64_t r = 0; r < rows->count; r++) {
        rig_put_d(rig_tensor_at(&t[MEAN], r), OP_TYPE_F32, v[1][r]);
        rig_put_d(rig_tensor_at(&t[INVERSE], r), OP_TYPE_F32, v[2][r]);
    }
    rig_tensor_put(&t[MEAN]);
    rig_tensor_put(&t[INVERSE]);
    gradients_of(rows, t, v[0], v[3], v[4], v[5]);
    const union op_test_arg layer_args[] = {{.tensor = t[DY].acl},
                                            {.tensor = t[A].acl},
                                            {.tensor = t[B].acl},
                                            {.tensor = t[INVERSE].acl},
                                            {.tensor = t[MEAN].acl},
                                            {.tensor = t[GAMMA].acl},
                                            {.tensor = more ? t[DSUM].acl : NULL},
                                            {.tensor = t[DX].acl},
                                            {.tensor = t[DGAMMA].acl},
                                            {.tensor = t[DBETA].acl}};
    const union op_test_arg deep_args[] = {
        {.tensor = t[DY].acl},    {.tensor = t[A].acl},     {.tensor = t[B].acl},
        {.tensor = t[GAMMA].acl}, {.tensor = t[MEAN].acl},  {.tensor = t[INVERSE].acl},
        {.real = alpha},          {.tensor = t[DX].acl},    {.tensor = t[DGX].acl},
        {.tensor = t[DBETA].acl}, {.tensor = t[DGAMMA].acl}};
    rig_run_finite(rig_row(is_deep ? "DeepNormGrad" : "AddLayerNormGrad"),
                   is_deep ? deep_args : layer_args);
    if (is_deep) {
        rig_values_expect(&t[DGX], v[3], gradient_bound, "DeepNormGrad's dgx");
    }
    for (int64_t i = 0; i < count; i++) {
        v[3][i] = v[3][i] * alpha + (more ? rig_values_at(&t[DSUM], i) : 0);
    }
    const char *name = is_deep ? "DeepNormGrad" : "AddLayerNormGrad";
    rig_values_expect(&t[DX], v[3], gradient_bound, name);
    rig_values_expect(&t[DGAMMA], v[4], gradient_bound, name);
    rig_values_expect(&t[DBETA], v[5], gradient_bound, name);
    rig_values_free(t, GRADIENT_TENSORS, v, 6);
}

static void each_type_and_shape(void (*run)(const struct rows *rows))
{
    static const int64_t dims[][ROW_RANK] = {{1, 1, 1}, {3, 1, 1},   {2, 1, 15},
                                             {3, 4, 4}, {5, 1, 17},  {2, 131, 1},
                                             {0, 3, 5}, {37, 2, 29}, {1, 3, 683}};
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned s = 0; s < sizeof(dims) / sizeof(dims[0]); s++) {
        for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
            struct rows rows = {.count = dims[s][0],
                                .length = dims[s][1] * dims[s][2],
                                .type = types[t],
                                .layout = (s + t) % 2 ? RIG_PERMUTED : RIG_DENSE};
            memcpy(rows.dim, dims[s], sizeof(rows.dim));
            run(&rows);
        }
    }
}

static void each_of_rows(const struct rows *rows)
{
    add_rms_in_place(rows);
    gemma(rows);
    layer_by_other_names(rows, 15);
    layer_by_other_names(rows, (unsigned)rows->length % 15);
    deep(rows, 1);
    deep(rows, 0.75);
}

static void each_gradient(const struct rows *rows)
{
    gradients(rows, false, 1, false);
    gradients(rows, false, 1, true);
    gradients(rows, true, 1, false);
    gradients(rows, true, 0.75, false);
}

static void norms_equal_double(void)
{
    each_type_and_shape(each_of_rows);
}

static void gradients_equal_double(void)
{
    each_type_and_shape(each_gradient);
}

/* ---- groups of channels ---- */

struct groups {
    unsigned rank;
    int64_t dim[4], groups;
};

enum { X, WEIGHT, BIAS, OUT, GROUP_MEAN, GROUP_INVERSE, GROUP_TENSORS };

// activation: 0 none, else the scale in x * sigmoid(scale * x).
static void compute_groups(const struct groups *shape, const struct rig_tensor *t, bool weighted,
                           double activation, double *out, double *mean, double *inverse)
{
    const int64_t count = rig_tensor_count(&t[X]), sets = shape->dim[0] * shape->groups,
                  each = sets ? count / sets : 0,
                  plane = each ? each * shape->groups / shape->dim[1] : 0;
    for (int64_t set = 0; set < sets; set++) {
        double squares = 0;
        for (int64_t i = set * each; i < (set + 1) * each; i++) {
            mean[set] += rig_values_at(&t[X], i) / (double)each;
        }
        for (int64_t i = set * each; i < (set + 1) * each; i++) {
            squares += pow(rig_values_at(&t[X], i) - mean[set], 2) / (double)each;
        }
        inverse[set] = 1 / sqrt(squares + eps);
        for (int64_t i = set * each; i < (set + 1) * each; i++) {
            const int64_t c = i / plane % shape->dim[1];
            const double hat = (rig_values_at(&t[X], i) - mean[set]) * inverse[set],
                         y = weighted
                                 ? hat * rig_values_at(&t[WEIGHT], c) + rig_values_at(&t[BIAS], c)
                                 : hat;
            out[i] = activation != 0 ? y / (1 + exp(-activation * y)) : y;
        }
    }
}

static void run_groups(const struct groups *shape, enum op_type type, enum op_type statistics,
                       enum rig_layout layout, bool weighted)
{
    const int64_t sets[] = {shape->dim[0], shape->groups};
    struct rig_tensor t[GROUP_TENSORS] = {
        rig_values_make(type, shape->rank, shape->dim, layout, 1),
        rig_values_make(type, 1, shape->dim + 1, RIG_DENSE, 2),
        rig_values_make(type, 1, shape->dim + 1, RIG_DENSE, 3),
        rig_values_make(type, shape->rank, shape->dim, RIG_SLICED, 4),
        rig_values_make(statistics, 2, sets, RIG_DENSE, 5),
        rig_values_make(statistics, 2, sets, RIG_DENSE, 6)};
    static const struct {
        const char *row;
        bool active;
        double scale;
    } calls[] = {{"GroupNormSilu", true, 1},    {"GroupNormSiluV2", true, 1},
                 {"GroupNormSiluV2", false, 0}, {"GroupNormSwish", true, 1},
                 {"GroupNormSwish", true, 1.5}, {"GroupNormSwish", false, 2}};
    aclTensor *gamma = weighted ? t[WEIGHT].acl : NULL, *beta = weighted ? t[BIAS].acl : NULL;
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const union op_test_arg silu[] = {{.tensor = t[X].acl},
                                          {.tensor = gamma},
                                          {.tensor = beta},
                                          {.integer = shape->groups},
                                          {.real = eps},
                                          {.tensor = t[OUT].acl},
                                          {.tensor = t[GROUP_MEAN].acl},
                                          {.tensor = t[GROUP_INVERSE].acl}},
                                silu2[] = {silu[0], silu[1], silu[2],
                                           silu[3], silu[4], {.integer = calls[i].active},
                                           silu[5], silu[6], silu[7]},
                                swish[] = {silu[0],
                                           silu[1],
                                           silu[2],
                                           silu[3],
                                           {.text = NULL},
                                           silu[4],
                                           {.integer = calls[i].active},
                                           {.real = calls[i].scale},
                                           silu[5],
                                           silu[6],
                                           silu[7]};
        double *v[] = {rig_values_zeros(rig_tensor_count(&t[X])),
                       rig_values_zeros(sets[0] * sets[1]), rig_values_zeros(sets[0] * sets[1])};
        compute_groups(shape, t, weighted, calls[i].active ? calls[i].scale : 0, v[0], v[1], v[2]);
        rig_run_finite(rig_row(calls[i].row), i == 0 ? silu : i < 3 ? silu2 : swish);
        rig_values_expect(&t[OUT], v[0], norm_bound, calls[i].row);
        rig_values_expect(&t[GROUP_MEAN], v[1], norm_bound, calls[i].row);
        rig_values_expect(&t[GROUP_INVERSE], v[2], norm_bound, calls[i].row);
        rig_values_free(t, 0, v, 3);
    }
    rig_values_free(t, GROUP_TENSORS, NULL, 0);
}

static void groups_with_activations_equal_double(void)
{
    static const struct groups shapes[] = {
        {2, {1, 1}, 1},       {2, {3, 6}, 3},        {3, {2, 6, 15}, 2},
        {4, {2, 4, 4, 4}, 4}, {3, {1, 32, 17}, 32},  {4, {2, 6, 131, 1}, 1},
        {3, {0, 6, 5}, 2},    {4, {3, 15, 1, 1}, 5}, {4, {2, 12, 9, 31}, 3}};
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
            run_groups(&shapes[s], types[t], OP_TYPE_F32, s % 2 ? RIG_PERMUTED : RIG_DENSE, true);
            run_groups(&shapes[s], types[t], types[t], RIG_SLICED, s % 2);
        }
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"fused_norms_equal_double", norms_equal_double},
        {"fused_norms_gradients_equal_double", gradients_equal_double},
        {"groups_with_activations_equal_double", groups_with_activations_equal_double},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_fused_norms", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
