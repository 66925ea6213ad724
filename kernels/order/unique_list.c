/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of a list without repetition, of operators: it is sorted, what differs from the one
 * before it is selected, and running counts of those say which of them each element is. */
#include "../frame/chain.h"
#include "select.h"
#include "unique.h"

enum { LEAST = 512 }; // [A] elements; fewer are done sooner by one scalar unit

static struct op_tensor list_at(uint64_t addr, enum op_type type, int64_t count)
{
    return op_tensor_dense(addr, type, 1, &count);
}

bool op_unique_takes_list(enum op_type type, int64_t count)
{
    return count >= LEAST && type != OP_TYPE_F64 && !op_type_is_complex(type);
}

// Which elements of `list` differ from the one before them.
static struct op_tensor find_first(struct op_chain *chain, const struct op_tensor *list)
{
    const int64_t count = list->dim[0];
    const struct op_tensor first = op_chain_temp(chain, OP_TYPE_BOOL, 1, &count),
                           begin = op_view_slice(&first, 0, 0, 1),
                           rest = op_view_slice(&first, 0, 1, count - 1),
                           left = op_view_slice(list, 0, 0, count - 1),
                           right = op_view_slice(list, 0, 1, count - 1);
    op_chain_fill(chain, &begin, 1);
    OP_CHAIN_CALL(chain, "NeTensor", op_value_tensor(&right), op_value_tensor(&left),
                  op_value_tensor(&rest));
    return first;
}

// inverse[order[i]] = how many first ones there are up to i, less one.
static void plan_inverse(struct op_chain *chain, const struct op_tensor *first,
                         const struct op_tensor *order, const struct op_tensor *inverse)
{
    const struct op_scalar back = op_scalar_int(-1), one = op_scalar_int(1);
    const struct op_tensor number = op_chain_temp_like(chain, OP_TYPE_I64, first),
                           place = order ? op_chain_temp_like(chain, OP_TYPE_I64, first) : *inverse;
    OP_CHAIN_CALL(chain, "Cumsum", op_value_tensor(first), op_value_int(0),
                  op_value_type(OP_TYPE_I64), op_value_tensor(&number));
    OP_CHAIN_CALL(chain, "Adds", op_value_tensor(&number), op_value_scalar(&back),
                  op_value_scalar(&one), op_value_tensor(&place));
    if (order) {
        OP_CHAIN_CALL(chain, "InplaceIndexCopy", op_value_tensor(inverse), op_value_int(0),
                      op_value_tensor(order), op_value_tensor(&place));
    }
}

// counts = from the place of each first one to that of the next.
static void plan_counts(struct op_chain *chain, const struct op_tensor *first,
                        const struct op_tensor *counts)
{
    const int64_t count = first->dim[0], places = count + 1;
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor begin = op_chain_temp(chain, OP_TYPE_I64, 1, &places),
                           from = op_view_slice(&begin, 0, 0, count),
                           to = op_view_slice(&begin, 0, 1, count);
    uint64_t unused;
    op_chain_fill(chain, &begin, (double)count);
    if (chain->status == LEO_OK) {
        chain->status = op_select_plan_list(chain->plan, first, NULL, begin.addr, &unused);
    }
    OP_CHAIN_CALL(chain, "Sub", op_value_tensor(&to), op_value_tensor(&from), op_value_scalar(&one),
                  op_value_tensor(counts));
}

leo_status op_unique_plan_list(const struct op_call *call, const struct op_unique_args *args,
                               uint64_t *count)
{
    struct op_chain chain = op_chain_begin(call);
    const int64_t rows = (int64_t)args->rows;
    struct op_tensor list = list_at(args->in, (enum op_type)args->type, rows), order = {0};
    if (args->sorted) {
        const struct op_tensor given = list;
        list = op_chain_temp_like(&chain, given.type, &given);
        order = op_chain_temp_like(&chain, OP_TYPE_I64, &given);
        OP_CHAIN_CALL(&chain, "Sort", op_value_tensor(&given), op_value_int(1), op_value_int(0),
                      op_value_int(0), op_value_tensor(&list), op_value_tensor(&order));
    }
    const struct op_tensor first = find_first(&chain, &list);
    if (args->inverse) {
        const struct op_tensor inverse = list_at(args->inverse, OP_TYPE_I64, rows);
        plan_inverse(&chain, &first, args->sorted ? &order : NULL, &inverse);
    }
    if (args->counts) {
        const struct op_tensor counts = list_at(args->counts, OP_TYPE_I64, rows);
        plan_counts(&chain, &first, &counts);
    }
    return chain.status == LEO_OK
               ? op_select_plan_list(call->plan, &first, &list, args->values, count)
               : chain.status;
}
