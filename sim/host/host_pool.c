/* SPDX-License-Identifier: Apache-2.0 */
#include "host_pool.h"

#include <fenv.h>
#include <leo/alloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

// A worker spins through the single-threaded work between two rounds instead of being woken after
// it: with a tenth of the rounds a big matmul on two threads was some percent slower.
enum { POLL_LOOP_ROUNDS = 20000, MAX_THREADS = 64, MAX_ITEMS = 256 };

struct sim_host_lock {
    pthread_mutex_t mutex;
};

/*
 * A run is published by bumping `round`; workers claim items by adding to `next`, whose upper half
 * is the round they belong to, so that a worker that is late for a round can claim nothing of the
 * next one.
 */
struct sim_host_pool {
    unsigned workers;
    _Atomic unsigned named; /* workers that know their number */
    pthread_t thread[MAX_THREADS];
    sim_host_work_fn work;
    void *user;
    _Atomic uint64_t next;  /* round << 32 | next item */
    _Atomic uint64_t limit; /* round << 32 | items */
    _Atomic unsigned left;  /* items not finished */
    _Atomic bool done[MAX_ITEMS];
    _Atomic unsigned sleepers;
    _Atomic bool caller_sleeps;
    _Atomic bool stop;
    pthread_mutex_t mutex; /* protects sleeping only */
    pthread_cond_t wake, finished;
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Takes the next item of the present round; false when there is none. */
static bool claim(struct sim_host_pool *pool, unsigned *index)
{
    uint64_t next = atomic_load(&pool->next);
    for (;;) {
        uint64_t limit = atomic_load(&pool->limit);
        if (next >> 32 != limit >> 32 || (uint32_t)next >= (uint32_t)limit) {
            return false;
        }
        if (atomic_compare_exchange_weak(&pool->next, &next, next + 1)) {
            *index = (uint32_t)next;
            return true;
        }
    }
}

static void work_all(struct sim_host_pool *pool, unsigned thread)
{
    unsigned index = 0;
    while (claim(pool, &index)) {
        pool->work(pool->user, index, thread);
        atomic_store(&pool->done[index], true);
        if (atomic_fetch_sub(&pool->left, 1) == 1 && atomic_load(&pool->caller_sleeps)) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->finished);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
}

static bool has_work(struct sim_host_pool *pool)
{
    uint64_t limit = atomic_load(&pool->limit);
    uint64_t next = atomic_load(&pool->next);
    return next >> 32 == limit >> 32 && (uint32_t)next < (uint32_t)limit;
}

static void *worker_main(void *arg)
{
    struct sim_host_pool *pool = arg;
    fesetenv(FE_DFL_ENV); // a thread starts with the floating-point modes of its maker
    unsigned thread = atomic_fetch_add(&pool->named, 1) + 1; // 0 is the caller of run
    while (!atomic_load(&pool->stop)) {
        work_all(pool, thread);
        bool found = false;
        for (unsigned i = 0; i < POLL_LOOP_ROUNDS && !found; i++) {
            relax();
            found = has_work(pool) || atomic_load(&pool->stop);
        }
        if (found) {
            continue;
        }
        pthread_mutex_lock(&pool->mutex);
        atomic_fetch_add(&pool->sleepers, 1);
        while (!has_work(pool) && !atomic_load(&pool->stop)) {
            pthread_cond_wait(&pool->wake, &pool->mutex);
        }
        atomic_fetch_sub(&pool->sleepers, 1);
        pthread_mutex_unlock(&pool->mutex);
    }
    return NULL;
}

leo_status sim_host_pool_create(unsigned threads, struct sim_host_pool **pool_out)
{
    *pool_out = NULL;
    if (threads == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        threads = online > 0 ? (unsigned)online : 1;
    }
    if (threads > MAX_THREADS) {
        threads = MAX_THREADS;
    }
    struct sim_host_pool *pool = leo_calloc(1, sizeof(*pool));
    if (!pool) {
        return LEO_ERR_NO_MEMORY;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->finished, NULL);
    for (unsigned i = 0; i + 1 < threads; i++) {
        if (pthread_create(&pool->thread[i], NULL, worker_main, pool) != 0) {
            break; // fewer are slower, no more: the calling thread works as well
        }
        pool->workers++;
    }
    *pool_out = pool;
    return LEO_OK;
}

void sim_host_pool_destroy(struct sim_host_pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->stop, true);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->workers; i++) {
        pthread_join(pool->thread[i], NULL);
    }
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->finished);
    pthread_mutex_destroy(&pool->mutex);
    leo_free(pool);
}

unsigned sim_host_pool_threads(const struct sim_host_pool *pool)
{
    return pool->workers + 1;
}

/* A worker that is late may have lost its processor to another process: sleeping makes room. */
static void wait_for_all(struct sim_host_pool *pool)
{
    for (unsigned i = 0; i < POLL_LOOP_ROUNDS && atomic_load(&pool->left) != 0; i++) {
        relax();
    }
    if (atomic_load(&pool->left) == 0) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->left) != 0) {
        pthread_cond_wait(&pool->finished, &pool->mutex);
    }
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->mutex);
}

void sim_host_pool_run_here(struct sim_host_pool *pool, sim_host_work_fn work, void *user,
                            unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        atomic_store_explicit(&pool->done[i], false, memory_order_relaxed);
    }
    for (unsigned i = 0; i < count; i++) {
        work(user, i, 0);
        atomic_store_explicit(&pool->done[i], true, memory_order_relaxed);
    }
}

void sim_host_pool_run(struct sim_host_pool *pool, sim_host_work_fn work, void *user,
                       unsigned count)
{
    if (count > MAX_ITEMS) {
        count = MAX_ITEMS;
    }
    if (count <= 1 || pool->workers == 0) {
        sim_host_pool_run_here(pool, work, user, count);
        return;
    }
    pool->work = work;
    pool->user = user;
    for (unsigned i = 0; i < count; i++) {
        atomic_store_explicit(&pool->done[i], false, memory_order_relaxed);
    }
    atomic_store(&pool->left, count);
    uint64_t round = (atomic_load(&pool->limit) >> 32) + 1;
    // `next` first: until `limit` names the same round no thread can claim.
    atomic_store(&pool->next, round << 32);
    atomic_store(&pool->limit, round << 32 | count);
    if (atomic_load(&pool->sleepers)) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->mutex);
    }
    work_all(pool, 0);
    wait_for_all(pool);
}

void sim_host_pool_wait_turn(struct sim_host_pool *pool, unsigned first, unsigned index)
{
    for (unsigned below = first; below < index && below < MAX_ITEMS; below++) {
        for (unsigned i = 0; !atomic_load(&pool->done[below]); i++) {
            relax();
            if (i > POLL_LOOP_ROUNDS) {
                sched_yield();
            }
        }
    }
}

leo_status sim_host_lock_create(struct sim_host_lock **lock)
{
    *lock = leo_calloc(1, sizeof(**lock));
    if (!*lock) {
        return LEO_ERR_NO_MEMORY;
    }
    pthread_mutex_init(&(*lock)->mutex, NULL);
    return LEO_OK;
}

void sim_host_lock_destroy(struct sim_host_lock *lock)
{
    if (lock) {
        pthread_mutex_destroy(&lock->mutex);
        leo_free(lock);
    }
}

void sim_host_lock_take(struct sim_host_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

bool sim_host_lock_try(struct sim_host_lock *lock)
{
    return pthread_mutex_trylock(&lock->mutex) == 0;
}

void sim_host_lock_give(struct sim_host_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

uint64_t sim_host_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
