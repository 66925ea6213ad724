/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of linear maps along one to three dimensions: resizing and padding, and their
 * gradients. */
#pragma once

#include <stdint.h>

/** Which elements of the input an element of the output is made of, and with which weights. */
enum op_resample_kind {
    OP_RESAMPLE_NEAREST, /**< floor(i * ratio) */
    OP_RESAMPLE_EXACT,   /**< floor((i + 1/2) * ratio) */
    OP_RESAMPLE_LINEAR,
    OP_RESAMPLE_CUBIC,
    OP_RESAMPLE_LINEAR_AA, /**< the filter as wide as a pixel of the output, when that is larger */
    OP_RESAMPLE_CUBIC_AA,
    OP_RESAMPLE_REFLECT,   /**< padding that mirrors, without the edge itself */
    OP_RESAMPLE_REPLICATE, /**< padding that repeats the edge */
    OP_RESAMPLE_WRAP,      /**< padding that goes on at the other end */
};

enum { OP_RESAMPLE_DIMS = 3 };

struct op_resample_dim {
    int64_t in, out; /**< elements before and after the map (not its gradient) */
    int64_t pad;     /**< padding before the first element */
    double ratio;    /**< elements of the input per element of the output */
    int64_t a;       /**< stride of a along it, bytes */
    int64_t taps;    /**< most elements of the input in one of the output */
    int64_t table;   /**< byte offset of its table */
};

/**
 * The table of a dimension with `rows` elements of the result: int32 first[rows + 1], then int32
 * index[], then double weight[], from its offset on, each part on a line of its own. Element r of
 * the result is the sum over k in [first[r], first[r + 1]) of weight[k] * a[index[k]].
 *
 * Element p of plane i, c of the result is at (i * channels + c) * positions + p: dense. Block b
 * works on elements [b * per_block, ..).
 */
struct op_resample_args {
    uint64_t result, a, table;
    uint64_t per_block;
    int64_t planes, channels, a_image, a_channel; /**< strides of a, bytes */
    struct op_resample_dim dim[OP_RESAMPLE_DIMS];
    uint8_t kind, align, gradient; /**< gradient: a = gradient of the map's output */
    uint8_t result_type, a_type;
};

/** Byte offsets of the parts of a table. */
static inline uint64_t op_resample_indices_at(uint64_t rows)
{
    return ((rows + 1) * 4 + 63) / 64 * 64;
}

static inline uint64_t op_resample_weights_at(uint64_t rows, uint64_t entries)
{
    return op_resample_indices_at(rows) + (entries * 4 + 63) / 64 * 64;
}
