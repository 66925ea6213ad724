/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // gettid
#include "lost.h"

#include "code.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_LOST = 70 }; // EX_SOFTWARE of sysexits.h

// Other exit handlers still run: exit() inside one goes on with the rest, with this status.
static void end_with_failure(int status, void *user)
{
    const struct api_lost *lost = user;
    if (status == 0 && getpid() == lost->process && !atomic_load(&lost->reported)) {
        fprintf(stderr, "leonardo: %s; nothing waited for it\n", lost->text);
        exit(EXIT_LOST);
    }
}

void api_lost_work(const char *text)
{
    struct api_lost *lost = &api_process()->lost;
    bool none = false;
    if (gettid() == getpid() || !atomic_compare_exchange_strong(&lost->taken, &none, true)) {
        return;
    }
    strncpy(lost->text, text, sizeof(lost->text) - 1);
    lost->process = getpid();
    (void)on_exit(end_with_failure, lost); // waits still say it if there is no memory
    atomic_store(&lost->any, true);
}

leo_status api_lost_check(void)
{
    struct api_lost *lost = &api_process()->lost;
    if (!atomic_load(&lost->any)) {
        return LEO_OK;
    }
    atomic_store(&lost->reported, true);
    return leo_rt_fail(API_WORK_LOST, "%s", lost->text);
}
