/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices and convolutions against sums in double on the host, over layouts, groups
 * and shapes that are no multiples of anything. Inputs are multiples of 1/8 in [-1, 1], which every
 * type holds exactly, so that only the rounding of sums and of the result differs: f32 sums of at
 * most a few hundred products of such numbers are exact, too.
 */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_d(rig_tensor_at(tensor, index), tensor->type);
}

/* Results are the sums rounded to their type: half a unit of its last place. */
static void expect(struct rig_tensor *out, const double *want, const char *what)
{
    static const double ulp[] = {
        [OP_TYPE_F32] = 0x1p-24, [OP_TYPE_F16] = 0x1p-11, [OP_TYPE_BF16] = 0x1p-8};
    const int64_t count = rig_tensor_count(out);
    int64_t wrong = 0;
    rig_tensor_take(out);
    for (int64_t i = 0; i < count; i++) {
        if (!(fabs(at(out, i) - want[i]) <= fabs(want[i]) * ulp[out->type])) {
            if (wrong++ == 0) {
                fprintf(stderr, "%s, %s: element %lld is %g, expected %g\n", what,
                        rig_type_name(out->type), (long long)i, at(out, i), want[i]);
            }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};

static unsigned type_count(void)
{
    return rig_chip() == 0 ? 2 : 3; // no bf16 on 910A
}

/* In which a chip is to multiply f32: 910A in f16, 910B1 as it is. */
static int64_t cube_math(void)
{
    return rig_chip() == 0 ? 1 : 0;
}

static void run_matmul(enum op_type type, int64_t batch, int64_t m, int64_t k, int64_t n,
                       enum rig_layout layout)
{
    const int64_t a_dim[] = {batch, m, k}, b_dim[] = {batch, k, n}, out_dim[] = {batch, m, n};
    struct rig_tensor a = rig_tensor_eighths(type, 3, a_dim, layout, 1),
                      b = rig_tensor_eighths(type, 3, b_dim, layout, 2),
                      out = rig_tensor_eighths(type, 3, out_dim, RIG_DENSE, 3);
    double *want = calloc((size_t)(batch * m * n), sizeof(*want));
    for (int64_t i = 0; i < batch * m * n; i++) {
        const int64_t row = i / n, first = row / m * k * n + i % n;
        for (int64_t j = 0; j < k; j++) {
            want[i] += at(&a, row * k + j) * at(&b, first + j * n);
        }
    }
    const union op_test_arg args[] = {
        {.tensor = a.acl}, {.tensor = b.acl}, {.tensor = out.acl}, {.integer = cube_math()}};
    rig_run_finite(rig_row("BatchMatMul"), args);
    expect(&out, want, "BatchMatMul");
    free(want);
    rig_tensor_free(&a);
    rig_tensor_free(&b);
    rig_tensor_free(&out);
}

static void products_equal_sums_in_double(void)
{
    static const int64_t shapes[][4] = {{1, 1, 1, 1},     {2, 15, 17, 16}, {3, 16, 32, 33},
                                        {1, 130, 70, 19}, {5, 1, 64, 3},   {2, 7, 300, 1}};
    for (unsigned t = 0; t < type_count(); t++) {
        for (unsigned s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
            for (int layout = 0; layout < RIG_LAYOUTS; layout++) {
                run_matmul(types[t], shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3],
                           (enum rig_layout)layout);
            }
        }
    }
}

/* A convolution of two dimensions. */
struct conv {
    int64_t n, groups, xc, yc; /* channels in a group */
    int64_t size[2], kernel[2], stride[2], pad[2], dilation[2];
    int64_t out[2];
};

typedef void (*each_fn)(void *user, int64_t x, int64_t w, int64_t y);

/* Every product of the convolution: indices of its input, weight and output elements. */
static void for_each_product(const struct conv *c, each_fn fn, void *user)
{
    const int64_t kernels = c->kernel[0] * c->kernel[1], outs = c->out[0] * c->out[1];
    const int64_t channels = c->groups * c->yc;
    for (int64_t i = 0; i < c->n * channels * outs * c->xc * kernels; i++) {
        const int64_t k = i % kernels, ci = i / kernels % c->xc, y = i / kernels / c->xc;
        const int64_t co = y / outs % channels, image = y / outs / channels;
        const int64_t row =
            y % outs / c->out[1] * c->stride[0] - c->pad[0] + k / c->kernel[1] * c->dilation[0];
        const int64_t column =
            y % c->out[1] * c->stride[1] - c->pad[1] + k % c->kernel[1] * c->dilation[1];
        if (row >= 0 && row < c->size[0] && column >= 0 && column < c->size[1]) {
            const int64_t plane = image * c->groups * c->xc + co / c->yc * c->xc + ci;
            fn(user, (plane * c->size[0] + row) * c->size[1] + column,
               (co * c->xc + ci) * kernels + k, y);
        }
    }
}

struct sums {
    double *x, *w, *g;
    double *y, *dx, *dw;
};

static void add_product(void *user, int64_t x, int64_t w, int64_t y)
{
    const struct sums *s = user;
    s->y[y] += s->x[x] * s->w[w];
    s->dx[x] += s->g[y] * s->w[w];
    s->dw[w] += s->g[y] * s->x[x];
}

static double *numbers_of(const struct rig_tensor *tensor)
{
    const int64_t count = rig_tensor_count(tensor);
    double *numbers = calloc((size_t)count, sizeof(*numbers));
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = at(tensor, i);
    }
    return numbers;
}

static void run_convolution(const struct conv *c, enum op_type type, enum rig_layout layout)
{
    const int64_t x_dim[] = {c->n, c->groups * c->xc, c->size[0], c->size[1]},
                  w_dim[] = {c->groups * c->yc, c->xc, c->kernel[0], c->kernel[1]},
                  y_dim[] = {c->n, c->groups * c->yc, c->out[0], c->out[1]}, zeros[] = {0, 0};
    struct rig_tensor x = rig_tensor_eighths(type, 4, x_dim, layout, 1),
                      w = rig_tensor_eighths(type, 4, w_dim, layout, 2),
                      g = rig_tensor_eighths(type, 4, y_dim, layout, 3),
                      y = rig_tensor_eighths(type, 4, y_dim, RIG_DENSE, 4),
                      dx = rig_tensor_eighths(type, 4, x_dim, RIG_SLICED, 5),
                      dw = rig_tensor_eighths(type, 4, w_dim, RIG_DENSE, 6);
    struct sums sums = {numbers_of(&x),
                        numbers_of(&w),
                        numbers_of(&g),
                        calloc((size_t)rig_tensor_count(&y), sizeof(double)),
                        calloc((size_t)rig_tensor_count(&x), sizeof(double)),
                        calloc((size_t)rig_tensor_count(&w), sizeof(double))};
    for_each_product(c, add_product, &sums);
    aclIntArray *stride = aclCreateIntArray(c->stride, 2), *pad = aclCreateIntArray(c->pad, 2),
                *dilation = aclCreateIntArray(c->dilation, 2), *extra = aclCreateIntArray(zeros, 2);
    const bool mask[] = {true, true, false};
    aclBoolArray *wanted = aclCreateBoolArray(mask, 3);
    const union op_test_arg forward[] = {
        {.tensor = x.acl},      {.tensor = w.acl},  {.tensor = NULL},        {.ints = stride},
        {.ints = pad},          {.ints = dilation}, {.integer = 0},          {.ints = extra},
        {.integer = c->groups}, {.tensor = y.acl},  {.integer = cube_math()}};
    const union op_test_arg backward[] = {
        {.tensor = g.acl},  {.tensor = x.acl},      {.tensor = w.acl},  {.ints = NULL},
        {.ints = stride},   {.ints = pad},          {.ints = dilation}, {.integer = 0},
        {.ints = extra},    {.integer = c->groups}, {.bools = wanted},  {.integer = cube_math()},
        {.tensor = dx.acl}, {.tensor = dw.acl},     {.tensor = NULL}};
    rig_run_finite(rig_row("Convolution"), forward);
    expect(&y, sums.y, "Convolution");
    rig_run_finite(rig_row("ConvolutionBackward"), backward);
    expect(&dx, sums.dx, "gradInput");
    expect(&dw, sums.dw, "gradWeight");
    aclDestroyIntArray(stride);
    aclDestroyIntArray(pad);
    aclDestroyIntArray(dilation);
    aclDestroyIntArray(extra);
    aclDestroyBoolArray(wanted);
    free(sums.x);
    free(sums.w);
    free(sums.g);
    free(sums.y);
    free(sums.dx);
    free(sums.dw);
    struct rig_tensor *all[] = {&x, &w, &g, &y, &dx, &dw};
    for (unsigned i = 0; i < 6; i++) {
        rig_tensor_free(all[i]);
    }
}

static void convolutions_equal_sums_in_double(void)
{
    // images, groups, channels in and out of a group, size, kernel, stride, padding, dilation
    static const struct conv cases[] = {
        {2, 1, 3, 5, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
        {1, 1, 17, 16, {5, 6}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}},
        {2, 1, 4, 6, {9, 8}, {3, 2}, {2, 3}, {1, 0}, {1, 2}, {0, 0}},
        {2, 3, 4, 4, {6, 5}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, {0, 0}},
        {2, 6, 1, 1, {6, 7}, {3, 3}, {1, 2}, {1, 1}, {2, 1}, {0, 0}}, // the scalar unit's
        // Channels that stand alone: the vector unit's.
        {3, 19, 1, 1, {14, 17}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
        {2, 16, 1, 1, {15, 9}, {3, 5}, {2, 3}, {1, 2}, {2, 1}, {0, 0}},
        {1, 8, 1, 1, {90, 131}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}},  // several pieces
        {1, 256, 1, 1, {9, 238}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}, // long pieces
        {9, 33, 1, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},    // images together
        {5, 17, 1, 1, {8, 9}, {3, 2}, {3, 2}, {2, 0}, {1, 1}, {0, 0}},
        {2, 24, 1, 1, {112, 60}, {5, 3}, {2, 2}, {2, 1}, {1, 1}, {0, 0}}, // bands and phases
        {2, 9, 1, 3, {12, 10}, {2, 4}, {1, 1}, {0, 3}, {1, 1}, {0, 0}},
        {3, 1, 2, 4, {4, 4}, {1, 1}, {2, 2}, {1, 1}, {1, 1}, {0, 0}}, // padding without windows
        // Patches: columns by windows, of all images at once and with gaps between them.
        {3, 1, 3, 24, {64, 96}, {32, 32}, {32, 32}, {0, 0}, {1, 1}, {0, 0}},
        {2, 2, 5, 4, {29, 41}, {9, 11}, {10, 13}, {1, 2}, {1, 1}, {0, 0}},
        // Whole groups of 16 channels: img2col. Several images a tile, tiles of an image, phases of
        // a stride, positions that no window reaches, more output channels than a tile has.
        {5, 1, 32, 16, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
        {7, 1, 32, 48, {7, 7}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}}, // images as one map
        {2, 1, 16, 32, {19, 17}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}},
        {3, 1, 32, 16, {8, 8}, {1, 1}, {2, 2}, {0, 0}, {1, 1}, {0, 0}},
        {5, 1, 48, 40, {14, 15}, {1, 1}, {2, 2}, {0, 0}, {1, 1}, {0, 0}},
        {4, 1, 33, 17, {11, 13}, {1, 1}, {3, 2}, {0, 0}, {1, 1}, {0, 0}},
        {1, 1, 17, 1, {257, 260}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}}, // groups far apart
        {1, 1, 4, 17, {257, 260}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}},
        {2, 1, 16, 16, {15, 14}, {7, 7}, {2, 2}, {3, 3}, {1, 1}, {0, 0}},
        {1, 1, 16, 16, {9, 20}, {5, 3}, {1, 3}, {2, 1}, {2, 1}, {0, 0}},
        {1, 1, 16, 272, {5, 6}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}},
        {1, 1, 96, 16, {1, 30}, {1, 4}, {1, 1}, {0, 2}, {1, 1}, {0, 0}},
        {1, 1, 16, 16, {40, 41}, {2, 3}, {1, 1}, {0, 1}, {1, 1}, {0, 0}},
        {1, 1, 3, 16, {9, 1201}, {7, 7}, {2, 2}, {3, 3}, {1, 1}, {0, 0}}, // in strips
    };
    for (unsigned t = 0; t < type_count(); t++) {
        for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            struct conv c = cases[i];
            for (unsigned d = 0; d < 2; d++) {
                c.out[d] = (c.size[d] + 2 * c.pad[d] - c.dilation[d] * (c.kernel[d] - 1) - 1) /
                               c.stride[d] +
                           1;
            }
            run_convolution(&c, types[t], RIG_DENSE);
            if (c.xc < 16 || types[t] == OP_TYPE_F16) {
                run_convolution(&c, types[t], RIG_PERMUTED);
            }
        }
    }
}

// Padding of its own on each side is what padding before is, and equal sides are the plain call.
static void each_side_is_padded(void)
{
    static const int64_t sides[][4] = {{1, 2, 0, 3}, {0, 1, 0, 1}, {2, 2, 1, 1}};
    for (unsigned n = 0; n < sizeof(sides) / sizeof(sides[0]); n++) {
        const int64_t *p = sides[n], x_dim[] = {2, 16, 7, 9}, w_dim[] = {8, 16, 3, 2},
                      wide[] = {2, 16, 7 + p[0] + p[1], 9 + p[2] + p[3]},
                      y_dim[] = {2, 8, wide[2] - 2, wide[3] - 1},
                      around[] = {p[2], p[3], p[0], p[1]}, ones[] = {1, 1}, zeros[] = {0, 0};
        struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F16, 4, x_dim, RIG_PERMUTED, 1),
                          w = rig_tensor_eighths(OP_TYPE_F16, 4, w_dim, RIG_DENSE, 2),
                          padded = rig_tensor_eighths(OP_TYPE_F16, 4, wide, RIG_DENSE, 3),
                          y = rig_tensor_eighths(OP_TYPE_F16, 4, y_dim, RIG_DENSE, 4),
                          want = rig_tensor_eighths(OP_TYPE_F16, 4, y_dim, RIG_DENSE, 5);
        aclIntArray *one = aclCreateIntArray(ones, 2), *zero = aclCreateIntArray(zeros, 2),
                    *four = aclCreateIntArray(p, 4), *pads = aclCreateIntArray(around, 4);
        float nothing = 0;
        aclScalar *number = aclCreateScalar(&nothing, ACL_FLOAT);
        union op_test_arg pad[] = {
            {.tensor = x.acl}, {.ints = pads}, {.scalar = number}, {.tensor = padded.acl}};
        union op_test_arg args[] = {{.tensor = x.acl}, {.tensor = w.acl},       {.tensor = NULL},
                                    {.ints = one},     {.ints = four},          {.ints = one},
                                    {.integer = 0},    {.ints = zero},          {.integer = 1},
                                    {.tensor = y.acl}, {.integer = cube_math()}};
        CU_ASSERT_EQUAL(rig_run(rig_row("Convolution"), args, true), 0);
        args[0].tensor = padded.acl;
        args[4].ints = zero;
        args[9].tensor = want.acl;
        CU_ASSERT_EQUAL(rig_run(rig_row("ConstantPadNd"), pad, true), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row("Convolution"), args, true), 0);
        rig_tensor_take(&y);
        rig_tensor_take(&want);
        CU_ASSERT_EQUAL(memcmp(rig_tensor_at(&y, 0), rig_tensor_at(&want, 0),
                               (size_t)rig_tensor_count(&y) * rig_type_bytes(OP_TYPE_F16)),
                        0);
        aclDestroyIntArray(one);
        aclDestroyIntArray(zero);
        aclDestroyIntArray(four);
        aclDestroyIntArray(pads);
        aclDestroyScalar(number);
        rig_tensor_free(&x);
        rig_tensor_free(&w);
        rig_tensor_free(&padded);
        rig_tensor_free(&y);
        rig_tensor_free(&want);
    }
}

static void wrong_convolutions_are_told(void)
{
    const int64_t x_dim[] = {1, 3, 5, 5}, w_dim[] = {4, 2, 3, 3}, y_dim[] = {1, 4, 5, 5},
                  ones[] = {1, 1}, zeros[] = {0, 0};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F16, 4, x_dim, RIG_DENSE, 1),
                      w = rig_tensor_eighths(OP_TYPE_F16, 4, w_dim, RIG_DENSE, 2),
                      y = rig_tensor_eighths(OP_TYPE_F16, 4, y_dim, RIG_DENSE, 3);
    aclIntArray *one = aclCreateIntArray(ones, 2), *zero = aclCreateIntArray(zeros, 2);
    union op_test_arg args[] = {{.tensor = x.acl}, {.tensor = w.acl},       {.tensor = NULL},
                                {.ints = one},     {.ints = one},           {.ints = one},
                                {.integer = 0},    {.ints = zero},          {.integer = 1},
                                {.tensor = y.acl}, {.integer = cube_math()}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Convolution"), args, false), 161002); // 3 channels, not 2
    const char *text = aclGetRecentErrMsg();
    CU_ASSERT_TRUE(text && strstr(text, "weight") && strstr(text, "[4, 2, 3, 3]"));
    args[1].tensor = y.acl; // a kernel of 5, but 4 channels
    CU_ASSERT_EQUAL(rig_run(rig_row("Convolution"), args, false), 161002);
    args[1].tensor = w.acl;
    args[3].ints = zero; // stride 0
    CU_ASSERT_EQUAL(rig_run(rig_row("Convolution"), args, false), 161002);
    aclDestroyIntArray(one);
    aclDestroyIntArray(zero);
    rig_tensor_free(&x);
    rig_tensor_free(&w);
    rig_tensor_free(&y);
}

/* Channels that stand alone, by the operator of that name: one or two outputs of each. */
static void channels_stand_alone_by_name(void)
{
    enum { N = 2, C = 5, H = 7, W = 9, KH = 3, KW = 2, OH = 4, OW = 10 };
    const int64_t kernel[] = {KH, KW}, stride[] = {2, 1}, pad[] = {1, 1}, dilation[] = {1, 1};
    aclIntArray *k = aclCreateIntArray(kernel, 2), *s = aclCreateIntArray(stride, 2),
                *p = aclCreateIntArray(pad, 2), *d = aclCreateIntArray(dilation, 2),
                *wrong = aclCreateIntArray(stride, 2);
    for (unsigned i = 0; i < 2 * type_count(); i++) {
        const enum op_type type = types[i / 2];
        const int64_t each = 1 + i % 2, x_dim[] = {N, C, H, W}, w_dim[] = {C * each, 1, KH, KW},
                      b_dim[] = {C * each}, y_dim[] = {N, C * each, OH, OW};
        struct rig_tensor x = rig_tensor_eighths(type, 4, x_dim, RIG_PERMUTED, 1),
                          w = rig_tensor_eighths(type, 4, w_dim, RIG_DENSE, 2),
                          b = rig_tensor_eighths(type, 1, b_dim, RIG_DENSE, 3),
                          y = rig_tensor_eighths(type, 4, y_dim, RIG_DENSE, 4);
        double *want = calloc((size_t)rig_tensor_count(&y), sizeof(*want));
        for (int64_t at_y = 0; at_y < rig_tensor_count(&y); at_y++) {
            const int64_t n = at_y / (C * each * OH * OW), c = at_y / (OH * OW) % (C * each);
            want[at_y] = at(&b, c);
            for (int64_t tap = 0; tap < KH * KW; tap++) {
                const int64_t row = at_y / OW % OH * 2 - 1 + tap / KW,
                              column = at_y % OW - 1 + tap % KW;
                if (row >= 0 && row < H && column >= 0 && column < W) {
                    want[at_y] += at(&x, ((n * C + c / each) * H + row) * W + column) *
                                  at(&w, c * KH * KW + tap);
                }
            }
        }
        union op_test_arg args[] = {{.tensor = x.acl}, {.tensor = w.acl}, {.ints = k},
                                    {.tensor = b.acl}, {.ints = s},       {.ints = p},
                                    {.ints = d},       {.tensor = y.acl}, {.integer = cube_math()}};
        rig_run_finite(rig_row("ConvDepthwise2d"), args);
        expect(&y, want, "ConvDepthwise2d");
        args[2].ints = wrong;
        CU_ASSERT_EQUAL(rig_run(rig_row("ConvDepthwise2d"), args, false), 161002);
        free(want);
        rig_tensor_free(&x);
        rig_tensor_free(&w);
        rig_tensor_free(&b);
        rig_tensor_free(&y);
    }
    aclIntArray *arrays[] = {k, s, p, d, wrong};
    for (unsigned i = 0; i < 5; i++) {
        aclDestroyIntArray(arrays[i]);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"channels_stand_alone_by_name", channels_stand_alone_by_name},
        {"cnn_products_equal_sums_in_double", products_equal_sums_in_double},
        {"cnn_convolutions_equal_sums_in_double", convolutions_equal_sums_in_double},
        {"each_side_is_padded", each_side_is_padded},
        {"cnn_wrong_convolutions_are_told", wrong_convolutions_are_told},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_cnn", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
