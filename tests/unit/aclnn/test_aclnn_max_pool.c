/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooling in two dimensions and its gradients against a search on the host: windows at every
 * border, NaN, infinities and equal elements, channels that do not fill groups. Gradients are
 * multiples of 1/8, whose sums are exact.
 */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct pool {
    int64_t n, c, size[2], kernel[2], stride[2], pad[2], dilation[2];
    bool ceil;
    int64_t out[2];
};

static double at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_d(rig_tensor_at(tensor, index), tensor->type);
}

/* Few different numbers, so that windows have equal ones; now and then a special one. */
static struct rig_tensor make(enum op_type type, const int64_t *dim, enum rig_layout layout,
                              uint64_t seed, bool special)
{
    struct rig_tensor tensor = rig_tensor_make(type, 4, dim, layout, seed);
    const int64_t count = rig_tensor_count(&tensor);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t random = rig_random(&seed);
        double value = ((double)(random % 17) - 8) / 8;
        if (special && random % 19 == 3) {
            value = random % 3 == 0 ? NAN : -INFINITY;
        }
        rig_put_d(rig_tensor_at(&tensor, i), type, value);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

/* Position of a window's largest element in its plane: the first of equal ones, the last NaN. */
static int64_t find_largest(const struct pool *p, const struct rig_tensor *x, int64_t plane,
                            int64_t row, int64_t column)
{
    double best = -INFINITY;
    int64_t found = -1;
    for (int64_t k = 0; k < p->kernel[0] * p->kernel[1]; k++) {
        const int64_t h = row * p->stride[0] - p->pad[0] + k / p->kernel[1] * p->dilation[0],
                      w = column * p->stride[1] - p->pad[1] + k % p->kernel[1] * p->dilation[1];
        if (h < 0 || w < 0 || h >= p->size[0] || w >= p->size[1]) {
            continue;
        }
        const int64_t here = h * p->size[1] + w;
        const double value = at(x, plane * p->size[0] * p->size[1] + here);
        if (found < 0 || value > best || isnan(value)) {
            best = value;
            found = here;
        }
    }
    return found;
}

/* Results come from f32: the first generation has no infinities in f16 then. */
static double in_type(double want, enum op_type type)
{
    if (rig_chip() != 0 || type != OP_TYPE_F16 || isfinite(want)) {
        return want;
    }
    return isnan(want) ? 0 : copysign(65504, want);
}

static void expect(struct rig_tensor *out, const double *wants, const char *what)
{
    const int64_t count = rig_tensor_count(out);
    int64_t wrong = 0;
    rig_tensor_take(out);
    for (int64_t i = 0; i < count; i++) {
        const double got = at(out, i), want = in_type(wants[i], out->type);
        if (!(got == want || (isnan(got) && isnan(want)))) {
            if (wrong++ == 0) {
                fprintf(stderr, "%s, %s: element %lld is %g, expected %g\n", what,
                        rig_type_name(out->type), (long long)i, got, want);
            }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* The arrays of a call. */
struct windows {
    aclIntArray *kernel, *stride, *pad, *dilation;
};

static struct windows make_windows(const struct pool *p)
{
    return (struct windows){aclCreateIntArray(p->kernel, 2), aclCreateIntArray(p->stride, 2),
                            aclCreateIntArray(p->pad, 2), aclCreateIntArray(p->dilation, 2)};
}

static void free_windows(const struct windows *w)
{
    aclDestroyIntArray(w->kernel);
    aclDestroyIntArray(w->stride);
    aclDestroyIntArray(w->pad);
    aclDestroyIntArray(w->dilation);
}

/* `mask` is private to the pair, or indices that `want_at` tells. */
static void run_pair(const char *name, const struct pool *p, const struct rig_tensor *x,
                     const struct rig_tensor *g, struct rig_tensor *y, struct rig_tensor *dx,
                     struct rig_tensor *mask, const double *want_y, const double *want_dx,
                     const double *want_at)
{
    char backward_name[64];
    const struct windows w = make_windows(p);
    const union op_test_arg forward[] = {
        {.tensor = x->acl},   {.ints = w.kernel},   {.ints = w.stride}, {.ints = w.pad},
        {.ints = w.dilation}, {.integer = p->ceil}, {.tensor = y->acl}, {.tensor = mask->acl}};
    const union op_test_arg backward[] = {
        {.tensor = g->acl},   {.tensor = x->acl},   {.tensor = mask->acl},
        {.ints = w.kernel},   {.ints = w.stride},   {.ints = w.pad},
        {.ints = w.dilation}, {.integer = p->ceil}, {.tensor = dx->acl}};
    snprintf(backward_name, sizeof(backward_name), "%sBackward", name);
    CU_ASSERT_EQUAL(rig_run(rig_row(name), forward, true), 0);
    expect(y, want_y, name);
    if (want_at) {
        expect(mask, want_at, "indices");
    }
    CU_ASSERT_EQUAL(rig_run(rig_row(backward_name), backward, true), 0);
    expect(dx, want_dx, backward_name);
    free_windows(&w);
}

static void run_pool(const struct pool *p, enum op_type type, enum rig_layout layout)
{
    const int64_t outs = p->out[0] * p->out[1], ins = p->size[0] * p->size[1], planes = p->n * p->c;
    const int64_t x_dim[] = {p->n, p->c, p->size[0], p->size[1]},
                  y_dim[] = {p->n, p->c, p->out[0], p->out[1]},
                  mask_dim[] = {p->n, p->c, p->kernel[0] * p->kernel[1],
                                ((outs + 15) / 16 + 1) * 32};
    struct rig_tensor x = make(type, x_dim, layout, 1, true),
                      g = make(type, y_dim, layout, 2, false),
                      y = make(type, y_dim, RIG_SLICED, 3, false),
                      dx = make(type, x_dim, RIG_DENSE, 4, false),
                      mask = rig_tensor_make(OP_TYPE_I8, 4, mask_dim, RIG_DENSE, 5),
                      index = rig_tensor_make(layout == RIG_DENSE ? OP_TYPE_I32 : OP_TYPE_I64, 4,
                                              y_dim, RIG_DENSE, 6);
    double *want_y = calloc((size_t)(planes * outs), sizeof(double)),
           *want_dx = calloc((size_t)(planes * ins), sizeof(double)),
           *want_at = calloc((size_t)(planes * outs), sizeof(double));
    rig_tensor_put(&mask);
    rig_tensor_put(&index);
    for (int64_t i = 0; i < planes * outs; i++) {
        const int64_t plane = i / outs,
                      from = find_largest(p, &x, plane, i % outs / p->out[1], i % p->out[1]);
        want_y[i] = at(&x, plane * ins + from);
        want_dx[plane * ins + from] += at(&g, i);
        want_at[i] = (double)from;
    }
    run_pair("MaxPool2dWithMask", p, &x, &g, &y, &dx, &mask, want_y, want_dx, NULL);
    run_pair("MaxPool2dWithIndices", p, &x, &g, &y, &dx, &index, want_y, want_dx, want_at);
    free(want_at);
    rig_tensor_free(&index);
    free(want_y);
    free(want_dx);
    struct rig_tensor *all[] = {&x, &g, &y, &dx, &mask};
    for (unsigned i = 0; i < 5; i++) {
        rig_tensor_free(all[i]);
    }
}

/* How many elements of window `o` an average counts along dimension d. */
static int64_t counted(const struct pool *p, unsigned d, int64_t o, bool count_pad)
{
    const int64_t begin = o * p->stride[d] - p->pad[d], end = begin + p->kernel[d],
                  last = p->size[d] + (count_pad ? p->pad[d] : 0);
    return (end < last ? end : last) - (begin < 0 && !count_pad ? 0 : begin);
}

/* Within a few roundings of f32 and one of the type. */
static void expect_near(struct rig_tensor *out, const double *wants, const char *what)
{
    const double ulp = out->type == OP_TYPE_F32   ? 0x1p-22
                       : out->type == OP_TYPE_F16 ? 0x1p-11
                                                  : 0x1p-8;
    int64_t wrong = 0;
    rig_tensor_take(out);
    for (int64_t i = 0; i < rig_tensor_count(out); i++) {
        if (!(fabs(at(out, i) - wants[i]) <= fabs(wants[i]) * ulp + 0x1p-20) && wrong++ == 0) {
            fprintf(stderr, "%s, %s: element %lld is %g, expected %g\n", what,
                    rig_type_name(out->type), (long long)i, at(out, i), wants[i]);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void run_average(const struct pool *p, enum op_type type, enum rig_layout layout,
                        bool count_pad, int64_t divisor)
{
    const int64_t outs = p->out[0] * p->out[1], ins = p->size[0] * p->size[1], planes = p->n * p->c;
    const int64_t x_dim[] = {p->n, p->c, p->size[0], p->size[1]},
                  y_dim[] = {p->n, p->c, p->out[0], p->out[1]};
    struct rig_tensor x = make(type, x_dim, layout, 1, false),
                      g = make(type, y_dim, layout, 2, false),
                      y = make(type, y_dim, RIG_SLICED, 3, false),
                      dx = make(type, x_dim, RIG_DENSE, 4, false);
    double *want_y = calloc((size_t)(planes * outs), sizeof(double)),
           *want_dx = calloc((size_t)(planes * ins), sizeof(double));
    for (int64_t i = 0; i < planes * outs; i++) {
        const int64_t o[] = {i % outs / p->out[1], i % p->out[1]}, plane = i / outs;
        const double by =
            divisor ? (double)divisor
                    : (double)(counted(p, 0, o[0], count_pad) * counted(p, 1, o[1], count_pad));
        for (int64_t k = 0; k < p->kernel[0] * p->kernel[1]; k++) {
            const int64_t h = o[0] * p->stride[0] - p->pad[0] + k / p->kernel[1],
                          w = o[1] * p->stride[1] - p->pad[1] + k % p->kernel[1];
            if (h >= 0 && w >= 0 && h < p->size[0] && w < p->size[1]) {
                want_y[i] += at(&x, plane * ins + h * p->size[1] + w) / by;
                want_dx[plane * ins + h * p->size[1] + w] += at(&g, i) / by;
            }
        }
    }
    const struct windows w = make_windows(p);
    const union op_test_arg forward[] = {
        {.tensor = x.acl},    {.ints = w.kernel},   {.ints = w.stride},
        {.ints = w.pad},      {.integer = p->ceil}, {.integer = count_pad},
        {.integer = divisor}, {.integer = 0},       {.tensor = y.acl}};
    const union op_test_arg backward[] = {
        {.tensor = g.acl}, {.tensor = x.acl},    {.ints = w.kernel},     {.ints = w.stride},
        {.ints = w.pad},   {.integer = p->ceil}, {.integer = count_pad}, {.integer = divisor},
        {.integer = 0},    {.tensor = dx.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("AvgPool2d"), forward, true), 0);
    expect_near(&y, want_y, "AvgPool2d");
    CU_ASSERT_EQUAL(rig_run(rig_row("AvgPool2dBackward"), backward, true), 0);
    expect_near(&dx, want_dx, "AvgPool2dBackward");
    free_windows(&w);
    free(want_y);
    free(want_dx);
    struct rig_tensor *all[] = {&x, &g, &y, &dx};
    for (unsigned i = 0; i < 4; i++) {
        rig_tensor_free(all[i]);
    }
}

static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};

static void infer(struct pool *p)
{
    for (unsigned d = 0; d < 2; d++) {
        const int64_t room = p->size[d] + 2 * p->pad[d] - p->dilation[d] * (p->kernel[d] - 1) - 1;
        p->out[d] = (room + (p->ceil ? p->stride[d] - 1 : 0)) / p->stride[d] + 1;
        if (p->ceil && (p->out[d] - 1) * p->stride[d] >= p->size[d] + p->pad[d]) {
            p->out[d]--;
        }
    }
}

static void averages_and_their_gradients(void)
{
    static const struct pool cases[] = {
        {2, 16, {13, 12}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false, {0, 0}},
        {1, 3, {8, 8}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false, {0, 0}}, // the scalar unit's
        {2, 19, {7, 33}, {3, 4}, {1, 3}, {1, 2}, {1, 1}, true, {0, 0}},
        {1, 8, {70, 150}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true, {0, 0}}, // several pieces
        {3, 40, {7, 7}, {7, 7}, {7, 7}, {0, 0}, {1, 1}, false, {0, 0}},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pool p = cases[i];
        infer(&p);
        for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
            run_average(&p, types[t], RIG_DENSE, true, 0);
            run_average(&p, types[t], RIG_PERMUTED, false, 0);
            run_average(&p, types[t], RIG_DENSE, false, 5);
        }
    }
}

static void largest_elements_and_their_gradients(void)
{
    // images, channels, size, kernel, stride, padding, dilation, ceilMode
    static const struct pool cases[] = {
        {2, 16, {13, 12}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false, {0, 0}},
        {1, 3, {8, 8}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false, {0, 0}}, // the scalar unit's
        {2, 19, {7, 33}, {3, 4}, {1, 3}, {1, 2}, {1, 1}, true, {0, 0}},
        {1, 8, {9, 10}, {2, 3}, {2, 1}, {1, 1}, {2, 3}, false, {0, 0}},
        {1, 8, {70, 150}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false, {0, 0}}, // several pieces
        {1, 17, {5, 5}, {5, 5}, {1, 1}, {2, 2}, {1, 1}, false, {0, 0}},
        {1, 9, {6, 6}, {1, 2}, {3, 4}, {0, 0}, {1, 1}, false, {0, 0}}, // rows without windows
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pool p = cases[i];
        infer(&p);
        for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
            run_pool(&p, types[t], RIG_DENSE);
            run_pool(&p, types[t], RIG_PERMUTED);
        }
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"max_pool_averages_and_their_gradients", averages_and_their_gradients},
        {"max_pool_largest_elements_and_their_gradients", largest_elements_and_their_gradients},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_max_pool", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
