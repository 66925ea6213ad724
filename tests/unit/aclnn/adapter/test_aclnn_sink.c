/* SPDX-License-Identifier: Apache-2.0 */
/* Attention with a sink, one score more for each head, and its gradients: against double on the
 * host. Tensors are [tokens, heads, features], sequence behind sequence; a batch of equal
 * sequences lies the same way. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <string.h>

enum { HEADS = 4, GROUP = 2, KEY_HEADS = HEADS / GROUP, WIDTH = 16, EIGHT = 8, MOST = 16 };
enum { Q = MOST * HEADS * WIDTH, K = MOST * KEY_HEADS * WIDTH };

static const double scale = 0.25;

/* Sequences: where each ends. */
struct lengths {
    int64_t q[3], k[3];
    unsigned count;
};

struct problem {
    struct rig_tensor q, k, v, dy, sink, max, sum, out, dq, dk, dv, dsink;
};

struct reference {
    double out[Q], dq[Q], dk[K], dv[K], dsink[HEADS];
};

static int64_t at(int64_t token, int64_t head, int64_t heads)
{
    return (token * heads + head) * WIDTH;
}

static double dot(const struct rig_tensor *a, int64_t i, const struct rig_tensor *b, int64_t j)
{
    double sum = 0;
    for (int64_t d = 0; d < WIDTH; d++) {
        sum += rig_values_at(a, i + d) * rig_values_at(b, j + d);
    }
    return sum;
}

/* One query of one head over keys [begin, end). */
static void attend(const struct problem *p, int64_t token, int64_t head, int64_t begin, int64_t end,
                   struct reference *r)
{
    const int64_t i = at(token, head, HEADS);
    double weight[MOST], slope[MOST], sink = exp(rig_values_at(&p->sink, head)), sum = sink,
                                      mean = 0;
    for (int64_t t = begin; t < end; t++) {
        weight[t] = exp(scale * dot(&p->q, i, &p->k, at(t, head / GROUP, KEY_HEADS)));
        sum += weight[t];
    }
    for (int64_t t = begin; t < end; t++) {
        const int64_t j = at(t, head / GROUP, KEY_HEADS);
        weight[t] /= sum;
        slope[t] = dot(&p->dy, i, &p->v, j);
        mean += weight[t] * slope[t];
        for (int64_t d = 0; d < WIDTH; d++) {
            r->out[i + d] += weight[t] * rig_values_at(&p->v, j + d);
            r->dv[j + d] += weight[t] * rig_values_at(&p->dy, i + d);
        }
    }
    for (int64_t t = begin; t < end; t++) {
        const int64_t j = at(t, head / GROUP, KEY_HEADS);
        const double g = scale * weight[t] * (slope[t] - mean);
        for (int64_t d = 0; d < WIDTH; d++) {
            r->dq[i + d] += g * rig_values_at(&p->k, j + d);
            r->dk[j + d] += g * rig_values_at(&p->q, i + d);
        }
    }
    r->dsink[head] -= sink / sum * mean;
}

static void refer(const struct problem *p, const struct lengths *l, struct reference *r)
{
    int64_t token = 0, begin = 0;
    memset(r, 0, sizeof(*r));
    for (unsigned s = 0; s < l->count; begin = l->k[s++]) {
        for (; token < l->q[s]; token++) {
            for (int64_t head = 0; head < HEADS; head++) {
                attend(p, token, head, begin, l->k[s], r);
            }
        }
    }
}

static struct problem make(enum op_type type, unsigned rank, const int64_t *q, const int64_t *k,
                           unsigned sum_rank, const int64_t *sums)
{
    const int64_t heads[] = {HEADS};
    return (struct problem){
        rig_tensor_eighths(type, rank, q, RIG_DENSE, 1),
        rig_tensor_eighths(type, rank, k, RIG_DENSE, 2),
        rig_tensor_eighths(type, rank, k, RIG_DENSE, 3),
        rig_tensor_eighths(type, rank, q, RIG_DENSE, 4),
        rig_tensor_eighths(OP_TYPE_F32, 1, heads, RIG_DENSE, 5),
        rig_values_make(OP_TYPE_F32, sum_rank, sums, RIG_DENSE, 6),
        rig_values_make(OP_TYPE_F32, sum_rank, sums, RIG_DENSE, 7),
        rig_values_make(type, rank, q, RIG_DENSE, 8),
        rig_values_make(type, rank, q, RIG_DENSE, 9),
        rig_values_make(type, rank, k, RIG_DENSE, 10),
        rig_values_make(type, rank, k, RIG_DENSE, 11),
        rig_values_make(OP_TYPE_F32, 1, heads, RIG_DENSE, 12),
    };
}

static void expect(struct problem *p, const struct reference *r)
{
    /* f16 weights on the way, and an attention that is rounded before the sink is in it */
    const double part = p->q.type == OP_TYPE_F32 ? 2e-4 : 4e-3;
    const struct rig_bound near = {.of_largest = part, .roundings = 2};
    rig_values_expect(&p->out, r->out, near, "attention");
    rig_values_expect(&p->dq, r->dq, near, "gradient by the query");
    rig_values_expect(&p->dk, r->dk, near, "gradient by the key");
    rig_values_expect(&p->dv, r->dv, near, "gradient by the value");
    rig_values_expect(&p->dsink, r->dsink, near, "gradient by the sink");
}

static void end(struct problem *p)
{
    struct rig_tensor all[] = {p->q,   p->k,   p->v,  p->dy, p->sink, p->max,
                               p->sum, p->out, p->dq, p->dk, p->dv,   p->dsink};
    rig_values_free(all, 12, NULL, 0);
}

static void batch(enum op_type type)
{
    static char bsnd[] = "BSND";
    const int64_t q[] = {2, 5, HEADS, WIDTH}, k[] = {2, 7, KEY_HEADS, WIDTH},
                  sums[] = {2, HEADS, 5, EIGHT};
    const struct lengths lengths = {{5, 10}, {7, 14}, 2};
    struct problem p = make(type, 4, q, k, 4, sums);
    struct reference r;
    refer(&p, &lengths, &r);
    aclnnStatus code = RIG_RUN_NAMED(
        "FlashAttentionScoreV3", rig_chip() == 1, {"query", {.tensor = p.q.acl}},
        {"key", {.tensor = p.k.acl}}, {"value", {.tensor = p.v.acl}},
        {"sinkOptional", {.tensor = p.sink.acl}}, {"scaleValue", {.real = scale}},
        {"keepProb", {.real = 1}}, {"preTokens", {.integer = 1000}},
        {"nextTokens", {.integer = 1000}}, {"headNum", {.integer = HEADS}},
        {"inputLayout", {.text = bsnd}}, {"pseType", {.integer = 1}},
        {"softmaxMaxOut", {.tensor = p.max.acl}}, {"softmaxSumOut", {.tensor = p.sum.acl}},
        {"attentionOutOut", {.tensor = p.out.acl}});
    CU_ASSERT_EQUAL(code == 0, rig_chip() == 1);
    code =
        RIG_RUN_NAMED("FlashAttentionScoreGradV3", rig_chip() == 1, {"query", {.tensor = p.q.acl}},
                      {"keyIn", {.tensor = p.k.acl}}, {"value", {.tensor = p.v.acl}},
                      {"dy", {.tensor = p.dy.acl}}, {"softmaxMaxOptional", {.tensor = p.max.acl}},
                      {"softmaxSumOptional", {.tensor = p.sum.acl}},
                      {"attentionInOptional", {.tensor = p.out.acl}},
                      {"sinkInOptional", {.tensor = p.sink.acl}}, {"scaleValue", {.real = scale}},
                      {"keepProb", {.real = 1}}, {"preTokens", {.integer = 1000}},
                      {"nextTokens", {.integer = 1000}}, {"headNum", {.integer = HEADS}},
                      {"inputLayout", {.text = bsnd}}, {"pseType", {.integer = 1}},
                      {"dqOut", {.tensor = p.dq.acl}}, {"dkOut", {.tensor = p.dk.acl}},
                      {"dvOut", {.tensor = p.dv.acl}}, {"dsinkOut", {.tensor = p.dsink.acl}});
    CU_ASSERT_EQUAL(code == 0, rig_chip() == 1);
    if (code == 0) {
        expect(&p, &r);
    }
    end(&p);
}

static void batches_have_sinks(void)
{
    batch(OP_TYPE_F32);
    batch(OP_TYPE_F16);
}

static void packed(enum op_type type, char *layout)
{
    static char tnd[] = "TND";
    const int64_t q[] = {11, HEADS, WIDTH}, k[] = {13, KEY_HEADS, WIDTH},
                  sums[] = {11, HEADS, EIGHT};
    const struct lengths l = {{3, 4, 11}, {2, 7, 13}, 3};
    struct problem p = make(type, 3, q, k, 3, sums);
    struct reference r;
    refer(&p, &l, &r);
    aclIntArray *q_ends = aclCreateIntArray(l.q, 3), *k_ends = aclCreateIntArray(l.k, 3);
    aclnnStatus code = RIG_RUN_NAMED(
        "FlashAttentionVarLenScoreV5", rig_chip() == 1, {"query", {.tensor = p.q.acl}},
        {"key", {.tensor = p.k.acl}}, {"value", {.tensor = p.v.acl}},
        {"sinkOptional", {.tensor = p.sink.acl}}, {"actualSeqQLenOptional", {.ints = q_ends}},
        {"actualSeqKvLenOptional", {.ints = k_ends}}, {"scaleValue", {.real = scale}},
        {"keepProb", {.real = 1}}, {"preTokens", {.integer = 1000}},
        {"nextTokens", {.integer = 1000}}, {"headNum", {.integer = HEADS}},
        {"inputLayout", {.text = tnd}}, {"pseType", {.integer = 1}},
        {"softmaxOutLayout", {.text = layout}}, {"softmaxMaxOut", {.tensor = p.max.acl}},
        {"softmaxSumOut", {.tensor = p.sum.acl}}, {"attentionOutOut", {.tensor = p.out.acl}});
    CU_ASSERT_EQUAL(code == 0, rig_chip() == 1);
    code = RIG_RUN_NAMED(
        "FlashAttentionUnpaddingScoreGradV5", rig_chip() == 1, {"query", {.tensor = p.q.acl}},
        {"keyIn", {.tensor = p.k.acl}}, {"value", {.tensor = p.v.acl}},
        {"dy", {.tensor = p.dy.acl}}, {"softmaxMaxOptional", {.tensor = p.max.acl}},
        {"softmaxSumOptional", {.tensor = p.sum.acl}},
        {"attentionInOptional", {.tensor = p.out.acl}}, {"sinkInOptional", {.tensor = p.sink.acl}},
        {"actualSeqQLenOptional", {.ints = q_ends}}, {"actualSeqKvLenOptional", {.ints = k_ends}},
        {"scaleValue", {.real = scale}}, {"keepProb", {.real = 1}},
        {"preTokens", {.integer = 1000}}, {"nextTokens", {.integer = 1000}},
        {"headNum", {.integer = HEADS}}, {"inputLayout", {.text = tnd}},
        {"pseType", {.integer = 1}}, {"softmaxInLayout", {.text = layout}},
        {"dqOut", {.tensor = p.dq.acl}}, {"dkOut", {.tensor = p.dk.acl}},
        {"dvOut", {.tensor = p.dv.acl}}, {"dsinkOut", {.tensor = p.dsink.acl}});
    CU_ASSERT_EQUAL(code == 0, rig_chip() == 1);
    if (code == 0) {
        expect(&p, &r);
    }
    CU_ASSERT_NOT_EQUAL(
        RIG_RUN_NAMED(
            "FlashAttentionVarLenScoreV5", false, {"query", {.tensor = p.q.acl}},
            {"key", {.tensor = p.k.acl}}, {"value", {.tensor = p.v.acl}},
            {"sinkOptional", {.tensor = p.max.acl}}, {"actualSeqQLenOptional", {.ints = q_ends}},
            {"actualSeqKvLenOptional", {.ints = k_ends}}, {"keepProb", {.real = 1}},
            {"headNum", {.integer = HEADS}}, {"inputLayout", {.text = tnd}},
            {"softmaxMaxOut", {.tensor = p.max.acl}}, {"softmaxSumOut", {.tensor = p.sum.acl}},
            {"attentionOutOut", {.tensor = p.out.acl}}),
        0);
    (void)aclDestroyIntArray(q_ends);
    (void)aclDestroyIntArray(k_ends);
    end(&p);
}

static void packed_sequences_have_sinks(void)
{
    static char same[] = "same_as_input", heads_first[] = "";
    packed(OP_TYPE_F32, same);
    packed(OP_TYPE_F32, heads_first);
    packed(OP_TYPE_BF16, same);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"batches_have_sinks", batches_have_sinks},
        {"packed_sequences_have_sinks", packed_sequences_have_sinks},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_sink", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
