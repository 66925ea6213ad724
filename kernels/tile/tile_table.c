/* SPDX-License-Identifier: Apache-2.0 */
#include "tile_table.h"
#include "../frame/members.h"
#include "tile_list.h"

#include "../frame/whole.h"

#include <leo/alloc.h>
#include <stddef.h>
#include <string.h>

/* Programs of one tensor, and of a list of them. */
struct programs {
    const char *single, *lists;
};

/* A table being made, and the steps that it replaces. */
struct table {
    struct op_plan *plan;
    const struct programs *programs;
    struct op_tile_table_args args;
    size_t bytes; /* of the launch */
    uint32_t members, step[OP_MEMBERS];
    uint64_t count; /* elements of all members */
};

// Arguments of a launch of one row of tensors, or NULL. What has a tail keeps its own launch.
static const struct op_tile_args *row_of(const struct op_plan *plan, uint32_t step,
                                         const char *program, size_t *bytes)
{
    const struct op_tile_args *args = op_plan_launch_args(plan, step, program, "tile_run", bytes);
    if (!args || args->outer || args->row || args->ramp_slot != OP_TILE_SLOTS ||
        args->columns > UINT32_MAX) {
        return NULL;
    }
    return op_plan_has_tail(plan, args->columns * args->out_bytes) ? NULL : args;
}

// Whether two launches differ in their tensors alone.
static bool is_same_list(const struct op_tile_args *a, size_t a_bytes, const struct op_tile_args *b,
                         size_t b_bytes)
{
    struct op_tile_args with = *a;
    with.columns = b->columns;
    with.pieces = b->pieces;
    with.pieces_a_row = b->pieces_a_row;
    with.per_block = b->per_block;
    with.tile = b->tile;
    const size_t from = offsetof(struct op_tile_args, columns);
    return a_bytes == b_bytes &&
           memcmp((const char *)&with + from, (const char *)b + from, b_bytes - from) == 0;
}

static void add_member(struct table *table, uint32_t step, const struct op_tile_args *args)
{
    uint64_t *addr = &table->args.addr[table->members * (1u + args->ins)];
    addr[0] = args->out;
    memcpy(addr + 1, args->in, args->ins * sizeof(*addr));
    table->args.members.member[table->members].count = (uint32_t)args->columns;
    table->step[table->members++] = step;
    table->count += args->columns;
}

// The launches that do what step `first` does.
static void collect(struct table *table, uint32_t first, uint32_t end)
{
    size_t bytes;
    const struct op_tile_args *args = row_of(table->plan, first, table->programs->single, &bytes);
    table->members = 0;
    table->count = 0;
    if (!args) {
        return;
    }
    memset(&table->args, 0, sizeof(table->args));
    memcpy(&table->args.tile, args, bytes);
    table->bytes = bytes;
    add_member(table, first, args);
    for (uint32_t step = first + 1; step < end && table->members < OP_MEMBERS &&
                                    (table->members + 1) * (1u + args->ins) <= OP_TABLE_ADDRESSES;
         step++) {
        const struct op_tile_args *other =
            row_of(table->plan, step, table->programs->single, &bytes);
        if (other && is_same_list(&table->args.tile, table->bytes, other, bytes)) {
            add_member(table, step, other);
        }
    }
}

static uint32_t cut(struct table *table)
{
    struct op_tile_args *tile = &table->args.tile;
    const uint32_t cores = op_plan_vector_cores(table->plan);
    const struct op_share piece =
        op_share_make(table->count, 128, OP_TILE_LEAST_BYTES / tile->out_bytes, cores);
    tile->tile = piece.per_block < tile->most ? (uint16_t)piece.per_block : tile->most;
    const struct op_share share =
        op_members_cut(&table->args.members, table->members, tile->tile, cores);
    tile->pieces = table->args.members.member[table->members].first;
    tile->per_block = (uint32_t)share.per_block;
    return share.blocks;
}

static leo_status launch(struct table *table)
{
    struct op_tile_args *tile = &table->args.tile;
    const uint32_t blocks = cut(table);
    tile->out = 0;
    memset(tile->in, 0, sizeof(tile->in));
    for (uint32_t i = table->members; i-- > 0;) {
        op_plan_drop_step(table->plan, table->step[i]);
    }
    return op_plan_launch(table->plan, table->programs->lists, "tile_run_table", blocks,
                          &table->args, offsetof(struct op_tile_table_args, tile) + table->bytes,
                          OP_TABLE_ADDRESSES);
}

leo_status op_tile_table_join(struct op_plan *plan, uint32_t from)
{
    static const struct programs programs[] = {{"tile", "tile_table"},
                                               {"tile_fallback", "tile_fallback_table"}};
    uint32_t end = op_plan_steps(plan);
    leo_status status = LEO_OK;
    if (end - from < 2) {
        return LEO_OK;
    }
    struct table *table = leo_calloc(1, sizeof(*table));
    if (!table) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a table of %u tensors",
                           end - from);
    }
    table->plan = plan;
    for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        table->programs = &programs[i];
        for (uint32_t step = from; status == LEO_OK && step < end;) {
            collect(table, step, end);
            if (table->members < 2) {
                step++;
                continue;
            }
            end -= table->members;
            status = launch(table);
        }
    }
    leo_free(table);
    return status;
}
