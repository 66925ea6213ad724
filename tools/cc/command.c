/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/cc_command.h>

#include "text.h"
#include <leo/cc.h>
#include <string.h>

static const char help[] =
    "usage: %s [options] KERNEL.c|KERNEL.cpp... -o KERNEL.elf\n"
    "Compiles kernels for the simulated chip with clang and lld.\n"
    "\n"
    "  -o FILE          the kernel file to write\n"
    "  --soc NAME|FILE  the chip: ascend910a, ascend910b1 or a SoC file (default: LEO_SOC, else "
    "ascend910a)\n"
    "  -O.. -I.. -D.. -U.. -W.. -f.. -g.. -std=.. -include FILE -isystem DIR\n"
    "                   go to the compiler (defaults: -O2 -g -Wall, C11 with GNU extensions or "
    "C++17)\n"
    "  --strip          drop debug information: faults then show no source line\n"
    "  --save-temps     keep objects, the first image and the note's assembly beside the output\n"
    "  --device-root DIR  folder of include/, lib/ and leo.ld (default: LEO_DEVICE_ROOT, else the "
    "installed one)\n"
    "  --host-code TARGET  the sources have code for the host beside their kernels (cncc does "
    "this)\n"
    "  --depfile FILE   write a make dependency file\n"
    "  -v               print the commands that are run\n"
    "\n"
    "Environment: LEO_SOC, LEO_DEVICE_ROOT, LEO_DEVICE_CC and LEO_DEVICE_LD (other compiler and "
    "linker commands),\n"
    "TMPDIR. Exit code: 0 good, 1 failed, 2 wrong use.\n";

static int misuse(const char *program, const char *what, const char *which)
{
    fprintf(stderr, "%s: %s%s (%s --help lists the options)\n", program, what, which, program);
    return 2;
}

/* Options that take the next word, and where it goes. */
static const char **word_option(struct leo_cc_opts *opts, const char *option)
{
    const struct {
        const char *name;
        const char **value;
    } table[] = {
        {"-o", &opts->output},
        {"--soc", &opts->soc},
        {"--device-root", &opts->device_root},
        {"--depfile", &opts->depfile},
        {"--host-code", &opts->host_triple},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(option, table[i].name) == 0) {
            return table[i].value;
        }
    }
    return NULL;
}

static bool *switch_option(struct leo_cc_opts *opts, const char *option)
{
    const struct {
        const char *name;
        bool *value;
    } table[] = {
        {"--strip", &opts->strip},
        {"--save-temps", &opts->save_temps},
        {"-v", &opts->verbose},
        {"--verbose", &opts->verbose},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(option, table[i].name) == 0) {
            return table[i].value;
        }
    }
    return NULL;
}

static bool is_compiler_flag(const char *option)
{
    return option[0] == '-' && option[1] != '\0' && strchr("OIDUWfgsi", option[1]) &&
           strcmp(option, "-fuse-ld") != 0;
}

/* True for compiler flags whose value is the next word. */
static bool takes_word(const char *flag)
{
    static const char *const flags[] = {"-I",       "-D",      "-U",        "-include",
                                        "-isystem", "-iquote", "-idirafter"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(flag, flags[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int parse(const char *program, int argc, char **argv, struct leo_cc_opts *opts,
                 struct cc_args *flags, struct cc_args *sources)
{
    for (int i = 1; i < argc; i++) {
        const char **word = word_option(opts, argv[i]);
        bool *flag = switch_option(opts, argv[i]);
        if ((word || takes_word(argv[i])) && i + 1 >= argc) {
            return misuse(program, "a value is missing after ", argv[i]);
        }
        if (word) {
            *word = argv[++i];
        } else if (flag) {
            *flag = true;
        } else if (strncmp(argv[i], "--soc=", 6) == 0) {
            opts->soc = argv[i] + 6;
        } else if (is_compiler_flag(argv[i])) {
            cc_args_push(flags, "%s", argv[i]);
            if (takes_word(argv[i])) {
                cc_args_push(flags, "%s", argv[++i]);
            }
        } else if (argv[i][0] == '-') {
            return misuse(program, "unknown option ", argv[i]);
        } else {
            cc_args_push(sources, "%s", argv[i]);
        }
    }
    if (flags->failed || sources->failed) {
        return misuse(program, "out of memory", "");
    }
    if (sources->count == 0) {
        return misuse(program, "no source file", "");
    }
    return opts->output ? 0 : misuse(program, "no output file: add -o KERNEL.elf", "");
}

static int compile(const char *program, struct leo_cc_opts *opts, const struct cc_args *flags,
                   const struct cc_args *sources)
{
    char error[2048];
    opts->flags = (const char *const *)flags->items;
    opts->flag_count = flags->count;
    opts->sources = (const char *const *)sources->items;
    opts->source_count = sources->count;
    leo_status status = leo_cc_compile(opts, error, sizeof(error));
    if (status != LEO_OK && error[0]) {
        fprintf(stderr, "%s: %s\n", program, error);
    }
    return status != LEO_OK;
}

int leo_cc_command_run(const char *program, int argc, char **argv)
{
    struct leo_cc_opts opts = {.size = sizeof(opts)};
    struct cc_args flags = {0};
    struct cc_args sources = {0};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf(help, program);
        return 0;
    }
    int code = parse(program, argc, argv, &opts, &flags, &sources);
    if (code == 0) {
        code = compile(program, &opts, &flags, &sources);
    }
    cc_args_finish(&flags);
    cc_args_finish(&sources);
    return code;
}
