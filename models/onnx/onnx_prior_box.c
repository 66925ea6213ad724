/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boxes around the places of a grid, as the PriorBox layer of SSD networks in Caffe makes them: for
 * each place and least size a square, one between least and largest size, and one of each shape.
 * They follow from shapes only, so they are known numbers: [1, 2, boxes * 4], corners and
 * variances.
 */
#include "import.h"

#include <leo/alloc.h>
#include <math.h>
#include <string.h>

enum { MAX_RATIOS = 64 };

struct list {
    const float *data;
    size_t count;
};

static struct list floats_of(const struct onnx_import *import, const char *name)
{
    const OnnxFile__Attribute *attribute = onnx_attribute(import, name);
    return attribute ? (struct list){attribute->floats, attribute->n_floats} : (struct list){0};
}

struct grid {
    int64_t rows, columns;
    double height, width, step_h, step_w, offset; /* of the picture; between places */
    bool clip;
};

static struct grid grid_of(struct onnx_import *import, const struct onnx_tensor *map,
                           const struct onnx_tensor *picture)
{
    const int64_t h = onnx_attribute_int(import, "img_h", 0),
                  w = onnx_attribute_int(import, "img_w", 0);
    const double step_h = onnx_attribute_float(import, "step_h", 0),
                 step_w = onnx_attribute_float(import, "step_w", 0);
    struct grid grid = {.rows = map->dim[2],
                        .columns = map->dim[3],
                        .height = (double)(h ? h : picture->dim[2]),
                        .width = (double)(w ? w : picture->dim[3]),
                        .offset = onnx_attribute_float(import, "offset", 0.5f),
                        .clip = onnx_attribute_int(import, "clip", 0) != 0};
    grid.step_h = step_h != 0 ? step_h : grid.height / (double)grid.rows;
    grid.step_w = step_w != 0 ? step_w : grid.width / (double)grid.columns;
    return grid;
}

// Each ratio once, 1 first, with `flip` its reciprocal behind it.
static size_t ratios_of(struct onnx_import *import, double ratios[MAX_RATIOS])
{
    const struct list told = floats_of(import, "aspect_ratio");
    const bool flip = onnx_attribute_int(import, "flip", 1) != 0;
    size_t count = 1;
    ratios[0] = 1;
    for (size_t i = 0; i < told.count && count + 2 <= MAX_RATIOS; i++) {
        const double ratio = (double)told.data[i];
        bool seen = !(ratio > 0);
        for (size_t k = 0; k < count; k++) {
            seen = seen || fabs(ratio - ratios[k]) < 1e-6;
        }
        if (!seen) {
            ratios[count++] = ratio;
            if (flip) {
                ratios[count++] = 1 / ratio;
            }
        }
    }
    return count;
}

// The sizes of a place's boxes: pairs of width and height. At most 2 + MAX_RATIOS a least size.
static size_t sizes_of(struct onnx_import *import, double *sizes)
{
    const struct list least = floats_of(import, "min_size"), most = floats_of(import, "max_size");
    double ratios[MAX_RATIOS];
    const size_t ratio_count = ratios_of(import, ratios);
    size_t count = 0;
    for (size_t i = 0; i < least.count; i++) {
        const double size = (double)least.data[i];
        sizes[2 * count] = sizes[2 * count + 1] = size;
        count++;
        if (i < most.count) {
            sizes[2 * count] = sizes[2 * count + 1] = sqrt(size * (double)most.data[i]);
            count++;
        }
        for (size_t k = 1; k < ratio_count; k++) {
            sizes[2 * count] = size * sqrt(ratios[k]);
            sizes[2 * count + 1] = size / sqrt(ratios[k]);
            count++;
        }
    }
    return count;
}

static float cut(double x, bool clip)
{
    return (float)(clip ? fmin(fmax(x, 0), 1) : x);
}

static float *put_box(float *to, const struct grid *grid, double x, double y, const double *size)
{
    to[0] = cut((x - size[0] / 2) / grid->width, grid->clip);
    to[1] = cut((y - size[1] / 2) / grid->height, grid->clip);
    to[2] = cut((x + size[0] / 2) / grid->width, grid->clip);
    to[3] = cut((y + size[1] / 2) / grid->height, grid->clip);
    return to + 4;
}

static void put_boxes(float *to, const struct grid *grid, const double *sizes, size_t count)
{
    for (int64_t row = 0; row < grid->rows; row++) {
        for (int64_t column = 0; column < grid->columns; column++) {
            for (size_t i = 0; i < count; i++) {
                to = put_box(to, grid, ((double)column + grid->offset) * grid->step_w,
                             ((double)row + grid->offset) * grid->step_h, &sizes[2 * i]);
            }
        }
    }
}

static void put_variances(struct onnx_import *import, float *to, int64_t count)
{
    const struct list told = floats_of(import, "variance");
    for (int64_t i = 0; i < count; i++) {
        to[i] = told.count == 4 ? told.data[i % 4] : told.count ? told.data[0] : 0.1f;
    }
}

void onnx_prior_box(struct onnx_import *import)
{
    const struct onnx_tensor *map = onnx_input(import, 0), *picture = onnx_input(import, 1);
    const size_t least = floats_of(import, "min_size").count;
    if (!map || !picture || map->rank != 4 || picture->rank != 4 || least == 0) {
        onnx_fail(import, "it needs a grid and a picture of four dimensions, and a min_size");
        return;
    }
    double *sizes = leo_calloc(least * (2 + MAX_RATIOS), 2 * sizeof(*sizes));
    if (!sizes) {
        onnx_fail(import, "out of host memory");
        return;
    }
    const struct grid grid = grid_of(import, map, picture);
    const size_t count = sizes_of(import, sizes);
    const int64_t numbers = grid.rows * grid.columns * (int64_t)count * 4, dim[] = {1, 2, numbers};
    struct onnx_tensor *out = onnx_known(import, 0, LEO_DTYPE_F32, 3, dim);
    if (out) {
        float *data = out->known;
        put_boxes(data, &grid, sizes, count);
        put_variances(import, data + numbers, numbers);
    }
    leo_free(sizes);
}
