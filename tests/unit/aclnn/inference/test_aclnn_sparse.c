/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse attention against double on the host: the index of keys, attention over what it names,
 * gradients. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3, HEADS = 4, WIDTH = 16, ROPE = 8, PAGE = 16, PAGES = 9, KEYS = 40, TOKENS = 9 };

struct call {
    const char *query_layout, *key_layout;
    enum op_type type;
    int64_t queries[BATCH], keys[BATCH]; /* lengths */
    int64_t count, size;                 /* indices a token, keys a block */
    bool causal, rope, values;
};

static bool packed(const struct call *c)
{
    return strcmp(c->query_layout, "TND") == 0;
}

static bool paged(const struct call *c)
{
    return strcmp(c->key_layout, "PA_BSND") == 0;
}

static int64_t sum_before(const int64_t *list, int64_t end)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < end; i++) {
        sum += list[i];
    }
    return sum;
}

static int64_t page_of(int64_t b, int64_t place)
{
    return (b * 3 + place / PAGE) * 5 % PAGES;
}

// Rows of queries and of keys in their tensors.
static int64_t query_row(const struct call *c, int64_t b, int64_t i)
{
    return (packed(c) ? sum_before(c->queries, b) : b * TOKENS) + i;
}
static int64_t key_row(const struct call *c, int64_t b, int64_t j)
{
    return paged(c)    ? page_of(b, j) * PAGE + j % PAGE
           : packed(c) ? sum_before(c->keys, b) + j
                       : b * KEYS + j;
}
static int64_t query_rows(const struct call *c)
{
    return packed(c) ? sum_before(c->queries, BATCH) : BATCH * TOKENS;
}
static int64_t key_rows(const struct call *c)
{
    return paged(c) ? PAGES * PAGE : packed(c) ? sum_before(c->keys, BATCH) : BATCH * KEYS;
}

static bool sees(const struct call *c, int64_t b, int64_t i, int64_t j)
{
    return j < c->keys[b] && (!c->causal || j <= c->keys[b] - c->queries[b] + i);
}

static struct rig_tensor of_queries(const struct call *c, enum op_type type, int64_t heads,
                                    int64_t width, uint64_t seed)
{
    const int64_t dim[] = {BATCH, TOKENS, heads, width}, flat[] = {query_rows(c), heads, width};
    const unsigned rest = width ? 0 : 1; // width 0: one number a head
    return packed(c) ? rig_values_make(type, 3 - rest, flat, RIG_DENSE, seed)
                     : rig_values_make(type, 4 - rest, dim, RIG_DENSE, seed);
}

static struct rig_tensor of_keys(const struct call *c, enum op_type type, int64_t width,
                                 uint64_t seed)
{
    const int64_t dim[] = {paged(c) ? PAGES : BATCH, paged(c) ? PAGE : KEYS, 1, width},
                  flat[] = {key_rows(c), 1, width};
    return packed(c) && !paged(c) ? rig_values_make(type, 3, flat, RIG_DENSE, seed)
                                  : rig_values_make(type, 4, dim, RIG_DENSE, seed);
}

static struct rig_tensor of_ints(unsigned rank, const int64_t *dim)
{
    return rig_tensor_make(OP_TYPE_I32, rank, dim, RIG_DENSE, 1);
}

static void put_int(struct rig_tensor *t, int64_t index, int64_t value)
{
    rig_put_i(rig_tensor_at(t, index), OP_TYPE_I32, value);
}

static int64_t get_int(const struct rig_tensor *t, int64_t index)
{
    return rig_get_i(rig_tensor_at(t, index), OP_TYPE_I32);
}

/* Lengths and pages, as tensors on the device. */
struct lists {
    struct rig_tensor queries, keys, table;
};

static struct lists lists_make(const struct call *c)
{
    const int64_t batch[] = {BATCH}, table[] = {BATCH, 3};
    struct lists l = {of_ints(1, batch), of_ints(1, batch), of_ints(2, table)};
    for (int64_t b = 0; b < BATCH; b++) {
        const bool ends = packed(c);
        put_int(&l.queries, b, ends ? sum_before(c->queries, b + 1) : c->queries[b]);
        put_int(&l.keys, b, ends && !paged(c) ? sum_before(c->keys, b + 1) : c->keys[b]);
        for (int64_t p = 0; p < 3; p++) { // pages behind the last key name nothing
            put_int(&l.table, b * 3 + p, p * PAGE < c->keys[b] ? page_of(b, p * PAGE) : 999);
        }
    }
    rig_tensor_put(&l.queries);
    rig_tensor_put(&l.keys);
    rig_tensor_put(&l.table);
    return l;
}

static void lists_free(struct lists *l)
{
    rig_values_free((struct rig_tensor[]){l->queries, l->keys, l->table}, 3, NULL, 0);
}

static double dot(const struct rig_tensor *a, int64_t row, const struct rig_tensor *b, int64_t col,
                  int64_t width)
{
    double sum = 0;
    for (int64_t d = 0; d < width; d++) {
        sum += rig_values_at(a, row * width + d) * rig_values_at(b, col * width + d);
    }
    return sum;
}

/* ---- the index ---- */

static double index_score(const struct rig_tensor *q, const struct rig_tensor *k,
                          const struct rig_tensor *w, int64_t row, int64_t col)
{
    double sum = 0;
    for (int64_t h = 0; h < HEADS; h++) {
        sum += rig_values_at(w, row * HEADS + h) * fmax(0, dot(q, row * HEADS + h, k, col, WIDTH));
    }
    return sum;
}

// The keys of a token, by their scores: all that it sees and that are not named score no more than
// those named.
static void expect_token(const struct call *c, const struct rig_tensor *q,
                         const struct rig_tensor *k, const struct rig_tensor *w,
                         const struct rig_tensor *out, const struct rig_tensor *values, int64_t b,
                         int64_t i)
{
    const int64_t row = query_row(c, b, i);
    double score[KEYS + 8] = {0}, least = INFINITY, last = INFINITY, most = -INFINITY;
    bool named[KEYS + 8] = {0};
    int64_t seen = 0, good = 0;
    for (int64_t j = 0; j < c->keys[b]; j++) {
        score[j] = sees(c, b, i, j) ? index_score(q, k, w, row, key_row(c, b, j)) : -INFINITY;
        seen += sees(c, b, i, j);
    }
    seen = seen < c->count ? seen : c->count;
    for (int64_t n = 0; n < c->count; n++) {
        const int64_t j = get_int(out, row * c->count + n);
        if (n >= seen) {
            good += j == -1;
            continue;
        }
        const bool fits =
            j >= 0 && j < c->keys[b] && sees(c, b, i, j) && !named[j] && score[j] <= last + 1e-4;
        good += fits && (!c->values || fabs(rig_values_at(values, row * c->count + n) - score[j]) <=
                                           0.01 + 0.01 * fabs(score[j]));
        if (fits) {
            named[j] = true;
            last = score[j];
            least = fmin(least, score[j]);
        }
    }
    for (int64_t j = 0; j < c->keys[b]; j++) {
        most = named[j] ? most : fmax(most, score[j]);
    }
    CU_ASSERT_EQUAL(good, c->count);
    CU_ASSERT(seen < c->count || seen == 0 || most <= least + 1e-4);
}

static void run_index(const struct call *c)
{
    struct rig_tensor q = of_queries(c, c->type, HEADS, WIDTH, 1),
                      k = of_keys(c, c->type, WIDTH, 2), w = of_queries(c, c->type, HEADS, 0, 3),
                      out = of_queries(c, OP_TYPE_I32, 1, c->count, 4),
                      values = of_queries(c, c->type, 1, c->count, 5);
    struct lists l = lists_make(c);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "LightningIndexer", true, {"query", {.tensor = q.acl}}, {"key", {.tensor = k.acl}},
            {"weights", {.tensor = w.acl}}, {"actual_seq_lengths_query", {.tensor = l.queries.acl}},
            {"actual_seq_lengths_key", {.tensor = l.keys.acl}},
            {"block_table", {.tensor = paged(c) ? l.table.acl : NULL}},
            {"query_layout_ptr", {.text = (char *)(uintptr_t)c->query_layout}},
            {"key_layout_ptr", {.text = (char *)(uintptr_t)c->key_layout}},
            {"sparse_count", {.integer = c->count}},
            {"sparse_mode", {.integer = c->causal ? 3 : 0}},
            {"return_value", {.integer = c->values}}, {"sparse_indices_out", {.tensor = out.acl}},
            {"sparse_values_out", {.tensor = c->values ? values.acl : NULL}}),
        0);
    rig_tensor_take(&out);
    rig_tensor_take(&values);
    for (int64_t b = 0; b < BATCH; b++) {
        for (int64_t i = 0; i < c->queries[b]; i++) {
            expect_token(c, &q, &k, &w, &out, &values, b, i);
        }
    }
    lists_free(&l);
    rig_values_free((struct rig_tensor[]){q, k, w, out, values}, 5, NULL, 0);
}

static const struct call calls[] = {
    {"BSND", "BSND", OP_TYPE_F16, {9, 9, 4}, {40, 33, 12}, 8, 1, true, false, true},
    {"BSND", "PA_BSND", OP_TYPE_BF16, {9, 1, 4}, {40, 33, 3}, 48, 1, false, true, false},
    {"TND", "TND", OP_TYPE_F16, {9, 2, 5}, {40, 3, 17}, 8, 1, true, true, true},
    {"TND", "PA_BSND", OP_TYPE_F16, {3, 1, 5}, {40, 16, 9}, 5, 4, true, true, false},
    {"BSND", "BSND", OP_TYPE_F16, {9, 9, 9}, {40, 40, 40}, 3, 8, false, false, true},
};

static void the_index_names_the_largest_sums(void)
{
    for (unsigned i = 0; rig_chip() == 1 && i < sizeof(calls) / sizeof(calls[0]); i++) {
        run_index(&calls[i]);
    }
}

static void put_byte(struct rig_tensor *t, int64_t seed)
{
    for (int64_t i = 0; i < rig_tensor_count(t); i++) {
        rig_put_i(rig_tensor_at(t, i), OP_TYPE_I8, (i * 37 + seed) % 255 - 127);
    }
    rig_tensor_put(t);
}

static void bytes_with_scales_are_indexed(void)
{
    const struct call c = {"BSND", "BSND", OP_TYPE_F16, {9, 9, 4}, {40, 33, 12},
                           8,      1,      true,        false,     false};
    if (rig_chip() != 1) {
        return;
    }
    struct rig_tensor q = of_queries(&c, OP_TYPE_I8, HEADS, WIDTH, 1),
                      k = of_keys(&c, OP_TYPE_I8, WIDTH, 2),
                      w = of_queries(&c, OP_TYPE_F16, HEADS, 0, 3),
                      qs = of_queries(&c, OP_TYPE_F16, HEADS, 0, 4),
                      ks = of_keys(&c, OP_TYPE_F16, 1, 5),
                      out = of_queries(&c, OP_TYPE_I32, 1, c.count, 6);
    struct lists l = lists_make(&c);
    put_byte(&q, 11);
    put_byte(&k, 5);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("QuantLightningIndexer", true, {"query_wrapper", {.tensor = q.acl}},
                      {"key_wrapper", {.tensor = k.acl}}, {"weights", {.tensor = w.acl}},
                      {"query_dequant_scale", {.tensor = qs.acl}},
                      {"key_dequant_scale", {.tensor = ks.acl}},
                      {"actual_seq_lengths_query", {.tensor = l.queries.acl}},
                      {"actual_seq_lengths_key", {.tensor = l.keys.acl}},
                      {"query_layout_ptr", {.text = (char *)(uintptr_t)c.query_layout}},
                      {"key_layout_ptr", {.text = (char *)(uintptr_t)c.key_layout}},
                      {"sparse_count", {.integer = c.count}}, {"sparse_mode", {.integer = 3}},
                      {"quant_lightning_indexer_output", {.tensor = out.acl}}),
        0);
    rig_tensor_take(&out);
    for (int64_t row = 0; row < 9;
         row++) { // of the first sequence: the first named key has the largest sum
        double best = -INFINITY, named = 0;
        for (int64_t j = 0; j < 40 && sees(&c, 0, row, j); j++) {
            double sum = 0;
            for (int64_t h = 0; h < HEADS; h++) {
                sum += rig_values_at(&w, row * HEADS + h) *
                       fmax(0, dot(&q, row * HEADS + h, &k, j, WIDTH) *
                                   rig_values_at(&qs, row * HEADS + h) * rig_values_at(&ks, j));
            }
            best = fmax(best, sum);
            named = j == get_int(&out, row * c.count) ? sum : named;
        }
        CU_ASSERT(named >= best - 1e-5 * fabs(best));
    }
    lists_free(&l);
    rig_values_free((struct rig_tensor[]){q, k, w, qs, ks, out}, 6, NULL, 0);
}

/* ---- attention ---- */

struct attention {
    struct rig_tensor q, k, v, qr, kr, index, out, max, sum;
    struct lists lists;
};

// Blocks of keys for each token: some that it sees, some that it does not, then none. One token has
// none at all.
static void put_index(const struct call *c, struct rig_tensor *index)
{
    for (int64_t b = 0; b < BATCH; b++) {
        for (int64_t i = 0; i < c->queries[b]; i++) {
            const int64_t blocks = (c->keys[b] + c->size - 1) / c->size, some = i == 1 ? 0
                                                                                : blocks < c->count
                                                                                    ? blocks
                                                                                    : c->count - 1;
            for (int64_t n = 0; n < c->count; n++) {
                put_int(index, query_row(c, b, i) * c->count + n,
                        n < some ? (n * 7 + i) % blocks : -1);
            }
        }
    }
    rig_tensor_put(index);
}

static bool attends(const struct call *c, const struct rig_tensor *index, int64_t b, int64_t i,
                    int64_t j)
{
    bool named = false;
    for (int64_t n = 0; n < c->count; n++) {
        const int64_t block = get_int(index, query_row(c, b, i) * c->count + n);
        named = named || (block >= 0 && j / c->size == block);
    }
    return named && sees(c, b, i, j);
}

static double weight(const struct call *c, const struct attention *a, int64_t b, int64_t h,
                     int64_t i, int64_t j)
{
    const int64_t row = query_row(c, b, i) * HEADS + h, col = key_row(c, b, j);
    return attends(c, &a->index, b, i, j)
               ? exp(0.25 * (dot(&a->q, row, &a->k, col, WIDTH) +
                             (c->rope ? dot(&a->qr, row, &a->kr, col, ROPE) : 0)))
               : 0;
}

static void expect_attention(const struct call *c, struct attention *a)
{
    const double room = c->type == OP_TYPE_F16 ? 4e-3 : 3e-2;
    int64_t wrong = 0;
    rig_tensor_take(&a->out);
    for (int64_t n = 0; n < BATCH * TOKENS * HEADS; n++) {
        const int64_t b = n / (TOKENS * HEADS), i = n / HEADS % TOKENS, h = n % HEADS;
        double sum = 0, want[WIDTH] = {0};
        if (i >= c->queries[b]) {
            continue;
        }
        for (int64_t j = 0; j < c->keys[b]; j++) {
            const double w = weight(c, a, b, h, i, j);
            sum += w;
            for (int64_t d = 0; d < WIDTH; d++) {
                want[d] += w * rig_values_at(&a->v, key_row(c, b, j) * WIDTH + d);
            }
        }
        for (int64_t d = 0; d < WIDTH; d++) {
            const double got = rig_values_at(&a->out, (query_row(c, b, i) * HEADS + h) * WIDTH + d);
            wrong += !(fabs(got - (sum > 0 ? want[d] / sum : 0)) <= room);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void attention_make(const struct call *c, struct attention *a)
{
    const int64_t column[] = {BATCH, 1, TOKENS, HEADS}, flat[] = {1, query_rows(c), HEADS};
    *a =
        (struct attention){.q = of_queries(c, c->type, HEADS, WIDTH, 1),
                           .k = of_keys(c, c->type, WIDTH, 2),
                           .v = of_keys(c, c->type, WIDTH, 3),
                           .qr = of_queries(c, c->type, HEADS, ROPE, 4),
                           .kr = of_keys(c, c->type, ROPE, 5),
                           .index = of_queries(c, OP_TYPE_I32, 1, c->count, 6),
                           .out = of_queries(c, c->type, HEADS, WIDTH, 7),
                           .max = packed(c) ? rig_values_make(OP_TYPE_F32, 3, flat, RIG_DENSE, 8)
                                            : rig_values_make(OP_TYPE_F32, 4, column, RIG_DENSE, 8),
                           .sum = packed(c) ? rig_values_make(OP_TYPE_F32, 3, flat, RIG_DENSE, 9)
                                            : rig_values_make(OP_TYPE_F32, 4, column, RIG_DENSE, 9),
                           .lists = lists_make(c)};
    put_index(c, &a->index);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "SparseFlashAttention", true, {"query", {.tensor = a->q.acl}},
            {"key", {.tensor = a->k.acl}}, {"value", {.tensor = a->v.acl}},
            {"sparse_indices", {.tensor = a->index.acl}},
            {"block_table", {.tensor = paged(c) ? a->lists.table.acl : NULL}},
            {"actual_seq_lengths_query", {.tensor = a->lists.queries.acl}},
            {"actual_seq_lengths_kv", {.tensor = a->lists.keys.acl}},
            {"query_rope", {.tensor = c->rope ? a->qr.acl : NULL}},
            {"key_rope", {.tensor = c->rope ? a->kr.acl : NULL}}, {"scale_value", {.real = 0.25}},
            {"sparse_block_size", {.integer = c->size}},
            {"layout_query_ptr", {.text = (char *)(uintptr_t)c->query_layout}},
            {"layout_kv_ptr", {.text = (char *)(uintptr_t)c->key_layout}},
            {"sparse_mode", {.integer = c->causal ? 3 : 0}}, {"return_softmax_lse", {.integer = 1}},
            {"sparse_flash_attention_output", {.tensor = a->out.acl}},
            {"softmax_max", {.tensor = a->max.acl}}, {"softmax_sum", {.tensor = a->sum.acl}}),
        0);
}

static void attention_free(struct attention *a)
{
    lists_free(&a->lists);
    rig_values_free(
        (struct rig_tensor[]){a->q, a->k, a->v, a->qr, a->kr, a->index, a->out, a->max, a->sum}, 9,
        NULL, 0);
}

static void attention_looks_at_what_is_named(void)
{
    for (unsigned i = 0; rig_chip() == 1 && i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct attention a;
        attention_make(&calls[i], &a);
        expect_attention(&calls[i], &a);
        attention_free(&a);
    }
}

/* Gradients of attention in double, by rows of their tensors. */
struct gradients {
    double *q, *k, *v, *qr, *kr;
};

static void add_row(const struct call *c, const struct attention *a, const struct rig_tensor *dy,
                    int64_t b, int64_t h, int64_t i, struct gradients *g)
{
    const int64_t row = query_row(c, b, i) * HEADS + h;
    double p[KEYS], sum = 0, mean = 0, dp[KEYS];
    for (int64_t j = 0; j < c->keys[b]; j++) {
        p[j] = weight(c, a, b, h, i, j);
        sum += p[j];
    }
    for (int64_t j = 0; j < c->keys[b] && sum > 0; j++) {
        p[j] /= sum;
        dp[j] = dot(dy, row, &a->v, key_row(c, b, j), WIDTH);
        mean += p[j] * dp[j];
    }
    for (int64_t j = 0; j < c->keys[b] && sum > 0; j++) {
        const int64_t col = key_row(c, b, j);
        const double ds = 0.25 * p[j] * (dp[j] - mean);
        for (int64_t d = 0; d < WIDTH; d++) {
            g->v[col * WIDTH + d] += p[j] * rig_values_at(dy, row * WIDTH + d);
            g->q[row * WIDTH + d] += ds * rig_values_at(&a->k, col * WIDTH + d);
            g->k[col * WIDTH + d] += ds * rig_values_at(&a->q, row * WIDTH + d);
        }
        for (int64_t d = 0; d < ROPE && c->rope; d++) {
            g->qr[row * ROPE + d] += ds * rig_values_at(&a->kr, col * ROPE + d);
            g->kr[col * ROPE + d] += ds * rig_values_at(&a->qr, row * ROPE + d);
        }
    }
}

static void run_attention_gradient(const struct call *c)
{
    struct attention a;
    attention_make(c, &a);
    struct rig_tensor dy = of_queries(c, c->type, HEADS, WIDTH, 21),
                      dq = of_queries(c, c->type, HEADS, WIDTH, 22),
                      dk = of_keys(c, c->type, WIDTH, 23), dv = of_keys(c, c->type, WIDTH, 24),
                      dqr = of_queries(c, c->type, HEADS, ROPE, 25),
                      dkr = of_keys(c, c->type, ROPE, 26);
    struct gradients g = {
        rig_values_zeros(query_rows(c) * HEADS * WIDTH), rig_values_zeros(key_rows(c) * WIDTH),
        rig_values_zeros(key_rows(c) * WIDTH), rig_values_zeros(query_rows(c) * HEADS * ROPE),
        rig_values_zeros(key_rows(c) * ROPE)};
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("SparseFlashAttentionGrad", true, {"query", {.tensor = a.q.acl}},
                      {"key", {.tensor = a.k.acl}}, {"value", {.tensor = a.v.acl}},
                      {"sparse_indices", {.tensor = a.index.acl}}, {"d_out", {.tensor = dy.acl}},
                      {"out", {.tensor = a.out.acl}}, {"softmax_max", {.tensor = a.max.acl}},
                      {"softmax_sum", {.tensor = a.sum.acl}},
                      {"ac_seq_qlen", {.tensor = a.lists.queries.acl}},
                      {"ac_seq_kvlen", {.tensor = a.lists.keys.acl}},
                      {"query_rope_const", {.tensor = c->rope ? a.qr.acl : NULL}},
                      {"key_rope_const", {.tensor = c->rope ? a.kr.acl : NULL}},
                      {"scale_value", {.real = 0.25}}, {"sparse_block_size", {.integer = c->size}},
                      {"layout_ptr", {.text = (char *)(uintptr_t)c->query_layout}},
                      {"sparse_mode_const", {.integer = c->causal ? 3 : 0}},
                      {"d_query", {.tensor = dq.acl}}, {"d_key", {.tensor = dk.acl}},
                      {"d_value", {.tensor = dv.acl}},
                      {"d_query_rope", {.tensor = c->rope ? dqr.acl : NULL}},
                      {"d_key_rope", {.tensor = c->rope ? dkr.acl : NULL}}),
        0);
    for (int64_t n = 0; n < BATCH * TOKENS * HEADS; n++) {
        const int64_t b = n / (TOKENS * HEADS), i = n / HEADS % TOKENS;
        if (i < c->queries[b]) {
            add_row(c, &a, &dy, b, n % HEADS, i, &g);
        }
    }
    const struct rig_bound bound = {.of_largest = 4e-3, .at_all = 4e-3, .roundings = 2};
    rig_values_expect(&dq, g.q, bound, "d_query");
    rig_values_expect(&dk, g.k, bound, "d_key");
    rig_values_expect(&dv, g.v, bound, "d_value");
    if (c->rope) {
        rig_values_expect(&dqr, g.qr, bound, "d_query_rope");
        rig_values_expect(&dkr, g.kr, bound, "d_key_rope");
    }
    attention_free(&a);
    rig_values_free((struct rig_tensor[]){dy, dq, dk, dv, dqr, dkr}, 6,
                    (double *[]){g.q, g.k, g.v, g.qr, g.kr}, 5);
}

static void gradients_of_attention(void)
{
    if (rig_chip() == 1) { // no pages: training
        run_attention_gradient(&calls[2]);
        run_attention_gradient(&calls[4]);
    }
}

static void run_index_gradient(const struct call *c)
{
    struct rig_tensor q = of_queries(c, c->type, HEADS, WIDTH, 1),
                      k = of_keys(c, c->type, WIDTH, 2), w = of_queries(c, c->type, HEADS, 0, 3),
                      dy = of_queries(c, c->type, 1, c->count, 4),
                      index = of_queries(c, OP_TYPE_I32, 1, c->count, 5),
                      dq = of_queries(c, c->type, HEADS, WIDTH, 6),
                      dk = of_keys(c, c->type, WIDTH, 7), dw = of_queries(c, c->type, HEADS, 0, 8);
    struct lists l = lists_make(c);
    double *want[] = {rig_values_zeros(query_rows(c) * HEADS * WIDTH),
                      rig_values_zeros(key_rows(c) * WIDTH),
                      rig_values_zeros(query_rows(c) * HEADS)};
    struct call by_key = *c;
    by_key.size = 1;
    put_index(&by_key, &index);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("LightningIndexerGrad", true, {"query", {.tensor = q.acl}},
                      {"key", {.tensor = k.acl}}, {"dy", {.tensor = dy.acl}},
                      {"sparse_indices", {.tensor = index.acl}}, {"weights", {.tensor = w.acl}},
                      {"actual_seq_lengths_query_const", {.tensor = l.queries.acl}},
                      {"actual_seq_lengths_key_const", {.tensor = l.keys.acl}},
                      {"head_num", {.integer = HEADS}},
                      {"layout_ptr", {.text = (char *)(uintptr_t)c->query_layout}},
                      {"sparse_mode_const", {.integer = 3}}, {"d_query", {.tensor = dq.acl}},
                      {"d_key", {.tensor = dk.acl}}, {"d_weights", {.tensor = dw.acl}}),
        0);
    for (int64_t n = 0; n < BATCH * TOKENS * c->count * HEADS; n++) {
        const int64_t b = n / (TOKENS * c->count * HEADS), i = n / (c->count * HEADS) % TOKENS,
                      h = n % HEADS;
        if (i >= c->queries[b]) {
            continue;
        }
        const int64_t row = query_row(c, b, i), at = row * c->count + n / HEADS % c->count,
                      j = get_int(&index, at);
        const double grad = rig_values_at(&dy, at);
        if (j < 0) {
            continue;
        }
        const int64_t col = key_row(c, b, j);
        const double s = dot(&q, row * HEADS + h, &k, col, WIDTH),
                     ds = s > 0 ? grad * rig_values_at(&w, row * HEADS + h) : 0;
        want[2][row * HEADS + h] += grad * fmax(0, s);
        for (int64_t d = 0; d < WIDTH; d++) {
            want[0][(row * HEADS + h) * WIDTH + d] += ds * rig_values_at(&k, col * WIDTH + d);
            want[1][col * WIDTH + d] += ds * rig_values_at(&q, (row * HEADS + h) * WIDTH + d);
        }
    }
    const struct rig_bound bound = {.of_largest = 1e-5, .at_all = 1e-5, .roundings = 1};
    rig_values_expect(&dq, want[0], bound, "d_query");
    rig_values_expect(&dk, want[1], bound, "d_key");
    rig_values_expect(&dw, want[2], bound, "d_weights");
    lists_free(&l);
    rig_values_free((struct rig_tensor[]){q, k, w, dy, index, dq, dk, dw}, 8, want, 3);
}

static void gradients_of_the_index(void)
{
    if (rig_chip() == 1) {
        run_index_gradient(&calls[2]);
        run_index_gradient(&calls[4]);
    }
}

static void what_does_not_fit_is_refused(void)
{
    const struct call c = calls[0];
    if (rig_chip() != 1) {
        return;
    }
    struct rig_tensor q = of_queries(&c, c.type, HEADS, WIDTH, 1),
                      k = of_keys(&c, c.type, WIDTH, 2), w = of_queries(&c, c.type, HEADS, 0, 3),
                      out = of_queries(&c, OP_TYPE_I32, 1, c.count, 4);
    struct lists l = lists_make(&c);
    static const char *const query_layouts[] = {"TND", "BSND", "BNSD", "BSND"},
                             *const key_layouts[] = {"TND", "TND", "BNSD", "PA_BSND"};
    for (int wrong = 0; wrong < 6; wrong++) {
        CU_ASSERT_NOT_EQUAL(
            RIG_RUN_NAMED(
                "LightningIndexer", false, {"query", {.tensor = q.acl}}, {"key", {.tensor = k.acl}},
                {"weights", {.tensor = w.acl}},
                {"actual_seq_lengths_query", {.tensor = l.queries.acl}},
                {"actual_seq_lengths_key", {.tensor = l.keys.acl}},
                {"query_layout_ptr", {.text = (char *)(uintptr_t)query_layouts[wrong & 3]}},
                {"key_layout_ptr", {.text = (char *)(uintptr_t)key_layouts[wrong & 3]}},
                {"sparse_count", {.integer = wrong == 4 ? c.count + 1 : c.count}},
                {"sparse_mode", {.integer = wrong == 5 ? 2 : 3}},
                {"sparse_indices_out", {.tensor = out.acl}}),
            0);
    }
    lists_free(&l);
    rig_values_free((struct rig_tensor[]){q, k, w, out}, 4, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"the_index_names_the_largest_sums", the_index_names_the_largest_sums},
        {"bytes_with_scales_are_indexed", bytes_with_scales_are_indexed},
        {"attention_looks_at_what_is_named", attention_looks_at_what_is_named},
        {"gradients_of_attention", gradients_of_attention},
        {"gradients_of_the_index", gradients_of_the_index},
        {"what_does_not_fit_is_refused", what_does_not_fit_is_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_sparse", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
