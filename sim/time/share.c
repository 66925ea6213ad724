/* SPDX-License-Identifier: Apache-2.0 */
#include "share.h"

#include <leo/alloc.h>
#include <math.h>
#include <string.h>

// Different caps under way at one time come from the paths of a chip and are few; past this many
// the nearest class is taken.
enum { MAX_CLASSES = 32, NO_CLASS = 255 };

/* Bytes per cycle of a flow without cap and without others: more than any path. */
#define FREE_RATE 1e6

enum resource { RESOURCE_L2, RESOURCE_HBM, RESOURCE_COUNT };

/* One waiting flow part: ends when its class's clock shows `end`. */
struct part {
    double end;
    uint32_t slot;
};

/* Flows that progress alike. */
struct class
{
    unsigned kind; /* SIM_FLOW_* */
    double cap, rate;
    double bytes;      /* each of its flows would have moved since the class was last empty */
    double fair, open; /* rate and bytes without the cap, as far as the others allow */
    struct part *heap; /* the earliest end first */
    unsigned count;
};

struct slot {
    struct sim_flow flow;
    double begin, open, open_at; /* of the flow; bytes of earlier parts without caps; of this one */
    uint8_t kind, class;         /* NO_CLASS = nothing under way */
};

struct sim_share {
    double limit[RESOURCE_COUNT];
    double now;
    struct class class[MAX_CLASSES];
    uint8_t active[MAX_CLASSES]; /* classes with flows */
    unsigned active_count;
    bool solved;
    struct slot *slot;
    unsigned slots;
    struct part *heaps;
};

/* Which parts need what, a unit for each byte. */
static const bool needs[SIM_FLOW_PARTS][RESOURCE_COUNT] = {
    [SIM_FLOW_HIT] = {[RESOURCE_L2] = true},
    [SIM_FLOW_MISS] = {[RESOURCE_L2] = true, [RESOURCE_HBM] = true},
    [SIM_FLOW_VICTIM] = {[RESOURCE_HBM] = true},
};

leo_status sim_share_create(unsigned slots, double l2_rate, double hbm_rate,
                            struct sim_share **share_out)
{
    *share_out = NULL;
    struct sim_share *share = leo_calloc(1, sizeof(*share));
    if (!share) {
        return LEO_ERR_NO_MEMORY;
    }
    share->slots = slots;
    share->limit[RESOURCE_L2] = l2_rate;
    share->limit[RESOURCE_HBM] = hbm_rate;
    share->slot = leo_calloc(slots, sizeof(*share->slot));
    share->heaps = leo_calloc((size_t)slots * MAX_CLASSES, sizeof(*share->heaps));
    if (!share->slot || !share->heaps) {
        sim_share_destroy(share);
        return LEO_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < MAX_CLASSES; i++) {
        share->class[i].heap = share->heaps + (size_t)i * slots;
    }
    for (unsigned i = 0; i < slots; i++) {
        share->slot[i].class = NO_CLASS;
    }
    share->solved = true;
    *share_out = share;
    return LEO_OK;
}

void sim_share_destroy(struct sim_share *share)
{
    if (share) {
        leo_free(share->slot);
        leo_free(share->heaps);
        leo_free(share);
    }
}

void sim_share_clear(struct sim_share *share)
{
    // Without an active class no slot has a flow: seldom else between two tasks.
    for (unsigned i = 0; share->active_count && i < MAX_CLASSES; i++) {
        share->class[i].count = 0;
    }
    for (unsigned i = 0; share->active_count && i < share->slots; i++) {
        share->slot[i].class = NO_CLASS;
    }
    share->active_count = 0;
    share->now = 0;
    share->solved = true;
}

static void sift_down(struct part *heap, unsigned count, unsigned at, struct part part)
{
    for (;;) {
        unsigned child = 2 * at + 1;
        if (child >= count) {
            break;
        }
        // Equal ends: the lower slot first, so that the order is one of the model.
        if (child + 1 < count &&
            (heap[child + 1].end < heap[child].end ||
             (heap[child + 1].end == heap[child].end && heap[child + 1].slot < heap[child].slot))) {
            child++;
        }
        if (part.end < heap[child].end ||
            (part.end == heap[child].end && part.slot < heap[child].slot)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = part;
}

static void sift_up(struct part *heap, unsigned at, struct part part)
{
    while (at > 0) {
        unsigned parent = (at - 1) / 2;
        if (heap[parent].end < part.end ||
            (heap[parent].end == part.end && heap[parent].slot < part.slot)) {
            break;
        }
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = part;
}

/* Takes out the part at a place of the heap. */
static void heap_remove(struct part *heap, unsigned count, unsigned at)
{
    struct part last = heap[count - 1];
    if (at == count - 1) {
        return;
    }
    if (at > 0 && last.end < heap[(at - 1) / 2].end) {
        sift_up(heap, at, last);
    } else {
        sift_down(heap, count - 1, at, last);
    }
}

/* Moves the clocks of all classes to `now`. */
static void settle(struct sim_share *share, double now)
{
    double cycles = now - share->now;
    if (cycles > 0) {
        for (unsigned i = 0; i < share->active_count; i++) {
            struct class *class = &share->class[share->active[i]];
            class->bytes += cycles * class->rate;
            class->open += cycles * class->fair;
        }
        share->now = now;
    }
}

/*
 * The common rate at which a resource is used up, if classes already fixed keep their rate;
 * INFINITY if it never is.
 */
static double rate_where_full(const struct sim_share *share, enum resource resource,
                              const bool *is_fixed)
{
    double left = share->limit[resource];
    double flows = 0;
    bool counted[MAX_CLASSES] = {false};
    for (unsigned i = 0; i < share->active_count; i++) {
        const struct class *class = &share->class[share->active[i]];
        counted[i] = needs[class->kind][resource];
        if (counted[i] && is_fixed[i]) {
            left -= class->count * class->rate;
            counted[i] = false;
        }
        flows += counted[i] ? class->count : 0;
    }
    // Classes whose cap lies below the common rate leave the rest to the others.
    for (bool changed = true; changed && flows > 0;) {
        changed = false;
        double rate = left > 0 ? left / flows : 0;
        for (unsigned i = 0; i < share->active_count; i++) {
            const struct class *class = &share->class[share->active[i]];
            if (counted[i] && class->cap <= rate) {
                counted[i] = false;
                flows -= class->count;
                left -= class->count * class->cap;
                changed = true;
            }
        }
    }
    return flows > 0 ? (left > 0 ? left / flows : 0) : INFINITY;
}

/* Max-min: all rates rise together until a resource is full, which fixes those that need it. */
static void solve(struct sim_share *share)
{
    bool is_fixed[MAX_CLASSES] = {false};
    bool is_full[RESOURCE_COUNT] = {false};
    for (unsigned round = 0; round < RESOURCE_COUNT; round++) {
        double least = INFINITY;
        unsigned full = RESOURCE_COUNT;
        for (unsigned resource = 0; resource < RESOURCE_COUNT; resource++) {
            double rate = is_full[resource]
                              ? INFINITY
                              : rate_where_full(share, (enum resource)resource, is_fixed);
            if (rate < least) {
                least = rate;
                full = resource;
            }
        }
        for (unsigned i = 0; i < share->active_count; i++) {
            struct class *class = &share->class[share->active[i]];
            if (!is_fixed[i]) {
                class->rate = sim_time_min(class->cap, least);
                class->fair = sim_time_min(least, FREE_RATE);
                is_fixed[i] = full < RESOURCE_COUNT && needs[class->kind][full];
            }
        }
        if (full == RESOURCE_COUNT) {
            break;
        }
        is_full[full] = true;
    }
    share->solved = true;
}

static unsigned class_for(struct sim_share *share, unsigned kind, double cap)
{
    unsigned best = NO_CLASS, empty = NO_CLASS;
    double nearest = INFINITY;
    for (unsigned i = 0; i < share->active_count; i++) {
        const struct class *class = &share->class[share->active[i]];
        if (class->kind != kind) {
            continue;
        }
        double off = class->cap == cap ? 0 : fabs(class->cap - cap);
        if (off < nearest) {
            nearest = off;
            best = share->active[i];
        }
    }
    if (best != NO_CLASS && nearest == 0) {
        return best;
    }
    for (unsigned i = 0; i < MAX_CLASSES - SIM_FLOW_PARTS && empty == NO_CLASS; i++) {
        empty = share->class[i].count ? NO_CLASS : i;
    }
    if (empty == NO_CLASS && best != NO_CLASS) {
        return best;
    }
    if (empty == NO_CLASS) {
        empty = MAX_CLASSES - SIM_FLOW_PARTS + kind; // kept for it
    }
    share->class[empty].kind = kind;
    share->class[empty].cap = cap;
    share->class[empty].rate = 0;
    share->class[empty].bytes = 0;
    share->class[empty].open = 0;
    share->active[share->active_count++] = (uint8_t)empty;
    return empty;
}

/* Begins the first part of the slot's flow from `kind` on that has bytes; false: none has. */
static bool begin_part(struct sim_share *share, unsigned slot, unsigned kind)
{
    struct slot *at = &share->slot[slot];
    at->class = NO_CLASS;
    while (kind < SIM_FLOW_PARTS && !(at->flow.bytes[kind] > 0)) {
        kind++;
    }
    if (kind == SIM_FLOW_PARTS) {
        return false;
    }
    unsigned index = class_for(share, kind, at->flow.cap[kind]);
    struct class *class = &share->class[index];
    at->kind = (uint8_t)kind;
    at->class = (uint8_t)index;
    at->open_at = class->open;
    class->count++;
    sift_up(class->heap, class->count - 1,
            (struct part){class->bytes + at->flow.bytes[kind], slot});
    share->solved = false;
    return true;
}

static void leave(struct sim_share *share, unsigned index, unsigned place)
{
    struct class *class = &share->class[index];
    heap_remove(class->heap, class->count, place);
    class->count--;
    share->solved = false;
    if (class->count) {
        return;
    }
    for (unsigned i = 0; i < share->active_count; i++) {
        if (share->active[i] == index) {
            share->active[i] = share->active[--share->active_count];
            return;
        }
    }
}

bool sim_share_is_free(const struct sim_share *share, unsigned slot)
{
    return share->slot[slot].class == NO_CLASS;
}

void sim_share_begin(struct sim_share *share, unsigned slot, double now,
                     const struct sim_flow *flow)
{
    if (share->active_count == 0) {
        share->now = now;
    }
    if (!share->solved) {
        solve(share);
    }
    settle(share, now);
    share->slot[slot].flow = *flow;
    share->slot[slot].begin = now;
    share->slot[slot].open = 0;
    if (!begin_part(share, slot, SIM_FLOW_HIT)) {
        // Nothing to move: ends as soon as anybody asks.
        share->slot[slot].flow.bytes[SIM_FLOW_VICTIM] = 1e-9;
        share->slot[slot].flow.cap[SIM_FLOW_VICTIM] = INFINITY;
        (void)begin_part(share, slot, SIM_FLOW_VICTIM);
    }
}

void sim_share_cancel(struct sim_share *share, unsigned slot, double now)
{
    unsigned index = share->slot[slot].class;
    if (index == NO_CLASS) {
        return;
    }
    if (!share->solved) {
        solve(share);
    }
    settle(share, now);
    const struct class *class = &share->class[index];
    for (unsigned place = 0; place < class->count; place++) {
        if (class->heap[place].slot == slot) {
            leave(share, index, place);
            break;
        }
    }
    share->slot[slot].class = NO_CLASS;
}

/* The class whose first part ends first, and when. */
static unsigned first_class(struct sim_share *share, double *when)
{
    unsigned best = NO_CLASS;
    *when = INFINITY;
    if (!share->solved) {
        solve(share);
    }
    for (unsigned i = 0; i < share->active_count; i++) {
        const struct class *class = &share->class[share->active[i]];
        double left = class->heap[0].end - class->bytes;
        double end = share->now + (left > 0 ? left / class->rate : 0);
        if (end < *when || (end == *when && best != NO_CLASS &&
                            class->heap[0].slot < share->class[best].heap[0].slot)) {
            *when = end;
            best = share->active[i];
        }
    }
    return best;
}

double sim_share_next(struct sim_share *share)
{
    double when;
    (void)first_class(share, &when);
    return when;
}

bool sim_share_step(struct sim_share *share, unsigned *slot)
{
    double when;
    unsigned index = first_class(share, &when);
    settle(share, when);
    *slot = share->class[index].heap[0].slot;
    struct slot *at = &share->slot[*slot];
    at->open += share->class[index].open - at->open_at;
    leave(share, index, 0);
    return !begin_part(share, *slot, at->kind + 1u);
}

double sim_share_fair_rate(const struct sim_share *share, unsigned slot)
{
    const struct slot *at = &share->slot[slot];
    double cycles = share->now - at->begin;
    return cycles > 0 ? at->open / cycles : FREE_RATE;
}

double sim_share_rate(struct sim_share *share, unsigned slot)
{
    if (share->slot[slot].class == NO_CLASS) {
        return 0;
    }
    if (!share->solved) {
        solve(share);
    }
    return share->class[share->slot[slot].class].rate;
}
