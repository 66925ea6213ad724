/* SPDX-License-Identifier: Apache-2.0 */
/* Products of bytes with something behind them: a gate, a sum over the batch. */
#include "rows.h"

#include <inttypes.h>
#include <string.h>

static leo_status check_null(const struct op_call *call, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct op_tensor *tensor = op_call_tensor(call, names[i]);
        if (tensor && op_tensor_count(tensor)) {
            return op_call_fail(call, LEO_ERR_UNSUPPORTED, "%s must be NULL", names[i]);
        }
    }
    return LEO_OK;
}

// x1 @ x2 as whole numbers of this shape.
static struct op_tensor sums_of(struct op_chain *chain, unsigned rank, const int64_t *dim)
{
    const struct op_call *call = chain->call;
    const struct op_value none = op_value_tensor(NULL), no = op_value_int(0);
    const struct op_tensor sums = op_chain_temp(chain, OP_TYPE_I32, rank, dim);
    OP_CHAIN_CALL(chain, "QuantMatmulV5", *op_call_value(call, "x1"), *op_call_value(call, "x2"),
                  none, *op_call_value(call, "x2Scale"), none, none, none, none, none, no, no, no,
                  op_value_tensor(&sums));
    return sums;
}

/* ---- Gelu of a product ---- */

static leo_status check_gelu(const struct op_call *call, int64_t *approximate)
{
    static const char *const refused[] = {"yScaleOptional", "x1OffsetOptional", "x2OffsetOptional",
                                          "yOffsetOptional", "x3Optional"};
    const char *type = op_call_value(call, "fusedOpType")->text;
    const struct op_tensor *out = op_call_tensor(call, "out"),
                           *row = op_call_tensor(call, "x1Scale"),
                           *scale = op_call_tensor(call, "x2Scale"),
                           *bias = op_call_tensor(call, "biasOptional");
    *approximate = type && strcmp(type, "gelu_tanh") == 0;
    leo_status status = check_null(call, refused, 5);
    if (status == LEO_OK && !*approximate && !(type && strcmp(type, "gelu_erf") == 0)) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                              "fusedOpType is %s, it must be gelu_tanh or gelu_erf",
                              type ? type : "NULL");
    }
    if (status == LEO_OK && op_call_int(call, "groupSizeOptional") != 0) {
        status = op_call_fail(call, LEO_ERR_UNSUPPORTED, "groupSize must be 0");
    }
    const bool fits =
        out->rank >= 2 && op_tensor_count(row) == out->dim[out->rank - 2] &&
        (op_tensor_count(scale) == out->dim[out->rank - 1] || op_tensor_count(scale) == 1) &&
        (!bias || (bias->rank && bias->dim[bias->rank - 1] == out->dim[out->rank - 1])) &&
        (out->type == OP_TYPE_F16 || out->type == OP_TYPE_BF16);
    return status != LEO_OK || fits
               ? status
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "out %s %s with x1Scale %s, x2Scale %s: f16 or bf16, a scale for "
                              "each row and each column",
                              op_tensor_shape_text(out).text, op_type_name(out->type),
                              op_tensor_shape_text(row).text, op_tensor_shape_text(scale).text);
}

leo_status op_plan_quant_product_gelu(const struct op_call *call)
{
    const struct op_tensor *out = op_call_tensor(call, "out"),
                           *bias = op_call_tensor(call, "biasOptional");
    int64_t approximate;
    leo_status status = check_gelu(call, &approximate);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t one = 1;
    const bool first = bias && bias->type == OP_TYPE_I32;
    const struct op_tensor sums = sums_of(&chain, out->rank, out->dim),
                           zero = op_chain_temp(&chain, OP_TYPE_F32, 1, &one),
                           scale = op_moe_flat(&chain, op_call_tensor(call, "x2Scale")),
                           list = op_moe_flat(&chain, op_call_tensor(call, "x1Scale")),
                           rows = op_view_insert(&list, 1),
                           value = op_chain_temp_like(&chain, OP_TYPE_F32, out);
    op_chain_fill(&chain, &zero, 0);
    OP_CHAIN_CALL(&chain, "DequantAll", op_value_tensor(&sums),
                  op_value_tensor(first ? bias : &zero), op_value_tensor(&scale),
                  op_value_tensor(&rows), op_value_tensor(bias && !first ? bias : &zero),
                  op_value_tensor(&value));
    OP_CHAIN_CALL(&chain, "GeluV2", op_value_tensor(&value), op_value_int(approximate),
                  op_value_tensor(out));
    return chain.status;
}

/* ---- sum over the batch ---- */

static leo_status check_sum(const struct op_call *call)
{
    static const char *const refused[] = {"yScale", "x1Offset", "x2Offset", "yOffset", "bias"};
    const struct op_tensor *a = op_call_tensor(call, "x1"), *b = op_call_tensor(call, "x2"),
                           *row = op_call_tensor(call, "x1Scale"),
                           *scale = op_call_tensor(call, "x2Scale"),
                           *out = op_call_tensor(call, "out");
    const struct op_ints *dims = op_call_ints(call, "dims");
    leo_status status = check_null(call, refused, 5);
    if (status == LEO_OK && (op_call_int(call, "transposeX1") || op_call_int(call, "transposeX2") ||
                             op_call_int(call, "groupSize") || op_call_int(call, "keepDims") ||
                             dims->count != 1 || dims->items[0] != 0)) {
        status =
            op_call_fail(call, LEO_ERR_UNSUPPORTED,
                         "no transposition, groupSize 0, dims [0] and no keepDims are possible");
    }
    const bool fits = a->rank == 3 && b->rank == 3 && a->dim[0] == b->dim[0] && a->dim[0] > 0 &&
                      a->dim[2] == b->dim[1] && row->rank == 2 && row->dim[0] == a->dim[0] &&
                      row->dim[1] == a->dim[1] && op_tensor_count(scale) == b->dim[2] &&
                      out->rank == 2 && out->dim[0] == a->dim[1] && out->dim[1] == b->dim[2] &&
                      out->type == OP_TYPE_BF16;
    return status != LEO_OK || fits
               ? status
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "x1 %s, x2 %s, x1Scale %s, x2Scale %s and out %s %s do not fit: "
                              "[batch, m, k], [batch, k, n], [batch, m], [n], bf16 [m, n]",
                              op_tensor_shape_text(a).text, op_tensor_shape_text(b).text,
                              op_tensor_shape_text(row).text, op_tensor_shape_text(scale).text,
                              op_tensor_shape_text(out).text, op_type_name(out->type));
}

leo_status op_plan_quant_product_sum(const struct op_call *call)
{
    const struct op_tensor *a = op_call_tensor(call, "x1"), *b = op_call_tensor(call, "x2"),
                           *out = op_call_tensor(call, "out");
    leo_status status = check_sum(call);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t dim[] = {a->dim[0], a->dim[1], b->dim[2]};
    const struct op_tensor sums = sums_of(&chain, 3, dim),
                           rows = op_view_insert(op_call_tensor(call, "x1Scale"), 2),
                           scaled = op_chain_temp(&chain, OP_TYPE_F32, 3, dim),
                           sum = op_chain_temp(&chain, OP_TYPE_F32, 2, out->dim),
                           scale = op_moe_flat(&chain, op_call_tensor(call, "x2Scale"));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&sums), op_value_tensor(&rows),
                  op_value_tensor(&scaled));
    op_chain_sum(&chain, &scaled, 0, &sum);
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&sum), op_value_tensor(&scale),
                  op_value_tensor(out));
    return chain.status;
}
