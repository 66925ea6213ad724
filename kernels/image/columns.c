/* SPDX-License-Identifier: Apache-2.0 */
/* Images as columns of windows and back: strided views of a padded image. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>
#include <string.h>

enum { DIMS = 2 };

/* Windows over an image [images, channels, height, width]. */
struct windows {
    int64_t kernel[DIMS], dilation[DIMS], padding[DIMS], stride[DIMS];
    int64_t size[DIMS], padded[DIMS], count[DIMS]; /* of the image; with padding; of windows */
    int64_t images, channels;
};

static leo_status take_pair(const struct op_call *call, const char *name, int64_t least,
                            int64_t *out)
{
    const struct op_ints *ints = op_call_ints(call, name);
    for (unsigned i = 0; i < DIMS; i++) {
        if (ints->count != 1 && ints->count != DIMS) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "%s has %" PRIu64 " numbers, it must have 2", name, ints->count);
        }
        out[i] = ints->items[ints->count == 1 ? 0 : i];
        if (out[i] < least) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG, "%s[%u] is %" PRId64, name, i, out[i]);
        }
    }
    return LEO_OK;
}

static leo_status take_windows(const struct op_call *call, const struct op_tensor *image,
                               const struct op_tensor *columns, struct windows *w)
{
    const struct {
        const char *name;
        int64_t least, *out;
    } pairs[] = {{"kernelSize", 1, w->kernel},
                 {"dilation", 1, w->dilation},
                 {"padding", 0, w->padding},
                 {"stride", 1, w->stride}};
    for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        leo_status status = take_pair(call, pairs[i].name, pairs[i].least, pairs[i].out);
        if (status != LEO_OK) {
            return status;
        }
    }
    const unsigned rank = image->rank;
    bool fits = (rank == 3 || rank == 4) && columns->rank + 1 == rank;
    for (unsigned i = 0; fits && i < DIMS; i++) {
        w->size[i] = image->dim[rank - DIMS + i];
        w->padded[i] = w->size[i] + 2 * w->padding[i];
        w->count[i] = (w->padded[i] - w->dilation[i] * (w->kernel[i] - 1) - 1) / w->stride[i] + 1;
        fits = w->padded[i] >= w->dilation[i] * (w->kernel[i] - 1) + 1;
    }
    w->images = rank == 4 ? image->dim[0] : 1;
    w->channels = fits ? image->dim[rank - 3] : 0;
    fits = fits && columns->dim[rank - 3] == w->channels * w->kernel[0] * w->kernel[1] &&
           columns->dim[rank - 2] == w->count[0] * w->count[1] &&
           (rank == 3 || columns->dim[0] == w->images);
    return fits
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "an image of shape %s and columns of shape %s do not fit the windows",
                              op_tensor_shape_text(image).text, op_tensor_shape_text(columns).text);
}

// The windows of a dense padded image: [images, channels, kernel, kernel, windows, windows].
static struct op_tensor windows_of(const struct op_tensor *padded, const struct windows *w)
{
    struct op_tensor view = *padded;
    view.rank = 6;
    for (unsigned i = 0; i < DIMS; i++) {
        view.dim[2 + i] = w->kernel[i];
        view.stride[2 + i] = padded->stride[2 + i] * w->dilation[i];
        view.dim[4 + i] = w->count[i];
        view.stride[4 + i] = padded->stride[2 + i] * w->stride[i];
    }
    return view;
}

static struct op_tensor middle_of(const struct op_tensor *padded, const struct windows *w)
{
    const struct op_tensor rows = op_view_slice(padded, 2, w->padding[0], w->size[0]);
    return op_view_slice(&rows, 3, w->padding[1], w->size[1]);
}

static struct op_tensor as_image(const struct op_tensor *image)
{
    return image->rank == 4 ? *image : op_view_insert(image, 0);
}

static leo_status plan_im2col(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    struct windows w;
    leo_status status = take_windows(call, self, out, &w);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t wide[] = {w.images, w.channels, w.padded[0], w.padded[1]},
                  shape[] = {w.images,    w.channels, w.kernel[0],
                             w.kernel[1], w.count[0], w.count[1]};
    const struct op_tensor image = as_image(self),
                           padded = op_chain_temp(&chain, self->type, 4, wide),
                           middle = middle_of(&padded, &w), from = windows_of(&padded, &w),
                           made = op_chain_temp_like(&chain, self->type, out),
                           to = op_view_shape(&made, 6, shape);
    op_chain_fill(&chain, &padded, 0);
    op_chain_copy(&chain, &middle, &image);
    op_chain_copy(&chain, &to, &from);
    op_chain_copy(&chain, out, &made);
    return chain.status;
}

// Sums of one element of each window after the other: no two go to the same place.
static leo_status plan_col2im(const struct op_call *call)
{
    const struct op_tensor *gradient = op_call_tensor(call, "gradOutput"),
                           *out = op_call_tensor(call, "out");
    const struct op_scalar one = op_scalar_int(1);
    struct windows w;
    leo_status status = take_windows(call, out, gradient, &w);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const enum op_type type = out->type == OP_TYPE_F64 ? OP_TYPE_F64 : OP_TYPE_F32;
    const int64_t wide[] = {w.images, w.channels, w.padded[0], w.padded[1]},
                  shape[] = {w.images,    w.channels, w.kernel[0],
                             w.kernel[1], w.count[0], w.count[1]};
    const struct op_tensor dense = op_chain_dense(&chain, gradient->type, gradient),
                           columns = op_view_shape(&dense, 6, shape),
                           sums = op_chain_temp(&chain, type, 4, wide),
                           windows = windows_of(&sums, &w), middle = middle_of(&sums, &w),
                           image = as_image(out);
    op_chain_fill(&chain, &sums, 0);
    for (int64_t k = 0; k < w.kernel[0] * w.kernel[1]; k++) {
        const struct op_tensor rows = op_view_select(&columns, 2, k / w.kernel[1]),
                               from = op_view_select(&rows, 2, k % w.kernel[1]),
                               lines = op_view_select(&windows, 2, k / w.kernel[1]),
                               to = op_view_select(&lines, 2, k % w.kernel[1]);
        OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&to), op_value_tensor(&from),
                      op_value_scalar(&one), op_value_tensor(&to));
    }
    op_chain_copy(&chain, &image, &middle);
    return chain.status;
}

static leo_status plan_unfold_gradient(const struct op_call *call)
{
    const struct op_tensor *gradient = op_call_tensor(call, "gradOut"),
                           *out = op_call_tensor(call, "gradIn");
    if (out->rank == 0 && op_tensor_count(gradient) == 1) {
        // A number has one window, which is itself.
        const struct op_tensor element = op_tensor_dense(gradient->addr, gradient->type, 0, NULL);
        return op_plan_copy(call->plan, out, &element);
    }
    const int64_t size = op_call_int(call, "size"), step = op_call_int(call, "step");
    const struct op_scalar one = op_scalar_int(1);
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), out->rank, &dim);
    if (status != LEO_OK) {
        return status;
    }
    bool fits = gradient->rank == out->rank + 1 && size > 0 && step > 0 && out->rank &&
                out->dim[dim] >= size;
    for (unsigned i = 0; fits && i <= out->rank; i++) {
        fits = gradient->dim[i] == (i == out->rank ? size
                                    : i == dim     ? (out->dim[dim] - size) / step + 1
                                                   : out->dim[i]);
    }
    if (!fits) {
        return op_call_fail(
            call, LEO_ERR_SHAPE,
            "gradOut of shape %s is not of windows of %" PRId64 " every %" PRId64 " of %s",
            op_tensor_shape_text(gradient).text, size, step, op_tensor_shape_text(out).text);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sums =
        op_chain_temp_like(&chain, out->type == OP_TYPE_F64 ? OP_TYPE_F64 : OP_TYPE_F32, out);
    op_chain_fill(&chain, &sums, 0);
    for (int64_t k = 0; k < size; k++) {
        const struct op_tensor from = op_view_select(gradient, out->rank, k);
        struct op_tensor to = op_view_slice(&sums, dim, k, gradient->dim[dim]);
        to.stride[dim] *= step;
        OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&to), op_value_tensor(&from),
                      op_value_scalar(&one), op_value_tensor(&to));
    }
    op_chain_copy(&chain, out, &sums);
    return chain.status;
}

leo_status op_plan_columns(const struct op_call *call)
{
    return op_call_has(call, "gradIn")       ? plan_unfold_gradient(call)
           : op_call_has(call, "gradOutput") ? plan_col2im(call)
                                             : plan_im2col(call);
}
