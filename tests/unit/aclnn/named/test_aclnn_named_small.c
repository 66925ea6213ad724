/* SPDX-License-Identifier: Apache-2.0 */
/* Small operators by type name: steps of images, attention and sequences, bits of signs, ranges,
 * resampling. Against loops in double. */
#include "rig_named.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct rig_bound bound = {.of_each = 4e-6, .of_largest = 2e-6, .roundings = 1};

static aclopAttr *one_int(const char *name, int64_t value)
{
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrInt(attr, name, value);
    return attr;
}

static void images(void)
{
    const int64_t dim[] = {1, 3, 4, 5}, channels[] = {1, 3, 1, 1};
    struct rig_named_made scaled = {0}, normal = {0};
    rig_named_input(&scaled, rig_tensor_make(OP_TYPE_U8, 4, dim, RIG_DENSE, 1));
    rig_tensor_put(&scaled.t[0]);
    rig_named_output(&scaled, rig_named_floats(4, dim, 2));
    rig_named_input(&normal, rig_tensor_make(OP_TYPE_U8, 4, dim, RIG_DENSE, 3));
    rig_tensor_put(&normal.t[0]);
    rig_named_input(&normal, rig_named_floats(4, channels, 4));
    rig_named_input(&normal, rig_named_floats(4, channels, 5));
    rig_named_output(&normal, rig_named_floats(4, dim, 6));
    for (int64_t i = 0; i < 60; i++) {
        scaled.want[0][i] = (double)rig_get_i(rig_tensor_at(&scaled.t[0], i), OP_TYPE_U8) / 255;
        normal.want[0][i] = ((double)rig_get_i(rig_tensor_at(&normal.t[0], i), OP_TYPE_U8) -
                             rig_named_at(&normal, 1, i / 20)) /
                            rig_named_at(&normal, 2, i / 20);
    }
    rig_named_expect("ImgToTensor", NULL, &scaled, 0, bound);
    rig_named_expect("NormalizeV2", NULL, &normal, 0, bound);
}

static void sequences(void)
{
    enum { N = 3, C = 4, L = 21 };
    const int64_t dim[] = {N, C, L}, list[] = {N}, lengths[] = {21, 5, 13};
    for (int all = 0; all < 2; all++) {
        struct rig_named_made made = {0};
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrString(attr, "normalize_type", all ? "all_features" : "per_feature");
        aclopSetAttrFloat(attr, "epsilon", 1e-5f);
        rig_named_input(&made, rig_named_floats(3, dim, 7));
        rig_named_input(&made, rig_named_ints(OP_TYPE_I32, 1, list, lengths));
        rig_named_output(&made, rig_named_floats(3, dim, 8));
        for (int64_t row = 0; row < N * C; row++) {
            const int64_t first = all ? row / C * C : row, rows = all ? C : 1,
                          length = lengths[row / C];
            double mean = 0, squares = 0;
            for (int pass = 0; pass < 2; pass++) {
                for (int64_t k = 0; k < rows * length; k++) {
                    const double x = rig_named_at(&made, 0, (first + k / length) * L + k % length);
                    mean += pass == 0 ? x / (double)(rows * length) : 0;
                    squares += pass == 1 ? (x - mean) * (x - mean) : 0;
                }
            }
            for (int64_t k = 0; k < L; k++) {
                made.want[0][row * L + k] = (rig_named_at(&made, 0, row * L + k) - mean) /
                                            (sqrt(squares / (double)(rows * length - 1)) + 1e-5);
            }
        }
        rig_named_expect("NormalizeBatch", attr, &made, 0, bound);
    }
}

static bool bit(const struct rig_named_made *made, unsigned mask, int64_t i)
{
    return rig_get_i(rig_tensor_at(&made->t[mask], i / 8), OP_TYPE_U8) >> (i % 8) & 1;
}

static aclopAttr *attention_attributes(const char *axis)
{
    const int64_t last[] = {-1};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrFloat(attr, "alpha", 0.125f);
    aclopSetAttrFloat(attr, "input_keep_prob", 0.75f);
    aclopSetAttrListInt(attr, axis, 1, last);
    return attr;
}

// Bytes of 0 and 1.
static void make_mask(struct rig_tensor *mask)
{
    for (int64_t i = 0; i < rig_tensor_count(mask); i++) {
        unsigned char *byte = rig_tensor_at(mask, i);
        *byte &= 1;
    }
    rig_tensor_put(mask);
}

static bool byte(const struct rig_named_made *made, unsigned mask, int64_t i)
{
    return rig_get_i(rig_tensor_at(&made->t[mask], i), OP_TYPE_U8) != 0;
}

static void parts_of_attention(void)
{
    enum { ROWS = 6, SIZE = 33 };
    const int64_t dim[] = {ROWS, SIZE}, bytes[] = {256};
    struct rig_named_made made = {0}, back = {0};
    for (uint64_t i = 0; i < 2; i++) {
        rig_named_input(&made, rig_named_floats(2, dim, 10 + i));
    }
    rig_named_input(&made, rig_tensor_make(OP_TYPE_U8, 1, bytes, RIG_DENSE, 12));
    rig_named_output(&made, rig_named_floats(2, dim, 13));
    rig_named_output(&made, rig_named_floats(2, dim, 14));
    rig_named_input(&back, rig_named_floats(2, dim, 15));
    rig_named_input(&back, rig_tensor_make(OP_TYPE_U8, 1, bytes, RIG_DENSE, 16));
    rig_named_input(&back, rig_named_floats(2, dim, 17));
    rig_named_output(&back, rig_named_floats(2, dim, 18));
    make_mask(&made.t[2]);
    make_mask(&back.t[1]);
    for (int64_t r = 0; r < ROWS; r++) {
        double sum = 0, dot = 0;
        for (int64_t i = r * SIZE; i < (r + 1) * SIZE; i++) {
            made.want[0][i] = exp(rig_named_at(&made, 0, i) + 0.125 * rig_named_at(&made, 1, i));
            sum += made.want[0][i];
            back.want[0][i] = byte(&back, 1, i) ? rig_named_at(&back, 0, i) / 0.75 : 0;
            dot += back.want[0][i] * rig_named_at(&back, 2, i);
        }
        for (int64_t i = r * SIZE; i < (r + 1) * SIZE; i++) {
            made.want[0][i] /= sum;
            made.want[1][i] = byte(&made, 2, i) ? made.want[0][i] / 0.75 : 0;
            back.want[0][i] = 0.125 * rig_named_at(&back, 2, i) * (back.want[0][i] - dot);
        }
    }
    rig_named_expect("AxpyWithSoftmaxAndDropOutDoMask", attention_attributes("axis"), &made, 0,
                     bound);
    rig_named_expect("DropoutWithMulsAndSoftmaxGrad", attention_attributes("axes"), &back, 0,
                     bound);
}

// About as many bytes of 1 as are to be kept, the same for the same seed.
static void made_masks(void)
{
    enum { COUNT = 4096 };
    const int64_t shape[] = {2}, dims[] = {64, 64}, one[] = {1}, list[] = {COUNT};
    unsigned char seen[3][COUNT];
    for (int k = 0; k < 3; k++) {
        int64_t kept = 0;
        struct rig_named_made made = {0};
        aclopAttr *attr = one_int("seed", k == 2 ? 7 : 2);
        aclopSetAttrInt(attr, "seed2", 0);
        rig_named_input(&made, rig_named_ints(OP_TYPE_I64, 1, shape, dims));
        rig_named_input(&made, rig_named_floats(1, one, 41));
        *(float *)rig_tensor_at(&made.t[1], 0) = 0.75f;
        rig_named_output(&made, rig_tensor_make(OP_TYPE_U8, 1, list, RIG_DENSE, 42));
        rig_named_call("DropOutGenMaskV3", attr, &made, 3);
        rig_tensor_take(&made.t[2]);
        for (int64_t i = 0; i < COUNT; i++) {
            seen[k][i] = *(unsigned char *)rig_tensor_at(&made.t[2], i);
            CU_ASSERT(seen[k][i] <= 1);
            kept += seen[k][i];
        }
        CU_ASSERT(llabs(kept - 3072) < 6 * 28); // a deviation is 27.7
        rig_named_free(&made);
    }
    CU_ASSERT_EQUAL(memcmp(seen[0], seen[1], COUNT), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(seen[0], seen[2], COUNT), 0);
}

static void bits_of_signs(void)
{
    static const int64_t counts[] = {8, 17, 64, 1000};
    for (unsigned k = 0; k < 4; k++) {
        const int64_t count = counts[k], bytes = (count + 7) / 8, list[] = {count},
                      packed[] = {1, bytes}, flat[] = {bytes}, signs[] = {2, bytes * 4};
        struct rig_named_made pack = {0}, unpack = {0};
        rig_named_input(&pack, rig_named_floats(1, list, 20));
        rig_named_output(&pack, rig_tensor_make(OP_TYPE_U8, 2, packed, RIG_DENSE, 21));
        rig_put_d(rig_tensor_at(&pack.t[0], 3), OP_TYPE_F32, 0);
        rig_tensor_put(&pack.t[0]);
        rig_named_input(&unpack, rig_tensor_make(OP_TYPE_U8, 1, flat, RIG_DENSE, 22));
        rig_tensor_put(&unpack.t[0]);
        rig_named_output(&unpack, rig_named_floats(2, signs, 23));
        for (int64_t i = 0; i < bytes * 8; i++) {
            pack.want[0][i / 8] += i < count && rig_named_at(&pack, 0, i) >= 0 ? 1 << (i % 8) : 0;
            unpack.want[0][i] = bit(&unpack, 0, i) ? 1 : -1;
        }
        rig_named_expect("SignBitsPack", NULL, &pack, 0, bound);
        rig_named_expect("SignBitsUnpack", NULL, &unpack, 0, bound);
    }
}

static void one_place_each(void)
{
    const int64_t dim[] = {3, 4, 5}, rows[] = {3, 5};
    int64_t places[15];
    struct rig_named_made made = {0};
    for (int64_t i = 0; i < 15; i++) {
        places[i] = i * 7 % 4;
    }
    rig_named_input(&made, rig_named_floats(3, dim, 24));
    rig_named_input(&made, rig_named_ints(OP_TYPE_I32, 2, rows, places));
    rig_named_input(&made, rig_named_floats(2, rows, 25));
    rig_named_output(&made, rig_named_floats(3, dim, 26));
    for (int64_t i = 0; i < 60; i++) {
        const int64_t row = i / 20 * 5 + i % 5;
        made.want[0][i] =
            i / 5 % 4 == places[row] ? rig_named_at(&made, 2, row) : rig_named_at(&made, 0, i);
    }
    rig_named_expect("ArgMaxGrad", one_int("dimension", 1), &made, 0, bound);
}

// Ranges of the last dimension have bounds for each row, those of others one.
static void filled_ranges(void)
{
    const int64_t dim[] = {3, 4, 9}, by_row[] = {2, 3}, one[] = {2, 1}, values[] = {2},
                  from[] = {0, 5, 2, 8, 0, 3}, to[] = {3, 6, 2, 9, 1, 9};
    for (int64_t axis = 0; axis < 3; axis++) {
        const bool last = axis == 2;
        struct rig_named_made made = {0};
        rig_named_input(&made, rig_named_floats(3, dim, 27));
        rig_named_input(&made, rig_named_ints(OP_TYPE_I32, 2, last ? by_row : one, from));
        rig_named_input(&made, rig_named_ints(OP_TYPE_I32, 2, last ? by_row : one, to));
        rig_named_input(&made, rig_named_floats(1, values, 28));
        rig_named_output(&made, rig_named_floats(3, dim, 29));
        for (int64_t i = 0; i < 108; i++) {
            const int64_t place[] = {i / 36, i / 9 % 4, i % 9};
            made.want[0][i] = rig_named_at(&made, 0, i);
            for (int64_t r = 0; r < 2; r++) {
                const int64_t k = last ? r * 3 + place[0] : r;
                if (place[axis] >= from[k] && place[axis] < to[k]) {
                    made.want[0][i] = rig_named_at(&made, 3, r);
                }
            }
        }
        rig_named_expect("MaskedFillRange", one_int("axis", axis), &made, 0, bound);
    }
}

static void ratios(void)
{
    const int64_t dim[] = {3, 4, 5}, out[] = {1, 4, 1};
    struct rig_named_made made = {0};
    aclopAttr *attr = one_int("dim", 1);
    aclopSetAttrFloat(attr, "p", 2);
    aclopSetAttrFloat(attr, "maxnorm", 4.0f);
    rig_named_input(&made, rig_named_floats(3, dim, 31));
    rig_named_output(&made, rig_named_floats(3, out, 32));
    unsigned over = 0;
    for (int64_t c = 0; c < 4; c++) {
        double squares = 0;
        for (int64_t k = 0; k < 15; k++) {
            squares += pow(rig_named_at(&made, 0, k / 5 * 20 + c * 5 + k % 5), 2);
        }
        over += sqrt(squares) > 4;
        made.want[0][c] = sqrt(squares) > 4 ? 4 / (sqrt(squares) + 1e-7) : 1;
    }
    CU_ASSERT(over > 0);
    CU_ASSERT(over < 4);
    rig_named_expect("Renorm", attr, &made, 0, bound);
}

/* ---- resampling ---- */

// Weight that place `from` has in place `to` of a line, cubic or linear; the border repeats.
static double weight(int64_t from, int64_t to, int64_t in, int64_t out, bool cubic, bool aligned)
{
    const double where = aligned ? (double)to * (double)(in - 1) / (double)(out - 1)
                                 : ((double)to + 0.5) * (double)in / (double)out - 0.5;
    const double middle = cubic ? where : fmax(where, 0);
    double sum = 0;
    for (int64_t k = (int64_t)floor(middle) - 1; k <= (int64_t)floor(middle) + 2; k++) {
        const double far = fabs(middle - (double)k), a = -0.75;
        const double part = !cubic     ? fmax(1 - far, 0)
                            : far <= 1 ? ((a + 2) * far - (a + 3)) * far * far + 1
                            : far < 2  ? ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
                                       : 0;
        sum += (k < 0 ? 0 : k >= in ? in - 1 : k) == from ? part : 0;
    }
    return sum;
}

static aclopAttr *resize_attributes(bool cubic, bool aligned)
{
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrString(attr, "mode", cubic ? "cubic" : "linear");
    aclopSetAttrString(attr, "coordinate_transformation_mode",
                       aligned ? "align_corners" : "half_pixel");
    aclopSetAttrFloat(attr, "cubic_coeff_a", -0.75f);
    return attr;
}

static void run_cubic(bool aligned)
{
    enum { H = 5, W = 4, OH = 8, OW = 7, PLANES = 6 };
    const int64_t in[] = {2, 3, H, W}, out[] = {2, 3, OH, OW}, turned[] = {OH, OW, 2, 3},
                  sizes[] = {OH, OW};
    struct rig_named_made made = {0}, back = {0};
    aclopAttr *attr[] = {resize_attributes(true, aligned), resize_attributes(true, aligned)};
    aclopSetAttrListInt(attr[0], "sizes", 2, sizes);
    aclopSetAttrListInt(attr[1], "original_size", 4, in);
    aclopSetAttrString(attr[1], "data_format", "HWNC");
    rig_named_input(&made, rig_named_floats(4, in, 33));
    rig_named_output(&made, rig_named_floats(4, out, 34));
    rig_named_input(&back, rig_named_floats(4, turned, 35));
    rig_named_output(&back, rig_named_floats(4, in, 36));
    for (int64_t i = 0; i < PLANES * OH * OW; i++) {
        const int64_t plane = i / (OH * OW), y = i / OW % OH, x = i % OW;
        for (int64_t k = 0; k < H * W; k++) {
            const double by =
                weight(k / W, y, H, OH, true, aligned) * weight(k % W, x, W, OW, true, aligned);
            made.want[0][i] += by * rig_named_at(&made, 0, plane * H * W + k);
            back.want[0][k * PLANES + plane] +=
                by * rig_named_at(&back, 0, (y * OW + x) * PLANES + plane);
        }
    }
    rig_named_expect("ResizeD", attr[0], &made, 0, bound);
    rig_named_expect("ResizeGradD", attr[1], &back, 0, bound);
}

static void run_linear(bool aligned)
{
    enum { W = 5, OW = 12, ROWS = 6 };
    const int64_t in[] = {2, 3, 1, W}, out[] = {2, 3, OW}, high[] = {2, 3, 1, OW},
                  low[] = {2, 3, W}, sizes[] = {OW};
    struct rig_named_made made = {0}, back = {0};
    aclopAttr *attr[] = {resize_attributes(false, aligned), resize_attributes(false, aligned)};
    aclopSetAttrListInt(attr[0], "sizes", 1, sizes);
    aclopSetAttrListInt(attr[1], "original_size", 3, low);
    rig_named_input(&made, rig_named_floats(4, in, 37));
    rig_named_output(&made, rig_named_floats(3, out, 38));
    rig_named_input(&back, rig_named_floats(4, high, 39));
    rig_named_output(&back, rig_named_floats(3, low, 40));
    for (int64_t i = 0; i < ROWS * OW; i++) {
        for (int64_t k = 0; k < W; k++) {
            const double by = weight(k, i % OW, W, OW, false, aligned);
            made.want[0][i] += by * rig_named_at(&made, 0, i / OW * W + k);
            back.want[0][i / OW * W + k] += by * rig_named_at(&back, 0, i);
        }
    }
    rig_named_expect("ResizeD", attr[0], &made, 0, bound);
    rig_named_expect("ResizeGradD", attr[1], &back, 0, bound);
}

static void resampled(void)
{
    for (int aligned = 0; aligned < 2; aligned++) {
        run_cubic(aligned);
        run_linear(aligned);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"images", images},
        {"sequences", sequences},
        {"parts_of_attention", parts_of_attention},
        {"made_masks", made_masks},
        {"bits_of_signs", bits_of_signs},
        {"one_place_each", one_place_each},
        {"filled_ranges", filled_ranges},
        {"ratios", ratios},
        {"resampled", resampled},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_small", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
