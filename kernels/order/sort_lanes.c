/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows sorted in the vector unit. Rows up to a part are sorted in UB. Of longer ones the parts are:
 * if few elements are kept, the first ones of all parts fit in UB again and are joined there; else
 * the sorted parts are merged two by two in global memory, all cores sharing the result.
 */
#include "sort_lanes.h"

#include "../frame/whole.h"
#include "sort_lanes_args.h"

bool op_lanes_take(const struct op_plan *plan, enum op_type type, int64_t length)
{
    return op_plan_chip(plan) == OP_ON_910B && length <= INT32_MAX - OP_LANES_PART &&
           (type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_BF16);
}

static leo_status launch(struct op_plan *plan, const char *kernel, uint64_t things,
                         uint64_t granule, struct op_lanes_args *args)
{
    enum { ADDRESSES = 5 };
    const struct op_share share =
        op_share_make(things, granule, granule, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    return op_plan_launch(plan, "sort_lanes", kernel, share.blocks, args, sizeof(*args), ADDRESSES);
}

// Rows of one part, as many a tile as a core has and UB holds.
static leo_status plan_rows(struct op_plan *plan, struct op_lanes_args *args)
{
    const uint64_t cores = op_plan_vector_cores(plan), each = (args->rows + cores - 1) / cores;
    args->batch = 1;
    args->room = (uint32_t)op_round_up((int64_t)args->length, OP_LANES_GROUP);
    if (args->length <= OP_LANES_TILE && each > 1) {
        args->room = OP_LANES_GROUP;
        while (args->room < args->length) {
            args->room *= 2;
        }
        const uint64_t most = OP_LANES_PART / args->room;
        args->batch = (uint32_t)(most < each ? most : each);
        args->batch = args->batch < OP_LANES_ROWS ? args->batch : OP_LANES_ROWS;
    }
    return launch(plan, "lanes_rows", args->rows, 1, args);
}

// How many runs of `run` records can be merged in UB, all of their lists being short enough.
static uint32_t runs_at_a_time(uint64_t run)
{
    uint64_t width = run;
    while (width <= OP_LANES_LIST) {
        width *= 4;
    }
    return (uint32_t)((width < OP_LANES_PART ? width : OP_LANES_PART) / run);
}

static void swap_records(struct op_lanes_args *args)
{
    const uint64_t items = args->items;
    args->items = args->merged;
    args->merged = items;
}

// The first records of all parts, joined until one run is left.
static leo_status join_runs(struct op_plan *plan, struct op_lanes_args *args)
{
    leo_status status = LEO_OK;
    args->batch = runs_at_a_time(args->run);
    while (status == LEO_OK) {
        const uint32_t groups = (args->runs + args->batch - 1) / args->batch,
                       others = args->runs - (groups - 1) * args->batch - 1;
        status = launch(plan, "lanes_join", args->rows * groups, 1, args);
        if (groups == 1) {
            break;
        }
        const uint64_t last = (uint64_t)others * args->run + args->last;
        args->last = (uint32_t)(last < args->run ? last : args->run);
        args->runs = groups;
        swap_records(args);
    }
    return status;
}

// All records of all parts, merged in global memory.
static leo_status merge_parts(struct op_plan *plan, struct op_lanes_args *args)
{
    enum { LEAST = 512 }; // [A] records that are worth a search for where they begin
    leo_status status = LEO_OK;
    for (args->width = OP_LANES_PART; args->width < args->pitch && status == LEO_OK;
         args->width *= 2) {
        status = launch(plan, "lanes_merge", args->rows * args->pitch, LEAST, args);
        swap_records(args);
    }
    return status == LEO_OK ? launch(plan, "lanes_give", args->rows * args->keep, LEAST, args)
                            : status;
}

static leo_status plan_parts(struct op_plan *plan, struct op_lanes_args *args)
{
    const uint64_t parts = (args->length + OP_LANES_PART - 1) / OP_LANES_PART,
                   rest = args->length - (parts - 1) * OP_LANES_PART,
                   run = op_round_up((int64_t)args->keep, OP_LANES_GROUP);
    // The NaN of ascending rows come first until results are given: no part could leave any out.
    const bool joins = args->descending && run <= OP_LANES_LIST;
    args->run = (uint32_t)(joins ? run : OP_LANES_PART);
    args->runs = (uint32_t)parts;
    args->last = (uint32_t)op_round_up((int64_t)rest, OP_LANES_GROUP);
    args->last = args->last < args->run ? args->last : args->run;
    args->pitch = (parts - 1) * args->run + args->last;
    const uint64_t bytes = args->rows * args->pitch * 8;
    leo_status status = op_plan_temp_bytes(plan, bytes, &args->items);
    if (status == LEO_OK) {
        status = op_plan_temp_bytes(plan, bytes, &args->merged);
    }
    if (status == LEO_OK) {
        status = launch(plan, "lanes_parts", args->rows * parts, 1, args);
    }
    if (status != LEO_OK) {
        return status;
    }
    return joins ? join_runs(plan, args) : merge_parts(plan, args);
}

leo_status op_lanes_plan(struct op_plan *plan, const struct op_lanes_rows *rows)
{
    struct op_lanes_args args = {
        .in = rows->in,
        .values = rows->values,
        .index = rows->index,
        .rows = rows->rows,
        .length = rows->length,
        .keep = rows->keep,
        .type = (uint8_t)rows->type,
        .descending = rows->descending,
    };
    return args.length <= OP_LANES_PART ? plan_rows(plan, &args) : plan_parts(plan, &args);
}
