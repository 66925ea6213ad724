/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear maps one dimension after the other, each on whole rows of what lies behind it; the last
 * dimension turned to the front, where the rows are what lies before it. It comes first, of a
 * gradient last: it is turned where the tensor is the map's input.
 */
#include "../frame/chain.h"
#include "../frame/variant.h"
#include "../frame/whole.h"
#include "resample.h"

#include "resample_rows_args.h"

#include <string.h>

enum {
    LEAST_WORK = 16384, // [A] products of a map that take the scalar units as long as some launches
    BLOCK = 8,          // elements of f32 that a copy takes
    LEAST_GROUP = 8,    // [A] rows of a result that are stored together, if there are so many
    MAX_GROUP = 64,
    MAX_COLUMNS = 2048,
    MAX_ROWS = 4095, // of a copy
    LAST = OP_RESAMPLE_DIMS - 1,
};

struct rows {
    struct op_chain chain;
    struct op_resample_args args;
    unsigned dims;
    int64_t planes;
    int64_t size[OP_RESAMPLE_DIMS]; /* of what is there by now */
    int64_t pitch;                  /* from row to row of it */
};

static int64_t size_before(const struct rows *r, unsigned d)
{
    return r->args.gradient ? r->args.dim[d].out : r->args.dim[d].in;
}

static int64_t size_after(const struct rows *r, unsigned d)
{
    return r->args.gradient ? r->args.dim[d].in : r->args.dim[d].out;
}

static bool is_pad(const struct rows *r)
{
    return r->args.kind >= OP_RESAMPLE_REFLECT && r->args.kind <= OP_RESAMPLE_WRAP;
}

// Whether the map leaves dimension d as it is.
static bool is_same(const struct rows *r, unsigned d)
{
    const struct op_resample_dim *dim = &r->args.dim[d];
    return d + r->dims < OP_RESAMPLE_DIMS || (is_pad(r) && dim->in == dim->out);
}

static struct op_resample_rows_args pass_of(const struct rows *r, unsigned d)
{
    const struct op_resample_dim *dim = &r->args.dim[d];
    const uint64_t rows = (uint64_t)size_after(r, d),
                   entries = op_resample_entries(dim, r->args.gradient);
    return (struct op_resample_rows_args){
        .table = r->args.table + (uint64_t)dim->table,
        .in_rows = (uint32_t)size_before(r, d),
        .out_rows = (uint32_t)rows,
        .count_at = (uint32_t)op_resample_counts_at(rows),
        .index_at = (uint32_t)op_resample_indices_at(rows),
        .weight_at = (uint32_t)op_resample_weights_at(rows, entries),
        .table_bytes = (uint32_t)op_round_up(
            (int64_t)(op_resample_weights_at(rows, entries) + entries * 4), 64),
    };
}

static bool has_room(const struct rows *r, const struct op_resample_rows_args *pass)
{
    const uint64_t slot = ((uint64_t)pass->in_rows + pass->group) * pass->columns * 4;
    return pass->table_bytes + 2 * slot <= op_plan_caps(r->chain.plan)->ub_bytes;
}

static bool holds(enum op_type type)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_BF16;
}

static bool fits(const struct rows *r, const struct op_tensor *a, const struct op_tensor *result)
{
    int64_t work = op_tensor_count(result);
    if (!holds(a->type) || !holds(result->type)) {
        return false;
    }
    for (unsigned d = 0; d < OP_RESAMPLE_DIMS; d++) {
        const struct op_resample_dim *dim = &r->args.dim[d];
        if (is_same(r, d)) {
            continue;
        }
        struct op_resample_rows_args pass = {.table_bytes = 0};
        if (dim->in > MAX_ROWS || dim->out > MAX_ROWS ||
            op_resample_entries(dim, r->args.gradient) >
                INT16_MAX) { // the table fits UB beside some rows
            return false;
        }
        pass = pass_of(r, d);
        pass.columns = BLOCK;
        pass.group = LEAST_GROUP;
        if (!has_room(r, &pass)) {
            return false;
        }
        work *= r->args.gradient ? op_parts(dim->out * dim->taps, dim->in) : dim->taps;
    }
    return work >= LEAST_WORK;
}

// The map along dimension d of [outer, size of d, inner].
static struct op_tensor map(struct rows *r, const struct op_tensor *in, unsigned d, int64_t outer,
                            int64_t inner)
{
    struct op_resample_rows_args pass = pass_of(r, d);
    const int64_t cores = op_plan_vector_cores(r->chain.plan),
                  dim[] = {outer, (int64_t)pass.out_rows, inner};
    const struct op_tensor out = op_chain_temp(&r->chain, OP_TYPE_F32, 3, dim);
    const int64_t share = op_round_up(op_parts(outer * inner, cores), BLOCK);
    pass.in = in->addr;
    pass.out = out.addr;
    pass.pitch = (uint32_t)inner;
    pass.columns = (uint32_t)op_least(op_least(share, MAX_COLUMNS), inner);
    pass.group = (uint32_t)op_least(pass.out_rows, MAX_GROUP);
    while (!has_room(r, &pass)) {
        if (pass.group > LEAST_GROUP) {
            pass.group = LEAST_GROUP;
        } else {
            pass.columns = (uint32_t)op_round_up(pass.columns / 2, BLOCK);
        }
    }
    pass.units = (uint64_t)(outer * op_parts(inner, pass.columns));
    const struct op_share parts = op_share_make(pass.units, 1, 1, (uint32_t)cores);
    pass.per_block = parts.per_block;
    if (r->chain.status == LEO_OK) {
        r->chain.status = op_plan_launch(r->chain.plan, "resample_rows", "resample_rows",
                                         parts.blocks, &pass, sizeof(pass), 3);
    }
    r->size[d] = pass.out_rows;
    return out;
}

// f32 memory as [planes, positions] in `shape`'s own dimensions: rows of the last one `pitch`
// apart, or, `turned`, the last one first and its rows `pitch` apart.
static struct op_tensor seen_as(const struct rows *r, const struct op_tensor *shape, uint64_t addr,
                                bool turned)
{
    struct op_tensor seen = *shape;
    int64_t step = turned ? 1 : r->pitch;
    seen.type = OP_TYPE_F32;
    seen.format = OP_FORMAT_ND;
    seen.addr = addr;
    for (unsigned i = seen.rank; i-- > 0;) {
        const unsigned behind = seen.rank - 1 - i;
        if (behind < r->dims) {
            seen.dim[i] = r->size[LAST - behind];
        }
        seen.stride[i] = behind == 0 ? (turned ? r->pitch : 1) : step;
        step *= behind == 0 ? 1 : seen.dim[i];
    }
    return seen;
}

static int64_t lines_of(const struct rows *r)
{
    return r->planes * r->size[0] * r->size[1];
}

// Room for what is there by now, seen as f32 rows, or turned; gaps are 0.
static struct op_tensor make_room(struct rows *r, bool turned)
{
    const int64_t width = turned ? lines_of(r) : r->size[LAST];
    r->pitch = op_round_up(width, BLOCK);
    const int64_t dim[] = {turned ? r->size[LAST] : lines_of(r), r->pitch};
    const struct op_tensor room = op_chain_temp(&r->chain, OP_TYPE_F32, 2, dim);
    if (r->pitch > width) {
        op_chain_fill(&r->chain, &room, 0);
    }
    return room;
}

// `seen`, of shape's kind, in rows or turned.
static struct op_tensor lay(struct rows *r, const struct op_tensor *shape,
                            const struct op_tensor *seen, bool turned, struct op_tensor *view)
{
    const struct op_tensor room = make_room(r, turned);
    *view = seen_as(r, shape, room.addr, turned);
    op_chain_copy(&r->chain, view, seen);
    return room;
}

static struct op_tensor map_last(struct rows *r, const struct op_tensor *shape,
                                 const struct op_tensor *seen)
{
    struct op_tensor view;
    const struct op_tensor columns = lay(r, shape, seen, true, &view),
                           made = map(r, &columns, LAST, 1, r->pitch);
    return seen_as(r, shape, made.addr, true);
}

static struct op_tensor map_others(struct rows *r, const struct op_tensor *shape,
                                   const struct op_tensor *seen)
{
    struct op_tensor view, now = lay(r, shape, seen, false, &view);
    for (unsigned k = 0; k < LAST; k++) {
        const unsigned d = r->args.gradient ? k : LAST - 1 - k;
        if (!is_same(r, d)) {
            now = map(r, &now, d, d ? r->planes * r->size[0] : r->planes,
                      d ? r->pitch : r->size[1] * r->pitch);
        }
    }
    return seen_as(r, shape, now.addr, false);
}

// result = `seen`, f32; an infinity is no overflow.
static void deliver(struct rows *r, const struct op_tensor *result, const struct op_tensor *seen)
{
    if (result->type == OP_TYPE_F32) {
        op_chain_copy(&r->chain, result, seen);
        return;
    }
    const struct op_tensor dense = op_chain_dense(&r->chain, OP_TYPE_F32, seen);
    OP_CHAIN_CALL(&r->chain, "CopyExtreme", op_value_tensor(&dense), op_value_tensor(result));
}

leo_status op_resample_plan_rows(const struct op_call *call, const struct op_resample_args *args,
                                 unsigned dims, uint64_t table_bytes, const struct op_tensor *a,
                                 const struct op_tensor *result)
{
    struct rows r = {.chain = op_chain_begin(call), .args = *args, .dims = dims, .planes = 1};
    if (!fits(&r, a, result)) {
        return op_decline(call->plan, "rows of UB", "floats, rows and windows that UB holds");
    }
    for (unsigned d = 0; d < OP_RESAMPLE_DIMS; d++) {
        r.size[d] = size_before(&r, d);
    }
    for (unsigned i = 0; i + dims < a->rank; i++) {
        r.planes *= a->dim[i];
    }
    r.args.lines = 1;
    r.chain.status = op_resample_plan_table(call->plan, &r.args, table_bytes);
    struct op_tensor seen = op_chain_dense(&r.chain, OP_TYPE_F32, a);
    const bool last = !is_same(&r, LAST), others = !is_same(&r, 0) || !is_same(&r, 1);
    if (last && !args->gradient) {
        seen = map_last(&r, result, &seen);
    }
    if (others) {
        seen = map_others(&r, result, &seen);
    }
    if (last && args->gradient) {
        seen = map_last(&r, result, &seen);
    }
    deliver(&r, result, &seen);
    return r.chain.status;
}
