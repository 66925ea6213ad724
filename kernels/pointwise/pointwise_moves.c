/* SPDX-License-Identifier: Apache-2.0 */
/* Copies without conversion that change the layout: rows with other pitches, and transposed
 * matrices, as DMA and vector transposition. */
#include "../chip/chip.h"
#include "../frame/whole.h"
#include "move_steps.h"
#include "pointwise.h"

#include "move_args.h"

#include <string.h>

enum {
    ROWS_BYTES = 2 * OP_MOVE_SLOT, /**< a tile of rows */
    ROWS_MAX = 4095,               /**< rows one copy instruction takes */
    ROWS_LEAST = 64,               /**< [A] of a part of a matrix */
    LINE = 512,                    /**< bytes of a line of the L2 */
    PADDED_ROWS = 16,
    WIDEST_TILE =
        1024, /**< columns of a transposed tile; the repeat counts of instructions hold them */
};

// Everything but dimensions `a` and `b` is outer.
static void set_outer(struct op_move_args *args, const struct op_pointwise_space *space, unsigned a,
                      unsigned b)
{
    for (unsigned d = 0; d < space->rank; d++) {
        if (d != a && d != b) {
            args->dim[args->outer] = space->dim[d];
            args->out_stride[args->outer] = space->stride[0][d] * args->bytes;
            args->in_stride[args->outer++] = space->stride[1][d] * args->bytes;
        }
    }
}

static uint64_t count_outer(const struct op_move_args *args)
{
    uint64_t count = 1;
    for (unsigned d = 0; d < args->outer; d++) {
        count *= (uint64_t)args->dim[d];
    }
    return count;
}

static leo_status launch(const struct op_pointwise_work *work, struct op_move_args *args,
                         const char *kernel)
{
    args->row_tiles = (uint32_t)((args->rows + args->tile_rows - 1) / args->tile_rows);
    args->column_tiles = (uint32_t)((args->columns + args->tile_columns - 1) / args->tile_columns);
    args->pieces = count_outer(args) * args->row_tiles * args->column_tiles;
    const struct op_share share =
        op_share_make(args->pieces, 1, 1, op_plan_vector_cores(work->call->plan));
    args->per_block = share.per_block;
    return op_plan_launch(work->call->plan, "move", kernel, share.blocks, args, sizeof(*args), 2);
}

/* Short pieces of long rows, the next ones in another matrix: all cores together go through so few
 * rows at a time that the L2 keeps their lines until the next matrix needs them. */
static void cut_rows(const struct op_pointwise_work *work, unsigned cores,
                     struct op_move_args *args)
{
    const struct leo_caps *caps = op_plan_caps(work->call->plan);
    const uint64_t bytes = args->columns * args->bytes,
                   pitch = args->in_pitch > args->out_pitch ? args->in_pitch : args->out_pitch,
                   most = caps->l2_bytes / 2 / LINE / cores;
    uint64_t cuts = most ? (args->rows + most - 1) / most : 0;
    if (bytes >= LINE || pitch < LINE || cuts < 2 || count_outer(args) < 2 ||
        args->outer == OP_MOVE_OUTER) {
        return;
    }
    while (args->rows % cuts && args->rows / cuts >= ROWS_LEAST) {
        cuts++;
    }
    const uint64_t rows = args->rows / cuts;
    if (rows < ROWS_LEAST) {
        return;
    }
    memmove(args->dim + 1, args->dim, args->outer * sizeof(*args->dim));
    memmove(args->in_stride + 1, args->in_stride, args->outer * sizeof(*args->in_stride));
    memmove(args->out_stride + 1, args->out_stride, args->outer * sizeof(*args->out_stride));
    args->dim[0] = (int64_t)cuts;
    args->in_stride[0] = (int64_t)(rows * args->in_pitch);
    args->out_stride[0] = (int64_t)(rows * args->out_pitch);
    args->outer++;
    args->rows = rows;
}

// Rows of the last dimension; the one before it is the matrix's.
static leo_status plan_rows(const struct op_pointwise_work *work,
                            const struct op_pointwise_space *space, struct op_move_args *args)
{
    const unsigned last = space->rank - 1, cores = op_plan_vector_cores(work->call->plan);
    args->columns = (uint64_t)space->dim[last];
    args->rows = (uint64_t)space->dim[last - 1];
    args->in_pitch = (uint64_t)space->stride[1][last - 1] * args->bytes;
    args->out_pitch = (uint64_t)space->stride[0][last - 1] * args->bytes;
    set_outer(args, space, last - 1, last);
    cut_rows(work, cores, args);
    args->tile_columns = (uint32_t)op_least((int64_t)args->columns, ROWS_BYTES / args->bytes);
    const int64_t most = ROWS_BYTES / op_round_up((int64_t)args->tile_columns * args->bytes, 32);
    // Smaller tiles rather than idle cores.
    const int64_t shared = (int64_t)((args->rows * count_outer(args) + cores - 1) / cores);
    args->tile_rows = (uint32_t)op_least(op_least((int64_t)args->rows, ROWS_MAX),
                                         op_least(most, shared ? shared : 1));
    return launch(work, args, "move_rows");
}

// The last dimension of the output against dimension `other`, which is the last one in the input's
// memory.
static leo_status plan_transposition(const struct op_pointwise_work *work,
                                     const struct op_pointwise_space *space,
                                     struct op_move_args *args, unsigned other)
{
    const unsigned last = space->rank - 1;
    // On the coupled core f32 goes through two more tiles of 16 bits, which are half as large.
    const bool halves = op_plan_chip(work->call->plan) == OP_ON_910A && args->bytes == 4;
    const int64_t room = OP_MOVE_SLOT / args->bytes / (halves ? 2 : 1),
                  side = halves || args->bytes == 4 ? 64 : 128;
    args->rows = (uint64_t)space->dim[last];
    args->columns = (uint64_t)space->dim[other];
    args->in_pitch = (uint64_t)space->stride[1][last] * args->bytes;
    args->out_pitch = (uint64_t)space->stride[0][other] * args->bytes;
    set_outer(args, space, other, last);
    int64_t rows = op_least(op_round_up((int64_t)args->rows, 16), side);
    const int64_t columns = op_least(op_least(op_round_up((int64_t)args->columns, 16), WIDEST_TILE),
                                     room / rows / 16 * 16);
    // A narrow matrix gets longer tiles.
    rows = op_least(op_least(op_round_up((int64_t)args->rows, 16), WIDEST_TILE),
                    room / columns / 16 * 16);
    args->tile_rows = (uint32_t)rows;
    args->tile_columns = (uint32_t)columns;
    return launch(work, args, "move_transpose");
}

leo_status op_pointwise_plan_padded(const struct op_call *call,
                                    const struct op_padded_channels *channels)
{
    struct op_pointwise_work work;
    struct op_move_args args;
    memset(&work, 0, sizeof(work));
    memset(&args, 0, sizeof(args));
    work.call = call;
    args.out = channels->out.addr;
    args.in = channels->in.addr;
    args.bytes = op_type_bytes(channels->out.type);
    args.padded = 1;
    const struct op_pointwise_space space = {
        .rank = 3,
        .dim = {channels->images, channels->positions, channels->channels},
        .stride = {{channels->out_image, PADDED_ROWS, 1},
                   {channels->in_image, 1, channels->in_channel}}};
    return plan_transposition(&work, &space, &args, 1);
}

enum {
    LEAST_STEPS = 32,   // [A] elements of a row: a tile costs as much as so many one by one
    LEAST_GROUPS = 512, // [A] in short rows, for which there are two steps more
};

// Every so many elements of rows.
static bool takes_steps(const struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1;
    return space->rank <= 2 && space->dim[last] >= LEAST_STEPS && space->stride[1][last] > 1 &&
           space->stride[1][last] <= OP_MOVE_STEP_MAX &&
           (space->rank == 1 ||
            space->stride[1][0] > space->stride[1][last] * (space->dim[last] - 1));
}

static leo_status plan_steps(const struct op_pointwise_work *work,
                             const struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1;
    const struct op_move_steps steps = {.groups = work->tensors[0].addr,
                                        .rows = space->rank == 2 ? space->dim[0] : 1,
                                        .count = space->dim[last],
                                        .group_pitch = space->rank == 2 ? space->stride[1][0] : 0,
                                        .plane_pitch = space->rank == 2 ? space->stride[0][0] : 0,
                                        .step = (uint32_t)space->stride[1][last],
                                        .bytes = op_type_bytes(work->out.type)};
    return op_move_plan_split(work->call->plan, &steps, &work->out.addr, 1);
}

// Every so many elements of rows that are short, or do not follow each other evenly: the output is
// dense.
static bool takes_groups(const struct op_pointwise_work *work,
                         const struct op_pointwise_space *space)
{
    const int64_t step = space->stride[1][space->rank - 1];
    return op_tensor_is_dense(&work->out) && op_tensor_count(&work->out) >= LEAST_GROUPS &&
           space->rank > 1 && step > 1 && step <= OP_MOVE_STEP_MAX;
}

// The rows are copied to memory where they are whole groups, and so one row of groups.
static leo_status plan_groups(const struct op_pointwise_work *work,
                              const struct op_pointwise_space *space)
{
    struct op_plan *plan = work->call->plan;
    const unsigned last = space->rank - 1;
    const int64_t step = space->stride[1][last];
    struct op_tensor rows = {.addr = work->tensors[0].addr,
                             .type = work->out.type,
                             .rank = space->rank},
                     groups, first;
    memcpy(rows.dim, space->dim, space->rank * sizeof(*rows.dim));
    memcpy(rows.stride, space->stride[1], space->rank * sizeof(*rows.stride));
    rows.stride[last] = 1;
    rows.dim[last] = space->dim[last] * step;
    leo_status status = op_plan_temp(plan, rows.type, rows.rank, rows.dim, &groups);
    if (status == LEO_OK) { // what is not taken of the last group of a row may be no memory of it
        status = op_plan_fill(plan, groups.addr, 0, op_tensor_extent(&groups));
    }
    rows.dim[last] -= step - 1;
    first = groups;
    first.dim[last] = rows.dim[last];
    if (status == LEO_OK) {
        status = op_plan_copy(plan, &first, &rows);
    }
    const struct op_move_steps steps = {.groups = groups.addr,
                                        .rows = 1,
                                        .count = op_tensor_count(&work->out),
                                        .step = (uint32_t)step,
                                        .bytes = op_type_bytes(work->out.type)};
    return status == LEO_OK ? op_move_plan_split(plan, &steps, &work->out.addr, 1) : status;
}

leo_status op_pointwise_plan_moves(const struct op_pointwise_work *work,
                                   const struct op_pointwise_space *space)
{
    struct op_move_args args;
    const unsigned last = space->rank - 1;
    if (!op_pointwise_is_copy(work) || work->tensors[0].type != work->out.type || space->rank < 1) {
        return OP_DECLINED;
    }
    if (space->stride[0][last] != 1) {
        return op_pointwise_plan_planes(work, space);
    }
    memset(&args, 0, sizeof(args));
    args.out = work->out.addr;
    args.in = work->tensors[0].addr;
    args.bytes = op_type_bytes(work->out.type);
    if (space->rank >= 2 && space->stride[1][last] == 1) {
        return plan_rows(work, space, &args);
    }
    if ((args.bytes != 2 && args.bytes != 4) || space->stride[1][last] == 0) {
        return op_pointwise_plan_planes(work, space);
    }
    if (takes_steps(space)) {
        return plan_steps(work, space);
    }
    for (unsigned d = last; d-- > 0;) {
        if (space->stride[1][d] == 1) {
            return plan_transposition(work, space, &args, d);
        }
    }
    return takes_groups(work, space) ? plan_groups(work, space) : OP_DECLINED;
}
