/* SPDX-License-Identifier: Apache-2.0 */
/* Pointwise operators on several rows in a tile: what is broadcast over rows or along them, rows
 * with gaps between them, and rows that are short. */
#include "../frame/whole.h"
#include "../tile/tile_list.h"

enum {
    BLOCK = 32,             // bytes: where a row of a tile begins
    LEAST_COLUMNS = 8,      // [A] shorter rows are mostly padding
    LONGEST_ROW = 4064,     // [A] a quarter of the largest tile
    ROWS_MAX = 4095,        // one copy instruction takes
    LEAST_COLUMN_ROWS = 64, // [A] a number a row costs about as much as so many elements
};

// Elements of a row in a tile: whole blocks of every type that is loaded or stored.
static int64_t padded(const struct op_pointwise_work *work, int64_t columns)
{
    unsigned least = op_type_bytes(work->out.type);
    for (unsigned i = 0; i < work->op->var_count; i++) {
        const unsigned bytes = work->is_tensor[i] ? op_type_bytes(work->tensors[i].type) : least;
        least = bytes < least ? bytes : least;
    }
    return op_round_up(columns, BLOCK / least);
}

// How each tensor lies in rows; false if one of them does not.
static bool find_kinds(struct op_list *list, const struct op_pointwise_space *space)
{
    const struct op_pointwise_work *work = list->work;
    const unsigned last = space->rank - 1;
    if (space->stride[0][last] != 1 || space->stride[0][last - 1] < space->dim[last]) {
        return false;
    }
    for (unsigned i = 0; i < work->op->var_count; i++) {
        const int64_t *stride = space->stride[1 + i];
        if (!work->is_tensor[i]) {
            continue;
        }
        if (stride[last] == 1 && stride[last - 1] >= space->dim[last]) {
            list->kind[i] = OP_TILE_DENSE;
        } else if (stride[last] == 1 && stride[last - 1] == 0) {
            list->kind[i] = OP_TILE_ROW;
        } else if (stride[last] == 0) {
            list->kind[i] = stride[last - 1] == 0 ? OP_TILE_ROW_NUMBER : OP_TILE_COLUMN;
        } else {
            return false;
        }
    }
    return true;
}

static bool has_kind(const struct op_list *list, enum op_tile_input kind)
{
    bool has = false;
    for (unsigned i = 0; i < list->work->op->var_count; i++) {
        has = has || (list->work->is_tensor[i] && list->kind[i] == kind);
    }
    return has;
}

// The parts are the outermost dimension.
static bool cut_columns(struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1;
    int64_t parts = (space->dim[last] + LONGEST_ROW - 1) / LONGEST_ROW;
    while (parts < space->dim[last] / BLOCK &&
           (space->dim[last] % parts || space->dim[last] / parts % BLOCK)) {
        parts++;
    }
    if (space->rank > OP_TILE_OUTER || space->dim[last] % parts ||
        space->dim[last] / parts % BLOCK) {
        return false;
    }
    const int64_t columns = space->dim[last] / parts;
    for (unsigned d = space->rank; d > 0; d--) {
        space->dim[d] = space->dim[d - 1];
    }
    space->dim[0] = parts;
    space->dim[last + 1] = columns;
    for (unsigned t = 0; t < 1 + OP_POINTWISE_MAX; t++) {
        int64_t *stride = space->stride[t];
        for (unsigned d = space->rank; d > 0; d--) {
            stride[d] = stride[d - 1];
        }
        stride[0] = stride[last + 1] * columns;
    }
    space->rank++;
    return true;
}

// Long rows that repeat can be cut into parts, each loaded once.
static bool repeats(const struct op_list *list)
{
    return has_kind(list, OP_TILE_ROW) && !has_kind(list, OP_TILE_COLUMN);
}

bool op_list_find_rows(struct op_list *list, struct op_pointwise_space *space)
{
    const struct op_pointwise_work *work = list->work;
    if (space->rank < 2 || space->rank - 1 > OP_TILE_OUTER ||
        space->dim[space->rank - 1] < LEAST_COLUMNS || space->dim[space->rank - 2] > UINT32_MAX ||
        !find_kinds(list, space)) {
        return false;
    }
    const int64_t columns = space->dim[space->rank - 1];
    // Infinities of what is not there would count as overflows of the coupled core.
    if (padded(work, columns) != columns && op_plan_chip(work->call->plan) == OP_ON_910A) {
        return false;
    }
    if (columns > LONGEST_ROW) {
        return repeats(list) && cut_columns(space);
    }
    return !has_kind(list, OP_TILE_COLUMN) || space->dim[space->rank - 2] > 1 ||
           columns < LEAST_COLUMN_ROWS;
}

int64_t op_list_even_columns(const struct op_pointwise_work *work,
                             const struct op_pointwise_space *space)
{
    enum { PART = 4032 }; // of LONGEST_ROW: what is left is at least LEAST_COLUMNS
    struct op_list list = {.work = work};
    const int64_t columns = space->dim[space->rank - 1];
    if (space->rank < 2 || columns <= LONGEST_ROW || op_plan_chip(work->call->plan) == OP_ON_910A ||
        !find_kinds(&list, space) || !repeats(&list)) {
        return 0;
    }
    return (columns - LEAST_COLUMNS) / PART * PART;
}

bool op_list_cut_into_rows(struct op_list *list, const struct op_pointwise_space *space)
{
    struct op_tile_args *args = list->args;
    const unsigned last = space->rank - 1;
    const int64_t columns = space->dim[last], row = padded(list->work, columns),
                  rows = space->dim[last - 1];
    const uint32_t cores = op_plan_vector_cores(list->work->call->plan);
    // Smaller pieces rather than idle cores.
    const struct op_share share =
        op_share_make((uint64_t)(op_tensor_count(&list->work->out) / columns), 1,
                      OP_TILE_LEAST_BYTES / (uint64_t)(columns * args->out_bytes) + 1, cores);
    int64_t of_tile = op_least(op_least(args->tile / row, rows), ROWS_MAX);
    of_tile = op_least(of_tile, (int64_t)share.per_block);
    if (of_tile < 1) {
        return false;
    }
    const int64_t pieces = (rows + of_tile - 1) / of_tile;
    args->row = (uint16_t)row;
    args->row_columns = (uint16_t)columns;
    args->tile_rows = (uint16_t)((rows + pieces - 1) / pieces);
    args->rows = (uint32_t)rows;
    args->tile = (uint16_t)(args->tile_rows * row);
    args->columns = (uint64_t)(rows * row);
    return true;
}
