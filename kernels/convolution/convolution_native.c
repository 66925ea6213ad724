/* SPDX-License-Identifier: Apache-2.0 */
#include "convolution_native.h"

#include "../frame/chain.h"
#include "../frame/layout.h"
#include "../frame/whole.h"

#include <string.h>

// A tensor [n, c, 1, h, w] without the dimension that is 1.
static struct op_tensor flat(const struct op_tensor *wide)
{
    return op_view_select(wide, 2, 0);
}

// A temporary in a native format, and its memory.
static leo_status temp_native(const struct op_convolution_lowering *low,
                              const struct op_tensor *like, enum op_type type, int format,
                              int64_t c0, struct op_tensor *native, struct op_tensor *storage)
{
    *native = op_tensor_dense(0, type, like->rank, like->dim);
    native->format = format;
    native->c0 = c0 == op_layout_c0(type) ? 0 : (unsigned)c0;
    leo_status status = op_plan_temp_bytes(low->plan, op_tensor_extent(native), &native->addr);
    (void)op_layout_storage(native, storage); // of four dimensions: there is one
    return status;
}

// Groups of 16 channels of f32, of which half a group is a block of 32 bytes, in groups of 8; a map
// without those behind its last channel.
static leo_status halve_groups(const struct op_convolution_lowering *low,
                               const struct op_tensor *like, const struct op_tensor *whole,
                               struct op_tensor *halves)
{
    const bool maps = like->format == OP_FORMAT_NC1HWC0;
    const int64_t taps = low->shape->kernel[1] * low->shape->kernel[2],
                  groups = maps ? whole->dim[0] * whole->dim[1] : whole->dim[0] / taps,
                  lines = op_tensor_count(whole) / groups / OP_FRACTAL, half = OP_FRACTAL / 2;
    struct op_tensor from = op_tensor_dense(whole->addr, whole->type, 4,
                                            (const int64_t[]){groups, 2, lines, half}),
                     to = from;
    int64_t dim[OP_RANK_MAX];
    memcpy(dim, whole->dim, sizeof(dim));
    dim[maps ? 1 : 0] *= 2;
    dim[whole->rank - 1] = half;
    leo_status status = op_plan_temp(low->plan, whole->type, whole->rank, dim, halves);
    to.addr = halves->addr;
    from.stride[1] = half;
    from.stride[2] = OP_FRACTAL;
    if (maps) {
        halves->dim[1] = op_parts(like->dim[1], half);
    }
    return status == LEO_OK ? op_plan_copy(low->plan, &to, &from) : status;
}

leo_status op_convolution_take(const struct op_convolution_lowering *low,
                               const struct op_tensor *wide, int format, struct op_tensor *storage)
{
    const struct op_tensor from = flat(wide);
    const int64_t c0 = op_convolution_c0(low->type);
    struct op_tensor ready = from, native, whole;
    leo_status status = LEO_OK;
    if (from.format == format) {
        (void)op_layout_storage(&from, &native);
        status = op_plan_dense(low->plan, &native, low->type, c0 == OP_FRACTAL ? storage : &whole);
        return status == LEO_OK && c0 != OP_FRACTAL ? halve_groups(low, &from, &whole, storage)
                                                    : status;
    }
    if (from.type != low->type) {
        status = op_plan_dense(low->plan, &from, low->type, &ready);
    }
    if (status == LEO_OK) {
        status = temp_native(low, &from, low->type, format, c0, &native, storage);
    }
    return status == LEO_OK ? op_plan_change_format(low->plan, &ready, &native) : status;
}

// Rows of weights in the cube's type, without gaps.
static leo_status take_rows(const struct op_convolution_lowering *low, const struct op_tensor *w,
                            struct op_tensor *rows)
{
    struct op_tensor plain;
    leo_status status = op_plan_rows(low->plan, w, true, &plain);
    return status == LEO_OK ? op_plan_dense(low->plan, &plain, low->type, rows) : status;
}

// The same with channels exchanged, as a view of the transposed matrix.
static leo_status exchange_channels(const struct op_convolution_lowering *low,
                                    const struct op_tensor *rows, struct op_tensor *exchanged)
{
    const int64_t y = rows->dim[0], inner = rows->dim[1] * rows->dim[2] * rows->dim[3],
                  turned[] = {inner, y};
    struct op_tensor matrix = op_tensor_dense(rows->addr, rows->type, 2, turned), columns;
    matrix.stride[0] = 1;
    matrix.stride[1] = inner;
    leo_status status = op_plan_temp(low->plan, rows->type, 2, turned, &columns);
    if (status == LEO_OK) {
        status = op_plan_copy(low->plan, &columns, &matrix);
    }
    *exchanged = *rows;
    exchanged->addr = columns.addr;
    exchanged->dim[0] = rows->dim[1];
    exchanged->dim[1] = y;
    exchanged->stride[0] = rows->dim[2] * rows->dim[3] * y;
    exchanged->stride[1] = 1;
    exchanged->stride[2] = rows->dim[3] * y;
    exchanged->stride[3] = y;
    return status;
}

// Elements of the kernel in reverse order: [group][element][fractals].
static leo_status reverse_taps(const struct op_convolution_lowering *low, int64_t taps,
                               const struct op_tensor *units, struct op_tensor *reversed)
{
    static const int64_t along[] = {1};
    const struct op_ints dims = {along, 1};
    const int64_t groups = units->dim[0] / taps,
                  dim[] = {groups, taps, op_tensor_count(units) / units->dim[0]};
    const struct op_tensor from = op_tensor_dense(units->addr, units->type, 3, dim);
    struct op_tensor to = from;
    *reversed = *units;
    if (taps == 1) {
        return LEO_OK;
    }
    leo_status status = op_plan_temp(low->plan, units->type, units->rank, units->dim, reversed);
    to.addr = reversed->addr;
    const struct op_value args[] = {op_value_tensor(&from), op_value_ints(&dims),
                                    op_value_tensor(&to)};
    return status == LEO_OK ? op_plan_call(low->plan, "Flip", args, 3) : status;
}

leo_status op_convolution_take_turned(const struct op_convolution_lowering *low,
                                      const struct op_tensor *wide, struct op_tensor *storage)
{
    const struct op_tensor w = flat(wide);
    struct op_tensor rows, exchanged, native, units;
    leo_status status = take_rows(low, &w, &rows);
    if (status == LEO_OK) {
        status = exchange_channels(low, &rows, &exchanged);
    }
    if (status == LEO_OK) {
        status = temp_native(low, &exchanged, low->type, OP_FORMAT_FRACTAL_Z,
                             op_convolution_c0(low->type), &native, &units);
    }
    if (status == LEO_OK) {
        status = op_plan_change_format(low->plan, &exchanged, &native);
    }
    return status == LEO_OK ? reverse_taps(low, w.dim[2] * w.dim[3], &units, storage) : status;
}

leo_status op_convolution_take_some(const struct op_convolution_lowering *low,
                                    const struct op_tensor *units,
                                    const struct op_convolution_taps *taps,
                                    struct op_tensor *storage)
{
    const struct op_convolution *s = low->shape;
    const int64_t fractals = op_tensor_count(units) / units->dim[0],
                  groups = units->dim[0] / s->kernel[1] / s->kernel[2],
                  all[] = {groups, taps->lines, taps->columns, fractals};
    struct op_tensor from = op_tensor_dense(units->addr, units->type, 4, all), to = from;
    int64_t dim[OP_RANK_MAX];
    *storage = *units;
    if (taps->lines == s->kernel[1] && taps->columns == s->kernel[2]) {
        return LEO_OK;
    }
    memcpy(dim, units->dim, sizeof(dim));
    dim[0] = groups * taps->lines * taps->columns;
    from.addr +=
        (uint64_t)((taps->top * s->kernel[2] + taps->left) * fractals) * op_type_bytes(units->type);
    from.stride[0] = s->kernel[1] * s->kernel[2] * fractals;
    from.stride[1] = s->stride[1] * s->kernel[2] * fractals;
    from.stride[2] = s->stride[2] * fractals;
    leo_status status = op_plan_temp(low->plan, units->type, units->rank, dim, storage);
    to.addr = storage->addr;
    return status == LEO_OK ? op_plan_copy(low->plan, &to, &from) : status;
}

// Where a result in a native format goes: to `wide` itself, or to a temporary that finish_native
// brings there.
leo_status op_convolution_begin(const struct op_convolution_lowering *low,
                                const struct op_tensor *wide, int format, struct op_tensor *native,
                                struct op_tensor *storage)
{
    const struct op_tensor to = flat(wide);
    if (to.format == format) {
        *native = to;
        (void)op_layout_storage(&to, storage);
        return LEO_OK;
    }
    return temp_native(low, &to, to.type, format, op_layout_c0(to.type), native, storage);
}

leo_status op_convolution_finish(const struct op_convolution_lowering *low,
                                 const struct op_tensor *native, const struct op_tensor *wide)
{
    const struct op_tensor to = flat(wide);
    return to.format == native->format ? LEO_OK : op_plan_change_format(low->plan, native, &to);
}
