/* SPDX-License-Identifier: Apache-2.0 */
/* Planes in windows and groups, and tensors seen by windows. */
#include "cnnl_subjects.h"

#include "tensor_desc.h"

int64_t cnnl_grid_mode(struct cnnl_call *call, cnnlInterpMode_t mode)
{
    static const int64_t modes[] = {[CNNL_INTERP_BILINEAR] = 0,
                                    [CNNL_INTERP_TRILINEAR] = 0,
                                    [CNNL_INTERP_NEAREST] = 1,
                                    [CNNL_INTERP_BICUBIC] = 2};
    if (mode == CNNL_INTERP_LINEAR || (size_t)mode >= sizeof(modes) / sizeof(modes[0])) {
        cnnl_refuse(call, "mode %d", (int)mode);
        return 0;
    }
    return modes[mode];
}

struct cnnl_window cnnl_column_window(struct cnnl_call *call, const struct cnnlConvolutionStruct *d,
                                      cnnlTensorDescriptor_t filter)
{
    struct cnnl_window window = {0};
    if (!cnnl_tensor_is_live(filter) || filter->rank != 4 || filter->layout != CNNL_LAYOUT_NCHW ||
        d->rank != 4) {
        cnnl_refuse(call, "a filter or a descriptor that is not of NCHW");
        return window;
    }
    const struct op_tensor shape = {.rank = 4};
    window = cnnl_convolution_window(call, d, &shape);
    window.kernel = cnnl_longs(call, filter->dim + 2, 2);
    return window;
}

const struct op_ints *cnnl_pad_pairs(struct cnnl_call *call, const struct op_tensor *x,
                                     const int pad[][2])
{
    int pairs[2 * OP_RANK_MAX];
    cnnl_need(call, "pad", pad != NULL);
    for (unsigned i = 0; pad && i < x->rank; i++) {
        pairs[2 * i] = pad[x->rank - 1 - i][0];
        pairs[2 * i + 1] = pad[x->rank - 1 - i][1];
    }
    return pad ? cnnl_ints(call, pairs, 2 * (int64_t)x->rank) : NULL;
}

const struct op_tensor *cnnl_unfolded(struct cnnl_call *call, const struct op_tensor *x, int dim,
                                      int size, int step, const struct op_tensor *y)
{
    struct op_tensor *view = cnnl_view(call, x);
    if (!view || dim < 0 || dim >= (int)x->rank || x->rank == OP_RANK_MAX || size < 1 ||
        size > x->dim[dim] || step < 1 || y->rank != x->rank + 1 ||
        y->dim[dim] != (x->dim[dim] - size) / step + 1) {
        cnnl_bad(call, "windows of %d every %d along dimension %d of %s do not make %s", size, step,
                 dim, op_tensor_shape_text(x).text, op_tensor_shape_text(y).text);
        return view;
    }
    view->dim[x->rank] = size;
    view->stride[x->rank] = x->stride[dim];
    view->dim[dim] = y->dim[dim];
    view->stride[dim] = x->stride[dim] * step;
    view->rank++;
    return view;
}

/** Sizes of a tensor [N, C, ...]. */
struct planes {
    int64_t n, c, area;
};

static struct planes planes_of(const struct op_tensor *x)
{
    const int64_t n = x->dim[0], c = x->dim[1];
    return (struct planes){n, c, n > 0 && c > 0 ? op_tensor_count(x) / (n * c) : 0};
}

void cnnl_group_norm(struct cnnl_call *call, double eps, int64_t groups, const struct op_tensor *x,
                     cnnlTensorDescriptor_t vector, const void *weight, const void *bias,
                     const struct op_tensor *y, cnnlTensorDescriptor_t mean_rstd, void *mean,
                     void *rstd)
{
    const struct planes size = planes_of(x);
    const enum op_type type = weight || bias ? cnnl_vector_type(call, vector) : x->type;
    const enum op_type statistic = cnnl_vector_type(call, mean_rstd);
    const struct op_tensor *scale = weight ? cnnl_vector(call, weight, type, size.c) : NULL;
    const struct op_tensor *shift = bias ? cnnl_vector(call, bias, type, size.c) : NULL;
    const int64_t each[] = {size.n, groups};
    const struct op_tensor means = op_tensor_dense((uintptr_t)mean, statistic, 2, each);
    const struct op_tensor inverse = op_tensor_dense((uintptr_t)rstd, statistic, 2, each);
    cnnl_need(call, "mean or rstd", mean && rstd);
    const struct op_value args[] = {
        op_value_tensor(x),      op_value_tensor(scale),   op_value_tensor(shift),
        op_value_int(size.n),    op_value_int(size.c),     op_value_int(size.area),
        op_value_int(groups),    op_value_real(eps),       op_value_tensor(y),
        op_value_tensor(&means), op_value_tensor(&inverse)};
    cnnl_run(call, "GroupNorm", args);
}

void cnnl_group_norm_backward(struct cnnl_call *call, const struct op_tensor *x,
                              const struct op_tensor *diff_y, const struct op_tensor *weight,
                              const struct op_tensor *mean, const struct op_tensor *rstd,
                              int64_t groups, const struct op_tensor *diff_x,
                              const struct op_tensor *diff_weight,
                              const struct op_tensor *diff_bias)
{
    static const bool all[] = {true, true, true};
    static const struct op_bools mask = {all, 3};
    const struct planes size = planes_of(x);
    const struct op_value args[] = {
        op_value_tensor(diff_y),   op_value_tensor(x),      op_value_tensor(mean),
        op_value_tensor(rstd),     op_value_tensor(weight), op_value_int(size.n),
        op_value_int(size.c),      op_value_int(size.area), op_value_int(groups),
        op_value_bools(&mask),     op_value_tensor(diff_x), op_value_tensor(diff_weight),
        op_value_tensor(diff_bias)};
    cnnl_run(call, "GroupNormBackward", args);
}
