/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MaxPool2dWithMask and its gradient against a search on the host: windows at every border, NaN,
 * infinities and equal elements, channels that do not fill groups. Gradients are multiples of 1/8,
 * whose sums are exact.
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
                      mask = rig_tensor_make(OP_TYPE_I8, 4, mask_dim, RIG_DENSE, 5);
    double *want_y = calloc((size_t)(planes * outs), sizeof(double)),
           *want_dx = calloc((size_t)(planes * ins), sizeof(double));
    rig_tensor_put(&mask);
    for (int64_t i = 0; i < planes * outs; i++) {
        const int64_t plane = i / outs,
                      from = find_largest(p, &x, plane, i % outs / p->out[1], i % p->out[1]);
        want_y[i] = at(&x, plane * ins + from);
        want_dx[plane * ins + from] += at(&g, i);
    }
    aclIntArray *kernel = aclCreateIntArray(p->kernel, 2),
                *stride = aclCreateIntArray(p->stride, 2), *pad = aclCreateIntArray(p->pad, 2),
                *dilation = aclCreateIntArray(p->dilation, 2);
    const union op_test_arg forward[] = {
        {.tensor = x.acl},  {.ints = kernel},     {.ints = stride},  {.ints = pad},
        {.ints = dilation}, {.integer = p->ceil}, {.tensor = y.acl}, {.tensor = mask.acl}};
    const union op_test_arg backward[] = {
        {.tensor = g.acl},  {.tensor = x.acl},    {.tensor = mask.acl},
        {.ints = kernel},   {.ints = stride},     {.ints = pad},
        {.ints = dilation}, {.integer = p->ceil}, {.tensor = dx.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("MaxPool2dWithMask"), forward, true), 0);
    expect(&y, want_y, "MaxPool2dWithMask");
    CU_ASSERT_EQUAL(rig_run(rig_row("MaxPool2dWithMaskBackward"), backward, true), 0);
    expect(&dx, want_dx, "MaxPool2dWithMaskBackward");
    aclDestroyIntArray(kernel);
    aclDestroyIntArray(stride);
    aclDestroyIntArray(pad);
    aclDestroyIntArray(dilation);
    free(want_y);
    free(want_dx);
    struct rig_tensor *all[] = {&x, &g, &y, &dx, &mask};
    for (unsigned i = 0; i < 5; i++) {
        rig_tensor_free(all[i]);
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
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pool p = cases[i];
        for (unsigned d = 0; d < 2; d++) {
            const int64_t room = p.size[d] + 2 * p.pad[d] - p.dilation[d] * (p.kernel[d] - 1) - 1;
            p.out[d] = (room + (p.ceil ? p.stride[d] - 1 : 0)) / p.stride[d] + 1;
            if (p.ceil && (p.out[d] - 1) * p.stride[d] >= p.size[d] + p.pad[d]) {
                p.out[d]--;
            }
        }
        for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
            run_pool(&p, types[t], RIG_DENSE);
            run_pool(&p, types[t], RIG_PERMUTED);
        }
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"max_pool_largest_elements_and_their_gradients", largest_elements_and_their_gradients},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_max_pool", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
