/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leo run --bare: a static program on one scalar unit. There is no device behind it, hence no
 * driver: this file and driver/transport_sim.c alone know the simulator (tools/check/layers.py).
 */
#include "leo_cmd.h"

#include "file.h"
#include <errno.h>
#include <inttypes.h>
#include <leo/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_through(void *user, int fd, const void *data, size_t bytes)
{
    FILE *out = fd == STDERR_FILENO ? stderr : stdout;
    (void)user;
    fwrite(data, 1, bytes, out);
    fflush(out);
}

/** Ten seconds or so on a fast host: a program that hangs ends, and few others do. */
#define LIMIT_DEFAULT UINT64_C(10000000000)

static int misuse(void)
{
    fprintf(stderr, "usage: leo run --bare [--limit INSTRUCTIONS] PROGRAM.elf (0 = no limit)\n");
    return 2;
}

/** The options before the program; false: misuse. */
static bool parse(int argc, char **argv, uint64_t *limit, const char **program)
{
    *limit = LIMIT_DEFAULT;
    *program = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--limit") == 0 && i + 1 < argc) {
            char *end;
            const char *number = argv[++i];
            errno = 0;
            *limit = strtoull(number, &end, 10);
            if (errno || *end || number[0] < '0' || number[0] > '9') {
                return false;
            }
        } else if (argv[i][0] == '-' || *program) {
            return false;
        } else {
            *program = argv[i];
        }
    }
    return *program != NULL;
}

int leo_cmd_run_bare(int argc, char **argv)
{
    struct file_bytes elf;
    struct leo_sim_bare_result result;
    uint64_t limit;
    const char *program;
    if (!parse(argc, argv, &limit, &program)) {
        return misuse();
    }
    if (!file_read("run", program, &elf)) {
        return 1;
    }
    leo_status status = leo_sim_bare_run(elf.data, elf.bytes, write_through, NULL, limit, &result);
    file_finish(&elf);
    if (status != LEO_OK) {
        fprintf(stderr, "leo run: %s does not run on the scalar unit: %s\n", program,
                result.text[0] ? result.text : leo_status_text(status));
        return 1;
    }
    if (result.fault != 0) {
        fprintf(stderr, "leo run: %s: at pc 0x%" PRIx64, program, result.fault_pc);
        if (result.fault_word) {
            fprintf(stderr, " (word 0x%08" PRIx32 ")", result.fault_word);
        }
        fprintf(stderr, ": %s\n", result.text);
        return 1;
    }
    return result.exit_code;
}
