/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels in two parts: what stands between guards of __DAV_C220_CUBE__ and __DAV_C220_VEC__ is
 * compiled once for each kind of core. Kernel k becomes k.aic and k.aiv, and a k that goes to one
 * of them by the core it runs on.
 */
#pragma once

#include "fail.h"
#include "text.h"

#define CC_PART_COUNT 2

struct cc_part {
    const char *suffix;     /**< of symbols, and of the object: aic, aiv */
    const char *defines[2]; /**< options of the compiler */
};
extern const struct cc_part cc_parts[CC_PART_COUNT];

/** Joins <prefix>.aic.o and <prefix>.aiv.o into <prefix>.o. `machine`: options that name the core
 * to the assembler. */
leo_status cc_parts_join(const char *prefix, const char *const *machine, size_t machine_count,
                         bool verbose, const struct cc_fail *fail);

/** Removes what joining needs, whether it was made or not. */
void cc_parts_remove(const char *prefix);
