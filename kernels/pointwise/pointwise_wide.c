/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit integers on the vector unit: as two words of 32 bits each, apart (decision 32). What has
 * no exact way there (products, quotients, shifts) is left to the scalar unit.
 */
#include "../frame/chain.h"
#include "move_steps.h"
#include "pointwise.h"

#include <string.h>

enum {
    LEAST_WIDE = 16384, /**< [A] elements; fewer are done sooner on the scalar unit, */
    LEAST_LOW = 2048,   /**< [A] or, if only lower words are taken, so many */
};

/** An operand or a result, as words; broadcast dimensions are of one element. */
struct words {
    struct op_tensor low, high;
};

struct wide {
    struct op_chain chain;
    const struct op_pointwise_work *work;
    struct op_tensor out; /**< dense: the call's or a temporary */
    bool repeats;         /**< operands have the whole shape, as they all repeat a dimension */
};

// The variable that is the parameter `name`, or its twin written in place (selfRef).
static unsigned find_var(const struct op_pointwise_work *work, const char *name)
{
    unsigned var = 0;
    while (var + 1 < work->op->var_count &&
           strncmp(work->call->row->params[work->op->var[var]].name, name, strlen(name)) != 0) {
        var++;
    }
    return var;
}

// The tensor without its repetitions.
static struct op_tensor without_repeats(const struct op_tensor *tensor)
{
    struct op_tensor once = *tensor;
    for (unsigned i = 0; i < once.rank; i++) {
        if (once.stride[i] == 0) {
            once.dim[i] = 1;
        }
    }
    return once;
}

static struct words words_temp(struct wide *w, const struct op_tensor *shape)
{
    const struct words made = {op_chain_temp_like(&w->chain, OP_TYPE_I32, shape),
                               op_chain_temp_like(&w->chain, OP_TYPE_I32, shape)};
    return made;
}

static void fill_word(struct wide *w, const struct op_tensor *word, uint32_t bits)
{
    const struct op_scalar number = op_scalar_int((int32_t)bits);
    OP_CHAIN_CALL(&w->chain, "InplaceFillScalar", op_value_tensor(word), op_value_scalar(&number));
}

static struct words words_of_number(struct wide *w, const struct op_tensor *shape, int64_t number)
{
    const struct words made = words_temp(w, shape);
    fill_word(w, &made.low, (uint32_t)number);
    fill_word(w, &made.high, (uint32_t)((uint64_t)number >> 32));
    return made;
}

static struct words words_of_one(struct wide *w, int64_t number)
{
    const struct op_tensor one = op_tensor_dense(0, OP_TYPE_I32, 0, NULL);
    return words_of_number(w, &one, number);
}

// high = the sign of low.
static void extend(struct wide *w, const struct words *words)
{
    OP_CHAIN_CALL(&w->chain, "WideSign", op_value_tensor(&words->low),
                  op_value_tensor(&words->high));
}

static struct words words_of(struct wide *w, const char *name)
{
    const struct op_pointwise_work *work = w->work;
    const unsigned var = find_var(work, name);
    struct words made = {0};
    if (!work->is_tensor[var]) {
        return words_of_one(w, work->integer[var]);
    }
    const struct op_tensor *given = &work->tensors[var],
                           once = w->repeats ? *given : without_repeats(given);
    if (once.type != OP_TYPE_I64) {
        made = words_temp(w, &once);
        op_chain_copy(&w->chain, &made.low, &once);
        extend(w, &made);
        return made;
    }
    const struct op_tensor dense = op_chain_dense(&w->chain, OP_TYPE_I64, &once);
    if (w->chain.status == LEO_OK) {
        w->chain.status = op_move_plan_words(w->chain.plan, &dense, &made.low, &made.high);
    }
    return made;
}

static void join(struct wide *w, const struct words *words)
{
    if (w->chain.status == LEO_OK) {
        w->chain.status = op_move_plan_join(w->chain.plan, &words->low, &words->high, &w->out);
    }
}

// A row over the words of a and b.
static void apply(struct wide *w, const char *row, const struct words *a, const struct words *b,
                  const struct op_tensor *out)
{
    OP_CHAIN_CALL(&w->chain, row, op_value_tensor(&a->low), op_value_tensor(&a->high),
                  op_value_tensor(&b->low), op_value_tensor(&b->high), op_value_tensor(out));
}

static void plan_compare(struct wide *w, const char *row, bool swapped)
{
    const struct words a = words_of(w, "self"), b = words_of(w, "other");
    apply(w, row, swapped ? &b : &a, swapped ? &a : &b, &w->out);
}

static void plan_equal(struct wide *w)
{
    plan_compare(w, "WideEqual", false);
}

static void plan_unequal(struct wide *w)
{
    plan_compare(w, "WideUnequal", false);
}

static void plan_less(struct wide *w)
{
    plan_compare(w, "WideLess", false);
}

static void plan_greater(struct wide *w)
{
    plan_compare(w, "WideLess", true);
}

static void plan_at_least(struct wide *w)
{
    plan_compare(w, "WideAtLeast", false);
}

static void plan_at_most(struct wide *w)
{
    plan_compare(w, "WideAtLeast", true);
}

// The lower words as they are; the upper ones with what the lower ones carry, which the sum tells
// and the difference's operands.
static struct words sum_of(struct wide *w, const struct words *a, const struct words *b)
{
    const struct words sum = words_temp(w, &w->out);
    const struct op_scalar one = op_scalar_int(1);
    OP_CHAIN_CALL(&w->chain, "Add", op_value_tensor(&a->low), op_value_tensor(&b->low),
                  op_value_scalar(&one), op_value_tensor(&sum.low));
    apply(w, "WideSumHigh", a, &(struct words){sum.low, b->high}, &sum.high);
    return sum;
}

static struct words difference_of(struct wide *w, const struct words *a, const struct words *b)
{
    const struct words difference = words_temp(w, &w->out);
    const struct op_scalar one = op_scalar_int(1);
    OP_CHAIN_CALL(&w->chain, "Sub", op_value_tensor(&a->low), op_value_tensor(&b->low),
                  op_value_scalar(&one), op_value_tensor(&difference.low));
    apply(w, "WideDifferenceHigh", a, b, &difference.high);
    return difference;
}

static void plan_add(struct wide *w)
{
    const struct words a = words_of(w, "self"), b = words_of(w, "other"), sum = sum_of(w, &a, &b);
    join(w, &sum);
}

static void plan_difference(struct wide *w, const char *from, const char *what)
{
    const struct words a = words_of(w, from), b = words_of(w, what),
                       difference = difference_of(w, &a, &b);
    join(w, &difference);
}

static void plan_sub(struct wide *w)
{
    plan_difference(w, "self", "other");
}

static void plan_rsub(struct wide *w)
{
    plan_difference(w, "other", "self");
}

static void plan_neg(struct wide *w)
{
    const struct words zero = words_of_one(w, 0), a = words_of(w, "self"),
                       minus = difference_of(w, &zero, &a);
    join(w, &minus);
}

static void each_word(struct wide *w, const char *row)
{
    const struct words a = words_of(w, "self"), b = words_of(w, "other"),
                       made = words_temp(w, &w->out);
    OP_CHAIN_CALL(&w->chain, row, op_value_tensor(&a.low), op_value_tensor(&b.low),
                  op_value_tensor(&made.low));
    OP_CHAIN_CALL(&w->chain, row, op_value_tensor(&a.high), op_value_tensor(&b.high),
                  op_value_tensor(&made.high));
    join(w, &made);
}

static void plan_and(struct wide *w)
{
    each_word(w, "BitwiseAndTensor");
}

static void plan_or(struct wide *w)
{
    each_word(w, "BitwiseOrTensor");
}

static void plan_xor(struct wide *w)
{
    each_word(w, "BitwiseXorTensor");
}

static void choose(struct wide *w, const struct op_tensor *condition, const struct words *a,
                   const struct words *b)
{
    const struct words made = words_temp(w, &w->out);
    OP_CHAIN_CALL(&w->chain, "SWhere", op_value_tensor(condition), op_value_tensor(&a->low),
                  op_value_tensor(&b->low), op_value_tensor(&made.low));
    OP_CHAIN_CALL(&w->chain, "SWhere", op_value_tensor(condition), op_value_tensor(&a->high),
                  op_value_tensor(&b->high), op_value_tensor(&made.high));
    join(w, &made);
}

static void plan_abs(struct wide *w)
{
    const struct words zero = words_of_one(w, 0), a = words_of(w, "self"),
                       minus = difference_of(w, &zero, &a);
    const struct op_tensor less = op_chain_temp_like(&w->chain, OP_TYPE_BOOL, &w->out);
    apply(w, "WideLess", &a, &zero, &less);
    choose(w, &less, &minus, &a);
}

static void plan_where(struct wide *w)
{
    const struct words a = words_of(w, "self"), b = words_of(w, "other");
    choose(w, &w->work->tensors[find_var(w->work, "condition")], &a, &b);
}

static void plan_extreme(struct wide *w, bool largest)
{
    const struct words a = words_of(w, "self"), b = words_of(w, "other");
    const struct op_tensor less = op_chain_temp_like(&w->chain, OP_TYPE_BOOL, &w->out);
    apply(w, "WideLess", &a, &b, &less);
    choose(w, &less, largest ? &b : &a, largest ? &a : &b);
}

static void plan_max(struct wide *w)
{
    plan_extreme(w, true);
}

static void plan_min(struct wide *w)
{
    plan_extreme(w, false);
}

static void plan_fill(struct wide *w)
{
    struct words made;
    if (w->work->is_tensor[0]) {
        const struct words one = words_of(w, "value");
        made = words_temp(w, &w->out);
        op_chain_copy(&w->chain, &made.low, &one.low);
        op_chain_copy(&w->chain, &made.high, &one.high);
    } else {
        made = words_of_number(w, &w->out, w->work->integer[0]);
    }
    join(w, &made);
}

static void plan_one(struct wide *w)
{
    const struct words made = words_of_number(w, &w->out, 1);
    join(w, &made);
}

// Floats without their fractions, by their magnitudes.
static void plan_whole(struct wide *w)
{
    const struct op_tensor given = w->repeats ? w->work->tensors[0]
                                              : without_repeats(&w->work->tensors[0]),
                           in = op_chain_dense(&w->chain, given.type, &given),
                           negative = op_chain_temp_like(&w->chain, OP_TYPE_BOOL, &in);
    const struct words zero = words_of_one(w, 0), size = words_temp(w, &in),
                       minus = words_temp(w, &in);
    const struct op_scalar none = op_scalar_int(0), one = op_scalar_int(1);
    const struct op_tensor number = op_chain_temp_like(&w->chain, OP_TYPE_F32, &in);
    OP_CHAIN_CALL(&w->chain, "WideUpper", op_value_tensor(&in), op_value_tensor(&number));
    op_chain_copy(&w->chain, &size.high, &number);
    OP_CHAIN_CALL(&w->chain, "WideLower", op_value_tensor(&in), op_value_tensor(&number));
    op_chain_copy(&w->chain, &size.low, &number);
    OP_CHAIN_CALL(&w->chain, "LtScalar", op_value_tensor(&in), op_value_scalar(&none),
                  op_value_tensor(&negative));
    OP_CHAIN_CALL(&w->chain, "Sub", op_value_tensor(&zero.low), op_value_tensor(&size.low),
                  op_value_scalar(&one), op_value_tensor(&minus.low));
    apply(w, "WideDifferenceHigh", &zero, &size, &minus.high);
    choose(w, &negative, &minus, &size);
}

// One half of a word, where it lies in it.
static struct op_tensor half_of(struct wide *w, const struct op_tensor *word, bool upper)
{
    const struct op_tensor half = op_chain_temp_like(&w->chain, OP_TYPE_I32, word);
    const struct op_scalar bits = op_scalar_int(upper ? -65536 : 65535);
    OP_CHAIN_CALL(&w->chain, "BitwiseAndScalar", op_value_tensor(word), op_value_scalar(&bits),
                  op_value_tensor(&half));
    return half;
}

// Each half is exact in f32; narrower floats are rounded from f32, as the scalar unit does.
static void plan_float(struct wide *w)
{
    const struct words a = words_of(w, "self");
    const struct op_tensor d3 = half_of(w, &a.high, true), d2 = half_of(w, &a.high, false),
                           d1 = half_of(w, &a.low, true), d0 = half_of(w, &a.low, false),
                           number = w->out.type == OP_TYPE_F32
                                        ? w->out
                                        : op_chain_temp_like(&w->chain, OP_TYPE_F32, &w->out);
    OP_CHAIN_CALL(&w->chain, "WideFloat", op_value_tensor(&d3), op_value_tensor(&d2),
                  op_value_tensor(&d1), op_value_tensor(&d0), op_value_tensor(&number));
    if (w->out.type != OP_TYPE_F32) {
        op_chain_copy(&w->chain, &w->out, &number);
    }
}

// Conversions to and from integers, and truth values.
static void plan_cast(struct wide *w)
{
    const struct op_tensor *out = &w->out;
    if (op_type_is_float(w->work->tensors[0].type)) {
        plan_whole(w);
    } else if (op_type_is_float(out->type)) {
        plan_float(w);
    } else if (out->type == OP_TYPE_I64) {
        const struct words made = words_of(w, "self");
        join(w, &made);
    } else if (out->type == OP_TYPE_BOOL) {
        const struct words a = words_of(w, "self"), zero = words_of_one(w, 0);
        apply(w, "WideUnequal", &a, &zero, out);
    } else {
        const struct op_tensor in = op_chain_dense(&w->chain, OP_TYPE_I64, &w->work->tensors[0]);
        if (w->chain.status == LEO_OK) {
            w->chain.status = op_move_plan_low_words(w->chain.plan, &in, out);
        }
    }
}

static const struct way {
    const char *row;
    void (*plan)(struct wide *w);
    unsigned vars; /**< of the expression */
    bool truth;    /**< the result */
} ways[] = {
    {"EqTensor", plan_equal, 2, true},
    {"EqScalar", plan_equal, 2, true},
    {"NeTensor", plan_unequal, 2, true},
    {"NeScalar", plan_unequal, 2, true},
    {"LtTensor", plan_less, 2, true},
    {"LtScalar", plan_less, 2, true},
    {"GtTensor", plan_greater, 2, true},
    {"GtScalar", plan_greater, 2, true},
    {"GeTensor", plan_at_least, 2, true},
    {"GeScalar", plan_at_least, 2, true},
    {"LeTensor", plan_at_most, 2, true},
    {"LeScalar", plan_at_most, 2, true},
    {"Add", plan_add, 3, false},
    {"Adds", plan_add, 3, false},
    {"Sub", plan_sub, 3, false},
    {"Subs", plan_sub, 3, false},
    {"Rsub", plan_rsub, 3, false},
    {"Rsubs", plan_rsub, 3, false},
    {"Neg", plan_neg, 1, false},
    {"Abs", plan_abs, 1, false},
    {"BitwiseAndTensor", plan_and, 2, false},
    {"BitwiseAndScalar", plan_and, 2, false},
    {"BitwiseOrTensor", plan_or, 2, false},
    {"BitwiseOrScalar", plan_or, 2, false},
    {"BitwiseXorTensor", plan_xor, 2, false},
    {"BitwiseXorScalar", plan_xor, 2, false},
    {"SWhere", plan_where, 3, false},
    {"Maximum", plan_max, 2, false},
    {"Minimum", plan_min, 2, false},
    {"InplaceFillScalar", plan_fill, 1, false},
    {"InplaceOne", plan_one, 0, false},
};

// By the expression, which rows share: it has the name of one of them.
static const struct way *find_way(const struct op_pointwise_work *work)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        const struct op_pointwise *op = op_row_find(ways[i].row)->data;
        if (op->var_count == ways[i].vars && strcmp(work->op->name, op->name) == 0) {
            return &ways[i];
        }
    }
    return NULL;
}

// Whether there is a dimension that every operand repeats: what rows make of such operands would
// lack it.
static bool all_repeat(const struct op_pointwise_work *work)
{
    for (unsigned d = 0; d < work->out.rank; d++) {
        bool repeated = work->out.dim[d] > 1;
        for (unsigned i = 0; i < work->op->var_count; i++) {
            repeated = repeated && (!work->is_tensor[i] || work->tensors[i].stride[d] == 0);
        }
        if (repeated) {
            return true;
        }
    }
    return false;
}

static bool is_small_integer(enum op_type type)
{
    return type == OP_TYPE_I32 || type == OP_TYPE_BOOL || type == OP_TYPE_U8 ||
           type == OP_TYPE_I8 || type == OP_TYPE_I16;
}

static bool fits_cast(const struct op_pointwise_work *work)
{
    const enum op_type from = work->tensors[0].type, to = work->out.type;
    return op_pointwise_is_copy(work) &&
           ((from == OP_TYPE_I64 &&
             (to == OP_TYPE_I32 || to == OP_TYPE_BOOL || to <= OP_TYPE_BF16)) ||
            (to == OP_TYPE_I64 && (is_small_integer(from) || from <= OP_TYPE_BF16)));
}

// All operands are integers of 64 bits, or narrower ones that become so; other numbers too.
static bool fits_way(const struct op_pointwise_work *work, const struct way *way)
{
    const bool chooses = way->plan == plan_where, sums = way->vars == 3 && !chooses;
    const unsigned condition = find_var(work, "condition"), alpha = find_var(work, "alpha");
    const enum op_type common = chooses || way->vars == 0 ? work->out.type : work->common;
    if (common != OP_TYPE_I64 || work->out.type != (way->truth ? OP_TYPE_BOOL : OP_TYPE_I64) ||
        (sums && (work->is_tensor[alpha] || work->real[alpha] != 1))) {
        return false;
    }
    for (unsigned i = 0; i < work->op->var_count; i++) {
        const enum op_type type = work->tensors[i].type;
        if (chooses && i == condition) {
            continue;
        }
        if (work->is_tensor[i] ? type != OP_TYPE_I64 && !is_small_integer(type)
                               : work->real[i] != (double)work->integer[i]) {
            return false;
        }
    }
    return true;
}

leo_status op_pointwise_plan_wide(const struct op_pointwise_work *work)
{
    const struct way *way = find_way(work);
    const bool cast = fits_cast(work);
    const bool low = cast && work->out.type == OP_TYPE_I32;
    if (op_tensor_count(&work->out) < (low ? LEAST_LOW : LEAST_WIDE) ||
        !(cast || (way && fits_way(work, way)))) {
        return OP_DECLINED;
    }
    struct wide w = {.chain = op_chain_begin(work->call), .work = work, .out = work->out};
    w.repeats = all_repeat(work) &&
                (cast || way->vars > 1 || way->plan == plan_neg || way->plan == plan_abs);
    if (!op_tensor_is_dense(&work->out)) {
        w.out = op_chain_temp_like(&w.chain, work->out.type, &work->out);
    }
    if (cast) {
        plan_cast(&w);
    } else {
        way->plan(&w);
    }
    if (w.out.addr != work->out.addr) {
        op_chain_copy(&w.chain, &work->out, &w.out);
    }
    return w.chain.status;
}
