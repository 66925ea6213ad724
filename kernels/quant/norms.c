/* SPDX-License-Identifier: Apache-2.0 */
/* RmsNorm of a sum, cast or quantised. The sum and the norm are f32 until the last step. */
#include "rows.h"

#include <string.h>

static leo_status check(const struct op_call *call, const struct op_tensor *x)
{
    const struct op_tensor *other = op_call_optional(call, "x2"),
                           *gamma = op_call_tensor(call, "gamma"),
                           *beta = op_call_optional(
                               call, op_call_has(call, "beta") ? "beta" : "betaOptional");
    const int64_t width = x->rank ? x->dim[x->rank - 1] : 0;
    if (x->rank == 0 || (other && !op_tensor_same_shape(x, other)) ||
        op_tensor_count(gamma) != width || (beta && op_tensor_count(beta) != width)) {
        return op_moe_fail_shapes(call, x, other ? other : x, gamma);
    }
    return other ? op_call_check_shape(call, "xOut", x->rank, x->dim) : LEO_OK;
}

// The sum if there are two, as f32; xOut gets it.
static struct op_tensor sum_of(struct op_chain *chain, const struct op_tensor *x)
{
    const struct op_tensor *other = op_call_optional(chain->call, "x2");
    const struct op_scalar one = op_scalar_int(1);
    if (!other) {
        return op_chain_dense(chain, OP_TYPE_F32, x);
    }
    const struct op_tensor sum = op_chain_temp_like(chain, OP_TYPE_F32, x);
    OP_CHAIN_CALL(chain, "Add", op_value_tensor(x), op_value_tensor(other), op_value_scalar(&one),
                  op_value_tensor(&sum));
    op_chain_copy(chain, op_call_tensor(chain->call, "xOut"), &sum);
    return sum;
}

static struct op_tensor row_of(struct op_chain *chain, const struct op_tensor *tensor)
{
    return op_moe_flat(chain, tensor);
}

// RmsNorm of x in f32; `inverse` NULL: its deviations are not wanted.
static struct op_tensor norm_of(struct op_chain *chain, const struct op_tensor *x,
                                const struct op_tensor *inverse)
{
    struct op_tensor like = *x;
    like.dim[x->rank - 1] = 1;
    const struct op_tensor gamma = row_of(chain, op_call_tensor(chain->call, "gamma")),
                           out = op_chain_temp_like(chain, OP_TYPE_F32, x),
                           unused =
                               inverse ? *inverse : op_chain_temp_like(chain, OP_TYPE_F32, &like);
    OP_CHAIN_CALL(chain, "RmsNorm", op_value_tensor(x), op_value_tensor(&gamma),
                  op_value_real(op_call_real(chain->call, "epsilon")), op_value_tensor(&out),
                  op_value_tensor(&unused));
    return out;
}

static struct op_tensor plus_beta(struct op_chain *chain, const struct op_tensor *norm)
{
    const struct op_tensor *beta =
        op_call_optional(chain->call, op_call_has(chain->call, "beta") ? "beta" : "betaOptional");
    const struct op_scalar one = op_scalar_int(1);
    if (!beta) {
        return *norm;
    }
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_F32, norm),
                           row = row_of(chain, beta);
    OP_CHAIN_CALL(chain, "Add", op_value_tensor(norm), op_value_tensor(&row), op_value_scalar(&one),
                  op_value_tensor(&out));
    return out;
}

/* ---- a scale that is given ---- */

static bool fits_row(const struct op_tensor *given, int64_t width)
{
    return !given || op_tensor_count(given) == width || op_tensor_count(given) == 1;
}

static leo_status put_quantised(struct op_chain *chain, const struct op_tensor *norm,
                                const char *scale_name, const char *zero_name, const char *out_name)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *scale = op_call_tensor(call, scale_name),
                           *zero = op_call_tensor(call, zero_name);
    const int64_t width = norm->dim[norm->rank - 1];
    const bool divide = !op_call_has(call, "divMode") || op_call_int(call, "divMode");
    leo_status status = op_quant_check_out(call, out_name, norm, width);
    if (status == LEO_OK && (!fits_row(scale, width) || !fits_row(zero, width))) {
        status = op_moe_fail_shapes(call, norm, scale, zero ? zero : scale);
    }
    if (status != LEO_OK) {
        return status;
    }
    const int64_t one = 1;
    struct op_tensor offset =
        zero ? row_of(chain, zero) : op_chain_temp(chain, OP_TYPE_F32, 1, &one);
    if (!zero) {
        op_chain_fill(chain, &offset, 0);
    }
    const struct op_tensor row = row_of(chain, scale);
    OP_CHAIN_CALL(chain, divide ? "QuantDivideSum" : "QuantMultiplySum", op_value_tensor(norm),
                  op_value_tensor(&row), op_value_tensor(&offset),
                  op_value_tensor(op_call_tensor(call, out_name)));
    return chain->status;
}

static leo_status plan_static(struct op_chain *chain, const struct op_tensor *x)
{
    const struct op_call *call = chain->call;
    const struct op_tensor norm = norm_of(chain, x, NULL),
                           *kept = op_call_optional(call, "rmsNormOut"),
                           y = plus_beta(chain, &norm);
    leo_status status = LEO_OK;
    if (op_call_has(call, "axis") && op_call_int(call, "axis") != -1 &&
        op_call_int(call, "axis") != (int64_t)x->rank - 1) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "axis must be -1, the last dimension");
    }
    if (kept && op_tensor_count(kept)) {
        status = op_call_check_shape(call, "rmsNormOut", x->rank, x->dim);
        op_chain_copy(chain, kept, &norm);
    }
    if (status == LEO_OK && op_call_has(call, "scale")) {
        return put_quantised(chain, &y, "scale", "offset", "y");
    }
    if (status == LEO_OK) {
        status = put_quantised(chain, &y, "scales1", "zeroPoints1Optional", "y1Out");
    }
    return status == LEO_OK && op_call_tensor(call, "scales2Optional")
               ? put_quantised(chain, &y, "scales2Optional", "zeroPoints2Optional", "y2Out")
               : status;
}

/* ---- a scale for each row ---- */

static leo_status put_dynamic(struct op_chain *chain, const struct op_tensor *norm,
                              const char *smooth_name, const char *out_name, const char *scale_name)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *smooth = op_call_tensor(call, smooth_name);
    const int64_t width = norm->dim[norm->rank - 1];
    leo_status status = op_quant_check_out(call, out_name, norm, width);
    if (status == LEO_OK) {
        status = op_quant_check_scale(call, scale_name, norm);
    }
    if (status == LEO_OK && smooth && op_tensor_count(smooth) != width) {
        status = op_moe_fail_shapes(call, norm, smooth, smooth);
    }
    if (status == LEO_OK) {
        struct op_tensor row;
        if (smooth) {
            row = row_of(chain, smooth);
        }
        const struct op_tensor product = op_quant_times(chain, norm, smooth ? &row : NULL),
                               rows = op_quant_rows(chain, OP_TYPE_F32, &product);
        op_quant_dynamic(chain, &rows, op_call_tensor(call, out_name),
                         op_call_tensor(call, scale_name), NULL);
        status = chain->status;
    }
    return status;
}

static leo_status plan_dynamic(struct op_chain *chain, const struct op_tensor *x)
{
    const struct op_call *call = chain->call;
    const struct op_bools *mask =
        op_call_has(call, "outputMask") ? op_call_value(call, "outputMask")->pointer : NULL;
    const bool given = mask && mask->count == 2, first = given ? mask->items[0] : true,
               second =
                   given ? mask->items[1] : op_call_tensor(call, "smoothScale2Optional") != NULL;
    const struct op_tensor norm = norm_of(chain, x, NULL), y = plus_beta(chain, &norm);
    leo_status status =
        first ? put_dynamic(chain, &y, "smoothScale1Optional", "y1Out", "scale1Out") : LEO_OK;
    return status == LEO_OK && second
               ? put_dynamic(chain, &y, "smoothScale2Optional", "y2Out", "scale2Out")
               : status;
}

static leo_status plan_cast(struct op_chain *chain, const struct op_tensor *x)
{
    const struct op_call *call = chain->call;
    leo_status status = op_call_check_shape(call, "y1Out", x->rank, x->dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "y2Out", x->rank, x->dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor norm = norm_of(chain, x, op_call_tensor(call, "rstdOut"));
    op_chain_copy(chain, op_call_tensor(call, "y1Out"), &norm);
    op_chain_copy(chain, op_call_tensor(call, "y2Out"), &norm);
    return chain->status;
}

leo_status op_plan_quant_norm(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, op_call_has(call, "x1") ? "x1" : "x");
    leo_status status = check(call, x);
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sum = sum_of(&chain, x);
    return op_call_has(call, "rstdOut")     ? plan_cast(&chain, &sum)
           : op_call_has(call, "scale1Out") ? plan_dynamic(&chain, &sum)
                                            : plan_static(&chain, &sum);
}
