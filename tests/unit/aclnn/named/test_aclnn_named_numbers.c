/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by type name that compute: gradients, parts of norms, rotations, matrices. Against
 * double on the host. */
#include "rig_named.h"

#include <math.h>

// A dozen f32 operations, and functions to a few ulp.
static const struct rig_bound bound = {.of_largest = 2e-6, .of_each = 4e-6, .roundings = 1};

// Numbers above 1/2 for what must be positive.
static void lift(struct rig_tensor *tensor)
{
    for (int64_t i = 0; i < rig_tensor_count(tensor); i++) {
        rig_put_d(rig_tensor_at(tensor, i), tensor->type, 0.5 + fabs(rig_values_at(tensor, i)));
    }
    rig_tensor_put(tensor);
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
        struct rig_named_made made = {0};
        aclopAttr *attr = aclopCreateAttr();
        if (each[k].number) {
            aclopSetAttrFloat(attr, each[k].number, 0.25f);
        }
        if (each[k].word) {
            aclopSetAttrString(attr, each[k].word, "none");
        }
        for (unsigned i = 0; i < each[k].ins; i++) {
            rig_named_input(&made, rig_named_floats(3, dim, 100 * k + i));
        }
        rig_named_output(&made, rig_named_floats(3, dim, 99));
        for (int64_t i = 0; i < 105; i++) {
            double x[RIG_NAMED_MAX];
            for (unsigned n = 0; n < each[k].ins; n++) {
                x[n] = rig_named_at(&made, n, i);
            }
            made.want[0][i] = each[k].reference(x);
        }
        rig_named_expect(each[k].type, attr, &made, 0, bound);
    }
}

static void dropout_by_bytes(void)
{
    const int64_t dim[] = {4, 33}, one[] = {1};
    struct rig_named_made made = {0};
    rig_named_input(&made, rig_named_floats(2, dim, 1));
    rig_named_input(&made, rig_tensor_make(OP_TYPE_U8, 2, dim, RIG_DENSE, 2));
    rig_named_input(&made, rig_named_floats(1, one, 3));
    rig_named_output(&made, rig_named_floats(2, dim, 4));
    *(float *)rig_tensor_at(&made.t[2], 0) = 0.75f;
    for (int64_t i = 0; i < 132; i++) {
        unsigned char *mask = rig_tensor_at(&made.t[1], i);
        *mask = i % 3 == 0;
        made.want[0][i] = *mask ? rig_named_at(&made, 0, i) / 0.75 : 0;
    }
    rig_tensor_put(&made.t[1]);
    rig_named_expect("DropOutDoMaskV3", NULL, &made, 4, bound);
}

/* ---- norms ---- */

// Three devices with statistics of five channels each.
static void statistics_of_devices(void)
{
    const int64_t rows[] = {3, 5}, one[] = {1, 5}, axis[] = {0};
    const double counts[] = {8, 24, 40}, all = 72, epsilon = 1e-3;
    struct rig_named_made mean = {0}, gather = {0};
    aclopAttr *attr = aclopCreateAttr(), *over = aclopCreateAttr();
    aclopSetAttrFloat(attr, "momentum", 0.25f);
    aclopSetAttrFloat(attr, "epsilon", (float)epsilon);
    aclopSetAttrListInt(over, "axes", 1, axis);
    aclopSetAttrBool(over, "keep_dims", 1);
    for (unsigned i = 0; i < 3; i++) {
        rig_named_input(&mean, rig_named_floats(2, rows, 5 + i));
        rig_named_input(&gather, rig_named_floats(2, rows, i == 0 ? 5 : 10 + i));
    }
    rig_named_output(&mean, rig_named_floats(2, one, 8));
    lift(&gather.t[1]);
    for (int64_t i = 0; i < 15; i++) {
        rig_put_d(rig_tensor_at(&mean.t[1], i), OP_TYPE_F32, counts[i / 5]);
        rig_put_d(rig_tensor_at(&mean.t[2], i), OP_TYPE_F32, all);
        rig_put_d(rig_tensor_at(&gather.t[2], i), OP_TYPE_F32, counts[i / 5]);
        mean.want[0][i % 5] += rig_named_at(&mean, 0, i) * counts[i / 5] / all;
    }
    rig_named_input(&gather, rig_named_floats(2, rows, 13));
    rig_named_input(&gather, rig_named_floats(2, one, 14));
    rig_named_input(&gather, rig_named_floats(2, one, 15));
    rig_named_output(&gather, rig_named_floats(2, one, 16));
    rig_named_output(&gather, rig_named_floats(2, one, 17));
    for (int64_t c = 0; c < 5; c++) {
        double squares = 0;
        for (int64_t r = 0; r < 3; r++) {
            const double inverse = rig_named_at(&gather, 1, r * 5 + c),
                         middle = rig_values_round(mean.want[0][c], OP_TYPE_F32),
                         apart = rig_named_at(&gather, 0, r * 5 + c) - middle;
            squares += counts[r] * (1 / (inverse * inverse) - epsilon + apart * apart);
            rig_put_d(rig_tensor_at(&gather.t[3], r * 5 + c), OP_TYPE_F32, middle);
        }
        rig_put_d(rig_tensor_at(&gather.t[4], c), OP_TYPE_F32, all);
        gather.want[0][c] = 1 / sqrt(squares / all + epsilon);
        gather.want[1][c] = 0.25 * squares / (all - 1) + 0.75 * rig_named_at(&gather, 5, c);
    }
    for (unsigned i = 1; i < 5; i++) {
        rig_tensor_put(&gather.t[i]);
    }
    rig_tensor_put(&mean.t[1]);
    rig_tensor_put(&mean.t[2]);
    rig_named_expect("ReduceMeanWithCount", over, &mean, 0, bound);
    rig_named_expect("SyncBatchNormGatherStatsWithCounts", attr, &gather, 0, bound);
}

static void sums_of_devices(void)
{
    const int64_t dim[] = {9};
    struct rig_named_made made = {0};
    for (unsigned i = 0; i < 4; i++) {
        rig_named_input(&made, rig_named_floats(1, dim, 20 + i));
    }
    rig_named_output(&made, rig_named_floats(1, dim, 24));
    rig_named_output(&made, rig_named_floats(1, dim, 25));
    for (int64_t i = 0; i < 9; i++) {
        made.want[0][i] =
            rig_named_at(&made, 1, i) - rig_named_at(&made, 0, i) * rig_named_at(&made, 2, i);
        made.want[1][i] = made.want[0][i] * rig_named_at(&made, 3, i);
    }
    rig_named_expect("SyncBatchNormBackwardReduce", NULL, &made, 0, bound);
}

// Layer normalisation over the last dimension with 1 / deviation, and the same without a mean.
static void normalised_rows(void)
{
    const int64_t dim[] = {4, 24}, row[] = {24}, ones[] = {4, 1};
    for (int centred = 0; centred < 2; centred++) {
        struct rig_named_made made = {0};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrFloat(attr, "epsilon", 1e-3f);
        aclopSetAttrInt(attr, "begin_norm_axis", 1);
        rig_named_input(&made, rig_named_floats(2, dim, 30));
        rig_named_input(&made, rig_named_floats(1, row, 31));
        if (centred) {
            rig_named_input(&made, rig_named_floats(1, row, 32));
        }
        rig_named_output(&made, rig_named_floats(2, dim, 33));
        if (centred) {
            rig_named_output(&made, rig_named_floats(2, ones, 34));
        }
        rig_named_output(&made, rig_named_floats(2, ones, 35));
        for (int64_t r = 0; r < 4; r++) {
            double mean = 0, squares = 0;
            for (int64_t i = 0; i < 24; i++) {
                mean += centred ? rig_named_at(&made, 0, r * 24 + i) / 24 : 0;
            }
            for (int64_t i = 0; i < 24; i++) {
                squares += pow(rig_named_at(&made, 0, r * 24 + i) - mean, 2) / 24;
            }
            const double inverse = 1 / sqrt(squares + 1e-3);
            for (int64_t i = 0; i < 24; i++) {
                made.want[0][r * 24 + i] = (rig_named_at(&made, 0, r * 24 + i) - mean) * inverse *
                                               rig_named_at(&made, 1, i) +
                                           (centred ? rig_named_at(&made, 2, i) : 0);
            }
            made.want[1][r] = centred ? mean : inverse;
            if (centred) {
                made.want[2][r] = inverse;
            }
        }
        rig_named_expect(centred ? "LayerNormV3" : "RmsNorm", attr, &made, 0, bound);
    }
}

static void distances(void)
{
    const int64_t dim[] = {2, 3, 4, 5}, out[] = {2, 3, 4};
    static const double orders[] = {1, 2, 3, INFINITY};
    for (unsigned k = 0; k < 4; k++) {
        struct rig_named_made made = {0};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrFloat(attr, "p", (float)orders[k]);
        rig_named_input(&made, rig_named_floats(4, dim, 36));
        rig_named_input(&made, rig_named_floats(4, dim, 37));
        rig_named_output(&made, rig_named_floats(3, out, 38));
        for (int64_t i = 0; i < 24; i++) {
            double sum = 0, most = 0;
            for (int64_t n = i * 5; n < i * 5 + 5; n++) {
                const double apart = fabs(rig_named_at(&made, 0, n) - rig_named_at(&made, 1, n));
                sum += pow(apart, orders[k] < 4 ? orders[k] : 1);
                most = fmax(most, apart);
            }
            made.want[0][i] = orders[k] < 4 ? pow(sum, 1 / orders[k]) : most;
        }
        rig_named_expect("Cdist", attr, &made, 0, bound);
    }
}

/* ---- rotations ---- */

static void rotations(void)
{
    enum { ROWS = 6, HALF = 32, SIZE = 2 * HALF };
    const int64_t dim[] = {2, 1, 3, SIZE}, angle[] = {1, 1, 3, SIZE};
    struct rig_named_made turned = {0}, back = {0};
    rig_named_input(&turned, rig_named_floats(4, dim, 40));
    rig_named_input(&turned, rig_named_floats(4, angle, 41));
    rig_named_input(&turned, rig_named_floats(4, angle, 42));
    rig_named_output(&turned, rig_named_floats(4, dim, 43));
    rig_named_input(&back, rig_named_floats(4, dim, 40));
    rig_named_input(&back, rig_named_floats(4, angle, 41));
    rig_named_input(&back, rig_named_floats(4, angle, 42));
    rig_named_input(&back, rig_named_floats(4, dim, 44));
    rig_named_output(&back, rig_named_floats(4, dim, 45));
    rig_named_output(&back, rig_named_floats(4, angle, 46));
    rig_named_output(&back, rig_named_floats(4, angle, 47));
    for (int64_t i = 0; i < ROWS * SIZE; i++) {
        const int64_t column = i % SIZE, a = i / SIZE % 3 * SIZE + column,
                      other = column < HALF ? i + HALF : i - HALF;
        const double side = column < HALF ? -1 : 1, dy = rig_named_at(&back, 3, i);
        turned.want[0][i] = rig_named_at(&turned, 0, i) * rig_named_at(&turned, 1, a) +
                            side * rig_named_at(&turned, 0, other) * rig_named_at(&turned, 2, a);
        back.want[0][i] += dy * rig_named_at(&back, 1, a);
        back.want[0][other] += side * dy * rig_named_at(&back, 2, a);
        back.want[1][a] += dy * rig_named_at(&back, 0, i);
        back.want[2][a] += side * dy * rig_named_at(&back, 0, other);
    }
    rig_named_expect("RotaryMul", NULL, &turned, 0, bound);
    rig_named_expect("RotaryMulGrad", NULL, &back, 0, bound);
}

static void cross_products(void)
{
    const int64_t dim[] = {4, 3, 5};
    aclopAttr *attr = aclopCreateAttr();
    struct rig_named_made made = {0};
    aclopSetAttrInt(attr, "dim", 1);
    rig_named_input(&made, rig_named_floats(3, dim, 50));
    rig_named_input(&made, rig_named_floats(3, dim, 51));
    rig_named_output(&made, rig_named_floats(3, dim, 52));
    for (int64_t i = 0; i < 60; i++) {
        const int64_t first = i / 15 * 15 + i % 5, k = i / 5 % 3, p = first + (k + 1) % 3 * 5,
                      q = first + (k + 2) % 3 * 5;
        made.want[0][i] = rig_named_at(&made, 0, p) * rig_named_at(&made, 1, q) -
                          rig_named_at(&made, 0, q) * rig_named_at(&made, 1, p);
    }
    rig_named_expect("Cross", attr, &made, 0, bound);
}

static void powers_in_order(void)
{
    const int64_t list[] = {7};
    aclopAttr *attr = aclopCreateAttr();
    struct rig_named_made made = {0};
    aclopSetAttrFloat(attr, "start", -1);
    aclopSetAttrFloat(attr, "end", 2);
    aclopSetAttrInt(attr, "steps", 7);
    aclopSetAttrFloat(attr, "base", 3);
    rig_named_input(&made, rig_named_floats(1, list, 66));
    rig_named_output(&made, rig_named_floats(1, list, 67));
    for (int64_t i = 0; i < 7; i++) {
        made.want[0][i] = pow(3, -1 + 0.5 * (double)i);
    }
    rig_named_expect("LogSpaceD", attr, &made, 0, bound);
}

/* ---- volumes and regions ---- */

// Each place of [2, 3, 4] is read by the eight of its twice finer volume.
static void volumes(void)
{
    const int64_t coarse[] = {1, 2, 2, 3, 4}, fine[] = {1, 2, 4, 6, 8}, out[] = {4, 6, 8};
    aclopAttr *attr = aclopCreateAttr(), *back = aclopCreateAttr();
    struct rig_named_made finer = {0}, sums = {0};
    aclopSetAttrListInt(attr, "output_size", 3, out);
    aclopSetAttrListInt(back, "output_size", 3, out);
    aclopSetAttrListInt(back, "input_size", 5, coarse);
    rig_named_input(&finer, rig_named_floats(5, coarse, 70));
    rig_named_output(&finer, rig_named_floats(5, fine, 71));
    rig_named_input(&sums, rig_named_floats(5, fine, 72));
    rig_named_output(&sums, rig_named_floats(5, coarse, 73));
    for (int64_t i = 0; i < 384; i++) {
        const int64_t from = i / 192 * 24 + i / 48 % 4 / 2 * 12 + i / 8 % 6 / 2 * 4 + i % 8 / 2;
        finer.want[0][i] = rig_named_at(&finer, 0, from);
        sums.want[0][from] += rig_named_at(&sums, 0, i);
    }
    rig_named_expect("UpsampleNearest3d", attr, &finer, 0, bound);
    rig_named_expect("UpsampleNearest3dGrad", back, &sums, 0, bound);
}

// The gradient is the transpose of the forward operator: <forward(x), g> = <x, gradient(g)>.
static void expect_transpose(const char *forward, const char *gradient, aclopAttr *const attr[2],
                             struct rig_tensor x, struct rig_tensor y, struct rig_tensor *rois)
{
    struct rig_named_made there = {0}, back = {0};
    double first = 0, second = 0;
    rig_named_input(&there, x);
    rig_named_input(&back, rig_values_make(OP_TYPE_F32, y.rank, y.dim, RIG_DENSE, 80));
    if (rois) {
        rig_named_input(&there, rois[0]);
        rig_named_input(&back, rois[1]);
    }
    rig_named_output(&there, y);
    rig_named_output(&back, rig_values_make(OP_TYPE_F32, x.rank, x.dim, RIG_DENSE, 81));
    rig_named_call(forward, attr[0], &there, 0);
    rig_named_call(gradient, attr[1], &back, 0);
    rig_tensor_take(&there.t[there.ins]);
    rig_tensor_take(&back.t[back.ins]);
    for (int64_t i = 0; i < rig_tensor_count(&y); i++) {
        first += rig_named_at(&there, there.ins, i) * rig_named_at(&back, 0, i);
    }
    for (int64_t i = 0; i < rig_tensor_count(&x); i++) {
        second += rig_named_at(&there, 0, i) * rig_named_at(&back, back.ins, i);
    }
    CU_ASSERT(fabs(first) > 1e-2);
    CU_ASSERT_DOUBLE_EQUAL(first, second, 1e-4 * fabs(first) + 1e-4);
    rig_named_free(&there);
    rig_named_free(&back);
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
                         rig_named_floats(5, coarse, 82), rig_named_floats(5, fine, 83), NULL);
    }
}

static void regions(void)
{
    const int64_t planes[] = {2, 3, 8, 8}, table[] = {2, 5}, out[] = {2, 3, 2, 2};
    static const double corners[] = {0, 1, 1, 6, 5, 1, 0.5, 2, 7, 6.5};
    struct rig_tensor rois[] = {rig_named_floats(2, table, 84), rig_named_floats(2, table, 85)};
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
    expect_transpose("ROIAlign", "ROIAlignGrad", attr, rig_named_floats(4, planes, 86),
                     rig_named_floats(4, out, 87), rois);
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
