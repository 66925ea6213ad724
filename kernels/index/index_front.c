/* SPDX-License-Identifier: Apache-2.0 */
/* Whole rows of what lies behind some dimensions, which are moved to the front for it: flip takes
 * them from the far end, a selection as its list says. */
#include "../frame/chain.h"
#include "index.h"

#include "index_args.h"

#include <string.h>

enum {
    ROWS_MAX = 32768, // [A] of the list of rows, which the scalar unit writes
    LEAST = 1024,     // elements; fewer are not worth the launches
};

// self with its turned dimensions first; how many elements these have.
static struct op_tensor turned_first(const struct op_tensor *self, const bool *turned,
                                     int64_t *count)
{
    struct op_tensor view = *self;
    unsigned at = 0;
    *count = 1;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < self->rank; i++) {
            if (turned[i] == (pass == 0)) {
                view.dim[at] = self->dim[i];
                view.stride[at++] = self->stride[i];
                *count *= pass == 0 ? self->dim[i] : 1;
            }
        }
    }
    return view;
}

// Into how many pieces of whole blocks a row of `bytes` is cut, that each may be copied at once; 0:
// it is none.
static int64_t pieces_of(int64_t bytes)
{
    int64_t pieces = 1;
    while (pieces < 64 && (bytes / pieces > OP_INDEX_SLOT || bytes % pieces)) {
        pieces++;
    }
    return bytes % pieces == 0 && op_index_row_blocks(bytes / pieces) > 0 ? pieces : 0;
}

// Piece j of row i comes from piece j of row count - 1 - i.
static struct op_tensor make_list(struct op_chain *chain, int64_t count, int64_t pieces)
{
    const int64_t shape[] = {count, pieces}, column[] = {count, 1};
    const struct op_tensor list = op_chain_temp(chain, OP_TYPE_I32, 2, shape),
                           rows = op_chain_temp(chain, OP_TYPE_I32, 2, column),
                           each = op_chain_temp(chain, OP_TYPE_I32, 1, &pieces);
    const struct op_scalar zero = op_scalar_int(0), one = op_scalar_int(1),
                           last = op_scalar_int((count - 1) * pieces),
                           back = op_scalar_int(-pieces);
    const struct op_tensor flat = op_view_shape(pieces == 1 ? &list : &rows, 1, &count);
    OP_CHAIN_CALL(chain, "Arange", op_value_scalar(&last), op_value_scalar(&zero),
                  op_value_scalar(&back), op_value_tensor(&flat));
    if (pieces > 1) {
        op_chain_range(chain, &each, 0, 1);
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(&rows), op_value_tensor(&each),
                      op_value_scalar(&one), op_value_tensor(&list));
    }
    return list;
}

leo_status op_index_plan_flip(const struct op_call *call, const struct op_tensor *self,
                              const bool *turned, const struct op_tensor *out)
{
    int64_t count, same;
    struct op_tensor from = turned_first(self, turned, &count);
    const struct op_tensor to = turned_first(out, turned, &same);
    const int64_t rest = op_tensor_count(self) / count,
                  pieces = pieces_of(rest * op_type_bytes(self->type));
    if (pieces == 0 || count * pieces > ROWS_MAX || op_tensor_count(self) < LEAST ||
        self->type != out->type) {
        return OP_DECLINED;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t shape[] = {count * pieces, rest / pieces};
    from = op_chain_dense(&chain, self->type, &from);
    const struct op_tensor made = op_tensor_is_dense(&to)
                                      ? to
                                      : op_chain_temp_like(&chain, out->type, &to),
                           table = op_view_shape(&from, 2, shape),
                           rows = op_view_shape(&made, 2, shape),
                           list = make_list(&chain, count, pieces);
    if (chain.status == LEO_OK) {
        chain.status = op_index_plan_get_rows(chain.plan, &table, &list, &rows);
    }
    if (made.addr != to.addr) {
        op_chain_copy(&chain, &to, &made);
    }
    return chain.status;
}

leo_status op_index_plan_select(struct op_plan *plan, const struct op_tensor *self, unsigned dim,
                                const struct op_tensor *index, const struct op_tensor *out)
{
    bool first[OP_RANK_MAX] = {false};
    int64_t count, places;
    first[dim] = true;
    const struct op_tensor from = turned_first(self, first, &count),
                           to = turned_first(out, first, &places);
    const int64_t rest = count ? op_tensor_count(self) / count : 0,
                  bytes = rest * op_type_bytes(self->type);
    struct op_tensor table, made;
    if (op_index_row_blocks(bytes) == 0 || places == 0 || self->type != out->type ||
        op_tensor_count(self) < LEAST) {
        return OP_DECLINED;
    }
    leo_status status = op_plan_dense(plan, &from, self->type, &table);
    if (status == LEO_OK) {
        status = op_plan_temp(plan, out->type, to.rank, to.dim, &made);
    }
    if (status != LEO_OK) {
        return status;
    }
    const int64_t rows[] = {count, rest}, results[] = {places, rest};
    const struct op_tensor lines = op_view_shape(&table, 2, rows),
                           taken_lines = op_view_shape(&made, 2, results);
    status = op_index_plan_get_rows(plan, &lines, index, &taken_lines);
    return status == LEO_OK ? op_plan_copy(plan, &to, &made) : status;
}
