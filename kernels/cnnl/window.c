/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution, pooling and resizing: windows of descriptors as operators take them. */
#include "cnnl_subjects.h"

#include <stdio.h>

enum { SIDES_MAX = 3 };

// Before and after a dimension: operators pad both ends alike.
static const struct op_ints *take_pad(struct cnnl_call *call, const int *pad, unsigned sides)
{
    int64_t each[SIDES_MAX];
    for (unsigned i = 0; i < sides; i++) {
        if (pad[2 * i] != pad[2 * i + 1]) {
            cnnl_refuse(call, "padding of %d before and %d after dimension %u: they must be equal",
                        pad[2 * i], pad[2 * i + 1], i + 2);
        }
        each[i] = pad[2 * i];
    }
    return cnnl_longs(call, each, sides);
}

struct cnnl_window cnnl_convolution_window(struct cnnl_call *call,
                                           const struct cnnlConvolutionStruct *d,
                                           const struct op_tensor *x)
{
    static const int zeros[SIDES_MAX] = {0};
    struct cnnl_window window = {0};
    if (d->rank != (int)x->rank) {
        cnnl_bad(call, "the descriptor is for %d dimensions, x has %u", d->rank, x->rank);
        return window;
    }
    const unsigned sides = x->rank - 2;
    window.stride = cnnl_ints(call, d->stride, sides);
    window.dilation = cnnl_ints(call, d->dilation, sides);
    window.zeros = cnnl_ints(call, zeros, sides);
    window.pad = take_pad(call, d->pad, sides);
    return window;
}

static struct cnnl_window pooling_window(struct cnnl_call *call, const struct cnnlPoolingStruct *d,
                                         const struct op_tensor *x)
{
    struct cnnl_window window = {0};
    if (d->sides + 2 != (int)x->rank || d->sides < 2) {
        cnnl_refuse(call, "pooling over %d dimensions of a tensor that has %u", d->sides, x->rank);
        return window;
    }
    window.kernel = cnnl_ints(call, d->kernel, d->sides);
    window.stride = cnnl_ints(call, d->stride, d->sides);
    window.dilation = cnnl_ints(call, d->dilation, d->sides);
    window.pad = take_pad(call, d->pad, (unsigned)d->sides);
    return window;
}

static bool counts_padding(cnnlPoolingMode_t mode)
{
    return mode == CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
}

// Means know no dilation.
static void check_mean(struct cnnl_call *call, const struct cnnlPoolingStruct *d)
{
    for (int i = 0; i < d->sides; i++) {
        if (d->dilation[i] != 1) {
            cnnl_refuse(call, "means of windows with dilation %d", d->dilation[i]);
        }
    }
    if (d->mode != CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING &&
        d->mode != CNNL_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING) {
        cnnl_bad(call, "the descriptor's mode is %d", (int)d->mode);
    }
}

static void pool_mean(struct cnnl_call *call, const struct cnnlPoolingStruct *d,
                      const struct cnnl_window *window, const struct op_tensor *x,
                      const struct op_tensor *y)
{
    check_mean(call, d);
    const struct op_value flat[] = {op_value_tensor(x),
                                    op_value_ints(window->kernel),
                                    op_value_ints(window->stride),
                                    op_value_ints(window->pad),
                                    op_value_int(d->ceil_mode),
                                    op_value_int(counts_padding(d->mode)),
                                    op_value_int(0),
                                    op_value_int(0),
                                    op_value_tensor(y)};
    const struct op_value deep[] = {flat[0], flat[1], flat[2], flat[3],
                                    flat[4], flat[5], flat[6], flat[8]};
    cnnl_run(call, d->sides == 2 ? "AvgPool2d" : "AvgPool3d", d->sides == 2 ? flat : deep);
}

void cnnl_pool(struct cnnl_call *call, const struct cnnlPoolingStruct *d, const struct op_tensor *x,
               const struct op_tensor *y, const struct op_tensor *index)
{
    const struct cnnl_window window = pooling_window(call, d, x);
    if (d->mode != CNNL_POOLING_MAX) {
        if (index) {
            cnnl_bad(call, "means have no places");
        }
        pool_mean(call, d, &window, x, y);
        return;
    }
    const struct op_tensor *places =
        index ? cnnl_dense_like(call, index) : cnnl_temp_like(call, OP_TYPE_I32, y);
    const struct op_value args[] = {
        op_value_tensor(x),        op_value_ints(window.kernel),   op_value_ints(window.stride),
        op_value_ints(window.pad), op_value_ints(window.dilation), op_value_int(d->ceil_mode),
        op_value_tensor(y),        op_value_tensor(places)};
    cnnl_run(call, d->sides == 2 ? "MaxPool2dWithIndices" : "MaxPool3dWithArgmax", args);
    if (index) {
        cnnl_give(call, index, places);
    }
}

void cnnl_pool_backward(struct cnnl_call *call, const struct cnnlPoolingStruct *d,
                        const struct op_tensor *index, const struct op_tensor *diff_y,
                        const struct op_tensor *diff_x)
{
    const struct cnnl_window window = pooling_window(call, d, diff_x);
    const struct op_tensor *shape = cnnl_shape_only(call, diff_x);
    const bool flat = d->sides == 2;
    if (d->mode == CNNL_POOLING_MAX) {
        cnnl_need(call, "index", index != NULL);
        const struct op_tensor *places = cnnl_dense_like(call, index);
        cnnl_give(call, places, index);
        const struct op_value args[] = {
            op_value_tensor(diff_y),        op_value_tensor(shape),       op_value_tensor(places),
            op_value_ints(window.kernel),   op_value_ints(window.stride), op_value_ints(window.pad),
            op_value_ints(window.dilation), op_value_int(d->ceil_mode),   op_value_tensor(diff_x)};
        cnnl_run(call, flat ? "MaxPool2dWithIndicesBackward" : "MaxPool3dWithArgmaxBackward", args);
        return;
    }
    check_mean(call, d);
    const struct op_value args[] = {op_value_tensor(diff_y),
                                    op_value_tensor(shape),
                                    op_value_ints(window.kernel),
                                    op_value_ints(window.stride),
                                    op_value_ints(window.pad),
                                    op_value_int(d->ceil_mode),
                                    op_value_int(counts_padding(d->mode)),
                                    op_value_int(0),
                                    op_value_int(0),
                                    op_value_tensor(diff_x)};
    const struct op_value deep[] = {args[0], args[1], args[2], args[3], args[4],
                                    args[5], args[6], args[7], args[9]};
    cnnl_run(call, flat ? "AvgPool2dBackward" : "AvgPool3dBackward", flat ? args : deep);
}

// The rows have their number of dimensions in their names.
static const char *named(struct cnnl_call *call, char (*name)[64], const char *format,
                         const struct op_tensor *x)
{
    snprintf(*name, sizeof(*name), format, x->rank - 2);
    if (!op_row_find(*name)) {
        cnnl_refuse(call, "tensors of %u dimensions here", x->rank);
    }
    return *name;
}

void cnnl_adaptive_pool(struct cnnl_call *call, cnnlPoolingMode_t mode, const struct op_tensor *x,
                        const struct op_tensor *y, const struct op_tensor *index)
{
    char name[64];
    const struct op_ints *sizes = cnnl_sizes(call, y, 2);
    const bool max = mode == CNNL_POOLING_MAX;
    const struct op_tensor *places = max ? cnnl_temp_like(call, OP_TYPE_I64, y) : NULL;
    const struct op_value args[] = {op_value_tensor(x), op_value_ints(sizes), op_value_tensor(y),
                                    op_value_tensor(places)};
    cnnl_run(call, named(call, &name, max ? "AdaptiveMaxPool%ud" : "AdaptiveAvgPool%ud", x), args);
    if (max && index) {
        cnnl_give(call, index, places);
    }
}

void cnnl_adaptive_pool_backward(struct cnnl_call *call, cnnlPoolingMode_t mode,
                                 const struct op_tensor *diff_y, const struct op_tensor *index,
                                 const struct op_tensor *diff_x)
{
    char name[64];
    const struct op_tensor *shape = cnnl_shape_only(call, diff_x);
    if (mode == CNNL_POOLING_MAX) {
        cnnl_need(call, "index", index != NULL);
        const struct op_tensor *places = cnnl_temp_like(call, OP_TYPE_I64, index);
        cnnl_give(call, places, index);
        const struct op_value args[] = {op_value_tensor(diff_y), op_value_tensor(shape),
                                        op_value_tensor(places), op_value_tensor(diff_x)};
        cnnl_run(call, named(call, &name, "AdaptiveMaxPool%udBackward", diff_x), args);
        return;
    }
    const struct op_value args[] = {op_value_tensor(diff_y), op_value_tensor(shape),
                                    op_value_tensor(diff_x)};
    cnnl_run(call, named(call, &name, "AdaptiveAvgPool%udBackward", diff_x), args);
}

/** Which operator resizes, by mode of the descriptor and number of sides. */
static const struct {
    cnnlInterpMode_t mode;
    cnnlInterpAlgo_t algo;
    unsigned sides;
    const char *forward, *backward;
    bool aligns; /**< takes alignCorners */
} resizers[] = {
    {CNNL_INTERP_NEAREST, CNNL_INTERP_ALGO_0, 1, "UpsampleNearest1dV2", "UpsampleNearest1dBackward",
     false},
    {CNNL_INTERP_NEAREST, CNNL_INTERP_ALGO_0, 2, "UpsampleNearest2dV2", "UpsampleNearest2dBackward",
     false},
    {CNNL_INTERP_NEAREST, CNNL_INTERP_ALGO_0, 3, "UpsampleNearest3d", "UpsampleNearest3dBackward",
     false},
    {CNNL_INTERP_NEAREST, CNNL_INTERP_ALGO_1, 1, "UpsampleNearestExact1d",
     "UpsampleNearestExact1dBackward", false},
    {CNNL_INTERP_NEAREST, CNNL_INTERP_ALGO_1, 2, "UpsampleNearestExact2d",
     "UpsampleNearestExact2dBackward", false},
    {CNNL_INTERP_NEAREST, CNNL_INTERP_ALGO_1, 3, "UpsampleNearestExact3d",
     "UpsampleNearestExact3dBackward", false},
    {CNNL_INTERP_LINEAR, CNNL_INTERP_ALGO_1, 1, "UpsampleLinear1d", "UpsampleLinear1dBackward",
     true},
    {CNNL_INTERP_LINEAR, CNNL_INTERP_ALGO_2, 1, "UpsampleLinear1d", "UpsampleLinear1dBackward",
     true},
    {CNNL_INTERP_BILINEAR, CNNL_INTERP_ALGO_1, 2, "UpsampleBilinear2d",
     "UpsampleBilinear2dBackward", true},
    {CNNL_INTERP_BILINEAR, CNNL_INTERP_ALGO_2, 2, "UpsampleBilinear2d",
     "UpsampleBilinear2dBackward", true},
    {CNNL_INTERP_BICUBIC, CNNL_INTERP_ALGO_1, 2, "UpsampleBicubic2d", "UpsampleBicubic2dBackward",
     true},
    {CNNL_INTERP_BICUBIC, CNNL_INTERP_ALGO_2, 2, "UpsampleBicubic2d", "UpsampleBicubic2dBackward",
     true},
    {CNNL_INTERP_TRILINEAR, CNNL_INTERP_ALGO_1, 3, "UpsampleTrilinear3d",
     "UpsampleTrilinear3dBackward", true},
    {CNNL_INTERP_TRILINEAR, CNNL_INTERP_ALGO_2, 3, "UpsampleTrilinear3d",
     "UpsampleTrilinear3dBackward", true},
};

// The arguments of a resizer behind its input: sizes, alignment, scales, result.
static void resize(struct cnnl_call *call, const struct cnnlInterpStruct *d, bool backward,
                   const struct op_tensor *from, const struct op_tensor *to)
{
    const unsigned sides = to->rank - 2;
    struct op_value args[8];
    unsigned count = 0;
    for (size_t i = 0; i < sizeof(resizers) / sizeof(resizers[0]); i++) {
        if (resizers[i].mode != d->mode || resizers[i].algo != d->algo ||
            resizers[i].sides != sides) {
            continue;
        }
        args[count++] = op_value_tensor(from);
        args[count++] = op_value_ints(cnnl_sizes(call, backward ? from : to, 2));
        if (backward) {
            args[count++] = op_value_ints(cnnl_sizes(call, to, 0));
        }
        if (resizers[i].aligns) {
            args[count++] = op_value_int(d->algo == CNNL_INTERP_ALGO_2);
        }
        for (unsigned k = 0; k < sides; k++) {
            args[count++] = op_value_real(d->has_scales ? d->scales[k] : 0);
        }
        args[count++] = op_value_tensor(to);
        cnnl_run(call, backward ? resizers[i].backward : resizers[i].forward, args);
        return;
    }
    cnnl_refuse(call, "mode %d with algorithm %d for tensors of %u dimensions", (int)d->mode,
                (int)d->algo, to->rank);
}

void cnnl_resize(struct cnnl_call *call, const struct cnnlInterpStruct *d,
                 const struct op_tensor *x, const struct op_tensor *y)
{
    resize(call, d, false, x, y);
}

void cnnl_resize_backward(struct cnnl_call *call, const struct cnnlInterpStruct *d,
                          const struct op_tensor *diff_y, const struct op_tensor *diff_x)
{
    resize(call, d, true, diff_y, diff_x);
}
