/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of generation: tokens that may come next, places of the next ones, heads turned by a cache
 * of angles, keys out of pages. Against plain loops on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <stdlib.h>

static const struct rig_bound near = {.of_each = 2e-6, .at_all = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

static int64_t whole(const struct rig_tensor *t, int64_t i)
{
    return rig_get_i(rig_tensor_at(t, i), t->type);
}

/* A tensor of these numbers. */
static struct rig_tensor numbers(enum op_type type, unsigned rank, const int64_t *dim,
                                 const int64_t *values)
{
    struct rig_tensor t = rig_tensor_make(type, rank, dim, RIG_DENSE, 5);
    for (int64_t i = 0; i < rig_tensor_count(&t); i++) {
        rig_put_i(rig_tensor_at(&t, i), type, values[i]);
    }
    rig_tensor_put(&t);
    return t;
}

static void expect_numbers(struct rig_tensor *t, const int64_t *want)
{
    rig_tensor_take(t);
    for (int64_t i = 0; i < rig_tensor_count(t); i++) {
        CU_ASSERT_EQUAL(whole(t, i), want[i]);
    }
}

/* ---- tokens that may come next ---- */

enum { ROWS = 4, TOKENS = 37 };

/* Whether token i of a row may come: by how many are larger, and by the share up to it. */
static bool may_come(const double *x, int64_t i, int64_t k, double p)
{
    double sum = 0, up_to = 0;
    int64_t larger = 0;
    for (int64_t j = 0; j < TOKENS; j++) {
        int64_t above = 0;
        for (int64_t m = 0; m < TOKENS; m++) {
            above += x[m] > x[j];
        }
        const double share = k > 0 && k < TOKENS && above >= k ? 0 : exp(x[j]);
        sum += share;
        up_to += x[j] < x[i] || (x[j] == x[i] && j <= i) ? share : 0;
        larger += x[j] > x[i];
    }
    const bool among = k <= 0 || k >= TOKENS || larger < k;
    return among && (larger == 0 || up_to / sum > 1 - p);
}

static void choose(enum op_type type, bool has_k, bool has_p)
{
    static const int64_t ks[ROWS] = {5, 0, 37, 12};
    static const double ps[ROWS] = {0.75, 0.5, 1, 0.25};
    const int64_t dim[] = {ROWS, TOKENS}, list[] = {ROWS};
    struct rig_tensor x = rig_values_make(type, 2, dim, RIG_PERMUTED, 3),
                      p = rig_values_make(type, 1, list, RIG_DENSE, 4),
                      k = numbers(OP_TYPE_I32, 1, list, ks),
                      y = rig_values_make(type, 2, dim, RIG_DENSE, 6);
    double row[TOKENS];
    int64_t kept = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        rig_put_d(rig_tensor_at(&p, i), type, ps[i]);
    }
    for (int64_t i = 0; i < ROWS * TOKENS; i++) { // no two are the same
        rig_put_d(rig_tensor_at(&x, i), type, (double)(i % TOKENS * 29 % TOKENS) / 8 - 2);
    }
    rig_tensor_put(&p);
    rig_tensor_put(&x);
    const aclnnStatus code =
        RIG_RUN_NAMED("ApplyTopKTopP", is_here(), {"logits", {.tensor = x.acl}},
                      {"p", {.tensor = has_p ? p.acl : NULL}},
                      {"k", {.tensor = has_k ? k.acl : NULL}}, {"out", {.tensor = y.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    rig_tensor_take(&y);
    for (int64_t i = 0; is_here() && i < ROWS * TOKENS; i++) {
        const int64_t r = i / TOKENS;
        for (int64_t j = 0; j < TOKENS; j++) {
            row[j] = rig_values_at(&x, r * TOKENS + j);
        }
        const bool may = may_come(row, i % TOKENS, has_k ? ks[r] : 0, has_p ? ps[r] : 1);
        kept += may;
        CU_ASSERT_EQUAL(rig_values_at(&y, i), may ? row[i % TOKENS] : -INFINITY);
    }
    CU_ASSERT_TRUE(!is_here() || (kept >= ROWS && (kept < ROWS * TOKENS || (!has_k && !has_p))));
    struct rig_tensor all[] = {x, p, k, y};
    rig_values_free(all, 4, NULL, 0);
}

static void likely_tokens_are_kept(void)
{
    choose(OP_TYPE_F32, true, true);
    choose(OP_TYPE_F16, true, true);
    choose(OP_TYPE_BF16, true, false);
    choose(OP_TYPE_F32, false, true);
    choose(OP_TYPE_F32, false, false);
}

/* ---- places of the next token ---- */

static void steps_advance(void)
{
    static const int64_t lengths[] = {7, 3, 12, 5, 9},
                         tables[] = {4, 9, 2, 8, 1, 3, 7, 5, 6, 0, 1, 2, 3, 4, 5},
                         sampled[] = {101, 102, 103}, nines[] = {9, 9, 9, 9, 9};
    const int64_t seqs[] = {5}, table_dim[] = {5, 3}, sampled_dim[] = {3, 1}, size = 5;
    struct rig_tensor tokens = numbers(OP_TYPE_I64, 1, seqs, nines),
                      positions = numbers(OP_TYPE_I64, 1, seqs, nines),
                      slots = numbers(OP_TYPE_I64, 1, seqs, nines),
                      length = numbers(OP_TYPE_I64, 1, seqs, lengths),
                      table = numbers(OP_TYPE_I64, 2, table_dim, tables),
                      from = numbers(OP_TYPE_I64, 2, sampled_dim, sampled);
    int64_t want_tokens[5] = {101, 102, 103, 0, 9}, want_positions[5] = {7, 3, 12, 0, 9},
            want_lengths[5] = {8, 4, 13, 5, 9}, want_slots[5] = {0, 0, 0, -1, 9};
    for (int64_t i = 0; i < 3; i++) {
        want_slots[i] = (tables[lengths[i] / size] + 3 * i) * size + lengths[i] % size;
    }
    const aclnnStatus code = RIG_RUN_NAMED(
        "AdvanceStep", is_here(), {"inputTokens", {.tensor = tokens.acl}},
        {"sampledTokenIds", {.tensor = from.acl}}, {"inputPositions", {.tensor = positions.acl}},
        {"seqLens", {.tensor = length.acl}}, {"slotMapping", {.tensor = slots.acl}},
        {"blockTables", {.tensor = table.acl}}, {"numSeqs", {.integer = 5}},
        {"numQueries", {.integer = 3}}, {"blockSize", {.integer = size}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        expect_numbers(&tokens, want_tokens);
        expect_numbers(&positions, want_positions);
        expect_numbers(&length, want_lengths);
        expect_numbers(&slots, want_slots);
    }
    struct rig_tensor all[] = {tokens, positions, slots, length, table, from};
    rig_values_free(all, 6, NULL, 0);
}

static void guesses_advance(void)
{
    enum { SEQS = 2, EACH = 3, COUNT = SEQS * EACH };
    static const int64_t sampled[] = {11, 12, -1, 21, 22, 23}, guesses[] = {31, 32, 41, 42},
                         accepted[] = {1, 2}, at[] = {4, 5, 6, 8, 9, 10}, zeros[COUNT],
                         tables[] = {4, 9, 2, 8, 1, 3, 7, 5},
                         want_tokens[] = {12, 31, 32, 23, 41, 42};
    const int64_t all_dim[] = {COUNT}, each_dim[] = {SEQS, EACH}, guess_dim[] = {SEQS, EACH - 1},
                  seqs[] = {SEQS}, table_dim[] = {SEQS, 4}, size = 4;
    struct rig_tensor tokens = numbers(OP_TYPE_I64, 1, all_dim, zeros),
                      positions = numbers(OP_TYPE_I64, 1, all_dim, at),
                      slots = numbers(OP_TYPE_I64, 1, all_dim, zeros),
                      length = numbers(OP_TYPE_I64, 1, all_dim, zeros),
                      table = numbers(OP_TYPE_I64, 2, table_dim, tables),
                      from = numbers(OP_TYPE_I64, 2, each_dim, sampled),
                      guess = numbers(OP_TYPE_I64, 2, guess_dim, guesses),
                      right = numbers(OP_TYPE_I64, 1, seqs, accepted);
    int64_t want_positions[COUNT], want_lengths[COUNT], want_slots[COUNT];
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t p = at[i] + accepted[i / EACH] + 1;
        want_positions[i] = p;
        want_lengths[i] = p + 1;
        want_slots[i] = tables[i / EACH * 4 + p / size] * size + p % size;
    }
    const aclnnStatus code = RIG_RUN_NAMED(
        "AdvanceStepV2", is_here(), {"inputTokens", {.tensor = tokens.acl}},
        {"sampledTokenIds", {.tensor = from.acl}}, {"inputPositions", {.tensor = positions.acl}},
        {"seqLens", {.tensor = length.acl}}, {"slotMapping", {.tensor = slots.acl}},
        {"blockTables", {.tensor = table.acl}}, {"specToken", {.tensor = guess.acl}},
        {"acceptedNum", {.tensor = right.acl}}, {"numSeqs", {.integer = SEQS}},
        {"numQueries", {.integer = SEQS}}, {"blockSize", {.integer = size}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        expect_numbers(&tokens, want_tokens);
        expect_numbers(&positions, want_positions);
        expect_numbers(&length, want_lengths);
        expect_numbers(&slots, want_slots);
    }
    struct rig_tensor all[] = {tokens, positions, slots, length, table, from, guess, right};
    rig_values_free(all, 8, NULL, 0);
}

/* ---- heads turned by angles ---- */

static void even_features_come_first(void)
{
    const int64_t dim[] = {2, 3, 4, 6}, angle_dim[] = {2, 1, 4, 6};
    struct rig_tensor x = rig_values_make(OP_TYPE_F16, 4, dim, RIG_DENSE, 1),
                      cos = rig_values_make(OP_TYPE_F16, 4, angle_dim, RIG_DENSE, 2),
                      sin = rig_values_make(OP_TYPE_F16, 4, angle_dim, RIG_DENSE, 3),
                      y = rig_values_make(OP_TYPE_F16, 4, dim, RIG_DENSE, 4);
    double want[144];
    for (int64_t i = 0; i < 144; i++) {
        const int64_t d = i % 6, row = i - d, angle = (i / 72 * 4 + i / 6 % 4) * 6 + d;
        const double own = rig_values_at(&x, row + (d < 3 ? 2 * d : 2 * (d - 3) + 1)),
                     other = rig_values_at(&x, row + (d < 3 ? 2 * d + 1 : 2 * (d - 3)));
        want[i] = own * rig_values_at(&cos, angle) +
                  (d < 3 ? -other : other) * rig_values_at(&sin, angle);
    }
    const aclnnStatus code = RIG_RUN_NAMED(
        "InterleaveRope", is_here(), {"x", {.tensor = x.acl}}, {"cos", {.tensor = cos.acl}},
        {"sin", {.tensor = sin.acl}}, {"out", {.tensor = y.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        rig_values_expect(&y, want, near, "turned");
    }
    struct rig_tensor all[] = {x, cos, sin, y};
    rig_values_free(all, 4, NULL, 0);
}

enum { STEPS = 5, PLACES = 9, HEAD = 14, WIDTH = 12, HALF = WIDTH / 2 };

struct cached {
    int64_t rows, mode, sections[3];
    bool halves;
};

/* Which row of positions feature f of half a head belongs to. */
static int64_t row_of(const struct cached *c, int64_t f)
{
    if (c->rows == 1) {
        return 0;
    }
    if (c->mode == 1) {
        return f < 3 * c->sections[1] ? f % 3 : 0;
    }
    return f < c->sections[0] ? 0 : f < c->sections[0] + c->sections[1] ? 1 : 2;
}

static void turned(const struct cached *c, const struct rig_tensor *x,
                   const struct rig_tensor *cache, const struct rig_tensor *positions, double *want)
{
    const int64_t all = x->dim[1];
    for (int64_t i = 0; i < STEPS * all; i++) {
        const int64_t t = i / all, d = i % all % HEAD, head = i - d;
        if (d >= WIDTH) {
            want[i] = rig_values_at(x, i);
            continue;
        }
        const int64_t f = c->halves ? d % HALF : d / 2;
        const bool second = c->halves ? d >= HALF : d % 2;
        const int64_t pos = whole(positions, row_of(c, f) * STEPS + t);
        const double cos = rig_values_at(cache, pos * WIDTH + f),
                     sin = rig_values_at(cache, pos * WIDTH + HALF + f),
                     a = rig_values_at(x, head + (c->halves ? f : 2 * f)),
                     b = rig_values_at(x, head + (c->halves ? f + HALF : 2 * f + 1));
        want[i] = second ? b * cos + a * sin : a * cos - b * sin;
    }
}

static void turn_cached(enum op_type type, const struct cached *c)
{
    const int64_t q_dim[] = {STEPS, 3 * HEAD}, k_dim[] = {STEPS, HEAD},
                  cache_dim[] = {PLACES, WIDTH}, pos_dim[] = {3, STEPS};
    int64_t pos[3 * STEPS];
    for (int64_t i = 0; i < 3 * STEPS; i++) {
        pos[i] = i * 5 % PLACES;
    }
    struct rig_tensor q = rig_values_make(type, 2, q_dim, RIG_DENSE, 1),
                      k = rig_values_make(type, 2, k_dim, RIG_DENSE, 2),
                      cache = rig_values_make(type, 2, cache_dim, RIG_DENSE, 3),
                      positions = numbers(OP_TYPE_I64, c->rows == 1 ? 1 : 2,
                                          c->rows == 1 ? pos_dim + 1 : pos_dim, pos),
                      q_out = rig_values_make(type, 2, q_dim, RIG_DENSE, 4),
                      k_out = rig_values_make(type, 2, k_dim, RIG_DENSE, 5);
    double want_q[STEPS * 3 * HEAD], want_k[STEPS * HEAD];
    turned(c, &q, &cache, &positions, want_q);
    turned(c, &k, &cache, &positions, want_k);
    aclIntArray *sections = aclCreateIntArray(c->sections, 3);
    aclnnStatus code = RIG_RUN_NAMED(
        "RopeWithSinCosCacheV2", is_here(), {"positions", {.tensor = positions.acl}},
        {"query", {.tensor = q.acl}}, {"key", {.tensor = k.acl}},
        {"cos_sin_cache", {.tensor = cache.acl}}, {"mrope_section_value", {.ints = sections}},
        {"head_size", {.integer = HEAD}}, {"is_neox_style", {.integer = c->halves}},
        {"cache_mode_value", {.integer = c->mode}}, {"query_out", {.tensor = q_out.acl}},
        {"key_out", {.tensor = k_out.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        rig_values_expect(&q_out, want_q, near, "queries");
        rig_values_expect(&k_out, want_k, near, "keys");
    }
    for (int swapped = 0; c->mode == 0 && swapped < 2; swapped++) {
        code = RIG_RUN_NAMED(
            "RopeWithSinCosCache", is_here() && !swapped, {"positions", {.tensor = positions.acl}},
            {"queryIn", {.tensor = q.acl}}, {"keyIn", {.tensor = k.acl}},
            {"cosSinCache", {.tensor = cache.acl}}, {"mropeSection", {.ints = sections}},
            {"headSize", {.integer = HEAD}}, {"isNeoxStyle", {.integer = c->halves}},
            {"queryOut", {.tensor = swapped ? k_out.acl : q_out.acl}},
            {"keyOut", {.tensor = swapped ? q_out.acl : k_out.acl}});
        CU_ASSERT_EQUAL(code == 0, is_here() && !swapped);
    }
    if (is_here()) {
        rig_values_expect(&q_out, want_q, near, "queries again");
        rig_values_expect(&k_out, want_k, near, "keys again");
    }
    (void)aclDestroyIntArray(sections);
    struct rig_tensor all[] = {q, k, cache, positions, q_out, k_out};
    rig_values_free(all, 6, NULL, 0);
}

static void heads_are_turned_by_a_cache(void)
{
    const struct cached all[] = {
        {1, 0, {0, 0, 0}, true},  {1, 0, {0, 0, 0}, false}, {3, 0, {1, 2, 3}, true},
        {3, 0, {3, 0, 3}, false}, {3, 1, {2, 2, 2}, true},  {3, 1, {4, 1, 1}, false},
        {3, 1, {0, 3, 3}, true},
    };
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        turn_cached(OP_TYPE_F32, &all[i]);
        turn_cached(OP_TYPE_BF16, &all[i]);
    }
}

/* ---- keys out of pages ---- */

static void gather(bool sums, bool has_offset)
{
    enum { PAGES = 6, SLOTS = 4, HEADS = 2, FEATURES = 3, LENGTH = 14, BATCH = 3, TABLE = 3 };
    static const int64_t lengths[] = {5, 0, 8}, begins[] = {0, 5, 5, 13}, offsets[] = {0, 4, 7},
                         tables[] = {3, 1, 0, 2, 2, 2, 5, 7, -1};
    const int64_t cache_dim[] = {PAGES, SLOTS, HEADS, FEATURES}, table_dim[] = {BATCH, TABLE},
                  out_dim[] = {LENGTH, HEADS, FEATURES}, batch[] = {BATCH}, bounds[] = {BATCH + 1},
                  width = HEADS * FEATURES;
    struct rig_tensor keys = rig_values_make(OP_TYPE_F16, 4, cache_dim, RIG_DENSE, 1),
                      values = rig_values_make(OP_TYPE_F16, 4, cache_dim, RIG_DENSE, 2),
                      table = numbers(OP_TYPE_I32, 2, table_dim, tables),
                      length =
                          numbers(OP_TYPE_I32, 1, sums ? bounds : batch, sums ? begins : lengths),
                      offset = numbers(OP_TYPE_I32, 1, batch, offsets),
                      key = rig_values_make(OP_TYPE_F16, 3, out_dim, RIG_PERMUTED, 3),
                      value = rig_values_make(OP_TYPE_F16, 3, out_dim, RIG_DENSE, 4);
    double want_k[LENGTH * HEADS * FEATURES], want_v[LENGTH * HEADS * FEATURES];
    for (int64_t i = 0; i < LENGTH * width; i++) {
        const int64_t t = i / width, b = t < begins[1] ? 0 : t < begins[3] ? 2 : -1;
        const int64_t j = b < 0 ? 0 : t - begins[b],
                      column = b < 0 ? 0 : (has_offset ? offsets[b] / SLOTS : 0) + j / SLOTS,
                      page = b >= 0 && column < TABLE ? tables[b * TABLE + column] : -1,
                      from = (page * SLOTS + j % SLOTS) * width + i % width;
        const bool there = page >= 0 && page < PAGES;
        want_k[i] = b < 0 ? rig_values_at(&key, i) : there ? rig_values_at(&keys, from) : 0;
        want_v[i] = b < 0 ? rig_values_at(&value, i) : there ? rig_values_at(&values, from) : 0;
    }
    const aclnnStatus code =
        RIG_RUN_NAMED("GatherPaKvCache", is_here(), {"key_cache", {.tensor = keys.acl}},
                      {"value_cache", {.tensor = values.acl}},
                      {"block_tables", {.tensor = table.acl}}, {"seq_lens", {.tensor = length.acl}},
                      {"key", {.tensor = key.acl}}, {"value", {.tensor = value.acl}},
                      {"seq_offset", {.tensor = has_offset ? offset.acl : NULL}},
                      {"is_seq_lens_cumsum", {.integer = sums}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        const struct rig_bound same = {.roundings = 0};
        rig_values_expect(&key, want_k, same, "keys");
        rig_values_expect(&value, want_v, same, "values");
    }
    struct rig_tensor all[] = {keys, values, table, length, offset, key, value};
    rig_values_free(all, 7, NULL, 0);
}

static void tokens_come_out_of_pages(void)
{
    gather(false, false);
    gather(true, false);
    gather(true, true);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"likely_tokens_are_kept", likely_tokens_are_kept},
        {"steps_advance", steps_advance},
        {"guesses_advance", guesses_advance},
        {"even_features_come_first", even_features_come_first},
        {"heads_are_turned_by_a_cache", heads_are_turned_by_a_cache},
        {"tokens_come_out_of_pages", tokens_come_out_of_pages},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_decode", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
