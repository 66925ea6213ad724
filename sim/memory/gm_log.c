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
    struct sim_gm_piece piece = {cost->gm_addr, cost->gm_count, cost->gm_piece, cost->gm_step,
                                 cost->gm_write_bytes != 0};
    if (piece.step == piece.bytes) {
        piece.bytes *= piece.count;
        piece.count = 1;
    }
    log->piece[log->count++] = piece;
}

void sim_gm_log_finish(struct sim_gm_log *log)
{
    leo_free(log->piece);
    memset(log, 0, sizeof(*log));
}
