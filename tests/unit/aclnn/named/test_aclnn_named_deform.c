/* SPDX-License-Identifier: Apache-2.0 */
/* Samples at places of their own and bins of regions by type name, against double on the host:
 * gradients against differences of the value. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <string.h>

static const struct rig_bound bound = {.of_each = 1e-5, .at_all = 2e-5, .roundings = 1};

/* ---- samples ---- */

struct form {
    int images, height, width, groups, each, kernel[2], stride[2], pad[2], dilation[2];
};

static const struct form forms[] = {
    {1, 5, 6, 1, 3, {2, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 7, 5, 2, 8, {3, 3}, {2, 1}, {0, 2}, {1, 2}},
    {3, 4, 4, 1, 16, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
};

enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

static int out_size(const struct form *f, int d)
{
    const int size = d ? f->width : f->height;
    return (size + 2 * f->pad[d] - f->dilation[d] * (f->kernel[d] - 1) - 1) / f->stride[d] + 1;
}

static int kernel_of(const struct form *f)
{
    return f->kernel[0] * f->kernel[1];
}

static double pixel(const struct form *f, const double *x, int image, int y, int at, int channel)
{
    const bool inside = y >= 0 && y < f->height && at >= 0 && at < f->width;
    return inside ? x[((image * f->height + y) * f->width + at) * f->groups * f->each + channel]
                  : 0;
}

// Element `index` of the result: image, row, row of the kernel, column, column of the kernel,
// channel.
static double sample(const struct form *f, const double *x, const double *offsets, int index)
{
    const int channels = f->groups * f->each, channel = index % channels, group = channel / f->each,
              kx = index / channels % f->kernel[1], rest = index / channels / f->kernel[1],
              ox = rest % out_size(f, 1), ky = rest / out_size(f, 1) % f->kernel[0],
              row = rest / out_size(f, 1) / f->kernel[0], oy = row % out_size(f, 0),
              image = row / out_size(f, 0), plane = f->groups * kernel_of(f),
              first = (row * out_size(f, 1) + ox) * 3 * plane + group * kernel_of(f) +
                      ky * f->kernel[1] + kx;
    const double at_x = ox * f->stride[1] - f->pad[1] + kx * f->dilation[1] + offsets[first],
                 at_y =
                     oy * f->stride[0] - f->pad[0] + ky * f->dilation[0] + offsets[first + plane],
                 across = at_x - floor(at_x), down = at_y - floor(at_y);
    const int low_x = (int)floor(at_x), low_y = (int)floor(at_y);
    return offsets[first + 2 * plane] *
           ((1 - down) * ((1 - across) * pixel(f, x, image, low_y, low_x, channel) +
                          across * pixel(f, x, image, low_y, low_x + 1, channel)) +
            down * ((1 - across) * pixel(f, x, image, low_y + 1, low_x, channel) +
                    across * pixel(f, x, image, low_y + 1, low_x + 1, channel)));
}

static aclopAttr *attributes(const struct form *f)
{
    const int64_t kernel[] = {f->kernel[0], f->kernel[1]},
                  stride[] = {1, f->stride[0], f->stride[1], 1},
                  pad[] = {f->pad[0], f->pad[0], f->pad[1], f->pad[1]},
                  dilation[] = {1, f->dilation[0], f->dilation[1], 1};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrListInt(attr, "ksize", 2, kernel);
    aclopSetAttrListInt(attr, "strides", 4, stride);
    aclopSetAttrListInt(attr, "pads", 4, pad);
    aclopSetAttrListInt(attr, "dilations", 4, dilation);
    aclopSetAttrInt(attr, "deformable_groups", f->groups);
    aclopSetAttrString(attr, "data_format", "NHWC");
    aclopSetAttrBool(attr, "modulated", 1);
    return attr;
}

static double *values_of(const struct rig_tensor *tensor)
{
    double *values = rig_values_zeros(rig_tensor_count(tensor));
    for (int64_t i = 0; i < rig_tensor_count(tensor); i++) {
        values[i] = rig_values_at(tensor, i);
    }
    return values;
}

/* x, offsets and the result of a form. */
static void make(const struct form *f, struct rig_tensor *t)
{
    const int64_t x[] = {f->images, f->height, f->width, f->groups * f->each},
                  offsets[] = {f->images, out_size(f, 0), out_size(f, 1),
                               3 * f->groups * kernel_of(f)},
                  y[] = {f->images, out_size(f, 0) * f->kernel[0], out_size(f, 1) * f->kernel[1],
                         f->groups * f->each};
    t[0] = rig_values_make(OP_TYPE_F32, 4, x, RIG_DENSE, 1);
    t[1] = rig_values_make(OP_TYPE_F32, 4, offsets, RIG_DENSE, 2);
    t[2] = rig_values_make(OP_TYPE_F32, 4, y, RIG_DENSE, 3);
}

static void samples_equal_double(void)
{
    for (int k = 0; k < FORMS; k++) {
        const struct form *f = &forms[k];
        struct rig_tensor t[3], *in[] = {&t[0], &t[1]}, *out[] = {&t[2]};
        make(f, t);
        double *values[] = {values_of(&t[0]), values_of(&t[1]), values_of(&t[2])};
        for (int64_t i = 0; i < rig_tensor_count(&t[2]); i++) {
            values[2][i] = sample(f, values[0], values[1], (int)i);
        }
        rig_named_run("DeformableOffsets", attributes(f), in, 2, out, 1);
        rig_values_expect(&t[2], values[2], bound, "samples");
        rig_values_free(t, 3, values, 3);
    }
}

/* Places on whole pixels have two slopes: those are moved between. */
static void leave_pixels(struct rig_tensor *offsets)
{
    for (int64_t i = 0; i < rig_tensor_count(offsets); i++) {
        const double is = rig_values_at(offsets, i), over = is - floor(is);
        rig_put_d(rig_tensor_at(offsets, i), OP_TYPE_F32,
                  over < 0.01 || over > 0.99 ? floor(is) + 0.5 : is);
    }
    rig_tensor_put(offsets);
}

// Slope of the weighted sum of all samples by element `at` of x or the offsets.
static double slope(const struct form *f, double *const *values, int of, int64_t at, int64_t count)
{
    double sum[2] = {0};
    const double is = values[of][at];
    for (int high = 0; high < 2; high++) {
        values[of][at] = is + (high ? 1e-4 : -1e-4);
        for (int64_t i = 0; i < count; i++) {
            sum[high] += values[2][i] * sample(f, values[0], values[1], (int)i);
        }
    }
    values[of][at] = is;
    return (sum[1] - sum[0]) / 2e-4;
}

static void gradients_equal_differences(void)
{
    for (int k = 0; k < 2; k++) {
        const struct form *f = &forms[k];
        struct rig_tensor t[3], grads[3], *in[] = {&t[2], &t[0], &t[1]},
                                          *out[] = {&grads[0], &grads[1]};
        make(f, t);
        leave_pixels(&t[1]);
        make(f, grads);
        double *values[] = {values_of(&t[0]), values_of(&t[1]), values_of(&t[2])};
        rig_named_run("DeformableOffsetsGrad", attributes(f), in, 3, out, 2);
        for (int of = 0; of < 2; of++) {
            const int64_t step = of == 0 ? 3 : 7; // of many elements each 3rd, each 7th
            double *want[] = {values_of(&grads[of])};
            rig_tensor_take(&grads[of]);
            for (int64_t i = 0; i < rig_tensor_count(&grads[of]); i++) {
                want[0][i] = i % step ? rig_values_at(&grads[of], i)
                                      : slope(f, values, of, i, rig_tensor_count(&t[2]));
            }
            rig_values_expect(&grads[of], want[0], bound, of ? "offsets" : "pixels");
            rig_values_free(NULL, 0, want, 1);
        }
        rig_values_free(t, 3, values, 3);
        rig_values_free(grads, 3, NULL, 0);
    }
}

/* ---- bins ---- */

enum { IMAGES = 2, REGIONS = 3, CHANNELS = 2, SIZE = 2, HEIGHT = 9, WIDTH = 7 };

static const int64_t planes_dim[] = {IMAGES, CHANNELS *SIZE *SIZE, HEIGHT, WIDTH},
                     rois_dim[] = {IMAGES, 5, REGIONS},
                     bins_dim[] = {IMAGES * REGIONS, CHANNELS, SIZE, SIZE};
// Of each image the regions' images, left, top, right and bottom sides.
static const double sides[] = {0, 0, 0, 0, 3, 20, 1,   2, 30, 9, 11, 26, 12, 14, 40,
                               1, 1, 1, 0, 4, 5,  0.4, 3, 2,  9, 12, 8,  17, 9,  3};

/* The pixels of a bin: rows from at[0] to at[1], columns from at[2] to at[3]. */
static void find_bin(int region, int row, int column, int *image, int *at)
{
    const double *s = sides + region / REGIONS * 5 * REGIONS + region % REGIONS;
    const double left = round(s[REGIONS]) / 2, top = round(s[2 * REGIONS]) / 2,
                 width = fmax((round(s[3 * REGIONS]) + 1) / 2 - left, 0.1) / SIZE,
                 height = fmax((round(s[4 * REGIONS]) + 1) / 2 - top, 0.1) / SIZE;
    *image = (int)s[0];
    at[0] = (int)fmin(fmax(floor(top + row * height), 0), HEIGHT);
    at[1] = (int)fmin(fmax(ceil(top + (row + 1) * height), 0), HEIGHT);
    at[2] = (int)fmin(fmax(floor(left + column * width), 0), WIDTH);
    at[3] = (int)fmin(fmax(ceil(left + (column + 1) * width), 0), WIDTH);
}

static struct rig_tensor regions(void)
{
    struct rig_tensor rois = rig_values_make(OP_TYPE_F32, 3, rois_dim, RIG_DENSE, 1);
    for (int64_t i = 0; i < IMAGES * 5 * REGIONS; i++) {
        rig_put_d(rig_tensor_at(&rois, i), OP_TYPE_F32, sides[i]);
    }
    rig_tensor_put(&rois);
    return rois;
}

static aclopAttr *bin_attributes(void)
{
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrFloat(attr, "spatial_scale", 0.5f);
    aclopSetAttrInt(attr, "output_dim", CHANNELS);
    aclopSetAttrInt(attr, "group_size", SIZE);
    return attr;
}

static void bins_and_gradients_equal_double(void)
{
    struct rig_tensor t[] = {rig_values_make(OP_TYPE_F32, 4, planes_dim, RIG_DENSE, 4), regions(),
                             rig_values_make(OP_TYPE_F32, 4, bins_dim, RIG_DENSE, 5),
                             rig_values_make(OP_TYPE_F32, 4, bins_dim, RIG_DENSE, 6),
                             rig_values_make(OP_TYPE_F32, 4, planes_dim, RIG_DENSE, 7)};
    struct rig_tensor *in[] = {&t[0], &t[1]}, *out[] = {&t[2]}, *grad[] = {&t[3], &t[1]},
                      *dx[] = {&t[4]};
    double *want[] = {rig_values_zeros(rig_tensor_count(&t[2])),
                      rig_values_zeros(rig_tensor_count(&t[0]))};
    int empty = 0;
    for (int i = 0; i < (int)rig_tensor_count(&t[2]); i++) {
        const int plane = i % (CHANNELS * SIZE * SIZE);
        int image, at[4];
        find_bin(i / (CHANNELS * SIZE * SIZE), plane / SIZE % SIZE, plane % SIZE, &image, at);
        const int count = (at[1] - at[0]) * (at[3] - at[2]),
                  first = (image * CHANNELS * SIZE * SIZE + plane) * HEIGHT * WIDTH;
        empty += at[1] <= at[0] || at[3] <= at[2];
        for (int y = at[0]; y < at[1]; y++) {
            for (int x = at[2]; x < at[3]; x++) {
                const int k = first + y * WIDTH + x;
                want[0][i] += rig_values_at(&t[0], k) / count;
                want[1][k] += rig_values_at(&t[3], i) / count;
            }
        }
    }
    CU_ASSERT(empty > 0);
    rig_named_run("PSROIPoolingV2", bin_attributes(), in, 2, out, 1);
    rig_values_expect(&t[2], want[0], bound, "bins");
    rig_named_run("PSROIPoolingGradV2D", bin_attributes(), grad, 2, dx, 1);
    rig_values_expect(&t[4], want[1], bound, "gradient of bins");
    rig_values_free(t, 5, want, 2);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"samples_equal_double", samples_equal_double},
        {"gradients_equal_differences", gradients_equal_differences},
        {"bins_and_gradients_equal_double", bins_and_gradients_equal_double},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_deform", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
