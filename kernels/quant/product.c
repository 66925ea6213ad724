/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of i8, exact in i32. The cube multiplies the numbers as f16 and adds in f32: a part of k
 * of at most OP_QUANT_EXACT gives whole numbers up to 2^24, which f32 holds; parts are added in
 * i32.
 */
#include "rows.h"

#include <inttypes.h>
#include <string.h>

struct product {
    struct op_tensor a, b; /* [.., m, k], [.., k, n] */
    const struct op_tensor *out, *scale, *row, *offset, *bias;
};

static leo_status check_refused(const struct op_call *call)
{
    static const char *const refused[] = {"yScale", "x1Offset", "yOffset"};
    for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (op_call_given(call, refused[i])) {
            return op_call_fail(call, LEO_ERR_UNSUPPORTED, "%s must be NULL: it is not computed",
                                refused[i]);
        }
    }
    if (op_call_has(call, "groupSize") && op_call_int(call, "groupSize") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "groupSize is %" PRId64 ": scales of groups of k are not computed",
                            op_call_int(call, "groupSize"));
    }
    return LEO_OK;
}

static bool fits_list(const struct op_tensor *list, int64_t count)
{
    return !list || op_tensor_count(list) == count || op_tensor_count(list) == 1;
}

static leo_status check_shapes(const struct op_call *call, const struct product *p)
{
    const struct op_tensor *out = p->out;
    const unsigned last = out->rank - 1;
    const bool ranks = out->rank >= 2 && p->a.rank >= 2 && p->b.rank >= 2;
    const int64_t m = ranks ? p->a.dim[p->a.rank - 2] : 0, n = ranks ? p->b.dim[p->b.rank - 1] : 0;
    const bool fits = ranks && p->a.dim[p->a.rank - 1] == p->b.dim[p->b.rank - 2] &&
                      p->a.dim[p->a.rank - 1] > 0 && out->dim[last - 1] == m &&
                      out->dim[last] == n && fits_list(p->scale, n) && fits_list(p->offset, n) &&
                      (!p->row || (op_tensor_count(p->row) == m && p->row->rank <= 2)) &&
                      (!p->bias || p->bias->dim[p->bias->rank - 1] == n);
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x1 %s and x2 %s into %s with scale %s: they do not fit",
                            op_tensor_shape_text(&p->a).text, op_tensor_shape_text(&p->b).text,
                            op_tensor_shape_text(out).text, op_tensor_shape_text(p->scale).text);
    }
    if (out->type != OP_TYPE_I8 && out->type != OP_TYPE_I32 && out->type != OP_TYPE_F16 &&
        out->type != OP_TYPE_BF16) {
        return op_call_fail(call, LEO_ERR_DTYPE, "out is %s: it must be i8, i32, f16 or bf16",
                            op_type_name(out->type));
    }
    if (p->offset && out->type != OP_TYPE_I8) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "an offset goes with results of i8 alone");
    }
    return LEO_OK;
}

// Words of 4 bits lie along the dimension without gaps: the last one, unless the matrix is seen
// turned.
static void unpack(struct op_chain *chain, struct op_tensor *matrix)
{
    if (matrix->type == OP_TYPE_I32 && matrix->rank >= 2) {
        const unsigned last = matrix->rank - 1;
        const bool turned = matrix->stride[last] != 1 && matrix->stride[last - 1] == 1;
        *matrix = op_quant_unpack(chain, matrix, turned ? last - 1 : last);
    }
}

static leo_status take(struct op_chain *chain, struct product *p)
{
    const struct op_call *call = chain->call;
    const bool v5 = op_call_has(call, "x2Scale");
    *p = (struct product){
        .a = *op_call_tensor(call, "x1"),
        .b = *op_call_tensor(call, "x2"),
        .out = op_call_tensor(call, "out"),
        .scale = op_call_tensor(call, v5 ? "x2Scale" : "scale"),
        .row = op_call_given(call, v5 ? "x1Scale" : "pertokenScaleOptional"),
        .offset = op_call_given(call, v5 ? "x2Offset" : "offset"),
        .bias = op_call_given(call, "bias"),
    };
    unpack(chain, &p->a);
    unpack(chain, &p->b);
    if (op_call_int(call, "transposeX1") && p->a.rank >= 2) {
        p->a = op_view_swap(&p->a, p->a.rank - 2, p->a.rank - 1);
    }
    if (op_call_int(call, "transposeX2") && p->b.rank >= 2) {
        p->b = op_view_swap(&p->b, p->b.rank - 2, p->b.rank - 1);
    }
    leo_status status = check_refused(call);
    return status == LEO_OK ? check_shapes(call, p) : status;
}

// The product of one part of k, as whole numbers in f32.
static struct op_tensor product_of(struct op_chain *chain, const void *user, int64_t begin,
                                   int64_t count)
{
    const struct product *p = user;
    const struct op_tensor some_a = op_view_slice(&p->a, p->a.rank - 1, begin, count),
                           some_b = op_view_slice(&p->b, p->b.rank - 2, begin, count),
                           a = op_chain_dense(chain, OP_TYPE_F16, &some_a),
                           b = op_chain_dense(chain, OP_TYPE_F16, &some_b),
                           out = op_chain_temp_like(chain, OP_TYPE_F32, p->out);
    op_chain_matmul(chain, &a, &b, &out);
    return out;
}

struct op_tensor op_quant_scale_of(struct op_chain *chain, const struct op_tensor *given_scale)
{
    if (given_scale->type != OP_TYPE_U64 && given_scale->type != OP_TYPE_I64) {
        return op_moe_flat(chain, given_scale);
    }
    struct op_tensor words = *given_scale;
    words.type = OP_TYPE_I64; // the same bits
    const struct op_tensor list = op_moe_flat(chain, &words);
    struct op_tensor bits = op_chain_temp_like(chain, OP_TYPE_I32, &list);
    OP_CHAIN_CALL(chain, "QuantScaleBits", op_value_tensor(&list), op_value_tensor(&bits));
    bits.type = OP_TYPE_F32;
    return bits;
}

// What a word says is added to results of i8, if nothing else says it.
static struct op_tensor offset_of(struct op_chain *chain, const struct product *p)
{
    const int64_t one = 1;
    struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, 1, &one);
    if (p->offset) {
        return op_moe_flat(chain, p->offset);
    }
    if (p->scale->type == OP_TYPE_U64 || p->scale->type == OP_TYPE_I64) {
        struct op_tensor words = *p->scale;
        words.type = OP_TYPE_I64;
        const struct op_tensor list = op_moe_flat(chain, &words);
        out = op_chain_temp_like(chain, OP_TYPE_F32, &list);
        OP_CHAIN_CALL(chain, "QuantWordOffset", op_value_tensor(&list), op_value_tensor(&out));
    } else {
        op_chain_fill(chain, &out, 0);
    }
    return out;
}

// Sums with the bias, as they are.
static void give_sums(struct op_chain *chain, const struct product *p, const struct op_tensor *sums)
{
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor whole = op_chain_dense(chain, OP_TYPE_I32, sums);
    if (p->bias) {
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(&whole), op_value_tensor(p->bias),
                      op_value_scalar(&one), op_value_tensor(p->out));
    } else {
        op_chain_copy(chain, p->out, &whole);
    }
}

static void give_scaled(struct op_chain *chain, const struct product *p,
                        const struct op_tensor *sums)
{
    const bool first = p->bias && p->bias->type == OP_TYPE_I32, bytes = p->out->type == OP_TYPE_I8;
    const struct op_tensor zero = op_chain_number(chain, 0), one = op_chain_number(chain, 1),
                           scale = op_quant_scale_of(chain, p->scale),
                           value = bytes ? op_chain_temp_like(chain, OP_TYPE_F32, p->out) : *p->out;
    struct op_tensor row = one;
    if (p->row) {
        const struct op_tensor list = op_moe_flat(chain, p->row);
        row = op_view_insert(&list, 1);
    }
    OP_CHAIN_CALL(chain, "DequantAll", op_value_tensor(sums),
                  op_value_tensor(first ? p->bias : &zero), op_value_tensor(&scale),
                  op_value_tensor(&row), op_value_tensor(p->bias && !first ? p->bias : &zero),
                  op_value_tensor(&value));
    if (bytes) {
        const struct op_tensor offset = offset_of(chain, p);
        OP_CHAIN_CALL(chain, "QuantMultiplySum", op_value_tensor(&value), op_value_tensor(&one),
                      op_value_tensor(&offset), op_value_tensor(p->out));
    }
}

leo_status op_plan_quant_product(const struct op_call *call)
{
    struct product p;
    struct op_chain chain = op_chain_begin(call);
    leo_status status = take(&chain, &p);
    if (status == LEO_OK && p.out->type == OP_TYPE_I32 && p.bias && p.bias->type != OP_TYPE_I32) {
        status = op_call_fail(call, LEO_ERR_DTYPE, "out is i32: bias must be i32");
    }
    if (status != LEO_OK || op_tensor_count(p.out) == 0) {
        return status;
    }
    const struct op_tensor sums =
        op_quant_whole_sum(&chain, p.out, p.a.dim[p.a.rank - 1], product_of, &p);
    if (p.out->type == OP_TYPE_I32) {
        give_sums(&chain, &p, &sums);
    } else {
        give_scaled(&chain, &p, &sums);
    }
    return chain.status;
}
