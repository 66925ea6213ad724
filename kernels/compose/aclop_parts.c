/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that have a type name alone: parts of others. */
#include "../frame/chain.h"
#include "../frame/dims.h"
#include "../frame/layout.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CHANNELS = 16 }; // of a block

// Whether `y` is stored in blocks as `part` is: its storage.
static bool same_blocks(const struct op_tensor *part, const struct op_tensor *y,
                        struct op_tensor *storage)
{
    return y->format == OP_FORMAT_NC1HWC0 && op_layout_storage(y, storage) &&
           op_tensor_same_shape(part, storage);
}

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
    struct op_tensor part = *x, blocks, stored;
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
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    if (op_layout_part(x, offsets->items, part.dim, &blocks) && same_blocks(&blocks, y, &stored)) {
        return op_plan_copy(call->plan, &stored, &blocks);
    }
    return op_layout_any_native(call->row, call->args) ? op_call_run_as_rows(call)
                                                       : op_plan_copy(call->plan, y, &part);
}

leo_status op_plan_strided_view(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const struct op_ints *size = op_call_ints(call, "size"), *stride = op_call_ints(call, "stride");
    const int64_t offset = op_call_int(call, "offset");
    if (size->count > OP_RANK_MAX || stride->count != size->count) {
        return op_call_fail(call, LEO_ERR_SHAPE, "size has %" PRIu64 " numbers and stride %" PRIu64,
                            size->count, stride->count);
    }
    if (!op_layout_fits((unsigned)size->count, size->items, stride->items, offset,
                        op_tensor_count(x))) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "the view from element %" PRId64 " on reaches beyond x of shape %s",
                            offset, op_tensor_shape_text(x).text);
    }
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor view = op_chain_dense(&chain, x->type, x);
    view.addr += (uint64_t)offset * op_type_bytes(x->type);
    view.rank = (unsigned)size->count;
    for (unsigned i = 0; i < view.rank; i++) {
        view.dim[i] = size->items[i];
        view.stride[i] = stride->items[i];
    }
    if (chain.status != LEO_OK) {
        return chain.status;
    }
    leo_status status = op_call_check_shape(call, "y", view.rank, view.dim);
    return status == LEO_OK && op_tensor_count(y) ? op_plan_copy(call->plan, y, &view) : status;
}

// Channels of `name` from block `offset` on as y has them: what the tensor has not is 0, as in the
// last block of its storage.
static leo_status take_channels(struct op_chain *chain, const char *name, int64_t offset,
                                struct op_tensor *out)
{
    const struct op_tensor *x = op_call_tensor(chain->call, name),
                           *y = op_call_tensor(chain->call, "y");
    bool fits = x->rank == y->rank && offset >= 0 && offset <= x->dim[1] / CHANNELS;
    for (unsigned i = 0; fits && i < y->rank; i++) {
        fits = i == 1 || x->dim[i] == y->dim[i];
    }
    const int64_t has = fits ? x->dim[1] - offset * CHANNELS : 0, wants = y->dim[1];
    if (!fits || (wants + CHANNELS - 1) / CHANNELS > (has + CHANNELS - 1) / CHANNELS) {
        return op_call_fail(chain->call, LEO_ERR_SHAPE,
                            "%s of shape %s has no %" PRId64 " channels from block %" PRId64 " on",
                            name, op_tensor_shape_text(x).text, wants, offset);
    }
    const struct op_tensor part = op_view_slice(x, 1, offset * CHANNELS, has < wants ? has : wants);
    *out = part;
    if (has < wants) {
        *out = op_chain_temp_like(chain, x->type, y);
        const struct op_tensor to = op_view_slice(out, 1, 0, has);
        op_chain_fill(chain, out, 0);
        op_chain_copy(chain, &to, &part);
    }
    return chain->status;
}

// The same without a copy, of blocks as y has them.
static bool take_blocks(const struct op_call *call, const char *name, int64_t offset,
                        struct op_tensor *out)
{
    const struct op_tensor *x = op_call_tensor(call, name), *y = op_call_tensor(call, "y");
    const int64_t from[] = {0, offset * CHANNELS, 0, 0};
    struct op_tensor stored;
    return offset >= 0 && x->rank == y->rank && offset <= x->dim[1] / CHANNELS &&
           from[1] + y->dim[1] <= x->dim[1] && op_layout_part(x, from, y->dim, out) &&
           same_blocks(out, y, &stored);
}

leo_status op_plan_stride_add(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    const int64_t blocks = op_call_int(call, "blocks"), first = op_call_int(call, "x1Offset"),
                  second = op_call_int(call, "x2Offset");
    const struct op_scalar one = op_scalar_int(1);
    struct op_tensor a, b, out = *y;
    // The last block may have fewer channels than a block has room for.
    if (y->rank < 2 || (y->dim[1] + CHANNELS - 1) / CHANNELS != blocks) {
        return op_call_fail(call, LEO_ERR_SHAPE, "y of shape %s has not %" PRId64 " blocks",
                            op_tensor_shape_text(y).text, blocks);
    }
    struct op_chain chain = op_chain_begin(call);
    if (take_blocks(call, "x1", first, &a) && take_blocks(call, "x2", second, &b)) {
        (void)op_layout_storage(y, &out);
    } else if (op_layout_any_native(call->row, call->args)) {
        return op_call_run_as_rows(call);
    } else if (take_channels(&chain, "x1", first, &a) == LEO_OK) {
        (void)take_channels(&chain, "x2", second, &b);
    }
    if (chain.status == LEO_OK) {
        OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&a), op_value_tensor(&b),
                      op_value_scalar(&one), op_value_tensor(&out));
    }
    return chain.status;
}

leo_status op_plan_permute(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const struct op_ints *perm = op_call_ints(call, "perm");
    unsigned order[OP_RANK_MAX] = {0}, seen = 0;
    bool fits = perm->count == x->rank;
    for (unsigned i = 0; fits && i < x->rank; i++) {
        fits = perm->items[i] >= 0 && perm->items[i] < x->rank;
        order[i] = fits ? (unsigned)perm->items[i] : 0;
        seen |= 1u << order[i];
    }
    if (!fits || seen != (1u << x->rank) - 1) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "perm does not name every dimension of x (shape %s) once",
                            op_tensor_shape_text(x).text);
    }
    const struct op_tensor turned = op_tensor_permute(x, order);
    leo_status status = op_call_check_shape(call, "y", turned.rank, turned.dim);
    return status == LEO_OK && op_tensor_count(y) ? op_plan_copy(call->plan, y, &turned) : status;
}

// The rows take one list of indices: index and y are seen with its dimensions as one.
leo_status op_plan_gather_axis(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *index = op_call_tensor(call, "index"),
                           *y = op_call_tensor(call, "y");
    const int64_t asked = op_call_int(call, "dim"), dim = asked < 0 ? asked + x->rank : asked,
                  count = op_tensor_count(index);
    if (dim < 0 || dim >= x->rank || x->rank + index->rank - 1 > OP_RANK_MAX) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "dim %" PRId64 " is out of range, x has shape %s and index %s", asked,
                            op_tensor_shape_text(x).text, op_tensor_shape_text(index).text);
    }
    int64_t wanted[OP_RANK_MAX], flat[OP_RANK_MAX];
    unsigned rank = 0;
    for (unsigned i = 0; i < x->rank; i++) {
        flat[i] = (int64_t)i == dim ? count : x->dim[i];
        for (unsigned k = 0; (int64_t)i == dim && k < index->rank; k++) {
            wanted[rank++] = index->dim[k];
        }
        if ((int64_t)i != dim) {
            wanted[rank++] = x->dim[i];
        }
    }
    leo_status status = op_call_check_shape(call, "y", rank, wanted);
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor dense = op_chain_dense(&chain, index->type, index),
                           list = op_view_shape(&dense, 1, &count),
                           made = op_tensor_is_dense(y)
                                      ? op_view_shape(y, x->rank, flat)
                                      : op_chain_temp(&chain, y->type, x->rank, flat);
    OP_CHAIN_CALL(&chain, "IndexSelect", op_value_tensor(x), op_value_int(dim),
                  op_value_tensor(&list), op_value_tensor(&made));
    if (!op_tensor_is_dense(y)) {
        const struct op_tensor shaped = op_view_shape(&made, rank, wanted);
        op_chain_copy(&chain, y, &shaped);
    }
    return chain.status;
}

leo_status op_plan_log_base(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const double base = op_call_real(call, "base");
    const char *row = base == 2 ? "Log2" : base == 10 ? "Log10" : "Log";
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(&chain, row, op_value_tensor(x), op_value_tensor(y));
    if (base > 0 && base != 2 && base != 10) {
        const struct op_scalar factor = op_scalar_real(1 / log(base));
        OP_CHAIN_CALL(&chain, "Muls", op_value_tensor(y), op_value_scalar(&factor),
                      op_value_tensor(y));
    }
    return chain.status;
}

// The elements of a matrix on a diagonal, `length` of them.
static struct op_tensor view_diagonal(const struct op_tensor *matrix, int64_t diagonal,
                                      int64_t length)
{
    struct op_tensor view = *matrix;
    const int64_t row = diagonal < 0 ? -diagonal : 0, column = diagonal > 0 ? diagonal : 0;
    view.addr += (uint64_t)(row * matrix->stride[0] + column * matrix->stride[1]) *
                 op_type_bytes(matrix->type);
    view.rank = 1;
    view.dim[0] = length;
    view.stride[0] = matrix->stride[0] + matrix->stride[1];
    return view;
}

static leo_status make_diagonal(const struct op_call *call, int64_t diagonal)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const int64_t size = x->dim[0] + (diagonal < 0 ? -diagonal : diagonal), shape[] = {size, size};
    leo_status status = op_call_check_shape(call, "y", 2, shape);
    if (status != LEO_OK || size == 0) {
        return status;
    }
    const struct op_tensor to = view_diagonal(y, diagonal, x->dim[0]);
    struct op_chain chain = op_chain_begin(call);
    op_chain_fill(&chain, y, 0);
    op_chain_copy(&chain, &to, x);
    return chain.status;
}

static leo_status take_diagonal(const struct op_call *call, int64_t diagonal)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const int64_t rows = x->dim[0] + (diagonal < 0 ? diagonal : 0),
                  columns = x->dim[1] - (diagonal > 0 ? diagonal : 0),
                  shorter = rows < columns ? rows : columns, length = shorter > 0 ? shorter : 0;
    leo_status status = op_call_check_shape(call, "y", 1, &length);
    if (status != LEO_OK || length == 0) {
        return status;
    }
    const struct op_tensor from = view_diagonal(x, diagonal, length);
    return op_plan_copy(call->plan, y, &from);
}

leo_status op_plan_acl_diag(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    const int64_t diagonal = op_call_int(call, "diagonal");
    const unsigned rank = strcmp(call->row->name, "AclDiag") == 0 ? 1 : 2;
    if (x->rank != rank || diagonal < -INT32_MAX || diagonal > INT32_MAX) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x has shape %s and diagonal is %" PRId64 ": x must have %u dimensions",
                            op_tensor_shape_text(x).text, diagonal, rank);
    }
    return rank == 1 ? make_diagonal(call, diagonal) : take_diagonal(call, diagonal);
}

leo_status op_plan_diag(const struct op_call *call)
{
    const struct op_value args[] = {*op_call_value(call, "self"), *op_call_value(call, "diagonal"),
                                    *op_call_value(call, "out")};
    return op_plan_call(
        call->plan, op_call_tensor(call, "self")->rank == 1 ? "AclDiag" : "AclDiagPart", args, 3);
}

leo_status op_plan_acl_fill_diagonal(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    leo_status status = op_call_check_shape(call, "y", x->rank, x->dim);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (op_tensor_alias(x, y) != OP_ALIAS_SAME) {
        op_chain_copy(&chain, y, x);
    }
    OP_CHAIN_CALL(&chain, "InplaceFillDiagonal", op_value_tensor(y),
                  op_value_scalar(op_call_scalar(call, "value")),
                  op_value_int(op_call_int(call, "wrap")));
    return chain.status;
}

leo_status op_plan_acl_sort_values(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor places = op_chain_temp_like(&chain, OP_TYPE_I64, y);
    OP_CHAIN_CALL(&chain, "Sort", op_value_tensor(op_call_tensor(call, "x")), op_value_int(1),
                  op_value_int(op_call_int(call, "dim")),
                  op_value_int(op_call_int(call, "descending")), op_value_tensor(y),
                  op_value_tensor(&places));
    return chain.status;
}
