/* SPDX-License-Identifier: Apache-2.0 */
/* leo-cc: the kernel compiler alone, small enough to build before anything that needs kernels. */
#include <leo/cc_command.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const int code = leo_cc_command_run("leo-cc", argc, argv);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "leo-cc: cannot write standard output: %s\n",
                errno ? strerror(errno) : "a write failed");
        return code ? code : 1;
    }
    return code;
}
