/* SPDX-License-Identifier: Apache-2.0 */
/* Decompositions and solutions of small matrices by type name: products of the results, and a
 * determinant against double. */
#include "rig_named.h"

#include <math.h>

static const struct rig_bound bound = {.of_largest = 2e-6, .of_each = 4e-6, .roundings = 1};

enum { SIDE = 6 };

// Diagonally heavy, so that it is far from singular.
static struct rig_tensor heavy(void)
{
    const int64_t dim[] = {SIDE, SIDE};
    struct rig_tensor matrix = rig_named_floats(2, dim, 60);
    for (int64_t i = 0; i < SIDE; i++) {
        rig_put_d(rig_tensor_at(&matrix, i * SIDE + i), OP_TYPE_F32, i % 2 ? -9 : 8);
    }
    rig_tensor_put(&matrix);
    return matrix;
}

static double product(const struct rig_named_made *made, unsigned a, unsigned b, int64_t i,
                      int64_t k)
{
    double sum = 0;
    for (int64_t n = 0; n < SIDE; n++) {
        sum += rig_named_at(made, a, i * SIDE + n) * rig_named_at(made, b, n * SIDE + k);
    }
    return sum;
}

static void inverse_and_factors(void)
{
    const int64_t dim[] = {SIDE, SIDE};
    struct rig_named_made inverse = {0}, factors = {0};
    rig_named_input(&inverse, heavy());
    rig_named_output(&inverse, rig_named_floats(2, dim, 61));
    rig_named_call("MatrixInverse", NULL, &inverse, 0);
    rig_tensor_take(&inverse.t[1]);
    rig_named_input(&factors, heavy());
    rig_named_output(&factors, rig_named_floats(2, dim, 62));
    rig_named_output(&factors, rig_named_floats(2, dim, 63));
    rig_named_call("Qr", NULL, &factors, 0);
    rig_tensor_take(&factors.t[1]);
    rig_tensor_take(&factors.t[2]);
    for (int64_t i = 0; i < SIDE * SIDE; i++) {
        const int64_t row = i / SIDE, column = i % SIDE;
        CU_ASSERT_DOUBLE_EQUAL(product(&inverse, 0, 1, row, column), row == column, 1e-5);
        CU_ASSERT_DOUBLE_EQUAL(product(&factors, 1, 2, row, column), rig_named_at(&factors, 0, i),
                               1e-5);
        if (row > column) {
            CU_ASSERT_EQUAL(rig_named_at(&factors, 2, i), 0);
        }
    }
    rig_named_free(&inverse);
    rig_named_free(&factors);
}

// Of a only one triangle counts.
static void triangles(void)
{
    const int64_t dim[] = {SIDE, SIDE};
    for (int way = 0; way < 4; way++) {
        const bool lower = way & 1, turned = way & 2;
        struct rig_named_made made = {0};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrBool(attr, "lower", lower);
        aclopSetAttrBool(attr, "adjoint", turned);
        rig_named_input(&made, heavy());
        rig_named_input(&made, rig_named_floats(2, dim, 68));
        rig_named_output(&made, rig_named_floats(2, dim, 69));
        rig_named_call("MatrixTriangularSolve", attr, &made, 0);
        rig_tensor_take(&made.t[2]);
        for (int64_t i = 0; i < SIDE * SIDE; i++) {
            double sum = 0;
            for (int64_t n = 0; n < SIDE; n++) {
                const int64_t row = turned ? n : i / SIDE, column = turned ? i / SIDE : n;
                const bool counts = lower ? row >= column : row <= column;
                sum += counts ? rig_named_at(&made, 0, row * SIDE + column) *
                                    rig_named_at(&made, 2, n * SIDE + i % SIDE)
                              : 0;
            }
            CU_ASSERT_DOUBLE_EQUAL(sum, rig_named_at(&made, 1, i), 1e-5);
        }
        rig_named_free(&made);
    }
}

// u sigma v' is the matrix again, and v' v is 1.
static void singular_values(void)
{
    const int64_t dim[] = {SIDE, SIDE}, list[] = {SIDE};
    struct rig_named_made made = {0};
    rig_named_input(&made, heavy());
    rig_named_output(&made, rig_named_floats(1, list, 90));
    rig_named_output(&made, rig_named_floats(2, dim, 91));
    rig_named_output(&made, rig_named_floats(2, dim, 92));
    rig_named_call("Svd", NULL, &made, 0);
    for (unsigned i = 1; i < 4; i++) {
        rig_tensor_take(&made.t[i]);
    }
    for (int64_t i = 0; i < SIDE * SIDE; i++) {
        const int64_t row = i / SIDE, column = i % SIDE;
        double again = 0, whole = 0;
        for (int64_t n = 0; n < SIDE; n++) {
            again += rig_named_at(&made, 2, row * SIDE + n) * rig_named_at(&made, 1, n) *
                     rig_named_at(&made, 3, column * SIDE + n);
            whole +=
                rig_named_at(&made, 3, n * SIDE + row) * rig_named_at(&made, 3, n * SIDE + column);
        }
        CU_ASSERT_DOUBLE_EQUAL(again, rig_named_at(&made, 0, i), 2e-5);
        CU_ASSERT_DOUBLE_EQUAL(whole, row == column, 1e-5);
    }
    rig_named_free(&made);
}

// Of a tall matrix of rank 2 the square u is whole too: columns without a singular value complete
// it.
static void singular_values_of_few(void)
{
    enum { COLUMNS = 4 };
    const int64_t dim[] = {SIDE, COLUMNS}, list[] = {COLUMNS}, left[] = {SIDE, SIDE},
                  right[] = {COLUMNS, COLUMNS};
    struct rig_named_made made = {0};
    struct rig_tensor matrix = rig_named_floats(2, dim, 93);
    for (int64_t i = 0; i < SIDE * COLUMNS; i++) {
        const double r = (double)(i / COLUMNS), c = (double)(i % COLUMNS);
        rig_put_d(rig_tensor_at(&matrix, i), OP_TYPE_F32, (r + 1) * (c - 1) + (r - 2) * c);
    }
    rig_tensor_put(&matrix);
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrBool(attr, "full_matrices", 1);
    rig_named_input(&made, matrix);
    rig_named_output(&made, rig_named_floats(1, list, 94));
    rig_named_output(&made, rig_named_floats(2, left, 95));
    rig_named_output(&made, rig_named_floats(2, right, 96));
    rig_named_call("Svd", attr, &made, 0);
    for (unsigned i = 1; i < 4; i++) {
        rig_tensor_take(&made.t[i]);
    }
    CU_ASSERT_TRUE(rig_named_at(&made, 1, 1) > 1);
    CU_ASSERT_TRUE(rig_named_at(&made, 1, 2) < 1e-5);
    for (int64_t i = 0; i < SIDE * SIDE; i++) {
        const int64_t row = i / SIDE, column = i % SIDE;
        double again = 0, whole = 0;
        for (int64_t n = 0; n < SIDE; n++) {
            whole +=
                rig_named_at(&made, 2, n * SIDE + row) * rig_named_at(&made, 2, n * SIDE + column);
            again += n < COLUMNS && column < COLUMNS
                         ? rig_named_at(&made, 2, row * SIDE + n) * rig_named_at(&made, 1, n) *
                               rig_named_at(&made, 3, column * COLUMNS + n)
                         : 0;
        }
        CU_ASSERT_DOUBLE_EQUAL(whole, row == column, 1e-5);
        if (column < COLUMNS) {
            CU_ASSERT_DOUBLE_EQUAL(again, rig_named_at(&made, 0, row * COLUMNS + column), 1e-4);
        }
    }
    rig_named_free(&made);
}

static void determinant(void)
{
    const int64_t one[] = {1};
    struct rig_named_made made = {0};
    double a[SIDE][SIDE], sign = 1, log_of = 0;
    rig_named_input(&made, heavy());
    rig_named_output(&made, rig_named_floats(0, one, 64));
    rig_named_output(&made, rig_named_floats(0, one, 65));
    for (int64_t i = 0; i < SIDE * SIDE; i++) {
        a[i / SIDE][i % SIDE] = rig_named_at(&made, 0, i);
    }
    for (int k = 0; k < SIDE; k++) { // heavy on the diagonal: no row must change its place
        for (int i = k + 1; i < SIDE; i++) {
            const double factor = a[i][k] / a[k][k];
            for (int n = k; n < SIDE; n++) {
                a[i][n] -= factor * a[k][n];
            }
        }
        sign *= a[k][k] < 0 ? -1 : 1;
        log_of += log(fabs(a[k][k]));
    }
    made.want[0][0] = sign;
    made.want[1][0] = log_of;
    rig_named_expect("LogMatrixDeterminant", NULL, &made, 0, bound);
}

// Halves give what singles give for the same numbers, rounded.
static void gradients_of_distances_of_halves(void)
{
    const int64_t a_dim[] = {SIDE, 5}, b_dim[] = {4, 5}, pairs[] = {SIDE, 4},
                  *dims[] = {pairs, a_dim, b_dim, pairs, a_dim};
    const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16};
    struct rig_tensor t[2][5];
    for (unsigned w = 0; w < 2; w++) {
        for (unsigned i = 0; i < 5; i++) {
            t[w][i] = rig_tensor_make(types[w], 2, dims[i], RIG_DENSE, i + 1);
            for (int64_t k = 0; k < rig_tensor_count(&t[w][i]); k++) {
                const double eighths = (double)((k * 13 + i * 7) % 31) / 8 + (i == 3 ? 1 : -2);
                rig_put_d(rig_tensor_at(&t[w][i], k), types[w], eighths);
            }
            rig_tensor_put(&t[w][i]);
        }
        const union op_test_arg args[] = {{.tensor = t[w][0].acl},
                                          {.tensor = t[w][1].acl},
                                          {.tensor = t[w][2].acl},
                                          {.tensor = t[w][3].acl},
                                          {.real = 2},
                                          {.tensor = t[w][4].acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("CdistBackward"), args, true), 0);
        rig_tensor_take(&t[w][4]);
    }
    for (int64_t k = 0; k < SIDE * 5; k++) {
        const double want = rig_get_d(rig_tensor_at(&t[0][4], k), OP_TYPE_F32),
                     got = rig_get_d(rig_tensor_at(&t[1][4], k), OP_TYPE_F16);
        CU_ASSERT_TRUE(fabs(got - want) <= fabs(want) / 1024);
    }
    for (unsigned i = 0; i < 10; i++) {
        rig_tensor_free(&t[i / 5][i % 5]);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"inverse_and_factors", inverse_and_factors},
        {"triangles", triangles},
        {"singular_values", singular_values},
        {"singular_values_of_few", singular_values_of_few},
        {"determinant", determinant},
        {"gradients_of_distances_of_halves", gradients_of_distances_of_halves},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_matrices", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
