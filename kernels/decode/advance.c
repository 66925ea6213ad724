/* SPDX-License-Identifier: Apache-2.0 */
/* Where the next token of each sequence goes. */
#include "../frame/chain.h"

#include <inttypes.h>

struct advance {
    const struct op_tensor *tokens, *sampled, *positions, *lengths, *slots, *tables;
    int64_t seqs, queries, size;
};

static leo_status take(const struct op_call *call, struct advance *a)
{
    *a = (struct advance){
        .tokens = op_call_tensor(call, "inputTokens"),
        .sampled = op_call_tensor(call, "sampledTokenIds"),
        .positions = op_call_tensor(call, "inputPositions"),
        .lengths = op_call_tensor(call, "seqLens"),
        .slots = op_call_tensor(call, "slotMapping"),
        .tables = op_call_tensor(call, "blockTables"),
        .seqs = op_call_int(call, "numSeqs"),
        .queries = op_call_int(call, "numQueries"),
        .size = op_call_int(call, "blockSize"),
    };
    if (a->queries < 1 || a->seqs < a->queries || a->size < 1 || a->tables->rank != 2 ||
        a->tables->dim[0] != a->seqs || a->sampled->rank != 2) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "numSeqs %" PRId64 ", numQueries %" PRId64 ", blockSize %" PRId64
                            " with blockTables %s, sampledTokenIds %s: [numSeqs, pages] and "
                            "[numQueries, tokens], all above 0",
                            a->seqs, a->queries, a->size, op_tensor_shape_text(a->tables).text,
                            op_tensor_shape_text(a->sampled).text);
    }
    return LEO_OK;
}

static struct op_tensor count_up(struct op_chain *chain, int64_t count)
{
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_I64, 1, &count);
    op_chain_range(chain, &out, 0, 1);
    return out;
}

// Entries of all tables at places of a list.
static struct op_tensor entries_at(struct op_chain *chain, const struct op_tensor *tables,
                                   const struct op_tensor *places)
{
    const int64_t all = op_tensor_count(tables);
    const struct op_tensor dense = op_chain_dense(chain, OP_TYPE_I64, tables),
                           flat = op_view_shape(&dense, 1, &all),
                           out = op_chain_temp_like(chain, OP_TYPE_I64, places);
    OP_CHAIN_CALL(chain, "IndexSelect", op_value_tensor(&flat), op_value_int(0),
                  op_value_tensor(places), op_value_tensor(&out));
    return out;
}

// Sequences without a query: the chip's first core resets every one of so many as it has cores.
static void reset_rest(struct op_chain *chain, const struct advance *a)
{
    const int64_t step = op_plan_vector_cores(chain->plan);
    for (int64_t i = a->queries; i < a->seqs; i += step) {
        const struct op_tensor token = op_view_slice(a->tokens, 0, i, 1),
                               position = op_view_slice(a->positions, 0, i, 1),
                               slot = op_view_slice(a->slots, 0, i, 1);
        op_chain_fill(chain, &token, 0);
        op_chain_fill(chain, &position, 0);
        op_chain_fill(chain, &slot, -1);
    }
}

leo_status op_plan_advance_step(const struct op_call *call)
{
    static const char *const lists[] = {"inputTokens", "inputPositions", "seqLens", "slotMapping"};
    struct advance a;
    leo_status status = take(call, &a);
    const int64_t sampled[] = {a.queries, 1};
    for (unsigned i = 0; status == LEO_OK && i < 4; i++) {
        status = op_call_check_shape(call, lists[i], 1, &a.seqs);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "sampledTokenIds", 2, sampled);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor tokens = op_view_slice(a.tokens, 0, 0, a.queries),
                           positions = op_view_slice(a.positions, 0, 0, a.queries),
                           lengths = op_view_slice(a.lengths, 0, 0, a.queries),
                           slots = op_view_slice(a.slots, 0, 0, a.queries),
                           from = op_view_select(a.sampled, 1, 0),
                           place = op_chain_temp_like(&chain, OP_TYPE_I64, &positions),
                           index = count_up(&chain, a.queries);
    struct op_tensor none = index; // the tables of other sequences are not looked at
    none.dim[0] = a.queries;
    op_chain_copy(&chain, &tokens, &from);
    op_chain_copy(&chain, &positions, &lengths);
    OP_CHAIN_CALL(&chain, "AdvanceNext", op_value_tensor(&lengths), op_value_int(1),
                  op_value_tensor(&lengths));
    OP_CHAIN_CALL(&chain, "AdvanceEntry", op_value_tensor(&positions), op_value_tensor(&none),
                  op_value_int(0), op_value_int(a.size), op_value_tensor(&place));
    const struct op_tensor entry = entries_at(&chain, a.tables, &place);
    OP_CHAIN_CALL(&chain, "AdvanceSlot", op_value_tensor(&entry), op_value_tensor(&positions),
                  op_value_tensor(&index), op_value_int(a.tables->stride[0]), op_value_int(a.size),
                  op_value_tensor(&slots));
    reset_rest(&chain, &a);
    return chain.status;
}

/* ---- with guesses ---- */

static leo_status check_guesses(const struct op_call *call, const struct advance *a, int64_t each)
{
    static const char *const lists[] = {"inputTokens", "inputPositions", "seqLens", "slotMapping"};
    const int64_t guesses[] = {a->seqs, each - 1}, sampled[] = {a->seqs, each};
    leo_status status = op_call_check_shape(call, "specToken", 2, guesses);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "sampledTokenIds", 2, sampled);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "acceptedNum", 1, &a->seqs);
    }
    for (unsigned i = 0; status == LEO_OK && i < 4; i++) {
        const struct op_tensor *list = op_call_tensor(call, lists[i]);
        if (op_tensor_count(list) != a->seqs * each || !op_tensor_is_dense(list)) {
            status = op_call_fail(call, LEO_ERR_SHAPE,
                                  "%s has shape %s, it must be a dense list of %" PRId64
                                  " times %" PRId64 " numbers",
                                  lists[i], op_tensor_shape_text(list).text, a->seqs, each);
        }
    }
    return status;
}

// The last token of each row that is not -1.
static void take_last(struct op_chain *chain, const struct advance *a, const struct op_tensor *out)
{
    const int64_t dim[] = {a->seqs, a->sampled->dim[1] + 1}, one[] = {a->seqs, 1};
    const struct op_tensor all = op_chain_temp(chain, OP_TYPE_I64, 2, dim),
                           head = op_view_slice(&all, 1, 0, dim[1] - 1),
                           end = op_chain_temp(chain, OP_TYPE_I64, 2, one),
                           last = op_chain_temp(chain, OP_TYPE_I64, 2, one);
    op_chain_fill(chain, &all, -1);
    op_chain_copy(chain, &head, a->sampled);
    OP_CHAIN_CALL(chain, "ArgMin", op_value_tensor(&all), op_value_int(1), op_value_int(1),
                  op_value_tensor(&end));
    OP_CHAIN_CALL(chain, "AdvanceNext", op_value_tensor(&end), op_value_int(-1),
                  op_value_tensor(&end)); // -1 is the last place, as in the adapter's reference
    OP_CHAIN_CALL(chain, "Gather", op_value_tensor(a->sampled), op_value_int(1),
                  op_value_tensor(&end), op_value_tensor(&last));
    op_chain_copy(chain, out, &last);
}

leo_status op_plan_advance_guesses(const struct op_call *call)
{
    struct advance a;
    leo_status status = take(call, &a);
    const int64_t each = status == LEO_OK ? a.sampled->dim[1] : 0, shape[] = {a.seqs, each};
    if (status == LEO_OK) {
        status = check_guesses(call, &a, each);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor tokens = op_view_shape(a.tokens, 2, shape),
                           positions = op_view_shape(a.positions, 2, shape),
                           lengths = op_view_shape(a.lengths, 2, shape),
                           slots = op_view_shape(a.slots, 1, (const int64_t[]){a.seqs * each}),
                           flat = op_view_shape(a.positions, 1, slots.dim),
                           accepted = op_view_insert(op_call_tensor(call, "acceptedNum"), 1),
                           first = op_view_slice(&tokens, 1, 0, 1),
                           rest = op_view_slice(&tokens, 1, 1, each - 1),
                           row = count_up(&chain, a.seqs), rows = op_view_insert(&row, 1),
                           place = op_chain_temp_like(&chain, OP_TYPE_I64, &positions);
    OP_CHAIN_CALL(&chain, "InplaceAdd", op_value_tensor(&positions), op_value_tensor(&accepted),
                  op_value_scalar(&one));
    OP_CHAIN_CALL(&chain, "AdvanceNext", op_value_tensor(&positions), op_value_int(1),
                  op_value_tensor(&positions));
    OP_CHAIN_CALL(&chain, "AdvanceNext", op_value_tensor(&positions), op_value_int(1),
                  op_value_tensor(&lengths));
    take_last(&chain, &a, &first);
    if (each > 1) {
        op_chain_copy(&chain, &rest, op_call_tensor(call, "specToken"));
    }
    OP_CHAIN_CALL(&chain, "AdvanceEntry", op_value_tensor(&positions), op_value_tensor(&rows),
                  op_value_int(a.tables->dim[1]), op_value_int(a.size), op_value_tensor(&place));
    const struct op_tensor places = op_view_shape(&place, 1, slots.dim),
                           entry = entries_at(&chain, a.tables, &places);
    OP_CHAIN_CALL(&chain, "AdvanceSlot", op_value_tensor(&entry), op_value_tensor(&flat),
                  op_value_tensor(&places), op_value_int(0), op_value_int(a.size),
                  op_value_tensor(&slots));
    return chain.status;
}
