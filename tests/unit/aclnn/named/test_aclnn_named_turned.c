/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes that are turned, by type name: numbers that the adapter's tests have for a card, boxes
 * whose common area is known, and the best of many against double. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

enum { NUMBERS = 5 };

// [1, 5, count] from rows of boxes.
static struct rig_tensor columns(const double *rows, int64_t count)
{
    const int64_t dim[] = {1, NUMBERS, count};
    struct rig_tensor tensor = rig_values_make(OP_TYPE_F32, 3, dim, RIG_DENSE, 1);
    for (int64_t i = 0; i < NUMBERS * count; i++) {
        rig_put_d(rig_tensor_at(&tensor, i), OP_TYPE_F32, rows[i % count * NUMBERS + i / count]);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

static void expect_pairs(const char *type, const double *boxes, int64_t count, const double *others,
                         int64_t other_count, const double *want, struct rig_bound bound)
{
    const int64_t dim[] = {1, count, other_count};
    struct rig_tensor t[] = {columns(boxes, count), columns(others, other_count),
                             rig_values_make(OP_TYPE_F32, 3, dim, RIG_DENSE, 1)};
    struct rig_tensor *in[] = {&t[0], &t[1]}, *out[] = {&t[2]};
    rig_named_run(type, aclopCreateAttr(), in, 2, out, 1);
    rig_values_expect(&t[2], want, bound, type);
    rig_values_free(t, 3, NULL, 0);
}

static void overlaps_as_published(void)
{
    static const double boxes[] = {35.745582580566406, 48.66326141357422, 12, 13, 66,
                                   43.131832122802734, 53.56075668334961, 17, 6,  -130,
                                   53.39927291870117,  38.17777633666992, 17, 10, 60},
                        others[] = {43.27988052368164, 30.664318084716797, 12, 1,  156,
                                    38.72185516357422, 37.3918342590332,   10, 12, -177},
                        want[] = {0, 10.289731, 0, 0, 0, 0};
    expect_pairs("RotatedOverlaps", boxes, 3, others, 2, want, (struct rig_bound){.of_each = 5e-5});
}

// A square of side 2 against itself, turned by 90 and 45 degrees, moved, far away, and a part of
// it.
static void known_areas(void)
{
    const double octagon = 8 * (sqrt(2) - 1);
    const double square[] = {1, 1, 2, 2, 0},
                 others[] = {1, 1,    2, 2, 0, 1, 1,  2, 2, 90, 1, 1,   2,   2, 45, 2, 1, 2,
                             2, -180, 9, 9, 2, 2, 30, 1, 1, 1,  1, 360, 1.5, 1, 1,  2, 0},
                 common[] = {4, 4, octagon, 2, 0, 1, 2};
    double ratio[7];
    for (int i = 0; i < 7; i++) {
        const double all = 4 + others[i * NUMBERS + 2] * others[i * NUMBERS + 3];
        ratio[i] = common[i] / (all - common[i]);
    }
    const struct rig_bound bound = {.of_each = 1e-5, .at_all = 1e-5};
    expect_pairs("RotatedOverlaps", square, 1, others, 7, common, bound);
    expect_pairs("RotatedIou", square, 1, others, 7, ratio, bound);
}

// Boxes in a row, each over a quarter of the next: every other one stays, from the best on.
static void run_selection(int64_t mode, int64_t most)
{
    static const double scores[] = {0.5, 0.9, 0.3, 0.8, 0.1, 0.7}; // the last but one is too bad
    const int64_t dim[] = {6, NUMBERS}, list[] = {6}, one[] = {1};
    // Of 1, 3 and 5 nothing covers another; 0 and 2 are covered.
    const int64_t want[] = {1, 3, 5}, count = most < 0 || most > 3 ? 3 : most;
    struct rig_tensor t[] = {rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1),
                             rig_values_make(OP_TYPE_F32, 1, list, RIG_DENSE, 1),
                             rig_tensor_make(OP_TYPE_I32, 0, one, RIG_DENSE, 1),
                             rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1),
                             rig_tensor_make(OP_TYPE_I32, 1, list, RIG_DENSE, 1)};
    for (int64_t i = 0; i < 6; i++) {
        // 4 x 2, turned by 90 degrees: 2 wide and 4 high, so that each covers a part of the next.
        const double y = 3 * (double)i, centred[] = {1, y, 4, 2, 90},
                     corners[] = {-1, y - 1, 3, y + 1, 90};
        for (int64_t k = 0; k < NUMBERS; k++) {
            rig_put_d(rig_tensor_at(&t[0], i * NUMBERS + k), OP_TYPE_F32,
                      mode ? corners[k] : centred[k]);
        }
        rig_put_d(rig_tensor_at(&t[1], i), OP_TYPE_F32, scores[i]);
    }
    rig_tensor_put(&t[0]);
    rig_tensor_put(&t[1]);
    struct rig_tensor *in[] = {&t[0], &t[1], &t[2]}, *out[] = {&t[3], &t[4]};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrFloat(attr, "iou_threshold", 0.1f);
    aclopSetAttrFloat(attr, "score_threshold", 0.2f);
    aclopSetAttrInt(attr, "max_output_size", most);
    aclopSetAttrInt(attr, "mode", mode);
    rig_named_run("RotatedNMS", attr, in, 3, out, 2);
    rig_tensor_take(&t[3]);
    rig_tensor_take(&t[4]);
    for (int64_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&t[4], i), OP_TYPE_I32), want[i]);
        for (int64_t k = 0; k < NUMBERS; k++) {
            CU_ASSERT_EQUAL(rig_values_at(&t[3], i * NUMBERS + k),
                            rig_values_at(&t[0], want[i] * NUMBERS + k));
        }
    }
    rig_values_free(t, 5, NULL, 0);
}

static void best_of_many(void)
{
    for (int64_t mode = 0; mode < 2; mode++) {
        run_selection(mode, -1);
        run_selection(mode, 2);
    }
}

// A box with one negative side has no area: it covers nothing, and nothing covers it.
static void boxes_without_an_area_stay(void)
{
    static const double boxes[3][NUMBERS] = {{0, 0, 8, 8, 0}, {0, 0, -9, 9, 0}, {0, 0, 7, 7, 10}};
    const int64_t dim[] = {3, NUMBERS}, list[] = {3}, one[] = {1};
    struct rig_tensor t[] = {rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1),
                             rig_values_make(OP_TYPE_F32, 1, list, RIG_DENSE, 1),
                             rig_tensor_make(OP_TYPE_I32, 0, one, RIG_DENSE, 1),
                             rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1),
                             rig_tensor_make(OP_TYPE_I32, 1, list, RIG_DENSE, 1)};
    for (int64_t i = 0; i < 3 * NUMBERS; i++) {
        rig_put_d(rig_tensor_at(&t[0], i), OP_TYPE_F32, boxes[i / NUMBERS][i % NUMBERS]);
        rig_put_d(rig_tensor_at(&t[1], i / NUMBERS), OP_TYPE_F32,
                  0.9 - 0.1 * (double)(i / NUMBERS));
    }
    rig_tensor_put(&t[0]);
    rig_tensor_put(&t[1]);
    struct rig_tensor *in[] = {&t[0], &t[1], &t[2]}, *out[] = {&t[3], &t[4]};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrFloat(attr, "iou_threshold", 0.2f);
    aclopSetAttrInt(attr, "max_output_size", -1);
    rig_named_run("RotatedNMS", attr, in, 3, out, 2);
    rig_tensor_take(&t[4]);
    CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&t[4], 0), OP_TYPE_I32), 0);
    CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&t[4], 1), OP_TYPE_I32), 1);
    rig_values_free(t, 5, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"overlaps_as_published", overlaps_as_published},
        {"known_areas", known_areas},
        {"best_of_many", best_of_many},
        {"boxes_without_an_area_stay", boxes_without_an_area_stay},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_turned", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
