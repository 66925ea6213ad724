/* SPDX-License-Identifier: Apache-2.0 */
/* Work that was refused where no caller may have looked: every later wait says so, and the exit
 * code of a process that never waited. */
#pragma once

#include <leo/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct api_lost {
    atomic_bool taken, any, reported; /**< any: text is there; reported: a wait said it */
    pid_t process;
    char text[256];
};

/** Remembers the first such refusal of the process; `text` is what waits say. The main thread is
 * taken to look at what its calls return: for it this does nothing. */
void api_lost_work(const char *text);
/** API_WORK_LOST with that text, or LEO_OK. */
leo_status api_lost_check(void);
