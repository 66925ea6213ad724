/* SPDX-License-Identifier: Apache-2.0 */
/* What `leo smi` shows, in the tables of the vendors' own commands, as programs that read those
 * expect them. */
#pragma once

#include "smi_processes.h"

#include <leo/driver.h>

enum smi_style { SMI_STYLE_NONE, SMI_STYLE_NPU, SMI_STYLE_MLU };

/** A device as a program started now would see it. */
struct smi_device {
    struct leo_caps caps;
    uint64_t memory_total;
};

/** `uses`: times and counts of the span that is looked at. */
void smi_print_table(enum smi_style style, const struct smi_device *devices, int device_count,
                     const struct smi_use *uses, size_t use_count);
