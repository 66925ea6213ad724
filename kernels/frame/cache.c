/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

#include "plan_internal.h"

#include <leo/alloc.h>
#include <pthread.h>
#include <string.h>

enum { CACHE_SETS = 1024, CACHE_WAYS = 4 };

struct op_cache {
    pthread_mutex_t lock;                          /**< protects all below */
    struct op_plan *plans[CACHE_SETS][CACHE_WAYS]; /**< the most recently used one first */
};

struct op_cache *op_cache_create(void)
{
    struct op_cache *cache = leo_calloc(1, sizeof(*cache));
    if (cache) {
        pthread_mutex_init(&cache->lock, NULL);
    }
    return cache;
}

void op_cache_destroy(struct op_cache *cache)
{
    if (!cache) {
        return;
    }
    for (unsigned set = 0; set < CACHE_SETS; set++) {
        for (unsigned way = 0; way < CACHE_WAYS; way++) {
            op_plan_put(cache->plans[set][way]);
        }
    }
    pthread_mutex_destroy(&cache->lock);
    leo_free(cache);
}

void op_plan_put(struct op_plan *plan)
{
    if (plan && atomic_fetch_sub(&plan->references, 1) <= 1) {
        leo_free(plan->steps);
        leo_free(plan->args);
        leo_free(plan->key);
        leo_free(plan);
    }
}

struct op_plan *op_cache_find(struct op_cache *cache, const struct op_key *key)
{
    const uint64_t hash = op_key_hash(key);
    struct op_plan **set = cache->plans[hash % CACHE_SETS];
    struct op_plan *plan = NULL;
    pthread_mutex_lock(&cache->lock);
    for (unsigned way = 0; way < CACHE_WAYS && set[way] && !plan; way++) {
        if (set[way]->hash == hash && set[way]->key_words == key->count &&
            memcmp(set[way]->key, key->words, key->count * sizeof(*key->words)) == 0) {
            plan = set[way];
            memmove(set + 1, set, way * sizeof(struct op_plan *));
            set[0] = plan;
            atomic_fetch_add(&plan->references, 1);
        }
    }
    pthread_mutex_unlock(&cache->lock);
    return plan;
}

void op_cache_keep(struct op_cache *cache, const struct op_key *key, struct op_plan *plan)
{
    const uint64_t hash = op_key_hash(key);
    struct op_plan **set = cache->plans[hash % CACHE_SETS];
    plan->key = leo_alloc(key->count * sizeof(*key->words));
    if (!plan->key) {
        return;
    }
    memcpy(plan->key, key->words, key->count * sizeof(*key->words));
    plan->key_words = key->count;
    plan->hash = hash;
    atomic_fetch_add(&plan->references, 1);
    pthread_mutex_lock(&cache->lock);
    struct op_plan *oldest = set[CACHE_WAYS - 1];
    memmove(set + 1, set, (CACHE_WAYS - 1) * sizeof(struct op_plan *));
    set[0] = plan;
    pthread_mutex_unlock(&cache->lock);
    op_plan_put(oldest);
}
