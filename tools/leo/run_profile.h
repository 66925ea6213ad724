/* SPDX-License-Identifier: Apache-2.0 */
/* leo run --profile: the folder that leo report makes a page of. */
#pragma once

#include <leo/runtime.h>

#define RUN_PROFILE_BYTES 4096

/* Makes a folder below `path` and writes its name to `folder`, of RUN_PROFILE_BYTES. False: said on
 * standard error. */
bool run_profile_begin(const char *path, char *folder);
/* Writes what the device recorded; its profile must still be on. */
bool run_profile_end(const char *folder, struct leo_rt_device *device);
