/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that came rank by rank, within a rank expert by expert, in the order of their experts. */
#include "moe.h"

#include <inttypes.h>

enum { ENDS, COUNTS };         /* expert_token_num_type */
enum { WHERE_FROM, WHERE_TO }; /* idx_type */

static leo_status check(const struct op_call *call, const struct op_tensor *rows,
                        const struct op_tensor *counts)
{
    const struct op_tensor *scales = op_call_tensor(call, "per_token_scales_wrapper"),
                           *scales_out = op_call_tensor(call, "permute_per_token_scales_wrapper"),
                           *out = op_call_tensor(call, "permute_tokens_wrapper");
    const int64_t count = rows->rank == 2 ? rows->dim[0] : 0,
                  experts = counts->rank == 2 ? counts->dim[1] : 0,
                  kind = op_call_int(call, "expert_token_num_type"),
                  index = op_call_int(call, "idx_type");
    if (rows->rank != 2 || counts->rank != 2 || experts == 0 || counts->dim[0] == 0 ||
        !op_tensor_same_shape(rows, out) || out->type != rows->type ||
        (scales && (op_tensor_count(scales) != count || !scales_out ||
                    !op_tensor_same_shape(scales, scales_out)))) {
        return op_moe_fail_shapes(call, rows, counts, out);
    }
    if ((uint64_t)kind > 1 || (uint64_t)index > 1) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "expert_token_num_type %" PRId64 ", idx_type %" PRId64
                            ": both must be 0 or 1",
                            kind, index);
    }
    leo_status status = op_call_check_shape(call, "permute_token_idx", 1, &count);
    return status == LEO_OK ? op_call_check_shape(call, "expert_token_num", 1, &experts) : status;
}

static struct op_tensor sums_along(struct op_chain *chain, const struct op_tensor *list)
{
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_I64, list);
    OP_CHAIN_CALL(chain, "Cumsum", op_value_tensor(list), op_value_int(0),
                  op_value_type(OP_TYPE_I64), op_value_tensor(&out));
    return out;
}

// How many rows each expert has, of all ranks.
static void put_counts(struct op_chain *chain, const struct op_tensor *counts)
{
    const int64_t first = 0;
    const struct op_ints over = {&first, 1};
    const struct op_tensor wide = op_chain_dense(chain, OP_TYPE_I64, counts),
                           each = op_chain_temp(chain, OP_TYPE_I64, 1, &counts->dim[1]);
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&wide), op_value_ints(&over), op_value_int(0),
                  op_value_type(OP_TYPE_I64), op_value_tensor(&each));
    const bool ends = op_call_int(chain->call, "expert_token_num_type") == ENDS;
    const struct op_tensor made = ends ? sums_along(chain, &each) : each;
    op_chain_copy(chain, op_call_tensor(chain->call, "expert_token_num"), &made);
}

// The expert of each row: that of the block of the list it lies in.
static struct op_tensor expert_of(struct op_chain *chain, const struct op_tensor *counts,
                                  int64_t rows)
{
    const struct op_tensor list = op_moe_flat(chain, counts), ends = sums_along(chain, &list),
                           number = op_chain_temp(chain, OP_TYPE_I64, 1, &rows),
                           block = op_chain_temp_like(chain, OP_TYPE_I64, &number),
                           expert = op_chain_temp_like(chain, OP_TYPE_I64, &number);
    op_chain_range(chain, &number, 0, 1);
    OP_CHAIN_CALL(chain, "SearchSorted", op_value_tensor(&ends), op_value_tensor(&number),
                  op_value_int(0), op_value_int(1), op_value_tensor(NULL), op_value_tensor(&block));
    OP_CHAIN_CALL(chain, "MoeRest", op_value_tensor(&block), op_value_int(counts->dim[1]),
                  op_value_tensor(&expert));
    return expert;
}

leo_status op_plan_moe_reroute(const struct op_call *call)
{
    const struct op_tensor *rows = op_call_tensor(call, "tokens_wrapper"),
                           *counts = op_call_tensor(call, "expert_token_num_per_rank"),
                           *scales = op_call_tensor(call, "per_token_scales_wrapper");
    leo_status status = check(call, rows, counts);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    put_counts(&chain, counts);
    if (rows->dim[0] == 0) {
        return chain.status;
    }
    const struct op_tensor expert = expert_of(&chain, counts, rows->dim[0]),
                           order = op_moe_order(&chain, &expert, NULL);
    op_moe_take_rows(&chain, rows, &order, op_call_tensor(call, "permute_tokens_wrapper"));
    if (scales) {
        const struct op_tensor list = op_moe_flat(&chain, scales),
                               taken = op_chain_temp_like(&chain, scales->type, &list),
                               *out = op_call_tensor(call, "permute_per_token_scales_wrapper");
        op_moe_take_rows(&chain, &list, &order, &taken);
        const struct op_tensor seen = op_view_shape(&taken, out->rank, out->dim);
        op_chain_copy(&chain, out, &seen);
    }
    const bool to = op_call_int(call, "idx_type") == WHERE_TO;
    const struct op_tensor index = to ? op_moe_rank(&chain, &order) : order;
    op_chain_copy(&chain, op_call_tensor(call, "permute_token_idx"), &index);
    return chain.status;
}
