/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over packed sequences and its gradients against double on the host: empty sequences,
 * heads that share keys, masks, bands, shifts, dropout from any bit on, rotary parts. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCES = 4, HEADS = 4, KEY_HEADS = 2, FEATURES = 16, ROPE = 8, VALUES = 16, COPIES = 8 };
enum { TOKENS = 26, KEY_TOKENS = 31, LONGEST = 20, REST = 2 }; // REST: tokens behind the last end

static const int64_t q_ends[SEQUENCES] = {3, 3, 9, TOKENS - REST},
                     k_ends[SEQUENCES] = {5, 7, 13, KEY_TOKENS - REST};
static char layout[] = "TND", same[] = "same_as_input", none[] = "";

struct problem {
    const char *forward, *backward;
    enum op_type type;
    int64_t mode;
    bool mask, by_token, rope;
    int shift; /**< -1 none, else pseType */
    double keep;
};

struct call {
    struct rig_tensor q, k, v, q_rope, k_rope, dy, out, dq, dk, dv, dq_rope, dk_rope, max, sum,
        mask, shift, drop, none;
    aclIntArray *q_ends, *k_ends;
};

static struct rig_tensor tensor(const struct problem *p, int64_t tokens, int64_t heads,
                                int64_t features, uint64_t seed)
{
    const int64_t dim[] = {tokens, heads, features};
    return rig_tensor_eighths(p->type, 3, dim, seed % 2 ? RIG_SLICED : RIG_DENSE, seed);
}

static double at(const struct rig_tensor *t, int64_t index)
{
    return rig_get_d(rig_tensor_at(t, index), t->type);
}

static void make_planes(const struct problem *p, struct call *c)
{
    const int64_t square[] = {LONGEST, LONGEST}, plane[] = {SEQUENCES, HEADS, LONGEST, LONGEST},
                  columns[] = {TOKENS, HEADS, COPIES}, nothing[] = {0};
    const int64_t bytes[] = {(HEADS * (3 * 5 + 6 * 6 + 15 * 16) + 127) / 128 * 16};
    c->mask = rig_tensor_make(OP_TYPE_BOOL, 2, square, RIG_DENSE, 11);
    for (int64_t i = 0; i < LONGEST * LONGEST; i++) {
        rig_put_i(rig_tensor_at(&c->mask, i), OP_TYPE_BOOL, i % LONGEST && (i * 7 + 3) % 5 == 0);
    }
    rig_tensor_put(&c->mask);
    c->shift = rig_tensor_eighths(p->type, 4, plane, RIG_DENSE, 12);
    c->drop = rig_tensor_make(OP_TYPE_U8, 1, bytes, RIG_DENSE, 13);
    c->max = rig_tensor_make(OP_TYPE_F32, 3, columns, RIG_DENSE, 14);
    c->sum = rig_tensor_make(OP_TYPE_F32, 3, columns, RIG_DENSE, 15);
    c->none = rig_tensor_make(p->type, 1, nothing, RIG_DENSE, 16);
}

static struct call make(const struct problem *p)
{
    struct call c = {
        .q = tensor(p, TOKENS, HEADS, FEATURES, 1),
        .k = tensor(p, KEY_TOKENS, KEY_HEADS, FEATURES, 2),
        .v = tensor(p, KEY_TOKENS, KEY_HEADS, VALUES, 3),
        .q_rope = tensor(p, TOKENS, HEADS, ROPE, 4),
        .k_rope = tensor(p, KEY_TOKENS, KEY_HEADS, ROPE, 5),
        .dy = tensor(p, TOKENS, HEADS, VALUES, 6),
        .out = tensor(p, TOKENS, HEADS, VALUES, 8),
        .dq = tensor(p, TOKENS, HEADS, FEATURES, 8),
        .dk = tensor(p, KEY_TOKENS, KEY_HEADS, FEATURES, 8),
        .dv = tensor(p, KEY_TOKENS, KEY_HEADS, VALUES, 9),
        .dq_rope = tensor(p, TOKENS, HEADS, ROPE, 8),
        .dk_rope = tensor(p, KEY_TOKENS, KEY_HEADS, ROPE, 8),
        .q_ends = aclCreateIntArray(q_ends, SEQUENCES),
        .k_ends = aclCreateIntArray(k_ends, SEQUENCES),
    };
    make_planes(p, &c);
    return c;
}

static void end(struct call *c)
{
    struct rig_tensor *all[] = {&c->q,   &c->k,   &c->v,    &c->q_rope, &c->k_rope,  &c->dy,
                                &c->out, &c->dq,  &c->dk,   &c->dv,     &c->dq_rope, &c->dk_rope,
                                &c->max, &c->sum, &c->mask, &c->shift,  &c->drop,    &c->none};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rig_tensor_free(all[i]);
    }
    aclDestroyIntArray(c->q_ends);
    aclDestroyIntArray(c->k_ends);
}

/* The argument of a parameter of that name. */
static union op_test_arg argument(const struct problem *p, const struct call *c, const char *name)
{
    const struct {
        const char *name;
        union op_test_arg arg;
    } known[] = {
        {"query", {.tensor = c->q.acl}},
        {"key", {.tensor = c->k.acl}},
        {"keyIn", {.tensor = c->k.acl}},
        {"value", {.tensor = c->v.acl}},
        {"queryRope", {.tensor = p->rope ? c->q_rope.acl : NULL}},
        {"keyRope", {.tensor = p->rope ? c->k_rope.acl : NULL}},
        {"keyInRope", {.tensor = p->rope ? c->k_rope.acl : NULL}},
        {"dy", {.tensor = c->dy.acl}},
        {"realShiftOptional", {.tensor = p->shift >= 0 ? c->shift.acl : NULL}},
        {"pseShiftOptional", {.tensor = p->shift >= 0 ? c->shift.acl : NULL}},
        {"dropMaskOptional", {.tensor = p->keep < 1 ? c->drop.acl : NULL}},
        {"attenMaskOptional", {.tensor = p->mask ? c->mask.acl : NULL}},
        {"softmaxMaxOptional", {.tensor = c->max.acl}},
        {"softmaxSumOptional", {.tensor = c->sum.acl}},
        {"softmaxMaxOut", {.tensor = c->max.acl}},
        {"softmaxSumOut", {.tensor = c->sum.acl}},
        {"softmaxOutOut", {.tensor = c->none.acl}},
        {"softmaxInOptional", {.tensor = c->none.acl}},
        {"attentionInOptional", {.tensor = c->out.acl}},
        {"attentionOutOut", {.tensor = c->out.acl}},
        {"dpseOut", {.tensor = c->none.acl}},
        {"dqOut", {.tensor = c->dq.acl}},
        {"dkOut", {.tensor = c->dk.acl}},
        {"dvOut", {.tensor = c->dv.acl}},
        {"dqRopeOut", {.tensor = c->dq_rope.acl}},
        {"dkRopeOut", {.tensor = c->dk_rope.acl}},
        {"actualSeqQLenOptional", {.ints = c->q_ends}},
        {"actualSeqKvLenOptional", {.ints = c->k_ends}},
        {"scaleValue", {.real = 0.25}},
        {"keepProb", {.real = p->keep}},
        {"preTokens", {.integer = INT32_MAX}},
        {"nextTokens", {.integer = INT32_MAX}},
        {"headNum", {.integer = HEADS}},
        {"inputLayout", {.text = layout}},
        {"sparseMode", {.integer = p->mode}},
        {"pseType", {.integer = p->shift >= 0 ? p->shift : 1}},
        {"softmaxOutLayout", {.text = p->by_token ? same : none}},
        {"softmaxInLayout", {.text = p->by_token ? same : none}},
    };
    for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, name) == 0) {
            return known[i].arg;
        }
    }
    return (union op_test_arg){.integer = 0};
}

static aclnnStatus run(const struct problem *p, const struct call *c, const char *name, bool loud)
{
    union op_test_arg args[48];
    const struct op_test_row *row = rig_row(name);
    for (unsigned i = 0; i < row->param_count; i++) {
        args[i] = argument(p, c, row->params[i].name);
    }
    return rig_run(row, args, loud);
}

/* ---- on the host ---- */

struct sums {
    double out[TOKENS][HEADS][VALUES], dq[TOKENS][HEADS][FEATURES + ROPE];
    double dk[KEY_TOKENS][KEY_HEADS][FEATURES + ROPE], dv[KEY_TOKENS][KEY_HEADS][VALUES];
};

static double q_at(const struct problem *p, const struct call *c, int64_t t, int64_t n, int64_t d)
{
    return d < FEATURES ? at(&c->q, (t * HEADS + n) * FEATURES + d)
           : p->rope    ? at(&c->q_rope, (t * HEADS + n) * ROPE + d - FEATURES)
                        : 0;
}

static double k_at(const struct problem *p, const struct call *c, int64_t t, int64_t n, int64_t d)
{
    return d < FEATURES ? at(&c->k, (t * KEY_HEADS + n) * FEATURES + d)
           : p->rope    ? at(&c->k_rope, (t * KEY_HEADS + n) * ROPE + d - FEATURES)
                        : 0;
}

struct row_of {
    int64_t sequence, q, k, keys, i, n, queries, bit;
};

static bool sees(const struct problem *p, const struct call *c, const struct row_of *r, int64_t j)
{
    if (!p->mask) {
        return true;
    }
    return p->mode >= 2 ? j - r->i <= (p->mode == 3 ? r->keys - r->queries : 0)
                        : rig_get_i(rig_tensor_at(&c->mask, r->i * LONGEST + j), OP_TYPE_BOOL) == 0;
}

static double score(const struct problem *p, const struct call *c, const struct row_of *r,
                    int64_t j)
{
    double product = 0;
    for (int64_t d = 0; d < FEATURES + ROPE; d++) {
        product += q_at(p, c, r->q, r->n, d) * k_at(p, c, r->k + j, r->n * KEY_HEADS / HEADS, d);
    }
    const double shift =
        p->shift < 0 ? 0
                     : at(&c->shift, ((r->sequence * HEADS + r->n) * LONGEST + r->i) * LONGEST + j);
    return 0.25 * product + shift * (p->shift == 1 ? 0.25 : 1);
}

static double kept(const struct problem *p, const struct call *c, const struct row_of *r, int64_t j)
{
    const int64_t bit = r->bit + (r->n * r->queries + r->i) * r->keys + j;
    const bool keeps = *(uint8_t *)rig_tensor_at(&c->drop, bit / 8) >> (bit % 8) & 1;
    return p->keep == 1 ? 1 : keeps ? 1 / p->keep : 0;
}

/* A query of a head: its output, and what it adds to the gradients. */
static void add_row(const struct problem *p, const struct call *c, const struct row_of *r,
                    struct sums *s)
{
    const int64_t m = r->n * KEY_HEADS / HEADS;
    double weight[LONGEST], slope[LONGEST], most = -1e30, total = 0, mean = 0;
    for (int64_t j = 0; j < r->keys; j++) {
        weight[j] = sees(p, c, r, j) ? score(p, c, r, j) : -1e30;
        most = fmax(most, weight[j]);
    }
    for (int64_t j = 0; j < r->keys; j++) {
        weight[j] = exp(weight[j] - most);
        total += weight[j];
    }
    for (int64_t j = 0; j < r->keys; j++) {
        weight[j] /= total;
        slope[j] = 0;
        for (int64_t d = 0; d < VALUES; d++) {
            const double v = at(&c->v, ((r->k + j) * KEY_HEADS + m) * VALUES + d),
                         dy = at(&c->dy, (r->q * HEADS + r->n) * VALUES + d);
            s->out[r->q][r->n][d] += weight[j] * kept(p, c, r, j) * v;
            s->dv[r->k + j][m][d] += weight[j] * kept(p, c, r, j) * dy;
            slope[j] += dy * v * kept(p, c, r, j);
        }
        mean += slope[j] * weight[j];
    }
    for (int64_t j = 0; j < r->keys; j++) {
        const double g = weight[j] * (slope[j] - mean) * 0.25;
        for (int64_t d = 0; d < FEATURES + ROPE; d++) {
            s->dq[r->q][r->n][d] += g * k_at(p, c, r->k + j, m, d);
            s->dk[r->k + j][m][d] += g * q_at(p, c, r->q, r->n, d);
        }
    }
}

static void compute(const struct problem *p, const struct call *c, struct sums *s)
{
    struct row_of r = {0};
    int64_t q_begin = 0;
    memset(s, 0, sizeof(*s));
    for (r.sequence = 0; r.sequence < SEQUENCES; r.sequence++) {
        r.queries = q_ends[r.sequence] - q_begin;
        r.keys = k_ends[r.sequence] - r.k;
        for (r.n = 0; r.n < HEADS; r.n++) {
            for (r.i = 0; r.i < r.queries; r.i++) {
                r.q = q_begin + r.i;
                add_row(p, c, &r, s);
            }
        }
        r.bit += HEADS * r.queries * r.keys;
        q_begin = q_ends[r.sequence];
        r.k = k_ends[r.sequence];
    }
}

/* ---- comparison ---- */

static void expect(const struct problem *p, struct rig_tensor *got, const double *want,
                   int64_t features, int64_t of, int64_t first, const char *what)
{
    const double most = p->type == OP_TYPE_F32 ? 1e-4 : p->type == OP_TYPE_F16 ? 1e-2 : 6e-2;
    rig_tensor_take(got);
    for (int64_t i = 0; i < rig_tensor_count(got); i++) {
        const double is = at(got, i), must = want[i / features * of + first + i % features];
        if (!(fabs(is - must) <= most * (1 + fabs(must)))) {
            fprintf(stderr, "%s of %s, %s: element %lld is %.9g, it must be %.9g\n", what,
                    p->backward, rig_type_name(p->type), (long long)i, is, must);
            CU_FAIL("differs");
            return;
        }
    }
}

static void try_one(const struct problem *p)
{
    struct call c = make(p);
    struct sums *s = malloc(sizeof(*s));
    compute(p, &c, s);
    CU_ASSERT_EQUAL(run(p, &c, p->forward, true), 0);
    expect(p, &c.out, &s->out[0][0][0], VALUES, VALUES, 0, "output");
    CU_ASSERT_EQUAL(run(p, &c, p->backward, true), 0);
    expect(p, &c.dq, &s->dq[0][0][0], FEATURES, FEATURES + ROPE, 0, "dq");
    expect(p, &c.dk, &s->dk[0][0][0], FEATURES, FEATURES + ROPE, 0, "dk");
    expect(p, &c.dv, &s->dv[0][0][0], VALUES, VALUES, 0, "dv");
    if (p->rope) {
        expect(p, &c.dq_rope, &s->dq[0][0][0], ROPE, FEATURES + ROPE, FEATURES, "dq of rope");
        expect(p, &c.dk_rope, &s->dk[0][0][0], ROPE, FEATURES + ROPE, FEATURES, "dk of rope");
    }
    free(s);
    end(&c);
}

#define V1 "FlashAttentionVarLenScore", "FlashAttentionUnpaddingScoreGrad"
#define V2 "FlashAttentionVarLenScoreV2", "FlashAttentionUnpaddingScoreGradV2"
#define V3 "FlashAttentionVarLenScoreV3", "FlashAttentionUnpaddingScoreGradV3"
#define V4 "FlashAttentionVarLenScoreV4", "FlashAttentionUnpaddingScoreGradV4"

static void sequences_stand_alone(void)
{
    static const struct problem problems[] = {
        {V1, OP_TYPE_F32, .shift = -1, .keep = 1},
        {V1, OP_TYPE_BF16, .shift = -1, .keep = 1, .mask = true, .mode = 3},
        {V1, OP_TYPE_F16, .shift = -1, .keep = 1, .mask = true, .mode = 2},
        {V1, OP_TYPE_F32, .shift = 1, .keep = 1, .mask = true, .mode = 0},
        {V1, OP_TYPE_F32, .shift = -1, .keep = 0.75},
        {V1, OP_TYPE_F32, .shift = -1, .keep = 1, .mode = 3}, // a mode without a mask is none
        {V2, OP_TYPE_F32, .shift = 0, .keep = 1, .mask = true, .mode = 1},
        {V2, OP_TYPE_F16, .shift = 1, .keep = 0.75},
        {V3, OP_TYPE_F32, .shift = -1, .keep = 1, .rope = true},
        {V3, OP_TYPE_BF16, .shift = 0, .keep = 1, .rope = true, .mask = true, .mode = 3},
        {V4, OP_TYPE_F32, .shift = -1, .keep = 1, .by_token = true},
        {V4, OP_TYPE_BF16, .shift = -1, .keep = 0.5, .by_token = true, .mask = true, .mode = 3},
    };
    for (unsigned i = 0; i < sizeof(problems) / sizeof(problems[0]) && rig_chip() == 1; i++) {
        try_one(&problems[i]);
    }
}

/* softmaxMax of the two layouts: heads before queries in each sequence, or as the queries lie. */
static void columns_lie_as_asked(void)
{
    const struct problem by_head = {V4, OP_TYPE_F32, .shift = -1, .keep = 1},
                         by_token = {V4, OP_TYPE_F32, .shift = -1, .keep = 1, .by_token = true};
    if (rig_chip() == 0) {
        return;
    }
    struct call a = make(&by_head), b = make(&by_token);
    CU_ASSERT_EQUAL(run(&by_head, &a, by_head.forward, true), 0);
    CU_ASSERT_EQUAL(run(&by_token, &b, by_token.forward, true), 0);
    rig_tensor_take(&a.max);
    rig_tensor_take(&b.max);
    for (int64_t i = 3; i < 9; i++) { // the third sequence
        for (int64_t n = 0; n < HEADS; n++) {
            const int64_t head_first = 3 * HEADS + n * 6 + i - 3, token_first = i * HEADS + n;
            CU_ASSERT_EQUAL(at(&a.max, head_first * COPIES), at(&b.max, token_first * COPIES));
        }
    }
    end(&a);
    end(&b);
}

static void what_does_not_fit_is_refused(void)
{
    const int64_t backwards[] = {5, 3, 9, 10};
    const struct problem p = {V1, OP_TYPE_F16, .shift = -1, .keep = 1},
                         slopes = {V2, OP_TYPE_F16, .shift = 2, .keep = 1};
    struct call c = make(&p);
    if (rig_chip() == 0) {
        CU_ASSERT_EQUAL(run(&p, &c, p.forward, false), 161002);
    } else {
        CU_ASSERT_NOT_EQUAL(run(&slopes, &c, slopes.forward, false), 0);
    }
    aclDestroyIntArray(c.q_ends);
    c.q_ends = aclCreateIntArray(backwards, SEQUENCES);
    CU_ASSERT_EQUAL(run(&p, &c, p.forward, false), 161002);
    end(&c);
}

/* V2 of rows that are not packed: one sequence of all tokens. */
static void a_shift_may_come_after_the_scale(void)
{
    static char bsnd[] = "BSND";
    const int64_t dim[] = {1, 5, HEADS, FEATURES}, plane[] = {1, HEADS, 5, 5},
                  columns[] = {1, HEADS, 5, COPIES};
    struct rig_tensor q = rig_tensor_eighths(OP_TYPE_F32, 4, dim, RIG_DENSE, 1),
                      k = rig_tensor_eighths(OP_TYPE_F32, 4, dim, RIG_DENSE, 2),
                      v = rig_tensor_eighths(OP_TYPE_F32, 4, dim, RIG_DENSE, 3),
                      shift = rig_tensor_eighths(OP_TYPE_F32, 4, plane, RIG_DENSE, 4),
                      out = rig_tensor_eighths(OP_TYPE_F32, 4, dim, RIG_DENSE, 5),
                      max = rig_tensor_make(OP_TYPE_F32, 4, columns, RIG_DENSE, 6),
                      sum = rig_tensor_make(OP_TYPE_F32, 4, columns, RIG_DENSE, 7);
    for (int64_t type = 0; type < 2 && rig_chip() == 1; type++) {
        const union op_test_arg args[] = {
            {.tensor = q.acl},   {.tensor = k.acl},  {.tensor = v.acl},  {.tensor = shift.acl},
            {.tensor = NULL},    {.tensor = NULL},   {.tensor = NULL},   {.ints = NULL},
            {.ints = NULL},      {.ints = NULL},     {.real = 0.25},     {.real = 1},
            {.integer = 65536},  {.integer = 65536}, {.integer = HEADS}, {.text = bsnd},
            {.integer = 0},      {.integer = 0},     {.integer = type},  {.tensor = max.acl},
            {.tensor = sum.acl}, {.tensor = NULL},   {.tensor = out.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("FlashAttentionScoreV2"), args, true), 0);
        rig_tensor_take(&out);
        for (int64_t row = 0; row < 5 * HEADS; row++) {
            const int64_t i = row / HEADS, n = row % HEADS;
            double total = 0, sums[FEATURES] = {0};
            for (int64_t j = 0; j < 5; j++) {
                double product = 0;
                for (int64_t d = 0; d < FEATURES; d++) {
                    product += at(&q, row * FEATURES + d) * at(&k, (j * HEADS + n) * FEATURES + d);
                }
                const double s = at(&shift, (n * 5 + i) * 5 + j),
                             w = exp(0.25 * product + s * (type ? 0.25 : 1));
                total += w;
                for (int64_t d = 0; d < FEATURES; d++) {
                    sums[d] += w * at(&v, (j * HEADS + n) * FEATURES + d);
                }
            }
            for (int64_t d = 0; d < FEATURES; d++) {
                CU_ASSERT_DOUBLE_EQUAL(at(&out, row * FEATURES + d), sums[d] / total, 1e-4);
            }
        }
    }
    struct rig_tensor *all[] = {&q, &k, &v, &shift, &out, &max, &sum};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rig_tensor_free(all[i]);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"sequences_stand_alone", sequences_stand_alone},
        {"columns_lie_as_asked", columns_lie_as_asked},
        {"what_does_not_fit_is_refused", what_does_not_fit_is_refused},
        {"a_shift_may_come_after_the_scale", a_shift_may_come_after_the_scale},
    };
    rig_open();
    const int code = leo_test_main("aclnn_attention_packed", tests,
                                   sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
