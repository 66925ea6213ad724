/* SPDX-License-Identifier: Apache-2.0 */
#include "ahead.h"

enum {
    LEAST_BYTES = 4096, // smaller reads are not worth a look
    MOST_PERIOD = SIM_AHEAD_SEEN / 2 - 1
};

/* The read `back` before the last one. */
static const struct sim_lines *seen(const struct sim_ahead *ahead, unsigned back)
{
    return &ahead->seen[(ahead->count - 1 - back) % SIM_AHEAD_SEEN];
}

static bool is_alike(const struct sim_lines *a, const struct sim_lines *b)
{
    return a->bytes == b->bytes && a->pieces == b->pieces && a->step == b->step;
}

/* Whether the read `back` before the last one follows those one and two periods earlier. */
static bool is_periodic(const struct sim_ahead *ahead, unsigned back, unsigned period)
{
    const struct sim_lines *now = seen(ahead, back), *before = seen(ahead, back + period),
                           *first = seen(ahead, back + 2 * period);
    return is_alike(now, before) && is_alike(before, first) &&
           now->at - before->at == before->at - first->at;
}

/* A kernel that loads tiles of two matrices in turn repeats itself after a few reads: the least
 * number after which the last two did; 0 = none. */
static unsigned period_of(const struct sim_ahead *ahead)
{
    for (unsigned period = 1; period <= MOST_PERIOD && 2 * period + 2 <= ahead->count; period++) {
        if (is_periodic(ahead, 0, period) && is_periodic(ahead, 1, period)) {
            return period;
        }
    }
    return 0;
}

/* The guess `later` reads after the last one. */
static struct sim_lines guess(const struct sim_ahead *ahead, unsigned period, unsigned later)
{
    const unsigned rounds = (later - 1) / period + 1, back = rounds * period - later;
    struct sim_lines lines = *seen(ahead, back);
    lines.at += rounds * (lines.at - seen(ahead, back + period)->at);
    return lines;
}

void sim_ahead_note(struct sim_ahead *ahead, const uint8_t *src, uint64_t step, uint64_t bytes,
                    uint64_t pieces)
{
    if (step < SIM_CUBE_FAR_STEP || bytes * pieces < LEAST_BYTES) {
        return;
    }
    ahead->seen[ahead->count++ % SIM_AHEAD_SEEN] = (struct sim_lines){
        .at = (uintptr_t)src, .step = step, .bytes = (uint32_t)bytes, .pieces = (uint32_t)pieces};
    const unsigned period = period_of(ahead);
    for (unsigned i = 0; i < SIM_AHEAD_NEXT; i++) {
        struct sim_lines lines = period ? guess(ahead, period, i + 1) : (struct sim_lines){0};
        const struct sim_lines *same = i + 1 < SIM_AHEAD_NEXT && ahead->next[i + 1].at == lines.at
                                           ? &ahead->next[i + 1]
                                           : NULL;
        if (same && is_alike(same, &lines)) { // asked for in part
            lines.piece = same->piece;
            lines.byte = same->byte;
        }
        ahead->next[i] = lines;
    }
}
