/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors in the chip's own formats: where elements lie, against the formats' formulas; operators
 * on them, against the same operators on rows. Numbers are multiples of 1/8 in [-1, 1], so that
 * sums are exact and results must be equal.
 */
#include "rig.h"

#include <acl/acl_op.h>
#include <acl/acl_op_compiler.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor in a native format and its device memory. */
struct native {
    aclTensor *acl;
    enum op_type type;
    int format;
    unsigned rank;
    int64_t dim[8];
    size_t bytes;
    void *device;
};

static int64_t up(int64_t count, int64_t to)
{
    return (count + to - 1) / to * to;
}

static int64_t c0_of(enum op_type type)
{
    return rig_type_bytes(type) == 1 ? 32 : 16;
}

/* Elements of the storage. */
static int64_t stored(const struct native *n)
{
    const int64_t *d = n->dim, c0 = c0_of(n->type);
    int64_t before = 1;
    switch (n->format) {
    case ACL_FORMAT_NC1HWC0:
        return n->rank == 1 ? up(d[0], c0) : d[0] * up(d[1], c0) * d[2] * d[3];
    case ACL_FORMAT_FRACTAL_Z:
        return n->rank == 2 ? up(d[0], c0) * up(d[1], 16)
                            : up(d[0], 16) * up(d[1], c0) * d[2] * d[3];
    default:
        for (unsigned i = 0; i + 2 < n->rank; i++) {
            before *= d[i];
        }
        return before * up(d[n->rank - 2], 16) * up(d[n->rank - 1], c0);
    }
}

/* Where element `at` lies, as the chip's documents define the formats. */
static int64_t place(const struct native *n, const int64_t *at)
{
    const int64_t *d = n->dim, c0 = c0_of(n->type);
    int64_t before = 0;
    switch (n->format) {
    case ACL_FORMAT_NC1HWC0:
        return (((at[0] * (up(d[1], c0) / c0) + at[1] / c0) * d[2] + at[2]) * d[3] + at[3]) * c0 +
               at[1] % c0;
    case ACL_FORMAT_FRACTAL_Z:
        if (n->rank == 2) { // a matrix from the right: its rows are the channels
            return (at[0] / c0 * (up(d[1], 16) / 16) + at[1] / 16) * 16 * c0 + at[1] % 16 * c0 +
                   at[0] % c0;
        }
        return ((((at[1] / c0) * d[2] + at[2]) * d[3] + at[3]) * (up(d[0], 16) / 16) + at[0] / 16) *
                   16 * c0 +
               at[0] % 16 * c0 + at[1] % c0;
    default:
        for (unsigned i = 0; i + 2 < n->rank; i++) {
            before = before * d[i] + at[i];
        }
        const int64_t m = at[n->rank - 2], k = at[n->rank - 1], rows = up(d[n->rank - 2], 16);
        return before * rows * up(d[n->rank - 1], c0) + k / c0 * rows * c0 + m * c0 + k % c0;
    }
}

static struct native make_native(enum op_type type, unsigned rank, const int64_t *dim, int format)
{
    struct native n = {.type = type, .format = format, .rank = rank};
    int64_t stride[8], step = 1;
    memcpy(n.dim, dim, rank * sizeof(*dim));
    for (unsigned i = rank; i-- > 0;) {
        stride[i] = step;
        step *= dim[i];
    }
    n.bytes = (size_t)stored(&n) * rig_type_bytes(type);
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&n.device, n.bytes + 32, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CU_ASSERT_EQUAL_FATAL(aclrtMemset(n.device, n.bytes, 0x5a, n.bytes), 0);
    n.acl = aclCreateTensor(dim, rank, rig_acl_type(type), stride, 0, (aclFormat)format, NULL, 0,
                            n.device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(n.acl);
    return n;
}

static void free_native(struct native *n)
{
    aclDestroyTensor(n->acl);
    CU_ASSERT_EQUAL(aclrtFree(n->device), 0);
}

static void cast(aclTensor *from, aclTensor *to)
{
    const union op_test_arg args[] = {{.tensor = from}, {.tensor = to}};
    CU_ASSERT_EQUAL(rig_run(rig_row("NpuFormatCast"), args, true), 0);
}

static struct native native_of(const struct rig_tensor *t, int format)
{
    struct native n = make_native(t->type, t->rank, t->dim, format);
    cast(t->acl, n.acl);
    return n;
}

/* Both hold the same numbers, whatever `native`'s format; `rows` gets them. */
static void expect_same(const struct native *native, struct rig_tensor *rows, const char *what)
{
    struct rig_tensor got = rig_tensor_eighths(rows->type, rows->rank, rows->dim, RIG_DENSE, 99);
    const int64_t count = rig_tensor_count(rows);
    int64_t wrong = 0;
    cast(native->acl, got.acl);
    rig_tensor_take(&got);
    rig_tensor_take(rows);
    for (int64_t i = 0; i < count; i++) {
        const double a = rig_get_d(rig_tensor_at(&got, i), got.type),
                     b = rig_get_d(rig_tensor_at(rows, i), rows->type);
        if (memcmp(rig_tensor_at(&got, i), rig_tensor_at(rows, i), rig_type_bytes(rows->type)) !=
                0 &&
            a != b && wrong++ == 0) {
            fprintf(stderr, "%s, %s: element %lld is %g, with rows %g\n", what,
                    rig_type_name(rows->type), (long long)i, a, b);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    rig_tensor_free(&got);
}

static void check_places(enum op_type type, unsigned rank, const int64_t *dim, int format,
                         enum rig_layout layout)
{
    const unsigned unit = rig_type_bytes(type);
    struct rig_tensor rows = rig_tensor_make(type, rank, dim, layout, 7);
    struct native n = native_of(&rows, format);
    unsigned char *host = malloc(n.bytes), *want = calloc(1, n.bytes);
    const int64_t count = rig_tensor_count(&rows);
    for (int64_t i = 0; i < count; i++) {
        int64_t at[8], rest = i;
        for (unsigned d = rank; d-- > 0;) {
            at[d] = rest % dim[d];
            rest /= dim[d];
        }
        memcpy(want + place(&n, at) * unit, rig_tensor_at(&rows, i), unit);
    }
    CU_ASSERT_EQUAL(aclrtMemcpy(host, n.bytes, n.device, n.bytes, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CU_ASSERT_EQUAL(memcmp(host, want, n.bytes), 0);
    expect_same(&n, &rows, "there and back");
    free(host);
    free(want);
    free_native(&n);
    rig_tensor_free(&rows);
}

static void elements_lie_where_formats_say(void)
{
    static const int64_t maps[][4] = {{2, 3, 5, 7}, {1, 16, 4, 4}, {3, 33, 2, 9}, {1, 48, 1, 1}};
    static const int64_t matrices[][3] = {{1, 5, 7}, {1, 16, 16}, {3, 20, 33}, {2, 1, 130}};
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_I32, OP_TYPE_I16,
                                         OP_TYPE_U8};
    for (unsigned t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (unsigned i = 0; i < 4; i++) {
            const enum rig_layout layout = i % 2 ? RIG_PERMUTED : RIG_DENSE;
            check_places(types[t], 4, maps[i], ACL_FORMAT_NC1HWC0, layout);
            check_places(types[t], 4, maps[i], ACL_FORMAT_FRACTAL_Z, layout);
            check_places(types[t], 3, matrices[i], ACL_FORMAT_FRACTAL_NZ, layout);
        }
        check_places(types[t], 2, matrices[2] + 1, ACL_FORMAT_FRACTAL_NZ, RIG_DENSE);
        check_places(types[t], 2, matrices[2] + 1, ACL_FORMAT_FRACTAL_Z, RIG_DENSE);
        check_places(types[t], 2, (const int64_t[]){10, 18}, ACL_FORMAT_FRACTAL_Z, RIG_PERMUTED);
    }
    // So many rows that they go in parts.
    check_places(OP_TYPE_F16, 2, (const int64_t[]){2064, 40}, ACL_FORMAT_FRACTAL_NZ, RIG_DENSE);
    check_places(OP_TYPE_F16, 2, (const int64_t[]){2063, 33}, ACL_FORMAT_FRACTAL_NZ, RIG_DENSE);
}

struct conv {
    int64_t n, groups, xc, yc, size[2], kernel[2], stride[2], pad[2], dilation[2];
};

static void run_convolution(const struct conv *c, enum op_type type, bool with_bias)
{
    int64_t out[2];
    for (unsigned d = 0; d < 2; d++) {
        out[d] =
            (c->size[d] + 2 * c->pad[d] - c->dilation[d] * (c->kernel[d] - 1) - 1) / c->stride[d] +
            1;
    }
    const int64_t x_dim[] = {c->n, c->groups * c->xc, c->size[0], c->size[1]},
                  w_dim[] = {c->groups * c->yc, c->xc, c->kernel[0], c->kernel[1]},
                  y_dim[] = {c->n, c->groups * c->yc, out[0], out[1]}, zeros[] = {0, 0};
    struct rig_tensor rows[] = {rig_tensor_eighths(type, 4, x_dim, RIG_DENSE, 1),
                                rig_tensor_eighths(type, 4, w_dim, RIG_DENSE, 2),
                                rig_tensor_eighths(type, 4, y_dim, RIG_DENSE, 3),
                                rig_tensor_eighths(type, 1, w_dim, RIG_DENSE, 4),
                                rig_tensor_eighths(type, 4, y_dim, RIG_DENSE, 5),
                                rig_tensor_eighths(type, 4, x_dim, RIG_DENSE, 6),
                                rig_tensor_eighths(OP_TYPE_F32, 4, w_dim, RIG_DENSE, 7)};
    struct native own[] = {
        native_of(&rows[0], ACL_FORMAT_NC1HWC0),  native_of(&rows[1], ACL_FORMAT_FRACTAL_Z),
        native_of(&rows[2], ACL_FORMAT_NC1HWC0),  native_of(&rows[3], ACL_FORMAT_NC1HWC0),
        native_of(&rows[4], ACL_FORMAT_NC1HWC0),  native_of(&rows[5], ACL_FORMAT_NC1HWC0),
        native_of(&rows[6], ACL_FORMAT_FRACTAL_Z)};
    aclIntArray *stride = aclCreateIntArray(c->stride, 2), *pad = aclCreateIntArray(c->pad, 2),
                *dilation = aclCreateIntArray(c->dilation, 2), *extra = aclCreateIntArray(zeros, 2);
    const bool mask[] = {true, true, false};
    aclBoolArray *wanted = aclCreateBoolArray(mask, 3);
    for (unsigned native = 0; native < 2; native++) {
        aclTensor *t[7];
        for (unsigned i = 0; i < 7; i++) {
            t[i] = native ? own[i].acl : rows[i].acl;
        }
        const union op_test_arg forward[] = {
            {.tensor = t[0]}, {.tensor = t[1]}, {.tensor = with_bias ? t[3] : NULL},
            {.ints = stride}, {.ints = pad},    {.ints = dilation},
            {.integer = 0},   {.ints = extra},  {.integer = c->groups},
            {.tensor = t[4]}, {.integer = 1}};
        const union op_test_arg backward[] = {
            {.tensor = t[2]}, {.tensor = t[0]},       {.tensor = t[1]},   {.ints = NULL},
            {.ints = stride}, {.ints = pad},          {.ints = dilation}, {.integer = 0},
            {.ints = extra},  {.integer = c->groups}, {.bools = wanted},  {.integer = 1},
            {.tensor = t[5]}, {.tensor = t[6]},       {.tensor = NULL}};
        CU_ASSERT_EQUAL(rig_run(rig_row("Convolution"), forward, true), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row("ConvolutionBackward"), backward, true), 0);
    }
    expect_same(&own[4], &rows[4], "Convolution");
    expect_same(&own[5], &rows[5], "gradInput");
    expect_same(&own[6], &rows[6], "gradWeight");
    aclDestroyIntArray(stride);
    aclDestroyIntArray(pad);
    aclDestroyIntArray(dilation);
    aclDestroyIntArray(extra);
    aclDestroyBoolArray(wanted);
    for (unsigned i = 0; i < 7; i++) {
        rig_tensor_free(&rows[i]);
        free_native(&own[i]);
    }
}

static void convolutions_are_those_of_rows(void)
{
    static const struct conv cases[] = {
        {2, 1, 3, 20, {11, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {2, 1, 3, 16, {23, 21}, {7, 7}, {4, 4}, {2, 2}, {1, 1}}, // weights of one group
        {1, 1, 40, 33, {8, 8}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
        {3, 1, 17, 48, {9, 10}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},   // phases
        {1, 1, 24, 40, {14, 15}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},  // phases nothing reaches
        {2, 1, 16, 24, {9, 8}, {2, 3}, {2, 1}, {0, 1}, {1, 1}},    // phases one way
        {3, 1, 17, 48, {8, 14}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},   // of even sizes
        {2, 1, 24, 40, {14, 14}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},  // the same, nothing reaches some
        {1, 1, 16, 16, {21, 301}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, // joined in several pieces
        {1, 1, 16, 16, {10, 2100}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, // lines too long to be joined
        {1, 1, 16, 16, {5, 7}, {3, 3}, {3, 3}, {1, 1}, {1, 1}},     // strides too
        {2, 1, 16, 16, {12, 7}, {3, 2}, {1, 1}, {2, 1}, {2, 1}},
        {2, 2, 8, 8, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},       // groups: as rows
        {1, 1, 32, 300, {30, 30}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  // several tiles, both ways
        {5, 1, 256, 272, {7, 7}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},   // sums leave in parts
        {1, 1, 16, 32, {200, 180}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, // blocks far apart
        {1, 1, 64, 256, {12, 12}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  // of windows, too
        {1, 1, 1024, 128, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  // of several tiles a core
        {5, 1, 300, 272, {14, 14}, {1, 1}, {2, 2}, {0, 0}, {1, 1}}, // lines of a stride
        {3, 1, 40, 24, {13, 15}, {1, 1}, {3, 2}, {0, 0}, {1, 1}},   // the last one begins none
        {2, 1, 16, 32, {120, 70}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},  // w's gradient in pieces
        {3, 1, 80, 48, {28, 56}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},   // aligned ones
        {4, 1, 33, 40, {11, 13}, {1, 1}, {3, 2}, {0, 0}, {1, 1}},   // images that end elsewhere
        {2, 1, 16, 40, {9, 40}, {1, 1}, {2, 1}, {0, 0}, {1, 1}},
        {9, 33, 1, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, // channels that stand alone
        {3, 20, 1, 1, {112, 30}, {5, 3}, {2, 3}, {2, 0}, {1, 1}},
        {5, 1, 272, 300, {14, 13}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, // phases of several chunks
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run_convolution(&cases[i], OP_TYPE_F16, i % 2 == 1);
    }
    run_convolution(&cases[0], OP_TYPE_F32, true);
}

static void run_product(int64_t m, int64_t k, int64_t n, unsigned natives)
{
    const int64_t a_dim[] = {m, k}, b_dim[] = {k, n}, out_dim[] = {m, n};
    struct rig_tensor rows[] = {rig_tensor_eighths(OP_TYPE_F16, 2, a_dim, RIG_DENSE, 1),
                                rig_tensor_eighths(OP_TYPE_F16, 2, b_dim, RIG_DENSE, 2),
                                rig_tensor_eighths(OP_TYPE_F16, 2, out_dim, RIG_DENSE, 3)};
    struct native own[] = {native_of(&rows[0], ACL_FORMAT_FRACTAL_NZ),
                           native_of(&rows[1], ACL_FORMAT_FRACTAL_NZ),
                           native_of(&rows[2], ACL_FORMAT_FRACTAL_NZ)};
    union op_test_arg args[] = {
        {.tensor = rows[0].acl}, {.tensor = rows[1].acl}, {.tensor = rows[2].acl}, {.integer = 1}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Matmul"), args, true), 0);
    struct rig_tensor plain = rig_tensor_eighths(OP_TYPE_F16, 2, out_dim, RIG_DENSE, 4);
    for (unsigned i = 0; i < 3; i++) {
        if (natives >> i & 1) {
            args[i].tensor = own[i].acl;
        }
    }
    if (!(natives & 4)) {
        args[2].tensor = plain.acl;
    }
    CU_ASSERT_EQUAL(rig_run(rig_row("Matmul"), args, true), 0);
    if (natives == 2 && rig_chip() == 1) { // the same by a name of its own
        CU_ASSERT_EQUAL(rig_run(rig_row("MatmulWeightNz"), args, true), 0);
    }
    if (!(natives & 4)) {
        cast(plain.acl, own[2].acl);
    }
    expect_same(&own[2], &rows[2], "Matmul");
    for (unsigned i = 0; i < 3; i++) {
        rig_tensor_free(&rows[i]);
        free_native(&own[i]);
    }
    rig_tensor_free(&plain);
}

static void products_are_those_of_rows(void)
{
    static const int64_t shapes[][3] = {{1, 16, 16},    {32, 600, 40},   {5, 7, 3},
                                        {300, 33, 270}, {16, 256, 4100}, {17, 1300, 330}};
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (unsigned natives = 1; natives < 8; natives++) {
            run_product(shapes[i][0], shapes[i][1], shapes[i][2], natives);
        }
    }
}

/* Forward in NC1HWC0, the gradient in rows, as both in rows. */
static void run_pool(const int64_t *x_dim, const int64_t *window, bool negative)
{
    const int64_t *size = window, *stride = window + 2, *pad = window + 4, *dilation = window + 6;
    int64_t y_dim[] = {x_dim[0], x_dim[1], 0, 0};
    for (unsigned d = 0; d < 2; d++) {
        y_dim[2 + d] =
            (x_dim[2 + d] + 2 * pad[d] - dilation[d] * (size[d] - 1) - 1) / stride[d] + 1;
    }
    const int64_t mask_dim[] = {x_dim[0], x_dim[1], size[0] * size[1],
                                ((y_dim[2] * y_dim[3] + 15) / 16 + 1) * 32};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F16, 4, x_dim, RIG_DENSE, 1);
    const int64_t count = rig_tensor_count(&x);
    const double least = rig_chip() == 0 ? -65504 : -INFINITY; // 910A saturates
    for (int64_t i = 0; negative && i < count; i++) {          // as padding is
        rig_put_d(rig_tensor_at(&x, i), OP_TYPE_F16, i % 3 ? least : -1);
    }
    rig_tensor_put(&x);
    struct rig_tensor y = rig_tensor_eighths(OP_TYPE_F16, 4, y_dim, RIG_DENSE, 2),
                      g = rig_tensor_eighths(OP_TYPE_F16, 4, y_dim, RIG_DENSE, 3),
                      dx = rig_tensor_eighths(OP_TYPE_F16, 4, x_dim, RIG_DENSE, 4),
                      other = rig_tensor_eighths(OP_TYPE_F16, 4, x_dim, RIG_DENSE, 5),
                      mask = rig_tensor_eighths(OP_TYPE_I8, 4, mask_dim, RIG_DENSE, 6);
    struct native own_x = native_of(&x, ACL_FORMAT_NC1HWC0),
                  own_y = native_of(&y, ACL_FORMAT_NC1HWC0),
                  own_g = native_of(&g, ACL_FORMAT_NC1HWC0),
                  blocks_dx = make_native(OP_TYPE_F16, 4, x_dim, ACL_FORMAT_NC1HWC0);
    aclIntArray *ints[] = {aclCreateIntArray(size, 2), aclCreateIntArray(stride, 2),
                           aclCreateIntArray(pad, 2), aclCreateIntArray(dilation, 2)};
    for (unsigned native = 0; native < 2; native++) {
        const union op_test_arg forward[] = {{.tensor = native ? own_x.acl : x.acl},
                                             {.ints = ints[0]},
                                             {.ints = ints[1]},
                                             {.ints = ints[2]},
                                             {.ints = ints[3]},
                                             {.integer = 0},
                                             {.tensor = native ? own_y.acl : y.acl},
                                             {.tensor = mask.acl}};
        const union op_test_arg backward[] = {
            {.tensor = g.acl}, {.tensor = x.acl}, {.tensor = mask.acl},
            {.ints = ints[0]}, {.ints = ints[1]}, {.ints = ints[2]},
            {.ints = ints[3]}, {.integer = 0},    {.tensor = native ? other.acl : dx.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("MaxPool2dWithMask"), forward, true), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row("MaxPool2dWithMaskBackward"), backward, true), 0);
        if (native) { // all in blocks
            const union op_test_arg blocks[] = {
                {.tensor = own_g.acl}, {.tensor = own_x.acl}, {.tensor = mask.acl},
                {.ints = ints[0]},     {.ints = ints[1]},     {.ints = ints[2]},
                {.ints = ints[3]},     {.integer = 0},        {.tensor = blocks_dx.acl}};
            CU_ASSERT_EQUAL(rig_run(rig_row("MaxPool2dWithMaskBackward"), blocks, true), 0);
        }
    }
    expect_same(&blocks_dx, &dx, "MaxPool2dWithMaskBackward in blocks");
    expect_same(&own_y, &y, "MaxPool2dWithMask");
    struct native own_dx = native_of(&other, ACL_FORMAT_NC1HWC0);
    expect_same(&own_dx, &dx, "MaxPool2dWithMaskBackward");
    for (unsigned i = 0; i < 4; i++) {
        aclDestroyIntArray(ints[i]);
    }
    struct rig_tensor *all[] = {&x, &y, &g, &dx, &other, &mask};
    for (unsigned i = 0; i < 6; i++) {
        rig_tensor_free(all[i]);
    }
    free_native(&own_x);
    free_native(&own_y);
    free_native(&own_dx);
    free_native(&own_g);
    free_native(&blocks_dx);
}

/* Averages of maps in blocks, both directions. */
static void run_average(enum op_type type, const int64_t *x_dim, const int64_t *y_dim)
{
    struct rig_tensor x = rig_tensor_eighths(type, 4, x_dim, RIG_DENSE, 1),
                      y = rig_tensor_eighths(type, 4, y_dim, RIG_DENSE, 2),
                      g = rig_tensor_eighths(type, 4, y_dim, RIG_DENSE, 3),
                      dx = rig_tensor_eighths(type, 4, x_dim, RIG_DENSE, 4);
    struct native own[] = {
        native_of(&x, ACL_FORMAT_NC1HWC0), make_native(type, 4, y_dim, ACL_FORMAT_NC1HWC0),
        native_of(&g, ACL_FORMAT_NC1HWC0), make_native(type, 4, x_dim, ACL_FORMAT_NC1HWC0)};
    aclIntArray *size = aclCreateIntArray(y_dim + 2, 2);
    for (unsigned native = 0; native < 2; native++) {
        const union op_test_arg forward[] = {{.tensor = native ? own[0].acl : x.acl},
                                             {.ints = size},
                                             {.tensor = native ? own[1].acl : y.acl}};
        const union op_test_arg backward[] = {{.tensor = native ? own[2].acl : g.acl},
                                              {.tensor = native ? own[0].acl : x.acl},
                                              {.tensor = native ? own[3].acl : dx.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("AdaptiveAvgPool2d"), forward, true), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row("AdaptiveAvgPool2dBackward"), backward, true), 0);
    }
    expect_same(&own[1], &y, "AdaptiveAvgPool2d");
    expect_same(&own[3], &dx, "AdaptiveAvgPool2dBackward");
    aclDestroyIntArray(size);
    struct rig_tensor *all[] = {&x, &y, &g, &dx};
    for (unsigned i = 0; i < 4; i++) {
        rig_tensor_free(all[i]);
        free_native(&own[i]);
    }
}

static void averages_are_those_of_rows(void)
{
    static const int64_t maps[][4] = {{3, 40, 7, 7}, {2, 5, 12, 6}, {1, 64, 44, 40}},
                         windows[][4] = {{3, 40, 1, 1}, {2, 5, 3, 2}, {1, 64, 5, 3}};
    for (unsigned i = 0; i < 3; i++) { // the last one has windows of several sizes
        run_average(OP_TYPE_F16, maps[i], windows[i]);
        run_average(OP_TYPE_F32, maps[i], windows[i]);
    }
}

static void pooling_is_that_of_rows(void)
{
    static const int64_t maps[][4] = {{2, 16, 9, 9}, {1, 20, 14, 23}, {2, 40, 33, 30}};
    // kernel, stride, padding, dilation
    static const int64_t windows[][8] = {{3, 3, 2, 2, 0, 0, 1, 1},
                                         {3, 3, 2, 2, 1, 1, 1, 1},
                                         {2, 3, 1, 2, 1, 0, 2, 1},
                                         {2, 2, 2, 2, 0, 0, 1, 1}};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 4; k++) {
            run_pool(maps[i], windows[k], false);
            run_pool(maps[i], windows[k], true);
        }
    }
}

/* Add of two maps in the formats `a` and `b` (ND: rows) into one of format `out`. */
static void run_add(const int64_t *dim, int a, int b, int out)
{
    struct rig_tensor rows[] = {rig_tensor_eighths(OP_TYPE_F16, 4, dim, RIG_DENSE, 1),
                                rig_tensor_eighths(OP_TYPE_F16, 4, dim, RIG_DENSE, 2),
                                rig_tensor_eighths(OP_TYPE_F16, 4, dim, RIG_DENSE, 3)};
    const int format[] = {a, b, out};
    struct native own[3];
    aclTensor *acl[3];
    float one = 1;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    for (unsigned i = 0; i < 3; i++) {
        own[i] = native_of(&rows[i], format[i] == ACL_FORMAT_ND ? ACL_FORMAT_NC1HWC0 : format[i]);
        acl[i] = format[i] == ACL_FORMAT_ND ? rows[i].acl : own[i].acl;
    }
    const union op_test_arg native[] = {
        {.tensor = acl[0]}, {.tensor = acl[1]}, {.scalar = alpha}, {.tensor = acl[2]}};
    const union op_test_arg plain[] = {{.tensor = rows[0].acl},
                                       {.tensor = rows[1].acl},
                                       {.scalar = alpha},
                                       {.tensor = rows[2].acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Add"), native, true), 0);
    if (out == ACL_FORMAT_ND) {
        cast(rows[2].acl, own[2].acl);
    }
    CU_ASSERT_EQUAL(rig_run(rig_row("Add"), plain, true), 0);
    expect_same(&own[2], &rows[2], "Add");
    aclDestroyScalar(alpha);
    for (unsigned i = 0; i < 3; i++) {
        rig_tensor_free(&rows[i]);
        free_native(&own[i]);
    }
}

static void other_operators_take_any_format(void)
{
    static const int64_t whole[] = {2, 32, 3, 5}, part[] = {2, 5, 4, 3};
    static const int formats[][3] = {{ACL_FORMAT_NC1HWC0, ACL_FORMAT_NC1HWC0, ACL_FORMAT_NC1HWC0},
                                     {ACL_FORMAT_NC1HWC0, ACL_FORMAT_ND, ACL_FORMAT_NC1HWC0},
                                     {ACL_FORMAT_FRACTAL_Z, ACL_FORMAT_NC1HWC0, ACL_FORMAT_ND},
                                     {ACL_FORMAT_ND, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_Z}};
    for (unsigned i = 0; i < 4; i++) {
        run_add(whole, formats[i][0], formats[i][1], formats[i][2]);
        run_add(part, formats[i][0], formats[i][1], formats[i][2]);
    }
}

/* `op` of maps a and b into a third, with native maps and with rows; a number `alpha` before out.
 */
static void run_spread(const char *op, const int64_t (*dim)[4], bool b_native, bool alpha)
{
    struct rig_tensor rows[3];
    struct native own[3];
    float half = 0.5f;
    aclScalar *scalar = aclCreateScalar(&half, ACL_FLOAT);
    for (unsigned i = 0; i < 3; i++) {
        rows[i] = rig_tensor_eighths(OP_TYPE_F16, 4, dim[i], RIG_DENSE, i + 1);
        own[i] = native_of(&rows[i], ACL_FORMAT_NC1HWC0);
    }
    for (unsigned native = 2; native-- > 0;) {
        aclTensor *out = native ? own[2].acl : rows[2].acl;
        const union op_test_arg args[] = {{.tensor = native ? own[0].acl : rows[0].acl},
                                          {.tensor = native && b_native ? own[1].acl : rows[1].acl},
                                          alpha ? (union op_test_arg){.scalar = scalar}
                                                : (union op_test_arg){.tensor = out},
                                          {.tensor = out}};
        CU_ASSERT_EQUAL(rig_run(rig_row(op), args, true), 0);
    }
    expect_same(&own[2], &rows[2], op);
    aclDestroyScalar(scalar);
    for (unsigned i = 0; i < 3; i++) {
        rig_tensor_free(&rows[i]);
        free_native(&own[i]);
    }
}

static void channels_are_spread_over_positions(void)
{
    static const int64_t dims[][3][4] = {{{2, 48, 5, 7}, {2, 48, 1, 1}, {2, 48, 5, 7}},
                                         {{2, 32, 5, 7}, {1, 32, 1, 1}, {2, 32, 5, 7}},
                                         {{2, 32, 5, 1}, {2, 32, 1, 7}, {2, 32, 5, 7}},
                                         {{2, 20, 5, 7}, {2, 20, 1, 1}, {2, 20, 5, 7}},
                                         {{2, 32, 5, 7}, {2, 1, 5, 7}, {2, 32, 5, 7}}};
    for (unsigned i = 0; i < 5; i++) {
        run_spread("Mul", dims[i], false, false);
        run_spread("Mul", dims[i], true, false);
        run_spread("Sub", dims[i], i % 2, true);
    }
}

/* A reduction of a map over its positions, or over channels too. */
static void run_reduction(const char *op, int64_t channels, bool all, bool typed)
{
    const int64_t x_dim[] = {3, channels, 5, 6}, y_dim[] = {3, all ? 1 : channels, 1, 1};
    const int64_t over[] = {1, -1, 2}; // without channels: from the second on
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F16, 4, x_dim, RIG_DENSE, 1),
                      y = rig_tensor_eighths(OP_TYPE_F16, 4, y_dim, RIG_DENSE, 2);
    struct native own[] = {native_of(&x, ACL_FORMAT_NC1HWC0), native_of(&y, ACL_FORMAT_NC1HWC0)};
    aclIntArray *dims = aclCreateIntArray(all ? over : over + 1, all ? 3 : 2);
    for (unsigned native = 0; native < 2; native++) {
        const union op_test_arg out = {.tensor = native ? own[1].acl : y.acl};
        const union op_test_arg args[] = {{.tensor = native ? own[0].acl : x.acl},
                                          {.ints = dims},
                                          {.integer = 1},
                                          typed ? (union op_test_arg){.type = ACL_FLOAT16} : out,
                                          out};
        CU_ASSERT_EQUAL(rig_run(rig_row(op), args, true), 0);
    }
    expect_same(&own[1], &y, op);
    aclDestroyIntArray(dims);
    rig_tensor_free(&x);
    rig_tensor_free(&y);
    free_native(&own[0]);
    free_native(&own[1]);
}

static void positions_are_reduced_as_rows(void)
{
    for (unsigned i = 0; i < 4; i++) {
        run_reduction("Mean", i % 2 ? 32 : 20, i / 2, true);
        run_reduction("ReduceSum", i % 2 ? 32 : 20, i / 2, true);
        run_reduction("Amax", i % 2 ? 32 : 20, i / 2, false);
        run_reduction("Amin", i % 2 ? 32 : 20, i / 2, false);
    }
}

/* A description whose storage stands beside its shape, as frameworks give it. */
static aclTensorDesc *describe(const struct native *n)
{
    const int64_t *d = n->dim, c0 = c0_of(n->type);
    const int64_t map[] = {d[0], up(d[1], c0) / c0, d[2], d[3], c0};
    const int64_t weights[] = {up(d[1], c0) / c0 * d[2] * d[3], up(d[0], 16) / 16, 16, c0};
    const bool is_map = n->format == ACL_FORMAT_NC1HWC0;
    const int64_t *storage = is_map ? map : weights;
    const int count = is_map ? 5 : 4;
    aclTensorDesc *desc =
        aclCreateTensorDesc(rig_acl_type(n->type), (int)n->rank, d, ACL_FORMAT_NCHW);
    CU_ASSERT_EQUAL(aclSetTensorFormat(desc, (aclFormat)n->format), 0);
    CU_ASSERT_EQUAL(aclSetTensorShape(desc, count, storage), 0);
    return desc;
}

static void operators_by_type_take_formats(void)
{
    const int64_t x_dim[] = {2, 20, 6, 7}, w_dim[] = {33, 20, 3, 3}, y_dim[] = {2, 33, 6, 7},
                  ones[] = {1, 1, 1, 1}, zeros[] = {0, 0};
    struct rig_tensor rows[] = {rig_tensor_eighths(OP_TYPE_F16, 4, x_dim, RIG_DENSE, 1),
                                rig_tensor_eighths(OP_TYPE_F16, 4, w_dim, RIG_DENSE, 2),
                                rig_tensor_eighths(OP_TYPE_F16, 4, y_dim, RIG_DENSE, 3)};
    struct native own[] = {native_of(&rows[0], ACL_FORMAT_NC1HWC0),
                           native_of(&rows[1], ACL_FORMAT_FRACTAL_Z),
                           native_of(&rows[2], ACL_FORMAT_NC1HWC0)};
    aclIntArray *one = aclCreateIntArray(ones, 2), *zero = aclCreateIntArray(zeros, 2);
    const union op_test_arg args[] = {
        {.tensor = rows[0].acl}, {.tensor = rows[1].acl}, {.tensor = NULL}, {.ints = one},
        {.ints = one},           {.ints = one},           {.integer = 0},   {.ints = zero},
        {.integer = 1},          {.tensor = rows[2].acl}, {.integer = 1}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Convolution"), args, true), 0);
    for (int again = 0; again < 2; again++) { // the second time from the plan that was kept
        const aclTensorDesc *desc[3];
        aclDataBuffer *buffer[3];
        aclopAttr *attr = aclopCreateAttr();
        for (unsigned i = 0; i < 3; i++) {
            desc[i] = describe(&own[i]);
            buffer[i] = aclCreateDataBuffer(own[i].device, own[i].bytes);
        }
        const aclDataBuffer *in[] = {buffer[0], buffer[1]};
        CU_ASSERT_EQUAL(aclopSetAttrListInt(attr, "strides", 4, ones), 0);
        CU_ASSERT_EQUAL(aclopSetAttrListInt(attr, "pads", 4, ones), 0);
        CU_ASSERT_EQUAL(aclopSetAttrListInt(attr, "dilations", 4, ones), 0);
        CU_ASSERT_EQUAL(aclrtMemset(own[2].device, own[2].bytes, 0x5a, own[2].bytes), 0);
        CU_ASSERT_EQUAL(aclopCompileAndExecute("Conv2D", 2, desc, in, 1, desc + 2, buffer + 2, attr,
                                               ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, rig_stream()),
                        0);
        CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
        expect_same(&own[2], &rows[2], "Conv2D");
        aclopDestroyAttr(attr);
        for (unsigned i = 0; i < 3; i++) {
            aclDestroyTensorDesc(desc[i]);
            aclDestroyDataBuffer(buffer[i]);
        }
    }
    aclDestroyIntArray(one);
    aclDestroyIntArray(zero);
    for (unsigned i = 0; i < 3; i++) {
        rig_tensor_free(&rows[i]);
        free_native(&own[i]);
    }
}

/* An operator by type name on maps in NC1HWC0, the last of which it writes, and on their rows;
 * `lists`: two lists of four numbers that follow the inputs. */
static void run_by_type(const char *type, unsigned count, const int64_t (*dim)[4],
                        const int64_t (*lists)[4], const aclopAttr *attr)
{
    enum { MAPS = 4, ALL = MAPS + 2 };
    struct rig_tensor rows[MAPS];
    struct native own[MAPS];
    const aclTensorDesc *desc[2][ALL];
    const aclDataBuffer *buffer[2][ALL];
    const unsigned out = count - 1 + (lists ? 2 : 0);
    const int64_t four[] = {4};
    for (unsigned i = 0; i < count; i++) {
        const unsigned at = i + 1 == count ? out : i;
        rows[i] = rig_tensor_eighths(OP_TYPE_F16, 4, dim[i], RIG_DENSE, i + 1);
        own[i] = native_of(&rows[i], ACL_FORMAT_NC1HWC0);
        desc[0][at] = describe(&own[i]);
        desc[1][at] = aclCreateTensorDesc(ACL_FLOAT16, 4, dim[i], ACL_FORMAT_ND);
        buffer[0][at] = aclCreateDataBuffer(own[i].device, own[i].bytes);
        buffer[1][at] = aclCreateDataBuffer((void *)(uintptr_t)(rows[i].base + RIG_GUARD),
                                            (size_t)rig_tensor_count(&rows[i]) * 2);
    }
    for (unsigned i = 0; i < 4 && lists; i++) {
        aclTensorDesc *list = aclCreateTensorDesc(ACL_INT64, 1, four, ACL_FORMAT_ND);
        CU_ASSERT_EQUAL(aclSetTensorPlaceMent(list, ACL_MEMTYPE_HOST), 0);
        desc[i % 2][count - 1 + i / 2] = list;
        buffer[i % 2][count - 1 + i / 2] =
            aclCreateDataBuffer((void *)(uintptr_t)lists[i / 2], sizeof(lists[0]));
    }
    CU_ASSERT_EQUAL(aclrtMemset(own[count - 1].device, own[count - 1].bytes, 0x5a, 64), 0);
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(aclopCompileAndExecute(type, (int)out, desc[i], buffer[i], 1, desc[i] + out,
                                               (aclDataBuffer **)(uintptr_t)(buffer[i] + out), attr,
                                               ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, rig_stream()),
                        0);
    }
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    expect_same(&own[count - 1], &rows[count - 1], type);
    for (unsigned i = 0; i < 2 * (out + 1); i++) {
        aclDestroyTensorDesc(desc[i % 2][i / 2]);
        aclDestroyDataBuffer(buffer[i % 2][i / 2]);
    }
    for (unsigned i = 0; i < count; i++) {
        rig_tensor_free(&rows[i]);
        free_native(&own[i]);
    }
}

// Whole blocks of channels go as they lie, others as rows.
static void parts_of_maps_are_those_of_rows(void)
{
    static const int64_t joined[][4][4] = {
        {{2, 32, 3, 5}, {2, 16, 3, 5}, {2, 20, 3, 5}, {2, 68, 3, 5}},
        {{2, 20, 3, 5}, {2, 16, 3, 5}, {2, 32, 3, 5}, {2, 68, 3, 5}},
        {{2, 20, 3, 5}, {1, 20, 3, 5}, {2, 20, 3, 5}, {5, 20, 3, 5}},
        {{2, 20, 3, 5}, {2, 20, 3, 1}, {2, 20, 3, 2}, {2, 20, 3, 8}}};
    static const int64_t dims[] = {1, 1, 0, -1};
    static const int64_t added[][3][4] = {
        {{2, 80, 3, 5}, {2, 48, 3, 5}, {2, 32, 3, 5}},
        {{2, 50, 3, 5}, {2, 40, 3, 5}, {2, 20, 3, 5}},
        {{2, 36, 3, 5}, {2, 40, 3, 5}, {2, 20, 3, 5}}}; // x1 and y end in one block
    for (unsigned i = 0; i < 4; i++) {
        aclopAttr *attr = aclopCreateAttr();
        CU_ASSERT_EQUAL(aclopSetAttrInt(attr, "concat_dim", dims[i]), 0);
        CU_ASSERT_EQUAL(aclopSetAttrInt(attr, "N", 3), 0);
        run_by_type("ConcatD", 4, joined[i], NULL, attr);
        aclopDestroyAttr(attr);
    }
    for (unsigned i = 0; i < 3; i++) {
        aclopAttr *attr = aclopCreateAttr();
        CU_ASSERT_EQUAL(aclopSetAttrInt(attr, "x1_c1_offset", 1), 0);
        CU_ASSERT_EQUAL(aclopSetAttrInt(attr, "x2_c1_offset", i == 2), 0);
        CU_ASSERT_EQUAL(aclopSetAttrInt(attr, "c1_len", 2), 0);
        run_by_type("StrideAdd", 3, added[i], NULL, attr);
        aclopDestroyAttr(attr);
    }
}

static void slices_are_those_of_rows(void)
{
    static const int64_t maps[][2][4] = {{{3, 70, 4, 6}, {3, 32, 4, 6}},
                                         {{3, 70, 4, 6}, {2, 22, 2, 3}},
                                         {{3, 70, 4, 6}, {3, 20, 4, 6}},
                                         {{3, 70, 4, 6}, {3, 16, 4, 6}}};
    static const int64_t lists[][2][4] = {{{0, 16, 0, 0}, {3, 32, 4, 6}},
                                          {{1, 48, 1, 2}, {2, 22, 2, 3}},
                                          {{0, 32, 0, 0}, {3, 20, 4, 6}},
                                          {{0, 8, 0, 0}, {3, 16, 4, 6}}};
    for (unsigned i = 0; i < 4; i++) {
        aclopAttr *attr = aclopCreateAttr();
        run_by_type("Slice", 2, maps[i], lists[i], attr);
        aclopDestroyAttr(attr);
    }
}

// torch_npu stores bytes by 16 channels too: C0 is what the description says, and a buffer that is
// too small is refused.
static void blocks_are_as_described(void)
{
    enum { BYTES = 2 * 1 * 4 * 3 * 16, GUARD = 512 };
    const int64_t dim[] = {2, 5, 4, 3}, storage[] = {2, 1, 4, 3, 16};
    struct rig_tensor rows = rig_tensor_eighths(OP_TYPE_F16, 4, dim, RIG_DENSE, 1);
    struct native x = native_of(&rows, ACL_FORMAT_NC1HWC0);
    aclTensorDesc *in = describe(&x), *out = aclCreateTensorDesc(ACL_BOOL, 4, dim, ACL_FORMAT_NCHW);
    const aclTensorDesc *const ins[] = {in, in}, *const outs[] = {out};
    uint8_t got[BYTES + GUARD];
    void *memory = NULL;
    CU_ASSERT_EQUAL(aclSetTensorFormat(out, ACL_FORMAT_NC1HWC0), 0);
    CU_ASSERT_EQUAL(aclSetTensorShape(out, 5, storage), 0);
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&memory, sizeof(got), ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CU_ASSERT_EQUAL(aclrtMemset(memory, sizeof(got), 0x5a, sizeof(got)), 0);
    for (int small = 1; small >= 0; small--) {
        aclDataBuffer *from = aclCreateDataBuffer(x.device, x.bytes);
        aclDataBuffer *to = aclCreateDataBuffer(memory, small ? BYTES - 1 : BYTES);
        const aclDataBuffer *const froms[] = {from, from};
        CU_ASSERT_EQUAL(aclopCompileAndExecute("Equal", 2, ins, froms, 1, outs, &to, NULL,
                                               ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, rig_stream()),
                        small ? ACL_ERROR_OP_INPUT_NOT_MATCH : 0);
        const char *text = small ? aclGetRecentErrMsg() : NULL;
        CU_ASSERT(!small || (text && strstr(text, "[2, 1, 4, 3, 16], 384 bytes") != NULL));
        aclDestroyDataBuffer(from);
        aclDestroyDataBuffer(to);
    }
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtMemcpy(got, sizeof(got), memory, sizeof(got), ACL_MEMCPY_DEVICE_TO_HOST),
                    0);
    int wrong = 0;
    for (int i = 0; i < BYTES + GUARD; i++) {
        wrong += i < BYTES ? i % 16 < dim[1] && got[i] != 1 : got[i] != 0x5a;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    aclrtFree(memory);
    aclDestroyTensorDesc(in);
    aclDestroyTensorDesc(out);
    rig_tensor_free(&rows);
    free_native(&x);
}

static void wrong_formats_are_told(void)
{
    const int64_t dim[] = {2, 5, 4, 3}, three[] = {2, 5, 4}, stride[] = {60, 12, 3, 1},
                  good[] = {2, 1, 4, 3, 16}, bad[] = {2, 1, 4, 3, 5};
    char memory[64];
    struct rig_tensor rows = rig_tensor_eighths(OP_TYPE_F16, 4, dim, RIG_DENSE, 1);
    aclTensor *t =
        aclCreateTensor(dim, 4, ACL_FLOAT16, stride, 0, ACL_FORMAT_NC1HWC0, good, 5, memory);
    CU_ASSERT_PTR_NOT_NULL(t);
    aclDestroyTensor(t);
    CU_ASSERT_PTR_NULL(
        aclCreateTensor(dim, 4, ACL_FLOAT16, stride, 0, ACL_FORMAT_NC1HWC0, bad, 5, memory));
    const char *text = aclGetRecentErrMsg();
    CU_ASSERT_TRUE(text && strstr(text, "[2, 1, 4, 3, 16]") && strstr(text, "[2, 1, 4, 3, 5]"));
    t = aclCreateTensor(three, 3, ACL_FLOAT16, stride + 1, 0, ACL_FORMAT_NC1HWC0, NULL, 0, memory);
    union op_test_arg args[] = {{.tensor = t}, {.tensor = rows.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("NpuFormatCast"), args, false), 161002);
    text = aclGetRecentErrMsg();
    CU_ASSERT_TRUE(text && strstr(text, "NC1HWC0") && strstr(text, "[2, 5, 4]"));
    aclDestroyTensor(t);
    const int64_t sliced[] = {120, 24, 6, 2};
    t = aclCreateTensor(dim, 4, ACL_FLOAT16, sliced, 0, ACL_FORMAT_NC1HWC0, NULL, 0, memory);
    args[0].tensor = t;
    CU_ASSERT_EQUAL(rig_run(rig_row("NpuFormatCast"), args, false), 161002);
    aclDestroyTensor(t);
    rig_tensor_free(&rows);
}

// A view whose dimensions are the blocks themselves, as programs make one by reshaping.
static void views_of_blocks_are_matrices(void)
{
    const int64_t dim[] = {2, 32, 48}, blocks[] = {2, 3, 2, 16, 16},
                  stride[] = {1536, 512, 256, 16, 1};
    struct rig_tensor rows = rig_tensor_eighths(OP_TYPE_F16, 3, dim, RIG_DENSE, 1),
                      back = rig_tensor_make(OP_TYPE_F16, 3, dim, RIG_DENSE, 2);
    struct native own = native_of(&rows, ACL_FORMAT_FRACTAL_NZ);
    aclTensor *view = aclCreateTensor(blocks, 5, ACL_FLOAT16, stride, 0, ACL_FORMAT_FRACTAL_NZ,
                                      blocks, 5, own.device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(view);
    const union op_test_arg args[] = {{.tensor = back.acl}, {.tensor = view}};
    CU_ASSERT_EQUAL(rig_run(rig_row("InplaceCopy"), args, true), 0);
    rig_tensor_take(&back);
    for (int64_t i = 0; i < rig_tensor_count(&rows); i++) {
        CU_ASSERT_EQUAL(rig_get_d(rig_tensor_at(&back, i), OP_TYPE_F16),
                        rig_get_d(rig_tensor_at(&rows, i), OP_TYPE_F16));
    }
    aclDestroyTensor(view);
    free_native(&own);
    rig_tensor_free(&rows);
    rig_tensor_free(&back);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"native_elements_lie_where_formats_say", elements_lie_where_formats_say},
        {"native_convolutions_are_those_of_rows", convolutions_are_those_of_rows},
        {"native_products_are_those_of_rows", products_are_those_of_rows},
        {"native_pooling_is_that_of_rows", pooling_is_that_of_rows},
        {"native_averages_are_those_of_rows", averages_are_those_of_rows},
        {"native_other_operators_take_any_format", other_operators_take_any_format},
        {"native_operators_by_type_take_formats", operators_by_type_take_formats},
        {"native_channels_are_spread_over_positions", channels_are_spread_over_positions},
        {"native_positions_are_reduced_as_rows", positions_are_reduced_as_rows},
        {"native_parts_of_maps_are_those_of_rows", parts_of_maps_are_those_of_rows},
        {"native_slices_are_those_of_rows", slices_are_those_of_rows},
        {"native_blocks_are_as_described", blocks_are_as_described},
        {"native_views_of_blocks_are_matrices", views_of_blocks_are_matrices},
        {"native_wrong_formats_are_told", wrong_formats_are_told},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_native", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
