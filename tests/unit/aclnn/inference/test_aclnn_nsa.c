/* SPDX-License-Identifier: Apache-2.0 */
/* Native sparse attention over chosen blocks and over compressed keys, in rows and in pages:
 * against double on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <string.h>

enum {
    SEQUENCES = 2,
    HEADS = 4,
    KEY_HEADS = 2,
    WIDTH = 24,
    VALUE = 16,
    BLOCK = 16,
    COUNT = 3,
    PAGE = 16,
    MAX_KEYS = 80,
    COPIES = 8
};
static const double scale = 0.2;

/* Sequences: tokens and keys of each, and where they begin. */
struct lengths {
    int64_t tokens[SEQUENCES], keys[SEQUENCES];
};

static int64_t begin(const int64_t *list, int64_t sequence)
{
    return sequence ? list[0] : 0;
}

static const int64_t table[SEQUENCES * 5] = {3, 0, 8, 5, 1, 2, 9, 4, 7, 6};

// Where key j of a sequence lies among all rows.
static int64_t key_row(const struct lengths *l, bool paged, int64_t s, int64_t j)
{
    return paged ? table[s * 5 + j / PAGE] * PAGE + j % PAGE : begin(l->keys, s) + j;
}

struct tensors {
    struct rig_tensor q, k, v, out, max, sum, chosen;
};

static struct rig_tensor rows(enum op_type type, int64_t tokens, int64_t heads, int64_t width,
                              uint64_t seed)
{
    return rig_values_make(type, 3, (const int64_t[]){tokens, heads, width}, RIG_DENSE, seed);
}

static struct tensors tensors_make(const struct lengths *l, bool paged)
{
    const int64_t tokens = l->tokens[0] + l->tokens[1],
                  keys = paged ? SEQUENCES * 5 * PAGE : l->keys[0] + l->keys[1],
                  chosen[] = {tokens, KEY_HEADS, COUNT},
                  pages[] = {SEQUENCES * 5, PAGE, KEY_HEADS * WIDTH},
                  values[] = {SEQUENCES * 5, PAGE, KEY_HEADS * VALUE};
    struct tensors t = {.q = rows(OP_TYPE_F16, tokens, HEADS, WIDTH, 1),
                        .k = paged ? rig_values_make(OP_TYPE_F16, 3, pages, RIG_DENSE, 2)
                                   : rows(OP_TYPE_F16, keys, KEY_HEADS, WIDTH, 2),
                        .v = paged ? rig_values_make(OP_TYPE_F16, 3, values, RIG_DENSE, 3)
                                   : rows(OP_TYPE_F16, keys, KEY_HEADS, VALUE, 3),
                        .out = rows(OP_TYPE_F16, tokens, HEADS, VALUE, 4),
                        .max = rows(OP_TYPE_F32, tokens, HEADS, COPIES, 5),
                        .sum = rows(OP_TYPE_F32, tokens, HEADS, COPIES, 6),
                        .chosen = rig_tensor_make(OP_TYPE_I32, 3, chosen, RIG_DENSE, 7)};
    // Blocks of the longest sequence's end are behind the shorter one's; -1 is none.
    for (int64_t i = 0; i < rig_tensor_count(&t.chosen); i++) {
        const int64_t row = i / COUNT, place = i % COUNT;
        rig_put_i(rig_tensor_at(&t.chosen, i), OP_TYPE_I32,
                  place == 2 && row % 3 == 1 ? -1 : (row + place) % 4);
    }
    rig_tensor_put(&t.chosen);
    return t;
}

static void tensors_free(struct tensors *t)
{
    rig_values_free((struct rig_tensor[]){t->q, t->k, t->v, t->out, t->max, t->sum, t->chosen}, 7,
                    NULL, 0);
}

/* Which keys a row sees. */
struct seen {
    bool chosen, causal;
};

static bool sees(const struct tensors *t, const struct seen *seen, int64_t row, int64_t head,
                 int64_t token, int64_t j)
{
    bool found = !seen->chosen;
    for (int64_t i = 0; seen->chosen && i < COUNT; i++) {
        const int64_t at = (row * KEY_HEADS + head / (HEADS / KEY_HEADS)) * COUNT + i;
        found = found || rig_get_i(rig_tensor_at(&t->chosen, at), OP_TYPE_I32) == j / BLOCK;
    }
    return found && (!seen->causal || j <= token);
}

/* A row in double: the largest score, the sum of powers, and the weights of its keys. */
struct line {
    double max, sum, weight[MAX_KEYS];
};

static void find_line(const struct lengths *l, const struct tensors *t, bool paged,
                      const struct seen *seen, int64_t s, int64_t i, int64_t head,
                      struct line *line)
{
    const int64_t row = begin(l->tokens, s) + i, kh = head / (HEADS / KEY_HEADS);
    line->max = -INFINITY;
    line->sum = 0;
    for (int64_t j = 0; j < l->keys[s]; j++) {
        const int64_t key = key_row(l, paged, s, j) * KEY_HEADS + kh;
        double dot = 0;
        for (int64_t d = 0; d < WIDTH; d++) {
            dot += rig_values_at(&t->q, (row * HEADS + head) * WIDTH + d) *
                   rig_values_at(&t->k, key * WIDTH + d);
        }
        line->weight[j] = sees(t, seen, row, head, i, j) ? dot * scale : -INFINITY;
        line->max = fmax(line->max, line->weight[j]);
    }
    for (int64_t j = 0; j < l->keys[s]; j++) {
        line->weight[j] = isinf(line->weight[j]) ? 0 : exp(line->weight[j] - line->max);
        line->sum += line->weight[j];
    }
    for (int64_t j = 0; j < l->keys[s] && line->sum > 0; j++) {
        line->weight[j] /= line->sum;
    }
}

static const struct rig_bound bound = {.of_largest = 4e-3, .at_all = 4e-3, .roundings = 2};

// Compares out and, where the call has them, the columns of largest scores and sums.
static void expect(const struct lengths *l, struct tensors *t, bool paged, const struct seen *seen)
{
    double *want = rig_values_zeros(rig_tensor_count(&t->out));
    int64_t wrong = 0;
    rig_tensor_take(&t->max);
    rig_tensor_take(&t->sum);
    for (int64_t s = 0; s < SEQUENCES; s++) {
        for (int64_t n = 0; n < l->tokens[s] * HEADS; n++) {
            const int64_t i = n / HEADS, head = n % HEADS,
                          row = (begin(l->tokens, s) + i) * HEADS + head;
            struct line line;
            find_line(l, t, paged, seen, s, i, head, &line);
            for (int64_t j = 0; j < l->keys[s]; j++) {
                const int64_t key =
                    key_row(l, paged, s, j) * KEY_HEADS + head / (HEADS / KEY_HEADS);
                for (int64_t d = 0; d < VALUE; d++) {
                    want[row * VALUE + d] += line.weight[j] * rig_values_at(&t->v, key * VALUE + d);
                }
            }
            for (int64_t c = 0; !paged && line.sum > 0 && c < COPIES; c++) {
                wrong += !(fabs(rig_values_at(&t->max, row * COPIES + c) - line.max) <= 2e-3);
                wrong += !(fabs(rig_values_at(&t->sum, row * COPIES + c) / line.sum - 1) <= 4e-3);
            }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    rig_values_expect(&t->out, want, bound, "output");
    rig_values_free(NULL, 0, (double *[]){want}, 1);
}

static aclIntArray *ends(const int64_t *list)
{
    return aclCreateIntArray((const int64_t[]){list[0], list[0] + list[1]}, SEQUENCES);
}

static void free_lists(aclIntArray *a, aclIntArray *b)
{
    CU_ASSERT_EQUAL(aclDestroyIntArray(a), 0);
    CU_ASSERT_EQUAL(b ? aclDestroyIntArray(b) : 0, 0);
}

/* ---- chosen blocks ---- */

static const struct lengths some = {{5, 3}, {40, 61}};

static aclnnStatus run_selected(struct tensors *t, aclIntArray *tokens, aclIntArray *keys,
                                const struct rig_tensor *mask, int64_t mode, int64_t heads,
                                bool loud)
{
    return RIG_RUN_NAMED(
        "NsaSelectedAttention", loud, {"query", {.tensor = t->q.acl}},
        {"key", {.tensor = t->k.acl}}, {"value", {.tensor = t->v.acl}},
        {"topkIndices", {.tensor = t->chosen.acl}},
        {"attenMaskOptional", {.tensor = mask ? mask->acl : NULL}},
        {"actualSeqQLenOptional", {.ints = tokens}}, {"actualSeqKvLenOptional", {.ints = keys}},
        {"scaleValue", {.real = scale}}, {"headNum", {.integer = heads}},
        {"inputLayout", {.text = (char *)(uintptr_t)"TND"}}, {"sparseMode", {.integer = mode}},
        {"selectedBlockSize", {.integer = BLOCK}}, {"selectedBlockCount", {.integer = COUNT}},
        {"softmaxMaxOut", {.tensor = t->max.acl}}, {"softmaxSumOut", {.tensor = t->sum.acl}},
        {"attentionOut", {.tensor = t->out.acl}});
}

// sparseMode 2 is a triangle whatever the mask holds, and nothing without a mask.
static void chosen_blocks_are_seen(void)
{
    for (int masked = 0; rig_chip() == 1 && masked < 2; masked++) {
        struct tensors t = tensors_make(&some, false);
        struct rig_tensor mask =
            rig_tensor_make(OP_TYPE_U8, 2, (const int64_t[]){5, 61}, RIG_DENSE, 12);
        aclIntArray *tokens = ends(some.tokens), *keys = ends(some.keys);
        CU_ASSERT_EQUAL(run_selected(&t, tokens, keys, masked ? &mask : NULL, 2, HEADS, true), 0);
        expect(&some, &t, false, &(struct seen){true, masked});
        free_lists(tokens, keys);
        rig_values_free(&mask, 1, NULL, 0);
        tensors_free(&t);
    }
}

/* Gradients in double. */
struct gradients {
    double *q, *k, *v;
};

static void add_gradients(struct tensors *t, struct rig_tensor *dy, const struct lengths *l,
                          int64_t s, int64_t i, int64_t head, struct gradients *g)
{
    const int64_t row = (begin(l->tokens, s) + i) * HEADS + head;
    double dp[MAX_KEYS], mean = 0;
    struct line line;
    find_line(l, t, false, &(struct seen){true, false}, s, i, head, &line);
    for (int64_t j = 0; j < l->keys[s]; j++) {
        const int64_t key = key_row(l, false, s, j) * KEY_HEADS + head / (HEADS / KEY_HEADS);
        dp[j] = 0;
        for (int64_t d = 0; d < VALUE; d++) {
            dp[j] += rig_values_at(dy, row * VALUE + d) * rig_values_at(&t->v, key * VALUE + d);
            g->v[key * VALUE + d] += line.weight[j] * rig_values_at(dy, row * VALUE + d);
        }
        mean += line.weight[j] * dp[j];
    }
    for (int64_t j = 0; j < l->keys[s]; j++) {
        const int64_t key = key_row(l, false, s, j) * KEY_HEADS + head / (HEADS / KEY_HEADS);
        const double ds = scale * line.weight[j] * (dp[j] - mean);
        for (int64_t d = 0; d < WIDTH; d++) {
            g->q[row * WIDTH + d] += ds * rig_values_at(&t->k, key * WIDTH + d);
            g->k[key * WIDTH + d] += ds * rig_values_at(&t->q, row * WIDTH + d);
        }
    }
}

static void gradients_of_chosen_blocks(void)
{
    if (rig_chip() != 1) {
        return;
    }
    struct tensors t = tensors_make(&some, false);
    const int64_t tokens = some.tokens[0] + some.tokens[1], keys = some.keys[0] + some.keys[1];
    struct rig_tensor dy = rows(OP_TYPE_F16, tokens, HEADS, VALUE, 8),
                      dq = rows(OP_TYPE_F16, tokens, HEADS, WIDTH, 9),
                      dk = rows(OP_TYPE_F16, keys, KEY_HEADS, WIDTH, 10),
                      dv = rows(OP_TYPE_F16, keys, KEY_HEADS, VALUE, 11);
    aclIntArray *of_tokens = ends(some.tokens), *of_keys = ends(some.keys);
    CU_ASSERT_EQUAL(run_selected(&t, of_tokens, of_keys, NULL, 0, HEADS, true), 0);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "NsaSelectedAttentionGrad", true, {"query", {.tensor = t.q.acl}},
            {"key", {.tensor = t.k.acl}}, {"value", {.tensor = t.v.acl}},
            {"attentionOut", {.tensor = t.out.acl}}, {"attentionOutGrad", {.tensor = dy.acl}},
            {"softmaxMax", {.tensor = t.max.acl}}, {"softmaxSum", {.tensor = t.sum.acl}},
            {"topkIndices", {.tensor = t.chosen.acl}},
            {"actualSeqQLenOptional", {.ints = of_tokens}},
            {"actualSeqKvLenOptional", {.ints = of_keys}}, {"scaleValue", {.real = scale}},
            {"selectedBlockSize", {.integer = BLOCK}}, {"selectedBlockCount", {.integer = COUNT}},
            {"headNum", {.integer = HEADS}}, {"inputLayout", {.text = (char *)(uintptr_t)"TND"}},
            {"dqOut", {.tensor = dq.acl}}, {"dkOut", {.tensor = dk.acl}},
            {"dvOut", {.tensor = dv.acl}}),
        0);
    struct gradients g = {rig_values_zeros(tokens * HEADS * WIDTH),
                          rig_values_zeros(keys * KEY_HEADS * WIDTH),
                          rig_values_zeros(keys * KEY_HEADS * VALUE)};
    for (int64_t s = 0; s < SEQUENCES; s++) {
        for (int64_t n = 0; n < some.tokens[s] * HEADS; n++) {
            add_gradients(&t, &dy, &some, s, n / HEADS, n % HEADS, &g);
        }
    }
    rig_values_expect(&dq, g.q, bound, "dq");
    rig_values_expect(&dk, g.k, bound, "dk");
    rig_values_expect(&dv, g.v, bound, "dv");
    free_lists(of_tokens, of_keys);
    rig_values_free((struct rig_tensor[]){dy, dq, dk, dv}, 4, (double *[]){g.q, g.k, g.v}, 3);
    tensors_free(&t);
}

static const struct lengths one_token = {{1, 1}, {40, 61}};

static struct rig_tensor table_make(void)
{
    struct rig_tensor pages =
        rig_tensor_make(OP_TYPE_I32, 2, (const int64_t[]){SEQUENCES, 5}, RIG_DENSE, 12);
    for (int64_t i = 0; i < SEQUENCES * 5; i++) { // behind the last page of a sequence: anything
        const bool used = i % 5 * PAGE < one_token.keys[i / 5];
        rig_put_i(rig_tensor_at(&pages, i), OP_TYPE_I32, used ? table[i] : 4711);
    }
    rig_tensor_put(&pages);
    return pages;
}

static void chosen_blocks_in_pages(void)
{
    if (rig_chip() != 1) {
        return;
    }
    struct tensors t = tensors_make(&one_token, true);
    struct rig_tensor pages = table_make();
    aclIntArray *keys = aclCreateIntArray(one_token.keys, SEQUENCES);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "NsaSelectedAttentionInfer", true, {"query", {.tensor = t.q.acl}},
            {"key", {.tensor = t.k.acl}}, {"value", {.tensor = t.v.acl}},
            {"topkIndices", {.tensor = t.chosen.acl}},
            {"blockTableOptional", {.tensor = pages.acl}},
            {"actualKvSeqLenOptional", {.ints = keys}},
            {"layoutOptional", {.text = (char *)(uintptr_t)"TND"}},
            {"numHeads", {.integer = HEADS}}, {"numKeyValueHeads", {.integer = KEY_HEADS}},
            {"selectBlockSize", {.integer = BLOCK}}, {"selectBlockCount", {.integer = COUNT}},
            {"pageBlockSize", {.integer = PAGE}}, {"scaleValue", {.real = scale}},
            {"output", {.tensor = t.out.acl}}),
        0);
    expect(&one_token, &t, true, &(struct seen){true, false});
    free_lists(keys, NULL);
    rig_values_free(&pages, 1, NULL, 0);
    tensors_free(&t);
}

/* ---- compressed keys ---- */

// Sums of weights that fall on each block: one of a window's parts of `stride` tokens at a time.
static void score_blocks(const struct lengths *l, struct tensors *t, bool paged, bool causal,
                         int64_t s, int64_t i, int64_t kh, int64_t blocks, double *score)
{
    enum { STRIDES_A_BLOCK = 4, PARTS = 2 };
    memset(score, 0, (size_t)blocks * sizeof(*score));
    for (int64_t g = 0; g < HEADS / KEY_HEADS; g++) {
        struct line line;
        find_line(l, t, paged, &(struct seen){false, causal}, s, i, kh * (HEADS / KEY_HEADS) + g,
                  &line);
        for (int64_t b = 0; b < blocks; b++) {
            for (int64_t n = 0; n < STRIDES_A_BLOCK * PARTS; n++) {
                const int64_t at = STRIDES_A_BLOCK * (b + 1) - n / PARTS - n % PARTS;
                score[b] += at >= 0 && at < l->keys[s] ? line.weight[at] : 0;
            }
        }
    }
}

// Each chosen block has at least the score of the next, and none is chosen twice.
static void expect_chosen(const struct lengths *l, struct tensors *t, bool paged, bool causal,
                          const int64_t *blocks)
{
    int64_t wrong = 0;
    rig_tensor_take(&t->chosen);
    for (int64_t s = 0; s < SEQUENCES; s++) {
        for (int64_t n = 0; n < l->tokens[s] * KEY_HEADS; n++) {
            const int64_t i = n / KEY_HEADS, kh = n % KEY_HEADS,
                          row = (begin(l->tokens, s) + i) * KEY_HEADS + kh;
            double score[MAX_KEYS];
            score_blocks(l, t, paged, causal, s, i, kh, blocks[s], score);
            for (int64_t c = 0; paged && c < blocks[s]; c++) {
                score[c] = c == 0 || c >= blocks[s] - 2 ? 100 : score[c];
            }
            score[1] = paged ? score[1] : 100; // the mask's
            for (int64_t c = 0; c < COUNT; c++) {
                const int64_t at =
                    rig_get_i(rig_tensor_at(&t->chosen, row * COUNT + c), OP_TYPE_I32);
                double most = -1;
                for (int64_t b = 0; b < blocks[s]; b++) {
                    most = fmax(most, score[b]);
                }
                if (at < 0 || at >= blocks[s] || score[at] < most - 2e-3) {
                    wrong++;
                } else {
                    score[at] = -2;
                }
            }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void compressed_keys_choose_blocks(void)
{
    static const int64_t blocks[] = {11, 16};
    for (int causal = 0; rig_chip() == 1 && causal < 2; causal++) {
        struct tensors t = tensors_make(&some, false);
        struct rig_tensor must = rig_tensor_make(OP_TYPE_U8, 2, (const int64_t[]){5, 16}, RIG_DENSE,
                                                 13),
                          mask = rig_tensor_make(OP_TYPE_U8, 2, (const int64_t[]){5, 61}, RIG_DENSE,
                                                 14);
        for (int64_t i = 0; i < 5 * 16; i++) {
            rig_put_i(rig_tensor_at(&must, i), OP_TYPE_U8, i % 16 == 1);
        }
        for (int64_t i = 0; i < 5 * 61; i++) {
            rig_put_i(rig_tensor_at(&mask, i), OP_TYPE_U8, i % 61 > i / 61);
        }
        rig_tensor_put(&must);
        rig_tensor_put(&mask);
        aclIntArray *tokens = ends(some.tokens), *keys = ends(some.keys), *of_blocks = ends(blocks);
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED(
                "NsaCompressAttention", true, {"query", {.tensor = t.q.acl}},
                {"key", {.tensor = t.k.acl}}, {"value", {.tensor = t.v.acl}},
                {"attenMaskOptional", {.tensor = causal ? mask.acl : NULL}},
                {"topkMaskOptional", {.tensor = must.acl}},
                {"actualSeqQLenOptional", {.ints = tokens}},
                {"actualCmpSeqKvLenOptional", {.ints = keys}},
                {"actualSelSeqKvLenOptional", {.ints = of_blocks}}, {"scaleValue", {.real = scale}},
                {"headNum", {.integer = HEADS}},
                {"inputLayout", {.text = (char *)(uintptr_t)"TND"}},
                {"compressBlockSize", {.integer = 32}}, {"compressStride", {.integer = 16}},
                {"selectBlockSize", {.integer = 64}}, {"selectBlockCount", {.integer = COUNT}},
                {"softmaxMaxOut", {.tensor = t.max.acl}}, {"softmaxSumOut", {.tensor = t.sum.acl}},
                {"attentionOutOut", {.tensor = t.out.acl}},
                {"topkIndicesOut", {.tensor = t.chosen.acl}}),
            0);
        expect(&some, &t, false, &(struct seen){false, causal});
        expect_chosen(&some, &t, false, causal, blocks);
        free_lists(tokens, keys);
        free_lists(of_blocks, NULL);
        rig_values_free((struct rig_tensor[]){must, mask}, 2, NULL, 0);
        tensors_free(&t);
    }
}

static void compressed_keys_in_pages(void)
{
    static const int64_t blocks[] = {11, 16}; // ((keys - 1) * 16 + 32) / 64, rounded up
    if (rig_chip() != 1) {
        return;
    }
    struct tensors t = tensors_make(&one_token, true);
    struct rig_tensor pages = table_make();
    aclIntArray *keys = aclCreateIntArray(one_token.keys, SEQUENCES);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "NsaCompressAttentionInfer", true, {"query", {.tensor = t.q.acl}},
            {"key", {.tensor = t.k.acl}}, {"value", {.tensor = t.v.acl}},
            {"blockTableOptional", {.tensor = pages.acl}},
            {"actualCmpKvSeqLenOptional", {.ints = keys}}, {"numHeads", {.integer = HEADS}},
            {"numKeyValueHeads", {.integer = KEY_HEADS}}, {"selectBlockSize", {.integer = 64}},
            {"selectBlockCount", {.integer = COUNT}}, {"compressBlockSize", {.integer = 32}},
            {"compressBlockStride", {.integer = 16}}, {"scaleValue", {.real = scale}},
            {"layoutOptional", {.text = (char *)(uintptr_t)"TND"}},
            {"pageBlockSize", {.integer = PAGE}}, {"output", {.tensor = t.out.acl}},
            {"topKOutput", {.tensor = t.chosen.acl}}),
        0);
    expect(&one_token, &t, true, &(struct seen){false, false});
    expect_chosen(&one_token, &t, true, false, blocks);
    free_lists(keys, NULL);
    rig_values_free(&pages, 1, NULL, 0);
    tensors_free(&t);
}

static void what_does_not_fit_is_refused(void)
{
    static const int64_t long_keys[] = {40, 62}, backwards[] = {5, -2};
    if (rig_chip() != 1) {
        return;
    }
    struct tensors t = tensors_make(&some, false);
    aclIntArray *tokens = ends(some.tokens), *keys = ends(some.keys), *beyond = ends(long_keys),
                *back = ends(backwards);
    CU_ASSERT_NOT_EQUAL(run_selected(&t, tokens, NULL, NULL, 0, HEADS, false), 0);
    CU_ASSERT_NOT_EQUAL(run_selected(&t, tokens, beyond, NULL, 0, HEADS, false), 0);
    CU_ASSERT_NOT_EQUAL(run_selected(&t, back, keys, NULL, 0, HEADS, false), 0);
    CU_ASSERT_NOT_EQUAL(run_selected(&t, tokens, keys, NULL, 3, HEADS, false), 0);
    CU_ASSERT_NOT_EQUAL(run_selected(&t, tokens, keys, NULL, 0, 3, false), 0);
    free_lists(tokens, keys);
    free_lists(beyond, back);
    tensors_free(&t);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"chosen_blocks_are_seen", chosen_blocks_are_seen},
        {"gradients_of_chosen_blocks", gradients_of_chosen_blocks},
        {"chosen_blocks_in_pages", chosen_blocks_in_pages},
        {"compressed_keys_choose_blocks", compressed_keys_choose_blocks},
        {"compressed_keys_in_pages", compressed_keys_in_pages},
        {"what_does_not_fit_is_refused", what_does_not_fit_is_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_nsa", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
