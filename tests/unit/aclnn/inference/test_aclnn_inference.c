/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of inference against double on the host: layouts, lengths, pages, masks, ropes. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3, HEADS = 4, KEY_HEADS = 2, WIDTH = 16, ROPE = 8, PAGE = 16, PAGES = 9, KEYS = 40 };

struct call {
    const char *op, *layout;
    enum op_type type;
    int64_t queries; /* of a sequence at most */
    int64_t query_length[BATCH], key_length[BATCH];
    int64_t sparse;
    bool paged, masked, shifted, rope;
};

struct shapes {
    int64_t dim[4], heads, length, width;
    unsigned rank;
};

static bool is(const struct call *c, const char *layout)
{
    return strcmp(c->layout, layout) == 0;
}

static int64_t start_of(const int64_t *length, int64_t b)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < b; i++) {
        sum += length[i];
    }
    return sum;
}

static struct shapes shapes_of(const struct call *c, bool query, int64_t width)
{
    const int64_t heads = query ? HEADS : KEY_HEADS, length = query ? c->queries : KEYS;
    struct shapes s = {.heads = heads, .length = length, .width = width, .rank = 4};
    const int64_t total = start_of(query ? c->query_length : c->key_length, BATCH);
    if (!query && c->paged) {
        memcpy(s.dim, (int64_t[]){PAGES, PAGE, heads * width}, sizeof(int64_t[3]));
        s.rank = 3;
    } else if (is(c, "TND")) {
        memcpy(s.dim, (int64_t[]){total, heads, width}, sizeof(int64_t[3]));
        s.rank = 3;
    } else if (is(c, "BSH")) {
        memcpy(s.dim, (int64_t[]){BATCH, length, heads * width}, sizeof(int64_t[3]));
        s.rank = 3;
    } else if (is(c, "BSND")) {
        memcpy(s.dim, (int64_t[]){BATCH, length, heads, width}, sizeof(s.dim));
    } else {
        memcpy(s.dim, (int64_t[]){BATCH, heads, length, width}, sizeof(s.dim));
    }
    return s;
}

static int64_t page_of(int64_t b, int64_t place)
{
    return (b * 3 + place / PAGE) * 5 % PAGES;
}

static int64_t at(const struct call *c, const struct shapes *s, bool query, int64_t b, int64_t h,
                  int64_t place, int64_t d)
{
    if (!query && c->paged) {
        return ((page_of(b, place) * PAGE + place % PAGE) * s->heads + h) * s->width + d;
    }
    if (is(c, "TND")) {
        const int64_t row = start_of(query ? c->query_length : c->key_length, b) + place;
        return (row * s->heads + h) * s->width + d;
    }
    return is(c, "BSH") || is(c, "BSND") ? ((b * s->length + place) * s->heads + h) * s->width + d
                                         : ((b * s->heads + h) * s->length + place) * s->width + d;
}

struct tensors {
    struct rig_tensor q, k, v, out, mask, shift, table, q_rope, k_rope, lse;
    struct shapes query, key, q_rope_shape, k_rope_shape;
};

static struct rig_tensor make(const struct shapes *s, enum op_type type, uint64_t seed)
{
    return rig_values_make(type, s->rank, s->dim, RIG_DENSE, seed);
}

static struct tensors tensors_make(const struct call *c)
{
    struct tensors t = {.query = shapes_of(c, true, WIDTH),
                        .key = shapes_of(c, false, WIDTH),
                        .q_rope_shape = shapes_of(c, true, ROPE),
                        .k_rope_shape = shapes_of(c, false, ROPE)};
    const int64_t mask_dim[] = {BATCH, c->queries, KEYS},
                  shift_dim[] = {1, HEADS, c->queries, KEYS}, table_dim[] = {BATCH, 3},
                  lse_dim[] = {BATCH, HEADS, c->queries, 1},
                  packed_dim[] = {start_of(c->query_length, BATCH), HEADS, 1};
    t.q = make(&t.query, c->type, 1);
    t.k = make(&t.key, c->type, 2);
    t.v = make(&t.key, c->type, 3);
    t.out = make(&t.query, c->type, 4);
    t.q_rope = make(&t.q_rope_shape, c->type, 5);
    t.k_rope = make(&t.k_rope_shape, c->type, 6);
    t.mask = rig_tensor_make(OP_TYPE_BOOL, 3, mask_dim, RIG_DENSE, 7);
    t.shift = rig_values_make(c->type, 4, shift_dim, RIG_DENSE, 8);
    t.table = rig_tensor_make(OP_TYPE_I32, 2, table_dim, RIG_DENSE, 9);
    t.lse = is(c, "TND") ? rig_values_make(OP_TYPE_F32, 3, packed_dim, RIG_DENSE, 1)
                         : rig_values_make(OP_TYPE_F32, 4, lse_dim, RIG_DENSE, 1);
    for (int64_t i = 0; i < rig_tensor_count(&t.mask); i++) {
        rig_put_i(rig_tensor_at(&t.mask, i), OP_TYPE_BOOL, i * 7 % 5 == 0);
    }
    for (int64_t i = 0; i < BATCH * 3; i++) {
        rig_put_i(rig_tensor_at(&t.table, i), OP_TYPE_I32, page_of(i / 3, i % 3 * PAGE));
    }
    rig_tensor_put(&t.mask);
    rig_tensor_put(&t.table);
    return t;
}

static bool sees(const struct call *c, const struct tensors *t, int64_t b, int64_t s, int64_t k)
{
    const int64_t right = c->key_length[b] - c->query_length[b];
    return c->sparse == 2   ? k <= s
           : c->sparse == 3 ? k <= s + right
           : c->masked
               ? !rig_get_i(rig_tensor_at(&t->mask, (b * c->queries + s) * KEYS + k), OP_TYPE_BOOL)
               : true;
}

static double score(const struct call *c, const struct tensors *t, int64_t b, int64_t h, int64_t s,
                    int64_t k, double scale)
{
    const int64_t kh = h / (HEADS / KEY_HEADS);
    double sum = 0;
    for (int64_t d = 0; d < WIDTH; d++) {
        sum += rig_values_at(&t->q, at(c, &t->query, true, b, h, s, d)) *
               rig_values_at(&t->k, at(c, &t->key, false, b, kh, k, d));
    }
    for (int64_t d = 0; c->rope && d < ROPE; d++) {
        sum += rig_values_at(&t->q_rope, at(c, &t->q_rope_shape, true, b, h, s, d)) *
               rig_values_at(&t->k_rope, at(c, &t->k_rope_shape, false, b, kh, k, d));
    }
    return sum * scale +
           (c->shifted ? rig_values_at(&t->shift, (h * c->queries + s) * KEYS + k) : 0);
}

/* One row of the result, and the logarithm of its sum. */
static double row_of(const struct call *c, const struct tensors *t, int64_t b, int64_t h, int64_t s,
                     double scale, double *out)
{
    double sum = 0;
    memset(out, 0, WIDTH * sizeof(*out));
    for (int64_t k = 0; k < c->key_length[b]; k++) {
        const double power = sees(c, t, b, s, k) ? exp(score(c, t, b, h, s, k, scale)) : 0;
        sum += power;
        for (int64_t d = 0; d < WIDTH; d++) {
            out[d] += power *
                      rig_values_at(&t->v, at(c, &t->key, false, b, h / (HEADS / KEY_HEADS), k, d));
        }
    }
    for (int64_t d = 0; d < WIDTH; d++) {
        out[d] /= sum;
    }
    return log(sum);
}

static void expect(const struct call *c, struct tensors *t, double scale, bool with_lse)
{
    const double room = c->type == OP_TYPE_F32 ? 2e-5 : c->type == OP_TYPE_F16 ? 4e-3 : 3e-2;
    int64_t wrong = 0;
    rig_tensor_take(&t->out);
    rig_tensor_take(&t->lse);
    for (int64_t i = 0; i < BATCH * HEADS * c->queries; i++) {
        const int64_t b = i / (HEADS * c->queries), h = i / c->queries % HEADS, s = i % c->queries;
        double want[WIDTH];
        if (s >= c->query_length[b]) {
            continue;
        }
        const double lse = row_of(c, t, b, h, s, scale, want);
        for (int64_t d = 0; d < WIDTH; d++) {
            const double got = rig_values_at(&t->out, at(c, &t->query, true, b, h, s, d));
            if (!(fabs(got - want[d]) <= room) && wrong++ == 0) {
                fprintf(stderr, "%s %s: %lld %lld %lld is %g, expected %g\n", c->op, c->layout,
                        (long long)b, (long long)h, (long long)s, got, want[d]);
            }
        }
        if (with_lse) {
            const int64_t place = is(c, "TND") ? (start_of(c->query_length, b) + s) * HEADS + h : i;
            CU_ASSERT_DOUBLE_EQUAL(rig_values_at(&t->lse, place), lse, 2e-3);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static aclIntArray *lengths_of(const struct call *c, bool query)
{
    int64_t list[BATCH], sum = 0;
    for (int64_t i = 0; i < BATCH; i++) {
        const int64_t length = query ? c->query_length[i] : c->key_length[i];
        sum += length;
        list[i] = is(c, "TND") && (query || !c->paged) ? sum : length;
    }
    return aclCreateIntArray(list, BATCH);
}

static void run(const struct call *c)
{
    const bool prompt = strncmp(c->op, "Prompt", 6) == 0, incre = strncmp(c->op, "Incre", 5) == 0,
               fused = !prompt && !incre, v2 = fused && c->op[24];
    const double scale = 1 / sqrt(WIDTH);
    struct tensors t = tensors_make(c);
    aclTensorList *k = prompt ? NULL : rig_list_make(&t.k, 1),
                  *v = prompt ? NULL : rig_list_make(&t.v, 1);
    aclIntArray *queries = incre ? NULL : lengths_of(c, true), *keys = lengths_of(c, false);
    const struct rig_named both[] = {
        {"query", {.tensor = t.q.acl}},
        {v2 ? "attenMaskOptional" : "attenMask", {.tensor = c->masked ? t.mask.acl : NULL}},
        {v2 ? "pseShiftOptional" : "pseShift", {.tensor = c->shifted ? t.shift.acl : NULL}},
        {"numHeads", {.integer = HEADS}},
        {"numKeyValueHeads", {.integer = KEY_HEADS}},
        {"scaleValue", {.real = scale}},
        {"inputLayout", {.text = (char *)(uintptr_t)c->layout}},
        {"attentionOut", {.tensor = t.out.acl}},
        {incre ? "actualSeqLengths"
         : v2  ? "actualSeqLengthsKvOptional"
               : "actualSeqLengthsKv",
         {.ints = keys}},
        {prompt ? "numHeads" : "blockSize", {.integer = prompt ? HEADS : PAGE}},
    };
    struct rig_named all[24];
    unsigned count = sizeof(both) / sizeof(both[0]);
    memcpy(all, both, sizeof(both));
    all[count++] = (struct rig_named){"key", {.tensor = t.k.acl}};
    all[count++] = (struct rig_named){"value", {.tensor = t.v.acl}};
    if (!prompt) {
        all[count - 2].value.tensors = k;
        all[count - 1].value.tensors = v;
        all[count++] = (struct rig_named){incre ? "blocktable"
                                          : v2  ? "blockTableOptional"
                                                : "blockTable",
                                          {.tensor = c->paged ? t.table.acl : NULL}};
    }
    if (!incre) {
        all[count++] = (struct rig_named){v2 ? "actualSeqLengthsOptional" : "actualSeqLengths",
                                          {.ints = queries}};
        all[count++] = (struct rig_named){"sparseMode", {.integer = c->sparse}};
        all[count++] = (struct rig_named){"preTokens", {.integer = INT32_MAX}};
        all[count++] = (struct rig_named){"nextTokens", {.integer = INT32_MAX}};
    }
    if (fused) {
        all[count++] = (struct rig_named){"softmaxLseFlag", {.integer = 1}};
        all[count++] = (struct rig_named){"softmaxLse", {.tensor = t.lse.acl}};
    }
    if (c->rope) {
        all[count++] = (struct rig_named){"queryRopeOptional", {.tensor = t.q_rope.acl}};
        all[count++] = (struct rig_named){"keyRopeOptional", {.tensor = t.k_rope.acl}};
    }
    CU_ASSERT_EQUAL(rig_run_named(c->op, all, count, true), 0);
    expect(c, &t, scale, fused);
    if (!prompt) {
        rig_list_free(k, &t.k, 1);
        rig_list_free(v, &t.v, 1);
    }
    CU_ASSERT_EQUAL(queries ? aclDestroyIntArray(queries) : 0, 0);
    CU_ASSERT_EQUAL(aclDestroyIntArray(keys), 0);
    rig_values_free((struct rig_tensor[]){t.q, t.k, t.v, t.out, t.mask, t.shift, t.table, t.q_rope,
                                          t.k_rope, t.lse},
                    10, NULL, 0);
}

static void run_all(const struct call *calls, unsigned count)
{
    for (unsigned i = 0; rig_chip() == 1 && i < count; i++) {
        run(&calls[i]);
    }
}

static void prompts_have_lengths(void)
{
    const struct call calls[] = {
        {.op = "PromptFlashAttentionV3",
         .layout = "BSH",
         .type = OP_TYPE_F16,
         .queries = 20,
         .query_length = {20, 7, 13},
         .key_length = {40, 33, 13}},
        {.op = "PromptFlashAttentionV3",
         .layout = "BNSD",
         .type = OP_TYPE_BF16,
         .queries = 20,
         .query_length = {20, 7, 13},
         .key_length = {40, 33, 13},
         .sparse = 3},
        {.op = "PromptFlashAttentionV2",
         .layout = "BSND",
         .type = OP_TYPE_F32,
         .queries = 9,
         .query_length = {9, 9, 5},
         .key_length = {40, 17, 40},
         .masked = true,
         .shifted = true},
        {.op = "FusedInferAttentionScoreV3",
         .layout = "TND",
         .type = OP_TYPE_F16,
         .queries = 20,
         .query_length = {20, 7, 13},
         .key_length = {20, 33, 13},
         .sparse = 3},
        {.op = "FusedInferAttentionScore",
         .layout = "BNSD",
         .type = OP_TYPE_F16,
         .queries = 20,
         .query_length = {20, 20, 20},
         .key_length = {40, 40, 40},
         .sparse = 2},
    };
    run_all(calls, sizeof(calls) / sizeof(calls[0]));
}

static void keys_are_in_pages(void)
{
    const struct call calls[] = {
        {.op = "IncreFlashAttentionV4",
         .layout = "BSH",
         .type = OP_TYPE_F16,
         .queries = 1,
         .query_length = {1, 1, 1},
         .key_length = {40, 33, 16},
         .paged = true},
        {.op = "FusedInferAttentionScoreV2",
         .layout = "BNSD",
         .type = OP_TYPE_BF16,
         .queries = 1,
         .query_length = {1, 1, 1},
         .key_length = {1, 33, 17},
         .paged = true},
        {.op = "FusedInferAttentionScoreV4",
         .layout = "TND",
         .type = OP_TYPE_F16,
         .queries = 20,
         .query_length = {20, 7, 13},
         .key_length = {20, 33, 13},
         .sparse = 3,
         .paged = true,
         .rope = true},
    };
    run_all(calls, sizeof(calls) / sizeof(calls[0]));
}

static void one_query_sees_all_keys(void)
{
    const struct call calls[] = {
        {.op = "IncreFlashAttentionV3",
         .layout = "BNSD",
         .type = OP_TYPE_F16,
         .queries = 1,
         .query_length = {1, 1, 1},
         .key_length = {40, 33, 2},
         .masked = true},
        {.op = "FusedInferAttentionScoreV3",
         .layout = "BSND",
         .type = OP_TYPE_F32,
         .queries = 1,
         .query_length = {1, 1, 1},
         .key_length = {40, 3, 12},
         .rope = true},
    };
    run_all(calls, sizeof(calls) / sizeof(calls[0]));
}

static void what_is_not_computed_is_refused(void)
{
    const int64_t dim[] = {BATCH, 1, HEADS * WIDTH}, one[] = {1};
    struct rig_tensor q = rig_values_make(OP_TYPE_F16, 3, dim, RIG_DENSE, 1),
                      k = rig_values_make(OP_TYPE_F16, 3, dim, RIG_DENSE, 2),
                      scale = rig_values_make(OP_TYPE_F16, 1, one, RIG_DENSE, 3);
    aclTensorList *list = rig_list_make(&k, 1);
    for (int wrong = 0; wrong < 3; wrong++) {
        CU_ASSERT_NOT_EQUAL(
            RIG_RUN_NAMED(
                "IncreFlashAttentionV4", false, {"query", {.tensor = q.acl}},
                {"key", {.tensors = list}}, {"value", {.tensors = list}},
                {"antiquantScale", {.tensor = wrong == 0 ? scale.acl : NULL}},
                {"numHeads", {.integer = wrong == 1 ? 5 : HEADS}}, {"scaleValue", {.real = 1}},
                {"inputLayout", {.text = (char *)(uintptr_t)(wrong == 2 ? "NSD" : "BSH")}},
                {"attentionOut", {.tensor = q.acl}}),
            0);
    }
    rig_list_free(list, &k, 1);
    rig_values_free((struct rig_tensor[]){q, k, scale}, 3, NULL, 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"prompts_have_lengths", prompts_have_lengths},
        {"keys_are_in_pages", keys_are_in_pages},
        {"one_query_sees_all_keys", one_query_sees_all_keys},
        {"what_is_not_computed_is_refused", what_is_not_computed_is_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_inference", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
