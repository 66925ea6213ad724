/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel is compiled for, and with which device files. */
#pragma once

#include "fail.h"
#include <stdbool.h>
#include <stdint.h>

/** On-chip buffers that may hold arrays. */
enum cc_buffer { CC_UB, CC_L1, CC_L0A, CC_L0B, CC_L0C, CC_BT, CC_FB };
#define CC_BUFFER_COUNT 7

/** The facts of a SoC file that the compiler needs. */
struct cc_target {
    unsigned arch; /**< 1001 or 2201. */
    uint64_t bytes[CC_BUFFER_COUNT];
    uint64_t sram_bytes; /**< Of a cluster, which only a card of section [card] has. */
    bool tells_tasks;    /**< Kernels in BANG C: the launch tells them how their tasks lie. */
};

/** If `section` holds arrays of a buffer (".npu.ub"): an error when its `bytes` are more than the
 * chip has. */
leo_status cc_target_check_section(const struct cc_target *target, const char *section,
                                   uint64_t bytes, const struct cc_fail *fail);

/** `soc` is a built-in name or the path of a SoC file; NULL: LEO_SOC, else ascend910a. */
leo_status cc_target_get(const char *soc, struct cc_target *target, const struct cc_fail *fail);

#define CC_PATH_BYTES 4096

/**
 * Finds the folder of device headers, script and library: `given`, else LEO_DEVICE_ROOT, else
 * ../share/leo/device beside the executable, else the build tree this library was made in.
 */
leo_status cc_target_root(const char *given, char root[CC_PATH_BYTES], const struct cc_fail *fail);
