/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums and products in lanes: lines stand beside each other, dimension `dim` first. */
#include "scan.h"
#include "../frame/chain.h"
#include "../frame/variant.h"

#include "scan_args.h"

#include <string.h>

enum {
    LEAST_STEPS = 512, // [A] elements a scalar unit would go through; fewer are done sooner there
    WIDE = 64,         // elements of a row that fill a repeat
    LONG_PART =
        1024,        // [A] elements of a line; joining parts takes as long as going through so many
    MAX_LINES = 512, // [A] beside each other, parts of lines among them
    EXACT = 1 << 24, // integers that f32 holds
};

struct scan {
    struct op_chain chain;
    bool product;
    int64_t lines, length, parts, part; /**< parts * part >= length */
};

// Largest size of what the type holds.
static int64_t most_of(enum op_type type)
{
    return type == OP_TYPE_BOOL                         ? 1
           : type == OP_TYPE_U8 || type == OP_TYPE_I8   ? 255
           : type == OP_TYPE_I16 || type == OP_TYPE_U16 ? 65535
                                                        : EXACT;
}

static bool fits(const struct scan *scan, const struct op_tensor *self, const struct op_tensor *out,
                 uint32_t cores)
{
    const bool floats = self->type <= OP_TYPE_BF16 && out->type <= OP_TYPE_BF16;
    const bool integers = !scan->product &&
                          (out->type == OP_TYPE_I64 || out->type == OP_TYPE_I32) &&
                          !op_type_is_float(self->type) && !op_type_is_complex(self->type) &&
                          scan->length < EXACT / most_of(self->type);
    return (floats || integers) &&
           scan->length * ((scan->lines + cores - 1) / cores) >= LEAST_STEPS;
}

static void launch(struct scan *scan, const struct op_tensor *in, const struct op_tensor *out,
                   int64_t outer, int64_t length, int64_t inner)
{
    const int64_t cores = op_plan_vector_cores(scan->chain.plan);
    int64_t columns = ((outer * inner + cores - 1) / cores + 7) / 8 * 8;
    columns = columns < OP_SCAN_COLUMNS ? columns : OP_SCAN_COLUMNS;
    columns = columns < inner ? columns : inner;
    const uint64_t units = (uint64_t)(outer * ((inner + columns - 1) / columns));
    const struct op_share share = op_share_make(units, 1, 1, (uint32_t)cores);
    const struct op_scan_args args = {.in = in->addr,
                                      .out = out->addr,
                                      .outer = (uint64_t)outer,
                                      .length = (uint64_t)length,
                                      .inner = (uint64_t)inner,
                                      .per_block = share.per_block,
                                      .columns = (uint32_t)columns,
                                      .product = scan->product};
    if (scan->chain.status == LEO_OK) {
        scan->chain.status =
            op_plan_launch(scan->chain.plan, "scan", "scan", share.blocks, &args, sizeof(args), 2);
    }
}

// A matrix of totals [length, lines], with room for whole blocks of lines; all of it is written.
static struct op_tensor columns_temp(struct scan *scan, int64_t length, int64_t lines)
{
    const int64_t shape[] = {length, (lines + 7) / 8 * 8};
    const struct op_tensor made = op_chain_temp(&scan->chain, OP_TYPE_F32, 2, shape);
    if (shape[1] > lines) {
        op_chain_fill(&scan->chain, &made, 0);
    }
    return made;
}

// `tensor` of two dimensions, [lines, length]: its totals in place of it, cut in no parts.
static void scan_lines(struct scan *scan, const struct op_tensor *tensor)
{
    const int64_t lines = tensor->dim[0], length = tensor->dim[1];
    const struct op_tensor columns = columns_temp(scan, length, lines),
                           used = op_view_slice(&columns, 1, 0, lines),
                           turned = op_view_swap(&used, 0, 1);
    op_chain_copy(&scan->chain, &turned, tensor);
    launch(scan, &columns, &columns, 1, length, columns.dim[1]);
    op_chain_copy(&scan->chain, tensor, &turned);
}

// `rows`, dense [lines * parts, part], whose parts are done: what comes before a part joins it.
static void join_parts(struct scan *scan, const struct op_tensor *rows)
{
    const int64_t shape[] = {scan->lines, scan->parts}, column[] = {scan->lines * scan->parts, 1};
    const struct op_tensor totals = op_chain_temp(&scan->chain, OP_TYPE_F32, 2, shape),
                           before = op_chain_temp(&scan->chain, OP_TYPE_F32, 2, shape),
                           ends = op_view_slice(rows, 1, scan->part - 1, 1),
                           list = op_view_shape(&totals, 2, column),
                           factor = op_view_shape(&before, 2, column),
                           first = op_view_slice(&before, 1, 0, 1),
                           rest = op_view_slice(&before, 1, 1, scan->parts - 1),
                           from = op_view_slice(&totals, 1, 0, scan->parts - 1);
    const struct op_scalar one = op_scalar_int(1);
    op_chain_copy(&scan->chain, &list, &ends);
    scan_lines(scan, &totals);
    op_chain_fill(&scan->chain, &first, scan->product);
    op_chain_copy(&scan->chain, &rest, &from);
    if (scan->product) {
        OP_CHAIN_CALL(&scan->chain, "InplaceMul", op_value_tensor(rows), op_value_tensor(&factor));
    } else {
        OP_CHAIN_CALL(&scan->chain, "InplaceAdd", op_value_tensor(rows), op_value_tensor(&factor),
                      op_value_scalar(&one));
    }
}

// f32 memory seen as `shape`: `step` elements from one to the next along `dim`, the other
// dimensions in their order, lines `pitch` apart.
static struct op_tensor seen_as(const struct op_tensor *memory, const struct op_tensor *shape,
                                unsigned dim, int64_t step, int64_t pitch)
{
    struct op_tensor seen = *shape;
    seen.type = OP_TYPE_F32;
    seen.addr = memory->addr;
    for (unsigned i = seen.rank; i-- > 0;) {
        seen.stride[i] = i == dim ? step : pitch;
        pitch *= i == dim ? 1 : seen.dim[i];
    }
    return seen;
}

// out = `made`, f32 with out's shape.
static void deliver(struct scan *scan, const struct op_tensor *out, const struct op_tensor *made)
{
    const struct op_tensor dense =
        out->type == OP_TYPE_F32 ? *made : op_chain_dense(&scan->chain, OP_TYPE_F32, made);
    if (out->type == OP_TYPE_F32) {
        op_chain_copy(&scan->chain, out, made);
    } else if (!op_type_is_float(out->type)) {
        const struct op_tensor narrow = op_chain_dense(&scan->chain, OP_TYPE_I32, &dense);
        op_chain_copy(&scan->chain, out, &narrow);
    } else { // an infinity is no overflow
        OP_CHAIN_CALL(&scan->chain, "CopyExtreme", op_value_tensor(&dense), op_value_tensor(out));
    }
}

// Columns of a dense tensor as they lie.
static void plan_in_place(struct scan *scan, const struct op_tensor *self, unsigned dim,
                          const struct op_tensor *out)
{
    const struct op_tensor dense = op_chain_dense(&scan->chain, OP_TYPE_F32, self);
    int64_t outer = 1;
    for (unsigned i = 0; i < dim; i++) {
        outer *= self->dim[i];
    }
    const struct op_tensor made = op_chain_temp_like(&scan->chain, OP_TYPE_F32, self);
    launch(scan, &dense, &made, outer, scan->length, scan->lines / outer);
    deliver(scan, out, &made);
}

// Lines side by side, each a column.
static void plan_columns(struct scan *scan, const struct op_tensor *self, unsigned dim,
                         const struct op_tensor *out)
{
    const struct op_tensor columns = columns_temp(scan, scan->length, scan->lines),
                           seen = seen_as(&columns, self, dim, columns.dim[1], 1),
                           dense = op_chain_dense(&scan->chain, OP_TYPE_F32, self);
    op_chain_copy(&scan->chain, &seen, &dense);
    launch(scan, &columns, &columns, 1, scan->length, columns.dim[1]);
    deliver(scan, out, &seen);
}

// Few lines, or long ones: in parts.
static void plan_parts(struct scan *scan, const struct op_tensor *self, unsigned dim,
                       const struct op_tensor *out)
{
    const int64_t padded = scan->parts * scan->part, all[] = {scan->lines, padded},
                  shape[] = {scan->lines * scan->parts, scan->part};
    const struct op_tensor rows = op_chain_temp(&scan->chain, OP_TYPE_F32, 2, all),
                           parts = op_view_shape(&rows, 2, shape),
                           seen = seen_as(&rows, self, dim, 1, padded),
                           dense = op_chain_dense(&scan->chain, OP_TYPE_F32, self);
    if (padded > scan->length) {
        op_chain_fill(&scan->chain, &rows, scan->product);
    }
    op_chain_copy(&scan->chain, &seen, &dense);
    scan_lines(scan, &parts);
    join_parts(scan, &parts);
    deliver(scan, out, &seen);
}

leo_status op_scan_plan(const struct op_call *call, bool product, const struct op_tensor *self,
                        unsigned dim, const struct op_tensor *out)
{
    struct scan scan = {.chain = op_chain_begin(call), .product = product, .parts = 1};
    int64_t inner = 1;
    scan.length = self->rank ? self->dim[dim] : 1;
    scan.lines = op_tensor_count(self) / scan.length;
    for (unsigned i = dim + 1; i < self->rank; i++) {
        inner *= self->dim[i];
    }
    if (!fits(&scan, self, out, op_plan_vector_cores(call->plan))) {
        return op_decline(call->plan, "lanes",
                          "floats, or integers whose sums f32 holds, and many");
    }
    while (scan.lines * scan.parts < MAX_LINES && scan.length / scan.parts > LONG_PART &&
           inner == 1) {
        scan.parts *= 2;
    }
    scan.part = (scan.length + scan.parts - 1) / scan.parts;
    if (inner >= WIDE && inner % 8 == 0) {
        plan_in_place(&scan, self, dim, out);
    } else if (scan.parts > 1) {
        plan_parts(&scan, self, dim, out);
    } else {
        plan_columns(&scan, self, dim, out);
    }
    return scan.chain.status;
}
