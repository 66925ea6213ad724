/* SPDX-License-Identifier: Apache-2.0 */
/* Whole rows of a table by one list of indices. */
#include "index.h"

#include "index_args.h"

#include <string.h>

enum {
    BLOCK_BYTES = 32,
    ROWS_MAX = 4032, /* of a table in UB: 126 KiB beside two slots; copies take 4095 */
};

static bool is_list(const struct op_tensor *index)
{
    return (index->type == OP_TYPE_I32 || index->type == OP_TYPE_I64) && op_tensor_count(index) > 0;
}

uint32_t op_index_row_blocks(int64_t bytes)
{
    return bytes % BLOCK_BYTES == 0 && bytes <= OP_INDEX_SLOT ? (uint32_t)(bytes / BLOCK_BYTES) : 0;
}

static struct op_index_rows_args begin_args(const struct op_tensor *index, int64_t limit,
                                            uint32_t blocks)
{
    struct op_index_rows_args args;
    memset(&args, 0, sizeof(args));
    args.index = index->addr;
    args.index_type = (uint8_t)index->type;
    args.count = (uint64_t)op_tensor_count(index);
    args.limit = limit;
    args.blocks = blocks;
    args.skip = -1;
    return args;
}

leo_status op_index_plan_get_rows(struct op_plan *plan, const struct op_tensor *table,
                                  const struct op_tensor *index, const struct op_tensor *out,
                                  bool *taken)
{
    const unsigned unit = op_type_bytes(table->type);
    const uint32_t blocks = op_index_row_blocks(table->dim[1] * unit);
    *taken = blocks > 0 && table->type == out->type && table->stride[1] == 1 && is_list(index) &&
             op_tensor_is_dense(out);
    if (!*taken) {
        return LEO_OK;
    }
    struct op_tensor list;
    leo_status status = op_plan_dense(plan, index, index->type, &list);
    if (status != LEO_OK) {
        return status;
    }
    struct op_index_rows_args args = begin_args(&list, table->dim[0], blocks);
    args.table = table->addr;
    args.pitch = (uint64_t)table->stride[0] * unit;
    args.value = out->addr;
    args.rows = OP_INDEX_SLOT / (blocks * BLOCK_BYTES);
    const struct op_share share = op_share_make(args.count, 1, 1, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    return op_plan_launch(plan, "index_rows", "index_get_rows", share.blocks, &args, sizeof(args),
                          3);
}

leo_status op_index_plan_add_rows(struct op_plan *plan, const struct op_tensor *values,
                                  const struct op_tensor *index, int64_t skip,
                                  const struct op_tensor *sums, bool *taken)
{
    const uint32_t blocks = op_index_row_blocks(sums->dim[1] * 4);
    struct op_tensor dense, list;
    *taken = blocks > 0 && is_list(index) && sums->dim[0] > 0;
    if (!*taken) {
        return LEO_OK;
    }
    leo_status status = op_plan_dense(plan, values, OP_TYPE_F32, &dense);
    if (status == LEO_OK) {
        status = op_plan_dense(plan, index, index->type, &list);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_index_rows_args args = begin_args(&list, sums->dim[0], blocks);
    args.table = sums->addr;
    args.pitch = (uint64_t)blocks * BLOCK_BYTES;
    args.value = dense.addr;
    args.skip = skip;
    args.rows = sums->dim[0] < ROWS_MAX ? (uint32_t)sums->dim[0] : ROWS_MAX;
    args.parts = (uint32_t)((sums->dim[0] + args.rows - 1) / args.rows);
    const struct op_share share =
        op_share_make((uint64_t)blocks * args.parts, 1, 1, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    return op_plan_launch(plan, "index_rows", "index_add_rows", share.blocks, &args, sizeof(args),
                          3);
}

leo_status op_index_plan_put_rows(struct op_plan *plan, const struct op_tensor *values,
                                  const struct op_tensor *index, const struct op_tensor *table,
                                  bool *taken)
{
    const unsigned unit = op_type_bytes(table->type);
    const uint32_t blocks = op_index_row_blocks(table->dim[1] * unit);
    struct op_tensor dense, list;
    *taken = blocks > 0 && values->type == table->type && table->stride[1] == 1 && is_list(index);
    if (!*taken) {
        return LEO_OK;
    }
    leo_status status = op_plan_dense(plan, values, values->type, &dense);
    if (status == LEO_OK) {
        status = op_plan_dense(plan, index, index->type, &list);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_index_rows_args args = begin_args(&list, table->dim[0], blocks);
    args.table = table->addr;
    args.pitch = (uint64_t)table->stride[0] * unit;
    args.value = dense.addr;
    const struct op_share share = op_share_make(blocks, 1, 1, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    args.rows = (uint32_t)(OP_INDEX_SLOT / (share.per_block * BLOCK_BYTES));
    return op_plan_launch(plan, "index_rows", "index_put_rows", share.blocks, &args, sizeof(args),
                          3);
}
