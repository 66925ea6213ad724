/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a linked image: protected functions, with their parameters from DWARF. */
#pragma once

#include "fail.h"
#include "target.h"
#include "text.h"
#include <elfutils/libdw.h>
#include <gelf.h>

struct cc_kernels {
    struct cc_text notes; /**< One descriptor a line (isa/layout/kernel_note.layout). */
    size_t count;
};

/** Reads the image at `path`. LEO_ERR_NOT_FOUND if it has no kernel. */
leo_status cc_kernels_read(const char *path, const struct cc_target *target,
                           struct cc_kernels *kernels, const struct cc_fail *fail);
void cc_kernels_finish(struct cc_kernels *kernels);

/** Appends " name:p8a8" for each parameter of the function that starts at `addr`. `name` is for
 * messages. */
leo_status cc_params_describe(Dwarf *dwarf, uint64_t addr, const char *name, struct cc_text *out,
                              const struct cc_fail *fail);
