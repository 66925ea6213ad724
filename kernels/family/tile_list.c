/* SPDX-License-Identifier: Apache-2.0 */
#include "tile_list.h"

#include <string.h>

/* Slots of one kind of value. */
struct op_slot_pool {
    uint8_t slot[OP_TILE_SLOTS + 1]; /* one more: where the list fails for want of one */
    unsigned count, bytes;
};

enum {
    ROW_BYTES = 256,    /* of a repeat: half of the bank groups of the unified buffer */
    BANK_BYTES = 65536, /* after which a group moves on to its next bank */
};

unsigned op_list_value(struct op_list *list, enum op_list_kind kind)
{
    if (list->values == OP_LIST_VALUES) {
        list->failed = true;
        return 0;
    }
    list->value[list->values] =
        (struct op_list_value){.kind = kind, .same = -1, .last_use = -1, .slot = OP_LIST_NO_SLOT};
    return list->values++;
}

uint8_t op_list_slot(struct op_list *list, unsigned bytes, bool twice)
{
    if (list->slots == OP_TILE_SLOTS) {
        list->failed = true;
        return 0;
    }
    list->slot_bytes[list->slots] = bytes * (twice ? 2 : 1);
    list->slot_double[list->slots] = twice;
    return (uint8_t)list->slots++;
}

uint8_t op_list_number(struct op_list *list, float number)
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

unsigned op_list_real(const struct op_list *list, unsigned value)
{
    while (list->value[value].same >= 0) {
        value = (unsigned)list->value[value].same;
    }
    return value;
}

void op_list_add(struct op_list *list, unsigned code, unsigned d, unsigned a, unsigned b,
                 unsigned c)
{
    if (list->insns == OP_TILE_INSNS) {
        list->failed = true;
        return;
    }
    list->insn[list->insns++] = (struct op_tile_insn){
        .code = (uint8_t)code, .d = (uint8_t)d, .a = (uint8_t)a, .b = (uint8_t)b, .c = (uint8_t)c};
}

unsigned op_list_fill(struct op_list *list, float bits)
{
    struct op_tile_args *args = list->args;
    const uint8_t number = op_list_number(list, bits);
    const unsigned tile = op_list_value(list, OP_LIST_TILE);
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
    list->value[tile].slot = op_list_slot(list, 4, false);
    args->fill_slot[args->fills] = list->value[tile].slot;
    args->fill_number[args->fills++] = number;
    return tile;
}

uint8_t op_list_halfway(struct op_list *list)
{
    if (list->halfway == OP_LIST_NO_SLOT) {
        list->halfway = op_list_slot(list, 2, false);
    }
    return list->halfway;
}

void op_list_rescue(struct op_list *list, enum op_rescue function, unsigned d, unsigned good,
                    unsigned result, unsigned x, unsigned y)
{
    op_list_add(list, OP_TILE_RESCUE, d, good, result, x);
    if (!list->failed) {
        list->insn[list->insns - 1].e = (uint8_t)y;
        list->insn[list->insns - 1].function = (uint8_t)function;
        list->rescues = true;
    }
}

enum { OPERANDS = 4 };

// The operands of an instruction that are values; how many.
static unsigned operands_of(struct op_tile_insn *insn, uint8_t *operand[OPERANDS])
{
    const unsigned code = insn->code;
    const bool three = code == OP_TILE_SELECT || code == OP_TILE_FMA || code == OP_TILE_RESCUE;
    operand[0] = &insn->a;
    operand[1] = &insn->b;
    operand[2] = &insn->c;
    operand[3] = &insn->e;
    if (three) {
        return code == OP_TILE_RESCUE ? 4 : 3;
    }
    return code <= OP_TILE_MIN || (code >= OP_TILE_WORD_ADD && code <= OP_TILE_WORD_OR) ||
                   (code >= OP_TILE_EQ && code <= OP_TILE_GE)
               ? 2
               : 1;
}

static uint8_t take_slot(struct op_list *list, struct op_slot_pool *pool, bool *busy)
{
    unsigned at = 0;
    while (at < pool->count && busy[pool->slot[at]]) {
        at++;
    }
    if (at == pool->count) {
        pool->slot[pool->count++] = op_list_slot(list, pool->bytes, false);
    }
    busy[pool->slot[at]] = true;
    return pool->slot[at];
}

// Values get slots; a slot is free again after the last use of its value.
void op_list_give_slots(struct op_list *list)
{
    bool busy[OP_TILE_SLOTS] = {false};
    struct op_slot_pool tiles = {.bytes = 4}, masks = {.bytes = 1};
    uint8_t *operand[OPERANDS];
    for (unsigned i = 0; i < list->insns; i++) {
        const unsigned count = operands_of(&list->insn[i], operand);
        for (unsigned k = 0; k < count; k++) {
            list->value[*operand[k]].last_use = (int)i;
        }
    }
    for (unsigned i = 0; i < list->insns && !list->failed; i++) {
        struct op_tile_insn *insn = &list->insn[i];
        struct op_list_value *d = &list->value[insn->d];
        if (d->slot == OP_LIST_NO_SLOT) {
            d->slot = take_slot(list, d->kind == OP_LIST_MASK ? &masks : &tiles, busy);
        }
        const unsigned count = operands_of(insn, operand);
        for (unsigned k = 0; k < count; k++) {
            const struct op_list_value *value = &list->value[*operand[k]];
            busy[value->slot] = busy[value->slot] && value->last_use > (int)i;
            *operand[k] = value->slot;
        }
        insn->d = d->slot;
    }
}

// Order of slots in UB: those of narrow types first. Loads and stores of conversions then stand in
// other banks than their f32 side, whatever the repeat.
static void order_slots(const struct op_list *list, uint8_t *order)
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
static void place_slots(struct op_list *list, const uint8_t *order, uint32_t odd)
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
static unsigned count_meetings(struct op_list *list)
{
    const struct op_tile_slot *slot = list->args->slot;
    uint8_t *operand[OPERANDS];
    unsigned count = 0;
    for (unsigned i = 0; i < list->insns; i++) {
        struct op_tile_insn *insn = &list->insn[i];
        const bool selects = insn->code == OP_TILE_SELECT, two = operands_of(insn, operand) > 1;
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
void op_list_lay_out(struct op_list *list, uint32_t ub_bytes)
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
