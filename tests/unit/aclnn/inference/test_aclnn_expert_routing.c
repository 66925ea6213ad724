/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in the order of active experts, or in so many slots for each, as they are or quantised:
 * against plain loops on the host. */
#include "rig_bytes.h"
#include "rig_named.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 11, EACH = 3, COUNT = TOKENS * EACH, WIDTH = 20, EXPERTS = 16, NOT_SEEN = -77 };
enum { PLAIN = -1, STATIC, DYNAMIC };
enum { ENDS, COUNTS, PAIRS };

struct way {
    enum op_type type;
    int mode, kind, row_kind;
    int64_t room, first, end, factors; /* slots of an expert, 0: none; rows of scale, 0: none */
};

/* What is expected; rows that nothing is said of are not looked at. */
struct want {
    int64_t made, rows[COUNT], from[COUNT * EXPERTS], numbers[EXPERTS][2];
    double *values, *scales;
    bool scaled;
};

static int64_t expert_of(int64_t i)
{
    return i * 7 % 13;
}

static double factor_of(const struct way *way, const struct rig_tensor *scale, int64_t expert,
                        int64_t column)
{
    const int64_t row = way->factors == 1 ? 0 : expert - way->first;
    return way->mode == DYNAMIC && way->factors ? rig_values_at(scale, row * WIDTH + column) : 1;
}

static void put_row(const struct way *way, struct want *want, const struct rig_tensor *x,
                    const struct rig_tensor *scale, int64_t to, int64_t i)
{
    want->from[to] = i;
    for (int64_t c = 0; c < WIDTH; c++) {
        want->values[to * WIDTH + c] =
            rig_values_at(x, i / EACH * WIDTH + c) * factor_of(way, scale, expert_of(i), c);
    }
    if (way->mode == PLAIN && way->factors) {
        want->scales[to] = rig_values_at(scale, i / EACH);
    }
}

// Where rows go, and how many each expert has before its slots are full.
static void route(const struct way *way, struct want *want, const struct rig_tensor *x,
                  const struct rig_tensor *scale)
{
    int64_t place = 0, pair = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        want->rows[i] = -1;
    }
    for (int64_t i = 0; i < COUNT * EXPERTS; i++) {
        want->from[i] = NOT_SEEN;
    }
    for (int64_t e = way->first; e < way->end; e++) {
        int64_t have = 0;
        for (int64_t i = 0; i < COUNT; i++) {
            if (expert_of(i) != e) {
                continue;
            }
            const int64_t to = way->room ? (e - way->first) * way->room + have : place;
            if (!way->room || have < way->room) {
                put_row(way, want, x, scale, to, i);
                want->rows[i] = to;
            }
            have++;
            place++;
        }
        if (way->kind != PAIRS) {
            want->numbers[e - way->first][0] = way->kind == ENDS ? place : have;
        } else if (have) {
            want->numbers[pair][0] = e;
            want->numbers[pair++][1] = have;
        }
    }
    want->made = way->room ? (way->end - way->first) * way->room : place;
}

// Rows in the order of their experts; those before the first active one are behind all.
static void sort_rows(const struct way *way, struct want *want)
{
    int64_t n = 0;
    for (int64_t e = way->first; e <= EXPERTS; e++) {
        for (int64_t i = 0; i < COUNT; i++) {
            const int64_t expert = expert_of(i) < way->first ? EXPERTS : expert_of(i);
            if (expert == e) {
                want->rows[n++] = i;
            }
        }
    }
}

static void expect_numbers(const struct way *way, struct rig_tensor *numbers,
                           const struct want *want)
{
    int64_t list[2 * EXPERTS];
    const int64_t experts = way->end - way->first, width = way->kind == PAIRS ? 2 : 1;
    for (int64_t i = 0; i < experts * width; i++) {
        list[i] = want->numbers[i / width][i % width];
    }
    rig_expect_integers(numbers, list, experts * width, "rows of experts");
}

static double step_of(const struct way *way, const struct rig_tensor *scale,
                      const struct rig_tensor *offset, double value)
{
    const double byte = rint(value * rig_values_at(scale, 0) + rig_values_at(offset, 0));
    return way->mode == STATIC ? fmin(fmax(byte, -128), 127) : value;
}

static void expect_rows(const struct way *way, struct rig_tensor *out, struct rig_tensor *scales,
                        struct want *want, const struct rig_tensor *scale,
                        const struct rig_tensor *offset)
{
    if (way->mode == DYNAMIC) {
        rig_bytes_rows(want->made, WIDTH, want->values, want->scales, NULL);
    }
    rig_tensor_take(out);
    rig_tensor_take(scales);
    for (int64_t i = 0; i < want->made; i++) {
        const bool empty = want->from[i] == NOT_SEEN;
        for (int64_t c = 0; c < WIDTH; c++) {
            const double expected =
                             empty ? 0 : step_of(way, scale, offset, want->values[i * WIDTH + c]),
                         got = rig_values_at(out, i * WIDTH + c);
            CU_ASSERT_TRUE(fabs(got - expected) <= (way->mode == PLAIN || empty ? 0 : 1));
        }
        if (want->scaled && !empty) {
            CU_ASSERT_DOUBLE_EQUAL(rig_values_at(scales, i), want->scales[i], 1e-6);
        }
    }
}

struct tensors {
    struct rig_tensor x, experts, scale, offset, out, rows, numbers, scales;
};

static struct tensors make(const struct way *way, bool old)
{
    const int64_t active = way->end - way->first, x_dim[] = {TOKENS, WIDTH},
                  each_dim[] = {TOKENS, EACH}, slots[] = {active, way->room, WIDTH},
                  rows[] = {COUNT, WIDTH}, list[] = {COUNT}, numbers[] = {active, 2},
                  factors[] = {way->factors, WIDTH}, one[] = {1},
                  made[] = {way->room ? active * way->room : COUNT};
    struct tensors t = {
        .x = rig_values_make(way->type, 2, x_dim, RIG_PERMUTED, 3),
        .experts = rig_tensor_make(OP_TYPE_I32, 2, each_dim, RIG_DENSE, 4),
        .scale =
            way->mode == DYNAMIC && way->factors
                ? rig_values_make(OP_TYPE_F32, 2, factors, RIG_DENSE, 5)
                : rig_values_make(OP_TYPE_F32, 1, way->mode == STATIC ? one : x_dim, RIG_DENSE, 5),
        .offset = rig_values_make(OP_TYPE_F32, 1, one, RIG_DENSE, 6),
        .out = rig_tensor_make(way->mode == PLAIN ? way->type : OP_TYPE_I8, way->room ? 3 : 2,
                               way->room ? slots : rows, RIG_DENSE, 6),
        .rows = rig_tensor_make(OP_TYPE_I32, 1, list, RIG_DENSE, 7),
        .numbers = rig_tensor_make(old ? OP_TYPE_I32 : OP_TYPE_I64, way->kind == PAIRS ? 2 : 1,
                                   numbers, RIG_DENSE, 8),
        .scales = rig_values_make(OP_TYPE_F32, 1, made, RIG_DENSE, 9),
    };
    for (int64_t i = 0; i < COUNT; i++) {
        rig_put_i(rig_tensor_at(&t.experts, i), OP_TYPE_I32, expert_of(i));
    }
    rig_tensor_put(&t.experts);
    return t;
}

static int run_third(const struct way *way, struct tensors *t)
{
    const int64_t range[] = {way->first, way->end};
    aclIntArray *array = aclCreateIntArray(range, 2);
    const int status = RIG_RUN_NAMED(
        "MoeInitRoutingV3", true, {"x", {.tensor = t->x.acl}},
        {"expertIdx", {.tensor = t->experts.acl}},
        {"scaleOptional", {.tensor = way->factors ? t->scale.acl : NULL}},
        {"offsetOptional", {.tensor = way->mode == STATIC ? t->offset.acl : NULL}},
        {"activeNum", {.integer = COUNT}}, {"expertCapacity", {.integer = way->room}},
        {"expertNum", {.integer = EXPERTS}}, {"dropPadMode", {.integer = way->room != 0}},
        {"expertTokensNumType", {.integer = way->kind}}, {"expertTokensNumFlag", {.integer = 1}},
        {"quantMode", {.integer = way->mode}}, {"activeExpertRangeOptional", {.ints = array}},
        {"rowIdxType", {.integer = way->row_kind}}, {"expandedXOut", {.tensor = t->out.acl}},
        {"expandedRowIdxOut", {.tensor = t->rows.acl}},
        {"expertTokensCountOrCumsumOut", {.tensor = t->numbers.acl}},
        {"expandedScaleOut", {.tensor = t->scales.acl}});
    CU_ASSERT_EQUAL(aclDestroyIntArray(array), 0);
    return status;
}

static int run_old(const struct way *way, struct tensors *t)
{
    return RIG_RUN_NAMED(
        "MoeInitRoutingQuantV2", true, {"x", {.tensor = t->x.acl}},
        {"expert_idx", {.tensor = t->experts.acl}},
        {"p_scale", {.tensor = way->factors ? t->scale.acl : NULL}},
        {"p_offset", {.tensor = way->mode == STATIC ? t->offset.acl : NULL}},
        {"expert_capacity", {.integer = way->room}}, {"expert_num", {.integer = way->end}},
        {"drop_pad_mode", {.integer = way->room != 0}},
        {"expert_tokens_num_mode", {.integer = way->kind + 1}},
        {"expert_tokens_before_capacity_flag", {.integer = 1}},
        {"quant_mode", {.integer = way->mode}}, {"expanded_x", {.tensor = t->out.acl}},
        {"expanded_row_idx", {.tensor = t->rows.acl}},
        {"expert_token_cumsum_or_count", {.tensor = way->room ? NULL : t->numbers.acl}},
        {"expert_tokens_before_capacity", {.tensor = way->room ? t->numbers.acl : NULL}},
        {"expanded_scale", {.tensor = way->mode == DYNAMIC ? t->scales.acl : NULL}});
}

static void check(const struct way *way, bool old)
{
    struct tensors t = make(way, old);
    struct want want = {.values = rig_values_zeros(COUNT * EXPERTS * WIDTH),
                        .scales = rig_values_zeros(COUNT * EXPERTS),
                        .scaled = way->mode == DYNAMIC || (way->mode == PLAIN && way->factors)};
    route(way, &want, &t.x, &t.scale);
    if (way->row_kind == 1) {
        sort_rows(way, &want);
    }
    CU_ASSERT_EQUAL(old ? run_old(way, &t) : run_third(way, &t), 0);
    rig_expect_integers(&t.rows, want.rows, COUNT, "where rows went, or came from");
    expect_numbers(way, &t.numbers, &want);
    expect_rows(way, &t.out, &t.scales, &want, &t.scale, &t.offset);
    double *lists[] = {want.values, want.scales};
    rig_values_free((struct rig_tensor[]){t.x, t.experts, t.scale, t.offset, t.out, t.rows,
                                          t.numbers, t.scales},
                    8, lists, 2);
}

static void active_experts_get_their_rows(void)
{
    static const struct way ways[] = {
        {OP_TYPE_F16, PLAIN, ENDS, 0, 0, 4, 9, 1},
        {OP_TYPE_F32, PLAIN, PAIRS, 1, 0, 4, 16, 0},
        {OP_TYPE_I8, PLAIN, COUNTS, 1, 0, 0, 16, 1},
        {OP_TYPE_BF16, DYNAMIC, COUNTS, 0, 0, 4, 9, 0},
        {OP_TYPE_F16, DYNAMIC, PAIRS, 1, 0, 4, 9, 5},
        {OP_TYPE_F32, DYNAMIC, ENDS, 1, 0, 4, 9, 1},
        {OP_TYPE_F16, STATIC, COUNTS, 0, 0, 2, 13, 1},
        {OP_TYPE_F32, PLAIN, COUNTS, 0, 2, 0, 16, 1},
        {OP_TYPE_I8, PLAIN, COUNTS, 0, 4, 0, 16, 0},
        {OP_TYPE_F16, DYNAMIC, COUNTS, 0, 2, 0, 16, 16},
        {OP_TYPE_F32, STATIC, COUNTS, 0, 2, 0, 16, 1},
    };
    for (unsigned i = 0; rig_chip() == 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        check(&ways[i], false);
    }
}

static void rows_are_quantised_on_their_way(void)
{
    static const struct way ways[] = {
        {OP_TYPE_F16, STATIC, COUNTS, 0, 0, 0, 16, 1},
        {OP_TYPE_F32, DYNAMIC, ENDS, 0, 0, 0, 16, 0},
        {OP_TYPE_BF16, DYNAMIC, COUNTS, 0, 2, 0, 16, 16},
        {OP_TYPE_F16, STATIC, COUNTS, 0, 3, 0, 16, 1},
    };
    for (unsigned i = 0; rig_chip() == 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        check(&ways[i], true);
    }
}

static void what_does_not_fit_is_refused(void)
{
    const struct way good = {OP_TYPE_F16, DYNAMIC, COUNTS, 0, 0, 0, 16, 0};
    if (rig_chip() != 1) {
        return;
    }
    struct way ways[] = {good, good, good, good};
    ways[0].mode = 3;
    ways[1].kind = 3;
    ways[2].room = 2;
    ways[2].row_kind = 1;
    ways[3].mode = STATIC; /* without scale */
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct tensors t = make(&ways[i], false);
        CU_ASSERT_NOT_EQUAL(run_third(&ways[i], &t), 0);
        rig_values_free((struct rig_tensor[]){t.x, t.experts, t.scale, t.offset, t.out, t.rows,
                                              t.numbers, t.scales},
                        8, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"active_experts_get_their_rows", active_experts_get_their_rows},
        {"rows_are_quantised_on_their_way", rows_are_quantised_on_their_way},
        {"what_does_not_fit_is_refused", what_does_not_fit_is_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_expert_routing", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
