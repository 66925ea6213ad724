/* SPDX-License-Identifier: Apache-2.0 */
/* leo-cc: the kernel compiler alone, small enough to build before anything that needs kernels. */
#include <leo/cc_command.h>

int main(int argc, char **argv)
{
    return leo_cc_command_run("leo-cc", argc, argv);
}
