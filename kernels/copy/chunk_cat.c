/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors cut into chunks and joined chunk by chunk. */
#include "../frame/chain.h"

#include <inttypes.h>

struct chunks {
    int64_t chunk, rest; /* rows of a chunk, elements of a row */
};

static struct chunks chunks_of(const struct op_tensor *tensor, int64_t number)
{
    struct chunks c = {(tensor->dim[0] + number - 1) / number, 1};
    for (unsigned i = 1; i < tensor->rank; i++) {
        c.rest *= tensor->dim[i];
    }
    return c;
}

static leo_status check(const struct op_call *call, const struct op_tensor_list *list,
                        int64_t number)
{
    int64_t shape[] = {number, 0};
    if (op_call_int(call, "dim") != 0 || number < 1) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "dim is %" PRId64 ", it must be 0; numChunks is %" PRId64
                            ", it must be above 0",
                            op_call_int(call, "dim"), number);
    }
    for (uint64_t i = 0; i < list->count; i++) {
        const struct op_tensor *tensor = list->items[i];
        if (tensor->rank == 0 || tensor->type != list->items[0]->type) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "tensor %" PRIu64 " of shape %s and type %s: all have dimensions "
                                "and one type",
                                i, op_tensor_shape_text(tensor).text, op_type_name(tensor->type));
        }
        const struct chunks c = chunks_of(tensor, number);
        shape[1] += c.chunk * c.rest;
    }
    return op_call_check_shape(call, "out", 2, shape);
}

// Rows of `tensor` from `row` on as `count` chunks of `length` elements, at column `at` of out.
static void put(struct op_chain *chain, const struct op_tensor *flat, int64_t begin,
                const int64_t *to, const int64_t *shape)
{
    const struct op_tensor *out = op_call_tensor(chain->call, "out"),
                           part = op_view_slice(flat, 0, begin, shape[0] * shape[1]),
                           from = op_view_shape(&part, 2, shape),
                           rows = op_view_slice(out, 0, to[0], shape[0]),
                           target = op_view_slice(&rows, 1, to[1], shape[1]);
    if (shape[0] * shape[1] > 0) {
        op_chain_copy(chain, &target, &from);
    }
}

leo_status op_plan_chunk_cat(const struct op_call *call)
{
    const struct op_tensor_list *list = op_call_value(call, "tensors")->tensors;
    const struct op_tensor *out = op_call_tensor(call, "out");
    const int64_t number = op_call_int(call, "numChunks");
    leo_status status = check(call, list, number);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    int64_t column = 0;
    OP_CHAIN_CALL(&chain, "InplaceZero", op_value_tensor(out));
    for (uint64_t i = 0; i < list->count; i++) {
        const struct op_tensor *tensor = list->items[i];
        const struct chunks c = chunks_of(tensor, number);
        const int64_t count = op_tensor_count(tensor), length = c.chunk * c.rest;
        if (length == 0) {
            continue;
        }
        const struct op_tensor dense = op_chain_dense(&chain, tensor->type, tensor),
                               flat = op_view_shape(&dense, 1, &count);
        const int64_t whole = count / length;
        put(&chain, &flat, 0, (const int64_t[]){0, column}, (const int64_t[]){whole, length});
        if (count % length) {
            put(&chain, &flat, whole * length, (const int64_t[]){whole, column},
                (const int64_t[]){1, count % length});
        }
        column += length;
    }
    return chain.status;
}
