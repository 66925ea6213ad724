/* SPDX-License-Identifier: Apache-2.0 */
/* A weight stored as FRACTAL_NZ in its own memory: rows are put aside first. */
#include "../frame/chain.h"
#include "../frame/layout.h"

leo_status op_plan_matmul_weight(const struct op_call *call)
{
    const struct op_tensor *weight = op_call_tensor(call, "mmWeightRef");
    struct op_tensor stored = *weight;
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor rows = op_chain_temp_like(&chain, weight->type, weight);
    stored.format = OP_FORMAT_FRACTAL_NZ;
    op_chain_copy(&chain, &rows, weight);
    OP_CHAIN_CALL(&chain, "TransData", op_value_tensor(&rows), op_value_tensor(&stored));
    return chain.status;
}
