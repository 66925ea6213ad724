/* SPDX-License-Identifier: Apache-2.0 */
/* leo-cc: the kernel compiler alone, small enough to build before anything that needs kernels. */
#include <errno.h>
#include <leo/cc_command.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int code = leo_cc_command_run("leo-cc", argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "leo-cc: cannot write standard output: %s\n", strerror(errno));
        code = code ? code : 1;
    }
    return code;
}
