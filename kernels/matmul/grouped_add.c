/* SPDX-License-Identifier: Apache-2.0 */
/* Products of groups that are added to what is there: gradients of experts' weights. */
#include "grouped.h"

#include <inttypes.h>

enum { BETWEEN = 2 }; /* groupType */

static struct op_tensor turned(const struct op_call *call, const char *name, const char *flag)
{
    const struct op_tensor *tensor = op_call_tensor(call, name);
    return op_call_int(call, flag) && tensor->rank == 2 ? op_view_swap(tensor, 0, 1) : *tensor;
}

leo_status op_plan_grouped_add(const struct op_call *call)
{
    const struct op_tensor a = turned(call, "x", "transpose_x"),
                           b = turned(call, "weight", "transpose_weight"),
                           *list = op_call_tensor(call, "group_list"),
                           *self = op_call_tensor(call, "self");
    const bool v2 = op_call_has(call, "group_list_type_value");
    const int64_t kind = v2 ? op_call_int(call, "group_list_type_value") : 0,
                  groups = op_tensor_count(list), type = op_call_int(call, "group_type");
    if (type != BETWEEN || (uint64_t)kind > 1) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "group_type %" PRId64 ", group_list_type %" PRId64
                            ": they must be 2, and 0 or 1",
                            type, kind);
    }
    const bool fits = a.rank == 2 && b.rank == 2 && a.dim[1] == b.dim[0] && a.type == b.type &&
                      groups > 0 && self->rank >= 2 && self->dim[self->rank - 1] == b.dim[1] &&
                      op_tensor_count(self) == groups * a.dim[0] * b.dim[1];
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x %s %s and weight %s %s in %" PRId64 " groups into self %s: they do "
                            "not fit",
                            op_type_name(a.type), op_tensor_shape_text(&a).text,
                            op_type_name(b.type), op_tensor_shape_text(&b).text, groups,
                            op_tensor_shape_text(self).text);
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t shape[] = {groups, a.dim[0], b.dim[1]};
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor sum = op_chain_temp(&chain, OP_TYPE_F32, 3, shape),
                           seen = op_view_shape(&sum, self->rank, self->dim);
    const struct op_matmul_grouped grouped = {.a = a,
                                              .b = b,
                                              .out = sum,
                                              .list = *list,
                                              .groups = groups,
                                              .counts = kind == 1,
                                              .split_k = true};
    op_chain_fill(&chain, &sum, 0); // a group of nothing has the product 0
    if (chain.status == LEO_OK) {
        chain.status = op_matmul_grouped_plan(call, &grouped);
    }
    OP_CHAIN_CALL(&chain, "Add", op_value_tensor(self), op_value_tensor(&seen),
                  op_value_scalar(&one), op_value_tensor(self));
    return chain.status;
}
