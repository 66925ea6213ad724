/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions against sums in double, over shapes that are cut in every way, under the checker. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANK_MAX = 4 };

struct shape {
    unsigned rank;
    int64_t dim[RANK_MAX];
    unsigned reduced; /**< bit i: dimension i */
};

/* Long rows and columns are cut into pieces; short rows go many at a time; widths of 8 and not. */
static const struct shape shapes[] = {
    {1, {64}, 1},         {1, {1000}, 1},         {1, {70001}, 1},         {2, {64, 10}, 1},
    {2, {64, 10}, 2},     {2, {500, 7}, 2},       {2, {33, 64}, 2},        {2, {33, 65}, 2},
    {2, {7, 9001}, 2},    {2, {5000, 3}, 1},      {2, {4100, 72}, 1},      {2, {40, 5003}, 1},
    {2, {2, 40000}, 2},   {3, {6, 50, 20}, 2},    {3, {6, 50, 20}, 5},     {3, {5, 16, 300}, 5},
    {3, {7, 3, 11}, 3},   {3, {7, 3, 11}, 6},     {4, {4, 8, 14, 14}, 13}, {4, {3, 5, 7, 9}, 10},
    {4, {3, 5, 7, 9}, 5}, {4, {1, 5, 1, 90}, 12},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static const struct operation {
    const char *name;
    enum { SUM, MEAN, LARGEST, SMALLEST, NORM } what;
} operations[] = {{"ReduceSum", SUM},
                  {"Mean", MEAN},
                  {"Amax", LARGEST},
                  {"Amin", SMALLEST},
                  {"LinalgVectorNorm", NORM}};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static int64_t count_of(const struct shape *shape, bool kept)
{
    int64_t count = 1;
    for (unsigned i = 0; i < shape->rank; i++) {
        count *= kept && shape->reduced >> i & 1 ? 1 : shape->dim[i];
    }
    return count;
}

/* The output that element `index` goes to. */
static int64_t place_of(const struct shape *shape, int64_t index)
{
    int64_t place = 0, step = 1;
    for (unsigned i = shape->rank; i-- > 0;) {
        const int64_t at = index % shape->dim[i];
        index /= shape->dim[i];
        if (!(shape->reduced >> i & 1)) {
            place += at * step;
            step *= shape->dim[i];
        }
    }
    return place;
}

/* Expected values, and how far each may be off: a part of the sum of absolute values. */
static void expect(const struct shape *shape, int what, const float *in, double *want,
                   double *bound)
{
    const int64_t count = count_of(shape, false), outs = count_of(shape, true);
    for (int64_t i = 0; i < outs; i++) {
        want[i] = what == LARGEST ? -INFINITY : what == SMALLEST ? INFINITY : 0;
        bound[i] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = place_of(shape, i);
        const double x = (double)in[i];
        if (what == LARGEST || what == SMALLEST) {
            const bool wins = what == LARGEST ? x > want[at] : x < want[at];
            want[at] = !isnan(want[at]) && (wins || isnan(x)) ? x : want[at];
        } else {
            want[at] += what == NORM ? x * x : x;
            bound[at] += what == NORM ? x * x : fabs(x);
        }
    }
    for (int64_t i = 0; i < outs; i++) {
        const double each = (double)(count / outs);
        want[i] = what == MEAN ? want[i] / each : what == NORM ? sqrt(want[i]) : want[i];
        bound[i] = what == MEAN ? bound[i] / each : what == NORM ? want[i] : bound[i];
        // A chain of at most some dozens of roundings, whatever the length.
        bound[i] *= 0x1p-20;
    }
}

static leo_status run(struct rig *rig, const struct operation *op, const struct leo_op_tensor *in,
                      const struct shape *shape, const struct leo_op_tensor *out)
{
    int64_t dims[RANK_MAX];
    size_t count = 0;
    for (unsigned i = 0; i < shape->rank; i++) {
        if (shape->reduced >> i & 1) {
            dims[count++] = i;
        }
    }
    const struct leo_op_arg x = leo_op_arg_tensor(in), y = leo_op_arg_tensor(out);
    const struct leo_op_arg over = leo_op_arg_ints(dims, count), keep = leo_op_arg_number(0);
    if (op->what == NORM) {
        return LEO_OP(rig->context, op->name, x, leo_op_arg_number(2), over, keep,
                      leo_op_arg_dtype(out->dtype), y);
    }
    return op->what == SUM || op->what == MEAN
               ? LEO_OP(rig->context, op->name, x, over, keep, leo_op_arg_dtype(out->dtype), y)
               : LEO_OP(rig->context, op->name, x, over, keep, y);
}

static void check(struct rig *rig, const struct shape *shape, const struct operation *op, bool half)
{
    const int64_t count = count_of(shape, false), outs = count_of(shape, true);
    struct rig_random random = {(uint64_t)count + shape->reduced};
    uint16_t *halves = rig_random_halves(&random, (size_t)count);
    float *floats = rig_random_floats(&random, (size_t)count), *got = rig_alloc((size_t)outs, 4);
    double *want = rig_alloc((size_t)outs, 8), *bound = rig_alloc((size_t)outs, 8);
    for (int64_t i = 0; half && i < count; i++) {
        floats[i] = op_ref_from_half(halves[i]);
    }
    if (!half && op->what != NORM) {
        floats[count / 3] = NAN;
        floats[count / 2] = INFINITY;
    }
    struct rig_buffer in = rig_put(rig, half ? LEO_DTYPE_F16 : LEO_DTYPE_F32, (uint32_t)count, 0,
                                   half ? (void *)halves : (void *)floats);
    struct rig_buffer out = rig_put(rig, LEO_DTYPE_F32, (uint32_t)outs, 0, NULL);
    int64_t kept[RANK_MAX];
    unsigned rank = 0;
    for (unsigned i = 0; i < shape->rank; i++) {
        if (!(shape->reduced >> i & 1)) {
            kept[rank++] = shape->dim[i];
        }
    }
    in.tensor = leo_op_tensor(in.tensor.addr, in.tensor.dtype, shape->rank, shape->dim);
    out.tensor = leo_op_tensor(out.tensor.addr, out.tensor.dtype, rank, kept);
    CU_ASSERT_EQUAL(run(rig, op, &in.tensor, shape, &out.tensor), LEO_OK);
    leo_status status = leo_rt_stream_synchronize(rig->stream, -1);
    if (status != LEO_OK) {
        fprintf(stderr, "%s\n", leo_rt_last_error());
    }
    CU_ASSERT_EQUAL_FATAL(status, LEO_OK);
    rig_take(rig, &out, got);
    rig_take(rig, &in, NULL);
    expect(shape, op->what, floats, want, bound);
    long bad = -1;
    for (int64_t i = 0; i < outs && bad < 0; i++) {
        const double far = fabs((double)got[i] - want[i]);
        const bool same = isnan(want[i]) ? isnan(got[i]) : (double)got[i] == want[i];
        bad = same || far <= bound[i] ? -1 : (long)i;
    }
    if (bad >= 0) {
        fprintf(stderr, "%s arch %u shape %u (reduced %x) half %d: %g at %ld, expected %g\n",
                op->name, rig->arch, (unsigned)(shape - shapes), shape->reduced, half,
                (double)got[bad], bad, want[bad]);
    }
    CU_ASSERT_EQUAL(bad, -1);
    void *all[] = {halves, floats, got, want, bound};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        free(all[i]);
    }
}

static void reductions_are_near_sums_in_double(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (int s = 0; s < SHAPES; s++) {
            for (int o = 0; o < OPERATIONS; o++) {
                check(&rig, &shapes[s], &operations[o], false);
                check(&rig, &shapes[s], &operations[o], true);
            }
        }
        rig_finish(&rig);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"reductions_are_near_sums_in_double", reductions_are_near_sums_in_double},
    };
    (void)setenv("LEO_CHECK", "all", 1);
    return leo_test_main("reduce", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
