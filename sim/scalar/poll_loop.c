/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that do nothing but look at memory until somebody else changes it. A loop is one if
 *  - it is one stretch of at most MAX_LOOP instructions that, with the functions it calls, stores
 *    to variables alone (on the stack, of an object, of the image; atomic accesses may be there),
 *    and whose instructions of other units only load, set and wait for flags, or order;
 *  - some load reads, each time round, an address that does not depend on what the times before
 *    left behind;
 *  - such loads, and nothing that the times before left, decide about another time round.
 * It may count how often it looks, and end for that too. Found once per text; values are never
 * looked at here, and what was found wrongly costs time of the host only (core/poll.c).
 */
#include "poll_loop_parts.h"

#include <leo/alloc.h>
#include <leo/layout.h>
#include <leo/sim.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOOP = 512, MAX_FUNCTION = 16384, MAX_TRIES = 2048, MAX_TRIES_IN_TEXT = 8192 };

/** What the search works with, and what it found. */
struct search {
    struct sim_decoded *decoded;
    struct poll_loop_path *path;
    struct poll_loop_flow *flow;
    struct poll_loop_targets targets;
    unsigned tries; /**< of functions behind pointers */
    size_t capacity;
};

/** Whether a turn may, or must, leave the loop from a place on. */
struct leaving {
    bool may[POLL_LOOP_NODES], must[POLL_LOOP_NODES];
};

static bool may_leave(const struct leaving *leaving, int16_t node)
{
    return node == POLL_LOOP_OUT || (node > 0 && leaving->may[node]);
}

static bool must_leave(const struct leaving *leaving, int16_t node)
{
    return node == POLL_LOOP_OUT || (node > 0 && leaving->must[node]);
}

static void find_leaving(const struct poll_loop_path *path, struct leaving *leaving)
{
    memset(leaving->may, 0, sizeof(leaving->may));
    memset(leaving->must, 1, sizeof(leaving->must));
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = path->nodes; i-- > 0;) {
            const int16_t *next = path->node[i].next;
            const bool may = may_leave(leaving, next[0]) || may_leave(leaving, next[1]);
            const bool must = must_leave(leaving, next[0]) &&
                              (next[1] == POLL_LOOP_NOWHERE || must_leave(leaving, next[1]));
            changed = changed || may != leaving->may[i] || must != leaving->must[i];
            leaving->may[i] = may;
            leaving->must[i] = must;
        }
    }
}

/* A loop that copies something else each turn searches. */
static bool searches(const struct poll_loop_path *path, const struct poll_loop_flow *flow)
{
    unsigned i = 0;
    while (i < path->nodes && (!path->effect[i].copies || poll_loop_is_steady(path, flow, i))) {
        i++;
    }
    return i < path->nodes;
}

/* Whether what was loaded, and that alone, can end the loop. */
static bool waits(const struct poll_loop_path *path, const struct poll_loop_flow *flow)
{
    if (searches(path, flow)) {
        return false;
    }
    struct leaving leaving;
    find_leaving(path, &leaving);
    for (unsigned i = 0; i < path->nodes; i++) {
        const int16_t *next = path->node[i].next;
        if (poll_loop_is_decided(path, flow, i) &&
            (may_leave(&leaving, next[0]) != may_leave(&leaving, next[1]) ||
             must_leave(&leaving, next[0]) != must_leave(&leaving, next[1]))) {
            return true;
        }
    }
    return false;
}

/* One that ends earlier comes first; with the outer one of two, the inner one's turn would be
 * longer. */
static bool is_known(const struct sim_decoded *decoded, const struct sim_poll_loop *poll)
{
    for (size_t i = 0; i < decoded->poll_loop_count; i++) {
        const struct sim_poll_loop *old = &decoded->poll_loop[i];
        if (old->at == poll->at && old->depth == poll->depth &&
            memcmp(old->back, poll->back, sizeof(old->back)) == 0 && old->first >= poll->first &&
            old->last <= poll->last) {
            return true;
        }
    }
    return false;
}

static leo_status add_poll_loop(struct search *search, const struct sim_poll_loop *poll)
{
    struct sim_decoded *decoded = search->decoded;
    struct sim_scalar_op *op = &decoded->ops[(poll->at - decoded->base) / 4];
    if (op->plain == SIM_CODE_POLL && is_known(decoded, poll)) {
        return LEO_OK;
    }
    if (decoded->poll_loop_count == search->capacity) {
        size_t wanted = search->capacity ? search->capacity * 2 : 8;
        struct sim_poll_loop *grown = leo_realloc(decoded->poll_loop, wanted * sizeof(*grown));
        if (!grown) {
            return LEO_ERR_NO_MEMORY;
        }
        decoded->poll_loop = grown;
        search->capacity = wanted;
    }
    if (op->plain != SIM_CODE_POLL) {
        op->behind = op->plain;
        op->plain = SIM_CODE_POLL;
        op->code = op->code == SIM_CODE_CHECK ? SIM_CODE_CHECK : SIM_CODE_POLL;
    }
    decoded->poll_loop[decoded->poll_loop_count++] = *poll;
    return LEO_OK;
}

/* A load that is a loop of its own. */
static leo_status add_single(struct search *search, size_t at)
{
    const uint64_t addr = search->decoded->base + at * 4;
    return add_poll_loop(search, &(struct sim_poll_loop){.at = addr, .first = addr, .last = addr});
}

enum { MAX_BEFORE = 128, MAX_NAMES = 8 };

/** Registers with offsets that name one address in front of a loop. */
struct names {
    uint8_t reg[MAX_NAMES];
    int64_t offset[MAX_NAMES];
    unsigned count;
};

/* The last one, and what it was computed from. */
static void find_names(const struct sim_decoded *decoded, size_t first, struct names *names)
{
    for (size_t i = first; i-- > 0 && first - i <= MAX_BEFORE && names->count < MAX_NAMES;) {
        const uint8_t reg = names->reg[names->count - 1];
        const struct sim_scalar_op *op = &decoded->ops[i];
        if (!(sim_poll_loop_effect(decoded, i).defs & POLL_LOOP_X(reg))) {
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
static leo_status take_peeled(struct search *search, size_t at, size_t first)
{
    const struct sim_decoded *decoded = search->decoded;
    const struct sim_scalar_op load = decoded->ops[at];
    const bool plain = sim_scalar_load_bytes((enum sim_scalar_code)load.behind) != 0 &&
                       !poll_loop_is_atomic((enum sim_scalar_code)load.behind);
    struct names names = {.reg = {load.rs1}, .offset = {plain ? load.imm : 0}, .count = 1};
    find_names(decoded, first, &names);
    leo_status status = LEO_OK;
    for (size_t i = first; status == LEO_OK && i-- > 0 && first - i <= MAX_BEFORE;) {
        const struct sim_scalar_op *op = &decoded->ops[i];
        if (op->plain == load.behind && is_named(&names, op->rs1, plain ? op->imm : 0) &&
            (op->plain != SIM_CODE_CUSTOM || op->custom.insn == load.custom.insn)) {
            status = add_single(search, i);
        }
    }
    return status;
}

/* A function without optimisation sets s0 = sp + n when it begins, and finds its variables by
 * it. */
static int64_t find_frame(const struct sim_decoded *decoded, size_t first)
{
    for (size_t i = first; i-- > 0 && first - i <= MAX_FUNCTION;) {
        const struct sim_scalar_op *op = &decoded->ops[i];
        if (sim_poll_loop_effect(decoded, i).defs & POLL_LOOP_X(POLL_LOOP_FP)) {
            return sim_scalar_meaning(op) == SIM_CODE_ADDI && op->rs1 == POLL_LOOP_SP ? op->imm : 0;
        }
    }
    return 0;
}

static struct sim_poll_loop poll_loop_of(const struct search *search, unsigned node)
{
    const struct poll_loop_path *path = search->path;
    const uint64_t base = search->decoded->base;
    struct sim_poll_loop poll = {.at = base + path->node[node].at * UINT64_C(4),
                                 .first = base + path->first * 4,
                                 .last = base + path->last * 4};
    for (unsigned call = path->node[node].call; call; call = path->node[node].call) {
        node = (unsigned)path->call[call].node;
        poll.back[poll.depth++] = base + path->node[node].at * UINT64_C(4) + 4;
    }
    return poll;
}

/* With the functions that path->pick says. */
static leo_status look_at_turn(struct search *search, size_t first, size_t last)
{
    const struct sim_decoded *decoded = search->decoded;
    const struct poll_loop_path *path = search->path;
    if (!sim_poll_loop_walk(decoded, &search->targets, first, last, search->path) ||
        !sim_poll_loop_flow(decoded, search->path, find_frame(decoded, first), search->flow) ||
        !waits(path, search->flow)) {
        return LEO_OK;
    }
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < path->nodes; i++) {
        if (!poll_loop_is_steady(path, search->flow, i)) {
            continue;
        }
        const size_t at = path->node[i].at;
        const bool is_new = decoded->ops[at].plain != SIM_CODE_POLL;
        const struct sim_poll_loop poll = poll_loop_of(search, i);
        status = add_poll_loop(search, &poll);
        if (status == LEO_OK && is_new && poll.depth == 0) {
            status = take_peeled(search, at, first);
        }
    }
    return status;
}

/* The next functions that the pointers met may lead to. A walk that failed met no more of them than
 * it got to. */
static bool pick_next(struct poll_loop_path *path, size_t targets)
{
    unsigned i = path->choices;
    while (i > 0 && ++path->pick[i - 1] == targets) {
        path->pick[--i] = 0;
    }
    return i > 0;
}

/* Each function that a pointer may lead to is tried: which one it is, is known when it runs, and
 * what the loop does then is looked at again there. */
static leo_status look_at_loop(struct search *search, size_t first, size_t last)
{
    leo_status status;
    unsigned tries = 0;
    memset(search->path->pick, 0, sizeof(search->path->pick));
    do {
        status = look_at_turn(search, first, last);
    } while (status == LEO_OK && pick_next(search->path, search->targets.count) &&
             ++tries < MAX_TRIES && ++search->tries < MAX_TRIES_IN_TEXT);
    return status;
}

/* Where a jump back leads to; the instruction itself: it is none. */
static size_t find_head(const struct sim_decoded *decoded, size_t at)
{
    const uint32_t major = decoded->words[at] & 0x7f;
    const uint8_t plain = decoded->ops[at].plain;
    const bool jumps = (major == 0x63 && plain != SIM_CODE_BRANCH_OUT) || plain == SIM_CODE_J;
    const int64_t distance = jumps ? decoded->ops[at].imm / (int64_t)sizeof(decoded->ops[0]) : 0;
    return distance < 0 ? at - (size_t)-distance : at;
}

/* Loops end with the last jump back to where they begin; inner ones end before the outer, or are
 * shorter. */
static leo_status find_loops(struct search *search)
{
    const struct sim_decoded *decoded = search->decoded;
    const size_t count = (size_t)(decoded->bytes / 4);
    uint32_t *last = leo_calloc(count + 1, sizeof(*last)); // jump back, plus 1, of each head
    leo_status status = last ? LEO_OK : LEO_ERR_NO_MEMORY;
    for (size_t i = 0; last && i < count; i++) {
        const size_t head = find_head(decoded, i);
        last[head] = head < i ? (uint32_t)i + 1 : last[head];
    }
    for (size_t i = 0; status == LEO_OK && i < count; i++) {
        const size_t head = find_head(decoded, i);
        if (head < i && i - head < MAX_LOOP && last[head] == i + 1) {
            status = look_at_loop(search, head, i);
        }
    }
    leo_free(last);
    return status;
}

/* Cores may meet at counters too: what they do there has the order of looks at memory. */
static leo_status take_atomics(struct search *search)
{
    const struct sim_decoded *decoded = search->decoded;
    leo_status status = LEO_OK;
    for (size_t i = 0; status == LEO_OK && i < decoded->bytes / 4; i++) {
        if (poll_loop_is_atomic((enum sim_scalar_code)decoded->ops[i].plain) &&
            !poll_loop_is_sc((enum sim_scalar_code)decoded->ops[i].plain)) {
            status = add_single(search, i);
        }
    }
    return status;
}

/* What an atomic access found decides what comes next: the core that finds the last count works
 * with what all others stored before theirs. */
static bool is_handed_on(const struct sim_decoded *decoded)
{
    size_t i = 0;
    while (i < decoded->bytes / 4 &&
           !(poll_loop_is_atomic(sim_scalar_meaning(&decoded->ops[i])) && decoded->ops[i].rd)) {
        i++;
    }
    return i < decoded->bytes / 4;
}

static int by_place(const void *left, const void *right)
{
    const struct sim_poll_loop *a = left, *b = right;
    const uint64_t left_of[] = {a->at, a->depth, a->first, a->last};
    const uint64_t right_of[] = {b->at, b->depth, b->first, b->last};
    unsigned i = 0;
    while (i < 3 && left_of[i] == right_of[i]) {
        i++;
    }
    return left_of[i] < right_of[i] ? -1 : left_of[i] > right_of[i];
}

leo_status sim_decoded_find_poll_loops(struct sim_decoded *decoded, const void *image, size_t bytes)
{
    struct search search = {.decoded = decoded,
                            .path = leo_alloc(sizeof(struct poll_loop_path)),
                            .flow = leo_alloc(sizeof(struct poll_loop_flow))};
    leo_status status = search.path && search.flow
                            ? sim_poll_loop_find_targets(decoded, image, bytes, &search.targets)
                            : LEO_ERR_NO_MEMORY;
    if (status == LEO_OK) {
        status = find_loops(&search);
    }
    if (status == LEO_OK && (decoded->poll_loop_count || is_handed_on(decoded))) {
        status = take_atomics(&search);
        if (decoded->poll_loop_count) {
            qsort(decoded->poll_loop, decoded->poll_loop_count, sizeof(decoded->poll_loop[0]),
                  by_place);
        }
    }
    leo_free(search.targets.at);
    leo_free(search.path);
    leo_free(search.flow);
    return status;
}

const struct sim_poll_loop *sim_decoded_polls_at(const struct sim_decoded *decoded, uint64_t at,
                                                 size_t *count)
{
    size_t low = 0, high = decoded->poll_loop_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        low = decoded->poll_loop[middle].at < at ? middle + 1 : low;
        high = decoded->poll_loop[middle].at < at ? high : middle;
    }
    for (*count = 0;
         low + *count < decoded->poll_loop_count && decoded->poll_loop[low + *count].at == at;) {
        (*count)++;
    }
    return *count ? &decoded->poll_loop[low] : NULL;
}

bool sim_decoded_poll_loops(const struct sim_decoded *decoded)
{
    return decoded->poll_loop_count != 0;
}

leo_status sim_decoded_create_image(const struct leo_image_desc *desc, const void *image,
                                    struct sim_decoded **decoded)
{
    leo_status status =
        sim_decoded_create((const uint8_t *)image + desc->text_offset, desc->text_bytes,
                           LEO_MAP_IMAGE + desc->text_offset, decoded);
    if (status == LEO_OK) {
        status = sim_decoded_find_poll_loops(*decoded, image, desc->bytes);
    }
    if (status != LEO_OK) {
        sim_decoded_destroy(*decoded);
        *decoded = NULL;
    }
    return status;
}

bool leo_sim_image_polls(const struct leo_image_desc *desc, const void *image)
{
    struct sim_decoded *decoded;
    if (sim_decoded_create_image(desc, image, &decoded) != LEO_OK) {
        return true;
    }
    const bool polls = sim_decoded_poll_loops(decoded);
    sim_decoded_destroy(decoded);
    return polls;
}

struct sim_scalar_next sim_scalar_next(const struct sim_scalar *scalar)
{
    const struct sim_decoded *decoded = scalar->text;
    const uint64_t at = (scalar->pc - decoded->base) / 4;
    if (scalar->pc < decoded->base || at * 4 >= decoded->bytes) {
        return (struct sim_scalar_next){0};
    }
    const struct poll_loop_effect effect = sim_poll_loop_effect(decoded, (size_t)at);
    const struct sim_scalar_op *op = &decoded->ops[at];
    const enum sim_scalar_code code = sim_scalar_meaning(op);
    const bool jumps = code == SIM_CODE_JAL || code == SIM_CODE_JALR;
    return (struct sim_scalar_next){
        .store = scalar->x[effect.base] + (uint64_t)(int64_t)effect.offset,
        .bytes = effect.stores ? effect.bytes : 0,
        .level = jumps && op->rd == POLL_LOOP_RA                    ? 1
                 : code == SIM_CODE_JALR && op->rs1 == POLL_LOOP_RA ? -1
                                                                    : 0,
    };
}
