/* SPDX-License-Identifier: Apache-2.0 */
/* Attention and RotaryEmbedding of opset 23, made of products and softmax. */
#include "values.h"

#include <math.h>
#include <string.h>

static const uint32_t by_head[] = {0, 2, 1, 3}; // [batch, rows, heads, width] and back

// As [batch, heads, rows, width]; heads 0: it has four dimensions already.
static uint32_t heads_of(struct onnx_import *import, size_t index, int64_t heads)
{
    struct onnx_tensor *in = onnx_input(import, index);
    if (!in || (in->rank != 4 && (in->rank != 3 || heads < 1 || in->dim[2] % heads))) {
        onnx_fail(import, "its input %zu has not four dimensions, or three and heads", index);
        return 0;
    }
    const bool flat = in->rank == 3;
    const int64_t dim[] = {in->dim[0], in->dim[1], heads, flat ? in->dim[2] / heads : 0};
    const uint32_t x = onnx_value(import, in);
    return flat ? onnx_made_turned(import, onnx_made_flat(import, x, 4, dim), by_head) : x;
}

// As the input was: three dimensions are [batch, rows, heads * width].
static uint32_t as_input(struct onnx_import *import, uint32_t x, bool flat)
{
    const struct leo_model_value seen = onnx_seen(import, x);
    const int64_t dim[] = {seen.dim[0], seen.dim[2], seen.dim[1] * seen.dim[3]};
    return flat ? onnx_made_flat(import, onnx_made_turned(import, x, by_head), 3, dim) : x;
}

// Behind what came before, if the input with it is given.
static uint32_t behind_past(struct onnx_import *import, size_t index, uint32_t x)
{
    struct onnx_tensor *past = onnx_input(import, index);
    if (!past) {
        return x;
    }
    const uint32_t parts[] = {onnx_value(import, past), x};
    struct leo_model_value seen = onnx_seen(import, x);
    seen.dim[2] += past->rank == 4 ? past->dim[2] : 0;
    const uint32_t out = model_build_value(&import->build, import->floats, 4, seen.dim);
    MODEL_BUILD_CALL(&import->build, "Cat", model_build_tensors(parts, 2), model_build_number(2),
                     model_build_tensor(out));
    return out;
}

// Each head of keys or values serves as many heads of queries that follow each other.
static uint32_t shared_heads(struct onnx_import *import, uint32_t x, int64_t heads)
{
    const struct leo_model_value seen = onnx_seen(import, x);
    if (import->build.failed || seen.dim[1] == heads) {
        return x;
    }
    if (seen.dim[1] < 1 || heads % seen.dim[1]) {
        onnx_fail(import, "its heads of keys do not divide those of queries");
        return 0;
    }
    const int64_t each = heads / seen.dim[1],
                  dim[] = {seen.dim[0], seen.dim[1], each, seen.dim[2], seen.dim[3]},
                  stride[] = {seen.stride[0], seen.stride[1], 0, seen.stride[2], seen.stride[3]},
                  out[] = {seen.dim[0], heads, seen.dim[2], seen.dim[3]};
    return onnx_made_flat(import, model_build_view(&import->build, x, 5, dim, stride, 0), 4, out);
}

// What is added to the scores where a mask says no.
static uint32_t summand_of(struct onnx_import *import, uint32_t mask)
{
    static const int64_t one = 1;
    const struct leo_model_value seen = onnx_seen(import, mask);
    if (seen.dtype != LEO_DTYPE_B8) {
        return mask;
    }
    const uint32_t zero = onnx_made_full(import, import->floats, 1, &one, 0),
                   least = onnx_made_full(import, import->floats, 1, &one, -(double)INFINITY),
                   out = model_build_value(&import->build, import->floats, seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, "SWhere", model_build_tensor(mask), model_build_tensor(zero),
                     model_build_tensor(least), model_build_tensor(out));
    return out;
}

// Row i sees what is not behind it.
static uint32_t causal_mask(struct onnx_import *import, int64_t rows, int64_t columns)
{
    const int64_t dim[] = {rows, columns};
    const uint32_t all = onnx_made_full(import, LEO_DTYPE_B8, 2, dim, 1);
    return summand_of(import, onnx_made_with(import, "Tril", all, 0));
}

static uint32_t masked(struct onnx_import *import, uint32_t scores, bool has_past)
{
    struct onnx_tensor *mask = onnx_input(import, 3);
    const struct leo_model_value seen = onnx_seen(import, scores);
    if (onnx_attribute_int(import, "is_causal", 0)) {
        if (has_past) {
            onnx_fail(import, "is_causal with what came before is not served");
            return 0;
        }
        scores = onnx_made_of(import, "Add", scores, causal_mask(import, seen.dim[2], seen.dim[3]),
                              import->floats);
    }
    if (mask && (mask->rank < 1 || mask->dim[mask->rank - 1] != seen.dim[3])) {
        onnx_fail(import, "its mask is shorter than the keys");
        return 0;
    }
    return mask ? onnx_made_of(import, "Add", scores, summand_of(import, onnx_value(import, mask)),
                               import->floats)
                : scores;
}

static uint32_t product(struct onnx_import *import, uint32_t a, uint32_t b)
{
    const struct leo_model_value left = onnx_seen(import, a), right = onnx_seen(import, b);
    const int64_t dim[] = {left.dim[0], left.dim[1], left.dim[2], right.dim[3]};
    if (import->build.failed || left.dim[3] != right.dim[2] || left.dim[0] != right.dim[0]) {
        onnx_fail(import, "its queries, keys and values do not fit");
        return 0;
    }
    const uint32_t out = model_build_value(&import->build, import->floats, 4, dim);
    MODEL_BUILD_CALL(&import->build, "Matmul", model_build_tensor(a), model_build_tensor(b),
                     model_build_tensor(out), model_build_number(0));
    return out;
}

static uint32_t shares_of(struct onnx_import *import, uint32_t scores)
{
    const struct leo_model_value seen = onnx_seen(import, scores);
    const uint32_t out = model_build_value(&import->build, import->floats, 4, seen.dim);
    MODEL_BUILD_CALL(&import->build, "Softmax", model_build_tensor(scores), model_build_number(3),
                     model_build_tensor(out));
    return out;
}

// Scores before softmax; the fourth output shows them where its mode says.
static uint32_t score(struct onnx_import *import, uint32_t q, uint32_t k, bool has_past)
{
    static const uint32_t turned[] = {0, 1, 3, 2};
    const int64_t mode = onnx_attribute_int(import, "qk_matmul_output_mode", 0);
    const struct leo_model_value seen = onnx_seen(import, q);
    const double width = import->build.failed ? 1 : (double)seen.dim[3],
                 scale = onnx_attribute(import, "scale")
                             ? (double)onnx_attribute_float(import, "scale", 1)
                             : 1 / sqrt(width),
                 cap = (double)onnx_attribute_float(import, "softcap", 0);
    uint32_t x =
        product(import, onnx_made_with(import, "Muls", q, sqrt(scale)),
                onnx_made_turned(import, onnx_made_with(import, "Muls", k, sqrt(scale)), turned));
    if (mode == 0) {
        onnx_give(import, 3, LEO_DTYPE_F32, x);
    }
    x = masked(import, x, has_past);
    if (mode == 1) {
        onnx_give(import, 3, LEO_DTYPE_F32, x);
    }
    if (cap > 0) {
        x = onnx_made_with(import, "Muls",
                           onnx_made(import, "Tanh", onnx_made_with(import, "Muls", x, 1 / cap)),
                           cap);
    }
    if (mode == 2) {
        onnx_give(import, 3, LEO_DTYPE_F32, x);
    }
    return x;
}

void onnx_attention(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0);
    const bool has_past = onnx_input(import, 4) != NULL, flat = in && in->rank == 3;
    if (onnx_input(import, 6)) {
        onnx_fail(import, "lengths of keys are not served");
        return;
    }
    const uint32_t q = heads_of(import, 0, onnx_attribute_int(import, "q_num_heads", 0)),
                   own_k = heads_of(import, 1, onnx_attribute_int(import, "kv_num_heads", 0)),
                   own_v = heads_of(import, 2, onnx_attribute_int(import, "kv_num_heads", 0));
    if (import->build.failed) {
        return;
    }
    const int64_t heads = onnx_seen(import, q).dim[1];
    const uint32_t k = behind_past(import, 4, own_k), v = behind_past(import, 5, own_v),
                   shares = shares_of(import,
                                      score(import, q, shared_heads(import, k, heads), has_past));
    if (onnx_attribute_int(import, "qk_matmul_output_mode", 0) == 3) {
        onnx_give(import, 3, LEO_DTYPE_F32, shares);
    }
    const uint32_t out = product(import, shares, shared_heads(import, v, heads));
    onnx_give(import, 0, LEO_DTYPE_F32, as_input(import, out, flat));
    onnx_give(import, 1, LEO_DTYPE_F32, k);
    onnx_give(import, 2, LEO_DTYPE_F32, v);
}

/* ---- the pattern that exporters write ---- */

// The chips of the second generation have it as one operator. It pays in half precision, where
// features lie side by side, as exporters have them: else it copies its inputs.
static bool has_flash(const struct onnx_import *import, const uint32_t *qkv)
{
    return import->floats == LEO_DTYPE_F16 && strstr(import->options->soc, "910B") &&
           onnx_seen(import, qkv[0]).stride[3] == 1 && onnx_seen(import, qkv[1]).stride[2] == 1 &&
           onnx_seen(import, qkv[2]).stride[3] == 1;
}

// A mask as [batch or 1, heads or 1, queries, keys], which the operator takes.
static uint32_t whole_mask(struct onnx_import *import, uint32_t mask, int64_t queries, int64_t keys)
{
    const struct leo_model_value seen = onnx_seen(import, mask);
    int64_t dim[4] = {1, 1, 1, 1}, stride[4] = {0};
    for (uint32_t d = 0; d < seen.rank && seen.rank <= 4; d++) {
        dim[4 - seen.rank + d] = seen.dim[d];
        stride[4 - seen.rank + d] = seen.dim[d] == 1 ? 0 : seen.stride[d];
    }
    dim[2] = queries;
    dim[3] = keys;
    const uint32_t view = model_build_view(&import->build, mask, 4, dim, stride, 0);
    const uint32_t out = model_build_value(&import->build, import->floats, 4, dim);
    MODEL_BUILD_CALL(&import->build, "InplaceCopy", model_build_tensor(out),
                     model_build_tensor(view));
    return out;
}

static uint32_t flash(struct onnx_import *import, const uint32_t *qkv, double scale)
{
    static const uint32_t turned[] = {0, 1, 3, 2};
    struct onnx_tensor *mask = onnx_input(import, 3);
    struct leo_model_value seen = onnx_seen(import, qkv[0]);
    const uint32_t k = onnx_made_turned(import, qkv[1], turned);
    const struct leo_model_arg none = model_build_none(),
                               heads = model_build_number((double)seen.dim[1]),
                               all = model_build_number(INT32_MAX);
    const int64_t queries = seen.dim[2], keys = onnx_seen(import, k).dim[2];
    seen.dim[3] = onnx_seen(import, qkv[2]).dim[3];
    const struct leo_model_arg added =
        mask ? model_build_tensor(whole_mask(import, onnx_value(import, mask), queries, keys))
             : none;
    const uint32_t out = model_build_value(&import->build, import->floats, 4, seen.dim);
    MODEL_BUILD_CALL(&import->build, "PromptFlashAttention", model_build_tensor(qkv[0]),
                     model_build_tensor(k), model_build_tensor(qkv[2]), added, none, none, heads,
                     model_build_number(scale), all, all, model_build_text("BNSD"), heads,
                     model_build_tensor(out));
    return out;
}

void onnx_fused_attention(struct onnx_import *import)
{
    uint32_t qkv[3] = {0};
    for (size_t i = 0; i < 3 && !import->build.failed; i++) {
        struct onnx_tensor *in = onnx_input(import, i);
        qkv[i] = in ? onnx_value(import, in) : 0;
    }
    // Of three ways to write it one is there, the others are 1.
    const double root = (double)onnx_attribute_float(import, "root", 1),
                 scale = root * root * (double)onnx_attribute_float(import, "scale", 1) /
                         (double)onnx_attribute_float(import, "divisor", 1);
    if (import->build.failed) {
        return;
    }
    if (has_flash(import, qkv)) {
        onnx_give(import, 0, LEO_DTYPE_F32, flash(import, qkv, scale));
        return;
    }
    const uint32_t x = product(import, onnx_made_with(import, "Muls", qkv[0], scale), qkv[1]),
                   shares = shares_of(import, masked(import, x, false));
    onnx_give(import, 0, LEO_DTYPE_F32, product(import, shares, qkv[2]));
}

// Cosines or sines as [batch, 1, rows, half]: rows of a table if places are given.
static uint32_t turns_of(struct onnx_import *import, size_t index, const struct leo_model_value *x,
                         int64_t half)
{
    struct onnx_tensor *table = onnx_input(import, index), *places = onnx_input(import, 3);
    const int64_t rows = x->dim[0] * x->dim[2], dim[] = {x->dim[0], 1, x->dim[2], half};
    uint32_t value = onnx_value(import, table);
    if (!table || table->rank < 2 || table->dim[table->rank - 1] < half ||
        (places ? onnx_count(places) != rows || table->rank != 2
                : onnx_count(table) != rows * table->dim[table->rank - 1])) {
        onnx_fail(import, "its cosines, sines and places do not fit");
        return 0;
    }
    if (places) {
        value = onnx_made_rows(import, value, 0,
                               onnx_made_flat(import, onnx_value(import, places), 1, &rows));
    }
    const int64_t width = table->dim[table->rank - 1], whole[] = {rows, width}, step[] = {width, 1},
                  part[] = {rows, half};
    value = onnx_made_flat(import, value, 2, whole);
    return onnx_made_flat(import, model_build_view(&import->build, value, 2, part, step, 0), 4,
                          dim);
}

static void turn(struct onnx_import *import, uint32_t x, uint32_t out, int64_t half)
{
    const enum leo_dtype own = import->floats;
    const bool mixed = onnx_attribute_int(import, "interleaved", 0) != 0;
    struct leo_model_value seen = onnx_seen(import, x), made = onnx_seen(import, out);
    const uint32_t cosines = turns_of(import, 1, &seen, half),
                   sines = turns_of(import, 2, &seen, half);
    const int64_t dim[] = {seen.dim[0], seen.dim[1], seen.dim[2], half};
    if (import->build.failed) {
        return;
    }
    seen.stride[3] *= mixed ? 2 : 1;
    const int64_t gap = mixed ? 1 : half, from = onnx_seen(import, x).stride[3] * gap;
    const uint32_t first = model_build_view(&import->build, x, 4, dim, seen.stride, 0),
                   second = model_build_view(&import->build, x, 4, dim, seen.stride, from);
    made.stride[3] *= mixed ? 2 : 1;
    const uint32_t real =
                       onnx_made_of(import, "Sub", onnx_made_of(import, "Mul", first, cosines, own),
                                    onnx_made_of(import, "Mul", second, sines, own), own),
                   imaginary =
                       onnx_made_of(import, "Add", onnx_made_of(import, "Mul", first, sines, own),
                                    onnx_made_of(import, "Mul", second, cosines, own), own);
    MODEL_BUILD_CALL(
        &import->build, "InplaceCopy",
        model_build_tensor(model_build_view(&import->build, out, 4, dim, made.stride, 0)),
        model_build_tensor(real));
    MODEL_BUILD_CALL(
        &import->build, "InplaceCopy",
        model_build_tensor(model_build_view(&import->build, out, 4, dim, made.stride, gap)),
        model_build_tensor(imaginary));
}

void onnx_rotary(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0);
    const bool flat = in && in->rank == 3;
    const uint32_t x = heads_of(import, 0, onnx_attribute_int(import, "num_heads", 0));
    const struct leo_model_value seen = onnx_seen(import, x);
    int64_t width = onnx_attribute_int(import, "rotary_embedding_dim", 0);
    width = width ? width : seen.dim[3];
    if (import->build.failed || width < 2 || width % 2 || width > seen.dim[3]) {
        onnx_fail(import, "its rotary_embedding_dim is no even number within the head");
        return;
    }
    // What is not turned stays.
    const uint32_t out = model_build_value(&import->build, import->floats, 4, seen.dim);
    MODEL_BUILD_CALL(&import->build, "InplaceCopy", model_build_tensor(out), model_build_tensor(x));
    turn(import, x, out, width / 2);
    onnx_give(import, 0, LEO_DTYPE_F32, as_input(import, out, flat));
}
