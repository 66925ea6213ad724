/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the chip costs on the host: creation, memory, the shortest launch, scalar speed on
 * all cores. */
#include "harness.h"
#include "rig.h"

#include <stdio.h>
#include <time.h>

#define IMAGE (RIG_GM + 0x8000)

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void bench(const char *soc, uint8_t kind, unsigned threads)
{
    struct rig rig;
    long before = rig_resident_kib();
    double from = now_us();
    rig_open(&rig, soc, NULL, threads);
    printf("%s, %u threads: create %.0f us, %ld KiB resident\n", soc, threads, now_us() - from,
           rig_resident_kib() - before);
    const uint32_t empty[] = {rv_ret()};
    rig_image(&rig, IMAGE, empty, 1);
    double best = 1e9;
    for (unsigned round = 0; round < 20; round++) {
        from = now_us();
        for (unsigned i = 0; i < 1000; i++) {
            (void)rig_run(&rig, kind, IMAGE, 1, NULL, 0, NULL);
        }
        double each = (now_us() - from) / 1000;
        best = each < best ? each : best;
    }
    printf("  empty kernel, launch and wait: %.2f us\n", best);
    const uint32_t spin[] = {rv_addi(A0, A0, -1), rv_bne(A0, ZERO, -4), rv_ret()};
    rig_image(&rig, IMAGE, spin, 3);
    uint64_t rounds = 1000000;
    from = now_us();
    (void)rig_run(&rig, kind, IMAGE, 24, &rounds, 1, NULL);
    printf("  scalar loop on 24 cores: %.0f M instructions/s\n", 48e6 / (now_us() - from));
    rig_close(&rig);
}

static void print_figures(void)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        bench("ascend910a", LEO_CORE_KIND_AICORE, threads);
        bench("ascend910b1", LEO_CORE_KIND_VECTOR, threads);
    }
}

int main(int argc, char **argv)
{
    // As a test program: the bench checks what it does.
    static const struct leo_test tests[] = {{"print_figures", print_figures}};
    return leo_test_main("bench_chip", tests, 1, argc, argv);
}
