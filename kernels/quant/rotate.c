/* SPDX-License-Identifier: Apache-2.0 */
/* Rows turned by matrices before they are quantised: 8 bits, or 8 numbers of 4 bits in a word. */
#include "rows.h"

#include <inttypes.h>
#include <string.h>

// The largest magnitude of each row of f32: [rows, 1].
static struct op_tensor largest_of(struct op_chain *chain, const struct op_tensor *rows)
{
    static const int64_t last[] = {1};
    static const struct op_ints of_rows = {last, 1};
    const int64_t dim[] = {rows->dim[0], 1};
    const struct op_tensor size = op_chain_temp_like(chain, OP_TYPE_F32, rows),
                           most = op_chain_temp(chain, OP_TYPE_F32, 2, dim);
    OP_CHAIN_CALL(chain, "Abs", op_value_tensor(rows), op_value_tensor(&size));
    OP_CHAIN_CALL(chain, "Amax", op_value_tensor(&size), op_value_ints(&of_rows), op_value_int(1),
                  op_value_tensor(&most));
    return most;
}

// Rows [rows, width] as words of 4 bits, with a scale each; the largest of a row is 7 / clip.
static void give_nibbles(struct op_chain *chain, const struct op_tensor *rows, double clip,
                         const struct op_tensor *out, const struct op_tensor *scale)
{
    const struct op_value ratio = op_value_real(clip);
    const struct op_tensor most = largest_of(chain, rows),
                           factor = op_chain_temp_like(chain, OP_TYPE_F32, &most),
                           scales = op_chain_temp_like(chain, OP_TYPE_F32, &most),
                           number = op_chain_temp_like(chain, OP_TYPE_I64, rows),
                           as_told = op_view_shape(&scales, scale->rank, scale->dim);
    OP_CHAIN_CALL(chain, "NibbleScale", op_value_tensor(&most), ratio, op_value_tensor(&scales));
    OP_CHAIN_CALL(chain, "NibbleFactor", op_value_tensor(&most), ratio, op_value_tensor(&factor));
    OP_CHAIN_CALL(chain, "Nibble", op_value_tensor(rows), op_value_tensor(&factor),
                  op_value_tensor(&number));
    op_quant_words(chain, &number, out);
    op_chain_copy(chain, scale, &as_told);
}

/* ---- a matrix on either side ---- */

static leo_status check_flat(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *out = op_call_tensor(call, "out"),
                           *p1 = op_call_tensor(call, "kroneckerP1"),
                           *p2 = op_call_tensor(call, "kroneckerP2");
    const double clip = op_call_real(call, "clipRatio");
    if (!(clip > 0 && clip <= 1) ||
        (op_call_has(call, "dstTypeMax") && op_call_real(call, "dstTypeMax") != 0)) {
        return op_call_fail(
            call, LEO_ERR_INVALID_ARG,
            "clipRatio is %g, it must be above 0 and at most 1; dstTypeMax must be 0", clip);
    }
    const bool fits = x->rank == 3 && x->dim[2] % OP_QUANT_IN_WORD == 0 &&
                      out->type == OP_TYPE_I32 && p1->rank == 2 && p1->dim[0] == x->dim[1] &&
                      p1->dim[1] == x->dim[1] && p2->rank == 2 && p2->dim[0] == x->dim[2] &&
                      p2->dim[1] == x->dim[2] && p1->type == x->type && p2->type == x->type;
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x %s, kroneckerP1 %s, kroneckerP2 %s of one type and out %s do not "
                            "fit: [m, n1, n2] with n2 a multiple of 8, [n1, n1], [n2, n2], i32",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(p1).text,
                            op_tensor_shape_text(p2).text, op_type_name(out->type));
    }
    const int64_t dim[] = {x->dim[0], x->dim[1], x->dim[2] / OP_QUANT_IN_WORD};
    leo_status status = op_call_check_shape(call, "out", 3, dim);
    return status == LEO_OK ? op_call_check_shape(call, "quantScale", 1, dim) : status;
}

leo_status op_plan_quant_flat(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"),
                           *p1 = op_call_tensor(call, "kroneckerP1");
    leo_status status = check_flat(call);
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor right = op_chain_temp_like(&chain, x->type, x),
                           both = op_chain_temp_like(&chain, x->type, x);
    struct op_tensor left = op_view_insert(p1, 0); // the same for each matrix
    left.dim[0] = x->dim[0];
    left.stride[0] = 0;
    op_chain_matmul(&chain, x, op_call_tensor(call, "kroneckerP2"), &right);
    op_chain_matmul(&chain, &left, &right, &both);
    const int64_t dim[] = {x->dim[0], x->dim[1] * x->dim[2]};
    const struct op_tensor wide = op_chain_dense(&chain, OP_TYPE_F32, &both),
                           rows = op_view_shape(&wide, 2, dim);
    give_nibbles(&chain, &rows, op_call_real(call, "clipRatio"), op_call_tensor(call, "out"),
                 op_call_tensor(call, "quantScale"));
    return chain.status;
}

/* ---- parts of a row ---- */

static leo_status check_rotation(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "yOut"),
                           *r = op_call_tensor(call, "rotation"),
                           *alpha = op_call_tensor(call, "alpha");
    const char *mode = op_call_value(call, "roundMode")->text;
    const int64_t axis = op_call_int(call, "axis"), last = x->rank ? x->rank - 1 : 0;
    if ((alpha && op_tensor_count(alpha)) || op_call_int(call, "scaleAlg") != 0 ||
        op_call_real(call, "dstTypeMax") != 0 || op_call_int(call, "trans") != 0 ||
        (mode && *mode && strcmp(mode, "rint") != 0) || (axis != -1 && axis != last)) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "no alpha, scaleAlg 0, dstTypeMax 0, no trans, rint and the last axis "
                            "are possible");
    }
    const int64_t k = r->rank == 2 ? r->dim[0] : 0,
                  in_word = y->type == OP_TYPE_I32 ? OP_QUANT_IN_WORD : 1;
    const bool fits = x->rank >= 1 && k > 0 && r->dim[1] == k && x->dim[last] % k == 0 &&
                      r->type == x->type && (y->type == OP_TYPE_I8 || y->type == OP_TYPE_I32) &&
                      x->dim[last] % in_word == 0;
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x %s, rotation %s of one type and yOut %s do not fit: [.., n], [k, k] "
                            "with n a multiple of k, i8 or i32 (8 numbers of 4 bits)",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(r).text,
                            op_type_name(y->type));
    }
    int64_t dim[OP_RANK_MAX];
    memcpy(dim, x->dim, sizeof(dim));
    dim[last] /= in_word;
    leo_status status = op_call_check_shape(call, "yOut", x->rank, dim);
    return status == LEO_OK ? op_call_check_shape(call, "scaleOut", x->rank - 1, dim) : status;
}

leo_status op_plan_quant_rotate(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *r = op_call_tensor(call, "rotation"),
                           *y = op_call_tensor(call, "yOut"),
                           *scale = op_call_tensor(call, "scaleOut");
    leo_status status = check_rotation(call);
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t count = op_tensor_count(x), width = x->dim[x->rank - 1], k = r->dim[0],
                  parts[] = {count / k, k}, dim[] = {count / width, width};
    const struct op_tensor dense = op_chain_dense(&chain, x->type, x),
                           from = op_view_shape(&dense, 2, parts),
                           turned = op_chain_temp_like(&chain, x->type, &from);
    op_chain_matmul(&chain, &from, r, &turned);
    const struct op_tensor wide = op_chain_dense(&chain, OP_TYPE_F32, &turned),
                           rows = op_view_shape(&wide, 2, dim);
    if (y->type == OP_TYPE_I8) {
        op_quant_dynamic(&chain, &rows, y, scale, NULL);
    } else {
        give_nibbles(&chain, &rows, 1, y, scale);
    }
    return chain.status;
}
