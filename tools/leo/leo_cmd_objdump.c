/* SPDX-License-Identifier: Apache-2.0 */
#include "leo_cmd.h"

#include <errno.h>
#include <leo/cc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: leo objdump [--no-source] KERNEL.elf\n"
    "Disassembles a kernel file: scalar instructions by llvm-objdump, unit instructions by our\n"
    "tables, with source lines if the file has debug information.\n"
    "\n"
    "  --no-source    instructions only\n"
    "\n"
    "Environment: LEO_DEVICE_OBJDUMP (another disassembler command).\n";

/* The disassembler would take any machine's files. */
static bool is_riscv(const char *path)
{
    unsigned char head[20] = {0};
    FILE *file = fopen(path, "rb");
    size_t bytes = file ? fread(head, 1, sizeof(head), file) : 0;
    if (file) {
        fclose(file);
    }
    return bytes == sizeof(head) && memcmp(head, "\177ELF", 4) == 0 && head[18] == 243 &&
           head[19] == 0;
}

int leo_cmd_objdump(int argc, char **argv)
{
    const char *path = NULL;
    bool source = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--no-source") == 0) {
            source = false;
        } else if (argv[i][0] == '-' || path) {
            fprintf(stderr, "leo objdump: unexpected argument %s\n%s", argv[i], help);
            return 2;
        } else {
            path = argv[i];
        }
    }
    if (!path) {
        fputs(help, stderr);
        return 2;
    }
    if (access(path, R_OK) != 0) {
        fprintf(stderr, "leo objdump: cannot read %s: %s\n", path, strerror(errno));
        return 1;
    }
    if (!is_riscv(path)) {
        fprintf(stderr, "leo objdump: %s is not a RISC-V ELF file: make one with leo cc\n", path);
        return 1;
    }
    char error[1024];
    leo_status status = leo_cc_objdump(path, source, stdout, error, sizeof(error));
    if (status != LEO_OK && error[0]) {
        fprintf(stderr, "leo objdump: %s\n", error);
    }
    return status != LEO_OK;
}
