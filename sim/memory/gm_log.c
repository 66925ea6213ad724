/* SPDX-License-Identifier: Apache-2.0 */
#include "gm_log.h"

#include <leo/alloc.h>
#include <string.h>

static bool grow(struct sim_gm_log *log)
{
    size_t capacity = log->capacity ? log->capacity * 2 : 64;
    struct sim_span *grown = leo_realloc(log->span, capacity * sizeof(*grown));
    if (!grown) {
        return false;
    }
    log->span = grown;
    log->capacity = capacity;
    return true;
}

void sim_gm_log_push(struct sim_gm_log *log, const struct sim_footprint *foot)
{
    for (unsigned i = 0; i < foot->count && !foot->empty; i++) {
        const struct sim_span *span = &foot->span[i];
        if (span->touch != 0 && span->space == LEO_MEM_SPACE_GM &&
            (log->count < log->capacity || grow(log))) {
            log->span[log->count++] = *span;
        }
    }
}

struct use {
    struct sim_l2 *l2;
    bool write;
};

static void use_range(void *context, uint64_t addr, uint64_t bytes)
{
    const struct use *use = context;
    sim_l2_use(use->l2, addr - use->l2->base, bytes, use->write);
}

void sim_gm_log_tell(struct sim_gm_log *log, struct sim_l2 *l2)
{
    for (size_t i = 0; i < log->count; i++) {
        struct use use = {l2, (log->span[i].touch & SIM_TOUCH_WRITE) != 0};
        sim_span_each(NULL, &log->span[i], use_range, &use); // no lanes in global memory
    }
    log->count = 0;
}

void sim_gm_log_finish(struct sim_gm_log *log)
{
    leo_free(log->span);
    memset(log, 0, sizeof(*log));
}
