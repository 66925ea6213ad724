/* SPDX-License-Identifier: Apache-2.0 */
/* What leo run tells about its launches. */
#pragma once

#include <leo/runtime.h>

struct run_report {
    struct leo_rt_device *device;
    const char *kernel;
    uint32_t tasks, traces; /**< room in the profile */
    bool cores;             /**< a table by core is wanted */
};

/** Cores that the last launch used and that have a buffer, from the first of their kind on; false
 * if it left no record. */
bool run_report_cores(const struct run_report *report, enum leo_mem_space space, unsigned *first,
                      unsigned *count);
/** Prints the times of all launches and the units of the last; tells records that were dropped. */
void run_report_print(const struct run_report *report);
