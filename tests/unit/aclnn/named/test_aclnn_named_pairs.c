/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of boxes in pairs and their gradients by type name, against double: gradients against
 * differences of the value. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

enum { GIOU, DIOU, CIOU, FORMS, A = 0, B = 4, NUMBERS = 8 };

static const char *const types[] = {"GIoU", "DIoU", "CIoU"};
static const char *const gradients[] = {"GIoUGrad", "DIoUGrad", "CIoUGrad"};
static const double eps = 1e-9; // of the published tests

static void corners(const double *box, bool centred, double *x1, double *y1, double *x2, double *y2)
{
    *x1 = centred ? box[0] - box[2] / 2 : box[0];
    *y1 = centred ? box[1] - box[3] / 2 : box[1];
    *x2 = centred ? box[0] + box[2] / 2 : box[2];
    *y2 = centred ? box[1] + box[3] / 2 : box[3];
}

/* The value of a pair; `apart` is the difference of the angles. `weight`: that of the angles, made
 * where it is below 0. */
static double value(const double *n, int form, bool centred, double *apart, double *weight)
{
    double ax1, ay1, ax2, ay2, bx1, by1, bx2, by2;
    corners(n + A, centred, &ax1, &ay1, &ax2, &ay2);
    corners(n + B, centred, &bx1, &by1, &bx2, &by2);
    const double more = form == GIOU ? 0 : eps,
                 common = fmax(fmin(ax2, bx2) - fmax(ax1, bx1), 0) *
                          fmax(fmin(ay2, by2) - fmax(ay1, by1), 0),
                 aw = ax2 - ax1, ah = ay2 - ay1 + more, bw = bx2 - bx1, bh = by2 - by1 + more,
                 all = aw * ah + bw * bh - common + more, ow = fmax(ax2, bx2) - fmin(ax1, bx1),
                 oh = fmax(ay2, by2) - fmin(ay1, by1);
    if (form == GIOU) {
        return common / all - (ow * oh - all) / (ow * oh);
    }
    const double far = (pow(bx1 + bx2 - ax1 - ax2, 2) + pow(by1 + by2 - ay1 - ay2, 2)) / 4 /
                       (ow * ow + oh * oh + eps);
    *apart = atan(bw / bh) - atan(aw / ah);
    const double v = 4 / (M_PI * M_PI) * *apart * *apart;
    *weight = *weight < 0 ? v / (1 + eps - common / all + v) : *weight;
    return common / all - far - (form == CIOU ? *weight * v : 0);
}

// Boxes of one to three in size whose centres or corners lie in a field of four.
static struct rig_tensor boxes(enum op_type type, int64_t count, bool centred, uint64_t seed)
{
    const int64_t dim[] = {4, count};
    struct rig_tensor tensor = rig_values_make(type, 2, dim, RIG_DENSE, seed);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < 2; k++) {
            const double size = 2 + rig_values_at(&tensor, (k + 2) * count + i) / 2,
                         from = rig_values_at(&tensor, k * count + i);
            rig_put_d(rig_tensor_at(&tensor, (k + 2) * count + i), type,
                      centred ? size : from + size);
        }
    }
    rig_tensor_put(&tensor);
    return tensor;
}

static void take_pair(const struct rig_tensor *a, int64_t ia, const struct rig_tensor *b,
                      int64_t ib, double *n)
{
    for (int64_t k = 0; k < 4; k++) {
        n[A + k] = rig_values_at(a, k * a->dim[1] + ia);
        n[B + k] = rig_values_at(b, k * b->dim[1] + ib);
    }
}

static aclopAttr *attributes(bool centred, bool crossed)
{
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrBool(attr, "trans", centred);
    aclopSetAttrBool(attr, "is_cross", crossed);
    aclopSetAttrString(attr, "mode", "iou");
    return attr;
}

// A few dozen f32 operations; what is small beside 1 has their error.
static const struct rig_bound bound = {.at_all = 4e-6, .of_each = 1e-5, .roundings = 1};

static void run_values(enum op_type type, int form, bool centred, bool crossed, int64_t count)
{
    const int64_t others = crossed ? count / 2 + 1 : count, dim[] = {crossed ? others : 1, count};
    struct rig_tensor t[] = {boxes(type, count, centred, 3), boxes(type, others, centred, 4),
                             rig_values_make(type, 2, dim, RIG_DENSE, 5),
                             rig_values_make(type, 2, dim, RIG_DENSE, 6)};
    struct rig_tensor *in[] = {&t[0], &t[1]}, *out[] = {&t[2], &t[3]};
    double *want[] = {rig_values_zeros(dim[0] * count), rig_values_zeros(dim[0] * count)};
    for (int64_t i = 0; i < dim[0] * count; i++) {
        double n[NUMBERS], weight = -1;
        take_pair(&t[0], i % count, &t[1], crossed ? i / count : i, n);
        want[0][i] = value(n, form, centred, &want[1][i], &weight);
    }
    rig_named_run(types[form], attributes(centred, crossed), in, 2, out, form == CIOU ? 2 : 1);
    rig_values_expect(out[0], want[0], bound, types[form]);
    if (form == CIOU) {
        rig_values_expect(out[1], want[1], bound, "angles");
    }
    rig_values_free(t, 4, want, 2);
}

static void values_equal_double(void)
{
    static const int64_t counts[] = {1, 15, 16, 133};
    for (int form = GIOU; form < FORMS; form++) {
        for (int way = 0; way < 4; way++) {
            for (unsigned k = 0; k < 4; k++) {
                run_values(OP_TYPE_F32, form, way & 1, way & 2, counts[k]);
            }
            run_values(OP_TYPE_F16, form, way & 1, way & 2, 21);
        }
    }
}

static void run_gradients(int form, bool centred, int64_t count)
{
    const int64_t one[] = {count};
    struct rig_tensor t[] = {
        rig_values_make(OP_TYPE_F32, 1, one, RIG_DENSE, 7), boxes(OP_TYPE_F32, count, centred, 8),
        boxes(OP_TYPE_F32, count, centred, 9), boxes(OP_TYPE_F32, count, centred, 10),
        boxes(OP_TYPE_F32, count, centred, 11)};
    struct rig_tensor *in[] = {&t[0], &t[1], &t[2], &t[0]}, *out[] = {&t[3], &t[4]};
    double *want[] = {rig_values_zeros(4 * count), rig_values_zeros(4 * count)};
    for (int64_t i = 0; i < count; i++) {
        double n[NUMBERS], apart, weight = -1;
        take_pair(&t[1], i, &t[2], i, n);
        (void)value(n, form, centred, &apart, &weight);
        for (int64_t k = 0; k < NUMBERS; k++) {
            double low[NUMBERS], high[NUMBERS];
            for (int m = 0; m < NUMBERS; m++) {
                low[m] = n[m] - (m == k ? 1e-6 : 0);
                high[m] = n[m] + (m == k ? 1e-6 : 0);
            }
            const double slope = (value(high, form, centred, &apart, &weight) -
                                  value(low, form, centred, &apart, &weight)) /
                                 2e-6;
            want[k / 4][k % 4 * count + i] = slope * rig_values_at(&t[0], i);
        }
    }
    rig_named_run(gradients[form], attributes(centred, false), in, form == CIOU ? 4 : 3, out, 2);
    rig_values_expect(out[0], want[0], bound, gradients[form]);
    rig_values_expect(out[1], want[1], bound, gradients[form]);
    rig_values_free(t, 5, want, 2);
}

static void gradients_equal_differences(void)
{
    static const int64_t counts[] = {1, 16, 117};
    for (int form = GIOU; form < FORMS; form++) {
        for (unsigned k = 0; k < 3; k++) {
            run_gradients(form, true, counts[k]);
            run_gradients(form, false, counts[k]);
        }
    }
}

static void wrong_calls_are_refused(void)
{
    const int64_t dim[] = {1, 5};
    struct rig_tensor t[] = {boxes(OP_TYPE_F32, 5, true, 1), boxes(OP_TYPE_F32, 6, true, 2),
                             rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 3)};
    struct rig_tensor *in[] = {&t[0], &t[1]}, *same[] = {&t[0], &t[0]}, *out[] = {&t[2]};
    CU_ASSERT_NOT_EQUAL(
        rig_named_try("GIoU", (struct rig_named){in, 2, out, 1, attributes(true, false), 0}), 0);
    aclopAttr *attr = attributes(true, false);
    aclopSetAttrString(attr, "mode", "iof");
    CU_ASSERT_NOT_EQUAL(rig_named_try("GIoU", (struct rig_named){same, 2, out, 1, attr, 0}), 0);
    rig_values_free(t, 3, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"values_equal_double", values_equal_double},
        {"gradients_equal_differences", gradients_equal_differences},
        {"wrong_calls_are_refused", wrong_calls_are_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_pairs", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
