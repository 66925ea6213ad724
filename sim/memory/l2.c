/* SPDX-License-Identifier: Apache-2.0 */
#include "l2.h"

#include "../host/pages.h"
#include <leo/alloc.h>
#include <leo/layout.h>
#include <string.h>

enum { MARK_USED = 1, MARK_DIRTY = 2 };

// [A] Within this part of the places that came since: soon.
enum { SOON = 8 };

#define SECTION(what, member) SIM_SECTION(struct sim_l2, what, member)
static const struct sim_section list[] = {
    SECTION(WIRED, place), // follows from line
    SECTION(WIRED, line),          SECTION(WIRED, mark),       SECTION(WIRED, base),
    SECTION(WIRED, lines),         SECTION(WIRED, places),     SECTION(STATE, hand),
    SECTION(STATE, dirty),         SECTION(WIRED, max_dirty),  SECTION(STATE, cleaner),
    SECTION(WIRED, journal),       SECTION(STATE, used_bytes), SECTION(STATE, read_bytes),
    SECTION(STATE, written_bytes), SECTION(STATE, read_runs),  SECTION(STATE, last_read),
};
#undef SECTION

static const struct sim_sections sections = SIM_SECTIONS(struct sim_l2, list);

leo_status sim_l2_create(struct sim_l2 *l2, uint64_t base, uint64_t gm_bytes, uint64_t bytes,
                         double written_part)
{
    memset(l2, 0, sizeof(*l2));
    l2->base = base;
    l2->lines = gm_bytes / SIM_L2_LINE_BYTES;
    l2->places = (uint32_t)(bytes / SIM_L2_LINE_BYTES);
    l2->max_dirty = (uint32_t)(l2->places * written_part);
    if (!l2->places) {
        return LEO_OK;
    }
    l2->place = (uint32_t *)(void *)sim_pages_reserve(l2->lines * sizeof(*l2->place));
    l2->line = (uint32_t *)(void *)sim_pages_reserve(l2->places * sizeof(*l2->line));
    l2->mark = sim_pages_reserve(l2->places);
    if (!l2->place || !l2->line || !l2->mark) {
        sim_l2_destroy(l2);
        return LEO_ERR_NO_MEMORY;
    }
    return LEO_OK;
}

void sim_l2_destroy(struct sim_l2 *l2)
{
    sim_pages_release((uint8_t *)l2->place, l2->lines * sizeof(*l2->place));
    sim_pages_release((uint8_t *)l2->line, l2->places * sizeof(*l2->line));
    sim_pages_release(l2->mark, l2->places);
    memset(l2, 0, sizeof(*l2));
}

void sim_l2_clear(struct sim_l2 *l2)
{
    for (uint32_t i = 0; i < l2->places && l2->place; i++) {
        if (l2->line[i]) {
            l2->place[l2->line[i] - 1] = 0;
            l2->line[i] = 0;
            l2->mark[i] = 0;
        }
    }
    sim_sections_zero(&sections, l2, SIM_SECTION_STATE);
}

bool sim_l2_walk(struct sim_l2 *l2, sim_stretch_fn fn, void *user)
{
    struct sim_stretch stretch = {
        .owner = "L2", .unit = sizeof(*l2->line), .kind = SIM_SECTION_STATE, .reserved = true};
    if (!sim_sections_walk(&sections, 0, l2, fn, user)) {
        return false;
    }
    if (!l2->places) {
        return true;
    }
    stretch.name = "line";
    stretch.data = l2->line;
    stretch.bytes = l2->places * sizeof(*l2->line);
    if (!fn(user, &stretch)) {
        return false;
    }
    stretch.name = "mark";
    stretch.data = l2->mark;
    stretch.bytes = l2->places;
    stretch.unit = 1;
    return fn(user, &stretch);
}

bool sim_l2_settle(struct sim_l2 *l2)
{
    uint32_t dirty = 0;
    for (uint32_t i = 0; i < l2->places; i++) {
        dirty += l2->mark[i] & MARK_DIRTY ? 1 : 0;
        if (l2->line[i] > l2->lines || (l2->line[i] && l2->place[l2->line[i] - 1])) {
            return false;
        }
        if (l2->line[i]) {
            l2->place[l2->line[i] - 1] = i + 1;
        }
    }
    return dirty == l2->dirty && (l2->places ? l2->hand < l2->places && l2->cleaner < l2->places
                                             : l2->hand == 0 && l2->cleaner == 0);
}

/* ---- what changes ---- */

void sim_l2_watch(struct sim_l2 *l2, struct sim_l2_journal *journal)
{
    journal->count = 0;
    journal->failed = false;
    journal->hand = l2->hand;
    journal->dirty = l2->dirty;
    journal->cleaner = l2->cleaner;
    l2->journal = journal;
}

void sim_l2_keep(struct sim_l2 *l2)
{
    l2->journal = NULL;
}

bool sim_l2_take_back(struct sim_l2 *l2)
{
    struct sim_l2_journal *journal = l2->journal;
    l2->journal = NULL;
    while (journal->count > 0) {
        const struct sim_l2_change was = journal->change[--journal->count];
        if (l2->line[was.place] != was.line) {
            if (l2->line[was.place]) {
                l2->place[l2->line[was.place] - 1] = 0;
            }
            if (was.line) {
                l2->place[was.line - 1] = was.place + 1;
            }
        }
        l2->line[was.place] = was.line;
        l2->mark[was.place] = was.mark;
    }
    l2->hand = journal->hand;
    l2->dirty = journal->dirty;
    l2->cleaner = journal->cleaner;
    return !journal->failed;
}

static bool grow(struct sim_l2_journal *journal)
{
    const size_t capacity = journal->capacity ? 2 * journal->capacity : 4096;
    struct sim_l2_change *change =
        journal->failed ? NULL : leo_realloc(journal->change, capacity * sizeof(*change));
    if (change) {
        journal->change = change;
        journal->capacity = capacity;
    }
    journal->failed = !change;
    return change != NULL;
}

/* A place is about to change. */
static void note(struct sim_l2 *l2, uint32_t place)
{
    struct sim_l2_journal *journal = l2->journal;
    if (journal && (journal->count < journal->capacity || grow(journal))) {
        journal->change[journal->count++] =
            (struct sim_l2_change){place, l2->line[place], l2->mark[place]};
    }
}

/* ---- lines ---- */

/* Lines that were written go to HBM in the order of their places, until no more are left than may
 * be; the L2 keeps them. */
static void write_back(struct sim_l2 *l2)
{
    while (l2->dirty > l2->max_dirty) {
        if (l2->mark[l2->cleaner] & MARK_DIRTY) {
            note(l2, l2->cleaner);
            l2->mark[l2->cleaner] &= (uint8_t)~MARK_DIRTY;
            l2->written_bytes += SIM_L2_LINE_BYTES;
            l2->dirty--;
        }
        l2->cleaner = l2->cleaner + 1 == l2->places ? 0 : l2->cleaner + 1;
    }
}

static void mark_written(struct sim_l2 *l2, uint32_t place)
{
    if (!(l2->mark[place] & MARK_DIRTY)) {
        note(l2, place);
        l2->mark[place] |= MARK_DIRTY;
        l2->dirty++;
    }
}

/* A place for a new line; what was there goes. */
static uint32_t make_place(struct sim_l2 *l2)
{
    while (l2->line[l2->hand] && l2->mark[l2->hand] & MARK_USED) {
        note(l2, l2->hand);
        l2->mark[l2->hand] &= (uint8_t)~MARK_USED;
        l2->hand = l2->hand + 1 == l2->places ? 0 : l2->hand + 1;
    }
    uint32_t place = l2->hand;
    l2->hand = l2->hand + 1 == l2->places ? 0 : l2->hand + 1;
    note(l2, place);
    if (l2->line[place]) {
        l2->place[l2->line[place] - 1] = 0;
        if (l2->mark[place] & MARK_DIRTY) {
            l2->written_bytes += SIM_L2_LINE_BYTES;
            l2->dirty--;
        }
    }
    l2->mark[place] = 0;
    return place;
}

/* A line that is used again soon after it came, as neighbours of an unaligned piece share one, has
 * not shown that it is worth keeping. */
static void use_again(struct sim_l2 *l2, uint32_t place, bool write)
{
    uint32_t age = l2->hand > place ? l2->hand - place : l2->hand + l2->places - place;
    if (age > l2->places / SOON && !(l2->mark[place] & MARK_USED)) {
        note(l2, place);
        l2->mark[place] |= MARK_USED;
    }
    if (write) {
        mark_written(l2, place);
    }
}

void sim_l2_use(struct sim_l2 *l2, uint64_t offset, uint64_t bytes, bool write)
{
    uint64_t size = l2->lines * SIM_L2_LINE_BYTES;
    if (bytes == 0 || offset >= size || bytes > size - offset) {
        return;
    }
    l2->used_bytes += bytes;
    if (!l2->places) {
        *(write ? &l2->written_bytes : &l2->read_bytes) += bytes;
        if (!write) {
            l2->read_runs += l2->last_read != offset / SIM_L2_LINE_BYTES;
            l2->last_read = (offset + bytes - 1) / SIM_L2_LINE_BYTES + 1;
        }
        return;
    }
    const uint64_t last = (offset + bytes - 1) / SIM_L2_LINE_BYTES;
    const uint8_t done = write ? MARK_USED | MARK_DIRTY : MARK_USED;
    for (uint64_t line = offset / SIM_L2_LINE_BYTES; line <= last; line++) {
        uint32_t place = l2->place[line];
        if (place && (l2->mark[place - 1] & done) == done) {
            continue; // most lines: using them again changes nothing
        }
        if (place) {
            use_again(l2, place - 1, write);
            continue;
        }
        place = make_place(l2);
        l2->line[place] = (uint32_t)line + 1;
        l2->place[line] = place + 1;
        if (write) {
            mark_written(l2, place);
        }
        // A written line is not fetched first: DMA writes whole ones.
        if (!write) {
            l2->read_bytes += SIM_L2_LINE_BYTES;
            l2->read_runs += l2->last_read != line;
            l2->last_read = line + 1;
        }
    }
    write_back(l2);
}

void sim_l2_pass(struct sim_l2 *l2, uint64_t offset, uint64_t bytes, bool write)
{
    const uint64_t end = offset + bytes;
    if (!l2->places) {
        sim_l2_use(l2, offset, bytes, write);
        return;
    }
    if (offset >= l2->lines * SIM_L2_LINE_BYTES || bytes > l2->lines * SIM_L2_LINE_BYTES - offset) {
        return;
    }
    l2->used_bytes += bytes;
    while (offset < end) {
        const uint64_t line = offset / SIM_L2_LINE_BYTES, next = (line + 1) * SIM_L2_LINE_BYTES,
                       part = (next < end ? next : end) - offset;
        const uint32_t place = l2->place[line];
        offset += part;
        if (place) {
            if (write) {
                mark_written(l2, place - 1);
            }
            continue;
        }
        *(write ? &l2->written_bytes : &l2->read_bytes) += part;
        l2->read_runs += l2->last_read != line;
        l2->last_read = line + 1;
    }
    write_back(l2);
}

void sim_l2_copy(struct sim_l2 *l2, const struct leo_sqe_copy *body, bool is_fill)
{
    for (uint32_t row = 0; row < body->height; row++) {
        if (!is_fill && !(body->flags & LEO_SQE_COPY_HOST_SRC)) {
            sim_l2_use(l2, body->src + row * body->src_pitch - l2->base, body->width, false);
        }
        if (!(body->flags & LEO_SQE_COPY_HOST_DST)) {
            sim_l2_use(l2, body->dst + row * body->dst_pitch - l2->base, body->width, true);
        }
    }
}
