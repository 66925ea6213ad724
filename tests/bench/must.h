/* SPDX-License-Identifier: Apache-2.0 */
/* A benchmark ends where a call fails. */
#pragma once

#include <leo/runtime.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(leo_status status, const char *what)
{
    if (status != LEO_OK) {
        fprintf(stderr, "%s: %s\n", what, leo_rt_last_error());
        exit(1);
    }
}
