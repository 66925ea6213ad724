/* SPDX-License-Identifier: Apache-2.0 */
#include "gm_log.h"

#include <leo/alloc.h>
#include <string.h>

void sim_gm_log_push(struct sim_gm_log *log, const struct sim_cost *cost)
{
    if (log->count == log->capacity) {
        size_t capacity = log->capacity ? log->capacity * 2 : 64;
        struct sim_gm_piece *grown = leo_realloc(log->piece, capacity * sizeof(*grown));
        if (!grown) {
            return;
        }
        log->piece = grown;
        log->capacity = capacity;
    }
    struct sim_gm_piece piece = {
        .addr = cost->gm_addr,
        .count = cost->gm_count,
        .bytes = cost->gm_piece,
        .step = cost->gm_step,
        .more = cost->gm_more,
        .more_step = cost->gm_more_step,
        .write = cost->gm_write_bytes != 0,
    };
    if (piece.step == piece.bytes) {
        piece.bytes *= piece.count;
        piece.count = 1;
    }
    log->piece[log->count++] = piece;
}

void sim_gm_log_tell(struct sim_gm_log *log, struct sim_l2 *l2)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct sim_gm_piece *piece = &log->piece[i];
        for (uint64_t again = 0; again <= piece->more; again++) {
            uint64_t addr = piece->addr + again * piece->more_step - l2->base;
            for (uint64_t row = 0; row < piece->count; row++) {
                sim_l2_use(l2, addr + row * piece->step, piece->bytes, piece->write);
            }
        }
    }
    log->count = 0;
}

void sim_gm_log_finish(struct sim_gm_log *log)
{
    leo_free(log->piece);
    memset(log, 0, sizeof(*log));
}
