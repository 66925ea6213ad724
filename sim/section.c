/* SPDX-License-Identifier: Apache-2.0 */
#include "section.h"

#include "host/pages.h"
#include <string.h>

bool sim_sections_walk(const struct sim_sections *sections, unsigned index, void *object,
                       sim_stretch_fn fn, void *user)
{
    for (uint32_t i = 0; i < sections->count; i++) {
        const struct sim_section *section = &sections->list[i];
        uint8_t *data = (uint8_t *)object + section->at;
        if (section->inner) {
            if (!sim_sections_walk(section->inner, index, data, fn, user)) {
                return false;
            }
            continue;
        }
        const struct sim_stretch stretch = {
            .owner = sections->name,
            .name = section->name,
            .index = index,
            .data = data,
            .bytes = section->bytes,
            .unit = section->unit,
            .kind = section->kind,
        };
        if (!fn(user, &stretch)) {
            return false;
        }
    }
    return true;
}

/* What other threads look at: element by element. */
static void zero_shared(const struct sim_stretch *stretch)
{
    uint8_t *data = stretch->data;
    for (uint64_t at = 0; at < stretch->bytes; at += stretch->unit) {
        void *element = data + at;
        if (stretch->unit == sizeof(uint64_t)) {
            __atomic_store_n((uint64_t *)element, 0, __ATOMIC_SEQ_CST);
        } else if (stretch->unit == sizeof(uint32_t)) {
            __atomic_store_n((uint32_t *)element, 0, __ATOMIC_SEQ_CST);
        } else {
            __atomic_store_n((uint8_t *)element, 0, __ATOMIC_SEQ_CST);
        }
    }
}

void sim_stretch_zero(const struct sim_stretch *stretch)
{
    if (stretch->reserved) {
        sim_pages_forget(stretch->data, stretch->bytes);
    } else if (stretch->kind == SIM_SECTION_HOST) {
        zero_shared(stretch);
    } else {
        memset(stretch->data, 0, stretch->bytes);
    }
}

void sim_sections_zero(const struct sim_sections *sections, void *object, unsigned kinds)
{
    for (uint32_t i = 0; i < sections->count; i++) {
        const struct sim_section *first = &sections->list[i];
        uint8_t *data = (uint8_t *)object + first->at;
        if (first->inner) {
            sim_sections_zero(first->inner, data, kinds);
            continue;
        }
        if (!(first->kind & kinds)) {
            continue;
        }
        // Neighbours of one kind at once.
        const struct sim_section *last = first;
        while (i + 1 < sections->count && last[1].kind == first->kind && !last[1].inner &&
               last[1].unit == first->unit) {
            last++;
            i++;
        }
        const struct sim_stretch stretch = {.data = data,
                                            .bytes = last->at + last->bytes - first->at,
                                            .unit = first->unit,
                                            .kind = first->kind};
        sim_stretch_zero(&stretch);
    }
}
