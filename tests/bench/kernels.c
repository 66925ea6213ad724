/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host time of kernels that are not a matmul: a stream of additions against the host's own SIMD
 * code on as much data, small blocks by the thousand, and what a trace of everything adds to both.
 * Usage: bench_kernels [threads].
 */
#define _GNU_SOURCE
#include "must.h"

#include <immintrin.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const unsigned char bench_kernels_elf[];
extern const size_t bench_kernels_elf_bytes;

enum {
    SIDE = 8192,
    TILE = 8192, /* bench_kernels.c */
    SMALL = 2048,
    SMALL_BLOCKS = 32,
    SMALL_LAUNCHES = 200,
    ROUNDS = 5,
    THREADS_MAX = 64,
    TASKS = 4096,
    TRACES = 1 << 22
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- the host's own code ---- */

struct share {
    const uint16_t *x, *y;
    uint16_t *z;
    size_t count;
};

__attribute__((target("avx2,f16c"))) static void *add_share(void *user)
{
    const struct share *share = user;
    for (size_t i = 0; i < share->count; i += 8) {
        __m256 sum = _mm256_add_ps(_mm256_cvtph_ps(_mm_loadu_si128((const void *)(share->x + i))),
                                   _mm256_cvtph_ps(_mm_loadu_si128((const void *)(share->y + i))));
        _mm_storeu_si128((void *)(share->z + i), _mm256_cvtps_ph(sum, 0));
    }
    return NULL;
}

static double host_add(const uint16_t *x, const uint16_t *y, uint16_t *z, unsigned threads)
{
    pthread_t thread[THREADS_MAX];
    struct share share[THREADS_MAX];
    const size_t each = (size_t)SIDE * SIDE / threads;
    const double begin = now();
    for (unsigned i = 0; i < threads; i++) {
        share[i] = (struct share){x + i * each, y + i * each, z + i * each, each};
        if (pthread_create(&thread[i], NULL, add_share, &share[i]) != 0) {
            exit(1);
        }
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
    return now() - begin;
}

/* ---- simulated ---- */

struct rig {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_kernel *add, *small;
    uint64_t x, y, z;
};

static void rig_open(struct rig *rig, const uint16_t *data, unsigned threads)
{
    const struct leo_rt_opts opts = {
        .size = sizeof(opts), .soc = "ascend910b1", .host_threads = threads};
    const size_t bytes = (size_t)SIDE * SIDE * 2;
    struct leo_rt_module *module;
    must(leo_rt_create(&opts, &rig->rt), "rt_create");
    must(leo_rt_device_open(rig->rt, 0, &rig->device), "device_open");
    must(leo_rt_stream_create(rig->device, &rig->stream), "stream_create");
    must(leo_rt_module_load(rig->device, bench_kernels_elf, bench_kernels_elf_bytes, "bench",
                            &module),
         "module_load");
    must(leo_rt_module_find(module, "bench_stream_add", &rig->add), "module_find");
    must(leo_rt_module_find(module, "bench_small", &rig->small), "module_find");
    uint64_t *tensor[] = {&rig->x, &rig->y, &rig->z};
    for (int i = 0; i < 3; i++) {
        must(leo_rt_memory_alloc(rig->device, bytes, tensor[i]), "memory_alloc");
        must(leo_rt_memcpy(rig->device, (void *)(uintptr_t)*tensor[i], data, bytes), "memcpy");
    }
}

static double run_add(struct rig *rig)
{
    const uint32_t tiles = (uint32_t)((size_t)SIDE * SIDE / TILE);
    const void *args[] = {&rig->x, &rig->y, &rig->z, &tiles};
    const double begin = now();
    must(leo_rt_launch(rig->add, 48, rig->stream, args, 4, NULL), "launch");
    must(leo_rt_stream_synchronize(rig->stream, -1), "synchronize");
    return now() - begin;
}

static double run_small(struct rig *rig)
{
    const void *args[] = {&rig->x, &rig->y};
    const double begin = now();
    for (int i = 0; i < SMALL_LAUNCHES; i++) {
        must(leo_rt_launch(rig->small, SMALL_BLOCKS, rig->stream, args, 2, NULL), "launch");
    }
    must(leo_rt_stream_synchronize(rig->stream, -1), "synchronize");
    return now() - begin;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

struct times {
    double host, add, small, add_traced, small_traced;
};

static void measure(struct rig *rig, const uint16_t *x, const uint16_t *y, uint16_t *z,
                    unsigned threads, struct times *best)
{
    *best = (struct times){1e9, 1e9, 1e9, 1e9, 1e9};
    for (int round = 0; round < ROUNDS; round++) {
        best->host = least(best->host, host_add(x, y, z, threads));
        best->add = least(best->add, run_add(rig));
        best->small = least(best->small, run_small(rig));
        must(leo_rt_profile_start(rig->device, TASKS, TRACES), "profile_start");
        best->add_traced = least(best->add_traced, run_add(rig));
        best->small_traced = least(best->small_traced, run_small(rig));
        must(leo_rt_profile_stop(rig->device), "profile_stop");
    }
}

int main(int argc, char **argv)
{
    const unsigned threads =
        argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    const size_t count = (size_t)SIDE * SIDE;
    uint16_t *x = malloc(count * 2), *y = malloc(count * 2), *z = malloc(count * 2);
    struct rig rig;
    struct times best;
    if (!x || !y || !z || threads == 0 || threads > THREADS_MAX) {
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        x[i] = y[i] = (uint16_t)(0x2c00 + i * 2654435761u % 0x800); // 1/16 .. 1/4
    }
    memset(z, 0, count * 2);
    rig_open(&rig, x, threads);
    measure(&rig, x, y, z, threads, &best);
    const double gigabytes = (double)count * 6e-9, blocks = SMALL_BLOCKS * SMALL_LAUNCHES;
    printf("stream add f16 %d x %d, ascend910b1, 48 cores, %u host threads\n", SIDE, SIDE, threads);
    printf("  host SIMD code         %9.2f GB/s\n", gigabytes / best.host);
    printf("  simulated              %9.2f GB/s\n", gigabytes / best.add);
    printf("  simulated / host       %9.3f\n", best.host / best.add);
    printf("  with a trace / without %9.3f\n", best.add_traced / best.add);
    printf("launches of %d blocks of about 2 us\n", SMALL_BLOCKS);
    printf("  blocks/s and thread    %9.0f\n", blocks / best.small / threads);
    printf("  with a trace / without %9.3f\n", best.small_traced / best.small);
    leo_rt_destroy(rig.rt);
    free(x);
    free(y);
    free(z);
    return 0;
}
