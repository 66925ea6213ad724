/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a row with a scale each. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 128, TYPE_I8 = 2 }; // what the chip has; aclDataType

static leo_status check(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "yOut");
    const char *mode = op_call_value(call, "roundModeOptional")->text;
    const double most = op_call_has(call, "dstTypeMax") ? op_call_real(call, "dstTypeMax") : 0;
    if (op_call_int(call, "dstType") != TYPE_I8 || y->type != OP_TYPE_I8 ||
        op_call_int(call, "rowBlockSize") != 1 || op_call_int(call, "colBlockSize") != BLOCK ||
        (mode && *mode && strcmp(mode, "rint") != 0) || most != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "dstType %" PRId64 " (yOut %s), blocks of %" PRId64 " times %" PRId64
                            ", mode %s: i8 (2), 1 times 128 and rint are on this chip",
                            op_call_int(call, "dstType"), op_type_name(y->type),
                            op_call_int(call, "rowBlockSize"), op_call_int(call, "colBlockSize"),
                            mode ? mode : "NULL");
    }
    if (x->rank < 2 || x->rank > 3 || !(op_call_real(call, "minScale") >= 0)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x has shape %s, it must have 2 or 3 dimensions; minScale must not be "
                            "negative",
                            op_tensor_shape_text(x).text);
    }
    int64_t dim[OP_RANK_MAX];
    memcpy(dim, x->dim, sizeof(x->dim));
    dim[x->rank - 1] = (dim[x->rank - 1] + BLOCK - 1) / BLOCK;
    leo_status status = op_call_check_shape(call, "yOut", x->rank, x->dim);
    return status == LEO_OK ? op_call_check_shape(call, "scaleOut", x->rank, dim) : status;
}

// `count` blocks of `width` numbers from `begin` on as a dimension more.
static struct op_tensor blocks_of(const struct op_tensor *t, int64_t begin, int64_t count,
                                  int64_t width)
{
    const unsigned last = t->rank - 1;
    const struct op_tensor part = op_view_slice(t, last, begin, count * width);
    struct op_tensor seen = op_view_insert(&part, last);
    seen.dim[last] = count;
    seen.stride[last] = t->stride[last] * width;
    seen.dim[last + 1] = width;
    return seen;
}

static void quantise(struct op_chain *chain, int64_t first, int64_t count, int64_t width)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *scales = op_call_tensor(call, "scaleOut");
    const struct op_tensor x = blocks_of(op_call_tensor(call, "x"), first * BLOCK, count, width),
                           y = blocks_of(op_call_tensor(call, "yOut"), first * BLOCK, count, width),
                           to = op_view_slice(scales, scales->rank - 1, first, count);
    const struct op_tensor size = op_chain_temp_like(chain, OP_TYPE_F32, &x),
                           scale = op_chain_temp_like(chain, OP_TYPE_F32, &to),
                           column = op_view_insert(&scale, scale.rank);
    const int64_t last = x.rank - 1;
    const struct op_ints over = {&last, 1};
    OP_CHAIN_CALL(chain, "Abs", op_value_tensor(&x), op_value_tensor(&size));
    OP_CHAIN_CALL(chain, "Amax", op_value_tensor(&size), op_value_ints(&over), op_value_int(0),
                  op_value_tensor(&scale));
    OP_CHAIN_CALL(chain, "BlockScale", op_value_tensor(&scale),
                  op_value_real(1 / op_call_real(call, "minScale")), op_value_tensor(&scale));
    OP_CHAIN_CALL(chain, "BlockByte", op_value_tensor(&x), op_value_tensor(&column),
                  op_value_tensor(&y));
    op_chain_copy(chain, &to, &scale);
}

leo_status op_plan_quant_blocks(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    leo_status status = check(call);
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t width = x->dim[x->rank - 1], whole = width / BLOCK;
    if (whole) {
        quantise(&chain, 0, whole, BLOCK);
    }
    if (width % BLOCK) {
        quantise(&chain, whole, 1, width % BLOCK);
    }
    return chain.status;
}
