/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, means and products of floats against double on the host: rows, columns, dimensions apart,
 * everything, shorter and longer than a tile and than a group of rows; variances and places of
 * extremes along rows. */
#include "rig.h"

#include <acl/acl_base.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = 4 };

static double at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_d(rig_tensor_at(tensor, index), tensor->type);
}

static struct rig_tensor make(enum op_type type, unsigned rank, const int64_t *dim,
                              enum rig_layout layout, uint64_t seed)
{
    struct rig_tensor tensor = rig_tensor_make(type, rank, dim, layout, seed);
    const int64_t count = rig_tensor_count(&tensor);
    for (int64_t i = 0; i < count; i++) {
        rig_put_d(rig_tensor_at(&tensor, i), type, (double)(rig_random(&seed) % 4001) / 2000 - 1);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

struct sums {
    double *sum, *size; /* of absolute values */
    int64_t count;      /* of elements of each */
};

static struct sums sums_of(const struct rig_tensor *x, const int64_t *dim, unsigned reduced,
                           int64_t results)
{
    struct sums sums = {calloc((size_t)results, sizeof(double)),
                        calloc((size_t)results, sizeof(double)), rig_tensor_count(x) / results};
    for (int64_t i = 0; i < rig_tensor_count(x); i++) {
        int64_t rest = i, to = 0, step = 1;
        for (unsigned d = RANK; d-- > 0; rest /= dim[d]) {
            if (!(reduced >> d & 1)) {
                to += rest % dim[d] * step;
                step *= dim[d];
            }
        }
        sums.sum[to] += at(x, i);
        sums.size[to] += fabs(at(x, i));
    }
    return sums;
}

/* No more than two hundred f32 additions in a row, and the rounding to the type. */
static void expect(struct rig_tensor *out, const struct sums *want, double divisor,
                   const char *what)
{
    const double ulp = out->type == OP_TYPE_F32   ? 0x1p-24
                       : out->type == OP_TYPE_F16 ? 0x1p-11
                                                  : 0x1p-8;
    int64_t wrong = 0;
    rig_tensor_take(out);
    for (int64_t i = 0; i < rig_tensor_count(out); i++) {
        const double sum = want->sum[i] / divisor,
                     room = want->size[i] / divisor * 200 * 0x1p-24 + fabs(sum) * ulp + 0x1p-24;
        if (!(fabs(at(out, i) - sum) <= room)) {
            if (wrong++ == 0) {
                fprintf(stderr, "%s, %s: element %lld is %.9g, expected %.9g\n", what,
                        rig_type_name(out->type), (long long)i, at(out, i), sum);
            }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void run_sum(const int64_t *dim, unsigned reduced, enum op_type type, enum rig_layout layout,
                    bool mean)
{
    static const aclDataType codes[] = {
        [OP_TYPE_F32] = ACL_FLOAT, [OP_TYPE_F16] = ACL_FLOAT16, [OP_TYPE_BF16] = ACL_BF16};
    int64_t kept[RANK], items[RANK], results = 1;
    unsigned rank = 0, count = 0;
    for (unsigned d = 0; d < RANK; d++) {
        if (reduced >> d & 1) {
            items[count++] = d;
        } else {
            kept[rank++] = dim[d];
            results *= dim[d];
        }
    }
    struct rig_tensor x = make(type, RANK, dim, layout, 1),
                      out = make(type, rank, kept, RIG_SLICED, 2);
    aclIntArray *dims = aclCreateIntArray(items, count);
    const union op_test_arg args[] = {{.tensor = x.acl},
                                      {.ints = dims},
                                      {.integer = 0},
                                      {.type = codes[type]},
                                      {.tensor = out.acl}};
    const struct sums want = sums_of(&x, dim, reduced, results);
    const char *name = mean ? "Mean" : "ReduceSum";
    CU_ASSERT_EQUAL(rig_run(rig_row(name), args, true), 0);
    expect(&out, &want, mean ? (double)want.count : 1, name);
    aclDestroyIntArray(dims);
    free(want.sum);
    free(want.size);
    rig_tensor_free(&x);
    rig_tensor_free(&out);
}

static void sums_equal_double(void)
{
    static const struct {
        int64_t dim[RANK];
        unsigned reduced; /* bits of dimensions */
    } cases[] = {
        {{1, 1, 300, 40}, 4},   {{1, 1, 300, 37}, 4}, {{1, 1, 37, 300}, 8},  {{2, 3, 5, 7}, 8},
        {{2, 3, 5, 7}, 2},      {{2, 3, 5, 7}, 13},   {{1, 1, 3, 20001}, 8}, {{1, 1, 1, 50000}, 8},
        {{2, 100, 30, 10}, 15}, {{4, 33, 1, 49}, 12}, {{1, 1, 9, 9000}, 4},  {{3, 130, 16, 1}, 2},
    };
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
            run_sum(cases[i].dim, cases[i].reduced, types[t], RIG_DENSE, t & 1);
            run_sum(cases[i].dim, cases[i].reduced, types[t], RIG_PERMUTED, !(t & 1));
        }
    }
}

/* Factors near 1, so that products of many stay numbers: 2^-24 of the result for each. */
static void run_product(const int64_t *dim, int over, enum op_type type, enum rig_layout layout)
{
    const int64_t all = 1;
    const unsigned rank = over < 0 ? 0 : 1;
    const int64_t *kept = over < 0 ? &all : &dim[1 - over];
    struct rig_tensor x = make(type, 2, dim, layout, 3), out = make(type, rank, kept, RIG_DENSE, 4);
    const union op_test_arg whole[] = {{.tensor = x.acl},
                                       {.type = type == OP_TYPE_F32 ? ACL_FLOAT : ACL_FLOAT16},
                                       {.tensor = out.acl}};
    const union op_test_arg one[] = {
        {.tensor = x.acl}, {.integer = over}, {.integer = 0}, whole[1], {.tensor = out.acl}};
    const int64_t count = over < 0 ? dim[0] * dim[1] : dim[over];
    double want[1000];
    for (int i = 0; i < 1000; i++) {
        want[i] = 1;
    }
    for (int64_t i = 0; i < dim[0] * dim[1]; i++) {
        rig_put_d(rig_tensor_at(&x, i), type, 1 + at(&x, i) / 16 * (i & 1 ? 1 : -1));
        want[over < 0 ? 0 : over == 0 ? i % dim[1] : i / dim[1]] *= at(&x, i);
    }
    rig_tensor_put(&x);
    CU_ASSERT_EQUAL(over < 0 ? rig_run(rig_row("Prod"), whole, true)
                             : rig_run(rig_row("ProdDim"), one, true),
                    0);
    rig_tensor_take(&out);
    int wrong = 0;
    for (int64_t i = 0; i < rig_tensor_count(&out); i++) {
        const double room =
            fabs(want[i]) * ((double)count * 0x1p-24 + (type == OP_TYPE_F32 ? 0x1p-24 : 0x1p-11)) +
            (type == OP_TYPE_F32 ? 0x1p-149 : 0x1p-25);
        wrong += !(fabs(at(&out, i) - want[i]) <= room);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    rig_tensor_free(&x);
    rig_tensor_free(&out);
}

static void products_equal_double(void)
{
    static const int64_t dims[][2] = {{1, 64},    {3, 65},   {100, 7},  {17, 300},
                                      {64, 1000}, {1000, 3}, {2, 20001}};
    for (unsigned i = 0; i < sizeof(dims) / sizeof(dims[0]); i++) {
        for (int over = -1; over < 2; over++) {
            if (over < 0 || dims[i][1 - over] <= 1000) {
                run_product(dims[i], over, i & 1 ? OP_TYPE_F16 : OP_TYPE_F32, RIG_DENSE);
                run_product(dims[i], over, i & 1 ? OP_TYPE_F32 : OP_TYPE_F16, RIG_PERMUTED);
            }
        }
    }
}

/* ---- variances and places of extremes along rows ---- */

// Shorter and longer than UB holds, more rows than are stored at once.
static const int64_t shapes[][2] = {{2, 65},   {1, 1024}, {400, 777}, {193, 100},
                                    {7, 8192}, {3, 8193}, {1000, 66}, {50, 2047}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

// Whole numbers of [-range, range] in eighths, so that there are equal ones.
static struct rig_tensor make_eighths(enum op_type type, const int64_t *dim, int64_t range,
                                      uint64_t seed)
{
    struct rig_tensor tensor = rig_tensor_make(type, 2, dim, RIG_DENSE, seed);
    for (int64_t i = 0; i < dim[0] * dim[1]; i++) {
        const int64_t number = (int64_t)(rig_random(&seed) % (uint64_t)(2 * range + 1)) - range;
        rig_put_d(rig_tensor_at(&tensor, i), type, (double)number / 8);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

/* Runs "row" with dims {1} and correction 1 on the first `rows` rows of x. */
static void run_moments(const char *row, const struct rig_tensor *x, int64_t rows,
                        struct rig_tensor *out, struct rig_tensor *mean)
{
    const int64_t dim[] = {rows, x->dim[1]}, item = 1, stride[] = {x->dim[1], 1};
    aclTensor *some = aclCreateTensor(dim, 2, rig_acl_type(x->type), stride, 0, ACL_FORMAT_ND, dim,
                                      2, (void *)(uintptr_t)(x->base + RIG_GUARD));
    aclIntArray *dims = aclCreateIntArray(&item, 1);
    *out = rig_tensor_make(x->type, 1, &rows, RIG_DENSE, 1);
    *mean = rig_tensor_make(x->type, 1, &rows, RIG_DENSE, 2);
    const union op_test_arg args[] = {{.tensor = some},     {.ints = dims},
                                      {.integer = 1},       {.integer = false},
                                      {.tensor = out->acl}, {.tensor = mean->acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row(row), args, true), 0);
    rig_tensor_take(out);
    rig_tensor_take(mean);
    aclDestroyTensor(some);
    aclDestroyIntArray(dims);
}

static void expect_moments(const struct rig_tensor *x, const struct rig_tensor *out,
                           const struct rig_tensor *mean, bool root)
{
    const double ulp = x->type == OP_TYPE_F32 ? 0x1p-17 : x->type == OP_TYPE_F16 ? 0x1p-10 : 0x1p-7;
    int64_t wrong = 0;
    for (int64_t r = 0; r < out->dim[0]; r++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < x->dim[1]; i++) {
            sum += at(x, r * x->dim[1] + i);
        }
        const double middle = sum / (double)x->dim[1];
        for (int64_t i = 0; i < x->dim[1]; i++) {
            const double away = at(x, r * x->dim[1] + i) - middle;
            squares += away * away;
        }
        const double variance = squares / (double)(x->dim[1] - 1),
                     want = root ? sqrt(variance) : variance;
        wrong += !(fabs(at(out, r) - want) <= want * ulp);
        wrong += !(fabs(at(mean, r) - middle) <= fabs(middle) * ulp + 0x1p-20);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void variances_equal_double(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned i = 0; i < SHAPES; i++) {
        for (unsigned t = 0; t < 2 + rig_chip(); t++) {
            struct rig_tensor x = make_eighths(types[t], shapes[i], 20, i + 1), out, mean, first,
                              of_first;
            const bool root = i & 1;
            const char *row = root ? "StdMeanCorrection" : "VarMean";
            run_moments(row, &x, shapes[i][0], &out, &mean);
            expect_moments(&x, &out, &mean, root);
            // A row's result does not depend on how many others there are.
            const int64_t few = (shapes[i][0] + 1) / 2;
            if (few * shapes[i][1] >= 1024) {
                run_moments(row, &x, few, &first, &of_first);
                const size_t bytes = (size_t)few * rig_type_bytes(out.type);
                CU_ASSERT_EQUAL(memcmp(rig_tensor_at(&first, 0), rig_tensor_at(&out, 0), bytes), 0);
                CU_ASSERT_EQUAL(memcmp(rig_tensor_at(&of_first, 0), rig_tensor_at(&mean, 0), bytes),
                                0);
                rig_tensor_free(&first);
                rig_tensor_free(&of_first);
            }
            rig_tensor_free(&x);
            rig_tensor_free(&out);
            rig_tensor_free(&mean);
        }
    }
}

/* The first of the largest (or smallest) elements of a row; NaN is both. */
static int64_t place_of(const struct rig_tensor *x, int64_t row, bool least)
{
    int64_t best = 0;
    for (int64_t i = 0; i < x->dim[1]; i++) {
        const double value = at(x, row * x->dim[1] + i), most = at(x, row * x->dim[1] + best);
        if (isnan(value)) {
            return i;
        }
        best = (least ? value < most : value > most) ? i : best;
    }
    return best;
}

static void run_places(const int64_t *dim, enum op_type type, bool least, bool with_nan)
{
    struct rig_tensor x = make_eighths(type, dim, 300, 7),
                      value = rig_tensor_make(type, 1, dim, RIG_DENSE, 1),
                      index = rig_tensor_make(OP_TYPE_I64, 1, dim, RIG_DENSE, 2),
                      alone = rig_tensor_make(OP_TYPE_I64, 1, dim, RIG_DENSE, 3);
    int64_t wrong = 0;
    for (int64_t r = 0; with_nan && r < dim[0]; r += 3) {
        rig_put_d(rig_tensor_at(&x, r * dim[1] + (r * 7 + 5) % dim[1]), type, NAN);
    }
    rig_tensor_put(&x);
    const union op_test_arg with_value[] = {{.tensor = x.acl},
                                            {.integer = 1},
                                            {.integer = false},
                                            {.tensor = value.acl},
                                            {.tensor = index.acl}},
                            places[] = {{.tensor = x.acl},
                                        {.integer = 1},
                                        {.integer = false},
                                        {.tensor = alone.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row(least ? "MinDim" : "MaxDim"), with_value, true), 0);
    CU_ASSERT_EQUAL(rig_run(rig_row(least ? "ArgMin" : "ArgMax"), places, true), 0);
    rig_tensor_take(&value);
    rig_tensor_take(&index);
    rig_tensor_take(&alone);
    for (int64_t r = 0; r < dim[0]; r++) {
        const int64_t want = place_of(&x, r, least);
        const double extreme = at(&x, r * dim[1] + want), got = at(&value, r);
        wrong += rig_get_i(rig_tensor_at(&index, r), OP_TYPE_I64) != want;
        wrong += rig_get_i(rig_tensor_at(&alone, r), OP_TYPE_I64) != want;
        wrong += isnan(extreme) ? !isnan(got) : got != extreme;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    rig_tensor_free(&x);
    rig_tensor_free(&value);
    rig_tensor_free(&index);
    rig_tensor_free(&alone);
}

static void places_are_those_of_the_first(void)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        run_places(shapes[i], OP_TYPE_F32, i & 1, false);
        run_places(shapes[i], OP_TYPE_F16, !(i & 1), i > 1);
        run_places(shapes[i], OP_TYPE_F32, !(i & 1), true);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"sums_equal_double", sums_equal_double},
        {"products_equal_double", products_equal_double},
        {"variances_equal_double", variances_equal_double},
        {"places_are_those_of_the_first", places_are_those_of_the_first}};
    rig_open();
    const int code =
        leo_test_main("aclnn_sum", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
