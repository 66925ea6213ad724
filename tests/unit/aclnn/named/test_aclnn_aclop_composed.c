/* SPDX-License-Identifier: Apache-2.0 */
/* What graph frameworks and older programs call (compose/aclop_composed.c): sums of tensors, a step
 * of Adam, sums by channel and of several devices, softmax with a mask or labels. Against double on
 * the host, as aclnn pairs and by type name. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum op_type floats[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};

static unsigned float_count(void)
{
    return rig_chip() == 0 ? 2 : 3;
}

/* ---- sums of tensors ---- */

enum { MAX_COUNT = 7 };

// Sums in integers wrap; floats add up in f32, which is exact here, and are rounded once.
static void expect_sum(struct rig_tensor *out, const struct rig_tensor *in, unsigned count)
{
    int64_t wrong = 0;
    rig_tensor_take(out);
    for (int64_t i = 0; i < rig_tensor_count(out); i++) {
        unsigned char want[8];
        uint64_t whole = 0;
        double sum = 0;
        for (unsigned k = 0; k < count; k++) {
            whole += (uint64_t)rig_get_i(rig_tensor_at(&in[k], i), out->type);
            sum += rig_values_at(&in[k], i);
        }
        if (out->type <= OP_TYPE_F64) {
            rig_put_d(want, out->type, sum);
        } else {
            rig_put_i(want, out->type, (int64_t)whole);
        }
        wrong += memcmp(want, rig_tensor_at(out, i), rig_type_bytes(out->type)) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void run_sums(enum op_type type, unsigned rank, const int64_t *dim, unsigned count)
{
    const bool is_float = type <= OP_TYPE_F64;
    struct rig_tensor in[MAX_COUNT], *each[MAX_COUNT],
        out = rig_tensor_make(type, rank, dim, RIG_SLICED, 99),
        dense = rig_tensor_make(type, rank, dim, RIG_DENSE, 99);
    const aclTensor *items[MAX_COUNT];
    for (unsigned k = 0; k < count; k++) {
        const enum rig_layout layout = k % 3 == 2 ? RIG_SLICED : k % 3 ? RIG_PERMUTED : RIG_DENSE;
        in[k] = is_float ? rig_values_make(type, rank, dim, layout, k + 1)
                         : rig_tensor_make(type, rank, dim, layout, k + 1);
        items[k] = in[k].acl;
        each[k] = &in[k];
    }
    aclTensorList *list = aclCreateTensorList(items, count);
    const union op_test_arg args[] = {{.tensors = list}, {.tensor = out.acl}};
    for (int sum = 0; sum < 2; sum++) {
        CU_ASSERT_EQUAL(rig_run(rig_row(sum ? "Sum" : "AddN"), args, true), 0);
        expect_sum(&out, in, count);
    }
    if (count == 1) { // dense
        struct rig_tensor *to[] = {&dense};
        rig_named_run("AddN", aclopCreateAttr(), each, 1, to, 1);
        expect_sum(&dense, in, count);
    }
    aclDestroyTensorList(list); // and its tensors
    for (unsigned k = 0; k < count; k++) {
        in[k].acl = NULL;
        rig_tensor_free(&in[k]);
    }
    rig_tensor_free(&out);
    rig_tensor_free(&dense);
}

static void sums_of_tensors_equal_the_host(void)
{
    static const int64_t dims[][2] = {{1, 1},  {1, 1},  {3, 5},   {1, 16},
                                      {17, 1}, {0, 13}, {3, 131}, {113, 97}};
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_F64,
                                         OP_TYPE_I8,  OP_TYPE_U8,  OP_TYPE_I16,
                                         OP_TYPE_I32, OP_TYPE_I64, OP_TYPE_BF16};
    for (unsigned s = 0; s < sizeof(dims) / sizeof(dims[0]); s++) {
        for (unsigned t = 0; t < (rig_chip() == 0 ? 8u : 9u); t++) {
            run_sums(types[t], s == 0 ? 0 : 2, dims[s], 1);
            run_sums(types[t], s == 0 ? 0 : 2, dims[s], 2);
            run_sums(types[t], s == 0 ? 0 : 2, dims[s], s % 2 ? 3 : MAX_COUNT);
        }
    }
}

/* ---- a step of Adam ---- */

enum { VAR, M, V, GRADIENT, ADAM_TENSORS, ADAM_NUMBERS = 6 };

// A dozen f32 operations: what is small beside its summands has their error.
static const struct rig_bound adam_bound = {.of_each = 4e-6, .at_all = 4e-7, .roundings = 1};

static void compute_adam(const struct rig_tensor *t, const struct rig_tensor *numbers,
                         bool nesterov, double *const *out)
{
    double n[ADAM_NUMBERS];
    for (unsigned i = 0; i < ADAM_NUMBERS; i++) {
        n[i] = rig_values_at(&numbers[i], 0);
    }
    const double rate = n[2] * sqrt(1 - n[1]) / (1 - n[0]);
    for (int64_t i = 0; i < rig_tensor_count(&t[VAR]); i++) {
        const double g = rig_values_at(&t[GRADIENT], i),
                     m = rig_values_at(&t[M], i) * n[3] + g * (1 - n[3]),
                     v = rig_values_at(&t[V], i) * n[4] + g * g * (1 - n[4]);
        out[M][i] = m;
        out[V][i] = v;
        out[VAR][i] = rig_values_at(&t[VAR], i) -
                      rate * (nesterov ? m * n[3] + g * (1 - n[3]) : m) / (sqrt(v) + n[5]);
    }
}

static void run_adam(unsigned rank, const int64_t *dim, enum op_type type, enum rig_layout layout,
                     double scale, bool nesterov, bool by_name)
{
    const int64_t one = 1;
    static const double values[ADAM_NUMBERS] = {0.9, 0.999, 0.01, 0.9, 0.999, 1e-8};
    struct rig_tensor t[ADAM_TENSORS], numbers[ADAM_NUMBERS], *in[ADAM_TENSORS + ADAM_NUMBERS];
    for (unsigned i = 0; i < ADAM_TENSORS; i++) {
        t[i] = rig_values_make(type, rank, dim, by_name ? RIG_DENSE : layout, i + 1);
        for (int64_t k = 0; k < rig_tensor_count(&t[i]); k++) {
            void *to = rig_tensor_at(&t[i], k);
            const double is = rig_get_d(to, type);
            rig_put_d(to, type, i == V ? scale * scale * fabs(is) : i == VAR ? is : scale * is);
        }
        rig_tensor_put(&t[i]);
    }
    for (unsigned i = 0; i < ADAM_NUMBERS; i++) {
        numbers[i] = rig_tensor_make(type, i % 2, &one, RIG_DENSE, 1);
        rig_put_d(rig_tensor_at(&numbers[i], 0), type, values[i]);
        rig_tensor_put(&numbers[i]);
    }
    double *want[] = {rig_values_zeros(rig_tensor_count(&t[0])),
                      rig_values_zeros(rig_tensor_count(&t[0])),
                      rig_values_zeros(rig_tensor_count(&t[0]))};
    compute_adam(t, numbers, nesterov, want);
    if (by_name) {
        struct rig_tensor *out[] = {&t[VAR], &t[M], &t[V]};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrBool(attr, "use_nesterov", nesterov);
        for (unsigned i = 0; i < ADAM_TENSORS + ADAM_NUMBERS; i++) {
            in[i] = i < GRADIENT ? &t[i] : i < 9 ? &numbers[i - 3] : &t[GRADIENT];
        }
        rig_named_run("ApplyAdamD", attr, in, 10, out, 3);
    } else {
        union op_test_arg args[12];
        for (unsigned i = 0; i < 10; i++) {
            args[i].tensor = i < GRADIENT ? t[i].acl : i < 9 ? numbers[i - 3].acl : t[GRADIENT].acl;
        }
        args[10].integer = 0;
        args[11].integer = nesterov;
        rig_run_finite(rig_row("ApplyAdam"), args);
    }
    rig_values_expect(&t[VAR], want[VAR], adam_bound, "ApplyAdam's var");
    rig_values_expect(&t[M], want[M], adam_bound, "ApplyAdam's m");
    rig_values_expect(&t[V], want[V], adam_bound, "ApplyAdam's v");
    rig_values_free(t, ADAM_TENSORS, want, 3);
    rig_values_free(numbers, ADAM_NUMBERS, NULL, 0);
}

static void steps_of_adam_equal_double(void)
{
    static const int64_t dims[][2] = {{1, 1},  {1, 1},   {3, 5},    {1, 16},   {17, 1},
                                      {0, 13}, {3, 131}, {113, 97}, {1, 70001}};
    for (unsigned s = 0; s < sizeof(dims) / sizeof(dims[0]); s++) {
        for (unsigned t = 0; t < float_count(); t++) {
            for (int nesterov = 0; nesterov < 2; nesterov++) {
                const unsigned rank = s == 0 ? 0 : 2;
                const enum rig_layout layout = s % 2 ? RIG_SLICED : RIG_DENSE;
                run_adam(rank, dims[s], floats[t], layout, 1, nesterov, false);
                // Squares that a half does not hold.
                run_adam(rank, dims[s], floats[t], RIG_PERMUTED, 0x1p-8, nesterov, false);
                run_adam(rank, dims[s], floats[t], RIG_DENSE, 1, nesterov, true);
            }
        }
    }
}

/* ---- batch norm in parts ---- */

// Sums in f32 of up to some thousand elements of size 4.
static const struct rig_bound sum_bound = {.of_largest = 1e-6, .at_all = 1e-6, .roundings = 1};

static void run_channels(unsigned rank, const int64_t *dim, enum op_type type,
                         enum rig_layout layout)
{
    struct rig_tensor t[] = {rig_values_make(type, rank, dim, layout, 1),
                             rig_values_make(OP_TYPE_F32, 1, dim + 1, RIG_DENSE, 2),
                             rig_values_make(OP_TYPE_F32, 1, dim + 1, RIG_SLICED, 3)};
    double *want[] = {rig_values_zeros(dim[1]), rig_values_zeros(dim[1])};
    int64_t plane = 1;
    for (unsigned i = 2; i < rank; i++) {
        plane *= dim[i];
    }
    for (int64_t i = 0; i < rig_tensor_count(&t[0]); i++) {
        const double x = rig_values_at(&t[0], i);
        want[0][i / plane % dim[1]] += x;
        want[1][i / plane % dim[1]] += x * x;
    }
    const union op_test_arg args[] = {
        {.tensor = t[0].acl}, {.tensor = t[1].acl}, {.tensor = t[2].acl}};
    rig_run_finite(rig_row("BatchNormReduce"), args);
    rig_values_expect(&t[1], want[0], sum_bound, "BatchNormReduce's sum");
    rig_values_expect(&t[2], want[1], sum_bound, "BatchNormReduce's squareSum");
    rig_values_free(t, 3, want, 2);
}

static void sums_by_channel_equal_double(void)
{
    static const struct {
        unsigned rank;
        int64_t dim[5];
    } shapes[] = {{2, {1, 1}},        {2, {17, 3}},        {3, {2, 5, 15}},      {4, {3, 16, 4, 4}},
                  {4, {1, 17, 1, 1}}, {4, {2, 3, 37, 31}}, {5, {2, 3, 3, 5, 7}}, {4, {0, 4, 2, 2}}};
    for (unsigned s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        for (unsigned t = 0; t < float_count(); t++) {
            run_channels(shapes[s].rank, shapes[s].dim, floats[t], RIG_DENSE);
            run_channels(shapes[s].rank, shapes[s].dim, floats[t], RIG_PERMUTED);
        }
    }
}

// A variance is what is left of squares up to six times as large.
static const struct rig_bound variance_bound = {.of_each = 1e-5, .at_all = 1e-6, .roundings = 1};

// Sums of device d over (d + 2) * 8 elements around a number of the channel, whose mean square is 1
// more.
static void run_gathered(int64_t devices, int64_t channels, enum op_type type, enum op_type counted,
                         enum rig_layout layout)
{
    const int64_t dim[] = {devices, channels}, *one = dim + 1;
    struct rig_tensor t[] = {
        rig_values_make(type, 2, dim, layout, 1),       rig_values_make(type, 2, dim, layout, 2),
        rig_tensor_make(counted, 1, dim, RIG_DENSE, 3), rig_values_make(type, 1, one, RIG_DENSE, 4),
        rig_values_make(type, 1, one, RIG_DENSE, 5),    rig_values_make(type, 1, one, RIG_DENSE, 6),
        rig_values_make(type, 1, one, RIG_SLICED, 7)};
    double *want[] = {rig_values_zeros(channels), rig_values_zeros(channels),
                      rig_values_zeros(channels), rig_values_zeros(channels)};
    double count = 0;
    for (int64_t d = 0; d < devices; d++) {
        const double n = (double)(d + 2) * 8;
        rig_put_d(rig_tensor_at(&t[2], d), counted, n);
        count += n;
        for (int64_t c = 0; c < channels; c++) {
            const double mean = (double)(c % 16 - 8) / 4 + 0.3;
            rig_put_d(rig_tensor_at(&t[0], d * channels + c), type, mean * n);
            rig_put_d(rig_tensor_at(&t[1], d * channels + c), type, (mean * mean + 1) * n);
        }
    }
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0, square = 0;
        for (int64_t d = 0; d < devices; d++) {
            sum += rig_values_at(&t[0], d * channels + c);
            square += rig_values_at(&t[1], d * channels + c);
        }
        const double mean = sum / count, variance = square / count - mean * mean;
        want[0][c] = 0.75 * rig_values_at(&t[3], c) + 0.25 * mean;
        want[1][c] = 0.75 * rig_values_at(&t[4], c) + 0.25 * variance * count / (count - 1);
        want[2][c] = mean;
        want[3][c] = 1 / sqrt(variance + 0x1p-10);
    }
    for (unsigned i = 0; i < 3; i++) {
        rig_tensor_put(&t[i]);
    }
    const union op_test_arg args[] = {
        {.tensor = t[0].acl}, {.tensor = t[1].acl}, {.tensor = t[2].acl},
        {.tensor = t[3].acl}, {.tensor = t[4].acl}, {.real = 0.25},
        {.real = 0x1p-10},    {.tensor = t[5].acl}, {.tensor = t[6].acl}};
    rig_run_finite(rig_row("SyncBatchNormGatherStats"), args);
    static const char *const names[] = {"gathered mean", "gathered variance", "batchMean",
                                        "batchInvstd"};
    for (unsigned i = 0; i < 4; i++) {
        rig_values_expect(&t[3 + i], want[i], variance_bound, names[i]);
    }
    rig_values_free(t, 7, want, 4);
}

static void statistics_of_devices_equal_double(void)
{
    static const int64_t dims[][2] = {{1, 1}, {2, 15}, {3, 16}, {8, 17}, {5, 131}, {2, 0}};
    for (unsigned s = 0; s < sizeof(dims) / sizeof(dims[0]); s++) {
        for (unsigned t = 0; t < float_count(); t++) {
            run_gathered(dims[s][0], dims[s][1], floats[t], OP_TYPE_I32, RIG_DENSE);
            run_gathered(dims[s][0], dims[s][1], floats[t], floats[t], RIG_PERMUTED);
        }
    }
}

/* ---- softmax with more ---- */

static const struct rig_bound softmax_bound = {.of_each = 4e-6, .at_all = 2e-6, .roundings = 1};

enum { SCORES, MASK, WEIGHTS, BACK, SCORES_BACK, SOFTMAX_TENSORS };

// Which mask element is for element i of x: the mask is as x, or has 1 where x has more.
static bool is_masked(const struct rig_tensor *x, const struct rig_tensor *mask, bool triangle,
                      int64_t i)
{
    int64_t rest = i, at = 0, step = 1;
    if (triangle) {
        return i % x->dim[3] > i / x->dim[3] % x->dim[2];
    }
    for (unsigned d = 4; d-- > 0; rest /= x->dim[d]) {
        at += mask->dim[d] == 1 ? 0 : rest % x->dim[d] * step;
        step *= mask->dim[d];
    }
    return rig_get_i(rig_tensor_at(mask, at), OP_TYPE_BOOL);
}

static void run_masked(const int64_t *dim, const int64_t *mask_dim, enum op_type type,
                       enum rig_layout layout, bool triangle, bool by_name)
{
    const double scale = 1.5;
    struct rig_tensor t[SOFTMAX_TENSORS] = {
        rig_values_make(type, 4, dim, by_name ? RIG_DENSE : layout, 1),
        rig_tensor_make(OP_TYPE_BOOL, 4, mask_dim, by_name ? RIG_DENSE : layout, 2),
        rig_values_make(type, 4, dim, by_name ? RIG_DENSE : RIG_SLICED, 3),
        rig_values_make(type, 4, dim, layout, 4), rig_values_make(type, 4, dim, RIG_DENSE, 5)};
    const int64_t count = rig_tensor_count(&t[SCORES]), length = dim[3];
    for (int64_t i = 0; i < rig_tensor_count(&t[MASK]) && i < length; i++) {
        *(uint8_t *)rig_tensor_at(&t[MASK], i) = 1; // a row of nothing else
    }
    rig_tensor_put(&t[MASK]);
    double *want[] = {rig_values_zeros(count)};
    for (int64_t r = 0; r < count; r += length) {
        double most = -INFINITY, sum = 0;
        for (int64_t i = r; i < r + length; i++) {
            want[0][i] = is_masked(&t[SCORES], &t[MASK], triangle, i)
                             ? -10000
                             : scale * rig_values_at(&t[SCORES], i);
            most = fmax(most, want[0][i]);
        }
        for (int64_t i = r; i < r + length; i++) {
            sum += exp(want[0][i] - most);
        }
        for (int64_t i = r; i < r + length; i++) {
            want[0][i] = exp(want[0][i] - most) / sum;
        }
    }
    const union op_test_arg args[] = {{.tensor = t[SCORES].acl},
                                      {.tensor = t[MASK].acl},
                                      {.real = scale},
                                      {.integer = triangle},
                                      {.tensor = t[WEIGHTS].acl}};
    if (by_name) {
        struct rig_tensor *in[] = {&t[SCORES], &t[MASK]}, *out[] = {&t[WEIGHTS]};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrFloat(attr, "scale", (float)scale);
        aclopSetAttrBool(attr, "fixed_triu_mask", triangle);
        rig_named_run("ScaledMaskedSoftmax", attr, in, 2, out, 1);
    } else {
        rig_run_finite(rig_row("ScaledMaskedSoftmax"), args);
    }
    rig_values_expect(&t[WEIGHTS], want[0], softmax_bound, "ScaledMaskedSoftmax");
    for (int64_t r = 0; r < count; r += length) {
        double sum = 0;
        for (int64_t i = r; i < r + length; i++) {
            sum += rig_values_at(&t[WEIGHTS], i) * rig_values_at(&t[BACK], i);
        }
        for (int64_t i = r; i < r + length; i++) {
            want[0][i] =
                is_masked(&t[SCORES], &t[MASK], triangle, i)
                    ? 0
                    : scale * rig_values_at(&t[WEIGHTS], i) * (rig_values_at(&t[BACK], i) - sum);
        }
    }
    const union op_test_arg back[] = {{.tensor = t[BACK].acl}, {.tensor = t[WEIGHTS].acl},
                                      {.tensor = t[MASK].acl}, {.real = scale},
                                      {.integer = triangle},   {.tensor = t[SCORES_BACK].acl}};
    rig_run_finite(rig_row("ScaledMaskedSoftmaxBackward"), back);
    rig_values_expect(&t[SCORES_BACK], want[0], softmax_bound, "ScaledMaskedSoftmaxBackward");
    rig_values_free(t, SOFTMAX_TENSORS, want, 1);
}

static void masked_softmax_equals_double(void)
{
    static const int64_t dims[][4] = {{1, 1, 1, 1},   {2, 3, 5, 15}, {1, 2, 32, 32}, {2, 2, 17, 17},
                                      {3, 1, 1, 131}, {0, 2, 3, 5},  {1, 3, 7, 1030}};
    for (unsigned s = 0; s < sizeof(dims) / sizeof(dims[0]); s++) {
        const int64_t *dim = dims[s], each[] = {dim[0], 1, dim[2], dim[3]},
                      all[] = {1, 1, dim[2], dim[3]};
        for (unsigned t = 0; t < float_count(); t++) {
            run_masked(dim, dim, floats[t], RIG_DENSE, false, false);
            run_masked(dim, each, floats[t], RIG_PERMUTED, false, false);
            run_masked(dim, all, floats[t], RIG_DENSE, true, false);
            run_masked(dim, all, floats[t], RIG_DENSE, false, true);
        }
    }
}

// Labels are weights of classes that sum to 1, half at one class, the rest at the next.
static void run_cross_entropy(int64_t rows, int64_t classes, enum op_type type,
                              enum rig_layout layout, bool by_name)
{
    const int64_t dim[] = {rows, classes};
    struct rig_tensor t[] = {rig_values_make(type, 2, dim, layout, 1),
                             rig_values_make(type, 2, dim, layout, 2),
                             rig_values_make(type, 1, dim, RIG_DENSE, 3),
                             rig_values_make(type, 2, dim, by_name ? RIG_DENSE : RIG_SLICED, 4)};
    double *want[] = {rig_values_zeros(rows), rig_values_zeros(rows * classes)};
    for (int64_t r = 0; r < rows; r++) {
        double most = -INFINITY, sum = 0;
        for (int64_t i = r * classes; i < (r + 1) * classes; i++) {
            const int64_t c = i % classes, first = r * 7 % classes, next = (first + 1) % classes;
            rig_put_d(rig_tensor_at(&t[1], i), type, 0.5 * (c == first) + 0.5 * (c == next));
            most = fmax(most, rig_values_at(&t[0], i));
        }
        for (int64_t i = r * classes; i < (r + 1) * classes; i++) {
            sum += exp(rig_values_at(&t[0], i) - most);
        }
        for (int64_t i = r * classes; i < (r + 1) * classes; i++) {
            const double log_of = rig_values_at(&t[0], i) - most - log(sum);
            want[0][r] -= rig_values_at(&t[1], i) * log_of;
            want[1][i] = exp(log_of) - rig_values_at(&t[1], i);
        }
    }
    rig_tensor_put(&t[1]);
    if (by_name) {
        struct rig_tensor *in[] = {&t[0], &t[1]}, *out[] = {&t[2], &t[3]};
        rig_named_run("SoftmaxCrossEntropyWithLogits", aclopCreateAttr(), in, 2, out, 2);
    } else {
        const union op_test_arg args[] = {
            {.tensor = t[0].acl}, {.tensor = t[1].acl}, {.tensor = t[2].acl}, {.tensor = t[3].acl}};
        rig_run_finite(rig_row("SoftmaxCrossEntropyWithLogits"), args);
    }
    rig_values_expect(&t[2], want[0], softmax_bound, "cross entropy");
    rig_values_expect(&t[3], want[1], softmax_bound, "cross entropy's gradient");
    rig_values_free(t, 4, want, 2);
}

static void cross_entropy_equals_double(void)
{
    static const int64_t dims[][2] = {{1, 1},   {1, 15}, {16, 16}, {5, 17},
                                      {131, 2}, {0, 7},  {3, 1000}};
    for (unsigned s = 0; s < sizeof(dims) / sizeof(dims[0]); s++) {
        for (unsigned t = 0; t < float_count(); t++) {
            run_cross_entropy(dims[s][0], dims[s][1], floats[t], RIG_DENSE, false);
            run_cross_entropy(dims[s][0], dims[s][1], floats[t], RIG_PERMUTED, false);
            run_cross_entropy(dims[s][0], dims[s][1], floats[t], RIG_DENSE, true);
        }
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"sums_of_tensors_equal_the_host", sums_of_tensors_equal_the_host},
        {"steps_of_adam_equal_double", steps_of_adam_equal_double},
        {"sums_by_channel_equal_double", sums_by_channel_equal_double},
        {"statistics_of_devices_equal_double", statistics_of_devices_equal_double},
        {"masked_softmax_equals_double", masked_softmax_equals_double},
        {"cross_entropy_equals_double", cross_entropy_equals_double},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_aclop_composed", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
