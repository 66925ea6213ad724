/* SPDX-License-Identifier: Apache-2.0 */
#include "leo_cmd.h"

#include <leo/cc_command.h>

int leo_cmd_cc(int argc, char **argv)
{
    return leo_cc_command_run("leo cc", argc, argv);
}
