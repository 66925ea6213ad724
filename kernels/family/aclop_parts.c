/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that have a type name alone: parts of others. */
#include "chain.h"
#include "dims.h"

#include <inttypes.h>

enum { CHANNELS = 16 }; // of a block

leo_status op_plan_slice_size(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const struct op_ints *offsets = op_call_ints(call, "offsets"),
                         *size = op_call_ints(call, "size");
    if (offsets->count != x->rank || size->count != x->rank) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x has %u dimensions, but offsets has %" PRIu64 " numbers and size "
                            "%" PRIu64,
                            x->rank, offsets->count, size->count);
    }
    struct op_tensor part = *x;
    for (unsigned i = 0; i < x->rank; i++) {
        const int64_t from = offsets->items[i],
                      count = size->items[i] == -1 ? x->dim[i] - from : size->items[i];
        if (from < 0 || count < 0 || from > x->dim[i] - count) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "%" PRId64 " elements from %" PRId64
                                " on are not in dimension %u of x, which has shape %s",
                                count, from, i, op_tensor_shape_text(x).text);
        }
        part = op_view_slice(&part, i, from, count);
    }
    leo_status status = op_call_check_shape(call, "y", part.rank, part.dim);
    return status == LEO_OK && op_tensor_count(y) ? op_plan_copy(call->plan, y, &part) : status;
}

// `count` channels of a tensor [N, C, ...] from block `offset` on.
static leo_status take_channels(const struct op_call *call, const char *name, int64_t offset,
                                int64_t count, struct op_tensor *out)
{
    const struct op_tensor *x = op_call_tensor(call, name);
    if (x->rank < 2 || offset < 0 || count < 0 || offset > x->dim[1] / CHANNELS ||
        count > x->dim[1] - offset * CHANNELS) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s of shape %s has no %" PRId64 " channels from block %" PRId64 " on",
                            name, op_tensor_shape_text(x).text, count, offset);
    }
    *out = op_view_slice(x, 1, offset * CHANNELS, count);
    return LEO_OK;
}

leo_status op_plan_stride_add(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    const int64_t blocks = op_call_int(call, "blocks");
    const struct op_scalar one = op_scalar_int(1);
    struct op_tensor a, b;
    // The last block may have fewer channels than a block has room for.
    if (y->rank < 2 || (y->dim[1] + CHANNELS - 1) / CHANNELS != blocks) {
        return op_call_fail(call, LEO_ERR_SHAPE, "y of shape %s has not %" PRId64 " blocks",
                            op_tensor_shape_text(y).text, blocks);
    }
    leo_status status = take_channels(call, "x1", op_call_int(call, "x1Offset"), y->dim[1], &a);
    if (status == LEO_OK) {
        status = take_channels(call, "x2", op_call_int(call, "x2Offset"), y->dim[1], &b);
    }
    const struct op_value add[] = {op_value_tensor(&a), op_value_tensor(&b), op_value_scalar(&one),
                                   op_value_tensor(y)};
    return status == LEO_OK ? op_plan_call(call->plan, "Add", add, 4) : status;
}
