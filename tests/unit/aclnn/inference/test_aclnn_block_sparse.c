/* SPDX-License-Identifier: Apache-2.0 */
/* Attention under a mask of blocks, and its gradients, against double on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <string.h>

enum { BATCH = 2, HEADS = 4, WIDTH = 16, TOKENS = 20, KEYS = 36, ROWS = 8, COLUMNS = 16 };

struct call {
    const char *layout;
    int64_t key_heads, queries[BATCH], keys[BATCH];
    bool lengths; /* given; TND always */
};

struct tensors {
    struct rig_tensor q, k, v, out, lse, mask, dy, dq, dk, dv;
};

static bool packed(const struct call *c)
{
    return strcmp(c->layout, "TND") == 0;
}

static struct rig_tensor make(const struct call *c, enum op_type type, bool keys, int64_t width,
                              uint64_t seed)
{
    const int64_t heads = keys ? c->key_heads : HEADS, *list = keys ? c->keys : c->queries,
                  dim[] = {BATCH, heads, keys ? KEYS : TOKENS, width},
                  flat[] = {list[0] + list[1], heads, width};
    return packed(c) ? rig_values_make(type, 3, flat, RIG_DENSE, seed)
                     : rig_values_make(type, 4, dim, RIG_DENSE, seed);
}

// Row of a token of a head.
static int64_t row_of(const struct call *c, bool keys, int64_t b, int64_t h, int64_t i)
{
    const int64_t heads = keys ? c->key_heads : HEADS, *list = keys ? c->keys : c->queries;
    return packed(c) ? ((b ? list[0] : 0) + i) * heads + h
                     : (b * heads + h) * (keys ? KEYS : TOKENS) + i;
}

static bool sees(const struct tensors *t, int64_t b, int64_t h, int64_t i, int64_t j)
{
    return rig_get_i(rig_tensor_at(&t->mask, ((b * HEADS + h) * 3 + i / ROWS) * 3 + j / COLUMNS),
                     OP_TYPE_I8) != 0;
}

static double dot(const struct rig_tensor *a, int64_t row, const struct rig_tensor *b, int64_t col)
{
    double sum = 0;
    for (int64_t d = 0; d < WIDTH; d++) {
        sum += rig_values_at(a, row * WIDTH + d) * rig_values_at(b, col * WIDTH + d);
    }
    return sum;
}

static struct tensors tensors_make(const struct call *c)
{
    const int64_t blocks[] = {BATCH, HEADS, 3, 3};
    struct tensors t = {
        make(c, OP_TYPE_F16, false, WIDTH, 1), make(c, OP_TYPE_F16, true, WIDTH, 2),
        make(c, OP_TYPE_F16, true, WIDTH, 3),  make(c, OP_TYPE_F16, false, WIDTH, 4),
        make(c, OP_TYPE_F32, false, 1, 5),     rig_tensor_make(OP_TYPE_I8, 4, blocks, RIG_DENSE, 6),
        make(c, OP_TYPE_F16, false, WIDTH, 7), make(c, OP_TYPE_F16, false, WIDTH, 8),
        make(c, OP_TYPE_F16, true, WIDTH, 9),  make(c, OP_TYPE_F16, true, WIDTH, 10)};
    for (int64_t i = 0; i < rig_tensor_count(&t.mask); i++) { // one block of queries sees nothing
        rig_put_i(rig_tensor_at(&t.mask, i), OP_TYPE_I8,
                  i % 9 < 3             ? i % 2
                  : i % 9 > 5 && i > 60 ? 0
                                        : 1);
    }
    rig_tensor_put(&t.mask);
    return t;
}

/* Gradients in double. */
struct gradients {
    double *q, *k, *v;
};

// One row in double: its result, the logarithm of its sum, and what it adds to gradients.
static double add_row(const struct call *c, const struct tensors *t, int64_t b, int64_t h,
                      int64_t i, double *out, struct gradients *g)
{
    const int64_t row = row_of(c, false, b, h, i), kh = h / (HEADS / c->key_heads);
    double p[KEYS] = {0}, dp[KEYS], sum = 0, mean = 0;
    memset(out, 0, WIDTH * sizeof(*out));
    for (int64_t j = 0; j < c->keys[b]; j++) {
        p[j] =
            sees(t, b, h, i, j) ? exp(0.25 * dot(&t->q, row, &t->k, row_of(c, true, b, kh, j))) : 0;
        sum += p[j];
    }
    for (int64_t j = 0; j < c->keys[b] && sum > 0; j++) {
        const int64_t col = row_of(c, true, b, kh, j);
        p[j] /= sum;
        dp[j] = dot(&t->dy, row, &t->v, col);
        mean += p[j] * dp[j];
        for (int64_t d = 0; d < WIDTH; d++) {
            out[d] += p[j] * rig_values_at(&t->v, col * WIDTH + d);
        }
    }
    for (int64_t j = 0; j < c->keys[b] && sum > 0; j++) {
        const int64_t col = row_of(c, true, b, kh, j);
        const double ds = 0.25 * p[j] * (dp[j] - mean);
        for (int64_t d = 0; d < WIDTH; d++) {
            g->v[col * WIDTH + d] += p[j] * rig_values_at(&t->dy, row * WIDTH + d);
            g->q[row * WIDTH + d] += ds * rig_values_at(&t->k, col * WIDTH + d);
            g->k[col * WIDTH + d] += ds * rig_values_at(&t->q, row * WIDTH + d);
        }
    }
    return sum > 0 ? log(sum) : NAN;
}

static aclIntArray *list_of(const struct call *c, const int64_t *list)
{
    return c->lengths ? aclCreateIntArray(list, BATCH) : NULL;
}

static void run_gradient(const struct call *c, struct tensors *t, aclIntArray *shape,
                         aclIntArray *queries, aclIntArray *keys)
{
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "BlockSparseAttentionGrad", true, {"d_out", {.tensor = t->dy.acl}},
            {"query", {.tensor = t->q.acl}}, {"key", {.tensor = t->k.acl}},
            {"value", {.tensor = t->v.acl}}, {"attention_out", {.tensor = t->out.acl}},
            {"softmax_lse", {.tensor = t->lse.acl}}, {"block_sparse_mask", {.tensor = t->mask.acl}},
            {"block_shape_value", {.ints = shape}}, {"actual_seq_lengths", {.ints = queries}},
            {"actual_seq_lengths_kv", {.ints = keys}},
            {"q_input_layout_ptr", {.text = (char *)(uintptr_t)c->layout}},
            {"kv_input_layout_ptr", {.text = (char *)(uintptr_t)c->layout}},
            {"num_key_value_heads", {.integer = c->key_heads}}, {"scale_value", {.real = 0.25}},
            {"d_query", {.tensor = t->dq.acl}}, {"d_key", {.tensor = t->dk.acl}},
            {"d_value", {.tensor = t->dv.acl}}),
        0);
}

static void expect(const struct call *c, struct tensors *t, bool gradient)
{
    const struct rig_bound bound = {.of_largest = 4e-3, .at_all = 4e-3, .roundings = 2};
    const int64_t rows = rig_tensor_count(&t->lse), keys = rig_tensor_count(&t->k);
    double *want = rig_values_zeros(rows * WIDTH);
    struct gradients g = {rig_values_zeros(rows * WIDTH), rig_values_zeros(keys),
                          rig_values_zeros(keys)};
    int64_t wrong = 0;
    rig_tensor_take(&t->lse);
    for (int64_t n = 0; n < BATCH * HEADS * TOKENS; n++) {
        const int64_t b = n / (HEADS * TOKENS), h = n / TOKENS % HEADS, i = n % TOKENS;
        if (i < c->queries[b]) {
            const int64_t row = row_of(c, false, b, h, i);
            const double lse = add_row(c, t, b, h, i, want + row * WIDTH, &g);
            wrong += !isnan(lse) && !(fabs(rig_values_at(&t->lse, row) - lse) <= 2e-3);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    rig_values_expect(&t->out, want, bound, "attention_out");
    if (gradient) {
        rig_values_expect(&t->dq, g.q, bound, "d_query");
        rig_values_expect(&t->dk, g.k, bound, "d_key");
        rig_values_expect(&t->dv, g.v, bound, "d_value");
    }
    rig_values_free(NULL, 0, (double *[]){want, g.q, g.k, g.v}, 4);
}

static void run(const struct call *c, bool gradient)
{
    static const int64_t block[] = {ROWS, COLUMNS};
    struct tensors t = tensors_make(c);
    aclIntArray *shape = aclCreateIntArray(block, 2), *queries = list_of(c, c->queries),
                *keys = list_of(c, c->keys);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "BlockSparseAttention", true, {"query", {.tensor = t.q.acl}},
            {"key", {.tensor = t.k.acl}}, {"value", {.tensor = t.v.acl}},
            {"block_sparse_mask", {.tensor = t.mask.acl}}, {"block_shape_value", {.ints = shape}},
            {"actual_seq_lengths", {.ints = queries}}, {"actual_seq_lengths_kv", {.ints = keys}},
            {"q_input_layout_ptr", {.text = (char *)(uintptr_t)c->layout}},
            {"kv_input_layout_ptr", {.text = (char *)(uintptr_t)c->layout}},
            {"num_key_value_heads", {.integer = c->key_heads}}, {"scale_value", {.real = 0.25}},
            {"softmax_lse_flag_value", {.integer = 1}}, {"attention_out", {.tensor = t.out.acl}},
            {"softmax_lse_out", {.tensor = t.lse.acl}}),
        0);
    if (gradient) {
        run_gradient(c, &t, shape, queries, keys);
    }
    expect(c, &t, gradient);
    CU_ASSERT_EQUAL(aclDestroyIntArray(shape), 0);
    CU_ASSERT_EQUAL(queries ? aclDestroyIntArray(queries) : 0, 0);
    CU_ASSERT_EQUAL(keys ? aclDestroyIntArray(keys) : 0, 0);
    rig_values_free(
        (struct rig_tensor[]){t.q, t.k, t.v, t.out, t.lse, t.mask, t.dy, t.dq, t.dk, t.dv}, 10,
        NULL, 0);
}

static void blocks_of_keys_are_seen(void)
{
    static const struct call calls[] = {{"BNSD", 4, {20, 20}, {36, 36}, false},
                                        {"BNSD", 2, {20, 7}, {36, 17}, true},
                                        {"TND", 1, {20, 7}, {36, 17}, true}};
    for (unsigned i = 0; rig_chip() == 1 && i < 3; i++) {
        run(&calls[i], true);
    }
}

static void what_does_not_fit_is_refused(void)
{
    static const int64_t block[] = {ROWS, COLUMNS, 0};
    const struct call c = {"BNSD", 4, {20, 20}, {36, 36}, false};
    if (rig_chip() != 1) {
        return;
    }
    struct tensors t = tensors_make(&c);
    aclIntArray *shape = aclCreateIntArray(block, 2), *none = aclCreateIntArray(block + 1, 1);
    for (int wrong = 0; wrong < 4; wrong++) {
        CU_ASSERT_NOT_EQUAL(
            RIG_RUN_NAMED(
                "BlockSparseAttention", false, {"query", {.tensor = t.q.acl}},
                {"key", {.tensor = t.k.acl}}, {"value", {.tensor = t.v.acl}},
                {"block_sparse_mask", {.tensor = t.mask.acl}},
                {"atten_mask", {.tensor = wrong == 3 ? t.mask.acl : NULL}},
                {"block_shape_value", {.ints = wrong == 0 ? none : shape}},
                {"q_input_layout_ptr", {.text = (char *)(uintptr_t)(wrong == 1 ? "TND" : "BNSD")}},
                {"kv_input_layout_ptr", {.text = (char *)(uintptr_t)"BNSD"}},
                {"num_key_value_heads", {.integer = wrong == 2 ? 3 : 4}},
                {"attention_out", {.tensor = t.out.acl}}),
            0);
    }
    CU_ASSERT_EQUAL(aclDestroyIntArray(shape), 0);
    CU_ASSERT_EQUAL(aclDestroyIntArray(none), 0);
    rig_values_free(
        (struct rig_tensor[]){t.q, t.k, t.v, t.out, t.lse, t.mask, t.dy, t.dq, t.dk, t.dv}, 10,
        NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"blocks_of_keys_are_seen", blocks_of_keys_are_seen},
        {"what_does_not_fit_is_refused", what_does_not_fit_is_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_block_sparse", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
