/* SPDX-License-Identifier: Apache-2.0 */
/* One token of each row, chosen among the likely ones: against plain loops on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <string.h>

enum { ROWS = 6, TOKENS = 41 };

static bool is_here(void)
{
    return rig_chip() == 1;
}

struct kind {
    bool logits, has_q, has_least, rest;
    int64_t most; /* ksMax */
};

/* What is left of a row: tokens in their order, and shares. */
struct left {
    int64_t token[TOKENS], count;
    double share[TOKENS];
};

static void shares_of(const double *x, int64_t count, bool logits, double *share)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += exp(x[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        share[i] = logits ? exp(x[i]) / sum : x[i];
    }
}

static void sort(const double *x, int64_t *order)
{
    for (int64_t i = 0; i < TOKENS; i++) {
        int64_t at = i;
        for (; at > 0 && x[order[at - 1]] < x[i]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

static struct left reference(const struct kind *kind, const double *x, int64_t k, double p,
                             double least)
{
    struct left l = {.count = TOKENS};
    double sorted[TOKENS], before = 0, most = 0;
    const bool use_k = k >= 1 && k <= (kind->most < TOKENS ? kind->most : TOKENS), use_p = p < 1;
    sort(x, l.token);
    for (int64_t i = 0; i < TOKENS; i++) {
        l.token[i] = use_k || use_p || least >= 1 ? l.token[i] : i;
        sorted[i] = x[l.token[i]];
    }
    l.count = use_k ? k : TOKENS;
    shares_of(sorted, l.count, kind->logits, l.share);
    int64_t kept = 0;
    for (; use_p && kept < l.count && (kept == 0 || (p > 0 && before < p)); kept++) {
        before += l.share[kept];
    }
    l.count = use_p ? kept : l.count;
    if (p <= 0 && kind->logits) {
        l.share[0] = 1;
    }
    for (int64_t i = 0; i < l.count; i++) {
        most = fmax(most, l.share[i]);
    }
    kept = 0;
    for (int64_t i = 0; i < l.count; i++) {
        if (least <= 0 || (least < 1 ? l.share[i] >= most * least : i == 0)) {
            l.token[kept] = l.token[i];
            l.share[kept++] = l.share[i];
        }
    }
    l.count = kept;
    return l;
}

struct problem {
    struct rig_tensor x, k, p, least, q, chosen, values, token, share;
};

static struct problem make(enum op_type type, bool logits)
{
    static const int64_t ks[ROWS] = {5, 0, 60, 12, 0, 30};
    static const double ps[ROWS] = {0.75, 0.5, 1, 1, 0, 0.9}, least[ROWS] = {0, 0.5, 0.25, 0, 0, 1};
    const int64_t dim[] = {ROWS, TOKENS}, list[] = {ROWS};
    struct problem p = {rig_values_make(type, 2, dim, RIG_PERMUTED, 1),
                        rig_tensor_make(OP_TYPE_I32, 1, list, RIG_DENSE, 2),
                        rig_values_make(type, 1, list, RIG_DENSE, 3),
                        rig_values_make(type, 1, list, RIG_DENSE, 4),
                        rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 5),
                        rig_tensor_make(OP_TYPE_I64, 1, list, RIG_DENSE, 6),
                        rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 7),
                        rig_tensor_make(OP_TYPE_I64, 2, dim, RIG_DENSE, 8),
                        rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 9)};
    for (int64_t i = 0; i < ROWS; i++) {
        rig_put_i(rig_tensor_at(&p.k, i), OP_TYPE_I32, ks[i]);
        rig_put_d(rig_tensor_at(&p.p, i), type, ps[i]);
        rig_put_d(rig_tensor_at(&p.least, i), type, least[i]);
    }
    for (int64_t i = 0; i < ROWS * TOKENS; i++) { // no two of a row are the same
        const double step = (double)(i % TOKENS * 29 % TOKENS);
        rig_put_d(rig_tensor_at(&p.x, i), type, logits ? step / 8 - 2 : (step + 1) / 1024);
    }
    rig_tensor_put(&p.x);
    rig_tensor_put(&p.k);
    rig_tensor_put(&p.p);
    rig_tensor_put(&p.least);
    return p;
}

static int64_t chosen_of(const struct problem *p, const struct kind *kind, int64_t row,
                         const struct left *l)
{
    int64_t best = 0;
    double weight = -1;
    for (int64_t i = 0; i < l->count; i++) {
        const double q = kind->has_q ? fabs(rig_values_at(&p->q, row * TOKENS + i)) + 1e-8 : 1;
        best = l->share[i] / q > weight ? i : best;
        weight = fmax(weight, l->share[i] / q);
    }
    return l->token[best];
}

static void expect_row(struct problem *p, const struct kind *kind, int64_t row)
{
    double x[TOKENS], values[TOKENS];
    for (int64_t i = 0; i < TOKENS; i++) {
        x[i] = rig_values_at(&p->x, row * TOKENS + i);
        values[i] = kind->logits ? -INFINITY : 0;
    }
    const struct left l =
        reference(kind, x, rig_get_i(rig_tensor_at(&p->k, row), OP_TYPE_I32),
                  rig_values_at(&p->p, row), kind->has_least ? rig_values_at(&p->least, row) : 0);
    for (int64_t i = 0; i < l.count; i++) {
        values[l.token[i]] = x[l.token[i]];
    }
    for (int64_t i = 0; i < TOKENS; i++) {
        CU_ASSERT_EQUAL(rig_values_at(&p->values, row * TOKENS + i), values[i]);
        if (kind->rest) {
            const int64_t at = row * TOKENS + i;
            CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&p->token, at), OP_TYPE_I64),
                            i < l.count ? l.token[i] : 0);
            CU_ASSERT_DOUBLE_EQUAL(rig_values_at(&p->share, at), i < l.count ? l.share[i] : 0,
                                   1e-6);
        }
    }
    if (!kind->rest) {
        CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&p->chosen, row), OP_TYPE_I64),
                        chosen_of(p, kind, row, &l));
    }
}

static void choose(enum op_type type, const struct kind *kind, bool second)
{
    struct problem p = make(type, kind->logits);
    const struct rig_named args[] = {{"logits", {.tensor = p.x.acl}},
                                     {"topK", {.tensor = p.k.acl}},
                                     {"topP", {.tensor = p.p.acl}},
                                     {"q", {.tensor = kind->has_q ? p.q.acl : NULL}},
                                     {"eps", {.real = 1e-8}},
                                     {"isNeedLogits", {.integer = 1}},
                                     {"topKGuess", {.integer = 32}},
                                     {"logitsSelectIdx", {.tensor = p.chosen.acl}},
                                     {"logitsTopKPSelect", {.tensor = p.values.acl}},
                                     {"minPs", {.tensor = kind->has_least ? p.least.acl : NULL}},
                                     {"ksMax", {.integer = kind->most}},
                                     {"inputIsLogits", {.integer = kind->logits}},
                                     {"isNeedSampleResult", {.integer = kind->rest}},
                                     {"logitsIdx", {.tensor = p.token.acl}},
                                     {"logitsSortMasked", {.tensor = p.share.acl}}};
    const aclnnStatus code = rig_run_named(second ? "TopKTopPSampleV2" : "TopKTopPSample", args,
                                           second ? 15 : 9, is_here());
    CU_ASSERT_EQUAL(code == 0, is_here());
    rig_tensor_take(&p.chosen);
    rig_tensor_take(&p.values);
    rig_tensor_take(&p.token);
    rig_tensor_take(&p.share);
    for (int64_t row = 0; is_here() && row < ROWS; row++) {
        expect_row(&p, kind, row);
    }
    struct rig_tensor all[] = {p.x, p.k, p.p, p.least, p.q, p.chosen, p.values, p.token, p.share};
    rig_values_free(all, 9, NULL, 0);
}

static void tokens_are_chosen(void)
{
    const struct kind sampled = {.logits = true, .has_q = true, .most = 1024},
                      likeliest = {.logits = true, .most = 1024};
    choose(OP_TYPE_F16, &sampled, false);
    choose(OP_TYPE_F32, &likeliest, false);
    choose(OP_TYPE_BF16, &likeliest, true);
}

static void small_ones_are_left_out(void)
{
    const struct kind kinds[] = {
        {.logits = true, .has_q = true, .has_least = true, .most = 1024},
        {.logits = false, .has_least = true, .most = 1024},
        {.logits = true, .has_q = true, .has_least = true, .most = 20},
    };
    for (unsigned i = 0; i < 3; i++) {
        choose(OP_TYPE_F32, &kinds[i], true);
    }
}

static void the_rest_is_told(void)
{
    const struct kind kinds[] = {{.logits = true, .has_least = true, .rest = true, .most = 1024},
                                 {.logits = false, .rest = true, .most = 1024}};
    choose(OP_TYPE_F16, &kinds[0], true);
    choose(OP_TYPE_F32, &kinds[1], true);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"tokens_are_chosen", tokens_are_chosen},
        {"small_ones_are_left_out", small_ones_are_left_out},
        {"the_rest_is_told", the_rest_is_told},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_choose", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
