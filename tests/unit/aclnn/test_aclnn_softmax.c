/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, its logarithm and their gradients against double on the host: along every dimension,
 * over rows of one element, several a tile, and longer than a tile. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_d(rig_tensor_at(tensor, index), tensor->type);
}

static struct rig_tensor make(enum op_type type, const int64_t *dim, enum rig_layout layout,
                              uint64_t seed, double scale)
{
    struct rig_tensor tensor = rig_tensor_make(type, 3, dim, layout, seed);
    const int64_t count = rig_tensor_count(&tensor);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t random = rig_random(&seed);
        rig_put_d(rig_tensor_at(&tensor, i), type,
                  random % 97 == 5 && scale > 1 ? -INFINITY
                                                : ((double)(random % 4001) - 2000) / 2000 * scale);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

/* Rows along a dimension: where element i of row r is. */
struct rows {
    int64_t count, length, step, inner;
};

static int64_t place(const struct rows *rows, int64_t row, int64_t i)
{
    return row / rows->inner * rows->inner * rows->length + row % rows->inner + i * rows->step;
}

static void softmax_of(const struct rows *rows, const struct rig_tensor *x, bool log_of,
                       double *out)
{
    for (int64_t row = 0; row < rows->count; row++) {
        double most = -INFINITY, sum = 0;
        for (int64_t i = 0; i < rows->length; i++) {
            most = fmax(most, at(x, place(rows, row, i)));
        }
        for (int64_t i = 0; i < rows->length; i++) {
            sum += exp(at(x, place(rows, row, i)) - most);
        }
        for (int64_t i = 0; i < rows->length; i++) {
            const int64_t k = place(rows, row, i);
            out[k] = log_of ? at(x, k) - most - log(sum) : exp(at(x, k) - most) / sum;
        }
    }
}

static void gradient_of(const struct rows *rows, const struct rig_tensor *g,
                        const struct rig_tensor *y, bool log_of, double *out)
{
    for (int64_t row = 0; row < rows->count; row++) {
        double sum = 0;
        for (int64_t i = 0; i < rows->length; i++) {
            const int64_t k = place(rows, row, i);
            sum += log_of ? at(g, k) : at(g, k) * at(y, k);
        }
        for (int64_t i = 0; i < rows->length; i++) {
            const int64_t k = place(rows, row, i);
            out[k] = log_of ? at(g, k) - exp(at(y, k)) * sum : at(y, k) * (at(g, k) - sum);
        }
    }
}

/* Exponentials, sums of up to 20,000 f32 in 64 lanes, and the rounding to the type. */
static void expect(struct rig_tensor *out, const double *want, const char *what)
{
    const double ulp = out->type == OP_TYPE_F32 ? 0 : out->type == OP_TYPE_F16 ? 0x1p-11 : 0x1p-8;
    const int64_t count = rig_tensor_count(out);
    int64_t wrong = 0;
    rig_tensor_take(out);
    for (int64_t i = 0; i < count; i++) {
        // Where results saturate, a half that is no number is stored as 0.
        const bool zero = rig_chip() == 0 && out->type == OP_TYPE_F16 && isnan(want[i]);
        const double got = at(out, i), is = zero ? 0 : want[i];
        const double room = 2e-6 + fabs(is) * (4e-6 + ulp);
        if (!(fabs(got - is) <= room || got == is || (isnan(got) && isnan(is)))) {
            if (wrong++ == 0) {
                fprintf(stderr, "%s, %s: element %lld is %.9g, expected %.9g\n", what,
                        rig_type_name(out->type), (long long)i, got, is);
            }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void run_softmax(const int64_t *dim, int along, enum op_type type, enum rig_layout layout,
                        bool log_of)
{
    struct rows rows = {.count = 1, .length = dim[along], .inner = 1};
    for (int i = 0; i < 3; i++) {
        rows.count *= i == along ? 1 : dim[i];
        rows.inner *= i > along ? dim[i] : 1;
    }
    rows.step = rows.inner;
    struct rig_tensor x = make(type, dim, layout, 1, 9), g = make(type, dim, layout, 2, 1),
                      y = make(type, dim, RIG_SLICED, 3, 1), dx = make(type, dim, RIG_DENSE, 4, 1);
    const size_t count = (size_t)rig_tensor_count(&x);
    double *want = calloc(count, sizeof(*want));
    const union op_test_arg forward[] = {{.tensor = x.acl}, {.integer = along}, {.tensor = y.acl}};
    softmax_of(&rows, &x, log_of, want);
    CU_ASSERT_EQUAL(rig_run(rig_row(log_of ? "LogSoftmax" : "Softmax"), forward, true), 0);
    expect(&y, want, log_of ? "LogSoftmax" : "Softmax");
    const union op_test_arg backward[] = {
        {.tensor = g.acl}, {.tensor = y.acl}, {.integer = along}, {.tensor = dx.acl}};
    gradient_of(&rows, &g, &y, log_of, want);
    CU_ASSERT_EQUAL(
        rig_run(rig_row(log_of ? "LogSoftmaxBackward" : "SoftmaxBackward"), backward, true), 0);
    expect(&dx, want, log_of ? "LogSoftmaxBackward" : "SoftmaxBackward");
    free(want);
    struct rig_tensor *all[] = {&x, &g, &y, &dx};
    for (unsigned i = 0; i < 4; i++) {
        rig_tensor_free(all[i]);
    }
}

static void softmax_and_gradients_equal_double(void)
{
    static const int64_t shapes[][3] = {
        {3, 5, 7}, {1, 1, 1}, {2, 130, 16}, {1, 3, 8200}, {2, 1, 19999}};
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        for (int along = s < 3 ? 0 : 2; along < 3; along++) {
            for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
                for (int log_of = 0; log_of < 2; log_of++) {
                    run_softmax(shapes[s], along, types[t], RIG_DENSE, log_of);
                    run_softmax(shapes[s], along, types[t], RIG_PERMUTED, log_of);
                }
            }
        }
    }
    static const int64_t several[] = {1, 98, 8704}; // the longest in UB, several a core
    run_softmax(several, 2, OP_TYPE_F32, RIG_DENSE, 0);
    run_softmax(several, 2, OP_TYPE_F16, RIG_DENSE, 1);
    static const int64_t many[] = {1, 700, 130}; // short rows, by columns
    for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
        run_softmax(many, 2, types[t], RIG_DENSE, 0);
        run_softmax(many, 2, types[t], RIG_DENSE, 1);
    }
}

// Rows of 7 f16 and large numbers behind them: what is loaded with the last block of a row is not
// part of the result, and no overflow of it either.
static void numbers_behind_rows_are_no_overflow(void)
{
    enum { ROWS = 5, LENGTH = 7, ALL = 512 };
    const int64_t dim[] = {ROWS, LENGTH}, stride[] = {LENGTH, 1};
    uint16_t data[ALL];
    void *memory[3];
    for (int i = 0; i < ALL; i++) {
        data[i] = i < ROWS * LENGTH ? (uint16_t)(0x3c00 + 64 * (i % 13)) : 0x7bff;
    }
    aclTensor *t[3];
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&memory[i], sizeof(data), ACL_MEM_MALLOC_HUGE_FIRST), 0);
        CU_ASSERT_EQUAL(
            aclrtMemcpy(memory[i], sizeof(data), data, sizeof(data), ACL_MEMCPY_HOST_TO_DEVICE), 0);
        t[i] = aclCreateTensor(dim, 2, ACL_FLOAT16, stride, 0, ACL_FORMAT_ND, dim, 2, memory[i]);
    }
    const union op_test_arg forward[] = {{.tensor = t[0]}, {.integer = 1}, {.tensor = t[1]}},
                            backward[] = {{.tensor = t[2]},
                                          {.tensor = t[1]},
                                          {.integer = 1},
                                          {.tensor = t[2]}};
    for (int log_of = 0; log_of < 2; log_of++) {
        rig_run_finite(rig_row(log_of ? "LogSoftmax" : "Softmax"), forward);
        rig_run_finite(rig_row(log_of ? "LogSoftmaxBackward" : "SoftmaxBackward"), backward);
    }
    for (int i = 0; i < 3; i++) {
        aclDestroyTensor(t[i]);
        aclrtFree(memory[i]);
    }
}

// NaN of either sign in one of a row's lanes makes the row NaN, and no other.
static void rows_with_nan_are_nan(void)
{
    enum { ROWS = 80, LENGTH = 72 };
    const int64_t dim[] = {1, ROWS, LENGTH};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, dim, RIG_DENSE, 1),
                      y = rig_tensor_eighths(OP_TYPE_F32, 3, dim, RIG_DENSE, 2);
    for (int64_t row = 0; row < ROWS; row += 5) {
        rig_put_d(rig_tensor_at(&x, row * LENGTH + row % LENGTH), OP_TYPE_F32,
                  row % 2 ? -(double)NAN : (double)NAN);
    }
    rig_tensor_put(&x);
    const union op_test_arg args[] = {{.tensor = x.acl}, {.integer = 2}, {.tensor = y.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Softmax"), args, true), 0);
    rig_tensor_take(&y);
    unsigned wrong = 0;
    for (int64_t i = 0; i < ROWS * LENGTH; i++) {
        wrong += (isnan(at(&y, i)) != 0) != (i / LENGTH % 5 == 0);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    rig_tensor_free(&x);
    rig_tensor_free(&y);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"softmax_and_gradients_equal_double", softmax_and_gradients_equal_double},
        {"softmax_rows_with_nan_are_nan", rows_with_nan_are_nan},
        {"softmax_numbers_behind_rows_are_no_overflow", numbers_behind_rows_are_no_overflow},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_softmax", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
