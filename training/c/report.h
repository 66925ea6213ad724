/* SPDX-License-Identifier: Apache-2.0 */
/* Where simulated time goes: by operator and by unit, summed over many profiles. */
#pragma once

#include <leo/runtime.h>
#include <stdio.h>

enum { REPORT_OPERATORS = 32 };

struct report_operator {
    char name[40];
    uint64_t count, ns, core_cycles, gm_bytes, hbm_bytes, busy[8];
};

/** What a chip can do at most. */
struct report_roofs {
    uint32_t clock_khz, cubes, vectors; /**< units of the chip */
    double hbm_gb_per_s;
};

struct report {
    struct report_operator operators[REPORT_OPERATORS];
    unsigned count;
    uint64_t lost; /**< tasks the profile had no room for */
};

/** Adds the tasks of the device's running profile. */
LEO_MUST_CHECK leo_status report_add(struct report *report, struct leo_rt_device *device,
                                     size_t capacity);
leo_status report_roofs_of(struct leo_rt_device *device, struct report_roofs *roofs);
void report_print(const struct report *report, const struct report_roofs *roofs, FILE *out);
