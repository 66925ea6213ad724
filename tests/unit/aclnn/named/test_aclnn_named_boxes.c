/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes by type name: chosen by score, given by their distance from others, and the places that
 * answer for them. Against plain C, and against numbers that were published for a card. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

static struct rig_tensor numbers(enum op_type type, unsigned rank, const int64_t *dim,
                                 const double *values)
{
    struct rig_tensor tensor = rig_tensor_make(type, rank, dim, RIG_DENSE, 1);
    for (int64_t i = 0; i < rig_tensor_count(&tensor); i++) {
        rig_put_d(rig_tensor_at(&tensor, i), type, values[i]);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

static void expect_numbers(const char *type, aclopAttr *attr, unsigned ins, struct rig_tensor *t,
                           const double *want, struct rig_bound bound)
{
    struct rig_tensor *in[MOST], *out[] = {&t[ins]};
    for (unsigned i = 0; i < ins; i++) {
        in[i] = &t[i];
    }
    rig_named_run(type, attr, in, ins, out, 1);
    rig_values_expect(out[0], want, bound, type);
    rig_values_free(t, ins + 1, NULL, 0);
}

/* ---- chosen by score ---- */

// Boxes of one to three in size with their corners in a field of four.
static void make_boxes(double *box, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count * 4; i += 4) {
        for (int k = 0; k < 2; k++) {
            box[i + k] = (double)(rig_random(&seed) % 1024) / 256;
            box[i + 2 + k] = box[i + k] + 1 + (double)(rig_random(&seed) % 512) / 256;
        }
    }
}

static double overlap(const double *a, const double *b)
{
    const double common =
        fmax(fmin(a[2], b[2]) - fmax(a[0], b[0]), 0) * fmax(fmin(a[3], b[3]) - fmax(a[1], b[1]), 0);
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common);
}

// Marks the boxes that overlap no better one; `most` of them, those above `least`.
static void choose(const double *box, const double *score, int64_t count, double limit,
                   double least, int64_t most, bool *kept)
{
    bool *taken = calloc((size_t)count + 1, 1);
    for (int64_t k = 0; k < most; k++) {
        int64_t best = -1;
        for (int64_t i = 0; i < count; i++) {
            if (!taken[i] && score[i] > least && (best < 0 || score[i] > score[best])) {
                best = i;
            }
        }
        for (int64_t i = 0; best >= 0 && i < count; i++) {
            taken[i] |= i == best || overlap(box + 4 * best, box + 4 * i) > limit;
        }
        if (best >= 0) {
            kept[best] = true;
        }
    }
    free(taken);
}

static void run_mask(int64_t count)
{
    const int64_t dim[] = {count, 5};
    double box[4 * 64], score[64], row[5 * 64], *want[] = {rig_values_zeros(count)};
    bool kept[64] = {false};
    make_boxes(box, count, 3);
    for (int64_t i = 0; i < count; i++) {
        score[i] = (double)(i * 37 % 64) / 64;
        memcpy(row + 5 * i, box + 4 * i, 4 * sizeof(double));
        row[5 * i + 4] = score[i];
    }
    choose(box, score, count, 0.3, -1, count, kept);
    struct rig_tensor t[] = {numbers(OP_TYPE_F32, 2, dim, row),
                             rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1),
                             rig_tensor_make(OP_TYPE_I32, 1, dim, RIG_DENSE, 1),
                             rig_tensor_make(OP_TYPE_U8, 1, dim, RIG_DENSE, 1)};
    struct rig_tensor *in[] = {&t[0]}, *out[] = {&t[1], &t[2], &t[3]};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrFloat(attr, "iou_threshold", 0.3f);
    rig_named_run("NMSWithMask", attr, in, 1, out, 3);
    int64_t dropped = 0;
    for (int64_t i = 0; i < count; i++) {
        want[0][i] = kept[i];
        dropped += !kept[i];
    }
    CU_ASSERT(count < 30 || (dropped > 5 && dropped < count - 2));
    rig_values_expect(&t[3], want[0], (struct rig_bound){0}, "mask");
    rig_values_expect(&t[1], row, (struct rig_bound){0}, "boxes");
    for (int64_t i = 0; i < count; i++) {
        want[0][i] = (double)i;
    }
    rig_values_expect(&t[2], want[0], (struct rig_bound){0}, "numbers");
    rig_values_free(t, 4, want, 1);
}

static void masks_of_the_best(void)
{
    run_mask(1);
    run_mask(17);
    run_mask(64);
}

enum { BATCH = 3, COUNT = 23, CLASSES = 4, EACH = 5, TOTAL = 9 };

/* Of one batch: picks in falling order; `sorted` has score, class and number of each. */
static int64_t pick(double (*box)[CLASSES][COUNT * 4], const double (*score)[COUNT],
                    double (*sorted)[3])
{
    int64_t count = 0;
    for (int c = 0; c < CLASSES; c++) {
        bool kept[COUNT] = {false};
        choose((*box)[c], score[c], COUNT, 0.25, 0.2, EACH, kept);
        for (int i = 0; i < COUNT; i++) {
            if (!kept[i]) {
                continue;
            }
            int64_t at = count++; // all scores are different
            for (; at > 0 && sorted[at - 1][0] < score[c][i]; at--) {
                memcpy(sorted[at], sorted[at - 1], sizeof(sorted[0]));
            }
            sorted[at][0] = score[c][i];
            sorted[at][1] = c;
            sorted[at][2] = i;
        }
    }
    return count < TOTAL ? count : TOTAL;
}

static void run_classes(enum op_type type, int64_t box_classes)
{
    const int64_t boxes[] = {BATCH, COUNT, box_classes, 4}, scores[] = {BATCH, COUNT, CLASSES},
                  out_dim[] = {BATCH, TOTAL, 4};
    static double box[BATCH][CLASSES][COUNT * 4], score[BATCH][CLASSES][COUNT],
        sorted[CLASSES * COUNT][3], box_row[BATCH * COUNT * CLASSES * 4],
        score_row[BATCH * COUNT * CLASSES];
    double *want[] = {rig_values_zeros(BATCH * TOTAL * 4), rig_values_zeros(BATCH * TOTAL),
                      rig_values_zeros(BATCH * TOTAL), rig_values_zeros(BATCH)};
    for (int64_t b = 0; b < BATCH; b++) {
        for (int64_t c = 0; c < CLASSES; c++) {
            const int64_t boxes_of = box_classes > 1 ? c : 0;
            make_boxes(box[b][c], COUNT, (uint64_t)(10 * b + boxes_of + 1));
            for (int64_t i = 0; i < COUNT; i++) {
                // Of batch 2 few are good enough.
                score[b][c][i] = (double)((i * CLASSES + c) * 41 % 128) / (b == 2 ? 512 : 128);
                score_row[(b * COUNT + i) * CLASSES + c] = score[b][c][i];
                memcpy(box_row + ((b * COUNT + i) * box_classes + boxes_of) * 4, box[b][c] + 4 * i,
                       4 * sizeof(double));
            }
        }
        const int64_t count = pick(&box[b], (const double(*)[COUNT])score[b], sorted);
        for (int64_t k = 0; k < count; k++) {
            const double *from = box[b][(int)sorted[k][1]] + 4 * (int)sorted[k][2];
            memcpy(want[0] + (b * TOTAL + k) * 4, from, 4 * sizeof(double));
            want[1][b * TOTAL + k] = sorted[k][0];
            want[2][b * TOTAL + k] = sorted[k][1];
        }
        want[3][b] = (double)count;
    }
    struct rig_tensor t[] = {numbers(type, 4, boxes, box_row),
                             numbers(type, 3, scores, score_row),
                             rig_values_make(type, 3, out_dim, RIG_DENSE, 1),
                             rig_values_make(type, 2, out_dim, RIG_DENSE, 1),
                             rig_values_make(type, 2, out_dim, RIG_DENSE, 1),
                             rig_tensor_make(OP_TYPE_I32, 1, out_dim, RIG_DENSE, 1)};
    struct rig_tensor *in[] = {&t[0], &t[1]}, *out[] = {&t[2], &t[3], &t[4], &t[5]};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrFloat(attr, "score_threshold", 0.2f);
    aclopSetAttrFloat(attr, "iou_threshold", 0.25f);
    aclopSetAttrInt(attr, "max_size_per_class", EACH);
    aclopSetAttrInt(attr, "max_total_size", TOTAL);
    rig_named_run("BatchMultiClassNonMaxSuppression", attr, in, 2, out, 4);
    for (unsigned i = 0; i < 4; i++) {
        rig_values_expect(out[i], want[i], (struct rig_bound){0}, "best of classes");
    }
    rig_values_free(t, 6, want, 4);
}

// Corners and scores are exact in halves.
static void best_of_classes(void)
{
    run_classes(OP_TYPE_F32, 1);
    run_classes(OP_TYPE_F32, CLASSES);
    run_classes(OP_TYPE_F16, CLASSES);
}

/* ---- given by their distance ---- */

static aclopAttr *coder_attributes(float deviation)
{
    const float zeros[4] = {0}, deviations[] = {deviation, deviation, 2 * deviation, 2 * deviation};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrListFloat(attr, "means", 4, zeros);
    aclopSetAttrListFloat(attr, "stds", 4, deviations);
    return attr;
}

// Numbers that the adapter's test has for a card; the last one is NaN on the 910B.
static void encoded_as_published(void)
{
    const int64_t dim[] = {2, 4}, seven = 7;
    const double from[] = {1, 2, 3, 4, 3, 4, 5, 6}, to[] = {5, 6, 7, 8, 7, 8, 9, 6},
                 want[] = {13.328125, 13.328125, 0, 0, 13.328125, 6.6640625, 0, -5.4922};
    struct rig_tensor t[] = {numbers(OP_TYPE_F32, 2, dim, from), numbers(OP_TYPE_F32, 2, dim, to),
                             rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1)};
    struct rig_tensor *in[] = {&t[0], &t[1]}, *out[] = {&t[2]};
    rig_named_run("BoundingBoxEncode", coder_attributes(0.1f), in, 2, out, 1);
    rig_tensor_take(&t[2]);
    for (int64_t i = 0; i < 8; i++) {
        const double got = rig_values_at(&t[2], i);
        CU_ASSERT(i == seven && rig_chip() != 0 ? isnan(got) : fabs(got - want[i]) < 1e-4);
    }
    rig_values_free(t, 3, NULL, 0);
}

static void decoded_as_published(void)
{
    const int64_t dim[] = {2, 4}, bound[] = {10, 10};
    const double from[] = {1, 2, 3, 4, 3, 4, 5, 6}, deltas[] = {5, 6, 7, 8, 7, 8, 9, 6},
                 want[] = {2.5, 6.5, 9, 9, 9, 9, 9, 9};
    struct rig_tensor t[] = {numbers(OP_TYPE_F32, 2, dim, from),
                             numbers(OP_TYPE_F32, 2, dim, deltas),
                             rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1)};
    const float ones[] = {1, 1, 1, 1}, zeros[4] = {0};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrListFloat(attr, "means", 4, zeros);
    aclopSetAttrListFloat(attr, "stds", 4, ones);
    aclopSetAttrListInt(attr, "max_shape", 2, bound);
    aclopSetAttrFloat(attr, "wh_ratio_clip", 0.1f);
    expect_numbers("BoundingBoxDecode", attr, 2, t, want, (struct rig_bound){.of_each = 1e-5});
}

// With limits of sizes and of the image.
static void decoded_boxes_equal_double(void)
{
    enum { N = 33 };
    const int64_t dim[] = {N, 4}, bound[] = {40, 60};
    double from[N * 4], deltas[N * 4], want[N * 4];
    make_boxes(from, N, 5);
    for (int64_t i = 0; i < N * 4; i++) {
        deltas[i] = (double)(i * 29 % 64 - 32) / 16;
    }
    for (int64_t i = 0; i < N * 4; i++) {
        const int64_t k = i % 2, first = i / 4 * 4 + k;
        const double size = from[first + 2] - from[first] + 1, limit = log(4),
                     centre = (from[first] + from[first + 2]) / 2 + size * deltas[first] * 0.5,
                     grown = size * exp(fmin(fmax(deltas[first + 2], -limit), limit)),
                     at = i % 4 < 2 ? centre - grown / 2 + 0.5 : centre + grown / 2 - 0.5;
        want[i] = fmin(fmax(at, 0), (double)bound[1 - k] - 1);
    }
    struct rig_tensor t[] = {numbers(OP_TYPE_F32, 2, dim, from),
                             numbers(OP_TYPE_F32, 2, dim, deltas),
                             rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1)};
    aclopAttr *attr = coder_attributes(0.5f); // 1 for sizes
    aclopSetAttrListInt(attr, "max_shape", 2, bound);
    aclopSetAttrFloat(attr, "wh_ratio_clip", 0.25f);
    expect_numbers("BoundingBoxDecode", attr, 2, t, want,
                   (struct rig_bound){.of_each = 4e-6, .at_all = 1e-5, .roundings = 1});
}

static void yolo_boxes(void)
{
    enum { N = 19 };
    const int64_t dim[] = {N, 4};
    double from[N * 4], to[N * 4], stride[N], want[N * 4];
    make_boxes(from, N, 6);
    make_boxes(to, N, 7);
    for (int64_t i = 0; i < N * 4; i++) {
        const int64_t first = i / 4 * 4 + i % 2;
        const double size = from[first + 2] - from[first], other = to[first + 2] - to[first],
                     apart = (to[first] + other / 2 - from[first] - size / 2) / 4 + 0.5;
        stride[i / 4] = 4;
        want[i] = i % 4 < 2 ? fmin(fmax(apart, 1e-6), 1 - 1e-6) : log(fmax(other / size, 1e-6));
    }
    struct rig_tensor t[] = {numbers(OP_TYPE_F32, 2, dim, from), numbers(OP_TYPE_F32, 2, dim, to),
                             numbers(OP_TYPE_I32, 1, dim, stride),
                             rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1)};
    expect_numbers("YoloBoxesEncode", NULL, 3, t, want,
                   (struct rig_bound){.at_all = 1e-6, .roundings = 1});
}

// Numbers that the adapter's test has for a card.
static void turned_boxes_as_published(void)
{
    const int64_t dim[] = {1, 5, 1};
    const double from[] = {44.2877, 9.1412, 88.7575, 25.8879, 64.8047},
                 to[] = {39.1763, 0.9838, 78.1028, 29.5997, 51.5907},
                 told[] = {-0.1773, -0.1327, -0.1331, 0.5358, -0.8643},
                 other[] = {32.1855, 41.9922, 64.1435, 62.5325, 34.607},
                 deltas[] = {1.8725, -1.8915, 0.2395, -0.4622, -34.6539},
                 made[] = {87.70366, 6.9412346, 128.31055, 19.879467, -88.313515};
    const float weights[] = {1, 1, 1, 1, 1};
    aclopAttr *attr[] = {aclopCreateAttr(), aclopCreateAttr()};
    struct rig_tensor t[] = {numbers(OP_TYPE_F32, 3, dim, from), numbers(OP_TYPE_F32, 3, dim, to),
                             rig_values_make(OP_TYPE_F32, 3, dim, RIG_DENSE, 1)},
                      back[] = {numbers(OP_TYPE_F32, 3, dim, other),
                                numbers(OP_TYPE_F32, 3, dim, deltas),
                                rig_values_make(OP_TYPE_F32, 3, dim, RIG_DENSE, 1)};
    for (int i = 0; i < 2; i++) {
        aclopSetAttrListFloat(attr[i], "weight", 5, weights);
    }
    expect_numbers("RotatedBoxEncode", attr[0], 2, t, told,
                   (struct rig_bound){.of_each = 3e-4, .at_all = 1e-4});
    expect_numbers("RotatedBoxDecode", attr[1], 2, back, made, (struct rig_bound){.of_each = 2e-5});
}

// Numbers that the adapter's test has for a card, whose steps are halves.
static void overlaps_as_published(void)
{
    static const double want[2][9] = {{0.4985, 0, 0, 0, 0, 0, 0, 0.9961, 0},
                                      {0.4990, 0, 0, 0, 0, 0, 0, 0.9980, 0}};
    const int64_t dim[] = {3, 4}, out[] = {3, 3};
    const double boxes[] = {0, 0, 10, 10, 10, 10, 20, 20, 32, 32, 38, 42},
                 others[] = {0, 0, 10, 20, 0, 10, 10, 10, 10, 10, 20, 20};
    for (int over = 0; over < 2; over++) {
        struct rig_tensor t[] = {numbers(OP_TYPE_F16, 2, dim, boxes),
                                 numbers(OP_TYPE_F16, 2, dim, others),
                                 rig_values_make(OP_TYPE_F16, 2, out, RIG_DENSE, 1)};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrString(attr, "mode", over ? "iof" : "iou");
        aclopSetAttrFloat(attr, "eps", 0.01f);
        expect_numbers("Iou", attr, 2, t, want[over], (struct rig_bound){.of_each = 1e-3});
    }
}

/* ---- places ---- */

static void places_of_centres(void)
{
    enum { N = 12, HEIGHT = 6, WIDTH = 5, EVERY = 3 };
    const int64_t dim[] = {N, 4}, out[] = {HEIGHT * WIDTH * EVERY}, size[] = {HEIGHT, WIDTH},
                  strides[] = {2, 1};
    double box[N * 4], want[HEIGHT * WIDTH * EVERY] = {0};
    make_boxes(box, N, 8);
    for (int64_t i = 0; i < N; i++) {
        const int x = (int)floor((box[4 * i] + box[4 * i + 2]) / 2 / 2),
                  y = (int)floor((box[4 * i + 1] + box[4 * i + 3]) / 2);
        for (int k = 0; k < EVERY; k++) {
            want[(y * WIDTH + x) * EVERY + k] = 1;
        }
    }
    struct rig_tensor t[] = {numbers(OP_TYPE_F32, 2, dim, box),
                             rig_tensor_make(OP_TYPE_U8, 1, out, RIG_DENSE, 1)};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrListInt(attr, "featmap_size", 2, size);
    aclopSetAttrListInt(attr, "strides", 2, strides);
    aclopSetAttrInt(attr, "num_base_anchors", EVERY);
    expect_numbers("AnchorResponseFlags", attr, 1, t, want, (struct rig_bound){0});
}

static void run_assign(bool every)
{
    enum { BOXES = 4, PLACES = 21 };
    const int64_t both[] = {BOXES, PLACES}, places[] = {PLACES}, boxes[] = {BOXES};
    double overlaps[BOXES * PLACES], assigned[PLACES], flags[PLACES],
        most[PLACES] = {0}, arg[PLACES], box_most[BOXES] = {0}, box_arg[BOXES], want[PLACES];
    for (int i = 0; i < BOXES * PLACES; i++) {
        const int b = i / PLACES, p = i % PLACES;
        overlaps[i] = (double)(i * 23 % 16) / 16; // several of a box are its largest
        flags[p] = p % 4 != 1;
        assigned[p] = -1;
        if (overlaps[i] > most[p] || b == 0) {
            most[p] = overlaps[i];
            arg[p] = b;
        }
        if (overlaps[i] > box_most[b] || p == 0) {
            box_most[b] = overlaps[i];
            box_arg[b] = p;
        }
    }
    box_most[3] = 0.1; // not enough
    for (int p = 0; p < PLACES; p++) {
        want[p] = flags[p] != 0 && most[p] > 0.75 ? arg[p] + 1 : assigned[p];
        for (int b = 0; b < BOXES; b++) {
            const bool best = every ? overlaps[b * PLACES + p] == box_most[b] : box_arg[b] == p;
            want[p] = flags[p] != 0 && box_most[b] > 0.25 && best ? b + 1 : want[p];
        }
    }
    struct rig_tensor t[] = {numbers(OP_TYPE_F32, 1, places, assigned),
                             numbers(OP_TYPE_F32, 2, both, overlaps),
                             numbers(OP_TYPE_U8, 1, places, flags),
                             numbers(OP_TYPE_F32, 1, places, most),
                             numbers(OP_TYPE_I32, 1, places, arg),
                             numbers(OP_TYPE_F32, 1, boxes, box_most),
                             numbers(OP_TYPE_I32, 1, boxes, box_arg),
                             rig_values_make(OP_TYPE_F32, 1, places, RIG_DENSE, 1)};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrFloat(attr, "pos_iou_thr", 0.75f);
    aclopSetAttrFloat(attr, "min_pos_iou", 0.25f);
    aclopSetAttrBool(attr, "gt_max_assign_all", every);
    expect_numbers("GridAssignPositive", attr, 7, t, want, (struct rig_bound){0});
}

static void places_given_to_boxes(void)
{
    run_assign(true);
    run_assign(false);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"masks_of_the_best", masks_of_the_best},
        {"best_of_classes", best_of_classes},
        {"encoded_as_published", encoded_as_published},
        {"decoded_as_published", decoded_as_published},
        {"decoded_boxes_equal_double", decoded_boxes_equal_double},
        {"yolo_boxes", yolo_boxes},
        {"turned_boxes_as_published", turned_boxes_as_published},
        {"overlaps_as_published", overlaps_as_published},
        {"places_of_centres", places_of_centres},
        {"places_given_to_boxes", places_given_to_boxes},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_boxes", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
