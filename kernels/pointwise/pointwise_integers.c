/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers on the vector unit. A value is in f32 as long as it is at most 2^24 (sums of bytes,
 * truth values), else in words of 32 bits. Sums and products of words wrap around, as the result's
 * type does; where a wrapped word would tell another result (it is compared, or becomes a float),
 * the call is left to the scalar unit.
 */
#include "../tile/tile_list.h"

#include <string.h>

static const int64_t FLOAT_MAX = 1 << 24;

typedef struct op_list_value value_t;

static value_t *at(struct op_list *list, unsigned value)
{
    return &list->value[value];
}

static bool fits_word(int64_t lo, int64_t hi)
{
    return lo >= INT32_MIN && hi <= INT32_MAX;
}

static bool fits_float(int64_t lo, int64_t hi)
{
    return lo >= -FLOAT_MAX && hi <= FLOAT_MAX;
}

static unsigned new_number(struct op_list *list, int64_t number)
{
    const unsigned value = op_list_value(list, OP_LIST_NUMBER);
    at(list, value)->lo = at(list, value)->hi = number;
    return value;
}

static unsigned new_tile(struct op_list *list, bool word, int64_t lo, int64_t hi)
{
    const unsigned value = op_list_value(list, OP_LIST_TILE);
    at(list, value)->word = word;
    at(list, value)->lo = lo;
    at(list, value)->hi = hi;
    return value;
}

static bool is_number(struct op_list *list, unsigned value)
{
    return at(list, value)->kind == OP_LIST_NUMBER;
}

// Whether the value can be in f32, as it is or as a number.
static bool is_float(struct op_list *list, unsigned value)
{
    const value_t *v = at(list, value);
    return v->kind == OP_LIST_NUMBER ? fits_float(v->lo, v->hi) : !v->word;
}

static unsigned fill_bits(struct op_list *list, uint32_t bits)
{
    float as_float;
    memcpy(&as_float, &bits, sizeof(bits));
    return op_list_fill(list, as_float);
}

static unsigned to_word(struct op_list *list, unsigned value)
{
    const value_t v = *at(list, value);
    unsigned word;
    if (v.kind == OP_LIST_NUMBER) {
        word = fill_bits(list, (uint32_t)v.lo);
        at(list, word)->word = true;
        at(list, word)->wrapped = !fits_word(v.lo, v.hi);
        at(list, word)->lo = v.lo;
        at(list, word)->hi = v.hi;
        return word;
    }
    if (v.word) {
        return value;
    }
    word = new_tile(list, true, v.lo, v.hi);
    op_list_add(list, OP_TILE_TO_WORD, word, value, 0, 0);
    return word;
}

// Words as f32, rounded; whether they are zero stays.
static unsigned to_float(struct op_list *list, unsigned value)
{
    const value_t v = *at(list, value);
    unsigned wide;
    if (v.kind == OP_LIST_NUMBER) {
        wide = op_list_fill(list, (float)v.lo);
    } else if (!v.word) {
        return value;
    } else {
        list->failed = list->failed || v.wrapped;
        wide = op_list_value(list, OP_LIST_TILE);
        op_list_add(list, OP_TILE_TO_FLOAT, wide, value, 0, 0);
    }
    at(list, wide)->lo = v.lo;
    at(list, wide)->hi = v.hi;
    return wide;
}

static unsigned float_insn(struct op_list *list, unsigned code, unsigned a, unsigned b)
{
    const unsigned d = op_list_value(list, OP_LIST_TILE);
    op_list_add(list, code, d, to_float(list, a), to_float(list, b), 0);
    return d;
}

static unsigned word_insn(struct op_list *list, unsigned code, unsigned a, unsigned b)
{
    const unsigned left = to_word(list, a), right = to_word(list, b);
    const unsigned d = new_tile(list, true, INT32_MIN, INT32_MAX);
    op_list_add(list, code, d, left, right, 0);
    return d;
}

static int64_t fold(unsigned code, int64_t a, int64_t b)
{
    switch (code) {
    case OP_EXPR_ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case OP_EXPR_SUB:
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case OP_EXPR_MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case OP_EXPR_MAX:
        return a > b ? a : b;
    case OP_EXPR_MIN:
        return a < b ? a : b;
    case OP_EXPR_AND:
        return a & b;
    case OP_EXPR_OR:
        return a | b;
    case OP_EXPR_XOR:
        return a ^ b;
    case OP_EXPR_EQ:
        return a == b;
    case OP_EXPR_NE:
        return a != b;
    case OP_EXPR_LT:
        return a < b;
    case OP_EXPR_LE:
        return a <= b;
    case OP_EXPR_GT:
        return a > b;
    default:
        return a >= b;
    }
}

// What a sum, difference or product may be; of numbers beyond 2^32 nothing is known.
static void find_range(struct op_list *list, unsigned code, unsigned a, unsigned b, int64_t *lo,
                       int64_t *hi)
{
    const value_t x = *at(list, a), y = *at(list, b);
    const int64_t limit = (int64_t)1 << 32;
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    if (x.wrapped || y.wrapped || x.lo < -limit || x.hi > limit || y.lo < -limit || y.hi > limit) {
        return;
    }
    if (code == OP_EXPR_MUL) {
        if (!fits_word(x.lo, x.hi) || !fits_word(y.lo, y.hi)) {
            return;
        }
        const int64_t p[] = {x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi};
        *lo = *hi = p[0];
        for (unsigned i = 1; i < 4; i++) {
            *lo = p[i] < *lo ? p[i] : *lo;
            *hi = p[i] > *hi ? p[i] : *hi;
        }
        return;
    }
    *lo = code == OP_EXPR_ADD ? x.lo + y.lo : x.lo - y.hi;
    *hi = code == OP_EXPR_ADD ? x.hi + y.hi : x.hi - y.lo;
}

static bool is_neutral(struct op_list *list, unsigned code, unsigned b)
{
    return is_number(list, b) && at(list, b)->lo == (code == OP_EXPR_MUL ? 1 : 0);
}

static unsigned add_sum(struct op_list *list, unsigned code, unsigned a, unsigned b)
{
    int64_t lo, hi;
    if (is_neutral(list, code, b)) {
        return a;
    }
    if (code != OP_EXPR_SUB && is_neutral(list, code, a)) {
        return b;
    }
    find_range(list, code, a, b, &lo, &hi);
    unsigned d;
    if (is_float(list, a) && is_float(list, b) && fits_float(lo, hi)) {
        d = float_insn(list, OP_TILE_ADD + (code - OP_EXPR_ADD), a, b);
    } else {
        d = word_insn(list, OP_TILE_WORD_ADD + (code - OP_EXPR_ADD), a, b);
        at(list, d)->wrapped = !fits_word(lo, hi);
    }
    at(list, d)->lo = lo;
    at(list, d)->hi = hi;
    return d;
}

static void need_exact(struct op_list *list, unsigned a, unsigned b)
{
    list->failed = list->failed || at(list, a)->wrapped || at(list, b)->wrapped;
}

// The larger or smaller one; a number beyond what the other can be tells it.
static unsigned add_extreme(struct op_list *list, unsigned code, unsigned a, unsigned b)
{
    const bool max = code == OP_EXPR_MAX;
    need_exact(list, a, b);
    for (unsigned side = 0; side < 2; side++) {
        const value_t number = *at(list, side ? a : b), other = *at(list, side ? b : a);
        if (number.kind != OP_LIST_NUMBER) {
            continue;
        }
        if (max ? number.lo <= other.lo : number.lo >= other.hi) {
            return side ? b : a;
        }
        if (max ? number.lo >= other.hi : number.lo <= other.lo) {
            return side ? a : b;
        }
    }
    const value_t x = *at(list, a), y = *at(list, b);
    const bool floats = is_float(list, a) && is_float(list, b);
    const unsigned d = floats ? float_insn(list, max ? OP_TILE_MAX : OP_TILE_MIN, a, b)
                              : word_insn(list, max ? OP_TILE_WORD_MAX : OP_TILE_WORD_MIN, a, b);
    at(list, d)->lo = fold(code, x.lo, y.lo);
    at(list, d)->hi = fold(code, x.hi, y.hi);
    return d;
}

static unsigned new_mask(struct op_list *list, unsigned code, unsigned a, float number)
{
    const unsigned mask = op_list_value(list, OP_LIST_MASK);
    op_list_add(list, code, mask, a, op_list_number(list, number), 0);
    return mask;
}

// a < b if max(a, b) - a is not 0, words wrapped or not.
static unsigned compare_words(struct op_list *list, unsigned code, unsigned a, unsigned b)
{
    unsigned left = a, right = b;
    if (code == OP_EXPR_LT || code == OP_EXPR_GE) {
        left = word_insn(list, OP_TILE_WORD_MAX, a, b);
        right = a;
    } else if (code == OP_EXPR_GT || code == OP_EXPR_LE) {
        left = word_insn(list, OP_TILE_WORD_MAX, a, b);
        right = b;
    }
    const unsigned difference = word_insn(list, OP_TILE_WORD_SUB, left, right);
    const bool zero = code == OP_EXPR_EQ || code == OP_EXPR_GE || code == OP_EXPR_LE;
    return new_mask(list, zero ? OP_TILE_EQS : OP_TILE_NES, to_float(list, difference), 0);
}

static unsigned exchanged(unsigned code)
{
    return code == OP_EXPR_LT   ? OP_EXPR_GT
           : code == OP_EXPR_GT ? OP_EXPR_LT
           : code == OP_EXPR_LE ? OP_EXPR_GE
           : code == OP_EXPR_GE ? OP_EXPR_LE
                                : code;
}

static unsigned add_compare(struct op_list *list, unsigned code, unsigned a, unsigned b)
{
    need_exact(list, a, b);
    if (is_number(list, a)) {
        const unsigned other = a;
        a = b;
        b = other;
        code = exchanged(code);
    }
    const value_t x = *at(list, a), y = *at(list, b);
    if (is_number(list, b) && (y.lo < x.lo || y.lo > x.hi)) {
        return new_number(list, fold(code, x.lo, y.lo)); // the same for all it can be
    }
    if (!is_float(list, a) || !is_float(list, b)) {
        return compare_words(list, code, a, b);
    }
    if (is_number(list, b)) {
        return new_mask(list, OP_TILE_EQS + (code - OP_EXPR_EQ), a, (float)y.lo);
    }
    const unsigned mask = op_list_value(list, OP_LIST_MASK);
    op_list_add(list, OP_TILE_EQ + (code - OP_EXPR_EQ), mask, a, b, 0);
    return mask;
}

static unsigned add_select(struct op_list *list, unsigned mask, unsigned b, unsigned c)
{
    if (is_number(list, mask)) {
        return at(list, mask)->lo ? b : c;
    }
    const value_t x = *at(list, b), y = *at(list, c);
    const bool floats = is_float(list, b) && is_float(list, c);
    const unsigned left = floats ? to_float(list, b) : to_word(list, b),
                   right = floats ? to_float(list, c) : to_word(list, c);
    const unsigned d =
        new_tile(list, !floats, x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi);
    at(list, d)->wrapped = at(list, left)->wrapped || at(list, right)->wrapped;
    op_list_add(list, OP_TILE_SELECT, d, mask, left, right);
    return d;
}

static unsigned add_magnitude(struct op_list *list, unsigned a)
{
    const value_t v = *at(list, a);
    const int64_t most = v.lo == INT64_MIN ? INT64_MAX : -v.lo > v.hi ? -v.lo : v.hi;
    unsigned d;
    if (is_number(list, a)) {
        return new_number(list, v.lo < 0 ? (int64_t)(0 - (uint64_t)v.lo) : v.lo);
    }
    need_exact(list, a, a);
    if (v.lo >= 0) {
        return a;
    }
    if (!v.word) {
        d = float_insn(list, OP_TILE_ABS, a, a);
    } else {
        d = word_insn(list, OP_TILE_WORD_SUB, new_number(list, 0), a);
        d = word_insn(list, OP_TILE_WORD_MAX, d, a);
        at(list, d)->wrapped = most > INT32_MAX; // of the least word
    }
    at(list, d)->lo = 0;
    at(list, d)->hi = most;
    return d;
}

// Bits of numbers that fit k bits and a sign fit them again.
static void set_bits_range(struct op_list *list, unsigned d, const value_t *x, const value_t *y)
{
    int64_t most = 0;
    while (most < INT32_MAX &&
           (x->hi > most || y->hi > most || x->lo < -most - 1 || y->lo < -most - 1)) {
        most = most * 2 + 1;
    }
    at(list, d)->lo = x->lo < 0 || y->lo < 0 ? -most - 1 : 0;
    at(list, d)->hi = most;
    at(list, d)->wrapped =
        x->wrapped || y->wrapped || !fits_word(x->lo, x->hi) || !fits_word(y->lo, y->hi);
}

static unsigned add_bits(struct op_list *list, unsigned code, unsigned a, unsigned b)
{
    const value_t x = *at(list, a), y = *at(list, b);
    unsigned d;
    if (code == OP_EXPR_XOR) { // what is in one of them but not in both
        d = word_insn(list, OP_TILE_WORD_SUB, word_insn(list, OP_TILE_WORD_OR, a, b),
                      word_insn(list, OP_TILE_WORD_AND, a, b));
    } else {
        d = word_insn(list, code == OP_EXPR_AND ? OP_TILE_WORD_AND : OP_TILE_WORD_OR, a, b);
    }
    set_bits_range(list, d, &x, &y);
    return d;
}

static unsigned add_not(struct op_list *list, unsigned a)
{
    const value_t v = *at(list, a);
    if (is_number(list, a)) {
        return new_number(list, ~v.lo);
    }
    const unsigned d = new_tile(list, true, ~v.hi, ~v.lo), word = to_word(list, a);
    at(list, d)->wrapped = v.wrapped;
    op_list_add(list, OP_TILE_WORD_NOT, d, word, 0, 0);
    return d;
}

static unsigned add_expression(struct op_list *list, const struct op_expr_insn *insn,
                               const float *numbers)
{
    if (insn->code == OP_EXPR_CONST) {
        const float number = numbers[insn->a];
        list->failed = list->failed || !(number >= -FLOAT_MAX && number <= FLOAT_MAX) ||
                       (float)(int64_t)number != number;
        return new_number(list, list->failed ? 0 : (int64_t)number);
    }
    if (insn->code >= OP_EXPR_SIGNED) {
        list->failed = true;
        return 0;
    }
    const unsigned a = list->of[insn->a], b = list->of[insn->b], c = list->of[insn->c];
    switch (insn->code) {
    case OP_EXPR_SELECT:
        return add_select(list, a, b, c);
    case OP_EXPR_ABS:
        return add_magnitude(list, a);
    case OP_EXPR_NOT:
        return add_not(list, a);
    case OP_EXPR_DIV:
    case OP_EXPR_EXP:
    case OP_EXPR_LN:
    case OP_EXPR_SQRT:
        list->failed = true;
        return a;
    default:
        break;
    }
    if (is_number(list, a) && is_number(list, b)) {
        return new_number(list, fold(insn->code, at(list, a)->lo, at(list, b)->lo));
    }
    switch (insn->code) {
    case OP_EXPR_ADD:
    case OP_EXPR_SUB:
    case OP_EXPR_MUL:
        return add_sum(list, insn->code, a, b);
    case OP_EXPR_MAX:
    case OP_EXPR_MIN:
        return add_extreme(list, insn->code, a, b);
    case OP_EXPR_AND:
    case OP_EXPR_OR:
    case OP_EXPR_XOR:
        return add_bits(list, insn->code, a, b);
    default:
        return add_compare(list, insn->code, a, b);
    }
}

// Inputs as values: f32 or words, and what their types can hold.
static void take_inputs(struct op_list *list)
{
    const struct op_pointwise_work *work = list->work;
    for (unsigned i = 0, in = 0; i < work->op->var_count && !list->failed; i++) {
        value_t *v = at(list, list->of[i]);
        if (op_pointwise_is_place(work, i)) {
            v->hi = op_tensor_count(&work->out);
            in++;
            continue;
        }
        if (!work->is_tensor[i]) {
            v->lo = v->hi = work->integer[i];
            continue;
        }
        const enum op_type type = work->tensors[i].type;
        const uint8_t kind = list->args->in_kind[in++];
        const bool filled = kind == OP_TILE_ROW_NUMBER || kind == OP_TILE_COLUMN;
        const int64_t half = (int64_t)1 << (8 * op_type_bytes(type) - 1);
        const bool is_signed = type != OP_TYPE_U8 && type != OP_TYPE_BOOL;
        v->lo = is_signed ? -half : 0;
        v->hi = type == OP_TYPE_BOOL ? 1 : is_signed ? half - 1 : 2 * half - 1;
        v->word = type == OP_TYPE_I32;
        if (!v->word && !filled) {
            const unsigned wide = new_tile(list, false, v->lo, v->hi);
            op_list_add(list, OP_TILE_WIDEN, wide, list->of[i], (unsigned)type,
                        op_type_bytes(type) == 1 ? op_list_halfway(list) : 0);
            list->of[i] = (uint8_t)wide;
        }
    }
}

static unsigned to_truth(struct op_list *list, unsigned value)
{
    const value_t v = *at(list, value);
    if (v.kind == OP_LIST_NUMBER) {
        return new_number(list, v.lo != 0);
    }
    if (!v.word && v.lo >= 0 && v.hi <= 1) {
        return value;
    }
    const unsigned mask = new_mask(list, OP_TILE_NES, to_float(list, value), 0);
    return add_select(list, mask, new_number(list, 1), new_number(list, 0));
}

// The low bits of a value that does not fit the type, as the number they are.
static unsigned wrap_to(struct op_list *list, unsigned value, enum op_type type)
{
    const value_t v = *at(list, value);
    const unsigned bits = 8 * op_type_bytes(type);
    const bool is_signed = type != OP_TYPE_U8;
    const int64_t all = ((int64_t)1 << bits) - 1, half = is_signed ? (all + 1) / 2 : 0;
    if (!v.wrapped && v.lo >= -half && v.hi <= all - half) {
        return value;
    }
    if (v.kind == OP_LIST_NUMBER) {
        const int64_t low = v.lo & all;
        return new_number(list, low >= half && is_signed ? low - all - 1 : low);
    }
    if (half) { // so that both signs are in a row
        value = word_insn(list, OP_TILE_WORD_ADD, value, new_number(list, half));
    }
    unsigned low = word_insn(list, OP_TILE_WORD_AND, value, new_number(list, all));
    at(list, low)->lo = 0;
    at(list, low)->hi = all;
    low = to_float(list, low);
    return half ? add_sum(list, OP_EXPR_SUB, low, new_number(list, half)) : low;
}

static void put_output(struct op_list *list, unsigned result)
{
    const enum op_type type = list->work->out.type;
    struct op_tile_args *args = list->args;
    if (type == OP_TYPE_BOOL) {
        result = to_truth(list, result);
    } else if (type == OP_TYPE_I8 || type == OP_TYPE_U8 || type == OP_TYPE_I16) {
        result = wrap_to(list, result, type);
    }
    result = type == OP_TYPE_I32 ? to_word(list, result) : to_float(list, result);
    args->out_bytes = (uint8_t)op_type_bytes(type);
    args->out_slot = op_list_slot(list, args->out_bytes, true);
    const unsigned out = op_list_value(list, OP_LIST_TILE);
    at(list, out)->slot = args->out_slot;
    if (type == OP_TYPE_I32 || type == OP_TYPE_F32) {
        op_list_move(list, out, result);
    } else {
        op_list_add(list, OP_TILE_NARROW, out, result, (unsigned)type,
                    args->out_bytes == 1 ? op_list_halfway(list) : 0);
    }
}

void op_list_integers(struct op_list *list, const struct op_expr *expression)
{
    take_inputs(list);
    for (unsigned i = 0; i < expression->count && !list->failed; i++) {
        if (list->ofs == OP_LIST_EXPRS) {
            list->failed = true;
            return;
        }
        const unsigned value = add_expression(list, &expression->insns[i], expression->numbers);
        list->of[list->ofs++] = (uint8_t)value;
    }
    if (!list->failed) {
        put_output(list, list->of[list->ofs - 1]);
    }
}
