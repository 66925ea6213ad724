/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of attention joined: against double on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

static const struct rig_bound near = {.of_largest = 4e-6, .at_all = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

static void join(enum op_type type, int64_t kind)
{
    enum { PARTS = 3, ROWS = 5, WIDTH = 8 };
    const int64_t dim[] = {ROWS, WIDTH}, list[] = {ROWS};
    struct rig_tensor part[PARTS], lse[PARTS],
        out = rig_values_make(type, 2, dim, RIG_DENSE, 20),
        all = rig_values_make(OP_TYPE_F32, 1, list, RIG_DENSE, 21);
    double want[ROWS * WIDTH] = {0}, want_lse[ROWS] = {0};
    for (unsigned k = 0; k < PARTS; k++) {
        part[k] = rig_values_make(type, 2, dim, k ? RIG_DENSE : RIG_PERMUTED, 1 + k);
        lse[k] = rig_values_make(OP_TYPE_F32, 1, list, RIG_DENSE, 10 + k);
        for (int64_t r = 0; r < ROWS; r++) {
            want_lse[r] += exp(rig_values_at(&lse[k], r));
        }
    }
    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        for (unsigned k = 0; k < PARTS; k++) {
            want[i] += rig_values_at(&part[k], i) * exp(rig_values_at(&lse[k], i / WIDTH)) /
                       want_lse[i / WIDTH];
        }
    }
    for (int64_t r = 0; r < ROWS; r++) {
        want_lse[r] = log(want_lse[r]);
    }
    aclTensorList *parts = rig_list_make(part, PARTS), *sums = rig_list_make(lse, PARTS);
    const aclnnStatus code =
        RIG_RUN_NAMED("AttentionUpdate", is_here(), {"lse", {.tensors = sums}},
                      {"local_out", {.tensors = parts}}, {"update_type", {.integer = kind}},
                      {"out", {.tensor = out.acl}}, {"lse_out", {.tensor = kind ? all.acl : NULL}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        rig_values_expect(&out, want, near, "joined");
        if (kind) {
            rig_values_expect(&all, want_lse, near, "sum");
        }
    }
    rig_list_free(parts, part, PARTS);
    rig_list_free(sums, lse, PARTS);
    rig_values_free(part, PARTS, NULL, 0);
    rig_values_free(lse, PARTS, NULL, 0);
    rig_tensor_free(&out);
    rig_tensor_free(&all);
}

static void parts_are_joined(void)
{
    join(OP_TYPE_F32, 1);
    join(OP_TYPE_F16, 0);
    join(OP_TYPE_BF16, 1);
}

enum { LONG = 4, BATCH = 2, HEADS = 3, EACH = 6, EIGHT = 8, SUMS = LONG * BATCH * HEADS };

/* Which sum an element of the attention has: [s, b, heads, width] and [b, heads, s]; tokens are
 * s * b, their sums in the same order. */
static int64_t sum_of(int64_t i, bool packed)
{
    const int64_t head = i / EACH % HEADS, b = i / EACH / HEADS % BATCH,
                  s = i / EACH / HEADS / BATCH;
    return packed ? i / EACH : (b * HEADS + head) * LONG + s;
}

static struct rig_tensor sums_make(bool packed, uint64_t seed, double least)
{
    const int64_t rows[] = {BATCH, HEADS, LONG, EIGHT}, tokens[] = {LONG * BATCH, HEADS, EIGHT};
    struct rig_tensor t =
        rig_values_make(OP_TYPE_F32, packed ? 3 : 4, packed ? tokens : rows, RIG_DENSE, seed);
    for (int64_t i = 0; i < SUMS * EIGHT; i++) {
        const double first = rig_values_at(&t, i / EIGHT * EIGHT);
        rig_put_d(rig_tensor_at(&t, i), OP_TYPE_F32, i % EIGHT ? first : first + least);
    }
    rig_tensor_put(&t);
    return t;
}

static void ring(enum op_type type, bool packed)
{
    static char sbh[] = "SBH", tnd[] = "TND", none[] = "";
    const int64_t rows[] = {LONG, BATCH, HEADS * EACH}, tokens[] = {LONG * BATCH, HEADS, EACH};
    const int64_t *dim = packed ? tokens : rows;
    struct rig_tensor a = rig_values_make(type, 3, dim, RIG_DENSE, 1),
                      b = rig_values_make(type, 3, dim, RIG_DENSE, 2),
                      out = rig_values_make(type, 3, dim, RIG_DENSE, 3),
                      m1 = sums_make(packed, 4, 0), s1 = sums_make(packed, 5, 3),
                      m2 = sums_make(packed, 6, 0), s2 = sums_make(packed, 7, 3),
                      m = sums_make(packed, 8, 0), s = sums_make(packed, 9, 3);
    double want[SUMS * EACH], want_m[SUMS * EIGHT], want_s[SUMS * EIGHT], share[2][SUMS];
    for (int64_t i = 0; i < SUMS * EIGHT; i++) {
        const double x = rig_values_at(&m1, i), y = rig_values_at(&m2, i), most = fmax(x, y),
                     left = rig_values_at(&s1, i) * exp(x - most),
                     right = rig_values_at(&s2, i) * exp(y - most);
        want_m[i] = most;
        want_s[i] = left + right;
        share[0][i / EIGHT] = i % EIGHT ? share[0][i / EIGHT] : left / (left + right);
        share[1][i / EIGHT] = i % EIGHT ? share[1][i / EIGHT] : right / (left + right);
    }
    for (int64_t i = 0; i < SUMS * EACH; i++) {
        const int64_t at = sum_of(i, packed);
        want[i] = rig_values_at(&a, i) * share[0][at] + rig_values_at(&b, i) * share[1][at];
    }
    const aclnnStatus code = RIG_RUN_NAMED(
        "RingAttentionUpdateV2", is_here(), {"prev_attn_out", {.tensor = a.acl}},
        {"prev_softmax_max", {.tensor = m1.acl}}, {"prev_softmax_sum", {.tensor = s1.acl}},
        {"cur_attn_out", {.tensor = b.acl}}, {"cur_softmax_max", {.tensor = m2.acl}},
        {"cur_softmax_sum", {.tensor = s2.acl}}, {"input_layout_ptr", {.text = packed ? tnd : sbh}},
        {"input_softmax_layout_ptr", {.text = packed ? tnd : none}},
        {"attn_out", {.tensor = out.acl}}, {"softmax_max", {.tensor = m.acl}},
        {"softmax_sum", {.tensor = s.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        rig_values_expect(&out, want, near, "attention");
        rig_values_expect(&m, want_m, near, "largest");
        rig_values_expect(&s, want_s, near, "sums");
    }
    CU_ASSERT_NOT_EQUAL(
        RIG_RUN_NAMED(
            "RingAttentionUpdateV2", false, {"prev_attn_out", {.tensor = a.acl}},
            {"prev_softmax_max", {.tensor = m1.acl}}, {"prev_softmax_sum", {.tensor = s1.acl}},
            {"cur_attn_out", {.tensor = b.acl}}, {"cur_softmax_max", {.tensor = m2.acl}},
            {"cur_softmax_sum", {.tensor = s2.acl}},
            {"input_layout_ptr", {.text = packed ? sbh : tnd}}, {"attn_out", {.tensor = out.acl}},
            {"softmax_max", {.tensor = m.acl}}, {"softmax_sum", {.tensor = s.acl}}),
        0);
    struct rig_tensor all[] = {a, b, out, m1, s1, m2, s2, m, s};
    rig_values_free(all, 9, NULL, 0);
}

static void rings_are_joined(void)
{
    ring(OP_TYPE_F32, false);
    ring(OP_TYPE_F32, true);
    ring(OP_TYPE_F16, false);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"parts_are_joined", parts_are_joined},
        {"rings_are_joined", rings_are_joined},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_parts", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
