/* SPDX-License-Identifier: Apache-2.0 */
#include "tile_list.h"

#include <limits.h>
#include <math.h>
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
    list->value[tile].slot = op_list_slot(list, 0, false);
    args->fill_slot[args->fills] = list->value[tile].slot;
    args->fill_number[args->fills++] = number;
    return tile;
}

void op_list_move(struct op_list *list, unsigned d, unsigned a)
{
    const uint8_t slot = list->value[a].slot;
    if (slot != OP_LIST_NO_SLOT && list->slot_bytes[slot] == 0) {
        op_list_add(list, OP_TILE_WORD_OR, d, a, a, 0); // copies do not repeat
    } else {
        op_list_add(list, OP_TILE_MOVE, d, a, 4, 0);
    }
}

uint8_t op_list_halfway(struct op_list *list)
{
    if (list->halfway == OP_LIST_NO_SLOT) {
        list->halfway = op_list_slot(list, 2, false);
    }
    return list->halfway;
}

void op_list_fallback(struct op_list *list, enum op_fallback function, unsigned d, unsigned good,
                      unsigned result, unsigned x, unsigned y)
{
    op_list_add(list, OP_TILE_FALLBACK, d, good, result, x);
    if (!list->failed) {
        list->insn[list->insns - 1].e = (uint8_t)y;
        list->insn[list->insns - 1].function = (uint8_t)function;
        list->fallbacks = true;
    }
}

enum { OPERANDS = 4 };

// The operands of an instruction that are values; how many.
static unsigned operands_of(struct op_tile_insn *insn, uint8_t *operand[OPERANDS])
{
    const unsigned code = insn->code;
    const bool three = code == OP_TILE_SELECT || code == OP_TILE_FMA || code == OP_TILE_FALLBACK;
    operand[0] = &insn->a;
    operand[1] = &insn->b;
    operand[2] = &insn->c;
    operand[3] = &insn->e;
    if (three) {
        return code == OP_TILE_FALLBACK ? 4 : 3;
    }
    return code <= OP_TILE_MIN || (code >= OP_TILE_WORD_ADD && code <= OP_TILE_WORD_OR) ||
                   (code >= OP_TILE_EQ && code <= OP_TILE_GE)
               ? 2
               : 1;
}

// Goes through half precision in the slot for half way, with a barrier between.
static bool goes_halfway(const struct op_tile_insn *insn)
{
    return (insn->code == OP_TILE_WIDEN || insn->code == OP_TILE_NARROW) &&
           op_type_bytes((enum op_type)insn->b) == 1;
}

// Whether the result may take the slot of operand k.
static bool may_share(const struct op_tile_insn *insn, unsigned k)
{
    switch (insn->code) {
    case OP_TILE_FMA:
        return k == 0;
    case OP_TILE_FALLBACK:
        return k == 1;
    default:
        return !goes_halfway(insn);
    }
}

/* Instructions that touch no bytes of each other go without a barrier between them. */

// What lists of the same values may differ in, before one is chosen.
struct op_list_plan {
    unsigned window; /* of instructions the next one may be taken from */
    unsigned tiles;  /* slots that may be taken rather than waiting for one */
};

/* Slots being given out. */
struct op_slots {
    struct op_list *list;
    struct op_slot_pool tiles, masks;
    bool busy[OP_TILE_SLOTS];
    bool read[OP_TILE_SLOTS], written[OP_TILE_SLOTS]; /* since the last barrier */
    unsigned at;                                      /* instruction */
    unsigned barriers;
};

static void set_last_uses(struct op_list *list)
{
    uint8_t *operand[OPERANDS];
    for (unsigned i = 0; i < list->insns; i++) {
        const unsigned count = operands_of(&list->insn[i], operand);
        for (unsigned k = 0; k < count; k++) {
            list->value[*operand[k]].last_use = (int)i;
        }
    }
}

// The next instruction is the first of the window that needs nothing made since the last barrier.
static void order(struct op_list *list, unsigned window)
{
    struct op_tile_insn left[OP_TILE_INSNS];
    int made[OP_LIST_VALUES]; /* barriers before it was; -1: it is there, INT_MAX: not yet */
    int barriers = 0;
    uint8_t *operand[OPERANDS];
    unsigned lefts = list->insns;
    memcpy(left, list->insn, sizeof(left));
    memset(made, 0xff, sizeof(made));
    for (unsigned i = 0; i < lefts; i++) {
        made[left[i].d] = INT_MAX;
    }
    for (unsigned done = 0; done < list->insns; done++) {
        unsigned take = 0;
        for (unsigned i = lefts < window ? lefts : window; i-- > 0;) {
            const unsigned count = operands_of(&left[i], operand);
            int latest = -1;
            for (unsigned k = 0; k < count; k++) {
                latest = made[*operand[k]] > latest ? made[*operand[k]] : latest;
            }
            take = latest < barriers ? i : take;
        }
        const unsigned count = operands_of(&left[take], operand);
        for (unsigned k = 0; k < count; k++) {
            if (made[*operand[k]] == barriers) {
                barriers++;
            }
        }
        made[left[take].d] = barriers;
        list->insn[done] = left[take];
        lefts--;
        memmove(&left[take], &left[take + 1], (lefts - take) * sizeof(left[0]));
    }
}

static bool dies(const struct op_slots *slots, unsigned value)
{
    return slots->list->value[value].last_use == (int)slots->at;
}

static bool is_row(const struct op_list *list, unsigned slot)
{
    return list->slot_bytes[slot] == 0;
}

static void wait(struct op_slots *slots, struct op_tile_insn *insn)
{
    if (!(insn->flags & OP_TILE_WAITS)) {
        insn->flags |= OP_TILE_WAITS;
        slots->barriers++;
        memset(slots->read, 0, sizeof(slots->read));
        memset(slots->written, 0, sizeof(slots->written));
    }
}

static uint8_t take_slot(struct op_slots *slots, struct op_slot_pool *pool, unsigned most)
{
    unsigned any = pool->count, quiet = pool->count;
    for (unsigned i = pool->count; i-- > 0;) {
        const uint8_t slot = pool->slot[i];
        if (!slots->busy[slot]) {
            any = i;
            quiet = slots->read[slot] || slots->written[slot] ? quiet : i;
        }
    }
    unsigned at = quiet < pool->count || pool->count < most ? quiet : any;
    if (at == pool->count) {
        pool->slot[pool->count++] = op_list_slot(slots->list, pool->bytes, false);
    }
    slots->busy[pool->slot[at]] = true;
    return pool->slot[at];
}

// The product is made in the slot of its first factor, if that is not needed any more.
static void exchange_factors(const struct op_slots *slots, struct op_tile_insn *insn)
{
    const struct op_list *list = slots->list;
    const bool a_good = dies(slots, insn->a) && slots->busy[list->value[insn->a].slot],
               b_good = dies(slots, insn->b) && slots->busy[list->value[insn->b].slot];
    if ((b_good && !a_good) || is_row(list, list->value[insn->a].slot)) {
        const uint8_t a = insn->a;
        insn->a = insn->b;
        insn->b = a;
    }
}

static void give_slot(struct op_slots *slots, const struct op_list_plan *plan)
{
    struct op_list *list = slots->list;
    struct op_tile_insn *insn = &list->insn[slots->at];
    struct op_list_value *d = &list->value[insn->d];
    uint8_t *operand[OPERANDS];
    if (insn->code == OP_TILE_FMA) {
        exchange_factors(slots, insn);
    }
    const unsigned count = operands_of(insn, operand);
    for (unsigned k = 0; k < count; k++) {
        if (slots->written[list->value[*operand[k]].slot]) {
            wait(slots, insn);
        }
    }
    const bool halfway = goes_halfway(insn);
    if (slots->at == 0 ||
        (halfway && (slots->read[list->halfway] || slots->written[list->halfway]))) {
        wait(slots, insn);
    }
    for (unsigned k = 0; k < count; k++) {
        if (dies(slots, *operand[k]) && may_share(insn, k)) {
            slots->busy[list->value[*operand[k]].slot] = false;
        }
    }
    const unsigned first = insn->code == OP_TILE_FALLBACK ? 1 : 0; // which d may be, without a copy
    const bool in_place = insn->code == OP_TILE_FMA || insn->code == OP_TILE_FALLBACK;
    if (d->slot == OP_LIST_NO_SLOT) {
        const uint8_t own = list->value[*operand[first]].slot;
        bool in_pool = false;
        for (unsigned i = 0; i < slots->tiles.count; i++) {
            in_pool = in_pool || slots->tiles.slot[i] == own;
        }
        if (in_place && in_pool && !slots->busy[own]) {
            slots->busy[own] = true;
            d->slot = own;
        } else {
            d->slot = d->kind == OP_LIST_MASK ? take_slot(slots, &slots->masks, OP_TILE_SLOTS)
                                              : take_slot(slots, &slots->tiles, plan->tiles);
        }
    }
    if (list->failed) {
        return;
    }
    if (slots->read[d->slot] || slots->written[d->slot]) {
        wait(slots, insn);
    }
    for (unsigned k = 0; k < count; k++) {
        const struct op_list_value *value = &list->value[*operand[k]];
        slots->busy[value->slot] = slots->busy[value->slot] &&
                                   (value->last_use > (int)slots->at || value->slot == d->slot);
        slots->read[value->slot] = true;
        insn->flags |= is_row(list, value->slot) ? 0 : (uint8_t)(OP_TILE_WHOLE << k);
        *operand[k] = value->slot;
    }
    insn->d = d->slot;
    const bool copies = in_place && *operand[first] != insn->d;
    if (halfway || copies || insn->code == OP_TILE_FALLBACK) { // a barrier in between
        slots->barriers++;
        memset(slots->read, 0, sizeof(slots->read));
        memset(slots->written, 0, sizeof(slots->written));
        for (unsigned k = 0; k < count; k++) {
            slots->read[*operand[k]] = true;
        }
    }
    slots->written[insn->d] = true;
    if (halfway) {
        slots->read[list->halfway] = slots->written[list->halfway] = true;
    }
}

static uint32_t largest_tile(const struct op_list *list, uint32_t ub_bytes)
{
    unsigned bytes = 0;
    for (unsigned i = 0; i < list->slots; i++) {
        bytes += list->slot_bytes[i];
    }
    const uint32_t padding = 2 * ROW_BYTES * list->slots;
    const uint32_t room = (ub_bytes - padding) / (bytes ? bytes : 1) / 128 * 128;
    return room > OP_TILE_ELEMS_MAX ? OP_TILE_ELEMS_MAX : room;
}

// Cycles an element, of barriers and of the scalar unit.
static double cost_of(const struct op_list *list, unsigned barriers, uint32_t ub_bytes)
{
    enum { BARRIER = 26, LANES = 64, ISSUE = 65 };
    const double tile = largest_tile(list, ub_bytes);
    double vector = barriers * BARRIER;
    for (unsigned i = 0; i < list->insns; i++) {
        const unsigned code = list->insn[i].code;
        const unsigned passes = code == OP_TILE_DIV                           ? 4
                                : code >= OP_TILE_EXP && code <= OP_TILE_SQRT ? 2
                                                                              : 1;
        vector += passes * tile / LANES;
    }
    const double issue = ISSUE * list->insns;
    return (vector > issue ? vector : issue) / (tile > 0 ? tile : 1);
}

// What is loaded for one piece alone may be written over.
static void give_slots(struct op_slots *slots, const struct op_list_plan *plan)
{
    struct op_list *list = slots->list;
    const struct op_tile_args *args = list->args;
    slots->tiles = (struct op_slot_pool){.bytes = 4};
    slots->masks = (struct op_slot_pool){.bytes = 1};
    for (unsigned i = 0; i < args->ins; i++) {
        if (args->in_kind[i] == OP_TILE_DENSE && args->in_bytes[i] == 4) {
            slots->tiles.slot[slots->tiles.count++] = args->in_slot[i];
            slots->busy[args->in_slot[i]] = true;
        }
    }
    order(list, plan->window);
    set_last_uses(list);
    for (slots->at = 0; slots->at < list->insns && !list->failed; slots->at++) {
        give_slot(slots, plan);
    }
}

// Values get slots; a slot is free again after the last use of its value. The best of some ways:
// more slots save barriers, and make the tile smaller.
void op_list_give_slots(struct op_list *list, uint32_t ub_bytes)
{
    static const unsigned windows[] = {1, 4, 12, 32};
    static const unsigned tiles[] = {0, 4, 6, 8, 10, 12, 16, 24};
    struct op_list best = *list, trial;
    double least = INFINITY;
    for (unsigned w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
        for (unsigned k = 0; k < sizeof(tiles) / sizeof(tiles[0]); k++) {
            const struct op_list_plan plan = {windows[w], tiles[k]};
            trial = *list;
            struct op_slots slots = {.list = &trial};
            give_slots(&slots, &plan);
            const double cost = cost_of(&trial, slots.barriers, ub_bytes);
            if (!trial.failed && cost < least) {
                least = cost;
                best = trial;
            }
        }
    }
    *list = best;
    list->failed = list->failed || least == INFINITY;
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

// The order says which slot lies behind which; `odd` ones of it begin at an odd row of the buffer.
static void place_slots(struct op_list *list, const uint8_t *order, uint64_t odd)
{
    struct op_tile_args *args = list->args;
    uint32_t base = 0;
    for (unsigned i = 0; i < list->slots; i++) {
        const unsigned slot = order[i];
        const uint32_t all = is_row(list, slot) ? ROW_BYTES : list->slot_bytes[slot] * args->tile;
        const uint32_t parity = (uint32_t)(odd >> i & 1);
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

// What instructions wait for banks: two reads of one parity double a repeat (HW-VEC-41), a read
// that meets the write before it costs some less (HW-VEC-42). A number is read once.
static unsigned count_waits(struct op_list *list)
{
    enum { READS = 5, WRITE = 4 };
    const struct op_tile_slot *slot = list->args->slot;
    uint8_t *operand[OPERANDS];
    unsigned waits = 0;
    for (unsigned i = 0; i < list->insns; i++) {
        struct op_tile_insn *insn = &list->insn[i];
        const struct op_tile_slot *d = &slot[insn->d], *read[OPERANDS];
        const unsigned operands = operands_of(insn, operand);
        unsigned reads = 0, most = 0;
        for (unsigned k = insn->code == OP_TILE_SELECT ? 1 : 0; k < operands; k++) {
            if (insn->flags >> k & OP_TILE_WHOLE) {
                read[reads++] = &slot[*operand[k]];
            }
        }
        for (unsigned k = 0; k < reads; k++) {
            most = meets(read[k], d) && most < WRITE ? WRITE : most;
            for (unsigned j = 0; j < k; j++) {
                const bool same = !((read[j]->base / ROW_BYTES ^ read[k]->base / ROW_BYTES) & 1);
                most = read[j] != read[k] && same ? READS : most;
            }
        }
        waits += most;
    }
    return waits;
}

// Keeps the place of slots if it is better than the best one.
static bool is_better(struct op_list *list, const uint8_t *order, uint64_t odd, unsigned *least)
{
    place_slots(list, order, odd);
    const unsigned waits = count_waits(list);
    const bool better = waits < *least;
    *least = better ? waits : *least;
    return better;
}

static void exchange_slots(uint8_t *a, uint8_t *b)
{
    const uint8_t slot = *a;
    *a = *b;
    *b = slot;
}

// Slots change their parity, alone or with another one, or their places, as long as that helps.
static void find_places(struct op_list *list, uint8_t *order)
{
    uint64_t odd = 0;
    unsigned least = UINT_MAX;
    bool better = is_better(list, order, odd, &least);
    while (better && least > 0) {
        better = false;
        for (unsigned i = 0; i < list->slots && least > 0; i++) {
            for (unsigned k = 0; k <= i && least > 0; k++) {
                if (is_row(list, order[i]) || is_row(list, order[k])) {
                    continue;
                }
                const uint64_t flipped = odd ^ (UINT64_C(1) << i | UINT64_C(1) << k);
                if (is_better(list, order, flipped, &least)) {
                    odd = flipped;
                    better = true;
                }
                if (k == i || list->slot_bytes[order[i]] != list->slot_bytes[order[k]]) {
                    continue;
                }
                exchange_slots(&order[i], &order[k]);
                if (is_better(list, order, odd, &least)) {
                    better = true;
                } else {
                    exchange_slots(&order[i], &order[k]);
                }
            }
        }
    }
    place_slots(list, order, odd);
}

// The largest tile the slots leave room for, and where each slot lies: so that few operands of an
// instruction meet in banks of the buffer (HW-VEC-41, HW-VEC-42).
void op_list_lay_out(struct op_list *list, uint32_t ub_bytes)
{
    struct op_tile_args *args = list->args;
    uint8_t order[OP_TILE_SLOTS];
    args->tile = (uint16_t)largest_tile(list, ub_bytes);
    order_slots(list, order);
    find_places(list, order);
}
