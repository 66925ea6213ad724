/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by type name that compute: gradients, parts of norms, rotations, matrices. Against
 * double on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

enum { MOST = 10 };

// A dozen f32 operations, and functions to a few ulp.
static const struct rig_bound bound = {.of_largest = 2e-6, .of_each = 4e-6, .roundings = 1};

/* Tensors of a call, inputs first, and what each output shall hold. */
struct made {
    struct rig_tensor t[MOST];
    unsigned ins, outs;
    double *want[MOST];
};

static struct rig_tensor floats(unsigned rank, const int64_t *dim, uint64_t seed)
{
    return rig_values_make(OP_TYPE_F32, rank, dim, RIG_DENSE, seed);
}

static double at(const struct made *made, unsigned tensor, int64_t index)
{
    return rig_values_at(&made->t[tensor], index);
}

static void add(struct made *made, struct rig_tensor tensor, bool output)
{
    CU_ASSERT_FATAL(made->ins + made->outs < MOST);
    made->t[made->ins + made->outs] = tensor;
    if (output) {
        made->want[made->outs++] = rig_values_zeros(rig_tensor_count(&tensor));
    } else {
        made->ins++;
    }
}

// Numbers above 1/2 for what must be positive.
static void lift(struct rig_tensor *tensor)
{
    for (int64_t i = 0; i < rig_tensor_count(tensor); i++) {
        rig_put_d(rig_tensor_at(tensor, i), tensor->type, 0.5 + fabs(rig_values_at(tensor, i)));
    }
    rig_tensor_put(tensor);
}

static void run(const char *type, aclopAttr *attr, struct made *made, uint32_t host)
{
    struct rig_tensor *in[MOST], *out[MOST];
    for (unsigned i = 0; i < made->ins + made->outs; i++) {
        *(i < made->ins ? &in[i] : &out[i - made->ins]) = &made->t[i];
    }
    CU_ASSERT_EQUAL(
        rig_named_try(type, (struct rig_named){in, made->ins, out, made->outs, attr, host}), 0);
}

static void expect(const char *type, aclopAttr *attr, struct made *made, uint32_t host)
{
    run(type, attr, made, host);
    for (unsigned i = 0; i < made->outs; i++) {
        rig_values_expect(&made->t[made->ins + i], made->want[i], bound, type);
    }
    rig_values_free(made->t, made->ins + made->outs, made->want, made->outs);
}

/* ---- element by element ---- */

static double swish_gradient(const double *x)
{
    const double s = 1 / (1 + exp(-x[1]));
    return x[0] * s * (1 + x[1] * (1 - s));
}

static double selu_gradient(const double *x)
{
    const double scale = 1.0507009873554805, alpha = 1.6732632423543772;
    return x[0] * (x[1] > 0 ? scale : x[1] + scale * alpha);
}

static double margin_gradient(const double *x)
{
    return -x[1] * x[2] / (1 + exp(x[0] * x[1]));
}

static double apart_gradient(const double *x)
{
    return (x[0] - x[5] - (x[1] - x[2]) * x[3] * x[3] * x[6]) * x[3] * x[4];
}

static double running_mean(const double *x)
{
    return 0.25 * x[0] + 0.75 * x[1];
}

static const struct {
    const char *type;
    unsigned ins;
    double (*reference)(const double *x);
    const char *number, *word; // attributes: that number is 0.25, that word none
} each[] = {
    {"SwishGrad", 3, swish_gradient, NULL, NULL},
    {"SeluGrad", 2, selu_gradient, NULL, NULL},
    {"SoftMarginLossGrad", 3, margin_gradient, NULL, "reduction"},
    {"SyncBatchNormBackwardElemt", 7, apart_gradient, NULL, NULL},
    {"SyncBNTrainingUpdate", 2, running_mean, "momentum", NULL},
};

static void elements(void)
{
    const int64_t dim[] = {3, 5, 7};
    for (unsigned k = 0; k < sizeof(each) / sizeof(each[0]); k++) {
        struct made made = {0};
        aclopAttr *attr = aclopCreateAttr();
        if (each[k].number) {
            aclopSetAttrFloat(attr, each[k].number, 0.25f);
        }
        if (each[k].word) {
            aclopSetAttrString(attr, each[k].word, "none");
        }
        for (unsigned i = 0; i < each[k].ins; i++) {
            add(&made, floats(3, dim, 100 * k + i), false);
        }
        add(&made, floats(3, dim, 99), true);
        for (int64_t i = 0; i < 105; i++) {
            double x[MOST];
            for (unsigned n = 0; n < each[k].ins; n++) {
                x[n] = at(&made, n, i);
            }
            made.want[0][i] = each[k].reference(x);
        }
        expect(each[k].type, attr, &made, 0);
    }
}

static void dropout_by_bytes(void)
{
    const int64_t dim[] = {4, 33}, one[] = {1};
    struct made made = {0};
    add(&made, floats(2, dim, 1), false);
    add(&made, rig_tensor_make(OP_TYPE_U8, 2, dim, RIG_DENSE, 2), false);
    add(&made, floats(1, one, 3), false);
    add(&made, floats(2, dim, 4), true);
    *(float *)rig_tensor_at(&made.t[2], 0) = 0.75f;
    for (int64_t i = 0; i < 132; i++) {
        unsigned char *mask = rig_tensor_at(&made.t[1], i);
        *mask = i % 3 == 0;
        made.want[0][i] = *mask ? at(&made, 0, i) / 0.75 : 0;
    }
    rig_tensor_put(&made.t[1]);
    expect("DropOutDoMaskV3", NULL, &made, 4);
}

/* ---- norms ---- */

// Three devices with statistics of five channels each.
static void statistics_of_devices(void)
{
    const int64_t rows[] = {3, 5}, one[] = {1, 5}, axis[] = {0};
    const double counts[] = {8, 24, 40}, all = 72, epsilon = 1e-3;
    struct made mean = {0}, gather = {0};
    aclopAttr *attr = aclopCreateAttr(), *over = aclopCreateAttr();
    aclopSetAttrFloat(attr, "momentum", 0.25f);
    aclopSetAttrFloat(attr, "epsilon", (float)epsilon);
    aclopSetAttrListInt(over, "axes", 1, axis);
    aclopSetAttrBool(over, "keep_dims", 1);
    for (unsigned i = 0; i < 3; i++) {
        add(&mean, floats(2, rows, 5 + i), false);
        add(&gather, floats(2, rows, i == 0 ? 5 : 10 + i), false);
    }
    add(&mean, floats(2, one, 8), true);
    lift(&gather.t[1]);
    for (int64_t i = 0; i < 15; i++) {
        rig_put_d(rig_tensor_at(&mean.t[1], i), OP_TYPE_F32, counts[i / 5]);
        rig_put_d(rig_tensor_at(&mean.t[2], i), OP_TYPE_F32, all);
        rig_put_d(rig_tensor_at(&gather.t[2], i), OP_TYPE_F32, counts[i / 5]);
        mean.want[0][i % 5] += at(&mean, 0, i) * counts[i / 5] / all;
    }
    add(&gather, floats(2, rows, 13), false);
    add(&gather, floats(2, one, 14), false);
    add(&gather, floats(2, one, 15), false);
    add(&gather, floats(2, one, 16), true);
    add(&gather, floats(2, one, 17), true);
    for (int64_t c = 0; c < 5; c++) {
        double squares = 0;
        for (int64_t r = 0; r < 3; r++) {
            const double inverse = at(&gather, 1, r * 5 + c),
                         middle = rig_values_round(mean.want[0][c], OP_TYPE_F32),
                         apart = at(&gather, 0, r * 5 + c) - middle;
            squares += counts[r] * (1 / (inverse * inverse) - epsilon + apart * apart);
            rig_put_d(rig_tensor_at(&gather.t[3], r * 5 + c), OP_TYPE_F32, middle);
        }
        rig_put_d(rig_tensor_at(&gather.t[4], c), OP_TYPE_F32, all);
        gather.want[0][c] = 1 / sqrt(squares / all + epsilon);
        gather.want[1][c] = 0.25 * squares / (all - 1) + 0.75 * at(&gather, 5, c);
    }
    for (unsigned i = 1; i < 5; i++) {
        rig_tensor_put(&gather.t[i]);
    }
    rig_tensor_put(&mean.t[1]);
    rig_tensor_put(&mean.t[2]);
    expect("ReduceMeanWithCount", over, &mean, 0);
    expect("SyncBatchNormGatherStatsWithCounts", attr, &gather, 0);
}

static void sums_of_devices(void)
{
    const int64_t dim[] = {9};
    struct made made = {0};
    for (unsigned i = 0; i < 4; i++) {
        add(&made, floats(1, dim, 20 + i), false);
    }
    add(&made, floats(1, dim, 24), true);
    add(&made, floats(1, dim, 25), true);
    for (int64_t i = 0; i < 9; i++) {
        made.want[0][i] = at(&made, 1, i) - at(&made, 0, i) * at(&made, 2, i);
        made.want[1][i] = made.want[0][i] * at(&made, 3, i);
    }
    expect("SyncBatchNormBackwardReduce", NULL, &made, 0);
}

// Layer normalisation over the last dimension with 1 / deviation, and the same without a mean.
static void normalised_rows(void)
{
    const int64_t dim[] = {4, 24}, row[] = {24}, ones[] = {4, 1};
    for (int centred = 0; centred < 2; centred++) {
        struct made made = {0};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrFloat(attr, "epsilon", 1e-3f);
        aclopSetAttrInt(attr, "begin_norm_axis", 1);
        add(&made, floats(2, dim, 30), false);
        add(&made, floats(1, row, 31), false);
        if (centred) {
            add(&made, floats(1, row, 32), false);
        }
        add(&made, floats(2, dim, 33), true);
        if (centred) {
            add(&made, floats(2, ones, 34), true);
        }
        add(&made, floats(2, ones, 35), true);
        for (int64_t r = 0; r < 4; r++) {
            double mean = 0, squares = 0;
            for (int64_t i = 0; i < 24; i++) {
                mean += centred ? at(&made, 0, r * 24 + i) / 24 : 0;
            }
            for (int64_t i = 0; i < 24; i++) {
                squares += pow(at(&made, 0, r * 24 + i) - mean, 2) / 24;
            }
            const double inverse = 1 / sqrt(squares + 1e-3);
            for (int64_t i = 0; i < 24; i++) {
                made.want[0][r * 24 + i] =
                    (at(&made, 0, r * 24 + i) - mean) * inverse * at(&made, 1, i) +
                    (centred ? at(&made, 2, i) : 0);
            }
            made.want[1][r] = centred ? mean : inverse;
            if (centred) {
                made.want[2][r] = inverse;
            }
        }
        expect(centred ? "LayerNormV3" : "RmsNorm", attr, &made, 0);
    }
}

static void distances(void)
{
    const int64_t dim[] = {2, 3, 4, 5}, out[] = {2, 3, 4};
    static const double orders[] = {1, 2, 3, INFINITY};
    for (unsigned k = 0; k < 4; k++) {
        struct made made = {0};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrFloat(attr, "p", (float)orders[k]);
        add(&made, floats(4, dim, 36), false);
        add(&made, floats(4, dim, 37), false);
        add(&made, floats(3, out, 38), true);
        for (int64_t i = 0; i < 24; i++) {
            double sum = 0, most = 0;
            for (int64_t n = i * 5; n < i * 5 + 5; n++) {
                const double apart = fabs(at(&made, 0, n) - at(&made, 1, n));
                sum += pow(apart, orders[k] < 4 ? orders[k] : 1);
                most = fmax(most, apart);
            }
            made.want[0][i] = orders[k] < 4 ? pow(sum, 1 / orders[k]) : most;
        }
        expect("Cdist", attr, &made, 0);
    }
}

/* ---- rotations ---- */

static void rotations(void)
{
    enum { ROWS = 6, HALF = 32, SIZE = 2 * HALF };
    const int64_t dim[] = {2, 1, 3, SIZE}, angle[] = {1, 1, 3, SIZE};
    struct made turned = {0}, back = {0};
    add(&turned, floats(4, dim, 40), false);
    add(&turned, floats(4, angle, 41), false);
    add(&turned, floats(4, angle, 42), false);
    add(&turned, floats(4, dim, 43), true);
    add(&back, floats(4, dim, 40), false);
    add(&back, floats(4, angle, 41), false);
    add(&back, floats(4, angle, 42), false);
    add(&back, floats(4, dim, 44), false);
    add(&back, floats(4, dim, 45), true);
    add(&back, floats(4, angle, 46), true);
    add(&back, floats(4, angle, 47), true);
    for (int64_t i = 0; i < ROWS * SIZE; i++) {
        const int64_t column = i % SIZE, a = i / SIZE % 3 * SIZE + column,
                      other = column < HALF ? i + HALF : i - HALF;
        const double side = column < HALF ? -1 : 1, dy = at(&back, 3, i);
        turned.want[0][i] = at(&turned, 0, i) * at(&turned, 1, a) +
                            side * at(&turned, 0, other) * at(&turned, 2, a);
        back.want[0][i] += dy * at(&back, 1, a);
        back.want[0][other] += side * dy * at(&back, 2, a);
        back.want[1][a] += dy * at(&back, 0, i);
        back.want[2][a] += side * dy * at(&back, 0, other);
    }
    expect("RotaryMul", NULL, &turned, 0);
    expect("RotaryMulGrad", NULL, &back, 0);
}

static void cross_products(void)
{
    const int64_t dim[] = {4, 3, 5};
    aclopAttr *attr = aclopCreateAttr();
    struct made made = {0};
    aclopSetAttrInt(attr, "dim", 1);
    add(&made, floats(3, dim, 50), false);
    add(&made, floats(3, dim, 51), false);
    add(&made, floats(3, dim, 52), true);
    for (int64_t i = 0; i < 60; i++) {
        const int64_t first = i / 15 * 15 + i % 5, k = i / 5 % 3, p = first + (k + 1) % 3 * 5,
                      q = first + (k + 2) % 3 * 5;
        made.want[0][i] = at(&made, 0, p) * at(&made, 1, q) - at(&made, 0, q) * at(&made, 1, p);
    }
    expect("Cross", attr, &made, 0);
}

/* ---- matrices ---- */

enum { SIDE = 6 };

// Diagonally heavy, so that it is far from singular.
static struct rig_tensor heavy(void)
{
    const int64_t dim[] = {SIDE, SIDE};
    struct rig_tensor matrix = floats(2, dim, 60);
    for (int64_t i = 0; i < SIDE; i++) {
        rig_put_d(rig_tensor_at(&matrix, i * SIDE + i), OP_TYPE_F32, i % 2 ? -9 : 8);
    }
    rig_tensor_put(&matrix);
    return matrix;
}

static double product(const struct made *made, unsigned a, unsigned b, int64_t i, int64_t k)
{
    double sum = 0;
    for (int64_t n = 0; n < SIDE; n++) {
        sum += at(made, a, i * SIDE + n) * at(made, b, n * SIDE + k);
    }
    return sum;
}

static void free_made(struct made *made)
{
    rig_values_free(made->t, made->ins + made->outs, made->want, made->outs);
}

static void inverse_and_factors(void)
{
    const int64_t dim[] = {SIDE, SIDE};
    struct made inverse = {0}, factors = {0};
    add(&inverse, heavy(), false);
    add(&inverse, floats(2, dim, 61), true);
    run("MatrixInverse", NULL, &inverse, 0);
    rig_tensor_take(&inverse.t[1]);
    add(&factors, heavy(), false);
    add(&factors, floats(2, dim, 62), true);
    add(&factors, floats(2, dim, 63), true);
    run("Qr", NULL, &factors, 0);
    rig_tensor_take(&factors.t[1]);
    rig_tensor_take(&factors.t[2]);
    for (int64_t i = 0; i < SIDE * SIDE; i++) {
        const int64_t row = i / SIDE, column = i % SIDE;
        CU_ASSERT_DOUBLE_EQUAL(product(&inverse, 0, 1, row, column), row == column, 1e-5);
        CU_ASSERT_DOUBLE_EQUAL(product(&factors, 1, 2, row, column), at(&factors, 0, i), 1e-5);
        if (row > column) {
            CU_ASSERT_EQUAL(at(&factors, 2, i), 0);
        }
    }
    free_made(&inverse);
    free_made(&factors);
}

// Of a only one triangle counts.
static void triangles(void)
{
    const int64_t dim[] = {SIDE, SIDE};
    for (int way = 0; way < 4; way++) {
        const bool lower = way & 1, turned = way & 2;
        struct made made = {0};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrBool(attr, "lower", lower);
        aclopSetAttrBool(attr, "adjoint", turned);
        add(&made, heavy(), false);
        add(&made, floats(2, dim, 68), false);
        add(&made, floats(2, dim, 69), true);
        run("MatrixTriangularSolve", attr, &made, 0);
        rig_tensor_take(&made.t[2]);
        for (int64_t i = 0; i < SIDE * SIDE; i++) {
            double sum = 0;
            for (int64_t n = 0; n < SIDE; n++) {
                const int64_t row = turned ? n : i / SIDE, column = turned ? i / SIDE : n;
                const bool counts = lower ? row >= column : row <= column;
                sum += counts
                           ? at(&made, 0, row * SIDE + column) * at(&made, 2, n * SIDE + i % SIDE)
                           : 0;
            }
            CU_ASSERT_DOUBLE_EQUAL(sum, at(&made, 1, i), 1e-5);
        }
        free_made(&made);
    }
}

// u sigma v' is the matrix again, and v' v is 1.
static void singular_values(void)
{
    const int64_t dim[] = {SIDE, SIDE}, list[] = {SIDE};
    struct made made = {0};
    add(&made, heavy(), false);
    add(&made, floats(1, list, 90), true);
    add(&made, floats(2, dim, 91), true);
    add(&made, floats(2, dim, 92), true);
    run("Svd", NULL, &made, 0);
    for (unsigned i = 1; i < 4; i++) {
        rig_tensor_take(&made.t[i]);
    }
    for (int64_t i = 0; i < SIDE * SIDE; i++) {
        const int64_t row = i / SIDE, column = i % SIDE;
        double again = 0, whole = 0;
        for (int64_t n = 0; n < SIDE; n++) {
            again +=
                at(&made, 2, row * SIDE + n) * at(&made, 1, n) * at(&made, 3, column * SIDE + n);
            whole += at(&made, 3, n * SIDE + row) * at(&made, 3, n * SIDE + column);
        }
        CU_ASSERT_DOUBLE_EQUAL(again, at(&made, 0, i), 2e-5);
        CU_ASSERT_DOUBLE_EQUAL(whole, row == column, 1e-5);
    }
    free_made(&made);
}

static void determinant(void)
{
    const int64_t one[] = {1};
    struct made made = {0};
    double a[SIDE][SIDE], sign = 1, log_of = 0;
    add(&made, heavy(), false);
    add(&made, floats(0, one, 64), true);
    add(&made, floats(0, one, 65), true);
    for (int64_t i = 0; i < SIDE * SIDE; i++) {
        a[i / SIDE][i % SIDE] = at(&made, 0, i);
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
    expect("LogMatrixDeterminant", NULL, &made, 0);
}

static void powers_in_order(void)
{
    const int64_t list[] = {7};
    aclopAttr *attr = aclopCreateAttr();
    struct made made = {0};
    aclopSetAttrFloat(attr, "start", -1);
    aclopSetAttrFloat(attr, "end", 2);
    aclopSetAttrInt(attr, "steps", 7);
    aclopSetAttrFloat(attr, "base", 3);
    add(&made, floats(1, list, 66), false);
    add(&made, floats(1, list, 67), true);
    for (int64_t i = 0; i < 7; i++) {
        made.want[0][i] = pow(3, -1 + 0.5 * (double)i);
    }
    expect("LogSpaceD", attr, &made, 0);
}

/* ---- volumes and regions ---- */

// Each place of [2, 3, 4] is read by the eight of its twice finer volume.
static void volumes(void)
{
    const int64_t coarse[] = {1, 2, 2, 3, 4}, fine[] = {1, 2, 4, 6, 8}, out[] = {4, 6, 8};
    aclopAttr *attr = aclopCreateAttr(), *back = aclopCreateAttr();
    struct made finer = {0}, sums = {0};
    aclopSetAttrListInt(attr, "output_size", 3, out);
    aclopSetAttrListInt(back, "output_size", 3, out);
    aclopSetAttrListInt(back, "input_size", 5, coarse);
    add(&finer, floats(5, coarse, 70), false);
    add(&finer, floats(5, fine, 71), true);
    add(&sums, floats(5, fine, 72), false);
    add(&sums, floats(5, coarse, 73), true);
    for (int64_t i = 0; i < 384; i++) {
        const int64_t from = i / 192 * 24 + i / 48 % 4 / 2 * 12 + i / 8 % 6 / 2 * 4 + i % 8 / 2;
        finer.want[0][i] = at(&finer, 0, from);
        sums.want[0][from] += at(&sums, 0, i);
    }
    expect("UpsampleNearest3d", attr, &finer, 0);
    expect("UpsampleNearest3dGrad", back, &sums, 0);
}

// The gradient is the transpose of the forward operator: <forward(x), g> = <x, gradient(g)>.
static void expect_transpose(const char *forward, const char *gradient, aclopAttr *const attr[2],
                             struct rig_tensor x, struct rig_tensor y, struct rig_tensor *rois)
{
    struct made there = {0}, back = {0};
    double first = 0, second = 0;
    add(&there, x, false);
    add(&back, rig_values_make(OP_TYPE_F32, y.rank, y.dim, RIG_DENSE, 80), false);
    if (rois) {
        add(&there, rois[0], false);
        add(&back, rois[1], false);
    }
    add(&there, y, true);
    add(&back, rig_values_make(OP_TYPE_F32, x.rank, x.dim, RIG_DENSE, 81), true);
    run(forward, attr[0], &there, 0);
    run(gradient, attr[1], &back, 0);
    rig_tensor_take(&there.t[there.ins]);
    rig_tensor_take(&back.t[back.ins]);
    for (int64_t i = 0; i < rig_tensor_count(&y); i++) {
        first += at(&there, there.ins, i) * at(&back, 0, i);
    }
    for (int64_t i = 0; i < rig_tensor_count(&x); i++) {
        second += at(&there, 0, i) * at(&back, back.ins, i);
    }
    CU_ASSERT(fabs(first) > 1e-2);
    CU_ASSERT_DOUBLE_EQUAL(first, second, 1e-4 * fabs(first) + 1e-4);
    free_made(&there);
    free_made(&back);
}

static void linear_volumes(void)
{
    const int64_t coarse[] = {1, 2, 3, 4, 5}, fine[] = {1, 2, 5, 7, 6}, out[] = {5, 7, 6};
    for (int corners = 0; corners < 2; corners++) {
        aclopAttr *attr[] = {aclopCreateAttr(), aclopCreateAttr()};
        for (int i = 0; i < 2; i++) {
            aclopSetAttrListInt(attr[i], "output_size", 3, out);
            aclopSetAttrBool(attr[i], "align_corners", (uint8_t)corners);
        }
        aclopSetAttrListInt(attr[1], "input_size", 5, coarse);
        expect_transpose("UpsampleTrilinear3d", "UpsampleTrilinear3dGrad", attr,
                         floats(5, coarse, 82), floats(5, fine, 83), NULL);
    }
}

static void regions(void)
{
    const int64_t planes[] = {2, 3, 8, 8}, table[] = {2, 5}, out[] = {2, 3, 2, 2};
    static const double corners[] = {0, 1, 1, 6, 5, 1, 0.5, 2, 7, 6.5};
    struct rig_tensor rois[] = {floats(2, table, 84), floats(2, table, 85)};
    aclopAttr *attr[] = {aclopCreateAttr(), aclopCreateAttr()};
    for (int i = 0; i < 2; i++) {
        for (int64_t k = 0; k < 10; k++) {
            rig_put_d(rig_tensor_at(&rois[i], k), OP_TYPE_F32, corners[k]);
        }
        rig_tensor_put(&rois[i]);
        aclopSetAttrFloat(attr[i], "spatial_scale", 1);
        aclopSetAttrInt(attr[i], "pooled_height", 2);
        aclopSetAttrInt(attr[i], "pooled_width", 2);
        aclopSetAttrInt(attr[i], "sample_num", 2);
        aclopSetAttrInt(attr[i], "roi_end_mode", 0);
    }
    aclopSetAttrListInt(attr[1], "xdiff_shape", 4, planes);
    expect_transpose("ROIAlign", "ROIAlignGrad", attr, floats(4, planes, 86), floats(4, out, 87),
                     rois);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"elements", elements},
        {"dropout_by_bytes", dropout_by_bytes},
        {"statistics_of_devices", statistics_of_devices},
        {"sums_of_devices", sums_of_devices},
        {"normalised_rows", normalised_rows},
        {"distances", distances},
        {"rotations", rotations},
        {"cross_products", cross_products},
        {"inverse_and_factors", inverse_and_factors},
        {"triangles", triangles},
        {"singular_values", singular_values},
        {"determinant", determinant},
        {"powers_in_order", powers_in_order},
        {"volumes", volumes},
        {"linear_volumes", linear_volumes},
        {"regions", regions},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_numbers", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
