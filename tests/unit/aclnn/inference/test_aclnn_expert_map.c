/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens to the experts that a map names and back, with gradients: against plain loops. */
#include "rig_named.h"
#include "rig_values.h"

enum { TOKENS = 9, EXPERTS = 5, EACH = 2, COUNT = TOKENS * EACH, WIDTH = 18 };

static const int64_t token_dim[] = {TOKENS, WIDTH}, map_dim[] = {TOKENS, EXPERTS},
                     row_dim[] = {COUNT, WIDTH}, list_dim[] = {COUNT};
static const struct rig_bound exact = {0}, near = {.of_largest = 1e-6, .roundings = 1};

static bool is_set(int64_t token, int64_t expert)
{
    return expert == token % EXPERTS || expert == (token * 2 + 1 + token / 4) % EXPERTS;
}

/* Rows expert by expert: their token, expert, and by token where they are. */
struct places {
    int64_t token[COUNT], expert[COUNT], of_token[COUNT];
};

static struct places places_make(void)
{
    struct places p;
    int64_t at = 0, filled[TOKENS] = {0};
    for (int64_t e = 0; e < EXPERTS; e++) {
        for (int64_t t = 0; t < TOKENS; t++) {
            if (is_set(t, e)) {
                p.token[at] = t;
                p.expert[at] = e;
                p.of_token[t * EACH + filled[t]++] = at++;
            }
        }
    }
    CU_ASSERT_EQUAL_FATAL(at, COUNT);
    return p;
}

static void expect_numbers(struct rig_tensor *t, const int64_t *want)
{
    rig_tensor_take(t);
    for (int64_t i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(t, i), t->type), want[i]);
    }
}

struct tensors {
    struct rig_tensor x, map, probs, rows, row_probs, places, out, index, token, dx, drows, dprobs;
};

static struct tensors tensors_make(enum op_type type, enum op_type map_type)
{
    struct tensors t = {
        .x = rig_values_make(type, 2, token_dim, RIG_PERMUTED, 1),
        .map = rig_tensor_make(map_type, 2, map_dim, RIG_DENSE, 2),
        .probs = rig_values_make(type, 2, map_dim, RIG_PERMUTED, 3),
        .rows = rig_values_make(type, 2, row_dim, RIG_DENSE, 4),
        .row_probs = rig_values_make(type, 1, list_dim, RIG_DENSE, 5),
        .places = rig_tensor_make(OP_TYPE_I32, 1, list_dim, RIG_DENSE, 6),
        .out = rig_values_make(type, 2, token_dim, RIG_DENSE, 7),
        .index = rig_tensor_make(OP_TYPE_I32, 1, list_dim, RIG_DENSE, 8),
        .token = rig_tensor_make(OP_TYPE_I32, 1, list_dim, RIG_DENSE, 9),
        .dx = rig_values_make(type, 2, token_dim, RIG_DENSE, 10),
        .drows = rig_values_make(type, 2, row_dim, RIG_DENSE, 11),
        .dprobs = rig_values_make(type, 2, map_dim, RIG_DENSE, 12),
    };
    for (int64_t i = 0; i < TOKENS * EXPERTS; i++) {
        rig_put_i(rig_tensor_at(&t.map, i), map_type, is_set(i / EXPERTS, i % EXPERTS));
    }
    rig_tensor_put(&t.map);
    return t;
}

static void to_experts(struct tensors *t, const struct places *p)
{
    double rows[COUNT * WIDTH], probs[COUNT];
    for (int64_t i = 0; i < COUNT * WIDTH; i++) {
        rows[i] = rig_values_at(&t->x, p->token[i / WIDTH] * WIDTH + i % WIDTH);
        probs[i / WIDTH] =
            rig_values_at(&t->probs, p->token[i / WIDTH] * EXPERTS + p->expert[i / WIDTH]);
    }
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "MoeTokenPermuteWithRoutingMap", true, {"tokens", {.tensor = t->x.acl}},
            {"routingMap", {.tensor = t->map.acl}}, {"probsOptional", {.tensor = t->probs.acl}},
            {"numOutTokens", {.integer = COUNT}}, {"permuteTokensOut", {.tensor = t->rows.acl}},
            {"permuteProbsOutOptional", {.tensor = t->row_probs.acl}},
            {"sortedIndicesOut", {.tensor = t->places.acl}}),
        0);
    rig_values_expect(&t->rows, rows, exact, "rows of experts");
    rig_values_expect(&t->row_probs, probs, exact, "their probs");
    expect_numbers(&t->places, p->of_token);
}

static void gradient_of_experts(struct tensors *t, const struct places *p)
{
    double dx[TOKENS * WIDTH] = {0}, dprobs[TOKENS * EXPERTS] = {0};
    for (int64_t i = 0; i < COUNT * WIDTH; i++) {
        dx[p->token[i / WIDTH] * WIDTH + i % WIDTH] += rig_values_at(&t->rows, i);
        dprobs[p->token[i / WIDTH] * EXPERTS + p->expert[i / WIDTH]] =
            rig_values_at(&t->row_probs, i / WIDTH);
    }
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("MoeTokenPermuteWithRoutingMapGrad", true,
                                  {"permutedTokenOutputGrad", {.tensor = t->rows.acl}},
                                  {"permutedProbsOutputGradOptional", {.tensor = t->row_probs.acl}},
                                  {"sortedIndices", {.tensor = t->places.acl}},
                                  {"routingMapOptional", {.tensor = t->map.acl}},
                                  {"numExperts", {.integer = EXPERTS}},
                                  {"tokensNum", {.integer = TOKENS}},
                                  {"tokensGradOut", {.tensor = t->dx.acl}},
                                  {"probsGradOutOptional", {.tensor = t->dprobs.acl}}),
                    0);
    rig_values_expect(&t->dx, dx, near, "gradient by tokens");
    rig_values_expect(&t->dprobs, dprobs, exact, "gradient by probs");
}

static void back(struct tensors *t, const struct places *p)
{
    double out[TOKENS * WIDTH] = {0}, drows[COUNT * WIDTH], dprobs[TOKENS * EXPERTS] = {0};
    for (int64_t i = 0; i < COUNT * WIDTH; i++) {
        const int64_t at = p->token[i / WIDTH] * WIDTH + i % WIDTH,
                      place = p->token[i / WIDTH] * EXPERTS + p->expert[i / WIDTH];
        const double prob = rig_values_at(&t->probs, place), row = rig_values_at(&t->rows, i),
                     gradient = rig_values_at(&t->x, at);
        out[at] += row * prob;
        drows[i] = gradient * prob;
        dprobs[place] += gradient * row;
    }
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("MoeTokenUnpermuteWithRoutingMap", true,
                                  {"permutedTokens", {.tensor = t->rows.acl}},
                                  {"sortedIndices", {.tensor = t->places.acl}},
                                  {"routingMapOptional", {.tensor = t->map.acl}},
                                  {"probsOptional", {.tensor = t->probs.acl}},
                                  {"unpermutedTokens", {.tensor = t->out.acl}},
                                  {"outIndex", {.tensor = t->index.acl}},
                                  {"permuteTokenId", {.tensor = t->token.acl}},
                                  {"permuteProbs", {.tensor = t->row_probs.acl}}),
                    0);
    rig_values_expect(&t->out, out, near, "back to tokens");
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("MoeTokenUnpermuteWithRoutingMapGrad", true,
                                  {"unpermuted_tokens_grad", {.tensor = t->x.acl}},
                                  {"out_index", {.tensor = t->index.acl}},
                                  {"permuted_token_id", {.tensor = t->token.acl}},
                                  {"routing_map", {.tensor = t->map.acl}},
                                  {"permuted_tokens", {.tensor = t->rows.acl}},
                                  {"probs", {.tensor = t->probs.acl}},
                                  {"permuted_tokens_grad_out", {.tensor = t->drows.acl}},
                                  {"probs_grad_out", {.tensor = t->dprobs.acl}}),
                    0);
    rig_values_expect(&t->drows, drows, near, "gradient by rows");
    rig_values_expect(&t->dprobs, dprobs, near, "gradient by probs of sums");
}

static void maps_name_experts(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_BF16};
    const struct places p = places_make();
    for (unsigned i = 0; rig_chip() == 1 && i < 2; i++) {
        struct tensors t = tensors_make(types[i], i ? OP_TYPE_I8 : OP_TYPE_BOOL);
        to_experts(&t, &p);
        gradient_of_experts(&t, &p);
        back(&t, &p);
        rig_values_free((struct rig_tensor[]){t.x, t.map, t.probs, t.rows, t.row_probs, t.places,
                                              t.out, t.index, t.token, t.dx, t.drows, t.dprobs},
                        12, NULL, 0);
    }
}

// Room for a fixed number each is not computed; nothing of this is on the other chip.
static void padding_is_refused(void)
{
    struct tensors t = tensors_make(OP_TYPE_F32, OP_TYPE_BOOL);
    CU_ASSERT_NOT_EQUAL(
        RIG_RUN_NAMED("MoeTokenPermuteWithRoutingMap", false, {"tokens", {.tensor = t.x.acl}},
                      {"routingMap", {.tensor = t.map.acl}}, {"numOutTokens", {.integer = COUNT}},
                      {"dropAndPad", {.integer = 1}}, {"permuteTokensOut", {.tensor = t.rows.acl}},
                      {"sortedIndicesOut", {.tensor = t.places.acl}}),
        0);
    rig_values_free((struct rig_tensor[]){t.x, t.map, t.probs, t.rows, t.row_probs, t.places, t.out,
                                          t.index, t.token, t.dx, t.drows, t.dprobs},
                    12, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"maps_name_experts", maps_name_experts},
        {"padding_is_refused", padding_is_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_expert_map", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
