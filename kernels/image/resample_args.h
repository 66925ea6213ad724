/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of linear maps along one to three dimensions: resizing and padding, and their
 * gradients. */
#pragma once

#include <stdbool.h>
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
    OP_RESAMPLE_SHARES,    /**< means of as many shares as there are elements after the map */
    OP_RESAMPLE_WINDOWS,   /**< means of windows */
};

enum { OP_RESAMPLE_DIMS = 3 };

struct op_resample_dim {
    int64_t in, out; /**< elements before and after the map (not its gradient) */
    int64_t pad;     /**< padding before the first element */
    double ratio;    /**< elements of the input per element of the output; windows: what their sums
                        are divided by, 0: their elements */
    int64_t stride;  /**< of windows, whose size is `taps` */
    int64_t a;       /**< stride of a along it, bytes */
    int64_t taps;    /**< most elements of the input in one of the output */
    int64_t table;   /**< byte offset of its table */
    int64_t part, room; /**< rows of a part of the table, and entries it has room for */
};

/**
 * The table of a dimension with `rows` elements of the result, each part of it made by one core:
 * int32 first[rows], int32 count[rows], then int32 index[] and weight[] (double; float for
 * resample_rows, with `lines`), from its offset on, each on a line of its own. Element r of the
 * result is the sum over the count[r] entries k from first[r] on of weight[k] * a[index[k]].
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
    uint8_t lines;
    uint8_t count_pad; /**< padding counts as elements of a window */
};

/** Byte offsets in a table. */
static inline uint64_t op_resample_counts_at(uint64_t rows)
{
    return (rows * 4 + 63) / 64 * 64;
}

static inline uint64_t op_resample_indices_at(uint64_t rows)
{
    return 2 * op_resample_counts_at(rows);
}

static inline uint64_t op_resample_weights_at(uint64_t rows, uint64_t entries)
{
    return op_resample_indices_at(rows) + (entries * 4 + 63) / 64 * 64;
}

static inline int64_t op_resample_rows(const struct op_resample_dim *d, bool gradient)
{
    return gradient ? d->in : d->out;
}

static inline uint64_t op_resample_entries(const struct op_resample_dim *d, bool gradient)
{
    return (uint64_t)((op_resample_rows(d, gradient) + d->part - 1) / d->part * d->room);
}

/** Elements after the map that may be made of some of [begin, end) before it; all there are for
 * paddings, which do not keep their order. */
struct op_resample_span {
    int64_t begin, end;
};

static inline struct op_resample_span op_resample_span(const struct op_resample_dim *d,
                                                       uint32_t kind, int64_t begin, int64_t end)
{
    const double step = kind == OP_RESAMPLE_WINDOWS ? (double)d->stride : d->ratio;
    struct op_resample_span span = {0, d->out};
    const bool pads = kind >= OP_RESAMPLE_REFLECT && kind <= OP_RESAMPLE_WRAP;
    if (pads || !(step * (double)d->out > 1)) {
        return span;
    }
    const int64_t reach = d->taps + 1; // and an element for positions off the grid
    if (begin > 0) {
        const double least = (double)(begin + d->pad - reach) / step - 2;
        span.begin = least<0 ? 0 : least>(double) d->out ? d->out : (int64_t)least;
    }
    if (end < d->in) {
        const double most = (double)(end + d->pad + reach) / step + 2;
        span.end = most > (double)d->out ? d->out : (int64_t)most;
    }
    return span;
}
