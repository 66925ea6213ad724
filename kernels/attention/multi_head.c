/* SPDX-License-Identifier: Apache-2.0 */
/* A whole layer of attention with several heads: projections, softmax of the scaled products and a
 * mask, dropout, and the projection of the result. */
#include "../frame/chain.h"

#include <math.h>

enum { HEADS = 1, STEPS = 2, SIZE = 3, SIDES = 3 /* query, key, value */ };

/* Names of what belongs to the query, the key and the value. */
static const char
    *const inputs[] = {"query", "key", "value"},
           *const weights[] = {"wq", "wk", "wv"}, *const biases[] = {"bq", "bk", "bv"},
           *const heads[] = {"q", "k", "v"}, *const dinputs[] = {"dquery", "dkey", "dvalue"},
           *const dweights[] = {"dwq", "dwk", "dwv"}, *const dbiases[] = {"dbq", "dbk", "dbv"};

static double scale_of(const struct op_call *call)
{
    return 1 / sqrt((double)op_call_tensor(call, "q")->dim[SIZE]);
}

// [batch * steps, heads * size] seen as [batch, heads, steps, size], as `shape` is.
static struct op_tensor by_head(const struct op_tensor *rows, const struct op_tensor *shape)
{
    const int64_t dim[] = {shape->dim[0], shape->dim[STEPS], shape->dim[HEADS], shape->dim[SIZE]};
    const struct op_tensor four = op_view_shape(rows, 4, dim);
    return op_view_swap(&four, HEADS, STEPS);
}

static leo_status check_drop(const struct op_call *call)
{
    const struct op_tensor *drop = op_call_tensor(call, "drop"),
                           *probs = op_call_tensor(call, "probs");
    const double keep = op_call_real(call, "keep");
    const int64_t bytes = (op_tensor_count(probs) + 7) / 8;
    if (!(keep > 0 && keep <= 1) || (keep < 1 && !drop)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "keep_prob is %g and a mask is%s given: it must be above 0, and below "
                            "1 with a mask alone",
                            keep, drop ? "" : " not");
    }
    return drop && op_tensor_count(drop) < bytes
               ? op_call_fail(call, LEO_ERR_SHAPE, "the mask has shape %s: a bit an element of %s",
                              op_tensor_shape_text(drop).text, op_tensor_shape_text(probs).text)
               : LEO_OK;
}

// q, k and v are [batch, heads, steps, size]; inputs [batch * steps, heads * size].
static leo_status check_heads(const struct op_call *call)
{
    const struct op_tensor *q = op_call_tensor(call, "q"), *k = op_call_tensor(call, "k");
    if (q->rank != 4 || k->rank != 4 || q->dim[0] != k->dim[0] || q->dim[HEADS] != k->dim[HEADS] ||
        q->dim[SIZE] != k->dim[SIZE]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "q %s and k %s must be [batch, heads, steps, size] of the same heads",
                            op_tensor_shape_text(q).text, op_tensor_shape_text(k).text);
    }
    const int64_t features = q->dim[HEADS] * q->dim[SIZE],
                  scores[] = {q->dim[0], q->dim[HEADS], q->dim[STEPS], k->dim[STEPS]},
                  square[] = {features, features};
    leo_status status = op_call_check_shape(call, "softmax", 4, scores);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "probs", 4, scores);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "v", 4, k->dim);
    }
    for (unsigned i = 0; status == LEO_OK && i < SIDES; i++) {
        const int64_t rows[] = {q->dim[0] * (i == 0 ? q : k)->dim[STEPS], features};
        status = op_call_check_shape(call, inputs[i], 2, rows);
        if (status == LEO_OK) {
            status = op_call_check_shape(call, weights[i], 2, square);
        }
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "wo", 2, square);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "context", 2, op_call_tensor(call, "query")->dim);
    }
    return status == LEO_OK ? check_drop(call) : status;
}

// Their places alone do not say which of several is not given.
static leo_status check_biases(const struct op_call *call)
{
    static const char *const names[] = {"bq", "bk", "bv", "bo"};
    unsigned given = 0;
    for (unsigned i = 0; i < 4; i++) {
        given += op_call_tensor(call, names[i]) != NULL;
    }
    return given == 0 || given == 4
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_INVALID_ARG,
                              "%u biases are given: all four must be, or none", given);
}

/* out = x w' + bias */
static void project(struct op_chain *chain, const struct op_tensor *x, const char *weight,
                    const char *bias, const struct op_tensor *out)
{
    const struct op_tensor turned = op_view_swap(op_call_tensor(chain->call, weight), 0, 1),
                           product = op_chain_temp_like(chain, OP_TYPE_F32, out),
                           *b = op_call_tensor(chain->call, bias);
    const struct op_scalar one = op_scalar_int(1);
    op_chain_matmul(chain, x, &turned, &product);
    if (b) {
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(&product), op_value_tensor(b),
                      op_value_scalar(&one), op_value_tensor(out));
    } else {
        op_chain_copy(chain, out, &product);
    }
}

static void multiply(struct op_chain *chain, const struct op_tensor *x, double factor,
                     const struct op_tensor *out)
{
    const struct op_scalar by = op_scalar_real(factor);
    OP_CHAIN_CALL(chain, "Muls", op_value_tensor(x), op_value_scalar(&by), op_value_tensor(out));
}

// The projected input of a side, by head; the query is scaled.
static void make_heads(struct op_chain *chain, unsigned side)
{
    const struct op_tensor *x = op_call_tensor(chain->call, inputs[side]),
                           *to = op_call_tensor(chain->call, heads[side]),
                           rows = op_chain_temp_like(chain, to->type, x), view = by_head(&rows, to);
    project(chain, x, weights[side], biases[side], &rows);
    multiply(chain, &view, side == 0 ? scale_of(chain->call) : 1, to);
}

static void drop_out(struct op_chain *chain, const struct op_tensor *x, const struct op_tensor *out)
{
    const struct op_tensor *drop = op_call_tensor(chain->call, "drop");
    if (!drop) {
        op_chain_copy(chain, out, x);
        return;
    }
    OP_CHAIN_CALL(chain, "DropoutDoMask", op_value_tensor(x), op_value_tensor(drop),
                  op_value_real(1 - op_call_real(chain->call, "keep")), op_value_tensor(out));
}

// What the gradient is to drop: nothing where there is no mask.
static leo_status give_mask(struct op_chain *chain)
{
    const struct op_tensor *drop = op_call_tensor(chain->call, "drop"),
                           *out = op_call_tensor(chain->call, "dropOut");
    if (drop && op_tensor_count(drop) != op_tensor_count(out)) {
        return op_call_fail(chain->call, LEO_ERR_SHAPE, "the mask has shape %s, its copy %s",
                            op_tensor_shape_text(drop).text, op_tensor_shape_text(out).text);
    }
    if (drop) {
        const struct op_tensor dense = op_chain_dense(chain, OP_TYPE_U8, drop),
                               flat = op_view_shape(&dense, out->rank, out->dim);
        op_chain_copy(chain, out, &flat);
    } else {
        op_chain_fill(chain, out, 255);
    }
    return chain->status;
}

leo_status op_plan_multi_head(const struct op_call *call)
{
    const struct op_tensor *softmax = op_call_tensor(call, "softmax"),
                           *probs = op_call_tensor(call, "probs"),
                           *context = op_call_tensor(call, "context"),
                           *q = op_call_tensor(call, "q");
    const struct op_scalar one = op_scalar_int(1);
    leo_status status = check_heads(call);
    if (status == LEO_OK) {
        status = check_biases(call);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "y", 2, context->dim);
    }
    if (status != LEO_OK || op_tensor_count(context) == 0 || op_tensor_count(probs) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    for (unsigned side = 0; side < SIDES; side++) {
        make_heads(&chain, side);
    }
    const struct op_tensor turned = op_view_swap(op_call_tensor(call, "k"), STEPS, SIZE),
                           scores = op_chain_temp_like(&chain, OP_TYPE_F32, softmax),
                           made = op_chain_temp_like(&chain, context->type, q),
                           rows = op_chain_temp_like(&chain, context->type, context),
                           view = by_head(&rows, q);
    op_chain_matmul(&chain, q, &turned, &scores);
    OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&scores), *op_call_value(call, "mask"),
                  op_value_scalar(&one), op_value_tensor(&scores));
    OP_CHAIN_CALL(&chain, "Softmax", op_value_tensor(&scores), op_value_int(3),
                  op_value_tensor(softmax));
    drop_out(&chain, softmax, probs);
    op_chain_matmul(&chain, probs, op_call_tensor(call, "v"), &made);
    op_chain_copy(&chain, &view, &made);
    op_chain_copy(&chain, context, &rows);
    project(&chain, &rows, "wo", "bo", op_call_tensor(call, "y"));
    return chain.status == LEO_OK ? give_mask(&chain) : chain.status;
}

/* ---- gradients ---- */

/* Of out = x w' + bias from d, that of out. */
static void projection_gradients(struct op_chain *chain, const struct op_tensor *d,
                                 const struct op_tensor *x, const char *dw, const char *db)
{
    const struct op_tensor turned = op_view_swap(d, 0, 1), *bias = op_call_tensor(chain->call, db);
    int64_t first = 0;
    const struct op_ints over = {&first, 1};
    op_chain_matmul(chain, &turned, x, op_call_tensor(chain->call, dw));
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(d), op_value_ints(&over),
                  op_value_int(bias->rank == 2), op_value_type(OP_TYPE_F32), op_value_tensor(bias));
}

// From the gradient by head of a side.
static void side_gradients(struct op_chain *chain, unsigned side, const struct op_tensor *d)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *x = op_call_tensor(call, inputs[side]),
                           rows = op_chain_temp_like(chain, OP_TYPE_F32, x),
                           view = by_head(&rows, d);
    multiply(chain, d, side == 0 ? scale_of(call) : 1, &view);
    const struct op_tensor narrow = op_chain_dense(chain, x->type, &rows);
    op_chain_matmul(chain, &narrow, op_call_tensor(call, weights[side]),
                    op_call_tensor(call, dinputs[side]));
    projection_gradients(chain, &narrow, x, dweights[side], dbiases[side]);
}

static leo_status check_gradients(const struct op_call *call)
{
    leo_status status = check_heads(call);
    for (unsigned i = 0; status == LEO_OK && i < SIDES; i++) {
        status = op_call_check_shape(call, dinputs[i], 2, op_call_tensor(call, inputs[i])->dim);
        if (status == LEO_OK) {
            status = op_call_check_shape(call, dweights[i], 2, op_call_tensor(call, "wo")->dim);
        }
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "dwo", 2, op_call_tensor(call, "wo")->dim);
    }
    return status == LEO_OK
               ? op_call_check_shape(call, "dy", 2, op_call_tensor(call, "context")->dim)
               : status;
}

leo_status op_plan_multi_head_grad(const struct op_call *call)
{
    const struct op_tensor *q = op_call_tensor(call, "q"), *k = op_call_tensor(call, "k"),
                           *v = op_call_tensor(call, "v"), *dy = op_call_tensor(call, "dy"),
                           *probs = op_call_tensor(call, "probs"),
                           *softmax = op_call_tensor(call, "softmax");
    const leo_status status = check_gradients(call);
    if (status != LEO_OK || op_tensor_count(dy) == 0 || op_tensor_count(probs) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    projection_gradients(&chain, dy, op_call_tensor(call, "context"), "dwo", "dbo");
    const struct op_tensor rows = op_chain_temp_like(&chain, q->type, dy), d = by_head(&rows, q),
                           dprobs = op_chain_temp_like(&chain, OP_TYPE_F32, probs),
                           kept = op_chain_temp_like(&chain, OP_TYPE_F32, probs),
                           dscores = op_chain_temp_like(&chain, q->type, probs),
                           values = op_view_swap(v, STEPS, SIZE),
                           turned_probs = op_view_swap(probs, STEPS, SIZE),
                           turned_scores = op_view_swap(&dscores, STEPS, SIZE),
                           dq = op_chain_temp_like(&chain, OP_TYPE_F32, q),
                           dk = op_chain_temp_like(&chain, OP_TYPE_F32, k),
                           dv = op_chain_temp_like(&chain, OP_TYPE_F32, v);
    op_chain_matmul(&chain, dy, op_call_tensor(call, "wo"), &rows);
    op_chain_matmul(&chain, &d, &values, &dprobs);
    op_chain_matmul(&chain, &turned_probs, &d, &dv);
    drop_out(&chain, &dprobs, &kept);
    const struct op_tensor wide = op_chain_dense(&chain, OP_TYPE_F32, softmax);
    OP_CHAIN_CALL(&chain, "SoftmaxBackward", op_value_tensor(&kept), op_value_tensor(&wide),
                  op_value_int(3), op_value_tensor(&dscores));
    op_chain_matmul(&chain, &dscores, k, &dq);
    op_chain_matmul(&chain, &turned_scores, q, &dk);
    side_gradients(&chain, 0, &dq);
    side_gradients(&chain, 1, &dk);
    side_gradients(&chain, 2, &dv);
    return chain.status;
}
