/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 8 bits: rows with a scale each, scales of groups of rows, and back to floats. */
#include "rows.h"

#include <inttypes.h>

struct op_tensor op_quant_rows(struct op_chain *chain, enum op_type type,
                               const struct op_tensor *tensor)
{
    const struct op_tensor dense = op_chain_dense(chain, type, tensor);
    return op_view_rows(&dense);
}

struct op_tensor op_quant_of_group(struct op_chain *chain, const struct op_tensor *factors,
                                   const struct op_tensor *ends, bool counts, int64_t rows)
{
    const struct op_tensor number = op_chain_temp(chain, OP_TYPE_I64, 1, &rows),
                           group = op_chain_temp(chain, OP_TYPE_I64, 1, &rows),
                           table = factors->rank == 1 ? op_view_insert(factors, 1) : *factors;
    struct op_tensor list = op_chain_dense(chain, OP_TYPE_I64, ends);
    if (counts) {
        const struct op_tensor sums = op_chain_temp_like(chain, OP_TYPE_I64, &list);
        OP_CHAIN_CALL(chain, "Cumsum", op_value_tensor(&list), op_value_int(0),
                      op_value_type(OP_TYPE_I64), op_value_tensor(&sums));
        list = sums;
    }
    op_chain_range(chain, &number, 0, 1);
    OP_CHAIN_CALL(chain, "SearchSorted", op_value_tensor(&list), op_value_tensor(&number),
                  op_value_int(0), op_value_int(1), op_value_tensor(NULL), op_value_tensor(&group));
    return op_moe_rows(chain, &table, &group, true);
}

struct op_tensor op_quant_times(struct op_chain *chain, const struct op_tensor *x,
                                const struct op_tensor *factors)
{
    if (!factors) {
        return *x;
    }
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_F32, x);
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(x), op_value_tensor(factors),
                  op_value_tensor(&out));
    return out;
}

/* ---- a scale for each row ---- */

struct range {
    struct op_tensor high, low; /* [rows, 1] */
};

static struct range range_of(struct op_chain *chain, const struct op_tensor *rows)
{
    const int64_t shape[] = {rows->dim[0], 1}, last = 1;
    const struct op_ints over = {&last, 1};
    const struct range range = {op_chain_temp(chain, rows->type, 2, shape),
                                op_chain_temp(chain, rows->type, 2, shape)};
    OP_CHAIN_CALL(chain, "Amax", op_value_tensor(rows), op_value_ints(&over), op_value_int(1),
                  op_value_tensor(&range.high));
    OP_CHAIN_CALL(chain, "Amin", op_value_tensor(rows), op_value_ints(&over), op_value_int(1),
                  op_value_tensor(&range.low));
    return range;
}

static struct op_tensor number_of_rows(struct op_chain *chain, const char *op,
                                       const struct op_tensor *a, const struct op_tensor *b,
                                       int64_t most)
{
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_F32, a);
    OP_CHAIN_CALL(chain, op, op_value_tensor(a), op_value_tensor(b), op_value_int(most),
                  op_value_tensor(&out));
    return out;
}

void op_quant_words(struct op_chain *chain, const struct op_tensor *numbers,
                    const struct op_tensor *out)
{
    static const int64_t last[] = {1};
    static const struct op_ints of_words = {last, 1};
    const int64_t words = op_tensor_count(numbers) / OP_QUANT_IN_WORD,
                  dim[] = {words, OP_QUANT_IN_WORD};
    const struct op_tensor each = op_view_shape(numbers, 2, dim),
                           sums = op_chain_temp(chain, OP_TYPE_I64, 1, &words),
                           word = op_chain_temp(chain, OP_TYPE_I32, 1, &words),
                           shaped = op_view_shape(&word, out->rank, out->dim);
    OP_CHAIN_CALL(chain, "NibblePlace", op_value_tensor(&each), op_value_tensor(&each));
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&each), op_value_ints(&of_words),
                  op_value_int(0), op_value_type(OP_TYPE_I64), op_value_tensor(&sums));
    OP_CHAIN_CALL(chain, "NibbleWord", op_value_tensor(&sums), op_value_tensor(&word));
    op_chain_copy(chain, out, &shaped);
}

struct op_tensor op_quant_unpack(struct op_chain *chain, const struct op_tensor *words,
                                 unsigned along)
{
    struct op_tensor like = *words;
    like.dim[along] *= OP_QUANT_IN_WORD;
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_I8, &like);
    for (int64_t i = 0; i < OP_QUANT_IN_WORD; i++) {
        struct op_tensor some = op_view_slice(&out, along, i, words->dim[along]);
        some.stride[along] *= OP_QUANT_IN_WORD;
        OP_CHAIN_CALL(chain, "QuantNibble", op_value_tensor(words),
                      op_value_int(i * (32 / OP_QUANT_IN_WORD)), op_value_tensor(&some));
    }
    return out;
}

void op_quant_dynamic(struct op_chain *chain, const struct op_tensor *rows,
                      const struct op_tensor *out, const struct op_tensor *scale,
                      const struct op_tensor *offset)
{
    const bool words = out->type == OP_TYPE_I32;
    const int64_t most = words ? 7 : 127;
    const struct range range = range_of(chain, rows);
    const struct op_tensor place = words ? op_chain_temp_like(chain, OP_TYPE_I64, rows)
                                         : op_chain_place(chain, out),
                           made = op_view_shape(&place, rows->rank, rows->dim),
                           scales =
                               number_of_rows(chain, offset ? "QuantRangeScale" : "QuantRowScale",
                                              &range.high, &range.low, most);
    if (offset) {
        const struct op_tensor offsets =
            number_of_rows(chain, "QuantRangeOffset", &range.high, &scales, most);
        OP_CHAIN_CALL(chain, "QuantRangeValue", op_value_tensor(rows), op_value_tensor(&scales),
                      op_value_tensor(&offsets), op_value_int(most), op_value_tensor(&made));
        op_chain_deliver(chain, offset, &offsets);
    } else {
        OP_CHAIN_CALL(chain, "QuantRowValue", op_value_tensor(rows), op_value_tensor(&scales),
                      op_value_int(most), op_value_tensor(&made));
    }
    op_chain_deliver(chain, scale, &scales);
    if (words) {
        op_quant_words(chain, &made, out);
    } else {
        op_chain_deliver(chain, out, &made);
    }
}

void op_quant_dynamic_factor(struct op_chain *chain, const struct op_tensor *rows,
                             const struct op_tensor *out, const struct op_tensor *scale)
{
    const struct range range = range_of(chain, rows);
    const struct op_tensor place = op_chain_place(chain, out),
                           made = op_view_shape(&place, rows->rank, rows->dim),
                           factors = op_chain_temp_like(chain, OP_TYPE_F32, &range.high);
    OP_CHAIN_CALL(chain, "QuantRowFactor", op_value_tensor(&range.high),
                  op_value_tensor(&range.low), op_value_tensor(&factors));
    OP_CHAIN_CALL(chain, "QuantRowProduct", op_value_tensor(rows), op_value_tensor(&factors),
                  op_value_tensor(&made));
    op_chain_deliver(chain, scale, &factors);
    op_chain_deliver(chain, out, &made);
}

leo_status op_quant_check_out(const struct op_call *call, const char *name,
                              const struct op_tensor *like, int64_t last)
{
    struct op_tensor want = *like;
    const struct op_tensor *out = op_call_tensor(call, name);
    if (!out) {
        return op_call_fail(call, LEO_ERR_BAD_POINTER, "%s is NULL", name);
    }
    if (out->type != OP_TYPE_I8) {
        return op_call_fail(call, LEO_ERR_DTYPE, "%s is %s: it must be i8", name,
                            op_type_name(out->type));
    }
    want.dim[like->rank - 1] = last;
    return op_call_check_shape(call, name, want.rank, want.dim);
}

leo_status op_quant_check_out_words(const struct op_call *call, const char *name,
                                    const struct op_tensor *like)
{
    const struct op_tensor *out = op_call_tensor(call, name);
    const int64_t width = like->dim[like->rank - 1];
    if (!out || out->type != OP_TYPE_I32 || width % OP_QUANT_IN_WORD != 0) {
        return op_quant_check_out(call, name, like, width);
    }
    struct op_tensor want = *like;
    want.dim[like->rank - 1] = width / OP_QUANT_IN_WORD;
    return op_call_check_shape(call, name, want.rank, want.dim);
}

leo_status op_quant_check_scale(const struct op_call *call, const char *name,
                                const struct op_tensor *like)
{
    return op_call_tensor(call, name) ? op_call_check_shape(call, name, like->rank - 1, like->dim)
                                      : op_call_fail(call, LEO_ERR_BAD_POINTER, "%s is NULL", name);
}

/* ---- the operators ---- */

static leo_status check_factors(const struct op_call *call, const char *name, int64_t width,
                                const struct op_tensor *groups)
{
    const struct op_tensor *given = op_call_tensor(call, name);
    const int64_t count = groups ? op_tensor_count(groups) : 1;
    const bool fits =
        !given || op_tensor_count(given) == count * width || op_tensor_count(given) == count;
    if (!fits || (given && given->rank > 2) || (groups && groups->rank != 1)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s has shape %s for %" PRId64 " groups of rows of %" PRId64, name,
                            op_tensor_shape_text(given ? given : groups).text, count, width);
    }
    return LEO_OK;
}

leo_status op_plan_dynamic_quant(const struct op_call *call)
{
    const bool v2 = op_call_has(call, "groupIndexOptional");
    const struct op_tensor *x = op_call_tensor(call, "x"),
                           *smooth = op_call_tensor(call, "smoothScalesOptional"),
                           *groups = v2 ? op_call_tensor(call, "groupIndexOptional") : NULL,
                           *offset = v2 ? op_call_tensor(call, "offsetOut") : NULL;
    if (x->rank == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x has no dimension: it must have rows");
    }
    const int64_t width = x->dim[x->rank - 1];
    leo_status status = op_quant_check_out_words(call, "yOut", x);
    if (status == LEO_OK) {
        status = op_quant_check_scale(call, "scaleOut", x);
    }
    if (status == LEO_OK && offset) {
        status = op_quant_check_scale(call, "offsetOut", x);
    }
    if (status == LEO_OK) {
        status = check_factors(call, "smoothScalesOptional", width, groups);
    }
    if (status == LEO_OK && groups && !smooth) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG, "groupIndex without smoothScales");
    }
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor rows = op_quant_rows(&chain, smooth ? OP_TYPE_F32 : x->type, x);
    if (groups) {
        const struct op_tensor each = op_quant_of_group(&chain, smooth, groups, false, rows.dim[0]);
        rows = op_quant_times(&chain, &rows, &each);
    } else {
        rows = op_quant_times(&chain, &rows, smooth);
    }
    op_quant_dynamic(&chain, &rows, op_call_tensor(call, "yOut"), op_call_tensor(call, "scaleOut"),
                     offset);
    return chain.status;
}

static struct op_tensor zero_of(struct op_chain *chain)
{
    struct op_tensor zero = op_chain_number(chain, 0);
    zero.rank = 0;
    return zero;
}

leo_status op_plan_group_quant(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *scale = op_call_tensor(call, "scale"),
                           *groups = op_call_tensor(call, "groupIndex"),
                           *offset = op_call_tensor(call, "offsetOptional");
    leo_status status = op_quant_check_out(call, "y", x, x->rank ? x->dim[x->rank - 1] : 0);
    if (status == LEO_OK) {
        status = check_factors(call, "scale", x->dim[x->rank - 1], groups);
    }
    if (status == LEO_OK && (x->rank != 2 || (offset && op_tensor_count(offset) != 1))) {
        status = op_moe_fail_shapes(call, x, scale, offset ? offset : groups);
    }
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor each = op_quant_of_group(&chain, scale, groups, false, x->dim[0]),
                           zero = offset ? *offset : zero_of(&chain);
    OP_CHAIN_CALL(&chain, "QuantMultiplySum", op_value_tensor(x), op_value_tensor(&each),
                  op_value_tensor(&zero), op_value_tensor(op_call_tensor(call, "y")));
    return chain.status;
}

leo_status op_plan_anti_quant(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *offset = op_call_tensor(call, "offset");
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor scale = *op_call_tensor(call, "scale");
    leo_status status = op_call_check_shape(call, "y", x->rank, x->dim);
    if (status != LEO_OK) {
        return status;
    }
    if (op_call_int(call, "sqrtMode")) {
        const struct op_tensor square = op_chain_temp_like(&chain, OP_TYPE_F32, &scale);
        OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&scale), op_value_tensor(&scale),
                      op_value_tensor(&square));
        scale = square;
    }
    const struct op_tensor zero = offset ? *offset : zero_of(&chain);
    OP_CHAIN_CALL(&chain, "DequantSum", op_value_tensor(x), op_value_tensor(&zero),
                  op_value_tensor(&scale), op_value_tensor(op_call_tensor(call, "y")));
    return chain.status;
}

leo_status op_plan_dequant_bias(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"),
                           *row = op_call_tensor(call, "activateScaleOptional"),
                           *bias = op_call_tensor(call, "biasOptional");
    leo_status status = op_call_check_shape(call, "out", x->rank, x->dim);
    if (status == LEO_OK &&
        (x->rank != 2 || (row && (row->rank != 1 || row->dim[0] != x->dim[0])))) {
        status = op_moe_fail_shapes(call, x, op_call_tensor(call, "weightScale"), row ? row : x);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor zero = zero_of(&chain), one = op_chain_temp_like(&chain, OP_TYPE_F32, &zero);
    op_chain_fill(&chain, &one, 1);
    const bool first = bias && bias->type == OP_TYPE_I32;
    const struct op_tensor rows = row ? op_view_insert(row, 1) : one;
    OP_CHAIN_CALL(&chain, "DequantAll", op_value_tensor(x), op_value_tensor(first ? bias : &zero),
                  op_value_tensor(op_call_tensor(call, "weightScale")), op_value_tensor(&rows),
                  op_value_tensor(bias && !first ? bias : &zero),
                  op_value_tensor(op_call_tensor(call, "out")));
    return chain.status;
}

leo_status op_plan_quant_param(const struct op_call *call)
{
    const struct op_tensor *scale = op_call_tensor(call, "scale"),
                           *offset = op_call_tensor(call, "offset"),
                           *out = op_call_tensor(call, "out"),
                           *longer = offset && op_tensor_count(offset) > op_tensor_count(scale)
                                         ? offset
                                         : scale;
    leo_status status = op_call_check_shape(call, "out", longer->rank, longer->dim);
    if (status == LEO_OK && op_call_has(call, "roundMode") && op_call_int(call, "roundMode")) {
        status = op_call_fail(call, LEO_ERR_UNSUPPORTED, "roundMode is %" PRId64 ": it must be 0",
                              op_call_int(call, "roundMode"));
    }
    if (status == LEO_OK && out->type != OP_TYPE_U64 && out->type != OP_TYPE_I64) {
        status = op_call_fail(call, LEO_ERR_DTYPE, "out is %s: it must be u64 or i64",
                              op_type_name(out->type));
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor bits = op_chain_dense(&chain, OP_TYPE_F32, scale), to = *out;
    bits.type = OP_TYPE_I32; // the same memory
    to.type = OP_TYPE_I64;
    if (!offset) {
        OP_CHAIN_CALL(&chain, "QuantWord", op_value_tensor(&bits), op_value_tensor(&to));
        return chain.status;
    }
    const struct op_tensor word = op_chain_temp_like(&chain, OP_TYPE_I64, scale),
                           whole = op_chain_temp_like(&chain, OP_TYPE_I64, offset);
    OP_CHAIN_CALL(&chain, "QuantWord", op_value_tensor(&bits), op_value_tensor(&word));
    OP_CHAIN_CALL(&chain, "QuantOffset", op_value_tensor(offset), op_value_tensor(&whole));
    OP_CHAIN_CALL(&chain, "QuantWords", op_value_tensor(&word), op_value_tensor(&whole),
                  op_value_tensor(&to));
    return chain.status;
}

struct op_tensor op_quant_whole_sum(struct op_chain *chain, const struct op_tensor *like, int64_t k,
                                    op_quant_part *part, const void *user)
{
    const struct op_scalar one = op_scalar_int(1);
    if (k <= OP_QUANT_EXACT) {
        return part(chain, user, 0, k);
    }
    const struct op_tensor sum = op_chain_temp_like(chain, OP_TYPE_I32, like),
                           more = op_chain_temp_like(chain, OP_TYPE_I32, like);
    for (int64_t begin = 0; begin < k; begin += OP_QUANT_EXACT) {
        const uint64_t mark = op_plan_temp_mark(chain->plan);
        const int64_t count = begin + OP_QUANT_EXACT < k ? OP_QUANT_EXACT : k - begin;
        const struct op_tensor some = part(chain, user, begin, count);
        op_chain_copy(chain, begin ? &more : &sum, &some);
        if (begin) {
            OP_CHAIN_CALL(chain, "Add", op_value_tensor(&sum), op_value_tensor(&more),
                          op_value_scalar(&one), op_value_tensor(&sum));
        }
        op_plan_temp_release(chain->plan, mark);
    }
    return sum;
}
