/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"
#include "whole.h"

#include <string.h>

bool op_format_is_native(int format)
{
    return format == OP_FORMAT_NC1HWC0 || format == OP_FORMAT_FRACTAL_Z ||
           format == OP_FORMAT_FRACTAL_NZ || format == OP_FORMAT_NDC1HWC0 ||
           format == OP_FORMAT_FRACTAL_Z_3D;
}

bool op_format_has_channels_last(int format)
{
    return format == OP_FORMAT_NHWC || format == OP_FORMAT_NDHWC || format == OP_FORMAT_HWCN;
}

bool op_format_is_rows(int format)
{
    return format == -1 || format == OP_FORMAT_ND || format == OP_FORMAT_NCHW ||
           format == OP_FORMAT_NCDHW || format == OP_FORMAT_NC || format == OP_FORMAT_NCL ||
           op_format_has_channels_last(format);
}

const char *op_format_name(int format)
{
    switch (format) {
    case OP_FORMAT_NHWC:
        return "NHWC";
    case OP_FORMAT_NDHWC:
        return "NDHWC";
    case OP_FORMAT_HWCN:
        return "HWCN";
    case OP_FORMAT_NC1HWC0:
        return "NC1HWC0";
    case OP_FORMAT_FRACTAL_Z:
        return "FRACTAL_Z";
    case OP_FORMAT_FRACTAL_NZ:
        return "FRACTAL_NZ";
    case OP_FORMAT_NDC1HWC0:
        return "NDC1HWC0";
    case OP_FORMAT_FRACTAL_Z_3D:
        return "FRACTAL_Z_3D";
    default:
        return "ND";
    }
}

int64_t op_layout_c0(enum op_type type)
{
    return op_type_bytes(type) == 1 ? 32 : 16;
}

int64_t op_layout_c0_of(const struct op_tensor *tensor)
{
    return tensor->c0 ? tensor->c0 : op_layout_c0(tensor->type);
}

struct op_tensor op_layout_widen(const struct op_tensor *tensor)
{
    struct op_tensor wide = *tensor;
    if (tensor->rank == 4) {
        return wide;
    }
    for (unsigned i = 0; i < 4; i++) {
        const bool has = i >= 1 && i <= tensor->rank;
        wide.dim[i] = has ? tensor->dim[i - 1] : 1;
        wide.stride[i] = has ? tensor->stride[i - 1] : 0;
    }
    wide.rank = 4;
    return wide;
}

struct op_tensor op_layout_unturned(const struct op_tensor *tensor)
{
    struct op_tensor other = *tensor;
    const unsigned rows = tensor->rank - 2, columns = tensor->rank - 1;
    if (tensor->format != OP_FORMAT_FRACTAL_NZ || tensor->rank < 2 || tensor->stride[rows] != 1 ||
        tensor->stride[columns] != tensor->dim[rows] ||
        (tensor->stride[columns] == 1 && tensor->stride[rows] == tensor->dim[columns])) {
        return other;
    }
    other.dim[rows] = tensor->dim[columns];
    other.dim[columns] = tensor->dim[rows];
    other.stride[rows] = tensor->stride[columns];
    other.stride[columns] = tensor->stride[rows];
    return other;
}

bool op_layout_is_turned(const struct op_tensor *tensor)
{
    const struct op_tensor stored = op_layout_unturned(tensor);
    const unsigned last = tensor->rank - 1;
    return tensor->rank >= 2 &&
           (stored.stride[last] != tensor->stride[last] || stored.dim[last] != tensor->dim[last]);
}

bool op_layout_storage(const struct op_tensor *tensor, struct op_tensor *storage)
{
    const struct op_tensor unturned = op_layout_unturned(tensor), *t = &unturned;
    const int64_t c0 = op_layout_c0_of(t), *d = t->dim;
    int64_t dim[OP_RANK_MAX];
    unsigned rank = 0;
    if (!op_format_is_native(t->format)) {
        *storage = *t;
        return true;
    }
    if (t->format == OP_FORMAT_NC1HWC0 && t->rank >= 1 && t->rank <= 4) {
        const struct op_tensor wide = op_layout_widen(t);
        const int64_t shape[] = {wide.dim[0], op_parts(wide.dim[1], c0), wide.dim[2], wide.dim[3],
                                 c0};
        rank = 5;
        memcpy(dim, shape, sizeof(shape));
    } else if (t->format == OP_FORMAT_FRACTAL_Z && t->rank == 4) {
        const int64_t shape[] = {op_parts(d[1], c0) * d[2] * d[3], op_parts(d[0], OP_LAYOUT_ROWS),
                                 OP_LAYOUT_ROWS, c0};
        rank = 4;
        memcpy(dim, shape, sizeof(shape));
    } else if (t->format == OP_FORMAT_FRACTAL_Z && t->rank == 2) {
        // A matrix that is multiplied from the right: rows as the channels of weights.
        const int64_t shape[] = {op_parts(d[0], c0), op_parts(d[1], OP_LAYOUT_ROWS), OP_LAYOUT_ROWS,
                                 c0};
        rank = 4;
        memcpy(dim, shape, sizeof(shape));
    } else if (t->format == OP_FORMAT_NDC1HWC0 && t->rank == 5) {
        const int64_t shape[] = {d[0], d[2], op_parts(d[1], c0), d[3], d[4], c0};
        rank = 6;
        memcpy(dim, shape, sizeof(shape));
    } else if (t->format == OP_FORMAT_FRACTAL_Z_3D && t->rank == 5) {
        const int64_t shape[] = {d[2] * op_parts(d[1], c0) * d[3] * d[4],
                                 op_parts(d[0], OP_LAYOUT_ROWS), OP_LAYOUT_ROWS, c0};
        rank = 4;
        memcpy(dim, shape, sizeof(shape));
    } else if (t->format == OP_FORMAT_FRACTAL_NZ && t->rank >= 2 && t->rank + 2 <= OP_RANK_MAX) {
        const unsigned m = t->rank - 2;
        const int64_t shape[] = {op_parts(d[m + 1], c0), op_parts(d[m], OP_LAYOUT_ROWS),
                                 OP_LAYOUT_ROWS, c0};
        rank = t->rank + 2;
        memcpy(dim, d, m * sizeof(*dim));
        memcpy(dim + m, shape, sizeof(shape));
    } else {
        return false;
    }
    *storage = op_tensor_dense(t->addr, t->type, rank, dim);
    return true;
}

bool op_layout_part(const struct op_tensor *tensor, const int64_t *from, const int64_t *dim,
                    struct op_tensor *part)
{
    const int64_t c0 = op_layout_c0_of(tensor);
    if (tensor->format != OP_FORMAT_NC1HWC0 || tensor->rank != 4 || from[1] % c0 != 0 ||
        (dim[1] % c0 != 0 && from[1] + dim[1] != tensor->dim[1]) ||
        !op_layout_storage(tensor, part)) {
        return false;
    }
    for (unsigned i = 0; i < tensor->rank; i++) {
        const int64_t first = i == 1 ? from[i] / c0 : from[i];
        part->addr += (uint64_t)(first * part->stride[i] * op_type_bytes(part->type));
        part->dim[i] = i == 1 ? op_parts(dim[i], c0) : dim[i];
    }
    return true;
}

bool op_layout_blocks(const struct op_tensor *tensor, int64_t channels, int64_t c0,
                      struct op_tensor *blocks)
{
    if (tensor->rank != 4 || tensor->dim[1] != channels || channels % c0 != 0) {
        return false;
    }
    if (tensor->format == OP_FORMAT_NC1HWC0) {
        return op_layout_c0_of(tensor) == c0 && op_layout_storage(tensor, blocks);
    }
    *blocks = *tensor;
    blocks->rank = 5;
    blocks->dim[1] = channels / c0;
    blocks->stride[1] = tensor->stride[1] * c0;
    blocks->dim[4] = c0;
    blocks->stride[4] = tensor->stride[1];
    return !op_format_is_native(tensor->format) && tensor->dim[2] == 1 && tensor->dim[3] == 1;
}

bool op_layout_is_padded(const struct op_tensor *tensor)
{
    struct op_tensor storage;
    return op_layout_storage(tensor, &storage) &&
           op_tensor_count(&storage) != op_tensor_count(tensor);
}

bool op_layout_fits(unsigned rank, const int64_t *dim, const int64_t *stride, int64_t offset,
                    int64_t room)
{
    int64_t last = offset;
    bool empty = false;
    for (unsigned i = 0; i < rank; i++) {
        if (dim[i] < 0 || stride[i] < 0 || dim[i] > INT32_MAX || stride[i] > INT32_MAX) {
            return false;
        }
        empty = empty || dim[i] == 0;
        last += dim[i] && last < room ? (dim[i] - 1) * stride[i] : 0;
    }
    return offset >= 0 && (empty ? offset <= room : last < room);
}

bool op_layout_any_native(const struct op_row *row, const struct op_value *args)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].kind == OP_KIND_TENSOR && args[i].tensor &&
            op_format_is_native(args[i].tensor->format)) {
            return true;
        }
        for (uint64_t k = 0; row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors &&
                             k < args[i].tensors->count;
             k++) {
            if (op_format_is_native(args[i].tensors->items[k]->format)) {
                return true;
            }
        }
    }
    return false;
}

uint64_t op_tensor_extent(const struct op_tensor *tensor)
{
    uint64_t last = 0;
    struct op_tensor storage;
    if (op_format_is_native(tensor->format)) {
        return op_layout_storage(tensor, &storage) ? op_tensor_extent(&storage) : 0;
    }
    for (unsigned i = 0; i < tensor->rank; i++) {
        if (tensor->dim[i] == 0) {
            return 0;
        }
        last += (uint64_t)(tensor->dim[i] - 1) * (uint64_t)tensor->stride[i];
    }
    return (last + 1) * op_type_bytes(tensor->type);
}

enum op_alias op_tensor_alias(const struct op_tensor *a, const struct op_tensor *b)
{
    const uint64_t a_bytes = op_tensor_extent(a), b_bytes = op_tensor_extent(b);
    if (a_bytes == 0 || b_bytes == 0 || a->addr >= b->addr + b_bytes ||
        b->addr >= a->addr + a_bytes) {
        return OP_ALIAS_NONE;
    }
    bool same = a->addr == b->addr && a->type == b->type && op_tensor_same_shape(a, b) &&
                op_format_is_native(a->format) == op_format_is_native(b->format);
    same = same && (!op_format_is_native(a->format) || (a->format == b->format && a->c0 == b->c0));
    for (unsigned i = 0; same && i < a->rank; i++) {
        same = a->dim[i] == 1 || a->stride[i] == b->stride[i];
    }
    return same ? OP_ALIAS_SAME : OP_ALIAS_OVERLAP;
}
