/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens that may come next: the likeliest ones of each row. */
#include "../frame/chain.h"

#include <math.h>

static leo_status check(const struct op_call *call)
{
    const struct op_tensor *logits = op_call_tensor(call, "logits");
    leo_status status =
        logits->rank == 2 && logits->dim[1] > 0
            ? op_call_check_shape(call, "out", 2, logits->dim)
            : op_call_fail(call, LEO_ERR_SHAPE,
                           "logits has shape %s, it must be [batch, tokens] with a token at least",
                           op_tensor_shape_text(logits).text);
    if (status == LEO_OK && op_call_tensor(call, "p")) {
        status = op_call_check_shape(call, "p", 1, logits->dim);
    }
    if (status == LEO_OK && op_call_tensor(call, "k")) {
        status = op_call_check_shape(call, "k", 1, logits->dim);
    }
    return status;
}

// -inf for all that is less than the k-th largest of its row.
static void keep_largest(struct op_chain *chain, const struct op_tensor *sorted,
                         const struct op_tensor *k)
{
    const struct op_tensor column = op_view_insert(k, 1),
                           from = op_chain_temp_like(chain, OP_TYPE_I64, &column),
                           least = op_chain_temp_like(chain, OP_TYPE_F32, &column);
    OP_CHAIN_CALL(chain, "SampleFrom", op_value_tensor(&column), op_value_int(sorted->dim[1]),
                  op_value_tensor(&from));
    OP_CHAIN_CALL(chain, "Gather", op_value_tensor(sorted), op_value_int(1), op_value_tensor(&from),
                  op_value_tensor(&least));
    OP_CHAIN_CALL(chain, "SampleKept", op_value_tensor(sorted), op_value_tensor(&least),
                  op_value_real(-INFINITY), op_value_tensor(sorted));
}

// -inf for those that come to a share of 1 - p together, from the least likely on.
static void keep_likely(struct op_chain *chain, const struct op_tensor *sorted,
                        const struct op_tensor *p)
{
    const struct op_tensor shares = op_chain_temp_like(chain, OP_TYPE_F32, sorted),
                           sums = op_chain_temp_like(chain, OP_TYPE_F32, sorted),
                           wide = op_chain_dense(chain, OP_TYPE_F32, p),
                           column = op_view_insert(&wide, 1);
    OP_CHAIN_CALL(chain, "Softmax", op_value_tensor(sorted), op_value_int(1),
                  op_value_tensor(&shares));
    OP_CHAIN_CALL(chain, "Cumsum", op_value_tensor(&shares), op_value_int(1),
                  op_value_type(OP_TYPE_F32), op_value_tensor(&sums));
    OP_CHAIN_CALL(chain, "SampleShare", op_value_tensor(sorted), op_value_tensor(&sums),
                  op_value_tensor(&column), op_value_int(sorted->dim[1] - 1),
                  op_value_real(-INFINITY), op_value_tensor(sorted));
}

leo_status op_plan_top_k_top_p(const struct op_call *call)
{
    const struct op_tensor *logits = op_call_tensor(call, "logits"), *p = op_call_tensor(call, "p"),
                           *k = op_call_tensor(call, "k"), *out = op_call_tensor(call, "out");
    leo_status status = check(call);
    if (status != LEO_OK || logits->dim[0] == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sorted = op_chain_temp_like(&chain, OP_TYPE_F32, logits),
                           order = op_chain_temp_like(&chain, OP_TYPE_I64, logits),
                           values = op_chain_temp_like(&chain, out->type, logits),
                           wide = op_chain_dense(&chain, OP_TYPE_F32, logits);
    OP_CHAIN_CALL(&chain, "Sort", op_value_tensor(&wide), op_value_int(1), op_value_int(1),
                  op_value_int(0), op_value_tensor(&sorted), op_value_tensor(&order));
    if (k) {
        keep_largest(&chain, &sorted, k);
    }
    if (p) {
        keep_likely(&chain, &sorted, p);
    }
    op_chain_copy(&chain, &values, &sorted);
    OP_CHAIN_CALL(&chain, "InplaceScatter", op_value_tensor(out), op_value_int(1),
                  op_value_tensor(&order), op_value_tensor(&values), op_value_int(0));
    return chain.status;
}
