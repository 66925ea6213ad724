/* SPDX-License-Identifier: Apache-2.0 */
#include "caches.h"

#include "../config.h"
#include <string.h>

void sim_caches_init(struct sim_caches *caches, const struct sim_config *config)
{
    const uint32_t lines = config->dcache_bytes / config->dcache_line_bytes;
    memset(caches, 0, sizeof(*caches));
    caches->data_line = config->dcache_line_bytes;
    caches->data_sets = lines < SIM_CACHE_WAYS ? 1 : lines / SIM_CACHE_WAYS;
    caches->text_line = config->icache_line_bytes;
    caches->text_lines = config->icache_bytes / config->icache_line_bytes;
}

bool sim_caches_load(struct sim_caches *caches, uint64_t addr, uint64_t *evicted)
{
    const uint64_t line = addr / caches->data_line;
    const uint32_t set = (uint32_t)(line % caches->data_sets);
    uint64_t *way = &caches->data[set * SIM_CACHE_WAYS];
    for (unsigned i = 0; i < SIM_CACHE_WAYS; i++) {
        if (way[i] == line + 1) {
            return true;
        }
    }
    const unsigned next = caches->data_next[set]++ % SIM_CACHE_WAYS;
    *evicted = way[next] ? (way[next] - 1) * caches->data_line : UINT64_MAX;
    way[next] = line + 1;
    caches->has_data = true;
    caches->data_missed++;
    return false;
}

void sim_caches_drop(struct sim_caches *caches, uint64_t addr)
{
    if (addr == UINT64_MAX) {
        memset(caches->data, 0, (size_t)caches->data_sets * SIM_CACHE_WAYS * sizeof(uint64_t));
        memset(caches->data_next, 0, caches->data_sets);
        caches->has_data = false;
        return;
    }
    const uint64_t line = addr / caches->data_line;
    uint64_t *way = &caches->data[line % caches->data_sets * SIM_CACHE_WAYS];
    for (unsigned i = 0; i < SIM_CACHE_WAYS; i++) {
        way[i] = way[i] == line + 1 ? 0 : way[i];
    }
}

static bool has_text(const struct sim_caches *caches, uint64_t line)
{
    for (uint32_t i = 0; i < caches->text_used; i++) {
        if (caches->text[i] == line) {
            return true;
        }
    }
    return false;
}

/* The oldest goes. */
static void add_text(struct sim_caches *caches, uint64_t line)
{
    if (caches->text_lines == 0 || has_text(caches, line)) {
        return;
    }
    caches->text[caches->text_next] = line;
    caches->text_used += caches->text_used < caches->text_lines;
    caches->text_next = caches->text_next + 1 == caches->text_lines ? 0 : caches->text_next + 1;
}

void sim_caches_fetch_other(struct sim_caches *caches, uint64_t line)
{
    caches->text_last = line;
    caches->text_missed += !has_text(caches, line);
    add_text(caches, line);
    add_text(caches, line + 1); // fetched ahead, while this one is carried out
}

void sim_caches_begin(struct sim_caches *caches, uint64_t pc)
{
    if (caches->has_data) {
        sim_caches_drop(caches, UINT64_MAX);
    }
    caches->text_used = caches->text_next = 0;
    sim_caches_fetch_other(caches, pc / caches->text_line + 1);
    caches->data_missed = caches->text_missed = 0;
}
