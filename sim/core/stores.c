/* SPDX-License-Identifier: Apache-2.0 */
#include "stores.h"

#include <leo/alloc.h>
#include <string.h>

/* Of one core: 100 MB. What is older than that many stores and still in the future of a core that
 * polls it counts as over. */
enum { MAX_STORES = 1 << 20, FIRST_STORES = 256 };

struct sim_stores *sim_stores_create(unsigned cores)
{
    struct sim_stores *stores =
        leo_calloc(1, sizeof(*stores) + (cores + 1) * sizeof(stores->list[0]));
    if (stores) {
        stores->cores = cores;
    }
    return stores;
}

void sim_stores_destroy(struct sim_stores *stores)
{
    for (unsigned i = 0; stores && i <= stores->cores; i++) {
        leo_free(stores->list[i].item);
    }
    leo_free(stores);
}

void sim_stores_clear(struct sim_stores *stores)
{
    for (unsigned i = 0; i < stores->cores; i++) {
        stores->list[i].count = 0;
    }
}

static void forget(struct sim_store_list *list, size_t count)
{
    list->count -= count;
    memmove(list->item, list->item + count, list->count * sizeof(list->item[0]));
}

void sim_stores_add(struct sim_store_list *list, const struct sim_store *store)
{
    if (list->count == list->capacity && list->capacity < MAX_STORES) {
        const size_t capacity = list->capacity ? list->capacity * 2 : FIRST_STORES;
        struct sim_store *grown = leo_realloc(list->item, capacity * sizeof(*grown));
        if (grown) {
            list->item = grown;
            list->capacity = capacity;
        }
    }
    if (list->count && list->count == list->capacity) {
        forget(list, (list->count + 1) / 2);
    }
    if (list->count < list->capacity) {
        list->item[list->count++] = *store;
    }
}

/** Bytes that a span is compared with. */
struct wanted {
    uint64_t addr, bytes;
    bool found;
};

static void look_at_run(void *context, uint64_t addr, uint64_t bytes)
{
    struct wanted *wanted = context;
    wanted->found =
        wanted->found || (addr < wanted->addr + wanted->bytes && wanted->addr < addr + bytes);
}

const struct sim_store *sim_stores_find(const struct sim_store_list *list, uint64_t addr,
                                        uint64_t bytes)
{
    for (size_t i = list->count; i-- > 0;) {
        const struct sim_span *span = &list->item[i].span;
        if (addr >= span->low + span->extent || span->low >= addr + bytes) {
            continue;
        }
        struct wanted wanted = {.addr = addr, .bytes = bytes};
        sim_span_each(NULL, span, look_at_run, &wanted);
        if (wanted.found) {
            return &list->item[i];
        }
    }
    return NULL;
}

void sim_stores_trim(struct sim_store_list *list,
                     bool (*is_needed)(const struct sim_store *store, void *context), void *context)
{
    size_t over = 0;
    while (over < list->count && !is_needed(&list->item[over], context)) {
        over++;
    }
    if (over) {
        forget(list, over);
    }
}

struct sim_span sim_store_span(uint64_t addr, uint64_t bytes)
{
    return (struct sim_span){
        .addr = addr,
        .level = {{1, 0}, {1, 0}, {1, 0}},
        .bytes = (uint32_t)bytes,
        .touch = SIM_TOUCH_WRITE,
        .low = addr,
        .extent = bytes,
    };
}
