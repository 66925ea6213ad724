/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted sums over windows of tokens: tensors are [tokens, heads, features], sequence behind
 * sequence; a window lies in one of them. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <string.h>

enum { PART_BYTES = 1 << 26 }; /* [A] of products of windows, f32, at a time */

struct compress {
    const struct op_tensor *input, *weight, *windows; /* windows: [windows, heads, features] */
    const struct op_ints *ends;
    int64_t block, stride;
};

/* Windows of a sequence, or some of them. */
struct windows {
    int64_t token, first, count; /* first token; number of the first among all windows */
};

static int64_t windows_in(const struct compress *c, int64_t tokens)
{
    return tokens < c->block ? 0 : (tokens - c->block) / c->stride + 1;
}

static leo_status check_ends(const struct op_call *call, const struct compress *c)
{
    int64_t before = 0, all = 0;
    for (uint64_t i = 0; i < c->ends->count; i++) {
        const int64_t end = c->ends->items[i];
        if (end < before || end > c->input->dim[0]) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "actSeqLen[%" PRIu64 "] is %" PRId64
                                ": sequences end one behind the other, at %" PRId64 " at most",
                                i, end, c->input->dim[0]);
        }
        all += windows_in(c, end - before);
        before = end;
    }
    return all == c->windows->dim[0]
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "the compressed tensor has shape %s, there are %" PRId64 " windows",
                              op_tensor_shape_text(c->windows).text, all);
}

static leo_status take(const struct op_call *call, const char *windows, struct compress *c)
{
    const char *layout = op_call_value(call, "layoutOptional")->text;
    *c = (struct compress){
        op_call_tensor(call, "input"),          op_call_tensor(call, "weight"),
        op_call_tensor(call, windows),          op_call_ints(call, "actSeqLenOptional"),
        op_call_int(call, "compressBlockSize"), op_call_int(call, "compressStride")};
    if ((layout && strcmp(layout, "TND") != 0) || op_call_int(call, "actSeqLenType") != 0 ||
        !c->ends || c->ends->count == 0 || c->stride < 1 || c->block < c->stride) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "layout %s, actSeqLenType %" PRId64 ", blocks of %" PRId64
                            " each %" PRId64 " tokens: TND, 0 (ends, which must be given), and a "
                            "stride of 1 up to the block's size",
                            layout ? layout : "TND", op_call_int(call, "actSeqLenType"), c->block,
                            c->stride);
    }
    const struct op_tensor *x = c->input, *w = c->weight, *out = c->windows;
    const bool fits = x->rank == 3 && w->rank == 2 && w->dim[0] == c->block &&
                      w->dim[1] == x->dim[1] && out->rank == 3 && out->dim[1] == x->dim[1] &&
                      out->dim[2] == x->dim[2];
    return fits ? check_ends(call, c)
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "input %s, weight %s and the compressed %s do not fit: [tokens, "
                               "heads, features], [compressBlockSize, heads], [windows, heads, "
                               "features]",
                               op_tensor_shape_text(x).text, op_tensor_shape_text(w).text,
                               op_tensor_shape_text(out).text);
}

// Tokens [begin, begin + width) of each window: [windows, width, heads, features].
static struct op_tensor tokens_of(const struct compress *c, const struct op_tensor *x,
                                  const struct windows *w, int64_t begin, int64_t width)
{
    const struct op_tensor part =
        op_view_slice(x, 0, w->token + begin, (w->count - 1) * c->stride + width);
    struct op_tensor seen = op_view_insert(&part, 0);
    seen.dim[0] = w->count;
    seen.stride[0] = x->stride[0] * c->stride;
    seen.dim[1] = width;
    return seen;
}

// Weights [begin, begin + width) as [width, heads, 1].
static struct op_tensor weights_of(const struct compress *c, int64_t begin, int64_t width)
{
    const struct op_tensor part = op_view_slice(c->weight, 0, begin, width);
    return op_view_insert(&part, 2);
}

static struct op_tensor results_of(const struct compress *c, const struct windows *w)
{
    return op_view_slice(c->windows, 0, w->first, w->count);
}

typedef void (*work_fn)(struct op_chain *chain, const struct compress *c, const struct windows *w);

// All windows, so many at a time that their products have room.
static void each_part(struct op_chain *chain, const struct compress *c, work_fn work)
{
    const int64_t bytes = c->block * c->input->dim[1] * c->input->dim[2] * 4,
                  most = bytes < PART_BYTES ? PART_BYTES / bytes : 1;
    struct windows w = {0};
    int64_t begin = 0;
    for (uint64_t i = 0; i < c->ends->count; i++) {
        int64_t left = windows_in(c, c->ends->items[i] - begin);
        w.token = begin;
        for (; left > 0; left -= w.count) {
            const uint64_t mark = op_plan_temp_mark(chain->plan);
            w.count = left < most ? left : most;
            work(chain, c, &w);
            op_plan_temp_release(chain->plan, mark);
            w.first += w.count;
            w.token += w.count * c->stride;
        }
        begin = c->ends->items[i];
    }
}

static struct op_tensor multiply(struct op_chain *chain, const struct op_tensor *a,
                                 const struct op_tensor *b)
{
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, 4, a->dim);
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(a), op_value_tensor(b), op_value_tensor(&out));
    return out;
}

static void sum_windows(struct op_chain *chain, const struct compress *c, const struct windows *w)
{
    const struct op_tensor tokens = tokens_of(c, c->input, w, 0, c->block),
                           weights = weights_of(c, 0, c->block),
                           product = multiply(chain, &tokens, &weights), out = results_of(c, w);
    op_chain_sum(chain, &product, 1, &out);
}

leo_status op_plan_nsa_compress(const struct op_call *call)
{
    struct compress c;
    leo_status status = take(call, "output", &c);
    if (status != LEO_OK || op_tensor_count(c.windows) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    each_part(&chain, &c, sum_windows);
    return chain.status;
}

/* ---- gradients ---- */

/* Those of the input and the weight in f32, where parts are added up. */
struct gradients {
    struct compress c; /* first: work_fn gets it */
    struct op_tensor input, weight;
};

static void add(struct op_chain *chain, const struct op_tensor *sum, const struct op_tensor *more)
{
    const struct op_scalar one = op_scalar_int(1);
    OP_CHAIN_CALL(chain, "InplaceAdd", op_value_tensor(sum), op_value_tensor(more),
                  op_value_scalar(&one));
}

// Windows overlap, but the parts of them that are one stride long do not.
static void add_inputs(struct op_chain *chain, const struct gradients *g, const struct windows *w,
                       const struct op_tensor *results)
{
    const struct compress *c = &g->c;
    for (int64_t begin = 0; begin < c->block; begin += c->stride) {
        const uint64_t mark = op_plan_temp_mark(chain->plan);
        const int64_t left = c->block - begin, width = left < c->stride ? left : c->stride;
        const struct op_tensor to = tokens_of(c, &g->input, w, begin, width),
                               weights = weights_of(c, begin, width),
                               out = op_chain_temp(chain, OP_TYPE_F32, 4, to.dim);
        OP_CHAIN_CALL(chain, "Mul", op_value_tensor(results), op_value_tensor(&weights),
                      op_value_tensor(&out));
        add(chain, &to, &out);
        op_plan_temp_release(chain->plan, mark);
    }
}

static void add_gradients(struct op_chain *chain, const struct compress *c, const struct windows *w)
{
    static const int64_t dims[] = {0, 3};
    static const struct op_ints over = {dims, 2};
    const struct gradients *g = (const struct gradients *)(const void *)c;
    const struct op_tensor rows = results_of(c, w), results = op_view_insert(&rows, 1),
                           tokens = tokens_of(c, c->input, w, 0, c->block);
    add_inputs(chain, g, w, &results);
    const struct op_tensor product = multiply(chain, &tokens, &results),
                           part = op_chain_temp_like(chain, OP_TYPE_F32, &g->weight);
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&product), op_value_ints(&over),
                  op_value_int(0), op_value_type(OP_TYPE_F32), op_value_tensor(&part));
    add(chain, &g->weight, &part);
}

leo_status op_plan_nsa_compress_gradient(const struct op_call *call)
{
    struct gradients g;
    leo_status status = take(call, "outputGrad", &g.c);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "inputGradOut", 3, g.c.input->dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "weightGradOut", 2, g.c.weight->dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    g.input = op_chain_temp_like(&chain, OP_TYPE_F32, g.c.input);
    g.weight = op_chain_temp_like(&chain, OP_TYPE_F32, g.c.weight);
    op_chain_fill(&chain, &g.input, 0);
    op_chain_fill(&chain, &g.weight, 0);
    if (op_tensor_count(g.c.windows)) {
        each_part(&chain, &g.c, add_gradients);
    }
    op_chain_copy(&chain, op_call_tensor(call, "inputGradOut"), &g.input);
    op_chain_copy(&chain, op_call_tensor(call, "weightGradOut"), &g.weight);
    return chain.status;
}

/* ---- one token more of each sequence ---- */

// Tokens of the last window of a sequence of `tokens`, out of its pages: [block, heads, features].
static struct op_tensor last_window(struct op_chain *chain, const struct op_tensor *input,
                                    const struct op_tensor *pages, int64_t block, int64_t tokens)
{
    const int64_t page = input->dim[1], first = (tokens - block) / page,
                  count = (tokens - 1) / page + 1 - first;
    const struct op_tensor some = op_view_slice(pages, 0, first, count),
                           list = op_chain_dense(chain, OP_TYPE_I64, &some);
    struct op_tensor like = *input;
    like.dim[0] = count;
    const struct op_tensor taken = op_chain_temp_like(chain, input->type, &like);
    OP_CHAIN_CALL(chain, "IndexSelect", op_value_tensor(input), op_value_int(0),
                  op_value_tensor(&list), op_value_tensor(&taken));
    const int64_t flat[] = {count * page, input->dim[2], input->dim[3]};
    const struct op_tensor rows = op_view_shape(&taken, 3, flat);
    return op_view_slice(&rows, 0, tokens - block - first * page, block);
}

static leo_status check_cache(const struct op_call *call)
{
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *weight = op_call_tensor(call, "weight"),
                           *slots = op_call_tensor(call, "slotMapping"),
                           *table = op_call_given(call, "blockTableOptional"),
                           *cache = op_call_tensor(call, "outputCache");
    const struct op_ints *lengths = op_call_ints(call, "actSeqLenOptional");
    const int64_t block = op_call_int(call, "compressBlockSize"),
                  stride = op_call_int(call, "compressStride");
    if (block < 1 || stride < 1 || op_call_int(call, "actSeqLenType") != 1) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "actSeqLenType %" PRId64 ", blocks of %" PRId64 " each %" PRId64
                            " tokens: 1 (actSeqLen has the length of each sequence), and a block "
                            "and a stride of at least 1",
                            op_call_int(call, "actSeqLenType"), block, stride);
    }
    if (input->rank != 4 || input->dim[1] != op_call_int(call, "pageBlockSize") ||
        weight->rank != 2 || weight->dim[0] != block || weight->dim[1] != input->dim[2] ||
        cache->rank != 3 || cache->dim[1] != input->dim[2] || cache->dim[2] != input->dim[3] ||
        !table || table->rank != 2 || slots->rank != 1 || slots->dim[0] != table->dim[0] ||
        !lengths || (int64_t)lengths->count != table->dim[0]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "input %s in pages, weight %s, slotMapping %s and outputCache %s do "
                            "not fit: [pages, pageBlockSize, heads, features], [compressBlockSize, "
                            "heads], a slot, a length and a line of blockTable for each sequence",
                            op_tensor_shape_text(input).text, op_tensor_shape_text(weight).text,
                            op_tensor_shape_text(slots).text, op_tensor_shape_text(cache).text);
    }
    for (uint64_t i = 0; i < lengths->count; i++) {
        if (lengths->items[i] < 0 || lengths->items[i] > table->dim[1] * input->dim[1]) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "actSeqLen[%" PRIu64 "] is %" PRId64
                                ": the pages of a sequence hold %" PRId64 " tokens",
                                i, lengths->items[i], table->dim[1] * input->dim[1]);
        }
    }
    return LEO_OK;
}

leo_status op_plan_nsa_compress_cache(const struct op_call *call)
{
    leo_status status = check_cache(call);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *weight = op_call_tensor(call, "weight"),
                           *cache = op_call_tensor(call, "outputCache"),
                           *table = op_call_given(call, "blockTableOptional"),
                           input =
                               op_chain_dense(&chain, cache->type, op_call_tensor(call, "input")),
                           weights = op_view_insert(weight, 2);
    const struct op_ints *lengths = op_call_ints(call, "actSeqLenOptional");
    const int64_t block = op_call_int(call, "compressBlockSize"),
                  stride = op_call_int(call, "compressStride"),
                  row[] = {1, cache->dim[1], cache->dim[2]};
    for (uint64_t i = 0; chain.status == LEO_OK && i < lengths->count; i++) {
        const int64_t tokens = lengths->items[i];
        if (tokens < block || (tokens - block) % stride) {
            continue;
        }
        const uint64_t mark = op_plan_temp_mark(call->plan);
        const struct op_tensor pages = op_view_select(table, 0, (int64_t)i),
                               window = last_window(&chain, &input, &pages, block, tokens),
                               product = op_chain_temp_like(&chain, OP_TYPE_F32, &window),
                               sum = op_chain_temp(&chain, cache->type, 3, row),
                               line = op_view_select(&sum, 0, 0),
                               slot = op_view_slice(op_call_tensor(call, "slotMapping"), 0,
                                                    (int64_t)i, 1);
        OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(&window), op_value_tensor(&weights),
                      op_value_tensor(&product));
        op_chain_sum(&chain, &product, 0, &line);
        OP_CHAIN_CALL(&chain, "InplaceIndexCopy", op_value_tensor(cache), op_value_int(0),
                      op_value_tensor(&slot), op_value_tensor(&sum));
        op_plan_temp_release(call->plan, mark);
    }
    return chain.status;
}
