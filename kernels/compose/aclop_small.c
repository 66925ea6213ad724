/* SPDX-License-Identifier: Apache-2.0 */
/* Small operators known by type name alone, made of other rows. A row says which ("small"). */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>
#include <string.h>

enum { BITS = 8, RANGES = 256 };

/* ---- sequences ---- */

static leo_status plan_normalize_batch(const struct op_call *call)
{
    static const int64_t dims[] = {2, 1};
    const struct op_tensor *x = op_call_tensor(call, "x"),
                           *lengths = op_call_tensor(call, "lengths"),
                           *y = op_call_tensor(call, "y");
    const bool all = op_call_int(call, "all") != 0;
    leo_status status = x->rank == 3 ? op_call_check_shape(call, "y", 3, x->dim)
                                     : op_call_fail(call, LEO_ERR_SHAPE,
                                                    "x has shape %s: it must have 3 dimensions",
                                                    op_tensor_shape_text(x).text);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "lengths", 1, x->dim);
    }
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t shape[] = {x->dim[0], all ? 1 : x->dim[1], 1};
    const struct op_tensor flat = op_chain_dense(&chain, lengths->type, lengths),
                           length = op_view_shape(&flat, 3, (const int64_t[]){x->dim[0], 1, 1}),
                           part = op_chain_temp_like(&chain, OP_TYPE_F32, x),
                           sum = op_chain_temp(&chain, OP_TYPE_F32, 3, shape),
                           squares = op_chain_temp(&chain, OP_TYPE_F32, 3, shape);
    const struct op_value features = op_value_real(all ? (double)x->dim[1] : 1);
    OP_CHAIN_CALL(&chain, "AclStepsPart", op_value_tensor(x), op_value_tensor(&length),
                  op_value_tensor(&part));
    op_chain_sum_kept(&chain, &part, dims, all ? 2 : 1, &sum);
    OP_CHAIN_CALL(&chain, "AclStepsSquare", op_value_tensor(x), op_value_tensor(&length),
                  op_value_tensor(&sum), features, op_value_tensor(&part));
    op_chain_sum_kept(&chain, &part, dims, all ? 2 : 1, &squares);
    OP_CHAIN_CALL(&chain, "AclStepsNormal", op_value_tensor(x), op_value_tensor(&length),
                  op_value_tensor(&sum), op_value_tensor(&squares), features,
                  op_value_real(op_call_real(call, "epsilon")), op_value_tensor(y));
    return chain.status;
}

/* ---- parts of attention ---- */

// The mask has a byte for each element, and may be longer.
static leo_status check_drop(const struct op_call *call)
{
    const double keep = op_call_real(call, "keep");
    const struct op_tensor *mask = op_call_tensor(call, "mask"),
                           *softmax = op_call_tensor(call, "softmax");
    if (!(keep > 0 && keep <= 1)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "input_keep_prob is %g: it must be above 0 and 1 at most", keep);
    }
    return mask->rank == 1 && mask->dim[0] >= op_tensor_count(softmax)
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "the mask has shape %s: it must be a list of a byte for each element "
                              "of %s",
                              op_tensor_shape_text(mask).text, op_tensor_shape_text(softmax).text);
}

static void drop(struct op_chain *chain, const struct op_tensor *x, const struct op_tensor *out)
{
    const struct op_tensor mask = op_chain_dense(chain, OP_TYPE_U8,
                                                 op_call_tensor(chain->call, "mask")),
                           part = op_view_slice(&mask, 0, 0, op_tensor_count(x)),
                           shaped = op_view_shape(&part, x->rank, x->dim);
    OP_CHAIN_CALL(chain, "AclMaskBytes", op_value_tensor(x), op_value_tensor(&shaped),
                  op_value_real(op_call_real(chain->call, "keep")), op_value_tensor(out));
}

static leo_status plan_bias_add(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    const bool second = op_call_int(call, "place") % 2 && x->rank >= 2;
    struct op_tensor bias = *op_call_tensor(call, "bias");
    const int64_t channels = x->rank ? x->dim[second ? 1 : x->rank - 1] : 0;
    leo_status status = op_call_check_shape(call, "bias", 1, &channels);
    struct op_chain chain = op_chain_begin(call);
    chain.status = status;
    for (unsigned i = 2; second && i < x->rank; i++) {
        bias = op_view_insert(&bias, bias.rank);
    }
    const struct op_scalar one = op_scalar_int(1);
    OP_CHAIN_CALL(&chain, "Add", op_value_tensor(x), op_value_tensor(&bias), op_value_scalar(&one),
                  *op_call_value(call, "y"));
    return chain.status;
}

static leo_status plan_axpy_softmax(const struct op_call *call)
{
    const struct op_tensor *softmax = op_call_tensor(call, "softmax");
    const struct op_scalar alpha = op_scalar_real(op_call_real(call, "alpha"));
    const leo_status status = check_drop(call);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sum = op_chain_temp_like(&chain, OP_TYPE_F32, softmax);
    OP_CHAIN_CALL(&chain, "Add", *op_call_value(call, "x1"), *op_call_value(call, "x2"),
                  op_value_scalar(&alpha), op_value_tensor(&sum));
    OP_CHAIN_CALL(&chain, "Softmax", op_value_tensor(&sum), op_value_int(op_call_int(call, "axis")),
                  op_value_tensor(softmax));
    drop(&chain, softmax, op_call_tensor(call, "y"));
    return chain.status;
}

static leo_status plan_axpy_softmax_gradient(const struct op_call *call)
{
    const struct op_tensor *grad = op_call_tensor(call, "grad"), *y = op_call_tensor(call, "y");
    const struct op_scalar alpha = op_scalar_real(op_call_real(call, "alpha"));
    const leo_status status = check_drop(call);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor kept = op_chain_temp_like(&chain, OP_TYPE_F32, grad),
                           whole = op_chain_temp_like(&chain, OP_TYPE_F32, y),
                           wide = op_chain_dense(&chain, OP_TYPE_F32, grad),
                           softmax =
                               op_chain_dense(&chain, OP_TYPE_F32, op_call_tensor(call, "softmax"));
    drop(&chain, &wide, &kept);
    OP_CHAIN_CALL(&chain, "SoftmaxBackward", op_value_tensor(&kept), op_value_tensor(&softmax),
                  op_value_int(op_call_int(call, "axis")), op_value_tensor(&whole));
    OP_CHAIN_CALL(&chain, "Muls", op_value_tensor(&whole), op_value_scalar(&alpha),
                  op_value_tensor(y));
    return chain.status;
}

/* ---- bits ---- */

// Bits beyond the last element are 0.
static leo_status plan_sign_pack(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const int64_t count = op_tensor_count(x), bytes = (count + BITS - 1) / BITS,
                  all[] = {bytes * BITS}, rows[] = {bytes, BITS}, last = 1, sums[] = {bytes, 1};
    if (op_tensor_count(y) != bytes || y->type != OP_TYPE_U8) {
        return op_call_fail(call, LEO_ERR_SHAPE, "y %s %s must have %" PRId64 " bytes",
                            op_type_name(y->type), op_tensor_shape_text(y).text, bytes);
    }
    if (bytes == 0) {
        return LEO_OK;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor wide = op_chain_dense(&chain, OP_TYPE_F32, x),
                           flat = op_view_shape(&wide, 1, &count),
                           padded = op_chain_temp(&chain, OP_TYPE_F32, 1, all),
                           to = op_view_slice(&padded, 0, 0, count),
                           bits = op_view_shape(&padded, 2, rows),
                           weights = op_chain_temp(&chain, OP_TYPE_F32, 2, rows),
                           sum = op_chain_temp(&chain, OP_TYPE_F32, 2, sums),
                           packed = op_view_shape(&sum, y->rank, y->dim);
    op_chain_fill(&chain, &padded, -1);
    op_chain_copy(&chain, &to, &flat);
    OP_CHAIN_CALL(&chain, "AclSignBit", op_value_tensor(&bits), op_value_tensor(&weights));
    op_chain_sum_kept(&chain, &weights, &last, 1, &sum);
    op_chain_copy(&chain, y, &packed);
    return chain.status;
}

static leo_status plan_sign_unpack(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const int64_t bytes = op_tensor_count(x), rows[] = {bytes, BITS}, column[] = {bytes, 1};
    if (op_tensor_count(y) != bytes * BITS) {
        return op_call_fail(call, LEO_ERR_SHAPE, "y has shape %s: it must have 8 elements a byte",
                            op_tensor_shape_text(y).text);
    }
    if (bytes == 0) {
        return LEO_OK;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor dense = op_chain_dense(&chain, OP_TYPE_U8, x),
                           byte = op_view_shape(&dense, 2, column),
                           signs = op_chain_temp(&chain, y->type, 2, rows),
                           made = op_view_shape(&signs, y->rank, y->dim);
    OP_CHAIN_CALL(&chain, "AclBitSign", op_value_tensor(&byte), op_value_tensor(&signs));
    op_chain_copy(&chain, y, &made);
    return chain.status;
}

/* ---- places ---- */

static leo_status take_dim(const struct op_call *call, unsigned *dim)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    leo_status status = x->rank ? op_take_dim(call, op_call_int(call, "dim"), x->rank, dim)
                                : op_call_fail(call, LEO_ERR_SHAPE, "x must have a dimension");
    return status == LEO_OK ? op_call_check_shape(call, "y", x->rank, x->dim) : status;
}

static leo_status plan_scatter_one(const struct op_call *call)
{
    unsigned dim;
    leo_status status = take_dim(call, &dim);
    if (status == LEO_OK &&
        (op_call_tensor(call, "index")->rank + 1 != op_call_tensor(call, "x")->rank ||
         op_call_tensor(call, "update")->rank + 1 != op_call_tensor(call, "x")->rank)) {
        status = op_call_fail(call, LEO_ERR_SHAPE,
                              "indices and updates must have the dimensions of x but one");
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor index = op_view_insert(op_call_tensor(call, "index"), dim),
                           update = op_view_insert(op_call_tensor(call, "update"), dim);
    const struct op_value args[] = {*op_call_value(call, "x"), op_value_int(dim),
                                    op_value_tensor(&index),   op_value_tensor(&update),
                                    op_value_int(0),           *op_call_value(call, "y")};
    return op_plan_call(call->plan, "Scatter", args, 6);
}

static leo_status check_ranges(const struct op_call *call, bool last)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *begin = op_call_tensor(call, "begin"),
                           *end = op_call_tensor(call, "end"),
                           *value = op_call_tensor(call, "value");
    const bool by_row = last && x->rank > 1;
    if (begin->rank != 2 || !op_tensor_same_shape(begin, end) || value->rank != 1 ||
        value->dim[0] != begin->dim[0] || (by_row && begin->dim[1] != x->dim[0]) ||
        begin->dim[0] * (by_row ? 1 : begin->dim[1]) > RANGES) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "start %s, end %s and value %s do not fit x %s: they must be [ranges, "
                            "rows] of at most 256 ranges, and one value a range",
                            op_tensor_shape_text(begin).text, op_tensor_shape_text(end).text,
                            op_tensor_shape_text(value).text, op_tensor_shape_text(x).text);
    }
    return LEO_OK;
}

// Bounds of a range, one for each row of x or one alone, with the dimensions of x.
static struct op_tensor bounds(const struct op_tensor *table, int64_t range, int64_t column,
                               bool by_row, unsigned rank)
{
    const struct op_tensor row = op_view_select(table, 0, range);
    struct op_tensor view = by_row ? row : op_view_slice(&row, 0, column, 1);
    while (view.rank < rank) {
        view = op_view_insert(&view, view.rank);
    }
    return view;
}

// Later ranges win.
static leo_status plan_fill_range(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *begin = op_call_tensor(call, "begin"),
                           *end = op_call_tensor(call, "end"),
                           *value = op_call_tensor(call, "value"), *y = op_call_tensor(call, "y");
    unsigned dim;
    leo_status status = take_dim(call, &dim);
    const unsigned last = x->rank - 1;
    if (status == LEO_OK) {
        status = check_ranges(call, dim == last);
    }
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    const bool by_row = dim == last && x->rank > 1;
    const int64_t columns = by_row ? 1 : begin->dim[1];
    const struct op_tensor turned = op_view_swap(y, dim, last);
    struct op_chain chain = op_chain_begin(call);
    op_chain_copy(&chain, y, x);
    for (int64_t i = 0; i < begin->dim[0]; i++) {
        const struct op_tensor one = op_view_slice(value, 0, i, 1);
        for (int64_t j = 0; j < columns; j++) {
            const struct op_tensor from = bounds(begin, i, j, by_row, x->rank),
                                   to = bounds(end, i, j, by_row, x->rank);
            OP_CHAIN_CALL(&chain, "AclBetween", op_value_tensor(&turned), op_value_tensor(&from),
                          op_value_tensor(&to), op_value_tensor(&one), op_value_tensor(&turned));
        }
    }
    return chain.status;
}

static leo_status plan_renorm(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const int64_t asked = op_call_int(call, "dim"), dim = asked < 0 ? asked + x->rank : asked;
    int64_t others[OP_RANK_MAX], shape[OP_RANK_MAX];
    struct op_ints over = {others, 0};
    if (x->rank < 2 || dim < 0 || dim >= x->rank) {
        return op_call_fail(call, LEO_ERR_SHAPE, "dim %" PRId64 " is not one of x of shape %s",
                            asked, op_tensor_shape_text(x).text);
    }
    for (unsigned i = 0; i < x->rank; i++) {
        shape[i] = (int64_t)i == dim ? x->dim[i] : 1;
        if ((int64_t)i != dim) {
            others[over.count++] = i;
        }
    }
    leo_status status = op_call_check_shape(call, "y", x->rank, shape);
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor norm = op_chain_temp_like(&chain, OP_TYPE_F32, y);
    OP_CHAIN_CALL(&chain, "Norm", op_value_tensor(x), op_value_scalar(op_call_scalar(call, "p")),
                  op_value_ints(&over), op_value_int(1), op_value_tensor(&norm));
    OP_CHAIN_CALL(&chain, "AclRatio", op_value_tensor(&norm),
                  op_value_real(op_call_real(call, "most")), op_value_tensor(y));
    return chain.status;
}

static leo_status plan_triangular(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *a = op_call_tensor(call, "a"),
                           kept = op_chain_temp_like(&chain, a->type, a);
    OP_CHAIN_CALL(&chain, "TriangularSolve", *op_call_value(call, "b"), op_value_tensor(a),
                  op_value_int(!op_call_int(call, "lower")),
                  op_value_int(op_call_int(call, "adjoint")), op_value_int(0),
                  *op_call_value(call, "x"), op_value_tensor(&kept));
    return chain.status;
}

/* ---- resampling ---- */

// Linear calls have one size, cubic ones two; a scale of 0 stands for that of the sizes.
static leo_status check_resize(const struct op_call *call, const char *name, uint64_t sizes)
{
    const struct op_tensor *x = op_call_tensor(call, name);
    const uint64_t given = op_call_ints(call, "sizes")->count,
                   scales = op_call_value(call, "scales")->floats->count;
    return x->rank == 4 && given == sizes && (scales == 0 || scales == 1 || scales == 2)
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "%s of shape %s, %" PRIu64 " sizes and %" PRIu64
                              " scales do not fit: 4 dimensions are possible",
                              name, op_tensor_shape_text(x).text, given, scales);
}

static struct op_value scale_of(const struct op_call *call, uint64_t index)
{
    const struct op_floats *scales = op_call_value(call, "scales")->floats;
    return op_value_real(index < scales->count ? (double)scales->items[index] : 0);
}

static leo_status plan_resize(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    const bool linear = op_call_ints(call, "sizes")->count == 1;
    leo_status status = check_resize(call, "x", linear ? 1 : 2);
    if (status == LEO_OK && linear && x->dim[2] != 1) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "x has shape %s: its height must be 1",
                              op_tensor_shape_text(x).text);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (linear) {
        const struct op_tensor row = op_view_select(x, 2, 0);
        const struct op_value args[] = {op_value_tensor(&row), *op_call_value(call, "sizes"),
                                        op_value_int(op_call_int(call, "aligned")),
                                        scale_of(call, 0), *op_call_value(call, "y")};
        return op_plan_call(call->plan, "UpsampleLinear1d", args, 5);
    }
    const struct op_value args[] = {op_value_tensor(x),
                                    *op_call_value(call, "sizes"),
                                    op_value_int(op_call_int(call, "aligned")),
                                    scale_of(call, 0),
                                    scale_of(call, 1),
                                    *op_call_value(call, "y")};
    return op_plan_call(call->plan, "UpsampleBicubic2d", args, 6);
}

static leo_status plan_linear_gradient(const struct op_call *call)
{
    const struct op_tensor *grads = op_call_tensor(call, "grads");
    if (grads->dim[2] != 1) {
        return op_call_fail(call, LEO_ERR_SHAPE, "grads has shape %s: its height must be 1",
                            op_tensor_shape_text(grads).text);
    }
    const struct op_tensor row = op_view_select(grads, 2, 0);
    const struct op_ints out = {&row.dim[2], 1};
    const struct op_value args[] = {op_value_tensor(&row),
                                    op_value_ints(&out),
                                    *op_call_value(call, "sizes"),
                                    op_value_int(op_call_int(call, "aligned")),
                                    scale_of(call, 0),
                                    *op_call_value(call, "y")};
    return op_plan_call(call->plan, "UpsampleLinear1dBackward", args, 6);
}

static leo_status plan_resize_gradient(const struct op_call *call)
{
    static const unsigned order[] = {2, 3, 0, 1};
    const struct op_tensor *grads = op_call_tensor(call, "grads"), *y = op_call_tensor(call, "y");
    const bool linear = op_call_ints(call, "sizes")->count == 3;
    leo_status status = check_resize(call, "grads", linear ? 3 : 4);
    if (status != LEO_OK || linear) {
        return status == LEO_OK ? plan_linear_gradient(call) : status;
    }
    status = op_call_check_shape(call, "y", 4, op_call_ints(call, "sizes")->items);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t rows[] = {y->dim[2], y->dim[3], y->dim[0], y->dim[1]};
    const struct op_tensor made = op_chain_temp_like(&chain, y->type, y),
                           shaped = op_view_shape(&made, 4, rows),
                           to = op_tensor_permute(&shaped, order),
                           from = op_tensor_permute(grads, order);
    const struct op_ints out = {from.dim + 2, 2};
    OP_CHAIN_CALL(&chain, "UpsampleBicubic2dBackward", op_value_tensor(&from), op_value_ints(&out),
                  *op_call_value(call, "sizes"), op_value_int(op_call_int(call, "aligned")),
                  scale_of(call, 0), scale_of(call, 1), op_value_tensor(&to));
    op_chain_copy(&chain, y, &made);
    return chain.status;
}

leo_status op_plan_aclop_small(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"normalize_batch", plan_normalize_batch},
        {"bias_add", plan_bias_add},
        {"axpy_softmax", plan_axpy_softmax},
        {"axpy_softmax_gradient", plan_axpy_softmax_gradient},
        {"sign_pack", plan_sign_pack},
        {"sign_unpack", plan_sign_unpack},
        {"scatter_one", plan_scatter_one},
        {"fill_range", plan_fill_range},
        {"renorm", plan_renorm},
        {"triangular", plan_triangular},
        {"resize", plan_resize},
        {"resize_gradient", plan_resize_gradient},
    };
    const char *word = op_row_attr(call->row, "small");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no operator");
}
