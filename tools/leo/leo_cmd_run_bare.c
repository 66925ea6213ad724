/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leo run --bare: a static program on one scalar unit. There is no device behind it, hence no
 * driver: this file and driver/transport_sim.c alone know the simulator (tools/check/layers.py).
 */
#include "leo_cmd.h"

#include "file.h"
#include <leo/faults.h>
#include <leo/sim.h>
#include <stdio.h>
#include <unistd.h>

static void write_through(void *user, int fd, const void *data, size_t bytes)
{
    FILE *out = fd == STDERR_FILENO ? stderr : stdout;
    (void)user;
    fwrite(data, 1, bytes, out);
    fflush(out);
}

int leo_cmd_run_bare(int argc, char **argv)
{
    struct file_bytes elf;
    struct leo_sim_bare_result result;
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: leo run --bare PROGRAM.elf\n");
        return 2;
    }
    if (!file_read("run", argv[1], &elf)) {
        return 1;
    }
    leo_status status = leo_sim_bare_run(elf.data, elf.bytes, write_through, NULL, 0, &result);
    file_finish(&elf);
    if (status != LEO_OK) {
        fprintf(stderr, "leo run: %s: %s\n", argv[1], leo_status_text(status));
        return 1;
    }
    if (result.fault != 0) {
        fprintf(stderr, "leo run: %s: %s at pc 0x%llx, address 0x%llx\n", argv[1],
                leo_fault_text((enum leo_fault)result.fault), (unsigned long long)result.fault_pc,
                (unsigned long long)result.fault_addr);
        return 1;
    }
    return result.exit_code;
}
