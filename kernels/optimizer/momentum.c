/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient descent with momentum: three tensors in, two out, in one pass. */
#include "../frame/family.h"

#include "flat_args.h"

enum { LEAST_ELEMENTS = 4096 }; /* [A] one tile: fewer are not worth another core */

leo_status op_plan_momentum(const struct op_call *call)
{
    static const char *const names[] = {"weight", "velocity", "grad"};
    const struct op_tensor *weight = op_call_tensor(call, "weight");
    const struct op_tensor *grad = op_call_tensor(call, "grad");
    struct op_flat_args args = {.count = (uint64_t)op_tensor_count(weight),
                                .tile = OP_FLAT_TILE_F32,
                                .scalar = {(float)op_call_real(call, "gradScale"),
                                           -(float)op_call_real(call, "rate"),
                                           (float)op_call_real(call, "momentum")}};
    for (unsigned i = 0; i < 3; i++) {
        const struct op_tensor *tensor = op_call_tensor(call, names[i]);
        leo_status status = op_call_check_shape(call, names[i], weight->rank, weight->dim);
        if (status != LEO_OK) {
            return status;
        }
        if (!op_tensor_is_dense(tensor)) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG, "%s has gaps or another order than rows",
                                names[i]);
        }
        args.in[i] = tensor->addr;
    }
    args.out[0] = args.in[0];
    args.out[1] = args.in[1];
    if (args.count == 0) {
        return LEO_OK;
    }
    // 16 elements are whole 32-byte blocks of either type: no two cores write one block.
    const struct op_share share =
        op_share_make(args.count, 16, LEAST_ELEMENTS, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    return op_plan_launch(call->plan, "momentum",
                          grad->type == OP_TYPE_F16 ? "momentum_f16" : "momentum_f32", share.blocks,
                          &args, sizeof(args), 5);
}
