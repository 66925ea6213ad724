/* SPDX-License-Identifier: Apache-2.0 */
/* Gather and scatter along one dimension with the table's lines in UB. */
#include "../frame/dims.h"
#include "index.h"

#include "index_lines_args.h"

#include <string.h>

enum {
    LINE = 64,
    BLOCK_BYTES = 32,
    LEAST = 256, // elements; fewer are not worth the loads
};

static uint64_t in_blocks(uint64_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

static bool joins(const struct op_index_lines *lines)
{
    return lines->mode == OP_INDEX_ADD || lines->mode == OP_INDEX_MUL;
}

static bool can_join(enum op_type type)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_BF16 ||
           type == OP_TYPE_I32 || type == OP_TYPE_I64;
}

// The tensors as [outer, length or count, inner].
static bool take_shape(const struct op_index_lines *lines, struct op_index_lines_args *args)
{
    const struct op_tensor *table = lines->table, *index = lines->index;
    bool fits = table->rank == index->rank && table->rank > 0 &&
                table->type == lines->value->type && op_type_bytes(table->type) <= 8 &&
                (!joins(lines) || can_join(table->type));
    args->outer = args->inner = 1;
    for (unsigned i = 0; fits && i < table->rank; i++) {
        if (i != lines->dim) {
            fits = table->dim[i] == index->dim[i];
            *(i < lines->dim ? &args->outer : &args->inner) *= (uint64_t)table->dim[i];
        }
    }
    if (!fits) {
        return false;
    }
    args->length = (uint64_t)table->dim[lines->dim];
    args->count = (uint64_t)index->dim[lines->dim];
    args->unit = op_type_bytes(table->type);
    args->type = (uint8_t)table->type;
    args->mode = lines->mode;
    args->index_bytes = joins(lines) ? 8 : (uint8_t)op_type_bytes(index->type);
    // Of a long line of which little is taken the lines of the elements are fewer bytes.
    return args->length > 0 && args->outer * args->count * args->inner >= LEAST &&
           (lines->mode != OP_INDEX_GET || args->count * LINE >= args->length * args->unit);
}

// Bytes of an index and of its value, each in a slot of its own: the larger.
static uint64_t slot_bytes(const struct op_index_lines_args *args)
{
    return args->index_bytes > args->unit ? args->index_bytes : args->unit;
}

// Whole rows: as many as UB holds, and as let blocks end where a line does, if tails of rows go
// through the scalar unit's cache.
static bool cut_rows(struct op_plan *plan, struct op_index_lines_args *args)
{
    const uint64_t written = args->mode == OP_INDEX_GET ? args->count : args->length,
                   slot = slot_bytes(args), row = in_blocks(args->length * args->unit),
                   indices = in_blocks(args->count * slot),
                   granule = op_plan_has_tail(plan, written * args->unit)
                                 ? op_row_granule(written, args->unit)
                                 : 1;
    uint64_t rows = OP_LINES_TABLE / row, chunk = args->count;
    if (rows > OP_LINES_SLOT / indices && OP_LINES_SLOT >= indices) {
        rows = OP_LINES_SLOT / indices;
    }
    if (indices > OP_LINES_SLOT) {
        rows = rows > 0 ? 1 : 0;
        chunk = OP_LINES_SLOT / slot;
    }
    const uint64_t cores = op_plan_vector_cores(plan), each = (args->outer + cores - 1) / cores;
    rows = rows < each ? rows : each;
    rows = (rows + granule - 1) / granule * granule;
    if (rows == 0 || rows * row > OP_LINES_TABLE || (rows > 1 && rows * indices > OP_LINES_SLOT)) {
        return false;
    }
    args->rows = (uint32_t)rows;
    args->chunk = (uint32_t)chunk;
    args->pieces = (args->outer + rows - 1) / rows;
    return true;
}

// Columns of one of outer, over all of its length.
static bool cut_columns(struct op_plan *plan, struct op_index_lines_args *args)
{
    const uint64_t quantum = BLOCK_BYTES / args->unit, cores = op_plan_vector_cores(plan);
    if (op_plan_has_tail(plan, args->inner * args->unit) ||
        args->length * BLOCK_BYTES > OP_LINES_TABLE) {
        return false;
    }
    uint64_t columns = OP_LINES_TABLE / (args->length * args->unit) / quantum * quantum;
    const uint64_t each = slot_bytes(args), most = OP_LINES_SLOT / each / quantum * quantum,
                   spread = ((args->outer * args->inner + cores - 1) / cores + quantum - 1) /
                            quantum * quantum;
    columns = columns < most ? columns : most;
    columns = columns < spread ? columns : spread;
    columns = columns > quantum ? columns : quantum;
    args->columns = (uint32_t)columns;
    const uint64_t width = columns < args->inner ? columns : args->inner,
                   chunk = OP_LINES_SLOT / in_blocks(width * each);
    args->chunk = (uint32_t)(chunk < args->count ? chunk : args->count);
    args->pieces = args->outer * ((args->inner + columns - 1) / columns);
    return true;
}

// Pieces fewer than the cores are read by several of them, each for a part of count that ends where
// a line of indices does; not where ends of rows go through the scalar unit's cache.
static void cut_parts(struct op_plan *plan, struct op_index_lines_args *args)
{
    const uint64_t cores = op_plan_vector_cores(plan), idle = cores / args->pieces,
                   most = (args->count * args->inner + LEAST - 1) / LEAST,
                   parts = idle < most ? idle : most;
    args->share = args->count;
    args->parts = 1;
    if (args->mode == OP_INDEX_GET && parts > 1 && !op_plan_has_tail(plan, 1)) {
        args->share = ((args->count + parts - 1) / parts + LINE - 1) / LINE * LINE;
        args->parts = (args->count + args->share - 1) / args->share;
    }
}

// Where a result is made: in its place, if that is dense and begins at a line.
static leo_status place(struct op_plan *plan, const struct op_tensor *given, struct op_tensor *made)
{
    *made = *given;
    return op_tensor_is_dense(given) && given->addr % LINE == 0
               ? LEO_OK
               : op_plan_temp(plan, given->type, given->rank, given->dim, made);
}

leo_status op_index_plan_lines(struct op_plan *plan, const struct op_index_lines *lines)
{
    struct op_index_lines_args args;
    struct op_tensor table, index, value, made;
    const bool get = lines->mode == OP_INDEX_GET;
    memset(&args, 0, sizeof(args));
    if (!take_shape(lines, &args) ||
        !(args.inner == 1 ? cut_rows(plan, &args) : cut_columns(plan, &args))) {
        return OP_DECLINED;
    }
    cut_parts(plan, &args);
    // Few pieces for many elements: the way by elements shares them among more cores.
    if (get && args.pieces * args.parts * 4 < op_plan_vector_cores(plan) &&
        args.chunk < args.count) {
        return OP_DECLINED;
    }
    const enum op_type places = args.index_bytes == 8 ? OP_TYPE_I64 : OP_TYPE_I32;
    leo_status status = op_plan_dense(plan, lines->table, lines->table->type, &table);
    if (status == LEO_OK) {
        status = op_plan_dense(plan, lines->index, places, &index);
    }
    if (status == LEO_OK) {
        status = place(plan, get ? lines->value : lines->out, &made);
    }
    if (status == LEO_OK && !get) {
        status = op_plan_dense(plan, lines->value, lines->value->type, &value);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.table = table.addr;
    args.index = index.addr;
    args.value = get ? made.addr : value.addr;
    args.out = get ? 0 : made.addr;
    const struct op_share share =
        op_share_make(args.pieces * args.parts, 1, 1, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    status =
        op_plan_launch(plan, "index_lines", "index_lines", share.blocks, &args, sizeof(args), 4);
    const struct op_tensor *given = get ? lines->value : lines->out;
    return status == LEO_OK && made.addr != given->addr ? op_plan_copy(plan, given, &made) : status;
}
