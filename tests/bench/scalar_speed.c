/* SPDX-License-Identifier: Apache-2.0 */
/* scalar_speed PROGRAM: million instructions a second of the scalar unit, and the ratio to
 * qemu-riscv64 on the same file. */
#include <leo/sim.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

/** Seconds of one run under QEMU, negative if there is none. */
static double time_qemu(const char *path)
{
    double start = get_seconds();
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

int main(int argc, char **argv)
{
    static char elf[FILE_BYTES_MAX];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: scalar_speed PROGRAM\n");
        return 2;
    }
    size_t bytes = fread(elf, 1, sizeof(elf), file);
    fclose(file);
    double best = 1e30, best_qemu = 1e30;
    struct leo_sim_bare_result result = {0};
    for (int i = 0; i < REPEATS; i++) {
        double start = get_seconds();
        if (leo_sim_bare_run(elf, bytes, NULL, NULL, 0, &result) != LEO_OK ||
            result.exit_code != 0) {
            fprintf(stderr, "scalar_speed: the program failed\n");
            return 1;
        }
        double seconds = get_seconds() - start, qemu = time_qemu(argv[1]);
        best = seconds < best ? seconds : best;
        best_qemu = qemu >= 0 && qemu < best_qemu ? qemu : best_qemu;
    }
    printf("scalar unit: %.0f M instructions/s (%.1f M in %.3f s)\n",
           (double)result.instructions / best * 1e-6, (double)result.instructions * 1e-6, best);
    if (best_qemu < 1e30) {
        printf("qemu-riscv64: %.0f M instructions/s, %.1f times as fast\n",
               (double)result.instructions / best_qemu * 1e-6, best / best_qemu);
    }
    return 0;
}
