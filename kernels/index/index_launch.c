/* SPDX-License-Identifier: Apache-2.0 */
/* A launch of the program that takes or changes elements one by one (index/index_device.c): its
 * arguments, and how blocks share it. */
#include "index_launch.h"

#include <string.h>

enum {
    LEAST_SHARED = 256, // elements; fewer are not worth another core
    LEAST_RANGES = 1024 // elements; fewer are not worth going through them on every core
};

// Everything but the table's and the indices' part.
void op_index_begin(struct op_index_args *args, unsigned rank, const int64_t *dim, uint8_t mode)
{
    memset(args, 0, sizeof(*args));
    args->rank = (uint8_t)rank;
    args->count = 1;
    for (unsigned i = 0; i < rank; i++) {
        args->dim[i] = dim[i];
        args->count *= (uint64_t)dim[i];
    }
    args->scale = 1;
    args->skip = INT64_MIN;
    args->mode = mode;
}

void op_index_set_table(struct op_index_args *args, const struct op_tensor *table)
{
    args->table = table->addr;
    args->table_type = (uint8_t)table->type;
}

void op_index_set_value(struct op_index_args *args, const struct op_tensor *value)
{
    args->value = value->addr;
    args->value_type = (uint8_t)value->type;
    for (unsigned i = 0; i < value->rank; i++) {
        args->value_stride[i] = value->stride[i] * op_type_bytes(value->type);
    }
}

// One more index tensor, seen with the shape of the index space from dimension `at` on.
void op_index_add_tensor(struct op_index_args *args, const struct op_tensor *index, unsigned at,
                         const struct op_tensor *table, unsigned dim)
{
    const unsigned k = args->indices++;
    args->index[k] = index->addr;
    args->index_type[k] = (uint8_t)index->type;
    for (unsigned i = 0; i < index->rank; i++) {
        args->index_stride[k][at + i] = index->stride[i] * op_type_bytes(index->type);
    }
    args->jump[k] = (table->rank ? table->stride[dim] : 0) * op_type_bytes(table->type);
    args->limit[k] = table->rank ? table->dim[dim] : 1;
}

/*
 * A dimension that is not indexed, by which blocks can share a table that is written: elements of
 * different blocks are in different lines of 64 bytes. Either every step of it is one of whole
 * lines and it is the outermost (what else moves stays within a step), or it is the innermost and
 * everything else moves by whole lines beyond it. The multiple of steps that blocks take, 0: none.
 */
static uint64_t shared_steps(const struct op_index_args *args, unsigned d, int64_t unit)
{
    const int64_t step = args->table_stride[d], line = 64;
    int64_t reach = unit, rest = (int64_t)args->table;
    for (unsigned i = 0; i < args->rank; i++) {
        if (i != d && args->table_stride[i] < 0) {
            return 0;
        }
        reach += i == d ? 0 : (args->dim[i] - 1) * args->table_stride[i];
        rest |= i == d ? 0 : args->table_stride[i];
    }
    for (unsigned k = 0; k < args->indices; k++) {
        reach += (args->limit[k] - 1) * args->jump[k];
        rest |= args->jump[k];
        if (args->jump[k] < 0) {
            return 0;
        }
    }
    if (step > 0 && step % line == 0 && (int64_t)args->table % line == 0 && reach <= step) {
        return 1;
    }
    int64_t least = INT64_MAX; // what else moves moves by at least so much
    for (unsigned i = 0; i < args->rank; i++) {
        const int64_t other = args->table_stride[i];
        least = i != d && args->dim[i] > 1 && other && other < least ? other : least;
    }
    for (unsigned k = 0; k < args->indices; k++) {
        least = args->jump[k] && args->jump[k] < least ? args->jump[k] : least;
    }
    return step == unit && rest % line == 0 && args->dim[d] * step <= least
               ? (uint64_t)(line / unit)
               : 0;
}

// Into how many blocks a launch that writes the table is cut.
static uint32_t share_table(struct op_index_args *args, uint32_t cores)
{
    const int64_t unit = op_type_bytes((enum op_type)args->table_type);
    struct op_share best = {.blocks = 1, .per_block = args->count};
    args->split = args->rank;
    for (unsigned d = 0; d < args->rank; d++) {
        const uint64_t steps = shared_steps(args, d, unit);
        if (steps == 0 || args->count < LEAST_SHARED) {
            continue;
        }
        const struct op_share share = op_share_make((uint64_t)args->dim[d], steps, 1, cores);
        if (share.blocks > best.blocks) {
            best = share;
            args->split = (uint8_t)d;
        }
    }
    args->per_block = best.per_block;
    return best.blocks;
}

// Whether the table is one dense list and so are the indices, and the values but for one that
// repeats; their positions are those of the index space.
static bool is_list(const struct op_index_args *args)
{
    const int64_t unit = op_type_bytes((enum op_type)args->table_type);
    int64_t index_step = args->indices ? op_type_bytes((enum op_type)args->index_type[0]) : 0,
            value_step = op_type_bytes((enum op_type)args->value_type);
    bool dense = true, repeats = true;
    if (args->indices != 1 || args->skip != INT64_MIN || args->jump[0] != unit) {
        return false;
    }
    for (unsigned i = args->rank; i-- > 0;) {
        if (args->dim[i] == 1) {
            continue;
        }
        if (args->table_stride[i] != 0 || args->index_stride[0][i] != index_step) {
            return false;
        }
        dense = dense && args->value_stride[i] == value_step;
        repeats = repeats && args->value_stride[i] == 0;
        index_step *= args->dim[i];
        value_step *= args->dim[i];
    }
    return dense || repeats;
}

// The table's list in parts, one for each core; blocks that would go through few elements each are
// not worth it.
static leo_status launch_ranges(const struct op_call *call, const struct op_index_args *args)
{
    enum { LINE = 64 };
    const unsigned unit = op_type_bytes((enum op_type)args->table_type);
    const int64_t count = (int64_t)args->count;
    const struct op_tensor given =
        op_tensor_dense(args->index[0], (enum op_type)args->index_type[0], 1, &count);
    struct op_tensor index;
    leo_status status = op_plan_dense(call->plan, &given, OP_TYPE_I64, &index);
    if (status != LEO_OK) {
        return status;
    }
    const bool repeats = args->rank == 0 || args->value_stride[args->rank - 1] == 0;
    struct op_index_ranges_args ranges = {
        .table = args->table,
        .value = args->value,
        .index = index.addr,
        .count = args->count,
        .limit = args->limit[0],
        .scale = args->scale,
        .table_type = args->table_type,
        .value_type = args->value_type,
        .mode = args->mode,
        .value_step = (uint8_t)(repeats ? 0 : op_type_bytes((enum op_type)args->value_type)),
    };
    const struct op_share share = op_share_make((uint64_t)args->limit[0], LINE / unit, LINE / unit,
                                                op_plan_vector_cores(call->plan));
    ranges.per_block = share.per_block;
    return op_plan_launch(call->plan, "index_ranges", "index_ranges", share.blocks, &ranges,
                          sizeof(ranges), 3);
}

leo_status op_index_launch(const struct op_call *call, struct op_index_args *args)
{
    if (args->count == 0) {
        return LEO_OK;
    }
    const bool get = args->mode == OP_INDEX_GET;
    const uint32_t cores = op_plan_vector_cores(call->plan);
    struct op_share share = op_share_make(args->count, 1, 16, cores);
    args->per_block = share.per_block;
    if (!get) {
        share.blocks = share_table(args, cores);
    }
    if (!get && share.blocks == 1 && args->count >= LEAST_RANGES && is_list(args)) {
        return launch_ranges(call, args);
    }
    return op_plan_launch(call->plan, "index", get ? "index_get" : "index_put", share.blocks, args,
                          sizeof(*args), 2 + OP_INDEX_MAX);
}

// Takes into a dense tensor in place of `out`.
leo_status op_index_get_into(const struct op_call *call, struct op_index_args *args,
                             const struct op_tensor *out)
{
    struct op_tensor made = *out;
    leo_status status = LEO_OK;
    if (!op_tensor_is_dense(out)) {
        status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &made);
    }
    if (status != LEO_OK) {
        return status;
    }
    args->value = made.addr;
    args->value_type = (uint8_t)made.type;
    status = op_index_launch(call, args);
    return status == LEO_OK && made.addr != out->addr ? op_plan_copy(call->plan, out, &made)
                                                      : status;
}
