/* SPDX-License-Identifier: Apache-2.0 */
/* scalar_speed PROGRAM...: speed of the scalar unit against qemu-riscv64 on the same files, in
 * turns, and the geometric mean of the ratios. */
#include <leo/sim.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 3, FILE_BYTES_MAX = 1 << 20 };

static double get_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Seconds of one run under QEMU, its start included; negative if there is none. */
static double time_qemu(const char *path)
{
    double start = get_seconds();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout)) {
            execlp("qemu-riscv64", "qemu-riscv64", "-cpu", "rv64,Zfh=true", path, (char *)NULL);
        }
        _exit(127);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? get_seconds() - start : -1;
}

struct figures {
    double seconds, qemu; /**< best of the repeats; qemu infinite if there is none */
    uint64_t instructions;
};

static bool measure(const char *path, struct figures *figures)
{
    static char elf[FILE_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "scalar_speed: %s: %s\n", path, strerror(errno));
        return false;
    }
    size_t bytes = fread(elf, 1, sizeof(elf), file);
    fclose(file);
    *figures = (struct figures){INFINITY, INFINITY, 0};
    for (int i = 0; i < REPEATS; i++) {
        struct leo_sim_bare_result result = {0};
        double start = get_seconds();
        if (leo_sim_bare_run(elf, bytes, NULL, NULL, 0, &result) != LEO_OK ||
            result.exit_code != 0) {
            fprintf(stderr, "scalar_speed: %s failed\n", path);
            return false;
        }
        double seconds = get_seconds() - start, qemu = time_qemu(path);
        figures->seconds = fmin(figures->seconds, seconds);
        figures->qemu = qemu >= 0 ? fmin(figures->qemu, qemu) : figures->qemu;
        figures->instructions = result.instructions;
    }
    return true;
}

int main(int argc, char **argv)
{
    double log_sum = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: scalar_speed PROGRAM...\n");
        return 2;
    }
    printf("%-12s %10s %14s %14s %8s\n", "scalar unit", "M instr.", "M instr./s", "QEMU", "ratio");
    for (int i = 1; i < argc; i++) {
        struct figures f;
        if (!measure(argv[i], &f)) {
            return 1;
        }
        double millions = (double)f.instructions * 1e-6, ratio = f.qemu / f.seconds;
        const char *name = strrchr(argv[i], '/');
        printf("%-12s %10.1f %14.0f ", name ? name + 1 : argv[i], millions, millions / f.seconds);
        if (isinf(f.qemu)) {
            printf("%14s %8s\n", "none", "-");
        } else {
            printf("%14.0f %8.2f\n", millions / f.qemu, ratio);
        }
        log_sum += log(ratio);
    }
    if (!isinf(log_sum)) {
        printf("scalar unit / qemu-riscv64, geometric mean: %.2f\n", exp(log_sum / (argc - 1)));
    }
    return 0;
}
