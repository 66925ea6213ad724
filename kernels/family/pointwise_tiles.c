/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise operators on the vector unit: the expression becomes a list of tile instructions.
 * Numbers are folded (alpha = 1 costs nothing), values get slots in UB by how long they live, and
 * the tile is as large as the slots allow.
 */
#include "pointwise.h"

#include "../device/pointwise_args.h"
#include "../device/tile_args.h"

#include <math.h>
#include <string.h>

enum {
    VALUES = 96,
    NOT_YET = 0xff,
    ROW_BYTES = 256,    /* of a repeat: half of the bank groups of the unified buffer */
    BANK_BYTES = 65536, /* after which a group moves on to its next bank */
};

enum kind { TILE, NUMBER, MASK };

/** A value of the expression, and later of the list. */
struct value {
    enum kind kind;
    float number;
    int same;     /**< the value it is another name of */
    int last_use; /**< position in the list, -1 = none */
    uint8_t slot;
};

/** The list being made. Operands are values until slots are given out. */
struct list {
    const struct op_pointwise_work *work;
    uint8_t kind[OP_POINTWISE_MAX]; /**< of each tensor, enum op_tile_input */
    struct value value[VALUES];
    unsigned values;
    uint8_t of[VALUES]; /**< values of the expression -> values here */
    unsigned ofs;
    struct op_tile_insn insn[OP_TILE_INSNS];
    unsigned insns;
    struct op_tile_args *args;
    unsigned slot_bytes[OP_TILE_SLOTS]; /**< an element, both halves of a double slot */
    bool slot_double[OP_TILE_SLOTS];
    unsigned slots;
    uint8_t halfway; /**< slot of f16 between f32 and 8-bit types, NOT_YET if none */
    bool failed;     /**< something had no room or no instruction */
};

static unsigned new_value(struct list *list, enum kind kind)
{
    if (list->values == VALUES) {
        list->failed = true;
        return 0;
    }
    list->value[list->values] =
        (struct value){.kind = kind, .same = -1, .last_use = -1, .slot = NOT_YET};
    return list->values++;
}

static uint8_t new_slot(struct list *list, unsigned bytes, bool twice)
{
    if (list->slots == OP_TILE_SLOTS) {
        list->failed = true;
        return 0;
    }
    list->slot_bytes[list->slots] = bytes * (twice ? 2 : 1);
    list->slot_double[list->slots] = twice;
    return (uint8_t)list->slots++;
}

static uint8_t add_number(struct list *list, float number)
{
    struct op_tile_args *args = list->args;
    for (unsigned i = 0; i < args->numbers; i++) {
        if (memcmp(&args->number[i], &number, sizeof(number)) == 0) {
            return (uint8_t)i;
        }
    }
    if (args->numbers == OP_TILE_NUMBERS) {
        list->failed = true;
        return 0;
    }
    args->number[args->numbers] = number;
    return args->numbers++;
}

static unsigned real_value(const struct list *list, unsigned value)
{
    while (list->value[value].same >= 0) {
        value = (unsigned)list->value[value].same;
    }
    return value;
}

static void add_insn(struct list *list, unsigned code, unsigned d, unsigned a, unsigned b,
                     unsigned c)
{
    if (list->insns == OP_TILE_INSNS) {
        list->failed = true;
        return;
    }
    list->insn[list->insns++] = (struct op_tile_insn){
        .code = (uint8_t)code, .d = (uint8_t)d, .a = (uint8_t)a, .b = (uint8_t)b, .c = (uint8_t)c};
}

// A number as a whole tile, filled once.
static unsigned tile_of_number(struct list *list, unsigned value)
{
    struct op_tile_args *args = list->args;
    if (list->value[value].kind != NUMBER) {
        return value;
    }
    const uint8_t number = add_number(list, list->value[value].number);
    const unsigned tile = new_value(list, TILE);
    for (unsigned i = 0; i < args->fills; i++) {
        if (args->fill_number[i] == number) {
            list->value[tile].slot = args->fill_slot[i];
            return tile;
        }
    }
    if (args->fills == OP_TILE_NUMBERS) {
        list->failed = true;
        return tile;
    }
    list->value[tile].slot = new_slot(list, 4, false);
    args->fill_slot[args->fills] = list->value[tile].slot;
    args->fill_number[args->fills++] = number;
    return tile;
}

static float fold_numbers(unsigned code, float a, float b)
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
    default:
        return a >= b;
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
static void add_with_number(struct list *list, unsigned code, unsigned d, unsigned a, float number)
{
    if ((code == OP_EXPR_MUL || code == OP_EXPR_DIV) && number == 1) {
        list->value[d].same = (int)a;
        return;
    }
    switch (code) {
    case OP_EXPR_ADD:
        add_insn(list, OP_TILE_ADDS, d, a, add_number(list, number), 0);
        return;
    case OP_EXPR_SUB:
        add_insn(list, OP_TILE_ADDS, d, a, add_number(list, -number), 0);
        return;
    case OP_EXPR_MUL:
        add_insn(list, OP_TILE_MULS, d, a, add_number(list, number), 0);
        return;
    case OP_EXPR_MAX:
        add_insn(list, OP_TILE_MAXS, d, a, add_number(list, number), 0);
        return;
    case OP_EXPR_MIN:
        add_insn(list, OP_TILE_MINS, d, a, add_number(list, number), 0);
        return;
    default:
        add_insn(list, OP_TILE_EQS + (code - OP_EXPR_EQ), d, a, add_number(list, number), 0);
        return;
    }
}

static void add_two(struct list *list, unsigned code, unsigned d, unsigned a, unsigned b)
{
    const bool a_number = list->value[a].kind == NUMBER, b_number = list->value[b].kind == NUMBER;
    if (a_number && b_number) {
        list->value[d].kind = NUMBER;
        list->value[d].number = fold_numbers(code, list->value[a].number, list->value[b].number);
        return;
    }
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
        add_insn(list, OP_TILE_RECIPROCAL, d, b, 0, 0); // as exact as the division
        return;
    }
    a = tile_of_number(list, a);
    b = tile_of_number(list, b);
    add_insn(list,
             is_compare(code) ? OP_TILE_EQ + (code - OP_EXPR_EQ)
                              : OP_TILE_ADD + (code - OP_EXPR_ADD),
             d, a, b, 0);
}

static void add_expression(struct list *list, const struct op_expr_insn *insn, const float *numbers)
{
    const unsigned d = new_value(list, is_compare(insn->code) ? MASK : TILE);
    if (list->ofs == VALUES) {
        list->failed = true;
        return;
    }
    list->of[list->ofs++] = (uint8_t)d;
    if (insn->code == OP_EXPR_CONST) {
        list->value[d].kind = NUMBER;
        list->value[d].number = numbers[insn->a];
        return;
    }
    const unsigned a = real_value(list, list->of[insn->a]), b = real_value(list, list->of[insn->b]),
                   c = real_value(list, list->of[insn->c]);
    switch (insn->code) {
    case OP_EXPR_ABS:
    case OP_EXPR_EXP:
    case OP_EXPR_LN:
    case OP_EXPR_SQRT:
        list->failed = list->failed || list->value[a].kind == NUMBER;
        add_insn(list, OP_TILE_ABS + (insn->code - OP_EXPR_ABS), d, a, 0, 0);
        return;
    case OP_EXPR_SELECT:
        if (list->value[a].kind == NUMBER) {
            list->value[d].same = (int)(list->value[a].number != 0 ? b : c);
            return;
        }
        add_insn(list, OP_TILE_SELECT, d, a, tile_of_number(list, b), tile_of_number(list, c));
        return;
    default:
        add_two(list, insn->code, d, a, b);
        return;
    }
}

static uint8_t halfway_slot(struct list *list)
{
    if (list->halfway == NOT_YET) {
        list->halfway = new_slot(list, 2, false);
    }
    return list->halfway;
}

static bool is_narrow(enum op_type type)
{
    return op_type_bytes(type) == 1;
}

// Inputs: a slot to load into and, for types that are not f32, the value as f32.
static void add_inputs(struct list *list, const struct op_pointwise_space *space)
{
    struct op_tile_args *args = list->args;
    const struct op_pointwise_work *work = list->work;
    for (unsigned i = 0; i < work->op->var_count; i++) {
        const unsigned value = new_value(list, work->is_tensor[i] ? TILE : NUMBER);
        list->of[list->ofs++] = (uint8_t)value;
        list->value[value].number = (float)work->real[i];
        if (!work->is_tensor[i]) {
            list->failed = list->failed ||
                           (work->op->var[i] >= OP_VAR_INDEX && work->op->var[i] != OP_VAR_IS_BOOL);
            continue;
        }
        const struct op_tensor *tensor = &work->tensors[i];
        const unsigned at = args->ins++;
        const uint8_t kind = list->kind[i];
        const bool filled = kind == OP_TILE_ROW_NUMBER || kind == OP_TILE_COLUMN;
        if (at >= OP_TILE_INS) {
            list->failed = true;
            return;
        }
        args->in[at] = tensor->addr;
        args->in_type[at] = (uint8_t)tensor->type;
        args->in_bytes[at] = (uint8_t)op_type_bytes(tensor->type);
        args->in_kind[at] = kind;
        args->in_slot[at] = filled ? new_slot(list, 4, false)
                                   : new_slot(list, args->in_bytes[at], kind == OP_TILE_DENSE);
        list->value[value].slot = args->in_slot[at];
        for (unsigned d = 0; d + 1 < space->rank; d++) {
            args->in_stride[at][d] = space->stride[1 + i][d] * args->in_bytes[at];
        }
    }
}

static void widen_inputs(struct list *list)
{
    const struct op_pointwise_work *work = list->work;
    for (unsigned i = 0, at = 0; i < work->op->var_count && !list->failed; i++) {
        if (!work->is_tensor[i]) {
            continue;
        }
        const enum op_type type = work->tensors[i].type;
        const uint8_t kind = list->args->in_kind[at++];
        if (type != OP_TYPE_F32 && kind != OP_TILE_ROW_NUMBER && kind != OP_TILE_COLUMN) {
            const unsigned wide = new_value(list, TILE);
            add_insn(list, OP_TILE_WIDEN, wide, i, (unsigned)type,
                     is_narrow(type) ? halfway_slot(list) : 0);
            list->value[i].same = (int)wide;
        }
    }
}

// The result in the type of the output.
static void add_output(struct list *list, unsigned result)
{
    const enum op_type type = list->work->out.type;
    struct op_tile_args *args = list->args;
    args->out_bytes = (uint8_t)op_type_bytes(type);
    if (list->value[result].kind == MASK) {
        list->failed = true; // the generator makes numbers of masks
        return;
    }
    result = tile_of_number(list, result);
    if (type == OP_TYPE_BOOL) {
        const unsigned mask = new_value(list, MASK), bit = new_value(list, TILE);
        const unsigned one = new_value(list, NUMBER), zero = new_value(list, NUMBER);
        list->value[one].number = 1;
        add_insn(list, OP_TILE_NES, mask, result, add_number(list, 0), 0);
        add_insn(list, OP_TILE_SELECT, bit, mask, tile_of_number(list, one),
                 tile_of_number(list, zero));
        result = bit;
    }
    args->out_slot = new_slot(list, args->out_bytes, true);
    const unsigned out = new_value(list, TILE);
    list->value[out].slot = args->out_slot;
    if (type != OP_TYPE_F32) {
        args->infinite = op_pointwise_keeps_infinities(list->work);
        add_insn(list, OP_TILE_NARROW, out, result, (unsigned)type,
                 is_narrow(type) ? halfway_slot(list) : 0);
    } else if (list->insns > 0 && list->insn[list->insns - 1].d == result &&
               list->value[result].slot == NOT_YET) {
        list->insn[list->insns - 1].d = (uint8_t)out;
    } else {
        add_insn(list, OP_TILE_MOVE, out, result, 4, 0);
    }
}

static bool reads_b(const struct op_tile_insn *insn)
{
    return insn->code <= OP_TILE_MIN || (insn->code >= OP_TILE_EQ && insn->code <= OP_TILE_GE) ||
           insn->code == OP_TILE_SELECT;
}

// Values get slots; a slot is free again after the last use of its value.
static void give_slots(struct list *list)
{
    bool busy[OP_TILE_SLOTS] = {false};
    uint8_t tile_slots[OP_TILE_SLOTS], mask_slots[OP_TILE_SLOTS];
    unsigned tiles = 0, masks = 0;
    for (unsigned i = 0; i < list->insns; i++) {
        struct op_tile_insn *insn = &list->insn[i];
        list->value[insn->a].last_use = (int)i;
        if (reads_b(insn)) {
            list->value[insn->b].last_use = (int)i;
        }
        if (insn->code == OP_TILE_SELECT) {
            list->value[insn->c].last_use = (int)i;
        }
    }
    for (unsigned i = 0; i < list->insns && !list->failed; i++) {
        struct op_tile_insn *insn = &list->insn[i];
        struct value *d = &list->value[insn->d];
        if (d->slot == NOT_YET) {
            uint8_t *pool = d->kind == MASK ? mask_slots : tile_slots;
            unsigned *count = d->kind == MASK ? &masks : &tiles, at = 0;
            while (at < *count && busy[pool[at]]) {
                at++;
            }
            if (at == *count) {
                pool[(*count)++] = new_slot(list, d->kind == MASK ? 1 : 4, false);
            }
            d->slot = pool[at];
            busy[d->slot] = true;
        }
        const uint8_t operands[3] = {insn->a, reads_b(insn) ? insn->b : insn->a,
                                     insn->code == OP_TILE_SELECT ? insn->c : insn->a};
        for (unsigned k = 0; k < 3; k++) {
            const struct value *value = &list->value[operands[k]];
            busy[value->slot] = busy[value->slot] && value->last_use > (int)i;
        }
        insn->a = list->value[operands[0]].slot;
        insn->b = reads_b(insn) ? list->value[operands[1]].slot : insn->b;
        insn->c = insn->code == OP_TILE_SELECT ? list->value[operands[2]].slot : insn->c;
        insn->d = d->slot;
    }
}

// Order of slots in UB: those of narrow types first. Loads and stores of conversions then stand in
// other banks than their f32 side, whatever the repeat.
static void order_slots(const struct list *list, uint8_t *order)
{
    unsigned count = 0;
    for (unsigned wide = 0; wide < 2; wide++) {
        for (unsigned i = 0; i < list->slots; i++) {
            const unsigned unit = list->slot_bytes[i] / (list->slot_double[i] ? 2 : 1);
            if ((unit >= 4) == (wide == 1)) {
                order[count++] = (uint8_t)i;
            }
        }
    }
}

// `odd` slots begin at an odd row of the buffer.
static void place_slots(struct list *list, const uint8_t *order, uint32_t odd)
{
    struct op_tile_args *args = list->args;
    uint32_t base = 0;
    for (unsigned i = 0; i < list->slots; i++) {
        const unsigned slot = order[i];
        const uint32_t all = list->slot_bytes[slot] * args->tile;
        const uint32_t parity = odd >> slot & 1;
        base += (base / ROW_BYTES & 1) != parity ? ROW_BYTES : 0;
        args->slot[slot] = (struct op_tile_slot){base, list->slot_double[slot] ? all / 2 : 0};
        base = (base + all + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES;
    }
}

// Whether a repeat's reads of `read` meet the writes of the repeat before to `write`.
static bool meets(const struct op_tile_slot *read, const struct op_tile_slot *write)
{
    return (read->base / ROW_BYTES ^ write->base / ROW_BYTES) & 1 &&
           read->base / BANK_BYTES == write->base / BANK_BYTES;
}

// How often reads meet each other (twice) or a write in a bank, over the list.
static unsigned count_meetings(const struct list *list)
{
    const struct op_tile_slot *slot = list->args->slot;
    unsigned count = 0;
    for (unsigned i = 0; i < list->insns; i++) {
        const struct op_tile_insn *insn = &list->insn[i];
        const bool selects = insn->code == OP_TILE_SELECT, two = selects || reads_b(insn);
        const struct op_tile_slot *a = &slot[selects ? insn->c : insn->a],
                                  *b = &slot[two ? insn->b : insn->a], *d = &slot[insn->d];
        if (two && a != b && !((a->base / ROW_BYTES ^ b->base / ROW_BYTES) & 1)) {
            count += 2;
        } else {
            count += meets(a, d) || meets(b, d);
        }
    }
    return count;
}

// The largest tile the slots leave room for, and where each slot lies: so that few operands of an
// instruction meet in banks of the buffer (HW-VEC-41, HW-VEC-42).
static void lay_out_slots(struct list *list, uint32_t ub_bytes)
{
    struct op_tile_args *args = list->args;
    uint8_t order[OP_TILE_SLOTS];
    unsigned bytes = 0;
    for (unsigned i = 0; i < list->slots; i++) {
        bytes += list->slot_bytes[i];
    }
    const uint32_t padding = 2 * ROW_BYTES * list->slots;
    const uint32_t room = (ub_bytes - padding) / (bytes ? bytes : 1) / 128 * 128;
    args->tile = (uint16_t)(room > OP_TILE_MOST ? OP_TILE_MOST : room);
    order_slots(list, order);
    uint32_t odd = 0;
    place_slots(list, order, odd);
    unsigned least = count_meetings(list);
    for (bool better = least > 0; better;) {
        better = false;
        for (unsigned i = 0; i < list->slots; i++) {
            place_slots(list, order, odd ^ UINT32_C(1) << i);
            const unsigned count = count_meetings(list);
            if (count < least) {
                least = count;
                odd ^= UINT32_C(1) << i;
                better = true;
            }
        }
    }
    place_slots(list, order, odd);
}

static bool can_store(enum op_type type, unsigned chip)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_I32 ||
           type == OP_TYPE_BOOL || (type == OP_TYPE_BF16 && chip == OP_ON_910B);
}

static bool can_load(enum op_type type, unsigned chip)
{
    return can_store(type, chip) || type == OP_TYPE_I8 || type == OP_TYPE_U8;
}

bool op_pointwise_is_copy(const struct op_pointwise_work *work)
{
    return work->op->tile && work->op->tile->count == 0 && work->op->var_count == 1 &&
           work->is_tensor[0];
}

bool op_pointwise_fits_vector(const struct op_pointwise_work *work)
{
    const unsigned chip = op_plan_chip(work->call->plan);
    bool good = work->op->tile && can_store(work->out.type, chip);
    for (unsigned i = 0; i < work->op->var_count; i++) {
        good = good && (!work->is_tensor[i] || can_load(work->tensors[i].type, chip));
    }
    return good;
}

enum {
    SHORTEST_ROW = 64, /**< shorter rows are left to the scalar unit unless there is one only */
    LEAST_BYTES =
        4096, /**< of the output a core gets at least, as long as there is more than one piece */
};

// Whether every tensor lies in rows without gaps (or repeats one element), and types fit.
static bool fits(const struct op_pointwise_work *work, const struct op_pointwise_space *space,
                 bool moves_bits)
{
    const unsigned last = space->rank - 1;
    bool good = space->stride[0][last] == 1 || space->dim[last] == 1;
    good = good && (space->rank == 1 || space->dim[last] >= SHORTEST_ROW) &&
           space->rank - 1 <= OP_TILE_OUTER;
    good = good && (moves_bits || op_pointwise_fits_vector(work));
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (work->is_tensor[i]) {
            const int64_t stride = space->stride[1 + i][last];
            good = good && (stride == 1 || stride == 0 || space->dim[last] == 1);
            good = good && (!moves_bits || stride == 1);
        }
    }
    return good;
}

// Rows side by side in one tile: the output and most inputs without gaps, others the same row or
// one number a row. Rows of a tile must begin at blocks of 32 bytes.
static bool find_rows(struct list *list, const struct op_pointwise_space *space)
{
    const struct op_pointwise_work *work = list->work;
    const int64_t row = space->dim[space->rank - 1];
    if (space->rank != 2 || row > OP_TILE_MOST / 4 || row % 8 != 0 || space->stride[0][0] != row ||
        space->stride[0][1] != 1) {
        return false;
    }
    for (unsigned i = 0; i < work->op->var_count; i++) {
        const int64_t *stride = space->stride[1 + i];
        if (!work->is_tensor[i]) {
            continue;
        }
        if (stride[0] == row && stride[1] == 1) {
            list->kind[i] = OP_TILE_DENSE;
        } else if (stride[0] == 0 && stride[1] == 1 &&
                   row * op_type_bytes(work->tensors[i].type) % 32 == 0) {
            list->kind[i] = OP_TILE_ROW;
        } else if (stride[1] == 0) {
            list->kind[i] = stride[0] == 0 ? OP_TILE_ROW_NUMBER : OP_TILE_COLUMN;
        } else {
            return false;
        }
    }
    return true;
}

static void find_kinds(struct list *list, const struct op_pointwise_space *space)
{
    for (unsigned i = 0; i < list->work->op->var_count; i++) {
        const bool one = list->work->is_tensor[i] && space->stride[1 + i][space->rank - 1] == 0;
        list->kind[i] = one ? OP_TILE_ROW_NUMBER : OP_TILE_DENSE;
    }
}

// Whole rows a tile; false if none fits.
static bool cut_into_rows(struct op_tile_args *args, const struct op_pointwise_space *space)
{
    const uint32_t row = (uint32_t)space->dim[1];
    const uint32_t whole = args->tile / row * row;
    args->row = (uint16_t)row;
    args->tile = (uint16_t)whole;
    return whole > 0;
}

// False: more pieces than the arguments can count.
static bool share_pieces(struct op_tile_args *args, const struct op_pointwise_work *work,
                         const struct op_pointwise_space *space, uint32_t *blocks)
{
    const uint64_t count = (uint64_t)op_tensor_count(&work->out);
    const uint32_t cores = op_plan_vector_cores(work->call->plan);
    args->columns = args->row ? count : (uint64_t)space->dim[space->rank - 1];
    // Smaller pieces rather than idle cores.
    const struct op_share piece =
        op_share_make(count, args->row ? args->row : 128, LEAST_BYTES / args->out_bytes, cores);
    args->tile = piece.per_block < args->tile ? (uint16_t)piece.per_block : args->tile;
    const uint64_t a_row = (args->columns + args->tile - 1) / args->tile;
    const uint64_t pieces = count / args->columns * a_row;
    const struct op_share share = op_share_make(pieces, 1, 1, cores);
    args->pieces_a_row = (uint32_t)a_row;
    args->pieces = (uint32_t)pieces;
    args->per_block = (uint32_t)share.per_block;
    *blocks = share.blocks;
    return pieces <= UINT32_MAX;
}

leo_status op_pointwise_plan_tiles(const struct op_pointwise_work *work,
                                   const struct op_pointwise_space *space, bool floats, bool *done)
{
    struct op_tile_args args;
    struct list list = {.work = work, .args = &args, .halfway = NOT_YET};
    const struct op_expr *expression = work->op->tile;
    const bool moves_bits = expression && expression->count == 0 && work->is_tensor[0] &&
                            work->tensors[0].type == work->out.type &&
                            work->out.type != OP_TYPE_BOOL;
    const bool rows = !moves_bits && floats && expression && op_pointwise_fits_vector(work) &&
                      find_rows(&list, space);
    *done = false;
    if (!expression || (!floats && !moves_bits) || (!rows && !fits(work, space, moves_bits))) {
        return LEO_OK;
    }
    memset(&args, 0, sizeof(args));
    if (!rows) {
        find_kinds(&list, space);
    }
    add_inputs(&list, space);
    if (moves_bits) {
        args.out_bytes = args.in_bytes[0];
        args.out_slot = new_slot(&list, args.out_bytes, true);
        const unsigned out = new_value(&list, TILE);
        list.value[out].slot = args.out_slot;
        add_insn(&list, OP_TILE_MOVE, out, 0, args.out_bytes, 0);
    } else {
        widen_inputs(&list);
        for (unsigned i = 0; i < expression->count && !list.failed; i++) {
            add_expression(&list, &expression->insns[i], expression->numbers);
        }
        if (!list.failed) {
            add_output(&list, real_value(&list, list.of[list.ofs - 1]));
        }
    }
    if (!list.failed) {
        give_slots(&list);
    }
    if (list.failed) {
        return LEO_OK;
    }
    lay_out_slots(&list, op_plan_caps(work->call->plan)->ub_bytes);
    if (rows && !cut_into_rows(&args, space)) {
        return LEO_OK;
    }
    args.insns = (uint8_t)list.insns;
    args.slots = (uint8_t)list.slots;
    memcpy(args.insn, list.insn, sizeof(args.insn));
    args.out = work->out.addr;
    args.outer = (uint8_t)(rows ? 0 : space->rank - 1);
    for (unsigned d = 0; d < args.outer; d++) {
        args.dim[d] = space->dim[d];
        args.out_stride[d] = space->stride[0][d] * args.out_bytes;
    }
    uint32_t blocks;
    if (!share_pieces(&args, work, space, &blocks)) {
        return LEO_OK;
    }
    *done = true;
    return op_plan_launch(work->call->plan, "tile", "tile_run", blocks, &args, sizeof(args),
                          1 + OP_TILE_INS);
}
