/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a simulated matmul is on this host: 2048^3 and 4096^3, f16 in, f16 out, ascend910a,
 * through the operator; beside it, in the same run, the host's own f32 multiply-add peak and
 * OpenBLAS' sgemm of the same shape; then the same with one thread. Usage: bench_matmul [threads
 * [size]]. Rates count two operations a multiply-add.
 */
#define _GNU_SOURCE
#include "chip.h"
#include "fma_peak.h"

#include <cblas.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 4, RUNS = 3, MAX_SIZES = 2 };

char *openblas_get_corename(void);
void openblas_set_num_threads(int threads);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static struct leo_op_tensor tensor(struct leo_rt_device *device, uint32_t size, const void *data)
{
    const size_t bytes = (size_t)size * size * 2;
    const int64_t dim[] = {size, size};
    struct leo_op_tensor out = leo_op_tensor(0, LEO_DTYPE_F16, 2, dim);
    must(leo_rt_memory_alloc(device, bytes, &out.addr), "memory_alloc");
    must(leo_rt_memcpy(device, (void *)(uintptr_t)out.addr, data, bytes), "memcpy");
    return out;
}

/* A simulated device with three matrices. */
struct simulated {
    struct bench_chip chip;
    struct leo_op_tensor a, b, out;
    double simulated_us;
};

static void simulated_init(struct simulated *s, uint32_t size, unsigned threads)
{
    s->chip = bench_chip_open("ascend910a", threads);
    unsigned short *data = malloc((size_t)size * size * 2);
    if (!data) {
        exit(1);
    }
    for (size_t i = 0; i < (size_t)size * size; i++) {
        data[i] = (unsigned short)(0x2c00 + i * 2654435761u % 0x800); // 1/16 .. 1/4
    }
    s->a = tensor(s->chip.device, size, data);
    s->b = tensor(s->chip.device, size, data);
    s->out = tensor(s->chip.device, size, data);
    free(data);
}

static double rate_of(uint32_t size, double seconds)
{
    return 2e-9 * size * size * size / seconds;
}

static double simulated_run(struct simulated *s, uint32_t size)
{
    const double begin = now();
    const uint64_t begin_ns = leo_rt_device_host_time_ns(s->chip.device);
    must(LEO_OP(s->chip.context, "Mm", leo_op_arg_tensor(&s->a), leo_op_arg_tensor(&s->b),
                leo_op_arg_tensor(&s->out), leo_op_arg_number(0)),
         "Mm");
    must(leo_rt_stream_synchronize(s->chip.stream, -1), "synchronize");
    const double rate = rate_of(size, now() - begin);
    s->simulated_us = (double)(leo_rt_device_host_time_ns(s->chip.device) - begin_ns) * 1e-3;
    return rate;
}

static double openblas_run(uint32_t size, const float *a, const float *b, float *c)
{
    const double begin = now();
    const blasint n = (blasint)size;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
    return rate_of(size, now() - begin);
}

/* OpenBLAS picks its kernels when it is loaded, by a variable or else by processors it knows: start
 * again with the name of its best kernels this host can run. */
static void choose_core_type(char **argv)
{
    const char *best = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
                           ? "SkylakeX"
                           : "Haswell";
    const char *chosen = getenv("OPENBLAS_CORETYPE");
    if (!chosen || strcmp(chosen, best) != 0 || !getenv("OPENBLAS_THREAD_TIMEOUT")) {
        setenv("OPENBLAS_CORETYPE", best, 1);
        // Else its threads stay awake after a call and take turns with ours.
        setenv("OPENBLAS_THREAD_TIMEOUT", "4", 1);
        execv("/proc/self/exe", argv);
    }
}

/* Best rates of one shape and thread count. */
struct rates {
    double peak, ours, blas, simulated_us;
};

/* In turn, best of each: what else runs on the host meets all three. */
static struct rates measure(uint32_t size, unsigned threads)
{
    const size_t elements = (size_t)size * size;
    struct rates best = {0};
    struct simulated simulated;
    float *a = calloc(elements, 4), *b = calloc(elements, 4), *c = calloc(elements, 4);
    if (!a || !b || !c) {
        exit(1);
    }
    for (size_t i = 0; i < elements; i++) {
        a[i] = b[i] = (float)(i % 7) * 0.25f;
    }
    openblas_set_num_threads((int)threads);
    simulated_init(&simulated, size, threads);
    for (int round = 0; round < ROUNDS; round++) {
        best.peak = most(best.peak, bench_fma_peak(threads));
        for (int run = 0; run < RUNS; run++) {
            best.ours = most(best.ours, simulated_run(&simulated, size));
        }
        for (int run = 0; run < RUNS; run++) {
            best.blas = most(best.blas, openblas_run(size, a, b, c));
        }
    }
    best.simulated_us = simulated.simulated_us;
    bench_chip_close(&simulated.chip);
    free(a);
    free(b);
    free(c);
    return best;
}

static void print_rates(uint32_t size, unsigned threads, const struct rates *rates)
{
    printf("matmul %u x %u x %u, %u host threads, best of %d\n", size, size, size, threads,
           ROUNDS * RUNS);
    printf("  host FMA peak f32      %9.1f GFLOP/s\n", rates->peak);
    printf("  simulated ascend910a   %9.1f GFLOP/s  simulated time %.1f us\n", rates->ours,
           rates->simulated_us);
    printf("  OpenBLAS sgemm         %9.1f GFLOP/s  core type %s\n", rates->blas,
           openblas_get_corename());
    printf("  simulated / peak       %9.3f\n", rates->ours / rates->peak);
    printf("  simulated / OpenBLAS   %9.3f\n", rates->ours / rates->blas);
}

int main(int argc, char **argv)
{
    choose_core_type(argv);
    const unsigned threads =
        argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t asked = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    const uint32_t sizes[MAX_SIZES] = {asked ? asked : 2048, 4096};
    for (int i = 0; i < (asked ? 1 : MAX_SIZES); i++) {
        const struct rates all = measure(sizes[i], threads);
        print_rates(sizes[i], threads, &all);
        if (i == 0 && threads > 1) {
            const struct rates one = measure(sizes[i], 1);
            print_rates(sizes[i], 1, &one);
            printf("  %u threads / 1          %9.3f  (host peak %.3f, OpenBLAS %.3f)\n", threads,
                   all.ours / one.ours, all.peak / one.peak, all.blas / one.blas);
        }
    }
    return 0;
}
