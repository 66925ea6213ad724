/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One token of each row: of the k largest, of those whose shares come to p, of those that are not
 * much less than the largest, the one whose share over a random number is largest. Rows are sorted
 * from the largest on; a row of which nothing is sorted out stays in its order.
 */
#include "../frame/chain.h"

#include <inttypes.h>
#include <math.h>

enum { K_MAX = 1024, K_STEP = 8 }; // of k: its largest, and to what the limit is rounded up

struct choice {
    const struct op_tensor *logits, *q, *chosen, *values, *left, *shares;
    struct op_tensor k, p, least; /* [rows, 1]; k i32 */
    int64_t most;                 /* largest k that counts */
    bool is_logits, wants_values, wants_rest;
};

static leo_status check_outputs(const struct op_call *call, const struct choice *c)
{
    const int64_t rows = c->logits->dim[0];
    leo_status status = LEO_OK;
    if (c->q) {
        status = op_call_check_shape(call, "q", 2, c->logits->dim);
    }
    if (status == LEO_OK && !c->wants_rest) {
        status = op_call_check_shape(call, "logitsSelectIdx", 1, &rows);
    }
    if (status == LEO_OK && c->wants_values) {
        status = c->values ? op_call_check_shape(call, "logitsTopKPSelect", 2, c->logits->dim)
                           : op_call_fail(call, LEO_ERR_BAD_POINTER, "logitsTopKPSelect is NULL");
    }
    if (status != LEO_OK || !c->wants_rest) {
        return status;
    }
    if (!c->left || !c->shares) {
        return op_call_fail(call, LEO_ERR_BAD_POINTER, "logitsIdx or logitsSortMasked is NULL");
    }
    status = op_call_check_shape(call, "logitsIdx", 2, c->logits->dim);
    return status == LEO_OK ? op_call_check_shape(call, "logitsSortMasked", 2, c->logits->dim)
                            : status;
}

static leo_status check(const struct op_call *call)
{
    static const char *const lists[] = {"topK", "topP", "minPs"};
    const struct op_tensor *logits = op_call_tensor(call, "logits");
    leo_status status =
        logits->rank == 2 && logits->dim[1] > 0
            ? LEO_OK
            : op_call_fail(call, LEO_ERR_SHAPE,
                           "logits has shape %s, it must be [rows, tokens] with a token at least",
                           op_tensor_shape_text(logits).text);
    for (unsigned i = 0; status == LEO_OK && i < 3; i++) {
        if (op_call_optional(call, lists[i])) {
            status = op_call_check_shape(call, lists[i], 1, logits->dim);
        }
    }
    const int64_t most = op_call_has(call, "ksMax") ? op_call_int(call, "ksMax") : K_MAX;
    return status != LEO_OK || (most >= 1 && most <= K_MAX)
               ? status
               : op_call_fail(call, LEO_ERR_INVALID_ARG, "ksMax is %" PRId64 ", it must be 1 to %d",
                              most, K_MAX);
}

static struct op_tensor column_of(struct op_chain *chain, const char *name, double otherwise)
{
    const struct op_tensor *given = op_call_optional(chain->call, name);
    const int64_t rows = op_call_tensor(chain->call, "logits")->dim[0];
    const struct op_tensor list = given ? op_chain_dense(chain, OP_TYPE_F32, given)
                                        : op_chain_temp(chain, OP_TYPE_F32, 1, &rows);
    if (!given) {
        op_chain_fill(chain, &list, otherwise);
    }
    return op_view_insert(&list, 1);
}

static struct choice take(struct op_chain *chain)
{
    const struct op_call *call = chain->call;
    const bool second = op_call_has(call, "ksMax");
    const struct op_tensor *logits = op_call_tensor(call, "logits");
    const int64_t limit = second ? op_call_int(call, "ksMax") : K_MAX,
                  rounded = (limit + K_STEP - 1) / K_STEP * K_STEP;
    return (struct choice){
        logits,
        op_call_tensor(call, "q"),
        op_call_tensor(call, "logitsSelectIdx"),
        op_call_tensor(call, "logitsTopKPSelect"),
        op_call_optional(call, "logitsIdx"),
        op_call_optional(call, "logitsSortMasked"),
        op_view_insert(op_call_tensor(call, "topK"), 1),
        column_of(chain, "topP", 1),
        column_of(chain, "minPs", 0),
        rounded < logits->dim[1] ? rounded : logits->dim[1],
        !second || op_call_int(call, "inputIsLogits") != 0,
        op_call_int(call, "isNeedLogits") != 0,
        second && op_call_int(call, "isNeedSampleResult") != 0,
    };
}

/* What is left of each row, in an order. */
struct left {
    struct op_tensor place, share, kept; /* i64, f32, f32 */
};

static struct op_tensor f32_like(struct op_chain *chain, const struct choice *c)
{
    return op_chain_temp_like(chain, OP_TYPE_F32, c->logits);
}

static struct op_tensor shares_of(struct op_chain *chain, const struct choice *c,
                                  const struct op_tensor *x)
{
    if (!c->is_logits) {
        return *x;
    }
    const struct op_tensor out = f32_like(chain, c);
    OP_CHAIN_CALL(chain, "Softmax", op_value_tensor(x), op_value_int(1), op_value_tensor(&out));
    return out;
}

static struct op_tensor cumulate(struct op_chain *chain, const struct op_tensor *x)
{
    const struct op_tensor out = op_chain_temp_like(chain, OP_TYPE_F32, x);
    OP_CHAIN_CALL(chain, "Cumsum", op_value_tensor(x), op_value_int(1), op_value_type(OP_TYPE_F32),
                  op_value_tensor(&out));
    return out;
}

// Sorted rows: of the k largest those whose shares come to p.
static struct left sort_out(struct op_chain *chain, const struct choice *c,
                            const struct op_tensor *wide)
{
    const struct op_tensor sorted = f32_like(chain, c), kept = f32_like(chain, c),
                           top = op_chain_temp_like(chain, OP_TYPE_I32, c->logits),
                           place = op_chain_temp_like(chain, OP_TYPE_I64, c->logits);
    OP_CHAIN_CALL(chain, "Sort", op_value_tensor(wide), op_value_int(1), op_value_int(1),
                  op_value_int(1), op_value_tensor(&sorted), op_value_tensor(&place));
    OP_CHAIN_CALL(chain, "ChooseTop", op_value_tensor(&c->k), op_value_int(c->most),
                  op_value_tensor(&top));
    op_chain_copy(chain, &kept, &top);
    OP_CHAIN_CALL(chain, "ChooseOnly", op_value_tensor(&sorted), op_value_tensor(&kept),
                  op_value_real(c->is_logits ? -INFINITY : 0), op_value_tensor(&sorted));
    const struct op_tensor share = shares_of(chain, c, &sorted), sums = cumulate(chain, &share);
    OP_CHAIN_CALL(chain, "ChooseShare", op_value_tensor(&kept), op_value_tensor(&share),
                  op_value_tensor(&sums), op_value_tensor(&c->p), op_value_tensor(&kept));
    if (c->is_logits) {
        OP_CHAIN_CALL(chain, "ChooseWhole", op_value_tensor(&c->p), op_value_tensor(&share),
                      op_value_tensor(&share));
    }
    return (struct left){place, share, kept};
}

// Rows of which nothing was sorted out go back to their order.
static void keep_order(struct op_chain *chain, const struct choice *c, const struct op_tensor *wide,
                       struct left *left)
{
    const struct op_tensor whole = op_chain_temp_like(chain, OP_TYPE_F32, &c->p),
                           share = shares_of(chain, c, wide);
    OP_CHAIN_CALL(chain, "ChooseUnsorted", op_value_tensor(&c->k), op_value_tensor(&c->p),
                  op_value_tensor(&c->least), op_value_int(c->most), op_value_tensor(&whole));
    const struct op_tensor numbers = op_chain_dense(chain, OP_TYPE_I64, &whole);
    OP_CHAIN_CALL(chain, "ChooseEither", op_value_tensor(&whole), op_value_tensor(&share),
                  op_value_tensor(&left->share), op_value_tensor(&left->share));
    OP_CHAIN_CALL(chain, "ChoosePlace", op_value_tensor(&numbers), op_value_tensor(&left->place),
                  op_value_tensor(&left->place));
}

static void keep_large(struct op_chain *chain, const struct choice *c, const struct left *left)
{
    static const int64_t last[] = {1};
    static const struct op_ints of_rows = {last, 1};
    const struct op_tensor most = op_chain_temp_like(chain, OP_TYPE_F32, &c->p);
    OP_CHAIN_CALL(chain, "Amax", op_value_tensor(&left->share), op_value_ints(&of_rows),
                  op_value_int(1), op_value_tensor(&most));
    OP_CHAIN_CALL(chain, "ChooseLeast", op_value_tensor(&left->kept), op_value_tensor(&left->share),
                  op_value_tensor(&most), op_value_tensor(&c->least), op_value_tensor(&left->kept));
}

// How many of a row are kept before each place, i64.
static struct op_tensor ranks_of(struct op_chain *chain, const struct left *left)
{
    const struct op_tensor sums = cumulate(chain, &left->kept);
    OP_CHAIN_CALL(chain, "ChooseRank", op_value_tensor(&sums), op_value_tensor(&sums));
    return op_chain_dense(chain, OP_TYPE_I64, &sums);
}

static void choose(struct op_chain *chain, const struct choice *c, const struct left *left)
{
    const struct op_tensor weight = f32_like(chain, c), q = f32_like(chain, c),
                           at = op_chain_temp_like(chain, OP_TYPE_I64, &c->p);
    double eps = 0;
    if (c->q) {
        const struct op_tensor rank = ranks_of(chain, left);
        OP_CHAIN_CALL(chain, "Gather", op_value_tensor(c->q), op_value_int(1),
                      op_value_tensor(&rank), op_value_tensor(&q));
        eps = op_call_real(chain->call, "eps");
    } else {
        op_chain_fill(chain, &q, 1);
    }
    OP_CHAIN_CALL(chain, "ChooseWeight", op_value_tensor(&left->kept),
                  op_value_tensor(&left->share), op_value_tensor(&q), op_value_real(eps),
                  op_value_tensor(&weight));
    OP_CHAIN_CALL(chain, "ArgMax", op_value_tensor(&weight), op_value_int(1), op_value_int(1),
                  op_value_tensor(&at));
    const struct op_tensor out = op_view_insert(c->chosen, 1);
    OP_CHAIN_CALL(chain, "Gather", op_value_tensor(&left->place), op_value_int(1),
                  op_value_tensor(&at), op_value_tensor(&out));
}

// Logits of what is kept, where they were.
static void give_values(struct op_chain *chain, const struct choice *c,
                        const struct op_tensor *wide, const struct left *left)
{
    const struct op_tensor kept = f32_like(chain, c);
    OP_CHAIN_CALL(chain, "InplaceScatter", op_value_tensor(&kept), op_value_int(1),
                  op_value_tensor(&left->place), op_value_tensor(&left->kept), op_value_int(0));
    OP_CHAIN_CALL(chain, "ChooseOnly", op_value_tensor(wide), op_value_tensor(&kept),
                  op_value_real(c->is_logits ? -INFINITY : 0), op_value_tensor(c->values));
}

// What is kept, one behind the other: which tokens, and their shares; 0 behind them.
static void give_rest(struct op_chain *chain, const struct choice *c, const struct left *left)
{
    const struct op_tensor rank = ranks_of(chain, left), share = f32_like(chain, c),
                           place = op_chain_temp_like(chain, OP_TYPE_I64, c->logits),
                           kept = op_chain_dense(chain, OP_TYPE_I64, &left->kept);
    OP_CHAIN_CALL(chain, "ChooseOnly", op_value_tensor(&left->share), op_value_tensor(&left->kept),
                  op_value_real(0), op_value_tensor(&share));
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&left->place), op_value_tensor(&kept),
                  op_value_tensor(&place));
    const struct op_tensor *from[] = {&place, &share}, *to[] = {c->left, c->shares};
    for (unsigned i = 0; i < 2; i++) {
        OP_CHAIN_CALL(chain, "InplaceZero", op_value_tensor(to[i]));
        OP_CHAIN_CALL(chain, "InplaceScatter", op_value_tensor(to[i]), op_value_int(1),
                      op_value_tensor(&rank), op_value_tensor(from[i]), op_value_int(1));
    }
}

leo_status op_plan_choose_token(const struct op_call *call)
{
    leo_status status = check(call);
    if (status != LEO_OK || op_call_tensor(call, "logits")->dim[0] == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct choice c = take(&chain);
    status = check_outputs(call, &c);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor wide = op_chain_dense(&chain, OP_TYPE_F32, c.logits);
    struct left left = sort_out(&chain, &c, &wide);
    keep_order(&chain, &c, &wide, &left);
    keep_large(&chain, &c, &left);
    if (c.wants_rest) {
        give_rest(&chain, &c, &left);
    } else {
        choose(&chain, &c, &left);
    }
    if (c.wants_values) {
        give_values(&chain, &c, &wide, &left);
    }
    return chain.status;
}
