/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies without conversion by way of others that the vector unit has: into every so many elements
 * (the ones between are taken along), and other orders of dimensions for elements of 8 bytes (as
 * two words) and of 1 byte (as f16, which holds them).
 */
#include "../frame/chain.h"
#include "../frame/whole.h"
#include "move_steps.h"
#include "pointwise.h"

#include "move_args.h"

#include <string.h>

enum {
    LEAST_PUT = 2048,    // [A] elements; fewer are done sooner on the scalar unit
    LEAST_PUT_ROW = 4,   // [A] elements of a row
    LEAST_ROW = 64,      // [A] elements of a row
    LEAST_TURNED = 4096, // [A] elements
    LEAST_REPEATS = 16,  // [A] of an element
};

static struct op_tensor view_of(const struct op_pointwise_space *space, unsigned which,
                                uint64_t addr, enum op_type type)
{
    struct op_tensor view = op_tensor_dense(addr, type, space->rank, space->dim);
    for (unsigned d = 0; d < space->rank; d++) {
        view.stride[d] = space->stride[which][d];
    }
    return view;
}

static bool puts_steps(const struct op_pointwise_work *work, const struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1, bytes = op_type_bytes(work->out.type);
    const int64_t step = space->stride[0][last], row = space->dim[last];
    return (bytes == 2 || bytes == 4) && step > 1 && step <= OP_MOVE_STEP_MAX &&
           row >= LEAST_PUT_ROW && op_tensor_count(&work->out) >= LEAST_PUT &&
           op_pointwise_is_ascending(space);
}

// Rows of whole groups, at even distances.
static void put_rows(struct op_chain *chain, const struct op_tensor *to,
                     const struct op_tensor *from)
{
    struct op_tensor plane = *from;
    if (from->stride[1] != 1 || from->stride[0] < 0) {
        plane = op_chain_temp_like(chain, from->type, from);
        op_chain_copy(chain, &plane, from);
    }
    const struct op_move_steps steps = {.groups = to->addr,
                                        .rows = to->dim[0],
                                        .count = to->dim[1],
                                        .group_pitch = to->stride[0],
                                        .plane_pitch = plane.stride[0],
                                        .step = (uint32_t)to->stride[1],
                                        .bytes = op_type_bytes(to->type)};
    if (chain->status == LEO_OK) {
        chain->status = op_move_plan_put(chain->plan, &steps, plane.addr);
    }
}

// As put_rows, where the last row ends with its last element: behind that there may be nothing.
static void put_steps(struct op_chain *chain, const struct op_tensor *to,
                      const struct op_tensor *from)
{
    const int64_t rows = to->dim[0] - 1, groups = to->dim[1] - 1;
    const struct op_tensor upper = op_view_slice(to, 0, 0, rows),
                           upper_from = op_view_slice(from, 0, 0, rows),
                           lower = op_view_slice(to, 0, rows, 1),
                           lower_from = op_view_slice(from, 0, rows, 1),
                           head = op_view_slice(&lower, 1, 0, groups),
                           head_from = op_view_slice(&lower_from, 1, 0, groups),
                           end = op_view_slice(&lower, 1, groups, 1),
                           end_from = op_view_slice(&lower_from, 1, groups, 1);
    if (rows) {
        put_rows(chain, &upper, &upper_from);
    }
    put_rows(chain, &head, &head_from);
    op_chain_copy(chain, &end, &end_from);
}

// Rows that do not follow each other evenly, or share their last group: by way of a copy of them,
// which has whole groups.
static void put_groups(struct op_chain *chain, const struct op_tensor *to,
                       const struct op_tensor *from)
{
    const unsigned last = to->rank - 1;
    const int64_t step = to->stride[last], reach = (to->dim[last] - 1) * step + 1;
    struct op_tensor whole = *to, rows = *to;
    whole.dim[last] *= step;
    const struct op_tensor groups = op_chain_temp_like(chain, to->type, &whole),
                           body = op_view_slice(&groups, last, 0, reach),
                           dense = op_chain_dense(chain, from->type, from);
    struct op_tensor taken = groups;
    taken.dim[last] = to->dim[last];
    taken.stride[last] = step;
    rows.dim[last] = reach;
    rows.stride[last] = 1;
    if (chain->status == LEO_OK) { // behind a row's last element there may be no memory of it
        chain->status = op_plan_fill(chain->plan, groups.addr, 0, op_tensor_extent(&groups));
    }
    op_chain_copy(chain, &body, &rows);
    op_chain_copy(chain, &taken, &dense);
    op_chain_copy(chain, &rows, &body);
}

static void put(struct op_chain *chain, const struct op_pointwise_work *work,
                const struct op_pointwise_space *space)
{
    struct op_tensor to = view_of(space, 0, work->out.addr, work->out.type),
                     from = view_of(space, 1, work->tensors[0].addr, work->out.type);
    if (space->rank == 1) {
        const int64_t dim[] = {1, to.dim[0]}, stride[] = {0, to.stride[0]},
                      source[] = {0, from.stride[0]};
        to.rank = from.rank = 2;
        memcpy(to.dim, dim, sizeof(dim));
        memcpy(from.dim, dim, sizeof(dim));
        memcpy(to.stride, stride, sizeof(stride));
        memcpy(from.stride, source, sizeof(source));
    }
    if (to.rank == 2 && (to.dim[0] == 1 || to.stride[0] >= to.stride[1] * to.dim[1])) {
        put_steps(chain, &to, &from);
    } else {
        put_groups(chain, &to, &from);
    }
}

// Every so many elements of 8 bytes, of rows, side by side.
static bool takes_words(const struct op_pointwise_work *work,
                        const struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1;
    const int64_t step = space->stride[1][last], row = space->dim[last];
    return space->rank <= 2 && op_type_bytes(work->out.type) == 8 && step > 1 &&
           2 * step <= OP_MOVE_STEP_MAX && row >= LEAST_ROW && space->stride[0][last] == 1 &&
           op_tensor_count(&work->out) >= LEAST_PUT &&
           (space->rank == 1 ||
            (space->stride[0][0] == row && space->stride[1][0] > step * (row - 1)));
}

static void take_words(struct op_chain *chain, const struct op_pointwise_work *work,
                       const struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1;
    const struct op_tensor out = view_of(space, 0, work->out.addr, OP_TYPE_I64),
                           word[] = {op_chain_temp_like(chain, OP_TYPE_I32, &out),
                                     op_chain_temp_like(chain, OP_TYPE_I32, &out)};
    const uint64_t planes[] = {word[0].addr, word[1].addr};
    const struct op_move_steps steps = {.groups = work->tensors[0].addr,
                                        .rows = space->rank == 2 ? space->dim[0] : 1,
                                        .count = space->dim[last],
                                        .group_pitch =
                                            space->rank == 2 ? 2 * space->stride[1][0] : 0,
                                        .plane_pitch = space->dim[last],
                                        .step = 2 * (uint32_t)space->stride[1][last],
                                        .bytes = 4};
    if (chain->status == LEO_OK) {
        chain->status = op_move_plan_split(chain->plan, &steps, planes, 2);
    }
    if (chain->status == LEO_OK) {
        chain->status = op_move_plan_join(chain->plan, &word[0], &word[1], &out);
    }
}

// Whether each row is one element, in a dense output.
static bool repeats(const struct op_pointwise_work *work, const struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1;
    int64_t step = 1;
    for (unsigned d = space->rank; d-- > 0; step *= space->dim[d]) {
        if (space->stride[0][d] != step) {
            return false;
        }
    }
    return op_type_bytes(work->out.type) <= 8 && space->stride[1][last] == 0 &&
           space->dim[last] >= LEAST_REPEATS && step >= LEAST_TURNED;
}

// A list of the elements, repeated as rows, the other way round.
static void repeat_columns(struct op_chain *chain, const struct op_pointwise_work *work,
                           const struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1;
    const int64_t columns = space->dim[last], rows = op_tensor_count(&work->out) / columns,
                  dim[] = {columns, rows};
    const struct op_tensor all = view_of(space, 1, work->tensors[0].addr, work->out.type),
                           each = op_view_select(&all, last, 0),
                           list = op_chain_temp_like(chain, all.type, &each),
                           turned = op_chain_temp(chain, all.type, 2, dim);
    op_chain_copy(chain, &list, &each);
    struct op_tensor row = op_view_shape(&list, 1, &rows), wide;
    (void)op_tensor_broadcast(&row, 2, dim, &wide);
    op_chain_copy(chain, &turned, &wide);
    const int64_t back[] = {rows, columns};
    const struct op_tensor out = op_tensor_dense(work->out.addr, work->out.type, 2, back),
                           from = op_view_swap(&turned, 0, 1);
    op_chain_copy(chain, &out, &from);
}

// One element everywhere: a short list of it, repeated as rows.
static void repeat_one(struct op_chain *chain, const struct op_pointwise_work *work)
{
    const enum op_type type = work->out.type;
    const int64_t count = op_tensor_count(&work->out), length = 1024, rows = count / length,
                  dim[] = {rows, length}, rest = count - rows * length;
    const struct op_tensor row = op_chain_temp(chain, type, 1, &length),
                           one = op_tensor_dense(work->tensors[0].addr, type, 0, NULL),
                           out = op_tensor_dense(work->out.addr, type, 1, &count),
                           head = op_view_slice(&out, 0, 0, rows * length),
                           body = op_view_shape(&head, 2, dim),
                           tail = op_view_slice(&out, 0, rows * length, rest),
                           first = op_view_slice(&row, 0, 0, rest);
    struct op_tensor wide;
    (void)op_tensor_broadcast(&one, 1, &length, &wide);
    op_chain_copy(chain, &row, &wide);
    (void)op_tensor_broadcast(&row, 2, dim, &wide);
    op_chain_copy(chain, &body, &wide);
    if (rest) {
        op_chain_copy(chain, &tail, &first);
    }
}

// Whether the input's elements fill its memory without gaps, and so do the output's, in order.
static bool turns(const struct op_pointwise_work *work, const struct op_pointwise_space *space)
{
    const unsigned bytes = op_type_bytes(work->out.type);
    int64_t reach = 1, step = 1;
    for (unsigned d = space->rank; d-- > 0;) {
        if (space->stride[0][d] != step || space->stride[1][d] <= 0) {
            return false;
        }
        reach += (space->dim[d] - 1) * space->stride[1][d];
        step *= space->dim[d];
    }
    return (bytes == 1 || bytes == 8) && space->rank >= 2 && step >= LEAST_TURNED && reach == step;
}

static void turn_words(struct op_chain *chain, const struct op_pointwise_work *work,
                       const struct op_pointwise_space *space)
{
    const int64_t count = op_tensor_count(&work->out);
    const struct op_tensor wide = op_tensor_dense(work->tensors[0].addr, OP_TYPE_I64, 1, &count);
    struct op_tensor word[2] = {{0}}, turned[2];
    if (chain->status == LEO_OK) {
        chain->status = op_move_plan_words(chain->plan, &wide, &word[0], &word[1]);
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct op_tensor view = view_of(space, 1, word[i].addr, OP_TYPE_I32);
        turned[i] = op_chain_temp_like(chain, OP_TYPE_I32, &view);
        op_chain_copy(chain, &turned[i], &view);
    }
    if (chain->status == LEO_OK) {
        chain->status = op_move_plan_join(chain->plan, &turned[0], &turned[1], &work->out);
    }
}

static void turn_bytes(struct op_chain *chain, const struct op_pointwise_work *work,
                       const struct op_pointwise_space *space)
{
    const int64_t count = op_tensor_count(&work->out);
    const struct op_tensor in = op_tensor_dense(work->tensors[0].addr, work->out.type, 1, &count),
                           half = op_chain_temp_like(chain, OP_TYPE_F16, &in);
    op_chain_copy(chain, &half, &in);
    const struct op_tensor view = view_of(space, 1, half.addr, OP_TYPE_F16),
                           turned = op_chain_temp_like(chain, OP_TYPE_F16, &view),
                           out = view_of(space, 0, work->out.addr, work->out.type);
    op_chain_copy(chain, &turned, &view);
    op_chain_copy(chain, &out, &turned);
}

leo_status op_pointwise_plan_planes(const struct op_pointwise_work *work,
                                    const struct op_pointwise_space *space)
{
    struct op_chain chain = op_chain_begin(work->call);
    if (puts_steps(work, space)) {
        put(&chain, work, space);
    } else if (takes_words(work, space)) {
        take_words(&chain, work, space);
    } else if (repeats(work, space) && space->rank == 1) {
        repeat_one(&chain, work);
    } else if (repeats(work, space)) {
        repeat_columns(&chain, work, space);
    } else if (turns(work, space)) {
        (op_type_bytes(work->out.type) == 8 ? turn_words : turn_bytes)(&chain, work, space);
    } else {
        return OP_DECLINED;
    }
    return chain.status;
}
