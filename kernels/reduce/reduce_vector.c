/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions on the vector unit, one dimension after the other, the last first. Neighbouring
 * dimensions that are both reduced or both kept are one. Long ones are cut into pieces by the shape
 * alone, whose results are reduced again: the order of a sum does not depend on the cores.
 */
#include "reduce_vector.h"

#include "reduce_vector_args.h"

#include <math.h>
#include <string.h>

enum {
    LEAST = 64,         /**< elements; fewer are left to the scalar unit */
    LEAST_DENSE = 1024, /**< elements; fewer are not worth a copy before */
    ROW_PIECE = 16384,  /* [A] elements of a piece of a long row: some tiles */
    ROWS_PIECE = 64,    /* [A] rows of a piece of a long column, */
    ROWS_LONG = 512,    /* [A] which is one from so many on: fewer are not worth a second stage */
    ENOUGH = 64,        /* [A] parallel pieces that keep a chip's cores busy */
    LEAST_CHUNK = 64,   /**< columns: a repeat of the vector unit */
    LINE = 16,          /**< f32 of a 64-byte line: blocks share none */
};

/** What is left to do: a dense tensor of merged dimensions. */
struct work {
    struct op_plan *plan;
    struct op_tensor tensor;
    bool reduced[OP_RANK_MAX];
    uint8_t mode;
    enum op_reduce_step step; /**< of the first stage */
    uint64_t beside;
    const struct op_tensor *out; /**< takes the last stage's results as they are; or NULL */
};

static bool can_load(const struct op_plan *plan, enum op_type type)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 ||
           (type == OP_TYPE_BF16 && op_plan_chip(plan) == OP_ON_910B);
}

// Merges neighbours of one kind; dimensions of 1 go.
static void merge(struct work *work, const struct op_tensor *self, const bool *reduced)
{
    int64_t dim[OP_RANK_MAX];
    unsigned rank = 0;
    for (unsigned i = 0; i < self->rank; i++) {
        if (self->dim[i] == 1) {
            continue;
        }
        if (rank > 0 && work->reduced[rank - 1] == reduced[i]) {
            dim[rank - 1] *= self->dim[i];
        } else {
            work->reduced[rank] = reduced[i];
            dim[rank++] = self->dim[i];
        }
    }
    work->tensor = op_tensor_dense(self->addr, self->type, rank, dim);
}

static uint64_t parts(uint64_t count, uint64_t size)
{
    return (count + size - 1) / size;
}

// Results that blocks share the lines of: the coupled core's scalar unit stores ends of results.
static uint64_t least_outputs(const struct op_plan *plan)
{
    return op_plan_has_tail(plan, sizeof(float)) ? LINE : 1;
}

static leo_status launch_columns(struct op_plan *plan, struct op_reduce_vector_args *args,
                                 uint32_t cores)
{
    const uint64_t units = args->outer * args->pieces;
    uint64_t chunk = parts(parts(args->inner, parts(cores, units)), LINE) * LINE;
    chunk = chunk < LEAST_CHUNK ? LEAST_CHUNK : chunk;
    args->chunk = (uint32_t)(chunk > OP_REDUCE_CHUNK ? OP_REDUCE_CHUNK : chunk);
    const struct op_share share =
        op_share_make(units * parts(args->inner, args->chunk), 1, 1, cores);
    args->per_block = share.per_block;
    return op_plan_launch(plan, "reduce_vector", "reduce_columns", share.blocks, args,
                          sizeof(*args), 3);
}

leo_status op_reduce_plan_rows(struct op_plan *plan, const struct op_tensor *rows,
                               const struct op_tensor *out)
{
    struct op_reduce_vector_args args;
    memset(&args, 0, sizeof(args));
    args.in = rows->addr;
    args.out = out->addr;
    args.in_type = OP_TYPE_F32;
    args.mode = OP_REDUCE_VECTOR_SUM;
    args.outer = args.pieces = 1;
    args.length = args.piece = (uint64_t)rows->dim[0];
    args.inner = args.in_pitch = args.out_pitch = (uint64_t)rows->dim[1];
    args.scale = 1;
    return launch_columns(
        plan, &args, op_plan_cores_for(plan, (args.length + 1) * args.inner * sizeof(float), 0));
}

// Whether this stage writes the output: it is the last, and one block or a core that stores any
// number of bytes has no line of its own to keep.
static bool is_direct(const struct work *work, const struct op_reduce_vector_args *args)
{
    return work->out && args->pieces == 1 &&
           (args->outer * args->inner == 1 || !op_plan_has_tail(work->plan, sizeof(float)));
}

// What one core would take for a stage along rows beside their bytes.
static uint64_t row_cycles(const struct op_reduce_vector_args *args)
{
    enum { HEAD = 30 /* [A] cycles of an instruction beside its repeats */ };
    static const uint8_t instructions[] = {
        [OP_REDUCE_SQUARE] = 1, [OP_REDUCE_SIZE] = 1, [OP_REDUCE_IS_SET] = 2,
        [OP_REDUCE_NUMBER] = 2, [OP_REDUCE_AWAY] = 1, [OP_REDUCE_AWAY_SQUARE] = 2,
        [OP_REDUCE_PLACE] = 2,
    };
    return args->outer * args->pieces * (1u + instructions[args->step]) *
           (parts(args->piece, LEAST_CHUNK) + HEAD);
}

// [outer, length, inner] -> f32 [outer, pieces, inner]; *made is where they are.
static leo_status plan_stage(struct work *work, struct op_reduce_vector_args *args,
                             struct op_tensor *made)
{
    const uint32_t cores = op_plan_vector_cores(work->plan);
    const bool rows = args->inner == 1, direct = is_direct(work, args);
    args->mode = work->mode;
    args->out_pitch = rows || direct ? args->inner : parts(args->inner, LINE) * LINE;
    const int64_t dim[] = {(int64_t)args->outer, (int64_t)args->pieces, (int64_t)args->out_pitch};
    leo_status status = LEO_OK;
    if (direct) {
        *made = op_tensor_dense(work->out->addr, OP_TYPE_F32, 3, dim);
    } else {
        status = op_plan_temp(work->plan, OP_TYPE_F32, 3, dim, made);
    }
    if (status != LEO_OK) {
        return status;
    }
    made->dim[2] = (int64_t)args->inner;
    args->out = made->addr;
    if (rows) {
        const uint64_t least = least_outputs(work->plan);
        const struct op_share share = op_share_make(
            args->outer * args->pieces, least, least,
            op_plan_cores_for(work->plan, args->outer * args->length * op_type_bytes(args->in_type),
                              row_cycles(args)));
        args->per_block = share.per_block;
        return op_plan_launch(work->plan, "reduce_vector", "reduce_rows", share.blocks, args,
                              sizeof(*args), 3);
    }
    return launch_columns(work->plan, args, cores);
}

// How long a piece is: all of it unless it is long and there is not enough else to do.
static uint64_t piece_of(const struct op_reduce_vector_args *args)
{
    const uint64_t most = args->inner == 1 ? ROW_PIECE : ROWS_PIECE;
    const uint64_t beside = args->outer * parts(args->inner, LEAST_CHUNK);
    return args->length >= (args->inner == 1 ? 2 * most : ROWS_LONG) && beside < ENOUGH
               ? most
               : args->length;
}

// Reduces dimension `at` of the tensor.
static leo_status reduce_dim(struct work *work, unsigned at, float scale)
{
    struct op_tensor *tensor = &work->tensor;
    struct op_reduce_vector_args args;
    struct op_tensor dense, made;
    leo_status status = op_plan_dense(work->plan, tensor, tensor->type, &dense);
    memset(&args, 0, sizeof(args));
    args.outer = args.inner = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        args.outer *= i < at ? (uint64_t)tensor->dim[i] : 1;
        args.inner *= i > at ? (uint64_t)tensor->dim[i] : 1;
    }
    args.in = dense.addr;
    args.in_type = (uint8_t)dense.type;
    args.length = (uint64_t)tensor->dim[at];
    args.in_pitch = args.inner;
    do {
        args.piece = piece_of(&args);
        args.pieces = parts(args.length, args.piece);
        args.scale = args.pieces == 1 ? scale : 1;
        args.step = (uint8_t)work->step;
        args.beside = work->beside;
        work->step = OP_REDUCE_AS_IT_IS;
        work->beside = 0;
        if (status == LEO_OK) {
            status = plan_stage(work, &args, &made);
        }
        if (status != LEO_OK) {
            return status;
        }
        args.in = made.addr;
        args.in_type = OP_TYPE_F32;
        args.in_pitch = args.out_pitch;
        args.length = args.pieces;
    } while (args.length > 1);
    // The dimensions before stay as they are; those behind are one of `inner`, with its pitch.
    struct op_tensor next = {.addr = made.addr, .type = OP_TYPE_F32, .rank = tensor->rank - 1};
    int64_t stride = (int64_t)args.out_pitch;
    for (unsigned i = at; i + 1 < tensor->rank; i++) {
        next.dim[i] = tensor->dim[i + 1];
        next.stride[i] = 1; // one dimension at most: neighbours are merged
    }
    for (unsigned i = at; i-- > 0;) {
        next.dim[i] = tensor->dim[i];
        next.stride[i] = stride;
        stride *= tensor->dim[i];
    }
    memmove(work->reduced + at, work->reduced + at + 1,
            (tensor->rank - at - 1) * sizeof(*work->reduced));
    *tensor = next;
    return LEO_OK;
}

static int last_reduced(const struct work *work, unsigned *left)
{
    int last = -1;
    *left = 0;
    for (unsigned i = 0; i < work->tensor.rank; i++) {
        if (work->reduced[i]) {
            last = (int)i;
            ++*left;
        }
    }
    return last;
}

// Neighbours may be of one kind again once what was between them is gone.
static leo_status tidy(struct work *work)
{
    const struct op_tensor before = work->tensor;
    bool reduced[OP_RANK_MAX];
    struct op_tensor dense;
    leo_status status = op_plan_dense(work->plan, &before, before.type, &dense);
    memcpy(reduced, work->reduced, sizeof(reduced));
    memset(work->reduced, 0, sizeof(work->reduced));
    merge(work, &dense, reduced);
    return status;
}

static bool has_mode(enum op_reduce_mode mode, double order, uint8_t *out)
{
    switch (mode) {
    case OP_REDUCE_NORM:
        *out = OP_REDUCE_VECTOR_SUM;
        return order == 2;
    case OP_REDUCE_SUM:
    case OP_REDUCE_MEAN:
        *out = OP_REDUCE_VECTOR_SUM;
        return true;
    case OP_REDUCE_PROD:
        *out = OP_REDUCE_VECTOR_PROD;
        return true;
    case OP_REDUCE_MAX:
    case OP_REDUCE_MIN:
        *out = mode == OP_REDUCE_MAX ? OP_REDUCE_VECTOR_MAX : OP_REDUCE_VECTOR_MIN;
        return true;
    default:
        return false;
    }
}

// The result has the elements of `out` in order, maybe with gaps behind rows.
static leo_status deliver(struct work *work, enum op_reduce_mode mode, const struct op_tensor *out)
{
    struct op_tensor to =
        op_tensor_dense(out->addr, out->type, work->tensor.rank, work->tensor.dim);
    if (work->out && work->tensor.addr == work->out->addr) {
        return LEO_OK; // the last stage wrote it
    }
    if (mode == OP_REDUCE_SUM || mode == OP_REDUCE_MEAN || mode == OP_REDUCE_PROD) {
        return op_plan_copy(work->plan, &to, &work->tensor);
    }
    const struct op_value args[] = {op_value_tensor(&work->tensor), op_value_tensor(&to)};
    return op_plan_call(work->plan, mode == OP_REDUCE_NORM ? "Sqrt" : "CopyExtreme", args, 2);
}

bool op_reduce_has_rows(const struct op_tensor *self, const bool *reduced)
{
    bool rows = true, inside = false;
    for (unsigned i = 0; i < self->rank; i++) {
        inside = inside || (reduced[i] && self->dim[i] > 1);
        rows = rows && (!inside || reduced[i] || self->dim[i] == 1);
    }
    return rows && inside;
}

// Sums, products and extremes, one dimension after the other.
static leo_status reduce_all(struct work *work, const struct op_reduce_input *input, float scale,
                             enum op_reduce_mode mode, const struct op_tensor *out)
{
    struct op_tensor dense;
    unsigned left;
    leo_status status = op_plan_dense(work->plan, input->self, input->self->type, &dense);
    if (status != LEO_OK) {
        return status;
    }
    merge(work, &dense, input->reduced);
    int at = last_reduced(work, &left);
    if (at < 0) { // every reduced dimension is 1
        return OP_DECLINED;
    }
    const bool plain = mode != OP_REDUCE_NORM && out->type == OP_TYPE_F32;
    while (at >= 0 && status == LEO_OK) {
        work->out = plain && left == 1 ? out : NULL;
        status = reduce_dim(work, (unsigned)at, left == 1 ? scale : 1);
        at = last_reduced(work, &left);
        if (status == LEO_OK && at >= 0) {
            status = tidy(work);
            at = last_reduced(work, &left);
        }
    }
    return status == LEO_OK ? deliver(work, mode, out) : status;
}

static leo_status plan_input(struct op_plan *plan, const struct op_reduce_input *input,
                             enum op_reduce_mode mode, double order, const struct op_tensor *out)
{
    struct work work = {.plan = plan,
                        .step = mode == OP_REDUCE_NORM ? OP_REDUCE_SQUARE : input->step,
                        .beside = input->beside ? input->beside->addr : 0};
    const struct op_tensor *self = input->self;
    const int64_t count = op_tensor_count(self);
    if (!has_mode(mode, order, &work.mode) || !can_load(plan, self->type) ||
        !can_load(plan, out->type) || count < LEAST ||
        (!op_tensor_is_dense(self) && count < LEAST_DENSE)) {
        return OP_DECLINED;
    }
    double outputs = 1;
    for (unsigned i = 0; i < self->rank; i++) {
        outputs *= input->reduced[i] ? 1 : (double)self->dim[i];
    }
    return reduce_all(&work, input, mode == OP_REDUCE_MEAN ? (float)(outputs / (double)count) : 1,
                      mode, out);
}

leo_status op_reduce_plan_vector(struct op_plan *plan, const struct op_tensor *self,
                                 const bool *reduced, enum op_reduce_mode mode, double order,
                                 const struct op_tensor *out)
{
    const struct op_reduce_input input = {.self = self, .reduced = reduced};
    return plan_input(plan, &input, mode, order, out);
}

leo_status op_reduce_plan_stepped(struct op_plan *plan, const struct op_reduce_input *input,
                                  enum op_reduce_mode mode, const struct op_tensor *out)
{
    return plan_input(plan, input, mode, 0, out);
}

// Places chosen by an operator of their own, where rows are not those of the reduction.
static leo_status plan_chosen(struct op_plan *plan, const struct op_reduce_input *input,
                              const int64_t *kept_dim, const int64_t *place_dim, int64_t length,
                              const struct op_tensor *place)
{
    const struct op_tensor *self = input->self,
                           wide = op_tensor_dense(input->beside->addr, OP_TYPE_F32, self->rank,
                                                  kept_dim);
    struct op_tensor places, chosen;
    leo_status status = op_plan_temp(plan, OP_TYPE_F32, self->rank, place_dim, &places);
    if (status == LEO_OK) {
        status = op_plan_temp(plan, OP_TYPE_F32, self->rank, self->dim, &chosen);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor flat = op_tensor_dense(places.addr, OP_TYPE_F32, 1, &length);
    const struct op_scalar zero = op_scalar_int(0), one = op_scalar_int(1),
                           end = op_scalar_int(length);
    const struct op_value range[] = {op_value_scalar(&zero), op_value_scalar(&end),
                                     op_value_scalar(&one), op_value_tensor(&flat)};
    status = op_plan_call(plan, "Arange", range, 4);
    const struct op_value choose[] = {op_value_tensor(self), op_value_tensor(&wide),
                                      op_value_tensor(&places), op_value_tensor(&chosen)};
    if (status == LEO_OK) {
        status = op_plan_call(plan, "ExtremePlace", choose, 4);
    }
    return status == LEO_OK
               ? op_reduce_plan_vector(plan, &chosen, input->reduced, OP_REDUCE_MIN, 0, place)
               : status;
}

leo_status op_reduce_plan_place(struct op_plan *plan, const struct op_tensor *self,
                                const bool *reduced, enum op_reduce_mode mode,
                                const struct op_tensor *value, const struct op_tensor *place)
{
    int64_t kept_dim[OP_RANK_MAX], place_dim[OP_RANK_MAX], length = 1;
    for (unsigned i = 0; i < self->rank; i++) {
        kept_dim[i] = reduced[i] ? 1 : self->dim[i];
        place_dim[i] = reduced[i] ? self->dim[i] : 1;
        length *= place_dim[i];
    }
    if (!can_load(plan, self->type) || length <= 1 || length >= OP_REDUCE_FAR ||
        op_tensor_count(self) < LEAST_DENSE) {
        return OP_DECLINED;
    }
    const struct op_reduce_input input = {self, reduced, OP_REDUCE_PLACE, value};
    leo_status status = op_reduce_plan_vector(plan, self, reduced, mode, 0, value);
    if (status != LEO_OK) {
        return status;
    }
    return op_reduce_has_rows(self, reduced)
               ? op_reduce_plan_stepped(plan, &input, OP_REDUCE_MIN, place)
               : plan_chosen(plan, &input, kept_dim, place_dim, length, place);
}
