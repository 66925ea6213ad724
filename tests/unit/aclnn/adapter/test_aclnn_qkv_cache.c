/* SPDX-License-Identifier: Apache-2.0 */
/* Queries, keys and values of a step on their way into pages: against plain loops on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

enum { TOKENS = 6, NQ = 4, NK = 2, NV = 2, WIDTH = 32, ALL = NQ + NK + NV };
enum { PAGES = 3, SLOTS = 4, CACHE = PAGES * SLOTS * NK * WIDTH };

static bool is_here(void)
{
    return rig_chip() == 1;
}

static const int64_t slot_of[TOKENS] = {7, -1, 0, 11, 3, -1};

/* A head normalised and turned. */
static void turned(const struct rig_tensor *qkv, const struct rig_tensor *gamma,
                   const struct rig_tensor *cos, const struct rig_tensor *sin, int64_t token,
                   int64_t head, double *out)
{
    double x[WIDTH], squares = 0;
    for (int64_t d = 0; d < WIDTH; d++) {
        x[d] = rig_values_at(qkv, (token * ALL + head) * WIDTH + d);
        squares += x[d] * x[d] / WIDTH;
    }
    for (int64_t d = 0; d < WIDTH; d++) {
        x[d] *= rig_values_at(gamma, d) / sqrt(squares + 1e-6);
    }
    for (int64_t d = 0; d < WIDTH; d++) {
        const int64_t other = (d + WIDTH / 2) % WIDTH;
        out[d] = x[d] * rig_values_at(cos, token * WIDTH + d) +
                 (d < WIDTH / 2 ? -x[other] : x[other]) * rig_values_at(sin, token * WIDTH + d);
    }
}

struct problem {
    struct rig_tensor qkv, q_gamma, k_gamma, cos, sin, index, q, k, v, k_scale, v_scale, k_offset,
        before[3];
    int64_t block; /* features of a block of a cache */
};

static struct problem make(enum op_type type, bool bytes)
{
    const int64_t block = bytes ? 32 : 16, all[] = {TOKENS, ALL * WIDTH}, gamma[] = {WIDTH},
                  angle[] = {TOKENS, WIDTH}, list[] = {TOKENS}, q[] = {TOKENS, NQ * WIDTH},
                  k[] = {TOKENS, NK * WIDTH}, cache[] = {PAGES, NK * WIDTH / block, SLOTS, block},
                  scale[] = {NK, WIDTH};
    const enum op_type cached = bytes ? OP_TYPE_I8 : type;
    struct problem p = {
        rig_values_make(type, 2, all, RIG_PERMUTED, 1),
        rig_values_make(type, 1, gamma, RIG_DENSE, 2),
        rig_values_make(type, 1, gamma, RIG_DENSE, 3),
        rig_values_make(type, 2, angle, RIG_DENSE, 4),
        rig_values_make(type, 2, angle, RIG_DENSE, 5),
        rig_tensor_make(OP_TYPE_I64, 1, list, RIG_DENSE, 6),
        rig_values_make(type, 2, q, RIG_DENSE, 7),
        rig_tensor_eighths(cached, 4, cache, RIG_DENSE, 8),
        rig_tensor_eighths(cached, 4, cache, RIG_DENSE, 9),
        rig_values_make(OP_TYPE_F32, 2, scale, RIG_DENSE, 10),
        rig_values_make(OP_TYPE_F32, 2, scale, RIG_DENSE, 11),
        rig_values_make(OP_TYPE_F32, 2, scale, RIG_DENSE, 12),
        {rig_values_make(type, 2, q, RIG_DENSE, 13), rig_values_make(type, 2, k, RIG_DENSE, 14),
         rig_values_make(type, 2, k, RIG_DENSE, 15)},
        block,
    };
    for (int64_t i = 0; i < TOKENS; i++) {
        rig_put_i(rig_tensor_at(&p.index, i), OP_TYPE_I64, slot_of[i]);
    }
    for (int64_t i = 0; i < NK * WIDTH; i++) {
        rig_put_d(rig_tensor_at(&p.k_scale, i), OP_TYPE_F32, (double)(i % 7 + 1) / 64);
        rig_put_d(rig_tensor_at(&p.v_scale, i), OP_TYPE_F32, (double)(i % 5 + 1) / 64);
    }
    rig_tensor_put(&p.index);
    rig_tensor_put(&p.k_scale);
    rig_tensor_put(&p.v_scale);
    return p;
}

/* Where feature f of a slot is in a cache. */
static int64_t place(const struct problem *p, int64_t slot, int64_t f)
{
    const int64_t blocks = NK * WIDTH / p->block;
    return ((slot / SLOTS * blocks + f / p->block) * SLOTS + slot % SLOTS) * p->block +
           f % p->block;
}

static void expect_cache(struct problem *p, struct rig_tensor *cache, const double *old,
                         const double *rows, const struct rig_tensor *scale,
                         const struct rig_tensor *offset)
{
    double want[CACHE];
    int64_t wrong = 0;
    rig_tensor_take(cache);
    for (int64_t i = 0; i < CACHE; i++) {
        want[i] = old[i];
    }
    for (int64_t t = 0; t < TOKENS; t++) {
        for (int64_t f = 0; slot_of[t] >= 0 && f < NK * WIDTH; f++) {
            const double x = rows[t * NK * WIDTH + f];
            want[place(p, slot_of[t], f)] =
                cache->type != OP_TYPE_I8 ? x
                                          : fmin(fmax(x / rig_values_at(scale, f) +
                                                          (offset ? rig_values_at(offset, f) : 0),
                                                      -128),
                                                 127);
        }
    }
    for (int64_t i = 0; i < CACHE; i++) {
        const double room = cache->type == OP_TYPE_I8 ? 0.5 + 1e-4 : 1e-3 * (1 + fabs(want[i]));
        wrong += !(fabs(rig_values_at(cache, i) - want[i]) <= room);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void step(enum op_type type, bool bytes, bool has_offset)
{
    static char pages[] = "PA_NZ", norm[] = "Norm";
    static const int64_t size[] = {2, TOKENS / 2, ALL, WIDTH}, heads[] = {NQ, NK, NV};
    static double want[3][TOKENS * NQ * WIDTH], old[2][CACHE];
    struct problem p = make(type, bytes);
    for (int64_t i = 0; i < CACHE; i++) {
        old[0][i] = rig_values_at(&p.k, i);
        old[1][i] = rig_values_at(&p.v, i);
    }
    for (int64_t t = 0; t < TOKENS; t++) {
        for (int64_t h = 0; h < NQ; h++) {
            turned(&p.qkv, &p.q_gamma, &p.cos, &p.sin, t, h, want[0] + (t * NQ + h) * WIDTH);
        }
        for (int64_t h = 0; h < NK; h++) {
            turned(&p.qkv, &p.k_gamma, &p.cos, &p.sin, t, NQ + h, want[1] + (t * NK + h) * WIDTH);
            for (int64_t d = 0; d < WIDTH; d++) {
                want[2][(t * NK + h) * WIDTH + d] =
                    rig_values_at(&p.qkv, (t * ALL + NQ + NK + h) * WIDTH + d);
            }
        }
    }
    aclIntArray *sizes = aclCreateIntArray(size, 4), *numbers = aclCreateIntArray(heads, 3);
    for (int wrong = 1; wrong >= 0; wrong--) {
        const aclnnStatus code = RIG_RUN_NAMED(
            "QkvRmsNormRopeCache", is_here() && !wrong, {"qkv", {.tensor = p.qkv.acl}},
            {"q_gamma", {.tensor = p.q_gamma.acl}}, {"k_gamma", {.tensor = p.k_gamma.acl}},
            {"cos", {.tensor = p.cos.acl}}, {"sin", {.tensor = p.sin.acl}},
            {"index", {.tensor = p.index.acl}}, {"q_out", {.tensor = p.q.acl}},
            {"k_cache", {.tensor = p.k.acl}}, {"v_cache", {.tensor = p.v.acl}},
            {"k_scale", {.tensor = bytes ? p.k_scale.acl : NULL}},
            {"v_scale", {.tensor = bytes ? p.v_scale.acl : NULL}},
            {"k_offset", {.tensor = has_offset ? p.k_offset.acl : NULL}},
            {"qkv_size", {.ints = sizes}}, {"head_nums", {.ints = numbers}},
            {"epsilon", {.real = 1e-6}}, {"cache_mode_ptr", {.text = wrong ? norm : pages}},
            {"q_out_before_quant", {.tensor = p.before[0].acl}},
            {"k_out_before_quant", {.tensor = p.before[1].acl}},
            {"v_out_before_quant", {.tensor = p.before[2].acl}});
        CU_ASSERT_EQUAL(code == 0, is_here() && !wrong);
    }
    if (is_here()) {
        const struct rig_bound near = {.of_largest = 3e-6, .roundings = 1};
        rig_values_expect(&p.q, want[0], near, "queries");
        rig_values_expect(&p.before[0], want[0], near, "queries again");
        rig_values_expect(&p.before[1], want[1], near, "keys");
        rig_values_expect(&p.before[2], want[2], near, "values");
        expect_cache(&p, &p.k, old[0], want[1], &p.k_scale, has_offset ? &p.k_offset : NULL);
        expect_cache(&p, &p.v, old[1], want[2], &p.v_scale, NULL);
    }
    (void)aclDestroyIntArray(sizes);
    (void)aclDestroyIntArray(numbers);
    struct rig_tensor all[] = {p.qkv,     p.q_gamma,  p.k_gamma,   p.cos,       p.sin,
                               p.index,   p.q,        p.k,         p.v,         p.k_scale,
                               p.v_scale, p.k_offset, p.before[0], p.before[1], p.before[2]};
    rig_values_free(all, 15, NULL, 0);
}

static void steps_go_into_pages(void)
{
    step(OP_TYPE_F16, false, false);
    step(OP_TYPE_F16, true, false);
    step(OP_TYPE_F32, true, true);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"steps_go_into_pages", steps_go_into_pages},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_qkv_cache", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
