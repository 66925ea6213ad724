/* SPDX-License-Identifier: Apache-2.0 */
/* Attention and its gradients against double on the host: lengths around tiles and steps, heads
 * that share keys, layouts, masks, bands and shifts, in the types of the second generation. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct problem {
    int64_t batch, heads, key_heads, queries, keys, features, values;
    enum op_type type;
    const char *layout;
    int64_t mode, before, after;
    int mask;  /* 0 none, 1 [Sq, Sk], 2 [B, 1, Sq, Sk], 3 [B, N, Sq, Sk], 4 [B, 1, 1, Sk] */
    int shift; /* 0 none, 1 [B, N, Sq, Sk], 2 [1, N, Sq, Sk] */
    double scale;
};

/* A tensor of the call: which of [B, N, S, D] its dimensions are. */
struct seen {
    struct rig_tensor tensor;
    int64_t heads, length, features;
    const char *layout;
    double *value; /* in that order: asked for many times each */
};

/* The values of the tensor, which came or went. */
static void read_values(struct seen *s)
{
    const int64_t heads = s->heads, length = s->length, features = s->features,
                  count = rig_tensor_count(&s->tensor), batch = count / heads / length / features;
    const bool heads_first = strcmp(s->layout, "BNSD") == 0,
               length_first = strcmp(s->layout, "SBH") == 0;
    for (int64_t at = 0; at < count; at++) {
        const int64_t d = at % features, i = at / features % length,
                      n = at / features / length % heads, b = at / features / length / heads;
        const int64_t other =
            length_first ? (i * batch + b) * heads + n : (b * length + i) * heads + n;
        s->value[at] = rig_get_d(rig_tensor_at(&s->tensor, heads_first ? at : other * features + d),
                                 s->tensor.type);
    }
}

static struct seen make(const struct problem *p, int64_t heads, int64_t length, int64_t features,
                        uint64_t seed)
{
    struct seen s = {.heads = heads, .length = length, .features = features, .layout = p->layout};
    const int64_t b = p->batch, n = heads, l = length, d = features;
    const int64_t bnsd[] = {b, n, l, d}, bsnd[] = {b, l, n, d}, bsh[] = {b, l, n * d},
                  sbh[] = {l, b, n * d};
    const int64_t *dim = strcmp(p->layout, "BNSD") == 0   ? bnsd
                         : strcmp(p->layout, "BSND") == 0 ? bsnd
                         : strcmp(p->layout, "BSH") == 0  ? bsh
                                                          : sbh;
    s.tensor = rig_tensor_make(p->type, strlen(p->layout) == 3 ? 3 : 4, dim,
                               seed % 2 ? RIG_SLICED : RIG_DENSE, seed);
    const int64_t count = rig_tensor_count(&s.tensor);
    for (int64_t i = 0; i < count; i++) {
        rig_put_d(rig_tensor_at(&s.tensor, i), p->type,
                  ((double)(rig_random(&seed) % 2001) - 1000) / 500);
    }
    rig_tensor_put(&s.tensor);
    s.value = malloc((size_t)count * sizeof(*s.value));
    read_values(&s);
    return s;
}

static double get(const struct seen *s, int64_t b, int64_t n, int64_t i, int64_t d)
{
    return s->value[((b * s->heads + n) * s->length + i) * s->features + d];
}

struct call {
    struct seen q, k, v, dy, out, dq, dk, dv;
    struct rig_tensor mask, shift, max, sum, empty;
};

/* Index of an element of a tensor that broadcasts to [B, N, Sq, Sk]. */
static int64_t broadcast_at(const struct rig_tensor *t, int64_t b, int64_t n, int64_t i, int64_t j)
{
    const int64_t index[] = {b, n, i, j};
    int64_t at = 0;
    for (unsigned k = 0; k < t->rank; k++) {
        at = at * t->dim[k] + (t->dim[k] == 1 ? 0 : index[4 - t->rank + k]);
    }
    return at;
}

static bool is_seen(const struct problem *p, const struct call *c, int64_t b, int64_t n, int64_t i,
                    int64_t j)
{
    const int64_t right = p->keys - p->queries, distance = j - i;
    switch (p->mode) {
    case 2:
        return distance <= 0;
    case 3:
        return distance <= right;
    case 4:
        return distance <= right + p->after && distance >= right - p->before;
    default:
        return !p->mask ||
               !*(unsigned char *)rig_tensor_at(&c->mask, broadcast_at(&c->mask, b, n, i, j));
    }
}

/* Weights of a row; returns whether the row sees anything. */
static void weights_of(const struct problem *p, const struct call *c, int64_t b, int64_t n,
                       int64_t i, double *weight, double *max, double *sum)
{
    const int64_t kn = n / (p->heads / p->key_heads);
    *max = -INFINITY;
    *sum = 0;
    for (int64_t j = 0; j < p->keys; j++) {
        weight[j] = 0;
        for (int64_t d = 0; d < p->features; d++) {
            weight[j] += get(&c->q, b, n, i, d) * get(&c->k, b, kn, j, d);
        }
        if (p->shift) {
            weight[j] +=
                rig_get_d(rig_tensor_at(&c->shift, broadcast_at(&c->shift, b, n, i, j)), p->type);
        }
        weight[j] = is_seen(p, c, b, n, i, j) ? weight[j] * p->scale : -3e38;
        *max = fmax(*max, weight[j]);
    }
    for (int64_t j = 0; j < p->keys; j++) {
        weight[j] = exp(weight[j] - *max);
        *sum += weight[j];
    }
    for (int64_t j = 0; j < p->keys; j++) {
        weight[j] /= *sum;
    }
}

/* Scores are up to 4 features; weights and results are rounded to the type. */
static double bound(const struct problem *p)
{
    return p->type == OP_TYPE_F32 ? 1e-4 : p->type == OP_TYPE_F16 ? 4e-3 : 3e-2;
}

struct verdict {
    double worst;
    int64_t wrong;
};

static void compare(struct verdict *v, const char *what, double got, double want, double room)
{
    const double error = fabs(got - want);
    v->worst = fmax(v->worst, error);
    if (!(error <= room) && v->wrong++ == 0) {
        fprintf(stderr, "%s: %.6g, expected %.6g\n", what, got, want);
    }
}

static void check_forward(const struct problem *p, struct call *c)
{
    double *weight = calloc((size_t)p->keys, sizeof(*weight));
    struct verdict v = {0};
    rig_tensor_take(&c->out.tensor);
    read_values(&c->out);
    rig_tensor_take(&c->max);
    rig_tensor_take(&c->sum);
    for (int64_t row = 0; row < p->batch * p->heads * p->queries; row++) {
        const int64_t i = row % p->queries, n = row / p->queries % p->heads,
                      b = row / p->queries / p->heads;
        double max, sum;
        weights_of(p, c, b, n, i, weight, &max, &sum);
        for (int64_t d = 0; d < p->values; d++) {
            double want = 0;
            for (int64_t j = 0; j < p->keys; j++) {
                want += weight[j] * get(&c->v, b, n / (p->heads / p->key_heads), j, d);
            }
            compare(&v, "attention", get(&c->out, b, n, i, d), want, bound(p));
        }
        for (int64_t copy = 0; copy < 8; copy++) {
            compare(&v, "max", rig_get_d(rig_tensor_at(&c->max, row * 8 + copy), OP_TYPE_F32), max,
                    fabs(max) * 1e-4 + 1e-3);
            compare(&v, "sum", rig_get_d(rig_tensor_at(&c->sum, row * 8 + copy), OP_TYPE_F32), sum,
                    sum * 1e-3);
        }
    }
    CU_ASSERT_EQUAL(v.wrong, 0);
    free(weight);
}

/* Gradients of the sum of dy * out. */
static void check_backward(const struct problem *p, struct call *c)
{
    const int64_t kvs = p->batch * p->key_heads * p->keys;
    double *weight = calloc((size_t)p->keys, sizeof(*weight)),
           *slope = calloc((size_t)p->keys, sizeof(*slope)),
           *dk = calloc((size_t)(kvs * p->features), sizeof(*dk)),
           *dv = calloc((size_t)(kvs * p->values), sizeof(*dv));
    struct verdict v = {0};
    struct seen *const results[] = {&c->dq, &c->dk, &c->dv};
    for (unsigned i = 0; i < 3; i++) {
        rig_tensor_take(&results[i]->tensor);
        read_values(results[i]);
    }
    const double groups = (double)(p->heads / p->key_heads);
    for (int64_t row = 0; row < p->batch * p->heads * p->queries; row++) {
        const int64_t i = row % p->queries, n = row / p->queries % p->heads,
                      b = row / p->queries / p->heads, kn = n / (p->heads / p->key_heads);
        double max, sum, mean = 0;
        weights_of(p, c, b, n, i, weight, &max, &sum);
        for (int64_t j = 0; j < p->keys; j++) {
            slope[j] = 0;
            for (int64_t d = 0; d < p->values; d++) {
                const double dy = get(&c->dy, b, n, i, d);
                slope[j] += dy * get(&c->v, b, kn, j, d);
                dv[((b * p->key_heads + kn) * p->keys + j) * p->values + d] += weight[j] * dy;
            }
            mean += weight[j] * slope[j];
        }
        for (int64_t j = 0; j < p->keys; j++) {
            slope[j] = weight[j] * (slope[j] - mean) * p->scale;
        }
        for (int64_t d = 0; d < p->features; d++) {
            double dq = 0;
            for (int64_t j = 0; j < p->keys; j++) {
                dq += slope[j] * get(&c->k, b, kn, j, d);
                dk[((b * p->key_heads + kn) * p->keys + j) * p->features + d] +=
                    slope[j] * get(&c->q, b, n, i, d);
            }
            compare(&v, "dq", get(&c->dq, b, n, i, d), dq, 3 * bound(p));
        }
    }
    for (int64_t row = 0; row < kvs; row++) {
        const int64_t j = row % p->keys, n = row / p->keys % p->key_heads,
                      b = row / p->keys / p->key_heads;
        for (int64_t d = 0; d < p->features; d++) {
            const double want = dk[row * p->features + d];
            compare(&v, "dk", get(&c->dk, b, n, j, d), want, (3 * groups + fabs(want)) * bound(p));
        }
        for (int64_t d = 0; d < p->values; d++) {
            const double want = dv[row * p->values + d];
            compare(&v, "dv", get(&c->dv, b, n, j, d), want, (3 * groups + fabs(want)) * bound(p));
        }
    }
    CU_ASSERT_EQUAL(v.wrong, 0);
    free(weight);
    free(slope);
    free(dk);
    free(dv);
}

static struct rig_tensor make_mask(const struct problem *p)
{
    const int64_t shapes[][4] = {{p->queries, p->keys},
                                 {p->batch, 1, p->queries, p->keys},
                                 {p->batch, p->heads, p->queries, p->keys},
                                 {p->batch, 1, 1, p->keys}};
    uint64_t seed = 77;
    struct rig_tensor mask =
        rig_tensor_make(OP_TYPE_BOOL, p->mask == 1 ? 2 : 4, shapes[p->mask - 1], RIG_DENSE, 5);
    const int64_t count = rig_tensor_count(&mask);
    for (int64_t i = 0; i < count; i++) {
        *(unsigned char *)rig_tensor_at(&mask, i) = i % p->keys && rig_random(&seed) % 3 == 0;
    }
    rig_tensor_put(&mask);
    return mask;
}

static struct rig_tensor make_shift(const struct problem *p)
{
    const int64_t dim[] = {p->shift == 1 ? p->batch : 1, p->heads, p->queries, p->keys};
    return rig_tensor_eighths(p->type, 4, dim, RIG_DENSE, 6);
}

static void run_forward(const struct problem *p, struct call *c)
{
    const union op_test_arg args[] = {
        {.tensor = c->q.tensor.acl},
        {.tensor = c->k.tensor.acl},
        {.tensor = c->v.tensor.acl},
        {.tensor = p->shift ? c->shift.acl : NULL},
        {.tensor = NULL},
        {.tensor = NULL},
        {.tensor = p->mask ? c->mask.acl : NULL},
        {.ints = NULL},
        {.real = p->scale},
        {.real = 1},
        {.integer = p->before},
        {.integer = p->after},
        {.integer = p->heads},
        {.text = (char *)(uintptr_t)p->layout},
        {.integer = 0},
        {.integer = p->mode},
        {.tensor = c->max.acl},
        {.tensor = c->sum.acl},
        {.tensor = c->empty.acl},
        {.tensor = c->out.tensor.acl},
    };
    CU_ASSERT_EQUAL(rig_run(rig_row("FlashAttentionScore"), args, true), 0);
}

static void run_backward(const struct problem *p, struct call *c)
{
    const union op_test_arg args[] = {
        {.tensor = c->q.tensor.acl},
        {.tensor = c->k.tensor.acl},
        {.tensor = c->v.tensor.acl},
        {.tensor = c->dy.tensor.acl},
        {.tensor = p->shift ? c->shift.acl : NULL},
        {.tensor = NULL},
        {.tensor = NULL},
        {.tensor = p->mask ? c->mask.acl : NULL},
        {.tensor = c->max.acl},
        {.tensor = c->sum.acl},
        {.tensor = NULL},
        {.tensor = c->out.tensor.acl},
        {.ints = NULL},
        {.real = p->scale},
        {.real = 1},
        {.integer = p->before},
        {.integer = p->after},
        {.integer = p->heads},
        {.text = (char *)(uintptr_t)p->layout},
        {.integer = 0},
        {.integer = p->mode},
        {.tensor = c->dq.tensor.acl},
        {.tensor = c->dk.tensor.acl},
        {.tensor = c->dv.tensor.acl},
        {.tensor = c->empty.acl},
    };
    CU_ASSERT_EQUAL(rig_run(rig_row("FlashAttentionScoreGrad"), args, true), 0);
}

static void run(const struct problem *p)
{
    const int64_t column[] = {p->batch, p->heads, p->queries, 8}, none[] = {0};
    struct call c = {
        .q = make(p, p->heads, p->queries, p->features, 1),
        .k = make(p, p->key_heads, p->keys, p->features, 2),
        .v = make(p, p->key_heads, p->keys, p->values, 3),
        .dy = make(p, p->heads, p->queries, p->values, 4),
        .out = make(p, p->heads, p->queries, p->values, 5),
        .dq = make(p, p->heads, p->queries, p->features, 7),
        .dk = make(p, p->key_heads, p->keys, p->features, 8),
        .dv = make(p, p->key_heads, p->keys, p->values, 9),
        .max = rig_tensor_make(OP_TYPE_F32, 4, column, RIG_DENSE, 10),
        .sum = rig_tensor_make(OP_TYPE_F32, 4, column, RIG_DENSE, 11),
        .empty = rig_tensor_make(p->type, 1, none, RIG_DENSE, 12),
    };
    if (p->mask) {
        c.mask = make_mask(p);
    }
    if (p->shift) {
        c.shift = make_shift(p);
    }
    run_forward(p, &c);
    check_forward(p, &c);
    run_backward(p, &c);
    check_backward(p, &c);
    struct rig_tensor *all[] = {&c.q.tensor,   &c.k.tensor,  &c.v.tensor,  &c.dy.tensor,
                                &c.out.tensor, &c.dq.tensor, &c.dk.tensor, &c.dv.tensor,
                                &c.max,        &c.sum,       &c.empty,     &c.mask,
                                &c.shift};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i]->acl) {
            rig_tensor_free(all[i]);
        }
    }
    const struct seen *const seen[] = {&c.q, &c.k, &c.v, &c.dy, &c.out, &c.dq, &c.dk, &c.dv};
    for (unsigned i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
        free(seen[i]->value);
    }
}

static const int64_t far = INT32_MAX;

static void attention_of_lengths_around_tiles(void)
{
    if (rig_chip() == 0) {
        return; // an operator of the second generation
    }
    static const int64_t shapes[][4] = {{1, 1, 8, 8},      {17, 15, 16, 16},   {64, 128, 32, 32},
                                        {129, 127, 64, 7}, {65, 257, 40, 128}, {130, 130, 128, 64},
                                        {3, 700, 24, 16},  {70, 1100, 16, 33}};
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (int bf16 = 0; bf16 < 2; bf16++) {
            run(&(struct problem){1, 2, 2, shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3],
                                  bf16 ? OP_TYPE_BF16 : OP_TYPE_F16, "BNSD", 0, far, far, 0, 0,
                                  1 / sqrt((double)shapes[i][2])});
        }
    }
}

static void attention_of_layouts_and_shared_keys(void)
{
    if (rig_chip() == 0) {
        return; // an operator of the second generation
    }
    static const char *const layouts[] = {"BNSD", "BSND", "BSH", "SBH"};
    for (unsigned i = 0; i < 4; i++) {
        for (int64_t heads = 1; heads <= 4; heads *= 2) {
            run(&(struct problem){2, 4, heads, 33, 50, 16, 24, OP_TYPE_F16, layouts[i], 0, far, far,
                                  0, 0, 0.25});
        }
    }
}

static void attention_of_bands(void)
{
    if (rig_chip() == 0) {
        return; // an operator of the second generation
    }
    static const struct {
        int64_t mode, before, after, queries, keys;
    } bands[] = {{2, far, 0, 100, 100}, {2, far, 0, 300, 300},  {2, far, 0, 140, 700},
                 {3, far, 0, 30, 200},  {3, far, 0, 200, 30},   {4, 20, 10, 200, 200},
                 {4, 5, 3, 24, 40},     {4, 600, -1, 40, 1200}, {4, 64, 0, 260, 260}};
    for (unsigned i = 0; i < sizeof(bands) / sizeof(bands[0]); i++) {
        run(&(struct problem){1, 2, 1, bands[i].queries, bands[i].keys, 16, 16,
                              i % 2 ? OP_TYPE_BF16 : OP_TYPE_F16, "BNSD", bands[i].mode,
                              bands[i].before, bands[i].after, 0, 0, 0.2});
    }
}

static void attention_of_masks_and_shifts(void)
{
    if (rig_chip() == 0) {
        return; // an operator of the second generation
    }
    for (int mask = 0; mask <= 4; mask++) {
        for (int shift = 0; shift <= (mask % 3 == 0 ? 2 : 0); shift++) {
            run(&(struct problem){2, 2, 2, 70, 150, 16, 16, OP_TYPE_F16, "BNSD", 0, far, far, mask,
                                  shift, 0.3});
        }
    }
    run(&(struct problem){1, 2, 2, 40, 600, 16, 16, OP_TYPE_BF16, "BSH", 0, far, far, 3, 1, 0.3});
    run(&(struct problem){1, 2, 2, 90, 90, 16, 16, OP_TYPE_F16, "BNSD", 2, far, 0, 0, 1, 0.3});
}

static void attention_of_float_takes_the_steps(void)
{
    if (rig_chip() == 0) {
        return; // an operator of the second generation
    }
    run(&(struct problem){1, 2, 1, 40, 60, 16, 24, OP_TYPE_F32, "BSND", 0, far, far, 1, 1, 0.3});
    run(&(struct problem){1, 2, 1, 40, 60, 16, 24, OP_TYPE_F16, "BNSD", 0, far, far, 0, 0, -0.3});
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"attention_of_lengths_around_tiles", attention_of_lengths_around_tiles},
        {"attention_of_layouts_and_shared_keys", attention_of_layouts_and_shared_keys},
        {"attention_of_bands", attention_of_bands},
        {"attention_of_masks_and_shifts", attention_of_masks_and_shifts},
        {"attention_of_float_takes_the_steps", attention_of_float_takes_the_steps},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_attention", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
