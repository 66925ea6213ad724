/* SPDX-License-Identifier: Apache-2.0 */
/* leo run: one launch of one kernel, with arguments from the command line. */
#include "leo_cmd.h"

#include "golden.h"
#include "run_args.h"
#include "run_dump.h"
#include "run_profile.h"
#include "run_report.h"
#include <errno.h>
#include <leo/layout.h>
#include <leo/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOLDENS_MAX 16
#define DUMPS_MAX   16
#define REPEATS_MAX 1000
#define TRACES      (1u << 20) /* of the trace, unless asked for more: 32 MiB */
#define TRACES_MAX  (1u << 28)

/* What the command line asks for. */
struct request {
    const char *path, *kernel, *soc, *trace, *check, *profile, *gdb;
    uint32_t blocks, together, repeat, traces;
    bool cores; /* the table by core */
    struct run_arg args[RUN_ARGS_MAX];
    unsigned arg_count;
    const char *goldens[GOLDENS_MAX];
    unsigned golden_count;
    const char *dump_specs[DUMPS_MAX];
    struct run_dump dumps[DUMPS_MAX];
    unsigned dump_count;
};

/* What is open. */
struct session {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    struct leo_rt_kernel *kernel;
};

static const char help[] =
    "usage: leo run KERNEL.elf [options]\n"
    "       leo run --bare [--limit INSTRUCTIONS] PROGRAM.elf\n"
    "Runs a kernel on the simulated chip and tells its simulated time.\n"
    "\n"
    "  --kernel NAME    which kernel of the file (needed if there are several)\n"
    "  --soc NAME|FILE  the chip (default: LEO_SOC, else ascend910a)\n"
    "  --blocks N       blocks to launch (default 1)\n"
    "  --union N        of a kernel in BANG C: N blocks share clusters of 4 (default: none do)\n"
    "  --arg SPEC       an argument, see below\n"
    "  --repeat N       launch N times, the buffers as at first each time; tells all times\n"
    "  --golden INDEX:FILE:DTYPE:TOL  compare the buffer of argument INDEX (from 0) with the "
    "file;\n"
    "                   DTYPE f16 f32 bf16 s8 u8 s16 u16 s32 u32 s64 u64; the error of an element "
    "is\n"
    "                   |got - expected| / max(1, |expected|); TOL 0 asks for equal values\n"
    "  --golden INDEX:FILE:DTYPE:RTOL:ATOL  the same with\n"
    "                   |got - expected| <= ATOL + RTOL * |expected|\n"
    "  --dump BUFFER:ARRAY[:DTYPE], --dump BUFFER:OFFSET:BYTES[:DTYPE]  print what a buffer (ub l1 "
    "l0a\n"
    "                   l0b l0c bt fb) of each core that ran holds afterwards, also after a "
    "fault;\n"
    "                   without DTYPE hexadecimal words\n"
    "  --check LIST     what to check the kernel for: none, all, or some of\n"
    "                   hazard,init,race,bounds,poison (default: LEO_CHECK, else all)\n"
    "  --cores          a table of what the units of each core did\n"
    "  --profile DIR    write a profile below DIR, which leo report makes a page of (default:\n"
    "                   LEO_PROFILE, else none)\n"
    "  --trace FILE     write a timeline for Perfetto or chrome://tracing\n"
    "  --trace-records N  room for N instructions in it and in --cores (default 1048576)\n"
    "  --gdb PORT       wait for gdb on a port of this computer before the first instruction (0: a "
    "free\n"
    "                   one); leo gdb does it all (docs/debugger.md)\n"
    "  --bare           run a static RV64 Linux program on one scalar unit (calls: write, exit); "
    "the\n"
    "                   exit code is the program's; its stack has 1 MiB\n"
    "  --limit N        with --bare: stop after N instructions (default 10000000000, 0 = never)\n"
    "\n"
    "%s"
    "\n"
    "Environment: as every program of the runtime (LEO_SOC, LEO_THREADS, LEO_SIMD, ...).\n"
    "Exit code: 0 good, 1 a fault or a mismatch, 2 wrong use.\n";

static int misuse(const char *what, const char *which)
{
    fprintf(stderr, "leo run: %s%s (leo run --help lists the options)\n", what, which);
    return 2;
}

static int parse_count(const char *option, const char *text, uint32_t most, uint32_t *count)
{
    char *end;
    unsigned long value = strtoul(text, &end, 0);
    if (end == text || *end || value < 1 || value > most) {
        fprintf(stderr, "leo run: %s takes 1 to %u, not %s\n", option, most, text);
        return 2;
    }
    *count = (uint32_t)value;
    return 0;
}

static int parse_option(struct request *request, const char *option, const char *value)
{
    static const char *const known[] = {
        "--kernel", "--soc",  "--trace", "--trace-records", "--blocks", "--repeat", "--golden",
        "--arg",    "--dump", "--check", "--profile",       "--union",  "--gdb"};
    bool is_known = false;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        is_known = is_known || strcmp(option, known[i]) == 0;
    }
    if (!is_known) {
        return misuse("unknown option ", option);
    }
    if (!value) {
        return misuse("a value is missing after ", option);
    }
    if (strcmp(option, "--kernel") == 0) {
        request->kernel = value;
    } else if (strcmp(option, "--soc") == 0) {
        request->soc = value;
    } else if (strcmp(option, "--trace") == 0) {
        request->trace = value;
    } else if (strcmp(option, "--profile") == 0) {
        request->profile = value;
    } else if (strcmp(option, "--gdb") == 0) {
        request->gdb = value;
    } else if (strcmp(option, "--check") == 0) {
        request->check = value;
    } else if (strcmp(option, "--blocks") == 0) {
        return parse_count(option, value, 65535, &request->blocks);
    } else if (strcmp(option, "--union") == 0) {
        return parse_count(option, value, 65535, &request->together);
    } else if (strcmp(option, "--repeat") == 0) {
        return parse_count(option, value, REPEATS_MAX, &request->repeat);
    } else if (strcmp(option, "--trace-records") == 0) {
        return parse_count(option, value, TRACES_MAX, &request->traces);
    } else if (strcmp(option, "--arg") == 0) {
        if (request->arg_count == RUN_ARGS_MAX) {
            return misuse("too many arguments: ", value);
        }
        request->args[request->arg_count++].spec = value;
    } else if (strcmp(option, "--dump") == 0) {
        if (request->dump_count == DUMPS_MAX) {
            return misuse("too many dumps: ", value);
        }
        request->dump_specs[request->dump_count++] = value;
    } else { /* --golden */
        if (request->golden_count == GOLDENS_MAX) {
            return misuse("too many comparisons: ", value);
        }
        request->goldens[request->golden_count++] = value;
    }
    return 0;
}

static int parse(int argc, char **argv, struct request *request)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cores") == 0) {
            request->cores = true;
        } else if (argv[i][0] == '-') {
            int code = parse_option(request, argv[i], argv[i + 1]);
            if (code != 0) {
                return code;
            }
            i++;
        } else if (request->path) {
            return misuse("one kernel file, please; this is another: ", argv[i]);
        } else {
            request->path = argv[i];
        }
    }
    return request->path ? 0 : misuse("no kernel file", "");
}

/* `what` is NULL where the error text names the thing itself. */
static int failed(const char *what)
{
    fprintf(stderr, "leo run: %s%s%s\n", what ? what : "", what ? ": " : "", leo_rt_last_error());
    return 1;
}

static int open_session(const struct request *request, struct session *session)
{
    struct file_bytes elf;
    if (request->gdb) {
        setenv("LEO_GDB", request->gdb, 1);
    }
    if (request->profile) {
        setenv("LEO_PROFILE_CODE", "1", 0); // hot spots by line
    }
    struct leo_rt_opts opts = {.size = sizeof(opts), .soc = request->soc, .check = request->check};
    if (!opts.check && !getenv("LEO_CHECK")) {
        opts.check = "all";
    }
    if (!file_read("run", request->path, &elf)) {
        return 1;
    }
    leo_status status = leo_rt_create(&opts, &session->rt);
    if (status == LEO_OK) {
        status = leo_rt_device_open(session->rt, 0, &session->device);
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_create(session->device, &session->stream);
    }
    if (status == LEO_OK) {
        status = leo_rt_module_load(session->device, elf.data, elf.bytes, request->path,
                                    &session->module);
    }
    file_finish(&elf);
    return status == LEO_OK ? 0 : failed(NULL);
}

static void close_session(struct session *session)
{
    leo_rt_stream_destroy(session->stream);
    leo_rt_module_unload(session->module);
    leo_rt_device_close(session->device);
    leo_rt_destroy(session->rt);
}

/* A kernel of a C++ file by its plain name, where only one has it. */
static struct leo_rt_kernel *find_plain(struct leo_rt_module *module, const char *name)
{
    struct leo_rt_kernel *found = NULL;
    char head[256];
    const size_t bytes = (size_t)snprintf(head, sizeof(head), "_Z%zu%s", strlen(name), name);
    for (unsigned i = 0; bytes < sizeof(head) && i < leo_rt_module_kernel_count(module); i++) {
        struct leo_rt_kernel *kernel = leo_rt_module_kernel(module, i);
        if (strncmp(leo_rt_kernel_name(kernel), head, bytes) == 0) {
            if (found) {
                return NULL;
            }
            found = kernel;
        }
    }
    return found;
}

static int choose_kernel(const struct request *request, struct session *session)
{
    unsigned count = leo_rt_module_kernel_count(session->module);
    if (!request->kernel && count == 1) {
        session->kernel = leo_rt_module_kernel(session->module, 0);
        return 0;
    }
    if (request->kernel &&
        leo_rt_module_find(session->module, request->kernel, &session->kernel) == LEO_OK) {
        return 0;
    }
    session->kernel = request->kernel ? find_plain(session->module, request->kernel) : NULL;
    if (session->kernel) {
        return 0;
    }
    if (request->kernel) {
        fprintf(stderr, "leo run: %s has no kernel '%s'; it has:", request->path, request->kernel);
    } else {
        fprintf(stderr, "leo run: %s has %u kernels, choose with --kernel:", request->path, count);
    }
    for (unsigned i = 0; i < count; i++) {
        fprintf(stderr, " %s", leo_rt_kernel_name(leo_rt_module_kernel(session->module, i)));
    }
    fprintf(stderr, "\n");
    return 2;
}

static leo_status launch_all(struct request *request, struct session *session,
                             const void *const *values)
{
    const struct leo_rt_launch_opts opts = {.tag = leo_rt_kernel_name(session->kernel),
                                            .task_type = request->together};
    leo_status status = LEO_OK;
    for (uint32_t i = 0; i < request->repeat && status == LEO_OK; i++) {
        // Each launch finds the same buffers, so that results do not depend on their number.
        if (i > 0) {
            status = run_args_refill(request->args, request->arg_count, session->device);
        }
        if (status == LEO_OK) {
            status = leo_rt_launch_with_options(session->kernel, request->blocks, session->stream,
                                                values, request->arg_count, NULL, 0, &opts);
        }
        if (status == LEO_OK) {
            status = leo_rt_stream_synchronize(session->stream, -1);
        }
        if (status == LEO_OK && i == 0) { // later launches find the zeros written by a copy
            status = run_args_tell_unwritten(request->args, request->arg_count, session->device);
        }
    }
    return status;
}

static int launch(struct request *request, struct session *session)
{
    const void *values[RUN_ARGS_MAX];
    char folder[RUN_PROFILE_BYTES];
    struct run_report report = {
        .device = session->device,
        .kernel = leo_rt_kernel_name(session->kernel),
        // Of a launch: itself, the buffers' copies, reading what it prints.
        .tasks = request->repeat * (8 + request->arg_count) + 64,
        .traces = request->trace || request->cores || request->profile ? request->traces : 0,
        .cores = request->cores,
    };
    if (request->profile && !run_profile_begin(request->profile, folder)) {
        return 1;
    }
    if (run_args_upload(request->args, request->arg_count, session->device) != LEO_OK ||
        leo_rt_profile_start(session->device, report.tasks, report.traces) != LEO_OK) {
        return failed("preparing the launch");
    }
    run_args_values(request->args, request->arg_count, values);
    leo_status status = launch_all(request, session, values);
    if (status != LEO_OK) {
        failed(NULL);
    }
    run_report_print(&report);
    unsigned first = 0, cores = 0;
    for (unsigned i = 0; i < request->dump_count; i++) {
        const struct run_dump *dump = &request->dumps[i];
        if (run_report_cores(&report, dump->space, &first, &cores) &&
            run_dump_print(dump, session->device, first, cores) != 0) {
            return 1;
        }
    }
    if (request->trace && leo_rt_profile_write(session->device, request->trace) != LEO_OK) {
        return failed(NULL);
    }
    if (request->profile && !run_profile_end(folder, session->device)) {
        return 1;
    }
    if (status == LEO_OK &&
        run_args_download(request->args, request->arg_count, session->device) != LEO_OK) {
        return failed("reading the results");
    }
    return status != LEO_OK;
}

/* Cuts the text behind the last colon off and reads it as a number. */
static bool cut_number(char *spec, double *value)
{
    char *end, *colon = strrchr(spec, ':');
    *value = colon ? strtod(colon + 1, &end) : 0;
    if (!colon || end == colon + 1 || *end || !(*value >= 0)) {
        return false;
    }
    *colon = '\0';
    return true;
}

/* Takes INDEX:FILE:DTYPE:TOL or INDEX:FILE:DTYPE:RTOL:ATOL apart; the file name may hold colons. */
static int parse_golden(char *spec, const char *text, unsigned *index, char **file,
                        enum leo_dtype *type, struct golden_tolerance *tolerance)
{
    static const char form[] = "--golden takes INDEX:FILE:DTYPE:TOL or INDEX:FILE:DTYPE:RTOL:ATOL";
    *tolerance = (struct golden_tolerance){0};
    *index = (unsigned)strtoul(spec, file, 10);
    if (*file == spec || **file != ':') {
        fprintf(stderr, "leo run: %s, not %s\n", form, text);
        return 2;
    }
    ++*file;
    if (!cut_number(*file, &tolerance->relative)) {
        fprintf(stderr, "leo run: %s; bad tolerance: %s\n", form, text);
        return 2;
    }
    double first;
    if (cut_number(*file, &first)) {
        *tolerance = (struct golden_tolerance){first, tolerance->relative, true};
    }
    char *dtype = strrchr(*file, ':');
    if (!dtype) {
        fprintf(stderr, "leo run: %s, not %s\n", form, text);
        return 2;
    }
    *dtype++ = '\0';
    if (!golden_type(dtype, type)) {
        return misuse("--golden: no such DTYPE: ", dtype);
    }
    return 0;
}

static int compare_with(const struct run_arg *arg, unsigned index, const char *file,
                        enum leo_dtype type, const struct golden_tolerance *tolerance)
{
    struct file_bytes expected;
    if (!file_read("run", file, &expected)) {
        return 1;
    }
    if (expected.bytes != arg->content.bytes) {
        fprintf(stderr, "leo run: argument %u has %zu bytes, %s has %zu\n", index,
                arg->content.bytes, file, expected.bytes);
        file_finish(&expected);
        return 1;
    }
    struct golden_result result =
        golden_compare(arg->content.data, expected.data, expected.bytes, type, tolerance);
    printf("argument %u against %s: %zu elements, largest error %.6g%s: ", index, file,
           result.count, result.max_error, tolerance->close ? " of what is allowed" : "");
    if (result.mismatches == 0) {
        printf("good\n");
    } else {
        printf("%zu above %g, first at element %zu (got %.9g, expected %.9g)\n", result.mismatches,
               tolerance->close ? 1 : tolerance->relative, result.first, result.got,
               result.expected);
    }
    file_finish(&expected);
    return result.mismatches != 0;
}

/* Compares, or with `run` false only looks whether the comparison is possible. */
static int compare(const struct request *request, const char *text, bool run)
{
    char spec[4096];
    unsigned index;
    char *file;
    enum leo_dtype type;
    struct golden_tolerance tolerance;
    if ((size_t)snprintf(spec, sizeof(spec), "%s", text) >= sizeof(spec)) {
        return misuse("--golden is too long: ", text);
    }
    int code = parse_golden(spec, text, &index, &file, &type, &tolerance);
    if (code != 0) {
        return code;
    }
    if (index >= request->arg_count || !request->args[index].is_buffer) {
        return misuse("--golden: INDEX must be that of a buffer argument: ", text);
    }
    if (!run) {
        if (access(file, R_OK) == 0) {
            return 0;
        }
        fprintf(stderr, "leo run: cannot read %s: %s\n", file, strerror(errno));
        return 1;
    }
    return compare_with(&request->args[index], index, file, type, &tolerance);
}

static int run(struct request *request, struct session *session)
{
    int code = open_session(request, session);
    if (code == 0) {
        code = choose_kernel(request, session);
    }
    if (code == 0) {
        code = run_args_parse(request->args, request->arg_count, session->kernel);
    }
    for (unsigned i = 0; i < request->golden_count && code == 0; i++) {
        code = compare(request, request->goldens[i], false);
    }
    for (unsigned i = 0; i < request->dump_count && code == 0; i++) {
        code = run_dump_parse(request->dump_specs[i], session->module, &request->dumps[i]);
    }
    if (code == 0) {
        code = launch(request, session);
    }
    if (code == 0 && !run_args_write(request->args, request->arg_count)) {
        code = 1;
    }
    for (unsigned i = 0; i < request->golden_count && code != 2; i++) {
        int one = code == 0 || i > 0 ? compare(request, request->goldens[i], true) : 0;
        code = one > code ? one : code;
    }
    return code;
}

int leo_cmd_run(int argc, char **argv)
{
    struct request request = {.blocks = 1, .repeat = 1, .traces = TRACES};
    const char *profile = getenv("LEO_PROFILE");
    request.profile = profile && *profile ? profile : NULL;
    struct session session = {0};
    if (argc > 1 && strcmp(argv[1], "--bare") == 0) {
        return leo_cmd_run_bare(argc - 1, argv + 1);
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            printf(help, run_arg_help);
            return 0;
        }
    }
    int code = parse(argc, argv, &request);
    if (code == 0) {
        code = run(&request, &session);
        close_session(&session);
        run_args_finish(request.args, request.arg_count);
    }
    return code;
}
