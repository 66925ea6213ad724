/* SPDX-License-Identifier: Apache-2.0 */
/* bare_run PROGRAM: runs a static RV64 program on one scalar unit; its output, its exit code. A
 * fault exits with 125. */
#include <leo/faults.h>
#include <leo/sim.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_out(void *user, int fd, const void *data, size_t bytes)
{
    (void)user;
    if (fwrite(data, 1, bytes, fd == 2 ? stderr : stdout) != bytes) {
        perror("bare_run");
        exit(125);
    }
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        data = size > 0 ? malloc((size_t)size) : NULL;
        *bytes = data ? fread(data, 1, (size_t)size, file) : 0;
    }
    if (file) {
        fclose(file);
    }
    return data;
}

int main(int argc, char **argv)
{
    size_t bytes = 0;
    bool count = argc == 3 && strcmp(argv[1], "--count") == 0;
    char *elf = argc == 2 + count ? read_file(argv[1 + count], &bytes) : NULL;
    if (!elf) {
        fprintf(stderr, "usage: bare_run [--count] PROGRAM\n");
        return 125;
    }
    struct leo_sim_bare_result result;
    leo_status status = leo_sim_bare_run(elf, bytes, write_out, NULL, 0, &result);
    free(elf);
    fflush(stdout);
    if (status != LEO_OK) {
        fprintf(stderr, "bare_run: %s\n", leo_status_text(status));
        return 125;
    }
    if (result.fault) {
        fprintf(stderr, "bare_run: %s at 0x%" PRIx64 ", address 0x%" PRIx64 "\n",
                leo_fault_text((enum leo_fault)result.fault), result.fault_pc, result.fault_addr);
        return 125;
    }
    if (count) {
        fprintf(stderr, "instructions: %" PRIu64 "\n", result.instructions);
    }
    return result.exit_code;
}
