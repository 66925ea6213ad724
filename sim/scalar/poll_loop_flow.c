/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What depends on what in a turn of a loop. First, which registers and places in memory hold an
 * address that is known by its distance from what a register held when the loop began: so the
 * variables of the loop and of the functions it calls are found, on the stack (without
 * optimisation), behind a pointer to an object, or in the image. Then, what depends on the turns
 * before, and what on memory that others may change.
 */
#include "poll_loop_parts.h"

#include <string.h>

static struct poll_loop_value plus(struct poll_loop_value value, int64_t offset)
{
    const int64_t sum = value.offset + offset;
    return value.base == POLL_LOOP_UNKNOWN || sum < INT32_MIN || sum > INT32_MAX
               ? (struct poll_loop_value){0}
               : (struct poll_loop_value){value.base, (int32_t)sum};
}

static bool is_same(struct poll_loop_value a, struct poll_loop_value b)
{
    return a.base == b.base && a.offset == b.offset;
}

static struct poll_loop_value addr_of(const struct poll_loop_effect *effect,
                                      const struct poll_loop_state *state)
{
    return plus(state->x[effect->base], effect->offset);
}

static bool is_slot(const struct poll_loop_slot *slot, struct poll_loop_value addr, unsigned bytes)
{
    return is_same(slot->addr, addr) && slot->bytes == bytes;
}

static bool overlaps(const struct poll_loop_slot *slot, struct poll_loop_value addr, unsigned bytes)
{
    return slot->addr.base == addr.base && slot->addr.offset < (int64_t)addr.offset + bytes &&
           addr.offset < (int64_t)slot->addr.offset + slot->bytes;
}

/* Its number; POLL_LOOP_SLOTS: there is no room. */
static unsigned add_slot(struct poll_loop_flow *flow, struct poll_loop_value addr, unsigned bytes)
{
    unsigned i = 0;
    while (i < flow->slots && !is_slot(&flow->slot[i], addr, bytes)) {
        i++;
    }
    if (i == flow->slots && i < POLL_LOOP_SLOTS) {
        flow->slot[flow->slots++] = (struct poll_loop_slot){addr, bytes};
        flow->grown = true;
    }
    return i;
}

static struct poll_loop_value load_value(struct poll_loop_flow *flow,
                                         const struct poll_loop_effect *effect,
                                         const struct poll_loop_state *state)
{
    const struct poll_loop_value addr = addr_of(effect, state);
    if (addr.base == POLL_LOOP_ENTRY + POLL_LOOP_SP) {
        add_slot(flow, addr, effect->bytes);
    }
    for (unsigned i = 0; i < flow->slots && addr.base != POLL_LOOP_UNKNOWN; i++) {
        if (is_slot(&flow->slot[i], addr, effect->bytes)) {
            return effect->bytes == 8 ? state->slot[i] : (struct poll_loop_value){0};
        }
    }
    return (struct poll_loop_value){0};
}

static bool store_value(struct poll_loop_flow *flow, const struct poll_loop_effect *effect,
                        struct poll_loop_value value, struct poll_loop_state *state)
{
    const struct poll_loop_value addr = addr_of(effect, state);
    if (addr.base == POLL_LOOP_UNKNOWN || add_slot(flow, addr, effect->bytes) == POLL_LOOP_SLOTS) {
        return false;
    }
    for (unsigned i = 0; i < flow->slots; i++) {
        if (is_slot(&flow->slot[i], addr, effect->bytes)) {
            state->slot[i] = effect->bytes == 8 ? value : (struct poll_loop_value){0};
        } else if (overlaps(&flow->slot[i], addr, effect->bytes)) {
            state->slot[i] = (struct poll_loop_value){0};
        }
    }
    return true;
}

/* What is known behind the instruction. */
static bool apply(const struct sim_decoded *decoded, const struct poll_loop_node *node,
                  const struct poll_loop_effect *effect, struct poll_loop_flow *flow,
                  struct poll_loop_state *state)
{
    const struct sim_scalar_op *op = &decoded->ops[node->at];
    const enum sim_scalar_code code = sim_scalar_meaning(op);
    struct poll_loop_value value = {0};
    if (effect->stores) {
        const bool is_whole = (decoded->words[node->at] & 0x7f) == 0x23;
        return store_value(flow, effect, is_whole ? state->x[op->rs2 & 31] : value, state);
    }
    if (effect->loads) {
        value = load_value(flow, effect, state);
    } else if (code == SIM_CODE_ADDI) {
        value = plus(state->x[op->rs1], op->imm);
    } else if (code == SIM_CODE_AUIPC) {
        value = plus((struct poll_loop_value){POLL_LOOP_TEXT, 0}, op->imm - (int64_t)decoded->base);
    }
    for (unsigned reg = 1; reg < 32; reg++) {
        if (effect->defs & POLL_LOOP_X(reg)) {
            state->x[reg] = value;
        }
    }
    return true;
}

static bool meet_values(struct poll_loop_value *into, const struct poll_loop_value *from,
                        size_t count)
{
    bool changed = false;
    for (size_t i = 0; i < count; i++) {
        if (into[i].base != POLL_LOOP_UNKNOWN && !is_same(into[i], from[i])) {
            into[i] = (struct poll_loop_value){0};
            changed = true;
        }
    }
    return changed;
}

static void meet(struct poll_loop_state *into, const struct poll_loop_state *from)
{
    if (!into->reached) {
        *into = *from;
        into->is_new = true;
        return;
    }
    const bool x = meet_values(into->x, from->x, 32);
    const bool slot = meet_values(into->slot, from->slot, POLL_LOOP_SLOTS);
    into->is_new = into->is_new || x || slot;
}

static void begin_values(struct poll_loop_flow *flow, unsigned nodes, int64_t frame)
{
    for (unsigned i = 0; i < nodes; i++) {
        flow->before[i].reached = flow->before[i].is_new = false;
    }
    struct poll_loop_state *first = &flow->before[0];
    *first = (struct poll_loop_state){.reached = true, .is_new = true};
    for (int16_t i = 1; i < 32; i++) {
        first->x[i] = (struct poll_loop_value){(int16_t)(POLL_LOOP_ENTRY + i), 0};
    }
    for (int16_t i = 0; i < POLL_LOOP_SLOTS; i++) {
        first->slot[i] = (struct poll_loop_value){(int16_t)(POLL_LOOP_HELD + i), 0};
    }
    if (frame) {
        first->x[POLL_LOOP_FP] = plus(first->x[POLL_LOOP_SP], frame);
    }
}

/* Until nothing is lost any more. */
static bool find_values(const struct sim_decoded *decoded, const struct poll_loop_path *path,
                        int64_t frame, struct poll_loop_flow *flow)
{
    begin_values(flow, path->nodes, frame);
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < path->nodes; i++) {
            if (!flow->before[i].is_new) {
                continue;
            }
            struct poll_loop_state state = flow->before[i];
            flow->before[i].is_new = false;
            changed = true;
            if (!apply(decoded, &path->node[i], &path->effect[i], flow, &state)) {
                return false;
            }
            for (int k = 0; k < 2; k++) {
                const int16_t next = path->node[i].next[k];
                if (next >= 0) {
                    meet(&flow->before[next], &state);
                }
            }
        }
    }
    return true;
}

/* Memory that is a variable of the loop is a place like a register. */
static void name_memory(const struct poll_loop_flow *flow, unsigned node,
                        struct poll_loop_effect *effect)
{
    const struct poll_loop_value addr = addr_of(effect, &flow->before[node]);
    places whole = 0, parts = 0;
    for (unsigned i = 0; i < flow->slots && addr.base != POLL_LOOP_UNKNOWN; i++) {
        whole |= is_slot(&flow->slot[i], addr, effect->bytes) ? POLL_LOOP_SLOT(i) : 0;
        parts |= overlaps(&flow->slot[i], addr, effect->bytes) ? POLL_LOOP_SLOT(i) : 0;
    }
    parts &= ~whole;
    if (effect->stores) {
        effect->uses |= parts;
        effect->defs |= whole | parts;
    } else if (whole | parts) {
        effect->uses = whole | parts;
        effect->looks = false;
    }
}

static void finish_effects(const struct sim_decoded *decoded, struct poll_loop_path *path,
                           struct poll_loop_flow *flow)
{
    for (unsigned i = 0; i < path->nodes; i++) {
        struct poll_loop_effect *effect = &path->effect[i];
        struct poll_loop_state state = flow->before[i];
        if (!state.reached) {
            *effect = (struct poll_loop_effect){0};
            continue;
        }
        (void)apply(decoded, &path->node[i], effect, flow, &state);
        for (unsigned reg = 1; reg < 32; reg++) {
            effect->steady = effect->steady || (effect->defs & POLL_LOOP_X(reg) &&
                                                state.x[reg].base != POLL_LOOP_UNKNOWN);
        }
        if (effect->loads || effect->stores) {
            name_memory(flow, i, effect);
        }
    }
}

/* What a turn leaves behind in places that do not hold what they held when the loop began. */
static places find_written(const struct poll_loop_path *path, const struct poll_loop_flow *flow)
{
    places written = 0;
    for (unsigned i = 0; i < path->nodes; i++) {
        written |= path->effect[i].defs;
    }
    for (unsigned i = 1; i < 32; i++) {
        written &=
            flow->before[0].x[i].base == POLL_LOOP_UNKNOWN ? ~(places)0 : ~(places)POLL_LOOP_X(i);
    }
    for (unsigned i = 0; i < flow->slots; i++) {
        written &=
            flow->before[0].slot[i].base == POLL_LOOP_UNKNOWN ? ~(places)0 : ~POLL_LOOP_SLOT(i);
    }
    return written;
}

/** What depends on earlier turns, and on what was seen. */
struct taint {
    places varying, seen;
};

static struct taint apply_taint(const struct poll_loop_path *path,
                                const struct poll_loop_flow *flow, unsigned node)
{
    const struct poll_loop_effect *effect = &path->effect[node];
    struct taint taint = {flow->varying[node], flow->seen[node]};
    const bool varies = !effect->steady && effect->uses & taint.varying;
    const bool sees =
        effect->uses & taint.seen || poll_loop_is_steady(path, flow, node) || flow->follows[node];
    taint.varying = (taint.varying & ~effect->defs) | (varies ? effect->defs : 0);
    taint.seen = (taint.seen & ~effect->defs) | (sees ? effect->defs : 0);
    return taint;
}

/* Through one turn; gives what it leaves. */
static struct taint run_turn(const struct poll_loop_path *path, struct poll_loop_flow *flow,
                             struct taint first)
{
    struct taint end = {0};
    memset(flow->varying, 0, sizeof(flow->varying[0]) * path->nodes);
    memset(flow->seen, 0, sizeof(flow->seen[0]) * path->nodes);
    flow->varying[0] = first.varying;
    flow->seen[0] = first.seen;
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < path->nodes; i++) {
            const struct taint taint = apply_taint(path, flow, i);
            for (int k = 0; k < 2; k++) {
                const int16_t next = path->node[i].next[k];
                if (next == 0) {
                    end.varying |= taint.varying;
                    end.seen |= taint.seen;
                } else if (next > 0 && ((taint.varying & ~flow->varying[next]) |
                                        (taint.seen & ~flow->seen[next]))) {
                    flow->varying[next] |= taint.varying;
                    flow->seen[next] |= taint.seen;
                    changed = true;
                }
            }
        }
    }
    return end;
}

/* What a turn computes anew from steady things does not vary, though the next turn reads it. */
static void find_taint(const struct poll_loop_path *path, struct poll_loop_flow *flow)
{
    struct taint first = {find_written(path, flow), 0}, end;
    bool changed;
    do {
        end = run_turn(path, flow, first);
        changed = first.varying & ~end.varying || end.seen & ~first.varying & ~first.seen;
        first.varying &= end.varying;
        first.seen |= end.seen & ~first.varying;
    } while (changed);
}

/* The nodes that a turn may come to from `node`. */
static void reach(const struct poll_loop_path *path, int16_t node, bool *reached)
{
    memset(reached, 0, POLL_LOOP_NODES * sizeof(*reached));
    if (node <= 0) {
        return;
    }
    reached[node] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 1; i < path->nodes; i++) {
            for (int k = 0; k < 2 && reached[i]; k++) {
                const int16_t next = path->node[i].next[k];
                changed = changed || (next > 0 && !reached[next]);
                reached[next > 0 ? next : (int16_t)i] = true;
            }
        }
    }
}

/* Instructions that one way of a branch leads to and the other does not. True: there are new
 * ones. */
static bool add_followers(const struct poll_loop_path *path, struct poll_loop_flow *flow,
                          unsigned branch)
{
    bool one[POLL_LOOP_NODES], other[POLL_LOOP_NODES], more = false;
    reach(path, path->node[branch].next[0], one);
    reach(path, path->node[branch].next[1], other);
    for (unsigned i = 1; i < path->nodes; i++) {
        more = more || (one[i] != other[i] && !flow->follows[i]);
        flow->follows[i] = flow->follows[i] || one[i] != other[i];
    }
    return more;
}

bool sim_poll_loop_flow(const struct sim_decoded *decoded, struct poll_loop_path *path,
                        int64_t frame, struct poll_loop_flow *flow)
{
    flow->slots = 0;
    do {
        flow->grown = false;
        if (!find_values(decoded, path, frame, flow)) {
            return false;
        }
    } while (flow->grown);
    if (!is_same(flow->before[0].x[POLL_LOOP_SP],
                 (struct poll_loop_value){POLL_LOOP_ENTRY + POLL_LOOP_SP, 0})) {
        return false;
    }
    finish_effects(decoded, path, flow);
    memset(flow->follows, 0, sizeof(flow->follows));
    bool more;
    do {
        more = false;
        find_taint(path, flow);
        for (unsigned i = 0; i < path->nodes; i++) {
            if (poll_loop_is_decided(path, flow, i)) {
                more = add_followers(path, flow, i) || more;
            }
        }
    } while (more);
    return true;
}
