/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of tensors. In native formats the memory of a tensor is not rows of its shape but
 * blocks of 32 bytes of channels, or fractals of 16 rows. A tensor keeps its logical shape and the
 * strides of rows, its format says how it is stored. It is always whole: no view, no offset.
 */
#pragma once

#include "row.h"
#include "tensor.h"

/** The values of aclFormat that matter here. */
enum op_format {
    OP_FORMAT_NCHW = 0,
    OP_FORMAT_NHWC = 1,
    OP_FORMAT_ND = 2,
    OP_FORMAT_NC1HWC0 = 3,
    OP_FORMAT_FRACTAL_Z = 4,
    OP_FORMAT_HWCN = 16,
    OP_FORMAT_NDHWC = 27,
    OP_FORMAT_FRACTAL_NZ = 29,
    OP_FORMAT_NCDHW = 30,
    OP_FORMAT_NDC1HWC0 = 32,
    OP_FORMAT_FRACTAL_Z_3D = 33,
    OP_FORMAT_NC = 35,
    OP_FORMAT_NCL = 47,
};

enum { OP_LAYOUT_ROWS = 16 }; /**< rows of a fractal */

bool op_format_is_native(int format);
/** Rows of the shape, whatever its dimensions are called; -1: undefined. */
bool op_format_is_rows(int format);
bool op_format_has_channels_last(int format);
/** "NC1HWC0", "NHWC"; "ND" for all others that are not native. */
const char *op_format_name(int format);
/** Elements of the innermost dimension of native formats: 32 for bytes, else 16. */
int64_t op_layout_c0(enum op_type type);
/** The same for a tensor, which may say another. */
int64_t op_layout_c0_of(const struct op_tensor *tensor);
/** A tensor of up to 4 dimensions as [N, C, H, W]: those of one are C, of two C and H, of three C,
 * H and W. */
struct op_tensor op_layout_widen(const struct op_tensor *tensor);
/** The tensor's memory as a dense tensor of its storage shape. False if a tensor of this rank or
 * type has no such format. A tensor that is not native is its own storage. */
bool op_layout_storage(const struct op_tensor *tensor, struct op_tensor *storage);
/** What lies in [from, from + dim) of each dimension of a tensor in NC1HWC0, as a view of its
 * storage. False: not whole blocks of channels, or another format. */
bool op_layout_part(const struct op_tensor *tensor, const int64_t *from, const int64_t *dim,
                    struct op_tensor *part);
/** A tensor of four dimensions as blocks of `c0` of its `channels` channels, five dimensions: the
 * storage of one in NC1HWC0, or a view of rows of single positions. False: it has other channels,
 * or the last block is not full, or it lies in another way. */
bool op_layout_blocks(const struct op_tensor *tensor, int64_t channels, int64_t c0,
                      struct op_tensor *blocks);
/** A matrix in FRACTAL_NZ may be seen with its rows and columns exchanged: the tensor as it is
 * stored. */
struct op_tensor op_layout_unturned(const struct op_tensor *tensor);
/** Whether it is seen so. A column and a row have the same strides: their sizes tell. */
bool op_layout_is_turned(const struct op_tensor *tensor);
/** Whether the storage has elements that the shape has not. */
bool op_layout_is_padded(const struct op_tensor *tensor);

/** Whether elements with these sizes and strides, from `offset` on, lie within the first `room`. */
bool op_layout_fits(unsigned rank, const int64_t *dim, const int64_t *stride, int64_t offset,
                    int64_t room);
/** Whether a tensor of the call is in a native format. */
bool op_layout_any_native(const struct op_row *row, const struct op_value *args);

/** Byte range it touches, relative to addr: [0, end). Empty tensors: 0. Strides are never negative.
 */
uint64_t op_tensor_extent(const struct op_tensor *tensor);

/** How memory of two tensors relates. */
enum op_alias { OP_ALIAS_NONE, OP_ALIAS_SAME, OP_ALIAS_OVERLAP };
/** SAME: equal address, shape, strides and type. */
enum op_alias op_tensor_alias(const struct op_tensor *a, const struct op_tensor *b);
