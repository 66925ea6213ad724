/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "study.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool study_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) {
        return true;
    }
    fprintf(stderr, "leo study: cannot make the folder %s: %s\n", path, strerror(errno));
    return false;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

void study_folder_remove(const char *path)
{
    (void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static _Noreturn void become(const struct study_request *request, const char *soc_path,
                             const char *tape_path, const char *output_path)
{
    const int output = open(output_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (output >= 0 && dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0 &&
        setenv("LEO_SOC", soc_path, 1) == 0 && setenv("LEO_TAPE", tape_path, 1) == 0) {
        execvp(request->command[0], request->command);
    }
    fprintf(stderr, "leo study: cannot start %s: %s\n", request->command[0], strerror(errno));
    _exit(127);
}

bool study_run_command(const struct study_request *request, const char *soc_path,
                       const char *tape_path, const char *output_path)
{
    int status = 0;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        become(request, soc_path, tape_path, output_path);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "leo study: the command failed; what it said is in %s\n", output_path);
        return false;
    }
    return true;
}
