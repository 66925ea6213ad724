/* SPDX-License-Identifier: Apache-2.0 */
/* Two products with an activation between them, windows of tokens compressed, the gradient of the
 * choice of experts: against double on the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>

static bool is_here(void)
{
    return rig_chip() == 1;
}

/* ---- two products ---- */

enum { ROWS = 9, K = 16, N1 = 24, N2 = 12, EXPERTS = 3 };

static double activate(const char *word, double x)
{
    switch (word[0]) {
    case 'r':
        return fmax(x, 0);
    case 's':
        return x / (1 + exp(-x));
    case 'f':
        return x / (1 + exp(-1.702 * fabs(x))) * exp(0.851 * (x - fabs(x)));
    default:
        return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    }
}

struct layer {
    struct rig_tensor x, w1, w2, b1, b2, y;
};

static void row_of(const struct layer *l, const char *word, enum op_type type, int64_t row,
                   int64_t expert, double *want)
{
    double inner[N1];
    for (int64_t n = 0; n < N1; n++) {
        inner[n] = rig_values_at(&l->b1, expert * N1 + n);
        for (int64_t k = 0; k < K; k++) {
            inner[n] += rig_values_at(&l->x, row * K + k) *
                        rig_values_at(&l->w1, (expert * K + k) * N1 + n);
        }
        inner[n] = rig_values_round(activate(word, inner[n]), type);
    }
    for (int64_t n = 0; n < N2; n++) {
        want[row * N2 + n] = rig_values_at(&l->b2, expert * N2 + n);
        for (int64_t k = 0; k < N1; k++) {
            want[row * N2 + n] += inner[k] * rig_values_at(&l->w2, (expert * N1 + k) * N2 + n);
        }
    }
}

static void layer(char *word, enum op_type type, bool experts, int64_t ends)
{
    static const int64_t counts[] = {4, 0, 3}, end_of[] = {4, 4, 7};
    const int64_t x[] = {ROWS, K}, w1[] = {EXPERTS, K, N1}, w2[] = {EXPERTS, N1, N2},
                  b1[] = {EXPERTS, N1}, b2[] = {EXPERTS, N2}, y[] = {ROWS, N2};
    const unsigned one = experts ? 0 : 1; // without experts there is no first dimension
    struct layer l = {rig_tensor_eighths(type, 2, x, RIG_PERMUTED, 1),
                      rig_tensor_eighths(type, 3 - one, w1 + one, RIG_DENSE, 2),
                      rig_tensor_eighths(type, 3 - one, w2 + one, RIG_DENSE, 3),
                      rig_tensor_eighths(OP_TYPE_F32, 2 - one, b1 + one, RIG_DENSE, 4),
                      rig_tensor_eighths(OP_TYPE_F32, 2 - one, b2 + one, RIG_DENSE, 5),
                      rig_values_make(type, 2, y, RIG_DENSE, 6)};
    aclIntArray *list = aclCreateIntArray(ends ? end_of : counts, experts ? EXPERTS : 0);
    char wrong[] = "geglu";
    double want[ROWS * N2] = {0};
    for (int64_t r = 0; r < (experts ? 7 : ROWS); r++) {
        row_of(&l, word, type, r, experts && r >= 4 ? 2 : 0, want);
    }
    const struct rig_named args[] = {{"x", {.tensor = l.x.acl}},
                                     {"weight1", {.tensor = l.w1.acl}},
                                     {"weight2", {.tensor = l.w2.acl}},
                                     {"expertTokens", {.ints = list}},
                                     {"bias1", {.tensor = l.b1.acl}},
                                     {"bias2", {.tensor = l.b2.acl}},
                                     {"activation", {.text = word}},
                                     {"y", {.tensor = l.y.acl}},
                                     {"tokensIndexFlag", {.integer = ends}}};
    CU_ASSERT_EQUAL(rig_run_named("FFNV2", args, 9, is_here()) == 0, is_here());
    if (is_here()) { /* an inner number may be rounded to its neighbour */
        const struct rig_bound near = {.of_largest = type == OP_TYPE_F16 ? 6e-4 : 1e-5,
                                       .roundings = 1};
        rig_values_expect(&l.y, want, near, word);
    }
    if (!ends) {
        CU_ASSERT_EQUAL(rig_run_named("FFN", args, 8, is_here()) == 0, is_here());
        CU_ASSERT_NOT_EQUAL(
            RIG_RUN_NAMED("FFN", false, {"x", {.tensor = l.x.acl}},
                          {"weight1", {.tensor = l.w1.acl}}, {"weight2", {.tensor = l.w2.acl}},
                          {"activation", {.text = wrong}}, {"y", {.tensor = l.y.acl}}),
            0);
    }
    (void)aclDestroyIntArray(list);
    struct rig_tensor all[] = {l.x, l.w1, l.w2, l.b1, l.b2, l.y};
    rig_values_free(all, 6, NULL, 0);
}

static void layers_have_two_products(void)
{
    static char relu[] = "relu", silu[] = "silu", fast[] = "fastgelu", gelu[] = "gelu";
    layer(relu, OP_TYPE_F32, false, 0);
    layer(silu, OP_TYPE_F16, true, 0);
    layer(fast, OP_TYPE_F16, true, 1);
    layer(gelu, OP_TYPE_F16, false, 0);
}

/* ---- windows ---- */

enum { TOKENS = 100, HEADS = 3, WIDTH = 4, PLANE = HEADS * WIDTH, MOST = 16 };

static void compress(enum op_type type, int64_t block, int64_t stride)
{
    static const int64_t ends[] = {0, 41, 50, 100};
    int64_t start[MOST], count = 0;
    for (unsigned s = 1; s < 4; s++) {
        for (int64_t t = ends[s - 1]; t + block <= ends[s]; t += stride) {
            start[count++] = t;
        }
    }
    const int64_t x_dim[] = {TOKENS, HEADS, WIDTH}, w_dim[] = {block, HEADS},
                  y_dim[] = {count, HEADS, WIDTH};
    struct rig_tensor x = rig_tensor_eighths(type, 3, x_dim, RIG_PERMUTED, 1),
                      w = rig_tensor_eighths(type, 2, w_dim, RIG_DENSE, 2),
                      y = rig_values_make(type, 3, y_dim, RIG_DENSE, 3),
                      dy = rig_tensor_eighths(type, 3, y_dim, RIG_PERMUTED, 4),
                      dx = rig_values_make(type, 3, x_dim, RIG_DENSE, 5),
                      dw = rig_values_make(type, 2, w_dim, RIG_DENSE, 6);
    static double want[MOST * PLANE], want_x[TOKENS * PLANE], want_w[64 * HEADS];
    for (int64_t i = 0; i < TOKENS * PLANE; i++) {
        want_x[i] = want_w[i % (64 * HEADS)] = 0;
    }
    for (int64_t i = 0; i < count * PLANE; i++) {
        const int64_t in = i % PLANE, head = in / WIDTH;
        want[i] = 0;
        for (int64_t t = 0; t < block; t++) {
            const int64_t from = (start[i / PLANE] + t) * PLANE + in;
            want[i] += rig_values_at(&x, from) * rig_values_at(&w, t * HEADS + head);
            want_x[from] += rig_values_at(&dy, i) * rig_values_at(&w, t * HEADS + head);
            want_w[t * HEADS + head] += rig_values_at(&dy, i) * rig_values_at(&x, from);
        }
    }
    aclIntArray *list = aclCreateIntArray(ends, 4);
    aclnnStatus code = RIG_RUN_NAMED(
        "NsaCompress", is_here(), {"input", {.tensor = x.acl}}, {"weight", {.tensor = w.acl}},
        {"actSeqLenOptional", {.ints = list}}, {"compressBlockSize", {.integer = block}},
        {"compressStride", {.integer = stride}}, {"output", {.tensor = y.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    code = RIG_RUN_NAMED(
        "NsaCompressGrad", is_here(), {"outputGrad", {.tensor = dy.acl}},
        {"input", {.tensor = x.acl}}, {"weight", {.tensor = w.acl}},
        {"actSeqLenOptional", {.ints = list}}, {"compressBlockSize", {.integer = block}},
        {"compressStride", {.integer = stride}}, {"inputGradOut", {.tensor = dx.acl}},
        {"weightGradOut", {.tensor = dw.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        const struct rig_bound near = {.of_largest = 1e-6, .roundings = 1};
        rig_values_expect(&y, want, near, "windows");
        rig_values_expect(&dx, want_x, near, "gradient by the input");
        rig_values_expect(&dw, want_w, near, "gradient by the weight");
    }
    CU_ASSERT_NOT_EQUAL(
        RIG_RUN_NAMED("NsaCompress", false, {"input", {.tensor = x.acl}},
                      {"weight", {.tensor = w.acl}}, {"actSeqLenOptional", {.ints = list}},
                      {"compressBlockSize", {.integer = block}},
                      {"compressStride", {.integer = stride}}, {"output", {.tensor = x.acl}}),
        0);
    (void)aclDestroyIntArray(list);
    struct rig_tensor all[] = {x, w, y, dy, dx, dw};
    rig_values_free(all, 6, NULL, 0);
}

// The last window of each sequence, if it ends with one, into its slot of a cache.
static void last_windows_are_compressed(void)
{
    enum { PAGE = 16, BLOCK = 24, STRIDE = 8, LINES = 3, SLOTS = 5, PAGES = 9 };
    static const int64_t lengths[LINES] = {40, 33, 24}, slots[LINES] = {4, 1, 0},
                         pages[LINES * 3] = {7, 2, 5, 0, 1, 3, 8, 4, 6},
                         x_dim[] = {PAGES, PAGE, HEADS, WIDTH}, w_dim[] = {BLOCK, HEADS},
                         y_dim[] = {SLOTS, HEADS, WIDTH}, line[] = {LINES}, grid[] = {LINES, 3};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F16, 4, x_dim, RIG_DENSE, 1),
                      w = rig_tensor_eighths(OP_TYPE_F16, 2, w_dim, RIG_DENSE, 2),
                      y = rig_values_make(OP_TYPE_F16, 3, y_dim, RIG_DENSE, 3),
                      slot = rig_tensor_make(OP_TYPE_I32, 1, line, RIG_DENSE, 4),
                      table = rig_tensor_make(OP_TYPE_I32, 2, grid, RIG_DENSE, 5);
    double want[SLOTS * PLANE];
    for (int64_t i = 0; i < LINES * 3; i++) {
        rig_put_i(rig_tensor_at(&table, i), OP_TYPE_I32, pages[i]);
        rig_put_i(rig_tensor_at(&slot, i / 3), OP_TYPE_I32, slots[i / 3]);
    }
    for (int64_t i = 0; i < SLOTS * PLANE; i++) {
        want[i] = rig_values_at(&y, i);
    }
    for (int64_t i = 0; i < LINES * PLANE; i++) { // the second sequence ends within a window
        const int64_t s = i / PLANE, in = i % PLANE;
        double sum = 0;
        for (int64_t t = 0; t < BLOCK && s != 1; t++) {
            const int64_t at = lengths[s] - BLOCK + t, page = pages[s * 3 + at / PAGE];
            sum += rig_values_at(&x, (page * PAGE + at % PAGE) * PLANE + in) *
                   rig_values_at(&w, t * HEADS + in / WIDTH);
        }
        want[slots[s] * PLANE + in] = s == 1 ? want[slots[s] * PLANE + in] : sum;
    }
    rig_tensor_put(&table);
    rig_tensor_put(&slot);
    aclIntArray *list = aclCreateIntArray(lengths, LINES);
    // Pages of another size, and lengths that are ends (0), are refused.
    static const int64_t calls[][2] = {{PAGE, 1}, {1, 1}, {PAGE, 0}};
    for (unsigned n = 0; n < sizeof(calls) / sizeof(calls[0]); n++) {
        const bool fits = is_here() && n == 0;
        const aclnnStatus code = RIG_RUN_NAMED(
            "NsaCompressWithCache", fits, {"input", {.tensor = x.acl}},
            {"weight", {.tensor = w.acl}}, {"slotMapping", {.tensor = slot.acl}},
            {"actSeqLenOptional", {.ints = list}}, {"blockTableOptional", {.tensor = table.acl}},
            {"compressBlockSize", {.integer = BLOCK}}, {"compressStride", {.integer = STRIDE}},
            {"actSeqLenType", {.integer = calls[n][1]}},
            {"pageBlockSize", {.integer = calls[n][0]}}, {"outputCache", {.tensor = y.acl}});
        CU_ASSERT_EQUAL(code == 0, fits);
    }
    if (is_here()) {
        rig_values_expect(&y, want, (struct rig_bound){.of_largest = 1e-6, .roundings = 1},
                          "cache");
    }
    (void)aclDestroyIntArray(list);
    rig_values_free((struct rig_tensor[]){x, w, y, slot, table}, 5, NULL, 0);
}

static void windows_are_compressed(void)
{
    compress(OP_TYPE_F16, 32, 16);
    compress(OP_TYPE_BF16, 16, 16);
    compress(OP_TYPE_F16, 40, 16);
}

/* ---- choice of experts ---- */

static void choices_have_gradients(void)
{
    enum { LINES = 5, ALL = 12, EACH = 4 };
    const int64_t dim[] = {LINES, ALL}, some[] = {LINES, EACH};
    struct rig_tensor s = rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1),
                      dy = rig_values_make(OP_TYPE_F16, 2, some, RIG_PERMUTED, 2),
                      list = rig_tensor_make(OP_TYPE_I32, 2, some, RIG_DENSE, 3),
                      dx = rig_values_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 4);
    double want[LINES * ALL] = {0};
    for (int64_t i = 0; i < LINES * ALL; i++) {
        rig_put_d(rig_tensor_at(&s, i), OP_TYPE_F32, 1 / (1 + exp(-rig_values_at(&s, i))));
    }
    for (int64_t i = 0; i < LINES * EACH; i++) {
        rig_put_i(rig_tensor_at(&list, i), OP_TYPE_I32, (i / EACH + i % EACH * 5) % ALL);
    }
    rig_tensor_put(&s);
    rig_tensor_put(&list);
    for (int64_t r = 0; r < LINES; r++) {
        double sum = 1e-20, mean = 0;
        for (int64_t k = 0; k < EACH; k++) {
            const double one = rig_values_at(&s, r * ALL + (r + k * 5) % ALL);
            sum += one;
            mean += one * rig_values_at(&dy, r * EACH + k);
        }
        for (int64_t k = 0; k < EACH; k++) {
            const int64_t at = r * ALL + (r + k * 5) % ALL;
            const double one = rig_values_at(&s, at);
            want[at] =
                2.5 * (rig_values_at(&dy, r * EACH + k) / sum - mean / sum / sum) * one * (1 - one);
        }
    }
    for (int64_t kind = 1; kind >= 0; kind--) {
        const aclnnStatus code = RIG_RUN_NAMED(
            "MoeGatingTopKBackward", is_here() && kind, {"x_norm", {.tensor = s.acl}},
            {"grad_y", {.tensor = dy.acl}}, {"expertIdx", {.tensor = list.acl}},
            {"norm_type", {.integer = kind}}, {"routed_scaling_factor", {.real = 2.5}},
            {"eps", {.real = 1e-20}}, {"out0", {.tensor = dx.acl}});
        CU_ASSERT_EQUAL(code == 0, is_here() && kind);
    }
    if (is_here()) {
        const struct rig_bound near = {.of_largest = 2e-6, .roundings = 1};
        rig_values_expect(&dx, want, near, "gradient by the scores");
    }
    struct rig_tensor all[] = {s, dy, list, dx};
    rig_values_free(all, 4, NULL, 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"layers_have_two_products", layers_have_two_products},
        {"windows_are_compressed", windows_are_compressed},
        {"last_windows_are_compressed", last_windows_are_compressed},
        {"choices_have_gradients", choices_have_gradients},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_steps", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
