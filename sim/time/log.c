/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include "../host/host_pool.h"
#include <leo/alloc.h>
#include <stddef.h>

leo_status sim_time_pool_create(struct sim_time_pool *pool)
{
    pool->free = NULL;
    return sim_host_lock_create(&pool->lock);
}

void sim_time_pool_destroy(struct sim_time_pool *pool)
{
    while (pool->free) {
        struct sim_time_chunk *next = pool->free->next;
        leo_free(pool->free);
        pool->free = next;
    }
    sim_host_lock_destroy(pool->lock);
    pool->lock = NULL;
}

static struct sim_time_chunk *take_chunk(struct sim_time_pool *pool)
{
    sim_host_lock_take(pool->lock);
    struct sim_time_chunk *chunk = pool->free;
    if (chunk) {
        pool->free = chunk->next;
    }
    sim_host_lock_give(pool->lock);
    if (!chunk) {
        chunk = leo_alloc(sizeof(*chunk));
    }
    if (chunk) {
        chunk->next = NULL;
    }
    return chunk;
}

static void give_chunk(struct sim_time_pool *pool, struct sim_time_chunk *chunk)
{
    sim_host_lock_take(pool->lock);
    chunk->next = pool->free;
    pool->free = chunk;
    sim_host_lock_give(pool->lock);
}

void sim_time_log_init(struct sim_time_log *log, struct sim_time_pool *pool)
{
    *log = (struct sim_time_log){.pool = pool};
}

void sim_time_log_finish(struct sim_time_log *log)
{
    while (log->first) {
        struct sim_time_chunk *next = log->first->next;
        give_chunk(log->pool, log->first);
        log->first = next;
    }
    sim_time_log_init(log, log->pool);
}

/* What the caches missed before a record, the record and what follows it; the same once more for
 * one without that, at the end of a run; the link. */
enum { PLACES_RESERVED = 7 };

bool sim_time_log_reserve(struct sim_time_log *log)
{
    if (log->last && log->write_at + PLACES_RESERVED <= SIM_TIME_CHUNK_PLACES) {
        return true;
    }
    struct sim_time_chunk *chunk = take_chunk(log->pool);
    if (!chunk) {
        return false;
    }
    if (log->last) {
        log->last->place[log->write_at].record = (struct sim_time_record){.kind = SIM_TIME_LINK};
        log->last->next = chunk;
        log->written++;
    } else {
        log->first = chunk;
    }
    log->last = chunk;
    log->write_at = 0;
    return true;
}

void sim_time_log_push(struct sim_time_log *log, const struct sim_time_record *record,
                       const struct sim_time_gm *gm)
{
    uint32_t places = gm ? 2 : 1;
    log->last->place[log->write_at].record = *record;
    if (gm) {
        log->last->place[log->write_at + 1].gm = *gm;
    }
    sim_time_log_take(log, places);
}

void sim_time_log_rewind(struct sim_time_log *log, const struct sim_time_place_mark *mark)
{
    struct sim_time_chunk *chunk = mark->last->next;
    mark->last->next = NULL;
    while (chunk) {
        struct sim_time_chunk *after = chunk->next;
        give_chunk(log->pool, chunk);
        chunk = after;
    }
    log->last = mark->last;
    log->write_at = mark->write_at;
    log->written = mark->written;
}

const struct sim_time_record *sim_time_log_peek(struct sim_time_log *log,
                                                const struct sim_time_gm **gm)
{
    if (log->read >= log->published) {
        return NULL;
    }
    const struct sim_time_record *record = &log->first->place[log->read_at].record;
    if (record->kind == SIM_TIME_LINK) {
        struct sim_time_chunk *old = log->first;
        log->first = old->next;
        log->read_at = 0;
        log->read++;
        give_chunk(log->pool, old);
        if (log->read >= log->published) {
            return NULL;
        }
        record = &log->first->place[0].record;
    }
    *gm = record->kind == SIM_TIME_OP_GM ? &log->first->place[log->read_at + 1].gm : NULL;
    return record;
}

void sim_time_log_pop(struct sim_time_log *log)
{
    uint32_t places = log->first->place[log->read_at].record.kind == SIM_TIME_OP_GM ? 2 : 1;
    log->read_at += places;
    log->read += places;
}
