/* SPDX-License-Identifier: Apache-2.0 */
/* leo exec: one command in the environment that set_env.sh would make. */
#include "leo_cmd.h"

#include <errno.h>
#include <leo/soc.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: leo exec [--soc NAME|FILE] [--devices N] [--profile DIR [--what-if] [--code]] "
    "[--explain]\n"
    "                [--] COMMAND [arguments]\n"
    "Runs a command that finds Leonardo's libraries: leo exec -- python train.py\n"
    "  --soc      the simulated chip (sets LEO_SOC)\n"
    "  --devices  how many of them (sets LEO_DEVICES)\n"
    "  --profile  profile the whole run into a folder (sets LEO_PROFILE); leo report shows it\n"
    "  --what-if  record in DIR/tapes what leo report prices on other chips (sets LEO_TAPE)\n"
    "  --code     count instructions too: leo report shows kernels' sources with times by line "
    "(sets\n"
    "             LEO_PROFILE_CODE)\n"
    "  --explain  say on stderr how each operator is planned: which way was taken, and why not\n"
    "             the ways before it (sets LEO_OP_EXPLAIN)\n"
    "The toolkit is the folder above this program, else the build's (make toolkit).\n";

enum { HOME_BYTES = PATH_MAX };

static bool has_libraries(const char *home)
{
    char path[HOME_BYTES + 32];
    snprintf(path, sizeof(path), "%s/lib64/libascendcl.so", home);
    return access(path, R_OK) == 0;
}

// The toolkit: where this program is installed, else where the build lays it out.
static bool find_home(char home[HOME_BYTES])
{
    ssize_t bytes = readlink("/proc/self/exe", home, HOME_BYTES - 1);
    if (bytes > 0) {
        home[bytes] = '\0';
        for (int up = 0; up < 2; up++) {
            char *slash = strrchr(home, '/');
            if (slash) {
                *slash = '\0';
            }
        }
        if (has_libraries(home)) {
            return true;
        }
    }
    snprintf(home, HOME_BYTES, "%s", LEO_BUILD_TOOLKIT);
    return has_libraries(home);
}

static bool set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) {
        fprintf(stderr, "leo exec: cannot set %s: %s\n", name, strerror(errno));
        return false;
    }
    return true;
}

// Puts `home`/`folder`, or `home` itself if it is "", in front of a list of folders.
static bool put_in_front(const char *name, const char *home, const char *folder)
{
    const char *old = getenv(name);
    size_t bytes = strlen(home) + strlen(folder) + (old ? strlen(old) : 0) + 3;
    char *value = malloc(bytes);
    if (!value) {
        fprintf(stderr, "leo exec: out of memory\n");
        return false;
    }
    snprintf(value, bytes, "%s%s%s%s%s", home, *folder ? "/" : "", folder, old && *old ? ":" : "",
             old ? old : "");
    bool good = set(name, value);
    free(value);
    return good;
}

static bool set_environment(const char *home)
{
    char opp[HOME_BYTES + 8];
    snprintf(opp, sizeof(opp), "%s/opp", home);
    return set("ASCEND_HOME_PATH", home) && set("ASCEND_TOOLKIT_HOME", home) &&
           set("ASCEND_OPP_PATH", opp) && set("ASCEND_AICPU_PATH", home) &&
           put_in_front("LD_LIBRARY_PATH", home, "lib64") && put_in_front("PATH", home, "bin") &&
           put_in_front("PATH", home, "tools/profiler/bin") &&
           put_in_front("PYTHONPATH", home, "opp/built-in/op_impl/ai_core/tbe") &&
           put_in_front("PYTHONPATH", home, "python/site-packages") &&
           put_in_front("CMAKE_PREFIX_PATH", home, "");
}

// A wrong chip is reported here: deep in a program the message would come late.
static bool check_soc(void)
{
    const char *soc = getenv("LEO_SOC");
    if (!soc || !*soc || leo_isa_soc_text(soc) || access(soc, R_OK) == 0) {
        return true;
    }
    fprintf(stderr, "leo exec: no chip is called '%s' and there is no such file; there are:", soc);
    for (size_t i = 0; leo_isa_soc_name(i); i++) {
        fprintf(stderr, " %s", leo_isa_soc_name(i));
    }
    fprintf(stderr, "\n");
    return false;
}

static bool take_option(const char *name, const char *value)
{
    if (!value) {
        fprintf(stderr, "leo exec: %s needs a value\n", name);
        return false;
    }
    return set(strcmp(name, "--soc") == 0       ? "LEO_SOC"
               : strcmp(name, "--profile") == 0 ? "LEO_PROFILE"
                                                : "LEO_DEVICES",
               value);
}

// Tapes beside the profile.
static bool ask_tapes(void)
{
    const char *profile = getenv("LEO_PROFILE");
    char folder[HOME_BYTES];
    if (!profile || !*profile) {
        fprintf(stderr, "leo exec: --what-if needs --profile DIR\n");
        return false;
    }
    snprintf(folder, sizeof(folder), "%s/tapes", profile);
    if ((mkdir(profile, 0777) != 0 && errno != EEXIST) ||
        (mkdir(folder, 0777) != 0 && errno != EEXIST)) {
        fprintf(stderr, "leo exec: cannot make %s: %s\n", folder, strerror(errno));
        return false;
    }
    return set("LEO_TAPE", folder);
}

int leo_cmd_exec(int argc, char **argv)
{
    bool what_if = false;
    char home[HOME_BYTES];
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (strcmp(argv[at], "--code") == 0) {
            if (!set("LEO_PROFILE_CODE", "1")) {
                return 1;
            }
            continue;
        }
        if (strcmp(argv[at], "--what-if") == 0) {
            what_if = true;
            continue;
        }
        if (strcmp(argv[at], "--explain") == 0) {
            if (!set("LEO_OP_EXPLAIN", "1")) {
                return 1;
            }
            continue;
        }
        if (strcmp(argv[at], "--soc") != 0 && strcmp(argv[at], "--devices") != 0 &&
            strcmp(argv[at], "--profile") != 0) {
            fprintf(stderr, "leo exec: unexpected argument %s\n%s", argv[at], help);
            return 2;
        }
        if (!take_option(argv[at], argv[at + 1])) {
            return 2;
        }
        at++;
    }
    if (at >= argc) {
        fprintf(stderr, "leo exec: no command\n%s", help);
        return 2;
    }
    if (!check_soc()) {
        return 2;
    }
    if (!find_home(home)) {
        fprintf(stderr,
                "leo exec: no lib64/libascendcl.so in %s: say make toolkit, or install first\n",
                home);
        return 1;
    }
    if (!set_environment(home) || (what_if && !ask_tapes())) {
        return 1;
    }
    execvp(argv[at], argv + at);
    fprintf(stderr, "leo exec: cannot run %s: %s\n", argv[at], strerror(errno));
    return 1;
}
