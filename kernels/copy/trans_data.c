/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of format: rows to blocks of channels (NC1HWC0, NDC1HWC0) or fractals (FRACTAL_Z,
 * FRACTAL_Z_3D, FRACTAL_NZ), and back. Each is a copy between two views with as many dimensions as
 * the format has; what a format has beyond the shape is zero.
 */
#include "../frame/layout.h"
#include "../pointwise/pointwise.h"

#include <string.h>

/* Two views of the same elements, the last dimension being the place in a block of c0. */
struct views {
    struct op_tensor rows, blocks;
    unsigned group; /**< the dimension of blocks */
    int64_t over;   /**< elements of the dimension that is cut into blocks */
};

static void set_view(struct op_tensor *view, const struct op_tensor *base, unsigned rank,
                     const int64_t *dim, const int64_t *stride)
{
    *view = (struct op_tensor){
        .addr = base->addr, .type = base->type, .rank = rank, .format = OP_FORMAT_ND};
    memcpy(view->dim, dim, rank * sizeof(*dim));
    memcpy(view->stride, stride, rank * sizeof(*stride));
}

static void view_channels(const struct op_tensor *rows, const struct op_tensor *storage,
                          struct views *v)
{
    const struct op_tensor wide = op_layout_widen(rows);
    const int64_t c0 = storage->dim[4], *d = wide.dim, *s = wide.stride;
    const int64_t dim[] = {d[0], storage->dim[1], d[2], d[3], c0};
    const int64_t stride[] = {s[0], c0 * s[1], s[2], s[3], s[1]};
    v->group = 1;
    v->blocks = *storage;
    v->over = d[1];
    set_view(&v->rows, rows, 5, dim, stride);
}

// [C1][H][W][output channel][c0]: those beyond the last output channel are left out.
static void view_weights(const struct op_tensor *rows, const struct op_tensor *storage,
                         struct views *v)
{
    const int64_t c0 = storage->dim[3], *d = rows->dim, *s = rows->stride;
    const int64_t dim[] = {(d[1] + c0 - 1) / c0, d[2], d[3], d[0], c0};
    const int64_t stride[] = {c0 * s[1], s[2], s[3], s[0], s[1]};
    const int64_t unit = storage->stride[0];
    const int64_t to[] = {d[2] * d[3] * unit, d[3] * unit, unit, c0, 1};
    v->group = 0;
    v->over = d[1];
    set_view(&v->rows, rows, 5, dim, stride);
    set_view(&v->blocks, storage, 5, dim, to);
}

// [N][D][C1][H][W][c0] of a tensor [N, C, D, H, W].
static void view_volumes(const struct op_tensor *rows, const struct op_tensor *storage,
                         struct views *v)
{
    const int64_t c0 = storage->dim[5], *d = rows->dim, *s = rows->stride;
    const int64_t stride[] = {s[0], s[2], c0 * s[1], s[3], s[4], s[1]};
    v->group = 2;
    v->over = d[1];
    v->blocks = *storage;
    set_view(&v->rows, rows, 6, storage->dim, stride);
}

// [D][C1][H][W][output channel][c0] of weights [output channel, C, D, H, W].
static void view_weights_3d(const struct op_tensor *rows, const struct op_tensor *storage,
                            struct views *v)
{
    const int64_t c0 = storage->dim[3], *d = rows->dim, *s = rows->stride;
    const int64_t blocks = (d[1] + c0 - 1) / c0, unit = storage->stride[0], plane = d[3] * d[4];
    const int64_t dim[] = {d[2], blocks, d[3], d[4], d[0], c0};
    const int64_t stride[] = {s[2], c0 * s[1], s[3], s[4], s[0], s[1]};
    const int64_t to[] = {blocks * plane * unit, plane * unit, d[4] * unit, unit, c0, 1};
    v->group = 1;
    v->over = d[1];
    set_view(&v->rows, rows, 6, dim, stride);
    set_view(&v->blocks, storage, 6, dim, to);
}

static void view_matrix(const struct op_tensor *rows, const struct op_tensor *storage,
                        struct views *v)
{
    const unsigned m = rows->rank - 2;
    const int64_t c0 = storage->dim[m + 3], *d = rows->dim, *s = rows->stride;
    int64_t dim[OP_RANK_MAX], stride[OP_RANK_MAX], to[OP_RANK_MAX];
    memcpy(dim, d, m * sizeof(*dim));
    memcpy(stride, s, m * sizeof(*stride));
    memcpy(to, storage->stride, m * sizeof(*to));
    dim[m] = storage->dim[m];
    dim[m + 1] = d[m];
    dim[m + 2] = c0;
    stride[m] = c0 * s[m + 1];
    stride[m + 1] = s[m];
    stride[m + 2] = s[m + 1];
    to[m] = storage->stride[m];
    to[m + 1] = c0;
    to[m + 2] = 1;
    v->group = m;
    v->over = d[m + 1];
    set_view(&v->rows, rows, m + 3, dim, stride);
    set_view(&v->blocks, storage, m + 3, dim, to);
}

// Whether the last channels of maps go to a block together with the zeros behind them.
static bool pads_channels(const struct op_tensor *rows, const struct op_tensor *native)
{
    const struct op_tensor wide = op_layout_widen(rows);
    const unsigned bytes = op_type_bytes(rows->type);
    return native->format == OP_FORMAT_NC1HWC0 && (bytes == 2 || bytes == 4) &&
           op_layout_c0_of(native) == OP_LAYOUT_ROWS && wide.dim[1] % OP_LAYOUT_ROWS != 0 &&
           op_tensor_count(rows) > 0 && (wide.stride[3] == 1 || wide.dim[3] == 1) &&
           (wide.stride[2] == wide.dim[3] || wide.dim[2] == 1);
}

static leo_status pad_channels(const struct op_call *call, const struct op_tensor *rows,
                               const struct op_tensor *storage)
{
    const struct op_tensor wide = op_layout_widen(rows);
    const unsigned bytes = op_type_bytes(rows->type);
    const int64_t groups = wide.dim[1] / OP_LAYOUT_ROWS, whole = groups * OP_LAYOUT_ROWS;
    struct op_padded_channels p = {.out = *storage,
                                   .in = wide,
                                   .images = wide.dim[0],
                                   .channels = wide.dim[1] - whole,
                                   .positions = wide.dim[2] * wide.dim[3],
                                   .out_image = storage->stride[0],
                                   .in_image = wide.stride[0],
                                   .in_channel = wide.stride[1]};
    p.in.addr += (uint64_t)(whole * wide.stride[1] * bytes);
    p.out.addr += (uint64_t)(groups * storage->stride[1] * bytes);
    return op_pointwise_plan_padded(call, &p);
}

// Whole blocks, then what is left in a last one.
static leo_status copy_views(struct op_plan *plan, const struct views *v, bool to_rows,
                             bool whole_alone)
{
    const unsigned last = v->rows.rank - 1, bytes = op_type_bytes(v->rows.type);
    const int64_t c0 = v->rows.dim[last], whole = v->over / c0, rest = v->over % c0;
    leo_status status = LEO_OK;
    for (unsigned part = 0; part < 2 && status == LEO_OK; part++) {
        struct op_tensor rows = v->rows, blocks = v->blocks;
        if (part ? rest == 0 || whole_alone : whole == 0) {
            continue;
        }
        if (part) {
            rows.addr += (uint64_t)(whole * rows.stride[v->group] * bytes);
            blocks.addr += (uint64_t)(whole * blocks.stride[v->group] * bytes);
        }
        rows.dim[v->group] = blocks.dim[v->group] = part ? 1 : whole;
        rows.dim[last] = blocks.dim[last] = part ? rest : c0;
        status = op_plan_copy(plan, to_rows ? &rows : &blocks, to_rows ? &blocks : &rows);
    }
    return status;
}

/* Weights of a kernel of several elements: a matrix [output channel][input channel and element] is
 * turned first, so that both copies have long rows. */
static leo_status turn_weights(struct op_plan *plan, const struct op_tensor *rows, bool to_rows,
                               struct op_tensor *turned, struct op_tensor *view)
{
    const int64_t *d = rows->dim, inner = d[1] * d[2] * d[3];
    const int64_t dim[] = {inner, d[0]}, across[] = {1, inner};
    struct op_tensor base = *rows, plain;
    leo_status status = op_plan_temp(plan, rows->type, 2, dim, turned);
    const int64_t stride[] = {1, d[2] * d[3] * d[0], d[3] * d[0], d[0]};
    base.addr = turned->addr;
    set_view(view, &base, 4, d, stride);
    if (status != LEO_OK || to_rows) {
        return status;
    }
    set_view(&plain, rows, 2, dim, across);
    return op_plan_copy(plan, turned, &plain);
}

static leo_status move_weights(struct op_plan *plan, const struct op_tensor *rows,
                               const struct op_tensor *storage, bool to_rows)
{
    struct views views;
    struct op_tensor turned, view, dense = *rows;
    if (rows->dim[2] * rows->dim[3] == 1 || rows->dim[0] < OP_LAYOUT_ROWS ||
        !op_tensor_is_dense(rows) || op_type_bytes(rows->type) < 2) {
        view_weights(rows, storage, &views);
        return copy_views(plan, &views, to_rows, false);
    }
    leo_status status = turn_weights(plan, &dense, to_rows, &turned, &view);
    if (status != LEO_OK) {
        return status;
    }
    view_weights(&view, storage, &views);
    status = copy_views(plan, &views, to_rows, false);
    if (status != LEO_OK || !to_rows) {
        return status;
    }
    const int64_t dim[] = {turned.dim[0], turned.dim[1]}, across[] = {1, turned.dim[0]};
    struct op_tensor plain;
    set_view(&plain, rows, 2, dim, across);
    return op_plan_copy(plan, &plain, &turned);
}

// A matrix [channels, outputs] as weights of one element.
static struct op_tensor as_weights(const struct op_tensor *matrix)
{
    const int64_t dim[] = {matrix->dim[1], matrix->dim[0], 1, 1},
                  stride[] = {matrix->stride[1], matrix->stride[0], 0, 0};
    struct op_tensor weights;
    set_view(&weights, matrix, 4, dim, stride);
    return weights;
}

// Between rows of any strides and a native tensor.
static leo_status move(const struct op_call *call, const struct op_tensor *given,
                       const struct op_tensor *native, bool to_rows)
{
    struct op_plan *plan = call->plan;
    struct op_tensor storage, other = *given;
    const struct op_tensor *rows = &other;
    struct views views;
    if (op_layout_is_turned(native)) {
        const unsigned last = other.rank - 1;
        other.dim[last] = given->dim[last - 1];
        other.dim[last - 1] = given->dim[last];
        other.stride[last] = given->stride[last - 1];
        other.stride[last - 1] = given->stride[last];
    }
    (void)op_layout_storage(native, &storage); // checked with the call
    storage.format = OP_FORMAT_ND;
    const bool pads = !to_rows && pads_channels(rows, native);
    if (!to_rows && !pads && op_layout_is_padded(native)) {
        leo_status status = op_plan_fill(plan, storage.addr, 0, op_tensor_extent(&storage));
        if (status != LEO_OK) {
            return status;
        }
    }
    if (native->format == OP_FORMAT_FRACTAL_Z) {
        other = other.rank == 2 ? as_weights(&other) : other;
        return move_weights(plan, rows, &storage, to_rows);
    }
    if (native->format == OP_FORMAT_NC1HWC0) {
        view_channels(rows, &storage, &views);
    } else if (native->format == OP_FORMAT_NDC1HWC0) {
        view_volumes(rows, &storage, &views);
    } else if (native->format == OP_FORMAT_FRACTAL_Z_3D) {
        view_weights_3d(rows, &storage, &views);
    } else {
        view_matrix(rows, &storage, &views);
    }
    leo_status status = copy_views(plan, &views, to_rows, pads);
    return status == LEO_OK && pads ? pad_channels(call, rows, &storage) : status;
}

// A tensor [N, H, W, C] seen as [N, C, H, W].
static struct op_tensor channels_second(const struct op_tensor *tensor, bool asked)
{
    static const unsigned order[] = {0, 3, 1, 2};
    return asked && tensor->format == OP_FORMAT_NHWC && tensor->rank == 4
               ? op_tensor_permute(tensor, order)
               : *tensor;
}

static leo_status plan_cast(const struct op_call *call, const struct op_tensor *src,
                            const struct op_tensor *dst)
{
    const bool from = op_format_is_native(src->format), to = op_format_is_native(dst->format);
    struct op_tensor rows, storage;
    leo_status status;
    if (!from || !to) {
        return !from && !to ? op_plan_copy(call->plan, dst, src)
               : from       ? move(call, dst, src, true)
                            : move(call, src, dst, false);
    }
    if (src->format == dst->format) {
        (void)op_layout_storage(src, &storage);
        (void)op_layout_storage(dst, &rows);
        return op_plan_copy(call->plan, &rows, &storage);
    }
    status = op_plan_temp(call->plan, src->type, src->rank, src->dim, &rows);
    if (status == LEO_OK) {
        status = move(call, &rows, src, true);
    }
    return status == LEO_OK ? move(call, &rows, dst, false) : status;
}

// Rows of one shape become those of the other.
static leo_status cast_shaped(const struct op_call *call, const struct op_tensor *src,
                              const struct op_tensor *dst)
{
    struct op_tensor rows;
    leo_status status = op_plan_temp(call->plan, src->type, src->rank, src->dim, &rows);
    if (status == LEO_OK) {
        status = plan_cast(call, src, &rows);
    }
    const struct op_tensor shaped = op_tensor_dense(rows.addr, rows.type, dst->rank, dst->dim);
    return status == LEO_OK ? plan_cast(call, &shaped, dst) : status;
}

// Whether two shapes differ by dimensions of 1 at most: torch_npu drops or adds them on the way to
// or from a native format.
static bool same_but_ones(const struct op_tensor *a, const struct op_tensor *b)
{
    unsigned i = 0, j = 0;
    while (i < a->rank || j < b->rank) {
        if (i < a->rank && a->dim[i] == 1) {
            i++;
        } else if (j < b->rank && b->dim[j] == 1) {
            j++;
        } else if (i < a->rank && j < b->rank && a->dim[i] == b->dim[j]) {
            i++, j++;
        } else {
            return false;
        }
    }
    return true;
}

leo_status op_plan_trans_data(const struct op_call *call)
{
    const struct op_tensor *in = op_call_tensor(call, "srcTensor"),
                           *out = op_call_tensor(call, "dstTensor");
    const struct op_tensor src = channels_second(in, op_format_is_native(out->format)),
                           dst = channels_second(out, op_format_is_native(in->format));
    if (src.type != dst.type) {
        return op_call_fail(call, LEO_ERR_DTYPE,
                            "srcTensor has type %s and dstTensor %s: a change of format does not "
                            "change the type",
                            op_type_name(src.type), op_type_name(dst.type));
    }
    if (op_tensor_same_shape(&src, &dst)) {
        return op_tensor_count(&src) ? plan_cast(call, &src, &dst) : LEO_OK;
    }
    if (same_but_ones(&src, &dst)) {
        return cast_shaped(call, &src, &dst);
    }
    return op_call_fail(call, LEO_ERR_SHAPE,
                        "srcTensor has shape %s and dstTensor %s, they must be the same. A view of "
                        "a tensor in the chip's own formats cannot be changed in place: torch_npu "
                        "does not tell which part it is. Change "
                        "torch_npu.npu_format_cast(tensor, 0), or set "
                        "torch_npu.npu.config.allow_internal_format = False",
                        op_tensor_shape_text(&src).text, op_tensor_shape_text(&dst).text);
}
