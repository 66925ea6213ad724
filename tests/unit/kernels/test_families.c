/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families against plain loops on the host, on both generations. Linear maps and their gradients
 * are transposed to each other: sum(y * A x) = sum(x * A' y) for any x and y. Other gradients are
 * what the difference of two forward passes says.
 */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rig rig;

/* A tensor on the device with a copy on the host, f32 or i64. */
struct box {
    struct leo_op_tensor tensor;
    size_t count;
    float *f;
    int64_t *i;
};

static struct box box_make(enum leo_dtype dtype, unsigned rank, const int64_t *dim)
{
    struct box box = {.count = 1};
    for (unsigned k = 0; k < rank; k++) {
        box.count *= (size_t)dim[k];
    }
    const size_t unit = dtype == LEO_DTYPE_F32 ? 4 : 8;
    uint64_t addr;
    CU_ASSERT_EQUAL_FATAL(
        leo_rt_memory_alloc(rig.device, box.count * unit + LEO_OP_READ_MARGIN, &addr), LEO_OK);
    box.tensor = leo_op_tensor(addr, dtype, rank, dim);
    box.f = unit == 4 ? rig_alloc(box.count, 4) : NULL;
    box.i = unit == 8 ? rig_alloc(box.count, 8) : NULL;
    return box;
}

static void *host_of(const struct box *box)
{
    return box->f ? (void *)box->f : (void *)box->i;
}

static void box_put(const struct box *box)
{
    CU_ASSERT_EQUAL(leo_rt_memcpy(rig.device, (void *)(uintptr_t)box->tensor.addr, host_of(box),
                                  box->count * (box->f ? 4 : 8)),
                    LEO_OK);
}

static void box_take(const struct box *box)
{
    rig_synchronize(&rig);
    CU_ASSERT_EQUAL(leo_rt_memcpy(rig.device, host_of(box), (void *)(uintptr_t)box->tensor.addr,
                                  box->count * (box->f ? 4 : 8)),
                    LEO_OK);
}

static void box_free(struct box *box)
{
    CU_ASSERT_EQUAL(leo_rt_memory_free(rig.device, box->tensor.addr), LEO_OK);
    free(box->f);
    free(box->i);
}

/* Of random numbers in -1 .. 1. */
static struct box box_random(uint64_t seed, unsigned rank, const int64_t *dim)
{
    struct box box = box_make(LEO_DTYPE_F32, rank, dim);
    struct rig_random random = {seed};
    for (size_t i = 0; i < box.count; i++) {
        box.f[i] = rig_random_float(&random);
    }
    box_put(&box);
    return box;
}

static struct leo_op_arg t(const struct box *box)
{
    return leo_op_arg_tensor(&box->tensor);
}

static struct leo_op_arg n(double number)
{
    return leo_op_arg_number(number);
}

static void must(leo_status status)
{
    if (status != LEO_OK) {
        fprintf(stderr, "%s: %s\n", leo_status_name(status), leo_rt_last_error());
    }
    CU_ASSERT_EQUAL_FATAL(status, LEO_OK);
}

static void near(double got, double want, double bound)
{
    CU_ASSERT_DOUBLE_EQUAL(got, want, bound * (1 + fabs(want)));
}

static double dot(const struct box *a, const struct box *b)
{
    double sum = 0;
    for (size_t i = 0; i < a->count; i++) {
        sum += (double)a->f[i] * (double)b->f[i];
    }
    return sum;
}

/* ---- order ---- */

static void sorts_rows(void)
{
    const int64_t dim[] = {7, 133};
    struct box x = box_random(1, 2, dim), values = box_make(LEO_DTYPE_F32, 2, dim),
               index = box_make(LEO_DTYPE_S64, 2, dim), sums = box_make(LEO_DTYPE_F32, 2, dim);
    for (size_t i = 0; i < x.count; i += 5) {
        x.f[i] = i % 2 ? NAN : 0.25f; // equal ones keep their order, NaN is largest
    }
    box_put(&x);
    must(LEO_OP(rig.context, "Sort", t(&x), n(1), n(1), n(0), t(&values), t(&index)));
    must(
        LEO_OP(rig.context, "Cumsum", t(&values), n(1), leo_op_arg_dtype(LEO_DTYPE_F32), t(&sums)));
    box_take(&values);
    box_take(&index);
    box_take(&sums);
    for (int64_t row = 0; row < 7; row++) {
        bool seen[133] = {false};
        double sum = 0;
        for (int64_t i = 0; i < 133; i++) {
            const int64_t at = row * 133 + i, from = index.i[at];
            CU_ASSERT_FATAL(from >= 0 && from < 133 && !seen[from]);
            seen[from] = true;
            const float here = values.f[at];
            CU_ASSERT_EQUAL(memcmp(&here, &x.f[row * 133 + from], 4), 0);
            sum += (double)here;
            CU_ASSERT(isnan(here) ? isnan(sums.f[at]) : fabs((double)sums.f[at] - sum) < 1e-4);
            if (i > 0 && !isnan(here)) {
                const float before = values.f[at - 1];
                CU_ASSERT(before < here || (before == here && index.i[at - 1] < from));
            }
        }
    }
    box_free(&x);
    box_free(&values);
    box_free(&index);
    box_free(&sums);
}

static void finds_places_and_counts(void)
{
    const int64_t list[] = {17}, dim[] = {5, 40}, bins[] = {17};
    struct box sorted = box_random(2, 1, list), x = box_random(3, 2, dim),
               place = box_make(LEO_DTYPE_S64, 2, dim), flat = place,
               count = box_make(LEO_DTYPE_S64, 1, bins);
    for (int i = 0; i < 17; i++) {
        sorted.f[i] = (float)(i - 8) / 8;
    }
    box_put(&sorted);
    for (int right = 0; right < 2; right++) {
        must(LEO_OP(rig.context, "SearchSorted", t(&sorted), t(&x), n(0), n(right),
                    leo_op_arg_none(), t(&place)));
        box_take(&place);
        for (size_t i = 0; i < x.count; i++) {
            int64_t want = 0;
            while (want < 17 && (right ? sorted.f[want] <= x.f[i] : sorted.f[want] < x.f[i])) {
                want++;
            }
            CU_ASSERT_EQUAL(place.i[i], want);
        }
    }
    const int64_t all[] = {200};
    flat.tensor = leo_op_tensor(place.tensor.addr, LEO_DTYPE_S64, 1, all);
    must(LEO_OP(rig.context, "Bincount", leo_op_arg_tensor(&flat.tensor), leo_op_arg_none(), n(17),
                t(&count)));
    box_take(&count);
    for (int64_t bin = 0; bin < 17; bin++) {
        int64_t want = 0;
        for (size_t i = 0; i < place.count; i++) {
            want += place.i[i] == bin;
        }
        CU_ASSERT_EQUAL(count.i[bin], want);
    }
    box_free(&sorted);
    box_free(&x);
    box_free(&place);
    box_free(&count);
}

/* ---- index, foreach, loss, random ---- */

static void gathers_by_index(void)
{
    const int64_t dim[] = {6, 9, 4}, few[] = {3, 9, 4};
    struct box x = box_random(4, 3, dim), index = box_make(LEO_DTYPE_S64, 3, few),
               out = box_make(LEO_DTYPE_F32, 3, few);
    for (size_t i = 0; i < index.count; i++) {
        index.i[i] = (int64_t)(i * 5 % 6);
    }
    box_put(&index);
    must(LEO_OP(rig.context, "Gather", t(&x), n(0), t(&index), t(&out)));
    box_take(&out);
    for (size_t i = 0; i < out.count; i++) {
        CU_ASSERT_EQUAL(out.f[i], x.f[(size_t)index.i[i] * 36 + i % 36]);
    }
    box_free(&x);
    box_free(&index);
    box_free(&out);
}

static void lists_go_member_by_member(void)
{
    const int64_t one[] = {1}, some[] = {3, 50};
    struct box a[] = {box_random(5, 1, one), box_random(6, 2, some)},
               b[] = {box_random(7, 1, one), box_random(8, 2, some)},
               out[] = {box_make(LEO_DTYPE_F32, 1, one), box_make(LEO_DTYPE_F32, 2, some)};
    const struct leo_op_tensor x[] = {a[0].tensor, a[1].tensor}, y[] = {b[0].tensor, b[1].tensor},
                               z[] = {out[0].tensor, out[1].tensor};
    must(LEO_OP(rig.context, "ForeachAddListV2", leo_op_arg_tensors(x, 2), leo_op_arg_tensors(y, 2),
                n(0.5), leo_op_arg_tensors(z, 2)));
    for (int k = 0; k < 2; k++) {
        box_take(&out[k]);
        for (size_t i = 0; i < out[k].count; i++) {
            near((double)out[k].f[i], (double)a[k].f[i] + 0.5 * (double)b[k].f[i], 1e-6);
        }
        box_free(&a[k]);
        box_free(&b[k]);
        box_free(&out[k]);
    }
}

static void losses_are_means(void)
{
    const int64_t dim[] = {11, 13}, *none = dim;
    struct box x = box_random(9, 2, dim), y = box_random(10, 2, dim),
               out = box_make(LEO_DTYPE_F32, 0, none);
    double square = 0, smooth = 0;
    for (size_t i = 0; i < x.count; i++) {
        const double d = fabs((double)x.f[i] - (double)y.f[i]);
        square += d * d / 143;
        smooth += (d < 0.5 ? d * d : d - 0.25) / 143;
    }
    must(LEO_OP(rig.context, "MseLoss", t(&x), t(&y), n(1), t(&out)));
    box_take(&out);
    near((double)out.f[0], square, 1e-6);
    must(LEO_OP(rig.context, "SmoothL1Loss", t(&x), t(&y), n(1), n(0.5), t(&out)));
    box_take(&out);
    near((double)out.f[0], smooth, 1e-6);
    box_free(&x);
    box_free(&y);
    box_free(&out);
}

static void random_numbers_depend_on_seed_and_place_alone(void)
{
    const int64_t many[] = {10000}, few[] = {100};
    struct box a = box_make(LEO_DTYPE_F32, 1, many), b = box_make(LEO_DTYPE_F32, 1, few);
    double sum = 0;
    must(LEO_OP(rig.context, "InplaceUniform", t(&a), n(2), n(4), n(77), n(12)));
    must(LEO_OP(rig.context, "InplaceUniform", t(&b), n(2), n(4), n(77), n(12)));
    box_take(&a);
    box_take(&b);
    CU_ASSERT_EQUAL(memcmp(a.f, b.f, 400), 0);
    for (size_t i = 0; i < a.count; i++) {
        CU_ASSERT(a.f[i] >= 2 && a.f[i] < 4);
        sum += (double)a.f[i] / 10000;
    }
    near(sum, 3, 0.01);
    must(LEO_OP(rig.context, "InplaceUniform", t(&b), n(2), n(4), n(78), n(12)));
    box_take(&b);
    CU_ASSERT_NOT_EQUAL(memcmp(a.f, b.f, 400), 0);
    box_free(&a);
    box_free(&b);
}

/* ---- linear maps and their gradients ---- */

/* The map's output of x and the gradient of its input from y; both are on the host then. */
static void expect_transposed(struct box *x, struct box *ax, struct box *y, struct box *ay)
{
    box_take(ax);
    box_take(ay);
    const double forward = dot(y, ax), backward = dot(x, ay);
    CU_ASSERT(fabs(forward) > 1e-3);
    near(backward, forward, 1e-5);
    box_free(x);
    box_free(ax);
    box_free(y);
    box_free(ay);
}

static void resizing_and_its_gradient_are_transposed(void)
{
    const int64_t small[] = {2, 3, 5, 7}, large[] = {2, 3, 12, 9}, out[] = {12, 9},
                  in[] = {2, 3, 5, 7};
    static const char *const names[][2] = {
        {"UpsampleNearest2dV2", "UpsampleNearest2dBackward"},
        {"UpsampleBilinear2d", "UpsampleBilinear2dBackwardV2"},
        {"UpsampleBicubic2d", "UpsampleBicubic2dBackward"},
        {"UpsampleBilinear2dAA", "UpsampleBilinear2dAABackward"}};
    for (unsigned k = 0; k < 4; k++) {
        struct box x = box_random(11, 4, small), y = box_random(12, 4, large),
                   ax = box_make(LEO_DTYPE_F32, 4, large), ay = box_make(LEO_DTYPE_F32, 4, small);
        const struct leo_op_arg size = leo_op_arg_ints(out, 2), from = leo_op_arg_ints(in, 4);
        if (k == 0) {
            must(LEO_OP(rig.context, names[k][0], t(&x), size, n(0), n(0), t(&ax)));
            must(LEO_OP(rig.context, names[k][1], t(&y), size, from, n(0), n(0), t(&ay)));
            box_take(&ax);
            for (size_t i = 0; i < ax.count; i++) { // floor(row * 5 / 12), floor(column * 7 / 9)
                CU_ASSERT_EQUAL(ax.f[i],
                                x.f[i / 108 * 35 + i % 108 / 9 * 5 / 12 * 7 + i % 9 * 7 / 9]);
            }
        } else {
            must(LEO_OP(rig.context, names[k][0], t(&x), size, n(0), n(0), n(0), t(&ax)));
            must(LEO_OP(rig.context, names[k][1], t(&y), size, from, n(0), n(0), n(0), t(&ay)));
        }
        expect_transposed(&x, &ax, &y, &ay);
    }
}

static void padding_and_its_gradient_are_transposed(void)
{
    const int64_t small[] = {2, 3, 5, 7}, large[] = {2, 3, 9, 10}, pad[] = {1, 2, 3, 1};
    static const char *const names[][2] = {{"ReflectionPad2d", "ReflectionPad2dBackward"},
                                           {"ReplicationPad2d", "ReplicationPad2dBackward"},
                                           {"CircularPad2d", "CircularPad2dBackward"}};
    for (unsigned k = 0; k < 3; k++) {
        struct box x = box_random(13, 4, small), y = box_random(14, 4, large),
                   ax = box_make(LEO_DTYPE_F32, 4, large), ay = box_make(LEO_DTYPE_F32, 4, small);
        must(LEO_OP(rig.context, names[k][0], t(&x), leo_op_arg_ints(pad, 4), t(&ax)));
        must(LEO_OP(rig.context, names[k][1], t(&y), t(&x), leo_op_arg_ints(pad, 4), t(&ay)));
        expect_transposed(&x, &ax, &y, &ay);
    }
}

static void windows_and_their_gradient_are_transposed(void)
{
    // 3 rows of windows, every second one, and 10 columns
    const int64_t image[] = {2, 3, 8, 9}, columns[] = {2, 18, 30}, kernel[] = {3, 2},
                  ones[] = {1, 1}, pad[] = {0, 1}, stride[] = {2, 1}, size[] = {8, 9};
    struct box x = box_random(15, 4, image), ax = box_make(LEO_DTYPE_F32, 3, columns),
               y = box_random(16, 3, columns), ay = box_make(LEO_DTYPE_F32, 4, image);
    must(LEO_OP(rig.context, "Im2col", t(&x), leo_op_arg_ints(kernel, 2), leo_op_arg_ints(ones, 2),
                leo_op_arg_ints(pad, 2), leo_op_arg_ints(stride, 2), t(&ax)));
    must(LEO_OP(rig.context, "Im2colBackward", t(&y), leo_op_arg_ints(size, 2),
                leo_op_arg_ints(kernel, 2), leo_op_arg_ints(ones, 2), leo_op_arg_ints(pad, 2),
                leo_op_arg_ints(stride, 2), t(&ay)));
    expect_transposed(&x, &ax, &y, &ay);
}

static void sampling_and_its_gradient_are_transposed(void)
{
    const int64_t image[] = {2, 3, 6, 5}, points[] = {2, 4, 7, 2}, samples[] = {2, 3, 4, 7};
    const bool both[] = {true, false};
    for (int mode = 0; mode < 3; mode++) {
        struct box x = box_random(17, 4, image), grid = box_random(18, 4, points),
                   y = box_random(19, 4, samples), ax = box_make(LEO_DTYPE_F32, 4, samples),
                   ay = box_make(LEO_DTYPE_F32, 4, image),
                   dgrid = box_make(LEO_DTYPE_F32, 4, points);
        must(LEO_OP(rig.context, "GridSampler2D", t(&x), t(&grid), n(mode), n(0), n(0), t(&ax)));
        must(LEO_OP(rig.context, "GridSampler2DBackward", t(&y), t(&x), t(&grid), n(mode), n(0),
                    n(0), leo_op_arg_bools(both, 2), t(&ay), t(&dgrid)));
        expect_transposed(&x, &ax, &y, &ay);
        box_free(&grid);
        box_free(&dgrid);
    }
}

/* ---- attention ---- */

enum { QUERIES = 9, KEYS = 13, FEATURES = 16, HEADS = 2 };

/* sum(dy * attention(q + h direction, k, v)) in double on the host. */
static double attention_of(const struct box *q, const struct box *k, const struct box *v,
                           const struct box *dy, const struct box *direction, double h)
{
    double total = 0;
    for (int head = 0; head < HEADS; head++) {
        for (int i = 0; i < QUERIES; i++) {
            double weight[KEYS], most = -INFINITY, sum = 0;
            for (int j = 0; j < KEYS; j++) {
                weight[j] = 0;
                for (int c = 0; c < FEATURES; c++) {
                    const size_t at = (size_t)((head * QUERIES + i) * FEATURES + c);
                    weight[j] += 0.25 * ((double)q->f[at] + h * (double)direction->f[at]) *
                                 (double)k->f[(head * KEYS + j) * FEATURES + c];
                }
                most = fmax(most, weight[j]);
            }
            for (int j = 0; j < KEYS; j++) {
                weight[j] = exp(weight[j] - most);
                sum += weight[j];
            }
            for (int c = 0; c < FEATURES; c++) {
                double out = 0;
                for (int j = 0; j < KEYS; j++) {
                    out += weight[j] / sum * (double)v->f[(head * KEYS + j) * FEATURES + c];
                }
                total += out * (double)dy->f[(head * QUERIES + i) * FEATURES + c];
            }
        }
    }
    return total;
}

static void attention_and_its_gradient_follow_the_formula(void)
{
    if (rig.arch != 2201) {
        return; // an operator of the second generation
    }
    const int64_t one[] = {1, HEADS, QUERIES, FEATURES}, other[] = {1, HEADS, KEYS, FEATURES},
                  column[] = {1, HEADS, QUERIES, 8}, empty[] = {0};
    struct box q = box_random(20, 4, one), k = box_random(21, 4, other),
               v = box_random(22, 4, other), dy = box_random(23, 4, one),
               direction = box_random(24, 4, one), max = box_make(LEO_DTYPE_F32, 4, column),
               sum = box_make(LEO_DTYPE_F32, 4, column), out = box_make(LEO_DTYPE_F32, 4, one),
               dq = box_make(LEO_DTYPE_F32, 4, one), dk = box_make(LEO_DTYPE_F32, 4, other),
               dv = box_make(LEO_DTYPE_F32, 4, other);
    const struct leo_op_tensor none = leo_op_tensor(q.tensor.addr, LEO_DTYPE_F32, 1, empty);
    const struct leo_op_arg no = leo_op_arg_none(), nothing = leo_op_arg_tensor(&none);
    must(LEO_OP(rig.context, "FlashAttentionScore", t(&q), t(&k), t(&v), no, no, no, no, no,
                n(0.25), n(1), n(65535), n(65535), n(HEADS), leo_op_arg_text("BNSD"), n(0), n(0),
                t(&max), t(&sum), nothing, t(&out)));
    must(LEO_OP(rig.context, "FlashAttentionScoreGrad", t(&q), t(&k), t(&v), t(&dy), no, no, no, no,
                t(&max), t(&sum), no, t(&out), no, n(0.25), n(1), n(65535), n(65535), n(HEADS),
                leo_op_arg_text("BNSD"), n(0), n(0), t(&dq), t(&dk), t(&dv), nothing));
    box_take(&out);
    box_take(&dq);
    near(dot(&dy, &out), attention_of(&q, &k, &v, &dy, &direction, 0), 1e-4);
    const double h = 1e-4, slope = (attention_of(&q, &k, &v, &dy, &direction, h) -
                                    attention_of(&q, &k, &v, &dy, &direction, -h)) /
                                   (2 * h);
    near(dot(&dq, &direction), slope, 1e-4);
    struct box *const all[] = {&q, &k, &v, &dy, &direction, &max, &sum, &out, &dq, &dk, &dv};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        box_free(all[i]);
    }
}

#define ON_BOTH(test)                                                                              \
    static void test##_on_both(void)                                                               \
    {                                                                                              \
        for (int soc = 0; soc < 2; soc++) {                                                        \
            rig_init(&rig, rig_socs[soc], 0, NULL);                                                \
            test();                                                                                \
            rig_finish(&rig);                                                                      \
        }                                                                                          \
    }

ON_BOTH(sorts_rows)
ON_BOTH(finds_places_and_counts)
ON_BOTH(gathers_by_index)
ON_BOTH(lists_go_member_by_member)
ON_BOTH(losses_are_means)
ON_BOTH(random_numbers_depend_on_seed_and_place_alone)
ON_BOTH(resizing_and_its_gradient_are_transposed)
ON_BOTH(padding_and_its_gradient_are_transposed)
ON_BOTH(windows_and_their_gradient_are_transposed)
ON_BOTH(sampling_and_its_gradient_are_transposed)
ON_BOTH(attention_and_its_gradient_follow_the_formula)

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"families_sorts_rows", sorts_rows_on_both},
        {"families_finds_places_and_counts", finds_places_and_counts_on_both},
        {"families_gathers_by_index", gathers_by_index_on_both},
        {"families_lists_go_member_by_member", lists_go_member_by_member_on_both},
        {"families_losses_are_means", losses_are_means_on_both},
        {"families_random_numbers_depend_on_seed_and_place_alone",
         random_numbers_depend_on_seed_and_place_alone_on_both},
        {"families_resizing_and_its_gradient_are_transposed",
         resizing_and_its_gradient_are_transposed_on_both},
        {"families_padding_and_its_gradient_are_transposed",
         padding_and_its_gradient_are_transposed_on_both},
        {"families_windows_and_their_gradient_are_transposed",
         windows_and_their_gradient_are_transposed_on_both},
        {"families_sampling_and_its_gradient_are_transposed",
         sampling_and_its_gradient_are_transposed_on_both},
        {"families_attention_and_its_gradient_follow_the_formula",
         attention_and_its_gradient_follow_the_formula_on_both},
    };
    return leo_test_main("op_families", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
