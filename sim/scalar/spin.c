/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that do nothing but look at memory until somebody else changes it. A loop is one if
 *  - it is one stretch of at most MOST_LOOP instructions without calls and stores (atomic accesses
 *    may be there, and the function's own variables on its stack, as without optimisation), whose
 * instructions of other units only load, set and wait for flags, or order;
 *  - some load reads, each time round, an address that does not depend on what the times before
 *    left in registers;
 *  - such loads, and nothing that the times before left, decide about another time round.
 * It may count how often it looks, and end for that too. Found once per text; values are never
 * looked at here.
 */
#include "decode.h"

#include <leo/alloc.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LOOP = 512, MOST_SLOTS = 64, MOST_FUNCTION = 16384, SP = 2, FP = 8 };

/* What holds a value, as bits: x0 to x31, f0 to f31, then places on the stack. x0 is never among
 * them. */
__extension__ typedef unsigned __int128 places;
#define X_BIT(number) (UINT64_C(1) << ((number) & 31) & ~UINT64_C(1))
#define F_BIT(number) (UINT64_C(1) << (32 + ((number) & 31)))

/** What the search has to know of an instruction. */
struct effect {
    places uses, defs;
    bool looks;     /**< loads, and may be what the loop waits with */
    bool forbidden; /**< in such a loop */
    int64_t jump;   /**< distance in instructions; 0: it does not jump */
    bool always;    /**< jumps always */
};

unsigned sim_scalar_load_bytes(enum sim_scalar_code code)
{
    switch ((int)code) {
#define LOAD(code, bytes, result)                                                                  \
    case SIM_CODE_##code:                                                                          \
        return bytes;
#include "alu.def"
    case SIM_CODE_FLH:
        return 2;
    case SIM_CODE_FLW:
        return 4;
    case SIM_CODE_FLD:
        return 8;
    default:
        return code >= SIM_CODE_LR_D && code <= SIM_CODE_AMOMAXU_D   ? 8
               : code >= SIM_CODE_LR_W && code <= SIM_CODE_AMOMAXU_W ? 4
                                                                     : 0;
    }
}

static bool is_atomic(enum sim_scalar_code code)
{
    return code >= SIM_CODE_LR_W && code <= SIM_CODE_AMOMAXU_D;
}

static bool is_sc(enum sim_scalar_code code)
{
    return code == SIM_CODE_SC_W || code == SIM_CODE_SC_D;
}

static struct effect custom_effect(const struct sim_scalar_op *op)
{
    struct effect effect = {.uses = X_BIT(op->rd) | X_BIT(op->rs1) | X_BIT(op->rs2) |
                                    X_BIT(op->custom.rs3)};
    switch ((enum leo_insn)op->custom.insn) {
    case LEO_INSN_COPY_GM_TO_UBUF:
    case LEO_INSN_COPY_GM_TO_UBUF_ALIGN:
        effect.looks = true;
        break;
    case LEO_INSN_SET_FLAG:
    case LEO_INSN_WAIT_FLAG:
    case LEO_INSN_HSET_FLAG:
    case LEO_INSN_HWAIT_FLAG:
    case LEO_INSN_PIPE_BARRIER:
    case LEO_INSN_DCCI:
    case LEO_INSN_DSB:
    case LEO_INSN_DC_PRELOAD:
    case LEO_INSN_PRELOAD:
        break;
    default:
        effect.forbidden = true;
    }
    return effect;
}

/* Floating point, by major opcode. */
static struct effect float_effect(const struct sim_scalar_op *op, bool fused)
{
    const enum sim_float_kind kind = (enum sim_float_kind)op->flt.kind;
    const bool to_x = !fused && ((kind >= SIM_FLOAT_LE && kind <= SIM_FLOAT_MV_X_F) ||
                                 (kind >= SIM_FLOAT_CVT_W_F && kind <= SIM_FLOAT_CVT_LU_F));
    const bool from_x = !fused && (kind == SIM_FLOAT_MV_F_X ||
                                   (kind >= SIM_FLOAT_CVT_F_W && kind <= SIM_FLOAT_CVT_F_LU));
    const bool two = fused || kind <= SIM_FLOAT_EQ;
    return (struct effect){
        .uses = (from_x ? X_BIT(op->rs1) : F_BIT(op->rs1)) |
                (two && kind != SIM_FLOAT_SQRT ? F_BIT(op->rs2) : 0) |
                (fused ? F_BIT(op->flt.rs3) : 0),
        .defs = to_x ? X_BIT(op->rd) : F_BIT(op->rd),
    };
}

static uint64_t x_of(unsigned reg)
{
    return reg < 32 ? X_BIT(reg) : 0; // SIM_X_NOWHERE
}

/** Variables on the stack that a loop uses, by their distance from sp. */
struct slots {
    int64_t offset[MOST_SLOTS];
    unsigned bytes[MOST_SLOTS], count;
    int64_t frame;     /**< s0 - sp; 0: s0 is no frame pointer */
    int64_t low, high; /**< of those it writes; none: both 0 */
};

/** A load or store at a known distance from sp. */
struct stack_access {
    int64_t offset;
    unsigned bytes;
    bool stores;
};

static bool is_stack_access(uint32_t word, int64_t frame, struct stack_access *access)
{
    const unsigned major = word & 0x7f, base = word >> 15 & 31, f3 = word >> 12 & 7;
    access->stores = major == 0x23 || major == 0x27;
    if (!access->stores && major != 0x03 && major != 0x07) {
        return false;
    }
    const int32_t high = (int32_t)word >> 20;
    access->offset = access->stores ? (high & ~31) | (int32_t)(word >> 7 & 31) : high;
    access->offset += base == FP ? frame : 0;
    access->bytes = 1u << (f3 & 3);
    return base == SP || (base == FP && frame != 0);
}

/* The places that a load or store meets. A store gives the one it is as wide as a new value, others
 * a part of one. */
static places slots_of(const struct slots *slots, const struct stack_access *access, bool whole)
{
    places met = 0;
    for (unsigned i = 0; i < slots->count; i++) {
        const bool same = slots->offset[i] == access->offset && slots->bytes[i] == access->bytes;
        const bool overlaps = slots->offset[i] < access->offset + access->bytes &&
                              access->offset < slots->offset[i] + slots->bytes[i];
        met |= (whole ? same : overlaps && !same) ? (places)1 << (64 + i) : 0;
    }
    return met;
}

static struct effect stack_effect(const struct slots *slots, const struct sim_scalar_op *op,
                                  uint32_t word, const struct stack_access *access)
{
    const bool is_float = (word & 0x7f) == 0x07 || (word & 0x7f) == 0x27;
    const places whole = slots_of(slots, access, true), parts = slots_of(slots, access, false);
    const unsigned value = access->stores ? word >> 20 & 31 : op->rd;
    const uint64_t reg = is_float ? F_BIT(value) : x_of(value);
    return access->stores ? (struct effect){.uses = reg | parts, .defs = whole | parts}
                          : (struct effect){.uses = whole | parts, .defs = reg};
}

static struct effect effect_of(const struct sim_decoded *decoded, const struct slots *slots,
                               size_t at)
{
    enum { STEP = sizeof(struct sim_scalar_op) };
    const struct sim_scalar_op *op = &decoded->ops[at];
    const enum sim_scalar_code code = sim_scalar_meaning(op);
    struct effect effect = {0};
    struct stack_access access;
    if (slots->count && is_stack_access(decoded->words[at], slots->frame, &access)) {
        return stack_effect(slots, op, decoded->words[at], &access);
    }
    switch (decoded->words[at] & 0x7f) {
    case 0x13: // immediates
    case 0x1b:
        effect = (struct effect){.uses = x_of(op->rs1), .defs = x_of(op->rd)};
        break;
    case 0x33: // two registers
    case 0x3b:
        effect = (struct effect){.uses = x_of(op->rs1) | x_of(op->rs2), .defs = x_of(op->rd)};
        break;
    case 0x37: // lui, auipc
    case 0x17:
        effect = (struct effect){.defs = x_of(op->rd)};
        break;
    case 0x03: // loads; nobody else writes the stack
        effect =
            (struct effect){.uses = x_of(op->rs1), .defs = x_of(op->rd), .looks = op->rs1 != SP};
        break;
    case 0x07:
        effect =
            (struct effect){.uses = x_of(op->rs1), .defs = F_BIT(op->rd), .looks = op->rs1 != SP};
        break;
    case 0x2f:
        effect = (struct effect){
            .uses = x_of(op->rs1) | x_of(op->rs2), .defs = x_of(op->rd), .looks = !is_sc(code)};
        break;
    case 0x63:
        effect = (struct effect){.uses = x_of(op->rs1) | x_of(op->rs2), .jump = op->imm / STEP};
        effect.forbidden = code == SIM_CODE_BRANCH_OUT;
        break;
    case 0x6f:
        effect = (struct effect){.jump = op->imm / STEP, .always = true};
        effect.forbidden = code != SIM_CODE_J;
        break;
    case 0x73: // csr reads only
        effect.defs = x_of(op->rd);
        effect.forbidden = !(code == SIM_CODE_CSRRS && op->rs1 == 0);
        break;
    case 0x53:
        effect = float_effect(op, false);
        break;
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f:
        effect = float_effect(op, true);
        break;
    case 0x0f:
        break;
    default:
        effect.forbidden = true;
        if (code == SIM_CODE_CUSTOM) {
            effect = custom_effect(op);
        } else if (code == SIM_CODE_FITS) {
            effect = (struct effect){.uses = x_of(op->rs1)};
        }
    }
    effect.forbidden = effect.forbidden || code == SIM_CODE_ILLEGAL;
    return effect;
}

/** A loop that is looked at. */
struct loop {
    size_t first, count;
    struct effect effect[MOST_LOOP];
    places sure[MOST_LOOP]; /**< what this time round has given a value before */
    places carried;         /**< written, and maybe read before that the next time */
    places varying;         /**< depend on those */
    places seen;            /**< depend on what loads of steady addresses gave */
    struct slots slots;
};

static void meet(struct loop *loop, int64_t to, places sure, bool *changed)
{
    if (to >= 0 && to < (int64_t)loop->count && (loop->sure[to] & sure) != loop->sure[to]) {
        loop->sure[to] &= sure;
        *changed = true;
    }
}

static void find_carried(struct loop *loop)
{
    memset(loop->sure, 0xff, sizeof(loop->sure));
    loop->sure[0] = 0;
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < loop->count; i++) {
            const struct effect *effect = &loop->effect[i];
            const places sure = loop->sure[i] | effect->defs;
            if (effect->jump) {
                meet(loop, (int64_t)i + effect->jump, sure, &changed);
            }
            if (!effect->always) {
                meet(loop, (int64_t)i + 1, sure, &changed);
            }
        }
    }
    places written = 0, exposed = 0;
    for (size_t i = 0; i < loop->count; i++) {
        written |= loop->effect[i].defs;
        exposed |= loop->effect[i].uses & ~loop->sure[i];
    }
    loop->carried = written & exposed;
}

/* From the first instruction, inside the stretch. */
static bool is_reached(const struct loop *loop, size_t i)
{
    return loop->sure[i] != ~(places)0;
}

static bool is_steady(const struct loop *loop, size_t i)
{
    return loop->effect[i].looks && is_reached(loop, i) && !(loop->effect[i].uses & loop->varying);
}

/* Until nothing is added. */
static void find_dependent(struct loop *loop)
{
    loop->varying = loop->carried;
    for (places before = 0; before != loop->varying;) {
        before = loop->varying;
        for (size_t i = 0; i < loop->count; i++) {
            loop->varying |= loop->effect[i].uses & loop->varying ? loop->effect[i].defs : 0;
        }
    }
    bool copies = false;
    for (size_t i = 0; i < loop->count; i++) {
        copies = copies || (is_steady(loop, i) && loop->effect[i].defs == 0);
        loop->seen |= is_steady(loop, i) ? loop->effect[i].defs : 0;
    }
    for (places before = 0; before != loop->seen;) {
        before = loop->seen;
        for (size_t i = 0; i < loop->count; i++) {
            loop->seen |= loop->effect[i].uses & loop->seen ? loop->effect[i].defs : 0;
            // What was copied on chip is looked at by loads of any address there.
            loop->seen |= copies && loop->effect[i].looks ? loop->effect[i].defs : 0;
        }
    }
}

/* Whether what was loaded, and that alone, can end the loop. */
static bool waits(const struct loop *loop)
{
    const int64_t count = (int64_t)loop->count;
    if (!is_reached(loop, loop->count - 1)) {
        return false; // a jump back that is no loop
    }
    bool leaves = false; // by a jump that is always taken
    for (int64_t i = 0; i < count; i++) {
        const int64_t to = i + loop->effect[i].jump;
        leaves = leaves ||
                 (is_reached(loop, (size_t)i) && loop->effect[i].always && (to < 0 || to >= count));
    }
    for (int64_t i = 0; i < count; i++) {
        const struct effect *effect = &loop->effect[i];
        const int64_t to = i + effect->jump;
        if (effect->jump && is_reached(loop, (size_t)i) && effect->uses & loop->seen &&
            !(effect->uses & loop->varying) &&
            (leaves || to <= 0 || to >= count || i == count - 1)) {
            return true;
        }
    }
    return false;
}

static leo_status add_spin(struct sim_decoded *decoded, size_t *capacity, size_t at, size_t first,
                           size_t last, const struct slots *slots)
{
    if (decoded->spins == *capacity) {
        size_t wanted = *capacity ? *capacity * 2 : 8;
        struct sim_spin *grown = leo_realloc(decoded->spin, wanted * sizeof(*grown));
        if (!grown) {
            return LEO_ERR_NO_MEMORY;
        }
        decoded->spin = grown;
        *capacity = wanted;
    }
    struct sim_scalar_op *op = &decoded->ops[at];
    op->behind = op->plain;
    op->plain = SIM_CODE_POLL;
    op->code = op->code == SIM_CODE_CHECK ? SIM_CODE_CHECK : SIM_CODE_POLL;
    const uint64_t base = decoded->base;
    decoded->spin[decoded->spins++] =
        (struct sim_spin){base + at * 4, base + first * 4, base + last * 4, slots ? slots->low : 0,
                          slots ? slots->high : 0};
    return LEO_OK;
}

enum { MOST_BEFORE = 128, MOST_NAMES = 8 };

/** Registers with offsets that name one address in front of a loop. */
struct names {
    uint8_t reg[MOST_NAMES];
    int64_t offset[MOST_NAMES];
    unsigned count;
};

/* The last one, and what it was computed from. */
static void find_names(const struct sim_decoded *decoded, size_t first, struct names *names)
{
    const struct slots none = {0};
    for (size_t i = first; i-- > 0 && first - i <= MOST_BEFORE && names->count < MOST_NAMES;) {
        const uint8_t reg = names->reg[names->count - 1];
        const struct sim_scalar_op *op = &decoded->ops[i];
        if (!(effect_of(decoded, &none, i).defs & X_BIT(reg))) {
            continue;
        }
        if (op->plain != SIM_CODE_ADDI) {
            return;
        }
        names->reg[names->count] = op->rs1;
        names->offset[names->count] = names->offset[names->count - 1] + op->imm;
        names->count++;
    }
}

static bool is_named(const struct names *names, unsigned reg, int64_t offset)
{
    unsigned i = 0;
    while (i < names->count && !(names->reg[i] == reg && names->offset[i] == offset)) {
        i++;
    }
    return i < names->count;
}

/* A loop that is tested at its end has the first test in front of it, with a load of its own. To
 * take a load that is no such test does no harm. */
static leo_status take_peeled(struct sim_decoded *decoded, size_t *capacity, size_t at,
                              size_t first)
{
    const struct sim_scalar_op load = decoded->ops[at];
    const bool plain = sim_scalar_load_bytes((enum sim_scalar_code)load.behind) != 0 &&
                       !is_atomic((enum sim_scalar_code)load.behind);
    struct names names = {.reg = {load.rs1}, .offset = {plain ? load.imm : 0}, .count = 1};
    find_names(decoded, first, &names);
    leo_status status = LEO_OK;
    for (size_t i = first; status == LEO_OK && i-- > 0 && first - i <= MOST_BEFORE;) {
        const struct sim_scalar_op *op = &decoded->ops[i];
        if (op->plain == load.behind && is_named(&names, op->rs1, plain ? op->imm : 0) &&
            (op->plain != SIM_CODE_CUSTOM || op->custom.insn == load.custom.insn)) {
            status = add_spin(decoded, capacity, i, i, i, NULL);
        }
    }
    return status;
}

/* A function without optimisation sets s0 = sp + n when it begins,
 * and finds its variables by it. */
static int64_t find_frame(const struct sim_decoded *decoded, size_t first)
{
    const struct slots none = {0};
    for (size_t i = first; i-- > 0 && first - i <= MOST_FUNCTION;) {
        const struct sim_scalar_op *op = &decoded->ops[i];
        if (effect_of(decoded, &none, i).defs & X_BIT(FP)) {
            return sim_scalar_meaning(op) == SIM_CODE_ADDI && op->rs1 == SP ? op->imm : 0;
        }
    }
    return 0;
}

static bool add_slot(struct slots *slots, const struct stack_access *access)
{
    if (access->stores) {
        const bool none = slots->low == slots->high;
        const int64_t end = access->offset + access->bytes;
        slots->low = none || access->offset < slots->low ? access->offset : slots->low;
        slots->high = none || end > slots->high ? end : slots->high;
    }
    for (unsigned i = 0; i < slots->count; i++) {
        if (slots->offset[i] == access->offset && slots->bytes[i] == access->bytes) {
            return true;
        }
    }
    if (slots->count == MOST_SLOTS) {
        return false;
    }
    slots->offset[slots->count] = access->offset;
    slots->bytes[slots->count++] = access->bytes;
    return true;
}

/* The variables of a loop that stores to some. False: it may change others, or memory that is not
 * on the stack. */
static bool find_slots(const struct sim_decoded *decoded, struct slots *slots, size_t first,
                       size_t last)
{
    bool stores = false, stays = true;
    *slots = (struct slots){0};
    for (size_t i = first; i <= last; i++) {
        const uint32_t major = decoded->words[i] & 0x7f;
        stores = stores || major == 0x23 || major == 0x27;
    }
    if (!stores) {
        return true;
    }
    slots->frame = find_frame(decoded, first);
    for (size_t i = first; stays && i <= last; i++) {
        const struct sim_scalar_op *op = &decoded->ops[i];
        const enum sim_scalar_code code = sim_scalar_meaning(op);
        const uint64_t defs = (uint64_t)effect_of(decoded, &(struct slots){0}, i).defs;
        struct stack_access access;
        if (is_stack_access(decoded->words[i], slots->frame, &access)) {
            stays = add_slot(slots, &access);
        } else if (code == SIM_CODE_ADDI && (op->rs1 == SP || (op->rs1 == FP && slots->frame))) {
            stays = false; // the address of a variable: somebody else may change it
        }
        stays = stays && !(defs & (X_BIT(SP) | X_BIT(FP)));
    }
    return stays && slots->high - slots->low <= SIM_SPIN_STACK;
}

/* Takes the stretch if it may be such a loop. */
static bool take_loop(const struct sim_decoded *decoded, struct loop *loop, size_t first,
                      size_t last)
{
    loop->first = first;
    loop->count = last - first + 1;
    loop->seen = 0;
    bool looks = false;
    if (!find_slots(decoded, &loop->slots, first, last)) {
        return false;
    }
    for (size_t i = 0; i < loop->count; i++) {
        loop->effect[i] = effect_of(decoded, &loop->slots, first + i);
        looks = looks || loop->effect[i].looks;
        if (loop->effect[i].forbidden) {
            return false;
        }
    }
    return looks;
}

static leo_status look_at_loop(struct sim_decoded *decoded, struct loop *loop, size_t *capacity,
                               size_t first, size_t last)
{
    if (!take_loop(decoded, loop, first, last)) {
        return LEO_OK;
    }
    find_carried(loop);
    find_dependent(loop);
    if (!waits(loop)) {
        return LEO_OK;
    }
    leo_status status = LEO_OK;
    for (size_t i = 0; status == LEO_OK && i < loop->count; i++) {
        const struct sim_scalar_op *op = &decoded->ops[first + i];
        if (is_steady(loop, i) && op->plain != SIM_CODE_POLL) {
            status = add_spin(decoded, capacity, first + i, first, last, &loop->slots);
            if (status == LEO_OK) {
                status = take_peeled(decoded, capacity, first + i, first);
            }
        }
    }
    return status;
}

/* Loops end with a jump back; inner ones end before the outer, or are shorter. */
static leo_status find_loops(struct sim_decoded *decoded, struct loop *loop, size_t *capacity)
{
    const size_t count = (size_t)(decoded->bytes / 4);
    leo_status status = LEO_OK;
    for (size_t i = 0; status == LEO_OK && i < count; i++) {
        const uint32_t major = decoded->words[i] & 0x7f;
        const bool jumps = major == 0x63 || (major == 0x6f && decoded->ops[i].plain == SIM_CODE_J);
        if (!jumps || decoded->ops[i].plain == SIM_CODE_BRANCH_OUT) {
            continue;
        }
        const int64_t distance = decoded->ops[i].imm / (int64_t)sizeof(decoded->ops[0]);
        if (distance < 0 && distance > -MOST_LOOP && (uint64_t)-distance <= i) {
            status = look_at_loop(decoded, loop, capacity, i - (size_t)-distance, i);
        }
    }
    return status;
}

/* Cores that poll may meet at counters too: what such a text does atomically has the same order. */
static leo_status take_atomics(struct sim_decoded *decoded, size_t *capacity)
{
    leo_status status = LEO_OK;
    for (size_t i = 0; status == LEO_OK && i < decoded->bytes / 4; i++) {
        if (is_atomic((enum sim_scalar_code)decoded->ops[i].plain) &&
            !is_sc((enum sim_scalar_code)decoded->ops[i].plain)) {
            status = add_spin(decoded, capacity, i, i, i, NULL);
        }
    }
    return status;
}

static int by_place(const void *left, const void *right)
{
    const struct sim_spin *a = left, *b = right;
    return a->at < b->at ? -1 : a->at > b->at;
}

leo_status sim_scalar_find_spins(struct sim_decoded *decoded)
{
    size_t capacity = 0;
    struct loop *loop = leo_calloc(1, sizeof(*loop));
    if (!loop) {
        return LEO_ERR_NO_MEMORY;
    }
    leo_status status = find_loops(decoded, loop, &capacity);
    if (status == LEO_OK && decoded->spins) {
        status = take_atomics(decoded, &capacity);
        qsort(decoded->spin, decoded->spins, sizeof(decoded->spin[0]), by_place);
    }
    leo_free(loop);
    return status;
}

const struct sim_spin *sim_decoded_spin(const struct sim_decoded *decoded, uint64_t at)
{
    const struct sim_spin key = {.at = at};
    return decoded->spins
               ? bsearch(&key, decoded->spin, decoded->spins, sizeof(decoded->spin[0]), by_place)
               : NULL;
}

bool sim_decoded_spins(const struct sim_decoded *decoded)
{
    return decoded->spins != 0;
}
