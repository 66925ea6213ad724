/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm in training, layer norm, and their gradients against double on the host: rows of every
 * way (scalar unit, several a tile, in pieces), lengths that are no whole blocks. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_d(rig_tensor_at(tensor, index), tensor->type);
}

static struct rig_tensor make(enum op_type type, unsigned rank, const int64_t *dim,
                              enum rig_layout layout, uint64_t seed)
{
    struct rig_tensor tensor = rig_tensor_make(type, rank, dim, layout, seed);
    for (int64_t i = 0; i < rig_tensor_count(&tensor); i++) {
        rig_put_d(rig_tensor_at(&tensor, i), type, (double)(rig_random(&seed) % 401) / 200 - 0.5);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

/* Errors of f32 sums and of the saved mean, which counts once for each element, relative to the
 * largest result, and the rounding to the type. */
static void expect(struct rig_tensor *out, const double *want, const char *what)
{
    const double ulp = out->type == OP_TYPE_F16 ? 0x1p-10 : out->type == OP_TYPE_BF16 ? 0x1p-7 : 0;
    double largest = 0;
    int64_t wrong = 0;
    rig_tensor_take(out);
    for (int64_t i = 0; i < rig_tensor_count(out); i++) {
        largest = fmax(largest, fabs(want[i]));
    }
    for (int64_t i = 0; i < rig_tensor_count(out); i++) {
        if (!(fabs(at(out, i) - want[i]) <= largest * 1e-5 + fabs(want[i]) * ulp + 1e-6)) {
            if (wrong++ == 0) {
                fprintf(stderr, "%s, %s: element %lld is %.9g, expected %.9g\n", what,
                        rig_type_name(out->type), (long long)i, at(out, i), want[i]);
            }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Element i belongs to set i / inner % sets (normalised together) and has weight i / span %
 * weights. */
struct shape {
    int64_t count, inner, sets, span, weights;
};

struct wanted {
    double *y, *dx, *dw, *db, *mean, *inverse;
};

static double *zeros(int64_t count)
{
    return calloc((size_t)count, sizeof(double));
}

static struct wanted compute(const struct shape *s, const struct rig_tensor *x,
                             const struct rig_tensor *w, const struct rig_tensor *b,
                             const struct rig_tensor *g, double eps)
{
    struct wanted v = {zeros(s->count),   zeros(s->count), zeros(s->weights),
                       zeros(s->weights), zeros(s->sets),  zeros(s->sets)};
    double *square = zeros(s->sets), *sum = zeros(s->sets), *product = zeros(s->sets);
    const double n = (double)s->count / (double)s->sets;
    for (int64_t i = 0; i < s->count; i++) {
        v.mean[i / s->inner % s->sets] += at(x, i) / n;
    }
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t set = i / s->inner % s->sets;
        square[set] += pow(at(x, i) - v.mean[set], 2) / n;
    }
    for (int64_t set = 0; set < s->sets; set++) {
        v.inverse[set] = 1 / sqrt(square[set] + eps);
    }
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t set = i / s->inner % s->sets, k = i / s->span % s->weights;
        const double hat = (at(x, i) - v.mean[set]) * v.inverse[set];
        v.y[i] = hat * at(w, k) + at(b, k);
        v.dw[k] += at(g, i) * hat;
        v.db[k] += at(g, i);
        sum[set] += at(g, i) * at(w, k);
        product[set] += at(g, i) * at(w, k) * hat;
    }
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t set = i / s->inner % s->sets, k = i / s->span % s->weights;
        const double hat = (at(x, i) - v.mean[set]) * v.inverse[set];
        v.dx[i] = v.inverse[set] * (at(g, i) * at(w, k) - sum[set] / n - hat * product[set] / n);
    }
    free(square);
    free(sum);
    free(product);
    return v;
}

static void end(struct wanted *v, struct rig_tensor *tensors, unsigned count)
{
    double *all[] = {v->y, v->dx, v->dw, v->db, v->mean, v->inverse};
    for (unsigned i = 0; i < 6; i++) {
        free(all[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        rig_tensor_free(&tensors[i]);
    }
}

enum { IN, WEIGHT, BIAS, GRADIENT, OUT, MEAN, INVERSE, DX, DW, DB, TENSORS };

static const bool mask[] = {true, true, true};

static void run_batch(int64_t images, int64_t channels, int64_t length, enum op_type type,
                      enum rig_layout layout)
{
    const int64_t dim[] = {images, channels, length}, *one = &dim[1];
    struct rig_tensor t[TENSORS] = {
        make(type, 3, dim, layout, 1),           make(OP_TYPE_F32, 1, one, RIG_DENSE, 2),
        make(OP_TYPE_F32, 1, one, RIG_DENSE, 3), make(type, 3, dim, layout, 4),
        make(type, 3, dim, RIG_SLICED, 5),       make(OP_TYPE_F32, 1, one, RIG_DENSE, 6),
        make(OP_TYPE_F32, 1, one, RIG_DENSE, 7), make(type, 3, dim, RIG_DENSE, 8),
        make(OP_TYPE_F32, 1, one, RIG_DENSE, 9), make(OP_TYPE_F32, 1, one, RIG_DENSE, 10)};
    const struct shape shape = {images * channels * length, length, channels, length, channels};
    struct wanted v = compute(&shape, &t[IN], &t[WEIGHT], &t[BIAS], &t[GRADIENT], 1e-5);
    aclBoolArray *wanted = aclCreateBoolArray(mask, 3);
    const union op_test_arg forward[] = {{.tensor = t[IN].acl},
                                         {.tensor = t[WEIGHT].acl},
                                         {.tensor = t[BIAS].acl},
                                         {.tensor = NULL},
                                         {.tensor = NULL},
                                         {.integer = 1},
                                         {.real = 0.1},
                                         {.real = 1e-5},
                                         {.tensor = t[OUT].acl},
                                         {.tensor = t[MEAN].acl},
                                         {.tensor = t[INVERSE].acl}};
    rig_run_finite(rig_row("BatchNorm"), forward);
    expect(&t[OUT], v.y, "BatchNorm");
    expect(&t[MEAN], v.mean, "saveMean");
    const union op_test_arg backward[] = {{.tensor = t[GRADIENT].acl},
                                          {.tensor = t[IN].acl},
                                          {.tensor = t[WEIGHT].acl},
                                          {.tensor = NULL},
                                          {.tensor = NULL},
                                          {.tensor = t[MEAN].acl},
                                          {.tensor = t[INVERSE].acl},
                                          {.integer = 1},
                                          {.real = 1e-5},
                                          {.bools = wanted},
                                          {.tensor = t[DX].acl},
                                          {.tensor = t[DW].acl},
                                          {.tensor = t[DB].acl}};
    rig_run_finite(rig_row("BatchNormBackward"), backward);
    expect(&t[DX], v.dx, "BatchNorm's gradInput");
    expect(&t[DW], v.dw, "BatchNorm's gradWeight");
    expect(&t[DB], v.db, "BatchNorm's gradBias");
    aclDestroyBoolArray(wanted);
    end(&v, t, TENSORS);
}

static double variance_of(const struct wanted *v, int64_t channel)
{
    return 1 / (v->inverse[channel] * v->inverse[channel]) - 1e-5;
}

static double unbiased_of(const struct wanted *v, int64_t channel, const int64_t *dim)
{
    const double n = (double)(dim[0] * dim[2]);
    return variance_of(v, channel) * n / (n - 1);
}

/* Data far from zero, running statistics, evaluation, and the parts of several devices. */
static void run_statistics(int64_t images, int64_t channels, int64_t length, enum op_type type)
{
    enum { RUNNING_MEAN = TENSORS, RUNNING_VARIANCE, STATISTICS };
    const int64_t dim[] = {images, channels, length}, *one = &dim[1], scalar = 1;
    struct rig_tensor t[STATISTICS], counter = make(OP_TYPE_I32, 1, &scalar, RIG_DENSE, 1);
    for (unsigned i = 0; i < STATISTICS; i++) {
        const bool map = i == IN || i == GRADIENT || i == OUT || i == DX;
        t[i] = make(map ? type : OP_TYPE_F32, map ? 3 : 1, map ? dim : one, RIG_DENSE, i + 1);
    }
    for (int64_t i = 0; i < rig_tensor_count(&t[IN]); i++) {
        rig_put_d(rig_tensor_at(&t[IN], i), type, at(&t[IN], i) + 30);
    }
    rig_tensor_put(&t[IN]);
    rig_put_d(rig_tensor_at(&counter, 0), OP_TYPE_I32, (double)(images * length));
    rig_tensor_put(&counter);
    const struct shape shape = {images * channels * length, length, channels, length, channels};
    struct wanted v = compute(&shape, &t[IN], &t[WEIGHT], &t[BIAS], &t[GRADIENT], 1e-5);
    double *mean = zeros(channels), *variance = zeros(channels);
    for (int64_t c = 0; c < channels; c++) {
        mean[c] = 0.75 * at(&t[RUNNING_MEAN], c) + 0.25 * v.mean[c];
        variance[c] = 0.75 * at(&t[RUNNING_VARIANCE], c) + 0.25 * unbiased_of(&v, c, dim);
    }
    const union op_test_arg forward[] = {{.tensor = t[IN].acl},
                                         {.tensor = t[WEIGHT].acl},
                                         {.tensor = t[BIAS].acl},
                                         {.tensor = t[RUNNING_MEAN].acl},
                                         {.tensor = t[RUNNING_VARIANCE].acl},
                                         {.integer = 1},
                                         {.real = 0.25},
                                         {.real = 1e-5},
                                         {.tensor = t[OUT].acl},
                                         {.tensor = t[MEAN].acl},
                                         {.tensor = t[INVERSE].acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("BatchNorm"), forward, true), 0);
    expect(&t[OUT], v.y, "BatchNorm far from zero");
    expect(&t[RUNNING_MEAN], mean, "runningMean");
    expect(&t[RUNNING_VARIANCE], variance, "runningVar");
    for (int64_t c = 0; c < channels; c++) {
        rig_put_d(rig_tensor_at(&t[RUNNING_MEAN], c), OP_TYPE_F32, v.mean[c]);
        rig_put_d(rig_tensor_at(&t[RUNNING_VARIANCE], c), OP_TYPE_F32, variance_of(&v, c));
    }
    rig_tensor_put(&t[RUNNING_MEAN]);
    rig_tensor_put(&t[RUNNING_VARIANCE]);
    union op_test_arg evaluation[11];
    memcpy(evaluation, forward, sizeof(forward));
    evaluation[5].integer = 0;
    CU_ASSERT_EQUAL(rig_run(rig_row("BatchNorm"), evaluation, true), 0);
    expect(&t[OUT], v.y, "BatchNorm in evaluation");
    const union op_test_arg stats[] = {
        {.tensor = t[IN].acl}, {.real = 1e-5}, {.tensor = t[MEAN].acl}, {.tensor = t[INVERSE].acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("BatchNormStats"), stats, true), 0);
    expect(&t[MEAN], v.mean, "BatchNormStats' mean");
    expect(&t[INVERSE], v.inverse, "BatchNormStats' invstd");
    const union op_test_arg elements[] = {{.tensor = t[IN].acl},      {.tensor = t[WEIGHT].acl},
                                          {.tensor = t[BIAS].acl},    {.tensor = t[MEAN].acl},
                                          {.tensor = t[INVERSE].acl}, {.real = 1e-5},
                                          {.tensor = t[OUT].acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("BatchNormElemt"), elements, true), 0);
    expect(&t[OUT], v.y, "BatchNormElemt");
    // Sums of the gradient times distances from the mean as it is given, in f32.
    memset(v.dw, 0, (size_t)channels * sizeof(*v.dw));
    for (int64_t i = 0; i < shape.count; i++) {
        const int64_t c = i / length % channels;
        v.dw[c] += at(&t[GRADIENT], i) * (at(&t[IN], i) - at(&t[MEAN], c)) * at(&t[INVERSE], c);
    }
    const union op_test_arg reduce[] = {{.tensor = t[GRADIENT].acl},
                                        {.tensor = t[IN].acl},
                                        {.tensor = t[MEAN].acl},
                                        {.tensor = t[INVERSE].acl},
                                        {.tensor = t[WEIGHT].acl},
                                        {.integer = 1},
                                        {.integer = 1},
                                        {.integer = 1},
                                        {.tensor = t[RUNNING_MEAN].acl},
                                        {.tensor = t[RUNNING_VARIANCE].acl},
                                        {.tensor = t[DW].acl},
                                        {.tensor = t[DB].acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("BatchNormReduceBackward"), reduce, true), 0);
    expect(&t[DW], v.dw, "BatchNormReduceBackward's gradWeight");
    expect(&t[DB], v.db, "BatchNormReduceBackward's gradBias");
    const union op_test_arg gradient[] = {{.tensor = t[GRADIENT].acl},
                                          {.tensor = t[IN].acl},
                                          {.tensor = t[MEAN].acl},
                                          {.tensor = t[INVERSE].acl},
                                          {.tensor = t[WEIGHT].acl},
                                          {.tensor = t[RUNNING_MEAN].acl},
                                          {.tensor = t[RUNNING_VARIANCE].acl},
                                          {.tensor = counter.acl},
                                          {.tensor = t[DX].acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("BatchNormElemtBackward"), gradient, true), 0);
    expect(&t[DX], v.dx, "BatchNormElemtBackward");
    free(mean);
    free(variance);
    rig_tensor_free(&counter);
    end(&v, t, STATISTICS);
}

static void run_layer(int64_t rows, int64_t length, enum op_type type, enum rig_layout layout)
{
    const int64_t dim[] = {rows, length}, per_row[] = {rows, 1}, *one = &dim[1];
    struct rig_tensor t[TENSORS] = {make(type, 2, dim, layout, 1),
                                    make(type, 1, one, RIG_DENSE, 2),
                                    make(type, 1, one, RIG_DENSE, 3),
                                    make(type, 2, dim, layout, 4),
                                    make(type, 2, dim, RIG_SLICED, 5),
                                    make(OP_TYPE_F32, 2, per_row, RIG_DENSE, 6),
                                    make(OP_TYPE_F32, 2, per_row, RIG_DENSE, 7),
                                    make(type, 2, dim, RIG_DENSE, 8),
                                    make(type, 1, one, RIG_DENSE, 9),
                                    make(type, 1, one, RIG_DENSE, 10)};
    const struct shape shape = {rows * length, length, rows, 1, length};
    struct wanted v = compute(&shape, &t[IN], &t[WEIGHT], &t[BIAS], &t[GRADIENT], 1e-5);
    aclIntArray *normalised = aclCreateIntArray(one, 1);
    aclBoolArray *wanted = aclCreateBoolArray(mask, 3);
    const union op_test_arg forward[] = {{.tensor = t[IN].acl},
                                         {.ints = normalised},
                                         {.tensor = t[WEIGHT].acl},
                                         {.tensor = t[BIAS].acl},
                                         {.real = 1e-5},
                                         {.tensor = t[OUT].acl},
                                         {.tensor = t[MEAN].acl},
                                         {.tensor = t[INVERSE].acl}};
    rig_run_finite(rig_row("LayerNorm"), forward);
    expect(&t[OUT], v.y, "LayerNorm");
    expect(&t[INVERSE], v.inverse, "rstdOut");
    const union op_test_arg backward[] = {
        {.tensor = t[GRADIENT].acl}, {.tensor = t[IN].acl},      {.ints = normalised},
        {.tensor = t[MEAN].acl},     {.tensor = t[INVERSE].acl}, {.tensor = t[WEIGHT].acl},
        {.tensor = t[BIAS].acl},     {.bools = wanted},          {.tensor = t[DX].acl},
        {.tensor = t[DW].acl},       {.tensor = t[DB].acl}};
    rig_run_finite(rig_row("LayerNormBackward"), backward);
    expect(&t[DX], v.dx, "LayerNorm's gradInput");
    expect(&t[DW], v.dw, "LayerNorm's gradWeight");
    expect(&t[DB], v.db, "LayerNorm's gradBias");
    aclDestroyIntArray(normalised);
    aclDestroyBoolArray(wanted);
    end(&v, t, TENSORS);
}

static void run_group(int64_t images, int64_t channels, int64_t length, int64_t groups,
                      enum op_type type, enum rig_layout layout)
{
    const int64_t dim[] = {images, channels, length}, per_group[] = {images, groups},
                  *one = &dim[1];
    struct rig_tensor t[TENSORS] = {make(type, 3, dim, layout, 1),
                                    make(type, 1, one, RIG_DENSE, 2),
                                    make(type, 1, one, RIG_DENSE, 3),
                                    make(type, 3, dim, layout, 4),
                                    make(type, 3, dim, RIG_SLICED, 5),
                                    make(OP_TYPE_F32, 2, per_group, RIG_DENSE, 6),
                                    make(OP_TYPE_F32, 2, per_group, RIG_DENSE, 7),
                                    make(type, 3, dim, RIG_DENSE, 8),
                                    make(type, 1, one, RIG_DENSE, 9),
                                    make(type, 1, one, RIG_DENSE, 10)};
    const struct shape shape = {images * channels * length, channels / groups * length,
                                images * groups, length, channels};
    struct wanted v = compute(&shape, &t[IN], &t[WEIGHT], &t[BIAS], &t[GRADIENT], 1e-5);
    aclBoolArray *wanted = aclCreateBoolArray(mask, 3);
    const union op_test_arg forward[] = {{.tensor = t[IN].acl},     {.tensor = t[WEIGHT].acl},
                                         {.tensor = t[BIAS].acl},   {.integer = images},
                                         {.integer = channels},     {.integer = length},
                                         {.integer = groups},       {.real = 1e-5},
                                         {.tensor = t[OUT].acl},    {.tensor = t[MEAN].acl},
                                         {.tensor = t[INVERSE].acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("GroupNorm"), forward, true), 0);
    expect(&t[OUT], v.y, "GroupNorm");
    expect(&t[MEAN], v.mean, "GroupNorm's meanOut");
    expect(&t[INVERSE], v.inverse, "GroupNorm's rstdOut");
    const union op_test_arg backward[] = {
        {.tensor = t[GRADIENT].acl}, {.tensor = t[IN].acl},     {.tensor = t[MEAN].acl},
        {.tensor = t[INVERSE].acl},  {.tensor = t[WEIGHT].acl}, {.integer = images},
        {.integer = channels},       {.integer = length},       {.integer = groups},
        {.bools = wanted},           {.tensor = t[DX].acl},     {.tensor = t[DW].acl},
        {.tensor = t[DB].acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("GroupNormBackward"), backward, true), 0);
    expect(&t[DX], v.dx, "GroupNorm's gradInput");
    expect(&t[DW], v.dw, "GroupNorm's gradGammaOut");
    expect(&t[DB], v.db, "GroupNorm's gradBetaOut");
    aclDestroyBoolArray(wanted);
    end(&v, t, TENSORS);
}

/* Root mean square norm: y = x inverse w, dx = inverse (g w - x inverse^2 mean(g w x)). */
static void compute_root(struct rig_tensor *t, double *dx, double *dw)
{
    const int64_t rows = t[IN].dim[0], length = t[IN].dim[1];
    for (int64_t r = 0; r < rows; r++) {
        double squares = 0, products = 0;
        for (int64_t i = 0; i < length; i++) {
            const double x = at(&t[IN], r * length + i);
            squares += x * x;
            products += at(&t[GRADIENT], r * length + i) * at(&t[WEIGHT], i) * x;
        }
        const double inverse = 1 / sqrt(squares / (double)length + 1e-5);
        rig_put_d(rig_tensor_at(&t[INVERSE], r), OP_TYPE_F32, inverse);
        for (int64_t i = 0; i < length; i++) {
            const double x = at(&t[IN], r * length + i), g = at(&t[GRADIENT], r * length + i);
            dx[r * length + i] = inverse * (g * at(&t[WEIGHT], i) -
                                            x * inverse * inverse * products / (double)length);
            dw[i] += g * x * inverse;
        }
    }
    rig_tensor_put(&t[INVERSE]);
}

static void run_root(int64_t rows, int64_t length, enum op_type type)
{
    const int64_t dim[] = {rows, length}, per_row[] = {rows, 1}, *one = &dim[1];
    struct rig_tensor t[TENSORS] = {[IN] = make(type, 2, dim, RIG_DENSE, 1),
                                    [WEIGHT] = make(type, 1, one, RIG_DENSE, 2),
                                    [GRADIENT] = make(type, 2, dim, RIG_DENSE, 4),
                                    [INVERSE] = make(OP_TYPE_F32, 2, per_row, RIG_DENSE, 7),
                                    [DX] = make(type, 2, dim, RIG_DENSE, 8),
                                    [DW] = make(OP_TYPE_F32, 1, one, RIG_DENSE, 9)};
    double *dx = calloc((size_t)(rows * length), sizeof(*dx)),
           *dw = calloc((size_t)length, sizeof(*dw));
    compute_root(t, dx, dw);
    const union op_test_arg backward[] = {{.tensor = t[GRADIENT].acl}, {.tensor = t[IN].acl},
                                          {.tensor = t[INVERSE].acl},  {.tensor = t[WEIGHT].acl},
                                          {.tensor = t[DX].acl},       {.tensor = t[DW].acl}};
    rig_run_finite(rig_row("RmsNormGrad"), backward);
    expect(&t[DX], dx, "RmsNorm's dx");
    expect(&t[DW], dw, "RmsNorm's dgamma");
    free(dx);
    free(dw);
    for (unsigned i = 0; i < TENSORS; i++) {
        if (t[i].acl) {
            rig_tensor_free(&t[i]);
        }
    }
}

static void norms_and_gradients_equal_double(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned t = 0; t < (rig_chip() == 1 ? 3 : 2); t++) {
        for (int layout = RIG_DENSE; layout <= RIG_PERMUTED; layout += RIG_PERMUTED - RIG_DENSE) {
            run_batch(3, 20, 49, types[t], (enum rig_layout)layout);
            run_batch(2, 70, 16, types[t], (enum rig_layout)layout);
            run_layer(70, 40, types[t], (enum rig_layout)layout);
        }
        run_group(3, 24, 48, 4, types[t], RIG_DENSE);
        run_group(2, 32, 196, 32, types[t], RIG_PERMUTED);
        run_group(2, 6, 3000, 1, types[t], RIG_DENSE);
        run_group(9, 256, 196, 32, types[t], RIG_DENSE);
        run_group(2, 12, 7, 3, types[t], RIG_DENSE); // planes too short to be lanes
        run_batch(5, 3, 7, types[t], RIG_DENSE);
        run_batch(2, 2, 4000, types[t], RIG_DENSE);
        run_batch(1, 200, 784, types[t], RIG_DENSE);
        run_layer(9, 333, types[t], RIG_DENSE);
        run_layer(700, 7, types[t], RIG_DENSE); // rows of less than a block
        run_layer(33, 1, types[t], RIG_DENSE);
        run_root(130, 3, types[t]);
        run_layer(3, 2600, types[t], RIG_DENSE);
        run_layer(70, 4096, types[t], RIG_DENSE); // the longest whose gradients are one pass
        run_layer(2, 4112, types[t], RIG_DENSE);
        run_root(70, 40, types[t]);
        run_root(9, 333, types[t]);
        run_root(130, 1024, types[t]);
        run_layer(33, 7168, types[t], RIG_DENSE); // the longest that stays in UB
        run_layer(2, 7184, types[t], RIG_DENSE);
    }
    run_batch(7, 64, 49, OP_TYPE_F16, RIG_DENSE);   // groups of 32, whose rows are whole lines
    run_batch(3, 24, 1500, OP_TYPE_F16, RIG_DENSE); // pieces of planes
    run_batch(20, 8, 1600, OP_TYPE_F16, RIG_DENSE); // a group alone: many chunks of it
    run_batch(2, 2100, 16, OP_TYPE_F16, RIG_DENSE); // the last group is not whole
    run_layer(20000, 24, OP_TYPE_F16, RIG_DENSE);   // more rows a core than statistics wait in UB
}

/* Rows of one value, the rounding of whose sum is more than eps allows, between others. */
static void run_constant(int64_t rows, int64_t length, enum op_type type, double value)
{
    const int64_t dim[] = {rows, length}, per_row[] = {rows, 1}, *one = &dim[1];
    struct rig_tensor in = make(type, 2, dim, RIG_DENSE, 1), out = make(type, 2, dim, RIG_DENSE, 2),
                      mean = make(OP_TYPE_F32, 2, per_row, RIG_DENSE, 3),
                      inverse = make(OP_TYPE_F32, 2, per_row, RIG_DENSE, 4);
    for (int64_t i = 0; i < rows * length; i++) {
        if (i / length % 3 != 1) {
            rig_put_d(rig_tensor_at(&in, i), type, i / length % 3 ? -value : value);
        }
    }
    rig_tensor_put(&in);
    aclIntArray *normalised = aclCreateIntArray(one, 1);
    const union op_test_arg args[] = {
        {.tensor = in.acl}, {.ints = normalised}, {.tensor = NULL},     {.tensor = NULL},
        {.real = 1e-5},     {.tensor = out.acl},  {.tensor = mean.acl}, {.tensor = inverse.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("LayerNorm"), args, true), 0);
    rig_tensor_take(&out);
    rig_tensor_take(&mean);
    rig_tensor_take(&inverse);
    for (int64_t r = 0; r < rows; r++) {
        double largest = 0;
        for (int64_t i = r * length; i < (r + 1) * length; i++) {
            largest = fmax(largest, fabs(at(&out, i)));
        }
        if (r % 3 == 1) {
            CU_ASSERT(largest > 1 && largest < 3);
            continue;
        }
        CU_ASSERT(largest < 1e-6);
        CU_ASSERT_EQUAL(at(&mean, r), at(&in, r * length));
        CU_ASSERT_DOUBLE_EQUAL(at(&inverse, r), 1 / sqrt(1e-5), 1e-3);
    }
    aclDestroyIntArray(normalised);
    struct rig_tensor *const all[] = {&in, &out, &mean, &inverse};
    for (unsigned i = 0; i < 4; i++) {
        rig_tensor_free(all[i]);
    }
}

static void rows_of_one_value_give_zero(void)
{
    static const int64_t lengths[] = {7, 40, 333, 1000, 4099, 7168, 7184, 50000};
    static const float values[] = {0.1f, 30000.1f, 12345678.9f, 3.3e12f, 7.7e18f};
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        for (unsigned k = 0; k < sizeof(values) / sizeof(*values); k++) {
            run_constant(lengths[i] < 1000 ? 150 : 5, lengths[i], OP_TYPE_F32, (double)values[k]);
        }
        run_constant(5, lengths[i], OP_TYPE_F16, 60000);
        if (rig_chip() == 1) {
            run_constant(5, lengths[i], OP_TYPE_BF16, 0x1.86p30);
        }
    }
}

static void parts_of_batch_norm_equal_double(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned t = 0; t < (rig_chip() == 1 ? 3 : 2); t++) {
        run_statistics(3, 20, 49, types[t]);
        run_statistics(4, 5, 3, types[t]);
        run_statistics(4, 40, 196, types[t]);
        run_statistics(2, 6, 3136, types[t]);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"parts_of_batch_norm_equal_double", parts_of_batch_norm_equal_double},
        {"rows_of_one_value_give_zero", rows_of_one_value_give_zero},
        {"norms_and_gradients_equal_double", norms_and_gradients_equal_double},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_norm", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
