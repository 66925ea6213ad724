/* SPDX-License-Identifier: Apache-2.0 */
#include "tile_list.h"

#include <string.h>

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

static bool reads_b(const struct op_tile_insn *insn)
{
    return insn->code <= OP_TILE_MIN ||
           (insn->code >= OP_TILE_WORD_ADD && insn->code <= OP_TILE_WORD_OR) ||
           (insn->code >= OP_TILE_EQ && insn->code <= OP_TILE_GE) || insn->code == OP_TILE_SELECT;
}

// Values get slots; a slot is free again after the last use of its value.
void op_list_give_slots(struct op_list *list)
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
        struct op_list_value *d = &list->value[insn->d];
        if (d->slot == OP_LIST_NO_SLOT) {
            uint8_t *pool = d->kind == OP_LIST_MASK ? mask_slots : tile_slots;
            unsigned *count = d->kind == OP_LIST_MASK ? &masks : &tiles, at = 0;
            while (at < *count && busy[pool[at]]) {
                at++;
            }
            if (at == *count) {
                pool[(*count)++] = op_list_slot(list, d->kind == OP_LIST_MASK ? 1 : 4, false);
            }
            d->slot = pool[at];
            busy[d->slot] = true;
        }
        const uint8_t operands[3] = {insn->a, reads_b(insn) ? insn->b : insn->a,
                                     insn->code == OP_TILE_SELECT ? insn->c : insn->a};
        for (unsigned k = 0; k < 3; k++) {
            const struct op_list_value *value = &list->value[operands[k]];
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
static unsigned count_meetings(const struct op_list *list)
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
