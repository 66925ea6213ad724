/* SPDX-License-Identifier: Apache-2.0 */
/* An expression over f32 as tile instructions. Numbers of the call are folded (alpha = 1 costs
 * nothing), and what only an unused branch needs is left out. */
#include "../tile/tile_list.h"

#include <math.h>

unsigned op_list_tile(struct op_list *list, unsigned value)
{
    return list->value[value].kind == OP_LIST_NUMBER ? op_list_fill(list, list->value[value].number)
                                                     : value;
}

/* What is known of a value before there is a list. */
struct op_folded {
    bool known, used;
    float number; /* if it is known */
};

static unsigned operands_of(const struct op_expr_insn *insn)
{
    switch (insn->code) {
    case OP_EXPR_CONST:
    case OP_EXPR_DIGITS:
        return 0;
    case OP_EXPR_ABS:
    case OP_EXPR_EXP:
    case OP_EXPR_LN:
    case OP_EXPR_SQRT:
    case OP_EXPR_TO_WORD:
    case OP_EXPR_TO_FLOAT:
    case OP_EXPR_NOT:
        return 1;
    case OP_EXPR_SELECT:
    case OP_EXPR_FMA:
        return 3;
    case OP_EXPR_FALLBACK:
        return 4;
    default:
        return 2;
    }
}

static float fold_number(unsigned code, float a, float b)
{
    switch (code) {
    case OP_EXPR_ADD:
        return a + b;
    case OP_EXPR_SUB:
        return a - b;
    case OP_EXPR_MUL:
        return a * b;
    case OP_EXPR_DIV:
        return a / b;
    case OP_EXPR_MAX:
        return a > b ? a : b;
    case OP_EXPR_MIN:
        return a < b ? a : b;
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
    case OP_EXPR_GE:
        return a >= b;
    case OP_EXPR_ABS:
        return fabsf(a);
    case OP_EXPR_EXP:
        return expf(a);
    case OP_EXPR_LN:
        return logf(a);
    case OP_EXPR_SQRT:
        return sqrtf(a);
    default: // OP_EXPR_SIGNED
        return copysignf(a, b);
    }
}

static bool folds(unsigned code)
{
    return (code >= OP_EXPR_ADD && code <= OP_EXPR_GE) || code == OP_EXPR_SIGNED;
}

// Whether a number decides which operand this is.
static bool chooses(const struct op_expr_insn *insn, const struct op_folded *folded)
{
    const struct op_folded *a = &folded[insn->a];
    return (insn->code == OP_EXPR_SELECT && a->known) ||
           (insn->code == OP_EXPR_FALLBACK && a->known && a->number != 0);
}

static float digits_of(enum op_type type)
{
    return type == OP_TYPE_F16 ? 11 : type == OP_TYPE_BF16 ? 8 : 24;
}

// The most that any tensor has: formulas for few digits count on their operands' range, too.
static float most_digits(const struct op_pointwise_work *work)
{
    float most = digits_of(work->out.type);
    for (unsigned i = 0; i < work->op->var_count; i++) {
        most = work->is_tensor[i] ? fmaxf(most, digits_of(work->tensors[i].type)) : most;
    }
    return most;
}

// Numbers of numbers: the parameters of a call often decide between formulas.
static void fold(const struct op_pointwise_work *work, const struct op_expr *expression,
                 struct op_folded *folded)
{
    for (unsigned i = 0; i < work->op->var_count; i++) {
        folded[i] =
            (struct op_folded){.known = !work->is_tensor[i] && !op_pointwise_is_place(work, i),
                               .number = (float)work->real[i]};
    }
    for (unsigned i = 0; i < expression->count; i++) {
        const struct op_expr_insn *insn = &expression->insns[i];
        struct op_folded *d = &folded[work->op->var_count + i];
        const struct op_folded *a = &folded[insn->a], *b = &folded[insn->b];
        *d = (struct op_folded){.known = false};
        if (insn->code == OP_EXPR_CONST) {
            *d = (struct op_folded){.known = true, .number = expression->numbers[insn->a]};
        } else if (insn->code == OP_EXPR_DIGITS) {
            *d = (struct op_folded){.known = true, .number = most_digits(work)};
        } else if (chooses(insn, folded)) {
            *d = a->number != 0 ? *b : folded[insn->c];
        } else if (folds(insn->code) && a->known && (operands_of(insn) == 1 || b->known)) {
            d->known = true;
            d->number = fold_number(insn->code, a->number, b->number);
        }
    }
}

static void find_used(const struct op_pointwise_work *work, const struct op_expr *expression,
                      struct op_folded *folded)
{
    folded[work->op->var_count + expression->count - 1].used = true;
    for (unsigned i = expression->count; i-- > 0;) {
        const struct op_expr_insn *insn = &expression->insns[i];
        const struct op_folded *d = &folded[work->op->var_count + i];
        const unsigned operand[] = {insn->a, insn->b, insn->c, insn->d};
        if (!d->used || d->known) {
            continue;
        }
        if (chooses(insn, folded)) {
            folded[folded[insn->a].number != 0 ? insn->b : insn->c].used = true;
            continue;
        }
        for (unsigned k = 0; k < operands_of(insn); k++) {
            folded[operand[k]].used = true;
        }
    }
}

static bool is_compare(unsigned code)
{
    return code >= OP_EXPR_EQ && code <= OP_EXPR_GE;
}

// The comparison with its sides exchanged.
static unsigned exchanged(unsigned code)
{
    switch (code) {
    case OP_EXPR_LT:
        return OP_EXPR_GT;
    case OP_EXPR_LE:
        return OP_EXPR_GE;
    case OP_EXPR_GT:
        return OP_EXPR_LT;
    case OP_EXPR_GE:
        return OP_EXPR_LE;
    default:
        return code;
    }
}

// d = a `code` number.
static void add_with_number(struct op_list *list, unsigned code, unsigned d, unsigned a,
                            float number)
{
    if ((code == OP_EXPR_MUL || code == OP_EXPR_DIV) && number == 1) {
        list->value[d].same = (int)a;
        return;
    }
    switch (code) {
    case OP_EXPR_ADD:
        op_list_add(list, OP_TILE_ADDS, d, a, op_list_number(list, number), 0);
        return;
    case OP_EXPR_SUB:
        op_list_add(list, OP_TILE_ADDS, d, a, op_list_number(list, -number), 0);
        return;
    case OP_EXPR_MUL:
        op_list_add(list, OP_TILE_MULS, d, a, op_list_number(list, number), 0);
        return;
    case OP_EXPR_MAX:
        op_list_add(list, OP_TILE_MAXS, d, a, op_list_number(list, number), 0);
        return;
    case OP_EXPR_MIN:
        op_list_add(list, OP_TILE_MINS, d, a, op_list_number(list, number), 0);
        return;
    default:
        op_list_add(list, OP_TILE_EQS + (code - OP_EXPR_EQ), d, a, op_list_number(list, number), 0);
        return;
    }
}

static void add_two(struct op_list *list, unsigned code, unsigned d, unsigned a, unsigned b)
{
    const bool a_number = list->value[a].kind == OP_LIST_NUMBER,
               b_number = list->value[b].kind == OP_LIST_NUMBER;
    const bool swaps =
        code == OP_EXPR_ADD || code == OP_EXPR_MUL || code == OP_EXPR_MAX || code == OP_EXPR_MIN;
    if (b_number && (code != OP_EXPR_DIV || list->value[b].number == 1)) {
        add_with_number(list, code, d, a, list->value[b].number);
        return;
    }
    if (a_number && (swaps || is_compare(code))) {
        add_with_number(list, exchanged(code), d, b, list->value[a].number);
        return;
    }
    if (a_number && code == OP_EXPR_DIV && list->value[a].number == 1) {
        op_list_add(list, OP_TILE_RECIPROCAL, d, b, 0, 0); // as exact as the division
        return;
    }
    a = op_list_tile(list, a);
    b = op_list_tile(list, b);
    op_list_add(list,
                is_compare(code) ? OP_TILE_EQ + (code - OP_EXPR_EQ)
                                 : OP_TILE_ADD + (code - OP_EXPR_ADD),
                d, a, b, 0);
}

// d = a, which is not negative, with the sign of b.
static void add_signed(struct op_list *list, unsigned d, unsigned a, unsigned b)
{
    const unsigned sign = op_list_value(list, OP_LIST_TILE);
    op_list_add(list, OP_TILE_WORD_AND, sign, b, op_list_fill(list, -0.0f), 0);
    op_list_add(list, OP_TILE_WORD_OR, d, op_list_tile(list, a), sign, 0);
}

// d = first factor * second factor + third operand; one factor has to be a tile.
static void add_fma(struct op_list *list, unsigned d, const unsigned *of)
{
    unsigned a = op_list_tile(list, of[0]);
    if (list->value[of[0]].kind == OP_LIST_NUMBER && list->value[of[1]].kind == OP_LIST_NUMBER) {
        const unsigned tile = op_list_value(list, OP_LIST_TILE);
        op_list_move(list, tile, a);
        a = tile;
    }
    op_list_add(list, OP_TILE_FMA, d, a, op_list_tile(list, of[1]), op_list_tile(list, of[2]));
}

static void add_float(struct op_list *list, const struct op_expr_insn *insn, unsigned d,
                      const unsigned *of)
{
    const unsigned a = op_list_tile(list, of[0]), b = op_list_tile(list, of[1]);
    switch (insn->code) {
    case OP_EXPR_SIGNED:
        add_signed(list, d, a, b);
        return;
    case OP_EXPR_BITS_AND:
        op_list_add(list, OP_TILE_WORD_AND, d, a, b, 0);
        return;
    case OP_EXPR_BITS_OR:
        op_list_add(list, OP_TILE_WORD_OR, d, a, b, 0);
        return;
    case OP_EXPR_FMA:
        add_fma(list, d, of);
        return;
    case OP_EXPR_FALLBACK:
        op_list_fallback(list, (enum op_fallback)insn->e, d, a, b, op_list_tile(list, of[2]),
                         op_list_tile(list, of[3]));
        return;
    default: // of bits and numbers
        op_list_add(list, OP_TILE_TO_WORD + (insn->code - OP_EXPR_TO_WORD), d, a, 0, 0);
        return;
    }
}

static void add_expression(struct op_list *list, const struct op_expr_insn *insn,
                           const struct op_folded *folded)
{
    const struct op_folded *own = &folded[list->ofs];
    list->failed =
        list->failed || (insn->code > OP_EXPR_SELECT && insn->code < OP_EXPR_SIGNED); // bits
    if (!own->used) {
        list->of[list->ofs++] = 0;
        return;
    }
    const unsigned d = op_list_value(list, is_compare(insn->code) ? OP_LIST_MASK : OP_LIST_TILE);
    list->of[list->ofs++] = (uint8_t)d;
    if (own->known) {
        list->value[d].kind = OP_LIST_NUMBER;
        list->value[d].number = own->number;
        return;
    }
    const unsigned operand[] = {insn->a, insn->b, insn->c, insn->d};
    unsigned of[4] = {0};
    for (unsigned i = 0; i < operands_of(insn); i++) {
        of[i] = op_list_real(list, list->of[operand[i]]);
    }
    if (chooses(insn, folded)) {
        list->value[d].same = (int)(folded[insn->a].number != 0 ? of[1] : of[2]);
        return;
    }
    switch (insn->code) {
    case OP_EXPR_ABS:
    case OP_EXPR_EXP:
    case OP_EXPR_LN:
    case OP_EXPR_SQRT:
        op_list_add(list, OP_TILE_ABS + (insn->code - OP_EXPR_ABS), d, of[0], 0, 0);
        return;
    case OP_EXPR_SELECT:
        op_list_add(list, OP_TILE_SELECT, d, of[0], op_list_tile(list, of[1]),
                    op_list_tile(list, of[2]));
        return;
    default:
        if (insn->code >= OP_EXPR_SIGNED) {
            add_float(list, insn, d, of);
        } else {
            add_two(list, insn->code, d, of[0], of[1]);
        }
        return;
    }
}

void op_list_floats(struct op_list *list, const struct op_expr *expression)
{
    const struct op_pointwise_work *work = list->work;
    struct op_folded folded[OP_LIST_EXPRS];
    if (work->op->var_count + expression->count > OP_LIST_EXPRS) {
        list->failed = true;
        return;
    }
    fold(work, expression, folded);
    find_used(work, expression, folded);
    for (unsigned i = 0; i < expression->count && !list->failed; i++) {
        add_expression(list, &expression->insns[i], folded);
    }
}
