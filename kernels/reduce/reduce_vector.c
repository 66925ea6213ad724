/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions on the vector unit, one dimension after the other, the last first. Neighbouring
 * dimensions that are both reduced or both kept are one. Long ones are cut into pieces by the shape
 * alone, whose results are reduced again: the order of a sum does not depend on the cores.
 */
#include "reduce_vector.h"

#include "../chip/chip.h"

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
                          sizeof(*args), 2);
}

// Cores that share `bytes`: one after the other begins, so little work is done sooner by few.
static uint32_t cores_for(struct op_plan *plan, uint64_t bytes)
{
    const struct op_chip *chip = op_plan_numbers(plan);
    const uint64_t cycles = 2 * bytes / chip->l2_read_rate, // as many cores share the L2
        spread = op_plan_block_spread(plan);
    const uint32_t most = op_plan_vector_cores(plan);
    uint32_t cores = 1;
    while (cores < most && (uint64_t)cores * cores * spread < cycles) {
        cores++;
    }
    return cores;
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
    return launch_columns(plan, &args,
                          cores_for(plan, (args.length + 1) * args.inner * sizeof(float)));
}

// [outer, length, inner] -> f32 [outer, pieces, inner]; *made is where they are.
static leo_status plan_stage(struct work *work, struct op_reduce_vector_args *args,
                             struct op_tensor *made)
{
    const uint32_t cores = op_plan_vector_cores(work->plan);
    const bool rows = args->inner == 1;
    args->mode = work->mode;
    args->out_pitch = rows ? 1 : parts(args->inner, LINE) * LINE;
    const int64_t dim[] = {(int64_t)args->outer, (int64_t)args->pieces, (int64_t)args->out_pitch};
    leo_status status = op_plan_temp(work->plan, OP_TYPE_F32, 3, dim, made);
    if (status != LEO_OK) {
        return status;
    }
    made->dim[2] = (int64_t)args->inner;
    args->out = made->addr;
    if (rows) {
        const struct op_share share = op_share_make(args->outer * args->pieces, LINE, LINE, cores);
        args->per_block = share.per_block;
        return op_plan_launch(work->plan, "reduce_vector", "reduce_rows", share.blocks, args,
                              sizeof(*args), 2);
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

// The tensor to reduce, dense; squared for a norm.
static leo_status take_input(struct op_plan *plan, const struct op_tensor *self,
                             enum op_reduce_mode mode, struct op_tensor *input)
{
    if (mode != OP_REDUCE_NORM) {
        return op_plan_dense(plan, self, self->type, input);
    }
    leo_status status = op_plan_temp(plan, OP_TYPE_F32, self->rank, self->dim, input);
    const struct op_value args[] = {op_value_tensor(self), op_value_tensor(self),
                                    op_value_tensor(input)};
    return status == LEO_OK ? op_plan_call(plan, "Mul", args, 3) : status;
}

// The result has the elements of `out` in order, maybe with gaps behind rows.
static leo_status deliver(struct work *work, enum op_reduce_mode mode, const struct op_tensor *out)
{
    struct op_tensor to =
        op_tensor_dense(out->addr, out->type, work->tensor.rank, work->tensor.dim);
    if (mode == OP_REDUCE_SUM || mode == OP_REDUCE_MEAN || mode == OP_REDUCE_PROD) {
        return op_plan_copy(work->plan, &to, &work->tensor);
    }
    const struct op_value args[] = {op_value_tensor(&work->tensor), op_value_tensor(&to)};
    return op_plan_call(work->plan, mode == OP_REDUCE_NORM ? "Sqrt" : "CopyExtreme", args, 2);
}

leo_status op_reduce_plan_vector(struct op_plan *plan, const struct op_tensor *self,
                                 const bool *reduced, enum op_reduce_mode mode, double order,
                                 const struct op_tensor *out, bool *done)
{
    struct work work = {.plan = plan};
    struct op_tensor input;
    const int64_t count = op_tensor_count(self);
    unsigned left;
    *done = has_mode(mode, order, &work.mode) && can_load(plan, self->type) &&
            can_load(plan, out->type) && count >= LEAST &&
            (op_tensor_is_dense(self) || count >= LEAST_DENSE);
    if (!*done) {
        return LEO_OK;
    }
    double outputs = 1;
    for (unsigned i = 0; i < self->rank; i++) {
        outputs *= reduced[i] ? 1 : (double)self->dim[i];
    }
    const float scale = mode == OP_REDUCE_MEAN ? (float)(outputs / (double)count) : 1;
    leo_status status = take_input(plan, self, mode, &input);
    if (status != LEO_OK) {
        return status;
    }
    merge(&work, &input, reduced);
    int at = last_reduced(&work, &left);
    if (at < 0) { // every reduced dimension is 1
        *done = false;
        return LEO_OK;
    }
    while (at >= 0 && status == LEO_OK) {
        status = reduce_dim(&work, (unsigned)at, left == 1 ? scale : 1);
        at = last_reduced(&work, &left);
        if (status == LEO_OK && at >= 0) {
            status = tidy(&work);
            at = last_reduced(&work, &left);
        }
    }
    return status == LEO_OK ? deliver(&work, mode, out) : status;
}

enum { PLACES_MAX = 1 << 24 }; // f32 holds every one, and one more

leo_status op_reduce_plan_place(struct op_plan *plan, const struct op_tensor *self,
                                const bool *reduced, enum op_reduce_mode mode,
                                const struct op_tensor *value, const struct op_tensor *place,
                                bool *done)
{
    int64_t kept_dim[OP_RANK_MAX], place_dim[OP_RANK_MAX], length = 1;
    struct op_tensor wide = *self, places, chosen;
    for (unsigned i = 0; i < self->rank; i++) {
        kept_dim[i] = reduced[i] ? 1 : self->dim[i];
        place_dim[i] = reduced[i] ? self->dim[i] : 1;
        length *= place_dim[i];
    }
    *done = can_load(plan, self->type) && length > 1 && length < PLACES_MAX &&
            op_tensor_count(self) >= LEAST_DENSE;
    if (!*done) {
        return LEO_OK;
    }
    leo_status status = op_reduce_plan_vector(plan, self, reduced, mode, 0, value, done);
    if (status == LEO_OK) {
        status = op_plan_temp(plan, OP_TYPE_F32, self->rank, place_dim, &places);
    }
    if (status == LEO_OK) {
        status = op_plan_temp(plan, OP_TYPE_F32, self->rank, self->dim, &chosen);
    }
    if (status != LEO_OK || !*done) {
        return status;
    }
    const struct op_tensor flat = op_tensor_dense(places.addr, OP_TYPE_F32, 1, &length);
    const struct op_scalar zero = op_scalar_int(0), one = op_scalar_int(1),
                           end = op_scalar_int(length);
    const struct op_value range[] = {op_value_scalar(&zero), op_value_scalar(&end),
                                     op_value_scalar(&one), op_value_tensor(&flat)};
    status = op_plan_call(plan, "Arange", range, 4);
    wide = op_tensor_dense(value->addr, OP_TYPE_F32, self->rank, kept_dim);
    const struct op_value choose[] = {op_value_tensor(self), op_value_tensor(&wide),
                                      op_value_tensor(&places), op_value_tensor(&chosen)};
    if (status == LEO_OK) {
        status = op_plan_call(plan, "ExtremePlace", choose, 4);
    }
    return status == LEO_OK
               ? op_reduce_plan_vector(plan, &chosen, reduced, OP_REDUCE_MIN, 0, place, done)
               : status;
}
