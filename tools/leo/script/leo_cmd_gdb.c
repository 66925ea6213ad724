/* SPDX-License-Identifier: Apache-2.0 */
/* leo gdb: starts a kernel or a program that waits for gdb, and gdb connected to it. */
#include "../leo_cmd.h"

#include "script.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char help[] =
    "usage: leo gdb [-x FILE] [-ex COMMAND] [-batch] KERNEL.elf [options of leo run]\n"
    "       leo gdb [-x FILE] [-ex COMMAND] [-batch] [--kernel NAME] -- PROGRAM\n"
    "               [arguments]\n"
    "       leo gdb [-x FILE] [-ex COMMAND] [-batch] --port PORT\n"
    "Debugs a kernel with gdb: one that leo run runs, the kernels of a program, or those of one "
    "that\n"
    "waits already (leo run --gdb PORT, or any program with LEO_GDB=PORT).\n"
    "\n"
    "  -x FILE, -ex COMMAND, -batch  as of gdb\n"
    "  --kernel NAME                 of a program with several kernel files, the one with this "
    "kernel\n"
    "                                (default: the first it loads)\n"
    "  --port PORT                   where on this computer somebody waits\n"
    "\n"
    "The debugger is gdb-multiarch, else gdb; the environment variable GDB names another one. It\n"
    "loads printers for tensors (p zLocal). Everything stands still before the first instruction.\n"
    "Exit code: gdb's; 2 wrong use.\n";

enum { MAX_OPTIONS = 64, FIXED = 24 };

/* What the command line asks for. */
struct request {
    char *gdb[MAX_OPTIONS]; /* its options */
    unsigned gdb_count;
    const char *port, *kernel;
    char **program; /* NULL: nothing is to be started */
    bool is_kernel; /* it is a kernel file with the options of leo run */
};

static int misuse(const char *what, const char *which)
{
    fprintf(stderr, "leo gdb: %s%s (leo gdb --help tells more)\n", what, which);
    return 2;
}

/* One option and its value; what is not ours is gdb's. False: there is no such option. */
static bool take_option(struct request *request, char *option, char *value)
{
    if (strcmp(option, "--port") == 0) {
        request->port = value;
    } else if (strcmp(option, "--kernel") == 0) {
        request->kernel = value;
    } else if (strcmp(option, "-x") == 0 || strcmp(option, "-ex") == 0 ||
               strcmp(option, "-batch") == 0) {
        request->gdb[request->gdb_count++] = option;
        request->gdb[request->gdb_count] = value;
        request->gdb_count += value != NULL;
    } else {
        return false;
    }
    return true;
}

static int parse(int argc, char **argv, struct request *request)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        const bool has_value = strcmp(argv[i], "-batch") != 0;
        char *option = argv[i];
        if (request->gdb_count + 2 > MAX_OPTIONS) {
            return misuse("too many options before ", option);
        }
        if (!take_option(request, option, has_value ? argv[i + 1] : NULL)) {
            return misuse("unknown option ", option);
        }
        if (has_value && !argv[++i]) {
            return misuse("a value is missing after ", option);
        }
    }
    request->is_kernel = i < argc && strcmp(argv[i], "--") != 0;
    i += i < argc && !request->is_kernel;
    request->program = i < argc ? &argv[i] : NULL;
    if (!request->program && !request->port) {
        return misuse("a kernel file, -- PROGRAM or --port PORT is missing", "");
    }
    if (request->program && request->port) {
        return misuse("with --port nothing is started: ", request->program[0]);
    }
    if (request->is_kernel && access(request->program[0], R_OK) != 0) {
        fprintf(stderr, "leo gdb: %s: %s\n", request->program[0], strerror(errno));
        return 2;
    }
    return 0;
}

/* A socket that listens on a free port, for the child; -1: there is none. */
static int listen_for_gdb(char port[16])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(at);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, 4) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &bytes) != 0) {
        return -1;
    }
    snprintf(port, 16, "%d", ntohs(at.sin_port));
    return fd;
}

/* The program, in a session of its own: an interrupt on the terminal is gdb's. */
static void run_program(const struct request *request, int listener, pid_t parent)
{
    char exe[] = "/proc/self/exe", name[] = "leo", run[] = "run", option[] = "--gdb";
    char where[16], exec_word[] = "exec", dashes[] = "--";
    unsigned count = 0, given = 0;
    while (request->program[given]) {
        given++;
    }
    char **argv = calloc(given + FIXED, sizeof(*argv));
    if (!argv) {
        _exit(1);
    }
    snprintf(where, sizeof(where), "fd:%d", listener);
    argv[count++] = name;
    argv[count++] = request->is_kernel ? run : exec_word;
    if (!request->is_kernel) {
        argv[count++] = dashes;
        setenv("LEO_GDB", where, 1);
    }
    memcpy(argv + count, request->program, given * sizeof(*argv));
    count += given;
    if (request->is_kernel) {
        argv[count++] = option;
        argv[count++] = where;
    }
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
    }
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent) {
        execv(exe, argv);
    }
    _exit(1);
}

static const char *find_gdb(void)
{
    const char *named = getenv("GDB");
    if (named && *named) {
        return named;
    }
    return system("command -v gdb-multiarch >/dev/null 2>&1") == 0 ? "gdb-multiarch" : "gdb";
}

static int run_gdb(const struct request *request, const char *port)
{
    char script[PATH_MAX], target[64];
    const char *argv[MAX_OPTIONS + FIXED];
    /* Programs take long to their first kernel; files are on this computer; a tensor's first
     * values. */
    static const char *const before[] = {"set remotetimeout 3600", "set tcp connect-timeout 5",
                                         "set sysroot", "set width 0", "set print elements 32"};
    const char *gdb = find_gdb();
    unsigned count = 0;
    script_find("gdb", "leo_gdb.py", script, sizeof(script));
    snprintf(target, sizeof(target), "target extended-remote 127.0.0.1:%s", port);
    argv[count++] = gdb;
    argv[count++] = "-q";
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        argv[count++] = "-ex";
        argv[count++] = before[i];
    }
    argv[count++] = "-x";
    argv[count++] = script;
    argv[count++] = "-ex";
    argv[count++] = target;
    memcpy(argv + count, request->gdb, request->gdb_count * sizeof(*argv));
    argv[count + request->gdb_count] = NULL;
    execvp(gdb, (char *const *)(uintptr_t)argv);
    fprintf(stderr, "leo gdb: cannot run %s: %s; install it: apt-get install gdb-multiarch\n", gdb,
            strerror(errno));
    return 1;
}

int leo_cmd_gdb(int argc, char **argv)
{
    struct request request = {0};
    char port[16];
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf("%s", help);
        return 0;
    }
    const int code = parse(argc, argv, &request);
    if (code != 0) {
        return code;
    }
    if (request.kernel) {
        setenv("LEO_GDB_KERNEL", request.kernel, 1);
    }
    if (!request.program) {
        return run_gdb(&request, request.port);
    }
    const int listener = listen_for_gdb(port);
    const pid_t parent = getpid();
    fflush(stdout);
    const pid_t child = listener >= 0 ? fork() : -1;
    if (child == 0) {
        run_program(&request, listener, parent);
    }
    if (child < 0) {
        fprintf(stderr, "leo gdb: cannot start %s: %s\n", request.program[0], strerror(errno));
        return 1;
    }
    close(listener);
    return run_gdb(&request, port);
}
