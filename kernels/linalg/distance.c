/* SPDX-License-Identifier: Apache-2.0 */
/* Distances of rows of matrices, and their gradient. A row says which ("distance"). */
#include "../frame/chain.h"

#include "distance_args.h"

#include <math.h>
#include <string.h>

// Elements of all dimensions but the last `inner`.
static int64_t count_of(const struct op_tensor *tensor, unsigned inner)
{
    int64_t count = 1;
    for (unsigned i = 0; i + inner < tensor->rank; i++) {
        count *= tensor->dim[i];
    }
    return count;
}

static leo_status measure(struct op_chain *chain, struct op_distance_args *args,
                          const struct op_tensor *out, const struct op_tensor *made)
{
    struct op_plan *plan = chain->call->plan;
    const struct op_share share =
        op_share_make((uint64_t)op_tensor_count(out), 1, 16, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    if (chain->status == LEO_OK) {
        chain->status =
            op_plan_launch(plan, "distance", "distance_rows", share.blocks, args, sizeof(*args), 3);
    }
    op_chain_copy(chain, out, made);
    return chain->status;
}

// The order: adapters write -1 for infinity.
static double order_of(const struct op_call *call)
{
    const double p = op_call_real(call, "p");
    return p == -1 ? INFINITY : p;
}

enum {
    PARTS_MAX = 256,         /* of rows whose differences stand in memory at a time */
    DIFFERENCES = 1 << 24,   /* [A] of a part, in f32 */
    LEAST_DIFFERENCES = 4096 /* [A] fewer are left to the scalar unit */
};

/* Rows `a` [.., rows, 1, columns] and `b` [.., 1, other rows, columns], some of a's at a time. */
struct differences {
    struct op_tensor a, b;
    unsigned rows; /* the dimension of a's rows */
    int64_t each;  /* rows of a part */
};

// False: too few or too many, a type that is not exact in f32, or an order without tiles.
static bool find_parts(const struct op_tensor *a, const struct op_tensor *b, double p,
                       struct differences *d)
{
    if ((a->type != OP_TYPE_F32 && a->type != OP_TYPE_F16) || a->rank == OP_RANK_MAX ||
        (p != 1 && p != 2 && p != INFINITY)) {
        return false;
    }
    d->rows = a->rank - 2;
    d->a = op_view_insert(a, a->rank - 1);
    d->b = op_view_insert(b, b->rank - 2);
    const int64_t rows = a->dim[d->rows],
                  a_row = rows ? op_tensor_count(a) / rows * b->dim[d->rows] : 0,
                  most = a_row ? DIFFERENCES / a_row : 0;
    d->each = most < rows ? most : rows;
    return a_row * rows >= LEAST_DIFFERENCES && d->each > 0 &&
           (rows + d->each - 1) / d->each <= PARTS_MAX;
}

// a - b of rows [begin, begin + count) of a, in f32.
static struct op_tensor subtract(struct op_chain *chain, const struct differences *d, int64_t begin,
                                 int64_t count)
{
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor some = op_view_slice(&d->a, d->rows, begin, count);
    int64_t dim[OP_RANK_MAX];
    memcpy(dim, some.dim, sizeof(dim));
    dim[d->rows + 1] = d->b.dim[d->rows + 1];
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, some.rank, dim);
    OP_CHAIN_CALL(chain, "Sub", op_value_tensor(&some), op_value_tensor(&d->b),
                  op_value_scalar(&one), op_value_tensor(&out));
    return out;
}

static leo_status plan_all_by_tiles(const struct op_call *call, const struct differences *d)
{
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *out = op_call_tensor(call, "out"),
                           made = op_chain_temp_like(&chain, OP_TYPE_F32, out);
    const struct op_scalar power = op_scalar_real(order_of(call));
    const int64_t rows = out->dim[d->rows], columns[] = {(int64_t)d->rows + 2};
    const struct op_ints last = {columns, 1};
    for (int64_t at = 0; at < rows; at += d->each) {
        const int64_t count = rows - at < d->each ? rows - at : d->each;
        const uint64_t mark = op_plan_temp_mark(call->plan);
        const struct op_tensor some = subtract(&chain, d, at, count),
                               norms = op_view_slice(&made, d->rows, at, count);
        OP_CHAIN_CALL(&chain, "LinalgVectorNorm", op_value_tensor(&some), op_value_scalar(&power),
                      op_value_ints(&last), op_value_int(0), op_value_type(OP_TYPE_F32),
                      op_value_tensor(&norms));
        op_plan_temp_release(call->plan, mark);
    }
    op_chain_copy(&chain, out, &made);
    return chain.status;
}

static leo_status plan_all(const struct op_call *call)
{
    const struct op_tensor *x1 = op_call_tensor(call, "x1"), *x2 = op_call_tensor(call, "x2"),
                           *out = op_call_tensor(call, "out");
    const unsigned rank = out->rank;
    const double p = order_of(call);
    int64_t shape1[OP_RANK_MAX], shape2[OP_RANK_MAX];
    struct op_tensor a, b;
    bool fits = rank >= 2 && x1->rank >= 2 && x2->rank >= 2 && x1->type == x2->type &&
                x1->dim[x1->rank - 1] == x2->dim[x2->rank - 1];
    if (fits) {
        memcpy(shape1, out->dim, sizeof(shape1));
        memcpy(shape2, out->dim, sizeof(shape2));
        shape2[rank - 2] = out->dim[rank - 1];
        shape1[rank - 1] = shape2[rank - 1] = x1->dim[x1->rank - 1];
        fits = op_tensor_broadcast(x1, rank, shape1, &a) &&
               op_tensor_broadcast(x2, rank, shape2, &b) &&
               x1->dim[x1->rank - 2] == shape1[rank - 2] &&
               x2->dim[x2->rank - 2] == shape2[rank - 2];
    }
    if (!fits || !(p >= 0)) {
        return op_call_fail(
            call, LEO_ERR_SHAPE, "x1 %s%s, x2 %s%s and out of shape %s with p = %g do not fit",
            op_type_name(x1->type), op_tensor_shape_text(x1).text, op_type_name(x2->type),
            op_tensor_shape_text(x2).text, op_tensor_shape_text(out).text, p);
    }
    if (op_tensor_count(out) == 0) {
        return LEO_OK;
    }
    struct differences differences;
    if (find_parts(&a, &b, p, &differences)) {
        return plan_all_by_tiles(call, &differences);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, x1->type, out);
    struct op_distance_args args = {
        .out = made.addr,
        .a = op_chain_dense(&chain, x1->type, &a).addr,
        .b = op_chain_dense(&chain, x1->type, &b).addr,
        .batch = (uint64_t)count_of(out, 2),
        .a_rows = (uint64_t)out->dim[rank - 2],
        .b_rows = (uint64_t)out->dim[rank - 1],
        .columns = (uint64_t)shape1[rank - 1],
        .p = p,
        .type = (uint8_t)x1->type,
    };
    return measure(&chain, &args, out, &made);
}

static leo_status plan_pairs(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const double p =
        op_call_has(call, "p") ? order_of(call) : op_call_scalar(call, "pScalar")->real;
    const int64_t rows = self->rank == 2 ? self->dim[0] : 0, count = rows * (rows - 1) / 2;
    if (self->rank != 2 || !(p >= 0)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "self has shape %s (p = %g): it must be a matrix",
                            op_tensor_shape_text(self).text, p);
    }
    leo_status status = op_call_check_shape(call, "out", 1, &count);
    if (status != LEO_OK || count == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, self->type, out);
    struct op_distance_args args = {.out = made.addr,
                                    .a = op_chain_dense(&chain, self->type, self).addr,
                                    .batch = 1,
                                    .a_rows = (uint64_t)rows,
                                    .b_rows = (uint64_t)rows,
                                    .columns = (uint64_t)self->dim[1],
                                    .p = p,
                                    .type = (uint8_t)self->type,
                                    .pairs = 1};
    args.b = args.a;
    return measure(&chain, &args, out, &made);
}

/*
 * The gradient by rows `a` of every batch, and its sum over the batches that share a row of out:
 * x1 may have been repeated over dimensions out has not, or of which it has one.
 */
static leo_status plan_shared_gradient(const struct op_call *call, const struct op_tensor *g,
                                       const struct op_tensor *a, const struct op_tensor *b,
                                       const struct op_tensor *d)
{
    const struct op_tensor *out = op_call_tensor(call, "out");
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor kept, made = *out;
    int64_t dims[OP_RANK_MAX];
    struct op_ints over = {dims, 0};
    if (!op_tensor_same_shape(a, out)) {
        int64_t shape[OP_RANK_MAX];
        for (unsigned i = 0; i < a->rank; i++) {
            const unsigned before = a->rank - out->rank;
            shape[i] = i < before ? 1 : out->dim[i - before];
            if (shape[i] != a->dim[i]) {
                dims[over.count++] = i;
            }
        }
        if (out->rank > a->rank || !op_tensor_is_dense(out)) {
            return op_call_fail(call, LEO_ERR_SHAPE, "out of shape %s does not fit x1",
                                op_tensor_shape_text(out).text);
        }
        kept = op_tensor_dense(out->addr, out->type, a->rank, shape);
        made = op_chain_temp_like(&chain, out->type, a);
    }
    OP_CHAIN_CALL(&chain, "CdistBackward", op_value_tensor(g), op_value_tensor(a),
                  op_value_tensor(b), op_value_tensor(d), op_value_real(order_of(call)),
                  op_value_tensor(&made));
    if (over.count) {
        OP_CHAIN_CALL(&chain, "ReduceSum", op_value_tensor(&made), op_value_ints(&over),
                      op_value_int(1), op_value_type(out->type), op_value_tensor(&kept));
    }
    return chain.status;
}

// The older form: every tensor is repeated to [.., rows of x1, rows of x2, columns].
static leo_status plan_repeated_gradient(const struct op_call *call)
{
    const struct op_tensor *x1 = op_call_tensor(call, "x1"), *x2 = op_call_tensor(call, "x2"),
                           *grad = op_call_tensor(call, "grad"),
                           *distance = op_call_tensor(call, "cdist");
    const unsigned rank = x1->rank;
    if (rank < 3 || !op_tensor_same_shape(x1, x2) || !op_tensor_same_shape(x1, grad) ||
        !op_tensor_same_shape(x1, distance)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x1 of shape %s, x2 %s and grad %s do not fit",
                            op_tensor_shape_text(x1).text, op_tensor_shape_text(x2).text,
                            op_tensor_shape_text(grad).text);
    }
    if (op_tensor_count(x1) == 0) {
        return op_plan_fill(call->plan, op_call_tensor(call, "out")->addr, 0,
                            op_tensor_extent(op_call_tensor(call, "out")));
    }
    const struct op_tensor a = op_view_select(x1, rank - 2, 0), b = op_view_select(x2, rank - 3, 0),
                           g = op_view_select(grad, rank - 1, 0),
                           d = op_view_select(distance, rank - 1, 0);
    return plan_shared_gradient(call, &g, &a, &b, &d);
}

static leo_status plan_gradient_by_tiles(const struct op_call *call, const struct differences *d)
{
    const double p = order_of(call);
    const char *slope = p == 1 ? "DistanceSign" : p == 2 ? "DistanceSlope" : "DistanceLargest";
    const unsigned at_last = d->rows + 2;
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *out = op_call_tensor(call, "out"),
                           made = op_chain_temp_like(&chain, OP_TYPE_F32, out),
                           distance = op_view_insert(op_call_tensor(call, "cdist"), at_last),
                           grad = op_view_insert(op_call_tensor(call, "grad"), at_last);
    const int64_t rows = out->dim[d->rows];
    for (int64_t at = 0; at < rows; at += d->each) {
        const int64_t count = rows - at < d->each ? rows - at : d->each;
        const uint64_t mark = op_plan_temp_mark(call->plan);
        const struct op_tensor some = subtract(&chain, d, at, count),
                               far = op_view_slice(&distance, d->rows, at, count),
                               g = op_view_slice(&grad, d->rows, at, count),
                               sums = op_view_slice(&made, d->rows, at, count);
        OP_CHAIN_CALL(&chain, slope, op_value_tensor(&some), op_value_tensor(&far),
                      op_value_tensor(&g), op_value_tensor(&some));
        op_chain_sum(&chain, &some, d->rows + 1, &sums);
        op_plan_temp_release(call->plan, mark);
    }
    op_chain_copy(&chain, out, &made);
    return chain.status;
}

// Halves are computed in f32.
static leo_status plan_half_gradient(const struct op_call *call)
{
    static const char *const names[] = {"grad", "x1", "x2", "cdist"};
    if (isinf(order_of(call))) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "p is infinite with f16: rounded distances do not tell which element "
                            "they come from; use f32");
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *out = op_call_tensor(call, "out"), wide = op_chain_wide(&chain, out);
    struct op_tensor in[4];
    for (unsigned i = 0; i < 4; i++) {
        in[i] = op_chain_dense(&chain, OP_TYPE_F32, op_call_tensor(call, names[i]));
    }
    OP_CHAIN_CALL(&chain, "CdistBackward", op_value_tensor(&in[0]), op_value_tensor(&in[1]),
                  op_value_tensor(&in[2]), op_value_tensor(&in[3]),
                  op_value_real(op_call_real(call, "p")), op_value_tensor(&wide));
    op_chain_give(&chain, out, &wide);
    return chain.status;
}

static leo_status plan_gradient(const struct op_call *call)
{
    if (op_call_tensor(call, "x1")->type == OP_TYPE_F16) {
        return plan_half_gradient(call);
    }
    if (op_call_tensor(call, "x1")->rank > op_call_tensor(call, "out")->rank) {
        return plan_repeated_gradient(call);
    }
    static const char *const names[] = {"x1", "x2", "grad", "cdist"};
    const struct op_tensor *x1 = op_call_tensor(call, "x1"), *x2 = op_call_tensor(call, "x2"),
                           *grad = op_call_tensor(call, "grad"), *out = op_call_tensor(call, "out");
    const unsigned rank = x1->rank;
    const double p = order_of(call);
    bool fits = rank >= 2 && x2->rank == rank && x1->dim[rank - 1] == x2->dim[rank - 1] && p >= 0;
    for (unsigned i = 0; fits && i + 2 < rank; i++) {
        fits = x1->dim[i] == x2->dim[i];
    }
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x1 of shape %s and x2 of shape %s do not fit",
                            op_tensor_shape_text(x1).text, op_tensor_shape_text(x2).text);
    }
    int64_t pairs[OP_RANK_MAX];
    memcpy(pairs, x1->dim, sizeof(pairs));
    pairs[rank - 1] = x2->dim[rank - 2];
    leo_status status = op_call_check_shape(call, "out", rank, x1->dim);
    for (unsigned i = 2; status == LEO_OK && i < 4; i++) {
        status = op_call_check_shape(call, names[i], rank, pairs);
    }
    for (unsigned i = 1; status == LEO_OK && i < 4; i++) {
        if (op_call_tensor(call, names[i])->type != x1->type) {
            status = op_call_fail(call, LEO_ERR_DTYPE, "%s is not of x1's type %s", names[i],
                                  op_type_name(x1->type));
        }
    }
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct differences differences;
    if (find_parts(x1, x2, p, &differences)) {
        return plan_gradient_by_tiles(call, &differences);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, x1->type, out);
    struct op_distance_gradient_args args = {
        .out = made.addr,
        .a = op_chain_dense(&chain, x1->type, x1).addr,
        .b = op_chain_dense(&chain, x1->type, x2).addr,
        .grad = op_chain_dense(&chain, x1->type, grad).addr,
        .distance = op_chain_dense(&chain, x1->type, op_call_tensor(call, "cdist")).addr,
        .batch = (uint64_t)count_of(out, 2),
        .a_rows = (uint64_t)x1->dim[rank - 2],
        .b_rows = (uint64_t)x2->dim[rank - 2],
        .columns = (uint64_t)x1->dim[rank - 1],
        .p = p,
        .type = (uint8_t)x1->type,
    };
    const struct op_share share =
        op_share_make((uint64_t)op_tensor_count(out), 1, 16, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    if (chain.status == LEO_OK) {
        chain.status = op_plan_launch(call->plan, "distance", "distance_gradient", share.blocks,
                                      &args, sizeof(args), 5);
    }
    op_chain_copy(&chain, out, &made);
    return chain.status;
}

leo_status op_plan_distance(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {{"all", plan_all}, {"pairs", plan_pairs}, {"gradient", plan_gradient}};
    const char *word = op_row_attr(call->row, "distance");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no distance");
}
