/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens to their experts and back, against plain loops on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <stdlib.h>

enum { TOKENS = 13, EACH = 3, COUNT = TOKENS * EACH, WIDTH = 21, EXPERTS = 6, ROOM = 5 };

static const int64_t token_dim[] = {TOKENS, WIDTH}, each_dim[] = {TOKENS, EACH},
                     list_dim[] = {COUNT}, expert_dim[] = {EXPERTS};
static const struct rig_bound exact = {0}, near = {.of_largest = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

static struct rig_tensor integers(enum op_type type, unsigned rank, const int64_t *dim)
{
    return rig_tensor_make(type, rank, dim, RIG_DENSE, 77);
}

// Experts of tokens, one of which has none and one many.
static struct rig_tensor experts_of(enum op_type type)
{
    struct rig_tensor t = integers(type, 2, each_dim);
    for (int64_t i = 0; i < COUNT; i++) {
        rig_put_i(rig_tensor_at(&t, i), type, i % 4 == 0 ? 5 : i * 7 % 11 % 5 == 2 ? 3 : i % 5);
    }
    rig_tensor_put(&t);
    return t;
}

static int64_t number(const struct rig_tensor *t, int64_t i)
{
    return rig_get_i(rig_tensor_at(t, i), t->type);
}

static void expect_numbers(struct rig_tensor *t, const int64_t *want, const char *what)
{
    rig_expect_integers(t, want, rig_tensor_count(t), what);
}

/* order[place] = row, by expert, rows of one as they came; place[row]. */
static void sort_rows(const struct rig_tensor *experts, int64_t *order, int64_t *place)
{
    int64_t at = 0;
    for (int64_t expert = 0; expert < 100; expert++) {
        for (int64_t i = 0; i < COUNT; i++) {
            if (number(experts, i) == expert) {
                place[i] = at;
                order[at++] = i;
            }
        }
    }
    CU_ASSERT_EQUAL_FATAL(at, COUNT);
}

/* ---- permute, unpermute ---- */

static void back_to_tokens(struct rig_tensor *rows, struct rig_tensor *places, enum op_type type,
                           int64_t kept)
{
    struct rig_tensor probs = rig_values_make(type, 2, each_dim, RIG_PERMUTED, 5),
                      out = rig_values_make(type, 2, token_dim, RIG_PERMUTED, 6),
                      g = rig_values_make(type, 2, token_dim, RIG_SLICED, 7),
                      dp = rig_values_make(type, 2, each_dim, RIG_DENSE, 8),
                      dx = rig_values_make(type, 2, (const int64_t[]){kept, WIDTH}, RIG_DENSE, 9);
    double *want = rig_values_zeros(TOKENS * WIDTH), *plain = rig_values_zeros(TOKENS * WIDTH),
           *want_p = rig_values_zeros(COUNT), *want_x = rig_values_zeros(COUNT * WIDTH);
    for (int64_t i = 0; i < COUNT * WIDTH; i++) {
        const int64_t row = i / WIDTH, column = i % WIDTH, place = number(places, row),
                      at = row / EACH * WIDTH + column;
        if (place < kept) {
            const double x = rig_values_at(rows, place * WIDTH + column);
            plain[at] += x;
            want[at] += x * rig_values_at(&probs, row);
            want_p[row] += x * rig_values_at(&g, at);
            want_x[place * WIDTH + column] = rig_values_at(&g, at) * rig_values_at(&probs, row);
        }
    }
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("MoeTokenUnpermute", true, {"permutedTokens", {.tensor = rows->acl}},
                      {"sortedIndices", {.tensor = places->acl}},
                      {"probsOptional", {.tensor = probs.acl}}, {"out", {.tensor = out.acl}}),
        0);
    rig_values_expect(&out, want, near, "unpermute");
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("MoeTokenPermuteGrad", true,
                                  {"permutedOutputGrad", {.tensor = rows->acl}},
                                  {"sortedIndices", {.tensor = places->acl}},
                                  {"numTopk", {.integer = EACH}}, {"out", {.tensor = out.acl}}),
                    0);
    rig_values_expect(&out, plain, near, "gradient of permute");
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "MoeTokenUnpermuteGrad", true, {"permuteTokens", {.tensor = rows->acl}},
            {"unpermutedTokensGrad", {.tensor = g.acl}}, {"sortedIndices", {.tensor = places->acl}},
            {"probsOptional", {.tensor = probs.acl}}, {"permutedTokensGradOut", {.tensor = dx.acl}},
            {"probsGradOut", {.tensor = dp.acl}}),
        0);
    rig_values_expect(&dx, want_x, near, "gradient by tokens");
    rig_values_expect(&dp, want_p, near, "gradient by probs");
    rig_values_free((struct rig_tensor[]){probs, out, g, dp, dx}, 5,
                    (double *[]){want, plain, want_p, want_x}, 4);
}

static void tokens_go_to_experts_and_back(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    static const int64_t given[] = {0, 17, -4}, kept[] = {COUNT, 17, COUNT - 4};
    for (unsigned i = 0; is_here() && i < 3; i++) {
        struct rig_tensor x = rig_values_make(types[i], 2, token_dim, RIG_PERMUTED, 3),
                          experts = experts_of(i ? OP_TYPE_I64 : OP_TYPE_I32),
                          out = rig_values_make(types[i], 2, (const int64_t[]){kept[i], WIDTH},
                                                RIG_DENSE, 4),
                          places = integers(OP_TYPE_I32, 1, list_dim);
        int64_t order[COUNT], place[COUNT];
        double *want = rig_values_zeros(COUNT * WIDTH);
        sort_rows(&experts, order, place);
        for (int64_t k = 0; k < kept[i] * WIDTH; k++) {
            want[k] = rig_values_at(&x, order[k / WIDTH] / EACH * WIDTH + k % WIDTH);
        }
        CU_ASSERT_EQUAL(RIG_RUN_NAMED("MoeTokenPermute", true, {"tokens", {.tensor = x.acl}},
                                      {"indices", {.tensor = experts.acl}},
                                      {"numOutTokens", {.integer = given[i]}},
                                      {"permuteTokensOut", {.tensor = out.acl}},
                                      {"sortedIndicesOut", {.tensor = places.acl}}),
                        0);
        rig_values_expect(&out, want, exact, "permute");
        expect_numbers(&places, place, "places");
        back_to_tokens(&out, &places, types[i], kept[i]);
        rig_values_free((struct rig_tensor[]){x, experts, out, places}, 4, &want, 1);
    }
}

/* ---- routing ---- */

static void rows_are_routed(void)
{
    if (!is_here()) {
        return;
    }
    const int64_t kept[] = {30, WIDTH}, active = 10;
    struct rig_tensor x = rig_values_make(OP_TYPE_F16, 2, token_dim, RIG_PERMUTED, 3),
                      experts = experts_of(OP_TYPE_I32), rows = integers(OP_TYPE_I32, 2, each_dim),
                      out = rig_values_make(OP_TYPE_F16, 2, kept, RIG_DENSE, 4),
                      places = integers(OP_TYPE_I32, 1, list_dim),
                      sorted = integers(OP_TYPE_I32, 1, list_dim),
                      ends = integers(OP_TYPE_I32, 1, expert_dim);
    int64_t order[COUNT], place[COUNT], of_number[COUNT], expert[COUNT], end[EXPERTS] = {0};
    double *want = rig_values_zeros(COUNT * WIDTH);
    sort_rows(&experts, order, place);
    for (int64_t i = 0; i < COUNT; i++) { // numbers of rows go column by column
        rig_put_i(rig_tensor_at(&rows, i), OP_TYPE_I32, i % EACH * TOKENS + i / EACH);
        of_number[i % EACH * TOKENS + i / EACH] = place[i];
        expert[place[i]] = number(&experts, i);
        for (int64_t e = number(&experts, i); e < EXPERTS; e++) {
            end[e]++;
        }
    }
    rig_tensor_put(&rows);
    for (int64_t i = 0; i < kept[0] * WIDTH; i++) {
        want[i] = rig_values_at(&x, order[i / WIDTH] / EACH * WIDTH + i % WIDTH);
    }
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("MoeInitRouting", true, {"x", {.tensor = x.acl}},
                      {"row_idx", {.tensor = rows.acl}}, {"expert_idx", {.tensor = experts.acl}},
                      {"active_num", {.integer = active}}, {"expanded_x", {.tensor = out.acl}},
                      {"expanded_row_idx", {.tensor = places.acl}},
                      {"expanded_expert_idx", {.tensor = sorted.acl}}),
        0);
    rig_values_expect(&out, want, exact, "routed rows");
    expect_numbers(&places, of_number, "where rows went");
    expect_numbers(&sorted, expert, "experts in order");
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("MoeComputeExpertTokens", true,
                                  {"sorted_expert_for_source_row", {.tensor = sorted.acl}},
                                  {"num_expert", {.integer = EXPERTS}},
                                  {"out", {.tensor = ends.acl}}),
                    0);
    expect_numbers(&ends, end, "ends of experts");
    for (int kind = 1; kind < 3; kind++) {
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED("MoeInitRoutingV2", true, {"x", {.tensor = x.acl}},
                          {"expertIdx", {.tensor = experts.acl}},
                          {"activeNumOptional", {.integer = kept[0]}},
                          {"expertNumOptional", {.integer = EXPERTS}},
                          {"expertTokensCountOrCumsumFlagOptional", {.integer = kind}},
                          {"expandedXOut", {.tensor = out.acl}},
                          {"expandedRowIdxOut", {.tensor = places.acl}},
                          {"expertTokensCountOrCumsumOutOptional", {.tensor = ends.acl}}),
            0);
        rig_values_expect(&out, want, exact, "routed rows of V2");
        expect_numbers(&places, place, "places of V2");
        expect_numbers(&ends, end, "counts of V2");
        for (int e = EXPERTS; e-- > 1;) {
            end[e] -= end[e - 1];
        }
    }
    rig_values_free((struct rig_tensor[]){x, experts, rows, out, places, sorted, ends}, 7, &want,
                    1);
}

static void experts_have_room_for_some_rows(void)
{
    if (!is_here()) {
        return;
    }
    const int64_t out_dim[] = {EXPERTS, ROOM, WIDTH};
    struct rig_tensor x = rig_values_make(OP_TYPE_BF16, 2, token_dim, RIG_DENSE, 3),
                      experts = experts_of(OP_TYPE_I32),
                      out = rig_values_make(OP_TYPE_BF16, 3, out_dim, RIG_PERMUTED, 4),
                      slots = integers(OP_TYPE_I32, 1, list_dim),
                      counts = integers(OP_TYPE_I32, 1, expert_dim);
    int64_t order[COUNT], place[COUNT], slot[COUNT], count[EXPERTS] = {0};
    double *want = rig_values_zeros(EXPERTS * ROOM * WIDTH);
    sort_rows(&experts, order, place);
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t e = number(&experts, i), at = count[e]++;
        slot[i] = at < ROOM ? e * ROOM + at : -1;
        for (int64_t c = 0; slot[i] >= 0 && c < WIDTH; c++) {
            want[slot[i] * WIDTH + c] = rig_values_at(&x, i / EACH * WIDTH + c);
        }
    }
    CU_ASSERT_TRUE(count[5] > ROOM && count[4] < ROOM);
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED(
            "MoeInitRoutingV2", true, {"x", {.tensor = x.acl}},
            {"expertIdx", {.tensor = experts.acl}}, {"expertCapacityOptional", {.integer = ROOM}},
            {"expertNumOptional", {.integer = EXPERTS}}, {"dropPadModeOptional", {.integer = 1}},
            {"expertTokensBeforeCapacityFlagOptional", {.integer = 1}},
            {"expandedXOut", {.tensor = out.acl}}, {"expandedRowIdxOut", {.tensor = slots.acl}},
            {"expertTokensBeforeCapacityOutOptional", {.tensor = counts.acl}}),
        0);
    rig_values_expect(&out, want, exact, "slots of experts");
    expect_numbers(&slots, slot, "slots");
    expect_numbers(&counts, count, "counts before they were cut");
    rig_values_free((struct rig_tensor[]){x, experts, out, slots, counts}, 5, &want, 1);
}

/* dropPadMode 0: places column by column; 3: row by row, -1 is none. */
static void experts_are_summed(int64_t mode, enum op_type type)
{
    const int64_t made_dim[] = {EXPERTS, COUNT / EXPERTS + 1, WIDTH},
                  flat_dim[] = {made_dim[0] * made_dim[1], WIDTH}, bias_dim[] = {EXPERTS, WIDTH};
    struct rig_tensor made = rig_values_make(type, mode & 1 ? 3 : 2, mode & 1 ? made_dim : flat_dim,
                                             RIG_PERMUTED, 2),
                      experts = experts_of(OP_TYPE_I32), list = integers(OP_TYPE_I32, 1, list_dim),
                      bias = rig_values_make(type, 2, bias_dim, RIG_DENSE, 3),
                      scales = rig_values_make(type, 2, each_dim, RIG_DENSE, 4),
                      first = rig_values_make(type, 2, token_dim, RIG_SLICED, 5),
                      second = rig_values_make(type, 2, token_dim, RIG_DENSE, 6),
                      out = rig_values_make(type, 2, token_dim, RIG_DENSE, 7);
    double *want = rig_values_zeros(TOKENS * WIDTH);
    for (int64_t i = 0; i < COUNT; i++) {
        rig_put_i(rig_tensor_at(&list, i), OP_TYPE_I32, mode && i % 7 == 0 ? -1 : i * 5 % COUNT);
    }
    rig_tensor_put(&list);
    for (int64_t i = 0; i < COUNT * WIDTH; i++) {
        const int64_t row = i / WIDTH, t = row / EACH, k = row % EACH, c = i % WIDTH,
                      at = number(&list, mode >= 2 ? row : k * TOKENS + t);
        const double x = at < 0 ? 0 : rig_values_at(&made, at * WIDTH + c);
        want[t * WIDTH + c] += rig_values_at(&scales, row) *
                               (x + rig_values_at(&bias, number(&experts, row) * WIDTH + c));
    }
    for (int64_t i = 0; i < TOKENS * WIDTH; i++) {
        want[i] += rig_values_at(&first, i) + rig_values_at(&second, i);
    }
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("MoeFinalizeRoutingV2", true, {"expandedX", {.tensor = made.acl}},
                                  {"expandedRowIdx", {.tensor = list.acl}},
                                  {"x1Optional", {.tensor = first.acl}},
                                  {"x2Optional", {.tensor = second.acl}},
                                  {"biasOptional", {.tensor = bias.acl}},
                                  {"scalesOptional", {.tensor = scales.acl}},
                                  {"expertIdxOptional", {.tensor = experts.acl}},
                                  {"dropPadMode", {.integer = mode}}, {"out", {.tensor = out.acl}}),
                    0);
    rig_values_expect(&out, want, near, "sum of experts");
    if (mode == 0) {
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED("MoeFinalizeRouting", true,
                          {"expanded_permuted_rows", {.tensor = made.acl}},
                          {"skip1", {.tensor = first.acl}}, {"skip2", {.tensor = second.acl}},
                          {"bias", {.tensor = bias.acl}}, {"scales", {.tensor = scales.acl}},
                          {"expanded_src_to_dst_row", {.tensor = list.acl}},
                          {"expert_for_source_row", {.tensor = experts.acl}},
                          {"result", {.tensor = out.acl}}),
            0);
        rig_values_expect(&out, want, near, "sum of experts, V1");
    }
    rig_values_free((struct rig_tensor[]){made, experts, list, bias, scales, first, second, out}, 8,
                    &want, 1);
}

static void what_experts_made_is_summed(void)
{
    for (int64_t mode = 0; is_here() && mode < 4; mode++) {
        experts_are_summed(mode, mode & 1 ? OP_TYPE_F16 : OP_TYPE_F32);
    }
}

/* ---- gating ---- */

static void softmax_of(const struct rig_tensor *x, int64_t row, double *out)
{
    double sum = 0;
    for (int64_t e = 0; e < WIDTH; e++) {
        out[e] = exp(rig_values_at(x, row * WIDTH + e));
        sum += out[e];
    }
    for (int64_t e = 0; e < WIDTH; e++) {
        out[e] /= sum;
    }
}

/* The k largest of a row, the first of equal ones; `y` and `experts` from index `at`. */
static void take_largest(const double *values, int64_t at, double *y, int64_t *experts)
{
    bool taken[WIDTH] = {false};
    for (int64_t k = 0; k < EACH; k++) {
        int64_t best = -1;
        for (int64_t e = 0; e < WIDTH; e++) {
            best = !taken[e] && (best < 0 || values[e] > values[best]) ? e : best;
        }
        taken[best] = true;
        y[at + k] = values[best];
        experts[at + k] = best;
    }
}

static void gates_choose_experts(void)
{
    if (!is_here()) {
        return;
    }
    static const int64_t ended_dim[] = {TOKENS};
    struct rig_tensor x = rig_tensor_make(OP_TYPE_F32, 2, token_dim, RIG_PERMUTED, 3),
                      ended = rig_tensor_make(OP_TYPE_BOOL, 1, ended_dim, RIG_DENSE, 4),
                      y = rig_values_make(OP_TYPE_F32, 2, each_dim, RIG_DENSE, 5),
                      all = rig_values_make(OP_TYPE_F32, 2, token_dim, RIG_DENSE, 5),
                      experts = integers(OP_TYPE_I32, 2, each_dim),
                      rows = integers(OP_TYPE_I32, 2, each_dim);
    for (int64_t i = 0; i < TOKENS * WIDTH; i++) { // all of a row differ
        rig_put_f(rig_tensor_at(&x, i), OP_TYPE_F32,
                  (float)(i * 8 % WIDTH) / 4 - (float)(i / WIDTH) / 8);
        rig_put_i(rig_tensor_at(&ended, i % TOKENS), OP_TYPE_BOOL, i % TOKENS == 4);
    }
    rig_tensor_put(&x);
    rig_tensor_put(&ended);
    double want[COUNT], after[COUNT], whole[TOKENS * WIDTH];
    int64_t expert[COUNT], row[COUNT];
    for (int64_t t = 0; t < TOKENS; t++) {
        softmax_of(&x, t, whole + t * WIDTH);
        take_largest(whole + t * WIDTH, t * EACH, want, expert);
        double sum = 0;
        for (int64_t k = 0; k < EACH; k++) {
            sum += want[t * EACH + k];
        }
        for (int64_t k = 0; k < EACH; k++) {
            after[t * EACH + k] = want[t * EACH + k] / sum;
            expert[t * EACH + k] = t == 4 ? WIDTH : expert[t * EACH + k];
            row[t * EACH + k] = k * TOKENS + t;
        }
    }
    const struct rig_bound bound = {.of_each = 2e-6};
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("MoeGatingTopKSoftmax", true, {"x", {.tensor = x.acl}},
                                  {"finished", {.tensor = ended.acl}}, {"k", {.integer = EACH}},
                                  {"y", {.tensor = y.acl}}, {"expert_idx", {.tensor = experts.acl}},
                                  {"row_idx", {.tensor = rows.acl}}),
                    0);
    rig_values_expect(&y, want, bound, "the largest of softmax");
    expect_numbers(&experts, expert, "their experts");
    expect_numbers(&rows, row, "numbers of rows");
    for (int renorm = 0; renorm < 2; renorm++) {
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED("MoeGatingTopKSoftmaxV2", true, {"x", {.tensor = x.acl}},
                          {"finished", {.tensor = ended.acl}}, {"k", {.integer = EACH}},
                          {"renorm", {.integer = renorm}}, {"softmaxFlag", {.integer = !renorm}},
                          {"y", {.tensor = y.acl}}, {"expert_idx", {.tensor = experts.acl}},
                          {"softmax_result", {.tensor = renorm ? NULL : all.acl}}),
            0);
        rig_values_expect(&y, renorm ? after : want, bound, "V2");
        expect_numbers(&experts, expert, "experts of V2");
    }
    rig_values_expect(&all, whole, bound, "softmax");
    rig_values_free((struct rig_tensor[]){x, ended, y, all, experts, rows}, 6, NULL, 0);
}

static void wrong_calls_are_refused(void)
{
    struct rig_tensor x = rig_values_make(OP_TYPE_F16, 2, token_dim, RIG_DENSE, 3),
                      experts = experts_of(OP_TYPE_I32),
                      places = integers(OP_TYPE_I32, 1, list_dim);
    CU_ASSERT_NOT_EQUAL(RIG_RUN_NAMED("MoeTokenPermute", false, {"tokens", {.tensor = x.acl}},
                                      {"indices", {.tensor = experts.acl}},
                                      {"permuteTokensOut", {.tensor = x.acl}},
                                      {"sortedIndicesOut", {.tensor = places.acl}}),
                        0);
    rig_values_free((struct rig_tensor[]){x, experts, places}, 3, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"tokens_go_to_experts_and_back", tokens_go_to_experts_and_back},
        {"rows_are_routed", rows_are_routed},
        {"experts_have_room_for_some_rows", experts_have_room_for_some_rows},
        {"what_experts_made_is_summed", what_experts_made_is_summed},
        {"gates_choose_experts", gates_choose_experts},
        {"wrong_calls_are_refused", wrong_calls_are_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_experts", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
