/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts that come with the command. */
#pragma once

#include <stddef.h>

/** Where share/leo/FOLDER/NAME is: beside this program where it is installed, else in the build's
 * toolkit. */
void script_find(const char *folder, const char *name, char *path, size_t bytes);
