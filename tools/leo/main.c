/* SPDX-License-Identifier: Apache-2.0 */
#include "leo_cmd.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", leo_cmd_run, "run a kernel on the simulated chip"},
    {"gdb", leo_cmd_gdb, "debug kernels with gdb"},
    {"report", leo_cmd_report, "make a page of a profiled run"},
    {"exec", leo_cmd_exec, "run a program that finds the libraries, as set_env.sh does"},
    {"smi", leo_cmd_smi, "list the devices"},
    {"doctor", leo_cmd_doctor, "check Python, packages, paths, memory; say what to mend"},
    {"accuracy", leo_cmd_accuracy, "compare simulated times with published measurements"},
    {"sweep", leo_cmd_sweep, "run a command on variants of a chip and compare its times"},
    {"chakra", leo_cmd_chakra, "write recorded runs as Chakra execution traces, price traces"},
    {"topology", leo_cmd_topology, "how long operations between cards take on a topology"},
    {"study", leo_cmd_study, "price a run on many variants of a chip, with a page"},
    {"diff", leo_cmd_diff, "compare two profiled runs"},
    {"replay", leo_cmd_replay, "price a recorded run for another chip"},
    {"cc", leo_cmd_cc, "compile a kernel"},
    {"objdump", leo_cmd_objdump, "disassemble a kernel file with source lines"},
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
    fprintf(out, "usage: leo COMMAND [arguments]\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fprintf(out, "\nleo COMMAND --help tells more. Exit code: 0 good, 1 failed, 2 wrong use.\n");
}

/* What was printed must have arrived: a full disk or a reader that went away is a failure. A
 * command that failed already keeps its own code. */
static int end(int code)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "leo: cannot write standard output: %s\n",
                errno ? strerror(errno) : "a write failed");
        return code ? code : 1;
    }
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return end(0);
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return end(commands[i].run(argc - 1, argv + 1));
        }
    }
    fprintf(stderr, "leo: there is no command '%s'\n\n", argv[1]);
    print_help(stderr);
    return 2;
}
