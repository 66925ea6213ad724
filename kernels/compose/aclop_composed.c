/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that graph frameworks and older programs know by type name: what they compute is
 * made of other rows. A row says which ("composed"). */
#include "../frame/chain.h"
#include "../frame/layout.h"
#include "../frame/variant.h"
#include "../norm/batch_norm_blocks.h"
#include "../optimizer/aclop_adam.h"

#include <inttypes.h>
#include <string.h>

/* ---- pools without indices ---- */

// Pooling rows of three dimensions give positions; those of two a mask, which the vector unit
// makes.
static const char *pool_row(const struct op_tensor *x, bool gradient)
{
    return x->rank == 5 ? gradient ? "MaxPool3dWithArgmaxBackward" : "MaxPool3dWithArgmax"
           : gradient   ? "MaxPool2dWithMaskBackward"
                        : "MaxPool2dWithMask";
}

// Where the largest elements are, for the gradient.
static struct op_tensor make_places(struct op_chain *chain, const struct op_tensor *y)
{
    const struct op_ints *ksize = op_call_ints(chain->call, "ksize");
    if (y->rank != 4 || ksize->count != 2) {
        return op_chain_temp_like(chain, OP_TYPE_I32, y);
    }
    const int64_t dim[] = {y->dim[0], y->dim[1], ksize->items[0] * ksize->items[1],
                           ((y->dim[2] * y->dim[3] + 15) / 16 + 1) * 32};
    return op_chain_temp(chain, OP_TYPE_I8, 4, dim);
}

// A temporary in the format of `like`.
static struct op_tensor make_like(struct op_chain *chain, enum op_type type,
                                  const struct op_tensor *like)
{
    struct op_tensor made = op_tensor_dense(0, type, like->rank, like->dim), storage;
    made.format = like->format;
    (void)op_layout_storage(&made, &storage); // as that of `like`, which is checked
    if (chain->status == LEO_OK) {
        chain->status = op_plan_temp_bytes(chain->plan, op_tensor_extent(&storage), &made.addr);
    }
    return made;
}

// Volumes in a format of the chip are pooled as rows.
static bool is_native_volume(const struct op_call *call)
{
    return op_call_tensor(call, "x")->rank != 4 && op_layout_any_native(call->row, call->args);
}

static void pool(struct op_chain *chain, const struct op_tensor *x, const struct op_tensor *y,
                 const struct op_tensor *places)
{
    const struct op_call *call = chain->call;
    OP_CHAIN_CALL(
        chain, pool_row(x, false), op_value_tensor(x), op_value_ints(op_call_ints(call, "ksize")),
        op_value_ints(op_call_ints(call, "strides")), op_value_ints(op_call_ints(call, "pads")),
        op_value_ints(op_call_ints(call, "dilation")), op_value_int(op_call_int(call, "ceilMode")),
        op_value_tensor(y), op_value_tensor(places));
}

static leo_status plan_max_pool(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    if (is_native_volume(call)) {
        return op_call_run_as_rows(call);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor places = make_places(&chain, y);
    pool(&chain, x, y, &places);
    const struct op_tensor *mark = op_call_tensor(call, "mark");
    if (mark) {
        OP_CHAIN_CALL(&chain, "InplaceZero", op_value_tensor(mark));
    }
    return chain.status;
}

static leo_status plan_max_pool_gradient(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *grads = op_call_tensor(call, "grads");
    if (is_native_volume(call)) {
        return op_call_run_as_rows(call);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor places = make_places(&chain, grads),
                           y = make_like(&chain, x->type, grads);
    pool(&chain, x, &y, &places);
    OP_CHAIN_CALL(
        &chain, pool_row(x, true), op_value_tensor(grads), op_value_tensor(x),
        op_value_tensor(&places), op_value_ints(op_call_ints(call, "ksize")),
        op_value_ints(op_call_ints(call, "strides")), op_value_ints(op_call_ints(call, "pads")),
        op_value_ints(op_call_ints(call, "dilation")), op_value_int(op_call_int(call, "ceilMode")),
        op_value_tensor(op_call_tensor(call, "dx")));
    return chain.status;
}

/* ---- batch normalisation in parts ---- */

// x is [N, C, ...], and the parameters named have C elements in one dimension.
static leo_status check_channels(const struct op_call *call, const char *const *names)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    leo_status status = LEO_OK;
    if (x->rank < 2) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x has shape %s: it must be [N, C, ...]",
                            op_tensor_shape_text(x).text);
    }
    for (; *names && status == LEO_OK; names++) {
        status = op_call_check_shape(call, *names, 1, &x->dim[1]);
    }
    return status;
}

/* A part: parameters of a number for each channel, tensors of x's shape, its kernels for
 * maps in blocks of channels, and the operators it is elsewhere. */
struct part {
    const char *const *channels;
    const char *like_x[2];
    enum op_blocks_what what;
    void (*steps)(struct op_chain *chain);
};

struct part_call {
    const struct op_call *call;
    const struct part *part;
};

static leo_status by_blocks(const void *object)
{
    const struct part_call *p = object;
    return op_blocks_plan(p->call, p->part->what);
}

static leo_status by_rows(const void *object)
{
    const struct op_call *call = ((const struct part_call *)object)->call;
    return op_layout_any_native(call->row, call->args) ? op_call_run_as_rows(call) : OP_DECLINED;
}

static leo_status by_steps(const void *object)
{
    const struct part_call *p = object;
    struct op_chain chain = op_chain_begin(p->call);
    p->part->steps(&chain);
    return chain.status;
}

static leo_status plan_part(const struct op_call *call, const struct part *part)
{
    static const struct op_variant ways[] = {
        {"blocks of channels", "maps in NC1HWC0 without gaps", by_blocks},
        {"rows", "a tensor in a native format", by_rows},
        {"operators", NULL, by_steps},
    };
    const struct part_call p = {call, part};
    const struct op_tensor *x = op_call_tensor(call, "x");
    leo_status status = check_channels(call, part->channels);
    for (unsigned i = 0; i < 2 && part->like_x[i] && status == LEO_OK; i++) {
        status = op_call_check_shape(call, part->like_x[i], x->rank, x->dim);
    }
    return status == LEO_OK ? op_choose(call->plan, ways, sizeof(ways) / sizeof(*ways), &p)
                            : status;
}

static double per_channel(const struct op_tensor *x)
{
    return (double)op_tensor_count(x) / (double)(x->dim[1] > 0 ? x->dim[1] : 1);
}

static void sum_channels(struct op_chain *chain, const struct op_tensor *x,
                         const struct op_tensor *out)
{
    int64_t dims[OP_RANK_MAX];
    struct op_ints over = {dims, 0};
    for (unsigned i = 0; i < x->rank; i++) {
        if (i != 1) {
            dims[over.count++] = i;
        }
    }
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(x), op_value_ints(&over), op_value_int(0),
                  op_value_type(OP_TYPE_F32), op_value_tensor(out));
}

static void make_bias_gradient(struct op_chain *chain)
{
    sum_channels(chain, op_call_tensor(chain->call, "x"), op_call_tensor(chain->call, "y"));
}

static leo_status plan_bias_gradient(const struct op_call *call)
{
    static const char *const channels[] = {"y", NULL};
    static const struct part part = {channels, {NULL}, OP_BLOCKS_BIAS_GRADIENT, make_bias_gradient};
    return plan_part(call, &part);
}

static void reduce(struct op_chain *chain)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *x = op_call_tensor(call, "x"),
                           squares = op_chain_temp_like(chain, OP_TYPE_F32, x);
    sum_channels(chain, x, op_call_tensor(call, "sum"));
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(x), op_value_tensor(x), op_value_tensor(&squares));
    sum_channels(chain, &squares, op_call_tensor(call, "squareSum"));
}

static leo_status plan_bn_reduce(const struct op_call *call)
{
    static const char *const channels[] = {"sum", "squareSum", NULL};
    static const struct part part = {channels, {NULL}, OP_BLOCKS_REDUCE, reduce};
    return plan_part(call, &part);
}

// 1 / sqrt(variance + epsilon) of each channel.
static struct op_tensor invert(struct op_chain *chain, const struct op_tensor *variance)
{
    const struct op_tensor inverse = op_chain_temp_like(chain, OP_TYPE_F32, variance);
    OP_CHAIN_CALL(chain, "GatheredInverse", op_value_tensor(variance),
                  op_value_real(op_call_real(chain->call, "epsilon")), op_value_tensor(&inverse));
    return inverse;
}

static void normalise(struct op_chain *chain, const struct op_tensor *mean,
                      const struct op_tensor *variance)
{
    const struct op_call *call = chain->call;
    const struct op_tensor inverse = invert(chain, variance);
    OP_CHAIN_CALL(chain, "BatchNormElemt", op_value_tensor(op_call_tensor(call, "x")),
                  op_value_tensor(op_call_tensor(call, "scale")),
                  op_value_tensor(op_call_tensor(call, "offset")), op_value_tensor(mean),
                  op_value_tensor(&inverse), op_value_real(op_call_real(call, "epsilon")),
                  op_value_tensor(op_call_tensor(call, "y")));
}

static void move_toward(struct op_chain *chain, const char *running, const struct op_tensor *batch,
                        double factor, double correction, const struct op_tensor *out)
{
    OP_CHAIN_CALL(chain, "BnToward", op_value_tensor(op_call_tensor(chain->call, running)),
                  op_value_tensor(batch), op_value_real(factor), op_value_real(correction),
                  op_value_tensor(out));
}

static void update(struct op_chain *chain)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *mean = op_call_tensor(call, "batchMean"),
                           *variance = op_call_tensor(call, "batchVariance");
    const double count = per_channel(op_call_tensor(call, "x")),
                 factor = op_call_scalar(call, "factor")->real;
    const struct op_scalar inverse = op_scalar_real(1 / count);
    if (count == 0) {
        return;
    }
    OP_CHAIN_CALL(chain, "Muls", op_value_tensor(op_call_tensor(call, "sum")),
                  op_value_scalar(&inverse), op_value_tensor(mean));
    OP_CHAIN_CALL(chain, "BnVariance", op_value_tensor(op_call_tensor(call, "squareSum")),
                  op_value_tensor(mean), op_value_real(count), op_value_tensor(variance));
    move_toward(chain, "mean", mean, factor, 1, op_call_tensor(call, "meanOut"));
    move_toward(chain, "variance", variance, factor, count > 1 ? count / (count - 1) : 1,
                op_call_tensor(call, "varianceOut"));
    normalise(chain, mean, variance);
}

static leo_status plan_bn_update(const struct op_call *call)
{
    static const char *const channels[] = {"sum",       "squareSum",     "scale",   "offset",
                                           "mean",      "variance",      "meanOut", "varianceOut",
                                           "batchMean", "batchVariance", NULL};
    static const struct part part = {channels, {"y"}, OP_BLOCKS_UPDATE, update};
    return plan_part(call, &part);
}

static void infer(struct op_chain *chain)
{
    normalise(chain, op_call_tensor(chain->call, "mean"), op_call_tensor(chain->call, "variance"));
}

static leo_status plan_bn_infer(const struct op_call *call)
{
    static const char *const channels[] = {"scale", "offset", "mean", "variance", NULL};
    static const struct part part = {channels, {"y"}, OP_BLOCKS_INFER, infer};
    return plan_part(call, &part);
}

static void update_gradient(struct op_chain *chain)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *x = op_call_tensor(call, "x"), *grads = op_call_tensor(call, "grads"),
                           inverse = invert(chain, op_call_tensor(call, "batchVariance"));
    OP_CHAIN_CALL(chain, "BatchNormReduceBackward", op_value_tensor(grads), op_value_tensor(x),
                  op_value_tensor(op_call_tensor(call, "batchMean")), op_value_tensor(&inverse),
                  op_value_tensor(NULL), op_value_int(0), op_value_int(1), op_value_int(1),
                  op_value_tensor(NULL), op_value_tensor(NULL),
                  op_value_tensor(op_call_tensor(call, "diffScale")),
                  op_value_tensor(op_call_tensor(call, "diffOffset")));
}

static leo_status plan_bn_update_gradient(const struct op_call *call)
{
    static const char *const channels[] = {"batchMean", "batchVariance", "diffScale", "diffOffset",
                                           NULL};
    static const struct part part = {
        channels, {"grads"}, OP_BLOCKS_UPDATE_GRADIENT, update_gradient};
    return plan_part(call, &part);
}

static void reduce_gradient(struct op_chain *chain)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *x = op_call_tensor(call, "x"), *grads = op_call_tensor(call, "grads"),
                           *variance = op_call_tensor(call, "batchVariance");
    const int64_t one = 1;
    if (op_tensor_count(x) == 0) {
        return;
    }
    const struct op_tensor inverse = invert(chain, variance),
                           along = op_chain_temp_like(chain, OP_TYPE_F32, variance),
                           count = op_chain_temp(chain, OP_TYPE_I32, 1, &one);
    op_chain_fill(chain, &count, per_channel(x));
    // The row takes the sum of grads * (x - mean).
    OP_CHAIN_CALL(chain, "Div", op_value_tensor(op_call_tensor(call, "diffScale")),
                  op_value_tensor(&inverse), op_value_tensor(&along));
    OP_CHAIN_CALL(chain, "BatchNormElemtBackward", op_value_tensor(grads), op_value_tensor(x),
                  op_value_tensor(op_call_tensor(call, "batchMean")), op_value_tensor(&inverse),
                  op_value_tensor(op_call_tensor(call, "scale")),
                  op_value_tensor(op_call_tensor(call, "diffOffset")), op_value_tensor(&along),
                  op_value_tensor(&count), op_value_tensor(op_call_tensor(call, "y")));
}

static leo_status plan_bn_reduce_gradient(const struct op_call *call)
{
    static const char *const channels[] = {"diffScale", "diffOffset",    "scale",
                                           "batchMean", "batchVariance", NULL};
    static const struct part part = {
        channels, {"grads", "y"}, OP_BLOCKS_REDUCE_GRADIENT, reduce_gradient};
    return plan_part(call, &part);
}

// Rows of sums, one a device, become one mean and deviation.
static leo_status plan_gather_stats(const struct op_call *call)
{
    static const char *const outs[] = {"mean", "variance", "batchMean", "batchInvstd"};
    const struct op_tensor *sums = op_call_tensor(call, "totalSum"),
                           *squares = op_call_tensor(call, "totalSquareSum"),
                           *counts = op_call_tensor(call, "sampleCount"),
                           *batch_mean = op_call_tensor(call, "batchMean"),
                           *inverse = op_call_tensor(call, "batchInvstd");
    if (sums->rank != 2 || !op_tensor_same_shape(sums, squares) || counts->rank != 1 ||
        counts->dim[0] != sums->dim[0]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "totalSum has shape %s, totalSquareSum %s and sampleCount %s",
                            op_tensor_shape_text(sums).text, op_tensor_shape_text(squares).text,
                            op_tensor_shape_text(counts).text);
    }
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < 4; i++) {
        status = op_call_check_shape(call, outs[i], 1, &sums->dim[1]);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const double momentum = op_call_real(call, "momentum");
    const int64_t one = 1;
    const struct op_tensor count = op_chain_temp(&chain, OP_TYPE_F32, 1, &one),
                           mean = op_chain_wide(&chain, batch_mean),
                           total = op_chain_temp_like(&chain, OP_TYPE_F32, &mean),
                           second = op_chain_temp_like(&chain, OP_TYPE_F32, &mean),
                           unbiased = op_chain_temp_like(&chain, OP_TYPE_F32, &mean);
    struct op_tensor number = count;
    number.rank = 0;
    op_chain_sum(&chain, counts, 0, &number);
    op_chain_sum(&chain, sums, 0, &total);
    op_chain_sum(&chain, squares, 0, &second);
    OP_CHAIN_CALL(&chain, "Div", op_value_tensor(&total), op_value_tensor(&count),
                  op_value_tensor(&mean));
    OP_CHAIN_CALL(&chain, "GatheredVariance", op_value_tensor(&second), op_value_tensor(&mean),
                  op_value_tensor(&count), op_value_int(1), op_value_tensor(&unbiased));
    OP_CHAIN_CALL(&chain, "GatheredVariance", op_value_tensor(&second), op_value_tensor(&mean),
                  op_value_tensor(&count), op_value_int(0), op_value_tensor(&total));
    move_toward(&chain, "mean", &mean, momentum, 1, op_call_tensor(call, "mean"));
    move_toward(&chain, "variance", &unbiased, momentum, 1, op_call_tensor(call, "variance"));
    OP_CHAIN_CALL(&chain, "GatheredInverse", op_value_tensor(&total),
                  op_value_real(op_call_real(call, "eps")), op_value_tensor(inverse));
    op_chain_give(&chain, batch_mean, &mean);
    return chain.status;
}

/* ---- softmax with more ---- */

// The mask of a call, or a made one above the diagonal.
static struct op_tensor take_mask(struct op_chain *chain, bool triangle, const struct op_tensor *x)
{
    if (!triangle) {
        return *op_call_tensor(chain->call, "mask");
    }
    const int64_t *plane = x->dim + x->rank - 2;
    const struct op_tensor ones = op_chain_temp(chain, OP_TYPE_BOOL, 2, plane),
                           mask = op_chain_temp(chain, OP_TYPE_BOOL, 2, plane);
    op_chain_fill(chain, &ones, 1);
    OP_CHAIN_CALL(chain, "Triu", op_value_tensor(&ones), op_value_int(1), op_value_tensor(&mask));
    return mask;
}

static leo_status plan_masked_softmax(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    const bool triangle = op_call_int(call, "fixedTriuMask");
    if (x->rank < 2) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x has shape %s: it must be matrices",
                            op_tensor_shape_text(x).text);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor mask = take_mask(&chain, triangle, x),
                           scores = op_chain_temp_like(&chain, OP_TYPE_F32, x);
    OP_CHAIN_CALL(&chain, "ScaleOrMask", op_value_tensor(x), op_value_tensor(&mask),
                  op_value_real(op_call_real(call, "scale")), op_value_tensor(&scores));
    OP_CHAIN_CALL(&chain, "Softmax", op_value_tensor(&scores), op_value_int(-1),
                  op_value_tensor(op_call_tensor(call, "y")));
    return chain.status;
}

static leo_status plan_masked_softmax_gradient(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    const bool triangle = op_call_int(call, "fixTriuMask");
    if (y->rank < 2) {
        return op_call_fail(call, LEO_ERR_SHAPE, "y has shape %s: it must be matrices",
                            op_tensor_shape_text(y).text);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor mask = take_mask(&chain, triangle, y),
                           made = op_chain_temp_like(&chain, OP_TYPE_F32, y);
    OP_CHAIN_CALL(&chain, "SoftmaxBackward", op_value_tensor(op_call_tensor(call, "gradOutput")),
                  op_value_tensor(y), op_value_int(-1), op_value_tensor(&made));
    OP_CHAIN_CALL(&chain, "MaskedGradient", op_value_tensor(&made), op_value_tensor(&mask),
                  op_value_real(op_call_real(call, "scale")),
                  op_value_tensor(op_call_tensor(call, "out")));
    return chain.status;
}

static leo_status plan_softmax_cross_entropy(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "features"),
                           *labels = op_call_tensor(call, "labels"),
                           *loss = op_call_tensor(call, "loss"),
                           *back = op_call_tensor(call, "backprop");
    if (x->rank != 2 || !op_tensor_same_shape(x, labels) || !op_tensor_same_shape(x, back)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "features have shape %s, labels %s, backprop %s: one of two dimensions",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(labels).text,
                            op_tensor_shape_text(back).text);
    }
    leo_status status = op_call_check_shape(call, "loss", 1, x->dim);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_scalar one = op_scalar_int(1);
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor logs = op_chain_temp_like(&chain, OP_TYPE_F32, x),
                           terms = op_chain_temp_like(&chain, OP_TYPE_F32, x),
                           sums = op_chain_temp_like(&chain, OP_TYPE_F32, loss);
    OP_CHAIN_CALL(&chain, "LogSoftmax", op_value_tensor(x), op_value_int(1),
                  op_value_tensor(&logs));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&logs), op_value_tensor(labels),
                  op_value_tensor(&terms));
    op_chain_sum(&chain, &terms, 1, &sums);
    OP_CHAIN_CALL(&chain, "Neg", op_value_tensor(&sums), op_value_tensor(loss));
    OP_CHAIN_CALL(&chain, "Exp", op_value_tensor(&logs), op_value_tensor(&terms));
    OP_CHAIN_CALL(&chain, "Sub", op_value_tensor(&terms), op_value_tensor(labels),
                  op_value_scalar(&one), op_value_tensor(back));
    return chain.status;
}

/* ---- sums, steps, products ---- */

static leo_status plan_add_n(const struct op_call *call)
{
    const struct op_tensor_list *list = op_call_value(call, "tensors")->tensors;
    const struct op_tensor *out = op_call_tensor(call, "out");
    const struct op_scalar one = op_scalar_int(1);
    if (list->count == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE, "there are no tensors to add");
    }
    struct op_chain chain = op_chain_begin(call);
    if (list->count == 1) {
        op_chain_copy(&chain, out, list->items[0]);
    }
    // Halves are added up in f32.
    const bool wide = list->count > 2 && (out->type == OP_TYPE_F16 || out->type == OP_TYPE_BF16);
    const struct op_tensor sum = wide ? op_chain_temp_like(&chain, OP_TYPE_F32, out) : *out;
    for (uint64_t i = 1; i < list->count; i++) {
        OP_CHAIN_CALL(&chain, "Add", op_value_tensor(i == 1 ? list->items[0] : &sum),
                      op_value_tensor(list->items[i]), op_value_scalar(&one),
                      op_value_tensor(i + 1 == list->count ? out : &sum));
    }
    return chain.status;
}

// Products of i8 are exact in f32 for as many terms as fit: 2^24 / 127^2, then sums of parts.
enum { EXACT_TERMS = 1024 };

static void multiply_integers(struct op_chain *chain, const struct op_tensor *a,
                              const struct op_tensor *b, const struct op_tensor *out)
{
    const struct op_scalar one = op_scalar_int(1);
    for (int64_t k = 0; k < a->dim[1]; k += EXACT_TERMS) {
        const int64_t terms = a->dim[1] - k < EXACT_TERMS ? a->dim[1] - k : EXACT_TERMS;
        const uint64_t mark = op_plan_temp_mark(chain->plan);
        const struct op_tensor a_part = op_view_slice(a, 1, k, terms),
                               b_part = op_view_slice(b, 0, k, terms),
                               a_half = op_chain_dense(chain, OP_TYPE_F16, &a_part),
                               b_half = op_chain_dense(chain, OP_TYPE_F16, &b_part),
                               part = op_chain_temp_like(chain, OP_TYPE_F32, out);
        OP_CHAIN_CALL(chain, "Matmul", op_value_tensor(&a_half), op_value_tensor(&b_half),
                      op_value_tensor(&part), op_value_int(0));
        if (k == 0) {
            op_chain_copy(chain, out, &part);
        } else {
            const struct op_tensor whole = op_chain_dense(chain, OP_TYPE_I32, &part);
            OP_CHAIN_CALL(chain, "InplaceAdd", op_value_tensor(out), op_value_tensor(&whole),
                          op_value_scalar(&one));
        }
        op_plan_temp_release(chain->plan, mark);
    }
}

static leo_status plan_gemm(const struct op_call *call)
{
    const struct op_tensor *a = op_call_tensor(call, "a"), *b = op_call_tensor(call, "b"),
                           *c = op_call_tensor(call, "c");
    const bool integers = a->type == OP_TYPE_I8;
    if (a->rank != 2 || b->rank != 2 || c->rank != 2 || a->dim[1] != b->dim[0] ||
        a->dim[0] != c->dim[0] || b->dim[1] != c->dim[1] || a->type != b->type ||
        integers != (c->type == OP_TYPE_I32)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "a %s %s, b %s %s and c %s %s do not fit",
                            op_type_name(a->type), op_tensor_shape_text(a).text,
                            op_type_name(b->type), op_tensor_shape_text(b).text,
                            op_type_name(c->type), op_tensor_shape_text(c).text);
    }
    if (op_tensor_count(c) == 0) {
        return LEO_OK;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor product =
        op_chain_temp_like(&chain, integers ? OP_TYPE_I32 : OP_TYPE_F32, c);
    if (integers) {
        multiply_integers(&chain, a, b, &product);
    } else {
        op_chain_matmul(&chain, a, b, &product);
    }
    OP_CHAIN_CALL(&chain, "BlasSum", op_value_tensor(&product), op_value_tensor(c),
                  op_value_tensor(op_call_tensor(call, "alpha")),
                  op_value_tensor(op_call_tensor(call, "beta")), op_value_tensor(c));
    return chain.status;
}

leo_status op_plan_aclop_composed(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"max_pool", plan_max_pool},
        {"max_pool_gradient", plan_max_pool_gradient},
        {"bias_gradient", plan_bias_gradient},
        {"bn_reduce", plan_bn_reduce},
        {"bn_update", plan_bn_update},
        {"bn_update_gradient", plan_bn_update_gradient},
        {"bn_reduce_gradient", plan_bn_reduce_gradient},
        {"bn_infer", plan_bn_infer},
        {"gather_stats", plan_gather_stats},
        {"masked_softmax", plan_masked_softmax},
        {"masked_softmax_gradient", plan_masked_softmax_gradient},
        {"softmax_cross_entropy", plan_softmax_cross_entropy},
        {"add_n", plan_add_n},
        {"adam", op_adam_plan},
        {"gemm", plan_gemm},
    };
    const char *word = op_row_attr(call->row, "composed");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no operator");
}
