/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies without conversion by way of others that the vector unit has: into every so many elements
 * (the ones between are taken along), and other orders of dimensions for elements of 8 bytes (as
 * two words) and of 1 byte (as f16, which holds them).
 */
#include "../frame/whole.h"
#include "chain.h"
#include "move_steps.h"
#include "pointwise.h"

#include "../device/move_args.h"

enum {
    LEAST_PUT = 2048,    // [A] elements; fewer are done sooner on the scalar unit
    LEAST_ROW = 64,      // [A] elements of a row, of which up to WHOLE are done there
    LEAST_TURNED = 4096, // [A] elements
    WHOLE = 16,          // groups that are whole blocks of 32 bytes
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
    return space->rank <= 2 && (bytes == 2 || bytes == 4) && step > 1 &&
           step <= OP_MOVE_STEP_MOST &&
           (space->stride[1][last] == 1 || space->stride[1][last] == 0) && row >= LEAST_ROW &&
           op_tensor_count(&work->out) >= LEAST_PUT &&
           (space->rank == 1 || space->stride[0][0] > step * (row - 1));
}

// Whole groups but the last one, behind whose element there may be nothing; the rest one by one.
static void put_steps(struct op_chain *chain, const struct op_pointwise_work *work,
                      const struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1;
    const int64_t row = space->dim[last], body = (row - 1) / WHOLE * WHOLE,
                  rows = space->rank == 2 ? space->dim[0] : 1, dim[] = {rows, body};
    struct op_tensor to = view_of(space, 0, work->out.addr, work->out.type),
                     from = view_of(space, 1, work->tensors[0].addr, work->out.type);
    struct op_move_steps steps = {.groups = to.addr,
                                  .rows = rows,
                                  .count = body,
                                  .group_pitch = space->rank == 2 ? to.stride[0] : 0,
                                  .plane_pitch = body,
                                  .step = (uint32_t)to.stride[last],
                                  .first = 1,
                                  .bytes = op_type_bytes(to.type)};
    uint64_t planes[OP_MOVE_STEP_MOST];
    for (uint32_t i = 0; i < steps.step; i++) {
        planes[i] = op_chain_temp(chain, to.type, 2, dim).addr;
    }
    const struct op_tensor head = op_view_slice(&from, last, 0, body);
    struct op_tensor own = op_tensor_dense(planes[0], to.type, 2, dim);
    own = space->rank == 2 ? own : op_view_select(&own, 0, 0);
    op_chain_copy(chain, &own, &head);
    if (chain->status == LEO_OK) {
        chain->status = op_move_plan_split(chain->plan, &steps, planes + 1, steps.step - 1);
    }
    if (chain->status == LEO_OK) {
        chain->status = op_move_plan_join_steps(chain->plan, &steps, planes);
    }
    to = op_view_slice(&to, last, body, row - body);
    from = op_view_slice(&from, last, body, row - body);
    op_chain_copy(chain, &to, &from);
}

// Every so many elements of 8 bytes, of rows, side by side.
static bool takes_words(const struct op_pointwise_work *work,
                        const struct op_pointwise_space *space)
{
    const unsigned last = space->rank - 1;
    const int64_t step = space->stride[1][last], row = space->dim[last];
    return space->rank <= 2 && op_type_bytes(work->out.type) == 8 && step > 1 &&
           2 * step <= OP_MOVE_STEP_MOST && row >= LEAST_ROW && space->stride[0][last] == 1 &&
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
           space->dim[last] >= WHOLE && step >= LEAST_TURNED;
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
                                    const struct op_pointwise_space *space, bool *done)
{
    struct op_chain chain = op_chain_begin(work->call);
    *done = true;
    if (puts_steps(work, space)) {
        put_steps(&chain, work, space);
    } else if (takes_words(work, space)) {
        take_words(&chain, work, space);
    } else if (repeats(work, space) && space->rank == 1) {
        repeat_one(&chain, work);
    } else if (repeats(work, space)) {
        repeat_columns(&chain, work, space);
    } else if (turns(work, space)) {
        (op_type_bytes(work->out.type) == 8 ? turn_words : turn_bytes)(&chain, work, space);
    } else {
        *done = false;
    }
    return chain.status;
}
