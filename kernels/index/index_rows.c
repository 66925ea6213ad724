/* SPDX-License-Identifier: Apache-2.0 */
/* Whole rows of a table by one list of indices. */
#include "index.h"

#include "../frame/chain.h"
#include "../frame/whole.h"
#include "index_args.h"

#include <string.h>

enum {
    BLOCK_BYTES = 32,
    ROWS_MAX = 4032,   /* of a table in UB: 126 KiB beside two slots; copies take 4095 */
    SLICE_LEAST = 512, /* [A] bytes of a row that a core takes */
    COLUMN_GROUPS = 4, /* [A] cores that share a row: what rows are named often is shared too */
    LEAST_SHARE = 128, /* [A] of a table's rows, one in so many is changed if all of it is moved */
};

static bool is_list(const struct op_tensor *index)
{
    return (index->type == OP_TYPE_I32 || index->type == OP_TYPE_I64) && op_tensor_count(index) > 0;
}

uint32_t op_index_row_blocks(int64_t bytes)
{
    return bytes % BLOCK_BYTES == 0 && bytes <= OP_INDEX_SLOT ? (uint32_t)(bytes / BLOCK_BYTES) : 0;
}

// Rows of any length that are worth a transfer each.
static bool has_rows(int64_t bytes)
{
    return bytes >= BLOCK_BYTES && bytes <= OP_INDEX_SLOT;
}

bool op_index_is_worth_table(const struct op_tensor *index, const struct op_tensor *table)
{
    return op_tensor_count(index) * LEAST_SHARE >= table->dim[0];
}

// Whether rows of so many bytes are written as they are: the coupled core stores whole blocks.
static bool writes_rows(const struct op_plan *plan, int64_t bytes)
{
    return bytes % BLOCK_BYTES == 0 || op_plan_chip(plan) == OP_ON_910B;
}

// A temporary like `like`, of two dimensions, whose rows begin at blocks.
static leo_status temp_rows(struct op_plan *plan, enum op_type type, const int64_t *dim,
                            struct op_tensor *rows)
{
    const int64_t lanes = BLOCK_BYTES / op_type_bytes(type),
                  wide[] = {dim[0], (dim[1] + lanes - 1) / lanes * lanes};
    leo_status status = op_plan_temp(plan, type, 2, wide, rows);
    rows->dim[1] = dim[1];
    return status;
}

static struct op_index_rows_args begin_args(const struct op_tensor *index,
                                            const struct op_tensor *table,
                                            const struct op_tensor *values)
{
    const unsigned unit = op_type_bytes(table->type);
    struct op_index_rows_args args;
    memset(&args, 0, sizeof(args));
    args.table = table->addr;
    args.pitch = (uint64_t)table->stride[0] * unit;
    args.value = values->addr;
    args.value_pitch = (uint32_t)values->stride[0] * unit;
    args.index = index->addr;
    args.index_type = (uint8_t)index->type;
    args.count = (uint64_t)op_tensor_count(index);
    args.limit = table->dim[0];
    args.bytes = (uint32_t)table->dim[1] * unit;
    args.blocks = (args.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    args.skip = -1;
    return args;
}

leo_status op_index_plan_get_rows(struct op_plan *plan, const struct op_tensor *table,
                                  const struct op_tensor *index, const struct op_tensor *out)
{
    const int64_t bytes = table->dim[1] * op_type_bytes(table->type),
                  dim[] = {op_tensor_count(index), table->dim[1]};
    if (!has_rows(bytes) || table->type != out->type || table->stride[1] != 1 || !is_list(index) ||
        !op_tensor_is_dense(out)) {
        return OP_DECLINED;
    }
    struct op_tensor list, rows = op_view_shape(out, 2, dim);
    const struct op_tensor to = rows;
    const bool direct = writes_rows(plan, bytes);
    leo_status status = op_plan_dense(plan, index, index->type, &list);
    if (status == LEO_OK && !direct) {
        status = temp_rows(plan, out->type, dim, &rows);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_index_rows_args args = begin_args(&list, table, &rows);
    args.rows = OP_INDEX_SLOT / (args.blocks * BLOCK_BYTES);
    const struct op_share share = op_share_make(args.count, 1, 1, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    status =
        op_plan_launch(plan, "index_rows", "index_get_rows", share.blocks, &args, sizeof(args), 3);
    return status == LEO_OK && !direct ? op_plan_copy(plan, &to, &rows) : status;
}

// Rows of a table shared out by their numbers, and if that leaves cores idle, by columns. False: of
// too many rows, or of odd ones.
static bool share_sums(const struct op_plan *plan, struct op_index_sums_args *args,
                       uint32_t *blocks)
{
    const uint32_t cores = op_plan_vector_cores(plan);
    const int64_t most = op_most(args->bytes / SLICE_LEAST, 1);
    int64_t columns = op_least(most, COLUMN_GROUPS);
    if (args->bytes % BLOCK_BYTES || args->pitch % BLOCK_BYTES || args->value_pitch % BLOCK_BYTES) {
        return false;
    }
    args->row_groups = 1;
    while (args->row_groups * 2 * columns <= cores && args->row_groups * 2 <= args->limit) {
        args->row_groups *= 2;
        args->row_shift++;
    }
    columns = op_least(most, cores / args->row_groups);
    args->slice = (uint32_t)op_round_up(op_parts(args->bytes, columns), BLOCK_BYTES);
    *blocks = (uint32_t)op_parts(args->bytes, args->slice) * args->row_groups;
    return args->slice <= OP_SUMS_SLICE && args->value_pitch <= UINT16_MAX * BLOCK_BYTES &&
           op_parts(args->limit, args->row_groups) <= OP_SUMS_ROWS;
}

// Sums of dense rows and a dense list, into a table that is cleared first.
static leo_status sum_rows(struct op_plan *plan, const struct op_tensor *values,
                           const struct op_tensor *list, int64_t skip, const struct op_tensor *sums)
{
    const struct op_index_rows_args rows = begin_args(list, sums, values);
    struct op_index_sums_args args;
    uint32_t blocks = 0;
    memset(&args, 0, sizeof(args));
    args.table = rows.table;
    args.value = rows.value;
    args.index = rows.index;
    args.count = rows.count;
    args.pitch = rows.pitch;
    args.value_pitch = rows.value_pitch;
    args.limit = rows.limit;
    args.skip = skip;
    args.bytes = rows.bytes;
    args.index_type = rows.index_type;
    if (!share_sums(plan, &args, &blocks)) {
        return OP_DECLINED;
    }
    leo_status status =
        op_plan_fill(plan, sums->addr, 0, (uint64_t)sums->dim[0] * (uint64_t)args.pitch);
    return status == LEO_OK ? op_plan_launch(plan, "index_sums", "index_sum_rows", blocks, &args,
                                             sizeof(args), 3)
                            : status;
}

leo_status op_index_plan_add_rows(struct op_plan *plan, const struct op_tensor *values,
                                  const struct op_tensor *index, int64_t skip, const int64_t *dim,
                                  const struct op_tensor *out, struct op_tensor *sums)
{
    const int64_t list_dim[] = {op_tensor_count(index), dim[1]};
    const bool direct =
        out && out->type == OP_TYPE_F32 && op_tensor_is_dense(out) && dim[1] * 4 % BLOCK_BYTES == 0;
    struct op_tensor dense, list;
    if (!has_rows(dim[1] * 4) || !is_list(index) || dim[0] == 0) {
        return OP_DECLINED;
    }
    leo_status status = LEO_OK;
    if (direct) {
        *sums = op_view_shape(out, 2, dim);
    } else {
        status = temp_rows(plan, OP_TYPE_F32, dim, sums);
    }
    if (status == LEO_OK) {
        status = op_plan_dense(plan, values, OP_TYPE_F32, &dense);
    }
    if (status == LEO_OK) {
        status = op_plan_dense(plan, index, index->type, &list);
    }
    if (status != LEO_OK) {
        return status;
    }
    dense = op_view_shape(&dense, 2, list_dim);
    status = sum_rows(plan, &dense, &list, skip, sums);
    if (status != OP_DECLINED) {
        return status;
    }
    struct op_index_rows_args args = begin_args(&list, sums, &dense);
    args.skip = skip;
    args.rows = dim[0] < ROWS_MAX ? (uint32_t)dim[0] : ROWS_MAX;
    args.parts = (uint32_t)((dim[0] + args.rows - 1) / args.rows);
    const struct op_share share =
        op_share_make((uint64_t)args.blocks * args.parts, 1, 1, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    return op_plan_launch(plan, "index_rows", "index_add_rows", share.blocks, &args, sizeof(args),
                          3);
}

// Both with rows that begin at blocks, which the coupled core writes.
static leo_status take_apart(struct op_plan *plan, const struct op_tensor *table,
                             const struct op_tensor *values, struct op_tensor *table_rows,
                             struct op_tensor *value_rows)
{
    leo_status status = temp_rows(plan, table->type, table->dim, table_rows);
    if (status == LEO_OK) {
        status = temp_rows(plan, values->type, values->dim, value_rows);
    }
    if (status == LEO_OK) {
        status = op_plan_copy(plan, table_rows, table);
    }
    return status == LEO_OK ? op_plan_copy(plan, value_rows, values) : status;
}

// Rows are shared out by their columns of blocks, and if that leaves cores idle, by their numbers.
static uint32_t share_puts(const struct op_plan *plan, struct op_index_rows_args *args)
{
    enum { LEAST_PUTS = 8 }; // [A] of a core
    const struct op_share columns = op_share_make(args->blocks, 1, 1, op_plan_vector_cores(plan));
    const int64_t idle = op_plan_vector_cores(plan) / columns.blocks,
                  parts = op_least(op_least(idle, args->limit),
                                   op_parts((int64_t)args->count, LEAST_PUTS));
    args->per_block = columns.per_block;
    args->part_rows = op_parts(args->limit, parts);
    args->parts = (uint32_t)op_parts(args->limit, args->part_rows);
    return columns.blocks * args->parts;
}

leo_status op_index_plan_put_rows(struct op_plan *plan, const struct op_tensor *values,
                                  const struct op_tensor *index, int64_t skip,
                                  const struct op_tensor *table)
{
    const int64_t bytes = table->dim[1] * op_type_bytes(table->type),
                  dim[] = {op_tensor_count(index), table->dim[1]};
    struct op_tensor dense, list, rows = *table;
    const bool direct = writes_rows(plan, bytes);
    if (!has_rows(bytes) || values->type != table->type || table->stride[1] != 1 ||
        !is_list(index) || op_tensor_count(index) == 0) {
        return OP_DECLINED;
    }
    leo_status status = op_plan_dense(plan, values, values->type, &dense);
    if (status == LEO_OK) {
        status = op_plan_dense(plan, index, index->type, &list);
    }
    dense = op_view_shape(&dense, 2, dim);
    if (status == LEO_OK && !direct) {
        const struct op_tensor plain = dense;
        status = take_apart(plan, table, &plain, &rows, &dense);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_index_rows_args args = begin_args(&list, &rows, &dense);
    args.bytes = direct ? args.bytes : args.blocks * BLOCK_BYTES;
    args.skip = skip;
    const uint32_t blocks = share_puts(plan, &args);
    args.rows = (uint32_t)(OP_INDEX_SLOT / (args.per_block * BLOCK_BYTES));
    status = op_plan_launch(plan, "index_rows", "index_put_rows", blocks, &args, sizeof(args), 3);
    return status == LEO_OK && !direct ? op_plan_copy(plan, table, &rows) : status;
}
