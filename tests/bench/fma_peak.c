/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fma_peak.h"

#include <immintrin.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* Enough independent chains for four cycles of latency on two units. */
enum { CHAINS = 16, STEPS = 1000000, ROUNDS = 2, THREADS_MAX = 64 };

struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    double begin, end;
    float sum; // keeps the work from being removed
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((target("avx512f"))) static float spin_avx512(void)
{
    __m512 acc[CHAINS];
    const __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS; i++) {
        acc[i] = _mm512_set1_ps((float)i);
    }
    for (int step = 0; step < STEPS; step++) {
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; i++) {
            acc[i] = _mm512_fmadd_ps(acc[i], x, y);
        }
    }
    float sum = 0;
    for (int i = 0; i < CHAINS; i++) {
        sum += _mm512_reduce_add_ps(acc[i]);
    }
    return sum;
}

__attribute__((target("avx2,fma"))) static float spin_avx2(void)
{
    __m256 acc[CHAINS - 2]; // 16 registers in all
    const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS - 2; i++) {
        acc[i] = _mm256_set1_ps((float)i);
    }
    for (int step = 0; step < STEPS; step++) {
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS - 2; i++) {
            acc[i] = _mm256_fmadd_ps(acc[i], x, y);
        }
    }
    float out[8], sum = 0;
    for (int i = 0; i < CHAINS - 2; i++) {
        _mm256_storeu_ps(out, acc[i]);
        sum += out[0];
    }
    return sum;
}

static void *work(void *user)
{
    struct worker *worker = user;
    pthread_barrier_wait(worker->start);
    worker->begin = now();
    worker->sum = __builtin_cpu_supports("avx512f") ? spin_avx512() : spin_avx2();
    worker->end = now();
    return NULL;
}

double bench_fma_peak(unsigned threads)
{
    struct worker workers[THREADS_MAX];
    threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    const double lanes = __builtin_cpu_supports("avx512f") ? 16.0 * CHAINS : 8.0 * (CHAINS - 2);
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_t start;
        if (pthread_barrier_init(&start, NULL, threads) != 0) {
            return 0;
        }
        for (unsigned i = 0; i < threads; i++) {
            workers[i].start = &start;
            if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
                abort();
            }
        }
        double begin = 1e300, end = 0;
        for (unsigned i = 0; i < threads; i++) {
            pthread_join(workers[i].thread, NULL);
            begin = workers[i].begin < begin ? workers[i].begin : begin;
            end = workers[i].end > end ? workers[i].end : end;
        }
        pthread_barrier_destroy(&start);
        const double rate = 2e-9 * lanes * STEPS * threads / (end - begin);
        best = rate > best ? rate : best;
    }
    return best;
}
