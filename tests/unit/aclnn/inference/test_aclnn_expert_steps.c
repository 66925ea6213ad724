/* SPDX-License-Identifier: Apache-2.0 */
/* Experts in groups, keys and values on their way into a cache: against plain loops on the host. */
#include "rig_bytes.h"
#include "rig_named.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKENS = 11, EACH = 3, COUNT = TOKENS * EACH, WIDTH = 20, EXPERTS = 16, FIRST = 4, END = 9 };

static const struct rig_bound near = {.of_each = 3e-6, .at_all = 1e-7, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

/* ---- groups ---- */

/* Whether a group is among the best: by its largest, or by the sum of its two largest. */
static bool is_best(const double *x, int64_t groups, int64_t best, int64_t select, int64_t group)
{
    double score[EXPERTS];
    const int64_t each = EXPERTS / groups;
    int64_t before = 0;
    for (int64_t g = 0; g < groups; g++) {
        double first = -1e30, second = -1e30;
        for (int64_t e = g * each; e < (g + 1) * each; e++) {
            second = x[e] > first ? first : fmax(second, x[e]);
            first = fmax(first, x[e]);
        }
        score[g] = select ? first + second : first;
    }
    for (int64_t g = 0; g < groups; g++) {
        before += score[g] > score[group] || (score[g] == score[group] && g < group);
    }
    return before < best;
}

static void choose(const double *x, int64_t groups, int64_t best, int64_t select, int64_t *chosen)
{
    bool taken[EXPERTS] = {false};
    for (int64_t k = 0; k < EACH; k++) {
        int64_t at = -1;
        for (int64_t e = 0; e < EXPERTS; e++) {
            if (!taken[e] && is_best(x, groups, best, select, e / (EXPERTS / groups)) &&
                (at < 0 || x[e] > x[at])) {
                at = e;
            }
        }
        taken[at] = true;
        chosen[k] = at;
    }
}

static void gate(int64_t norm, int64_t groups, int64_t best, int64_t select, int64_t renorm)
{
    const int64_t dim[] = {TOKENS, EXPERTS}, out_dim[] = {TOKENS, EACH}, bias_dim[] = {EXPERTS};
    struct rig_tensor x = rig_values_make(OP_TYPE_F32, 2, dim, RIG_PERMUTED, 3),
                      bias = rig_values_make(OP_TYPE_F32, 1, bias_dim, RIG_DENSE, 4),
                      y = rig_values_make(OP_TYPE_F32, 2, out_dim, RIG_DENSE, 5),
                      all = rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 6),
                      experts = rig_tensor_make(OP_TYPE_I32, 2, out_dim, RIG_DENSE, 7);
    double want[COUNT], norms[TOKENS * EXPERTS];
    int64_t chosen[COUNT];
    for (int64_t t = 0; t < TOKENS; t++) {
        double sum = 0, with[EXPERTS], *n = norms + t * EXPERTS;
        for (int64_t e = 0; e < EXPERTS; e++) {
            n[e] = exp(rig_values_at(&x, t * EXPERTS + e));
            sum += n[e];
        }
        for (int64_t e = 0; e < EXPERTS; e++) {
            n[e] = norm ? n[e] / (1 + n[e]) : n[e] / sum;
            with[e] = n[e] + rig_values_at(&bias, e);
        }
        choose(with, groups, best, select, chosen + t * EACH);
        sum = 0;
        for (int64_t k = 0; k < EACH; k++) {
            want[t * EACH + k] = n[chosen[t * EACH + k]];
            sum += want[t * EACH + k];
        }
        for (int64_t k = 0; k < EACH; k++) {
            want[t * EACH + k] *= 2.5 / (norm || renorm ? sum + 1e-20 : 1);
        }
    }
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("MoeGatingTopK", true, {"x", {.tensor = x.acl}},
                      {"biasOptional", {.tensor = bias.acl}}, {"k", {.integer = EACH}},
                      {"kGroup", {.integer = best}}, {"groupCount", {.integer = groups}},
                      {"groupSelectMode", {.integer = select}}, {"renorm", {.integer = renorm}},
                      {"normType", {.integer = norm}}, {"outFlag", {.integer = 1}},
                      {"routedScalingFactor", {.real = 2.5}}, {"eps", {.real = 1e-20}},
                      {"yOut", {.tensor = y.acl}}, {"expertIdxOut", {.tensor = experts.acl}},
                      {"outOut", {.tensor = all.acl}}),
        0);
    rig_values_expect(&y, want, near, "weights of experts in groups");
    rig_values_expect(&all, norms, near, "norms of all experts");
    rig_expect_integers(&experts, chosen, COUNT, "experts in groups");
    rig_values_free((struct rig_tensor[]){x, bias, y, all, experts}, 5, NULL, 0);
}

// The second version by its other names, without groups or bias.
static void experts_of_the_second_version(void)
{
    const int64_t dim[] = {TOKENS, EXPERTS}, out_dim[] = {TOKENS, EACH};
    struct rig_tensor x = rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 3),
                      y[] = {rig_values_make(OP_TYPE_F32, 2, out_dim, RIG_DENSE, 5),
                             rig_values_make(OP_TYPE_F32, 2, out_dim, RIG_DENSE, 6)},
                      experts = rig_tensor_make(OP_TYPE_I32, 2, out_dim, RIG_DENSE, 7);
    double want[COUNT];
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("MoeGatingTopK", true, {"x", {.tensor = x.acl}}, {"k", {.integer = EACH}},
                      {"kGroup", {.integer = 1}}, {"groupCount", {.integer = 1}},
                      {"routedScalingFactor", {.real = 1}}, {"yOut", {.tensor = y[0].acl}},
                      {"expertIdxOut", {.tensor = experts.acl}}),
        0);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("MoeGatingTopKV2", true, {"x", {.tensor = x.acl}}, {"k", {.integer = EACH}},
                      {"k_group", {.integer = 1}}, {"group_count", {.integer = 1}},
                      {"routed_scaling_factor", {.real = 1}}, {"y", {.tensor = y[1].acl}},
                      {"expert_idx", {.tensor = experts.acl}}),
        0);
    rig_tensor_take(&y[0]);
    for (int64_t i = 0; i < COUNT; i++) {
        want[i] = rig_values_at(&y[0], i);
    }
    rig_values_expect(&y[1], want, (struct rig_bound){0}, "weights by the second version");
    rig_values_free((struct rig_tensor[]){x, y[0], y[1], experts}, 4, NULL, 0);
}

/* Rows of 3 ranks, each with those of 4 experts one after the other. */
static void rows_of_ranks_are_sorted(void)
{
    enum { RANKS = 3, HERE = 4, ROWS = 20 };
    static const int64_t number[RANKS][HERE] = {{2, 0, 3, 1}, {1, 4, 0, 2}, {0, 3, 3, 1}};
    const int64_t dim[] = {ROWS, WIDTH}, count_dim[] = {RANKS, HERE}, list[] = {ROWS},
                  expert_dim[] = {HERE};
    for (int way = 0; is_here() && way < 2; way++) {
        struct rig_tensor x = rig_values_make(OP_TYPE_F16, 2, dim, RIG_PERMUTED, 1),
                          counts = rig_tensor_make(OP_TYPE_I64, 2, count_dim, RIG_DENSE, 2),
                          scales = rig_values_make(OP_TYPE_F32, 1, list, RIG_DENSE, 3),
                          out = rig_values_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 4),
                          scales_out = rig_values_make(OP_TYPE_F32, 1, list, RIG_DENSE, 5),
                          index = rig_tensor_make(OP_TYPE_I32, 1, list, RIG_DENSE, 6),
                          each = rig_tensor_make(OP_TYPE_I64, 1, expert_dim, RIG_DENSE, 7);
        int64_t from[ROWS], to[ROWS], sum[HERE] = {0}, place = 0;
        double want[ROWS * WIDTH], want_scales[ROWS];
        for (int64_t e = 0; e < HERE; e++) {
            int64_t start = 0;
            for (int64_t i = 0; i < RANKS * HERE; i++) {
                const int64_t n = number[i / HERE][i % HERE];
                rig_put_i(rig_tensor_at(&counts, i), OP_TYPE_I64, n);
                for (int64_t k = 0; i % HERE == e && k < n; k++) {
                    from[place] = start + k;
                    to[start + k] = place++;
                    sum[e]++;
                }
                start += n;
            }
            sum[e] += way == 0 && e ? sum[e - 1] : 0; // 0: where experts end
        }
        rig_tensor_put(&counts);
        CU_ASSERT_EQUAL_FATAL(place, ROWS);
        for (int64_t i = 0; i < ROWS * WIDTH; i++) {
            want[i] = rig_values_at(&x, from[i / WIDTH] * WIDTH + i % WIDTH);
            want_scales[i / WIDTH] = rig_values_at(&scales, from[i / WIDTH]);
        }
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED("MoeReRouting", true, {"tokens_wrapper", {.tensor = x.acl}},
                          {"expert_token_num_per_rank", {.tensor = counts.acl}},
                          {"per_token_scales_wrapper", {.tensor = scales.acl}},
                          {"expert_token_num_type", {.integer = way}},
                          {"idx_type", {.integer = way}},
                          {"permute_tokens_wrapper", {.tensor = out.acl}},
                          {"permute_per_token_scales_wrapper", {.tensor = scales_out.acl}},
                          {"permute_token_idx", {.tensor = index.acl}},
                          {"expert_token_num", {.tensor = each.acl}}),
            0);
        rig_values_expect(&out, want, (struct rig_bound){0}, "rows of ranks");
        rig_values_expect(&scales_out, want_scales, (struct rig_bound){0}, "their scales");
        rig_expect_integers(&index, way ? to : from, ROWS, "where rows came from, or went");
        rig_expect_integers(&each, sum, HERE, "rows of experts");
        rig_values_free((struct rig_tensor[]){x, counts, scales, out, scales_out, index, each}, 7,
                        NULL, 0);
    }
}

static void experts_are_chosen_in_groups(void)
{
    if (is_here()) {
        gate(1, 4, 2, 1, 0);
        gate(0, 4, 3, 0, 1);
        gate(0, 1, 1, 0, 0);
        experts_of_the_second_version();
    }
}

/* ---- caches ---- */

enum { BATCH = 3, STEPS = 2, NORMED = 24, TURNED = 16, SLOTS = 7 };

struct caches {
    struct rig_tensor kv, gamma, cos, sin, index, k, v, k_out, v_out;
    double rope[BATCH * STEPS * TURNED], norm[BATCH * STEPS * NORMED];
};

static struct caches caches_make(bool paged)
{
    const int64_t kv[] = {BATCH, 1, STEPS, NORMED + TURNED}, cos[] = {BATCH, 1, STEPS, TURNED},
                  gamma[] = {NORMED}, list[] = {BATCH * STEPS}, table[] = {BATCH, STEPS},
                  k[] = {BATCH, paged ? SLOTS : 1, paged ? 1 : SLOTS, TURNED},
                  v[] = {BATCH, paged ? SLOTS : 1, paged ? 1 : SLOTS, NORMED},
                  k_out[] = {BATCH, 1, STEPS, TURNED}, v_out[] = {BATCH, 1, STEPS, NORMED};
    struct caches c = {
        .kv = rig_values_make(OP_TYPE_F16, 4, kv, RIG_PERMUTED, 1),
        .gamma = rig_values_make(OP_TYPE_F16, 1, gamma, RIG_DENSE, 2),
        .cos = rig_values_make(OP_TYPE_F16, 4, cos, RIG_DENSE, 3),
        .sin = rig_values_make(OP_TYPE_F16, 4, cos, RIG_DENSE, 4),
        .index = rig_tensor_make(OP_TYPE_I64, paged ? 1 : 2, paged ? list : table, RIG_DENSE, 5),
        .k = rig_values_make(OP_TYPE_F16, 4, k, RIG_DENSE, 6),
        .v = rig_values_make(OP_TYPE_F16, 4, v, RIG_DENSE, 7),
        .k_out = rig_values_make(OP_TYPE_F16, 4, k_out, RIG_DENSE, 8),
        .v_out = rig_values_make(OP_TYPE_F16, 4, v_out, RIG_DENSE, 9),
    };
    for (int64_t r = 0; r < BATCH * STEPS; r++) {
        double squares = 0;
        const int64_t at = r * (NORMED + TURNED);
        for (int64_t i = 0; i < NORMED; i++) {
            squares += pow(rig_values_at(&c.kv, at + i), 2);
        }
        for (int64_t i = 0; i < NORMED; i++) {
            c.norm[r * NORMED + i] = rig_values_at(&c.kv, at + i) / sqrt(squares / NORMED + 1e-5) *
                                     rig_values_at(&c.gamma, i);
        }
        for (int64_t i = 0; i < TURNED; i++) {
            const int64_t half = TURNED / 2, pair = at + NORMED + i % half * 2;
            const double a = rig_values_at(&c.kv, pair), b = rig_values_at(&c.kv, pair + 1),
                         cosine = rig_values_at(&c.cos, r * TURNED + i),
                         sine = rig_values_at(&c.sin, r * TURNED + i);
            c.rope[r * TURNED + i] = i < half ? a * cosine - b * sine : b * cosine + a * sine;
        }
    }
    return c;
}

static void fill_cache(bool paged, const int64_t *index)
{
    struct caches c = caches_make(paged);
    const char *mode = paged ? "PA_BNSD" : "Norm";
    double want_k[BATCH * SLOTS * TURNED], want_v[BATCH * SLOTS * NORMED];
    for (int64_t i = 0; i < BATCH * SLOTS * TURNED; i++) {
        want_k[i] = rig_values_at(&c.k, i);
    }
    for (int64_t i = 0; i < BATCH * SLOTS * NORMED; i++) {
        want_v[i] = rig_values_at(&c.v, i);
    }
    for (int64_t r = 0; r < BATCH * STEPS; r++) {
        rig_put_i(rig_tensor_at(&c.index, r), OP_TYPE_I64, index[r]);
        const int64_t slot = index[r] + (paged ? 0 : r / STEPS * SLOTS);
        for (int64_t i = 0; index[r] >= 0 && i < TURNED; i++) {
            want_k[slot * TURNED + i] = c.rope[r * TURNED + i];
        }
        for (int64_t i = 0; index[r] >= 0 && i < NORMED; i++) {
            want_v[slot * NORMED + i] = c.norm[r * NORMED + i];
        }
    }
    rig_tensor_put(&c.index);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(paged ? "KvRmsNormRopeCache" : "KvRmsNormRopeCacheV2", true,
                      {"kv", {.tensor = c.kv.acl}}, {"gamma", {.tensor = c.gamma.acl}},
                      {"cos", {.tensor = c.cos.acl}}, {"sin", {.tensor = c.sin.acl}},
                      {"index", {.tensor = c.index.acl}}, {"k_cache", {.tensor = c.k.acl}},
                      {"ckv_cache", {.tensor = c.v.acl}}, {"epsilon", {.real = 1e-5}},
                      {"cache_mode_ptr", {.text = (char *)(uintptr_t)mode}},
                      {"is_output_kv", {.integer = 1}}, {"k_rope", {.tensor = c.k_out.acl}},
                      {"c_kv", {.tensor = c.v_out.acl}}),
        0);
    rig_values_expect(&c.k_out, c.rope, near, "turned");
    rig_values_expect(&c.v_out, c.norm, near, "normalised");
    rig_values_expect(&c.k, want_k, near, "cache of keys");
    rig_values_expect(&c.v, want_v, near, "cache of values");
    rig_values_free(
        (struct rig_tensor[]){c.kv, c.gamma, c.cos, c.sin, c.index, c.k, c.v, c.k_out, c.v_out}, 9,
        NULL, 0);
}

static void rows_go_into_caches(void)
{
    static const int64_t pages[] = {20, 0, -1, 7, 3, -1}, own[] = {6, 0, -1, 1, 2, 3},
                         none[] = {-1, -1, -1, -1, -1, -1};
    if (is_here()) {
        fill_cache(true, pages);
        fill_cache(false, own);
        fill_cache(true, none);
    }
}

/* Rows of two heads into pages; -1 is left out. */
static void rows_go_into_pages(void)
{
    enum { HEADS = 2, K = 12, V = 20, PAGES = 3, PAGE = 4 };
    static const int64_t slot[STEPS * BATCH] = {11, -1, 0, 5, -1, 6};
    const int64_t k[] = {STEPS * BATCH, HEADS, K}, v[] = {STEPS * BATCH, HEADS, V},
                  kc[] = {PAGES, PAGE, HEADS, K}, vc[] = {PAGES, PAGE, HEADS, V},
                  list[] = {STEPS * BATCH};
    struct rig_tensor keys = rig_values_make(OP_TYPE_BF16, 3, k, RIG_PERMUTED, 1),
                      values = rig_values_make(OP_TYPE_BF16, 3, v, RIG_DENSE, 2),
                      key_cache = rig_values_make(OP_TYPE_BF16, 4, kc, RIG_DENSE, 3),
                      value_cache = rig_values_make(OP_TYPE_BF16, 4, vc, RIG_DENSE, 4),
                      slots = rig_tensor_make(OP_TYPE_I32, 1, list, RIG_DENSE, 5);
    double want_k[PAGES * PAGE * HEADS * K], want_v[PAGES * PAGE * HEADS * V];
    for (int64_t i = 0; i < PAGES * PAGE * HEADS * V; i++) {
        want_v[i] = rig_values_at(&value_cache, i);
        want_k[i % (PAGES * PAGE * HEADS * K)] =
            rig_values_at(&key_cache, i % (PAGES * PAGE * HEADS * K));
    }
    for (int64_t r = 0; r < STEPS * BATCH; r++) {
        rig_put_i(rig_tensor_at(&slots, r), OP_TYPE_I32, slot[r]);
        for (int64_t i = 0; slot[r] >= 0 && i < HEADS * V; i++) {
            want_v[slot[r] * HEADS * V + i] = rig_values_at(&values, r * HEADS * V + i);
            want_k[slot[r] * HEADS * K + i % (HEADS * K)] =
                rig_values_at(&keys, r * HEADS * K + i % (HEADS * K));
        }
    }
    rig_tensor_put(&slots);
    const aclnnStatus code = RIG_RUN_NAMED(
        "ScatterPaKvCache", is_here(), {"key", {.tensor = keys.acl}},
        {"keyCacheClone", {.tensor = key_cache.acl}}, {"slot_mapping", {.tensor = slots.acl}},
        {"value", {.tensor = values.acl}}, {"valueCacheClone", {.tensor = value_cache.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        rig_values_expect(&key_cache, want_k, (struct rig_bound){0}, "pages of keys");
        rig_values_expect(&value_cache, want_v, (struct rig_bound){0}, "pages of values");
    }
    rig_values_free((struct rig_tensor[]){keys, values, key_cache, value_cache, slots}, 5, NULL, 0);
}

// On the other chip the call itself is refused.
static void a_slot_that_is_not_there_ends_the_kernel(void)
{
    struct caches c = caches_make(false);
    for (int64_t r = 0; r < BATCH * STEPS; r++) { // it would lie in the cache of another
        rig_put_i(rig_tensor_at(&c.index, r), OP_TYPE_I64, SLOTS);
    }
    rig_tensor_put(&c.index);
    CU_ASSERT_NOT_EQUAL(
        RIG_RUN_NAMED("KvRmsNormRopeCache", false, {"kv", {.tensor = c.kv.acl}},
                      {"gamma", {.tensor = c.gamma.acl}}, {"cos", {.tensor = c.cos.acl}},
                      {"sin", {.tensor = c.sin.acl}}, {"index", {.tensor = c.index.acl}},
                      {"k_cache", {.tensor = c.k.acl}}, {"ckv_cache", {.tensor = c.v.acl}}),
        0);
    rig_end_fault(
        (struct rig_tensor[]){c.kv, c.gamma, c.cos, c.sin, c.index, c.k, c.v, c.k_out, c.v_out}, 9);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"experts_are_chosen_in_groups", experts_are_chosen_in_groups},
        {"rows_of_ranks_are_sorted", rows_of_ranks_are_sorted},
        {"rows_go_into_caches", rows_go_into_caches},
        {"rows_go_into_pages", rows_go_into_pages},
        {"a_slot_that_is_not_there_ends_the_kernel", a_slot_that_is_not_there_ends_the_kernel},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_expert_steps", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
