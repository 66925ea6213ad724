/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a jump through a pointer may lead: to the places whose addresses code computes (auipc and
 * addi) or the image holds (tables of functions, of virtual methods). A number that looks like such
 * an address costs the search a try.
 */
#include "poll_loop_parts.h"

#include <leo/alloc.h>
#include <stdlib.h>
#include <string.h>

/** Instructions between auipc and its addi, at most. */
enum { MAX_APART = 8 };

struct collect {
    const struct sim_decoded *decoded;
    const uint8_t *image;
    size_t bytes;
    struct poll_loop_targets *targets;
    size_t capacity;
    leo_status status;
};

static void add_target(struct collect *collect, uint64_t addr)
{
    const struct sim_decoded *decoded = collect->decoded;
    struct poll_loop_targets *targets = collect->targets;
    if (addr - decoded->base >= decoded->bytes || addr % 4 != 0 || collect->status != LEO_OK) {
        return;
    }
    if (targets->count == collect->capacity) {
        const size_t capacity = collect->capacity ? collect->capacity * 2 : 16;
        uint32_t *grown = leo_realloc(targets->at, capacity * sizeof(*grown));
        if (!grown) {
            collect->status = LEO_ERR_NO_MEMORY;
            return;
        }
        targets->at = grown;
        collect->capacity = capacity;
    }
    targets->at[targets->count++] = (uint32_t)((addr - decoded->base) / 4);
}

static void look_at_code(struct collect *collect)
{
    const struct sim_decoded *decoded = collect->decoded;
    const size_t count = (size_t)(decoded->bytes / 4);
    for (size_t i = 0; i < count; i++) {
        const struct sim_scalar_op *high = &decoded->ops[i];
        for (size_t k = i + 1; high->plain == SIM_CODE_AUIPC && k < count && k - i <= MAX_APART;
             k++) {
            const struct sim_scalar_op *low = &decoded->ops[k];
            if (low->plain == SIM_CODE_ADDI && low->rs1 == high->rd) {
                add_target(collect, (uint64_t)(high->imm + low->imm));
            }
        }
    }
}

static void look_at_data(struct collect *collect)
{
    uint64_t word;
    for (size_t at = 0; at + sizeof(word) <= collect->bytes; at += sizeof(word)) {
        memcpy(&word, collect->image + at, sizeof(word));
        add_target(collect, word);
    }
}

static int by_place(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

leo_status sim_poll_loop_find_targets(const struct sim_decoded *decoded, const void *image,
                                      size_t bytes, struct poll_loop_targets *targets)
{
    struct collect collect = {
        .decoded = decoded, .image = image, .bytes = bytes, .targets = targets};
    *targets = (struct poll_loop_targets){0};
    look_at_code(&collect);
    look_at_data(&collect);
    size_t kept = 0;
    if (targets->count) {
        qsort(targets->at, targets->count, sizeof(*targets->at), by_place);
    }
    for (size_t i = 0; i < targets->count; i++) {
        if (i == 0 || targets->at[i] != targets->at[kept - 1]) {
            targets->at[kept++] = targets->at[i];
        }
    }
    targets->count = kept;
    return collect.status;
}
