/* SPDX-License-Identifier: Apache-2.0 */
#include "shadow.h"

#include <leo/alloc.h>
#include <string.h>

/** Stretches one visit of a page makes at most: each byte, and what is cut off at both ends. */
enum { FIRST_PLACES = 64, FIRST_ENTRIES = 4 };

static uint32_t place_of(const struct sim_shadow *shadow, uint64_t number)
{
    uint32_t at = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (shadow->places - 1);
    while (shadow->page[at].entry && shadow->page[at].number != number) {
        at = (at + 1) & (shadow->places - 1);
    }
    return at;
}

static bool grow_table(struct sim_shadow *shadow)
{
    struct sim_shadow bigger = {.places = shadow->places ? shadow->places * 2 : FIRST_PLACES};
    bigger.page = leo_calloc(bigger.places, sizeof(*bigger.page));
    if (!bigger.page) {
        return false;
    }
    for (uint32_t i = 0; i < shadow->places; i++) {
        if (shadow->page[i].entry) {
            bigger.page[place_of(&bigger, shadow->page[i].number)] = shadow->page[i];
        }
    }
    bigger.used = shadow->used;
    leo_free(shadow->page);
    *shadow = bigger;
    return true;
}

static struct sim_shadow_page *find_page(struct sim_shadow *shadow, uint64_t number)
{
    if (shadow->used * 2 >= shadow->places && !grow_table(shadow)) {
        return NULL;
    }
    struct sim_shadow_page *page = &shadow->page[place_of(shadow, number)];
    if (!page->entry) {
        page->entry = leo_alloc(FIRST_ENTRIES * sizeof(*page->entry));
        if (!page->entry) {
            return NULL;
        }
        page->number = number;
        page->count = 0;
        page->capacity = FIRST_ENTRIES;
        shadow->used++;
    }
    return page;
}

static bool is_same(const struct sim_shadow_entry *a, const struct sim_shadow_entry *b)
{
    return a->write == b->write && memcmp(a->read, b->read, sizeof(a->read)) == 0;
}

/** First entry that ends after `at`. */
static uint32_t first_after(const struct sim_shadow_page *page, uint32_t at)
{
    uint32_t low = 0, high = page->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (page->entry[middle].end <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** The new entries of a visited page. */
struct stretch {
    struct sim_shadow_entry entry[SIM_SHADOW_PAGE + 2];
    uint32_t count;
};

static void push(struct stretch *made, const struct sim_shadow_entry *entry)
{
    struct sim_shadow_entry *last = made->count ? &made->entry[made->count - 1] : NULL;
    if (last && last->end == entry->begin && is_same(last, entry)) {
        last->end = entry->end;
    } else {
        made->entry[made->count++] = *entry;
    }
}

/** Puts the stretches in the place of entries [from, to). */
static bool replace(struct sim_shadow_page *page, uint32_t from, uint32_t to,
                    const struct stretch *made)
{
    uint32_t count = page->count - (to - from) + made->count;
    if (count > page->capacity) {
        uint32_t capacity = page->capacity;
        while (capacity < count) {
            capacity *= 2;
        }
        struct sim_shadow_entry *grown = leo_realloc(page->entry, capacity * sizeof(*grown));
        if (!grown) {
            return false;
        }
        page->entry = grown;
        page->capacity = capacity;
    }
    memmove(&page->entry[from + made->count], &page->entry[to],
            (page->count - to) * sizeof(*page->entry));
    memcpy(&page->entry[from], made->entry, made->count * sizeof(*page->entry));
    page->count = count;
    return true;
}

/** The stretch at `pos`: of entry `i` if it is there, else a gap up to it. */
static struct sim_shadow_entry stretch_at(const struct sim_shadow_page *page, uint32_t i,
                                          uint32_t pos, uint32_t end)
{
    struct sim_shadow_entry part = {0};
    if (i < page->count && page->entry[i].begin <= pos) {
        part = page->entry[i];
    } else {
        part.end =
            (uint16_t)(i < page->count && page->entry[i].begin < end ? page->entry[i].begin : end);
    }
    part.begin = (uint16_t)pos;
    part.end = part.end < end ? part.end : (uint16_t)end;
    return part;
}

static bool visit_page(struct sim_shadow_page *page, uint32_t begin, uint32_t end, sim_shadow_fn fn,
                       void *context)
{
    const uint64_t base = page->number * SIM_SHADOW_PAGE;
    uint32_t from = first_after(page, begin);
    struct sim_shadow_entry *exact = from < page->count ? &page->entry[from] : NULL;
    if (exact && exact->begin == begin && exact->end == end) {
        fn(context, base + begin, exact); // loops touch the same places again and again
        return true;
    }
    struct stretch made;
    made.count = 0;
    // The neighbour before takes part, so that what continues it is joined.
    if (from > 0 && page->entry[from - 1].end == begin) {
        from--;
        push(&made, &page->entry[from]);
    }
    uint32_t i = first_after(page, begin);
    if (i < page->count && page->entry[i].begin < begin) {
        struct sim_shadow_entry left = page->entry[i];
        left.end = (uint16_t)begin;
        push(&made, &left);
    }
    for (uint32_t pos = begin; pos < end;) {
        struct sim_shadow_entry part = stretch_at(page, i, pos, end);
        fn(context, base + pos, &part);
        push(&made, &part);
        pos = part.end;
        if (i < page->count && page->entry[i].end <= pos) {
            i++;
        }
    }
    if (i < page->count && page->entry[i].begin <= end) {
        struct sim_shadow_entry right = page->entry[i++];
        right.begin = (uint16_t)(right.begin < end ? end : right.begin);
        push(&made, &right);
    }
    return replace(page, from, i, &made);
}

void sim_shadow_visit(struct sim_shadow *shadow, uint64_t addr, uint64_t bytes, sim_shadow_fn fn,
                      void *context)
{
    while (bytes != 0 && !shadow->full) {
        uint32_t begin = (uint32_t)(addr % SIM_SHADOW_PAGE);
        uint32_t part = SIM_SHADOW_PAGE - begin < bytes ? SIM_SHADOW_PAGE - begin : (uint32_t)bytes;
        struct sim_shadow_page *page = find_page(shadow, addr / SIM_SHADOW_PAGE);
        shadow->full = !page || !visit_page(page, begin, begin + part, fn, context);
        addr += part;
        bytes -= part;
    }
}

static void peek_page(const struct sim_shadow_page *page, uint32_t begin, uint32_t end,
                      sim_shadow_fn fn, void *context)
{
    for (uint32_t i = first_after(page, begin); i < page->count && page->entry[i].begin < end;
         i++) {
        struct sim_shadow_entry part = page->entry[i];
        part.begin = part.begin < begin ? (uint16_t)begin : part.begin;
        part.end = part.end > end ? (uint16_t)end : part.end;
        fn(context, page->number * SIM_SHADOW_PAGE + part.begin, &part);
    }
}

void sim_shadow_peek(const struct sim_shadow *shadow, uint64_t addr, uint64_t bytes,
                     sim_shadow_fn fn, void *context)
{
    while (bytes != 0 && shadow->places != 0) {
        uint32_t begin = (uint32_t)(addr % SIM_SHADOW_PAGE);
        uint32_t part = SIM_SHADOW_PAGE - begin < bytes ? SIM_SHADOW_PAGE - begin : (uint32_t)bytes;
        const struct sim_shadow_page *page =
            &shadow->page[place_of(shadow, addr / SIM_SHADOW_PAGE)];
        if (page->entry) {
            peek_page(page, begin, begin + part, fn, context);
        }
        addr += part;
        bytes -= part;
    }
}

void sim_shadow_clear(struct sim_shadow *shadow)
{
    for (uint32_t i = 0; i < shadow->places; i++) {
        shadow->page[i].count = 0;
    }
    shadow->full = false;
}

void sim_shadow_finish(struct sim_shadow *shadow)
{
    for (uint32_t i = 0; i < shadow->places; i++) {
        leo_free(shadow->page[i].entry);
    }
    leo_free(shadow->page);
    memset(shadow, 0, sizeof(*shadow));
}
