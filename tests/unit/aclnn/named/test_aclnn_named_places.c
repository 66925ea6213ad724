/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by type name that move elements: each result is an element of an input, or a count. The
 * references are loops on the host; all numbers are exact. */
#include "rig_named.h"
#include "rig_values.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4 };

/* Tensors of a call, inputs first, and what the output shall hold. */
struct moved {
    struct rig_tensor t[MOST];
    unsigned ins;
    double *want;
};

// The last of the tensors is the output.
static void expect_moved(const char *type, aclopAttr *attr, struct moved *moved, uint32_t host)
{
    struct rig_tensor *in[MOST], *out[] = {&moved->t[moved->ins]};
    for (unsigned i = 0; i < moved->ins; i++) {
        in[i] = &moved->t[i];
    }
    CU_ASSERT_EQUAL(
        rig_named_try(
            type,
            (struct rig_named){
                .in = in, .ins = moved->ins, .out = out, .outs = 1, .attr = attr, .host = host}),
        0);
    rig_values_expect(out[0], moved->want, (struct rig_bound){0}, type);
    rig_values_free(moved->t, moved->ins + 1, &moved->want, 1);
}

static struct moved move_one(struct rig_tensor in, struct rig_tensor out)
{
    return (struct moved){{in, out}, 1, rig_values_zeros(rig_tensor_count(&out))};
}

static aclopAttr *one_int(const char *name, int64_t value)
{
    aclopAttr *attr = aclopCreateAttr();
    CU_ASSERT_EQUAL(aclopSetAttrInt(attr, name, value), 0);
    return attr;
}

static void diagonals(void)
{
    static const int64_t offsets[] = {0, 2, -1};
    for (unsigned k = 0; k < 3; k++) {
        const int64_t offset = offsets[k], n = 5, size = n + llabs(offset), list[] = {n},
                      square[] = {size, size}, wide[] = {4, 7}, row = offset < 0 ? -offset : 0,
                      column = offset > 0 ? offset : 0,
                      part[] = {4 - row < 7 - column ? 4 - row : 7 - column};
        struct moved made = move_one(rig_named_floats(1, list, 3), rig_named_floats(2, square, 4));
        for (int64_t i = 0; i < n; i++) {
            made.want[(i + row) * size + i + column] = rig_values_at(&made.t[0], i);
        }
        expect_moved("Diag", one_int("diagonal", offset), &made, 0);
        struct moved taken = move_one(rig_named_floats(2, wide, 5), rig_named_floats(1, part, 6));
        for (int64_t i = 0; i < part[0]; i++) {
            taken.want[i] = rig_values_at(&taken.t[0], (i + row) * 7 + i + column);
        }
        expect_moved("DiagPart", one_int("diagonal", offset), &taken, 0);
    }
}

static void filled_diagonals(void)
{
    const int64_t tall[] = {9, 3};
    for (int wrap = 0; wrap < 2; wrap++) {
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrFloat(attr, "fill_value", 0.5f);
        aclopSetAttrBool(attr, "wrap", (uint8_t)wrap);
        struct moved filled = move_one(rig_named_floats(2, tall, 7), rig_named_floats(2, tall, 8));
        for (int64_t i = 0; i < 27; i++) {
            const int64_t row = i / 3, column = i % 3;
            const bool on = wrap ? i % 4 == 0 : row == column;
            filled.want[i] = on ? 0.5 : rig_values_at(&filled.t[0], i);
        }
        expect_moved("FillDiagonal", attr, &filled, 0);
    }
}

static void one_hot(void)
{
    const int64_t list[] = {6}, one[] = {1}, out[] = {6, 5}, index[] = {4, 0, 9, 2, -1, 3};
    aclopAttr *attr = one_int("depth", 5);
    aclopSetAttrInt(attr, "axis", -1);
    struct moved hot = {{rig_named_ints(OP_TYPE_I32, 1, list, index), rig_named_floats(1, one, 3),
                         rig_named_floats(1, one, 4), rig_named_floats(2, out, 5)},
                        3,
                        rig_values_zeros(30)};
    for (int64_t i = 0; i < 30; i++) {
        hot.want[i] = rig_values_at(&hot.t[index[i / 5] == i % 5 ? 1 : 2], 0);
    }
    expect_moved("OneHotD", attr, &hot, 0);
}

// [2, 3, 8] in the order (1, 0, 2), then as [3, 16]; the other way round from [2, 24].
static void confused(void)
{
    const int64_t in[] = {2, 3, 8}, out[] = {3, 16}, perm[] = {1, 0, 2}, other[] = {3, 2, 8};
    for (int first = 0; first < 2; first++) {
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrListInt(attr, "perm", 3, perm);
        aclopSetAttrListInt(attr, "shape", first ? 2 : 3, first ? out : in);
        aclopSetAttrBool(attr, "transpose_first", (uint8_t)first);
        const int64_t flat[] = {2, 24};
        struct moved turned =
            first ? move_one(rig_named_floats(3, in, 9), rig_named_floats(2, out, 10))
                  : move_one(rig_named_floats(2, flat, 9), rig_named_floats(3, other, 10));
        for (int64_t i = 0; i < 48; i++) {
            turned.want[i] = rig_values_at(&turned.t[0], (i / 8 % 2 * 3 + i / 16) * 8 + i % 8);
        }
        expect_moved("ConfusionTransposeD", attr, &turned, 0);
    }
}

static void shuffled_channels(void)
{
    const int64_t dim[] = {2, 6, 2, 3};
    struct moved shuffled = move_one(rig_named_floats(4, dim, 11), rig_named_floats(4, dim, 12));
    for (int64_t i = 0; i < 72; i++) {
        const int64_t c = i / 6 % 6, from = c % 3 * 2 + c / 3;
        shuffled.want[i] = rig_values_at(&shuffled.t[0], (i / 36 * 6 + from) * 6 + i % 6);
    }
    expect_moved("ShuffleChannel", one_int("group", 3), &shuffled, 0);
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void sorted_values(void)
{
    const int64_t dim[] = {3, 37};
    aclopAttr *attr = one_int("axis", -1);
    aclopSetAttrBool(attr, "descending", 1);
    struct moved sorted = move_one(rig_named_floats(2, dim, 13), rig_named_floats(2, dim, 14));
    for (int64_t i = 0; i < 111; i++) {
        sorted.want[i] = rig_values_at(&sorted.t[0], i);
    }
    for (int64_t r = 0; r < 3; r++) {
        qsort(sorted.want + r * 37, 37, sizeof(double), falling);
    }
    expect_moved("SortV2", attr, &sorted, 0);
}

static void taken_rows(void)
{
    const int64_t dim[] = {5, 7}, list[] = {4}, out[] = {4, 7}, index[] = {3, 0, 3, 4};
    struct moved taken = {{rig_named_floats(2, dim, 15),
                           rig_named_ints(OP_TYPE_I32, 1, list, index),
                           rig_named_floats(2, out, 16)},
                          2,
                          rig_values_zeros(28)};
    for (int64_t i = 0; i < 28; i++) {
        taken.want[i] = rig_values_at(&taken.t[0], index[i / 7] * 7 + i % 7);
    }
    expect_moved("GatherV2D", one_int("axis", 0), &taken, 0);
}

/* Slices of [5, 3, 4] that rows of two places name, and the same added to zeros: one place twice.
 */
static void slices_by_rows(void)
{
    const int64_t dim[] = {5, 3, 4}, list[] = {4, 2}, out[] = {4, 4},
                  index[] = {4, 0, 2, 1, 0, 2, 2, 1}, sizes[] = {3};
    struct moved taken = {{rig_named_floats(3, dim, 31),
                           rig_named_ints(OP_TYPE_I32, 2, list, index),
                           rig_named_floats(2, out, 32)},
                          2,
                          rig_values_zeros(16)};
    struct moved put = {
        {rig_named_ints(OP_TYPE_I32, 2, list, index),
         rig_named_ints(OP_TYPE_I32, 2, out,
                        (const int64_t[16]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}),
         rig_named_ints(OP_TYPE_I64, 1, sizes, dim),
         rig_tensor_make(OP_TYPE_I32, 3, dim, RIG_DENSE, 33)},
        3,
        rig_values_zeros(60)};
    for (int64_t i = 0; i < 16; i++) {
        const int64_t *row = index + i / 4 * 2, at = (row[0] * 3 + row[1]) * 4 + i % 4;
        taken.want[i] = rig_values_at(&taken.t[0], at);
        put.want[at] += (double)(i + 1);
    }
    expect_moved("GatherNd", NULL, &taken, 0);
    expect_moved("ScatterNd", NULL, &put, 4);
}

static void reversed_sequences(void)
{
    const int64_t dim[] = {5, 3, 4}, batch[] = {3}, count[] = {5}, lengths[] = {3, 0, 5, 1, 2};
    for (int turn = 0; turn < 2; turn++) { // along dimension 0, then 1
        const int64_t shorter[] = {3, 0, 2, 1, 3}, *length = turn ? shorter : lengths;
        aclopAttr *attr = one_int("seq_dim", turn);
        aclopSetAttrInt(attr, "batch_dim", 1 - turn);
        struct moved made = {{rig_named_floats(3, dim, 34),
                              rig_named_ints(OP_TYPE_I32, 1, turn ? count : batch, length),
                              rig_named_floats(3, dim, 35)},
                             2,
                             rig_values_zeros(60)};
        for (int64_t i = 0; i < 60; i++) {
            const int64_t a = i / 12, b = i / 4 % 3, step = turn ? b : a,
                          most = length[turn ? a : b], from = step < most ? most - 1 - step : step;
            made.want[i] =
                rig_values_at(&made.t[0], ((turn ? a : from) * 3 + (turn ? from : b)) * 4 + i % 4);
        }
        expect_moved("ReverseSequence", attr, &made, 0);
    }
}

// Rows 3, 0 and 4 of [5, 7] replaced, or added to; in memory of their own.
static void put_rows(void)
{
    static const char *const types[] = {"ScatterUpdate", "ScatterNdUpdate", "ScatterNdAdd"};
    const int64_t dim[] = {5, 7}, list[] = {3, 1}, from[] = {3, 7}, index[] = {3, 0, 4};
    for (unsigned k = 0; k < 3; k++) {
        struct moved put = {{rig_named_floats(2, dim, 17),
                             rig_named_ints(OP_TYPE_I32, k ? 2 : 1, list, index),
                             rig_named_floats(2, from, 18), rig_named_floats(2, dim, 19)},
                            3,
                            rig_values_zeros(35)};
        for (int64_t i = 0; i < 35; i++) {
            put.want[i] = rig_values_at(&put.t[0], i);
        }
        for (int64_t i = 0; i < 21; i++) {
            double *to = &put.want[index[i / 7] * 7 + i % 7];
            *to = (k == 2 ? *to : 0) + rig_values_at(&put.t[2], i);
        }
        expect_moved(types[k], NULL, &put, 0);
    }
}

static void numbers_in_order(void)
{
    const int64_t list[] = {9};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrFloat(attr, "start", 1.5f);
    aclopSetAttrFloat(attr, "limit", 6);
    aclopSetAttrFloat(attr, "delta", 0.5f);
    struct moved range = move_one(rig_named_floats(1, list, 20), rig_named_floats(1, list, 21));
    for (int64_t i = 0; i < 9; i++) {
        range.want[i] = 1.5 + 0.5 * (double)i;
    }
    expect_moved("RangeD", attr, &range, 0);
}

// Each number below 100 once; another seed gives another order.
static void permutations(void)
{
    const int64_t scalar[] = {1}, list[] = {100};
    int64_t orders[2][100];
    for (int64_t seed = 0; seed < 2; seed++) {
        const int64_t count = 100, offset = 0;
        struct rig_tensor t[] = {rig_named_ints(OP_TYPE_I64, 1, scalar, &count),
                                 rig_named_ints(OP_TYPE_I64, 1, scalar, &seed),
                                 rig_named_ints(OP_TYPE_I64, 1, scalar, &offset),
                                 rig_tensor_make(OP_TYPE_I64, 1, list, RIG_DENSE, 1)};
        struct rig_tensor *in[] = {&t[0], &t[1], &t[2]}, *out[] = {&t[3]};
        const struct rig_named call = {in, 3, out, 1, NULL, 7};
        CU_ASSERT_EQUAL(rig_named_try("StatelessRandperm", call), 0);
        rig_tensor_take(&t[3]);
        unsigned seen[100] = {0};
        for (int64_t i = 0; i < 100; i++) {
            orders[seed][i] = rig_get_i(rig_tensor_at(&t[3], i), OP_TYPE_I64);
            CU_ASSERT_FATAL(orders[seed][i] >= 0 && orders[seed][i] < 100);
            CU_ASSERT_EQUAL(seen[orders[seed][i]]++, 0);
        }
        rig_values_free(t, 4, NULL, 0);
    }
    CU_ASSERT_NOT_EQUAL(memcmp(orders[0], orders[1], sizeof(orders[0])), 0);
}

static void counts(void)
{
    const int64_t dim[] = {301}, bins[] = {8};
    aclopAttr *attr = one_int("bins", 8);
    aclopSetAttrFloat(attr, "min", -1);
    aclopSetAttrFloat(attr, "max", 1);
    struct moved counted = move_one(rig_named_floats(1, dim, 22), rig_named_floats(1, bins, 23));
    for (int64_t i = 0; i < 301; i++) {
        const double at = (rig_values_at(&counted.t[0], i) + 1) * 4;
        if (at >= 0 && at <= 8) {
            counted.want[at == 8 ? 7 : (int)at]++;
        }
    }
    expect_moved("Histogram", attr, &counted, 0);
}

static void equal_tensors(void)
{
    const int64_t dim[] = {3, 5}, one[] = {1};
    for (uint64_t other = 0; other < 2; other++) {
        struct moved same = {{rig_named_floats(2, dim, 24), rig_named_floats(2, dim, 24 + other),
                              rig_tensor_make(OP_TYPE_BOOL, 1, one, RIG_DENSE, 1)},
                             2,
                             rig_values_zeros(1)};
        same.want[0] = other == 0;
        expect_moved("TensorEqual", NULL, &same, 0);
    }
}

// Blocks of 2 x 2 put back where they overlap: each pixel is the sum of those that hold it.
static void columns_to_image(void)
{
    const int64_t size[] = {4, 5}, two[] = {2}, columns[] = {1, 2 * 4, 3 * 4}, kernel[] = {2, 2},
                  ones[] = {1, 1}, zeros[] = {0, 0}, image[] = {1, 2, 4, 5};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrListInt(attr, "kernel_size", 2, kernel);
    aclopSetAttrListInt(attr, "dilation", 2, ones);
    aclopSetAttrListInt(attr, "padding", 2, zeros);
    aclopSetAttrListInt(attr, "stride", 2, ones);
    struct moved put = {{rig_named_floats(3, columns, 26),
                         rig_named_ints(OP_TYPE_I32, 1, two, size), rig_named_floats(4, image, 27)},
                        2,
                        rig_values_zeros(40)};
    for (int64_t i = 0; i < 8 * 12; i++) {
        const int64_t row = i / 12, at = i % 12, y = at / 4 + row / 2 % 2, x = at % 4 + row % 2;
        put.want[row / 4 * 20 + y * 5 + x] += rig_values_at(&put.t[0], i);
    }
    expect_moved("Col2im", attr, &put, 2);
}

// Two blocks of channels of x1 from its second on, and of x2 from its first on; x2 has no more than
// 20 channels: the rest of its block is 0.
static void strided_sums(void)
{
    const int64_t first[] = {2, 48, 3}, second[] = {2, 20, 3}, out[] = {2, 32, 3};
    aclopAttr *attr = one_int("x1_c1_offset", 1);
    aclopSetAttrInt(attr, "x2_c1_offset", 0);
    aclopSetAttrInt(attr, "c1_len", 2);
    struct moved sum = {{rig_named_floats(3, first, 30), rig_named_floats(3, second, 31),
                         rig_named_floats(3, out, 32)},
                        2,
                        rig_values_zeros(192)};
    for (int64_t i = 0; i < 192; i++) {
        const int64_t image = i / 96, channel = i / 3 % 32, at = i % 3;
        sum.want[i] =
            rig_values_at(&sum.t[0], (image * 48 + 16 + channel) * 3 + at) +
            (channel < 20 ? rig_values_at(&sum.t[1], (image * 20 + channel) * 3 + at) : 0);
    }
    expect_moved("StrideAdd", attr, &sum, 0);
}

// A diagonal that is not there, a slice that does not fit and a word that is not served.
static void wrong_calls_are_refused(void)
{
    const int64_t square[] = {3, 3}, list[] = {2}, rows[] = {2, 1}, index[] = {1, 0};
    struct rig_tensor t[] = {rig_named_floats(2, square, 1), rig_named_floats(1, list, 2),
                             rig_named_ints(OP_TYPE_I32, 2, rows, index),
                             rig_named_floats(2, square, 3)};
    struct rig_tensor *matrix[] = {&t[0]}, *part[] = {&t[1]}, *put[] = {&t[0], &t[2], &t[1]},
                      *out[] = {&t[3]};
    CU_ASSERT_NOT_EQUAL(rig_named_try("DiagPart", (struct rig_named){matrix, 1, part, 1,
                                                                     one_int("diagonal", 2), 0}),
                        0);
    CU_ASSERT_NOT_EQUAL(
        rig_named_try("ScatterNdUpdate", (struct rig_named){put, 3, out, 1, NULL, 0}), 0);
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrString(attr, "reduce", "add");
    CU_ASSERT_NOT_EQUAL(rig_named_try("Scatter", (struct rig_named){put, 3, matrix, 1, attr, 0}),
                        0);
    CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), "only update is possible"));
    rig_values_free(t, 4, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"diagonals", diagonals},
        {"filled_diagonals", filled_diagonals},
        {"one_hot", one_hot},
        {"confused", confused},
        {"shuffled_channels", shuffled_channels},
        {"sorted_values", sorted_values},
        {"taken_rows", taken_rows},
        {"put_rows", put_rows},
        {"slices_by_rows", slices_by_rows},
        {"reversed_sequences", reversed_sequences},
        {"numbers_in_order", numbers_in_order},
        {"permutations", permutations},
        {"counts", counts},
        {"equal_tensors", equal_tensors},
        {"columns_to_image", columns_to_image},
        {"strided_sums", strided_sums},
        {"wrong_calls_are_refused", wrong_calls_are_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_places", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
